//! The two streams of a device's work, the order between them, and timestamps in them. Schedules decide when
//! streams fork and join.

mod order;
mod stream;
mod timestamp;

pub use stream::Stream;
pub use timestamp::Timestamp;
