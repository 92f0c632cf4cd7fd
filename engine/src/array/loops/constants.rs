//! Checks that the constants in the kernels of the recorded steps agree. A replay repeats the recorded
//! constants, so a number that differs between two recorded steps is an error.

use std::collections::HashMap;

use partita_kernels::{Access, Kernel, Op, Scalar};

use crate::array::loops::cycle::Signature;
use crate::error::{Error, Result};
use crate::program::Command;

/// The numbers that steps computed with, by kernel. Kernels that differ in their numbers alone are one.
#[derive(Default)]
pub(crate) struct Constants(HashMap<Kernel, Vec<Used>>);

/// What one step computed with one kernel.
struct Used {
    step: u64,
    /// Numbers in the order of the body; each list once, in the order of the launches.
    numbers: Vec<Vec<Scalar>>,
    /// The memory that is written with each list.
    written: Vec<Vec<u64>>,
}

impl Constants {
    /// Compares the commands of a step with those of the steps before. `state` is where the arrays of the
    /// state are after it.
    ///
    /// # Errors
    /// A number that differs.
    pub fn compare(&mut self, step: u64, commands: &[Command], state: &Signature) -> Result<()> {
        let mut found: HashMap<Kernel, Used> = HashMap::new();
        for job in commands.iter().flat_map(|command| command.op.jobs()) {
            let Some((kernel, numbers)) = split(job.program.kernel().kernel()) else { continue };
            let used = found.entry(kernel).or_insert_with(|| Used {
                step,
                numbers: Vec::new(),
                written: Vec::new(),
            });
            if !used.numbers.contains(&numbers) {
                let memory = job.memory.iter().zip(&job.program.kernel().kernel().params);
                let written = memory.filter(|(_, param)| param.access != Access::In);
                used.written.push(written.map(|(memory, _)| memory.id).collect());
                used.numbers.push(numbers);
            }
        }
        for (kernel, used) in found {
            let known = self.0.entry(kernel.clone()).or_default();
            // As many lists: otherwise one of the two steps did something more with this kernel.
            match known.iter().find(|before| before.numbers.len() == used.numbers.len()) {
                None => known.push(used),
                Some(before) => used.like(before, &kernel, state)?,
            }
        }
        Ok(())
    }
}

impl Used {
    fn like(&self, before: &Used, kernel: &Kernel, state: &Signature) -> Result<()> {
        for ((now, then), written) in self.numbers.iter().zip(&before.numbers).zip(&self.written) {
            let Some((now, then)) = now.iter().zip(then).find(|(now, then)| now != then) else { continue };
            let is_written = |ids: &Vec<Option<u64>>| ids.iter().flatten().any(|id| written.contains(id));
            let into = match state.iter().position(|(ids, ..)| is_written(ids)) {
                Some(array) => format!("array {array} of the state"),
                None => format!("kernel `{}`", kernel.name),
            };
            let given = format!("{then} in step {} and {now} in step {}, for {into}", before.step, self.step);
            return Err(Error::invalid(
                "Loop",
                "a step that does the same every time",
                given,
                "pass numbers that change by Loop::with_numbers and Loop::run_with, or keep them in an array \
                 of the state",
            ));
        }
        Ok(())
    }
}

/// A kernel without its numbers, and these; `None` if it has none.
fn split(kernel: &Kernel) -> Option<(Kernel, Vec<Scalar>)> {
    let mut bare = kernel.clone();
    let mut numbers = Vec::new();
    for inst in &mut bare.body {
        if let Op::Const(scalar) = &mut inst.op {
            numbers.push(*scalar);
            *scalar = Scalar { dtype: scalar.dtype, bits: 0 };
        }
    }
    (!numbers.is_empty()).then_some((bare, numbers))
}
