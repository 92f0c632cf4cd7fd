//! `PARTITA_CHECK=1`: every launch is repeated on a copy of its memory and the results are compared.
//!
//! Small launches are repeated by the definition of the IR ([`interpret`]). Larger ones, for which it is too
//! slow, run on the CPU engine without machine code, which the tests of `partita_kernels` hold against the
//! definition.
//!
//! If a device may flush subnormals ([`Device::subnormals`]), the definition runs with and without that.
//! An element may be what either gives; on a device that is known to flush, only what the definition with it
//! gives, or a zero where that has one and the other a subnormal.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use partita_kernels::{Access, DType, Launch, Scalar, Subnormals, cpu, interpret};

use crate::device::driver::Job;
use crate::device::handle::Device;
use crate::device::host::{self, HostMemory};
use crate::device::memory::{ALIGN_BYTES, Allocation};
use crate::error::{Error, Result};

/// Instructions of all points, and elements, up to which a launch is repeated by the definition.
const DEFINITION_STEPS: usize = 1 << 16;

static COMPARED: AtomicU64 = AtomicU64::new(0);

/// The number of launches of this process that were compared so far.
pub fn compared_launches() -> u64 {
    COMPARED.load(Ordering::Relaxed)
}

/// Runs jobs of which none writes what another reads or writes, and compares what they wrote.
pub(super) fn checked(device: &Device, jobs: &[Job], run: impl FnOnce() -> Result<()>) -> Result<()> {
    device.wait()?;
    let expected = Expected::of(device, jobs, false)?;
    let may_flush = device.subnormals() != Subnormals::Kept;
    let flushed = may_flush.then(|| Expected::of(device, jobs, true)).transpose()?;
    run()?;
    device.wait()?;
    jobs.iter().try_for_each(|job| expected.compare(flushed.as_ref(), device, job))?;
    COMPARED.fetch_add(jobs.len() as u64, Ordering::Relaxed);
    Ok(())
}

/// The memory of each allocation that jobs touch, as it should be after them. Several parameters, also of
/// several jobs, may be one allocation.
struct Expected(HashMap<u64, Copied>);

struct Copied {
    /// The first byte that is copied.
    start: u64,
    content: HostMemory,
}

/// The bytes of its allocation that a job touches as a parameter.
fn touched(job: &Job) -> Vec<Option<Range<u64>>> {
    let kernel = job.program.kernel();
    let elements = kernel.touched(&job.launch).into_iter().enumerate();
    let bytes = |(p, elements): (usize, Option<(i64, i64)>)| {
        let size = kernel.kernel().params[p].dtype.size_bytes() as u64;
        // Elements at computed places may be anywhere.
        let is_indexed = kernel.kernel().indexed_param() == Some(p as u32);
        let range = |(first, last)| first as u64 * size..(last as u64 + 1) * size;
        elements.map(|ends| if is_indexed { 0..job.memory[p].bytes } else { range(ends) })
    };
    elements.map(bytes).collect()
}

impl Expected {
    fn of(device: &Device, jobs: &[Job], flush: bool) -> Result<Expected> {
        let mut hulls: HashMap<u64, (&Allocation, Range<u64>)> = HashMap::new();
        for job in jobs {
            for (allocation, range) in job.memory.iter().zip(touched(job)) {
                let range = range.unwrap_or(0..0);
                let (_, hull) = hulls.entry(allocation.id).or_insert((allocation, range.clone()));
                if hull.is_empty() {
                    *hull = range;
                } else if !range.is_empty() {
                    *hull = hull.start.min(range.start)..hull.end.max(range.end);
                }
            }
        }
        let copied = |(id, (allocation, hull)): (u64, (&Allocation, Range<u64>))| {
            let start = hull.start / ALIGN_BYTES * ALIGN_BYTES;
            let bytes = hull.end.max(start + 1).next_multiple_of(ALIGN_BYTES) - start;
            let content = HostMemory::new(bytes).ok_or_else(|| refused(bytes))?;
            let mut there = vec![0; bytes as usize];
            device.download(allocation, start, &mut there)?;
            content.write(0, &there);
            Ok((id, Copied { start, content }))
        };
        let expected = Expected(hulls.into_iter().map(copied).collect::<Result<_>>()?);
        jobs.iter().try_for_each(|job| expected.repeat(job, flush))?;
        Ok(expected)
    }

