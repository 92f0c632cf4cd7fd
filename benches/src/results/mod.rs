//! What a run leaves behind: records, the machine they hold for, tables and the HTML report.

pub mod machine;
pub mod record;
pub mod report;
