//! The classes of devices and teams, and teams over the ranks of a program: of all ranks, or of a
//! communicator of mpi4py.

use std::sync::{Mutex, OnceLock, PoisonError};

use partita::wire::{job, world};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::arrays::convert::count;
use super::runtime::{detached, raised};
use crate::foreign::capsule::location;
use crate::foreign::communicator::Communicator;

/// A processor with memory of its own.
#[pyclass(frozen, eq, module = "partita")]
#[derive(Clone, PartialEq)]
pub struct Device(pub partita::Device);

#[pymethods]
impl Device {
    /// The name people see.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// 'host', 'wgpu', ...
    #[getter]
    fn kind(&self) -> String {
        format!("{:?}", self.0.kind()).to_lowercase()
    }

    /// True for an adapter that is a program on the processor.
    #[getter]
    fn is_software(&self) -> bool {
        self.0.is_software()
    }

    /// 'kept', 'flushed' or 'unspecified': what it does with subnormals of float32.
    #[getter]
    fn subnormals(&self, py: Python<'_>) -> String {
        py.detach(|| format!("{:?}", self.0.subnormals()).to_lowercase())
    }

    /// Bytes in use, cached, and the budget (None: no limit of ours).
    #[getter]
    fn memory<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let usage = self.0.memory();
        let facts = PyDict::new(py);
        facts.set_item("in_use_bytes", usage.in_use_bytes)?;
        facts.set_item("cached_bytes", usage.cached_bytes)?;
        facts.set_item("budget_bytes", usage.budget_bytes)?;
        Ok(facts)
    }

    /// Limits what arrays and temporaries may hold; None leaves it to the driver.
    #[pyo3(signature = (budget_bytes))]
    fn set_budget(&self, budget_bytes: Option<u64>) {
        self.0.set_budget(budget_bytes);
    }

    /// Waits until all queued work is done.
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, || self.0.wait())
    }

    /// The handle of the CUDA stream on which all work is queued; None on other devices.
    #[getter]
    fn stream(&self) -> Option<u64> {
        self.0.stream()
    }

    /// DLPack's (device type, device number).
    fn __dlpack_device__(&self) -> (u32, i32) {
        location(&self.0).into()
    }

    /// By kind, number and name; see `partita._core.ranks.teams`.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reconstruction<'py, (String, i32, &str)>> {
        let again = py.import("partita._core.ranks.teams")?.getattr("device")?;
        Ok((again, (self.kind(), location(&self.0).device_id, self.name())))
    }

    fn __hash__(&self) -> isize {
        self.0.name().bytes().fold(7, |hash: isize, byte| hash.wrapping_mul(31).wrapping_add(byte as isize))
    }

    fn __repr__(&self) -> String {
        format!("<partita.Device {}>", self.0.name())
    }
}

/// The way in which pickle makes an object again: a function and its arguments.
type Reconstruction<'py, A> = (Bound<'py, PyAny>, A);

/// The values that `devices=` accepts: nothing, a word, a device, or a list of words and devices.
#[derive(FromPyObject)]
pub enum Devices {
    /// Such as 'host' or 'wgpu'.
    #[pyo3(transparent)]
    Word(String),
    /// One device.
    #[pyo3(transparent)]
    One(Py<Device>),
    /// Several.
    #[pyo3(transparent)]
    Many(Vec<Devices>),
}

impl Devices {
    fn list(&self) -> partita::Result<Vec<partita::Device>> {
        match self {
            Devices::Word(word) => partita::Device::named(word),
            Devices::One(device) => Ok(vec![device.get().0.clone()]),
            Devices::Many(many) => {
                Ok(many.iter().map(Devices::list).collect::<partita::Result<Vec<_>>>()?.concat())
            }
        }
    }
}

/// The ordered members that hold the parts of arrays.
#[pyclass(frozen, eq, module = "partita")]
#[derive(Clone, PartialEq)]
pub struct Team(pub partita::Team);

/// The devices that are named, or those of `PARTITA_DEVICE`.
fn devices(given: Option<Bound<'_, PyAny>>) -> PyResult<Devices> {
    let expected = "Team: expected devices= a word ('auto', 'host', 'wgpu'), a Device, or a list of them";
    match given {
        None => Ok(Devices::Word(partita::config::config().device.clone())),
        Some(given) => given
            .extract()
            .map_err(|_| PyTypeError::new_err(format!("{expected}, given {given}; see partita.devices()"))),
    }
}

