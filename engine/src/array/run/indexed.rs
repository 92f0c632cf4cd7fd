//! Elements of one-dimensional arrays that other arrays select, without lists on the host: by a mask, and by
//! indices. Both compute at once, by one scatter or gather kernel per part.
//!
//! A scan counts the elements that a mask keeps; the host reads one count per part. An index can select any
//! element, so each part reads the whole array, which is fetched where a part does not own it.

use std::sync::Arc;

use partita_kernels::{DType, FoldOp};

use crate::array::bind::schedule::missing_part;
use crate::array::handle::Array;
use crate::array::lower::graph::NodeId;
use crate::array::lower::steps::list::{StepList, StoredArray};
use crate::array::lower::steps::listed::{compress, take};
use crate::array::memory::pitch::Pitch;
use crate::array::memory::storage::Storage;
use crate::array::record::node::Node;
use crate::array::recorder::recording::{Recorder, check_not_recording};
use crate::array::run::evaluate::run_steps;
use crate::error::{Error, Result};
use crate::index::{Distribution, ErrorKind, IndexError};
use crate::team::Team;

impl Array {
    /// The elements of a one-dimensional array where `mask`, of as many bools, is true, in equal blocks on
    /// all parts. Computes.
    ///
    /// ```
    /// use partita::prelude::*;
    /// let team = Team::local(2)?;
    /// let a = Array::from_slice(&team, &Distribution::default_partition(2, &[5])?, &[1i64, -2, 3, -4, -5])?;
    /// assert_eq!(a.compress(&a.less(0.0))?.to_vec::<i64>()?, [-2, -4, -5]);
    /// # Ok::<(), partita::Error>(())
    /// ```
    ///
    /// # Errors
    /// Arrays that are not one-dimensional and of one size; a mask that is not of bools; those of
    /// [`Array::eval`].
    pub fn compress(&self, mask: &Array) -> Result<Array> {
        self.recorded()?;
        mask.recorded()?;
        if self.rank() != 1 || mask.shape() != self.shape() || mask.dtype() != DType::Bool {
            let given = format!("shapes {} and {} of {}", self.shape(), mask.shape(), mask.dtype());
            return Err(Error::invalid(
                "compress",
                "one dimension, and a bool for each element",
                given,
                "reshape both",
            ));
        }
        let given = "a selection by a mask inside a Loop's step";
        check_not_recording("compress", given, "use select, or select between runs")?;
        let (team, dtype, size) = (self.team(), self.dtype(), self.shape()[0]);
        let even = Distribution::default_partition(team.size(), &[size])?;
        let mask = Array::of(mask.node.beside("compress", &self.node)?).redistribute(&even)?;
        let counting = counting(size);
        let ranks = mask.cast(counting).scan(0, FoldOp::Sum);
        let bounds = bounds(&ranks, &even)?;
        let (values, kept) = (stored(&self.redistribute(&even)?)?, stored(&mask)?);
        let ranks = stored(&ranks.redistribute(&even)?)?;
        let made =
            Distribution::builder(&[bounds[team.size()]]).bounds(0, &bounds).parts(team.size()).build()?;
        let made = Arc::new(made);
        let operands = [(DType::Bool, &kept), (counting, &ranks), (dtype, &values)];
        let result =
            computed(team, &operands, (dtype, [&made, &made], Pitch::Packed), |list, arrays, to| {
                let [mask, ranks, values] = arrays else { unreachable!("three operands") };
                compress(list, [mask, ranks, values], &bounds, to)
            })?;
        let line = Array::of(Node::shared(dtype, team, result));
        line.redistribute(&Distribution::default_partition(team.size(), &[bounds[team.size()]])?)
    }

