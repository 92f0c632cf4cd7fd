//! Software prefetch for rows that are computed together and whose outputs are too large for the caches.
//!
//! Hardware prefetchers see the rows of one plane coming, not those of several planes in turn. Each block
//! prefetches into L2 the rows below the furthest one it reads, which the next group of rows reads first; its
//! other rows were read by this group, or when the plane before was computed.

use super::target::UnrollAndJam;
use super::virtual_code::{Home, Prefetch, RegisterClass, VirtualCode};
use crate::ir::Kernel;

/// Short rows are prefetched this many bytes ahead, by whole groups of rows.
const BYTES_AHEAD: i64 = 4096;

/// The prefetches of the blocks of `rows` rows.
pub(super) fn prefetches(
    steps: &VirtualCode,
    kernel: &Kernel,
    jam: &UnrollAndJam,
    rows: usize,
) -> Vec<Prefetch> {
    let rows = rows as i64;
    let mut prefetches = Vec::new();
    for (pointer, class, furthest) in furthest_reads(steps) {
        let param = steps.pointers[pointer].param;
        let size = kernel.params[param].dtype.size_bytes() as i64;
        let down = jam.strides[param][jam.dim].saturating_mul(size);
        if down <= 0 {
            continue;
        }
        let before = (BYTES_AHEAD - 1) / down.saturating_mul(rows) * rows;
        let next = (before + 1..=before + rows)
            .filter_map(|row| i32::try_from(down.checked_mul(row)?.checked_add(furthest.into())?).ok());
        prefetches.extend(next.map(|bytes| Prefetch { pointer, bytes, class }));
    }
    prefetches
}

/// Per pointer that is read, its class and the largest distance in bytes.
fn furthest_reads(steps: &VirtualCode) -> Vec<(usize, RegisterClass, i32)> {
    let mut reads: Vec<(usize, RegisterClass, i32)> = Vec::new();
    for value in &steps.values {
        if let Home::Array { pointer, bytes } = value.home {
            match reads.iter_mut().find(|read| read.0 == pointer) {
                Some((_, _, furthest)) => *furthest = bytes.max(*furthest),
                None => reads.push((pointer, value.class, bytes)),
            }
        }
    }
    reads
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Builder;
    use crate::cpu::x86::select::select;
    use crate::cpu::x86::{IsaLevel, LaunchShape, OperandLayout, RowPointer};
    use crate::dtype::DType;
    use crate::ir::BinaryOp;

    const SIZE: i64 = 4;
    const PLANE: i64 = 50_000;

    /// Every place in its array that the rows of a group read, in bytes, and that it prefetches.
    fn places(offsets: &[[i32; 3]], rows: usize, pitch: i64) -> (Vec<i64>, Vec<i64>) {
        let mut k = Builder::new("prefetch", 3);
        let input = k.input(DType::F32);
        let loads: Vec<_> = offsets.iter().map(|offsets| k.load(input, offsets)).collect();
        let sum = loads.into_iter().reduce(|a, b| k.binary(BinaryOp::Add, a, b)).expect("some");
        let output = k.output(DType::F32);
        let kernel = k.elementwise(&[(output, sum)]).expect("a valid kernel");
        let shape =
            LaunchShape { unit: Some(2), along: Vec::new(), layouts: vec![OperandLayout::Contiguous; 2] };
        let jam = UnrollAndJam { dim: 1, strides: vec![vec![PLANE, pitch, 1]; 2], streams: true };
        let steps = select(kernel.kernel(), &shape, 2, Some((&jam, rows)), IsaLevel::Avx512).expect("code");
        let input = RowPointer { param: 0, offsets: vec![0; 3] };
        let reads = steps.values.iter().filter_map(|value| match value.home {
            Home::Array { pointer, bytes } if steps.pointers[pointer] == input => Some(i64::from(bytes)),
            _ => None,
        });
        (
            reads.collect(),
            prefetches(&steps, kernel.kernel(), &jam, rows)
                .iter()
                .map(|prefetch| i64::from(prefetch.bytes))
                .collect(),
        )
    }

    /// Of what the next group reads, a group prefetches the rows that neither it has read nor the plane
    /// before will have: all of them, and nothing else.
    #[test]
    fn the_next_rows_of_the_furthest_plane() {
        const ROW: i64 = 1100;
        let cube = (0..27).map(|n| [n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1]);
        let near = |o: &[i32; 3]| o.iter().map(|d| d.abs()).sum::<i32>() <= 1;
        let stars: Vec<[i32; 3]> = cube.clone().filter(near).collect();
        for offsets in [stars, cube.collect(), vec![[0, -1, 0], [0, 1, 0], [0, 4, 1], [-1, 2, 0]]] {
            for rows in [1, 2, 4] {
                let (reads, prefetched) = places(&offsets, rows, ROW);
                let row = |bytes: i64| (bytes as f64 / (SIZE * ROW) as f64).round() as i64;
                let groups = |read: i64| (0..9).map(move |n| row(read) - n * rows as i64);
                let known = |bytes: i64| reads.iter().any(|&read| groups(read).any(|r| r == row(bytes)));
                let earlier = |bytes: i64| {
                    let ends = offsets.iter().map(|o| i64::from(o[0])).max().expect("some");
                    bytes / SIZE < ends * PLANE - PLANE / 2
                };
                let next = reads.iter().map(|read| read + rows as i64 * SIZE * ROW);
                let mut new: Vec<i64> =
                    next.filter(|&read| !known(read) && !earlier(read)).map(row).collect();
                new.sort();
                new.dedup();
                assert_eq!(
                    prefetched.iter().copied().map(row).collect::<Vec<_>>(),
                    new,
                    "{offsets:?} {rows}"
                );
            }
        }
    }

    /// Short rows are prefetched further ahead, by whole groups, so that each is prefetched once.
    #[test]
    fn short_rows_further_ahead() {
        for (rows, expected) in [(1, vec![15]), (2, vec![15, 16]), (4, vec![13, 14, 15, 16])] {
            let (reads, prefetched) = places(&[[-1, 0, 0], [1, 0, 0], [1, -1, 0]], rows, 70);
            let furthest = reads.into_iter().max().expect("some");
            let rows: Vec<i64> = prefetched.iter().map(|bytes| (bytes - furthest) / (SIZE * 70)).collect();
            assert_eq!(rows, expected);
        }
    }
}
