//! Assignment to elements by their number in C order. Computes at once, since it changes its array.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::array::bind::schedule::ScheduleBuilder;
use crate::array::handle::Array;
use crate::array::loops::recorder::Recorder;
use crate::array::memory::storage::Storage;
use crate::array::record::map::{check_count, check_positions, point};
use crate::array::record::node::Node;
use crate::array::run::elements::{PositionList, hull, within};
use crate::error::{Error, Result};
use crate::index::{Distribution, Region};

impl Array {
    /// Replaces the elements at `positions` by those of `value`, a line of as many; of a position that is
    /// named several times the last counts. Dimensions that are not blocks become blocks. Computes.
    ///
    /// # Errors
    /// Positions outside the array; a value of another shape or dtype; those of [`Array::eval`]. The array
    /// then keeps its value.
    pub fn scatter(&mut self, positions: &[i64], value: &Array) -> Result<()> {
        self.recorded()?;
        value.recorded()?;
        let shape = self.shape();
        check_positions("scatter", &shape, positions)?;
        if value.dtype() != self.dtype() {
            return Err(Error::dtypes("scatter", self.dtype(), value.dtype()));
        }
        if value.rank() != 1 {
            let given = format!("shape {}", value.shape());
            return Err(Error::invalid("scatter", "a line of values", given, "reshape it to one dimension"));
        }
        check_count("scatter", value.shape()[0], positions)?;
        let (base, old) = self.in_blocks()?;
        let value = &Array::of(value.node.beside("scatter", &self.node)?);
        let (line, values) = value.in_blocks()?;
        let mut picked: Vec<BTreeMap<i64, i64>> = vec![BTreeMap::new(); old.dist.parts()];
        for (k, &at) in positions.iter().enumerate() {
            picked[old.dist.owner(&point(&shape, at))?].insert(at, k as i64);
        }
        let new = old.like(self.team(), self.dtype())?;
        let needs: Vec<Region> =
            picked.iter().map(|picked| hull(&value.shape(), picked.values().copied())).collect();
        let guard = self.team().evaluation();
        let mut work = ScheduleBuilder::new(self.team(), &Recorder::current());
        work.extend(old.copy_owned(self.team(), self.dtype(), &new)?);
        let places = work.fetch_missing(line.dtype(), &values, &needs)?;
        for (part, from) in places.iter().enumerate() {
            let (Some(from), Some(to)) = (from, new.place(self.team(), part)) else { continue };
            let sources = picked[part].values().map(|&k| within(from, &value.shape(), k)).collect();
            let targets = picked[part].keys().map(|&at| within(&to, &shape, at)).collect();
            let moved = work.temporary(part, picked[part].len(), self.dtype())?;
            work.gather(part, &PositionList::of(sources), from, &moved, self.dtype())?;
            work.scatter(part, &PositionList::of(targets), &moved, &to, self.dtype())?;
        }
        work.finish()?;
        drop(guard);
        self.node = Node::ready(base.dtype(), base.team(), new);
        Ok(())
    }

    /// The array, or one of the same elements cut into blocks; computed, with its storage.
    pub(crate) fn in_blocks(&self) -> Result<(Array, Arc<Storage>)> {
        self.eval()?;
        let array = match self.distribution()?.is_block() {
            true => self.clone(),
            false => {
                self.redistribute(&Distribution::default_partition(self.team().size(), &self.shape())?)?
            }
        };
        let Some(storage) = array.node.storage() else { unreachable!("eval and redistribute compute") };
        Ok((array, storage))
    }
}
