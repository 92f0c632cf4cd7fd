//! Strided and transposed operands: packed tile by tile into contiguous buffers.

mod copying;
mod operands;
mod rectangles;
#[cfg(target_arch = "x86_64")]
mod transpose;

pub(super) use operands::PackedLaunch;
