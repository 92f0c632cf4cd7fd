//! Collects the text of one entry: lines, registers, labels and the fields it reads.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::parameters::{Field, ParameterBlock};
use super::types::Class;
use crate::ir::{Kernel, Value};

/// Threads of a full block.
pub(in crate::ptx) const THREADS: u32 = 256;

/// What the writer must know of a GPU: compute capability times ten.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PtxTarget {
    /// One of 75, 80, 90 and 100.
    pub sm: u32,
}

impl PtxTarget {
    /// The newest target this GPU runs; `None` below compute capability 7.5.
    pub fn of(major: i32, minor: i32) -> Option<PtxTarget> {
        let sm = match (major, minor) {
            (..7, _) | (7, ..5) => return None,
            (7, _) => 75,
            (8, _) => 80,
            (9, _) => 90,
            (10.., _) => 100,
        };
        Some(PtxTarget { sm })
    }

    pub(in crate::ptx) fn version(self) -> &'static str {
        match self.sm {
            ..90 => "7.0",
            90..100 => "7.8",
            _ => "8.6",
        }
    }
}

/// One entry point: its name, its text and the parameters it reads.
pub(in crate::ptx) struct Entry {
    pub name: &'static str,
    pub text: String,
    pub block: ParameterBlock,
}

/// Writes one entry.
pub(in crate::ptx) struct PtxWriter<'a> {
    pub kernel: &'a Kernel,
    pub target: &'a PtxTarget,
    pub block: ParameterBlock,
    /// The register of each value of the body, as far as it is defined.
    pub names: Vec<String>,
    text: String,
    named: BTreeMap<Class, Vec<String>>,
    temporaries: BTreeMap<Class, usize>,
    labels: usize,
    shared: String,
}

