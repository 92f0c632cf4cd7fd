//! The start of the run: the wave, the sponge and the time step. Knows the terrain, not the scheme.

use ndarray::{Array2, Zip};

use super::terrain::Terrain;

/// Gravity in m/s2.
pub const GRAVITY: f64 = 9.81;
/// Angular velocity of the Earth in 1/s.
const EARTH_ROTATION: f64 = 7.2921e-5;
/// Share of the largest stable step that is taken.
pub const COURANT: f64 = 0.9;
/// Seconds in which the wave reaches the far end of the Strait of Georgia.
pub const CROSSING: f64 = 10_800.0;
/// Room for the wave above the deepest water, in metres, when the step is chosen.
const HEADROOM: f64 = 5.0;
/// Width of the sponge along the edges in metres, and the seconds in which it stills the outermost water.
const SPONGE_WIDTH: f64 = 20e3;
pub const SPONGE_TIME: f64 = 150.0;

/// The incoming wave: a crest followed by an equal trough (an N-wave, Tadepalli and Synolakis 1994), running
/// from the south-west corner. Lengths in metres.
pub const AMPLITUDE: f64 = 2.5;
const HEADING_DEGREES: f64 = 32.0;
const CREST: f64 = 42e3;
const TROUGH: f64 = 16e3;
const LENGTH: f64 = 12e3;
const BREADTH: f64 = 40e3;
/// In water shallower than this the wave is smaller in proportion.
const FULL_DEPTH: f64 = 100.0;

/// The state at the start; metres and square metres per second.
pub struct Start {
    /// Elevation of the free surface; the bed where it is dry.
    pub eta: Array2<f64>,
    /// Discharge to the east.
    pub qx: Array2<f64>,
    /// Discharge to the north.
    pub qy: Array2<f64>,
}

/// The time step in seconds: Courant's condition over the deepest water.
pub fn time_step(terrain: &Terrain) -> f64 {
    let depth = terrain.elevation.iter().fold(0.0f64, |deepest, &z| deepest.max(-z));
    COURANT * terrain.dx.min(terrain.dy) / (GRAVITY * (depth + HEADROOM)).sqrt()
}

/// The Coriolis parameter of the f-plane through the middle of the terrain, in 1/s.
pub fn coriolis(terrain: &Terrain) -> f64 {
    2.0 * EARTH_ROTATION * terrain.mean_latitude().to_radians().sin()
}

/// Still water.
pub fn lake_at_rest(bed: &Array2<f64>) -> Start {
    Start { eta: bed.mapv(|z| z.max(0.0)), qx: Array2::zeros(bed.dim()), qy: Array2::zeros(bed.dim()) }
}

/// Still water and the incoming wave, which runs at the speed of long waves, `q = sqrt(g h) eta`.
pub fn incoming_wave(terrain: &Terrain, bed: &Array2<f64>) -> Start {
    let mut start = lake_at_rest(bed);
    let (sine, cosine) = HEADING_DEGREES.to_radians().sin_cos();
    let bell = |distance: f64, width: f64| (-(distance / width).powi(2)).exp();
    for ((i, j), &z) in bed.indexed_iter() {
        let (x, y) = ((j as f64 + 0.5) * terrain.dx, (i as f64 + 0.5) * terrain.dy);
        let (along, across) = (x * cosine + y * sine, x * sine - y * cosine);
        let depth = start.eta[[i, j]] - z;
        let shape = bell(along - CREST, LENGTH) - bell(along - TROUGH, LENGTH);
        let wave = AMPLITUDE * shape * bell(across, BREADTH) * (depth / FULL_DEPTH).clamp(0.0, 1.0);
        let discharge = wave * (GRAVITY * (depth + wave)).max(0.0).sqrt();
        start.eta[[i, j]] += wave;
        start.qx[[i, j]] = discharge * cosine;
        start.qy[[i, j]] = discharge * sine;
    }
    start
}

/// What the sponge takes from the discharge in one step, as in `q / (1 + sponge)`: nothing inside, most at
/// the edges. It slows water and never removes any.
pub fn sponge(terrain: &Terrain, step: f64) -> Array2<f64> {
    let [rows, cols] = terrain.shape();
    let from_edge = |i: usize, n: usize, size: f64| (i.min(n - 1 - i) as f64 + 0.5) * size;
    let mut sponge = Array2::zeros((rows, cols));
    Zip::indexed(&mut sponge).for_each(|(i, j), value| {
        let distance = from_edge(i, rows, terrain.dy).min(from_edge(j, cols, terrain.dx));
        *value = step / SPONGE_TIME * (1.0 - distance / SPONGE_WIDTH).max(0.0).powi(2);
    });
    sponge
}
