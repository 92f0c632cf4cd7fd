//! Vendor libraries beside the driver. None is needed, none is linked.

mod library;
mod nccl;

pub(super) use library::file_of;
pub use library::search_packages_in;
pub(crate) use nccl::nccl_id;
pub use nccl::nccl_version;
pub(super) use nccl::{Comm, GroupPart, nccl};
