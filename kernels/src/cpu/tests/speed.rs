//! Timings, printed, for a person to read:
//! `cargo test --release -p partita-kernels -- --ignored --nocapture speed`.

use std::time::{Duration, Instant};

use memmap2::MmapMut;

use super::super::instructions::Instructions;
use super::super::launch::Tuning;
use super::super::{Memory, Program};
use super::{dense, launch};
use crate::build::Builder;
use crate::dtype::DType;
use crate::ir::{BinaryOp, Fold, FoldOp, Launch, Math1, UnaryOp, Value, View};
use crate::verify::Verified;

const F32: DType = DType::F32;

/// A kernel, its launch, the elements of each parameter, and the bytes it must move.
struct Work {
    name: &'static str,
    kernel: Verified,
    launch: Launch,
    lens: Vec<usize>,
    bytes: usize,
}

fn fused8(k: &mut Builder, a: Value, b: Value) -> Value {
    let (aa, bb) = (k.binary(BinaryOp::Mul, a, a), k.binary(BinaryOp::Mul, b, b));
    let sum = k.binary(BinaryOp::Add, aa, bb);
    let root = k.unary(UnaryOp::Sqrt, sum);
    let difference = k.binary(BinaryOp::Sub, a, b);
    let product = k.binary(BinaryOp::Mul, root, difference);
    let quotient = k.binary(BinaryOp::Div, a, b);
    k.binary(BinaryOp::Add, product, quotient)
}

/// `exp(a) sin(b)`, or of one input.
fn exp_sin(k: &mut Builder, inputs: &[Value]) -> Value {
    let (e, s) = (k.math1(Math1::Exp, inputs[0]), k.math1(Math1::Sin, inputs[inputs.len() - 1]));
    k.binary(BinaryOp::Mul, e, s)
}

fn pointwise(
    name: &'static str,
    n: usize,
    inputs: usize,
    f: impl Fn(&mut Builder, &[Value]) -> Value,
) -> Work {
    let mut k = Builder::new(name, 1);
    let params: Vec<u32> = (0..inputs).map(|_| k.input(F32)).collect();
    let args: Vec<Value> = params.iter().map(|&p| k.load(p, &[0])).collect();
    let result = f(&mut k, &args);
    let output = k.output(F32);
    let kernel = k.elementwise(&[(output, result)]).expect("a valid kernel");
    let launch = launch(&[n], vec![dense(&[n]); inputs + 1]);
    Work { name, kernel, launch, lens: vec![n; inputs + 1], bytes: 4 * n * (inputs + 1) }
}

/// The point and its neighbours at these offsets, each with its factor, over the inside of a box.
fn stencil(name: &'static str, extents: &[usize], offsets: &[Vec<i32>]) -> Work {
    let rank = extents.len();
    let mut k = Builder::new(name, rank);
    let (input, output) = (k.input(F32), k.output(F32));
    let center = k.load(input, &vec![0; rank]);
    let loads: Vec<Value> = offsets.iter().map(|offsets| k.load(input, offsets)).collect();
    let sum = loads.into_iter().reduce(|a, b| k.binary(BinaryOp::Add, a, b)).expect("some neighbours");
    let count = k.float(F32, offsets.len() as f64);
    let scaled = k.binary(BinaryOp::Mul, count, center);
    let laplacian = k.binary(BinaryOp::Sub, sum, scaled);
    let tenth = k.float(F32, 0.1);
    let step = k.binary(BinaryOp::Mul, tenth, laplacian);
    let result = k.binary(BinaryOp::Add, center, step);
    let kernel = k.elementwise(&[(output, result)]).expect("a valid kernel");
    let strides = dense(extents).strides;
    let offset = strides.iter().sum();
    let view = View { offset, strides };
    let inside: Vec<usize> = extents.iter().map(|n| n - 2).collect();
    let launch = launch(&inside, vec![view.clone(), view]);
    let lens = vec![extents.iter().product(); 2];
    Work { name, kernel, launch, lens, bytes: 8 * inside.iter().product::<usize>() }
}

/// The neighbours of a point: at most `apart` coordinates differ.
fn neighbours(rank: usize, apart: usize) -> Vec<Vec<i32>> {
    let all = (0..3usize.pow(rank as u32)).map(|at| {
        (0..rank).map(|k| (at / 3usize.pow((rank - 1 - k) as u32) % 3) as i32 - 1).collect::<Vec<i32>>()
    });
    all.filter(|o| (1..=apart).contains(&o.iter().filter(|&&d| d != 0).count())).collect()
}

