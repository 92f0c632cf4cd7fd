//! The rules that the essay of `partita_kernels::ir` states, by the definition of the IR.
#![allow(clippy::unwrap_used)]

use partita_kernels::interpret::operations::{binary, cast, compare, fma, unary};
use partita_kernels::{
    BinaryOp, Builder, CompareOp, DType, Fold, FoldOp, Launch, Scalar, UnaryOp, View, interpret,
};

fn int(value: i64) -> Scalar {
    Scalar::from_i64(DType::I32, value)
}

fn float(value: f64) -> Scalar {
    Scalar::from_f64(DType::F32, value)
}

#[test]
fn integers_wrap_and_division_by_zero_gives_zero() {
    let min = int(i32::MIN.into());
    for (op, a, b, result) in [
        (BinaryOp::Add, int(i32::MAX.into()), int(1), min),
        (BinaryOp::Div, int(7), int(0), int(0)),
        (BinaryOp::Rem, int(7), int(0), int(0)),
        (BinaryOp::Div, min, int(-1), min),
        (BinaryOp::Div, int(-7), int(2), int(-3)),
        (BinaryOp::Rem, int(-7), int(3), int(-1)),
        (BinaryOp::Shl, int(1), int(33), int(2)),
        (BinaryOp::Shr, int(-8), int(1), int(-4)),
    ] {
        assert_eq!(binary(op, a, b), result, "{op:?} {a} {b}");
    }
    assert_eq!(unary(UnaryOp::Abs, min), min);
}

#[test]
fn a_nan_wins_and_of_two_zeros_the_second() {
    let (nan, zero) = (float(f64::NAN), float(0.0));
    for op in [BinaryOp::Min, BinaryOp::Max] {
        assert!(binary(op, nan, float(1.0)).to_f64().is_nan());
        assert!(binary(op, float(1.0), nan).to_f64().is_nan());
        assert_eq!(binary(op, zero, float(-0.0)), float(-0.0));
        assert_eq!(binary(op, float(-0.0), zero), zero);
    }
    assert!(!compare(CompareOp::Eq, nan, nan) && compare(CompareOp::Ne, nan, nan));
    assert_eq!(unary(UnaryOp::Round, float(2.5)), float(2.0));
}

#[test]
fn casts_truncate_and_saturate_and_fma_rounds_once() {
    for (value, to, result) in [(-1.9, DType::I8, -1), (300.0, DType::I8, 127), (-5.0, DType::U8, 0)] {
        assert_eq!(cast(float(value), to), Scalar::from_i64(to, result), "{value} to {to}");
    }
    assert_eq!(cast(float(f64::NAN), DType::I64), Scalar::from_i64(DType::I64, 0));
    assert_eq!(cast(float(0.5), DType::Bool).bits, 1);
    let (a, exact) = (float(1.0 + f64::powi(2.0, -12)), f64::powi(2.0, -24));
    let rounded = binary(BinaryOp::Mul, a, a).to_f64();
    assert_eq!(fma(a, a, float(-rounded)).to_f64(), exact, "the product is not rounded");
}

fn line(offset: i64, stride: i64) -> View {
    View { offset, strides: vec![stride] }
}

#[test]
fn an_empty_fold_gives_its_neutral_element() {
    for (op, neutral) in [(FoldOp::Sum, 0.0), (FoldOp::Product, 1.0), (FoldOp::Min, f64::INFINITY)] {
        let mut k = Builder::new("fold", 1);
        let (input, output) = (k.input(DType::F32), k.output(DType::F32));
        let value = k.load(input, &[0]);
        let kernel = k.reduce(&[true], &[Fold::Value { op, value, output }]).unwrap();
        let views = vec![line(0, 1), line(0, 0)];
        let launch = Launch { extents: vec![0], origin: vec![0], views, arguments: vec![] };
        let mut memory = vec![vec![], vec![7]];
        interpret::run(&kernel, &launch, &mut memory).unwrap();
        assert_eq!(memory[1], [float(neutral).bits], "{op:?}");
    }
}

#[test]
fn an_index_outside_leaves_the_output_untouched() {
    let mut k = Builder::new("gather", 1);
    let (index, source, output) = (k.input(DType::I32), k.input(DType::U8), k.output(DType::U8));
    let at = k.load(index, &[0]);
    let kernel = k.gather(at, source, output).unwrap();
    let launch = Launch { extents: vec![4], origin: vec![0], views: vec![line(0, 1); 3], arguments: vec![] };
    let indices = [1, -1, 2, 0].map(|value| int(value).bits).to_vec();
    let mut memory = vec![indices, vec![10, 11], vec![9; 4]];
    interpret::run(&kernel, &launch, &mut memory).unwrap();
    assert_eq!(memory[2], [11, 9, 9, 10]);
    memory[2].pop();
    let refused = interpret::run(&kernel, &launch, &mut memory).unwrap_err().to_string();
    assert!(refused.contains("p2 would touch elements 0..=3"), "{refused}");
}
