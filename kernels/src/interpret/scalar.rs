//! The IR evaluated one point at a time, as slowly and plainly as can be: what the chunked
//! interpreter is tested against. It shares no code with it but the mathematical functions.

use std::cmp::Ordering;

use crate::dtype::{DType, Kind, Scalar};
use crate::ir::{BinaryOp, CompareOp, Fold, FoldOp, Form, Kernel, Launch, Op, UnaryOp, Value};
use crate::{for_math1, for_math2};

/// The memory of one parameter: bit patterns of its elements.
pub(super) type Memory = Vec<u64>;

/// Runs a launch on `memory`.
pub(super) fn run(kernel: &Kernel, launch: &Launch, memory: &mut [Memory]) {
    let points = points(&launch.extents);
    match &kernel.form {
        Form::Elementwise { stores } => {
            for point in &points {
                let values = evaluate(kernel, launch, memory, point);
                for store in stores {
                    let at = element(launch, store.param, point);
                    memory[store.param as usize][at] = values[store.value.index()].bits;
                }
            }
        }
        Form::Reduce { axes, folds } => {
            for fold in folds {
                reduce(kernel, launch, memory, axes, fold, &points);
            }
        }
        Form::Gather { index, source, output } => {
            for point in &points {
                let values = evaluate(kernel, launch, memory, point);
                if let Some(from) = indexed(launch, memory, *source, values[index.index()]) {
                    let at = element(launch, *output, point);
                    memory[*output as usize][at] = memory[*source as usize][from];
                }
            }
        }
        Form::Scatter { index, value, output, add } => {
            for point in &points {
                let values = evaluate(kernel, launch, memory, point);
                let value = values[value.index()];
                if let Some(to) = indexed(launch, memory, *output, values[index.index()]) {
                    let old = Scalar { dtype: value.dtype, bits: memory[*output as usize][to] };
                    let new = if *add { binary(BinaryOp::Add, old, value) } else { value };
                    memory[*output as usize][to] = new.bits;
                }
            }
        }
    }
}

/// Every point of a box, in C order.
pub(super) fn points(extents: &[usize]) -> Vec<Vec<usize>> {
    let mut points = vec![vec![]];
    for &extent in extents {
        points = points.iter().flat_map(|p| (0..extent).map(|k| [p.as_slice(), &[k]].concat())).collect();
    }
    points
}

/// The element of a parameter at a point.
pub(super) fn element(launch: &Launch, param: u32, point: &[usize]) -> usize {
    let view = &launch.views[param as usize];
    let moved: i64 = point.iter().zip(&view.strides).map(|(&i, &s)| i as i64 * s).sum();
    (view.offset + moved) as usize
}

fn indexed(launch: &Launch, memory: &[Memory], param: u32, index: Scalar) -> Option<usize> {
    let offset = launch.views[param as usize].offset as usize;
    let index = if index.dtype == DType::U64 { i128::from(index.bits) } else { i128::from(index.to_i64()) };
    let inside = index >= 0 && index < (memory[param as usize].len() - offset) as i128;
    inside.then(|| offset + index as usize)
}

