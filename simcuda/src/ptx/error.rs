//! What is wrong with a PTX text, and where.

/// PTX that does not lie in the subset this simulator runs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("PTX line {line}: {message}: `{text}`")]
pub struct ParseError {
    /// The line, counted from 1.
    pub line: u32,
    /// The text of that line.
    pub text: String,
    /// What was expected, or is unknown.
    pub message: String,
}

/// A line number and a message; the parser adds the line's text.
pub(crate) type Wrong = (u32, String);
