//! Halos for several steps: the same bits as an exchange in every step, with fewer exchanges.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use found::{devices, ran};
use partita::prelude::*;
use partita::wire::{Outcome, Ranks, Request, Wire, WireError, threads};

type Step = fn(&mut [Array]) -> partita::Result<()>;

/// A state's program: the arrays it begins with, what a step does, and over which shape.
#[derive(Clone, Copy)]
struct Program {
    name: &'static str,
    shape: &'static [i64],
    periodic: &'static [bool],
    arrays: usize,
    step: Step,
}

fn number(k: usize, at: &[i64]) -> f32 {
    let mixed = at.iter().fold(k as i64 + 3, |mixed, &c| (mixed * 31 + 7 * c) % 1009);
    mixed as f32 / 1009.0
}

/// Diffusion with diagonals; the edges stay.
fn heat(state: &mut [Array]) -> partita::Result<()> {
    let u = &state[0];
    let sides = u.slice(&s![..-2, 1..-1]) + u.slice(&s![2.., 1..-1]) + u.slice(&s![1..-1, ..-2]);
    let corner = u.slice(&s![2.., 2..]) - u.slice(&s![..-2, 2..]);
    let next = u.slice(&s![1..-1, 1..-1]) + 0.1 * (sides - 3.0 * u.slice(&s![1..-1, 1..-1])) + 0.03 * corner;
    state[0].assign(&s![1..-1, 1..-1], &next)
}

/// The same through many sines: computing a cell again costs more than fetching it.
fn costly(state: &mut [Array]) -> partita::Result<()> {
    heat(state)?;
    let waves = (0..8).fold(state[0].slice(&s![1..-1, 1..-1]), |wave, _| (3.0 * wave).sin());
    state[0].assign(&s![1..-1, 1..-1], &waves)
}

/// Two fields that read each other near and far, to one side; they change places.
fn mixed(state: &mut [Array]) -> partita::Result<()> {
    let (u, v) = (&state[0], &state[1]);
    let far = v.slice(&s![3..-1, 1..-1]) + 0.5 * u.slice(&s![1..-3, 1..-1]) - v.slice(&s![4.., 2..]);
    let near = u.slice(&s![1..-1, ..]) - 0.25 * v.slice(&s![2.., ..]);
    let next = 0.3 * far + 0.1 * u.slice(&s![2..-2, 1..-1]);
    state[0].assign(&s![2..-2, 1..-1], &next)?;
    let near = 0.4 * near + state[0].slice(&s![1..-1, ..]) * 0.2;
    state[1].assign(&s![1..-1, ..], &near)?;
    state.swap(0, 1);
    Ok(())
}

/// Gray-Scott on a torus: whole values replace the state.
fn torus(state: &mut [Array]) -> partita::Result<()> {
    let (u, v) = (&state[0], &state[1]);
    let around =
        |a: &Array| a.shift(&[-1, 0]) + a.shift(&[1, 0]) + a.shift(&[0, -1]) + a.shift(&[0, 1]) - 4.0 * a;
    let reaction = u * v * v;
    let next_u = u + 0.16 * around(u) - &reaction + 0.035 * (1.0 - u);
    let next_v = v + 0.08 * around(v) + &reaction - 0.1 * v;
    eval_all(&[&next_u, &next_v])?;
    (state[0], state[1]) = (next_u, next_v);
    Ok(())
}

/// A window that is fixed on a torus, and cells that know where they are.
fn island(state: &mut [Array]) -> partita::Result<()> {
    let u = &state[0];
    let row = Array::coordinate(u.team(), &*u.distribution()?, 0, DType::F32)?;
    let flow = u.shift(&[-1, 0]) * 0.4 + u.shift(&[1, 1]) * 0.3 + 0.001 * row;
    state[0].assign(&s![3.., 1..-2], &flow.slice(&s![3.., 1..-2]))
}

/// Edges that follow their neighbours, by small assignments.
fn edges(state: &mut [Array]) -> partita::Result<()> {
    heat(state)?;
    let u = &mut state[0];
    let (top, left) = (u.slice(&s![1..2, ..]), u.slice(&s![.., 1..2]));
    u.assign(&s![0..1, ..], &top)?;
    u.assign(&s![.., 0..1], &left)?;
    let bottom = 0.5 * u.slice(&s![-2..-1, ..]) + 0.1;
    u.assign(&s![-1.., ..], &bottom)?;
    // A small window in the middle, where parts meet.
    let middle = u.slice(&s![5..8, 2..6]) * 0.9;
    u.assign(&s![6..9, 3..7], &middle)
}

