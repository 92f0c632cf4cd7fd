//! The loops of mathematical functions, whose code is in [`crate::math`].

use std::marker::PhantomData;

use super::level::{Level, Loop, compiled};
use super::map::{Each1, Each2, Map1, Map2, MapArgs, MapFn, block1, next_block};
use crate::ir::{Math1, Math2};
use crate::{for_math1, for_math2};

/// A function with a cheap form for small magnitudes, chosen block by block; both give the same bits.
struct EachAngle<S, F, T>(PhantomData<(S, F, T)>);

macro_rules! each_angle {
    ($float:ident, $limit:expr) => {
        impl<S: Map1<$float, $float>, F: Map1<$float, $float>> Loop for EachAngle<S, F, $float> {
            type Args = MapArgs;
            #[inline(always)]
            unsafe fn run(args: &MapArgs) {
                let mut at = Some(0);
                while let Some(lane) = at {
                    // SAFETY: the caller promises places of the right type with whole blocks, `dst` apart.
                    unsafe {
                        let (dst, a) = (args.dst.block_mut(lane), args.a.block(lane));
                        if a.iter().fold(true, |small, x: &$float| small & (x.abs() < $limit)) {
                            block1::<S, $float, $float>(dst, a);
                        } else {
                            block1::<F, $float, $float>(dst, a);
                        }
                    }
                    at = next_block(lane, args.lanes);
                }
            }
        }
    };
}
each_angle!(f32, crate::math::single::SMALL_ANGLE);
each_angle!(f64, crate::math::double::SMALL_ANGLE);

/// A Rust function as a type that loops are generic over.
macro_rules! function {
    ($name:ident, $f:path, $float:ident, $($arg:ident),*) => {
        struct $name;
        function!(@ $name, $f, $float, $($arg),*);
    };
    (@ $name:ident, $f:path, $float:ident, $a:ident) => {
        impl Map1<$float, $float> for $name {
            #[inline(always)]
            fn apply($a: $float) -> $float { $f($a) }
        }
    };
    (@ $name:ident, $f:path, $float:ident, $a:ident, $b:ident) => {
        impl Map2<$float, $float> for $name {
            #[inline(always)]
            fn apply($a: $float, $b: $float) -> $float { $f($a, $b) }
        }
    };
}

/// The loop of a mathematical function of f32 or, if `double`, f64.
pub(in crate::cpu) fn math1(level: Level, function: Math1, double: bool) -> MapFn {
    if let Some(f) = angle(level, function, double) {
        return f;
    }
    macro_rules! single {
        ($f:path) => {{
            function!(F, $f, f32, a);
            compiled::<Each1<F, f32, f32>>(level)
        }};
    }
    macro_rules! double {
        ($f:path) => {{
            function!(F, $f, f64, a);
            compiled::<Each1<F, f64, f64>>(level)
        }};
    }
    if double {
        for_math1!(function, crate::math::double, double)
    } else {
        for_math1!(function, crate::math::single, single)
    }
}

/// The functions of angles, whose argument reduction is cheap for small ones.
fn angle(level: Level, function: Math1, double: bool) -> Option<MapFn> {
    macro_rules! both {
        ($small:ident, $full:ident) => {{
            use crate::math::{double as d, single as s};
            function!(Small, s::$small, f32, a);
            function!(Full, s::$full, f32, a);
            function!(SmallDouble, d::$small, f64, a);
            function!(FullDouble, d::$full, f64, a);
            Some(if double {
                compiled::<EachAngle<SmallDouble, FullDouble, f64>>(level)
            } else {
                compiled::<EachAngle<Small, Full, f32>>(level)
            })
        }};
    }
    match function {
        Math1::Sin => both!(sin_small, sin),
        Math1::Cos => both!(cos_small, cos),
        Math1::Tan => both!(tan_small, tan),
        _ => None,
    }
}

/// As [`math1`], of two operands.
pub(in crate::cpu) fn math2(level: Level, function: Math2, double: bool) -> MapFn {
    macro_rules! single {
        ($f:path) => {{
            function!(F, $f, f32, a, b);
            compiled::<Each2<F, f32, f32>>(level)
        }};
    }
    macro_rules! double {
        ($f:path) => {{
            function!(F, $f, f64, a, b);
            compiled::<Each2<F, f64, f64>>(level)
        }};
    }
    if double {
        for_math2!(function, crate::math::double, double)
    } else {
        for_math2!(function, crate::math::single, single)
    }
}
