//! [`Rule`]: the types of an instruction's result and operands, and the function that it computes.

use crate::ptx::types::Type;

/// An instruction's result from up to three operands.
pub(crate) type Function = fn(u64, u64, u64) -> u64;

/// As [`Function`], for division: none if the divisor is zero, where hardware returns anything.
pub(crate) type Partial = fn(u64, u64) -> Option<u64>;

/// The rule by which an instruction computes.
#[derive(Clone, Copy)]
pub(crate) enum Semantics {
    Total(Function),
    Partial(Partial),
}

/// An instruction without effects: the types of its result and its operands, and what it computes.
pub(crate) struct Rule {
    pub result: Type,
    pub operands: Vec<Type>,
    pub semantics: Semantics,
}

impl Rule {
    pub(super) fn total(result: Type, operands: &[Type], function: Function) -> Rule {
        Rule { result, operands: operands.to_vec(), semantics: Semantics::Total(function) }
    }
}

/// `and`, `or`, `xor` of two values.
pub(crate) fn logic(name: &str) -> Option<Function> {
    match name {
        "and" => Some(|a, b, _| a & b),
        "or" => Some(|a, b, _| a | b),
        "xor" => Some(|a, b, _| a ^ b),
        _ => None,
    }
}
