//! The meaning of each instruction, on the bits of registers. A value lies in the low bits of a `u64`, the
//! rest is 0. Nothing here knows registers, memory or threads.

mod convert;
mod float;
mod integer;
mod packed;
mod rule;

use super::types::Type;
pub(crate) use convert::conversion;
pub(crate) use rule::{Function, Partial, Rule, Semantics, logic};

/// The rule of `name` with its modifiers, the last of which is the type.
pub(crate) fn rule(name: &str, modifiers: &[&str], kind: Type) -> Option<Rule> {
    integer::rule(name, modifiers, kind)
        .or_else(|| float::rule(name, modifiers, kind))
        .or_else(|| packed::rule(name, modifiers, kind))
}

/// The comparison `compare` of two values of type `kind`.
pub(crate) fn comparison(compare: &str, kind: Type) -> Option<Function> {
    integer::comparison(compare, kind).or_else(|| float::comparison(compare, kind))
}
