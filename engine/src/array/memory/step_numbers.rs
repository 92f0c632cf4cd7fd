//! Numbers that change from step to step of a `Loop`. Each device has a table with the numbers of many steps,
//! a counter of steps, and the row of the current step, which kernels load like any operand. Every step
//! begins with two small launches: one copies the next row, the other counts. So replays need no upload and
//! no other commands than the recorded ones. The keys of random draws are such numbers, too: made of the key
//! and the counter of a stream instead of copied.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use partita_kernels::{BinaryOp, Builder, CompareOp, DType, Launch, Scalar, Value, Verified, View, random};

use crate::device::{Buffer, Device, Job};
use crate::error::Result;
use crate::index::{Index, Region};
use crate::program::{Command, Op, Place, Schedule};
use crate::team::Team;

/// The steps of a table.
pub(crate) const MAX_ROWS: usize = 1024;

/// The bytes of a row that a number takes, whatever its type.
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
    /// The memory that the current row is made of: the rows and the number of the next, or that of a stream.
    sources: Vec<Buffer>,
    current: Buffer,
    /// Makes the next row and counts.
    advance: Schedule,
}

/// The key and the counter of a stream of random numbers on the devices of a team: two words of the one, and
/// the lower and the upper word of the other.
pub(crate) struct StreamMemory(Vec<(Device, [Buffer; 3])>);

impl StreamMemory {
    pub fn new(team: &Team) -> Result<StreamMemory> {
        let of = |device: Device| {
            let alloc = |words: usize| device.alloc_for_upload((words * WORD.size_bytes()) as u64);
            let memory = [alloc(2)?, alloc(1)?, alloc(1)?];
            Ok((device, memory))
        };
        team.devices().into_iter().map(of).collect::<Result<_>>().map(StreamMemory)
    }

    /// Puts a state behind all work that is queued.
    pub fn upload(&self, key: [u32; 2], draws: u64) -> Result<()> {
        for (device, [keys, low, high]) in &self.0 {
            device.upload(keys.allocation(), 0, &key.map(u32::to_le_bytes).concat())?;
            device.upload(low.allocation(), 0, &(draws as u32).to_le_bytes())?;
            device.upload(high.allocation(), 0, &((draws >> 32) as u32).to_le_bytes())?;
        }
        Ok(())
    }
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

    /// The key of a draw, two words, by a stream.
    pub fn of_stream(team: &Team, memory: &StreamMemory) -> Result<Arc<StepNumbers>> {
        let tables = memory.0.iter().map(|(device, memory)| Table::of_stream(device, memory));
        let tables = tables.collect::<Result<Vec<Table>>>()?;
        Ok(Arc::new(StepNumbers { team: team.clone(), dtypes: vec![WORD; 2], tables }))
    }

    /// The types of a step's numbers.
    pub fn dtypes(&self) -> &[DType] {
        &self.dtypes
    }

    /// Puts the numbers of the next steps, at most [`MAX_ROWS`], behind all work that is queued.
    pub fn upload<'a>(&self, rows: impl Iterator<Item = &'a Vec<Scalar>>) -> Result<()> {
        let bytes: Vec<u8> = rows.flatten().flat_map(|number| number.bits.to_le_bytes()).collect();
        for Table { device, sources, .. } in &self.tables {
            device.upload(sources[0].allocation(), 0, &bytes)?;
            device.upload(sources[1].allocation(), 0, &0u32.to_le_bytes())?;
        }
        Ok(())
    }

    /// Per device, the commands that make the next row the current one, and the memory that they use.
    pub fn advance(&self) -> impl Iterator<Item = (&Schedule, impl Iterator<Item = &Buffer>)> {
        self.tables.iter().map(|table| (&table.advance, table.sources.iter().chain([&table.current])))
    }

    /// The place of the current row on a part of a team, in elements of the number's type, and the index of
    /// the number in it.
    pub fn place(&self, team: &Team, part: usize, which: usize) -> Result<(Option<Place>, Index)> {
        let in_slot = (SLOT_BYTES / self.dtypes[which].size_bytes()) as i64;
        let stored = Region::new(&[0], &[in_slot * self.dtypes.len() as i64])?;
        let table = self.tables.iter().find(|table| table.device == *team.device(part));
        let place = table.map(|table| {
            let allocation = Arc::clone(table.current.allocation());
            Place { device: table.device.clone(), allocation, stored }
        });
        Ok((place, Index::filled(1, in_slot * which as i64)))
    }
}

