//! The values of a group of the entry `fold`: what a thread loads and computes at once.
//!
//! Runs of neighbours that no row of the array cuts are loaded as vectors where they are aligned, and element
//! by element from one address where they are not. Where rows cut runs, or the numbers end within a group,
//! each element has coordinates of its own. Those of the next element come by additions with carry.

use std::ops::Range;

use super::combine::Stream;
use super::fold::{loaded, row_register, value_registers};
use crate::dtype::DType;
use crate::ir::Op;
use crate::ptx::schedule::FoldPlan;
use crate::ptx::text::{Address, Class, Field, PtxWriter, Quantity, Share, class, register};

impl PtxWriter<'_> {
    /// The body's values of a group, the neutral element for those that are missing.
    pub(super) fn values_of_body(&mut self, plan: FoldPlan, streams: &[Stream], folded: &Range<usize>) {
        let total = self.field(Field::Share(Share::Folded));
        for name in ["%end", "%top"] {
            self.named(Class::B32, name);
        }
        self.named(Class::Pred, "%full");
        self.op("add.u32 %end, %start, %reach");
        self.op(&format!("setp.le.u32 %full, %end, {total}"));
        if plan.run > 1 {
            let runs = self.field(Field::Share(Share::Runs));
            let cut = self.set(Class::Pred, "setp.gt.u32", &["%end", &runs]);
            self.op(&format!("@{cut} bra SINGLY"));
            self.note("runs of neighbours");
            self.runs(plan, folded);
            self.op("bra LOADED");
            self.place("SINGLY");
        }
        self.note("value by value");
        self.singly(plan, folded);
        if plan.run > 1 {
            self.place("LOADED");
        }
        self.note("the body, and the neutral element for what is missing");
        for step in 0..plan.steps {
            for element in 0..plan.run {
                self.name_inputs(step, element);
                self.compute(&format!("_{step}_{element}"));
                let roots: Vec<String> = self.kernel.roots().iter().map(|&v| self.name(v)).collect();
                let values = value_registers(streams, step, element);
                for ((stream, root), value) in streams.iter().zip(&roots).zip(&values) {
                    match class(stream.dtype) {
                        Class::B16 => {
                            let wide = self.widen(stream.dtype, root);
                            self.copy(stream.partial, value, &wide);
                        }
                        _ => self.copy(stream.partial, value, root),
                    }
                }
            }
            self.replace_missing(plan, streams, step);
        }
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
    fn runs(&mut self, plan: FoldPlan, folded: &Range<usize>) {
        let kernel = self.kernel;
        let last = self.last(folded, if folded.len() == 1 { plan.run } else { 1 });
        let mut sites: Vec<(usize, usize, String)> = Vec::new();
        for step in 0..plan.steps {
            self.begin_step(step);
            self.locate_folded(folded, &last);
            for (at, inst) in kernel.body.iter().enumerate() {
                match &inst.op {
                    Op::Load { param, offsets } => {
                        let place = self.neighbour(*param, &format!("%at{param}"), offsets);
                        let to = self.named(Class::B64, &format!("%from{at}_{step}"));
                        self.op(&format!("mov.b64 {to}, {}", place.register));
                        sites.push((at, step, to));
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
            self.next_digits(folded, Field::Digit);
        }
        self.load_runs(plan, &sites, folded.end - 1);
    }

    /// Loads runs as vectors if all of them are side by side and aligned.
    fn load_runs(&mut self, plan: FoldPlan, sites: &[(usize, usize, String)], inner: usize) {
        let kernel = self.kernel;
        let param = |at: usize| match kernel.body[at].op {
            Op::Load { param, .. } => param,
            _ => unreachable!("a site is a load"),
        };
        let mut misfit: Option<String> = None;
        for (at, _, from) in sites {
            let size = kernel.body[*at].dtype.size_bytes();
            let apart = self.field(Field::Apart(param(*at)));
            let low = self.set(Class::B32, "cvt.u32.u64", &[from]);
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
        for (at, step, from) in sites {
            let to: Vec<String> = (0..plan.run).map(|element| self.input(*at, *step, element)).collect();
            self.load_run(self.space(param(*at)), kernel.body[*at].dtype, &to, &Address::at(from));
        }
        self.op("bra LOADED");
        self.place("APART");
        for (at, step, from) in sites {
            let stride = self.field(Field::Stride(param(*at), inner));
            for element in 0..plan.run {
                if element > 0 {
                    self.op(&format!("add.s64 {from}, {from}, {stride}"));
                }
                let to = self.input(*at, *step, element);
                self.load_run(self.space(param(*at)), kernel.body[*at].dtype, &[to], &Address::at(from));
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
            self.end_step(plan);
            self.next_digits(folded, Field::Rest);
        }
    }

    /// The largest first coordinate of `count` neighbours that are inside.
    fn last(&mut self, folded: &Range<usize>, count: usize) -> String {
        let extent = self.field(Field::Extent(folded.start));
        self.set(Class::B32, "sub.u32", &[&extent, &count.to_string()])
    }

    /// Where the loaded quantities are at the thread's folded coordinates; what is beyond the last is at the
    /// last.
    fn locate_folded(&mut self, folded: &Range<usize>, last: &str) {
        self.op(&format!("min.u32 %top, %i{}, {last}", folded.start));
        let digit = |slot: usize| if slot == folded.start { "%top".to_owned() } else { format!("%i{slot}") };
        let wide: Vec<String> =
            folded.clone().map(|slot| self.set(Class::B64, "cvt.u64.u32", &[&digit(slot)])).collect();
        for quantity in loaded(self.kernel) {
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
    fn next_digits(&mut self, folded: &Range<usize>, digit: fn(usize) -> Field) {
        if folded.len() == 1 {
            return self.op(&format!("mov.b32 %i{}, %number", folded.start));
        }
        self.add_digits(folded, digit);
    }

    /// Adds a number, given by its digits, to the folded coordinates.
    pub(super) fn add_digits(&mut self, folded: &Range<usize>, digit: fn(usize) -> Field) {
        let inner = folded.end - 1;
        let own = self.field(digit(inner));
        self.op(&format!("add.u32 %i{inner}, %i{inner}, {own}"));
        self.carry_digits(folded, |slot| Some(digit(slot)));
    }

    /// Brings the folded coordinates into their ranges, the last one first, and adds a digit to each but
    /// that.
    fn carry_digits(&mut self, folded: &Range<usize>, digit: impl Fn(usize) -> Option<Field>) {
        for slot in (folded.start + 1..folded.end).rev() {
            let extent = self.field(Field::Extent(slot));
            let over = self.set(Class::Pred, "setp.ge.u32", &[&format!("%i{slot}"), &extent]);
            let carry = self.set(Class::B32, "selp.b32", &["1", "0", &over]);
            self.op(&format!("@{over} sub.u32 %i{slot}, %i{slot}, {extent}"));
            let outer = slot - 1;
            self.op(&format!("add.u32 %i{outer}, %i{outer}, {carry}"));
            if let Some(digit) = digit(outer) {
                let digit = self.field(digit);
                self.op(&format!("add.u32 %i{outer}, %i{outer}, {digit}"));
            }
        }
    }
}
