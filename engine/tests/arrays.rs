//! Arrays against plain loops: the same bits on every device, for every number of parts and grid.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;

use found::{PARTS, cell, devices, grids, ran};
use partita::index::DimMap;
use partita::prelude::*;

const SHAPE: [i64; 2] = [13, 10];

fn array(device: &Device, grid: &[i64; 2], halo: i64) -> Array {
    let team = Team::on(std::slice::from_ref(device), (grid[0] * grid[1]) as usize).unwrap();
    let dist = Distribution::builder(&SHAPE).grid(grid);
    let dist = dist.halo(&[halo, halo], &[halo, halo]).build();
    // Some parts are narrower than the halo: those layouts go without a declared one.
    let dist = dist.unwrap_or_else(|_| Distribution::builder(&SHAPE).grid(grid).build().unwrap());
    Array::from_fn(&team, &dist, cell).unwrap()
}

fn layouts() -> Vec<[i64; 2]> {
    let mut all: Vec<[i64; 2]> = PARTS.iter().flat_map(|&parts| grids(parts)).collect();
    all.extend([[17, 1], [1, 12], [5, 4]]);
    all
}

fn at(i: i64, j: i64) -> f32 {
    cell(&[i, j])
}

#[test]
fn shifted_slices_equal_a_plain_loop_bit_for_bit() {
    let expected: Vec<f32> = (1..SHAPE[0] - 1)
        .flat_map(|i| {
            (1..SHAPE[1] - 1).map(move |j| {
                let sum = at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1) + at(i - 1, j + 1);
                at(i, j) + 0.1f32 * (sum - 5.0 * at(i, j))
            })
        })
        .collect();
    for device in devices() {
        for grid in layouts() {
            for halo in [0, 1] {
                let u = array(&device, &grid, halo);
                let w = |a: i64, b: i64| u.slice(&[span(1 + a, -1 + a), span(1 + b, -1 + b)]);
                let sum = w(-1, 0) + w(1, 0) + w(0, -1) + w(0, 1) + w(-1, 1);
                let next = w(0, 0) + 0.1 * (sum - 5.0 * w(0, 0));
                let actual = next.to_vec::<f32>().unwrap();
                assert_eq!(actual, expected, "{device:?} grid {grid:?} halo {halo}");
            }
        }
        ran("stencil-layouts", &device, 2 * layouts().len());
    }
}

/// `start..stop` where a stop of 0 means the end.
fn span(start: i64, stop: i64) -> partita::array::Span {
    use partita::array::IntoSpan;
    if stop == 0 { (start..).into_span() } else { (start..stop).into_span() }
}

#[test]
fn periodic_shifts_wrap_also_onto_the_part_itself() {
    for device in devices() {
        for grid in layouts() {
            let team = Team::on(std::slice::from_ref(&device), (grid[0] * grid[1]) as usize).unwrap();
            let dist = Distribution::builder(&SHAPE).grid(&grid).periodic(&[true, true]).build().unwrap();
            let u = Array::from_fn(&team, &dist, cell).unwrap();
            let mixed = u.shift(&[1, 0]) + u.shift(&[-1, 0]) * 2.0 - u.shift(&[1, -1]) + u.shift(&[0, 9]);
            let wrap = |i: i64, j: i64| at(i.rem_euclid(SHAPE[0]), j.rem_euclid(SHAPE[1]));
            let expected: Vec<f32> = (0..SHAPE[0])
                .flat_map(|i| {
                    (0..SHAPE[1]).map(move |j| {
                        wrap(i + 1, j) + wrap(i - 1, j) * 2.0 - wrap(i + 1, j - 1) + wrap(i, j + 9)
                    })
                })
                .collect();
            assert_eq!(mixed.to_vec::<f32>().unwrap(), expected, "{device:?} grid {grid:?}");
        }
    }
}

#[test]
fn a_halo_that_was_never_exchanged_is_not_read() {
    // Owned cells change by assignment after a first exchange: the second stencil must see it.
    for device in devices() {
        let mut u = array(&device, &[2, 2], 1);
        let lap = |u: &Array| u.slice(&s![..-2, ..]) + u.slice(&s![2.., ..]);
        lap(&u).eval().unwrap();
        let seven =
            Array::full(u.team(), &u.distribution().unwrap(), Scalar::from_f64(DType::F32, 7.0)).unwrap();
        u.assign(&s![.., ..], &seven).unwrap();
        assert!(lap(&u).to_vec::<f32>().unwrap().iter().all(|&x| x == 14.0), "{device:?}");
    }
}

