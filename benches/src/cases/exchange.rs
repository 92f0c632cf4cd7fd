//! H1 and P1: halo exchanges by themselves, and cubes whose division changes. Cells hold their position,
//! which shows where each came from; every one is read once and written once, so the ceiling is the copy.

use anyhow::{Result, ensure};
use half::f16;
use partita::plan::Plan;
use partita::prelude::*;
use partita::transport::{self, Field, lower};

use crate::cases::bound::{array, element, sampled, sampled_indices, seed, unflatten};
use crate::cases::case::{Case, On, Work};

/// Along each axis of a cube: parts, or layers.
type Along = [i64; 3];

/// The parts of a cube that exchange.
const GRID: Along = [2, 2, 2];

/// Names, and how many layers are exchanged across each axis: all faces in one exchange, then single ones.
const FACES: &[(&str, &str, Along)] = &[
    ("halo_r1", "8 parts, every face, 1 layer", [1, 1, 1]),
    ("halo_z_r1", "faces across the first axis: planes", [1, 0, 0]),
    ("halo_y_r1", "faces across the second axis: rows", [0, 1, 0]),
    ("halo_x_r1", "faces across the last axis: single cells", [0, 0, 1]),
    ("halo_r4", "8 parts, every face, 4 layers", [4, 4, 4]),
    ("halo_z_r4", "planes, 4 layers", [4, 0, 0]),
    ("halo_y_r4", "rows, 4 layers", [0, 4, 0]),
    ("halo_x_r4", "runs of 4 cells", [0, 0, 4]),
];

/// Names, from one grid of parts to another, and numbers per cell: complex ones are pairs.
const REPARTITIONS: &[(&str, &str, Along, Along, i64)] = &[
    ("slab_slab", "8 slabs along the first axis become 8 along the last", [8, 1, 1], [1, 1, 8], 1),
    ("slab_pencil", "8 slabs along the first axis become 2 x 4 pencils", [8, 1, 1], [1, 2, 4], 1),
    (
        "pencil_pencil",
        "2 x 4 pencils along the last axis become pencils along the second",
        [2, 4, 1],
        [2, 1, 4],
        1,
    ),
    ("slab_slab_c", "8 slabs of complex numbers become 8 along the last axis", [8, 1, 1], [1, 1, 8], 2),
];

pub fn cases() -> impl Iterator<Item = Case> {
    let faces = FACES.iter().map(|&(name, text, widths)| Case {
        group: "H1",
        name,
        text,
        is_typed: true,
        measure: Box::new(move |on| {
            let mut exchange = Exchange::new(on, &[on.sizes.cube; 3], &GRID, &widths)?;
            let bytes = exchange.bytes();
            on.record(("H1", name), (on.sizes.cube as f64).powi(3), bytes, &mut exchange)
        }),
    });
    let repartitions = REPARTITIONS.iter().map(|&(name, text, from, to, numbers)| Case {
        group: "P1",
        name,
        text,
        is_typed: true,
        measure: Box::new(move |on| {
            let points = (on.sizes.cube as f64).powi(3);
            let bytes = 2.0 * points * (numbers as usize * on.dtype.size_bytes()) as f64;
            on.record(("P1", name), points, bytes, &mut Moving::new(on, from, to, numbers)?)
        }),
    });
    faces.chain(repartitions)
}

/// An array and the commands that fill its halo.
pub struct Exchange {
    array: Array,
    plan: Plan,
    exchange: transport::Exchange,
}

impl Exchange {
    pub fn new(on: &On, shape: &[i64], grid: &[i64], widths: &[i64]) -> Result<Exchange> {
        let team = on.team(grid.iter().product::<i64>() as usize)?;
        let dist = Distribution::builder(shape).grid(grid).halo(widths, widths).build()?;
        let mut position = Array::full(&team, &dist, Scalar::from_i64(DType::I32, FIRST))?;
        for d in 0..shape.len() {
            position = (position * FACTOR + Array::coordinate(&team, &dist, d, DType::I32)?) % MODULUS;
        }
        let array = position.cast(on.dtype);
        array.eval()?;
        let places = array.places()?;
        let plan = Plan::halo_widths(&*array.distribution()?, widths, widths, false)?;
        let field = Field { plan: &plan, from: &places, to: &places, dtype: on.dtype };
        let exchange = lower(&[field])?;
        Ok(Exchange { array, plan, exchange })
    }

    pub fn messages(&self) -> usize {
        self.plan.moves().len()
    }

    fn bytes(&self) -> f64 {
        let cells: u64 = self.plan.moves().iter().map(partita::plan::Move::elements).sum();
        2.0 * cells as f64 * self.array.dtype().size_bytes() as f64
    }
}

impl Work for Exchange {
    fn run(&mut self, times: usize) -> Result<()> {
        for _ in 0..times {
            self.exchange.commands().try_for_each(crate::raw_access::run)?;
        }
        Ok(self.array.team().wait()?)
    }

