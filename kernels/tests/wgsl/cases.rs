//! Every instruction on every type, and every form, each as one small kernel. Both the text test
//! here and the device tests of the engine go through this table; neither lists operations itself.

use partita_kernels::{
    BinaryOp, Builder, CompareOp, DType, Fold, FoldOp, Form, Math1, Math2, Scalar, Scan, Store, UnaryOp,
    Value, Verified, VerifyError,
};

pub const UNARY: [UnaryOp; 9] = [
    UnaryOp::Neg,
    UnaryOp::Abs,
    UnaryOp::Not,
    UnaryOp::Sqrt,
    UnaryOp::Floor,
    UnaryOp::Ceil,
    UnaryOp::Trunc,
    UnaryOp::Round,
    UnaryOp::IsNan,
];

pub const BINARY: [BinaryOp; 12] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Rem,
    BinaryOp::Min,
    BinaryOp::Max,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
    BinaryOp::Shl,
    BinaryOp::Shr,
];

pub const COMPARE: [CompareOp; 6] =
    [CompareOp::Eq, CompareOp::Ne, CompareOp::Lt, CompareOp::Le, CompareOp::Gt, CompareOp::Ge];

pub const MATH1: [Math1; 20] = [
    Math1::Exp,
    Math1::Expm1,
    Math1::Log,
    Math1::Log1p,
    Math1::Log2,
    Math1::Log10,
    Math1::Sin,
    Math1::Cos,
    Math1::Tan,
    Math1::Asin,
    Math1::Acos,
    Math1::Atan,
    Math1::Sinh,
    Math1::Cosh,
    Math1::Tanh,
    Math1::Asinh,
    Math1::Acosh,
    Math1::Atanh,
    Math1::Erf,
    Math1::Cbrt,
];

pub const MATH2: [Math2; 3] = [Math2::Pow, Math2::Atan2, Math2::Hypot];

pub const FOLDS: [FoldOp; 6] =
    [FoldOp::Sum, FoldOp::Product, FoldOp::Min, FoldOp::Max, FoldOp::All, FoldOp::Any];

type Body = Box<dyn Fn(&mut Builder, &[Value]) -> Value>;

/// An operation on operands of some types, whether they are loaded or constants.
pub struct Operation {
    pub name: String,
    pub operands: Vec<DType>,
    body: Body,
}

impl Operation {
    fn new(
        name: String,
        operands: &[DType],
        body: impl Fn(&mut Builder, &[Value]) -> Value + 'static,
    ) -> Operation {
        Operation { name, operands: operands.to_vec(), body: Box::new(body) }
    }

    /// The kernel of one dimension whose parameters are the operands and then the output. None where the
    /// types have no such operation.
    pub fn loaded(&self) -> Option<Verified> {
        let mut k = Builder::new(&self.name, 1);
        let inputs: Vec<u32> = self.operands.iter().map(|&d| k.input(d)).collect();
        let values: Vec<Value> = inputs.iter().map(|&p| k.load(p, &[0])).collect();
        let result = (self.body)(&mut k, &values);
        let output = k.output(k.dtype(result));
        let form = Form::Elementwise { stores: vec![Store { param: output, value: result }] };
        k.finish(form).ok()
    }

    /// The same with a constant for the operand at `place`: one output per constant, the other operands are
    /// loaded.
    pub fn with_constants(&self, place: usize, constants: &[Scalar]) -> Option<Verified> {
        self.with(place, "constant", |k| constants.iter().map(|&scalar| k.constant(scalar)).collect())
    }

    /// The same with so many launch arguments in place of the constants.
    #[allow(dead_code)] // The engine's tests of constants include this file.
    pub fn with_arguments(&self, place: usize, count: usize) -> Option<Verified> {
        let dtype = self.operands[place];
        self.with(place, "argument", |k| (0..count).map(|_| k.argument(dtype)).collect())
    }

    fn with(
        &self,
        place: usize,
        word: &str,
        numbers: impl FnOnce(&mut Builder) -> Vec<Value>,
    ) -> Option<Verified> {
        let mut k = Builder::new(&format!("{}_{word}_{place}", self.name), 1);
        let others = self.operands.iter().enumerate().filter(|(n, _)| *n != place);
        let inputs: Vec<u32> = others.map(|(_, &d)| k.input(d)).collect();
        let loaded: Vec<Value> = inputs.iter().map(|&p| k.load(p, &[0])).collect();
        let mut stores = Vec::new();
        for number in numbers(&mut k) {
            let mut values = loaded.clone();
            values.insert(place, number);
            let result = (self.body)(&mut k, &values);
            stores.push((k.output(k.dtype(result)), result));
        }
        k.elementwise(&stores).ok()
    }

