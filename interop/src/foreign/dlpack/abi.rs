//! `dlpack.h` 1.0 in Rust, as far as it is used here.

use std::ffi::{CStr, c_void};
use std::fmt;
use std::ptr::NonNull;

use partita::DType;

use crate::element::Element;

/// The name of a capsule that holds a [`Legacy`] struct nobody has taken yet.
pub const LEGACY: &CStr = c"dltensor";
/// The same after it was taken.
pub const USED_LEGACY: &CStr = c"used_dltensor";
/// The name of a capsule that holds a [`Versioned`] struct nobody has taken yet.
pub const VERSIONED: &CStr = c"dltensor_versioned";
/// The same after it was taken.
pub const USED_VERSIONED: &CStr = c"used_dltensor_versioned";

/// The elements may not be written.
pub const READ_ONLY: u64 = 1;
/// The producer made a copy for this consumer.
pub const IS_COPIED: u64 = 2;

/// Where memory is: a kind and a number.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Location {
    /// One of the constants below.
    pub kind: i32,
    /// Counted from 0 among those of the kind.
    pub number: i32,
}

impl Location {
    /// This process's memory.
    pub const HOST: Location = Location { kind: 1, number: 0 };
    /// An NVIDIA GPU's memory.
    pub const CUDA: i32 = 2;
    /// Host memory that CUDA has pinned: readable like any other.
    pub const PINNED: i32 = 3;
    /// WebGPU.
    pub const WEBGPU: i32 = 15;
}

/// The kinds of elements by their codes, as NumPy calls them.
const CODES: [&str; 7] = ["int", "uint", "float", "opaque", "bfloat", "complex", "bool"];

/// An element type.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ElementType {
    /// A place in the table of codes.
    pub code: u8,
    /// Of one element.
    pub bits: u8,
    /// Elements per vector: always 1 here.
    pub lanes: u16,
}

impl ElementType {
    /// The DLPack form of an element.
    pub fn of(element: Element) -> ElementType {
        let code = match element {
            Element::Real(DType::I8 | DType::I16 | DType::I32 | DType::I64) => 0,
            Element::Real(DType::U8 | DType::U16 | DType::U32 | DType::U64) => 1,
            Element::Real(DType::F16 | DType::F32 | DType::F64) => 2,
            Element::Real(DType::BF16) => 4,
            Element::Complex(_) => 5,
            Element::Real(DType::Bool) => 6,
        };
        ElementType { code, bits: 8 * element.size_bytes() as u8, lanes: 1 }
    }

    /// The element, if it is one of ours.
    pub fn element(self) -> Option<Element> {
        Element::all().find(|&element| ElementType::of(element) == self)
    }
}

impl fmt::Display for ElementType {
    /// As NumPy calls it, such as `complex64`, and `float32x4` for vectors.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match CODES.get(usize::from(self.code)) {
            Some(name) => write!(f, "{name}{}", self.bits)?,
            None => return write!(f, "DLPack type code {} of {} bits", self.code, self.bits),
        }
        if self.lanes == 1 { Ok(()) } else { write!(f, "x{}", self.lanes) }
    }
}

/// `DLTensor`: strided memory, described.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Strided {
    /// The first element is `byte_offset` behind.
    pub data: *mut c_void,
    /// Where `data` is.
    pub location: Location,
    /// Number of dimensions.
    pub rank: i32,
    /// Of the elements.
    pub element: ElementType,
    /// `rank` extents.
    pub shape: *mut i64,
    /// `rank` distances in elements; null means C order.
    pub strides: *mut i64,
    /// In bytes.
    pub byte_offset: u64,
}

/// What a consumer calls when it needs the memory no longer.
pub type Deleter<H> = Option<unsafe extern "C" fn(*mut H)>;

/// `DLManagedTensor`, as it was before version 1.
#[repr(C)]
pub struct Legacy {
    /// The memory.
    pub array: Strided,
    /// The producer's own.
    pub owner: *mut c_void,
    /// Ends the loan.
    pub deleter: Deleter<Legacy>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
pub struct Versioned {
    /// Major and minor; another major number means another layout of what follows `deleter`.
    pub version: [u32; 2],
    /// The producer's own.
    pub owner: *mut c_void,
    /// Ends the loan.
    pub deleter: Deleter<Versioned>,
    /// [`READ_ONLY`] and [`IS_COPIED`].
    pub flags: u64,
    /// The memory.
    pub array: Strided,
}

/// Either of the two structs that carry an array.
pub trait Head: Sized {
    /// Of a capsule before and after it is taken.
    const NAMES: [&'static CStr; 2];
    /// A head for this memory. `flags` are lost where there is no room for them.
    fn new(array: Strided, flags: u64, deleter: unsafe extern "C" fn(*mut Self)) -> Self;
    /// The memory.
    fn array(&mut self) -> &mut Strided;
    /// What ends the loan.
    fn deleter(&self) -> Deleter<Self>;
    /// The major version, which is 1 for what has none.
    fn major(&self) -> u32;
}

impl Head for Legacy {
    const NAMES: [&'static CStr; 2] = [LEGACY, USED_LEGACY];
    fn new(array: Strided, _: u64, deleter: unsafe extern "C" fn(*mut Self)) -> Self {
        Legacy { array, owner: std::ptr::null_mut(), deleter: Some(deleter) }
    }
    fn array(&mut self) -> &mut Strided {
        &mut self.array
    }
    fn deleter(&self) -> Deleter<Self> {
        self.deleter
    }
    fn major(&self) -> u32 {
        1
    }
}

impl Head for Versioned {
    const NAMES: [&'static CStr; 2] = [VERSIONED, USED_VERSIONED];
    fn new(array: Strided, flags: u64, deleter: unsafe extern "C" fn(*mut Self)) -> Self {
        Versioned { version: [1, 0], owner: std::ptr::null_mut(), deleter: Some(deleter), flags, array }
    }
    fn array(&mut self) -> &mut Strided {
        &mut self.array
    }
    fn deleter(&self) -> Deleter<Self> {
        self.deleter
    }
    fn major(&self) -> u32 {
        self.version[0]
    }
}

/// Ends a loan that reached no consumer.
///
/// # Safety
/// `head` is alive, and nobody else will call its deleter.
pub unsafe fn release<H: Head>(head: NonNull<H>) {
    // SAFETY: alive, as the caller says.
    if let Some(deleter) = unsafe { head.as_ref() }.deleter() {
        // SAFETY: the only call, as the caller says.
        unsafe { deleter(head.as_ptr()) }
    }
}
