//! What is recorded: arithmetic, comparisons, functions, windows, reductions. Checks shapes, dtypes
//! and teams at once; computes nothing.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Sub};
use std::sync::Arc;

use partita_kernels::{BinaryOp, CompareOp, DType, FoldOp, Kind, Math1, Math2, Scalar, UnaryOp};

use super::Array;
use super::map::Map;
use super::node::{Expr, Layout, Node, Operands, Pointwise, Reduction};
use super::slice::{Selected, Span, resolve};
use crate::error::{Error, Result};
use crate::index::Index;

pub(super) fn other_team(operation: &'static str) -> Error {
    Error::invalid(
        operation,
        "operands on one team",
        "operands on two different teams",
        "make both arrays with the same team",
    )
}

/// The common shape of two operands: dimensions align at the end, 1 stretches.
pub(super) fn broadcast(operation: &'static str, a: &Index, b: &Index) -> Result<Index> {
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
    fn failed(&self, error: Error) -> Array {
        Array::of(Node::failed(&self.node, error))
    }

    pub(super) fn or_failed(&self, result: Result<Array>) -> Array {
        result.unwrap_or_else(|error| self.failed(error))
    }

    /// Whether the array carries an error; says nothing of what computing it may bring.
    ///
    /// # Errors
    /// The error the array carries.
    pub fn recorded(&self) -> Result<()> {
        self.node.error().map_or(Ok(()), Err)
    }

    /// A constant of this array's dtype and shape, for arithmetic with plain numbers.
    fn constant(&self, value: f64) -> Array {
        let scalar = Scalar::from_f64(self.dtype(), value);
        let node = &self.node;
        Array::of(Node::lazy(node.shape, node.dtype, &node.team, Expr::Fill(scalar), Layout::Free))
    }

    fn unary(&self, op: UnaryOp) -> Array {
        let dtype = if op == UnaryOp::IsNan { DType::Bool } else { self.dtype() };
        self.apply1(Pointwise::Unary(op), dtype)
    }

    fn apply1(&self, op: Pointwise, dtype: DType) -> Array {
        let operands = Operands::One([Arc::clone(&self.node)]);
        let node = &self.node;
        Array::of(Node::lazy(node.shape, dtype, &node.team, Expr::Apply(op, operands), node.layout()))
    }

    fn apply2(&self, operation: &'static str, op: Pointwise, dtype: DType, other: &Array) -> Array {
        self.or_failed(self.try_apply2(operation, op, dtype, other))
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
            return Err(a
                .error()
                .or_else(|| b.error())
                .unwrap_or_else(|| Error::dtypes(operation, a.dtype, b.dtype)));
        }
        let shape = if a.shape == b.shape { a.shape } else { broadcast(operation, &a.shape, &b.shape)? };
        if a.team != b.team {
            return Err(other_team(operation));
        }
        let layout = layout_for(&shape, &[a, b]);
        let operands = Operands::Two([Arc::clone(a), Arc::clone(b)]);
        Ok(Array::of(Node::lazy(shape, dtype, &a.team, Expr::Apply(op, operands), layout)))
    }

    fn float_only(&self, operation: &'static str, then: impl FnOnce(&Array) -> Array) -> Array {
        if self.dtype().is_float() {
            return then(self);
        }
        self.failed(Error::invalid(
            operation,
            "a floating-point array",
            self.dtype().to_string(),
            "convert it with `cast`",
        ))
    }

    /// Conversion by value: floats to integers truncate and saturate (NaN gives 0), integers wrap.
    pub fn cast(&self, dtype: DType) -> Array {
        if dtype == self.dtype() { self.clone() } else { self.apply1(Pointwise::Cast, dtype) }
    }

    /// `if self { yes } else { no }` per element; `self` is bool. Shapes broadcast.
    pub fn select(&self, yes: &Array, no: &Array) -> Array {
        self.or_failed(self.try_select(yes, no))
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
        if nodes.iter().any(|node| node.team != self.node.team) {
            return Err(other_team("select"));
        }
        let shape = broadcast("select", &broadcast("select", &self.shape(), &yes.shape())?, &no.shape())?;
        let layout = layout_for(&shape, &nodes);
        let operands = Operands::Three(nodes.map(Arc::clone));
        let expr = Expr::Apply(Pointwise::Select, operands);
        Ok(Array::of(Node::lazy(shape, yes.dtype(), &self.node.team, expr, layout)))
    }

    /// A view: the elements that spans name, recorded, not copied. `u.slice(&s![1..-1, ..; 2])`; see
    /// [`crate::s!`]. What computes with it reads the elements where they are.
    pub fn slice(&self, spans: &[Span]) -> Array {
        self.or_failed(self.try_slice(spans))
    }

    fn try_slice(&self, spans: &[Span]) -> Result<Array> {
        let Selected { shape, map } = resolve("slice", &self.shape(), spans)?;
        self.seen("slice", shape, map)
    }

    /// The array moved: element `i` of the result is element `i + offsets` of this one, wrapping
    /// around. Dimensions with a nonzero offset must be periodic.
    pub fn shift(&self, offsets: &[i64]) -> Array {
        self.or_failed(self.try_shift(offsets))
    }

    fn try_shift(&self, offsets: &[i64]) -> Result<Array> {
        let offsets = Index::new(offsets)?;
        if offsets.rank() != self.rank() {
            return Err(Error::invalid(
                "shift",
                format!("{} offsets, one per dimension", self.rank()),
                offsets.to_string(),
                "use 0 for dimensions that stay",
            ));
        }
        let dist = self.distribution()?;
        for d in 0..self.rank() {
            if offsets[d] != 0 && !dist.periodic(d) {
                return Err(Error::invalid(
                    "shift",
                    "offset 0 in dimensions that are not periodic",
                    format!("{} in dimension {d}", offsets[d]),
                    "make the dimension periodic, or use slices",
                ));
            }
        }
        self.turned_round(&offsets)
    }

    /// Element `i` is element `i + offsets`, going round the ends.
    pub(super) fn turned_round(&self, offsets: &Index) -> Result<Array> {
        if self.shape().contains(&0) {
            return Ok(self.clone());
        }
        let wrapped = Index::from_fn(self.rank(), |d| {
            let extent = self.shape()[d];
            let forward = offsets[d].rem_euclid(extent);
            if 2 * forward > extent { forward - extent } else { forward }
        });
        let node = &self.node;
        let expr = Expr::View { base: Arc::clone(node), map: Arc::new(Map::window(&wrapped)) };
        Ok(Array::of(Node::lazy(node.shape, node.dtype, &node.team, expr, node.layout())))
    }

    fn reduction(&self, operation: &'static str, axes: &[usize], reduction: Reduction) -> Array {
        self.or_failed(self.try_reduction(operation, axes, reduction))
    }

    fn try_reduction(&self, operation: &'static str, axes: &[usize], reduction: Reduction) -> Result<Array> {
        let mut axes = if axes.is_empty() { (0..self.rank()).collect() } else { axes.to_vec() };
        axes.sort_unstable();
        axes.dedup();
        let dist = self.distribution()?.reduced(&axes)?;
        let dtype = match reduction {
            Reduction::Fold(_) | Reduction::Exact => self.dtype(),
            Reduction::Arg { .. } => DType::I64,
        };
        let extents = self.shape();
        if matches!(reduction, Reduction::Arg { .. }) && axes.iter().any(|&axis| extents[axis] == 0) {
            return Err(Error::invalid(
                operation,
                "at least one element",
                format!("shape {}", self.shape()),
                "check for empty arrays first",
            ));
        }
        let shape = dist.shape();
        let expr = Expr::Reduce { operand: Arc::clone(&self.node), reduction, axes };
        Ok(Array::of(Node::lazy(shape, dtype, &self.node.team, expr, Layout::Known(Arc::new(dist)))))
    }

    /// Sums over `axes` (all if empty), which stay with extent 1. Integers and bool sum in 64 bits.
    pub fn sum(&self, axes: &[usize]) -> Array {
        self.widened().reduction("sum", axes, Reduction::Fold(FoldOp::Sum))
    }

    /// As [`Array::sum`], with the same bits however the elements are divided among parts, in whatever order
    /// they are, and on every kind of device: the exact sum rounded once, to nearest, ties to even. A NaN, or
    /// infinities of both signs, give NaN; one infinity gives itself; a sum of nothing or of zeros is +0. f16
    /// and bf16 are rounded to f32 first.
    ///
    /// [`partita_kernels::exact`] says how. For a moment every result takes 100 bytes on each part, or 552
    /// bytes if it is f64.
    pub fn sum_reproducible(&self, axes: &[usize]) -> Array {
        match self.dtype() {
            DType::F32 | DType::F64 => self.reduction("sum_reproducible", axes, Reduction::Exact),
            DType::F16 | DType::BF16 => self.cast(DType::F32).sum_reproducible(axes).cast(self.dtype()),
            // Integers add in any order.
            DType::Bool
            | DType::I8
            | DType::I16
            | DType::I32
            | DType::I64
            | DType::U8
            | DType::U16
            | DType::U32
            | DType::U64 => self.sum(axes),
        }
    }

    /// Products, as [`Array::sum`].
    pub fn prod(&self, axes: &[usize]) -> Array {
        self.widened().reduction("prod", axes, Reduction::Fold(FoldOp::Product))
    }

    fn widened(&self) -> Array {
        match self.dtype().kind() {
            Kind::Bool | Kind::Int => self.cast(DType::I64),
            Kind::Uint => self.cast(DType::U64),
            Kind::Float => self.clone(),
        }
    }

    /// The smallest elements over `axes` (all if empty), which stay with extent 1; NaN wins.
    pub fn min(&self, axes: &[usize]) -> Array {
        self.reduction("min", axes, Reduction::Fold(FoldOp::Min))
    }

    /// The largest elements, as [`Array::min`].
    pub fn max(&self, axes: &[usize]) -> Array {
        self.reduction("max", axes, Reduction::Fold(FoldOp::Max))
    }

    /// Arithmetic means over `axes` (all if empty), which stay with extent 1. Integers give f64.
    pub fn mean(&self, axes: &[usize]) -> Array {
        let floats = if self.dtype().is_float() { self.clone() } else { self.cast(DType::F64) };
        let sum = floats.sum(axes);
        &sum / &sum.constant(self.count_over(axes))
    }

    /// As [`Array::mean`], of [`Array::sum_reproducible`].
    pub fn mean_reproducible(&self, axes: &[usize]) -> Array {
        let floats = if self.dtype().is_float() { self.clone() } else { self.cast(DType::F64) };
        let sum = floats.sum_reproducible(axes);
        &sum / &sum.constant(self.count_over(axes))
    }

    /// How many elements each result over `axes` (all if empty) is made of.
    fn count_over(&self, axes: &[usize]) -> f64 {
        let extent = |&d: &usize| self.shape()[d] as f64;
        match axes {
            [] => (0..self.rank()).map(|d| extent(&d)).product(),
            axes => axes.iter().filter(|&&d| d < self.rank()).map(extent).product(),
        }
    }

    /// True where all elements over `axes` (all if empty) are nonzero.
    pub fn all(&self, axes: &[usize]) -> Array {
        self.truth().reduction("all", axes, Reduction::Fold(FoldOp::All))
    }

    /// True where any element over `axes` (all if empty) is nonzero.
    pub fn any(&self, axes: &[usize]) -> Array {
        self.truth().reduction("any", axes, Reduction::Fold(FoldOp::Any))
    }

    fn truth(&self) -> Array {
        self.cast(DType::Bool)
    }

    /// Where the smallest element is: its index along `axis`, or in the array flattened in C order;
    /// the first of equals; the first NaN if there is one. i64.
    pub fn argmin(&self, axis: Option<usize>) -> Array {
        self.arg("argmin", axis, false)
    }

    /// Where the largest element is, as [`Array::argmin`].
    pub fn argmax(&self, axis: Option<usize>) -> Array {
        self.arg("argmax", axis, true)
    }

    fn arg(&self, operation: &'static str, axis: Option<usize>, largest: bool) -> Array {
        let axes: Vec<usize> = axis.into_iter().collect();
        self.reduction(operation, &axes, Reduction::Arg { largest })
    }

    /// True where the element is NaN.
    pub fn is_nan(&self) -> Array {
        self.float_only("is_nan", |a| a.unary(UnaryOp::IsNan))
    }
}

