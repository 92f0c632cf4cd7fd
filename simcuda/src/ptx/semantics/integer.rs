//! Integer, bit and selection instructions.

use super::rule::{Function, Partial, Rule, Semantics, logic};
use crate::ptx::types::{Class, Type, Type::*};

/// For each integer type its functions; `$u` is its unsigned form, `$w` and `$wu` the type twice as wide.
macro_rules! per_type {
    ($($module:ident: $t:ty, $u:ty, $w:ty, $wu:ty;)*) => {$(
        mod $module {
            type T = $t;
            fn bits(value: T) -> u64 { value as $u as u64 }
            pub fn add(a: u64, b: u64, _: u64) -> u64 { bits((a as T).wrapping_add(b as T)) }
            pub fn sub(a: u64, b: u64, _: u64) -> u64 { bits((a as T).wrapping_sub(b as T)) }
            pub fn min(a: u64, b: u64, _: u64) -> u64 { bits((a as T).min(b as T)) }
            pub fn max(a: u64, b: u64, _: u64) -> u64 { bits((a as T).max(b as T)) }
            pub fn mul_lo(a: u64, b: u64, _: u64) -> u64 { bits((a as T).wrapping_mul(b as T)) }
            pub fn mul_wide(a: u64, b: u64, _: u64) -> u64 { (a as T as $w * b as T as $w) as $wu as u64 }
            pub fn mad_lo(a: u64, b: u64, c: u64) -> u64 {
                bits((a as T).wrapping_mul(b as T).wrapping_add(c as T))
            }
            pub fn mad_wide(a: u64, b: u64, c: u64) -> u64 {
                (a as T as $w * b as T as $w).wrapping_add(c as $w) as $wu as u64
            }
            pub fn div(a: u64, b: u64) -> Option<u64> {
                (b as T != 0).then(|| bits((a as T).wrapping_div(b as T)))
            }
            pub fn rem(a: u64, b: u64) -> Option<u64> {
                (b as T != 0).then(|| bits((a as T).wrapping_rem(b as T)))
            }
            pub fn shl(a: u64, b: u64, _: u64) -> u64 {
                if b as u32 >= T::BITS { 0 } else { bits((a as T) << b as u32) }
            }
            pub fn shr(a: u64, b: u64, _: u64) -> u64 {
                let (value, by) = (a as T, b as u32);
                // Beyond the width only the sign is left.
                if by >= T::BITS { bits((value >> (T::BITS - 1)) >> 1) } else { bits(value >> by) }
            }
            pub fn bfe(a: u64, b: u64, c: u64) -> u64 {
                let (at, length) = (b as u32 & 0xff, c as u32 & 0xff);
                if length == 0 {
                    return 0;
                }
                let value = a as T;
                let fill = (value >> (T::BITS - 1)) >> 1;
                let field = if at >= T::BITS { fill } else { value >> at };
                let drop = T::BITS.saturating_sub(length);
                bits((field << drop) >> drop)
            }
            pub fn eq(a: u64, b: u64, _: u64) -> u64 { (a as T == b as T) as u64 }
            pub fn ne(a: u64, b: u64, _: u64) -> u64 { (a as T != b as T) as u64 }
            pub fn lt(a: u64, b: u64, _: u64) -> u64 { ((a as T) < b as T) as u64 }
            pub fn le(a: u64, b: u64, _: u64) -> u64 { (a as T <= b as T) as u64 }
            pub fn gt(a: u64, b: u64, _: u64) -> u64 { (a as T > b as T) as u64 }
            pub fn ge(a: u64, b: u64, _: u64) -> u64 { (a as T >= b as T) as u64 }
        }
    )*};
}
per_type! {
    u16: u16, u16, u32, u32;
    i16: i16, u16, i32, u32;
    u32: u32, u32, u64, u64;
    i32: i32, u32, i64, u64;
    u64: u64, u64, u128, u128;
    i64: i64, u64, i128, u128;
}

/// The function `$f` of an integer type; bits count as unsigned.
macro_rules! of {
    ($kind:expr, $f:ident) => {
        of!($kind, $f: Function)
    };
    ($kind:expr, $f:ident: $form:ty) => {{
        let function: Option<$form> = match $kind {
            B16 | U16 => Some(u16::$f),
            S16 => Some(i16::$f),
            B32 | U32 => Some(u32::$f),
            S32 => Some(i32::$f),
            B64 | U64 => Some(u64::$f),
            S64 => Some(i64::$f),
            _ => None,
        };
        function
    }};
}

pub(super) fn rule(name: &str, modifiers: &[&str], kind: Type) -> Option<Rule> {
    match kind.class() {
        Class::Unsigned | Class::Signed => numeric(name, modifiers, kind),
        Class::Bits | Class::Pred => bitwise(name, modifiers, kind),
        Class::Float | Class::Packed => None,
    }
    .or_else(|| either(name, modifiers, kind))
}

/// Instructions on numbers, `.u` or `.s`.
fn numeric(name: &str, modifiers: &[&str], kind: Type) -> Option<Rule> {
    if kind.bits() < 16 {
        return None;
    }
    if let Some(rule) = signed(name, modifiers, kind).or_else(|| wide(name, modifiers, kind)) {
        return Some(rule);
    }
    let partial: Option<Partial> = match (name, modifiers) {
        ("div", []) => of!(kind, div: Partial),
        ("rem", []) => of!(kind, rem: Partial),
        _ => None,
    };
    if let Some(partial) = partial {
        let semantics = Semantics::Partial(partial);
        return Some(Rule { result: kind, operands: vec![kind, kind], semantics });
    }
    let binary: Option<Function> = match (name, modifiers) {
        ("add", []) => of!(kind, add),
        ("sub", []) => of!(kind, sub),
        ("min", []) => of!(kind, min),
        ("max", []) => of!(kind, max),
        ("mul", ["lo"]) => of!(kind, mul_lo),
        _ => None,
    };
    let rule = |operands: &[Type], function: Option<Function>| Some(Rule::total(kind, operands, function?));
    match (name, modifiers) {
        ("mad", ["lo"]) => rule(&[kind; 3], of!(kind, mad_lo)),
        ("bfe", []) if kind.bits() >= 32 => rule(&[kind, U32, U32], of!(kind, bfe)),
        _ => rule(&[kind; 2], binary),
    }
}

