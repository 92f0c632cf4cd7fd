//! [`Team`]: its members, each a device of a rank, with its description for other ranks; its ranks, and the
//! links between them. Evaluations that share a device come one after the other.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::config::{config, say};
use crate::device::{Device, DeviceKind, DeviceLocks, check_fork};
use crate::error::{Error, Result};
use crate::program::LinkTable;
use crate::wire::{Ranks, hash};

/// The place of one member.
#[derive(Clone)]
pub(super) struct Member {
    pub rank: usize,
    /// The device's number on its rank.
    pub number: u64,
    pub kind: DeviceKind,
    pub name: String,
    pub max_params: usize,
    pub has_i64: bool,
    /// Of this rank's members only.
    pub device: Option<Device>,
}

impl PartialEq for Member {
    fn eq(&self, other: &Member) -> bool {
        (self.rank, self.number) == (other.rank, other.number)
    }
}

impl Member {
    pub fn here(rank: usize, device: &Device) -> Member {
        let (number, name) = (device.number(), device.name().to_owned());
        let (kind, max_params, has_i64) = (device.kind(), device.max_params(), device.has_i64());
        Member { rank, number, kind, name, max_params, has_i64, device: Some(device.clone()) }
    }

    /// Its description for other ranks.
    pub fn to_bytes(&self) -> Vec<u8> {
        let kind = match self.kind {
            DeviceKind::Host => 0,
            DeviceKind::Cuda => 1,
            DeviceKind::Wgpu => 2,
        };
        let facts = [self.max_params as u64, u64::from(self.has_i64)];
        let numbers = [self.number, kind, facts[0], facts[1], self.name.len() as u64];
        let head = numbers.iter().flat_map(|number| number.to_le_bytes());
        head.chain(self.name.bytes()).collect()
    }

    /// The first member of another rank in its description.
    pub fn take_from(rank: usize, bytes: &mut &[u8]) -> Option<Member> {
        let mut number = || {
            let (number, rest) = bytes.split_first_chunk::<8>()?;
            *bytes = rest;
            Some(u64::from_le_bytes(*number))
        };
        let (number, kind, max_params, has_i64, length) =
            (number()?, number()?, number()? as usize, number()? != 0, number()? as usize);
        let kind = match kind {
            0 => DeviceKind::Host,
            1 => DeviceKind::Cuda,
            2 => DeviceKind::Wgpu,
            _ => return None,
        };
        let (name, rest) = bytes.split_at_checked(length)?;
        *bytes = rest;
        let name = String::from_utf8_lossy(name).into_owned();
        Some(Member { rank, number, kind, name, max_params, has_i64, device: None })
    }
}

/// The devices of this rank among members, each once, in the order of their first member.
pub(super) fn distinct(members: &[Member]) -> Vec<Device> {
    let mut devices: Vec<Device> = Vec::new();
    for device in members.iter().filter_map(|member| member.device.as_ref()) {
        if !devices.contains(device) {
            devices.push(device.clone());
        }
    }
    devices
}

/// Ordered members, each a device slot of a rank. Several members may share a device, and kinds may be mixed.
/// Clones name the same team; equality compares the members.
#[derive(Clone)]
pub struct Team(Arc<TeamInner>);

struct TeamInner {
    members: Vec<Member>,
    /// The distinct ones of this rank, in the order of their first member.
    devices: Vec<Device>,
    /// `None` if all members are this process's.
    ranks: Option<Ranks>,
    /// The most arrays one kernel may bind, on whichever device.
    max_params: usize,
    /// Whether every device has i64.
    has_i64: bool,
    notes: OnceLock<Box<dyn Any + Send + Sync>>,
    messages: AtomicU64,
    /// A hash of this rank and of the rank of each member.
    layout: u64,
    origin: Arc<TeamOrigin>,
}

