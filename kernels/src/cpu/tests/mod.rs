//! The CPU engine against the definition ([`crate::interpret`]): every operation, type, operand kind, form,
//! size and instruction set.

mod forms;
mod operands;
mod operations;
mod random;
mod reductions;
mod rows;

use super::launch::Tuning;
use super::program::Instructions;
use super::{Memory, Program};
use crate::dtype::{DType, Scalar};
use crate::interpret;
use crate::ir::{Launch, View};
use crate::verify::Verified;

/// Sizes that make small launches take every path: several threads, tasks, segments, chunks.
const SMALL: Tuning = Tuning {
    stream_above_bytes: usize::MAX,
    thread_steps: 1,
    waking_steps: 1,
    task_points: 200,
    segment_points: 300,
    partials: 1 << 20,
    chunk: 128,
    fold_block: 64,
    fold_strip: 48,
    packed_points: 1,
};

/// A kernel, a launch, and the bit patterns of its memory.
struct Case {
    kernel: Verified,
    launch: Launch,
    memory: Vec<Vec<u64>>,
}

/// A buffer in memory form, `shift` bytes off its alignment.
struct Buffer {
    lines: Vec<u64>,
    shift: usize,
    dtype: DType,
    len: usize,
}

impl Buffer {
    fn new(dtype: DType, elements: &[u64], shift: usize) -> Buffer {
        let size = dtype.size_bytes();
        let mut buffer = Buffer {
            lines: vec![0; (elements.len() * size + shift).div_ceil(8) + 1],
            shift,
            dtype,
            len: elements.len(),
        };
        for (k, bits) in elements.iter().enumerate() {
            // SAFETY: the buffer has room for `len` elements behind the shift.
            unsafe { buffer.ptr().add(k * size).copy_from_nonoverlapping(bits.to_le_bytes().as_ptr(), size) };
        }
        buffer
    }

    fn ptr(&mut self) -> *mut u8 {
        self.lines.as_mut_ptr().cast::<u8>().wrapping_add(self.shift)
    }

    fn elements(&mut self) -> Vec<u64> {
        let (size, ptr) = (self.dtype.size_bytes(), self.ptr());
        let element = |k: usize| {
            let mut bytes = [0; 8];
            // SAFETY: the buffer has room for `len` elements behind the shift.
            unsafe { bytes.as_mut_ptr().copy_from_nonoverlapping(ptr.add(k * size), size) };
            u64::from_le_bytes(bytes)
        };
        (0..self.len).map(element).collect()
    }
}

impl Case {
    /// The memory after the launch, by the definition.
    fn expected(&self) -> Vec<Vec<u64>> {
        let mut memory = self.memory.clone();
        interpret::run(&self.kernel, &self.launch, &mut memory).expect("the launch fits");
        memory
    }

    /// The memory that a program leaves.
    fn outcome(&self, program: &Program, threads: usize, shift: usize) -> Vec<Vec<u64>> {
        let params = &self.kernel.kernel().params;
        let mut buffers: Vec<Buffer> =
            self.memory.iter().zip(params).map(|(m, p)| Buffer::new(p.dtype, m, shift)).collect();
        let memory: Vec<Memory> = buffers.iter_mut().map(|b| Memory { ptr: b.ptr(), len: b.len }).collect();
        // SAFETY: the buffers are ours, apart, and as long as they say.
        unsafe { program.run(&self.launch, &memory, threads) }.expect("the launch fits");
        buffers.iter_mut().map(Buffer::elements).collect()
    }

    /// Runs the case in every way and compares all memory, also what must stay untouched.
    fn check(&self) {
        let expected = self.expected();
        for level in Instructions::available() {
            for (tuning, threads, shift) in [
                (SMALL, 1, 0),
                (SMALL, 2, 16),
                (Tuning { stream_above_bytes: 0, ..SMALL }, 1, 8),
                (Tuning { stream_above_bytes: 0, ..Tuning::DEFAULT }, 2, 0),
                (Tuning::DEFAULT, 1, 1),
            ] {
                let program = Program::compile_for(&self.kernel, level, tuning);
                let found = self.outcome(&program, threads, shift);
                self.compare(
                    &expected,
                    &found,
                    &format!("{level:?} {tuning:?} threads {threads} shift {shift}"),
                );
            }
        }
    }

