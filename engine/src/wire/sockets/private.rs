//! Files and folders that belong to this user alone. Only Unix is known to keep others out.

use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

#[cfg(unix)]
use std::os::unix::{fs as unix, process};
#[cfg(unix)]
use unix::{DirBuilderExt, MetadataExt, OpenOptionsExt};

/// This user's folder in another one, which is not made.
#[cfg(unix)]
pub fn folder(within: &Path) -> Result<PathBuf> {
    let folder = within.join(format!("partita-{}", user()));
    match fs::DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => check(&folder).map(|()| folder),
    }
}

/// A new file.
#[cfg(unix)]
pub fn create(path: &Path) -> Result<fs::File> {
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Refuses what others could have written or can read.
#[cfg(unix)]
pub fn check(path: &Path) -> Result<()> {
    let found = fs::symlink_metadata(path)?;
    if found.uid() == user() && found.mode() & 0o077 == 0 {
        return Ok(());
    }
    let text = format!("{}: expected a file or folder of this user alone (mode 600 or 700)", path.display());
    Err(Error::new(ErrorKind::PermissionDenied, text))
}

#[cfg(unix)]
fn user() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// The process that started this one.
pub fn parent_process() -> u32 {
    #[cfg(unix)]
    return process::parent_id();
    #[cfg(not(unix))]
    0
}

#[cfg(not(unix))]
fn unknown<T>() -> Result<T> {
    let text = "ranks find each other through a file on Unix only; pass HOST:PORT of rank 0 and a secret";
    Err(Error::new(ErrorKind::Unsupported, text))
}

/// As on Unix: not known here.
#[cfg(not(unix))]
pub fn folder(_within: &Path) -> Result<PathBuf> {
    unknown()
}

/// As on Unix: not known here.
#[cfg(not(unix))]
pub fn create(_path: &Path) -> Result<fs::File> {
    unknown()
}

/// As on Unix: not known here.
#[cfg(not(unix))]
pub fn check(_path: &Path) -> Result<()> {
    unknown()
}
