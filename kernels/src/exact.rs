//! Exact sums of floats: the number that an exact fold writes, how such numbers are added, and how one is
//! rounded.
//!
//! Every finite f32 is a multiple of 2^-149 and every finite f64 one of 2^-1074, so a sum is an
//! integer. It is
//! written in digits of 16 bits, one i32 each, the lowest first; the last digit is signed, all others lie in
//! `0..2^16`. Three more elements say, by 0 or 1, whether an infinity, a negative infinity or a NaN was among
//! the summands; those count nothing in the digits. There are digits for 2^63 of the largest floats, so
//! nothing overflows, and as integers add in any order, neither the order of the summands nor how they were
//! divided can show. (A fixed-point accumulator of floats is Kulisch's; Neal, 2015, "Fast exact summation
//! using small and large superaccumulators", says how to keep carries rare.)
//!
//! Numbers of several parts are added element by element, up to 2^14 of them, before [`round`].

use crate::build::Builder;
use crate::dtype::DType;
use crate::ir::{BinaryOp, CompareOp, UnaryOp, Value};

/// Bits of a digit.
pub const DIGIT_BITS: usize = 16;
/// Elements after the digits: infinity, negative infinity, NaN.
pub const FLAGS: usize = 3;

/// The digits of a sum of this type, f32 or f64.
pub fn digits(dtype: DType) -> usize {
    // From the lowest bit, 278 and 2099 bits hold the largest float and a sign; a count adds 63.
    if dtype == DType::F64 { 135 } else { 22 }
}

/// The elements of a number: digits and flags.
pub fn width(dtype: DType) -> usize {
    digits(dtype) + FLAGS
}

/// The exponent of the lowest bit of the lowest digit.
pub const fn lowest(dtype: DType) -> i32 {
    match dtype {
        DType::F64 => -1074,
        _ => -149,
    }
}

/// The float nearest to a number, ties to even, of the type that was summed: infinite beyond the largest
/// finite one, NaN for a NaN or infinities of both signs among the summands, and +0 for zero. The values
/// are the elements of a number, or of the sum of up to 2^14 of them.
pub fn round(k: &mut Builder, number: &[Value], dtype: DType) -> Value {
    let (numerals, flags) = number.split_at(digits(dtype));
    let (negative, magnitude) = magnitude(k, numerals);
    let word = if dtype == DType::F64 { DType::U64 } else { DType::U32 };
    let mut rounding = Rounding { k, word, dtype };
    let bits = rounding.nearest(&magnitude);
    let Rounding { k, .. } = rounding;
    let top = word.size_bytes() as i64 * 8 - 1;
    let sign = int(k, word, 1);
    let sign = shift(k, BinaryOp::Shl, sign, top);
    let zero = int(k, word, 0);
    let sign = k.select(negative, sign, zero);
    let bits = k.binary(BinaryOp::Or, bits, sign);
    let value = k.bitcast(bits, dtype);
    special(k, value, flags, dtype)
}

fn int(k: &mut Builder, dtype: DType, value: i64) -> Value {
    k.int(dtype, value)
}

fn shift(k: &mut Builder, op: BinaryOp, value: Value, by: i64) -> Value {
    let by = k.int(k.dtype(value), by);
    k.binary(op, value, by)
}

/// The sign of a number, and its magnitude in digits that all lie in `0..2^16`.
fn magnitude(k: &mut Builder, numerals: &[Value]) -> (Value, Vec<Value>) {
    let bits = DIGIT_BITS as i64;
    let mask = int(k, DType::I32, (1 << bits) - 1);
    // Each digit takes the carry of the one below.
    let mut carry = int(k, DType::I32, 0);
    let mut plain = Vec::with_capacity(numerals.len() + 1);
    for &digit in numerals {
        let sum = k.binary(BinaryOp::Add, digit, carry);
        plain.push(k.binary(BinaryOp::And, sum, mask));
        carry = shift(k, BinaryOp::Shr, sum, bits);
    }
    let (zero, one) = (int(k, DType::I32, 0), int(k, DType::I32, 1));
    let negative = k.compare(CompareOp::Lt, carry, zero);
    plain.push(k.binary(BinaryOp::And, carry, mask));
    // A negative number is the complement of its magnitude, plus one.
    let flip = k.select(negative, mask, zero);
    let mut carry = k.select(negative, one, zero);
    for digit in &mut plain {
        let flipped = k.binary(BinaryOp::Xor, *digit, flip);
        let sum = k.binary(BinaryOp::Add, flipped, carry);
        *digit = k.binary(BinaryOp::And, sum, mask);
        carry = shift(k, BinaryOp::Shr, sum, bits);
    }
    (negative, plain)
}

struct Rounding<'k> {
    k: &'k mut Builder,
    /// An unsigned integer as wide as the float.
    word: DType,
    dtype: DType,
}

