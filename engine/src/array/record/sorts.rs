//! Sorts as they are recorded. Checks the axis at once; computes nothing.

use std::sync::Arc;

use partita_kernels::DType;

use crate::array::Array;
use crate::array::record::expr::{AxisSort, Expr, NodeLayout};
use crate::array::record::node::Node;
use crate::error::{Error, Result};

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

    /// Where along `axis` the elements of [`Array::sort`] come from. i64.
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
        let expr = Expr::Sort { operand: Arc::clone(&self.node), sort };
        Ok(Array::recording(Node::lazy(self.shape(), dtype, &self.node.team, expr, layout)))
    }
}
