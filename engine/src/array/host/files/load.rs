//! Loads what was saved: all ranks open the files of one state, and each reads what it holds.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use partita_kernels::DType;

use super::disk::{agreed, at, failed};
use super::draft::{MANIFEST, manifest_in};
use super::manifest::{Entry, Manifest, Value};
use super::npy::{self, Content, PartialChecksum, in_long_runs};
use super::save::{file_of, joined};
use crate::array::Array;
use crate::device::zeros;
use crate::error::{Error, FileFault, Result};
use crate::index::Distribution;
use crate::team::Team;

const LOAD: &str = "load_state";
/// So many files of a state are kept open, so that it can be read while others replace it.
const OPEN_FILES: usize = 256;

/// A state that [`save_state`](super::save_state) saved.
#[derive(Clone, Debug)]
pub struct SavedState {
    folder: PathBuf,
    manifest: Manifest,
    /// By entry; those of values, and of arrays beyond [`OPEN_FILES`], are none.
    files: Arc<[Option<Mutex<File>>]>,
}

impl SavedState {
    /// The state that was saved last in a folder. It can be read to its end while others are saved there.
    /// Collective.
    ///
    /// # Errors
    /// On all ranks: a folder where none was saved ([`FileFault::Missing`]); a manifest that is damaged, or a
    /// file that is missing below it ([`FileFault::Damaged`]).
    pub fn open(team: &Team, folder: impl AsRef<Path>) -> Result<SavedState> {
        let (folder, mut before) = (folder.as_ref(), Vec::new());
        let path = folder.join(MANIFEST);
        loop {
            let read = match team.rank() {
                0 => manifest_in(folder).and_then(|text| {
                    text.ok_or_else(|| failed("", &path, FileFault::Missing, "nothing was saved there"))
                }),
                _ => Ok(Vec::new()),
            };
            let text = agreed(team, LOAD, &path, read)?.swap_remove(0);
            let damaged = |path: &Path, reason| Err(failed(LOAD, path, FileFault::Damaged, reason));
            let Some(manifest) = Manifest::from_bytes(&text) else {
                return damaged(&path, "it is no manifest, or was changed or cut off");
            };
            let state = folder.join(&manifest.folder);
            let opened = files_in(&state, &manifest);
            let mine = match &opened {
                Err(Error::File { fault: FileFault::Missing, path, .. }) => Ok(path.clone().into_bytes()),
                Err(error) => Err(error.clone()),
                Ok(_) => Ok(Vec::new()),
            };
            let all = agreed(team, LOAD, &state, mine)?;
            match (all.iter().find(|missing| !missing.is_empty()), opened) {
                (None, Ok(files)) => return Ok(SavedState { folder: state, manifest, files }),
                // Another state may have replaced this one since its manifest was read.
                (Some(missing), _) if before == text => {
                    let missing = String::from_utf8_lossy(missing).into_owned();
                    return damaged(missing.as_ref(), "it is missing, though the manifest names it");
                }
                _ => before = text,
            }
        }
    }

