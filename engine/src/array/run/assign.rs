//! Assignment to a window of an array or to elements by their number, which computes at once: the update is
//! recorded, evaluated, and swapped into the handle. Lowering decides how (`lower/steps/update.rs`), from
//! who else needs the old elements, which is decided here. An array of one element waits, in a `Loop`'s
//! step, for what is evaluated next.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::array::lower::graph::{OldElements, Target};
use crate::array::record::node::{Array, Node, NodeState};
use crate::array::record::view::{RecordedUpdate, Span};
use crate::array::recorder::recording::{BoundTask, Recorder};
use crate::array::run::evaluate::{compute_targets, evaluate};
use crate::error::Result;
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
    let update = |(array, value): &(&mut Array, &Array)| array.window_update("assign", spans, value);
    let updates = pairs.iter().map(update).collect::<Result<Vec<RecordedUpdate>>>()?;
    let values = run("assign", updates)?;
    for ((array, _), node) in pairs.iter_mut().zip(values) {
        array.node = node;
    }
    Ok(())
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
        let update = self.scattered_update("scatter", positions, value)?;
        run("scatter", vec![update])?.into_iter().for_each(|node| self.node = node);
        Ok(())
    }
}

/// Carries out updates of arrays that this process's handles hold; gives the new values in order.
fn run(operation: &'static str, updates: Vec<RecordedUpdate>) -> Result<Vec<Arc<Node>>> {
    let Some(first) = updates.first() else { return Ok(Vec::new()) };
    let recorder = Recorder::current();
    // A norm that a step keeps is then found by the pass that computes what the step assigns next.
    let is_cell = |update: &RecordedUpdate| update.covers && update.node.shape.iter().product::<i64>() == 1;
    if updates.iter().all(is_cell) && recorder.defer(updates.iter().map(|update| &update.node)) {
        return Ok(updates.into_iter().map(|update| update.node).collect());
    }
    let team = first.node.team.clone();
    let teams: Vec<Team> = updates.iter().flat_map(|update| update.node.teams()).cloned().collect();
    let _guard = evaluation(teams.iter())?;
    team.together(operation, || {
        pass("assign")?;
        let left = updates.iter().filter(|update| !update.covers).map(|update| Arc::clone(&update.base));
        evaluate(&recorder, &left.collect::<Vec<Arc<Node>>>())?;
        let values: Vec<&Arc<Node>> = updates.iter().map(|update| &update.value).collect();
        let dying = references_of(&values);
        let old = |update: &RecordedUpdate| old_elements(update, &dying, &recorder);
        let target = |update: &RecordedUpdate| Target { node: Arc::clone(&update.node), old: old(update) };
        let targets: Vec<Target> = updates.iter().map(target).collect();
        let nodes: Vec<Arc<Node>> = updates.into_iter().map(|update| update.node).collect();
        compute_targets(&recorder, targets)?;
        Ok(nodes)
    })
}

/// References to what is updated: the handle holds one, and the update two, itself and as its node's operand.
const HELD: usize = 3;

/// Who needs the old elements.
fn old_elements(update: &RecordedUpdate, dying: &References, recorder: &Recorder) -> OldElements {
    let base = &update.base;
    let held = Arc::strong_count(base);
    let by_values = dying.get(&Arc::as_ptr(base)).map_or(0, |(_, count)| *count);
    // Of a node that the values read, the counts hold one more.
    let held = held - usize::from(by_values > 0);
    match is_alone(base) {
        false => OldElements::Kept,
        true if held <= HELD && recorder.shared_exchange().is_none() => OldElements::Unneeded,
        true if held <= HELD + by_values => OldElements::UntilComputed,
        true => OldElements::Kept,
    }
}

/// Whether a computed node's memory is no other value's and no other owner's.
fn is_alone(node: &Node) -> bool {
    let Some(storage) = node.storage() else { return false };
    !storage.is_seen() && !storage.parts.iter().flatten().any(|buffer| buffer.allocation().is_borrowed())
}

/// Nodes, and how many references to each go away when some values are computed.
type References = FxHashMap<*const Node, (Arc<Node>, usize)>;

/// The references that values hold, directly or by way of nodes that nobody else holds.
fn references_of(values: &[&Arc<Node>]) -> References {
    let mut found = References::default();
    let mut pending: Vec<Arc<Node>> = values.iter().map(|value| Arc::clone(value)).collect();
    while let Some(node) = pending.pop() {
        let mut refer = |to: &Arc<Node>| {
            let (held, count) = found.entry(Arc::as_ptr(to)).or_insert_with(|| (Arc::clone(to), 0));
            *count += 1;
            // The count itself holds one.
            if Arc::strong_count(held) == *count + 1 {
                pending.push(Arc::clone(held));
            }
        };
        if let NodeState::Lazy { expr, layout } = &*node.state() {
            expr.operands().for_each(&mut refer);
            layout.base().into_iter().for_each(&mut refer);
        }
    }
    found
}

/// The node itself if nobody but the `expected` references has it, and so nobody sees its elements change;
/// otherwise one with a copy of them. It is computed.
pub(crate) fn unshared(recorder: &Recorder, node: &Arc<Node>, expected: usize) -> Result<Arc<Node>> {
    let Some(old) = node.storage() else { unreachable!("only computed nodes are written") };
    if is_alone(node) && Arc::strong_count(node) <= expected {
        return Ok(Arc::clone(node));
    }
    let copy = old.like(&node.team, node.dtype)?;
    let (copies, fresh) = old.copy_current(&node.team, node.dtype, &copy)?;
    recorder.execute(copies)?;
    copy.set_valid_halo(fresh);
    recorder.note_task(|| BoundTask::Copy { from: old.number, to: copy.number });
    Ok(Node::ready(node.dtype, &node.team, copy).over(node.domain.clone()))
}
