//! The scan form: lines that are walked from their first point; and the reductions of short runs that scans
//! of long lines begin with.
//!
//! Values that are elements of memory are read where they lie; others are computed into the output first, as
//! an elementwise kernel does, and scanned there. Neighbouring lines that are neighbours in memory go through
//! vectors, others are walked one after the other: several at once are under way in the processor.

use std::cmp::Ordering;
use std::marker::PhantomData;

use super::fold::{Combine, Foldable, MaxPairs, MinPairs, ProductPairs, SumPairs};
use crate::cpu::launch::{Dims, HostLaunch, Memory};
use crate::cpu::loops::level::{Compiled, Level, Loop, compiled};
use crate::cpu::loops::narrow::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::cpu::thread_pool::{Parallelism, share_out};
use crate::dtype::{DType, Scalar};
use crate::ir::{
    Access, Fold, FoldOp, Form, Kernel, Launch, MAX_RANK, Offsets, Op, Scan, Store, Value, View,
};
use crate::verify::{Verified, verify};

/// Lines that are walked side by side, as vectors.
const COLUMNS: usize = 256;
/// Points of a line that are loaded and stored together.
const RUN: usize = 16;
/// Points of one thread's next piece of work.
const TASK_POINTS: usize = 1 << 15;

/// The source of the values of a scan.
pub(in crate::cpu) enum ScanSource {
    Constant(Scalar),
    /// An element of an `In` parameter.
    Loaded(usize, Offsets),
    /// The output of an elementwise kernel with this one's parameters.
    Computed(Box<Verified>),
}

impl ScanSource {
    fn of(kernel: &Kernel, scan: &Scan, value: Value) -> ScanSource {
        ScanSource::loaded(kernel, value).unwrap_or_else(|| {
            let form = Form::Elementwise { stores: vec![Store { param: scan.output, value }] };
            let kernel = Kernel { form, ..kernel.clone() };
            let kernel = verify(kernel).expect("the scan's own parts are verified");
            ScanSource::Computed(Box::new(kernel))
        })
    }

    /// A value that is not computed.
    fn loaded(kernel: &Kernel, value: Value) -> Option<ScanSource> {
        match &kernel.body[value.index()].op {
            Op::Const(scalar) => Some(ScanSource::Constant(*scalar)),
            Op::Load { param, offsets } if kernel.params[*param as usize].access == Access::In => {
                Some(ScanSource::Loaded(*param as usize, offsets.clone()))
            }
            _ => None,
        }
    }
}

/// The loops of a scan.
pub(in crate::cpu) struct ScanLoops {
    scan: Scan,
    pub starts: ScanSource,
    pub values: ScanSource,
    walk: Compiled<WalkArgs>,
}

/// The elements of one operand: those of a line, and of neighbouring lines, so many bytes apart.
#[derive(Clone, Copy)]
struct Operand {
    first: *mut u8,
    step: isize,
    across: isize,
}

/// Lines that lie beside each other.
struct WalkArgs {
    lines: usize,
    length: usize,
    start: Operand,
    from: Operand,
    to: Operand,
    exclusive: bool,
}

impl ScanLoops {
    pub(in crate::cpu) fn new(kernel: &Kernel, scan: &Scan, level: Level) -> ScanLoops {
        let dtype = kernel.params[scan.output as usize].dtype;
        ScanLoops {
            scan: *scan,
            starts: ScanSource::of(kernel, scan, scan.start),
            values: ScanSource::of(kernel, scan, scan.value),
            walk: walk(level, scan.op, dtype, false),
        }
    }

    /// The launch over the first point of each line, whose output is memory without gaps; and its elements.
    pub(in crate::cpu) fn start_launch(&self, launch: &Launch) -> (Launch, usize) {
        let mut starts = launch.clone();
        starts.extents[self.scan.axis] = 1;
        let mut elements = 1;
        let output = &mut starts.views[self.scan.output as usize];
        output.offset = 0;
        for (stride, &extent) in output.strides.iter_mut().zip(&starts.extents).rev() {
            *stride = elements;
            elements *= extent as i64;
        }
        (starts, elements as usize)
    }

