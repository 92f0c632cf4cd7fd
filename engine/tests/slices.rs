//! Slices of arrays over every kind of map: read, assigned, broadcast and shifted without general
//! redistribution, and an error where that would be needed.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;
mod pairs;

use found::{devices, ran};
use pairs::{SIZE, folded, maps, over, pairs, value};
use partita::array::{NewAxis, Span, record};
use partita::index::DimMap;
use partita::prelude::*;
use partita::program::{Command, Op};

#[test]
fn slices_of_every_map_kind_stay_on_their_parts() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 3).unwrap();
        let mut cases = 0;
        for map in maps() {
            let dist = over(std::slice::from_ref(&map));
            let a = Array::from_fn(&team, &dist, |at| at[0] as i32).unwrap();
            for (start, stop) in [(0, 1), (3, 9), (1, SIZE), (0, SIZE - 1), (7, 7), (22, 23)] {
                let slice = a.slice(&s![start..stop]);
                let expected: Vec<i32> = (start as i32..stop as i32).collect();
                let what = format!("{device:?} {dist} {start}..{stop}");
                assert_eq!(slice.to_vec::<i32>().unwrap(), expected, "{what}");
                let sum = (&slice * &slice).sum(&[]).item::<i64>().unwrap();
                assert_eq!(sum, (start..stop).map(|i| i * i).sum::<i64>(), "{what}");
                // A slice of a slice, and coordinates of the slice's own.
                let inner = slice.slice(&s![(stop - start) / 2..]);
                assert_eq!(
                    inner.to_vec::<i32>().unwrap(),
                    expected[((stop - start) / 2) as usize..],
                    "{what}"
                );
                let sliced = slice.distribution().unwrap();
                let own = Array::coordinate(&team, &sliced, 0, DType::I32).unwrap() + start as f64;
                assert_eq!((&own - &slice).to_vec::<i32>().unwrap(), vec![0; expected.len()], "{what}");
                // Every element is where it was.
                for i in start..stop {
                    assert_eq!(sliced.owner(&[i - start]).unwrap(), dist.owner(&[i]).unwrap(), "{what}");
                }
                let mut b = a.clone();
                b.assign(&s![start..stop], &(&slice * -1.0)).unwrap();
                let mut assigned: Vec<i32> = (0..SIZE as i32).collect();
                assigned[start as usize..stop as usize].iter_mut().for_each(|x| *x = -*x);
                assert_eq!(b.to_vec::<i32>().unwrap(), assigned, "{what}");
                assert_eq!(a.to_vec::<i32>().unwrap()[5], 5, "a clone keeps its value");
                cases += 1;
            }
        }
        ran("slices-of-kinds", &device, cases);
    }
}

#[test]
fn rows_and_columns_of_every_kind_are_broadcast() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 9).unwrap();
        for dist in pairs() {
            let a = Array::from_fn(&team, &dist, value).unwrap();
            let (row, column) = (a.slice(&s![3..4, ..]), a.slice(&s![.., 20..21]));
            let sum = (&a + &(&row + &column)).to_vec::<f32>().unwrap();
            let expected: Vec<f32> = dist
                .global()
                .points()
                .map(|at| value(&at) + (value(&[3, at[1]]) + value(&[at[0], 20])))
                .collect();
            assert_eq!(sum, expected, "{device:?} {dist}");
        }
    }
}

#[test]
fn slices_of_all_pairs_of_map_kinds_are_read_and_assigned_without_messages() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 9).unwrap();
        for dist in pairs() {
            let mut a = Array::from_fn(&team, &dist, value).unwrap();
            let before = team.messages();
            let inner = a.slice(&s![2..19, 4..8]);
            let expected: Vec<f32> =
                folded(&[17, 4], &[]).concat().iter().map(|at| value(&[at[0] + 2, at[1] + 4])).collect();
            assert_eq!(inner.to_vec::<f32>().unwrap(), expected, "{device:?} {dist}");
            a.assign(&s![2..19, 4..8], &(&inner * -2.0 + 1.0)).unwrap();
            a.assign(&s![.., 9..23], &(a.slice(&s![.., 9..23]) + 0.5)).unwrap();
            assert_eq!(team.messages(), before, "{device:?} {dist}");
            let new = |at: &[i64]| {
                let inside = (2..19).contains(&at[0]) && (4..8).contains(&at[1]);
                let scaled = if inside { value(at) * -2.0 + 1.0 } else { value(at) };
                if at[1] >= 9 { scaled + 0.5 } else { scaled }
            };
            let plain: Vec<f32> = dist.global().points().map(|at| new(&at)).collect();
            assert_eq!(a.to_vec::<f32>().unwrap(), plain, "{device:?} {dist}");
        }
        ran("boxes-of-kinds", &device, pairs().count());
    }
}

