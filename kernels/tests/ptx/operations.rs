//! Every operation, constant and argument of every type, on values that have broken something.

use partita_kernels::ptx::{PtxTarget, emit};
use partita_kernels::{
    BinaryOp, Builder, CompareOp, DType, Launch, Math1, Math2, Param, Scalar, UnaryOp, Verified,
};

use crate::agreement::{Arrays, Case, bytes, flat};
use crate::cases;
use crate::machine::{Setting, agree};

/// Pairs with each value: all of them would take the simulator minutes.
const PARTNERS: usize = 10;

/// Values every pair of which is worth trying: zeros, ones, extremes, infinities, NaN.
fn corners(d: DType) -> Vec<u64> {
    let values = [0.0, -0.0, 1.0, -1.0, 2.0, -2.5, 7.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-45];
    let width = 8 * d.size_bytes();
    let ends = [1 << (width - 1), (1 << (width - 1)) - 1, 1, u64::MAX >> (64 - width)];
    let values = values.into_iter().map(|v| Scalar::from_f64(d, v).bits);
    if d == DType::Bool { vec![0, 1] } else { values.chain(ends).collect() }
}

/// Operands of a pointwise kernel: every pair of corners, then each hard value with a few others.
fn operands(kernel: &Verified) -> (usize, Arrays) {
    let params = &kernel.kernel().params;
    let inputs = params.len() - 1;
    let columns: Vec<Vec<u64>> = (0..inputs)
        .map(|p| {
            let (d, seen) = (params[p].dtype, corners(params[p].dtype));
            let hard = cases::hard_bits(d, 24);
            let corner = |i: usize| match p {
                0 => seen[i % 16 % seen.len()],
                1 => seen[i / 16 % seen.len()],
                _ => seen[(i * 7 + i / 16) % seen.len()],
            };
            let other = |i: usize| match (p, inputs) {
                (0, 3) => hard[(i ^ (i / 7)) % hard.len()],
                (0, _) => hard[i % hard.len()],
                _ => hard[(i * (3 * p + 4) + i / hard.len() * 29) % hard.len()],
            };
            let rows = if inputs == 1 { 1 } else { PARTNERS };
            (0..256).map(corner).chain((0..rows * 300).map(other)).collect()
        })
        .collect();
    let n = columns[0].len();
    let mut arrays: Arrays = (0..inputs).map(|p| bytes(params[p].dtype, columns[p].clone())).collect();
    arrays.push(vec![0xa5; n * params[inputs].dtype.size_bytes()]);
    (n, arrays)
}

/// Every operation on every pair of corners and some hard values.
pub fn brief_cases() -> impl Iterator<Item = Case> {
    cases::operations().into_iter().map(|kernel| {
        let (n, arrays) = operands(&kernel);
        let (kept, params) = (n.min(600), &kernel.kernel().params);
        let brief = |(array, param): (&Vec<u8>, &Param)| array[..kept * param.dtype.size_bytes()].to_vec();
        let arrays = arrays.iter().zip(params).map(brief).collect();
        let launch = flat(&kernel, kept);
        (kernel, launch, arrays)
    })
}

fn check_operations(target: PtxTarget, wanted: impl Fn(&str) -> bool) -> usize {
    let mut ran = 0;
    let all: Vec<Verified> = cases::operations().into_iter().filter(|k| wanted(&k.kernel().name)).collect();
    let mut wrong = Vec::new();
    for kernel in &all {
        let (n, arrays) = operands(kernel);
        let setting = Setting { target, ..Setting::PLAIN };
        let launch = flat(kernel, n);
        let run = || agree(kernel, &launch, &arrays, setting);
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
            Ok(entries) => assert_eq!(entries, ["vector"]),
            Err(_) => wrong.push(kernel.kernel().name.clone()),
        }
        ran += 1;
    }
    assert!(wrong.is_empty(), "{} operations differ: {wrong:?}", wrong.len());
    ran
}

#[test]
fn every_operation_gives_the_interpreters_bits() {
    let ran = check_operations(PtxTarget { sm: 90 }, |_| true);
    assert!(ran >= 473, "{ran} operations");
    println!("ran: ptx-cases {ran}");
}

#[test]
fn bf16_is_rounded_by_integers_where_the_gpu_cannot() {
    let ran = check_operations(PtxTarget { sm: 75 }, |name| name.contains("bf16"));
    println!("ran: ptx-cases {ran}");
}

