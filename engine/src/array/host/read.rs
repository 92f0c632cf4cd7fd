//! Reads arrays into host vectors: downloads the owned cells of each part and copies rows to their global
//! position. Single elements are read from their owner and written to the owner and all copies.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use half::{bf16, f16};
use partita_kernels::{DType, Scalar};

use crate::array::memory::storage::bytes_of;
use crate::array::record::node::Node;
use crate::array::recorder::recording::{Recorder, check_not_recording};
use crate::array::run::assign;
use crate::array::run::cells::{copy_rows, download, download_into};
use crate::array::{Array, IntoSpan, Span};
use crate::device::{collect, zeros};
use crate::error::{Error, Result};
use crate::index::{DimMap, Distribution, Index, IndexSet, Region};
use crate::program::{Place, c_strides, fill_box};
use crate::team::Team;
use crate::wire::{CollectiveSignature, Ranks, pass};

/// A Rust type that is an element type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type",
    label = "expected i8 to i64, u8 to u64, f32, f64, or f16 and bf16 of `partita::half`",
    note = "bools are written by `Array::from_bools` and read by `Array::to_bools`"
)]
pub trait Element: bytemuck::Pod + Send + Sync {
    /// Its dtype.
    const DTYPE: DType;
}

macro_rules! elements {
    ($($type:ty = $dtype:ident),*) => {
        $(impl Element for $type {
            const DTYPE: DType = DType::$dtype;
        })*
    };
}

elements!(i8 = I8, i16 = I16, i32 = I32, i64 = I64, u8 = U8, u16 = U16, u32 = U32, u64 = U64);
elements!(f16 = F16, bf16 = BF16, f32 = F32, f64 = F64);

