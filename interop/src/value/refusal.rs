//! [`Refusal`]: the place and the reason of a fault in a description.

use std::fmt;

/// Why a description was refused.
///
/// It shows as `__distarray__ of part 2: dim_data[1]['stop']: expected at most 9, the size; given 12`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The protocol, and its dialect where there are several; empty before it is known.
    pub protocol: String,
    /// The part (the process, the position in the list of descriptions), if there are several.
    pub part: Option<usize>,
    /// Where the fault lies: `dim_data[1]['stop']`. Empty for the description itself.
    pub path: String,
    /// What the fault is.
    pub reason: String,
}

/// A result with [`Refusal`].
pub type Result<T, E = Refusal> = std::result::Result<T, E>;

impl Refusal {
    /// A refusal of the value at hand; where that lies is added on the way out.
    pub fn new(reason: impl Into<String>) -> Refusal {
        Refusal { protocol: String::new(), part: None, path: String::new(), reason: reason.into() }
    }

    /// A refusal that compares.
    pub fn expected(expected: impl fmt::Display, given: impl fmt::Display) -> Refusal {
        Refusal::new(format!("expected {expected}; given {given}"))
    }

    /// The same, said of what contains the value under `step`: `['stop']` or `[1]`.
    pub fn under(mut self, step: impl fmt::Display) -> Refusal {
        self.path = format!("{step}{}", self.path);
        self
    }

    /// The same, said of what contains the value under a key.
    pub fn under_key(self, key: &str) -> Refusal {
        self.under(format_args!("['{key}']"))
    }

    /// The same, said of what contains the value at a position.
    pub fn under_index(self, index: usize) -> Refusal {
        self.under(format_args!("[{index}]"))
    }

    /// The same, said of one of several parts.
    pub fn of_part(mut self, part: usize) -> Refusal {
        self.part = Some(part);
        self
    }

    /// The same, said of a whole description: its keys are written without brackets.
    pub fn of_protocol(mut self, protocol: &str) -> Refusal {
        if let Some((key, rest)) = self.path.strip_prefix("['").and_then(|path| path.split_once("']")) {
            self.path = format!("{key}{rest}");
        }
        self.protocol = protocol.to_owned();
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.protocol)?;
        if let Some(part) = self.part {
            write!(f, " of part {part}")?;
        }
        let colon = if self.protocol.is_empty() && self.part.is_none() { "" } else { ": " };
        match self.path.as_str() {
            "" => write!(f, "{colon}{}", self.reason),
            path => write!(f, "{colon}{path}: {}", self.reason),
        }
    }
}

impl std::error::Error for Refusal {}