/// A recorded update of a small window, which a stencil reads in the same evaluation.
fn renewed(state: &mut [Array]) -> partita::Result<()> {
    let u = &state[0];
    let v = u.updated(&s![.., 0..1], &(u.slice(&s![.., 1..2]) * 0.5));
    let around = v.slice(&s![..-2, 1..-1]) + v.slice(&s![1..-1, ..-2]) + v.slice(&s![2.., 1..-1]);
    state[0].assign(&s![1..-1, 1..-1], &(0.3 * around))
}

/// A field that others see from afar and that follows itself alone: its halo never shrinks.
fn carried(state: &mut [Array]) -> partita::Result<()> {
    let slope = state[1].slice(&s![2.., ..]) - state[1].slice(&s![..-2, ..]);
    let next = 0.5 * state[0].slice(&s![1..-1, ..]) + slope;
    state[0].assign(&s![1..-1, ..], &next)?;
    state[1] = &state[1] * 0.99;
    state[1].eval()
}

/// A line of cells, left to right.
fn line(state: &mut [Array]) -> partita::Result<()> {
    let u = &state[0];
    let next = 0.5 * u.slice(&s![..-3]) + 0.25 * u.slice(&s![2..-1]) + 0.1 * u.slice(&s![3..]);
    state[0].assign(&s![2..-1], &next)
}

/// Seven points in a box, then the values' own average along one axis.
fn cube(state: &mut [Array]) -> partita::Result<()> {
    let u = &state[0];
    let c = u.slice(&s![1..-1, 1..-1, 1..-1]);
    let along =
        u.slice(&s![..-2, 1..-1, 1..-1]) + u.slice(&s![2.., 1..-1, 1..-1]) + u.slice(&s![1..-1, ..-2, 1..-1]);
    let rest =
        u.slice(&s![1..-1, 2.., 1..-1]) + u.slice(&s![1..-1, 1..-1, ..-2]) + u.slice(&s![1..-1, 1..-1, 2..]);
    let next = &c + state[1].slice(&s![1..-1, 1..-1, 1..-1]) * (along + rest - 6.0 * &c);
    state[0].assign(&s![1..-1, 1..-1, 1..-1], &next)
}

const PROGRAMS: &[Program] = &[
    Program { name: "heat", shape: &[18, 17], periodic: &[false, false], arrays: 1, step: heat },
    Program { name: "mixed", shape: &[48, 9], periodic: &[false, false], arrays: 2, step: mixed },
    Program { name: "torus", shape: &[16, 18], periodic: &[true, true], arrays: 2, step: torus },
    Program { name: "island", shape: &[19, 16], periodic: &[true, true], arrays: 1, step: island },
    Program { name: "half", shape: &[17, 18], periodic: &[true, false], arrays: 1, step: heat },
    Program { name: "edges", shape: &[20, 18], periodic: &[false, false], arrays: 1, step: edges },
    Program { name: "carried", shape: &[20, 9], periodic: &[false, false], arrays: 2, step: carried },
    Program { name: "line", shape: &[40], periodic: &[false], arrays: 1, step: line },
    Program { name: "cube", shape: &[12, 11, 10], periodic: &[false, false, false], arrays: 2, step: cube },
    Program { name: "renewed", shape: &[20, 18], periodic: &[false, false], arrays: 1, step: renewed },
];

impl Program {
    fn start(&self, team: &Team, grid: &[i64]) -> Vec<Array> {
        let dist = Distribution::builder(self.shape).grid(grid).periodic(self.periodic).build().unwrap();
        (0..self.arrays).map(|k| Array::from_fn(team, &dist, |at| number(k, at)).unwrap()).collect()
    }

    fn grids(&self) -> Vec<Vec<i64>> {
        match self.shape.len() {
            1 => vec![vec![1], vec![2], vec![5]],
            2 => vec![vec![1, 1], vec![3, 1], vec![1, 2], vec![2, 2]],
            _ => vec![vec![3, 1, 1], vec![2, 1, 2]],
        }
    }
}

