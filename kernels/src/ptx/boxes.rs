//! The entry `boxes`: one launch over many boxes, whatever their shapes and wherever they lie. Packing the
//! faces of an exchange is dozens of copies of a few cells, and each launch costs microseconds.
//!
//! Its parameter is a table: per box, where its first block is; then per box what `plain` would be given. A
//! block finds its box by bisection, in as many steps as a power of two has digits, and its threads take the
//! box's points one after the other. That is slower than `vector` over a box that is large, and is meant for
//! small ones.

use super::block::{Block, Field};
use super::launch::Source;
use super::pointwise::slots;
use super::region::{Dim, Region, quantities};
use super::text::Writer;
use super::types::Class;
use super::{Entry, Grid, MAX_BLOCK_BYTES, Module, Span, THREADS, Target};
use crate::ir::{Form, Kernel, Launch, Op};
use crate::verify::Verified;

/// The most boxes of a launch.
const MOST: usize = 64;

/// Whether a kernel is offered over many boxes at once: it moves elements, or adds them, from where they are.
pub(super) fn offers(verified: &Verified) -> bool {
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
fn rows(row: &Block) -> usize {
    let fit = MAX_BLOCK_BYTES / (4 + row.length());
    // The largest power of two that fits.
    MOST.min(1 << fit.ilog2())
}

/// The entry `boxes`.
pub(super) fn entry(kernel: &Kernel, target: &Target) -> Entry {
    let mut w = Writer::new(kernel, target);
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
    w.finish_table("boxes", rows)
}

/// Launches over many boxes: of one program, each with its own memory, in any order. `None` if one of them is
/// too large, or the module does not offer it.
pub(super) fn prepare(module: &Module, boxes: &[(&Launch, &[Span])]) -> Option<Vec<Grid>> {
    let entry = module.entries.iter().position(|&name| name == "boxes")?;
    let kernel = module.kernel.kernel();
    let row = &module.blocks[entry];
    let mut filled: Vec<(u32, Vec<u8>)> = Vec::new();
    for (launch, memory) in boxes {
        let mut region = Region::new(kernel, launch, memory);
        if region.points() == 0 {
            continue;
        }
        let blocks = region.points().div_ceil(u64::from(THREADS)) as u32;
        region.arrange(super::launch::leader(kernel, &region));
        region.fill(slots(kernel), 0);
        if region.points() > module.limits.points || !region.dims.iter().all(Dim::fits) {
            return None;
        }
        let source = Source { module, kernel, launch, memory };
        let grid = source.grid(entry, &region, [1; 3], [1; 3], |_| unreachable!("only reductions ask"));
        filled.push((blocks, grid.params));
    }
    let rows = rows(row);
    let table = |boxes: &[(u32, Vec<u8>)]| {
        let mut blocks = 0;
        // No block is in the rows that are left.
        let mut params = vec![u8::MAX; 4 * rows];
        for (first, (count, _)) in params.chunks_exact_mut(4).zip(boxes) {
            first.copy_from_slice(&u32::to_le_bytes(blocks));
            blocks += count;
        }
        boxes.iter().for_each(|(_, row)| params.extend(row));
        params.resize(rows * (4 + row.length()), 0);
        Grid { entry, grid: [blocks, 1, 1], block: [THREADS, 1, 1], params }
    };
    Some(filled.chunks(rows).map(table).collect())
}
