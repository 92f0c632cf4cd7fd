//! The stages of a reduction: `fold` gives each block some kept points and one segment of what folds
//! into them; `finish` folds the segments' partial results where there are several.
//!
//! In a block, threads along one axis fold into the same points and threads along the other have
//! different ones; the launch says which axis is which, so that neighbouring threads read neighbouring
//! memory either way. What the threads of one point found is combined in shared memory and, where
//! they are neighbours, by shuffles. The order of every fold depends on the shape and the number of
//! multiprocessors alone.

use super::combine::word_class;
use crate::ptx::text::{
    Address, Class, Entry, Field, PtxTarget, PtxWriter, Quantity, Share, class, partial, quantities,
    register, size_bits,
};
use std::ops::Range;

use crate::dtype::{DType, Kind, Scalar};
use crate::ir::{Access, Fold, Form, Inst, Kernel, Op};

/// Bytes that a thread has under way at once: 64 KiB on a multiprocessor with all its threads.
const BYTES_UNDER_WAY: usize = 32;

/// Instructions that the loop over items may have, all repetitions of the body together.
const MAX_REPEATED: usize = 256;

/// Points whose loads a thread issues together.
fn together(kernel: &Kernel) -> usize {
    let loaded = |inst: &Inst| match inst.op {
        Op::Load { .. } => inst.dtype.size_bytes(),
        _ => 0,
    };
    let bytes = kernel.body.iter().map(loaded).sum::<usize>().max(4);
    let most = (MAX_REPEATED / kernel.body.len().max(1)).min(BYTES_UNDER_WAY / bytes);
    if most < 2 { 1 } else { 1 << most.ilog2() }
}

/// One sequence of partial results: a value fold has one, an argument fold two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::ptx) struct Stream {
    pub output: u32,
    /// The output's type.
    pub dtype: DType,
    /// The type that accumulates.
    pub partial: DType,
    /// It starts from this.
    pub neutral: Scalar,
    /// It is the index of an argument fold.
    pub index: bool,
}

/// Kept and folded slots of a reduction: at least one of each.
pub(in crate::ptx) fn slots(kernel: &Kernel) -> (usize, usize) {
    let Form::Reduce { axes, .. } = &kernel.form else { unreachable!("called for reductions") };
    let folded = axes.iter().filter(|&&a| a).count();
    ((axes.len() - folded).max(1), folded.max(1))
}

/// The streams of a reduction.
pub(in crate::ptx) fn streams(kernel: &Kernel) -> Vec<Stream> {
    let mut all = Vec::new();
    let mut add = |output: u32, neutral: &dyn Fn(DType) -> Scalar, index| {
        let dtype = kernel.params[output as usize].dtype;
        let (partial, neutral) = (partial(dtype), neutral(dtype));
        let neutral = match dtype.kind() {
            Kind::Float => Scalar::from_f64(partial, neutral.to_f64()),
            Kind::Uint if dtype == DType::U64 => neutral,
            Kind::Bool | Kind::Int | Kind::Uint => Scalar::from_i64(partial, neutral.to_i64()),
        };
        all.push(Stream { output, dtype, partial, neutral, index });
    };
    for fold in folds(kernel) {
        match *fold {
            Fold::Value { op, output, .. } => add(output, &|d| op.neutral(d), false),
            Fold::Arg { largest, value_output, index_output, .. } => {
                add(value_output, &|d| Scalar::extreme(d, !largest), false);
                // Indices are compared as i64: this one loses against every other.
                add(
                    index_output,
                    &|d| Scalar::from_f64(if d == DType::U64 { DType::I64 } else { d }, 1e30),
                    true,
                );
            }
        }
    }
    all
}

/// The folds of a reduction.
pub(in crate::ptx) fn folds(kernel: &Kernel) -> &[Fold] {
    let Form::Reduce { folds, .. } = &kernel.form else { unreachable!("called for reductions") };
    folds
}

/// The entries `fold` and `finish`.
pub(in crate::ptx) fn entries(kernel: &Kernel, target: &PtxTarget) -> Vec<Entry> {
    let streams = streams(kernel);
    vec![fold(PtxWriter::new(kernel, target), &streams), finish(PtxWriter::new(kernel, target), &streams)]
}