    fn compare(&self, expected: &[Vec<u64>], found: &[Vec<u64>], how: &str) {
        for (p, param) in self.kernel.kernel().params.iter().enumerate() {
            for (k, (&e, &f)) in expected[p].iter().zip(&found[p]).enumerate() {
                let value = |bits| Scalar { dtype: param.dtype, bits };
                let nan = |bits| param.dtype.is_float() && value(bits).to_f64().is_nan();
                assert!(
                    e == f || nan(e) && nan(f),
                    "{}\n{:?}\np{p}[{k}]: expected {}, found {} ({how})",
                    self.kernel,
                    self.launch,
                    value(e),
                    value(f)
                );
            }
        }
    }
}

/// A view of consecutive elements in C order.
fn dense(extents: &[usize]) -> View {
    strided(extents, 0, 1)
}

/// A view whose innermost neighbours are `step` elements apart, from element `offset`.
fn strided(extents: &[usize], offset: i64, step: i64) -> View {
    let mut strides = vec![0; extents.len()];
    let mut stride = step;
    for (s, &extent) in strides.iter_mut().zip(extents).rev() {
        *s = stride;
        stride *= extent.max(1) as i64;
    }
    View { offset, strides }
}

/// A launch over `extents` from the origin, without arguments.
fn launch(extents: &[usize], views: Vec<View>) -> Launch {
    Launch { extents: extents.to_vec(), origin: vec![0; extents.len()], views, arguments: vec![] }
}

/// A small pseudo-random generator (Knuth's constants, upper bits).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let x = self.0 ^ self.0 >> 33;
        x.wrapping_mul(0xff51_afd7_ed55_8ccd) ^ x >> 29
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n.max(1)
    }
}

/// Values on which operations go wrong, as bit patterns.
fn hard(dtype: DType) -> Vec<u64> {
    let float = |v: f64| Scalar::from_f64(dtype, v).bits;
    let int = |v: i64| Scalar::from_i64(dtype, v).bits;
    let width = 8 * dtype.size_bytes();
    if dtype == DType::Bool {
        return vec![0, 1];
    }
    if !dtype.is_float() {
        let top = 1u64 << (width - 1);
        return vec![0, int(1), int(2), int(-1), top, top - 1, int(3), int(-7), int(100), int(33), top | 5];
    }
    let one = float(1.0);
    let numbers = [
        0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, 0.1, -7.75, 1e-5, 100.0, 127.5, 255.9, 1e4, -3e38,
        1e19,
    ];
    let mut bits: Vec<u64> = numbers.iter().map(|&v| float(v)).collect();
    let (inf, sign) = (float(f64::INFINITY), 1u64 << (width - 1));
    // Infinities, NaNs, the least and largest subnormals and normals, neighbours of one.
    bits.extend([inf, inf | sign, inf + 1, inf | sign | inf >> 3, 1, sign | 1, inf - 1, one + 1, one - 1]);
    bits.extend([0x400, 0x3ff, 0x80, 0x7f, 0x7f_ffff, 0x80_0000].map(|b: u64| b & (sign - 1)));
    bits
}

/// `count` values: hard ones and random bit patterns.
fn values(dtype: DType, count: usize, random: &mut Random) -> Vec<u64> {
    let hard = hard(dtype);
    let mask = u64::MAX >> (64 - 8 * dtype.size_bytes());
    let value = |_| match (dtype, random.below(4)) {
        (DType::Bool, _) | (_, 0 | 1) => hard[random.below(hard.len())],
        (d, 2) if d.is_float() => Scalar::from_f64(d, (random.below(4000) as f64 - 2000.0) / 16.0).bits,
        _ => random.next() & mask,
    };
    (0..count).map(value).collect()
}
