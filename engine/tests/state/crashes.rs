//! Saves that end at every point, and at random moments: what is loaded then is the old state or the new one,
//! whole, and the next save works.
//!
//! `STATE_STRIDE` and `STATE_KILL_STRIDE` say how many points lie between two that are tried, `STATE_KILLS`
//! how many kills there are at random moments, `STATE_SEED` where the random numbers begin.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use partita::io::{SavedState, save_state};
use partita::prelude::*;
use partita::wire::{Ranks, inject, job, threads};
use partita::{Error, Result};

use super::found::ran;
use super::{Folder, other};

const ALONE: [(&str, f64); 2] = [("u", 1.0), ("v", 2.0)];

pub fn number(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// Saves a state whose arrays follow from the step.
pub fn save(team: &Team, folder: &Path, step: i64) -> Result<()> {
    let dist = Distribution::builder(&[24, 5]).grid(&[team.size() as i64, 1]).build()?;
    let [u, v] =
        ALONE.map(|(_, factor)| Array::full(team, &dist, Scalar::from_f64(DType::F64, factor * step as f64)));
    save_state(team, folder, &[("u", (&u?).into()), ("v", (&v?).into()), ("step", step.into())])
}

/// The step of the state in a folder, which is whole.
pub fn load(team: &Team, folder: &Path) -> Result<i64> {
    let state = SavedState::open(team, folder)?;
    let step = state.int("step")?;
    let dist = Distribution::default_partition(team.size(), &[24, 5])?;
    for (name, factor) in ALONE {
        let array = state.array(name, team, &dist)?.to_vec::<f64>()?;
        assert!(array.iter().all(|&value| value == factor * step as f64), "step {step}: {name} is {array:?}");
    }
    Ok(step)
}

/// After an end of `step`: the state is that or the one before, another save works, and nothing is left over.
fn recover(folder: &Path, step: i64, returned: bool, what: &str) -> i64 {
    let team = Team::on(&[Device::host()], 2).unwrap();
    let found = load(&team, folder).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(found == step || (found == step - 1 && !returned), "{what}: {found}, not {step}");
    save(&team, folder, step + 1).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(load(&team, folder).unwrap(), step + 1, "{what}");
    let mut left: Vec<String> =
        fs::read_dir(folder).unwrap().map(|one| one.unwrap().file_name().into_string().unwrap()).collect();
    left.sort();
    assert!(left.len() == 3 && left[..2] == ["manifest", "partita.saving"], "{what}: {left:?}");
    step + 1
}

/// The rank's file system or messages fail at a point, or the rank ends there.
#[test]
fn a_save_that_fails_at_any_point_leaves_the_old_or_the_new_state() {
    let folder = Folder::in_memory("points");
    let alone = Team::on(&[Device::host()], 2).unwrap();
    save(&alone, &folder.0, 1).unwrap();
    let (stride, mut step, mut count) = (number("STATE_STRIDE", 17), 1, 0);
    for (size, kind) in [1, 2, 3].into_iter().flat_map(|n| ["error", "full", "panic"].map(|kind| (n, kind))) {
        for failing in 0..size {
            for passes in (0..).map(|k| k * stride + (size + failing) % stride) {
                step += 1;
                let what = format!("{kind} on rank {failing} of {size} after {passes} points");
                let ends = threads::run_with_deadline(size, Duration::from_secs(20), |ranks: Ranks| {
                    let team = Team::over(&ranks, &[Device::host()], 2).unwrap();
                    if ranks.rank() == failing {
                        assert!(inject(passes as u64, kind).is_none());
                    }
                    let saved = save(&team, &folder.0, step);
                    (saved, inject(0, "").is_some())
                });
                let ends: Vec<_> = ends.into_iter().map(std::result::Result::ok).collect();
                let returned = ends.iter().flatten().any(|(saved, _)| saved.is_ok());
                for (saved, _) in ends.iter().flatten() {
                    match saved {
                        Err(Error::File { path, reason, .. }) if kind == "full" => {
                            assert!(path.starts_with(folder.0.to_str().unwrap()), "{what}: {path}");
                            assert!(reason.contains("No space left"), "{what}: {reason}");
                        }
                        _ => {}
                    }
                }
                let over = ends[failing].as_ref().is_some_and(|(_, to_come)| *to_come);
                step = recover(&folder.0, step, returned, &what);
                count += 1;
                if over {
                    assert!(ends.iter().flatten().all(|(saved, _)| saved.is_ok()), "{what}");
                    break;
                }
            }
        }
    }
    ran("points-of-saves", &Device::host(), count);
}

/// What a process of a job does: saves the states from `STATE_STEP` on, as many as `STATE_COUNT`.
#[test]
#[ignore = "another process: started by the tests below"]
fn a_saver_of_a_job() {
    let folder = std::env::var("STATE_FOLDER").unwrap();
    let team = Team::world_on(&[Device::host()], 2).unwrap();
    let (first, count) = (number("STATE_STEP", 1) as i64, number("STATE_COUNT", 1 << 40) as i64);
    let fault = std::env::var("STATE_FAULT").ok();
    if let Some((rank, passes)) = fault.as_deref().and_then(|text| text.split_once(':'))
        && rank.parse() == Ok(team.rank())
    {
        inject(passes.parse().unwrap(), "kill");
    }
    let saved = (first..first + count).try_for_each(|step| {
        save(&team, folder.as_ref(), step)?;
        println!("saved {step}");
        Ok::<_, Error>(())
    });
    if let Some(left) = inject(0, "") {
        println!("no fault happened, {left} to go");
    }
    if let Err(error) = saved {
        println!("error: {error}");
        std::process::exit(1);
    }
    // The harness would end the process without the others.
    std::process::exit(if job::leave() { 0 } else { 1 });
}

/// Processes that are started as `torchrun` does.
fn start(folder: &Path, size: usize, settings: &[(&str, String)]) -> Vec<Child> {
    static JOBS: AtomicUsize = AtomicUsize::new(0);
    let id = format!("state-{}-{}", std::process::id(), JOBS.fetch_add(1, Ordering::Relaxed));
    let start = |rank: usize| {
        let mut command = other::test("crashes::a_saver_of_a_job");
        command.env("RANK", rank.to_string()).env("WORLD_SIZE", size.to_string());
        command.env("LOCAL_WORLD_SIZE", size.to_string()).env("TORCHELASTIC_RUN_ID", &id);
        command.env("PARTITA_THREADS", "1").env("PARTITA_DEADLINE_SECONDS", "5").env("STATE_FOLDER", folder);
        command.envs(settings.iter().map(|(name, value)| (*name, value)));
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    };
    (0..size).map(start).collect()
}

/// The last step that a process said it had saved.
fn last_saved(said: &str) -> Option<i64> {
    said.lines().filter_map(|line| line.split_once("saved ")?.1.parse().ok()).max()
}

#[test]
fn a_rank_that_is_killed_at_any_point_leaves_the_old_or_the_new_state() {
    // Side by side: the others of a rank that is killed mostly wait.
    let counts = std::thread::scope(|scope| {
        let jobs = [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]
            .map(|(size, killed)| scope.spawn(move || killed_at_points(size, killed)));
        jobs.map(|job| job.join().unwrap())
    });
    ran("killed-at-points", &Device::host(), counts.iter().sum());
}

/// The number of points at which a rank of a job was killed.
fn killed_at_points(size: usize, killed: usize) -> usize {
    let folder = Folder::in_memory(&format!("killed-{killed}-of-{size}"));
    save(&Team::on(&[Device::host()], 2).unwrap(), &folder.0, 1).unwrap();
    let stride = number("STATE_KILL_STRIDE", 71);
    let (mut step, mut count, mut points) = (1, 0, vec![usize::MAX >> 1]);
    while let Some(passes) = points.pop() {
        step += 1;
        let what = format!("rank {killed} of {size} killed after {passes} points");
        let fault = format!("{killed}:{passes}");
        let settings =
            [("STATE_FAULT", fault), ("STATE_STEP", step.to_string()), ("STATE_COUNT", "1".into())];
        let ends =
            start(&folder.0, size, &settings).into_iter().map(|child| child.wait_with_output().unwrap());
        let said: Vec<String> = ends.map(|end| String::from_utf8_lossy(&end.stdout).into_owned()).collect();
        let returned = said.iter().any(|text| last_saved(text).is_some());
        step = recover(&folder.0, step, returned, &what);
        let left = said[killed].split_once("no fault happened, ").map(|(_, text)| text.split_once(' '));
        let Some(left) = left.flatten().map(|(left, _)| left.parse::<usize>().unwrap()) else {
            count += 1;
            continue;
        };
        assert!(count == 0 && passes == usize::MAX >> 1 && returned, "{what}: {said:?}");
        let all = passes - left;
        // Closer at the end, where the new state takes the old one's place.
        let last = [2, 6, 14].map(|before| all.saturating_sub(before));
        points.extend(
            (0..all).filter(|at| at % stride == (13 * size + 31 * killed) % stride || last.contains(at)),
        );
    }
    count
}

#[test]
fn kills_at_random_moments_lose_nothing_that_was_saved() {
    let (kills, seed) = (number("STATE_KILLS", 8), number("STATE_SEED", 1) as u64);
    let (folder, mut random, mut next) = (Folder::in_memory("kills"), seed, 1);
    for kill in 0..kills {
        let mut draw = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let size = draw(3) as usize + 1;
        let victim = draw(size as u64) as usize;
        let mut children = start(&folder.0, size, &[("STATE_STEP", next.to_string())]);
        // From the first state on they save without a pause.
        let mut output = BufReader::new(children[victim].stdout.take().unwrap());
        let mut said = String::new();
        while last_saved(&said).is_none() {
            assert!(output.read_line(&mut said).unwrap() > 0, "no process came as far as to save: {said}");
        }
        std::thread::sleep(Duration::from_micros(draw(60_000)));
        children[victim].kill().unwrap();
        output.read_to_string(&mut said).unwrap();
        for child in children {
            said += &String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout);
        }
        let what = format!("seed {seed}, kill {kill}, rank {victim} of {size}");
        let found = load(&Team::on(&[Device::host()], 3).unwrap(), &folder.0);
        let (found, reported) =
            (found.unwrap_or_else(|error| panic!("{what}: {error}")), last_saved(&said).unwrap());
        assert!(found == reported || found == reported + 1, "{what}: {found}, said {reported}");
        next = found + 1;
    }
    ran("killed-savers", &Device::host(), kills);
    println!("{kills} kills from seed {seed}; {} states were saved", next - 1);
}
