//! Comparison of a kernel's results on two devices: elements, the first that differs, memory and
//! launches. Included by the tests of the kernels and of the engine; knows neither a machine nor a device.
#![allow(dead_code, unused_imports, missing_docs, clippy::unwrap_used)]

#[path = "../wgsl/cases.rs"]
pub mod cases;
mod host;
mod launches;
mod natural;

use partita_kernels::cpu::Program;
use partita_kernels::interpret::{self, ElementBits};
use partita_kernels::{Access, DType, Launch, LaunchError, Param, Scalar, Subnormals, Verified, View};

pub use host::run_on_host;
pub use launches::*;
pub use natural::nearest_sum;

/// The bytes of every parameter.
pub type Arrays = Vec<Vec<u8>>;

pub fn element(d: DType, bytes: &[u8], at: usize) -> Scalar {
    let size = d.size_bytes();
    let mut bits = [0; 8];
    bits[..size].copy_from_slice(&bytes[at * size..][..size]);
    Scalar { dtype: d, bits: u64::from_le_bytes(bits) }
}

/// Any NaN equals any NaN.
pub fn same(a: Scalar, b: Scalar) -> bool {
    a == b || (a.dtype.is_float() && a.to_f64().is_nan() && b.to_f64().is_nan())
}

/// The first element that differs, with what the inputs hold at the same place.
pub fn difference(kernel: &Verified, expected: &Arrays, given: &Arrays) -> Option<String> {
    let params = &kernel.kernel().params;
    for (p, param) in params.iter().enumerate() {
        let n = expected[p].len() / param.dtype.size_bytes();
        let at = |arrays: &Arrays, i| element(param.dtype, &arrays[p], i);
        let wrong: Vec<usize> = (0..n).filter(|&i| !same(at(expected, i), at(given, i))).collect();
        let Some(&i) = wrong.first() else { continue };
        let operands: Vec<String> = (params.iter().zip(expected))
            .filter(|(other, bytes)| other.access == Access::In && bytes.len() > i * other.dtype.size_bytes())
            .map(|(other, bytes)| element(other.dtype, bytes, i))
            .map(|s| format!("{s} ({:#x})", s.bits))
            .collect();
        let (e, g) = (at(expected, i), at(given, i));
        return Some(format!(
            "{}: p{p}[{i}] ({} of {n} differ) expected {e} ({:#x}) given {g} ({:#x}), {operands:?}",
            kernel.kernel().name,
            wrong.len(),
            e.bits,
            g.bits
        ));
    }
    None
}

/// The result of a launch by compiled loops, without machine code.
pub fn on_host(kernel: &Verified, launch: &Launch, arrays: &Arrays) -> Arrays {
    let mut arrays = arrays.clone();
    let mut memory: Vec<&mut [u8]> = arrays.iter_mut().map(Vec::as_mut_slice).collect();
    run_on_host(&Program::compile_loops(kernel), kernel, launch, &mut memory);
    arrays
}

/// Elements as bytes.
pub fn bytes(d: DType, bits: impl IntoIterator<Item = u64>) -> Vec<u8> {
    bits.into_iter().flat_map(|b| b.to_le_bytes()[..d.size_bytes()].to_vec()).collect()
}

/// Pseudo-random small integers as elements: sums of them are exact in every order.
pub fn small_numbers(d: DType, n: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Scalar::from_i64(d, (state >> 40) as i64 % 3).bits
    };
    bytes(d, (0..n).map(|_| next()))
}

/// Pseudo-random sevenths: products and sums of them are rounded, so that their order and every contraction
/// shows.
pub fn sevenths(d: DType, n: usize, seed: u64) -> Vec<u8> {
    let small = small_numbers(DType::I32, 3 * n, seed);
    let digit = |i: usize| element(DType::I32, &small, i).to_f64();
    let value = |i: usize| (9.0 * digit(3 * i) + 3.0 * digit(3 * i + 1) + digit(3 * i + 2)) / 7.0;
    bytes(d, (0..n).map(|i| Scalar::from_f64(d, value(i)).bits))
}

