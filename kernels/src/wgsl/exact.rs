//! Exact sums: every invocation adds into digits of its own, which [`crate::exact`] describes;
//! partial results
//! are such numbers, and are added digit by digit. All arithmetic is of 32-bit integers. It does not
//! know what
//! is summed.

use super::reduce::FoldStages;
use super::{Binding, Stage, Writer, layout};
use crate::dtype::DType;
use crate::exact::{digits, width};

/// Summands after which digits carry: each adds less than 2^17 to one.
const ADDITIONS: u32 = 1 << 13;

/// Digits after the last element into which a summand may reach, to add nothing there.
const BEYOND: usize = 5;

fn summed(w: &Writer) -> DType {
    let value = w.kernel.exact().expect("called for exact sums");
    w.kernel.body[value.index()].dtype
}

impl FoldStages<'_> {
    pub(super) fn fold_exact(&self, mut w: Writer) -> Stage {
        let dtype = summed(&w);
        self.open_segments(&mut w);
        self.digits(&mut w, "kept", &self.kept, "let");
        self.digits(&mut w, "segment", &self.folded, "var");
        clear(&mut w);
        w.line("var added = 0u;");
        w.line(&format!("if ({} != 0u) {{", w.word(layout::PARTIALS_OUT)));
        w.line(&format!(
            "for (var k = 0u; k < {0}u; k++) {{ number[k] = out0[item * {0}u + k]; }}",
            width(dtype)
        ));
        w.line("}");
        let (folded, segments) = (w.word(layout::END), w.word(layout::STEPS));
        w.line(&format!("for (var r = segment; r < {folded}; r += {segments}) {{"));
        let dims: Vec<usize> = (0..w.kernel.rank).collect();
        let loaded: Vec<u32> = (0..w.kernel.params.len() as u32).filter(|&p| w.kernel.loads_of(p)).collect();
        for &param in &loaded {
            w.element(param, &dims);
        }
        w.body();
        deposit(&mut w);
        w.line("added += 1u;");
        w.line(&format!("if (added == {ADDITIONS}u) {{"));
        w.line("added = 0u;");
        carry(&mut w);
        w.line("}");
        self.advance(&mut w);
        w.line("}");
        carry(&mut w);
        write_partial(&mut w);
        w.line("}");
        let mut bindings = vec![Binding::Launch];
        bindings.extend(loaded.into_iter().map(|param| Binding::Param { param, write: false }));
        bindings.push(Binding::PartialOut(0));
        w.finish("fold", bindings, &self.partials)
    }

    pub(super) fn again_exact(&self, mut w: Writer) -> Stage {
        self.open_segments(&mut w);
        self.add_partials(&mut w);
        write_partial(&mut w);
        w.line("}");
        w.finish(
            "again",
            vec![Binding::Launch, Binding::PartialIn(0), Binding::PartialOut(0)],
            &self.partials,
        )
    }

    pub(super) fn finish_exact(&self, mut w: Writer) -> Stage {
        let (dtype, output) = (summed(&w), self.outputs[0]);
        self.open_segments(&mut w);
        self.add_partials(&mut w);
        self.digits(&mut w, "kept", &self.kept, "let");
        w.element(output, &self.kept);
        w.line(&format!("let first = bitcast<u32>(e{output});"));
        let elements = width(dtype);
        w.line(&format!("for (var k = 0u; k < {elements}u; k++) {{ p{output}[first + k] = number[k]; }}"));
        w.line("}");
        let write = Binding::Param { param: output, write: true };
        w.finish("finish", vec![Binding::Launch, Binding::PartialIn(0), write], &self.partials)
    }

    /// True if neighbouring invocations take neighbouring segments of one kept point.
    fn segments_inside(&self) -> bool {
        self.folded.last() > self.kept.last()
    }

    /// Which kept point and which segment this invocation has.
    fn open_segments(&self, w: &mut Writer) {
        let (kept, segments) = (w.word(layout::KEPT), w.word(layout::STEPS));
        w.line(&format!("let item = ({}) * {}u + local;", w.number(), w.target.workgroup_size));
        w.line(&format!("if (item < {}) {{", w.word(layout::LIMIT)));
        if self.segments_inside() {
            w.line(&format!("let kept = item / {segments};"));
            w.line(&format!("let segment = item - kept * {segments};"));
        } else {
            w.line(&format!("let segment = item / {kept};"));
            w.line(&format!("let kept = item - segment * {kept};"));
        }
    }

    /// Splits a number into coordinates of some dimensions, the last one fastest.
    fn digits(&self, w: &mut Writer, number: &str, dims: &[usize], keyword: &str) {
        let mut rest = number.to_owned();
        for (position, &k) in dims.iter().enumerate().rev() {
            if position == 0 {
                w.line(&format!("{keyword} i{k} = {rest};"));
                break;
            }
            let extent = w.word(w.layout.extent(k));
            w.line(&format!("let q{k} = {rest} / {extent};"));
            w.line(&format!("{keyword} i{k} = {rest} - q{k} * {extent};"));
            rest = format!("q{k}");
        }
    }

    /// Moves the folded coordinates on by one stride of the segments: an addition with carry.
    fn advance(&self, w: &mut Writer) {
        for (position, &k) in self.folded.iter().enumerate().rev() {
            let carry = self.folded.get(position + 1).map_or(String::new(), |next| format!(" + c{next}"));
            w.line(&format!("i{k} += {}{carry};", w.word(w.layout.divisor(k))));
            if position > 0 {
                let extent = w.word(w.layout.extent(k));
                w.line(&format!("let c{k} = select(0u, 1u, i{k} >= {extent});"));
                w.line(&format!("i{k} -= c{k} * {extent};"));
            }
        }
    }

    /// Adds the partial results of the stage before.
    fn add_partials(&self, w: &mut Writer) {
        let elements = width(summed(w));
        clear(w);
        let (kept, previous) = (w.word(layout::KEPT), w.word(layout::FIRST));
        let segments = w.word(layout::STEPS);
        w.line(&format!("for (var s = segment; s < {previous}; s += {segments}) {{"));
        match self.segments_inside() {
            true => w.line(&format!("let at = (kept * {previous} + s) * {elements}u;")),
            false => w.line(&format!("let at = (s * {kept} + kept) * {elements}u;")),
        }
        w.line(&format!("for (var k = 0u; k < {elements}u; k++) {{ number[k] += in0[at + k]; }}"));
        w.line("}");
        carry(w);
    }
}

