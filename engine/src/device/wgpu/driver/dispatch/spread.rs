//! A kernel in which every load away from the point has a parameter of its own.
//!
//! One point of a stencil may span several planes, more than a binding holds. Spread out, each load
//! sees the same memory through its own view and binding, and spans nothing at all. Text is longer
//! and bindings are more, so this is for launches that fit no other way.

use partita_kernels::verify::verify;
use partita_kernels::{Access, Inst, Launch, Op, Param, Verified};

/// A kernel without load offsets, and where each of its parameters comes from.
pub struct Spread {
    /// Its first parameters are those of the original.
    pub kernel: Verified,
    /// Per parameter: the original one, and the offsets that its view is moved by.
    pub sources: Vec<(usize, Vec<i32>)>,
}

impl Spread {
    /// `None` if the kernel has no load away from the point.
    pub fn of(kernel: &Verified) -> Option<Spread> {
        if kernel.footprint().is_pointwise() {
            return None;
        }
        let loads = kernel.footprint().loads();
        let mut spread = kernel.kernel().clone();
        let mut sources: Vec<_> = (0..spread.params.len()).map(|p| (p, vec![0; spread.rank])).collect();
        let mut places: Vec<u32> = Vec::with_capacity(loads.len());
        for site in loads {
            let (param, source) = (site.param as usize, (site.param as usize, site.offsets.clone()));
            if places.contains(&site.param) {
                places.push(sources.len() as u32);
                sources.push(source);
                spread.params.push(Param { dtype: spread.params[param].dtype, access: Access::In });
            } else {
                places.push(site.param);
                sources[param] = source;
            }
        }
        for inst in &mut spread.body {
            let Inst { op: Op::Load { param, offsets }, .. } = inst else { continue };
            let load =
                loads.iter().zip(&places).find(|(site, _)| site.param == *param && site.offsets == *offsets);
            *param = *load?.1;
            offsets.fill(0);
        }
        Some(Spread { kernel: verify(spread).ok()?, sources })
    }

    /// The same launch for this kernel.
    pub fn launch(&self, launch: &Launch) -> Launch {
        let views = self.sources.iter().map(|(param, offsets)| {
            let mut view = launch.views[*param].clone();
            view.offset += offsets.iter().zip(&view.strides).map(|(&d, &s)| i64::from(d) * s).sum::<i64>();
            view
        });
        Launch { views: views.collect(), ..launch.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_kernels::{BinaryOp, Builder, DType, View};

    #[test]
    fn every_load_is_at_its_own_point() {
        let mut k = Builder::new("blur", 2);
        let (input, output) = (k.input(DType::F32), k.output(DType::F32));
        let (up, down) = (k.load(input, &[-1, 0]), k.load(input, &[1, 0]));
        let sum = k.binary(BinaryOp::Add, up, down);
        let kernel = k.elementwise(&[(output, sum)]).unwrap();
        let spread = Spread::of(&kernel).unwrap();
        assert_eq!(spread.sources, [(0, vec![-1, 0]), (1, vec![0, 0]), (0, vec![1, 0])]);
        assert!(Spread::of(&spread.kernel).is_none());
        let view = View { offset: 50, strides: vec![10, 1] };
        let launch = Launch {
            extents: vec![2, 3],
            origin: vec![0, 0],
            views: vec![view.clone(), view],
            arguments: vec![],
        };
        let offsets: Vec<i64> = spread.launch(&launch).views.iter().map(|v| v.offset).collect();
        assert_eq!(offsets, [40, 50, 60]);
    }
}
