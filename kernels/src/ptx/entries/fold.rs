//! The entries of a reduction. `fold` gives each block the values of some kept points, or a part of the
//! values of one; `fold_runs` is the same where every run of neighbours is one aligned load, which leaves
//! registers for more blocks side by side; `fold_columns` gives each thread the kept points of one word;
//! `tree` combines what several blocks made of one point, until one
//! is left.
//!
//! The order is the definition's (see [`crate::interpret`]): a tree of adjacent pairs over the numbers of the
//! folded points. A *share* is the part of a tree that some lanes of a warp have together: an aligned run of
//! numbers whose length is a power of two. It is taken group by group. In a group each lane has runs of
//! neighbours, which it combines in registers; shuffles combine the lanes, lower numbers on the left
//! (`fold_streams`); and the results of the groups are combined by a binary counter: a carry out of bit `k`
//! is a tree of 2^k groups.
//! The shares of a block meet in shared memory, blocks in memory. Where numbers end early, the neutral
//! element stands in, so the result depends on none of these sizes.
//!
//! The launch decides how threads become lanes and shares: if folded points lie closer together in memory
//! than kept ones, up to 32 lanes share a point; otherwise neighbouring threads have neighbouring kept
//! points, and every share is one lane. Shuffles and branches around them are the same for all threads of a
//! warp; `bra.uni` says so where the assembler would otherwise make a call of each shuffle (before sm_90).

use super::fold_streams::{Stream, partial_bytes, registers, streams, value_registers, word_class};
use super::fold_values::{Runs, row_register};
use crate::ptx::schedule::{FoldPlan, FoldPlans, fold_slots};
use crate::ptx::text::{
    Address, Class, Entry, Field, FoldField, PtxTarget, PtxWriter, Quantity, THREADS, class,
};
use crate::verify::Verified;

/// The entries `fold` and `tree`, `fold_runs` where a run is more than one value, and `fold_columns`.
pub(crate) fn entries(kernel: &Verified, target: &PtxTarget, plans: FoldPlans) -> Vec<Entry> {
    let streams = streams(kernel.kernel());
    let writer = || {
        let mut writer = PtxWriter::new(kernel, target);
        writer.side_by_side(plans.blocks);
        writer
    };
    let mut entries = vec![fold(writer(), plans.any, &streams, Runs::Any), tree(writer(), &streams)];
    entries.extend((plans.aligned.run > 1).then(|| fold(writer(), plans.aligned, &streams, Runs::Aligned)));
    entries.extend(plans.columns.map(|plan| {
        let streams = streams.repeat(plan.columns);
        fold(writer(), plan, &streams, Runs::Columns)
    }));
    entries
}

fn fold(mut w: PtxWriter, plan: FoldPlan, streams: &[Stream], runs: Runs) -> Entry {
    let (kept, folded) = fold_slots(w.kernel);
    let folded = kept..kept + folded;
    w.roles(plan);
    w.note("where the point's values are, and the thread's first");
    w.digits("%point", 0..kept);
    w.digits("%number", folded.clone());
    if folded.len() > 1 {
        w.add_digits(&folded, FoldField::Base);
    }
    for quantity in w.located() {
        let to = w.named(Field::Start(quantity).class(), &row_register(quantity));
        w.step(quantity, 0..kept, None, &to);
    }
    w.prologue();
    w.groups(plan, streams, |w| w.group_of_body(plan, streams, &folded, runs));
    let kind = match runs {
        Runs::Any => "fold",
        Runs::Aligned => "fold_runs",
        Runs::Columns => "fold_columns",
    };
    w.finish_fold(kind, plan, streams, kept)
}

fn tree(mut w: PtxWriter, streams: &[Stream]) -> Entry {
    let (kept, _) = fold_slots(w.kernel);
    w.roles(FoldPlan::TREE);
    w.digits("%point", 0..kept);
    w.groups(FoldPlan::TREE, streams, |w| w.partial_results(FoldPlan::TREE, streams));
    w.finish_fold("tree", FoldPlan::TREE, streams, kept)
}

