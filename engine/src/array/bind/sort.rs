//! Binds sorts. Each part sorts its pieces of the lines on the host. Pieces of equal length are then merged
//! by Batcher's odd-even merge network: in a round, pairs of parts exchange their pieces, one keeps the
//! smaller half, the other the larger. Last pieces may be shorter: what they lack counts as larger than
//! everything.
//!
//! Invariant: which part exchanges with which depends on the distribution alone, so all ranks agree.

use std::mem::take;
use std::ops::{BitAnd, BitOr, BitXor, Not};
use std::sync::Arc;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use partita_kernels::{DType, View};

use crate::array::bind::schedule::{ScheduleBuilder, missing_part};
use crate::array::loops::recorder::Recorder;
use crate::array::memory::cells::download;
use crate::array::memory::plans::moved;
use crate::array::memory::storage::Storage;
use crate::array::record::expr::AxisSort;
use crate::device::zeros;
use crate::error::{Error, Result};
use crate::index::{DimMap, Distribution, Region};
use crate::program::{Place, c_strides};
use crate::team::Team;

/// The elements of a computed array in order along an axis, or their positions, on its distribution `dist`.
pub(crate) fn sort_lines(
    (team, recorder): (&Team, &Recorder),
    base: &Storage,
    sort: AxisSort,
    dist: &Arc<Distribution>,
    dtype: DType,
) -> Result<Storage> {
    if recorder.is_recording() {
        let expected = "a step that only computes, because a replay cannot repeat what the host does";
        return Err(Error::invalid("sort", expected, "a sort inside a Loop's step", "sort between runs"));
    }
    let lines = sorted_pieces(dist, sort.axis)?;
    let cut = lines.as_ref().map(|lines| moved(recorder, base, (team, team), lines, dtype)).transpose()?;
    let base = cut.as_ref().unwrap_or(base);
    let pass = SortPass { team, recorder, sort, dtype, dist: lines.as_ref().unwrap_or(dist) };
    let result = match dtype.size_bytes() {
        1 => pass.run::<u8>(base)?,
        2 => pass.run::<u16>(base)?,
        4 => pass.run::<u32>(base)?,
        _ => pass.run::<u64>(base)?,
    };
    let dtype = if sort.positions { DType::I64 } else { dtype };
    if lines.is_some() { moved(recorder, &result, (team, team), dist, dtype) } else { Ok(result) }
}

/// The distribution of a sort along an axis, unless each part has whole lines in order.
pub(crate) fn sorted_pieces(dist: &Arc<Distribution>, axis: usize) -> Result<Option<Arc<Distribution>>> {
    let map = dist.map(axis);
    let (size, parts) = (map.size(), map.parts());
    match map {
        DimMap::Replicated { .. } => return Ok(None),
        DimMap::Block { .. } | DimMap::Cyclic(_) if parts == 1 => return Ok(None),
        DimMap::Block { .. } | DimMap::Cyclic(_) | DimMap::Unstructured(_) | DimMap::Custom(_) => {}
    }
    let piece = (size + parts as i64 - 1) / parts as i64;
    let bounds: Vec<i64> = (0..=parts as i64).map(|part| (part * piece).min(size)).collect();
    Ok(Some(Arc::new(dist.with_map(axis, DimMap::irregular(&bounds)?)?)))
}

/// The rounds of the network: pairs of positions, the one of the smaller half first. D. Knuth, The Art of
/// Computer Programming 3, algorithm 5.2.2M.
fn rounds(count: usize) -> Vec<Vec<(usize, usize)>> {
    let top = count.next_power_of_two() / 2;
    let (mut found, mut p) = (Vec::new(), top);
    while p > 0 {
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            found.push((0..count - d).filter(|i| i & p == r).map(|i| (i, i + d)).collect());
            if q == p {
                break;
            }
            (d, q, r) = (q - p, q / 2, p);
        }
        p /= 2;
    }
    found
}

/// One round of exchanges, by part: what it gets of another part and whether it keeps the smaller half;
/// `None` for a part that keeps what it has.
pub(crate) type Round = Vec<Option<(Region, bool)>>;

