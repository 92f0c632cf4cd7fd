//! The symbols of a shared library, by name.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Longer than the version text of every library.
const VERSION_BYTES: usize = 8192;

/// The library whose symbols are looked up: an open one, which is never closed, or those the process shares.
pub struct Symbols(*mut c_void);

impl Symbols {
    /// The symbols that all of the process shares.
    pub fn shared() -> Symbols {
        Symbols(libc::RTLD_DEFAULT)
    }

    pub fn find(&self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: a live handle, or the default scope, which needs none; a C string.
        let found = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!found.is_null()).then_some(found)
    }

    /// Opens a library, or only finds one that is open.
    pub fn open(path: &Path, how: c_int) -> std::result::Result<Symbols, String> {
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
        // SAFETY: a C string. The initialisers of an MPI library do not depend on the process.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL | how) };
        if !library.is_null() {
            return Ok(Symbols(library));
        }
        // SAFETY: the text of the call before, if there is one; this thread's.
        let text = unsafe { libc::dlerror() };
        match text.is_null() {
            true => Err(format!("{} cannot be opened", path.display())),
            // SAFETY: a C string that lives until the next call.
            false => Err(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()),
        }
    }

    /// The text of `MPI_Get_library_version`, which may be called at any time.
    pub fn version(&self) -> Option<String> {
        let found = self.find(c"MPI_Get_library_version")?;
        // SAFETY: the function of this name has this type in every library.
        let function = unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int>(found)
        };
        let (mut text, mut length) = (vec![0u8; VERSION_BYTES], 0);
        // SAFETY: room for the longest text.
        unsafe { function(text.as_mut_ptr().cast(), &mut length) };
        text.truncate(length.clamp(0, VERSION_BYTES as c_int) as usize);
        Some(String::from_utf8_lossy(&text).trim_end_matches('\0').trim().to_owned())
    }
}

/// The number of libraries that this process has loaded so far; `None` if the system does not say.
#[cfg(target_os = "linux")]
pub fn loads() -> Option<u64> {
    unsafe extern "C" fn read(info: *mut libc::dl_phdr_info, _bytes: usize, loads: *mut c_void) -> c_int {
        // SAFETY: the loader passes a description, and the place given below.
        unsafe { *loads.cast() = (*info).dlpi_adds };
        1
    }
    let mut loads = 0u64;
    // SAFETY: the function writes a number of this type, and ends the iteration.
    unsafe { libc::dl_iterate_phdr(Some(read), (&raw mut loads).cast()) };
    Some(loads)
}

/// As on Linux: not known here.
#[cfg(not(target_os = "linux"))]
pub fn loads() -> Option<u64> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// A library of the system's that nothing here needs.
    #[test]
    fn libraries_that_are_loaded_later_are_counted() {
        let before = loads();
        assert!(Symbols::open(Path::new("libmpi-of-nobody.so"), libc::RTLD_NOLOAD).is_err());
        assert_eq!(loads(), before, "a search that finds nothing loads nothing");
        let names = ["libresolv.so.2", "libanl.so.1", "libthread_db.so.1", "libBrokenLocale.so.1"];
        let opened = names.iter().filter(|name| Symbols::open(Path::new(name), 0).is_ok()).count();
        assert!(opened > 0 && loads() > before, "{opened} opened");
    }
}
