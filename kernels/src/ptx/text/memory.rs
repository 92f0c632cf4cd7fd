//! Loads and stores of runs of neighbouring elements, and constants.

use super::types::{Address, Class, class, literal, memory};
use super::writer::PtxWriter;
use crate::dtype::{DType, Kind, Scalar};

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
    pub(in crate::ptx) fn constant(&mut self, to: &str, scalar: Scalar) {
        let kind = class(scalar.dtype).name();
        self.op(&format!("mov.{kind} {to}, {}", literal(scalar)));
    }

    /// Loads a run of neighbouring elements, aligned to its whole size (at most 16 bytes). `space` is
    /// what follows `ld`: `global`, `global.nc` or `shared`.
    pub(in crate::ptx) fn load_run(&mut self, space: &str, dtype: DType, to: &[String], from: &Address) {
        let per_word = per_word(dtype, to.len());
        if per_word > 1 {
            let words: Vec<String> = (0..to.len() / per_word).map(|_| self.temp(Class::B32)).collect();
            self.op(&format!("ld.{space}{}.b32 {}, {from}", vector(words.len()), braced(&words)));
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

    /// Elements of 8 or 16 bits out of a word.
    fn unpack(&mut self, dtype: DType, to: &[String], word: &str) {
        let width = 8 * dtype.size_bytes();
        if class(dtype) == Class::B16 {
            return self.op(&format!("mov.b32 {}, {word}", braced(to)));
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

    /// Stores a run of neighbouring elements, aligned to its whole size, to `global` or `shared` memory.
    pub(in crate::ptx) fn store_run(&mut self, space: &str, dtype: DType, values: &[String], to: &Address) {
        let bytes: Vec<String> = match dtype {
            DType::Bool => values.iter().map(|v| self.set(Class::B32, "selp.b32", &["1", "0", v])).collect(),
            _ => values.to_vec(),
        };
        let per_word = per_word(dtype, values.len());
        if per_word > 1 {
            let words: Vec<String> = bytes.chunks(per_word).map(|lanes| self.pack(dtype, lanes)).collect();
            self.op(&format!("st.{space}{}.b32 {to}, {}", vector(words.len()), braced(&words)));
        } else {
            self.op(&format!("st.{space}{}.{} {to}, {}", vector(bytes.len()), memory(dtype), braced(&bytes)));
        }
    }

    /// Elements of 8 or 16 bits into a word.
    fn pack(&mut self, dtype: DType, lanes: &[String]) -> String {
        match (class(dtype), lanes) {
            (Class::B16, _) => self.set(Class::B32, "mov.b32", &[&braced(lanes)]),
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