/// Data that a team shares with the teams of some of its members.
#[derive(Default)]
pub(super) struct TeamOrigin {
    /// This rank's.
    pub devices: Vec<Device>,
    pub links: OnceLock<LinkTable>,
}

impl PartialEq for Team {
    fn eq(&self, other: &Team) -> bool {
        let same = || self.0.ranks == other.0.ranks && self.0.members == other.0.members;
        Arc::ptr_eq(&self.0, &other.0) || same()
    }
}

impl fmt::Debug for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `4 members: 0-3 on host (2 threads)`; members of several ranks name their rank.
impl fmt::Display for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} member{}:", self.size(), if self.size() == 1 { "" } else { "s" })?;
        let mut first = 0;
        while first < self.size() {
            let member = &self.0.members[first];
            let run = self.0.members[first..].iter().take_while(|&other| other == member).count();
            let separator = if first == 0 { " " } else { ", " };
            let last = first + run - 1;
            match run {
                1 => write!(f, "{separator}{first} on {}", member.name)?,
                _ => write!(f, "{separator}{first}-{last} on {}", member.name)?,
            }
            if self.0.ranks.is_some() {
                write!(f, " of rank {}", member.rank)?;
            }
            first += run;
        }
        Ok(())
    }
}

impl Team {
    pub(super) fn assemble(
        members: Vec<Member>,
        ranks: Option<Ranks>,
        origin: Arc<TeamOrigin>,
    ) -> Result<Team> {
        let Some(max_params) = members.iter().map(|member| member.max_params).min() else {
            return Err(Error::invalid("Team", "at least 1 part", "0", "ask for 1 part or more"));
        };
        let has_i64 = members.iter().all(|member| member.has_i64);
        let (notes, messages) = (OnceLock::new(), AtomicU64::new(0));
        let devices = distinct(&members);
        let here = ranks.as_ref().map(Ranks::rank);
        let layout = hash(&(here, members.iter().map(|member| member.rank).collect::<Vec<usize>>()));
        Ok(Team(Arc::new(TeamInner {
            members,
            devices,
            ranks,
            max_params,
            has_i64,
            notes,
            messages,
            layout,
            origin,
        })))
    }

    pub(super) fn origin(&self) -> &Arc<TeamOrigin> {
        &self.0.origin
    }

    pub(super) fn members(&self) -> &[Member] {
        &self.0.members
    }

    /// The distinct devices of this rank, in the order of their first member.
    pub(super) fn own_devices(&self) -> &[Device] {
        &self.0.devices
    }

    /// This rank of the program; 0 if it runs alone.
    #[doc = example!("assert_eq!(team.rank(), 0);")]
    pub fn rank(&self) -> usize {
        self.0.ranks.as_ref().map_or(0, Ranks::rank)
    }

    /// The number of ranks of the program that the team is over.
    #[doc = example!("assert_eq!(team.ranks(), 1);")]
    pub fn ranks(&self) -> usize {
        self.0.ranks.as_ref().map_or(1, Ranks::count)
    }

    /// The rank of a member.
    ///
    /// # Panics
    /// If there is no such member.
    #[doc = example!("assert_eq!(team.rank_of(1), 0);")]
    pub fn rank_of(&self, member: usize) -> usize {
        self.0.members[member].rank
    }

    /// The name of the device of a member, whichever rank's it is.
    ///
    /// # Panics
    /// If there is no such member.
    #[doc = example!("assert_eq!(team.device_name(0), team.device(0).name());")]
    pub fn device_name(&self, member: usize) -> &str {
        &self.0.members[member].name
    }

    /// Whether a member is this rank's, so that its device and memory can be used here.
    ///
    /// # Panics
    /// If there is no such member.
    #[doc = example!("assert!(team.is_here(1));")]
    pub fn is_here(&self, member: usize) -> bool {
        self.0.members[member].device.is_some()
    }

