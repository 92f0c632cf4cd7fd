//! The 64-bit functions against tests/data/f64_vectors.txt (exact values from multiple-precision arithmetic),
//! special cases, and equal bits from the compiled function and from its IR.
//!
//! `-- --nocapture` prints the largest error of each function; ACCURACY.md holds those of larger runs.

#[path = "agreement/host.rs"]
mod host;

use host::run_on_host;
use partita_kernels::cpu::Program;
use partita_kernels::math::{double as d, expand};
use partita_kernels::{Builder, DType, Launch, Math1, Math2, Op, Value, Verified, View};

/// A function of one operand: its IR name, code, and the largest error of 10^6 operands, rounded up.
struct Unary {
    math: Math1,
    name: &'static str,
    f: fn(f64) -> f64,
    most_ulp: f64,
}

macro_rules! unary {
    ($($math:ident $f:ident $most:literal;)*) => {
        [$(Unary { math: Math1::$math, name: stringify!($f), f: d::$f, most_ulp: $most }),*]
    };
}

const UNARY: [Unary; 20] = unary! {
    Exp exp 0.8;
    Expm1 expm1 1.2;
    Log log 0.9;
    Log1p log1p 0.9;
    Log2 log2 0.85;
    Log10 log10 0.75;
    Sin sin 0.9;
    Cos cos 0.9;
    Tan tan 1.1;
    Asin asin 1.15;
    Acos acos 1.1;
    Atan atan 1.05;
    Sinh sinh 1.4;
    Cosh cosh 1.4;
    Tanh tanh 1.4;
    Asinh asinh 1.3;
    Acosh acosh 0.9;
    Atanh atanh 1.4;
    Erf erf 1.45;
    Cbrt cbrt 0.51;
};

/// A function of two operands.
struct Binary {
    math: Math2,
    name: &'static str,
    f: fn(f64, f64) -> f64,
    most_ulp: f64,
}

macro_rules! binary {
    ($($math:ident $f:ident $most:literal;)*) => {
        [$(Binary { math: Math2::$math, name: stringify!($f), f: d::$f, most_ulp: $most }),*]
    };
}

const BINARY: [Binary; 3] = binary! {
    Pow pow 1.1;
    Atan2 atan2 1.55;
    Hypot hypot 1.2;
};

/// Operands, the correctly rounded result, and what the exact value exceeds it by, in ulp above the result.
#[derive(Clone, Copy)]
struct Vector {
    x: [f64; 2],
    result: f64,
    rest: f64,
}

/// The vectors of a function; data/f64_vectors.py describes the format.
fn vectors(name: &str) -> Vec<Vector> {
    let text = include_str!("data/f64_vectors.txt");
    let mut lines = text.lines().skip_while(|line| *line != name);
    assert!(lines.next().is_some(), "{name} has no vectors");
    let parse = |word: &str| u64::from_str_radix(word, 16).expect("the vectors are hexadecimal");
    let vector = |line: &str| {
        let words: Vec<u64> = line.split(' ').map(parse).collect();
        let [x @ .., result, rest] = words.as_slice() else { panic!("{line}: too short") };
        let number = |bits: &u64| f64::from_bits(*bits);
        let x = [number(&x[0]), x.last().map_or(0.0, number)];
        Vector { x, result: number(result), rest: (*rest as f64 - 32768.0) / 32768.0 }
    };
    lines.take_while(|line| line.contains(' ')).map(vector).collect()
}