fn clear(w: &mut Writer) {
    w.line(&format!("var number: array<i32, {}>;", width(summed(w)) + BEYOND));
}

fn write_partial(w: &mut Writer) {
    let elements = width(summed(w));
    w.line(&format!(
        "for (var k = 0u; k < {elements}u; k++) {{ out0[item * {elements}u + k] = number[k]; }}"
    ));
}

/// Every digit but the last into its range, and flags to 0 or 1.
fn carry(w: &mut Writer) {
    let (last, elements) = (digits(summed(w)) - 1, width(summed(w)));
    w.line("{");
    w.line("var over = 0i;");
    w.line(&format!("for (var k = 0u; k < {last}u; k++) {{"));
    w.line("let sum = number[k] + over;");
    w.line("number[k] = sum & 0xffffi;");
    w.line("over = sum >> 16u;");
    w.line("}");
    w.line(&format!("number[{last}u] += over;"));
    w.line(&format!(
        "for (var k = {}u; k < {elements}u; k++) {{ number[k] = min(number[k], 1i); }}",
        last + 1
    ));
    w.line("}");
}

/// Adds the value to the digits.
fn deposit(w: &mut Writer) {
    let dtype = summed(w);
    let value = w.kernel.exact().map_or(String::new(), |value| format!("v{}", value.0));
    let flags = 16 * digits(dtype);
    let top = match dtype {
        DType::F64 => {
            w.line(&format!("let bits = bitcast<u64>({value});"));
            w.line("let high = u32(bits >> 32u);");
            w.line("let exponent = (high >> 20u) & 0x7ffu;");
            w.line("var low_word = u32(bits & 0xfffffffflu);");
            w.line("let is_fraction = ((high & 0xfffffu) | low_word) != 0u;");
            w.line("var high_word = (high & 0xfffffu) | select(0u, 0x100000u, exponent != 0u);");
            "0x7ffu"
        }
        _ => {
            w.line(&format!("let high = bitcast<u32>({value});"));
            w.line("let exponent = (high >> 23u) & 0xffu;");
            w.line("let is_fraction = (high & 0x7fffffu) != 0u;");
            w.line("var low_word = (high & 0x7fffffu) | select(0u, 0x800000u, exponent != 0u);");
            "0xffu"
        }
    };
    w.line(&format!("let is_finite = exponent != {top};"));
    w.line("let is_negative = (high >> 31u) != 0u;");
    w.line("var position = max(exponent, 1u) - 1u;");
    w.line("if (!is_finite) {");
    w.line(&format!(
        "let flag = select(select({flags}u, {}u, is_negative), {}u, is_fraction);",
        flags + 16,
        flags + 32
    ));
    w.line("position = flag;");
    w.line("low_word = 1u;");
    if dtype == DType::F64 {
        w.line("high_word = 0u;");
    }
    w.line("}");
    w.line("let sign = select(1i, -1i, is_negative && is_finite);");
    w.line("let by = position & 15u;");
    w.line("let at = position >> 4u;");
    add_word(w, "low_word", "at");
    if dtype == DType::F64 {
        add_word(w, "high_word", "at + 2u");
    }
}

/// Adds a word, moved up by less than a digit, from a digit on.
fn add_word(w: &mut Writer, word: &str, at: &str) {
    w.line("{");
    w.line(&format!("let low = {word} << by;"));
    w.line(&format!("let above = ({word} >> 1u) >> (31u - by);"));
    w.line(&format!("number[{at}] += sign * i32(low & 0xffffu);"));
    w.line(&format!("number[{at} + 1u] += sign * i32(low >> 16u);"));
    w.line(&format!("number[{at} + 2u] += sign * i32(above);"));
    w.line("}");
}
