//! Elements in other shapes, on other distributions and teams, and by lists of positions, as they are
//! recorded.

use std::sync::Arc;

use crate::array::memory::storage::Storage;
use crate::array::record::expr::{
    Expr, Map, NodeLayout, Which, WholeOp, check_count, check_positions, sliced,
};
use crate::array::record::node::{Array, Node, check_parts};
use crate::device::collect;
use crate::error::{Error, Result};
use crate::index::{Distribution, Index, Region};
use crate::team::Team;

/// The source of one dimension of a rearranged array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stride {
    /// A dimension of the source: element `i` is the source's `start + i * step`. Step 0 repeats one element.
    Of {
        /// Its number.
        dim: usize,
        /// The source's coordinate of element 0.
        start: i64,
        /// The distance in it of neighbours in the result.
        step: i64,
        /// The extent of the result.
        count: i64,
    },
    /// A new one, along which the elements are the same.
    New {
        /// The extent of the result.
        count: i64,
    },
}

impl Stride {
    pub(crate) fn count(self) -> i64 {
        match self {
            Stride::Of { count, .. } | Stride::New { count } => count,
        }
    }
}

impl Array {
    /// The same elements, in C order, in another shape of as many. Recorded.
    ///
    /// Elements stay where they are if the parts hold them in the order of the new shape: where
    /// dimensions are split and merged of which only the first is divided, at whole rows of both shapes.
    /// Then the result shares memory without halos, and is computed together with what it is computed from.
    /// Otherwise elements move, and the first dimension that has more than one cell is cut into all parts.
    ///
    /// Carries an error for another number of elements.
    #[doc = example!("assert_eq!(u.reshape(&[3, 2]).slice(&s![.., 0]).to_vec::<f64>()?, [0.0, 2.0, 4.0]);")]
    pub fn reshape(&self, shape: &[i64]) -> Array {
        self.or_failed(self.try_reshape(shape))
    }

    fn try_reshape(&self, shape: &[i64]) -> Result<Array> {
        let is_one = |extents: &[i64]| extents.iter().all(|&extent| extent == 1);
        if (shape.is_empty() || self.rank() == 0) && is_one(shape) && is_one(&self.shape()) {
            let dropped: Vec<usize> = (0..self.rank()).collect();
            return Ok(self.squeeze(&dropped).unsqueeze(&vec![0; shape.len()]));
        }
        let dist = sliced(self.team().size(), shape)?;
        if dist.global().volume()? != Region::from_shape(&self.shape())?.volume()? {
            let (expected, given) =
                (format!("as many elements as shape {}", self.shape()), format!("{shape:?}"));
            return Err(Error::invalid("reshape", expected, given, "check the product of the extents"));
        }
        match self.in_place(&dist.shape())? {
            Some(seen) => Ok(seen),
            None => self.listed(dist, Which::All),
        }
    }

    /// Elements of this array on `dist`, in C order.
    pub(crate) fn listed(&self, dist: Distribution, which: Which) -> Result<Array> {
        let (held, node) = (self.distribution()?, &self.node);
        let base = match held.is_block() {
            true => Arc::clone(node),
            false => {
                let blocks = Distribution::default_partition(self.team().size(), &self.shape())?;
                node.view(node.shape, Map::identity(self.rank()), NodeLayout::known(blocks))
            }
        };
        let (shape, layout) = (dist.shape(), NodeLayout::known(dist));
        let expr = Expr::Whole(WholeOp::Listed(which), vec![base]);
        Ok(Array::recording(Node::lazy(shape, node.dtype, &node.team, expr, layout)))
    }

    /// An array of shape `shape` whose elements in C order are those at `positions`, which number the
    /// elements of this array in C order. Its first dimension of more than one cell is cut into all parts.
    /// Recorded.
    ///
    /// Carries an error for positions outside the array or not one per element of the shape, and for a list
    /// that no memory holds.
    #[doc = example!("assert_eq!(u.gather(&[2], &[5, 0]).to_vec::<f64>()?, [5.0, 0.0]);")]
    pub fn gather(&self, shape: &[i64], positions: &[i64]) -> Array {
        self.or_failed(self.try_gather(shape, positions))
    }

    fn try_gather(&self, shape: &[i64], positions: &[i64]) -> Result<Array> {
        let dist = sliced(self.team().size(), shape)?;
        check_positions("gather", &self.shape(), positions)?;
        check_count("gather", dist.global().volume()?, positions)?;
        self.listed(dist, Which::At(Arc::new(collect("gather", positions.iter().copied())?)))
    }

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
            Array::of(Node::lazy(*shape, node.dtype, &node.team, expr, NodeLayout::known(dist)))
        }))
    }
}

impl Array {
    /// The elements on another distribution of the same shape, of whatever kinds. Recorded. The very same
    /// distribution gives the same array, and moves nothing.
    ///
    /// Carries an error for another shape or number of parts.
    #[doc = example!(
        "let rows = Distribution::default_partition(2, &[2, 3])?;"
        "assert_eq!(u.redistribute(&rows).part_to_vec::<f64>(1)?, [3.0, 4.0, 5.0]);"
    )]
    pub fn redistribute(&self, dist: &Distribution) -> Array {
        self.move_to(self.team(), dist)
    }

    /// The elements on another team and distribution: the teams may share all, some or no devices. Recorded.
    ///
    /// Carries an error, on the array's own team, for another shape, another number of parts than `team` has
    /// members, and teams over other ranks.
    #[doc = example!(
        "let one = Team::on(&[Device::host()], 1)?;"
        "let v = u.move_to(&one, &Distribution::default_partition(1, &[2, 3])?);"
        "assert_eq!(v.to_vec::<f64>()?, u.to_vec::<f64>()?);"
    )]
    pub fn move_to(&self, team: &Team, dist: &Distribution) -> Array {
        self.or_failed(self.try_move_to(team, dist))
    }

    fn try_move_to(&self, team: &Team, dist: &Distribution) -> Result<Array> {
        let own = self.distribution()?;
        check_parts("redistribute", team, dist)?;
        if dist.shape() != self.shape() {
            return Err(Error::invalid(
                "redistribute",
                format!("a distribution of shape {}", self.shape()),
                dist.shape().to_string(),
                "make it for the array's shape",
            ));
        }
        let base = Arc::clone(&self.node);
        let expr = match team == self.team() {
            true if *dist == *own => return Ok(self.clone()),
            true => Expr::Whole(WholeOp::Redistribute, vec![base]),
            false if self.team().wire() == team.wire() => Expr::Moved { base, plan: None },
            false => {
                let given = format!("{} and {team}", self.team());
                let remedy = "make both with Team::world, or one of members of the other";
                return Err(Error::invalid("move_to", "teams over the same ranks", given, remedy));
            }
        };
        let layout = NodeLayout::known(dist.clone());
        Ok(Array::recording(Node::lazy(self.shape(), self.dtype(), team, expr, layout)))
    }
}

/// A computed node in another shape, without a copy.
fn seen(node: &Arc<Node>, shape: &Index) -> Result<Option<Arc<Node>>> {
    // Memory that another owner may write is copied when it is computed.
    let shows = |storage: &Arc<Storage>| !storage.has_halo() && !storage.is_lent_to_be_written();
    let Some(storage) = node.storage().filter(shows) else { return Ok(None) };
    let dist = storage.dist.reshaped(shape)?;
    let seen = dist.and_then(|dist| storage.seen_on(Arc::new(dist)));
    Ok(seen.map(|seen| Node::ready(node.dtype, &node.team, seen)))
}
