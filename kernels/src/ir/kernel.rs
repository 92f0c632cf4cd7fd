//! The types of the IR; [`crate::ir`] explains how to read them.

use crate::dtype::{DType, Scalar};

/// The largest number of dimensions of a kernel and of every array.
pub const MAX_RANK: usize = 8;

/// Names the result of the instruction at this position of the body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Value(pub u32);

impl Value {
    /// Position in [`Kernel::body`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A kernel: one body, one form.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Kernel {
    /// For people; not part of the meaning. ASCII letters, digits and `_`.
    pub name: String,
    /// Dimensions of the region it runs over, 0 to [`MAX_RANK`].
    pub rank: usize,
    /// The arrays.
    pub params: Vec<Param>,
    /// Types of the scalar launch arguments.
    pub arguments: Vec<DType>,
    /// Instructions in evaluation order.
    pub body: Vec<Inst>,
    /// The loop and the stores.
    pub form: Form,
}

/// One array of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Param {
    /// Element type in memory.
    pub dtype: DType,
    /// The kernel's use of it.
    pub access: Access,
}

/// A kernel's use of an array. Two parameters of one launch never overlap in memory unless both are `In`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// Only read.
    In,
    /// Only written.
    Out,
    /// Read and written, read only at the point itself (offset zero).
    InOut,
}

/// An instruction and the type of its result.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Inst {
    /// The operation.
    pub op: Op,
    /// Type of the result.
    pub dtype: DType,
}

/// Offsets of a load relative to the current point, one per dimension.
pub type Offsets = Vec<i32>;

/// The operation of an instruction. Operand types equal the result type unless stated.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// A constant.
    Const(Scalar),
    /// The n-th scalar argument of the launch.
    Argument(u32),
    /// The point's global coordinate in this dimension: i32 or i64.
    Coord(u32),
    /// An element of an `In` or `InOut` parameter, at the current point plus the offsets.
    Load {
        /// Which parameter.
        param: u32,
        /// One offset per dimension; all zero for `InOut`.
        offsets: Offsets,
    },
    /// One operand.
    Unary(UnaryOp, Value),
    /// Two operands.
    Binary(BinaryOp, Value, Value),
    /// Two operands of one type; the result is bool.
    Compare(CompareOp, Value, Value),
    /// A bool, then two operands: `if a { b } else { c }`.
    Select(Value, Value, Value),
    /// `a * b + c` with one rounding; f32 and f64.
    Fma(Value, Value, Value),
    /// Conversion by value from any type to any type.
    Cast(Value),
    /// Reinterpretation of the bits between types of one width (not bool).
    Bitcast(Value),
    /// A mathematical function of one operand (floats).
    Math1(Math1, Value),
    /// A mathematical function of two operands (floats).
    Math2(Math2, Value, Value),
}

/// Operations of one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum UnaryOp {
    /// `-x`; flips the sign bit of floats, wraps integers.
    Neg,
    /// Magnitude; clears the sign bit of floats; `|MIN|` is `MIN`.
    Abs,
    /// Logical not of bool, bitwise complement of integers.
    Not,
    /// Square root, correctly rounded (f16, bf16: computed in f32, rounded once).
    Sqrt,
    /// Largest integral value not above x.
    Floor,
    /// Smallest integral value not below x.
    Ceil,
    /// Integral value towards zero.
    Trunc,
    /// Nearest integral value, ties to even.
    Round,
    /// Float to bool: is the bit pattern a NaN?
    IsNan,
}

/// Operations of two operands of one type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum BinaryOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient; integers truncate, `x / 0 = 0`.
    Div,
    /// Remainder of the truncated quotient, with the sign of the dividend (C's `%`, `fmod`; exact). Floats:
    /// `x % 0` and `inf % y` are NaN, `x % inf` is `x`. Integers: `x % 0 = 0`, `MIN % -1 = 0`.
    Rem,
    /// The smaller; NaN if either is.
    Min,
    /// The larger; NaN if either is.
    Max,
    /// Logical (bool) or bitwise (integers).
    And,
    /// Logical (bool) or bitwise (integers).
    Or,
    /// Logical (bool) or bitwise (integers).
    Xor,
    /// Shift left, count modulo width (integers).
    Shl,
    /// Shift right, arithmetic for signed types, count modulo width (integers).
    Shr,
}

/// Comparisons. bool compares as 0 < 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum CompareOp {
    /// equal
    Eq,
    /// not equal (true for NaN)
    Ne,
    /// less
    Lt,
    /// less or equal
    Le,
    /// greater
    Gt,
    /// greater or equal
    Ge,
}

/// Functions of one float. Their code is in [`crate::math`], at most 2 ulp from the exact value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Math1 {
    Exp,
    Expm1,
    Log,
    Log1p,
    Log2,
    Log10,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Erf,
    Cbrt,
}

/// Functions of two floats.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Math2 {
    /// `a` to the power `b` (IEEE 754-2019 `pow`).
    Pow,
    /// The angle of the point `(b, a)`: `atan2(y, x)`.
    Atan2,
    /// `sqrt(a^2 + b^2)` without undue overflow.
    Hypot,
}