impl PtxWriter<'_> {
    /// The thread's kept point, `%point`, and whether there is one, `%live`; its share of the point's values,
    /// and its lane in it. `%start` is the first number of the share, `%number` that of the thread, `%reach`
    /// the length of a group.
    fn roles(&mut self, plan: FoldPlan) {
        self.note("the thread's point, its share of the values and its lane in the share");
        for name in ["%row", "%point", "%share", "%lane", "%reach", "%start", "%number", "%group"] {
            self.named(Class::B32, name);
        }
        for name in ["%live", "%leads"] {
            self.named(Class::Pred, name);
        }
        let [thread, block, part] =
            ["%tid.x", "%ctaid.x", "%ctaid.y"].map(|special| self.set(Class::B32, "mov.b32", &[special]));
        let rows = self.fold_field(FoldField::Rows);
        let member = {
            let pick = |w: &mut Self, shift: FoldField, mask: FoldField| {
                let (shift, mask) = (w.fold_field(shift), w.fold_field(mask));
                let shifted = w.set(Class::B32, "shr.u32", &[&thread, &shift]);
                w.set(Class::B32, "and.b32", &[&shifted, &mask])
            };
            let row = pick(self, FoldField::RowShift, FoldField::RowMask);
            self.op(&format!("mov.b32 %row, {row}"));
            pick(self, FoldField::MemberShift, FoldField::MemberMask)
        };
        let kept = self.fold_field(FoldField::Kept);
        let point = self.set(Class::B32, "mad.lo.u32", &[&block, &rows, "%row"]);
        let last = self.set(Class::B32, "sub.u32", &[&kept, "1"]);
        self.op(&format!("setp.lt.u32 %live, {point}, {kept}"));
        self.op(&format!("min.u32 %point, {point}, {last}"));
        let (lanes, shift) = (self.fold_field(FoldField::Lanes), self.fold_field(FoldField::LaneShift));
        let mask = self.set(Class::B32, "sub.u32", &[&lanes, "1"]);
        self.op(&format!("and.b32 %lane, {member}, {mask}"));
        self.op(&format!("shr.u32 %share, {member}, {shift}"));
        self.op("setp.eq.u32 %leads, %lane, 0");
        let (shares, groups) = (self.fold_field(FoldField::Shares), self.fold_field(FoldField::Groups));
        self.op(&format!("shl.b32 %reach, {lanes}, {}", plan.values().ilog2()));
        let number = self.set(Class::B32, "mad.lo.u32", &[&part, &shares, "%share"]);
        let number = self.set(Class::B32, "mul.lo.u32", &[&number, &groups]);
        self.op(&format!("mul.lo.u32 %start, {number}, %reach"));
        self.op(&format!("mad.lo.u32 %number, %lane, {}, %start", plan.run));
    }

    /// Goes through the groups of the share; `combined` leaves a group's result in the first value's
    /// registers of the first lane and moves `%number` on. The result of all is in `%acc`.
    fn groups(&mut self, plan: FoldPlan, streams: &[Stream], combined: impl FnOnce(&mut Self)) {
        let acc = registers(streams, |n| format!("%acc{n}"));
        for (stream, acc) in streams.iter().zip(&acc) {
            self.named(class(stream.partial), acc);
        }
        for step in 0..plan.steps {
            for element in 0..plan.run {
                for (stream, value) in streams.iter().zip(value_registers(streams, step, element)) {
                    self.named(class(stream.partial), &value);
                }
            }
        }
        let folded = self.fold_field(FoldField::Folded);
        self.op("mov.b32 %group, 0");
        self.note("the warp's first number: a warp goes on as long as one of its threads must");
        let first = self.named(Class::B32, "%first_start");
        self.op(&format!("shfl.sync.idx.b32 {first}, %start, 0, 31, 0xffffffff"));
        self.place("GROUP");
        let past = self.set(Class::Pred, "setp.ge.u32", &[&first, &folded]);
        self.op(&format!("@{past} bra.uni PAST"));
        combined(self);
        self.copy_all(streams, &acc, &value_registers(streams, 0, 0));
        self.op("bra COUNT");
        self.place("PAST");
        for (stream, acc) in streams.iter().zip(&acc) {
            self.constant(acc, stream.neutral);
        }
        self.place("COUNT");
        self.note("a binary counter: each bit that is set is a tree that waits for its right half");
        for level in 0..FoldPlan::LEVELS {
            let bit = self.set(Class::B32, "and.b32", &["%group", &(1u32 << level).to_string()]);
            let free = self.set(Class::Pred, "setp.eq.u32", &[&bit, "0"]);
            self.op(&format!("@{free} bra KEEP{level}"));
            let left = registers(streams, |n| format!("%tree{n}_{level}"));
            self.combine_pair(streams, &left, &acc);
            self.copy_all(streams, &acc, &left);
        }
        self.op("bra NEXT");
        for level in 0..FoldPlan::LEVELS {
            self.place(&format!("KEEP{level}"));
            let left = registers(streams, |n| format!("%tree{n}_{level}"));
            for (stream, left) in streams.iter().zip(&left) {
                self.named(class(stream.partial), left);
            }
            self.copy_all(streams, &left, &acc);
            if level + 1 < FoldPlan::LEVELS {
                self.op("bra NEXT");
            }
        }
        self.place("NEXT");
        let groups = self.fold_field(FoldField::Groups);
        self.op("add.u32 %start, %start, %reach");
        self.op(&format!("add.u32 {first}, {first}, %reach"));
        self.op("add.u32 %group, %group, 1");
        let more = self.set(Class::Pred, "setp.lt.u32", &["%group", &groups]);
        self.op(&format!("@{more} bra.uni GROUP"));
    }

    fn copy_all(&mut self, streams: &[Stream], to: &[String], from: &[String]) {
        for ((stream, to), from) in streams.iter().zip(to).zip(from) {
            self.copy(stream.partial, to, from);
        }
    }

    /// The partial results of a group.
    fn partial_results(&mut self, plan: FoldPlan, streams: &[Stream]) {
        let folded = self.fold_field(FoldField::Folded);
        self.named(Class::B32, "%end");
        self.named(Class::Pred, "%full");
        self.op("add.u32 %end, %start, %reach");
        self.op(&format!("setp.le.u32 %full, %end, {folded}"));
        let last = self.set(Class::B32, "sub.u32", &[&folded, "1"]);
        for step in 0..plan.steps {
            self.begin_step(step);
            let inside = self.set(Class::B32, "min.u32", &["%number", &last]);
            let wide = self.set(Class::B64, "cvt.u64.u32", &[&inside]);
            let at = self.set(Class::B64, "mad.wide.u32", &["%point", &folded, &wide]);
            for (n, stream) in streams.iter().enumerate() {
                let place = self.partial_place(FoldField::Previous(n), stream, &at);
                let value = self.load_word("global", stream.partial, &place.to_string());
                self.copy(stream.partial, &value_registers(streams, step, 0)[n], &value);
            }
            self.end_step(plan);
        }
        let whole = self.label("WHOLE");
        self.op(&format!("@%full bra.uni {whole}"));
        (0..plan.steps).for_each(|step| self.replace_missing(plan, streams, step));
        self.place(&whole);
        self.combine_lanes(plan, streams);
    }

    /// `%number0` and so on: the thread's first number of a step.
    pub(super) fn begin_step(&mut self, step: usize) {
        let to = self.named(Class::B32, &format!("%number{step}"));
        self.op(&format!("mov.b32 {to}, %number"));
    }

    /// Moves `%number` on to the thread's run of the next step.
    pub(super) fn end_step(&mut self, plan: FoldPlan) {
        let lanes = self.fold_field(FoldField::Lanes);
        self.op(&format!("mad.lo.u32 %number, {lanes}, {}, %number", plan.run));
    }

    /// The neutral element for the values of a step that are missing.
    pub(super) fn replace_missing(&mut self, plan: FoldPlan, streams: &[Stream], step: usize) {
        let folded = self.fold_field(FoldField::Folded);
        let neutral: Vec<String> = streams.iter().map(|stream| self.fresh(stream.neutral)).collect();
        let first = format!("%number{step}");
        let end = self.set(Class::B32, "max.u32", &[&first, &folded]);
        let left = self.set(Class::B32, "sub.u32", &[&end, &first]);
        for element in 0..plan.run {
            let there = self.set(Class::Pred, "setp.gt.u32", &[&left, &element.to_string()]);
            let values = value_registers(streams, step, element);
            for ((stream, value), neutral) in streams.iter().zip(&values).zip(&neutral) {
                self.select(stream.partial, value, [value, neutral], &there);
            }
        }
    }

    /// Combines the shares of a point in the first lane of the first share, and stores what that has.
    fn finish_fold(mut self, kind: &'static str, plan: FoldPlan, streams: &[Stream], kept: usize) -> Entry {
        self.combine_shares(streams);
        let first = self.set(Class::Pred, "setp.ne.u32", &["%share", "0"]);
        self.op(&format!("@{first} ret"));
        self.op("@!%leads ret");
        self.op("@!%live ret");
        self.note("the result, or one of several to be combined");
        let segments = self.fold_field(FoldField::Segments);
        let several = self.set(Class::Pred, "setp.ne.u32", &[&segments, "1"]);
        self.op(&format!("@{several} bra PARTIAL"));
        self.results(plan, streams, kept);
        self.op("ret");
        self.place("PARTIAL");
        let first = self.fold_field(FoldField::First);
        let number = self.set(Class::B32, "mov.b32", &["%ctaid.y"]);
        let number = self.set(Class::B32, "add.u32", &[&number, &first]);
        let wide = self.set(Class::B64, "cvt.u64.u32", &[&number]);
        let point = self.set(Class::B32, "mul.lo.u32", &["%point", &plan.columns.to_string()]);
        let own = streams.len() / plan.columns;
        let mut at = String::new();
        for (n, stream) in streams.iter().enumerate() {
            if n % own == 0 {
                let point = self.set(Class::B32, "add.u32", &[&point, &(n / own).to_string()]);
                at = self.set(Class::B64, "mad.wide.u32", &[&point, &segments, &wide]);
            }
            let place = self.partial_place(FoldField::Partials(n % own), stream, &at);
            let word = self.word(stream.partial, &format!("%acc{n}"));
            self.op(&format!("st.global.{} {place}, {word}", word_class(stream.partial).name()));
        }
        self.op("ret");
        self.finish(kind)
    }

    fn partial_place(&mut self, base: FoldField, stream: &Stream, number: &str) -> Address {
        let base = self.fold_field(base);
        let bits = partial_bytes(stream).trailing_zeros().to_string();
        let bytes = self.set(Class::B64, "shl.b64", &[number, &bits]);
        Address::at(&self.set(Class::B64, "add.s64", &[&base, &bytes]))
    }

    /// Shares in adjacent pairs, level by level, through shared memory.
    fn combine_shares(&mut self, streams: &[Stream]) {
        self.note("the shares of a point");
        let (shares, rows) = (self.fold_field(FoldField::Shares), self.fold_field(FoldField::Rows));
        let alone = self.set(Class::Pred, "setp.eq.u32", &[&shares, "1"]);
        self.op(&format!("@{alone} bra COMBINED"));
        let acc = registers(streams, |n| format!("%acc{n}"));
        let slot = self.set(Class::B32, "mad.lo.u32", &["%share", &rows, "%row"]);
        let mut mine = Vec::new();
        for (n, stream) in streams.iter().enumerate() {
            let bytes = partial_bytes(stream) as usize;
            self.share(&format!("exchange{n}"), THREADS as usize * bytes);
            let base = self.set(Class::B32, "mov.b32", &[&format!("exchange{n}")]);
            mine.push(self.set(Class::B32, "mad.lo.u32", &[&slot, &bytes.to_string(), &base]));
        }
        let store = |w: &mut Self, guard: &str| {
            for ((stream, place), acc) in streams.iter().zip(&mine).zip(&acc) {
                let word = w.word(stream.partial, acc);
                w.op(&format!("{guard}st.shared.{} [{place}], {word}", word_class(stream.partial).name()));
            }
        };
        store(self, "@%leads ");
        let distance = self.named(Class::B32, "%distance");
        self.op(&format!("mov.b32 {distance}, 1"));
        self.place("PAIRS");
        self.op("bar.sync 0");
        let twice = self.set(Class::B32, "shl.b32", &[&distance, "1"]);
        let mask = self.set(Class::B32, "sub.u32", &[&twice, "1"]);
        let low = self.set(Class::B32, "and.b32", &["%share", &mask]);
        let right = self.set(Class::Pred, "setp.ne.u32", &[&low, "0"]);
        self.op(&format!("@{right} bra PAIRED"));
        self.op("@!%leads bra PAIRED");
        let apart = self.set(Class::B32, "mul.lo.u32", &[&distance, &rows]);
        let theirs: Vec<String> = (streams.iter().zip(&mine))
            .map(|(stream, place)| {
                let bytes = partial_bytes(stream).to_string();
                let place = self.set(Class::B32, "mad.lo.u32", &[&apart, &bytes, place]);
                self.load_word("shared", stream.partial, &format!("[{place}]"))
            })
            .collect();
        self.combine_pair(streams, &acc, &theirs);
        store(self, "");
        self.place("PAIRED");
        self.op(&format!("mov.b32 {distance}, {twice}"));
        let more = self.set(Class::Pred, "setp.lt.u32", &[&distance, &shares]);
        self.op(&format!("@{more} bra PAIRS"));
        self.place("COMBINED");
    }

    /// Rounds the accumulators to the outputs' types and stores them.
    fn results(&mut self, plan: FoldPlan, streams: &[Stream], kept: usize) {
        let own = streams.len() / plan.columns;
        self.combine_neutral(streams, &registers(streams, |n| format!("%acc{n}")));
        for (n, stream) in streams.iter().enumerate() {
            let at = self.locate(Quantity::Param(stream.output), 0..kept, None);
            let mut value = format!("%acc{n}");
            if stream.index {
                let empty = self.fold_field(FoldField::Empty);
                let none = self.set(Class::Pred, "setp.ne.u32", &[&empty, "0"]);
                let bits = class(stream.dtype).name();
                value = self.set(class(stream.dtype), &format!("selp.{bits}"), &["0", &value, &none]);
            } else if class(stream.dtype) == Class::B16 {
                let to = self.temp(Class::B16);
                self.round(stream.dtype, &to, &value);
                value = to;
            }
            // Integers are stored by their low bytes, which is how they wrap.
            let bytes = (n / own * stream.dtype.size_bytes()) as i64;
            self.store_run("global", stream.dtype, &[value], &Address { register: at, bytes });
        }
    }
}
