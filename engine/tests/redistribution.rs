//! Redistribution between any two distributions. Every cell holds its own global position, counted from 1;
//! all other memory holds a different value.
#![allow(missing_docs, clippy::unwrap_used)]

mod divisions;
mod found;
mod raw_access;

use std::sync::Arc;

use divisions::{KINDS, kinds};
use found::{PARTS, devices, ran};
use partita::index::DimMap;
use partita::plan::{AxisSubset, Move, MoveOp, Pairs, Plan};
use partita::prelude::*;
use partita::program::{Command, Op, Transport};
use partita::transport::{Field, lower};

/// A distribution over one map per dimension; with a halo of 1 where `halo` and the map allow one.
fn over(maps: &[DimMap], halo: bool) -> Distribution {
    let shape: Vec<i64> = maps.iter().map(DimMap::size).collect();
    let grid: Vec<i64> = maps.iter().map(|map| map.parts() as i64).collect();
    let widths: Vec<i64> = maps.iter().map(|map| i64::from(map.is_block())).collect();
    let builder = || {
        let builder = Distribution::builder(&shape).grid(&grid);
        maps.iter().enumerate().fold(builder, |builder, (d, map)| builder.map(d, map.clone()))
    };
    let wide = halo.then(|| builder().halo(&widths, &widths).build().ok()).flatten();
    wide.unwrap_or_else(|| builder().build().unwrap())
}

fn position(dist: &Distribution, at: &[i64]) -> i32 {
    at.iter().zip(dist.shape().iter()).fold(0, |sum, (&i, &n)| sum * n as i32 + i as i32) + 1
}

fn positions(team: &Team, dist: &Distribution) -> Array {
    Array::from_fn(team, dist, |at| position(dist, at)).unwrap()
}

/// Compares what every part holds, copies included, with the formula.
fn check(array: &Array, what: &str) {
    let dist = array.distribution().unwrap();
    for part in 0..dist.parts() {
        let sets = dist.owned_set(part).unwrap();
        let counts: Vec<i64> = sets.iter().map(|set| set.len()).collect();
        let global = |local: &[i64]| -> Vec<i64> {
            sets.iter().zip(local).map(|(set, &k)| set.nth(k).unwrap()).collect()
        };
        let cells = Region::from_shape(&counts).unwrap();
        let expected: Vec<i32> = cells.points().map(|local| position(&dist, &global(&local))).collect();
        assert_eq!(array.part_to_vec::<i32>(part).unwrap(), expected, "part {part}, {what}");
    }
}

/// Leaves -7 in free memory of the right sizes.
fn poison(team: &Team, dist: &Distribution) {
    let poisoned = Array::full(team, dist, Scalar::from_i64(DType::I32, -7)).unwrap();
    poisoned.eval().unwrap();
}

/// Redistributes, and checks first that the check can fail.
fn redistribute(team: &Team, from: &Distribution, to: &Distribution) {
    let a = positions(team, from);
    poison(team, to);
    let what = format!("{from} to {to}");
    check(&a.redistribute(to), &what);
}

#[test]
#[should_panic(expected = "part 0")]
fn the_check_sees_poison() {
    let team = Team::on(&[Device::host()], 2).unwrap();
    let dist = over(&kinds(8, 2)[3..4], false);
    check(&Array::full(&team, &dist, Scalar::from_i64(DType::I32, -7)).unwrap(), "poison");
}

#[test]
fn arrays_redistribute_between_all_map_kinds_in_one_dimension() {
    let host = Device::host();
    let mut pairs = 0;
    for parts in PARTS {
        let team = Team::on(std::slice::from_ref(&host), parts).unwrap();
        let n = parts as i64;
        for size in [0, 1, n - 1, n, n + 1, 5 * n + 3, 50] {
            for from in kinds(size, parts) {
                for to in kinds(size, parts) {
                    redistribute(
                        &team,
                        &over(std::slice::from_ref(&from), pairs % 2 == 0),
                        &over(&[to], pairs % 3 == 0),
                    );
                    pairs += 1;
                }
            }
        }
    }
    ran("redistributed-lines", &host, pairs);
}

