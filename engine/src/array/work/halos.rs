//! Halos made current: one exchange for what all launches of a schedule ask of an array. Knows no launches.

use std::sync::Arc;

use partita_kernels::DType;

use super::{Pending, Work};
use crate::array::deep::{self, Due, Event};
use crate::array::exchange::halo_plan;
use crate::array::lower::{Leaf, Source};
use crate::array::node::Node;
use crate::array::reach::Reach;
use crate::array::storage::{Fresh, Storage, widened};
use crate::array::zone::Zone;
use crate::error::Result;
use crate::index::Distribution;

impl Work {
    /// Has a halo made current; false if nothing needs to be brought for that.
    pub(super) fn refresh(&mut self, storage: &Arc<Storage>, dtype: DType, halo: &Fresh) -> Result<bool> {
        if halo.is_nothing() {
            return Ok(false);
        }
        let asked =
            |(other, fresh): &(Arc<Storage>, Fresh)| Arc::ptr_eq(other, storage) && fresh.covers(halo);
        if self.refreshed.iter().any(asked) {
            return Ok(true);
        }
        let Some(plan) = storage.lacking(halo)? else { return Ok(false) };
        // One exchange for what several launches ask for: two would write the same cells at once.
        let own = |at: &usize| Arc::ptr_eq(&self.refreshed[*at].0, storage);
        let waiting = |(n, pending): (usize, &Pending)| Some((n, pending.refreshes.filter(own)?));
        if let Some((n, at)) = self.pending.iter().enumerate().find_map(waiting) {
            let wider = self.refreshed[at].1.max(halo);
            self.pending[n].plan = halo_plan(&storage.dist, &wider)?;
            self.refreshed[at].1 = wider;
            return Ok(true);
        }
        let (from, to) = (storage.places(&self.team), storage.places(&self.team));
        let refreshes = Some(self.refreshed.len());
        self.pending.push(Pending { operation: "halo exchange", plan, from, to, dtype, refreshes });
        self.refreshed.push((Arc::clone(storage), halo.clone()));
        Ok(true)
    }

    /// The array's memory if its halos are wide enough, or else as it is with wider ones, if it can have
    /// them: once, because later steps only exchange them.
    pub(super) fn with_halo(
        &mut self,
        node: &Arc<Node>,
        storage: Arc<Storage>,
        halo: &Fresh,
    ) -> Result<Arc<Storage>> {
        let Some(dist) = widened(&storage.dist, halo)?.filter(|dist| !Arc::ptr_eq(dist, &storage.dist))
        else {
            return Ok(storage);
        };
        let wide = Storage::new(&self.team, dist, node.dtype)?.declaring(&storage.declared);
        let copies = storage.copy_owned(&self.team, node.dtype, &wide)?;
        self.extend(copies);
        self.leases.extend(storage.parts.iter().flatten().cloned());
        node.set_ready(wide);
        let Some(wide) = node.storage() else { return Ok(storage) };
        deep::tell(|| Event::Copied { from: storage.number, to: wide.number });
        Ok(wide)
    }

    /// Has halos that are due made current.
    pub fn bring_due(&mut self) -> Result<()> {
        for Due { node, halo } in deep::take_due() {
            let Some(storage) = node.storage() else { continue };
            if widened(&storage.dist, &halo)?.is_none() {
                deep::refuse(|| format!("an array cannot have halos of {} and {}", halo.lo, halo.hi));
                continue;
            }
            let wide = self.with_halo(&node, storage, &halo)?;
            self.refresh(&wide, node.dtype, &halo)?;
        }
        Ok(())
    }

    /// How much of a halo is current by the time launches read it.
    pub fn fresh(&self, storage: &Arc<Storage>) -> Fresh {
        let own = |(other, _): &&(Arc<Storage>, Fresh)| Arc::ptr_eq(other, storage);
        let refreshed = self.refreshed.iter().filter(own).map(|(_, fresh)| fresh);
        refreshed
            .fold(storage.fresh(), |widest, fresh| if fresh.covers(&widest) { fresh.clone() } else { widest })
    }

    /// Whether launches over these zones read nothing but what is current.
    pub fn holds(&self, leaves: &[Leaf], dist: &Distribution, zones: &[Zone]) -> Result<bool> {
        for leaf in leaves {
            let Source::Array(node, storage) = &leaf.source else { continue };
            let storage = node.storage().unwrap_or_else(|| Arc::clone(storage));
            let reach = Reach::of(&leaf.maps, &storage.dist, dist, zones)?;
            let Some(halo) = reach.and_then(|reach| reach.halo) else { return Ok(false) };
            let is_current = || self.fresh(&storage).covers(&halo) && storage.dist.stores(&halo.lo, &halo.hi);
            if !halo.is_nothing() && !is_current() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
