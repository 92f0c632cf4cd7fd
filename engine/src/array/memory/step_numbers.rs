//! Numbers that change from step to step of a `Loop`. Each device has a table with the numbers of many
//! steps, a counter of steps, and the row of the current step, which kernels load like any operand. Every
//! step begins with two small launches: one copies the next row, the other counts. So replays need no upload
//! and no other commands than the recorded ones.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use partita_kernels::{BinaryOp, Builder, DType, Launch, Scalar, Verified, View};

use crate::device::{Buffer, Device, Job};
use crate::error::Result;
use crate::index::{Index, Region};
use crate::program::{Command, Op, Place, Schedule};
use crate::team::Team;

/// The steps of a table.
pub(crate) const MAX_ROWS: usize = 1024;

/// A number takes so many bytes of a row, whatever its type.
const SLOT_BYTES: usize = 8;

/// Rows are copied in words of this type.
const WORD: DType = DType::U32;

/// The numbers of one `Loop` on a team's devices.
pub(crate) struct StepNumbers {
    pub team: Team,
    dtypes: Vec<DType>,
    tables: Vec<Table>,
}

/// The memory of one device.
struct Table {
    device: Device,
    rows: Buffer,
    /// The row that comes next.
    counter: Buffer,
    current: Buffer,
    /// Copies the next row and counts.
    advance: Schedule,
}

impl fmt::Debug for StepNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "numbers of {:?}", self.dtypes)
    }
}

/// Every table is a value of its own.
impl PartialEq for StepNumbers {
    fn eq(&self, other: &StepNumbers) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for StepNumbers {}

impl Hash for StepNumbers {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self).hash(state);
    }
}

impl StepNumbers {
    /// Memory for at least one number of each step.
    pub fn new(team: &Team, dtypes: &[DType]) -> Result<Arc<StepNumbers>> {
        let words = dtypes.len() * SLOT_BYTES / WORD.size_bytes();
        let tables = team.devices().into_iter().map(|device| Table::new(device, words));
        let tables = tables.collect::<Result<Vec<Table>>>()?;
        Ok(Arc::new(StepNumbers { team: team.clone(), dtypes: dtypes.to_vec(), tables }))
    }

    /// The types of a step's numbers.
    pub fn dtypes(&self) -> &[DType] {
        &self.dtypes
    }

    /// Puts the numbers of the next steps, at most [`MAX_ROWS`], behind all work that is queued.
    pub fn upload<'a>(&self, rows: impl Iterator<Item = &'a Vec<Scalar>>) -> Result<()> {
        let bytes: Vec<u8> = rows.flatten().flat_map(|number| number.bits.to_le_bytes()).collect();
        for Table { device, rows, counter, .. } in &self.tables {
            device.upload(rows.allocation(), 0, &bytes)?;
            device.upload(counter.allocation(), 0, &0u32.to_le_bytes())?;
        }
        Ok(())
    }

    /// Per device, the commands that make the next row the current one, and the memory that they use.
    pub fn advance(&self) -> impl Iterator<Item = (&Schedule, [&Buffer; 3])> {
        self.tables.iter().map(|table| (&table.advance, [&table.rows, &table.counter, &table.current]))
    }

    /// Where the parts of a team read the current row, in elements of the number's type, and which of them
    /// the number is.
    pub fn places(&self, team: &Team, which: usize) -> Result<(Vec<Option<Place>>, Index)> {
        let in_slot = (SLOT_BYTES / self.dtypes[which].size_bytes()) as i64;
        let stored = Region::new(&[0], &[in_slot * self.dtypes.len() as i64])?;
        let place = |part: usize| {
            let table = self.tables.iter().find(|table| table.device == *team.device(part))?;
            let allocation = Arc::clone(table.current.allocation());
            Some(Place { device: table.device.clone(), allocation, stored })
        };
        let places = (0..team.size()).map(|part| team.is_here(part).then(|| place(part)).flatten());
        Ok((places.collect(), Index::filled(1, in_slot * which as i64)))
    }
}

impl Table {
    fn new(device: Device, words: usize) -> Result<Table> {
        let alloc = |words: usize| device.alloc_for_upload((words * WORD.size_bytes()) as u64);
        let (rows, counter, current) = (alloc(MAX_ROWS * words)?, alloc(1)?, alloc(words)?);
        let view = |stride: i64| View { offset: 0, strides: vec![stride] };
        let launch = |kernel: Verified, points: usize, given: &[(&Buffer, i64)]| -> Result<Command> {
            let views = given.iter().map(|&(_, stride)| view(stride)).collect();
            let launch = Launch { origin: vec![0], extents: vec![points], views, arguments: Vec::new() };
            let memory = given.iter().map(|(buffer, _)| Arc::clone(buffer.allocation())).collect();
            let job = Job { program: device.compile(kernel)?, launch: Arc::new(launch), memory };
            Ok(Op::Launch { device: device.clone(), job }.into())
        };
        let copy = launch(next_row(words)?, words, &[(&counter, 0), (&rows, 0), (&current, 1)])?;
        let count = launch(count()?, 1, &[(&counter, 1)])?;
        Ok(Table { device, rows, counter, current, advance: vec![copy, count] })
    }
}

fn next_row(words: usize) -> Result<Verified> {
    let mut k = Builder::new("next_numbers", 1);
    let counter = k.input(DType::I32);
    let (source, output) = (k.input(WORD), k.output(WORD));
    let (row, width) = (k.load(counter, &[0]), k.int(DType::I32, words as i64));
    let first = k.binary(BinaryOp::Mul, row, width);
    let word = k.coord(0, DType::I32);
    let index = k.binary(BinaryOp::Add, first, word);
    Ok(k.gather(index, source, output)?)
}

fn count() -> Result<Verified> {
    let mut k = Builder::new("count_steps", 1);
    let counter = k.inout(DType::I32);
    let (before, one) = (k.load(counter, &[0]), k.int(DType::I32, 1));
    let after = k.binary(BinaryOp::Add, before, one);
    Ok(k.elementwise(&[(counter, after)])?)
}
