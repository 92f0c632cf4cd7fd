//! Saves arrays and the state of a program. All ranks write their parts into one file per array, in a new
//! folder; when all have, rank 0 renames a manifest that names the folder and holds a checksum per file. So
//! the manifest always names a whole state: the new one, or before that the last one.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::disk::{above, agreed, at, call, failed, sync_folder, unique};
use super::draft::Draft;
use super::manifest::{Entry, Manifest, Value, is_name};
use super::npy::{self, Content, PartialChecksum, in_long_runs};
use crate::array::{Array, Cells};
use crate::device::zeros;
use crate::error::{Error, FileFault, Result};
use crate::team::Team;

const SAVE: &str = "save_state";

/// A value that [`save_state`] saves under a name.
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
/// When it returns, on any rank, the state is in the files, whatever ends the program or the machine
/// afterwards. Until then the state that was saved there last is. After an error, or an end of any rank at
/// any moment, the folder has one of the two, whole. Each array is a `.npy` file.
///
/// In the folder a `manifest` names the state's own folder, and `partita.saving` those that saves make and
/// remove; nothing else is ever removed or replaced.
///
/// # Errors
/// Names that files cannot have, or that come twice; arrays of other ranks than the team's; those of
/// [`Array::eval`]. On all ranks: files that cannot be written; another program that saves into the folder
/// meanwhile, or a `manifest` of somebody else's there ([`FileFault::Taken`]).
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
            array => {
                let (content, array) = array.in_file_order(SAVE, team)?;
                arrays.push((*name, content.clone(), array));
                Entry::Array(content, 0)
            }
        };
        entries.push(((*name).to_owned(), entry));
    }
    let mut draft = None;
    let saved = Saving { team, folder, arrays }.run(&mut draft, entries);
    if let Some(draft) = draft {
        draft.end();
    }
    saved
}

/// Writes an array to a `.npy` file that all ranks share. Computes and waits. Collective.
///
/// The file appears under its name when it is whole and on the disk: after an error, or an end of any rank at
/// any moment, the name stands for the file that was there before or for the new one, whole. A rank 0 that is
/// killed leaves a file beside it whose name ends in `.part`.
///
/// # Errors
/// A value; arrays of other ranks than the team's; a file that cannot be written, on all ranks; those of
/// [`Array::eval`].
///
/// ```
/// use partita::io::save_npy;
/// use partita::prelude::*;
/// # fn main() -> partita::Result<()> {
/// # let file = std::env::temp_dir().join(format!("partita-doc-{}.npy", std::process::id()));
/// let team = Team::on(&[Device::host()], 2)?;
/// let dist = Distribution::builder(&[4, 6]).grid(&[2, 1]).build()?;
/// let u = Array::from_fn(&team, &dist, |at| at[0] as f64)?;
/// save_npy(&team, &file, &(&u).into())?;
/// # std::fs::remove_file(&file).ok();
/// # Ok(()) }
/// ```
pub fn save_npy(team: &Team, file: impl AsRef<Path>, array: &Saved) -> Result<()> {
    const SAVE: &str = "save";
    let (content, array) = array.in_file_order(SAVE, team)?;
    // A link stays one.
    let path = fs::canonicalize(&file).unwrap_or_else(|_| file.as_ref().to_owned());
    let beside = |name: &str| {
        let mut draft = path.clone().into_os_string();
        draft.push(format!(".{name}.part"));
        PathBuf::from(draft)
    };
    let mut own = None;
    let mut save = || {
        let made = first(team, SAVE, &path, || {
            let old = match fs::metadata(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => None,
                old => Some(at(&path, old)?),
            };
            if old.as_ref().is_some_and(|old| !old.is_file()) {
                return Err(failed("", &path, FileFault::Taken, "it is no regular file"));
            }
            if old.is_some() {
                // A file that cannot be written must not be replaced either.
                at(&path, OpenOptions::new().write(true).open(&path))?;
            }
            let name = unique();
            let draft = own.insert(beside(&name));
            make_file(draft, &content)?;
            if let Some(old) = old {
                call(draft, "permissions", || fs::set_permissions(&draft, old.permissions()))?;
            }
            Ok(name)
        })?;
        let draft = beside(&made);
        let written = write_parts(&draft, &content, &array);
        agreed(team, SAVE, &path, written.map(|_| Vec::new()))?;
        first(team, SAVE, &path, || {
            call(&path, "rename", || fs::rename(&draft, &path))?;
            own = None;
            sync_folder(above(&path).unwrap_or(&path)).map(|()| String::new())
        })
    };
    let saved = save().map(drop);
    if let Some(draft) = own {
        let _ = fs::remove_file(draft);
    }
    saved.map_err(|error| match error {
        // By the name that the user knows.
        Error::File { operation, fault, reason, .. } => failed(operation, &path, fault, reason),
        other => other,
    })
}

