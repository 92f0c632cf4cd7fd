//! What is recorded point by point: arithmetic, comparisons, functions. Checks shapes, dtypes and teams at
//! once; computes nothing. Plain numbers as operands take the array's dtype; a value that does not fit is an
//! error. Comparisons of integers with any number are exact.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Sub};
use std::sync::Arc;

use partita_kernels::{BinaryOp, CompareOp, DType, Math1, Math2, Scalar, UnaryOp};

use crate::array::Array;
use crate::array::record::expr::{Expr, NodeLayout, Operands, Pointwise};
use crate::array::record::node::Node;
use crate::error::{Error, Result};
use crate::index::Index;

/// The common shape of two operands: dimensions align at the end, 1 stretches.
pub(crate) fn broadcast(operation: &'static str, a: &Index, b: &Index) -> Result<Index> {
    let rank = a.rank().max(b.rank());
    let extent = |shape: &Index, d: usize| match (d + shape.rank()).checked_sub(rank) {
        Some(at) => shape[at],
        None => 1,
    };
    let mut fits = true;
    let shape = Index::from_fn(rank, |d| match (extent(a, d), extent(b, d)) {
        (x, y) if x == y => x,
        (1, y) => y,
        (x, 1) => x,
        (x, _) => {
            fits = false;
            x
        }
    });
    if fits {
        return Ok(shape);
    }
    Err(Error::invalid(
        operation,
        "shapes that broadcast (equal, or 1, counted from the last dimension)",
        format!("{a} and {b}"),
        "take windows of equal extents, or insert dimensions of extent 1",
    ))
}

impl Array {
    pub(crate) fn failed(&self, error: Error) -> Array {
        self.failed_as(self.dtype(), error)
    }

    /// A result of `dtype` that carries an error: this array's own, which came first, if it has one.
    pub(crate) fn failed_as(&self, dtype: DType, error: Error) -> Array {
        Array::of(Node::failed(&self.node, dtype, self.node.error().unwrap_or(error)))
    }

    pub(crate) fn or_failed(&self, result: Result<Array>) -> Array {
        result.unwrap_or_else(|error| self.failed(error))
    }

    /// Whether the array carries an error; says nothing of what computing it may bring.
    ///
    /// # Errors
    /// The error the array carries.
    pub fn recorded(&self) -> Result<()> {
        self.node.error().map_or(Ok(()), Err)
    }

    fn apply1(&self, operation: &'static str, takes: Takes, op: Pointwise, dtype: DType) -> Array {
        if let Err(error) = takes.check(operation, self.dtype()) {
            return self.failed_as(dtype, error);
        }
        let operands = Operands::One([Arc::clone(&self.node)]);
        let node = &self.node;
        Array::recording(Node::lazy(node.shape, dtype, &node.team, Expr::Apply(op, operands), node.layout()))
    }

    fn apply2(
        &self,
        operation: &'static str,
        takes: Takes,
        (op, dtype): (Pointwise, DType),
        other: &Array,
    ) -> Array {
        if let Err(error) = takes.check(operation, self.dtype()) {
            return self.failed_as(dtype, error);
        }
        let first = |error| self.node.error().or_else(|| other.node.error()).unwrap_or(error);
        let result = self.try_apply2(operation, op, dtype, other);
        result.unwrap_or_else(|error| self.failed_as(dtype, first(error)))
    }

    fn binary(&self, operation: &'static str, takes: Takes, op: Pointwise, other: &impl Operand) -> Array {
        self.apply2(operation, takes, (op, self.dtype()), &self.beside(operation, other))
    }

    fn try_apply2(
        &self,
        operation: &'static str,
        op: Pointwise,
        dtype: DType,
        other: &Array,
    ) -> Result<Array> {
        let (a, b) = (&self.node, &other.node);
        if a.dtype != b.dtype {
            return Err(Error::dtypes(operation, a.dtype, b.dtype));
        }
        let shape = if a.shape == b.shape { a.shape } else { broadcast(operation, &a.shape, &b.shape)? };
        let b = b.beside(operation, a)?;
        let layout = layout_for(&shape, &[a, &b]);
        let operands = Operands::Two([Arc::clone(a), b]);
        Ok(Array::recording(Node::lazy(shape, dtype, &a.team, Expr::Apply(op, operands), layout)))
    }

    /// Conversion by value: floats to integers truncate and saturate (NaN gives 0), integers wrap.
    pub fn cast(&self, dtype: DType) -> Array {
        match dtype == self.dtype() {
            true => self.clone(),
            false => self.apply1("cast", Takes::Any, Pointwise::Cast, dtype),
        }
    }

    /// The same bits as another type of as many bytes; neither is bool.
    pub fn bitcast(&self, dtype: DType) -> Array {
        let from = self.dtype();
        if from.size_bytes() == dtype.size_bytes() && from != DType::Bool && dtype != DType::Bool {
            return self.apply1("bitcast", Takes::Any, Pointwise::Bitcast, dtype);
        }
        let (expected, given) = (format!("numbers of {} bytes", from.size_bytes()), dtype.to_string());
        self.failed_as(dtype, Error::invalid("bitcast", expected, given, "use cast, which keeps values"))
    }

