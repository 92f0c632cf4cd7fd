//! A SIMD register of floats, for [`super::chain`], which must hold its accumulator in registers.
//! (Every other loop is left to the autovectoriser.) It does not know what is computed with it.
//!
//! All methods are unsafe for two reasons only: the CPU must have the instructions of the type (a
//! chain is compiled for a [`super::level::Level`] the CPU has), and pointers must be valid for the
//! lanes they are asked for. `+ - * / sqrt` round once, to nearest even; nothing is contracted.

use crate::ir::CompareOp;

/// Several floats.
pub(super) trait Vector: Copy {
    /// Floats in it.
    const LANES: usize;
    /// Bytes of one float.
    const SIZE: usize;
    /// A truth value per lane.
    type Mask: Copy;

    unsafe fn zero() -> Self;
    unsafe fn load(ptr: *const u8) -> Self;
    /// Reads `count <= LANES` lanes; the others are zero.
    unsafe fn load_part(ptr: *const u8, count: usize) -> Self;
    unsafe fn store(self, ptr: *mut u8);
    /// Writes `count <= LANES` lanes.
    unsafe fn store_part(self, ptr: *mut u8, count: usize);
    /// Writes past the caches where that can be had; `ptr` is aligned to the register.
    unsafe fn stream(self, ptr: *mut u8);
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    unsafe fn mul(self, other: Self) -> Self;
    unsafe fn div(self, other: Self) -> Self;
    /// `if self < other || self is NaN { self } else { other }`
    unsafe fn min(self, other: Self) -> Self;
    /// `if self > other || self is NaN { self } else { other }`
    unsafe fn max(self, other: Self) -> Self;
    /// `self * factor + term`, rounded once.
    unsafe fn fma(self, factor: Self, term: Self) -> Self;
    unsafe fn neg(self) -> Self;
    unsafe fn abs(self) -> Self;
    unsafe fn sqrt(self) -> Self;
    unsafe fn floor(self) -> Self;
    unsafe fn ceil(self) -> Self;
    unsafe fn trunc(self) -> Self;
    /// Nearest integral value, ties to even.
    unsafe fn nearest(self) -> Self;
    /// Rounds to f16 and back (f32 only).
    unsafe fn round_f16(self) -> Self;
    /// Rounds to bf16 and back (f32 only).
    unsafe fn round_bf16(self) -> Self;
    unsafe fn compare(self, op: CompareOp, other: Self) -> Self::Mask;
    unsafe fn is_nan(self) -> Self::Mask;
    /// Reads a bool per lane.
    unsafe fn load_mask(ptr: *const u8) -> Self::Mask;
    /// Reads `count <= LANES` bools.
    unsafe fn load_mask_part(ptr: *const u8, count: usize) -> Self::Mask;
    /// Writes a bool per lane.
    unsafe fn store_mask(mask: Self::Mask, ptr: *mut u8);
    /// `if mask { yes } else { no }`
    unsafe fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
}

/// Writes methods whose bodies are one expression of unsafe intrinsics.
macro_rules! methods {
    ($(fn $name:ident($($arg:ident: $kind:ty),*) $(-> $ret:ty)? = $body:expr;)*) => {$(
        #[inline(always)]
        #[allow(unused_unsafe, reason = "some intrinsics, and the portable methods, are safe")]
        unsafe fn $name($($arg: $kind),*) $(-> $ret)? {
            // SAFETY: the caller promises the instructions and the pointers (see `Vector`).
            unsafe { $body }
        }
    )*};
}

/// Floats in an array: for CPUs without a type of their own below.
#[derive(Clone, Copy)]
pub(super) struct Lanes<T, const N: usize>([T; N]);