fn evaluate(kernel: &Kernel, launch: &Launch, memory: &[Memory], point: &[usize]) -> Vec<Scalar> {
    let mut values: Vec<Scalar> = Vec::new();
    for inst in &kernel.body {
        let of = |value: &Value| values[value.index()];
        let result = match &inst.op {
            Op::Const(scalar) => *scalar,
            Op::Argument(n) => launch.arguments[*n as usize],
            Op::Coord(dim) => {
                let dim = *dim as usize;
                Scalar::from_i64(inst.dtype, launch.origin[dim] + point[dim] as i64)
            }
            Op::Load { param, offsets } => {
                let strides = &launch.views[*param as usize].strides;
                let moved: i64 = offsets.iter().zip(strides).map(|(&d, &s)| i64::from(d) * s).sum();
                let at = (element(launch, *param, point) as i64 + moved) as usize;
                Scalar { dtype: inst.dtype, bits: memory[*param as usize][at] }
            }
            Op::Unary(op, a) => unary(*op, of(a)),
            Op::Binary(op, a, b) => binary(*op, of(a), of(b)),
            Op::Compare(op, a, b) => bool(compare(*op, of(a), of(b))),
            Op::Select(c, a, b) => {
                if of(c).bits != 0 {
                    of(a)
                } else {
                    of(b)
                }
            }
            Op::Fma(a, b, c) => match inst.dtype {
                DType::F32 => {
                    float(inst.dtype, f64::from(f32_of(of(a)).mul_add(f32_of(of(b)), f32_of(of(c)))))
                }
                _ => float(inst.dtype, of(a).to_f64().mul_add(of(b).to_f64(), of(c).to_f64())),
            },
            Op::Cast(a) => cast(of(a), inst.dtype),
            Op::Bitcast(a) => Scalar { dtype: inst.dtype, bits: of(a).bits },
            Op::Math1(function, a) => {
                let (x, y) = (of(a).to_f64() as f32, of(a).to_f64());
                macro_rules! single {
                    ($f:path) => {
                        f64::from($f(x))
                    };
                }
                macro_rules! double {
                    ($f:path) => {
                        $f(y)
                    };
                }
                float(
                    inst.dtype,
                    match inst.dtype {
                        DType::F64 => for_math1!(*function, crate::math::double, double),
                        _ => for_math1!(*function, crate::math::single, single),
                    },
                )
            }
            Op::Math2(function, a, b) => {
                let (x, y) = (of(a).to_f64(), of(b).to_f64());
                macro_rules! single {
                    ($f:path) => {
                        f64::from($f(x as f32, y as f32))
                    };
                }
                macro_rules! double {
                    ($f:path) => {
                        $f(x, y)
                    };
                }
                float(
                    inst.dtype,
                    match inst.dtype {
                        DType::F64 => for_math2!(*function, crate::math::double, double),
                        _ => for_math2!(*function, crate::math::single, single),
                    },
                )
            }
        };
        assert_eq!(result.dtype, inst.dtype);
        values.push(result);
    }
    values
}

fn bool(value: bool) -> Scalar {
    Scalar { dtype: DType::Bool, bits: u64::from(value) }
}

fn f32_of(value: Scalar) -> f32 {
    value.to_f64() as f32
}

/// Rounds to a float type. f32 results of f32 operations pass through f64 unchanged.
fn float(dtype: DType, value: f64) -> Scalar {
    match dtype {
        DType::F16 | DType::BF16 => {
            let bits = crate::dtype::f64_to_odd_f32(value);
            let bits = match dtype {
                DType::F16 => half::f16::from_f32(bits).to_bits(),
                _ => half::bf16::from_f32(bits).to_bits(),
            };
            Scalar { dtype, bits: u64::from(bits) }
        }
        _ => Scalar::from_f64(dtype, value),
    }
}

fn is_nan(value: Scalar) -> bool {
    value.dtype.is_float() && value.to_f64().is_nan()
}

/// Integers as i128, sign as their type has it.
fn wide(value: Scalar) -> i128 {
    match value.dtype.kind() {
        Kind::Int => i128::from(value.to_i64()),
        _ => i128::from(value.bits),
    }
}

/// An integer of `dtype`, wrapped.
fn wrap(dtype: DType, value: i128) -> Scalar {
    Scalar { dtype, bits: value as u64 & u64::MAX >> (64 - 8 * dtype.size_bytes()) }
}

