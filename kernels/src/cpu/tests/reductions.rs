//! Reductions against the definition, to the bit: every fold, type and length, over all axes of operands that
//! lie in any order, on any number of threads.

use super::super::Memory;
use super::forms::{padded, shapes};
use super::{Case, Instructions, Program, Random, SMALL, Tuning, dense, launch, strided};
use crate::build::Builder;
use crate::dtype::{DType, Scalar};
use crate::ir::{BinaryOp, Fold, FoldOp, Value, View};

/// Values whose sums and products are rounded at every step, and stay in range. Few repeat.
fn ordinary(dtype: DType, count: usize, random: &mut Random) -> Vec<u64> {
    let value = |_| match dtype.is_float() {
        true => {
            let magnitude = 0.7 + random.below(1 << 20) as f64 / (1 << 20) as f64 * 0.72;
            Scalar::from_f64(dtype, if random.below(3) == 0 { -magnitude } else { magnitude }).bits
        }
        false => random.next() & u64::MAX >> (64 - 8 * dtype.size_bytes()),
    };
    let bits: Vec<u64> = (0..count).map(value).collect();
    if dtype == DType::Bool { bits.into_iter().map(|bits| bits & 1).collect() } else { bits }
}

fn value_ops(dtype: DType) -> Vec<FoldOp> {
    match dtype {
        DType::Bool => vec![FoldOp::Min, FoldOp::Max, FoldOp::All, FoldOp::Any],
        _ => vec![FoldOp::Min, FoldOp::Max, FoldOp::Sum, FoldOp::Product],
    }
}

/// The view of the results of folding `axes` of a shape, and how many elements it spans.
fn results(shape: &[usize], axes: &[bool]) -> (View, usize) {
    let kept: Vec<usize> = shape.iter().zip(axes).map(|(&e, &axis)| if axis { 1 } else { e }).collect();
    let mut view = strided(&kept, 1, 2);
    view.strides.iter_mut().zip(axes).filter(|(_, axis)| **axis).for_each(|(stride, _)| *stride = 0);
    (view, 2 * kept.iter().product::<usize>() + 2)
}

/// A fold of a function of operands that lie so.
fn fold_of(
    shape: &[usize],
    axes: &[bool],
    (op, dtype): (FoldOp, DType),
    operands: &[View],
    f: impl Fn(&mut Builder, &[Value]) -> Value,
    random: &mut Random,
) -> Case {
    let mut k = Builder::new("fold", shape.len());
    let params: Vec<u32> = operands.iter().map(|_| k.input(dtype)).collect();
    let loads: Vec<Value> = params.iter().map(|&p| k.load(p, &vec![0; shape.len()])).collect();
    let value = f(&mut k, &loads);
    let output = k.output(k.dtype(value));
    let kernel = k.reduce(axes, &[Fold::Value { op, value, output }]).expect("a valid kernel");
    let (result, count) = results(shape, axes);
    let span = |view: &View| {
        let last = |(&e, &stride): (&usize, &i64)| (e.max(1) as i64 - 1) * stride.max(0);
        (view.offset + shape.iter().zip(&view.strides).map(last).sum::<i64>() + 1) as usize
    };
    let mut memory: Vec<_> = operands.iter().map(|view| ordinary(dtype, span(view), random)).collect();
    memory.push(vec![7; count]);
    let views = operands.iter().cloned().chain([result]).collect();
    Case { kernel, launch: launch(shape, views), memory }
}

