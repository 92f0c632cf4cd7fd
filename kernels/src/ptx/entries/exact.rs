//! Exact sums: every thread adds into integers of its own, limbs of 32 bits that carry once, at the end; then
//! the threads' limbs are added one by one, as any other reduction adds. It does not know what is summed.

use super::reduce::Stream;
use crate::dtype::{DType, Scalar};
use crate::exact::{FLAGS, digits};
use crate::ir::{Fold, Form, Kernel, Value};
use crate::ptx::text::{Address, Class, Field, PtxWriter, Quantity, Share};

/// Elements into which a limb goes.
const DIGITS_PER_LIMB: usize = 2;

/// Which limbs are added.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::ptx) enum Limbs {
    /// The threads' own.
    Own,
    /// Those of partial results.
    Partial,
}

/// The type that is summed.
fn summed(kernel: &Kernel) -> Option<DType> {
    kernel.exact().map(|value| kernel.body[value.index()].dtype)
}

/// Limbs of digits; as many more as there are flags count what is not finite.
fn limbs(dtype: DType) -> usize {
    digits(dtype).div_ceil(DIGITS_PER_LIMB)
}

/// The one stream of an exact sum: limbs, of which a thread has one at a time in its accumulator.
pub(in crate::ptx) fn stream(kernel: &Kernel) -> Option<Stream> {
    let dtype = summed(kernel)?;
    let Form::Reduce { folds, .. } = &kernel.form else { return None };
    let [Fold::Exact { output, .. }] = folds[..] else { return None };
    let (partial, neutral) = (DType::I64, Scalar::from_i64(DType::I64, 0));
    let width = (limbs(dtype) + FLAGS) as u64;
    Some(Stream { output, dtype: DType::I32, partial, neutral, index: false, width })
}

