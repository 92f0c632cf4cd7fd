//! Collects the text of one entry: lines, registers, labels, and the fields that it reads; loads and stores
//! of runs of neighbouring elements; and the way from numbers of threads to coordinates, addresses and the
//! loads of one point. Every entry is made of these.
//!
//! Slots are the dimensions of a grid: the last is x, the one before it y, and all others share z. A launch
//! may have fewer dimensions than its kernel; they fill the last slots.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use super::parameters::{
    Address, Class, Field, FoldField, ParameterBlock, Quantity, class, literal, memory, quantities, register,
};
use crate::dtype::{DType, Kind, Scalar};
use crate::ir::{Access, Kernel, Offsets, Op, Value};
use crate::verify::Verified;
use crate::verify::footprint::Footprint;

/// Threads of a full block.
pub(crate) const THREADS: u32 = 256;

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
    /// What its text calls it, and profilers show: after its kind and its kernel.
    pub name: String,
    pub(crate) text: String,
    /// The parameters it reads.
    pub(crate) block: ParameterBlock,
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
    /// Words whose halves are these registers of 16 bits, since the last label.
    words: BTreeMap<[String; 2], String>,
    /// The predicate of the instructions that are written now.
    guard: Option<String>,
    /// The assembler may take as many registers as it needs: by its own count of blocks it would spill.
    pub is_free: bool,
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
            words: BTreeMap::new(),
            guard: None,
            is_free: false,
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
        // What was set may have stayed as it was.
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

    /// What the kernel needs at each point.
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
        self.share_aligned(name, bytes, 8);
    }

    /// An array in shared memory that begins at a multiple of `align` bytes.
    pub(crate) fn share_aligned(&mut self, name: &str, bytes: usize, align: usize) {
        let _ = writeln!(self.shared, "    .shared .align {align} .b8 {name}[{bytes}];");
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
        let _ = writeln!(
            text,
            ".visible .entry {name}(.param .align 8 .b8 launch[{length}])\n.maxntid {THREADS}, 1, 1",
        );
        if self.is_free {
            text.push_str(".minnctapersm 1\n");
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
        Entry { kind, name, text, block: self.block }
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

/// Elements that share a 32-bit word in a run of `run` elements; 1 if each has a register of its own.
fn per_word(dtype: DType, run: usize) -> usize {
    if run <= 4 { 1 } else { 4 / dtype.size_bytes() }
}

fn vector(count: usize) -> String {
    if count == 1 { String::new() } else { format!(".v{count}") }
}

fn braced(registers: &[String]) -> String {
    if registers.len() == 1 { registers[0].clone() } else { format!("{{{}}}", registers.join(", ")) }
}

impl PtxWriter<'_> {
    /// `to = constant`
    pub(crate) fn constant(&mut self, to: &str, scalar: Scalar) {
        let kind = class(scalar.dtype).name();
        self.op(&format!("mov.{kind} {to}, {}", literal(scalar)));
    }

    /// Loads a run of neighbouring elements, aligned to its whole size (at most 16 bytes). `space` is
    /// what follows `ld`: `global`, `global.nc` or `shared`.
    pub(crate) fn load_run(&mut self, space: &str, dtype: DType, to: &[String], from: &Address) {
        let per_word = per_word(dtype, to.len());
        to.iter().for_each(|element| self.forget(element));
        if per_word > 1 {
            let words: Vec<String> = (0..to.len() / per_word).map(|_| self.temp(Class::B32)).collect();
            self.load_words(space, "b32", &words, from);
            for (word, lanes) in words.iter().zip(to.chunks(per_word)) {
                self.unpack(dtype, lanes, word);
            }
        } else if dtype == DType::Bool {
            let bytes: Vec<String> = to.iter().map(|_| self.temp(Class::B32)).collect();
            self.op(&format!("ld.{space}{}.u8 {}, {from}", vector(to.len()), braced(&bytes)));
            for (to, byte) in to.iter().zip(&bytes) {
                self.op(&format!("setp.ne.u32 {to}, {byte}, 0"));
            }
        } else {
            self.op(&format!("ld.{space}{}.{} {}, {from}", vector(to.len()), memory(dtype), braced(to)));
        }
    }

    /// Registers for the words of a run whose elements share words; none if each has a register of its own.
    pub(crate) fn words_of(&mut self, dtype: DType, run: &[String]) -> Vec<String> {
        match per_word(dtype, run.len()) {
            1 => Vec::new(),
            count => run.chunks(count).map(|e| self.named(Class::B32, &format!("{}_word", e[0]))).collect(),
        }
    }

    /// The words of a run from its elements.
    pub(crate) fn pack_run(&mut self, dtype: DType, run: &[String], words: &[String]) {
        if words.is_empty() {
            return;
        }
        let bytes = self.as_bytes(dtype, run);
        for (word, lanes) in words.iter().zip(bytes.chunks(run.len() / words.len())) {
            let packed = self.pack(dtype, lanes);
            self.op(&format!("mov.b32 {word}, {packed}"));
        }
    }

    /// The elements of a run from its words.
    pub(crate) fn unpack_run(&mut self, dtype: DType, run: &[String], words: &[String]) {
        for (word, lanes) in words.iter().zip(run.chunks(run.len() / words.len().max(1))) {
            self.unpack(dtype, lanes, word);
        }
    }

    /// Elements as they lie in memory: a bool as a byte.
    fn as_bytes(&mut self, dtype: DType, values: &[String]) -> Vec<String> {
        match dtype {
            DType::Bool => values.iter().map(|v| self.set(Class::B32, "selp.b32", &["1", "0", v])).collect(),
            _ => values.to_vec(),
        }
    }

    /// Loads neighbouring registers as they are in memory.
    pub(crate) fn load_words(&mut self, space: &str, kind: &str, to: &[String], from: &Address) {
        self.op(&format!("ld.{space}{}.{kind} {}, {from}", vector(to.len()), braced(to)));
    }

    /// Stores neighbouring registers as they are.
    pub(crate) fn store_words(&mut self, space: &str, kind: &str, words: &[String], to: &Address) {
        self.op(&format!("st.{space}{}.{kind} {to}, {}", vector(words.len()), braced(words)));
    }

    /// Copies 4, 8 or 16 bytes from global to shared memory while the thread goes on.
    pub(crate) fn copy_async(&mut self, to: &Address, from: &Address, bytes: usize) {
        let cache = if bytes == 16 { "cg" } else { "ca" };
        self.op(&format!("cp.async.{cache}.shared.global {to}, {from}, {bytes}"));
    }

    /// A register of the lane so many lanes further on, or back; lanes without one get their own.
    pub(crate) fn shuffle(&mut self, kind: Class, value: &str, lanes: i32) -> String {
        let (mode, last) = if lanes < 0 { ("up", "0") } else { ("down", "31") };
        let distance = lanes.unsigned_abs().to_string();
        let word = |w: &mut Self, word: &str| {
            w.set(Class::B32, &format!("shfl.sync.{mode}.b32"), &[word, &distance, last, "0xffffffff"])
        };
        match kind {
            Class::B64 | Class::F64 => {
                let (low, high) = (self.temp(Class::B32), self.temp(Class::B32));
                self.op(&format!("mov.b64 {{{low}, {high}}}, {value}"));
                let (low, high) = (word(self, &low), word(self, &high));
                self.set(kind, "mov.b64", &[&format!("{{{low}, {high}}}")])
            }
            Class::F32 => {
                let bits = self.set(Class::B32, "mov.b32", &[value]);
                let bits = word(self, &bits);
                self.set(Class::F32, "mov.b32", &[&bits])
            }
            Class::B32 => word(self, value),
            Class::Pred | Class::B16 => unreachable!("no register of a vector is so narrow"),
        }
    }

    /// Elements of 8 or 16 bits out of a word, of which they may be the lowest.
    pub(crate) fn unpack(&mut self, dtype: DType, to: &[String], word: &str) {
        let width = 8 * dtype.size_bytes();
        if let (Class::B16, [to]) = (class(dtype), to) {
            return self.op(&format!("cvt.u16.u32 {to}, {word}"));
        }
        if class(dtype) == Class::B16 {
            return self.split_word(to, word);
        }
        for (n, to) in to.iter().enumerate() {
            let at = n * width;
            match dtype.kind() {
                Kind::Int => self.op(&format!("bfe.s32 {to}, {word}, {at}, {width}")),
                Kind::Bool => {
                    let byte = self.set(Class::B32, "and.b32", &[word, &format!("0x{:x}", 0xffu32 << at)]);
                    self.op(&format!("setp.ne.u32 {to}, {byte}, 0"));
                }
                Kind::Uint | Kind::Float => self.op(&format!("bfe.u32 {to}, {word}, {at}, {width}")),
            }
        }
    }

    /// A register is set anew: no word has it for a half.
    pub(crate) fn forget(&mut self, register: &String) {
        self.words.retain(|halves, _| !halves.contains(register));
    }

    /// The halves of a word, which stand for it until the next label.
    pub(crate) fn split_word(&mut self, to: &[String], word: &str) {
        to.iter().for_each(|half| self.forget(half));
        self.op(&format!("mov.b32 {}, {word}", braced(to)));
        self.words.insert([to[0].clone(), to[1].clone()], word.to_owned());
    }

    /// The word of two registers of 16 bits.
    pub(crate) fn pair_word(&mut self, low: &str, high: &str) -> String {
        let halves = [low.to_owned(), high.to_owned()];
        if let Some(word) = self.words.get(&halves) {
            return word.clone();
        }
        let word = self.set(Class::B32, "mov.b32", &[&braced(&halves)]);
        self.words.insert(halves, word.clone());
        word
    }

    /// Stores a run of neighbouring elements, aligned to its whole size, to `global` or `shared` memory.
    pub(crate) fn store_run(&mut self, space: &str, dtype: DType, values: &[String], to: &Address) {
        let bytes = self.as_bytes(dtype, values);
        let per_word = per_word(dtype, values.len());
        if per_word > 1 {
            let words: Vec<String> = bytes.chunks(per_word).map(|lanes| self.pack(dtype, lanes)).collect();
            self.op(&format!("st.{space}{}.b32 {to}, {}", vector(words.len()), braced(&words)));
        } else {
            self.op(&format!("st.{space}{}.{} {to}, {}", vector(bytes.len()), memory(dtype), braced(&bytes)));
        }
    }

    /// Elements of 8 or 16 bits, as loaded, into a word.
    pub(crate) fn pack_into(&mut self, dtype: DType, word: &str, elements: &[String]) {
        match (class(dtype), elements) {
            (Class::B16, [element]) => self.op(&format!("cvt.u32.u16 {word}, {element}")),
            (_, [element]) => self.op(&format!("mov.b32 {word}, {element}")),
            (_, [a, b]) if dtype.size_bytes() == 1 => {
                self.op(&format!("prmt.b32 {word}, {a}, {b}, 0x5540"));
            }
            _ => {
                let packed = self.pack(dtype, elements);
                self.op(&format!("mov.b32 {word}, {packed}"));
            }
        }
    }

    /// Elements of 8 or 16 bits into a word.
    fn pack(&mut self, dtype: DType, lanes: &[String]) -> String {
        match (class(dtype), lanes) {
            (Class::B16, _) => self.pair_word(&lanes[0], &lanes[1]),
            (_, [a, b]) => self.set(Class::B32, "prmt.b32", &[a, b, "0x5410"]),
            (_, [a, b, c, d]) => {
                let low = self.set(Class::B32, "prmt.b32", &[a, b, "0x0040"]);
                let high = self.set(Class::B32, "prmt.b32", &[c, d, "0x0040"]);
                self.set(Class::B32, "prmt.b32", &[&low, &high, "0x5410"])
            }
            _ => unreachable!("a word holds two or four elements"),
        }
    }
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

    fn along(&mut self, axis: &str, to: &str) {
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

    /// Where a quantity is at the point: `%atP` or `%cK`, from its start and the coordinates of some
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
        let kernel = self.kernel;
        for (at, inst) in kernel.body.iter().enumerate() {
            match &inst.op {
                Op::Coord(k) => self.names[at] = register(Quantity::Coord(*k, inst.dtype)),
                Op::Load { param, offsets } => {
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

    /// How a parameter is loaded: what no kernel of this launch writes may stay in the read-only cache.
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
