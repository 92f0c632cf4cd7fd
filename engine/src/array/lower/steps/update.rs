//! Updates: arrays of which a window, or elements at positions, are those of a value, and the rest is what it
//! was. The value sees the old elements, whatever overlaps.
//!
//! A window is computed in place if neither anybody else nor the value needs the old elements; otherwise a
//! large one into fresh memory, and the rest is copied. Small, strided and scattered windows are computed
//! into temporary memory and copied; one of these among several updates sends all of them that way.

use std::sync::Arc;

use crate::array::lower::graph::{NodeId, OldElements, Update};
use crate::array::lower::lowerer::{BaseWindow, LowerTarget, Lowerer, Placement};
use crate::array::lower::steps::list::{CopiedCells, ResultMemory, Step, StoredArray};
use crate::array::lower::steps::listed::{scatter_elements, scatter_window};
use crate::array::memory::storage::{HaloWidths, Pitch};
use crate::array::record::expr::{StridedWindow, UpdatedCells, point};
use crate::device::{collect, push};
use crate::error::Result;
use crate::index::{Distribution, Region};

/// A window without gaps, and what is known of it.
struct WindowUpdate<'a> {
    update: &'a Update,
    region: Region,
    /// Whether it is all of the array, and whether it is more than half.
    covers: bool,
    is_large: bool,
}

impl WindowUpdate<'_> {
    fn is_in_place(&self) -> bool {
        !self.covers && self.update.old == OldElements::Unneeded
    }
}

