//! The 32-bit functions against f64 references: accuracy over bit patterns on a stride (ignored: over all
//! of them), special cases, and equal bits from the compiled function and from its IR.
//!
//! The references are the standard library's f64 functions (`references_are_accurate` spot-checks them), a
//! series for erf. `-- --nocapture` prints the table that ACCURACY.md holds.

#[path = "agreement/host.rs"]
mod host;

use std::f64::consts::FRAC_2_SQRT_PI;

use host::run_on_host;
use partita_kernels::cpu::Program;
use partita_kernels::math::{expand, single as s};
use partita_kernels::{Builder, DType, Launch, Math1, Math2, Op, Scalar, Value, Verified, View};

/// A function of one operand: its IR name, code, f64 reference, and the error of the exhaustive sweep.
struct Unary {
    math: Math1,
    f: fn(f32) -> f32,
    reference: fn(f64) -> f64,
    most_ulp: f64,
}

macro_rules! unary {
    ($($math:ident $f:ident $reference:path, $most:literal;)*) => {
        [$(Unary { math: Math1::$math, f: s::$f, reference: $reference, most_ulp: $most }),*]
    };
}

const UNARY: [Unary; 20] = unary! {
    Exp exp f64::exp, 0.9887;
    Expm1 expm1 f64::exp_m1, 1.1007;
    Log log f64::ln, 0.9039;
    Log1p log1p f64::ln_1p, 1.1872;
    Log2 log2 f64::log2, 1.3596;
    Log10 log10 f64::log10, 1.3271;
    Sin sin f64::sin, 1.5487;
    Cos cos f64::cos, 1.5457;
    Tan tan f64::tan, 1.6212;
    Asin asin f64::asin, 1.1916;
    Acos acos f64::acos, 1.1532;
    Atan atan f64::atan, 1.5054;
    Sinh sinh f64::sinh, 1.3642;
    Cosh cosh f64::cosh, 1.5727;
    Tanh tanh f64::tanh, 1.3321;
    Asinh asinh f64::asinh, 1.3308;
    Acosh acosh f64::acosh, 1.8986;
    Atanh atanh f64::atanh, 1.4185;
    Erf erf erf, 1.4078;
    Cbrt cbrt f64::cbrt, 0.9654;
};

/// A function of two operands; the largest error is that of 10^9 random pairs.
struct Binary {
    math: Math2,
    f: fn(f32, f32) -> f32,
    reference: fn(f64, f64) -> f64,
    most_ulp: f64,
}

const BINARY: [Binary; 3] = [
    Binary { math: Math2::Pow, f: s::pow, reference: f64::powf, most_ulp: 1.2755 },
    Binary { math: Math2::Atan2, f: s::atan2, reference: f64::atan2, most_ulp: 1.5349 },
    Binary { math: Math2::Hypot, f: s::hypot, reference: f64::hypot, most_ulp: 1.2075 },
];

/// `2/sqrt(pi) e^(-x^2) sum 2^n x^(2n+1) / (1 3 5 ... (2n+1))`: all terms positive, so no cancellation.
fn erf(x: f64) -> f64 {
    let a = x.abs();
    if a.is_nan() || a > 5.5 {
        return if a.is_nan() { x } else { 1f64.copysign(x) };
    }
    let (mut term, mut sum, mut n) = (a, a, 1.0);
    while term > sum * 1e-18 {
        term *= a * a / (n + 0.5);
        sum += term;
        n += 1.0;
    }
    (sum * (-a * a).exp() * FRAC_2_SQRT_PI).copysign(x)
}