    /// The same with one loaded value for all operands, if they have one type.
    pub fn of_one(&self) -> Option<Verified> {
        if self.operands.iter().any(|&d| d != self.operands[0]) {
            return None;
        }
        let mut k = Builder::new(&format!("{}_of_one", self.name), 1);
        let input = k.input(self.operands[0]);
        let value = k.load(input, &[0]);
        let result = (self.body)(&mut k, &vec![value; self.operands.len()]);
        let output = k.output(k.dtype(result));
        k.elementwise(&[(output, result)]).ok()
    }
}

/// Every operation on every type, also where verification refuses it.
pub fn every_operation() -> Vec<Operation> {
    let mut all = Vec::new();
    for d in DType::ALL {
        for op in UNARY {
            all.push(Operation::new(format!("{op:?}_{d}"), &[d], move |k, v| k.unary(op, v[0])));
        }
        for op in BINARY {
            all.push(Operation::new(format!("{op:?}_{d}"), &[d, d], move |k, v| k.binary(op, v[0], v[1])));
        }
        for op in COMPARE {
            all.push(Operation::new(format!("{op:?}_{d}"), &[d, d], move |k, v| k.compare(op, v[0], v[1])));
        }
        let operands = [DType::Bool, d, d];
        all.push(Operation::new(format!("Select_{d}"), &operands, |k, v| k.select(v[0], v[1], v[2])));
        all.push(Operation::new(format!("Copy_{d}"), &[d], |_, v| v[0]));
        all.push(Operation::new(format!("Fma_{d}"), &[d, d, d], |k, v| k.fma(v[0], v[1], v[2])));
        for to in DType::ALL.into_iter().filter(|&to| to != d) {
            all.push(Operation::new(format!("Cast_{d}_{to}"), &[d], move |k, v| k.cast(v[0], to)));
            all.push(Operation::new(format!("Bitcast_{d}_{to}"), &[d], move |k, v| k.bitcast(v[0], to)));
        }
    }
    all
}

/// The mathematical functions of one or two operands on every type of float.
pub fn every_function() -> Vec<Operation> {
    let mut all = Vec::new();
    for d in DType::ALL.into_iter().filter(|d| d.is_float()) {
        for function in MATH1 {
            all.push(Operation::new(format!("{function:?}_{d}"), &[d], move |k, v| k.math1(function, v[0])));
        }
        for function in MATH2 {
            let body = move |k: &mut Builder, v: &[Value]| k.math2(function, v[0], v[1]);
            all.push(Operation::new(format!("{function:?}_{d}"), &[d, d], body));
        }
    }
    all
}

/// Every operation on every type it is defined for: pointwise kernels of one output. Few adapters have the
/// fused multiply-add of f64.
pub fn operations() -> Vec<Verified> {
    let all = every_operation();
    all.iter().filter(|op| op.name != "Fma_f64").filter_map(Operation::loaded).collect()
}

/// Constants, arguments and coordinates of a type, all added up bit by bit.
pub fn leaves(d: DType, constants: &[Scalar]) -> Result<Verified, VerifyError> {
    let mut k = Builder::new(&format!("leaves_{d}"), 1);
    let argument = k.argument(d);
    let mut stores = vec![(k.output(d), argument)];
    for &scalar in constants {
        let value = k.constant(scalar);
        stores.push((k.output(d), value));
    }
    k.elementwise(&stores)
}

/// A fold of every type it is defined for, over the dimensions marked.
pub fn fold(op: FoldOp, d: DType, axes: &[bool]) -> Result<Verified, VerifyError> {
    let mut k = Builder::new(&format!("{op:?}_{d}"), axes.len());
    let (input, output) = (k.input(d), k.output(d));
    let value = k.load(input, &vec![0; axes.len()]);
    k.finish(Form::Reduce {
        axes: axes.to_vec(),
        folds: vec![Fold::Value { op, value, output }],
        stores: vec![],
    })
}

/// The smallest or largest value with its coordinate in the innermost dimension.
pub fn arg_fold(largest: bool, d: DType, index: DType, axes: &[bool]) -> Result<Verified, VerifyError> {
    let mut k = Builder::new(&format!("arg_{largest}_{d}"), axes.len());
    let input = k.input(d);
    let (value_output, index_output) = (k.output(d), k.output(index));
    let value = k.load(input, &vec![0; axes.len()]);
    let coordinate = if index == DType::I64 { DType::I64 } else { DType::I32 };
    let at = k.coord(axes.len() - 1, coordinate);
    let index = k.cast(at, index);
    let fold = Fold::Arg { largest, value, index, value_output, index_output };
    k.finish(Form::Reduce { axes: axes.to_vec(), folds: vec![fold], stores: vec![] })
}

