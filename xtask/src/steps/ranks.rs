//! The part of the tests that runs in several processes: programs and faults on each MPI.

use super::Run;
use crate::mpi::{Mpi, PROCESSES, cuda, faults};
use crate::tally::Tally;

impl Run<'_> {
    /// The tests of several processes, whose counts join `lines`.
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
}
