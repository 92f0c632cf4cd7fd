//! Trials of an adapter: which operations it rounds correctly, and what it does with subnormals. Vulkan,
//! Metal and DX12 allow division, square root and fused multiply-add to be off and subnormals to be flushed,
//! and no driver says what its own do.

use partita_kernels::wgsl::WgslTarget;
use partita_kernels::{
    BinaryOp, Builder, CompareOp, DType, Launch, Subnormals, UnaryOp, Value, Verified, View,
};

use super::gpu::WgpuDevice;
use crate::device::SubnormalTrial;
use crate::device::wgpu::error::WgpuError;

/// Points of a trial whose operands lie around the least normal number.
const TINY: u64 = 4096;
/// Points of a trial: behind those, operands of all exponents.
const POINTS: u64 = TINY + 12_288;
/// Points of a trial of quotients: behind those, some whose results lie next to the middle of two floats.
const QUOTIENTS: u64 = 1 << 20;

/// An operation under test, on the device and on the host.
#[derive(Clone, Copy)]
struct Trial {
    name: &'static str,
    operation: fn(&mut Builder, [Value; 3]) -> Value,
    on_f32: fn([f32; 3]) -> f32,
    on_f64: fn([f64; 3]) -> f64,
}

/// An operation that the host writes alike for both types.
macro_rules! trial {
    ($name:literal, $k:ident, $operands:pat => $operation:expr, $host:expr) => {
        Trial {
            name: $name,
            operation: |$k, $operands| $operation,
            on_f32: |$operands| $host,
            on_f64: |$operands| $host,
        }
    };
}

/// A condition as a number.
macro_rules! condition {
    ($name:literal, $op:ident, $a:ident, $b:ident => $host:expr) => {
        Trial {
            name: $name,
            operation: |k, [$a, $b, _]| {
                let (dtype, condition) = (k.dtype($a), k.compare(CompareOp::$op, $a, $b));
                k.cast(condition, dtype)
            },
            on_f32: |[$a, $b, _]| f32::from(u8::from($host)),
            on_f64: |[$a, $b, _]| f64::from(u8::from($host)),
        }
    };
}

/// The operations that show whether subnormals are flushed.
const ARITHMETIC: [Trial; 3] = [
    trial!("+", k, [a, b, _] => k.binary(BinaryOp::Add, a, b), a + b),
    trial!("-", k, [a, b, _] => k.binary(BinaryOp::Sub, a, b), a - b),
    trial!("*", k, [a, b, _] => k.binary(BinaryOp::Mul, a, b), a * b),
];
const DIVISION: Trial = trial!("/", k, [a, b, _] => k.binary(BinaryOp::Div, a, b), a / b);
const SQRT: Trial = trial!("sqrt", k, [a, ..] => k.unary(UnaryOp::Sqrt, a), a.sqrt());
const FMA: Trial = trial!("fma", k, [a, b, c] => k.fma(a, b, c), a.mul_add(b, c));
/// The operations that never flush them.
const COMPARISONS: [Trial; 5] = [
    condition!("<", Lt, a, b => a < b),
    condition!("<=", Le, a, b => a <= b),
    condition!("==", Eq, a, b => a == b),
    trial!("floor", k, [a, ..] => k.unary(UnaryOp::Floor, a), a.floor()),
    trial!("ceil", k, [a, ..] => k.unary(UnaryOp::Ceil, a), a.ceil()),
];
const CONVERSIONS: [Trial; 2] = [through_f64::<100>(), through_f64::<-100>()];

/// A product with a power of two, as f64.
const fn through_f64<const POWER: i32>() -> Trial {
    Trial {
        name: if POWER > 0 { "cast to f64" } else { "cast from f64" },
        operation: |k, [a, ..]| {
            let (wide, factor) = (k.cast(a, DType::F64), k.float(DType::F64, 2f64.powi(POWER)));
            let product = k.binary(BinaryOp::Mul, wide, factor);
            k.cast(product, DType::F32)
        },
        on_f32: |[a, ..]| (f64::from(a) * 2f64.powi(POWER)) as f32,
        on_f64: |[a, ..]| a,
    }
}

