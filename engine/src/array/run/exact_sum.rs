//! [`Array::sum_reproducible`](crate::array::Array::sum_reproducible): correctly rounded sums of floats,
//! composed of reductions that are exact.
//!
//! A finite float is an integer m times 2^p units. The unit is the smallest subnormal float, p is at least 0,
//! and m has 24 or 53 bits (f32, f64). A first pass finds the smallest and the largest p among the summands
//! of each result. A second pass writes every summand as a few digits, relative to the smallest p, and adds
//! each digit separately. The digits are so narrow that their sums are exact: they are integral floats below
//! 2^53; integers on devices without f64, and where the summands are too far apart for floats. Then carries
//! are propagated and the number is rounded once. So neither the order of the summands nor how they are
//! divided changes the result. (The number is a fixed-point accumulator as Kulisch's; Neal, 2015, "Fast exact
//! summation using small and large superaccumulators", surveys others. Digits are extracted as by Rump,
//! Ogita and Oishi, 2008, "Accurate floating-point summation".)

use partita_kernels::{DType, FoldOp, Scalar};

use crate::array::record::expr::Reduction;
use crate::array::record::ops::Operand;
use crate::array::recorder::recording::Recorder;
use crate::array::{Array, IntoSpan, Span, eval_all};
use crate::error::Result;

impl Array {
    /// As [`Array::sum`], with the same bits however the elements are divided among parts, in whatever order
    /// they are, and on every kind of device: the exact sum rounded once, to nearest, ties to even. A NaN, or
    /// infinities of both signs, give NaN; one infinity gives itself; a sum of nothing or of zeros is +0. f16
    /// and bf16 are rounded to f32 first.
    ///
    /// Of floats it computes at once, so it is collective: a first pass over the elements finds their range
    /// of exponents, and the host waits for it. The sum itself is recorded: one more pass that adds as many
    /// numbers per element as the range needs, usually 2 to 4. Inside a [`Loop`](crate::array::Loop)'s
    /// step, where nothing can be read, it adds as many as all floats need (f32: 6 to 14, f64: 35 to 105),
    /// which takes several passes.
    #[doc = example!("assert_eq!(u.sum_reproducible(&[]).item::<f64>()?, 15.0);")]
    pub fn sum_reproducible(&self, axes: &[usize]) -> Array {
        match self.dtype() {
            // An exact sum of one number.
            _ if self.rank() == 0 && axes.is_empty() => self.sum(axes),
            DType::F32 | DType::F64 => {
                let added = match (self.team().has_f64(), self.team().has_i64()) {
                    (true, _) => DType::F64,
                    (false, true) => DType::I64,
                    (false, false) => DType::I32,
                };
                self.or_failed(exact_sum(self, axes, added, most_summands(added)))
            }
            DType::F16 | DType::BF16 => self.cast(DType::F32).sum_reproducible(axes).cast(self.dtype()),
            // Integers add in any order.
            DType::Bool
            | DType::I8
            | DType::I16
            | DType::I32
            | DType::I64
            | DType::U8
            | DType::U16
            | DType::U32
            | DType::U64 => self.sum(axes),
        }
    }
}

/// The most elements that are added before carries: more leave digits of too few bits.
fn most_summands(added: DType) -> i64 {
    if added == DType::I32 { 1 << 24 } else { 1 << 33 }
}

/// The exact sum, rounded. Digits add up in the type `added`, up to `most` of them before carries.
fn exact_sum(x: &Array, axes: &[usize], added: DType, most: i64) -> Result<Array> {
    let mut axes = if axes.is_empty() { (0..x.rank()).collect() } else { axes.to_vec() };
    axes.sort_unstable();
    axes.dedup();
    x.distribution()?.reduced(&axes)?;
    let count: i64 = axes.iter().map(|&axis| x.shape()[axis]).product();
    let mut format = DigitFormat::new(x.dtype(), added, count.min(most));
    let range = Range::of(&format, x, &axes);
    let span = range.span(&format)?;
    if added == DType::F64 && format.digits(span) * format.digit > MOST_FLOAT_BITS {
        format = DigitFormat::new(x.dtype(), DType::I64, count.min(most));
    }
    let digits = format.digits(span);
    let sums = digit_sums(&format, (x, &axes), &range.lowest, (digits, most))?;
    round(&format, sums, &range.lowest, &range.special)
}

