//! One time step of the nonlinear shallow-water equations, written on windows of lazy arrays.
//!
//! State: elevation of the free surface `eta` (the bed where it is dry) and the discharges east and
//! north, `qx` and `qy`. The surface, not the depth, is the unknown, so that single precision keeps
//! small waves over deep water.
//!
//! Method: finite volumes, dimension by dimension (Strang's order is not alternated); second order by
//! MUSCL-Hancock (van Leer 1984) with minmod slopes (Roe 1986); local Lax-Friedrichs (Rusanov)
//! fluxes; well balanced, because a lake at rest has equal surfaces on both sides of every face and
//! so neither flux nor force, by the idea of hydrostatic reconstruction (Audusse et al. 2004); dry
//! cells by limiting the water that a face sees. Sources: Coriolis force on an f-plane, turned by
//! the Crank-Nicolson rotation; Manning friction and the sponge, implicit in the discharge.

use partita::array::{IntoSpan, Span};
use partita::prelude::*;

/// Cells around the model that the step reads but never writes.
const RING: i64 = 2;
/// Depth in metres below which a cell counts as dry.
const DRY: f64 = 0.01;
/// Depth in metres that three neighbours need before a slope is taken.
const SLOPE_DEPTH: f64 = 1.0;
/// Manning's roughness of the sea floor in s/m^(1/3).
const MANNING: f64 = 0.025;

/// The numbers of one run: gravity, time step over cell size, Coriolis parameter.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    /// m/s2.
    pub gravity: f64,
    /// Time step in seconds.
    pub step: f64,
    /// Cell size east and north in metres.
    pub cell: [f64; 2],
    /// Coriolis parameter in 1/s.
    pub coriolis: f64,
}

/// What does not change.
#[derive(Clone)]
pub struct Fixed {
    /// Height of the bed in metres.
    pub bed: Array,
    /// Damping of the discharge per step.
    pub sponge: Array,
}

/// Arrays a step must read or write once: three unknowns both ways, two fixed ones.
pub const NECESSARY_ARRAYS: usize = 8;

/// One step of `[eta, qx, qy]`.
pub fn step(state: &mut [Array], fixed: &Fixed, numbers: &Numbers) -> partita::Result<()> {
    let [eta, qx, qy] = state else { unreachable!("the state is eta, qx, qy") };
    let window = s![RING..-RING, RING..-RING];
    let east = sweep(1, [eta, qx, qy], &fixed.bed, numbers.step / numbers.cell[0], numbers.gravity);
    assign_all(&mut [(eta, &east[0]), (qx, &east[1]), (qy, &east[2])], &window)?;
    let [new_eta, new_qy, new_qx] =
        sweep(0, [eta, qy, qx], &fixed.bed, numbers.step / numbers.cell[1], numbers.gravity);
    let (new_qx, new_qy) = sources(&new_eta, new_qx, new_qy, fixed, numbers);
    assign_all(&mut [(eta, &new_eta), (qx, &new_qx), (qy, &new_qy)], &window)
}

/// A cell as its two faces see it.
struct Cell {
    /// Surface and discharge half a step later, at the middle of the cell.
    eta: Array,
    q: Array,
    /// Their slopes.
    eta_slope: Array,
    q_slope: Array,
    /// Discharge across, bed, depth, and one over the depth (0 where dry).
    across: Array,
    bed: Array,
    depth: Array,
    per_depth: Array,
}

/// What passes one face: water, momentum along and across; the jump of the surface; 1 at a dry face.
struct Flux {
    water: Array,
    along: Array,
    across: Array,
    jump: Array,
    wall: Array,
}

