//! The four forms over many shapes and views.

use super::reductions::reduction;
use super::{Case, Random, dense, launch, strided, values};
use crate::build::Builder;
use crate::dtype::{DType, Scalar};
use crate::ir::{BinaryOp, Launch, View};
use crate::verify::Verified;

/// Shapes: empty, short rows, rows around the block and chunk sizes, many dimensions.
pub(super) fn shapes() -> Vec<Vec<usize>> {
    [
        &[][..],
        &[0],
        &[1],
        &[63],
        &[64],
        &[65],
        &[1000],
        &[3, 0, 4],
        &[4, 3],
        &[2, 511],
        &[37, 129],
        &[3, 5, 70],
        &[9, 7, 5],
        &[1, 300, 1],
        &[2, 3, 2, 3, 2, 3],
        &[300, 3],
    ]
    .map(<[usize]>::to_vec)
    .to_vec()
}

/// A box with a halo of `pad` on every side of each dimension: the view of its inside.
pub(super) fn padded(extents: &[usize], pad: usize) -> (View, usize) {
    let stored: Vec<usize> = extents.iter().map(|e| e + 2 * pad).collect();
    let mut view = dense(&stored);
    view.offset = view.strides.iter().map(|s| s * pad as i64).sum();
    (view, stored.iter().product())
}

fn star(rank: usize, dtype: DType) -> Verified {
    let mut k = Builder::new("star", rank);
    let (input, output) = (k.input(dtype), k.output(dtype));
    let center = k.load(input, &vec![0; rank]);
    let mut sum = center;
    for dim in 0..rank {
        for side in [-1, 1] {
            let mut offsets = vec![0; rank];
            offsets[dim] = side;
            let neighbour = k.load(input, &offsets);
            sum = k.binary(BinaryOp::Add, sum, neighbour);
        }
    }
    let twice = k.binary(BinaryOp::Add, center, center);
    let result = k.binary(BinaryOp::Sub, sum, twice);
    k.elementwise(&[(output, result)]).expect("a valid kernel")
}

#[test]
fn stencils_with_halo() {
    let mut random = Random(1);
    for shape in shapes() {
        for dtype in [DType::F32, DType::F64, DType::F16, DType::I16] {
            let ((from, len), (to, out)) = (padded(&shape, 1), padded(&shape, 2));
            let kernel = star(shape.len(), dtype);
            let memory = vec![values(dtype, len, &mut random), values(dtype, out, &mut random)];
            Case { kernel, launch: launch(&shape, vec![from, to]), memory }.check();
        }
    }
}

/// Copies between any two of: C order, Fortran order, reversed, every second element, broadcast.
#[test]
fn copies_between_views() {
    let mut random = Random(2);
    for shape in [vec![70, 5], vec![5, 70], vec![66, 67], vec![4, 3, 130], vec![130, 3, 4]] {
        let count: usize = shape.iter().product();
        let fortran = {
            let mut flipped = dense(&shape.iter().rev().copied().collect::<Vec<_>>());
            flipped.strides.reverse();
            flipped
        };
        let mut reversed = dense(&shape);
        reversed.offset = count as i64 - 1;
        reversed.strides.iter_mut().for_each(|s| *s = -*s);
        let outputs = [dense(&shape), fortran, reversed, strided(&shape, 1, 2), padded(&shape, 3).0];
        let broadcast = View { offset: 3, strides: (0..shape.len() as i64).map(|k| k % 2).collect() };
        for dtype in [DType::U8, DType::BF16, DType::F32, DType::I64] {
            for from in outputs.iter().chain([&broadcast]) {
                for to in &outputs {
                    let mut k = Builder::new("copy", shape.len());
                    let (input, output) = (k.input(dtype), k.output(dtype));
                    let x = k.load(input, &vec![0; shape.len()]);
                    let kernel = k.elementwise(&[(output, x)]).expect("a valid kernel");
                    let memory =
                        vec![values(dtype, 6 * count + 9000, &mut random), vec![0; 6 * count + 9000]];
                    Case { kernel, launch: launch(&shape, vec![from.clone(), to.clone()]), memory }.check();
                }
            }
        }
    }
}

