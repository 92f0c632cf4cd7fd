//! The MPI library of this process: one that it has loaded already, one that the feature `mpi` links, or one
//! of the launcher's family, loaded when the first team over several processes is made. What it says of
//! itself, and about device pointers (`MPIX_Query_cuda_support`). A yes is checked by the value trial of the
//! engine before messages use it; without a yes no device pointer reaches the library.

use std::ffi::{c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::functions::Interface;
use super::symbols::{self, Symbols};
use crate::config::config;

// Without a reference the linker drops the library.
#[cfg(feature = "mpi")]
#[used]
static LINKED: fn() -> bool = mpi::environment::is_initialized;

/// Files of libraries, and which interface is behind each: the standard one first. Open MPI has kept the name
/// of its library from version 2 to 5, MPICH and its kin from 3 to 5.
const NAMES: [(&str, Make); 4] = [
    ("libmpi_abi.so.1", Interface::of_standard),
    ("libmpi_abi.so.0", Interface::of_standard),
    ("libmpi.so.40", Interface::of_open_mpi),
    ("libmpi.so.12", Interface::of_mpich),
];
type Make = fn(&Symbols) -> Option<Interface>;

/// An MPI library.
pub struct Library {
    pub interface: Interface,
    pub version: String,
    /// `MPIX_Query_cuda_support`, which not every library has.
    cuda_support: Option<extern "C" fn() -> c_int>,
}

impl Library {
    fn of(symbols: &Symbols, make: Make) -> Option<Library> {
        let cuda = symbols.find(c"MPIX_Query_cuda_support").map(|found| {
            // SAFETY: the library's function of this name takes nothing and returns an int.
            unsafe { std::mem::transmute::<*mut c_void, extern "C" fn() -> c_int>(found) }
        });
        Some(Library { version: symbols.version()?, interface: make(symbols)?, cuda_support: cuda })
    }

    /// Whether it takes device pointers; if not, why. `forced` is the user's setting, for libraries whose
    /// transport layer handles devices although the library itself does not say so. MPI is initialised, which
    /// MPICH requires.
    pub fn takes_device_pointers(&self, forced: Option<bool>) -> std::result::Result<(), String> {
        match forced.or_else(|| self.cuda_support.map(|query| query() != 0)) {
            Some(true) => Ok(()),
            Some(false) if forced.is_some() => Err("PARTITA_CUDA_AWARE_MPI=0".to_owned()),
            Some(false) => Err("the library says that it takes no device pointers".to_owned()),
            None => Err("the library does not say whether it takes device pointers".to_owned()),
        }
    }
}

static LOADED: OnceLock<Library> = OnceLock::new();

/// The library that this process has loaded, by linking it, by mpi4py, or by [`load`]. A search that found
/// none is repeated only when the process has loaded further libraries.
pub fn loaded() -> Option<&'static Library> {
    static SEARCHED: AtomicU64 = AtomicU64::new(0);
    let loads = symbols::loads();
    if LOADED.get().is_none() && loads != Some(SEARCHED.load(Ordering::Relaxed)) {
        let linked = Symbols::shared();
        let is_open_mpi = linked.find(c"ompi_mpi_comm_world").is_some();
        let shared = linked.find(c"MPI_Init_thread").is_some().then(|| {
            // Nothing but its file says which interface a library has that is not Open MPI.
            let is_open = |name: &str| Symbols::open(Path::new(name), libc::RTLD_NOLOAD).is_ok();
            let is_standard = !is_open("libmpi.so.12") && NAMES[..2].iter().any(|(name, _)| is_open(name));
            let make = match (is_open_mpi, is_standard) {
                (true, _) => Interface::of_open_mpi,
                (false, true) => Interface::of_standard,
                (false, false) => Interface::of_mpich,
            };
            Library::of(&linked, make)
        });
        let opened = || {
            NAMES.iter().find_map(|&(name, make)| {
                Library::of(&Symbols::open(Path::new(name), libc::RTLD_NOLOAD).ok()?, make)
            })
        };
        if let Some(library) = shared.flatten().or_else(opened) {
            let _ = LOADED.set(library);
        }
        SEARCHED.store(loads.unwrap_or(0), Ordering::Relaxed);
    }
    LOADED.get()
}

