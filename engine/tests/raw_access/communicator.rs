//! MPI communicators that are refused.

/// The error of adopting a communicator of another library.
pub fn adopt_from_another_library() -> String {
    // SAFETY: refused before the handle is used.
    let adopted = unsafe { partita::wire::mpi::adopt(0, "another library 1.0") };
    adopted.map(drop).expect_err("another library").to_string()
}
