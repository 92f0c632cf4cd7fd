//! Messages between ranks travel while the core is computed, one message per pair of ranks.
#![allow(missing_docs, clippy::unwrap_used)]

mod other;
mod raw_access;

use std::time::Instant;

use partita::array::record;
use partita::plan::Plan;
use partita::prelude::*;
use partita::program::{Command, Op, Schedule, Transport};
use partita::transport::{Field, RankLink, lower_between_ranks, select_between_ranks};
use partita::wire::{Ranks, threads};

/// What a command is, in one letter.
fn letter(command: &Command) -> char {
    match &command.op {
        Op::Launch { .. } | Op::BatchedLaunch { .. } => 'L',
        Op::Transfer { .. } => 'T',
        Op::RecordHash { .. } => 'N',
        Op::BeginCollective { .. } => 'M',
        Op::PostReceive { .. } | Op::PostReceiveInPlace(_) => 'E',
        Op::StartDownload { .. } => 'F',
        Op::Send { .. } | Op::SendReceive { .. } => 'S',
        Op::Receive(_) => 'R',
        Op::WaitAll { .. } | Op::WaitForReaders { .. } => 'Z',
        Op::WaitForDevices { .. } | Op::WaitForPeers { .. } => 'Z',
        Op::StreamWait { .. } => 'A',
    }
}

fn letters(schedule: &Schedule) -> String {
    // Comparing signatures takes no time.
    schedule.iter().map(letter).filter(|&letter| letter != 'N').collect()
}

/// Three fields that a step reads on both sides, on `parts` members per rank.
fn fields(team: &Team) -> Vec<Array> {
    let dist = Distribution::builder(&[24, 10]).parts(team.size()).halo(&[1, 0], &[1, 0]).build().unwrap();
    let field = |k: i64| Array::from_fn(team, &dist, |at| (100 * k + 10 * at[0] + at[1] % 7) as f32).unwrap();
    (0..3).map(field).collect()
}

fn step(fields: &[Array]) -> Array {
    let sides = |u: &Array| u.slice(&s![..-2, ..]) + u.slice(&s![2.., ..]);
    // The first operand says where the result is computed.
    let centre = fields[2].slice(&s![1..-1, ..]);
    &centre + sides(&fields[0]) * 0.5 + sides(&fields[1]) * 0.25 - sides(&fields[2]) * &centre
}

/// The commands of one step on a rank whose arrays were read before, and the result.
fn run(ranks: &Ranks, parts: usize) -> (String, Vec<u64>, Vec<f32>) {
    let team = Team::over(ranks, &[Device::host()], parts).unwrap();
    let fields = fields(&team);
    let result = step(&fields);
    let schedule = record(|| result.eval()).unwrap();
    let extents = |command: &Command| match &command.op {
        Op::Launch { job, .. } => Some(job.launch.extents.iter().map(|&e| e as u64).product()),
        _ => None,
    };
    let computed = schedule.iter().filter_map(extents).collect();
    (letters(&schedule), computed, result.to_vec().unwrap())
}

#[test]
fn the_core_is_computed_while_halos_travel_in_one_message() {
    let alone = {
        let team = Team::on(&[Device::host()], 3).unwrap();
        step(&fields(&team)).to_vec::<f32>().unwrap()
    };
    let all = threads::run(3, |ranks| run(&ranks, 1));
    for (rank, outcome) in all.into_iter().enumerate() {
        let (commands, computed, values) = outcome.unwrap();
        assert_eq!(values, alone, "rank {rank}");
        let neighbours = if rank == 1 { 2 } else { 1 };
        let count = |which| commands.chars().filter(|&c| c == which).count();
        assert_eq!((count('M'), count('S'), count('R')), (1, neighbours, neighbours), "{rank}: {commands}");
        // Faces of rows are contiguous: nothing is packed, so every launch computes.
        let receive = commands.find('R').unwrap();
        assert_eq!(commands[..receive].matches('L').count(), 1, "rank {rank}: {commands}");
        assert_eq!(commands[receive..].matches('L').count(), neighbours, "rank {rank}: {commands}");
        // Rows 1..23 in parts of 8: the rim is one row per neighbour.
        let rows = if rank == 1 { 8 } else { 7 };
        assert_eq!(computed[0], 10 * (rows - neighbours as u64), "rank {rank}");
        assert_eq!(computed.iter().sum::<u64>(), 10 * rows, "rank {rank}");
    }
}

