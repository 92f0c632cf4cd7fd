//! The pool of a device: free memory by arena and size, and what is in use.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::allocation::Allocation;

/// What a device's memory is used for at the moment, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemoryUse {
    /// Held by arrays and temporaries.
    pub in_use_bytes: u64,
    /// Free, kept for reuse; given back to the driver before anything is refused.
    pub cached_bytes: u64,
    /// The most that may be held, if there is a limit of ours.
    pub budget_bytes: Option<u64>,
}

/// The memory of one device that is free, and how much is in use.
#[derive(Default)]
pub(in crate::device) struct Pool {
    /// By arena and size, then by number.
    free: BTreeMap<(u64, u64), BTreeMap<u64, Arc<Allocation>>>,
    pub(super) usage: MemoryUse,
}

impl Pool {
    pub(in crate::device) fn new(budget_bytes: Option<u64>) -> Pool {
        Pool { usage: MemoryUse { budget_bytes, ..MemoryUse::default() }, ..Pool::default() }
    }

    /// Takes back memory whose last lease ended.
    pub(super) fn release(&mut self, allocation: &Arc<Allocation>) {
        if allocation.arena.is_none() {
            return;
        }
        self.usage.in_use_bytes -= allocation.bytes;
        self.usage.cached_bytes += allocation.bytes;
        self.keep(Arc::clone(allocation));
    }

    fn keep(&mut self, allocation: Arc<Allocation>) {
        let Some(arena) = &allocation.arena else { return };
        let sized = self.free.entry((arena.number(), allocation.bytes)).or_default();
        sized.insert(allocation.id, allocation);
    }

    /// The free memory of this size with the smallest number, now in use.
    pub(super) fn take(&mut self, arena: u64, bytes: u64) -> Option<Arc<Allocation>> {
        let sized = self.free.get_mut(&(arena, bytes))?;
        let idle = |allocation: &&Arc<Allocation>| allocation.lent.load(Ordering::Acquire) == 0;
        let number = sized.values().find(idle)?.id;
        let allocation = sized.remove(&number)?;
        self.count_as_used(bytes);
        Some(allocation)
    }

    /// This allocation, now in use; `None` if it is not free.
    pub(super) fn claim(&mut self, allocation: &Allocation) -> Option<Arc<Allocation>> {
        let key = (allocation.arena.as_ref()?.number(), allocation.bytes);
        let found = self.free.get_mut(&key)?.remove(&allocation.id)?;
        self.count_as_used(found.bytes);
        Some(found)
    }

    /// Files the free memory again, after an arena has dissolved.
    pub(super) fn refile(&mut self) {
        for allocation in std::mem::take(&mut self.free).into_values().flat_map(BTreeMap::into_values) {
            self.keep(allocation);
        }
    }

    fn count_as_used(&mut self, bytes: u64) {
        self.usage.cached_bytes -= bytes;
        self.usage.in_use_bytes += bytes;
    }

    /// Gives all free memory back to the driver.
    pub(super) fn trim(&mut self) {
        self.free.clear();
        self.usage.cached_bytes = 0;
    }
}