    /// The rank of a member and the number of its device there: members on one device have the same.
    pub(crate) fn device_of(&self, member: usize) -> (usize, u64) {
        let Member { rank, number, .. } = &self.0.members[member];
        (*rank, *number)
    }

    /// Equal where the same rank has the same members, and so for all others: for plans of this rank's moves.
    pub(crate) fn layout(&self) -> u64 {
        self.0.layout
    }

    /// The transport of bytes to the other ranks; `None` if there are none.
    #[doc = example!("assert!(team.wire().is_none()); // One process.")]
    pub fn wire(&self) -> Option<&Ranks> {
        self.0.ranks.as_ref()
    }

    /// The sort of a member's device, whichever rank it is on.
    pub(crate) fn kind(&self, member: usize) -> DeviceKind {
        self.0.members[member].kind
    }

    /// The transport of CUDA memory between the ranks, in words: `MPI, device pointers`, or `MPI, staged: `
    /// and the reason; `None` if there is one rank. The first call probes the links. Collective.
    ///
    /// # Errors
    /// A rank or a device that fails.
    #[doc = example!("assert_eq!(team.transport()?, None); // One process.")]
    pub fn transport(&self) -> Result<Option<String>> {
        self.together("probing links for CUDA memory", || Ok(self.links()?.map(LinkTable::to_string)))
    }

    /// The links between the ranks, probed by the first call. Collective.
    pub(crate) fn links(&self) -> Result<Option<&LinkTable>> {
        let (Some(ranks), origin) = (&self.0.ranks, &self.0.origin) else { return Ok(None) };
        if origin.links.get().is_none() {
            let found = LinkTable::probe(ranks, &origin.devices)?;
            if config().debug >= 1 && ranks.rank() == 0 {
                say(format_args!("CUDA memory between ranks: {found}"));
            }
            // Another thread of this rank finds the same.
            let _ = origin.links.set(found);
        }
        Ok(origin.links.get())
    }

    /// Whether all members are CUDA devices and those of some ranks send and receive in stream order, as far
    /// as is known: all ranks know the same.
    pub(crate) fn shares_cuda_memory(&self) -> bool {
        self.known_links().is_some_and(LinkTable::has_streams)
            && self.0.members.iter().all(|member| member.kind == DeviceKind::Cuda)
    }

    /// The same if they have been probed.
    pub(crate) fn known_links(&self) -> Option<&LinkTable> {
        self.0.origin.links.get()
    }

    /// The most arrays that one kernel may bind on every device of the team.
    pub(crate) fn max_params(&self) -> usize {
        self.0.max_params
    }

    /// Whether every device of the team has i64.
    pub(crate) fn has_i64(&self) -> bool {
        self.0.has_i64
    }

    /// Whether all members, those of other ranks too, have their memory on hosts.
    #[doc = example!("assert!(team.is_on_host());")]
    pub fn is_on_host(&self) -> bool {
        self.0.members.iter().all(|member| member.kind == DeviceKind::Host)
    }

    /// Whether every device of the team has f64.
    pub(crate) fn has_f64(&self) -> bool {
        self.0.members.iter().all(|member| member.kind != DeviceKind::Wgpu)
    }

    /// Does what all ranks do at the same time. What fails on this rank alone, all others get to know.
    pub(crate) fn together<T>(&self, operation: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let Some(ranks) = &self.0.ranks else { return work() };
        ranks.begin(operation)?;
        work().inspect_err(|error| report(ranks, error))
    }

    /// Number of members, and of parts of every array on this team.
    #[doc = example!("assert_eq!(team.size(), 2);")]
    pub fn size(&self) -> usize {
        self.0.members.len()
    }

    /// The device of a member of this rank.
    ///
    /// # Panics
    /// If the member is another rank's, see [`Team::is_here`].
    #[doc = example!("assert_eq!(team.device(0).kind(), DeviceKind::Host);")]
    pub fn device(&self, member: usize) -> &Device {
        let Member { rank, device, .. } = &self.0.members[member];
        device.as_ref().unwrap_or_else(|| panic!("member {member} is on rank {rank}; ask `is_here` before"))
    }