/// The fold of a function of some inputs.
fn fold(
    name: &'static str,
    op: FoldOp,
    n: usize,
    inputs: usize,
    f: impl Fn(&mut Builder, &[Value]) -> Value,
) -> Work {
    let mut k = Builder::new("fold", 1);
    let params: Vec<u32> = (0..inputs).map(|_| k.input(F32)).collect();
    let args: Vec<Value> = params.iter().map(|&p| k.load(p, &[0])).collect();
    let value = f(&mut k, &args);
    let output = k.output(F32);
    let kernel = k.reduce(&[true], &[Fold::Value { op, value, output }]).expect("a valid kernel");
    let mut views = vec![dense(&[n]); inputs];
    views.push(View { offset: 0, strides: vec![0] });
    let lens = [vec![n; inputs], vec![1]].concat();
    Work { name, kernel, launch: launch(&[n], views), lens, bytes: 4 * n * inputs }
}

/// The sum of every row.
fn rows(name: &'static str, extents: [usize; 2]) -> Work {
    let mut k = Builder::new("rows", 2);
    let (input, output) = (k.input(F32), k.output(F32));
    let value = k.load(input, &[0, 0]);
    let sum = Fold::Value { op: FoldOp::Sum, value, output };
    let kernel = k.reduce(&[false, true], &[sum]).expect("a valid kernel");
    let views = vec![dense(&extents), View { offset: 0, strides: vec![1, 0] }];
    let points = extents.iter().product();
    let lens = vec![points, extents[0]];
    Work { name, kernel, launch: launch(&extents, views), lens, bytes: 4 * points }
}

/// A kernel over memory seen in steps, backwards or transposed: 2^24 points of a square, or of a line.
fn seen(
    name: &'static str,
    square: bool,
    strides: &[&[i64]],
    stores: usize,
    f: impl Fn(&mut Builder, &[Value]) -> Value,
) -> Work {
    let extents = if square { vec![4096, 4096] } else { vec![1 << 24] };
    let mut k = Builder::new("seen", extents.len());
    let here = vec![0; extents.len()];
    let inputs = strides.len() - stores;
    let params: Vec<u32> = (0..inputs).map(|_| k.input(F32)).collect();
    let args: Vec<Value> = params.iter().map(|&p| k.load(p, &here)).collect();
    let result = f(&mut k, &args);
    let stores: Vec<(u32, Value)> = (0..stores).map(|_| (k.output(F32), result)).collect();
    let kernel = k.elementwise(&stores).expect("a valid kernel");
    let n: usize = extents.iter().product();
    let view = |strides: &&[i64]| {
        let offset = if strides[0] < 0 { n as i64 - 1 } else { 0 };
        View { offset, strides: strides.to_vec() }
    };
    let launch = launch(&extents, strides.iter().map(view).collect());
    let lens = strides.iter().map(|s| n * if square { 1 } else { s[0].unsigned_abs() as usize }).collect();
    Work { name, kernel, launch, lens, bytes: 4 * n * strides.len() }
}

