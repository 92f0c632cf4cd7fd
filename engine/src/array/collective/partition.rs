//! [`Partition`]: members of a team, in an order and a grid, over which arrays are divided. Knows who the
//! members are and where they live; moves nothing but small host data.

use partita_kernels::{DType, Scalar};

use super::super::{Array, Element};
use crate::error::{Error, Result};
use crate::index::{Index, Members, Region, Seat};
use crate::team::Team;

/// Some members of a world, which is a team, arranged in a grid. An array is over a partition if its team is
/// the partition's and its distribution has the partition's grid: part `p` is at the member of rank `p`.
///
/// ```
/// use partita::prelude::*;
/// # fn main() -> partita::Result<()> {
/// let world = Partition::world(&Team::on(&[Device::host()], 6)?)?;
/// let (a, b) = (world.inclusive(&[4, 1])?, world.inclusive(&[0, 1, 5])?.cartesian(&[3, 1])?);
/// assert_eq!(a.union(&b)?.members().ids(), [4, 1, 0, 5]);
/// assert!(!a.seat(0).active());
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Partition {
    world: Team,
    members: Members,
}

impl Partition {
    /// All members of a team, on a line.
    ///
    /// # Errors
    /// None for a team that exists.
    pub fn world(team: &Team) -> Result<Partition> {
        Ok(Partition { world: team.clone(), members: Members::world(team.size())? })
    }

    fn with(&self, members: Members) -> Partition {
        Partition { world: self.world.clone(), members }
    }

    /// The members with these ranks, in the order of the list, on a line.
    ///
    /// # Errors
    /// A rank twice, or none of this partition.
    pub fn inclusive(&self, ranks: &[usize]) -> Result<Partition> {
        Ok(self.with(self.members.inclusive(ranks)?))
    }

    /// The members of `self` in their order, then those of `other` that are new, in theirs; on a line.
    ///
    /// # Errors
    /// Partitions of two worlds.
    pub fn union(&self, other: &Partition) -> Result<Partition> {
        self.check_world("Partition::union", other)?;
        Ok(self.with(self.members.union(&other.members)?))
    }

    /// The same members in a grid, in C order.
    ///
    /// # Errors
    /// If the grid has not as many places as there are members.
    pub fn cartesian(&self, shape: &[i64]) -> Result<Partition> {
        Ok(self.with(self.members.cartesian(shape)?))
    }

    /// Who belongs to it.
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// The extents of the grid.
    pub fn shape(&self) -> &Index {
        self.members.shape()
    }

    /// What a member of the world sees of it: everything from inside, nothing from outside.
    pub fn seat(&self, world_member: usize) -> Seat {
        self.members.seen_by(world_member)
    }

    /// Its members as a team of their own, on which arrays can be made.
    ///
    /// # Errors
    /// A partition without members.
    pub fn team(&self) -> Result<Team> {
        let ids = self.members.ids();
        if ids.len() == self.world.size() && ids.iter().enumerate().all(|(rank, &id)| rank == id) {
            return Ok(self.world.clone());
        }
        Team::of(ids.iter().map(|&id| self.world.device(id).clone()).collect())
    }

    /// What a member of the world holds of an array over this partition, in packed coordinates: an empty box
    /// if it is not a member.
    ///
    /// # Errors
    /// An array that is not over this partition.
    pub fn held(&self, array: &Array, world_member: usize) -> Result<Region> {
        self.check_array("Partition::held", array)?;
        let dist = array.distribution()?;
        let nothing = Index::zeros(dist.rank());
        match self.members.rank_of(world_member) {
            Some(rank) => Ok(dist.owned(rank)),
            None => Ok(Region::new(&nothing, &nothing)?),
        }
    }

    /// A value that member `root` of this partition has, at all members of `to`, which the root belongs to.
    /// `data` is called where the root lives; nobody else need know type or length.
    ///
    /// Collective over `to`.
    ///
    /// # Errors
    /// A root outside `self`; members outside `to`; partitions of two worlds.
    pub fn broadcast_data(&self, root: usize, to: &Partition, data: impl FnOnce() -> Data) -> Result<Data> {
        self.check_world("broadcast_data", to)?;
        let Some(&id) = self.members.ids().get(root) else {
            let expected = format!("a rank below {}", self.members.size());
            return Err(Error::invalid("broadcast_data", expected, root.to_string(), "name a member"));
        };
        to.members.value_from(&self.members, id)?;
        Ok(data())
    }

    /// What every member contributes, in rank order, at all of them. `data` is called with the ranks that
    /// live here; types and lengths may differ.
    ///
    /// Collective over the partition.
    ///
    /// # Errors
    /// Those of the transport.
    pub fn allgather_data(&self, data: impl FnMut(usize) -> Data) -> Result<Vec<Data>> {
        Ok((0..self.members.size()).map(data).collect())
    }

    pub(super) fn check_world(&self, operation: &'static str, other: &Partition) -> Result<()> {
        if self.world == other.world {
            return Ok(());
        }
        let remedy = "make both partitions from one world";
        Err(Error::invalid(operation, format!("members of {}", self.world), other.world.to_string(), remedy))
    }

    pub(super) fn check_array(&self, operation: &'static str, array: &Array) -> Result<()> {
        let dist = array.distribution()?;
        if *array.team() == self.team()? && dist.grid().shape() == self.shape() {
            return Ok(());
        }
        Err(Error::invalid(
            operation,
            format!("an array over the partition {:?}", self.members),
            format!("one over a grid of {} on {}", dist.grid(), array.team()),
            "make it on the partition's team, in the partition's grid",
        ))
    }
}

/// Host data that says what it is: elements of any type in C order of any shape.
#[derive(Clone, PartialEq, Debug)]
pub struct Data {
    /// Element type.
    pub dtype: DType,
    /// Extents; none for a plain value.
    pub shape: Index,
    /// The elements in their memory form.
    pub bytes: Vec<u8>,
}

impl Data {
    /// A plain value.
    pub fn value(scalar: Scalar) -> Data {
        let bytes = scalar.bits.to_le_bytes()[..scalar.dtype.size_bytes()].to_vec();
        Data { dtype: scalar.dtype, shape: Index::zeros(0), bytes }
    }

    /// A line of elements.
    pub fn line<T: Element>(elements: &[T]) -> Data {
        let shape = Index::filled(1, elements.len() as i64);
        Data { dtype: T::DTYPE, shape, bytes: bytemuck::cast_slice(elements).to_vec() }
    }

    /// The elements of a whole array.
    ///
    /// # Errors
    /// Those of [`Array::to_bytes`].
    pub fn of(array: &Array) -> Result<Data> {
        Ok(Data { dtype: array.dtype(), shape: array.shape(), bytes: array.to_bytes()? })
    }
}
