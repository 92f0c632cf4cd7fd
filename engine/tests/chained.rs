//! Loops whose steps have their messages in them: ranks of one machine, each a process with a CUDA device,
//! which exchange halos while no host waits, through memory that they share or by NCCL, which is simulated as
//! the driver is. Without the simulated driver, whose calls are counted, each test prints why it is skipped.
#![cfg(target_os = "linux")]
#![allow(missing_docs, clippy::unwrap_used)]

mod found;
mod jobs;
mod other;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use jobs::{Way, ends, leave, say, start, team};
use partita::array::Cells;
use partita::prelude::*;

type StepOf = fn(&mut [Array]) -> partita::Result<()>;

/// In place.
fn star5(state: &mut [Array]) -> partita::Result<()> {
    let u = &state[0];
    let sides = u.slice(&s![..-2, 1..-1]) + u.slice(&s![2.., 1..-1]) + u.slice(&s![1..-1, ..-2]);
    let next = 0.125 * (sides + u.slice(&s![1..-1, 2..])) + 0.5 * u.slice(&s![1..-1, 1..-1]);
    state[0].assign(&s![1..-1, 1..-1], &next)
}

/// Around all edges; two memories take turns.
fn around(state: &mut [Array]) -> partita::Result<()> {
    let u = &state[0];
    let sides = u.roll(&[1, 0]) + u.roll(&[-1, 0]) + u.roll(&[0, 1]) + u.roll(&[0, -1]);
    state[0] = 0.125 * sides + 0.5 * u;
    Ok(())
}

/// Two arrays; three memories take turns.
fn wave(state: &mut [Array]) -> partita::Result<()> {
    let (u, before) = (state[0].clone(), state[1].clone());
    let sides = u.slice(&s![..-2, 1..-1]) + u.slice(&s![2.., 1..-1]) + u.slice(&s![1..-1, ..-2]);
    let change = sides + u.slice(&s![1..-1, 2..]) - 4.0 * u.slice(&s![1..-1, 1..-1]);
    let inner = 2.0 * u.slice(&s![1..-1, 1..-1]) - before.slice(&s![1..-1, 1..-1]) + 0.1 * change;
    let mut next = &u * 1.0;
    next.assign(&s![1..-1, 1..-1], &inner)?;
    (state[0], state[1]) = (next, u);
    Ok(())
}

/// Two arrays of different types, each in the halo of the other.
fn pair(state: &mut [Array]) -> partita::Result<()> {
    let (u, v) = (&state[0], &state[1]);
    let next = 0.5 * u.slice(&s![1..-1]) + 0.25 * (v.slice(&s![..-2]) - v.slice(&s![2..])).cast(DType::F32);
    let other = 0.5 * v.slice(&s![1..-1]) + 0.25 * (u.slice(&s![2..]) - u.slice(&s![..-2])).cast(DType::F64);
    state[0].assign(&s![1..-1], &next)?;
    state[1].assign(&s![1..-1], &other)
}

/// Three dimensions.
fn star7(state: &mut [Array]) -> partita::Result<()> {
    let u = &state[0];
    let inner =
        |a: std::ops::Range<i64>, b: std::ops::Range<i64>, c: std::ops::Range<i64>| u.slice(&s![a, b, c]);
    let sum = inner(0..10, 1..7, 1..5) + inner(2..12, 1..7, 1..5) + inner(1..11, 0..6, 1..5);
    let sum = sum + inner(1..11, 2..8, 1..5) + inner(1..11, 1..7, 0..4) + inner(1..11, 1..7, 2..6);
    let next = 0.0625 * sum + 0.5 * inner(1..11, 1..7, 1..5);
    state[0].assign(&s![1..11, 1..7, 1..5], &next)
}

/// Two arrays, one of which needs the neighbour before and one that behind: the first rank and the last only
/// send in one of the exchanges.
fn staggered(state: &mut [Array]) -> partita::Result<()> {
    let (p, v) = (state[0].clone(), &state[1]);
    let flow = v.slice(&s![..-1, ..]) + 0.125 * (p.slice(&s![..-1, ..]) - p.slice(&s![1.., ..]));
    state[1].assign(&s![..-1, ..], &flow)?;
    let v = &state[1];
    let level = p.slice(&s![1.., ..]) + 0.125 * (v.slice(&s![..-1, ..]) - v.slice(&s![1.., ..]));
    state[0].assign(&s![1.., ..], &level)
}

