//! Reshapes and index arrays against index arithmetic: every cell holds its own number.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;

use found::devices;
use partita::array::Stride;
use partita::prelude::*;

const SHAPE: [i64; 2] = [11, 6];

/// Arrays of numbered cells on several layouts of every device.
fn numbered() -> Vec<Array> {
    let mut arrays = Vec::new();
    for device in devices() {
        for parts in [1, 2, 4] {
            let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
            for grid in [[parts as i64, 1], [1, parts as i64]] {
                let builder = Distribution::builder(&SHAPE).grid(&grid);
                let dist = builder.halo(&[1, 0], &[0, 1]).build().unwrap();
                arrays.push(Array::from_fn(&team, &dist, |at| (at[0] * 6 + at[1]) as i32).unwrap());
            }
        }
    }
    arrays
}

#[test]
fn steps_flips_and_transpositions() {
    let mut cases = 0;
    for u in numbered() {
        for (start, step, count) in [(0, 1, 11), (1, 3, 4), (10, -1, 11), (9, -4, 3), (5, 2, 0), (7, 0, 3)] {
            let rows = Stride::Of { dim: 0, start, step, count };
            let columns = Stride::Of { dim: 1, start: 5, step: -2, count: 3 };
            let turned = u.rearranged(&[columns, Stride::New { count: 2 }, rows]);
            let cell = |c: i64, r: i64| ((start + r * step) * 6 + 5 - 2 * c) as i32;
            let expected: Vec<i32> =
                (0..3).flat_map(|c| (0..2 * count).map(move |k| cell(c, k % count))).collect();
            assert_eq!(turned.to_vec::<i32>().unwrap(), expected, "{u:?} {rows:?}");
            cases += 1;
        }
        for wrong in [
            vec![Stride::Of { dim: 0, start: 0, step: 1, count: 12 }, Stride::New { count: 1 }],
            vec![Stride::Of { dim: 0, start: 0, step: 1, count: 11 }],
        ] {
            assert!(u.rearranged(&wrong).recorded().is_err());
        }
    }
    println!("ran: rearranged-strides {cases}");
}

#[test]
fn other_shapes_keep_the_order() {
    for u in numbered() {
        for shape in [&[66][..], &[6, 11], &[1, 3, 22], &[2, 1, 33]] {
            let flat = u.reshape(shape);
            assert_eq!(flat.shape()[..], *shape);
            assert_eq!(flat.to_vec::<i32>().unwrap(), (0..66).collect::<Vec<i32>>(), "{u:?} {shape:?}");
        }
        assert!(u.reshape(&[65]).recorded().is_err());
    }
}

#[test]
fn positions_are_gathered_and_scattered() {
    for mut u in numbered() {
        let positions: Vec<i64> = (0..40).map(|k| (k * 29 + 7) % 66).collect();
        let picked = u.gather(&[5, 8], &positions);
        assert_eq!(picked.to_vec::<i32>().unwrap(), positions.iter().map(|&p| p as i32).collect::<Vec<_>>());
        assert!(u.gather(&[2], &[0, 66]).recorded().is_err());
        // Of a position that is named twice the last value counts.
        let line = Distribution::default_partition(u.team().size(), &[4]).unwrap();
        let values = Array::from_fn(u.team(), &line, |at| -1 - at[0] as i32).unwrap();
        u.scatter(&[65, 0, 30, 65], &values).unwrap();
        let expected = (0..66).map(|k| match k {
            0 => -2,
            30 => -3,
            65 => -4,
            k => k,
        });
        assert_eq!(u.to_vec::<i32>().unwrap(), expected.collect::<Vec<i32>>());
        assert!(u.scatter(&[1], &values).is_err());
    }
}

#[test]
fn neighbours_see_what_was_assigned_and_recorded_values_see_what_was() {
    // Each gives the last cell of the first part, which the halo of the second shows, another value.
    type Change = fn(&mut Array, &Array) -> partita::Result<()>;
    let changes: [(&str, Change); 4] = [
        ("a window", |u, x| u.assign(&s![5..7], &x.slice(&s![..2]))),
        ("a large window", |u, x| u.assign(&s![1..], &x.slice(&s![1..]))),
        ("steps", |u, x| u.assign(&s![5..; 6], &x.slice(&s![..2]))),
        ("positions", |u, x| u.scatter(&[1, 5], &x.slice(&s![..2]))),
    ];
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 2).unwrap();
        let dist = Distribution::builder(&[12]).parts(2).build().unwrap();
        for (name, change) in changes {
            for is_held in [false, true] {
                let mut u = Array::from_fn(&team, &dist, |at| at[0] as i32).unwrap();
                let values = Array::from_fn(&team, &dist, |at| -1 - at[0] as i32).unwrap();
                let sums = |u: &Array| (u.slice(&s![1..]) + u.slice(&s![..-1])).to_vec::<i32>().unwrap();
                sums(&u);
                let held = is_held.then(|| (u.clone(), &u + 1));
                change(&mut u, &values).unwrap();
                let now = u.to_vec::<i32>().unwrap();
                let expected: Vec<i32> = now.windows(2).map(|pair| pair[0] + pair[1]).collect();
                assert!(now[5] < 0, "{name}: {now:?}");
                assert_eq!(sums(&u), expected, "{name}, {device:?}, held: {is_held}");
                let Some((held, next)) = held else { continue };
                assert_eq!(held.to_vec::<i32>().unwrap(), (0..12).collect::<Vec<i32>>(), "{name}");
                assert_eq!(next.to_vec::<i32>().unwrap(), (1..13).collect::<Vec<i32>>(), "{name}");
            }
        }
    }
}

