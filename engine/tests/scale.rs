//! Plans of one rank's moves: those of the whole plan, and of a hundred thousand parts in little time and
//! memory. What all ranks must know alike, they know alike. And programs on hundreds of ranks, each a thread;
//! `PARTITA_SOAK` sets how many.

#![allow(clippy::unwrap_used)]

#[path = "raw_access/allocations.rs"]
mod allocations;
mod divisions;
mod layouts;
#[path = "../../examples/scaling.rs"]
mod scaling;
mod wires;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use allocations::most_bytes;
use divisions::kinds;
use layouts::{layout_pairs, layouts};
use partita::index::{Along, ProcessGrid};
use partita::plan::{Move, Plan, Scope};
use partita::prelude::*;
use partita::wire::{CollectiveSignature, Ranks, inject, threads};
use proptest::prelude::*;

type PlanResult = partita::index::Result<Plan>;

fn hash(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

/// Ways to place parts on ranks: each on its own, in runs, scattered, all on one.
const PLACES: [fn(usize) -> usize; 4] = [|part| part, |part| part / 3, |part| part * 7 % 4, |_| 0];

/// Compares what each of some ranks plans with the whole plan; how many moves were compared.
fn check(what: &str, make: impl Fn(Scope) -> PlanResult) -> usize {
    let (whole, mut compared) = (make(Scope::All).unwrap(), 0);
    let parts = whole.from_parts().max(whole.to_parts());
    for (from, to) in PLACES.into_iter().zip(PLACES).chain([(PLACES[1], PLACES[2])]) {
        let last = (0..parts).map(|part| from(part).max(to(part))).max().unwrap();
        let mut hashes = Vec::new();
        // The last rank may have no parts.
        for rank in (0..=last + 1).step_by(1 + last / 40) {
            let plan = make(Scope::Rank { rank, from: &from, to: &to }).unwrap();
            let mine = |m: &&Move| from(m.from_part) == rank || to(m.to_part) == rank;
            let expected: Vec<&Move> = whole.moves().iter().filter(mine).collect();
            assert!(
                plan.moves().iter().eq(expected.iter().copied()),
                "{what}, rank {rank}: {plan}\nof {whole}"
            );
            assert_eq!(plan.messages(), whole.messages(), "{what}");
            assert_eq!(plan.elements_between_parts(), whole.elements_between_parts(), "{what}");
            assert_eq!(
                (plan.is_empty(), plan.crosses(from, to)),
                (whole.is_empty(), whole.crosses(from, to))
            );
            hashes.push(hash(&plan));
            compared += expected.len();
        }
        assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{what}: ranks take it for different plans");
    }
    compared
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn halos_of_a_rank_are_those_of_the_whole_plan(layout in layouts(), corners: bool, most in 0..3i64) {
        let dist = layout.build();
        check("halo", |scope| scope.halo(&dist, corners));
        let (lo, hi) = dist.halo();
        let fits = |widths: &[i64]| Plan::halo_widths(&dist, widths, widths, corners).is_ok();
        let narrow: Vec<i64> = lo.iter().zip(hi.iter()).map(|(&a, &b)| a.min(b).min(most)).collect();
        if fits(&narrow) {
            check("narrow halo", |scope| scope.halo_widths(&dist, &narrow, &narrow, corners));
        }
    }

    #[test]
    fn boxes_of_a_rank_are_those_of_the_whole_plan(layout in layouts(), seed: u64) {
        let dist = layout.build();
        let need = |part: usize| {
            let range = |d: usize| {
                let (raw, size) = (hash(&(seed, part, d)) as i64 >> 40, dist.shape()[d]);
                let start = raw.rem_euclid(size + 1) + if dist.periodic(d) && size > 0 { raw % 7 } else { 0 };
                let most = if dist.periodic(d) && size > 0 { 2 * size } else { size - start };
                (start, start + (raw / 64).rem_euclid(most + 1))
            };
            let (start, stop): (Vec<i64>, Vec<i64>) = (0..dist.rank()).map(range).unzip();
            Region::new(&start, &stop).unwrap()
        };
        let needs: Vec<Region> = (0..dist.parts()).map(need).collect();
        check("fetch", |scope| scope.fetch(&dist, &needs));
    }

    #[test]
    fn redistributions_of_a_rank_are_those_of_the_whole_plan((from, to) in layout_pairs()) {
        let (from, to) = (from.build(), to.build());
        check("redistribution", |scope| scope.between(&from, &to, &|_| None));
    }
}

fn grid_of(maps: &[DimMap], periodic: bool) -> Distribution {
    let (shape, grid): (Vec<i64>, Vec<i64>) = maps.iter().map(|map| (map.size(), map.parts() as i64)).unzip();
    let builder = Distribution::builder(&shape).grid(&grid).periodic(&vec![periodic; maps.len()]);
    let with = |builder: partita::index::DistributionBuilder, (d, map): (usize, &DimMap)| {
        builder.map(d, map.clone())
    };
    maps.iter().enumerate().fold(builder, with).build().unwrap()
}

#[test]
fn plans_of_a_rank_between_all_kinds_of_maps_are_those_of_the_whole_plan() {
    let mut compared = 0;
    for (size, parts, others) in [(0, 2, 1), (1, 3, 2), (17, 4, 4), (41, 7, 5), (40, 3, 8)] {
        for from in kinds(size, parts) {
            for to in kinds(size, others) {
                let (one, two) =
                    (grid_of(slice::from_ref(&from), false), grid_of(slice::from_ref(&to), false));
                let near = |part: usize| (part < parts).then_some(part);
                let what = format!("{from} over {parts} to {to} over {others}");
                compared += check(&what, |scope| scope.between(&one, &two, &near));
                let (one, two) = (
                    grid_of(&[from.clone(), to.clone()], false),
                    grid_of(&[to.clone(), from.clone()], false),
                );
                let axes = [Along::same(1), Along::same(0)];
                compared += check(&what, |scope| scope.aligned(&one, &two, &axes, &|_| None));
            }
        }
    }
    // Operands that are shifted, wrap around, are strided, flipped, pinned, repeated along a dimension.
    for map in kinds(40, 5) {
        for to in kinds(19, 4) {
            for (offset, step, periodic) in
                [(3, 1, false), (21, 1, false), (-7, 1, true), (75, 1, true), (2, 2, false), (38, -2, false)]
            {
                let (one, two) =
                    (grid_of(slice::from_ref(&map), periodic), grid_of(&[to.clone(), to.clone()], false));
                let axes = [Along::Dim { dim: 1, offset, step }];
                let what = format!("{map} to {to}, {axes:?}, periodic: {periodic}");
                compared += check(&what, |scope| {
                    scope.aligned(&one, &two, &axes, &|part| (part < 5).then_some(part))
                });
            }
            let axes = [Along::Pinned(7), Along::same(0)];
            let (one, two) =
                (grid_of(&[map.clone(), to.clone()], false), grid_of(slice::from_ref(&to), false));
            compared += check(&format!("{map} pinned"), |scope| scope.aligned(&one, &two, &axes, &|_| None));
        }
    }
    println!("ran: scoped-moves {compared}");
}

#[test]
fn plans_of_a_rank_of_512_are_those_of_the_whole_plan() {
    let even = |n, parts| DimMap::even(n, parts).unwrap();
    let uneven = DimMap::irregular(&[0, 1, 9, 11, 20, 31, 38, 40, 48]).unwrap();
    let bricks = [even(48, 8), uneven, even(48, 8)];
    for periodic in [false, true] {
        let dist = grid_of(&bricks, periodic).with_halo(&[1, 1, 0], &[1, 0, 2]).unwrap();
        check("bricks", |scope| scope.halo(&dist, true));
    }
    let dealt = |block| DimMap::cyclic(1024, 512, block).unwrap();
    let lists: Vec<Vec<i64>> = (0..512).map(|part| vec![1023 - part, part]).collect();
    let lists = DimMap::unstructured(&lists, true).unwrap();
    let lines: Vec<Distribution> =
        [even(1024, 512), dealt(1), dealt(2), lists].map(|map| grid_of(&[map, even(48, 1)], false)).into();
    let pencils = grid_of(&[even(1024, 32), even(48, 16)], false);
    for line in &lines {
        check("slabs to pencils", |scope| scope.between(line, &pencils, &|_| None));
        check("pencils to slabs", |scope| scope.between(&pencils, line, &|_| None));
    }
    check("dealt again", |scope| scope.between(&lines[1], &lines[2], &|_| None));
}

#[test]
fn plans_of_different_distributions_have_different_hashes() {
    let plan = |bounds: &[i64]| {
        let (from, to) = (
            grid_of(&[DimMap::irregular(bounds).unwrap()], false),
            grid_of(&[DimMap::even(9, 4).unwrap()], false),
        );
        Scope::Rank { rank: 0, from: &|part| part, to: &|part| part }.between(&from, &to, &|_| None).unwrap()
    };
    let (one, other) = (plan(&[0, 2, 5, 6, 9]), plan(&[0, 2, 5, 7, 9]));
    assert_eq!(one.moves(), other.moves(), "rank 0 does not see the difference");
    assert_ne!(hash(&one), hash(&other));
}

/// How long this thread has computed: other tests and programs run on the machine.
fn computed() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split_whitespace().next().unwrap().parse().unwrap())
}

