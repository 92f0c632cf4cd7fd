//! Teams over the ranks of an MPI program: of all ranks, or of a communicator of mpi4py.

use std::sync::OnceLock;

use partita::Team;
use pyo3::prelude::*;

use super::runtime::error::raised;
use crate::foreign::communicator::Communicator;

/// The team of so many members, on one of these devices each, or one member per device: over the ranks of a
/// communicator, or all ranks of the program. Members are divided among the ranks in contiguous runs of
/// nearly equal length. Collective.
#[cfg(feature = "mpi")]
pub fn team(
    py: Python<'_>,
    comm: Option<Communicator>,
    devices: impl FnOnce() -> partita::Result<Vec<partita::Device>> + Send,
    members: Option<usize>,
) -> PyResult<Team> {
    use partita::wire::mpi;
    let ranks = py.detach(|| match &comm {
        Some(comm) => comm.ranks().map(Some),
        None => mpi::world(),
    });
    let Some(ranks) = ranks.map_err(raised)? else {
        return py.detach(|| local(&devices()?, members)).map_err(raised);
    };
    if ranks.count() > 1 {
        // From now on the end of this process concerns others.
        py.import("partita._core.ending")?.call_method0("watch")?;
    }
    py.detach(|| {
        let devices = devices().inspect_err(|error| ranks.abort(&error.to_string()))?;
        let mine = mpi::share_of_this_machine(&devices);
        let (rank, count) = (ranks.rank(), ranks.count());
        let of_total = |total| (0..total).filter(|member| member * count / total == rank).count();
        Team::over(&ranks, mine, members.map_or(mine.len(), of_total))
    })
    .map_err(raised)
}

/// As above, of a process that was started alone; others are refused.
#[cfg(not(feature = "mpi"))]
pub fn team(
    py: Python<'_>,
    comm: Option<Communicator>,
    devices: impl FnOnce() -> partita::Result<Vec<partita::Device>> + Send,
    members: Option<usize>,
) -> PyResult<Team> {
    if comm.is_some() {
        let text = "Team: expected a build of partita with MPI for comm=, given one without";
        let remedy = "build it with `pip install ./interop --config-settings=build-args=\"--features mpi\"`";
        return Err(pyo3::exceptions::PyValueError::new_err(format!("{text}; {remedy}")));
    }
    let alone = || {
        let devices = devices()?;
        Team::world_on(&devices, members.unwrap_or(devices.len()))
    };
    py.detach(alone).map_err(raised)
}

/// A team of this process alone.
pub fn local(devices: &[partita::Device], members: Option<usize>) -> partita::Result<Team> {
    Team::on(devices, members.unwrap_or(devices.len()))
}

/// The members that hold parts where no team is named: one per device of every rank. Collective the first
/// time.
pub fn default_team(py: Python<'_>) -> PyResult<Team> {
    // Making a team over ranks takes messages, so there is one; nothing else is kept.
    static OVER_RANKS: OnceLock<Team> = OnceLock::new();
    if let Some(team) = OVER_RANKS.get() {
        return Ok(team.clone());
    }
    let team = team(py, None, || partita::Device::named(&partita::config::config().device), None)?;
    if team.ranks() > 1 {
        return Ok(OVER_RANKS.get_or_init(|| team).clone());
    }
    Ok(team)
}

/// Ends this process's part in the program: whether all ranks came to their end. Collective.
#[pyfunction]
pub fn leave(py: Python<'_>) -> bool {
    #[cfg(feature = "mpi")]
    return py.detach(partita::wire::mpi::leave);
    #[cfg(not(feature = "mpi"))]
    return py.detach(|| true);
}

/// Lets all ranks know why this one cannot go on, and ends all processes. Does not return.
#[pyfunction]
pub fn abort(py: Python<'_>, reason: &str) {
    #[cfg(feature = "mpi")]
    py.detach(|| partita::wire::mpi::abort(reason));
    // A process that runs alone just ends.
    #[cfg(not(feature = "mpi"))]
    let _ = (py, reason);
}
