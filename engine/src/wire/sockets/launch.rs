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
use crate::config::SettingError;
use crate::error::{self, Result as OurResult};

/// One rank of a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// This rank, below `size`.
    pub rank: usize,
    /// The number of ranks.
    pub size: usize,
    /// The place where the ranks find each other.
    pub rendezvous: Rendezvous,
}

/// The place where the ranks of a job find each other.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rendezvous {
    /// A file that rank 0 writes and removes. Its folder must belong to the user alone.
    File(PathBuf),
    /// The address of rank 0, `HOST:PORT`, and a secret that all ranks know. Without one only loopback
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

/// A job has no more ranks: each rank has a connection to every other one.
pub const MOST_RANKS: usize = 1 << 16;

/// This process's place in a job of several, as its launcher's variables and `PARTITA_ADDRESS` and
/// `PARTITA_SECRET` say; `None` for a process that was started alone.
///
/// A launcher sets two variables, rank and size. One of them alone is left out where another launcher sets
/// both, and where it does not say that there are several processes: batch systems and other programs use
/// such names.
///
/// # Errors
/// Variables that cannot be read or contradict each other; ranks on several machines without an address and a
/// secret.
pub fn launched(lookup: impl Fn(&str) -> Option<String>) -> OurResult<Option<Launch>> {
    let lookup = |name: &str| lookup(name).filter(|text| !text.trim().is_empty());
    let places = LAUNCHERS.iter().map(|launcher| launcher.place(&lookup));
    let known = places.collect::<std::result::Result<Vec<Place>, SettingError>>()?;
    let whole = LAUNCHERS.iter().zip(&known).find_map(|(launcher, place)| match place {
        Place::Rank(rank, size) if *size > 1 => Some((launcher, *rank, *size)),
        _ => None,
    });
    let Some((launcher, rank, size)) = whole else {
        let half = known.into_iter().find_map(|place| match place {
            Place::Half(error) => Some(Err(error.into())),
            _ => None,
        });
        return half.unwrap_or(Ok(None));
    };
    let rendezvous = match lookup("PARTITA_ADDRESS") {
        Some(address) => Rendezvous::at(&address, &lookup("PARTITA_SECRET").unwrap_or_default()),
        None if whole_number(lookup(launcher.local_size)) == Some(size) => {
            Rendezvous::File(file_of_job(launcher, size, &lookup)?)
        }
        None => {
            let expected =
                "all ranks on one machine, or PARTITA_ADDRESS=HOST:PORT of rank 0 and PARTITA_SECRET";
            let given = format!(
                "{} is {size} and {} does not say that all of them are on this machine",
                launcher.size, launcher.local_size
            );
            let remedy = "set both for all ranks, or call Team.connect with rank, size, address and secret";
            return Err(error::Error::invalid("Team::world", expected, given, remedy));
        }
    };
    Ok(Some(Launch { rank, size, rendezvous }))
}

fn whole_number(text: Option<String>) -> Option<usize> {
    text?.trim().parse().ok()
}

/// The place of this process in a job, by a launcher's variables.
enum Place {
    Alone,
    /// A rank, and the number of ranks.
    Rank(usize, usize),
    /// One variable says that there are several processes, the other one is not set.
    Half(SettingError),
}

impl Launcher {
    fn place(&self, lookup: &impl Fn(&str) -> Option<String>) -> std::result::Result<Place, SettingError> {
        let refused = |variable: &str, expected: String, given: String| SettingError {
            variable: variable.to_owned(),
            expected,
            given,
            remedy: format!("correct it, or unset {} and {} to run alone", self.rank, self.size),
        };
        let text = (lookup(self.rank), lookup(self.size));
        let number = (whole_number(text.0.clone()), whole_number(text.1.clone()));
        let (rank, size) = match (text, number) {
            ((None, Some(_)), (_, Some(2..))) => {
                let expected = format!("a rank beside {}", self.size);
                return Ok(Place::Half(refused(self.rank, expected, "none".to_owned())));
            }
            ((Some(_), None), (Some(1..), _)) => {
                let expected = format!("the number of ranks beside {}", self.rank);
                return Ok(Place::Half(refused(self.size, expected, "none".to_owned())));
            }
            // Names that other programs use, too.
            ((None, _) | (_, None), _) => return Ok(Place::Alone),
            ((Some(rank), Some(size)), _) => (rank, size),
        };
        let Some(count) = number.1.filter(|count| (1..=MOST_RANKS).contains(count)) else {
            return Err(refused(
                self.size,
                format!("a whole number from 1 to {MOST_RANKS}"),
                format!("`{size}`"),
            ));
        };
        match number.0.filter(|rank| *rank < count) {
            Some(rank) => Ok(Place::Rank(rank, count)),
            None => {
                let expected = format!("a whole number below {} ({count})", self.size);
                Err(refused(self.rank, expected, format!("`{rank}`")))
            }
        }
    }
}

/// The file of a job on this machine: its name follows from what the launcher calls the job, or from the
/// launcher's process.
fn file_of_job(
    launcher: &Launcher,
    size: usize,
    lookup: &impl Fn(&str) -> Option<String>,
) -> std::result::Result<PathBuf, SettingError> {
    let mut job: Vec<String> = launcher.job.iter().filter_map(|name| lookup(name)).collect();
    if job.is_empty() {
        job.push(private::parent_process().to_string());
    }
    job.extend([launcher.size.to_owned(), size.to_string()]);
    let name = format!("job-{:016x}", crate::wire::hash(&job));
    let runtime = lookup("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_dir());
    let variable = if runtime.is_some() { "XDG_RUNTIME_DIR" } else { "TMPDIR" };
    let within = runtime.unwrap_or_else(std::env::temp_dir);
    let folder = private::folder(&within).map_err(|error| SettingError {
        variable: variable.to_owned(),
        expected: "a folder in which this user may make one, where ranks find each other".to_owned(),
        given: format!("`{}` ({error})", within.display()),
        remedy: "make it, unset the variable, or set PARTITA_ADDRESS".to_owned(),
    })?;
    Ok(folder.join(name))
}

/// Listens on this machine and writes into the file where, and a new secret.
pub(super) fn publish(path: &Path) -> Result<(TcpListener, Vec<u8>)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let secret: String = random()?.iter().map(|byte| format!("{byte:02x}")).collect();
    let draft = path.with_extension(std::process::id().to_string());
    // A file that an ended process of that number left.
    let _ = fs::remove_file(&draft);
    private::create(&draft)?.write_all(format!("{}\n{secret}\n", listener.local_addr()?).as_bytes())?;
    fs::rename(&draft, path)?;
    Ok((listener, secret.into_bytes()))
}

/// The address and secret that rank 0 wrote.
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

    #[test]
    fn a_folder_for_temporary_files_that_is_not_there_is_not_made() {
        let there = std::env::temp_dir().join(format!("partita-no-folder-{}", std::process::id()));
        assert_eq!(private::folder(&there).unwrap_err().kind(), ErrorKind::NotFound);
        assert!(!there.exists());
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
