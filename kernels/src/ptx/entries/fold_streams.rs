//! The streams of a fold, and how their partial results are combined: two in registers, those of the lanes of
//! a warp, those that come out of memory.

use crate::dtype::{DType, Kind, Scalar};
use crate::ir::{CompareOp, Fold, FoldOp, Form, Kernel};
use crate::ptx::schedule::FoldPlan;
use crate::ptx::text::{Class, FoldField, PtxWriter, arithmetic, class, partial, size_bits};

/// One sequence of partial results: a value fold has one, an argument fold two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stream {
    pub output: u32,
    /// The output's type.
    pub dtype: DType,
    /// The type in which values are combined.
    pub partial: DType,
    /// Combined with it, a value stays as it is.
    pub neutral: Scalar,
    /// It is the index of an argument fold.
    pub index: bool,
    /// Which operand is on the left decides: of two zeros or NaN, the minimum or maximum of floats.
    pub is_ordered: bool,
}

/// Lanes of a warp.
pub(super) const LANES: usize = 32;

/// 1, 2, 4 and so on, below a power of two.
fn halves(count: usize) -> impl DoubleEndedIterator<Item = usize> {
    (0..count.ilog2()).map(|level| 1usize << level)
}

/// The folds of a reduction.
fn folds(kernel: &Kernel) -> &[Fold] {
    let Form::Reduce { folds, .. } = &kernel.form else { unreachable!("called for reductions") };
    folds
}

/// The streams of a reduction.
pub(crate) fn streams(kernel: &Kernel) -> Vec<Stream> {
    let mut all = Vec::new();
    let mut add = |output: u32, neutral: &dyn Fn(DType) -> Scalar, index, is_extreme| {
        let dtype = kernel.params[output as usize].dtype;
        let (partial, neutral) = (partial(dtype), neutral(dtype));
        let neutral = match dtype.kind() {
            Kind::Float => Scalar::from_f64(partial, neutral.to_f64()),
            Kind::Uint if dtype == DType::U64 => neutral,
            Kind::Bool | Kind::Int | Kind::Uint => Scalar::from_i64(partial, neutral.to_i64()),
        };
        let is_ordered = is_extreme && dtype.is_float();
        all.push(Stream { output, dtype, partial, neutral, index, is_ordered });
    };
    for fold in folds(kernel) {
        match *fold {
            Fold::Value { op, output, .. } => {
                add(output, &|d| op.neutral(d), false, matches!(op, FoldOp::Min | FoldOp::Max));
            }
            Fold::Arg { largest, value_output, index_output, .. } => {
                add(value_output, &|d| Scalar::extreme(d, !largest), false, false);
                // Indices are compared as i64: this one loses against every other.
                add(
                    index_output,
                    &|d| Scalar::from_f64(if d == DType::U64 { DType::I64 } else { d }, 1e30),
                    true,
                    false,
                );
            }
        }
    }
    all
}

/// The registers of one value per stream.
pub(super) fn registers(streams: &[Stream], name: impl Fn(usize) -> String) -> Vec<String> {
    (0..streams.len()).map(name).collect()
}

/// The registers of the value of a run's element.
pub(super) fn value_registers(streams: &[Stream], step: usize, element: usize) -> Vec<String> {
    registers(streams, |n| format!("%x{n}_{step}_{element}"))
}

/// Bytes of a stream's partial results.
pub(crate) fn partial_bytes(stream: &Stream) -> u64 {
    1 << size_bits(stream.partial).max(2)
}

/// The class of a partial result in memory.
pub(super) fn word_class(partial: DType) -> Class {
    if partial == DType::Bool { Class::B32 } else { class(partial) }
}