/// Every operation and both argument folds of one value, with indices from coordinates.
pub(super) fn reduction(
    shape: &[usize],
    axes: &[bool],
    dtype: DType,
    transposed: bool,
    random: &mut Random,
) -> Case {
    let rank = shape.len();
    let mut k = Builder::new("reduction", rank);
    let input = k.input(dtype);
    let x = k.load(input, &vec![0; rank]);
    let mut index = k.int(DType::I64, 0);
    for (dim, &extent) in shape.iter().enumerate() {
        let (c, e) = (k.coord(dim, DType::I64), k.int(DType::I64, extent as i64));
        let shifted = k.binary(BinaryOp::Mul, index, e);
        index = k.binary(BinaryOp::Add, shifted, c);
    }
    let indices = [index, k.cast(index, DType::U32), k.cast(index, DType::U64)];
    let mut folds: Vec<Fold> = Vec::new();
    for op in value_ops(dtype) {
        folds.push(Fold::Value { op, value: x, output: k.output(dtype) });
    }
    for (largest, index) in [(false, indices[0]), (true, indices[1]), (true, indices[2])] {
        let value_output = k.output(dtype);
        let index_output = k.output(k.dtype(index));
        folds.push(Fold::Arg { largest, value: x, index, value_output, index_output });
    }
    let kernel = k.reduce(axes, &folds).expect("a valid kernel");
    let (result, count) = results(shape, axes);
    let mut source = dense(shape);
    if transposed {
        source = dense(&shape.iter().rev().copied().collect::<Vec<_>>());
        source.strides.reverse();
    }
    let data = ordinary(dtype, shape.iter().product(), random);
    let params = kernel.kernel().params.clone();
    let memory = std::iter::once(data).chain(params[1..].iter().map(|_| vec![7; count])).collect();
    let views = std::iter::once(source).chain(params[1..].iter().map(|_| result.clone())).collect();
    Case { kernel, launch: launch(shape, views), memory }
}

/// Every subset of axes, kept outputs in a strided array.
#[test]
fn reductions() {
    let mut random = Random(5);
    for shape in shapes() {
        for subset in 0..1usize << shape.len() {
            let axes: Vec<bool> = (0..shape.len()).map(|k| subset >> k & 1 == 1).collect();
            let dtype = DType::ALL[random.below(13)];
            let transposed = random.below(2) == 1;
            reduction(&shape, &axes, dtype, transposed, &mut random).check();
        }
    }
}

/// Every type and operation, of values in place and of computed ones, across and along.
#[test]
fn folds_of_every_type_and_length() {
    let mut random = Random(21);
    for dtype in DType::ALL {
        for n in [0, 1, 2, 3, 5, 7, 8, 9, 31, 63, 64, 65, 127, 129, 511, 600] {
            for op in value_ops(dtype) {
                let contiguous = [dense(&[n])];
                fold_of(&[n], &[true], (op, dtype), &contiguous, |_, x| x[0], &mut random).check();
                let wide = [dense(&[n, 19])];
                fold_of(&[n, 19], &[true, false], (op, dtype), &wide, |_, x| x[0], &mut random).check();
                if dtype != DType::Bool {
                    let negated = |k: &mut Builder, x: &[Value]| {
                        let zero = k.constant(Scalar::from_i64(dtype, 0));
                        k.binary(BinaryOp::Sub, zero, x[0])
                    };
                    fold_of(&[n], &[true], (op, dtype), &contiguous, negated, &mut random).check();
                }
            }
        }
    }
}

/// Lengths around powers of two where blocks and segments end, with the sizes of real launches.
#[test]
fn long_folds() {
    let mut random = Random(22);
    let square = |k: &mut Builder, x: &[Value]| k.binary(BinaryOp::Mul, x[0], x[0]);
    let lengths = [4095, 4096, 4097, 9000, 65_535, 65_537, (1 << 18) - 1, 1 << 18, (1 << 18) + 1, 1_000_003];
    for (n, dtype) in lengths.into_iter().flat_map(|n| [(n, DType::F32), (n, DType::F64)]) {
        let ops: &[FoldOp] =
            if n > 5000 { &[FoldOp::Sum] } else { &[FoldOp::Sum, FoldOp::Min, FoldOp::Product] };
        for &op in ops {
            let place = [dense(&[n])];
            for case in [
                fold_of(&[n], &[true], (op, dtype), &place, |_, x| x[0], &mut random),
                fold_of(&[n], &[true], (op, dtype), &place, square, &mut random),
            ] {
                case.check_with(Tuning::DEFAULT);
            }
        }
    }
    // Tall and wide: blocks of rows, strips, and rows that are cut among threads.
    for (shape, axes) in
        [([5000, 70], [true, false]), ([70, 5000], [false, true]), ([9, 9000], [true, false])]
    {
        for case in [
            fold_of(&shape, &axes, (FoldOp::Sum, DType::F32), &[dense(&shape)], |_, x| x[0], &mut random),
            fold_of(&shape, &axes, (FoldOp::Sum, DType::F64), &[dense(&shape)], square, &mut random),
        ] {
            case.check_with(Tuning::DEFAULT);
        }
    }
}

