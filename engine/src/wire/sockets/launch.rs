//! Rank, size and rendezvous of a process, from the variables of a launcher or from its caller.
//!
//! Ranks of one machine find each other through a file that only their user can read: rank 0 writes into it
//! where it listens, and a secret. Ranks of several machines need an address and a secret that all know.

use std::fs;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use super::handshake::random;
use super::private;

/// One rank of a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// This rank, below `size`.
    pub rank: usize,
    /// The number of ranks.
    pub size: usize,
    /// Where the ranks find each other.
    pub rendezvous: Rendezvous,
}

/// Where the ranks of a job find each other.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rendezvous {
    /// A file that rank 0 writes and removes. Its folder must belong to the user alone.
    File(PathBuf),
    /// Where rank 0 listens, `HOST:PORT`, and a secret that all ranks know. Without one only loopback
    /// addresses are accepted.
    Address {
        /// Of rank 0.
        address: String,
        /// Of the job.
        secret: Vec<u8>,
    },
}

impl std::fmt::Debug for Rendezvous {
    /// Without the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Rendezvous::File(path) => write!(f, "file {}", path.display()),
            Rendezvous::Address { address, .. } => write!(f, "address {address}"),
        }
    }
}

impl Rendezvous {
    /// A rendezvous at `HOST:PORT`, or through a file, whose path has a `/`.
    pub fn at(address: &str, secret: &str) -> Rendezvous {
        match address.contains('/') {
            true => Rendezvous::File(address.into()),
            false => Rendezvous::Address { address: address.to_owned(), secret: secret.as_bytes().to_vec() },
        }
    }
}

/// The variables of a launcher: rank, size, ranks on this machine, and what names the job.
struct Launcher {
    rank: &'static str,
    size: &'static str,
    local_size: &'static str,
    job: &'static [&'static str],
}

