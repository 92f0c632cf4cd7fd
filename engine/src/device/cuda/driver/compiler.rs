//! The driver's compiler: from PTX to a loaded module, with what it says.

use std::ffi::c_void;

use cudarc::driver::sys;

use super::primary::During;
use crate::config::config;
use crate::device::cuda::error::CudaError;

/// Room for what the driver's compiler says.
const LOG_BYTES: usize = 8192;

/// An entry's text as a module. The driver keeps what it compiles on disk for other processes. The device's
/// context is current.
pub(super) fn load(name: &str, text: &str) -> Result<sys::CUmodule, CudaError> {
    let (mut log, mut module) = (CompilerLog::new(), std::ptr::null_mut());
    let terminated = [text.as_bytes(), b"\0"].concat();
    let loaded = log.with_options(|count, options, values| {
        let start = terminated.as_ptr().cast();
        // SAFETY: the text ends with a zero byte; options and values are as many as stated and outlive it.
        unsafe { sys::cuModuleLoadDataEx(&mut module, start, count, options, values) }
    });
    log.tell(name, text, loaded.result().during("loading a module"))?;
    Ok(module)
}

/// The compiler's log: errors in the text; registers and spills, if somebody reads them.
struct CompilerLog {
    errors: Vec<u8>,
    facts: Vec<u8>,
    options: [sys::CUjit_option; 5],
    values: [*mut c_void; 5],
}

impl CompilerLog {
    fn new() -> CompilerLog {
        use sys::CUjit_option_enum as Choice;
        let (mut errors, mut facts) = (vec![0u8; LOG_BYTES], vec![0u8; LOG_BYTES]);
        let options = [
            Choice::CU_JIT_ERROR_LOG_BUFFER,
            Choice::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            Choice::CU_JIT_INFO_LOG_BUFFER,
            Choice::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
            Choice::CU_JIT_LOG_VERBOSE,
        ];
        // The driver takes sizes and switches as a pointer's value.
        let number = std::ptr::without_provenance_mut::<c_void>;
        let (error_log, fact_log) = (errors.as_mut_ptr().cast(), facts.as_mut_ptr().cast());
        let values = [error_log, number(LOG_BYTES), fact_log, number(LOG_BYTES), number(1)];
        CompilerLog { errors, facts, options, values }
    }

    /// Passes the options to a call: those of errors, and the others if somebody reads them.
    fn with_options<T>(
        &mut self,
        call: impl FnOnce(u32, *mut sys::CUjit_option, *mut *mut c_void) -> T,
    ) -> T {
        let count = if config().debug >= 2 { self.options.len() } else { 2 };
        call(count as u32, self.options.as_mut_ptr(), self.values.as_mut_ptr())
    }

    /// Prints what the compiler says of a kernel, or adds it to its refusal.
    fn tell(&self, name: &str, text: &str, outcome: Result<(), CudaError>) -> Result<(), CudaError> {
        let read = |log: &[u8]| String::from_utf8_lossy(log).trim_end_matches('\0').trim().to_owned();
        let (said, facts) = (read(&self.errors), read(&self.facts));
        if !facts.is_empty() {
            eprintln!("[cuda] compiled {name}: {facts}");
        }
        match outcome {
            Err(CudaError::Driver { code, text: words, .. }) if !said.is_empty() || is_of_ptx(&code) => {
                let log = format!("{code} ({words}) {said}").trim_end().to_owned();
                let (kernel, source_text) = (name.to_owned(), text.to_owned());
                Err(CudaError::Compile { kernel, log, source_text })
            }
            outcome => outcome,
        }
    }
}

/// Whether a driver's error is about what it was given to compile; it may leave the log empty.
fn is_of_ptx(code: &str) -> bool {
    let codes = ["INVALID_PTX", "UNSUPPORTED_PTX_VERSION", "NO_BINARY_FOR_GPU", "JIT_COMPILER_NOT_FOUND"];
    code.strip_prefix("CUDA_ERROR_").is_some_and(|code| codes.contains(&code))
}
