//! The limits of stencils, from their formulas: a thread computes one 16-byte vector in each of P planes (P
//! rows, in 2-D) and loads what all of them read once, neighbours beside its vectors one by one.
//!
//! So a star of radius r takes P + 2r + 2rP vectors and 2rP single elements in 3-D, P + 2r vectors in 2-D.
//! The table says P; kernels are judged by it and not the other way round. `sketches` holds kernels that
//! were measured on a GPU, and that the counting is checked with.

use std::collections::{BTreeMap, BTreeSet};

use crate::cases::formula::Arguments;
use crate::cases::workload::{Sizes, Workload};

/// Bytes of the widest load.
const VECTOR_BYTES: usize = 16;

/// Planes of a thread, of elements of 4, 8 and 2 bytes.
const PLANES: &[(&str, [usize; 3])] = &[
    ("odd_plane", [2; 3]),
    ("stencil5", [2; 3]),
    ("stencil9", [2; 3]),
    ("odd_cube", [4; 3]),
    ("stencil7", [4; 3]),
    ("step7", [4; 3]),
    ("flat7", [4; 3]),
    ("stencil13", [2; 3]),
    ("gray_scott", [2; 3]),
    ("heat", [2; 3]),
];

/// Registers of kernels that go from plane to plane, so that two blocks of 256 threads fit side by side, or
/// that compute one point per thread.
const REGISTERS: &[(&str, [u32; 3])] =
    &[("d3q19", [56, 80, 56]), ("stencil25", [128; 3]), ("stencil27", [128; 3]), ("wave", [128; 3])];

/// Registers beside what is loaded: places of rows, numbers, results. Of 16-bit elements, the words of
/// neighbours lie across those of the vector, on both sides, of each array.
const BESIDE: usize = 24;
const ACROSS: usize = 8;

/// Share of loads of threads beyond the region's ends.
const ENDS: f64 = 0.02;

/// What a kernel may take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Needs {
    pub registers: u32,
    /// Loads of 16 bytes and single elements per point. `None`: any number.
    pub loads: Option<[f64; 2]>,
    /// Loads that are issued before the first is waited for: the vectors of one plane.
    pub first: usize,
}

/// What the threads of a stencil load: vectors, single elements, and the 32-bit words of both.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Loads {
    wide: usize,
    narrow: usize,
    elements: usize,
    words: usize,
}

impl Needs {
    /// Those of a workload that is in the table.
    pub fn of(workload: &Workload, size: usize, sizes: &Sizes) -> Option<Needs> {
        let column = [4, 8, 2].iter().position(|&known| known == size)?;
        if let Some((_, registers)) = REGISTERS.iter().find(|(name, _)| *name == workload.name) {
            return Some(Needs { registers: registers[column], ..Needs::default() });
        }
        let planes = PLANES.iter().find(|(name, _)| *name == workload.name)?.1[column];
        let (all, first, lanes) =
            (Loads::of(workload, size, planes), Loads::of(workload, size, 1), VECTOR_BYTES / size);
        let [points, row] = [planes * lanes, *workload.whole(sizes).last()? as usize].map(|n| n as f64);
        // The first and the last thread of a row load element by element.
        let at_ends = all.elements as f64 * (2 * lanes) as f64 / row;
        let per_point = |loads: f64| loads / points * (1.0 + ENDS);
        let across = if size == 2 { ACROSS * workload.inputs } else { 0 };
        Some(Needs {
            registers: (all.words + BESIDE + across) as u32,
            loads: Some([per_point(all.wide as f64), per_point(all.narrow as f64 + at_ends)]),
            first: first.wide,
        })
    }
}

impl Loads {
    fn of(workload: &Workload, size: usize, planes: usize) -> Loads {
        let (lanes, walk) = ((VECTOR_BYTES / size) as i64, 3 - workload.rank);
        let mut rows: BTreeMap<(usize, [i64; 2]), BTreeSet<i64>> = BTreeMap::new();
        for step in workload.formula.steps().0 {
            let Arguments::Cell(array, offset) = step.1 else { continue };
            for plane in 0..planes as i64 {
                let mut row = offset;
                row[walk] += plane;
                let positions = (0..lanes).map(|lane| lane + offset[2]);
                rows.entry((array, [row[0], row[1]])).or_default().extend(positions);
            }
        }
        let mut loads = Loads::default();
        for positions in rows.values() {
            // Whole vectors beside the own one are loaded as such.
            let mut vectors: BTreeMap<i64, usize> = BTreeMap::new();
            positions.iter().for_each(|p| *vectors.entry(p.div_euclid(lanes)).or_default() += 1);
            let whole = vectors.values().filter(|&&count| count == lanes as usize).count();
            loads.wide += whole;
            loads.narrow += positions.len() - whole * lanes as usize;
            loads.elements += positions.len();
            loads.words += (positions.len() * size).div_ceil(4);
        }
        loads
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_those_of_the_formula() {
        let of = |name: &str, size, planes| {
            let loads = Loads::of(Workload::named(name).expect("a workload"), size, planes);
            [loads.wide, loads.narrow, loads.words]
        };
        for planes in [1, 2, 4] {
            for (name, radius) in [("stencil7", 1), ("stencil13", 2)] {
                let wide = planes + 2 * radius + 2 * radius * planes;
                let narrow = 2 * radius * planes;
                assert_eq!(of(name, 4, planes), [wide, narrow, 4 * wide + narrow], "{name}");
            }
            assert_eq!(of("stencil5", 4, planes)[..2], [planes + 2, 2 * planes]);
        }
        assert_eq!(of("gray_scott", 4, 2), [16, 8, 72]);
        // Two neighbours on either side fill vectors of 8-byte elements.
        assert_eq!(of("stencil13", 8, 2), [18, 0, 72]);
        let sizes = Sizes { line: 1 << 26, plane: 8192, cube: 512 };
        let needs = |name: &str| Needs::of(Workload::named(name).expect("a workload"), 4, &sizes);
        assert_eq!(needs("stencil7").map(|needs| (needs.registers, needs.first)), Some((88, 5)));
        assert_eq!(needs("triad"), None);
    }
}
