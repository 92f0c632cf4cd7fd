//! `concatenate`, `stack`, `pad`, and `roll` of non-block dimensions: arrays composed of boxes. Each box is
//! another array or a view, computed directly into the result (`lower::joined`).

use std::sync::Arc;

use partita_kernels::{DType, MAX_RANK, Scalar};

use crate::array::memory::storage::{HaloWidths, widened};
use crate::array::record::expr::{Expr, Map, NodeLayout, Portion};
use crate::array::record::node::Node;
use crate::array::{Array, IntoSpan, Operand, Span, Stride};
use crate::error::{Error, Result};
use crate::index::{COORDINATE_LIMIT, Distribution, Index, Region};
use crate::team::Team;

/// The values beyond the ends of an array `a b c d` that is padded.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Padding {
    /// One value: `v v | a b c d | v v`.
    Constant(Scalar),
    /// The outermost element: `a a | a b c d | d d`.
    Edge,
    /// The other end: `c d | a b c d | a b`.
    Wrap,
    /// Mirrored at the outermost element: `c b | a b c d | c b`; of a single element that element.
    Reflect,
    /// Mirrored behind the outermost element: `b a | a b c d | d c`.
    Symmetric,
}

/// Elements of a dimension: from `start` on, `count` of them, `step` apart (0 repeats one).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Run {
    start: i64,
    step: i64,
    count: i64,
}

/// More boxes than this are made one dimension after the other, and along one dimension of larger tiles.
const MANY_BOXES: i64 = 100;
/// About how often a tile is repeated.
const TURNS: i64 = 32;

