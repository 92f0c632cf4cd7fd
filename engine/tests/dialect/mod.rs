//! The rules of MLIR's Dist dialect, by a search over every element, and random expressions over slices of
//! arrays of one to three dimensions on one to seven parts.

#![allow(dead_code, missing_docs, clippy::unwrap_used)]

use partita::array::{KernelStep, PartBoxes, Span};
use partita::index::Index;
use partita::prelude::*;

use crate::found::cell;

/// A slice of an array: per dimension the first cell, the number of elements and the stride.
#[derive(Clone, PartialEq, Debug)]
pub struct View(pub Vec<(i64, i64, i64)>);

impl View {
    pub fn line(offset: i64, size: i64, stride: i64) -> View {
        View(vec![(offset, size, stride)])
    }

    pub fn spans(&self) -> Vec<Span> {
        let span = |&(offset, size, stride): &(i64, i64, i64)| {
            let stop = if size > 0 { offset + (size - 1) * stride + 1 } else { offset };
            Span::Range { start: Some(offset), stop: Some(stop), step: stride }
        };
        self.0.iter().map(span).collect()
    }

    pub fn of(&self, array: &Array) -> Array {
        array.slice(&self.spans())
    }

    /// The cell that is element `at` of the view.
    pub fn cell(&self, at: &[i64]) -> Index {
        Index::from_fn(at.len(), |d| self.0[d].0 + at[d] * self.0[d].2)
    }

    fn elements(&self) -> Vec<Index> {
        let shape: Vec<i64> = self.0.iter().map(|(_, size, _)| *size).collect();
        Region::from_shape(&shape).unwrap().points().collect()
    }
}

/// The smallest box around points.
fn smallest_box(points: &[Index]) -> Option<Region> {
    let rank = points.first()?.rank();
    let end =
        |d: usize| (points.iter().map(|p| p[d]).min().unwrap(), points.iter().map(|p| p[d]).max().unwrap());
    let [start, stop] = [Index::from_fn(rank, |d| end(d).0), Index::from_fn(rank, |d| end(d).1 + 1)];
    Some(Region::new(&start, &stop).unwrap())
}

/// The box that these points are.
fn box_of(points: &[Index]) -> Option<Region> {
    let found = smallest_box(points)?;
    assert_eq!(found.volume().unwrap(), points.len() as i64, "not a box: {points:?}");
    Some(found)
}

/// The dialect's rules for a member that owns these cells of arrays, by a search over every element. Targets
/// and cores are in view coordinates, in which the first element of a view is 0, and bounding boxes are
/// global.
pub struct Rules {
    /// What is computed: the elements of the result's view that the member owns.
    pub target: Vec<Index>,
    /// Of these, the ones of which the member owns everything that they read.
    pub core: Vec<Index>,
    /// Per array, what must be there.
    pub reads: Vec<Option<Region>>,
}

impl Rules {
    /// For a result that is a view of cells of which `owned` are the member's, and views of several arrays,
    /// each with what the member owns of it.
    pub fn new((owned, result): (&Region, &View), arrays: &[(Region, Vec<&View>)]) -> Rules {
        let target: Vec<Index> =
            result.elements().into_iter().filter(|at| owned.contains(&result.cell(at))).collect();
        let is_local = |at: &&Index| {
            arrays.iter().all(|(owned, views)| views.iter().all(|view| owned.contains(&view.cell(at))))
        };
        let core = target.iter().filter(is_local).copied().collect();
        let read = |(_, views): &(Region, Vec<&View>)| {
            let cells = views.iter().flat_map(|view| target.iter().map(|at| view.cell(at)));
            smallest_box(&cells.collect::<Vec<Index>>())
        };
        Rules { core, reads: arrays.iter().map(read).collect(), target }
    }

