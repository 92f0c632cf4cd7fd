//! [`CustomMap`]: the interface of user-defined divisions of a dimension. [`Custom`]: a checked map made of
//! one.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::blocks::{BlockBounds, check_parts, check_size};
use crate::index::error::{ErrorKind, IndexError, Result};
use crate::index::index_set::IndexSet;

/// A division of `0..size` over parts. The methods without a body are enough for everything that arrays do;
/// [`CustomMap::resized`] refuses by name until it is written.
///
/// The methods are given coordinates, parts and positions that exist. `to_local` and `to_global` are each
/// other's inverse, and the counts of all parts sum to the size. Building the map tries both ends and a
/// sample of each part; [`Custom::check`] tries every coordinate. A map that contradicts itself later is an
/// error that names it.
pub trait CustomMap: fmt::Debug + Send + Sync {
    /// The name of the map in messages.
    fn name(&self) -> &str;

    /// The number of coordinates.
    fn size(&self) -> i64;

    /// The number of parts.
    fn parts(&self) -> usize;

    /// The number of coordinates that `part` owns.
    fn count(&self, part: usize) -> i64;

    /// The part that owns a coordinate, and the coordinate's position there.
    fn to_local(&self, global: i64) -> (usize, i64);

    /// The coordinate at a position of `part`.
    fn to_global(&self, part: usize, local: i64) -> i64;

    /// The coordinates of `part` as ranges, if the author has them shorter than one by one.
    fn owned_set(&self, part: usize) -> Option<IndexSet> {
        let _ = part;
        None
    }

    /// The same division of `0..size` for another size, after the domain was resized.
    fn resized(&self, size: i64) -> Result<Arc<dyn CustomMap>> {
        let _ = size;
        let given = format!("the map `{}`, which does not have it", self.name());
        let remedy = "implement the method, or do without what needs it";
        Err(IndexError::new(ErrorKind::Missing, "custom map", "the method `resized`", given, remedy))
    }

    /// Whether another map divides alike. Two objects are unequal until this says otherwise; the same object
    /// is equal to itself anyway.
    fn equal(&self, other: &dyn CustomMap) -> bool {
        let _ = other;
        false
    }
}

/// A user's map with its parts counted once, so that they are found quickly.
///
/// The map's answers are checked as they are used, because nothing keeps it from contradicting itself. An
/// answer that cannot be is replaced by one that can be, so that nobody reads or writes outside memory; the
/// first such answer is kept and becomes the error of every operation on the distribution.
#[derive(Clone, Debug)]
pub struct Custom {
    map: Arc<dyn CustomMap>,
    // The parts' coordinates one after the other.
    packed: BlockBounds,
    fault: Arc<OnceLock<IndexError>>,
}

/// The number of positions of each part, and of coordinates of the whole, that are tried when a map is built.
const SAMPLES: i64 = 8;

impl Custom {
    /// Counts the parts of a map, and tries the ends and some positions in between of each part: cheap for
    /// any extent.
    ///
    /// # Errors
    /// Counts that do not sum to the size; methods that contradict each other where they were tried.
    pub fn new(map: Arc<dyn CustomMap>) -> Result<Custom> {
        let parts = map.parts();
        check_parts("custom map", parts)?;
        check_size("custom map", map.size())?;
        let mut bounds = vec![0i64];
        for part in 0..parts {
            let (count, so_far) = (map.count(part), bounds[part]);
            let Some(stop) = so_far.checked_add(count).filter(|_| count >= 0) else {
                return Err(wrong(&*map, "counts of at least 0".into(), format!("{count} for part {part}")));
            };
            bounds.push(stop);
        }
        if bounds[parts] != map.size() {
            let expected = format!("counts that sum to the size {}", map.size());
            return Err(wrong(&*map, expected, format!("a sum of {}", bounds[parts])));
        }
        let custom = Custom { packed: BlockBounds::listed(&bounds)?, map, fault: Arc::default() };
        for part in 0..parts {
            for local in sample(custom.count(part)) {
                custom.there_and_back(part, local);
            }
        }
        sample(custom.packed.size()).for_each(|global| custom.back_and_there(global));
        custom.sound()?;
        Ok(custom)
    }

    /// Tries every coordinate: that it has an owner, that its position is one of the owner's, and that the
    /// position leads back.
    ///
    /// # Errors
    /// The first contradiction.
    pub fn check(&self) -> Result<()> {
        for global in 0..self.packed.size() {
            self.back_and_there(global);
            self.sound()?;
        }
        Ok(())
    }

