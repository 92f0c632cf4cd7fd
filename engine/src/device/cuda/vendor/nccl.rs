//! NCCL: the functions of it that send and receive, and their refusals in words. Communicators never block:
//! a call that cannot end yet leaves its communicator in progress, which [`Comm::is_ready`] asks.
//!
//! Types are `cudarc`'s, but for two. Results are plain numbers: newer libraries have more of them than an
//! enum knows. The configuration is that of NCCL 2.14, the first; later ones add what it lacks.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use std::sync::OnceLock;

use cudarc::nccl::sys;

use super::library::{VendorLibrary, file_of};
use crate::config::config;

/// `ncclResult_t`.
type Outcome = u32;

const SUCCESS: Outcome = sys::ncclResult_t::ncclSuccess as Outcome;
const IN_PROGRESS: Outcome = sys::ncclResult_t::ncclInProgress as Outcome;

/// The first version with communicators that do not block.
const OLDEST: c_int = 21_400;
/// The first whose groups of sends and receives of such communicators are captured here.
const CAPTURES: c_int = 21_800;

/// `ncclConfig_t` of 2.14.
#[repr(C)]
struct Configuration {
    size: usize,
    magic: u32,
    version: u32,
    blocking: c_int,
}

type Transfer =
    unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, sys::ncclComm_t, sys::cudaStream_t) -> Outcome;
type OfComm = unsafe extern "C" fn(sys::ncclComm_t) -> Outcome;

/// The library.
pub(in crate::device::cuda) struct Nccl {
    version: c_int,
    file: String,
    get_unique_id: unsafe extern "C" fn(*mut sys::ncclUniqueId) -> Outcome,
    init: unsafe extern "C" fn(
        *mut sys::ncclComm_t,
        c_int,
        sys::ncclUniqueId,
        c_int,
        *const Configuration,
    ) -> Outcome,
    get_async_error: unsafe extern "C" fn(sys::ncclComm_t, *mut Outcome) -> Outcome,
    finalize: OfComm,
    destroy: OfComm,
    abort: OfComm,
    group_start: unsafe extern "C" fn() -> Outcome,
    group_end: unsafe extern "C" fn() -> Outcome,
    send: Transfer,
    receive: Transfer,
    error_string: unsafe extern "C" fn(Outcome) -> *const c_char,
    last_error: unsafe extern "C" fn(sys::ncclComm_t) -> *const c_char,
}

/// The library that `PARTITA_NCCL` names, or one that is found; why there is none, in words.
pub(in crate::device::cuda) fn nccl() -> Result<&'static Nccl, String> {
    static LOADED: OnceLock<Result<Nccl, String>> = OnceLock::new();
    let load = || {
        let library = match config().nccl.as_deref().unwrap_or("auto") {
            "off" => Err("PARTITA_NCCL=off".to_owned()),
            "auto" => VendorLibrary::find("nccl", "libnccl.so.2"),
            file => VendorLibrary::open(Path::new(file), false),
        };
        Nccl::of(&library?)
    };
    LOADED.get_or_init(load).as_ref().map_err(Clone::clone)
}

/// The version of the NCCL that is found, and its file; why there is none, in words.
///
/// # Errors
/// No library, or one that does not fit.
pub fn nccl_version() -> Result<(String, String), String> {
    nccl().map(|nccl| (nccl.version(), nccl.file.clone()))
}

/// The name of a new communicator of NCCL.
///
/// # Errors
/// As [`nccl_version`]; those of the library.
pub(crate) fn nccl_id() -> Result<[u8; 128], String> {
    nccl()?.unique_id()
}

/// One send, or one receive.
pub(in crate::device::cuda) struct GroupPart {
    pub sends: bool,
    pub peer: usize,
    pub address: u64,
    pub bytes: u64,
}