/// |got - exact| in units of the distance of f32 neighbours at `exact`; infinite where NaN, infinity or
/// the sign (also of zero) is wrong. Infinity stands for 2^128 where the exact value is below that.
fn ulp_error(got: f32, exact: f64) -> f64 {
    let limit = 2f64.powi(128);
    if got.is_nan() || exact.is_nan() {
        return if got.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let kind_differs = exact.abs() >= limit && got.is_finite() || exact == 0.0 && got != 0.0;
    if got.is_sign_negative() != exact.is_sign_negative() || kind_differs {
        return f64::INFINITY;
    }
    let (got, exact) = (f64::from(got.abs()).min(limit), exact.abs().min(limit));
    let exponent = ((exact.to_bits() >> 52) as i32 - 1023).clamp(-126, 127);
    (got - exact).abs() / 2f64.powi(exponent - 23)
}

/// The worst of a set: error and operands.
#[derive(Clone, Copy, Default)]
struct Worst {
    ulp: f64,
    at: (f32, f32),
}

impl Worst {
    fn see(&mut self, ulp: f64, at: (f32, f32)) {
        if ulp > self.ulp {
            *self = Worst { ulp, at };
        }
    }

    fn check(self, name: &str, most_ulp: f64) {
        let Worst { ulp, at: (a, b) } = self;
        println!("{name:6} {ulp:.4} ulp at {a:e} {b:e} ({:#x} {:#x})", a.to_bits(), b.to_bits());
        assert!(most_ulp <= 2.0 && ulp <= most_ulp, "{name}: {ulp} ulp at {a:e}, {b:e}; allowed {most_ulp}");
    }
}

fn sweep(case: &Unary, patterns: impl Iterator<Item = u32>) -> Worst {
    let mut worst = Worst::default();
    for x in patterns.map(f32::from_bits) {
        worst.see(ulp_error((case.f)(x), (case.reference)(f64::from(x))), (x, 0.0));
    }
    worst
}

/// Random numbers by xorshift (Marsaglia 2003).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32
    }

    /// Uniform in `low..high`.
    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * (self.bits() as f32 / 4294967296.0)
    }

    /// Pairs of four kinds in turn: any bits, similar magnitudes, everyday values, and (for pow) exponents
    /// that keep the result in range, for bases of any size or near 1.
    fn pair(&mut self, n: u64) -> (f32, f32) {
        let a = self.bits();
        match n % 5 {
            0 => (f32::from_bits(a), f32::from_bits(self.bits())),
            1 => {
                let near = a.wrapping_add((self.bits() >> 29) << 23).wrapping_sub(4 << 23);
                (f32::from_bits(a), f32::from_bits(near ^ (self.bits() & 0x807f_ffff)))
            }
            2 => (self.between(-2.0, 18.0), self.between(-30.0, 30.0)),
            kind => {
                let near_one = 0x3f80_0000 - (1 << 22) + (a >> (9 + a % 24).min(23));
                let base = f32::from_bits(if kind == 3 { a % 0x7f80_0000 } else { near_one });
                (base, self.between(-150.0, 128.0) / base.log2())
            }
        }
    }
}

fn sweep2(case: &Binary, seed: u64, pairs: u64) -> Worst {
    let mut random = Random(seed);
    let mut worst = Worst::default();
    for (a, b) in (0..pairs).map(|n| random.pair(n)) {
        worst.see(ulp_error((case.f)(a, b), (case.reference)(a.into(), b.into())), (a, b));
    }
    worst
}

/// About 2.8 million patterns: every exponent of both signs some 5500 times.
fn strided() -> impl Iterator<Item = u32> {
    (0..=u32::MAX).step_by(1511)
}

/// Neighbourhoods of the places where some function changes its formula or its result its kind.
fn hard_points() -> Vec<u32> {
    let mut centres = vec![0.0, 0.5, 0.6, 0.7, 0.84375, 1.0, 2.0, 3.95, 9.01, 10.0, 17.33, 4096.0, 2e-8];
    centres.extend([88.72284, 87.33655, 103.97208, 89.415_99, 3.4028235e38, 1.1754944e-38]);
    centres.extend([s::SMALL_ANGLE, 2048.0, std::f32::consts::FRAC_1_SQRT_2, std::f32::consts::SQRT_2 - 1.0]);
    let multiples = |unit: f64| (1..=256).map(move |k| (f64::from(k) * unit) as f32);
    centres.extend(multiples(std::f64::consts::FRAC_PI_4));
    centres.extend(multiples(std::f64::consts::LN_2 / 2.0));
    let around = |x: f32| (-300i32..=300).map(move |d| (x.to_bits() as i32 + d).max(0) as u32);
    centres.iter().flat_map(|&x| around(x)).flat_map(|bits| [bits, bits | 1 << 31]).collect()
}