    /// Walks the lines of a launch; what is computed was computed: the values into the output, the `starts`
    /// into memory of their own.
    ///
    /// # Safety
    /// The launch was checked against the memory; the rest is the promise of `Program::run`'s caller.
    pub(in crate::cpu) unsafe fn run(&self, task: &HostLaunch<'_>, starts: Option<(&Launch, Memory)>) {
        let (launch, axis, output) = (task.launch, self.scan.axis, self.scan.output as usize);
        let size = task.kernel.params[output].dtype.size_bytes() as isize;
        let place = |memory: Memory, launch: &Launch, param: usize, offsets: Option<&Offsets>| {
            placed(memory, &launch.views[param], offsets, size)
        };
        let to = place(task.memory[output], launch, output, None);
        let from = match &self.values {
            ScanSource::Constant(scalar) => constant(scalar),
            ScanSource::Loaded(param, offsets) => place(task.memory[*param], launch, *param, Some(offsets)),
            ScanSource::Computed(_) => to,
        };
        let start = match (&self.starts, starts) {
            (ScanSource::Constant(scalar), _) => constant(scalar),
            (ScanSource::Loaded(param, offsets), _) => {
                place(task.memory[*param], launch, *param, Some(offsets))
            }
            (ScanSource::Computed(_), Some((launch, memory))) => place(memory, launch, output, None),
            (ScanSource::Computed(_), None) => unreachable!("computed starts have memory"),
        };
        let operands = [start, from, to];
        let job = WalkJob { operands, axis, size, exclusive: self.scan.exclusive, walk: self.walk };
        // SAFETY: the caller's promise.
        unsafe { job.run(task) };
    }
}

/// The first byte of one operand of a walk, and its strides in bytes.
type Placed = (*mut u8, Dims<isize>);

/// An operand of a launch whose elements have this size.
fn placed(memory: Memory, view: &View, offsets: Option<&Offsets>, size: isize) -> Placed {
    let away: i64 = offsets.map_or(0, |o| o.iter().zip(&view.strides).map(|(&d, &s)| i64::from(d) * s).sum());
    let mut strides: Dims<isize> = [0; MAX_RANK];
    strides.iter_mut().zip(&view.strides).for_each(|(to, &s)| *to = s as isize * size);
    (memory.ptr.wrapping_offset((view.offset + away) as isize * size), strides)
}

/// The same bits everywhere.
fn constant(scalar: &Scalar) -> Placed {
    (std::ptr::from_ref(&scalar.bits).cast_mut().cast(), [0; MAX_RANK])
}

/// A reduction of short runs that are neighbours in memory: each is loaded at once. Its order is that of all
/// folds, adjacent pairs.
pub(super) struct RunTotals {
    axis: usize,
    from: (usize, Offsets),
    output: usize,
    neutral: Scalar,
    walk: Compiled<WalkArgs>,
}

impl RunTotals {
    /// Of a kernel that folds what it loads over one dimension. f16 and bf16 accumulate in f32 and are not
    /// among them.
    pub(super) fn new(kernel: &Kernel, axes: &[bool], folds: &[Fold], level: Level) -> Option<RunTotals> {
        let [Fold::Value { op, value, output }] = *folds else { return None };
        let mut folded = (0..axes.len()).filter(|&dim| axes[dim]);
        let (Some(axis), None) = (folded.next(), folded.next()) else { return None };
        let dtype = kernel.params[output as usize].dtype;
        let ScanSource::Loaded(param, offsets) = ScanSource::loaded(kernel, value)? else { return None };
        let is_narrow = matches!(dtype, DType::F16 | DType::BF16);
        let (neutral, output) = (op.neutral(dtype), output as usize);
        let walk = walk(level, op, dtype, true);
        (!is_narrow).then_some(RunTotals { axis, from: (param, offsets), output, neutral, walk })
    }

    /// Whether the runs of a launch have the length and lie in memory one element after the other.
    pub(super) fn fits(&self, launch: &Launch) -> bool {
        launch.extents[self.axis] == RUN && launch.views[self.from.0].strides[self.axis] == 1
    }

    /// Folds the runs of a launch that fits.
    ///
    /// # Safety
    /// As [`ScanLoops::run`].
    pub(super) unsafe fn run(&self, task: &HostLaunch<'_>) {
        let size = self.neutral.dtype.size_bytes() as isize;
        let operand = |param: usize, offsets: Option<&Offsets>| {
            placed(task.memory[param], &task.launch.views[param], offsets, size)
        };
        let (param, offsets) = &self.from;
        let operands = [constant(&self.neutral), operand(*param, Some(offsets)), operand(self.output, None)];
        let job = WalkJob { operands, axis: self.axis, size, exclusive: false, walk: self.walk };
        // SAFETY: the caller's promise.
        unsafe { job.run(task) };
    }
}

/// Lines to walk: start, source and target.
struct WalkJob {
    operands: [Placed; 3],
    axis: usize,
    size: isize,
    exclusive: bool,
    walk: Compiled<WalkArgs>,
}

// SAFETY: threads compute addresses from these; each writes lines that it alone was given.
unsafe impl Sync for WalkJob {}

