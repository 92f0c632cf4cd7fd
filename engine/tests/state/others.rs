//! Saved states beside others: files of the user's, programs that load and save meanwhile, states that are
//! lost in part or larger than memory.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use partita::Error;
use partita::error::FileFault;
use partita::io::{SavedState, save_npy, save_state};
use partita::prelude::*;

use super::crashes::{load, save};
use super::{Folder, other};

fn team() -> Team {
    Team::on(&[Device::host()], 2).unwrap()
}

/// The folder that the manifest names.
fn folder_of_state(folder: &Path) -> PathBuf {
    let text = fs::read_to_string(folder.join("manifest")).unwrap();
    folder.join(text.lines().nth(1).unwrap().strip_prefix("folder ").unwrap())
}

fn fault(outcome: partita::Result<impl Sized>) -> (FileFault, String) {
    match outcome.map(drop).unwrap_err() {
        Error::File { fault, path, .. } => (fault, path),
        error => panic!("{error}"),
    }
}

#[test]
fn a_state_that_is_lost_is_no_first_start_and_the_next_save_is_whole() {
    let (folder, team) = (Folder::new("lost"), team());
    assert_eq!(fault(load(&team, &folder.0)).0, FileFault::Missing);
    for step in 1..=3 {
        save(&team, &folder.0, step).unwrap();
    }
    let lost = folder_of_state(&folder.0);
    fs::remove_dir_all(&lost).unwrap();
    fs::create_dir(folder.0.join("state-2")).unwrap();
    let (kind, path) = fault(load(&team, &folder.0));
    assert!(kind == FileFault::Damaged && Path::new(&path).starts_with(&lost), "{path}");
    for step in 4..=6 {
        save(&team, &folder.0, step).unwrap();
        assert_eq!(load(&team, &folder.0).unwrap(), step);
    }
    assert!(folder.0.join("state-2").is_dir());
    fs::remove_file(folder_of_state(&folder.0).join("v.npy")).unwrap();
    let (kind, path) = fault(load(&team, &folder.0));
    assert!(kind == FileFault::Damaged && path.ends_with("v.npy"), "{path}");
}

#[test]
fn files_of_the_user_stay() {
    let (folder, team) = (Folder::new("users"), team());
    let files = ["state-7/data", "state-0/data", "state-00000000deadbeef/u.npy", "manifest.part", "state-1"];
    for name in files {
        let path = folder.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "precious").unwrap();
    }
    // A line of the journal that was not written to its end.
    fs::write(folder.0.join("partita.saving"), "state-7 00\nstate-0").unwrap();
    for step in 1..5 {
        save(&team, &folder.0, step).unwrap();
    }
    for name in files {
        assert_eq!(fs::read(folder.0.join(name)).unwrap(), b"precious", "{name}");
    }
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), files.len() + 3);

    // A manifest of another program is not replaced, a damaged one of ours is.
    let taken = Folder::new("taken");
    fs::create_dir(&taken.0).unwrap();
    fs::write(taken.0.join("manifest"), "Manifest-Version: 1.0\n").unwrap();
    for _ in 0..2 {
        assert_eq!(fault(save(&team, &taken.0, 1)).0, FileFault::Taken);
    }
    assert_eq!(fs::read_dir(&taken.0).unwrap().count(), 1);
    // What a link leads to is not ours to write.
    let linked = Folder::new("linked");
    fs::create_dir(&linked.0).unwrap();
    std::os::unix::fs::symlink(taken.0.join("manifest"), linked.0.join("partita.saving")).unwrap();
    assert_eq!(fault(save(&team, &linked.0, 1)).0, FileFault::Taken);
    assert_eq!(fs::read(taken.0.join("manifest")).unwrap(), b"Manifest-Version: 1.0\n");
    let last = folder_of_state(&folder.0);
    fs::write(folder.0.join("manifest"), "partita state 1\n").unwrap();
    save(&team, &folder.0, 5).unwrap();
    assert!(last.is_dir(), "without a manifest nobody knows whether it matters");
    assert_eq!(load(&team, &folder.0).unwrap(), 5);
}

#[test]
fn one_program_at_a_time_saves_into_a_folder() {
    let (folder, team) = (Folder::new("lock"), team());
    save(&team, &folder.0, 1).unwrap();
    let other = OpenOptions::new().write(true).open(folder.0.join("partita.saving")).unwrap();
    other.lock().unwrap();
    let error = save(&team, &folder.0, 2).unwrap_err();
    assert!(matches!(error, Error::File { fault: FileFault::Taken, .. }), "{error}");
    assert!(error.to_string().contains("another program saves into the folder now"), "{error}");
    assert_eq!(load(&team, &folder.0).unwrap(), 1);
    drop(other);
    save(&team, &folder.0, 3).unwrap();
    assert_eq!(load(&team, &folder.0).unwrap(), 3);
}