/// Partial results that are few at a time: segments of consecutive values and of rows are folded in waves.
#[test]
fn folds_in_waves_of_few_partial_results() {
    let mut random = Random(26);
    for partials in [1, 2, 4, 16] {
        let tuning = Tuning { partials, ..SMALL };
        for (shape, axes) in [
            (vec![9000], vec![true]),
            (vec![3, 2500], vec![false, true]),
            (vec![2500, 3], vec![true, false]),
            (vec![2, 1200, 5], vec![false, true, false]),
        ] {
            for dtype in [DType::F32, DType::BF16, DType::I64] {
                reduction(&shape, &axes, dtype, false, &mut random).check_with(tuning);
            }
        }
    }
}

/// Operands in C order, transposed, padded, reversed, in steps and broadcast, alone and two together: the
/// order of the fold follows their strides.
#[test]
fn folds_of_operands_in_any_order() {
    let mut random = Random(23);
    for shape in [vec![13, 21], vec![70, 5], vec![5, 70], vec![4, 5, 33], vec![33, 3, 6], vec![2, 3, 4, 5]] {
        let fortran = {
            let mut flipped = dense(&shape.iter().rev().copied().collect::<Vec<_>>());
            flipped.strides.reverse();
            flipped
        };
        let mut reversed = dense(&shape);
        reversed.offset = shape.iter().product::<usize>() as i64 - 1;
        reversed.strides.iter_mut().for_each(|stride| *stride = -*stride);
        let broadcast = View { offset: 3, strides: (0..shape.len() as i64).map(|k| k % 2).collect() };
        let views = [dense(&shape), fortran, padded(&shape, 2).0, reversed, strided(&shape, 1, 3), broadcast];
        for subset in 1..1usize << shape.len() {
            let axes: Vec<bool> = (0..shape.len()).map(|k| subset >> k & 1 == 1).collect();
            for (n, view) in views.iter().enumerate() {
                let dtype = [DType::F32, DType::F64, DType::F16, DType::BF16][random.below(4)];
                let other = views[(n + 1 + random.below(5)) % views.len()].clone();
                let both = [view.clone(), other];
                let sum = (FoldOp::Sum, dtype);
                fold_of(&shape, &axes, sum, &both[..1], |_, x| x[0], &mut random).check_once();
                let product = |k: &mut Builder, x: &[Value]| k.binary(BinaryOp::Mul, x[0], x[1]);
                fold_of(&shape, &axes, sum, &both, product, &mut random).check();
            }
        }
    }
}

/// Neighbours in the body: machine code whose rows share loads. Points may store beside the folds, in rows
/// with gaps or in columns.
#[test]
fn folds_of_stencils() {
    let mut random = Random(24);
    let shapes = [([9, 300], [true, true]), ([33, 70], [true, false]), ([33, 70], [false, true])];
    for ((shape, axes), stored) in
        shapes.into_iter().flat_map(|shape| [0, 1, 2].map(|stored| (shape, stored)))
    {
        let (view, count) = padded(&shape, 1);
        let mut k = Builder::new("residual", 2);
        let input = k.input(DType::F32);
        let loads = [[0, 0], [-1, 0], [1, 0], [0, -1], [0, 1]].map(|offsets| k.load(input, &offsets));
        let sum = loads.into_iter().reduce(|a, b| k.binary(BinaryOp::Sub, a, b)).expect("some loads");
        let square = k.binary(BinaryOp::Mul, sum, sum);
        let folds = [(FoldOp::Sum, square), (FoldOp::Max, sum), (FoldOp::Sum, sum)]
            .map(|(op, value)| Fold::Value { op, value, output: k.output(DType::F32) });
        let columns = View { offset: 2, strides: vec![1, shape[0] as i64 + 1] };
        let targets: Vec<View> = [padded(&shape, 2).0, columns].into_iter().take(stored).collect();
        let stores: Vec<(u32, Value)> =
            [square, loads[0]].into_iter().take(stored).map(|value| (k.output(DType::F32), value)).collect();
        let kernel = k.reduce_and_store(&axes, &folds, &stores).expect("a valid kernel");
        let (result, results) = results(&shape, &axes);
        let views = [vec![view], vec![result; 3], targets].concat();
        let room = 2 * (shape[0] + 4) * (shape[1] + 4);
        let outputs = [vec![vec![7; results]; 3], vec![vec![7; room]; stored]].concat();
        let memory = [vec![ordinary(DType::F32, count, &mut random)], outputs].concat();
        Case { kernel, launch: launch(&shape, views), memory }.check();
    }
}

