//! [`Members`]: the ordered members of a team as numbers, and the groups in which they broadcast and sum. It
//! has no devices and sends nothing.

use std::fmt;
use std::sync::Arc;

use crate::index::distributions::ProcessGrid;
use crate::index::error::{ErrorKind, IndexError, Result, check_rank};
use crate::index::region::{Index, Region};

/// Different members in an order that means something: a member's *rank* is its place. They may be arranged
/// in a grid, in C order. Nothing follows from the numbers themselves; any order of them is as good.
///
/// Equality is strict: the same members in the same order, in the same grid.
///
/// ```
/// use partita::index::Members;
///
/// let world = Members::world(6)?;
/// let (a, b) = (world.inclusive(&[4, 1])?, world.inclusive(&[0, 1, 5])?);
/// assert_eq!(a.union(&b)?.ids(), [4, 1, 0, 5]);
/// assert_eq!(a.rank_of(1), Some(1));
/// # Ok::<(), partita::index::IndexError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Members {
    ids: Arc<[usize]>,
    // The same members in ascending order, each with its rank.
    ranks: Arc<[(usize, usize)]>,
    grid: ProcessGrid,
}

impl Members {
    /// Members 0 to `size`.
    pub fn world(size: usize) -> Result<Members> {
        Members::of((0..size).collect())
    }

    fn of(ids: Vec<usize>) -> Result<Members> {
        let grid = ProcessGrid::slabs(ids.len(), 1)?;
        let mut ranks: Vec<(usize, usize)> = ids.iter().copied().zip(0..).collect();
        ranks.sort_unstable();
        Ok(Members { ids: ids.into(), ranks: ranks.into(), grid })
    }

    /// The number of members.
    pub fn size(&self) -> usize {
        self.ids.len()
    }

    /// The members in their order.
    pub fn ids(&self) -> &[usize] {
        &self.ids
    }

    /// The extents of the grid; the size alone where no grid was made.
    pub fn shape(&self) -> &Index {
        self.grid.shape()
    }

    /// The grid of the ranks.
    pub fn grid(&self) -> &ProcessGrid {
        &self.grid
    }

    /// The rank of a member, found in the logarithm of the size; none for others.
    pub fn rank_of(&self, id: usize) -> Option<usize> {
        let found = self.ranks.binary_search_by_key(&id, |&(member, _)| member).ok();
        found.map(|place| self.ranks[place].1)
    }

    /// The members with these ranks, in the order of the list.
    pub fn inclusive(&self, ranks: &[usize]) -> Result<Members> {
        let mut named = vec![false; self.size()];
        for &rank in ranks {
            if rank >= self.size() || std::mem::replace(&mut named[rank], true) {
                let (expected, given) =
                    (format!("different ranks below {}", self.size()), format!("{ranks:?}"));
                return Err(refuse("Members::inclusive", expected, given, "name each rank once"));
            }
        }
        Members::of(ranks.iter().map(|&rank| self.ids[rank]).collect())
    }

    /// The members of `self` in their order, then those of `other` that are new, in theirs. The order depends
    /// on whose union it is.
    pub fn union(&self, other: &Members) -> Result<Members> {
        let mut ids = self.ids.to_vec();
        ids.extend(other.ids.iter().filter(|&&id| self.rank_of(id).is_none()));
        Members::of(ids)
    }

    /// The same members in a grid of `shape`, in C order.
    pub fn cartesian(&self, shape: &[i64]) -> Result<Members> {
        let grid = ProcessGrid::new(shape)?;
        if grid.parts() != self.size() {
            let (expected, given) = (format!("a grid of {} members", self.size()), grid.to_string());
            let remedy = "make the product of the grid the number of members";
            return Err(refuse("Members::cartesian", expected, given, remedy));
        }
        Ok(Members { grid, ..self.clone() })
    }

    /// The members that share the coordinates of `rank` in the dimensions that are not kept, as a grid of the
    /// kept ones. This is what `MPI_Cart_sub` makes for that rank.
    pub fn sub_topology(&self, rank: usize, keep: &[bool]) -> Result<Members> {
        check_rank("Members::sub_topology", self.grid.rank(), keep.len())?;
        self.grid.check_part(rank)?;
        let own = self.grid.coordinate(rank);
        let extents: Vec<i64> =
            (0..keep.len()).map(|d| if keep[d] { self.grid.shape()[d] } else { 1 }).collect();
        let free = Region::from_shape(&extents)?;
        let id = |at: Index| self.ids[self.grid.part_at(|d| if keep[d] { at[d] } else { own[d] })];
        let kept: Vec<i64> = (0..keep.len()).filter(|&d| keep[d]).map(|d| extents[d]).collect();
        Members::of(free.points().map(id).collect())?.cartesian(&kept)
    }