    fn repeat(&self, job: &Job, flush: bool) -> Result<()> {
        let kernel = job.program.kernel();
        let mut launch = Launch::clone(&job.launch);
        let mut memory = Vec::with_capacity(job.memory.len());
        for ((allocation, view), param) in
            job.memory.iter().zip(&mut launch.views).zip(&kernel.kernel().params)
        {
            let copied = &self.0[&allocation.id];
            view.offset -= (copied.start / param.dtype.size_bytes() as u64) as i64;
            memory.push((&copied.content, param.dtype.size_bytes()));
        }
        let elements: usize = memory.iter().map(|(block, size)| block.bytes() / size).sum();
        // The CPU engine keeps subnormals.
        if !flush && launch.points() * kernel.kernel().body.len() + elements > DEFINITION_STEPS {
            return Ok(host::launch(&cpu::Program::compile_loops(kernel), &launch, memory.into_iter(), 1)?);
        }
        let before: Vec<interpret::ElementBits> =
            memory.iter().map(|(block, size)| elements_of(block, *size)).collect();
        let mut after = before.clone();
        let run = if flush { interpret::run_flushed } else { interpret::run };
        run(kernel, &launch, &mut after)?;
        // Parameters may share an allocation, so only elements that changed are written.
        for (((block, size), before), after) in memory.iter().zip(before).zip(after) {
            for (at, bits) in after.iter().enumerate().filter(|&(at, &bits)| bits != before[at]) {
                block.write(at * size, &bits.to_le_bytes()[..*size]);
            }
        }
        Ok(())
    }

    fn compare(&self, flushed: Option<&Expected>, device: &Device, job: &Job) -> Result<()> {
        let kernel = job.program.kernel().kernel();
        for (p, range) in touched(job).into_iter().enumerate() {
            let Some(range) = range.filter(|_| kernel.params[p].access != Access::In) else { continue };
            let (dtype, copied) = (kernel.params[p].dtype, &self.0[&job.memory[p].id]);
            let mut given = vec![0; (range.end - range.start) as usize];
            let first = (range.start - copied.start) as usize;
            let mut expected = vec![0; given.len()];
            device.download(&job.memory[p], range.start, &mut given)?;
            copied.content.read(first, &mut expected);
            let size = dtype.size_bytes();
            let element = |bytes: &[u8], at: usize| number(dtype, &bytes[at * size..][..size]);
            let mut elements = 0..given.len() / size;
            let wrong = match flushed {
                None => elements.find(|&at| !same(element(&expected, at), element(&given, at))),
                Some(flushed) => {
                    let (kept, is_known) = (expected.clone(), device.subnormals() == Subnormals::Flushed);
                    flushed.0[&job.memory[p].id].content.read(first, &mut expected);
                    elements.find(|&at| {
                        let of = |bytes: &[u8]| element(bytes, at);
                        !flushed_as(is_known, of(&kept), of(&expected), of(&given))
                    })
                }
            };
            if let Some(at) = wrong {
                let shown = |bytes: &[u8]| element(bytes, at).to_string();
                return Err(Error::Differs {
                    device: device.name().to_owned(),
                    kernel: kernel.name.clone(),
                    param: p,
                    element: range.start / size as u64 + at as u64,
                    expected: shown(&expected),
                    given: shown(&given),
                });
            }
        }
        Ok(())
    }
}

/// The elements of a block, of `size` bytes each.
fn elements_of(block: &HostMemory, size: usize) -> interpret::ElementBits {
    let mut bytes = vec![0; block.bytes()];
    block.read(0, &mut bytes);
    let element = |bytes: &[u8]| {
        let mut bits = [0; 8];
        bits[..size].copy_from_slice(bytes);
        u64::from_le_bytes(bits)
    };
    bytes.chunks_exact(size).map(element).collect()
}

fn refused(bytes: u64) -> Error {
    Error::OutOfMemory {
        device: "PARTITA_CHECK's copies on the host".to_owned(),
        asked_bytes: bytes,
        in_use_bytes: 0,
        limit: "the system's allocator refused".to_owned(),
    }
}