/// The rounds of exchanges that merge the parts' pieces of the lines along an axis.
pub(crate) fn exchanges(dist: &Distribution, axis: usize) -> Result<Vec<Round>> {
    let lines = dist.map(axis).parts();
    if matches!(dist.map(axis), DimMap::Replicated { .. }) || lines == 1 {
        return Ok(Vec::new());
    }
    let exchange = |pairs: &Vec<(usize, usize)>| {
        let partner = |part: usize| {
            let mut at = dist.grid().coordinate(part);
            let own = at[axis] as usize;
            let Some(&(low, high)) = pairs.iter().find(|&&(a, b)| a == own || b == own) else {
                return Ok(None);
            };
            at[axis] = (low + high - own) as i64;
            let (own_cells, other) = (dist.owned(part), dist.owned(dist.grid().part(&at)?));
            // Whoever has no elements is the higher one, and stays so.
            let is_idle = own_cells.is_empty() || other.is_empty();
            Ok((!is_idle).then_some((other, low == own)))
        };
        (0..dist.parts()).map(partner).collect::<Result<Vec<_>>>()
    };
    rounds(lines).iter().map(exchange).collect()
}

/// Elements as unsigned numbers of their size.
trait Bits:
    Pod + Ord + Not<Output = Self> + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self>
{
    const MAX: Self;
    fn of(bits: u64) -> Self;
}

macro_rules! bits {
    ($($unsigned:ty),*) => {$(
        impl Bits for $unsigned {
            const MAX: Self = <$unsigned>::MAX;
            fn of(bits: u64) -> Self {
                bits as $unsigned
            }
        }
    )*};
}
bits!(u8, u16, u32, u64);

/// Unsigned keys in the order of the elements.
#[derive(Clone, Copy)]
struct KeyOrder<K> {
    zero: K,
    /// Of signed types.
    sign: K,
    /// Of floats.
    infinity: Option<K>,
    descending: bool,
}

impl<K: Bits> KeyOrder<K> {
    fn of(dtype: DType, descending: bool) -> KeyOrder<K> {
        let infinity = match dtype {
            DType::F16 => Some(0x7c00),
            DType::BF16 => Some(0x7f80),
            DType::F32 => Some(0x7f80_0000),
            DType::F64 => Some(0x7ff0_0000_0000_0000),
            _ => None,
        };
        let is_signed = matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64);
        let sign = if is_signed || infinity.is_some() { 1 << (8 * dtype.size_bytes() - 1) } else { 0 };
        KeyOrder { zero: K::of(0), sign: K::of(sign), infinity: infinity.map(K::of), descending }
    }

    /// Equal for 0.0 and -0.0, and for all NaN, which come last.
    fn key(self, bits: K) -> K {
        let ordered = match self.infinity {
            None => bits ^ self.sign,
            Some(infinity) => match bits & !self.sign {
                magnitude if magnitude > infinity => return K::MAX,
                magnitude if magnitude == self.zero => self.sign,
                _ if bits & self.sign != self.zero => !bits,
                _ => bits | self.sign,
            },
        };
        if self.descending { !ordered } else { ordered }
    }

    /// The element of a key, unless several have it.
    fn bits(self, key: K) -> K {
        let ordered = if self.descending { !key } else { key };
        let is_negative = self.infinity.is_some() && ordered & self.sign == self.zero;
        if is_negative { !ordered } else { ordered ^ self.sign }
    }
}

/// An element of a line, ordered by its key, then by its position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry<K> {
    key: K,
    position: i64,
    bits: K,
}

/// Elements of a part on the host, and where its cells are among them.
struct HostCopy<T> {
    elements: Vec<T>,
    view: View,
}

impl<T: Pod> HostCopy<T> {
    /// Of the shape of the part's memory, padding included, all zero: to be written.
    fn blank(place: &Place, region: &Region) -> Result<HostCopy<T>> {
        let elements = zeros(place.stored.volume()? as usize, std::slice::from_ref(&place.device))?;
        Ok(HostCopy { elements, view: place.view(region.start()) })
    }

    /// The cells alone: nobody has written the padding.
    fn read(place: &Place, region: &Region, dtype: DType) -> Result<HostCopy<T>> {
        let mut elements = zeros(region.volume()? as usize, std::slice::from_ref(&place.device))?;
        download(place, region, dtype, cast_slice_mut(&mut elements))?;
        Ok(HostCopy { elements, view: View { offset: 0, strides: c_strides(region).to_vec() } })
    }

    fn write(&self, place: &Place) -> Result<()> {
        place.device.upload(&place.allocation, 0, cast_slice(&self.elements))
    }

