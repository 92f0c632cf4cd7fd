//! One part of a computed array, for export: its cells, its memory, and a lease on the memory. Independent
//! of the export protocol.

use std::ptr::NonNull;
use std::sync::Arc;

use partita_kernels::{DType, View};

use crate::array::Array;
use crate::array::lower::body::Footprint;
use crate::array::memory::storage::{HaloWidths, Storage, bytes_of};
use crate::array::memory::window::ComputeRegion;
use crate::array::record::expr::Map;
use crate::array::recorder::recording::Recorder;
use crate::array::run::moves::update_halo;
use crate::device::{Buffer, Device};
use crate::error::{Error, Result};
use crate::index::{Along, Distribution, Index, Region};
use crate::program::{CopyMode, Place, c_strides, copy_views};

/// The part of an array on one member of the team: the cells it owns inside the box of cells it stores.
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
    /// The member of the team that holds it.
    member: usize,
    owned: Region,
    stored: Region,
    buffer: Option<Buffer>,
    /// The view of the stored cells in the memory: that may hold wider halos, or be that of a larger array.
    view: View,
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
    /// The parts of the array that this rank holds, halos current. Computes if necessary. Collective; but
    /// once a rank has failed, those of a computed array, without halos: what is left can be saved. CUDA
    /// devices may still be working: whoever reads their memory orders his stream behind theirs
    /// ([`Device::publish_to`]).
    ///
    /// # Errors
    /// Inside a `Loop`'s step; those of [`Array::eval`].
    #[doc = example!("let parts = u.parts()?;" "assert_eq!((parts.len(), parts[1].index()), (2, 1));")]
    pub fn parts(&self) -> Result<Vec<Part>> {
        if Recorder::current().is_recording() {
            return Err(Error::invalid(
                "the parts of an array",
                "a step that only computes, because a replay cannot repeat handing memory on",
                "parts inside a Loop's step",
                "take the parts of the state between runs of the Loop",
            ));
        }
        if self.rank() == 0 {
            let line = self.unsqueeze(&[0]).parts()?;
            let holders = line.into_iter().filter(|part| !part.owned.is_empty());
            return holders.map(|part| part.without_leading(1)).collect();
        }
        if let Some(parts) = self.parts_of_base()? {
            return Ok(parts);
        }
        // After the failure of a rank nothing is computed, nor halos exchanged.
        let is_whole = self.team().wire().is_none_or(|ranks| ranks.failure().is_none());
        if is_whole || self.node.storage().is_none() {
            self.eval()?;
        }
        let Some(storage) = self.node.storage() else { unreachable!("eval computes or fails") };
        let _guard = self.team().evaluation()?;
        if is_whole {
            self.team().together("the parts of an array", || self.fill_halos(&storage))?;
        }
        let dist = &storage.declared;
        let part = |(index, buffer): (usize, &Option<Buffer>)| {
            let stored = if is_whole { dist.stored(index) } else { dist.owned(index) };
            let place = storage.place(self.team(), index);
            Part {
                array: self.clone(),
                dist: Arc::clone(dist),
                index,
                member: index,
                owned: dist.owned(index),
                stored,
                buffer: buffer.clone(),
                view: place.map_or_else(|| contiguous(&stored), |place| place.view(stored.start())),
            }
        };
        let here = storage.parts.iter().enumerate().filter(|(index, _)| self.team().is_here(*index));
        Ok(here.map(part).collect())
    }

    /// The parts of a view that is not computed, in the memory of the computed array that it is a view of: if
    /// every element is on its part, and none comes before another in memory that comes after it in the view.
    fn parts_of_base(&self) -> Result<Option<Vec<Part>>> {
        let Some((base, map)) = self.node.seen() else { return Ok(None) };
        let (map, Some(storage), dist) = (map.in_memory(), base.storage(), self.node.distribution()?) else {
            return Ok(None);
        };
        if storage.declared == dist && map == Map::identity(dist.rank()) {
            // All of it, and so its halo too.
            return Array::of(base).parts().map(Some);
        }
        if (0..dist.parts()).any(|part| dist.stored(part) != dist.owned(part)) {
            return Ok(None);
        }
        let Some(footprint) = Footprint::of(&[map], &storage.dist, &dist, &ComputeRegion::owned(&dist))?
        else {
            return Ok(None);
        };
        let mut steps = Index::zeros(dist.rank());
        for along in map.axes() {
            if let Along::Dim { dim, step, .. } = *along {
                steps[dim] = if steps[dim] < 0 { -1 } else { step };
            }
        }
        let ascending = (0..dist.rank()).all(|d| steps[d] > 0 || (steps[d] == 0 && dist.shape()[d] == 1));
        if !ascending || !footprint.halo.as_ref().is_some_and(HaloWidths::is_zero) {
            return Ok(None);
        }
        let part = |index: usize| {
            let owned = dist.owned(index);
            let place = storage.place(self.team(), index).filter(|_| !owned.is_empty());
            Part {
                // Whose memory it is.
                array: Array::of(Arc::clone(&base)),
                dist: Arc::clone(&dist),
                index,
                member: index,
                owned,
                stored: owned,
                buffer: storage.parts[index].clone().filter(|_| !owned.is_empty()),
                view: place.map_or_else(
                    || contiguous(&owned),
                    |place| seen_through(&map, &place.view(&footprint.anchors[index]), owned.rank()),
                ),
            }
        };
        Ok(Some((0..dist.parts()).filter(|&index| self.team().is_here(index)).map(part).collect()))
    }

    /// Makes all halos current, those beyond the declared ones too, so that nothing writes to the memory
    /// later.
    fn fill_halos(&self, storage: &Storage) -> Result<()> {
        let (lo, hi) = storage.dist.halo();
        update_halo(
            storage,
            &Recorder::current(),
            self.team(),
            self.dtype(),
            HaloWidths { lo, hi, corners: true },
        )
    }

    /// Whether both handles point to one value.
    #[doc = example!("assert!(u.is_same(&u.clone()) && !u.is_same(&(&u + 0)));")]
    pub fn is_same(&self, other: &Array) -> bool {
        Arc::ptr_eq(&self.node, &other.node)
    }

    /// Whether both were recorded by the same operations of the same values, so that they have equal
    /// elements; false also of expressions that are too long to be compared.
    #[doc = example!(
        "let (a, b, c) = (&u * 2, &u * 2, &u * 3);"
        "assert!(a.is_recorded_as(&b) && !a.is_recorded_as(&c));"
    )]
    pub fn is_recorded_as(&self, other: &Array) -> bool {
        self.node.is_recorded_as(&other.node, &mut 64)
    }

    /// Whether anything else points to this value: a clone, a part, or an expression that is not computed.
    #[doc = example!("assert!(!u.is_shared());" "let copy = u.clone();" "assert!(copy.is_shared());")]
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.node) > 1
    }
}

