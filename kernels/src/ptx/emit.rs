//! From a verified kernel to the text of a module.

use std::fmt::Write;

use super::entries::{batched_copy, fold, pointwise, streaming, transpose, vector};
use super::launch::{Limits, Module};
use super::schedule::Schedule;
use super::text::{MAX_BLOCK_BYTES, PtxTarget};
use crate::ir::Form;
use crate::math;
use crate::verify::Verified;

/// A kernel that no module can be written for.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "kernel {kernel} needs {bytes} bytes of launch parameters, at most {MAX_BLOCK_BYTES} can be passed; \
     split it into kernels of fewer arrays"
)]
pub struct PtxUnsupported {
    /// The kernel's name.
    pub kernel: String,
    /// Bytes its launches would pass.
    pub bytes: usize,
}

/// Writes a kernel as PTX.
///
/// # Errors
/// The kernel has so many parameters that a launch could not pass them.
pub fn emit(kernel: &Verified, target: &PtxTarget) -> Result<Module, PtxUnsupported> {
    let verified = math::expand(kernel);
    let kernel = verified.kernel();
    let schedule = Schedule::of(&verified);
    let entries = match &kernel.form {
        Form::Reduce { .. } => fold::entries(kernel, target),
        Form::Elementwise { .. } | Form::Gather { .. } | Form::Scatter { .. } => {
            let mut entries = vec![pointwise::entry(kernel, target)];
            entries.extend(schedule.vector.as_ref().map(|plan| vector::entry(kernel, target, plan)));
            entries.extend(schedule.transpose.then(|| transpose::entry(kernel, target)));
            entries.extend(batched_copy::offers(&verified).then(|| batched_copy::entry(kernel, target)));
            let streaming = schedule.streaming.as_ref().map(|plan| streaming::entry(kernel, target, plan));
            entries.extend(streaming.filter(|entry| entry.block.bytes() <= MAX_BLOCK_BYTES));
            entries
        }
    };
    if let Some(bytes) = entries.iter().map(|e| e.block.bytes()).find(|&bytes| bytes > MAX_BLOCK_BYTES) {
        return Err(PtxUnsupported { kernel: kernel.name.clone(), bytes });
    }
    let mut text = String::new();
    let _ = writeln!(text, "// {}", kernel.name);
    let _ = writeln!(text, ".version {}\n.target sm_{}\n.address_size 64", target.version(), target.sm);
    for entry in &entries {
        let _ = write!(text, "\n{}", entry.text);
    }
    Ok(Module {
        text,
        entries: entries.iter().map(|e| e.name).collect(),
        blocks: entries.into_iter().map(|e| e.block).collect(),
        kernel: verified,
        schedule,
        limits: Limits::DEVICE,
    })
}
