//! Views that are more than a change of coordinates: windows whose elements lie scattered in their base's
//! memory, and views within one box of a joined value.

use crate::array::lower::graph::{Graph, GraphValue, NodeId};
use crate::array::record::map::Map;
use crate::error::Result;
use crate::index::{Along, Index, Region};

/// Whether a view is a window of a node that is no box in its memory: along unordered lists. Windows that
/// wrap around never are; other views than windows are gathered by their kernels.
pub(crate) fn is_scattered(graph: &Graph, base: NodeId, shape: &Index, view: &Map) -> Result<bool> {
    let Some(start) = view.as_window(shape.rank()) else { return Ok(false) };
    let dist = graph.distribution(base)?;
    if dist.is_block() {
        return Ok(false);
    }
    let window = Region::from_shape(shape)?.shift(&start)?;
    Ok(dist.global().contains_region(&window) && !dist.is_box(&window))
}

/// The cells of a joined value that one of its boxes is.
pub(crate) fn box_region(graph: &Graph, start: &Index, value: NodeId) -> Result<Region> {
    Ok(Region::from_shape(graph.shape(value))?.shift(start)?)
}

/// A view of shape `shape` of a joined value as a view of one of its boxes, if it lies within that.
pub(crate) fn view_within_box(
    graph: &Graph,
    base: NodeId,
    shape: &Index,
    view: &Map,
) -> Option<(NodeId, Map)> {
    let GraphValue::Joined(boxes, _) = graph.value(base) else { return None };
    if shape.contains(&0) {
        return None;
    }
    let cells = Region::from_fn(graph.rank(base), |d| match view.axes()[d] {
        Along::Pinned(at) => (at, at + 1),
        Along::Dim { dim, .. } => view.axes()[d].span(0, shape[dim]),
    });
    let contains = |start: &Index, value: NodeId| {
        box_region(graph, start, value).is_ok_and(|region| region.contains_region(&cells))
    };
    let found = boxes.iter().map(|&(start, value)| (graph.index(start), value));
    let (start, value) = found.into_iter().find(|&(start, value)| contains(start, value))?;
    let along = |d: usize| match view.axes()[d] {
        Along::Pinned(at) => Along::Pinned(at - start[d]),
        Along::Dim { dim, offset, step } => Along::Dim { dim, offset: offset - start[d], step },
    };
    Some((value, Map::from_fn(view.axes().len(), along)))
}
