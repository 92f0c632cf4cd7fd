//! Scaling on paper: the time of a stencil step on many devices, from figures measured on one device and the
//! latency and bandwidth of a link.
//!
//! A step is as fast as its memory traffic, `launch` more per kernel. Faces go out one axis after the other,
//! both sides at once, each packed by one kernel. With overlap the inner cells are computed while faces
//! travel; devices that are one pack all faces first. With a halo of `depth` steps, faces travel once in
//! `depth` steps, and the cells that neighbours compute too are computed again: in turn, that is the engine's
//! own formula. `check` compares it with runs.

use partita::array::time_per_step;

/// What one device does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Of a copy.
    pub copy_gb_s: f64,
    /// Of the copy that the stencil reaches.
    pub fraction: f64,
    pub launch_us: f64,
    /// Packing one face as deep as the halo, its launch included.
    pub pack_us: f64,
    /// Beginning a row of as few cells as the halo is deep, which counts where boxes are thin along the last
    /// axis: the rest of a step whose inner cells are computed first.
    pub row_us: f64,
    /// States below so many bytes stay in a cache, and pass at this speed.
    pub cache: Option<Cache>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cache {
    pub bytes: f64,
    pub gb_s: f64,
}

/// What connects two devices.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    pub name: String,
    pub latency_us: f64,
    /// In one direction.
    pub gb_s: f64,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stencil {
    /// That must pass through memory for one cell.
    pub bytes_per_cell: f64,
    /// That travel for one cell of a face.
    pub bytes_per_face_cell: f64,
    pub radius: f64,
}

/// The rates of an H200 as published or derived, to be replaced by measured ones.
pub const H200: Rates = Rates {
    copy_gb_s: 4300.0,
    fraction: 0.95,
    launch_us: 1.3,
    pack_us: 1.3,
    row_us: 0.0,
    cache: Some(Cache { bytes: 40e6, gb_s: 7000.0 }),
};

/// Seven points, f32.
pub const SEVEN_POINTS: Stencil = Stencil { bytes_per_cell: 8.0, bytes_per_face_cell: 4.0, radius: 1.0 };

/// Halo depths that are tried, in steps.
pub const DEPTHS: [usize; 4] = [1, 2, 4, 8];

/// Parameters to use until a link is measured: name, latency in us, GB/s.
pub const LINKS: [(&str, f64, f64); 3] =
    [("NVLink", 4.0, 376.0), ("NDR-400", 8.0, 45.0), ("pinned staging", 25.0, 22.0)];

/// One device among others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Cells along each axis.
    pub extents: [f64; 3],
    /// Neighbours along each axis: 0, 1 or 2.
    pub sides: [usize; 3],
}

impl Share {
    /// A cube with neighbours all around.
    pub fn surrounded(extent: f64) -> Share {
        Share { extents: [extent; 3], sides: [2; 3] }
    }

    /// The busiest device's share of a grid of `count` devices, each with `extents` cells.
    pub fn of(count: usize, extents: [f64; 3]) -> Share {
        Share { extents, sides: grid(count).map(|n| (n - 1).min(2)) }
    }

    fn cells(&self) -> f64 {
        self.extents.iter().product()
    }

    /// Cells when each side with a neighbour moves out by `by`.
    fn grown(&self, by: f64) -> f64 {
        let along = self.extents.iter().zip(self.sides);
        along.map(|(extent, sides)| (extent + by * sides as f64).max(0.0)).product()
    }
}

/// The most cubic grid of so many devices, largest first.
pub fn grid(count: usize) -> [usize; 3] {
    let mut best = [count, 1, 1];
    for a in (1..=count).filter(|a| count.is_multiple_of(*a)) {
        for b in (1..=count / a).filter(|b| (count / a).is_multiple_of(*b)) {
            let mut sides = [a, b, count / a / b];
            sides.sort_unstable_by(|x, y| y.cmp(x));
            if sides.iter().sum::<usize>() < best.iter().sum() {
                best = sides;
            }
        }
    }
    best
}

/// A device, a link and a stencil: times are in microseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub rates: Rates,
    pub link: Link,
    pub stencil: Stencil,
    /// Devices that are one: their kernels take turns, their links do not.
    pub turns: usize,
}

impl Model {
    /// One kernel over `cells` of a state of `state` cells.
    fn kernel_us(&self, cells: f64, state: f64) -> f64 {
        let gb_s = match self.rates.cache {
            Some(cache) if state * self.stencil.bytes_per_cell < cache.bytes => cache.gb_s,
            _ => self.rates.fraction * self.rates.copy_gb_s,
        };
        self.turns as f64 * (cells * self.stencil.bytes_per_cell / gb_s * 1e-3 + self.rates.launch_us)
    }

    /// A step of a device that has no neighbours.
    pub fn alone_us(&self, cells: f64) -> f64 {
        self.kernel_us(cells, cells)
    }

