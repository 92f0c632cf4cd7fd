//! The body of a kernel: each instruction as one line of WGSL, conversions, constants, arguments, loads and
//! stores.

use super::layout::in_register;
use super::writer::{Writer, int, register};
use crate::dtype::{DType, Kind, Scalar};
use crate::ir::branches::{Branch, branches};
use crate::ir::{BinaryOp, CompareOp, FoldOp, Inst, Offsets, Op, Subnormals, UnaryOp, Value};

impl Writer<'_> {
    /// Appends `let vN = ...;` for every instruction; `load` gives the text of a load.
    pub(super) fn body(&mut self, load: &dyn Fn(&mut Self, u32, &Offsets) -> String) {
        let branches = branches(self.kernel);
        let is_inside = |at: &usize| branches.iter().any(|b| b.body.contains(at) || b.selects.contains(at));
        for at in 0..self.kernel.body.len() {
            match branches.iter().find(|branch| branch.place() == at) {
                Some(branch) => self.branch(branch, load),
                None if is_inside(&at) => {}
                None => self.define(at, load),
            }
        }
    }

    fn define(&mut self, at: usize, load: &dyn Fn(&mut Self, u32, &Offsets) -> String) {
        let inst = self.kernel.body[at].clone();
        let text = match &inst.op {
            Op::Load { param, offsets } => load(self, *param, offsets),
            _ => self.instruction(&inst),
        };
        self.line(&format!("let v{at} = {text};"));
    }

    /// The other side of the selects, then, if the condition asks for it, the long one.
    fn branch(&mut self, branch: &Branch, load: &dyn Fn(&mut Self, u32, &Offsets) -> String) {
        for &at in &branch.selects {
            self.line(&format!("var v{at} = v{};", branch.operand(self.kernel, at, false).0));
        }
        self.line(&format!("if ({}v{}) {{", if branch.side { "" } else { "!" }, branch.condition.0));
        branch.body.iter().for_each(|&at| self.define(at, load));
        for &at in &branch.selects {
            self.line(&format!("v{at} = v{};", branch.operand(self.kernel, at, true).0));
        }
        self.line("}");
    }

    /// Declares `value`, results of the body (text, in a structure) from its loads and coordinates.
    pub(super) fn declare_value(&mut self, structure: &str, results: &[String]) {
        let mut parameters: Vec<String> = Vec::new();
        for (n, site) in self.footprint.loads().iter().enumerate() {
            parameters.push(format!("l{n}: {}", register(self.dtype(site.param))));
        }
        parameters.extend(self.coordinates().into_iter().map(|dim| format!("i{dim}: u32")));
        let outside = std::mem::take(&mut self.text);
        self.line(&format!("fn value({}) -> {structure} {{", parameters.join(", ")));
        self.body(&|w, param, offsets| {
            let sites = w.footprint.loads();
            let site = sites.iter().position(|site| site.param == param && site.offsets == *offsets);
            site.map_or_else(|| unreachable!("the footprint has every load"), |n| format!("l{n}"))
        });
        self.line(&format!("return {structure}({});", results.join(", ")));
        self.line("}");
        let text = std::mem::replace(&mut self.text, outside);
        self.declare(text.trim_end());
    }

    /// The dimensions whose coordinates the body uses.
    pub(super) fn coordinates(&self) -> Vec<usize> {
        let mut dims: Vec<usize> = self.footprint.coords().iter().map(|(dim, _)| *dim as usize).collect();
        dims.sort_unstable();
        dims.dedup();
        dims
    }

    /// The element at a distance from the point; declares where it is.
    pub(super) fn load_at(&mut self, param: u32, offsets: &Offsets) -> String {
        let delta = self.layout.load(param, offsets, self.kernel.params.len());
        let element = match delta {
            Some(at) => format!("bitcast<u32>(e{param} + {})", self.signed(at)),
            None => format!("bitcast<u32>(e{param})"),
        };
        self.load_element(param, &element)
    }

    fn instruction(&mut self, inst: &Inst) -> String {
        let name = |value: &Value| format!("v{}", value.0);
        let of = |value: &Value| self.kernel.body[value.index()].dtype;
        match &inst.op {
            Op::Const(scalar) => self.constant(*scalar),
            Op::Argument(n) => self.argument(*n, inst.dtype),
            Op::Coord(dim) => self.coordinate(*dim as usize, inst.dtype),
            Op::Load { .. } => unreachable!("written by who knows where elements are"),
            Op::Unary(op, a) => self.unary(*op, of(a), &name(a)),
            Op::Binary(op, a, b) => {
                let dtype = inst.dtype;
                if dtype.is_float() {
                    self.float_binary(*op, dtype, &name(a), &name(b))
                } else {
                    self.int_binary(*op, dtype, &name(a), &name(b))
                }
            }
            Op::Compare(op, a, b) => self.compare(*op, of(a), &name(a), &name(b)),
            Op::Select(c, a, b) => format!("select({}, {}, {})", name(b), name(a), name(c)),
            Op::Fma(a, b, c) => self.fma(inst.dtype, &name(a), &name(b), &name(c)),
            Op::Cast(a) => {
                let text = self.cast(of(a), inst.dtype, &name(a));
                self.unknown(of(a), inst.dtype, text)
            }
            Op::Bitcast(a) => {
                let text = self.bitcast(of(a), inst.dtype, &name(a));
                self.unknown(of(a), inst.dtype, text)
            }
            Op::Math1(..) | Op::Math2(..) => unreachable!("math::expand ran first"),
        }
    }

    fn coordinate(&self, dim: usize, dtype: DType) -> String {
        let at = self.layout.origin(dim);
        if dtype == DType::I32 {
            return format!("({} + bitcast<i32>(i{dim}))", self.signed(at));
        }
        let origin = format!("((u64({}) << 32u) | u64({}))", self.word(at + 1), self.word(at));
        format!("bitcast<i64>({origin} + u64(i{dim}))")
    }

    /// Rounds or wraps an f32 or 32-bit integer result to the type it stands for.
    pub(super) fn narrow(&mut self, dtype: DType, text: String) -> String {
        match dtype {
            DType::F16 => self.call("round_f16", &text),
            DType::BF16 => self.call("round_bf16", &text),
            DType::I8 => format!("(({text} << 24u) >> 24u)"),
            DType::I16 => format!("(({text} << 16u) >> 16u)"),
            DType::U8 => format!("({text} & 0xffu)"),
            DType::U16 => format!("({text} & 0xffffu)"),
            _ => text,
        }
    }

    /// The condition "is NaN" for a float value.
    pub(super) fn nan(&mut self, dtype: DType, a: &str) -> String {
        let routine = if dtype == DType::F64 { "nan64" } else { "nan32" };
        self.call(routine, a)
    }

    fn unary(&mut self, op: UnaryOp, dtype: DType, a: &str) -> String {
        let float = dtype.is_float();
        let bits = |text: &str, mask32: &str, mask64: &str| match dtype {
            DType::F64 => format!("bitcast<f64>(bitcast<u64>({a}) {text} {mask64})"),
            _ => format!("bitcast<f32>(bitcast<u32>({a}) {text} {mask32})"),
        };
        match op {
            UnaryOp::Neg if float => bits("^", "0x80000000u", "0x8000000000000000lu"),
            UnaryOp::Neg => self.narrow(dtype, format!("({} - {a})", int(dtype, 0))),
            UnaryOp::Abs if float => bits("&", "0x7fffffffu", "0x7ffffffffffffffflu"),
            UnaryOp::Abs if dtype.kind() == Kind::Uint => a.to_owned(),
            UnaryOp::Abs => {
                let zero = int(dtype, 0);
                self.narrow(dtype, format!("select({a}, {zero} - {a}, {a} < {zero})"))
            }
            UnaryOp::Not if dtype == DType::Bool => format!("!{a}"),
            UnaryOp::Not => self.narrow(dtype, format!("(~{a})")),
            UnaryOp::Sqrt => {
                let root = match self.is_native(dtype, self.target.exact_sqrt) {
                    true => self.inexact(dtype, [a], |[a]| format!("sqrt({a})")),
                    false => {
                        let routine = if self.target.near_inverses { "root32" } else { "sqrt32" };
                        self.routine(routine, dtype, &[a])
                    }
                };
                self.narrow(dtype, root)
            }
            UnaryOp::Floor if self.by_bits(dtype) => self.call("floor32", a),
            UnaryOp::Ceil if self.by_bits(dtype) => self.call("ceil32", a),
            UnaryOp::Floor | UnaryOp::Ceil => {
                let a = self.flushed(self.target.faults.flush_comparisons, dtype, a);
                format!("{}({a})", if op == UnaryOp::Floor { "floor" } else { "ceil" })
            }
            UnaryOp::Trunc if dtype == DType::F64 => self.call("trunc64", a),
            UnaryOp::Trunc => format!("trunc({a})"),
            UnaryOp::Round if dtype == DType::F64 => self.call("round64", a),
            UnaryOp::Round => format!("round({a})"),
            UnaryOp::IsNan => self.nan(dtype, a),
        }
    }

    /// A float whose bits the driver cannot know.
    fn hide(&mut self, dtype: DType, text: &str) -> String {
        let routine = if dtype == DType::F64 { "hide64" } else { "hide32" };
        self.call(routine, text)
    }

    /// A float operand that the driver cannot recognise.
    fn operand(&mut self, dtype: DType, text: &str) -> String {
        let routine = if dtype == DType::F64 { "operand64" } else { "operand32" };
        self.call(routine, text)
    }

    /// A float made of an integer or a bool: of those a driver may know that they are zero, as `x - x` is.
    fn unknown(&mut self, from: DType, to: DType, text: String) -> String {
        if to.is_float() && !from.is_float() { self.hide(to, &text) } else { text }
    }

    pub(super) fn float_binary(&mut self, op: BinaryOp, dtype: DType, a: &str, b: &str) -> String {
        let symbol = match op {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Min | BinaryOp::Max => {
                let nan = self.nan(dtype, a);
                let less = if op == BinaryOp::Min { CompareOp::Lt } else { CompareOp::Gt };
                let less = self.compare(less, dtype, a, b);
                return format!("select({b}, {a}, {less} || {nan})");
            }
            BinaryOp::Rem => {
                let routine = if dtype == DType::F64 { "rem64" } else { "rem32" };
                let rest = self.call(routine, &format!("{a}, {b}"));
                return self.narrow(dtype, rest);
            }
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr => {
                unreachable!("verify refuses bitwise operations on floats")
            }
        };
        if op == BinaryOp::Div && !self.is_native(dtype, self.target.exact_division) {
            let routine = if self.target.near_inverses { "quotient32" } else { "div32" };
            let quotient = self.routine(routine, dtype, &[a, b]);
            return self.narrow(dtype, quotient);
        }
        let is_strict = self.target.strict_floats;
        // A hidden result cannot be contracted into a later sum, nor be cancelled by what made it.
        let right = if is_strict { b.to_owned() } else { self.operand(dtype, b) };
        let native = |[a, b]: [String; 2]| format!("({a} {symbol} {b})");
        let text = match op {
            BinaryOp::Div => self.inexact(dtype, [a, &right], native),
            BinaryOp::Mul => self.faulty(self.target.faults.flush_products, dtype, [a, &right], native),
            _ => self.faulty(self.target.faults.flush_sums, dtype, [a, &right], native),
        };
        let mut text = if is_strict { text } else { self.hide(dtype, &text) };
        if dtype == DType::BF16 && self.target.subnormals != Subnormals::Kept && op != BinaryOp::Div {
            let (routine, b) = match op {
                BinaryOp::Mul => ("product_bf16", b.to_owned()),
                BinaryOp::Sub => ("sum_bf16", format!("bitcast<f32>(bitcast<u32>({b}) ^ 0x80000000u)")),
                _ => ("sum_bf16", b.to_owned()),
            };
            text = self.call(routine, &format!("{a}, {b}, {text}"));
        }
        self.narrow(dtype, text)
    }

    /// Whether an operation of this type is the driver's own, if that of f32 is exact or not: bf16 keeps
    /// subnormals everywhere.
    fn is_native(&self, dtype: DType, exact: bool) -> bool {
        dtype == DType::F64 || exact && (dtype != DType::BF16 || self.target.subnormals == Subnormals::Kept)
    }

    /// Whether the driver's comparisons and conversions may flush a value of this type.
    fn by_bits(&self, dtype: DType) -> bool {
        !self.target.exact_comparisons && matches!(dtype, DType::BF16 | DType::F32)
    }

    /// The text, with a subnormal f32 as a zero.
    fn flushed(&mut self, flush: bool, dtype: DType, text: &str) -> String {
        if flush && register(dtype) == "f32" { self.call("flush32", text) } else { text.to_owned() }
    }

    /// A native operation, with or without a driver's fault.
    fn faulty<const N: usize>(
        &mut self,
        flush: bool,
        dtype: DType,
        operands: [&str; N],
        native: impl FnOnce([String; N]) -> String,
    ) -> String {
        let text = native(operands.map(|operand| self.flushed(flush, dtype, operand)));
        self.flushed(flush, dtype, &text)
    }

    /// A native quotient or square root, with or without a driver's faults.
    fn inexact<const N: usize>(
        &mut self,
        dtype: DType,
        operands: [&str; N],
        native: impl FnOnce([String; N]) -> String,
    ) -> String {
        let text = self.faulty(self.target.faults.flush_products, dtype, operands, native);
        match self.target.faults.inexact_quotients && dtype != DType::F64 {
            true => format!("bitcast<f32>(bitcast<u32>({text}) ^ 1u)"),
            false => text,
        }
    }

    /// A routine that keeps subnormals, on an adapter that may flush those of f32.
    fn routine(&mut self, routine: &'static str, dtype: DType, operands: &[&str]) -> String {
        let flush = dtype == DType::F32 && self.target.subnormals == Subnormals::Flushed;
        let operands: Vec<String> = operands.iter().map(|text| self.flushed(flush, dtype, text)).collect();
        let mut operands = operands.join(", ");
        if routine == "quotient32" {
            operands.push_str(&format!(", {flush}"));
        }
        let text = self.call(routine, &operands);
        self.flushed(flush, dtype, &text)
    }

    pub(super) fn int_binary(&mut self, op: BinaryOp, dtype: DType, a: &str, b: &str) -> String {
        if dtype == DType::Bool {
            return match op {
                BinaryOp::And | BinaryOp::Min => format!("({a} & {b})"),
                BinaryOp::Or | BinaryOp::Max => format!("({a} | {b})"),
                _ => format!("({a} != {b})"),
            };
        }
        let text = match op {
            BinaryOp::Add => format!("({a} + {b})"),
            BinaryOp::Sub => format!("({a} - {b})"),
            BinaryOp::Mul => format!("({a} * {b})"),
            BinaryOp::Div | BinaryOp::Rem => self.divide(op, dtype, a, b),
            BinaryOp::Min => format!("select({b}, {a}, {a} < {b})"),
            BinaryOp::Max => format!("select({b}, {a}, {a} > {b})"),
            BinaryOp::And => format!("({a} & {b})"),
            BinaryOp::Or => format!("({a} | {b})"),
            BinaryOp::Xor => format!("({a} ^ {b})"),
            BinaryOp::Shl | BinaryOp::Shr => {
                let mask = int(dtype, 8 * dtype.size_bytes() as i64 - 1);
                let symbol = if op == BinaryOp::Shl { "<<" } else { ">>" };
                format!("({a} {symbol} u32({b} & {mask}))")
            }
        };
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Shl => {
                self.narrow(dtype, text)
            }
            _ => text,
        }
    }

    /// Integer division that never traps: the divisor is made harmless first. The remainder is
    /// computed from the quotient because drivers disagree on `%` of negative numbers.
    fn divide(&mut self, op: BinaryOp, dtype: DType, a: &str, b: &str) -> String {
        let (zero, one) = (int(dtype, 0), int(dtype, 1));
        let overflows = match dtype {
            DType::I32 => format!(" || ({b} == -1i && {a} == {})", int(dtype, i64::from(i32::MIN))),
            DType::I64 => format!(" || ({b} == -1li && {a} == {})", int(dtype, i64::MIN)),
            _ => String::new(),
        };
        let divisor = format!("select({b}, {one}, {b} == {zero}{overflows})");
        match op {
            BinaryOp::Div => format!("select({a} / {divisor}, {zero}, {b} == {zero})"),
            _ => format!("select({a} - ({a} / {divisor}) * {divisor}, {zero}, {b} == {zero})"),
        }
    }

    fn fma(&mut self, dtype: DType, a: &str, b: &str, c: &str) -> String {
        match self.is_native(dtype, self.target.exact_fma) {
            true => {
                let flush = self.target.faults.flush_products;
                self.faulty(flush, dtype, [a, b, c], |[a, b, c]| format!("fma({a}, {b}, {c})"))
            }
            false => self.routine("fma32", dtype, &[a, b, c]),
        }
    }

    /// A comparison. `a != b` is never written for floats: naga makes it false for NaN.
    fn compare(&mut self, op: CompareOp, dtype: DType, a: &str, b: &str) -> String {
        if dtype == DType::Bool {
            return match op {
                CompareOp::Eq => format!("({a} == {b})"),
                CompareOp::Ne => format!("({a} != {b})"),
                CompareOp::Lt => format!("(!{a} & {b})"),
                CompareOp::Le => format!("(!{a} | {b})"),
                CompareOp::Gt => format!("({a} & !{b})"),
                CompareOp::Ge => format!("({a} | !{b})"),
            };
        }
        if self.by_bits(dtype) {
            let (routine, operands) = match op {
                CompareOp::Eq | CompareOp::Ne => ("equal32", format!("{a}, {b}")),
                CompareOp::Lt => ("less32", format!("{a}, {b}")),
                CompareOp::Gt => ("less32", format!("{b}, {a}")),
                CompareOp::Le => ("at_most32", format!("{a}, {b}")),
                CompareOp::Ge => ("at_most32", format!("{b}, {a}")),
            };
            let text = self.call(routine, &operands);
            return if op == CompareOp::Ne { format!("!{text}") } else { text };
        }
        let flush = self.target.faults.flush_comparisons;
        let [a, b] = [a, b].map(|text| self.flushed(flush, dtype, text));
        match op {
            CompareOp::Eq => format!("({a} == {b})"),
            CompareOp::Ne => format!("!({a} == {b})"),
            CompareOp::Lt => format!("({a} < {b})"),
            CompareOp::Le => format!("({a} <= {b})"),
            CompareOp::Gt => format!("({a} > {b})"),
            CompareOp::Ge => format!("({a} >= {b})"),
        }
    }
}