    /// The distinct devices of this rank, in the order of their first member.
    #[doc = example!("assert_eq!(team.devices().len(), 1); // Two parts on one device.")]
    pub fn devices(&self) -> Vec<Device> {
        self.0.devices.clone()
    }

    /// Waits until everything queued on every device of this rank is done.
    ///
    /// # Errors
    /// The first device that failed; the failure of a rank for which a device waited.
    #[doc = example!("(&u + 1).eval()?;" "team.wait()?;")]
    pub fn wait(&self) -> Result<()> {
        let waited = self.0.devices.iter().try_for_each(Device::wait);
        let failure = || self.0.ranks.as_ref().and_then(Ranks::failure);
        if failure().is_some() {
            // It then says what the arrays of a Loop hold.
            self.0.devices.iter().for_each(|device| drop(device.settle(true)));
        }
        let waited = waited.and_then(|()| failure().map_or(Ok(()), Err));
        waited.inspect_err(|error| self.0.ranks.iter().for_each(|ranks| report(ranks, error)))
    }

    /// The number of boxes of cells that have travelled from one member to another so far, whether the two
    /// share a device or not. Work on what every member owns adds nothing.
    #[doc = example!(
        "let before = team.messages();"
        "(u.slice(&s![.., ..-1]) + u.slice(&s![.., 1..])).eval()?;"
        "assert!(team.messages() > before); // A halo travelled."
    )]
    pub fn messages(&self) -> u64 {
        self.0.messages.load(Ordering::Relaxed)
    }

    pub(crate) fn count_messages(&self, count: u64) {
        self.0.messages.fetch_add(count, Ordering::Relaxed);
    }

    /// Data that evaluations keep as long as the team lives, of a type that only they know; equal teams that
    /// were made apart remember apart.
    pub(crate) fn notes(
        &self,
        begin: impl FnOnce() -> Box<dyn Any + Send + Sync>,
    ) -> &(dyn Any + Send + Sync) {
        &**self.0.notes.get_or_init(begin)
    }
}

/// Reports an error that other ranks cannot find by themselves.
pub(super) fn report(ranks: &Ranks, error: &Error) {
    if error.is_local() {
        ranks.abort(&error.to_string());
    }
}

impl Team {
    /// Holds what an evaluation on this team needs, see [`evaluation`].
    pub(crate) fn evaluation(&self) -> Result<DeviceLocks<'_>> {
        evaluation(std::iter::once(self))
    }

    /// The locks of an evaluation on this team: those of its devices. Of a team over several ranks it is the
    /// one of this rank's end of the wire, whether the rank has members or not. Evaluations there are
    /// collective and must come in one order on all ranks, so no two run at once on any of its teams; and
    /// ranks that are threads of one process may share a device, which one of them must not hold while it
    /// waits for another. Their arrays cannot meet: teams of different ranks are never equal.
    fn locks(&self) -> impl Iterator<Item = &Mutex<()>> + Clone {
        let (wire, devices) = match self.wire() {
            Some(ranks) => (Some(ranks.turn()), &[][..]),
            None => (None, self.own_devices()),
        };
        wire.into_iter().chain(devices.iter().map(Device::lock))
    }
}