impl Nccl {
    fn of(library: &VendorLibrary) -> Result<Nccl, String> {
        /// A function of the library as a type that the caller knows to be its.
        macro_rules! function {
            ($name:literal) => {{
                let found = library.symbol($name);
                let found = found.ok_or_else(|| format!("no NCCL: it lacks {}", $name.to_string_lossy()))?;
                // SAFETY: the functions of these names have had these types since NCCL 2.14.
                unsafe { std::mem::transmute_copy::<*mut c_void, _>(&found) }
            }};
        }
        let get_version: unsafe extern "C" fn(*mut c_int) -> Outcome = function!(c"ncclGetVersion");
        let mut version = 0;
        // SAFETY: the place is a local.
        let outcome = unsafe { get_version(&mut version) };
        if outcome != SUCCESS || version < OLDEST {
            return Err(format!("NCCL {} is older than 2.14", in_words(version)));
        }
        Ok(Nccl {
            version,
            file: file_of(get_version as *const c_void).unwrap_or_default(),
            get_unique_id: function!(c"ncclGetUniqueId"),
            init: function!(c"ncclCommInitRankConfig"),
            get_async_error: function!(c"ncclCommGetAsyncError"),
            finalize: function!(c"ncclCommFinalize"),
            destroy: function!(c"ncclCommDestroy"),
            abort: function!(c"ncclCommAbort"),
            group_start: function!(c"ncclGroupStart"),
            group_end: function!(c"ncclGroupEnd"),
            send: function!(c"ncclSend"),
            receive: function!(c"ncclRecv"),
            error_string: function!(c"ncclGetErrorString"),
            last_error: function!(c"ncclGetLastError"),
        })
    }

    /// Its version as ranks compare it, such as `2.30.7`.
    pub fn version(&self) -> String {
        in_words(self.version)
    }

    /// Whether graphs have groups in them.
    pub fn is_captured(&self) -> bool {
        self.version >= CAPTURES
    }

    /// The name of a new communicator, for all its ranks.
    pub fn unique_id(&self) -> Result<[u8; 128], String> {
        let mut id = sys::ncclUniqueId { internal: [0; 128] };
        // SAFETY: the place is a local.
        self.done(unsafe { (self.get_unique_id)(&mut id) }, std::ptr::null_mut(), "naming a communicator")?;
        Ok(id.internal.map(|byte| byte as u8))
    }

    fn done(&self, outcome: Outcome, comm: sys::ncclComm_t, operation: &str) -> Result<(), String> {
        if outcome == SUCCESS || outcome == IN_PROGRESS {
            return Ok(());
        }
        let text = |text: *const c_char| match text.is_null() {
            true => String::new(),
            // SAFETY: the library's text, valid until its next call.
            false => unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().to_owned(),
        };
        // SAFETY: any number has a text; the communicator is alive, or none.
        let (error, last) = unsafe { (text((self.error_string)(outcome)), text((self.last_error)(comm))) };
        let last = if last.is_empty() { last } else { format!(": {last}") };
        Err(format!("NCCL: {operation}: {error}{last}"))
    }
}

/// 23007 is 2.30.7.
fn in_words(version: c_int) -> String {
    format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100)
}

/// A communicator of one device, which is current in all calls. It is ended by the last two of these.
pub(in crate::device::cuda) struct Comm {
    nccl: &'static Nccl,
    raw: sys::ncclComm_t,
}

// SAFETY: a communicator may be used from any thread, one at a time.
unsafe impl Send for Comm {}

impl Comm {
    /// Begins one.
    pub fn begin(nccl: &'static Nccl, id: &[u8; 128], rank: usize, count: usize) -> Result<Comm, String> {
        let size = size_of::<Configuration>();
        let configuration = Configuration { size, magic: 0xcafe_beef, version: OLDEST as u32, blocking: 0 };
        let id = sys::ncclUniqueId { internal: id.map(|byte| byte as c_char) };
        let mut raw = std::ptr::null_mut();
        // SAFETY: places and configuration are locals.
        let outcome = unsafe { (nccl.init)(&mut raw, count as c_int, id, rank as c_int, &configuration) };
        nccl.done(outcome, raw, "connecting")?;
        Ok(Comm { nccl, raw })
    }

