//! Work as data: commands, schedules and their execution; messages between ranks and their transports; and
//! the few kernels that the engine itself needs. Nothing here refers to arrays.

mod command;
pub(crate) mod copies;
mod ipc;
mod link_table;
mod message;
mod message_download;
mod place;
mod run;
mod span;
mod transport;

pub use command::{Command, Op, Schedule};
pub(crate) use copies::copy_views;
pub use copies::{CopyMode, copy_box, fill_box};
pub use ipc::IpcMemory;
pub use link_table::LinkTable;
pub use message::Message;
pub use message_download::MessageDownload;
pub use place::{Place, c_strides};
pub(crate) use run::{execute, queue, run};
pub use span::{MemorySpan, span_bytes};
pub use transport::Transport;
