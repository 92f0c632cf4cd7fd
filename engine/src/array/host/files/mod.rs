//! State in files: several arrays and single values, each under a name, written by all ranks at once and
//! read on any number of parts and ranks. `state` says when which rank does what, `manifest` what a saved
//! state holds, `npy` where elements are in a file.

mod manifest;
mod npy;
mod state;

pub use manifest::Value;
pub use state::{Saved, SavedState, save_state};