impl<'a> PtxWriter<'a> {
    pub(in crate::ptx) fn new(kernel: &'a Kernel, target: &'a PtxTarget) -> PtxWriter<'a> {
        PtxWriter {
            kernel,
            target,
            block: ParameterBlock::default(),
            names: vec![String::new(); kernel.body.len()],
            text: String::new(),
            named: BTreeMap::new(),
            temporaries: BTreeMap::new(),
            labels: 0,
            shared: String::new(),
        }
    }

    /// Appends an instruction.
    pub(in crate::ptx) fn op(&mut self, instruction: &str) {
        let _ = writeln!(self.text, "    {instruction};");
    }

    /// Appends a comment.
    pub(in crate::ptx) fn note(&mut self, comment: &str) {
        let _ = writeln!(self.text, "    // {comment}");
    }

    /// Places a label.
    pub(in crate::ptx) fn place(&mut self, label: &str) {
        let _ = writeln!(self.text, "{label}:");
    }

    /// A label that nothing else has.
    pub(in crate::ptx) fn label(&mut self, stem: &str) -> String {
        self.labels += 1;
        format!("{stem}_{}", self.labels)
    }

    /// A fresh register.
    pub(in crate::ptx) fn temp(&mut self, class: Class) -> String {
        let n = self.temporaries.entry(class).or_default();
        *n += 1;
        format!("%{}{}", class.letter(), *n - 1)
    }

    /// A register with a name of its own.
    pub(in crate::ptx) fn named(&mut self, class: Class, name: &str) -> String {
        let names = self.named.entry(class).or_default();
        if !names.iter().any(|n| n == name) {
            names.push(name.to_owned());
        }
        name.to_owned()
    }

    /// An instruction that sets a fresh register: `set(B32, "add.s32", &["%a", "%b"])`.
    pub(in crate::ptx) fn set(&mut self, class: Class, operation: &str, operands: &[&str]) -> String {
        let to = self.temp(class);
        self.op(&format!("{operation} {to}, {}", operands.join(", ")));
        to
    }

    /// The register of a launch parameter.
    pub(in crate::ptx) fn field(&mut self, field: Field) -> String {
        self.block.register(field)
    }

    /// The register of a value.
    pub(in crate::ptx) fn name(&self, value: Value) -> String {
        self.names[value.index()].clone()
    }

    /// An array in shared memory.
    pub(in crate::ptx) fn share(&mut self, name: &str, bytes: usize) {
        let _ = writeln!(self.shared, "    .shared .align 8 .b8 {name}[{bytes}];");
    }

    /// The entry: declarations, parameters, text.
    pub(in crate::ptx) fn finish(self, name: &'static str) -> Entry {
        let length = self.block.length();
        self.finish_with(name, length, |_| "launch".to_owned())
    }

    /// The entry of a launch whose parameter is a table of `rows` rows, a power of two: the number of each
    /// row's first block, then the rows' fields. The text finds its row's first block in `%first`.
    pub(in crate::ptx) fn finish_table(self, name: &'static str, rows: usize) -> Entry {
        let row = self.block.length();
        self.finish_with(name, rows * (4 + row), |w| {
            let table = w.set(Class::B64, "mov.b64", &["launch"]);
            let block = w.set(Class::B32, "mov.b32", &["%ctaid.x"]);
            let first = |w: &mut PtxWriter, number: &str| {
                let bytes = w.set(Class::B64, "mul.wide.u32", &[number, "4"]);
                let at = w.set(Class::B64, "add.s64", &[&bytes, &table]);
                w.set(Class::B32, "ld.param.u32", &[&format!("[{at}]")])
            };
            let mut number = w.set(Class::B32, "mov.b32", &["0"]);
            for step in (0..rows.ilog2()).rev().map(|digit| 1 << digit) {
                let next = w.set(Class::B32, "add.s32", &[&number, &i32::to_string(&step)]);
                let begins = first(w, &next);
                let ours = w.set(Class::Pred, "setp.le.u32", &[&begins, &block]);
                number = w.set(Class::B32, "selp.b32", &[&next, &number, &ours]);
            }
            let begins = first(w, &number);
            w.named(Class::B32, "%first");
            w.op(&format!("mov.b32 %first, {begins}"));
            let bytes = w.set(Class::B64, "mul.wide.u32", &[&number, &row.to_string()]);
            let at = w.set(Class::B64, "add.s64", &[&bytes, &table]);
            w.set(Class::B64, "add.s64", &[&at, &(4 * rows).to_string()])
        })
    }

    /// The entry whose fields are found from where `base` says, after what it writes.
    fn finish_with(
        mut self,
        name: &'static str,
        length: usize,
        base: impl FnOnce(&mut PtxWriter) -> String,
    ) -> Entry {
        let body = std::mem::take(&mut self.text);
        let base = base(&mut self);
        let before = std::mem::replace(&mut self.text, body);
        let mut text = String::new();
        let _ = writeln!(
            text,
            ".visible .entry {name}(.param .align 8 .b8 launch[{length}])\n.maxntid {THREADS}, 1, 1\n{{",
        );
        for slot in self.block.slots() {
            self.named.entry(slot.field.class()).or_default().push(slot.register.clone());
        }
        for (class, names) in &self.named {
            declare(&mut text, *class, names);
        }
        for (class, count) in &self.temporaries {
            let _ = writeln!(text, "    .reg .{} %{}<{count}>;", class.name(), class.letter());
        }
        text.push_str(&self.shared);
        text.push('\n');
        text.push_str(&before);
        for slot in self.block.slots() {
            let kind = slot.field.class().name();
            let _ = writeln!(text, "    ld.param.{kind} {}, [{base}+{}];", slot.register, slot.at);
        }
        text.push('\n');
        text.push_str(&self.text);
        text.push_str("}\n");
        Entry { name, text, block: self.block }
    }
}

/// Declares registers of one class, a few to a line.
fn declare(text: &mut String, class: Class, names: &[String]) {
    let start = format!("    .reg .{} ", class.name());
    let mut line = start.clone();
    for name in names {
        if line.len() + name.len() > 98 {
            let _ = writeln!(text, "{};", line.trim_end_matches(", "));
            line.clone_from(&start);
        }
        let _ = write!(line, "{name}, ");
    }
    let _ = writeln!(text, "{};", line.trim_end_matches(", "));
}