/// The range of the summands of each result.
struct Range {
    /// The smallest p of a summand that is not zero.
    lowest: Array,
    /// The distance of the largest p from the smallest.
    span: Array,
    /// The bits of the result where summands are not finite, 0 elsewhere.
    special: Array,
}

impl Range {
    fn of(format: &DigitFormat, x: &Array, axes: &[usize]) -> Range {
        let int = |value: i64| format.in_bits(value);
        let bits = x.bitcast(format.bits);
        let (sign, rest) = match format.bits {
            DType::I64 => (i64::MIN, i64::MAX),
            _ => (i64::from(i32::MIN), i64::from(i32::MAX)),
        };
        let magnitude = &bits & int(rest);
        let nonzero = magnitude.equal(int(0)).select(&int(rest).operand(&bits), &magnitude);
        // Floats of one sign compare as their bits do, and NaN is above infinity.
        let (positive, negative) = (bits.max(axes), (&bits ^ int(sign)).max(axes));
        let smallest = nonzero.min(axes);
        let largest = positive.maximum(&negative).maximum(int(0));
        let exponent = |bits: &Array| bits.shift_right(int(format.fraction)).maximum(int(1)) - int(1);
        let highest = exponent(&largest);
        let lowest = exponent(&smallest).minimum(&highest);
        let infinity = format.infinity();
        let choose = |of: &Array, bits: i64, other: &Array| of.select(&int(bits).operand(other), other);
        let finite = largest.less(int(infinity));
        let span = choose(&!&finite, 0, &(&highest - &lowest));
        let (up, down) = (positive.equal(int(infinity)), negative.equal(int(infinity)));
        let nan = largest.greater(int(infinity)) | (&up & &down);
        let zero = int(0).operand(&largest);
        let special = choose(&down, infinity | sign, &choose(&up, infinity, &zero));
        let special = choose(&nan, infinity | 1 << (format.fraction - 1), &special);
        Range { lowest, span, special }
    }

    /// The largest distance between the lowest bits of summands; in a `Loop`'s step, which reads nothing,
    /// that of all floats.
    fn span(&self, format: &DigitFormat) -> Result<i64> {
        if Recorder::current().is_recording() {
            eval_all(&[&self.lowest, &self.special])?;
            return Ok(format.largest_field() - 2);
        }
        let span = self.span.cast(DType::I32);
        let is_single = span.shape().iter().all(|&extent| extent == 1);
        let widest = if is_single { span } else { span.max(&[]) };
        eval_all(&[&self.lowest, &self.special, &widest])?;
        Ok(i64::from(widest.item::<i32>()?.max(0)))
    }
}

/// The sum of each digit of the summands, the lowest first; the last one is signed. Of more than `most`
/// summands, sums of portions are carried and added.
fn digit_sums(
    format: &DigitFormat,
    (x, axes): (&Array, &[usize]),
    lowest: &Array,
    (digits, most): (i64, i64),
) -> Result<Vec<Array>> {
    let count: i64 = axes.iter().map(|&axis| x.shape()[axis]).product();
    let longest = axes.iter().copied().max_by_key(|&axis| x.shape()[axis]);
    let Some(longest) = longest.filter(|_| count > most) else {
        let sum = |digit: &Array| digit.reduction("sum_reproducible", axes, Reduction::Fold(FoldOp::Sum));
        if format.added != DType::F64 {
            return Ok(integer_digits(format, x, lowest, digits).iter().map(sum).collect());
        }
        let units = |(at, digit): (usize, &Array)| {
            (sum(digit) * (-(at as f64) * format.digit as f64).exp2()).cast(format.word)
        };
        return Ok(float_digits(format, x, lowest, digits)?.iter().enumerate().map(units).collect());
    };
    let extent = x.shape()[longest];
    let mut sums: Vec<Array> = Vec::new();
    for portion in [0..extent / 2, extent / 2..extent] {
        let spans: Vec<Span> = (0..x.rank())
            .map(|d| if d == longest { portion.clone() } else { 0..x.shape()[d] }.into_span())
            .collect();
        let mut portion = digit_sums(format, (&x.slice(&spans), axes), lowest, (digits, most))?;
        let last = carry(format, &mut portion)?;
        portion.push(last);
        for (at, digit) in portion.into_iter().enumerate() {
            match sums.get_mut(at) {
                Some(sum) => *sum = &*sum + &digit,
                None => sums.push(digit),
            }
        }
        eval_all(&sums.iter().collect::<Vec<&Array>>())?;
    }
    Ok(sums)
}

