//! Updates halos: merges the halo requests of all launches of a schedule into one exchange per array.

use std::sync::Arc;

use partita_kernels::DType;

use crate::array::bind::schedule::{PendingTransfer, ScheduleBuilder};
use crate::array::bind::values::Values;
use crate::array::loops::recorder::{HaloRequest, StepEvent};
use crate::array::lower::body::{Leaf, Source};
use crate::array::lower::footprint::{ComputeRegion, Footprint};
use crate::array::memory::plans::halo_plan;
use crate::array::memory::storage::{HaloWidths, Storage, widened};
use crate::error::Result;
use crate::index::Distribution;

impl ScheduleBuilder {
    /// Requests a valid halo; false if it is valid already.
    pub(crate) fn update_halo(
        &mut self,
        storage: &Arc<Storage>,
        dtype: DType,
        halo: &HaloWidths,
    ) -> Result<bool> {
        if halo.is_zero() {
            return Ok(false);
        }
        let asked =
            |(other, fresh): &(Arc<Storage>, HaloWidths)| Arc::ptr_eq(other, storage) && fresh.covers(halo);
        if self.updated_halos.iter().any(asked) {
            return Ok(true);
        }
        let Some(plan) = storage.missing_halo_plan(halo)? else { return Ok(false) };
        // One exchange for what several launches ask for: two would write the same cells at once.
        let own = |at: &usize| Arc::ptr_eq(&self.updated_halos[*at].0, storage);
        let waiting = |(n, pending): (usize, &PendingTransfer)| Some((n, pending.updates.filter(own)?));
        if let Some((n, at)) = self.pending.iter().enumerate().find_map(waiting) {
            let wider = self.updated_halos[at].1.max(halo);
            self.pending[n].plan = halo_plan(&storage.dist, &wider)?;
            self.updated_halos[at].1 = wider;
            return Ok(true);
        }
        let (from, to) = (storage.places(&self.team), storage.places(&self.team));
        let updates = Some(self.updated_halos.len());
        self.pending.push(PendingTransfer { operation: "halo exchange", plan, from, to, dtype, updates });
        self.updated_halos.push((Arc::clone(storage), halo.clone()));
        Ok(true)
    }

    /// The array's memory if its halos are wide enough, or else a copy with wider ones, if it can have them:
    /// once, because later steps only exchange them.
    pub(super) fn with_halo(
        &mut self,
        storage: Arc<Storage>,
        dtype: DType,
        halo: &HaloWidths,
    ) -> Result<Arc<Storage>> {
        let Some(dist) = widened(&storage.dist, halo)?.filter(|dist| !Arc::ptr_eq(dist, &storage.dist))
        else {
            return Ok(storage);
        };
        let wide = Arc::new(Storage::new(&self.team, dist, dtype)?.declaring(&storage.declared));
        let copies = storage.copy_owned(&self.team, dtype, &wide)?;
        self.extend(copies);
        self.leases.extend(storage.parts.iter().flatten().cloned());
        self.recorder.log(|| StepEvent::Copied { from: storage.number, to: wide.number });
        Ok(wide)
    }

    /// Updates the halos that a `Loop` asks for before the first exchange of its step.
    pub fn update_requested_halos(&mut self) -> Result<()> {
        for HaloRequest { node, halo } in self.recorder.take_halo_requests() {
            let Some(storage) = node.storage() else { continue };
            if widened(&storage.dist, &halo)?.is_none() {
                let reason = || format!("an array cannot have halos of {} and {}", halo.lo, halo.hi);
                self.recorder.mark_unsupported(reason);
                continue;
            }
            let wide = self.with_halo(Arc::clone(&storage), node.dtype, &halo)?;
            if !Arc::ptr_eq(&wide, &storage) {
                node.set_ready(Arc::clone(&wide));
            }
            self.update_halo(&wide, node.dtype, &halo)?;
        }
        Ok(())
    }

    /// How much of a halo is valid by the time launches read it.
    pub fn valid_halo(&self, storage: &Arc<Storage>) -> HaloWidths {
        let own = |(other, _): &&(Arc<Storage>, HaloWidths)| Arc::ptr_eq(other, storage);
        let updated = self.updated_halos.iter().filter(own).map(|(_, halo)| halo);
        updated.fold(
            storage.valid_halo(),
            |widest, halo| if halo.covers(&widest) { halo.clone() } else { widest },
        )
    }

    /// Whether launches over these regions read nothing but what is valid.
    pub fn holds(
        &self,
        values: &Values,
        leaves: &[Leaf],
        dist: &Distribution,
        regions: &[ComputeRegion],
    ) -> Result<bool> {
        for leaf in leaves {
            let Source::Memory(node) = leaf.source else { continue };
            let storage = values.storage(node)?;
            let footprint = Footprint::of(&leaf.maps, &storage.dist, dist, regions)?;
            let Some(halo) = footprint.and_then(|footprint| footprint.halo) else { return Ok(false) };
            let is_valid =
                || self.valid_halo(&storage).covers(&halo) && storage.dist.stores(&halo.lo, &halo.hi);
            if !halo.is_zero() && !is_valid() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
