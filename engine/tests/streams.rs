//! Between CUDA devices of one process the exchange overlaps with the computation, on a stream of its own:
//! results are the same to the bit, and none of the waits between the streams can be left out. The children
//! run on the simulated driver, which orders streams by seed and reports accesses that no wait orders.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;
mod other;
mod raw_access;
mod simulated;

use std::sync::Arc;

use partita::array::record;
use partita::device::Stream;
use partita::index::DimMap;
use partita::plan::{Move, Plan};
use partita::prelude::*;
use partita::program::{Op, Place, Schedule};
use partita::transport::{Field, lower};
use partita::wire::{Ranks, threads};

const SEEDS: usize = 6;

fn gpus() -> Vec<Device> {
    Device::all().iter().filter(|device| device.kind() == DeviceKind::Cuda).cloned().collect()
}

/// Whether children get as many simulated devices as they ask for.
fn is_simulated(name: &str) -> bool {
    let gpus = gpus();
    let simulated = gpus.iter().any(Device::is_software);
    if !simulated {
        println!("skipped: {name} ({} CUDA devices, none of them simulated)", gpus.len());
    }
    simulated
}

/// An ignored test of this file, on so many simulated devices.
fn child(test: &str, devices: usize, seed: usize) -> std::process::Command {
    let mut command = other::test(test);
    command.env("PARTITA_SIM_DEVICES", devices.to_string()).env("PARTITA_SIM_SEED", seed.to_string());
    command
}

fn dist(team: &Team, shape: &[i64], grid: &[i64]) -> Distribution {
    let halo = vec![1; shape.len()];
    Distribution::builder(shape).parts(team.size()).grid(grid).halo(&halo, &halo).build().unwrap()
}

/// Two fields of unlike types, stepped together: their halos travel in one exchange.
fn fields(team: &Team, grid: &[i64]) -> Vec<Array> {
    let dist = dist(team, &[26, 22], grid);
    let u = Array::from_fn(team, &dist, |at| (at[0] * 31 + at[1] * 7 % 13) as f32).unwrap();
    let v = Array::from_fn(team, &dist, |at| (at[0] * 5 - at[1] * 11) as f64 / 3.0).unwrap();
    vec![u, v]
}

fn step(state: &mut [Array]) -> partita::Result<()> {
    let cross = |a: &Array| {
        let rows = a.slice(&s![..-2, 1..-1]) + a.slice(&s![2.., 1..-1]);
        rows + a.slice(&s![1..-1, ..-2]) * 0.5 + a.slice(&s![1..-1, 2..])
    };
    let corners = |a: &Array| a.slice(&s![..-2, ..-2]) - a.slice(&s![2.., 2..]);
    let wide = cross(&state[1]) * 0.25 + corners(&state[1]);
    let u = cross(&state[0]) * 0.125 + corners(&state[0]) + wide.cast(DType::F32) * 0.5;
    let v = wide + state[0].slice(&s![1..-1, ..-2]).cast(DType::F64) * 0.25;
    state[0].assign(&s![1..-1, 1..-1], &u)?;
    state[1].assign(&s![1..-1, 1..-1], &v)
}

type Values = (Vec<f32>, Vec<f64>);

fn values(state: &[Array]) -> Values {
    (state[0].to_vec().unwrap(), state[1].to_vec().unwrap())
}

/// Some steps, each on its own and in a `Loop`.
fn stepped(team: &Team, grid: &[i64]) -> (Values, Values) {
    let mut single = fields(team, grid);
    for _ in 0..4 {
        step(&mut single).unwrap();
    }
    let mut many = Loop::new(fields(team, grid), step);
    many.run(9).unwrap();
    assert!(many.is_replaying());
    (values(&single), values(many.state()))
}

