//! [`VendorLibrary`]: a library beside the driver, found and loaded at run time by the first of these that
//! has it: the process, which another library may have loaded it for already; PyPI's packages
//! (`nvidia/nccl/lib`) in the folders that Python, `VIRTUAL_ENV` or `CONDA_PREFIX` name; `CUDA_HOME` and
//! `CUDA_PATH`; the system. A library stays loaded.

use std::ffi::{CStr, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Folders with Python's packages.
static PACKAGES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Names the folders in which Python looks for packages: libraries in them are found.
pub fn search_packages_in(folders: Vec<PathBuf>) {
    *PACKAGES.lock().unwrap_or_else(PoisonError::into_inner) = folders;
}

/// An open library.
pub(in crate::device::cuda) struct VendorLibrary(*mut c_void);

impl VendorLibrary {
    /// Opens a file, or looks for a name as the system does; or only finds it `loaded`.
    #[cfg(unix)]
    pub(in crate::device::cuda) fn open(path: &Path, loaded: bool) -> Result<VendorLibrary, String> {
        use std::os::unix::ffi::OsStrExt;
        let name = std::ffi::CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
        let how = libc::RTLD_NOW | libc::RTLD_LOCAL | if loaded { libc::RTLD_NOLOAD } else { 0 };
        // SAFETY: a C string. The initialisers of vendor libraries do not depend on the process.
        let library = unsafe { libc::dlopen(name.as_ptr(), how) };
        if !library.is_null() {
            return Ok(VendorLibrary(library));
        }
        // SAFETY: the text of the call before, if there is one; this thread's.
        let text = unsafe { libc::dlerror() };
        match text.is_null() {
            true => Err(format!("{} cannot be opened", path.display())),
            // SAFETY: a C string that lives until the next call.
            false => Err(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()),
        }
    }

    #[cfg(unix)]
    pub(in crate::device::cuda) fn symbol(&self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: an open library, a C string.
        let found = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!found.is_null()).then_some(found)
    }

    /// As on Unix: there are no such libraries.
    #[cfg(not(unix))]
    pub(in crate::device::cuda) fn open(path: &Path, _loaded: bool) -> Result<VendorLibrary, String> {
        Err(format!("{} is not there on this system", path.display()))
    }

    #[cfg(not(unix))]
    pub(in crate::device::cuda) fn symbol(&self, _name: &CStr) -> Option<*mut c_void> {
        (!self.0.is_null()).then_some(self.0)
    }

    /// Opens a library of one of PyPI's packages, which other places have too.
    pub(in crate::device::cuda) fn find(package: &str, file: &str) -> Result<VendorLibrary, String> {
        if let Ok(library) = VendorLibrary::open(Path::new(file), true) {
            return Ok(library);
        }
        let candidates = candidates(package, file);
        let found = candidates.iter().filter(|path| path.exists());
        let mut refusals = Vec::new();
        for path in found.cloned().chain([PathBuf::from(file)]) {
            match VendorLibrary::open(&path, false) {
                Ok(library) => return Ok(library),
                Err(refusal) => refusals.push(refusal),
            }
        }
        Err(refusals.join("; "))
    }
}

/// Absolute paths at which a library may be, the first ones first.
pub(super) fn candidates(package: &str, file: &str) -> Vec<PathBuf> {
    let mut packages = PACKAGES.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for root in ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(std::env::var_os) {
        let versions = std::fs::read_dir(Path::new(&root).join("lib")).into_iter().flatten().flatten();
        packages.extend(versions.map(|version| version.path().join("site-packages")));
    }
    let in_packages = packages.into_iter().map(|folder| folder.join("nvidia").join(package).join("lib"));
    let homes = ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(std::env::var_os);
    let in_homes = homes.flat_map(|home| ["lib64", "lib"].map(|folder| Path::new(&home).join(folder)));
    let folders = in_packages.chain(in_homes).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(file)).collect()
}

/// The file that a symbol is in, where the system says.
#[cfg(unix)]
pub(in crate::device::cuda) fn file_of(symbol: *const c_void) -> Option<String> {
    let mut found = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: the place is a local.
    if unsafe { libc::dladdr(symbol, &mut found) } == 0 || found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's text, which stays as long as the library.
    let path = unsafe { CStr::from_ptr(found.dli_fname) };
    Some(path.to_string_lossy().into_owned())
}

/// As on Unix: not known.
#[cfg(not(unix))]
pub(in crate::device::cuda) fn file_of(_symbol: *const c_void) -> Option<String> {
    None
}
