//! Distributions as text: one line of facts, then coarse maps of the owners.

use std::fmt;

use super::distribution::Distribution;
use crate::index::domain::Domain;
use crate::index::region::Index;

const MOST_COLUMNS: i64 = 64;
const MOST_ROWS: i64 = 16;
const MOST_SLICES: i64 = 4;

impl fmt::Display for Distribution {
    /// The facts on one line, then a map of at most 64 by 16 characters, in which every number is the part
    /// that owns the cell in the middle of the patch it stands for. With more than two dimensions there are
    /// maps of a few slices over the last two.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |text: &dyn Fn(usize) -> String| (0..self.rank()).map(text).collect::<Vec<_>>().join(", ");
        let flags = list(&|d| if self.periodic(d) { "yes" } else { "no" }.to_owned());
        let ((halo_lo, halo_hi), (edge_lo, edge_hi)) = (self.halo(), self.boundary());
        write!(f, "shape {}, {} parts in grid {}, ", self.shape(), self.parts(), self.grid())?;
        write!(f, "halo {halo_lo} {halo_hi}, boundary {edge_lo} {edge_hi}, periodic ({flags})")?;
        if !self.is_block() {
            write!(f, ", maps ({})", list(&|d| self.map(d).to_string()))?;
        }
        for line in text_maps(self) {
            write!(f, "\n{line}")?;
        }
        Ok(())
    }
}

/// The coordinate in the middle of patch `i` of `n` along `size`.
fn middle(i: i64, n: i64, size: i64) -> i64 {
    ((2 * i128::from(i) + 1) * i128::from(size) / (2 * i128::from(n))) as i64
}

fn text_maps(dist: &Distribution) -> Vec<String> {
    let shape = dist.shape();
    if dist.rank() == 0 || shape.contains(&0) {
        return Vec::new();
    }
    let leading = &shape[..shape.len().saturating_sub(2)];
    if leading.is_empty() {
        return text_map(dist, &[]);
    }
    let slices = slices(leading, MOST_SLICES);
    let titled = |at: &Index| std::iter::once(format!("slice {at}:")).chain(text_map(dist, at)).collect();
    slices.iter().flat_map(|at| -> Vec<String> { titled(at) }).collect()
}

/// Points of a box of this shape, all or `most` of them at equal distances in C order.
fn slices(shape: &[i64], most: i64) -> Vec<Index> {
    let Ok(domain) = Domain::from_shape(shape) else { return Vec::new() };
    let (total, count) = (domain.num_indices(), domain.num_indices().min(most));
    (0..count).filter_map(|k| domain.nth(middle(k, count, total))).collect()
}

/// The map of the last two dimensions where the others are at `leading`.
fn text_map(dist: &Distribution, leading: &[i64]) -> Vec<String> {
    let shape = dist.shape();
    let (height, width) = match shape[leading.len()..] {
        [width] => (1, width),
        [height, width] => (height, width),
        _ => return Vec::new(),
    };
    let digits = (dist.parts() - 1).checked_ilog10().unwrap_or(0) as usize + 1;
    let gap = usize::from(digits > 1);
    let columns = width.min((MOST_COLUMNS + gap as i64) / (digits + gap) as i64);
    let rows = height.min(MOST_ROWS);
    let line = |row: i64| {
        let label = |column: i64| {
            let cell = [middle(row, rows, height), middle(column, columns, width)];
            let last = &cell[2 - (dist.rank() - leading.len())..];
            let cell: Vec<i64> = leading.iter().chain(last).copied().collect();
            dist.owner(&cell).map_or_else(|_| "?".repeat(digits), |part| format!("{part:>digits$}"))
        };
        (0..columns).map(label).collect::<Vec<_>>().join(&" ".repeat(gap))
    };
    (0..rows).map(line).collect()
}
