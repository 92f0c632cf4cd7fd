//! Conversions by value and by bits.

use crate::dtype::{DType, Kind};
use crate::wgsl::routines::Routine;
use crate::wgsl::types::{int, register};
use crate::wgsl::writer::Writer;

impl Writer<'_> {
    /// Conversion by value.
    pub(in crate::wgsl) fn cast(&mut self, from: DType, to: DType, a: &str) -> String {
        match (from.kind(), to.kind()) {
            _ if from == to => a.to_owned(),
            (Kind::Bool, Kind::Float) if to == DType::F64 => format!("select(0.0lf, 1.0lf, {a})"),
            (Kind::Bool, Kind::Float) => format!("select(0.0f, 1.0f, {a})"),
            (Kind::Bool, _) => format!("select({}, {}, {a})", int(to, 0), int(to, 1)),
            (Kind::Int | Kind::Uint, Kind::Bool) => format!("({a} != {})", int(from, 0)),
            (Kind::Int | Kind::Uint, Kind::Int | Kind::Uint) => self.int_to_int(from, to, a),
            (Kind::Int | Kind::Uint, Kind::Float) => self.int_to_float(to, a),
            (Kind::Float, Kind::Bool) if from == DType::F64 => {
                format!("((bitcast<u64>({a}) & 0x7ffffffffffffffflu) != 0lu)")
            }
            (Kind::Float, Kind::Bool) => format!("((bitcast<u32>({a}) & 0x7fffffffu) != 0u)"),
            (Kind::Float, Kind::Int | Kind::Uint) => self.float_to_int(from, to, a),
            (Kind::Float, Kind::Float) => self.float_to_float(from, to, a),
        }
    }

    fn int_to_int(&mut self, from: DType, to: DType, a: &str) -> String {
        let (source, target) = (register(from), register(to));
        let text = match (from.size_bytes() == 8, to.size_bytes() == 8) {
            _ if source == target => a.to_owned(),
            (false, false) | (true, true) => format!("bitcast<{target}>({a})"),
            // Widening extends by the sign of the source; then only the name of the type changes.
            (false, true) if from.kind() == Kind::Int && to == DType::U64 => {
                format!("bitcast<u64>(i64({a}))")
            }
            (false, true) if from.kind() == Kind::Uint && to == DType::I64 => {
                format!("bitcast<i64>(u64({a}))")
            }
            (false, true) => format!("{target}({a})"),
            (true, false) => {
                let bits = if from == DType::U64 { a.to_owned() } else { format!("bitcast<u64>({a})") };
                let low = format!("u32({bits} & 0xfffffffflu)");
                if target == "u32" { low } else { format!("bitcast<i32>({low})") }
            }
        };
        self.narrow(to, text)
    }

    fn int_to_float(&mut self, to: DType, a: &str) -> String {
        match to {
            DType::F64 => format!("f64({a})"),
            _ => self.narrow(to, format!("f32({a})")),
        }
    }

    fn float_to_int(&mut self, from: DType, to: DType, a: &str) -> String {
        let suffix = if from == DType::F64 { "lf" } else { "f" };
        let bits = 8 * to.size_bytes() as i32;
        let (low, high) = match to.kind() {
            Kind::Int => (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1)),
            _ => (0.0, 2f64.powi(bits)),
        };
        let (least, most) = match to {
            DType::I64 => (int(to, i64::MIN), int(to, i64::MAX)),
            DType::U64 => (int(to, 0), format!("{}lu", u64::MAX)),
            _ => (int(to, low as i64), int(to, high as i64 - 1)),
        };
        let nan = self.nan(from, a);
        let inner = format!("select({}({a}), {most}, {a} >= {high:?}{suffix})", register(to));
        format!("select(select({inner}, {least}, {a} <= {low:?}{suffix}), {}, {nan})", int(to, 0))
    }

    fn float_to_float(&mut self, from: DType, to: DType, a: &str) -> String {
        match (from, to) {
            (DType::F64, DType::F32) => format!("f32({a})"),
            (DType::F64, _) => {
                let odd = format!("{}({a})", self.call(Routine::OddF64));
                self.narrow(to, odd)
            }
            (_, DType::F64) => format!("f64({a})"),
            _ => self.narrow(to, a.to_owned()),
        }
    }

    /// Reinterpretation of the bits between types of one width.
    pub(in crate::wgsl) fn bitcast(&mut self, from: DType, to: DType, a: &str) -> String {
        if from == to {
            return a.to_owned();
        }
        if from.size_bytes() >= 4 {
            return format!("bitcast<{}>({a})", register(to));
        }
        let bits = self.pack(from, a);
        self.unpack(to, &format!("({bits})"))
    }
}
