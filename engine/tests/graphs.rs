//! Replayed steps on CUDA devices: several steps are one launch of a graph, with the copies between devices
//! and the waits inside. Without the simulated driver, whose calls are counted, each test prints why it is
//! skipped.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;
mod other;

use partita::prelude::*;

/// The devices of the simulated driver.
fn gpus() -> Vec<Device> {
    let all = found::devices().into_iter();
    let gpus: Vec<Device> = all.filter(|gpu| gpu.kind() == DeviceKind::Cuda && gpu.is_software()).collect();
    if gpus.is_empty() {
        println!("skipped: cuda-graphs (the simulated driver is needed, which prints its calls)");
    }
    gpus
}

/// What an ignored test of this file prints in a process of its own, and the calls of the driver.
fn traced(test: &str, seed: usize) -> String {
    let mut command = other::test(test);
    command.envs([("PARTITA_SIM_TRACE", "1"), ("PARTITA_SIM_DEVICES", "4")]);
    command.env("PARTITA_SIM_SEED", seed.to_string());
    other::said(command)
}

#[test]
fn replayed_steps_are_launches_of_graphs() {
    if gpus().is_empty() {
        return;
    }
    let calls = traced("child_replays", 0);
    // With each launch of a graph of several devices these wait for each other.
    for (devices, parts, waits) in CASES.map(|[devices, parts]| (devices, parts, 4 * (devices - 1))) {
        let begun = calls.split(&format!("replays of {parts} parts on {devices} begin\n")).nth(1).unwrap();
        let replays = begun.split("replays end").next().unwrap();
        let count = |call: &str| replays.lines().filter(|line| line.contains(call)).count();
        println!(
            "{parts} parts on {devices} devices: {} calls of the driver in {REPLAYS} steps, {} of them for \
             contexts",
            count("simcuda: cu"),
            count("cuCtx")
        );
        // Eight steps together, and four one by one.
        let launches = 2 + 4;
        assert_eq!(count("cuGraphLaunch"), launches, "{parts} parts on {devices}:\n{replays}");
        assert_eq!(
            count("simcuda: cu") - count("cuCtx"),
            launches * (1 + waits),
            "{parts} parts on {devices}"
        );
    }
    println!("ran: cuda-replays {}", CASES.len() * REPLAYS as usize);
}

/// So many that some are left after whole graphs.
const REPLAYS: u64 = 20;

/// Devices and parts.
const CASES: [[usize; 2]; 4] = [[1, 1], [1, 4], [2, 2], [4, 4]];

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_replays() {
    for [devices, parts] in CASES {
        let heat = |team: &Team| {
            let dist = Distribution::builder(&[64]).parts(parts).halo(&[1], &[1]).build().unwrap();
            let u = Array::from_fn(team, &dist, |at| at[0] as f32).unwrap();
            Loop::new(vec![u], |state| {
                let u = &state[0];
                let next = u.slice(&s![1..-1]) + 0.1 * (u.slice(&s![..-2]) - u.slice(&s![2..]));
                state[0].assign(&s![1..-1], &next)
            })
        };
        let team = Team::on(&gpus()[..devices], parts).unwrap();
        let mut on_gpus = heat(&team);
        on_gpus.run(12).unwrap();
        assert!(on_gpus.is_replaying());
        eprintln!("replays of {parts} parts on {devices} begin");
        on_gpus.run(REPLAYS).unwrap();
        eprintln!("replays end");
        let mut on_host = heat(&Team::on(&[Device::host()], parts).unwrap());
        on_host.run(12 + REPLAYS).unwrap();
        let cells = |of: &Loop<_>| of.state()[0].to_vec::<f32>().unwrap();
        assert_eq!(cells(&on_gpus), cells(&on_host));
    }
}

