//! The loops that convert: casts by value, and between memory and lanes of the narrow floats.

use super::lanes::Lane;
use super::level::Level;
use super::map::{Map1, MapFn, map1, with_lane};
use super::narrow;
use crate::dtype::DType;

struct As;
struct NonZero;

macro_rules! casts {
    ($from:ident => $($to:ident),*) => {
        $(impl Map1<$from, $to> for As {
            #[inline(always)]
            fn apply(a: $from) -> $to { a as $to }
        })*
        impl Map1<$from, u8> for NonZero {
            #[inline(always)]
            fn apply(a: $from) -> u8 { (a != 0 as $from) as u8 }
        }
    };
}
casts!(i8 => i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
casts!(i16 => i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
casts!(i32 => i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
casts!(i64 => i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
casts!(u8 => i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
casts!(u16 => i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
casts!(u32 => i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
casts!(u64 => i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
casts!(f32 => i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
casts!(f64 => i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);

/// The loop that converts lanes by value, as Rust's `as` does: truncating, saturating, NaN to 0.
pub(in crate::cpu) fn cast(level: Level, from: Lane, to: Lane) -> MapFn {
    with_lane!(from, A => with_lane!(to, R => map1::<As, A, R>(level)))
}

/// The loop that tests lanes for being other than zero.
pub(in crate::cpu) fn non_zero(level: Level, from: Lane) -> MapFn {
    with_lane!(from, A => map1::<NonZero, A, u8>(level))
}

macro_rules! conversions {
    ($($name:ident($a:ident: $from:ident) -> $to:ident = $body:expr;)*) => {$(
        struct $name;
        impl Map1<$from, $to> for $name {
            #[inline(always)]
            fn apply($a: $from) -> $to { $body }
        }
    )*};
}
conversions! {
    WidenF16(a: u16) -> f32 = narrow::f16_to_f32(a);
    WidenBf16(a: u16) -> f32 = narrow::bf16_to_f32(a);
    NarrowF16(a: f32) -> u16 = narrow::f32_to_f16(a);
    NarrowBf16(a: f32) -> u16 = narrow::f32_to_bf16(a);
    RoundF16(a: f32) -> f32 = narrow::f16_to_f32(narrow::f32_to_f16(a));
    RoundBf16(a: f32) -> f32 = narrow::bf16_to_f32(narrow::f32_to_bf16(a));
    OddF64(a: f64) -> f32 = crate::dtype::f64_to_odd_f32(a);
}

/// f16 or bf16 memory to f32 lanes.
pub(in crate::cpu) fn widen(level: Level, dtype: DType) -> MapFn {
    if dtype == DType::F16 { map1::<WidenF16, u16, f32>(level) } else { map1::<WidenBf16, u16, f32>(level) }
}

/// f32 lanes to f16 or bf16 memory.
pub(in crate::cpu) fn narrow(level: Level, dtype: DType) -> MapFn {
    if dtype == DType::F16 { map1::<NarrowF16, f32, u16>(level) } else { map1::<NarrowBf16, f32, u16>(level) }
}

/// f32 lanes rounded to f16 or bf16, and widened again.
pub(in crate::cpu) fn round(level: Level, dtype: DType) -> MapFn {
    if dtype == DType::F16 { map1::<RoundF16, f32, f32>(level) } else { map1::<RoundBf16, f32, f32>(level) }
}

/// f64 lanes to f32 lanes that may be rounded once more, to f16 or bf16, as if rounded once.
pub(in crate::cpu) fn odd_f32(level: Level) -> MapFn {
    map1::<OddF64, f64, f32>(level)
}