impl WalkJob {
    /// Shares the lines of a launch out.
    ///
    /// # Safety
    /// As [`ScanLoops::run`].
    unsafe fn run(&self, task: &HostLaunch<'_>) {
        let (launch, operands, size) = (task.launch, &self.operands, self.size);
        let length = launch.extents[self.axis];
        let mut dims: Vec<usize> = (0..launch.extents.len()).filter(|&d| d != self.axis).collect();
        // Neighbours in memory side by side; lines themselves are in order of memory.
        let beside = |d: usize| operands[1].1[d] == size && operands[2].1[d] == size && launch.extents[d] > 1;
        dims.sort_by_key(|&d| (beside(d), std::cmp::Reverse(operands[2].1[d].unsigned_abs())));
        let inner = dims.pop();
        let lines = inner.map_or(1, |d| launch.extents[d]);
        let block = (TASK_POINTS / length.max(1)).max(1).next_multiple_of(COLUMNS).min(lines.max(1));
        let blocks = lines.div_ceil(block);
        let outer: usize = dims.iter().map(|&d| launch.extents[d]).product();
        let steps = launch.points().saturating_mul(2);
        let parallelism = Parallelism {
            threads: (steps / task.tuning.thread_steps).clamp(1, task.threads),
            wakes: steps >= task.tuning.waking_steps,
        };
        let job = self;
        share_out(
            parallelism,
            outer * blocks,
            || (),
            |(), n| {
                let (mut rest, first) = (n / blocks, n % blocks * block);
                let mut at = [0isize; 3];
                for &d in dims.iter().rev() {
                    let i = rest % launch.extents[d];
                    rest /= launch.extents[d];
                    at.iter_mut().zip(&job.operands).for_each(|(at, of)| *at += i as isize * of.1[d]);
                }
                let operand = |k: usize| {
                    let across = inner.map_or(0, |d| job.operands[k].1[d]);
                    let moved = at[k] + first as isize * across;
                    let (start, strides) = &job.operands[k];
                    Operand { first: start.wrapping_offset(moved), step: strides[job.axis], across }
                };
                let args = WalkArgs {
                    lines: block.min(lines - first),
                    length,
                    start: operand(0),
                    from: operand(1),
                    to: operand(2),
                    exclusive: job.exclusive,
                };
                // SAFETY: the launch is checked, so all elements are inside; each line is given out once.
                unsafe { (job.walk)(&args) };
            },
        );
    }
}

/// The loop for an operation and a type, or that of totals alone.
fn walk(level: Level, op: FoldOp, dtype: DType, totals: bool) -> Compiled<WalkArgs> {
    macro_rules! of {
        ($kind:ty) => {
            match (op, totals) {
                (FoldOp::Sum, false) => compiled::<Walk<SumPairs, $kind>>(level),
                (FoldOp::Product, false) => compiled::<Walk<ProductPairs, $kind>>(level),
                (FoldOp::Min | FoldOp::All, false) => compiled::<Walk<MinPairs, $kind>>(level),
                (FoldOp::Max | FoldOp::Any, false) => compiled::<Walk<MaxPairs, $kind>>(level),
                (FoldOp::Sum, true) => compiled::<Totals<SumPairs, $kind>>(level),
                (FoldOp::Product, true) => compiled::<Totals<ProductPairs, $kind>>(level),
                (FoldOp::Min | FoldOp::All, true) => compiled::<Totals<MinPairs, $kind>>(level),
                (FoldOp::Max | FoldOp::Any, true) => compiled::<Totals<MaxPairs, $kind>>(level),
            }
        };
    }
    match dtype {
        DType::Bool | DType::U8 => of!(u8),
        DType::I8 => of!(i8),
        DType::I16 => of!(i16),
        DType::U16 => of!(u16),
        DType::I32 => of!(i32),
        DType::U32 => of!(u32),
        DType::I64 => of!(i64),
        DType::U64 => of!(u64),
        DType::F16 => of!(Half),
        DType::BF16 => of!(Brain),
        DType::F32 => of!(f32),
        DType::F64 => of!(f64),
    }
}

struct Walk<F, T>(PhantomData<(F, T)>);
struct Totals<F, T>(PhantomData<(F, T)>);

impl<F: Combine<T>, T: Foldable> Loop for Totals<F, T> {
    type Args = WalkArgs;
    #[inline(always)]
    unsafe fn run(args: &WalkArgs) {
        let at = |operand: &Operand, k: usize| operand.first.wrapping_offset(k as isize * operand.across);
        // SAFETY: the caller's promise: runs of `RUN` elements, one after the other.
        unsafe {
            let neutral = args.start.first.cast::<T>().read_unaligned();
            for k in 0..args.lines {
                let mut run = at(&args.from, k).cast::<[T; RUN]>().read_unaligned();
                let mut width = RUN / 2;
                while width > 0 {
                    for pair in 0..width {
                        run[pair] = F::combine(run[2 * pair], run[2 * pair + 1]);
                    }
                    width /= 2;
                }
                at(&args.to, k).cast::<T>().write_unaligned(F::combine(neutral, run[0]));
            }
        }
    }
}