impl PtxWriter<'_> {
    fn summed(&self) -> DType {
        summed(self.kernel).expect("called for exact sums")
    }

    /// Every limb 0. `%limbs` is where they begin.
    pub(in crate::ptx) fn clear_limbs(&mut self) {
        let count = limbs(self.summed()) + FLAGS;
        // A value may reach into two limbs after that of its lowest bit, also where it is a flag's.
        self.own("own", 8 * (count as u64 + 2));
        self.named(Class::B64, "%limbs");
        self.op("mov.b64 %limbs, own");
        for limb in 0..count + 2 {
            self.op(&format!("st.local.b64 [%limbs+{}], 0", 8 * limb));
        }
    }

    /// Adds a value of the body to the thread's limbs.
    pub(in crate::ptx) fn deposit(&mut self, value: Value) {
        let register = self.name(value);
        let (fraction, places) = if self.summed() == DType::F64 { (52, 3) } else { (23, 2) };
        let bits = match self.summed() {
            DType::F64 => self.set(Class::B64, "mov.b64", &[&register]),
            _ => {
                let word = self.set(Class::B32, "mov.b32", &[&register]);
                self.set(Class::B64, "cvt.u64.u32", &[&word])
            }
        };
        let top = if fraction == 52 { 0x7ffu32 } else { 0xff };
        let (one, mask) = (1u64 << fraction, (1u64 << fraction) - 1);
        let below = self.set(Class::B64, "and.b64", &[&bits, &mask.to_string()]);
        let high = self.set(Class::B64, "shr.u64", &[&bits, &fraction.to_string()]);
        let high = self.set(Class::B32, "cvt.u32.u64", &[&high]);
        let exponent = self.set(Class::B32, "and.b32", &[&high, &top.to_string()]);
        let normal = self.set(Class::Pred, "setp.ne.u32", &[&exponent, "0"]);
        let leading = self.set(Class::B64, "selp.b64", &[&one.to_string(), "0", &normal]);
        let mantissa = self.set(Class::B64, "or.b64", &[&below, &leading]);
        let position = self.set(Class::B32, "max.u32", &[&exponent, "1"]);
        let position = self.set(Class::B32, "sub.u32", &[&position, "1"]);
        // What is not finite counts 1 in the limb of its flag.
        let first = limbs(self.summed()) as u32 * 32;
        let negative = self.set(Class::Pred, "setp.gt.u32", &[&high, &top.to_string()]);
        let nan = self.set(Class::Pred, "setp.ne.u64", &[&below, "0"]);
        let flag =
            self.set(Class::B32, "selp.b32", &[&(first + 32).to_string(), &first.to_string(), &negative]);
        let flag = self.set(Class::B32, "selp.b32", &[&(first + 64).to_string(), &flag, &nan]);
        let finite = self.set(Class::Pred, "setp.ne.u32", &[&exponent, &top.to_string()]);
        let position = self.set(Class::B32, "selp.b32", &[&position, &flag, &finite]);
        let mantissa = self.set(Class::B64, "selp.b64", &[&mantissa, "1", &finite]);
        let negative = self.set(Class::Pred, "and.pred", &[&negative, &finite]);

        let limb = self.set(Class::B32, "shr.u32", &[&position, "5"]);
        let by = self.set(Class::B32, "and.b32", &[&position, "31"]);
        let at = self.set(Class::B64, "cvt.u64.u32", &[&limb]);
        let at = self.set(Class::B64, "shl.b64", &[&at, "3"]);
        let at = self.set(Class::B64, "add.s64", &["%limbs", &at]);
        let moved = self.set(Class::B64, "shl.b64", &[&mantissa, &by]);
        let low = self.set(Class::B64, "and.b64", &[&moved, "4294967295"]);
        let mut pieces = vec![low, self.set(Class::B64, "shr.u64", &[&moved, "32"])];
        if places == 3 {
            let rest = self.set(Class::B32, "sub.u32", &["64", &by]);
            pieces.push(self.set(Class::B64, "shr.u64", &[&mantissa, &rest]));
        }
        for (n, piece) in pieces.iter().enumerate() {
            let minus = self.set(Class::B64, "neg.s64", &[piece]);
            let piece = self.set(Class::B64, "selp.b64", &[&minus, piece, &negative]);
            let old = self.set(Class::B64, "ld.local.b64", &[&format!("[{at}+{}]", 8 * n)]);
            let new = self.set(Class::B64, "add.s64", &[&old, &piece]);
            self.op(&format!("st.local.b64 [{at}+{}], {new}", 8 * n));
        }
    }

    /// Brings the thread's limbs into the range of 32 bits, except the last.
    pub(in crate::ptx) fn carry(&mut self) {
        self.note("carry from limb to limb");
        for name in ["%at", "%end", "%carry64"] {
            self.named(Class::B64, name);
        }
        let bytes = 8 * (limbs(self.summed()) - 1);
        self.op("mov.b64 %at, %limbs");
        self.op(&format!("add.s64 %end, %limbs, {bytes}"));
        self.op("mov.b64 %carry64, 0");
        self.place("CARRY");
        let old = self.set(Class::B64, "ld.local.b64", &["[%at]"]);
        let sum = self.set(Class::B64, "add.s64", &[&old, "%carry64"]);
        let low = self.set(Class::B64, "and.b64", &[&sum, "4294967295"]);
        self.op(&format!("st.local.b64 [%at], {low}"));
        self.op(&format!("shr.s64 %carry64, {sum}, 32"));
        self.op("add.s64 %at, %at, 8");
        let more = self.set(Class::Pred, "setp.lt.u64", &["%at", "%end"]);
        self.op(&format!("@{more} bra CARRY"));
        let old = self.set(Class::B64, "ld.local.b64", &["[%at]"]);
        let sum = self.set(Class::B64, "add.s64", &[&old, "%carry64"]);
        self.op(&format!("st.local.b64 [%at], {sum}"));
    }

    /// Adds the limbs of a block's threads, one limb after the other, and stores them: as elements of the
    /// result, or as partial results if there are several to be folded again.
    pub(in crate::ptx) fn limbs(&mut self, streams: &[Stream], kept: usize, from: Limbs) {
        self.note("limb by limb");
        let dtype = self.summed();
        for name in ["%limb", "%carry64"] {
            self.named(if name == "%limb" { Class::B32 } else { Class::B64 }, name);
        }
        self.named(Class::B64, "%acc0");
        self.op("mov.b32 %limb, 0");
        self.op("mov.b64 %carry64, 0");
        self.place("LIMB");
        match from {
            Limbs::Own => {
                let at = self.set(Class::B64, "mul.wide.u32", &["%limb", "8"]);
                let at = self.set(Class::B64, "add.s64", &["%limbs", &at]);
                self.op(&format!("ld.local.b64 %acc0, [{at}]"));
            }
            Limbs::Partial => self.partial_limb(streams),
        }
        self.combine(streams);
        let other = self.set(Class::Pred, "setp.ne.u32", &["%lane", "0"]);
        self.op(&format!("@{other} bra NEXT"));
        self.op("@!%live bra NEXT");
        if from == Limbs::Own {
            let segments = self.field(Field::Share(Share::Segments));
            let one = self.set(Class::Pred, "setp.eq.u32", &[&segments, "1"]);
            self.op(&format!("@{one} bra RESULT"));
            let first = self.field(Field::Share(Share::First));
            let number = self.set(Class::B32, "mov.b32", &["%ctaid.y"]);
            let number = self.set(Class::B32, "add.u32", &[&number, &first]);
            let place = self.limb_place(streams, &number);
            self.op(&format!("st.global.b64 {place}, %acc0"));
            self.op("bra NEXT");
            self.place("RESULT");
        }
        self.elements(dtype, streams[0].output, kept);
        self.place("NEXT");
        self.op("add.u32 %limb, %limb, 1");
        let more = self.set(Class::Pred, "setp.lt.u32", &["%limb", &streams[0].width.to_string()]);
        self.op(&format!("@{more} bra LIMB"));
        self.op("ret");
    }

    /// Folds the partial results of one limb.
    fn partial_limb(&mut self, streams: &[Stream]) {
        self.op("mov.b32 %item, %lane");
        self.op("mov.b64 %acc0, 0");
        self.place("ITEM");
        self.leave_loop("%item", "FOLDED");
        let place = self.limb_place(streams, "%item");
        let value = self.set(Class::B64, "ld.global.b64", &[&place.to_string()]);
        self.op(&format!("add.s64 %acc0, %acc0, {value}"));
        self.op("add.u32 %item, %item, %lanes");
        self.op("bra ITEM");
        self.place("FOLDED");
    }

    /// Where limb `%limb` of a segment's partial result lies.
    fn limb_place(&mut self, streams: &[Stream], segment: &str) -> Address {
        let number = self.partial_number(segment);
        let limb = self.set(Class::B64, "cvt.u64.u32", &["%limb"]);
        let width = streams[0].width.to_string();
        let number = self.set(Class::B64, "mad.lo.u64", &[&number, &width, &limb]);
        self.partial_place(0, &streams[0], &number)
    }

    /// Stores the elements of the result that limb `%limb` holds, and keeps its carry.
    fn elements(&mut self, dtype: DType, output: u32, kept: usize) {
        let (count, last) = (limbs(dtype), limbs(dtype) - 1);
        let out = self.locate(Quantity::Param(output), 0..kept, None);
        let value = self.set(Class::B64, "add.s64", &["%acc0", "%carry64"]);
        let is_flag = self.set(Class::Pred, "setp.ge.u32", &["%limb", &count.to_string()]);
        self.op(&format!("@{is_flag} bra FLAG"));
        let is_last = self.set(Class::Pred, "setp.eq.u32", &["%limb", &last.to_string()]);
        let carry = self.set(Class::B64, "shr.s64", &[&value, "32"]);
        self.op(&format!("selp.b64 %carry64, 0, {carry}, {is_last}"));
        let at = self.set(Class::B64, "mul.wide.u32", &["%limb", "8"]);
        let at = self.set(Class::B64, "add.s64", &[&out, &at]);
        // The last digit has the sign, and so its upper half.
        let is_even = digits(dtype).is_multiple_of(DIGITS_PER_LIMB);
        let whole = self.set(Class::B32, "cvt.u32.u64", &[&value]);
        let low = self.set(Class::B32, "and.b32", &[&whole, "65535"]);
        let shifted = self.set(Class::B64, "shr.s64", &[&value, "16"]);
        let signed = self.set(Class::B32, "cvt.u32.u64", &[&shifted]);
        let high = self.set(Class::B32, "and.b32", &[&signed, "65535"]);
        if is_even {
            let high = self.set(Class::B32, "selp.b32", &[&signed, &high, &is_last]);
            self.op(&format!("st.global.b32 [{at}], {low}"));
            self.op(&format!("st.global.b32 [{at}+4], {high}"));
        } else {
            let low = self.set(Class::B32, "selp.b32", &[&whole, &low, &is_last]);
            self.op(&format!("st.global.b32 [{at}], {low}"));
            self.op(&format!("@!{is_last} st.global.b32 [{at}+4], {high}"));
        }
        self.op("bra NEXT");
        self.place("FLAG");
        let some = self.set(Class::Pred, "setp.ne.s64", &[&value, "0"]);
        let flag = self.set(Class::B32, "selp.b32", &["1", "0", &some]);
        let number = self.set(Class::B32, "sub.u32", &["%limb", &count.to_string()]);
        let at = self.set(Class::B64, "mul.wide.u32", &[&number, "4"]);
        let at = self.set(Class::B64, "add.s64", &[&out, &at]);
        self.op(&format!("st.global.b32 [{at}+{}], {flag}", 4 * digits(dtype)));
    }
}