fn values(state: &[Array]) -> Vec<Vec<f32>> {
    state.iter().map(|array| array.to_vec().unwrap()).collect()
}

fn plain(program: &Program, team: &Team, grid: &[i64], steps: u64) -> Vec<Vec<f32>> {
    let mut state = program.start(team, grid);
    (0..steps).for_each(|_| (program.step)(&mut state).unwrap());
    values(&state)
}

fn team_for(devices: &[Device], grid: &[i64]) -> Team {
    Team::on(devices, grid.iter().product::<i64>() as usize).unwrap()
}

#[test]
fn several_steps_with_one_exchange_give_the_same_bits() {
    for device in devices() {
        let mut cases = 0;
        let depths: &[usize] = if device.kind() == DeviceKind::Host { &[2, 3, 4] } else { &[2] };
        for program in PROGRAMS {
            for grid in program.grids() {
                let team = team_for(std::slice::from_ref(&device), &grid);
                let expected = plain(program, &team, &grid, 29);
                for &depth in depths {
                    let what = format!("{} over {grid:?}, {depth} steps, {device:?}", program.name);
                    let mut deep = Loop::new(program.start(&team, &grid), program.step).depth(depth);
                    // Runs may end between exchanges.
                    match [5, 1, 23].into_iter().try_for_each(|steps| deep.run(steps)) {
                        Ok(()) => {
                            assert_eq!(values(deep.state()), expected, "{what}: {}", deep.explain());
                            assert_eq!(deep.steps_per_exchange(), depth, "{what}");
                            assert!(!deep.explain().contains("lacks"), "{what}: {}", deep.explain());
                            cases += 1;
                        }
                        // Halos wider than a neighbour's part.
                        Err(error) => assert!(error.to_string().contains("wider"), "{what}: {error}"),
                    }
                }
            }
        }
        ran("deep-steps", &device, cases);
    }
}

#[test]
fn messages_are_sent_once_in_so_many_steps_and_replayed_so() {
    let named = |name: &&Program| matches!(name.name, "heat" | "renewed");
    for (device, program) in
        devices().iter().flat_map(|device| PROGRAMS.iter().filter(named).map(move |p| (device, p)))
    {
        let team = team_for(std::slice::from_ref(device), &[3, 1]);
        let messages = |depth: usize| {
            let mut run = Loop::new(program.start(&team, &[3, 1]), program.step).depth(depth);
            run.run(38).unwrap();
            assert!(run.is_replaying(), "{device:?} {depth}");
            let before = team.messages();
            run.run(12).unwrap();
            (team.messages() - before, values(run.state()))
        };
        let (every, expected) = messages(1);
        assert_eq!(every, 12 * 4, "{device:?}: two neighbours meet twice, both ways");
        for depth in [2, 3, 4] {
            assert_eq!(messages(depth), (every / depth as u64, expected.clone()), "{device:?} {depth}");
        }
    }
}

#[test]
fn ranks_exchange_once_in_so_many_steps() {
    for program in PROGRAMS {
        let grid: Vec<i64> = (0..program.shape.len()).map(|d| if d == 0 { 3 } else { 1 }).collect();
        let expected = plain(program, &team_for(&[Device::host()], &grid), &grid, 21);
        for outcome in threads::run(3, |ranks| {
            let team = Team::over(&ranks, &[Device::host()], 1).unwrap();
            let mut deep = Loop::new(program.start(&team, &grid), program.step).depth(3);
            deep.run(21).map(|()| values(deep.state()))
        }) {
            match outcome.unwrap() {
                Ok(values) => assert_eq!(values, expected, "{}", program.name),
                Err(error) => assert!(error.to_string().contains("wider"), "{}: {error}", program.name),
            }
        }
    }
}

