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
    ("shallow_water", [2; 3]),
];

/// Registers of kernels that go from plane to plane: no more than they had when they last became fewer. With
/// 80, three blocks of 256 threads fit side by side, two with 128.
const WALKS: &[(&str, [u32; 3])] =
    &[("stencil25", [80, 112, 64]), ("stencil27", [96, 108, 96]), ("wave", [80, 116, 64])];

/// Registers of kernels of so many arrays that a thread computes one point, in blocks of 256 or 512: it loads
/// every array once, element by element.
const POINTS: &[(&str, [u32; 3])] = &[("d3q19", [56, 80, 56])];

/// Registers beside what is loaded: places of rows, numbers, results. Of 16-bit elements, the words of
/// neighbours lie across those of the vector, on both sides, of each array.
const BESIDE: usize = 24;
const ACROSS: usize = 8;

/// Share of loads of threads beyond the region's ends.
const ENDS: f64 = 0.02;

/// The most that a kernel may take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Needs {
    pub registers: u32,
    /// Loads of 16 bytes and single elements per point. `None`: any number.
    pub loads: Option<[f64; 2]>,
    /// Loads that are issued before the first is waited for: all vectors.
    pub first: usize,
    /// Threads of a block, at least and at most. `None`: any number.
    pub block: Option<[u32; 2]>,
}

/// The loads of the threads of a stencil: vectors, single elements, and the 32-bit words of both.
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
        let of = |table: &[(&str, [u32; 3])]| {
            table.iter().find(|(name, _)| *name == workload.name).map(|(_, registers)| registers[column])
        };
        if let Some(registers) = of(WALKS) {
            return Some(Needs { registers, ..Needs::default() });
        }
        if let Some(registers) = of(POINTS) {
            let loads = Some([0.0, workload.inputs as f64 * (1.0 + ENDS)]);
            // Words of two bytes are turned into numbers as they come.
            let first = if size == 2 { workload.inputs / 2 } else { workload.inputs };
            return Some(Needs { registers, loads, first, block: Some([256, 512]) });
        }
        let planes = PLANES.iter().find(|(name, _)| *name == workload.name)?.1[column];
        let (all, lanes) = (Loads::of(workload, size, planes), VECTOR_BYTES / size);
        let [points, row] = [planes * lanes, *workload.whole(sizes).last()? as usize].map(|n| n as f64);
        // The first and the last thread of a row load element by element.
        let at_ends = all.elements as f64 * (2 * lanes) as f64 / row;
        let per_point = |loads: f64| loads / points * (1.0 + ENDS);
        let across = if size == 2 { ACROSS * workload.inputs } else { 0 };
        Some(Needs {
            registers: (all.words + BESIDE + across) as u32,
            loads: Some([per_point(all.wide as f64), per_point(all.narrow as f64 + at_ends)]),
            first: all.wide,
            block: None,
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
        assert_eq!(needs("stencil7").map(|needs| (needs.registers, needs.first)), Some((88, 14)));
        // A point of each array; vectors of three fields, of which the first has no centre.
        let points =
            Needs { registers: 80, loads: Some([0.0, 19.0 * 1.02]), first: 19, block: Some([256, 512]) };
        assert_eq!(Needs::of(Workload::named("d3q19").expect("a workload"), 8, &sizes), Some(points));
        assert_eq!(of("shallow_water", 4, 2), [12, 12, 60]);
        assert_eq!(needs("triad"), None);
    }
}