fn unary(op: UnaryOp, a: Scalar) -> Scalar {
    let dtype = a.dtype;
    if op == UnaryOp::IsNan {
        return bool(is_nan(a));
    }
    match dtype.kind() {
        Kind::Bool => bool(a.bits == 0),
        Kind::Int | Kind::Uint => match op {
            UnaryOp::Neg => wrap(dtype, -wide(a)),
            UnaryOp::Abs => wrap(dtype, wide(a).abs()),
            _ => wrap(dtype, !wide(a)),
        },
        Kind::Float => {
            let x = a.to_f64();
            float(
                dtype,
                match op {
                    UnaryOp::Neg => -x,
                    UnaryOp::Abs => x.abs(),
                    UnaryOp::Floor => x.floor(),
                    UnaryOp::Ceil => x.ceil(),
                    UnaryOp::Trunc => x.trunc(),
                    UnaryOp::Round => x.round_ties_even(),
                    UnaryOp::Sqrt if dtype == DType::F64 => x.sqrt(),
                    UnaryOp::Sqrt => f64::from((x as f32).sqrt()),
                    UnaryOp::Not | UnaryOp::IsNan => unreachable!("not an operation of floats"),
                },
            )
        }
    }
}

fn binary(op: BinaryOp, a: Scalar, b: Scalar) -> Scalar {
    match op {
        BinaryOp::Min => return if compare(CompareOp::Lt, a, b) || is_nan(a) { a } else { b },
        BinaryOp::Max => return if compare(CompareOp::Gt, a, b) || is_nan(a) { a } else { b },
        _ => {}
    }
    match a.dtype.kind() {
        Kind::Float if a.dtype == DType::F64 => {
            let (x, y) = (a.to_f64(), b.to_f64());
            float(
                a.dtype,
                match op {
                    BinaryOp::Add => x + y,
                    BinaryOp::Sub => x - y,
                    BinaryOp::Mul => x * y,
                    BinaryOp::Div => x / y,
                    _ => x % y,
                },
            )
        }
        Kind::Float => {
            let (x, y) = (f32_of(a), f32_of(b));
            float(
                a.dtype,
                f64::from(match op {
                    BinaryOp::Add => x + y,
                    BinaryOp::Sub => x - y,
                    BinaryOp::Mul => x * y,
                    BinaryOp::Div => x / y,
                    _ => x % y,
                }),
            )
        }
        Kind::Bool | Kind::Int | Kind::Uint => integer(op, a, b),
    }
}

fn integer(op: BinaryOp, a: Scalar, b: Scalar) -> Scalar {
    let (x, y) = (wide(a), wide(b));
    let width = 8 * a.dtype.size_bytes() as i128;
    let count = y.rem_euclid(width) as u32;
    wrap(
        a.dtype,
        match op {
            BinaryOp::Add => x + y,
            BinaryOp::Sub => x - y,
            BinaryOp::Mul => x.wrapping_mul(y),
            BinaryOp::Div => x.checked_div(y).unwrap_or(0),
            BinaryOp::Rem => x.checked_rem(y).unwrap_or(0),
            BinaryOp::And => x & y,
            BinaryOp::Or => x | y,
            BinaryOp::Xor => x ^ y,
            BinaryOp::Shl => x << count,
            BinaryOp::Shr => x >> count,
            BinaryOp::Min | BinaryOp::Max => unreachable!("handled for every type"),
        },
    )
}

