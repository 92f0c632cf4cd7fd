//! Maps of every kind, with and without copies, and distributions of all pairs of them, with plain values to
//! compare arrays with.

#![allow(missing_docs, clippy::unwrap_used, dead_code)]

use std::sync::Arc;

use partita::index::{CustomMap, DimMap};
use partita::prelude::*;

pub const SIZE: i64 = 23;

/// Maps of 23 coordinates over 3 parts, of every kind, with and without copies, orderly and not.
pub fn maps() -> Vec<DimMap> {
    let mut lists = vec![Vec::new(), Vec::new(), Vec::new()];
    (0..SIZE).for_each(|i| lists[(i * i % 3) as usize].push((i * 7) % SIZE));
    // Every third coordinate has copies, and every ninth is everywhere.
    let copies: Vec<Vec<i64>> = (0..3)
        .map(|part| (0..SIZE).filter(|i| i % 3 == part || i % 9 == 0 || (i % 3 == 1 && part == 0)).collect())
        .collect();
    let mut unordered = copies.clone();
    unordered.iter_mut().for_each(|list| list.sort_by_key(|i| i * 5 % SIZE));
    let with_empty = [copies.concat(), Vec::new(), vec![5, 2]].map(|mut list| {
        list.sort_unstable();
        list.dedup();
        list
    });
    vec![
        DimMap::even(SIZE, 3).unwrap(),
        DimMap::irregular(&[0, 2, 2, SIZE]).unwrap(),
        DimMap::cyclic(SIZE, 3, 1).unwrap(),
        DimMap::cyclic(SIZE, 3, 4).unwrap(),
        DimMap::unstructured(&lists, true).unwrap(),
        DimMap::unstructured(&copies, false).unwrap(),
        DimMap::unstructured(&unordered, false).unwrap(),
        DimMap::unstructured(&with_empty, false).unwrap(),
        DimMap::replicated(SIZE, 3).unwrap(),
        DimMap::custom(Arc::new(Folded::new(SIZE, 3))).unwrap(),
    ]
}

pub fn pairs() -> impl Iterator<Item = Distribution> {
    let pair = |rows: DimMap| maps().into_iter().map(move |columns| over(&[rows.clone(), columns]));
    maps().into_iter().flat_map(pair)
}

pub fn over(maps: &[DimMap]) -> Distribution {
    let shape: Vec<i64> = maps.iter().map(DimMap::size).collect();
    let grid: Vec<i64> = maps.iter().map(|map| map.parts() as i64).collect();
    let start = Distribution::builder(&shape).grid(&grid);
    maps.iter().enumerate().fold(start, |b, (d, map)| b.map(d, map.clone())).build().unwrap()
}

/// A user's own map: coordinates are dealt out from both ends towards the middle.
#[derive(Debug)]
pub struct Folded {
    lists: Vec<Vec<i64>>,
}

impl Folded {
    pub fn new(size: i64, parts: usize) -> Folded {
        let mut lists = vec![Vec::new(); parts];
        (0..size).rev().for_each(|i| lists[i.min(size - 1 - i) as usize % parts].push(i));
        Folded { lists }
    }
}

impl CustomMap for Folded {
    fn name(&self) -> &str {
        "folded"
    }
    fn size(&self) -> i64 {
        self.lists.iter().map(|list| list.len() as i64).sum()
    }
    fn parts(&self) -> usize {
        self.lists.len()
    }
    fn count(&self, part: usize) -> i64 {
        self.lists[part].len() as i64
    }
    fn to_local(&self, global: i64) -> (usize, i64) {
        let part = global.min(self.size() - 1 - global) as usize % self.parts();
        (part, self.lists[part].iter().position(|&held| held == global).unwrap() as i64)
    }
    fn to_global(&self, part: usize, local: i64) -> i64 {
        self.lists[part][local as usize]
    }
    fn resized(&self, size: i64) -> partita::index::Result<Arc<dyn CustomMap>> {
        Ok(Arc::new(Folded::new(size, self.parts())))
    }
}

pub fn value(at: &[i64]) -> f32 {
    (at[0] * 31 + at[1] * 7) as f32 * 0.25 - 50.0
}

/// Small values with many ties.
pub fn ties(at: &[i64]) -> i32 {
    let mixed = at.iter().fold(3, |sum, c| sum * 5 + c * 7);
    (mixed % 11 - 5) as i32
}

/// The cells that a reduction over `axes` folds into each result, in C order on both levels.
pub fn folded(shape: &[i64], axes: &[usize]) -> Vec<Vec<Vec<i64>>> {
    let kept: Vec<i64> = (0..shape.len()).map(|d| if axes.contains(&d) { 1 } else { shape[d] }).collect();
    let gone: Vec<i64> = (0..shape.len()).map(|d| if axes.contains(&d) { shape[d] } else { 1 }).collect();
    let points = |shape: &[i64]| Region::from_shape(shape).unwrap().points().collect::<Vec<_>>();
    let sum = |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(x, y)| x + y).collect::<Vec<i64>>();
    points(&kept).iter().map(|k| points(&gone).iter().map(|g| sum(k, g)).collect()).collect()
}
