//! Which operations an adapter rounds correctly: measured, because Vulkan, Metal and DX12 allow
//! division, square root and fused multiply-add to be off, and no driver says whether its own are.

use partita_kernels::wgsl::WgslTarget;
use partita_kernels::{BinaryOp, Builder, DType, Launch, UnaryOp, Value, Verified, View};

use super::gpu::WgpuDevice;
use crate::device::wgpu::error::WgpuError;

/// The exponents of the operands tried, around every power of two that a float reaches.
const ROWS: u64 = 256;
/// Mantissas tried per exponent.
const COLUMNS: u64 = 64;

/// An operation under test, on the device and on the host.
struct Trial {
    dtype: DType,
    operation: fn(&mut Builder, [Value; 3]) -> Value,
    on_f32: fn([f32; 3]) -> f32,
    on_f64: fn([f64; 3]) -> f64,
}

const DIVISION: Trial = Trial {
    dtype: DType::F32,
    operation: |k, [a, b, _]| k.binary(BinaryOp::Div, a, b),
    on_f32: |[a, b, _]| a / b,
    on_f64: |[a, b, _]| a / b,
};

const SQRT: Trial = Trial {
    dtype: DType::F32,
    operation: |k, [a, ..]| k.unary(UnaryOp::Sqrt, a),
    on_f32: |[a, ..]| a.sqrt(),
    on_f64: |[a, ..]| a.sqrt(),
};

const FMA: Trial = Trial {
    dtype: DType::F32,
    operation: |k, [a, b, c]| k.fma(a, b, c),
    on_f32: |[a, b, c]| a.mul_add(b, c),
    on_f64: |[a, b, c]| a.mul_add(b, c),
};

impl Trial {
    fn double(self) -> Trial {
        Trial { dtype: DType::F64, ..self }
    }

    fn kernel(&self) -> Option<Verified> {
        let mut k = Builder::new("exactness", 1);
        let inputs = [k.input(self.dtype), k.input(self.dtype), k.input(self.dtype)];
        let output = k.output(self.dtype);
        let values = inputs.map(|p| k.load(p, &[0]));
        let result = (self.operation)(&mut k, values);
        k.elementwise(&[(output, result)]).ok()
    }

    /// The bits the host gets; NaN as one pattern.
    fn expected(&self, operands: [u64; 3]) -> u64 {
        match self.dtype {
            DType::F64 => canonical64((self.on_f64)(operands.map(f64::from_bits))),
            _ => canonical32((self.on_f32)(operands.map(|b| f32::from_bits(b as u32)))),
        }
    }

    /// The bits the device gave; NaN as one pattern.
    fn given(&self, bytes: &[u8]) -> u64 {
        let mut bits = [0; 8];
        bits[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(bits);
        match self.dtype {
            DType::F64 => canonical64(f64::from_bits(bits)),
            _ => canonical32(f32::from_bits(bits as u32)),
        }
    }
}

fn canonical32(value: f32) -> u64 {
    u64::from(if value.is_nan() { f32::NAN } else { value }.to_bits())
}

fn canonical64(value: f64) -> u64 {
    if value.is_nan() { f64::NAN } else { value }.to_bits()
}

/// The n-th operand of trial number `i`: all exponents, mantissas without pattern.
fn operand(dtype: DType, i: u64, n: u64) -> u64 {
    let random = (i * 3 + n + 1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(29)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let exponent = match n {
        0 => i % ROWS,
        // Near the first, so that quotients and sums are normal numbers, subnormals and zeros alike.
        1 => (i % ROWS + random % 160) % ROWS,
        _ => (2 * (i % ROWS) + random % 80 + 48) % ROWS,
    };
    let sign = random >> 63;
    match dtype {
        DType::F64 => {
            (sign << 63) | (((exponent * 8 + random % 8) % 2048) << 52) | (random & 0xf_ffff_ffff_ffff)
        }
        _ => (sign << 31) | (exponent << 23) | ((random >> 20) & 0x7f_ffff),
    }
}

impl WgpuDevice {
    /// The target with what this adapter was found to round correctly. A cautious device measures
    /// nothing.
    pub(super) fn measure(&self) -> WgslTarget {
        let assumed = self.assumed;
        if self.cautious {
            return assumed;
        }
        let exact = |trial: Trial| self.passes(&trial, &assumed).unwrap_or(false);
        let double = assumed.f64;
        WgslTarget {
            exact_division: exact(DIVISION),
            exact_sqrt: exact(SQRT),
            exact_fma: exact(FMA),
            exact_f64: double && exact(DIVISION.double()) && exact(SQRT.double()),
            exact_fma64: double && exact(FMA.double()),
            ..assumed
        }
    }

    /// Does every trial give the host's bits, when the adapter's own operation is used?
    fn passes(&self, trial: &Trial, assumed: &WgslTarget) -> Result<bool, WgpuError> {
        let Some(kernel) = trial.kernel() else { return Ok(false) };
        let own = WgslTarget {
            exact_division: true,
            exact_sqrt: true,
            exact_fma: true,
            exact_f64: true,
            exact_fma64: true,
            ..*assumed
        };
        let program = self.compile_for(&kernel, &own)?;
        let (n, size) = (ROWS * COLUMNS, trial.dtype.size_bytes());
        let buffers = (0..4).map(|_| self.new_buffer(n * size as u64)).collect::<Result<Vec<_>, _>>()?;
        for (which, buffer) in buffers.iter().enumerate().take(3) {
            let bytes =
                (0..n).flat_map(|i| operand(trial.dtype, i, which as u64).to_le_bytes()[..size].to_vec());
            self.write(buffer, 0, &bytes.collect::<Vec<u8>>())?;
        }
        let views = vec![View { offset: 0, strides: vec![1] }; 4];
        let launch = Launch { extents: vec![n as usize], origin: vec![0], views, arguments: Vec::new() };
        self.queue_job(&(&program, &launch, buffers.iter().collect()))?;
        let mut results = vec![0; n as usize * size];
        self.read(&buffers[3], 0, &mut results)?;
        Ok((0..n).zip(results.chunks(size)).all(|(i, bytes)| {
            let operands = [0, 1, 2].map(|which| operand(trial.dtype, i, which));
            trial.expected(operands) == trial.given(bytes)
        }))
    }
}