impl Array {
    /// The elements in C order of the global shape, on every rank. Computes if necessary and waits.
    /// Collective.
    ///
    /// # Errors
    /// Another dtype than the array's; those of [`Array::eval`].
    #[doc = example!("assert_eq!(u.to_vec::<f64>()?, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);")]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.readable("to_vec", T::DTYPE)?;
        let mut elements: Vec<T> = zeros(self.volume()?, &self.team().devices())?;
        self.read(bytemuck::cast_slice_mut(&mut elements))?;
        Ok(elements)
    }

    /// Refuses to read an array that carries an error, or elements as another type.
    pub(crate) fn readable(&self, operation: &'static str, asked: DType) -> Result<()> {
        self.recorded()?;
        match asked == self.dtype() {
            true => Ok(()),
            false => Err(Error::element_type(operation, self.dtype(), asked)),
        }
    }

    /// The elements of a bool array, as [`Array::to_vec`].
    ///
    /// # Errors
    /// As [`Array::to_vec`].
    #[doc = example!("assert_eq!(u.less(2).to_bools()?, [true, true, false, false, false, false]);")]
    pub fn to_bools(&self) -> Result<Vec<bool>> {
        self.readable("to_bools", DType::Bool)?;
        Ok(self.to_bytes()?.into_iter().map(|byte| byte != 0).collect())
    }

    /// The only element of an array of one element.
    ///
    /// # Errors
    /// More or fewer elements than one; those of [`Array::to_vec`].
    #[doc = example!("assert_eq!(u.max(&[]).item::<f64>()?, 5.0);")]
    pub fn item<T: Element>(&self) -> Result<T> {
        self.readable("item", T::DTYPE)?;
        if self.volume()? != 1 {
            return Err(Error::invalid(
                "item",
                "an array of 1 element",
                format!("shape {}", self.shape()),
                "reduce it first, or use to_vec",
            ));
        }
        let mut element = T::zeroed();
        let bits = self.get(&Index::zeros(self.rank()))?.bits.to_le_bytes();
        bytemuck::bytes_of_mut(&mut element).copy_from_slice(&bits[..size_of::<T>()]);
        Ok(element)
    }

    /// The memory form of all elements in C order, as [`Array::to_vec`].
    ///
    /// # Errors
    /// Reading inside a `Loop`'s step; those of [`Array::eval`].
    #[doc = example!("assert_eq!(u.cast(DType::U8).to_bytes()?, [0, 1, 2, 3, 4, 5]);")]
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.recorded()?;
        let bytes = self.volume()?.saturating_mul(self.dtype().size_bytes());
        let mut data: Vec<u8> = zeros(bytes, &self.team().devices())?;
        self.read(&mut data)?;
        Ok(data)
    }

    fn volume(&self) -> Result<usize> {
        Ok(Region::from_shape(&self.shape())?.volume()? as usize)
    }

    /// Copies the memory form of all elements in C order to `data`, which has exactly their length.
    ///
    /// # Errors
    /// As [`Array::to_bytes`]; another length.
    #[doc = example!(
        "let mut bytes = [0; 6];"
        "u.cast(DType::U8).read_into(&mut bytes)?;"
        "assert_eq!(bytes, [0, 1, 2, 3, 4, 5]);"
    )]
    pub fn read_into(&self, data: &mut [u8]) -> Result<()> {
        self.recorded()?;
        let expected = self.volume()?.saturating_mul(self.dtype().size_bytes());
        if data.len() != expected {
            let (expected, given) = (format!("{expected} bytes"), data.len().to_string());
            return Err(Error::invalid("read_into", expected, given, "pass memory for the whole array"));
        }
        self.read(data)
    }

    fn read(&self, data: &mut [u8]) -> Result<()> {
        let size = self.dtype().size_bytes();
        let boxes = |dist: &Distribution| {
            let owns = |part: &usize| owns_any(dist, *part) && !dist.owned(*part).is_empty();
            Ok((0..dist.parts()).filter(owns).map(|part| (part, dist.owned(part))).collect())
        };
        let dtype = self.dtype();
        self.copy_boxes("read", boxes, &mut |dist, part, found| {
            let owned = dist.owned(part);
            if dist.is_block() {
                return found.copy_into(&owned, dtype, data, &dist.global());
            }
            let local = found.bytes(&owned, dtype)?;
            let cells = CellRows { dist, part };
            cells.each(size, |there, here| data[there].copy_from_slice(&local[here]))
        })
    }

    /// Whether the step of a `Loop` that is under way may read the array: it was computed before the run and
    /// is not of the state, so all steps find the same elements. False outside of steps.
    pub fn is_constant(&self) -> bool {
        self.node.storage().is_some_and(|value| Recorder::current().is_constant(&value))
    }

    /// Computes, and gives every rank the bytes of boxes of some parts, in packed coordinates.
    fn copy_boxes(
        &self,
        operation: &'static str,
        boxes: impl FnOnce(&Distribution) -> Result<Vec<(usize, Region)>>,
        take: &mut impl FnMut(&Distribution, usize, Found) -> Result<()>,
    ) -> Result<()> {
        if !self.is_constant() {
            let remedy = "read the state between runs of the Loop, and what never changes before them";
            check_not_recording("reading an array", "a read inside a Loop's step", remedy)?;
        }
        self.eval()?;
        let node = &self.node;
        let Some(storage) = node.storage() else { unreachable!("eval computes or fails") };
        let _guard = node.team.evaluation()?;
        let boxes = boxes(&storage.dist)?;
        let place = |part: usize| storage.place(&node.team, part);
        let mut take = |part: usize, found: Found| take(&storage.dist, part, found);
        node.team.together("read", || {
            pass("read")?;
            let Some(ranks) = node.team.wire() else {
                return boxes
                    .iter()
                    .try_for_each(|(part, _)| take(*part, Found::Here(place(*part).as_ref())));
            };
            ranks.begin_collective(&CollectiveSignature::new(
                operation,
                &(&storage.dist, node.dtype, &boxes),
            ))?;
            let copied = |(part, region): &(usize, Region)| {
                let place = place(*part);
                Found::Here(place.as_ref()).bytes(region, node.dtype).map(Cow::into_owned)
            };
            gather(&node.team, ranks, &boxes, copied, &mut take)
        })
    }
}

