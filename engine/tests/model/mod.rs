//! Arrays over domains beside dictionaries from indices to values, and what tests of them draw.

#![allow(missing_docs, clippy::unwrap_used, dead_code)]

use std::collections::HashMap;
use std::sync::Arc;

use partita::index::{DimMap, Index, Region};
use partita::prelude::*;

use crate::pairs::{Folded, over};

/// The same numbers in every run.
pub struct Draw(pub u64);

impl Draw {
    pub fn below(&mut self, n: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as i64
    }

    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below(high - low + 1)
    }

    /// A stride up or down.
    pub fn stride(&mut self) -> i64 {
        [1, 1, 1, 2, 3, -1, -1, -2, -3][self.below(9) as usize]
    }

    /// Ranges of these lengths, which begin on either side of 0.
    pub fn domain(&mut self, shape: &[i64]) -> Domain {
        let range = |&len: &i64| {
            let (first, stride) = (self.between(-9, 9), self.stride());
            IndexRange::new(first, first + len * stride, stride).unwrap()
        };
        Domain::new(&shape.iter().map(range).collect::<Vec<_>>()).unwrap()
    }

    /// So many indices of a domain along each dimension, in either direction.
    pub fn sub_of_shape(&mut self, whole: &Domain, shape: &[i64]) -> Domain {
        let range = |(d, &len): (usize, &i64)| {
            let size = whole.dim(d).len();
            let most = if len > 1 { (size - 1) / (len - 1) } else { 3 };
            let step = self.between(1, most.min(3));
            let low = self.between(0, (size - 1 - (len - 1).max(0) * step).max(0));
            let (first, step) = match self.below(3) {
                0 => (low + (len - 1).max(0) * step, -step),
                _ => (low, step),
            };
            IndexRange::new(first, first + len * step, step).unwrap()
        };
        let places: Vec<_> = shape.iter().enumerate().map(range).collect();
        whole.undensify(&Domain::new(&places).unwrap()).unwrap()
    }

    /// Extents up to those of a shape, seldom 0.
    pub fn part_of(&mut self, shape: &[i64]) -> Vec<i64> {
        shape.iter().map(|&n| if self.below(12) == 0 { 0 } else { self.between(n.min(1), n) }).collect()
    }

    pub fn sub(&mut self, whole: &Domain) -> Domain {
        let shape = self.part_of(&whole.shape());
        self.sub_of_shape(whole, &shape)
    }

    /// A map of one of [`KINDS`].
    pub fn map(&mut self, kind: usize, size: i64, parts: usize) -> DimMap {
        match KINDS[kind] {
            "block" => DimMap::even(size, parts),
            "irregular" => {
                let mut bounds: Vec<i64> = (1..parts).map(|_| self.between(0, size)).collect();
                bounds.extend([0, size]);
                bounds.sort_unstable();
                DimMap::irregular(&bounds)
            }
            "cyclic" => DimMap::cyclic(size, parts, 1),
            "block-cyclic" => DimMap::cyclic(size, parts, self.between(2, 4)),
            "unstructured" => {
                let mut lists = vec![Vec::new(); parts];
                // Any order, and copies of some.
                for i in (0..size).map(|i| if size % 5 == 0 { i } else { i * 5 % size }) {
                    let owner = self.below(parts as i64) as usize;
                    lists[owner].push(i);
                    let other = self.below(3 * parts as i64) as usize;
                    if other < parts && other != owner {
                        lists[other].push(i);
                    }
                }
                DimMap::unstructured(&lists, false)
            }
            "replicated" => DimMap::replicated(size, parts),
            _ => DimMap::custom(Arc::new(Folded::new(size, parts))),
        }
        .unwrap()
    }

    /// A grid of so many parts.
    pub fn grid(&mut self, rank: usize, parts: usize) -> Vec<usize> {
        let (mut grid, mut rest) = (vec![1; rank], parts);
        for extent in grid.iter_mut().skip(1) {
            let divisors: Vec<usize> = (1..=rest).filter(|n| rest.is_multiple_of(*n)).collect();
            *extent = divisors[self.below(divisors.len() as i64) as usize];
            rest /= *extent;
        }
        grid[0] = rest;
        grid
    }

    /// Maps of any kinds.
    pub fn dist(&mut self, shape: &[i64], parts: usize) -> Distribution {
        let grid = self.grid(shape.len(), parts);
        let map = |(&size, &parts): (&i64, &usize)| {
            let kind = self.below(KINDS.len() as i64) as usize;
            self.map(kind, size, parts)
        };
        over(&shape.iter().zip(&grid).map(map).collect::<Vec<_>>())
    }
}

