//! Folds across of f32 and f64 with AVX2: adjacent pairs meet within registers by shuffles that keep each
//! 128-bit half apart until the last level, which takes half the instructions that compilers find.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::fold_loops::{AcrossArgs, MOST_ACROSS};
use crate::cpu::loops::lanes::Lane;
use crate::cpu::loops::level::Compiled;
use crate::ir::FoldOp;

const SUM: u8 = FoldOp::Sum as u8;
const PRODUCT: u8 = FoldOp::Product as u8;
const MIN: u8 = FoldOp::Min as u8;
const MAX: u8 = FoldOp::Max as u8;

/// The loop that folds consecutive f32 or f64 into one.
pub(super) fn across(op: FoldOp, lane: Lane) -> Option<Compiled<AcrossArgs>> {
    Some(match (lane, op) {
        (Lane::F32, FoldOp::Sum) => singles::<SUM>,
        (Lane::F32, FoldOp::Product) => singles::<PRODUCT>,
        (Lane::F32, FoldOp::Min) => singles::<MIN>,
        (Lane::F32, FoldOp::Max) => singles::<MAX>,
        (Lane::F64, FoldOp::Sum) => doubles::<SUM>,
        (Lane::F64, FoldOp::Product) => doubles::<PRODUCT>,
        (Lane::F64, FoldOp::Min) => doubles::<MIN>,
        (Lane::F64, FoldOp::Max) => doubles::<MAX>,
        _ => return None,
    })
}

/// Declares an addition that the compiler does not turn into `haddps` or `haddpd`, which take twice as long
/// as the two shuffles and the addition that they stand for.
macro_rules! addition {
    ($name:ident, $register:ident, $instruction:literal) => {
        #[target_feature(enable = "avx2,fma,f16c")]
        #[inline]
        fn $name(a: $register, b: $register) -> $register {
            let sum;
            // SAFETY: the instruction reads and writes registers only.
            unsafe {
                std::arch::asm!(
                    concat!($instruction, " {sum}, {a}, {b}"),
                    a = in(ymm_reg) a,
                    b = in(ymm_reg) b,
                    sum = lateout(ymm_reg) sum,
                    options(pure, nomem, nostack, preserves_flags),
                );
            }
            sum
        }
    };
}
addition!(add_singles, __m256, "vaddps");
addition!(add_doubles, __m256d, "vaddpd");

macro_rules! fold {
    (
        $across:ident, $combine:ident, $scalar:ident, $tree:ident,
        $float:ident, $register:ident, $store:ident,
        $add:ident, $mul:ident, $min:ident, $max:ident, $compare:ident, $blend:ident
    ) => {
        #[target_feature(enable = "avx2,fma,f16c")]
        #[inline]
        fn $combine<const OP: u8>(a: $register, b: $register) -> $register {
            // The instructions give the second operand where either is NaN, or both are zeros.
            let nan = $compare::<_CMP_UNORD_Q>(a, a);
            match OP {
                SUM => $add(a, b),
                PRODUCT => $mul(a, b),
                MIN => $blend($min(a, b), a, nan),
                _ => $blend($max(a, b), a, nan),
            }
        }

        #[inline(always)]
        fn $scalar<const OP: u8>(a: $float, b: $float) -> $float {
            match OP {
                SUM => a + b,
                PRODUCT => a * b,
                MIN => {
                    if (a < b) | a.is_nan() {
                        a
                    } else {
                        b
                    }
                }
                _ => {
                    if (a > b) | a.is_nan() {
                        a
                    } else {
                        b
                    }
                }
            }
        }

        #[target_feature(enable = "avx2,fma,f16c")]
        unsafe fn $across<const OP: u8>(args: &AcrossArgs) {
            // Values of a register's tree, and of the trees that fill a register.
            const TREE: usize = size_of::<$register>() / size_of::<$float>();
            const GROUP: usize = TREE * TREE;
            let mut work = [const { MaybeUninit::<$float>::uninit() }; MOST_ACROSS / (TREE - 1) + 16];
            let mut rest = work.as_mut_ptr().cast::<$float>();
            let (mut from, mut count) = (args.from.values.cast::<$float>().cast_const(), args.count);
            // SAFETY: the caller promises the values and room for the result; the trees of all levels fit
            // into `work`, for there are `TREE` times fewer from level to level.
            unsafe {
                while count > 1 {
                    let (to, groups) = (rest, count / GROUP);
                    for group in 0..groups {
                        $store(to.add(group * TREE), $tree::<OP>(from.add(group * GROUP)));
                    }
                    let trees = count.div_ceil(TREE);
                    for tree in groups * TREE..trees {
                        let some = TREE.min(count - tree * TREE);
                        let mut few = [0.0; TREE];
                        for k in 0..some {
                            few[k] = from.add(tree * TREE + k).read();
                        }
                        let mut left = some;
                        while left > 1 {
                            for pair in 0..left / 2 {
                                few[pair] = $scalar::<OP>(few[2 * pair], few[2 * pair + 1]);
                            }
                            if left % 2 == 1 {
                                few[left / 2] = few[left - 1];
                            }
                            left = left.div_ceil(2);
                        }
                        to.add(tree).write(few[0]);
                    }
                    (from, count, rest) = (to, trees, to.add(trees));
                }
                args.into.values.cast::<$float>().write(from.read());
            }
        }
    };
}

