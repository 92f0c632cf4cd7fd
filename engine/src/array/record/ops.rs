//! Pointwise operations as they are recorded: arithmetic, comparisons, functions. Shapes, dtypes and teams
//! are checked at once; nothing is computed. Plain numbers as operands take the array's dtype; a value that
//! does not fit is an error. Comparisons of integers with any number are exact.

use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign, Mul,
    MulAssign, Neg, Not, Rem, RemAssign, Sub, SubAssign,
};
use std::sync::Arc;

use half::{bf16, f16};
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

/// The common shape of two operands. Arrays over domains go by position and never stretch, the rule of
/// Chapel's zippered loops. Numbers stretch to them, and what a reduction leaves: arrays over no domain, of
/// extent 1 along dimensions that are folded away.
pub(crate) fn stretch(operation: &'static str, a: &Node, b: &Node) -> Result<Index> {
    let is_over_domain = a.domain.is_some() || b.domain.is_some();
    let stretches = |node: &Node, other: &Node| {
        let fits = |(&extent, &to): (&i64, &i64)| extent == 1 || extent == to;
        let is_number = node.rank() <= other.rank() && node.shape.iter().all(|&extent| extent == 1);
        let is_folded = node.rank() == other.rank() && node.shape.iter().zip(other.shape.iter()).all(fits);
        node.domain.is_none() && (is_number || is_folded)
    };
    if is_over_domain && a.shape != b.shape && !stretches(a, b) && !stretches(b, a) {
        let text = |node: &Node| match &node.domain {
            Some(domain) => domain.to_string(),
            None => format!("shape {}", node.shape),
        };
        return Err(Error::invalid(
            operation,
            "operands of one shape, because arrays over domains go by position",
            format!("{} and {}", text(a), text(b)),
            "take common indices (by_index), or a slice of equal extents",
        ));
    }
    broadcast(operation, &a.shape, &b.shape)
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

    /// The error that the array carries; says nothing of what computing it may bring.
    ///
    /// # Errors
    /// The error the array carries.
    #[doc = example!(
        "let wrong = u.slice(&s![.., ..2]) + u.slice(&s![.., 1]).sqrt().select(&u, &u);"
        "assert!(u.recorded().is_ok() && wrong.recorded().is_err());"
    )]
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
        let shape = if a.shape == b.shape { a.shape } else { stretch(operation, a, b)? };
        let b = b.beside(operation, a)?;
        let b = match number_by_value(op, &b) {
            Some(number) => Node::lazy(b.shape, b.dtype, &b.team, Expr::Constant(number), b.layout()),
            None => b,
        };
        let layout = layout_for(&shape, &[a, &b]);
        let operands = Operands::Two([Arc::clone(a), b]);
        Ok(Array::recording(Node::lazy(shape, dtype, &a.team, Expr::Apply(op, operands), layout)))
    }

    /// Conversion by value: floats to integers truncate and saturate (NaN gives 0), integers wrap.
    #[doc = example!("assert_eq!((&u / 2).cast(DType::I32).to_vec::<i32>()?, [0, 0, 1, 1, 2, 2]);")]
    pub fn cast(&self, dtype: DType) -> Array {
        match dtype == self.dtype() {
            true => self.clone(),
            false => self.apply1("cast", Takes::Any, Pointwise::Cast, dtype),
        }
    }

    /// The same bits as another type of as many bytes; neither is bool.
    #[doc = example!("assert_eq!(u.bitcast(DType::U64).get(&[0, 1])?, 1.0f64.to_bits().into());")]
    pub fn bitcast(&self, dtype: DType) -> Array {
        let from = self.dtype();
        if from.size_bytes() == dtype.size_bytes() && from != DType::Bool && dtype != DType::Bool {
            return self.apply1("bitcast", Takes::Any, Pointwise::Bitcast, dtype);
        }
        let (expected, given) = (format!("numbers of {} bytes", from.size_bytes()), dtype.to_string());
        self.failed_as(dtype, Error::invalid("bitcast", expected, given, "use cast, which keeps values"))
    }

    /// `if self { yes } else { no }` per element; `self` is bool. Shapes broadcast.
    #[doc = example!(
        "let capped = u.greater(3).select(&(&u * 0 + 3), &u);"
        "assert_eq!(capped.to_vec::<f64>()?, [0.0, 1.0, 2.0, 3.0, 3.0, 3.0]);"
    )]
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
        stretch("select", &self.node, &yes.node)?;
        let shape = broadcast("select", &stretch("select", &yes.node, &no.node)?, &self.shape())?;
        stretch("select", &self.node, &no.node)?;
        let dtype = yes.dtype();
        let (yes, no) = (yes.node.beside("select", &self.node)?, no.node.beside("select", &self.node)?);
        let nodes = [Arc::clone(&self.node), yes, no];
        let layout = layout_for(&shape, &nodes.each_ref());
        let operands = Operands::Three(nodes);
        let expr = Expr::Apply(Pointwise::Select, operands);
        Ok(Array::recording(Node::lazy(shape, dtype, &self.node.team, expr, layout)))
    }

    /// True where the element is NaN.
    #[doc = example!("assert!((&u / &u).is_nan().get(&[0, 0])? == true.into());")]
    pub fn is_nan(&self) -> Array {
        self.apply1("is_nan", Takes::Floats, Pointwise::Unary(UnaryOp::IsNan), DType::Bool)
    }
}

