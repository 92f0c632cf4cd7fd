//! Collects the text of one entry: lines, registers, labels, and the fields that it reads; and the way from
//! numbers of threads to coordinates, addresses and the loads of one point. Every entry is made of these.
//!
//! Slots are the dimensions of a grid: the last is x, the one before it y, and all others share z. A launch
//! may have fewer dimensions than its kernel; they fill the last slots.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::{Deref, Range};
use std::sync::{Arc, LazyLock};

use super::parameters::{
    Address, Class, Field, FoldField, ParameterBlock, Quantity, class, quantities, register,
};
use crate::ir::{Access, Kernel, Offsets, Op, Value};
use crate::verify::{Footprint, Verified};

/// Threads of a full block.
pub(crate) const THREADS: u32 = 256;

/// The properties of a GPU that the writer needs: compute capability times ten.
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

    pub(crate) fn version(self) -> &'static str {
        match self.sm {
            ..90 => "7.0",
            90..100 => "7.8",
            _ => "8.6",
        }
    }
}

/// One entry point.
pub struct Entry {
    /// The way it runs the kernel: `vector`, `fold`, ...
    pub kind: &'static str,
    /// Its name in the text and in profilers: after its kind and its kernel.
    pub name: String,
    pub(crate) text: String,
    /// The parameters it reads.
    pub(crate) block: ParameterBlock,
    /// Bytes of shared memory that a launch gives each block, beside what the text declares.
    pub shared: u32,
}

/// An entry point that is written when somebody first looks at it: most launches take one of several.
pub struct LazyEntry {
    /// The way it runs the kernel: `vector`, `fold`, ...
    pub kind: &'static str,
    pub(crate) entry: LazyLock<Entry, Box<dyn FnOnce() -> Entry + Send>>,
}

impl LazyEntry {
    pub(crate) fn new(
        kind: &'static str,
        kernel: &Arc<Verified>,
        write: impl FnOnce(&Verified) -> Entry + Send + 'static,
    ) -> LazyEntry {
        let kernel = Arc::clone(kernel);
        LazyEntry { kind, entry: LazyLock::new(Box::new(move || write(&kernel))) }
    }
}

impl From<Entry> for LazyEntry {
    fn from(entry: Entry) -> LazyEntry {
        let lazy = LazyEntry { kind: entry.kind, entry: LazyLock::new(Box::new(move || entry)) };
        LazyLock::force(&lazy.entry);
        lazy
    }
}

impl Deref for LazyEntry {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        &self.entry
    }
}

/// `vector_fused_f32_3d_7to1_c0ffee`: the kind, the kernel's name, the type of its first array, its rank, how
/// many elements it loads and stores at a point, and digits that tell apart kernels alike in all of these.
fn name_of(kind: &str, kernel: &Kernel, footprint: &Footprint) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let called: String = kernel.name.chars().map(plain).collect();
    let dtype = kernel.params.first().map_or_else(String::new, |param| format!("_{}", param.dtype));
    let stores = kernel.params.iter().filter(|param| param.access != Access::In).count();
    // FNV-1a, which no release of a library changes.
    let digest = kernel.to_string().bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let loads = footprint.loads().len();
    format!("{kind}_{called}{dtype}_{}d_{loads}to{stores}_{:06x}", kernel.rank, digest & 0xff_ffff)
}

/// Writes one entry.
pub(crate) struct PtxWriter<'a> {
    pub kernel: &'a Kernel,
    pub footprint: &'a Footprint,
    pub target: &'a PtxTarget,
    pub block: ParameterBlock,
    /// The register of each value of the body, as far as it is defined.
    pub names: Vec<String>,
    text: String,
    named: BTreeMap<Class, Vec<String>>,
    temporaries: BTreeMap<Class, usize>,
    labels: usize,
    shared: String,
    /// Bytes of shared memory that a launch gives.
    given: usize,
    /// Blocks that must fit on a multiprocessor side by side; the assembler decides if it is 0.
    blocks: u32,
    /// Points are computed one instruction after the other.
    pub(super) together: bool,
    /// Words whose halves are these registers of 16 bits, since the last label.
    pub(super) words: BTreeMap<[String; 2], String>,
    /// The predicate of the instructions that are written now.
    guard: Option<String>,
}