    /// Whether all answers so far were possible.
    ///
    /// # Errors
    /// The first one that was not.
    pub(crate) fn sound(&self) -> Result<()> {
        self.fault.get().map_or(Ok(()), |fault| Err(fault.clone()))
    }

    /// The user's map.
    pub fn map(&self) -> &dyn CustomMap {
        &*self.map
    }

    /// The owner of a coordinate, and its position there.
    pub(crate) fn to_local(&self, global: i64) -> (usize, i64) {
        let (part, local) = self.map.to_local(global);
        if part < self.packed.parts() && (0..self.count(part)).contains(&local) {
            return (part, local);
        }
        self.blame("positions below the part's count", || {
            format!("position {local} of part {part} for coordinate {global}")
        });
        let part = self.packed.owner(global).unwrap_or(0);
        (part, global - self.packed.start(part))
    }

    /// The coordinate at a position of a part.
    pub(crate) fn to_global(&self, part: usize, local: i64) -> i64 {
        let global = self.map.to_global(part, local);
        if !(0..self.packed.size()).contains(&global) {
            let expected = format!("coordinates from 0 to {}", self.packed.size() - 1);
            self.blame(&expected, || format!("{global} at position {local} of part {part}"));
            return self.packed.start(part) + local;
        }
        global
    }

    /// The coordinates of `part`, in its order: as many as were counted, each of which leads back to its
    /// position.
    pub fn owned_set(&self, part: usize) -> IndexSet {
        let (count, counted) = (self.map.count(part), self.count(part));
        if count != counted {
            self.blame(&format!("{counted} coordinates, as before"), || format!("{count} for part {part}"));
        }
        let each = || (0..counted).map(|local| self.there_and_back(part, local)).collect();
        self.given_set(part).unwrap_or_else(|| IndexSet::List(each()))
    }

    /// The ranges of `part` that the author gives, if they can be: tried at the ends and in between.
    fn given_set(&self, part: usize) -> Option<IndexSet> {
        let (set, count) = (self.map.owned_set(part)?, self.count(part));
        if set.len() != count {
            self.blame(&format!("{count} coordinates"), || format!("a set of {} for part {part}", set.len()));
            return None;
        }
        let differs = sample(count).find(|&local| set.nth(local) != Some(self.to_global(part, local)));
        let outside =
            |list: &Vec<i64>| list.iter().position(|global| !(0..self.packed.size()).contains(global));
        let outside = if let IndexSet::List(list) = &set { outside(list) } else { None };
        let Some(local) = differs.or(outside.map(|local| local as i64)) else { return Some(set) };
        let given = || format!("{:?} in place {local} of part {part}'s set", set.nth(local));
        self.blame("sets as `to_global` gives them", given);
        None
    }

    fn count(&self, part: usize) -> i64 {
        self.packed.start(part + 1) - self.packed.start(part)
    }

    /// The coordinate at a position, which leads back to it.
    fn there_and_back(&self, part: usize, local: i64) -> i64 {
        let global = self.to_global(part, local);
        let back = self.to_local(global);
        if back != (part, local) {
            let expected = format!("coordinate {global} at position {local} of part {part}");
            self.blame(&expected, || format!("position {} of part {}", back.1, back.0));
        }
        global
    }

    /// Tries a coordinate, whose position leads back to it.
    fn back_and_there(&self, global: i64) {
        let (part, local) = self.to_local(global);
        let back = self.to_global(part, local);
        if back != global {
            let expected = format!("coordinate {global} to lead back to itself");
            self.blame(&expected, || format!("{back} at position {local} of part {part}"));
        }
    }

    /// Keeps the first answer that cannot be.
    fn blame(&self, expected: &str, given: impl FnOnce() -> String) {
        self.fault.get_or_init(|| wrong(&*self.map, expected.to_owned(), given()));
    }

    pub(crate) fn packed(&self) -> &BlockBounds {
        &self.packed
    }
}

/// Both ends of a range, and some places in between.
fn sample(count: i64) -> impl Iterator<Item = i64> {
    let step = (count / SAMPLES).max(1);
    (0..count).step_by(step as usize).chain((count > 0).then_some(count - 1))
}

fn wrong(map: &dyn CustomMap, expected: String, given: String) -> IndexError {
    let given = format!("{given} from the map `{}`", map.name());
    let remedy = "make `count`, `to_local` and `to_global` agree";
    IndexError::new(ErrorKind::Bounds, "custom map", expected, given, remedy)
}

impl PartialEq for Custom {
    fn eq(&self, other: &Custom) -> bool {
        Arc::ptr_eq(&self.map, &other.map) || (self.packed == other.packed && self.map.equal(&*other.map))
    }
}

impl Eq for Custom {}