/// A step of five points on a field of 128 x 128 cells: the launches of an evaluation, and of a step in a
/// graph. Parts of one device have one launch for all faces and one for all parts.
#[test]
fn parts_of_one_device_share_launches() {
    if gpus().is_empty() {
        return;
    }
    let said = traced("child_smooths", 0);
    for grid in GRIDS {
        let between = |what: &str| {
            let begun = said.split(&format!("{what} of {grid:?} begins\n")).nth(1).unwrap();
            begun.split(&format!("{what} of {grid:?} ends\n")).next().unwrap()
        };
        let launches = |calls: &str| calls.matches("cuLaunchKernel").count();
        let evaluated = launches(between("evaluation"));
        // At last a graph of a step from each of two memories to the other, and one of eight steps.
        let captured = between("recording").split("cuStreamBeginCapture").skip(1);
        let captured = captured.map(|calls| launches(calls.split("cuStreamEndCapture").next().unwrap()));
        let recorded: Vec<usize> = captured.collect();
        println!("{grid:?}: {evaluated} launches of an evaluation, {recorded:?} of graphs");
        // The faces between parts; the parts; the cells that the step keeps, which graphs copy once.
        let expected = usize::from(grid != [1, 1]) + if grid == [1, 7] { 2 } else { 1 };
        assert_eq!(evaluated, expected + 1, "{grid:?}");
        assert!(recorded.ends_with(&[expected, expected, 8 * expected]), "{grid:?} {recorded:?}");
    }
    println!("ran: cuda-launches {}", 2 * GRIDS.len());
}

/// Of one part, of parts alike, of parts that differ by a row or a column. The first of seven begins at
/// another place of a vector than the others.
const GRIDS: [[i64; 2]; 5] = [[1, 1], [4, 1], [2, 2], [3, 1], [1, 7]];

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_smooths() {
    let smooth = |u: &mut Array| {
        let sides = u.slice(&s![..-2, 1..-1]) + u.slice(&s![2.., 1..-1]) + u.slice(&s![1..-1, ..-2]);
        let change = sides + u.slice(&s![1..-1, 2..]) - 4.0 * u.slice(&s![1..-1, 1..-1]);
        let next = u.slice(&s![1..-1, 1..-1]) + 0.1 * change;
        u.assign(&s![1..-1, 1..-1], &next)
    };
    let field = |device: Device, grid: [i64; 2]| {
        let team = Team::on(&[device], (grid[0] * grid[1]) as usize).unwrap();
        let dist = Distribution::builder(&[128, 128]).grid(&grid).halo(&[1, 1], &[1, 1]).build().unwrap();
        Array::from_fn(&team, &dist, |at| (at[0] * 3 + at[1] * at[1] % 17) as f32).unwrap()
    };
    let mut expected = field(Device::host(), [1, 1]);
    (0..16).for_each(|_| smooth(&mut expected).unwrap());
    let expected = expected.to_vec::<f32>().unwrap();
    for grid in GRIDS {
        let mut u = field(gpus()[0].clone(), grid);
        (0..4).for_each(|_| smooth(&mut u).unwrap());
        eprintln!("evaluation of {grid:?} begins");
        smooth(&mut u).unwrap();
        eprintln!("evaluation of {grid:?} ends");
        (0..11).for_each(|_| smooth(&mut u).unwrap());
        assert!(u.to_vec::<f32>().unwrap() == expected, "evaluated, {grid:?}");
        let mut steps = Loop::new(vec![field(gpus()[0].clone(), grid)], |state| smooth(&mut state[0]));
        eprintln!("recording of {grid:?} begins");
        steps.run(16).unwrap();
        eprintln!("recording of {grid:?} ends");
        assert!(steps.is_replaying());
        assert!(steps.state()[0].to_vec::<f32>().unwrap() == expected, "replayed, {grid:?}");
    }
}

/// The steps of a program: functions of its arrays and of a number that changes from step to step.
type StepOf = fn(&mut [Array], &[Array]) -> partita::Result<()>;

/// A wave: three memories take turns, halos travel while the core is computed.
fn wave(state: &mut [Array], numbers: &[Array]) -> partita::Result<()> {
    let (u, before) = (state[0].clone(), state[1].clone());
    let sides = u.slice(&s![..-2, 1..-1]) + u.slice(&s![2.., 1..-1]) + u.slice(&s![1..-1, ..-2]);
    let change = sides + u.slice(&s![1..-1, 2..]) - 4.0 * u.slice(&s![1..-1, 1..-1]);
    let inner = 2.0 * u.slice(&s![1..-1, 1..-1]) - before.slice(&s![1..-1, 1..-1]) + 0.1 * change;
    let mut next = &u * 1.0;
    next.assign(&s![1..-1, 1..-1], &(inner + &numbers[0]))?;
    (state[0], state[1]) = (next, u);
    Ok(())
}

