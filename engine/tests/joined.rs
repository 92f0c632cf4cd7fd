//! `concatenate`, `stack`, `pad` and `roll` against index arithmetic, and their cost: no kernel for unused
//! values, one kernel per box, no message for cells that stay on their part.
#![allow(missing_docs, clippy::unwrap_used)]

mod counted;
mod found;

use counted::counted;
use found::{devices, ran};
use partita::array::Padding;
use partita::index::DimMap;
use partita::prelude::*;

const ROWS: i64 = 9;
const COLUMNS: i64 = 6;

fn number(at: &[i64]) -> i32 {
    (at[0] * COLUMNS + at[1]) as i32
}

/// Divisions of shape (ROWS, COLUMNS): blocks in rows and columns, uneven, with halos, periodic, and others.
fn divisions(parts: usize) -> Vec<Distribution> {
    let p = parts as i64;
    let builder = || Distribution::builder(&[ROWS, COLUMNS]);
    let cyclic = DimMap::cyclic(ROWS, parts, 1).unwrap();
    let mut all = vec![
        builder().parts(parts).build().unwrap(),
        builder().grid(&[1, p]).halo(&[0, 1], &[0, 1]).build().unwrap(),
        builder().parts(parts).periodic(&[true, false]).build().unwrap(),
        builder().grid(&[p, 1]).map(0, cyclic).build().unwrap(),
    ];
    if parts == 4 {
        all.push(builder().bounds(0, &[0, 7, ROWS]).bounds(1, &[0, 1, COLUMNS]).build().unwrap());
    }
    all
}

fn source(with: Padding, at: i64, n: i64) -> Option<i64> {
    let inside = (0..n).contains(&at);
    match with {
        Padding::Constant(_) => inside.then_some(at),
        Padding::Edge => Some(at.clamp(0, n - 1)),
        Padding::Wrap => Some(at.rem_euclid(n)),
        Padding::Reflect => Some((at.rem_euclid(2 * n - 2)).min((-at).rem_euclid(2 * n - 2))),
        _ => Some((at.rem_euclid(2 * n)).min((-1 - at).rem_euclid(2 * n))),
    }
}

fn check(given: &Array, shape: [i64; 2], expected: impl Fn(i64, i64) -> i32) -> usize {
    assert_eq!(given.shape()[..], shape);
    let cells = (0..shape[0]).flat_map(|i| (0..shape[1]).map(move |j| (i, j)));
    let expected: Vec<i32> = cells.map(|(i, j)| expected(i, j)).collect();
    assert_eq!(given.to_vec::<i32>().unwrap(), expected, "{given:?} {:?}", given.distribution());
    1
}

#[test]
fn elements_come_from_where_numpy_says() {
    let fill = Padding::Constant(Scalar::from_i64(DType::I32, -7));
    let paddings = [fill, Padding::Edge, Padding::Wrap, Padding::Reflect, Padding::Symmetric];
    for device in devices() {
        let mut cases = 0;
        for parts in [1, 3, 4] {
            let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
            for dist in divisions(parts) {
                let u = Array::from_fn(&team, &dist, number).unwrap();
                for with in paddings {
                    for widths in [[(1, 2), (2, 1)], [(0, 0), (3, 0)], [(20, 0), (0, 7)]] {
                        // Of an expression, whose kernel the boxes share.
                        let padded = (&u + 1.0).pad(&widths, with);
                        let [(top, bottom), (left, right)] = widths;
                        let value = |i: i64, j: i64| {
                            let (i, j) = (source(with, i - top, ROWS), source(with, j - left, COLUMNS));
                            i.zip(j).map_or(-7, |(i, j)| number(&[i, j]) + 1)
                        };
                        let shape = [ROWS + top + bottom, COLUMNS + left + right];
                        cases += check(&padded, shape, value);
                    }
                }
                let (first, last) = (u.slice(&s![..2]), -u.slice(&s![3..]));
                let all = Array::concatenate(&[&last, &first, &u], 0);
                cases += check(&all, [ROWS - 3 + 2 + ROWS, COLUMNS], |i, j| match i {
                    0..6 => -number(&[i + 3, j]),
                    6..8 => number(&[i - 6, j]),
                    _ => number(&[i - 8, j]),
                });
                let beside = Array::concatenate(&[&u, &u.slice(&s![.., 4..4]), &u.flip(1)], 1);
                let turned = |j: i64| if j < COLUMNS { j } else { 2 * COLUMNS - 1 - j };
                cases += check(&beside, [ROWS, 2 * COLUMNS], |i, j| number(&[i, turned(j)]));
                let stacked = Array::stack(&[&u, &-&u], 1).slice(&s![.., 1, ..]);
                cases += check(&stacked, [ROWS, COLUMNS], |i, j| -number(&[i, j]));
                for by in [[1, 0], [-1, 2], [4, 3], [0, 0], [ROWS, COLUMNS + 1]] {
                    let from =
                        |i: i64, j: i64| [(i - by[0]).rem_euclid(ROWS), (j - by[1]).rem_euclid(COLUMNS)];
                    cases += check(&u.roll(&by), [ROWS, COLUMNS], |i, j| number(&from(i, j)));
                }
            }
        }
        ran("joined", &device, cases);
    }
}