#[pymethods]
impl Team {
    #[new]
    #[pyo3(signature = (parts = None, devices = None, comm = None))]
    fn new(
        py: Python<'_>,
        parts: Option<Bound<'_, PyAny>>,
        devices: Option<Bound<'_, PyAny>>,
        comm: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Team> {
        let parts = parts.map(|parts| count("Team", "parts", &parts)).transpose()?;
        let devices = self::devices(devices)?;
        let comm = comm.as_ref().map(Communicator::of).transpose()?;
        team(py, comm, || devices.list(), parts).map(Team)
    }

    /// A team of this process alone, also in a program of several ranks. Not collective.
    #[staticmethod]
    #[pyo3(signature = (parts = None, devices = None))]
    fn local(
        py: Python<'_>,
        parts: Option<Bound<'_, PyAny>>,
        devices: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Team> {
        let parts = parts.map(|parts| count("Team.local", "parts", &parts)).transpose()?;
        let devices = self::devices(devices)?;
        detached(py, || local(&devices.list()?, parts)).map(Team)
    }

    /// A team over processes that TCP connects: all of them pass the same size, address and secret, and each
    /// its rank. From then on teams of this process span the job. Without arguments they find each other
    /// through torchrun's store, also on several machines. Collective.
    #[staticmethod]
    #[pyo3(signature = (
        parts = None, devices = None, *, rank = None, size = None, address = None, secret = None
    ))]
    fn connect(
        py: Python<'_>,
        parts: Option<Bound<'_, PyAny>>,
        devices: Option<Bound<'_, PyAny>>,
        rank: Option<usize>,
        size: Option<usize>,
        address: Option<String>,
        secret: Option<String>,
    ) -> PyResult<Team> {
        use partita::wire::{connect, sockets};
        let parts = parts.map(|parts| count("Team.connect", "parts", &parts)).transpose()?;
        let devices = self::devices(devices)?;
        let (rank, size, address, secret) = match (rank, size, address) {
            (Some(rank), Some(size), Some(address)) => (rank, size, address, secret.unwrap_or_default()),
            (None, None, None) => {
                py.import("partita._core.ranks.rendezvous")?.call_method0("of_torchrun")?.extract()?
            }
            _ => {
                let text = "Team.connect: expected rank, size and address, given some of them; pass all, or \
                            none under torchrun";
                return Err(PyTypeError::new_err(text));
            }
        };
        let launch = sockets::Launch { rank, size, rendezvous: sockets::Rendezvous::at(&address, &secret) };
        detached(py, || connect(&launch))?;
        team(py, None, || devices.list(), parts).map(Team)
    }

    /// Number of members, and of parts of every array.
    #[getter]
    fn size(&self) -> usize {
        self.0.size()
    }

    /// This process among those that the team is over; 0 if it is over this one alone.
    #[getter]
    fn rank(&self) -> usize {
        self.0.rank()
    }

    /// The carrier of messages between the processes: 'TCP', or the name of an MPI library. None for one.
    #[getter]
    fn wire(&self) -> Option<String> {
        self.0.wire().filter(|ranks| ranks.count() > 1).map(partita::wire::Ranks::wire_name)
    }

    /// The number of boxes of cells that have travelled from one member to another so far, on one device or
    /// between two, by the plans of arrays on this team; equal teams that were made apart count apart. Local.
    #[getter]
    fn messages(&self) -> u64 {
        self.0.messages()
    }

    /// The number of processes of the team.
    #[getter]
    fn ranks(&self) -> usize {
        self.0.ranks()
    }

    /// The numbers of this process's members.
    #[getter]
    fn local_members(&self) -> Vec<usize> {
        (0..self.0.size()).filter(|&member| self.0.is_here(member)).collect()
    }

    /// The device of each of this process's members.
    #[getter]
    fn devices(&self) -> Vec<Device> {
        self.local_members().into_iter().map(|member| Device(self.0.device(member).clone())).collect()
    }

    /// The name of the device of every member, with its rank if there are several.
    #[getter]
    fn device_names(&self) -> Vec<String> {
        let name = |member| match self.0.ranks() {
            1 => self.0.device_name(member).to_owned(),
            _ => format!("{} of rank {}", self.0.device_name(member), self.0.rank_of(member)),
        };
        (0..self.0.size()).map(name).collect()
    }

    /// The bytes of every process of the team, at each of them. Collective.
    fn share<'py>(
        &self,
        py: Python<'py>,
        operation: &str,
        mine: Vec<u8>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let shared = detached(py, || match self.0.wire() {
            Some(ranks) => ranks.all_gather(operation, &mine),
            None => Ok(vec![mine]),
        })?;
        Ok(shared.iter().map(|bytes| PyBytes::new(py, bytes)).collect())
    }

    /// Waits until all queued work is done on every device of this process.
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, || self.0.wait())
    }

    /// By the number of members and the device of each, of several processes the kinds of devices; see
    /// `partita._core.ranks.teams`.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reconstruction<'py, (usize, usize, Vec<Device>)>> {
        let again = py.import("partita._core.ranks.teams")?.getattr("team")?;
        Ok((again, (self.0.ranks(), self.0.size(), self.devices())))
    }

    /// The team itself, which never changes.
    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    /// The team itself, which never changes.
    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __len__(&self) -> usize {
        self.0.size()
    }

    fn __hash__(&self) -> isize {
        self.0.size() as isize
    }

    fn __repr__(&self) -> String {
        format!("<partita.Team of {}>", self.0)
    }
}

