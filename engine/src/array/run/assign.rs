//! Assignment to a window of an array or to elements by their number, which computes at once; and moves to
//! another distribution, which are recorded, or to another team, which compute at once.
//!
//! Assignment makes a new value whose window is computed and whose rest is the old value. Reads in the
//! assigned expression see the old value, whatever overlaps. A window is computed in place if neither another
//! handle nor the assigned expression needs the old value; otherwise a large one into fresh memory, and the
//! rest is copied. Other small windows, strided and non-contiguous ones are computed into temporary memory
//! and copied.

use std::sync::Arc;

use crate::array::bind::schedule::missing_part;
use crate::array::handle::{Array, check_parts};
use crate::array::lower::graph::{Placement, Target};
use crate::array::lower::steps::list::{MemoryId, StepList, StoredArray};
use crate::array::lower::steps::listed::{scatter_elements, scatter_window};
use crate::array::memory::pitch::Pitch;
use crate::array::memory::storage::{HaloWidths, Storage};
use crate::array::memory::window::{ArrayWindow, ComputeRegion};
use crate::array::record::expr::{Expr, NodeLayout};
use crate::array::record::map::{Map, check_count, check_positions, point};
use crate::array::record::node::Node;
use crate::array::record::view::{Selected, Span, resolve};
use crate::array::recorder::recording::{BoundTask, Recorder};
use crate::array::run::evaluate::{compute_targets, evaluate, run_steps};
use crate::array::run::moves::moving;
use crate::device::{collect, push};
use crate::error::{Error, Result};
use crate::index::{Along, Distribution, Index, Region};
use crate::program::{CopyMode, copy_views};
use crate::team::{Team, evaluation};
use crate::wire::pass;

impl Array {
    /// Replaces the elements of a view by those of `value`, which broadcasts to the view's shape:
    /// `u.assign(&s![..; 2, -1], &x)`. Reads of this array inside `value` see the old elements. Computes at
    /// once.
    ///
    /// # Errors
    /// Spans outside the shape, shapes or dtypes that do not fit, and those of [`Array::eval`]; the
    /// array then keeps its value.
    #[doc = example!(
        "let mut v = u.clone();"
        "v.assign(&s![.., 0], &(u.slice(&s![.., 2]) * 10))?;"
        "assert_eq!(v.to_vec::<f64>()?, [20.0, 1.0, 2.0, 50.0, 4.0, 5.0]);"
    )]
    pub fn assign(&mut self, spans: &[Span], value: &Array) -> Result<()> {
        assign_all(&mut [(self, value)], spans)
    }
}

/// Assigns to the same view of several arrays at once, computing all values in one kernel where
/// they share a layout. Every value sees the old elements of every array.
///
/// # Errors
/// As [`Array::assign`]; no array is changed then.
#[doc = example!(
    "let (mut v, mut w) = (u.clone(), u.clone());"
    "let (a, b) = (v.slice(&s![0, ..]) + 1, w.slice(&s![0, ..]) * 2);"
    "partita::assign_all(&mut [(&mut v, &a), (&mut w, &b)], &s![1, ..])?;"
    "assert_eq!((v.get(&[1, 2])?, w.get(&[1, 2])?), (3.0.into(), 4.0.into()));"
)]
pub fn assign_all(pairs: &mut [(&mut Array, &Array)], spans: &[Span]) -> Result<()> {
    let Some((first, _)) = pairs.first() else { return Ok(()) };
    let team = first.node.team.clone();
    let checked = pairs.iter().map(|(array, value)| checked_assignment(array, value, spans));
    let assignments = checked.collect::<Result<Vec<Assignment>>>()?;
    let nodes = assignments.iter().flat_map(|assignment| [&assignment.base, &assignment.value]);
    let teams: Vec<Team> = nodes.flat_map(|node| node.teams()).cloned().collect();
    let _guard = evaluation(teams.iter())?;
    let recorder = Recorder::current();
    let values = team.together("assign", || run(&recorder, assignments))?;
    for ((array, _), node) in pairs.iter_mut().zip(values) {
        array.node = node;
    }
    Ok(())
}

fn checked_assignment(array: &Array, value: &Array, spans: &[Span]) -> Result<Assignment> {
    for node in [&array.node, &value.node] {
        if let Some(error) = node.error() {
            return Err(error);
        }
    }
    assignment(array, value, &resolve("assign", &array.shape(), spans)?)
}

