//! The body for several points at once. It knows nothing of where points are: loads and coordinates have
//! their registers before it starts.
//!
//! Two neighbouring points share instructions where hardware has them for two halves of a word: f16x2 and
//! bf16x2. Rounding the f32 result of `+ - *` to p bits gives the same bits as the native operation, because
//! 24 >= 2p + 2 (Figueroa, "When is double rounding innocuous?", 1995).
//!
//! All points of a thread share the test of a branch ([`crate::ir::branches`]).
//!
//! Loads and stores of runs of neighbouring elements: as vectors, and elements of 8 or 16 bits as the words
//! that they share.

use crate::dtype::{DType, Kind, Scalar};
use crate::ir::branches::{Branch, branches, computed, uniform};
use crate::ir::{BinaryOp, Op, UnaryOp, Value};
use crate::ptx::text::parameters::{Address, Class, class, literal, memory};
use crate::ptx::text::writer::PtxWriter;
/// One point of a thread.
pub(crate) struct Point {
    /// The suffix of the registers of its values.
    pub mark: String,
    /// The register of each value that is defined.
    pub names: Vec<String>,
}

impl PtxWriter<'_> {
    /// Computes the values that are the same for every point.
    pub(crate) fn prologue(&mut self) {
        for (at, uniform) in uniform(self.kernel).into_iter().enumerate() {
            if uniform {
                self.define(at, "");
            }
        }
    }

    /// Computes the other values for one point, whose registers end in `lane`. Loads and coordinates
    /// have theirs already.
    pub(crate) fn compute(&mut self, lane: &str) {
        let mut points = [Point { mark: lane.to_owned(), names: self.names.clone() }];
        self.compute_points(&mut points);
        let [point] = points;
        self.names = point.names;
    }

    /// The same for several points, neighbours in pairs.
    pub(crate) fn compute_points(&mut self, points: &mut [Point]) {
        let (mut plain, branches) = (computed(self.kernel), branches(self.kernel));
        plain.retain(|at| !branches.iter().any(|b| b.body.contains(at) || b.selects.contains(at)));
        let mut rest = plain.as_slice();
        for branch in &branches {
            let before = rest.partition_point(|&at| at < branch.place());
            self.define_all(&rest[..before], points);
            rest = &rest[before..];
            self.branch(branch, points);
        }
        self.define_all(rest, points);
    }

    /// Instructions for all points: one pair after the other; or one instruction after the other, so that the
    /// last use of what all points need comes sooner.
    fn define_all(&mut self, instructions: &[usize], points: &mut [Point]) {
        let most = if self.together { 1 } else { instructions.len().max(1) };
        for instructions in instructions.chunks(most) {
            for pair in points.chunks_mut(2) {
                for &at in instructions {
                    if !self.define_pair(at, pair) {
                        pair.iter_mut().for_each(|point| self.define_at(at, point));
                    }
                }
            }
        }
    }

    fn define_at(&mut self, at: usize, point: &mut Point) {
        std::mem::swap(&mut self.names, &mut point.names);
        self.define(at, &point.mark);
        std::mem::swap(&mut self.names, &mut point.names);
    }

    fn define(&mut self, at: usize, lane: &str) {
        let inst = &self.kernel.body[at];
        let to = self.named(class(inst.dtype), &format!("%v{at}{lane}"));
        self.forget(&to);
        self.instruction(inst, &to);
        self.names[at] = to;
    }

    /// The other side of the selects everywhere, then what any point needs of the long one.
    fn branch(&mut self, branch: &Branch, points: &mut [Point]) {
        self.note("what few points need");
        let mut needed: Option<String> = None;
        for point in &mut *points {
            let condition = point.names[branch.condition.index()].clone();
            let own = if branch.side { condition } else { self.set(Class::Pred, "not.pred", &[&condition]) };
            needed = Some(match needed {
                Some(others) => self.set(Class::Pred, "or.pred", &[&others, &own]),
                None => own,
            });
            for &at in &branch.selects {
                let (dtype, other) = (self.kernel.body[at].dtype, branch.operand(self.kernel, at, false));
                let to = self.named(class(dtype), &format!("%v{at}{}", point.mark));
                self.copy(dtype, &to, &point.names[other.index()]);
                point.names[at] = to;
            }
        }
        let Some(needed) = needed else { return };
        let done = self.label("RARE");
        self.op(&format!("@!{needed} bra {done}"));
        for point in points {
            branch.body.iter().chain(&branch.selects).for_each(|&at| self.define_at(at, point));
        }
        self.place(&done);
    }

    /// One instruction for two points, if there is one.
    fn define_pair(&mut self, at: usize, pair: &mut [Point]) -> bool {
        let inst = &self.kernel.body[at];
        let dtype = inst.dtype;
        let [first, second] = pair else { return false };
        let words = match dtype {
            DType::F16 => true,
            DType::BF16 => self.target.sm >= 80,
            _ => false,
        };
        if !words {
            return false;
        }
        let word = {
            let mut operand =
                |value: Value| self.pair_word(&first.names[value.index()], &second.names[value.index()]);
            match inst.op {
                Op::Unary(UnaryOp::Neg, a) => {
                    let a = operand(a);
                    self.set(Class::B32, "xor.b32", &[&a, "0x80008000"])
                }
                Op::Unary(UnaryOp::Abs, a) => {
                    let a = operand(a);
                    self.set(Class::B32, "and.b32", &[&a, "0x7FFF7FFF"])
                }
                Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b) => {
                    let (a, b) = (operand(a), operand(b));
                    self.binary_pair(op, dtype, &a, &b)
                }
                _ => return false,
            }
        };
        let mut halves = Vec::new();
        for point in pair {
            let to = self.named(Class::B16, &format!("%v{at}{}", point.mark));
            point.names[at].clone_from(&to);
            halves.push(to);
        }
        self.split_word(&halves, &word);
        true
    }

    /// `a op b` of both halves. bf16x2 is added and multiplied from sm_90 on; before, a product with 1 or -1,
    /// or a sum with -0, changes no bit.
    fn binary_pair(&mut self, op: BinaryOp, dtype: DType, a: &str, b: &str) -> String {
        let name = match op {
            BinaryOp::Add => "add",
            BinaryOp::Sub => "sub",
            _ => "mul",
        };
        match dtype {
            DType::F16 => self.set(Class::B32, &format!("{name}.rn.f16x2"), &[a, b]),
            _ if self.target.sm >= 90 => self.set(Class::B32, &format!("{name}.rn.bf16x2"), &[a, b]),
            _ => {
                let constant = |w: &mut Self, bits: &str| w.set(Class::B32, "mov.b32", &[bits]);
                let [x, y, z] = match op {
                    BinaryOp::Add => [a.to_owned(), constant(self, "0x3F803F80"), b.to_owned()],
                    BinaryOp::Sub => [b.to_owned(), constant(self, "0xBF80BF80"), a.to_owned()],
                    _ => [a.to_owned(), b.to_owned(), constant(self, "0x80008000")],
                };
                self.set(Class::B32, "fma.rn.bf16x2", &[&x, &y, &z])
            }
        }
    }
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

    /// A register of another lane: the one `distance` lanes before (`up`) or further on (`down`), where lanes
    /// without one get their own; or the one whose number differs in that bit (`bfly`).
    pub(crate) fn shuffle(&mut self, kind: Class, value: &str, mode: &str, distance: &str) -> String {
        let last = if mode == "up" { "0" } else { "31" };
        let word = |w: &mut Self, word: &str| {
            w.set(Class::B32, &format!("shfl.sync.{mode}.b32"), &[word, distance, last, "0xffffffff"])
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
