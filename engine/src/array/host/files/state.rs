//! Saves and loads the state of a program. All ranks write their parts into one file per array, in a new
//! folder; when all have, rank 0 renames a manifest that names the folder and holds a checksum per file. So
//! the manifest always names a whole state: the new one, or before that the last one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use partita_kernels::DType;

use super::manifest::{Entry, Manifest, Value, is_name};
use super::npy::{self, Content, PartialChecksum, in_long_runs};
use crate::array::{Array, Cells};
use crate::error::{Error, FileFault, Result};
use crate::index::Distribution;
use crate::team::Team;

const SAVE: &str = "save_state";
const LOAD: &str = "load_state";
const MANIFEST: &str = "manifest";
const FOLDER: &str = "state-";

/// What [`save_state`] saves under a name.
#[derive(Clone, Debug)]
pub enum Saved {
    /// An array.
    Array(Array),
    /// An array as others see it: of another shape with the same elements in the same order, without extents
    /// for one element. `pairs`: two numbers each in the last dimension are a complex number.
    Shaped {
        /// The array.
        array: Array,
        /// The shape in the file, without the dimension of the pairs.
        shape: Vec<i64>,
        /// Whether its elements are complex numbers.
        pairs: bool,
    },
    /// A number or a text.
    Value(Value),
}

impl From<&Array> for Saved {
    fn from(array: &Array) -> Saved {
        Saved::Array(array.clone())
    }
}

impl<V: Into<Value>> From<V> for Saved {
    fn from(value: V) -> Saved {
        Saved::Value(value.into())
    }
}

/// Saves arrays and single values under names, in a folder that all ranks share. Computes and waits.
/// Collective: all ranks pass the same names and values.
///
/// When it returns, on any rank, the state is in the files, whatever ends the program afterwards; before, the
/// state that was saved there last still is. Each array is a `.npy` file. Only one program at a time may save
/// into a folder.
///
/// # Errors
/// Names that files cannot have, or that come twice; arrays of other ranks than the team's; files that cannot
/// be written, on all ranks; those of [`Array::eval`].
///
/// ```
/// use partita::io::{SavedState, save_state};
/// use partita::prelude::*;
/// # fn main() -> partita::Result<()> {
/// # let folder = std::env::temp_dir().join(format!("partita-doc-{}", std::process::id()));
/// let team = Team::on(&[Device::host()], 2)?;
/// let dist = Distribution::builder(&[4, 6]).grid(&[2, 1]).build()?;
/// let u = Array::from_fn(&team, &dist, |at| at[0] as f64)?;
/// save_state(&team, &folder, &[("u", (&u).into()), ("step", 40.into())])?;
///
/// let state = SavedState::open(&team, &folder)?;
/// let elsewhere = Distribution::builder(&[4, 6]).grid(&[1, 2]).build()?;
/// assert_eq!(state.int("step")?, 40);
/// assert_eq!(state.array("u", &team, &elsewhere)?.to_vec::<f64>()?, u.to_vec::<f64>()?);
/// # std::fs::remove_dir_all(&folder).ok();
/// # Ok(()) }
/// ```
pub fn save_state(team: &Team, folder: impl AsRef<Path>, state: &[(&str, Saved)]) -> Result<()> {
    let folder = folder.as_ref();
    for (k, (name, _)) in state.iter().enumerate() {
        if !is_name(name) || state[..k].iter().any(|(other, _)| other == name) {
            let expected = "different names of letters, digits, `_`, `-` and `.`";
            return Err(Error::invalid(SAVE, expected, format!("{name:?}"), "rename it"));
        }
    }
    let (mut entries, mut arrays) = (Vec::new(), Vec::new());
    for (name, saved) in state {
        let entry = match saved {
            Saved::Value(value) => Entry::Value(value.clone()),
            Saved::Array(array) => {
                let content = Content { dtype: array.dtype(), pairs: false, shape: array.shape().to_vec() };
                arrays.push((*name, content.clone(), in_file_order(team, array)?));
                Entry::Array(content, 0)
            }
            Saved::Shaped { array, shape, pairs } => {
                let content = Content { dtype: array.dtype(), pairs: *pairs, shape: shape.clone() };
                let volume = array.shape().iter().product::<i64>() * array.dtype().size_bytes() as i64;
                if content.name().is_none() || content.bytes() != volume as u64 {
                    let expected = format!("a shape of the elements of {}", array.shape());
                    let given = format!("{shape:?} with pairs: {pairs}");
                    return Err(Error::invalid(SAVE, expected, given, "pass the array's shape"));
                }
                arrays.push((*name, content.clone(), in_file_order(team, array)?));
                Entry::Array(content, 0)
            }
        };
        entries.push(((*name).to_owned(), entry));
    }
    Saving { team, folder, arrays }.run(entries)
}

