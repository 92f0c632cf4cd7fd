//! One array in a `.npy` file: its header, the places of a part's elements, and the checksum that all parts
//! make together.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom, Write};

use crc32fast::Hasher;
use partita_kernels::DType;

use crate::index::{Distribution, Index, Region};

/// Each type with its name in a header; what has none is opaque there, of its size.
const NAMES: [(DType, &str); 13] = [
    (DType::Bool, "|b1"),
    (DType::I8, "|i1"),
    (DType::I16, "<i2"),
    (DType::I32, "<i4"),
    (DType::I64, "<i8"),
    (DType::U8, "|u1"),
    (DType::U16, "<u2"),
    (DType::U32, "<u4"),
    (DType::U64, "<u8"),
    (DType::F16, "<f2"),
    (DType::BF16, "<V2"),
    (DType::F32, "<f4"),
    (DType::F64, "<f8"),
];
/// Complex numbers: pairs of these.
const PAIRS: [(DType, &str); 2] = [(DType::F32, "<c8"), (DType::F64, "<c16")];

/// The content of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Content {
    /// The type of the numbers.
    pub dtype: DType,
    /// Whether two of them are a complex number.
    pub pairs: bool,
    /// As readers of the file see it; without extents for one element.
    pub shape: Vec<i64>,
}

impl Content {
    /// The type's name in the header; `None` for pairs of what no complex numbers are made of.
    pub fn name(&self) -> Option<&'static str> {
        let names = if self.pairs { &PAIRS[..] } else { &NAMES[..] };
        names.iter().find(|(dtype, _)| *dtype == self.dtype).map(|(_, name)| *name)
    }

    pub fn named(name: &str, shape: Vec<i64>) -> Option<Content> {
        let of = |pairs, names: &[(DType, &str)]| {
            let found = names.iter().find(|(_, known)| *known == name);
            found.map(|&(dtype, _)| Content { dtype, pairs, shape: shape.clone() })
        };
        of(false, &NAMES).or_else(|| of(true, &PAIRS))
    }

    /// The engine's shape of the same elements in the same order.
    pub fn stored_shape(&self) -> Vec<i64> {
        let mut shape = self.shape.clone();
        shape.extend(self.pairs.then_some(2));
        shape
    }

    /// Whether the bytes of the elements can be counted in an `i64`.
    pub fn is_countable(&self) -> bool {
        let mut extents = self.shape.iter();
        self.shape.iter().all(|extent| *extent >= 0)
            && extents.try_fold(16i64, |all, extent| all.checked_mul(*extent)).is_some()
    }

    /// The number of bytes of the elements.
    pub fn bytes(&self) -> u64 {
        self.stored_shape().iter().product::<i64>() as u64 * self.dtype.size_bytes() as u64
    }

    /// All that comes before the elements: format version 1.0.
    pub fn header(&self) -> Vec<u8> {
        let extents: String = self.shape.iter().map(|extent| format!("{extent}, ")).collect();
        let name = self.name().unwrap_or_default();
        let (shape, before) = (extents.trim_end(), 10);
        let shape = if self.shape.len() > 1 { shape.trim_end_matches(',') } else { shape };
        let text = format!("{{'descr': '{name}', 'fortran_order': False, 'shape': ({shape}), }}");
        let length = (before + text.len() + 1).next_multiple_of(64) - before;
        let mut header = b"\x93NUMPY\x01\x00".to_vec();
        header.extend((length as u16).to_le_bytes());
        header.extend(format!("{text:<width$}\n", width = length - 1).bytes());
        header
    }
}

/// Runs shorter than this are many calls of the system for few bytes.
const LONG_RUN_BYTES: i64 = 4096;
/// So many of them do no harm.
const FEW_RUNS: i64 = 64;

/// The distribution in which an array's parts have long runs of the file: its own if that has.
pub fn in_long_runs(dist: &Distribution, size: usize) -> crate::index::Result<Distribution> {
    let (shape, parts) = (dist.shape(), dist.parts());
    let all: i64 = shape.iter().product();
    let divided = (0..shape.rank()).rev().find(|&d| dist.map(d).parts() > 1);
    let run = divided.map_or(all, |d| {
        shape[d + 1..].iter().product::<i64>() * (shape[d] / dist.map(d).parts() as i64).max(1)
    });
    let is_long = run * size as i64 >= LONG_RUN_BYTES || all <= FEW_RUNS * run;
    if dist.is_block() && !dist.has_copies() && is_long {
        return Ok(dist.clone());
    }
    if shape[0] < parts as i64 {
        return Distribution::default_partition(parts, &shape);
    }
    let mut grid = Index::filled(shape.rank(), 1);
    grid[0] = parts as i64;
    Distribution::builder(&shape).grid(&grid).build()
}

/// The elements of a box in C order, as runs of an array of this shape in C order: the offset of each run,
/// and the length of all.
fn runs(shape: &[i64], cells: &Region) -> (Vec<u64>, usize) {
    let extents = cells.extents();
    let whole = shape.iter().zip(extents.iter()).rev().take_while(|(all, some)| all == some).count();
    // The innermost dimension that a run does not have whole.
    let inner = shape.len().saturating_sub(whole + 1);
    let run: i64 = extents[inner..].iter().product();
    if run == 0 || extents.contains(&0) {
        return (Vec::new(), 0);
    }
    let mut offsets = vec![0i64];
    for d in 0..shape.len() {
        let (start, count) = (cells.start()[d], if d < inner { extents[d] } else { 1 });
        let next = |offset: &i64| {
            let first = offset * shape[d] + start;
            first..first + count
        };
        offsets = offsets.iter().flat_map(next).collect();
    }
    (offsets.into_iter().map(|offset| offset as u64).collect(), run as usize)
}

