//! The grids of a launch, by the form of its kernel.

use super::batched;
use super::fold::MAX_INNER_FOLD;
use super::module::{Facts, Grid, Limits, Module, Span};
use super::source::Source;
use crate::ir::{Form, Launch};
use crate::verify::LaunchError;

impl Module {
    /// Bytes of scratch memory, aligned to 256, that a launch needs for partial results; 0 for most.
    pub fn scratch_bytes(&self, launch: &Launch, facts: Facts) -> u64 {
        let kernel = self.kernel.kernel();
        if !matches!(kernel.form, Form::Reduce { .. }) {
            return 0;
        }
        // Addresses do not decide how a reduction is split.
        let memory = vec![Span { address: 0, bytes: 0 }; kernel.params.len()];
        let source = Source { module: self, kernel, launch, memory: &memory };
        source.folds(facts).iter().map(|fold| fold.scratch_bytes(kernel)).max().unwrap_or(0)
    }

    /// Whether grids can count the points of a launch.
    ///
    /// # Errors
    /// A folded dimension of more than 2^31 points lies within another one that does not merge with it:
    /// coordinates within a grid have 32 bits.
    pub fn check(&self, launch: &Launch) -> Result<(), LaunchError> {
        if launch.points() as u64 <= MAX_INNER_FOLD {
            return Ok(());
        }
        let kernel = self.kernel.kernel();
        let memory = vec![Span { address: 0, bytes: 0 }; kernel.params.len()];
        let source = Source { module: self, kernel, launch, memory: &memory };
        let Some(points) = source.longest_inner_fold() else { return Ok(()) };
        let reason = format!(
            "expected at most {MAX_INNER_FOLD} points of a folded dimension within another one, given \
             {points}; reduce one dimension after the other"
        );
        Err(LaunchError { kernel: kernel.name.clone(), reason })
    }

    /// The launches, in order on one stream, that carry out `launch`; none if there is nothing to do.
    /// `launch` must have passed [`Verified::check`](crate::Verified::check) with this memory, and
    /// [`Module::check`].
    pub fn prepare(&self, launch: &Launch, memory: &[Span], scratch: u64, facts: Facts) -> Vec<Grid> {
        let source = Source { module: self, kernel: self.kernel.kernel(), launch, memory };
        match &source.kernel.form {
            Form::Reduce { .. } => source.reduction(scratch, facts),
            Form::Elementwise { .. } | Form::Gather { .. } | Form::Scatter { .. } => source.pointwise(facts),
        }
    }

    /// The launches, in any order, that carry out several launches of this kernel over boxes that have
    /// nothing to do with each other, each with its memory: one for as many as fit into a launch's
    /// parameters. `None` if the kernel is no copy or sum of two arrays, or a box is larger than a grid.
    /// Each must have passed [`Verified::check`](crate::Verified::check).
    pub fn prepare_batch(&self, boxes: &[(&Launch, &[Span])]) -> Option<Vec<Grid>> {
        batched::prepare(self, boxes)
    }

    /// Pretends that grids are small, so that tests of a few thousand points cut regions too.
    #[doc(hidden)]
    pub fn shrink(&mut self) {
        self.limits = Limits::SMALL;
    }
}
