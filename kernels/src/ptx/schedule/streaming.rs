//! The plan of the entry `streaming`: the dimension that threads go along, and which elements they keep.

use std::collections::BTreeMap;

use super::vectors::{MAX_INSTRUCTIONS, VectorRow, Vectors, place_name};
use crate::ir::{Kernel, Offsets, Op};
use crate::verify::Verified;
use crate::verify::footprint::{Footprint, row_and_column};

/// Loads of one vector of one parameter that streaming must save to be worth its registers: more than a
/// stencil of 5 or 7 points has to offer, whose neighbours the second-level cache serves well.
const MIN_SAVED: usize = 4;

/// Registers of 32 bits that may be filled with elements: the body needs some, and a multiprocessor
/// should hold two blocks at least.
const MAX_KEPT: usize = 96;

/// Rows that are aligned together: those of a parameter at one distance from the point, on either side,
/// where rows need not be whole vectors apart. The plane makes no difference.
pub(in crate::ptx) type Group = (u32, Vec<u32>);

/// How a kernel streams.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::ptx) struct StreamingPlan {
    /// Points of a thread in a plane.
    pub lanes: usize,
    /// The dimension of the kernel that is walked along.
    pub along: usize,
    /// Registers of the longest ring, and copies of the body.
    pub period: usize,
    /// What is loaded in each plane.
    pub streams: Vec<KeptRow>,
}

/// A row that is loaded in each plane, and for how many planes each of its elements is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::ptx) struct KeptRow {
    pub row: VectorRow,
    pub planes: BTreeMap<i32, usize>,
}

impl StreamingPlan {
    /// The walk that saves the most loads, if one is worth it.
    pub(in crate::ptx) fn of(verified: &Verified, vector: &Vectors) -> Option<StreamingPlan> {
        let kernel = verified.kernel();
        let narrower = |along: usize| {
            let lanes = (0..).map(|n| vector.lanes >> n).take_while(|&lanes| lanes > 0);
            lanes
                .map(|lanes| StreamingPlan::along(verified.footprint(), along, lanes))
                .find(|streaming| streaming.fits(kernel))
        };
        let plans = (0..kernel.rank.saturating_sub(1)).rev().filter_map(narrower);
        let best = plans.max_by_key(|streaming| streaming.saved(kernel, vector))?;
        (best.saved(kernel, vector) >= MIN_SAVED).then_some(best)
    }

    /// Each element is loaded in the first plane that reads it.
    pub(in crate::ptx) fn along(footprint: &Footprint, along: usize, lanes: usize) -> StreamingPlan {
        let mut read: BTreeMap<(u32, Offsets, i32), (i32, i32)> = BTreeMap::new();
        for site in footprint.loads() {
            let (mut column, last) = row_and_column(&site.offsets);
            let plane = std::mem::take(&mut column[along]);
            for lane in 0..lanes as i32 {
                let planes = read.entry((site.param, column.clone(), lane + last)).or_insert((plane, plane));
                *planes = (planes.0.min(plane), planes.1.max(plane));
            }
        }
        let mut streams: Vec<KeptRow> = Vec::new();
        for ((param, mut offsets, position), (lowest, highest)) in read {
            offsets[along] = highest;
            let at = streams.iter().position(|s| s.row.param == param && s.row.offsets == offsets);
            let at = at.unwrap_or_else(|| {
                let row = VectorRow { param, offsets, positions: Default::default() };
                streams.push(KeptRow { row, planes: BTreeMap::new() });
                streams.len() - 1
            });
            streams[at].row.positions.insert(position);
            streams[at].planes.insert(position, (highest - lowest) as usize + 1);
        }
        let period = streams.iter().flat_map(|s| s.planes.values().copied()).max().unwrap_or(1);
        StreamingPlan { lanes, along, period, streams }
    }

    /// Registers of a ring that keeps this many planes: a divisor of the period, so that each copy of the
    /// body always meets the same ones.
    pub(in crate::ptx) fn ring(&self, planes: usize) -> usize {
        (planes..=self.period).find(|ring| self.period.is_multiple_of(*ring)).unwrap_or(self.period)
    }

    pub(in crate::ptx) fn fits(&self, kernel: &Kernel) -> bool {
        let words = |s: &KeptRow| {
            let wide = kernel.params[s.row.param as usize].dtype.size_bytes().div_ceil(4);
            s.planes.values().map(|&planes| wide * self.ring(planes)).sum::<usize>()
        };
        let computed = kernel.body.iter().filter(|inst| !matches!(inst.op, Op::Load { .. })).count();
        self.streams.iter().map(words).sum::<usize>() <= MAX_KEPT
            && computed * self.lanes * self.period <= MAX_INSTRUCTIONS
    }

    /// Loads per vector of the other entry that streaming saves, for the parameter where it saves most.
    pub(in crate::ptx) fn saved(&self, kernel: &Kernel, vector: &Vectors) -> usize {
        let here = |p: u32| self.streams.iter().map(|s| &s.row).filter(move |r| r.param == p);
        let there = |p: u32| vector.rows.iter().filter(move |r| r.param == p);
        let saved = |p: u32| {
            let loads: usize = there(p).map(|r| r.loads(vector.lanes)).sum();
            let streamed: usize = here(p).map(|r| r.loads(self.lanes)).sum();
            loads.saturating_sub(streamed * (vector.lanes / self.lanes))
        };
        (0..kernel.params.len() as u32).map(saved).max().unwrap_or(0)
    }

    /// The stream and the plane of it that a load reads at a position: 0 is the newest.
    pub(in crate::ptx) fn source(&self, param: u32, offsets: &Offsets, position: i32) -> (usize, usize) {
        let same = |row: &VectorRow| {
            let others = row.offsets.iter().zip(offsets).enumerate();
            row.param == param && others.filter(|(k, _)| *k != self.along).all(|(_, (a, b))| a == b)
        };
        let at = self.streams.iter().position(|s| same(&s.row) && s.planes.contains_key(&position));
        let at = at.expect("every load has its stream");
        (at, (self.streams[at].row.offsets[self.along] - offsets[self.along]) as usize)
    }

    /// The rows that this one is aligned with.
    pub(in crate::ptx) fn group(&self, row: &VectorRow) -> Group {
        let distance = |(k, d): (usize, &i32)| if k == self.along { 0 } else { d.unsigned_abs() };
        (row.param, row.offsets.iter().enumerate().map(distance).collect())
    }

    /// Something of this parameter is loaded in this plane: in those before the first, only what is kept
    /// long enough to be read.
    pub(in crate::ptx) fn loads_in(&self, param: u32, plane: i32) -> bool {
        let kept = |s: &KeptRow| s.planes.values().any(|&planes| planes as i32 > -plane);
        self.streams.iter().any(|s| s.row.param == param && kept(s))
    }

    /// The register of an element that is loaded in a plane, counted from the walk's first.
    pub(in crate::ptx) fn element(&self, stream: usize, position: i32, plane: i32) -> String {
        let name = format!("%w{stream}_{}", place_name(position));
        match self.ring(self.streams[stream].planes[&position]) {
            1 => name,
            ring => format!("{name}_{}", plane.rem_euclid(ring as i32)),
        }
    }
}

/// Slots of streaming: the walk, and at least x and y.
pub(in crate::ptx) fn streaming_slots(kernel: &Kernel) -> usize {
    kernel.rank.max(3)
}
