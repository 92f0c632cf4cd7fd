//! The entry `streaming`: each thread goes along one dimension, plane by plane, and keeps its column in
//! registers until the last plane that reads it (2.5-D blocking: Micikevicius, GPGPU-2, 2009).
//!
//! A block is 32 vectors by 8 rows. Planes come into shared memory by copies that go on while threads
//! compute (`cp.async`), several planes ahead: as many bytes are under way as memory needs, and none of them
//! takes a register. In each plane a thread
//! 1. waits until its own copies of the plane have landed, and then for the block;
//! 2. asks for the plane that is so many ahead, in the place of one that everybody has read;
//! 3. takes its newest vector, those of rows beside it, and neighbours along x: single words from other
//!    lanes by shuffles, more of them out of shared memory;
//! 4. computes, and stores a vector.
//!
//! If neighbours across are read planes later than the column's newest vector, its place in shared memory
//! is kept so long, or, if there is no room, filled a second time, out of L2.
//!
//! `registers` names what a thread keeps, `place` says where it is, `loads` what it asks for; `planes` is the
//! loop.
//!
//! The loop has a copy of the body for each plane that shared memory has room for; between turns columns move
//! by as many registers. Threads beyond the end of a row load the neighbours there, those beyond the last row
//! what that has; none of them stores. A vector that sticks out of the region is copied and stored element by
//! element, as far as the kernel reads and writes.
//!
//! Rows and planes of all parameters must be whole vectors apart and in phase; [`crate::ptx::launch`] checks
//! it, and that the region is worth it.

mod loads;
mod place;
mod planes;
mod registers;

pub(crate) use planes::entry;