impl Array {
    /// The arrays one behind the other along a dimension. They agree in dtype, team and all other extents.
    /// Recorded.
    ///
    /// The result continues the largest array's division if no part then has more than twice its share: cells
    /// of that array stay on their parts. Other dimensions are divided evenly.
    ///
    /// Carries an error for no arrays, arrays that do not agree, and a dimension that is not there.
    #[doc = example!(
        "let twice = Array::concatenate(&[&u, &u], 1);"
        "assert_eq!(twice.shape()[..], [2, 6]);"
    )]
    pub fn concatenate(arrays: &[&Array], axis: usize) -> Array {
        Array::try_concatenate(arrays, axis).unwrap_or_else(|error| Array::failed_of(arrays, error))
    }

    /// A result that carries an error: the first that one of its operands carries, or this one.
    pub(crate) fn failed_of(operands: &[&Array], error: Error) -> Array {
        match operands.iter().find(|operand| operand.recorded().is_err()).or(operands.first()) {
            Some(operand) => operand.failed(error),
            None => {
                let (team, expr, layout) = (Team::alone(), Expr::Coord(0), NodeLayout::Free);
                Array::of(Node::lazy(Index::zeros(1), DType::F64, &team, expr, layout)).failed(error)
            }
        }
    }

    fn try_concatenate(arrays: &[&Array], axis: usize) -> Result<Array> {
        let given = || arrays.iter().map(|array| format!("{} {}", array.dtype(), array.shape()));
        let agree = |a: &Array, b: &Array| {
            let same = |d: usize| d == axis || a.shape()[d] == b.shape()[d];
            a.dtype() == b.dtype() && a.rank() == b.rank() && (0..a.rank()).all(same)
        };
        let first = arrays.first().filter(|first| axis < first.rank());
        let Some(first) = first.filter(|first| arrays.iter().all(|array| agree(first, array))) else {
            let expected = format!("arrays of one dtype that agree in all dimensions but {axis}");
            let given = given().collect::<Vec<String>>().join(", ");
            return Err(Error::invalid("concatenate", expected, given, "convert with `cast`; slice them"));
        };
        let (mut shape, mut at) = (first.shape(), Index::zeros(first.rank()));
        let mut boxes = Vec::with_capacity(arrays.len());
        for array in arrays {
            boxes.push((at, Array::of(array.node.beside("concatenate", &first.node)?)));
            at[axis] += array.shape()[axis];
        }
        shape[axis] = at[axis];
        // The first of the largest.
        let size = |at: &usize| (arrays[*at].shape()[axis], std::cmp::Reverse(*at));
        let (start, like) = &boxes[(0..boxes.len()).max_by_key(size).unwrap_or_default()];
        let layout = like.distribution()?.enclosing(&shape, start)?;
        joined("concatenate", layout, boxes)
    }

    /// The arrays, of one shape, one behind the other along a new dimension before dimension `axis`.
    /// Recorded. Carries errors as [`Array::concatenate`] does.
    #[doc = example!("assert_eq!(Array::stack(&[&u, &u], 0).shape()[..], [2, 2, 3]);")]
    pub fn stack(arrays: &[&Array], axis: usize) -> Array {
        if let Some(other) = arrays.iter().find(|array| array.shape() != arrays[0].shape()) {
            let (expected, given) =
                (format!("arrays of shape {}", arrays[0].shape()), other.shape().to_string());
            return Array::failed_of(arrays, Error::invalid("stack", expected, given, "use `concatenate`"));
        }
        let thick: Vec<Array> = arrays.iter().map(|array| array.unsqueeze(&[axis])).collect();
        Array::concatenate(&thick.iter().collect::<Vec<&Array>>(), axis)
    }

    /// The array with (`before`, `after`) cells around it in every dimension. Recorded. The array's own cells
    /// stay on their parts, as in [`Array::concatenate`], and its memory gets halos as wide as the padding:
    /// who pads by so many cells reads neighbours so far away. Wrapped around, blocks are a view.
    /// Padding by many times the extent takes time in proportion to its width.
    ///
    /// Carries an error for widths below 0, more cells along a dimension than [`COORDINATE_LIMIT`], and
    /// nothing to repeat.
    #[doc = example!(
        "let wide = u.pad(&[(0, 0), (1, 1)], Padding::Edge);"
        "assert_eq!(wide.slice(&s![0, ..]).to_vec::<f64>()?, [0.0, 0.0, 1.0, 2.0, 2.0]);"
    )]
    pub fn pad(&self, widths: &[(i64, i64)], with: Padding) -> Array {
        self.or_failed(self.try_pad(widths, with))
    }

    fn try_pad(&self, widths: &[(i64, i64)], with: Padding) -> Result<Array> {
        let extents = self.shape();
        let refuse = |expected: String| {
            let given = format!("{widths:?} around shape {extents}");
            Error::invalid("pad", expected, given, "give (before, after) per dimension")
        };
        if widths.len() != self.rank() || widths.iter().any(|&(before, after)| before < 0 || after < 0) {
            return Err(refuse(format!("{} pairs of widths of at least 0", self.rank())));
        }
        if self.rank() == 0 {
            return Ok(self.clone());
        }
        let padded = |d: usize| {
            extents[d].checked_add(widths[d].0)?.checked_add(widths[d].1).filter(|n| *n <= COORDINATE_LIMIT)
        };
        if !(0..self.rank()).all(|d| padded(d).is_some()) {
            return Err(refuse(format!("at most {COORDINATE_LIMIT} cells along each dimension")));
        }
        if let Padding::Constant(value) = with {
            return self.padded_with(widths, value);
        }
        let has_cells = |d: usize| extents[d] > 0 || widths[d] == (0, 0);
        if !(0..self.rank()).all(has_cells) {
            return Err(refuse("cells to repeat".to_owned()));
        }
        let counts = (0..self.rank()).map(|d| with.count_runs(extents[d], widths[d]));
        let (most, boxes) = counts.fold((0, 1i64), |(most, all), n| (n.max(most), all.saturating_mul(n)));
        if most <= MANY_BOXES
            && with == Padding::Wrap
            && self.distribution()?.is_block()
            && !extents.contains(&0)
        {
            return self.wrapped(widths, self.around(widths)?);
        }
        let padded: Vec<usize> = (0..self.rank()).filter(|&d| widths[d] != (0, 0)).collect();
        if boxes <= MANY_BOXES || (most <= MANY_BOXES && padded.len() == 1) {
            let runs: Vec<Vec<Run>> = (0..self.rank()).map(|d| runs(extents[d], widths[d], with)).collect();
            return joined("pad", self.around(widths)?, self.boxes(&runs)?);
        }
        padded.into_iter().try_fold(self.clone(), |x, d| {
            let only: Vec<_> = (0..self.rank()).map(|e| if e == d { widths[e] } else { (0, 0) }).collect();
            match with.count_runs(extents[d], widths[d]) > MANY_BOXES {
                true => x.tiled(&only, d, with),
                false => x.try_pad(&only, with),
            }
        })
    }

    /// Padded along one dimension by many turns: what repeats is joined with itself until a few turns of it
    /// are enough.
    fn tiled(&self, widths: &[(i64, i64)], d: usize, with: Padding) -> Result<Array> {
        let (layout, n) = (self.around(widths)?, self.shape()[d]);
        let back = |from: i64, to: i64| {
            let span = |e: usize| if e == d { (from..to).into_span() } else { (..).into_span() };
            self.flip(d).slice(&(0..self.rank()).map(span).collect::<Vec<Span>>())
        };
        let mut tile = match with {
            Padding::Reflect if n > 2 => Array::try_concatenate(&[self, &back(1, n - 1)], d)?,
            Padding::Symmetric => Array::try_concatenate(&[self, &back(0, n)], d)?,
            _ if self.distribution()?.is_block() => self.clone(),
            _ => Array::try_concatenate(&[self, self], d)?,
        };
        while tile.shape()[d] < layout.shape()[d] / TURNS {
            tile = Array::try_concatenate(&[&tile, &tile], d)?;
        }
        tile.wrapped(widths, layout)
    }

    /// The view on `layout` that begins so far before the array and wraps around its ends.
    fn wrapped(&self, widths: &[(i64, i64)], layout: Distribution) -> Result<Array> {
        let start = Index::from_fn(self.rank(), |d| -widths[d].0);
        let (shape, layout) = (layout.shape(), NodeLayout::known(layout));
        Ok(Array::of(self.node.view(shape, Map::window(&start), layout)))
    }

    fn padded_with(&self, widths: &[(i64, i64)], value: Scalar) -> Result<Array> {
        if value.dtype != self.dtype() {
            return Err(Error::element_type("pad", self.dtype(), value.dtype));
        }
        let layout = self.around(widths)?;
        let own = Region::from_shape(&self.shape())?.shift(&Index::from_fn(self.rank(), |d| widths[d].0))?;
        let fill = |region: Region| {
            let like = value.operand(self);
            let node =
                Node::lazy(region.extents(), value.dtype, like.team(), Expr::Fill(value), NodeLayout::Free);
            (*region.start(), Array::of(node))
        };
        let mut boxes = vec![(*own.start(), self.clone())];
        boxes.extend(layout.global().subtract(&own).into_iter().map(fill));
        joined("pad", layout, boxes)
    }

    /// The layout of the array with cells around.
    fn around(&self, widths: &[(i64, i64)]) -> Result<Distribution> {
        let shape = Index::from_fn(self.rank(), |d| self.shape()[d] + widths[d].0 + widths[d].1);
        let start = Index::from_fn(self.rank(), |d| widths[d].0);
        let layout = Arc::new(self.distribution()?.enclosing(&shape, &start)?);
        let halo = HaloWidths { lo: start, hi: Index::from_fn(self.rank(), |d| widths[d].1), corners: true };
        Ok((*widened(&layout, &halo)?.unwrap_or(layout)).clone())
    }

    /// Element `i` of the result is element `i - offsets`, wrapping around, as in NumPy; [`Array::shift`] has
    /// the other sign. Recorded. Of blocks it is a view, distributed like the array; where the array is
    /// periodic a halo holds the cells that wrap around; otherwise a copy in temporary memory does.
    #[doc = example!("assert_eq!(u.roll(&[0, 1]).to_vec::<f64>()?, [2.0, 0.0, 1.0, 5.0, 3.0, 4.0]);")]
    pub fn roll(&self, offsets: &[i64]) -> Array {
        self.or_failed(self.try_roll(offsets))
    }

    fn try_roll(&self, offsets: &[i64]) -> Result<Array> {
        let dist = self.distribution()?;
        if offsets.len() != self.rank() {
            let (expected, given) = (format!("{} offsets", self.rank()), format!("{offsets:?}"));
            return Err(Error::invalid("roll", expected, given, "give one offset per dimension"));
        }
        let extents = self.shape();
        let back = Index::from_fn(self.rank(), |d| -(offsets[d] % extents[d].max(1)));
        if dist.is_block() {
            return self.turned_round(&back);
        }
        let wrapping = |d: usize, periodic: bool| if dist.periodic(d) == periodic { back[d] } else { 0 };
        let view = match (0..self.rank()).any(|d| wrapping(d, true) != 0) {
            true => self.shift(&(0..self.rank()).map(|d| wrapping(d, true)).collect::<Vec<i64>>()),
            false => self.clone(),
        };
        let by = Index::from_fn(self.rank(), |d| wrapping(d, false).rem_euclid(extents[d].max(1)));
        if by.iter().all(|&by| by == 0) {
            return Ok(view);
        }
        let along = |d: usize| {
            let runs = [
                Run { start: by[d], step: 1, count: extents[d] - by[d] },
                Run { start: 0, step: 1, count: by[d] },
            ];
            runs.into_iter().filter(|run| run.count > 0 || extents[d] == 0).collect::<Vec<Run>>()
        };
        let layout = Distribution::default_partition(dist.parts(), &extents)?;
        joined("roll", layout, view.boxes(&(0..self.rank()).map(along).collect::<Vec<_>>())?)
    }

    /// The boxes that runs along every dimension make up, each a view of this array.
    fn boxes(&self, runs: &[Vec<Run>]) -> Result<Vec<(Index, Array)>> {
        let mut boxes = vec![(Index::zeros(self.rank()), Vec::new())];
        for (d, runs) in runs.iter().enumerate() {
            boxes = boxes
                .iter()
                .flat_map(|(start, chosen)| {
                    let (mut start, chosen) = (*start, chosen.clone());
                    runs.iter().map(move |run| {
                        let longer = chosen.iter().copied().chain([*run]).collect::<Vec<Run>>();
                        let here = start;
                        start[d] += run.count;
                        (here, longer)
                    })
                })
                .collect();
        }
        boxes.into_iter().map(|(start, chosen)| Ok((start, self.selected(&chosen)?))).collect()
    }

    /// The view of one run along every dimension.
    fn selected(&self, runs: &[Run]) -> Result<Array> {
        // A single element is a slice, whichever way it leads.
        if runs.iter().all(|run| run.step == 1 || run.count == 1) {
            let spans: Vec<Span> = runs.iter().map(|r| (r.start..r.start + r.count).into_span()).collect();
            return Ok(self.slice(&spans));
        }
        let axis = |(dim, run): (usize, &Run)| {
            let Run { start, step, count } = *run;
            Stride::Of { dim, start, step, count }
        };
        self.try_rearranged(&runs.iter().enumerate().map(axis).collect::<Vec<Stride>>())
    }
}

