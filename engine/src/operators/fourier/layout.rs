//! The distribution in which the lines along a dimension are transformed.

use crate::array::{Array, Map, NodeLayout};
use crate::error::Result;
use crate::index::Distribution;

/// An array on a distribution for its passes.
pub enum Layout {
    /// Every line is on one part.
    Lines(Array),
    /// Everything is on one part, behind a new dimension 0.
    Together(Array),
    /// Fewer lines than parts: the dimension is two, the first of the radices up to `split`, and the second,
    /// which is divided, of all others.
    Stages { x: Array, split: usize },
}

/// Lines stay where they are if they are whole. Otherwise the longest of the other dimensions is divided.
pub fn choose(x: &Array, axis: usize, radices: &[usize]) -> Result<Layout> {
    let (dist, shape, pairs) = (x.distribution()?, x.shape(), x.rank() - 1);
    let parts = dist.parts() as i64;
    let grid = dist.grid().shape();
    if dist.is_block() && grid[axis] == 1 && grid[pairs] == 1 {
        return Ok(Layout::Lines(x.clone()));
    }
    let others = (0..pairs).filter(|&d| d != axis);
    let longest = others.max_by_key(|&d| (shape[d], std::cmp::Reverse(d)));
    if let Some(other) = longest.filter(|&d| shape[d] >= parts) {
        return Ok(Layout::Lines(moved(x, divided(x, other)?)?));
    }
    match middle(radices).filter(|&(_, first, rest)| first.min(rest) >= parts) {
        Some((split, first, rest)) => {
            let mut split_shape = shape.to_vec();
            split_shape.splice(axis..=axis, [first, rest]);
            let two = x.reshape(&split_shape);
            Ok(Layout::Stages { x: moved(&two, divided(&two, axis + 1)?)?, split })
        }
        _ => Ok(Layout::Together(together(x)?)),
    }
}

/// On a distribution of blocks. Cyclic parts that divide as these do stay where they are, but as blocks.
fn moved(x: &Array, blocks: Distribution) -> Result<Array> {
    let found = x.redistribute(&blocks);
    if found.distribution()?.is_block() {
        return Ok(found);
    }
    let (node, layout) = (&found.node, NodeLayout::known(blocks));
    Ok(Array::of(node.view(node.shape, Map::identity(x.rank()), layout)))
}

/// After so many passes about half of the work is done; what these and the others multiply to.
fn middle(radices: &[usize]) -> Option<(usize, i64, i64)> {
    let product = |part: &[usize]| part.iter().product::<usize>() as i64;
    let halves = (1..radices.len()).map(|at| (at, product(&radices[..at]), product(&radices[at..])));
    halves.max_by_key(|&(at, first, rest)| (first.min(rest), std::cmp::Reverse(at)))
}

/// One dimension divided among all parts.
pub fn divided(x: &Array, dim: usize) -> Result<Distribution> {
    let mut grid = vec![1; x.rank()];
    grid[dim] = x.team().size() as i64;
    Ok(Distribution::builder(&x.shape()).grid(&grid).build()?)
}

/// Everything on the first part: of small arrays. A dimension of one cell before the others is divided, so
/// that no other shape divides lines.
fn together(x: &Array) -> Result<Array> {
    let (x, parts) = (x.unsqueeze(&[0]), x.team().size());
    let mut bounds = vec![1; parts + 1];
    bounds[0] = 0;
    let grid: Vec<i64> = (0..x.rank()).map(|d| if d == 0 { parts as i64 } else { 1 }).collect();
    Ok(x.redistribute(&Distribution::builder(&x.shape()).grid(&grid).bounds(0, &bounds).build()?))
}