/// Of -0 and 0 the one with the higher number wins; a NaN anywhere wins.
#[test]
fn signs_of_zeros_in_minima() {
    let mut random = Random(25);
    for dtype in [DType::F16, DType::F32, DType::F64] {
        for n in [2, 3, 7, 64, 65, 200, 1000] {
            for shape in [vec![n], vec![n, 9]] {
                let axes = [vec![true], vec![false; shape.len() - 1]].concat();
                for op in [FoldOp::Min, FoldOp::Max, FoldOp::Sum, FoldOp::Product] {
                    let place = [dense(&shape)];
                    let mut case = fold_of(&shape, &axes, (op, dtype), &place, |_, x| x[0], &mut random);
                    let zero = |random: &mut Random| if random.below(2) == 0 { 0.0 } else { -0.0 };
                    for bits in &mut case.memory[0] {
                        *bits = Scalar::from_f64(dtype, zero(&mut random)).bits;
                    }
                    case.check();
                }
            }
        }
    }
}

/// NaN wins minima, maxima and searches; the first of several counts.
#[test]
fn nan_in_reductions() {
    for dtype in [DType::F16, DType::F32, DType::F64] {
        for at in [vec![0], vec![999], vec![130, 700], vec![]] {
            let mut case = reduction(&[1000], &[true], dtype, false, &mut Random(6));
            let nan = Scalar::from_f64(dtype, f64::NAN).bits;
            at.iter().for_each(|&k: &usize| case.memory[0][k] = nan);
            case.check();
            // Infinities alone: the neutral elements must lose.
            let inf = Scalar::from_f64(dtype, f64::INFINITY).bits;
            case.memory[0].iter_mut().for_each(|bits| *bits = inf);
            case.check();
        }
    }
}

/// The error bound of pairwise summation, and the same bits for any number of threads.
#[test]
fn float_sums_are_accurate_and_repeatable() {
    let mut random = Random(7);
    for n in [1usize, 100, 5000, 1_000_003] {
        let data: Vec<f32> = (0..n).map(|_| 0.1 + random.below(1000) as f32).collect();
        let mut k = Builder::new("sum", 1);
        let (input, output) = (k.input(DType::F32), k.output(DType::F32));
        let x = k.load(input, &[0]);
        let kernel =
            k.reduce(&[true], &[Fold::Value { op: FoldOp::Sum, value: x, output }]).expect("a valid kernel");
        let program = Program::compile(&kernel);
        let launch = launch(&[n], vec![dense(&[n]), View { offset: 0, strides: vec![0] }]);
        let sums = [1, 2, 3, 5].map(|threads| {
            let mut sum = [0f32];
            let memory = [
                Memory { ptr: data.as_ptr().cast_mut().cast(), len: n },
                Memory { ptr: sum.as_mut_ptr().cast(), len: 1 },
            ];
            // SAFETY: both memories are ours; the input is only read.
            unsafe { program.run(&launch, &memory, threads) }.expect("the launch fits");
            sum[0]
        });
        assert!(sums.iter().all(|s| s.to_bits() == sums[0].to_bits()), "{sums:?}");
        let exact: f64 = data.iter().map(|&x| f64::from(x)).sum();
        let bound = ((n as f64).log2() + 1.0) * f64::from(f32::EPSILON) / 2.0 * exact;
        assert!((f64::from(sums[0]) - exact).abs() <= bound, "{} {exact} {bound}", sums[0]);
    }
}

impl Case {
    /// At every level with these sizes, on one thread and on three: for cases that are long.
    fn check_with(&self, tuning: Tuning) {
        let expected = self.expected();
        for level in Instructions::available() {
            for threads in [1, 3] {
                let program = Program::compile_for(&self.kernel, level, tuning);
                let found = self.outcome(&program, threads, 0);
                self.compare(&expected, &found, &format!("{level:?} threads {threads}"));
            }
        }
    }
}