fn fold(mut w: PtxWriter, streams: &[Stream]) -> Entry {
    let (kept, folded) = slots(w.kernel);
    let folded = kept..kept + folded;
    w.roles();
    w.digits("%point", 0..kept);
    w.note("the thread's first item, and where the point's items begin");
    w.segment();
    w.digits("%item", folded.clone());
    for quantity in read(w.kernel) {
        let to = w.named(Field::Start(quantity).class(), &row_register(quantity));
        w.step(quantity, 0..kept, None, &to);
    }
    w.prologue();
    w.start(streams);
    w.start_lost(streams);
    w.items(streams, &folded);
    w.settle(streams);
    w.combine(streams);
    w.leave_all_but_first();
    w.note("the result, or one of several to be folded again");
    let segments = w.field(Field::Share(Share::Segments));
    let several = w.set(Class::Pred, "setp.ne.u32", &[&segments, "1"]);
    w.op(&format!("@{several} bra PARTIAL"));
    w.results(streams, kept);
    w.op("ret");
    w.place("PARTIAL");
    let first = w.field(Field::Share(Share::First));
    let number = w.set(Class::B32, "mov.b32", &["%ctaid.y"]);
    let number = w.set(Class::B32, "add.u32", &[&number, &first]);
    let at = w.partial_number(&number);
    for (n, stream) in streams.iter().enumerate() {
        let place = w.partial_place(n, stream, &at);
        let word = w.word(stream.partial, &format!("%acc{n}"));
        w.op(&format!("st.global.{} {place}, {word}", word_class(stream.partial).name()));
    }
    w.op("ret");
    w.finish("fold")
}

fn finish(mut w: PtxWriter, streams: &[Stream]) -> Entry {
    let (kept, _) = slots(w.kernel);
    w.roles();
    w.digits("%point", 0..kept);
    let folded = w.field(Field::Share(Share::Folded));
    for name in ["%item", "%stop"] {
        w.named(Class::B32, name);
    }
    w.op(&format!("selp.b32 %stop, {folded}, 0, %live"));
    w.op("mov.b32 %item, %lane");
    w.start(streams);
    w.place("ITEM");
    w.leave_loop("%item", "FOLDED");
    let at = w.partial_number("%item");
    let values: Vec<String> = (0..streams.len())
        .map(|n| {
            let place = w.partial_place(n, &streams[n], &at);
            w.load_word("global", streams[n].partial, &place.to_string())
        })
        .collect();
    w.merge(streams, &values);
    w.op("add.u32 %item, %item, %lanes");
    w.op("bra ITEM");
    w.place("FOLDED");
    w.combine(streams);
    w.leave_all_but_first();
    w.results(streams, kept);
    w.op("ret");
    w.finish("finish")
}

/// The quantities that the body reads; outputs are located once, at the end.
fn read(kernel: &Kernel) -> Vec<Quantity> {
    let written =
        |q: &Quantity| matches!(q, Quantity::Param(p) if kernel.params[*p as usize].access != Access::In);
    quantities(kernel).into_iter().filter(|q| !written(q)).collect()
}

fn row_register(quantity: Quantity) -> String {
    format!("{}_row", register(quantity))
}