/// The cells of a box.
enum Found<'a> {
    /// In memory of this process; without any, zeros.
    Here(Option<&'a Place>),
    /// As their rank sent them, in C order.
    Sent(&'a [u8]),
}

impl Found<'_> {
    /// In C order.
    fn bytes(&self, cells: &Region, dtype: DType) -> Result<Cow<'_, [u8]>> {
        let place = match self {
            Found::Here(place) => place,
            Found::Sent(bytes) => return Ok(Cow::Borrowed(bytes)),
        };
        let mut bytes: Vec<u8> = zeros(bytes_of(cells, dtype)? as usize, &[])?;
        if let Some(place) = place {
            download(place, cells, dtype, &mut bytes)?;
        }
        Ok(Cow::Owned(bytes))
    }

    /// Copies them into memory that holds `within` in C order.
    fn copy_into(&self, cells: &Region, dtype: DType, to: &mut [u8], within: &Region) -> Result<()> {
        match self {
            Found::Here(Some(place)) => download_into(place, cells, dtype, to, within),
            _ => copy_rows(&self.bytes(cells, dtype)?, cells, to, within, dtype.size_bytes()),
        }
    }
}

/// Gives every rank the bytes of boxes of some parts: `copied` those of this rank's members, and of the right
/// length for others.
fn gather(
    team: &Team,
    ranks: &Ranks,
    boxes: &[(usize, Region)],
    copied: impl Fn(&(usize, Region)) -> Result<Vec<u8>>,
    take: &mut impl FnMut(usize, Found) -> Result<()>,
) -> Result<()> {
    let all = boxes.iter().map(copied).collect::<Result<Vec<Vec<u8>>>>()?;
    let all: Vec<(usize, Vec<u8>)> = boxes.iter().map(|piece| piece.0).zip(all).collect();
    pass("read-packed")?;
    let others = || (0..ranks.count()).filter(|&rank| rank != ranks.rank());
    for (part, local) in all.iter().filter(|(part, _)| !team.is_here(*part)) {
        ranks.post_receive(team.rank_of(*part), local.len() as u64)?;
    }
    for (_, local) in all.iter().filter(|(part, _)| team.is_here(*part)) {
        for rank in others() {
            ranks.send(rank, local.len() as u64, |offset, out| {
                out.copy_from_slice(&local[offset as usize..][..out.len()]);
                Ok(())
            })?;
        }
    }
    for (part, mut local) in all {
        if !team.is_here(part) {
            ranks.receive(team.rank_of(part), local.len() as u64, |offset, bytes| {
                local[offset as usize..][..bytes.len()].copy_from_slice(bytes);
                Ok(())
            })?;
        }
        take(part, Found::Sent(&local))?;
    }
    ranks.wait_all()?;
    pass("read-done")
}

/// Whether a part owns anything, and not just copies of others' cells.
fn owns_any(dist: &Distribution, part: usize) -> bool {
    let at = dist.grid().coordinate(part);
    let copies = |d: usize| at[d] > 0 && matches!(dist.map(d), DimMap::Replicated { .. });
    !(0..dist.rank()).any(copies)
}

/// The cells that a part owns, without copies of others' cells, along maps other than blocks. Neighbours in
/// memory are not neighbours in the array there. Memory holds all cells of the part, copies too.
struct CellRows<'a> {
    dist: &'a Distribution,
    part: usize,
}