#[test]
fn recorded_updates_are_values_of_their_own() {
    for u in numbered() {
        let mut v = u.clone();
        v.assign(&s![2..5, 1..; 2], &(u.slice(&s![..3, 0..3]) * 2)).unwrap();
        v.assign(&s![0..1, ..], &u.slice(&s![10.., ..])).unwrap();
        let w = u.updated(&s![2..5, 1..; 2], &(u.slice(&s![..3, 0..3]) * 2));
        let w = w.updated(&s![0..1, ..], &u.slice(&s![10.., ..]));
        assert!(!w.is_computed());
        let doubled = &w + &w;
        assert_eq!(doubled.to_vec::<i32>().unwrap(), (&v * 2).to_vec::<i32>().unwrap());
        assert_eq!(w.to_vec::<i32>().unwrap(), v.to_vec::<i32>().unwrap());
        assert_eq!(u.to_vec::<i32>().unwrap(), (0..66).collect::<Vec<i32>>());
        let line = u.slice(&s![1, ..2]);
        v.scatter(&[65, 3], &line).unwrap();
        assert_eq!(w.updated_at(&[65, 3], &line).to_vec::<i32>().unwrap(), v.to_vec::<i32>().unwrap());
        assert!(u.updated(&s![12.., ..], &u).eval().is_err() && u.updated_at(&[66], &line).eval().is_err());
        assert!(u.updated(&s![..2, ..], &u.cast(DType::F32)).eval().is_err());
        let failed = u.gather(&[2], &[0, 66]);
        let errors = [failed.updated(&s![99.., ..], &u), u.updated_at(&[0], &u), u.updated_at(&[66], &line)];
        let names = errors.map(|array| array.eval().unwrap_err().to_string());
        let begins = ["gather", "updated_at", "updated_at"];
        assert!(names.iter().zip(begins).all(|(text, name)| text.starts_with(name)), "{names:?}");
    }
    // Longer than a stack of calls could be.
    let team = Team::on(&[Device::host()], 2).unwrap();
    let zeros = Array::zeros(&team, &Distribution::default_partition(2, &[8]).unwrap(), DType::I32).unwrap();
    let chain = (0..6000).fold(zeros, |u, k| u.updated(&s![k % 8..k % 8 + 1], &(u.slice(&s![3..4]) + 1)));
    assert!(chain.to_vec::<i32>().unwrap().iter().all(|&count| count > 0));
}

#[test]
fn every_second_cell_is_assigned() {
    for mut u in numbered() {
        let before = u.clone();
        let value = u.slice(&s![..3, ..1]).cast(DType::I32);
        u.assign(&s![1..10; 3, 0..6; 2], &value).unwrap();
        let expected = (0..66).map(|k| match (k / 6, k % 6) {
            (row @ (1 | 4 | 7), 0 | 2 | 4) => row / 3 * 6,
            _ => k,
        });
        assert_eq!(u.to_vec::<i32>().unwrap(), expected.collect::<Vec<i32>>());
        assert_eq!(before.to_vec::<i32>().unwrap(), (0..66).collect::<Vec<i32>>());
    }
}

#[test]
fn what_is_scattered_or_taken_keeps_the_declared_distribution_whatever_halos_its_memory_has() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 2).unwrap();
        let dist = Distribution::builder(&[12]).parts(2).build().unwrap();
        let mut u = Array::from_fn(&team, &dist, |at| at[0] as i32).unwrap();
        let indices = Array::from_fn(&team, &dist, |at| (11 - at[0]) as i32).unwrap();
        // Reads of neighbours give both memories halos.
        for array in [&u, &indices] {
            (array.slice(&s![1..]) + array.slice(&s![..-1])).eval().unwrap();
        }
        let taken = u.take(&indices).unwrap();
        assert!(*taken.distribution().unwrap() == dist, "{device:?} take");
        assert_eq!(taken.to_vec::<i32>().unwrap(), (0..12).rev().collect::<Vec<i32>>());
        u.scatter(&[0, 7], &taken.slice(&s![..2])).unwrap();
        assert!(*u.distribution().unwrap() == dist, "{device:?} scatter");
        assert_eq!(u.to_vec::<i32>().unwrap(), [11, 1, 2, 3, 4, 5, 6, 10, 8, 9, 10, 11]);
    }
}
