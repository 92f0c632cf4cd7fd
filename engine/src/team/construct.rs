//! Constructors of teams: of devices of this process, over ranks, or of members of another team.

use std::sync::{Arc, OnceLock};

use super::handle::{Member, Team, TeamOrigin, distinct, report};
use crate::config::{checked, config};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::program::LinkTable;
use crate::wire::sockets::Launch;
use crate::wire::{self, Ranks, job, pass};

/// So many parts nobody needs, and more would not fit into memory.
const MOST_PARTS: usize = 1 << 20;

fn few(parts: usize) -> Result<()> {
    if parts <= MOST_PARTS {
        return Ok(());
    }
    let expected = format!("at most {MOST_PARTS} parts");
    Err(Error::invalid("Team", expected, parts.to_string(), "ask for fewer parts"))
}

impl Team {
    /// `parts` members over this process's devices, as `PARTITA_DEVICE` names them (default `auto`).
    ///
    /// # Errors
    /// Zero parts; no such device; [`Error::Environment`].
    #[doc = example!("assert_eq!(Team::local(4)?.size(), 4); // On the devices that PARTITA_DEVICE names.")]
    pub fn local(parts: usize) -> Result<Team> {
        Team::on(&Device::named(&config().device)?, parts)
    }

    /// `parts` members spread over `devices` in contiguous runs of nearly equal length.
    ///
    /// # Errors
    /// Zero parts or no devices.
    #[doc = example!("let four = Team::on(&[Device::host()], 4)?;" "assert_eq!(four.size(), 4);")]
    pub fn on(devices: &[Device], parts: usize) -> Result<Team> {
        if devices.is_empty() {
            return Err(Error::invalid("Team::on", "at least 1 device", "none", "pass one of Device::all()"));
        }
        few(parts)?;
        Team::of((0..parts).map(|p| devices[p * devices.len() / parts].clone()).collect())
    }

