//! Types in registers and in memory, and constants.

use crate::dtype::{DType, Scalar};

/// The WGSL type of a value in a register.
pub(super) fn register(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::I8 | DType::I16 | DType::I32 => "i32",
        DType::U8 | DType::U16 | DType::U32 => "u32",
        DType::F16 | DType::BF16 | DType::F32 => "f32",
        DType::I64 => "i64",
        DType::U64 => "u64",
        DType::F64 => "f64",
    }
}

/// The element type of an array in memory; packed words that are written must be atomic, because
/// neighbours in one word belong to different invocations.
pub(super) fn storage(dtype: DType, write: bool) -> &'static str {
    match (dtype.size_bytes() < 4, write) {
        (true, true) => "atomic<u32>",
        (true, false) => "u32",
        (false, _) => register(dtype),
    }
}

/// The type in which a reduction keeps partial results of this type: as wide as a register.
pub(super) fn partial(dtype: DType) -> DType {
    match register(dtype) {
        "bool" | "u32" => DType::U32,
        "i32" => DType::I32,
        "f32" => DType::F32,
        _ => dtype,
    }
}

/// The constant as the type that its register has.
pub(super) fn in_register(scalar: Scalar) -> Scalar {
    match scalar.dtype {
        DType::F16 | DType::BF16 => Scalar::from_f64(DType::F32, scalar.to_f64()),
        _ => scalar,
    }
}

/// Whether a constant is a float that is not normal in its register: a zero, a subnormal, an infinity or NaN.
pub(super) fn is_hard(scalar: Scalar) -> bool {
    let scalar = in_register(scalar);
    match scalar.dtype {
        DType::F64 => !f64::from_bits(scalar.bits).is_normal(),
        DType::F32 => !f32::from_bits(scalar.bits as u32).is_normal(),
        _ => false,
    }
}

/// Text of a constant of an integer type. The least values have no literal.
pub(super) fn int(dtype: DType, value: i64) -> String {
    let suffix = match register(dtype) {
        "i32" => "i",
        "u32" => "u",
        "i64" => "li",
        _ => "lu",
    };
    match (dtype, value) {
        (DType::I32, -0x8000_0000) | (DType::I64, i64::MIN) => format!("({}{suffix} - 1{suffix})", value + 1),
        _ => format!("{value}{suffix}"),
    }
}
