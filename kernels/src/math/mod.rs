//! The mathematical functions, each written once.
//!
//! [`single`] and [`double`] hold them generic over [`number::Number`]. This file makes both uses:
//! [`expand`] traces them into a kernel builder, so that devices get basic instructions only; the
//! interpreter instantiates them with `f32` and `f64`. ACCURACY.md beside this file has the measured
//! errors.

pub mod basic;
pub mod double;
pub mod number;
pub mod single;
mod traced;

use crate::build::Builder;
use crate::dtype::DType;
use crate::ir::{BinaryOp, CompareOp, Form, Kernel, Math1, Math2, Op, Store, Subnormals, UnaryOp, Value};
use crate::verify::Verified;
use traced::{Traced, trace};

/// Calls `$apply!(single::f)` or `double::f` for a function value: the one table of names.
#[macro_export]
#[doc(hidden)]
macro_rules! for_math1 {
    ($function:expr, $module:path, $apply:ident) => {{
        use $crate::ir::Math1;
        use $module as m;
        match $function {
            Math1::Exp => $apply!(m::exp),
            Math1::Expm1 => $apply!(m::expm1),
            Math1::Log => $apply!(m::log),
            Math1::Log1p => $apply!(m::log1p),
            Math1::Log2 => $apply!(m::log2),
            Math1::Log10 => $apply!(m::log10),
            Math1::Sin => $apply!(m::sin),
            Math1::Cos => $apply!(m::cos),
            Math1::Tan => $apply!(m::tan),
            Math1::Asin => $apply!(m::asin),
            Math1::Acos => $apply!(m::acos),
            Math1::Atan => $apply!(m::atan),
            Math1::Sinh => $apply!(m::sinh),
            Math1::Cosh => $apply!(m::cosh),
            Math1::Tanh => $apply!(m::tanh),
            Math1::Asinh => $apply!(m::asinh),
            Math1::Acosh => $apply!(m::acosh),
            Math1::Atanh => $apply!(m::atanh),
            Math1::Erf => $apply!(m::erf),
            Math1::Cbrt => $apply!(m::cbrt),
        }
    }};
}

/// As `for_math1`, for functions of two operands.
#[macro_export]
#[doc(hidden)]
macro_rules! for_math2 {
    ($function:expr, $module:path, $apply:ident) => {{
        use $crate::ir::Math2;
        use $module as m;
        match $function {
            Math2::Pow => $apply!(m::pow),
            Math2::Atan2 => $apply!(m::atan2),
            Math2::Hypot => $apply!(m::hypot),
        }
    }};
}

/// An equal kernel in which every mathematical function is spelled out in basic instructions, for
/// devices whose own functions are inaccurate or absent. f16 and bf16 compute in f32.
pub fn expand(kernel: &Verified) -> Verified {
    expand_as(kernel, Spelling::Whole)
}

/// The same for devices that do this with subnormals.
pub(crate) fn expand_for(kernel: &Verified, subnormals: Subnormals) -> Verified {
    let flushes = subnormals != Subnormals::Kept;
    expand_as(kernel, if flushes { Spelling::Flushed } else { Spelling::Whole })
}

/// The same bits for devices with fused multiply-add and slow conversions: exp, sin and cos of f16 and bf16
/// take half the instructions.
pub fn expand_fused(kernel: &Verified) -> Verified {
    expand_as(kernel, Spelling::Fused)
}

/// The variants in which functions are spelled out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Whole,
    /// Angles are taken to be small, and the form stores whether they are.
    SmallAngles,
    /// Subnormal results are zeros, and operands of functions that scale two of them.
    Flushed,
    /// Those of 16 bits with fused multiply-add.
    Fused,
}