/// Several outputs, an input that is updated, a value that is stored twice, masks and constants stored.
#[test]
fn many_stores() {
    let mut random = Random(4);
    for shape in shapes() {
        let (rank, here) = (shape.len(), vec![0; shape.len()]);
        let mut k = Builder::new("stores", rank);
        let (a, b) = (k.inout(DType::F32), k.input(DType::F32));
        let (x, y) = (k.load(a, &here), k.load(b, &here));
        let sum = k.binary(BinaryOp::Add, x, y);
        let product = k.binary(BinaryOp::Mul, sum, x);
        let mask = k.compare(crate::ir::CompareOp::Lt, product, y);
        let rem = k.binary(BinaryOp::Rem, product, y);
        let last = k.binary(BinaryOp::Sub, rem, sum);
        let wide = k.cast(last, DType::F64);
        let wider = k.binary(BinaryOp::Add, wide, wide);
        let two = k.float(DType::F16, 2.0);
        let mut stores = vec![(a, last)];
        for value in [sum, sum, mask, product, wider, two, y] {
            stores.push((k.output(k.dtype(value)), value));
        }
        let kernel = k.elementwise(&stores).expect("a valid kernel");
        let count = shape.iter().product::<usize>();
        let params = kernel.kernel().params.clone();
        let memory = params.iter().map(|p| values(p.dtype, count + 8, &mut random)).collect();
        let views = (0..params.len()).map(|p| strided(&shape, p as i64 % 8, 1)).collect();
        Case { kernel, launch: launch(&shape, views), memory }.check();
    }
}

/// One chain that reads and writes the same memory: no lane may be computed twice.
#[test]
fn updates_in_place() {
    let mut random = Random(9);
    for shape in shapes() {
        for dtype in [DType::F32, DType::F64] {
            for late in [false, true] {
                let here = vec![0; shape.len()];
                let mut k = Builder::new("update", shape.len());
                let (a, b, c) = (k.inout(dtype), k.input(dtype), k.output(dtype));
                let (x, y) = (k.load(a, &here), k.load(b, &here));
                let product = k.binary(BinaryOp::Mul, x, y);
                let sum = k.binary(BinaryOp::Add, product, x);
                // Read again after the update, or not.
                let last =
                    if late { k.binary(BinaryOp::Div, sum, x) } else { k.binary(BinaryOp::Div, sum, y) };
                let kernel = k.elementwise(&[(a, sum), (c, last)]).expect("a valid kernel");
                let count = shape.iter().product::<usize>() + 3;
                let memory = (0..3).map(|_| values(dtype, count, &mut random)).collect();
                let views = vec![strided(&shape, 3, 1), strided(&shape, 1, 1), strided(&shape, 2, 1)];
                Case { kernel, launch: launch(&shape, views), memory }.check();
            }
        }
    }
}

#[test]
fn gathers_and_scatters() {
    let mut random = Random(8);
    for shape in shapes() {
        let count: usize = shape.iter().product();
        for dtype in DType::ALL {
            for index_type in [DType::I32, DType::I64, DType::U32, DType::U64] {
                for case in [
                    gather(&shape, count, dtype, index_type, &mut random),
                    scatter(&shape, count, dtype, index_type, false, &mut random),
                    scatter(&shape, count, dtype, index_type, dtype != DType::Bool, &mut random),
                ] {
                    case.check_once();
                }
            }
        }
    }
}

impl Case {
    /// One level, two threads: for cases that are many.
    pub(super) fn check_once(&self) {
        let program =
            super::super::Program::compile_for(&self.kernel, super::Instructions::best(), super::SMALL);
        self.compare(&self.expected(), &self.outcome(&program, 2, 0), "once");
    }
}