    /// The places of a line's elements, whose first has these coordinates, from that of the region.
    fn line(
        &self,
        first: &[i64],
        (axis, count): (usize, usize),
    ) -> impl Iterator<Item = usize> + Clone + use<T> {
        let start = first.iter().zip(&self.view.strides).map(|(at, stride)| at * stride).sum::<i64>();
        let (start, stride) = (start + self.view.offset, self.view.strides[axis]);
        (0..count as i64).map(move |k| (start + k * stride) as usize)
    }
}

/// The elements and, where they are carried along, their positions.
struct Pieces {
    values: Storage,
    positions: Option<Storage>,
}

struct SortPass<'a> {
    team: &'a Team,
    recorder: &'a Recorder,
    sort: AxisSort,
    dtype: DType,
    dist: &'a Arc<Distribution>,
}

impl SortPass<'_> {
    fn run<K: Bits>(&self, base: &Storage) -> Result<Storage> {
        let rounds = exchanges(self.dist, self.sort.axis)?;
        let order = KeyOrder::<K>::of(self.dtype, self.sort.descending);
        // Elements of one key may differ: floats.
        let has_positions = self.sort.positions || (!rounds.is_empty() && order.infinity.is_some());
        let mut pieces = self.pieces(has_positions)?;
        for part in 0..self.dist.parts() {
            let region = self.dist.owned(part);
            if self.team.is_here(part) && !region.is_empty() {
                let place = base.place(self.team, part).ok_or_else(|| missing_part("sort"))?;
                let values = HostCopy::<K>::read(&place, &region, self.dtype)?;
                self.each_line(part, &pieces, |first, line| {
                    let bits = values.line(first, line).map(|at| values.elements[at]);
                    sorted(order, bits, self.first_position(part), has_positions)
                })?;
            }
        }
        for round in rounds {
            pieces = self.merged(order, &pieces, &round)?;
        }
        match pieces.positions {
            Some(positions) if self.sort.positions => Ok(positions),
            _ => Ok(pieces.values),
        }
    }

    fn pieces(&self, has_positions: bool) -> Result<Pieces> {
        let new = |dtype| Storage::new(self.team, Arc::clone(self.dist), dtype);
        let positions = has_positions.then(|| new(DType::I64)).transpose()?;
        Ok(Pieces { values: new(self.dtype)?, positions })
    }

    /// The position of a part's first elements along the axis.
    fn first_position(&self, part: usize) -> i64 {
        let at = self.dist.grid().coordinate(part)[self.sort.axis];
        match self.dist.map(self.sort.axis) {
            DimMap::Replicated { .. } => 0,
            map => map.owned(at as usize).start,
        }
    }

    /// Writes the lines of a part, given the coordinates of each one's first element from the part's first.
    fn each_line<K: Bits>(
        &self,
        part: usize,
        to: &Pieces,
        line: impl Fn(&[i64], (usize, usize)) -> Vec<Entry<K>>,
    ) -> Result<()> {
        let (axis, region) = (self.sort.axis, self.dist.owned(part));
        let count = region.extent(axis) as usize;
        let place = |storage: &Storage| storage.place(self.team, part).ok_or_else(|| missing_part("sort"));
        let value_place = place(&to.values)?;
        let mut values = HostCopy::<K>::blank(&value_place, &region)?;
        let position_place = to.positions.as_ref().map(place).transpose()?;
        let blank = |place: &Place| HostCopy::<i64>::blank(place, &region);
        let mut positions = position_place.as_ref().map(blank).transpose()?;
        let firsts = Region::from_fn(region.rank(), |d| (0, if d == axis { 1 } else { region.extent(d) }));
        for first in firsts.points() {
            let entries = line(&first, (axis, count));
            for (at, entry) in values.line(&first, (axis, count)).zip(&entries) {
                values.elements[at] = entry.bits;
            }
            if let Some(positions) = &mut positions {
                for (at, entry) in positions.line(&first, (axis, count)).zip(&entries) {
                    positions.elements[at] = entry.position;
                }
            }
        }
        values.write(&value_place)?;
        match (positions, position_place) {
            (Some(positions), Some(place)) => positions.write(&place),
            _ => Ok(()),
        }
    }

    /// One round of the network. Into new memory: other ranks may still be reading the old.
    fn merged<K: Bits>(
        &self,
        order: KeyOrder<K>,
        pieces: &Pieces,
        round: &[Option<(Region, bool)>],
    ) -> Result<Pieces> {
        let nothing = Region::from_fn(self.dist.rank(), |_| (0, 0));
        let needs: Vec<Region> =
            round.iter().map(|other| other.as_ref().map_or(nothing, |(region, _)| *region)).collect();
        let mut work = ScheduleBuilder::new(self.team, self.recorder);
        let values = work.fetch(self.dtype, &pieces.values, &needs)?;
        let positions = match &pieces.positions {
            Some(positions) => work.fetch(DType::I64, positions, &needs)?,
            None => vec![None; needs.len()],
        };
        work.join_exchange()?;
        let _fetched = take(&mut work.leases);
        work.finish()?;
        let mut result = self.pieces(pieces.positions.is_some())?;
        for (part, other) in round.iter().enumerate().filter(|(part, _)| self.team.is_here(*part)) {
            let (Some((theirs, is_low)), Some(other_values)) = (other, &values[part]) else {
                result.values.parts[part] = pieces.values.parts[part].clone();
                if let (Some(to), Some(from)) = (&mut result.positions, &pieces.positions) {
                    to.parts[part] = from.parts[part].clone();
                }
                continue;
            };
            let own = self.dist.owned(part);
            let place = |storage: &Storage| storage.place(self.team, part);
            let (Some(own_values), own_positions) =
                (place(&pieces.values), pieces.positions.as_ref().and_then(place))
            else {
                return Err(missing_part("sort"));
            };
            let dtype = self.dtype;
            let own_piece = Piece::<K>::read((&own_values, dtype), own_positions.as_ref(), &own)?;
            let other_piece = Piece::<K>::read((other_values, dtype), positions[part].as_ref(), theirs)?;
            let length = theirs.extent(self.sort.axis) as usize;
            self.each_line(part, &result, |first, line| {
                let (own, other) =
                    (own_piece.line(order, first, line), other_piece.line(order, first, (line.0, length)));
                half(&own, &other, *is_low)
            })?;
        }
        Ok(result)
    }
}

