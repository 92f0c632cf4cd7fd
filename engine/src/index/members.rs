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
/// Equality is strict: the same members of the same world, in the same order, in the same grid.
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
    world: u64,
    ids: Arc<[usize]>,
    // The same members in ascending order, each with its rank.
    ranks: Arc<[(usize, usize)]>,
    grid: ProcessGrid,
}

impl Members {
    /// Members 0 to `size`, of world 0.
    pub fn world(size: usize) -> Result<Members> {
        Members::world_numbered(0, size)
    }

    /// Members 0 to `size` of a world with a number. Members of different worlds never meet.
    pub fn world_numbered(world: u64, size: usize) -> Result<Members> {
        Members::listed(world, (0..size).collect())
    }

    fn of(&self, ids: Vec<usize>) -> Result<Members> {
        Members::listed(self.world, ids)
    }

    fn listed(world: u64, ids: Vec<usize>) -> Result<Members> {
        let grid = ProcessGrid::slabs(ids.len(), 1)?;
        let mut ranks: Vec<(usize, usize)> = ids.iter().copied().zip(0..).collect();
        ranks.sort_unstable();
        Ok(Members { world, ids: ids.into(), ranks: ranks.into(), grid })
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

    /// The view of this team from a member of the world: everything from inside, nothing from outside.
    pub fn seen_by(&self, id: usize) -> MemberView {
        MemberView(self.rank_of(id).map(|rank| (self.clone(), rank)))
    }

    /// The members with these ranks, in the order of the list.
    pub fn inclusive(&self, ranks: &[usize]) -> Result<Members> {
        let mut named = vec![false; self.size()];
        for &rank in ranks {
            if rank >= self.size() || std::mem::replace(&mut named[rank], true) {
                let expected = format!("different ranks below {}", self.size());
                return Err(refuse(
                    "Members::inclusive",
                    expected,
                    format!("{ranks:?}"),
                    "name each rank once",
                ));
            }
        }
        self.of(ranks.iter().map(|&rank| self.ids[rank]).collect())
    }

    /// The members of `self` in their order, then those of `other` that are new, in theirs. The order depends
    /// on whose union it is. Members of two worlds have none.
    pub fn union(&self, other: &Members) -> Result<Members> {
        self.check_world("Members::union", other)?;
        let mut ids = self.ids.to_vec();
        ids.extend(other.ids.iter().filter(|&&id| self.rank_of(id).is_none()));
        self.of(ids)
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

    /// The coordinate of a rank in the grid.
    pub fn cartesian_index(&self, rank: usize) -> Result<Index> {
        self.grid.check_part(rank)?;
        Ok(self.grid.coordinate(rank))
    }

    /// The ranks to the left and right of a rank along every dimension; none at the ends of dimensions that
    /// are not periodic.
    pub fn neighbor_ranks(
        &self,
        rank: usize,
        periodic: &[bool],
    ) -> Result<Vec<(Option<usize>, Option<usize>)>> {
        self.grid.neighbors(rank, periodic)
    }

    /// The members that share the coordinates of `rank` in the dimensions that are not kept, as a grid of the
    /// kept ones. This is what `MPI_Cart_sub` makes for that rank.
    pub fn sub_topology(&self, rank: usize, keep: &[bool]) -> Result<Members> {
        check_rank("Members::sub_topology", self.grid.rank(), keep.len())?;
        let own = self.cartesian_index(rank)?;
        let extents: Vec<i64> =
            (0..keep.len()).map(|d| if keep[d] { self.grid.shape()[d] } else { 1 }).collect();
        let free = Region::from_shape(&extents)?;
        let id = |at: Index| self.ids[self.grid.part_at(|d| if keep[d] { at[d] } else { own[d] })];
        let kept: Vec<i64> = (0..keep.len()).filter(|&d| keep[d]).map(|d| extents[d]).collect();
        self.of(free.points().map(id).collect())?.cartesian(&kept)
    }

    /// The groups in which members broadcast to take data from the grid of `self` to the grid of `to`. Shapes
    /// are compared from the last dimension on; each extent of `self` is 1 or that of `to`, and dimensions
    /// missing in front count as 1.
    ///
    /// There is one group per member of `self`, which is its root: first the root, then who receives from it
    /// in the order of `to`.
    pub fn broadcast_to(&self, to: &Members) -> Result<Routes> {
        let receivers = self.receivers("Members::broadcast_to", to)?;
        let group = |(&root, receivers): (&usize, Vec<usize>)| {
            let others = receivers.iter().copied().filter(|&id| id != root);
            let members = self.of(std::iter::once(root).chain(others).collect())?;
            Ok(BroadcastGroup { members, senders: vec![root], receivers })
        };
        Ok(Routes { groups: self.ids.iter().zip(receivers).map(group).collect::<Result<_>>()? })
    }

    /// The groups in which members sum data from the grid of `self` onto the grid of `to`: a broadcast from
    /// `to` with its ends exchanged. The root of a group is where the sum arrives; what the root has itself
    /// is added once.
    pub fn sum_reduce_to(&self, to: &Members) -> Result<Routes> {
        Ok(to.broadcast_to(self)?.adjoint())
    }

    /// The groups in which members sum over the dimensions `axes` of the grid: one per coordinate in the
    /// other dimensions, in C order, and every member in exactly one of them. Members are in rank order.
    pub fn all_sum_reduce(&self, axes: &[usize]) -> Result<Routes> {
        let rank = self.grid.rank();
        if let Some(axis) = axes.iter().find(|&&axis| axis >= rank) {
            let expected = format!("dimensions below {rank}");
            return Err(refuse("Members::all_sum_reduce", expected, axis.to_string(), "count them from 0"));
        }
        let keep: Vec<bool> = (0..rank).map(|d| axes.contains(&d)).collect();
        let roots = Index::from_fn(rank, |d| if keep[d] { 1 } else { self.grid.shape()[d] });
        let group = |at: Index| {
            let members = self.sub_topology(self.grid.part_at(|d| at[d]), &keep)?.without_grid()?;
            Ok(BroadcastGroup { senders: members.ids.to_vec(), receivers: members.ids.to_vec(), members })
        };
        Ok(Routes { groups: Region::from_shape(&roots)?.points().map(group).collect::<Result<_>>()? })
    }

    /// Who gets a value that member `root` has, when all of `self` are to have it: everyone but the root.
    /// `from` is the team that knows the value, `self` or a part of it; the root belongs to it.
    pub fn value_from(&self, from: &Members, root: usize) -> Result<Vec<usize>> {
        self.check_world("Members::value_from", from)?;
        let inside = from.ids.iter().all(|&id| self.rank_of(id).is_some());
        if !inside || from.rank_of(root).is_none() {
            let expected = format!("a root in a team inside {self}");
            let given = format!("root {root} of {from}");
            return Err(refuse(
                "Members::value_from",
                expected,
                given,
                "broadcast from a member that is inside",
            ));
        }
        Ok(self.ids.iter().copied().filter(|&id| id != root).collect())
    }

    /// The offset of each member's contribution when contributions of these lengths are gathered at every
    /// member: one after the other in rank order, and then the length of all.
    pub fn gathered(&self, lengths: &[i64]) -> Result<Vec<i64>> {
        check_rank("Members::gathered", self.size(), lengths.len())?;
        let mut starts = vec![0i64];
        for (rank, &length) in lengths.iter().enumerate() {
            let Some(stop) = starts[rank].checked_add(length).filter(|_| length >= 0) else {
                let given = format!("{length} from rank {rank}");
                return Err(refuse(
                    "Members::gathered",
                    "lengths of at least 0".into(),
                    given,
                    "send nothing as 0",
                ));
            };
            starts.push(stop);
        }
        Ok(starts)
    }

    fn without_grid(&self) -> Result<Members> {
        self.of(self.ids.to_vec())
    }

    /// For every member of `self`, who of `to` receives from it.
    fn receivers(&self, operation: &'static str, to: &Members) -> Result<Vec<Vec<usize>>> {
        self.check_world(operation, to)?;
        let (mine, theirs) = (self.shape(), to.shape());
        let fits = |padding: usize| (0..mine.len()).all(|d| [1, theirs[d + padding]].contains(&mine[d]));
        let Some(padding) = theirs.len().checked_sub(mine.len()).filter(|&padding| fits(padding)) else {
            let expected = format!("a grid whose extents, from the last on, are 1 or those of {theirs}");
            let remedy = "arrange the members in another grid";
            return Err(refuse(operation, expected, mine.to_string(), remedy));
        };
        let mut receivers = vec![Vec::new(); self.size()];
        for (rank, &id) in to.ids.iter().enumerate() {
            let at = to.grid.coordinate(rank);
            let source = |d: usize| if mine[d] == 1 { 0 } else { at[d + padding] };
            receivers[self.grid.part_at(source)].push(id);
        }
        Ok(receivers)
    }

    fn check_world(&self, operation: &'static str, other: &Members) -> Result<()> {
        if self.world == other.world {
            return Ok(());
        }
        let (expected, given) =
            (format!("members of world {}", self.world), format!("world {}", other.world));
        Err(refuse(operation, expected, given, "make both teams from one world"))
    }
}

impl fmt::Display for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<String> = self.ids.iter().map(usize::to_string).collect();
        write!(f, "{{{}}}", ids.join(", "))?;
        if self.grid.rank() == 1 { Ok(()) } else { write!(f, " in grid {}", self.grid) }
    }
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A member's view of a team, made by [`Members::seen_by`]. Who does not belong to it is *inactive*: knows
/// nobody in it, and every question is an error at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemberView(Option<(Members, usize)>);

impl MemberView {
    /// Whether the member belongs to the team.
    pub fn active(&self) -> bool {
        self.0.is_some()
    }

