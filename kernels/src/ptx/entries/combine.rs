//! How what was found is folded together: one value into a thread's accumulators, and the accumulators
//! of a block's threads into those of the first. It does not know where values come from.

use super::reduce::{Stream, folds};
use crate::dtype::DType;
use crate::ir::{CompareOp, Fold, FoldOp};
use crate::ptx::text::{Class, PtxWriter, THREADS, arithmetic, class};

/// The class of a partial result in memory.
pub(in crate::ptx) fn word_class(partial: DType) -> Class {
    if partial == DType::Bool { Class::B32 } else { class(partial) }
}

impl PtxWriter<'_> {
    /// Folds one value per stream into the accumulators.
    pub(in crate::ptx) fn merge(&mut self, streams: &[Stream], values: &[String]) {
        let mut n = 0;
        for fold in folds(self.kernel) {
            let (dtype, acc) = (streams[n].partial, format!("%acc{n}"));
            match fold {
                Fold::Value { op, .. } => {
                    self.binary(op.step(), dtype, &acc, &acc, &values[n]);
                    n += 1;
                }
                Fold::Arg { largest, .. } => {
                    let (at, kind) = (format!("%acc{}", n + 1), streams[n + 1].partial);
                    let best = [acc.as_str(), at.as_str()];
                    let wins = self.wins(*largest, [dtype, kind], [&values[n], &values[n + 1]], best);
                    self.select(dtype, &acc, [&values[n], &acc], &wins);
                    self.select(kind, &at, [&values[n + 1], &at], &wins);
                    n += 2;
                }
            }
        }
    }

    /// The float sums among the streams.
    pub(in crate::ptx) fn compensated(&self, streams: &[Stream]) -> Vec<(usize, Stream)> {
        let sums = folds(self.kernel).iter().filter_map(|fold| match *fold {
            Fold::Value { op: FoldOp::Sum, output, .. } => Some(output),
            Fold::Value { .. } | Fold::Arg { .. } => None,
        });
        let sums: Vec<u32> = sums.collect();
        let of_floats = |(_, s): &(usize, Stream)| s.partial.is_float() && sums.contains(&s.output);
        streams.iter().copied().enumerate().filter(of_floats).collect()
    }

    /// Folds one value per stream, of the many that a thread goes through, into the accumulators. What a sum
    /// of floats loses is summed beside it (Knuth's error of an addition), so that its error does not grow
    /// with the number of items.
    pub(in crate::ptx) fn merge_items(&mut self, streams: &[Stream], values: &[String]) {
        let compensated = self.compensated(streams);
        let before: Vec<String> = compensated
            .iter()
            .map(|(n, stream)| {
                self.set(
                    class(stream.partial),
                    &format!("mov.{}", arithmetic(stream.partial)),
                    &[&format!("%acc{n}")],
                )
            })
            .collect();
        self.merge(streams, values);
        for ((n, stream), old) in compensated.iter().zip(&before) {
            let (kind, to) = (arithmetic(stream.partial), class(stream.partial));
            let (acc, lost, value) = (format!("%acc{n}"), format!("%lost{n}"), &values[*n]);
            let (add, sub) = (format!("add.rn.{kind}"), format!("sub.rn.{kind}"));
            let added = self.set(to, &sub, &[&acc, old]);
            let kept = self.set(to, &sub, &[&acc, &added]);
            let of_old = self.set(to, &sub, &[old, &kept]);
            let of_value = self.set(to, &sub, &[value, &added]);
            let both = self.set(to, &add, &[&of_old, &of_value]);
            self.op(&format!("{add} {lost}, {lost}, {both}"));
        }
    }

    /// Adds to the accumulators of float sums what they have lost; of an infinite sum that is NaN, and the
    /// sum stays.
    pub(in crate::ptx) fn settle(&mut self, streams: &[Stream]) {
        for (n, stream) in self.compensated(streams) {
            let (kind, to) = (arithmetic(stream.partial), class(stream.partial));
            let (acc, lost) = (format!("%acc{n}"), format!("%lost{n}"));
            let nothing = self.set(Class::Pred, &format!("setp.nan.{kind}"), &[&lost, &lost]);
            let whole = self.set(to, &format!("add.rn.{kind}"), &[&acc, &lost]);
            self.op(&format!("selp.{kind} {acc}, {acc}, {whole}, {nothing}"));
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

    /// Combines the accumulators of the threads of one point in the first of them.
    pub(in crate::ptx) fn combine(&mut self, streams: &[Stream]) {
        let half = self.named(Class::B32, "%half");
        self.note("combine in halves: through shared memory, and by shuffles once the rest is one warp");
        let least = self.set(Class::B32, "selp.b32", &["32", "1", "%across"]);
        self.op(&format!("shr.u32 {half}, %lanes, 1"));
        self.place("HALVE");
        let few = self.set(Class::Pred, "setp.lt.u32", &[&half, &least]);
        self.op(&format!("@{few} bra SHUFFLE"));
        let mine: Vec<String> = (0..streams.len()).map(|n| self.exchange(n, &streams[n])).collect();
        for (n, place) in mine.iter().enumerate() {
            let word = self.word(streams[n].partial, &format!("%acc{n}"));
            self.op(&format!("st.shared.{} [{place}], {word}", word_class(streams[n].partial).name()));
        }
        self.op("bar.sync 0");
        let idle = self.set(Class::Pred, "setp.ge.u32", &["%lane", &half]);
        self.op(&format!("@{idle} bra HALVED"));
        let distance = self.set(Class::B32, "mul.lo.u32", &[&half, "%apart"]);
        let theirs: Vec<String> = (mine.iter().zip(streams))
            .map(|(place, stream)| {
                let bytes = word_class(stream.partial).bytes().to_string();
                let place = self.set(Class::B32, "mad.lo.u32", &[&distance, &bytes, place]);
                self.load_word("shared", stream.partial, &format!("[{place}]"))
            })
            .collect();
        self.merge(streams, &theirs);
        self.place("HALVED");
        self.op("bar.sync 0");
        self.op(&format!("shr.u32 {half}, {half}, 1"));
        self.op("bra HALVE");
        self.place("SHUFFLE");
        let alone = self.set(Class::Pred, "setp.eq.u32", &[&half, "0"]);
        self.op(&format!("@{alone} bra COMBINED"));
        let theirs: Vec<String> =
            (0..streams.len()).map(|n| self.shuffle(streams[n].partial, &format!("%acc{n}"))).collect();
        self.merge(streams, &theirs);
        self.op(&format!("shr.u32 {half}, {half}, 1"));
        self.op("bra SHUFFLE");
        self.place("COMBINED");
    }

    /// The address of the thread's word of a stream in shared memory.
    fn exchange(&mut self, n: usize, stream: &Stream) -> String {
        let bytes = word_class(stream.partial).bytes();
        self.share(&format!("exchange{n}"), THREADS as usize * bytes);
        let base = self.set(Class::B32, "mov.b32", &[&format!("exchange{n}")]);
        self.set(Class::B32, "mad.lo.u32", &["%thread", &bytes.to_string(), &base])
    }

    /// The accumulator of the thread `%half` lanes on.
    fn shuffle(&mut self, dtype: DType, acc: &str) -> String {
        let shuffle = |w: &mut Self, a: &str| {
            w.set(Class::B32, "shfl.sync.down.b32", &[a, "%half", "31", "0xffffffff"])
        };
        match word_class(dtype) {
            Class::B64 | Class::F64 => {
                let (low, high) = (self.temp(Class::B32), self.temp(Class::B32));
                self.op(&format!("mov.b64 {{{low}, {high}}}, {acc}"));
                let (low, high) = (shuffle(self, &low), shuffle(self, &high));
                let to = self.temp(class(dtype));
                self.op(&format!("mov.b64 {to}, {{{low}, {high}}}"));
                to
            }
            _ => {
                let word = self.word(dtype, acc);
                let word = match class(dtype) {
                    Class::F32 => self.set(Class::B32, "mov.b32", &[&word]),
                    _ => word,
                };
                let word = shuffle(self, &word);
                match class(dtype) {
                    Class::F32 => self.set(Class::F32, "mov.b32", &[&word]),
                    _ => self.value(dtype, word),
                }
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

    fn value(&mut self, dtype: DType, word: String) -> String {
        match dtype {
            DType::Bool => self.set(Class::Pred, "setp.ne.u32", &[&word, "0"]),
            _ => word,
        }
    }

    pub(in crate::ptx) fn load_word(&mut self, space: &str, dtype: DType, place: &str) -> String {
        let class = word_class(dtype);
        let word = self.set(class, &format!("ld.{space}.{}", class.name()), &[place]);
        self.value(dtype, word)
    }
}