#[test]
fn arrays_redistribute_between_pairs_of_map_kinds_in_two_and_three_dimensions() {
    for device in devices() {
        let mut pairs = 0;
        // On the host all, elsewhere a diagonal of them.
        let stride = if device.kind() == DeviceKind::Host { 1 } else { 5 };
        for (sizes, grid, other) in [
            (&[7, 9][..], &[2, 3][..], &[3, 2][..]),
            (&[8, 5], &[4, 1], &[1, 4]),
            (&[5, 4, 6], &[2, 1, 2], &[1, 4, 1]),
            (&[3, 7, 5], &[1, 3, 1], &[3, 1, 1]),
        ] {
            let parts = grid.iter().product::<i64>() as usize;
            let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
            for from in (0..KINDS * KINDS).step_by(stride) {
                let maps = |grid: &[i64], kind: &dyn Fn(usize) -> usize| -> Vec<DimMap> {
                    let map = |d: usize| kinds(sizes[d], grid[d] as usize).swap_remove(kind(d) % KINDS);
                    (0..sizes.len()).map(map).collect()
                };
                let a = maps(grid, &|d| if d == 0 { from / KINDS } else { from + d - 1 });
                for turn in [1, 4] {
                    let b = maps(other, &|d| from * 5 + turn * (d + 1) + from / KINDS);
                    redistribute(&team, &over(&a, turn == 1), &over(&b, turn == 4));
                    pairs += 1;
                }
            }
        }
        ran("redistributed-boxes", &device, pairs);
    }
}

#[test]
fn chains_come_back_to_the_start() {
    for device in devices() {
        let mut state = 12345u64;
        let mut draw = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let chains = if device.kind() == DeviceKind::Host { 40 } else { 6 };
        for _ in 0..chains {
            let parts = PARTS[draw(PARTS.len())];
            let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
            let shape = [draw(2 * parts + 2) as i64, draw(9) as i64 + 1];
            let mut any = || {
                let rows = if draw(2) == 0 { parts } else { 1 };
                let a = kinds(shape[0], rows).swap_remove(draw(KINDS));
                over(&[a, kinds(shape[1], parts / rows).swap_remove(draw(KINDS))], draw(2) == 0)
            };
            let first = any();
            let start = positions(&team, &first);
            let mut a = start.clone();
            for _ in 0..5 {
                let next = any();
                poison(&team, &next);
                a = a.redistribute(&next);
            }
            let back = a.redistribute(&first);
            check(&back, "back at the start");
            assert_eq!(back.to_vec::<i32>().unwrap(), start.to_vec::<i32>().unwrap());
        }
        ran("redistribution-chains", &device, chains);
    }
}

/// Host, wgpu and CUDA parts in one team, and teams of other sizes on the same and other devices.
#[test]
fn arrays_redistribute_between_disjoint_overlapping_and_equal_teams() {
    let mut mixed = devices();
    mixed.push(Device::host());
    let all = Team::of(mixed.iter().cycle().take(5).cloned().collect()).unwrap();
    let few = Team::of(mixed.iter().rev().take(2).cloned().collect()).unwrap();
    let alone = Team::on(&[Device::host()], 3).unwrap();
    let mut moves = 0;
    for (from_team, to_team) in [(&all, &all), (&all, &few), (&few, &all), (&alone, &all), (&all, &alone)] {
        for k in 0..KINDS {
            let from = over(&[kinds(13, from_team.size()).swap_remove(k), DimMap::even(4, 1).unwrap()], true);
            let to = over(
                &[kinds(13, to_team.size()).swap_remove((k * 2 + 1) % KINDS), DimMap::even(4, 1).unwrap()],
                true,
            );
            let a = positions(from_team, &from);
            poison(to_team, &to);
            let b = a.move_to(to_team, &to);
            assert_eq!(b.team(), to_team);
            check(&b, &format!("{from} to {to}"));
            moves += 1;
        }
    }
    println!("ran: mixed-moves {moves}");
    for kind in [DeviceKind::Cuda, DeviceKind::Wgpu] {
        if mixed.iter().all(|device| device.kind() != kind) {
            println!("skipped: mixed-{kind:?} (no such device)");
        }
    }
}

