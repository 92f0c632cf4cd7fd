//! Reductions as they are recorded: sums, extremes, means, truths and places of extremes. Checks axes and
//! element types at once; computes nothing.

use std::sync::Arc;

use partita_kernels::{DType, FoldOp, Kind};

use crate::array::Array;
use crate::array::record::expr::{Expr, NodeLayout, Reduction};
use crate::array::record::node::Node;
use crate::error::{Error, Result};

impl Array {
    pub(crate) fn reduction(&self, operation: &'static str, axes: &[usize], reduction: Reduction) -> Array {
        if self.rank() == 0 && axes.is_empty() {
            return self.unsqueeze(&[0]).reduction(operation, &[0], reduction).squeeze(&[0]);
        }
        let result = self.try_reduction(operation, axes, reduction);
        result.unwrap_or_else(|error| self.failed_as(self.reduced_to(reduction), error))
    }

    /// The element type of a reduction.
    fn reduced_to(&self, reduction: Reduction) -> DType {
        match reduction {
            Reduction::Fold(_) => self.dtype(),
            Reduction::Arg { .. } => DType::I64,
        }
    }

    fn try_reduction(&self, operation: &'static str, axes: &[usize], reduction: Reduction) -> Result<Array> {
        let mut axes = if axes.is_empty() { (0..self.rank()).collect() } else { axes.to_vec() };
        axes.sort_unstable();
        axes.dedup();
        let dist = self.distribution()?.reduced(&axes)?;
        let dtype = self.reduced_to(reduction);
        let extents = self.shape();
        if matches!(reduction, Reduction::Arg { .. }) && axes.iter().any(|&axis| extents[axis] == 0) {
            return Err(Error::invalid(
                operation,
                "at least one element",
                format!("shape {}", self.shape()),
                "check for empty arrays first",
            ));
        }
        let shape = dist.shape();
        let expr = Expr::Reduce { operand: Arc::clone(&self.node), reduction, axes };
        Ok(Array::recording(Node::lazy(shape, dtype, &self.node.team, expr, NodeLayout::known(dist))))
    }

    /// Sums over `axes` (all if empty), which stay with extent 1. Integers and bool sum in 64 bits.
    #[doc = example!(
        "assert_eq!(u.sum(&[0]).to_vec::<f64>()?, [3.0, 5.0, 7.0]);"
        "assert_eq!(u.sum(&[]).item::<f64>()?, 15.0);"
    )]
    pub fn sum(&self, axes: &[usize]) -> Array {
        self.widened().reduction("sum", axes, Reduction::Fold(FoldOp::Sum))
    }

    /// Products, as [`Array::sum`].
    #[doc = example!("assert_eq!(u.prod(&[1]).to_vec::<f64>()?, [0.0, 60.0]);")]
    pub fn prod(&self, axes: &[usize]) -> Array {
        self.widened().reduction("prod", axes, Reduction::Fold(FoldOp::Product))
    }

    pub(crate) fn widened(&self) -> Array {
        match self.dtype().kind() {
            Kind::Bool | Kind::Int => self.cast(DType::I64),
            Kind::Uint => self.cast(DType::U64),
            Kind::Float => self.clone(),
        }
    }

    /// The smallest elements over `axes` (all if empty), which stay with extent 1; NaN wins.
    #[doc = example!("assert_eq!(u.min(&[0]).to_vec::<f64>()?, [0.0, 1.0, 2.0]);")]
    pub fn min(&self, axes: &[usize]) -> Array {
        self.reduction("min", axes, Reduction::Fold(FoldOp::Min))
    }

    /// The largest elements, as [`Array::min`].
    #[doc = example!("assert_eq!(u.max(&[1]).to_vec::<f64>()?, [2.0, 5.0]);")]
    pub fn max(&self, axes: &[usize]) -> Array {
        self.reduction("max", axes, Reduction::Fold(FoldOp::Max))
    }

    /// Arithmetic means over `axes` (all if empty), which stay with extent 1. Integers give f64.
    #[doc = example!("assert_eq!(u.mean(&[1]).to_vec::<f64>()?, [1.0, 4.0]);")]
    pub fn mean(&self, axes: &[usize]) -> Array {
        let floats = if self.dtype().is_float() { self.clone() } else { self.cast(DType::F64) };
        floats.sum(axes) / self.count_over(axes)
    }

    /// As [`Array::mean`], of [`Array::sum_reproducible`].
    #[doc = example!("assert_eq!(u.mean_reproducible(&[]).item::<f64>()?, 2.5);")]
    pub fn mean_reproducible(&self, axes: &[usize]) -> Array {
        let floats = if self.dtype().is_float() { self.clone() } else { self.cast(DType::F64) };
        floats.sum_reproducible(axes) / self.count_over(axes)
    }

    /// The number of elements of each result over `axes` (all if empty).
    fn count_over(&self, axes: &[usize]) -> f64 {
        let extent = |&d: &usize| self.shape()[d] as f64;
        match axes {
            [] => (0..self.rank()).map(|d| extent(&d)).product(),
            axes => axes.iter().filter(|&&d| d < self.rank()).map(extent).product(),
        }
    }

    /// True where all elements over `axes` (all if empty) are nonzero.
    #[doc = example!("assert_eq!(u.less(3).all(&[1]).to_bools()?, [true, false]);")]
    pub fn all(&self, axes: &[usize]) -> Array {
        self.truth().reduction("all", axes, Reduction::Fold(FoldOp::All))
    }

    /// True where any element over `axes` (all if empty) is nonzero.
    #[doc = example!("assert_eq!(u.equal(4).any(&[0]).to_bools()?, [false, true, false]);")]
    pub fn any(&self, axes: &[usize]) -> Array {
        self.truth().reduction("any", axes, Reduction::Fold(FoldOp::Any))
    }

    fn truth(&self) -> Array {
        self.cast(DType::Bool)
    }

    /// The place of the smallest element: its index along `axis`, or in the array flattened in C order;
    /// the first of equals; the first NaN if there is one. i64.
    #[doc = example!("assert_eq!(u.argmin(Some(1)).to_vec::<i64>()?, [0, 0]);")]
    pub fn argmin(&self, axis: Option<usize>) -> Array {
        self.arg("argmin", axis, false)
    }

    /// The place of the largest element, as [`Array::argmin`].
    #[doc = example!("assert_eq!(u.argmax(None).item::<i64>()?, 5);")]
    pub fn argmax(&self, axis: Option<usize>) -> Array {
        self.arg("argmax", axis, true)
    }

    fn arg(&self, operation: &'static str, axis: Option<usize>, largest: bool) -> Array {
        let axes: Vec<usize> = axis.into_iter().collect();
        self.reduction(operation, &axes, Reduction::Arg { largest })
    }
}
