//! A workload on a device: sets of arrays that take turns, so that none is still in a cache, and the
//! comparison of results with f64 arithmetic.
//!
//! The elements of the inputs are a function of their position, made on the device by recorded operations. Of
//! the results a sample is fetched, so the work of the host does not grow with the arrays.

use anyhow::{Context, Result, ensure};
use half::f16;
use partita::array::{IntoSpan, Span};
use partita::prelude::*;

use crate::cases::case::{On, Work};
use crate::cases::formula::{Numbers, Windows};
use crate::cases::view::View;
use crate::cases::workload::{Fold, Then, Workload};

/// Cells that are compared, of all results together; of a fold along an axis, fewer.
const COMPARED: usize = 1000;
const COMPARED_LINES: usize = 16;

/// The elements of an input repeat after so many. A prime: no two rows or planes of usual extents begin
/// alike, and a long sum needs no more terms on the host.
const PERIOD: u64 = 65_521;

/// Numbers that may be added one after another.
const BLOCK: i64 = 4096;

/// A workload's arrays on a device.
pub struct Bound {
    workload: &'static Workload,
    dtype: DType,
    team: Team,
    shape: Vec<i64>,
    /// Extents for which the formula is evaluated.
    inner: Vec<i64>,
    /// Of each input.
    shapes: Vec<Vec<i64>>,
    sets: Vec<Set>,
    runs: usize,
}

/// The function that makes an input, from the seed of its elements.
type Make = dyn Fn(&Team, &Distribution, DType, u64) -> Result<Array>;

/// Inputs, and what was last computed from them.
struct Set {
    inputs: Vec<Array>,
    results: Vec<Array>,
}

impl Bound {
    /// `count` sets of inputs, divided along the first axis.
    pub fn new(workload: &'static Workload, on: &On, count: usize) -> Result<Bound> {
        Bound::made(workload, on, count, &array)
    }

    /// One set of arrays laid out as those of [`Bound::new`], of zeros.
    pub fn of_zeros(workload: &'static Workload, on: &On) -> Result<Bound> {
        Bound::made(workload, on, 1, &|team, dist, dtype, _| {
            let zeros = Array::zeros(team, dist, dtype)?;
            zeros.eval()?;
            Ok(zeros)
        })
    }

    fn made(workload: &'static Workload, on: &On, count: usize, make: &Make) -> Result<Bound> {
        let On { dtype, sizes, parts, .. } = *on;
        let team = on.team(parts)?;
        let (shape, inner) = (workload.whole(sizes), workload.inner(sizes));
        let shapes: Vec<Vec<i64>> = (0..workload.inputs).map(|input| workload.shape(sizes, input)).collect();
        let halo = vec![if parts > 1 { workload.reach } else { 0 }; shape.len()];
        let filled = |shape: &[i64], seed| {
            let dist = Distribution::builder(shape).parts(parts).halo(&halo, &halo).build()?;
            make(&team, &dist, dtype, seed)
        };
        let set = |set| {
            let inputs = shapes.iter().enumerate().map(|(k, shape)| filled(shape, seed(set, k)));
            let inputs = inputs.collect::<Result<_>>()?;
            let results = match workload.then {
                Then::Assign => vec![filled(&shape, seed(set, workload.inputs))?],
                Then::Keep | Then::Fold(..) => Vec::new(),
            };
            Ok(Set { inputs, results })
        };
        let sets = (0..count).map(set).collect::<Result<_>>()?;
        Ok(Bound { workload, dtype, team, shape, inner, shapes, sets, runs: 0 })
    }

    fn compare(&self, output: usize, k: usize, expected: f64, given: f64) -> Result<f64> {
        let error = (given - expected).abs() / expected.abs().max(1.0);
        let allowed = self.allowed();
        ensure!(
            error <= allowed,
            "{} {}: element {k} of result {output}: expected {expected}, given {given} \
             (error {error:.1e}, allowed {allowed:.1e})",
            self.workload.name,
            self.dtype,
        );
        Ok(error)
    }

    /// Roundings of the formula, and of additions one after another: those wander like the root of their
    /// number, up to the length of a block, because a good sum adds blocks.
    fn allowed(&self) -> f64 {
        let additions = match self.workload.then {
            Then::Fold(Fold::Max, _) | Then::Keep | Then::Assign => 0,
            Then::Fold(_, []) => self.shape.iter().product(),
            Then::Fold(_, axes) => axes.iter().map(|&d| self.shape[d]).product(),
        };
        let wandering = (additions.min(BLOCK) as f64).sqrt();
        epsilon(self.dtype) * (f64::from(8 + self.workload.operations_per_cell()) + wandering)
    }