/// What one rank of `parts` plans, and the most time and bytes that a rank takes for it: 10 times what is
/// required, because tests run on busy machines.
fn planned(what: &str, (rank, parts): (usize, usize), make: impl Fn(Scope) -> PlanResult) -> Plan {
    let (place, begin) = (|part: usize| part, computed());
    let (plan, bytes) = most_bytes(|| make(Scope::Rank { rank, from: &place, to: &place }).unwrap());
    let (took, neighbours) = (computed() - begin, plan.moves().len());
    println!("{parts} parts, {what}: {neighbours} moves, {bytes} bytes, {took:?}");
    assert!(took < Duration::from_secs(10), "{what}: {took:?}");
    assert!(bytes < (1 << 21) + 4096 * neighbours as i64, "{what}: {bytes} bytes for {neighbours} moves");
    plan
}

#[test]
fn a_rank_of_a_hundred_thousand_plans_for_its_neighbours_alone() {
    for (parts, bricks, pencils) in [(1_000, [10, 10, 10], [40, 25]), (100_000, [50, 50, 40], [400, 250])] {
        let n = 200_000;
        let build = |grid: &[i64], map: &dyn Fn(i64) -> DimMap| {
            let maps: Vec<DimMap> = grid.iter().map(|&parts| map(parts)).collect();
            grid_of(&maps, false)
        };
        let even = |parts: i64| DimMap::even(n, parts as usize).unwrap();
        let dealt = |parts: i64| DimMap::cyclic(n, parts as usize, 1).unwrap();
        let halo = build(&bricks, &even).with_halo(&[1, 1, 1], &[1, 1, 1]).unwrap();
        let middle: Vec<i64> = bricks.iter().map(|parts| parts / 2).collect();
        let parts = (halo.grid().part(&middle).unwrap(), parts);
        assert_eq!(planned("halo", parts, |scope| scope.halo(&halo, true)).moves().len(), 52);
        let pencils = [pencils[0], pencils[1], 1];
        for (what, map) in [("blocks", &even as &dyn Fn(i64) -> DimMap), ("cyclic", &dealt)] {
            let (slabs, pencils) = (build(&[parts.1 as i64, 1, 1], map), build(&pencils, map));
            let there = planned(&format!("{what}, slabs to pencils"), parts, |scope| {
                scope.between(&slabs, &pencils, &|_| None)
            });
            let back = planned(&format!("{what}, pencils to slabs"), parts, |scope| {
                scope.between(&pencils, &slabs, &|_| None)
            });
            assert_eq!(there.moves().len(), back.moves().len());
            assert_eq!(there.messages(), back.messages());
        }
    }
}

