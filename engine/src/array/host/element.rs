//! Access to one element, or to the elements of one part. Reads go to the owner; writes go to the owner and
//! all copies.

use partita_kernels::Scalar;

use crate::array::host::read::{check_not_recording, gather, pack};
use crate::array::loops::recorder::Recorder;
use crate::array::memory::storage::bytes_of;
use crate::array::run::assign;
use crate::array::{Array, Element, IntoSpan, Span};
use crate::device::zeros;
use crate::error::{Error, Result};
use crate::index::{Distribution, Index, Region};
use crate::program::fill_box;

impl Array {
    /// The element at a global index, read where it is owned; nothing else travels. Computes if necessary.
    /// Collective.
    ///
    /// # Errors
    /// An index outside the shape; those of [`Array::to_vec`].
    pub fn get(&self, at: &[i64]) -> Result<Scalar> {
        self.check_index("get", at)?;
        let owner = self.distribution()?.owner(at)?;
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
    pub fn set(&mut self, at: &[i64], value: Scalar) -> Result<()> {
        self.readable("set", value.dtype)?;
        self.check_index("set", at)?;
        let holders = self.distribution()?.holders(at)?;
        let recorder = Recorder::current();
        recorder.mark_unsupported(|| "the step sets single elements".to_owned());
        self.eval()?;
        let team = self.node.team.clone();
        let _guard = team.evaluation();
        self.node = team.together("set", || {
            let node = assign::unshared(&recorder, &self.node, 1)?;
            let Some(storage) = node.storage() else { unreachable!("computed above") };
            for part in holders {
                let Some(place) = storage.place(&team, part) else { continue };
                recorder.execute(vec![fill_box(&place, &cell_at(&storage.dist, part, at)?, value)?])?;
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
    pub fn resized(&self, shape: &[i64]) -> Result<Array> {
        // The old shape's halos may not fit the new one; they come when needed.
        let none = Index::zeros(self.rank());
        let dist = self.distribution()?.with_halo(&none, &none)?.resized(shape)?;
        let mut resized = Array::zeros(self.team(), &dist, self.dtype())?;
        let common: Vec<Span> =
            (0..self.rank()).map(|d| (0..self.shape()[d].min(shape[d])).into_span()).collect();
        resized.assign(&common, &self.slice(&common))?;
        Ok(resized)
    }

    /// What one part holds, copies included, in the part's own order: that of
    /// [`owned_set`](Distribution::owned_set) along every dimension.
    ///
    /// # Errors
    /// No such part; those of [`Array::to_vec`].
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
        let remedy = "read the state between runs of the Loop";
        check_not_recording("reading an array", "a read inside a Loop's step", remedy)?;
        self.eval()?;
        let node = &self.node;
        let Some(storage) = node.storage() else { unreachable!("eval computes or fails") };
        let _guard = node.team.evaluation();
        let region = region(&storage.dist)?;
        if region.is_empty() {
            return Ok(());
        }
        let copied = |part: usize| {
            let mut bytes: Vec<u8> = zeros(bytes_of(&region, node.dtype)? as usize, &[])?;
            if let Some(place) = storage.place(&node.team, part) {
                let (packed, _lease) = pack(&place, &region, node.dtype)?;
                packed.device.download(&packed.allocation, 0, &mut bytes)?;
            }
            Ok(bytes)
        };
        let mut take = |_: usize, bytes: &[u8]| {
            out.copy_from_slice(bytes);
            Ok(())
        };
        let what = (&storage.dist, node.dtype, region.extents());
        node.team.together("read", || gather(&node.team, "read of a part", &what, &[part], copied, &mut take))
    }
}

/// One cell where a part that holds it has it, in packed coordinates.
fn cell_at(dist: &Distribution, part: usize, at: &[i64]) -> Result<Region> {
    let coordinates = dist.grid().coordinate(part);
    let place = |d: usize| dist.map(d).nearest(coordinates[d] as usize, at[d]).unwrap_or_default();
    let start = Index::from_fn(dist.rank(), place);
    Ok(Region::new(&start, &Index::from_fn(dist.rank(), |d| start[d] + 1))?)
}
