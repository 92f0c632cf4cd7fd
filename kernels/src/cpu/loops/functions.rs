//! The loops of mathematical functions, whose code is in [`crate::math`].

use super::level::Level;
use super::map::{MapFn, map1, map2};
use crate::ir::{Math1, Math2};
use crate::{for_math1, for_math2};

/// Declares a function that takes its caller's instructions, and gives its loop.
macro_rules! looped {
    ($map:ident, $level:ident, $f:path, $float:ident, $($arg:ident),*) => {{
        #[inline(always)]
        fn f($($arg: $float),*) -> $float {
            $f($($arg),*)
        }
        $map($level, f)
    }};
}

/// The loop of a mathematical function of f32 or, if `double`, f64.
pub(in crate::cpu) fn math1(level: Level, function: Math1, double: bool) -> MapFn {
    macro_rules! single {
        ($f:path) => {
            looped!(map1, level, $f, f32, a)
        };
    }
    macro_rules! double {
        ($f:path) => {
            looped!(map1, level, $f, f64, a)
        };
    }
    if double {
        for_math1!(function, crate::math::double, double)
    } else {
        for_math1!(function, crate::math::single, single)
    }
}

/// As [`math1`], of two operands.
pub(in crate::cpu) fn math2(level: Level, function: Math2, double: bool) -> MapFn {
    macro_rules! single {
        ($f:path) => {
            looped!(map2, level, $f, f32, a, b)
        };
    }
    macro_rules! double {
        ($f:path) => {
            looped!(map2, level, $f, f64, a, b)
        };
    }
    if double {
        for_math2!(function, crate::math::double, double)
    } else {
        for_math2!(function, crate::math::single, single)
    }
}