    /// The number of members.
    pub fn size(&self) -> Result<usize> {
        self.inside("the size").map(|(members, _)| members.size())
    }

    /// The member's own rank.
    pub fn rank(&self) -> Result<usize> {
        self.inside("the rank").map(|(_, rank)| *rank)
    }

    /// The extents of the grid.
    pub fn shape(&self) -> Result<Index> {
        self.inside("the shape").map(|(members, _)| *members.shape())
    }

    /// The member's coordinate in the grid; its rank alone where there is no grid.
    pub fn index(&self) -> Result<Index> {
        let (members, rank) = self.inside("the index")?;
        members.cartesian_index(*rank)
    }

    /// The team, to talk to.
    pub fn members(&self) -> Result<&Members> {
        self.inside("the other members").map(|(members, _)| members)
    }

    fn inside(&self, what: &str) -> Result<&(Members, usize)> {
        let remedy = "ask whether it is active first";
        let expected = format!("a member of the team, to know {what}");
        self.0.as_ref().ok_or_else(|| refuse("MemberView", expected, "an inactive one".into(), remedy))
    }
}

/// Members among whom values travel together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BroadcastGroup {
    /// All of them; where there is a root, it comes first.
    pub members: Members,
    /// Those whose values travel.
    pub senders: Vec<usize>,
    /// Those at whom they arrive: the sum of all of them, or copies of the one.
    pub receivers: Vec<usize>,
}

