//! [`Dialect`]: the forms of the protocol and their names in refusals.

/// One of the forms that the draft took.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// The last draft: `shape` counts elements, `partition_tiling` counts partitions, and a location is a
    /// tuple (IP, PID[, device]).
    Draft,
    /// Heat's: the same, but locations are ranks. Recognized by a location that is an integer, where none is
    /// a tuple.
    Heat,
    /// The early draft, `__partitioned_interface__`: `shape` counts the partitions, and there is one
    /// location, a string or a rank. Recognized by the absence of `partition_tiling`.
    Early,
}

impl Dialect {
    /// What refusals begin with.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Draft => "__partitioned__",
            Dialect::Heat => "__partitioned__ (with ranks as locations, like Heat's)",
            Dialect::Early => {
                "__partitioned__ (early draft: no 'partition_tiling', so 'shape' counts partitions)"
            }
        }
    }
}