impl PtxWriter<'_> {
    /// Which point a thread folds into, `%point`, and its place `%lane` among the `%lanes` threads that
    /// do; `%live` if there is such a point. The partner at a distance of one lane is `%apart` threads on.
    fn roles(&mut self) {
        self.note("the point the thread folds into, and its place among the threads that do");
        let (inner, kept) = (self.field(Field::Share(Share::Inner)), self.field(Field::Share(Share::Kept)));
        for name in ["%thread", "%lane", "%lanes", "%apart", "%point"] {
            self.named(Class::B32, name);
        }
        for name in ["%across", "%live"] {
            self.named(Class::Pred, name);
        }
        let [tx, ty, wx, wy, block] = ["%tid.x", "%tid.y", "%ntid.x", "%ntid.y", "%ctaid.x"]
            .map(|register| self.set(Class::B32, "mov.b32", &[register]));
        self.op(&format!("mad.lo.u32 %thread, {ty}, {wx}, {tx}"));
        self.op(&format!("setp.ne.u32 %across, {inner}, 0"));
        self.op(&format!("selp.b32 %lane, {tx}, {ty}, %across"));
        self.op(&format!("selp.b32 %lanes, {wx}, {wy}, %across"));
        self.op(&format!("selp.b32 %apart, 1, {wx}, %across"));
        let other = self.set(Class::B32, "selp.b32", &[&ty, &tx, "%across"]);
        let others = self.set(Class::B32, "selp.b32", &[&wy, &wx, "%across"]);
        let point = self.set(Class::B32, "mad.lo.u32", &[&block, &others, &other]);
        self.op(&format!("setp.lt.u32 %live, {point}, {kept}"));
        self.op(&format!("selp.b32 %point, {point}, 0, %live"));
    }

    /// The thread's first item of the block's segment, `%item`, and the segment's end, `%stop`.
    fn segment(&mut self) {
        let (length, folded) =
            (self.field(Field::Share(Share::Length)), self.field(Field::Share(Share::Folded)));
        for name in ["%item", "%stop"] {
            self.named(Class::B32, name);
        }
        let number = self.set(Class::B32, "mov.b32", &["%ctaid.y"]);
        let start = self.set(Class::B32, "mul.lo.u32", &[&number, &length]);
        let stop = self.set(Class::B32, "add.u32", &[&start, &length]);
        let stop = self.set(Class::B32, "min.u32", &[&stop, &folded]);
        self.op(&format!("selp.b32 %stop, {stop}, 0, %live"));
        self.op(&format!("add.u32 %item, {start}, %lane"));
    }

    /// Every accumulator neutral.
    fn start(&mut self, streams: &[Stream]) {
        for (n, stream) in streams.iter().enumerate() {
            let acc = self.named(class(stream.partial), &format!("%acc{n}"));
            self.constant(&acc, stream.neutral);
        }
    }

    /// What the accumulators of float sums lose is 0 at first.
    fn start_lost(&mut self, streams: &[Stream]) {
        for (n, stream) in self.compensated(streams) {
            let lost = self.named(class(stream.partial), &format!("%lost{n}"));
            self.constant(&lost, stream.neutral);
        }
    }

    /// Folds every `%lanes`-th item: a few at a time while there are as many, then one by one.
    fn items(&mut self, streams: &[Stream], folded: &Range<usize>) {
        let together = together(self.kernel);
        if together > 1 {
            self.note(&format!("{together} items at a time, while there are as many"));
            let reach = self.set(Class::B32, "mul.lo.u32", &["%lanes", &(together - 1).to_string()]);
            self.place("ITEMS");
            let last = self.set(Class::B32, "add.u32", &["%item", &reach]);
            self.leave_loop(&last, "ITEM");
            self.some_items(streams, folded, together);
            self.op("bra ITEMS");
        }
        self.place("ITEM");
        self.note("one by one");
        self.leave_loop("%item", "FOLDED");
        self.some_items(streams, folded, 1);
        self.op("bra ITEM");
        self.place("FOLDED");
    }

    pub(in crate::ptx) fn leave_loop(&mut self, item: &str, to: &str) {
        let past = self.set(Class::Pred, "setp.ge.u32", &[item, "%stop"]);
        self.op(&format!("@{past} bra {to}"));
    }

    fn some_items(&mut self, streams: &[Stream], folded: &Range<usize>, count: usize) {
        let mut names = Vec::new();
        for n in 0..count {
            let lane = if count == 1 { String::new() } else { format!("_{n}") };
            for quantity in read(self.kernel) {
                self.locate(quantity, folded.clone(), Some(&row_register(quantity)));
            }
            self.read(&lane);
            self.keep_coordinates(&lane);
            names.push(self.names.clone());
            self.advance(folded);
        }
        for (n, names) in names.into_iter().enumerate() {
            let lane = if count == 1 { String::new() } else { format!("_{n}") };
            self.names = names;
            self.compute(&lane);
            let values: Vec<String> = self.kernel.roots().iter().map(|&v| self.name(v)).collect();
            let widened: Vec<String> =
                streams.iter().zip(&values).map(|(s, v)| self.widened(s.dtype, v)).collect();
            self.merge_items(streams, &widened);
        }
    }

    /// Coordinates of several points must outlive the step to the next.
    fn keep_coordinates(&mut self, lane: &str) {
        if lane.is_empty() {
            return;
        }
        for at in 0..self.kernel.body.len() {
            let inst = &self.kernel.body[at];
            if matches!(inst.op, Op::Coord(_)) {
                let to = self.named(class(inst.dtype), &format!("%v{at}{lane}"));
                let from = self.names[at].clone();
                self.copy(inst.dtype, &to, &from);
                self.names[at] = to;
            }
        }
    }

    fn widened(&mut self, dtype: DType, value: &str) -> String {
        match class(dtype) {
            Class::B16 => self.widen(dtype, value),
            _ => value.to_owned(),
        }
    }

    /// Moves the folded coordinates on by `%lanes` items: an addition with carry.
    fn advance(&mut self, folded: &Range<usize>) {
        self.op("add.u32 %item, %item, %lanes");
        if folded.len() == 1 {
            return self.op(&format!("mov.b32 %i{}, %item", folded.start));
        }
        for slot in folded.clone().rev() {
            let digit = self.field(Field::Digit(slot));
            self.op(&format!("add.u32 %i{slot}, %i{slot}, {digit}"));
            if slot + 1 < folded.end {
                self.op(&format!("add.u32 %i{slot}, %i{slot}, %carry"));
            }
            if slot > folded.start {
                let extent = self.field(Field::Extent(slot));
                let carry = self.named(Class::B32, "%carry");
                let over = self.set(Class::Pred, "setp.ge.u32", &[&format!("%i{slot}"), &extent]);
                self.op(&format!("selp.b32 {carry}, 1, 0, {over}"));
                self.op(&format!("@{over} sub.u32 %i{slot}, %i{slot}, {extent}"));
            }
        }
    }

    /// Only the first thread of a point, if there is one, goes on.
    pub(in crate::ptx) fn leave_all_but_first(&mut self) {
        let other = self.set(Class::Pred, "setp.ne.u32", &["%lane", "0"]);
        self.op(&format!("@{other} ret"));
        self.op("@!%live ret");
    }

    /// The number of a partial result within its stream: that of the point times the segments, plus
    /// the segment's.
    pub(in crate::ptx) fn partial_number(&mut self, segment: &str) -> String {
        let segments = self.field(Field::Share(Share::Segments));
        let wide = self.set(Class::B64, "cvt.u64.u32", &[segment]);
        self.set(Class::B64, "mad.wide.u32", &["%point", &segments, &wide])
    }

    pub(in crate::ptx) fn partial_place(&mut self, n: usize, stream: &Stream, number: &str) -> Address {
        let base = self.field(Field::Partials(n));
        let bits = word_class(stream.partial).bytes().trailing_zeros().to_string();
        let bytes = self.set(Class::B64, "shl.b64", &[number, &bits]);
        Address::at(&self.set(Class::B64, "add.s64", &[&base, &bytes]))
    }

    /// Rounds the accumulators to the outputs' types and stores them.
    fn results(&mut self, streams: &[Stream], kept: usize) {
        for (n, stream) in streams.iter().enumerate() {
            let at = self.locate(Quantity::Param(stream.output), 0..kept, None);
            let mut value = format!("%acc{n}");
            if stream.index {
                let empty = self.field(Field::Share(Share::Empty));
                let none = self.set(Class::Pred, "setp.ne.u32", &[&empty, "0"]);
                let bits = class(stream.dtype).name();
                value = self.set(class(stream.dtype), &format!("selp.{bits}"), &["0", &value, &none]);
            } else if class(stream.dtype) == Class::B16 {
                let to = self.temp(Class::B16);
                self.round(stream.dtype, &to, &value);
                value = to;
            }
            // Integers are stored by their low bytes, which is how they wrap.
            self.store_run("global", stream.dtype, &[value], &Address::at(&at));
        }
    }
}

/// Bytes of a stream's partial results.
pub(in crate::ptx) fn partial_bytes(stream: &Stream) -> u64 {
    1 << size_bits(stream.partial).max(2)
}
