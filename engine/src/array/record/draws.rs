//! Random numbers as recorded values, one operation for each draw: [`Draw`] says of which bits they are made.

use std::sync::Arc;

use partita_kernels::{DType, Draw, Scalar};

use crate::array::Array;
use crate::array::record::expr::{Expr, Operands, Pointwise};
use crate::array::record::node::Node;
use crate::error::Result;
use crate::index::Distribution;
use crate::team::Team;

/// A draw for each element, by a key of two words of u32.
///
/// # Errors
/// A distribution that does not fit the team.
pub(crate) fn drawn(
    team: &Team,
    dist: &Distribution,
    draw: Draw,
    dtype: DType,
    [first, second]: [Arc<Node>; 2],
) -> Result<Array> {
    let cells = cells(team, dist)?.node;
    let layout = cells.layout();
    let expr = Expr::Apply(Pointwise::Draw(draw), Operands::Three([cells, first, second]));
    Ok(Array::recording(Node::lazy(dist.shape(), dtype, team, expr, layout)))
}

/// The number of each element in C order: u32 where all fit, otherwise u64.
fn cells(team: &Team, dist: &Distribution) -> Result<Array> {
    let shape = dist.shape();
    let dtype = match shape.iter().product::<i64>() <= 1 << 32 {
        true => DType::U32,
        false => DType::U64,
    };
    let Some(first) = (dist.rank() > 0).then_some(0) else { return Array::zeros(team, dist, dtype) };
    (1..dist.rank()).try_fold(Array::coordinate(team, dist, first, dtype)?, |number, d| {
        let extent = Scalar { dtype, bits: shape[d] as u64 };
        Ok(number * extent + Array::coordinate(team, dist, d, dtype)?)
    })
}