#[test]
fn assignment_reads_before_it_writes() {
    for device in devices() {
        for grid in layouts() {
            let mut u = array(&device, &grid, 1);
            let before = u.clone();
            let moved = u.slice(&s![..-1, ..]);
            u.assign(&s![1.., ..], &moved).unwrap();
            let row = u.slice(&s![1..2, ..]);
            u.assign(&s![0..1, ..], &row).unwrap();
            let expected: Vec<f32> = (0..SHAPE[0])
                .flat_map(|i| (0..SHAPE[1]).map(move |j| at(if i < 2 { 0 } else { i - 1 }, j)))
                .collect();
            assert_eq!(u.to_vec::<f32>().unwrap(), expected, "{device:?} grid {grid:?}");
            let original: Vec<f32> = before.to_vec().unwrap();
            assert_eq!(original[10], at(1, 0), "a clone keeps its value");
        }
    }
}

#[test]
fn a_computed_value_of_any_layout_is_assigned_to_a_small_window() {
    for device in devices() {
        for grid in layouts() {
            let mut u = array(&device, &grid, 0);
            let shape = [3, 4];
            let dist = Distribution::builder(&shape).grid(&grid).build().unwrap();
            let value = Array::from_fn(u.team(), &dist, |at| (at[0] * 10 + at[1]) as f32).unwrap();
            u.assign(&s![2..5, 5..9], &value).unwrap();
            let inside = |i: i64, j: i64| (2..5).contains(&i) && (5..9).contains(&j);
            let new = |i, j| if inside(i, j) { ((i - 2) * 10 + j - 5) as f32 } else { at(i, j) };
            let expected: Vec<f32> =
                (0..SHAPE[0]).flat_map(|i| (0..SHAPE[1]).map(move |j| new(i, j))).collect();
            assert_eq!(u.to_vec::<f32>().unwrap(), expected, "{device:?} {grid:?}");
        }
    }
}

#[test]
fn several_arrays_assigned_at_once_see_each_others_old_values() {
    for device in devices() {
        let mut a = array(&device, &[2, 3], 1);
        let mut b = &a * 2.0;
        let (new_a, new_b) = (b.slice(&s![1..-1, 1..-1]), a.slice(&s![..-2, 2..]));
        assign_all(&mut [(&mut a, &new_a), (&mut b, &new_b)], &s![1..-1, 1..-1]).unwrap();
        let (a, b): (Vec<f32>, Vec<f32>) = (a.to_vec().unwrap(), b.to_vec().unwrap());
        let inside = |i: i64, j: i64| 0 < i && i < SHAPE[0] - 1 && 0 < j && j < SHAPE[1] - 1;
        for i in 0..SHAPE[0] {
            for j in 0..SHAPE[1] {
                let k = (i * SHAPE[1] + j) as usize;
                assert_eq!(a[k], if inside(i, j) { 2.0 * at(i, j) } else { at(i, j) });
                assert_eq!(b[k], if inside(i, j) { at(i - 1, j + 1) } else { 2.0 * at(i, j) });
            }
        }
    }
}

