//! Lines for people, and how the program ends when they cannot be written. Knows nothing of what they say.

use std::error::Error;
use std::io::{self, ErrorKind, Write as _};

use super::terrain::Result;

/// What a shell reports of a program that SIGPIPE ended: 128 and the signal's number.
const CLOSED_PIPE: i32 = 141;

/// Prints lines to standard output at once.
///
/// # Errors
/// A closed pipe or a full disk.
pub fn say(lines: &str) -> Result<()> {
    let mut output = io::stdout().lock();
    let written = output.write_all(format!("{lines}\n").as_bytes()).and_then(|()| output.flush());
    written.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => error.into(),
        _ => format!("standard output: {error}; write it to a place with room").into(),
    })
}

/// Prints the error that ends the program, in one line; gives the exit code. When the reader of standard
/// output has gone, nothing is printed, as usual in pipelines.
pub fn end(error: &(dyn Error + 'static)) -> i32 {
    if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe) {
        return CLOSED_PIPE;
    }
    // If standard error is full or closed too, only the exit code is left to tell.
    let _ = io::stderr().write_all(format!("tsunami: {error}\n").as_bytes());
    1
}
