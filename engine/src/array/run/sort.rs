//! Sorts on the host: keys in the order of the elements, lines that are sorted, and sorted pieces of two
//! parts that are merged. `lower/steps/sort.rs` says which parts do what.

use std::ops::{BitAnd, BitOr, BitXor, Not};

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use partita_kernels::{DType, View};

use crate::array::bind::schedule::{Values, missing_part};
use crate::array::lower::steps::list::{HostSort, MemoryId, Pieces, SortInput};
use crate::array::recorder::recording::check_not_recording;
use crate::array::run::cells::download;
use crate::device::{collect, zeros};
use crate::error::Result;
use crate::index::{DimMap, Region};
use crate::program::{Place, c_strides};
use crate::team::Team;

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

/// A step of a sort, on the parts of this rank.
struct SortPass<'a> {
    team: &'a Team,
    values: &'a mut Values,
    step: &'a HostSort,
}

/// Does it.
///
/// # Errors
/// Inside the step of a `Loop`; those of copies.
pub(crate) fn sort(step: &HostSort, team: &Team, values: &mut Values) -> Result<()> {
    check_not_recording("sort", "a sort inside a Loop's step", "sort between runs")?;
    let mut pass = SortPass { team, values, step };
    match step.dtype.size_bytes() {
        1 => pass.run::<u8>(),
        2 => pass.run::<u16>(),
        4 => pass.run::<u32>(),
        _ => pass.run::<u64>(),
    }
}

