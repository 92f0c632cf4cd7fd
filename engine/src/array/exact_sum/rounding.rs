//! From the sums of digits to the nearest floats, by recorded operations on arrays of the result's shape.

use partita_kernels::{DType, Scalar};

use crate::array::exact_sum::format::DigitFormat;
use crate::array::record::ops::Operand;
use crate::array::{Array, eval_all};
use crate::error::Result;

/// The digits that one kernel takes, if all of them are too many. It may bind each and its result, and three
/// arrays with theirs.
fn group_size(digits: &[Array]) -> Option<usize> {
    let params = digits.first()?.team().max_params();
    (digits.len() + 3 > params).then(|| (params.saturating_sub(4) / 2).max(1))
}

/// Brings digits into `0..2^digit`; gives what is carried out of the last one.
pub(super) fn carry(format: &DigitFormat, digits: &mut [Array]) -> Result<Array> {
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
pub(super) fn round(
    format: &DigitFormat,
    mut digits: Vec<Array>,
    lowest: &Array,
    special: &Array,
) -> Result<Array> {
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
        let limit = 1 << (format.width - 1 - format.piece);
        for at in (0..format.digit / format.piece).rev() {
            let piece = digit.shift_right(int(at * format.piece)) & int((1 << format.piece) - 1);
            let fits = self.integer.less(int(limit)) & self.integer.greater_equal(int(-limit));
            let longer = self.integer.shift_left(int(format.piece)) + &piece;
            self.inexact = &self.inexact | &(!&fits & piece.not_equal(int(0)));
            self.skipped = fits.select(&self.skipped, &(&self.skipped + int(format.piece)));
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
