//! Random typed kernels with a launch and memory, by seed: every form, type and operation, views of every
//! sort, hard bit patterns, stencils of every reach. What they compute is defined to the bit: no
//! reinterpreted NaN (its payload is free).
#![allow(dead_code, missing_docs, clippy::unwrap_used)]

use partita_kernels::{
    Access, BinaryOp, Builder, CompareOp, DType, Fold, FoldOp, Form, Launch, Math1, Math2, Op, Scalar, Scan,
    Store, UnaryOp, Value, Verified, View,
};

use crate::agreement::{cases, cube, star};

/// A kernel, a launch of it, and one memory per parameter.
pub struct Case {
    pub kernel: Verified,
    pub launch: Launch,
    pub arrays: Vec<Vec<u8>>,
}

/// SplitMix64 (Steele, Lea and Flood 2014).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n.max(1) as u64) as usize
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

const MATH1: [Math1; 6] = [Math1::Exp, Math1::Log, Math1::Sin, Math1::Tanh, Math1::Cbrt, Math1::Atan];

/// The kernel of this seed.
pub fn case(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let rank = random.pick(&[0, 1, 1, 1, 2, 2, 2, 3, 3, 4]);
    let wide = seed % 8 == 7 && rank > 1;
    let mut maker = Maker { k: Builder::new(&format!("random_{seed}"), rank), rank, wide, random };
    let form = maker.form();
    let Maker { k, wide, mut random, .. } = maker;
    let kernel = k.finish(form).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let launch = launch(&kernel, wide, &mut random);
    let arrays = arrays(&kernel, &launch, &mut random);
    Case { kernel, launch, arrays }
}

struct Maker {
    k: Builder,
    rank: usize,
    /// One of the arrays is read all around the point.
    wide: bool,
    random: Random,
}

impl Maker {
    fn form(&mut self) -> Form {
        let operations = 3 + self.random.below(18);
        self.leaves();
        for _ in 0..operations {
            self.operation();
        }
        match self.random.below(8) {
            0 | 1 if self.rank > 0 => self.reduce(),
            2 if self.rank > 0 => self.indexed(),
            3 if self.rank > 0 => self.scan(),
            _ => self.elementwise(),
        }
    }

    /// Loads of one to three arrays, around the point.
    fn leaves(&mut self) {
        for _ in 0..1 + self.random.below(3) {
            let dtype = self.random.pick(&DType::ALL);
            let input = self.k.input(dtype);
            for _ in 0..1 + self.random.below(3) {
                let reach = self.random.pick(&[0, 0, 1, 1, 3]);
                let offsets: Vec<i32> =
                    (0..self.rank).map(|_| self.random.below(2 * reach + 1) as i32 - reach as i32).collect();
                self.k.load(input, &offsets);
            }
        }
        if self.wide {
            self.neighbourhood();
        }
    }

    /// A cube or a star of loads, folded into one value.
    fn neighbourhood(&mut self) {
        let dtype = self.random.pick(&DType::ALL);
        let input = self.k.input(dtype);
        let offsets = match self.random.one_in(2) {
            true => cube(self.rank, 1),
            false => star(self.rank, 2 + self.random.below(3) as i32),
        };
        let fold = if dtype == DType::Bool { BinaryOp::Xor } else { BinaryOp::Sub };
        let values: Vec<Value> = offsets.iter().map(|offsets| self.k.load(input, offsets)).collect();
        values.into_iter().reduce(|a, b| self.k.binary(fold, a, b));
    }

    fn values(&self, of: impl Fn(DType) -> bool) -> Vec<Value> {
        (0..self.k.len() as u32).map(Value).filter(|&value| of(self.k.dtype(value))).collect()
    }

    /// A value of this type: usually a late one, so that the body is deep; converted if there is none.
    fn value(&mut self, dtype: DType) -> Value {
        let all = self.values(|d| d == dtype);
        match all.len() {
            0 => {
                let any = Value(self.random.below(self.k.len()) as u32);
                self.k.cast(any, dtype)
            }
            n if self.random.one_in(2) => all[n - 1],
            n => all[self.random.below(n)],
        }
    }