/// Columns, so that faces are packed, on a wgpu device of rank 0 and the host of rank 1.
#[test]
fn a_wgpu_device_has_its_core_to_compute_before_the_host_waits_for_its_faces() {
    let Ok(gpus) = Device::named("wgpu") else {
        println!("skipped: wgpu-core-first (no adapter answered)");
        return;
    };
    let across =
        |u: &Array| u.slice(&s![.., 1..-1]) * 3.0 + u.slice(&s![.., ..-2]) + u.slice(&s![.., 2..]) * 0.5;
    let over = |ranks: Ranks| {
        let mine = if ranks.rank() == 0 { gpus[0].clone() } else { Device::host() };
        let team = Team::over(&ranks, &[mine], 1).unwrap();
        let dist = Distribution::builder(&[30, 64]).grid(&[1, 2]).halo(&[0, 1], &[0, 1]).build().unwrap();
        let u = Array::from_fn(&team, &dist, |at| (at[0] * 3 + at[1] * at[1] % 17) as f32).unwrap();
        let result = across(&u);
        let schedule = record(|| result.eval()).unwrap();
        (letters(&schedule), result.to_vec::<f32>().unwrap())
    };
    let mut orders = threads::run(2, over).into_iter().map(Result::unwrap);
    let ((gpu, values), (host, others)) = (orders.next().unwrap(), orders.next().unwrap());
    assert_eq!(values, others);
    // Packed, on its way out of the device, core, sent; taken, unpacked, waited, rim.
    assert_eq!((gpu.as_str(), host.as_str()), ("MELFLSRLZL", "MELSLRLZL"));
    println!("ran: wgpu-core-first 2");
}

#[test]
fn a_collective_operator_that_is_started_waits_for_nothing() {
    let Ok(gpus) = Device::named("wgpu") else {
        println!("skipped: wgpu-started (no adapter answered)");
        return;
    };
    let over = |ranks: Ranks| {
        let mine = if ranks.rank() == 0 { gpus[0].clone() } else { Device::host() };
        let team = Team::over(&ranks, &[mine], 1).unwrap();
        let all = Partition::world(&team).unwrap().cartesian(&[2, 1]).unwrap();
        let rows = Distribution::builder(&[9, 8]).grid(&[2, 1]).halo(&[1, 0], &[1, 0]).build().unwrap();
        let x = Array::from_fn(&team, &rows, |at| (10 * at[0] + at[1]) as f32).unwrap();
        x.eval().unwrap();
        let across = all.cartesian(&[1, 2]).unwrap();
        let turn = Collective::repartition(&all, &across).unwrap();
        let mut pending = None;
        let started = record(|| turn.start(&x).map(|begun| pending = Some(begun))).unwrap();
        // Another exchange may come before the end.
        let sides = (x.slice(&s![..-2, ..]) + x.slice(&s![2.., ..])).to_vec::<f32>().unwrap();
        let y = pending.take().unwrap().finish().unwrap();
        (letters(&started), sides, y.to_vec::<f32>().unwrap(), x.to_vec::<f32>().unwrap())
    };
    let sides: Vec<f32> = (0..56).map(|k| (20 * (k / 8 + 1) + 2 * (k % 8)) as f32).collect();
    for (rank, outcome) in threads::run(2, over).into_iter().enumerate() {
        let (started, between, moved, whole) = outcome.unwrap();
        // Zeros first. The host sends at once, from where its columns were packed.
        assert_eq!(started, ["LMELFL", "LMELSL"][rank], "rank {rank}");
        assert_eq!((between, moved), (sides.clone(), whole), "rank {rank}");
    }
    println!("ran: wgpu-started 2");
}

