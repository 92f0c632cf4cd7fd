//! Kernels that the engine itself needs: copies and sums of boxes, one or several per launch, copies of
//! listed cells, and fills. Packing, unpacking and every copy within a device use one of them.

use std::sync::Arc;

use partita_kernels::{BinaryOp, Builder, DType, Launch, Scalar, Value, Verified, View};

use super::command::{Command, Op};
use super::place::Place;
use crate::device::{Allocation, Buffer, Device, Job, Program, integers};
use crate::error::Result;
use crate::index::Region;

/// A launch of `program`'s kernel that copies or adds a box between two memories of one device.
///
/// # Errors
/// If the device cannot compile the kernel.
pub fn copy_box(
    from: &Place,
    from_box: &Region,
    to: &Place,
    to_box: &Region,
    how: CopyMode,
) -> Result<Command> {
    copy_views(&from_box.extents(), ((from.view(from_box.start()), from), (to.view(to_box.start()), to)), how)
}

/// The same for elements that lie as two views say, of one device's memory.
pub(crate) fn copy_views(
    extents: &[i64],
    ((from_view, from), (to_view, to)): ((View, &Place), (View, &Place)),
    how: CopyMode,
) -> Result<Command> {
    let ends = |place: &Place, view| (Arc::clone(&place.allocation), view);
    let copy = BoxCopy { from: ends(from, from_view), to: ends(to, to_view) };
    copy_boxes(&from.device, extents, &[copy], how)
}

/// The element type of a copied box, and whether it is added to what is there.
#[derive(Clone, Copy, Debug)]
pub struct CopyMode {
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
    let (rank, dtype) = (to_box.rank(), value.dtype);
    let program = to.device.compile_known(("fill_box", rank, 1, dtype), || {
        let mut k = Builder::new("fill_box", rank);
        let (target, argument) = (k.output(dtype), k.argument(dtype));
        Ok(k.elementwise(&[(target, argument)])?)
    })?;
    let memory = vec![Arc::clone(&to.allocation)];
    let views = vec![to.view(to_box.start())];
    let command = launch(&to.device, program, &to_box.extents(), views, vec![value], memory);
    Ok(Command { numbers: Some([(0, 0)].into()), ..command })
}

/// One box on its way between two memories of one device.
#[derive(Clone, Debug)]
pub(crate) struct BoxCopy {
    pub from: (Arc<Allocation>, View),
    pub to: (Arc<Allocation>, View),
}

/// One launch that copies or adds several boxes of the same extents.
pub(crate) fn copy_boxes(
    device: &Device,
    extents: &[i64],
    copies: &[BoxCopy],
    how: CopyMode,
) -> Result<Command> {
    let name = match (how.add, copies) {
        (false, [_]) => "copy_box",
        (false, _) => "copy_boxes",
        (true, [_]) => "add_box",
        (true, _) => "add_boxes",
    };
    let program = copy_program(device, name, extents.len(), copies.len(), how)?;
    let views = copies.iter().flat_map(|copy| [copy.from.1.clone(), copy.to.1.clone()]).collect();
    let memory = copies.iter().flat_map(|copy| [Arc::clone(&copy.from.0), Arc::clone(&copy.to.0)]).collect();
    Ok(launch(device, program, extents, views, Vec::new(), memory))
}

/// [`copy_kernel`], compiled.
fn copy_program(
    device: &Device,
    name: &'static str,
    rank: usize,
    count: usize,
    how: CopyMode,
) -> Result<Arc<Program>> {
    device.compile_known((name, rank, count, how.dtype), || copy_kernel(name, rank, count, how))
}

/// Copies `count` boxes, or adds each to another; sources and targets take turns.
fn copy_kernel(name: &str, rank: usize, count: usize, CopyMode { dtype, add }: CopyMode) -> Result<Verified> {
    let here = vec![0; rank];
    let mut k = Builder::new(name, rank);
    let mut stores = Vec::with_capacity(count);
    for _ in 0..count {
        let source = k.input(dtype);
        let value = k.load(source, &here);
        stores.push(if add {
            let target = k.inout(dtype);
            let old = k.load(target, &here);
            (target, k.binary(BinaryOp::Add, old, value))
        } else {
            (k.output(dtype), value)
        });
    }
    Ok(k.elementwise(&stores)?)
}

/// The type in which copies of elements of these types may share a launch: the smaller of them, if the other
/// is no more than twice as large. Single bytes would be too many.
pub(crate) fn word(a: DType, b: DType) -> Option<DType> {
    let (small, large) = if a.size_bytes() <= b.size_bytes() { (a, b) } else { (b, a) };
    let sizes = (small.size_bytes(), large.size_bytes());
    (sizes.0 == sizes.1 || sizes == (4, 8)).then_some(small)
}

