//! Work as data: commands, schedules, and the few kernels the engine itself needs.
//!
//! A [`Schedule`] is what an evaluation or an exchange comes down to: launches, copies between devices, and
//! which waits for which. It is built completely before anything runs, so it can be run, kept and run
//! again (that is what a `Loop` does). Knows allocations and programs; knows no arrays.

mod ahead;
pub(crate) mod copies;
mod reach;
mod shares;
mod ways;

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use partita_kernels::{BinaryOp, Builder, DType, Launch, Scalar, View};

use crate::device::{Allocation, Buffer, CopyRegion, Device, Job, Stream};
use crate::error::{Error, Result};
use crate::index::{Index, Region};
use crate::trace;
use crate::wire::{Meeting, Ranks, pass};
pub use ahead::Ahead;
pub use reach::Reach;
pub use shares::Shares;
pub use ways::Way;
pub(crate) use ways::message_bytes;

/// One step of a schedule.
#[derive(Clone)]
pub enum Command {
    /// A kernel on one device.
    Launch {
        /// Where.
        device: Device,
        /// What.
        job: Job,
    },
    /// Jobs of one program over boxes that have nothing to do with each other, in any order: one launch
    /// where the device can.
    Boxes {
        /// Where.
        device: Device,
        /// What.
        jobs: Vec<Job>,
    },
    /// Bytes of `from` to `to`, which lie on different devices.
    Transfer {
        /// The device of `from`.
        from_device: Device,
        /// Source.
        from: Arc<Allocation>,
        /// Where in it the bytes begin.
        from_offset: u64,
        /// The device of `to`.
        to_device: Device,
        /// Destination.
        to: Arc<Allocation>,
        /// Where in it the bytes go.
        to_offset: u64,
        /// How many bytes.
        bytes: u64,
    },
    /// All ranks compute the same: what their next meeting compares.
    Note {
        /// Who.
        ranks: Ranks,
        /// The hash of the kernel and its arguments.
        computed: u64,
    },
    /// All ranks begin the same exchange.
    Meet {
        /// Who.
        ranks: Ranks,
        /// Which.
        meeting: Arc<Meeting>,
    },
    /// Makes ready for a message that a [`Command::Receive`] takes later, so that it can come meanwhile.
    Expect {
        /// The ranks of both.
        ranks: Ranks,
        /// The sender.
        from: usize,
        /// Its length.
        bytes: u64,
    },
    /// As [`Command::Expect`], for a message that lands where it belongs, [`Way::InPlace`]; waits for the
    /// devices.
    ExpectInPlace {
        /// The ranks of both.
        ranks: Ranks,
        /// The sender.
        from: usize,
        /// What it fills.
        memory: Vec<Span>,
    },
    /// Begins to copy a message out of devices' memory that a [`Command::Send`] will send, staged; waits for
    /// nothing.
    Fetch {
        /// Where it lies.
        memory: Vec<Span>,
        /// Where the send finds it.
        ahead: Ahead,
    },
    /// Sends what lies in some memories, one after the other, as one message; waits for the devices and not
    /// for the other rank.
    Send {
        /// The ranks of both.
        ranks: Ranks,
        /// The receiver.
        to: usize,
        /// What it gets.
        memory: Vec<Span>,
        /// How.
        way: Way,
        /// What a [`Command::Fetch`] began of it, if one did.
        ahead: Ahead,
    },
    /// Waits for a message and puts it where it belongs.
    Receive {
        /// The ranks of both.
        ranks: Ranks,
        /// The sender.
        from: usize,
        /// What it fills.
        memory: Vec<Span>,
        /// How it was sent.
        way: Way,
    },
    /// Waits until everything that was sent is gone.
    Settle {
        /// Who.
        ranks: Ranks,
    },
    /// Waits until others have come to read what was shown to them, [`Way::Shared`]; what is queued next
    /// waits until they have read it.
    Reclaim {
        /// Who.
        ranks: Ranks,
        /// What was shown.
        shares: Arc<Shares>,
    },
    /// What is queued on `then` from now on comes after what is queued on `first` so far.
    After {
        /// Whose work comes first.
        first: (Device, Stream),
        /// Who waits for it.
        then: (Device, Stream),
    },
    /// A command on the lanes [`Stream::Exchange`] of its devices. Every other is on [`Stream::Compute`]. A
    /// transfer there lets nobody wait: those who must are named by [`Command::After`].
    Aside(Box<Command>),
}