macro_rules! portable {
    ($float:ident, $n:literal, $f16:expr, $bf16:expr) => {
        impl Vector for Lanes<$float, $n> {
            const LANES: usize = $n;
            const SIZE: usize = size_of::<$float>();
            type Mask = [bool; $n];
            methods! {
                fn zero() -> Self = Lanes([0.0; $n]);
                fn load(ptr: *const u8) -> Self = Lanes(ptr.cast::<[$float; $n]>().read_unaligned());
                fn load_part(ptr: *const u8, count: usize) -> Self = Lanes(std::array::from_fn(|k| {
                    if k < count { ptr.cast::<$float>().add(k).read_unaligned() } else { 0.0 }
                }));
                fn store(self: Self, ptr: *mut u8) = ptr.cast::<[$float; $n]>().write_unaligned(self.0);
                fn store_part(self: Self, ptr: *mut u8, count: usize) =
                    ptr.copy_from_nonoverlapping(self.0.as_ptr().cast(), count * size_of::<$float>());
                fn stream(self: Self, ptr: *mut u8) = self.store(ptr);
                fn add(self: Self, b: Self) -> Self = self.zip(b, |a, b| a + b);
                fn sub(self: Self, b: Self) -> Self = self.zip(b, |a, b| a - b);
                fn mul(self: Self, b: Self) -> Self = self.zip(b, |a, b| a * b);
                fn div(self: Self, b: Self) -> Self = self.zip(b, |a, b| a / b);
                fn min(self: Self, b: Self) -> Self =
                    self.zip(b, |a, b| if a < b || a.is_nan() { a } else { b });
                fn max(self: Self, b: Self) -> Self =
                    self.zip(b, |a, b| if a > b || a.is_nan() { a } else { b });
                fn fma(self: Self, b: Self, c: Self) -> Self =
                    Lanes(std::array::from_fn(|k| self.0[k].mul_add(b.0[k], c.0[k])));
                fn neg(self: Self) -> Self = Lanes(self.0.map(|a| -a));
                fn abs(self: Self) -> Self = Lanes(self.0.map($float::abs));
                fn sqrt(self: Self) -> Self = Lanes(self.0.map($float::sqrt));
                fn floor(self: Self) -> Self = Lanes(self.0.map($float::floor));
                fn ceil(self: Self) -> Self = Lanes(self.0.map($float::ceil));
                fn trunc(self: Self) -> Self = Lanes(self.0.map($float::trunc));
                fn nearest(self: Self) -> Self = Lanes(self.0.map($float::round_ties_even));
                fn round_f16(self: Self) -> Self = Lanes(self.0.map($f16));
                fn round_bf16(self: Self) -> Self = Lanes(self.0.map($bf16));
                fn compare(self: Self, op: CompareOp, b: Self) -> Self::Mask = match op {
                    CompareOp::Eq => std::array::from_fn(|k| self.0[k] == b.0[k]),
                    CompareOp::Ne => std::array::from_fn(|k| self.0[k] != b.0[k]),
                    CompareOp::Lt => std::array::from_fn(|k| self.0[k] < b.0[k]),
                    CompareOp::Le => std::array::from_fn(|k| self.0[k] <= b.0[k]),
                    CompareOp::Gt => std::array::from_fn(|k| self.0[k] > b.0[k]),
                    CompareOp::Ge => std::array::from_fn(|k| self.0[k] >= b.0[k]),
                };
                fn is_nan(self: Self) -> Self::Mask = self.0.map($float::is_nan);
                fn load_mask(ptr: *const u8) -> Self::Mask = ptr.cast::<[u8; $n]>().read().map(|b| b != 0);
                fn load_mask_part(ptr: *const u8, count: usize) -> Self::Mask =
                    std::array::from_fn(|k| k < count && ptr.add(k).read() != 0);
                fn store_mask(mask: Self::Mask, ptr: *mut u8) =
                    ptr.cast::<[u8; $n]>().write(mask.map(u8::from));
                fn select(mask: Self::Mask, yes: Self, no: Self) -> Self =
                    Lanes(std::array::from_fn(|k| if mask[k] { yes.0[k] } else { no.0[k] }));
            }
        }
    };
}

impl<T: Copy, const N: usize> Lanes<T, N> {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(T, T) -> T) -> Self {
        Lanes(std::array::from_fn(|k| f(self.0[k], other.0[k])))
    }
}

#[inline(always)]
fn through_f16(x: f32) -> f32 {
    super::narrow::f16_to_f32(super::narrow::f32_to_f16(x))
}

#[inline(always)]
fn through_bf16(x: f32) -> f32 {
    super::narrow::bf16_to_f32(super::narrow::f32_to_bf16(x))
}

