//! Loop-invariant copies. Cells that a step only keeps (the faces of a cube) are copied between the memories
//! of the cycle in the first round; later replays skip these copies unless another command writes the cells.

use std::collections::{BTreeSet, HashMap, HashSet};

use partita_kernels::{Access, Form, Launch};

use std::sync::Arc;

use crate::device::{Allocation, Job, Stream};
use crate::program::{self, Command, Schedule};

/// A box of elements, as it lies in memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct StridedBox {
    element_bytes: usize,
    offset: i64,
    /// Strides, and how many elements lie along them if more than one; descending.
    along: Vec<(i64, i64)>,
}

/// A write of a command to one memory.
struct Write {
    memory: u64,
    /// Anywhere if none.
    cells: Option<StridedBox>,
    /// The memory that had the same elements at the same place, if they are copied.
    from: Option<u64>,
}

/// The steps of a cycle, each of which has run, without copies that change nothing from now on.
pub(crate) fn without_invariant_copies(steps: Vec<Schedule>) -> Vec<Schedule> {
    let mut writes: HashMap<u64, Vec<Write>> = HashMap::new();
    let mut copies: HashMap<StridedBox, Vec<(u64, u64)>> = HashMap::new();
    for write in steps.iter().flatten().flat_map(writes_of) {
        if let (Some(cells), Some(from)) = (&write.cells, write.from) {
            copies.entry(cells.clone()).or_default().push((from, write.memory));
        }
        writes.entry(write.memory).or_default().push(write);
    }
    let is_invariant = |cells: &StridedBox, copies: &[(u64, u64)]| {
        let memories: BTreeSet<u64> = copies.iter().flat_map(|&(from, to)| [from, to]).collect();
        let mut others = memories.iter().filter_map(|memory| writes.get(memory)).flatten();
        others.all(|write| write.spares(cells)) && converges(copies)
    };
    copies.retain(|cells, copies| is_invariant(cells, copies));
    let invariant: HashSet<StridedBox> = copies.into_keys().collect();
    let stays =
        |job: &Job| !copied(job).is_some_and(|write| write.cells.is_some_and(|c| invariant.contains(&c)));
    let kept = |command: Command| match command.op {
        program::Op::Launch { device, job } if command.stream == Stream::Compute => {
            stays(&job).then(|| program::Op::Launch { device, job }.into())
        }
        program::Op::BatchedLaunch { device, mut jobs } if command.stream == Stream::Compute => {
            jobs.retain(stays);
            (!jobs.is_empty()).then(|| program::Op::BatchedLaunch { device, jobs }.into())
        }
        // Other streams are left as they are.
        op => Some(Command { op, ..command }),
    };
    steps.into_iter().map(|step| step.into_iter().filter_map(kept).collect()).collect()
}

/// Whether elements at one place of several memories are the same in all that meet, after they were copied
/// in this order once.
fn converges(copies: &[(u64, u64)]) -> bool {
    let mut values: HashMap<u64, u64> = HashMap::new();
    for (from, to) in copies {
        let value = values.get(from).copied().unwrap_or(*from);
        values.insert(*to, value);
    }
    let value = |memory: &u64| values.get(memory).copied().unwrap_or(*memory);
    copies.iter().all(|(from, to)| value(from) == value(to))
}

fn writes_of(command: &Command) -> Vec<Write> {
    let jobs = command.op.jobs();
    if command.stream == Stream::Compute && !jobs.is_empty() {
        return jobs.iter().flat_map(written_by).collect();
    }
    let anywhere = |memory: &Arc<Allocation>| Write { memory: memory.id, cells: None, from: None };
    command.op.writes().map(anywhere).collect()
}

fn written_by(job: &Job) -> Vec<Write> {
    if let Some(write) = copied(job) {
        return vec![write];
    }
    let kernel = job.program.kernel().kernel();
    let is_pointwise = matches!(kernel.form, Form::Elementwise { .. });
    let all = kernel.params.iter().enumerate().filter(|(_, param)| param.access != Access::In);
    let write = |(at, _)| {
        let cells = is_pointwise.then(|| StridedBox::of(job, at));
        Write { memory: job.memory[at].id, cells, from: None }
    };
    all.map(write).collect()
}

/// A launch that copies elements to the same place of another memory.
fn copied(job: &Job) -> Option<Write> {
    let Some([copy]) = job.program.kernel().footprint().copies() else { return None };
    let (from, to) = (copy.from.param as usize, copy.to as usize);
    let Launch { views, .. } = &*job.launch;
    let in_place = copy.from.is_at_point() && views[from] == views[to];
    (in_place && job.memory[from].id != job.memory[to].id).then(|| Write {
        memory: job.memory[to].id,
        cells: Some(StridedBox::of(job, to)),
        from: Some(job.memory[from].id),
    })
}

impl Write {
    /// Whether the elements stay, or come from another memory with the same.
    fn spares(&self, cells: &StridedBox) -> bool {
        let Some(own) = &self.cells else { return false };
        (own == cells && self.from.is_some()) || own.is_apart(cells)
    }
}

