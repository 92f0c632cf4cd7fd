//! Elements of one-dimensional arrays that other arrays select, without lists on the host: by a mask, and by
//! indices. The host reads what it must, one count per part or whether all indices are inside; the rest is
//! recorded.
//!
//! A scan counts the elements that a mask keeps. An index can select any element, so each part reads the
//! whole array, which is fetched where a part does not own it.

use std::sync::Arc;

use partita_kernels::{DType, FoldOp};

use crate::array::record::expr::{Expr, NodeLayout, WholeOp};
use crate::array::record::node::{Array, Node};
use crate::array::recorder::recording::{Recorder, check_not_recording, outside_step};
use crate::error::{Error, Result};
use crate::index::{Distribution, ErrorKind, IndexError};

impl Array {
    /// The elements of a one-dimensional array where `mask`, of as many bools, is true, in equal blocks on
    /// all parts. The mask is computed and counted at once, the elements are recorded.
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
        let mask = Array::of(mask.node.beside("compress", &self.node)?).redistribute(&even);
        let counting = counting(size);
        mask.eval()?;
        let ranks = mask.cast(counting).scan(0, FoldOp::Sum);
        let bounds = bounds(&ranks, &even)?;
        let (end, parts) = (bounds[team.size()], team.size());
        let made = Distribution::builder(&[end]).bounds(0, &bounds).parts(parts).build()?;
        let operands = [&self.redistribute(&even), &mask, &ranks.redistribute(&even)];
        let operands = operands.map(|operand| Arc::clone(&operand.node)).to_vec();
        let expr = Expr::Whole(WholeOp::Compress(Arc::new(bounds)), operands);
        let line = Node::lazy(made.shape(), dtype, team, expr, NodeLayout::known(made));
        Ok(Array::recording(line).redistribute(&Distribution::default_partition(parts, &[end])?))
    }

    /// The elements of a one-dimensional array at `indices`, which have any shape and distribution; those of
    /// the result are theirs. Negative indices count from the end. Each part reads the whole array. The
    /// indices are computed and checked at once, the elements are recorded.
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
    /// In the step of a `Loop` the indices may change from step to step; those of a replayed step are not
    /// checked: one that is outside takes the first or the last element.
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
        let size = self.shape()[0];
        let indices = Array::of(indices.node.beside("take", &self.node)?);
        // The step of a `Loop` computes the indices, and only then, beside it, the host looks at them.
        indices.eval()?;
        let inside = indices.greater_equal(-size as f64) & indices.less(size as f64);
        if outside_step(|| inside.all(&[]).to_bools())? != [true] {
            let expected = format!("indices from {} to {}", -size, size - 1);
            let given = "an array with others";
            return Err(
                IndexError::new(ErrorKind::Range, "take", expected, given, "check the indices").into()
            );
        }
        let counting = counting(size);
        let places = indices.cast(counting);
        let places = places.less(0.0).select(&(&places + size as f64), &places);
        let places = match Recorder::current().is_recording() {
            true => places.maximum(0.0).minimum((size - 1) as f64),
            false => places,
        };
        let operands = vec![Arc::clone(&self.in_blocks()?.node), Arc::clone(&places.node)];
        let (expr, layout) = (Expr::Whole(WholeOp::Take, operands), places.node.layout());
        Ok(Array::recording(Node::lazy(places.shape(), self.dtype(), self.team(), expr, layout)))
    }
}

/// Integers that number so many elements; not every device has wide ones.
fn counting(size: i64) -> DType {
    if size < i64::from(i32::MAX / 2) { DType::I32 } else { DType::I64 }
}

/// The start of each part's kept elements, and the number of all: from how many are kept up to each.
fn bounds(ranks: &Array, even: &Distribution) -> Result<Vec<i64>> {
    let ends: Vec<i64> = (0..even.parts()).map(|part| even.owned(part).stop()[0]).collect();
    let asked: Vec<i64> = ends.iter().filter(|&&end| end > 0).map(|end| end - 1).collect();
    let mut bounds = vec![0; even.parts() + 1 - asked.len()];
    bounds.extend(ranks.gather(&[asked.len() as i64], &asked).cast(DType::I64).to_vec::<i64>()?);
    Ok(bounds)
}