impl Command {
    /// The lane of a command, and the command itself.
    pub fn lane(&self) -> (Stream, &Command) {
        match self {
            Command::Aside(command) => (Stream::Exchange, command.lane().1),
            command => (Stream::Compute, command),
        }
    }

    /// The same command on a lane.
    pub fn on(self, lane: Stream) -> Command {
        match (lane, self) {
            (_, Command::Aside(command)) => command.on(lane),
            (Stream::Compute, command) => command,
            (Stream::Exchange, command) => Command::Aside(Box::new(command)),
        }
    }

    /// The devices whose memory it uses.
    pub fn devices(&self) -> Vec<&Device> {
        match self.lane().1 {
            Command::Launch { device, .. } | Command::Boxes { device, .. } => vec![device],
            Command::Transfer { from_device, to_device, .. } => vec![from_device, to_device],
            Command::Fetch { memory, .. }
            | Command::Send { memory, .. }
            | Command::Receive { memory, .. }
            | Command::ExpectInPlace { memory, .. } => memory.iter().map(|span| &span.device).collect(),
            Command::Note { .. }
            | Command::Meet { .. }
            | Command::Expect { .. }
            | Command::Settle { .. }
            | Command::Reclaim { .. } => Vec::new(),
            Command::After { .. } | Command::Aside(_) => Vec::new(),
        }
    }

    /// True if memory may be let go only after it: a device's lane of memory waits for another one.
    fn is_join(&self) -> bool {
        matches!(self, Command::After { then: (_, Stream::Compute), .. })
    }
}

/// Bytes in a device's memory.
#[derive(Clone, Debug)]
pub struct Span {
    /// The device.
    pub device: Device,
    /// Its memory.
    pub allocation: Arc<Allocation>,
    /// Where in it they begin.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
}

/// The length of a message that lies in these memories.
pub fn span_bytes(memory: &[Span]) -> u64 {
    memory.iter().map(|span| span.bytes).sum()
}

/// Where bytes of a message lie: the memory, the place in it, and their range in what was asked for.
fn spread(memory: &[Span], offset: u64, length: usize) -> impl Iterator<Item = (&Span, u64, Range<usize>)> {
    let stop = offset + length as u64;
    let places =
        memory.iter().scan(0, move |begin, span| {
            let first = *begin;
            *begin += span.bytes;
            let (from, to) = (first.max(offset), (first + span.bytes).min(stop));
            Some((from < to).then(|| {
                (span, span.offset + from - first, (from - offset) as usize..(to - offset) as usize)
            }))
        });
    places.flatten()
}

/// Commands in the order they must take effect.
pub type Schedule = Vec<Command>;

/// Where one part's cells are: an allocation that holds `stored` in C order.
#[derive(Clone, Debug)]
pub struct Place {
    /// The device of the allocation.
    pub device: Device,
    /// The memory.
    pub allocation: Arc<Allocation>,
    /// The cells in it, in some global coordinates.
    pub stored: Region,
}

impl Place {
    /// Distance in elements between neighbours, per dimension.
    pub fn strides(&self) -> Index {
        c_strides(&self.stored)
    }

    /// The view whose first point is `first`, a cell in `stored`'s coordinates.
    pub fn view(&self, first: &[i64]) -> View {
        let strides = self.strides();
        let start = self.stored.start();
        let offset = (0..first.len()).map(|d| (first[d] - start[d]) * strides[d]).sum();
        View { offset, strides: strides.to_vec() }
    }
}

/// C-order strides of a box, in elements.
pub fn c_strides(region: &Region) -> Index {
    let mut strides = Index::filled(region.rank(), 1);
    for d in (0..region.rank().saturating_sub(1)).rev() {
        strides[d] = strides[d + 1] * region.extent(d + 1).max(1);
    }
    strides
}

