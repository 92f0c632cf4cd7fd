//! The numbers of steps. Those that change from step to step are uploaded in blocks, and the step gets the
//! current ones. Plain numbers are arguments of launches, or constants in kernels, which a replay repeats:
//! one that differs between two recorded steps is an error.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use partita_kernels::{Access, DType, Kernel, Op, Scalar};

use crate::array::Array;
use crate::array::loops::cycle::ArrayMemory;
use crate::array::memory::step_numbers::{MAX_ROWS, StepNumbers};
use crate::array::record::expr::{Expr, NodeLayout};
use crate::array::record::node::Node;
use crate::array::recorder::recording::Recorder;
use crate::error::{Error, Result};
use crate::index::Index;
use crate::program::Command;
use crate::team::Team;

/// Gives the numbers of a step, counted from the beginning of a run.
pub(crate) type Rows<'a> = &'a mut dyn FnMut(u64) -> Vec<Scalar>;

#[derive(Default)]
pub(crate) struct StepClock {
    /// None before the first run, and where steps have no numbers.
    numbers: Option<Arc<StepNumbers>>,
    /// The numbers of the steps that come, as the devices have them.
    rows: VecDeque<Vec<Scalar>>,
    /// The types of a step's numbers.
    dtypes: Vec<DType>,
    /// The number of steps of the run that the devices have had numbers for.
    given: u64,
}

impl StepClock {
    /// Whether steps have numbers.
    pub fn ticks(&self) -> bool {
        !self.dtypes.is_empty()
    }

    /// A run of `count` steps begins. Says whether the steps get numbers of other types than before.
    pub fn begin_run(&mut self, team: &Team, count: u64, numbers: Rows) -> Result<bool> {
        (self.given, self.rows) = (0, VecDeque::new());
        if count == 0 {
            return Ok(false);
        }
        let first = numbers(0);
        let dtypes: Vec<DType> = first.iter().map(|number| number.dtype).collect();
        let is_new = dtypes != self.dtypes;
        if is_new {
            let made = || StepNumbers::new(team, &dtypes);
            self.numbers = if dtypes.is_empty() { None } else { Some(team.together("Loop", made)?) };
            self.dtypes = dtypes;
        }
        self.rows.push_back(first);
        self.given = 1;
        self.fill(team, count, numbers)?;
        Ok(is_new)
    }

    /// The number of steps that the devices have numbers for: at least one. `count` steps are in the run.
    pub fn refill(&mut self, team: &Team, count: u64, numbers: Rows) -> Result<u64> {
        if !self.ticks() {
            return Ok(u64::MAX);
        }
        if self.rows.is_empty() {
            self.fill(team, count, numbers)?;
        }
        Ok(self.rows.len() as u64)
    }

    fn fill(&mut self, team: &Team, count: u64, numbers: Rows) -> Result<()> {
        let Some(devices) = &self.numbers else { return Ok(()) };
        while self.rows.len() < MAX_ROWS && self.given < count {
            let row = numbers(self.given);
            let dtypes: Vec<DType> = row.iter().map(|number| number.dtype).collect();
            if dtypes != self.dtypes {
                let given = format!("{dtypes:?} in step {} of the run", self.given);
                let expected = format!("numbers of the types of the first step, {:?}", self.dtypes);
                let remedy = "give as many numbers of the same types for every step";
                return Err(Error::invalid("Loop::run_with", expected, given, remedy));
            }
            self.rows.push_back(row);
            self.given += 1;
        }
        team.together("Loop", || devices.upload(self.rows.iter()))
    }

    /// Replayed steps took their numbers.
    pub fn replayed(&mut self, steps: u64) {
        self.rows.drain(..self.rows.len().min(steps as usize));
    }