/// One launch that copies boxes of any extents, given with their element types, in words as large as `how`'s
/// type; or that adds boxes of that type.
pub(crate) fn copy_words(
    device: &Device,
    how: CopyMode,
    boxes: &[(&[i64], DType, &BoxCopy)],
) -> Result<Command> {
    let words = boxes.iter().map(|(extents, dtype, copy)| {
        let words = (dtype.size_bytes() / how.dtype.size_bytes()) as i64;
        let view = |view: &View| {
            let strides = view.strides.iter().map(|stride| stride * words);
            View { offset: view.offset * words, strides: strides.chain((words > 1).then_some(1)).collect() }
        };
        let extents: Vec<i64> = extents.iter().copied().chain((words > 1).then_some(words)).collect();
        (extents, view(&copy.from.1), view(&copy.to.1), *copy)
    });
    let words: Vec<_> = words.collect();
    let rank = words.iter().map(|(extents, ..)| extents.len()).max().unwrap_or(0).max(WORDS_RANK);
    let how = CopyMode { dtype: word_of(how), ..how };
    let program = copy_program(device, if how.add { "add_words" } else { "copy_words" }, rank, 1, how)?;
    let job = |(extents, from, to, copy): (Vec<i64>, View, View, &BoxCopy)| {
        // Missing dimensions are outermost and have one element.
        let missing = rank - extents.len();
        let outer = |view: View| View { strides: [vec![0; missing], view.strides].concat(), ..view };
        let extents = std::iter::repeat_n(1, missing).chain(extents.iter().map(|&extent| extent as usize));
        let launch = Launch {
            origin: vec![0; rank],
            extents: extents.collect(),
            views: vec![outer(from), outer(to)],
            arguments: Vec::new(),
        };
        let memory = vec![Arc::clone(&copy.from.0), Arc::clone(&copy.to.0)];
        Job { program: Arc::clone(&program), launch: Arc::new(launch), memory }
    };
    Ok(Op::BatchedLaunch { device: device.clone(), jobs: words.into_iter().map(job).collect() }.into())
}

/// The type of what is added, or one for the bits of what is copied.
fn word_of(how: CopyMode) -> DType {
    match how.dtype.size_bytes() {
        _ if how.add => how.dtype,
        1 => DType::U8,
        2 => DType::U16,
        4 => DType::U32,
        _ => DType::U64,
    }
}

/// Faces have at most so many loops in most programs: one kernel for all of these.
const WORDS_RANK: usize = 3;

/// The offsets of a loop's iterations in memory, in elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum AxisOffsets {
    /// A constant stride.
    Strided(i64),
    /// Listed offsets from the beginning.
    Listed(Arc<[i64]>),
}

impl AxisOffsets {
    /// The offset of iteration `k` from the beginning.
    pub fn nth(&self, k: i64) -> i64 {
        match self {
            AxisOffsets::Strided(step) => k * step,
            AxisOffsets::Listed(list) => list[k as usize],
        }
    }
}

/// The places of listed cells: one sequence of offsets per loop, from element `first` on.
pub(crate) struct ListedCells<'a> {
    pub memory: &'a Arc<Allocation>,
    pub first: i64,
    pub offsets: &'a [AxisOffsets],
}

/// Whether listed cells are read or written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListedDirection {
    /// From their listed places to a box.
    Gather,
    /// From a box to their listed places, replacing what is there.
    Scatter,
}

impl ListedDirection {
    /// The kernel that copies cells of which `number` says where they are in the memory that is its last
    /// parameter but one; the last one is the box.
    pub(crate) fn kernel(self, mut k: Builder, number: Value, rank: usize, dtype: DType) -> Result<Verified> {
        Ok(match self {
            ListedDirection::Gather => {
                let (source, output) = (k.input(dtype), k.output(dtype));
                k.gather(number, source, output)?
            }
            ListedDirection::Scatter => {
                let (output, input) = (k.output(dtype), k.input(dtype));
                let value = k.load(input, &vec![0; rank]);
                k.scatter(number, value, output, false)?
            }
        })
    }
}

/// One launch that copies cells between listed places and a box. The lists are uploaded; `leases` keep them.
pub(crate) fn copy_listed(
    device: &Device,
    extents: &[i64],
    listed: &ListedCells,
    (boxed, view): (&Arc<Allocation>, View),
    direction: ListedDirection,
    dtype: DType,
    leases: &mut Vec<Buffer>,
) -> Result<Command> {
    let rank = extents.len();
    let index_type = index_type(listed, extents);
    let mut k = Builder::new("listed_cells", rank);
    let (mut views, mut memory, mut arguments) = (Vec::new(), Vec::new(), Vec::new());
    let mut index = k.argument(index_type);
    arguments.push(Scalar::from_i64(index_type, listed.first));
    for (d, offsets) in listed.offsets.iter().enumerate() {
        let term = match offsets {
            AxisOffsets::Strided(step) => {
                let (at, stride) = (k.coord(d, index_type), k.argument(index_type));
                arguments.push(Scalar::from_i64(index_type, *step));
                k.binary(BinaryOp::Mul, at, stride)
            }
            AxisOffsets::Listed(list) => {
                let param = k.input(index_type);
                let buffer = upload(device, list, index_type)?;
                let mut strides = vec![0; rank];
                strides[d] = 1;
                views.push(View { offset: 0, strides });
                memory.push(Arc::clone(buffer.allocation()));
                leases.push(buffer);
                k.load(param, &vec![0; rank])
            }
        };
        index = k.binary(BinaryOp::Add, index, term);
    }
    let kernel = direction.kernel(k, index, rank, dtype)?;
    views.extend([View { offset: 0, strides: vec![0; rank] }, view]);
    memory.extend([Arc::clone(listed.memory), Arc::clone(boxed)]);
    let program = device.compile(kernel)?;
    Ok(launch(device, program, extents, views, arguments, memory))
}

