//! The meaning of folds: one result per kept point, over the values of all points that share it.
//!
//! The order is fixed, so that every device gives the same bits. The points of a fold are numbered in C order
//! of [`Footprint::fold_order`](crate::Footprint::fold_order). Their values are combined in pairs: the first
//! with the second, the third with the fourth and so on, an odd last one goes up as it is; then these
//! results, level by level, until one is left. (Pairwise summation; Higham, 1993, "The accuracy of floating
//! point summation": its error grows with the logarithm of the number of values.) The result is the neutral
//! element combined with that one. f16 and bf16 are combined in f32 and rounded once, at the end.
//!
//! A block of 2^k values that begins at a multiple of 2^k is a subtree, so an execution may give blocks of
//! any such size to its threads, and combine what they find in pairs. It may also fill up the last block with
//! neutral elements: the only bit that these can change is the sign of a zero, which the neutral element of
//! the result decides.

use super::operations::{cast, compare, is_nan};
use super::point::{ElementBits, combine, element, evaluate, points};
use crate::dtype::{DType, Scalar};
use crate::ir::{CompareOp, Fold, FoldOp, Launch, Value};
use crate::verify::Verified;

/// Folds the body's values over the dimensions marked in `axes` and stores the results.
pub(super) fn fold(
    verified: &Verified,
    launch: &Launch,
    memory: &mut [ElementBits],
    axes: &[bool],
    fold: &Fold,
    flush: bool,
) {
    let (kernel, order) = (verified.kernel(), verified.footprint().fold_order(launch));
    let folded: Vec<usize> = order.iter().map(|&dim| launch.extents[dim]).collect();
    let kept: Vec<usize> =
        launch.extents.iter().zip(axes).map(|(&e, &axis)| if axis { 1 } else { e }).collect();
    for kept in points(&kept) {
        let at = |folded: &Vec<usize>| -> Vec<usize> {
            let mut point = kept.clone();
            order.iter().zip(folded).for_each(|(&dim, &i)| point[dim] = i);
            point
        };
        let values: Vec<Vec<Scalar>> = points(&folded)
            .iter()
            .map(|folded| evaluate(kernel, launch, memory, &at(folded), flush))
            .collect();
        let of = |value: Value| values.iter().map(move |values| values[value.index()]);
        let mut write = |param: u32, value: Scalar| {
            let at = element(launch, param, &kept);
            memory[param as usize][at] = value.bits;
        };
        let dtype = |param: u32| kernel.params[param as usize].dtype;
        match *fold {
            Fold::Value { op, value, output } => {
                let step = |a, b| combine(op.step(), a, b, flush);
                let neutral = widened(op.neutral(dtype(output)));
                let mut level: Vec<Scalar> = of(value).map(widened).collect();
                while level.len() > 1 {
                    let pair = |pair: &[Scalar]| pair[1..].iter().fold(pair[0], |a, &b| step(a, b));
                    level = level.chunks(2).map(pair).collect();
                }
                let result = level.into_iter().fold(neutral, step);
                write(output, cast(result, dtype(output)));
            }
            Fold::Arg { largest, value, index, value_output, index_output } => {
                let op = if largest { FoldOp::Max } else { FoldOp::Min };
                let none = (op.neutral(dtype(value_output)), Scalar::from_i64(dtype(index_output), 0));
                let best = of(value).zip(of(index)).reduce(|best, next| best_of(largest, best, next));
                let (value, index) = best.unwrap_or(none);
                write(value_output, value);
                write(index_output, index);
            }
        }
    }
}

/// Narrow floats accumulate in f32.
fn widened(value: Scalar) -> Scalar {
    if matches!(value.dtype, DType::F16 | DType::BF16) { cast(value, DType::F32) } else { value }
}

/// The better of two values with their indices: a NaN beats every number, the smaller index wins among
/// equals.
fn best_of(largest: bool, best: (Scalar, Scalar), next: (Scalar, Scalar)) -> (Scalar, Scalar) {
    let better = if largest { CompareOp::Gt } else { CompareOp::Lt };
    let wins = match (is_nan(next.0), is_nan(best.0)) {
        (false, false) => compare(better, next.0, best.0),
        (next_nan, best_nan) => next_nan && !best_nan,
    };
    let equal = compare(CompareOp::Eq, next.0, best.0) || is_nan(next.0) && is_nan(best.0);
    let earlier = next.1.to_i64() < best.1.to_i64();
    if wins || equal && earlier { next } else { best }
}
