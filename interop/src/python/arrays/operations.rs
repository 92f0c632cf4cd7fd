//! The engine's operations by name.

use partita::array::Operand;
use partita::{DType, FoldOp, Scalar};

/// A function of one argument; None for names that are none.
pub fn op1(name: &str, a: &partita::Array) -> Option<partita::Array> {
    Some(match name {
        "negative" => -a,
        "invert" => !a,
        "absolute" => a.abs(),
        "sqrt" => a.sqrt(),
        "floor" => a.floor(),
        "ceil" => a.ceil(),
        "trunc" => a.trunc(),
        "round" => a.round(),
        "isnan" => a.is_nan(),
        "exp" => a.exp(),
        "expm1" => a.expm1(),
        "log" => a.log(),
        "log1p" => a.log1p(),
        "log2" => a.log2(),
        "log10" => a.log10(),
        "sin" => a.sin(),
        "cos" => a.cos(),
        "tan" => a.tan(),
        "arcsin" => a.asin(),
        "arccos" => a.acos(),
        "arctan" => a.atan(),
        "sinh" => a.sinh(),
        "cosh" => a.cosh(),
        "tanh" => a.tanh(),
        "arcsinh" => a.asinh(),
        "arccosh" => a.acosh(),
        "arctanh" => a.atanh(),
        "erf" => a.erf(),
        "cbrt" => a.cbrt(),
        _ => return None,
    })
}

/// A function of two arguments.
pub fn op2(name: &str, a: &partita::Array, b: &partita::Array) -> Option<partita::Array> {
    Some(match name {
        "add" => a + b,
        "subtract" => a - b,
        "multiply" => a * b,
        "divide" => a / b,
        "fmod" => a % b,
        "floor_divide" => floor_divide(a, b),
        "remainder" => remainder(a, b),
        "and" => a & b,
        "or" => a | b,
        "xor" => a ^ b,
        "left_shift" => a.shift_left(b),
        "right_shift" => a.shift_right(b),
        "minimum" => a.minimum(b),
        "maximum" => a.maximum(b),
        "power" => a.pow(b),
        "arctan2" => a.atan2(b),
        "hypot" => a.hypot(b),
        "logaddexp" => log_add_exp(a, b),
        "equal" => a.equal(b),
        "not_equal" => a.not_equal(b),
        "less" => a.less(b),
        "less_equal" => a.less_equal(b),
        "greater" => a.greater(b),
        "greater_equal" => a.greater_equal(b),
        _ => return None,
    })
}

/// A function of one array that NumPy's rules leave as it is; None for others.
pub fn plain1(name: &str, a: &partita::Array) -> Option<partita::Array> {
    let (is_number, is_float) = (a.dtype() != DType::Bool, a.dtype().is_float());
    match name {
        "negative" | "absolute" if is_number => op1(name, a),
        "invert" if !is_float => op1(name, a),
        "invert" => None,
        _ if is_float => op1(name, a),
        _ => None,
    }
}

/// A function of two arrays of one type that NumPy's rules leave as it is; None for others.
pub fn plain(name: &str, a: &partita::Array, b: &partita::Array) -> Option<partita::Array> {
    let (is_number, is_float) = (a.dtype() != DType::Bool, a.dtype().is_float());
    match name {
        "divide" | "power" | "arctan2" | "hypot" | "logaddexp" if is_float => op2(name, a, b),
        "add" | "subtract" | "multiply" | "minimum" | "maximum" | "floor_divide" | "remainder"
            if is_number =>
        {
            op2(name, a, b)
        }
        "and" | "or" | "xor" if !is_float => op2(name, a, b),
        "equal" | "not_equal" | "less" | "less_equal" | "greater" | "greater_equal" => op2(name, a, b),
        _ => None,
    }
}

/// The quotient rounded down. Zeros have the sign of the exact quotient; by 0 it is what division gives.
/// Halves are rounded once, at the end.
fn floor_divide(a: &partita::Array, b: &partita::Array) -> partita::Array {
    if a.dtype() == DType::F16 {
        return floor_divide(&a.cast(DType::F32), &b.cast(DType::F32)).cast(DType::F16);
    }
    let (ratio, is_float) = (a / b, a.dtype().is_float());
    let (rest, crosses) = rest(a, b);
    let whole = if is_float { ((a - rest) / b).round() } else { ratio.clone() };
    let floor = crosses.select(&(&whole - number(&whole, 1.0)), &whole);
    if !is_float {
        return floor;
    }
    b.equal(number(b, 0.0)).select(&ratio, &with_zeros(&floor, &(&ratio * number(&ratio, 0.0))))
}

/// The remainder of that, which has the divisor's sign, zeros, too.
fn remainder(a: &partita::Array, b: &partita::Array) -> partita::Array {
    if a.dtype() == DType::F16 {
        return remainder(&a.cast(DType::F32), &b.cast(DType::F32)).cast(DType::F16);
    }
    let (rest, crosses) = rest(a, b);
    let moved = crosses.select(&(&rest + b), &rest);
    if !a.dtype().is_float() {
        return moved;
    }
    with_zeros(&moved, &b.less(number(b, 0.0)).select(&number(&rest, -0.0), &number(&rest, 0.0)))
}

/// The engine's remainder, which has the sign of the dividend, and whether that is not the divisor's.
fn rest(a: &partita::Array, b: &partita::Array) -> (partita::Array, partita::Array) {
    let rest = a % b;
    let zero = number(&rest, 0.0);
    let crosses = rest.not_equal(&zero) & (rest.less(&zero) ^ b.less(number(b, 0.0)));
    (rest, crosses)
}

/// A number in the type of an array.
fn number(like: &partita::Array, value: f64) -> partita::Array {
    Scalar::from_f64(like.dtype(), value).operand(like)
}

/// `result` with zeros of the sign of those in `zeros`.
fn with_zeros(result: &partita::Array, zeros: &partita::Array) -> partita::Array {
    result.equal(number(result, 0.0)).select(zeros, result)
}

/// log(exp(a) + exp(b)). Equal infinities have no difference, and are the result.
fn log_add_exp(a: &partita::Array, b: &partita::Array) -> partita::Array {
    let (larger, apart) = (a.maximum(b), (a - b).abs());
    let lost = apart.is_nan() & !larger.is_nan();
    lost.select(&larger, &(&larger + (-apart).exp().log1p()))
}

/// Folds of all elements up to each along an axis.
pub fn scan(name: &str, a: &partita::Array, axis: usize) -> Option<partita::Array> {
    Some(match name {
        "sum" => a.scan(axis, FoldOp::Sum),
        "prod" => a.scan(axis, FoldOp::Product),
        "min" => a.scan(axis, FoldOp::Min),
        "max" => a.scan(axis, FoldOp::Max),
        _ => return None,
    })
}

/// A reduction over axes.
pub fn reduce(name: &str, a: &partita::Array, axes: &[usize]) -> Option<partita::Array> {
    Some(match name {
        "sum" => a.sum(axes),
        "sum_reproducible" => a.sum_reproducible(axes),
        "prod" => a.prod(axes),
        "min" => a.min(axes),
        "max" => a.max(axes),
        "mean" => a.mean(axes),
        "mean_reproducible" => a.mean_reproducible(axes),
        "all" => a.all(axes),
        "any" => a.any(axes),
        "argmin" => a.argmin(axes.first().copied()),
        "argmax" => a.argmax(axes.first().copied()),
        _ => return None,
    })
}
