//! What a block asks memory for long before it is read: the processor sees one row coming, and the rows of a
//! plane, but not those of several planes in turn. It does not know how instructions are encoded.

use iced_x86::Code;

use super::Jam;
use super::steps::{Asked, Class, Home, Steps, Stored};
use crate::ir::Kernel;

/// How far ahead rows are asked for that lie far apart, in bytes, and of how many at once that was seen to
/// help.
const AHEAD: i32 = 1024;
const FEW_ROWS: std::ops::RangeInclusive<usize> = 2..=4;

/// Instructions of a body after which its next reads come so late that processors no longer see a single row
/// coming, and its own window ends before them.
const LONG_BODY: usize = 24;

/// Rows below each other are asked for at least so many bytes ahead, of those that go together next, or next
/// but one, and so on.
const ROWS_AHEAD: i64 = 4096;

/// An array that is read through a pointer, so many bytes from it at least and at most.
struct Read {
    pointer: usize,
    class: Class,
    bytes: (i32, i32),
}

/// What a block of these steps asks for; `jam` has how many rows go together, and where they lie.
pub(super) fn ahead(steps: &Steps, kernel: &Kernel, jam: Option<(&Jam, usize)>) -> Vec<Asked> {
    let reads = reads(steps);
    match jam {
        Some((jam, rows)) => next_rows(steps, &reads, kernel, jam, rows),
        None => further_on(steps, &reads),
    }
}

/// The lines that the next rows write. Where a block does not write past the caches, or at the end of a
/// row, where lines are not whole, a line is read before it is written, and whatever is written after it
/// waits.
pub(super) fn written(steps: &Steps, kernel: &Kernel, jam: Option<(&Jam, usize)>) -> Vec<Asked> {
    let Some((jam, rows)) = jam else { return Vec::new() };
    let line = |store: &Stored| {
        let Home::Array { pointer, bytes } = store.home else { return None };
        let away = i64::from(bytes) + rows as i64 * down(steps, kernel, jam, pointer);
        let (code, class) = (Code::Prefetchw_m8, steps.values[store.value].class);
        Some(Asked { code, pointer, bytes: i32::try_from(away).ok()?, class })
    };
    steps.stores.iter().filter_map(line).collect()
}

/// Bytes from a row of a pointer's array to the one below.
fn down(steps: &Steps, kernel: &Kernel, jam: &Jam, pointer: usize) -> i64 {
    let param = steps.pointers[pointer].param;
    jam.strides[param][jam.dim].saturating_mul(kernel.params[param].dtype.size_bytes() as i64)
}

fn reads(steps: &Steps) -> Vec<Read> {
    let mut reads: Vec<Read> = Vec::new();
    for value in &steps.values {
        if let Home::Array { pointer, bytes } = value.home {
            match reads.iter_mut().find(|read| read.pointer == pointer) {
                Some(Read { bytes: (first, last), .. }) => {
                    (*first, *last) = (bytes.min(*first), bytes.max(*last));
                }
                None => reads.push(Read { pointer, class: value.class, bytes: (bytes, bytes) }),
            }
        }
    }
    reads
}

/// The rows below the furthest one, which rows that go together next will be the first to read: what else
/// those read has been read by these, or when the plane before was computed. They go to the second
/// cache, for what the first has is needed until then.
fn next_rows(steps: &Steps, reads: &[Read], kernel: &Kernel, jam: &Jam, rows: usize) -> Vec<Asked> {
    let rows = rows as i64;
    let mut asked = Vec::new();
    for &Read { pointer, class, bytes: (_, furthest) } in reads {
        let down = down(steps, kernel, jam, pointer);
        if down <= 0 {
            continue;
        }
        let before = (ROWS_AHEAD - 1) / down.saturating_mul(rows) * rows;
        let next = (before + 1..=before + rows)
            .filter_map(|row| i32::try_from(down.checked_mul(row)?.checked_add(furthest.into())?).ok());
        asked.extend(next.map(|bytes| Asked { code: Code::Prefetcht1_m8, pointer, bytes, class }));
    }
    asked
}