    /// What the planner should say of the member. What is fetched has no core: a launch reads one memory.
    pub fn boxes(&self, part: usize, is_fetched: bool) -> Option<PartBoxes> {
        let target = box_of(&self.target)?;
        let none = Region::new(target.start(), target.start()).unwrap();
        let core = box_of(&self.core).filter(|_| !is_fetched).unwrap_or(none);
        let reads = self.reads.iter().flatten().copied().collect();
        Some(PartBoxes { part, target, core, reads })
    }
}

/// The one kernel that computes, as it will run.
pub fn planned(array: &Array) -> KernelStep {
    let said = array.explain().unwrap();
    let mut fused: Vec<KernelStep> =
        said.kernels.iter().filter(|kernel| kernel.name == "fused").cloned().collect();
    assert_eq!(fused.len(), 1, "{said}");
    fused.pop().unwrap()
}

/// The boxes of a kernel; all empty cores are the same.
pub fn decided(kernel: &KernelStep) -> Vec<PartBoxes> {
    let tidied = |boxes: &PartBoxes| {
        let start = boxes.target.start();
        let core = if boxes.core.is_empty() { Region::new(start, start).unwrap() } else { boxes.core };
        PartBoxes { core, ..boxes.clone() }
    };
    kernel.boxes.iter().map(tidied).collect()
}

struct Draw(u64);

impl Draw {
    fn below(&mut self, n: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as i64
    }

    fn one_in(&mut self, n: i64) -> bool {
        self.below(n) == 0
    }

    /// A grid of so many parts.
    fn grid(&mut self, parts: i64, rank: usize) -> Vec<i64> {
        let (mut grid, mut rest) = (vec![1; rank], parts);
        for d in (1..rank).rev() {
            let divisors: Vec<i64> = (1..=rest).filter(|k| rest % k == 0).collect();
            grid[d] = divisors[self.below(divisors.len() as i64) as usize];
            rest /= grid[d];
        }
        grid[0] = rest;
        grid.rotate_left(self.below(rank as i64) as usize);
        grid
    }

    /// A view of this shape.
    fn view(&mut self, shape: &[i64]) -> View {
        let mut along =
            |&size: &i64| (self.below(3), size, if self.one_in(8) { 2 + self.below(2) } else { 1 });
        View(shape.iter().map(&mut along).collect())
    }

    /// Blocks of an array with room for the views, on a grid.
    fn blocks(&mut self, views: &[&View], grid: &[i64]) -> Distribution {
        let end = |d: usize| {
            views.iter().map(move |view| view.0[d]).map(|(first, size, by)| first + (size - 1) * by + 1)
        };
        let shape: Vec<i64> = (0..grid.len()).map(|d| end(d).max().unwrap() + self.below(3)).collect();
        let mut builder = Distribution::builder(&shape).grid(grid);
        for (d, &parts) in grid.iter().enumerate() {
            if self.one_in(5) {
                let mut bounds: Vec<i64> = (1..parts).map(|_| self.below(shape[d] + 1)).collect();
                bounds.extend([0, shape[d]]);
                bounds.sort_unstable();
                builder = builder.bounds(d, &bounds);
            }
        }
        if self.one_in(4) {
            builder = builder.halo(&vec![1; grid.len()], &vec![1; grid.len()]);
        }
        builder.build().unwrap()
    }
}

/// An expression over slices, or an assignment of one.
pub struct Case {
    /// The views of each array, the array that decides where to compute first.
    pub arrays: Vec<(Distribution, Vec<View>)>,
    /// The view that the result is, of the first array, and whether it is assigned to.
    pub result: View,
    pub is_assigned: bool,
}