    /// The value that element `k` of a result must have: the formula's, or the one that an array assigned to
    /// has kept.
    fn expected(&self, turn: usize, output: usize, k: usize) -> f64 {
        let reach = self.workload.reach;
        let view = self.workload.view_of_result(output);
        match self.workload.then {
            Then::Keep => {
                let shape = match view {
                    Some(View::Turned) => self.inner.iter().rev().copied().collect(),
                    Some(View::Second) | None => self.inner.clone(),
                };
                let at = unflatten(k, &shape);
                let at = if let Some(view) = view { view.place(at) } else { at };
                self.formula_at(turn, output, &at)
            }
            Then::Assign => {
                let at = unflatten(k, &self.shape);
                let at = if let Some(view) = view { view.seen(at) } else { Some(at) };
                let at = at.map(|at| at.iter().map(|at| at - reach).collect::<Vec<i64>>());
                let is_inner = |at: &Vec<i64>| at.iter().zip(&self.inner).all(|(at, n)| (0..*n).contains(at));
                match at.filter(is_inner) {
                    Some(at) => self.formula_at(turn, output, &at),
                    None => element(self.dtype, seed(turn, self.workload.inputs), k as u64),
                }
            }
            Then::Fold(fold, axes) => self.fold_at(turn, fold, axes, k),
        }
    }

    /// The formula for a cell of what it is evaluated for.
    fn formula_at(&self, turn: usize, output: usize, inner: &[i64]) -> f64 {
        let lookup = |array: usize, offset: [i64; 3]| {
            let by = &offset[3 - inner.len()..];
            let seen: Vec<i64> = inner.iter().zip(by).map(|(at, by)| at + self.workload.reach + by).collect();
            let at = match self.workload.view_of_input(array) {
                Some(view) => view.place(seen),
                None => seen,
            };
            let along = at.iter().zip(&self.shapes[array]);
            let flat = along.fold(0, |flat, (at, &extent)| flat * extent + if extent == 1 { 0 } else { *at });
            element(self.dtype, seed(turn, array), flat as u64)
        };
        (self.workload.formula.of_a_cell)(&Numbers(&lookup))[output]
    }

    /// A fold over all cells of the k-th result. Formulas of folds read one cell of each array, so what is
    /// folded repeats, too.
    fn fold_at(&self, turn: usize, fold: Fold, axes: &[usize], k: usize) -> f64 {
        let volume = self.shape.iter().product::<i64>() as usize;
        let (start, count, stride) = match axes {
            [axis] => {
                let stride = self.shape[axis + 1..].iter().product::<i64>() as usize;
                let extent = self.shape[*axis] as usize;
                (k / stride * stride * extent + k % stride, extent, stride)
            }
            _ => (0, volume, 1),
        };
        let period = PERIOD as usize;
        let values = (0..count.min(period)).map(|j| {
            let at = (start + j * stride) as u64;
            let lookup = |array: usize, _| element(self.dtype, seed(turn, array), at);
            let times = count / period + usize::from(j < count % period);
            ((self.workload.formula.of_a_cell)(&Numbers(&lookup))[0], times as f64)
        });
        let sum = |values| exact_sum(Iterator::map(values, |(value, times): (f64, f64)| value * times));
        match fold {
            Fold::Sum | Fold::ExactSum => sum(values),
            Fold::Max => values.fold(f64::NEG_INFINITY, |most, (value, _)| most.max(value)),
            Fold::RootOfSum => sum(values).sqrt(),
        }
    }
}

impl Work for Bound {
    /// Each run computes from the next set.
    fn run(&mut self, times: usize) -> Result<()> {
        for _ in 0..times {
            let turn = self.runs % self.sets.len();
            compute(self.workload, &mut self.sets[turn])?;
            self.runs += 1;
        }
        Ok(self.team.wait()?)
    }

    /// The error is relative to the expected value, absolute where that is below 1.
    fn check(&mut self) -> Result<f64> {
        let turn = (self.runs + self.sets.len() - 1) % self.sets.len();
        ensure!(!self.sets[turn].results.is_empty(), "{}: nothing was computed", self.workload.name);
        let mut worst = 0f64;
        for (output, result) in self.sets[turn].results.iter().enumerate() {
            let most = match self.workload.then {
                Then::Fold(..) => COMPARED_LINES,
                Then::Keep | Then::Assign => COMPARED.div_ceil(self.workload.outputs),
            };
            for (k, given) in sampled(result, most)? {
                let expected = self.expected(turn, output, k);
                worst = worst.max(self.compare(output, k, expected, given)?);
            }
        }
        Ok(worst)
    }
}