/// Alone in its process, because other tests would have the device's driver wait for their work.
#[test]
fn a_begun_download_waits_for_nothing_that_is_queued_after_it() {
    if Device::named("wgpu").is_err() {
        println!("skipped: wgpu-begun-download (no adapter answered)");
        return;
    }
    let said = other::said(other::test("a_download_is_begun_before_much_work"));
    assert!(said.contains("came first"), "{said}");
    println!("ran: wgpu-begun-download 1");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn a_download_is_begun_before_much_work() {
    let gpus = Device::named("wgpu").unwrap();
    let team = Team::on(&gpus[..1], 1).unwrap();
    let line = |size: i64| Distribution::builder(&[size]).build().unwrap();
    let small = Array::from_fn(&team, &line(1000), |at| at[0] as f32).unwrap();
    let large = Array::from_fn(&team, &line(1 << 20), |at| at[0] as f32).unwrap();
    let work = || (0..8).fold(large.clone(), |x, _| (x * 1.5 + 0.25).sin().exp());
    // Compiles.
    work().eval().unwrap();
    team.wait().unwrap();
    let place = small.places().unwrap()[0].clone().unwrap();
    let mut bytes = vec![0; 4000];
    let fetch = raw_access::fetch(&place.device, &place.allocation, bytes.len()).unwrap();
    let result = work();
    result.eval().unwrap();
    let begin = Instant::now();
    fetch.finish(&mut bytes).unwrap();
    let taken = begin.elapsed();
    team.wait().unwrap();
    let all = begin.elapsed();
    let cells = bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
    assert!(cells.eq((0..1000).map(|at| at as f32)));
    assert!(2 * taken < all, "the download took {taken:?} of {all:?}");
    println!("came first");
}

#[test]
fn members_of_one_rank_wait_for_nobody() {
    let all = threads::run(1, |ranks| run(&ranks, 3));
    for outcome in all {
        let (commands, ..) = outcome.unwrap();
        assert!(!commands.contains(['M', 'S', 'R']), "{commands}");
    }
}

#[test]
fn parts_thinner_than_the_halo_are_right_too() {
    let result = |team: &Team| {
        let dist = Distribution::builder(&[7, 5]).parts(team.size()).build().unwrap();
        let u = Array::from_fn(team, &dist, |at| (at[0] * at[0] + 3 * at[1]) as f64).unwrap();
        let wide = u.slice(&s![..-4, ..]) + 2.0 * u.slice(&s![4.., ..]) - u.slice(&s![2..-2, ..]);
        wide.to_vec::<f64>().unwrap()
    };
    let alone = result(&Team::on(&[Device::host()], 1).unwrap());
    for (ranks, parts) in [(2, 1), (2, 2), (3, 1), (5, 1), (3, 3)] {
        for outcome in
            threads::run(ranks, |ranks| result(&Team::over(&ranks, &[Device::host()], parts).unwrap()))
        {
            assert_eq!(outcome.unwrap(), alone, "{ranks} ranks, {parts} parts each");
        }
    }
}

#[test]
fn links_between_ranks_are_named_with_their_path() {
    // Two parts a rank: the first rank's second part and the second's first are neighbours across the wire.
    let links = threads::run(2, |ranks| {
        let team = Team::over(&ranks, &[Device::host()], 2).unwrap();
        let dist = Distribution::builder(&[8, 3]).grid(&[4, 1]).halo(&[1, 0], &[1, 0]).build().unwrap();
        let u = Array::zeros(&team, &dist, DType::F64).unwrap();
        let plan = Plan::halo_widths(&dist, &[1, 0], &[1, 0], false).unwrap();
        let places = u.places().unwrap();
        let field = Field { plan: &plan, from: &places, to: &places, dtype: DType::F64 };
        let exchange = lower_between_ranks("halo", (&team, &team), &[field, field]).unwrap();
        exchange
            .links
            .iter()
            .map(|l| (l.from_part, l.to_part, l.transport, l.moves, l.bytes))
            .collect::<Vec<_>>()
    });
    let links: Vec<_> = links.into_iter().map(Result::unwrap).collect();
    // Of both fields: two rows of three f64.
    let (kernel, staged) = (Transport::SameDevice, Transport::Staged);
    assert_eq!(
        links[0],
        [(1, 0, kernel, 2, 48), (0, 1, kernel, 2, 48), (2, 1, staged, 2, 48), (1, 2, staged, 2, 48)]
    );
    assert_eq!(
        links[1],
        [(2, 1, staged, 2, 48), (1, 2, staged, 2, 48), (3, 2, kernel, 2, 48), (2, 3, kernel, 2, 48)]
    );
}

#[test]
fn the_path_between_ranks_follows_from_what_both_know() {
    use DeviceKind::{Cuda, Host, Wgpu};
    let nothing = RankLink { host: false, device_pointers: false, ipc: false, nccl: false };
    let all = RankLink { host: true, device_pointers: true, ipc: true, nccl: true };
    let far = RankLink { ipc: false, ..all };
    let bare = RankLink { nccl: false, ..far };
    for (from, to, link, expected) in [
        (Host, Host, nothing, Transport::Staged),
        (Cuda, Cuda, nothing, Transport::Staged),
        (Host, Host, all, Transport::ZeroCopy),
        (Cuda, Cuda, all, Transport::Ipc),
        (Cuda, Cuda, far, Transport::Nccl),
        (Cuda, Cuda, bare, Transport::DevicePointers),
        (Cuda, Host, all, Transport::Staged),
        (Host, Cuda, all, Transport::Staged),
        (Wgpu, Wgpu, all, Transport::Staged),
    ] {
        assert_eq!(select_between_ranks(from, to, link), expected, "{from:?} to {to:?}, {link:?}");
    }
}