/// Each element in units of the lowest exponent, as `digits` floats: digit k is a multiple of 2^(k * digit).
/// Adding and subtracting a number whose last bit is that unit rounds to it, and what is left is exact.
fn float_digits(format: &DigitFormat, x: &Array, lowest: &Array, digits: i64) -> Result<Vec<Array>> {
    let int = |value: i64| Scalar::from_i64(DType::I64, value);
    // The unit is 2^-up. Its inverse may be no float, but half of the exponent always gives one.
    let up = int(format.lowest_bit()).operand(lowest) - lowest.cast(DType::I64);
    let half = up.shift_right(int(1));
    let power = |up: &Array| (up + int(1023)).shift_left(int(52)).bitcast(DType::F64);
    let scales = [power(&half), power(&(up - &half))];
    eval_all(&[&scales[0], &scales[1]])?;
    let mut rest = x.cast(DType::F64) * &scales[0] * &scales[1];
    let mut all = Vec::new();
    for at in (1..digits).rev() {
        let unit = 1.5 * ((52 + at * format.digit) as f64).exp2();
        let digit = (&rest + unit) - unit;
        rest = &rest - &digit;
        all.push(digit);
    }
    all.push(rest);
    all.reverse();
    Ok(all)
}

/// Each element in two's complement: `digits` digits above the lowest exponent.
fn integer_digits(format: &DigitFormat, x: &Array, lowest: &Array, digits: i64) -> Vec<Array> {
    let int = |value: i64| format.in_bits(value);
    let bits = x.bitcast(format.bits);
    let field = bits.shift_right(int(format.fraction)) & int(format.infinity() >> format.fraction);
    let fraction = &bits & int((1 << format.fraction) - 1);
    let magnitude = fraction | field.minimum(int(1)).shift_left(int(format.fraction));
    let sign = bits.shift_right(int(8 * format.bits.size_bytes() as i64 - 1));
    let mantissa = ((magnitude ^ &sign) - &sign).cast(format.word);
    let exponent = (field.maximum(int(1)) - int(1) - lowest).cast(format.word);
    let int = |value: i64| format.in_word(value);
    // If there is room for a digit below the mantissa, shifts to the right suffice.
    let spare = if format.digit <= format.spare() { format.spare() } else { 0 };
    let mantissa = if spare > 0 { mantissa.shift_left(int(spare)) } else { mantissa };
    let highest = digits * format.digit - format.fraction - 1;
    let digit = |at: i64| {
        let offset = at * format.digit + spare;
        let mut digit = mantissa.clone();
        if highest > offset && spare == 0 {
            digit = digit.shift_left(format.within(&exponent - int(offset), (-offset, highest - offset)));
        }
        if offset > 0 {
            let count = int(offset).operand(&exponent) - &exponent;
            digit = digit.shift_right(format.within(count, (offset - highest, offset)));
        }
        if at + 1 == digits { digit } else { digit & int((1 << format.digit) - 1) }
    };
    (0..digits).map(digit).collect()
}

impl DigitFormat {
    /// Shift counts between bounds, as counts that a word allows: none below 0, and the largest one, which
    /// leaves nothing of a digit, for all above.
    fn within(&self, mut count: Array, (least, most): (i64, i64)) -> Array {
        if least < 0 {
            count = count.maximum(self.in_word(0));
        }
        if most >= self.width {
            count = count.minimum(self.in_word(self.width - 1));
        }
        count
    }
}

/// The most bits of all digits that floats hold without overflow.
const MOST_FLOAT_BITS: i64 = 960;

/// A float type, and the digits in which its values are added.
#[derive(Clone, Copy, Debug)]
struct DigitFormat {
    float: DType,
    /// The signed integer of the same width.
    bits: DType,
    /// Width of the fraction.
    fraction: i64,
    /// The type in which digits are added.
    added: DType,
    /// The signed integer that holds sums of digits, and its width.
    word: DType,
    width: i64,
    /// Bits of a digit.
    digit: i64,
}

impl DigitFormat {
    /// The widest digits of which `count` add up without overflow; of floats, without rounding.
    fn new(float: DType, added: DType, count: i64) -> DigitFormat {
        let (bits, fraction) = if float == DType::F64 { (DType::I64, 52) } else { (DType::I32, 23) };
        let word = if added == DType::F64 { DType::I64 } else { added };
        let width = 8 * word.size_bytes() as i64;
        let (limit, spare) = (if added == DType::F64 { 53 } else { width - 1 }, width - 2 - fraction);
        let room = limit - i64::from((count.max(1) as u64).next_power_of_two().ilog2());
        // Of integers whole pieces that rounding appends at once.
        let digit = match added {
            DType::F64 => room.min(51),
            _ if room < spare => room,
            _ => room - room % spare,
        };
        DigitFormat { float, bits, fraction, added, word, width, digit }
    }