#[test]
fn what_every_part_has_is_read_by_blocks_without_messages_and_blocks_become_copies_with_some() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 6).unwrap();
        let blocks = Distribution::builder(&[SIZE, 10]).grid(&[3, 2]).build().unwrap();
        let a = Array::from_fn(&team, &blocks, value).unwrap();
        for dist in [
            Distribution::builder(&[10]).parts(6).replicated(0),
            Distribution::builder(&[1, 10]).grid(&[6, 1]).replicated(0),
            Distribution::builder(&[SIZE, 10]).grid(&[2, 3]).replicated(0).replicated(1),
            Distribution::builder(&[SIZE, 10]).grid(&[3, 2]).replicated(1),
        ] {
            let dist = dist.build().unwrap();
            let copies = Array::from_fn(&team, &dist, |at| at[at.len() - 1] as f32).unwrap();
            let before = team.messages();
            let product = &a * &copies + copies.slice(&vec![s![..][0]; dist.rank()]);
            let expected: Vec<f32> =
                blocks.global().points().map(|at| value(&at) * at[1] as f32 + at[1] as f32).collect();
            assert_eq!(product.to_vec::<f32>().unwrap(), expected, "{device:?} {dist}");
            if dist.map(dist.rank() - 1).kind() == "replicated" && dist.parts() == 6 && dist.rank() == 1 {
                assert_eq!(team.messages(), before, "{device:?} {dist}");
            }
            if dist.shape() == blocks.shape() {
                let mut all = copies.clone();
                all.assign(&s![.., ..], &a).unwrap();
                assert!(team.messages() > before, "{device:?} {dist}");
                for part in 0..6 {
                    let sets = dist.owned_set(part).unwrap();
                    let indices = sets[0].iter().flat_map(|i| sets[1].iter().map(move |j| [i, j]));
                    let held: Vec<f32> = indices.map(|at| value(&at)).collect();
                    assert_eq!(all.part_to_vec::<f32>(part).unwrap(), held, "{device:?} {dist} part {part}");
                }
            }
        }
    }
}

#[test]
fn stencils_along_blocks_work_beside_every_kind() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 6).unwrap();
        for (n, map) in maps().into_iter().enumerate() {
            let halo = i64::from(n % 2 == 0);
            let dist =
                Distribution::builder(&[SIZE, SIZE]).grid(&[2, 3]).map(1, map).halo(&[halo, 0], &[halo, 0]);
            let dist = dist.periodic(&[true, false]).build().unwrap();
            let mut u = Array::from_fn(&team, &dist, value).unwrap();
            let next = u.slice(&s![..-2, ..]) * 0.5 + u.slice(&s![2.., ..]) - u.slice(&s![1..-1, ..]);
            let turned = (u.shift(&[1, 0]) - u.shift(&[-3, 0])).to_vec::<f32>().unwrap();
            u.assign(&s![1..-1, ..], &next).unwrap();
            let new = |at: &[i64]| match at[0] {
                0 | 22 => value(at),
                i => value(&[i - 1, at[1]]) * 0.5 + value(&[i + 1, at[1]]) - value(at),
            };
            let plain: Vec<f32> = dist.global().points().map(|at| new(&at)).collect();
            assert_eq!(u.to_vec::<f32>().unwrap(), plain, "{device:?} {dist}");
            // A single element that changes is seen by the halos that copy it.
            let below = |u: &Array| u.slice(&s![1..-1, ..]) * 0.0 + u.slice(&s![2.., ..]);
            below(&u).eval().unwrap();
            let edge = dist.owned(3).start()[0];
            u.set(&[edge, 5], Scalar::from_f64(DType::F32, 777.0)).unwrap();
            let seen = below(&u).get(&[edge - 2, 5]).unwrap().to_f64();
            assert_eq!(seen, 777.0, "{device:?} {dist}");
            let wrapped = |i: i64, j: i64| value(&[i.rem_euclid(SIZE), j]);
            let moved = |at: &[i64]| wrapped(at[0] + 1, at[1]) - wrapped(at[0] - 3, at[1]);
            assert_eq!(turned, dist.global().points().map(|at| moved(&at)).collect::<Vec<f32>>());
        }
        ran("stencils-of-kinds", &device, maps().len());
    }
}

