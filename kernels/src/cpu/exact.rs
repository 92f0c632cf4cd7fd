//! Exact sums: floats are split into parts so short that adding some of them loses nothing, and what comes
//! out goes into wide integers. It shares the cuts of other reductions, though nothing of their order shows.

use std::sync::{Mutex, PoisonError};

use super::layout::{Tile, advance};
use super::level::{Compiled, Level, Loop, compiled};
use super::place::Place;
use super::reduce::{Cut, arrange, decode};
use super::run::Run;
use super::worker::{Chunk, Worker};
use super::{Task, for_each_task};
use crate::dtype::DType;
use crate::exact::{self, Sum};
use crate::ir::MAX_RANK;

/// Lanes whose parts are added side by side.
const LANES: usize = 16;
/// Values that are split together.
const CHUNK: usize = LANES << ROOM;
/// log2 of the values that are added in one lane.
const ROOM: u32 = 6;
/// log2 of the f32 that are added as they are, if they are alike enough: the more, the more alike.
const ALIKE_ROOM: u32 = 10;
/// Sums of so many lanes are added, with nothing lost.
const ALIKE_LANES: usize = 4;
/// Values that are tried together.
const ALIKE: usize = ALIKE_LANES << ALIKE_ROOM;
/// Values of larger magnitude are added one by one, as are those that are not finite.
const LARGEST: f64 = f64::from_bits((1023 + 900) << 52);
/// Most partial numbers of one result: their digits add without a carry.
const PARTS: usize = 1 << 14;
/// Bytes of the wide integers of one strip.
const STRIP_BYTES: usize = 24 << 10;

/// Values to split.
struct Split {
    value: Place,
    lanes: usize,
    /// Adding and subtracting these cuts a value.
    bounds: [f64; 2],
    /// Sums of the parts, exact if `largest` is within the bound the parts were cut for.
    sums: [[f64; LANES]; 2],
    /// The largest magnitude.
    largest: f64,
    /// Something was left after all cuts.
    left: bool,
}

/// A lane that is summed.
trait Summand: Copy {
    const ZERO: Self;
    fn to_f64(self) -> f64;
}

impl Summand for f32 {
    const ZERO: f32 = 0.0;
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

impl Summand for f64 {
    const ZERO: f64 = 0.0;
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
}

/// Values to add as they are.
struct Alike {
    value: Place,
    lanes: usize,
    /// Per lane, the sum; exact if the values are alike.
    sums: [f64; LANES],
    /// The bits of the largest magnitude, and of the least but zero less one.
    largest: u32,
    least: u32,
}

/// Adds f32 in f64.
struct Adding;

impl Loop for Adding {
    type Args = std::cell::RefCell<Alike>;
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        let mut args = args.borrow_mut();
        let (value, lanes) = (args.value, args.lanes);
        let mut sums = [0.0; LANES];
        let mut largest = [0u32; LANES];
        let mut least = [u32::MAX; LANES];
        let mut some = |values: &[f32; LANES]| {
            for k in 0..LANES {
                let magnitude = values[k].to_bits() & (u32::MAX >> 1);
                largest[k] = largest[k].max(magnitude);
                least[k] = least[k].min(magnitude.wrapping_sub(1));
                sums[k] += f64::from(values[k]);
            }
        };
        let whole = lanes / LANES * LANES;
        // SAFETY: the caller promises the lanes; a splatted value has a whole block of them.
        unsafe {
            for lane in (0..whole).step_by(LANES) {
                some(&*value.at(lane).cast());
            }
            if whole < lanes {
                let mut last = [0.0; LANES];
                for (k, to) in last.iter_mut().enumerate().take(lanes - whole) {
                    *to = value.at(whole + k).cast::<f32>().read();
                }
                some(&last);
            }
        }
        args.sums = sums;
        args.largest = largest.into_iter().fold(0, u32::max);
        args.least = least.into_iter().fold(u32::MAX, u32::min);
    }
}