    /// The lowest bit of the float type is 2 to minus this.
    fn lowest_bit(&self) -> i64 {
        if self.float == DType::F64 { 1074 } else { 149 }
    }

    /// The bits of a word beside a mantissa and a sign.
    pub fn spare(&self) -> i64 {
        self.width - 2 - self.fraction
    }

    /// The bits of infinity.
    pub fn infinity(&self) -> i64 {
        self.largest_field() << self.fraction
    }

    /// The exponent field of infinity.
    fn largest_field(&self) -> i64 {
        if self.float == DType::F64 { 0x7ff } else { 0xff }
    }

    /// The digits that the sum of floats needs whose lowest bits are up to `span` bits apart.
    pub fn digits(&self, span: i64) -> i64 {
        (span + self.fraction + self.digit) / self.digit
    }

    /// An unsigned integer as wide as a digit's sum.
    pub fn unsigned(&self) -> DType {
        if self.word == DType::I64 { DType::U64 } else { DType::U32 }
    }

    /// A constant of the type of the sums.
    pub fn in_word(&self, value: i64) -> Scalar {
        Scalar::from_i64(self.word, value)
    }

    /// A constant of the type of a float's bits.
    pub fn in_bits(&self, value: i64) -> Scalar {
        Scalar::from_i64(self.bits, value)
    }
}

/// The digits that one kernel takes, if all of them are too many. It may bind each and its result, and three
/// arrays with theirs.
fn group_size(digits: &[Array]) -> Option<usize> {
    let params = digits.first()?.team().max_params();
    (digits.len() + 3 > params).then(|| (params.saturating_sub(4) / 2).max(1))
}

/// Brings digits into `0..2^digit`; gives what is carried out of the last one.
fn carry(format: &DigitFormat, digits: &mut [Array]) -> Result<Array> {
    let group_size = group_size(digits);
    let mut carried = format.in_word(0).operand(&digits[0]);
    let count = digits.len();
    for group in digits.chunks_mut(group_size.unwrap_or(count)) {
        for digit in &mut *group {
            let sum = &*digit + &carried;
            *digit = &sum & format.in_word((1 << format.digit) - 1);
            carried = sum.shift_right(format.in_word(format.digit));
        }
        if group_size.is_some() {
            eval_all(&group.iter().chain([&carried]).collect::<Vec<&Array>>())?;
        }
    }
    Ok(carried)
}

/// A number truncated to the bits that rounding needs: `integer * 2^skipped`, or more by less than 2^skipped
/// if `inexact`. The integer has more bits than the float's fraction and a sign, or it is exact.
struct Truncated {
    integer: Array,
    skipped: Array,
    inexact: Array,
}

/// The sums of digits, rounded to nearest, ties to even; `special` where that is not 0.
fn round(format: &DigitFormat, mut digits: Vec<Array>, lowest: &Array, special: &Array) -> Result<Array> {
    let integer = carry(format, &mut digits)?;
    let skipped = format.in_word(0).operand(&integer);
    let inexact = Scalar::from_i64(DType::Bool, 0).operand(&integer);
    let mut number = Truncated { integer, skipped, inexact };
    let group_size = group_size(&digits);
    for group in digits.rchunks(group_size.unwrap_or(digits.len())) {
        group.iter().rev().for_each(|digit| number.append(format, digit));
        if group_size.is_some() {
            eval_all(&[&number.integer, &number.skipped, &number.inexact])?;
        }
    }
    let bits = number.nearest(format, &lowest.cast(format.word));
    Ok(special.not_equal(format.in_bits(0)).select(special, &bits).bitcast(format.float))
}

impl Truncated {
    /// Appends a digit below, as far as there is room.
    fn append(&mut self, format: &DigitFormat, digit: &Array) {
        let int = |value: i64| format.in_word(value);
        let most = format.digit.min(format.spare());
        let limit = 1 << (format.width - 1 - most);
        for piece in (0..(format.digit + most - 1) / most).rev() {
            let at = piece * most;
            let bits = most.min(format.digit - at);
            let piece = digit.shift_right(int(at)) & int((1 << bits) - 1);
            let fits = self.integer.less(int(limit)) & self.integer.greater_equal(int(-limit));
            let longer = self.integer.shift_left(int(bits)) + &piece;
            self.inexact = &self.inexact | &(!&fits & piece.not_equal(int(0)));
            self.skipped = fits.select(&self.skipped, &(&self.skipped + int(bits)));
            self.integer = fits.select(&longer, &self.integer);
        }
    }