/// Transport along one axis. `state` is the surface, the discharge along the axis and the one across;
/// the result is the same three on the inner cells.
fn sweep(axis: usize, state: [&Array; 3], bed: &Array, rate: f64, gravity: f64) -> [Array; 3] {
    let at = |a: &Array, k: i64| {
        let by = [if axis == 0 { k } else { 0 }, if axis == 1 { k } else { 0 }];
        a.slice(&[inner(a, 0, by[0]), inner(a, 1, by[1])])
    };
    let [eta, q, across] = state;
    let depth = |k: i64| at(eta, k) - at(bed, k);
    let cell = |k: i64| {
        let h = depth(k);
        let slopes = depth(k - 1).minimum(&h).minimum(depth(k + 1)).greater(SLOPE_DEPTH);
        let zero = &h * 0.0;
        let slope = |a: &Array| {
            slopes.select(&limited(&(at(a, k) - at(a, k - 1)), &(at(a, k + 1) - at(a, k))), &zero)
        };
        let (eta_slope, q_slope) = (slope(eta), slope(q));
        Cell {
            eta: at(eta, k) - 0.5 * rate * &q_slope,
            q: at(q, k) - (0.5 * rate * gravity) * &h * &eta_slope,
            across: at(across, k),
            bed: at(bed, k),
            per_depth: h.greater(DRY).select(&(1.0 / &h), &zero),
            depth: h,
            eta_slope,
            q_slope,
        }
    };
    let (low, here, high) = (cell(-1), cell(0), cell(1));
    let (left, right) = (face(&low, &here, gravity), face(&here, &high, gravity));
    let depth_later = &here.eta - &here.bed;
    let force = gravity * depth_later * (0.5 * (&right.jump + &left.jump) + &here.eta_slope);
    // At a dry face the cell meets its mirror image.
    let mirror = (gravity * here.depth.maximum(0.0)).sqrt() * at(q, 0) * (&left.wall + &right.wall);
    [
        at(eta, 0) - rate * (right.water - left.water),
        at(q, 0) - rate * ((right.along - left.along) + force + mirror),
        at(across, 0) - rate * (right.across - left.across),
    ]
}

/// The inner cells of dimension `d`, moved by `by`.
fn inner(a: &Array, d: usize, by: i64) -> Span {
    (RING + by..a.shape()[d] - RING + by).into_span()
}

/// The minmod of two one-sided differences: the smaller if they agree in sign, else 0.
fn limited(a: &Array, b: &Array) -> Array {
    a.minimum(b).maximum(0.0) + a.maximum(b).minimum(0.0)
}

/// The flux between two neighbouring cells.
fn face(left: &Cell, right: &Cell, gravity: f64) -> Flux {
    let top = left.bed.maximum(&right.bed);
    let eta_left = (&left.eta + 0.5 * &left.eta_slope).maximum(&top);
    let eta_right = (&right.eta - 0.5 * &right.eta_slope).maximum(&top);
    let jump = &eta_right - &eta_left;
    // A face passes at most the water that stands above it, and twice that by its cells' depth.
    let water_left = left.depth.minimum(2.0 * (&eta_left - &top));
    let water_right = right.depth.minimum(2.0 * (&eta_right - &top));
    let deeper = water_left.maximum(&water_right).maximum(0.0);
    let speed_left = (&left.q + 0.5 * &left.q_slope) * &left.per_depth;
    let speed_right = (&right.q - 0.5 * &right.q_slope) * &right.per_depth;
    let (q_left, q_right) = (&speed_left * water_left, &speed_right * water_right);
    let fastest = 2.0 * speed_left.abs().maximum(speed_right.abs()) + (gravity * &deeper).sqrt();
    let water = 0.5 * ((&q_left + &q_right) - &fastest * &jump);
    let along = 0.5 * ((&q_left * speed_left + &q_right * speed_right) - fastest * (q_right - q_left));
    let upwind = water.greater(0.0);
    let across =
        &water * upwind.select(&(&left.across * &left.per_depth), &(&right.across * &right.per_depth));
    let zero = &deeper * 0.0;
    let wall = deeper.greater(0.0).select(&zero, &(&zero + 1.0));
    Flux { water, along, across, jump, wall }
}

/// Coriolis force, bottom friction and sponge on the inner cells.
fn sources(eta: &Array, qx: Array, qy: Array, fixed: &Fixed, numbers: &Numbers) -> (Array, Array) {
    let inner = |a: &Array| a.slice(&s![RING..-RING, RING..-RING]);
    let depth = eta - inner(&fixed.bed);
    let wet = depth.greater(DRY);
    let zero = &depth * 0.0;
    let per_depth = wet.select(&(1.0 / &depth), &zero);
    let speed = (&qx * &qx + &qy * &qy).sqrt() * &per_depth;
    // Manning: g n^2 |u| / h^(4/3).
    let drag = (numbers.step * numbers.gravity * MANNING * MANNING) * speed * &per_depth * per_depth.cbrt();
    let keep = wet.select(&(1.0 / (1.0 + drag + inner(&fixed.sponge))), &zero);
    let turn = 0.5 * numbers.coriolis * numbers.step;
    let (cosine, sine) = ((1.0 - turn * turn) / (1.0 + turn * turn), 2.0 * turn / (1.0 + turn * turn));
    (&keep * (cosine * &qx + sine * &qy), &keep * (cosine * &qy - sine * &qx))
}