#[test]
fn reductions_over_all_and_some_axes() {
    for device in devices() {
        for grid in layouts() {
            let team = Team::on(std::slice::from_ref(&device), (grid[0] * grid[1]) as usize).unwrap();
            let dist = Distribution::builder(&SHAPE).grid(&grid).build().unwrap();
            let value = |p: &[i64]| ((p[0] * 31 + p[1] * 17) % 23 - 11) as i32;
            let u = Array::from_fn(&team, &dist, value).unwrap();
            let cells: Vec<i64> = dist.global().points().map(|p| i64::from(value(&p))).collect();
            let columns = |f: &dyn Fn(Vec<i64>) -> i64| -> Vec<i64> {
                (0..SHAPE[1]).map(|j| f((0..SHAPE[0]).map(|i| i64::from(value(&[i, j]))).collect())).collect()
            };
            assert_eq!(u.sum(&[]).item::<i64>().unwrap(), cells.iter().sum::<i64>());
            assert_eq!(u.sum(&[0]).to_vec::<i64>().unwrap(), columns(&|c| c.iter().sum()));
            assert_eq!(u.sum(&[1]).shape()[..], [SHAPE[0], 1]);
            let max: Vec<i64> = u.max(&[0]).cast(DType::I64).to_vec().unwrap();
            assert_eq!(max, columns(&|c| *c.iter().max().unwrap()), "{device:?} {grid:?}");
            let lowest = *cells.iter().min().unwrap();
            assert_eq!(u.min(&[]).item::<i32>().unwrap() as i64, lowest);
            let first = cells.iter().position(|&c| c == lowest).unwrap() as i64;
            assert_eq!(u.argmin(None).item::<i64>().unwrap(), first, "{device:?} {grid:?}");
            let along: Vec<i64> = columns(&|c| {
                let best = *c.iter().max().unwrap();
                c.iter().position(|&x| x == best).unwrap() as i64
            });
            assert_eq!(u.argmax(Some(0)).to_vec::<i64>().unwrap(), along, "{device:?} {grid:?}");
            let mean = u.mean(&[]).item::<f64>().unwrap();
            assert_eq!(mean, cells.iter().sum::<i64>() as f64 / cells.len() as f64);
            assert!(!u.equal(1000.0).any(&[]).to_bools().unwrap()[0]);
            assert_eq!(u.less(5.0).all(&[]).to_bools().unwrap()[0], cells.iter().all(|&c| c < 5));
        }
    }
}

#[test]
fn nan_wins_minimum_and_is_found_first_by_argmin() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 3).unwrap();
        let dist = Distribution::builder(&[7]).parts(3).build().unwrap();
        let u = Array::from_slice(&team, &dist, &[3.0, -1.0, 9.0, f32::NAN, 2.0, f32::NAN, -7.0]).unwrap();
        assert!(u.min(&[]).item::<f32>().unwrap().is_nan());
        assert_eq!(u.argmin(None).item::<i64>().unwrap(), 3, "{device:?}");
        assert_eq!(u.argmax(None).item::<i64>().unwrap(), 3, "{device:?}");
        assert_eq!(u.is_nan().cast(DType::I32).sum(&[]).item::<i64>().unwrap(), 2);
    }
}

#[test]
fn broadcasting_follows_the_last_dimensions() {
    for device in devices() {
        for grid in layouts() {
            let u = array(&device, &grid, 0);
            let row = u.slice(&s![3..4, ..]);
            let column = u.slice(&s![.., 2..3]);
            let mixed = &u + &row * &column;
            let expected: Vec<f32> = (0..SHAPE[0])
                .flat_map(|i| (0..SHAPE[1]).map(move |j| at(i, j) + at(3, j) * at(i, 2)))
                .collect();
            assert_eq!(mixed.to_vec::<f32>().unwrap(), expected, "{device:?} {grid:?}");
        }
    }
}

#[test]
fn a_team_may_mix_kinds_of_device() {
    let devices = devices();
    if devices.len() < 2 {
        println!("skipped: mixed team (only one device here)");
        return;
    }
    let team = Team::of((0..6).map(|p| devices[p % 2].clone()).collect()).unwrap();
    let dist = Distribution::builder(&SHAPE).grid(&[3, 2]).halo(&[1, 1], &[1, 1]).build().unwrap();
    let mixed = Array::from_fn(&team, &dist, cell).unwrap();
    let plain = array(&devices[0], &[1, 1], 0);
    let blur = |u: &Array| {
        (u.slice(&s![..-2, ..-2]) + u.slice(&s![2.., 2..]) * 3.0 - u.slice(&s![1..-1, 1..-1]))
            .to_vec::<f32>()
            .unwrap()
    };
    assert_eq!(blur(&mixed), blur(&plain));
    let total = |u: &Array| u.greater(0.0).cast(DType::I32).sum(&[]).item::<i64>().unwrap();
    assert_eq!(total(&mixed), total(&plain));
    println!("ran: mixed-team 1");
}

