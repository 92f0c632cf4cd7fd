//! The ranks of a program: the processes that were started together. Where MPI did not start them, or no
//! library of the launcher's is found, sockets connect them.

use std::sync::{Arc, OnceLock};

use super::endpoint::Endpoint;
use super::job;
use super::ranks::Ranks;
use super::sockets::{Launch, Sockets, launched};
use crate::config::{checked, config};
use crate::error::{Error, Result};

/// The endpoint of the ranks that [`connect`] connected.
static CONNECTED: OnceLock<Arc<Endpoint>> = OnceLock::new();

/// All processes that were started together; `None` for a process that was started alone. Collective.
///
/// # Errors
/// MPI that does not start, or is another than the launcher's; variables of a launcher that contradict each
/// other; ranks that do not find each other.
pub fn world() -> Result<Option<Ranks>> {
    static LAUNCHED: OnceLock<Result<Option<Arc<Endpoint>>>> = OnceLock::new();
    if let Some(endpoint) = CONNECTED.get() {
        return Ranks::of_job(endpoint).map(Some);
    }
    #[cfg(unix)]
    if let Some(ranks) = super::mpi::world()? {
        return Ok(Some(ranks));
    }
    let endpoint = LAUNCHED.get_or_init(|| {
        checked()?;
        let lookup = |name: &str| Some(std::env::var_os(name)?.to_string_lossy().into_owned());
        launched(lookup)?.map(|launch| connected(&launch)).transpose()
    });
    endpoint.clone()?.as_ref().map(Ranks::of_job).transpose()
}

/// Connects this process with the others of a job, which then are [`world`]. Collective.
///
/// # Errors
/// A process that already belongs to a job; ranks that do not find each other within the deadline.
pub fn connect(launch: &Launch) -> Result<Ranks> {
    if let Some(endpoint) = job::endpoints().first() {
        endpoint.check_process()?;
        let given = "one that already is a rank of a job".to_owned();
        let remedy = "connect before the first team of the process, once";
        return Err(Error::invalid("Team::connect", "a process of its own", given, remedy));
    }
    let endpoint = connected(launch)?;
    Ok(Ranks::on(CONNECTED.get_or_init(|| endpoint)))
}

fn connected(launch: &Launch) -> Result<Arc<Endpoint>> {
    let (endpoint, _) = job::register(Sockets::connect(launch, config().deadline)?);
    job::leave_at_exit();
    Ok(endpoint)
}
