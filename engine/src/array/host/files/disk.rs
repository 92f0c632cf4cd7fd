//! Calls of the file system, and what ranks make of them together. Each call of a save is a point at which
//! tests make it fail, or end the process; each error names its file and is one on all ranks.

use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::{Error, FileFault, Result};
use crate::team::Team;
use crate::wire::pass_file;

/// A call of a save. A fault on purpose comes before it, or after it, as an error of what has happened.
pub fn call<T>(path: &Path, name: &'static str, work: impl FnOnce() -> io::Result<T>) -> Result<T> {
    let done = pass_file(name).and_then(|()| work());
    at(path, done.and_then(|done| pass_file(name).map(|()| done)))
}

/// The failure of a file's operation, with the file's name; [`agreed`] adds the call.
pub fn at<T>(path: &Path, outcome: io::Result<T>) -> Result<T> {
    outcome.map_err(|error| {
        let fault = match error.kind() {
            ErrorKind::NotFound => FileFault::Missing,
            ErrorKind::InvalidData | ErrorKind::UnexpectedEof => FileFault::Damaged,
            _ => FileFault::System,
        };
        failed("", path, fault, error.to_string())
    })
}

pub fn failed(
    operation: &'static str,
    path: impl AsRef<Path>,
    fault: FileFault,
    reason: impl Into<String>,
) -> Error {
    Error::File { operation, path: path.as_ref().display().to_string(), fault, reason: reason.into() }
}

/// Has the names in a folder written, where folders are files.
pub fn sync_folder(folder: &Path) -> Result<()> {
    let sync = || if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) };
    call(folder, "sync-folder", sync)
}

/// The folder that a file or folder is in; `None` for a root.
pub fn above(path: &Path) -> Option<&Path> {
    path.parent().map(|above| if above.as_os_str().is_empty() { Path::new(".") } else { above })
}

/// Makes a folder, and those above it, that outlast the machine.
pub fn make_folders(folder: &Path) -> Result<()> {
    let Some(above) = above(folder).filter(|_| !folder.is_dir()) else { return Ok(()) };
    make_folders(above)?;
    call(folder, "make-folder", || fs::create_dir(folder))?;
    sync_folder(above)
}

/// A word that nobody used before.
pub fn unique() -> String {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.write_u128(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos());
    format!("{:016x}", hasher.finish())
}

/// The results of all ranks' work, on all ranks; a failed file of one is an error on all of them, after
/// which they go on. Collective.
pub fn agreed(
    team: &Team,
    operation: &'static str,
    path: &Path,
    mine: Result<Vec<u8>>,
) -> Result<Vec<Vec<u8>>> {
    let bytes = match &mine {
        Ok(bytes) => [&[0], &bytes[..]].concat(),
        Err(Error::File { fault, path, reason, .. }) => {
            [&[1 + *fault as u8], format!("{path}\n{reason}").as_bytes()].concat()
        }
        Err(error) => {
            let words = format!("{}\n{error}", path.display());
            [&[1 + FileFault::System as u8], words.as_bytes()].concat()
        }
    };
    let all = match team.wire() {
        None => vec![bytes],
        Some(ranks) => {
            let _guard = team.evaluation()?;
            ranks.all_gather(operation, &bytes)?
        }
    };
    mine.map_err(|error| match error {
        Error::File { path, fault, reason, .. } => Error::File { operation, path, fault, reason },
        other => other,
    })?;
    for bytes in &all {
        let fault = match bytes.first() {
            Some(0) => continue,
            Some(1) => FileFault::Missing,
            Some(2) => FileFault::Damaged,
            Some(4) => FileFault::Taken,
            _ => FileFault::System,
        };
        let text = String::from_utf8_lossy(bytes.get(1..).unwrap_or_default()).into_owned();
        let given = path.display().to_string();
        let (path, reason) = text.split_once('\n').unwrap_or((&given, &text));
        return Err(failed(operation, path, fault, reason));
    }
    Ok(all.into_iter().map(|bytes| bytes[1..].to_vec()).collect())
}
