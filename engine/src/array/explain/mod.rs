//! What an evaluation will do, as text and as a drawing.

pub(crate) mod outline;
pub(crate) mod svg;