impl Rounding<'_> {
    /// The bits of the float nearest to a magnitude.
    fn nearest(&mut self, magnitude: &[Value]) -> Value {
        let (head, tail, inexact, position) = self.leading(magnitude);
        let (head, tail, position) = self.normalised(head, tail, position);
        let (bits, fraction) =
            (self.word.size_bytes() as i64 * 8, if self.dtype == DType::F64 { 52 } else { 23 });
        let (word, k) = (self.word, &mut *self.k);
        let spare = bits - 1 - fraction;
        let mantissa = shift(k, BinaryOp::Shr, head, spare);
        // Beyond the mantissa: half a unit, and whether there is more.
        let (zero, one) = (int(k, word, 0), int(k, word, 1));
        let half = shift(k, BinaryOp::Shr, head, spare - 1);
        let half = k.binary(BinaryOp::And, half, one);
        let below = int(k, word, (1 << (spare - 1)) - 1);
        let below = k.binary(BinaryOp::And, head, below);
        let below = k.binary(BinaryOp::Or, below, tail);
        let more = k.compare(CompareOp::Ne, below, zero);
        let more = k.binary(BinaryOp::Or, more, inexact);
        let more = k.cast(more, word);
        let odd = k.binary(BinaryOp::And, mantissa, one);
        let more = k.binary(BinaryOp::Or, more, odd);
        let up = k.binary(BinaryOp::And, half, more);
        // An exponent counts from 1 where the mantissa's lowest bit is the lowest of all; a carry out of the
        // mantissa raises it as it should. What is smaller is exact, and its own bits.
        let least = int(k, word, fraction);
        let exponent = k.binary(BinaryOp::Sub, position, least);
        let exponent = shift(k, BinaryOp::Shl, exponent, fraction);
        let normal = k.binary(BinaryOp::Add, exponent, mantissa);
        let normal = k.binary(BinaryOp::Add, normal, up);
        let infinity = k.float(self.dtype, f64::INFINITY);
        let infinity = k.bitcast(infinity, word);
        let normal = k.binary(BinaryOp::Min, normal, infinity);
        let top = int(k, word, bits - 1);
        let down = k.binary(BinaryOp::Sub, top, position);
        let small = k.binary(BinaryOp::Shr, head, down);
        let is_small = k.compare(CompareOp::Lt, position, least);
        k.select(is_small, small, normal)
    }

    /// The digits from the first that is not zero on: as many as fill a word, the one after them, whether any
    /// below is not zero, and the position of the first one's lowest bit.
    fn leading(&mut self, magnitude: &[Value]) -> (Value, Value, Value, Value) {
        let (word, k) = (self.word, &mut *self.k);
        let filling = word.size_bytes() * 8 / DIGIT_BITS;
        let zero = int(k, word, 0);
        let digits: Vec<Value> = magnitude.iter().map(|&digit| k.cast(digit, word)).collect();
        let below = |at: usize, by: usize| at.checked_sub(by).map_or(zero, |at| digits[at]);
        let nothing = k.compare(CompareOp::Ne, zero, zero);
        let (mut head, mut tail, mut inexact, mut position) = (zero, zero, nothing, zero);
        let mut lost = nothing;
        for at in 0..digits.len() {
            let leads = k.compare(CompareOp::Ne, digits[at], zero);
            let mut here = digits[at];
            for by in 1..filling {
                here = shift(k, BinaryOp::Shl, here, DIGIT_BITS as i64);
                here = k.binary(BinaryOp::Or, here, below(at, by));
            }
            let place = int(k, word, (at * DIGIT_BITS) as i64);
            head = k.select(leads, here, head);
            tail = k.select(leads, below(at, filling), tail);
            inexact = k.select(leads, lost, inexact);
            position = k.select(leads, place, position);
            if let Some(next) = at.checked_sub(filling) {
                let some = k.compare(CompareOp::Ne, digits[next], zero);
                lost = k.binary(BinaryOp::Or, lost, some);
            }
        }
        (head, tail, inexact, position)
    }

    /// Moves the highest bit of the head to the top of the word; the position becomes that bit's.
    fn normalised(&mut self, mut head: Value, mut tail: Value, position: Value) -> (Value, Value, Value) {
        let (word, k) = (self.word, &mut *self.k);
        let (bits, digit) = (word.size_bytes() as i64 * 8, DIGIT_BITS as i64);
        let highest = int(k, word, digit - 1);
        let mut position = k.binary(BinaryOp::Add, position, highest);
        for by in [8, 4, 2, 1] {
            let high = shift(k, BinaryOp::Shr, head, bits - by);
            let zero = int(k, word, 0);
            let is_low = k.compare(CompareOp::Eq, high, zero);
            let moved = shift(k, BinaryOp::Shl, head, by);
            let entering = shift(k, BinaryOp::Shr, tail, digit - by);
            let moved = k.binary(BinaryOp::Or, moved, entering);
            let rest = shift(k, BinaryOp::Shl, tail, by);
            let mask = int(k, word, (1 << digit) - 1);
            let rest = k.binary(BinaryOp::And, rest, mask);
            let distance = int(k, word, by);
            let lower = k.binary(BinaryOp::Sub, position, distance);
            head = k.select(is_low, moved, head);
            tail = k.select(is_low, rest, tail);
            position = k.select(is_low, lower, position);
        }
        (head, tail, position)
    }
}