fn number(dtype: DType, bytes: &[u8]) -> Scalar {
    let mut bits = [0; 8];
    bits[..bytes.len()].copy_from_slice(bytes);
    Scalar { dtype, bits: u64::from_le_bytes(bits) }
}

/// The same bits, or both NaN.
fn same(a: Scalar, b: Scalar) -> bool {
    let is_nan = |value: Scalar| value.dtype.is_float() && value.to_f64().is_nan();
    a == b || (is_nan(a) && is_nan(b))
}

/// Whether a device that may flush, or is known to, gave what it should, where `kept` and `flushed` are the
/// results without and with that.
fn flushed_as(is_known: bool, kept: Scalar, flushed: Scalar, given: Scalar) -> bool {
    // Rounded before or after it is found to be too small.
    let is_single = matches!(given.dtype, DType::F32 | DType::BF16);
    let is_tiny = |value: Scalar| is_single && value.to_f64().abs() <= f32::MIN_POSITIVE.into();
    let is_zero = given.to_f64() == 0.0 && is_tiny(kept) && is_tiny(flushed);
    same(flushed, given) || is_zero || (!is_known && same(kept, given))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use partita_kernels::{Builder, View};

    use super::*;
    use crate::device::Stream;

    /// `out[i] = in[i + 1] - in[i]` on the host, over elements 1 to 8 of ten.
    fn differences(device: &Device) -> Job {
        let mut b = Builder::new("differences", 1);
        let (input, output) = (b.input(DType::F32), b.output(DType::F32));
        let (a, next) = (b.load(input, &[0]), b.load(input, &[1]));
        let rate = b.binary(partita_kernels::BinaryOp::Sub, next, a);
        let kernel = b.elementwise(&[(output, rate)]).unwrap();
        let memory: Vec<_> = (0..2).map(|_| device.alloc(40).unwrap()).collect();
        let values: Vec<u8> = (0..10).flat_map(|k| (k as f32 * k as f32).to_le_bytes()).collect();
        device.upload(memory[0].allocation(), 0, &values).unwrap();
        let view = View { offset: 1, strides: vec![1] };
        let views = vec![view.clone(), view];
        let launch = Launch { extents: vec![8], origin: vec![0], views, arguments: vec![] };
        let memory = memory.iter().map(|buffer| Arc::clone(buffer.allocation())).collect();
        Job { program: device.compile(kernel).unwrap(), launch: Arc::new(launch), memory }
    }

    #[test]
    fn what_a_device_leaves_out_or_gets_wrong_is_named() {
        let device = Device::host();
        let job = differences(&device);
        let jobs = std::slice::from_ref(&job);
        let error = checked(&device, jobs, || Ok(())).unwrap_err().to_string();
        assert!(error.contains("kernel differences, parameter 1, element 1: expected 3"), "{error}");
        checked(&device, jobs, || device.run_on(Stream::Compute, jobs)).unwrap();
        let last_wrong = || {
            device.run_on(Stream::Compute, jobs)?;
            device.upload(&job.memory[1], 32, &f32::NAN.to_le_bytes())
        };
        let error = checked(&device, jobs, last_wrong).unwrap_err().to_string();
        assert!(error.contains("element 8: expected 17") && error.contains("given nan"), "{error}");
    }

    #[test]
    fn all_nan_are_the_same_and_zeros_have_signs() {
        let of = |dtype, value: f32| number(dtype, &value.to_le_bytes());
        let single = |value: f32| of(DType::F32, value);
        assert!(same(single(f32::NAN), single(-f32::NAN)));
        assert!(!same(single(0.0), single(-0.0)));
        assert!(!same(of(DType::I32, f32::NAN), of(DType::I32, -f32::NAN)));
        let [one, zero, tiny] = [1.0, 0.0, 1e-40].map(single);
        assert!(flushed_as(true, tiny, zero, zero) && flushed_as(false, tiny, zero, tiny));
        assert!(!flushed_as(true, tiny, zero, tiny) && !flushed_as(false, tiny, zero, one));
        assert!(!flushed_as(true, one, zero, one) && flushed_as(false, one, zero, one));
        assert!(!flushed_as(true, one, one, zero) && !flushed_as(false, one, one, zero));
    }
}
