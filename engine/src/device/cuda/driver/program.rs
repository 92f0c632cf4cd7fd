//! Compiling a kernel: PTX text, and the driver's compiler with its log.

use std::ffi::{CString, c_void};
use std::sync::Arc;

use cudarc::driver::{result, sys};
use partita_kernels::Verified;
use partita_kernels::ptx::{self, emit};

use super::gpu::CudaDevice;
use super::primary::Primary;
use crate::device::cuda::during::During;
use crate::device::cuda::error::CudaError;

/// Room for what the driver's compiler says.
const LOG_BYTES: usize = 8192;

/// A kernel compiled for one device.
pub(in crate::device) struct CudaProgram {
    pub(super) kernel: Verified,
    pub(super) module: ptx::Module,
    pub(super) functions: Vec<sys::CUfunction>,
    loaded: sys::CUmodule,
    primary: Arc<Primary>,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for CudaProgram {}
// SAFETY: as for Send; driver calls are thread-safe.
unsafe impl Sync for CudaProgram {}

impl CudaProgram {
    /// The PTX.
    pub fn source(&self) -> &str {
        &self.module.text
    }
}

impl Drop for CudaProgram {
    fn drop(&mut self) {
        // SAFETY: loaded in `compile`, unloaded once; the driver waits for its kernels.
        let unload = || unsafe { result::module::unload(self.loaded) }.during("unloading a module");
        // On a lost device there is nothing to report.
        let _ = self.primary.with(unload);
    }
}

impl CudaDevice {
    /// Compiles a kernel.
    ///
    /// # Errors
    /// If the driver refuses the PTX: the kernel's name, the driver's log and the text.
    pub fn compile(&self, kernel: &Verified) -> Result<CudaProgram, CudaError> {
        let module = emit(kernel, &self.facts.target)?;
        let loaded = self.primary.with(|| load(&kernel.kernel().name, &module.text))?;
        let mut program = CudaProgram {
            kernel: kernel.clone(),
            functions: Vec::new(),
            loaded,
            primary: Arc::clone(&self.primary),
            module,
        };
        program.functions = self.primary.with(|| functions(loaded, &program.module.entries))?;
        Ok(program)
    }
}

pub(super) fn load(kernel: &str, text: &str) -> Result<sys::CUmodule, CudaError> {
    use sys::CUjit_option_enum::{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    let compile_error =
        |log: String| CudaError::Compile { kernel: kernel.to_owned(), log, source_text: text.to_owned() };
    let image = CString::new(text).map_err(|_| compile_error("the text holds a zero byte".to_owned()))?;
    let mut log = vec![0u8; LOG_BYTES];
    let mut options = [CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    // The driver takes the size as a pointer's value.
    let mut values = [log.as_mut_ptr().cast::<c_void>(), LOG_BYTES as *mut c_void];
    let mut module = std::ptr::null_mut();
    // SAFETY: the image ends with a zero byte; options and values are as many as stated; all pointers are
    // to locals that outlive the call.
    let code = unsafe {
        sys::cuModuleLoadDataEx(
            &mut module,
            image.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    let said = String::from_utf8_lossy(&log).trim_end_matches('\0').trim().to_owned();
    match code.result().during("loading a module") {
        Ok(()) => Ok(module),
        Err(CudaError::Driver { code, text, .. }) if !said.is_empty() || is_of_ptx(&code) => {
            Err(compile_error(format!("{code} ({text}) {said}").trim_end().to_owned()))
        }
        Err(error) => Err(error),
    }
}

/// Whether a driver's error is about what it was given to compile; it may leave the log empty.
fn is_of_ptx(code: &str) -> bool {
    let codes = ["INVALID_PTX", "UNSUPPORTED_PTX_VERSION", "NO_BINARY_FOR_GPU", "JIT_COMPILER_NOT_FOUND"];
    code.strip_prefix("CUDA_ERROR_").is_some_and(|code| codes.contains(&code))
}

fn functions(loaded: sys::CUmodule, entries: &[&'static str]) -> Result<Vec<sys::CUfunction>, CudaError> {
    let find = |entry: &&'static str| {
        let name = CString::new(*entry).unwrap_or_default();
        // SAFETY: the module is loaded.
        unsafe { result::module::get_function(loaded, name) }.during("finding a kernel in its module")
    };
    entries.iter().map(find).collect()
}