/// `abs` and `neg`, which exist for signed types alone.
fn signed(name: &str, modifiers: &[&str], kind: Type) -> Option<Rule> {
    let function: Function = match (name, modifiers, kind) {
        ("abs", [], S16) => |a, _, _| (a as i16).wrapping_abs() as u16 as u64,
        ("abs", [], S32) => |a, _, _| (a as i32).wrapping_abs() as u32 as u64,
        ("abs", [], S64) => |a, _, _| (a as i64).wrapping_abs() as u64,
        ("neg", [], S16) => |a, _, _| (a as i16).wrapping_neg() as u16 as u64,
        ("neg", [], S32) => |a, _, _| (a as i32).wrapping_neg() as u32 as u64,
        ("neg", [], S64) => |a, _, _| (a as i64).wrapping_neg() as u64,
        _ => return None,
    };
    Some(Rule::total(kind, &[kind], function))
}

/// Products twice as wide as their factors.
fn wide(name: &str, modifiers: &[&str], kind: Type) -> Option<Rule> {
    let product = match kind {
        U16 => U32,
        S16 => S32,
        U32 => U64,
        S32 => S64,
        _ => return None,
    };
    match (name, modifiers) {
        ("mul", ["wide"]) => Some(Rule::total(product, &[kind; 2], of!(kind, mul_wide)?)),
        ("mad", ["wide"]) => Some(Rule::total(product, &[kind, kind, product], of!(kind, mad_wide)?)),
        _ => None,
    }
}

/// Instructions on bits, `.b` or `.pred`.
fn bitwise(name: &str, modifiers: &[&str], kind: Type) -> Option<Rule> {
    if kind == B8 || !modifiers.is_empty() {
        return None;
    }
    if let Some(function) = logic(name) {
        return Some(Rule::total(kind, &[kind; 2], function));
    }
    let counted: Option<Function> = match (name, kind) {
        ("popc", B32 | B64) => Some(|a, _, _| a.count_ones() as u64),
        ("clz", B32) => Some(|a, _, _| (a as u32).leading_zeros() as u64),
        ("clz", B64) => Some(|a, _, _| a.leading_zeros() as u64),
        _ => None,
    };
    if let Some(function) = counted {
        return Some(Rule::total(U32, &[kind], function));
    }
    let function: Option<Function> = match (name, kind) {
        ("not", Pred) => Some(|a, _, _| a ^ 1),
        ("not", B16) => Some(|a, _, _| !a as u16 as u64),
        ("not", B32) => Some(|a, _, _| !a as u32 as u64),
        ("not", B64) => Some(|a, _, _| !a),
        _ => None,
    };
    match (name, kind) {
        ("not", _) => Some(Rule::total(kind, &[kind], function?)),
        ("shl", B16 | B32 | B64) => Some(Rule::total(kind, &[kind, U32], of!(kind, shl)?)),
        ("prmt", B32) => Some(Rule::total(kind, &[kind, kind, kind], permute)),
        _ => None,
    }
}

/// Instructions on any class of integer.
fn either(name: &str, modifiers: &[&str], kind: Type) -> Option<Rule> {
    if kind.class() == Class::Packed {
        return None;
    }
    match (name, modifiers) {
        ("mov", []) if kind.bits() != 8 && kind != F16 && kind != BF16 => {
            Some(Rule::total(kind, &[kind], |a, _, _| a))
        }
        ("selp", []) if kind.bits() >= 16 && kind != F16 && kind != BF16 => {
            Some(Rule::total(kind, &[kind, kind, Pred], |a, b, p| if p != 0 { a } else { b }))
        }
        ("shr", []) if kind.class() != Class::Float => Some(Rule::total(kind, &[kind, U32], of!(kind, shr)?)),
        _ => None,
    }
}

/// `prmt`: each nibble of `c` picks one of the eight bytes of `b:a`, or that byte's sign eight times.
fn permute(a: u64, b: u64, c: u64) -> u64 {
    let bytes = a & 0xffff_ffff | b << 32;
    (0..4).fold(0, |result, at| {
        let pick = c >> (4 * at);
        let byte = (bytes >> (8 * (pick & 7))) as u8;
        let value = if pick & 8 != 0 { ((byte as i8) >> 7) as u8 } else { byte };
        result | (value as u64) << (8 * at)
    })
}

pub(super) fn comparison(compare: &str, kind: Type) -> Option<Function> {
    if kind.bits() < 16 || !matches!(kind.class(), Class::Bits | Class::Unsigned | Class::Signed) {
        return None;
    }
    let same = |compare: &str| -> Option<Function> {
        match compare {
            "lt" => of!(kind, lt),
            "le" => of!(kind, le),
            "gt" => of!(kind, gt),
            "ge" => of!(kind, ge),
            _ => None,
        }
    };
    match (compare, kind.class()) {
        ("eq", _) => of!(kind, eq),
        ("ne", _) => of!(kind, ne),
        (_, Class::Bits) => None,
        ("lo", Class::Unsigned) => same("lt"),
        ("ls", Class::Unsigned) => same("le"),
        ("hi", Class::Unsigned) => same("gt"),
        ("hs", Class::Unsigned) => same("ge"),
        _ => same(compare),
    }
}
