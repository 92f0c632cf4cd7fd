//! The simulated driver, as programs meet it: each case is a process of its own with the built library on its
//! path as `libcuda.so.1`, its own environment and seed. Bad programs must be caught under every seed, good
//! ones must be right.

#![allow(clippy::unwrap_used, reason = "a test may fail where it likes")]

#[path = "driver/calls.rs"]
mod calls;
#[path = "driver/capture.rs"]
mod capture;
#[path = "driver/faults.rs"]
mod faults;
#[path = "driver/order.rs"]
mod order;
#[path = "driver/processes.rs"]
mod processes;
#[path = "driver/several.rs"]
mod several;
#[path = "driver/through_cudarc.rs"]
mod through_cudarc;
#[path = "driver/words.rs"]
mod words;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// The required content of the log afterwards.
enum Log {
    /// No fault.
    Empty,
    /// One fault that is explained with these words.
    One(&'static str),
}

/// One program and how it is run.
struct Case {
    name: &'static str,
    program: fn(),
    seeds: u64,
    environment: &'static [(&'static str, &'static str)],
    log: Log,
}

const fn good(name: &'static str, program: fn()) -> Case {
    Case { name, program, seeds: 20, environment: &[], log: Log::Empty }
}

const fn bad(name: &'static str, program: fn(), why: &'static str) -> Case {
    Case { name, program, seeds: 20, environment: &[], log: Log::One(why) }
}

impl Case {
    const fn under(self, environment: &'static [(&'static str, &'static str)]) -> Case {
        Case { environment, ..self }
    }

    const fn seeds(self, seeds: u64) -> Case {
        Case { seeds, ..self }
    }
}

fn cases() -> Vec<Case> {
    let all = [
        order::cases(),
        faults::cases(),
        capture::cases(),
        several::cases(),
        processes::cases(),
        through_cudarc::cases(),
        words::cases(),
    ];
    all.into_iter().flatten().collect()
}

/// A case takes milliseconds; what takes this long hangs.
const LONGEST: Duration = Duration::from_secs(60);

/// Says to this binary, started again, which case it is.
const WHICH: &str = "SIMCUDA_DRIVER_CASE";

/// The body of the processes that `all_cases` starts; without a case there is nothing to run.
#[test]
fn one_case() {
    let Ok(name) = std::env::var(WHICH) else { return };
    let case = cases().into_iter().find(|case| case.name == name).expect("a case of this name");
    (case.program)();
    println!("finished: {name}");
}

#[test]
fn all_cases() {
    if std::env::var(WHICH).is_ok() {
        return;
    }
    let folder = library_folder();
    let mut failed = Vec::new();
    let mut ran = 0;
    for case in cases() {
        for seed in 0..case.seeds {
            ran += 1;
            if let Err(why) = run(&case, seed, &folder) {
                failed.push(format!("{} under seed {seed}: {why}", case.name));
                break;
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    std::fs::remove_dir_all(folder).unwrap();
    println!("ran: simcuda-driver {ran}");
}

/// A folder in which the built library has the names under which loaders look for the driver.
fn library_folder() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    let library = exe.parent().unwrap().join("libsimcuda.so");
    assert!(library.exists(), "{} was not built", library.display());
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("driver-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["libcuda.so", "libcuda.so.1"] {
        let link = folder.join(name);
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&library, link).unwrap();
    }
    folder
}

fn run(case: &Case, seed: u64, folder: &Path) -> Result<(), String> {
    let log = folder.join(format!("{}-{seed}.log", case.name));
    let output = folder.join(format!("{}-{seed}.out", case.name));
    let file = File::create(&output).unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "one_case", "--nocapture", "--test-threads=1"])
        .env(WHICH, case.name)
        .env("LD_LIBRARY_PATH", folder)
        .env("PARTITA_SIM_SEED", seed.to_string())
        .env("PARTITA_SIM_LOG", &log)
        .envs(case.environment.iter().copied())
        .stdout(file.try_clone().unwrap())
        .stderr(file)
        .spawn()
        .unwrap();
    let status = wait(child);
    let said = String::from_utf8_lossy(&std::fs::read(&output).unwrap()).into_owned();
    let written = std::fs::read_to_string(&log).unwrap_or_default();
    let logged = match &case.log {
        Log::Empty => written.is_empty(),
        Log::One(words) => {
            written.lines().count() == 1 && written.to_lowercase().contains(&words.to_lowercase())
        }
    };
    let finished =
        status.is_some_and(|status| status.success()) && said.contains(&format!("finished: {}", case.name));
    match (finished, logged) {
        (true, true) => Ok(()),
        (false, _) => Err(format!("{status:?}\n{said}")),
        (true, false) => Err(format!("the log is `{written}`\n{said}")),
    }
}

/// The exit status of a case; none if it hung.
fn wait(mut child: Child) -> Option<ExitStatus> {
    let start = Instant::now();
    loop {
        match child.try_wait().unwrap() {
            Some(status) => return Some(status),
            None if start.elapsed() > LONGEST => {
                child.kill().unwrap();
                child.wait().unwrap();
                return None;
            }
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}
