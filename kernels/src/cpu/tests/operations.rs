//! Every operation on every type, with operands of every kind.

use super::{Case, Random, dense, hard, launch, strided, values};
use crate::build::Builder;
use crate::dtype::{DType, Kind, Scalar};
use crate::ir::{BinaryOp, CompareOp, Math1, Math2, UnaryOp, Value, View};

const UNARY: [UnaryOp; 9] = [
    UnaryOp::Neg,
    UnaryOp::Abs,
    UnaryOp::Not,
    UnaryOp::Sqrt,
    UnaryOp::Floor,
    UnaryOp::Ceil,
    UnaryOp::Trunc,
    UnaryOp::Round,
    UnaryOp::IsNan,
];
const BINARY: [BinaryOp; 12] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Rem,
    BinaryOp::Min,
    BinaryOp::Max,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
    BinaryOp::Shl,
    BinaryOp::Shr,
];
const COMPARE: [CompareOp; 6] =
    [CompareOp::Eq, CompareOp::Ne, CompareOp::Lt, CompareOp::Le, CompareOp::Gt, CompareOp::Ge];
const MATH1: [Math1; 20] = [
    Math1::Exp,
    Math1::Expm1,
    Math1::Log,
    Math1::Log1p,
    Math1::Log2,
    Math1::Log10,
    Math1::Sin,
    Math1::Cos,
    Math1::Tan,
    Math1::Asin,
    Math1::Acos,
    Math1::Atan,
    Math1::Sinh,
    Math1::Cosh,
    Math1::Tanh,
    Math1::Asinh,
    Math1::Acosh,
    Math1::Atanh,
    Math1::Erf,
    Math1::Cbrt,
];

pub(super) fn unary_ops(dtype: DType) -> Vec<UnaryOp> {
    let fits = |op: &UnaryOp| match dtype.kind() {
        Kind::Bool => *op == UnaryOp::Not,
        Kind::Int | Kind::Uint => matches!(op, UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Not),
        Kind::Float => *op != UnaryOp::Not,
    };
    UNARY.into_iter().filter(fits).collect()
}

pub(super) fn binary_ops(dtype: DType) -> Vec<BinaryOp> {
    use BinaryOp::{And, Max, Min, Or, Shl, Shr, Xor};
    let fits = |op: &BinaryOp| match dtype.kind() {
        Kind::Bool => matches!(op, Min | Max | And | Or | Xor),
        Kind::Int | Kind::Uint => true,
        Kind::Float => !matches!(op, And | Or | Xor | Shl | Shr),
    };
    BINARY.into_iter().filter(fits).collect()
}

/// The way in which an operand reaches the operation.
#[derive(Clone, Copy, Debug)]
enum Operand {
    Row,
    Offset,
    Reversed,
    EverySecond,
    Broadcast,
    Constant,
    Argument,
}

/// Combinations for up to three operands.
const KINDS: [[Operand; 3]; 5] = [
    [Operand::Row, Operand::Row, Operand::Row],
    [Operand::Offset, Operand::Constant, Operand::Argument],
    [Operand::Argument, Operand::EverySecond, Operand::Broadcast],
    [Operand::Broadcast, Operand::Reversed, Operand::Offset],
    [Operand::Constant, Operand::Argument, Operand::Constant],
];

/// Runs `f` on `n` points with operands of the given types, in every combination of kinds.
fn check(operands: &[DType], n: usize, f: impl Fn(&mut Builder, &[Value]) -> Value) {
    let mut random = Random(n as u64);
    for kinds in KINDS {
        let mut k = Builder::new("operation", 1);
        let (mut views, mut memory, mut arguments, mut args) = (vec![], vec![], vec![], vec![]);
        for (&dtype, kind) in operands.iter().zip(kinds) {
            let any =
                |random: &mut Random| Scalar { dtype, bits: hard(dtype)[random.below(hard(dtype).len())] };
            let (offset, stride) = match kind {
                Operand::Constant => {
                    args.push(k.constant(any(&mut random)));
                    continue;
                }
                Operand::Argument => {
                    args.push(k.argument(dtype));
                    arguments.push(any(&mut random));
                    continue;
                }
                Operand::Row => (0, 1),
                Operand::Offset => (3, 1),
                Operand::Reversed => (n as i64 - 1, -1),
                Operand::EverySecond => (1, 2),
                Operand::Broadcast => (5, 0),
            };
            let param = k.input(dtype);
            args.push(k.load(param, &[0]));
            views.push(View { offset, strides: vec![stride] });
            memory.push(values(dtype, 2 * n + 6, &mut random));
        }
        let result = f(&mut k, &args);
        let dtype = k.dtype(result);
        let output = k.output(dtype);
        views.push(strided(&[n], 2, 1));
        memory.push(vec![0; n + 4]);
        let mut launch = launch(&[n], views);
        launch.arguments = arguments;
        Case { kernel: k.elementwise(&[(output, result)]).expect("a valid kernel"), launch, memory }.check();
    }
}

#[test]
fn unary() {
    for dtype in DType::ALL {
        for op in unary_ops(dtype) {
            check(&[dtype], 300, |k, a| k.unary(op, a[0]));
        }
    }
}

