//! The cells of a move as loops over memory: what a launch needs to copy them. Merges loops that are one walk
//! through memory, so that a face that is contiguous is seen to be. Knows elements; knows no devices.

use partita_kernels::{MAX_RANK, View};

use crate::index::Region;
use crate::plan::{AxisSubset, Move};
use crate::program::Place;
use crate::program::copies::Walk;

/// One end of a move: where it begins in its memory, and one walk per loop.
#[derive(Clone, Debug)]
pub(super) struct End {
    pub offset: i64,
    pub walks: Vec<Walk>,
}

impl End {
    pub fn source(m: &Move, place: &Place) -> End {
        End::of(m, place, &m.from, |pair| pair.0)
    }

    pub fn target(m: &Move, place: &Place) -> End {
        End::of(m, place, &m.to, |pair| pair.1)
    }

    /// Memory that has the cells one after the other, from element `first` on.
    pub fn packed(extents: &[i64], first: i64) -> End {
        let mut step = 1;
        let mut walks: Vec<Walk> = Vec::with_capacity(extents.len());
        for extent in extents.iter().rev() {
            walks.push(Walk::Step(step));
            step *= extent;
        }
        walks.reverse();
        End { offset: first, walks }
    }

    fn of(m: &Move, place: &Place, region: &Region, side: impl Fn((i64, i64)) -> i64) -> End {
        let strides = place.strides();
        let mut walks = Vec::new();
        for (d, &stride) in strides.iter().enumerate() {
            match m.subsets.as_ref().map(|subsets| &subsets[d]) {
                None => walks.push(Walk::Step(stride)),
                Some(AxisSubset::Runs { from_step, to_step, .. }) => {
                    walks.extend([Walk::Step(stride * side((*from_step, *to_step))), Walk::Step(stride)]);
                }
                Some(list @ AxisSubset::List(_)) => {
                    walks.push(Walk::List((0..list.len()).map(|k| stride * side(list.nth(k))).collect()));
                }
            }
        }
        End { offset: place.view(region.start()).offset, walks }
    }

    /// The end as a view, if no walk is a list.
    pub fn view(&self) -> Option<View> {
        let step = |walk: &Walk| match walk {
            Walk::Step(step) => Some(*step),
            Walk::List(_) => None,
        };
        Some(View { offset: self.offset, strides: self.walks.iter().map(step).collect::<Option<_>>()? })
    }
}

/// How often the loops of a move run, those of the first dimension outermost; the walks of its ends are as
/// many.
pub(super) fn extents(m: &Move) -> Vec<i64> {
    let Some(subsets) = &m.subsets else { return m.from.extents().to_vec() };
    let loops = |subset: &AxisSubset| match subset {
        AxisSubset::Runs { run, count, .. } => vec![*count, *run],
        AxisSubset::List(_) => vec![subset.len()],
    };
    subsets.iter().flat_map(loops).collect()
}

/// A nest of loops and how both ends walk; the last loop is the innermost.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    pub extents: Vec<i64>,
    pub from: End,
    pub to: End,
}

impl Cells {
    /// The shortest nest for two ends; several nests where a kernel could not have as many loops.
    pub fn between(extents: &[i64], from: End, to: End) -> Vec<Cells> {
        let mut nest = Cells {
            extents: Vec::new(),
            from: End { walks: Vec::new(), ..from },
            to: End { walks: Vec::new(), ..to },
        };
        for ((&extent, from), to) in extents.iter().zip(from.walks).zip(to.walks) {
            nest.push(extent, from, to);
        }
        nest.split()
    }

    /// One more loop, inside of all so far.
    fn push(&mut self, extent: i64, from: Walk, to: Walk) {
        if extent == 1 {
            self.from.offset += from.nth(0);
            self.to.offset += to.nth(0);
            return;
        }
        let joins = |outer: Option<&Walk>, inner: &Walk| match (outer, inner) {
            (Some(Walk::Step(outer)), Walk::Step(inner)) => *outer == inner * extent,
            _ => false,
        };
        match self.extents.last_mut() {
            Some(last) if joins(self.from.walks.last(), &from) && joins(self.to.walks.last(), &to) => {
                *last *= extent;
                self.from.walks.pop();
                self.to.walks.pop();
            }
            _ => self.extents.push(extent),
        }
        self.from.walks.push(from);
        self.to.walks.push(to);
    }

    fn split(self) -> Vec<Cells> {
        if self.extents.len() <= MAX_RANK {
            return vec![self];
        }
        let inner = |end: &End, k: i64| End {
            offset: end.offset + end.walks[0].nth(k),
            walks: end.walks[1..].to_vec(),
        };
        let each = |k: i64| Cells {
            extents: self.extents[1..].to_vec(),
            from: inner(&self.from, k),
            to: inner(&self.to, k),
        };
        (0..self.extents[0]).flat_map(|k| each(k).split()).collect()
    }

    /// The number of cells.
    pub fn count(&self) -> i64 {
        self.extents.iter().product()
    }
}

/// The first element of cells that lie one after the other in C order.
pub(super) fn contiguous(extents: &[i64], end: &End) -> Option<i64> {
    let nest = Cells::between(extents, end.clone(), End::packed(extents, 0));
    let [Cells { from, .. }] = &nest[..] else { return None };
    match &from.walks[..] {
        [] | [Walk::Step(1)] => Some(from.offset),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn steps(steps: &[i64]) -> Vec<Walk> {
        steps.iter().map(|&step| Walk::Step(step)).collect()
    }

    #[test]
    fn loops_that_are_one_walk_are_merged() {
        let whole = End { offset: 5, walks: steps(&[12, 4, 1]) };
        assert_eq!(contiguous(&[2, 3, 4], &whole), Some(5));
        assert_eq!(contiguous(&[2, 3, 3], &whole), None);
        assert_eq!(contiguous(&[1, 2, 4], &whole), Some(5));
        assert_eq!(contiguous(&[2, 1, 1], &whole), None);
        let cells = Cells::between(&[2, 3, 3], whole, End::packed(&[2, 3, 3], 0));
        assert_eq!((&cells[0].extents, &cells[0].to.walks), (&vec![6, 3], &steps(&[3, 1])));
        assert_eq!(cells[0].from.walks, steps(&[4, 1]));
    }

    #[test]
    fn a_loop_that_runs_once_is_only_a_beginning() {
        let listed = End { offset: 5, walks: vec![Walk::List([7].into()), Walk::Step(1)] };
        let cells = Cells::between(&[1, 4], listed, End::packed(&[1, 4], 2));
        assert_eq!((cells[0].from.offset, cells[0].to.offset, &cells[0].extents), (12, 2, &vec![4]));
    }

    #[test]
    fn more_loops_than_a_kernel_has_become_several_nests() {
        let extents = [2; 10];
        let far = End { offset: 0, walks: (0..10).map(|k| Walk::Step(3i64.pow(k))).collect() };
        let nests = Cells::between(&extents, far, End::packed(&extents, 0));
        assert_eq!((nests.len(), nests.iter().map(Cells::count).sum::<i64>()), (4, 1 << 10));
        assert_eq!(nests.iter().map(|nest| nest.to.offset).collect::<Vec<_>>(), [0, 256, 512, 768]);
    }
}