impl Saved {
    /// The content of an array's file, and the array on a distribution whose parts have long runs of it.
    fn in_file_order(&self, operation: &'static str, team: &Team) -> Result<(Content, Array)> {
        let invalid =
            |expected: String, given, remedy| Err(Error::invalid(operation, expected, given, remedy));
        let (array, content) = match self {
            Saved::Array(array) => {
                (array, Content { dtype: array.dtype(), pairs: false, shape: array.shape().to_vec() })
            }
            Saved::Shaped { array, shape, pairs } => {
                (array, Content { dtype: array.dtype(), pairs: *pairs, shape: shape.clone() })
            }
            Saved::Value(value) => {
                return invalid("an array".to_owned(), format!("{value:?}"), "save an array");
            }
        };
        let volume = array.shape().iter().product::<i64>() * array.dtype().size_bytes() as i64;
        if content.name().is_none() || !content.is_countable() || content.bytes() != volume as u64 {
            let expected = format!("a shape of the elements of {}", array.shape());
            let given = format!("{:?} with pairs: {}", content.shape, content.pairs);
            return invalid(expected, given, "pass the array's shape");
        }
        if array.team().ranks() != team.ranks() || array.team().rank() != team.rank() {
            let given = format!("one on {} of {} ranks", array.team().ranks(), team.ranks());
            return invalid("arrays on all ranks".to_owned(), given, "move it to a team of all ranks first");
        }
        let dist = array.distribution()?;
        let long = in_long_runs(&dist, array.dtype().size_bytes())?;
        Ok((content, if long == *dist { array.clone() } else { array.redistribute(&long) }))
    }
}

struct Saving<'a> {
    team: &'a Team,
    folder: &'a Path,
    arrays: Vec<(&'a str, Content, Array)>,
}

impl Saving<'_> {
    /// Makes the files, writes the elements of all ranks, then the manifest. `draft` is what rank 0 has made
    /// of it, whatever fails.
    fn run(&self, draft: &mut Option<Draft>, mut entries: Vec<(String, Entry)>) -> Result<()> {
        let new = first(self.team, SAVE, self.folder, || {
            let draft = draft.insert(Draft::begin(self.folder)?);
            for (name, content, _) in &self.arrays {
                make_file(&file_of(&self.folder.join(draft.name()), name), content)?;
            }
            Ok(draft.name().to_owned())
        })?;
        for (name, content, array) in &self.arrays {
            let path = file_of(&self.folder.join(&new), name);
            let mine = write_parts(&path, content, array).map(|sum| sum.finish().to_le_bytes().to_vec());
            let sums = agreed(self.team, SAVE, &path, mine)?;
            let entry = entries.iter_mut().find(|(known, _)| known == name);
            if let Some((_, Entry::Array(_, sum))) = entry {
                *sum = joined(content, &sums);
            }
        }
        let manifest = Manifest { folder: new, entries };
        let mut commit = || draft.as_mut().map_or(Ok(()), |draft| draft.commit(&manifest));
        first(self.team, SAVE, self.folder, || commit().map(|()| String::new())).map(drop)
    }
}

/// Work of rank 0, whose result all ranks get. Collective.
fn first(
    team: &Team,
    operation: &'static str,
    path: &Path,
    work: impl FnOnce() -> Result<String>,
) -> Result<String> {
    let done = if team.rank() == 0 { work() } else { Ok(String::new()) };
    let all = agreed(team, operation, path, done.map(String::into_bytes))?;
    Ok(String::from_utf8_lossy(&all[0]).into_owned())
}

/// Makes the file of an array, whose elements are to be written.
fn make_file(path: &Path, content: &Content) -> Result<()> {
    let header = content.header();
    let mut file = call(path, "make-file", || File::create_new(path))?;
    call(path, "write-header", || {
        file.write_all(&header)?;
        file.set_len(header.len() as u64 + content.bytes())
    })
}

/// Computes, which is collective, and writes the elements that are here.
fn write_parts(path: &Path, content: &Content, array: &Array) -> Result<PartialChecksum> {
    let (parts, mut sum) = (array.parts()?, PartialChecksum::new(content.bytes()));
    let file = call(path, "open-file", || OpenOptions::new().write(true).open(path))?;
    for part in parts {
        let cells = part.region(Cells::Owned);
        let bytes = cells.volume()? as usize * content.dtype.size_bytes();
        let mut elements = zeros::<u8>(bytes, &array.team().devices())?;
        part.read_into(Cells::Owned, &mut elements)?;
        let written = call(path, "write-part", || npy::write(&file, content, &cells, &elements));
        sum.join(written?.finish());
    }
    call(path, "sync-file", || file.sync_all())?;
    Ok(sum)
}

pub fn file_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.npy"))
}

/// The checksum of a file from those of all ranks' parts.
pub fn joined(content: &Content, sums: &[Vec<u8>]) -> u32 {
    let mut all = PartialChecksum::new(content.bytes());
    let numbers = sums.iter().filter_map(|sum| sum.first_chunk::<4>());
    numbers.for_each(|sum| all.join(u32::from_le_bytes(*sum)));
    all.finish()
}
