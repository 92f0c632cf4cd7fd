//! The passes over the summands: their range, and the sums of their digits.

use partita_kernels::{DType, FoldOp};

use crate::array::exact_sum::format::DigitFormat;
use crate::array::exact_sum::rounding::{carry, round};
use crate::array::loops::recorder::Recorder;
use crate::array::record::operation::Reduction;
use crate::array::record::ops::Operand;
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
    /// integers per element as the range needs, usually 2 to 4. Inside a [`Loop`](crate::array::Loop)'s
    /// step, where nothing can be read, it adds as many as all floats need (f32: 8, f64: 35 to 105), which
    /// takes several passes.
    pub fn sum_reproducible(&self, axes: &[usize]) -> Array {
        match self.dtype() {
            DType::F32 | DType::F64 => {
                let word = if self.team().has_i64() { DType::I64 } else { DType::I32 };
                self.or_failed(exact_sum(self, axes, word, most_summands(word)))
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
fn most_summands(word: DType) -> i64 {
    if word == DType::I64 { 1 << 33 } else { 1 << 24 }
}

/// The exact sum, rounded. Digits add up in `word`, up to `most` of them before carries.
pub(super) fn exact_sum(x: &Array, axes: &[usize], word: DType, most: i64) -> Result<Array> {
    let mut axes = if axes.is_empty() { (0..x.rank()).collect() } else { axes.to_vec() };
    axes.sort_unstable();
    axes.dedup();
    x.distribution()?.reduced(&axes)?;
    let count: i64 = axes.iter().map(|&axis| x.shape()[axis]).product();
    let format = DigitFormat::new(x.dtype(), word, count.min(most));
    let range = Range::of(&format, x, &axes);
    let digits = range.digits(&format)?;
    let sums = digit_sums(&format, (x, &axes), &range.lowest, (digits, most))?;
    round(&format, sums, &range.lowest, &range.special)
}

/// The range of the summands of each result.
struct Range {
    /// The smallest p of a summand that is not zero.
    lowest: Array,
    /// How far the largest p is above the smallest.
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

    /// The digits that every result needs; in a `Loop`'s step, which reads nothing, those of all floats.
    fn digits(&self, format: &DigitFormat) -> Result<i64> {
        if Recorder::current().is_recording() {
            eval_all(&[&self.lowest, &self.special])?;
            return Ok(format.most_digits());
        }
        let span = self.span.cast(DType::I32);
        let is_single = span.shape().iter().all(|&extent| extent == 1);
        let widest = if is_single { span } else { span.max(&[]) };
        eval_all(&[&self.lowest, &self.special, &widest])?;
        Ok(format.digits(i64::from(widest.item::<i32>()?.max(0))))
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
        return Ok(digits_of(format, x, lowest, digits).iter().map(sum).collect());
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

/// Each element in two's complement: so many digits above the lowest exponent.
fn digits_of(format: &DigitFormat, x: &Array, lowest: &Array, digits: i64) -> Vec<Array> {
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