impl Alike {
    /// Is every sum of some values exact? They are multiples of one power of two, and less than 2^53 of it.
    fn is_exact(&self) -> bool {
        // A subnormal is a multiple of what the least normal is one of.
        let exponent = |magnitude: u32| (magnitude >> 23).max(1);
        let is_finite = self.largest < 0x7f80_0000;
        is_finite && exponent(self.largest) <= exponent(self.least) + (53 - 24 - ALIKE_ROOM)
    }
}

/// Splits values into `CUTS` parts.
struct Cutting<T, const CUTS: usize>(std::marker::PhantomData<T>);

impl<T: Summand, const CUTS: usize> Loop for Cutting<T, CUTS> {
    type Args = std::cell::RefCell<Split>;
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        let mut args = args.borrow_mut();
        let Split { value, lanes, bounds, .. } = *args;
        let mut sums = [[0.0; LANES]; 2];
        let mut left = [0u64; LANES];
        let mut largest = [0.0f64; LANES];
        let mut some = |values: &[T; LANES]| {
            for k in 0..LANES {
                let mut rest = values[k].to_f64();
                let magnitude = rest.abs();
                largest[k] = if magnitude > largest[k] { magnitude } else { largest[k] };
                for cut in 0..CUTS {
                    let part = (rest + bounds[cut]) - bounds[cut];
                    rest -= part;
                    sums[cut][k] += part;
                }
                left[k] |= rest.to_bits() << 1;
            }
        };
        let whole = lanes / LANES * LANES;
        // SAFETY: the caller promises the lanes; a splatted value has a whole block of them.
        unsafe {
            for lane in (0..whole).step_by(LANES) {
                some(&*value.at(lane).cast());
            }
            if whole < lanes {
                let mut last = [T::ZERO; LANES];
                for (k, to) in last.iter_mut().enumerate().take(lanes - whole) {
                    *to = value.at(whole + k).cast::<T>().read();
                }
                some(&last);
            }
        }
        args.sums = sums;
        args.largest = largest.into_iter().fold(0.0, f64::max);
        args.left = left.into_iter().any(|bits| bits != 0);
    }
}

/// Adds values to sums, remembering which cuts served the last ones.
struct Adder {
    dtype: DType,
    cutting: [Compiled<std::cell::RefCell<Split>>; 2],
    /// Adds f32 that are alike.
    adding: Option<Compiled<std::cell::RefCell<Alike>>>,
    /// How often values were not alike since they last were, about, and how often to cut without a trial.
    misses: u32,
    wait: u32,
    /// Cuts that are made, less one.
    cuts: usize,
    /// Exponent of a power of two that no magnitude exceeds.
    bound: i32,
}

impl Adder {
    fn new(dtype: DType, level: Level) -> Adder {
        let cutting: [Compiled<std::cell::RefCell<Split>>; 2] = match dtype {
            DType::F64 => [compiled::<Cutting<f64, 1>>(level), compiled::<Cutting<f64, 2>>(level)],
            _ => [compiled::<Cutting<f32, 1>>(level), compiled::<Cutting<f32, 2>>(level)],
        };
        let adding = (dtype != DType::F64).then(|| compiled::<Adding>(level));
        let cuts = usize::from(dtype == DType::F64);
        Adder { dtype, cutting, adding, misses: 0, wait: 0, cuts, bound: 0 }
    }

    /// Adds `lanes` values to a sum.
    ///
    /// # Safety
    /// `value` holds the lanes, and the loops were compiled for this CPU.
    unsafe fn across(&mut self, sum: &mut Sum, value: Place, lanes: usize) {
        for done in (0..lanes).step_by(ALIKE) {
            let some = ALIKE.min(lanes - done);
            let value = Place { ptr: value.at(done), ..value };
            // SAFETY: the caller's promise.
            unsafe {
                if !self.alike(sum, value, some) {
                    self.cut(sum, value, some);
                }
            }
        }
    }

