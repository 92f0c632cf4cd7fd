//! Ranks of one machine as processes, each with a simulated CUDA device of its own: ignored tests of the same
//! file, whose messages go by one of the ways between GPUs.
#![allow(dead_code, missing_docs, clippy::unwrap_used)]

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::Child;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use partita::prelude::*;
use partita::wire::job;

use crate::{found, other};

pub fn is_simulated() -> bool {
    let is_it = |device: &Device| device.kind() == DeviceKind::Cuda && device.is_software();
    let found = found::devices().iter().any(is_it);
    if !found {
        println!("skipped: cuda-chained (the simulated driver is needed, which prints its calls)");
    }
    found
}

/// What messages go by.
#[derive(Clone, Copy, PartialEq)]
pub enum Way {
    Ipc,
    Nccl,
}

impl Way {
    /// What a way needs in the environment; none, and why is printed, without it.
    pub fn settings(self) -> Option<Vec<(&'static str, String)>> {
        if !is_simulated() {
            return None;
        }
        if self == Way::Ipc {
            return Some(Vec::new());
        }
        // Beside the folder of this test.
        let library = std::env::current_exe().unwrap().parent().unwrap().join("../libsimnccl.so");
        if !library.exists() {
            println!("skipped: nccl (build the simulated one: cargo build -p simnccl)");
            return None;
        }
        let library = library.to_str().unwrap().to_owned();
        Some(vec![("PARTITA_CUDA_IPC", "0".to_owned()), ("PARTITA_NCCL", library)])
    }

    /// Of a rank that was started so: whether its messages go by NCCL, and by CUDA IPC.
    pub fn here() -> (bool, bool) {
        let is_nccl = std::env::var_os("PARTITA_NCCL").is_some();
        (is_nccl, !is_nccl)
    }

    pub fn name(self) -> &'static str {
        match self {
            Way::Ipc => "cuda-chained",
            Way::Nccl => "cuda-nccl",
        }
    }
}

/// A process, and the file of what it prints: a pipe that nobody reads would stop it.
pub type Rank = (Child, PathBuf);

/// Starts an ignored test of this file as the ranks of a job.
pub fn start(test: &str, ranks: usize, settings: &[(&str, String)]) -> Vec<Rank> {
    static JOBS: AtomicUsize = AtomicUsize::new(0);
    let id = format!("chained-{}-{}", std::process::id(), JOBS.fetch_add(1, Ordering::Relaxed));
    let rank = |rank: usize| {
        let mut command = other::test(test);
        command.env("RANK", rank.to_string()).env("WORLD_SIZE", ranks.to_string());
        command.env("LOCAL_WORLD_SIZE", ranks.to_string()).env("TORCHELASTIC_RUN_ID", &id);
        command.env("PARTITA_THREADS", "1").env("PARTITA_SIM_DEVICES", "4");
        command.envs(settings.iter().map(|(name, value)| (name, value)));
        let path = std::env::temp_dir().join(format!("partita-{id}-{rank}"));
        let file = File::create(&path).unwrap();
        (command.stdout(file.try_clone().unwrap()).stderr(file).spawn().unwrap(), path)
    };
    (0..ranks).map(rank).collect()
}

/// Whether each rank succeeded, and what it printed; those that have not ended in time are killed, and a
/// stopped one is.
pub fn ends(mut ranks: Vec<Rank>, stopped: Option<usize>, limit: Duration) -> Vec<(bool, String)> {
    let begin = Instant::now();
    let runs =
        |(rank, (child, _)): (usize, &mut Rank)| Some(rank) != stopped && child.try_wait().unwrap().is_none();
    while begin.elapsed() < limit && ranks.iter_mut().enumerate().any(runs) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let hangs: Vec<bool> = ranks.iter_mut().enumerate().map(runs).collect();
    ranks.iter_mut().for_each(|(child, _)| drop(child.kill()));
    let end = |((mut child, path), hangs): (Rank, bool)| {
        let succeeded = child.wait().unwrap().success();
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        std::fs::remove_file(path).unwrap();
        (succeeded, if hangs { format!("{text}\nIT HANGS") } else { text })
    };
    let all: Vec<(bool, String)> = ranks.into_iter().zip(hangs).map(end).collect();
    assert!(all.iter().all(|(_, text)| !text.ends_with("HANGS")), "{all:#?}");
    all
}

/// The team of this rank, on a device of its own, or on as many as `CHAINED_DEVICES` says.
pub fn team(parts: usize) -> Team {
    let number = |name: &str| std::env::var(name).map_or(1, |text| text.parse::<usize>().unwrap());
    let devices = number("CHAINED_DEVICES");
    let all = match devices {
        1 => number("RANK")..number("RANK") + 1,
        // Ranks divide them.
        _ => 0..number("WORLD_SIZE") * devices,
    };
    let all: Vec<Device> = all.map(|number| Device::cuda(number).unwrap()).collect();
    let team = Team::world_on(&all, parts).unwrap();
    assert_eq!(team.devices().len(), devices);
    team
}

/// Ends together with the other ranks: the harness would not.
pub fn leave() -> ! {
    std::process::exit(if job::leave() { 0 } else { 1 })
}

/// A line to stderr, at once: the simulated driver writes there, too, by a lock of its own.
pub fn say(text: &str) {
    std::io::stderr().write_all(format!("{text}\n").as_bytes()).unwrap();
}
