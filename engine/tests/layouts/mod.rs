//! Random distributions for the property tests of `index` and `plan`: up to four dimensions, irregular
//! bounds, empty parts, halos that differ per side and per part, periodic and not. Widths are limited here by
//! a rule written apart from the engine's.

#![allow(clippy::unwrap_used, dead_code)]

use partita::index::{Distribution, DistributionBuilder};
use proptest::prelude::*;

/// One dimension as drawn.
#[derive(Clone, Debug)]
pub struct Dim {
    pub bounds: Vec<i64>,
    pub listed: bool,
    pub periodic: bool,
    /// Widths per part; only the first pair counts where they are uniform.
    pub halo: Vec<(i64, i64)>,
    pub uniform: bool,
    pub edges: (i64, i64),
}

impl Dim {
    pub fn size(&self) -> i64 {
        self.bounds[self.bounds.len() - 1]
    }

    pub fn parts(&self) -> usize {
        self.bounds.len() - 1
    }

    fn count(&self, part: usize) -> i64 {
        self.bounds[part + 1] - self.bounds[part]
    }

    /// How wide the halo of `part` may be: what the nearest parts with cells own, on its left and on its
    /// right.
    pub fn room(&self, part: usize) -> (Option<i64>, Option<i64>) {
        if self.count(part) == 0 {
            return (None, None);
        }
        // Walk away from the part in both directions; a periodic walk ends at the part itself.
        let n = self.parts();
        let turn = if self.periodic { n } else { 0 };
        let left = (0..part).rev().chain((n - turn..n).rev()).map(|p| self.count(p)).find(|&count| count > 0);
        let right = (part + 1..n).chain(0..turn).map(|p| self.count(p)).find(|&count| count > 0);
        (left, right)
    }

    /// The widest uniform halo.
    pub fn uniform_room(&self) -> (i64, i64) {
        let rooms: Vec<_> = (0..self.parts()).map(|part| self.room(part)).collect();
        let lo = rooms.iter().filter_map(|room| room.0).min().unwrap_or(9);
        let hi = rooms.iter().filter_map(|room| room.1).min().unwrap_or(9);
        (lo, hi)
    }

    fn limited(mut self) -> Dim {
        let uniform = self.uniform_room();
        for part in 0..self.parts() {
            let room = self.room(part);
            let room = if self.uniform { uniform } else { (room.0.unwrap_or(9), room.1.unwrap_or(9)) };
            self.halo[part] = (self.halo[part].0.min(room.0), self.halo[part].1.min(room.1));
        }
        let size = if self.periodic { 0 } else { self.size() };
        let lo = self.edges.0.min(size);
        self.edges = (lo, self.edges.1.min(size - lo));
        self
    }
}

/// A whole distribution as drawn.
#[derive(Clone, Debug)]
pub struct Layout {
    pub dims: Vec<Dim>,
}

impl Layout {
    pub fn shape(&self) -> Vec<i64> {
        self.dims.iter().map(Dim::size).collect()
    }

    pub fn builder(&self) -> DistributionBuilder {
        let each = |f: &dyn Fn(&Dim) -> i64| self.dims.iter().map(f).collect::<Vec<i64>>();
        let mut builder = Distribution::builder(&self.shape())
            .grid(&each(&|dim| dim.parts() as i64))
            .halo(&each(&|dim| dim.halo[0].0), &each(&|dim| dim.halo[0].1))
            .boundary(&each(&|dim| dim.edges.0), &each(&|dim| dim.edges.1))
            .periodic(&self.dims.iter().map(|dim| dim.periodic).collect::<Vec<_>>());
        for (d, dim) in self.dims.iter().enumerate() {
            if dim.listed {
                builder = builder.bounds(d, &dim.bounds);
            }
            if !dim.uniform {
                builder = builder.halo_per_part(d, &dim.halo);
            }
        }
        builder
    }

    pub fn build(&self) -> Distribution {
        self.builder().build().unwrap()
    }
}

/// The bounds of the even division, by dealing out one cell at a time to the last parts first.
fn even_bounds(size: i64, parts: usize) -> Vec<i64> {
    let mut counts = vec![size / parts as i64; parts];
    for k in 0..(size % parts as i64) as usize {
        counts[parts - 1 - k] += 1;
    }
    let mut bounds = vec![0];
    for count in counts {
        bounds.push(bounds[bounds.len() - 1] + count);
    }
    bounds
}

prop_compose! {
    /// A dimension of this size.
    fn dim_of(size: i64, most_parts: usize)(
        parts in 1..=most_parts,
        listed in any::<bool>(),
        mut cuts in prop::collection::vec(0..=size, most_parts),
        periodic in any::<bool>(),
        halo in prop::collection::vec((0..=3i64, 0..=3i64), most_parts),
        uniform in prop::bool::weighted(0.7),
        edges in (0..=2i64, 0..=2i64),
    ) -> Dim {
        cuts.truncate(parts - 1);
        cuts.sort_unstable();
        let bounds = if listed {
            [vec![0], cuts, vec![size]].concat()
        } else {
            even_bounds(size, parts)
        };
        Dim { bounds, listed, periodic, halo: halo[..parts].to_vec(), uniform, edges }.limited()
    }
}

fn layout_of(shape: Vec<i64>) -> impl Strategy<Value = Layout> {
    let most_parts = if shape.len() > 2 { 3 } else { 5 };
    let dims: Vec<_> = shape.into_iter().map(|size| dim_of(size, most_parts)).collect();
    dims.prop_map(|dims| Layout { dims })
}

fn shapes() -> impl Strategy<Value = Vec<i64>> {
    prop_oneof![1 => Just(0usize), 12 => 1..=4usize].prop_flat_map(|rank| {
        let most = [1i64, 12, 8, 5, 4][rank];
        prop::collection::vec(prop_oneof![1 => Just(0i64), 30 => 1..=most], rank)
    })
}

/// A random distribution.
pub fn layouts() -> impl Strategy<Value = Layout> {
    shapes().prop_flat_map(layout_of)
}

/// Two random distributions of one shape.
pub fn layout_pairs() -> impl Strategy<Value = (Layout, Layout)> {
    shapes().prop_flat_map(|shape| (layout_of(shape.clone()), layout_of(shape)))
}
