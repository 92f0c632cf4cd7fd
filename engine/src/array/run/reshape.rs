//! Other shapes of arrays whose parts hold the elements in the order of the new shape already: the same
//! memory, described in another way. What is not computed yet is computed in the new shape, if all it follows
//! from is memory that can be seen so; then nothing is stored in between. Knows no kernels; where elements
//! have to move, `rearrange` moves them.

use std::collections::HashMap;
use std::sync::Arc;

use crate::array::Array;
use crate::array::loops::analysis;
use crate::array::memory::storage::Storage;
use crate::array::record::map::Map;
use crate::array::record::node::{Expr, Node, NodeLayout, NodeState, Operands};
use crate::array::run::evaluate::{Placement, Target, compute};
use crate::error::Result;
use crate::index::{Index, matched};

/// Expressions deeper than this are computed before they are seen in another shape.
const MOST_LEVELS: usize = 64;

impl Array {
    /// The array in another shape of as many elements, where its parts hold them in the order of that;
    /// `None` where elements have to move.
    pub(crate) fn in_place(&self, shape: &Index) -> Result<Option<Array>> {
        let node = &self.node;
        if node.shape == *shape {
            return Ok(Some(self.clone()));
        }
        if let Some(seen) = seen(node, shape)? {
            return Ok(Some(Array::of(seen)));
        }
        let dist = node.distribution()?.reshaped(shape)?;
        Ok(dist.map(|dist| {
            let expr = Expr::Reshaped { base: Arc::clone(node) };
            Array::of(Node::lazy(*shape, node.dtype, &node.team, expr, NodeLayout::Known(Arc::new(dist))))
        }))
    }
}

/// A computed node in another shape, without a copy.
fn seen(node: &Arc<Node>, shape: &Index) -> Result<Option<Arc<Node>>> {
    let Some(storage) = node.storage().filter(|storage| !storage.has_halo()) else { return Ok(None) };
    let dist = storage.dist.reshaped(shape)?;
    Ok(dist.map(|dist| Node::ready(node.dtype, &node.team, storage.seen_on(Arc::new(dist)))))
}

/// What became of a node that is in another shape.
pub(crate) enum Reshaping {
    /// It is not, or not any more.
    Other,
    /// An expression that is computed in this shape.
    Expression,
    /// Its elements are in this memory.
    Memory(Box<Storage>),
}

/// Makes a node in another shape one that can be computed, or computes it.
pub(crate) fn resolve(node: &Arc<Node>) -> Result<Reshaping> {
    let base = match &*node.state() {
        NodeState::Lazy { expr: Expr::Reshaped { base }, .. } => Arc::clone(base),
        NodeState::Lazy { .. } | NodeState::Ready(_) | NodeState::Failed(_) => return Ok(Reshaping::Other),
    };
    analysis::mark_unsupported(|| "the step takes an array in another shape".to_owned());
    if let Some(found) = ShapePropagation::default().propagated(&base, &node.shape, 0)? {
        node.become_view(found, Map::identity(node.rank()));
        return Ok(Reshaping::Expression);
    }
    let storage = match base.storage().filter(|storage| !storage.has_halo()) {
        Some(storage) => storage,
        None => Arc::new(without_halo(&base)?),
    };
    Ok(Reshaping::Memory(Box::new(storage.seen_on(node.distribution()?))))
}

/// Computes a node into memory that has no room for halos.
fn without_halo(node: &Arc<Node>) -> Result<Storage> {
    let dist = node.distribution()?;
    let dist = Arc::new(dist.restricted(&dist.global())?);
    let layout = Storage::from_parts(Arc::clone(&dist), vec![None; dist.parts()]);
    let placement =
        Placement::WindowOfFresh(Node::ready(node.dtype, &node.team, layout), Index::zeros(dist.rank()));
    Ok(compute(&[Target { node: Arc::clone(node), placement }])?.remove(0))
}

/// Expressions on their way to another shape. What is used twice stays one node.
#[derive(Default)]
struct ShapePropagation {
    known: HashMap<(*const Node, Index), Option<Arc<Node>>>,
}

impl ShapePropagation {
    /// The node in a shape, if it is memory that can be seen so or follows from such memory.
    fn propagated(&mut self, node: &Arc<Node>, shape: &Index, level: usize) -> Result<Option<Arc<Node>>> {
        if node.shape == *shape {
            return Ok(Some(Arc::clone(node)));
        }
        let key = (Arc::as_ptr(node), *shape);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let found = match seen(node, shape)? {
            None if level < MOST_LEVELS => self.expression(node, shape, level)?,
            found => found,
        };
        self.known.insert(key, found.clone());
        Ok(found)
    }

    fn expression(&mut self, node: &Arc<Node>, shape: &Index, level: usize) -> Result<Option<Arc<Node>>> {
        let layout = match node.layout() {
            NodeLayout::Free => Some(NodeLayout::Free),
            NodeLayout::Known(_) | NodeLayout::ViewOf(..) => {
                node.distribution()?.reshaped(shape)?.map(|dist| NodeLayout::Known(Arc::new(dist)))
            }
        };
        let Some(layout) = layout else { return Ok(None) };
        let lazy = |expr| Some(Node::lazy(*shape, node.dtype, &node.team, expr, layout));
        let (op, operands) = match &*node.state() {
            NodeState::Lazy { expr: Expr::Fill(scalar), .. } => return Ok(lazy(Expr::Fill(*scalar))),
            NodeState::Lazy { expr: Expr::Apply(op, operands), .. } => {
                (Some(*op), operands.as_slice().to_vec())
            }
            NodeState::Lazy { expr: Expr::Reshaped { base }, .. } => (None, vec![Arc::clone(base)]),
            NodeState::Lazy { .. } | NodeState::Ready(_) | NodeState::Failed(_) => return Ok(None),
        };
        let Some(op) = op else { return self.propagated(&operands[0], shape, level + 1) };
        let mut propagated = Vec::with_capacity(operands.len());
        for operand in &operands {
            let Some(shape) = operand_shape(&node.shape, shape, &operand.shape)? else { return Ok(None) };
            let Some(operand) = self.propagated(operand, &shape, level + 1)? else { return Ok(None) };
            propagated.push(operand);
        }
        Ok(Operands::of(propagated).and_then(|operands| lazy(Expr::Apply(op, operands))))
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
