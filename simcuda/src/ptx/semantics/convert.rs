//! `cvt` as the engine's writer uses it: integers to integers and to floats, floats to integers, to floats of
//! another width (rounded once, to nearest; f32 to f16 and f64 to f32 also towards zero) and to whole floats
//! in every direction.

use super::float::{NAN_32, NAN_64};
use super::rule::Function;
use crate::ptx::types::{Class, Type, Type::*};

/// The rounding of `cvt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    Nearest,
    Zero,
    Down,
    Up,
}

use Rounding::*;

const MODES: [Rounding; 4] = [Nearest, Zero, Down, Up];
const TYPES: [Type; 17] =
    [Pred, B8, U8, S8, B16, U16, S16, B32, U32, S32, B64, U64, S64, F16, BF16, F32, F64];

/// The rounding of a modifier: to a float, or to an integer (`true`).
fn rounding(modifier: &str) -> Option<(Rounding, bool)> {
    match modifier {
        "rn" => Some((Nearest, false)),
        "rz" => Some((Zero, false)),
        "rm" => Some((Down, false)),
        "rp" => Some((Up, false)),
        "rni" => Some((Nearest, true)),
        "rzi" => Some((Zero, true)),
        "rmi" => Some((Down, true)),
        "rpi" => Some((Up, true)),
        _ => None,
    }
}

/// A conversion: its function, and the second operand that tells the function what to do.
pub(crate) struct Conversion {
    pub function: Function,
    pub order: u64,
}

/// The conversion `cvt.modifiers.to.from` into a register of type `register`; none if there is no such thing.
pub(crate) fn conversion(modifiers: &[&str], to: Type, from: Type, register: Type) -> Option<Conversion> {
    let mode = match modifiers {
        [] => None,
        [one] => Some(rounding(one)?),
        _ => return None,
    };
    let function: Function = match (kind(from)?, kind(to)?, mode) {
        (NumberClass::Integer, NumberClass::Integer, None) => extend,
        (NumberClass::Integer, NumberClass::Float, Some((Nearest, false))) => match to {
            F32 => |a, order, _| {
                from_integer(
                    a,
                    order,
                    |value| (value as f32).to_bits() as u64,
                    |value| (value as f32).to_bits() as u64,
                )
            },
            F64 => |a, order, _| {
                from_integer(a, order, |value| (value as f64).to_bits(), |value| (value as f64).to_bits())
            },
            _ => return None,
        },
        (NumberClass::Float, NumberClass::Integer, Some((_, true))) => to_integer,
        (NumberClass::Float, NumberClass::Float, Some((mode, false))) => match (to, from, mode) {
            (F16, F32, Nearest | Zero) | (BF16, F32, Nearest) => narrow,
            (F16, F64, Nearest) | (F32, F64, Nearest | Zero) => narrow,
            _ => return None,
        },
        (NumberClass::Float, NumberClass::Float, None) if to.bits() > from.bits() => widen(to, from),
        (NumberClass::Float, NumberClass::Float, Some((_, true))) if to == from && to.bits() >= 32 => {
            integral
        }
        _ => return None,
    };
    let index = |kind: Type| TYPES.iter().position(|known| *known == kind).unwrap_or(0) as u64;
    let mode = MODES.iter().position(|known| mode.is_some_and(|(mode, _)| mode == *known));
    let mode = mode.map_or(NO_MODE, |at| at as u64);
    let order = index(to) | index(from) << 8 | mode << 16 | (register.bits() as u64) << 24;
    Some(Conversion { function, order })
}

const NO_MODE: u64 = 0xff;

enum NumberClass {
    Integer,
    Float,
}

fn kind(of: Type) -> Option<NumberClass> {
    match of.class() {
        Class::Unsigned | Class::Signed => Some(NumberClass::Integer),
        Class::Float => Some(NumberClass::Float),
        Class::Bits | Class::Pred | Class::Packed => None,
    }
}

/// The conversion that the second operand asks for.
struct Order {
    to: Type,
    from: Type,
    mode: Option<Rounding>,
    register: u32,
}

impl Order {
    #[inline(always)]
    fn read(order: u64) -> Order {
        Order {
            to: TYPES[(order & 0xff) as usize],
            from: TYPES[(order >> 8 & 0xff) as usize],
            mode: MODES.get((order >> 16 & 0xff) as usize).copied(),
            register: (order >> 24 & 0xff) as u32,
        }
    }

    /// `value`, which fits `to`, as bits of the destination register: sign-extended if `to` is signed.
    #[inline(always)]
    fn register_bits(&self, value: u64) -> u64 {
        let unused = 64 - self.to.bits();
        let wide = if self.to.is_signed() {
            ((value << unused) as i64 >> unused) as u64
        } else {
            value & self.to.mask()
        };
        wide & u64::MAX >> (64 - self.register)
    }
}