/// Loads the library that `PARTITA_MPI` names, or one of the family of the launcher that started this
/// process; why not, in words.
pub fn load() -> std::result::Result<&'static Library, String> {
    static OUTCOME: OnceLock<std::result::Result<(), String>> = OnceLock::new();
    let setting = config().mpi.as_deref().unwrap_or("auto");
    if setting == "off" {
        return Err("PARTITA_MPI=off".to_owned());
    }
    let known = if setting == "auto" { loaded() } else { LOADED.get() };
    if let Some(library) = known {
        return Ok(library);
    }
    let find = || if setting == "auto" { of_launcher() } else { of_file(Path::new(setting)) };
    OUTCOME.get_or_init(|| find().map(|found| drop(LOADED.set(found)))).clone()?;
    LOADED.get().ok_or_else(|| "no library".to_owned())
}

/// The library in a file, which may have any name.
fn of_file(path: &Path) -> std::result::Result<Library, String> {
    let symbols = Symbols::open(path, 0)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let make = match name.contains("mpi_abi") {
        true => Interface::of_standard,
        false if symbols.find(c"ompi_mpi_comm_world").is_some() => Interface::of_open_mpi,
        false => Interface::of_mpich,
    };
    Library::of(&symbols, make).ok_or_else(|| format!("{} is no MPI library", path.display()))
}

/// A library of the launcher's family: where the launcher is, or where the system looks.
fn of_launcher() -> std::result::Result<Library, String> {
    let is_set = |name: &&str| std::env::var_os(name).is_some();
    let family = [("OMPI_COMM_WORLD_SIZE", "Open MPI"), ("PMI_RANK", "MPICH"), ("MPI_LOCALNRANKS", "MPICH")]
        .into_iter()
        .find_map(|(name, family)| is_set(&name).then_some(family));
    // Without a launcher any library will do, for its version.
    let fits = |library: &Library| {
        family.is_none_or(|family| library.version.contains("Open MPI") == (family == "Open MPI"))
    };
    let mut refused = Vec::new();
    for folder in launcher_folders().into_iter().map(Some).chain([None]) {
        for &(name, make) in &NAMES {
            let path = folder.as_ref().map_or_else(|| PathBuf::from(name), |folder| folder.join(name));
            if folder.is_some() && !path.exists() {
                continue;
            }
            let library = Symbols::open(&path, 0).ok().and_then(|symbols| Library::of(&symbols, make));
            match library {
                Some(library) if fits(&library) => return Ok(library),
                Some(library) => refused.push(first_line(&library.version).to_owned()),
                None => {}
            }
        }
    }
    let others = if refused.is_empty() { String::new() } else { format!(", only {}", refused.join(", ")) };
    Err(match family {
        Some(family) => format!("the launcher is {family}'s, and no library of it was found{others}"),
        None => "no library was found".to_owned(),
    })
}

/// Libraries beside the program that started this process, and beside the `mpiexec` that a shell would find.
fn launcher_folders() -> Vec<PathBuf> {
    let parent = std::fs::read_link(format!("/proc/{}/exe", std::os::unix::process::parent_id())).ok();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let shell = std::env::split_paths(&path).map(|folder| folder.join("mpiexec")).find(|file| file.exists());
    let library = |program: PathBuf| Some(program.parent()?.parent()?.join("lib"));
    parent.into_iter().chain(shell).filter_map(library).collect()
}

pub fn first_line(version: &str) -> &str {
    version.split(['\n', ',']).next().unwrap_or("MPI").trim()
}

/// The version text of the library that is loaded; nothing without one.
pub fn library_version() -> Option<String> {
    loaded().map(|library| library.version.clone())
}