#[test]
fn a_loop_replays_what_its_step_does() {
    for device in devices() {
        for grid in layouts() {
            let step = |state: &mut [Array]| {
                let (u, v) = (&state[0], &state[1]);
                let c = |a: &Array| a.slice(&s![1..-1, 1..-1]);
                let next_u = c(u) + 0.25 * (u.slice(&s![..-2, 1..-1]) - v.slice(&s![1..-1, 2..]));
                let next_v = c(v) * 0.5 + u.slice(&s![2.., 2..]);
                let [u, v] = state else { unreachable!() };
                assign_all(&mut [(u, &next_u), (v, &next_v)], &s![1..-1, 1..-1])?;
                let edge = u.slice(&s![1..2, ..]);
                u.assign(&s![0..1, ..], &edge)
            };
            let start = || {
                let u = array(&device, &grid, 1);
                let v = &u * 0.5;
                vec![u, v]
            };
            let mut plain = start();
            (0..17).for_each(|_| step(&mut plain).unwrap());
            let mut replayed = Loop::new(start(), step);
            replayed.run(5).unwrap();
            let kept = replayed.state()[0].clone();
            let kept_before = kept.to_vec::<f32>().unwrap();
            replayed.run(12).unwrap();
            assert!(replayed.is_replaying(), "{device:?} {grid:?}");
            for (a, b) in plain.iter().zip(replayed.state()) {
                let (a, b): (Vec<f32>, Vec<f32>) = (a.to_vec().unwrap(), b.to_vec().unwrap());
                assert_eq!(a, b, "{device:?} {grid:?}");
            }
            assert_eq!(kept.to_vec::<f32>().unwrap(), kept_before, "a clone is not overwritten by replays");
        }
        ran("loops", &device, layouts().len());
    }
}

#[test]
fn long_chains_are_cut_and_dropped_without_deep_recursion() {
    let u = array(&Device::host(), &[2, 1], 0);
    let mut chain = u.clone();
    for _ in 0..100_000 {
        chain = &chain + 1.0;
    }
    drop(chain);
    let mut chain = u.cast(DType::F64);
    for _ in 0..20_000 {
        chain = &chain + 1.0;
    }
    let last = chain.to_vec::<f64>().unwrap();
    assert_eq!(last[0], f64::from(at(0, 0)) + 20_000.0);
}

#[test]
fn more_operands_than_one_kernel_can_bind() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 2).unwrap();
        let dist = Distribution::builder(&[50]).parts(2).build().unwrap();
        let arrays: Vec<Array> = (0..100)
            .map(|n| Array::from_fn(&team, &dist, |at| at[0] as f32 * 0.5 + n as f32).unwrap())
            .collect();
        let right = arrays[1..].iter().rev().fold(arrays[0].clone(), |sum, a| a + &sum);
        let left = arrays[1..].iter().fold(arrays[0].clone(), |sum, a| &sum + a);
        let expected = |i: f32| (0..100).map(|n| i * 0.5 + n as f32).sum::<f32>();
        assert_eq!(left.to_vec::<f32>().unwrap()[7], expected(7.0), "{device:?}");
        assert_eq!(right.to_vec::<f32>().unwrap()[7], expected(7.0), "{device:?}");
    }
}

#[test]
fn more_places_than_one_launch_can_name() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 2).unwrap();
        let dist = Distribution::builder(&SHAPE).parts(2).periodic(&[true, true]).build().unwrap();
        let value = |n: i64, at: &[i64]| (n * 100 + at[0] * 10 + at[1]) as i32;
        let arrays = (0..6).map(|n| Array::from_fn(&team, &dist, |at| value(n, at)).unwrap());
        let places = Region::new(&[-5, -5], &[5, 5]).unwrap();
        let mut sum = Array::full(&team, &dist, Scalar::from_i64(DType::I32, 0)).unwrap();
        for u in arrays {
            sum = places.points().fold(sum, |sum, by| sum + u.shift(&by));
        }
        let wrap = |i: i64, j: i64| [i.rem_euclid(SHAPE[0]), j.rem_euclid(SHAPE[1])];
        let shifted = |n: i64| places.points().map(move |by| value(n, &wrap(3 + by[0], 4 + by[1])));
        let expected: i32 = (0..6).flat_map(shifted).sum();
        assert_eq!(sum.get(&[3, 4]).unwrap().to_f64(), f64::from(expected), "{device:?}");
    }
}

#[test]
fn positions_along_an_axis_of_an_array_that_is_empty_along_another() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 3).unwrap();
        let dist = Distribution::builder(&[0, 4]).parts(3).build().unwrap();
        let u = Array::full(&team, &dist, Scalar::from_f64(DType::F32, 1.0)).unwrap();
        assert_eq!(u.argmin(Some(1)).shape().to_vec(), [0, 1]);
        assert!(u.argmax(Some(1)).to_vec::<i64>().unwrap().is_empty(), "{device:?}");
        assert!(u.argmin(Some(0)).eval().unwrap_err().to_string().contains("at least one element"));
    }
}