impl CellRows<'_> {
    /// Calls `f` with the bytes of each cell in the global array and in the part's memory.
    fn each(&self, size: usize, mut f: impl FnMut(Range<usize>, Range<usize>)) -> Result<()> {
        let dist = self.dist;
        let at = dist.grid().coordinate(self.part);
        let (outer, inner) = (c_strides(&dist.global()), c_strides(&dist.owned(self.part)));
        // Per dimension: what one coordinate adds to the element's number in the array and in memory.
        let steps = |(d, held): (usize, IndexSet)| {
            let mine = |global: i64| dist.map(d).owner(global) == Some(at[d] as usize);
            let places = held.iter().enumerate().filter(|(_, global)| mine(*global));
            collect("read", places.map(|(k, global)| (global * outer[d], k as i64 * inner[d])))
        };
        let lines = dist.owned_set(self.part)?.into_iter().enumerate().map(steps);
        let lines = lines.collect::<Result<Vec<Vec<(i64, i64)>>>>()?;
        let bytes = |element: i64| element as usize * size..(element as usize + 1) * size;
        let counts = Index::from_fn(dist.rank(), |d| lines[d].len() as i64);
        for choice in Region::from_shape(&counts)?.points() {
            let pick = |sum: (i64, i64), d: usize| {
                let (there, here) = lines[d][choice[d] as usize];
                (sum.0 + there, sum.1 + here)
            };
            let (there, here) = (0..dist.rank()).fold((0, 0), pick);
            f(bytes(there), bytes(here));
        }
        Ok(())
    }
}

impl Array {
    /// The element at a global index, read where it is owned; nothing else travels. Computes if necessary:
    /// not views of computed arrays, or of one element, which is in these. Collective.
    ///
    /// # Errors
    /// An index outside the shape; those of [`Array::to_vec`].
    #[doc = example!("assert_eq!(u.get(&[1, 2])?, 5.0.into());")]
    pub fn get(&self, at: &[i64]) -> Result<Scalar> {
        self.check_index("get", at)?;
        // Computing the only element is computing what it is seen of.
        let is_there = |base: &Node| base.storage().is_some() || base.shape.iter().all(|&extent| extent == 1);
        if let Some((base, map)) = self.node.seen().filter(|(base, _)| is_there(base)) {
            // Along periodic dimensions a view may go beyond the end.
            let within = |d: usize| map.axes()[d].at(at).rem_euclid(base.shape[d]);
            return Array::of(Arc::clone(&base)).get(&Index::from_fn(base.rank(), within));
        }
        let owner = self.distribution()?.owner(at)?;
        let at = if at.is_empty() { &[0] } else { at };
        let mut bits = [0; 8];
        let cell = |dist: &Distribution| cell_at(dist, owner, at);
        self.download(owner, cell, &mut bits[..self.dtype().size_bytes()])?;
        Ok(Scalar { dtype: self.dtype(), bits: u64::from_le_bytes(bits) })
    }

    fn check_index(&self, operation: &'static str, at: &[i64]) -> Result<()> {
        self.recorded()?;
        let shape = self.shape();
        if at.len() == shape.rank() && at.iter().zip(shape.iter()).all(|(at, size)| (0..*size).contains(at)) {
            return Ok(());
        }
        let (expected, given) = (format!("an index inside shape {shape}"), format!("{at:?}"));
        Err(Error::invalid(operation, expected, given, "give one coordinate per dimension, counted from 0"))
    }

