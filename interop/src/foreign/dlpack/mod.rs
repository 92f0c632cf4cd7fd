//! DLPack: parts of arrays lent to other libraries, and their arrays read. No Python objects
//! are used here, so that a deleter may run on any thread at any time.
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

mod abi;
mod borrowed;
mod loan;

pub use abi::{ElementType, Head, IS_COPIED, Legacy, Location, READ_ONLY, Strided, Versioned, release};
pub use borrowed::{Borrowed, Elements, ForeignMemory, ImportRefusal};
pub use loan::{Loan, live_loans, passed_on};
