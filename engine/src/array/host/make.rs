//! Creates arrays from host slices, from functions of the index, and from one block per part of this rank
//! (files, other libraries), copied or used in place. Each rank fills its own parts, piece by piece, on all
//! threads.

use std::borrow::Cow;
use std::hash::Hasher;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use bytemuck::Pod;
use partita_kernels::DType;
use rustc_hash::FxHasher;

use crate::array::Array;
use crate::array::host::read::Element;
use crate::array::memory::storage::{Pitch, Storage};
use crate::array::record::node::{Node, check_parts};
use crate::array::recorder::recording::check_not_recording;
use crate::array::run::cells::upload;
use crate::config::config;
use crate::device::{Buffer, zeros};
use crate::error::{Error, Result};
use crate::index::{DimMap, Distribution, Index, IndexSet, Region};
use crate::program::{c_strides, contiguous_in};
use crate::team::Team;

/// The bytes of a part that are made on the host before they go to its device.
const PIECE_BYTES: usize = 64 << 20;
/// The least number of cells that a thread makes at a time.
const THREAD_CELLS: usize = 1 << 13;

impl Array {
    /// An array with these elements, in C order of the global shape. Every rank passes them all, and takes
    /// what its parts hold. Ranks that pass others are found by the next operation that sends messages: it
    /// compares a hash of up to 16 KiB, of larger arrays of 256 samples of 64 bytes. Collective.
    ///
    /// # Errors
    /// A length that is not the shape's volume; memory; a distribution that is not the team's.
    #[doc = example!("assert_eq!(u.get(&[1, 0])?, 3.0.into());")]
    pub fn from_slice<T: Element>(team: &Team, dist: &Distribution, data: &[T]) -> Result<Array> {
        Array::from_bytes(team, dist, T::DTYPE, bytemuck::cast_slice(data))
    }

    /// As [`Array::from_slice`], from bool.
    ///
    /// # Errors
    /// As [`Array::from_slice`].
    #[doc = example!(
        "let mask = Array::from_bools(&team, &dist, &[true, false, false, true, false, false])?;"
        "assert_eq!(mask.slice(&s![.., 0]).to_bools()?, [true, true]);"
    )]
    pub fn from_bools(team: &Team, dist: &Distribution, data: &[bool]) -> Result<Array> {
        Array::from_bytes(team, dist, DType::Bool, bytemuck::cast_slice(data))
    }

    /// An array whose element at each global index is `f(index)`. Each rank calls `f` for the cells that its
    /// parts hold, on all threads, in no particular order, and never holds more of the array on the host than
    /// a piece of one part. Collective.
    ///
    /// ```
    /// use partita::prelude::*;
    ///
    /// let team = Team::local(2)?;
    /// let dist = Distribution::builder(&[3, 4]).parts(2).build()?;
    /// let table = Array::from_fn(&team, &dist, |at| (10 * at[0] + at[1]) as i32)?;
    /// assert_eq!(table.slice(&s![2.., ..]).to_vec::<i32>()?, [20, 21, 22, 23]);
    /// # Ok::<(), partita::Error>(())
    /// ```
    ///
    /// # Errors
    /// Memory; a distribution that is not the team's.
    #[doc = example!(
        "let v = Array::from_fn(&team, &dist, |at| (10 * at[0] + at[1]) as i32)?;"
        "assert_eq!(v.to_vec::<i32>()?, [0, 1, 2, 10, 11, 12]);"
    )]
    pub fn from_fn<T: Element>(
        team: &Team,
        dist: &Distribution,
        f: impl Fn(&[i64]) -> T + Sync,
    ) -> Result<Array> {
        let fill = |share: &PartFill, range: Range<usize>, out: &mut [T]| {
            share.rows(range, |index, cells, place| {
                let last = index.rank() - 1;
                for (cell, out) in cells.zip(&mut out[place]) {
                    index[last] = share.coordinate(last, cell);
                    *out = f(&index[..dist.rank()]);
                }
            });
        };
        loaded("Array::from_fn", team, dist, T::DTYPE, 1, &|_| None, &fill)
    }

    /// As [`Array::from_slice`], from the memory form of any dtype. Of bools, every byte but 0 is true.
    ///
    /// # Errors
    /// As [`Array::from_slice`].
    #[doc = example!(
        "let v = Array::from_bytes(&team, &dist, DType::U8, &[7; 6])?;"
        "assert_eq!(v.to_vec::<u8>()?, [7; 6]);"
    )]
    pub fn from_bytes(team: &Team, dist: &Distribution, dtype: DType, data: &[u8]) -> Result<Array> {
        let (size, volume) = (dtype.size_bytes(), dist.global().volume()?);
        if Some(data.len()) != (volume as usize).checked_mul(size) {
            return Err(Error::invalid(
                "Array::from_slice",
                format!("{volume} elements for shape {}", dist.shape()),
                (data.len() / size).to_string(),
                "pass the whole array in C order",
            ));
        }
        let data = &*normalized(dtype, data)?;
        let (global, strides) = (dist.global(), c_strides(&dist.global()));
        // Cells that are contiguous on both sides go to the device without a copy on the host.
        let whole = |part: usize| {
            let owned = dist.owned(part);
            let first = contiguous_in(&global, &owned).filter(|_| dist.is_block())? as usize * size;
            Some(&data[first..][..owned.volume().ok()? as usize * size])
        };
        let number =
            |index: &Index| (0..dist.rank()).map(|d| index[d] * strides[d]).sum::<i64>() as usize * size;
        let fill = |share: &PartFill, range: Range<usize>, out: &mut [u8]| {
            share.rows(range, |index, cells, place| {
                let out = &mut out[place.start * size..place.end * size];
                let last = index.rank() - 1;
                if share.goes_on {
                    out.copy_from_slice(&data[number(index)..][..out.len()]);
                    return;
                }
                for (cell, out) in cells.zip(out.chunks_exact_mut(size)) {
                    index[last] = share.coordinate(last, cell);
                    out.copy_from_slice(&data[number(index)..][..size]);
                }
            });
        };
        if let Some(ranks) = team.wire() {
            ranks.record_elements(elements_hash(data));
        }
        loaded("Array::from_slice", team, dist, dtype, size, &whole, &fill)
    }
}