#[test]
fn the_same_distribution_moves_nothing() {
    let team = Team::on(&[Device::host()], 3).unwrap();
    let dist = over(&[DimMap::cyclic(10, 3, 2).unwrap()], false);
    let a = positions(&team, &dist);
    let before = team.messages();
    let same = a.redistribute(&dist);
    assert!(same.is_same(&a) && team.messages() == before);
    // Squeezing relabels memory of its own: a later assignment does not reach the first array.
    let row = Array::from_fn(&team, &Distribution::builder(&[1, 6]).grid(&[1, 3]).build().unwrap(), |at| {
        at[1] as i32
    });
    let row = row.unwrap();
    let mut line = row.squeeze(&[0]);
    line.set(&[2], Scalar::from_i64(DType::I32, 50)).unwrap();
    assert_eq!(row.to_vec::<i32>().unwrap(), [0, 1, 2, 3, 4, 5]);
    let error =
        a.redistribute(&over(&[DimMap::even(11, 3).unwrap()], false)).recorded().unwrap_err().to_string();
    assert!(error.contains("shape (10)") && error.contains("(11)"), "{error}");
    assert!(a.redistribute(&over(&[DimMap::even(10, 2).unwrap()], false)).recorded().is_err());
}

/// A replay does not repeat uploads: the lists of a redistribution stay for it.
#[test]
fn redistributions_are_replayed() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 3).unwrap();
        // The lists of the way there are not those of the way back.
        let line = |kind: usize| over(&[kinds(300, 3).swap_remove(kind)], false);
        let (a, b, c) = (line(5), line(8), line(3));
        let start = positions(&team, &a);
        let mut steps = Loop::new(vec![start], |state| {
            let there = (&state[0].redistribute(&b) + 1.0).redistribute(&c).redistribute(&a);
            state[0] = there;
            Ok(())
        });
        steps.run(12).unwrap();
        assert!(steps.is_replaying(), "{device:?}");
        let expected: Vec<i32> = (1..=300).map(|k| k + 12).collect();
        assert_eq!(steps.state()[0].to_vec::<i32>().unwrap(), expected, "{device:?}");
    }
}

/// All fields of a pair of parts are one transfer; a single contiguous face needs neither packing nor
/// unpacking.
#[test]
fn fields_travel_together_and_contiguous_faces_as_they_are() {
    let devices = [Device::host(), Device::host()];
    let team = Team::of(devices.to_vec()).unwrap();
    let rows = Distribution::builder(&[8, 6]).grid(&[2, 1]).halo(&[1, 1], &[1, 1]).build().unwrap();
    let columns = Distribution::builder(&[8, 6]).grid(&[1, 2]).halo(&[1, 1], &[1, 1]).build().unwrap();
    for (dist, contiguous) in [(&rows, true), (&columns, false)] {
        let plan = Plan::halo(dist, true).unwrap();
        let a = Array::from_fn(&team, dist, |at| (10 * at[0] + at[1]) as u8).unwrap();
        let b = Array::from_fn(&team, dist, |at| (10 * at[0] + at[1]) as f64).unwrap();
        let (in_a, in_b) = (a.places().unwrap(), b.places().unwrap());
        let one = Field { plan: &plan, from: &in_b, to: &in_b, dtype: DType::F64 };
        let other = Field { plan: &plan, from: &in_a, to: &in_a, dtype: DType::U8 };
        let alone = lower(&[one]).unwrap();
        let launches = if contiguous { 0 } else { 2 };
        assert_eq!((alone.departing(), alone.arrival.len()), ((launches, 2), launches), "{alone}");
        let both = lower(&[other, one]).unwrap();
        assert_eq!((both.departing(), both.arrival.len()), ((4, 2), 4), "{both}");
        assert!(
            both.links
                .iter()
                .all(|link| link.transport == Transport::Staged && link.moves == 2 && link.packed)
        );
        let bytes = |command: &Command| match &command.op {
            Op::Transfer { bytes, .. } => *bytes,
            _ => 0,
        };
        let cells: u64 = plan.moves().iter().map(|m| m.elements()).sum();
        assert_eq!(both.dispatch.iter().map(bytes).sum::<u64>(), 9 * cells);
        raw_access::exchange(both).unwrap();
        for (array, size) in [(&a, 1), (&b, 8)] {
            for (part, place) in array.places().unwrap().iter().enumerate() {
                let place = place.as_ref().unwrap();
                let mut memory = vec![0; place.stored.volume().unwrap() as usize * size];
                raw_access::download(&place.device, &place.allocation, 0, &mut memory).unwrap();
                for (k, at) in place.stored.points().enumerate() {
                    let expected = 10 * at[0] + at[1];
                    let given = match size {
                        1 => i64::from(memory[k]),
                        _ => f64::from_le_bytes(memory[8 * k..8 * k + 8].try_into().unwrap()) as i64,
                    };
                    assert_eq!(given, expected, "part {part} at {at}");
                }
            }
        }
    }
}