impl Padding {
    /// About how many runs a dimension of `n` elements consists of with cells before and after.
    fn count_runs(self, n: i64, (before, after): (i64, i64)) -> i64 {
        match self {
            Padding::Constant(_) | Padding::Edge => 3,
            _ if n < 2 => 3,
            Padding::Wrap | Padding::Reflect | Padding::Symmetric => before / (n - 1) + after / (n - 1) + 3,
        }
    }

    /// The elements from coordinate `at` on, counted from the first of `n`, up to where they turn back.
    fn run(self, at: i64, n: i64) -> Run {
        let up = |start: i64, count: i64| Run { start, step: 1, count };
        let down = |start: i64, count: i64| Run { start, step: -1, count };
        match self {
            Padding::Constant(_) | Padding::Edge => {
                Run { start: at.clamp(0, n - 1), step: 0, count: i64::MAX }
            }
            _ if n == 1 => Run { start: 0, step: 0, count: i64::MAX },
            Padding::Wrap => up(at.rem_euclid(n), n - at.rem_euclid(n)),
            Padding::Reflect => match at.rem_euclid(2 * (n - 1)) {
                at if at < n - 1 => up(at, n - at),
                at => down(2 * (n - 1) - at, 2 * (n - 1) - at + 1),
            },
            Padding::Symmetric => match at.rem_euclid(2 * n) {
                at if at < n => up(at, n - at),
                at => down(2 * n - 1 - at, 2 * n - at),
            },
        }
    }
}