/// Fills the elements of a part within a range of its memory, counted in elements. The memory given is zero
/// where the part holds nothing of its own.
type Fill<'a, T> = &'a (dyn Fn(&PartFill, Range<usize>, &mut [T]) + Sync);

/// An array of which each element is `units` values: of some parts `whole` has them all in C order, those of
/// others `fill` makes.
fn loaded<'a, T: Pod + Send>(
    operation: &'static str,
    team: &Team,
    dist: &Distribution,
    dtype: DType,
    units: usize,
    whole: &dyn Fn(usize) -> Option<&'a [u8]>,
    fill: Fill<T>,
) -> Result<Array> {
    check_parts(operation, team, dist)?;
    check_not_recording(
        "making an array from elements",
        "an array made inside a Loop's step",
        "make the array before the Loop and use it in the step",
    )?;
    let storage = team.together("making an array from elements", || {
        let storage = Storage::new(team, Arc::new(dist.clone()), dtype)?;
        let dist = &storage.dist;
        let mut memory: Vec<T> = Vec::new();
        for part in 0..dist.parts() {
            let Some(place) = storage.place(team, part) else { continue };
            if let Some(bytes) = whole(part) {
                upload(&place, &dist.owned(part), dtype, bytes)?;
                continue;
            }
            let share = PartFill::new(dist, part, place.stored)?;
            let (cells, most) = (place.stored.volume()? as usize, PIECE_BYTES / dtype.size_bytes());
            if memory.len() < cells.min(most) * units {
                memory = zeros(cells.min(most) * units, std::slice::from_ref(&place.device))?;
            }
            for start in (0..cells).step_by(most) {
                let stop = cells.min(start + most);
                let piece = &mut memory[..(stop - start) * units];
                share.make(start..stop, piece, units, fill);
                let offset = (start * dtype.size_bytes()) as u64;
                place.device.upload(&place.allocation, offset, bytemuck::cast_slice(piece))?;
            }
        }
        Ok(storage)
    })?;
    Ok(Array::of(Node::ready(dtype, team, storage)))
}

