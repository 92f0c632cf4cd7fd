//! Instructions on f32 and f64: IEEE with round to nearest even, subnormals kept. A NaN that an operation
//! makes is PTX's canonical one, so that nothing comes to rely on a payload.

use super::rule::{Function, Rule};
use crate::ptx::types::{Type, Type::*};

/// The NaN that f32 operations return.
pub(crate) const NAN_32: u64 = 0x7fff_ffff;
/// The NaN that f64 operations return.
pub(crate) const NAN_64: u64 = 0x7ff8_0000_0000_0000;

fn single(value: f32) -> u64 {
    if value.is_nan() { NAN_32 } else { value.to_bits() as u64 }
}

fn double(value: f64) -> u64 {
    if value.is_nan() { NAN_64 } else { value.to_bits() }
}

macro_rules! per_type {
    ($($module:ident: $t:ident, $u:ident, $back:ident;)*) => {$(
        mod $module {
            use super::$back as back;
            fn of(bits: u64) -> $t { $t::from_bits(bits as $u) }
            pub fn add(a: u64, b: u64, _: u64) -> u64 { back(of(a) + of(b)) }
            pub fn sub(a: u64, b: u64, _: u64) -> u64 { back(of(a) - of(b)) }
            pub fn mul(a: u64, b: u64, _: u64) -> u64 { back(of(a) * of(b)) }
            pub fn div(a: u64, b: u64, _: u64) -> u64 { back(of(a) / of(b)) }
            pub fn sqrt(a: u64, _: u64, _: u64) -> u64 { back(of(a).sqrt()) }
            pub fn fma(a: u64, b: u64, c: u64) -> u64 { back(of(a).mul_add(of(b), of(c))) }
            pub fn eq(a: u64, b: u64, _: u64) -> u64 { (of(a) == of(b)) as u64 }
            pub fn lt(a: u64, b: u64, _: u64) -> u64 { (of(a) < of(b)) as u64 }
            pub fn le(a: u64, b: u64, _: u64) -> u64 { (of(a) <= of(b)) as u64 }
            pub fn gt(a: u64, b: u64, _: u64) -> u64 { (of(a) > of(b)) as u64 }
            pub fn ge(a: u64, b: u64, _: u64) -> u64 { (of(a) >= of(b)) as u64 }
            pub fn ne(a: u64, b: u64, _: u64) -> u64 { (of(a) < of(b) || of(a) > of(b)) as u64 }
            // The forms that hold for NaN too.
            pub fn neu(a: u64, b: u64, _: u64) -> u64 { 1 - eq(a, b, 0) }
            pub fn nan(a: u64, b: u64, _: u64) -> u64 { (of(a).is_nan() || of(b).is_nan()) as u64 }
        }
    )*};
}
per_type! {
    f32: f32, u32, single;
    f64: f64, u64, double;
}

macro_rules! of {
    ($kind:expr, $f:ident) => {{
        let function: Option<Function> = match $kind {
            F32 => Some(f32::$f),
            F64 => Some(f64::$f),
            _ => None,
        };
        function
    }};
}

pub(super) fn rule(name: &str, modifiers: &[&str], kind: Type) -> Option<Rule> {
    // Without `.rn` an assembler may contract a sum with a product; such text is refused.
    let function: Option<Function> = match (name, modifiers) {
        ("add", ["rn"]) => of!(kind, add),
        ("sub", ["rn"]) => of!(kind, sub),
        ("mul", ["rn"]) => of!(kind, mul),
        ("div", ["rn"]) => of!(kind, div),
        ("sqrt", ["rn"]) => of!(kind, sqrt),
        ("fma", ["rn"]) => of!(kind, fma),
        ("abs", []) => abs(kind),
        ("neg", []) => neg(kind),
        _ => None,
    };
    let count = match name {
        "sqrt" | "abs" | "neg" => 1,
        "fma" => 3,
        _ => 2,
    };
    Some(Rule::total(kind, &vec![kind; count], function?))
}

/// An f32 NaN loses its payload, an f64 NaN passes.
fn abs(kind: Type) -> Option<Function> {
    match kind {
        F32 => Some(|a, _, _| single(f32::from_bits(a as u32).abs())),
        F64 => Some(|a, _, _| a & !(1 << 63)),
        _ => None,
    }
}

fn neg(kind: Type) -> Option<Function> {
    match kind {
        F32 => Some(|a, _, _| single(-f32::from_bits(a as u32))),
        F64 => Some(|a, _, _| a ^ 1 << 63),
        _ => None,
    }
}

pub(super) fn comparison(compare: &str, kind: Type) -> Option<Function> {
    match compare {
        "eq" => of!(kind, eq),
        "ne" => of!(kind, ne),
        "lt" => of!(kind, lt),
        "le" => of!(kind, le),
        "gt" => of!(kind, gt),
        "ge" => of!(kind, ge),
        "neu" => of!(kind, neu),
        "nan" => of!(kind, nan),
        _ => None,
    }
}