impl<F: Combine<T>, T: Foldable> Loop for Walk<F, T> {
    type Args = WalkArgs;
    #[inline(always)]
    unsafe fn run(args: &WalkArgs) {
        let size = size_of::<T>() as isize;
        let aligned = |operand: &Operand| {
            operand.across == size
                && (operand.first as usize).is_multiple_of(align_of::<T>())
                && operand.step % align_of::<T>() as isize == 0
        };
        // SAFETY: the caller's promise.
        unsafe {
            if args.lines > 1 && aligned(&args.from) && aligned(&args.to) {
                for first in (0..args.lines).step_by(COLUMNS) {
                    columns::<F, T>(args, first, COLUMNS.min(args.lines - first));
                }
            } else {
                (0..args.lines).for_each(|number| line::<F, T>(args, number as isize));
            }
        }
    }
}

/// Lines that are neighbours in memory, row by row.
///
/// # Safety
/// As [`Loop::run`].
#[inline(always)]
unsafe fn columns<F: Combine<T>, T: Foldable>(args: &WalkArgs, first: usize, lines: usize) {
    let at = |operand: &Operand, k: usize| operand.first.wrapping_offset(k as isize * operand.across);
    // SAFETY: the caller's promise: elements of lines of the region, of which `to` is nobody else's.
    unsafe {
        let mut sums = [at(&args.start, first).cast::<T>().read_unaligned(); COLUMNS];
        for (k, sum) in sums[..lines].iter_mut().enumerate() {
            *sum = at(&args.start, first + k).cast::<T>().read_unaligned();
        }
        for i in 0..args.length as isize {
            let from = at(&args.from, first).wrapping_offset(i * args.from.step).cast::<T>();
            let to = at(&args.to, first).wrapping_offset(i * args.to.step).cast::<T>();
            for (k, sum) in sums[..lines].iter_mut().enumerate() {
                let next = F::combine(*sum, from.add(k).read());
                to.add(k).write(if args.exclusive { *sum } else { next });
                *sum = next;
            }
        }
    }
}

/// One line.
///
/// # Safety
/// As [`Loop::run`].
#[inline(always)]
unsafe fn line<F: Combine<T>, T: Foldable>(args: &WalkArgs, number: isize) {
    let WalkArgs { length, from, to, exclusive, .. } = *args;
    let size = size_of::<T>() as isize;
    // SAFETY: the caller's promise.
    unsafe {
        let first = |operand: Operand| operand.first.wrapping_offset(number * operand.across);
        let (start, source, target) = (first(args.start), first(from), first(to));
        let mut sum = start.cast::<T>().read_unaligned();
        let mut i = 0;
        if from.step == size && to.step == size {
            while i + RUN <= length {
                let at = i as isize * size;
                let mut run = source.wrapping_offset(at).cast::<[T; RUN]>().read_unaligned();
                for value in &mut run {
                    let next = F::combine(sum, *value);
                    *value = if exclusive { sum } else { next };
                    sum = next;
                }
                target.wrapping_offset(at).cast::<[T; RUN]>().write_unaligned(run);
                i += RUN;
            }
        }
        for i in i as isize..length as isize {
            let next = F::combine(sum, source.wrapping_offset(i * from.step).cast::<T>().read_unaligned());
            let stored = if exclusive { sum } else { next };
            target.wrapping_offset(i * to.step).cast::<T>().write_unaligned(stored);
            sum = next;
        }
    }
}

/// f16 and bf16 as memory has them: each operation computes in f32 and rounds.
macro_rules! narrow {
    ($name:ident, $widen:ident, $round:ident) => {
        #[derive(Clone, Copy)]
        struct $name(u16);
        impl PartialEq for $name {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                $widen(self.0) == $widen(other.0)
            }
        }
        impl PartialOrd for $name {
            #[inline(always)]
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                $widen(self.0).partial_cmp(&$widen(other.0))
            }
        }
        impl Foldable for $name {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                $name($round($widen(self.0) + $widen(other.0)))
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                $name($round($widen(self.0) * $widen(other.0)))
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                $widen(self.0).is_nan()
            }
        }
    };
}
narrow!(Half, f16_to_f32, f32_to_f16);
narrow!(Brain, bf16_to_f32, f32_to_bf16);