/// The six neighbours of inner cells.
fn around() -> [[partita::array::Span; 3]; 6] {
    [
        s![..-2, 1..-1, 1..-1],
        s![2.., 1..-1, 1..-1],
        s![1..-1, ..-2, 1..-1],
        s![1..-1, 2.., 1..-1],
        s![1..-1, 1..-1, ..-2],
        s![1..-1, 1..-1, 2..],
    ]
}

/// A halo exchange of bricks in three dimensions, redistributions to pencils and to slabs, and a sum that
/// tells whether one cell is wrong.
fn program(team: &Team) -> partita::Result<i64> {
    let bricks = *ProcessGrid::balanced(team.size(), &[1 << 20; 3])?.shape();
    let (rows, pencils) = (team.size() as i64, [bricks[0] * bricks[1], bricks[2], 1]);
    let shape = [rows + 2, 2 * bricks[1] + 2, 2 * bricks[2] + 2];
    let inner = shape.map(|size| size - 2);
    let on = |shape: &[i64], grid: &[i64]| Distribution::builder(shape).grid(grid).build();
    let u = Array::from_fn(team, &on(&shape, &bricks)?, |at| at[0] * at[1] * 7 + at[1] * at[2] * 31 + at[2])?;
    let middle = u.slice(&s![1..-1, 1..-1, 1..-1]) * 5;
    let v = around().iter().fold(middle, |sum, window| sum - u.slice(window));
    let slabs = on(&inner, &[rows, 1, 1])?;
    let weights = Array::from_fn(team, &slabs, |at| at[0] * 3 + at[1] * 5 + at[2])?;
    (v.redistribute(&on(&inner, &pencils)?).redistribute(&slabs) * weights).sum(&[]).item()
}