/// The array on a distribution whose parts have long runs of a file.
fn in_file_order(team: &Team, array: &Array) -> Result<Array> {
    if array.team().ranks() != team.ranks() || array.team().rank() != team.rank() {
        let given = format!("one on {} of {} ranks", array.team().ranks(), team.ranks());
        return Err(Error::invalid(
            SAVE,
            "arrays on all ranks",
            given,
            "move it to a team of all ranks first",
        ));
    }
    let dist = array.distribution()?;
    let long = in_long_runs(&dist, array.dtype().size_bytes())?;
    if long == *dist { Ok(array.clone()) } else { array.redistribute(&long) }
}

struct Saving<'a> {
    team: &'a Team,
    folder: &'a Path,
    arrays: Vec<(&'a str, Content, Array)>,
}

impl Saving<'_> {
    fn run(&self, entries: Vec<(String, Entry)>) -> Result<()> {
        let made = self.first(self.folder, || self.make())?;
        let [old, new] = [&made.0, &made.1];
        let saved = self.fill(new, entries);
        // After a failure nothing of the new state is left; after a success nothing of the old one.
        let useless = if saved.is_ok() { old } else { new };
        if self.team.rank() == 0 && !useless.is_empty() {
            let _ = fs::remove_dir_all(self.folder.join(useless));
        }
        saved
    }

    /// Work of rank 0, whose result all ranks get.
    fn first(
        &self,
        path: &Path,
        work: impl FnOnce() -> Result<(String, String)>,
    ) -> Result<(String, String)> {
        let done = match self.team.rank() {
            0 => work().map(|(old, new)| format!("{old} {new}").into_bytes()),
            _ => Ok(Vec::new()),
        };
        let all = agreed(self.team, SAVE, path, done)?;
        let text = String::from_utf8_lossy(&all[0]).into_owned();
        Ok(text.split_once(' ').map_or_else(Default::default, |(old, new)| (old.to_owned(), new.to_owned())))
    }

    /// Rank 0: makes the folder and empty files; removes what ended programs left. The names of the folder of
    /// the state so far and of the new one.
    fn make(&self) -> Result<(String, String)> {
        at(self.folder, fs::create_dir_all(self.folder))?;
        let old = match fs::read_to_string(self.folder.join(MANIFEST)) {
            Ok(text) => Manifest::from_text(&text).map(|manifest| manifest.folder).unwrap_or_default(),
            Err(_) => String::new(),
        };
        let mut last = 0;
        for found in at(self.folder, fs::read_dir(self.folder))? {
            let found = at(self.folder, found)?;
            let name = found.file_name().to_string_lossy().into_owned();
            let Some(number) = name.strip_prefix(FOLDER).and_then(|n| n.parse::<u64>().ok()) else {
                continue;
            };
            last = last.max(number);
            // Without a readable manifest nobody knows which one is whole, so all are kept.
            if !old.is_empty() && name != old {
                at(&found.path(), fs::remove_dir_all(found.path()))?;
            }
        }
        let new = format!("{FOLDER}{}", last + 1);
        at(self.folder, fs::create_dir(self.folder.join(&new)))?;
        for (name, content, _) in &self.arrays {
            let path = self.file(&new, name);
            let header = content.header();
            let make = || {
                let mut file = File::create_new(&path)?;
                file.write_all(&header)?;
                file.set_len(header.len() as u64 + content.bytes())
            };
            at(&path, make())?;
        }
        Ok((old, new))
    }

    fn file(&self, folder: &str, name: &str) -> PathBuf {
        file_of(&self.folder.join(folder), name)
    }

    /// Writes the elements of all ranks, then the manifest.
    fn fill(&self, new: &str, mut entries: Vec<(String, Entry)>) -> Result<()> {
        for (name, content, array) in &self.arrays {
            let path = self.file(new, name);
            let mut sum = PartialChecksum::new(content.bytes());
            let parts = array.parts()?;
            let mut elements = Vec::new();
            let written = (|| {
                let mut file = at(&path, OpenOptions::new().write(true).open(&path))?;
                for part in &parts {
                    let cells = part.region(Cells::Owned);
                    elements.resize(cells.volume()? as usize * content.dtype.size_bytes(), 0);
                    part.read_into(Cells::Owned, &mut elements)?;
                    let written = npy::write(&mut file, content, &cells, &elements);
                    sum.join(at(&path, written)?.finish());
                }
                at(&path, file.sync_all())
            })();
            let mine = written.map(|()| sum.finish().to_le_bytes().to_vec());
            let sums = agreed(self.team, SAVE, &path, mine)?;
            let entry = entries.iter_mut().find(|(known, _)| known == name);
            if let Some((_, Entry::Array(_, sum))) = entry {
                *sum = joined(content, &sums);
            }
        }
        let manifest = Manifest { folder: new.to_owned(), entries };
        self.first(self.folder, || {
            let (draft, path) = (self.folder.join("manifest.part"), self.folder.join(MANIFEST));
            at(self.folder, sync_folder(&self.folder.join(new)))?;
            let write = || {
                let mut file = File::create(&draft)?;
                file.write_all(manifest.to_text().as_bytes())?;
                file.sync_all()
            };
            at(&draft, write())?;
            at(&path, fs::rename(&draft, &path))?;
            at(self.folder, sync_folder(self.folder))?;
            Ok(Default::default())
        })?;
        Ok(())
    }
}