impl<'a> PtxWriter<'a> {
    pub(crate) fn new(verified: &'a Verified, target: &'a PtxTarget) -> PtxWriter<'a> {
        let (kernel, footprint) = (verified.kernel(), verified.footprint());
        PtxWriter {
            kernel,
            footprint,
            target,
            block: ParameterBlock::default(),
            names: vec![String::new(); kernel.body.len()],
            text: String::new(),
            named: BTreeMap::new(),
            temporaries: BTreeMap::new(),
            labels: 0,
            shared: String::new(),
            given: 0,
            blocks: 0,
            together: false,
            words: BTreeMap::new(),
            guard: None,
        }
    }

    /// Appends an instruction.
    pub(crate) fn op(&mut self, instruction: &str) {
        let guard = self.guard.as_ref().map_or_else(String::new, |predicate| format!("@{predicate} "));
        let _ = writeln!(self.text, "    {guard}{instruction};");
    }

    /// Writes instructions that only threads with this predicate carry out.
    pub(crate) fn guarded(&mut self, predicate: &str, write: impl FnOnce(&mut Self)) {
        self.guard = Some(predicate.to_owned());
        write(self);
        self.guard = None;
        // A register set under a guard may have kept its old value.
        self.words.clear();
    }

    /// Appends a comment.
    pub(crate) fn note(&mut self, comment: &str) {
        let _ = writeln!(self.text, "    // {comment}");
    }

    /// Places a label.
    pub(crate) fn place(&mut self, label: &str) {
        self.words.clear();
        let _ = writeln!(self.text, "{label}:");
    }

    /// A label that nothing else has.
    pub(crate) fn label(&mut self, stem: &str) -> String {
        self.labels += 1;
        format!("{stem}_{}", self.labels)
    }

    /// A fresh register.
    pub(crate) fn temp(&mut self, class: Class) -> String {
        let n = self.temporaries.entry(class).or_default();
        *n += 1;
        format!("%{}{}", class.letter(), *n - 1)
    }

    /// A register with a name of its own.
    pub(crate) fn named(&mut self, class: Class, name: &str) -> String {
        let names = self.named.entry(class).or_default();
        if !names.iter().any(|n| n == name) {
            names.push(name.to_owned());
        }
        name.to_owned()
    }

    /// A named register has 16 bits.
    pub(crate) fn is_half(&self, name: &str) -> bool {
        self.named.get(&Class::B16).is_some_and(|names| names.iter().any(|n| n == name))
    }

    /// An instruction that sets a fresh register: `set(B32, "add.s32", &["%a", "%b"])`.
    pub(crate) fn set(&mut self, class: Class, operation: &str, operands: &[&str]) -> String {
        let to = self.temp(class);
        self.op(&format!("{operation} {to}, {}", operands.join(", ")));
        to
    }

    /// The quantities of the kernel at each point.
    pub(crate) fn quantities(&self) -> Vec<Quantity> {
        quantities(self.footprint)
    }

    /// The register of a launch parameter.
    pub(crate) fn field(&mut self, field: Field) -> String {
        self.block.register(field)
    }

    /// The register of a number that a reduction reads.
    pub(crate) fn fold_field(&mut self, field: FoldField) -> String {
        self.field(Field::Fold(field))
    }

    /// The register of a value.
    pub(crate) fn name(&self, value: Value) -> String {
        self.names[value.index()].clone()
    }

    /// An array in shared memory.
    pub(crate) fn share(&mut self, name: &str, bytes: usize) {
        let _ = writeln!(self.shared, "    .shared .align 8 .b8 {name}[{bytes}];");
    }

    /// So many bytes more of the shared memory that a launch gives, `planes`: where they begin in it, at a
    /// multiple of 16. It may be larger than what a text may declare.
    pub(crate) fn share_at_launch(&mut self, bytes: usize) -> usize {
        let at = self.given.next_multiple_of(16);
        self.given = at + bytes;
        at
    }

    /// So many blocks must fit on a multiprocessor: fewer registers are not wanted, either. Left alone, the
    /// assembler spills some to fit one block more.
    pub(crate) fn side_by_side(&mut self, blocks: u32) {
        self.blocks = blocks;
    }

    /// Every instruction is written for all points before the next.
    pub(crate) fn points_together(&mut self) {
        self.together = true;
    }

    /// The entry: declarations, parameters, text.
    pub(crate) fn finish(self, kind: &'static str) -> Entry {
        let length = self.block.length();
        self.finish_with(kind, length, |_| "launch".to_owned())
    }

    /// The entry of a launch whose parameter is a table of `rows` rows, a power of two: the number of each
    /// row's first block, then the rows' fields. The text finds its row's first block in `%first`.
    pub(crate) fn finish_table(self, kind: &'static str, rows: usize) -> Entry {
        let row = self.block.length();
        self.finish_with(kind, rows * (4 + row), |w| {
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
        kind: &'static str,
        length: usize,
        base: impl FnOnce(&mut PtxWriter) -> String,
    ) -> Entry {
        let body = std::mem::take(&mut self.text);
        let base = base(&mut self);
        let before = std::mem::replace(&mut self.text, body);
        let name = name_of(kind, self.kernel, self.footprint);
        let mut text = String::new();
        if self.given > 0 {
            text.push_str(".extern .shared .align 16 .b8 planes[];\n");
        }
        let _ = writeln!(text, ".visible .entry {name}(.param .align 8 .b8 launch[{length}])");
        let _ = writeln!(text, ".maxntid {THREADS}, 1, 1");
        if self.blocks > 0 {
            let _ = writeln!(text, ".minnctapersm {}", self.blocks);
        }
        text.push_str("{\n");
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
        Entry { kind, name, text, block: self.block, shared: self.given as u32 }
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

/// Slots of a pointwise kernel.
pub(crate) fn slots(kernel: &Kernel) -> usize {
    kernel.rank.max(1)
}

impl PtxWriter<'_> {
    /// `%x` = number of the thread along x.
    pub(crate) fn grid_x(&mut self) {
        self.along("x", "%x");
    }

    pub(crate) fn along(&mut self, axis: &str, to: &str) {
        self.named(Class::B32, to);
        let [block, width, thread] = ["ctaid", "ntid", "tid"]
            .map(|name| self.set(Class::B32, "mov.b32", &[&format!("%{name}.{axis}")]));
        self.op(&format!("mad.lo.u32 {to}, {block}, {width}, {thread}"));
    }

    /// Leaves if a coordinate is outside.
    pub(crate) fn leave_unless(&mut self, coordinate: &str, extent: &str) {
        let outside = self.set(Class::Pred, "setp.ge.u32", &[coordinate, extent]);
        self.op(&format!("@{outside} ret"));
    }

    /// Coordinates `%iK` of all slots but x, which is declared only.
    pub(crate) fn grid_outer(&mut self, slots: usize) {
        for slot in 0..slots {
            self.named(Class::B32, &format!("%i{slot}"));
        }
        if slots >= 2 {
            let (y, extent) = (format!("%i{}", slots - 2), self.field(Field::Extent(slots - 2)));
            self.along("y", &y);
            self.leave_unless(&y, &extent);
        }
        if slots >= 3 {
            let number = self.set(Class::B32, "mov.b32", &["%ctaid.z"]);
            self.digits(&number, 0..slots - 2);
        }
    }

    /// Splits a number into the coordinates of some slots, the last one fastest.
    pub(crate) fn digits(&mut self, number: &str, slots: Range<usize>) {
        let mut rest = number.to_owned();
        for slot in slots.clone().rev() {
            self.named(Class::B32, &format!("%i{slot}"));
            if slot == slots.start {
                self.op(&format!("mov.b32 %i{slot}, {rest}"));
                return;
            }
            let extent = self.field(Field::Extent(slot));
            let quotient = self.set(Class::B32, "div.u32", &[&rest, &extent]);
            let whole = self.set(Class::B32, "mul.lo.u32", &[&quotient, &extent]);
            self.op(&format!("sub.u32 %i{slot}, {rest}, {whole}"));
            rest = quotient;
        }
    }

    /// Locates a quantity at the point: `%atP` or `%cK`, from its start and the coordinates of some
    /// slots; or from a register that has the other slots in it already.
    pub(crate) fn locate(&mut self, quantity: Quantity, slots: Range<usize>, from: Option<&str>) -> String {
        let to = self.named(Field::Start(quantity).class(), &register(quantity));
        self.step(quantity, slots, from, &to);
        to
    }

    /// `to` = a quantity moved along some slots.
    pub(crate) fn step(&mut self, quantity: Quantity, slots: Range<usize>, from: Option<&str>, to: &str) {
        let mut from = from.map_or_else(|| self.field(Field::Start(quantity)), str::to_owned);
        let mad = match Field::Start(quantity).class() {
            Class::B32 => "mad.lo.s32",
            _ => "mad.wide.s32",
        };
        for slot in slots {
            let step = self.field(Field::Step(quantity, slot));
            self.op(&format!("{mad} {to}, %i{slot}, {step}, {from}"));
            from = to.to_owned();
        }
        if from != to {
            self.op(&format!("mov.{} {to}, {from}", Field::Start(quantity).class().name()));
        }
    }

    /// Loads and coordinates of the point.
    pub(crate) fn read(&mut self, lane: &str) {
        self.read_after(lane, |_, _| ());
    }

    /// The same, with something before each load of a parameter.
    pub(crate) fn read_after(&mut self, lane: &str, before: impl Fn(&mut Self, u32)) {
        let kernel = self.kernel;
        for (at, inst) in kernel.body.iter().enumerate() {
            match &inst.op {
                Op::Coord(k) => self.names[at] = register(Quantity::Coord(*k, inst.dtype)),
                Op::Load { param, offsets } => {
                    before(self, *param);
                    let place = self.neighbour(*param, &format!("%at{param}"), offsets);
                    let to = self.named(class(inst.dtype), &format!("%v{at}{lane}"));
                    self.load_run(self.space(*param), inst.dtype, std::slice::from_ref(&to), &place);
                    self.names[at] = to;
                }
                _ => {}
            }
        }
    }

    /// The address at some offsets from an address.
    pub(crate) fn neighbour(&mut self, param: u32, at: &str, offsets: &Offsets) -> Address {
        if offsets.iter().all(|&d| d == 0) {
            return Address::at(at);
        }
        let delta = self.field(Field::Delta(param, offsets.clone()));
        Address::at(&self.set(Class::B64, "add.s64", &[at, &delta]))
    }

    /// The state space of a parameter's loads: arrays that no kernel of this launch writes are read-only.
    pub(crate) fn space(&self, param: u32) -> &'static str {
        match self.kernel.params[param as usize].access {
            Access::In => "global.nc",
            Access::Out | Access::InOut => "global",
        }
    }

    /// Stores a value at the point.
    pub(crate) fn store(&mut self, param: u32, value: &str) {
        let dtype = self.kernel.params[param as usize].dtype;
        self.store_run("global", dtype, &[value.to_owned()], &Address::at(&format!("%at{param}")));
    }
}
