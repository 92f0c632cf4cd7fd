//! One part of a computed array, for those who hand memory on: which cells it holds, where they are, and a
//! hold on both. Knows no protocol by which memory is handed on.

use std::ptr::NonNull;
use std::sync::Arc;

use partita_kernels::DType;

use super::Array;
use super::data::pack;
use super::storage::{Fresh, Storage};
use crate::device::{Buffer, Device};
use crate::error::{Error, Result};
use crate::index::{Distribution, Index, Region};
use crate::program::{Copying, Place, c_strides, copy_box, execute, is_recording};

/// What one member of the team holds of an array: the cells it owns inside the box of cells it stores.
///
/// As long as a part lives, its cells and its halo keep their values: assignments to the array go to other
/// memory. The exception is a `Loop` that began before the part was taken: it writes to the memory of
/// its state. End the loop, or begin another, before its state's parts are handed on.
#[derive(Clone)]
pub struct Part {
    // Held so that assignments find the value shared.
    array: Array,
    dist: Arc<Distribution>,
    index: usize,
    owned: Region,
    stored: Region,
    buffer: Option<Buffer>,
}

/// Which cells of a part are meant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cells {
    /// Those it owns.
    Owned,
    /// Those and the halo around them.
    Stored,
}

impl Array {
    /// The parts of the array that this rank holds, halos current. Computes if necessary. Collective. CUDA
    /// devices may still be working: whoever reads their memory orders his stream behind theirs
    /// ([`Device::publish_to`]).
    ///
    /// # Errors
    /// Inside a `Loop`'s step; those of [`Array::eval`].
    pub fn parts(&self) -> Result<Vec<Part>> {
        if is_recording() {
            return Err(Error::invalid(
                "the parts of an array",
                "a step that only computes, because a replay cannot repeat handing memory on",
                "parts inside a Loop's step",
                "take the parts of the state between runs of the Loop",
            ));
        }
        self.eval()?;
        let Some(storage) = self.node.storage() else { unreachable!("eval computes or fails") };
        let _guard = self.team().evaluation();
        self.team().together("the parts of an array", || self.fill_halos(&storage))?;
        let part = |(index, buffer): (usize, &Option<Buffer>)| Part {
            array: self.clone(),
            dist: Arc::clone(&storage.dist),
            index,
            owned: storage.dist.owned(index),
            stored: storage.dist.stored(index),
            buffer: buffer.clone(),
        };
        let here = storage.parts.iter().enumerate().filter(|(index, _)| self.team().is_here(*index));
        Ok(here.map(part).collect())
    }

    /// Makes all halos current, so that nothing writes to them later.
    fn fill_halos(&self, storage: &Storage) -> Result<()> {
        let (lo, hi) = storage.dist.halo();
        let all = Fresh { lo, hi, corners: true };
        let mut leases = Vec::new();
        let schedule = storage.refresh(self.team(), self.dtype(), &all, &mut leases)?;
        if !schedule.is_empty() {
            execute(schedule)?;
            storage.set_fresh(all);
        }
        Ok(())
    }

    /// Whether both handles point to one value.
    pub fn is_same(&self, other: &Array) -> bool {
        Arc::ptr_eq(&self.node, &other.node)
    }

    /// Whether anything else points to this value: a clone, a part, or an expression that is not computed.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.node) > 1
    }
}

impl Part {
    /// Its number, and that of the member that holds it.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The distribution it is a part of, with the halo widths that its memory has.
    pub fn distribution(&self) -> &Arc<Distribution> {
        &self.dist
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.array.dtype()
    }

    /// The device that holds it.
    pub fn device(&self) -> &Device {
        self.array.team().device(self.index)
    }

    /// The box of cells that is meant, in packed coordinates.
    pub fn region(&self, cells: Cells) -> Region {
        match cells {
            Cells::Owned => self.owned,
            Cells::Stored => self.stored,
        }
    }

    /// Distance in elements between neighbours in its memory, per dimension.
    pub fn strides(&self) -> Index {
        c_strides(&self.stored)
    }

    /// Where the first of the cells is in this process's memory; `None` if it is elsewhere, or nowhere.
    /// What is there may be read, and not written, as long as the part lives.
    pub fn address(&self, cells: Cells) -> Option<NonNull<u8>> {
        let offset = self.offset(cells)?;
        self.buffer.as_ref()?.allocation().host_address(offset as usize)
    }

    /// Where the first of the cells is in the memory of a CUDA device, as [`Part::address`].
    pub fn cuda_address(&self, cells: Cells) -> Option<u64> {
        self.buffer.as_ref()?.allocation().cuda_address(self.offset(cells)?)
    }

    /// The first of the cells, in bytes from the start of the memory; `None` if there are none.
    fn offset(&self, cells: Cells) -> Option<u64> {
        let (region, strides) = (self.region(cells), self.strides());
        let apart = |d: usize| (region.start()[d] - self.stored.start()[d]) * strides[d];
        let offset: i64 = (0..region.rank()).map(apart).sum();
        (!region.is_empty()).then_some(offset as u64 * self.dtype().size_bytes() as u64)
    }

    /// A copy of the cells in memory of its own on the same device, as a part that stores nothing else.
    ///
    /// # Errors
    /// Memory; the device's.
    pub fn copied(&self, cells: Cells) -> Result<Part> {
        let region = self.region(cells);
        let copy = |buffer| Part { owned: region, stored: region, buffer, ..self.clone() };
        let Some(from) = self.place().filter(|_| !region.is_empty()) else { return Ok(copy(None)) };
        let _guard = self.array.team().evaluation();
        let buffer = from.device.alloc(region.volume()? as u64 * self.dtype().size_bytes() as u64)?;
        let (device, allocation) = (from.device.clone(), Arc::clone(buffer.allocation()));
        let to = Place { device, allocation, stored: region };
        execute(vec![copy_box(&from, &region, &to, &region, Copying { dtype: self.dtype(), add: false })?])?;
        Ok(copy(Some(buffer)))
    }

    /// Copies the cells to `out`, in C order. Waits.
    ///
    /// # Errors
    /// If `out` has not exactly their length; memory; the device's.
    pub fn read_into(&self, cells: Cells, out: &mut [u8]) -> Result<()> {
        let region = self.region(cells);
        let expected = region.volume()? as usize * self.dtype().size_bytes();
        if out.len() != expected {
            let (expected, given) = (format!("{expected} bytes"), out.len().to_string());
            return Err(Error::invalid("Part::read_into", expected, given, "pass memory for the whole part"));
        }
        if let Some(place) = self.place().filter(|_| expected > 0) {
            let _guard = self.array.team().evaluation();
            let (packed, _lease) = pack(&place, &region, self.dtype())?;
            packed.device.download(&packed.allocation, 0, out)?;
        }
        Ok(())
    }

    fn place(&self) -> Option<Place> {
        self.buffer.as_ref().map(|buffer| Place {
            device: self.device().clone(),
            allocation: Arc::clone(buffer.allocation()),
            stored: self.stored,
        })
    }
}