portable!(f32, 4, through_f16, through_bf16);
portable!(f64, 2, |x| x, |x| x);

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::Vector;
    use crate::ir::CompareOp;

    /// The predicates: comparisons with NaN are false, `Ne` is true.
    macro_rules! predicate {
        ($compare:ident, $op:expr, $a:expr, $b:expr) => {
            match $op {
                CompareOp::Eq => $compare::<_CMP_EQ_OQ>($a, $b),
                CompareOp::Ne => $compare::<_CMP_NEQ_UQ>($a, $b),
                CompareOp::Lt => $compare::<_CMP_LT_OQ>($a, $b),
                CompareOp::Le => $compare::<_CMP_LE_OQ>($a, $b),
                CompareOp::Gt => $compare::<_CMP_GT_OQ>($a, $b),
                CompareOp::Ge => $compare::<_CMP_GE_OQ>($a, $b),
            }
        };
    }

    const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
    const UP: i32 = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
    const TO_ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;

    macro_rules! avx512 {
        ($vector:ident, $float:ident, $lanes:literal, $mask:ident, $zero:ident, $load:ident, $load_part:ident,
         $store:ident, $store_part:ident, $stream:ident, $add:ident, $sub:ident, $mul:ident, $div:ident,
         $min:ident, $max:ident, $fma:ident, $xor:ident, $andnot:ident, $set1:ident, $sqrt:ident,
         $scale:ident,
         $compare:ident, $blend:ident, $test:ident, $f16:path, $bf16:path) => {
            impl Vector for $vector {
                const LANES: usize = $lanes;
                const SIZE: usize = size_of::<$float>();
                type Mask = $mask;
                methods! {
                    fn zero() -> Self = $zero();
                    fn load(ptr: *const u8) -> Self = $load(ptr.cast());
                    fn load_part(ptr: *const u8, count: usize) -> Self =
                        $load_part(first(count) as $mask, ptr.cast());
                    fn store(self: Self, ptr: *mut u8) = $store(ptr.cast(), self);
                    fn store_part(self: Self, ptr: *mut u8, count: usize) =
                        $store_part(ptr.cast(), first(count) as $mask, self);
                    fn stream(self: Self, ptr: *mut u8) = $stream(ptr.cast(), self);
                    fn add(self: Self, b: Self) -> Self = $add(self, b);
                    fn sub(self: Self, b: Self) -> Self = $sub(self, b);
                    fn mul(self: Self, b: Self) -> Self = $mul(self, b);
                    fn div(self: Self, b: Self) -> Self = $div(self, b);
                    fn min(self: Self, b: Self) -> Self = $blend(self.is_nan(), $min(self, b), self);
                    fn max(self: Self, b: Self) -> Self = $blend(self.is_nan(), $max(self, b), self);
                    fn fma(self: Self, b: Self, c: Self) -> Self = $fma(self, b, c);
                    fn neg(self: Self) -> Self = $xor(self, $set1(-0.0));
                    fn abs(self: Self) -> Self = $andnot($set1(-0.0), self);
                    fn sqrt(self: Self) -> Self = $sqrt(self);
                    fn floor(self: Self) -> Self = $scale::<DOWN>(self);
                    fn ceil(self: Self) -> Self = $scale::<UP>(self);
                    fn trunc(self: Self) -> Self = $scale::<TO_ZERO>(self);
                    fn nearest(self: Self) -> Self = $scale::<NEAREST>(self);
                    fn round_f16(self: Self) -> Self = $f16(self);
                    fn round_bf16(self: Self) -> Self = $bf16(self);
                    fn compare(self: Self, op: CompareOp, b: Self) -> $mask =
                        predicate!($compare, op, self, b);
                    fn is_nan(self: Self) -> $mask = $compare::<_CMP_UNORD_Q>(self, self);
                    fn load_mask(ptr: *const u8) -> $mask = Self::load_mask_part(ptr, $lanes);
                    fn load_mask_part(ptr: *const u8, count: usize) -> $mask = {
                        let bytes = _mm_maskz_loadu_epi8(first(count) as __mmask16, ptr.cast());
                        _mm_test_epi8_mask(bytes, bytes) as $mask
                    };
                    fn store_mask(mask: $mask, ptr: *mut u8) = {
                        let bytes = _mm_maskz_set1_epi8(mask as __mmask16, 1);
                        _mm_mask_storeu_epi8(ptr.cast(), first($lanes) as __mmask16, bytes);
                    };
                    fn select(mask: $mask, yes: Self, no: Self) -> Self = $blend(mask, no, yes);
                }
            }
        };
    }

    /// The mask of the first `count <= 16` lanes.
    #[inline(always)]
    fn first(count: usize) -> u32 {
        (1 << count) - 1
    }

    #[inline(always)]
    unsafe fn through_f16_512(x: __m512) -> __m512 {
        // SAFETY: the caller promises AVX-512.
        unsafe { _mm512_cvtph_ps(_mm512_cvtps_ph::<NEAREST>(x)) }
    }

    #[inline(always)]
    unsafe fn through_bf16_512(x: __m512) -> __m512 {
        // SAFETY: the caller promises AVX-512.
        unsafe {
            let bits = _mm512_castps_si512(x);
            let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
            let rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
            let quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x0040_0000));
            let kept = _mm512_mask_blend_epi32(x.is_nan(), rounded, quiet);
            _mm512_castsi512_ps(_mm512_and_si512(kept, _mm512_set1_epi32(0xffff_0000_u32 as i32)))
        }
    }

    #[inline(always)]
    unsafe fn unchanged<V>(x: V) -> V {
        x
    }

    avx512!(
        __m512,
        f32,
        16,
        __mmask16,
        _mm512_setzero_ps,
        _mm512_loadu_ps,
        _mm512_maskz_loadu_ps,
        _mm512_storeu_ps,
        _mm512_mask_storeu_ps,
        _mm512_stream_ps,
        _mm512_add_ps,
        _mm512_sub_ps,
        _mm512_mul_ps,
        _mm512_div_ps,
        _mm512_min_ps,
        _mm512_max_ps,
        _mm512_fmadd_ps,
        _mm512_xor_ps,
        _mm512_andnot_ps,
        _mm512_set1_ps,
        _mm512_sqrt_ps,
        _mm512_roundscale_ps,
        _mm512_cmp_ps_mask,
        _mm512_mask_blend_ps,
        _mm_test_epi8_mask,
        through_f16_512,
        through_bf16_512
    );
    avx512!(
        __m512d,
        f64,
        8,
        __mmask8,
        _mm512_setzero_pd,
        _mm512_loadu_pd,
        _mm512_maskz_loadu_pd,
        _mm512_storeu_pd,
        _mm512_mask_storeu_pd,
        _mm512_stream_pd,
        _mm512_add_pd,
        _mm512_sub_pd,
        _mm512_mul_pd,
        _mm512_div_pd,
        _mm512_min_pd,
        _mm512_max_pd,
        _mm512_fmadd_pd,
        _mm512_xor_pd,
        _mm512_andnot_pd,
        _mm512_set1_pd,
        _mm512_sqrt_pd,
        _mm512_roundscale_pd,
        _mm512_cmp_pd_mask,
        _mm512_mask_blend_pd,
        _mm_test_epi8_mask,
        unchanged,
        unchanged
    );

    macro_rules! avx2 {
        ($vector:ident, $float:ident, $int:ident, $lanes:literal, $zero:ident, $load:ident, $load_part:ident,
         $store:ident, $store_part:ident, $stream:ident, $add:ident, $sub:ident, $mul:ident, $div:ident,
         $min:ident, $max:ident, $fma:ident, $xor:ident, $andnot:ident, $set1:ident, $sqrt:ident,
         $round:ident,
         $compare:ident, $blend:ident, $widen:ident, $equal:ident, $cast:ident, $bits:ident,
         $f16:path, $bf16:path) => {
            impl Vector for $vector {
                const LANES: usize = $lanes;
                const SIZE: usize = size_of::<$float>();
                type Mask = $vector;
                methods! {
                    fn zero() -> Self = $zero();
                    fn load(ptr: *const u8) -> Self = $load(ptr.cast());
                    fn load_part(ptr: *const u8, count: usize) -> Self =
                        $load_part(ptr.cast(), first_lanes::<$int, $lanes>(count));
                    fn store(self: Self, ptr: *mut u8) = $store(ptr.cast(), self);
                    fn store_part(self: Self, ptr: *mut u8, count: usize) =
                        $store_part(ptr.cast(), first_lanes::<$int, $lanes>(count), self);
                    fn stream(self: Self, ptr: *mut u8) = $stream(ptr.cast(), self);
                    fn add(self: Self, b: Self) -> Self = $add(self, b);
                    fn sub(self: Self, b: Self) -> Self = $sub(self, b);
                    fn mul(self: Self, b: Self) -> Self = $mul(self, b);
                    fn div(self: Self, b: Self) -> Self = $div(self, b);
                    fn min(self: Self, b: Self) -> Self = $blend($min(self, b), self, self.is_nan());
                    fn max(self: Self, b: Self) -> Self = $blend($max(self, b), self, self.is_nan());
                    fn fma(self: Self, b: Self, c: Self) -> Self = $fma(self, b, c);
                    fn neg(self: Self) -> Self = $xor(self, $set1(-0.0));
                    fn abs(self: Self) -> Self = $andnot($set1(-0.0), self);
                    fn sqrt(self: Self) -> Self = $sqrt(self);
                    fn floor(self: Self) -> Self = $round::<DOWN>(self);
                    fn ceil(self: Self) -> Self = $round::<UP>(self);
                    fn trunc(self: Self) -> Self = $round::<TO_ZERO>(self);
                    fn nearest(self: Self) -> Self = $round::<NEAREST>(self);
                    fn round_f16(self: Self) -> Self = $f16(self);
                    fn round_bf16(self: Self) -> Self = $bf16(self);
                    fn compare(self: Self, op: CompareOp, b: Self) -> Self =
                        predicate!($compare, op, self, b);
                    fn is_nan(self: Self) -> Self = $compare::<_CMP_UNORD_Q>(self, self);
                    fn load_mask(ptr: *const u8) -> Self = {
                        let bytes = ptr.cast::<[u8; $lanes]>().read();
                        let mut wide = [0u8; 16];
                        wide[..$lanes].copy_from_slice(&bytes);
                        let lanes = $widen(_mm_loadu_si128(wide.as_ptr().cast()));
                        let no = $equal(lanes, _mm256_setzero_si256());
                        $cast(_mm256_xor_si256(no, _mm256_set1_epi32(-1)))
                    };
                    fn load_mask_part(ptr: *const u8, count: usize) -> Self = {
                        let mut bytes = [0u8; $lanes];
                        bytes.as_mut_ptr().copy_from_nonoverlapping(ptr, count);
                        Self::load_mask(bytes.as_ptr())
                    };
                    fn store_mask(mask: Self, ptr: *mut u8) = {
                        let bits = $bits(mask) as u32;
                        ptr.cast::<[u8; $lanes]>().write(std::array::from_fn(|k| (bits >> k & 1) as u8));
                    };
                    fn select(mask: Self, yes: Self, no: Self) -> Self = $blend(no, yes, mask);
                }
            }
        };
    }

    /// All ones in the first `count` lanes.
    #[inline(always)]
    unsafe fn first_lanes<I: From<i8> + Copy, const N: usize>(count: usize) -> __m256i {
        let lanes: [I; N] = std::array::from_fn(|k| I::from(if k < count { -1 } else { 0 }));
        // SAFETY: the caller promises AVX2; N lanes of I are 32 bytes.
        unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
    }

    #[inline(always)]
    unsafe fn through_f16_256(x: __m256) -> __m256 {
        // SAFETY: the caller promises F16C.
        unsafe { _mm256_cvtph_ps(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x)) }
    }

    #[inline(always)]
    unsafe fn through_bf16_256(x: __m256) -> __m256 {
        // SAFETY: the caller promises AVX2.
        unsafe {
            let bits = _mm256_castps_si256(x);
            let odd = _mm256_and_si256(_mm256_srli_epi32::<16>(bits), _mm256_set1_epi32(1));
            let rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
            let quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x0040_0000));
            let kept = _mm256_blendv_ps(_mm256_castsi256_ps(rounded), _mm256_castsi256_ps(quiet), x.is_nan());
            let upper = _mm256_set1_epi32(0xffff_0000_u32 as i32);
            _mm256_castsi256_ps(_mm256_and_si256(_mm256_castps_si256(kept), upper))
        }
    }

    avx2!(
        __m256,
        f32,
        i32,
        8,
        _mm256_setzero_ps,
        _mm256_loadu_ps,
        _mm256_maskload_ps,
        _mm256_storeu_ps,
        _mm256_maskstore_ps,
        _mm256_stream_ps,
        _mm256_add_ps,
        _mm256_sub_ps,
        _mm256_mul_ps,
        _mm256_div_ps,
        _mm256_min_ps,
        _mm256_max_ps,
        _mm256_fmadd_ps,
        _mm256_xor_ps,
        _mm256_andnot_ps,
        _mm256_set1_ps,
        _mm256_sqrt_ps,
        _mm256_round_ps,
        _mm256_cmp_ps,
        _mm256_blendv_ps,
        _mm256_cvtepu8_epi32,
        _mm256_cmpeq_epi32,
        _mm256_castsi256_ps,
        _mm256_movemask_ps,
        through_f16_256,
        through_bf16_256
    );
    avx2!(
        __m256d,
        f64,
        i64,
        4,
        _mm256_setzero_pd,
        _mm256_loadu_pd,
        _mm256_maskload_pd,
        _mm256_storeu_pd,
        _mm256_maskstore_pd,
        _mm256_stream_pd,
        _mm256_add_pd,
        _mm256_sub_pd,
        _mm256_mul_pd,
        _mm256_div_pd,
        _mm256_min_pd,
        _mm256_max_pd,
        _mm256_fmadd_pd,
        _mm256_xor_pd,
        _mm256_andnot_pd,
        _mm256_set1_pd,
        _mm256_sqrt_pd,
        _mm256_round_pd,
        _mm256_cmp_pd,
        _mm256_blendv_pd,
        _mm256_cvtepu8_epi64,
        _mm256_cmpeq_epi64,
        _mm256_castsi256_pd,
        _mm256_movemask_pd,
        unchanged,
        unchanged
    );
}