    fn operation(&mut self) {
        let last = Value(self.k.len() as u32 - 1);
        let d = match self.random.one_in(3) {
            true => self.random.pick(&DType::ALL),
            false => self.k.dtype(last),
        };
        let a = self.value(d);
        match self.random.below(16) {
            0 | 1 => {
                let fits: Vec<UnaryOp> = cases::UNARY.into_iter().filter(|&op| unary_fits(op, d)).collect();
                let op = self.random.pick(&fits);
                self.k.unary(op, a);
            }
            2..=6 => {
                let b = self.value(d);
                let fits: Vec<_> = cases::BINARY.into_iter().filter(|&op| binary_fits(op, d)).collect();
                let op = self.random.pick(&fits);
                self.k.binary(op, a, b);
            }
            7 => {
                let b = self.value(d);
                let op: CompareOp = self.random.pick(&cases::COMPARE);
                self.k.compare(op, a, b);
            }
            8 | 9 => {
                let (condition, b) = (self.value(DType::Bool), self.value(d));
                self.k.select(condition, a, b);
            }
            10 if d == DType::F32 => {
                let (b, c) = (self.value(d), self.value(d));
                self.k.fma(a, b, c);
            }
            11 if d.is_float() && self.random.one_in(2) => {
                let function = self.random.pick(&MATH1);
                self.k.math1(function, a);
            }
            12 if d == DType::F32 && self.random.one_in(3) => {
                let b = self.value(d);
                let function = self.random.pick(&[Math2::Pow, Math2::Atan2, Math2::Hypot]);
                self.k.math2(function, a, b);
            }
            13 if self.rank > 0 => {
                let (dim, dtype) =
                    (self.random.below(self.rank), self.random.pick(&[DType::I32, DType::I64]));
                self.k.coord(dim, dtype);
            }
            14 => {
                let bits = self.random.pick(&cases::hard_bits(d, 3));
                match self.random.one_in(2) {
                    true => self.k.constant(Scalar { dtype: d, bits }),
                    false => self.k.argument(d),
                };
            }
            15 => self.bitcast(a, d),
            _ => {
                let to = self.random.pick(&DType::ALL);
                self.k.cast(a, to);
            }
        }
    }

    /// Only of integers and of what was loaded, whose bits are defined.
    fn bitcast(&mut self, a: Value, d: DType) {
        let loaded = matches!(self.k.inst(a).op, Op::Load { .. });
        let of_width = |to: &DType| to.size_bytes() == d.size_bytes() && *to != DType::Bool;
        if d.is_integer() || (loaded && matches!(d, DType::F32 | DType::F64)) {
            let to = self.random.pick(&DType::ALL.into_iter().filter(of_width).collect::<Vec<_>>());
            if to != d {
                self.k.bitcast(a, to);
            }
        }
    }

    fn elementwise(&mut self) -> Form {
        let outputs = 1 + self.random.below(3);
        let mut stores = Vec::new();
        for n in 0..outputs {
            let last = Value(self.k.len() as u32 - 1);
            let value = if n == 0 { last } else { Value(self.random.below(self.k.len()) as u32) };
            let dtype = self.k.dtype(value);
            let param = self.k.output(dtype);
            stores.push(Store { param, value });
        }
        if self.random.one_in(4) {
            let dtype = self.random.pick(&DType::ALL);
            let both = self.k.inout(dtype);
            let old = self.k.load(both, &vec![0; self.rank]);
            let other = self.value(dtype);
            let fits: Vec<_> = cases::BINARY.into_iter().filter(|&op| binary_fits(op, dtype)).collect();
            let op = self.random.pick(&fits);
            let value = self.k.binary(op, old, other);
            stores.push(Store { param: both, value });
        }
        Form::Elementwise { stores }
    }

