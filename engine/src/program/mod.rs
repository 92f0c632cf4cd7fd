//! Work as data: commands, schedules and their execution; messages between ranks and their transports; and
//! the few kernels that the engine itself needs. Nothing here refers to arrays.

mod command;
pub(crate) mod copies;
mod ipc;
mod latches;
mod link_table;
mod message;
mod nccl;
mod place;
mod stream_messages;
mod trial;
mod watch;

pub use command::{Command, Op, Schedule};
pub(crate) use command::{execute, queue, run};
pub(crate) use copies::copy_views;
pub use copies::{CopyMode, copy_box, fill_box};
pub use ipc::IpcMemory;
pub use link_table::LinkTable;
pub use message::{Message, MessageDownload, Transport};
pub use nccl::NcclLink;
pub use place::{MemorySpan, Place, c_strides, contiguous_in, offset_in, span_bytes};
pub(crate) use stream_messages::{ChainedStep, MessageOffer, MessageOutline, StreamMessages};
pub(crate) use watch::{GuardedStep, GuardedSteps, GuardedWrites};
