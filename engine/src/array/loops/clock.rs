//! Steps of a `Loop` and their numbers: uploads them in blocks and hands the current ones to the step.

use std::collections::VecDeque;
use std::sync::Arc;

use partita_kernels::{DType, Scalar};

use crate::array::Array;
use crate::array::loops::recorder::Recorder;
use crate::array::memory::step_numbers::{MAX_ROWS, StepNumbers};
use crate::array::record::node::{Expr, Node, NodeLayout};
use crate::error::{Error, Result};
use crate::index::Index;
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
    /// How many steps of the run the devices have had numbers for.
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

    /// How many steps the devices have numbers for: at least one. `count` steps are in the run.
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
