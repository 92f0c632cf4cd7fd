//! [`WindowIndices`]: where the elements of a window lie that are scattered in the memory of a whole.

use std::sync::Arc;

use partita_kernels::DType;

use crate::array::memory::index_lists::upload;
use crate::device::{Buffer, integers};
use crate::error::Result;
use crate::index::{Distribution, Index, Region};
use crate::program::Place;
use crate::team::Team;

/// Below it 32 bits hold every number, and twice as many.
const MOST_SMALL: i64 = (i32::MAX / 2) as i64;

pub(super) fn is_small(cells: &Region) -> bool {
    cells.volume().is_ok_and(|volume| volume < MOST_SMALL)
}

/// The positions of the elements of a window in the memory of the whole.
pub(crate) struct WindowIndices {
    pub(super) whole: Arc<Distribution>,
    pub(super) window: Region,
    /// The stride of its elements along each dimension, from its first.
    pub(super) steps: Index,
    /// That of these elements.
    pub(super) dist: Arc<Distribution>,
    /// Per dimension, whether positions come from a list.
    pub(super) listed: Vec<bool>,
    /// The type of positions.
    pub(super) dtype: DType,
}

impl WindowIndices {
    pub fn new(whole: &Arc<Distribution>, window: &Region, steps: &Index) -> Result<WindowIndices> {
        let dist = Arc::new(whole.strided(window, steps)?);
        let listed = (0..whole.rank()).map(|d| steps[d] > 1 || !whole.is_box_along(d, window)).collect();
        let is_small = (0..whole.parts()).all(|part| is_small(&whole.stored(part)))
            && (0..whole.rank()).all(|d| dist.map(d).packed_size() < MOST_SMALL);
        let (whole, dtype) = (Arc::clone(whole), if is_small { DType::I32 } else { DType::I64 });
        Ok(WindowIndices { whole, window: *window, steps: *steps, dist, listed, dtype })
    }

    /// The lists of a dimension for every part that computes something.
    pub fn upload(&self, team: &Team, dim: usize, uploads: &mut Vec<Buffer>) -> Result<Vec<Option<Place>>> {
        upload(team, &self.dist, dim, uploads, |coordinate| self.positions(dim, coordinate))
    }

    /// The positions of the window's coordinates among those that a part holds.
    fn positions(&self, d: usize, coordinate: usize) -> Result<Vec<u8>> {
        let span = self.window.start()[d]..self.window.stop()[d];
        let held = self.whole.map(d).try_owned_set(coordinate)?;
        let taken = |global: i64| span.contains(&global) && (global - span.start) % self.steps[d] == 0;
        let inside = held.iter().enumerate().filter(|(_, global)| taken(*global));
        integers("a window along lists", self.dtype, inside.map(|(k, _)| k as i64))
    }
}
