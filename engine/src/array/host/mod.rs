//! Elements between arrays and the host: making, reading, parts, single elements, text.

pub(crate) mod display;
pub(crate) mod make;
pub(crate) mod part;
pub(crate) mod read;
pub(crate) mod request;
pub(crate) mod writable;