/// The number that is the second operand, if kernels contain it because what they do depends on it: counts of
/// shifts, divisors of integers, small whole exponents. All other numbers are their arguments, so that one
/// kernel serves all values.
fn number_by_value(op: Pointwise, operand: &Node) -> Option<Scalar> {
    match op {
        Pointwise::Binary(BinaryOp::Shl | BinaryOp::Shr) => operand.as_number(),
        Pointwise::Binary(BinaryOp::Div | BinaryOp::Rem) if !operand.dtype.is_float() => operand.as_number(),
        Pointwise::Math2(Math2::Pow) => operand
            .as_number()
            .filter(|number| [-4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0].contains(&number.to_f64())),
        _ => None,
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

/// The example of a method: what it makes of `x`. Mathematical functions may differ in the last place.
macro_rules! pointwise_example {
    ($x:literal, $call:expr, $y:literal) => {
        concat!(
            "\n\n# Examples\n```\n# use partita::prelude::*;\n",
            "# let team = Team::on(&[Device::host()], 1)?;\n",
            "# let dist = Distribution::builder(&[1]).build()?;\nlet x = Array::from_slice(&team, &dist, &[",
            $x,
            "])?;\nlet y = x.",
            $call,
            ";\nassert!((y.cast(DType::F64).item::<f64>()? - f64::from(",
            $y,
            ")).abs() < 1e-15);\n# Ok::<(), partita::Error>(())\n```"
        )
    };
}

macro_rules! unary_methods {
    ($kind:ident($ops:ident), $end:literal:
     $($name:ident $op:ident $takes:ident $what:literal $x:literal $y:literal;)*) => {
        impl Array {
            $(#[doc = concat!($what, $end)]
            #[doc = pointwise_example!($x, stringify!($name()), $y)]
            pub fn $name(&self) -> Array {
                self.apply1(stringify!($name), Takes::$takes, Pointwise::$kind($ops::$op), self.dtype())
            })*
        }
    };
}

unary_methods! { Unary(UnaryOp), ".":
    abs Abs Numbers "Magnitudes" -2.0 2.0;
    sqrt Sqrt Floats "Square roots, correctly rounded" 9.0 3.0;
    floor Floor Floats "Largest integral values not above" -1.5 -2.0;
    ceil Ceil Floats "Smallest integral values not below" -1.5 -1.0;
    trunc Trunc Floats "Integral values towards zero" -1.5 -1.0;
    round Round Floats "Nearest integral values, ties to even" 2.5 2.0;
}

unary_methods! { Math1(Math1), ". At most 2 ulp from the exact value.":
    exp Exp Floats "e to the power of each element" 0.5 1.6487212707001282;
    expm1 Expm1 Floats "exp(x) - 1, accurate near 0" 0.5 0.6487212707001282;
    log Log Floats "Natural logarithms" 0.5 -0.6931471805599453;
    log1p Log1p Floats "log(1 + x), accurate near 0" 0.5 0.4054651081081644;
    log2 Log2 Floats "Logarithms to base 2" 0.5 -1.0;
    log10 Log10 Floats "Logarithms to base 10" 0.5 -0.3010299956639812;
    sin Sin Floats "Sines of angles in radians" 0.5 0.479425538604203;
    cos Cos Floats "Cosines of angles in radians" 0.5 0.8775825618903728;
    tan Tan Floats "Tangents of angles in radians" 0.5 0.5463024898437905;
    asin Asin Floats "Angles whose sine is x" 0.5 0.5235987755982989;
    acos Acos Floats "Angles whose cosine is x" 0.5 1.0471975511965979;
    atan Atan Floats "Angles whose tangent is x" 0.5 0.4636476090008061;
    sinh Sinh Floats "Hyperbolic sines" 0.5 0.5210953054937474;
    cosh Cosh Floats "Hyperbolic cosines" 0.5 1.1276259652063807;
    tanh Tanh Floats "Hyperbolic tangents" 0.5 0.46211715726000974;
    asinh Asinh Floats "Inverse hyperbolic sines" 0.5 0.48121182505960347;
    acosh Acosh Floats "Inverse hyperbolic cosines" 1.5 0.9624236501192069;
    atanh Atanh Floats "Inverse hyperbolic tangents" 0.5 0.5493061443340548;
    erf Erf Floats "Error function" 0.5 0.5204998778130465;
    cbrt Cbrt Floats "Cube roots" 0.5 0.7937005259840998;
}

/// The right-hand side of an operation: an array or a plain number, which takes the array's dtype.
///
/// Floats round the number. Integers and bool must hold it exactly: `u + 0.5` of an i32 array, or `u + 300`
/// of a u8 array, carries an error. Comparisons of integers take any number and are exact: `u.less(20.5)` is
/// true of 20, and no integer is equal to NaN. A number of type f64 or i32 may also stand on the left:
/// `2 * &u`. Other types do not compile:
///
/// ```compile_fail,E0277
/// # use partita::prelude::*;
/// fn wrong(u: &Array) -> Array {
///     u + "text"
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an operand beside an array",
    label = "expected an `Array`, `&Array`, a number or a `Scalar`",
    note = "a number takes the array's dtype; make arrays of host data with `Array::from_slice`"
)]
pub trait Operand {
    /// The operand as an array that goes with `like`.
    fn operand(&self, like: &Array) -> Array;