/// The runs of a dimension of `n` elements with cells before and after.
fn runs(n: i64, (before, after): (i64, i64), with: Padding) -> Vec<Run> {
    let (mut runs, mut at) = (Vec::new(), -before);
    loop {
        let run = if at == 0 { Run { start: 0, step: 1, count: n } } else { with.run(at, n) };
        let count = run.count.min(if at < 0 { -at } else { n + after - at });
        runs.push(Run { count, ..run });
        at += count;
        if at >= n + after {
            return runs;
        }
    }
}

/// The array of these boxes, which together are all of it.
fn joined(operation: &'static str, layout: Distribution, boxes: Vec<(Index, Array)>) -> Result<Array> {
    let like = boxes.first().map(|(_, array)| Arc::clone(&array.node));
    let Some(like) = like else { unreachable!("everything is made of something") };
    if layout.rank() > MAX_RANK {
        return Err(Error::invalid(
            operation,
            format!("at most {MAX_RANK} dimensions"),
            layout.rank().to_string(),
            "stack fewer",
        ));
    }
    let mut portions = Vec::with_capacity(boxes.len());
    for (start, array) in boxes {
        if let Some(error) = array.node.error() {
            return Err(error);
        }
        if !array.shape().contains(&0) {
            portions.push(Portion { start, value: Arc::clone(&array.node) });
        }
    }
    let (shape, layout) = (layout.shape(), NodeLayout::known(layout));
    Ok(Array::recording(Node::lazy(shape, like.dtype, &like.team, Expr::Joined(portions), layout)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The elements that runs name.
    fn named(runs: &[Run]) -> Vec<i64> {
        runs.iter().flat_map(|run| (0..run.count).map(|k| run.start + k * run.step)).collect()
    }

    #[test]
    fn runs_name_what_the_padding_says() {
        let around = |n, widths, with: Padding| runs(n, widths, with);
        let cases: [(Padding, &[i64]); 4] = [
            (Padding::Edge, &[0, 0, 0, 1, 2, 3, 3]),
            (Padding::Wrap, &[2, 3, 0, 1, 2, 3, 0]),
            (Padding::Reflect, &[2, 1, 0, 1, 2, 3, 2]),
            (Padding::Symmetric, &[1, 0, 0, 1, 2, 3, 3]),
        ];
        for (with, expected) in cases {
            assert_eq!(named(&around(4, (2, 1), with)), expected, "{with:?}");
        }
        assert_eq!(around(4, (3, 3), Padding::Reflect).len(), 3);
        // Round and round.
        assert_eq!(named(&around(2, (5, 0), Padding::Wrap)), [1, 0, 1, 0, 1, 0, 1]);
        assert_eq!(named(&around(3, (0, 6), Padding::Reflect)), [0, 1, 2, 1, 0, 1, 2, 1, 0]);
        assert_eq!(named(&around(1, (2, 1), Padding::Reflect)), [0, 0, 0, 0]);
        assert_eq!(named(&around(2, (0, 5), Padding::Symmetric)), [0, 1, 1, 0, 0, 1, 1]);
    }
}
