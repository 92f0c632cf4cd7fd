//! Halo exchanges by themselves: the plan of an array's faces, carried out without any computation.

use anyhow::{Result, ensure};
use half::f16;
use partita::plan::Plan;
use partita::prelude::*;
use partita::transport::{self, Field, lower};

use crate::results::record::Record;
use crate::sample::{Effort, samples};

/// The parts of a cube that exchange.
const GRID: [i64; 3] = [2, 2, 2];

/// Which faces, and how deep.
pub struct Faces {
    pub name: &'static str,
    pub text: &'static str,
    pub widths: [i64; 3],
}

/// All faces in one exchange, then those across each axis.
pub const FACES: &[Faces] = &[
    Faces { name: "halo_r1", text: "8 parts, every face, 1 layer", widths: [1, 1, 1] },
    Faces { name: "halo_z_r1", text: "faces across the first axis: planes", widths: [1, 0, 0] },
    Faces { name: "halo_y_r1", text: "faces across the second axis: rows", widths: [0, 1, 0] },
    Faces { name: "halo_x_r1", text: "faces across the last axis: single cells", widths: [0, 0, 1] },
    Faces { name: "halo_r4", text: "8 parts, every face, 4 layers", widths: [4, 4, 4] },
    Faces { name: "halo_z_r4", text: "planes, 4 layers", widths: [4, 0, 0] },
    Faces { name: "halo_y_r4", text: "rows, 4 layers", widths: [0, 4, 0] },
    Faces { name: "halo_x_r4", text: "runs of 4 cells", widths: [0, 0, 4] },
];

/// An array and the commands that fill its halo.
pub struct Exchange {
    array: Array,
    plan: Plan,
    exchange: transport::Exchange,
}

impl Exchange {
    /// Cells hold their position, which shows where each came from.
    pub fn new(
        device: &Device,
        dtype: DType,
        shape: &[i64],
        grid: &[i64],
        widths: &[i64],
    ) -> Result<Exchange> {
        let parts = grid.iter().product::<i64>() as usize;
        let team = Team::on(std::slice::from_ref(device), parts)?;
        let dist = Distribution::builder(shape).grid(grid).halo(widths, widths).build()?;
        let array = match dtype {
            DType::F64 => Array::from_fn(&team, &dist, position),
            DType::F16 => Array::from_fn(&team, &dist, |at| f16::from_f64(position(at))),
            _ => Array::from_fn(&team, &dist, |at| position(at) as f32),
        }?;
        let places = array.places()?;
        let plan = Plan::halo_widths(&*array.distribution()?, widths, widths, false)?;
        let field = Field { plan: &plan, from: &places, to: &places, dtype };
        let exchange = lower(&[field])?;
        Ok(Exchange { array, plan, exchange })
    }

    /// Exchanges `times` times, then waits.
    pub fn run(&mut self, times: usize) -> Result<()> {
        for _ in 0..times {
            self.exchange.commands().try_for_each(crate::raw_access::run)?;
        }
        Ok(self.array.team().wait()?)
    }

    pub fn messages(&self) -> usize {
        self.plan.moves().len()
    }

    /// Each moved cell is read once and written once.
    pub fn bytes(&self) -> f64 {
        let cells: u64 = self.plan.moves().iter().map(partita::plan::Move::elements).sum();
        2.0 * cells as f64 * self.array.dtype().size_bytes() as f64
    }

    /// Looks into the memory of every part: each cell of its halo must be its owner's.
    pub fn check(&self) -> Result<()> {
        let places = self.array.places()?;
        let dtype = self.array.dtype();
        for step in self.plan.moves() {
            let Some(place) = &places[step.to_part] else { continue };
            let mut bytes = vec![0; place.stored.volume()? as usize * dtype.size_bytes()];
            crate::raw_access::download(&place.device, &place.allocation, 0, &mut bytes)?;
            for cell in step.to.points() {
                let strides = place.strides();
                let local = cell.iter().zip(place.stored.start().iter()).zip(strides.iter());
                let at = local.map(|((c, start), stride)| (c - start) * stride).sum::<i64>() as usize;
                let given = number(dtype, &bytes, at);
                let expected = rounded(dtype, position(&cell));
                ensure!(
                    given == expected,
                    "halo {dtype}: element {cell} of part {}: expected {expected}, given {given}",
                    step.to_part
                );
            }
        }
        Ok(())
    }
}

/// Small enough that f16 holds it exactly.
fn position(at: &[i64]) -> f64 {
    at.iter().fold(7, |sum, at| (31 * sum + at) % 1021) as f64
}

fn rounded(dtype: DType, value: f64) -> f64 {
    if dtype == DType::F16 { f16::from_f64(value).to_f64() } else { value }
}

fn number(dtype: DType, bytes: &[u8], at: usize) -> f64 {
    let size = dtype.size_bytes();
    let bytes = &bytes[at * size..(at + 1) * size];
    match bytes {
        [a, b] => f16::from_ne_bytes([*a, *b]).to_f64(),
        [a, b, c, d] => f64::from(f32::from_ne_bytes([*a, *b, *c, *d])),
        _ => bytes.try_into().map_or(f64::NAN, f64::from_ne_bytes),
    }
}

/// Measures one set of faces on one device.
pub fn measure(
    faces: &Faces,
    device: &Device,
    dtype: DType,
    cube: i64,
    effort: &Effort,
    copy_gb_s: Option<f64>,
) -> Result<Record> {
    let mut exchange = Exchange::new(device, dtype, &[cube; 3], &GRID, &faces.widths)?;
    exchange.run(1)?;
    exchange.check()?;
    let seconds = samples(effort, &mut |times| exchange.run(times))?;
    exchange.check()?;
    let record = Record::of_time("H1", faces.name, device.name(), seconds);
    let points = (cube as f64).powi(3);
    Ok(Record { dtype: dtype.to_string(), points, error: Some(0.0), ..record }
        .moving(exchange.bytes(), copy_gb_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_arrive_and_are_counted() {
        for faces in FACES {
            for dtype in [DType::F32, DType::F64, DType::F16] {
                let host = Device::host();
                let exchange = Exchange::new(&host, dtype, &[20; 3], &GRID, &faces.widths);
                let mut exchange = exchange.expect("plan");
                assert!(exchange.check().is_err(), "{}: halos are not filled by themselves", faces.name);
                exchange.run(1).expect("run");
                exchange.check().expect(faces.name);
                // Eight parts have one neighbour across each axis.
                let layers: i64 = faces.widths.iter().sum();
                let bytes = 2 * 8 * 10 * 10 * layers * dtype.size_bytes() as i64;
                assert_eq!(exchange.bytes(), bytes as f64, "{}", faces.name);
                assert_eq!(exchange.messages(), 8 * faces.widths.iter().filter(|&&w| w > 0).count());
            }
        }
    }
}