    /// One member per entry, in this order.
    ///
    /// # Errors
    /// No members.
    #[doc = example!(
        "let pair = Team::of(vec![Device::host(), Device::host()])?;"
        "assert_eq!(pair.size(), 2);"
    )]
    pub fn of(members: Vec<Device>) -> Result<Team> {
        checked()?;
        let members = members.iter().map(|device| Member::here(0, device)).collect();
        Team::assemble(members, None, Arc::default())
    }

    /// One member on the host, for an error that no array is there to carry.
    pub(crate) fn alone() -> Team {
        let members = vec![Member::here(0, &Device::host())];
        let Ok(team) = Team::assemble(members, None, Arc::default()) else { unreachable!("has a member") };
        team
    }

    /// A team over all ranks of the program: `parts_per_rank` members on each, on the devices that
    /// `PARTITA_DEVICE` names there. Collective.
    ///
    /// # Errors
    /// As [`Team::world_on`]; no such device.
    pub fn world(parts_per_rank: usize) -> Result<Team> {
        Team::world_on(&Device::named(&config().device)?, parts_per_rank)
    }

    /// As [`Team::world`], on some of this machine's devices, which the ranks of the machine divide among
    /// them. Of a program that was started alone the team is [`Team::on`]. Collective.
    ///
    /// # Errors
    /// No parts or no devices; ranks that do not find each other; MPI that does not start; another rank that
    /// fails.
    #[doc = example!(
        "let all = Team::world_on(&[Device::host()], 2)?; // Run alone: two members on one rank."
        "assert_eq!((all.ranks(), all.size()), (1, 2));"
    )]
    pub fn world_on(devices: &[Device], parts_per_rank: usize) -> Result<Team> {
        match wire::world()? {
            Some(ranks) => Team::over(&ranks, job::share_of_this_machine(devices), parts_per_rank),
            None => Team::on(devices, parts_per_rank),
        }
    }

    /// A team over the ranks of one of rsmpi's communicators: the world's, a split or duplicated one, any
    /// but one between two groups. Each rank passes how many members it has, on the devices that
    /// `PARTITA_DEVICE` names there. The library duplicates the communicator, which stays the caller's and
    /// may be dropped; rsmpi's own calls on it may come between any two operations. Teams of one
    /// communicator share their ranks. With `Threading::Serialized` rsmpi and arrays must not be used at the
    /// same time by two threads. Collective among its ranks.
    ///
    /// ```
    /// use mpi::environment::initialize_with_threading;
    /// use mpi::{Threading, topology::Color, traits::*};
    /// use partita::prelude::*;
    /// # use partita::wire::mpi::rsmpi as mpi;
    ///
    /// # fn main() -> partita::Result<()> {
    /// let (universe, _) = initialize_with_threading(Threading::Serialized).expect("the first to do so");
    /// let world = universe.world();
    /// let half = world.split_by_color(Color::with_value(world.rank() % 2)).expect("every rank has a color");
    /// let team = Team::from_communicator(&half, 2)?;
    /// assert_eq!((team.ranks(), team.rank()), (half.size() as usize, half.rank() as usize));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// MPI that is not initialised, was finalized, or was initialised without `Threading::Serialized`; a
    /// process whose loaded library is another than rsmpi's; a communicator between two groups; as
    /// [`Team::over`].
    #[cfg(all(unix, feature = "mpi"))]
    pub fn from_communicator(
        communicator: &(impl mpi::traits::Communicator + ?Sized),
        parts_per_rank: usize,
    ) -> Result<Team> {
        let devices = Device::named(&config().device)?;
        let ranks = wire::mpi::ranks_of(communicator)?;
        Team::over(&ranks, job::share_of_this_machine(&devices), parts_per_rank)
    }

    /// Connects this process by TCP with the others of a job, for launchers that [`Team::world`] does not
    /// know: a team of `parts` members on each, on the devices that `PARTITA_DEVICE` names. From then on
    /// [`Team::world`] spans the job. Collective: all ranks call it, before any other team over ranks.
    ///
    /// # Errors
    /// Ranks that do not find each other within `PARTITA_DEADLINE_SECONDS`; addresses beyond this machine
    /// without a secret; a process that already is a rank of a job.
    pub fn connect(launch: &Launch, parts: usize) -> Result<Team> {
        let devices = Device::named(&config().device)?;
        let ranks = wire::connect(launch)?;
        Team::over(&ranks, job::share_of_this_machine(&devices), parts)
    }

    /// A team over ranks: on each, `parts` members spread over the `devices` it passes, as [`Team::on`] does.
    /// The members of rank 0 come first. Collective; ranks may pass different numbers.
    ///
    /// # Errors
    /// No devices here, or no parts on any rank; another rank that fails.
    pub fn over(ranks: &Ranks, devices: &[Device], parts: usize) -> Result<Team> {
        const OPERATION: &str = "making a team";
        let agreed = || {
            ranks.begin(OPERATION)?;
            pass("team")?;
            checked()?;
            if devices.is_empty() && parts > 0 {
                let remedy = "pass one of Device::all()";
                return Err(Error::invalid("Team::over", "at least 1 device", "none", remedy));
            }
            few(parts)?;
            let mine: Vec<Member> = (0..parts)
                .map(|part| Member::here(ranks.rank(), &devices[part * devices.len() / parts]))
                .collect();
            let descriptions: Vec<u8> = mine.iter().flat_map(Member::to_bytes).collect();
            let mut members = Vec::new();
            for (rank, bytes) in ranks.all_gather(OPERATION, &descriptions)?.iter().enumerate() {
                if rank == ranks.rank() {
                    members.extend(mine.iter().cloned());
                    continue;
                }
                let mut rest = &bytes[..];
                members.extend(std::iter::from_fn(|| Member::take_from(rank, &mut rest)));
            }
            let several = (ranks.count() > 1).then(|| ranks.clone());
            let origin = TeamOrigin { devices: distinct(&mine), links: OnceLock::new() };
            Team::assemble(members, several, Arc::new(origin))
        };
        agreed().inspect_err(|error| report(ranks, error))
    }

    /// The same members, between whose ranks exchanges choose from these links.
    pub(crate) fn with_links(&self, links: LinkTable) -> Result<Team> {
        let origin = TeamOrigin { devices: self.origin().devices.clone(), links: OnceLock::from(links) };
        Team::assemble(self.members().to_vec(), self.wire().cloned(), Arc::new(origin))
    }

    /// Some of the members, in this order, as a team of their own; the ranks that have none of them are
    /// members of it too, with no part. Collective.
    ///
    /// # Errors
    /// No members, or such as there are not.
    #[doc = example!("assert_eq!(team.of_members(&[1])?.size(), 1);")]
    pub fn of_members(&self, members: &[usize]) -> Result<Team> {
        if let Some(absent) = members.iter().find(|&&member| member >= self.size()) {
            let expected = format!("members below {}", self.size());
            return Err(Error::invalid("Team::of_members", expected, absent.to_string(), "count from 0"));
        }
        let members = members.iter().map(|&member| self.members()[member].clone()).collect();
        Team::assemble(members, self.wire().cloned(), Arc::clone(self.origin()))
    }
}
