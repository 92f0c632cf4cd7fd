//! Arrays over every kind of map: creation, arithmetic, reductions, printing and reading agree with loops.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;
mod kinds;
mod pairs;

use std::sync::Arc;

use found::{devices, ran};
use kinds::{Kind, mixed};
use pairs::{Folded, SIZE, folded, maps, over, pairs, ties, value};
use partita::index::DimMap;
use partita::prelude::*;
use proptest::test_runner::{Config, TestRunner};

#[test]
fn arithmetic_over_all_pairs_of_map_kinds() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 9).unwrap();
        for dist in pairs() {
            let a = Array::from_fn(&team, &dist, value).unwrap();
            let plain: Vec<f32> = dist.global().points().map(|at| value(&at)).collect();
            assert_eq!(a.to_vec::<f32>().unwrap(), plain, "round trip {dist}");
            let b = (&a * 2.0 + a.abs()).sqrt();
            let expected: Vec<f32> = plain.iter().map(|x| (x * 2.0 + x.abs()).sqrt()).collect();
            let bits = |v: Vec<f32>| v.into_iter().map(f32::to_bits).collect::<Vec<u32>>();
            let number = |v: Vec<f32>| v.into_iter().map(|x| if x.is_nan() { 0.0 } else { x }).collect();
            assert_eq!(bits(number(b.to_vec().unwrap())), bits(number(expected)), "{device:?} {dist}");
            let row = Array::coordinate(&team, &dist, 0, DType::F32).unwrap();
            let column = Array::coordinate(&team, &dist, 1, DType::F32).unwrap();
            let again = (row * 31.0 + column * 7.0) * 0.25 - 50.0;
            assert_eq!(again.to_vec::<f32>().unwrap(), plain, "coordinates {device:?} {dist}");
            let filled = Array::full(&team, &dist, Scalar::from_f64(DType::F32, 3.0)).unwrap();
            assert_eq!(filled.sum(&[]).item::<f32>().unwrap(), 3.0 * (SIZE * SIZE) as f32);
        }
        ran("pairs-of-kinds", &device, pairs().count());
    }
}

#[test]
fn reductions_count_every_element_once_over_all_pairs_of_map_kinds() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 9).unwrap();
        for dist in pairs() {
            let a = Array::from_fn(&team, &dist, ties).unwrap();
            for axes in [&[0, 1][..], &[0], &[1]] {
                let cells = folded(&[SIZE, SIZE], axes);
                let fold = |f: &dyn Fn(std::vec::IntoIter<i64>) -> i64| -> Vec<i64> {
                    let each = |line: &Vec<Vec<i64>>| {
                        let values: Vec<i64> = line.iter().map(|at| i64::from(ties(at))).collect();
                        f(values.into_iter())
                    };
                    cells.iter().map(each).collect()
                };
                let what = format!("{device:?} {dist} over {axes:?}");
                let wide = |array: Array| array.cast(DType::I64).to_vec::<i64>().unwrap();
                assert_eq!(wide(a.sum(axes)), fold(&|line| line.sum()), "sum {what}");
                let odd = &(&a * &a) * 2.0 + 1.0;
                let product = fold(&|line| line.fold(1, |p: i64, x| p.wrapping_mul(2 * x * x + 1)));
                assert_eq!(wide(odd.prod(axes)), product, "prod {what}");
                assert_eq!(wide(a.min(axes)), fold(&|line| line.min().unwrap()), "min {what}");
                assert_eq!(wide(a.max(axes)), fold(&|line| line.max().unwrap()), "max {what}");
                assert_eq!(
                    wide(a.all(axes)),
                    fold(&|line| i64::from(line.clone().all(|x| x != 0))),
                    "all {what}"
                );
                let five = a.equal(5.0).any(axes);
                assert_eq!(wide(five), fold(&|line| i64::from(line.clone().any(|x| x == 5))), "any {what}");
                if device.kind() == DeviceKind::Host {
                    let mean = fold(&|line| line.sum::<i64>()).into_iter();
                    let mean: Vec<f64> = mean.map(|sum| sum as f64 / cells[0].len() as f64).collect();
                    assert_eq!(a.mean(axes).to_vec::<f64>().unwrap(), mean, "mean {what}");
                }
            }
        }
        ran("reductions-of-kinds", &device, pairs().count());
    }
}

