//! Predicted times of a 7-point step in f32 on many GPUs, by a model of memory and links: the table of
//! docs/ranks.md. Nothing here was measured on more than one GPU.
//!
//! A step takes `max(core, exchange) + rim + latency`. The cells that need no neighbour (core) are computed
//! while faces travel; then the others (rim), for which faces are packed and unpacked. Each part sends one
//! message per face; those inside a node and those between nodes travel at the same time.

/// What one H100 was measured to do: bytes per second of a copy and of 7-point steps on 512^3 cells, the
/// fractions of the copy's speed at which faces along each dimension are packed or unpacked (of 1 MiB, what a
/// launch costs included), and the seconds of a replayed step without cells.
const COPY: f64 = 3002e9;
const STENCIL: f64 = 2109e9;
const FACES: [f64; 3] = [0.15, 0.14, 0.02];
const REPLAY: f64 = 1.9e-6;

/// Links as vendors publish them, in bytes per second and direction, of which 0.8 count (assumed); and the
/// seconds until a message arrives (assumed).
pub struct Machine {
    name: &'static str,
    node: usize,
    inside: (f64, f64),
    between: (f64, f64),
}

const NODES: Machine =
    Machine { name: "nodes of 8", node: 8, inside: (0.8 * 450e9, 5e-6), between: (0.8 * 50e9, 10e-6) };
const DOMAIN: Machine = Machine {
    name: "one NVLink domain",
    node: 72,
    inside: (0.8 * 900e9, 5e-6),
    between: (0.8 * 50e9, 10e-6),
};

/// The extent of each dimension of a part of an even division, and its coordinate in the grid.
fn part(shape: [i64; 3], grid: [i64; 3], part: usize) -> ([i64; 3], [i64; 3]) {
    let at = [part as i64 / (grid[1] * grid[2]), part as i64 / grid[2] % grid[1], part as i64 % grid[2]];
    let extent = |d: usize| shape[d] / grid[d] + i64::from(at[d] >= grid[d] - shape[d] % grid[d]);
    ([0, 1, 2].map(extent), at)
}

/// The neighbours of a part, with the dimension and the bytes of the face that each gets.
pub fn faces(shape: [i64; 3], grid: [i64; 3], number: usize) -> Vec<(usize, usize, u64)> {
    let (extents, at) = part(shape, grid, number);
    let strides = [grid[1] * grid[2], grid[2], 1];
    let beside = |d: usize| [-1, 1].into_iter().filter(move |step| (0..grid[d]).contains(&(at[d] + step)));
    let face = |d: usize, step: i64| {
        let cells = extents.iter().product::<i64>() / extents[d];
        ((number as i64 + step * strides[d]) as usize, d, 4 * cells as u64)
    };
    (0..3).flat_map(|d| beside(d).map(move |step| face(d, step))).collect()
}

/// The seconds of a part's step: core, exchange, rim, latency.
fn step(machine: &Machine, shape: [i64; 3], grid: [i64; 3], number: usize) -> [f64; 4] {
    let ((extents, _), faces) = (part(shape, grid, number), faces(shape, grid, number));
    let beside = |d: usize| faces.iter().filter(|face| face.1 == d).count() as i64;
    let cells = extents.iter().product::<i64>() as f64;
    let core = (0..3).map(|d| (extents[d] - beside(d)).max(0)).product::<i64>() as f64;
    let packed: f64 = faces.iter().map(|face| 4.0 * face.2 as f64 / (FACES[face.1] * COPY)).sum();
    let (mut exchange, mut latency) = ([0.0; 2], 0f64);
    for &(other, _, bytes) in &faces {
        let is_between = other / machine.node != number / machine.node;
        let (speed, delay) = if is_between { machine.between } else { machine.inside };
        exchange[usize::from(is_between)] += bytes as f64 / speed;
        latency = latency.max(delay);
    }
    [
        8.0 * core / STENCIL,
        exchange[0].max(exchange[1]),
        8.0 * (cells - core) / STENCIL + packed,
        REPLAY + latency,
    ]
}

/// The seconds of the step of all parts, which is that of the slowest, and which that is.
fn slowest(machine: &Machine, shape: [i64; 3], grid: [i64; 3]) -> (f64, usize) {
    let total = |[core, exchange, rim, latency]: [f64; 4]| core.max(exchange) + rim + latency;
    let parts = grid.iter().product::<i64>() as usize;
    let each = (0..parts).map(|part| (total(step(machine, shape, grid, part)), part));
    each.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default()
}

/// The shape, the fastest grid and the row of the table for each case: cubes of 512^3 cells on each GPU, and
/// 1024^3 cells on all.
pub fn cases() -> Vec<([i64; 3], [i64; 3], String)> {
    let mut rows = Vec::new();
    for (grows, edge) in [(true, 512), (false, 1024)] {
        let one = slowest(&NODES, [edge; 3], [1; 3]).0;
        for (machine, gpus) in [(&NODES, 8), (&NODES, 72), (&DOMAIN, 72), (&NODES, 1024)] {
            let shape = |grid: [i64; 3]| if grows { grid.map(|parts| parts * edge) } else { [edge; 3] };
            let grids = (1..=gpus).flat_map(|a| (1..=gpus / a).map(move |b| [a, b, gpus / a / b]));
            let grids = grids.filter(|grid| grid.iter().product::<i64>() == gpus);
            let timed = grids.map(|grid| (slowest(machine, shape(grid), grid), grid));
            let Some(((seconds, part), grid)) = timed.min_by(|a, b| a.0.0.total_cmp(&b.0.0)) else {
                continue;
            };
            let micros =
                step(machine, shape(grid), grid, part).map(|seconds| format!("{:.0}", seconds * 1e6));
            let faces = faces(shape(grid), grid, part);
            let kib = faces.iter().map(|face| face.2).sum::<u64>() / 1024;
            let efficiency = one / seconds / if grows { 1.0 } else { gpus as f64 };
            let (kind, [a, b, c]) = (if grows { "weak" } else { "strong" }, grid);
            let head = format!("{kind} | {gpus}, {} | {a}x{b}x{c} | {} | {kib}", machine.name, faces.len());
            let tail = format!("{} | {:.0} | {efficiency:.2}", micros.join(" | "), seconds * 1e6);
            rows.push((shape(grid), grid, format!("| {head} | {tail} |")));
        }
    }
    rows
}

#[allow(dead_code)]
fn main() {
    println!(
        "| scaling | GPUs | grid | messages | KiB | core, us | exchange | rim | latency | step | efficiency |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    cases().iter().for_each(|case| println!("{}", case.2));
}
