//! [`Partition`]: an ordered subset of the members of a team, arranged in a grid. Transfers only small host
//! data.

use partita_kernels::{DType, Scalar};
use rustc_hash::FxHashMap;

use crate::array::{Array, Element};
use crate::error::{Error, Result};
use crate::index::{Index, Members, Region};
use crate::team::Team;
use crate::wire::Ranks;

/// Some members of a world, which is a team, arranged in a grid. An array is over a partition if its team is
/// the partition's and its distribution has the partition's grid: part `p` is at the member of rank `p`.
///
/// ```
/// use partita::prelude::*;
/// # fn main() -> partita::Result<()> {
/// let world = Partition::world(&Team::on(&[Device::host()], 6)?)?;
/// let (a, b) = (world.inclusive(&[4, 1])?, world.inclusive(&[0, 1, 5])?.cartesian(&[3, 1])?);
/// assert_eq!(a.union(&b)?.members().ids(), [4, 1, 0, 5]);
/// assert_eq!((a.members().rank_of(1), a.members().rank_of(0)), (Some(1), None));
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

    /// The members that share the coordinates of `rank` in the dimensions that are not kept, in a grid of the
    /// kept ones; see [`Members::sub_topology`].
    ///
    /// # Errors
    /// No such rank; another number of dimensions.
    pub fn sub_topology(&self, rank: usize, keep: &[bool]) -> Result<Partition> {
        Ok(self.with(self.members.sub_topology(rank, keep)?))
    }

    /// The ranks of those members that live here.
    pub fn ranks_here(&self) -> Vec<usize> {
        let ids = self.members.ids().iter().enumerate();
        ids.filter(|(_, id)| self.world.is_here(**id)).map(|(rank, _)| rank).collect()
    }

    /// Who belongs to it.
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// The extents of the grid.
    pub fn shape(&self) -> &Index {
        self.members.shape()
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
        self.world.of_members(ids)
    }

    /// The box of an array over this partition that a member of the world holds, in packed coordinates; empty
    /// if it is not a member.
    ///
    /// # Errors
    /// An array that is not over this partition.
    pub fn held(&self, array: &Array, world_member: usize) -> Result<Region> {
        self.check_array("Partition::held", array, false)?;
        let dist = array.distribution()?;
        match self.members.rank_of(world_member) {
            Some(rank) => Ok(dist.owned(rank)),
            None => Ok(Region::empty(dist.rank())),
        }
    }

    /// A value that member `root` of this partition has, at all members of `to`, which the root belongs to.
    /// `data` is called where the root lives; nobody else need know type or length.
    ///
    /// Collective over the processes that have members of `to`.
    ///
    /// # Errors
    /// A process without such members, at once; a root outside `self`; members outside `to`; partitions of
    /// two worlds; those of the wire.
    pub fn broadcast_data(&self, root: usize, to: &Partition, data: impl FnOnce() -> Data) -> Result<Data> {
        self.check_world("broadcast_data", to)?;
        let Some(&id) = self.members.ids().get(root) else {
            let expected = format!("a rank below {}", self.members.size());
            return Err(Error::invalid("broadcast_data", expected, root.to_string(), "name a member"));
        };
        if self.members.ids().iter().any(|&id| to.members.rank_of(id).is_none()) {
            let (expected, given) =
                (format!("a root in a team inside {}", to.members), self.members.to_string());
            return Err(Error::invalid(
                "broadcast_data",
                expected,
                given,
                "broadcast from a member that is inside",
            ));
        }
        let Some(all) = self.world.wire() else { return Ok(data()) };
        let mine = if self.world.is_here(id) { data().to_message() } else { Vec::new() };
        let messages = to.all_gather("broadcast_data", all, &mine)?;
        Data::from_messages(&messages[&self.world.rank_of(id)]).next().ok_or_else(spoilt)
    }

    /// The contributions of all members, in rank order, at all of them. `data` is called with the ranks that
    /// live here; types and lengths may differ.
    ///
    /// Collective over the processes that have members.
    ///
    /// # Errors
    /// A process without members, at once; those of the wire.
    pub fn allgather_data(&self, mut data: impl FnMut(usize) -> Data) -> Result<Vec<Data>> {
        let ids = self.members.ids();
        let Some(all) = self.world.wire() else { return Ok((0..ids.len()).map(data).collect()) };
        let mine: Vec<u8> = self.ranks_here().into_iter().flat_map(|rank| data(rank).to_message()).collect();
        // Every process sends its members' in their order.
        let messages = self.all_gather("allgather_data", all, &mine)?;
        let mut of_rank: FxHashMap<usize, _> =
            messages.iter().map(|(&rank, bytes)| (rank, Data::from_messages(bytes))).collect();
        let mut next = |id: &usize| of_rank.get_mut(&self.world.rank_of(*id)).and_then(Iterator::next);
        ids.iter().map(|id| next(id).ok_or_else(spoilt)).collect()
    }

    /// The bytes of every process that has members, by its rank in the world. Others cannot communicate.
    fn all_gather(&self, operation: &'static str, all: &Ranks, mine: &[u8]) -> Result<Messages> {
        let mut with: Vec<usize> = self.members.ids().iter().map(|&id| self.world.rank_of(id)).collect();
        with.sort_unstable();
        with.dedup();
        let Some(ranks) = all.some(&with)? else {
            let (expected, given) = ("a process that has a member", format!("rank {}", all.rank()));
            return Err(Error::invalid(operation, expected, given, "ask first whether it is active"));
        };
        Ok(with.into_iter().zip(ranks.all_gather(operation, mine)?).collect())
    }

    pub(super) fn check_world(&self, operation: &'static str, other: &Partition) -> Result<()> {
        if self.world == other.world {
            return Ok(());
        }
        let remedy = "make both partitions from one world";
        Err(Error::invalid(operation, format!("members of {}", self.world), other.world.to_string(), remedy))
    }

    /// Members on a line have an order only: an array over them may be in any grid, unless `in_grid`.
    pub(super) fn check_array(&self, operation: &'static str, array: &Array, in_grid: bool) -> Result<()> {
        let dist = array.distribution()?;
        let fits = dist.grid() == self.members.grid() || (!in_grid && self.shape().rank() == 1);
        let fits = fits && array.rank() > 0;
        if *array.team() == self.team()? && fits {
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

/// The bytes of each rank.
type Messages = FxHashMap<usize, Vec<u8>>;

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

    /// Type, rank, extents and bytes, one after the other.
    fn to_message(&self) -> Vec<u8> {
        let dtype = DType::ALL.iter().position(|&dtype| dtype == self.dtype).unwrap_or_default();
        let head = [dtype as i64, self.shape.rank() as i64];
        let numbers = head.iter().chain(self.shape.iter());
        numbers.flat_map(|number| number.to_le_bytes()).chain(self.bytes.iter().copied()).collect()
    }

    /// The data in concatenated messages.
    fn from_messages(bytes: &[u8]) -> impl Iterator<Item = Data> + '_ {
        let mut rest = bytes;
        let mut take = move |count: usize| -> Option<&[u8]> {
            let (taken, left) = rest.split_at_checked(count)?;
            rest = left;
            Some(taken)
        };
        std::iter::from_fn(move || {
            let mut number = || take(8)?.first_chunk::<8>().copied().map(i64::from_le_bytes);
            let dtype = *DType::ALL.get(usize::try_from(number()?).ok()?)?;
            let extents = (0..number()?).map(|_| number()).collect::<Option<Vec<i64>>>()?;
            let shape = Index::new(&extents).ok()?;
            let count = usize::try_from(Region::from_shape(&shape).ok()?.volume().ok()?).ok()?;
            Some(Data { dtype, shape, bytes: take(count * dtype.size_bytes())?.to_vec() })
        })
    }
}

/// A message that none of ours is.
fn spoilt() -> Error {
    Error::invalid(
        "data between ranks",
        "type, shape and elements of every member",
        "something shorter",
        "run the same build on all ranks",
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn data_comes_out_of_messages_as_it_went_in() {
        let mut all = vec![Data::value(Scalar::from_i64(DType::I8, -3)), Data::line(&[1.5f64, -0.0])];
        let empty = Data { dtype: DType::Bool, shape: Index::new(&[3, 0]).unwrap(), bytes: Vec::new() };
        all.push(empty);
        let message: Vec<u8> = all.iter().flat_map(Data::to_message).collect();
        assert_eq!(Data::from_messages(&message).collect::<Vec<_>>(), all);
        assert_eq!(Data::from_messages(&message[..message.len() - 1]).count(), 2);
        assert_eq!(Data::from_messages(&[7; 40]).count(), 0);
    }
}
