//! The entry `batched_copy`: one launch over many boxes, whatever their shapes and wherever they lie. Packing
//! the faces of an exchange is dozens of copies of a few cells, and each launch costs microseconds.
//!
//! Its parameter is a table: per box, where its first block is; then per box what `pointwise` would be given.
//! A block finds its box by bisection, in as many steps as a power of two has digits, and its threads take
//! the box's points one after the other. That is slower than `vector` over a box that is large, and is meant
//! for small ones.

use crate::ir::{Form, Kernel, Op};
use crate::ptx::text::{
    Class, Entry, Field, MAX_BLOCK_BYTES, ParameterBlock, PtxTarget, PtxWriter, THREADS, quantities, slots,
};
use crate::verify::Verified;

/// The most boxes of a launch.
const MOST: usize = 64;

/// Whether a kernel is offered over many boxes at once: it moves elements, or adds them, from where they are.
pub(in crate::ptx) fn offers(verified: &Verified) -> bool {
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
pub(in crate::ptx) fn rows(row: &ParameterBlock) -> usize {
    let fit = MAX_BLOCK_BYTES / (4 + row.length());
    // The largest power of two that fits.
    MOST.min(1 << fit.ilog2())
}

/// The entry `batched_copy`.
pub(in crate::ptx) fn entry(kernel: &Kernel, target: &PtxTarget) -> Entry {
    let mut w = PtxWriter::new(kernel, target);
    let slots = slots(kernel);
    // First, because numbers of eight bytes leave gaps behind those of four.
    quantities(kernel).into_iter().for_each(|quantity| drop(w.field(Field::Start(quantity))));
    w.note("the thread's point");
    let block = w.set(Class::B32, "mov.b32", &["%ctaid.x"]);
    let thread = w.set(Class::B32, "mov.b32", &["%tid.x"]);
    let block = w.set(Class::B32, "sub.u32", &[&block, "%first"]);
    let number = w.set(Class::B32, "mad.lo.u32", &[&block, &THREADS.to_string(), &thread]);
    w.digits(&number, 0..slots);
    let extent = w.field(Field::Extent(0));
    w.leave_unless("%i0", &extent);
    w.at_point(kernel);
    let rows = rows(&w.block);
    w.finish_table("batched_copy", rows)
}
