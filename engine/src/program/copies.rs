//! Copies as launches: boxes, several boxes at once, and cells whose places are listed. Every packed face and
//! every cell that moves within a device goes through one of these kernels.

use std::sync::Arc;

use partita_kernels::{BinaryOp, Builder, DType, Launch, Scalar, Verified, View};

use super::{Command, Copying, keep};
use crate::device::{Allocation, Arena, Buffer, Device, Job, Program};
use crate::error::Result;

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
    how: Copying,
) -> Result<Command> {
    let Copying { dtype, add } = how;
    let rank = extents.len();
    let here = vec![0; rank];
    let mut k = Builder::new(if add { "add_boxes" } else { "copy_boxes" }, rank);
    let (mut stores, mut views, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for copy in copies {
        let source = k.input(dtype);
        let value = k.load(source, &here);
        let (target, value) = if add {
            let target = k.inout(dtype);
            let old = k.load(target, &here);
            (target, k.binary(BinaryOp::Add, old, value))
        } else {
            (k.output(dtype), value)
        };
        stores.push((target, value));
        views.extend([copy.from.1.clone(), copy.to.1.clone()]);
        memory.extend([Arc::clone(&copy.from.0), Arc::clone(&copy.to.0)]);
    }
    let program = device.compile(k.elementwise(&stores)?)?;
    Ok(launch(device, program, extents, views, Vec::new(), memory))
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
    how: Copying,
    boxes: &[(&[i64], DType, &BoxCopy)],
) -> Result<Command> {
    let words = boxes.iter().map(|(extents, dtype, copy)| {
        let turns = (dtype.size_bytes() / how.dtype.size_bytes()) as i64;
        let view = |view: &View| {
            let strides = view.strides.iter().map(|stride| stride * turns);
            View { offset: view.offset * turns, strides: strides.chain((turns > 1).then_some(1)).collect() }
        };
        let extents: Vec<i64> = extents.iter().copied().chain((turns > 1).then_some(turns)).collect();
        (extents, view(&copy.from.1), view(&copy.to.1), *copy)
    });
    let words: Vec<_> = words.collect();
    let rank = words.iter().map(|(extents, ..)| extents.len()).max().unwrap_or(0).max(WORDS_RANK);
    let program = device.compile(box_kernel(rank, how)?)?;
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
    Ok(Command::Boxes { device: device.clone(), jobs: words.into_iter().map(job).collect() })
}

/// Copies the bits of one box, or adds one to another.
fn box_kernel(rank: usize, Copying { dtype, add }: Copying) -> Result<Verified> {
    let here = vec![0; rank];
    if add {
        let mut k = Builder::new("add_words", rank);
        let (source, target) = (k.input(dtype), k.inout(dtype));
        let (value, old) = (k.load(source, &here), k.load(target, &here));
        let sum = k.binary(BinaryOp::Add, old, value);
        return Ok(k.elementwise(&[(target, sum)])?);
    }
    let dtype = match dtype.size_bytes() {
        1 => DType::U8,
        2 => DType::U16,
        4 => DType::U32,
        _ => DType::U64,
    };
    let mut k = Builder::new("copy_words", rank);
    let (source, target) = (k.input(dtype), k.output(dtype));
    let value = k.load(source, &here);
    Ok(k.elementwise(&[(target, value)])?)
}

/// Faces have at most so many loops in most programs: one kernel for all of these.
const WORDS_RANK: usize = 3;

/// How a loop walks through memory, in elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Walk {
    /// The same distance every time.
    Step(i64),
    /// To these distances from the beginning.
    List(Arc<[i64]>),
}

impl Walk {
    /// The distance of the `k`-th turn from the beginning.
    pub fn nth(&self, k: i64) -> i64 {
        match self {
            Walk::Step(step) => k * step,
            Walk::List(list) => list[k as usize],
        }
    }
}

/// Where listed cells are: one walk per loop, from element `first` on.
pub(crate) struct Listed<'a> {
    pub memory: &'a Arc<Allocation>,
    pub first: i64,
    pub walks: &'a [Walk],
}

/// Which way listed cells travel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From their listed places to a box.
    Gather,
    /// From a box to their listed places, replacing what is there.
    Scatter,
}

/// One launch that copies cells between listed places and a box. The lists are uploaded; `leases` keep them.
pub(crate) fn copy_listed(
    device: &Device,
    extents: &[i64],
    listed: &Listed,
    (boxed, view): (&Arc<Allocation>, View),
    direction: Direction,
    dtype: DType,
    leases: &mut Vec<Buffer>,
) -> Result<Command> {
    let rank = extents.len();
    let index_type = index_type(listed, extents);
    let mut k = Builder::new("listed_cells", rank);
    let (mut views, mut memory, mut arguments) = (Vec::new(), Vec::new(), Vec::new());
    let mut index = k.argument(index_type);
    arguments.push(Scalar::from_i64(index_type, listed.first));
    for (d, walk) in listed.walks.iter().enumerate() {
        let term = match walk {
            Walk::Step(step) => {
                let (at, stride) = (k.coord(d, index_type), k.argument(index_type));
                arguments.push(Scalar::from_i64(index_type, *step));
                k.binary(BinaryOp::Mul, at, stride)
            }
            Walk::List(list) => {
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
    let here = vec![0; rank];
    let kernel = match direction {
        Direction::Gather => {
            let (source, output) = (k.input(dtype), k.output(dtype));
            k.gather(index, source, output)?
        }
        Direction::Scatter => {
            let (output, input) = (k.output(dtype), k.input(dtype));
            let value = k.load(input, &here);
            k.scatter(index, value, output, false)?
        }
    };
    views.extend([View { offset: 0, strides: vec![0; rank] }, view]);
    memory.extend([Arc::clone(listed.memory), Arc::clone(boxed)]);
    let program = device.compile(kernel)?;
    Ok(launch(device, program, extents, views, arguments, memory))
}

/// 32 bits where they name every element.
fn index_type(listed: &Listed, extents: &[i64]) -> DType {
    let farthest = |(walk, &extent): (&Walk, &i64)| match walk {
        Walk::Step(step) => step.saturating_mul(extent),
        Walk::List(list) => list.iter().copied().max().unwrap_or(0),
    };
    let last = listed.walks.iter().zip(extents).map(farthest).fold(listed.first, i64::saturating_add);
    let small = last.max(extents.iter().copied().max().unwrap_or(0)) < i64::from(i32::MAX);
    if small { DType::I32 } else { DType::I64 }
}

/// The memory is apart from what a Loop's steps reuse, and a recording keeps it, because a replay does not
/// repeat uploads.
fn upload(device: &Device, list: &[i64], dtype: DType) -> Result<Buffer> {
    let bytes: Vec<u8> = match dtype {
        DType::I64 => list.iter().flat_map(|at| at.to_le_bytes()).collect(),
        _ => list.iter().flat_map(|&at| (at as i32).to_le_bytes()).collect(),
    };
    let buffer = Arena::default().within(|| device.alloc(bytes.len() as u64))?;
    device.upload(buffer.allocation(), 0, &bytes)?;
    keep(&buffer);
    Ok(buffer)
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
    Command::Launch { device: device.clone(), job: Job { program, launch: Arc::new(launch), memory } }
}
