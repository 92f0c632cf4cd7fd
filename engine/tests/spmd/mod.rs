//! Programs for many ranks. Each computes with arrays over a team and gives everything it read; on one
//! process and on any number of ranks that must be the same bytes.
#![allow(clippy::unwrap_used)]

use partita::array::Padding;
use partita::index::{DimMap, ProcessGrid};
use partita::prelude::*;

/// A program over a team of so many members; its name is for messages.
pub type Program = (&'static str, fn(&Team) -> partita::Result<Vec<u8>>);

pub const PROGRAMS: &[Program] = &[
    ("arithmetic", arithmetic),
    ("stencil", stencil),
    ("loop", replayed),
    ("started", started),
    ("reductions", reductions),
    ("scans", scans),
    ("sorts", sorts),
    ("selections", selections),
    ("elements", elements),
    ("windows", windows),
    ("views", views),
    ("without dimensions", without_dimensions),
    ("joined", joined),
    ("chains", chains),
    ("kinds", kinds),
    ("between kinds", between_kinds),
];

/// Bytes of what a program read, one after the other.
#[derive(Default)]
struct Log(Vec<u8>);

impl Log {
    fn array(&mut self, array: &Array) -> partita::Result<()> {
        self.0.extend(array.to_bytes()?);
        Ok(())
    }
}

/// Numbers without pattern (Marsaglia's xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as i64
    }
}

fn grid(team: &Team, shape: &[i64]) -> Distribution {
    Distribution::default_partition(team.size(), shape).unwrap()
}

fn wave(team: &Team, dist: &Distribution) -> partita::Result<Array> {
    Array::from_fn(team, dist, |at| {
        at.iter().enumerate().map(|(d, &x)| ((x * 7 + d as i64) as f64).sin()).sum::<f64>()
    })
}

/// Steps, flips, transpositions, diagonals, rows and columns: computed, assigned to, and in a Loop.
fn views(team: &Team) -> partita::Result<Vec<u8>> {
    let mut log = Log::default();
    let size = team.size() as i64 + 6;
    let balanced = ProcessGrid::balanced(team.size(), &[size, size])?;
    let balanced = Distribution::builder(&[size, size]).grid(balanced.shape()).build()?;
    for dist in [grid(team, &[size, size]), balanced] {
        let u = wave(team, &dist)?;
        log.array(&(&u + &(u.transpose(&[1, 0]) - u.flip(1))))?;
        log.array(&(u.slice(&s![1..; 2, ..; -1]) * 2.0 + u.slice(&s![..-1; 2, ..])))?;
        log.array(&(u.diagonal(1) + u.slice(&s![1, ..-1]) - u.slice(&s![1.., -2])))?;
        let step = |state: &mut [Array]| {
            let u = &state[0];
            let (odd, even) = (u.slice(&s![1..-1; 2]), u.slice(&s![..-2; 2]));
            let next = even.slice(&s![..odd.shape()[0]]) * 0.5 + odd.flip(1) * 0.25;
            state[0].assign(&s![1..-1; 2], &next)
        };
        let mut state = Loop::new(vec![u.clone()], step);
        state.run(7)?;
        log.array(&state.state()[0])?;
        log.array(&u)?;
    }
    Ok(log.0)
}

/// Values without dimensions: of reductions and elements, computed, assigned, broadcast and in a Loop.
fn without_dimensions(team: &Team) -> partita::Result<Vec<u8>> {
    let mut log = Log::default();
    let size = team.size() as i64 + 5;
    let u = wave(team, &grid(team, &[size, size]))?;
    let mut x = u.max(&[]).squeeze(&[0, 1]) - u.slice(&s![1, 2]);
    log.array(&x)?;
    log.array(&(&u - &x))?;
    x.assign(&[], &(u.slice(&s![-1, -1]) * &x))?;
    log.array(&x.reshape(&[1, 1]))?;
    let step = |state: &mut [Array]| {
        state[1] = (&state[1] + state[0].min(&[]).squeeze(&[0, 1])) * 0.5;
        state[0] = &state[0] * 0.5 + &state[1];
        Ok(())
    };
    let mut state = Loop::new(vec![u, x], step);
    state.run(9)?;
    log.array(&state.state()[0])?;
    log.array(&state.state()[1])?;
    Ok(log.0)
}