/// A scan of every type it is defined for, of twice the elements if they are computed, from a start that is
/// read once per line.
pub fn scan(
    op: FoldOp,
    d: DType,
    (rank, axis): (usize, usize),
    computed: bool,
) -> Result<Verified, VerifyError> {
    let mut k = Builder::new(&format!("scan_{op:?}_{d}"), rank);
    let (input, starts, output) = (k.input(d), k.input(d), k.output(d));
    let [mut value, mut start] = [input, starts].map(|param| k.load(param, &vec![0; rank]));
    if computed {
        value = k.binary(BinaryOp::Max, value, start);
        start = k.constant(op.neutral(d));
        start = k.binary(BinaryOp::Min, start, value);
    }
    k.scan(Scan { axis, op, start, value, output, exclusive: computed })
}

/// `output[i] = source[index[i]]`
pub fn gather(d: DType, index: DType) -> Result<Verified, VerifyError> {
    let mut k = Builder::new(&format!("gather_{d}_{index}"), 1);
    let (indices, source, output) = (k.input(index), k.input(d), k.output(d));
    let at = k.load(indices, &[0]);
    k.finish(Form::Gather { index: at, source, output })
}

/// `output[index[i]] = value[i]`, or `+=`
pub fn scatter(d: DType, index: DType, add: bool) -> Result<Verified, VerifyError> {
    let mut k = Builder::new(&format!("scatter_{d}_{index}_{add}"), 1);
    let (indices, values) = (k.input(index), k.input(d));
    let output = if add { k.inout(d) } else { k.output(d) };
    let (index, value) = (k.load(indices, &[0]), k.load(values, &[0]));
    k.finish(Form::Scatter { index, value, output, add })
}

/// Two dimensions, loads around the point, a coordinate, an argument and two outputs of which one is
/// also read.
pub fn stencil(d: DType, rank: usize) -> Result<Verified, VerifyError> {
    let mut k = Builder::new(&format!("stencil_{d}_{rank}"), rank);
    let (input, output, both) = (k.input(d), k.output(d), k.inout(d));
    let mut sum = k.load(input, &vec![0; rank]);
    for dim in 0..rank {
        for side in [-1, 1] {
            let mut offsets = vec![0; rank];
            offsets[dim] = side;
            let value = k.load(input, &offsets);
            sum = k.binary(BinaryOp::Add, sum, value);
        }
        let at = k.coord(dim, DType::I32);
        let at = k.cast(at, d);
        sum = k.binary(BinaryOp::Add, sum, at);
    }
    let factor = k.argument(d);
    let old = k.load(both, &vec![0; rank]);
    let scaled = k.binary(BinaryOp::Mul, sum, factor);
    let new = k.binary(BinaryOp::Sub, old, scaled);
    k.elementwise(&[(output, scaled), (both, new)])
}

/// A step of Jacobi's: each point stores a part of the sum of its neighbours along every dimension, and twice
/// its old value, and folds the change over the dimensions marked. None of types of less than 4 bytes.
pub fn stored_fold(op: FoldOp, d: DType, axes: &[bool]) -> Result<Verified, VerifyError> {
    let rank = axes.len();
    let mut k = Builder::new(&format!("stored_{op:?}_{d}"), rank);
    let (input, change, mean, twice) = (k.input(d), k.output(d), k.output(d), k.output(d));
    let old = k.load(input, &vec![0; rank]);
    let mut sum = old;
    for (dim, side) in (0..rank).flat_map(|dim| [(dim, -1), (dim, 1)]) {
        let offsets: Vec<i32> = (0..rank).map(|k| if k == dim { side } else { 0 }).collect();
        let value = k.load(input, &offsets);
        sum = k.binary(BinaryOp::Add, sum, value);
    }
    let weight = if d.is_float() { Scalar::from_f64(d, 0.3) } else { Scalar::from_i64(d, 3) };
    let weight = k.constant(weight);
    let new = k.binary(BinaryOp::Mul, sum, weight);
    let value = k.binary(BinaryOp::Sub, new, old);
    let doubled = k.binary(BinaryOp::Add, old, old);
    k.reduce_and_store(axes, &[Fold::Value { op, value, output: change }], &[(mean, new), (twice, doubled)])
}

/// The same without neighbours.
pub fn stored_sum(d: DType, axes: &[bool]) -> Result<Verified, VerifyError> {
    let mut k = Builder::new(&format!("stored_sum_{d}"), axes.len());
    let (input, output, doubled) = (k.input(d), k.output(d), k.output(d));
    let old = k.load(input, &vec![0; axes.len()]);
    let new = k.binary(BinaryOp::Add, old, old);
    k.reduce_and_store(axes, &[Fold::Value { op: FoldOp::Sum, value: new, output }], &[(doubled, new)])
}