#[test]
fn results_are_the_same_to_the_bit_under_every_order_of_the_streams() {
    if !is_simulated("cuda-streams") {
        return;
    }
    for seed in 0..SEEDS {
        let said = other::said(child("four_devices_agree_with_the_host", 4, seed));
        assert!(said.contains("agreed"), "seed {seed}: {said}");
    }
    println!("ran: cuda-streams {SEEDS}");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn four_devices_agree_with_the_host() {
    let host = Team::on(&[Device::host()], 1).unwrap();
    let expected = stepped(&host, &[1, 1]);
    for (grid, parts) in [([2, 2], 4), ([4, 1], 4), ([2, 4], 8)] {
        let team = Team::on(&gpus(), parts).unwrap();
        assert_eq!(stepped(&team, &grid), expected, "{grid:?}");
    }
    let over = |ranks: Ranks| {
        let mine = &gpus()[2 * ranks.rank()..][..2];
        stepped(&Team::over(&ranks, mine, 2).unwrap(), &[2, 2])
    };
    for outcome in threads::run(2, over) {
        assert_eq!(outcome.unwrap(), expected, "on two ranks with two devices each");
    }
    println!("agreed");
}

#[test]
fn what_fails_within_an_exchange_leaves_no_memory_in_use() {
    if !is_simulated("cuda-streams-failing") {
        return;
    }
    let mut failed = 0;
    for n in 0..12 {
        let (symbol, first) =
            [("cuLaunchKernel", 6), ("cuMemcpyPeerAsync", 1), ("cuStreamWaitEvent", 1)][n % 3];
        let failure = format!("{symbol}:{}:launch_out_of_resources", first + n / 3);
        let mut command = child("steps_go_on_after_one_that_failed", 4, n);
        command.env("PARTITA_SIM_FAIL", failure);
        let said = other::said(command);
        failed += usize::from(said.contains("one failed"));
    }
    assert!(failed > 8, "{failed}");
    println!("ran: cuda-streams-failing {failed}");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn steps_go_on_after_one_that_failed() {
    let team = Team::on(&gpus(), 4).unwrap();
    let run = || -> partita::Result<Vec<f32>> {
        let mut state = fields(&team, &[2, 2]);
        for _ in 0..2 {
            // Its memory is taken by the next, whatever happened.
            step(&mut state)?;
        }
        let sums = (&state[0] * 2.0).slice(&s![1.., ..]);
        sums.to_vec()
    };
    let outcomes: Vec<_> = (0..4).map(|_| run()).collect();
    let good: Vec<&Vec<f32>> = outcomes.iter().flatten().collect();
    assert!(good.len() >= 3 && outcomes[3].is_ok(), "{:?}", outcomes.iter().find(|o| o.is_err()));
    assert!(good.iter().all(|values| *values == good[0]));
    if good.len() == 3 {
        println!("one failed");
    }
}

/// A step whose halos are rows, and so travel from where they are to where they belong.
fn rows(team: &Team) -> Array {
    let u = Array::from_fn(team, &dist(team, &[24, 10], &[team.size() as i64, 1]), |at| at[0] as f32);
    let u = u.unwrap();
    // The first operand says where the result is computed.
    u.slice(&s![1..-1, ..]) * 3.0 + u.slice(&s![..-2, ..]) + u.slice(&s![2.., ..])
}

fn waits(schedule: &Schedule) -> Vec<usize> {
    (0..schedule.len()).filter(|&at| matches!(schedule[at].op, Op::StreamWait { .. })).collect()
}

#[test]
fn no_wait_between_streams_can_be_left_out() {
    if !is_simulated("cuda-waits") {
        return;
    }
    let run = |without: &str, seed: usize| {
        let mut command = child("the_exchange_of_a_step_without_one_of_its_waits", 3, seed);
        command.env("PARTITA_TEST_WITHOUT", without);
        other::said(command)
    };
    for seed in 0..3 {
        let said = run("none", seed);
        assert!(said.contains("clean"), "{said}");
    }
    // Of three devices in a row: three forks, a wait per pair and direction, as many for the givers, and
    // three joins.
    for k in 0..14 {
        let said = run(&k.to_string(), k % 3);
        assert!(said.contains("refused"), "without wait {k}:\n{said}");
    }
    let said = run("14", 0);
    assert!(said.contains("there are 14 waits"), "{said}");
    println!("ran: cuda-waits 14");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn the_exchange_of_a_step_without_one_of_its_waits() {
    let team = Team::on(&gpus(), 3).unwrap();
    let result = rows(&team);
    let mut schedule = record(|| result.eval()).unwrap();
    let expected: Vec<f32> = result.to_vec().unwrap();
    let waits = waits(&schedule);
    if let Ok(without) = std::env::var("PARTITA_TEST_WITHOUT").unwrap().parse::<usize>() {
        if without >= waits.len() {
            println!("there are {} waits", waits.len());
            return;
        }
        schedule.remove(waits[without]);
    }
    // What leaves is written right before the step and right after it.
    let leaving = schedule.iter().filter_map(|command| match (command.stream, &command.op) {
        (Stream::Exchange, Op::Transfer { from_device, from, from_offset, bytes, .. }) => {
            Some((from_device.clone(), Arc::clone(from), *from_offset, *bytes as usize))
        }
        _ => None,
    });
    let leaving: Vec<_> = leaving.collect();
    assert_eq!(leaving.len(), 4);
    let before = leaving.iter().map(|(device, memory, offset, bytes)| {
        let mut row = vec![0; *bytes];
        raw_access::download(device, memory, *offset, &mut row).unwrap();
        row
    });
    let before: Vec<Vec<u8>> = before.collect();
    let write = |rows: &[Vec<u8>]| {
        leaving.iter().zip(rows).try_for_each(|((device, memory, offset, _), row)| {
            raw_access::upload(device, memory, *offset, row)
        })
    };
    let again = || -> partita::Result<Vec<f32>> {
        write(&before)?;
        raw_access::execute(schedule.clone())?;
        write(&before.iter().map(|row| vec![0; row.len()]).collect::<Vec<_>>())?;
        result.to_vec()
    };
    match again() {
        Ok(values) => {
            assert_eq!(values, expected);
            println!("clean");
        }
        Err(error) => println!("refused: {error}"),
    }
}

#[test]
fn what_is_added_shares_launches_and_keeps_its_order() {
    if !is_simulated("cuda-sums") {
        return;
    }
    for seed in 0..3 {
        let said = other::said(child("the_adjoint_of_a_halo_exchange_on_four_devices", 4, seed));
        assert!(said.contains("56 launches add 112 boxes"), "{said}");
    }
    println!("ran: cuda-sums 56");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn the_adjoint_of_a_halo_exchange_on_four_devices() {
    let team = Team::on(&gpus(), 8).unwrap();
    let dist = dist(&team, &[12, 10, 14], &[2; 3]);
    let plan = Plan::halo(&dist, true).unwrap().adjoint();
    // Thirds, so that every other order of additions gives other bits.
    let value = |at: &[i64]| (at[0] * 89 + at[1] * 13 - at[2] * 7) as f64 / 3.0;
    let types = [DType::F32, DType::F64];
    let arrays = types.map(|dtype| Array::zeros(&team, &dist, dtype).unwrap());
    let places = arrays.each_ref().map(|array| array.places().unwrap());
    let all =
        types.iter().zip(&places).flat_map(|(dtype, all)| all.iter().enumerate().map(move |p| (dtype, p)));
    for (dtype, (part, place)) in all {
        let place = place.as_ref().unwrap();
        // What parts add to one cell is not the same number.
        let cells = place.stored.points().map(|at| value(&at) * (1 << (3 * part)) as f64);
        let bytes: Vec<u8> = match dtype {
            DType::F32 => cells.flat_map(|cell| (cell as f32).to_le_bytes()).collect(),
            _ => cells.flat_map(f64::to_le_bytes).collect(),
        };
        raw_access::upload(&place.device, &place.allocation, 0, &bytes).unwrap();
    }
    let fields = [0, 1].map(|k| Field { plan: &plan, from: &places[k], to: &places[k], dtype: types[k] });
    let memory = |field: &Field| -> Vec<Vec<f64>> {
        let part = |place: &Option<Place>| {
            let place = place.as_ref().unwrap();
            let cells = place.stored.volume().unwrap() as usize;
            let mut bytes = vec![0; cells * field.dtype.size_bytes()];
            raw_access::download(&place.device, &place.allocation, 0, &mut bytes).unwrap();
            match field.dtype {
                DType::F32 => bytes.as_chunks().0.iter().map(|b| f64::from(f32::from_le_bytes(*b))).collect(),
                _ => bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect(),
            }
        };
        field.from.iter().map(part).collect()
    };
    // One addition after the other, by receiving and then by sending part.
    let mut moves: Vec<&Move> = plan.moves().iter().collect();
    moves.sort_by_key(|m| (m.to_part, m.from_part));
    let added = |field: &Field, moves: &[&Move]| {
        let mut all = memory(field);
        for m in moves {
            for (from, to) in m.from.points().zip(m.to.points()) {
                let at =
                    |part: usize, cell: &[i64]| field.from[part].as_ref().unwrap().view(cell).offset as usize;
                let sum = all[m.to_part][at(m.to_part, &to)] + all[m.from_part][at(m.from_part, &from)];
                let rounded = if field.dtype == DType::F32 { f64::from(sum as f32) } else { sum };
                all[m.to_part][at(m.to_part, &to)] = rounded;
            }
        }
        all
    };
    let expected = fields.each_ref().map(|field| added(field, &moves));
    let backwards: Vec<&Move> = moves.iter().rev().copied().collect();
    assert!(fields.each_ref().map(|field| added(field, &backwards)) != expected, "any order would do");
    let exchange = lower(&fields).unwrap();
    let boxes = exchange.arrival.iter().filter_map(|command| match &command.op {
        Op::BatchedLaunch { jobs, .. } => Some(jobs.len()),
        Op::Launch { job, .. } => Some(job.memory.len() / 2),
        _ => None,
    });
    let boxes: Vec<usize> = boxes.collect();
    println!("{} launches add {} boxes", boxes.len(), boxes.iter().sum::<usize>());
    raw_access::exchange(exchange).unwrap();
    assert!(fields.each_ref().map(memory) == expected, "other bits");
}

/// The calls of the driver, in order, between what a child prints.
fn calls(said: &str, what: &str) -> Vec<String> {
    let between = said.split(&format!("{what} begins\n")).nth(1);
    let between = between.and_then(|rest| rest.split(&format!("{what} ends\n")).next());
    let lines = between.unwrap_or_else(|| panic!("{what}: {said}")).lines();
    lines.map(|line| line.trim_start_matches("simcuda: ").to_owned()).collect()
}

#[test]
fn the_core_is_queued_before_the_host_waits_for_anything() {
    if !is_simulated("cuda-core-first") {
        return;
    }
    let mut command = child("columns_on_a_gpu_and_elsewhere", 1, 2);
    command.env("PARTITA_SIM_TRACE", "1");
    let said = other::said(command);
    let mut named = vec!["between ranks", "beside the host"];
    if said.contains("beside wgpu begins") {
        named.push("beside wgpu");
    }
    let replayed: Vec<String> = named.iter().map(|what| format!("replayed {what}")).collect();
    for what in named.into_iter().chain(replayed.iter().map(String::as_str)) {
        let calls = calls(&said, what);
        let at = |symbols: &[&str]| -> Vec<usize> {
            let is_one = |call: &String| symbols.iter().any(|symbol| call.contains(symbol));
            (0..calls.len()).filter(|&k| is_one(&calls[k])).collect()
        };
        let (waits, fetches) =
            (at(&["cuEventSynchronize", "cuStreamSynchronize"]), at(&["cuMemcpyDtoHAsync"]));
        let launches = at(&["cuLaunchKernel", "cuGraphLaunch"]);
        // The pack and the core; then the face is waited for; then what came is unpacked and the rim follows.
        assert!(launches.len() >= 3 && !fetches.is_empty(), "{what}: {calls:#?}");
        assert!(launches[1] < waits[0] && waits[0] < launches[2], "{what}: {calls:#?}");
    }
    println!("ran: cuda-core-first 4");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn columns_on_a_gpu_and_elsewhere() {
    let along = |u: &Array| {
        let sides = u.slice(&s![.., ..-2]) + u.slice(&s![.., 2..]) * 0.5;
        u.slice(&s![.., 1..-1]) * 3.0 + sides
    };
    let field = |team: &Team| {
        let dist = Distribution::builder(&[30, 64]).grid(&[1, team.size() as i64]);
        let dist = dist.halo(&[0, 1], &[0, 1]).build().unwrap();
        Array::from_fn(team, &dist, |at| (at[0] * 3 + at[1] * at[1] % 17) as f32).unwrap()
    };
    let run = |team: &Team, what: &str| {
        let says = |word: &str, what: &str| {
            if team.is_here(0) {
                eprintln!("{what} {word}");
            }
        };
        let u = field(team);
        // The second evaluation finds memory and kernels of the first.
        drop(along(&u).eval());
        let u = &u + 0.0;
        u.eval().unwrap();
        let next = along(&u);
        says("begins", what);
        next.eval().unwrap();
        says("ends", what);
        let mut steps = Loop::new(vec![field(team)], |state| {
            let next = along(&state[0]) * 0.25;
            state[0].assign(&s![.., 1..-1], &next)
        });
        steps.run(8).unwrap();
        assert!(steps.is_replaying());
        team.wait().unwrap();
        says("begins", &format!("replayed {what}"));
        steps.run(1).unwrap();
        says("ends", &format!("replayed {what}"));
        (next.to_vec::<f32>().unwrap(), steps.state()[0].to_vec::<f32>().unwrap())
    };
    let gpu = &gpus()[0];
    let expected = run(&Team::on(&[Device::host()], 1).unwrap(), "on the host");
    let over = |ranks: Ranks| {
        let mine = if ranks.rank() == 0 { gpu.clone() } else { Device::host() };
        run(&Team::over(&ranks, &[mine], 1).unwrap(), "between ranks")
    };
    for outcome in threads::run(2, over) {
        assert_eq!(outcome.unwrap(), expected);
    }
    let others = [(Ok(vec![Device::host()]), "beside the host"), (Device::named("wgpu"), "beside wgpu")];
    for (others, what) in others {
        let Ok(others) = others else { continue };
        let team = Team::of(vec![gpu.clone(), others[0].clone()]).unwrap();
        assert_eq!(run(&team, what), expected, "{what}");
    }
}

#[test]
fn a_long_message_leaves_and_reaches_a_device_piece_by_piece() {
    if !is_simulated("cuda-pieces") {
        return;
    }
    for seed in 0..3 {
        let mut command = child("long_messages_from_and_to_a_gpu", 1, seed);
        command.env("PARTITA_SIM_TRACE", "1");
        let said = other::said(command);
        let order = |what: &str| -> String {
            let calls = calls(&said, what);
            let letter = |call: &String| match call.split('(').next().unwrap() {
                "cuMemcpyDtoHAsync_v2" => Some('F'),
                "cuMemcpyHtoDAsync_v2" => Some('U'),
                "cuEventSynchronize" | "cuStreamSynchronize" => Some('w'),
                _ => None,
            };
            calls.iter().filter_map(letter).collect()
        };
        // While a piece is waited for, copied and sent, the next one travels.
        assert_eq!(order("leaving"), "FFwFwFww", "seed {seed}: {said}");
        // Whoever is waited for is not the last that was queued.
        let calls = calls(&said, "coming");
        let event = |call: &str| call.split(['(', ',', ')']).nth(1).unwrap_or_default().trim().to_owned();
        let mut last = None;
        let mut uploads = 0;
        for call in &calls {
            if call.starts_with("cuMemcpyHtoDAsync_v2") {
                uploads += 1;
            } else if call.starts_with("cuEventRecord(") {
                last = Some(event(call));
            } else if call.starts_with("cuEventSynchronize(") {
                assert_ne!(Some(event(call)), last, "seed {seed}: {calls:#?}");
            }
        }
        assert_eq!((uploads, last.is_some()), (4, true), "seed {seed}: {calls:#?}");
    }
    println!("ran: cuda-pieces 3");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn long_messages_from_and_to_a_gpu() {
    // Of f32: four pieces of a mebibyte, the last of them shorter.
    const SIZE: i64 = 900_000;
    let over = |ranks: Ranks| {
        let mine = if ranks.rank() == 0 { gpus()[0].clone() } else { Device::host() };
        let team = Team::over(&ranks, &[mine], 1).unwrap();
        let on = |rank: usize| {
            let map = DimMap::irregular(&[0, if rank == 0 { SIZE } else { 0 }, SIZE]).unwrap();
            Distribution::builder(&[SIZE]).map(0, map).grid(&[2]).build().unwrap()
        };
        let says = |words: &str| {
            if team.is_here(0) {
                eprintln!("{words}");
            }
        };
        let x = Array::from_fn(&team, &on(0), |at| at[0] as f32).unwrap();
        x.eval().unwrap();
        // The first exchange of a team tries its links.
        x.slice(&s![..2]).redistribute(&Distribution::default_partition(2, &[2]).unwrap()).eval().unwrap();
        says("leaving begins");
        let there = x.redistribute(&on(1));
        there.eval().unwrap();
        says("leaving ends");
        says("coming begins");
        let back = there.redistribute(&on(0));
        back.eval().unwrap();
        says("coming ends");
        [there, back].map(|array| array.to_vec::<f32>().unwrap())
    };
    let are_right = |moved: &[Vec<f32>; 2]| {
        moved.iter().all(|values| values.iter().copied().eq((0..SIZE).map(|at| at as f32)))
    };
    let moved = threads::run(2, over).into_iter().map(Result::unwrap);
    assert!(moved.into_iter().all(|moved| are_right(&moved)));
    // Whoever runs when, and however long each piece takes.
    for seed in 0..4 {
        let (ends, _) = simulated::run(2, seed, simulated::PlantedFault::Nothing, over);
        assert!(ends.into_iter().all(|end| are_right(&end.unwrap())), "seed {seed} of the wire");
    }
}

#[test]
fn a_collective_operator_that_is_started_waits_for_nothing() {
    if !is_simulated("cuda-started") {
        return;
    }
    for seed in 0..3 {
        let mut command = child("columns_for_rows_between_a_gpu_and_the_host", 1, seed);
        command.env("PARTITA_SIM_TRACE", "1");
        let said = other::said(command);
        let waits = |what: &str| {
            let calls = calls(&said, what);
            let is_wait = |call: &&String| {
                call.starts_with("cuEventSynchronize(") || call.starts_with("cuStreamSynchronize(")
            };
            (
                calls.iter().any(|call| call.starts_with("cuMemcpyDtoHAsync")),
                calls.iter().filter(is_wait).count(),
            )
        };
        assert_eq!(waits("start"), (true, 0), "seed {seed}: {said}");
        assert!(waits("finish").1 > 0, "seed {seed}: {said}");
    }
    println!("ran: cuda-started 3");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn columns_for_rows_between_a_gpu_and_the_host() {
    let over = |ranks: Ranks| {
        let mine = if ranks.rank() == 0 { gpus()[0].clone() } else { Device::host() };
        let team = Team::over(&ranks, &[mine], 1).unwrap();
        let rows = Partition::world(&team).unwrap().cartesian(&[2, 1]).unwrap();
        let turn = Collective::repartition(&rows, &rows.cartesian(&[1, 2]).unwrap()).unwrap();
        let x = Array::from_fn(&team, &dist(&team, &[9, 8], &[2, 1]), |at| (10 * at[0] + at[1]) as f32);
        let x = x.unwrap();
        x.eval().unwrap();
        let between = || (x.slice(&s![..-2, ..]) + x.slice(&s![2.., ..])).to_vec::<f32>().unwrap();
        // Compiles, and leaves memory behind.
        let expected = (between(), turn.forward(&x).unwrap().to_vec::<f32>().unwrap());
        assert_eq!(expected.1, x.to_vec::<f32>().unwrap());
        let says = |words: &str| {
            if team.is_here(0) {
                eprintln!("{words}");
            }
        };
        says("start begins");
        let pending = turn.start(&x).unwrap();
        says("start ends");
        let other = between();
        says("finish begins");
        let y = pending.finish().unwrap().to_vec::<f32>().unwrap();
        says("finish ends");
        assert_eq!((other, y), expected);
    };
    threads::run(2, over).into_iter().for_each(|end| end.unwrap());
}

/// Fields of two types in three dimensions, of which a step reads the corners.
fn cubes(team: &Team) -> (Array, Array) {
    let side = if team.size() == 1 { 1 } else { 2 };
    let dist = dist(team, &[12, 10, 14], &[side; 3]);
    let value = |at: &[i64]| at[0] * 89 + at[1] * 13 - at[2] * 7;
    let u = Array::from_fn(team, &dist, |at| value(at) as f32).unwrap();
    (u, Array::from_fn(team, &dist, |at| value(at) as f64 / 8.0).unwrap())
}

fn corners((u, v): &(Array, Array)) -> Array {
    let both = |a: &Array| a.slice(&s![..-2, ..-2, ..-2]) + a.slice(&s![2.., 2.., 2..]) * 3.0;
    u.slice(&s![1..-1, 1..-1, 1..-1]).cast(DType::F64) + both(u).cast(DType::F64) + both(v)
}

#[test]
fn a_device_packs_and_unpacks_all_its_faces_in_one_launch_each() {
    if !is_simulated("cuda-packs") {
        return;
    }
    let mut command = child("cubes_on_four_devices", 4, 1);
    command.env("PARTITA_SIM_TRACE", "1");
    let said = other::said(command);
    // Each of the two parts of a device copies two fields for the neighbour beside it, and sends them to six.
    let faces = "faces: [28, 28, 28, 28, 24, 24, 24, 24]";
    assert!(said.contains(faces), "{said}");
    // The calls of the driver, between what the child prints.
    let between = said.split("begins\n").nth(1).and_then(|rest| rest.split("ends\n").next()).unwrap();
    let kernels = between.lines().filter(|line| line.contains("cuLaunchKernel")).count();
    assert_eq!(kernels, 4 * 2, "{between}");
    println!("ran: cuda-packs {kernels}");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn cubes_on_four_devices() {
    let host = Team::on(&[Device::host()], 1).unwrap();
    let expected: Vec<f64> = corners(&cubes(&host)).to_vec().unwrap();
    let team = Team::on(&gpus(), 8).unwrap();
    let result = corners(&cubes(&team));
    let schedule = record(|| result.eval()).unwrap();
    assert_eq!(result.to_vec::<f64>().unwrap(), expected);
    let mut faces = Vec::new();
    let mut exchange = Schedule::new();
    for command in schedule {
        match &command.op {
            op if op.jobs().iter().any(|job| job.program.kernel().kernel().name == "fused") => {}
            Op::BatchedLaunch { jobs, .. } => {
                faces.push(jobs.len());
                exchange.push(command);
            }
            Op::Launch { .. } => panic!("a copy alone"),
            _ => exchange.push(command),
        }
    }
    eprintln!("begins");
    raw_access::execute(exchange).unwrap();
    eprintln!("ends");
    println!("faces: {faces:?}");
    team.wait().unwrap();
}
