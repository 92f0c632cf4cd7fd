//! Compiled entries kept on disk, so that no process compiles again what another did. The driver has a cache
//! of its own, which is small and lost where the home is read-only. In `$XDG_CACHE_HOME/partita`, else in
//! `~/.cache/partita`, or where `PARTITA_CACHE` says.
//!
//! A file is its own witness: it says what it was compiled from and for, word for word, and ends with a
//! digest of everything before. One that says anything else is taken for absent, compiled anew and
//! overwritten. Files appear whole, by renaming. A disk that refuses costs the time of compiling and nothing
//! else.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use crate::config::config;

/// Of all files together; beyond it the oldest go, down to half.
const MOST_BYTES: u64 = 256 << 20;

/// What every file of this form begins with.
const MARK: &str = "partita cubin 1";

/// Where one kind of GPU under one driver finds what was compiled for it.
pub(super) struct Cubins {
    folder: PathBuf,
    made_for: String,
    most_bytes: u64,
}

impl Cubins {
    /// The place that the environment gives; none if it turns this off or has no home. A simulated device
    /// compiles nothing: it keeps files only where a test says so.
    pub(super) fn of(made_for: &str, is_simulated: bool) -> Option<Cubins> {
        let folder = match config().cache.as_deref() {
            Some("off") => None,
            Some(folder) => Some(PathBuf::from(folder)),
            None if is_simulated => None,
            None => usual_folder(),
        };
        Some(Cubins { folder: folder?, made_for: made_for.to_owned(), most_bytes: MOST_BYTES })
    }

    /// What a text was compiled to before.
    pub(super) fn find(&self, text: &str) -> Option<Vec<u8>> {
        let file = fs::read(self.path(text)).ok()?;
        let (content, end) = file.split_last_chunk()?;
        let cubin = content.strip_prefix(self.head(text).as_bytes())?;
        (*end == digest(content).to_le_bytes()).then(|| cubin.to_vec())
    }

    /// Keeps what a text was compiled to.
    pub(super) fn keep(&self, text: &str, cubin: &[u8]) {
        let mut content = [self.head(text).as_bytes(), cubin].concat();
        content.extend(digest(&content).to_le_bytes());
        // Kept or not, the kernel runs.
        let _ = self.write(&self.path(text), &content).and_then(|()| self.shorten());
    }

    fn write(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        static WRITTEN: AtomicU64 = AtomicU64::new(0);
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        fs::create_dir_all(&self.folder)?;
        let part = path.with_extension(format!("{}-{number}.part", std::process::id()));
        let written = fs::write(&part, content).and_then(|()| fs::rename(&part, path));
        written.inspect_err(|_| drop(fs::remove_file(&part)))
    }

    /// Removes the oldest files if there are too many bytes: those begun and never finished among them.
    fn shorten(&self) -> io::Result<()> {
        let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for file in fs::read_dir(&self.folder)? {
            let path = file?.path();
            let is_ours = path.extension().is_some_and(|ending| ending == "cubin" || ending == "part");
            // Another process may have removed it just now.
            if is_ours && let Ok(data) = path.metadata() {
                files.push((data.modified()?, data.len(), path));
            }
        }
        let mut bytes: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        if bytes <= self.most_bytes {
            return Ok(());
        }
        files.sort();
        for (_, length, path) in files {
            if bytes > self.most_bytes / 2 && fs::remove_file(path).is_ok() {
                bytes -= length;
            }
        }
        Ok(())
    }

    fn head(&self, text: &str) -> String {
        format!("{MARK}\n{}\n{} bytes of PTX\n{text}", self.made_for, text.len())
    }

    fn path(&self, text: &str) -> PathBuf {
        self.folder.join(format!("{:016x}.cubin", digest(self.head(text).as_bytes())))
    }
}

fn usual_folder() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")));
    caches.map(|folder| folder.join("partita"))
}

/// FNV-1a: against broken files and for their names, not against malice.
fn digest(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn empty(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("partita-cubins-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    fn cubins(folder: &Path, made_for: &str) -> Cubins {
        Cubins { folder: folder.to_owned(), made_for: made_for.to_owned(), most_bytes: 4000 }
    }

    #[test]
    fn what_was_kept_is_found_for_the_same_text_and_machine_only() {
        let folder = empty("same");
        let here = cubins(&folder, "sm_90, driver 13000");
        assert_eq!(here.find("text"), None);
        here.keep("text", b"\0machine code");
        assert_eq!(here.find("text").unwrap(), b"\0machine code");
        assert_eq!(here.find("other text"), None);
        assert_eq!(cubins(&folder, "sm_90, driver 13010").find("text"), None);
        assert!(fs::read_dir(&folder).unwrap().all(|f| f.unwrap().path().extension().unwrap() == "cubin"));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn broken_and_foreign_files_are_ignored_and_overwritten() {
        let folder = empty("broken");
        let here = cubins(&folder, "sm_90");
        here.keep("text", b"machine code");
        let path = here.path("text");
        let whole = fs::read(&path).unwrap();
        let mut changed = whole.clone();
        changed[whole.len() - 12] ^= 1;
        let mut foreign = cubins(&folder, "sm_80").head("text").into_bytes();
        foreign.extend(b"machine code");
        foreign.extend(digest(&foreign).to_le_bytes());
        for wrong in [&whole[..whole.len() - 1], &whole[..7], b"", &changed, &foreign] {
            fs::write(&path, wrong).unwrap();
            assert_eq!(here.find("text"), None);
            here.keep("text", b"machine code");
            assert_eq!(fs::read(&path).unwrap(), whole);
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_oldest_files_go_and_a_disk_that_refuses_is_no_error() {
        let folder = empty("oldest");
        let here = cubins(&folder, "sm_90");
        for n in 0..8 {
            here.keep(&format!("text {n}"), &[0; 900]);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let found: Vec<u32> = (0..8).filter(|n| here.find(&format!("text {n}")).is_some()).collect();
        assert!(found.ends_with(&[6, 7]) && found.len() <= 4, "{found:?}");
        fs::remove_dir_all(&folder).unwrap();
        fs::write(&folder, "a file where the folder should be").unwrap();
        here.keep("text", b"machine code");
        assert_eq!(here.find("text"), None);
        fs::remove_file(folder).unwrap();
    }
}