/// The CRC-32 of a file's elements, from those of some parts: what it would be if all others were zero. Those
/// of all parts make that of the file, because CRC-32 is linear but for a constant.
pub struct PartialChecksum {
    bytes: u64,
    sum: u32,
}

/// The checksum of `bytes` bytes, all zero.
fn of_zeros(bytes: u64) -> u32 {
    // Appends zeros to nothing, in the register without its final inversion.
    shifted(u32::MAX, bytes) ^ u32::MAX
}

/// The remainder of a polynomial times x to the power of `bytes` bytes.
fn shifted(remainder: u32, bytes: u64) -> u32 {
    let mut hasher = Hasher::new_with_initial_len(remainder, 0);
    hasher.combine(&Hasher::new_with_initial_len(0, bytes));
    hasher.finalize()
}

impl PartialChecksum {
    /// Of an array of `bytes` bytes without parts.
    pub fn new(bytes: u64) -> PartialChecksum {
        PartialChecksum { bytes, sum: of_zeros(bytes) }
    }

    /// Of the same array, from other parts.
    pub fn join(&mut self, other: u32) {
        self.sum ^= other ^ of_zeros(self.bytes);
    }

    pub fn finish(self) -> u32 {
        self.sum
    }

    /// Takes the runs of a part, with rising offsets.
    fn part<'a>(&mut self, runs: impl Iterator<Item = (u64, &'a [u8])>) {
        let (mut hasher, mut at) = (Hasher::new(), 0);
        let pass = |hasher: &mut Hasher, gap: u64| {
            hasher.combine(&Hasher::new_with_initial_len(of_zeros(gap), gap));
        };
        for (offset, bytes) in runs {
            pass(&mut hasher, offset - at);
            hasher.update(bytes);
            at = offset + bytes.len() as u64;
        }
        pass(&mut hasher, self.bytes - at);
        self.join(hasher.finalize());
    }
}

/// Writes the elements of a box, in C order, into the file of an array.
pub fn write(mut file: &File, of: &Content, cells: &Region, elements: &[u8]) -> Result<PartialChecksum> {
    let (begin, size) = (of.header().len() as u64, of.dtype.size_bytes());
    let (offsets, run) = runs(&of.stored_shape(), cells);
    let placed = || offsets.iter().map(|at| at * size as u64).zip(elements.chunks(run.max(1) * size));
    for (offset, bytes) in placed() {
        file.seek(SeekFrom::Start(begin + offset))?;
        file.write_all(bytes)?;
    }
    let mut sum = PartialChecksum::new(of.bytes());
    sum.part(placed());
    Ok(sum)
}

/// Reads the elements that [`write`] wrote, into memory of their size that holds zeros.
pub fn read(mut file: &File, of: &Content, cells: &Region, elements: &mut [u8]) -> Result<PartialChecksum> {
    let (begin, size) = (of.header().len() as u64, of.dtype.size_bytes());
    let (offsets, run) = runs(&of.stored_shape(), cells);
    for (offset, bytes) in offsets.iter().zip(elements.chunks_mut(run.max(1) * size)) {
        file.seek(SeekFrom::Start(begin + offset * size as u64))?;
        file.read_exact(bytes)?;
    }
    let mut sum = PartialChecksum::new(of.bytes());
    sum.part(offsets.iter().map(|at| at * size as u64).zip(elements.chunks(run.max(1) * size)));
    Ok(sum)
}

/// Refuses a file of another length or with another header than one of this content has.
pub fn check(mut file: &File, of: &Content) -> Result<()> {
    let header = of.header();
    let (expected, given) = (header.len() as u64 + of.bytes(), file.metadata()?.len());
    if given != expected {
        let text = format!("expected {expected} bytes, given {given}");
        return Err(Error::new(ErrorKind::InvalidData, text));
    }
    let mut found = vec![0; header.len()];
    file.rewind()?;
    file.read_exact(&mut found)?;
    match found == header {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::InvalidData, "its header is not what the manifest says")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_runs_and_their_checksums_join() {
        for shape in [&[7][..], &[6, 5], &[3, 4, 5], &[2, 3, 1, 4]] {
            let all = Region::from_shape(shape).unwrap();
            let volume = all.volume().unwrap() as usize;
            let bytes: Vec<u8> = (0..volume).map(|k| (k * 37 + 11) as u8).collect();
            // Two boxes along each dimension.
            for d in 0..shape.len() {
                let middle = shape[d] / 3;
                let mut seen = vec![0; volume];
                let mut sum = PartialChecksum::new(volume as u64);
                for (from, to) in [(0, middle), (middle, shape[d])] {
                    let cells =
                        Region::from_fn(shape.len(), |k| if k == d { (from, to) } else { (0, shape[k]) });
                    let (offsets, run) = runs(shape, &cells);
                    assert_eq!(offsets.len() * run, cells.volume().unwrap() as usize, "{shape:?} {cells}");
                    let of = |&at: &u64| (at, &bytes[at as usize..][..run]);
                    offsets
                        .iter()
                        .for_each(|&at| seen[at as usize..][..run].iter_mut().for_each(|n| *n += 1));
                    let mut part = PartialChecksum::new(volume as u64);
                    part.part(offsets.iter().map(of));
                    sum.join(part.finish());
                }
                assert!(seen.iter().all(|&count| count == 1), "{shape:?} along {d}");
                assert_eq!(sum.finish(), crc32fast::hash(&bytes), "{shape:?} along {d}");
            }
        }
    }
}