fn slabs() -> (Team, Array) {
    let team = Team::on(&[Device::host()], 3).unwrap();
    let dist = Distribution::default_partition(3, &[ROWS, COLUMNS]).unwrap();
    let u = Array::from_fn(&team, &dist, number).unwrap();
    (team, u)
}

#[test]
fn what_nobody_needs_is_not_put_together() {
    let (team, u) = slabs();
    let dead = |u: &Array| {
        let joined = Array::concatenate(&[u, &u.flip(0)], 0);
        let listed = u.gather(&[3], &[50, 1, 7]);
        vec![joined, u.pad(&[(1, 1), (1, 1)], Padding::Wrap), u.roll(&[2, 1]), listed, u.reshape(&[2, 27])]
    };
    let (launches, messages) = counted(&team, || {
        drop(dead(&u));
        Ok(())
    });
    assert_eq!((launches.len(), messages), (0, 0), "{launches:?}");
    // Each of them takes both when it is evaluated, and nothing once it is there.
    for alive in dead(&u) {
        let (launches, messages) = counted(&team, || alive.eval());
        assert!(!launches.is_empty() && messages > 0, "{alive:?} {launches:?} {messages}");
        assert_eq!(counted(&team, || alive.eval()), (Vec::new(), 0));
    }
    // Scattering is a barrier for its own array alone.
    let (mut changed, waiting) = (&u + 1.0, Array::concatenate(&[&u, &u.flip(0)], 0));
    let line = Array::zeros(&team, &Distribution::default_partition(3, &[2]).unwrap(), DType::I32).unwrap();
    let (launches, _) = counted(&team, || changed.scatter(&[3, 50], &line));
    assert!(!launches.iter().any(|name| name == "joined"), "{launches:?}");
    assert!(!waiting.explain().unwrap().kernels.is_empty());
    // A slice of one box is a slice of what the box is.
    let joined = Array::concatenate(&[&(&u * 2.0), &u.flip(0)], 0);
    let (launches, messages) = counted(&team, || joined.slice(&s![2..8; 3, 1..]).eval());
    assert_eq!((launches, messages), (vec!["fused".to_owned(); 2], 0));
}

#[test]
fn boxes_are_computed_where_they_stay() {
    let (team, u) = slabs();
    // The operands are fused: one launch per part and box, none for what they are computed from, and the
    // borders are where their cells are.
    let padded = (&u * &u - 1.0).pad(&[(1, 1), (0, 0)], Padding::Edge);
    let (launches, messages) = counted(&team, || padded.eval());
    assert_eq!((launches, messages), (vec!["joined".to_owned(); 5], 0));
    // A stencil on it exchanges halos that its memory has, in one launch per part; a copy of it to other
    // memory would be another.
    let around = padded.slice(&s![1..-1]) * -2.0 + padded.slice(&s![..-2]) + padded.slice(&s![2..]);
    let (launches, messages) = counted(&team, || around.eval());
    let copies = launches.iter().filter(|name| name.starts_with("copy_box")).count();
    assert_eq!(
        (launches.iter().filter(|name| *name == "fused").count(), copies, messages),
        (3, 3, 4),
        "{launches:?}"
    );
    // Row 0 and row 8 change places; all else is one row further on the same part or its neighbour.
    let (_, messages) = counted(&team, || u.roll(&[1, 0]).eval());
    assert_eq!(messages, 3);
    // What is repeated is computed once if it is much.
    let heavy = u.cast(DType::F32).sin().exp().cos();
    let tiled = Array::concatenate(&[&heavy, &heavy, &heavy], 1);
    let (launches, _) = counted(&team, || tiled.eval());
    let count = |name: &str| launches.iter().filter(|launched| *launched == name).count();
    assert_eq!((count("fused"), count("joined")), (3, 9), "{launches:?}");
}

