//! How teams are made: of devices of this process, over ranks, or of members of another team.

use std::sync::{Arc, OnceLock};

use super::handle::{Member, Team, TeamOrigin, distinct, report};
use crate::config::{checked, config};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::wire::{Ranks, pass};

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
    pub fn local(parts: usize) -> Result<Team> {
        Team::on(&Device::named(&config().device)?, parts)
    }

    /// `parts` members spread over `devices` in contiguous runs of nearly equal length.
    ///
    /// # Errors
    /// Zero parts or no devices.
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
    pub fn of(members: Vec<Device>) -> Result<Team> {
        let members = members.iter().map(|device| Member::here(0, device)).collect();
        Team::assemble(members, None, Arc::default())
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
    /// No parts or no devices; several processes started by `mpirun` without the feature `mpi`; MPI that does
    /// not start; another rank that fails.
    pub fn world_on(devices: &[Device], parts_per_rank: usize) -> Result<Team> {
        #[cfg(feature = "mpi")]
        if let Some(ranks) = crate::wire::mpi::world()? {
            return Team::over(&ranks, crate::wire::mpi::share_of_this_machine(devices), parts_per_rank);
        }
        #[cfg(not(feature = "mpi"))]
        check_alone(|name| std::env::var(name).ok())?;
        Team::on(devices, parts_per_rank)
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

    /// Some of the members, in this order, as a team of their own; the ranks that have none of them are
    /// members of it too, with no part. Collective.
    ///
    /// # Errors
    /// No members, or such as there are not.
    pub fn of_members(&self, members: &[usize]) -> Result<Team> {
        if let Some(absent) = members.iter().find(|&&member| member >= self.size()) {
            let expected = format!("members below {}", self.size());
            return Err(Error::invalid("Team::of_members", expected, absent.to_string(), "count from 0"));
        }
        let members = members.iter().map(|&member| self.members()[member].clone()).collect();
        Team::assemble(members, self.wire().cloned(), Arc::clone(self.origin()))
    }
}

/// Refuses to let every process of a launcher believe that it is alone.
#[cfg(any(test, not(feature = "mpi")))]
fn check_alone(lookup: impl Fn(&str) -> Option<String>) -> Result<()> {
    let several = |name: &&&str| lookup(name).and_then(|text| text.parse().ok()).is_some_and(|n: u64| n > 1);
    match ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"].iter().find(several) {
        None => Ok(()),
        Some(name) => Err(Error::invalid(
            "Team::world",
            "a program built with MPI, or started alone",
            format!("{name} above 1 and a build without the feature `mpi`"),
            "build with `--features partita/mpi`, or start one process",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::check_alone;

    #[test]
    fn processes_of_a_launcher_do_not_believe_that_they_are_alone() {
        assert!(check_alone(|_| None).is_ok());
        assert!(check_alone(|name| (name == "PMI_SIZE").then(|| "1".to_owned())).is_ok());
        let error = check_alone(|name| (name == "OMPI_COMM_WORLD_SIZE").then(|| "3".to_owned()));
        assert!(error.is_err_and(|error| error.to_string().contains("--features partita/mpi")));
    }
}
