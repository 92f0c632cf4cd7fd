//! Results of a run: records, the machine they hold for, and tables.

pub mod machine;
pub mod record;
pub mod report;
