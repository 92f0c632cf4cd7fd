//! Other shapes of values whose parts hold the elements in the order of the new shape already: the same
//! memory, described in another way. What is not computed yet is computed in the new shape, if all it follows
//! from is memory that can be viewed so; then nothing is stored in between.

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::array::lower::graph::NodeId;
use crate::array::lower::lowerer::{LowerTarget, Lowerer, Placement};
use crate::array::lower::steps::list::Step;
use crate::array::memory::storage::Pitch;
use crate::array::record::expr::{Expr, NodeLayout};
use crate::error::Result;
use crate::index::{Distribution, Index, matched};

/// Expressions deeper than this are computed before they are viewed in another shape.
const MOST_LEVELS: usize = 64;

impl Lowerer<'_> {
    /// Computes a node in another shape, or makes it the name of an expression in that shape.
    pub fn reshape(&mut self, node: NodeId, base: NodeId) -> Result<()> {
        self.mark_unsupported("the step takes an array in another shape");
        let shape = *self.graph.shape(node);
        let mut propagation =
            ShapePropagation { lowerer: self, known: HashMap::default(), aliases: Vec::new() };
        let found = propagation.propagated(base, &shape, 0)?;
        let aliases = propagation.aliases;
        if let Some(found) = found {
            self.list.steps.extend(aliases);
            return self.alias_of(node, found);
        }
        let dist = self.graph.distribution(node)?;
        let (base, pitch) = match self.seen(base, &dist) {
            Some(pitch) => (base, pitch),
            None => (self.packed(base)?, Pitch::Packed),
        };
        self.share_memory(node, base, (&dist, pitch));
        Ok(())
    }

    /// The node is the base's memory, viewed on another distribution.
    pub(super) fn share_memory(
        &mut self,
        node: NodeId,
        base: NodeId,
        (dist, pitch): (&Arc<Distribution>, Pitch),
    ) {
        self.list.steps.push(Step::Alias { result: node, base, dist: Arc::clone(dist) });
        self.computed_in(node, (dist, dist), pitch);
    }

    /// Makes a node an alias of one of its shape: they share memory if that one has some, divided alike.
    fn alias_of(&mut self, node: NodeId, found: NodeId) -> Result<()> {
        let dist = self.graph.distribution(node)?;
        match self.graph.memory_state(found).cloned() {
            Some(state) if state.dist.same_layout(&dist) && !has_halo(&state.dist) => {
                self.share_memory(node, found, (&dist, state.pitch));
            }
            _ => self.graph.set_alias(node, found),
        }
        Ok(())
    }

    /// The pitch of a node's memory on another distribution, if it can be viewed there.
    pub(super) fn seen(&self, node: NodeId, dist: &Distribution) -> Option<Pitch> {
        let state = self.graph.memory_state(node).filter(|state| !has_halo(&state.dist))?;
        state.pitch.seen(&state.dist, dist)
    }

    /// Computes a node into memory that has no room for halos, and no padding.
    fn packed(&mut self, node: NodeId) -> Result<NodeId> {
        let dist = self.graph.distribution(node)?;
        let dist = Arc::new(dist.restricted(&dist.global())?);
        let result = self.placeholder(node);
        self.compute(&[LowerTarget { node, placement: Placement::On(dist, Pitch::Packed), result }])?;
        Ok(result)
    }
}

fn has_halo(dist: &Distribution) -> bool {
    let (lo, hi) = dist.halo();
    lo.iter().chain(hi.iter()).any(|&width| width > 0)
}

/// Expressions on their way to another shape. What is used twice stays one node.
struct ShapePropagation<'l, 't> {
    lowerer: &'l mut Lowerer<'t>,
    known: FxHashMap<(NodeId, Index), Option<NodeId>>,
    /// The memory that is viewed in another shape, if all goes well.
    aliases: Vec<Step>,
}

impl ShapePropagation<'_, '_> {
    /// The node in a shape, if it is memory that can be viewed so or follows from such memory.
    fn propagated(&mut self, node: NodeId, shape: &Index, level: usize) -> Result<Option<NodeId>> {
        if self.lowerer.graph.shape(node) == shape {
            return Ok(Some(node));
        }
        let key = (node, *shape);
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        let found = match self.aliased(node, shape)? {
            // No kernel computes it together with others, so it is memory of its own, which may be viewed so.
            None if self.lowerer.graph.is_apart(node) => {
                self.lowerer.evaluate(&[node])?;
                self.aliased(node, shape)?
            }
            None if level < MOST_LEVELS => self.expression(node, shape, level)?,
            found => found,
        };
        self.known.insert(key, found);
        Ok(found)
    }

