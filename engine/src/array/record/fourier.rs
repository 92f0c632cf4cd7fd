//! A pass of a Fourier transform, as it is recorded.

use std::sync::Arc;

use crate::array::Array;
use crate::array::record::expr::{Butterflies, Expr, NodeLayout};
use crate::array::record::node::Node;
use crate::error::Result;

impl Array {
    /// This array of pairs after one pass; dimension `pass.from` is divided among no parts.
    pub(crate) fn butterflies(&self, pass: Butterflies, factors: Option<&Array>) -> Result<Array> {
        let (rank, Butterflies { from, span, .. }) = (self.rank(), pass);
        let order = (0..rank).map(|d| match d {
            d if d >= from && d < from + span => d + 1,
            d if d == from + span => from,
            d => d,
        });
        let dist = self.transpose(&order.collect::<Vec<usize>>()).distribution()?;
        debug_assert_eq!(dist.grid().shape()[from + span], 1, "a pass reads all cells of its dimension");
        let (shape, dist) = (dist.shape(), dist.restricted(&dist.global())?);
        let operands = [Some(self), factors].into_iter().flatten().map(|x| Arc::clone(&x.node)).collect();
        let (node, expr) = (&self.node, Expr::Butterflies(pass, operands));
        Ok(Array::recording(Node::lazy(shape, node.dtype, &node.team, expr, NodeLayout::known(dist))))
    }
}
