//! Types in registers and in memory, constants, and addresses, as PTX spells them.

use crate::dtype::{DType, Scalar};

/// The sort of a register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::ptx) enum Class {
    Pred,
    B16,
    B32,
    B64,
    F32,
    F64,
}

impl Class {
    /// As PTX spells it.
    pub(in crate::ptx) fn name(self) -> &'static str {
        match self {
            Class::Pred => "pred",
            Class::B16 => "b16",
            Class::B32 => "b32",
            Class::B64 => "b64",
            Class::F32 => "f32",
            Class::F64 => "f64",
        }
    }

    /// How its temporaries begin.
    pub(in crate::ptx) fn letter(self) -> &'static str {
        match self {
            Class::Pred => "p",
            Class::B16 => "h",
            Class::B32 => "r",
            Class::B64 => "d",
            Class::F32 => "f",
            Class::F64 => "e",
        }
    }

    /// Bytes of a register in memory.
    pub(in crate::ptx) fn bytes(self) -> usize {
        match self {
            Class::Pred => 1,
            Class::B16 => 2,
            Class::B32 | Class::F32 => 4,
            Class::B64 | Class::F64 => 8,
        }
    }
}

/// The register class of a value.
pub(in crate::ptx) fn class(dtype: DType) -> Class {
    match dtype {
        DType::Bool => Class::Pred,
        DType::I8 | DType::I16 | DType::I32 | DType::U8 | DType::U16 | DType::U32 => Class::B32,
        DType::I64 | DType::U64 => Class::B64,
        DType::F16 | DType::BF16 => Class::B16,
        DType::F32 => Class::F32,
        DType::F64 => Class::F64,
    }
}

/// The type of arithmetic on a register: `s32`, `u64`, `f32`.
pub(in crate::ptx) fn arithmetic(dtype: DType) -> &'static str {
    match dtype {
        DType::I8 | DType::I16 | DType::I32 => "s32",
        DType::Bool | DType::U8 | DType::U16 | DType::U32 => "u32",
        DType::I64 => "s64",
        DType::U64 => "u64",
        DType::F16 | DType::BF16 | DType::F32 => "f32",
        DType::F64 => "f64",
    }
}

/// The type of an element in loads and stores.
pub(in crate::ptx) fn memory(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool | DType::U8 => "u8",
        DType::I8 => "s8",
        DType::I16 => "s16",
        DType::U16 => "u16",
        DType::I32 => "s32",
        DType::U32 => "u32",
        DType::I64 => "s64",
        DType::U64 => "u64",
        DType::F16 | DType::BF16 => "b16",
        DType::F32 => "f32",
        DType::F64 => "f64",
    }
}

/// The type in which a fold accumulates.
pub(in crate::ptx) fn partial(dtype: DType) -> DType {
    match dtype {
        DType::I8 | DType::I16 => DType::I32,
        DType::U8 | DType::U16 => DType::U32,
        DType::F16 | DType::BF16 => DType::F32,
        _ => dtype,
    }
}

/// log2 of an element's bytes.
pub(in crate::ptx) fn size_bits(dtype: DType) -> u32 {
    dtype.size_bytes().trailing_zeros()
}

/// A constant as an operand of the register's class.
pub(in crate::ptx) fn literal(scalar: Scalar) -> String {
    match scalar.dtype {
        DType::Bool => u64::from(scalar.bits != 0).to_string(),
        DType::F32 => format!("0f{:08X}", scalar.bits),
        DType::F64 => format!("0d{:016X}", scalar.bits),
        DType::F16 | DType::BF16 => format!("0x{:04X}", scalar.bits),
        DType::U64 => scalar.bits.to_string(),
        _ if scalar.bits == 1 << 63 => "0x8000000000000000".into(),
        DType::I8 | DType::I16 | DType::I32 | DType::I64 | DType::U8 | DType::U16 | DType::U32 => {
            scalar.to_i64().to_string()
        }
    }
}

/// The address of an element: a register and a number of bytes.
#[derive(Clone)]
pub(in crate::ptx) struct Address {
    pub register: String,
    pub bytes: i64,
}

impl Address {
    pub(in crate::ptx) fn at(register: &str) -> Address {
        Address { register: register.to_owned(), bytes: 0 }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.bytes {
            0 => write!(f, "[{}]", self.register),
            bytes => write!(f, "[{}+{bytes}]", self.register),
        }
    }
}