/// One assignment, checked: shapes and types agree, the window lies inside.
pub(crate) struct Assignment {
    pub base: Arc<Node>,
    /// The box around what is assigned to.
    pub window: Region,
    /// Of the window, every so many-th element, from its first.
    pub steps: Index,
    /// Of the shape that has.
    pub value: Arc<Node>,
}

/// The assignment to a view that spans selected: the value takes the array's dimensions, turned round where
/// the view goes down.
pub(crate) fn assignment(array: &Array, value: &Array, selected: &Selected) -> Result<Assignment> {
    if value.dtype() != array.dtype() {
        return Err(Error::dtypes("assign", array.dtype(), value.dtype()));
    }
    let Selected { shape, map } = selected;
    let value = value.stretched("assign", shape)?;
    let value = match value.team() == array.team() {
        true => value,
        false => Array::of(value.node.beside("assign", &array.seen("assign", *shape, *map)?.node)?),
    };
    let (axes, rank) = (map.axes(), array.rank());
    let (mut steps, mut extents) = (Index::filled(rank, 1), Index::filled(rank, 1));
    let mut back = Map::from_fn(shape.rank(), |_| Along::Pinned(0));
    for (d, along) in axes.iter().enumerate() {
        if let Along::Dim { dim, step, .. } = *along {
            (steps[d], extents[d]) = (step.abs(), shape[dim]);
            let (offset, step) = if step < 0 { (shape[dim] - 1, -1) } else { (0, 1) };
            back = back.with(dim, Along::Dim { dim: d, offset, step });
        }
    }
    let span = |d: usize| match axes[d] {
        Along::Dim { offset, .. } if extents[d] == 0 => (offset, offset),
        along => along.span(0, extents[d]),
    };
    let window = Region::from_fn(rank, span);
    let turned = back.as_window(rank).is_none() || shape.rank() != rank;
    let value = if turned { value.seen("assign", extents, back)? } else { value };
    Ok(Assignment { base: Arc::clone(&array.node), window, steps, value: value.node })
}

impl Assignment {
    fn is_window(&self) -> bool {
        self.steps.iter().all(|&step| step == 1)
    }

    /// Whether its elements can be computed where they lie in memory for the whole array.
    fn fits_whole(&self) -> Result<bool> {
        Ok(self.is_window() && self.base.distribution()?.is_box(&self.window))
    }
}

/// Carries out assignments that are independent of each other; gives the new values in order.
fn run(recorder: &Recorder, assignments: Vec<Assignment>) -> Result<Vec<Arc<Node>>> {
    pass("assign")?;
    assignments.iter().for_each(|a| recorder.note(&(a.window, a.steps)));
    let each = |is: &dyn Fn(&Assignment) -> Result<bool>| -> Result<Vec<bool>> {
        assignments.iter().map(is).collect()
    };
    if each(&Assignment::fits_whole)?.contains(&false) {
        return assign_small(recorder, assignments);
    }
    let covered = |a: &Assignment| Ok::<bool, crate::error::Error>(a.window.volume()? == volume(&a.base)?);
    for assignment in &assignments {
        // Computed first, because its halo widths are those of the new memory.
        if !covered(assignment)? {
            evaluate(recorder, &[Arc::clone(&assignment.base)])?;
        }
    }
    // Decided for all before any is kept here: an expression that reads what another assigns to holds it.
    let over = each(&|a| Ok(!covered(a)? && !recorder.shares_exchange() && stands(&a.base, HELD)))?;
    let large = each(&|a| Ok(2 * a.window.volume()? > volume(&a.base)?))?;
    if over.iter().zip(&large).any(|(over, large)| !over && !large) {
        return assign_small(recorder, assignments);
    }
    let target = |(a, over): (&Assignment, &bool)| {
        let placement = if *over { Placement::InPlace } else { Placement::WindowOfFresh };
        Target { node: Arc::clone(&a.value), placement: placement((Arc::clone(&a.base), *a.window.start())) }
    };
    let targets = assignments.iter().zip(&over).map(target).collect();
    let mut results = Vec::with_capacity(assignments.len());
    for ((assignment, storage), in_place) in
        assignments.iter().zip(compute_targets(recorder, targets)?).zip(over)
    {
        if !covered(assignment)? && !in_place {
            copy_rest(recorder, assignment, &storage)?;
        }
        results.push(Node::shared(assignment.base.dtype, &assignment.base.team, storage));
    }
    Ok(results)
}

fn volume(node: &Node) -> Result<i64> {
    Ok(Region::from_shape(&node.shape)?.volume()?)
}