/// The finding from all results of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Exact,
    /// Exact, with zeros in place of subnormal operands and results.
    Flushed,
    Wrong,
}

/// The n-th operand of point `i`: all exponents, mantissas without pattern.
fn operand(dtype: DType, i: u64, n: u64) -> u64 {
    let random = (i * 3 + n + 1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(29)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let (sign, at, row) = (random >> 63, i, i % 256);
    // Zeros, powers of two and the least numbers among the first.
    let mask =
        if at < TINY { [0, 1 << 20, u64::MAX, u64::MAX][(random >> 58) as usize % 4] } else { u64::MAX };
    let mantissa = random & mask;
    if i >= POINTS && i.is_multiple_of(2) && dtype == DType::F32 {
        return near_middle(i, n).into();
    }
    let exponent = match n {
        _ if at < TINY => [0, 0, 1, 2, 26, 127, 128, 240][(at >> (3 * n)) as usize % 8],
        0 => row,
        // Near the first, so that quotients and sums are normal numbers, subnormals and zeros alike.
        1 => (row + random % 160) % 256,
        _ => (2 * row + random % 80 + 48) % 256,
    };
    match dtype {
        DType::F64 => {
            let exponent = if at < TINY { exponent } else { exponent * 8 + random % 8 };
            (sign << 63) | (exponent << 52) | (mantissa & 0xf_ffff_ffff_ffff)
        }
        _ => (sign << 31) | (exponent << 23) | ((mantissa >> 20) & 0x7f_ffff),
    }
}

/// The n-th operand where a quotient or a square root lies next to the middle of two floats: the dividend is
/// its product with the divisor or with itself, rounded. The third cancels the product of the others.
fn near_middle(i: u64, n: u64) -> u32 {
    let of = |k: u64| {
        let random = (i + k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
        f32::from_bits(0x3f80_0000 | (random.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 41) as u32)
    };
    let (divisor, middle) = (of(0), f64::from(of(1)) + 2f64.powi(-24));
    let dividend = (middle * if i.is_multiple_of(4) { middle } else { f64::from(divisor) }) as f32;
    [dividend, divisor, -dividend * divisor][n as usize].to_bits()
}

/// The bits that the host gets, and those where subnormals are flushed; NaN as one pattern.
fn expected(trial: &Trial, dtype: DType, i: u64) -> [u64; 2] {
    [false, true].map(|flush| {
        let operands = [0, 1, 2].map(|n| flushed(dtype, operand(dtype, i, n), flush));
        let bits = match dtype {
            DType::F64 => (trial.on_f64)(operands.map(f64::from_bits)).to_bits(),
            _ => (trial.on_f32)(operands.map(|bits| f32::from_bits(bits as u32))).to_bits().into(),
        };
        canonical(dtype, flushed(dtype, bits, flush))
    })
}

fn is_subnormal(dtype: DType, bits: u64) -> bool {
    match dtype {
        DType::F64 => f64::from_bits(bits).is_subnormal(),
        _ => f32::from_bits(bits as u32).is_subnormal(),
    }
}

fn flushed(dtype: DType, bits: u64, flush: bool) -> u64 {
    let sign = if dtype == DType::F64 { 1 << 63 } else { 1 << 31 };
    if flush && is_subnormal(dtype, bits) { bits & sign } else { bits }
}

/// The treatment by an operation of a type of subnormal operands, and of subnormal results of others.
fn treatment(trial: &Trial, dtype: DType, given: &[u64]) -> SubnormalTrial {
    let found = |of_results: bool| {
        let (mut is_kept, mut is_flushed) = (true, true);
        for (i, &given) in (0..).zip(given) {
            let [kept, flushed] = expected(trial, dtype, i);
            let is_result = is_subnormal(dtype, kept);
            let from_one = (0..3).any(|n| is_subnormal(dtype, operand(dtype, i, n)));
            if kept != flushed && is_result == of_results && from_one != of_results {
                is_kept &= given == kept;
                is_flushed &= given == flushed;
            }
        }
        match (is_kept, is_flushed) {
            (true, _) => Subnormals::Kept,
            (false, true) => Subnormals::Flushed,
            (false, false) => Subnormals::Unspecified,
        }
    };
    SubnormalTrial { operation: trial.name, dtype, operands: found(false), results: found(true) }
}

fn canonical(dtype: DType, bits: u64) -> u64 {
    let is_nan = match dtype {
        DType::F64 => f64::from_bits(bits).is_nan(),
        _ => f32::from_bits(bits as u32).is_nan(),
    };
    if is_nan { u64::MAX } else { bits }
}

/// The finding from bits of results, compared with the `expected` ones.
fn verdict(results: impl Iterator<Item = ([u64; 2], u64)>) -> Verdict {
    let (mut is_exact, mut is_flushed) = (true, true);
    for ([kept, flushed], given) in results {
        is_exact &= given == kept;
        // Rounded before or after it is found to be too small.
        let is_least = flushed & 0x7fff_ffff == f32::MIN_POSITIVE.to_bits().into();
        is_flushed &= given == flushed || is_least && given == flushed & 0x8000_0000;
    }
    match (is_exact, is_flushed) {
        (true, _) => Verdict::Exact,
        (false, true) => Verdict::Flushed,
        (false, false) => Verdict::Wrong,
    }
}

/// A kernel of three operands and the number of the operation whose result it stores.
fn kernel(trials: &[Trial], dtype: DType) -> Option<Verified> {
    let mut k = Builder::new("exactness", 2);
    let inputs = [dtype, dtype, dtype, DType::I32].map(|dtype| k.input(dtype));
    let output = k.output(dtype);
    let [a, b, c, number] = inputs.map(|p| k.load(p, &[0, 0]));
    let mut result = a;
    for (n, trial) in trials.iter().enumerate() {
        let (own, at) = ((trial.operation)(&mut k, [a, b, c]), k.int(DType::I32, n as i64));
        let is_own = k.compare(CompareOp::Eq, number, at);
        result = k.select(is_own, own, result);
    }
    k.elementwise(&[(output, result)]).ok()
}

impl WgpuDevice {
    /// The target whose operations are the driver's own.
    fn native(&self) -> WgslTarget {
        WgslTarget {
            exact_comparisons: true,
            exact_division: true,
            exact_sqrt: true,
            exact_fma: true,
            exact_f64: true,
            exact_fma64: true,
            ..self.assumed
        }
    }

    /// The treatment of subnormals by the driver's own operations; none of a type that it lacks.
    pub(super) fn treatments(&self) -> Vec<SubnormalTrial> {
        let (native, quotients) = (self.native(), [DIVISION, SQRT, FMA]);
        let conversions = if native.f64 { &CONVERSIONS[..] } else { &[] };
        let single = [&ARITHMETIC[..], &COMPARISONS, conversions, &quotients].concat();
        let double = if native.f64 { [&ARITHMETIC[..], &quotients].concat() } else { Vec::new() };
        let of = |(trials, dtype): (Vec<Trial>, DType)| {
            let given = self.results(&trials, dtype, POINTS, &native).unwrap_or_default();
            let found = |(number, trial): (usize, &Trial)| {
                given.get(number).map(|given| treatment(trial, dtype, given))
            };
            trials.iter().enumerate().filter_map(found).collect::<Vec<_>>()
        };
        [(single, DType::F32), (double, DType::F64)].into_iter().flat_map(of).collect()
    }

    /// The target with what this adapter was found to do. Of a cautious device only what it does with
    /// subnormals.
    pub(super) fn measure(&self) -> WgslTarget {
        let native = self.native();
        let of = |trials: &[Trial], dtype, points, target| {
            let verdicts = self.verdicts(trials, dtype, points, target);
            verdicts.unwrap_or_else(|_| vec![Verdict::Wrong; trials.len()])
        };
        let conversions = if native.f64 { &CONVERSIONS[..] } else { &[] };
        let others = [&ARITHMETIC[..], &COMPARISONS, conversions].concat();
        let others = of(&others, DType::F32, POINTS, &native);
        let (arithmetic, others) = others.split_at(ARITHMETIC.len());
        let (subnormals, like) = match *arithmetic {
            [Verdict::Flushed, Verdict::Flushed, Verdict::Flushed] => (Subnormals::Flushed, Verdict::Flushed),
            [Verdict::Exact, Verdict::Exact, Verdict::Exact] => (Subnormals::Kept, Verdict::Exact),
            _ => (Subnormals::Unspecified, Verdict::Exact),
        };
        let known = WgslTarget { subnormals, ..self.assumed };
        if self.cautious {
            return known;
        }
        let quotients = of(&[DIVISION, SQRT, FMA], DType::F32, QUOTIENTS, &native);
        let [division, sqrt, fma] = [0, 1, 2].map(|n| quotients[n] == like);
        let near = WgslTarget {
            near_inverses: true,
            subnormals,
            exact_division: false,
            exact_sqrt: false,
            ..native
        };
        let all = |verdicts: Vec<Verdict>, like| verdicts.iter().all(|&v| v == like);
        let double =
            |trials: &[Trial]| native.f64 && all(of(trials, DType::F64, POINTS, &native), Verdict::Exact);
        WgslTarget {
            exact_comparisons: others.iter().all(|&verdict| verdict == Verdict::Exact),
            exact_division: division,
            exact_sqrt: sqrt,
            exact_fma: fma,
            near_inverses: !(division && sqrt)
                && all(of(&[DIVISION, SQRT], DType::F32, QUOTIENTS, &near), like),
            exact_sums64: !native.f64 || double(&ARITHMETIC),
            exact_f64: double(&[DIVISION, SQRT]),
            exact_fma64: double(&[FMA]),
            ..known
        }
    }

    /// The findings for operations that are written for a target.
    fn verdicts(
        &self,
        trials: &[Trial],
        dtype: DType,
        points: u64,
        target: &WgslTarget,
    ) -> Result<Vec<Verdict>, WgpuError> {
        let results = self.results(trials, dtype, points, target)?;
        let of = |(trial, given): (&Trial, &Vec<u64>)| {
            verdict((0..).zip(given).map(|(i, &given)| (expected(trial, dtype, i), given)))
        };
        Ok(trials.iter().zip(&results).map(of).collect())
    }

    /// The results of operations at each point when they are written for a target; NaN as one pattern.
    fn results(
        &self,
        trials: &[Trial],
        dtype: DType,
        points: u64,
        target: &WgslTarget,
    ) -> Result<Vec<Vec<u64>>, WgpuError> {
        let Some(kernel) = kernel(trials, dtype) else {
            // No bits are expected to be these.
            return Ok(vec![vec![u64::MAX - 1]; trials.len()]);
        };
        let program = self.compile_for(&kernel, target)?;
        let (count, size) = (trials.len(), dtype.size_bytes());
        let n = points * count as u64;
        let bytes = |which: u64| -> Vec<u8> {
            match which {
                3 => (0..count as u32).flat_map(u32::to_le_bytes).collect(),
                _ => (0..points)
                    .flat_map(|i| operand(dtype, i, which).to_le_bytes().into_iter().take(size))
                    .collect(),
            }
        };
        let mut buffers = Vec::new();
        for which in 0..4 {
            let bytes = bytes(which);
            buffers.push(self.new_buffer(bytes.len() as u64)?);
            self.write(&buffers[which as usize], 0, &bytes)?;
        }
        buffers.push(self.new_buffer(n * size as u64)?);
        let view = |strides: [i64; 2]| View { offset: 0, strides: strides.to_vec() };
        let mut views = vec![view([0, 1]); 3];
        views.extend([view([1, 0]), view([points as i64, 1])]);
        let launch = Launch {
            extents: vec![count, points as usize],
            origin: vec![0, 0],
            views,
            arguments: Vec::new(),
        };
        self.queue_job(&(&program, &launch, buffers.iter().collect()))?;
        let mut results = vec![0; n as usize * size];
        self.read(&buffers[4], 0, &mut results)?;
        let given = |bytes: &[u8]| {
            let mut bits = [0; 8];
            bits[..size].copy_from_slice(bytes);
            canonical(dtype, u64::from_le_bytes(bits))
        };
        let of = |results: &[u8]| results.chunks_exact(size).map(given).collect();
        Ok(results.chunks_exact(points as usize * size).map(of).collect())
    }
}