/// The cells that a part owns, and their place in its memory.
struct PartFill {
    /// The cells that the memory holds, in packed coordinates.
    stored: Region,
    /// The part of it that is made.
    owned: Region,
    /// The global coordinates along each dimension.
    sets: Vec<IndexSet>,
    /// Whether those of the last dimension are neighbours.
    goes_on: bool,
}

impl PartFill {
    fn new(dist: &Distribution, part: usize, stored: Region) -> Result<PartFill> {
        let last = dist.rank().checked_sub(1).map(|d| dist.map(d));
        let goes_on = last.is_none_or(|map| matches!(map, DimMap::Block { .. } | DimMap::Replicated { .. }));
        Ok(PartFill { stored, owned: dist.owned(part), sets: dist.owned_set(part)?, goes_on })
    }

    /// The global coordinate of a cell, counted from the part's first one.
    fn coordinate(&self, d: usize, cell: i64) -> i64 {
        self.sets[d].nth(cell).unwrap_or_default()
    }

    /// Fills a range of the memory on all threads.
    fn make<T: Pod + Send>(&self, range: Range<usize>, piece: &mut [T], units: usize, fill: Fill<T>) {
        let (cells, threads) = (range.len(), config().threads.max(1));
        let each = cells.div_ceil(4 * threads).max(THREAD_CELLS);
        let zero = self.stored != self.owned;
        let work = |(n, out): (usize, &mut [T])| {
            if zero {
                out.fill(T::zeroed());
            }
            let start = range.start + n * each;
            fill(self, start..start + out.len() / units, out);
        };
        on_threads(threads.min(cells.div_ceil(each)), piece.chunks_mut(each * units).enumerate(), &work);
    }

    /// Calls `row` for every row of the part's own cells within a range of its memory: with the global index
    /// of its first cell, the numbers of its cells along the last dimension, and their places in the range.
    fn rows(&self, range: Range<usize>, mut row: impl FnMut(&mut Index, Range<i64>, Range<usize>)) {
        let last = self.stored.rank() - 1;
        let (start, stop) = (range.start as i64, range.end as i64);
        let width = self.stored.extent(last).max(1);
        // The offset of a part's own cells in its memory.
        let inside = |d: usize| self.owned.start()[d] - self.stored.start()[d];
        let (mut index, own) = (Index::zeros(last + 1), inside(last)..inside(last) + self.owned.extent(last));
        for number in start / width..(stop + width - 1) / width {
            let first = number * width;
            let (low, high) = ((start - first).max(own.start), (stop - first).min(own.end));
            let (mut rest, mut is_own) = (number, low < high);
            for d in (0..last).rev() {
                let at = rest % self.stored.extent(d) - inside(d);
                rest /= self.stored.extent(d);
                is_own = is_own && (0..self.owned.extent(d)).contains(&at);
                index[d] = if is_own { self.coordinate(d, at) } else { 0 };
            }
            if is_own {
                index[last] = self.coordinate(last, low - own.start);
                let place = (first + low - start) as usize..(first + high - start) as usize;
                row(&mut index, low - own.start..high - own.start, place);
            }
        }
    }
}

