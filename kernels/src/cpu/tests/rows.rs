//! Rows where loops take short cuts: stencils written with non-temporal stores, floats added as they are.

use std::array::from_fn;

use super::super::layout::{Layout, Tiling};
use super::{Case, Level, Memory, Program, Random, Tuning, dense, launch};
use crate::build::Builder;
use crate::dtype::DType;
use crate::exact::{self, Sum};
use crate::ir::{BinaryOp, Fold, View};

const NON_TEMPORAL: Tuning = Tuning { stream_above_bytes: 0, ..Tuning::DEFAULT };

/// The boxes of a cube's inside: all of it, none above the size, and as many for each thread.
#[test]
fn threads_have_equally_many_boxes() {
    let whole = View { offset: 0, strides: dense(&[160; 3]).strides };
    let layout = Layout::new(&launch(&[158; 3], vec![whole]), &from_fn(|dim| dim), |_, _| false);
    assert_eq!(layout.plane(), 158 * 158);
    for threads in [1, 2, 8] {
        for points in [1 << 12, 1 << 17, 1 << 18, 1 << 20] {
            let tiling = Tiling::new(&layout, usize::MAX, points, threads);
            let sizes: Vec<usize> =
                (0..tiling.count()).map(|n| tiling.get(n).extents.iter().product()).collect();
            assert_eq!(sizes.iter().sum::<usize>(), layout.points());
            assert!(sizes.iter().all(|&size| size <= points), "{sizes:?}");
            assert!(tiling.count().is_multiple_of(threads), "{} boxes for {threads}", tiling.count());
        }
    }
}

/// Long rows that begin and end at every lane of a cache line, two outputs at different ones. What lies
/// beside the rows stays.
#[test]
fn stencils_with_non_temporal_stores() {
    let mut random = Random(11);
    for dtype in [DType::F32, DType::F64] {
        // Rows of 1000 lie whole lines apart, and are computed together.
        for n in [255, 512, 1000, 2047, 2048, 2049, 2063, 2100] {
            // Two outputs that begin a line at different lanes do not use non-temporal stores, one does.
            for (lane, outputs) in (0..16).flat_map(|lane| [(lane, 1), (lane, 2)]) {
                let mut k = Builder::new("row", 2);
                let input = k.input(dtype);
                let [a, b, c, d] = [[0, -1], [1, 1], [0, 0], [1, 0]].map(|offsets| k.load(input, &offsets));
                let sum = k.binary(BinaryOp::Add, a, b);
                let sum = k.binary(BinaryOp::Sub, sum, d);
                let less = k.compare(crate::ir::CompareOp::Lt, sum, c);
                let least = k.select(less, sum, c);
                let twice = k.binary(BinaryOp::Mul, least, sum);
                // All of what is loaded counts in each, or rows would not gain from going together.
                let values = [least, twice];
                let stores: Vec<_> =
                    values[..outputs].iter().map(|&value| (k.output(dtype), value)).collect();
                let kernel = k.elementwise(&stores).expect("a valid kernel");
                let pitch = n as i64 + 40;
                let view = |offset| View { offset, strides: vec![pitch, 1] };
                let views = [view(1), view(lane), view((3 * lane + 1) % 16)][..1 + outputs].to_vec();
                let len = 6 * pitch as usize;
                let memory: Vec<_> =
                    (0..1 + outputs).map(|_| super::values(dtype, len, &mut random)).collect();
                let case = Case { kernel, launch: launch(&[5, n], views), memory };
                let expected = case.expected();
                for level in Level::available() {
                    let program = Program::compile_for(&case.kernel, level, NON_TEMPORAL);
                    // The second launch may have code for rows together.
                    for _ in 0..2 {
                        let found = case.outcome(&program, 1, 0);
                        case.compare(&expected, &found, &format!("{level:?} {n} lanes from {lane}"));
                    }
                }
            }
        }
    }
}

/// Sums of f32 that are added as they are, that just are, and that just are not: the digits of one by one.
#[test]
fn floats_that_are_alike() {
    let mut random = Random(13);
    let mut unit = || f32::from_bits(0x3f80_0000 | random.below(1 << 23) as u32);
    for range in [0, 1, 18, 19, 20, 21, 22, 23, 40] {
        for (n, extra) in [(1, 0.0), (4096, 1.0), (4097, f32::MIN_POSITIVE / 8.0), (9000, f32::INFINITY)] {
            for scale in [0, 100, -126] {
                let mut data: Vec<f32> = (0..n)
                    .map(|k| {
                        let low = if k % 7 == 3 { range } else { 0 };
                        // Few cancel, so that sums are long.
                        let sign = if k % 50 == 0 { -1.0 } else { 1.0 };
                        sign * (f64::from(unit()) * f64::powi(2.0, scale - low)) as f32
                    })
                    .collect();
                data[n / 2] = extra;
                data[n / 3] = 0.0;
                let mut sum = Sum::new(DType::F32);
                data.iter().for_each(|&x| sum.add(f64::from(x)));
                let mut expected = sum.number();
                exact::normalise(&mut expected, DType::F32);
                for level in Level::available() {
                    let mut found = exact_sum(&data, level);
                    exact::normalise(&mut found, DType::F32);
                    assert_eq!(found, expected, "{level:?} {n} {range} {scale} {extra}");
                }
            }
        }
    }
}

fn exact_sum(data: &[f32], level: Level) -> Vec<i32> {
    let mut k = Builder::new("sum", 1);
    let (input, output) = (k.input(DType::F32), k.output(DType::I32));
    let value = k.load(input, &[0]);
    let kernel = k.reduce(&[true], &[Fold::Exact { value, output }]).expect("a valid kernel");
    let launch = launch(&[data.len()], vec![dense(&[data.len()]), View { offset: 0, strides: vec![0] }]);
    let mut number = vec![0i32; exact::width(DType::F32)];
    let memory = [
        Memory { ptr: data.as_ptr().cast_mut().cast(), len: data.len() },
        Memory { ptr: number.as_mut_ptr().cast(), len: number.len() },
    ];
    let program = Program::compile_for(&kernel, level, Tuning::DEFAULT);
    // SAFETY: the data is only read; the number is as long as such a number is.
    unsafe { program.run(&launch, &memory, 1) }.expect("the launch fits");
    number
}
