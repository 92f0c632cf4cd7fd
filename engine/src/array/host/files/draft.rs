//! The folder of a state that is being saved, on rank 0: when its state counts, and which folders go.
//!
//! A manifest names the folder of the state that counts. The journal, a file beside it, names the other
//! folders of saves, each before it is made; its lock keeps other programs from saving at the same time. No
//! other folder is ever removed. Once a manifest may name a folder, that stays whatever fails: the next save
//! reads what the manifest says.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use super::disk::{at, call, failed, make_folders, sync_folder, unique};
use super::manifest::{Manifest, is_name};
use crate::error::{FileFault, Result};

pub const MANIFEST: &str = "manifest";
const JOURNAL: &str = "partita.saving";
/// The prefix of folders of states.
const FOLDER: &str = "state-";

/// The progress of a save.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The manifest names the last state.
    Unnamed,
    /// It was to be renamed: only reading it tells which state it names.
    Doubtful,
    /// It names the new state, even after the machine stopped.
    Named,
}

pub struct Draft {
    folder: PathBuf,
    journal: File,
    /// The folders of saves that did not end, or whose state is not the last one any more.
    others: BTreeSet<String>,
    /// The folder that the manifest names.
    last: Option<String>,
    new: String,
    stage: Stage,
}

impl Draft {
    /// Takes the folder, which is made if it is not there; removes what ended programs left, and makes the
    /// new state's folder.
    pub fn begin(folder: &Path) -> Result<Draft> {
        make_folders(folder)?;
        let path = folder.join(JOURNAL);
        let manifest = manifest_in(folder)?;
        if manifest.is_some_and(|text| !Manifest::is_ours(&text)) && !path.exists() {
            let reason = "it is no manifest of a saved state, and would be replaced";
            return Err(failed("", folder.join(MANIFEST), FileFault::Taken, reason));
        }
        if path.is_symlink() {
            return Err(failed("", path, FileFault::Taken, "it is a link, and its target would be written"));
        }
        let open = || OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut journal = call(&path, "open-journal", open)?;
        // Some file systems have no locks.
        if let Err(TryLockError::WouldBlock) = journal.try_lock() {
            return Err(failed("", path, FileFault::Taken, "another program saves into the folder now"));
        }
        let mut bytes = Vec::new();
        at(&path, journal.read_to_end(&mut bytes))?;
        let text = String::from_utf8_lossy(&bytes);
        let mut others: BTreeSet<String> = text.lines().filter_map(name_in).map(str::to_owned).collect();
        // Read again, because until now others may have saved. Without a whole state nobody knows which
        // folder matters, so all are kept.
        let last = manifest_in(folder)?.and_then(|text| Manifest::from_bytes(&text));
        let last = last.map(|manifest| manifest.folder).filter(|name| folder.join(name).is_dir());
        if let Some(last) = &last {
            others.remove(last);
            if !others.is_empty() {
                // The manifest must be on disk before other states are removed.
                sync_folder(folder)?;
                others.retain(|name| !is_removed(folder, name));
            }
        }
        let new = format!("{FOLDER}{}", unique());
        let mut draft =
            Draft { folder: folder.to_owned(), journal, others, last, new, stage: Stage::Unnamed };
        let lines = draft.made().map(line_of).collect::<String>();
        call(&path, "write-journal", || draft.journal.write_all(lines.as_bytes()))?;
        call(&path, "sync-journal", || draft.journal.sync_all())?;
        let path = folder.join(&draft.new);
        call(&path, "make-state", || fs::create_dir(&path))?;
        sync_folder(folder)?;
        Ok(draft)
    }

    /// The name of the new state's folder.
    pub fn name(&self) -> &str {
        &self.new
    }

    /// Lets the new state, whose files are on the disk, count: from here on it is the one that is found.
    pub fn commit(&mut self, manifest: &Manifest) -> Result<()> {
        let new = self.folder.join(&self.new);
        let (draft, path) = (new.join(MANIFEST), self.folder.join(MANIFEST));
        let mut file = call(&draft, "make-manifest", || File::create_new(&draft))?;
        call(&draft, "write-manifest", || file.write_all(manifest.to_text().as_bytes()))?;
        call(&draft, "sync-manifest", || file.sync_all())?;
        sync_folder(&new)?;
        self.stage = Stage::Doubtful;
        call(&path, "rename-manifest", || fs::rename(&draft, &path))?;
        sync_folder(&self.folder)?;
        self.stage = Stage::Named;
        Ok(())
    }

    /// Removes what is useless now, and lets others save. What cannot be removed stays in the journal.
    pub fn end(self) {
        let named = match self.stage {
            Stage::Unnamed => self.last.as_ref(),
            Stage::Doubtful => None,
            Stage::Named => Some(&self.new),
        };
        let is_useless = |name: &String| match self.stage {
            Stage::Unnamed => *name == self.new,
            Stage::Doubtful => false,
            Stage::Named => true,
        };
        let kept = self.made().filter(|name| Some(*name) != named);
        let kept = kept.filter(|name| !is_useless(name) || !is_removed(&self.folder, name));
        let (lines, mut journal) = (kept.map(line_of).collect::<String>(), &self.journal);
        let _ = call(&self.folder, "clear-journal", || {
            journal.rewind()?;
            journal.set_len(0)?;
            journal.write_all(lines.as_bytes())
        });
        let _ = journal.unlock();
    }

    /// The folders of all states that may be there.
    fn made(&self) -> impl Iterator<Item = &String> {
        self.others.iter().chain(&self.last).chain([&self.new])
    }
}

/// A line of the journal. One that an ended program did not write to its end goes no further.
fn line_of(name: &String) -> String {
    format!("\n{name} {:08x}\n", crc32fast::hash(name.as_bytes()))
}

/// Whether a folder that a save made is gone.
fn is_removed(folder: &Path, name: &str) -> bool {
    let path = folder.join(name);
    call(&path, "remove-state", || match fs::remove_dir_all(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    })
    .is_ok()
}

/// The name in a line of the journal.
fn name_in(line: &str) -> Option<&str> {
    let (name, sum) = line.split_once(' ')?;
    let known = u32::from_str_radix(sum, 16) == Ok(crc32fast::hash(name.as_bytes()));
    (known && is_name(name) && name.starts_with(FOLDER)).then_some(name)
}

/// The manifest of a folder, if there is one.
pub fn manifest_in(folder: &Path) -> Result<Option<Vec<u8>>> {
    let path = folder.join(MANIFEST);
    match fs::read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        read => at(&path, read).map(Some),
    }
}