    /// The names, in the order in which they were saved.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.manifest.entries.iter().map(|(name, _)| &name[..])
    }

    fn entry(&self, name: &str) -> Result<&Entry> {
        let found = self.manifest.entries.iter().find(|(known, _)| known == name);
        found.map(|(_, entry)| entry).ok_or_else(|| self.refused("a name of the state", name))
    }

    fn refused(&self, expected: &str, name: &str) -> Error {
        let names: Vec<&str> = self.names().collect();
        let expected = format!("{expected}, of {}", names.join(", "));
        Error::invalid(LOAD, expected, format!("{name:?}"), "use a name and a type that were saved")
    }

    fn content(&self, name: &str) -> Result<(&Content, u32)> {
        match self.entry(name)? {
            Entry::Array(content, sum) => Ok((content, *sum)),
            Entry::Value(_) => Err(self.refused("an array", name)),
        }
    }

    /// A value; `None` for an array.
    ///
    /// # Errors
    /// A name that the state does not have.
    pub fn value(&self, name: &str) -> Result<Option<&Value>> {
        match self.entry(name)? {
            Entry::Array(..) => Ok(None),
            Entry::Value(value) => Ok(Some(value)),
        }
    }

    /// A whole number.
    ///
    /// # Errors
    /// A name that is none in the state.
    pub fn int(&self, name: &str) -> Result<i64> {
        match self.entry(name)? {
            Entry::Value(Value::Int(value)) => Ok(*value),
            _ => Err(self.refused("a whole number", name)),
        }
    }

    /// A number.
    ///
    /// # Errors
    /// A name that is none in the state.
    pub fn float(&self, name: &str) -> Result<f64> {
        match self.entry(name)? {
            Entry::Value(Value::Float(value)) => Ok(*value),
            _ => Err(self.refused("a number", name)),
        }
    }

    /// The shape of an array as it was saved, the type of its numbers, and whether pairs of them are complex
    /// numbers.
    ///
    /// # Errors
    /// A name that is no array in the state.
    pub fn layout(&self, name: &str) -> Result<(&[i64], DType, bool)> {
        let (content, _) = self.content(name)?;
        Ok((&content.shape, content.dtype, content.pairs))
    }

    /// An array, on any distribution of its shape; of complex numbers with a further last dimension of 2.
    /// Every rank reads what it holds. Collective.
    ///
    /// # Errors
    /// A name that is no array in the state; a distribution of another shape; a file that is missing, cut off
    /// or changed, by its name, on all ranks; memory.
    pub fn array(&self, name: &str, team: &Team, dist: &Distribution) -> Result<Array> {
        let (content, expected) = self.content(name)?;
        let shape = content.stored_shape();
        if dist.shape()[..] != shape[..] {
            let given = dist.shape().to_string();
            let remedy = "pass a distribution of the array's shape";
            return Err(Error::invalid(LOAD, format!("shape {shape:?}"), given, remedy));
        }
        let path = file_of(&self.folder, name);
        let long = in_long_runs(dist, content.dtype.size_bytes())?;
        let mut sum = PartialChecksum::new(content.bytes());
        let mut array = None;
        let read = (|| {
            let (held, opened);
            let entry = self.manifest.entries.iter().position(|(known, _)| known == name);
            let file: &File = match entry.and_then(|entry| self.files[entry].as_ref()) {
                Some(file) => {
                    held = file.lock().unwrap_or_else(PoisonError::into_inner);
                    &held
                }
                None => {
                    opened = at(&path, File::open(&path))?;
                    &opened
                }
            };
            at(&path, npy::check(file, content))?;
            let mut pieces = Vec::new();
            for part in (0..long.parts()).filter(|&part| team.is_here(part)) {
                let cells = long.owned(part);
                let bytes = cells.volume()? as usize * content.dtype.size_bytes();
                let mut elements = zeros::<u8>(bytes, &team.devices())?;
                sum.join(at(&path, npy::read(file, content, &cells, &mut elements))?.finish());
                pieces.push(elements);
            }
            array = Some(Array::from_pieces(team, &long, content.dtype, &pieces)?);
            Ok(sum.finish().to_le_bytes().to_vec())
        })();
        let read = read.map_err(|error| match error {
            Error::File { fault: FileFault::Missing, .. } => failed(
                "",
                &path,
                FileFault::Damaged,
                "it is missing; another state may have replaced this one",
            ),
            other => other,
        });
        let given = joined(content, &agreed(team, LOAD, &path, read)?);
        match array {
            Some(array) if given == expected && long == *dist => Ok(array),
            Some(array) if given == expected => Ok(array.redistribute(dist)),
            _ => {
                let reason = format!(
                    "its elements were changed: expected the checksum {expected:08x}, given {given:08x}"
                );
                Err(failed(LOAD, &path, FileFault::Damaged, reason))
            }
        }
    }
}

/// Opens the files of a state's arrays.
fn files_in(folder: &Path, manifest: &Manifest) -> Result<Arc<[Option<Mutex<File>>]>> {
    let mut room = OPEN_FILES;
    let open = |(name, entry): &(String, Entry)| {
        if !matches!(entry, Entry::Array(..)) {
            return Ok(None);
        }
        let path = file_of(folder, name);
        let file = at(&path, File::open(&path))?;
        room = room.saturating_sub(1);
        Ok((room > 0).then(|| Mutex::new(file)))
    };
    manifest.entries.iter().map(open).collect()
}