/// Records and queues one result.
fn compute(workload: &Workload, set: &mut Set) -> Result<()> {
    let see = |(k, input): (usize, &Array)| match workload.view_of_input(k) {
        Some(view) => view.of(input),
        None => input.clone(),
    };
    let inputs: Vec<Array> = set.inputs.iter().enumerate().map(see).collect();
    let mut values = (workload.formula.over_arrays)(&Windows { inputs: &inputs, reach: workload.reach });
    match workload.then {
        Then::Keep => {
            // The old results' memory is free again for the new ones.
            set.results.clear();
            workload.written.iter().for_each(|&(k, view)| values[k] = view.of(&values[k]));
            eval_all(&values.iter().collect::<Vec<_>>())?;
            set.results = values;
        }
        Then::Assign => {
            for (k, (target, value)) in set.results.iter_mut().zip(&values).enumerate() {
                let shape = target.shape();
                let inner = |&extent: &i64| (workload.reach..extent - workload.reach).into_span();
                let spans: Vec<Span> = match workload.view_of_result(k) {
                    Some(view) => view.spans(target.rank()),
                    None => shape.iter().map(inner).collect(),
                };
                target.assign(&spans, value)?;
            }
        }
        Then::Fold(fold, axes) => {
            set.results = values.iter().map(|value| folded(value, fold, axes)).collect();
            eval_all(&set.results.iter().collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

fn folded(value: &Array, fold: Fold, axes: &[usize]) -> Array {
    let wide = || match value.dtype() {
        DType::F16 | DType::BF16 => value.cast(DType::F32),
        _ => value.clone(),
    };
    match fold {
        Fold::Sum => wide().sum(axes),
        Fold::ExactSum => wide().sum_reproducible(axes),
        Fold::Max => value.max(axes),
        Fold::RootOfSum => wide().sum(axes).sqrt(),
    }
}

/// Neumaier's sum: what an addition loses is added at the end.
fn exact_sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0f64, 0f64);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { sum - next + value } else { value - next + sum };
        sum = next;
    }
    sum + lost
}

pub fn unflatten(k: usize, shape: &[i64]) -> Vec<i64> {
    let mut rest = k as i64;
    let mut at = vec![0; shape.len()];
    for d in (0..shape.len()).rev() {
        at[d] = rest % shape[d];
        rest /= shape[d];
    }
    at
}

/// Unit roundoff, doubled.
fn epsilon(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => f64::from(f16::EPSILON),
        DType::F64 => f64::EPSILON,
        _ => f64::from(f32::EPSILON),
    }
}

pub fn seed(set: usize, input: usize) -> u64 {
    (set * 32 + input) as u64
}

/// The mixing of a counter's bits: shifts and factors of C. Wellons, "Prospecting for Hash
/// Functions" (2018), then a last shift.
const MIXING: [(u32, u32); 2] = [(16, 0x7feb_352d), (15, 0x846c_a68b)];
const LAST_SHIFT: u32 = 16;
/// Bits of an element: f32 holds all of 0.5..1.5 in steps of 2^-23.
const ELEMENT_BITS: u32 = 23;

fn first_counter(seed: u64) -> u32 {
    (seed as u32).wrapping_mul(PERIOD as u32)
}

/// The element at a position, as the array holds it: in 0.5..1.5, without a pattern.
pub fn element(dtype: DType, seed: u64, at: u64) -> f64 {
    #[cfg(test)]
    tests::ELEMENTS.set(tests::ELEMENTS.get() + 1);
    let counter = ((at % PERIOD) as u32).wrapping_add(first_counter(seed));
    let mix = |bits: u32, (shift, factor): (u32, u32)| (bits ^ (bits >> shift)).wrapping_mul(factor);
    let mut bits = MIXING.into_iter().fold(counter, mix);
    bits ^= bits >> LAST_SHIFT;
    let value = 0.5 + f64::from(bits >> (32 - ELEMENT_BITS)) / f64::from(1 << ELEMENT_BITS);
    if dtype == DType::F16 { f16::from_f64(value).to_f64() } else { value }
}