impl SortPass<'_> {
    fn run<K: Bits>(&mut self) -> Result<()> {
        let order = KeyOrder::<K>::of(self.step.dtype, self.step.sort.descending);
        for part in (0..self.team.size()).filter(|&part| self.team.is_here(part)) {
            match &self.step.from {
                SortInput::Elements(from) => self.sorted(order, *from, part)?,
                SortInput::Merged { own, other, round } => match &round[part] {
                    None => self.keep(*own, part),
                    Some(other_half) => self.merged(order, (*own, *other), other_half, part)?,
                },
            }
        }
        Ok(())
    }

    /// Sorts the lines of a part.
    fn sorted<K: Bits>(&self, order: KeyOrder<K>, from: MemoryId, part: usize) -> Result<()> {
        let HostSort { dtype, dist, to, .. } = self.step;
        let region = dist.owned(part);
        if region.is_empty() {
            return Ok(());
        }
        let values = HostCopy::<K>::read(&self.place(from, part)?, &region, *dtype)?;
        self.each_line(part, |first, line| {
            let bits = values.line(first, line).map(|at| values.elements[at]);
            sorted(order, bits, self.first_position(part), to.positions.is_some())
        })
    }

    /// A part keeps its pieces in a round.
    fn keep(&mut self, own: Pieces, part: usize) {
        for (to, from) in self.step.to.memory().zip(own.memory()) {
            if let (MemoryId::Boxes(to), MemoryId::Boxes(from)) = (to, from) {
                self.values.share(to, from, part);
            }
        }
    }

    /// Merges the pieces of a part with those of another one.
    fn merged<K: Bits>(
        &self,
        order: KeyOrder<K>,
        (own, other): (Pieces, Pieces),
        (theirs, is_low): &(Region, bool),
        part: usize,
    ) -> Result<()> {
        let HostSort { dtype, dist, sort, .. } = self.step;
        let piece = |pieces: Pieces, region: &Region| {
            let positions = pieces.positions.map(|positions| self.place(positions, part)).transpose()?;
            Piece::<K>::read((&self.place(pieces.values, part)?, *dtype), positions.as_ref(), region)
        };
        let (own, other) = (piece(own, &dist.owned(part))?, piece(other, theirs)?);
        let length = theirs.extent(sort.axis) as usize;
        self.each_line(part, |first, line| {
            let (own, other) = (own.line(order, first, line)?, other.line(order, first, (line.0, length))?);
            half(&own, &other, *is_low)
        })
    }

    fn place(&self, memory: MemoryId, part: usize) -> Result<Place> {
        self.values.place(self.team, memory, part)?.ok_or_else(|| missing_part("sort"))
    }

    /// The position of a part's first elements along the axis.
    fn first_position(&self, part: usize) -> i64 {
        let HostSort { dist, sort, .. } = self.step;
        match dist.map(sort.axis) {
            DimMap::Replicated { .. } => 0,
            map => map.owned(dist.grid().coordinate(part)[sort.axis] as usize).start,
        }
    }

    /// Writes the lines of a part, given the coordinates of each one's first element from the part's first.
    fn each_line<K: Bits>(
        &self,
        part: usize,
        line: impl Fn(&[i64], (usize, usize)) -> Result<Vec<Entry<K>>>,
    ) -> Result<()> {
        let HostSort { dist, sort, to, .. } = self.step;
        let (axis, region) = (sort.axis, dist.owned(part));
        let count = region.extent(axis) as usize;
        let value_place = self.place(to.values, part)?;
        let mut values = HostCopy::<K>::blank(&value_place, &region)?;
        let position_place = to.positions.map(|positions| self.place(positions, part)).transpose()?;
        let blank = |place: &Place| HostCopy::<i64>::blank(place, &region);
        let mut positions = position_place.as_ref().map(blank).transpose()?;
        let firsts = Region::from_fn(region.rank(), |d| (0, if d == axis { 1 } else { region.extent(d) }));
        for first in firsts.points() {
            let entries = line(&first, (axis, count))?;
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

    fn line(&self, order: KeyOrder<K>, first: &[i64], line: (usize, usize)) -> Result<Vec<Entry<K>>> {
        let values = self.values.line(first, line).map(|at| self.values.elements[at]);
        let entry = |bits: K| Entry { key: order.key(bits), position: 0, bits };
        let mut entries = collect("sort", values.map(entry))?;
        if let Some(positions) = &self.positions {
            for (entry, at) in entries.iter_mut().zip(positions.line(first, line)) {
                entry.position = positions.elements[at];
            }
        }
        Ok(entries)
    }
}

/// The smaller or the larger of the elements of two sorted lines, as many as the first has.
fn half<K: Bits>(own: &[Entry<K>], other: &[Entry<K>], is_low: bool) -> Result<Vec<Entry<K>>> {
    let skipped = if is_low { 0 } else { other.len() };
    let (mut a, mut b) = (own.iter().peekable(), other.iter().peekable());
    let next = || match (a.peek(), b.peek()) {
        (Some(x), Some(y)) if x <= y => a.next().copied(),
        (_, Some(_)) => b.next().copied(),
        (_, None) => a.next().copied(),
    };
    let mut merged = std::iter::from_fn(next).skip(skipped);
    collect("sort", own.iter().map(|&entry| merged.next().unwrap_or(entry)))
}

/// A line in order. Without positions where equal keys mean equal elements.
fn sorted<K: Bits>(
    order: KeyOrder<K>,
    line: impl Iterator<Item = K> + Clone,
    first: i64,
    has_positions: bool,
) -> Result<Vec<Entry<K>>> {
    let is_float = order.infinity.is_some();
    let has_twins = || is_float && line.clone().any(|bits| order.bits(order.key(bits)) != bits);
    if !has_positions && !has_twins() {
        let mut keys = collect("sort", line.map(|bits| order.key(bits)))?;
        keys.sort_unstable();
        let entry = |key| Entry { key, position: 0, bits: order.bits(key) };
        return collect("sort", keys.into_iter().map(entry));
    }
    let entry = |(bits, position): (K, i64)| Entry { key: order.key(bits), position, bits };
    let mut entries = collect("sort", line.zip(first..).map(entry))?;
    entries.sort_unstable();
    Ok(entries)
}
