//! The entry `streaming`: each thread goes along one dimension, plane by plane, and keeps its column in
//! registers until the last plane that reads it (2.5-D blocking: Micikevicius, GPGPU-2, 2009).
//!
//! A block is 32 vectors by 8 rows. In each plane a thread
//! 1. puts its newest vector that rows beside it read into shared memory, and takes its neighbours along x
//!    from other lanes by shuffles; lanes at the edge of a warp have loaded theirs;
//! 2. prefetches what the next planes need: nothing waits for a load of the same plane;
//! 3. waits for the block, once: shared memory holds two planes, in turn;
//! 4. computes, and stores a vector.
//!
//! `registers` names what a thread keeps, `place` says where it is, `loads` what it loads; `planes` is the
//! loop.
//!
//! The loop has a copy of the body for each of a few planes; between turns columns move by as many registers.
//! Threads beyond the end of a row load the neighbours there, those beyond the last row what that has; none
//! of them stores. A vector that sticks out of the region is loaded and stored element by element, as far as
//! the kernel reads and writes.
//!
//! Rows and planes of all parameters must be whole vectors apart and in phase; [`crate::ptx::launch`] checks
//! it, and that the region is worth it.

mod loads;
mod place;
mod planes;
mod registers;

pub(crate) use planes::entry;