/// An array of the elements of this seed, computed where it lies.
pub fn array(team: &Team, dist: &Distribution, dtype: DType, seed: u64) -> Result<Array> {
    let wanted = [DType::F16, DType::F32, DType::F64];
    ensure!(wanted.contains(&dtype), "workloads are measured in f16, f32 and f64, not {dtype}");
    let place = if dist.global().volume()? < 1 << 32 { DType::U32 } else { DType::U64 };
    let mut at = Array::coordinate(team, dist, 0, place)?;
    for d in 1..dist.rank() {
        at = at * dist.shape()[d] as u64 + Array::coordinate(team, dist, d, place)?;
    }
    let counter = (at % PERIOD).cast(DType::U32) + first_counter(seed);
    let mix = |bits: Array, (shift, factor): (u32, u32)| (&bits ^ bits.shift_right(shift)) * factor;
    let mut bits = MIXING.into_iter().fold(counter, mix);
    bits = &bits ^ bits.shift_right(LAST_SHIFT);
    let real = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let fraction = bits.shift_right(32 - ELEMENT_BITS).cast(real) * (0.5f64).powi(ELEMENT_BITS as i32);
    let array = (fraction + 0.5).cast(dtype);
    array.eval()?;
    Ok(array)
}

/// So many places below a length, two at least, or all: the first, the last, and others without a pattern.
pub fn sampled_indices(length: usize, most: usize) -> Vec<usize> {
    if length <= most {
        return (0..length).collect();
    }
    let part = (length - 1) / (most - 1);
    let random = |k| (element(DType::F64, 0, k as u64) - 0.5) * part as f64;
    let within = (1..most - 1).map(|k| k * part + random(k) as usize);
    std::iter::once(0).chain(within).chain([length - 1]).collect()
}

/// Elements of an array in C order, with their places.
pub fn sampled(array: &Array, most: usize) -> Result<Vec<(usize, f64)>> {
    let length = array.shape().iter().product::<i64>() as usize;
    let places = sampled_indices(length, most);
    if length <= most {
        return Ok(places.into_iter().zip(to_f64(array)?).collect());
    }
    let wanted: Vec<i64> = places.iter().map(|&place| place as i64).collect();
    let values = to_f64(&array.gather(&[wanted.len() as i64], &wanted))?;
    Ok(places.into_iter().zip(values).collect())
}