/// Copies the cells outside the window from the old value, as many as were computed inside.
fn copy_rest(recorder: &Recorder, assignment: &Assignment, new: &Storage) -> Result<()> {
    let Some(old) = assignment.base.storage() else {
        unreachable!("the old value was computed before");
    };
    let Assignment { base, window, .. } = assignment;
    let frame = ArrayWindow { base: Arc::clone(&old.dist), window: *window };
    let rest = |part| frame.outside(part, &new.valid_halo());
    recorder.execute(old.copy_boxes(&base.team, base.dtype, new, rest)?)
}

fn assign_small(recorder: &Recorder, assignments: Vec<Assignment>) -> Result<Vec<Arc<Node>>> {
    let targets: Vec<Arc<Node>> = assignments.iter().map(|a| Arc::clone(&a.base)).collect();
    evaluate(recorder, &targets)?;
    drop(targets);
    // All are computed before any is put into its array: they see the old elements.
    let computed = assignments.iter().map(|a| small(recorder, a)).collect::<Result<Vec<Small>>>()?;
    let mut results = Vec::with_capacity(assignments.len());
    for (assignment, computed) in assignments.into_iter().zip(computed) {
        let value = match computed {
            Small::Whole(node) => {
                results.push(node);
                continue;
            }
            Small::Temporary(value) => value,
        };
        let Assignment { base, window, steps, value: expression } = assignment;
        // Once computed, the expression no longer keeps the old value alive.
        if expression.storage().is_none() {
            expression.set_ready(Arc::clone(&value));
        }
        results.push(overwrite(recorder, base, &window, &steps, &value)?);
    }
    Ok(results)
}

/// A small window's new elements: in memory of their size, or those of the whole array.
enum Small {
    Temporary(Arc<Storage>),
    Whole(Arc<Node>),
}

/// Computes a small window: on the parts that own it, so that the copies into it stay local. Each is an
/// evaluation of its own, whatever a loop with deep halos requests of it.
fn small(recorder: &Recorder, assignment: &Assignment) -> Result<Small> {
    if !recorder.next_in_fresh_memory() || !assignment.fits_whole()? {
        return temporary(recorder, assignment).map(Small::Temporary);
    }
    let Assignment { base, window, value, .. } = assignment;
    let placement = Placement::WindowOfFresh((Arc::clone(base), *window.start()));
    let storage = compute_targets(recorder, vec![Target { node: Arc::clone(value), placement }])?.remove(0);
    copy_rest(recorder, assignment, &storage)?;
    Ok(Small::Whole(Node::shared(base.dtype, &base.team, storage)))
}

/// Computes a value in memory of its size, distributed like what is assigned to.
fn temporary(recorder: &Recorder, assignment: &Assignment) -> Result<Arc<Storage>> {
    let Assignment { base, window, steps, value } = assignment;
    let placement = if assignment.is_window() {
        Placement::Temporary((Arc::clone(base), *window.start()))
    } else {
        recorder.mark_unsupported(|| "the step assigns to a slice in steps".to_owned());
        let dist = Arc::new(base.distribution()?.strided(window, steps)?);
        let layout = Storage::from_parts(Arc::clone(&dist), vec![None; dist.parts()], Pitch::of(value.dtype));
        let layout = Node::ready(value.dtype, &value.team, layout);
        Placement::WindowOfFresh((layout, Index::zeros(window.rank())))
    };
    Ok(compute_targets(recorder, vec![Target { node: Arc::clone(value), placement }])?.remove(0))
}