/// Works on the pieces, one after the other, on so many threads. This thread is one of them, and gets the
/// panic of any other.
fn on_threads<T: Send>(threads: usize, pieces: impl Iterator<Item = T> + Send, work: &(impl Fn(T) + Sync)) {
    let queue = Mutex::new(pieces);
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let serve = || {
        while let Some(piece) = next() {
            work(piece);
        }
    };
    thread::scope(|scope| {
        // If the system has no more threads, fewer do the work.
        let start = |_| thread::Builder::new().spawn_scoped(scope, serve).ok();
        let workers: Vec<_> = (1..threads).map_while(start).collect();
        serve();
        workers.into_iter().for_each(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
    });
}

impl Array {
    /// An array whose parts own the elements of `pieces`: their memory form, in C order of the box that a
    /// part owns. Each rank passes the pieces of its members, in order. Of elements that several parts hold,
    /// every part is given its copy. Of bools, every byte but 0 is true. Not collective.
    ///
    /// # Errors
    /// Another number of pieces than parts here, or of bytes in one; inside a `Loop`'s step; memory.
    #[doc = example!(
        "let pieces = [vec![0u8, 3], vec![1, 2, 4, 5]]; // Part 0 owns column 0."
        "let v = Array::from_pieces(&team, &dist, DType::U8, &pieces)?;"
        "assert_eq!(v.to_vec::<u8>()?, [0, 1, 2, 3, 4, 5]);"
    )]
    pub fn from_pieces<P: AsRef<[u8]>>(
        team: &Team,
        dist: &Distribution,
        dtype: DType,
        pieces: &[P],
    ) -> Result<Array> {
        check_parts("Array::from_pieces", team, dist)?;
        check_not_recording(
            "making an array from elements",
            "an array made inside a Loop's step",
            "make the array before the Loop and use it in the step",
        )?;
        let refuse = |expected: String, given: String| {
            Error::invalid("Array::from_pieces", expected, given, "pass what each part owns, in C order")
        };
        let here = parts_here(team, dist);
        if pieces.len() != here.len() {
            return Err(refuse(format!("{} pieces", here.len()), pieces.len().to_string()));
        }
        let storage = Storage::new(team, Arc::new(dist.clone()), dtype)?;
        let (dist, _guard) = (&storage.dist, team.evaluation()?);
        for (part, piece) in here.into_iter().zip(pieces) {
            let (owned, piece) = (dist.owned(part), &*normalized(dtype, piece.as_ref())?);
            let bytes = owned.volume()? as usize * dtype.size_bytes();
            if piece.len() != bytes {
                return Err(refuse(format!("{bytes} bytes for part {part}"), piece.len().to_string()));
            }
            let Some(place) = storage.place(team, part).filter(|_| bytes > 0) else { continue };
            upload(&place, &owned, dtype, piece)?;
        }
        Ok(Array::of(Node::ready(dtype, team, storage)))
    }

    /// An array whose parts are the memory of `pieces`, used where it is: C order of the box that a part
    /// owns. Each rank passes the pieces of its members, in order; one without cells may be `None`. Of memory
    /// that was borrowed nothing is ever written; assignments go to other memory. Bools are bytes of 0 and 1:
    /// the host's memory is checked, a device's is trusted.
    ///
    /// # Errors
    /// Another number of pieces than parts here; one on another device, with too few bytes, at an address
    /// that the element type does not allow, or of which clones are kept although it was not borrowed; a
    /// distribution with halos; bools of other bytes; the device's.
    pub fn from_buffers(
        team: &Team,
        dist: &Distribution,
        dtype: DType,
        pieces: Vec<Option<Buffer>>,
    ) -> Result<Array> {
        check_parts("Array::from_buffers", team, dist)?;
        let refuse = |expected: String, given: String| {
            Error::invalid("Array::from_buffers", expected, given, "copy the memory instead")
        };
        let here = parts_here(team, dist);
        if pieces.len() != here.len() {
            return Err(refuse(format!("{} pieces", here.len()), pieces.len().to_string()));
        }
        let mut parts = vec![None; dist.parts()];
        for (part, piece) in here.into_iter().zip(pieces) {
            let (owned, device, size) = (dist.owned(part), team.device(part), dtype.size_bytes() as u64);
            let bytes = owned.volume()? as u64 * size;
            if dist.stored(part) != owned {
                return Err(refuse("parts without halo".to_owned(), format!("a halo around part {part}")));
            }
            let fits = |piece: &Buffer| {
                let memory = piece.allocation();
                piece.device() == device && memory.bytes >= bytes && memory.is_aligned(size)
            };
            let piece = piece.filter(|_| bytes > 0);
            // Else an assignment to this array would change what others find in the memory.
            if piece.as_ref().is_some_and(|piece| piece.is_shared() && !piece.allocation().is_borrowed()) {
                let expected = format!("memory that nobody else leases for part {part}");
                return Err(refuse(expected, "a clone of a buffer that is still in use".to_owned()));
            }
            if bytes > 0 && !piece.as_ref().is_some_and(fits) {
                let expected =
                    format!("{bytes} bytes aligned to {size} on {} for part {part}", device.name());
                let given = piece.map_or("none".to_owned(), |piece| format!("{:?}", piece.allocation()));
                return Err(refuse(expected, given));
            }
            if let Some(piece) = piece.as_ref().filter(|_| dtype == DType::Bool && device.is_addressable()) {
                let mut some = [0; BOOLS];
                for first in (0..bytes).step_by(BOOLS) {
                    let some = &mut some[..BOOLS.min((bytes - first) as usize)];
                    device.download(piece.allocation(), first, some)?;
                    if !are_bools(some) {
                        let given = format!("other bytes in part {part}");
                        return Err(refuse("bools of 0 and 1".to_owned(), given));
                    }
                }
            }
            parts[part] = piece;
        }
        let storage = Storage::from_parts(Arc::new(dist.clone()), parts, Pitch::Packed);
        Ok(Array::of(Node::ready(dtype, team, storage)))
    }
}

