//! The rules that the essay of `partita_kernels::ir` states, by the definition of the IR; constants, shorter
//! kernels and footprints.
#![allow(clippy::unwrap_used)]

use partita_kernels::interpret::operations::{binary, cast, compare, fma, unary};
use partita_kernels::verify::{CopiedParam, LoadSite};
use partita_kernels::{
    BinaryOp, Builder, CompareOp, DType, Fold, FoldOp, Launch, Scalar, UnaryOp, Value, View, interpret,
    simplify,
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

#[test]
fn integers_saturate_from_floats_and_wrap_from_integers() {
    assert_eq!(Scalar::from_f64(DType::I8, 300.0).to_i64(), 127);
    assert_eq!(Scalar::from_f64(DType::U8, -3.0).to_i64(), 0);
    assert_eq!(Scalar::from_i64(DType::U8, 257).to_i64(), 1);
    assert_eq!(Scalar::from_f64(DType::I32, f64::NAN).to_i64(), 0);
    assert_eq!(Scalar::from_f64(DType::U64, 1e30).bits, u64::MAX);
}

#[test]
fn integers_hold_whole_numbers_within_their_limits() {
    let held = |dtype, value| Scalar::try_from_f64(dtype, value).map(Scalar::to_i64);
    assert_eq!(held(DType::U8, 255.0), Some(255));
    assert_eq!(held(DType::U8, -0.0), Some(0));
    assert_eq!(held(DType::I64, -(2f64.powi(63))), Some(i64::MIN));
    assert_eq!(held(DType::Bool, 1.0), Some(1));
    let not = [(DType::U8, 256.0), (DType::U8, -1.0), (DType::I32, 0.5), (DType::I32, f64::NAN)];
    let large = [(DType::I64, 2f64.powi(63)), (DType::U64, 2f64.powi(64)), (DType::U64, f64::INFINITY)];
    for (dtype, value) in not.into_iter().chain(large).chain([(DType::Bool, 2.0)]) {
        assert_eq!(held(dtype, value), None, "{value} as {dtype}");
    }
    assert!(Scalar::try_from_f64(DType::F16, 1e30).is_some_and(|scalar| scalar.to_f64().is_infinite()));
}

#[test]
fn narrow_floats_are_rounded_once() {
    // Just above the middle of two neighbours: rounding to f32 first would make it a tie.
    let above = |ulp: f64| 1.0 + ulp / 2.0 + 2f64.powi(-40);
    assert_eq!(Scalar::from_f64(DType::BF16, above(2f64.powi(-7))).to_f64(), 1.0 + 2f64.powi(-7));
    assert_eq!(Scalar::from_f64(DType::F16, above(2f64.powi(-10))).to_f64(), 1.0 + 2f64.powi(-10));
    assert_eq!(Scalar::from_f64(DType::BF16, 1.0 + 2f64.powi(-8)).to_f64(), 1.0, "a tie goes to even");
}

#[test]
fn equality_is_by_bits() {
    assert_ne!(Scalar::from_f64(DType::F32, 0.0), Scalar::from_f64(DType::F32, -0.0));
    assert_eq!(Scalar::from_f64(DType::F64, f64::NAN), Scalar::from_f64(DType::F64, f64::NAN));
}

#[test]
fn neutral_elements_change_nothing() {
    assert_eq!(FoldOp::Min.neutral(DType::I8).to_i64(), 127);
    assert_eq!(FoldOp::Max.neutral(DType::U16).to_i64(), 0);
    assert_eq!(FoldOp::Max.neutral(DType::F16).to_f64(), f64::NEG_INFINITY);
    assert_eq!(FoldOp::All.neutral(DType::Bool).bits, 1);
    assert_eq!(Scalar::extreme(DType::I64, true).to_i64(), i64::MAX);
    assert_eq!(Scalar::extreme(DType::U64, true).bits, u64::MAX);
}

fn body_after(build: impl FnOnce(&mut Builder, Value) -> Value) -> usize {
    let mut k = Builder::new("t", 1);
    let (input, output) = (k.input(DType::F32), k.output(DType::F32));
    let x = k.load(input, &[0]);
    let y = build(&mut k, x);
    simplify(&k.elementwise(&[(output, y)]).unwrap()).kernel().body.len()
}

#[test]
fn identities_remove_instructions() {
    let one = |k: &mut Builder, x| {
        let one = k.float(DType::F32, 1.0);
        k.binary(BinaryOp::Mul, x, one)
    };
    assert_eq!(body_after(one), 1);
    assert_eq!(
        body_after(|k, x| {
            let n = k.unary(UnaryOp::Neg, x);
            k.unary(UnaryOp::Neg, n)
        }),
        1
    );
}

#[test]
fn what_would_change_bits_stays() {
    for (op, value) in [(BinaryOp::Add, 0.0), (BinaryOp::Mul, 0.0), (BinaryOp::Sub, -0.0)] {
        let kept = body_after(|k, x| {
            let c = k.float(DType::F32, value);
            k.binary(op, x, c)
        });
        assert_eq!(kept, 3, "{op:?} {value}");
    }
}

#[test]
fn a_stencil_has_rows_and_a_radius() {
    let mut k = Builder::new("stencil", 2);
    let (input, output) = (k.input(DType::F32), k.output(DType::F32));
    let sites = [[0, -1], [1, 0], [0, 2], [0, -1]];
    let loads = sites.map(|offsets| k.load(input, &offsets));
    let sum = loads.into_iter().reduce(|a, b| k.binary(BinaryOp::Add, a, b)).unwrap();
    let kernel = k.elementwise(&[(output, sum)]).unwrap();
    let footprint = kernel.footprint();
    assert_eq!(footprint.loads().len(), 3, "equal loads are one");
    let columns: Vec<_> = footprint.rows().iter().map(|row| (&row.offsets[..], &row.columns[..])).collect();
    assert_eq!(columns, [(&[0, 0][..], &[-1, 2][..]), (&[1, 0], &[0])]);
    assert_eq!(footprint.params()[0].radius.unwrap()[..2], [(0, 1), (-1, 2)]);
    assert!(footprint.is_loaded(input) && !footprint.is_loaded(output));
    assert!(footprint.params()[1].is_stored && !footprint.params()[0].is_stored);
    assert!(!footprint.is_pointwise() && footprint.reads_along(0) && footprint.copies().is_none());
    assert!(footprint.shares_along(1) && !footprint.shares_along(0));
}

#[test]
fn a_copy_names_both_ends() {
    let mut k = Builder::new("copy", 1);
    let (input, output) = (k.input(DType::F32), k.output(DType::F32));
    let value = k.load(input, &[3]);
    let kernel = k.elementwise(&[(output, value)]).unwrap();
    let copies = kernel.footprint().copies().unwrap();
    assert_eq!(copies, [CopiedParam { from: LoadSite { param: input, offsets: vec![3] }, to: output }]);
}
