//! Which launches take the shader that computes several neighbours at once: arithmetic on launches, no wgpu.

use partita_kernels::wgsl::Shader;
use partita_kernels::wgsl::wide::{POINTS, Parity, is_even, suits};
use partita_kernels::{Launch, Verified};

use super::dispatch::{Limits, Planner, Work, bounds, merged};
use super::windows::{Piece, split};

/// A launch for which [`partita_kernels::wgsl::wide`] writes the shader, in pieces that fit.
pub(super) struct Wide {
    pub(super) parity: Parity,
    pieces: Vec<Piece>,
}

impl Wide {
    /// `None` if the launch is too small to be worth it or its rows are not what the shader asks for.
    pub(super) fn of(kernel: &Verified, launch: &Launch, limits: &Limits) -> Option<Wide> {
        if (launch.points() as u64) < limits.wide_points? || !suits(kernel.kernel()) {
            return None;
        }
        let launch = merged(kernel.kernel(), launch);
        // Pieces for tiles of 4 points per invocation: of 8, at least 4 are used in rows of any length.
        let pieces = split(kernel, &launch, &bounds(kernel, None, limits)).ok()?;
        let parities = pieces.iter().map(|piece| parity(kernel, piece)).collect::<Option<Vec<_>>>()?;
        Some(Wide { parity: parities.into_iter().max()?, pieces })
    }

    /// The dispatches of its shader.
    pub(super) fn work(&self, kernel: &Verified, shader: &Shader, limits: &Limits) -> Work {
        let planner = Planner { kernel: kernel.kernel(), shader, limits };
        let dispatches = self.pieces.iter().map(|piece| planner.neighbours(piece, POINTS)).collect();
        Work { dispatches, partials: 0 }
    }
}

/// Where the rows of a piece begin; `None` if they are short, or not contiguous.
fn parity(kernel: &Verified, piece: &Piece) -> Option<Parity> {
    let (&inner, outer) = piece.launch.extents.split_last()?;
    if inner < POINTS {
        return None;
    }
    let mut parity = if inner % 2 == 0 && is_even(kernel.kernel()) { Parity::Even } else { Parity::Any };
    for (view, window) in piece.launch.views.iter().zip(&piece.windows) {
        let Some(window) = window else { continue };
        let (&along, across) = view.strides.split_last()?;
        if along != 1 {
            return None;
        }
        let mut strides = across.iter().zip(outer).filter(|&(_, &extent)| extent > 1);
        if window.element % 2 != 0 || strides.any(|(stride, _)| stride % 2 != 0) {
            parity = Parity::Any;
        }
    }
    Some(parity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_kernels::{BinaryOp, Builder, DType, View};

    const LIMITS: Limits = Limits {
        max_binding_bytes: 1 << 20,
        max_groups: 65535,
        offset_alignment: 64,
        workgroup_size: 256,
        tile: 1024,
        busy: 1,
        wide_points: Some(0),
    };

    /// The sum of two cells of a row, so far apart.
    fn pair(dtype: DType, apart: i32) -> Verified {
        let mut k = Builder::new("pair", 2);
        let (input, output) = (k.input(dtype), k.output(dtype));
        let (a, b) = (k.load(input, &[0, 0]), k.load(input, &[1, apart]));
        let sum = k.binary(BinaryOp::Add, a, b);
        k.elementwise(&[(output, sum)]).unwrap()
    }

    fn launch(extents: [usize; 2], offset: i64, strides: [[i64; 2]; 2]) -> Launch {
        let view = |strides: [i64; 2]| View { offset, strides: strides.to_vec() };
        let views = strides.map(view).to_vec();
        Launch { extents: extents.to_vec(), origin: vec![0, 0], views, arguments: vec![] }
    }

    fn found(kernel: &Verified, launch: &Launch) -> Option<Parity> {
        Wide::of(kernel, launch, &LIMITS).map(|wide| wide.parity)
    }

    #[test]
    fn parity_is_where_rows_begin() {
        let (even, odd) = (pair(DType::F32, 2), pair(DType::F32, 1));
        let plain = launch([5, 20], 4, [[32, 1], [20, 1]]);
        assert_eq!(found(&even, &plain), Some(Parity::Even));
        assert_eq!(found(&odd, &plain), Some(Parity::Any));
        assert_eq!(found(&even, &launch([5, 20], 3, [[32, 1], [20, 1]])), Some(Parity::Any));
        assert_eq!(found(&even, &launch([5, 20], 4, [[31, 1], [20, 1]])), Some(Parity::Any));
        assert_eq!(found(&even, &launch([5, 19], 4, [[32, 1], [20, 1]])), Some(Parity::Any));
    }

    #[test]
    fn other_launches_are_left_alone() {
        let kernel = pair(DType::F32, 2);
        assert_eq!(found(&kernel, &launch([5, 7], 4, [[32, 1], [20, 1]])), None);
        assert_eq!(found(&kernel, &launch([5, 20], 4, [[64, 2], [20, 1]])), None);
        assert_eq!(found(&pair(DType::F64, 2), &launch([5, 20], 4, [[32, 1], [20, 1]])), None);
        let plain = launch([5, 20], 4, [[32, 1], [20, 1]]);
        let with = |wide_points| Wide::of(&kernel, &plain, &Limits { wide_points, ..LIMITS }).is_some();
        assert!(with(Some(100)) && !with(Some(101)) && !with(None));
        // Split along the rows, the last piece would be too short.
        let few = Limits { max_groups: 1, tile: 11, ..LIMITS };
        assert!(Wide::of(&kernel, &plain, &few).is_some());
        assert!(Wide::of(&kernel, &plain, &Limits { tile: 6, ..few }).is_none());
    }
}