pub fn case(seed: u64) -> Case {
    let mut draw = Draw(seed);
    let (rank, parts) = (1 + draw.below(3) as usize, 1 + draw.below(7));
    let shape: Vec<i64> = (0..rank).map(|_| 1 + draw.below([60, 24, 12][rank - 1])).collect();
    let grid = draw.grid(parts, rank);
    let views: Vec<View> = (0..1 + draw.below(4)).map(|_| draw.view(&shape)).collect();
    let (is_assigned, is_alone) = (draw.one_in(2), draw.one_in(2));
    if is_alone {
        // One array, which reads itself.
        let result = if is_assigned { draw.view(&shape) } else { views[0].clone() };
        let all: Vec<&View> = views.iter().chain([&result]).collect();
        let dist = draw.blocks(&all, &grid);
        return Case { arrays: vec![(dist, views)], result, is_assigned };
    }
    let result = draw.view(&shape);
    let own = draw.blocks(&[&result], &grid);
    let other = if draw.one_in(5) { draw.grid(parts, rank) } else { grid };
    let dist = draw.blocks(&views.iter().collect::<Vec<_>>(), &other);
    let read = if is_assigned { Vec::new() } else { vec![result.clone()] };
    Case { arrays: vec![(own, read), (dist, views)], result, is_assigned }
}

impl Case {
    pub fn arrays(&self, device: &Device) -> Vec<Array> {
        let team = Team::on(std::slice::from_ref(device), self.arrays[0].0.parts()).unwrap();
        self.arrays.iter().map(|(dist, _)| Array::from_fn(&team, dist, cell).unwrap()).collect()
    }

    /// The sum of all views, with factors, recorded.
    pub fn recorded(&self, arrays: &[Array]) -> Array {
        let views = arrays
            .iter()
            .zip(&self.arrays)
            .flat_map(|(array, (_, views))| views.iter().map(move |view| view.of(array)));
        let sum = views.zip(1..).map(|(view, k)| view * (1.0 / f64::from(k))).reduce(|sum, view| sum + view);
        match self.is_assigned {
            true => arrays[0].updated(&self.result.spans(), &sum.unwrap()),
            false => sum.unwrap(),
        }
    }

    /// The same, element by element.
    pub fn serial(&self) -> Vec<f32> {
        let views = || self.arrays.iter().flat_map(|(_, views)| views);
        let term = |at: &Index, (view, k): (&View, i32)| cell(&view.cell(at)) * (1.0 / k as f32);
        let value =
            |at: &Index| views().zip(1..).map(|one| term(at, one)).reduce(|sum, term| sum + term).unwrap();
        let elements = self.result.elements();
        if !self.is_assigned {
            return elements.iter().map(value).collect();
        }
        let all: Vec<Index> = self.arrays[0].0.global().points().collect();
        let written = |at: &Index| elements.iter().find(|element| self.result.cell(element) == *at);
        all.iter().map(|at| written(at).map_or_else(|| cell(at), value)).collect()
    }

    pub fn check(&self, kernel: &KernelStep, what: &str) {
        let is_fetched = kernel.exchanges.iter().any(|exchange| exchange.what != "halo");
        let read: Vec<&(Distribution, Vec<View>)> =
            self.arrays.iter().filter(|(_, views)| !views.is_empty()).collect();
        let rules = |part: usize| {
            let views = read.iter().map(|(dist, views)| (dist.owned(part), views.iter().collect()));
            let owned = self.arrays[0].0.owned(part);
            Rules::new((&owned, &self.result), &views.collect::<Vec<_>>())
        };
        let parts = 0..self.arrays[0].0.parts();
        let rules: Vec<Rules> = parts.map(rules).collect();
        let expected = rules.iter().enumerate().filter_map(|(part, rules)| rules.boxes(part, is_fetched));
        assert_eq!(decided(kernel), expected.collect::<Vec<_>>(), "{what}");
        let is_local = rules.iter().all(|rules| rules.core == rules.target);
        assert_eq!(kernel.exchanges.is_empty(), is_local, "{what}");
        let operands: Vec<String> = read.iter().map(|(dist, _)| format!("f32 {}", dist.shape())).collect();
        assert_eq!(kernel.operands, operands, "{what}");
    }
}