    /// Adds f32 as they are; false if they are not alike, or were not lately.
    unsafe fn alike(&mut self, sum: &mut Sum, value: Place, lanes: usize) -> bool {
        let Some(adding) = self.adding else { return false };
        if self.wait > 0 {
            self.wait -= 1;
            return false;
        }
        let alike = Alike { value, lanes, sums: [0.0; LANES], largest: 0, least: 0 };
        let alike = std::cell::RefCell::new(alike);
        // SAFETY: the caller's promise.
        unsafe { adding(&alike) };
        let alike = alike.into_inner();
        if !alike.is_exact() {
            self.wait = self.misses;
            self.misses = (2 * self.misses + 1).min(63);
            return false;
        }
        self.misses = 0;
        for lane in 0..ALIKE_LANES {
            sum.add(alike.sums[lane..].iter().step_by(ALIKE_LANES).sum());
        }
        true
    }

    /// Adds values by their parts, or one by one.
    unsafe fn cut(&mut self, sum: &mut Sum, value: Place, lanes: usize) {
        for done in (0..lanes).step_by(CHUNK) {
            let some = CHUNK.min(lanes - done);
            let value = Place { ptr: value.at(done), ..value };
            // SAFETY: the caller's promise.
            unsafe {
                if !self.split(sum, value, some) {
                    (0..some).for_each(|lane| sum.add(self.one(value, lane)));
                }
            }
        }
    }

    /// One value.
    ///
    /// # Safety
    /// `value` holds the lane.
    unsafe fn one(&self, value: Place, lane: usize) -> f64 {
        // SAFETY: the caller's promise.
        unsafe {
            match self.dtype {
                DType::F64 => value.at(lane).cast::<f64>().read(),
                _ => f64::from(value.at(lane).cast::<f32>().read()),
            }
        }
    }

    /// Adds a chunk by its parts; false if parts do not make it up.
    unsafe fn split(&mut self, sum: &mut Sum, value: Place, lanes: usize) -> bool {
        // At first the bound may not fit, and then one cut may be too few.
        for _ in 0..3 {
            let room = ROOM as i32;
            let power = |exponent: i32| f64::from_bits(((1023 + exponent) as u64) << 52);
            // 1.5 * 2^e: whatever is added stays in the binade, and parts are multiples of 2^(e-52). A sum of
            // 2^room parts needs 53 bits of that.
            let bounds = [self.bound + room - 1, self.bound + 2 * room - 55].map(|e| 1.5 * power(e));
            let split = Split { value, lanes, bounds, sums: [[0.0; LANES]; 2], largest: 0.0, left: false };
            let split = std::cell::RefCell::new(split);
            // SAFETY: the caller's promise.
            unsafe { (self.cutting[self.cuts])(&split) };
            let split = split.into_inner();
            if split.largest > LARGEST || split.largest.is_nan() {
                return false;
            }
            let needed = exponent_above(split.largest);
            if split.largest <= power(self.bound) && !split.left {
                split.sums[..=self.cuts].iter().flatten().for_each(|&part| sum.add(part));
                return true;
            }
            if needed == self.bound && self.cuts == 1 {
                return false;
            }
            self.cuts = if needed == self.bound { 1 } else { self.cuts };
            self.bound = needed;
        }
        false
    }
}

/// The exponent of a power of two that is not below a magnitude, and high enough that parts are no
/// subnormals.
fn exponent_above(magnitude: f64) -> i32 {
    ((magnitude.to_bits() >> 52) as i32 - 1023 + 1).max(-800)
}

/// Runs an exact sum.
///
/// # Safety
/// As that of every run: the launch was checked, memory is valid.
pub(super) unsafe fn run(task: &Task<'_>, axes: &[bool], dtype: DType, output: usize, level: Level) {
    let results = task.kernel.kept_points(task.launch);
    if results == 0 {
        return;
    }
    let (layout, kept, across) = arrange(task, axes);
    let strip = (STRIP_BYTES / (4 * exact::width(dtype))).max(1);
    let segment_points = task.tuning.segment_points.max(layout.points() / PARTS * 2);
    let cut = Cut::new(&layout, kept, across, segment_points, if across { usize::MAX } else { strip });
    let run = Run::new(task, layout, false);
    let units = cut.units();
    let several = cut.parts() > 1;
    let job = Job { run: &run, cut: &cut, dtype, output, several, adding: Mutex::new(()) };
    // SAFETY: results are this launch's alone.
    unsafe {
        if several {
            job.for_results(|number| number.fill(0));
        }
        for_each_task(&run, task.help_for(&run.layout), units, |worker, unit| {
            let mut sums = vec![Sum::new(dtype); if across { 1 } else { cut.strip }];
            job.unit(worker, &mut Adder::new(dtype, level), &mut sums, unit);
        });
        if several {
            job.for_results(|number| exact::normalise(number, dtype));
        }
    }
}