/// The samples of larger arrays that ranks compare: their number, and the bytes of each.
const SAMPLES: usize = 1 << 8;
const SAMPLE_BYTES: usize = 64;

/// A hash of elements: of all, or of samples at equal distances, the first and the last included, so that it
/// takes little time beside a copy, of which each rank makes only its parts'.
fn elements_hash(data: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_usize(data.len());
    match data.len().checked_sub(SAMPLES * SAMPLE_BYTES) {
        None | Some(0) => hasher.write(data),
        Some(_) => (0..SAMPLES).for_each(|n| {
            let first = (data.len() - SAMPLE_BYTES) as u128 * n as u128 / (SAMPLES - 1) as u128;
            hasher.write(&data[first as usize..][..SAMPLE_BYTES]);
        }),
    }
    hasher.finish()
}

/// So many bytes are checked at a time: they stay in L1.
const BOOLS: usize = 1 << 14;

/// Whether kernels may use these bytes as bools. One pass at the speed of memory.
fn are_bools(data: &[u8]) -> bool {
    data.iter().fold(0, |all, byte| all | byte) <= 1
}

/// Elements in their memory form: of bools, other bytes than 0 and 1 become 1, in a copy.
fn normalized(dtype: DType, data: &[u8]) -> Result<Cow<'_, [u8]>> {
    if dtype != DType::Bool || data.chunks(BOOLS).all(are_bools) {
        return Ok(Cow::Borrowed(data));
    }
    let mut bytes: Vec<u8> = zeros(data.len(), &[])?;
    bytes.iter_mut().zip(data).for_each(|(byte, given)| *byte = u8::from(*given != 0));
    Ok(Cow::Owned(bytes))
}

/// The parts whose memory this rank has.
fn parts_here(team: &Team, dist: &Distribution) -> Vec<usize> {
    (0..dist.parts()).filter(|&part| team.is_here(part)).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_length_make_up_what_a_part_holds() {
        let builder = || Distribution::builder(&[5, 7]);
        let cyclic = DimMap::cyclic(7, 2, 2).unwrap();
        let all = [
            builder().grid(&[2, 1]).build().unwrap(),
            builder().grid(&[1, 2]).halo(&[1, 1], &[0, 2]).periodic(&[false, true]).build().unwrap(),
            builder().grid(&[1, 2]).map(1, cyclic).build().unwrap(),
            builder().grid(&[2, 1]).replicated(0).build().unwrap(),
        ];
        for (dist, part) in all.iter().flat_map(|dist| [0, 1].map(|part| (dist, part))) {
            let stored = dist.stored(part);
            let share = PartFill::new(dist, part, stored).unwrap();
            let made = |most: usize| {
                let mut values = vec![-1; stored.volume().unwrap() as usize];
                for (n, out) in values.chunks_mut(most).enumerate() {
                    let start = n * most;
                    share.rows(start..start + out.len(), |index, cells, place| {
                        assert_eq!(index[1], share.coordinate(1, cells.start));
                        for (cell, out) in cells.zip(&mut out[place]) {
                            *out = 10 * index[0] + share.coordinate(1, cell);
                        }
                    });
                }
                values
            };
            let sets = dist.owned_set(part).unwrap();
            let value = |point: Index| {
                let at = |d: usize| sets[d].nth(point[d] - dist.owned(part).start()[d]);
                if dist.owned(part).contains(&point) { 10 * at(0).unwrap() + at(1).unwrap() } else { -1 }
            };
            let expected: Vec<i64> = stored.points().map(value).collect();
            for most in 1..=expected.len() {
                assert_eq!(made(most), expected, "part {part} of {dist:?} in pieces of {most}");
            }
        }
    }
}
