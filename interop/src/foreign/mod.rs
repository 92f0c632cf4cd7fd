//! Interfaces of other libraries in C: DLPack, its Python capsules, buffers, communicators of mpi4py, and
//! slots of Python's classes. All unsafe code of this crate is here.
//!
//! Contract:
//! - A DLPack struct belongs to one side at a time. Who holds it calls its deleter once; until then its
//!   producer keeps the memory readable. Nobody writes shared memory meanwhile: versioned loans say so
//!   (`READ_ONLY`), and borrowed memory is never written here.
//! - A capsule is taken once: the name says whether its struct is still inside. Python objects are touched
//!   only while attached to the interpreter.
//! - Structs and places for answers that C callers pass are valid during the call, as DLPack defines.
//! - A buffer's exporter keeps its bytes where they are. Threads of Python that write to them while a
//!   function copies them race, here as with NumPy's own functions, and must not.
//! - A handle of mpi4py is valid while its communicator lives, and is used only if both libraries are one.

#[cfg(feature = "python")]
pub mod array_base;
#[cfg(feature = "python")]
pub mod array_object;
#[cfg(feature = "python")]
pub mod bytes;
#[cfg(feature = "python")]
pub mod capsule;
#[cfg(feature = "python")]
pub mod communicator;
pub mod dlpack;
#[cfg(feature = "python")]
pub mod exchange_table;
#[cfg(feature = "python")]
pub mod exporter;
