//! Which launches take the shader that computes several neighbours at once: arithmetic on launches, no wgpu.

use partita_kernels::wgsl::Shader;
use partita_kernels::wgsl::wide::{Alignment, BLOCK_BYTES, POINTS, is_fold, suits};
use partita_kernels::{Access, Kernel, Launch, Op, Verified};

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
        let points = launch.points() as u64;
        if points < limits.wide_points?.max(1) || !suits(kernel.kernel()) {
            return None;
        }
        let launch = merged(kernel.kernel(), launch);
        let mut pieces = split(kernel, &launch, &in_blocks(bounds(kernel, None, limits))?).ok()?;
        for window in pieces.iter_mut().flat_map(|piece| piece.windows.iter_mut().flatten()) {
            window.bytes = window.bytes.next_multiple_of(BLOCK_BYTES);
        }
        if !pieces.iter().all(|piece| has_rows(kernel.kernel(), piece)) {
            return None;
        }
        let choices: &[Alignment] = match is_fold(kernel.kernel()) {
            true => &[Alignment::Carried],
            false => &[Alignment::Alike, Alignment::Carried, Alignment::Even, Alignment::Any],
        };
        let fits =
            |&&alignment: &&Alignment| pieces.iter().all(|piece| is_so(kernel.kernel(), piece, alignment));
        let alignment = *choices.iter().find(fits)?;
        Some(Wide { alignment, pieces })
    }

    /// The dispatches of its shader.
    pub(super) fn work(&self, kernel: &Verified, shader: &Shader, limits: &Limits) -> Work {
        let written = self.alignment == Alignment::Alike;
        let head = |piece: &Piece| head(kernel.kernel(), piece, written);
        let planner = Planner { kernel: kernel.kernel(), shader, limits, walk: Some(&head) };
        if is_fold(kernel.kernel()) {
            return planner.reductions(&self.pieces, &bounds(kernel, None, limits));
        }
        let dispatch = |piece: &Piece| match self.alignment {
            Alignment::Alike => planner.neighbours(piece, POINTS, head(piece)),
            Alignment::Carried => planner.walks(piece, POINTS, head(piece)),
            Alignment::Even | Alignment::Any => planner.neighbours(piece, POINTS, 0),
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

/// Where the arrays of a piece are that are written, or those that are read: element, strides but the last.
fn places<'a>(kernel: &'a Kernel, piece: &'a Piece, written: bool) -> impl Iterator<Item = (u32, &'a [i64])> {
    let params = kernel.params.iter().zip(&piece.windows).zip(&piece.launch.views);
    params.filter(move |((param, _), _)| (param.access != Access::In) == written).filter_map(
        |((_, window), view)| {
            Some((window.as_ref()?.element, view.strides.split_last().map_or(&[][..], |s| s.1)))
        },
    )
}

/// How many elements of the first block of a row lie before the row, in the first array that is written or
/// read.
fn head(kernel: &Kernel, piece: &Piece, written: bool) -> u32 {
    places(kernel, piece, written).next().map_or(0, |(element, _)| element % POINTS as u32)
}

/// Fewest points of a row that are worth folding eight at a time.
const FOLDED_ROW: usize = 8 * POINTS;

/// Whether the rows of a piece are long, and contiguous in every array that has them.
fn has_rows(kernel: &Kernel, piece: &Piece) -> bool {
    let fewest = if is_fold(kernel) { FOLDED_ROW } else { POINTS };
    let arrays = kernel.params.iter().zip(&piece.launch.views).zip(&piece.windows);
    piece.launch.extents.last().is_some_and(|&inner| inner >= fewest)
        && arrays
            .filter(|((param, _), window)| {
                window.is_some() && (param.access == Access::In || !is_fold(kernel))
            })
            .all(|((_, view), _)| view.strides.last() == Some(&1))
}

/// Whether the rows of a piece begin as this alignment says.
fn is_so(kernel: &Kernel, piece: &Piece, alignment: Alignment) -> bool {
    let Some((&inner, outer)) = piece.launch.extents.split_last() else { return false };
    let steps = |across: &[i64]| {
        let several = across.iter().zip(outer).filter(|&(_, &e)| e > 1);
        several.map(|(s, &e)| (s.unsigned_abs(), e as u64)).collect::<Vec<_>>()
    };
    let multiple = |across: &[i64], of: usize| steps(across).iter().all(|(s, _)| s % of as u64 == 0);
    let alike = |written: bool, head: u32| {
        places(kernel, piece, written)
            .all(|(element, across)| element % POINTS as u32 == head && multiple(across, POINTS))
    };
    let apart = |head: u32| {
        places(kernel, piece, true)
            .all(|(_, across)| apart(&mut steps(across), u64::from(head) + inner as u64))
    };
    let even = || {
        inner % 2 == 0
            && places(kernel, piece, true).all(|(element, across)| element % 2 == 0 && multiple(across, 2))
    };
    match alignment {
        Alignment::Alike => {
            let head = head(kernel, piece, true);
            alike(true, head) && alike(false, head) && reaches_blocks(kernel, piece) && apart(head)
        }
        Alignment::Carried => {
            let is_read_so = alike(false, head(kernel, piece, false)) && reaches_blocks(kernel, piece);
            is_read_so && (is_fold(kernel) || even())
        }
        Alignment::Even => even(),
        Alignment::Any => true,
    }
}

/// Whether all rows that a point's loads are in lie whole blocks from its own.
fn reaches_blocks(kernel: &Kernel, piece: &Piece) -> bool {
    kernel.body.iter().all(|inst| {
        let Op::Load { param, offsets } = &inst.op else { return true };
        let (strides, offsets) = (&piece.launch.views[*param as usize].strides, offsets.split_last());
        let across = offsets.map_or(&[][..], |(_, across)| across).iter().zip(strides);
        across.map(|(&by, stride)| i64::from(by) * stride).sum::<i64>() % POINTS as i64 == 0
    })
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
    use partita_kernels::{BinaryOp, Builder, DType, Fold, FoldOp, View};

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
        assert_eq!(alignment([5, 16], 4, [[32, 1], [20, 1]]), Some(Alignment::Carried));
        assert_eq!(alignment([5, 16], 4, [[32, 1], [21, 1]]), Some(Alignment::Any));
        assert_eq!(alignment([5, 15], 4, [[32, 1], [20, 1]]), Some(Alignment::Any));
        assert_eq!(alignment([5, 16], 5, [[32, 1], [20, 1]]), Some(Alignment::Any));
        // The end of a row and the beginning of the next would share a block of the result.
        assert_eq!(alignment([5, 21], 4, [[32, 1], [24, 1]]), Some(Alignment::Any));
        let mut shifted = launch([5, 16], 4, [[32, 1], [24, 1]]);
        shifted.views[0].offset += 8;
        assert_eq!(found(&kernel, &shifted), Some(Alignment::Alike));
        shifted.views[0].offset += 1;
        assert_eq!(found(&kernel, &shifted), Some(Alignment::Carried));
        // Its one row reads another, which lies elsewhere.
        let single = |row: i64| launch([1, 20], 4, [[row, 1], [24, 1]]);
        assert_eq!(found(&kernel, &single(32)), Some(Alignment::Alike));
        assert_eq!(found(&kernel, &single(33)), Some(Alignment::Even));
    }

    #[test]
    fn reductions_walk_along_long_rows_that_are_contiguous() {
        let fold = |axes: [bool; 2]| {
            let mut k = Builder::new("fold", 2);
            let (input, output) = (k.input(DType::F32), k.output(DType::F32));
            let value = k.load(input, &[0, 1]);
            k.reduce(&axes, &[Fold::Value { op: FoldOp::Sum, value, output }]).unwrap()
        };
        let found = |axes: [bool; 2], inner: usize, row: i64| {
            let strides = axes.map(|folded| i64::from(!folded));
            found(&fold(axes), &launch([5, inner], 5, [[row, 1], strides]))
        };
        assert_eq!(found([true, true], 64, 72), Some(Alignment::Carried));
        assert_eq!(found([false, true], 65, 72), Some(Alignment::Carried));
        assert_eq!(found([true, true], 63, 72), None);
        assert_eq!(found([true, true], 64, 71), None);
        assert_eq!(found([true, false], 64, 72), None);
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
