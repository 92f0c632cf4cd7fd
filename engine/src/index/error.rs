//! [`IndexError`], the error of the pure-data layers `index` and `plan`. The engine's own error wraps it.

/// The subject of an [`IndexError`], for code that must tell the cases apart (a caller's `ValueError` or
/// `IndexError`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Numbers of dimensions do not fit together.
    Rank,
    /// A size is negative or too large to be counted.
    Size,
    /// A point, region, dimension or part number lies outside.
    Range,
    /// A process grid is impossible, or does not fit the number of parts.
    Grid,
    /// The bounds of the parts along a dimension do not cut it.
    Bounds,
    /// A halo or boundary width does not fit the parts.
    Halo,
    /// A plan is not what it should be.
    Plan,
    /// A user's map or descriptor does not have a method of a later phase.
    Missing,
    /// A kind of map or domain does not support what was asked.
    Unsupported,
    /// Members of a team do not fit together.
    Team,
    /// The host has no room for lists of coordinates.
    Memory,
}

/// Why an index operation was refused: what was attempted, what it expects, what it was given, and what to
/// do. `{:?}` shows the same text as `{}`.
#[derive(thiserror::Error, Clone, PartialEq, Eq)]
#[error("{operation}: expected {expected}, given {given}; {remedy}")]
pub struct IndexError {
    /// The subject of the error.
    pub kind: ErrorKind,
    /// The operation that was refused.
    pub operation: &'static str,
    /// The requirement.
    pub expected: String,
    /// The given value.
    pub given: String,
    /// The remedy.
    pub remedy: &'static str,
}

/// A result with [`IndexError`].
pub type Result<T, E = IndexError> = std::result::Result<T, E>;

impl IndexError {
    /// An error from its parts.
    pub fn new(
        kind: ErrorKind,
        operation: &'static str,
        expected: impl Into<String>,
        given: impl Into<String>,
        remedy: &'static str,
    ) -> IndexError {
        IndexError { kind, operation, expected: expected.into(), given: given.into(), remedy }
    }

    /// The same, said of dimension `d`.
    pub(crate) fn in_dimension(mut self, d: usize) -> IndexError {
        self.given = format!("{} in dimension {d}", self.given);
        self
    }
}

/// Refuses so many bytes of lists if the allocator does. Lists of coordinates grow by allocations that cannot
/// fail but end the process, so whoever makes them asks here first.
pub(crate) fn check_room(operation: &'static str, bytes: i64) -> Result<()> {
    // Smaller ones take less than what an error needs.
    if bytes < 1 << 16 || std::hint::black_box(Vec::<u8>::new()).try_reserve_exact(bytes as usize).is_ok() {
        return Ok(());
    }
    Err(IndexError::new(
        ErrorKind::Memory,
        operation,
        format!("{bytes} bytes of the host's memory, for lists of coordinates"),
        "an allocator that refused them",
        "let go of other arrays, or use a map that needs no lists",
    ))
}

/// Refuses a number of dimensions other than the expected one.
pub(crate) fn check_rank(operation: &'static str, expected: usize, given: usize) -> Result<()> {
    if expected == given {
        return Ok(());
    }
    Err(IndexError::new(
        ErrorKind::Rank,
        operation,
        format!("{expected} values, one per dimension"),
        given.to_string(),
        "give one value for every dimension of the array",
    ))
}
