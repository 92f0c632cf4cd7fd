//! Evaluation as users request it, of one array or of several; and of half of a chain of recorded operations
//! that grew too long, which every operation that records counts.

use std::sync::Arc;

use crate::array::record::array::Array;
use crate::array::record::node::Node;
use crate::array::recorder::recording::Recorder;
use crate::array::run::evaluate::{evaluate, is_long, shorten};
use crate::error::Result;
use crate::program::Place;
use crate::team::evaluation;

impl Array {
    /// The array of an operation just recorded. Ends a chain that grew too long by computing half of it; an
    /// error of that is the array's.
    pub(crate) fn recording(node: Arc<Node>) -> Array {
        if !is_long(&node, 0) {
            return Array::of(node);
        }
        match shorten(&node) {
            Ok(()) => Array::of(node),
            Err(error) => Array::of(Node::failed(&node, node.dtype, error)),
        }
    }

    /// Computes the value now, if it is not computed yet. Devices may still be working afterwards;
    /// [`Team::wait`](crate::team::Team::wait) waits for them.
    ///
    /// # Errors
    /// The error the array carries; memory; a device that lacks a type. Every array keeps its value.
    #[doc = example!("let v = u.exp();" "v.eval()?;" "assert!(v.is_computed());")]
    pub fn eval(&self) -> Result<()> {
        eval_all(&[self])
    }

    /// Whether the chain of recorded operations that leads to the array has almost the length at which one
    /// more would compute a part of it. For bindings that must not compute while they hold a lock of their
    /// own.
    #[doc(hidden)]
    pub fn is_nearly_too_long(&self) -> bool {
        const ROOM: u32 = 1024;
        is_long(&self.node, ROOM)
    }

    /// Computes about half of the recorded operations that lead to the array. Collective.
    ///
    /// # Errors
    /// As [`Array::eval`].
    #[doc(hidden)]
    pub fn shorten(&self) -> Result<()> {
        shorten(&self.node)
    }

    /// The parts of the computed array: where each one's stored cells are; `None` for empty parts and for
    /// those of other ranks.
    ///
    /// # Errors
    /// As [`Array::eval`].
    pub fn places(&self) -> Result<Vec<Option<Place>>> {
        self.eval()?;
        match self.node.storage() {
            Some(storage) => Ok(storage.places(&self.node.team)),
            None => unreachable!("eval computes or fails"),
        }
    }
}

/// Computes several arrays. Those of one shape and layout share one kernel.
///
/// # Errors
/// As [`Array::eval`].
#[doc = example!(
    "let (sum, product) = (&u + 1, &u * 2);"
    "partita::eval_all(&[&sum, &product])?; // One kernel reads `u` once."
    "assert!(sum.is_computed() && product.is_computed());"
)]
pub fn eval_all(arrays: &[&Array]) -> Result<()> {
    let Some(first) = arrays.first() else { return Ok(()) };
    let _guard = evaluation(arrays.iter().flat_map(|array| array.node.teams()))?;
    let nodes: Vec<Arc<Node>> = arrays.iter().map(|array| Arc::clone(&array.node)).collect();
    first.node.team.together("eval", || evaluate(&Recorder::current(), &nodes))
}
