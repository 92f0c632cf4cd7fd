//! Operations along lines, as they are recorded: scans, which fold all elements up to each, sorts, and passes
//! of Fourier transforms. The axis is checked at once; nothing is computed.

use std::sync::Arc;

use partita_kernels::{DType, FoldOp, MAX_RANK};

use crate::array::Array;
use crate::array::record::expr::{AxisScan, AxisSort, Butterflies, Expr, FourierLines, NodeLayout, WholeOp};
use crate::array::record::node::Node;
use crate::error::{Error, Result};

impl Array {
    /// Folds of all elements up to each along `axis`, that one included; the shape and the distribution
    /// stay. Integers wrap; f16 and bf16 sum and multiply in f32, rounded once.
    ///
    /// Floats are combined in one order, whatever the distribution and the devices: 16 neighbours, counted
    /// from the first element of the axis, are a *run*; the total of a run is folded as [`Array::sum`] folds
    /// it; the totals are scanned in the same way; and each run is added up, one element after the other,
    /// from what the runs before have. So errors grow with the logarithm of the length.
    ///
    /// The axis is cut at multiples of runs: other cuts, and maps that are not blocks, move the array twice.
    /// A wgpu adapter must be able to bind 16 neighbours along the axis, and all that lies between, at once.
    ///
    /// ```
    /// use partita::prelude::*;
    /// let team = Team::local(2)?;
    /// let a = Array::from_slice(&team, &Distribution::default_partition(2, &[5])?, &[1i64, 2, 3, 4, 5])?;
    /// assert_eq!(a.scan(0, FoldOp::Sum).to_vec::<i64>()?, [1, 3, 6, 10, 15]);
    /// assert_eq!(a.scan_before(0, FoldOp::Product).to_vec::<i64>()?, [1, 1, 2, 6, 24]);
    /// # Ok::<(), partita::Error>(())
    /// ```
    pub fn scan(&self, axis: usize, op: FoldOp) -> Array {
        self.scanned(AxisScan { axis, op, exclusive: false })
    }

    /// As [`Array::scan`], without the element itself: the first one is the operation's neutral element.
    #[doc = example!(
        "assert_eq!(u.scan_before(1, FoldOp::Sum).to_vec::<f64>()?, [0.0, 0.0, 1.0, 0.0, 3.0, 7.0]);"
    )]
    pub fn scan_before(&self, axis: usize, op: FoldOp) -> Array {
        self.scanned(AxisScan { axis, op, exclusive: true })
    }

    /// Sums of all elements up to each along `axis`. Integers and bool sum in 64 bits, as in [`Array::sum`].
    #[doc = example!("assert_eq!(u.cumulative_sum(1).to_vec::<f64>()?, [0.0, 1.0, 3.0, 3.0, 7.0, 12.0]);")]
    pub fn cumulative_sum(&self, axis: usize) -> Array {
        self.widened().scan(axis, FoldOp::Sum)
    }

    /// Products of all elements up to each along `axis`, as [`Array::cumulative_sum`].
    #[doc = example!("assert_eq!(u.cumulative_prod(0).to_vec::<f64>()?, [0.0, 1.0, 2.0, 0.0, 4.0, 10.0]);")]
    pub fn cumulative_prod(&self, axis: usize) -> Array {
        self.widened().scan(axis, FoldOp::Product)
    }

    fn scanned(&self, scan: AxisScan) -> Array {
        let rounds = matches!(scan.op, FoldOp::Sum | FoldOp::Product);
        if rounds && matches!(self.dtype(), DType::F16 | DType::BF16) {
            return self.cast(DType::F32).scanned(scan).cast(self.dtype());
        }
        self.try_scanned(scan).unwrap_or_else(|error| self.failed_as(self.dtype(), error))
    }

    fn try_scanned(&self, scan: AxisScan) -> Result<Array> {
        let fail =
            |expected: String, given: String, remedy| Err(Error::invalid("scan", expected, given, remedy));
        if scan.axis >= self.rank() {
            return fail(format!("an axis below {}", self.rank()), scan.axis.to_string(), "count from 0");
        }
        if self.rank() == MAX_RANK {
            let expected = format!("fewer than {MAX_RANK} dimensions");
            return fail(expected, self.shape().to_string(), "merge two others with reshape");
        }
        let is_bool = self.dtype() == DType::Bool;
        let fits = match scan.op {
            FoldOp::Sum | FoldOp::Product => !is_bool,
            FoldOp::Min | FoldOp::Max => true,
            FoldOp::All | FoldOp::Any => is_bool,
        };
        if !fits {
            return fail(format!("a type with {:?}", scan.op), self.dtype().to_string(), "cast first");
        }
        let layout = NodeLayout::known(self.distribution()?);
        let expr = Expr::Whole(WholeOp::Scan(scan), vec![Arc::clone(&self.node)]);
        Ok(Array::recording(Node::lazy(self.shape(), self.dtype(), &self.node.team, expr, layout)))
    }
}

