//! Many boxes in one grid of the entry `batched_copy`.

use super::module::{Grid, Module, Span};
use super::region::{Dim, Region};
use super::source::{Source, leader};
use crate::ir::Launch;
use crate::ptx::entries::batched_copy::rows;
use crate::ptx::text::{THREADS, slots};

/// Launches over many boxes: of one program, each with its own memory, in any order. `None` if one of them is
/// too large, or the module does not offer it.
pub(super) fn prepare(module: &Module, boxes: &[(&Launch, &[Span])]) -> Option<Vec<Grid>> {
    let entry = module.entries.iter().position(|&name| name == "batched_copy")?;
    let kernel = module.kernel.kernel();
    let row = &module.blocks[entry];
    let mut filled: Vec<(u32, Vec<u8>)> = Vec::new();
    for (launch, memory) in boxes {
        let mut region = Region::new(kernel, launch, memory);
        if region.points() == 0 {
            continue;
        }
        let blocks = region.points().div_ceil(u64::from(THREADS)) as u32;
        region.arrange(leader(kernel, &region));
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