/// Holds what an evaluation on some teams needs, until dropped: evaluations that share a device come one
/// after the other, whichever teams they are on, because arrays of equal teams that were made apart can be
/// mixed.
///
/// # Errors
/// [`Error::Forked`] where a lock may be another process's.
pub(crate) fn evaluation<'t>(teams: impl Iterator<Item = &'t Team> + Clone) -> Result<DeviceLocks<'t>> {
    check_fork()?;
    teams.clone().filter_map(Team::wire).try_for_each(Ranks::check_process)?;
    Ok(DeviceLocks::take(teams.flat_map(Team::locks)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::evaluation;
    use crate::device::DeviceLocks;
    use crate::prelude::*;
    use crate::wire::threads;

    /// Whether another thread evaluates on a team while this one evaluates.
    fn beside(held: DeviceLocks<'_>, other: &Team) -> bool {
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            scope.spawn(move || {
                let _held = other.evaluation().unwrap();
                sender.send(())
            });
            let is_there = receiver.recv_timeout(Duration::from_millis(100)).is_ok();
            drop(held);
            is_there || receiver.recv().is_err()
        })
    }

    #[test]
    fn evaluations_exclude_each_other_exactly_where_they_share_a_device() {
        let [a, b, c] = [(); 3].map(|()| Device::host());
        let team = |members: &[&Device]| Team::of(members.iter().copied().cloned().collect()).unwrap();
        let (on_a, on_ab) = (team(&[&a, &a]), team(&[&b, &a, &b]));
        let equal = team(&[&a, &a]);
        assert_eq!(on_a, equal);
        assert!(!beside(on_a.evaluation().unwrap(), &equal), "equal teams made apart");
        assert!(!beside(on_a.evaluation().unwrap(), &on_ab), "teams that overlap");
        assert!(
            !beside(on_ab.evaluation().unwrap(), &on_ab.of_members(&[1]).unwrap()),
            "a team and some of its members"
        );
        assert!(!beside(evaluation([&team(&[&c]), &on_a].into_iter()).unwrap(), &on_ab), "two teams at once");
        assert!(beside(on_a.evaluation().unwrap(), &team(&[&b, &c])), "different devices");
        assert!(beside(on_ab.of_members(&[0]).unwrap().evaluation().unwrap(), &on_a), "different members");
    }

    #[test]
    fn an_evaluation_within_another_one_goes_on_and_lets_nobody_in_when_it_ends() {
        let team = Team::on(&[Device::host()], 2).unwrap();
        let outer = team.evaluation().unwrap();
        drop(team.evaluation().unwrap());
        assert!(!beside(outer, &team));
    }

    #[test]
    fn threads_that_take_devices_in_different_orders_do_not_wait_for_each_other() {
        let [a, b, c] = [(); 3].map(|()| Device::host());
        let teams = [[&a, &b, &c], [&c, &a, &b], [&b, &c, &a], [&c, &b, &a]];
        let teams = teams.map(|members| Team::of(members.map(Device::clone).to_vec()).unwrap());
        thread::scope(|scope| {
            for team in &teams {
                scope.spawn(move || {
                    for _ in 0..2000 {
                        drop(team.evaluation().unwrap());
                    }
                });
            }
        });
    }

    #[test]
    fn ranks_on_one_device_do_not_wait_for_each_other_and_all_teams_of_a_rank_do() {
        let device = Device::host();
        let ends = threads::run(2, |ranks| {
            let world = Team::over(&ranks, std::slice::from_ref(&device), 2).unwrap();
            // Of the second one's members rank 1 has none, of the first one's rank 0 has none.
            let [theirs, ours] = [[2, 3], [0, 1]].map(|members| world.of_members(&members).unwrap());
            assert!(
                !beside(world.evaluation().unwrap(), &ours) && !beside(ours.evaluation().unwrap(), &theirs)
            );
            // Computing is a conversation of the ranks, each of which has the device's memory in use.
            let dist = Distribution::builder(&[40]).parts(4).halo(&[1], &[1]).build().unwrap();
            let u = Array::from_fn(&world, &dist, |at| at[0] as i32).unwrap();
            (u.slice(&s![1..]) + u.slice(&s![..-1])).to_vec::<i32>().unwrap()
        });
        let expected: Vec<i32> = (0..39).map(|at| 2 * at + 1).collect();
        for end in ends {
            assert_eq!(end.unwrap(), expected);
        }
    }
}
