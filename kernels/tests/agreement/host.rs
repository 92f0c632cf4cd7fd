//! Launches on the host, on memory of a test. The unsafe code of the kernels' tests is in this folder.
//!
//! Contract, which [`Program::run`] requires: memory is exclusive slices, which are apart, live during the
//! call, and as long as the launch is checked to need; every bit pattern of their elements is valid.

use partita_kernels::cpu::{Memory, Program};
use partita_kernels::{Launch, Verified};

/// Elements of which every bit pattern is valid.
pub trait Number {}
impl Number for u8 {}
impl Number for f32 {}
impl Number for f64 {}

/// Runs a program of `kernel` on one thread; `memory` has one slice per parameter.
pub fn run_on_host<T: Number>(
    program: &Program,
    kernel: &Verified,
    launch: &Launch,
    memory: &mut [&mut [T]],
) {
    let params = &kernel.kernel().params;
    assert_eq!(memory.len(), params.len());
    let slices = memory.iter_mut().zip(params);
    let memory = slices.map(|(slice, param)| {
        let size = param.dtype.size_bytes();
        let is_aligned = slice.as_ptr().addr().is_multiple_of(size);
        assert!(is_aligned || slice.is_empty(), "memory is aligned to its elements");
        Memory { len: size_of_val(&**slice) / size, ptr: slice.as_mut_ptr().cast() }
    });
    // SAFETY: the contract above; `run` checks the launch against the lengths.
    unsafe { program.run(launch, &memory.collect::<Vec<_>>(), 1) }.expect("the launch fits the memory");
}