/// Put together, padded, rolled, in other shapes and by lists: computed, and in a Loop.
fn joined(team: &Team) -> partita::Result<Vec<u8>> {
    let mut log = Log::default();
    let size = team.size() as i64 + 3;
    let cyclic = DimMap::cyclic(size, team.size(), 1)?;
    let cyclic = Distribution::builder(&[size, 4]).map(0, cyclic).build()?;
    for dist in [grid(team, &[size, 4]), cyclic] {
        let u = wave(team, &dist)?;
        let around = (&u * 2.0).pad(&[(2, 1), (1, 2)], Padding::Wrap);
        log.array(&(around.slice(&s![2.., 1..-2]) - around.slice(&s![..-2, 3..])))?;
        log.array(&Array::concatenate(&[&u, &u.flip(0), &(&u * 3.0)], 0).roll(&[-2, 1]))?;
        log.array(&Array::stack(&[&u, &-&u], 2).reshape(&[8, size]))?;
        log.array(&u.gather(&[3, 2], &[0, 4 * size - 1, 3, 3, 7, 1]))?;
        let step = |state: &mut [Array]| {
            let u = &state[0];
            let padded = u.pad(&[(1, 1), (0, 0)], Padding::Reflect);
            let mean = (padded.slice(&s![..-2]) + padded.slice(&s![2..])) * 0.5;
            let next = mean - u.roll(&[1, 0]) * 0.25 + u.reshape(&[4, size]).transpose(&[1, 0]) * 0.125;
            state[0].assign(&s![..], &next)
        };
        let mut state = Loop::new(vec![u.clone()], step);
        state.run(7)?;
        log.array(&state.state()[0])?;
        let mut by_hand = [u];
        (0..7).try_for_each(|_| step(&mut by_hand))?;
        assert_eq!(by_hand[0].to_bytes()?, state.state()[0].to_bytes()?, "a Loop does what its step does");
    }
    Ok(log.0)
}

fn arithmetic(team: &Team) -> partita::Result<Vec<u8>> {
    let mut log = Log::default();
    for size in [0, 1, team.size() as i64 - 1, team.size() as i64, team.size() as i64 + 1, 40] {
        let dist = Distribution::builder(&[size]).parts(team.size()).build()?;
        let x = wave(team, &dist)?;
        log.array(&(&x * &x + 0.25 - x.slice(&s![..]).sqrt()))?;
        let i = Array::coordinate(team, &dist, 0, DType::I64)?;
        log.array(&(&i * &i))?;
    }
    Ok(log.0)
}

fn stencil(team: &Team) -> partita::Result<Vec<u8>> {
    let mut log = Log::default();
    for shape in [[9, 14], [23, 5]] {
        let dist = grid(team, &shape);
        let mut u = wave(team, &dist)?;
        for _ in 0..4 {
            let mean = 0.125
                * (u.slice(&s![..-2, 1..-1])
                    + u.slice(&s![2.., 1..-1])
                    + u.slice(&s![1..-1, ..-2])
                    + u.slice(&s![1..-1, 2..])
                    + u.slice(&s![2.., 2..]));
            u.assign(&s![1..-1, 1..-1], &mean)?;
        }
        log.array(&u)?;
    }
    let periodic = Distribution::builder(&[12]).parts(team.size()).periodic(&[true]).build()?;
    let mut u = wave(team, &periodic)?;
    for _ in 0..3 {
        let next = u.slice(&s![..]) + 0.5 * u.slice(&s![..]);
        u.assign(&s![..], &next)?;
    }
    log.array(&u)?;
    Ok(log.0)
}

fn replayed(team: &Team) -> partita::Result<Vec<u8>> {
    let mut log = Log::default();
    let dist = Distribution::builder(&[40]).parts(team.size()).build()?;
    let state = vec![wave(team, &dist)?, wave(team, &dist)?];
    let mut run = Loop::new(state, |state| {
        let (u, v) = (&state[0], &state[1]);
        let rate = u.slice(&s![..-2]) - 2.0 * u.slice(&s![1..-1]) + u.slice(&s![2..]);
        let next = u.slice(&s![1..-1]) + 0.1 * rate * v.slice(&s![1..-1]).max(&[]);
        let other = v.slice(&s![1..-1]) + 0.01 * (v.slice(&s![2..]) - u.slice(&s![..-2]));
        let [u, v] = state else { unreachable!() };
        assign_all(&mut [(u, &next), (v, &other)], &s![1..-1])
    });
    run.run(9)?;
    log.array(&run.state()[0])?;
    run.run(6)?;
    assert!(run.is_replaying(), "the steps never came back to their memory");
    run.state().iter().try_for_each(|array| log.array(array))?;
    Ok(log.0)
}

