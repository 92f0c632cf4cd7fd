//! One map of every kind for any size and number of parts.

#![allow(missing_docs, clippy::unwrap_used, dead_code)]

use std::sync::Arc;

use partita::index::{CustomMap, DimMap};

pub const KINDS: usize = 9;

/// Every kind of map over `parts` parts: even and irregular blocks, everything on the last part, cyclic,
/// block-cyclic, one-to-one lists without order, lists with copies, copies everywhere, a user's map.
pub fn kinds(size: i64, parts: usize) -> Vec<DimMap> {
    let p = parts as i64;
    let scattered = |g: i64| ((g * 7 + 3) % (p + 2)) % p;
    let list = |part: i64, keep: &dyn Fn(i64) -> i64| -> Vec<i64> {
        (0..size).rev().filter(|&g| keep(g) == part).collect()
    };
    let shuffled: Vec<Vec<i64>> = (0..p).map(|part| list(part, &scattered)).collect();
    let mut shared = shuffled.clone();
    for g in (0..size).step_by(3) {
        let other = &mut shared[((scattered(g) + 1) % p) as usize];
        if !other.contains(&g) {
            other.push(g);
        }
    }
    let mut bounds = vec![0; parts];
    bounds.push(size);
    let irregular: Vec<i64> = (0..=p).map(|k| (k * k * size) / (p * p)).collect();
    vec![
        DimMap::even(size, parts).unwrap(),
        DimMap::irregular(&irregular).unwrap(),
        DimMap::irregular(&bounds).unwrap(),
        DimMap::cyclic(size, parts, 1).unwrap(),
        DimMap::cyclic(size, parts, 3).unwrap(),
        DimMap::unstructured(&shuffled, true).unwrap(),
        DimMap::unstructured(&shared, false).unwrap(),
        DimMap::replicated(size, parts).unwrap(),
        DimMap::custom(Arc::new(Backwards { size, parts })).unwrap(),
    ]
}

/// Coordinates dealt out singly, the last part first, each part's in descending order.
#[derive(Debug)]
struct Backwards {
    size: i64,
    parts: usize,
}

impl CustomMap for Backwards {
    fn name(&self) -> &str {
        "backwards"
    }

    fn size(&self) -> i64 {
        self.size
    }

    fn parts(&self) -> usize {
        self.parts
    }

    fn count(&self, part: usize) -> i64 {
        let turn = (self.parts - 1 - part) as i64;
        (self.size - turn + self.parts as i64 - 1).max(0) / self.parts as i64
    }

    fn to_local(&self, global: i64) -> (usize, i64) {
        let part = self.parts - 1 - (global % self.parts as i64) as usize;
        (part, self.count(part) - 1 - global / self.parts as i64)
    }

    fn to_global(&self, part: usize, local: i64) -> i64 {
        let turn = (self.parts - 1 - part) as i64;
        (self.count(part) - 1 - local) * self.parts as i64 + turn
    }
}