/// A few rows that are read as they lie, or the only one of a long body, further on.
fn further_on(steps: &Steps, reads: &[Read]) -> Vec<Asked> {
    let here =
        |read: &Read| read.bytes == (0, 0) && steps.pointers[read.pointer].offsets.iter().all(|&d| d == 0);
    let helps = FEW_ROWS.contains(&reads.len()) || reads.len() == 1 && steps.body.len() >= LONG_BODY;
    if !helps || !reads.iter().all(here) {
        return Vec::new();
    }
    let asked = |read: &Read| Asked {
        code: Code::Prefetcht0_m8,
        pointer: read.pointer,
        bytes: AHEAD,
        class: read.class,
    };
    reads.iter().map(asked).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Builder;
    use crate::dtype::DType;
    use crate::ir::BinaryOp;
    use crate::x86::select::{Order, select};
    use crate::x86::{Group, Lying, Shape, steps::Pointer};

    const SIZE: i64 = 4;
    const PLANE: i64 = 50_000;

    /// Every place in its array that the rows of a group read, in bytes, and that it asks for.
    fn places(offsets: &[[i32; 3]], rows: usize, pitch: i64) -> (Vec<i64>, Vec<i64>) {
        let steps = steps(offsets, rows, pitch);
        let input = Pointer { param: 0, offsets: vec![0; 3] };
        let reads = steps.values.iter().filter_map(|value| match value.home {
            Home::Array { pointer, bytes } if steps.pointers[pointer] == input => Some(i64::from(bytes)),
            _ => None,
        });
        (reads.collect(), steps.ahead.iter().map(|asked| i64::from(asked.bytes)).collect())
    }

    /// A sum of neighbours at these offsets, so many rows together.
    fn steps(offsets: &[[i32; 3]], rows: usize, pitch: i64) -> Steps {
        let mut k = Builder::new("ahead", 3);
        let input = k.input(DType::F32);
        let loads: Vec<_> = offsets.iter().map(|offsets| k.load(input, offsets)).collect();
        let sum = loads.into_iter().reduce(|a, b| k.binary(BinaryOp::Add, a, b)).expect("some");
        let output = k.output(DType::F32);
        let kernel = k.elementwise(&[(output, sum)]).expect("a valid kernel");
        let shape = Shape { unit: Some(2), along: Vec::new(), lying: vec![Lying::Row; 2] };
        let jam = Jam { dim: 1, strides: vec![vec![PLANE, pitch, 1]; 2], group: Group::Several };
        select(kernel.kernel(), &shape, 2, Some((&jam, rows)), Order::Given).expect("code")
    }

    #[test]
    fn each_line_that_the_next_group_writes() {
        for rows in [1, 2, 4] {
            let steps = steps(&[[0; 3], [0, 1, 0]], rows, 1100);
            let asked: Vec<i64> = steps.written.iter().map(|asked| i64::from(asked.bytes)).collect();
            let next = (rows..2 * rows).map(|row| SIZE * 1100 * row as i64);
            assert_eq!(asked, next.collect::<Vec<_>>());
            assert!(steps.written.iter().all(|asked| steps.pointers[asked.pointer].param == 1));
        }
    }

    /// Of what the next group reads, a group asks for the rows that neither it has read nor the plane before
    /// will have: all of them, and nothing else.
    #[test]
    fn the_next_rows_of_the_furthest_plane() {
        const ROW: i64 = 1100;
        let cube = (0..27).map(|n| [n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1]);
        let near = |o: &[i32; 3]| o.iter().map(|d| d.abs()).sum::<i32>() <= 1;
        let stars: Vec<[i32; 3]> = cube.clone().filter(near).collect();
        for offsets in [stars, cube.collect(), vec![[0, -1, 0], [0, 1, 0], [0, 4, 1], [-1, 2, 0]]] {
            for rows in [1, 2, 4] {
                let (reads, asked) = places(&offsets, rows, ROW);
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
                assert_eq!(asked.iter().copied().map(row).collect::<Vec<_>>(), new, "{offsets:?} {rows}");
            }
        }
    }

    /// Short rows are asked for further ahead, by whole groups, so that each is asked for once.
    #[test]
    fn short_rows_further_ahead() {
        for (rows, expected) in [(1, vec![15]), (2, vec![15, 16]), (4, vec![13, 14, 15, 16])] {
            let (reads, asked) = places(&[[-1, 0, 0], [1, 0, 0], [1, -1, 0]], rows, 70);
            let furthest = reads.into_iter().max().expect("some");
            let asked: Vec<i64> = asked.iter().map(|bytes| (bytes - furthest) / (SIZE * 70)).collect();
            assert_eq!(asked, expected);
        }
    }

    /// A row that is read with its neighbour is no row of a few.
    #[test]
    fn rows_with_neighbours_are_not_asked_for() {
        let steps = |offsets: [[i32; 1]; 2]| {
            let mut k = Builder::new("rows", 1);
            let inputs = [0, 1].map(|_| k.input(DType::F32));
            let [a, b] = [0, 1].map(|n| k.load(inputs[n], &offsets[n]));
            let sum = k.binary(BinaryOp::Add, a, b);
            let output = k.output(DType::F32);
            let kernel = k.elementwise(&[(output, sum)]).expect("a valid kernel");
            let shape = Shape { unit: Some(0), along: Vec::new(), lying: vec![Lying::Row; 3] };
            let steps = select(kernel.kernel(), &shape, 3, None, Order::Given).expect("code");
            steps.ahead.iter().map(|asked| (asked.pointer, asked.bytes)).collect::<Vec<_>>()
        };
        assert_eq!(steps([[0], [0]]), [(0, AHEAD), (1, AHEAD)]);
        assert_eq!(steps([[0], [1]]), []);
    }

    /// A single row is asked for where the body is long.
    #[test]
    fn a_single_row_of_a_long_body() {
        for (operations, expected) in [(2, vec![]), (2 * LONG_BODY, vec![(0, AHEAD)])] {
            let mut k = Builder::new("row", 1);
            let input = k.input(DType::F32);
            let a = k.load(input, &[0]);
            let value = (0..operations).fold(a, |value, _| k.binary(BinaryOp::Mul, value, a));
            let output = k.output(DType::F32);
            let kernel = k.elementwise(&[(output, value)]).expect("a valid kernel");
            let shape = Shape { unit: Some(0), along: Vec::new(), lying: vec![Lying::Row; 2] };
            let steps = select(kernel.kernel(), &shape, 2, None, Order::Given).expect("code");
            let asked: Vec<_> = steps.ahead.iter().map(|asked| (asked.pointer, asked.bytes)).collect();
            assert_eq!(asked, expected);
        }
    }
}
