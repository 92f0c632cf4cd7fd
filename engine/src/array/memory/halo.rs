//! [`HaloWidths`]: how wide a halo is, or has to be.

use std::sync::Arc;

use crate::error::Result;
use crate::index::{Distribution, Index, Region};

/// How wide a halo holds its owners' current values, at each part as far as the part stores it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct HaloWidths {
    pub lo: Index,
    pub hi: Index,
    pub corners: bool,
}

impl HaloWidths {
    pub fn zero(rank: usize) -> HaloWidths {
        HaloWidths { lo: Index::zeros(rank), hi: Index::zeros(rank), corners: true }
    }

    /// As wide as the wider of both.
    pub fn max(&self, other: &HaloWidths) -> HaloWidths {
        let max = |a: &Index, b: &Index| Index::from_fn(a.rank(), |d| a[d].max(b[d]));
        let corners = self.corners || other.corners;
        HaloWidths { lo: max(&self.lo, &other.lo), hi: max(&self.hi, &other.hi), corners }
    }

    /// As wide as the narrower of both.
    pub fn min(&self, other: &HaloWidths) -> HaloWidths {
        let min = |a: &Index, b: &Index| Index::from_fn(a.rank(), |d| a[d].min(b[d]));
        let corners = self.corners && other.corners;
        HaloWidths { lo: min(&self.lo, &other.lo), hi: min(&self.hi, &other.hi), corners }
    }

    pub fn covers(&self, other: &HaloWidths) -> bool {
        let wide = |a: &Index, b: &Index| a.iter().zip(b.iter()).all(|(a, b)| a >= b);
        wide(&self.lo, &other.lo) && wide(&self.hi, &other.hi) && (self.corners || !other.corners)
    }
}

impl HaloWidths {
    pub fn is_zero(&self) -> bool {
        self.lo.iter().chain(self.hi.iter()).all(|&width| width == 0)
    }

    /// Widens to what `read` reaches beyond `owned`.
    pub fn include(&mut self, read: &Region, owned: &Region) {
        let mut outside = 0;
        for d in 0..owned.rank() {
            let lo = owned.start()[d] - read.start()[d];
            let hi = read.stop()[d] - owned.stop()[d];
            outside += usize::from(lo > 0 || hi > 0);
            self.lo[d] = self.lo[d].max(lo);
            self.hi[d] = self.hi[d].max(hi);
        }
        self.corners |= outside > 1;
    }
}

/// The distribution with halos at least so wide; `None` if it cannot have them, or if they would need more
/// memory than the array.
pub(crate) fn widened(dist: &Arc<Distribution>, halo: &HaloWidths) -> Result<Option<Arc<Distribution>>> {
    if dist.stores(&halo.lo, &halo.hi) {
        return Ok(Some(Arc::clone(dist)));
    }
    let Ok(wide) = dist.widened(&halo.lo, &halo.hi) else { return Ok(None) };
    let cells = (0..wide.parts()).map(|p| wide.stored(p).volume()).sum::<std::result::Result<i64, _>>()?;
    Ok((cells <= 2 * wide.global().volume()?).then(|| Arc::new(wide)))
}
