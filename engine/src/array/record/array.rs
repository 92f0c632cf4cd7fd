//! [`Array`]: the handle that users hold, and recorded values without operands; every other method stands in
//! the module of its subject.

use std::fmt;
use std::sync::Arc;

use partita_kernels::{DType, Draw, Scalar};

use crate::array::record::expr::{Expr, NodeLayout, Operands, Pointwise};
use crate::array::record::node::Node;
use crate::error::{Error, Result};
use crate::index::{Distribution, Index};
use crate::team::Team;

/// A distributed N-D array: shape, dtype, team, and a value that is computed when it is needed.
///
/// Operations record. Values are computed by reading, [`Array::eval`] and assignment, and when a chain of
/// recorded operations, each an operand of the next, grows longer than 8192: then about half of it is
/// computed and stored. An error of that is carried by the result of the operation. All ranks of a program
/// do this at the same operation, because it depends only on what was recorded.
///
/// A recorded value that several kernels need, or one kernel at several points, is computed for each of
/// them as long as that is cheap. If it would be computed more than twice, and storing it is cheaper, it
/// is computed once and stored. Results of reductions are always computed once.
///
/// Operands of an operation may be on different teams over the same ranks: the result is on the team of the
/// first, and a plan moves the elements of the others there; [`Array::explain`] shows it.
///
/// Clones are cheap and independent: assigning to one does not change the other.
#[derive(Clone)]
pub struct Array {
    pub(crate) node: Arc<Node>,
}

impl Array {
    pub(crate) fn of(node: Arc<Node>) -> Array {
        Array { node }
    }

    /// An array filled with one value, of the value's dtype. [`Scalar::from_f64`] truncates and saturates
    /// where the dtype does not hold the number; [`Scalar::try_from_f64`] gives `None` then.
    ///
    /// # Errors
    /// If the distribution has another number of parts than the team has members.
    #[doc = example!(
        "let ones = Array::full(&team, &dist, 1i32.into())?;"
        "assert_eq!((ones.dtype(), ones.to_vec::<i32>()?), (DType::I32, vec![1; 6]));"
    )]
    pub fn full(team: &Team, dist: &Distribution, value: Scalar) -> Result<Array> {
        check_parts("Array::full", team, dist)?;
        let layout = NodeLayout::known(dist.clone());
        Ok(Array::of(Node::lazy(dist.shape(), value.dtype, team, Expr::Fill(value.normalized()), layout)))
    }

    /// An array of zeros (false for bool).
    ///
    /// # Errors
    /// As [`Array::full`].
    #[doc = example!(
        "let zeros = Array::zeros(&team, &dist, DType::F32)?;"
        "assert_eq!(zeros.to_vec::<f32>()?, [0.0; 6]);"
    )]
    pub fn zeros(team: &Team, dist: &Distribution, dtype: DType) -> Result<Array> {
        Array::full(team, dist, Scalar::from_i64(dtype, 0))
    }

    /// An array whose elements are their own global coordinate in dimension `d`.
    ///
    /// # Errors
    /// As [`Array::full`]; no such dimension.
    #[doc = example!(
        "let column = Array::coordinate(&team, &dist, 1, DType::I64)?;"
        "assert_eq!(column.to_vec::<i64>()?, [0, 1, 2, 0, 1, 2]);"
    )]
    pub fn coordinate(team: &Team, dist: &Distribution, d: usize, dtype: DType) -> Result<Array> {
        check_parts("Array::coordinate", team, dist)?;
        if d >= dist.rank() {
            let expected = format!("a dimension below {}", dist.rank());
            return Err(Error::invalid("Array::coordinate", expected, d.to_string(), "count from 0"));
        }
        let layout = NodeLayout::known(dist.clone());
        Ok(Array::of(Node::lazy(dist.shape(), dtype, team, Expr::Coord(d), layout)))
    }

    /// The global shape.
    #[doc = example!("assert_eq!(u.shape()[..], [2, 3]);")]
    pub fn shape(&self) -> Index {
        self.node.shape
    }

    /// Number of dimensions.
    #[doc = example!("assert_eq!(u.rank(), 2);")]
    pub fn rank(&self) -> usize {
        self.node.rank()
    }

    /// Element type.
    #[doc = example!("assert_eq!((&u + 1).dtype(), DType::F64);")]
    pub fn dtype(&self) -> DType {
        self.node.dtype
    }

    /// The members that hold the parts.
    #[doc = example!("assert_eq!(u.team().size(), 2);")]
    pub fn team(&self) -> &Team {
        &self.node.team
    }

    /// The division of the elements among parts.
    ///
    /// # Errors
    /// The error the array carries.
    #[doc = example!("assert_eq!(u.distribution()?.owned(1), Region::new(&[0, 1], &[2, 3])?);")]
    pub fn distribution(&self) -> Result<Arc<Distribution>> {
        match self.node.error() {
            Some(error) => Err(error),
            None => self.node.distribution(),
        }
    }

    /// True if the value is in memory. If not, reading it computes.
    #[doc = example!("assert!(u.is_computed() && !u.exp().is_computed());")]
    pub fn is_computed(&self) -> bool {
        self.node.storage().is_some()
    }

    /// True if the value is in memory, or a view of one that is.
    #[doc = example!("assert!(u.slice(&s![.., 1]).is_in_memory() && !u.exp().is_in_memory());")]
    pub fn is_in_memory(&self) -> bool {
        self.is_computed() || self.node.seen().is_some_and(|(base, _)| base.storage().is_some())
    }
}

pub(crate) fn check_parts(operation: &'static str, team: &Team, dist: &Distribution) -> Result<()> {
    if dist.parts() == team.size() {
        return Ok(());
    }
    Err(Error::invalid(
        operation,
        format!("a distribution over {} parts, one per member of the team", team.size()),
        format!("{} parts", dist.parts()),
        "build the distribution with `.parts(team.size())` or a grid of that many",
    ))
}

/// Random numbers, one operation for each draw: by a key of two words of u32.
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

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array {} {} over {}", self.shape(), self.dtype(), self.node.team)
    }
}
