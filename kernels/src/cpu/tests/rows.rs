//! Rows where loops take short cuts: stencils written with non-temporal stores.

use std::array::from_fn;

use super::super::launch::{LaunchLayout, Tiling};
use super::{Case, Instructions, Program, Random, Tuning, dense, launch};
use crate::build::Builder;
use crate::dtype::{DType, Scalar};
use crate::ir::{BinaryOp, View};

const NON_TEMPORAL: Tuning = Tuning { stream_above_bytes: 0, ..Tuning::DEFAULT };

/// The boxes of a cube's inside: all of it, none above the size, and as many for each thread.
#[test]
fn threads_have_equally_many_boxes() {
    let whole = View { offset: 0, strides: dense(&[160; 3]).strides };
    let layout = LaunchLayout::new(&launch(&[158; 3], vec![whole]), &from_fn(|dim| dim), |_, _| false);
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
                for level in Instructions::available() {
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

/// Values that are the same everywhere, more of them than registers, and nothing else that needs one.
#[test]
fn stores_of_more_uniform_values_than_registers() {
    for count in [1, 14, 15, 16, 17, 18, 31, 32, 33, 40] {
        for reads in [false, true] {
            let mut k = Builder::new("uniform", 1);
            let input = k.input(DType::F32);
            let mut stores = Vec::new();
            for n in 0..count {
                let value = k.constant(Scalar::from_i64(DType::F32, n as i64 + 3));
                let loaded = k.load(input, &[0]);
                let value = if reads { k.binary(BinaryOp::Add, loaded, value) } else { value };
                stores.push((k.output(DType::F32), value));
            }
            let kernel = k.elementwise(&stores).expect("a valid kernel");
            let (views, memory) = (vec![dense(&[50]); count + 1], vec![vec![7; 50]; count + 1]);
            Case { kernel, launch: launch(&[50], views), memory }.check();
        }
    }
}
