//! The entry `plain`: one point per thread, any strides; and what every entry does at one point.
//!
//! Slots are the dimensions of a grid: the last is x, the one before it y, and all others share z. A
//! launch may have fewer dimensions than its kernel (see [`super::region`]); they fill the last slots.

use std::ops::Range;

use super::block::{Field, Quantity};
use super::region::quantities;
use super::text::Writer;
use super::types::{Class, Place, class, size_bits};
use super::{Entry, Target};
use crate::dtype::{DType, Kind};
use crate::ir::{BinaryOp, Form, Kernel, Offsets, Op, Store, Value};

/// Slots of a pointwise kernel.
pub(super) fn slots(kernel: &Kernel) -> usize {
    kernel.rank.max(1)
}

/// The entry `plain`.
pub(super) fn entry(kernel: &Kernel, target: &Target) -> Entry {
    let mut w = Writer::new(kernel, target);
    let slots = slots(kernel);
    w.note("the thread's point");
    w.grid_x();
    w.grid_outer(slots);
    let (x, extent) = (format!("%i{}", slots - 1), w.field(Field::Extent(slots - 1)));
    w.op(&format!("mov.b32 {x}, %x"));
    w.leave_unless(&x, &extent);
    w.at_point(kernel);
    w.finish("plain")
}