const PROGRAMS: [(&str, StepOf, &[i64], usize); 6] = [
    ("star5", star5, &[24, 18], 1),
    ("around", around, &[24, 18], 1),
    ("wave", wave, &[24, 18], 2),
    ("pair", pair, &[32, 5], 2),
    ("star7", star7, &[12, 8, 6], 1),
    ("staggered", staggered, &[24, 5], 2),
];

/// A program on a team, with the same state wherever it is.
fn begun(name: &str, shape: &[i64], arrays: usize, step: StepOf, team: &Team) -> Loop<StepOf> {
    let dist = Distribution::builder(shape).parts(team.size()).build().unwrap();
    let array = |k: usize| {
        let value = |at: &[i64]| ((at[0] * 7 + at[1] * (5 + 6 * k as i64)) % 19) as f32 * 0.25;
        let array = Array::from_fn(team, &dist, value).unwrap();
        if k == 1 && name == "pair" { array.cast(DType::F64) } else { array }
    };
    Loop::new((0..arrays).map(array).collect(), step)
}

#[test]
fn steps_with_messages_in_them_give_the_same_bits_and_no_host_waits() {
    programs_run(Way::Ipc);
}

#[test]
fn steps_with_messages_by_nccl_give_the_same_bits_and_no_host_waits() {
    programs_run(Way::Nccl);
}

fn programs_run(way: Way) {
    let Some(of_way) = way.settings() else { return };
    let (mut ran, mut times) = (0, Vec::new());
    let soak = std::env::var("PARTITA_SOAK").ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    // Ranks, and the devices and parts of each. NCCL connects one device of each rank.
    let layouts = [(2, 1, 1), (3, 1, 1), (4, 1, 1), (2, 1, 2), (2, 2, 2), (2, 2, 4)];
    let layouts = &layouts[..if way == Way::Ipc { 6 } else { 4 }];
    let runs = layouts.iter().cycle().take(layouts.len() * soak / 3);
    for (seed, &(ranks, devices, parts)) in runs.enumerate() {
        let log = std::env::temp_dir().join(format!("partita-{}-{}-{seed}", way.name(), std::process::id()));
        let own = [
            ("PARTITA_SIM_TRACE", "1".to_owned()),
            ("PARTITA_SIM_SEED", seed.to_string()),
            ("PARTITA_SIM_LOG", log.to_str().unwrap().to_owned()),
            ("CHAINED_PARTS", parts.to_string()),
            ("CHAINED_DEVICES", devices.to_string()),
        ];
        let settings = [&own[..], &of_way].concat();
        let jobs = start("child_runs_programs", ranks, &settings);
        for (rank, (succeeded, text)) in ends(jobs, None, Duration::from_secs(120)).into_iter().enumerate() {
            let said =
                text.lines().filter(|line| !line.starts_with("simcuda: cu")).collect::<Vec<_>>().join("\n");
            let layout = format!("{ranks} ranks of {devices} devices and {parts} parts");
            assert!(succeeded, "rank {rank} of {layout}, seed {seed}: {said}");
            for (name, ..) in PROGRAMS {
                let replays = text.split(&format!("{name} replays\n")).nth(1).unwrap();
                let replays = replays.split(&format!("{name} ends\n")).next().unwrap();
                let count = |call: &str| replays.lines().filter(|line| line.contains(call)).count();
                // Eight or six steps together, and some one by one.
                let launches = count("cuGraphLaunch");
                assert!(launches <= REPLAYS as usize / 6 + 12, "{name}: {launches}");
                // The watch asks from time to time.
                let calls =
                    count("simcuda: cu") - count("cuCtx") - count("cuStreamQuery") - count("cuThread");
                // The devices of a rank are ordered before and behind what they do together.
                let most = launches * (1 + 4 * (devices - 1));
                assert_eq!((calls, count("the host waited")), (most, 0), "{name} on {layout}: {replays}");
                let timed = text.split(&format!("{name} is timed\n")).nth(1).unwrap();
                let own = own_microseconds(timed.split(&format!("{name} was timed\n")).next().unwrap());
                println!("{name} on {layout}: {own:.2} us per step beyond the driver");
                times.push(own);
                ran += 1;
            }
        }
        assert!(!log.exists(), "{}", std::fs::read_to_string(&log).unwrap());
    }
    times.sort_by(f64::total_cmp);
    let [few, median, most] = [times.len() / 4, times.len() / 2, times.len() - 1].map(|at| times[at]);
    println!("of programs and ranks, a quarter took {few:.2} us per step, half {median:.2}, all {most:.2}");
    assert!(few <= LOWER_QUARTILE_MICROSECONDS && median <= MEDIAN_MICROSECONDS, "{times:?}");
    println!("ran: {} {ran}", way.name());
}