/// A sum under way.
struct Job<'r> {
    run: &'r Run<'r>,
    cut: &'r Cut,
    dtype: DType,
    output: usize,
    /// Several units add to a result.
    several: bool,
    adding: Mutex<()>,
}

impl Job<'_> {
    /// Computes one unit: a strip of results (or one result) over one segment.
    unsafe fn unit(&self, worker: &mut Worker<'_>, adder: &mut Adder, sums: &mut [Sum], unit: usize) {
        let cut = self.cut;
        let segment = unit % cut.segments;
        let strip = unit / cut.segments % cut.strips;
        let outer = unit / cut.segments / cut.strips;
        let inner = self.run.layout.inner();
        let start = strip * cut.strip;
        let lanes = cut.strip.min(self.run.layout.extents[inner] - start);
        let first_row = segment * cut.segment_rows;
        let rows = cut.segment_rows.min(cut.rows - first_row);
        let whole = Tile { start: [0; MAX_RANK], extents: self.run.layout.extents };
        let mut index = [0; MAX_RANK];
        decode(&mut index, &self.run.layout, 0, cut.kept, outer);
        decode(&mut index, &self.run.layout, cut.kept, inner, first_row);
        for _ in 0..rows {
            worker.clear_rows();
            worker.push_row(&index);
            for done in (0..lanes).step_by(self.run.chunk) {
                let len = self.run.chunk.min(lanes - done);
                // SAFETY: the chunk lies in the region; the values it leaves hold its lanes.
                unsafe {
                    worker.eval(Chunk { rows: 1, start: start + done, len });
                    let value = worker.root(0);
                    match cut.across {
                        true => adder.across(&mut sums[0], value, len),
                        false => (0..len).for_each(|lane| sums[done + lane].add(adder.one(value, lane))),
                    }
                }
            }
            advance(&mut index, &whole, inner);
        }
        let (count, first) = if cut.across { (1, 0) } else { (lanes, start) };
        let _adding = self.several.then(|| self.adding.lock().unwrap_or_else(PoisonError::into_inner));
        for (n, sum) in sums.iter_mut().enumerate().take(count) {
            let number = sum.number();
            // SAFETY: results are this launch's alone; where several units add to one, one at a time does.
            let to = unsafe { self.result(outer, first + n) };
            match self.several {
                true => exact::add_number(to, &number),
                false => to.copy_from_slice(&number),
            }
        }
    }

    /// The elements of one result: a point of the kept dimensions before the vector dimension, and a lane.
    ///
    /// # Safety
    /// Nobody else uses them meanwhile.
    #[allow(clippy::mut_from_ref, reason = "the memory is the launch's, not the job's")]
    unsafe fn result(&self, outer: usize, lane: usize) -> &mut [i32] {
        let mut index = [0; MAX_RANK];
        decode(&mut index, &self.run.layout, 0, self.cut.kept, outer);
        let to = self.run.address(self.output, &index, self.cut.kept, lane);
        // SAFETY: the checked launch has all elements of a number in memory; i32 are aligned in it.
        unsafe { std::slice::from_raw_parts_mut(to.cast(), exact::width(self.dtype)) }
    }

    /// # Safety
    /// Nobody else uses the results meanwhile.
    unsafe fn for_results(&self, mut each: impl FnMut(&mut [i32])) {
        let lanes = if self.cut.across { 1 } else { self.run.layout.extents[self.run.layout.inner()] };
        for outer in 0..self.cut.outer {
            // SAFETY: the caller's promise.
            (0..lanes).for_each(|lane| each(unsafe { self.result(outer, lane) }));
        }
    }
}