impl Array {
    /// The elements of each line along `axis` in order; the shape and the distribution stay. Stable: equal
    /// elements keep their order, as 0.0 and -0.0 do. NaN comes last, `descending` or not.
    ///
    /// Lines that are divided are sorted on each part and merged by a network of parts (K. Batcher, "Sorting
    /// networks and their applications", AFIPS 32 (1968)), whose exchanges do not depend on the elements: 1
    /// on 2 parts, 3 on 4, 6 on 8, of a part's elements each. Axes that are not equal blocks are moved
    /// before and after. Elements of devices are sorted on the host, by its memory; a `Loop`'s step cannot
    /// sort.
    ///
    /// ```
    /// use partita::prelude::*;
    /// let team = Team::local(2)?;
    /// let a = Array::from_slice(&team, &Distribution::default_partition(2, &[5])?, &[3i64, 1, 2, 1, 5])?;
    /// assert_eq!(a.sort(0, false).to_vec::<i64>()?, [1, 1, 2, 3, 5]);
    /// assert_eq!(a.argsort(0, true).to_vec::<i64>()?, [4, 0, 2, 1, 3]);
    /// # Ok::<(), partita::Error>(())
    /// ```
    pub fn sort(&self, axis: usize, descending: bool) -> Array {
        self.sorted(AxisSort { axis, descending, positions: false })
    }

    /// The positions along `axis` that the elements of [`Array::sort`] come from. i64.
    #[doc = example!("assert_eq!(u.argsort(1, true).to_vec::<i64>()?, [2, 1, 0, 2, 1, 0]);")]
    pub fn argsort(&self, axis: usize, descending: bool) -> Array {
        self.sorted(AxisSort { axis, descending, positions: true })
    }

    fn sorted(&self, sort: AxisSort) -> Array {
        let dtype = if sort.positions { DType::I64 } else { self.dtype() };
        self.try_sorted(sort, dtype).unwrap_or_else(|error| self.failed_as(dtype, error))
    }

    fn try_sorted(&self, sort: AxisSort, dtype: DType) -> Result<Array> {
        if sort.axis >= self.rank() {
            let (expected, given) = (format!("an axis below {}", self.rank()), sort.axis.to_string());
            return Err(Error::invalid("sort", expected, given, "count from 0"));
        }
        let layout = NodeLayout::known(self.distribution()?);
        let expr = Expr::Whole(WholeOp::Sort(sort), vec![Arc::clone(&self.node)]);
        Ok(Array::recording(Node::lazy(self.shape(), dtype, &self.node.team, expr, layout)))
    }
}

impl Array {
    /// This array of pairs after one pass; dimension `pass.from` is divided among no parts.
    pub(crate) fn butterflies(&self, pass: Butterflies, factors: &Array) -> Result<Array> {
        let dist = pass.result(&*self.distribution()?)?;
        let shape = dist.shape();
        let operands = [self, factors].map(|x| Arc::clone(&x.node)).to_vec();
        let (node, expr) = (&self.node, Expr::Whole(WholeOp::Butterflies(pass), operands));
        Ok(Array::recording(Node::lazy(shape, node.dtype, &node.team, expr, NodeLayout::known(dist))))
    }

    /// This array of pairs with the lines along a dimension, which is divided among no parts, transformed.
    /// The factors of each pass but the last.
    pub(crate) fn fourier_lines(&self, lines: FourierLines, factors: &[Array]) -> Result<Array> {
        self.recorded()?;
        let dist = self.distribution()?;
        let dist = dist.restricted(&dist.global())?;
        let operands = [self].into_iter().chain(factors).map(|x| Arc::clone(&x.node)).collect();
        let (node, expr) = (&self.node, Expr::Whole(WholeOp::Fourier(Arc::new(lines)), operands));
        Ok(Array::recording(Node::lazy(node.shape, node.dtype, &node.team, expr, NodeLayout::known(dist))))
    }
}
