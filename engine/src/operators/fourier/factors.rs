//! The factors between passes, and the roots of unity that they are: tables on every part, made once, kept.

use std::collections::VecDeque;
use std::f64::consts::TAU;
use std::sync::{Mutex, PoisonError};

use partita_kernels::DType;

use crate::array::{Array, Recorder, collect};
use crate::error::Result;
use crate::index::Distribution;
use crate::team::Team;

/// So many tables are kept, those used last.
const KEPT: usize = 64;

/// The contents of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contents {
    /// Of a pass of a radix over so many cells, and the extents among which these are divided.
    Factors { radix: i64, left: i64, rest: i64 },
    /// `exp(-pi i j^2 / n)`, for `j` from 0 to below `n`.
    Chirp { n: i64 },
    /// The transform of the conjugated chirp, of this length.
    Filter { n: i64, length: i64 },
    /// The signs that make a pair its conjugate.
    Signs,
}

type Table = (Contents, DType, Array);

static TABLES: Mutex<VecDeque<Table>> = Mutex::new(VecDeque::new());

/// The factors of a pass that leaves cells of these extents: for every cell `k` of the radix from the second
/// on, and every `q` of those, `exp(-2 pi i k q / (radix * left))`.
pub fn of(x: &Array, radix: i64, left: &[i64]) -> Result<Array> {
    let n = radix * left.iter().product::<i64>();
    let rest = left.get(1).copied().unwrap_or(0);
    kept(x, Contents::Factors { radix, left: left[0], rest }, || {
        let shape: Vec<i64> = [1, radix - 1].iter().chain(left).chain(&[2]).copied().collect();
        let each = n / radix;
        let roots = (0..n - each).map(|at| root((1 + at / each) * (at % each), n));
        everywhere(x.team(), x.dtype(), &shape, roots)
    })
}

/// A table, made if it is not kept. Within the step of a `Loop` it is made beside the recording, and stays as
/// long as the step is replayed.
pub fn kept(x: &Array, contents: Contents, make: impl FnOnce() -> Result<Array>) -> Result<Array> {
    let tables = || TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    let is_it = |table: &Table| (table.0, table.1) == (contents, x.dtype()) && table.2.team() == x.team();
    let found = {
        let mut tables = tables();
        tables.iter().position(is_it).and_then(|at| tables.remove(at))
    };
    let (_, _, table) = match found {
        Some(table) => table,
        None => {
            let made = || make().and_then(|table| table.eval().map(|()| table));
            (contents, x.dtype(), Recorder::default().within(made)?)
        }
    };
    if let Some(storage) = table.node.storage() {
        Recorder::current().keep(storage.parts.iter().flatten());
    }
    let mut tables = tables();
    tables.push_back((contents, x.dtype(), table.clone()));
    if tables.len() > KEPT {
        tables.pop_front();
    }
    Ok(table)
}

/// Pairs of which every part has all. The iterator knows their number.
pub fn everywhere(
    team: &Team,
    dtype: DType,
    shape: &[i64],
    pairs: impl Iterator<Item = (f64, f64)>,
) -> Result<Array> {
    let numbers = pairs.flat_map(|(re, im)| [re, im]);
    let bytes = match dtype {
        DType::F32 => collect("factors of a transform", numbers.flat_map(|x| (x as f32).to_le_bytes()))?,
        _ => collect("factors of a transform", numbers.flat_map(f64::to_le_bytes))?,
    };
    Array::from_bytes(team, &on_all(team, shape)?, dtype, &bytes)
}

/// The distribution on which every part has all.
pub fn on_all(team: &Team, shape: &[i64]) -> Result<Distribution> {
    let grid: Vec<i64> = (0..shape.len()).map(|d| if d == 0 { team.size() as i64 } else { 1 }).collect();
    Ok(Distribution::builder(shape).grid(&grid).replicated(0).build()?)
}

/// `exp(-2 pi i k / n)`, from an angle of at most an eighth of a turn, where both functions are right to the
/// last bit or two; so roots that mirror each other are mirrored to the bit.
fn root_in_eighths(k: i128, n: i128) -> (f64, f64) {
    match k {
        k if k > 4 * n => {
            let (re, im) = root_in_eighths(8 * n - k, n);
            (re, -im)
        }
        k if k > 2 * n => {
            let (re, im) = root_in_eighths(4 * n - k, n);
            (-re, im)
        }
        k if k > n => {
            let (re, im) = root_in_eighths(2 * n - k, n);
            (-im, -re)
        }
        _ => {
            let (sin, cos) = (TAU * k as f64 / (8 * n) as f64).sin_cos();
            (cos, -sin)
        }
    }
}

/// `exp(-2 pi i k / n)`.
pub fn root(k: i64, n: i64) -> (f64, f64) {
    root_in_eighths(8 * i128::from(k.rem_euclid(n)), i128::from(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_symmetric_and_close_to_the_circle() {
        for n in 1..200i64 {
            for k in -n..2 * n {
                let (re, im) = root(k, n);
                let angle = -TAU * k as f64 / n as f64;
                assert!((re - angle.cos()).abs() < 4e-15 && (im - angle.sin()).abs() < 4e-15, "{k} of {n}");
                assert_eq!((re, -im), root(-k, n), "{k} of {n}");
            }
        }
        assert_eq!([root(1, 4), root(2, 4), root(3, 4)], [(0.0, -1.0), (-1.0, 0.0), (0.0, 1.0)]);
    }
}
