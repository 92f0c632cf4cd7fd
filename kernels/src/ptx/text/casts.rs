//! Conversions by value and by bits, and the two faces of f16 and bf16.

use super::types::{Class, arithmetic, class};
use super::writer::PtxWriter;
use crate::dtype::{DType, Kind, Scalar};

impl PtxWriter<'_> {
    /// An f16 or bf16 as f32, exactly.
    pub(in crate::ptx) fn widen(&mut self, dtype: DType, a: &str) -> String {
        if dtype == DType::F16 {
            return self.set(Class::F32, "cvt.f32.f16", &[a]);
        }
        let low = self.set(Class::B32, "cvt.u32.u16", &[a]);
        let bits = self.set(Class::B32, "shl.b32", &[&low, "16"]);
        self.set(Class::F32, "mov.b32", &[&bits])
    }

    /// An f32 rounded to f16 or bf16.
    pub(in crate::ptx) fn round(&mut self, dtype: DType, to: &str, a: &str) {
        match dtype {
            DType::F16 => self.op(&format!("cvt.rn.f16.f32 {to}, {a}")),
            _ if self.target.sm >= 80 => self.op(&format!("cvt.rn.bf16.f32 {to}, {a}")),
            _ => self.round_bf16(to, a),
        }
    }

    /// Rounding to bf16 by integers: half a unit less the parity of the last kept bit is added.
    fn round_bf16(&mut self, to: &str, a: &str) {
        let bits = self.set(Class::B32, "mov.b32", &[a]);
        let odd = self.set(Class::B32, "bfe.u32", &[&bits, "16", "1"]);
        let sum = self.set(Class::B32, "add.u32", &[&bits, &odd]);
        let sum = self.set(Class::B32, "add.u32", &[&sum, "0x7fff"]);
        let high = self.set(Class::B32, "shr.u32", &[&sum, "16"]);
        let nan = self.set(Class::Pred, "setp.nan.f32", &[a, a]);
        let high = self.set(Class::B32, "selp.b32", &["0x7fff", &high, &nan]);
        self.op(&format!("cvt.u16.u32 {to}, {high}"));
    }

    /// Conversion by value.
    pub(in crate::ptx) fn cast(&mut self, from: DType, to_dtype: DType, to: &str, a: &str) {
        if from == to_dtype {
            return self.copy(from, to, a);
        }
        match (from.kind(), to_dtype.kind()) {
            (_, _) if class(from) == Class::B16 => {
                let wide = self.widen(from, a);
                self.cast(DType::F32, to_dtype, to, &wide);
            }
            (Kind::Bool, Kind::Bool) => self.copy(from, to, a),
            (Kind::Bool, _) => {
                let [one, zero] = [1, 0].map(|n| self.fresh(Scalar::from_i64(to_dtype, n)));
                self.select(to_dtype, to, [&one, &zero], a);
            }
            (Kind::Int | Kind::Uint, Kind::Bool) => {
                self.op(&format!("setp.ne.{} {to}, {a}, 0", arithmetic(from)));
            }
            (Kind::Int | Kind::Uint, Kind::Int | Kind::Uint) => self.int_to_int(from, to_dtype, to, a),
            (Kind::Int | Kind::Uint, Kind::Float) => self.int_to_float(from, to_dtype, to, a),
            (Kind::Float, Kind::Bool) => {
                let zero = self.fresh(Scalar::from_i64(from, 0));
                self.op(&format!("setp.neu.{} {to}, {a}, {zero}", arithmetic(from)));
            }
            (Kind::Float, Kind::Int | Kind::Uint) => self.float_to_int(from, to_dtype, to, a),
            (Kind::Float, Kind::Float) => self.float_to_float(from, to_dtype, to, a),
        }
    }

    /// `to = a`
    pub(in crate::ptx) fn copy(&mut self, dtype: DType, to: &str, a: &str) {
        self.op(&format!("mov.{} {to}, {a}", class(dtype).name()));
    }

    fn int_to_int(&mut self, from: DType, to_dtype: DType, to: &str, a: &str) {
        match (class(from), class(to_dtype)) {
            (Class::B32, Class::B64) if from.kind() == Kind::Int => {
                self.op(&format!("cvt.s64.s32 {to}, {a}"));
            }
            (Class::B32, Class::B64) => self.op(&format!("cvt.u64.u32 {to}, {a}")),
            (Class::B64, Class::B32) => self.op(&format!("cvt.u32.u64 {to}, {a}")),
            _ => self.copy(to_dtype, to, a),
        }
        self.wrap(to_dtype, to);
    }

    /// Integers reach f16 and bf16 through f32, as the interpreter's do.
    fn int_to_float(&mut self, from: DType, to_dtype: DType, to: &str, a: &str) {
        if class(to_dtype) == Class::B16 {
            let wide = self.set(Class::F32, &format!("cvt.rn.f32.{}", arithmetic(from)), &[a]);
            return self.round(to_dtype, to, &wide);
        }
        self.op(&format!("cvt.rn.{}.{} {to}, {a}", arithmetic(to_dtype), arithmetic(from)));
    }

    /// Truncates and saturates; a conversion to 32 or 64 bits does both by definition, but what it makes
    /// of NaN depends on the types, so that is decided here.
    fn float_to_int(&mut self, from: DType, to_dtype: DType, to: &str, a: &str) {
        let (kind, bits) = (arithmetic(to_dtype), class(to_dtype).name());
        let mut whole = self.set(class(to_dtype), &format!("cvt.rzi.{kind}.{}", arithmetic(from)), &[a]);
        if to_dtype.size_bytes() < 4 {
            let least = Scalar::from_f64(to_dtype, f64::NEG_INFINITY).to_i64().to_string();
            let most = Scalar::from_f64(to_dtype, f64::INFINITY).to_i64().to_string();
            whole = self.set(Class::B32, &format!("min.{kind}"), &[&whole, &most]);
            if to_dtype.kind() == Kind::Int {
                whole = self.set(Class::B32, &format!("max.{kind}"), &[&whole, &least]);
            }
        }
        let nan = self.set(Class::Pred, &format!("setp.nan.{}", arithmetic(from)), &[a, a]);
        self.op(&format!("selp.{bits} {to}, 0, {whole}, {nan}"));
    }

    fn float_to_float(&mut self, from: DType, to_dtype: DType, to: &str, a: &str) {
        match (from, to_dtype) {
            (DType::F64, DType::F32) => self.op(&format!("cvt.rn.f32.f64 {to}, {a}")),
            (DType::F64, DType::F16) => self.op(&format!("cvt.rn.f16.f64 {to}, {a}")),
            (DType::F64, _) => {
                let odd = self.odd_f32(a);
                self.round(to_dtype, to, &odd);
            }
            (_, DType::F64) => self.op(&format!("cvt.f64.f32 {to}, {a}")),
            _ => self.round(to_dtype, to, a),
        }
    }

    /// f64 to f32, rounded to odd: a later rounding to bf16 is then as good as one.
    fn odd_f32(&mut self, a: &str) -> String {
        let cut = self.set(Class::F32, "cvt.rz.f32.f64", &[a]);
        let back = self.set(Class::F64, "cvt.f64.f32", &[&cut]);
        let inexact = self.set(Class::Pred, "setp.neu.f64", &[&back, a]);
        let sticky = self.set(Class::B32, "selp.b32", &["1", "0", &inexact]);
        let bits = self.set(Class::B32, "mov.b32", &[&cut]);
        let bits = self.set(Class::B32, "or.b32", &[&bits, &sticky]);
        self.set(Class::F32, "mov.b32", &[&bits])
    }

    /// Reinterpretation of the bits between types of one width.
    pub(in crate::ptx) fn bitcast(&mut self, from: DType, to_dtype: DType, to: &str, a: &str) {
        match (class(from), class(to_dtype)) {
            (Class::B32, Class::B16) => self.op(&format!("cvt.u16.u32 {to}, {a}")),
            (Class::B16, Class::B32) if to_dtype.kind() == Kind::Int => {
                self.op(&format!("cvt.s32.s16 {to}, {a}"));
            }
            (Class::B16, Class::B32) => self.op(&format!("cvt.u32.u16 {to}, {a}")),
            (x, y) if x == y => {
                self.copy(from, to, a);
                self.wrap(to_dtype, to);
            }
            (x, _) => self.op(&format!("mov.b{} {to}, {a}", 8 * x.bytes())),
        }
    }
}
