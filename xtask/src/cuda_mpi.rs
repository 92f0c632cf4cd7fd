//! Messages of CUDA memory between processes: an Open MPI that takes device pointers, built from Debian's
//! source, and the jobs that carry such messages in every way over the simulated driver. It does not know
//! what the programs compute.

use crate::exec::{End, Outcome, SILENCE, run};
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
    library: Library,
    processes: usize,
    settings: &'static [(&'static str, &'static str)],
    words: &'static str,
}

const NO_IPC: (&str, &str) = ("PARTITA_CUDA_IPC", "0");
const DENY: (&str, &str) = ("PARTITA_TEST_MPI", "deny");

const JOBS: &[Job] = &[
    Job { library: Library::Plain, processes: 3, settings: &[], words: "CUDA IPC between 6 pairs" },
    Job {
        library: Library::Plain,
        processes: 2,
        settings: &[NO_IPC],
        words: "staged: rank 0: the library says that it takes no device pointers",
    },
    // A library that takes device pointers without saying so gets them only if the user forces it.
    Job {
        library: Library::Pretended,
        processes: 2,
        settings: &[NO_IPC, DENY],
        words: "staged: rank 0: the library says that it takes no device pointers",
    },
    Job {
        library: Library::Pretended,
        processes: 2,
        settings: &[NO_IPC, DENY, ("PARTITA_CUDA_AWARE_MPI", "1")],
        words: "device pointers",
    },
    Job { library: Library::Pretended, processes: 3, settings: &[NO_IPC], words: "device pointers" },
    Job {
        library: Library::Pretended,
        processes: 2,
        settings: &[NO_IPC, ("PARTITA_MPI_MAX_BYTES", "999")],
        words: "device pointers",
    },
    Job {
        library: Library::Pretended,
        processes: 2,
        settings: &[NO_IPC, ("PARTITA_CUDA_AWARE_MPI", "0")],
        words: "staged: rank 0: PARTITA_CUDA_AWARE_MPI=0",
    },
    Job {
        library: Library::Pretended,
        processes: 2,
        settings: &[NO_IPC, ("PARTITA_TEST_MPI", "refuse")],
        words: "staged: rank 0: MPI error",
    },
    Job {
        library: Library::Pretended,
        processes: 2,
        settings: &[NO_IPC, ("PARTITA_TEST_MPI", "garble")],
        words: "staged: rank 0: 1024 bytes of device memory came wrong",
    },
    Job { library: Library::Aware, processes: 2, settings: &[NO_IPC], words: "device pointers" },
    Job { library: Library::Aware, processes: 3, settings: &[NO_IPC], words: "device pointers" },
];

/// Where [`build`] puts the library and its launcher.
pub fn prefix(root: &Path) -> PathBuf {
    root.join("target/cuda-aware-mpi")
}