impl Part {
    /// Whether its cells are in this memory; those of a part without cells are.
    pub(crate) fn is_in(&self, storage: &Storage) -> bool {
        let same = |held: &Buffer| {
            let memory = storage.parts.get(self.member).and_then(Option::as_ref);
            memory.is_some_and(|memory| Arc::ptr_eq(memory.allocation(), held.allocation()))
        };
        self.buffer.as_ref().is_none_or(same)
    }

    /// A box of an array's cells that is in other memory of a member, alone.
    pub(crate) fn of_box(
        array: &Array,
        member: usize,
        cells: &Region,
        place: &Place,
        buffer: &Buffer,
    ) -> Result<Part> {
        let dist = Arc::new(Distribution::builder(&cells.extents()).build()?);
        let (array, owned, stored, view) = (array.clone(), *cells, *cells, place.view(cells.start()));
        Ok(Part { array, dist, index: member, member, owned, stored, buffer: Some(buffer.clone()), view })
    }

    /// Its number among the parts of its distribution.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The distribution it is a part of.
    pub fn distribution(&self) -> &Arc<Distribution> {
        &self.dist
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.array.dtype()
    }

    /// The device that holds it.
    pub fn device(&self) -> &Device {
        self.array.team().device(self.member)
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
        Index::from_fn(self.stored.rank(), |d| self.view.strides[d])
    }

    /// The address of the first of the cells in this process's memory; `None` if it is elsewhere, or nowhere.
    /// The cells may be read, and not written, as long as the part lives. Waits if the device and this
    /// process share memory ([`Device::is_addressable`]).
    ///
    /// # Errors
    /// The device's.
    pub fn address(&self, cells: Cells) -> Result<Option<NonNull<u8>>> {
        let (Some(offset), Some(buffer)) = (self.offset(cells), &self.buffer) else { return Ok(None) };
        let address = buffer.allocation().host_address(offset as usize);
        if address.is_some() {
            self.device().show(buffer.allocation())?;
        }
        Ok(address)
    }