#[test]
fn what_cannot_share_an_exchange_is_refused_by_name() {
    let refused = |dist: &Distribution, step: Step| {
        let team = Team::on(&[Device::host()], dist.parts()).unwrap();
        let u = Array::from_fn(&team, dist, |at| number(0, at)).unwrap();
        let mut run = Loop::new(vec![u], step).depth(4);
        let error = run.run(9).unwrap_err().to_string();
        assert!(error.contains("share an exchange"), "{error}");
        error
    };
    let dist = |parts: usize| Distribution::builder(&[30]).parts(parts).build().unwrap();
    assert!(refused(&dist(8), line).contains("wider than a neighbour's part"));
    fn with_norm(state: &mut [Array]) -> partita::Result<()> {
        let norm = state[0].sum(&[]);
        state[0].assign(&s![..], &(&state[0] / (norm + 1.0)))
    }
    assert!(refused(&dist(2), with_norm).contains("a reduction"));
    let cyclic = partita::index::DimMap::cyclic(30, 2, 3).unwrap();
    let cyclic = Distribution::builder(&[30]).grid(&[2]).map(0, cyclic).build().unwrap();
    assert!(refused(&cyclic, line).contains("no halo holds"));
    fn afar(state: &mut [Array]) -> partita::Result<()> {
        let far = state[0].slice(&s![15..]) * 0.5;
        state[0].assign(&s![..15], &far)
    }
    refused(&dist(3), afar);
    fn padded(state: &mut [Array]) -> partita::Result<()> {
        let around = state[0].pad(&[(1, 1)], partita::array::Padding::Edge);
        state[0].assign(&s![..], &(around.slice(&s![..-2]) + around.slice(&s![2..])))
    }
    assert!(refused(&dist(3), padded).contains("joins arrays"));
}

/// A wire on which every message takes its time.
struct Late {
    wire: threads::Threads,
    latency: Duration,
    /// What has arrived on the wire below and not yet here.
    early: Mutex<HashMap<Request, Early>>,
}

/// When a message is due, its tag and its bytes.
type Early = (Instant, u32, Vec<u8>);

impl Wire for Late {
    fn rank(&self) -> usize {
        self.wire.rank()
    }
    fn ranks(&self) -> usize {
        self.wire.ranks()
    }
    fn name(&self) -> String {
        "late".to_owned()
    }
    fn max_tag(&self) -> u32 {
        self.wire.max_tag()
    }
    fn send(&self, to: usize, tag: u32, bytes: Vec<u8>) -> Result<Request, WireError> {
        self.wire.send(to, tag, bytes)
    }
    fn receive(&self, from: usize, memory: Vec<u8>) -> Result<Request, WireError> {
        self.wire.receive(from, memory)
    }
    fn test(&self, request: Request) -> Result<Outcome, WireError> {
        let mut early = self.early.lock().unwrap();
        if let Some((due, tag, bytes)) = early.remove(&request) {
            if Instant::now() >= due {
                return Ok(Outcome::Arrived { tag, bytes });
            }
            early.insert(request, (due, tag, bytes));
            return Ok(Outcome::Pending);
        }
        let outcome = self.wire.test(request)?;
        if let Outcome::Arrived { tag, bytes } = outcome {
            early.insert(request, (Instant::now() + self.latency, tag, bytes));
            return Ok(Outcome::Pending);
        }
        Ok(outcome)
    }
    fn send_control(&self, to: usize, message: &[u8]) -> Result<(), WireError> {
        self.wire.send_control(to, message)
    }
    fn receive_control(&self) -> Result<Option<(usize, Vec<u8>)>, WireError> {
        self.wire.receive_control()
    }
    fn now(&self) -> Duration {
        self.wire.now()
    }
    fn pause(&self, spins: u32) {
        self.wire.pause(spins);
    }
}

