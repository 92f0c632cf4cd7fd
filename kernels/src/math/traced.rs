//! A number that writes IR: running a function on it appends the function's instructions to a
//! kernel builder. The second instantiation of [`super::number`], beside `f32` and `f64`.

use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

use super::number::{Double, Integer, Mask, Number, Single};
use super::single::SHIFTER;
use crate::build::Builder;
use crate::dtype::{DType, Scalar};
use crate::ir::{BinaryOp, CompareOp, UnaryOp, Value};

type Cell<'b, 'k> = &'b RefCell<&'k mut Builder>;

/// A value under construction: a float, an integer or a bool, as the builder knows.
#[derive(Clone, Copy)]
pub(super) struct Traced<'b, 'k> {
    cell: Cell<'b, 'k>,
    value: Value,
    /// An addition rounds to integers at less cost than conversions.
    shifts: bool,
}

/// Lends the builder to numbers for the time of one function.
pub(super) fn trace(
    builder: &mut Builder,
    f: impl for<'b, 'k> FnOnce(Cell<'b, 'k>) -> Traced<'b, 'k>,
) -> Value {
    let cell = RefCell::new(builder);
    f(&cell).value
}

impl<'b, 'k> Traced<'b, 'k> {
    pub(super) fn new(cell: Cell<'b, 'k>, value: Value) -> Self {
        Traced { cell, value, shifts: false }
    }

    pub(super) fn shifting(self, shifts: bool) -> Self {
        Traced { shifts, ..self }
    }

    fn with(self, f: impl FnOnce(&mut Builder) -> Value) -> Self {
        Traced { value: f(&mut self.cell.borrow_mut()), ..self }
    }

    fn unary(self, op: UnaryOp) -> Self {
        self.with(|k| k.unary(op, self.value))
    }

    fn binary(self, op: BinaryOp, other: Self) -> Self {
        self.with(|k| k.binary(op, self.value, other.value))
    }

    fn compare(self, op: CompareOp, other: Self) -> Self {
        self.with(|k| k.compare(op, self.value, other.value))
    }

    /// `self`, a bool, decides.
    fn choose(self, yes: Self, no: Self) -> Self {
        self.with(|k| k.select(self.value, yes.value, no.value))
    }

    fn integer(self, dtype: DType, value: i64) -> Self {
        self.with(|k| k.int(dtype, value))
    }

    fn dtype(self) -> DType {
        self.cell.borrow().dtype(self.value)
    }

    /// The integer or float type of the same width.
    fn counterpart(self) -> DType {
        match self.dtype() {
            DType::F32 => DType::I32,
            DType::F64 => DType::I64,
            DType::I32 => DType::F32,
            DType::I64 => DType::F64,
            other => unreachable!("functions are traced in f32 and f64, not {other}"),
        }
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $op:ident),*) => {
        $(impl $trait for Traced<'_, '_> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                self.binary(BinaryOp::$op, other)
            }
        })*
    };
}

operators!(Add add Add, Sub sub Sub, Mul mul Mul, Div div Div);
operators!(BitAnd bitand And, BitOr bitor Or, BitXor bitxor Xor);

impl Neg for Traced<'_, '_> {
    type Output = Self;
    fn neg(self) -> Self {
        self.unary(UnaryOp::Neg)
    }
}

impl Not for Traced<'_, '_> {
    type Output = Self;
    fn not(self) -> Self {
        self.unary(UnaryOp::Not)
    }
}

impl Mask for Traced<'_, '_> {}

impl Integer for Traced<'_, '_> {
    type Mask = Self;

    fn lit(self, value: i64) -> Self {
        self.integer(self.dtype(), value)
    }
    fn sar(self, count: u32) -> Self {
        self.binary(BinaryOp::Shr, Integer::lit(self, count.into()))
    }
    fn shl_by(self, count: Self) -> Self {
        self.binary(BinaryOp::Shl, count)
    }
    /// Through the unsigned type, since `Shr` of a signed one is arithmetic.
    fn shr_by(self, count: Self) -> Self {
        let (signed, unsigned) = match self.dtype() {
            DType::I32 => (DType::I32, DType::U32),
            _ => (DType::I64, DType::U64),
        };
        self.with(|k| {
            let (bits, count) = (k.bitcast(self.value, unsigned), k.bitcast(count.value, unsigned));
            let shifted = k.binary(BinaryOp::Shr, bits, count);
            k.bitcast(shifted, signed)
        })
    }
    fn eq(self, other: Self) -> Self {
        self.compare(CompareOp::Eq, other)
    }
    fn lt(self, other: Self) -> Self {
        self.compare(CompareOp::Lt, other)
    }
    fn select(mask: Self, yes: Self, no: Self) -> Self {
        mask.choose(yes, no)
    }
}

impl Number for Traced<'_, '_> {
    type Int = Self;
    type Mask = Self;

    fn lit(self, value: f64) -> Self {
        let scalar = Scalar::from_f64(self.dtype(), value);
        self.with(|k| k.constant(scalar))
    }
    fn int(self, value: i64) -> Self {
        self.integer(self.counterpart(), value)
    }
    fn abs(self) -> Self {
        self.unary(UnaryOp::Abs)
    }
    fn sqrt(self) -> Self {
        self.unary(UnaryOp::Sqrt)
    }
    fn mul_add(self, b: Self, c: Self) -> Self {
        self.with(|k| k.fma(self.value, b.value, c.value))
    }
    fn round(self) -> Self {
        self.unary(UnaryOp::Round)
    }
    fn trunc(self) -> Self {
        self.unary(UnaryOp::Trunc)
    }
    fn lt(self, other: Self) -> Self {
        self.compare(CompareOp::Lt, other)
    }
    fn le(self, other: Self) -> Self {
        self.compare(CompareOp::Le, other)
    }
    fn eq(self, other: Self) -> Self {
        self.compare(CompareOp::Eq, other)
    }
    fn is_nan(self) -> Self {
        self.unary(UnaryOp::IsNan)
    }
    fn select(mask: Self, yes: Self, no: Self) -> Self {
        mask.choose(yes, no)
    }
    fn to_bits(self) -> Self {
        let dtype = self.counterpart();
        self.with(|k| k.bitcast(self.value, dtype))
    }
    fn from_bits(bits: Self) -> Self {
        bits.to_bits()
    }
    fn to_int(self) -> Self {
        let dtype = self.counterpart();
        self.with(|k| k.cast(self.value, dtype))
    }
    fn from_int(value: Self) -> Self {
        value.to_int()
    }
    fn nearest(self) -> (Self, Self) {
        if self.shifts && self.dtype() == DType::F32 {
            let shifter = Number::lit(self, SHIFTER.into());
            let shifted = self + shifter;
            return (shifted - shifter, shifted.to_bits() - shifter.to_bits());
        }
        let n = self.round().to_int();
        (Self::from_int(n), n)
    }
}

impl Single for Traced<'_, '_> {}
impl Double for Traced<'_, '_> {}