impl Table {
    fn new(device: Device, words: usize) -> Result<Table> {
        let alloc = |words: usize| device.alloc_for_upload((words * WORD.size_bytes()) as u64);
        let (rows, counter, current) = (alloc(MAX_ROWS * words)?, alloc(1)?, alloc(words)?);
        let copy =
            launch(&device, next_row(words)?, words, &[(&counter, 0, 0), (&rows, 0, 0), (&current, 0, 1)])?;
        let count = launch(&device, count()?, 1, &[(&counter, 0, 1)])?;
        Ok(Table { device, sources: vec![rows, counter], current, advance: vec![copy, count] })
    }

    fn of_stream(device: &Device, [key, low, high]: &[Buffer; 3]) -> Result<Table> {
        let step = (SLOT_BYTES / WORD.size_bytes()) as i64;
        let current = device.alloc_for_upload(2 * SLOT_BYTES as u64)?;
        let given = [(key, 0, 0), (key, 1, 0), (low, 0, 0), (high, 0, 0), (&current, 0, step)];
        let make = launch(device, next_key()?, 2, &given)?;
        let count = launch(device, count_draws()?, 1, &[(low, 0, 1), (high, 0, 1)])?;
        let sources = [key, low, high].map(Buffer::clone).to_vec();
        Ok(Table { device: device.clone(), sources, current, advance: vec![make, count] })
    }
}

/// A kernel over some points and memory: from which element on, and how far apart its elements are.
fn launch(
    device: &Device,
    kernel: Verified,
    points: usize,
    given: &[(&Buffer, i64, i64)],
) -> Result<Command> {
    let view = |&(_, offset, stride): &(&Buffer, i64, i64)| View { offset, strides: vec![stride] };
    let views = given.iter().map(view).collect();
    let launch = Launch { origin: vec![0], extents: vec![points], views, arguments: Vec::new() };
    let memory = given.iter().map(|(buffer, ..)| Arc::clone(buffer.allocation())).collect();
    let job = Job { program: device.compile(kernel)?, launch: Arc::new(launch), memory };
    Ok(Op::Launch { device: device.clone(), job }.into())
}

/// The key of a draw: at each point one of its words.
fn next_key() -> Result<Verified> {
    let mut k = Builder::new("next_key", 1);
    let words: [Value; 4] = std::array::from_fn(|_| {
        let param = k.input(WORD);
        k.load(param, &[0])
    });
    let output = k.output(WORD);
    let [first, second] = random::cipher(&mut k, [words[0], words[1]], [words[2], words[3]]);
    let (which, zero) = (k.coord(0, DType::I32), k.int(DType::I32, 0));
    let is_first = k.compare(CompareOp::Eq, which, zero);
    let word = k.select(is_first, first, second);
    Ok(k.elementwise(&[(output, word)])?)
}

fn count_draws() -> Result<Verified> {
    let mut k = Builder::new("count_draws", 1);
    let (low, high) = (k.inout(WORD), k.inout(WORD));
    let (before, one, zero) = (k.load(low, &[0]), k.int(WORD, 1), k.int(WORD, 0));
    let after = k.binary(BinaryOp::Add, before, one);
    let carries = k.compare(CompareOp::Eq, after, zero);
    let (carry, upper) = (k.cast(carries, WORD), k.load(high, &[0]));
    let upper = k.binary(BinaryOp::Add, upper, carry);
    Ok(k.elementwise(&[(low, after), (high, upper)])?)
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