/// 512, or as many as requested.
fn many() -> usize {
    std::env::var("PARTITA_SOAK").ok().and_then(|text| text.parse().ok()).unwrap_or(512)
}

/// Carries out what a rank of a plan sends and receives: the numbers of cells, which it compares.
fn carry_out(ranks: &Ranks, plan: &Plan, from: &Distribution, to: &Distribution) -> partita::Result<()> {
    let (me, mut sent, mut expected) = (ranks.rank(), BTreeMap::new(), BTreeMap::new());
    let number = |dist: &Distribution, at: &[i64]| -> i64 {
        let cell = |d: usize| dist.map(d).from_packed(at[d]).unwrap();
        (0..dist.rank()).fold(0, |sum, d| sum * dist.shape()[d] + cell(d))
    };
    for m in plan.moves().iter().filter(|m| m.from_part != m.to_part) {
        let (cells, peer) = match m.from_part == me {
            true => (&mut sent, m.to_part),
            false => (&mut expected, m.from_part),
        };
        let list: &mut Vec<u8> = cells.entry(peer).or_default();
        for (source, target) in m.cells() {
            let cell = if m.from_part == me { number(from, &source) } else { number(to, &target) };
            list.extend(cell.to_le_bytes());
        }
    }
    ranks.begin_collective(&CollectiveSignature::new("an exchange by a plan", plan))?;
    expected.iter().try_for_each(|(&peer, cells)| ranks.post_receive(peer, cells.len() as u64))?;
    for (&to, cells) in &sent {
        ranks.send(to, cells.len() as u64, |offset, out| {
            out.copy_from_slice(&cells[offset as usize..][..out.len()]);
            Ok(())
        })?;
    }
    for (&peer, cells) in &expected {
        ranks.receive(peer, cells.len() as u64, |offset, bytes| {
            assert_eq!(bytes, &cells[offset as usize..][..bytes.len()], "from rank {peer} to {me}");
            Ok(())
        })?;
    }
    ranks.wait_all()
}