#[test]
fn unary_functions_are_accurate() {
    for case in &UNARY {
        sweep(case, strided()).check(&format!("{:?}", case.math), case.most_ulp);
    }
}

#[test]
fn unary_functions_are_accurate_at_hard_points() {
    let points = hard_points();
    for case in &UNARY {
        sweep(case, points.iter().copied()).check(&format!("{:?}", case.math), case.most_ulp);
    }
}

#[test]
fn binary_functions_are_accurate() {
    for case in &BINARY {
        sweep2(case, 0x9e37_79b9_7f4a_7c15, 2_000_000).check(&format!("{:?}", case.math), case.most_ulp);
    }
}

/// Minutes per function in a release build.
#[test]
#[ignore = "all 2^32 operands of each function"]
fn exhaustive() {
    for case in &UNARY {
        let halves = [0..=i32::MAX as u32, 1 << 31..=u32::MAX];
        let worst = std::thread::scope(|scope| {
            let threads = halves.map(|half| scope.spawn(|| sweep(case, half)));
            let found = threads.map(|thread| thread.join().expect("the sweep does not panic"));
            if found[0].ulp > found[1].ulp { found[0] } else { found[1] }
        });
        worst.check(&format!("{:?}", case.math), case.most_ulp);
    }
}

#[test]
#[ignore = "10^9 random pairs of each function"]
fn many_pairs() {
    for case in &BINARY {
        let worst = std::thread::scope(|scope| {
            let threads = [1, 2].map(|seed| scope.spawn(move || sweep2(case, seed << 40 | 77, 500_000_000)));
            let found = threads.map(|thread| thread.join().expect("the sweep does not panic"));
            if found[0].ulp > found[1].ulp { found[0] } else { found[1] }
        });
        worst.check(&format!("{:?}", case.math), case.most_ulp);
    }
}

#[test]
fn the_measure_of_errors_can_fail() {
    assert_eq!(ulp_error(1.0 + f32::EPSILON, 1.0), 1.0);
    assert_eq!(ulp_error(1e-45, 0.0), f64::INFINITY);
    assert_eq!(ulp_error(-0.0, 0.0), f64::INFINITY);
    assert_eq!(ulp_error(f32::NAN, 1.0), f64::INFINITY);
    assert_eq!(ulp_error(1.0, f64::NAN), f64::INFINITY);
    assert_eq!(ulp_error(f32::MAX, f64::INFINITY), f64::INFINITY);
    assert_eq!(ulp_error(f32::INFINITY, f64::from(f32::MAX)), 1.0);
    assert_eq!(ulp_error(f32::INFINITY, 1e300), 0.0);
    assert_eq!(ulp_error(f32::from_bits(3), f64::from(f32::from_bits(1))), 2.0);
}