/// One launch packs all faces of one shape that leave a device, whatever the part and the field.
#[test]
fn faces_of_one_shape_share_a_launch() {
    for device in devices() {
        let kind = device.kind();
        let others = [device.clone(), Device::host(), device.clone(), Device::host()];
        let team = Team::of(others.to_vec()).unwrap();
        let dist = Distribution::builder(&[6, 8]).grid(&[1, 4]).halo(&[0, 1], &[0, 1]).build().unwrap();
        let fields: Vec<Array> = (0..3).map(|_| positions(&team, &dist)).collect();
        let places: Vec<_> = fields.iter().map(|field| field.places().unwrap()).collect();
        let plan = Plan::halo(&dist, true).unwrap();
        let field = |places| Field { plan: &plan, from: places, to: places, dtype: DType::I32 };
        let fields: Vec<Field> = places.iter().map(|places| field(places)).collect();
        let exchange = lower(&fields).unwrap();
        let packs = exchange.departure.iter().filter(|command| match &command.op {
            Op::Launch { device: on, .. } => *on == device,
            _ => false,
        });
        // Parts 0 and 2 send three faces in all, times three fields; elsewhere than on CUDA no two of one
        // message go into one launch.
        let expected = if kind == DeviceKind::Cuda { 1 } else { 3 };
        assert_eq!(packs.count(), expected, "{device:?} {exchange}");
        assert_eq!(exchange.departing().1, 6);
        raw_access::exchange(exchange).unwrap();
        team.wait().unwrap();
        ran("shared-launches", &device, 1);
    }
}

/// The adjoint adds into the sources what every holder has, through boxes, runs and lists.
#[test]
fn adjoint_plans_add_what_all_holders_have() {
    let both = [Device::host(), Device::host()];
    let mut pairs = 0;
    for devices in [vec![both[0].clone()], both.to_vec()] {
        let team = Team::of((0..3).map(|k| devices[k % devices.len()].clone()).collect()).unwrap();
        for from in kinds(17, 3) {
            for to in kinds(17, 3) {
                let (from, to) = (
                    over(&[from.clone(), DimMap::even(2, 1).unwrap()], false),
                    over(&[to, DimMap::even(2, 1).unwrap()], true),
                );
                let a = Array::full(&team, &from, Scalar::from_i64(DType::I32, 1000)).unwrap();
                let b = positions(&team, &to);
                // Nobody is near: the owners send, so to them it comes back.
                let plan = Plan::between(&from, &to, |_| None).unwrap().adjoint();
                let (there, here) = (b.places().unwrap(), a.places().unwrap());
                let field = Field { plan: &plan, from: &there, to: &here, dtype: DType::I32 };
                raw_access::exchange(lower(&[field]).unwrap()).unwrap();
                let holders = |at: &[i64]| to.holders(at).unwrap().len() as i32;
                let expected: Vec<i32> =
                    from.global().points().map(|at| 1000 + holders(&at) * position(&to, &at)).collect();
                assert_eq!(a.to_vec::<i32>().unwrap(), expected, "{from} from {to}");
                pairs += 1;
            }
        }
    }
    println!("ran: adjoint-plans {pairs}");
}