/// Operators that end after other exchanges, and in another order than they began; in replayed steps too.
fn started(team: &Team) -> partita::Result<Vec<u8>> {
    let n = team.size() as i64;
    let rows = Partition::world(team)?.cartesian(&[n, 1])?;
    let turn = Collective::repartition(&rows, &rows.cartesian(&[1, n])?)?;
    let gather = Collective::allgather(&rows, &[0])?;
    let dist = Distribution::builder(&[2 * n + 1, 3 * n]).grid(&[n, 1]).halo(&[1, 0], &[1, 0]).build()?;
    let x = wave(team, &dist)?;
    let sides = |x: &Array| x.slice(&s![..-2, ..]) + x.slice(&s![2.., ..]) * 0.5;
    let mut log = Log::default();
    let (one, other) = (turn.start(&x)?, gather.start(&x)?);
    log.array(&sides(&x))?;
    log.array(&x.sum(&[]))?;
    let last = turn.start(&(&x * 2.0))?;
    for pending in [other, last, one] {
        log.array(&pending.finish()?)?;
    }
    let mut steps = Loop::new(vec![x.clone(), turn.forward(&x)?], |state| {
        let begun = turn.start(&state[0])?;
        let next = sides(&state[0]);
        state[0].assign(&s![1..-1, ..], &next)?;
        state[0].eval()?;
        state[1] = begun.finish()?;
        Ok(())
    });
    steps.run(9)?;
    steps.state().iter().try_for_each(|array| log.array(array))?;
    Ok(log.0)
}

fn reductions(team: &Team) -> partita::Result<Vec<u8>> {
    let mut log = Log::default();
    for shape in [[7, 11], [1, 5], [0, 3], [16, 3]] {
        let x = wave(team, &grid(team, &shape))?;
        for axes in [&[][..], &[0], &[1]] {
            for result in [x.sum(axes), x.max(axes), (&x * &x).min(axes)] {
                log.array(&result)?;
            }
        }
        if shape[0] > 0 {
            log.array(&x.argmax(None))?;
            log.array(&(&x - x.slice(&s![..1, ..1]).sum(&[])))?;
        }
    }
    let total: f64 = wave(team, &grid(team, &[8, 8]))?.sum(&[]).item()?;
    log.0.extend(total.to_le_bytes());
    Ok(log.0)
}

fn scans(team: &Team) -> partita::Result<Vec<u8>> {
    let mut log = Log::default();
    for shape in [[7, 11], [70, 33], [1, 300]] {
        let x = wave(team, &grid(team, &shape))?;
        for axis in [0, 1] {
            log.array(&x.cumulative_sum(axis))?;
            log.array(&(&x - x.scan_before(axis, FoldOp::Max)))?;
        }
    }
    Ok(log.0)
}

fn sorts(team: &Team) -> partita::Result<Vec<u8>> {
    let mut log = Log::default();
    for shape in [[7, 11], [40, 3], [1, 90]] {
        let x = wave(team, &grid(team, &shape))?;
        for axis in [0, 1] {
            log.array(&x.sort(axis, axis == 0))?;
            log.array(&x.argsort(axis, axis == 1))?;
        }
    }
    let dealt = Distribution::builder(&[61]).map(0, DimMap::cyclic(61, team.size(), 2)?).build()?;
    let mut random = Random(5);
    let numbers: Vec<i32> = (0..61).map(|_| random.below(9) as i32).collect();
    log.array(&Array::from_slice(team, &dealt, &numbers)?.argsort(0, false))?;
    Ok(log.0)
}

fn selections(team: &Team) -> partita::Result<Vec<u8>> {
    let mut log = Log::default();
    let x = wave(team, &grid(team, &[53]))?;
    for least in [-2.0, 0.3, 2.0] {
        log.array(&x.compress(&x.greater(least))?)?;
    }
    let mut random = Random(6);
    let indices: Vec<i64> = (0..30).map(|_| random.below(106) - 53).collect();
    log.array(&x.take(&Array::from_slice(team, &grid(team, &[5, 6]), &indices)?)?)?;
    Ok(log.0)
}

fn elements(team: &Team) -> partita::Result<Vec<u8>> {
    let mut log = Log::default();
    let dist = grid(team, &[6, 9]);
    let mut x = Array::from_fn(team, &dist, |at| (10 * at[0] + at[1]) as i32)?;
    x.set(&[5, 8], Scalar::from_i64(DType::I32, -1))?;
    x.set(&[0, 0], Scalar::from_i64(DType::I32, -2))?;
    for at in [[5, 8], [0, 0], [3, 4]] {
        log.0.extend(x.get(&at)?.bits.to_le_bytes());
    }
    for part in 0..team.size() {
        x.part_to_vec::<i32>(part)?.iter().for_each(|element| log.0.extend(element.to_le_bytes()));
    }
    log.0.extend(x.to_string().bytes());
    let large = Array::from_fn(team, &grid(team, &[50, 50]), |at| (at[0] * at[1]) as f32)?;
    log.0.extend(large.to_string().bytes());
    let here: usize =
        x.parts()?.iter().map(|part| part.index()).map(|part| usize::from(team.is_here(part))).sum();
    assert_eq!(here, (0..team.size()).filter(|&part| team.is_here(part)).count());
    Ok(log.0)
}

