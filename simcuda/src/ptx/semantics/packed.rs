//! Instructions on two floats of 16 bits in one register: f16x2 and bf16x2. Each half is rounded once, to
//! nearest even, subnormals kept. A NaN that an operation makes is PTX's canonical one.

use super::convert::odd_single;
use super::rule::{Function, Rule};
use crate::ptx::types::Type;

macro_rules! per_type {
    ($($module:ident;)*) => {$(
        mod $module {
            use super::odd_single;
            use half::$module as half;
            fn value(bits: u64) -> f64 { half::from_bits(bits as u16).to_f64() }
            /// The result of one operation in f64 on two or three halves, which may be inexact.
            fn half_of(result: f64, error: f64) -> u64 {
                if result.is_nan() {
                    return 0x7fff;
                }
                let inexact = error != 0.0 && result.is_finite();
                let toward_zero = inexact && (error > 0.0) != (result > 0.0);
                let cut = f64::from_bits(result.to_bits() - toward_zero as u64);
                let odd = odd_single(f64::from_bits(cut.to_bits() | inexact as u64));
                half::from_f32(odd).to_bits() as u64
            }
            /// A sum and its rounding error (Knuth 1969).
            fn sum(a: f64, b: f64) -> u64 {
                let sum = a + b;
                let part = sum - a;
                half_of(sum, (a - (sum - part)) + (b - part))
            }
            fn both(f: impl Fn(u64) -> u64) -> u64 { f(0) | f(16) << 16 }
            pub fn add(a: u64, b: u64, _: u64) -> u64 { both(|at| sum(value(a >> at), value(b >> at))) }
            pub fn sub(a: u64, b: u64, _: u64) -> u64 { both(|at| sum(value(a >> at), -value(b >> at))) }
            pub fn mul(a: u64, b: u64, _: u64) -> u64 {
                both(|at| half_of(value(a >> at) * value(b >> at), 0.0))
            }
            pub fn fma(a: u64, b: u64, c: u64) -> u64 {
                both(|at| sum(value(a >> at) * value(b >> at), value(c >> at)))
            }
        }
    )*};
}
per_type! {
    f16;
    bf16;
}

pub(super) fn rule(name: &str, modifiers: &[&str], kind: Type) -> Option<Rule> {
    let functions: [Function; 4] = match kind {
        Type::F16X2 => [f16::add, f16::sub, f16::mul, f16::fma],
        Type::BF16X2 => [bf16::add, bf16::sub, bf16::mul, bf16::fma],
        _ => return None,
    };
    let at = ["add", "sub", "mul", "fma"].iter().position(|known| *known == name)?;
    let operands = if name == "fma" { 3 } else { 2 };
    // Without `.rn` an assembler may contract a sum with a product; such text is refused.
    (modifiers == ["rn"]).then(|| Rule::total(kind, &vec![kind; operands], functions[at]))
}