/// Strides of a contiguous array.
pub fn c_strides(extents: &[usize]) -> Vec<i64> {
    let mut strides = vec![1; extents.len()];
    for k in (1..extents.len()).rev() {
        strides[k - 1] = strides[k] * extents[k] as i64;
    }
    strides
}

/// What a device that may flush subnormals should have given, or what it gave where that is allowed: what
/// either definition gives if nothing is known, and a zero where one has a zero and the other a subnormal.
pub fn allowed(
    kernel: &Verified,
    subnormals: Subnormals,
    kept: &Arrays,
    mut flushed: Arrays,
    given: &Arrays,
) -> Arrays {
    if subnormals == Subnormals::Kept {
        return kept.clone();
    }
    for (p, param) in kernel.kernel().params.iter().enumerate() {
        let (d, size) = (param.dtype, param.dtype.size_bytes());
        let is_tiny = |value: Scalar| value.to_f64().abs() <= f32::MIN_POSITIVE.into();
        for i in 0..flushed[p].len() / size {
            let [one, other, is] = [kept, &flushed, given].map(|arrays| element(d, &arrays[p], i));
            let is_zero = matches!(d, DType::F32 | DType::BF16) && is.to_f64() == 0.0;
            let is_kept = subnormals == Subnormals::Unspecified && same(one, is);
            if is_kept || is_zero && is_tiny(one) && is_tiny(other) {
                flushed[p][i * size..][..size].copy_from_slice(&given[p][i * size..][..size]);
            }
        }
    }
    flushed
}

/// What the definition makes of the arrays.
pub fn by_definition(kernel: &Verified, launch: &Launch, arrays: &Arrays) -> Arrays {
    defined(interpret::run, kernel, launch, arrays)
}

/// The same on a device that flushes.
pub fn by_flushing(kernel: &Verified, launch: &Launch, arrays: &Arrays) -> Arrays {
    defined(interpret::run_flushed, kernel, launch, arrays)
}

type Run = fn(&Verified, &Launch, &mut [ElementBits]) -> Result<(), LaunchError>;

fn defined(run: Run, kernel: &Verified, launch: &Launch, arrays: &Arrays) -> Arrays {
    let params = &kernel.kernel().params;
    let bits = |(array, param): (&Vec<u8>, &Param)| {
        (0..array.len() / param.dtype.size_bytes()).map(|at| element(param.dtype, array, at).bits).collect()
    };
    let mut memory: Vec<ElementBits> = arrays.iter().zip(params).map(bits).collect();
    run(kernel, launch, &mut memory).unwrap();
    memory.into_iter().zip(params).map(|(bits, param)| bytes(param.dtype, bits)).collect()
}

/// A view of one dimension, one element after the other.
pub fn line(offset: i64) -> View {
    View { offset, strides: vec![1] }
}

/// A launch of one dimension over contiguous arrays.
pub fn flat(kernel: &Verified, n: usize) -> Launch {
    let views = kernel.kernel().params.iter().map(|_| line(0)).collect();
    Launch { extents: vec![n], origin: vec![0], views, arguments: vec![] }
}

/// Operands of a pointwise kernel: every pair of hard values; a third operand runs along differently.
pub fn operand_grid(kernel: &Verified) -> (usize, Arrays) {
    let params = &kernel.kernel().params;
    let operands = params.len() - 1;
    let values: Vec<Vec<u64>> = params.iter().map(|p| cases::hard_bits(p.dtype, 40)).collect();
    let widest = values[..operands].iter().map(Vec::len).max().unwrap();
    let n = if operands == 1 { widest } else { widest * widest };
    let pick = |p: usize, i: usize| {
        let own = &values[p];
        own[match (p, operands) {
            (0, 3) if own.len() == 2 => (i ^ (i / 7)) % 2,
            (0, _) => i % widest % own.len(),
            (1, _) => i / widest % own.len(),
            _ => (i * 31 + i / widest * 7) % own.len(),
        }]
    };
    let mut arrays: Arrays =
        (0..operands).map(|p| bytes(params[p].dtype, (0..n).map(|i| pick(p, i)))).collect();
    arrays.push(vec![0xa5; n * params[operands].dtype.size_bytes()]);
    (n, arrays)
}