#[test]
fn several_windows_along_blocks_of_an_array_on_other_maps_than_the_result() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 6).unwrap();
        let blocks = Distribution::builder(&[SIZE - 2, SIZE - 2]).grid(&[3, 2]).build().unwrap();
        let zeros = Array::full(&team, &blocks, Scalar::from_f64(DType::F32, 0.0)).unwrap();
        for map in maps() {
            let dist = Distribution::builder(&[SIZE, SIZE]).grid(&[2, 3]).map(1, map).build().unwrap();
            let u = Array::from_fn(&team, &dist, value).unwrap();
            let stencil =
                &zeros + u.slice(&s![..-2, 2..]) * 0.5 + u.slice(&s![2.., 2..]) - u.slice(&s![1..-1, ..-2]);
            let new = |at: &[i64]| {
                let upper = value(&[at[0], at[1] + 2]) * 0.5;
                upper + value(&[at[0] + 2, at[1] + 2]) - value(&[at[0] + 1, at[1]])
            };
            let plain: Vec<f32> = blocks.global().points().map(|at| new(&at)).collect();
            assert_eq!(stencil.to_vec::<f32>().unwrap(), plain, "{device:?} {dist}");
        }
    }
}

#[test]
fn slices_of_cyclic_arrays_a_turn_apart_lie_on_the_same_parts() {
    // Blocks of 2 over 3 parts: 6 coordinates later in the array is 2 later in memory.
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 3).unwrap();
        let dist = over(&[DimMap::cyclic(24, 3, 2).unwrap()]);
        let a = Array::from_fn(&team, &dist, |at| at[0] as i32).unwrap();
        let before = team.messages();
        let sum = a.slice(&s![1..13]) * 100.0 + a.slice(&s![7..19])
            - a.slice(&s![12..24]).slice(&s![1..]).sum(&[]).cast(DType::I32);
        let tail: i32 = (13..24).sum();
        let expected: Vec<i32> = (0..12).map(|i| (i + 1) * 100 + (i + 7) - tail).collect();
        (a.slice(&s![1..13]) * 100.0 + a.slice(&s![7..19])).eval().unwrap();
        assert_eq!(team.messages(), before, "{device:?}");
        assert_eq!(sum.to_vec::<i32>().unwrap(), expected, "{device:?}");
    }
}

#[test]
fn arrays_of_eight_dimensions_of_mixed_kinds_are_updated_in_place() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 16).unwrap();
        let lists = DimMap::unstructured(&[vec![1, 0], vec![1]], false).unwrap();
        let dist = Distribution::builder(&[2; 8]).grid(&[2, 1, 2, 1, 2, 1, 1, 2]);
        let dist = dist.cyclic(0, 1).cyclic(2, 3).replicated(4).map(7, lists).build().unwrap();
        let number = |at: &[i64]| at.iter().fold(1, |sum, i| 2 * sum + i) as i32;
        let mut a = Array::from_fn(&team, &dist, number).unwrap();
        let memory = |a: &Array| -> Vec<u64> {
            a.places().unwrap().iter().flatten().map(|place| place.allocation.id).collect()
        };
        let before = memory(&a);
        a.set(&[1, 0, 1, 0, 1, 0, 1, 0], Scalar::from_i64(DType::I32, -5)).unwrap();
        let spans = s![1..2, 0..1, 1..2, .., 0..1, .., 1..2, 0..1];
        let doubled = a.slice(&spans) * 2.0;
        a.assign(&spans, &doubled).unwrap();
        drop(doubled);
        assert_eq!(memory(&a), before, "{device:?}");
        let new = |at: &[i64]| match at {
            [1, 0, 1, 0, 1, 0, 1, 0] => -5,
            [1, 0, 1, _, 0, _, 1, 0] => 2 * number(at),
            _ => number(at),
        };
        let expected: Vec<i32> = dist.global().points().map(|at| new(&at)).collect();
        assert_eq!(a.to_vec::<i32>().unwrap(), expected, "{device:?}");
    }
}