#[test]
fn positions_of_extremes_over_all_pairs_of_kinds() {
    // The first of equals in global order wherever the parts keep them, and a NaN before any number.
    let with_nan = |at: &[i64]| match (at[0], at[1]) {
        (17, 4) | (5, 9) | (5, 20) => f32::NAN,
        _ => ties(at) as f32,
    };
    let first = |values: &[f32], better: &dyn Fn(f32, f32) -> bool| {
        let nan = values.iter().position(|x| x.is_nan());
        let best =
            || values.iter().enumerate().fold(0, |k, (n, &x)| if better(x, values[k]) { n } else { k });
        nan.unwrap_or_else(best) as i64
    };
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 9).unwrap();
        for dist in pairs() {
            for nan in [false, true] {
                let value = |at: &[i64]| if nan { with_nan(at) } else { ties(at) as f32 };
                let a = Array::from_fn(&team, &dist, value).unwrap();
                for axis in [None, Some(0), Some(1)] {
                    let axes = axis.map_or(vec![0, 1], |d| vec![d]);
                    let lines: Vec<Vec<f32>> = folded(&[SIZE, SIZE], &axes)
                        .iter()
                        .map(|line| line.iter().map(|at| value(at)).collect())
                        .collect();
                    let expect = |better: &dyn Fn(f32, f32) -> bool| -> Vec<i64> {
                        lines.iter().map(|line| first(line, better)).collect()
                    };
                    let what = format!("{device:?} {dist} {axis:?} nan {nan}");
                    assert_eq!(a.argmin(axis).to_vec::<i64>().unwrap(), expect(&|x, y| x < y), "min {what}");
                    assert_eq!(a.argmax(axis).to_vec::<i64>().unwrap(), expect(&|x, y| x > y), "max {what}");
                }
            }
        }
        ran("positions-of-kinds", &device, pairs().count());
    }
}

/// Everything that must hold of an array over any mixture of maps.
fn check_mixture(device: &Device, kinds: &[Kind]) {
    let dist = over(&kinds.iter().map(Kind::build).collect::<Vec<_>>());
    let shape: Vec<i64> = dist.shape().to_vec();
    let team = Team::on(std::slice::from_ref(device), dist.parts()).unwrap();
    let points: Vec<Vec<i64>> = dist.global().points().map(|at| at.to_vec()).collect();
    let a = Array::from_fn(&team, &dist, ties).unwrap();
    let plain: Vec<i32> = points.iter().map(|at| ties(at)).collect();
    assert_eq!(a.to_vec::<i32>().unwrap(), plain);
    assert_eq!((&a + &a).to_vec::<i32>().unwrap(), plain.iter().map(|x| x + x).collect::<Vec<_>>());
    assert_eq!(a.sum(&[]).item::<i64>().unwrap(), plain.iter().map(|&x| i64::from(x)).sum::<i64>());
    for d in 0..shape.len() {
        let coordinate = Array::coordinate(&team, &dist, d, DType::I32).unwrap();
        let expected: Vec<i32> = points.iter().map(|at| at[d] as i32).collect();
        assert_eq!(coordinate.to_vec::<i32>().unwrap(), expected, "coordinate {d} of {dist}");
        let sums: Vec<i64> =
            folded(&shape, &[d]).iter().map(|line| line.iter().map(|at| i64::from(ties(at))).sum()).collect();
        assert_eq!(a.sum(&[d]).to_vec::<i64>().unwrap(), sums, "sum over {d} of {dist}");
    }
    if !points.is_empty() {
        let most = plain.iter().max().unwrap();
        let first = plain.iter().position(|x| x == most).unwrap() as i64;
        assert_eq!(a.argmax(None).item::<i64>().unwrap(), first, "argmax {dist}");
        let some = &points[points.len() * 2 / 3];
        assert_eq!(a.get(some).unwrap().to_i64(), i64::from(ties(some)));
    }
    // Every part has what its lists say, in that order.
    for part in 0..dist.parts() {
        let at = dist.grid().coordinate(part);
        let lists: Vec<Vec<i64>> =
            (0..shape.len()).map(|d| kinds[d].lists()[at[d] as usize].clone()).collect();
        let counts: Vec<i64> = lists.iter().map(|list| list.len() as i64).collect();
        let cell = |k: &[i64]| (0..k.len()).map(|d| lists[d][k[d] as usize]).collect::<Vec<i64>>();
        let held = Region::from_shape(&counts).unwrap().points().map(|k| ties(&cell(&k))).collect::<Vec<_>>();
        assert_eq!(a.part_to_vec::<i32>(part).unwrap(), held, "part {part} of {dist}");
    }
}

#[test]
fn random_mixtures_of_map_kinds_up_to_four_dimensions() {
    for device in devices() {
        let cases = if device.kind() == DeviceKind::Host { 200 } else { 24 };
        let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
        runner
            .run(&mixed(), |kinds| {
                check_mixture(&device, &kinds);
                Ok(())
            })
            .unwrap();
        ran("mixtures-of-kinds", &device, cases as usize);
    }
}

