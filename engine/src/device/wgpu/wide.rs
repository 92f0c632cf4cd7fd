//! Which launches take the shader that computes several neighbours at once: arithmetic on launches, no wgpu.

use partita_kernels::wgsl::Shader;
use partita_kernels::wgsl::wide::{Alignment, BLOCK_BYTES, POINTS, suits};
use partita_kernels::{Access, Launch, Verified};

use super::dispatch::{Limits, Planner, Work, bounds, merged};
use super::windows::{Bounds, Piece, split};

/// A launch for which [`partita_kernels::wgsl::wide`] writes the shader, in pieces that fit.
pub(super) struct Wide {
    pub(super) alignment: Alignment,
    pieces: Vec<Piece>,
}

impl Wide {
    /// `None` if the launch is too small to be worth it or its rows are not what the shader asks for.
    pub(super) fn of(kernel: &Verified, launch: &Launch, limits: &Limits) -> Option<Wide> {
        if (launch.points() as u64) < limits.wide_points? || !suits(kernel.kernel()) {
            return None;
        }
        let launch = merged(kernel.kernel(), launch);
        let mut pieces = split(kernel, &launch, &in_blocks(bounds(kernel, None, limits))?).ok()?;
        for window in pieces.iter_mut().flat_map(|piece| piece.windows.iter_mut().flatten()) {
            window.bytes = window.bytes.next_multiple_of(BLOCK_BYTES);
        }
        let alignments = pieces.iter().map(|piece| alignment(kernel, piece)).collect::<Option<Vec<_>>>()?;
        Some(Wide { alignment: alignments.into_iter().max()?, pieces })
    }

    /// The dispatches of its shader.
    pub(super) fn work(&self, kernel: &Verified, shader: &Shader, limits: &Limits) -> Work {
        let planner = Planner { kernel: kernel.kernel(), shader, limits };
        let dispatch = |piece: &Piece| {
            let head = match self.alignment {
                Alignment::Alike => head(kernel, piece),
                Alignment::Even | Alignment::Any => 0,
            };
            planner.neighbours(piece, POINTS, head)
        };
        Work { dispatches: self.pieces.iter().map(dispatch).collect(), partials: 0 }
    }
}

/// Bounds for windows that are whole blocks, as the lengths of buffers are.
fn in_blocks(bounds: Bounds) -> Option<Bounds> {
    // Of the 8 points of an invocation at least 4 are used in rows of any length: a tile is 4 per invocation.
    let max_binding_bytes = bounds.max_binding_bytes.checked_sub(BLOCK_BYTES)?;
    let offset_alignment = bounds.offset_alignment.max(BLOCK_BYTES);
    Some(Bounds { max_binding_bytes, offset_alignment, ..bounds })
}

/// How many elements of the first block of a row lie before the row, in the first result.
fn head(kernel: &Verified, piece: &Piece) -> u32 {
    let written = |(p, _): &(usize, _)| kernel.kernel().params[*p].access != Access::In;
    let windows = piece.windows.iter().enumerate();
    windows.filter(written).find_map(|(_, window)| *window).map_or(0, |window| window.element % POINTS as u32)
}

/// Where the rows of a piece begin; `None` if they are short, or not contiguous.
fn alignment(kernel: &Verified, piece: &Piece) -> Option<Alignment> {
    let (&inner, outer) = piece.launch.extents.split_last()?;
    if inner < POINTS {
        return None;
    }
    let head = head(kernel, piece);
    let mut found = Alignment::Alike;
    for (p, (view, window)) in piece.launch.views.iter().zip(&piece.windows).enumerate() {
        let Some(window) = window else { continue };
        let (&along, across) = view.strides.split_last()?;
        if along != 1 {
            return None;
        }
        let mut steps: Vec<(u64, u64)> = across
            .iter()
            .zip(outer)
            .filter(|&(_, &e)| e > 1)
            .map(|(s, &e)| (s.unsigned_abs(), e as u64))
            .collect();
        let written = kernel.kernel().params[p].access != Access::In;
        let multiple = |of: usize| steps.iter().all(|(stride, _)| stride % of as u64 == 0);
        let is_even = multiple(2) && inner % 2 == 0 && window.element % 2 == 0;
        let is_alike = multiple(POINTS) && window.element % POINTS as u32 == head;
        let alone = !written || apart(&mut steps, u64::from(head) + inner as u64);
        found = found.max(match (is_alike && alone, is_even || !written) {
            (true, _) => Alignment::Alike,
            (false, true) => Alignment::Even,
            (false, false) => Alignment::Any,
        });
    }
    Some(found)
}

/// Whether rows of this length never meet; `steps` are the strides and extents of the other dimensions.
fn apart(steps: &mut [(u64, u64)], row: u64) -> bool {
    steps.sort_unstable();
    let mut reach = row;
    steps.iter().all(|&(stride, extent)| {
        let meets = stride < reach;
        reach += stride * (extent - 1);
        !meets
    })
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
        fold_points: 1 << 30,
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

    fn found(kernel: &Verified, launch: &Launch) -> Option<Alignment> {
        Wide::of(kernel, launch, &LIMITS).map(|wide| wide.alignment)
    }

    #[test]
    fn rows_are_alike_where_all_begin_at_one_place_of_a_block() {
        let kernel = pair(DType::F32, 1);
        let alignment = |extents, offset, strides| found(&kernel, &launch(extents, offset, strides));
        assert_eq!(alignment([5, 20], 4, [[32, 1], [24, 1]]), Some(Alignment::Alike));
        assert_eq!(alignment([5, 19], 5, [[32, 1], [40, 1]]), Some(Alignment::Alike));
        assert_eq!(alignment([5, 16], 4, [[35, 1], [24, 1]]), Some(Alignment::Even));
        assert_eq!(alignment([5, 16], 4, [[32, 1], [20, 1]]), Some(Alignment::Even));
        assert_eq!(alignment([5, 16], 4, [[32, 1], [21, 1]]), Some(Alignment::Any));
        assert_eq!(alignment([5, 15], 4, [[32, 1], [20, 1]]), Some(Alignment::Any));
        assert_eq!(alignment([5, 16], 5, [[32, 1], [20, 1]]), Some(Alignment::Any));
        // The end of a row and the beginning of the next would share a block of the result.
        assert_eq!(alignment([5, 21], 4, [[32, 1], [24, 1]]), Some(Alignment::Any));
        let mut shifted = launch([5, 16], 4, [[32, 1], [24, 1]]);
        shifted.views[0].offset += 8;
        assert_eq!(found(&kernel, &shifted), Some(Alignment::Alike));
        shifted.views[0].offset += 2;
        assert_eq!(found(&kernel, &shifted), Some(Alignment::Even));
    }

    #[test]
    fn rows_of_several_dimensions_meet_where_one_is_folded_into_another() {
        assert!(apart(&mut [(64, 5), (16, 4)], 16));
        assert!(!apart(&mut [(64, 5), (16, 4)], 17));
        assert!(!apart(&mut [(64, 5), (16, 5)], 16));
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