/// A monitor: what it opened it reads to the end, and it finds a state at any time.
#[test]
fn a_state_is_loaded_while_others_are_saved() {
    let (folder, team) = (Folder::in_memory("monitor"), team());
    save(&team, &folder.0, 1).unwrap();
    let first = SavedState::open(&team, &folder.0).unwrap();
    save(&team, &folder.0, 2).unwrap();
    let dist = Distribution::default_partition(2, &[24, 5]).unwrap();
    assert_eq!(first.int("step").unwrap(), 1);
    assert!(first.array("v", &team, &dist).unwrap().to_vec::<f64>().unwrap().iter().all(|v| *v == 2.0));

    let mut command = other::test("crashes::a_saver_of_a_job");
    command.env("STATE_FOLDER", &folder.0).env("STATE_STEP", "3").env("PARTITA_THREADS", "1");
    let mut saver = command.stdout(Stdio::null()).spawn().unwrap();
    let (begin, mut loads, mut last) = (Instant::now(), 0, 2);
    while last < 300 && begin.elapsed() < Duration::from_secs(60) {
        let step = load(&team, &folder.0);
        let step = step.unwrap_or_else(|error| {
            saver.kill().unwrap();
            panic!("load {loads}: {error}")
        });
        assert!(step >= last, "{step} after {last}");
        (last, loads) = (step, loads + 1);
    }
    saver.kill().unwrap();
    saver.wait().unwrap();
    assert!(last >= 20, "{last} states in {loads} loads");
    println!("ran: loads-beside-saves {loads}");
}

/// CRC-32, as in zip files.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |sum: u32, _| (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg());
    !bytes.iter().fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), step))
}

#[test]
#[ignore = "another process: started with little memory by the test below"]
fn loader_of_a_large_state() {
    let team = team();
    let state = SavedState::open(&team, std::env::var("STATE_FOLDER").unwrap()).unwrap();
    let shape = state.layout("u").unwrap().0.to_vec();
    let dist = Distribution::default_partition(2, &shape).unwrap();
    let error = state.array("u", &team, &dist).unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { asked_bytes: 16_000_000_000, .. }), "{error}");
    println!("goes on");
}

#[cfg(target_os = "linux")]
#[test]
fn a_state_larger_than_memory_is_an_error() {
    let (folder, team) = (Folder::new("large"), team());
    save(&team, &folder.0, 1).unwrap();
    let with = |shape: &str| {
        let name = folder_of_state(&folder.0).file_name().unwrap().to_str().unwrap().to_owned();
        let text = format!("partita state 1\nfolder {name}\nu array <f8 ({shape}) 00000000\n");
        let sum = crc32(text.as_bytes());
        fs::write(folder.0.join("manifest"), format!("{text}checksum {sum:08x}\n")).unwrap();
    };
    with("4000000000");
    let text = "{'descr': '<f8', 'fortran_order': False, 'shape': (4000000000,), }";
    let header = [b"\x93NUMPY\x01\x00\x76\x00".to_vec(), format!("{text:<117}\n").into_bytes()].concat();
    let path = folder_of_state(&folder.0).join("u.npy");
    fs::write(&path, &header).unwrap();
    File::options().write(true).open(&path).unwrap().set_len(128 + 32_000_000_000).unwrap();
    let test = other::test("others::loader_of_a_large_state");
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -v 8000000; exec \"$0\" \"$@\""])
        .arg(test.get_program())
        .args(test.get_args());
    command.env("STATE_FOLDER", &folder.0).env("PARTITA_THREADS", "1").env("PARTITA_DEVICE", "host");
    assert!(other::said(command).contains("goes on"));
    // More elements than can be counted.
    with("4611686018427387904,16");
    assert_eq!(fault(SavedState::open(&team, &folder.0)).0, FileFault::Damaged);
    with("-1");
    assert_eq!(fault(SavedState::open(&team, &folder.0)).0, FileFault::Damaged);
}

#[test]
fn a_file_is_replaced_whole_or_not_at_all() {
    let (folder, team) = (Folder::in_memory("file"), team());
    fs::create_dir(&folder.0).unwrap();
    let path = folder.0.join("u.npy");
    let dist = Distribution::default_partition(2, &[10, 3]).unwrap();
    let array = |value: f64| Array::full(&team, &dist, Scalar::from_f64(DType::F64, value)).unwrap();
    let is = |value: f64| {
        let bytes = fs::read(&path).unwrap();
        assert_eq!(bytes.len(), 128 + 240);
        bytemuck::pod_collect_to_vec::<u8, f64>(&bytes[128..]).iter().all(|&v| v == value)
    };
    save_npy(&team, &path, &(&array(1.0)).into()).unwrap();
    assert!(is(1.0));
    let mut points = 0;
    for kind in ["error", "full"] {
        for passes in 0.. {
            let (old, new) = (if is(1.0) { 1.0 } else { 2.0 }, if is(1.0) { 2.0 } else { 1.0 });
            partita::wire::inject(passes, kind);
            let saved = save_npy(&team, &path, &(&array(new)).into());
            let over = partita::wire::inject(0, "").is_some();
            assert!(is(new) || (saved.is_err() && is(old)), "{kind} after {passes}");
            let left = fs::read_dir(&folder.0).unwrap().count();
            assert_eq!(left, 1, "{kind} after {passes}: {saved:?}");
            points += 1;
            if over {
                saved.unwrap();
                break;
            }
        }
    }
    println!("ran: points-of-files {points}");
    // A link stays one, and permissions stay.
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let link = folder.0.join("link.npy");
        symlink(&path, &link).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        save_npy(&team, &link, &(&array(3.0)).into()).unwrap();
        assert!(is(3.0) && fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(fault(save_npy(&team, &folder.0, &(&array(1.0)).into())).0, FileFault::Taken);
    assert!(save_npy(&team, &path, &1.into()).is_err());
    assert!(save_state(&team, &path, &[]).is_err());
}
