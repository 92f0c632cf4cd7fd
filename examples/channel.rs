//! Creeping flow into a channel on a staggered (MAC) grid: pressure in the cells {1..n, 1..m}, velocities on
//! their faces {0..n, 1..m} and {1..n, 0..m}, each array over these indices and some ghosts. Artificial
//! compressibility, explicit in time. A plug flows in; Poiseuille's profile flows out.

use partita::operators::{Boundary, laplacian};
use partita::prelude::*;

const N: i64 = 24;
const M: i64 = 8;
const H: f64 = 1.0 / M as f64;
/// The viscosity is 1; sound travels 0.4 cells in a step.
const DT: f64 = 0.15 * H * H;
const STIFFNESS: f64 = 0.16 * H * H / (DT * DT);

/// From the first to the last index, in both dimensions.
fn domain(x: [i64; 2], y: [i64; 2]) -> Result<Domain> {
    Ok(Domain::new(&[IndexRange::new(x[0], x[1] + 1, 1)?, IndexRange::new(y[0], y[1] + 1, 1)?])?)
}

fn divergence(u: &Array, v: &Array, cells: &Domain) -> Result<Array> {
    let along = u.at(cells) - u.at(&cells.shift(&[-1, 0])?);
    Ok((along + v.at(cells) - v.at(&cells.shift(&[0, -1])?)) / H)
}

fn main() -> Result<()> {
    let team = Team::local(3)?;
    let zeros = |domain: Domain| -> Result<Array> {
        let dist = Distribution::default_partition(3, &domain.shape())?;
        Ok(Array::zeros(&team, &dist, DType::F64)?.over(&domain))
    };
    let (cells, inner) = (domain([1, N], [1, M])?, domain([1, N], [1, M - 1])?);
    let (mut u, v) = (zeros(domain([0, N + 1], [0, M + 1])?)?, zeros(domain([0, N + 1], [0, M])?)?);
    let (inlet, outlet) = (domain([0, 0], [1, M])?, domain([N, N], [1, M])?);
    u.assign_at(&inlet, &(u.at(&inlet) + 1))?;
    let mut flow = Loop::new(vec![u, v, zeros(domain([1, N + 1], [1, M])?)?], |state| {
        let [u, v, p] = state else { unreachable!("three arrays") };
        // No slip at the walls; beyond the outlet the flow goes on, and the pressure is 0.
        for (wall, beside) in [(0, 1), (M + 1, M)] {
            u.assign_at(&domain([0, N], [wall; 2])?, &-u.at(&domain([0, N], [beside; 2])?))?;
        }
        u.assign_at(&outlet.shift(&[1, 0])?, &u.at(&outlet))?;
        v.assign_at(&domain([N + 1; 2], [0, M])?, &v.at(&domain([N; 2], [0, M])?))?;
        let along = laplacian(u, &[H; 2], Boundary::Open) - (p.at(&cells.shift(&[1, 0])?) - p.at(&cells)) / H;
        let across =
            laplacian(v, &[H; 2], Boundary::Open) - (p.at(&inner.shift(&[0, 1])?) - p.at(&inner)) / H;
        u.assign_at(&cells, &(u.at(&cells) + along * DT))?;
        v.assign_at(&inner, &(v.at(&inner) + across * DT))?;
        p.assign_at(&cells, &(p.at(&cells) - divergence(u, v, &cells)? * (STIFFNESS * DT)))
    });
    flow.run(1500)?;
    // y (1 - y), as this grid has it, under the indices of the outlet and for a mean of 1.
    let [u, v, _] = flow.state() else { unreachable!("three arrays") };
    let y = (Array::coordinate(&team, &*u.distribution()?, 1, DType::F64)? - 0.5) * H;
    let profile = (&y * (1 - &y) + H * H / 4.0).over(&u.domain()).at(&outlet);
    let error = (u.at(&outlet) - &profile / profile.mean(&[])).abs().max(&[]).item::<f64>()?;
    let rest = divergence(u, v, &cells)?.abs().max(&[]).item::<f64>()?;
    println!("{error:.1e} from Poiseuille's, divergence {rest:.1e}");
    assert!(error < 1e-7 && rest < 1e-8);
    Ok(())
}