/// The median, over the launches, of the processor time that the thread spent outside of the driver between
/// one and the next, per step.
fn own_microseconds(trace: &str) -> f64 {
    let launches = trace.lines().filter(|line| line.contains("cuGraphLaunch")).map(|line| {
        let (_, number) = line.rsplit_once('[').unwrap();
        number.split(' ').next().unwrap().parse::<f64>().unwrap()
    });
    let launches: Vec<f64> = launches.collect();
    let mut between: Vec<f64> = launches.windows(2).map(|pair| pair[1] - pair[0]).collect();
    between.sort_by(f64::total_cmp);
    between[between.len() / 2] * launches.len() as f64 / TIMED as f64 / 1e3
}

const REPLAYS: u64 = 48;
const TIMED: u64 = 240;
/// Of the medians of all programs and ranks. Processor time of a loaded machine is three times that of a
/// quiet one, where the quartile is 0.5 us; one call of the system per exchange makes it 2.4 us.
const LOWER_QUARTILE_MICROSECONDS: f64 = 1.5;
const MEDIAN_MICROSECONDS: f64 = 4.0;

#[test]
#[ignore = "run by another test, as ranks"]
fn child_runs_programs() {
    let parts: usize = std::env::var("CHAINED_PARTS").unwrap().parse().unwrap();
    let team = team(parts);
    for (name, step, shape, arrays) in PROGRAMS {
        let begun = |team: &Team| begun(name, shape, arrays, step, team);
        let alone = Team::on(&[Device::host()], team.size()).unwrap();
        let (mut chained, mut on_host) = (begun(&team), begun(&alone));
        let compare = |chained: &Loop<StepOf>, on_host: &Loop<StepOf>, when: &str| {
            for (one, other) in chained.state().iter().zip(on_host.state()) {
                assert!(one.to_bytes().unwrap() == other.to_bytes().unwrap(), "{name}: {when}");
            }
        };
        // Between runs the state is read and kept, and sums are made.
        let mut kept = Vec::new();
        for (turn, count) in [11, 8, 1, 17, 0, 24, 3].into_iter().enumerate() {
            chained.run(count).unwrap();
            on_host.run(count).unwrap();
            if turn % 2 == 0 {
                compare(&chained, &on_host, "after a run");
                kept.push((chained.state()[0].clone(), on_host.state()[0].to_bytes().unwrap()));
            }
            let sum = |of: &Loop<StepOf>| of.state()[0].sum(&[]).to_bytes().unwrap();
            assert_eq!(sum(&chained), sum(&on_host), "{name}: sum after {count}");
        }
        for (array, bytes) in &kept {
            assert!(&array.to_bytes().unwrap() == bytes, "{name}: a state that was kept");
        }
        assert!(chained.explain().contains("no host waits"), "{name}: {}", chained.explain());
        drop(kept);
        chained.run(1).unwrap();
        team.wait().unwrap();
        say(&format!("{name} replays"));
        chained.run(REPLAYS).unwrap();
        say(&format!("{name} ends"));
        on_host.run(1 + REPLAYS).unwrap();
        compare(&chained, &on_host, "at the end");
        say(&format!("{name} is timed"));
        chained.run(TIMED).unwrap();
        say(&format!("{name} was timed"));
    }
    let transport = team.transport().unwrap().unwrap();
    let way = Way::here();
    assert_eq!((transport.contains("NCCL"), transport.contains("IPC")), way, "{transport}");
    drop(team);
    leave();
}

/// Rank 1 fails at a point: the others name it within 5 s, and no process hangs.
#[test]
fn ranks_that_end_are_named_while_devices_wait_for_them() {
    ranks_fail(Way::Ipc);
}

#[test]
fn ranks_that_end_are_named_while_devices_wait_for_them_by_nccl() {
    ranks_fail(Way::Nccl);
}