    /// Looks into the memory of every part: cells of its halo must be their owner's.
    fn check(&mut self) -> Result<f64> {
        let (places, dtype) = (self.array.places()?, self.array.dtype());
        for step in self.plan.moves() {
            let Some(place) = &places[step.to_part] else { continue };
            let shape: Vec<i64> = (0..step.to.rank()).map(|d| step.to.extent(d)).collect();
            for k in sampled_indices(step.to.volume()? as usize, COMPARED) {
                let along = unflatten(k, &shape).into_iter().zip(step.to.start().iter());
                let cell: Vec<i64> = along.map(|(by, start)| by + start).collect();
                let strides = place.strides();
                let local = cell.iter().zip(place.stored.start().iter()).zip(strides.iter());
                let at = local.map(|((c, start), stride)| (c - start) * stride).sum::<i64>();
                let mut bytes = vec![0; dtype.size_bytes()];
                let offset = at as u64 * bytes.len() as u64;
                crate::raw_access::download(&place.device, &place.allocation, offset, &mut bytes)?;
                let (given, expected) = (number(&bytes), position(&cell));
                ensure!(
                    given == expected,
                    "halo {dtype}: element {cell:?} of part {}: expected {expected}, given {given}",
                    step.to_part
                );
            }
        }
        Ok(0.0)
    }
}

/// Cells of a move that are compared.
const COMPARED: usize = 40;
const FIRST: i64 = 7;
const FACTOR: i64 = 31;
const MODULUS: i64 = 1021;

/// Small enough that f16 holds it exactly.
fn position(at: &[i64]) -> f64 {
    at.iter().fold(FIRST, |sum, at| (FACTOR * sum + at) % MODULUS) as f64
}

fn number(bytes: &[u8]) -> f64 {
    match bytes {
        [a, b] => f16::from_ne_bytes([*a, *b]).to_f64(),
        [a, b, c, d] => f64::from(f32::from_ne_bytes([*a, *b, *c, *d])),
        _ => bytes.try_into().map_or(f64::NAN, f64::from_ne_bytes),
    }
}

/// A cube, and what it becomes.
struct Moving {
    source: Array,
    to: Distribution,
    moved: Option<Array>,
}

impl Moving {
    fn new(on: &On, from: [i64; 3], to: [i64; 3], numbers: i64) -> Result<Moving> {
        // A pair is a further axis, which is not divided.
        let rank = if numbers > 1 { 4 } else { 3 };
        let cube = on.sizes.cube;
        let divided = |[z, y, x]: [i64; 3]| {
            Distribution::builder(&[cube, cube, cube, numbers][..rank]).grid(&[z, y, x, 1][..rank]).build()
        };
        let team = on.team(from.iter().product::<i64>() as usize)?;
        let source = array(&team, &divided(from)?, on.dtype, seed(0, 0))?;
        Ok(Moving { source, to: divided(to)?, moved: None })
    }
}

impl Work for Moving {
    fn run(&mut self, times: usize) -> Result<()> {
        for _ in 0..times {
            // Its memory is free again for the next.
            self.moved = None;
            self.moved.insert(self.source.redistribute(&self.to)).eval()?;
        }
        Ok(self.source.team().wait()?)
    }

    /// Cells, and where they lie.
    fn check(&mut self) -> Result<f64> {
        let Some(moved) = &self.moved else { anyhow::bail!("nothing was moved") };
        ensure!(*moved.distribution()? == self.to, "expected {}, given {}", self.to, moved.distribution()?);
        for (k, given) in sampled(moved, 1000)? {
            let expected = element(moved.dtype(), seed(0, 0), k as u64);
            ensure!(given == expected, "element {k}: expected {expected}, given {given}");
        }
        Ok(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::workload::Sizes;

    const TYPES: [DType; 3] = [DType::F32, DType::F64, DType::F16];

    #[test]
    fn faces_arrive_and_are_counted() {
        for &(name, _, widths) in FACES {
            for dtype in TYPES {
                let host = Device::host();
                let on = On { dtype, ..On::smoke(&host) };
                let mut exchange = Exchange::new(&on, &[20; 3], &GRID, &widths).expect("plan");
                assert!(exchange.check().is_err(), "{name}: halos are not filled by themselves");
                exchange.run(1).expect("run");
                exchange.check().expect(name);
                // Eight parts have one neighbour across each axis.
                let layers: i64 = widths.iter().sum();
                let bytes = 2 * 8 * 10 * 10 * layers * dtype.size_bytes() as i64;
                assert_eq!(exchange.bytes(), bytes as f64, "{name}");
                assert_eq!(exchange.messages(), 8 * widths.iter().filter(|&&w| w > 0).count());
            }
        }
    }

    #[test]
    fn every_cell_arrives() {
        for &(name, _, from, to, numbers) in REPARTITIONS {
            for dtype in TYPES {
                let host = Device::host();
                let on = On { dtype, sizes: &Sizes { line: 13, plane: 13, cube: 13 }, ..On::smoke(&host) };
                let mut moving = Moving::new(&on, from, to, numbers).expect("make");
                assert!(moving.check().is_err(), "nothing moved yet");
                moving.run(2).expect("run");
                moving.check().expect(name);
                moving.moved = moving.moved.as_ref().map(|moved| moved + 1.0);
                assert!(moving.check().is_err(), "{name}: a wrong cell is seen");
            }
        }
    }
}