#[test]
fn binary() {
    for dtype in DType::ALL {
        for op in binary_ops(dtype) {
            check(&[dtype; 2], 700, |k, a| k.binary(op, a[0], a[1]));
        }
    }
}

#[test]
fn compare_select_fma() {
    for dtype in DType::ALL {
        for op in COMPARE {
            check(&[dtype; 2], 500, |k, a| k.compare(op, a[0], a[1]));
        }
        check(&[DType::Bool, dtype, dtype], 300, |k, a| k.select(a[0], a[1], a[2]));
        check(&[dtype; 2], 300, |k, a| {
            let less = k.compare(CompareOp::Lt, a[0], a[1]);
            k.select(less, a[0], a[1])
        });
    }
    for dtype in [DType::F32, DType::F64] {
        check(&[dtype; 3], 700, |k, a| k.fma(a[0], a[1], a[2]));
    }
}

#[test]
fn casts() {
    for from in DType::ALL {
        for to in DType::ALL {
            check(&[from], 400, |k, a| k.cast(a[0], to));
            let width = |d: DType| if d == DType::Bool { 0 } else { d.size_bytes() };
            if width(from) == width(to) && width(to) > 0 {
                check(&[from], 100, |k, a| k.bitcast(a[0], to));
            }
        }
    }
}

#[test]
fn mathematical_functions() {
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        for function in MATH1 {
            check(&[dtype], 300, |k, a| k.math1(function, a[0]));
        }
        for function in [Math2::Pow, Math2::Atan2, Math2::Hypot] {
            check(&[dtype; 2], 400, |k, a| k.math2(function, a[0], a[1]));
        }
    }
}

/// The accumulator takes its operand from either side; a value may be used twice, stored and used again.
#[test]
fn every_operand_in_the_accumulator() {
    for dtype in [DType::F16, DType::F32, DType::F64] {
        for op in binary_ops(dtype).into_iter().filter(|op| *op != BinaryOp::Rem) {
            check(&[dtype; 3], 200, |k, a| {
                let inner = k.binary(BinaryOp::Mul, a[0], a[1]);
                k.binary(op, inner, a[2])
            });
            check(&[dtype; 3], 200, |k, a| {
                let inner = k.binary(BinaryOp::Mul, a[0], a[1]);
                k.binary(op, a[2], inner)
            });
            check(&[dtype; 3], 200, |k, a| {
                let (left, right) = (k.binary(op, a[0], a[1]), k.binary(op, a[1], a[2]));
                let square = k.binary(BinaryOp::Mul, left, left);
                k.binary(op, square, right)
            });
        }
        for op in COMPARE {
            check(&[dtype; 3], 200, |k, a| {
                let product = k.binary(BinaryOp::Mul, a[0], a[1]);
                let mask = k.compare(op, a[2], product);
                k.select(mask, a[2], product)
            });
        }
    }
    for (op, swapped) in
        [(BinaryOp::Add, false), (BinaryOp::Add, true), (BinaryOp::Sub, false), (BinaryOp::Sub, true)]
    {
        check(&[DType::F32; 3], 200, |k, a| {
            let (sum, product) = (k.binary(BinaryOp::Add, a[0], a[1]), k.binary(BinaryOp::Mul, a[1], a[2]));
            if swapped { k.binary(op, product, sum) } else { k.binary(op, sum, product) }
        });
    }
    for taken in 0..3 {
        check(&[DType::F32; 3], 200, |k, a| {
            let mut x = [a[0], a[1], a[2]];
            x[taken] = k.binary(BinaryOp::Add, a[0], a[1]);
            k.fma(x[0], x[1], x[2])
        });
    }
}

#[test]
fn coordinates_and_lengths() {
    let mut random = Random(3);
    for extents in [
        vec![],
        vec![0],
        vec![1],
        vec![15],
        vec![16],
        vec![17],
        vec![511],
        vec![513],
        vec![3, 5],
        vec![7, 9, 13],
        vec![2, 70, 3, 5],
        vec![5, 1, 130],
    ] {
        let rank = extents.len();
        let mut k = Builder::new("coordinates", rank);
        let input = k.input(DType::I32);
        let mut sum = k.load(input, &vec![0; rank]);
        for dim in 0..rank {
            let (narrow, wide) = (k.coord(dim, DType::I32), k.coord(dim, DType::I64));
            let narrowed = k.cast(wide, DType::I32);
            let both = k.binary(BinaryOp::Mul, narrow, narrowed);
            let seven = k.int(DType::I32, 7);
            let scaled = k.binary(BinaryOp::Mul, sum, seven);
            sum = k.binary(BinaryOp::Add, scaled, both);
        }
        let output = k.output(DType::I32);
        let kernel = k.elementwise(&[(output, sum)]).expect("a valid kernel");
        let count = extents.iter().product::<usize>();
        let mut launch = launch(&extents, vec![dense(&extents), dense(&extents)]);
        launch.origin = (0..rank).map(|d| 100 * d as i64 - 5).collect();
        let memory = vec![values(DType::I32, count, &mut random), vec![0; count]];
        Case { kernel, launch, memory }.check();
    }
}
