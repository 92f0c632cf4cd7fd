//! The workloads as a table: a formula, what is done with it, and how much memory and arithmetic it needs.

use anyhow::{Result, bail};
use partita::DType;
use serde_json::{Value, json};

use crate::cases::formula::{self, Formula, formula};
use crate::cases::view::{Extents, View};

/// One thing to measure.
pub struct Workload {
    /// The family, as in the lists of the suite.
    pub group: &'static str,
    pub name: &'static str,
    pub text: &'static str,
    pub rank: usize,
    pub extents: Extents,
    pub inputs: usize,
    /// Inputs that are one cell long along an axis, and broadcast: (input, axis).
    pub thin: &'static [(usize, usize)],
    /// Inputs that the formula sees through a view.
    pub seen: &'static [(usize, View)],
    pub outputs: usize,
    /// Results that are written through a view.
    pub written: &'static [(usize, View)],
    /// Cells at the rim that are read and not computed.
    pub reach: i64,
    pub formula: Formula,
    pub then: Then,
}

/// The use of the formula's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Then {
    /// They are a new array.
    Keep,
    /// They are assigned to the inner cells of an array that keeps its rim.
    Assign,
    /// They are folded over these axes, all if there are none.
    Fold(Fold, &'static [usize]),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fold {
    Sum,
    Max,
    /// The root of the sum.
    RootOfSum,
    /// The sum, rounded once.
    ExactSum,
}

/// Extents of the arrays, by rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    pub line: i64,
    pub plane: i64,
    pub cube: i64,
}

impl Sizes {
    pub fn shape(&self, rank: usize) -> Vec<i64> {
        match rank {
            1 => vec![self.line],
            2 => vec![self.plane; 2],
            _ => vec![self.cube; 3],
        }
    }
}

/// W1: the families in which wgpu is compared with this machine's other devices, our own PTX above all.
pub const BESIDE: &[&str] = &["E1", "R1", "S2"];