#[test]
fn the_same_form_is_planned_once_and_says_what_it_runs() {
    let (team, u) = slabs();
    let step = |u: &Array| (u + 1.0).pad(&[(1, 1), (1, 1)], Padding::Reflect).slice(&s![1.., 1..]) * 2.0;
    let said = step(&u).explain().unwrap();
    let joined = said.kernels.iter().filter(|kernel| kernel.name == "joined");
    assert_eq!(joined.count(), 9, "{said}");
    for k in 0..4 {
        let next = step(&(&u + f64::from(k)));
        let inner = |i: i64, j: i64| {
            let at = |i: i64, n: i64| if i < n { i } else { n - 2 };
            2 * (number(&[at(i, ROWS), at(j, COLUMNS)]) + k + 1)
        };
        check(&next, [ROWS + 1, COLUMNS + 1], inner);
    }
    let before = team.messages();
    assert!(said.exchanged_bytes() == 0 && team.messages() == before);
}

#[test]
fn what_does_not_fit_is_refused() {
    let (team, u) = slabs();
    assert!(
        Array::concatenate(&[], 0).recorded().is_err() && Array::concatenate(&[&u], 2).recorded().is_err()
    );
    assert!(Array::concatenate(&[&u, &u.cast(DType::F32)], 0).recorded().is_err());
    assert!(Array::concatenate(&[&u, &u.slice(&s![.., 1..])], 0).recorded().is_err());
    assert!(Array::stack(&[&u, &u.slice(&s![.., 1..])], 0).recorded().is_err());
    assert!(u.pad(&[(1, 1)], Padding::Edge).eval().is_err() && u.roll(&[1]).eval().is_err());
    assert!(u.pad(&[(1, -1), (0, 0)], Padding::Edge).eval().is_err());
    assert!(u.pad(&[(1, 1), (0, 0)], Padding::Constant(Scalar::from_f64(DType::F32, 0.0))).eval().is_err());
    let empty =
        Array::zeros(&team, &Distribution::default_partition(3, &[0, 2]).unwrap(), DType::I32).unwrap();
    assert!(empty.pad(&[(1, 0), (0, 0)], Padding::Wrap).eval().is_err());
    assert_eq!(empty.pad(&[(0, 0), (0, 1)], Padding::Wrap).to_vec::<i32>().unwrap(), [0i32; 0]);
}

#[test]
fn what_lies_within_each_other_needs_no_deep_stack() {
    let (_, u) = slabs();
    let mut chain = u.clone();
    for k in 0..2000 {
        let listed = if k % 100 == 7 { chain.reshape(&[ROWS, COLUMNS]) } else { chain };
        chain = listed.roll(&[1, 0]) + 1.0;
    }
    check(&chain, [ROWS, COLUMNS], |i, j| number(&[(i - 2000).rem_euclid(ROWS), j]) + 2000);
}

#[test]
fn rolled_arrays_in_another_shape_get_the_halos_that_they_read() {
    let team = Team::on(&[Device::host()], 4).unwrap();
    let dist = Distribution::builder(&[8, 3, 4]).grid(&[4, 1, 1]).cyclic(0, 2).build().unwrap();
    let u = Array::from_fn(&team, &dist, |at| (12 * at[0] + 4 * at[1] + at[2]) as i32).unwrap();
    let line = u.reshape(&[96]);
    let rolled = Array::concatenate(&[&line.slice(&s![91..]), &line.slice(&s![..91])], 0);
    let expected: Vec<i32> = (0..96).map(|k| (k + 91) % 96).collect();
    assert_eq!(rolled.to_vec::<i32>().unwrap(), expected);
}