/// What infinities and NaN among the summands make of the sum.
fn special(k: &mut Builder, value: Value, flags: &[Value], dtype: DType) -> Value {
    let zero = int(k, DType::I32, 0);
    let [up, down, nan] = [0, 1, 2].map(|flag| k.compare(CompareOp::Ne, flags[flag], zero));
    let infinity = k.float(dtype, f64::INFINITY);
    let lowest = k.unary(UnaryOp::Neg, infinity);
    let not_a_number = k.float(dtype, f64::NAN);
    let both = k.binary(BinaryOp::And, up, down);
    let nan = k.binary(BinaryOp::Or, nan, both);
    let value = k.select(up, infinity, value);
    let value = k.select(down, lowest, value);
    k.select(nan, not_a_number, value)
}

/// A sum under way: digits of 32 bits that carry rarely.
#[derive(Clone, Debug)]
pub(crate) struct Sum {
    dtype: DType,
    /// Each may be off its range by what was added since the last carry.
    limbs: Vec<i64>,
    flags: [bool; FLAGS],
    /// Additions until a carry is due.
    left: u32,
}

/// Additions of less than 2^32 after which a limb, small at first, still fits 63 bits.
const ADDITIONS: u32 = 1 << 30;

impl Sum {
    pub(crate) fn new(dtype: DType) -> Sum {
        // A float reaches into three limbs.
        let limbs = vec![0; digits(dtype).div_ceil(2) + 2];
        Sum { dtype, limbs, flags: [false; FLAGS], left: ADDITIONS }
    }

    /// Adds a float that is a multiple of the lowest bit of this type.
    pub(crate) fn add(&mut self, value: f64) {
        let bits = value.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as i32;
        let fraction = bits & ((1 << 52) - 1);
        if exponent == 0x7ff {
            let flag = if fraction != 0 { 2 } else { usize::from(value < 0.0) };
            self.flags[flag] = true;
            return;
        }
        // value = mantissa * 2^(position + lowest)
        let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
        let position = exponent.max(1) - 1075 - lowest(self.dtype);
        let (mantissa, position) = match position {
            0.. => (mantissa, position as usize),
            _ => (mantissa.checked_shr(position.unsigned_abs()).unwrap_or(0), 0),
        };
        let wide = u128::from(mantissa) << (position % 32);
        let sign = if value < 0.0 { -1 } else { 1 };
        for (limb, piece) in self.limbs[position / 32..].iter_mut().zip([wide, wide >> 32, wide >> 64]) {
            *limb += sign * i64::from(piece as u32);
        }
        self.left -= 1;
        if self.left == 0 {
            self.carry();
        }
    }

    fn carry(&mut self) {
        let last = self.limbs.len() - 1;
        let mut carry = 0;
        for limb in &mut self.limbs[..last] {
            let sum = *limb + carry;
            *limb = i64::from(sum as u32);
            carry = sum >> 32;
        }
        self.limbs[last] += carry;
        self.left = ADDITIONS;
    }

    /// The elements of the number.
    pub(crate) fn number(&mut self) -> Vec<i32> {
        self.carry();
        let count = digits(self.dtype);
        let digit = |at: usize| (self.limbs[at / 2] >> (at % 2 * DIGIT_BITS) & 0xffff) as i32;
        let mut number: Vec<i32> = (0..count).map(digit).collect();
        // The last digit has the sign: its higher half is that of the limb, or of the one above.
        number[count - 1] = match (count - 1) % 2 {
            0 => self.limbs[count / 2] as i32,
            _ => number[count - 1] | (self.limbs[count / 2] as i32) << DIGIT_BITS,
        };
        number.extend(self.flags.map(i32::from));
        number
    }
}

/// Adds a number to another, up to 2^14 times.
pub(crate) fn add_number(to: &mut [i32], number: &[i32]) {
    to.iter_mut().zip(number).for_each(|(to, digit)| *to += digit);
}

/// Brings the digits of a sum of numbers back into their ranges, and the flags.
pub(crate) fn normalise(number: &mut [i32], dtype: DType) {
    let (numerals, flags) = number.split_at_mut(digits(dtype));
    let last = numerals.len() - 1;
    let mut carry = 0;
    for digit in &mut numerals[..last] {
        let sum = *digit + carry;
        *digit = sum & 0xffff;
        carry = sum >> DIGIT_BITS;
    }
    numerals[last] += carry;
    flags.iter_mut().for_each(|flag| *flag = i32::from(*flag != 0));
}