fn works() -> Vec<Work> {
    let n = 1 << 26;
    let scaled = |k: &mut Builder, a: &[Value]| {
        let scale = k.float(F32, 1.5);
        k.binary(BinaryOp::Mul, scale, a[0])
    };
    let added = |k: &mut Builder, a: &[Value]| k.binary(BinaryOp::Add, a[0], a[1]);
    let (wide, high): (&[i64], &[i64]) = (&[4096, 1], &[1, 4096]);
    vec![
        seen("seen 1.5 a[::2]", false, &[&[2], &[1]], 1, scaled),
        seen("seen c[::2] = 1.5 a[::2]", false, &[&[2], &[2]], 1, scaled),
        seen("seen a[::2] + c[::2]", false, &[&[2], &[2], &[1]], 1, added),
        seen("seen a[::2] copied", false, &[&[2], &[1]], 1, |_, a| a[0]),
        seen("seen c[::2] = a", false, &[&[1], &[2]], 1, |_, a| a[0]),
        seen("seen a[::3] copied", false, &[&[3], &[1]], 1, |_, a| a[0]),
        seen("seen a[::-1] copied", false, &[&[-1], &[1]], 1, |_, a| a[0]),
        seen("seen a.T copied", true, &[high, wide], 1, |_, a| a[0]),
        seen("seen a.T + b", true, &[high, wide, wide], 1, added),
        seen("seen a + b, and turned", true, &[wide, wide, wide, high], 2, added),
        pointwise("copy", n, 1, |_, a| a[0]),
        pointwise("triad", n, 2, |k, a| {
            let scale = k.float(F32, 3.0);
            let scaled = k.binary(BinaryOp::Mul, scale, a[1]);
            k.binary(BinaryOp::Add, a[0], scaled)
        }),
        pointwise("fused8", n, 2, |k, a| fused8(k, a[0], a[1])),
        pointwise("exp*sin", n, 1, exp_sin),
        pointwise("exp*sin of two", n, 2, exp_sin),
        pointwise("exp*sin in L2", 1 << 16, 1, exp_sin),
        pointwise("exp*sin of two in L2", 1 << 16, 2, exp_sin),
        stencil("5 points", &[8192; 2], &neighbours(2, 1)),
        stencil("9 points", &[8192; 2], &neighbours(2, 2)),
        stencil("7 points", &[512; 3], &neighbours(3, 1)),
        stencil("27 points", &[512; 3], &neighbours(3, 3)),
        stencil("5 points, short rows", &[1 << 19, 127], &neighbours(2, 1)),
        stencil("7 points, short rows", &[2560, 160, 160], &neighbours(3, 1)),
        stencil("27 points, short rows", &[2560, 160, 160], &neighbours(3, 3)),
        stencil("5 points, rows of 2039", &[32749, 2039], &neighbours(2, 1)),
        stencil("7 points in L1 and L2", &[6, 18, 512], &neighbours(3, 1)),
        stencil("7 points in L2", &[6, 66, 512], &neighbours(3, 1)),
        stencil("27 points in L2", &[6, 66, 512], &neighbours(3, 3)),
        stencil("9 points in L2", &[66, 2048], &neighbours(2, 2)),
        fold("sum", FoldOp::Sum, n, 1, |_, a| a[0]),
        fold("sum in L2", FoldOp::Sum, 1 << 17, 1, |_, a| a[0]),
        fold("sum in L1", FoldOp::Sum, 1 << 12, 1, |_, a| a[0]),
        fold("largest", FoldOp::Max, n, 1, |_, a| a[0]),
        fold("largest in L2", FoldOp::Max, 1 << 17, 1, |_, a| a[0]),
        rows("sums of rows", [1 << 15, 2048]),
        rows("sums of rows in L2", [1 << 6, 2048]),
        rows("sums of short rows in L2", [1 << 10, 128]),
        fold("sum of squares", FoldOp::Sum, n, 1, |k, a| k.binary(BinaryOp::Mul, a[0], a[0])),
        fold("sum of squares in L2", FoldOp::Sum, 1 << 17, 1, |k, a| k.binary(BinaryOp::Mul, a[0], a[0])),
        fold("sum of exp", FoldOp::Sum, n, 1, |k, a| k.math1(Math1::Exp, a[0])),
        fold("sum of exp in L2", FoldOp::Sum, 1 << 16, 1, |k, a| k.math1(Math1::Exp, a[0])),
        fold("sum of products", FoldOp::Sum, n, 2, |k, a| k.binary(BinaryOp::Mul, a[0], a[1])),
    ]
}

