//! The environment variables Partita reads, all of them, once.

use std::fmt;
use std::io::Write as _;
use std::sync::OnceLock;
use std::time::Duration;

/// Settings from the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// `PARTITA_DEVICE`: the devices [`crate::Team::local`] uses: `auto`, `host`, `cuda`, `wgpu`.
    pub device: String,
    /// `PARTITA_DEBUG`: 1 prints launches, 2 also kernels as they are compiled, 3 also
    /// what drivers are given to compile, 4 also plans and exchanges.
    pub debug: u8,
    /// `PARTITA_BUDGET_MB`: bytes each device may use, in MiB; unset means no budget of our own.
    pub budget_bytes: Option<u64>,
    /// `PARTITA_THREADS`: host threads; unset means all the process may use.
    pub threads: usize,
    /// `PARTITA_DEADLINE_SECONDS`: how long one rank waits for another, by default 30.
    pub deadline: Duration,
    /// `PARTITA_MPI_MAX_BYTES`: the longest message that MPI is given; longer ones are split.
    pub mpi_max_bytes: usize,
    /// `PARTITA_CUDA_AWARE_MPI`: 1 says that MPI takes device pointers though it does not say so itself, 0
    /// that it must not get any; unset, the library is asked.
    pub cuda_aware_mpi: Option<bool>,
    /// `PARTITA_CUDA_IPC`: 0 keeps ranks of one machine from opening each other's CUDA memory.
    pub cuda_ipc: bool,
    /// `PARTITA_WGPU_VISIBLE`: 0 keeps adapters' memory out of this process's address space, also where the
    /// two are one: arrays there are then only copied to the host.
    pub wgpu_visible: bool,
    /// `PARTITA_TILE_BYTES`: how much of a state goes through several steps of a [`crate::Loop`] at a time on
    /// the host; by default [`TILE_BYTES`].
    pub tile_bytes: u64,
    /// `PARTITA_HOST_CODE`: 0 keeps the host from writing machine code for kernels: all are interpreted.
    pub host_code: bool,
    /// `PARTITA_CHECK`: 1 repeats every launch on the interpreter and compares.
    pub check: bool,
    /// `PARTITA_TRACE`: the file that [`crate::trace`] writes.
    pub trace: Option<String>,
    /// `PARTITA_FAULT`: a fault on purpose, as [`crate::wire::POINTS`] names them; for tests.
    pub fault: Option<String>,
}

/// The state of a tile that a cache holds. It was measured on one machine, with 1 MiB for each of two cores
/// and 32 for both.
pub const TILE_BYTES: u64 = 3 << 20;

/// The settings of this process.
pub fn config() -> &'static Config {
    static CONFIG: OnceLock<Config> = OnceLock::new();
    CONFIG.get_or_init(|| from_lookup(|name| std::env::var(name).ok()))
}

fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Config {
    let number = |name: &str| lookup(name).and_then(|text| text.trim().parse::<u64>().ok());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Config {
        device: lookup("PARTITA_DEVICE").unwrap_or_else(|| "auto".to_owned()),
        debug: number("PARTITA_DEBUG").unwrap_or(0).min(4) as u8,
        budget_bytes: number("PARTITA_BUDGET_MB").map(|mib| mib.saturating_mul(1 << 20)),
        threads: number("PARTITA_THREADS").map_or(cores, |n| (n as usize).max(1)),
        deadline: Duration::from_secs(number("PARTITA_DEADLINE_SECONDS").unwrap_or(30).max(1)),
        mpi_max_bytes: number("PARTITA_MPI_MAX_BYTES").map_or(1 << 30, |n| n.clamp(1, 1 << 30) as usize),
        cuda_aware_mpi: number("PARTITA_CUDA_AWARE_MPI").map(|n| n != 0),
        cuda_ipc: number("PARTITA_CUDA_IPC") != Some(0),
        wgpu_visible: number("PARTITA_WGPU_VISIBLE") != Some(0),
        tile_bytes: number("PARTITA_TILE_BYTES").unwrap_or(TILE_BYTES).min(1 << 40),
        host_code: number("PARTITA_HOST_CODE") != Some(0),
        check: number("PARTITA_CHECK") == Some(1),
        trace: lookup("PARTITA_TRACE"),
        fault: lookup("PARTITA_FAULT"),
    }
}

/// One line to standard error, in one piece: the ranks of a program often share a terminal, and their words
/// must not mix.
pub(crate) fn say(words: fmt::Arguments) {
    let line = format!("[partita] {words}\n");
    // Nobody can be told that nobody can be told.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unset_means_defaults_and_nonsense_is_ignored() {
        let defaults = from_lookup(|_| None);
        assert_eq!((defaults.device.as_str(), defaults.debug), ("auto", 0));
        let odd = from_lookup(|_| Some("many".to_owned()));
        assert_eq!((odd.debug, odd.budget_bytes), (0, None));
        let set = from_lookup(|name| (name == "PARTITA_BUDGET_MB").then(|| "2".to_owned()));
        assert_eq!(set.budget_bytes, Some(2 << 20));
    }
}
