//! The meaning of folds: one result per kept point, over the values of all points that share it.

use super::operations::{binary, cast, compare, is_nan};
use super::point::{ElementBits, element, evaluate, points};
use crate::dtype::{DType, Scalar};
use crate::exact::Sum;
use crate::ir::{CompareOp, Fold, FoldOp, Kernel, Launch, Value};

/// Folds the body's values over the dimensions marked in `axes` and stores the results.
pub(super) fn fold(kernel: &Kernel, launch: &Launch, memory: &mut [ElementBits], axes: &[bool], fold: &Fold) {
    let extents = |folded: bool| -> Vec<usize> {
        launch.extents.iter().zip(axes).map(|(&e, &axis)| if axis == folded { e } else { 1 }).collect()
    };
    for kept in points(&extents(false)) {
        let at =
            |folded: &Vec<usize>| -> Vec<usize> { folded.iter().zip(&kept).map(|(&i, &k)| i + k).collect() };
        let values: Vec<Vec<Scalar>> = points(&extents(true))
            .iter()
            .map(|folded| evaluate(kernel, launch, memory, &at(folded)))
            .collect();
        let of = |value: Value| values.iter().map(move |values| values[value.index()]);
        let mut write = |param: u32, value: Scalar| {
            let at = element(launch, param, &kept);
            memory[param as usize][at] = value.bits;
        };
        let dtype = |param: u32| kernel.params[param as usize].dtype;
        match *fold {
            Fold::Value { op, value, output } => {
                let neutral = widened(op.neutral(dtype(output)));
                let result = of(value).map(widened).fold(neutral, |a, b| binary(op.step(), a, b));
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
            Fold::Exact { value, output } => {
                let mut sum = Sum::new(kernel.body[value.index()].dtype);
                of(value).for_each(|value| sum.add(value.to_f64()));
                let first = element(launch, output, &kept);
                for (k, digit) in sum.number().into_iter().enumerate() {
                    memory[output as usize][first + k] = Scalar::from_i64(DType::I32, i64::from(digit)).bits;
                }
            }
        }
    }
}

/// Floats accumulate in f64 here, the yardstick of the error of their sums and products.
fn widened(value: Scalar) -> Scalar {
    if value.dtype.is_float() { cast(value, DType::F64) } else { value }
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
