//! From the launch of a reduction to grids: which points fold where, over how many blocks and in how many
//! stages. Knows no text.

use super::module::{BLOCKS_PER_MULTIPROCESSOR, Facts, Grid};
use super::region::{Dim, Region};
use super::source::{Source, fill_up, leader};
use crate::ir::Kernel;
use crate::ptx::entries::reduce::{self, partial_bytes, streams};
use crate::ptx::text::{Field, Share, THREADS};

/// How one box of a reduction is spread over blocks.
struct Spread {
    region: Region,
    /// Threads along x fold.
    inner: bool,
    /// Threads that fold into one point.
    lanes: u64,
    kept: u64,
    /// Points that fold into each kept one; 0 if there are none.
    folded: u64,
    /// Folded points of one segment.
    length: u64,
}

impl Spread {
    fn segments(&self) -> u64 {
        self.folded.div_ceil(self.length).max(1)
    }

    fn block(&self) -> [u32; 3] {
        let others = THREADS / self.lanes as u32;
        if self.inner { [self.lanes as u32, others, 1] } else { [others, self.lanes as u32, 1] }
    }

    fn blocks(&self) -> u64 {
        self.kept.div_ceil(u64::from(THREADS) / self.lanes)
    }
}

/// All that folds into one box of kept points.
pub(in crate::ptx) struct Folding {
    spreads: Vec<Spread>,
    segments: u64,
}

impl Folding {
    fn kept(&self) -> u64 {
        self.spreads[0].kept
    }

    /// Where each stream's partial results begin, and the end of the last.
    fn partials(&self, kernel: &Kernel) -> Vec<u64> {
        let mut at = vec![0];
        for stream in streams(kernel) {
            let bytes = self.kept() * self.segments * partial_bytes(&stream);
            at.push(at[at.len() - 1] + bytes.next_multiple_of(256));
        }
        at
    }

    pub(in crate::ptx) fn scratch_bytes(&self, kernel: &Kernel) -> u64 {
        if self.segments == 1 { 0 } else { self.partials(kernel)[streams(kernel).len()] }
    }
}

