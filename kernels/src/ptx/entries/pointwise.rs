//! The entry `pointwise`: one point per thread, any strides. Gathers and scatters have no other entry.

use crate::dtype::{DType, Kind};
use crate::ir::{BinaryOp, Form, Kernel, Store, Value};
use crate::ptx::text::{
    Address, Class, Entry, Field, PtxTarget, PtxWriter, class, quantities, size_bits, slots,
};

/// The entry `pointwise`.
pub(in crate::ptx) fn entry(kernel: &Kernel, target: &PtxTarget) -> Entry {
    let mut w = PtxWriter::new(kernel, target);
    let slots = slots(kernel);
    w.note("the thread's point");
    w.grid_x();
    w.grid_outer(slots);
    let (x, extent) = (format!("%i{}", slots - 1), w.field(Field::Extent(slots - 1)));
    w.op(&format!("mov.b32 {x}, %x"));
    w.leave_unless(&x, &extent);
    w.at_point(kernel);
    w.finish("pointwise")
}

impl PtxWriter<'_> {
    /// What a thread does whose point is known, to its end.
    pub(in crate::ptx) fn at_point(&mut self, kernel: &Kernel) {
        self.prologue();
        self.note("where it is in memory");
        for quantity in quantities(kernel) {
            self.locate(quantity, 0..slots(kernel), None);
        }
        self.note("the body");
        self.point();
        self.op("ret");
    }

    /// Body and stores at the point where all quantities are located.
    pub(in crate::ptx) fn point(&mut self) {
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
    fn indexed(&mut self, index: Value, dtype: DType, past: &str) -> Address {
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
        Address::at(&self.set(Class::B64, "add.s64", &[&start, &bytes]))
    }
}
