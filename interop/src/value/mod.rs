//! Descriptions in Python's terms as plain data ([`Value`]), their checked reading, and the reason and place
//! of a refusal ([`Refusal`]). Neither Python nor any protocol is used here.

mod object;
mod read;
mod refusal;

pub use object::{Buffer, Dict, IndexArray, Value};
pub(crate) use read::key_text;
pub use refusal::{Refusal, Result};