impl Lowerer<'_> {
    /// Computes updates that are independent of each other: all values see the old elements of all arrays.
    pub fn updates(&mut self, updates: &[Update]) -> Result<()> {
        let mut windows = Vec::with_capacity(updates.len());
        for update in updates {
            match self.computable_window(update)? {
                Some(region) => windows.push(self.window_update(update, region)?),
                None => return self.updates_by_copies(updates),
            }
        }
        // Computed first, because its halo widths are those of the new memory.
        for window in windows.iter().filter(|window| !window.covers) {
            self.evaluate(&[window.update.base])?;
        }
        if windows.iter().any(|window| !window.is_in_place() && !window.is_large) {
            return self.updates_by_copies(updates);
        }
        self.update_windows(&windows)
    }

    /// The window whose elements can be computed where they lie in memory for the whole array.
    fn computable_window(&self, update: &Update) -> Result<Option<Region>> {
        let UpdatedCells::Window(window) = &update.cells else { return Ok(None) };
        let fits = window.is_box() && self.graph.distribution(update.base)?.is_box(&window.region);
        Ok(fits.then_some(window.region))
    }

    fn window_update<'u>(&self, update: &'u Update, region: Region) -> Result<WindowUpdate<'u>> {
        let (cells, all) = (region.volume()?, Region::from_shape(self.graph.shape(update.base))?.volume()?);
        Ok(WindowUpdate { update, region, covers: cells == all, is_large: 2 * cells > all })
    }

    /// Those of the updates that a kernel over their window may compute in fresh memory, as targets.
    pub fn fresh_windows(&self) -> Result<Vec<LowerTarget>> {
        let mut targets = Vec::new();
        for update in self.updates.iter().filter(|update| self.graph.is_memory(update.base)) {
            let Some(region) = self.computable_window(update)? else { continue };
            let window = self.window_update(update, region)?;
            if !window.is_in_place() && (window.is_large || window.covers) {
                let at = self.base_window(update.base, &region)?;
                let placement = Placement::Window(at);
                targets.push(LowerTarget { node: update.value, placement, result: update.node });
            }
        }
        Ok(targets)
    }

    /// The elements outside of the windows that were computed in fresh memory.
    pub fn copy_rest(&mut self, results: &[ResultMemory]) {
        for result in results {
            if let Some(base) = result.rest_of {
                self.copy((base, result.node), CopiedCells::Outside(result.window.window));
            }
        }
    }

    /// Computes windows in memory for their whole arrays.
    fn update_windows(&mut self, windows: &[WindowUpdate]) -> Result<()> {
        let mut targets = Vec::with_capacity(windows.len());
        for window in windows {
            let at = self.base_window(window.update.base, &window.region)?;
            let placement = match window.is_in_place() {
                true => {
                    self.donate(window.update.base, window.update.node)?;
                    Placement::InPlace(at)
                }
                false => Placement::Window(at),
            };
            targets.push(LowerTarget { node: window.update.value, placement, result: window.update.node });
        }
        for group in self.groups(targets)? {
            self.compute(&group)?;
        }
        for WindowUpdate { update, region, .. } in
            windows.iter().filter(|window| !window.covers && !window.is_in_place())
        {
            self.copy((update.base, update.node), CopiedCells::Outside(*region));
        }
        Ok(())
    }

    /// Computes values into memory of their own, and then copies their elements.
    fn updates_by_copies(&mut self, updates: &[Update]) -> Result<()> {
        self.evaluate(&updates.iter().map(|update| update.base).collect::<Vec<NodeId>>())?;
        let mut computed = Vec::with_capacity(updates.len());
        for update in updates {
            let window = self.computable_window(update)?.filter(|_| self.next_in_fresh_memory());
            match window {
                Some(region) => self.update_windows(&[self.window_update(update, region)?])?,
                None => computed.push((update, self.temporary(update)?)),
            }
        }
        computed.into_iter().try_for_each(|(update, value)| self.overwrite(update, value))
    }

    /// A value in memory of its own size: on the parts that own the window, so that the copies into it stay
    /// local.
    fn temporary(&mut self, update: &Update) -> Result<NodeId> {
        let Update { base, value, .. } = *update;
        let placement = match &update.cells {
            UpdatedCells::At(_) => {
                self.mark_unsupported("the step sets elements by their number in C order");
                return self.evaluate(&[value]).map(|()| value);
            }
            UpdatedCells::Window(window) if window.is_box() => {
                Placement::Temporary(self.base_window(base, &window.region)?)
            }
            UpdatedCells::Window(window) => {
                let StridedWindow { region, steps } = &**window;
                self.mark_unsupported("the step assigns to a slice in steps");
                let dist = Arc::new(self.graph.distribution(base)?.strided(region, steps)?);
                Placement::On(dist, Pitch::of(self.graph.dtype(value)))
            }
        };
        let result = self.placeholder(value);
        self.compute(&[LowerTarget { node: value, placement, result }])?;
        // Once computed, the value no longer keeps the old elements.
        if update.old == OldElements::UntilComputed && !self.graph.is_memory(value) {
            self.donate(result, value)?;
            return Ok(value);
        }
        Ok(result)
    }

    /// Copies a computed value over the old elements, or over a copy of them.
    fn overwrite(&mut self, update: &Update, value: NodeId) -> Result<()> {
        let Update { node, base, .. } = *update;
        let none = HaloWidths::zero(self.graph.rank(node));
        let valid = |node| self.graph.memory_state(node).map_or(none.clone(), |state| state.valid.clone());
        let (old, written) = (valid(base), valid(value));
        let old = match update.old {
            OldElements::Unneeded | OldElements::UntilComputed => {
                self.donate(base, node)?;
                old
            }
            OldElements::Kept => {
                let from = self.stored(base)?;
                self.computed_in(node, (&from.dist, &from.declared), from.pitch);
                self.list.allocate(&StoredArray { node, ..from });
                self.copy((base, node), CopiedCells::Current);
                if old.corners { old } else { none.clone() }
            }
        };
        let (new, stored) = (self.stored(node)?, self.stored(value)?);
        self.computed_in(node, (&new.dist, &new.declared), new.pitch);
        match &update.cells {
            UpdatedCells::At(positions) => {
                let picked = last_of_each(&new.dist, positions)?;
                scatter_elements((&mut self.list, self.team), &new, &stored, &picked)
            }
            UpdatedCells::Window(window) if is_strided_box(&new.dist, window) => {
                self.copy((value, node), CopiedCells::Window(**window));
                // The copy goes as far beyond what parts own as the value does, but not in steps.
                let written = if window.is_box() { written } else { none };
                self.graph.set_memory(node, (&new.dist, &new.declared), new.pitch, old.min(&written));
                Ok(())
            }
            UpdatedCells::Window(window) => {
                self.mark_unsupported("the step assigns to a slice along an unordered list");
                scatter_window(&mut self.list, &new, (&window.region, &window.steps), stored.memory())
            }
        }
    }

    /// The memory of a computed node is another one's from here on.
    fn donate(&mut self, from: NodeId, to: NodeId) -> Result<()> {
        let state = self.graph.memory_state(from).cloned();
        let Some(state) = state else { return self.stored(from).map(|_| ()) };
        self.graph.set_memory(to, (&state.dist, &state.declared), state.pitch, state.valid);
        self.list.steps.push(Step::Donate { from, to });
        Ok(())
    }

    fn copy(&mut self, (from, to): (NodeId, NodeId), cells: CopiedCells) {
        let dtype = self.graph.dtype(to);
        self.list.steps.push(Step::Copy { from, to, dtype, cells });
    }

    /// A window of an array that is computed, or need not be.
    fn base_window(&self, base: NodeId, region: &Region) -> Result<BaseWindow> {
        let dist = self.graph.distribution(base)?;
        let state = self.graph.memory_state(base);
        let memory = state.map_or_else(|| Arc::clone(&dist), |state| Arc::clone(&state.dist));
        let pitch = state.map_or(Pitch::of(self.graph.dtype(base)), |state| state.pitch);
        Ok(BaseWindow { base, dist, memory, pitch, start: *region.start() })
    }
}

