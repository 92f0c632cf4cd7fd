//! The entry `scan`: one line per thread, point after point; neighbouring threads have lines that are
//! neighbours in memory. A line is short: the engine makes many of a long one.

use super::fold_values::row_register;
use crate::ir::{Kernel, Scan};
use crate::ptx::text::{Class, Entry, Field, PtxTarget, PtxWriter, class, register};
use crate::verify::Verified;

/// Slots of the lines of a scan: of the dimensions but the one that is walked, which follows.
pub(crate) fn line_slots(kernel: &Kernel) -> usize {
    (kernel.rank - 1).max(1)
}

/// The entry `scan`.
pub(crate) fn entry(kernel: &Verified, target: &PtxTarget, scan: &Scan) -> Entry {
    let mut w = PtxWriter::new(kernel, target);
    let slots = line_slots(w.kernel);
    let dtype = w.kernel.params[scan.output as usize].dtype;
    w.note("the thread's line");
    w.grid_x();
    w.grid_outer(slots);
    let (x, lines) = (format!("%i{}", slots - 1), w.field(Field::Extent(slots - 1)));
    w.op(&format!("mov.b32 {x}, %x"));
    w.leave_unless(&x, &lines);
    w.prologue();
    for quantity in w.quantities() {
        let to = w.named(Field::Start(quantity).class(), &row_register(quantity));
        w.step(quantity, 0..slots, None, &to);
    }
    let (at, length) = (w.named(Class::B32, &format!("%i{slots}")), w.field(Field::Extent(slots)));
    let [sum, next] = ["%sum", "%next"].map(|name| w.named(class(dtype), name));
    w.op(&format!("mov.b32 {at}, 0"));
    w.place("POINT");
    for quantity in w.quantities() {
        let to = w.named(Field::Start(quantity).class(), &register(quantity));
        w.step(quantity, slots..slots + 1, Some(&row_register(quantity)), &to);
    }
    w.read("");
    w.compute("");
    let first = w.set(Class::Pred, "setp.eq.u32", &[&at, "0"]);
    let (start, value) = (w.name(scan.start), w.name(scan.value));
    w.guarded(&first, |w| w.copy(dtype, &sum, &start));
    w.binary(scan.op.step(), dtype, &next, &sum, &value);
    w.store(scan.output, if scan.exclusive { &sum } else { &next });
    w.copy(dtype, &sum, &next);
    w.op(&format!("add.u32 {at}, {at}, 1"));
    let more = w.set(Class::Pred, "setp.lt.u32", &[&at, &length]);
    w.op(&format!("@{more} bra POINT"));
    w.op("ret");
    w.finish("scan")
}