impl Writer<'_> {
    /// Conversion by value.
    pub(super) fn cast(&mut self, from: DType, to: DType, a: &str) -> String {
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
            (DType::F64, DType::F32) if self.by_bits(to) => self.call("near_f64", a),
            (DType::F64, DType::F32) => {
                self.flushed(self.target.faults.flush_comparisons, to, &format!("f32({a})"))
            }
            (DType::F64, _) => {
                let odd = self.call("odd_f64", a);
                self.narrow(to, odd)
            }
            (_, DType::F64) if self.by_bits(from) => self.call("wide_f32", a),
            (_, DType::F64) => {
                format!("f64({})", self.flushed(self.target.faults.flush_comparisons, from, a))
            }
            _ => self.narrow(to, a.to_owned()),
        }
    }

    /// Reinterpretation of the bits between types of one width.
    pub(super) fn bitcast(&mut self, from: DType, to: DType, a: &str) -> String {
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

/// log2 of the elements per word.
fn lane_bits(dtype: DType) -> u32 {
    match dtype.size_bytes() {
        1 => 2,
        2 => 1,
        _ => 0,
    }
}

impl Writer<'_> {
    /// Text of a constant: its words, if it travels in the launch block, and a literal otherwise.
    pub(super) fn constant(&self, scalar: Scalar) -> String {
        let scalar = in_register(scalar);
        match (self.layout.constant(scalar), scalar.dtype) {
            (Some(at), dtype) => self.words(at, dtype),
            (None, DType::Bool) => (scalar.bits != 0).to_string(),
            (None, DType::F64) => format!("{:?}lf", f64::from_bits(scalar.bits)),
            (None, DType::F32) => format!("{:?}f", f32::from_bits(scalar.bits as u32)),
            (None, DType::U64) => format!("{}lu", scalar.bits),
            (None, dtype) => int(dtype, scalar.to_i64()),
        }
    }

    /// A scalar argument, from its word or two.
    pub(super) fn argument(&mut self, n: u32, dtype: DType) -> String {
        let at = self.layout.argument(n);
        match dtype.size_bytes() {
            1 | 2 => {
                let word = self.word(at);
                self.unpack(dtype, &word)
            }
            _ => self.words(at, dtype),
        }
    }

    /// A value of 32 or 64 bits, from its word or two at this position of the launch block.
    fn words(&self, at: usize, dtype: DType) -> String {
        let low = self.word(at);
        let bits = match dtype.size_bytes() {
            8 => format!("((u64({}) << 32u) | u64({low}))", self.word(at + 1)),
            _ => low,
        };
        match dtype.kind() {
            Kind::Uint => bits,
            _ => format!("bitcast<{}>({bits})", register(dtype)),
        }
    }

    /// A value of this type from a word whose low bits are its memory form; higher bits are ignored.
    pub(super) fn unpack(&mut self, dtype: DType, word: &str) -> String {
        match dtype {
            DType::Bool => format!("(({word} & 0xffu) != 0u)"),
            DType::I8 => format!("(bitcast<i32>({word} << 24u) >> 24u)"),
            DType::I16 => format!("(bitcast<i32>({word} << 16u) >> 16u)"),
            DType::U8 => format!("({word} & 0xffu)"),
            DType::U16 => format!("({word} & 0xffffu)"),
            DType::F16 => self.call("from_f16", &format!("{word} & 0xffffu")),
            DType::BF16 => format!("bitcast<f32>({word} << 16u)"),
            DType::U32 => word.to_owned(),
            DType::I32 | DType::F32 => format!("bitcast<{}>({word})", register(dtype)),
            DType::I64 | DType::U64 | DType::F64 => unreachable!("64-bit types are never packed"),
        }
    }

    /// The memory form of a narrow value in the low bits of a word; higher bits are zero.
    pub(super) fn pack(&mut self, dtype: DType, value: &str) -> String {
        match dtype {
            DType::Bool => format!("select(0u, 1u, {value})"),
            DType::I8 => format!("(bitcast<u32>({value}) & 0xffu)"),
            DType::I16 => format!("(bitcast<u32>({value}) & 0xffffu)"),
            DType::U8 | DType::U16 | DType::U32 => value.to_owned(),
            DType::F16 => self.call("to_f16", value),
            DType::BF16 => self.call("to_bf16", value),
            DType::I32 | DType::F32 => format!("bitcast<u32>({value})"),
            DType::I64 | DType::U64 | DType::F64 => unreachable!("64-bit types are never packed"),
        }
    }

    /// The element of an array; `element` is `u32` text.
    pub(super) fn load_element(&mut self, param: u32, element: &str) -> String {
        let dtype = self.kernel.params[param as usize].dtype;
        let lanes = lane_bits(dtype);
        if lanes == 0 {
            return format!("p{param}[{element}]");
        }
        let word = format!("p{param}[{element} >> {lanes}u]");
        let word = if self.written(param) { format!("atomicLoad(&{word})") } else { word };
        let shifted = format!("({word} >> {})", shift(element, dtype));
        self.unpack(dtype, &shifted)
    }

    /// Appends the store of a value to an element; `element` names a `u32` variable.
    pub(super) fn store_element(&mut self, param: u32, element: &str, value: &str) {
        let dtype = self.kernel.params[param as usize].dtype;
        let lanes = lane_bits(dtype);
        if lanes == 0 {
            return self.line(&format!("p{param}[{element}] = {value};"));
        }
        let (word, shift) = (format!("&p{param}[{element} >> {lanes}u]"), shift(element, dtype));
        let mask = if lanes == 2 { "0xffu" } else { "0xffffu" };
        let bits = self.pack(dtype, value);
        self.line(&format!("atomicAnd({word}, ~({mask} << {shift}));"));
        self.line(&format!("atomicOr({word}, {bits} << {shift});"));
    }

    /// Stores a value at the point.
    pub(super) fn store(&mut self, param: u32, value: &str) {
        self.line(&format!("let w{param} = bitcast<u32>(e{param});"));
        self.store_element(param, &format!("w{param}"), value);
    }
}

