//! Python and Rust numbers as operands. A number is converted to the array's dtype; a value that does not
//! fit is an error. Comparisons of integers with any number are exact.

use partita_kernels::{CompareOp, DType, Scalar};

use crate::array::Array;
use crate::array::record::ops::Operand;
use crate::error::Error;

impl Array {
    /// The right-hand side of an operation on this array.
    pub(crate) fn beside(&self, operation: &'static str, other: &impl Operand) -> Array {
        match other.number() {
            Some(number) => self.number(operation, number),
            None => other.operand(self),
        }
    }

    /// A number as an array of this one's shape and type; an error if the type cannot hold it.
    pub(crate) fn number(&self, operation: &'static str, number: f64) -> Array {
        match held(operation, self.dtype(), number) {
            Ok(scalar) => scalar.operand(self),
            Err(error) => self.failed(error),
        }
    }

    /// What stands for a comparison with `other`: integers are compared with a number that they hold.
    pub(crate) fn compared(&self, op: CompareOp, other: &impl Operand) -> (CompareOp, Array) {
        match other.number().filter(|_| !self.dtype().is_float()) {
            Some(number) => {
                let (op, scalar) = whole(op, self.dtype(), number);
                (op, scalar.operand(self))
            }
            None => (op, other.operand(self)),
        }
    }
}

/// The number as an element; an error if the type cannot hold it.
pub(crate) fn held(operation: &'static str, dtype: DType, number: f64) -> Result<Scalar, Error> {
    Scalar::try_from_f64(dtype, number).ok_or_else(|| {
        let (expected, given) = (format!("a number that {dtype} holds"), format!("{number:?}"));
        let remedy = "convert the array with `cast` to a type that holds the number";
        Error::invalid(operation, expected, given, remedy)
    })
}

/// The comparison of integers or bools with any number, as one with a number that they hold: `a < 20.5` is
/// `a < 21`, and `a < 300` of u8 is `a >= 0`.
fn whole(op: CompareOp, dtype: DType, number: f64) -> (CompareOp, Scalar) {
    let (rounded, is_true) = match op {
        CompareOp::Eq => (number, false),
        CompareOp::Ne => (number, true),
        CompareOp::Lt => (number.ceil(), number > 0.0),
        CompareOp::Ge => (number.ceil(), number < 0.0),
        CompareOp::Le => (number.floor(), number > 0.0),
        CompareOp::Gt => (number.floor(), number < 0.0),
    };
    match Scalar::try_from_f64(dtype, rounded) {
        Some(scalar) => (op, scalar),
        // A fraction, NaN, or a number outside the type's range: the answer is the same for all elements.
        None => (if is_true { CompareOp::Ge } else { CompareOp::Lt }, Scalar::extreme(dtype, false)),
    }
}
