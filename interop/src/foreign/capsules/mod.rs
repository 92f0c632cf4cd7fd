//! DLPack as Python objects: capsules, the table of C functions, and the locations of devices.

pub mod capsule;
pub mod exchange_table;
pub mod location;