fn expand_as(kernel: &Verified, spelling: Spelling) -> Verified {
    if !kernel.kernel().body.iter().any(|inst| matches!(inst.op, Op::Math1(..) | Op::Math2(..))) {
        return kernel.clone();
    }
    let (builder, form) = spelled(kernel.kernel(), spelling);
    let expanded = builder.finish(form).expect("spelling a function out keeps every rule of the IR");
    crate::simplify(&expanded)
}

/// The same where every angle is small, at a quarter of the cost: [`single::SMALL_ANGLE`] and
/// [`double::SMALL_ANGLE`] say what that is. Elementwise kernels only. Further outputs of type bool follow
/// the kernel's own parameters: is this angle small? Where one is not, the others hold anything. `None` if
/// the kernel has no angles, or too many.
pub fn expand_small_angles(kernel: &Verified) -> Option<Verified> {
    let angle = |op: &Op| matches!(op, Op::Math1(Math1::Sin | Math1::Cos | Math1::Tan, _));
    if !kernel.kernel().body.iter().any(|inst| angle(&inst.op)) {
        return None;
    }
    let (builder, form) = spelled(kernel.kernel(), Spelling::SmallAngles);
    builder.finish(form).ok().map(|expanded| crate::simplify(&expanded))
}

/// The kernel spelled out, and its form.
fn spelled(old: &Kernel, spelling: Spelling) -> (Builder, Form) {
    let [small, flush] = [Spelling::SmallAngles, Spelling::Flushed].map(|other| spelling == other);
    let mut builder = Builder::like(old);
    let mut renamed: Vec<Value> = Vec::with_capacity(old.body.len());
    let mut are_small = Vec::new();
    for inst in &old.body {
        let op = inst.op.map(|value| renamed[value.index()]);
        renamed.push(match op {
            Op::Math1(function, a) => {
                if small && angle_limit(function, inst.dtype).is_some() {
                    are_small.push((function, a));
                }
                in_full_width(&mut builder, inst.dtype, &[a], |b, x| {
                    let narrow = (spelling == Spelling::Fused).then_some(inst.dtype);
                    let result = match narrow.and_then(|dtype| spell_narrow(b, function, x[0], dtype)) {
                        Some(result) => result,
                        None if small => spell_small(b, function, x[0]),
                        None => spell1(b, function, x[0], spelling == Spelling::Fused),
                    };
                    flushed(b, result, flush)
                })
            }
            Op::Math2(function, a, b) => in_full_width(&mut builder, inst.dtype, &[a, b], |b, x| {
                let [x, y] = [x[0], x[1]].map(|x| flushed(b, x, flush && function != Math2::Pow));
                let result = spell2(b, function, x, y);
                flushed(b, result, flush)
            }),
            op => builder.emit(op, inst.dtype),
        });
    }
    let mut form = old.form.map(|value| renamed[value.index()]);
    if let Form::Elementwise { stores } = &mut form {
        for (function, angle) in are_small {
            let dtype = builder.dtype(angle);
            let limit = angle_limit(function, dtype).expect("an angle");
            let (size, limit) = (builder.unary(UnaryOp::Abs, angle), builder.float(dtype, limit));
            let value = builder.compare(CompareOp::Lt, size, limit);
            stores.push(Store { param: builder.output(DType::Bool), value });
        }
    }
    (builder, form)
}

/// A subnormal f32 as a zero of its sign.
fn flushed(builder: &mut Builder, value: Value, flush: bool) -> Value {
    if !flush || builder.dtype(value) != DType::F32 {
        return value;
    }
    let bits = builder.bitcast(value, DType::I32);
    let [exponent, sign] = [0x7f80_0000, i32::MIN].map(|mask| {
        let mask = builder.int(DType::I32, mask.into());
        builder.binary(BinaryOp::And, bits, mask)
    });
    let (none, zero) = (builder.int(DType::I32, 0), builder.bitcast(sign, DType::F32));
    let is_tiny = builder.compare(CompareOp::Eq, exponent, none);
    builder.select(is_tiny, zero, value)
}

