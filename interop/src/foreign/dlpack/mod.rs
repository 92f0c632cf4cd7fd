//! DLPack: parts of arrays lent to other libraries, and their arrays read. dlpark holds the structs,
//! who owns them, capsules, and the checks of descriptions that every consumer makes. No Python objects are
//! used here, so that a deleter may run on any thread at any time.
//!
//! Lending. Host parts are lent as they are. A value of ours never changes, so a versioned loan is marked
//! read-only; the legacy struct has no room for the mark, and its consumer must not write. Who needs to
//! write asks for a copy. Strides are always given, the offset is always 0, and no cells means no pointer.
//!
//! CUDA memory is lent as it is, too: the consumer's stream is ordered behind ours when it is handed out, and
//! when it comes back all work on the device is awaited, because nobody says on which streams it was used.
//!
//! Borrowing. Memory in C order on the device that is to have it is used where it is, and never written; all
//! else is copied.
//!
//! Of dlpark 0.10 these are not used, for what its source says:
//! - `Managed::validate` refuses null strides from version 1.2 on, which exporters write;
//!   `TensorRef::from_raw` does not. Either reads as many extents as the struct claims (`DLTensor::shape`),
//!   so the rank is checked before; an extent of 0 excuses the others (`num_elements`), so their product is
//!   checked after.
//! - `is_compact_strides` compares strides of dimensions of one element, which exporters fill at will.
//! - `DlpackExporter` refuses copies and other devices (`validate_zero_copy`); `ImportRequest` prefers the C
//!   table, by which torch exports conjugated views as they are, does not fall back when an exporter lacks
//!   `max_version`, and cannot request a device. Capsules only go through it.
//! - `cuda_stream` expects a number of `__cuda_stream__`, whose protocol returns (version, handle).
//! - `DlpackExchangeProducer` imports to the class that exports (`Py<Self>`): here parts export, and arrays
//!   import. So the table is dlpark's, and its functions are ours.

mod borrowed;
mod loan;
mod types;

pub use dlpark::ffi::{DLDevice, DLDeviceType};

pub use borrowed::{Borrowed, Elements, ForeignMemory, ImportRefusal};
pub use loan::{Loan, live_loans, passed_on};
pub use types::{dtype_of, element_of, is_on_host, name_of, place_name};