    /// Replaces the element at a global index. Expressions recorded before, and clones, keep the old one.
    ///
    /// # Errors
    /// An index outside the shape; a value of another dtype; those of [`Array::eval`].
    #[doc = example!(
        "let mut v = u.clone();"
        "v.set(&[0, 0], 9.0.into())?;"
        "assert_eq!((v.get(&[0, 0])?, u.get(&[0, 0])?), (9.0.into(), 0.0.into()));"
    )]
    pub fn set(&mut self, at: &[i64], value: Scalar) -> Result<()> {
        self.readable("set", value.dtype)?;
        self.check_index("set", at)?;
        let (holders, at) = (self.distribution()?.holders(at)?, if at.is_empty() { &[0] } else { at });
        let recorder = Recorder::current();
        recorder.mark_unsupported(|| "the step sets single elements".to_owned());
        self.eval()?;
        let team = self.node.team.clone();
        let _guard = team.evaluation()?;
        self.node = team.together("set", || {
            let node = assign::unshared(&recorder, &self.node, 1)?;
            let Some(storage) = node.storage() else { unreachable!("computed above") };
            for part in holders {
                let Some(place) = storage.place(&team, part) else { continue };
                recorder.execute(vec![fill_box(
                    &place,
                    &cell_at(&storage.dist, part, at)?,
                    value.normalized(),
                )?])?;
            }
            storage.invalidate_halo();
            Ok(node)
        })?;
        Ok(())
    }

    /// An array of another shape, divided in the same way, see [`Distribution::resized`]. Elements at indices
    /// of both shapes are kept; the others are zero.
    ///
    /// # Errors
    /// A map that has no meaning for another size; those of [`Array::eval`].
    #[doc = example!("assert_eq!(u.resize(&[1, 4])?.to_vec::<f64>()?, [0.0, 1.0, 2.0, 0.0]);")]
    pub fn resize(&self, shape: &[i64]) -> Result<Array> {
        let common = |d: usize| (0..self.shape()[d].min(shape.get(d).copied().unwrap_or(0))).into_span();
        let common: Vec<Span> = (0..self.rank()).map(common).collect();
        self.resized(shape, &common, &common)
    }

    /// An array of another shape, divided in the same way, with the elements of one view in another one, and
    /// zeros.
    pub(crate) fn resized(&self, shape: &[i64], from: &[Span], to: &[Span]) -> Result<Array> {
        // The old shape's halos may not fit the new one; they come when needed.
        let none = Index::zeros(self.rank());
        let dist = self.distribution()?.with_halo(&none, &none)?.resized(shape)?;
        let mut resized = Array::zeros(self.team(), &dist, self.dtype())?;
        resized.assign(to, &self.slice(from))?;
        Ok(resized)
    }

    /// The elements that one part holds, copies included, in the part's own order: that of
    /// [`owned_set`](Distribution::owned_set) along every dimension.
    ///
    /// # Errors
    /// No such part; those of [`Array::to_vec`].
    #[doc = example!("assert_eq!(u.part_to_vec::<f64>(1)?, [1.0, 2.0, 4.0, 5.0]);")]
    pub fn part_to_vec<T: Element>(&self, part: usize) -> Result<Vec<T>> {
        self.readable("part_to_vec", T::DTYPE)?;
        let dist = self.distribution()?;
        dist.check_part(part)?;
        let count = dist.owned(part).volume()? as usize;
        let mut elements: Vec<T> = zeros(count, &self.team().devices())?;
        self.download(part, |dist| Ok(dist.owned(part)), bytemuck::cast_slice_mut(&mut elements))?;
        Ok(elements)
    }

    /// The bytes of a box, in packed coordinates, of what a part holds.
    fn download(
        &self,
        part: usize,
        region: impl Fn(&Distribution) -> Result<Region>,
        out: &mut [u8],
    ) -> Result<()> {
        let boxes = |dist: &Distribution| {
            let region = region(dist)?;
            Ok(Vec::from_iter((!region.is_empty()).then_some((part, region))))
        };
        let dtype = self.dtype();
        self.copy_boxes("read of a part", boxes, &mut |dist, _, found| {
            let cells = region(dist)?;
            found.copy_into(&cells, dtype, out, &cells)
        })
    }
}

/// One cell where a part that holds it has it, in packed coordinates.
fn cell_at(dist: &Distribution, part: usize, at: &[i64]) -> Result<Region> {
    let coordinates = dist.grid().coordinate(part);
    let place = |d: usize| dist.map(d).nearest(coordinates[d] as usize, at[d]).unwrap_or_default();
    let start = Index::from_fn(dist.rank(), place);
    Ok(Region::new(&start, &Index::from_fn(dist.rank(), |d| start[d] + 1))?)
}