/// Everything that is measured over arrays of many sizes.
pub const WORKLOADS: &[Workload] = &[
    line("copy", "a", 1, formula!(formula::copy)),
    line("scale", "1.5 a", 1, formula!(formula::scale)),
    line("triad", "a + 1.5 b", 2, formula!(formula::triad)),
    line("fused8", "sqrt(a a + b b) (a - b) + a / b", 2, formula!(formula::fused8)),
    line("expsin", "exp(a) sin(b)", 2, formula!(formula::expsin)),
    Workload {
        group: "E2",
        reach: 1,
        ..line("offset", "a[1:] + 1.5 b[:-1]: views that start off the vectors", 2, formula!(formula::offset))
    },
    Workload {
        group: "E2",
        extents: Extents::Prime,
        ..line("odd_line", "a + 1.5 b on a prime number of elements", 2, formula!(formula::triad))
    },
    Workload {
        group: "E2",
        extents: Extents::Prime,
        ..stencil("E2", "odd_plane", "2-D, 5 points, rows of prime length", 2, 1, formula!(formula::stencil5))
    },
    Workload {
        group: "E2",
        extents: Extents::Prime,
        ..stencil("E2", "odd_cube", "3-D, 7 points, axes of prime length", 3, 1, formula!(formula::stencil7))
    },
    Workload {
        group: "E2",
        seen: &[(0, View::Second)],
        ..line("strided", "1.5 a[::2]; half of each line that is read counts", 1, formula!(formula::scale))
    },
    Workload {
        group: "E2",
        seen: &[(0, View::Second)],
        written: &[(0, View::Second)],
        then: Then::Assign,
        ..line("spread", "c[::2] = 1.5 a[::2]; half of each line counts", 1, formula!(formula::scale))
    },
    Workload {
        group: "E2",
        rank: 2,
        seen: &[(0, View::Turned)],
        ..line("turned", "a + b, a transposed", 2, formula!(formula::add))
    },
    Workload {
        group: "E2",
        rank: 2,
        outputs: 2,
        written: &[(1, View::Turned)],
        ..line("turned_too", "a + b as it is and transposed", 2, formula!(formula::add_twice))
    },
    broadcast("row", "a + b, b one row", &[(1, 0)], formula!(formula::add)),
    broadcast("column", "a + b, b one column", &[(1, 1)], formula!(formula::add)),
    broadcast("outer", "a + b, a one column and b one row", &[(0, 1), (1, 0)], formula!(formula::add)),
    fold("sum", "sum of a", 1, formula!(formula::copy), Fold::Sum, &[]),
    fold("max", "largest of a", 1, formula!(formula::copy), Fold::Max, &[]),
    fold("norm", "sqrt(sum of a a), the square fused", 1, formula!(formula::square), Fold::RootOfSum, &[]),
    Workload {
        inputs: 2,
        ..fold("dot", "sum of a b, the product fused", 1, formula!(formula::product), Fold::Sum, &[])
    },
    fold("sum_exact", "the exact sum of a, rounded once", 1, formula!(formula::copy), Fold::ExactSum, &[]),
    fold("sum_rows", "sums along the last axis", 2, formula!(formula::copy), Fold::Sum, &[1]),
    fold("sum_columns", "sums along the first axis", 2, formula!(formula::copy), Fold::Sum, &[0]),
    stencil("S1", "stencil5", "2-D, 5 points", 2, 1, formula!(formula::stencil5)),
    stencil("S1", "stencil9", "2-D, the 9 points of a square", 2, 1, formula!(formula::stencil9)),
    stencil("S2", "stencil7", "3-D, 7 points", 3, 1, formula!(formula::stencil7)),
    Workload {
        then: Then::Assign,
        ..stencil(
            "S2",
            "step7",
            "the same, assigned to a cube that keeps its faces",
            3,
            1,
            formula!(formula::stencil7),
        )
    },
    Workload {
        extents: Extents::Flat,
        ..stencil(
            "S2",
            "flat7",
            "3-D, 7 points, planes four times as large",
            3,
            1,
            formula!(formula::stencil7),
        )
    },
    stencil("S2", "stencil13", "3-D star, radius 2", 3, 2, formula!(formula::stencil13)),
    stencil("S2", "stencil25", "3-D star, radius 4", 3, 4, formula!(formula::stencil25)),
    stencil("S2", "stencil27", "3-D, the 27 points of a cube", 3, 1, formula!(formula::stencil27)),
    Workload {
        inputs: 2,
        outputs: 2,
        ..stencil("S3", "gray_scott", "two species, 7 points each", 3, 1, formula!(formula::gray_scott))
    },
    Workload {
        inputs: 3,
        ..stencil("S3", "wave", "acoustic wave, radius 4, speed per cell", 3, 4, formula!(formula::wave))
    },
    Workload {
        inputs: 2,
        ..stencil("S3", "heat", "heat, 7 points, conductivity per cell", 3, 1, formula!(formula::heat))
    },
    Workload {
        inputs: 3,
        outputs: 3,
        ..stencil(
            "S3",
            "shallow_water",
            "2-D shallow water: depth and velocity, 4 and 5 points",
            2,
            1,
            formula!(formula::shallow_water),
        )
    },
    Workload {
        extents: Extents::Half,
        inputs: 19,
        outputs: 19,
        ..stencil(
            "S3",
            "d3q19",
            "lattice Boltzmann, 19 directions: stream and collide, half the extents",
            3,
            1,
            formula!(formula::d3q19),
        )
    },
];

/// 64 operations a cell: the most arithmetic that the generated code does in a second.
pub const ARITHMETIC: Workload =
    line("arithmetic", "32 multiplications and additions a cell", 1, formula!(formula::polynomial));

const fn line(name: &'static str, text: &'static str, inputs: usize, formula: Formula) -> Workload {
    Workload {
        group: "E1",
        name,
        text,
        rank: 1,
        extents: Extents::Usual,
        inputs,
        thin: &[],
        seen: &[],
        outputs: 1,
        written: &[],
        reach: 0,
        formula,
        then: Then::Keep,
    }
}

const fn broadcast(
    name: &'static str,
    text: &'static str,
    thin: &'static [(usize, usize)],
    formula: Formula,
) -> Workload {
    Workload { group: "E2", rank: 2, thin, ..line(name, text, 2, formula) }
}