/// Indices from before the source to behind it.
fn gather(shape: &[usize], count: usize, dtype: DType, index_type: DType, random: &mut Random) -> Case {
    let mut k = Builder::new("gather", shape.len());
    let (indices, source, output) = (k.input(index_type), k.input(dtype), k.output(dtype));
    let index = k.load(indices, &vec![0; shape.len()]);
    let kernel = k.gather(index, source, output).expect("a valid kernel");
    let any = |random: &mut Random| Scalar::from_i64(index_type, random.below(60) as i64 - 5).bits;
    let memory = vec![
        (0..count).map(|_| any(random)).collect(),
        values(dtype, 50, random),
        values(dtype, count + 1, random),
    ];
    let views = vec![dense(shape), View { offset: 7, strides: vec![0; shape.len()] }, strided(shape, 1, 1)];
    Case { kernel, launch: launch(shape, views), memory }
}

/// Distinct indices, some outside; the launch's `offset` shifts them.
fn scatter(
    shape: &[usize],
    count: usize,
    dtype: DType,
    index_type: DType,
    add: bool,
    random: &mut Random,
) -> Case {
    let mut k = Builder::new("scatter", shape.len());
    let (indices, source) = (k.input(index_type), k.input(dtype));
    let output = if add { k.inout(dtype) } else { k.output(dtype) };
    let here = vec![0; shape.len()];
    let (index, value) = (k.load(indices, &here), k.load(source, &here));
    let kernel = k.scatter(index, value, output, add).expect("a valid kernel");
    let mut order: Vec<i64> = (0..count as i64).map(|i| i * 3 - 10).collect();
    for k in (1..order.len()).rev() {
        order.swap(k, random.below(k + 1));
    }
    let memory = vec![
        order.iter().map(|&i| Scalar::from_i64(index_type, i).bits).collect(),
        values(dtype, count, random),
        values(dtype, 2 * count + 10, random),
    ];
    let views = vec![dense(shape), dense(shape), View { offset: 4, strides: vec![0; shape.len()] }];
    Case { kernel, launch: launch(shape, views), memory }
}

#[test]
fn launches_are_checked() {
    use super::super::{Memory, Program};
    let kernel = star(1, DType::F32);
    let mut data = [0f32; 10];
    let memory = [
        Memory { ptr: data.as_mut_ptr().cast(), len: 5 },
        Memory { ptr: data.as_mut_ptr().wrapping_add(5).cast(), len: 5 },
    ];
    let launch = Launch { ..launch(&[5], vec![dense(&[5]), dense(&[5])]) };
    // SAFETY: the launch is refused before memory is touched.
    let error = unsafe { Program::compile(&kernel).run(&launch, &memory, 1) };
    assert!(error.expect_err("it reads element -1").reason.contains("-1"));
}

/// One small launch of every form, in every way it can run: quick enough for Miri (`cargo xtask sanitize`).
#[test]
fn small_launches_of_every_form() {
    let mut random = Random(11);
    for (shape, dtype) in [(&[70][..], DType::F32), (&[3, 5], DType::F16), (&[2, 3, 4], DType::U8)] {
        let ((from, len), (to, out)) = (padded(shape, 1), padded(shape, 2));
        let memory = vec![values(dtype, len, &mut random), values(dtype, out, &mut random)];
        Case { kernel: star(shape.len(), dtype), launch: launch(shape, vec![from, to]), memory }.check();
        let count: usize = shape.iter().product();
        // Columns become rows.
        let mut turned = dense(&shape.iter().rev().copied().collect::<Vec<_>>());
        turned.strides.reverse();
        let mut k = Builder::new("copy", shape.len());
        let (input, output) = (k.input(dtype), k.output(dtype));
        let x = k.load(input, &vec![0; shape.len()]);
        let kernel = k.elementwise(&[(output, x)]).expect("a valid kernel");
        let memory = vec![values(dtype, count, &mut random), vec![0; count]];
        Case { kernel, launch: launch(shape, vec![turned, dense(shape)]), memory }.check();
        let axes: Vec<bool> = (0..shape.len()).map(|k| k % 2 == 0).collect();
        reduction(shape, &axes, dtype, shape.len() == 2, &mut random).check();
        gather(shape, count, dtype, DType::I32, &mut random).check();
        scatter(shape, count, dtype, DType::U32, false, &mut random).check();
        scatter(shape, count, dtype, DType::I64, true, &mut random).check();
    }
}