/// What is added to listed cells shares launches with whatever shares no cell with it, and keeps its order
/// where it does.
#[test]
fn additions_into_listed_cells_share_launches() {
    // To which cells each part adds its own 1, 4 and 6: the last meets the first two.
    let lists: [[i64; 3]; 4] = [[0, 5, 9], [1, 6, 10], [2, 7, 11], [6, 5, 12]];
    let own = [1, 4, 6];
    for device in devices() {
        let line = |cells: i64, parts: usize| Distribution::builder(&[cells]).parts(parts).build().unwrap();
        let team = |parts: usize| Team::on(std::slice::from_ref(&device), parts).unwrap();
        let value = |at: i64| if at < 24 { (3 * at) as f32 / 7.0 } else { -1e8 };
        let a = Array::from_fn(&team(4), &line(32, 4), |at| value(at[0])).unwrap();
        let b = Array::full(&team(1), &line(20, 1), Scalar::from_f64(DType::F32, 1e8)).unwrap();
        let boxed = |first: i64, cells: &[i64]| {
            let last = cells.iter().max().unwrap();
            Region::new(&[first], &[first + last + 1]).unwrap()
        };
        let moves = lists.iter().enumerate().map(|(part, list)| Move {
            from_part: part,
            to_part: 0,
            from: boxed(8 * part as i64, &own),
            to: boxed(0, list),
            subsets: Some(
                [AxisSubset::List(Arc::new(Pairs { from: own.to_vec(), to: list.to_vec() }))].into(),
            ),
            op: MoveOp::Add,
        });
        let plan = Plan::new(4, 1, moves.collect()).unwrap();
        let (from, to) = (a.places().unwrap(), b.places().unwrap());
        let field = Field { plan: &plan, from: &from, to: &to, dtype: DType::F32 };
        let exchange = lower(&[field]).unwrap();
        let adds = exchange.arrival.iter().filter(|command| match &command.op {
            Op::Launch { job, .. } => job.program.kernel().kernel().name.starts_with("add"),
            Op::BatchedLaunch { .. } => true,
            _ => false,
        });
        assert_eq!(adds.count(), 2, "{device:?}");
        raw_access::exchange(exchange).unwrap();
        let in_order = |order: [usize; 4]| {
            let mut cells = vec![1e8f32; 20];
            for part in order {
                for (&from, &to) in own.iter().zip(&lists[part]) {
                    cells[to as usize] += value(8 * part as i64 + from);
                }
            }
            cells
        };
        assert_ne!(in_order([3, 0, 1, 2]), in_order([0, 1, 2, 3]), "any order would do");
        assert_eq!(b.to_vec::<f32>().unwrap(), in_order([0, 1, 2, 3]), "{device:?}");
        ran("listed-sums", &device, 1);
    }
}

/// Values of the same elements on two teams, as f32 and as bool.
fn pair(team: &Team, dist: &Distribution) -> (Array, Array) {
    let numbers = Array::from_fn(team, dist, |at| (7 * at[0] + at[1]) as f32).unwrap();
    (numbers.clone(), numbers.less(40.0))
}