/// Queues every command, and hands a copy to the recorder if this thread records.
///
/// # Errors
/// The first command that fails; those after it are not queued.
pub(crate) fn execute(schedule: Schedule) -> Result<()> {
    queue(&schedule, Some, run)?;
    RECORDER.with_borrow_mut(|recorder| {
        if let Some(recorded) = recorder {
            recorded.extend(schedule);
        }
    });
    Ok(())
}

/// Queues steps, some of which are single commands. After the first that fails no more of them are queued,
/// but for the waits by which lanes join again: the caller lets go of the memory.
///
/// # Errors
/// That of the first that fails.
pub(crate) fn queue<'a, T>(
    steps: &'a [T],
    single: impl Fn(&'a T) -> Option<&'a Command>,
    run_one: impl Fn(&'a T) -> Result<()>,
) -> Result<()> {
    let mut left = steps.iter();
    let outcome = left.by_ref().try_for_each(&run_one);
    if outcome.is_err() {
        let joins = left.filter_map(single).filter(|command| command.is_join());
        // The first failure is the one to report.
        joins.for_each(|join| drop(run(join)));
    }
    trace::queued();
    outcome
}

/// Queues one command.
///
/// # Errors
/// The device's.
pub(crate) fn run(command: &Command) -> Result<()> {
    let (lane, command) = command.lane();
    match command {
        Command::Launch { device, job } => {
            pass("launch")?;
            let name = || job.program.kernel().kernel().name.clone();
            trace::on_device(device, lane, name, || device.launch_on(lane, job))
        }
        Command::Boxes { device, jobs } => {
            pass("launch")?;
            let name = || format!("{} boxes", jobs.len());
            trace::on_device(device, lane, name, || device.launch_boxes(lane, jobs))
        }
        Command::Transfer { from_device, from, from_offset, to_device, to, to_offset, bytes } => {
            let (from_offset, to_offset, bytes) = (*from_offset, *to_offset, *bytes);
            let what = CopyRegion { from, from_offset, to, to_offset, bytes };
            let name = || format!("{bytes} bytes of {}", from_device.name());
            trace::on_device(to_device, lane, name, || match lane {
                Stream::Compute => from_device.copy_range(to_device, what),
                Stream::Exchange => from_device.copy_on(lane, to_device, what),
            })
        }
        Command::Note { ranks, computed } => {
            ranks.note(*computed);
            Ok(())
        }
        Command::Meet { ranks, meeting } => {
            trace::on_rank(ranks.rank());
            ranks.meet(meeting)
        }
        Command::Expect { ranks, from, bytes } => {
            trace::ready_for(*from, ranks.rank());
            ranks.expect(*from, *bytes)
        }
        Command::ExpectInPlace { ranks, from, memory } => {
            trace::ready_for(*from, ranks.rank());
            ways::expect_in_place(lane, ranks, *from, memory)
        }
        Command::Fetch { memory, ahead } => {
            let begin = || ahead.begin(lane, memory);
            let name = || format!("{} bytes leave", span_bytes(memory));
            match memory.first() {
                Some(first) => trace::on_device(&first.device, lane, name, begin),
                None => begin(),
            }
        }
        Command::Send { ranks, to, memory, way, ahead } => {
            let send = || ways::send(lane, ranks, *to, memory, way, ahead);
            trace::on_link(ranks.rank(), *to, way.name(), send)
        }
        Command::Receive { ranks, from, memory, way } => {
            trace::taking(*from, ranks.rank(), || ways::receive(lane, ranks, *from, memory, way))
        }
        Command::Reclaim { ranks, shares } => shares.reclaim(ranks),
        Command::Settle { ranks } => {
            trace::settle()?;
            ranks.settle()
        }
        Command::After { first: (first, first_lane), then: (then, lane) } => {
            then.after(*lane, first, *first_lane)
        }
        Command::Aside(_) => unreachable!("its lane was taken off above"),
    }
}

thread_local! {
    static RECORDER: RefCell<Option<Schedule>> = const { RefCell::new(None) };
    static KEPT: RefCell<Vec<Buffer>> = const { RefCell::new(Vec::new()) };
}

/// Memory that was uploaded for a step, and that replays of the step will read: the recording keeps it.
pub(crate) fn keep(buffer: &Buffer) {
    if is_recording() {
        KEPT.with_borrow_mut(|kept| kept.push(buffer.clone()));
    }
}

/// What was kept since the last call.
pub(crate) fn take_kept() -> Vec<Buffer> {
    KEPT.take()
}

/// Runs `step` and returns what it executed.
///
/// # Errors
/// The step's own; recording inside a recording.
pub fn record(step: impl FnOnce() -> Result<()>) -> Result<Schedule> {
    if is_recording() {
        return Err(Error::invalid(
            "Loop",
            "a step that runs no other Loop",
            "a Loop inside a Loop's step",
            "run the inner steps directly",
        ));
    }
    /// Ends the recording, also when the step panics.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            RECORDER.set(None);
            if std::thread::panicking() {
                KEPT.set(Vec::new());
            }
        }
    }
    let _end = End;
    RECORDER.set(Some(Schedule::new()));
    step()?;
    Ok(RECORDER.take().unwrap_or_default())
}

