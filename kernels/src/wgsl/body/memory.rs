//! Constants, arguments, loads and stores.

use crate::dtype::{DType, Kind, Scalar};
use crate::wgsl::routines::Routine;
use crate::wgsl::types::{in_register, int, register};
use crate::wgsl::writer::Writer;

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
    pub(in crate::wgsl) fn constant(&self, scalar: Scalar) -> String {
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
    pub(in crate::wgsl) fn argument(&mut self, n: u32, dtype: DType) -> String {
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
    pub(in crate::wgsl) fn unpack(&mut self, dtype: DType, word: &str) -> String {
        match dtype {
            DType::Bool => format!("(({word} & 0xffu) != 0u)"),
            DType::I8 => format!("(bitcast<i32>({word} << 24u) >> 24u)"),
            DType::I16 => format!("(bitcast<i32>({word} << 16u) >> 16u)"),
            DType::U8 => format!("({word} & 0xffu)"),
            DType::U16 => format!("({word} & 0xffffu)"),
            DType::F16 => format!("{}({word} & 0xffffu)", self.call(Routine::FromF16)),
            DType::BF16 => format!("bitcast<f32>({word} << 16u)"),
            DType::U32 => word.to_owned(),
            DType::I32 | DType::F32 => format!("bitcast<{}>({word})", register(dtype)),
            DType::I64 | DType::U64 | DType::F64 => unreachable!("64-bit types are never packed"),
        }
    }

    /// The memory form of a narrow value in the low bits of a word; higher bits are zero.
    pub(in crate::wgsl) fn pack(&mut self, dtype: DType, value: &str) -> String {
        match dtype {
            DType::Bool => format!("select(0u, 1u, {value})"),
            DType::I8 => format!("(bitcast<u32>({value}) & 0xffu)"),
            DType::I16 => format!("(bitcast<u32>({value}) & 0xffffu)"),
            DType::U8 | DType::U16 | DType::U32 => value.to_owned(),
            DType::F16 => format!("{}({value})", self.call(Routine::ToF16)),
            DType::BF16 => format!("{}({value})", self.call(Routine::ToBf16)),
            DType::I32 | DType::F32 => format!("bitcast<u32>({value})"),
            DType::I64 | DType::U64 | DType::F64 => unreachable!("64-bit types are never packed"),
        }
    }

    /// The element of an array; `element` names a `u32` variable.
    pub(in crate::wgsl) fn load_element(&mut self, param: u32, element: &str) -> String {
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
    pub(in crate::wgsl) fn store_element(&mut self, param: u32, element: &str, value: &str) {
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
    pub(in crate::wgsl) fn store(&mut self, param: u32, value: &str) {
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