#[test]
fn empty_arrays_are_shifted_along_lists() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 2).unwrap();
        let lists = DimMap::unstructured(&[vec![1, 0], vec![0]], false).unwrap();
        let dist = Distribution::builder(&[0, 2]).grid(&[1, 2]).map(1, lists).periodic(&[false, true]);
        let u = Array::full(&team, &dist.build().unwrap(), Scalar::from_f64(DType::F32, 1.0)).unwrap();
        assert!(u.shift(&[0, 1]).to_vec::<f32>().unwrap().is_empty(), "{device:?}");
    }
}

#[test]
fn flipped_windows_at_several_places_along_an_unordered_list() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 7).unwrap();
        let lists = DimMap::unstructured(&[vec![1, 0]], false).unwrap();
        let dist = Distribution::builder(&[2, 7, 2]).grid(&[1, 7, 1]).map(2, lists).build().unwrap();
        let value = |at: &[i64]| (at[0] * 100 + at[1] * 10 + at[2]) as f32;
        let u = Array::from_fn(&team, &dist, value).unwrap();
        let sum = u.slice(&s![1.., 5..; -1, 1..]) + u.slice(&s![..-1, 6..0; -1, 1..]);
        let at = |y: i64| value(&[1, 5 - y, 1]) + value(&[0, 6 - y, 1]);
        assert_eq!(sum.to_vec::<f32>().unwrap(), (0..6).map(at).collect::<Vec<_>>(), "{device:?}");
    }
}

#[test]
fn small_bindings_and_few_workgroups_give_the_same_answers() {
    let shrink = || partita::device::wgpu::Shrink {
        max_binding_bytes: Some(1024),
        max_groups_per_dimension: Some(3),
        ..Default::default()
    };
    let Ok(device) = Device::wgpu_with_limits(0, shrink()) else {
        println!("skipped: wgpu shrunk limits (no adapter answered through Vulkan, Metal or DX12)");
        return;
    };
    let shape = [61, 83];
    let answers = |device: &Device| {
        let team = Team::on(std::slice::from_ref(device), 3).unwrap();
        let dist = Distribution::builder(&shape).parts(3).halo(&[1, 1], &[1, 1]).build().unwrap();
        let mut u = Array::from_fn(&team, &dist, cell).unwrap();
        let next = u.slice(&s![..-2, 1..-1]) * 0.5 + u.slice(&s![2.., ..-2]) - u.slice(&s![1..-1, 2..]);
        u.assign(&s![1..-1, 1..-1], &next).unwrap();
        let rows = u.max(&[1]).to_vec::<f32>().unwrap();
        let whole = u.cast(DType::I32).sum(&[]).item::<i64>().unwrap();
        (u.to_vec::<f32>().unwrap(), rows, whole)
    };
    assert_eq!(answers(&device), answers(&Device::host()));
    ran("shrunk-limits", &device, 3);
}

#[test]
fn a_loop_does_not_repeat_what_only_its_first_step_had_to_do() {
    // The fixed array gets its halo in the first step, and its first memory, of the same size as the
    // state's, is used again in the second: a replay must not copy it from there once more.
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 2).unwrap();
        let plain = Distribution::builder(&[64]).parts(2).build().unwrap();
        let wide = Distribution::builder(&[64]).parts(2).halo(&[1], &[1]).build().unwrap();
        let fixed = Array::from_fn(&team, &plain, |at| at[0] as f32).unwrap();
        let step = |state: &mut [Array]| {
            let u = &state[0];
            let next = u.slice(&s![..-2]) * 0.5 + fixed.slice(&s![2..]) + u.slice(&s![2..]) * 0.25;
            state[0].assign(&s![1..-1], &next)
        };
        let start = || vec![Array::from_fn(&team, &wide, |at| at[0] as f32).unwrap()];
        let mut direct = start();
        (0..12).for_each(|_| step(&mut direct).unwrap());
        let fixed_before = fixed.to_vec::<f32>().unwrap();
        // A fresh copy without halo, so that the loop's first step has something to do only once.
        let fixed = Array::from_slice(&team, &plain, &fixed_before).unwrap();
        let mut replayed = Loop::new(start(), |state: &mut [Array]| {
            let u = &state[0];
            let next = u.slice(&s![..-2]) * 0.5 + fixed.slice(&s![2..]) + u.slice(&s![2..]) * 0.25;
            state[0].assign(&s![1..-1], &next)
        });
        replayed.run(12).unwrap();
        assert!(replayed.is_replaying());
        let (a, b): (Vec<f32>, Vec<f32>) =
            (direct[0].to_vec().unwrap(), replayed.state()[0].to_vec().unwrap());
        assert_eq!(a, b, "{device:?}");
        assert_eq!(fixed.to_vec::<f32>().unwrap(), fixed_before, "{device:?}");
    }
}