pub const KINDS: [&str; 7] =
    ["block", "irregular", "cyclic", "block-cyclic", "unstructured", "replicated", "custom"];

/// What an array must be: a value under each index.
#[derive(Clone, Debug)]
pub struct Model {
    pub domain: Domain,
    pub values: HashMap<Index, i32>,
}

impl Model {
    pub fn new(domain: &Domain, value: impl FnMut(Index) -> i32) -> Model {
        let values = domain.iter().zip(domain.iter().map(value)).collect();
        Model { domain: domain.clone(), values }
    }

    /// An array over a domain, and the same as a dictionary.
    pub fn made(team: &Team, dist: &Distribution, domain: &Domain, salt: i64) -> (Array, Model) {
        let value = |at: Index| at.iter().fold(salt as i32, |sum, &i| sum * 31 + i as i32);
        let under = |place: &[i64]| {
            value(Index::from_fn(domain.rank(), |d| {
                domain.dim(d).first() + place[d] * domain.dim(d).stride()
            }))
        };
        (Array::from_fn(team, dist, under).unwrap().over(domain), Model::new(domain, value))
    }

    pub fn list(&self) -> Vec<i32> {
        self.domain.iter().map(|index| self.values[&index]).collect()
    }

    pub fn at(&self, sub: &Domain) -> Model {
        Model::new(sub, |index| self.values[&index])
    }

    pub fn map(&self, f: impl Fn(i32) -> i32) -> Model {
        Model::new(&self.domain, |index| f(self.values[&index]))
    }

    /// By position, under the indices of this one.
    pub fn zip(&self, other: &Model, f: impl Fn(i32, i32) -> i32) -> Model {
        assert_eq!(self.domain.shape(), other.domain.shape());
        let mut others = other.domain.iter();
        Model::new(&self.domain, |index| f(self.values[&index], other.values[&others.next().unwrap()]))
    }

    /// Values by position to the indices of `sub`.
    pub fn set(&mut self, sub: &Domain, value: &Model) {
        assert_eq!(sub.shape(), value.domain.shape());
        self.values.extend(sub.iter().zip(value.domain.iter().map(|index| value.values[&index])));
    }

    pub fn resize(&self, domain: &Domain) -> Model {
        Model::new(domain, |index| self.values.get(&index).copied().unwrap_or(0))
    }

    pub fn transpose(&self, axes: &[usize]) -> Model {
        let dims: Vec<IndexRange> = axes.iter().map(|&d| self.domain.dim(d)).collect();
        let back = |index: Index| {
            let place = |d: usize| axes.iter().position(|&axis| axis == d).unwrap();
            Index::from_fn(axes.len(), |d| index[place(d)])
        };
        Model::new(&Domain::new(&dims).unwrap(), |index| self.values[&back(index)])
    }

    /// Those with `at` in a dimension, which goes.
    pub fn fixed(&self, dim: usize, at: i64) -> Model {
        let back = |index: Index| {
            let old = |d: usize| if d < dim { index[d] } else { index[d - 1] };
            Index::from_fn(index.rank() + 1, |d| if d == dim { at } else { old(d) })
        };
        let mut ranges = self.domain.dims().to_vec();
        ranges.remove(dim);
        Model::new(&Domain::new(&ranges).unwrap(), |index| self.values[&back(index)])
    }

    pub fn sums(&self, dim: usize) -> Model {
        Model::new(&self.domain, |index| {
            let line = self.domain.dim(dim);
            let upto = line.iter().take(line.order(index[dim]).unwrap() as usize + 1);
            let cell = |i: i64| Index::from_fn(index.rank(), |d| if d == dim { i } else { index[d] });
            upto.fold(0, |sum: i32, i| sum.wrapping_add(self.values[&cell(i)]))
        })
    }

    /// The array is over the same domain and has the same under each index.
    pub fn check(&self, array: &Array, what: &str) {
        array.recorded().unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(array.domain(), self.domain, "{what}");
        assert!(array.is_over_domain(), "{what}");
        assert_eq!(array.to_vec::<i32>().unwrap(), self.list(), "{what}");
        let some = self.domain.nth(self.domain.num_indices() / 2);
        if let Some(index) = some {
            assert_eq!(array.get_at(&index).unwrap().to_i64() as i32, self.values[&index], "{what} {index}");
        }
    }
}

/// The points of a shape.
pub fn points(shape: &[i64]) -> impl Iterator<Item = Index> {
    Region::from_shape(shape).unwrap().points()
}