/// Below which magnitude the function's argument counts as small; only of functions of angles.
fn angle_limit(function: Math1, dtype: DType) -> Option<f64> {
    let limit = if dtype == DType::F64 { double::SMALL_ANGLE } else { single::SMALL_ANGLE.into() };
    matches!(function, Math1::Sin | Math1::Cos | Math1::Tan).then_some(limit)
}

/// Runs `spell` on operands widened to f32 where they are narrower, and narrows its result.
fn in_full_width(
    builder: &mut Builder,
    dtype: DType,
    operands: &[Value],
    spell: impl FnOnce(&mut Builder, &[Value]) -> Value,
) -> Value {
    let full = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let operands: Vec<Value> = operands.iter().map(|&value| builder.cast(value, full)).collect();
    let result = spell(builder, &operands);
    builder.cast(result, dtype)
}

fn spell1(builder: &mut Builder, function: Math1, a: Value, fused: bool) -> Value {
    let double = builder.dtype(a) == DType::F64;
    trace(builder, |cell| {
        let x = Traced::new(cell, a).shifting(fused);
        macro_rules! call {
            ($f:path) => {
                $f(x)
            };
        }
        if double {
            for_math1!(function, crate::math::double, call)
        } else {
            for_math1!(function, crate::math::single, call)
        }
    })
}

/// As [`spell1`], of small angles.
fn spell_small(builder: &mut Builder, function: Math1, a: Value) -> Value {
    let double = builder.dtype(a) == DType::F64;
    let spell: for<'b, 'k> fn(Traced<'b, 'k>) -> Traced<'b, 'k> = match (function, double) {
        (Math1::Sin, false) => |x| single::sin_small(x),
        (Math1::Cos, false) => |x| single::cos_small(x),
        (Math1::Tan, false) => |x| single::tan_small(x),
        (Math1::Sin, true) => |x| double::sin_small(x),
        (Math1::Cos, true) => |x| double::cos_small(x),
        (Math1::Tan, true) => |x| double::tan_small(x),
        _ => return spell1(builder, function, a, false),
    };
    trace(builder, |cell| spell(Traced::new(cell, a)))
}

/// As [`spell1`], of an f32 that was widened from one of 16 bits.
fn spell_narrow(builder: &mut Builder, function: Math1, a: Value, from: DType) -> Option<Value> {
    let spell: for<'b, 'k> fn(Traced<'b, 'k>, bool) -> Traced<'b, 'k> = match function {
        Math1::Exp => |x, f16| single::exp_narrow(x, f16),
        Math1::Sin => |x, f16| single::sin_narrow(x, f16),
        Math1::Cos => |x, f16| single::cos_narrow(x, f16),
        _ => return None,
    };
    let is_f16 = from == DType::F16;
    (is_f16 || from == DType::BF16).then(|| trace(builder, |cell| spell(Traced::new(cell, a), is_f16)))
}

/// The sine of `quadrant` quarter turns and a rest within pi/4: nothing is left to reduce.
pub(crate) fn sine_of_rest(builder: &mut Builder, rest: Value, quadrant: Value) -> Value {
    let double = builder.dtype(rest) == DType::F64;
    trace(builder, |cell| {
        let (rest, quadrant) = (Traced::new(cell, rest), Traced::new(cell, quadrant));
        if double { double::sine_of_rest(rest, quadrant) } else { single::sine_of_rest(rest, quadrant) }
    })
}

fn spell2(builder: &mut Builder, function: Math2, a: Value, b: Value) -> Value {
    let double = builder.dtype(a) == DType::F64;
    trace(builder, |cell| {
        let (x, y) = (Traced::new(cell, a), Traced::new(cell, b));
        macro_rules! call {
            ($f:path) => {
                $f(x, y)
            };
        }
        if double {
            for_math2!(function, crate::math::double, call)
        } else {
            for_math2!(function, crate::math::single, call)
        }
    })
}