    /// Whether nothing of it is in progress.
    pub fn is_ready(&self) -> Result<bool, String> {
        let mut state = SUCCESS;
        // SAFETY: the communicator is alive, the place a local.
        let outcome = unsafe { (self.nccl.get_async_error)(self.raw, &mut state) };
        self.nccl.done(outcome, self.raw, "asking for its state")?;
        self.nccl.done(state, self.raw, "messages between GPUs")?;
        Ok(state != IN_PROGRESS)
    }

    /// Queues sends and receives as one operation of a stream.
    ///
    /// # Safety
    /// The ranges lie inside live buffers of the device until the work is done; the stream is alive.
    pub unsafe fn group(
        &self,
        parts: impl Iterator<Item = GroupPart>,
        stream: sys::cudaStream_t,
    ) -> Result<(), String> {
        const BYTES: c_int = sys::ncclDataType_t::ncclUint8 as c_int;
        let done = |outcome| self.nccl.done(outcome, self.raw, "a group of messages");
        // SAFETY: a group is begun and ended here, whatever comes between.
        done(unsafe { (self.nccl.group_start)() })?;
        let mut each = parts.map(|GroupPart { sends, peer, address, bytes }| {
            let transfer = if sends { self.nccl.send } else { self.nccl.receive };
            // SAFETY: as the caller says.
            done(unsafe {
                transfer(address as *mut c_void, bytes as usize, BYTES, peer as c_int, self.raw, stream)
            })
        });
        let all = each.try_for_each(|outcome| outcome);
        // SAFETY: as above.
        all.and(done(unsafe { (self.nccl.group_end)() }))
    }

    /// Begins to end it: what is under way is done first, which [`Comm::is_ready`] says.
    pub fn finalize(&self) -> Result<(), String> {
        // SAFETY: the communicator is alive.
        self.nccl.done(unsafe { (self.nccl.finalize)(self.raw) }, self.raw, "ending")
    }

    pub fn destroy(self) {
        // SAFETY: it is finalized, and not used afterwards. There is nobody to tell.
        let _ = unsafe { (self.nccl.destroy)(self.raw) };
    }

    /// Ends it at once: what waits on the device for other ranks goes on. May wait for graphs that have
    /// groups in them to be destroyed.
    pub fn abort(self) {
        // SAFETY: it is not used afterwards. There is nobody to tell.
        let _ = unsafe { (self.nccl.abort)(self.raw) };
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// Tests run in the folder of their crate.
    fn root_of_repository() -> PathBuf {
        std::env::current_dir().unwrap_or_default().join("..")
    }

    /// The library of PyPI's package, where there is one beside the sources.
    #[test]
    fn the_library_of_the_package_is_found_by_its_path() {
        let root = root_of_repository().join(".venv/lib");
        let versions = std::fs::read_dir(root).into_iter().flatten().flatten();
        super::super::library::search_packages_in(
            versions.map(|one| one.path().join("site-packages")).collect(),
        );
        let found =
            super::super::library::candidates("nccl", "libnccl.so.2").into_iter().find(|path| path.exists());
        let Some(path) = found else {
            println!("skipped: nccl-package (no nvidia-nccl in .venv)");
            return;
        };
        let library = VendorLibrary::open(&path, false).expect("a library");
        let nccl = Nccl::of(&library).expect("all functions");
        assert!(nccl.version >= OLDEST && nccl.is_captured(), "{}", nccl.version());
        assert!(nccl.file.ends_with("nvidia/nccl/lib/libnccl.so.2"), "{}", nccl.file);
        println!("ran: nccl-package 1");
    }

    #[test]
    fn versions_are_words_and_other_libraries_refused() {
        assert_eq!((in_words(23_007), in_words(21_805)), ("2.30.7".to_owned(), "2.18.5".to_owned()));
        let other = VendorLibrary::open(Path::new("libm.so.6"), false).expect("the system's");
        let refusal = Nccl::of(&other).err().unwrap_or_default();
        assert!(refusal.contains("no NCCL: it lacks ncclGetVersion"), "{refusal}");
    }
}