/// True while this thread records a `Loop`'s step.
pub fn is_recording() -> bool {
    RECORDER.with_borrow(Option::is_some)
}

/// A launch of `program`'s kernel that copies or adds a box between two memories of one device.
///
/// # Errors
/// If the device cannot compile the kernel.
pub fn copy_box(
    from: &Place,
    from_box: &Region,
    to: &Place,
    to_box: &Region,
    how: Copying,
) -> Result<Command> {
    copy_views(&from_box.extents(), ((from.view(from_box.start()), from), (to.view(to_box.start()), to)), how)
}

/// The same for elements that lie as two views say, of one device's memory.
///
/// # Errors
/// If the device cannot compile the kernel.
pub(crate) fn copy_views(
    extents: &[i64],
    ((from_view, from), (to_view, to)): ((View, &Place), (View, &Place)),
    how: Copying,
) -> Result<Command> {
    let rank = extents.len();
    let Copying { dtype, add } = how;
    let mut k = Builder::new(if add { "add_box" } else { "copy_box" }, rank);
    let source = k.input(dtype);
    let value = k.load(source, &vec![0; rank]);
    let kernel = if add {
        let target = k.inout(dtype);
        let old = k.load(target, &vec![0; rank]);
        let sum = k.binary(BinaryOp::Add, old, value);
        k.elementwise(&[(target, sum)])?
    } else {
        let target = k.output(dtype);
        k.elementwise(&[(target, value)])?
    };
    let launch = Launch {
        extents: extents.iter().map(|&e| e as usize).collect(),
        origin: vec![0; rank],
        views: vec![from_view, to_view],
        arguments: Vec::new(),
    };
    let memory = vec![Arc::clone(&from.allocation), Arc::clone(&to.allocation)];
    let program = from.device.compile(kernel)?;
    Ok(Command::Launch {
        device: from.device.clone(),
        job: Job { program, launch: Arc::new(launch), memory },
    })
}

/// The element type of a copied box, and whether it is added to what is there.
#[derive(Clone, Copy, Debug)]
pub struct Copying {
    /// Element type of both sides.
    pub dtype: DType,
    /// Add instead of replace.
    pub add: bool,
}

/// A launch that fills a box with one value.
///
/// # Errors
/// If the device cannot compile the kernel.
pub fn fill_box(to: &Place, to_box: &Region, value: Scalar) -> Result<Command> {
    let mut k = Builder::new("fill_box", to_box.rank());
    let target = k.output(value.dtype);
    let constant = k.constant(value);
    let kernel = k.elementwise(&[(target, constant)])?;
    let launch = Launch {
        extents: to_box.extents().iter().map(|&e| e as usize).collect(),
        origin: vec![0; to_box.rank()],
        views: vec![to.view(to_box.start())],
        arguments: Vec::new(),
    };
    let program = to.device.compile(kernel)?;
    let memory = vec![Arc::clone(&to.allocation)];
    Ok(Command::Launch { device: to.device.clone(), job: Job { program, launch: Arc::new(launch), memory } })
}