/// A halo of bricks, and repartitions from slabs to pencils and back, of blocks and cyclic: one part a rank.
fn exchanges(ranks: &Ranks) -> partita::Result<i64> {
    let (count, place) = (ranks.count(), |part: usize| part);
    let bricks = *ProcessGrid::balanced(count, &[1 << 20; 3])?.shape();
    let shape: Vec<i64> = bricks.iter().map(|parts| 3 * parts).collect();
    let scope = Scope::Rank { rank: ranks.rank(), from: &place, to: &place };
    let halo = Distribution::builder(&shape).grid(&bricks).halo(&[1; 3], &[1; 3]).build()?;
    carry_out(ranks, &scope.halo(&halo, true)?, &halo, &halo)?;
    let grids = [(count, 1), ((bricks[0] * bricks[1]) as usize, bricks[2] as usize)];
    for is_cyclic in [false, true] {
        let map = |n: i64, parts| match is_cyclic {
            true => DimMap::cyclic(n, parts, 2).unwrap(),
            false => DimMap::even(n, parts).unwrap(),
        };
        let [slabs, pencils] = grids.map(|(a, b)| grid_of(&[map(4 * count as i64, a), map(12, b)], false));
        carry_out(ranks, &scope.between(&slabs, &pencils, &|_| None)?, &slabs, &pencils)?;
        carry_out(ranks, &scope.between(&pencils, &slabs, &|_| None)?, &pencils, &slabs)?;
    }
    Ok(0)
}

/// A program of each rank, for as many ranks.
type Program<'a> = (usize, &'a (dyn Fn(&Ranks) -> partita::Result<i64> + Sync));

#[test]
fn many_ranks_exchange_by_their_own_plans() {
    let begin = Instant::now();
    for end in threads::run_with_deadline(many(), Duration::from_secs(900), |ranks| exchanges(&ranks)) {
        end.unwrap().unwrap();
    }
    println!("took {:?}\nran: many-ranks {}", begin.elapsed(), many());
}

fn on_rank(ranks: &Ranks, device: &Device) -> partita::Result<i64> {
    program(&Team::over(ranks, slice::from_ref(device), 1)?)
}

/// Each rank has lists of what every part computes, so there are no more of these.
#[test]
fn arrays_on_512_ranks_are_those_of_one() {
    let (device, begin) = (Device::host(), Instant::now());
    let alone = program(&Team::on(std::slice::from_ref(&device), 512).unwrap()).unwrap();
    let took = begin.elapsed();
    for end in threads::run_with_deadline(512, Duration::from_secs(900), |ranks| on_rank(&ranks, &device)) {
        assert_eq!(end.unwrap().unwrap(), alone);
    }
    println!("took {:?}, one rank {took:?}\nran: many-ranks 512", begin.elapsed());
}

/// What the parts of other ranks cost a rank, by the heaps of rank 1 of few and of more ranks.
#[test]
fn a_rank_holds_little_for_every_part_of_others() {
    let device = Device::host();
    let held = |count| {
        let ends = threads::run_with_deadline(count, Duration::from_secs(900), |ranks| {
            let (end, bytes) = most_bytes(|| on_rank(&ranks, &device));
            end.map(|_| bytes)
        });
        ends.into_iter().nth(1).unwrap().unwrap().unwrap()
    };
    // Compiled kernels belong to whoever asks first.
    held(2);
    let [few, many] = [128, 256].map(held);
    let each = (many - few) / 128;
    println!("{few} bytes on 128 ranks, {many} on 256: {each} per part");
    assert!(each < 4500, "{each} bytes per part");
}

/// What one rank of many does while the others compute.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Harm {
    /// Fails, or panics, at the point that it reaches after so many.
    At(u64, &'static str),
    /// Ends without having computed anything.
    Ends,
    /// Comes too late.
    Late,
}