fn file_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.npy"))
}

/// Has the names in a folder written, where folders are files.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

fn joined(content: &Content, sums: &[Vec<u8>]) -> u32 {
    let mut all = PartialChecksum::new(content.bytes());
    let numbers = sums.iter().filter_map(|sum| sum.first_chunk::<4>());
    numbers.for_each(|sum| all.join(u32::from_le_bytes(*sum)));
    all.finish()
}

/// The failure of a file's operation, with the file's name; [`agreed`] adds the call.
fn at<T>(path: &Path, outcome: io::Result<T>) -> Result<T> {
    outcome.map_err(|error| {
        let fault = match error.kind() {
            ErrorKind::NotFound => FileFault::Missing,
            ErrorKind::InvalidData | ErrorKind::UnexpectedEof => FileFault::Damaged,
            _ => FileFault::System,
        };
        Error::File { operation: "", path: path.display().to_string(), fault, reason: error.to_string() }
    })
}

/// What every rank made of its work, on all ranks; a failed file of one is an error on all of them, after
/// which they go on. Collective.
fn agreed(team: &Team, operation: &'static str, path: &Path, mine: Result<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
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
            _ => FileFault::System,
        };
        let text = String::from_utf8_lossy(bytes.get(1..).unwrap_or_default()).into_owned();
        let given = path.display().to_string();
        let (path, reason) = text.split_once('\n').unwrap_or((&given, &text));
        let (path, reason) = (path.to_owned(), reason.to_owned());
        return Err(Error::File { operation, path, fault, reason });
    }
    Ok(all.into_iter().map(|bytes| bytes[1..].to_vec()).collect())
}

/// A state that [`save_state`] saved.
#[derive(Clone, Debug)]
pub struct SavedState {
    folder: PathBuf,
    manifest: Manifest,
}

impl SavedState {
    /// The state that was saved last in a folder. Collective.
    ///
    /// # Errors
    /// A folder without one ([`FileFault::Missing`]); a manifest that is damaged.
    pub fn open(team: &Team, folder: impl AsRef<Path>) -> Result<SavedState> {
        let folder = folder.as_ref();
        let path = folder.join(MANIFEST);
        let read = match team.rank() {
            0 => at(&path, fs::read(&path)),
            _ => Ok(Vec::new()),
        };
        let text = agreed(team, LOAD, &path, read)?.swap_remove(0);
        let manifest = std::str::from_utf8(&text).ok().and_then(Manifest::from_text);
        let manifest = manifest.ok_or_else(|| Error::File {
            operation: LOAD,
            path: path.display().to_string(),
            fault: FileFault::Damaged,
            reason: "it is no manifest, or was changed or cut off".to_owned(),
        })?;
        Ok(SavedState { folder: folder.join(&manifest.folder), manifest })
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

    /// An array, on any distribution of its shape: of one element, if it was saved without extents, and for
    /// complex numbers with a further last dimension of 2. Every rank reads what it holds. Collective.
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
        let mut pieces = Vec::new();
        let read = (|| {
            let mut file = at(&path, File::open(&path))?;
            at(&path, npy::check(&mut file, content))?;
            for part in (0..long.parts()).filter(|&part| team.is_here(part)) {
                let (elements, part) = at(&path, npy::read(&mut file, content, &long.owned(part)))?;
                pieces.push(elements);
                sum.join(part.finish());
            }
            Ok(sum.finish().to_le_bytes().to_vec())
        })();
        let given = joined(content, &agreed(team, LOAD, &path, read)?);
        if given != expected {
            let reason =
                format!("its elements were changed: expected the checksum {expected:08x}, given {given:08x}");
            let path = path.display().to_string();
            return Err(Error::File { operation: LOAD, path, fault: FileFault::Damaged, reason });
        }
        let array = Array::from_pieces(team, &long, content.dtype, &pieces)?;
        if long == *dist { Ok(array) } else { array.redistribute(dist) }
    }
}