/// Copies a value, which is distributed like what is assigned to, over the old elements.
fn overwrite(
    recorder: &Recorder,
    base: Arc<Node>,
    window: &Region,
    steps: &Index,
    value: &Arc<Storage>,
) -> Result<Arc<Node>> {
    let target = unshared(recorder, &base, HELD)?;
    let (team, dtype) = (&target.team, target.dtype);
    let Some(storage) = target.storage() else { unreachable!("computed above") };
    let plain = (0..storage.dist.rank()).all(|d| steps[d] == 1 || storage.dist.map(d).is_block());
    if !plain || !storage.dist.is_box(window) {
        recorder.mark_unsupported(|| "the step assigns to a slice along an unordered list".to_owned());
        let mut list = StepList::default();
        scatter_window(&mut list, &StoredArray::of(0, dtype, &storage), (window, steps), MemoryId::Array(1))?;
        run_steps((team, recorder), &list, &[(0, &storage), (1, value)], &[])?;
        storage.invalidate_halo();
        return Ok(target);
    }
    let in_steps = steps.iter().any(|&step| step != 1);
    let grow = if in_steps { HaloWidths::zero(window.rank()) } else { value.valid_halo() };
    let frame = ArrayWindow { base: Arc::clone(&storage.dist), window: *window };
    let regions = match in_steps {
        true => ComputeRegion::owned(&value.dist),
        false => frame.regions(&value.dist, &grow, &vec![false; window.rank()])?,
    };
    for (part, zone) in regions.iter().enumerate() {
        let (Some(from), Some(to)) = (value.place(team, part), storage.place(team, part)) else { continue };
        if zone.bounds.is_empty() {
            continue;
        }
        let corner = frame.corner(part, &zone.bounds)?;
        let first = |d: usize| match steps[d] {
            1 => corner[d],
            step => window.start()[d] + zone.bounds.start()[d] * step,
        };
        let mut into = to.view(&Index::from_fn(window.rank(), first));
        into.strides.iter_mut().zip(steps.iter()).for_each(|(stride, step)| *stride *= step);
        let ends = ((from.view(zone.bounds.start()), &from), (into, &to));
        recorder.execute(vec![copy_views(&zone.bounds.extents(), ends, CopyMode { dtype, add: false })?])?;
    }
    storage.set_valid_halo(storage.valid_halo().min(&grow));
    recorder.note_task(|| BoundTask::Overwrite { value: value.number, whole: storage.number });
    Ok(target)
}

/// References to what is assigned to: the handle holds one and the assignment the other.
const HELD: usize = 2;

/// Whether nobody but the `expected` references has a computed node, and so nobody sees its elements change.
fn stands(node: &Arc<Node>, expected: usize) -> bool {
    let Some(old) = node.storage() else { return false };
    let borrowed = || old.parts.iter().flatten().any(|buffer| buffer.allocation().is_borrowed());
    Arc::strong_count(node) <= expected && !old.is_seen() && !borrowed()
}

/// The node itself if nobody but the `expected` references has it, and so nobody sees its elements change;
/// otherwise one with a copy of them. It is computed.
pub(crate) fn unshared(recorder: &Recorder, node: &Arc<Node>, expected: usize) -> Result<Arc<Node>> {
    let Some(old) = node.storage() else { unreachable!("only computed nodes are written") };
    if stands(node, expected) {
        return Ok(Arc::clone(node));
    }
    let copy = old.like(&node.team, node.dtype)?;
    let (copies, fresh) = old.copy_current(&node.team, node.dtype, &copy)?;
    recorder.execute(copies)?;
    copy.set_valid_halo(fresh);
    recorder.note_task(|| BoundTask::Copy { from: old.number, to: copy.number });
    Ok(Node::ready(node.dtype, &node.team, copy))
}

/// Of an array with `cells` elements the positions that are named, ascending, and where each is named last.
fn last_of_all(cells: usize, positions: &[i64]) -> Result<Vec<(i64, i64)>> {
    let named = positions.iter().zip(0..).map(|(&at, k)| (at, k));
    if positions.windows(2).all(|pair| pair[0] < pair[1]) {
        return collect("scatter", named);
    }
    // Of many positions a table of all elements is filled sooner than the positions are sorted.
    if positions.len() >= cells / 16 {
        let mut last = collect("scatter", std::iter::repeat_n(-1, cells))?;
        named.for_each(|(at, k)| last[at as usize] = k);
        return collect("scatter", (0..).zip(last).filter(|&(_, k)| k >= 0));
    }
    let mut sorted = collect("scatter", named)?;
    sorted.sort_unstable_by_key(|&(at, k)| (at, std::cmp::Reverse(k)));
    sorted.dedup_by_key(|pick| pick.0);
    Ok(sorted)
}

/// By part, the positions that it owns, ascending, and where each is named last.
fn last_of_each(dist: &Distribution, positions: &[i64]) -> Result<Vec<Vec<(i64, i64)>>> {
    let named = last_of_all(Region::from_shape(&dist.shape())?.volume()? as usize, positions)?;
    if dist.parts() == 1 {
        return Ok(vec![named]);
    }
    let mut picked: Vec<Vec<(i64, i64)>> = vec![Vec::new(); dist.parts()];
    for (at, k) in named {
        push("scatter", &mut picked[dist.owner(&point(&dist.shape(), at))?], (at, k))?;
    }
    Ok(picked)
}

