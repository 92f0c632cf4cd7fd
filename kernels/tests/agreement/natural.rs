//! Sums of floats by naturals of any length, bit by bit: slow, and nothing of it is in the kernels. What they
//! give must be this.

use std::cmp::Ordering;

use partita_kernels::DType;

/// A natural number, its lowest word first.
#[derive(Clone, Default)]
struct Natural(Vec<u32>);

impl Natural {
    /// Adds `mantissa * 2^position`.
    fn add(&mut self, mantissa: u64, position: usize) {
        let mut rest = u128::from(mantissa) << (position % 32);
        let mut at = position / 32;
        while rest > 0 {
            self.0.resize(self.0.len().max(at + 1), 0);
            rest += u128::from(self.0[at]);
            self.0[at] = rest as u32;
            rest >>= 32;
            at += 1;
        }
    }

    fn bit(&self, at: usize) -> bool {
        self.0.get(at / 32).is_some_and(|word| word >> (at % 32) & 1 == 1)
    }

    fn bits(&self) -> usize {
        (0..32 * self.0.len()).rev().find(|&at| self.bit(at)).map_or(0, |at| at + 1)
    }

    fn cmp(&self, other: &Natural) -> Ordering {
        let word = |n: &Natural, at: usize| n.0.get(at).copied().unwrap_or(0);
        let longest = self.0.len().max(other.0.len());
        (0..longest)
            .rev()
            .map(|at| word(self, at).cmp(&word(other, at)))
            .find(|o| o.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// What is left of it without a smaller one.
    fn minus(&self, other: &Natural) -> Natural {
        let mut borrow = 0i64;
        let words = self.0.iter().enumerate().map(|(at, &word)| {
            let left = i64::from(word) - i64::from(other.0.get(at).copied().unwrap_or(0)) + borrow;
            borrow = left >> 32;
            left as u32
        });
        Natural(words.collect())
    }
}

/// The float of this type (f32 or f64) nearest to the sum of some of them, ties to even, by their bits; any
/// NaN is one.
pub fn nearest_sum(dtype: DType, summands: impl IntoIterator<Item = u64>) -> u64 {
    let (fraction, exponents) = if dtype == DType::F64 { (52, 0x7ff) } else { (23, 0xff) };
    let infinity: u64 = exponents << fraction;
    let (mut sides, mut infinities) = ([Natural::default(), Natural::default()], [false; 2]);
    for bits in summands {
        let side = (bits >> (dtype.size_bytes() * 8 - 1)) as usize;
        let (exponent, below) = (bits >> fraction & exponents, bits & ((1 << fraction) - 1));
        match exponent {
            _ if exponent == exponents && below != 0 => return infinity | 1,
            _ if exponent == exponents => infinities[side] = true,
            0 => sides[side].add(below, 0),
            _ => sides[side].add(below | 1 << fraction, exponent as usize - 1),
        }
    }
    let sign = 1u64 << (dtype.size_bytes() * 8 - 1);
    match infinities {
        [true, true] => return infinity | 1,
        [true, false] => return infinity,
        [false, true] => return infinity | sign,
        [false, false] => {}
    }
    let [plus, minus] = &sides;
    let (rest, sign) = match plus.cmp(minus) {
        Ordering::Equal => return 0,
        Ordering::Greater => (plus.minus(minus), 0),
        Ordering::Less => (minus.minus(plus), sign),
    };
    // The bits that fit, the exponent of the lowest of them, and what lies below.
    let lowest = rest.bits().saturating_sub(fraction + 1);
    let mut kept = (0..=fraction).map(|at| u64::from(rest.bit(lowest + at)) << at).sum::<u64>();
    let half = lowest > 0 && rest.bit(lowest - 1);
    let more = (0..lowest.saturating_sub(1)).any(|at| rest.bit(at));
    if half && (more || kept % 2 == 1) {
        kept += 1;
    }
    // A carry out of the kept bits raises the exponent, from subnormals too.
    let bits = ((lowest as u64) << fraction) + kept;
    sign | bits.min(infinity)
}