/// Whether a window is a box in the memory of each part, or a strided box.
fn is_strided_box(dist: &Distribution, window: &StridedWindow) -> bool {
    let plain = (0..dist.rank()).all(|d| window.steps[d] == 1 || dist.map(d).is_block());
    plain && dist.is_box(&window.region)
}

/// Of an array with `cells` elements the positions that are named, ascending, and where each is named last.
fn last_of_all(cells: usize, positions: &[i64]) -> Result<Vec<(i64, i64)>> {
    let named = positions.iter().zip(0..).map(|(&at, k)| (at, k));
    if positions.windows(2).all(|pair| pair[0] < pair[1]) {
        return collect("scatter", named);
    }
    // Of many positions a table of all elements is filled sooner than the positions are sorted.
    if positions.len() >= cells / 16 {
        let mut last = collect("scatter", std::iter::repeat_n(-1, cells))?;
        named.for_each(|(at, k)| last[at as usize] = k);
        return collect("scatter", (0..).zip(last).filter(|&(_, k)| k >= 0));
    }
    let mut sorted = collect("scatter", named)?;
    sorted.sort_unstable_by_key(|&(at, k)| (at, std::cmp::Reverse(k)));
    sorted.dedup_by_key(|pick| pick.0);
    Ok(sorted)
}

/// By part, the positions that it owns, ascending, and where each is named last.
fn last_of_each(dist: &Distribution, positions: &[i64]) -> Result<Vec<Vec<(i64, i64)>>> {
    let named = last_of_all(Region::from_shape(&dist.shape())?.volume()? as usize, positions)?;
    if dist.parts() == 1 {
        return Ok(vec![named]);
    }
    let mut picked: Vec<Vec<(i64, i64)>> = vec![Vec::new(); dist.parts()];
    for (at, k) in named {
        push("scatter", &mut picked[dist.owner(&point(&dist.shape(), at))?], (at, k))?;
    }
    Ok(picked)
}