    /// The address of the first of the cells in the memory of a CUDA device, as [`Part::address`].
    pub fn cuda_address(&self, cells: Cells) -> Option<u64> {
        self.buffer.as_ref()?.allocation().cuda_address(self.offset(cells)?)
    }

    /// The first of the cells, in bytes from the start of the memory; `None` if there are none.
    fn offset(&self, cells: Cells) -> Option<u64> {
        let region = self.region(cells);
        let size = self.dtype().size_bytes() as u64;
        (!region.is_empty()).then(|| self.first_of(&region) as u64 * size)
    }

    /// The offset in the memory of the first cell of a box, in elements.
    fn first_of(&self, region: &Region) -> i64 {
        let apart = |d: usize| (region.start()[d] - self.stored.start()[d]) * self.view.strides[d];
        self.view.offset + (0..region.rank()).map(apart).sum::<i64>()
    }

    /// The view of a box of its cells in the memory.
    fn view_of(&self, region: &Region) -> View {
        View { offset: self.first_of(region), strides: self.view.strides.clone() }
    }

    /// The same part with less of its halo: of the stored cells those in `region`, which contains all that it
    /// owns.
    ///
    /// # Errors
    /// A region that leaves out owned cells or reaches beyond the stored ones.
    pub fn narrowed(&self, region: &Region) -> Result<Part> {
        let same_rank = region.rank() == self.stored.rank();
        if !same_rank || !region.contains_region(&self.owned) || !self.stored.contains_region(region) {
            let expected = format!("a region inside {} around {}", self.stored, self.owned);
            let remedy = "leave out cells of the halo only";
            return Err(Error::invalid("Part::narrowed", expected, region.to_string(), remedy));
        }
        Ok(Part { stored: *region, view: self.view_of(region), ..self.clone() })
    }

    /// The part without its first `count` dimensions, along which it has one cell and no halo: the only part
    /// of an array of the rest.
    ///
    /// # Panics
    /// With fewer dimensions.
    pub fn without_leading(&self, count: usize) -> Result<Part> {
        let region = Region::from_shape(&self.owned.extents()[count..])?;
        let dist = Arc::new(Distribution::builder(&region.extents()).build()?);
        let view = View { strides: self.view.strides[count..].to_vec(), ..self.view_of(&self.owned) };
        Ok(Part { dist, index: 0, owned: region, stored: region, view, ..self.clone() })
    }

    /// A copy of the cells in memory of its own on the same device, as a part that stores nothing else.
    ///
    /// # Errors
    /// Memory; the device's.
    pub fn copied(&self, cells: Cells) -> Result<Part> {
        let region = self.region(cells);
        let view = contiguous(&region);
        let copy = |buffer| Part { owned: region, stored: region, buffer, view, ..self.clone() };
        let Some(from) = self.place().filter(|_| !region.is_empty()) else { return Ok(copy(None)) };
        let _guard = self.array.team().evaluation()?;
        let buffer = from.device.alloc(bytes_of(&region, self.dtype())?)?;
        let (device, allocation) = (from.device.clone(), Arc::clone(buffer.allocation()));
        let to = Place { device, allocation, stored: region };
        let ends = ((self.view_of(&region), &from), (to.view(region.start()), &to));
        Recorder::current().execute(vec![copy_views(
            &region.extents(),
            ends,
            CopyMode { dtype: self.dtype(), add: false },
        )?])?;
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
        if expected == 0 {
            return Ok(());
        }
        let is_packed = self.view.strides == contiguous(&region).strides;
        let packed = if is_packed { self.clone() } else { self.copied(cells)? };
        if let (Some(place), Some(offset)) = (packed.place(), packed.offset(cells)) {
            let _guard = self.array.team().evaluation()?;
            place.device.download(&place.allocation, offset, out)?;
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

/// The view of memory that holds these cells and no others.
fn contiguous(region: &Region) -> View {
    View { offset: 0, strides: c_strides(region).to_vec() }
}

/// The view of a launch that goes through memory as a map says, from the map's first cell on.
fn seen_through(map: &Map, memory: &View, rank: usize) -> View {
    let mut view = View { offset: memory.offset, strides: vec![0; rank] };
    for (along, stride) in map.axes().iter().zip(&memory.strides) {
        if let Along::Dim { dim, step, .. } = *along {
            view.strides[dim] += step * stride;
        }
    }
    // Dimensions of extent 1 that nothing says how far to go along.
    view.strides.iter_mut().filter(|stride| **stride == 0).for_each(|stride| *stride = 1);
    view
}