/// 32 bits where they name every element.
fn index_type(listed: &ListedCells, extents: &[i64]) -> DType {
    let farthest = |(offsets, &extent): (&AxisOffsets, &i64)| match offsets {
        AxisOffsets::Strided(step) => step.saturating_mul(extent),
        AxisOffsets::Listed(list) => list.iter().copied().max().unwrap_or(0),
    };
    let last = listed.offsets.iter().zip(extents).map(farthest).fold(listed.first, i64::saturating_add);
    let small = last.max(extents.iter().copied().max().unwrap_or(0)) < i64::from(i32::MAX);
    if small { DType::I32 } else { DType::I64 }
}

/// The memory is apart from what a Loop's steps reuse: a replay does not repeat uploads.
fn upload(device: &Device, list: &[i64], dtype: DType) -> Result<Buffer> {
    let bytes = integers("a copy of listed cells", dtype, list.iter().copied())?;
    let buffer = device.alloc_for_upload(bytes.len() as u64)?;
    device.upload(buffer.allocation(), 0, &bytes)?;
    Ok(buffer)
}

/// A byte of memory.
type ByteOf<'a> = (&'a Arc<Allocation>, u64);

/// A launch that copies bytes between two memories of one device.
pub(super) fn copy_bytes(device: &Device, bytes: u64, (from, to): (ByteOf, ByteOf)) -> Result<Command> {
    let fits = |dtype: &DType| (bytes | from.1 | to.1).is_multiple_of(dtype.size_bytes() as u64);
    let dtype = [DType::U64, DType::U32, DType::U16].into_iter().find(fits).unwrap_or(DType::U8);
    let size = dtype.size_bytes() as u64;
    let end = |(memory, offset): ByteOf| {
        (Arc::clone(memory), View { offset: (offset / size) as i64, strides: vec![1] })
    };
    let copy = BoxCopy { from: end(from), to: end(to) };
    copy_boxes(device, &[(bytes / size) as i64], &[copy], CopyMode { dtype, add: false })
}

/// The kernel of a latch: a word that is not 0 once another one was, or one of those that came with so many
/// messages; it goes with the messages instead if they are sent. A count has 1 more while it is 0.
pub(super) fn latch(device: &Device, is_sent: bool, messages: usize) -> Result<Arc<Program>> {
    let name = if is_sent { "latch_sent" } else { "latch_received" };
    device.compile_known((name, 1, messages, DType::U64), || {
        let mut k = Builder::new(name, 1);
        let (halt, guard) = (k.input(DType::U64), k.output(DType::U64));
        let (count, memory) = (k.inout(DType::U64), k.inout(DType::U64));
        let (old, halted) = (k.load(memory, &[0]), k.load(halt, &[0]));
        let mut word = k.binary(BinaryOp::Or, old, halted);
        let mut sent = Vec::new();
        for _ in 0..messages {
            if is_sent {
                sent.push(k.output(DType::U64));
            } else {
                let message = k.input(DType::U64);
                let came = k.load(message, &[0]);
                word = k.binary(BinaryOp::Or, word, came);
            }
        }
        let (one, counted) = (k.int(DType::U64, 1), k.load(count, &[0]));
        let halts = k.binary(BinaryOp::Min, word, one);
        let more = k.binary(BinaryOp::Sub, one, halts);
        let sum = k.binary(BinaryOp::Add, counted, more);
        let own = [(guard, word), (count, sum), (memory, word)];
        Ok(k.elementwise(&own.into_iter().chain(sent.into_iter().map(|to| (to, word))).collect::<Vec<_>>())?)
    })
}

fn launch(
    device: &Device,
    program: Arc<Program>,
    extents: &[i64],
    views: Vec<View>,
    arguments: Vec<Scalar>,
    memory: Vec<Arc<Allocation>>,
) -> Command {
    let extents: Vec<usize> = extents.iter().map(|&extent| extent as usize).collect();
    let launch = Launch { origin: vec![0; extents.len()], extents, views, arguments };
    Op::Launch { device: device.clone(), job: Job { program, launch: Arc::new(launch), memory } }.into()
}
