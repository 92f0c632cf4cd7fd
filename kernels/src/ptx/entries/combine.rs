//! How partial results are combined: two of them in registers, and those of the lanes of a warp. It does not
//! know where they come from.

use crate::dtype::{DType, Kind, Scalar};
use crate::ir::{CompareOp, Fold, Form, Kernel};
use crate::ptx::text::{Class, PtxWriter, arithmetic, class, partial, size_bits};

/// One sequence of partial results: a value fold has one, an argument fold two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::ptx) struct Stream {
    pub output: u32,
    /// The output's type.
    pub dtype: DType,
    /// The type in which values are combined.
    pub partial: DType,
    /// Combined with it, a value stays as it is.
    pub neutral: Scalar,
    /// It is the index of an argument fold.
    pub index: bool,
}

/// The folds of a reduction.
fn folds(kernel: &Kernel) -> &[Fold] {
    let Form::Reduce { folds, .. } = &kernel.form else { unreachable!("called for reductions") };
    folds
}

/// The streams of a reduction.
pub(in crate::ptx) fn streams(kernel: &Kernel) -> Vec<Stream> {
    let mut all = Vec::new();
    let mut add = |output: u32, neutral: &dyn Fn(DType) -> Scalar, index| {
        let dtype = kernel.params[output as usize].dtype;
        let (partial, neutral) = (partial(dtype), neutral(dtype));
        let neutral = match dtype.kind() {
            Kind::Float => Scalar::from_f64(partial, neutral.to_f64()),
            Kind::Uint if dtype == DType::U64 => neutral,
            Kind::Bool | Kind::Int | Kind::Uint => Scalar::from_i64(partial, neutral.to_i64()),
        };
        all.push(Stream { output, dtype, partial, neutral, index });
    };
    for fold in folds(kernel) {
        match *fold {
            Fold::Value { op, output, .. } => add(output, &|d| op.neutral(d), false),
            Fold::Arg { largest, value_output, index_output, .. } => {
                add(value_output, &|d| Scalar::extreme(d, !largest), false);
                // Indices are compared as i64: this one loses against every other.
                add(
                    index_output,
                    &|d| Scalar::from_f64(if d == DType::U64 { DType::I64 } else { d }, 1e30),
                    true,
                );
            }
        }
    }
    all
}

/// Bytes of a stream's partial results.
pub(in crate::ptx) fn partial_bytes(stream: &Stream) -> u64 {
    1 << size_bits(stream.partial).max(2)
}

/// The class of a partial result in memory.
pub(in crate::ptx) fn word_class(partial: DType) -> Class {
    if partial == DType::Bool { Class::B32 } else { class(partial) }
}

impl PtxWriter<'_> {
    /// `left = left op right`, one register per stream; `left` has the lower numbers.
    pub(in crate::ptx) fn combine_pair(&mut self, streams: &[Stream], left: &[String], right: &[String]) {
        let mut n = 0;
        for fold in folds(self.kernel) {
            let dtype = streams[n].partial;
            match fold {
                Fold::Value { op, .. } => {
                    self.binary(op.step(), dtype, &left[n], &left[n], &right[n]);
                    n += 1;
                }
                Fold::Arg { largest, .. } => {
                    let index = streams[n + 1].partial;
                    let [value, at, best, best_at] = [&right[n], &right[n + 1], &left[n], &left[n + 1]];
                    let wins = self.wins(*largest, [dtype, index], [value, at], [best, best_at]);
                    self.select(dtype, best, [value, best], &wins);
                    self.select(index, best_at, [at, best_at], &wins);
                    n += 2;
                }
            }
        }
    }

    /// The neutral element combined with each result: what it decides is the sign of a zero.
    pub(in crate::ptx) fn combine_neutral(&mut self, streams: &[Stream], results: &[String]) {
        let mut n = 0;
        for fold in folds(self.kernel) {
            if let Fold::Value { op, .. } = fold {
                let neutral = self.fresh(streams[n].neutral);
                self.binary(op.step(), streams[n].partial, &results[n], &neutral, &results[n]);
            }
            n += if matches!(fold, Fold::Arg { .. }) { 2 } else { 1 };
        }
    }

    /// Does a value with its index beat the best so far? Ties go to the lower index, and NaN beats every
    /// number, so order is no matter.
    fn wins(
        &mut self,
        largest: bool,
        [dtype, index]: [DType; 2],
        [value, at]: [&str; 2],
        best: [&str; 2],
    ) -> String {
        let [better, tie, earlier] = [(); 3].map(|()| self.temp(Class::Pred));
        let op = if largest { CompareOp::Gt } else { CompareOp::Lt };
        self.compare(op, dtype, &better, value, best[0]);
        self.compare(CompareOp::Eq, dtype, &tie, value, best[0]);
        let index = if index == DType::U64 { DType::I64 } else { index };
        self.compare(CompareOp::Lt, index, &earlier, at, best[1]);
        if dtype.is_float() {
            let kind = arithmetic(dtype);
            let nan = self.set(Class::Pred, &format!("setp.nan.{kind}"), &[value, value]);
            let best_nan = self.set(Class::Pred, &format!("setp.nan.{kind}"), &[best[0], best[0]]);
            let both = self.set(Class::Pred, "and.pred", &[&nan, &best_nan]);
            self.op(&format!("or.pred {tie}, {tie}, {both}"));
            let first = self.set(Class::Pred, "xor.pred", &[&nan, &both]);
            self.op(&format!("or.pred {better}, {better}, {first}"));
        }
        self.op(&format!("and.pred {tie}, {tie}, {earlier}"));
        self.set(Class::Pred, "or.pred", &[&better, &tie])
    }

    /// The value of the lane `distance` further on; the last lanes get their own.
    pub(in crate::ptx) fn shuffle_down(&mut self, dtype: DType, value: &str, distance: usize) -> String {
        let shuffle = |w: &mut Self, a: &str| {
            w.set(Class::B32, "shfl.sync.down.b32", &[a, &distance.to_string(), "31", "0xffffffff"])
        };
        match word_class(dtype) {
            Class::B64 | Class::F64 => {
                let (low, high) = (self.temp(Class::B32), self.temp(Class::B32));
                self.op(&format!("mov.b64 {{{low}, {high}}}, {value}"));
                let (low, high) = (shuffle(self, &low), shuffle(self, &high));
                let to = self.temp(class(dtype));
                self.op(&format!("mov.b64 {to}, {{{low}, {high}}}"));
                to
            }
            Class::F32 => {
                let word = self.set(Class::B32, "mov.b32", &[value]);
                let word = shuffle(self, &word);
                self.set(Class::F32, "mov.b32", &[&word])
            }
            _ => {
                let word = self.word(dtype, value);
                let word = shuffle(self, &word);
                self.of_word(dtype, word)
            }
        }
    }

    /// A partial result as it is kept in memory.
    pub(in crate::ptx) fn word(&mut self, dtype: DType, value: &str) -> String {
        match dtype {
            DType::Bool => self.set(Class::B32, "selp.b32", &["1", "0", value]),
            _ => value.to_owned(),
        }
    }

    fn of_word(&mut self, dtype: DType, word: String) -> String {
        match dtype {
            DType::Bool => self.set(Class::Pred, "setp.ne.u32", &[&word, "0"]),
            _ => word,
        }
    }

    /// A partial result out of memory.
    pub(in crate::ptx) fn load_word(&mut self, space: &str, dtype: DType, place: &str) -> String {
        let class = word_class(dtype);
        let word = self.set(class, &format!("ld.{space}.{}", class.name()), &[place]);
        self.of_word(dtype, word)
    }
}