fn ranks_fail(way: Way) {
    if way.settings().is_none() {
        return;
    }
    let (mut ran, mut seed) = (0, 0);
    let stride = std::env::var("PARTITA_FAULT_STRIDE").ok().and_then(|text| text.parse().ok()).unwrap_or(79);
    // Behind the first steps, which the host makes.
    let replays = (4..=60).map(|passes| ("loop-replay", passes));
    let points: Vec<_> = replays.chain((30..=230).map(|passes| ("begin-collective", passes))).collect();
    let mut whole = BTreeMap::new();
    // Silence of a live rank shows in words, which NCCL has none of.
    let kinds: &[&str] = match way {
        Way::Ipc => &["error", "panic", "kill", "stop", "hang"],
        Way::Nccl => &["error", "panic", "kill", "stop"],
    };
    let all = kinds.iter().flat_map(|kind| points.iter().map(move |point| (*kind, Some(*point))));
    let all: Vec<_> = all.step_by(stride).chain([("steps", None), ("interrupt", None)]).collect();
    let mut failures = 0;
    for (kind, point) in all {
        // All of them are tried: a run of every point takes an hour.
        let attempt = || rank_fails(way, kind, point, seed);
        match std::panic::catch_unwind(attempt) {
            Ok(left) => {
                ran += left.len();
                left.into_iter().for_each(|what| *whole.entry(what).or_insert(0) += 1);
            }
            Err(_) => failures += 1,
        }
        seed += 1;
    }
    println!("what the arrays hold: {whole:?}");
    assert_eq!(failures, 0, "faults that went wrong");
    // With messages by NCCL launches are not guarded.
    let most = whole.get(if way == Way::Ipc { "whole" } else { "lost" });
    assert!(most.is_some_and(|count| 2 * count > ran), "{whole:?}");
    println!("ran: {}-faults {ran}", way.name());
}

/// What each surviving rank says that its arrays hold.
fn rank_fails(way: Way, kind: &str, point: Option<(&str, u64)>, seed: usize) -> Vec<String> {
    let fault = point.map_or(String::new(), |(point, passes)| format!("1:{point}:{passes}:{kind}"));
    let ranks = 2 + (seed + 1) % 3;
    let devices = if way == Way::Ipc && ranks == 2 && seed.is_multiple_of(2) { 2 } else { 1 };
    let own = [
        ("PARTITA_FAULT", fault.clone()),
        ("CHAINED_FAULT", kind.to_owned()),
        ("CHAINED_PARTS", (devices * (1 + usize::from(seed % 9 == 4))).to_string()),
        ("CHAINED_DEVICES", devices.to_string()),
        ("CHAINED_PROGRAM", (seed % PROGRAMS.len()).to_string()),
        ("PARTITA_DEADLINE_SECONDS", "3".to_owned()),
        ("PARTITA_SIM_SEED", seed.to_string()),
    ];
    let settings = [&own[..], &way.settings().unwrap()].concat();
    let jobs = start("child_fails", ranks, &settings);
    let stopped = matches!(kind, "stop" | "hang").then_some(1);
    let ends = ends(jobs, stopped, Duration::from_secs(20));
    let all = ends.iter().map(|(_, text)| &text[..]).collect::<Vec<_>>().concat();
    assert!(point.is_none() || all.contains("a fault on purpose now"), "{fault}: no fault: {all}");
    let mut held = Vec::new();
    for (rank, (_, text)) in ends.iter().enumerate().filter(|(rank, _)| *rank != 1) {
        let named = format!("on rank {rank} of {ranks}: rank 1 failed in ");
        // Of two ranks that differ neither is right.
        let named = text.contains(&named) || (kind == "steps" && text.contains("different things"));
        let seconds = text.split("seconds: ").nth(1).and_then(|rest| rest.split_whitespace().next());
        let seconds: f64 = seconds.unwrap_or_else(|| panic!("{fault} {kind}: {text}")).parse().unwrap();
        assert!(named && text.contains("reading raises"), "{fault} {kind}, rank {rank}: {text}");
        assert!(seconds < 5.0, "{fault}: {seconds} s: {text}");
        let left = text.split("left: ").nth(1).and_then(|rest| rest.split_whitespace().next());
        held.push(left.unwrap_or("nothing said").to_owned());
        println!("{kind} {fault}: rank {rank} ended after {seconds} s");
    }
    held
}