/// Lowest and median seconds of `repeats` runs.
fn time(
    program: &Program,
    work: &Work,
    buffers: &mut [MmapMut],
    threads: usize,
    repeats: usize,
) -> (f64, f64) {
    let memory: Vec<Memory> = (buffers.iter_mut().zip(&work.lens).enumerate())
        // Like the engine's memory: no two blocks begin at the same offset in a page.
        .map(|(n, (b, &len))| Memory { ptr: b.as_mut_ptr().wrapping_add(n * 21 * 256), len })
        .collect();
    let mut seconds: Vec<f64> = (0..repeats)
        .map(|_| {
            let start = Instant::now();
            // SAFETY: the buffers are ours, apart, and long enough.
            unsafe { program.run(&work.launch, &memory, threads) }.expect("the launch fits");
            start.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    (seconds[0], seconds[repeats / 2])
}

/// Floats in large pages.
fn large_pages(floats: usize, value: f32) -> MmapMut {
    let mut map = MmapMut::map_anon(4 * floats).expect("memory");
    #[cfg(target_os = "linux")]
    map.advise(memmap2::Advice::HugePage).expect("advice");
    map.chunks_exact_mut(4).for_each(|bytes| bytes.copy_from_slice(&value.to_le_bytes()));
    map
}

/// Compiled loops and machine code in turn. `PARTITA_SPEED=NAME` measures one kernel.
#[test]
#[ignore = "a timing, not a check"]
fn speed() {
    let sizes = [1 << 27, 1 << 27, 1 << 26, 1 << 24];
    let mut buffers = sizes.map(|floats| large_pages(floats + (1 << 14), 1.5));
    let only = std::env::var("PARTITA_SPEED").unwrap_or_default();
    for work in works().into_iter().filter(|work| work.name.contains(&only)) {
        let variants = [
            ("loops", Instructions::loops(), Tuning::DEFAULT),
            ("code", Instructions::best(), Tuning::DEFAULT),
            ("in place", Instructions::best(), Tuning { packed_points: usize::MAX, ..Tuning::DEFAULT }),
            ("plain", Instructions::best(), Tuning { stream_above_bytes: usize::MAX, ..Tuning::DEFAULT }),
        ];
        let mut rates = Vec::new();
        for (name, level, tuning) in variants {
            let program = Program::compile_for(&work.kernel, level, tuning);
            let [one, two] = [1, 2].map(|threads| {
                let (best, median) =
                    time(&program, &work, &mut buffers, threads, if work.bytes < 1 << 24 { 101 } else { 5 });
                let rate = |seconds: f64| work.bytes as f64 / seconds / 1e9;
                format!("{:.1} ({:.1})", rate(median), rate(best))
            });
            rates.push(format!("{name} {one}, {two}"));
        }
        println!("{:9} GB/s median (best) of 1 thread, of 2: {}", work.name, rates.join("; "));
    }
}

/// What small launches cost.
#[test]
#[ignore = "a timing, not a check"]
fn launches() {
    let mut buffers = [(); 3].map(|()| large_pages(1 << 14, 1.5));
    for level in [Instructions::loops(), Instructions::best()] {
        tiny(level, &mut buffers);
    }
}

/// Launches of few points, one right after the other or once a millisecond, when helpers sleep: where a
/// second thread begins to pay.
#[test]
#[ignore = "a timing, not a check"]
fn small_launches() {
    let mut buffers = [(); 3].map(|()| large_pages(1 << 19, 1.5));
    let threaded = Tuning { thread_steps: 1, ..Tuning::DEFAULT };
    for n in (8..19).map(|power| 1 << power) {
        let light = pointwise("light", n, 2, |k, a| k.binary(BinaryOp::Add, a[0], a[1]));
        let heavy = pointwise("heavy", n, 2, |k, a| (0..12).fold(a[1], |b, _| fused8(k, a[0], b)));
        for work in [light, heavy] {
            let program = Program::compile_for(&work.kernel, Instructions::best(), threaded);
            let mut median = |threads: usize, repeats: usize, pause: Duration| {
                let mut launch = || {
                    std::thread::sleep(pause);
                    time(&program, &work, &mut buffers, threads, 1).0
                };
                let mut seconds: Vec<f64> = (0..repeats).map(|_| launch()).collect();
                seconds.sort_by(f64::total_cmp);
                format!("{:.1}", seconds[repeats / 2] * 1e6)
            };
            let mut pair =
                |repeats, pause| [1, 2].map(|threads| median(threads, repeats, pause)).join(" and ");
            let (row, rare) = (pair(2000, Duration::ZERO), pair(200, Duration::from_millis(1)));
            println!("{n:6} points, {}: us of 1 thread and of 2: {row}; rare {rare}", work.name);
        }
    }
}

/// Ten operations on eight elements: a launch, and compiling it for its first one.
fn tiny(level: Instructions, buffers: &mut [MmapMut]) {
    let work = pointwise("tiny", 8, 2, |k, a| {
        let x = fused8(k, a[0], a[1]);
        let y = k.binary(BinaryOp::Mul, x, a[0]);
        k.binary(BinaryOp::Max, y, a[1])
    });
    let rounds = 300;
    let start = Instant::now();
    for _ in 0..rounds {
        let program = Program::compile_for(&work.kernel, level, Tuning::DEFAULT);
        time(&program, &work, buffers, 1, 1);
    }
    let compiled = start.elapsed().as_secs_f64() / f64::from(rounds);
    let program = Program::compile_for(&work.kernel, level, Tuning::DEFAULT);
    let start = Instant::now();
    let rounds = 100_000;
    time(&program, &work, buffers, 2, rounds);
    let launched = start.elapsed().as_secs_f64() / rounds as f64;
    println!("{level:?}: compiled and launched {:.1} us, launched {:.0} ns", compiled * 1e6, launched * 1e9);
}