/// The groups of a broadcast or sum. Every member sends in one group at most and receives in one at most,
/// which may be the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Routes {
    groups: Vec<BroadcastGroup>,
}

impl Routes {
    /// All groups.
    pub fn groups(&self) -> &[BroadcastGroup] {
        &self.groups
    }

    /// The number of the group in which a member sends.
    pub fn send(&self, id: usize) -> Option<usize> {
        self.groups.iter().position(|group| group.senders.contains(&id))
    }

    /// The number of the group in which a member receives. Who receives in none ends with nothing.
    pub fn receive(&self, id: usize) -> Option<usize> {
        self.groups.iter().position(|group| group.receivers.contains(&id))
    }

    /// The transposed routes: a broadcast becomes a sum onto its roots and the other way round; an
    /// all-sum-reduce stays what it is.
    pub fn adjoint(&self) -> Routes {
        let back = |group: &BroadcastGroup| BroadcastGroup {
            members: group.members.clone(),
            senders: group.receivers.clone(),
            receivers: group.senders.clone(),
        };
        Routes { groups: self.groups.iter().map(back).collect() }
    }
}

fn refuse(operation: &'static str, expected: String, given: String, remedy: &'static str) -> IndexError {
    IndexError::new(ErrorKind::Team, operation, expected, given, remedy)
}
