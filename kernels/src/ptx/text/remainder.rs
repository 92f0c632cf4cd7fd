//! The remainder of floats, exactly: long division of the mantissas, a few bits at a time.

use super::parameters::Class;
use super::writer::PtxWriter;
use crate::dtype::DType;

/// The numbers that tell f32 from f64.
struct Width {
    /// `32` or `64`.
    bits: u32,
    /// Bits of the mantissa below its leading one.
    mantissa: u32,
    /// Exponent of the number 1.
    bias: i32,
    /// Quotient bits of one step: the remainder shifted by so many still fits.
    step: u32,
    whole: Class,
    float: Class,
}

const SINGLE: Width =
    Width { bits: 32, mantissa: 23, bias: 127, step: 8, whole: Class::B32, float: Class::F32 };
const DOUBLE: Width =
    Width { bits: 64, mantissa: 52, bias: 1023, step: 11, whole: Class::B64, float: Class::F64 };

impl Width {
    fn sign(&self) -> String {
        format!("0x{:x}", 1u64 << (self.bits - 1))
    }

    fn magnitude(&self) -> String {
        format!("0x{:x}", (1u64 << (self.bits - 1)) - 1)
    }

    fn infinity(&self) -> String {
        format!("0x{:x}", ((1u64 << (self.bits - 1)) - 1) >> self.mantissa << self.mantissa)
    }
}

impl PtxWriter<'_> {
    /// `to = a % b` with the sign of `a`, of f32 or f64.
    pub(crate) fn remainder(&mut self, dtype: DType, to: &str, a: &str, b: &str) {
        let w = if dtype == DType::F64 { DOUBLE } else { SINGLE };
        let bits = w.bits;
        let (done, small, finite) = (self.label("DONE"), self.label("SMALL"), self.label("FINITE"));
        let ab = self.set(w.whole, &format!("mov.b{bits}"), &[a]);
        let bb = self.set(w.whole, &format!("mov.b{bits}"), &[b]);
        let sign = self.set(w.whole, &format!("and.b{bits}"), &[&ab, &w.sign()]);
        let x = self.set(w.whole, &format!("and.b{bits}"), &[&ab, &w.magnitude()]);
        let y = self.set(w.whole, &format!("and.b{bits}"), &[&bb, &w.magnitude()]);

        // Infinity or NaN divided, and anything divided by zero or NaN, is NaN.
        let p = self.set(Class::Pred, &format!("setp.ge.u{bits}"), &[&x, &w.infinity()]);
        let p = self.set(Class::Pred, &format!("setp.gt.or.u{bits}"), &[&y, &w.infinity(), &p]);
        let p = self.set(Class::Pred, &format!("setp.eq.or.u{bits}"), &[&y, "0", &p]);
        self.op(&format!("@!{p} bra {finite}"));
        self.op(&format!("mov.b{bits} {to}, {}", w.magnitude()));
        self.op(&format!("bra {done}"));
        self.place(&finite);
        let less = self.set(Class::Pred, &format!("setp.lt.u{bits}"), &[&x, &y]);
        self.op(&format!("@{less} bra {small}"));

        let (mx, ex) = self.mantissa(&w, &x);
        let (my, ey) = self.mantissa(&w, &y);
        let rest = self.set(w.whole, &format!("rem.u{bits}"), &[&mx, &my]);
        let left = self.set(Class::B32, "sub.s32", &[&ex, &ey]);
        self.long_division(&w, &rest, &my, &left);

        // The remainder is `rest` units of the last place of `b`; both scalings are exact.
        let whole = self.set(w.float, &format!("cvt.rn.f{bits}.u{bits}"), &[&rest]);
        let unit = self.set(Class::B32, "sub.s32", &[&ey, &(w.bias + w.mantissa as i32).to_string()]);
        let half = self.set(Class::B32, "shr.s32", &[&unit, "1"]);
        let other = self.set(Class::B32, "sub.s32", &[&unit, &half]);
        let scaled = self.scale(&w, &whole, &half);
        let scaled = self.scale(&w, &scaled, &other);
        let result = self.set(w.whole, &format!("mov.b{bits}"), &[&scaled]);
        let result = self.set(w.whole, &format!("or.b{bits}"), &[&result, &sign]);
        self.op(&format!("mov.b{bits} {to}, {result}"));
        self.op(&format!("bra {done}"));
        self.place(&small);
        self.op(&format!("mov.f{bits} {to}, {a}"));
        self.place(&done);
    }

    /// Mantissa with its leading one in place, and biased exponent, of a positive number's bits.
    fn mantissa(&mut self, w: &Width, x: &str) -> (String, String) {
        let bits = w.bits;
        let one = format!("0x{:x}", 1u64 << w.mantissa);
        let below = format!("0x{:x}", (1u64 << w.mantissa) - 1);
        let tiny = self.set(Class::Pred, &format!("setp.lt.u{bits}"), &[x, &one]);
        // A subnormal number is shifted up, and its exponent counts by how far.
        let lead = self.set(Class::B32, &format!("clz.b{bits}"), &[x]);
        let lead = self.set(Class::B32, "sub.s32", &[&lead, &(bits - 1 - w.mantissa).to_string()]);
        let lead = self.set(Class::B32, "selp.b32", &[&lead, "0", &tiny]);
        let up = self.set(w.whole, &format!("shl.b{bits}"), &[x, &lead]);
        let m = self.set(w.whole, &format!("and.b{bits}"), &[&up, &below]);
        let m = self.set(w.whole, &format!("or.b{bits}"), &[&m, &one]);
        let e = self.set(w.whole, &format!("shr.u{bits}"), &[x, &w.mantissa.to_string()]);
        let e = if bits == 64 { self.set(Class::B32, "cvt.u32.u64", &[&e]) } else { e };
        let negative = self.set(Class::B32, "sub.s32", &["1", &lead]);
        let e = self.set(Class::B32, "selp.b32", &[&negative, &e, &tiny]);
        (m, e)
    }

    /// `rest = rest * 2^left mod divisor`
    fn long_division(&mut self, w: &Width, rest: &str, divisor: &str, left: &str) {
        let bits = w.bits;
        let (divide, divided) = (self.label("DIVIDE"), self.label("DIVIDED"));
        self.place(&divide);
        let p = self.set(Class::Pred, "setp.eq.u32", &[left, "0"]);
        let p = self.set(Class::Pred, &format!("setp.eq.or.u{bits}"), &[rest, "0", &p]);
        self.op(&format!("@{p} bra {divided}"));
        let by = self.set(Class::B32, "min.u32", &[left, &w.step.to_string()]);
        self.op(&format!("shl.b{bits} {rest}, {rest}, {by}"));
        self.op(&format!("rem.u{bits} {rest}, {rest}, {divisor}"));
        self.op(&format!("sub.u32 {left}, {left}, {by}"));
        self.op(&format!("bra {divide}"));
        self.place(&divided);
    }

    /// `x * 2^power`
    fn scale(&mut self, w: &Width, x: &str, power: &str) -> String {
        let bits = w.bits;
        let biased = self.set(Class::B32, "add.s32", &[power, &w.bias.to_string()]);
        let biased = if bits == 64 { self.set(Class::B64, "cvt.u64.u32", &[&biased]) } else { biased };
        let factor = self.set(w.whole, &format!("shl.b{bits}"), &[&biased, &w.mantissa.to_string()]);
        let factor = self.set(w.float, &format!("mov.b{bits}"), &[&factor]);
        self.set(w.float, &format!("mul.rn.f{bits}"), &[x, &factor])
    }
}