/// Sums over all devices: partial results are copied between them and go back to all.
fn balance(state: &mut [Array], numbers: &[Array]) -> partita::Result<()> {
    let mean = state[0].sum(&[0]) * (1.0 / 18.0);
    let next = &state[0] - 0.5 * mean + &numbers[0];
    state[0] = next;
    Ok(())
}

/// Rows for columns and back.
fn turn(state: &mut [Array], numbers: &[Array]) -> partita::Result<()> {
    let (u, mut next) = (state[0].clone(), &state[1] * 0.5);
    let turned = u.transpose(&[1, 0]).slice(&s![..18, ..]) - &numbers[0];
    let other = next.slice(&s![.., ..18]);
    next.assign(&s![.., ..18], &(other + turned * 0.25))?;
    (state[0], state[1]) = (next, u);
    Ok(())
}

const PROGRAMS: [(&str, StepOf); 3] = [("wave", wave), ("balance", balance), ("turn", turn)];

#[test]
fn steps_of_several_devices_are_right_in_every_order_and_leave_the_host_nothing_to_copy() {
    if gpus().is_empty() {
        return;
    }
    for seed in 0..3 {
        let said = traced("child_runs_programs", seed);
        for (name, _) in PROGRAMS {
            let replayed = said.split(&format!("{name} replays\n")).nth(1).unwrap();
            let replayed = replayed.split(&format!("{name} ends\n")).next().unwrap();
            let count = |call: &str| replayed.lines().filter(|line| line.contains(call)).count();
            assert!(count("cuGraphLaunch") <= 2 + 8, "{name}, seed {seed}: {replayed}");
            // What the host copies is the table of numbers.
            let calls = ["cuMemcpyPeer", "cuMemcpyDtoD", "cuMemcpyDtoH", "cuLaunchKernel"];
            assert_eq!(calls.map(count), [0; 4], "{name}, seed {seed}");
        }
    }
    println!("ran: cuda-graphs {}", 3 * PROGRAMS.len());
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_runs_programs() {
    for (name, step) in PROGRAMS {
        let started = |team: &Team| {
            let dist = Distribution::builder(&[18, 22]).grid(&[2, 2]).halo(&[1, 1], &[1, 1]).build().unwrap();
            let array = |seed: i64| {
                Array::from_fn(team, &dist, |at| ((at[0] * 7 + at[1] * seed) % 19) as f32 * 0.25).unwrap()
            };
            Loop::with_numbers(vec![array(5), array(11)], step)
        };
        let mut on_gpus = started(&Team::on(&gpus(), 4).unwrap());
        let mut on_host = started(&Team::on(&[Device::host()], 4).unwrap());
        let cells = |state: &[Array]| -> Vec<Vec<f32>> {
            state.iter().map(|array| array.to_vec::<f32>().unwrap()).collect()
        };
        // Between runs the state is read and kept, and memory of its size comes and goes.
        let mut kept = Vec::new();
        for (turn, count) in [5, 8, 1, 17, 24, 3, 40].into_iter().enumerate() {
            let number = |k: u64| [(k % 5) as f32 * 0.125 - turn as f32];
            on_gpus.run_with(count, number).unwrap();
            on_host.run_with(count, number).unwrap();
            assert_eq!(cells(on_gpus.state()), cells(on_host.state()), "{name}: {count} steps");
            if turn % 2 == 0 {
                kept.push((on_gpus.state()[0].clone(), cells(on_host.state())));
            }
            drop((&on_gpus.state()[0] + 1.0).eval());
        }
        for (array, cells) in &kept {
            assert_eq!(&array.to_vec::<f32>().unwrap(), &cells[0], "{name}: a state that was kept");
        }
        assert!(on_gpus.is_replaying());
        drop(kept);
        let none = |_| [0.0f32];
        on_gpus.run_with(1, none).unwrap();
        eprintln!("{name} replays");
        on_gpus.run_with(19, none).unwrap();
        eprintln!("{name} ends");
        on_host.run_with(20, none).unwrap();
        assert_eq!(cells(on_gpus.state()), cells(on_host.state()), "{name}");
    }
}