fn windows(team: &Team) -> partita::Result<Vec<u8>> {
    let mut log = Log::default();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..12 {
        let shape = [4 + random.below(9), 4 + random.below(9)];
        let mut x = wave(team, &grid(team, &shape))?;
        let extents = [1 + random.below(shape[0]), 1 + random.below(shape[1])];
        let mut corner = |d: usize| random.below(shape[d] - extents[d] + 1);
        let ([a, b], [c, d]) = ([corner(0), corner(1)], [corner(0), corner(1)]);
        let [from, to] = [(a, b), (c, d)].map(|(i, j)| (i..i + extents[0], j..j + extents[1]));
        let value = x.slice(&s![from.0.clone(), from.1.clone()]) + 1.0;
        x.assign(&s![to.0.clone(), to.1.clone()], &value)?;
        log.array(&x)?;
        log.array(&x.slice(&s![from.0, from.1]))?;
    }
    Ok(log.0)
}

/// From distribution to distribution and back, every element its own coordinate.
fn chains(team: &Team) -> partita::Result<Vec<u8>> {
    let mut log = Log::default();
    let n = team.size() as i64;
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for extents in [[0, 3], [1, 1], [1, n + 1], [n - 1, 2], [n, n], [n + 1, n - 1], [9, 8]] {
        let grids: Vec<[i64; 2]> = (1..=n).filter(|r| n % r == 0).map(|r| [r, n / r]).collect();
        let dist = |random: &mut Random| {
            let grid = grids[random.below(grids.len() as i64) as usize];
            let map = |d: usize, random: &mut Random| {
                let mut bounds: Vec<i64> = (1..grid[d]).map(|_| random.below(extents[d] + 1)).collect();
                bounds.extend([0, extents[d]]);
                bounds.sort_unstable();
                DimMap::irregular(&bounds).unwrap()
            };
            let (rows, columns) = (map(0, random), map(1, random));
            Distribution::builder(&extents).grid(&grid).map(0, rows).map(1, columns).build().unwrap()
        };
        let first = dist(&mut random);
        let start = Array::from_fn(team, &first, |at| 1000 * at[0] + at[1])?;
        let mut x = start.clone();
        for _ in 0..4 {
            x = x.redistribute(&dist(&mut random));
            log.array(&x)?;
        }
        assert_eq!(x.redistribute(&first).to_vec::<i64>()?, start.to_vec::<i64>()?);
    }
    Ok(log.0)
}

/// Dimensions that are not blocks.
fn kinds(team: &Team) -> partita::Result<Vec<u8>> {
    let mut log = Log::default();
    let n = team.size();
    for size in [1, n as i64, 3 * n as i64 + 1] {
        let lists: Vec<Vec<i64>> =
            (0..n).map(|p| (0..size).filter(|i| *i as usize % n == p).rev().collect()).collect();
        for map in [DimMap::cyclic(size, n, 1)?, DimMap::unstructured(&lists, true)?] {
            let dist = Distribution::builder(&[size, 3]).grid(&[n as i64, 1]).map(0, map).build()?;
            let x = wave(team, &dist)?;
            log.array(&(&x * 2.0 + Array::coordinate(team, &dist, 0, DType::F64)?))?;
            log.array(&x.sum(&[0]))?;
            log.array(&x.argmin(None))?;
        }
    }
    Ok(log.0)
}

/// From each kind of division to each other, and operands of different kinds in one expression.
fn between_kinds(team: &Team) -> partita::Result<Vec<u8>> {
    let mut log = Log::default();
    let n = team.size();
    for size in [0, 1, n as i64 + 1, 4 * n as i64 + 3] {
        let lists: Vec<Vec<i64>> =
            (0..n).map(|p| (0..size).filter(|i| *i as usize % n == p).rev().collect()).collect();
        let maps = [
            DimMap::even(size, n)?,
            DimMap::cyclic(size, n, 1)?,
            DimMap::cyclic(size, n, 3)?,
            DimMap::unstructured(&lists, true)?,
        ];
        let dist =
            |map: &DimMap| Distribution::builder(&[size, 3]).grid(&[n as i64, 1]).map(0, map.clone()).build();
        for from in &maps {
            let x = wave(team, &dist(from)?)?;
            for to in &maps {
                let y = x.redistribute(&dist(to)?);
                log.array(&y)?;
                log.array(&(&y + &x))?;
            }
        }
    }
    Ok(log.0)
}