/// A sorted piece of lines.
struct Piece<K> {
    values: HostCopy<K>,
    positions: Option<HostCopy<i64>>,
}

impl<K: Bits> Piece<K> {
    fn read(
        (values, dtype): (&Place, DType),
        positions: Option<&Place>,
        region: &Region,
    ) -> Result<Piece<K>> {
        let positions = positions.map(|place| HostCopy::read(place, region, DType::I64)).transpose()?;
        Ok(Piece { values: HostCopy::read(values, region, dtype)?, positions })
    }

    fn line(&self, order: KeyOrder<K>, first: &[i64], line: (usize, usize)) -> Vec<Entry<K>> {
        let values = self.values.line(first, line).map(|at| self.values.elements[at]);
        let entry = |bits: K| Entry { key: order.key(bits), position: 0, bits };
        let mut entries: Vec<Entry<K>> = values.map(entry).collect();
        if let Some(positions) = &self.positions {
            for (entry, at) in entries.iter_mut().zip(positions.line(first, line)) {
                entry.position = positions.elements[at];
            }
        }
        entries
    }
}

/// The smaller or the larger of the elements of two sorted lines, as many as the first has.
fn half<K: Bits>(own: &[Entry<K>], other: &[Entry<K>], is_low: bool) -> Vec<Entry<K>> {
    let skipped = if is_low { 0 } else { other.len() };
    let (mut a, mut b) = (own.iter().peekable(), other.iter().peekable());
    let next = || match (a.peek(), b.peek()) {
        (Some(x), Some(y)) if x <= y => a.next().copied(),
        (_, Some(_)) => b.next().copied(),
        (_, None) => a.next().copied(),
    };
    std::iter::from_fn(next).skip(skipped).take(own.len()).collect()
}

/// A line in order. Without positions where equal keys mean equal elements.
fn sorted<K: Bits>(
    order: KeyOrder<K>,
    line: impl Iterator<Item = K> + Clone,
    first: i64,
    has_positions: bool,
) -> Vec<Entry<K>> {
    let is_float = order.infinity.is_some();
    let has_twins = || is_float && line.clone().any(|bits| order.bits(order.key(bits)) != bits);
    if !has_positions && !has_twins() {
        let mut keys: Vec<K> = line.map(|bits| order.key(bits)).collect();
        keys.sort_unstable();
        return keys.into_iter().map(|key| Entry { key, position: 0, bits: order.bits(key) }).collect();
    }
    let entry = |(bits, position): (K, i64)| Entry { key: order.key(bits), position, bits };
    let mut entries: Vec<Entry<K>> = line.zip(first..).map(entry).collect();
    entries.sort_unstable();
    entries
}
