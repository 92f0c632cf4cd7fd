//! [`DigitFormat`]: the bits of a float type, and the digits of its sums.

use partita_kernels::{DType, Scalar};

/// A float type, and the digits in which its values are added.
#[derive(Clone, Copy, Debug)]
pub(super) struct DigitFormat {
    pub float: DType,
    /// The signed integer of the same width.
    pub bits: DType,
    /// Width of the fraction.
    pub fraction: i64,
    /// The signed integer in which digits are added, and its width.
    pub word: DType,
    pub width: i64,
    /// Bits of a digit.
    pub digit: i64,
    /// Bits of a digit that rounding appends at once; divides `digit`.
    pub piece: i64,
}

impl DigitFormat {
    /// The widest digits of which `count` add up without overflow.
    pub fn new(float: DType, word: DType, count: i64) -> DigitFormat {
        let (bits, fraction) = if float == DType::F64 { (DType::I64, 52) } else { (DType::I32, 23) };
        let width = 8 * word.size_bytes() as i64;
        let room = width - 1 - i64::from((count.max(1) as u64).next_power_of_two().ilog2());
        let spare = width - 2 - fraction;
        let digit = if room < spare { room } else { room - room % spare };
        DigitFormat { float, bits, fraction, word, width, digit, piece: digit.min(spare) }
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

    /// The digits that suffice for all floats.
    pub fn most_digits(&self) -> i64 {
        self.digits(self.largest_field() - 2)
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