    /// The bits of the nearest float, in units of 2^lowest.
    fn nearest(&self, format: &DigitFormat, lowest: &Array) -> Array {
        let DigitFormat { fraction, width, word, .. } = *format;
        let unsigned = format.unsigned();
        let uint = |value: i64| Scalar::from_i64(unsigned, value);
        let is_negative = self.integer.less(format.in_word(0));
        // A negative integer was rounded away from zero.
        let opposite = -&self.integer - self.inexact.cast(word);
        let magnitude = is_negative.select(&opposite, &self.integer).bitcast(unsigned);
        // The highest bit moves to the top of the word; `position` is where it was.
        let (mut head, mut position) = (magnitude, lowest + &self.skipped + format.in_word(width - 1));
        let mut by = width / 2;
        while by > 0 {
            let is_low = head.shift_right(uint(width - by)).equal(uint(0));
            head = is_low.select(&head.shift_left(uint(by)), &head);
            position = is_low.select(&(&position - format.in_word(by)), &position);
            by /= 2;
        }
        let spare = width - 1 - fraction;
        let mantissa = head.shift_right(uint(spare));
        let half = head.shift_right(uint(spare - 1)) & uint(1);
        let below = (&head & uint((1 << (spare - 1)) - 1)).not_equal(uint(0)) | &self.inexact;
        let up = half & (below.cast(unsigned) | (&mantissa & uint(1)));
        // The highest bit of the mantissa counts as 1 in the exponent field, and so does a carry out of it.
        let field = (&position - format.in_word(fraction)).cast(unsigned).shift_left(uint(fraction));
        let normal = (field + mantissa + up).minimum(uint(format.infinity()));
        // A subnormal float is its own integer.
        let small =
            head.shift_right((format.in_word(width - 1).operand(&position) - &position).cast(unsigned));
        let bits = position.less(format.in_word(fraction)).select(&small, &normal);
        let bits = head.equal(uint(0)).select(&head, &bits);
        let sign = is_negative.cast(unsigned).shift_left(uint(8 * format.float.size_bytes() as i64 - 1));
        (bits | sign).cast(format.bits)
    }
}

/// Digits of 32 bits, as on adapters without i64, and sums of more summands than add up before carries.
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::array::Element;
    use crate::device::Device;
    use crate::index::Distribution;
    use crate::team::Team;

    #[test]
    fn narrow_digits_and_carried_portions_give_the_same_sums() {
        let team = Team::on(&[Device::host()], 3).unwrap();
        let dist = Distribution::default_partition(3, &[37, 11]).unwrap();
        let at = |at: &[i64]| {
            ((at[0] * 31 + at[1] * 17) % 23 - 11) as f32 * 0.1 * (at[1] as f32 * 5.0 - 25.0).exp2()
        };
        let x = Array::from_fn(&team, &dist, at).unwrap();
        for axes in [&[][..], &[0], &[1]] {
            let wide = x.sum_reproducible(axes).to_vec::<f32>().unwrap();
            let double = x.cast(DType::F64);
            let doubles = double.sum_reproducible(axes).to_vec::<f64>().unwrap();
            for most in [1, 4, 100, 1 << 24] {
                let f64s = |added: DType| sum_of::<f64>(&double, axes, (added, most));
                let f32s = |added: DType| sum_of::<f32>(&x, axes, (added, most));
                assert_eq!(f32s(DType::I32), wide, "i32, {axes:?}, {most}");
                assert_eq!(f32s(DType::I64), wide, "i64, {axes:?}, {most}");
                assert_eq!(f32s(DType::F64), wide, "f32 in floats, {axes:?}, {most}");
                assert_eq!(f64s(DType::I64), doubles, "f64, {axes:?}, {most}");
                assert_eq!(f64s(DType::F64), doubles, "f64 in floats, {axes:?}, {most}");
            }
        }
    }

    fn sum_of<T: Element>(x: &Array, axes: &[usize], (word, most): (DType, i64)) -> Vec<T> {
        exact_sum(x, axes, word, most).unwrap().to_vec().unwrap()
    }
}
