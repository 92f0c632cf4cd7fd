//! The step of a loop: a function of its state, or of its state and numbers.

use crate::array::Array;
use crate::error::Result;

/// A step of a [`crate::Loop`]: a function of the state, or [`Numbered`].
pub trait Step {
    /// Runs it with the numbers of the step; none for a step that gets none.
    ///
    /// # Errors
    /// The step's own.
    fn take(&mut self, state: &mut [Array], numbers: &[Array]) -> Result<()>;
}

impl<F: FnMut(&mut [Array]) -> Result<()>> Step for F {
    fn take(&mut self, state: &mut [Array], _numbers: &[Array]) -> Result<()> {
        self(state)
    }
}

/// A function of the state and of the numbers of the step ([`crate::Loop::with_numbers`]).
pub struct Numbered<S>(pub(crate) S);

impl<S: FnMut(&mut [Array], &[Array]) -> Result<()>> Step for Numbered<S> {
    fn take(&mut self, state: &mut [Array], numbers: &[Array]) -> Result<()> {
        (self.0)(state, numbers)
    }
}
