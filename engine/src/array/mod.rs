//! Distributed arrays: lazy values over a team.
//!
//! An [`Array`] is a handle to a value. Arithmetic, windows and reductions record; reading,
//! [`Array::eval`] and assignment compute, and so does a chain of recorded operations that grows too long.
//! A mistake in an operand gives an array that carries the error, and every later use returns it, so
//! expressions need no `?` in the middle.
//!
//! Over several ranks of a program everything that computes or reads is collective: all ranks do it, in the
//! same order, and get the same. All ranks record the same operations, because any of them may compute.

mod bind;
pub mod collective;
mod host;
mod loops;
mod lower;
mod memory;
mod record;
mod recorder;
mod run;

pub(crate) use crate::device::collect;
pub use host::explain::{ExchangeStep, KernelStep, Outline, PartBoxes, explain_all};
pub use host::files as io;
pub use host::over::{by_index, for_each_chunk};
pub use host::part::{Cells, Part};
pub use host::read::Element;
pub use host::request::{PendingRequest, Requested};
pub use host::writable::{Home, Writable, WritableGuard};
pub use loops::depth::time_per_step;
pub use loops::numbers::{Numbered, StepFunction};
pub use loops::replay::Loop;
pub(crate) use record::expr::{Butterflies, FourierLines, Map, NodeLayout, spliced};
pub use record::join::Padding;
pub use record::node::Array;
pub(crate) use record::node::drawn;
pub use record::ops::Operand;
pub(crate) use record::ops::held;
pub use record::rearrange::Stride;
pub use record::view::{IntoSpan, NewAxis, Span};
pub(crate) use recorder::keys::next_key;
pub(crate) use recorder::recording::{Recorder, check_not_recording};
pub use recorder::recording::{is_recording, outside_step, record};
pub(crate) use recorder::streams::{SharedStream, StreamState};
pub use run::assign::assign_all;
pub use run::evaluate::eval_all;