    /// The groups in which members broadcast to take data from the grid of `self` to the grid of `to`. Shapes
    /// are compared from the last dimension on; each extent of `self` is 1 or that of `to`, and dimensions
    /// missing in front count as 1.
    ///
    /// There is one group per member of `self`, which is its root; receivers are in the order of `to`.
    pub fn broadcast_to(&self, to: &Members) -> Result<Vec<BroadcastGroup>> {
        let (mine, theirs) = (self.shape(), to.shape());
        let fits = |padding: usize| (0..mine.len()).all(|d| [1, theirs[d + padding]].contains(&mine[d]));
        let Some(padding) = theirs.len().checked_sub(mine.len()).filter(|&padding| fits(padding)) else {
            let expected = format!("a grid whose extents, from the last on, are 1 or those of {theirs}");
            let remedy = "arrange the members in another grid";
            return Err(refuse("Members::broadcast_to", expected, mine.to_string(), remedy));
        };
        let group = |&root: &usize| BroadcastGroup { senders: vec![root], receivers: Vec::new() };
        let mut groups: Vec<BroadcastGroup> = self.ids.iter().map(group).collect();
        for (rank, &id) in to.ids.iter().enumerate() {
            let at = to.grid.coordinate(rank);
            let source = |d: usize| if mine[d] == 1 { 0 } else { at[d + padding] };
            groups[self.grid.part_at(source)].receivers.push(id);
        }
        Ok(groups)
    }

    /// The groups in which members sum data from the grid of `self` onto the grid of `to`: a broadcast from
    /// `to` with its ends exchanged. The root of a group is where the sum arrives; what the root has itself
    /// is added once.
    pub fn sum_reduce_to(&self, to: &Members) -> Result<Vec<BroadcastGroup>> {
        Ok(to.broadcast_to(self)?.iter().map(BroadcastGroup::adjoint).collect())
    }

    /// The groups in which members sum over the dimensions `axes` of the grid: one per coordinate in the
    /// other dimensions, in C order, and every member in exactly one of them. Members are in rank order.
    pub fn all_sum_reduce(&self, axes: &[usize]) -> Result<Vec<BroadcastGroup>> {
        let rank = self.grid.rank();
        if let Some(axis) = axes.iter().find(|&&axis| axis >= rank) {
            let expected = format!("dimensions below {rank}");
            return Err(refuse("Members::all_sum_reduce", expected, axis.to_string(), "count them from 0"));
        }
        let keep: Vec<bool> = (0..rank).map(|d| axes.contains(&d)).collect();
        let roots = Index::from_fn(rank, |d| if keep[d] { 1 } else { self.grid.shape()[d] });
        let group = |at: Index| {
            let members = self.sub_topology(self.grid.part_at(|d| at[d]), &keep)?.ids.to_vec();
            Ok(BroadcastGroup { senders: members.clone(), receivers: members })
        };
        Region::from_shape(&roots)?.points().map(group).collect()
    }
}

impl fmt::Display for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<String> = self.ids.iter().map(usize::to_string).collect();
        write!(f, "{{{}}}", ids.join(", "))?;
        if self.grid.rank() == 1 { Ok(()) } else { write!(f, " in grid {}", self.grid) }
    }
}

/// Members among whom values travel together. Every member sends in one group of an operation at most and
/// receives in one at most, which may be the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BroadcastGroup {
    /// Those whose values travel.
    pub senders: Vec<usize>,
    /// Those at whom they arrive: the sum of all of them, or copies of the one.
    pub receivers: Vec<usize>,
}

impl BroadcastGroup {
    /// The way back: a broadcast becomes a sum onto its root and the other way round; an all-sum-reduce stays
    /// what it is.
    pub fn adjoint(&self) -> BroadcastGroup {
        BroadcastGroup { senders: self.receivers.clone(), receivers: self.senders.clone() }
    }
}

fn refuse(operation: &'static str, expected: String, given: String, remedy: &'static str) -> IndexError {
    IndexError::new(ErrorKind::Team, operation, expected, given, remedy)
}
