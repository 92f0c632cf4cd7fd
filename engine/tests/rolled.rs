//! Programs written with `roll`, as in textbooks. On block maps they take one exchange and one kernel per
//! part; with periodic maps the steps of a loop may share exchanges. Compared with arithmetic on the whole
//! array.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;

use found::{devices, grids, ran};
use partita::index::DimMap;
use partita::prelude::*;

const SHAPE: [i64; 2] = [24, 22];

/// Heat, of whole numbers so that every order of additions gives the same.
fn heat(u: &Array) -> Array {
    let around = u.roll(&[1, 0]) + u.roll(&[-1, 0]) + u.roll(&[0, 1]) + u.roll(&[0, -1]);
    around - 3.0 * u
}

/// The game of life: what eight neighbours add up to decides.
fn life(u: &Array) -> Array {
    let rows = u.roll(&[1, 0]) + u + u.roll(&[-1, 0]);
    let around = rows.roll(&[0, 1]) + &rows + rows.roll(&[0, -1]) - u;
    let three = around.equal(3.0).cast(DType::I32);
    let two = around.equal(2.0).cast(DType::I32);
    three + two * u
}

fn at(u: &[i32], i: i64, j: i64) -> i32 {
    u[(i.rem_euclid(SHAPE[0]) * SHAPE[1] + j.rem_euclid(SHAPE[1])) as usize]
}

fn whole(u: &[i32], cell: impl Fn(&[i32], i64, i64) -> i32) -> Vec<i32> {
    let cells = (0..SHAPE[0]).flat_map(|i| (0..SHAPE[1]).map(move |j| (i, j)));
    cells.map(|(i, j)| cell(u, i, j)).collect()
}

fn heat_at(u: &[i32], i: i64, j: i64) -> i32 {
    at(u, i + 1, j) + at(u, i - 1, j) + at(u, i, j + 1) + at(u, i, j - 1) - 3 * at(u, i, j)
}

fn life_at(u: &[i32], i: i64, j: i64) -> i32 {
    let around = (-1..2).flat_map(|a| (-1..2).map(move |b| (a, b)));
    let alive: i32 = around.map(|(a, b)| at(u, i + a, j + b)).sum::<i32>() - at(u, i, j);
    i32::from(alive == 3) + i32::from(alive == 2) * at(u, i, j)
}

type Program = (fn(&Array) -> Array, fn(&[i32], i64, i64) -> i32);

const PROGRAMS: [Program; 2] = [(heat, heat_at), (life, life_at)];

fn start(team: &Team, grid: &[i64], periodic: [bool; 2]) -> Array {
    let dist = Distribution::builder(&SHAPE).grid(grid).periodic(&periodic).build().unwrap();
    Array::from_fn(team, &dist, |at| i32::from((at[0] * 7 + at[1] * 11) % 5 < 2)).unwrap()
}

#[test]
fn textbook_steps_are_one_kernel_per_part() {
    for device in devices() {
        let mut cases = 0;
        for parts in [1, 2, 3, 4, 8] {
            let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
            for grid in grids(parts) {
                for periodic in [[false, false], [true, true], [false, true]] {
                    for (step, cell) in PROGRAMS {
                        let mut u = start(&team, &grid, periodic);
                        let mut expected = u.to_vec::<i32>().unwrap();
                        // A copy comes before, where the array's memory has no room for halos yet.
                        let mut said = step(&u).explain().unwrap().kernels;
                        said.retain(|kernel| kernel.name != "copy_box");
                        let is_one = said.len() == 1 && said[0].exchanges.len() <= 1;
                        assert!(is_one, "{grid:?} {periodic:?} {said:?}");
                        for _ in 0..3 {
                            u = step(&u);
                            expected = whole(&expected, cell);
                            assert_eq!(u.to_vec::<i32>().unwrap(), expected, "{grid:?} {periodic:?}");
                        }
                        cases += 3;
                    }
                }
            }
        }
        ran("rolled", &device, cases);
    }
}