    /// The next step begins.
    pub fn begin_step(&mut self, recorder: &Recorder) -> Result<CurrentNumbers> {
        let (Some(numbers), Some(row)) = (&self.numbers, self.rows.pop_front()) else {
            return Ok(CurrentNumbers::default());
        };
        for (schedule, memory) in numbers.advance() {
            recorder.keep(memory);
            recorder.execute(schedule.clone())?;
        }
        let arrays = (0..row.len()).map(|which| number(numbers, which)).collect();
        Ok(CurrentNumbers { arrays, row })
    }
}

/// A number of the current step as an array of one element.
fn number(numbers: &Arc<StepNumbers>, which: usize) -> Array {
    let expr = Expr::Number(Arc::clone(numbers), which);
    let dtype = numbers.dtypes()[which];
    Array::of(Node::lazy(Index::filled(1, 1), dtype, &numbers.team, expr, NodeLayout::Free))
}

/// The numbers of one step. After it they are plain numbers: an expression that a step leaves unevaluated
/// keeps its value.
#[derive(Default)]
pub(crate) struct CurrentNumbers {
    pub arrays: Vec<Array>,
    row: Vec<Scalar>,
}

impl Drop for CurrentNumbers {
    fn drop(&mut self) {
        for (array, number) in self.arrays.iter().zip(&self.row) {
            Node::become_number(&array.node, *number);
        }
    }
}

/// A step of a [`crate::Loop`]: a function of the state, or [`Numbered`].
pub trait StepFunction {
    /// Runs it with the numbers of the step; none for a step that gets none.
    ///
    /// # Errors
    /// The step's own.
    fn take(&mut self, state: &mut [Array], numbers: &[Array]) -> Result<()>;
}

impl<F: FnMut(&mut [Array]) -> Result<()>> StepFunction for F {
    fn take(&mut self, state: &mut [Array], _numbers: &[Array]) -> Result<()> {
        self(state)
    }
}

/// A function of the state and of the numbers of the step ([`crate::Loop::with_numbers`]).
pub struct Numbered<S>(pub(crate) S);

impl<S: FnMut(&mut [Array], &[Array]) -> Result<()>> StepFunction for Numbered<S> {
    fn take(&mut self, state: &mut [Array], numbers: &[Array]) -> Result<()> {
        (self.0)(state, numbers)
    }
}

/// The numbers that steps computed with, by kernel. Kernels that differ in their numbers alone are one.
#[derive(Default)]
pub(crate) struct Constants(HashMap<Kernel, Vec<Used>>);

/// The numbers that one step used with one kernel, and the memory it wrote.
struct Used {
    step: u64,
    /// Constants in the order of the body, then arguments; each list once, in the order of the launches.
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
    pub fn compare(&mut self, step: u64, commands: &[Command], state: &[ArrayMemory]) -> Result<()> {
        let mut found: HashMap<Kernel, Used> = HashMap::new();
        for (command, job) in commands.iter().flat_map(|one| one.op.jobs().iter().map(move |job| (one, job)))
        {
            let (kernel, mut numbers) = split(job.program.kernel().kernel());
            numbers.extend(command.numbers_of(job));
            if numbers.is_empty() {
                continue;
            }
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
    fn like(&self, before: &Used, kernel: &Kernel, state: &[ArrayMemory]) -> Result<()> {
        for ((now, then), written) in self.numbers.iter().zip(&before.numbers).zip(&self.written) {
            let Some((now, then)) = now.iter().zip(then).find(|(now, then)| now != then) else { continue };
            let into = match state.iter().position(|array| array.is_in(written)) {
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

/// A kernel without its constants, and these.
fn split(kernel: &Kernel) -> (Kernel, Vec<Scalar>) {
    let mut bare = kernel.clone();
    let mut numbers = Vec::new();
    for inst in &mut bare.body {
        if let Op::Const(scalar) = &mut inst.op {
            numbers.push(*scalar);
            *scalar = Scalar { dtype: scalar.dtype, bits: 0 };
        }
    }
    (bare, numbers)
}
