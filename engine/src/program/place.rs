//! Where a part's cells are in memory.

use std::sync::Arc;

use partita_kernels::View;

use crate::device::{Allocation, Device};
use crate::index::{Index, Region};

/// The memory of one part's cells: an allocation that holds `stored` in C order.
#[derive(Clone, Debug)]
pub struct Place {
    /// The device of the allocation.
    pub device: Device,
    /// The memory.
    pub allocation: Arc<Allocation>,
    /// The cells in it, in some global coordinates.
    pub stored: Region,
}

impl Place {
    /// Distance in elements between neighbours, per dimension.
    pub fn strides(&self) -> Index {
        c_strides(&self.stored)
    }

    /// The view whose first point is `first`, a cell in `stored`'s coordinates.
    pub fn view(&self, first: &[i64]) -> View {
        let strides = self.strides();
        let start = self.stored.start();
        let offset = (0..first.len()).map(|d| (first[d] - start[d]) * strides[d]).sum();
        View { offset, strides: strides.to_vec() }
    }
}

/// C-order strides of a box, in elements.
pub fn c_strides(region: &Region) -> Index {
    let mut strides = Index::filled(region.rank(), 1);
    for d in (0..region.rank().saturating_sub(1)).rev() {
        strides[d] = strides[d + 1] * region.extent(d + 1).max(1);
    }
    strides
}