/// Runs every job on simulated devices; what they print joins `lines`.
pub fn programs(root: &Path, program: &Path, lines: &mut Vec<String>) -> Tally {
    let pretender = root.join("target/cuda_aware.so");
    let mut compile = Command::new("mpicc");
    compile.args(["-shared", "-fPIC", "-Wall", "-Werror", "-o"]).arg(&pretender);
    compile.arg(root.join("engine/tests/cuda_aware.c")).arg("-ldl");
    let compiled = run(compile, SILENCE, |line| println!("{line}")).end;
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
        let outcome = run(job.command(root, &pretender, program), SILENCE, |line| println!("{line}"));
        tally.add(match outcome.end {
            End::Success => Tally::passed(),
            end => Tally::failed(format!("{name}: {end}")),
        });
        lines.extend(outcome.lines);
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
        format!("mpiexec -n {} cuda{library}{}", self.processes, settings.collect::<String>())
    }

    fn command(&self, root: &Path, pretender: &Path, program: &Path) -> Command {
        let mpi = match self.library {
            Library::Plain | Library::Pretended => Mpi::open_mpi(),
            Library::Aware => Mpi::open_mpi_in(prefix(root)),
        };
        let mut command = mpi.job(self.processes, program, &[]);
        command.args(["cuda", self.words]).envs(self.settings.iter().copied());
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

/// What Open MPI is configured without: nothing that a test on one machine asks for.
const WITHOUT: &[&str] = &[
    "--disable-mpi-fortran",
    "--disable-oshmem",
    "--disable-mpi-java",
    "--disable-io-romio",
    "--disable-libompitrace",
    "--disable-static",
    "--disable-dependency-tracking",
    "--without-verbs",
    "--without-ofi",
    "--without-ucx",
    "--without-psm2",
    "--without-portals4",
    "--without-slurm",
    "--without-lsf",
    "--without-tm",
    "--without-sge",
    "--without-alps",
    "--without-ugni",
    "--without-knem",
    "--enable-mca-no-build=pml-monitoring,common-monitoring,io-ompio,common-ompio,fbtl,fcoll,fs,sharedfp,\
     vprotocol,osc-pt2pt,btl-usnic,mtl,topo-treematch,coll-monitoring,osc-monitoring,coll-hcoll,coll-sync,\
     crs,snapc,sstore",
    // Components are part of the libraries; a list of none would turn off the loading of libcuda too.
    "--enable-mca-dso=coll-demo",
    "--with-hwloc=internal",
    "--with-libevent=internal",
    "--with-pmix=internal",
    "CFLAGS=-O1 -g0",
];

/// `cargo xtask cuda-aware-mpi`.
pub fn build(root: &Path) -> ExitCode {
    match make(root) {
        Ok(()) => {
            println!("{} takes device pointers", prefix(root).display());
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("xtask: cuda-aware-mpi: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn make(root: &Path) -> Result<(), String> {
    let work = root.join("target/cuda-aware-mpi-build");
    let _ = std::fs::remove_dir_all(&work);
    std::fs::create_dir_all(work.join("lists/partial")).map_err(|error| error.to_string())?;
    let source = source(&work)?;
    let cuda = headers(&work)?;
    let here = |program: &str| {
        let mut command = Command::new("nice");
        command.arg(program).current_dir(&source);
        command
    };
    let mut configure = here("./configure");
    configure.args(WITHOUT).arg(format!("--prefix={}", prefix(root).display()));
    step("configure", configure.arg(format!("--with-cuda={}", cuda.display())))?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    step(
        "make, which takes about a quarter of an hour on 2 cores",
        here("make").args(["-s", "-j"]).arg(cores.to_string()),
    )?;
    step("make install", here("make").args(["-s", "install"]))?;
    let mut ask = Command::new(prefix(root).join("bin/ompi_info"));
    ask.args(["--parsable", "--all"]).env("OPAL_PREFIX", prefix(root));
    let answer = run(ask, SILENCE, |_| {}).lines;
    if !answer.iter().any(|line| line.ends_with("mpi_built_with_cuda_support:value:true")) {
        return Err("ompi_info does not say that it was built with CUDA".to_owned());
    }
    std::fs::remove_dir_all(&work).map_err(|error| error.to_string())
}

/// Debian's source of the Open MPI that it ships, unpacked; the system's lists of packages are left alone.
fn source(work: &Path) -> Result<PathBuf, String> {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let name = name.ok_or("this is no Debian: /etc/os-release has no VERSION_CODENAME")?;
    let list = work.join("sources.list");
    let line = format!("deb-src http://deb.debian.org/debian {name} main\n");
    std::fs::write(&list, line).map_err(|error| error.to_string())?;
    let apt = || {
        let mut apt = Command::new("apt-get");
        apt.current_dir(work).args(["-q", "-o", "Dir::Etc::sourceparts=-"]);
        apt.arg("-o").arg(format!("Dir::Etc::sourcelist={}", list.display()));
        apt.arg("-o").arg(format!("Dir::State::lists={}", work.join("lists").display()));
        apt
    };
    step("apt-get update", apt().arg("update"))?;
    step("apt-get source openmpi", apt().args(["source", "--download-only", "openmpi"]))?;
    let original = found(work, |name| name.starts_with("openmpi_") && name.contains(".orig.tar."))?;
    step("tar", Command::new("tar").current_dir(work).arg("-xf").arg(original))?;
    found(work, |name| name.starts_with("openmpi-"))
}

/// The folder above the `include` that has `cuda.h`.
fn headers(work: &Path) -> Result<PathBuf, String> {
    let python = || {
        let mut python = Command::new("python3");
        python.current_dir(work).arg("-m");
        python
    };
    let wheel = ["pip", "download", "--quiet", "--no-deps", "nvidia-cuda-runtime"];
    step("pip download nvidia-cuda-runtime", python().args(wheel))?;
    let wheel = found(work, |name| name.ends_with(".whl"))?;
    step("unpack it", python().args(["zipfile", "-e"]).arg(wheel).arg("cuda"))?;
    let folder = found(&work.join("cuda/nvidia"), |name| name.starts_with("cu"))?;
    match folder.join("include/cuda.h").exists() {
        true => Ok(folder),
        false => Err(format!("{} has no include/cuda.h", folder.display())),
    }
}

/// The one entry of a folder whose name is right.
fn found(folder: &Path, is_it: impl Fn(&str) -> bool) -> Result<PathBuf, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths = entries.flatten().filter(|entry| is_it(&entry.file_name().to_string_lossy()));
    paths.next().map(|entry| entry.path()).ok_or(format!("{} lacks what was fetched", folder.display()))
}

/// Runs a command; of one that fails the last lines are shown.
fn step(name: &str, command: &mut Command) -> Result<(), String> {
    println!("-- {name}");
    let owned = std::mem::replace(command, Command::new(""));
    let Outcome { end, lines } = run(owned, SILENCE, |_| {});
    match end {
        End::Success => Ok(()),
        end => Err(format!("{name}: {end}\n{}", lines[lines.len().saturating_sub(15)..].join("\n"))),
    }
}