/// |got - exact| in units of the distance of f64 neighbours at the exact value; infinite where NaN or the
/// sign (also of zero) is wrong. Infinity counts as 2^1024, except that it must be met where it is exact.
fn ulp_error(got: f64, result: f64, rest: f64) -> f64 {
    if got.is_nan() || result.is_nan() {
        return if got.is_nan() && result.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if got.is_sign_negative() != result.is_sign_negative() || result.is_infinite() && got.is_finite() {
        return f64::INFINITY;
    }
    if result.is_infinite() {
        return 0.0;
    }
    let exponent = ((result.to_bits() >> 52) as i32 & 0x7ff).max(1) - 1023;
    // Near the limit in halves, so that 2^1024 is a number.
    let halve = |x: f64| if x.is_infinite() { 2f64.powi(1023).copysign(x) } else { x / 2.0 };
    let (difference, scale) =
        if exponent > 1000 { (halve(got) - halve(result), 2.0) } else { (got - result, 1.0) };
    let steps = difference * 2f64.powi(-exponent / 2) * 2f64.powi(52 - exponent + exponent / 2) * scale;
    // Just below a power of 2 neighbours are closer.
    let below = result.to_bits() << 12 == 0 && rest * result < 0.0 && exponent > -1022;
    (steps - rest).abs() * if below { 2.0 } else { 1.0 }
}

/// Prints and checks the largest error of `f` over the vectors of `name`.
fn check_vectors(name: &str, f: impl Fn([f64; 2]) -> f64, most_ulp: f64) {
    let vectors = vectors(name);
    assert!(vectors.len() > 700, "{name} has only {} vectors", vectors.len());
    let error = |v: &Vector| ulp_error(f(v.x), v.result, v.rest);
    let worst = vectors.iter().max_by(|a, b| error(a).total_cmp(&error(b))).expect("there are vectors");
    let ([a, b], ulp, got) = (worst.x, error(worst), f(worst.x));
    println!("{name:6} {ulp:.3} ulp at {a:e} {b:e} ({:#x} {:#x})", a.to_bits(), b.to_bits());
    assert!(most_ulp <= 2.0 && ulp <= most_ulp, "{name}({a:e}, {b:e}) = {got:e}: {ulp} ulp");
}

#[test]
fn unary_functions_are_accurate() {
    for case in &UNARY {
        check_vectors(case.name, |x| (case.f)(x[0]), case.most_ulp);
    }
}

#[test]
fn binary_functions_are_accurate() {
    for case in &BINARY {
        check_vectors(case.name, |x| (case.f)(x[0], x[1]), case.most_ulp);
    }
}

#[test]
fn the_measure_of_errors_can_fail() {
    let most = f64::MAX;
    assert_eq!(ulp_error(1.0 + f64::EPSILON, 1.0, 0.0), 1.0);
    assert_eq!(ulp_error(1.0 + f64::EPSILON, 1.0, 0.25), 0.75);
    assert_eq!(ulp_error(1.0, 1.0, -0.125), 0.25);
    assert_eq!(ulp_error(-1.0 - f64::EPSILON, -1.0, 0.0), 1.0);
    assert_eq!(ulp_error(1e-323, 5e-324, -0.5), 1.5);
    assert_eq!(ulp_error(2.5e-308, 2.5e-308 + 1e-323, 0.0), 2.0);
    assert_eq!(ulp_error(f64::INFINITY, most, 0.0), 1.0);
    assert_eq!(ulp_error(most, f64::INFINITY, 0.0), f64::INFINITY);
    assert_eq!(ulp_error(f64::INFINITY, f64::INFINITY, 0.0), 0.0);
    assert_eq!(ulp_error(-0.0, 0.0, 0.0), f64::INFINITY);
    assert_eq!(ulp_error(f64::NAN, 1.0, 0.0), f64::INFINITY);
    assert_eq!(ulp_error(1.0, f64::NAN, 0.0), f64::INFINITY);
}

/// `f(x) = y` to the bit, except that NaN is any NaN.
fn check_exact(name: &str, f: fn(f64) -> f64, cases: &[(f64, f64)]) {
    for &(x, want) in cases {
        let got = f(x);
        let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
        assert!(same, "{name}({x:e}) = {got:e}, expected {want:e}");
    }
}

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
const TINY: f64 = 5e-324;
const MAX: f64 = f64::MAX;
const ABOVE_1: f64 = 1.0 + f64::EPSILON;

#[test]
fn odd_functions_keep_zeros_and_the_smallest_numbers() {
    let cases = [(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (-1e-310, -1e-310), (NAN, NAN), (-NAN, NAN)];
    check_exact("expm1", d::expm1, &cases);
    check_exact("log1p", d::log1p, &cases);
    check_exact("sin", d::sin, &cases);
    check_exact("tan", d::tan, &cases);
    check_exact("asin", d::asin, &cases);
    check_exact("atan", d::atan, &cases);
    check_exact("sinh", d::sinh, &cases);
    check_exact("tanh", d::tanh, &cases);
    check_exact("asinh", d::asinh, &cases);
    check_exact("atanh", d::atanh, &cases);
    check_exact("erf", d::erf, &[(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (-TINY, -TINY), (NAN, NAN)]);
    check_exact("cbrt", d::cbrt, &[(0.0, 0.0), (-0.0, -0.0), (8.0, 2.0), (-27.0, -3.0), (NAN, NAN)]);
    check_exact("cbrt", d::cbrt, &[(INF, INF), (-INF, -INF), (-f64::from_bits(8), -2f64.powi(-357))]);
}

#[test]
fn special_cases_of_exponentials() {
    check_exact("exp", d::exp, &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (MAX, INF)]);
    check_exact("exp", d::exp, &[(709.782_712_893_384_1, INF), (-745.14, 0.0), (-745.13, TINY), (-MAX, 0.0)]);
    check_exact("exp", d::exp, &[(1.0, std::f64::consts::E), (TINY, 1.0), (-TINY, 1.0)]);
    check_exact("expm1", d::expm1, &[(INF, INF), (-INF, -1.0), (-38.0, -1.0), (709.79, INF), (-MAX, -1.0)]);
    check_exact("sinh", d::sinh, &[(INF, INF), (-INF, -INF), (710.5, INF), (-MAX, -INF)]);
    check_exact("cosh", d::cosh, &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (NAN, NAN)]);
    check_exact("cosh", d::cosh, &[(710.5, INF), (-710.5, INF), (MAX, INF), (TINY, 1.0)]);
    check_exact("tanh", d::tanh, &[(INF, 1.0), (-INF, -1.0), (20.0, 1.0), (-MAX, -1.0)]);
    check_exact("erf", d::erf, &[(INF, 1.0), (-INF, -1.0), (6.0, 1.0), (-MAX, -1.0)]);
}

#[test]
fn special_cases_of_logarithms() {
    let cases = [(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (INF, INF), (-INF, NAN), (-TINY, NAN), (NAN, NAN)];
    check_exact("log", d::log, &cases);
    check_exact("log2", d::log2, &cases);
    check_exact("log10", d::log10, &cases);
    check_exact("log1p", d::log1p, &[(-1.0, -INF), (INF, INF), (-ABOVE_1, NAN), (-INF, NAN), (-MAX, NAN)]);
    check_exact("asinh", d::asinh, &[(INF, INF), (-INF, -INF)]);
    check_exact("acosh", d::acosh, &[(1.0, 0.0), (INF, INF), (1.0 - f64::EPSILON, NAN), (-1.0, NAN)]);
    check_exact("acosh", d::acosh, &[(NAN, NAN), (0.0, NAN), (-3.0, NAN), (-INF, NAN)]);
    check_exact("atanh", d::atanh, &[(1.0, INF), (-1.0, -INF), (ABOVE_1, NAN), (-INF, NAN), (INF, NAN)]);
}

#[test]
fn special_cases_of_angles() {
    use std::f64::consts::{FRAC_PI_2, PI};
    check_exact("sin", d::sin, &[(INF, NAN), (-INF, NAN), (PI, 1.224_646_799_147_353_2e-16)]);
    check_exact("cos", d::cos, &[(INF, NAN), (-INF, NAN), (NAN, NAN), (0.0, 1.0), (-0.0, 1.0), (TINY, 1.0)]);
    check_exact("tan", d::tan, &[(INF, NAN), (-INF, NAN)]);
    check_exact("asin", d::asin, &[(ABOVE_1, NAN), (-INF, NAN), (INF, NAN)]);
    check_exact("asin", d::asin, &[(1.0, FRAC_PI_2), (-1.0, -FRAC_PI_2)]);
    check_exact("acos", d::acos, &[(ABOVE_1, NAN), (-INF, NAN), (INF, NAN), (NAN, NAN)]);
    check_exact("acos", d::acos, &[(1.0, 0.0), (-1.0, PI), (0.0, FRAC_PI_2), (-0.0, FRAC_PI_2)]);
    check_exact("atan", d::atan, &[(INF, FRAC_PI_2), (-INF, -FRAC_PI_2), (MAX, FRAC_PI_2)]);
}

#[test]
fn exact_results_are_exact() {
    for n in -1074..=1023 {
        let power = 2f64.powi(n / 2) * 2f64.powi(n - n / 2);
        assert_eq!(d::log2(power), f64::from(n));
        assert_eq!(d::pow(2.0, f64::from(n)), power);
    }
    for n in 0..=22 {
        assert_eq!(d::log10(10f64.powi(n)), f64::from(n));
    }
    for a in 1..200u64 {
        assert_eq!(d::cbrt((a * a * a) as f64), a as f64);
        for b in 0..=53 {
            if let Some(power) = a.checked_pow(b).filter(|&power| power < 1 << 53) {
                assert_eq!(d::pow(a as f64, f64::from(b)), power as f64, "{a}^{b}");
            }
        }
    }
    assert_eq!(d::hypot(3e300, 4e300), 5e300);
    assert_eq!(d::hypot(3.0 * TINY, 4.0 * TINY), 5.0 * TINY);
}

/// Where the result is not a matter of accuracy but of definition (C99 Annex F), `std` follows that.
#[test]
fn special_cases_of_two_operands() {
    let mut values = vec![0.0, 1.0, 2.0, 2.5, 3.0, 0.5, INF, TINY, MAX, f64::MIN_POSITIVE, 1e200, 1e-200];
    values.extend([2f64.powi(53) - 1.0, 2f64.powi(53), 2f64.powi(52) - 0.5, 2f64.powi(52) + 1.0]);
    values.extend([1.0 - f64::EPSILON / 2.0, ABOVE_1]);
    values.extend(values.clone().iter().map(|x| -x));
    values.push(NAN);
    let references: [fn(f64, f64) -> f64; 3] = [f64::powf, f64::atan2, f64::hypot];
    for (case, reference) in BINARY.iter().zip(references) {
        for &a in &values {
            for &b in &values {
                let (got, want) = ((case.f)(a, b), reference(a, b));
                let error = ulp_error(got, want, 0.0);
                assert!(error <= 2.0, "{}({a:e}, {b:e}) = {got:e}, expected {want:e}", case.name);
            }
        }
    }
    assert_eq!(d::pow(NAN, 0.0), 1.0);
    assert_eq!(d::pow(1.0, NAN), 1.0);
    assert_eq!(d::hypot(INF, NAN), INF);
    assert_eq!(d::atan2(-0.0, -0.0), -std::f64::consts::PI);
}

/// Random bits by xorshift (Marsaglia 2003).
struct Random(u64);

impl Random {
    fn number(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        f64::from_bits(self.0)
    }
}

#[test]
fn small_angle_functions_are_the_full_ones() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let any = (0..400_000).map(|_| random.number());
    let known = vectors("cos").into_iter().map(|v| v.x[0]);
    let limits = [d::SMALL_ANGLE.next_down(), -d::SMALL_ANGLE.next_down(), INF, -INF, NAN, 0.0, -0.0];
    for x in any.chain(known).chain(limits).filter(|x| x.abs() < d::SMALL_ANGLE || !x.is_finite()) {
        assert_same_bits("sin", d::sin_small(x), d::sin(x), [x, x]);
        assert_same_bits("cos", d::cos_small(x), d::cos(x), [x, x]);
        assert_same_bits("tan", d::tan_small(x), d::tan(x), [x, x]);
    }
}

/// Runs a spelled-out elementwise kernel whose parameters are the columns and one output.
fn run(kernel: &Verified, columns: &mut [Vec<f64>]) -> Vec<f64> {
    let kernel = expand(kernel);
    let is_math = |op: &Op| matches!(op, Op::Math1(..) | Op::Math2(..));
    assert!(!kernel.kernel().body.iter().any(|inst| is_math(&inst.op)));
    let n = columns[0].len();
    let mut out = vec![0f64; n];
    let view = View { offset: 0, strides: vec![1] };
    let views = vec![view; columns.len() + 1];
    let launch = Launch { extents: vec![n], origin: vec![0], views, arguments: Vec::new() };
    let columns = columns.iter_mut().chain([&mut out]);
    run_on_host(
        &Program::compile(&kernel),
        &kernel,
        &launch,
        &mut columns.map(Vec::as_mut_slice).collect::<Vec<_>>(),
    );
    out
}

/// A kernel of one function, given its operands.
fn kernel_of(operands: usize, apply: impl FnOnce(&mut Builder, &[Value]) -> Value) -> Verified {
    let mut k = Builder::new("function", 1);
    let inputs: Vec<u32> = (0..operands).map(|_| k.input(DType::F64)).collect();
    let output = k.output(DType::F64);
    let loads: Vec<Value> = inputs.iter().map(|&input| k.load(input, &[0])).collect();
    let value = apply(&mut k, &loads);
    k.elementwise(&[(output, value)]).expect("a function of loads is a kernel")
}

#[track_caller]
fn assert_same_bits(name: &str, got: f64, want: f64, x: [f64; 2]) {
    let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
    assert!(same, "{name}({:e}, {:e}): {got:e} and {want:e}", x[0], x[1]);
}

/// Operands of a function's vectors, special values and random bits, as two columns.
fn operands(name: &str) -> [Vec<f64>; 2] {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let special = [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, TINY, -TINY, MAX, -MAX];
    let known = vectors(name).into_iter().map(|v| v.x);
    let pairs = special.into_iter().flat_map(|a| special.map(|b| [a, b]));
    let any = (0..20_000).map(|_| [random.number(), random.number()]);
    let (a, b) = known.chain(pairs).chain(any).map(|[a, b]| (a, b)).unzip();
    [a, b]
}

#[test]
fn ir_and_compiled_functions_give_the_same_bits() {
    for case in &UNARY {
        let kernel = kernel_of(1, |k, x| k.math1(case.math, x[0]));
        let mut columns = operands(case.name);
        let out = run(&kernel, &mut columns[..1]);
        for (&x, got) in columns[0].iter().zip(out) {
            assert_same_bits(case.name, got, (case.f)(x), [x, 0.0]);
        }
    }
    for case in &BINARY {
        let kernel = kernel_of(2, |k, x| k.math2(case.math, x[0], x[1]));
        let mut columns = operands(case.name);
        let out = run(&kernel, &mut columns);
        for ((&a, &b), got) in columns[0].iter().zip(&columns[1]).zip(out) {
            assert_same_bits(case.name, got, (case.f)(a, b), [a, b]);
        }
    }
}

/// Instructions of a spelled-out function, without its loads.
fn instructions(kernel: &Verified, operands: usize) -> usize {
    expand(kernel).kernel().body.len() - operands
}

#[test]
fn functions_stay_short() {
    for case in &UNARY {
        let count = instructions(&kernel_of(1, |k, x| k.math1(case.math, x[0])), 1);
        println!("{:6} {count} instructions", case.name);
        assert!(count <= 400, "{}: {count} instructions", case.name);
    }
    for case in &BINARY {
        let count = instructions(&kernel_of(2, |k, x| k.math2(case.math, x[0], x[1])), 2);
        println!("{:6} {count} instructions", case.name);
        assert!(count <= 400, "{}: {count} instructions", case.name);
    }
}