/// Exact values by a computation in 60 digits: the references are not what limits the measurement.
#[test]
fn references_are_accurate() {
    let spots: [[(f32, f64); 2]; 20] = [
        [(-5.853371, 0.002_870_206_951_306_700_3), (88.5, 2.723_087_825_068_111_6e38)],
        [(1e-5, 1.000_004_974_754_289_2e-5), (-0.7, -0.503_414_690_288_832_3)],
        [(0.99, -0.010_050_326_220_427_584), (3e-41, -93.307_363_230_085_13)],
        [(1e-6, 9.999_994_974_755_786e-7), (-0.999, -6.907_768_153_668_287)],
        [(0.7, -0.514_573_197_398_708_6), (1e30, 99.657_842_868_329_78)],
        [(1.01, 0.004_321_369_681_895_098), (5e-39, -38.301_030_023_873_3)],
        [(std::f32::consts::PI, -8.742_278_000_372_475e-8), (1e38, 0.989_164_459_960_708_3)],
        [(1.5707964, -4.371_139_000_186_241e-8), (2.5e20, -0.218_113_876_993_684_43)],
        [(10.495217, 1.828_935_696_605_797_2), (3e33, 1.400_671_350_199_451_7)],
        [(0.51, 0.535_184_779_188_612), (-0.9999, -1.556_652_899_968_457_6)],
        [(0.9999, 0.014_143_426_826_438_997), (-0.3, 1.875_488_993_306_823_2)],
        [(1.0031368, 0.786_964_083_180_881), (-0.001, -0.000_999_999_714_164_270_4)],
        [(0.7, 0.758_583_686_876_753), (-80.0, -2.770_311_192_196_755e34)],
        [(8.3, 2_011.936_704_915_956_8), (0.01, 1.000_050_000_414_432_8)],
        [(0.64, 0.564_899_543_106_036_9), (-5.0, -0.999_909_204_262_595_1)],
        [(1e-4, 9.999_999_730_712_087e-5), (1e30, 69.770_699_985_428_78)],
        [(1.0000001, 0.000_488_281_245_149_361_7), (1e20, 46.744_849_060_481_736)],
        [(0.99999, 6.102_355_263_896_339), (-0.01, -0.010_000_333_129_794_99)],
        [(0.85, 0.770_668_070_670_584_2), (-3.5, -0.999_999_256_901_627_7)],
        [(2.0, 1.259_921_049_894_873_2), (-1e-40, -4.641_580_494_382_334e-14)],
    ];
    for (case, spots) in UNARY.iter().zip(spots) {
        for (x, exact) in spots {
            let error = (case.reference)(f64::from(x)) / exact - 1.0;
            assert!(error.abs() < 1e-12, "{:?}({x:e}): relative error {error:e}", case.math);
        }
    }
}

/// `f(x) = y` to the bit, except that NaN is any NaN.
fn check_exact(name: &str, f: fn(f32) -> f32, cases: &[(f32, f32)]) {
    for &(x, want) in cases {
        let got = f(x);
        let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
        assert!(same, "{name}({x:e}) = {got:e}, expected {want:e}");
    }
}

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;
const TINY: f32 = 1e-45;

#[test]
fn odd_functions_keep_zeros_and_the_smallest_numbers() {
    let cases = [(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (-TINY, -TINY), (NAN, NAN), (-NAN, NAN)];
    check_exact("expm1", s::expm1, &cases);
    check_exact("log1p", s::log1p, &cases);
    check_exact("sin", s::sin, &cases);
    check_exact("tan", s::tan, &cases);
    check_exact("asin", s::asin, &cases);
    check_exact("atan", s::atan, &cases);
    check_exact("sinh", s::sinh, &cases);
    check_exact("tanh", s::tanh, &cases);
    check_exact("asinh", s::asinh, &cases);
    check_exact("atanh", s::atanh, &cases);
    check_exact("erf", s::erf, &[(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (NAN, NAN)]);
    check_exact("cbrt", s::cbrt, &[(0.0, 0.0), (-0.0, -0.0), (8.0, 2.0), (-27.0, -3.0), (NAN, NAN)]);
}

#[test]
fn special_cases_of_exponentials() {
    check_exact("exp", s::exp, &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN)]);
    check_exact("exp", s::exp, &[(88.722_84, INF), (-103.98, 0.0), (-103.9, TINY), (f32::MAX, INF)]);
    check_exact("expm1", s::expm1, &[(INF, INF), (-INF, -1.0), (-20.0, -1.0), (89.0, INF)]);
    check_exact("sinh", s::sinh, &[(INF, INF), (-INF, -INF), (89.5, INF), (-f32::MAX, -INF)]);
    check_exact("cosh", s::cosh, &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (NAN, NAN)]);
    check_exact("tanh", s::tanh, &[(INF, 1.0), (-INF, -1.0), (10.0, 1.0), (-f32::MAX, -1.0)]);
    check_exact("erf", s::erf, &[(INF, 1.0), (-INF, -1.0), (4.0, 1.0), (-f32::MAX, -1.0)]);
}

