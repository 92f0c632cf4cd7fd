//! The part of the tests that runs in several processes: programs and faults on each MPI, and the tsunami.

use super::Run;
use super::smoke::TSUNAMI;
use crate::exec::{End, show};
use crate::mpi::{Mpi, PROCESSES, cuda, faults};
use crate::simulated::built;
use crate::tally::Tally;
use std::process::Command;

impl Run<'_> {
    /// The tests of several processes, whose counts join `lines`, and the tsunami on several.
    pub(super) fn mpi(&self, lines: &mut Vec<String>) -> Tally {
        if self.options.may_miss("mpi") {
            return Tally::skipped("mpi", "--allow-missing mpi");
        }
        println!("\n-- programs of several processes");
        lines.push("     Running mpi (engine/tests/mpi.rs)".to_owned());
        let mut tally = self.mpi_on(&Mpi::open_mpi(), PROCESSES, 5, lines);
        tally.add(match Mpi::open_mpi().build(self.cargo(&[])) {
            Ok(program) => Mpi::open_mpi().misfits(&program, lines),
            Err(reason) => Tally::failed(format!("programs in which one rank does something else: {reason}")),
        });
        if !self.options.may_miss("cuda") {
            tally.add(match Mpi::open_mpi().build(self.cargo(&[])) {
                Ok(program) => cuda::programs(self.root, &program, lines),
                Err(reason) => Tally::failed(format!("messages of CUDA memory: {reason}")),
            });
        }
        lines.push("     Running mpich (engine/tests/mpi.rs)".to_owned());
        tally.add(self.mpi_on(&Mpi::mpich(self.root), &[2, 8], 13, lines));
        tally.add(self.tsunami_on_ranks());
        tally
    }

    /// The programs on some numbers of ranks, and faults on three ranks at every so many points; `cargo xtask
    /// soak` has all of both.
    fn mpi_on(&self, mpi: &Mpi, sizes: &[usize], step: usize, lines: &mut Vec<String>) -> Tally {
        let job = mpi.build(self.cargo(&[])).and_then(|program| Ok((program, faults::points(self.root)?)));
        match job {
            Ok((program, points)) => {
                let mut tally = mpi.programs(&program, sizes, lines);
                let some: Vec<String> = points.into_iter().step_by(step).collect();
                tally.add(faults::matrix(mpi, &program, &[3], &some, lines));
                tally
            }
            Err(reason) => Tally::failed(format!("{}: {reason}", mpi.name)),
        }
    }

    /// Three ranks with two parts each compute the surface that one process does with one part.
    fn tsunami_on_ranks(&self) -> Tally {
        println!("\n-- the tsunami on 3 ranks with 2 parts each");
        let program = built(self.root, TSUNAMI);
        let surface = |command: Command, parts: &str| {
            let dump = self.scratch.join(format!("surface-{parts}.npy"));
            let mut command = command;
            command.current_dir(self.root);
            command.args(["--device", "host", "--scale", "1", "--steps", "60", "--frames", "0"]);
            command.args(["--parts", parts, "--dump"]).arg(&dump);
            let end = show(command).end;
            (end, std::fs::read(&dump).unwrap_or_default())
        };
        let (one, expected) = surface(Command::new(&program), "1");
        let (many, given) = surface(Mpi::open_mpi().job(3, &program, &[]), "2");
        if one != End::Success || many != End::Success || expected.is_empty() || expected != given {
            return Tally::failed(format!("tsunami on 3 ranks: {many}, and {one} alone; other bits or none"));
        }
        Tally::passed()
    }
}