#[test]
fn cyclic_coordinates_are_computed_and_cost_no_memory() {
    const LONG: i64 = 1 << 20;
    const MOST: u64 = 16 << 10;
    // Odd coordinates before even ones: one list of a million.
    let list: Vec<i64> = (0..LONG).map(|k| (2 * k + 1) % (LONG + 1)).collect();
    let maps = [
        (DimMap::cyclic(LONG, 2, 1).unwrap(), true),
        (DimMap::cyclic(LONG, 2, 7).unwrap(), true),
        (DimMap::replicated(LONG, 2).unwrap(), true),
        (DimMap::unstructured(&[list, Vec::new()], true).unwrap(), false),
    ];
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 2).unwrap();
        let fresh = device.kind() == DeviceKind::Host;
        for (map, in_closed_form) in &maps {
            // Devices are shared with other tests; only one of our own can be given a budget.
            let team = if fresh { Team::on(&[Device::host()], 2).unwrap() } else { team.clone() };
            let dist = over(std::slice::from_ref(map));
            team.device(0).set_budget(fresh.then_some(MOST));
            let largest = Array::coordinate(&team, &dist, 0, DType::I64).unwrap().max(&[]).item::<i64>();
            team.device(0).set_budget(None);
            match (in_closed_form, fresh) {
                (true, _) | (false, false) => assert_eq!(largest.unwrap(), LONG - 1, "{map}"),
                (false, true) => {
                    let text = largest.unwrap_err().to_string();
                    assert!(text.contains("4194304 bytes requested"), "lists take memory: {text}");
                }
            }
            // A million of them, in the right order.
            let all = Array::coordinate(&team, &dist, 0, DType::I32).unwrap().to_vec::<i32>().unwrap();
            assert!(all.iter().enumerate().all(|(n, &x)| n as i32 == x), "{device:?} {map}");
        }
        ran("closed-forms", &device, maps.len());
    }
}

#[test]
fn coordinates_of_slices_of_cyclic_maps_and_large_ones() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 3).unwrap();
        let mut cases = 0;
        for (size, block, step) in
            [(50, 1, 1), (50, 4, 1), (50, 4, 2), (60, 6, 3), (47, 1, 5), (47, 4, 3), (1 << 33, 1 << 31, 1)]
        {
            let whole = over(&[DimMap::cyclic(size, 3, block).unwrap()]);
            for start in [0, 1, 5, 13, size - 20] {
                let stop = (start + 18 * step).min(size);
                let dist = whole.strided(&Region::new(&[start], &[stop]).unwrap(), &[step]).unwrap();
                let a = Array::coordinate(&team, &dist, 0, DType::I64).unwrap();
                let expected: Vec<i64> = (0..dist.shape()[0]).collect();
                assert_eq!(a.to_vec::<i64>().unwrap(), expected, "{device:?} {size} {block} {step} {start}");
                cases += 1;
            }
        }
        ran("sliced-closed-forms", &device, cases);
    }
}

#[test]
fn loops_over_lists_replay_coordinates_and_masked_sums() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 3).unwrap();
        for map in maps() {
            let dist = over(&[map]);
            let mut growing = Loop::new(vec![Array::zeros(&team, &dist, DType::I32).unwrap()], |state| {
                let (team, dist) = (state[0].team(), state[0].distribution()?);
                let here = Array::coordinate(team, &dist, 0, DType::I32)?;
                let total = here.sum(&[]).cast(DType::I32);
                state[0] = &state[0] + &(&here + &total);
                let middle = state[0].slice(&s![7..12]) + 1.0;
                state[0].assign(&s![7..12], &middle)
            });
            growing.run(11).unwrap();
            // Memory that the recording relies on must not be lent to somebody else meanwhile.
            let other = Array::full(&team, &dist, Scalar::from_i64(DType::I32, -1)).unwrap();
            (0..4).for_each(|_| assert_eq!((&other * 1.0).max(&[]).item::<i32>().unwrap(), -1));
            growing.run(9).unwrap();
            assert!(growing.is_replaying(), "{device:?} {dist}");
            let total = SIZE * (SIZE - 1) / 2;
            let expected: Vec<i32> =
                (0..SIZE).map(|i| 20 * (i + total + i64::from((7..12).contains(&i))) as i32).collect();
            assert_eq!(growing.state()[0].to_vec::<i32>().unwrap(), expected, "{device:?} {dist}");
        }
    }
}