    /// `if self { yes } else { no }` per element; `self` is bool. Shapes broadcast.
    pub fn select(&self, yes: &Array, no: &Array) -> Array {
        self.try_select(yes, no).unwrap_or_else(|error| self.failed_as(yes.dtype(), error))
    }

    fn try_select(&self, yes: &Array, no: &Array) -> Result<Array> {
        let nodes = [&self.node, &yes.node, &no.node];
        if let Some(error) = nodes.iter().find_map(|node| node.error()) {
            return Err(error);
        }
        if self.dtype() != DType::Bool {
            return Err(Error::invalid(
                "select",
                "a bool condition",
                self.dtype().name(),
                "compare it with something",
            ));
        }
        if yes.dtype() != no.dtype() {
            return Err(Error::dtypes("select", yes.dtype(), no.dtype()));
        }
        let shape = broadcast("select", &broadcast("select", &self.shape(), &yes.shape())?, &no.shape())?;
        let dtype = yes.dtype();
        let (yes, no) = (yes.node.beside("select", &self.node)?, no.node.beside("select", &self.node)?);
        let nodes = [Arc::clone(&self.node), yes, no];
        let layout = layout_for(&shape, &nodes.each_ref());
        let operands = Operands::Three(nodes);
        let expr = Expr::Apply(Pointwise::Select, operands);
        Ok(Array::recording(Node::lazy(shape, dtype, &self.node.team, expr, layout)))
    }

    /// True where the element is NaN.
    pub fn is_nan(&self) -> Array {
        self.apply1("is_nan", Takes::Floats, Pointwise::Unary(UnaryOp::IsNan), DType::Bool)
    }
}

/// The layout of a result: that of the first operand that has its shape and a layout of its own.
fn layout_for(shape: &Index, operands: &[&Arc<Node>]) -> NodeLayout<Arc<Node>> {
    operands
        .iter()
        .filter(|node| node.shape == *shape)
        .map(|node| node.layout())
        .find(|layout| !matches!(layout, NodeLayout::Free))
        .unwrap_or(NodeLayout::Free)
}

/// The element types that an operation takes.
#[derive(Clone, Copy)]
enum Takes {
    Any,
    Numbers,
    Floats,
    Integers,
    Bits,
}

impl Takes {
    fn check(self, operation: &'static str, dtype: DType) -> Result<()> {
        let (fits, expected) = match self {
            Takes::Any => (true, ""),
            Takes::Numbers => (dtype != DType::Bool, "numbers"),
            Takes::Floats => (dtype.is_float(), "a floating-point array"),
            Takes::Integers => (dtype.is_integer(), "integers"),
            Takes::Bits => (!dtype.is_float(), "bool or integers"),
        };
        match fits {
            true => Ok(()),
            false => Err(Error::invalid(operation, expected, dtype.name(), "convert it with `cast`")),
        }
    }
}

macro_rules! unary_methods {
    ($kind:ident($ops:ident), $end:literal: $($name:ident $op:ident $takes:ident $what:literal;)*) => {
        impl Array {
            $(#[doc = concat!($what, $end)]
            pub fn $name(&self) -> Array {
                self.apply1(stringify!($name), Takes::$takes, Pointwise::$kind($ops::$op), self.dtype())
            })*
        }
    };
}

unary_methods! { Unary(UnaryOp), ".":
    abs Abs Numbers "Magnitudes";
    sqrt Sqrt Floats "Square roots, correctly rounded";
    floor Floor Floats "Largest integral values not above";
    ceil Ceil Floats "Smallest integral values not below";
    trunc Trunc Floats "Integral values towards zero";
    round Round Floats "Nearest integral values, ties to even";
}

unary_methods! { Math1(Math1), ". At most 2 ulp from the exact value.":
    exp Exp Floats "e to the power of each element";
    expm1 Expm1 Floats "exp(x) - 1, accurate near 0";
    log Log Floats "Natural logarithms";
    log1p Log1p Floats "log(1 + x), accurate near 0";
    log2 Log2 Floats "Logarithms to base 2";
    log10 Log10 Floats "Logarithms to base 10";
    sin Sin Floats "Sines of angles in radians";
    cos Cos Floats "Cosines of angles in radians";
    tan Tan Floats "Tangents of angles in radians";
    asin Asin Floats "Angles whose sine is x";
    acos Acos Floats "Angles whose cosine is x";
    atan Atan Floats "Angles whose tangent is x";
    sinh Sinh Floats "Hyperbolic sines";
    cosh Cosh Floats "Hyperbolic cosines";
    tanh Tanh Floats "Hyperbolic tangents";
    asinh Asinh Floats "Inverse hyperbolic sines";
    acosh Acosh Floats "Inverse hyperbolic cosines";
    atanh Atanh Floats "Inverse hyperbolic tangents";
    erf Erf Floats "Error function";
    cbrt Cbrt Floats "Cube roots";
}

