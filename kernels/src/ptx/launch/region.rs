//! A launch as a box of points and the quantities that move linearly through it; rearranging the box
//! so that it has few, long dimensions, and cutting it into parts.
//!
//! Points may be visited in any order, and a quantity that is linear stays linear, so dimensions may be
//! dropped, reordered and merged freely: a fully contiguous array becomes one-dimensional whatever its
//! rank, and the coordinates a kernel asks for still come out right.

use super::module::Span;
use crate::ir::{Form, Kernel, Launch};
use crate::ptx::text::{Quantity, quantities};

/// One dimension of a region.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::ptx) struct Dim {
    pub extent: u64,
    /// What a step adds to each quantity.
    pub steps: Vec<i64>,
    /// The dimension folds away.
    pub folded: bool,
}

/// A box of points.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::ptx) struct Region {
    pub quantities: Vec<Quantity>,
    /// Each quantity at the first point.
    pub starts: Vec<i64>,
    pub dims: Vec<Dim>,
}

impl Region {
    pub(in crate::ptx) fn new(kernel: &Kernel, launch: &Launch, memory: &[Span]) -> Region {
        let quantities = quantities(kernel);
        let start = |q: &Quantity| match *q {
            Quantity::Param(p) => {
                let size = kernel.params[p as usize].dtype.size_bytes() as i64;
                let bytes = launch.views[p as usize].offset.wrapping_mul(size);
                bytes.wrapping_add(memory[p as usize].address as i64)
            }
            Quantity::Coord(k, _) => launch.origin[k as usize],
        };
        let step = |q: &Quantity, dim: usize| match *q {
            Quantity::Param(p) => {
                let size = kernel.params[p as usize].dtype.size_bytes() as i64;
                launch.views[p as usize].strides[dim].wrapping_mul(size)
            }
            Quantity::Coord(k, _) => i64::from(k as usize == dim),
        };
        let folded = |k: usize| matches!(&kernel.form, Form::Reduce { axes, .. } if axes[k]);
        let dims = (0..kernel.rank).map(|k| Dim {
            extent: launch.extents[k] as u64,
            steps: quantities.iter().map(|q| step(q, k)).collect(),
            folded: folded(k),
        });
        Region { starts: quantities.iter().map(start).collect(), dims: dims.collect(), quantities }
    }

    /// Position of a quantity.
    pub(in crate::ptx) fn of(&self, quantity: Quantity) -> usize {
        self.quantities.iter().position(|&q| q == quantity).expect("the kernel has this quantity")
    }

    pub(in crate::ptx) fn points(&self) -> u64 {
        self.dims.iter().map(|d| d.extent).product()
    }

    /// Drops dimensions of one point, orders the others so that `lead` takes its largest steps in the
    /// outermost, and merges neighbours that all quantities cross evenly. Folded dimensions come last.
    pub(in crate::ptx) fn arrange(&mut self, lead: Option<usize>) {
        self.dims.retain(|d| d.extent != 1);
        self.dims.sort_by_key(|d| {
            let step = lead.map_or(0, |q| d.steps[q].unsigned_abs());
            (d.folded, std::cmp::Reverse(step))
        });
        self.merge();
    }

    /// As [`Region::arrange`] where dimensions are folded: these in the order in which folded points are
    /// numbered, which merging keeps.
    pub(in crate::ptx) fn arrange_fold(&mut self, order: &[usize], lead: Option<usize>) {
        let folded: Vec<Dim> = order.iter().map(|&dim| self.dims[dim].clone()).collect();
        self.dims.retain(|d| !d.folded);
        self.dims.sort_by_key(|d| std::cmp::Reverse(lead.map_or(0, |q| d.steps[q].unsigned_abs())));
        self.dims.extend(folded);
        self.dims.retain(|d| d.extent != 1);
        self.merge();
    }

    /// Merges neighbours that all quantities cross evenly.
    fn merge(&mut self) {
        let mut merged: Vec<Dim> = Vec::new();
        for inner in self.dims.drain(..) {
            match merged.last_mut() {
                Some(outer) if outer.continues(&inner) => {
                    *outer = Dim { extent: outer.extent * inner.extent, ..inner };
                }
                _ => merged.push(inner),
            }
        }
        self.dims = merged;
    }

    /// The dimensions of the slots: `kept`, then `folded`. Missing ones have one point.
    pub(in crate::ptx) fn fill(&mut self, kept: usize, folded: usize) {
        let quantities = self.quantities.len();
        let one = |folded| Dim { extent: 1, steps: vec![0; quantities], folded };
        let (inner, outer): (Vec<Dim>, Vec<Dim>) = self.dims.drain(..).partition(|d| d.folded);
        let pad = |dims: Vec<Dim>, slots: usize, folded| {
            let missing = slots - dims.len();
            std::iter::repeat_n(one(folded), missing).chain(dims).collect::<Vec<Dim>>()
        };
        self.dims = pad(outer, kept, false);
        self.dims.extend(pad(inner, folded, true));
    }

    /// The part that starts at `first` and has these extents.
    pub(in crate::ptx) fn part(&self, first: &[u64], extents: &[u64]) -> Region {
        let mut part = self.clone();
        for ((dim, &first), &extent) in part.dims.iter_mut().zip(first).zip(extents) {
            for (start, step) in part.starts.iter_mut().zip(&dim.steps) {
                *start = start.wrapping_add(step.wrapping_mul(first as i64));
            }
            dim.extent = extent;
        }
        part
    }

    /// Cuts the region into parts of at most `most` points along each dimension, in C order.
    pub(in crate::ptx) fn parts(&self, most: &[u64]) -> Vec<Region> {
        let mut parts = vec![(Vec::new(), Vec::new())];
        for (dim, &most) in self.dims.iter().zip(most) {
            let cuts: Vec<(u64, u64)> =
                (0..dim.extent).step_by(most as usize).map(|at| (at, most.min(dim.extent - at))).collect();
            parts = parts
                .iter()
                .flat_map(|(first, extents): &(Vec<u64>, Vec<u64>)| {
                    cuts.iter().map(|&(at, len)| {
                        ([first.as_slice(), &[at]].concat(), [extents.as_slice(), &[len]].concat())
                    })
                })
                .collect();
        }
        parts.iter().map(|(first, extents)| self.part(first, extents)).collect()
    }
}

impl Dim {
    /// A walk along `inner` goes on where the next step of this dimension begins.
    fn continues(&self, inner: &Dim) -> bool {
        let even = |(&step, &small): (&i64, &i64)| {
            i64::try_from(inner.extent).ok().and_then(|n| small.checked_mul(n)) == Some(step)
        };
        self.folded == inner.folded && self.steps.iter().zip(&inner.steps).all(even)
    }

    /// A step along this dimension fits the 32-bit multiplier of the text.
    pub(in crate::ptx) fn fits(&self) -> bool {
        self.steps.iter().all(|&s| i32::try_from(s).is_ok())
    }
}
