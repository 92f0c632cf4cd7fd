//! Several launches of one kernel as one grid. Parts of an array that share a GPU each have a launch of the
//! same kernel, and a small one takes longer to begin than to run.
//!
//! The parameter is a table: per launch, a row with what its own grid would be given; then the number of
//! blocks along z that each launch has. Those of the launches lie behind each other along z; along x and y
//! a launch has as many blocks as the largest, because threads beyond a region leave in any case.

use super::module::{Grid, LaunchPlan, Module};
use crate::ptx::text::{Entry, MAX_BLOCK_BYTES, ParameterBlock};

/// The most launches of a grid.
const MOST_ROWS: usize = 8;

/// The entries whose threads leave where they are beyond the region along x or y.
const KINDS: [&str; 3] = ["pointwise", "vector", "planes"];

/// Rows of a table for such blocks. There is room for the number of blocks, and for a guard.
fn rows(block: &ParameterBlock) -> usize {
    MOST_ROWS.min((MAX_BLOCK_BYTES - 16) / block.length())
}

impl Module {
    /// Launches of this kernel over boxes that have nothing to do with each other, one behind the other or
    /// in one grid: in as few as possible.
    pub fn together(&self, plans: impl Iterator<Item = LaunchPlan>) -> LaunchPlan {
        let all = plans.fold(LaunchPlan::default(), LaunchPlan::then);
        let mut alike: Vec<Vec<Grid>> = Vec::new();
        for grid in all.grids {
            match alike.iter_mut().find(|grids| self.has_room(grids, &grid)) {
                Some(grids) => grids.push(grid),
                None => alike.push(vec![grid]),
            }
        }
        LaunchPlan { grids: alike.into_iter().flat_map(|grids| self.table(grids)).collect(), ..all }
    }

    /// Whether a grid may be of the same table as others.
    fn has_room(&self, others: &[Grid], grid: &Grid) -> bool {
        let (entry, blocks) =
            (&self.entries[grid.entry], (others.len() as u64 + 1) * u64::from(grid.grid[2]));
        KINDS.contains(&entry.kind)
            && others.len() < rows(&entry.block)
            && blocks <= self.limits.blocks
            && (others[0].entry, others[0].block, others[0].grid[2]) == (grid.entry, grid.block, grid.grid[2])
    }

    fn table(&self, grids: Vec<Grid>) -> Vec<Grid> {
        let [first, _, ..] = &grids[..] else { return grids };
        let block = &self.entries[first.entry].block;
        let [x, y] = [0, 1].map(|axis| grids.iter().map(|grid| grid.grid[axis]).max().unwrap_or(1));
        let grid = [x, y, first.grid[2] * grids.len() as u32];
        let mut params: Vec<u8> = grids.iter().flat_map(|grid| grid.params.iter().copied()).collect();
        params.resize(rows(block) * block.length(), 0);
        params.extend(u64::from(first.grid[2]).to_le_bytes());
        vec![Grid { entry: self.entries.len() + first.entry, grid, params, scratch_at: Vec::new(), ..*first }]
    }

    /// The text of an entry that is given a table. It finds its row, and where along z it is in it.
    pub(crate) fn table_text(&self, entry: &Entry) -> String {
        let (row, rows) = (entry.block.length(), rows(&entry.block));
        let (blocks, length) = (rows * row, rows * row + 8);
        let text = entry.text.replacen(&format!("launch[{row}]"), &format!("launch[{length}]"), 1);
        // Declarations end with an empty line.
        let (declarations, code) = text.split_once("\n\n").unwrap_or((&text, ""));
        let code = code.replace("[launch+", "[%row+").replace("%ctaid.z", "%row_z");
        format!(
            "{declarations}
    .reg .b32 %row_number, %row_z, %row_blocks;
    .reg .b64 %row;

    ld.param.b32 %row_blocks, [launch+{blocks}];
    mov.b32 %row_z, %ctaid.z;
    div.u32 %row_number, %row_z, %row_blocks;
    mul.lo.u32 %row_blocks, %row_number, %row_blocks;
    sub.u32 %row_z, %row_z, %row_blocks;
    mov.b64 %row, launch;
    mad.wide.u32 %row, %row_number, {row}, %row;
{code}"
        )
    }
}