impl Source<'_> {
    /// The boxes of a reduction.
    pub(in crate::ptx) fn folds(&self, facts: Facts) -> Vec<Folding> {
        let mut region = Region::new(self.kernel, self.launch, self.memory);
        let empty = region.dims.iter().any(|d| d.folded && d.extent == 0);
        if empty {
            region.dims.retain(|d| !d.folded);
        }
        if region.points() == 0 {
            return Vec::new();
        }
        region.arrange(leader(self.kernel, &region));
        let inner = is_inner(&region, leader(self.kernel, &region));
        let (kept, folded) = reduce::slots(self.kernel);
        region.fill(kept, folded);
        let mut most = vec![1; kept + folded];
        let limit = self.module.limits.points;
        fill_up(&region.dims[..kept], limit, &mut most[..kept]);
        fill_up(&region.dims[kept..], limit, &mut most[kept..]);
        for (most, dim) in most.iter_mut().zip(&region.dims) {
            if !dim.fits() {
                *most = 1;
            }
        }
        let cuts = |d: (&Dim, &u64)| d.0.extent.div_ceil(*d.1) as usize;
        let per_kept: usize = region.dims[kept..].iter().zip(&most[kept..]).map(cuts).product();
        let parts = region.parts(&most);
        parts
            .chunks(per_kept)
            .map(|parts| {
                let wanted = BLOCKS_PER_MULTIPROCESSOR * u64::from(facts.multiprocessors);
                let spread = |part: &Region| self.spread(part.clone(), inner, empty, wanted);
                let spreads: Vec<Spread> = parts.iter().map(spread).collect();
                Folding { segments: spreads.iter().map(Spread::segments).sum(), spreads }
            })
            .collect()
    }

    fn spread(&self, region: Region, inner: bool, empty: bool, wanted: u64) -> Spread {
        let points = |folded: bool| -> u64 {
            region.dims.iter().filter(|d| d.folded == folded).map(|d| d.extent).product()
        };
        let kept = points(false);
        let folded = if empty { 0 } else { points(true) };
        let lanes = lanes(inner, kept, folded);
        let tiles = kept.div_ceil(u64::from(THREADS) / lanes);
        let worth = folded / (lanes * self.module.limits.per_thread);
        let segments = wanted.div_ceil(tiles).min(worth).clamp(1, self.module.limits.blocks);
        let length = folded.div_ceil(segments).next_multiple_of(lanes).max(1);
        Spread { region, inner, lanes, kept, folded, length }
    }

    pub(in crate::ptx) fn reduction(&self, scratch: u64, facts: Facts) -> Vec<Grid> {
        let mut grids = Vec::new();
        for folding in self.folds(facts) {
            let partials: Vec<u64> = folding.partials(self.kernel).iter().map(|at| at + scratch).collect();
            let mut first = 0;
            for spread in &folding.spreads {
                let blocks = [spread.blocks(), spread.segments(), 1];
                let digits = digits(&spread.region, spread.lanes);
                grids.push(self.grid(0, &spread.region, blocks, spread.block(), |field| match field {
                    Field::Digit(slot) => digits[*slot],
                    Field::Partials(stream) => partials[*stream],
                    Field::Share(Share::Inner) => u64::from(spread.inner),
                    Field::Share(Share::Kept) => spread.kept,
                    Field::Share(Share::Folded) => spread.folded,
                    Field::Share(Share::Length) => spread.length,
                    Field::Share(Share::First) => first,
                    Field::Share(Share::Segments) => folding.segments,
                    Field::Share(Share::Empty) => u64::from(spread.folded == 0),
                    _ => unreachable!("the region knows it"),
                }));
                first += spread.segments();
            }
            if folding.segments > 1 {
                grids.push(self.finish(&folding, &partials));
            }
        }
        grids
    }

    fn finish(&self, folding: &Folding, partials: &[u64]) -> Grid {
        let region = folding.spreads[0].region.clone();
        let (kept, folded, inner) = (folding.kept(), folding.segments, true);
        let lanes = lanes(inner, kept, folded);
        let spread = Spread { region, inner, lanes, kept, folded, length: folded };
        self.grid(1, &spread.region, [spread.blocks(), 1, 1], spread.block(), |field| match field {
            Field::Partials(stream) => partials[*stream],
            Field::Share(Share::Inner) => 1,
            Field::Share(Share::Kept) => kept,
            Field::Share(Share::Folded | Share::Segments | Share::Length) => folded,
            Field::Share(Share::First | Share::Empty) => 0,
            _ => unreachable!("the region knows it"),
        })
    }
}

/// Threads along x fold if what folds is closer in memory than what stays.
fn is_inner(region: &Region, lead: Option<usize>) -> bool {
    let closest = |folded: bool| {
        let dims = region.dims.iter().filter(|d| d.folded == folded);
        dims.map(|d| lead.map_or(0, |q| d.steps[q].unsigned_abs())).min()
    };
    match (closest(true), closest(false)) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(folded), Some(kept)) => folded <= kept,
    }
}

/// Threads that fold into one point: as many as have a few items each, or as are left over.
fn lanes(inner: bool, kept: u64, folded: u64) -> u64 {
    let full = u64::from(THREADS);
    let some = folded.div_ceil(4).next_power_of_two();
    let spare = full / kept.next_power_of_two().min(full);
    match inner {
        true => some.max(spare.min(folded.next_power_of_two())).min(full),
        false => some.min(full / kept.next_power_of_two().min(64)).max(1),
    }
}

/// A number of items as digits of the folded slots.
fn digits(region: &Region, items: u64) -> Vec<u64> {
    let mut digits = vec![0; region.dims.len()];
    let mut rest = items;
    for (slot, dim) in region.dims.iter().enumerate().rev().take_while(|(_, d)| d.folded) {
        digits[slot] = rest % dim.extent;
        rest /= dim.extent;
    }
    digits
}