impl PtxWriter<'_> {
    /// `left = left op right`, one register per stream; `left` has the lower numbers.
    pub(super) fn combine_pair(&mut self, streams: &[Stream], left: &[String], right: &[String]) {
        let mut n = 0;
        for fold in folds(self.kernel).iter().cycle() {
            let Some(Stream { partial: dtype, .. }) = streams.get(n).copied() else { break };
            match fold {
                Fold::Value { op, .. } => {
                    self.binary(op.step(), dtype, &left[n], &left[n], &right[n]);
                    n += 1;
                }
                Fold::Arg { largest, .. } => {
                    let index = streams[n + 1].partial;
                    let [value, at, best, best_at] = [&right[n], &right[n + 1], &left[n], &left[n + 1]];
                    let wins = self.wins(*largest, [dtype, index], [value, at], [best, best_at]);
                    self.select(dtype, best, [value, best], &wins);
                    self.select(index, best_at, [at, best_at], &wins);
                    n += 2;
                }
            }
        }
    }

    /// The neutral element combined with each result: what it decides is the sign of a zero.
    pub(super) fn combine_neutral(&mut self, streams: &[Stream], results: &[String]) {
        let mut n = 0;
        for fold in folds(self.kernel).iter().cycle() {
            if n == streams.len() {
                break;
            }
            if let Fold::Value { op, .. } = fold {
                let neutral = self.fresh(streams[n].neutral);
                self.binary(op.step(), streams[n].partial, &results[n], &neutral, &results[n]);
            }
            n += if matches!(fold, Fold::Arg { .. }) { 2 } else { 1 };
        }
    }

    /// Does a value with its index beat the best so far? Ties go to the lower index, and NaN beats every
    /// number, so order is no matter.
    fn wins(
        &mut self,
        largest: bool,
        [dtype, index]: [DType; 2],
        [value, at]: [&str; 2],
        best: [&str; 2],
    ) -> String {
        let [better, tie, earlier] = [(); 3].map(|()| self.temp(Class::Pred));
        let op = if largest { CompareOp::Gt } else { CompareOp::Lt };
        self.compare(op, dtype, &better, value, best[0]);
        self.compare(CompareOp::Eq, dtype, &tie, value, best[0]);
        let index = if index == DType::U64 { DType::I64 } else { index };
        self.compare(CompareOp::Lt, index, &earlier, at, best[1]);
        if dtype.is_float() {
            let kind = arithmetic(dtype);
            let nan = self.set(Class::Pred, &format!("setp.nan.{kind}"), &[value, value]);
            let best_nan = self.set(Class::Pred, &format!("setp.nan.{kind}"), &[best[0], best[0]]);
            let both = self.set(Class::Pred, "and.pred", &[&nan, &best_nan]);
            self.op(&format!("or.pred {tie}, {tie}, {both}"));
            let first = self.set(Class::Pred, "xor.pred", &[&nan, &both]);
            self.op(&format!("or.pred {better}, {better}, {first}"));
        }
        self.op(&format!("and.pred {tie}, {tie}, {earlier}"));
        self.set(Class::Pred, "or.pred", &[&better, &tie])
    }

    /// The tree over the elements of a run.
    pub(super) fn combine_run(&mut self, plan: FoldPlan, streams: &[Stream], step: usize) {
        for half in halves(plan.run) {
            for at in (0..plan.run).step_by(2 * half) {
                let [left, right] = [at, at + half].map(|element| value_registers(streams, step, element));
                self.combine_pair(streams, &left, &right);
            }
        }
    }

    /// The tree over the runs of a group: lanes, then steps. The result is in the first value's registers of
    /// the first lane.
    pub(super) fn combine_lanes(&mut self, plan: FoldPlan, streams: &[Stream]) {
        let lanes = self.fold_field(FoldField::Lanes);
        let whole = self.set(Class::Pred, "setp.eq.u32", &[&lanes, &LANES.to_string()]);
        self.op(&format!("@{whole} bra WARP"));
        self.combine_some_lanes(plan, streams);
        self.op("bra LANED");
        self.place("WARP");
        self.combine_warp(plan, streams);
        self.place("LANED");
    }

    /// The same of a part of a warp: its lanes in pairs, then the steps.
    pub(super) fn combine_some_lanes(&mut self, plan: FoldPlan, streams: &[Stream]) {
        let value = |step: usize| value_registers(streams, step, 0);
        self.note("a part of a warp");
        let lanes = self.fold_field(FoldField::Lanes);
        let distance = self.named(Class::B32, "%distance");
        self.op(&format!("mov.b32 {distance}, 1"));
        self.place("LANES");
        let done = self.set(Class::Pred, "setp.ge.u32", &[&distance, &lanes]);
        self.op(&format!("@{done} bra STEPS"));
        for step in 0..plan.steps {
            let theirs = self.shuffled(streams, &value(step), "down", &distance);
            self.combine_pair(streams, &value(step), &theirs);
        }
        self.op(&format!("shl.b32 {distance}, {distance}, 1"));
        self.op("bra LANES");
        self.place("STEPS");
        self.combine_steps(plan, streams);
    }

    /// The tree over the steps of a group.
    pub(super) fn combine_steps(&mut self, plan: FoldPlan, streams: &[Stream]) {
        let value = |step: usize| value_registers(streams, step, 0);
        for half in halves(plan.steps) {
            for at in (0..plan.steps).step_by(2 * half) {
                self.combine_pair(streams, &value(at), &value(at + half));
            }
        }
    }

    /// The lanes of a whole warp, then the steps. In each level a lane gives the half of its steps that its
    /// partner goes on with for the half that it goes on with itself, until it has one: lane 1 then has the
    /// step in the middle, lane 2 the one after a quarter.
    pub(super) fn combine_warp(&mut self, plan: FoldPlan, streams: &[Stream]) {
        self.note("a whole warp: lanes halve their steps");
        let value = |step: usize| value_registers(streams, step, 0);
        let mut kept = plan.steps;
        for distance in halves(LANES) {
            if kept == 1 {
                self.combine_with(streams, distance);
                continue;
            }
            kept /= 2;
            let bit = self.set(Class::B32, "and.b32", &["%lane", &distance.to_string()]);
            let second = self.set(Class::Pred, "setp.ne.u32", &[&bit, "0"]);
            for step in 0..kept {
                let (low, high) = (value(step), value(step + kept));
                let given: Vec<String> =
                    streams.iter().map(|stream| self.temp(class(stream.partial))).collect();
                self.choose(streams, &given, [&low, &high], &second);
                self.choose(streams, &low, [&high, &low], &second);
                let theirs = self.shuffled(streams, &given, "bfly", &distance.to_string());
                self.combine_ordered(streams, &low, &theirs, &second);
            }
        }
        for distance in halves(plan.steps).rev() {
            self.combine_with(streams, distance);
        }
    }

    /// The first value with that of the lane `distance` further on.
    fn combine_with(&mut self, streams: &[Stream], distance: usize) {
        let own = value_registers(streams, 0, 0);
        let theirs = self.shuffled(streams, &own, "down", &distance.to_string());
        self.combine_pair(streams, &own, &theirs);
    }

    /// `own = own op theirs`, or `theirs op own` where `second` says so. Only the minimum and maximum of
    /// floats tell one from the other: by the sign of a zero, by which NaN stays.
    fn combine_ordered(&mut self, streams: &[Stream], own: &[String], theirs: &[String], second: &str) {
        let mut right = theirs.to_vec();
        for (n, stream) in streams.iter().enumerate().filter(|(_, stream)| stream.is_ordered) {
            let left = self.temp(class(stream.partial));
            self.select(stream.partial, &left, [&theirs[n], &own[n]], second);
            right[n] = self.temp(class(stream.partial));
            self.select(stream.partial, &right[n], [&own[n], &theirs[n]], second);
            self.copy(stream.partial, &own[n], &left);
        }
        self.combine_pair(streams, own, &right);
    }

    /// `to = c ? a : b`, one register per stream.
    fn choose(&mut self, streams: &[Stream], to: &[String], [a, b]: [&[String]; 2], c: &str) {
        for (n, stream) in streams.iter().enumerate() {
            self.select(stream.partial, &to[n], [&a[n], &b[n]], c);
        }
    }

    /// Values of other lanes: those `distance` further on (`down`; the last lanes get their own), or those
    /// whose number differs in that bit (`bfly`).
    fn shuffled(&mut self, streams: &[Stream], own: &[String], mode: &str, distance: &str) -> Vec<String> {
        let shuffled = |(stream, own): (&Stream, &String)| {
            let word = self.word(stream.partial, own);
            let word = self.shuffle(word_class(stream.partial), &word, mode, distance);
            self.of_word(stream.partial, word)
        };
        streams.iter().zip(own).map(shuffled).collect()
    }

    /// A partial result as it is kept in memory.
    pub(super) fn word(&mut self, dtype: DType, value: &str) -> String {
        match dtype {
            DType::Bool => self.set(Class::B32, "selp.b32", &["1", "0", value]),
            _ => value.to_owned(),
        }
    }

    fn of_word(&mut self, dtype: DType, word: String) -> String {
        match dtype {
            DType::Bool => self.set(Class::Pred, "setp.ne.u32", &[&word, "0"]),
            _ => word,
        }
    }

    /// A partial result out of memory.
    pub(super) fn load_word(&mut self, space: &str, dtype: DType, place: &str) -> String {
        let class = word_class(dtype);
        let word = self.set(class, &format!("ld.{space}.{}", class.name()), &[place]);
        self.of_word(dtype, word)
    }
}