#[test]
fn single_elements_are_read_at_their_owner_and_written_to_every_copy() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 9).unwrap();
        for dist in pairs() {
            let mut a = Array::from_fn(&team, &dist, value).unwrap();
            let before = a.clone();
            for at in [[0, 0], [5, 22], [18, 9]] {
                assert_eq!(a.get(&at).unwrap().to_f64() as f32, value(&at));
                a.set(&at, Scalar::from_f64(DType::F32, 1e6)).unwrap();
                assert_eq!(a.get(&at).unwrap().to_f64(), 1e6, "{device:?} {dist}");
                for part in dist.holders(&at).unwrap() {
                    let millions = a.part_to_vec::<f32>(part).unwrap().iter().filter(|&&x| x == 1e6).count();
                    assert!(millions > 0, "{device:?} {dist} part {part}");
                }
            }
            assert_eq!(a.greater(1e5).cast(DType::I32).sum(&[]).item::<i64>().unwrap(), 3);
            assert_eq!(before.get(&[5, 22]).unwrap().to_f64() as f32, value(&[5, 22]), "a clone keeps it");
            assert!(a.get(&[SIZE, 0]).is_err() && a.get(&[0]).is_err());
        }
    }
}

#[test]
fn every_kind_prints_alike() {
    let expected = "[[0, 1, 2],\n [3, 4, 5]]";
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 4).unwrap();
        let rows = [
            DimMap::even(2, 2).unwrap(),
            DimMap::cyclic(2, 2, 1).unwrap(),
            DimMap::unstructured(&[vec![1, 0], vec![1]], false).unwrap(),
            DimMap::unstructured(&[vec![], vec![1, 0]], true).unwrap(),
            DimMap::replicated(2, 2).unwrap(),
        ];
        for row in &rows {
            for block in [1, 2] {
                let dist = over(&[row.clone(), DimMap::cyclic(3, 2, block).unwrap()]);
                let a = Array::from_fn(&team, &dist, |at| at[0] * 3 + at[1]).unwrap();
                assert_eq!(a.to_string(), expected, "{device:?} {dist}");
            }
        }
        let line = |n: i64| over(&[DimMap::cyclic(n, 4, 3).unwrap()]);
        let long = Array::coordinate(&team, &line(2000), 0, DType::F32).unwrap();
        let text = "[   0.0,    1.0,    2.0, ..., 1997.0, 1998.0, 1999.0]";
        assert_eq!(long.to_string(), text, "{device:?}");
        let none = Array::coordinate(&team, &line(0), 0, DType::F32).unwrap();
        assert_eq!(none.to_string(), "[]");
        assert_eq!(long.less(2.0).sum(&[]).to_string(), "[2]");
    }
    let team = Team::on(&[Device::host()], 1).unwrap();
    let dist = Distribution::builder(&[2, 2, 2]).build().unwrap();
    let cube = Array::from_fn(&team, &dist, |at| at[2] as f64 - 0.5).unwrap();
    let text = "[[[-0.5,  0.5],\n  [-0.5,  0.5]],\n\n [[-0.5,  0.5],\n  [-0.5,  0.5]]]";
    assert_eq!(cube.to_string(), text);
    let broken = cube.slice(&s![3..4]);
    assert!(broken.to_string().starts_with("<slice: expected a span within 0..2"), "{broken}");
}

#[test]
fn an_array_over_sparse_labels() {
    let names = [vec![900, 17], vec![-4, 900, 3]];
    let map = DimMap::Unstructured(partita::index::Unstructured::labelled(&names, false).unwrap());
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 2).unwrap();
        let dist = over(std::slice::from_ref(&map));
        let DimMap::Unstructured(lists) = dist.map(0) else { panic!("not lists") };
        let label = |at: &[i64]| lists.label(at[0]).unwrap() as f32;
        let a = Array::from_fn(&team, &dist, label).unwrap();
        assert_eq!(a.get(&[lists.position(17).unwrap()]).unwrap().to_f64(), 17.0);
        assert_eq!(a.part_to_vec::<f32>(1).unwrap(), [-4.0, 900.0, 3.0], "{device:?}");
        assert_eq!(a.sum(&[]).item::<f32>().unwrap(), 916.0, "{device:?}");
        assert_eq!(a.to_string(), "[ -4.0,   3.0,  17.0, 900.0]");
    }
}

#[test]
fn an_array_over_a_custom_map() {
    let map = DimMap::custom(Arc::new(Folded::new(SIZE, 2))).unwrap();
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 2).unwrap();
        let dist = Distribution::builder(&[SIZE]).map(0, map.clone()).build().unwrap();
        let a = Array::from_fn(&team, &dist, |at| at[0] as f32).unwrap();
        let square: Vec<f32> = (0..SIZE).map(|i| (i * i) as f32).collect();
        assert_eq!((&a * &a).to_vec::<f32>().unwrap(), square, "{device:?}");
        assert_eq!(a.sum(&[]).item::<f32>().unwrap(), (SIZE * (SIZE - 1) / 2) as f32);
        // Each part holds its own cells, in its own order.
        let front = a.part_to_vec::<f32>(0).unwrap();
        assert_eq!((front.len(), &front[..3]), (12, &[22.0, 20.0, 18.0][..]), "{device:?}");
    }
}
