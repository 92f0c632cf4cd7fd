//! State in files: several arrays and single values, each under a name, written by all ranks at once and
//! read on any number of parts and ranks. `save` says when which rank does what, `draft` when a new state
//! counts and which folders go, `load` reads; `manifest` says what a saved state holds, `npy` where elements
//! are in a file, `disk` how ranks agree on calls that fail.

mod disk;
mod draft;
mod load;
mod manifest;
mod npy;
mod save;

pub use load::SavedState;
pub use manifest::Value;
pub use save::{Saved, save_npy, save_state};
