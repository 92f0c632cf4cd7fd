//! Element types and devices in DLPack's terms. The structs are dlpark's.

use dlpark::ffi::{DLDataType, DLDataTypeCode, DLDevice, DLDeviceType};
use partita::DType;

use crate::element::Element;

/// The kinds of elements by their codes, as NumPy calls them.
const CODES: [&str; 7] = ["int", "uint", "float", "opaque", "bfloat", "complex", "bool"];

/// The DLPack form of an element.
pub fn dtype_of(element: Element) -> DLDataType {
    let code = match element {
        Element::Real(DType::I8 | DType::I16 | DType::I32 | DType::I64) => DLDataTypeCode::INT,
        Element::Real(DType::U8 | DType::U16 | DType::U32 | DType::U64) => DLDataTypeCode::UINT,
        Element::Real(DType::F16 | DType::F32 | DType::F64) => DLDataTypeCode::FLOAT,
        Element::Real(DType::BF16) => DLDataTypeCode::BFLOAT,
        Element::Complex(_) => DLDataTypeCode::COMPLEX,
        Element::Real(DType::Bool) => DLDataTypeCode::BOOL,
    };
    DLDataType::scalar(code, 8 * element.size_bytes() as u8)
}

/// The element of a DLPack type, if it is one of ours.
pub fn element_of(dtype: DLDataType) -> Option<Element> {
    Element::all().find(|&element| dtype_of(element) == dtype)
}

/// NumPy's name of a type, such as `complex64`, and `float32x4` for vectors.
pub fn name_of(dtype: DLDataType) -> String {
    let DLDataType { code, bits, lanes } = dtype;
    match CODES.get(usize::from(code.0)) {
        Some(name) if lanes == 1 => format!("{name}{bits}"),
        Some(name) => format!("{name}{bits}x{lanes}"),
        None => format!("DLPack type code {} of {bits} bits", code.0),
    }
}

/// True if the processor addresses memory there: the host's, or what CUDA has pinned of it.
pub fn is_on_host(device: DLDevice) -> bool {
    matches!(device.device_type, DLDeviceType::CPU | DLDeviceType::CUDAHOST)
}

/// The name of a place in messages, as `__dlpack_device__` says it.
pub fn place_name(device: DLDevice) -> String {
    format!("device ({}, {})", device.device_type.0, device.device_id)
}