fold! {
    singles, combine_singles, combine_single, tree_of_singles,
    f32, __m256, _mm256_storeu_ps,
    add_singles, _mm256_mul_ps, _mm256_min_ps, _mm256_max_ps, _mm256_cmp_ps, _mm256_blendv_ps
}
fold! {
    doubles, combine_doubles, combine_double, tree_of_doubles,
    f64, __m256d, _mm256_storeu_pd,
    add_doubles, _mm256_mul_pd, _mm256_min_pd, _mm256_max_pd, _mm256_cmp_pd, _mm256_blendv_pd
}

/// Eight trees of eight values each.
///
/// # Safety
/// There are 64 values.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
unsafe fn tree_of_singles<const OP: u8>(from: *const f32) -> __m256 {
    #[target_feature(enable = "avx2,fma,f16c")]
    #[inline]
    fn pairs<const OP: u8>(a: __m256, b: __m256) -> __m256 {
        combine_singles::<OP>(_mm256_shuffle_ps::<0x88>(a, b), _mm256_shuffle_ps::<0xdd>(a, b))
    }
    // SAFETY: the caller's promise.
    let load = |n: usize| unsafe { _mm256_loadu_ps(from.add(8 * n)) };
    // Halves of eight: the lower 128 bits have the first four values of each eight.
    let low = pairs::<OP>(pairs::<OP>(load(0), load(1)), pairs::<OP>(load(2), load(3)));
    let high = pairs::<OP>(pairs::<OP>(load(4), load(5)), pairs::<OP>(load(6), load(7)));
    combine_singles::<OP>(
        _mm256_permute2f128_ps::<0x20>(low, high),
        _mm256_permute2f128_ps::<0x31>(low, high),
    )
}

/// Four trees of four values each.
///
/// # Safety
/// There are 16 values.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
unsafe fn tree_of_doubles<const OP: u8>(from: *const f64) -> __m256d {
    #[target_feature(enable = "avx2,fma,f16c")]
    #[inline]
    fn pairs<const OP: u8>(a: __m256d, b: __m256d) -> __m256d {
        combine_doubles::<OP>(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b))
    }
    // SAFETY: the caller's promise.
    let load = |n: usize| unsafe { _mm256_loadu_pd(from.add(4 * n)) };
    let (low, high) = (pairs::<OP>(load(0), load(1)), pairs::<OP>(load(2), load(3)));
    combine_doubles::<OP>(
        _mm256_permute2f128_pd::<0x20>(low, high),
        _mm256_permute2f128_pd::<0x31>(low, high),
    )
}