#[test]
#[ignore = "run by another test, as ranks"]
fn child_fails() {
    let parts: usize = std::env::var("CHAINED_PARTS").unwrap().parse().unwrap();
    let team = team(parts);
    let number: usize = std::env::var("CHAINED_PROGRAM").unwrap().parse().unwrap();
    let (name, step, shape, arrays) = PROGRAMS[number];
    let mut chained = begun(name, shape, arrays, step, &team);
    let (mut begin, mut is_chained) = (Instant::now(), false);
    let mut run = || -> partita::Result<()> {
        chained.run(16)?;
        assert!(chained.explain().contains("no host waits"), "{}", chained.explain());
        is_chained = true;
        for turn in 0..8 {
            begin = Instant::now();
            let is_it = team.rank() == 1 && turn == 2;
            match std::env::var("CHAINED_FAULT").unwrap().as_str() {
                "steps" if is_it => chained.run(37)?,
                // As a program that gives up in the middle of a run of the others.
                "interrupt" if is_it => {
                    team.wire().unwrap().abort("interrupted");
                    chained.run(36)?;
                }
                _ => chained.run(36)?,
            }
            team.wait()?;
        }
        chained.state()[0].to_vec::<f32>().map(drop)
    };
    let Err(error) = run() else { panic!("no fault happened") };
    let seconds = begin.elapsed().as_secs_f64();
    say(&format!("error: {error}\nseconds: {seconds}"));
    // It says by now what the arrays hold.
    let Err(error) = team.wait() else { panic!("no fault is known") };
    let error = error.to_string();
    say(&format!("later: {error}"));
    let read = |array: &Array| -> partita::Result<Vec<Vec<u8>>> {
        let of = |part: &partita::array::Part| {
            let cells = part.region(Cells::Owned).volume()? as usize;
            let mut bytes = vec![0; cells * array.dtype().size_bytes()];
            part.read_into(Cells::Owned, &mut bytes).map(|()| bytes)
        };
        array.parts()?.iter().map(of).collect()
    };
    let held: Vec<partita::Result<Vec<Vec<u8>>>> = chained.state().iter().map(read).collect();
    let step_held = error.split("hold step ").nth(1);
    let step_held = step_held.map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap());
    let is_lost = error.contains(" are lost: ");
    // Where no device was under way, the error does not speak of them.
    let whole = if is_lost { None } else { step_held.map_or(Some(chained.steps()), |n| n.parse().ok()) };
    match whole {
        // The host was in the middle of a step.
        _ if !is_chained => {}
        None => assert!(held.iter().all(partita::Result::is_err), "it is read: {error}"),
        Some(whole) => {
            let alone = Team::on(&[Device::host()], team.size()).unwrap();
            let mut on_host = begun(name, shape, arrays, step, &alone);
            on_host.run(whole).unwrap();
            for (one, other) in held.into_iter().zip(on_host.state()) {
                let part = |part: usize| match other.dtype() {
                    DType::F64 => bytemuck::cast_slice(&other.part_to_vec::<f64>(part).unwrap()).to_vec(),
                    _ => bytemuck::cast_slice(&other.part_to_vec::<f32>(part).unwrap()).to_vec(),
                };
                let first = team.rank() * parts;
                let bytes: Vec<Vec<u8>> = (first..first + parts).map(part).collect();
                assert!(one.unwrap() == bytes, "{name}: other bits than after {whole} steps");
            }
        }
    }
    let left = if is_lost { "lost" } else { "whole" };
    say(&format!("left: {} {name}", if is_chained { left } else { "unchained" }));
    if chained.state()[0].to_vec::<f32>().is_err() {
        say("reading raises");
    }
    drop(chained);
    drop(team);
    leave();
}