/// The team of so many members, on one of these devices each, or one member per device: over the ranks of a
/// communicator, or all ranks of the program. Members are divided among the ranks in contiguous runs of
/// nearly equal length. Collective.
fn team(
    py: Python<'_>,
    comm: Option<Communicator>,
    devices: impl FnOnce() -> partita::Result<Vec<partita::Device>> + Send,
    members: Option<usize>,
) -> PyResult<partita::Team> {
    let ranks = py.detach(|| match &comm {
        Some(comm) => comm.ranks().map(Some),
        None => world(),
    });
    over(py, ranks.map_err(raised)?, devices, members)
}

/// The same over these ranks, or of this process alone.
fn over(
    py: Python<'_>,
    ranks: Option<partita::wire::Ranks>,
    devices: impl FnOnce() -> partita::Result<Vec<partita::Device>> + Send,
    members: Option<usize>,
) -> PyResult<partita::Team> {
    let Some(ranks) = ranks else {
        return py.detach(|| local(&devices()?, members)).map_err(raised);
    };
    if ranks.count() > 1 {
        // From now on the end of this process concerns others.
        py.import("partita._core.ranks.ending")?.call_method0("watch")?;
    }
    py.detach(|| {
        let devices = devices().inspect_err(|error| ranks.abort(&error.to_string()))?;
        let mine = job::share_of_this_machine(&devices);
        let (rank, count) = (ranks.rank(), ranks.count());
        let of_total = |total| (0..total).filter(|member| member * count / total == rank).count();
        partita::Team::over(&ranks, mine, members.map_or(mine.len(), of_total))
    })
    .map_err(raised)
}

/// A team of this process alone.
fn local(devices: &[partita::Device], members: Option<usize>) -> partita::Result<partita::Team> {
    partita::Team::on(devices, members.unwrap_or(devices.len()))
}

/// The team that the program has set for arrays that name none.
static CHOSEN: Mutex<Option<partita::Team>> = Mutex::new(None);

/// The members that hold parts where no team is named: those of the team that was set, otherwise
/// `PARTITA_PARTS` members, by default one per device of every rank. Collective the first time.
pub fn default_team(py: Python<'_>) -> PyResult<partita::Team> {
    // Making a team over ranks takes messages, so there is one. That of this process alone is used as long
    // as it is alone: it may load MPI, or connect to others.
    static OVER_RANKS: OnceLock<partita::Team> = OnceLock::new();
    static ALONE: OnceLock<partita::Team> = OnceLock::new();
    let chosen = CHOSEN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(team) = chosen.as_ref().or_else(|| OVER_RANKS.get()) {
        return Ok(team.clone());
    }
    let config = partita::config::checked().map_err(raised)?;
    let ranks = py.detach(world).map_err(raised)?;
    if let (None, Some(team)) = (&ranks, ALONE.get()) {
        return Ok(team.clone());
    }
    let is_alone = ranks.is_none();
    let team = over(py, ranks, || partita::Device::named(&config.device), config.parts)?;
    Ok(match (is_alone, team.ranks()) {
        (true, _) => ALONE.get_or_init(|| team).clone(),
        (false, 1) => team,
        (false, _) => OVER_RANKS.get_or_init(|| team).clone(),
    })
}

/// The members that hold parts where no team is named. Collective the first time.
#[pyfunction]
pub fn get_default_team(py: Python<'_>) -> PyResult<Team> {
    default_team(py).map(Team)
}

/// Sets the members that hold parts where no team is named, or None for the environment's; the team that was
/// set before.
#[pyfunction]
#[pyo3(signature = (team))]
pub fn choose_default_team(team: Option<&Team>) -> Option<Team> {
    let mut chosen = CHOSEN.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::replace(&mut *chosen, team.map(|team| team.0.clone())).map(Team)
}

/// Ends this process's part in the program: whether all ranks came to their end. Collective.
#[pyfunction]
pub fn leave(py: Python<'_>) -> bool {
    py.detach(partita::wire::job::leave)
}

/// Lets all ranks know why this one cannot go on, and ends all processes. Does not return.
#[pyfunction]
pub fn abort(py: Python<'_>, reason: &str) {
    py.detach(|| partita::wire::job::abort(reason));
}