/// The layout of a result: that of the first operand that has its shape and a layout of its own.
fn layout_for(shape: &Index, operands: &[&Arc<Node>]) -> Layout {
    operands
        .iter()
        .filter(|node| node.shape == *shape)
        .map(|node| node.layout())
        .find(|layout| !matches!(layout, Layout::Free))
        .unwrap_or(Layout::Free)
}

macro_rules! unary_methods {
    ($($(#[$doc:meta])* $name:ident $op:ident $check:ident;)*) => {
        impl Array {
            $($(#[$doc])* pub fn $name(&self) -> Array {
                self.$check(stringify!($name), |a| a.unary(UnaryOp::$op))
            })*
        }
    };
}

impl Array {
    fn number_only(&self, operation: &'static str, then: impl FnOnce(&Array) -> Array) -> Array {
        if self.dtype() != DType::Bool {
            return then(self);
        }
        self.failed(Error::invalid(operation, "numbers", "bool", "convert it with `cast`"))
    }
}

unary_methods! {
    /// Magnitudes.
    abs Abs number_only;
    /// Square roots, correctly rounded.
    sqrt Sqrt float_only;
    /// Largest integral values not above.
    floor Floor float_only;
    /// Smallest integral values not below.
    ceil Ceil float_only;
    /// Integral values towards zero.
    trunc Trunc float_only;
    /// Nearest integral values, ties to even.
    round Round float_only;
}

macro_rules! math1_methods {
    ($($name:ident $op:ident $what:literal;)*) => {
        impl Array {
            $(#[doc = $what] #[doc = ". At most 2 ulp from the exact value."]
            pub fn $name(&self) -> Array {
                self.float_only(stringify!($name), |a| a.apply1(Pointwise::Math1(Math1::$op), a.dtype()))
            })*
        }
    };
}

math1_methods! {
    exp Exp "e to the power of each element";
    expm1 Expm1 "exp(x) - 1, accurate near 0";
    log Log "Natural logarithms";
    log1p Log1p "log(1 + x), accurate near 0";
    log2 Log2 "Logarithms to base 2";
    log10 Log10 "Logarithms to base 10";
    sin Sin "Sines of angles in radians";
    cos Cos "Cosines of angles in radians";
    tan Tan "Tangents of angles in radians";
    asin Asin "Angles whose sine is x";
    acos Acos "Angles whose cosine is x";
    atan Atan "Angles whose tangent is x";
    sinh Sinh "Hyperbolic sines";
    cosh Cosh "Hyperbolic cosines";
    tanh Tanh "Hyperbolic tangents";
    asinh Asinh "Inverse hyperbolic sines";
    acosh Acosh "Inverse hyperbolic cosines";
    atanh Atanh "Inverse hyperbolic tangents";
    erf Erf "Error function";
    cbrt Cbrt "Cube roots";
}

/// The right-hand side of an operation: an array or a plain number, which takes the array's dtype.
pub trait Operand {
    /// The operand as an array that goes with `like`.
    fn operand(&self, like: &Array) -> Array;
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
}

impl Operand for f64 {
    fn operand(&self, like: &Array) -> Array {
        like.constant(*self)
    }
}

/// A number of an exact dtype, which must be the array's.
impl Operand for Scalar {
    fn operand(&self, like: &Array) -> Array {
        let node = &like.node;
        Array::of(Node::lazy(node.shape, self.dtype, &node.team, Expr::Fill(*self), Layout::Free))
    }
}

macro_rules! binary_methods {
    ($($(#[$doc:meta])* $name:ident $op:ident $check:ident;)*) => {
        impl Array {
            $($(#[$doc])* pub fn $name(&self, other: impl Operand) -> Array {
                let other = other.operand(self);
                self.$check(stringify!($name), |a| {
                    a.apply2(stringify!($name), Pointwise::Binary(BinaryOp::$op), a.dtype(), &other)
                })
            })*
        }
    };
}

impl Array {
    fn any_type(&self, _: &'static str, then: impl FnOnce(&Array) -> Array) -> Array {
        then(self)
    }

    fn integers_only(&self, operation: &'static str, then: impl FnOnce(&Array) -> Array) -> Array {
        if self.dtype().is_integer() {
            return then(self);
        }
        let given = self.dtype().to_string();
        self.failed(Error::invalid(operation, "integers", given, "convert it with `cast`"))
    }
}

binary_methods! {
    /// The smaller of two elements; NaN if either is.
    minimum Min any_type;
    /// The larger of two elements; NaN if either is.
    maximum Max any_type;
    /// Integers shifted left, by counts modulo their width.
    shift_left Shl integers_only;
    /// Integers shifted right, by counts modulo their width; signed ones keep their sign.
    shift_right Shr integers_only;
}

macro_rules! math2_methods {
    ($($name:ident $op:ident $what:literal;)*) => {
        impl Array {
            $(#[doc = $what] #[doc = ". At most 2 ulp from the exact value."]
            pub fn $name(&self, other: impl Operand) -> Array {
                let other = other.operand(self);
                self.float_only(stringify!($name), |a| {
                    a.apply2(stringify!($name), Pointwise::Math2(Math2::$op), a.dtype(), &other)
                })
            })*
        }
    };
}

math2_methods! {
    pow Pow "Each element to the power of the other";
    atan2 Atan2 "The angle of the point (other, self)";
    hypot Hypot "sqrt(self^2 + other^2) without undue overflow";
}

macro_rules! compare_methods {
    ($($name:ident $op:ident $what:literal;)*) => {
        impl Array {
            $(#[doc = $what]
            pub fn $name(&self, other: impl Operand) -> Array {
                let other = other.operand(self);
                self.apply2(stringify!($name), Pointwise::Compare(CompareOp::$op), DType::Bool, &other)
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
    ($($trait:ident $method:ident $op:ident $check:ident;)*) => {$(
        impl<T: Operand> $trait<T> for &Array {
            type Output = Array;
            fn $method(self, other: T) -> Array {
                let other = other.operand(self);
                self.$check(stringify!($method), |a| {
                    a.apply2(stringify!($method), Pointwise::Binary(BinaryOp::$op), a.dtype(), &other)
                })
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
                $trait::$method(&other.constant(self), other)
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

impl Array {
    fn bits_only(&self, operation: &'static str, then: impl FnOnce(&Array) -> Array) -> Array {
        if !self.dtype().is_float() {
            return then(self);
        }
        let given = self.dtype().to_string();
        self.failed(Error::invalid(operation, "bool or integers", given, "convert it with `cast`"))
    }
}

operators! {
    Add add Add number_only;
    Sub sub Sub number_only;
    Mul mul Mul number_only;
    Div div Div number_only;
    Rem rem Rem number_only;
    BitAnd bitand And bits_only;
    BitOr bitor Or bits_only;
    BitXor bitxor Xor bits_only;
}

impl Neg for &Array {
    type Output = Array;
    fn neg(self) -> Array {
        self.number_only("neg", |a| a.unary(UnaryOp::Neg))
    }
}

impl Neg for Array {
    type Output = Array;
    fn neg(self) -> Array {
        -&self
    }
}

impl Not for &Array {
    type Output = Array;
    fn not(self) -> Array {
        self.bits_only("not", |a| a.unary(UnaryOp::Not))
    }
}

impl Not for Array {
    type Output = Array;
    fn not(self) -> Array {
        !&self
    }
}