#[inline(always)]
fn sign_extended(bits: u64, from: Type) -> u64 {
    let unused = 64 - from.bits();
    if from.is_signed() { ((bits << unused) as i64 >> unused) as u64 } else { bits & from.mask() }
}

/// The least and the greatest integer of `to`.
fn range(to: Type) -> (i128, i128) {
    let bits = to.bits();
    if to.is_signed() { (-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// Integer to integer, dropping high bits.
fn extend(a: u64, order: u64, _: u64) -> u64 {
    let order = Order::read(order);
    order.register_bits(sign_extended(a, order.from))
}

/// Every float is an f64.
fn float_value(bits: u64, from: Type) -> f64 {
    match from {
        F16 => half::f16::from_bits(bits as u16).to_f64(),
        BF16 => half::bf16::from_bits(bits as u16).to_f64(),
        F32 => f32::from_bits(bits as u32) as f64,
        _ => f64::from_bits(bits),
    }
}

fn nan(to: Type) -> u64 {
    match to {
        F16 | BF16 => 0x7fff,
        F32 => NAN_32,
        _ => NAN_64,
    }
}

fn rounded(value: f64, mode: Rounding) -> f64 {
    match mode {
        Nearest => value.round_ties_even(),
        Zero => value.trunc(),
        Down => value.floor(),
        Up => value.ceil(),
    }
}

/// Float to integer: what lies outside the range becomes its nearest end. NaN becomes 0, but for f64 or to 64
/// bits only the highest bit.
fn to_integer(a: u64, order: u64, _: u64) -> u64 {
    let order = Order::read(order);
    let value = float_value(a, order.from);
    if value.is_nan() {
        let zero = order.from != F64 && order.to.bits() < 64;
        return order.register_bits(if zero { 0 } else { 1 << (order.to.bits() - 1) });
    }
    let value = rounded(value, order.mode.unwrap_or(Zero));
    let (least, most) = range(order.to);
    // `as` saturates, and 128 bits hold every bound, so that this clamps exactly.
    order.register_bits((value as i128).clamp(least, most) as u64)
}

/// Integer to float, by the conversion of signed or of unsigned values.
#[inline(always)]
fn from_integer(a: u64, order: u64, signed: impl Fn(i64) -> u64, unsigned: impl Fn(u64) -> u64) -> u64 {
    let from = Order::read(order).from;
    let wide = sign_extended(a, from);
    if from.is_signed() { signed(wide as i64) } else { unsigned(wide) }
}

/// Float to a wider float, which is exact.
fn widen(to: Type, from: Type) -> Function {
    match (to, from) {
        (F64, F32) => |a, _, _| {
            let value = f32::from_bits(a as u32);
            if value.is_nan() { NAN_64 } else { (value as f64).to_bits() }
        },
        _ => |a, order, _| {
            let order = Order::read(order);
            let value = float_value(a, order.from);
            match (value.is_nan(), order.to) {
                (true, to) => nan(to),
                (false, F32) => (value as f32).to_bits() as u64,
                (false, _) => value.to_bits(),
            }
        },
    }
}

/// An f64 rounded to f32 towards zero.
fn cut_single(value: f64) -> f32 {
    let near = value as f32;
    match near as f64 {
        back if back.abs() > value.abs() => f32::from_bits(near.to_bits() - 1),
        _ => near,
    }
}

/// The same rounded to odd: what is inexact ends with a one, so that a second rounding sees it.
pub(super) fn odd_single(value: f64) -> f32 {
    let cut = cut_single(value);
    f32::from_bits(cut.to_bits() | (cut as f64 != value) as u32)
}

/// Float to a narrower float.
fn narrow(a: u64, order: u64, _: u64) -> u64 {
    let order = Order::read(order);
    let value = float_value(a, order.from);
    let (near, cut, odd) = (value as f32, cut_single(value), odd_single(value));
    match order.to {
        to if value.is_nan() => nan(to),
        F16 => {
            let near = half::f16::from_f32(odd);
            let past = order.mode == Some(Zero) && near.to_f64().abs() > value.abs();
            (near.to_bits() - past as u16) as u64
        }
        BF16 => half::bf16::from_f32(odd).to_bits() as u64,
        _ if order.mode == Some(Zero) => cut.to_bits() as u64,
        _ => near.to_bits() as u64,
    }
}

/// A float of the same type, rounded to a whole number.
fn integral(a: u64, order: u64, _: u64) -> u64 {
    let order = Order::read(order);
    let value = float_value(a, order.from);
    let whole = rounded(value, order.mode.unwrap_or(Nearest));
    match order.to {
        to if value.is_nan() => nan(to),
        F32 => (whole as f32).to_bits() as u64,
        _ => whole.to_bits(),
    }
}