/// The right-hand side of an operation: an array or a plain number, which takes the array's dtype.
///
/// Floats round the number. Integers and bool must hold it exactly: `u + 0.5` of an i32 array, or `u + 300.0`
/// of a u8 array, carries an error. Comparisons of integers take any number and are exact: `u.less(20.5)` is
/// true of 20, and no integer is equal to NaN.
pub trait Operand {
    /// The operand as an array that goes with `like`.
    fn operand(&self, like: &Array) -> Array;

    /// The operand, if it is a plain number.
    fn number(&self) -> Option<f64> {
        None
    }
}

impl Operand for Array {
    fn operand(&self, _: &Array) -> Array {
        self.clone()
    }
}

impl<T: Operand + ?Sized> Operand for &T {
    fn operand(&self, like: &Array) -> Array {
        (**self).operand(like)
    }

    fn number(&self) -> Option<f64> {
        (**self).number()
    }
}

impl Operand for f64 {
    fn operand(&self, like: &Array) -> Array {
        like.number("a plain number", *self)
    }

    fn number(&self) -> Option<f64> {
        Some(*self)
    }
}

/// A number of an exact dtype, which must be the array's.
impl Operand for Scalar {
    fn operand(&self, like: &Array) -> Array {
        let node = &like.node;
        Array::of(Node::lazy(node.shape, self.dtype, &node.team, Expr::Fill(*self), NodeLayout::Free))
    }
}

macro_rules! binary_methods {
    ($kind:ident($ops:ident), $end:literal: $($name:ident $op:ident $takes:ident $what:literal;)*) => {
        impl Array {
            $(#[doc = concat!($what, $end)]
            pub fn $name(&self, other: impl Operand) -> Array {
                self.binary(stringify!($name), Takes::$takes, Pointwise::$kind($ops::$op), &other)
            })*
        }
    };
}

binary_methods! { Binary(BinaryOp), ".":
    minimum Min Any "The smaller of two elements; NaN if either is";
    maximum Max Any "The larger of two elements; NaN if either is";
    shift_left Shl Integers "Integers shifted left, by counts modulo their width";
    shift_right Shr Integers
        "Integers shifted right, by counts modulo their width; signed ones keep their sign";
}

binary_methods! { Math2(Math2), ". At most 2 ulp from the exact value.":
    pow Pow Floats "Each element to the power of the other";
    atan2 Atan2 Floats "The angle of the point (other, self)";
    hypot Hypot Floats "sqrt(self^2 + other^2) without undue overflow";
}

macro_rules! compare_methods {
    ($($name:ident $op:ident $what:literal;)*) => {
        impl Array {
            $(#[doc = $what]
            pub fn $name(&self, other: impl Operand) -> Array {
                let (op, other) = self.compared(CompareOp::$op, &other);
                self.apply2(stringify!($name), Takes::Any, (Pointwise::Compare(op), DType::Bool), &other)
            })*
        }
    };
}

compare_methods! {
    equal Eq "Is it equal? False for NaN.";
    not_equal Ne "Is it different? True for NaN.";
    less Lt "Is it less? False for NaN.";
    less_equal Le "Is it less or equal? False for NaN.";
    greater Gt "Is it greater? False for NaN.";
    greater_equal Ge "Is it greater or equal? False for NaN.";
}

macro_rules! operators {
    ($($trait:ident $method:ident $op:ident $takes:ident;)*) => {$(
        impl<T: Operand> $trait<T> for &Array {
            type Output = Array;
            fn $method(self, other: T) -> Array {
                self.binary(stringify!($method), Takes::$takes, Pointwise::Binary(BinaryOp::$op), &other)
            }
        }
        impl<T: Operand> $trait<T> for Array {
            type Output = Array;
            fn $method(self, other: T) -> Array {
                $trait::$method(&self, other)
            }
        }
        impl $trait<&Array> for f64 {
            type Output = Array;
            fn $method(self, other: &Array) -> Array {
                $trait::$method(&other.number(stringify!($method), self), other)
            }
        }
        impl $trait<Array> for f64 {
            type Output = Array;
            fn $method(self, other: Array) -> Array {
                $trait::$method(self, &other)
            }
        }
    )*};
}

operators! {
    Add add Add Numbers;
    Sub sub Sub Numbers;
    Mul mul Mul Numbers;
    Div div Div Numbers;
    Rem rem Rem Numbers;
    BitAnd bitand And Bits;
    BitOr bitor Or Bits;
    BitXor bitxor Xor Bits;
}

macro_rules! unary_operators {
    ($($trait:ident $method:ident $takes:ident;)*) => {$(
        impl $trait for &Array {
            type Output = Array;
            fn $method(self) -> Array {
                let op = Pointwise::Unary(UnaryOp::$trait);
                self.apply1(stringify!($method), Takes::$takes, op, self.dtype())
            }
        }
        impl $trait for Array {
            type Output = Array;
            fn $method(self) -> Array {
                $trait::$method(&self)
            }
        }
    )*};
}

unary_operators! {
    Neg neg Numbers;
    Not not Bits;
}

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
pub(crate) fn held(operation: &'static str, dtype: DType, number: f64) -> Result<Scalar> {
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
