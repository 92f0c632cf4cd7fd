//! `cvt` between integers and floats of every width, with every rounding, each rounded once.

use super::float::{NAN_32, NAN_64};
use super::rule::Function;
use crate::ptx::types::{Class, Type, Type::*};

/// How `cvt` rounds.
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
    let (modifiers, saturate) = match modifiers {
        [rest @ .., "sat"] => (rest, true),
        _ => (modifiers, false),
    };
    let mode = match modifiers {
        [] => None,
        [one] => Some(rounding(one)?),
        _ => return None,
    };
    let function: Function = match (kind(from)?, kind(to)?, mode) {
        (NumberClass::Integer, NumberClass::Integer, None) if !saturate => extend,
        (NumberClass::Integer, NumberClass::Integer, None) if !covers(to, from) => clamp,
        (NumberClass::Integer, NumberClass::Float, Some((_, false))) if !saturate => {
            from_integer(to, from, mode)
        }
        (NumberClass::Float, NumberClass::Integer, Some((_, true))) => to_integer,
        (NumberClass::Float, NumberClass::Float, Some((_, false)))
            if to.bits() < from.bits() && !saturate =>
        {
            narrow
        }
        (NumberClass::Float, NumberClass::Float, None) if to.bits() > from.bits() && !saturate => {
            widen(to, from)
        }
        (NumberClass::Float, NumberClass::Float, None | Some((_, true))) if to == from && !saturate => {
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
        Class::Bits | Class::Pred => None,
    }
}

/// Whether every value of `from` is one of `to`, so that nothing can saturate.
fn covers(to: Type, from: Type) -> bool {
    match (to.is_signed(), from.is_signed()) {
        (true, true) | (false, false) => to.bits() >= from.bits(),
        (true, false) => to.bits() > from.bits(),
        (false, true) => false,
    }
}

/// What the second operand says.
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

fn integer_value(bits: u64, from: Type) -> i128 {
    let wide = sign_extended(bits, from);
    if from.is_signed() { wide as i64 as i128 } else { wide as i128 }
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

/// Integer to integer, to the nearest value that `to` has.
fn clamp(a: u64, order: u64, _: u64) -> u64 {
    let order = Order::read(order);
    let (least, most) = range(order.to);
    order.register_bits(integer_value(a, order.from).clamp(least, most) as u64)
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

/// Integer to float in general; the usual forms have their own functions.
fn from_integer(to: Type, from: Type, mode: Option<(Rounding, bool)>) -> Function {
    match (to, from, mode) {
        (F32, S32, Some((Nearest, _))) => |a, _, _| (a as i32 as f32).to_bits() as u64,
        (F32, U32, Some((Nearest, _))) => |a, _, _| (a as u32 as f32).to_bits() as u64,
        (F32, S64, Some((Nearest, _))) => |a, _, _| (a as i64 as f32).to_bits() as u64,
        (F32, U64, Some((Nearest, _))) => |a, _, _| (a as f32).to_bits() as u64,
        (F64, S32, _) => |a, _, _| (a as i32 as f64).to_bits(),
        (F64, U32, _) => |a, _, _| (a as u32 as f64).to_bits(),
        (F64, S64, Some((Nearest, _))) => |a, _, _| (a as i64 as f64).to_bits(),
        (F64, U64, Some((Nearest, _))) => |a, _, _| (a as f64).to_bits(),
        _ => |a, order, _| {
            let order = Order::read(order);
            let value = integer_value(a, order.from);
            let exact = Exact { negative: value < 0, magnitude: value.unsigned_abs() as u64, exponent: 0 };
            exact.round(format(order.to), order.mode.unwrap_or(Nearest))
        },
    }
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

/// Float to a narrower float.
fn narrow(a: u64, order: u64, _: u64) -> u64 {
    let order = Order::read(order);
    let value = float_value(a, order.from);
    if value.is_nan() {
        return nan(order.to);
    }
    match (order.to, order.mode.unwrap_or(Nearest)) {
        (F32, Nearest) => (value as f32).to_bits() as u64,
        (to, mode) => round_float(value, to, mode),
    }
}

/// A float of the same type, rounded to an integer or unchanged.
fn integral(a: u64, order: u64, _: u64) -> u64 {
    let order = Order::read(order);
    let value = float_value(a, order.from);
    match order.mode {
        None if value.is_nan() => nan(order.to),
        None => a,
        Some(_) if value.is_nan() => nan(order.to),
        Some(mode) => round_float(rounded(value, mode), order.to, Nearest),
    }
}

fn round_float(value: f64, to: Type, mode: Rounding) -> u64 {
    if to == F64 {
        return value.to_bits();
    }
    let format = format(to);
    let negative = value.is_sign_negative();
    if value.is_infinite() {
        return format.sign(negative) | format.infinity();
    }
    let bits = value.to_bits();
    let (field, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    let exact = match field {
        0 => Exact { negative, magnitude: fraction, exponent: -1074 },
        _ => Exact { negative, magnitude: fraction | 1 << 52, exponent: field - 1075 },
    };
    exact.round(format, mode)
}

/// Widths of a float's fields.
#[derive(Clone, Copy)]
struct Format {
    exponent: u32,
    fraction: u32,
}

fn format(of: Type) -> Format {
    match of {
        F16 => Format { exponent: 5, fraction: 10 },
        BF16 => Format { exponent: 8, fraction: 7 },
        F32 => Format { exponent: 8, fraction: 23 },
        _ => Format { exponent: 11, fraction: 52 },
    }
}

impl Format {
    fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    fn sign(self, negative: bool) -> u64 {
        (negative as u64) << (self.exponent + self.fraction)
    }
}

/// The number `magnitude * 2^exponent` with its sign.
struct Exact {
    negative: bool,
    magnitude: u64,
    exponent: i32,
}

impl Exact {
    /// The bits of the nearest value of `format` in the direction of `mode`.
    fn round(&self, format: Format, mode: Rounding) -> u64 {
        let sign = format.sign(self.negative);
        if self.magnitude == 0 {
            return sign;
        }
        let fraction = format.fraction as i32;
        let least = 2 - (1 << (format.exponent - 1)) - fraction;
        let top = self.exponent + self.magnitude.ilog2() as i32;
        // The exponent of the result's last bit: of a normal number, or of the subnormals.
        let last = (top - fraction).max(least);
        let (kept, up) = self.cut(last - self.exponent, mode);
        // A normal number's leading bit, and the carry out of rounding, add to the exponent field.
        let bits = (((last - least) as u64) << fraction) + kept + up as u64;
        if bits < format.infinity() {
            return sign | bits;
        }
        let infinite = match mode {
            Nearest => true,
            Zero => false,
            Down => self.negative,
            Up => !self.negative,
        };
        sign | if infinite { format.infinity() } else { format.infinity() - 1 }
    }

    /// The magnitude without its last `shift` bits, and whether to add one to it.
    fn cut(&self, shift: i32, mode: Rounding) -> (u64, bool) {
        if shift <= 0 {
            return (self.magnitude << -shift, false);
        }
        // Beyond 65 bits nothing but "less than half, more than zero" is left.
        let shift = shift.min(66) as u32;
        let wide = self.magnitude as u128;
        let (kept, rest, half) = ((wide >> shift) as u64, wide & ((1 << shift) - 1), 1u128 << (shift - 1));
        let up = match mode {
            Nearest => rest > half || rest == half && kept & 1 == 1,
            Zero => false,
            Down => self.negative && rest != 0,
            Up => !self.negative && rest != 0,
        };
        (kept, up)
    }
}