pub fn to_f64(array: &Array) -> Result<Vec<f64>> {
    let name = array.dtype();
    let values = match name {
        DType::F16 => array.to_vec::<f16>()?.iter().map(|v| v.to_f64()).collect(),
        DType::F32 => array.to_vec::<f32>()?.iter().map(|&v| f64::from(v)).collect(),
        _ => array.to_vec::<f64>().with_context(|| format!("a result in {name}"))?,
    };
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::formula::formula;
    use crate::cases::view::Extents;
    use crate::cases::workload::{Sizes, WORKLOADS};

    fn bound(workload: &'static Workload, dtype: DType, parts: usize, sets: usize) -> Bound {
        let sizes = &Sizes { line: 5003, plane: 50, cube: 19 };
        let host = Device::host();
        let on = On { dtype, sizes, parts, ..On::smoke(&host) };
        Bound::new(workload, &on, sets).expect(workload.name)
    }

    #[test]
    fn every_workload_is_right_on_the_host_in_every_type() {
        for workload in WORKLOADS {
            for dtype in [DType::F32, DType::F64, DType::F16] {
                let mut bound = bound(workload, dtype, 2, 2);
                bound.run(4).expect("run");
                let error = bound.check().expect(workload.name);
                assert!(error < 0.05, "{}: {error}", workload.name);
            }
        }
    }

    /// The stencils of the table look the same from both sides; this one does not.
    #[test]
    fn windows_look_where_numbers_look() {
        fn upwind<C: crate::cases::formula::Cells>(c: &C) -> Vec<C::Value> {
            vec![c.at(0, [0, 0, 1]) + c.at(0, [0, -1, 0]) * 2.0 + c.at(0, [1, 0, 0]) * 4.0]
        }
        static UPWIND: Workload = Workload {
            group: "test",
            name: "upwind",
            text: "",
            rank: 3,
            extents: Extents::Usual,
            inputs: 1,
            outputs: 1,
            reach: 1,
            thin: &[],
            seen: &[],
            written: &[],
            formula: formula!(upwind),
            then: Then::Keep,
        };
        let mut bound = bound(&UPWIND, DType::F64, 2, 1);
        bound.run(1).expect("run");
        assert!(bound.check().expect("the right cells") < 1e-15);
    }

    #[test]
    fn a_wrong_element_is_named_in_every_workload() {
        for workload in WORKLOADS {
            for output in 0..workload.outputs {
                let mut bound = bound(workload, DType::F32, 2, 1);
                bound.run(1).expect("run");
                bound.check().expect(workload.name);
                // The first is always compared; where an array is assigned to, it is one that is kept.
                let result = &mut bound.sets[0].results[output];
                let first: Vec<Span> = vec![(0..1).into_span(); result.rank()];
                let wrong = result.slice(&first) * 1.5;
                result.assign(&first, &wrong).expect("spoil");
                let message = bound.check().expect_err(workload.name).to_string();
                for part in [workload.name, "element 0", "expected", "given"] {
                    assert!(message.contains(part), "{message}");
                }
            }
        }
    }

    /// That other elements than the first are compared too, and in the right places.
    #[test]
    fn an_element_that_lies_elsewhere_is_seen() {
        for name in ["triad", "spread", "strided", "turned", "turned_too", "odd_plane", "d3q19"] {
            let workload = Workload::named(name).expect("in the table");
            let mut bound = bound(workload, DType::F32, 1, 1);
            bound.run(1).expect("run");
            let result = &mut bound.sets[0].results[0];
            *result = result.flip(result.rank() - 1);
            assert!(bound.check().is_err(), "{name}");
        }
    }

    thread_local! {
        /// Elements that this thread has computed.
        pub static ELEMENTS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    /// Elements that the host computes for a workload: for its arrays, and to check its result.
    fn host_elements(workload: &'static Workload, sizes: &Sizes) -> [usize; 2] {
        let (host, effort) = (Device::host(), On::smoke(&Device::host()).effort.to_owned());
        let on = On { sizes, effort: &effort, ..On::smoke(&host) };
        let before = ELEMENTS.get();
        let mut bound = Bound::new(workload, &on, 1).expect(workload.name);
        let made = ELEMENTS.get() - before;
        bound.run(1).expect("run");
        bound.check().expect(workload.name);
        [made, ELEMENTS.get() - before - made]
    }

    #[test]
    fn the_work_of_the_host_does_not_grow_with_the_arrays() {
        let [small, large] =
            [(70_000, 150, 40), (560_000, 400, 80)].map(|(line, plane, cube)| Sizes { line, plane, cube });
        for workload in WORKLOADS {
            let [few, many] = [&small, &large].map(|sizes| host_elements(workload, sizes));
            assert_eq!([few[0], many[0]], [0, 0], "{}: arrays are made on the device", workload.name);
            match workload.then {
                Then::Fold(_, [_]) => {
                    assert!(many[1] <= (COMPARED_LINES + 1) * PERIOD as usize, "{}: {many:?}", workload.name);
                }
                // Cells of a rim, which an assignment keeps, are one element each.
                _ => assert!(many[1] <= few[1] + few[1] / 4, "{}: {few:?} {many:?}", workload.name),
            }
        }
    }

    #[test]
    fn devices_make_the_elements_where_they_belong() {
        let team = Team::on(&[Device::host()], 3).expect("a team");
        let dist = Distribution::builder(&[9, 70, 130])
            .parts(3)
            .halo(&[1, 0, 0], &[1, 0, 0])
            .build()
            .expect("3 parts");
        for dtype in [DType::F16, DType::F32, DType::F64] {
            let made = array(&team, &dist, dtype, seed(1, 2)).expect("made");
            assert_eq!(*made.distribution().expect("its own"), dist);
            for (k, given) in to_f64(&made).expect("read").into_iter().enumerate() {
                assert_eq!(given, element(dtype, seed(1, 2), k as u64), "{dtype} {k}");
            }
        }
    }

    #[test]
    fn samples_have_both_ends_and_no_place_twice() {
        for (length, most) in [(0, 3), (3, 3), (4, 3), (1000, 7), (1 << 40, 1000)] {
            let places = sampled_indices(length, most);
            assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{length} {most}: {places:?}");
            assert_eq!(
                (places.first(), places.last()),
                ((length > 0).then_some(&0), length.checked_sub(1).as_ref())
            );
        }
    }

    #[test]
    fn elements_are_spread_and_differ_between_inputs() {
        let values: Vec<f64> = (0..10_000).map(|at| element(DType::F64, seed(1, 2), at)).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!(values.iter().all(|v| (0.5..1.5).contains(v)));
        assert_ne!(element(DType::F64, seed(0, 1), 7), element(DType::F64, seed(0, 0), 7));
    }
}
