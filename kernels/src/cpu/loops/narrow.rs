//! f16 and bf16: exact widening to f32 and rounding back, written without branches so that loops
//! over them vectorise. Checked against the `half` crate.

/// The f32 equal to an f16 bit pattern.
#[inline(always)]
pub(in crate::cpu) fn f16_to_f32(bits: u16) -> f32 {
    let magnitude = u32::from(bits & 0x7fff) << 13;
    // The exponent is 112 too small; scaling by 2^112 mends it, and normalises subnormals, exactly.
    let scaled = (f32::from_bits(magnitude) * f32::from_bits(0x7780_0000)).to_bits();
    let special = if magnitude >= 0x0f80_0000 { 0x7f80_0000 } else { 0 };
    f32::from_bits(scaled | special | u32::from(bits & 0x8000) << 16)
}

/// Rounds to the nearest f16, ties to even. NaN keep their upper bits.
#[inline(always)]
pub(in crate::cpu) fn f32_to_f16(value: f32) -> u16 {
    let bits = value.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    // Subnormal results: adding 0.5 shifts the fraction into place and rounds it.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    let odd = magnitude >> 13 & 1;
    let normal = magnitude.wrapping_add(0xc800_0fff).wrapping_add(odd) >> 13;
    let nan = 0x7c00 | (magnitude >> 13 & 0x3ff).max(1);
    let infinity_or_nan = if magnitude > 0x7f80_0000 { nan } else { 0x7c00 };
    let finite = if magnitude < 0x3880_0000 { subnormal } else { normal };
    let result = if magnitude >= 0x4780_0000 { infinity_or_nan } else { finite };
    (result | bits >> 16 & 0x8000) as u16
}

/// The f32 equal to a bf16 bit pattern.
#[inline(always)]
pub(in crate::cpu) fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Rounds to the nearest bf16, ties to even.
#[inline(always)]
pub(in crate::cpu) fn f32_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    let rounded = bits.wrapping_add(0x7fff).wrapping_add(bits >> 16 & 1);
    let quiet = bits | 0x0040_0000;
    ((if bits & 0x7fff_ffff > 0x7f80_0000 { quiet } else { rounded }) >> 16) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::f64_to_odd_f32;

    #[test]
    fn every_half_widens_and_every_boundary_rounds() {
        for bits in 0..=u16::MAX {
            let (ours, theirs) = (f16_to_f32(bits), half::f16::from_bits(bits).to_f32());
            assert!(ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan(), "{bits:#x}");
            assert_eq!(bf16_to_f32(bits).to_bits(), u32::from(bits) << 16);
            assert_eq!(f32_to_f16(f16_to_f32(bits)), bits, "NaN keep their bits");
        }
        for step in 0..(1u64 << 24) {
            // Every exponent and upper fraction bit, with lower bits at, above and below the ties.
            let bits = (step << 8) as u32 | [0, 1, 0x80, 0xff][(step % 4) as usize];
            let x = f32::from_bits(bits);
            let (f, b) = (half::f16::from_f32(x), half::bf16::from_f32(x));
            assert!(
                f.to_bits() == f32_to_f16(x) || f.is_nan() && half::f16::from_bits(f32_to_f16(x)).is_nan()
            );
            assert!(
                b.to_bits() == f32_to_bf16(x) || b.is_nan() && half::bf16::from_bits(f32_to_bf16(x)).is_nan()
            );
        }
    }

    /// Is `bits` the value of a narrow type nearest to `x`, ties to even? Judged by its neighbours.
    fn is_nearest(x: f64, bits: u16, widen: fn(u16) -> f32) -> bool {
        let distance = |bits: u16| (f64::from(widen(bits)) - x).abs();
        let beats = |other: u16| {
            let (mine, others) = (distance(bits), distance(other));
            mine < others || mine == others && bits.is_multiple_of(2)
        };
        let magnitude = bits & 0x7fff;
        beats(bits + 1) && (magnitude == 0 || beats(bits - 1))
    }

    #[test]
    fn rounding_to_odd_first_rounds_once() {
        let mut state = 1u64;
        for step in 0..2_000_000u64 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // Fractions at ties of either type, a last bit above and below, and any.
            let tie =
                [(state >> 45) << 42 | 1 << 41, (state >> 48) << 45 | 1 << 44, state][(step % 3) as usize];
            let fraction = tie.wrapping_add([0, 1, u64::MAX][(step / 3 % 3) as usize]) & 0xf_ffff_ffff_ffff;
            let scaled =
                |lowest: u64, count: u64| f64::from_bits((lowest + (state >> 20) % count) << 52 | fraction);
            let (x, y) = (scaled(1023 - 26, 40), scaled(1023 - 135, 260));
            assert!(is_nearest(x, f32_to_f16(f64_to_odd_f32(x)), f16_to_f32), "{x:e}");
            assert!(is_nearest(y, f32_to_bf16(f64_to_odd_f32(y)), bf16_to_f32), "{y:e}");
        }
        for (x, f16, bf16) in
            [(1e300, 0x7c00, 0x7f80), (-65520.0, 0xfc00, 0xc780), (65519.999, 0x7bff, 0x4780)]
        {
            assert_eq!((f32_to_f16(f64_to_odd_f32(x)), f32_to_bf16(f64_to_odd_f32(x))), (f16, bf16), "{x}");
        }
        assert!(f64_to_odd_f32(f64::NAN).is_nan());
    }
}