#[test]
fn special_cases_of_logarithms() {
    let cases = [(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (INF, INF), (-INF, NAN), (-TINY, NAN), (NAN, NAN)];
    check_exact("log", s::log, &cases);
    check_exact("log2", s::log2, &cases);
    check_exact("log10", s::log10, &cases);
    check_exact("log1p", s::log1p, &[(-1.0, -INF), (INF, INF), (-1.000_000_1, NAN), (-INF, NAN)]);
    check_exact("asinh", s::asinh, &[(INF, INF), (-INF, -INF)]);
    check_exact("acosh", s::acosh, &[(1.0, 0.0), (INF, INF), (0.999_999_94, NAN), (-1.0, NAN), (-INF, NAN)]);
    check_exact("acosh", s::acosh, &[(NAN, NAN), (0.0, NAN), (-3.0, NAN)]);
    check_exact("atanh", s::atanh, &[(1.0, INF), (-1.0, -INF), (1.000_000_1, NAN), (-INF, NAN), (INF, NAN)]);
}

#[test]
fn special_cases_of_angles() {
    check_exact("sin", s::sin, &[(INF, NAN), (-INF, NAN)]);
    check_exact("cos", s::cos, &[(INF, NAN), (-INF, NAN), (NAN, NAN), (0.0, 1.0), (-0.0, 1.0), (TINY, 1.0)]);
    check_exact("tan", s::tan, &[(INF, NAN), (-INF, NAN)]);
    check_exact("asin", s::asin, &[(1.000_000_1, NAN), (-INF, NAN), (INF, NAN)]);
    check_exact("acos", s::acos, &[(1.0, 0.0), (1.000_000_1, NAN), (-INF, NAN), (INF, NAN), (NAN, NAN)]);
    let half_pi = std::f32::consts::FRAC_PI_2;
    check_exact("atan", s::atan, &[(INF, half_pi), (-INF, -half_pi), (f32::MAX, half_pi)]);
    check_exact("asin", s::asin, &[(1.0, half_pi), (-1.0, -half_pi)]);
}

#[test]
fn exact_results_are_exact() {
    for n in -149..=127 {
        assert_eq!(s::log2(2f64.powi(n) as f32), n as f32);
        assert_eq!(s::pow(2.0, n as f32), 2f64.powi(n) as f32);
    }
    for n in 0..=10 {
        assert_eq!(s::log10(10f32.powi(n)), n as f32);
        assert_eq!(s::pow(10.0, n as f32), 10f32.powi(n));
    }
    assert_eq!(s::hypot(3e30, 4e30), 5e30);
    assert_eq!(s::hypot(3.0 * TINY, 4.0 * TINY), 5.0 * TINY);
}

/// All pairs of remarkable operands. The f64 functions follow C99 Annex F, which is the rule here.
#[test]
fn special_cases_of_two_operands() {
    let mut values = vec![0.0, 1.0, 2.0, 2.5, 3.0, 0.5, INF, TINY, f32::MAX, f32::MIN_POSITIVE, 1e30, 1e-30];
    values.extend([16777215.0, 16777216.0, 8388607.5, 8388609.0, 0.999_999_94, 1.000_000_1]);
    values.extend(values.clone().iter().map(|x| -x));
    values.push(NAN);
    for case in &BINARY {
        for &a in &values {
            for &b in &values {
                let (got, exact) = ((case.f)(a, b), (case.reference)(a.into(), b.into()));
                let error = ulp_error(got, exact);
                assert!(error <= case.most_ulp, "{:?}({a:e}, {b:e}) = {got:e}, exact {exact:e}", case.math);
            }
        }
    }
    assert_eq!(s::pow(NAN, 0.0), 1.0);
    assert_eq!(s::pow(1.0, NAN), 1.0);
    assert_eq!(s::hypot(INF, NAN), INF);
    assert_eq!(s::atan2(-0.0, -0.0), -std::f32::consts::PI);
}

#[test]
fn bounded_functions_stay_within_one() {
    for x in strided().chain(hard_points()).map(f32::from_bits).filter(|x| x.is_finite()) {
        for f in [s::sin::<f32>, s::cos, s::tanh, s::erf] {
            assert!(f(x).abs() <= 1.0, "{x:e}");
        }
    }
}

#[test]
fn small_angle_functions_are_the_full_ones() {
    for x in strided().map(f32::from_bits).filter(|x| x.abs() < s::SMALL_ANGLE) {
        assert_eq!(s::sin_small(x).to_bits(), s::sin(x).to_bits(), "sin {x:e}");
        assert_eq!(s::cos_small(x).to_bits(), s::cos(x).to_bits(), "cos {x:e}");
        assert_eq!(s::tan_small(x).to_bits(), s::tan(x).to_bits(), "tan {x:e}");
    }
}

/// Runs a spelled-out elementwise kernel whose parameters are the columns and one output.
fn run(kernel: &Verified, columns: &mut [Vec<f32>]) -> Vec<f32> {
    let kernel = expand(kernel);
    let is_math = |op: &Op| matches!(op, Op::Math1(..) | Op::Math2(..));
    assert!(!kernel.kernel().body.iter().any(|inst| is_math(&inst.op)));
    let n = columns[0].len();
    let mut out = vec![0f32; n];
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
    let inputs: Vec<u32> = (0..operands).map(|_| k.input(DType::F32)).collect();
    let output = k.output(DType::F32);
    let loads: Vec<Value> = inputs.iter().map(|&input| k.load(input, &[0])).collect();
    let value = apply(&mut k, &loads);
    k.elementwise(&[(output, value)]).expect("a function of loads is a kernel")
}

#[track_caller]
fn assert_same_bits(name: &str, got: f32, want: f32, a: f32, b: f32) {
    let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
    assert!(same, "{name}({a:e}, {b:e}): IR {got:e}, compiled {want:e}");
}

#[test]
fn ir_and_compiled_functions_give_the_same_bits() {
    let hard = hard_points();
    let x: Vec<f32> = (0..=u32::MAX).step_by(20011).chain(hard).map(f32::from_bits).collect();
    for case in &UNARY {
        let kernel = kernel_of(1, |k, x| k.math1(case.math, x[0]));
        for (&x, got) in x.iter().zip(run(&kernel, &mut [x.clone()])) {
            assert_same_bits(&format!("{:?}", case.math), got, (case.f)(x), x, 0.0);
        }
    }
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (a, b): (Vec<f32>, Vec<f32>) = (0..200_000).map(|n| random.pair(n)).unzip();
    for case in &BINARY {
        let kernel = kernel_of(2, |k, x| k.math2(case.math, x[0], x[1]));
        for ((&a, &b), got) in a.iter().zip(&b).zip(run(&kernel, &mut [a.clone(), b.clone()])) {
            assert_same_bits(&format!("{:?}", case.math), got, (case.f)(a, b), a, b);
        }
    }
}

/// Of f16 and bf16 all operands can be tried: the short forms round to the bits of the others.
#[test]
fn functions_of_16_bits_give_the_same_bits_with_fused_multiply_add() {
    type Pair = (&'static str, fn(f32) -> f32, fn(f32, bool) -> f32);
    let functions: [Pair; 3] =
        [("exp", s::exp, s::exp_narrow), ("sin", s::sin, s::sin_narrow), ("cos", s::cos, s::cos_narrow)];
    for (dtype, (name, whole, narrow)) in
        [DType::F16, DType::BF16].iter().flat_map(|d| functions.map(|f| (*d, f)))
    {
        let rounded = |x: f32| Scalar::from_f64(dtype, x.into());
        for bits in 0..=u64::from(u16::MAX) {
            let x = Scalar { dtype, bits }.to_f64() as f32;
            let [expected, given] = [rounded(whole(x)), rounded(narrow(x, dtype == DType::F16))];
            let same =
                expected.bits == given.bits || whole(x).is_nan() && narrow(x, dtype == DType::F16).is_nan();
            assert!(same, "{dtype} {name}({x:e}): expected {expected:?}, given {given:?}");
        }
    }
}