#[test]
fn rolled_steps_share_exchanges_where_ends_meet() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 4).unwrap();
        for (step, cell) in PROGRAMS {
            let body = |state: &mut [Array]| {
                state[0] = step(&state[0]);
                state[0].eval()
            };
            let u = start(&team, &[2, 2], [true, true]);
            let mut expected = u.to_vec::<i32>().unwrap();
            let mut run = Loop::new(vec![u], body).depth(2);
            run.run(8).unwrap();
            (0..8).for_each(|_| expected = whole(&expected, cell));
            assert_eq!(run.state()[0].to_vec::<i32>().unwrap(), expected, "{}", run.explain());
            assert_eq!(run.steps_per_exchange(), 2);
            // Without room for cells that wrap around there is nothing to share.
            let mut apart = Loop::new(vec![start(&team, &[2, 2], [false, true])], body).depth(2);
            let error = apart.run(8).unwrap_err().to_string();
            assert!(error.contains("periodic"), "{error}");
        }
    }
}

#[test]
fn cells_that_wrap_around_are_found_in_every_form() {
    for device in devices() {
        let mut cases = 0;
        for parts in [1, 3, 4] {
            let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
            let p = parts as i64;
            let plain = start(&team, &[p, 1], [false, false]);
            let cells = plain.to_vec::<i32>().unwrap();
            let cyclic = DimMap::cyclic(SHAPE[0], parts, 3).unwrap();
            let cyclic = Distribution::builder(&SHAPE).grid(&[p, 1]).map(0, cyclic).build().unwrap();
            let dealt = plain.redistribute(&cyclic);
            let rows = Array::coordinate(&team, &plain.distribution().unwrap(), 0, DType::I32).unwrap();
            for periodic in [[true, true], [false, false]] {
                let u = start(&team, &[1, p], periodic);
                for by in [[1, 0], [-3, 2], [10, 9], [-20, 17], [41, -1]] {
                    // Operands that are divided in other ways, and know where they are.
                    let mixed = (&u + &plain * 2.0 + &dealt * 4.0 + 8.0 * &rows).roll(&by);
                    let value = |u: &[i32], i: i64, j: i64| {
                        7 * at(u, i - by[0], j - by[1]) + 8 * (i - by[0]).rem_euclid(SHAPE[0]) as i32
                    };
                    assert_eq!(mixed.to_vec::<i32>().unwrap(), whole(&cells, value), "{by:?} {periodic:?}");
                    // A view of a rolled one, in steps and turned.
                    let some = u.roll(&by).slice(&s![..;-3, 1..-1;2]).transpose(&[1, 0]);
                    let expected: Vec<i32> = (0..(SHAPE[1] - 1) / 2)
                        .flat_map(|j| (0..SHAPE[0] / 3).map(move |i| (SHAPE[0] - 1 - 3 * i, 1 + 2 * j)))
                        .map(|(i, j)| at(&cells, i - by[0], j - by[1]))
                        .collect();
                    assert_eq!(some.to_vec::<i32>().unwrap(), expected, "{by:?} {periodic:?}");
                    // Of slices their own ends meet, not what lies beside them.
                    let inner = u.slice(&s![2..-1, ..;2]);
                    let around = (&inner + u.slice(&s![..-3, 1..;2])).roll(&by);
                    let (rows, columns) = (SHAPE[0] - 3, SHAPE[1] / 2);
                    let value = |i: i64, j: i64| at(&cells, i + 2, 2 * j) + at(&cells, i, 2 * j + 1);
                    let expected: Vec<i32> = (0..rows)
                        .flat_map(|i| (0..columns).map(move |j| (i - by[0], j - by[1])))
                        .map(|(i, j)| value(i.rem_euclid(rows), j.rem_euclid(columns)))
                        .collect();
                    assert_eq!(around.to_vec::<i32>().unwrap(), expected, "{by:?} {periodic:?}");
                    let part = inner.roll(&by).parts().unwrap().remove(0);
                    let one = part.region(partita::array::Cells::Owned).volume().unwrap() as usize;
                    let mut bytes = vec![0; 4 * one];
                    part.read_into(partita::array::Cells::Owned, &mut bytes).unwrap();
                    let cell = at(&cells, (-by[0]).rem_euclid(rows) + 2, 2 * (-by[1]).rem_euclid(columns));
                    let first = i32::from_le_bytes(bytes[..4].try_into().unwrap());
                    assert_eq!(first, cell, "{by:?} {periodic:?}");
                    cases += 4;
                }
            }
        }
        ran("rolled-mixed", &device, cases);
    }
}
