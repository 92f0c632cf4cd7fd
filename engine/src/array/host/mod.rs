//! Elements between arrays and the host: making, reading, parts, single elements, elements by index, text,
//! files.

pub(crate) mod display;
pub(crate) mod explain;
pub mod files;
pub(crate) mod make;
pub(crate) mod over;
pub(crate) mod part;
pub(crate) mod read;
pub(crate) mod request;
pub(crate) mod writable;