/// A driver that lacks a call of those for words is found before anything waits by them.
#[test]
fn hosts_wait_where_the_driver_lacks_a_call() {
    if Way::Ipc.settings().is_none() {
        return;
    }
    let path = std::env::var_os("LD_LIBRARY_PATH").unwrap();
    let library = std::env::split_paths(&path).map(|folder| folder.join("libcuda.so.1"));
    let mut bytes = std::fs::read(library.into_iter().find(|file| file.exists()).unwrap()).unwrap();
    hide(&mut bytes, "cuThreadExchangeStreamCaptureMode");
    let folder = std::env::temp_dir().join(format!("partita-lacks-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("libcuda.so.1"), &bytes).unwrap();
    std::fs::write(folder.join("libcuda.so"), &bytes).unwrap();
    let settings =
        [("LD_LIBRARY_PATH", folder.to_str().unwrap().to_owned()), ("PARTITA_DEBUG", "1".to_owned())];
    let jobs = start("child_lacks_a_call", 2, &settings);
    for (rank, (succeeded, text)) in ends(jobs, None, Duration::from_secs(60)).into_iter().enumerate() {
        let said = text.contains("hosts wait for messages: the driver lacks cuThreadExchange");
        assert!(succeeded && said, "rank {rank}: {text}");
    }
    std::fs::remove_dir_all(folder).unwrap();
    println!("ran: cuda-lacks 2");
}

/// Hides a symbol of a shared library (ELF, 64 bits): whoever asks for it does not find it.
fn hide(library: &mut [u8], name: &str) {
    let number = |at: usize, bytes: usize| {
        library[at..at + bytes].iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
    };
    let (headers, pitch, count) = (number(0x28, 8), number(0x3a, 2), number(0x3c, 2));
    let section = |k: usize| headers + k * pitch;
    let symbols = (0..count).map(section).find(|at| number(at + 4, 4) == 11).unwrap();
    let names = number(section(number(symbols + 0x28, 4)) + 0x18, 8);
    let (first, bytes) = (number(symbols + 0x18, 8), number(symbols + 0x20, 8));
    let is_it = |at: &usize| library[names + number(*at, 4)..].starts_with(format!("{name}\0").as_bytes());
    let symbol = (first..first + bytes).step_by(24).find(is_it).unwrap();
    // Its visibility.
    library[symbol + 5] = 2;
}

#[test]
#[ignore = "run by another test, as ranks"]
fn child_lacks_a_call() {
    let team = team(1);
    let (name, step, shape, arrays) = PROGRAMS[0];
    let mut unchained = begun(name, shape, arrays, step, &team);
    unchained.run(40).unwrap();
    assert!(!unchained.explain().contains("no host waits"));
    let mut on_host = begun(name, shape, arrays, step, &Team::on(&[Device::host()], team.size()).unwrap());
    on_host.run(40).unwrap();
    assert!(unchained.state()[0].to_bytes().unwrap() == on_host.state()[0].to_bytes().unwrap());
    drop(team);
    leave();
}

/// A rank that begins anew, because it has lost what the others still know, finds them again.
#[test]
fn ranks_that_begin_anew_are_met() {
    ranks_begin_anew(Way::Ipc);
}

#[test]
fn ranks_that_begin_anew_are_met_by_nccl() {
    ranks_begin_anew(Way::Nccl);
}

fn ranks_begin_anew(way: Way) {
    let Some(of_way) = way.settings() else { return };
    for seed in 0..3 {
        let settings = [&[("PARTITA_SIM_SEED", seed.to_string())][..], &of_way].concat();
        let jobs = start("child_begins_anew", 3, &settings);
        for (rank, (succeeded, text)) in ends(jobs, None, Duration::from_secs(60)).into_iter().enumerate() {
            assert!(succeeded, "rank {rank}, seed {seed}: {text}");
        }
    }
    println!("ran: {}-anew 9", way.name());
}

#[test]
#[ignore = "run by another test, as ranks"]
fn child_begins_anew() {
    let team = team(1);
    for (name, step, shape, arrays) in PROGRAMS {
        let begun = |team: &Team| {
            let dist = Distribution::builder(shape).parts(team.size()).build().unwrap();
            let one = Array::from_fn(team, &dist, |at| ((at[0] * 7 + at[1] * 5) % 19) as f32 * 0.25).unwrap();
            let other = if name == "pair" { one.cast(DType::F64) } else { &one * 0.5 };
            Loop::new([one, other].into_iter().take(arrays).collect(), step)
        };
        let (mut chained, mut on_host) =
            (begun(&team), begun(&Team::on(&[Device::host()], team.size()).unwrap()));
        for turn in 0..6 {
            let count = [21, 13, 40, 9, 17, 33][turn];
            if team.rank() == turn % 4 {
                // As the Python package does where somebody holds the memory of the state.
                chained = Loop::new(chained.state().to_vec(), step);
            }
            chained.run(count).unwrap();
            on_host.run(count).unwrap();
            // Such a rank steps as another one does in a program of one process, so bits stay the same.
            for (one, other) in chained.state().iter().zip(on_host.state()) {
                assert!(one.to_bytes().unwrap() == other.to_bytes().unwrap(), "{name}, turn {turn}");
            }
        }
        assert!(chained.explain().contains("no host waits"), "{name}: {}", chained.explain());
    }
    drop(team);
    leave();
}