/// The loop around the body, and its stores.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// Every point stores one value into each output at the point itself.
    Elementwise {
        /// One store per `Out` or `InOut` parameter.
        stores: Vec<Store>,
    },
    /// Folds the body's values over some dimensions. Outputs are addressed by the other
    /// dimensions: their views have stride 0 in the reduced ones.
    ///
    /// The order of the fold is fixed: adjacent pairs, level by level, as [`mod@crate::interpret`] says. So
    /// every device gives the same bits; other partitions may give float sums other last bits.
    Reduce {
        /// `true` for each dimension that is folded away; length = rank.
        axes: Vec<bool>,
        /// The folded values, and their outputs.
        folds: Vec<Fold>,
        /// Values that every point stores at the point itself, too, as `Elementwise` does: into `Out`
        /// parameters of 4 or 8 bytes, so that threads with neighbouring points never write in one word.
        stores: Vec<Store>,
    },
    /// Walks every line along one dimension from its first point on: a value starts as `start` there, is
    /// combined with each point's `value`, in order, and stored at the point, before or after that.
    ///
    /// Lines are apart, points of a line follow each other. So a long line is as slow as its steps; the
    /// engine makes scans of long axes of several short ones.
    Scan(Scan),
    /// `output[point] = source[index]` where `index` is a value of the body (i32, i64, u32 or u64)
    /// counted in elements of `source` from its view's offset. The source's view is one-dimensional:
    /// only `offset` is used. Indices outside `0..source_len` leave the output untouched.
    Gather {
        /// The index value.
        index: Value,
        /// An `In` parameter, read nowhere else.
        source: u32,
        /// An `Out` parameter of the same type.
        output: u32,
    },
    /// `output[index] = value` or `output[index] += value`; indices as in `Gather`. The indices of
    /// one launch are distinct (the caller's promise), so the result does not depend on order.
    Scatter {
        /// The index value.
        index: Value,
        /// The stored value.
        value: Value,
        /// An `Out` (copy) or `InOut` (add) parameter; elements not named keep their value.
        output: u32,
        /// Add to the old value instead of replacing it.
        add: bool,
    },
}

impl Form {
    /// Whether it combines values of several points: folds, scans, and scatters, which may add.
    pub fn combines_points(&self) -> bool {
        !matches!(self, Form::Elementwise { .. } | Form::Gather { .. })
    }
}

/// `param[point] = value`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Store {
    /// An `Out` or `InOut` parameter of the value's type.
    pub param: u32,
    /// The stored value.
    pub value: Value,
}

/// The recurrence of a `Scan` kernel along its lines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scan {
    /// The dimension that is walked.
    pub axis: usize,
    /// The operation that combines the value so far with the next one, in this order; each step rounds.
    pub op: FoldOp,
    /// The value that a line starts from, as its first point has it.
    pub start: Value,
    /// The value that each point adds.
    pub value: Value,
    /// An `Out` parameter of the type of both.
    pub output: u32,
    /// Stores the value before the point is added, not after.
    pub exclusive: bool,
}

/// One reduction of a `Reduce` kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fold {
    /// Fold with an associative operation; `output` is an `Out` parameter of the value's type.
    Value {
        /// Sum, product, minimum, ...
        op: FoldOp,
        /// The folded value.
        value: Value,
        /// The parameter of the result.
        output: u32,
    },
    /// The smallest (largest) value and the index that came with it, the smallest index among equals; a NaN
    /// beats every number, the one with the smallest index wins.
    Arg {
        /// Largest instead of smallest.
        largest: bool,
        /// The compared value.
        value: Value,
        /// The index that travels along (i32, i64, u32 or u64, compared as i64), distinct; the smallest wins
        /// among equals.
        index: Value,
        /// `Out` parameter of the value's type.
        value_output: u32,
        /// `Out` parameter of the index's type.
        index_output: u32,
    },
}

/// The operation of a fold. Its neutral element starts it, so an empty region gives that.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum FoldOp {
    /// From 0.
    Sum,
    /// From 1.
    Product,
    /// From the largest value (infinity); NaN wins.
    Min,
    /// From the smallest value (-infinity); NaN wins.
    Max,
    /// bool only, from true.
    All,
    /// bool only, from false.
    Any,
}

impl FoldOp {
    /// The operation of two operands that the fold repeats.
    pub fn step(self) -> BinaryOp {
        match self {
            FoldOp::Sum => BinaryOp::Add,
            FoldOp::Product => BinaryOp::Mul,
            FoldOp::Min => BinaryOp::Min,
            FoldOp::Max => BinaryOp::Max,
            FoldOp::All => BinaryOp::And,
            FoldOp::Any => BinaryOp::Or,
        }
    }

    /// The neutral element in a type.
    pub fn neutral(self, dtype: DType) -> Scalar {
        match self {
            FoldOp::Sum => Scalar::from_i64(dtype, 0),
            FoldOp::Product => Scalar::from_i64(dtype, 1),
            FoldOp::Min | FoldOp::All => Scalar::extreme(dtype, true),
            FoldOp::Max | FoldOp::Any => Scalar::extreme(dtype, false),
        }
    }
}

/// The layout of a parameter's elements for one launch: in elements, not bytes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct View {
    /// Element of the region's first point (its index in the parameter's memory).
    pub offset: i64,
    /// Distance between neighbours, one per dimension; may be zero (inputs, reduced outputs) or negative.
    pub strides: Vec<i64>,
}

/// Everything a compiled kernel needs to run once, apart from the memory itself.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Launch {
    /// Extent of the region per dimension; any of them may be 0.
    pub extents: Vec<usize>,
    /// Global coordinate of the region's first point, for [`Op::Coord`].
    pub origin: Vec<i64>,
    /// One per parameter.
    pub views: Vec<View>,
    /// One per scalar argument.
    pub arguments: Vec<Scalar>,
}

/// The treatment of f32 operands and results below 2^-126 by a device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Subnormals {
    /// They are numbers as all others, as IEEE 754 has it.
    Kept,
    /// `+ - * / sqrt fma`, `atan2` and `hypot` take them as zeros of their sign; these and all mathematical
    /// functions give such zeros for them. Everything else keeps them; so do f16, bf16 (but as results of
    /// functions and in sums) and f64.
    Flushed,
    /// One or the other.
    Unspecified,
}