/// Every form on every type.
pub fn forms() -> Vec<Verified> {
    let mut all = Vec::new();
    for d in DType::ALL {
        all.extend(FOLDS.into_iter().flat_map(|op| {
            [&[true][..], &[false, true], &[true, false], &[true, true, true]].map(|axes| fold(op, d, axes))
        }));
        for (n, op) in FOLDS.into_iter().enumerate() {
            all.extend([(1, 0), (2, 0), (2, 1), (3, 1)].map(|dims| scan(op, d, dims, (n + dims.1) % 2 == 0)));
        }
        for axes in [&[true][..], &[false, true], &[true, false], &[true, true], &[true, true, true]] {
            all.push(stored_fold(FoldOp::Sum, d, axes));
            all.push(stored_sum(d, axes));
        }
        for index in [DType::I32, DType::U32, DType::I64, DType::U64] {
            all.push(gather(d, index));
            all.push(scatter(d, index, false));
            all.push(scatter(d, index, true));
            all.push(arg_fold(true, d, index, &[true]));
            all.push(arg_fold(false, d, index, &[false, true]));
        }
        all.extend((1..=4).map(|rank| stencil(d, rank)));
    }
    all.into_iter().flatten().collect()
}

/// Bit patterns of a type that have broken something somewhere: zeros, ones, extremes, neighbours of
/// powers of two, subnormals, infinities and NaN; then pseudo-random ones.
pub fn hard_bits(d: DType, random: usize) -> Vec<u64> {
    let width = 8 * d.size_bytes() as u32;
    let mask = u64::MAX >> (64 - width);
    let mut bits: Vec<u64> = Vec::new();
    if d == DType::Bool {
        return vec![0, 1];
    }
    for power in 0..width {
        bits.extend([1u64 << power, (1u64 << power).wrapping_sub(1), (1u64 << power).wrapping_neg()]);
    }
    if width >= 32 {
        // As an integer a little above the middle between two bf16, and in the middle once it is an f32.
        bits.push((1 << (width - 2)) | (1 << (width - 10)) | 1);
    }
    let near = [0.0, 0.4, 0.5, 0.6, 1.0, 1.5, 2.0, 2.5, 3.0, 7.0, 100.7, 127.5, 128.0, 255.5, 256.0, 32767.5];
    let far = [65504.0, 65519.0, 65520.0, 65536.0, 2147483520.0, 2147483648.0, 4294967040.0, 4294967296.0];
    let huge = [9.223371e18, 9.223372036854776e18, 1.8446744073709552e19, 3.4e38, 1e300, f64::INFINITY];
    let tiny = [5.9604645e-8, 6.1e-5, 1e-20, 1.1754944e-38, 1e-45, 1e-310, 1.0 / 3.0];
    for value in near.into_iter().chain(far).chain(huge).chain(tiny) {
        let scalar = [Scalar::from_f64(d, value), Scalar::from_f64(d, -value)];
        bits.extend(scalar.map(|s| s.bits));
    }
    bits.push(Scalar::from_f64(d, f64::NAN).bits);
    let mut state = 0x9e37_79b9_7f4a_7c15u64 ^ u64::from(width);
    for _ in 0..random {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        bits.push((state >> 11) ^ (state << 31));
    }
    bits.iter_mut().for_each(|b| *b &= mask);
    let mut seen = std::collections::HashSet::new();
    bits.retain(|b| seen.insert(*b));
    bits
}

/// Values of a type that compilers get wrong as constants: of floats zeros, the least and the largest
/// subnormal and normal numbers, infinities and NaN, with both signs, and ones; of integers 0, 1, -1 and the
/// limits; of bool both.
pub fn hard_constants(d: DType) -> Vec<Scalar> {
    let width = 8 * d.size_bytes();
    let bits: Vec<u64> = if d.is_float() {
        let [infinity, one] = [f64::INFINITY, 1.0].map(|value| Scalar::from_f64(d, value).bits);
        // The least normal number has the lowest bit of the exponent.
        let least = infinity & infinity.wrapping_neg();
        let nan = infinity | least >> 1;
        let positive = [0, 1, least - 1, least, one, infinity - 1, infinity, nan];
        positive.into_iter().flat_map(|bits| [bits, bits | 1 << (width - 1)]).collect()
    } else if d == DType::Bool {
        vec![0, 1]
    } else {
        let (mask, sign) = (u64::MAX >> (64 - width), 1 << (width - 1));
        vec![0, 1, mask, sign, sign - 1]
    };
    bits.into_iter().map(|bits| Scalar { dtype: d, bits }).collect()
}
