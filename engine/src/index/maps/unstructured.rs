//! [`Unstructured`]: a list of coordinates per part.

use std::sync::Arc;

use super::blocks::check_parts;
use crate::index::error::{ErrorKind, IndexError, Result, check_room};

/// Lists of coordinates, one per part, in the order in which the part stores them. This is the one kind of
/// map whose memory grows with the number of coordinates.
///
/// A part never lists a coordinate twice, but unless the map is one to one, several parts may list the same.
/// Then the first of those parts owns it, the others hold copies: it may be read from any copy, it is written
/// at its owner, and the copies are refreshed from there. Copies that have come to differ lose to the owner's
/// value.
///
/// The names in the lists may be any integers: with [`Unstructured::labelled`] they may be negative or have
/// gaps. Coordinates of the dimension are then the positions of the names in ascending order, and run from 0
/// to the number of different names, as in every other map.
#[derive(Clone, Debug)]
pub struct Unstructured(Arc<OwnedLists>);

#[derive(Debug)]
struct OwnedLists {
    one_to_one: bool,
    // Part `p` holds `held[starts[p]..starts[p + 1]]`.
    starts: Vec<i64>,
    held: Vec<i64>,
    // Places in `held` by coordinate, then by part: those of coordinate `g` from `first(g)` on.
    places: Vec<i64>,
    // The beginning of the places of each coordinate; empty if there is one place for each.
    firsts: Vec<i64>,
    // The names of the coordinates, ascending; empty where they are the coordinates themselves.
    labels: Vec<i64>,
}

impl Unstructured {
    /// Lists whose coordinates are 0, 1, ... without gaps. `one_to_one` promises that none is listed by two
    /// parts.
    pub fn new(lists: &[Vec<i64>], one_to_one: bool) -> Result<Unstructured> {
        let map = Unstructured::labelled(lists, one_to_one)?;
        let Some((position, label)) = map.0.labels.iter().enumerate().find(|(p, label)| *p as i64 != **label)
        else {
            return Ok(map);
        };
        let (part, _) = map.to_local(position as i64).unwrap_or_default();
        let given = match label {
            ..0 => format!("{label} in the list of part {part}"),
            _ => format!("{label} in the list of part {part}, and {position} in none"),
        };
        Err(refuse("all coordinates from 0 up to the size", given, "use labelled lists for other names"))
    }

    /// Lists of any names.
    pub fn labelled(lists: &[Vec<i64>], one_to_one: bool) -> Result<Unstructured> {
        check_parts("unstructured map", lists.len())?;
        let mut starts = vec![0i64];
        starts.extend(lists.iter().scan(0, |sum, list| {
            *sum += list.len() as i64;
            Some(*sum)
        }));
        // Five lists, two of which are twice as long while they grow.
        check_room("unstructured map", starts[lists.len()].saturating_mul(7 * size_of::<i64>() as i64))?;
        let names: Vec<i64> = lists.concat();
        let mut places: Vec<i64> = (0..names.len() as i64).collect();
        places.sort_unstable_by_key(|&place| (names[place as usize], place));
        let name = |k: usize| names[places[k] as usize];
        let part = |k: usize| part_of(&starts, places[k]);
        for k in 1..places.len() {
            if name(k - 1) == name(k) && (one_to_one || part(k - 1) == part(k)) {
                return Err(twice(name(k), part(k - 1), part(k)));
            }
        }
        let firsts = (0..places.len()).filter(|&k| k == 0 || name(k - 1) != name(k));
        let mut firsts: Vec<i64> = firsts.map(|k| k as i64).collect();
        let mut labels: Vec<i64> = firsts.iter().map(|&k| name(k as usize)).collect();
        let mut held = vec![0; names.len()];
        firsts.push(places.len() as i64);
        for (g, ends) in firsts.windows(2).enumerate() {
            for k in ends[0]..ends[1] {
                held[places[k as usize] as usize] = g as i64;
            }
        }
        let unique = labels.len() == held.len();
        if labels.iter().enumerate().all(|(g, label)| g as i64 == *label) {
            labels = Vec::new();
        }
        let firsts = if unique { Vec::new() } else { firsts };
        Ok(Unstructured(Arc::new(OwnedLists { one_to_one, starts, held, places, firsts, labels })))
    }