    /// What faces `depth` steps deep need on the link.
    pub fn travel_us(&self, share: &Share, depth: usize) -> f64 {
        let layers = depth as f64 * self.stencil.radius;
        let turn = |d: usize| match share.sides[d] {
            0 => 0.0,
            sides => {
                let face = share.cells() / share.extents[d] * layers * self.stencil.bytes_per_face_cell;
                self.link.latency_us + sides as f64 * face / self.link.gb_s * 1e-3
            }
        };
        (0..3).map(turn).sum()
    }

    /// The kernels that pack the faces.
    fn packing_us(&self, share: &Share) -> f64 {
        let packs: usize = share.sides.iter().sum();
        (self.turns * packs) as f64 * self.rates.pack_us
    }

    fn exchange_us(&self, share: &Share, depth: usize) -> f64 {
        self.travel_us(share, depth) + self.packing_us(share)
    }

    /// The kernels of `depth` steps over all cells, and over those that need no neighbour.
    fn kernels_us(&self, share: &Share, depth: usize) -> (f64, f64) {
        let radius = self.stencil.radius;
        let steps = || (0..depth).map(|step| step as f64);
        let over = |by: f64| self.kernel_us(share.grown(by * radius), share.cells());
        let all = steps().map(|step| over(depth as f64 - 1.0 - step)).sum();
        let inner = steps().map(|step| over(-1.0 - step)).sum();
        (all, inner)
    }

    /// What the rows cost that lie before and behind the inner cells.
    fn thin_rows_us(&self, share: &Share, depth: usize) -> f64 {
        let inner = |by: f64, d: usize| (share.extents[d] - by * share.sides[d] as f64).max(0.0);
        let rows = |step: usize| {
            let by = (step + 1) as f64 * self.stencil.radius;
            share.sides[2] as f64 * inner(by, 0) * inner(by, 1)
        };
        self.turns as f64 * self.rates.row_us * (0..depth).map(rows).sum::<f64>()
    }

    /// A step that computes first and exchanges afterwards.
    pub fn in_turn_us(&self, share: &Share, depth: usize) -> f64 {
        let radius = self.stencil.radius;
        let compute = |more: usize| self.kernel_us(share.grown(more as f64 * radius), share.cells());
        time_per_step(depth, compute, |depth| self.exchange_us(share, depth))
    }

    /// A step whose faces travel while inner cells are computed.
    pub fn overlapped_us(&self, share: &Share, depth: usize) -> f64 {
        if share.sides == [0; 3] {
            return self.alone_us(share.cells());
        }
        let (all, inner) = self.kernels_us(share, depth);
        let extra_kernels = 2.0 * self.rates.launch_us * (self.turns * depth) as f64;
        let rest = all - inner + extra_kernels + self.thin_rows_us(share, depth);
        // Devices that are one pack all faces before they compute; a device of its own packs meanwhile.
        let packed_first = if self.turns > 1 { self.packing_us(share) } else { 0.0 };
        let exchange = self.exchange_us(share, depth) - packed_first;
        (packed_first + inner.max(exchange) + rest) / depth as f64
    }

    /// The depth that makes steps shortest, and the step.
    pub fn best_us(&self, share: &Share) -> (usize, f64) {
        let steps = DEPTHS.map(|depth| (depth, self.overlapped_us(share, depth)));
        steps.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((1, f64::NAN))
    }

    /// The smallest cube, in steps of 8, whose exchange is hidden by its inner cells.
    pub fn hidden_from(&self) -> Option<usize> {
        (8..4096).step_by(8).find(|&extent| {
            let share = Share::surrounded(extent as f64);
            self.kernels_us(&share, 1).1 >= self.exchange_us(&share, 1)
        })
    }

    /// Of a step that takes `step_us` where one device alone needs `alone_us`.
    pub fn weak_efficiency(&self, extent: f64, step_us: f64) -> f64 {
        self.alone_us(extent.powi(3)) / step_us
    }

    /// The busiest of `count` devices that share a cube.
    pub fn strong_share(count: usize, extent: f64) -> Share {
        let parts = grid(count);
        Share::of(count, parts.map(|n| extent / n as f64))
    }

    pub fn strong_efficiency(&self, count: usize, extent: f64, step_us: f64) -> f64 {
        self.alone_us(extent.powi(3)) / (count as f64 * step_us)
    }
}