/// Between rounding by integers and adding natively, bf16 is added as a product with 1 and so on.
#[test]
fn bf16_is_added_by_fma_where_the_gpu_cannot_add() {
    let ran = check_operations(PtxTarget { sm: 80 }, |name| name.contains("bf16"));
    println!("ran: ptx-cases {ran}");
}

/// `+ - *` of narrow floats take two points at once, and nothing is widened; where the GPU cannot, it is.
#[test]
fn narrow_floats_are_added_in_pairs() {
    let cases = [
        (DType::F16, 75, "mul.rn.f16x2"),
        (DType::BF16, 75, "mul.rn.f32"),
        (DType::BF16, 80, "fma.rn.bf16x2"),
        (DType::BF16, 90, "mul.rn.bf16x2"),
    ];
    for (d, sm, expected) in cases {
        let mut k = Builder::new("square_less", 1);
        let (a, out) = (k.input(d), k.output(d));
        let a = k.load(a, &[0]);
        let square = k.binary(BinaryOp::Mul, a, a);
        let less = k.binary(BinaryOp::Sub, square, a);
        let kernel = k.elementwise(&[(out, less)]).unwrap();
        let module = emit(&kernel, &PtxTarget { sm }).unwrap();
        let text = module.whole_text();
        let whole = text.split("// a whole vector").nth(1).unwrap().split("PARTIAL:").next().unwrap();
        assert!(whole.contains(expected), "{d} {sm}: {whole}");
        assert_eq!(whole.contains("x2"), !whole.contains(".rn.f32"), "{d} {sm}: {whole}");
    }
}

/// A select whose one side is long: a thread takes it if one of its points needs it, whichever side it is.
#[test]
fn long_sides_of_selects_are_branches() {
    for d in [DType::F32, DType::F16, DType::I32] {
        for long_first in [true, false] {
            let mut k = Builder::new("long_side", 1);
            let (a, b, out, other) = (k.input(d), k.input(d), k.output(d), k.output(d));
            let (a, b) = (k.load(a, &[0]), k.load(b, &[0]));
            let long = (0..16).fold(a, |x, _| {
                let product = k.binary(BinaryOp::Mul, x, a);
                k.binary(BinaryOp::Add, product, b)
            });
            let twice = k.binary(BinaryOp::Add, long, long);
            let less = k.compare(CompareOp::Lt, a, b);
            let mut choose = |x, y| if long_first { k.select(less, x, y) } else { k.select(less, y, x) };
            let chosen = [choose(long, b), choose(twice, a)];
            let kernel = k.elementwise(&[(out, chosen[0]), (other, chosen[1])]).unwrap();
            let (n, arrays) = operands(&kernel);
            let module = emit(&kernel, &Setting::PLAIN.target).unwrap();
            assert!(module.whole_text().contains("what few points need"));
            assert_eq!(agree(&kernel, &flat(&kernel, n), &arrays, Setting::PLAIN), ["vector"]);
        }
    }
}

/// A narrow result is stored by its low bits, right or wrong; only what is done with it next shows whether
/// the register was wrapped or rounded.
#[test]
fn results_are_narrowed_before_they_are_used() {
    let narrow = DType::ALL.into_iter().filter(|d| d.size_bytes() < 4 && *d != DType::Bool);
    let mut ran = 0;
    for d in narrow {
        for op in cases::BINARY {
            let mut k = Builder::new(&format!("{op:?}_{d}_then_cast"), 1);
            let (a, b, out) = (k.input(d), k.input(d), k.output(DType::F64));
            let (a, b) = (k.load(a, &[0]), k.load(b, &[0]));
            let result = k.binary(op, a, b);
            let wide = k.cast(result, DType::F64);
            let Ok(kernel) = k.elementwise(&[(out, wide)]) else { continue };
            let (n, arrays) = operands(&kernel);
            agree(&kernel, &flat(&kernel, n), &arrays, Setting::PLAIN);
            ran += 1;
        }
        for op in [UnaryOp::Neg, UnaryOp::Abs, UnaryOp::Not, UnaryOp::Sqrt] {
            let mut k = Builder::new(&format!("{op:?}_{d}_then_cast"), 1);
            let (a, out) = (k.input(d), k.output(DType::F64));
            let a = k.load(a, &[0]);
            let result = k.unary(op, a);
            let wide = k.cast(result, DType::F64);
            let Ok(kernel) = k.elementwise(&[(out, wide)]) else { continue };
            let (n, arrays) = operands(&kernel);
            agree(&kernel, &flat(&kernel, n), &arrays, Setting::PLAIN);
            ran += 1;
        }
    }
    assert!(ran >= 60, "{ran}");
    println!("ran: ptx-cases {ran}");
}