/// Known launchers. `SLURM_STEP_NUM_TASKS` is set by `srun` alone, not in a batch script.
const LAUNCHERS: &[Launcher] = &[
    Launcher {
        rank: "RANK",
        size: "WORLD_SIZE",
        local_size: "LOCAL_WORLD_SIZE",
        job: &["TORCHELASTIC_RUN_ID", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT"],
    },
    Launcher {
        rank: "OMPI_COMM_WORLD_RANK",
        size: "OMPI_COMM_WORLD_SIZE",
        local_size: "OMPI_COMM_WORLD_LOCAL_SIZE",
        job: &["PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"],
    },
    Launcher { rank: "PMI_RANK", size: "PMI_SIZE", local_size: "MPI_LOCALNRANKS", job: &["PMI_JOBID"] },
    Launcher {
        rank: "SLURM_PROCID",
        size: "SLURM_STEP_NUM_TASKS",
        local_size: "SLURM_STEP_TASKS_PER_NODE",
        job: &["SLURM_JOB_ID", "SLURM_STEP_ID"],
    },
];

/// This process's place in a job of several, as its launcher's variables and `PARTITA_ADDRESS` and
/// `PARTITA_SECRET` say; `None` for a process that was started alone.
///
/// # Errors
/// In words: ranks on several machines without an address and a secret.
pub fn launched(lookup: impl Fn(&str) -> Option<String>) -> std::result::Result<Option<Launch>, String> {
    let number = |name: &str| lookup(name).and_then(|text| text.trim().parse::<usize>().ok());
    let known = LAUNCHERS.iter().find_map(|launcher| {
        let (rank, size) = (number(launcher.rank)?, number(launcher.size)?);
        (size > 1 && rank < size).then_some((launcher, rank, size))
    });
    let Some((launcher, rank, size)) = known else { return Ok(None) };
    let rendezvous = match lookup("PARTITA_ADDRESS") {
        Some(address) => Rendezvous::at(&address, &lookup("PARTITA_SECRET").unwrap_or_default()),
        None if number(launcher.local_size) == Some(size) => {
            Rendezvous::File(file_of_job(launcher, size, &lookup)?)
        }
        None => {
            return Err(format!(
                "{} is {size} and {} does not say that all of them are on this machine",
                launcher.size, launcher.local_size
            ));
        }
    };
    Ok(Some(Launch { rank, size, rendezvous }))
}

/// The file of a job on this machine: its name follows from what the launcher calls the job, or from the
/// launcher's process.
fn file_of_job(
    launcher: &Launcher,
    size: usize,
    lookup: &impl Fn(&str) -> Option<String>,
) -> std::result::Result<PathBuf, String> {
    let mut job: Vec<String> = launcher.job.iter().filter_map(|name| lookup(name)).collect();
    if job.is_empty() {
        job.push(private::parent_process().to_string());
    }
    job.extend([launcher.size.to_owned(), size.to_string()]);
    let name = format!("job-{:016x}", crate::wire::hash(&job));
    let runtime = lookup("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_dir());
    let folder = private::folder(&runtime.unwrap_or_else(std::env::temp_dir));
    folder.map(|folder| folder.join(name)).map_err(|error| error.to_string())
}

/// Listens on this machine and writes into the file where, and a new secret.
pub(super) fn publish(path: &Path) -> Result<(TcpListener, Vec<u8>)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let secret: String = random()?.iter().map(|byte| format!("{byte:02x}")).collect();
    let draft = path.with_extension(std::process::id().to_string());
    // What an ended process of that number left.
    let _ = fs::remove_file(&draft);
    private::create(&draft)?.write_all(format!("{}\n{secret}\n", listener.local_addr()?).as_bytes())?;
    fs::rename(&draft, path)?;
    Ok((listener, secret.into_bytes()))
}

/// What rank 0 wrote.
pub(super) fn published(path: &Path) -> Result<(String, Vec<u8>)> {
    private::check(path)?;
    let mut text = String::new();
    fs::File::open(path)?.read_to_string(&mut text)?;
    let mut lines = text.lines().map(str::to_owned);
    match (lines.next(), lines.next()) {
        (Some(address), Some(secret)) => Ok((address, secret.into_bytes())),
        _ => Err(Error::new(ErrorKind::InvalidData, format!("{}: no address and secret", path.display()))),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> std::result::Result<Option<Launch>, String> {
        launched(|name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn launchers_are_known_by_their_variables() {
        assert_eq!(of(&[]), Ok(None));
        assert_eq!(of(&[("RANK", "0"), ("WORLD_SIZE", "1"), ("LOCAL_WORLD_SIZE", "1")]), Ok(None));
        // A batch script of SLURM is no rank.
        assert_eq!(of(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")]), Ok(None));
        for (rank, size, local) in [
            ("RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"),
            ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"),
            ("PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"),
            ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE"),
        ] {
            let launch = of(&[(rank, "2"), (size, "3"), (local, "3")]).unwrap().unwrap();
            assert!((launch.rank, launch.size) == (2, 3) && matches!(launch.rendezvous, Rendezvous::File(_)));
            assert!(of(&[(rank, "2"), (size, "3"), (local, "1")]).unwrap_err().contains(size));
            let far = [(rank, "2"), (size, "3"), ("PARTITA_ADDRESS", "node1:4000"), ("PARTITA_SECRET", "x")];
            assert_eq!(of(&far).unwrap().unwrap().rendezvous, Rendezvous::at("node1:4000", "x"));
        }
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let folder = std::env::temp_dir().join(format!("partita-launch-test-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("job");
        let (listener, secret) = publish(&path).unwrap();
        assert_eq!(published(&path).unwrap(), (listener.local_addr().unwrap().to_string(), secret));
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        assert_eq!(published(&path).unwrap_err().kind(), ErrorKind::PermissionDenied);
        fs::remove_dir_all(&folder).unwrap();
    }
}
