//! Kernels whose invocations visit single points: gathers, scatters, and elementwise kernels that cannot be
//! computed in packs ([`super::packs`]): because there are too many loads, or because words of an output
//! belong to several packs.
//!
//! A workgroup has a linear number made of its three coordinates, so there is no limit of 65,535
//! workgroups. When rows are long a workgroup lies in one row; otherwise workgroups run over all points.

use super::body::step;
use super::layout;
use super::writer::{Binding, Stage, Visit, Writer, int, register};
use crate::dtype::DType;
use crate::ir::{BinaryOp, Form, Scan, Store, Value};

/// The stage of an elementwise, gather or scatter kernel, or of a scan, whose points are lines: the extent of
/// the dimension that is walked is 1 in the launch block.
pub(super) fn stage(mut w: Writer) -> Stage {
    w.line(&format!("let number = {};", w.number()));
    match w.kernel.rank {
        0 => {
            w.line("if (number == 0u && local == 0u) {");
            w.point();
            w.line("}");
        }
        rank => w.tile(rank),
    }
    let (bindings, entry) = (w.bindings(), w.kernel.form.name());
    let tile = w.target.workgroup_size;
    w.finish(entry, bindings, &[], Visit { tile, ..Visit::default() })
}

impl Writer<'_> {
    /// The binding of a parameter, if the kernel touches it.
    pub(super) fn bound(&self, param: u32) -> Option<Binding> {
        let write = self.written(param);
        let used = write || self.footprint.is_loaded(param) || self.kernel.indexed_param() == Some(param);
        used.then_some(Binding::Param { param, write })
    }

    /// The parameters that the kernel touches.
    pub(super) fn bound_params(&self) -> Vec<u32> {
        (0..self.kernel.params.len() as u32).filter(|&param| self.bound(param).is_some()).collect()
    }

    pub(super) fn bindings(&self) -> Vec<Binding> {
        let params = (0..self.kernel.params.len() as u32).filter_map(|p| self.bound(p));
        std::iter::once(Binding::Launch).chain(params).collect()
    }

    /// Declares `first`, the first item of this invocation in a workgroup's tile, and `at`, the outer
    /// coordinates of the workgroup's row if it lies in one.
    pub(super) fn row_of_group(&mut self, tile: u32) {
        let chunks = self.word(layout::CHUNKS);
        self.line(&format!("let chunks = {chunks};"));
        self.line(&format!("var first = number * {tile}u + local;"));
        self.line("var row = 0u;");
        self.line("if (chunks != 0u) {");
        self.line("row = number;");
        self.line("if (chunks > 1u) { row = number / chunks; }");
        self.line(&format!("first = (number - row * chunks) * {tile}u + local;"));
        self.line(&format!("if (row >= {}) {{ return; }}", self.word(layout::KEPT)));
        self.line("}");
        if self.kernel.rank > 1 {
            let text = self.outer_text(self.kernel.rank);
            self.declare(text.trim_end());
            self.line("var at = outer(row);");
        }
    }

    fn tile(&mut self, rank: usize) {
        let inner = self.word(self.layout.extent(rank - 1));
        self.row_of_group(self.target.workgroup_size);
        self.line(&format!("if (first < {}) {{", self.word(layout::LIMIT)));
        self.line("var x = first;");
        if rank > 1 {
            self.line("if (chunks == 0u) {");
            self.line(&format!("row = first / {inner};"));
            self.line(&format!("x = first - row * {inner};"));
            self.line("at = outer(row);");
            self.line("}");
        }
        for k in 0..rank - 1 {
            self.line(&format!("let i{k} = at.i{k};"));
        }
        self.line(&format!("let i{} = x;", rank - 1));
        self.point();
        self.line("}");
    }

    /// The function that splits a row number into the coordinates of all dimensions but the last.
    fn outer_text(&self, rank: usize) -> String {
        let fields: Vec<String> = (0..rank - 1).map(|k| format!("i{k}: u32")).collect();
        let mut text = format!("struct Outer {{ {} }}\nfn outer(row: u32) -> Outer {{\n", fields.join(", "));
        text.push_str("  var at: Outer;\n  var rest = row;\n");
        for k in (1..rank - 1).rev() {
            let extent = self.word(self.layout.extent(k));
            // Division is slow, and a dimension that was merged into another has one point.
            text.push_str(&format!(
                "  at.i{k} = 0u;\n  if ({extent} > 1u) {{\n    let q = rest / {extent};\n"
            ));
            text.push_str(&format!("    at.i{k} = rest - q * {extent};\n    rest = q;\n  }}\n"));
        }
        text.push_str("  at.i0 = rest;\n  return at;\n}\n");
        text
    }

    /// The line of a scan: its points are visited by one invocation, in a loop.
    fn line_of(&mut self, scan: Scan) {
        let dtype = self.kernel.params[scan.output as usize].dtype;
        let dims: Vec<usize> = (0..self.kernel.rank).collect();
        self.line(&format!("var sum: {};", register(dtype)));
        self.line(&format!("for (var at_line = 0u; at_line < {}; at_line++) {{", self.word(layout::END)));
        self.line(&format!("let i{} = at_line;", scan.axis));
        for param in 0..self.kernel.params.len() as u32 {
            if self.bound(param).is_some() {
                self.element(param, &dims);
            }
        }
        self.body(&|w, param, offsets| w.load_at(param, offsets));
        self.line(&format!("if (at_line == 0u) {{ sum = v{}; }}", scan.start.0));
        let next = step(self, scan.op, dtype, "sum", &format!("v{}", scan.value.0));
        self.line(&format!("let next = {next};"));
        self.store(scan.output, if scan.exclusive { "sum" } else { "next" });
        self.line("sum = next;");
        self.line("}");
    }

    /// Body and stores at one point.
    fn point(&mut self) {
        if let Form::Scan(scan) = self.kernel.form {
            return self.line_of(scan);
        }
        let dims: Vec<usize> = (0..self.kernel.rank).collect();
        for param in 0..self.kernel.params.len() as u32 {
            if self.bound(param).is_some() && self.kernel.indexed_param() != Some(param) {
                self.element(param, &dims);
            }
        }
        self.body(&|w, param, offsets| w.load_at(param, offsets));
        match self.kernel.form.clone() {
            Form::Elementwise { stores } => {
                for Store { param, value } in stores {
                    self.store(param, &format!("v{}", value.0));
                }
            }
            Form::Gather { index, source, output } => {
                self.window(index);
                let value = self.load_element(source, "slot_element");
                self.store(output, &value);
                self.line("}");
            }
            Form::Scatter { index, value, output, add } => {
                self.window(index);
                let mut stored = format!("v{}", value.0);
                if add {
                    let old = self.load_element(output, "slot_element");
                    self.line(&format!("let old = {old};"));
                    stored = self.sum(self.kernel.params[output as usize].dtype, "old", &stored);
                }
                self.store_element(output, "slot_element", &stored);
                self.line("}");
            }
            Form::Reduce { .. } | Form::Scan(_) => unreachable!("these have their own loops"),
        }
    }

    fn sum(&mut self, dtype: DType, a: &str, b: &str) -> String {
        match dtype.is_float() {
            true => self.float_binary(BinaryOp::Add, dtype, a, b),
            false => self.narrow(dtype, format!("({a} + {b})")),
        }
    }

    /// Opens a block that runs if the index lies in the bound window, and declares its element.
    fn window(&mut self, index: Value) {
        let dtype = self.kernel.body[index.index()].dtype;
        let name = format!("v{}", index.0);
        let first = self.word(layout::WINDOW_FIRST);
        let count = self.word(layout::WINDOW_COUNT);
        let mut condition = format!("slot < {count}");
        if dtype.size_bytes() == 8 {
            let high = self.word(layout::WINDOW_FIRST + 1);
            let bits = if dtype == DType::U64 { name } else { format!("bitcast<u64>({name})") };
            self.line(&format!("let slot = {bits} - ((u64({high}) << 32u) | u64({first}));"));
            condition = format!("slot < u64({count})");
        } else {
            self.line(&format!("let slot = u32({name}) - {first};"));
            if dtype == DType::I32 {
                condition.push_str(&format!(" && {name} >= {}", int(dtype, 0)));
            }
        }
        self.line(&format!("if ({condition}) {{"));
        self.line(&format!("let slot_element = {} + u32(slot);", self.word(layout::WINDOW_ELEMENT)));
    }
}
