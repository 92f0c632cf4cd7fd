//! The state of a loop that measures what a deep halo gains.

use std::sync::Arc;

use crate::array::loops::depth::pace::Times;
use crate::array::loops::depth::plan::{DepthPlan, StepTrace};
use crate::index::Distribution;

/// A loop that measures what a deep halo would gain. Every rank goes through this step by step, whatever it
/// measures, and does in the end what rank 0 found.
pub(crate) struct DepthTrial {
    pub trace: StepTrace,
    pub layouts: Vec<Arc<Distribution>>,
    /// The deepest plan that is possible.
    pub deepest: Option<DepthPlan>,
    pub times: Times,
    /// Steps since the trial, or its second half, began.
    pub steps: usize,
}

/// Steps that a loop may need until it replays, in exchanges, and then those that are timed.
pub(crate) const WARM_UP: usize = 4;
pub(crate) const TIMED: usize = 3;