    fn reduce(&mut self) -> Form {
        let axes: Vec<bool> = (0..self.rank).map(|_| !self.random.one_in(3)).collect();
        let mut folds = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            let value = Value(self.random.below(self.k.len()) as u32);
            let dtype = self.k.dtype(value);
            let fits: Vec<FoldOp> = cases::FOLDS.into_iter().filter(|&op| fold_fits(op, dtype)).collect();
            let op = self.random.pick(&fits);
            let output = self.k.output(dtype);
            folds.push(Fold::Value { op, value, output });
        }
        if axes.iter().filter(|&&folded| folded).count() == 1 && self.random.one_in(3) {
            let dim = axes.iter().position(|&folded| folded).unwrap();
            let index = self.k.coord(dim, DType::I64);
            let value = Value(self.random.below(self.k.len()) as u32);
            let dtype = self.k.dtype(value);
            let (value_output, index_output) = (self.k.output(dtype), self.k.output(DType::I64));
            let largest = self.random.one_in(2);
            folds.push(Fold::Arg { largest, value, index, value_output, index_output });
        }
        let mut stores = Vec::new();
        for _ in 0..self.random.below(3) {
            let value = Value(self.random.below(self.k.len()) as u32);
            let dtype = self.k.dtype(value);
            if dtype.size_bytes() >= 4 {
                stores.push(Store { param: self.k.output(dtype), value });
            }
        }
        Form::Reduce { axes, folds, stores }
    }

    fn scan(&mut self) -> Form {
        let value = Value(self.random.below(self.k.len()) as u32);
        let dtype = self.k.dtype(value);
        let start = self.value(dtype);
        let fits: Vec<FoldOp> = cases::FOLDS.into_iter().filter(|&op| fold_fits(op, dtype)).collect();
        let op = self.random.pick(&fits);
        let output = self.k.output(dtype);
        let (axis, exclusive) = (self.random.below(self.rank), self.random.one_in(2));
        Form::Scan(Scan { axis, op, start, value, output, exclusive })
    }

    /// Gathers and scatters by the first coordinate times three, whatever the other coordinates.
    fn indexed(&mut self) -> Form {
        let at = self.k.coord(self.rank - 1, DType::I64);
        let three = self.k.int(DType::I64, 3);
        let at = self.k.binary(BinaryOp::Mul, at, three);
        let index = self.k.cast(at, DType::I32);
        let value = self.value(DType::F32);
        let dtype = self.random.pick(&DType::ALL);
        match (self.rank, self.random.one_in(2)) {
            (1, true) => {
                let output = self.k.output(DType::F32);
                Form::Scatter { index, value, output, add: false }
            }
            _ => {
                let (source, output) = (self.k.input(dtype), self.k.output(dtype));
                Form::Gather { index, source, output }
            }
        }
    }
}

fn unary_fits(op: UnaryOp, d: DType) -> bool {
    match op {
        UnaryOp::Neg | UnaryOp::Abs => d != DType::Bool,
        UnaryOp::Not => !d.is_float(),
        _ => d.is_float(),
    }
}

fn binary_fits(op: BinaryOp, d: DType) -> bool {
    use BinaryOp::{Add, And, Div, Max, Min, Mul, Or, Rem, Shl, Shr, Sub, Xor};
    match op {
        Add | Sub | Mul | Div | Rem => d != DType::Bool,
        Min | Max => true,
        And | Or | Xor => !d.is_float(),
        Shl | Shr => d.is_integer(),
    }
}

fn fold_fits(op: FoldOp, d: DType) -> bool {
    match op {
        FoldOp::Sum | FoldOp::Product => d != DType::Bool,
        FoldOp::Min | FoldOp::Max => d != DType::Bool,
        FoldOp::All | FoldOp::Any => d == DType::Bool,
    }
}