/// What the slowest of `count` devices loses when a step varies by `sigma` of itself.
pub fn noise(count: usize, sigma: f64) -> f64 {
    1.0 + sigma * (2.0 * (count as f64).ln()).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn models() -> Vec<Model> {
        let link =
            |(name, latency_us, gb_s): (&str, f64, f64)| Link { name: name.to_owned(), latency_us, gb_s };
        LINKS.map(link).map(|link| Model { rates: H200, link, stencil: SEVEN_POINTS, turns: 1 }).to_vec()
    }

    /// Figures worked out by hand with two digits.
    fn close(what: &str, value: f64, expected: f64) {
        assert!((value - expected).abs() < 0.0051, "{what}: {value:.4}, by hand {expected}");
    }

    /// Extent, one device's step in us, then per link the efficiency, the best depth and its efficiency.
    type Row = (f64, f64, [(f64, usize, f64); 3]);

    const WEAK: &[Row] = &[
        (1024.0, 2104.0, [(1.00, 1, 1.00), (1.00, 1, 1.00), (1.00, 1, 1.00)]),
        (512.0, 264.0, [(0.99, 1, 0.99), (0.99, 1, 0.99), (0.71, 4, 0.82)]),
        (384.0, 112.0, [(0.98, 1, 0.98), (0.98, 1, 0.98), (0.45, 8, 0.60)]),
        (256.0, 34.0, [(0.93, 1, 0.93), (0.49, 8, 0.72), (0.22, 8, 0.38)]),
        (192.0, 15.0, [(0.60, 2, 0.84), (0.28, 8, 0.51), (0.12, 8, 0.27)]),
        (128.0, 3.7, [(0.16, 8, 0.53), (0.09, 8, 0.23), (0.04, 8, 0.12)]),
    ];

    #[test]
    fn weak_scaling_is_what_was_worked_out_by_hand() {
        for &(extent, alone, links) in WEAK {
            for (model, (plain, depth, deep)) in models().iter().zip(links) {
                let what = format!("{extent}^3, {}", model.link.name);
                let relative = (model.alone_us(extent.powi(3)) - alone) / alone;
                assert!(relative.abs() < 0.015, "{what}: alone off by {relative}");
                let share = Share::surrounded(extent);
                close(&what, model.weak_efficiency(extent, model.overlapped_us(&share, 1)), plain);
                let (best, step) = model.best_us(&share);
                assert_eq!(best, depth, "{what}: best depth");
                close(&what, model.weak_efficiency(extent, step), deep);
            }
        }
    }

    #[test]
    fn without_overlap_too() {
        for (extent, links) in [(1024.0, [0.96, 0.78, 0.63]), (512.0, [0.88, 0.61, 0.42])] {
            for (model, expected) in models().iter().zip(links) {
                let step = model.in_turn_us(&Share::surrounded(extent), 1);
                close(
                    &format!("{extent}, {}", model.link.name),
                    model.weak_efficiency(extent, step),
                    expected,
                );
            }
        }
    }

    #[test]
    fn exchanges_are_hidden_from_the_extents_worked_out_by_hand() {
        let found: Vec<Option<usize>> = models().iter().map(Model::hidden_from).collect();
        assert_eq!(found, [Some(232), Some(384), Some(664)]);
    }

    #[test]
    fn strong_scaling_is_what_was_worked_out_by_hand() {
        let by_hand = [(64, [0.99, 0.99, 0.70]), (512, [0.89, 0.47, 0.21]), (4096, [0.17, 0.09, 0.04])];
        for (count, links) in by_hand {
            for (model, expected) in models().iter().zip(links) {
                let step = model.overlapped_us(&Model::strong_share(count, 2048.0), 1);
                let what = format!("{count} devices, {}", model.link.name);
                close(&what, model.strong_efficiency(count, 2048.0, step), expected);
            }
        }
        let (_, step) = models()[0].best_us(&Model::strong_share(4096, 2048.0));
        close("deep halos", models()[0].strong_efficiency(4096, 2048.0, step), 0.59);
    }

    #[test]
    fn devices_that_are_one_take_turns_and_thin_rows_cost() {
        let share = Share { extents: [100.0; 3], sides: [1; 3] };
        let link = Link { name: "slow".to_owned(), latency_us: 100.0, gb_s: 1.0 };
        let rates =
            Rates { copy_gb_s: 10.0, fraction: 1.0, launch_us: 2.0, pack_us: 5.0, row_us: 0.0, cache: None };
        let model = Model { rates, link, stencil: SEVEN_POINTS, turns: 8 };
        // 8 parts of 10^6 cells of 8 bytes at 10 GB/s, a launch each; three faces of 10^4 cells of 4 bytes.
        let (kernels, faces) = (8.0 * (800.0 + 2.0), 3.0 * (100.0 + 40.0) + 8.0 * 3.0 * 5.0);
        assert!((model.in_turn_us(&share, 1) - kernels - faces).abs() < 1e-6);
        // The link is hidden by the inner cells: what is left is packing, and two launches more per part.
        assert!((model.overlapped_us(&share, 1) - kernels - 8.0 * (3.0 * 5.0 + 2.0 * 2.0)).abs() < 1e-6);
        let thin = Model { rates: Rates { row_us: 0.01, ..rates }, ..model.clone() };
        // One side along the last axis; the inner cells have 99 rows of 99.
        let more = thin.overlapped_us(&share, 1) - model.overlapped_us(&share, 1);
        assert!((more - 8.0 * 0.01 * 99.0 * 99.0).abs() < 1e-6, "{more}");
    }

    #[test]
    fn grids_are_cubic_and_one_device_has_no_neighbours() {
        assert_eq!(
            [1, 2, 8, 12, 64, 4096].map(grid),
            [[1, 1, 1], [2, 1, 1], [2, 2, 2], [3, 2, 2], [4, 4, 4], [16, 16, 16]]
        );
        let model = &models()[0];
        assert_eq!(model.overlapped_us(&Share::of(1, [100.0; 3]), 4), model.alone_us(1e6));
        assert_eq!(noise(1, 0.01), 1.0);
    }
}