#[test]
fn what_has_to_travel_travels() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 3).unwrap();
        let blocks = Distribution::builder(&[SIZE]).parts(3).build().unwrap();
        let lists = DimMap::unstructured(&[vec![1, 0], (2..SIZE).rev().collect(), vec![]], true).unwrap();
        let kinds = [
            over(&[DimMap::cyclic(SIZE, 3, 2).unwrap()]),
            over(&[DimMap::replicated(SIZE, 3).unwrap()]),
            over(&[lists]),
            blocks,
        ];
        let value = |g: i64| (3 * g * g % 97) as f32;
        for dist in &kinds {
            let a = Array::from_fn(&team, dist, |at| value(at[0])).unwrap();
            let sums = a.slice(&s![2..]) - a.slice(&s![1..-1]) * 2.0 + a.slice(&s![..-2]);
            let expected: Vec<f32> =
                (1..SIZE - 1).map(|g| value(g + 1) - 2.0 * value(g) + value(g - 1)).collect();
            assert_eq!(sums.to_vec::<f32>().unwrap(), expected, "{device:?} {dist}");
            for other in &kinds {
                let b = Array::from_fn(&team, other, |at| at[0] as f32).unwrap();
                let expected: Vec<f32> = (0..SIZE).map(|g| value(g) + g as f32).collect();
                assert_eq!((&a + &b).to_vec::<f32>().unwrap(), expected, "{device:?} {dist} and {other}");
                let expected: Vec<f32> = (1..SIZE).map(|g| value(g) + (g - 1) as f32).collect();
                let stencil = a.slice(&s![1..-1]) + b.slice(&s![2..]) * 2.0 - b.slice(&s![..-2]);
                let around: Vec<f32> =
                    (1..SIZE - 1).map(|g| value(g) + 2.0 * (g + 1) as f32 - (g - 1) as f32).collect();
                assert_eq!(stencil.to_vec::<f32>().unwrap(), around, "{device:?} {dist} and {other}");
                let shifted = a.slice(&s![1..]) + b.slice(&s![..-1]);
                assert_eq!(shifted.to_vec::<f32>().unwrap(), expected, "{device:?} {dist} and {other}");
            }
        }
    }
}

#[test]
fn a_small_window_takes_a_value_that_was_computed_on_another_layout() {
    let team = Team::on(&[Device::host()], 4).unwrap();
    let dist = |shape: &[i64]| Distribution::default_partition(4, shape).unwrap();
    let mut u = Array::zeros(&team, &dist(&[11, 6]), DType::I32).unwrap();
    let value = Array::from_fn(&team, &dist(&[3, 5]), |at| (10 * at[0] + at[1]) as i32).unwrap();
    u.assign(&s![-4..-1, 1..], &value).unwrap();
    let expected = |at: usize| match (at / 6, at % 6) {
        (row @ 7..10, column @ 1..) => (10 * (row - 7) + column - 1) as i32,
        _ => 0,
    };
    assert_eq!(u.to_vec::<i32>().unwrap(), (0..66).map(expected).collect::<Vec<i32>>());
}