#[test]
fn mathematical_functions_give_the_interpreters_bits() {
    const ONE: [Math1; 20] = [
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
    let mut ran = 0;
    for d in [DType::F32, DType::F64, DType::BF16] {
        let unary = ONE.map(|f| {
            let mut k = Builder::new(&format!("{f:?}_{d}"), 1);
            let (a, out) = (k.input(d), k.output(d));
            let a = k.load(a, &[0]);
            let value = k.math1(f, a);
            k.elementwise(&[(out, value)]).unwrap()
        });
        let binary = [Math2::Pow, Math2::Atan2, Math2::Hypot].map(|f| {
            let mut k = Builder::new(&format!("{f:?}_{d}"), 1);
            let (a, b, out) = (k.input(d), k.input(d), k.output(d));
            let (a, b) = (k.load(a, &[0]), k.load(b, &[0]));
            let value = k.math2(f, a, b);
            k.elementwise(&[(out, value)]).unwrap()
        });
        for kernel in unary.iter().chain(&binary) {
            let (n, arrays) = operands(kernel);
            agree(kernel, &flat(kernel, n), &arrays, Setting::PLAIN);
            ran += 1;
        }
    }
    println!("ran: ptx-cases {ran}");
}

#[test]
fn f64_is_rounded_once() {
    for (d, half) in [(DType::F16, 2f64.powi(-11)), (DType::BF16, 2f64.powi(-8))] {
        let mut k = Builder::new("once", 1);
        let (input, output) = (k.input(DType::F64), k.output(d));
        let value = k.load(input, &[0]);
        let value = k.cast(value, d);
        let kernel = k.elementwise(&[(output, value)]).unwrap();
        // Just beside the middle of two neighbours: rounding to f32 on the way would make them ties.
        let values = (0..16).flat_map(|n| {
            [-1.0, 0.0, 1.0].map(|side| (1.0 + f64::from(n) * half + side * 2f64.powi(-40)).to_bits())
        });
        let arrays = vec![bytes(DType::F64, values), vec![0; 48 * 2]];
        for target in [75, 80] {
            agree(
                &kernel,
                &flat(&kernel, 48),
                &arrays,
                Setting { target: PtxTarget { sm: target }, ..Setting::PLAIN },
            );
        }
    }
    println!("ran: ptx-cases 4");
}

/// Integers just beside the middle of two narrow floats: f32, on the way, makes them ties.
#[test]
fn integers_reach_narrow_floats_through_f32() {
    let mut ran = 0;
    for from in [DType::I32, DType::U32, DType::I64, DType::U64] {
        for (d, half) in [(DType::F16, 11), (DType::BF16, 8)] {
            let mut k = Builder::new("through", 1);
            let (input, output) = (k.input(from), k.output(d));
            let value = k.load(input, &[0]);
            let value = k.cast(value, d);
            let kernel = k.elementwise(&[(output, value)]).unwrap();
            let top = if d == DType::F16 { 15 } else { 30 };
            let middle = |n: u64| (1 << top) + (n << (top - half));
            let values = (0..16).map(middle).flat_map(|m| [m - 1, m, m + 1]);
            let arrays = vec![bytes(from, values), vec![0; 48 * 2]];
            agree(&kernel, &flat(&kernel, 48), &arrays, Setting::PLAIN);
            ran += 1;
        }
    }
    println!("ran: ptx-cases {ran}");
}

#[test]
fn constants_and_arguments_keep_their_bits() {
    let mut ran = 0;
    for d in DType::ALL {
        let scalars: Vec<Scalar> =
            cases::hard_bits(d, 3).into_iter().map(|bits| Scalar { dtype: d, bits }).collect();
        for (chunk, &argument) in scalars.chunks(24).zip(scalars.iter().rev()) {
            let kernel = cases::leaves(d, chunk).unwrap();
            for n in [1, 3, 40] {
                let launch = Launch { arguments: vec![argument], ..flat(&kernel, n) };
                let arrays = vec![vec![0; n * d.size_bytes()]; chunk.len() + 1];
                agree(&kernel, &launch, &arrays, Setting::PLAIN);
                ran += 1;
            }
        }
    }
    println!("ran: ptx-cases {ran}");
}
