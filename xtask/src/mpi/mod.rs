//! Programs of several processes, on each MPI there is: how they are built and started, and the tests that
//! run on every number of ranks. It does not know what the programs compute; how jobs fail is in
//! [`faults`].

pub mod cuda;
pub mod faults;

use crate::exec::{End, SILENCE, check, run, show};
use crate::tally::Tally;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Numbers of processes that programs are compared on.
pub const PROCESSES: &[usize] = &[1, 2, 3, 4, 5, 7, 8];

/// An implementation of MPI: its compiler and its launcher.
pub struct Mpi {
    pub name: &'static str,
    /// The folder of its installation; the system's has none.
    folder: Option<PathBuf>,
    /// Arguments that keep the other ranks alive when one has failed.
    pub lenient: &'static [&'static str],
    /// Whether that holds when one was killed, too.
    pub lenient_to_kills: bool,
    /// Arguments that start more ranks than there are cores.
    crowded: &'static [&'static str],
}

impl Mpi {
    /// The system's.
    pub fn open_mpi() -> Mpi {
        let lenient = &["--mca", "orte_abort_on_non_zero_status", "0", "--enable-recovery"];
        Mpi { name: "Open MPI", folder: None, lenient, lenient_to_kills: true, crowded: &["--oversubscribe"] }
    }

    /// An Open MPI in a folder of its own.
    pub fn open_mpi_in(folder: PathBuf) -> Mpi {
        Mpi { folder: Some(folder), ..Mpi::open_mpi() }
    }

    /// The one from PyPI. It has its own folder, because mpi4py would load it otherwise.
    pub fn mpich(root: &Path) -> Mpi {
        let folder = Some(root.join(".venv/mpich"));
        Mpi {
            name: "MPICH",
            folder,
            lenient: &["-disable-auto-cleanup"],
            lenient_to_kills: false,
            crowded: &[],
        }
    }

    /// Whether programs can be built with it and started.
    pub fn is_installed(&self) -> bool {
        let answers = |program| Command::new(program).arg("--version").output();
        ["mpiexec", "mpicc"].iter().all(|name| answers(self.tool(name)).is_ok_and(|o| o.status.success()))
    }

    fn tool(&self, name: &str) -> PathBuf {
        self.folder.as_ref().map_or_else(|| name.into(), |folder| folder.join("bin").join(name))
    }

    /// A job of so many processes; names it takes from its environment come first.
    pub fn job(&self, processes: usize, program: &Path, options: &[&str]) -> Command {
        let mut command = Command::new(self.tool("mpiexec"));
        command.args(self.crowded).args(options).args(["-n", &processes.to_string()]).arg(program);
        // Containers run as root; the ranks share the machine's cores.
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        command.env("PARTITA_THREADS", "1").env("RUST_BACKTRACE", "0");
        if let Some(folder) = &self.folder {
            command.env("LD_LIBRARY_PATH", folder.join("lib"));
        }
        command
    }

    /// Builds the test program; where it is.
    pub fn build(&self, mut cargo: Command) -> Result<PathBuf, String> {
        cargo.args(["test", "--workspace"]).args(WITH_MPI).args(["--test", "mpi", "--no-run"]);
        if self.folder.is_some() {
            // Cargo does not see that the compiler is another. With a setting of its own for the bindings,
            // what is built on them stands beside what is built for the system's library, and the rest is
            // shared.
            cargo.args(["--config", "profile.dev.package.mpi-sys.opt-level=2"]);
            cargo.env("MPICC", self.tool("mpicc"));
        }
        let root = cargo.get_current_dir().map(PathBuf::from).unwrap_or_default();
        let outcome = show(cargo);
        let named = outcome.lines.iter().rev().find_map(|line| {
            let (_, path) = line.split_once("Executable")?.1.split_once('(')?;
            Some(root.join(path.trim().trim_end_matches(')')))
        });
        match (outcome.end, named) {
            (End::Success, Some(path)) => Ok(path),
            (End::Success, None) => Err("cargo names no test program".to_owned()),
            (end, _) => Err(end.to_string()),
        }
    }

    /// The programs, on these numbers of processes and with messages split into pieces of 7 bytes; what they
    /// print joins `lines`.
    pub fn programs(&self, program: &Path, sizes: &[usize], lines: &mut Vec<String>) -> Tally {
        let mut tally = Tally::default();
        let whole = sizes.iter().map(|&n| (n, None));
        for (processes, most) in whole.chain([(3, Some("7"))]) {
            for what in ["programs", "ranks", "communicators", "threads"] {
                let mut command = self.job(processes, program, &[]);
                command.arg(what);
                if let Some(most) = most {
                    command.env("PARTITA_MPI_MAX_BYTES", most);
                }
                let name = format!("{}: mpiexec -n {processes} {what}", self.name);
                println!("\n-- {name}{}", most.map_or("", |_| ", messages of 7 bytes"));
                tally.add(check(&name, command, lines));
            }
        }
        tally
    }
}

/// Programs in which one of three ranks does something else, with the number of ranks that must notice.
const MISFITS: &[(&str, usize)] = &[("ends", 2), ("numbers", 3)];

impl Mpi {
    /// Programs in which a rank does something else; what they print joins `lines`.
    pub fn misfits(&self, program: &Path, lines: &mut Vec<String>) -> Tally {
        let one = |(what, ranks): &(&str, usize)| {
            let mut command = self.job(3, program, self.lenient);
            command.arg(what);
            let name = format!("{}: mpiexec -n 3 {what}", self.name);
            println!("\n-- {name}, in which one rank does something else");
            let outcome = run(&mut command, SILENCE, |_| {});
            let noticed =
                outcome.lines.iter().filter(|line| line.contains(&format!("ran: mpi-{what} 1"))).count();
            lines.extend(outcome.lines.iter().filter(|line| line.starts_with("ran: ")).cloned());
            match noticed == *ranks {
                true => Tally::passed(),
                false => {
                    outcome.lines.iter().for_each(|line| println!("{line}"));
                    Tally::failed(format!("{name}: {noticed} of {ranks} ranks noticed"))
                }
            }
        };
        MISFITS.iter().map(one).collect()
    }
}

/// Options of cargo for programs of several processes.
pub const WITH_MPI: &[&str] = &["--features", "partita/mpi"];