fn compare(op: CompareOp, a: Scalar, b: Scalar) -> bool {
    let order =
        if a.dtype.is_float() { a.to_f64().partial_cmp(&b.to_f64()) } else { Some(wide(a).cmp(&wide(b))) };
    match op {
        CompareOp::Eq => order == Some(Ordering::Equal),
        CompareOp::Ne => order != Some(Ordering::Equal),
        CompareOp::Lt => order == Some(Ordering::Less),
        CompareOp::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        CompareOp::Gt => order == Some(Ordering::Greater),
        CompareOp::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

fn cast(a: Scalar, to: DType) -> Scalar {
    match (a.dtype.kind(), to.kind()) {
        (Kind::Float, Kind::Bool) => bool(a.to_f64() != 0.0),
        (_, Kind::Bool) => bool(a.bits != 0),
        (Kind::Float, Kind::Float) => float(to, a.to_f64()),
        // Integers reach f16 and bf16 through f32.
        (_, Kind::Float) if to == DType::F64 => float(to, wide(a) as f64),
        (_, Kind::Float) => float(to, f64::from(wide(a) as f32)),
        (Kind::Float, _) => {
            let bits = 8 * to.size_bytes() as u32;
            let (low, high) = match to.kind() {
                Kind::Int => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
                _ => (0, (1i128 << bits) - 1),
            };
            wrap(to, (a.to_f64() as i128).clamp(low, high))
        }
        (_, _) => wrap(to, wide(a)),
    }
}

fn reduce(
    kernel: &Kernel,
    launch: &Launch,
    memory: &mut [Memory],
    axes: &[bool],
    fold: &Fold,
    points: &[Vec<usize>],
) {
    let kept: Vec<usize> = launch.extents.iter().zip(axes).map(|(&e, &a)| if a { 1 } else { e }).collect();
    for result in self::points(&kept) {
        let mut folded: Option<(Scalar, Scalar)> = None;
        let mine =
            points.iter().filter(|p| p.iter().zip(axes).zip(&result).all(|((&i, &a), &r)| a || i == r));
        for point in mine {
            let values = evaluate(kernel, launch, memory, point);
            let of = |value: Value| values[value.index()];
            folded = Some(match (*fold, folded) {
                (Fold::Value { value, .. }, None) => (widened(of(value)), bool(false)),
                (Fold::Value { op, value, .. }, Some((old, _))) => {
                    (combine(op, old, widened(of(value))), bool(false))
                }
                (Fold::Arg { value, index, .. }, None) => (of(value), of(index)),
                (Fold::Arg { largest, value, index, .. }, Some(old)) => {
                    let op = if largest { CompareOp::Gt } else { CompareOp::Lt };
                    let wins = !is_nan(old.0) && (is_nan(of(value)) || compare(op, of(value), old.0));
                    if wins { (of(value), of(index)) } else { old }
                }
                (Fold::Exact { .. }, _) => unreachable!("compared with sums by naturals instead"),
            });
        }
        let mut write = |param: u32, value: Scalar| {
            let at = element(launch, param, &result);
            memory[param as usize][at] = value.bits;
        };
        match *fold {
            Fold::Value { op, output, .. } => {
                let dtype = kernel.params[output as usize].dtype;
                write(output, folded.map_or(neutral(op, dtype), |f| cast(f.0, dtype)));
            }
            Fold::Arg { largest, value_output, index_output, .. } => {
                let op = if largest { FoldOp::Max } else { FoldOp::Min };
                write(
                    value_output,
                    folded.map_or(neutral(op, kernel.params[value_output as usize].dtype), |f| f.0),
                );
                write(index_output, folded.map_or(Scalar { dtype: DType::I64, bits: 0 }, |f| f.1));
            }
            Fold::Exact { .. } => unreachable!("compared with sums by naturals instead"),
        }
    }
}

/// Sums and products of f16, bf16 and f32 accumulate in f64 here: the yardstick of their error.
fn widened(value: Scalar) -> Scalar {
    if value.dtype.is_float() { cast(value, DType::F64) } else { value }
}

fn combine(op: FoldOp, a: Scalar, b: Scalar) -> Scalar {
    binary(
        match op {
            FoldOp::Sum => BinaryOp::Add,
            FoldOp::Product => BinaryOp::Mul,
            FoldOp::Min => BinaryOp::Min,
            FoldOp::Max => BinaryOp::Max,
            FoldOp::All => BinaryOp::And,
            FoldOp::Any => BinaryOp::Or,
        },
        a,
        b,
    )
}

fn neutral(op: FoldOp, dtype: DType) -> Scalar {
    let number = match op {
        FoldOp::Sum => 0.0,
        FoldOp::Product => 1.0,
        FoldOp::Min => f64::INFINITY,
        FoldOp::Max => f64::NEG_INFINITY,
        FoldOp::All => 1.0,
        FoldOp::Any => 0.0,
    };
    match (dtype, op) {
        (DType::Bool, FoldOp::Max) => bool(false),
        _ => cast(float(DType::F64, number), dtype),
    }
}