/// Runs a program of which one rank does harm: all others must name it.
fn harmed((count, program): Program, victim: usize, harm: Harm) {
    let (ended, begin) = (AtomicUsize::new(0), Instant::now());
    let deadline = Duration::from_secs(if harm == Harm::Late { 10 } else { 900 });
    let ends = threads::run_with_deadline(count, deadline, |ranks| {
        let is_victim = ranks.rank() == victim;
        match harm {
            Harm::At(points, kind) if is_victim => drop(inject(points, kind)),
            Harm::Ends if is_victim => return Ok(0),
            Harm::Late if is_victim => {
                while ended.load(Ordering::Relaxed) < count - 1 {
                    thread::sleep(Duration::from_millis(10));
                }
            }
            _ => {}
        }
        let end = program(&ranks);
        ended.fetch_add(1, Ordering::Relaxed);
        end
    });
    for (rank, end) in ends.into_iter().enumerate().filter(|(rank, _)| *rank != victim) {
        match end.unwrap() {
            Err(Error::Rank { rank: named, .. }) => {
                assert_eq!(named, victim, "{harm:?}, as rank {rank} says");
            }
            other => panic!("{harm:?}: rank {rank} ended with {other:?}"),
        }
    }
    println!("{harm:?} took {:?}\nran: many-ranks-fail {count}", begin.elapsed());
}

#[test]
fn many_ranks_name_the_one_that_fails() {
    let harms = [Harm::At(0, "error"), Harm::At(40, "error"), Harm::At(60, "panic"), Harm::Ends, Harm::Late];
    for (k, harm) in harms.into_iter().enumerate() {
        harmed((many(), &exchanges), (k + 1) * many() / 7, harm);
    }
}

#[test]
fn arrays_on_512_ranks_name_the_one_that_fails() {
    let device = Device::host();
    for (victim, harm) in [(0, Harm::At(150, "error")), (511, Harm::At(60, "panic")), (300, Harm::Ends)] {
        harmed((512, &|ranks| on_rank(ranks, &device)), victim, harm);
    }
}

/// The model of `examples/scaling.rs` has the messages and bytes of plans, and of what goes over the wire.
#[test]
fn the_model_of_scaling_counts_what_plans_and_wires_do() {
    let table = include_str!("../../docs/ranks.md");
    for (shape, grid, row) in scaling::cases() {
        assert!(table.contains(&row), "docs/ranks.md has another row than\n{row}");
        let dist = Distribution::builder(&shape).grid(&grid).halo(&[1; 3], &[1; 3]).build().unwrap();
        let place = |part: usize| part;
        for rank in (0..dist.parts()).step_by(1 + dist.parts() / 100) {
            let plan = Scope::Rank { rank, from: &place, to: &place }.halo(&dist, false).unwrap();
            let sent = plan.moves().iter().filter(|m| m.from_part == rank);
            let sent: Vec<(usize, u64)> = sent.map(|m| (m.to_part, 4 * m.elements())).collect();
            let mut faces: Vec<(usize, u64)> =
                scaling::faces(shape, grid, rank).into_iter().map(|(to, _, bytes)| (to, bytes)).collect();
            faces.sort_unstable();
            assert_eq!(sent, faces, "{row}, rank {rank}");
        }
    }
    let (shape, grid) = ([18, 20, 22], [2, 2, 2]);
    let counts = [false, true].map(|steps| {
        let (_, counts) = wires::counted(8, |ranks| {
            let team = Team::over(ranks, &[Device::host()], 1).unwrap();
            let dist = Distribution::builder(&shape).grid(&grid).build().unwrap();
            let u = Array::from_fn(&team, &dist, |at| (at[0] + at[1] * at[2]) as f32).unwrap();
            let middle = u.slice(&s![1..-1, 1..-1, 1..-1]);
            let sum = around().iter().fold(middle, |sum, window| sum + u.slice(window));
            if steps {
                sum.eval().unwrap()
            }
        });
        (counts.messages.load(Ordering::SeqCst) as u64, counts.bytes.load(Ordering::SeqCst))
    });
    let faces: Vec<u64> =
        (0..8).flat_map(|part| scaling::faces(shape, grid, part)).map(|face| face.2).collect();
    assert_eq!(
        (counts[1].0 - counts[0].0, counts[1].1 - counts[0].1),
        (faces.len() as u64, faces.iter().sum())
    );
}