/// What a loop over two ranks finds by itself, and what each explains, with messages that take so long.
fn found_over(latency: Duration, shape: &[i64; 2]) -> Vec<(usize, String, Vec<f32>)> {
    let program = |wire: threads::Threads| {
        let ranks = Ranks::over(Late { wire, latency, early: Mutex::default() });
        let team = Team::over(&ranks, &[Device::host()], 1).unwrap();
        let dist = Distribution::builder(shape).parts(2).build().unwrap();
        let u = Array::from_fn(&team, &dist, |at| number(0, at)).unwrap();
        let mut run = Loop::new(vec![u], heat).auto_depth();
        run.run(80).unwrap();
        (run.steps_per_exchange(), run.explain(), run.state()[0].to_vec().unwrap())
    };
    std::thread::scope(|scope| {
        let start = |wire| scope.spawn(|| program(wire));
        let running: Vec<_> = threads::Threads::ends(2).into_iter().map(start).collect();
        running.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

#[test]
fn slow_links_get_deep_halos_by_themselves() {
    // Two ranks on as many processors: what a step computes is far less than a message's way.
    let slow = found_over(Duration::from_millis(3), &[64, 32]);
    let team = Team::on(&[Device::host()], 1).unwrap();
    let dist = Distribution::builder(&[64, 32]).parts(1).build().unwrap();
    let mut alone = vec![Array::from_fn(&team, &dist, |at| number(0, at)).unwrap()];
    (0..80).for_each(|_| heat(&mut alone).unwrap());
    for (rank, (depth, explained, values)) in slow.iter().enumerate() {
        println!("rank {rank}: {depth}; {explained}");
        assert_eq!(*depth, slow[0].0, "rank {rank} does what rank 0 found");
        assert!(*values == alone[0].to_vec::<f32>().unwrap(), "rank {rank}");
    }
    assert!(slow[0].0 > 1, "{}", slow[0].1);
}

#[test]
fn parts_beside_each_other_get_no_deep_halos_by_themselves() {
    // Nothing is waited for, and every further step computes half of each part again, which takes much longer
    // than to copy what that saves.
    let find = || {
        let team = Team::on(&[Device::host()], 4).unwrap();
        let dist = Distribution::builder(&[16, 60_000]).parts(4).build().unwrap();
        let u = Array::from_fn(&team, &dist, |at| number(0, at)).unwrap();
        let mut run = Loop::new(vec![u], costly).auto_depth();
        run.run(80).unwrap();
        println!("{}", run.explain());
        run.steps_per_exchange()
    };
    // On a machine that does much else, a measurement can be wrong; all of them cannot.
    assert!((0..5).any(|_| find() == 1));
}

#[test]
fn a_loop_that_cannot_go_deep_says_why_and_goes_on() {
    let team = Team::on(&[Device::host()], 2).unwrap();
    let dist = Distribution::builder(&[30]).parts(2).build().unwrap();
    let u = Array::from_fn(&team, &dist, |at| number(0, at)).unwrap();
    let mut run = Loop::new(vec![u], |state: &mut [Array]| {
        let norm = state[0].sum(&[]);
        state[0].assign(&s![..], &(&state[0] / (norm + 1.0)))
    })
    .auto_depth();
    run.run(60).unwrap();
    assert_eq!(run.steps_per_exchange(), 1);
    assert!(run.is_replaying());
    assert_eq!(run.explain(), "an exchange in every step: the step has a reduction");
}

#[test]
fn steps_that_go_through_memory_tile_by_tile_give_the_same_bits() {
    // Larger than the cache that tiles are made for.
    type Case = (usize, &'static [i64], &'static [&'static [i64]]);
    let cases: &[Case] = &[
        (0, &[700, 1500], &[&[1, 1], &[2, 1]]),
        (1, &[500, 1100], &[&[1, 1]]),
        (2, &[600, 900], &[&[1, 1], &[1, 2]]),
        (5, &[600, 1300], &[&[1, 1]]),
        (8, &[45, 44, 500], &[&[1, 1, 1], &[2, 1, 1]]),
        (8, &[61, 47, 501], &[&[1, 1, 1], &[3, 1, 1], &[1, 2, 1]]),
    ];
    let mut tiled = 0;
    for (which, shape, grids) in cases {
        let program = Program { shape, ..PROGRAMS[*which] };
        for grid in *grids {
            let team = team_for(&[Device::host()], grid);
            let expected = plain(&program, &team, grid, 31);
            for depth in [4, 5] {
                let mut deep = Loop::new(program.start(&team, grid), program.step).depth(depth);
                deep.run(31).unwrap();
                let what = format!("{} over {grid:?}: {}", program.name, deep.explain());
                assert!(values(deep.state()) == expected, "{what}");
                println!("{what}");
                tiled += usize::from(deep.explain().contains("tile by tile"));
            }
        }
    }
    ran("tiled-steps", &Device::host(), tiled);
    assert!(tiled >= 14, "{tiled}");
}

#[test]
fn tiles_give_the_same_bits_on_any_number_of_threads() {
    // A process has one number of threads.
    let name = "steps_that_go_through_memory_tile_by_tile_give_the_same_bits";
    for threads in ["1", "3"] {
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        let ended = again.args(["--exact", name, "--nocapture"]).env("PARTITA_THREADS", threads).output();
        let ended = ended.unwrap();
        let said = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success() && said.contains("1 passed"), "{threads} threads: {said}");
    }
}
