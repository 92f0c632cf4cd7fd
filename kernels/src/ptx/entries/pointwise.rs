//! The entry `pointwise`: one point per thread, any strides. Gathers and scatters have no other entry. And
//! the entry `batched_copy`: one launch over many boxes, whatever their shapes and wherever they lie. Packing
//! the faces of an exchange is dozens of copies of a few cells, and each launch costs microseconds.
//!
//! The parameter of `batched_copy` is a table: per box, where its first block is; then per box what
//! `pointwise` would be given. A block finds its box by bisection, in as many steps as a power of two has
//! digits, and its threads take the box's points one after the other. That is slower than `vector` over a
//! box that is large, and is meant for small ones.

use crate::dtype::{DType, Kind};
use crate::ir::{BinaryOp, Form, Op, Store, Value};
use crate::ptx::schedule::has_many_arrays;
use crate::ptx::text::{
    Address, Class, Entry, Field, MAX_BLOCK_BYTES, ParameterBlock, PtxTarget, PtxWriter, Quantity, THREADS,
    class, size_bits, slots,
};
use crate::verify::Verified;

/// The entry `pointwise`.
pub(crate) fn entry(kernel: &Verified, target: &PtxTarget) -> Entry {
    let mut w = PtxWriter::new(kernel, target);
    let slots = slots(w.kernel);
    w.note("the thread's point");
    w.grid_x();
    w.grid_outer(slots);
    let (x, extent) = (format!("%i{}", slots - 1), w.field(Field::Extent(slots - 1)));
    w.op(&format!("mov.b32 {x}, %x"));
    w.leave_unless(&x, &extent);
    w.at_point();
    w.finish("pointwise")
}

impl PtxWriter<'_> {
    /// The work of a thread whose point is known, to its end.
    pub(crate) fn at_point(&mut self) {
        self.prologue();
        self.note("where it is in memory");
        let located_later = |q: &Quantity| self.has_many_arrays() && matches!(q, Quantity::Param(_));
        for quantity in self.quantities().into_iter().filter(|q| !located_later(q)).collect::<Vec<_>>() {
            self.locate(quantity, 0..slots(self.kernel), None);
        }
        self.note("the body");
        self.point();
        self.op("ret");
    }

    /// Places of so many arrays at once would fill the registers: each is located where it is loaded or
    /// stored.
    fn has_many_arrays(&self) -> bool {
        matches!(self.kernel.form, Form::Elementwise { .. }) && has_many_arrays(self.footprint)
    }

    fn locate_now(&mut self, param: u32) {
        if self.has_many_arrays() {
            self.locate(Quantity::Param(param), 0..slots(self.kernel), None);
        }
    }

    /// Body and stores at the point where all quantities are located.
    pub(crate) fn point(&mut self) {
        self.read_after("", Self::locate_now);
        self.compute("");
        match self.kernel.form.clone() {
            Form::Elementwise { stores } => {
                for Store { param, value } in stores {
                    self.locate_now(param);
                    let value = self.name(value);
                    self.store(param, &value);
                }
            }
            Form::Gather { index, source, output } => self.gather(index, source, output),
            Form::Scatter { index, value, output, add } => self.scatter(index, value, output, add),
            Form::Reduce { .. } | Form::Scan(_) => unreachable!("these have their own loops"),
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

/// The most boxes of a launch.
const MOST_BOXES: usize = 64;

/// Whether a kernel is offered over many boxes at once: it moves elements, or adds them, from where they are.
pub(crate) fn is_batched(verified: &Verified) -> bool {
    let kernel = verified.kernel();
    let Form::Elementwise { stores } = &kernel.form else { return false };
    let plain = |op: &Op| matches!(op, Op::Load { .. } | Op::Binary(..));
    stores.len() == 1
        && kernel.params.len() == 2
        && kernel.rank > 0
        && kernel.body.len() <= 3
        && verified.footprint().is_pointwise()
        && kernel.body.iter().all(|inst| plain(&inst.op))
}

/// Boxes of a launch whose rows are so long.
pub(crate) fn batch_rows(row: &ParameterBlock) -> usize {
    let fit = MAX_BLOCK_BYTES / (4 + row.length());
    // The largest power of two that fits.
    MOST_BOXES.min(1 << fit.ilog2())
}

/// The entry `batched_copy`.
pub(crate) fn batched_copy(kernel: &Verified, target: &PtxTarget) -> Entry {
    let mut w = PtxWriter::new(kernel, target);
    let slots = slots(w.kernel);
    // First, because numbers of eight bytes leave gaps behind those of four.
    w.quantities().into_iter().for_each(|quantity| drop(w.field(Field::Start(quantity))));
    w.note("the thread's point");
    let block = w.set(Class::B32, "mov.b32", &["%ctaid.x"]);
    let thread = w.set(Class::B32, "mov.b32", &["%tid.x"]);
    let block = w.set(Class::B32, "sub.u32", &[&block, "%first"]);
    let number = w.set(Class::B32, "mad.lo.u32", &[&block, &THREADS.to_string(), &thread]);
    w.digits(&number, 0..slots);
    let extent = w.field(Field::Extent(0));
    w.leave_unless("%i0", &extent);
    w.at_point();
    let rows = batch_rows(&w.block);
    w.finish_table("batched_copy", rows)
}