impl Array {
    /// Replaces the elements at `positions` by those of `value`, a line of as many; of a position that is
    /// named several times the last counts. Dimensions that are not blocks become blocks. Computes.
    ///
    /// # Errors
    /// Positions outside the array; a value of another shape or dtype; those of [`Array::eval`]. The array
    /// then keeps its value.
    #[doc = example!(
        "let mut v = u.clone();"
        "v.scatter(&[0, 5], &u.slice(&s![0, 1..]))?;"
        "assert_eq!(v.to_vec::<f64>()?, [1.0, 1.0, 2.0, 3.0, 4.0, 2.0]);"
    )]
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
        let picked = last_of_each(&old.dist, positions)?;
        let (old_array, values_array) =
            (StoredArray::of(0, self.dtype(), &old), StoredArray::of(1, line.dtype(), &values));
        let new_array = StoredArray { node: 2, ..old_array.clone() };
        let mut list = StepList::default();
        scatter_elements(&mut list, &old_array, &values_array, &picked, &new_array)?;
        let guard = self.team().evaluation()?;
        let recorder = Recorder::current();
        recorder.note(&picked);
        let ends = (self.team(), &recorder);
        let made = run_steps(ends, &list, &[(0, &old), (1, &values)], &[2])?;
        let made = made.into_iter().next().ok_or_else(|| missing_part("scatter"))?;
        drop(guard);
        self.node = Node::shared(base.dtype(), base.team(), made);
        Ok(())
    }

    /// The array, or one of the same elements cut into blocks; computed, with its storage.
    pub(crate) fn in_blocks(&self) -> Result<(Array, Arc<Storage>)> {
        let array = match self.distribution()?.is_block() {
            true => self.clone(),
            false => {
                self.redistribute(&Distribution::default_partition(self.team().size(), &self.shape())?)?
            }
        };
        array.eval()?;
        let Some(storage) = array.node.storage() else { unreachable!("eval computes or fails") };
        Ok((array, storage))
    }
}

impl Array {
    /// The elements on another distribution of the same shape, of whatever kinds. Recorded. The very same
    /// distribution gives the same array, and moves nothing.
    ///
    /// # Errors
    /// Another shape or number of parts; the error that the array carries.
    #[doc = example!(
        "let rows = Distribution::default_partition(2, &[2, 3])?;"
        "assert_eq!(u.redistribute(&rows)?.part_to_vec::<f64>(1)?, [3.0, 4.0, 5.0]);"
    )]
    pub fn redistribute(&self, dist: &Distribution) -> Result<Array> {
        self.move_to(self.team(), dist)
    }

    /// The elements on another team and distribution: the teams may share all, some or no devices. Computes,
    /// unless it is the same team.
    ///
    /// # Errors
    /// Another shape; another number of parts than `team` has members; teams over other ranks; the error that
    /// the array carries; for another team memory, and those of [`Array::eval`].
    #[doc = example!(
        "let one = Team::on(&[Device::host()], 1)?;"
        "let v = u.move_to(&one, &Distribution::default_partition(1, &[2, 3])?)?;"
        "assert_eq!(v.to_vec::<f64>()?, u.to_vec::<f64>()?);"
    )]
    pub fn move_to(&self, team: &Team, dist: &Distribution) -> Result<Array> {
        let own = self.distribution()?;
        check_parts("redistribute", team, dist)?;
        if dist.shape() != self.shape() {
            return Err(Error::invalid(
                "redistribute",
                format!("a distribution of shape {}", self.shape()),
                dist.shape().to_string(),
                "make it for the array's shape",
            ));
        }
        if team == self.team() {
            if *dist == *own {
                return Ok(self.clone());
            }
            let (expr, layout) =
                (Expr::Redistributed { base: Arc::clone(&self.node) }, NodeLayout::known(dist.clone()));
            return Ok(Array::recording(Node::lazy(self.shape(), self.dtype(), team, expr, layout)));
        }
        self.eval()?;
        let Some(storage) = self.node.storage() else { unreachable!("eval computes or fails") };
        if self.team().wire() != team.wire() {
            return Err(Error::invalid(
                "move_to",
                "teams over the same ranks",
                format!("{} and {team}", self.team()),
                "make both with Team::world, or one of members of the other",
            ));
        }
        let _guard = evaluation([self.team(), team].into_iter())?;
        let storage = self.team().together("redistribution", || {
            let (recorder, teams) = (Recorder::current(), (self.team(), team));
            let (fresh, exchange) =
                moving(&recorder, &storage, teams, &Arc::new(dist.clone()), self.dtype())?;
            recorder.exchange(&exchange).map(|()| fresh)
        })?;
        Ok(Array::of(Node::ready(self.dtype(), team, storage)))
    }
}