impl StridedBox {
    /// The cells of parameter `at` that a launch touches at its points.
    fn of(job: &Job, at: usize) -> StridedBox {
        let Launch { extents, views, .. } = &*job.launch;
        let along = views[at].strides.iter().zip(extents).map(|(&stride, &extent)| (stride, extent as i64));
        let mut along: Vec<(i64, i64)> = along.filter(|&(_, extent)| extent != 1).collect();
        along.sort_by_key(|&(stride, _)| std::cmp::Reverse(stride));
        let element_bytes = job.program.kernel().kernel().params[at].dtype.size_bytes();
        StridedBox { element_bytes, offset: views[at].offset, along }
    }

    /// Whether two boxes are known to have no element in common.
    fn is_apart(&self, other: &StridedBox) -> bool {
        let strides: BTreeSet<i64> =
            self.along.iter().chain(&other.along).map(|&(stride, _)| stride).collect();
        let nested = strides.iter().zip(strides.iter().skip(1)).all(|(inner, outer)| outer % inner == 0);
        if self.element_bytes != other.element_bytes || strides.first().is_some_and(|&s| s < 1) || !nested {
            return false;
        }
        let places = |cells: &StridedBox| cells.places(&strides);
        let (Some((a, a_rest)), Some((b, b_rest))) = (places(self), places(other)) else { return false };
        let differ = |((a, na), (b, nb)): (&(i64, i64), &(i64, i64))| a + na <= *b || b + nb <= *a;
        a_rest != b_rest || a.iter().zip(&b).any(differ)
    }

    /// The first element and the extent along each of these strides, the longest first, and what is left of
    /// the offset; `None` if a row does not end before the next begins.
    fn places(&self, strides: &BTreeSet<i64>) -> Option<(Vec<(i64, i64)>, i64)> {
        let (mut rest, mut room, mut places) = (self.offset, i64::MAX, Vec::new());
        for &stride in strides.iter().rev() {
            let first = rest.div_euclid(stride);
            let extent = self.along.iter().find(|(own, _)| *own == stride).map_or(1, |(_, extent)| *extent);
            if first + extent > room / stride {
                return None;
            }
            places.push((first, extent));
            (rest, room) = (rest.rem_euclid(stride), stride);
        }
        Some((places, rest))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::array::record;
    use crate::prelude::*;

    fn cells(offset: i64, along: &[(i64, i64)]) -> StridedBox {
        StridedBox { element_bytes: 4, offset, along: along.to_vec() }
    }

    #[test]
    fn boxes_are_apart_where_a_coordinate_tells() {
        // Of a plane of 10 columns: the inside of 8 x 8 elements, and its frame.
        let inside = cells(11, &[(10, 8), (1, 8)]);
        let frame = [
            cells(0, &[(1, 10)]),
            cells(90, &[(1, 10)]),
            cells(0, &[(10, 10)]),
            cells(9, &[(10, 10)]),
            cells(10, &[(10, 8)]),
        ];
        for edge in &frame {
            assert!(edge.is_apart(&inside) && inside.is_apart(edge), "{edge:?}");
        }
        for other in [cells(11, &[]), cells(18, &[(10, 2)]), cells(5, &[(1, 20)]), cells(88, &[(1, 3)])] {
            assert!(!other.is_apart(&inside) && !inside.is_apart(&other), "{other:?}");
        }
        assert!(!frame[0].is_apart(&frame[2]), "a corner");
        assert!(!cells(19, &[(10, 8), (1, 2)]).is_apart(&cells(10, &[(10, 8)])), "rows that go on below");
        assert!(!StridedBox { element_bytes: 8, ..cells(0, &[]) }.is_apart(&inside));
    }

    #[test]
    fn cycles_of_copies_converge_and_swaps_do_not() {
        assert!(converges(&[(1, 2), (2, 1)]));
        assert!(converges(&[(1, 2), (2, 3), (3, 1)]));
        assert!(converges(&[(1, 2), (1, 3)]));
        assert!(!converges(&[(1, 3), (2, 1), (3, 2)]), "1 and 2 change places");
        assert!(!converges(&[(1, 2), (3, 2)]), "2 is now one and then the other");
    }

    #[test]
    fn edges_are_copied_once_unless_somebody_writes_them() {
        let team = Team::on(&[Device::host()], 2).unwrap();
        let dist = Distribution::builder(&[9, 8]).parts(2).halo(&[1, 0], &[1, 0]).build().unwrap();
        let launches = |steps: &[Schedule]| steps.iter().flatten().flat_map(writes_of).count();
        // The inside of two parts, and of each the row and the two columns that stay; then an edge, computed
        // in temporary memory and copied. It changes a column and a corner of the row.
        for (writes_edge, recorded, needed) in [(false, 2 + 6, 2), (true, 2 + 6 + 4, 2 + 4 + 4)] {
            let mut u = Array::from_fn(&team, &dist, |at| (at[0] * at[1]) as f32).unwrap();
            let mut step = || {
                let next = u.slice(&s![1..-1, 1..-1]) + u.slice(&s![1..-1, ..-2]) * 0.5;
                u.assign(&s![1..-1, 1..-1], &next)?;
                if writes_edge {
                    let edge = u.slice(&s![.., 1..2]) * 0.5;
                    u.assign(&s![.., 0..1], &edge)?;
                }
                Ok(())
            };
            let steps: Vec<Schedule> = (0..4).map(|_| record(&mut step).unwrap()).collect();
            let all = steps[2..].to_vec();
            assert_eq!(launches(&all), 2 * recorded, "{writes_edge}");
            assert_eq!(launches(&without_invariant_copies(all)), 2 * needed, "{writes_edge}");
        }
    }
}
