//! From numbers of threads to coordinates, from coordinates to addresses, and the loads of one point. Every
//! entry is made of these.
//!
//! Slots are the dimensions of a grid: the last is x, the one before it y, and all others share z. A launch
//! may have fewer dimensions than its kernel; they fill the last slots.

use std::ops::Range;

use super::parameters::{Field, Quantity};
use super::types::{Address, Class, class};
use super::writer::PtxWriter;
use crate::dtype::DType;
use crate::ir::{Access, Kernel, Offsets, Op};

/// Slots of a pointwise kernel.
pub(in crate::ptx) fn slots(kernel: &Kernel) -> usize {
    kernel.rank.max(1)
}

impl PtxWriter<'_> {
    /// `%x` = number of the thread along x.
    pub(in crate::ptx) fn grid_x(&mut self) {
        self.along("x", "%x");
    }

    fn along(&mut self, axis: &str, to: &str) {
        self.named(Class::B32, to);
        let [block, width, thread] = ["ctaid", "ntid", "tid"]
            .map(|name| self.set(Class::B32, "mov.b32", &[&format!("%{name}.{axis}")]));
        self.op(&format!("mad.lo.u32 {to}, {block}, {width}, {thread}"));
    }

    /// Leaves if a coordinate is outside.
    pub(in crate::ptx) fn leave_unless(&mut self, coordinate: &str, extent: &str) {
        let outside = self.set(Class::Pred, "setp.ge.u32", &[coordinate, extent]);
        self.op(&format!("@{outside} ret"));
    }

    /// Coordinates `%iK` of all slots but x, which is declared only.
    pub(in crate::ptx) fn grid_outer(&mut self, slots: usize) {
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
    pub(in crate::ptx) fn digits(&mut self, number: &str, slots: Range<usize>) {
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
    pub(in crate::ptx) fn locate(
        &mut self,
        quantity: Quantity,
        slots: Range<usize>,
        from: Option<&str>,
    ) -> String {
        let to = self.named(Field::Start(quantity).class(), &register(quantity));
        self.step(quantity, slots, from, &to);
        to
    }

    /// `to` = a quantity moved along some slots.
    pub(in crate::ptx) fn step(
        &mut self,
        quantity: Quantity,
        slots: Range<usize>,
        from: Option<&str>,
        to: &str,
    ) {
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

    /// Loads and coordinates of the point.
    pub(in crate::ptx) fn read(&mut self, lane: &str) {
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
    pub(in crate::ptx) fn neighbour(&mut self, param: u32, at: &str, offsets: &Offsets) -> Address {
        if offsets.iter().all(|&d| d == 0) {
            return Address::at(at);
        }
        let delta = self.field(Field::Delta(param, offsets.clone()));
        Address::at(&self.set(Class::B64, "add.s64", &[at, &delta]))
    }

    /// How a parameter is loaded: what no kernel of this launch writes may stay in the read-only cache.
    pub(in crate::ptx) fn space(&self, param: u32) -> &'static str {
        match self.kernel.params[param as usize].access {
            Access::In => "global.nc",
            Access::Out | Access::InOut => "global",
        }
    }

    /// Stores a value at the point.
    pub(in crate::ptx) fn store(&mut self, param: u32, value: &str) {
        let dtype = self.kernel.params[param as usize].dtype;
        self.store_run("global", dtype, &[value.to_owned()], &Address::at(&format!("%at{param}")));
    }
}

/// The register of a quantity at the point.
pub(in crate::ptx) fn register(quantity: Quantity) -> String {
    match quantity {
        Quantity::Param(p) => format!("%at{p}"),
        Quantity::Coord(k, DType::I64) => format!("%c{k}w"),
        Quantity::Coord(k, _) => format!("%c{k}"),
    }
}