const fn fold(
    name: &'static str,
    text: &'static str,
    rank: usize,
    formula: Formula,
    fold: Fold,
    axes: &'static [usize],
) -> Workload {
    let then = Then::Fold(fold, axes);
    Workload { group: "R1", rank, then, ..line(name, text, 1, formula) }
}

const fn stencil(
    group: &'static str,
    name: &'static str,
    text: &'static str,
    rank: usize,
    reach: i64,
    formula: Formula,
) -> Workload {
    Workload { group, rank, reach, ..line(name, text, 1, formula) }
}

impl Workload {
    /// The workload of this name, which is in the table.
    pub fn named(name: &str) -> Result<&'static Workload> {
        match WORKLOADS.iter().find(|workload| workload.name == name) {
            Some(workload) => Ok(workload),
            None => bail!("no workload `{name}`; `partita-bench list` names them"),
        }
    }

    /// Extents of the arrays that are not broadcast.
    pub fn whole(&self, sizes: &Sizes) -> Vec<i64> {
        self.extents.of(sizes.shape(self.rank))
    }

    /// Extents of an input.
    pub fn shape(&self, sizes: &Sizes, input: usize) -> Vec<i64> {
        let mut shape = self.whole(sizes);
        self.thin.iter().filter(|(thin, _)| *thin == input).for_each(|&(_, axis)| shape[axis] = 1);
        shape
    }

    /// The view of an input that the formula reads.
    pub fn view_of_input(&self, input: usize) -> Option<View> {
        self.seen.iter().find(|(seen, _)| *seen == input).map(|&(_, view)| view)
    }

    /// The view that a result is written through.
    pub fn view_of_result(&self, output: usize) -> Option<View> {
        self.written.iter().find(|(written, _)| *written == output).map(|&(_, view)| view)
    }

    /// Extents of an input as the formula sees it.
    fn seen_shape(&self, sizes: &Sizes, input: usize) -> Vec<i64> {
        let shape = self.shape(sizes, input);
        self.view_of_input(input).map_or(shape.clone(), |view| view.shape(shape))
    }

    /// Extents for which the formula is evaluated.
    pub fn inner(&self, sizes: &Sizes) -> Vec<i64> {
        let mut shape = vec![1; self.rank];
        for input in 0..self.inputs {
            let seen = self.seen_shape(sizes, input);
            shape.iter_mut().zip(seen).for_each(|(extent, seen)| *extent = seen.max(*extent));
        }
        shape.iter().map(|extent| extent - 2 * self.reach).collect()
    }

    /// Cells of an input that is not broadcast.
    pub fn points(&self, sizes: &Sizes) -> f64 {
        self.whole(sizes).iter().map(|&extent| extent as f64).product()
    }

    /// Cells for which the formula is evaluated.
    pub fn computed(&self, sizes: &Sizes) -> f64 {
        self.inner(sizes).iter().map(|&extent| extent as f64).product()
    }

    /// Extents of a result.
    fn result_shape(&self, sizes: &Sizes, output: usize) -> Vec<i64> {
        let (whole, inner) = (self.whole(sizes), self.inner(sizes));
        match (self.then, self.view_of_result(output)) {
            (Then::Keep, Some(view)) => view.shape(inner),
            (Then::Keep, None) => inner,
            (Then::Assign, _) => whole,
            (Then::Fold(_, []), _) => Vec::new(),
            (Then::Fold(_, axes), _) => {
                (0..self.rank).filter(|d| !axes.contains(d)).map(|d| whole[d]).collect()
            }
        }
    }

    /// Bytes that must pass through memory: what is seen of every input read once, every result written once.
    pub fn bytes(&self, sizes: &Sizes, dtype: DType) -> f64 {
        let size = dtype.size_bytes() as f64;
        let volume = |shape: Vec<i64>| shape.iter().map(|&extent| extent as f64).product::<f64>();
        let read: f64 = (0..self.inputs).map(|input| volume(self.seen_shape(sizes, input))).sum();
        let result = match self.then {
            Then::Keep | Then::Assign => self.computed(sizes),
            Then::Fold(..) => volume(self.result_shape(sizes, 0)),
        };
        read * size + self.outputs as f64 * result * self.result_dtype(dtype).size_bytes() as f64
    }

    /// Operations of the formula per computed cell, a fold's own included.
    pub fn operations_per_cell(&self) -> u32 {
        let (steps, _) = self.formula.steps();
        let operations = steps.iter().filter(|step| !["cell", "number"].contains(&step.0)).count();
        operations as u32 + u32::from(matches!(self.then, Then::Fold(..)))
    }

    /// Operations of one run.
    pub fn operations(&self, sizes: &Sizes) -> f64 {
        f64::from(self.operations_per_cell()) * self.computed(sizes)
    }

    /// For peers: the formula, and the extents of all arrays.
    pub fn description(&self, sizes: &Sizes) -> Value {
        let (then, axes) = match self.then {
            Then::Keep => ("keep", &[][..]),
            Then::Assign => ("assign", &[][..]),
            Then::Fold(Fold::Sum | Fold::ExactSum, axes) => ("sum", axes),
            Then::Fold(Fold::Max, axes) => ("max", axes),
            Then::Fold(Fold::RootOfSum, axes) => ("norm", axes),
        };
        json!({
            "formula": self.formula.steps(), "rank": self.rank, "reach": self.reach,
            "then": then, "axes": axes,
            "shapes": (0..self.inputs).map(|input| self.shape(sizes, input)).collect::<Vec<_>>(),
            "seen_shapes": (0..self.inputs).map(|input| self.seen_shape(sizes, input)).collect::<Vec<_>>(),
            "inner": self.inner(sizes),
            "results": (0..self.outputs).map(|output| self.result_shape(sizes, output)).collect::<Vec<_>>(),
            "seen": self.seen, "written": self.written,
        })
    }

    /// f16 and bf16 are summed in f32: the largest f16 is 65504.
    pub fn result_dtype(&self, dtype: DType) -> DType {
        match self.then {
            Then::Fold(fold, _) if fold != Fold::Max && dtype.is_float() && dtype.size_bytes() == 2 => {
                DType::F32
            }
            Then::Keep | Then::Assign | Then::Fold(..) => dtype,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::formula::{Arguments, Step};

    const SIZES: Sizes = Sizes { line: 1000, plane: 100, cube: 20 };

    /// Cells read per cell, operations per cell, bytes: counted by hand.
    const BY_HAND: &[(&str, usize, u32, f64)] = &[
        ("copy", 1, 0, 8000.0),
        ("scale", 1, 1, 8000.0),
        ("triad", 2, 2, 12000.0),
        ("fused8", 2, 8, 12000.0),
        ("expsin", 2, 3, 12000.0),
        ("offset", 2, 2, 8000.0 + 4.0 * 998.0),
        // The largest primes below 1000, 100 and 20: 997, 97, 19.
        ("odd_line", 2, 2, 3.0 * 4.0 * 997.0),
        ("odd_plane", 5, 7, 4.0 * (97.0 * 97.0 + 95.0 * 95.0)),
        ("odd_cube", 7, 9, 4.0 * (6859.0 + 4913.0)),
        ("strided", 1, 1, 2.0 * 4.0 * 500.0),
        ("spread", 1, 1, 2.0 * 4.0 * 500.0),
        ("turned", 2, 1, 3.0 * 40000.0),
        ("turned_too", 2, 1, 4.0 * 40000.0),
        ("row", 2, 1, 80400.0),
        ("column", 2, 1, 80400.0),
        ("outer", 2, 1, 40800.0),
        ("sum", 1, 1, 4004.0),
        ("max", 1, 1, 4004.0),
        ("norm", 1, 2, 4004.0),
        ("dot", 2, 2, 8004.0),
        ("sum_exact", 1, 1, 4004.0),
        ("sum_rows", 1, 1, 40400.0),
        ("sum_columns", 1, 1, 40400.0),
        // Sum of 4, 4u, difference, k, sum.
        ("stencil5", 5, 7, 40000.0 + 4.0 * 98.0 * 98.0),
        // Two sums of 4, three weights, two additions.
        ("stencil9", 9, 11, 40000.0 + 4.0 * 98.0 * 98.0),
        ("stencil7", 7, 9, 32000.0 + 4.0 * 5832.0),
        ("step7", 7, 9, 32000.0 + 4.0 * 5832.0),
        // 5 planes of 40 x 40.
        ("flat7", 7, 9, 4.0 * (8000.0 + 3.0 * 38.0 * 38.0)),
        // Two sums of 6, three weights, two additions.
        ("stencil13", 13, 15, 32000.0 + 4.0 * 4096.0),
        ("stencil25", 25, 29, 32000.0 + 4.0 * 1728.0),
        // Sums of 6, 12 and 8, four weights, three additions.
        ("stencil27", 27, 30, 32000.0 + 4.0 * 5832.0),
        // Two diffusions of 9, reaction 2, feed 3, two and two to combine with the decay.
        ("gray_scott", 14, 28, 64000.0 + 8.0 * 5832.0),
        // The star's 29, times the speed, 0.1, 2u, difference, sum.
        ("wave", 27, 34, 96000.0 + 4.0 * 1728.0),
        // Six flows of 3, five additions, the factor, the sum.
        ("heat", 14, 25, 64000.0 + 4.0 * 5832.0),
        // Three means of 4, less something. Outflow: four products, 3, times the step. Of each velocity:
        // three differences, two products, 2, times the step.
        ("shallow_water", 14, 3 * 5 + 8 + 2 * 8, 120_000.0 + 12.0 * 98.0 * 98.0),
        // A cube of 10. Density 18, momentum 3 (4 + 4 + 1), velocity 3, its square 5, at rest 2, weights 3,
        // kept parts 19; the resting population 2; 9 pairs of directions, of which 6 add two velocities:
        // even part 4, odd part 2, two sums of three; three squares of velocities are there already.
        (
            "d3q19",
            19,
            18 + 27 + 3 + 5 + 2 + 3 + 19 + 2 + 6 + 9 * (4 + 2 + 4) - 3,
            19.0 * 4.0 * (1000.0 + 512.0),
        ),
    ];

    #[test]
    fn bytes_and_operations_are_those_counted_by_hand() {
        let names: Vec<&str> = WORKLOADS.iter().map(|workload| workload.name).collect();
        assert_eq!(names, BY_HAND.iter().map(|row| row.0).collect::<Vec<_>>());
        for (workload, &(name, cells, operations, bytes)) in WORKLOADS.iter().zip(BY_HAND) {
            let (steps, outputs) = workload.formula.steps();
            assert_eq!(outputs.len(), workload.outputs, "{name}: outputs");
            assert_eq!(steps.iter().filter(|step| step.0 == "cell").count(), cells, "{name}: cells read");
            assert_eq!(workload.operations_per_cell(), operations, "{name}: operations");
            assert_eq!(workload.bytes(&SIZES, DType::F32), bytes, "{name}: bytes");
        }
    }

    #[test]
    fn inputs_and_reach_are_what_the_formula_reads() {
        for workload in WORKLOADS {
            let (mut arrays, mut farthest) = (0, 0);
            for Step(_, arguments) in workload.formula.steps().0 {
                let Arguments::Cell(array, offset) = arguments else { continue };
                arrays = arrays.max(array + 1);
                farthest = offset.iter().fold(farthest, |farthest, by| by.abs().max(farthest));
                assert!(offset[..3 - workload.rank].iter().all(|&by| by == 0), "{}: axes", workload.name);
            }
            assert_eq!((arrays, farthest), (workload.inputs, workload.reach), "{}", workload.name);
        }
    }

    #[test]
    fn other_types_count_their_own_bytes() {
        let sum = Workload::named("sum").expect("in the table");
        assert_eq!(sum.bytes(&SIZES, DType::F16), 2000.0 + 4.0);
        let heat = Workload::named("heat").expect("in the table");
        assert_eq!(heat.bytes(&SIZES, DType::F64), 2.0 * heat.bytes(&SIZES, DType::F32));
        assert!(Workload::named("nothing").is_err());
    }
}