fn launch(kernel: &Verified, wide: bool, random: &mut Random) -> Launch {
    let k = kernel.kernel();
    let widest = if wide { [1, 600, 90, 40, 12] } else { [1, 600, 70, 17, 9] }[k.rank];
    // Planes of whole vectors, in most wide kernels: what a writer wants for them.
    let even = wide && !random.one_in(4);
    let mut extents: Vec<usize> = (0..k.rank).map(|_| 1 + random.below(widest)).collect();
    if k.rank > 0 && random.one_in(25) {
        extents[random.below(k.rank)] = 0;
    }
    let origin = (0..k.rank).map(|_| random.below(1000) as i64).collect();
    let folded = match &k.form {
        Form::Reduce { axes, .. } => axes.clone(),
        _ => vec![false; k.rank],
    };
    let views = k
        .params
        .iter()
        .zip(0..)
        .map(|(param, p)| {
            let folded = if k.stores_beside_folds(p) { &vec![false; k.rank] } else { &folded };
            match even {
                true => even_view(&extents, folded, param.access),
                false => view(&extents, folded, param.access, random),
            }
        })
        .collect();
    let arguments = k.arguments.iter().map(|&dtype| {
        let bits = random.pick(&cases::hard_bits(dtype, 5));
        Scalar { dtype, bits }
    });
    let mut launch = Launch { extents, origin, views, arguments: arguments.collect() };
    if let Form::Gather { .. } | Form::Scatter { .. } = k.form {
        launch.origin = vec![0; k.rank];
    }
    // Memory begins with the lowest element touched, or a little before it.
    for (p, span) in kernel.touched(&launch).into_iter().enumerate() {
        let apart = even && k.params[p].access != Access::In;
        let slack = random.pick(if apart { &[0, 16][..] } else { &[0, 0, 1, 3, 4, 16] });
        if let Some((lowest, _)) = span {
            launch.views[p].offset += slack - lowest;
        }
    }
    launch
}

/// C order, rows padded to sixteen elements.
fn even_view(extents: &[usize], folded: &[bool], access: Access) -> View {
    let mut strides = vec![0; extents.len()];
    let mut next = 1;
    for dim in (0..extents.len()).rev() {
        if access == Access::In || !folded[dim] {
            strides[dim] = next;
            next *= extents[dim].max(1) as i64;
            next = (next + 15) / 16 * 16;
        }
    }
    View { offset: 0, strides }
}

/// C order, usually; else permuted, padded, for inputs also reversed or broadcast.
fn view(extents: &[usize], folded: &[bool], access: Access, random: &mut Random) -> View {
    let rank = extents.len();
    let mut order: Vec<usize> = (0..rank).collect();
    if random.one_in(4) {
        for k in (1..rank).rev() {
            order.swap(k, random.below(k + 1));
        }
    }
    let pad = random.pick(&[0, 0, 0, 1, 5, 8]);
    let mut strides = vec![0i64; rank];
    let mut next = 1i64;
    for (position, &dim) in order.iter().rev().enumerate() {
        if access != Access::In && folded[dim] {
            continue;
        }
        strides[dim] = next;
        next *= extents[dim].max(1) as i64 + if position == 0 { pad } else { 0 };
        if random.one_in(8) {
            strides[dim] = -strides[dim];
        }
        if access == Access::In && random.one_in(10) {
            strides[dim] = 0;
        }
    }
    View { offset: 0, strides }
}

fn arrays(kernel: &Verified, launch: &Launch, random: &mut Random) -> Vec<Vec<u8>> {
    let k = kernel.kernel();
    let spans = kernel.touched(launch);
    let arrays = k.params.iter().zip(&spans).enumerate().map(|(p, (param, span))| {
        let indexed = kernel.kernel().indexed_param() == Some(p as u32);
        let touched = span.map_or(1, |(_, last)| last + 1) as usize;
        // Some indices of a gather or a scatter lie behind the end; buffers hold multiples of 256 bytes.
        let len = if indexed { 256 * (1 + random.below(4)) } else { touched + random.below(3) };
        let bits = cases::hard_bits(param.dtype, 60);
        (0..len).flat_map(|_| random.pick(&bits).to_le_bytes()[..param.dtype.size_bytes()].to_vec()).collect()
    });
    arrays.collect()
}