/// Kernels rely on bools of 0 and 1: bytes that come from outside become these.
#[test]
fn bools_of_any_byte_compute_alike_on_any_number_of_parts() {
    let bytes =
        |size: i64| (0..size).map(|at| [0, 1, 2, 255, 7, 128][(at * 5 % 6) as usize]).collect::<Vec<u8>>();
    let dist = |parts, size| Distribution::default_partition(parts, &[size]).unwrap();
    for device in devices() {
        let mut cases = 0;
        for (size, parts) in (0..14).flat_map(|size| PARTS.map(|parts| (size, parts))) {
            let (team, dist) = (Team::on(std::slice::from_ref(&device), parts).unwrap(), dist(parts, size));
            let given = bytes(size);
            let expected: Vec<bool> = given.iter().map(|&byte| byte != 0).collect();
            let piece = |part: usize| {
                let cells = dist.owned(part);
                given[cells.start()[0] as usize..cells.stop()[0] as usize].to_vec()
            };
            let pieces: Vec<Vec<u8>> = (0..parts).map(piece).collect();
            for array in [
                Array::from_bytes(&team, &dist, DType::Bool, &given).unwrap(),
                Array::from_pieces(&team, &dist, DType::Bool, &pieces).unwrap(),
            ] {
                let what = format!("{device:?}, {size} cells on {parts} parts");
                assert!(array.to_bytes().unwrap().iter().all(|&byte| byte <= 1), "{what}");
                assert_eq!(array.to_bools().unwrap(), expected, "{what}");
                let numbers = array.cast(DType::I32);
                assert_eq!(
                    numbers.to_vec::<i32>().unwrap(),
                    expected.iter().map(|&b| b.into()).collect::<Vec<i32>>()
                );
                let count = numbers.sum(&[]).item::<i64>().unwrap();
                assert_eq!(count, expected.iter().filter(|&&b| b).count() as i64, "{what}");
                cases += 1;
            }
        }
        // Numbers that are made by hand.
        let (team, dist) = (Team::on(std::slice::from_ref(&device), 1).unwrap(), dist(1, 1));
        let odd = Scalar { dtype: DType::Bool, bits: 6 };
        let mut one = Array::full(&team, &dist, odd).unwrap();
        assert_eq!(one.cast(DType::I32).to_vec::<i32>().unwrap(), [1]);
        one.set(&[0], odd).unwrap();
        assert_eq!(one.cast(DType::I32).to_vec::<i32>().unwrap(), [1]);
        ran("bools", &device, cases);
    }
}

#[test]
fn diagonals_and_strides_at_the_ends_of_i64_are_empty_or_refused() {
    use partita::array::Stride;
    for parts in [1, 3] {
        let team = Team::on(&[Device::host()], parts).unwrap();
        let u =
            Array::from_fn(&team, &Distribution::default_partition(parts, &[3, 4]).unwrap(), cell).unwrap();
        for offset in [i64::MIN, i64::MIN + 1, -1 << 62, -3, 4, 1 << 62, i64::MAX] {
            let diagonal = u.diagonal(offset);
            assert_eq!(diagonal.to_vec::<f32>().unwrap(), [], "{offset}");
            assert_eq!((diagonal + 1.0).sum(&[]).item::<f32>().unwrap(), 0.0, "{offset}");
        }
        assert_eq!(u.diagonal(-2).to_vec::<f32>().unwrap(), [cell(&[2, 0])]);
        for count in [i64::MIN, i64::MIN + 1, -1, i64::MAX] {
            let columns = Stride::Of { dim: 1, start: 0, step: 1, count: 4 };
            for start in [0, i64::MIN, i64::MAX] {
                for step in [1, -1, 0, i64::MIN, i64::MAX] {
                    if count > 0 && step == 0 && start == 0 {
                        continue;
                    }
                    let rows = Stride::Of { dim: 0, start, step, count };
                    assert!(u.rearranged(&[rows, columns]).recorded().is_err(), "{rows:?}");
                }
            }
        }
    }
}