    /// Memory in another shape, without a copy.
    fn aliased(&mut self, node: NodeId, shape: &Index) -> Result<Option<NodeId>> {
        let graph = &mut self.lowerer.graph;
        let Some(memory) = graph.memory(node).filter(|dist| !has_halo(dist)) else { return Ok(None) };
        let Some(dist) = memory.reshaped(shape)?.map(Arc::new) else { return Ok(None) };
        let Some(pitch) = self.lowerer.seen(node, &dist) else { return Ok(None) };
        let (layout, graph) = (NodeLayout::known(Arc::clone(&dist)), &mut self.lowerer.graph);
        let result = graph.push(*shape, graph.dtype(node), Expr::Coord(0), layout);
        self.lowerer.computed_in(result, (&dist, &dist), pitch);
        self.aliases.push(Step::Alias { result, base: node, dist });
        Ok(Some(result))
    }

    fn expression(&mut self, node: NodeId, shape: &Index, level: usize) -> Result<Option<NodeId>> {
        let graph = &mut self.lowerer.graph;
        let layout = match graph.layout(node) {
            NodeLayout::Free => NodeLayout::Free,
            NodeLayout::Known(_) | NodeLayout::ViewOf(..) => {
                let Some(dist) = graph.distribution(node)?.reshaped(shape)? else { return Ok(None) };
                NodeLayout::known(dist)
            }
        };
        let (whole, dtype) = (*graph.shape(node), graph.dtype(node));
        let (op, operands) = match graph.expr(node).cloned() {
            Some(expr @ (Expr::Fill(_) | Expr::Constant(_))) => {
                return Ok(Some(graph.push(*shape, dtype, expr, layout)));
            }
            Some(Expr::Apply(op, operands)) => (op, operands),
            Some(Expr::Reshaped { base }) => return self.propagated(base, shape, level + 1),
            _ => return Ok(None),
        };
        let mut propagated = Vec::with_capacity(3);
        for &operand in operands.as_slice() {
            let extents = *self.lowerer.graph.shape(operand);
            let Some(shape) = operand_shape(&whole, shape, &extents)? else { return Ok(None) };
            let Some(operand) = self.propagated(operand, &shape, level + 1)? else { return Ok(None) };
            propagated.push(operand);
        }
        let mut propagated = propagated.into_iter();
        let operands = operands.map(|&operand| propagated.next().unwrap_or(operand));
        Ok(Some(self.lowerer.graph.push(*shape, dtype, Expr::Apply(op, operands), layout)))
    }
}

/// The shape that an operand of an operation has when the operation's shape `old` becomes `new`: along every
/// group of dimensions it is there as a whole, or has one cell. `None` for others.
fn operand_shape(old: &Index, new: &Index, operand: &Index) -> Result<Option<Index>> {
    if operand.iter().all(|&extent| extent == 1) && operand.rank() <= new.rank() {
        return Ok(Some(*operand));
    }
    let Some(groups) = matched(old, new) else { return Ok(None) };
    let skipped = old.rank() - operand.rank();
    let extent = |d: usize| d.checked_sub(skipped).map_or(1, |d| operand[d]);
    let mut shape = Index::filled(new.rank(), 1);
    for (before, after) in groups {
        if before.clone().all(|d| extent(d) == old[d]) {
            after.for_each(|d| shape[d] = new[d]);
        } else if !before.clone().all(|d| extent(d) == 1) {
            return Ok(None);
        }
    }
    Ok(Some(shape))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_split_and_merged_as_the_whole() {
        let of = |operand: &[i64], new: &[i64]| {
            let operand = Index::new(operand).unwrap();
            let shape = operand_shape(&Index::from([6, 4, 5]), &Index::new(new).unwrap(), &operand).unwrap();
            shape.map(|shape| shape.to_vec())
        };
        assert_eq!(of(&[4, 5], &[2, 3, 4, 5]).unwrap(), [1, 1, 4, 5]);
        assert_eq!(of(&[6, 1, 5], &[3, 2, 4, 5]).unwrap(), [3, 2, 1, 5]);
        assert_eq!(of(&[4, 5], &[6, 20]).unwrap(), [1, 20]);
        assert_eq!(of(&[1], &[6, 20]).unwrap(), [1]);
        assert_eq!(of(&[1, 1, 1], &[6, 20]).unwrap(), [1, 1]);
        assert_eq!(of(&[5], &[6, 20]), None);
        assert_eq!(of(&[6, 1, 5], &[24, 5]), None);
    }
}
