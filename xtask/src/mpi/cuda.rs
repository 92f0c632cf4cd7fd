//! Messages of CUDA memory between processes: the jobs that carry them in every way over the simulated
//! driver, on the system's Open MPI and on one that takes device pointers (`cuda_aware.sh` builds it).

use crate::exec::{End, check, show};
use crate::mpi::Mpi;
use crate::simulated::Driver;
use crate::tally::Tally;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Which MPI library a job runs on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Library {
    /// The installed one, which takes no device pointers.
    Plain,
    /// The same behind `engine/tests/cuda_aware.c`, which does.
    Pretended,
    /// The one that [`build`] makes.
    Aware,
}

/// One job, and the words with which its ranks must say how their messages travel.
struct Job {
    program: &'static str,
    library: Library,
    processes: usize,
    settings: Settings,
    words: &'static str,
}
type Settings = &'static [(&'static str, &'static str)];

const NO_IPC: (&str, &str) = ("PARTITA_CUDA_IPC", "0");
const DENY: (&str, &str) = ("PARTITA_TEST_MPI", "deny");

const FEWER_BYTES: (&str, &str) = ("PARTITA_MPI_MAX_BYTES", "999");
const ON: (&str, &str) = ("PARTITA_CUDA_AWARE_MPI", "1");
const OFF: (&str, &str) = ("PARTITA_CUDA_AWARE_MPI", "0");
const REFUSE: (&str, &str) = ("PARTITA_TEST_MPI", "refuse");
const GARBLE: (&str, &str) = ("PARTITA_TEST_MPI", "garble");
const DENIED: &str = "staged: rank 0: the library says that it takes no device pointers";
const WRONG: &str = "staged: rank 0: 1024 bytes of device memory came wrong";

const fn job(library: Library, processes: usize, settings: Settings, words: &'static str) -> Job {
    Job { program: "cuda", library, processes, settings, words }
}

const JOBS: &[Job] = &[
    job(Library::Plain, 3, &[], "CUDA IPC between 6 pairs"),
    job(Library::Plain, 2, &[NO_IPC], DENIED),
    // A library that takes device pointers without saying so gets them only if the user forces it.
    job(Library::Pretended, 2, &[NO_IPC, DENY], DENIED),
    job(Library::Pretended, 2, &[NO_IPC, DENY, ON], "device pointers"),
    job(Library::Pretended, 3, &[NO_IPC], "device pointers"),
    job(Library::Pretended, 2, &[NO_IPC, FEWER_BYTES], "device pointers"),
    job(Library::Pretended, 2, &[NO_IPC, OFF], "staged: rank 0: PARTITA_CUDA_AWARE_MPI=0"),
    job(Library::Pretended, 2, &[NO_IPC, REFUSE], "staged: rank 0: MPI error"),
    job(Library::Pretended, 2, &[NO_IPC, GARBLE], WRONG),
    Job { program: "waits", ..job(Library::Pretended, 9, &[NO_IPC], "") },
    job(Library::Aware, 2, &[NO_IPC], "device pointers"),
    job(Library::Aware, 3, &[NO_IPC], "device pointers"),
];

/// The folder into which [`build`] puts the library and its launcher.
pub fn prefix(root: &Path) -> PathBuf {
    root.join("target/cuda-aware-mpi")
}

/// Runs every job on simulated devices; what they print joins `lines`.
pub fn programs(root: &Path, program: &Path, lines: &mut Vec<String>) -> Tally {
    let pretender = root.join("target/cuda_aware.so");
    let mut compile = Command::new("mpicc");
    compile.args(["-shared", "-fPIC", "-Wall", "-Werror", "-o"]).arg(&pretender);
    compile.arg(root.join("engine/tests/cuda_aware.c")).arg("-ldl");
    let compiled = show(compile).end;
    if compiled != End::Success {
        return Tally::failed(format!("an MPI that takes device pointers: mpicc {compiled}"));
    }
    let mut tally = Tally::default();
    for job in JOBS {
        if job.library == Library::Aware && !prefix(root).join("bin/mpirun").exists() {
            let skipped = "skipped: cuda-aware-mpi (not built; `cargo xtask cuda-aware-mpi` builds it)";
            lines.push(skipped.to_owned());
            continue;
        }
        let name = job.name();
        println!("\n-- {name}");
        tally.add(check(&name, job.command(root, &pretender, program), lines));
    }
    tally
}

impl Job {
    fn name(&self) -> String {
        let library = match self.library {
            Library::Plain => "",
            Library::Pretended => ", behind one that takes device pointers",
            Library::Aware => ", of the Open MPI built for CUDA",
        };
        let settings = self.settings.iter().map(|(name, value)| format!(" {name}={value}"));
        let Job { processes, program, .. } = self;
        format!("mpiexec -n {processes} {program}{library}{}", settings.collect::<String>())
    }

    fn command(&self, root: &Path, pretender: &Path, program: &Path) -> Command {
        let mpi = match self.library {
            Library::Plain | Library::Pretended => Mpi::open_mpi(),
            Library::Aware => Mpi::open_mpi_in(prefix(root)),
        };
        let mut command = mpi.job(self.processes, program, &[]);
        command.args([self.program, self.words]).envs(self.settings.iter().copied());
        Driver::of(root).for_command(&mut command, 2);
        match self.library {
            Library::Plain => {}
            Library::Pretended => drop(command.env("LD_PRELOAD", pretender)),
            Library::Aware => {
                let folders = [Driver::of(root).folder().to_owned(), prefix(root).join("lib")];
                let path = std::env::join_paths(folders).unwrap_or_default();
                command.env("LD_LIBRARY_PATH", path).env("OPAL_PREFIX", prefix(root));
            }
        }
        command
    }
}

/// `cargo xtask cuda-aware-mpi`.
pub fn build(root: &Path) -> ExitCode {
    let mut script = Command::new("sh");
    script.arg(root.join("xtask/src/mpi/cuda_aware.sh"));
    script.args([prefix(root), root.join("target/cuda-aware-mpi-build")]);
    match show(script).end {
        End::Success => ExitCode::SUCCESS,
        end => {
            eprintln!("xtask: cuda-aware-mpi: {end}");
            ExitCode::FAILURE
        }
    }
}