impl Writer<'_> {
    /// What a thread does whose point is known, to its end.
    pub(super) fn at_point(&mut self, kernel: &Kernel) {
        self.prologue();
        self.note("where it is in memory");
        for quantity in quantities(kernel) {
            self.locate(quantity, 0..slots(kernel), None);
        }
        self.note("the body");
        self.point();
        self.op("ret");
    }

    /// `%x` = number of the thread along x.
    pub(super) fn grid_x(&mut self) {
        self.along("x", "%x");
    }

    fn along(&mut self, axis: &str, to: &str) {
        self.named(Class::B32, to);
        let [block, width, thread] = ["ctaid", "ntid", "tid"]
            .map(|name| self.set(Class::B32, "mov.b32", &[&format!("%{name}.{axis}")]));
        self.op(&format!("mad.lo.u32 {to}, {block}, {width}, {thread}"));
    }

    /// Leaves if a coordinate is outside.
    pub(super) fn leave_unless(&mut self, coordinate: &str, extent: &str) {
        let outside = self.set(Class::Pred, "setp.ge.u32", &[coordinate, extent]);
        self.op(&format!("@{outside} ret"));
    }

    /// Coordinates `%iK` of all slots but x, which is declared only.
    pub(super) fn grid_outer(&mut self, slots: usize) {
        for slot in 0..slots {
            self.named(Class::B32, &format!("%i{slot}"));
        }
        if slots >= 2 {
            let (y, extent) = (format!("%i{}", slots - 2), self.field(Field::Extent(slots - 2)));
            self.along("y", &y);
            self.leave_unless(&y, &extent);
        }
        if slots >= 3 {
            let number = self.set(Class::B32, "mov.b32", &["%ctaid.z"]);
            self.digits(&number, 0..slots - 2);
        }
    }

    /// Splits a number into the coordinates of some slots, the last one fastest.
    pub(super) fn digits(&mut self, number: &str, slots: Range<usize>) {
        let mut rest = number.to_owned();
        for slot in slots.clone().rev() {
            self.named(Class::B32, &format!("%i{slot}"));
            if slot == slots.start {
                self.op(&format!("mov.b32 %i{slot}, {rest}"));
                return;
            }
            let extent = self.field(Field::Extent(slot));
            let quotient = self.set(Class::B32, "div.u32", &[&rest, &extent]);
            let whole = self.set(Class::B32, "mul.lo.u32", &[&quotient, &extent]);
            self.op(&format!("sub.u32 %i{slot}, {rest}, {whole}"));
            rest = quotient;
        }
    }

    /// Where a quantity is at the point: `%atP` or `%cK`, from its start and the coordinates of some
    /// slots; or from a register that has the other slots in it already.
    pub(super) fn locate(&mut self, quantity: Quantity, slots: Range<usize>, from: Option<&str>) -> String {
        let to = self.named(Field::Start(quantity).class(), &register(quantity));
        self.step(quantity, slots, from, &to);
        to
    }

    /// `to` = a quantity moved along some slots.
    pub(super) fn step(&mut self, quantity: Quantity, slots: Range<usize>, from: Option<&str>, to: &str) {
        let mut from = from.map_or_else(|| self.field(Field::Start(quantity)), str::to_owned);
        let mad = match Field::Start(quantity).class() {
            Class::B32 => "mad.lo.s32",
            _ => "mad.wide.s32",
        };
        for slot in slots {
            let step = self.field(Field::Step(quantity, slot));
            self.op(&format!("{mad} {to}, %i{slot}, {step}, {from}"));
            from = to.to_owned();
        }
        if from != to {
            self.op(&format!("mov.{} {to}, {from}", Field::Start(quantity).class().name()));
        }
    }

    /// Body and stores at the point where all quantities are located.
    pub(super) fn point(&mut self) {
        self.read("");
        self.compute("");
        match self.kernel.form.clone() {
            Form::Elementwise { stores } => {
                for Store { param, value } in stores {
                    let value = self.name(value);
                    self.store(param, &value);
                }
            }
            Form::Gather { index, source, output } => self.gather(index, source, output),
            Form::Scatter { index, value, output, add } => self.scatter(index, value, output, add),
            Form::Reduce { .. } => unreachable!("reductions have their own loop"),
        }
    }

    /// Loads and coordinates of the point.
    pub(super) fn read(&mut self, lane: &str) {
        let kernel = self.kernel;
        for (at, inst) in kernel.body.iter().enumerate() {
            match &inst.op {
                Op::Coord(k) => self.names[at] = register(Quantity::Coord(*k, inst.dtype)),
                Op::Load { param, offsets } => {
                    let place = self.neighbour(*param, &format!("%at{param}"), offsets);
                    let to = self.named(class(inst.dtype), &format!("%v{at}{lane}"));
                    self.load_run(self.space(*param), inst.dtype, std::slice::from_ref(&to), &place);
                    self.names[at] = to;
                }
                _ => {}
            }
        }
    }

    /// The address at some offsets from an address.
    pub(super) fn neighbour(&mut self, param: u32, at: &str, offsets: &Offsets) -> Place {
        if offsets.iter().all(|&d| d == 0) {
            return Place::at(at);
        }
        let delta = self.field(Field::Delta(param, offsets.clone()));
        Place::at(&self.set(Class::B64, "add.s64", &[at, &delta]))
    }

    /// How a parameter is loaded: what no kernel of this launch writes may stay in the read-only cache.
    pub(super) fn space(&self, param: u32) -> &'static str {
        match self.kernel.params[param as usize].access {
            crate::ir::Access::In => "global.nc",
            crate::ir::Access::Out | crate::ir::Access::InOut => "global",
        }
    }

    /// Stores a value at the point.
    pub(super) fn store(&mut self, param: u32, value: &str) {
        let dtype = self.kernel.params[param as usize].dtype;
        self.store_run("global", dtype, &[value.to_owned()], &Place::at(&format!("%at{param}")));
    }

    fn gather(&mut self, index: Value, source: u32, output: u32) {
        let (dtype, past) = (self.kernel.params[source as usize].dtype, self.label("PAST"));
        let from = self.indexed(index, dtype, &past);
        let value = self.temp(class(dtype));
        self.load_run("global.nc", dtype, std::slice::from_ref(&value), &from);
        self.store(output, &value);
        self.place(&past);
    }

    fn scatter(&mut self, index: Value, value: Value, output: u32, add: bool) {
        let (dtype, past) = (self.kernel.params[output as usize].dtype, self.label("PAST"));
        let to = self.indexed(index, dtype, &past);
        let mut value = self.name(value);
        if add {
            let old = self.temp(class(dtype));
            self.load_run("global", dtype, std::slice::from_ref(&old), &to);
            let sum = self.temp(class(dtype));
            self.binary(BinaryOp::Add, dtype, &sum, &old, &value);
            value = sum;
        }
        self.store_run("global", dtype, &[value], &to);
        self.place(&past);
    }

    /// The element an index names; jumps past if there is none. As an unsigned number a negative index
    /// is larger than any count.
    fn indexed(&mut self, index: Value, dtype: DType, past: &str) -> Place {
        let of = self.kernel.body[index.index()].dtype;
        let name = self.name(index);
        let wide = match (class(of), of.kind()) {
            (Class::B64, _) => name,
            (_, Kind::Int) => self.set(Class::B64, "cvt.s64.s32", &[&name]),
            _ => self.set(Class::B64, "cvt.u64.u32", &[&name]),
        };
        let (start, count) = (self.field(Field::IndexedStart), self.field(Field::IndexedCount));
        let none = self.set(Class::Pred, "setp.ge.u64", &[&wide, &count]);
        self.op(&format!("@{none} bra {past}"));
        let bytes = self.set(Class::B64, "shl.b64", &[&wide, &size_bits(dtype).to_string()]);
        Place::at(&self.set(Class::B64, "add.s64", &[&start, &bytes]))
    }
}

/// The register of a quantity at the point.
pub(super) fn register(quantity: Quantity) -> String {
    match quantity {
        Quantity::Param(p) => format!("%at{p}"),
        Quantity::Coord(k, DType::I64) => format!("%c{k}w"),
        Quantity::Coord(k, _) => format!("%c{k}"),
    }
}