    /// The elements of a one-dimensional array at `indices`, which have any shape and distribution; those of
    /// the result are theirs. Negative indices count from the end. Each part reads the whole array. Computes.
    ///
    /// ```
    /// use partita::prelude::*;
    /// let team = Team::local(2)?;
    /// let dist = Distribution::default_partition(2, &[4])?;
    /// let a = Array::from_slice(&team, &dist, &[10.0, 20.0, 30.0, 40.0])?;
    /// let indices = Array::from_slice(&team, &dist, &[3i64, 0, -2, 0])?;
    /// assert_eq!(a.take(&indices)?.to_vec::<f64>()?, [40.0, 10.0, 30.0, 10.0]);
    /// # Ok::<(), partita::Error>(())
    /// ```
    ///
    /// # Errors
    /// An array of other than one dimension; indices that are no integers, or out of bounds; those of
    /// [`Array::eval`].
    pub fn take(&self, indices: &Array) -> Result<Array> {
        self.recorded()?;
        indices.recorded()?;
        if self.rank() != 1 || indices.dtype().is_float() || indices.dtype() == DType::Bool {
            let given = format!("shape {} and indices of {}", self.shape(), indices.dtype());
            return Err(Error::invalid("take", "one dimension, and integers", given, "reshape, or cast"));
        }
        let given = "an array of indices inside a Loop's step, which the host checks";
        check_not_recording("take", given, "use a list of indices")?;
        let (team, dtype, size) = (self.team(), self.dtype(), self.shape()[0]);
        let indices = Array::of(indices.node.beside("take", &self.node)?);
        let inside = indices.greater_equal(-size as f64) & indices.less(size as f64);
        if inside.all(&[]).to_bools()? != [true] {
            let expected = format!("indices from {} to {}", -size, size - 1);
            let given = "an array with others";
            return Err(
                IndexError::new(ErrorKind::Range, "take", expected, given, "check the indices").into()
            );
        }
        let counting = counting(size);
        let places = indices.cast(counting);
        let places = places.less(0.0).select(&(&places + size as f64), &places);
        let (_, from) = self.in_blocks()?;
        let list = stored(&places)?;
        let operands = [(dtype, &from), (counting, &list)];
        let result = computed(
            team,
            &operands,
            (dtype, [&list.dist, &list.declared], list.pitch),
            |steps, arrays, to| {
                let [line, indices] = arrays else { unreachable!("two operands") };
                take(steps, line, indices, to)
            },
        )?;
        Ok(Array::of(Node::shared(dtype, team, result)))
    }
}

/// The array that steps make of others, with the distributions of its memory and its own.
fn computed(
    team: &Team,
    operands: &[(DType, &Arc<Storage>)],
    (dtype, dists, pitch): (DType, [&Arc<Distribution>; 2], Pitch),
    steps: impl FnOnce(&mut StepList, &[StoredArray], &StoredArray) -> Result<()>,
) -> Result<Arc<Storage>> {
    let arrays: Vec<(NodeId, &Arc<Storage>)> =
        (0..).zip(operands.iter().map(|(_, storage)| *storage)).collect();
    let stored =
        |(node, &(dtype, storage)): (NodeId, &(DType, &Arc<Storage>))| StoredArray::of(node, dtype, storage);
    let stored: Vec<StoredArray> = (0..).zip(operands).map(stored).collect();
    let (node, [dist, declared]) = (arrays.len() as NodeId, dists.map(Arc::clone));
    let shape = declared.shape();
    let mut list = StepList::default();
    steps(&mut list, &stored, &StoredArray { node, shape, dtype, dist, declared, pitch })?;
    let _guard = team.evaluation()?;
    let made = run_steps((team, &Recorder::current()), &list, &arrays, &[node])?;
    made.into_iter().next().ok_or_else(|| missing_part("a selection"))
}

/// Integers that number so many elements; not every device has wide ones.
fn counting(size: i64) -> DType {
    if size < i64::from(i32::MAX / 2) { DType::I32 } else { DType::I64 }
}

/// Computed, with its storage.
fn stored(array: &Array) -> Result<Arc<Storage>> {
    array.eval()?;
    let Some(storage) = array.node.storage() else { unreachable!("eval computes or fails") };
    Ok(storage)
}

/// Where the elements begin that each part keeps, and their number: from how many are kept up to each.
fn bounds(ranks: &Array, even: &Distribution) -> Result<Vec<i64>> {
    let ends: Vec<i64> = (0..even.parts()).map(|part| even.owned(part).stop()[0]).collect();
    let asked: Vec<i64> = ends.iter().filter(|&&end| end > 0).map(|end| end - 1).collect();
    let mut bounds = vec![0; even.parts() + 1 - asked.len()];
    bounds.extend(ranks.gather(&[asked.len() as i64], &asked)?.cast(DType::I64).to_vec::<i64>()?);
    Ok(bounds)
}