/// Bits below an element in its word.
fn shift(element: &str, dtype: DType) -> String {
    match lane_bits(dtype) {
        2 => format!("(({element} & 3u) << 3u)"),
        _ => format!("(({element} & 1u) << 4u)"),
    }
}

/// The combination of two values of a fold. f16 and bf16 are f32 here and rounded at the end.
pub(super) fn step(w: &mut Writer, op: FoldOp, dtype: DType, a: &str, b: &str) -> String {
    match dtype.is_float() {
        true => w.float_binary(op.step(), dtype, a, b),
        false => w.int_binary(op.step(), dtype, a, b),
    }
}

/// Does the second (value, index) beat the first? Ties go to the lower index, so order is no matter.
pub(super) fn better(
    w: &mut Writer,
    largest: bool,
    dtype: DType,
    values: [&str; 2],
    index: &[String; 2],
) -> String {
    let [a, b] = values;
    let op = if largest { CompareOp::Gt } else { CompareOp::Lt };
    let wins = w.compare(op, dtype, b, a);
    let ties = w.compare(CompareOp::Eq, dtype, b, a);
    let earlier = format!("{} < {}", index[1], index[0]);
    let number = format!("({wins} || ({ties} && {earlier}))");
    if !dtype.is_float() {
        return number;
    }
    let (a_nan, b_nan) = (w.nan(dtype, a), w.nan(dtype, b));
    format!("select(!{a_nan} && {number}, !{a_nan} || {earlier}, {b_nan})")
}