    /// The coordinates that `keep` likes, in the order of every list. They keep their names; those that are
    /// their own names are renumbered.
    pub(crate) fn restricted(
        &self,
        keep: impl Fn(&i64) -> bool,
        renumbered: impl Fn(i64) -> i64,
    ) -> Result<Unstructured> {
        let name = |g: i64| if self.0.labels.is_empty() { renumbered(g) } else { self.0.labels[g as usize] };
        // Lists that grow are twice as long meanwhile.
        check_room("unstructured map", 3 * size_of_val(&self.0.held[..]) as i64)?;
        let kept = |part: usize| self.held(part).iter().copied().filter(&keep).map(name).collect();
        let lists: Vec<Vec<i64>> = (0..self.parts()).map(kept).collect();
        Unstructured::labelled(&lists, self.one_to_one())
    }

    /// The number of parts.
    pub fn parts(&self) -> usize {
        self.0.starts.len() - 1
    }

    /// The number of different coordinates.
    pub fn size(&self) -> i64 {
        let firsts = if self.0.firsts.is_empty() { self.0.held.len() } else { self.0.firsts.len() - 1 };
        firsts as i64
    }

    /// Whether it was promised, and so checked, that no two parts list the same coordinate.
    pub fn one_to_one(&self) -> bool {
        self.0.one_to_one
    }

    /// Whether some coordinate is listed by several parts.
    pub fn has_copies(&self) -> bool {
        !self.0.firsts.is_empty()
    }

    /// The number of coordinates that the parts before `part` hold together, copies included.
    ///
    /// # Panics
    /// If there are fewer parts.
    pub fn before(&self, part: usize) -> i64 {
        self.0.starts[part]
    }

    /// The coordinates that `part` holds, in its order.
    ///
    /// # Panics
    /// If there is no such part.
    pub fn held(&self, part: usize) -> &[i64] {
        &self.0.held[self.0.starts[part] as usize..self.0.starts[part + 1] as usize]
    }

    /// The owner of a coordinate, and its position there.
    pub fn to_local(&self, global: i64) -> Option<(usize, i64)> {
        self.copies(global).next()
    }

    /// Every part that holds a coordinate, the owner first, with its position there.
    pub fn copies(&self, global: i64) -> impl Iterator<Item = (usize, i64)> + '_ {
        let places = match usize::try_from(global).ok().filter(|_| global < self.size()) {
            None => &[],
            Some(g) if self.0.firsts.is_empty() => &self.0.places[g..=g],
            Some(g) => &self.0.places[self.0.firsts[g] as usize..self.0.firsts[g + 1] as usize],
        };
        places.iter().map(|&place| {
            let part = part_of(&self.0.starts, place);
            (part, place - self.0.starts[part])
        })
    }

    /// The name of a coordinate in the lists.
    pub fn label(&self, global: i64) -> Option<i64> {
        let g = usize::try_from(global).ok().filter(|_| global < self.size())?;
        Some(self.0.labels.get(g).copied().unwrap_or(global))
    }

    /// The coordinate with a name.
    pub fn position(&self, label: i64) -> Option<i64> {
        if self.0.labels.is_empty() {
            return (0..self.size()).contains(&label).then_some(label);
        }
        self.0.labels.binary_search(&label).ok().map(|g| g as i64)
    }
}

/// The part that holds a place; parts without places are passed over.
fn part_of(starts: &[i64], place: i64) -> usize {
    starts.partition_point(|&start| start <= place) - 1
}

fn twice(name: i64, first: usize, second: usize) -> IndexError {
    if first == second {
        return refuse(
            "different coordinates in every list",
            format!("{name} twice in the list of part {first}"),
            "list every coordinate of a part once",
        );
    }
    refuse(
        "every coordinate in one list, as one_to_one promises",
        format!("{name} in the lists of parts {first} and {second}"),
        "list it once, or do not promise one_to_one",
    )
}

fn refuse(expected: &str, given: String, remedy: &'static str) -> IndexError {
    IndexError::new(ErrorKind::Bounds, "unstructured map", expected, given, remedy)
}

impl PartialEq for Unstructured {
    fn eq(&self, other: &Unstructured) -> bool {
        let (a, b) = (&self.0, &other.0);
        Arc::ptr_eq(a, b) || (a.starts == b.starts && a.labels == b.labels && a.held == b.held)
    }
}

impl Eq for Unstructured {}