#[test]
fn operands_on_another_team_are_moved_to_the_team_of_the_result() {
    let rows = |parts: usize| Distribution::builder(&[12, 5]).grid(&[parts as i64, 1]).halo(&[1, 0], &[1, 0]);
    let here = Team::on(&[Device::host()], 2).unwrap();
    let (x, near) = pair(&here, &rows(2).build().unwrap());
    // The same computed on one team.
    let (z, close) = pair(&here, &rows(2).build().unwrap());
    let floats = |array: &Array| array.to_vec::<f32>().unwrap();
    for device in devices() {
        let there = Team::on(std::slice::from_ref(&device), 3).unwrap();
        let cyclic = Distribution::builder(&[12, 5]).grid(&[3, 1]).cyclic(0, 2).build().unwrap();
        for dist in [rows(3).build().unwrap(), cyclic] {
            let (y, far) = pair(&there, &dist);
            for (sum, expected) in [(&x + &y, &x + &z), (&x - &y.abs() * 2.0, &x - &z.abs() * 2.0)] {
                assert_eq!(sum.team(), &here);
                assert_eq!(sum.distribution().unwrap(), x.distribution().unwrap());
                assert_eq!(floats(&sum), floats(&expected), "{device:?}, {dist}");
            }
            let product = &y * &x;
            assert_eq!((product.team(), floats(&product)), (&there, floats(&(&z * &z))));
            // Slices, broadcast rows and single elements.
            let row = s![3..4, ..];
            let sliced = x.slice(&s![1.., ..]) * y.slice(&s![..-1, ..]) + y.slice(&row) - y.sum(&[0, 1]);
            let expected = x.slice(&s![1.., ..]) * z.slice(&s![..-1, ..]) + z.slice(&row) - z.sum(&[0, 1]);
            assert_eq!(floats(&sliced), floats(&expected), "{device:?}, {dist}");
            // Bool: as operands, as conditions, in reductions.
            let both = &near & &!&far;
            assert_eq!(both.any(&[]).cast(DType::U8).item::<u8>().unwrap(), 0);
            let chosen = far.select(&x, &(&y * 2.0));
            assert_eq!((chosen.team(), floats(&chosen)), (&there, floats(&close.select(&z, &(&z * 2.0)))));
            let masked = near.select(&y, &Array::zeros(&there, &dist, DType::F32).unwrap()).sum(&[1]);
            assert_eq!(masked.team(), &here);
            assert_eq!(floats(&masked), floats(&close.select(&z, &(&z * 0.0)).sum(&[1])));
            // There and back: the inner evaluations come first, each once.
            let back = ((&(&x + &y) * &y) + &x) * (&y - &x) + (&y + 1.0);
            assert_eq!(floats(&back), floats(&(((&(&z + &z) * &z) + &z) * (&z - &z) + (&z + 1.0))));
            // Assignment: of everything, to a window, in steps, to single elements; and joined.
            let one = |target: &Array, value: &Array| {
                let mut target = target.clone();
                target.assign(&s![.., ..], &(value + 1.0)).unwrap();
                target.assign(&s![2..-2, 1..], &value.slice(&s![1..-3, 1..])).unwrap();
                target.assign(&s![..; 5, 0..1], &value.slice(&s![..; 5, 4..5])).unwrap();
                target.assign(&s![4..5, ..], &value.slice(&s![9..10, ..])).unwrap();
                target.scatter(&[3, 59, 3], &value.slice(&s![0, 1..4])).unwrap();
                Array::concatenate(&[&target, value], 1)
            };
            assert_eq!(floats(&one(&x, &(&y * 3.0))), floats(&one(&z, &(&z * 3.0))), "{device:?}, {dist}");
            let mut flags = near.clone();
            flags.assign(&s![3.., ..], &far.slice(&s![..-3, ..])).unwrap();
            let bytes = |array: &Array| array.cast(DType::U8).to_vec::<u8>().unwrap();
            assert_eq!(bytes(&flags)[15..], bytes(&close)[..45]);
        }
        ran("team-operands", &device, 2);
    }
}

#[test]
fn moves_from_another_team_are_explained_and_replayed() {
    let here = Team::on(&[Device::host()], 2).unwrap();
    let line = |parts: usize| Distribution::builder(&[12]).parts(parts).build().unwrap();
    let x = Array::from_fn(&here, &line(2), |at| at[0] as f32).unwrap();
    for device in devices() {
        let there = Team::on(std::slice::from_ref(&device), 3).unwrap();
        let y = Array::from_fn(&there, &line(3), |at| at[0] as f32).unwrap();
        let sum = &x + &(&y * 2.0);
        let said = sum.explain().unwrap();
        let text = said.to_string();
        assert_eq!(said, sum.explain().unwrap(), "explaining computes nothing");
        let names: Vec<&str> = said.kernels.iter().map(|kernel| &kernel.name[..]).collect();
        assert_eq!(names, ["fused", "move", "fused"], "{text}");
        // Parts of 4 cells to parts of 6, all on other devices.
        assert_eq!((said.exchanged_bytes(), said.kernels[1].exchanges[0].links.len()), (48, 4), "{text}");
        assert!(text.contains(&format!("48 bytes over 4 links, from {there}")), "{text}");
        sum.eval().unwrap();
        assert!(sum.explain().unwrap().kernels.is_empty());
        let mut steps = Loop::new(vec![x.clone() * 0.0], |state| {
            state[0] = &state[0] + &y;
            Ok(())
        });
        steps.run(10).unwrap();
        assert!(steps.is_replaying(), "{device:?}");
        let expected: Vec<f32> = (0..12).map(|k| 10.0 * k as f32).collect();
        assert_eq!(steps.state()[0].to_vec::<f32>().unwrap(), expected, "{device:?}");
    }
}