#[test]
fn where_nobody_needs_the_old_value_one_launch_per_part_is_all() {
    let launches = |step: &mut dyn FnMut()| {
        let schedule = record(|| {
            step();
            Ok(())
        });
        let is_launch = |command: &&Command| matches!(command.op, Op::Launch { .. });
        schedule.unwrap().iter().filter(is_launch).count()
    };
    for parts in [1, 3] {
        let team = Team::on(&[Device::host()], parts).unwrap();
        let dist = Distribution::builder(&[12, 7]).parts(parts).halo(&[1, 1], &[1, 1]).build().unwrap();
        let filled = |k: i64| Array::from_fn(&team, &dist, |at| (k * at[0] + at[1]) as i32).unwrap();
        let (v, mut u, mut w) = (filled(10), filled(0), filled(0));
        // Afterwards, of the second time on, the form is known.
        for times in 1..4 {
            let value = v.slice(&s![1..-1, 1..-1]) + f64::from(times);
            assert_eq!(launches(&mut || u.assign(&s![1..-1, 1..-1], &value).unwrap()), parts);
            let at = |row: usize, column: usize| match (row, column) {
                (1..11, 1..6) => (10 * row + column) as i32 + times,
                _ => column as i32,
            };
            let expected: Vec<i32> = (0..84).map(|k| at(k / 7, k % 7)).collect();
            assert_eq!(u.to_vec::<i32>().unwrap(), expected, "{parts} {times}");
            // Halos show the new elements.
            let below = u.slice(&s![1.., ..]) - u.slice(&s![..-1, ..]);
            let differences: Vec<i32> = (0..77).map(|k| expected[k + 7] - expected[k]).collect();
            assert_eq!(below.to_vec::<i32>().unwrap(), differences, "{parts} {times}");
            // A clone, an expression and the value itself keep the old elements.
            let before = w.to_vec::<i32>().unwrap();
            let (clone, recorded) = (w.clone(), &w * 2.0);
            assert!(launches(&mut || w.assign(&s![1..-1, 1..-1], &value).unwrap()) > parts);
            assert_eq!(clone.to_vec::<i32>().unwrap(), before);
            let doubled: Vec<i32> = before.iter().map(|old| 2 * old).collect();
            assert_eq!(recorded.to_vec::<i32>().unwrap(), doubled);
            drop((clone, recorded));
            let next = w.slice(&s![..-2, 1..-1]) + 1.0;
            assert!(launches(&mut || w.assign(&s![1..-1, 1..-1], &next).unwrap()) > parts);
            drop(next);
            let given = w.to_vec::<i32>().unwrap();
            let moved = |k: usize| match (k / 7, k % 7) {
                (1, 1..6) => before[k - 7] + 1,
                (2..11, 1..6) => (10 * (k / 7 - 1) + k % 7) as i32 + times + 1,
                _ => before[k],
            };
            assert_eq!(given, (0..84).map(moved).collect::<Vec<i32>>(), "{parts} {times}");
            w.assign(&s![1..-1, 1..-1], &v.slice(&s![1..-1, 1..-1])).unwrap();
        }
    }
}

#[test]
fn ranges_mean_what_they_mean_in_numpy() {
    let team = Team::on(&[Device::host()], 1).unwrap();
    let line = |extent: i64| {
        let dist = Distribution::default_partition(1, &[extent]).unwrap();
        Array::from_fn(&team, &dist, |at| at[0]).unwrap()
    };
    let of = |span: [Span; 1]| line(9).slice(&span).to_vec::<i64>().unwrap();
    // NumPy's a[8:2:-1] begins with element 8 and ends with element 3.
    assert_eq!(of(s![..; 4]), [0, 4, 8]);
    assert_eq!(of(s![1..-1; 3]), [1, 4, 7]);
    assert_eq!(of(s![..; -4]), [8, 4, 0]);
    assert_eq!(of(s![8..2; -1]), [8, 7, 6, 5, 4, 3]);
    assert_eq!(of(s![-2..; -3]), [7, 4, 1]);
    assert_eq!(of(s![..4; -2]), [8, 6]);
    assert_eq!(of(s![3..3; -2]), [0i64; 0]);
    for span in [s![..; 0][0], s![9..; -1][0], s![2..8; -1][0], s![9][0], s![-10][0], s![4..3][0]] {
        assert!(line(9).slice(&[span]).recorded().is_err(), "{span:?}");
    }
    assert_eq!(line(0).slice(&s![..; -1]).shape()[0], 0);
}

#[test]
fn dimensions_come_and_go() {
    let team = Team::on(&[Device::host()], 1).unwrap();
    let dist = Distribution::default_partition(1, &[4, 5, 6]).unwrap();
    let u = Array::from_fn(&team, &dist, |at| 100 * at[0] + 10 * at[1] + at[2]).unwrap();
    let v = u.slice(&s![NewAxis, -1, .., NewAxis, 1..; 2]);
    assert_eq!(v.shape()[..], [1, 5, 1, 3]);
    let expected: Vec<i64> = (0..5).flat_map(|j| [1, 3, 5].map(|k| 300 + 10 * j + k)).collect();
    assert_eq!(v.to_vec::<i64>().unwrap(), expected);
    assert!(u.slice(&s![.., .., .., .., 0]).recorded().is_err());
}
