//! The values of a fold: what a thread loads and computes of a group.
//!
//! Runs of neighbours that no row of the array cuts are loaded as vectors where they are aligned, and element
//! by element from one address where they are not. Where rows cut runs, or the numbers end within a group,
//! each element has coordinates of its own. Those of the next element come by additions with carry.
//!
//! What points store beside their folds is stored once the body is computed: as vectors where runs are
//! aligned.

use std::ops::Range;

use super::fold_streams::{LANES, Stream, value_registers};
use crate::dtype::DType;
use crate::ir::Op;
use crate::ptx::schedule::FoldPlan;
use crate::ptx::text::{Address, Class, Field, FoldField, Point, PtxWriter, Quantity, class, register};

/// The known shape of the runs of neighbours that a thread loads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Runs {
    /// Rows may cut them, and they may lie anywhere.
    Any,
    /// Each is whole, or wholly missing, and aligned.
    Aligned,
    /// Each is the values of kept points at one number, in one aligned load.
    Columns,
}

pub(super) fn row_register(quantity: Quantity) -> String {
    format!("{}_row", register(quantity))
}

/// The register of the address at which an element of a run is stored.
fn stored_at(param: u32, step: usize, element: usize) -> String {
    format!("%to{param}_{step}_{element}")
}

impl PtxWriter<'_> {
    /// The quantities that every point needs; results of folds are located once, at the end.
    pub(super) fn located(&self) -> Vec<Quantity> {
        let params = self.footprint.params();
        let of_point = |q: &Quantity| match *q {
            Quantity::Param(p) => {
                !params[p as usize].is_stored || self.kernel.stores_beside_folds(p as usize)
            }
            Quantity::Coord(..) => true,
        };
        self.quantities().into_iter().filter(of_point).collect()
    }

    /// A group of the body's values, combined; the neutral element stands for those that are missing.
    pub(super) fn group_of_body(
        &mut self,
        plan: FoldPlan,
        streams: &[Stream],
        folded: &Range<usize>,
        runs: Runs,
    ) {
        let total = self.fold_field(FoldField::Folded);
        for name in ["%end", "%top"] {
            self.named(Class::B32, name);
        }
        self.named(Class::Pred, "%full");
        self.op("add.u32 %end, %start, %reach");
        self.op(&format!("setp.le.u32 %full, %end, {total}"));
        // A thread has all of a column's values of a group.
        let combine = |w: &mut Self, lanes: fn(&mut Self, FoldPlan, &[Stream])| match runs {
            Runs::Columns => w.combine_steps(plan, streams),
            Runs::Any | Runs::Aligned => lanes(w, plan, streams),
        };
        let has_coordinates = self.kernel.body.iter().any(|inst| matches!(inst.op, Op::Coord(_)));
        if runs != Runs::Any && folded.len() == 1 && !has_coordinates {
            self.note("a whole group of a whole warp, or of columns: its loads are at fixed distances");
            if runs == Runs::Aligned {
                let lanes = self.fold_field(FoldField::Lanes);
                let part = self.set(Class::Pred, "setp.ne.u32", &[&lanes, &LANES.to_string()]);
                self.op(&format!("@{part} bra.uni ANY"));
            }
            self.op("@!%full bra ANY");
            self.loads_of_a_group(plan, folded.start, runs);
            self.values(plan, streams, runs, true);
            combine(self, Self::combine_warp);
            self.op("bra GROUPED");
            self.place("ANY");
            self.note("any other group");
            self.runs(plan, folded, runs);
            self.values(plan, streams, runs, false);
            combine(self, Self::combine_some_lanes);
            return self.place("GROUPED");
        }
        match runs {
            Runs::Aligned | Runs::Columns => self.runs(plan, folded, runs),
            Runs::Any if plan.run == 1 => self.singly(plan, folded),
            Runs::Any => {
                let whole = self.fold_field(FoldField::Runs);
                let cut = self.set(Class::Pred, "setp.gt.u32", &["%end", &whole]);
                self.op(&format!("@{cut} bra SINGLY"));
                self.note("runs of neighbours");
                self.runs(plan, folded, runs);
                self.op("bra LOADED");
                self.place("SINGLY");
                self.note("value by value");
                self.singly(plan, folded);
                self.place("LOADED");
            }
        }
        self.note("the body, and the neutral element for what is missing");
        self.op("@!%full bra MISSING");
        self.values(plan, streams, runs, true);
        self.op("bra VALUES");
        self.place("MISSING");
        self.values(plan, streams, runs, false);
        self.place("VALUES");
        combine(self, Self::combine_lanes);
    }

    /// The values of each step, those of a run combined: then no more than one of each step is kept. All are
    /// there, or the neutral element stands for some.
    fn values(&mut self, plan: FoldPlan, streams: &[Stream], runs: Runs, is_full: bool) {
        for step in 0..plan.steps {
            self.unpack_inputs(plan, step);
            let mut points = Vec::new();
            for element in 0..plan.neighbours() {
                self.name_inputs(step, element);
                points.push(Point { mark: format!("_{step}_{element}"), names: self.names.clone() });
            }
            self.compute_points(&mut points);
            for (element, point) in points.iter().enumerate() {
                let roots = self.kernel.roots().into_iter().map(|value| &point.names[value.index()]);
                let (column, element) = (element / plan.run, element % plan.run);
                let values = value_registers(streams, step, element);
                let own = streams.len() / plan.columns;
                let values = streams.iter().zip(&values).skip(column * own);
                for ((stream, value), root) in values.zip(roots) {
                    match class(stream.dtype) {
                        Class::B16 => {
                            let wide = self.widen(stream.dtype, root);
                            self.copy(stream.partial, value, &wide);
                        }
                        _ => self.copy(stream.partial, value, root),
                    }
                }
            }
            self.store_points((plan, runs), step, &points, is_full);
            if !is_full {
                self.replace_missing(plan, streams, step);
            }
            self.combine_run(plan, streams, step);
        }
    }

    /// Stores what the points of a step store beside their folds, those that are there.
    fn store_points(&mut self, (plan, runs): (FoldPlan, Runs), step: usize, points: &[Point], is_full: bool) {
        let stores = self.kernel.stores_of_folds();
        // Elements of one store.
        let together = if runs == Runs::Aligned { plan.run } else { 1 };
        for element in (0..plan.run).step_by(together).filter(|_| !stores.is_empty()) {
            let mut is_there = "%live".to_owned();
            if !is_full {
                let (first, folded) = (format!("%number{step}"), self.fold_field(FoldField::Folded));
                let own = self.set(Class::B32, "add.u32", &[&first, &element.to_string()]);
                let inside = self.set(Class::Pred, "setp.lt.u32", &[&own, &folded]);
                is_there = self.set(Class::Pred, "and.pred", &[&inside, &is_there]);
            }
            for store in stores {
                let (dtype, at) = (self.kernel.params[store.param as usize].dtype, store.value.index());
                let run = &points[element..element + together];
                let values: Vec<String> = run.iter().map(|point| point.names[at].clone()).collect();
                let to = Address::at(&stored_at(store.param, step, element));
                self.guarded(&is_there, |w| w.store_run("global", dtype, &values, &to));
            }
        }
    }

    /// Where an element of a run is stored: at the point that was located.
    fn place_stores(&mut self, step: usize, element: usize) {
        for store in self.kernel.stores_of_folds() {
            let to = self.named(Class::B64, &stored_at(store.param, step, element));
            self.op(&format!("mov.b64 {to}, {}", register(Quantity::Param(store.param))));
        }
    }

    /// Loads of a whole group along one slot: those of a whole warp in one row from one address, those of
    /// columns a row apart.
    fn loads_of_a_group(&mut self, plan: FoldPlan, slot: usize, runs: Runs) {
        let kernel = self.kernel;
        let wide = self.set(Class::B64, "cvt.u64.u32", &["%number"]);
        for quantity in self.located() {
            if let Quantity::Param(param) = quantity {
                let (to, from) = (self.named(Class::B64, &register(quantity)), row_register(quantity));
                let stride = self.field(Field::Stride(param, slot));
                self.op(&format!("mad.lo.s64 {to}, {wide}, {stride}, {from}"));
            }
        }
        let hop = if runs == Runs::Columns { 1 } else { LANES * plan.run };
        let mut sites = Vec::new();
        for (at, inst) in kernel.body.iter().enumerate() {
            if let Op::Load { param, offsets } = &inst.op {
                let Address { mut register, .. } = self.neighbour(*param, &format!("%at{param}"), offsets);
                for step in 0..plan.steps {
                    let bytes = match runs {
                        Runs::Columns => 0,
                        Runs::Any | Runs::Aligned => (step * hop * inst.dtype.size_bytes()) as i64,
                    };
                    sites.push((at, step, Address { register: register.clone(), bytes }));
                    if runs == Runs::Columns {
                        let row = self.field(Field::Stride(*param, slot));
                        register = self.set(Class::B64, "add.s64", &[&register, &row]);
                    }
                }
            }
        }
        self.load_aligned_runs(plan, &sites);
        for (store, step) in
            kernel.stores_of_folds().iter().flat_map(|s| (0..plan.steps).map(move |n| (s, n)))
        {
            let (param, bytes) =
                (store.param, step * hop * self.footprint.params()[store.param as usize].size);
            let to = self.named(Class::B64, &stored_at(param, step, 0));
            self.op(&format!("add.s64 {to}, {}, {bytes}", register(Quantity::Param(param))));
        }
        self.op(&format!("add.u32 %number, %number, {}", plan.steps * hop));
        self.op(&format!("mov.b32 %i{slot}, %number"));
    }

    /// The registers of the loads and coordinates of one value.
    fn name_inputs(&mut self, step: usize, element: usize) {
        for at in 0..self.kernel.body.len() {
            if matches!(self.kernel.body[at].op, Op::Load { .. } | Op::Coord(_)) {
                self.names[at] = self.input(at, step, element);
            }
        }
    }

    fn input(&mut self, at: usize, step: usize, element: usize) -> String {
        self.named(class(self.kernel.body[at].dtype), &format!("%v{at}_{step}_{element}"))
    }

    /// Loads and coordinates of a group whose runs are whole, or wholly missing: these read the last one.
    fn runs(&mut self, plan: FoldPlan, folded: &Range<usize>, runs: Runs) {
        let kernel = self.kernel;
        let last = self.last(folded, if folded.len() == 1 { plan.run } else { 1 });
        let mut sites: Vec<(usize, usize, Address)> = Vec::new();
        for step in 0..plan.steps {
            self.begin_step(step);
            self.locate_folded(folded, &last);
            self.place_stores(step, 0);
            for store in kernel.stores_of_folds().iter().filter(|_| runs == Runs::Any) {
                let stride = self.field(Field::Stride(store.param, folded.end - 1));
                for element in 1..plan.run {
                    let to = self.named(Class::B64, &stored_at(store.param, step, element));
                    self.op(&format!(
                        "add.s64 {to}, {}, {stride}",
                        stored_at(store.param, step, element - 1)
                    ));
                }
            }
            for (at, inst) in kernel.body.iter().enumerate() {
                match &inst.op {
                    Op::Load { param, offsets } => {
                        let place = self.neighbour(*param, &format!("%at{param}"), offsets);
                        let to = self.named(Class::B64, &format!("%from{at}_{step}"));
                        self.op(&format!("mov.b64 {to}, {}", place.register));
                        sites.push((at, step, Address::at(&to)));
                    }
                    Op::Coord(k) => {
                        let quantity = Quantity::Coord(*k, inst.dtype);
                        let turn = self.field(Field::Step(quantity, folded.end - 1));
                        let mad = if inst.dtype == DType::I64 { "mad.wide.s32" } else { "mad.lo.s32" };
                        for element in 0..plan.run {
                            let to = self.input(at, step, element);
                            self.op(&format!("{mad} {to}, {turn}, {element}, {}", register(quantity)));
                        }
                    }
                    _ => {}
                }
            }
            self.end_step(plan);
            self.next_digits(folded, FoldField::Digit);
        }
        match runs {
            Runs::Any => self.load_runs(plan, &sites, folded.end - 1),
            Runs::Aligned | Runs::Columns => self.load_aligned_runs(plan, &sites),
        }
    }

    /// Loads runs as vectors if all of them are side by side and aligned.
    fn load_runs(&mut self, plan: FoldPlan, sites: &[(usize, usize, Address)], inner: usize) {
        let kernel = self.kernel;
        let param = |at: usize| match kernel.body[at].op {
            Op::Load { param, .. } => param,
            _ => unreachable!("a site is a load"),
        };
        let mut misfit: Option<String> = None;
        for (at, _, from) in sites {
            let size = kernel.body[*at].dtype.size_bytes();
            let apart = self.field(Field::Apart(param(*at)));
            let low = self.set(Class::B32, "cvt.u32.u64", &[&from.register]);
            let low = self.set(Class::B32, "and.b32", &[&low, &(plan.run * size - 1).to_string()]);
            let own = self.set(Class::B32, "or.b32", &[&low, &apart]);
            misfit = Some(match misfit {
                Some(others) => self.set(Class::B32, "or.b32", &[&others, &own]),
                None => own,
            });
        }
        let Some(misfit) = misfit else { return };
        let single = self.set(Class::Pred, "setp.ne.u32", &[&misfit, "0"]);
        self.op(&format!("@{single} bra APART"));
        self.load_aligned_runs(plan, sites);
        self.op("bra LOADED");
        self.place("APART");
        for (at, step, Address { register: from, .. }) in sites {
            let stride = self.field(Field::Stride(param(*at), inner));
            for element in 0..plan.run {
                if element > 0 {
                    self.op(&format!("add.s64 {from}, {from}, {stride}"));
                }
                let to = self.input(*at, *step, element);
                self.load_run(self.space(param(*at)), kernel.body[*at].dtype, &[to], &Address::at(from));
            }
            self.pack_input(plan, *at, *step);
        }
    }

    fn load_aligned_runs(&mut self, plan: FoldPlan, sites: &[(usize, usize, Address)]) {
        for (at, step, from) in sites {
            let inst = &self.kernel.body[*at];
            let Op::Load { param, .. } = inst.op else { unreachable!("a site is a load") };
            let (space, to) = (self.space(param), self.run(plan, *at, *step));
            match self.words_of(inst.dtype, &to) {
                words if words.is_empty() => self.load_run(space, inst.dtype, &to, from),
                words => self.load_words(space, "b32", &words, from),
            }
        }
    }

    /// The registers of an instruction for the elements of a run.
    fn run(&mut self, plan: FoldPlan, at: usize, step: usize) -> Vec<String> {
        (0..plan.neighbours()).map(|element| self.input(at, step, element)).collect()
    }

    /// Narrow elements that were loaded one by one, as words: what aligned runs are loaded as.
    fn pack_input(&mut self, plan: FoldPlan, at: usize, step: usize) {
        let (dtype, run) = (self.kernel.body[at].dtype, self.run(plan, at, step));
        let words = self.words_of(dtype, &run);
        self.pack_run(dtype, &run, &words);
    }

    /// The loads of a step, out of words where elements share them.
    fn unpack_inputs(&mut self, plan: FoldPlan, step: usize) {
        for (at, inst) in self.kernel.body.iter().enumerate() {
            if matches!(inst.op, Op::Load { .. }) {
                let run = self.run(plan, at, step);
                let words = self.words_of(inst.dtype, &run);
                self.unpack_run(inst.dtype, &run, &words);
            }
        }
    }

    /// Loads and coordinates of a group, each element at coordinates of its own; missing ones read inside.
    fn singly(&mut self, plan: FoldPlan, folded: &Range<usize>) {
        let last = self.last(folded, 1);
        for step in 0..plan.steps {
            self.begin_step(step);
            for element in 0..plan.run {
                self.locate_folded(folded, &last);
                self.place_stores(step, element);
                let lane = format!("_{step}_{element}");
                self.read(&lane);
                for at in 0..self.kernel.body.len() {
                    let inst = &self.kernel.body[at];
                    if matches!(inst.op, Op::Coord(_)) {
                        let (to, from) = (self.input(at, step, element), self.names[at].clone());
                        self.copy(inst.dtype, &to, &from);
                    }
                }
                if element + 1 < plan.run {
                    self.next_element(folded);
                }
            }
            for (at, inst) in self.kernel.body.iter().enumerate() {
                if matches!(inst.op, Op::Load { .. }) {
                    self.pack_input(plan, at, step);
                }
            }
            self.end_step(plan);
            self.next_digits(folded, FoldField::Rest);
        }
    }

    /// The largest first coordinate of `count` neighbours that are inside.
    fn last(&mut self, folded: &Range<usize>, count: usize) -> String {
        let extent = self.field(Field::Extent(folded.start));
        self.set(Class::B32, "sub.u32", &[&extent, &count.to_string()])
    }

    /// Locates the loaded quantities at the thread's folded coordinates; those beyond the last are at the
    /// last.
    fn locate_folded(&mut self, folded: &Range<usize>, last: &str) {
        self.op(&format!("min.u32 %top, %i{}, {last}", folded.start));
        let digit = |slot: usize| if slot == folded.start { "%top".to_owned() } else { format!("%i{slot}") };
        let wide: Vec<String> =
            folded.clone().map(|slot| self.set(Class::B64, "cvt.u64.u32", &[&digit(slot)])).collect();
        for quantity in self.located() {
            let to = self.named(Field::Start(quantity).class(), &register(quantity));
            let mut from = row_register(quantity);
            for (slot, wide) in folded.clone().zip(&wide) {
                match quantity {
                    Quantity::Param(param) => {
                        let stride = self.field(Field::Stride(param, slot));
                        self.op(&format!("mad.lo.s64 {to}, {wide}, {stride}, {from}"));
                    }
                    Quantity::Coord(_, dtype) => {
                        let turn = self.field(Field::Step(quantity, slot));
                        let mad = if dtype == DType::I64 { "mad.wide.s32" } else { "mad.lo.s32" };
                        self.op(&format!("{mad} {to}, {}, {turn}, {from}", digit(slot)));
                    }
                }
                from.clone_from(&to);
            }
        }
    }

    /// The coordinates of the next element of a run.
    fn next_element(&mut self, folded: &Range<usize>) {
        let inner = folded.end - 1;
        self.op(&format!("add.u32 %i{inner}, %i{inner}, 1"));
        self.carry_digits(folded, |_| None);
    }

    /// The coordinates of the run of the next step.
    fn next_digits(&mut self, folded: &Range<usize>, digit: fn(usize) -> FoldField) {
        if folded.len() == 1 {
            return self.op(&format!("mov.b32 %i{}, %number", folded.start));
        }
        self.add_digits(folded, digit);
    }

    /// Adds a number, given by its digits, to the folded coordinates.
    pub(super) fn add_digits(&mut self, folded: &Range<usize>, digit: fn(usize) -> FoldField) {
        let inner = folded.end - 1;
        let own = self.fold_field(digit(inner));
        self.op(&format!("add.u32 %i{inner}, %i{inner}, {own}"));
        self.carry_digits(folded, |slot| Some(digit(slot)));
    }

    /// Brings the folded coordinates into their ranges, the last one first, and adds a digit to each but
    /// that.
    fn carry_digits(&mut self, folded: &Range<usize>, digit: impl Fn(usize) -> Option<FoldField>) {
        for slot in (folded.start + 1..folded.end).rev() {
            let extent = self.field(Field::Extent(slot));
            let over = self.set(Class::Pred, "setp.ge.u32", &[&format!("%i{slot}"), &extent]);
            let carry = self.set(Class::B32, "selp.b32", &["1", "0", &over]);
            self.op(&format!("@{over} sub.u32 %i{slot}, %i{slot}, {extent}"));
            let outer = slot - 1;
            self.op(&format!("add.u32 %i{outer}, %i{outer}, {carry}"));
            if let Some(digit) = digit(outer) {
                let digit = self.fold_field(digit);
                self.op(&format!("add.u32 %i{outer}, %i{outer}, {digit}"));
            }
        }
    }
}