    /// The operand, if it is a plain number, in the widest type of its kind: f64, i64 or u64.
    fn number(&self) -> Option<Scalar> {
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

    fn number(&self) -> Option<Scalar> {
        (**self).number()
    }
}

macro_rules! number_operands {
    ($($wide:ident: $($type:ty)*;)*) => {$($(
        impl Operand for $type {
            fn operand(&self, like: &Array) -> Array {
                like.number("a plain number", Scalar::from($wide::from(*self)))
            }

            fn number(&self) -> Option<Scalar> {
                Some(Scalar::from($wide::from(*self)))
            }
        }
    )*)*};
}

number_operands! {
    f64: f16 bf16 f32 f64;
    i64: i8 i16 i32 i64;
    u64: u8 u16 u32 u64;
}

impl Operand for usize {
    fn operand(&self, like: &Array) -> Array {
        (*self as u64).operand(like)
    }

    fn number(&self) -> Option<Scalar> {
        (*self as u64).number()
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
    ($kind:ident($ops:ident), $end:literal:
     $($name:ident $op:ident $takes:ident $what:literal $x:literal $other:literal $y:literal;)*) => {
        impl Array {
            $(#[doc = concat!($what, $end)]
            #[doc = pointwise_example!($x, stringify!($name($other)), $y)]
            pub fn $name(&self, other: impl Operand) -> Array {
                self.binary(stringify!($name), Takes::$takes, Pointwise::$kind($ops::$op), &other)
            })*
        }
    };
}

binary_methods! { Binary(BinaryOp), ".":
    minimum Min Any "The smaller of two elements; NaN if either is" 3.0 2.0 2.0;
    maximum Max Any "The larger of two elements; NaN if either is" 3.0 2.0 3.0;
    shift_left Shl Integers "Integers shifted left, by counts modulo their width" 5 2 20;
    shift_right Shr Integers
        "Integers shifted right, by counts modulo their width; signed ones keep their sign" 5 2 1;
}

binary_methods! { Math2(Math2), ". At most 2 ulp from the exact value.":
    pow Pow Floats "Each element to the power of the other" 2.0 3.0 8.0;
    atan2 Atan2 Floats "The angle of the point (other, self)" 1.0 2.0 0.4636476090008061;
    hypot Hypot Floats "sqrt(self^2 + other^2) without undue overflow" 3.0 4.0 5.0;
}

macro_rules! compare_methods {
    ($($name:ident $op:ident $what:literal $y:literal;)*) => {
        impl Array {
            $(#[doc = $what]
            #[doc = pointwise_example!(1.5, stringify!($name(2)), $y)]
            pub fn $name(&self, other: impl Operand) -> Array {
                let (op, other) = self.compared(CompareOp::$op, &other);
                self.apply2(stringify!($name), Takes::Any, (Pointwise::Compare(op), DType::Bool), &other)
            })*
        }
    };
}

compare_methods! {
    equal Eq "Is it equal? False for NaN." false;
    not_equal Ne "Is it different? True for NaN." true;
    less Lt "Is it less? False for NaN." true;
    less_equal Le "Is it less or equal? False for NaN." true;
    greater Gt "Is it greater? False for NaN." false;
    greater_equal Ge "Is it greater or equal? False for NaN." false;
}

macro_rules! operators {
    ($($trait:ident $method:ident $assign:ident $assign_method:ident $op:ident $takes:ident;)*) => {$(
        impl<T: Operand> $assign<T> for Array {
            fn $assign_method(&mut self, other: T) {
                *self = self.keeps_shape(stringify!($assign_method), $trait::$method(&*self, other));
            }
        }
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
        number_first! { $trait $method f64 i32 }
    )*};
}

/// One float type and one integer type: with more, `(2.0 * &u).sqrt()` would need a suffix at its number.
macro_rules! number_first {
    ($trait:ident $method:ident $($type:ty)*) => {$(
        impl $trait<&Array> for $type {
            type Output = Array;
            fn $method(self, other: &Array) -> Array {
                let number = Scalar::from(self);
                $trait::$method(&other.number(stringify!($method), number), other)
            }
        }
        impl $trait<Array> for $type {
            type Output = Array;
            fn $method(self, other: Array) -> Array {
                $trait::$method(self, &other)
            }
        }
    )*};
}

operators! {
    Add add AddAssign add_assign Add Numbers;
    Sub sub SubAssign sub_assign Sub Numbers;
    Mul mul MulAssign mul_assign Mul Numbers;
    Div div DivAssign div_assign Div Numbers;
    Rem rem RemAssign rem_assign Rem Numbers;
    BitAnd bitand BitAndAssign bitand_assign And Bits;
    BitOr bitor BitOrAssign bitor_assign Or Bits;
    BitXor bitxor BitXorAssign bitxor_assign Xor Bits;
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

    /// The result of an operator such as `+=`: of the array's own shape.
    fn keeps_shape(&self, operation: &'static str, result: Array) -> Array {
        let (expected, given) = (self.shape(), result.shape());
        if given == expected {
            return result;
        }
        let (expected, given) =
            (format!("an operand that broadcasts to {expected}"), format!("a result of {given}"));
        self.failed(Error::invalid(
            operation,
            expected,
            given,
            "write `u = &u + v` to give `u` another shape",
        ))
    }

    /// A number as an array of this one's shape and type; an error if the type cannot hold it.
    pub(crate) fn number(&self, operation: &'static str, number: Scalar) -> Array {
        match held(operation, self.dtype(), number) {
            Ok(scalar) => scalar.operand(self),
            Err(error) => self.failed(error),
        }
    }

    /// The equivalent of a comparison with `other`: integers are compared with a number that they hold.
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

/// The number (f64 or an integer) as an element; an error if the type cannot hold it.
pub(crate) fn held(operation: &'static str, dtype: DType, number: Scalar) -> Result<Scalar> {
    exact(dtype, number).ok_or_else(|| {
        let given = match number.dtype {
            DType::F64 => format!("{:?}", number.to_f64()),
            DType::U64 => number.bits.to_string(),
            _ => number.to_i64().to_string(),
        };
        let expected = format!("a number that {dtype} holds");
        let remedy = "convert the array with `cast` to a type that holds the number";
        Error::invalid(operation, expected, given, remedy)
    })
}

/// The number rounded to a float type, or as an integer or bool that is equal to it.
fn exact(dtype: DType, number: Scalar) -> Option<Scalar> {
    let wide = |scalar: Scalar| match scalar.dtype {
        DType::U64 => i128::from(scalar.bits),
        _ => i128::from(scalar.to_i64()),
    };
    match number.dtype {
        from if from.is_float() => Scalar::try_from_f64(dtype, number.to_f64()),
        DType::U64 if dtype.is_float() => Some(Scalar::from_f64(dtype, number.to_f64())),
        _ => {
            let scalar = Scalar::from_i64(dtype, number.to_i64());
            (dtype.is_float() || wide(scalar) == wide(number)).then_some(scalar)
        }
    }
}

/// The comparison of integers or bools with any number, as one with a number that they hold: `a < 20.5` is
/// `a < 21`, and `a < 300` of u8 is `a >= 0`.
fn whole(op: CompareOp, dtype: DType, number: Scalar) -> (CompareOp, Scalar) {
    let value = number.to_f64();
    let (rounded, is_true) = match op {
        CompareOp::Eq => (value, false),
        CompareOp::Ne => (value, true),
        CompareOp::Lt => (value.ceil(), value > 0.0),
        CompareOp::Ge => (value.ceil(), value < 0.0),
        CompareOp::Le => (value.floor(), value > 0.0),
        CompareOp::Gt => (value.floor(), value < 0.0),
    };
    let rounded = if number.dtype.is_float() { Scalar::from(rounded) } else { number };
    match exact(dtype, rounded) {
        Some(scalar) => (op, scalar),
        // A fraction, NaN, or a number outside the type's range: the answer is the same for all elements.
        None => (if is_true { CompareOp::Ge } else { CompareOp::Lt }, Scalar::extreme(dtype, false)),
    }
}
