//! Saved states: loaded on other parts and ranks with the same bits, whole after any end of the program, and
//! refused by the file's name when damaged.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "state/crashes.rs"]
mod crashes;
mod divisions;
mod found;
mod other;
#[path = "state/others.rs"]
mod others;

use std::fs;
use std::path::{Path, PathBuf};

use divisions::kinds;
use found::{devices, ran};
use half::bf16;
use partita::Error;
use partita::error::FileFault;
use partita::io::{Saved, SavedState, save_state};
use partita::prelude::*;
use partita::wire::{Ranks, threads};

/// A folder of one test, removed with its files.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        Folder::at(std::env::temp_dir(), name)
    }

    /// One where syncing takes no time, if there is such a file system: processes end, not the machine.
    fn in_memory(name: &str) -> Folder {
        let memory = PathBuf::from("/dev/shm");
        Folder::at(if memory.is_dir() { memory } else { std::env::temp_dir() }, name)
    }

    fn at(above: PathBuf, name: &str) -> Folder {
        let path = above.join(format!("partita-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Folder(path)
    }

    /// The file of an array.
    fn file(&self, name: &str) -> PathBuf {
        let entries = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path());
        let folders: Vec<_> = entries.filter(|path| path.is_dir()).collect();
        assert_eq!(folders.len(), 1, "{folders:?}");
        folders[0].join(format!("{name}.npy"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Elements whose bits tell where they are.
fn made(team: &Team, dist: &Distribution, dtype: DType) -> Array {
    let shape = dist.shape();
    let position = Array::from_fn(team, dist, move |at| {
        at.iter().zip(&shape[..]).fold(1, |sum, (i, n)| sum * *n as i32 + *i as i32)
    });
    position.unwrap().cast(dtype)
}

#[test]
fn any_distribution_is_loaded_on_any_other() {
    let folder = Folder::new("any");
    for device in devices() {
        let mut count = 0;
        for shape in [&[23][..], &[9, 14], &[4, 3, 2000]] {
            let layouts = |parts: usize| {
                let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
                let slabs = Distribution::default_partition(parts, shape).unwrap();
                let mut all = vec![slabs.with_halo(&vec![0; shape.len()], &vec![0; shape.len()]).unwrap()];
                let last = shape.len() - 1;
                for map in kinds(shape[last], parts) {
                    let mut grid = vec![1; shape.len()];
                    grid[last] = parts as i64;
                    all.push(Distribution::builder(shape).grid(&grid).map(last, map).build().unwrap());
                }
                (team, all)
            };
            let (from_team, from) = layouts(3);
            let (to_team, to) = layouts(2);
            for (k, dist) in from.iter().enumerate() {
                let u = made(&from_team, dist, DType::F32);
                let expected = u.to_vec::<f32>().unwrap();
                save_state(&from_team, &folder.0, &[("u", (&u).into()), ("k", (k as i64).into())]).unwrap();
                let state = SavedState::open(&to_team, &folder.0).unwrap();
                assert_eq!(state.int("k").unwrap(), k as i64);
                let bytes = fs::read(folder.file("u")).unwrap();
                let elements = &bytes[bytes.len() - 4 * expected.len()..];
                assert_eq!(elements, bytemuck::cast_slice::<f32, u8>(&expected), "{dist:?}");
                for dist in &to {
                    let v = state.array("u", &to_team, dist).unwrap();
                    assert_eq!(*v.distribution().unwrap(), *dist);
                    assert_eq!(v.to_vec::<f32>().unwrap(), expected, "{dist:?}");
                    count += 1;
                }
            }
        }
        ran("saved-states", &device, count);
    }
}

#[test]
fn every_type_of_element_and_value_keeps_its_bits() {
    let folder = Folder::new("types");
    let team = Team::on(&[Device::host()], 2).unwrap();
    let dist = Distribution::builder(&[5, 2]).grid(&[2, 1]).build().unwrap();
    let arrays: Vec<(String, Array)> =
        DType::ALL.iter().map(|&dtype| (format!("{dtype:?}"), made(&team, &dist, dtype))).collect();
    let mut state: Vec<(&str, Saved)> =
        arrays.iter().map(|(name, array)| (&name[..], array.into())).collect();
    let pairs = made(&team, &dist, DType::F64);
    state.push(("pairs", Saved::Shaped { array: pairs.clone(), shape: vec![5], pairs: true }));
    let one =
        Array::from_slice(&team, &Distribution::default_partition(2, &[1]).unwrap(), &[2.5f32]).unwrap();
    state.push(("one", Saved::Shaped { array: one, shape: vec![], pairs: false }));
    let nan = f64::from_bits(0x7ff8_0000_0000_0000);
    for (name, value) in [("nan", nan), ("tiny", 5e-324), ("minus", -0.0), ("third", 1.0 / 3.0)] {
        state.push((name, value.into()));
    }
    state.push(("text", "two\nlines".into()));
    state.push(("flag", false.into()));
    save_state(&team, &folder.0, &state).unwrap();

    let loaded = SavedState::open(&team, &folder.0).unwrap();
    assert_eq!(loaded.names().count(), state.len());
    for (name, array) in &arrays {
        let given = loaded.array(name, &team, &dist).unwrap();
        assert_eq!(given.dtype(), array.dtype());
        assert_eq!(given.to_bytes().unwrap(), array.to_bytes().unwrap(), "{name}");
    }
    assert_eq!(loaded.layout("pairs").unwrap(), (&[5][..], DType::F64, true));
    assert_eq!(
        loaded.array("pairs", &team, &dist).unwrap().to_vec::<f64>().unwrap(),
        pairs.to_vec().unwrap()
    );
    assert_eq!(loaded.layout("one").unwrap(), (&[][..], DType::F32, false));
    let line = Distribution::default_partition(2, &[1]).unwrap();
    let nothing = Distribution::default_partition(2, &[]).unwrap();
    assert_eq!(loaded.array("one", &team, &nothing).unwrap().item::<f32>().unwrap(), 2.5);
    assert!(loaded.array("BF16", &team, &dist).unwrap().to_vec::<bf16>().is_ok());
    for (name, value) in [("tiny", 5e-324), ("minus", -0.0f64), ("third", 1.0 / 3.0), ("nan", nan)] {
        assert_eq!(loaded.float(name).unwrap().to_bits(), value.to_bits(), "{name}");
    }
    assert_eq!(loaded.value("text").unwrap(), Some(&"two\nlines".into()));
    assert_eq!(loaded.value("flag").unwrap(), Some(&false.into()));
    assert_eq!(loaded.value("one").unwrap(), None);

    let refused = |state: &[(&str, Saved)]| save_state(&team, &folder.0, state).unwrap_err().to_string();
    assert!(refused(&[("../u", 1.into())]).contains("expected different names"));
    assert!(refused(&[("u", 1.into()), ("u", 2.into())]).contains("expected different names"));
    let bent = Saved::Shaped { array: pairs, shape: vec![4], pairs: true };
    assert!(refused(&[("u", bent)]).contains("expected a shape of the elements"));
    assert!(loaded.int("third").unwrap_err().to_string().contains("expected a whole number, of Bool, I8"));
    let error = loaded.array("F32", &team, &line).unwrap_err().to_string();
    assert!(error.contains("load_state: expected shape [5, 2]"), "{error}");
}

/// Every file with one byte changed, at its begin, middle and end, cut off, longer, or removed.
#[test]
fn damaged_states_are_refused_by_the_name_of_the_file() {
    let folder = Folder::new("damaged");
    let team = Team::on(&[Device::host()], 2).unwrap();
    let dist = Distribution::builder(&[40, 30]).grid(&[2, 1]).build().unwrap();
    let u = made(&team, &dist, DType::F64);
    save_state(&team, &folder.0, &[("u", (&u).into()), ("t", 0.5.into())]).unwrap();
    let load = || SavedState::open(&team, &folder.0)?.array("u", &team, &dist);
    assert_eq!(load().unwrap().to_vec::<f64>().unwrap(), u.to_vec::<f64>().unwrap());
    let mut count = 0;
    for path in [folder.file("u"), folder.0.join("manifest")] {
        let whole = fs::read(&path).unwrap();
        let changed = |at: usize| {
            let mut bytes = whole.clone();
            bytes[at] ^= 16;
            Some(bytes)
        };
        let mut longer = whole.clone();
        longer.push(0);
        let places = [0, 9, 70, 128, whole.len() / 2, whole.len() - 1];
        let mut cases: Vec<Option<Vec<u8>>> =
            places.into_iter().filter(|at| *at < whole.len()).map(changed).collect();
        cases.extend([Some(longer), None]);
        cases.extend([0, 1, 60, whole.len() - 1].map(|length| Some(whole[..length].to_vec())));
        for case in cases {
            match &case {
                Some(bytes) => fs::write(&path, bytes).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            let Err(Error::File { fault, path: named, .. }) = load() else { panic!("{path:?} {case:?}") };
            let nothing = case.is_none() && path.ends_with("manifest");
            assert_eq!(fault, if nothing { FileFault::Missing } else { FileFault::Damaged });
            assert_eq!(Path::new(&named), path);
            count += 1;
        }
        fs::write(&path, &whole).unwrap();
        assert!(load().is_ok());
    }
    ran("damaged-states", &Device::host(), count);
}

#[test]
fn ranks_save_together_and_other_ranks_load() {
    let folder = Folder::new("ranks");
    let elsewhere = folder.0.join("not").join("there");
    let run = |count: usize, program: &(dyn Fn(&Team) -> Vec<f64> + Sync)| {
        let ends =
            threads::run(count, |ranks: Ranks| program(&Team::over(&ranks, &[Device::host()], 2).unwrap()));
        let mut ends: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
        assert!(ends.iter().all(|end| *end == ends[0]));
        ends.swap_remove(0)
    };
    let dist = |team: &Team, d: usize| {
        let mut grid = [1, 1];
        grid[d] = team.size() as i64;
        Distribution::builder(&[30, 17]).grid(&grid).build().unwrap()
    };
    let saved = run(3, &|team| {
        let u = made(team, &dist(team, 1), DType::F64);
        save_state(team, &folder.0, &[("u", (&u).into()), ("step", 1.into())]).unwrap();
        // What one rank cannot do, all refuse, and go on.
        let there = if team.rank() == 2 { &elsewhere } else { &folder.0 };
        let long = made(team, &dist(team, 0), DType::F64);
        let error = save_state(team, there, &[("u", (&long).into()), ("step", 2.into())]).unwrap_err();
        let Error::File { fault: FileFault::Missing, path, .. } = error else { panic!("{error}") };
        assert!(Path::new(&path).starts_with(&elsewhere), "{path}");
        u.to_vec().unwrap()
    });
    for count in [1, 2, 4] {
        let loaded = run(count, &|team| {
            let state = SavedState::open(team, &folder.0).unwrap();
            assert_eq!(state.int("step").unwrap(), 1);
            state.array("u", team, &dist(team, 0)).unwrap().to_vec().unwrap()
        });
        assert_eq!(loaded, saved, "{count} ranks");
    }
    let file = folder.file("u");
    let mut bytes = fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&file, bytes).unwrap();
    run(2, &|team| {
        let state = SavedState::open(team, &folder.0).unwrap();
        let error = state.array("u", team, &dist(team, 0)).unwrap_err();
        assert!(matches!(error, Error::File { fault: FileFault::Damaged, .. }), "{error}");
        Vec::new()
    });
}

/// Every byte flipped, zeroed, and the file cut before it: what is loaded is an error that names the file, or
/// the state as it was. `STATE_STRIDE` says how many bytes are left out between.
#[test]
fn any_damaged_byte_is_refused_or_harmless() {
    let folder = Folder::in_memory("bytes");
    let team = Team::on(&[Device::host()], 2).unwrap();
    let dist = Distribution::builder(&[5, 3]).grid(&[2, 1]).build().unwrap();
    let arrays = [DType::F32, DType::I16].map(|dtype| made(&team, &dist, dtype));
    let state: Vec<(&str, Saved)> = vec![
        ("u", (&arrays[0]).into()),
        ("n", (&arrays[1]).into()),
        ("t", 0.25.into()),
        ("step", 7.into()),
        ("note", "two\nlines %".into()),
    ];
    save_state(&team, &folder.0, &state).unwrap();
    let load = || {
        let state = SavedState::open(&team, &folder.0)?;
        let bytes = |name| state.array(name, &team, &dist)?.to_bytes();
        let values = ["t", "step", "note"].map(|name| state.value(name).map(Option::<&_>::cloned));
        partita::Result::Ok(format!("{:?} {:?} {values:?}", bytes("u")?, bytes("n")?))
    };
    let expected = load().unwrap();
    let (mut refused, mut harmless) = (0, 0);
    for path in [folder.file("u"), folder.file("n"), folder.0.join("manifest")] {
        let whole = fs::read(&path).unwrap();
        for at in (0..whole.len()).step_by(crashes::number("STATE_STRIDE", 13)) {
            let changed = |byte: u8| [&whole[..at], &[byte], &whole[at + 1..]].concat();
            for case in [changed(whole[at] ^ (1 << (at % 8))), changed(0), whole[..at].to_vec()] {
                fs::write(&path, &case).unwrap();
                match load() {
                    Ok(given) => assert_eq!((given, harmless += 1).0, expected, "{path:?} {at}"),
                    Err(Error::File { fault: FileFault::Damaged, path: named, .. }) => {
                        assert_eq!(Path::new(&named), path, "{at}");
                        refused += 1;
                    }
                    Err(error) => panic!("{path:?} {at}: {error}"),
                }
            }
        }
        fs::write(&path, &whole).unwrap();
    }
    assert!(refused > 10 * harmless, "{refused} refused, {harmless} harmless");
    println!("ran: damaged-bytes {refused}");
}
