//! Arrays without dimensions on teams of any size: one part has the element, every part can read it.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;

use found::{devices, ran};
use partita::array::{Cells, Padding, record};
use partita::index::Along;
use partita::prelude::*;
use partita::program::Op;
use partita::wire::threads;

fn on(device: &Device, parts: usize) -> Team {
    Team::on(std::slice::from_ref(device), parts).unwrap()
}

fn nothing(team: &Team) -> Distribution {
    Distribution::default_partition(team.size(), &[]).unwrap()
}

fn line(team: &Team, count: i64) -> Array {
    let dist = Distribution::default_partition(team.size(), &[count]).unwrap();
    Array::from_fn(team, &dist, |at| at[0] as f32 + 1.0).unwrap()
}

/// What every way of reading says.
fn reads(x: &Array) -> f32 {
    assert_eq!((x.rank(), x.shape().len()), (0, 0));
    let value = x.item::<f32>().unwrap();
    assert_eq!(x.to_vec::<f32>().unwrap(), [value]);
    assert_eq!(x.get(&[]).unwrap(), value.into());
    let dist = x.distribution().unwrap();
    let owner = dist.owner(&[]).unwrap();
    assert_eq!((dist.rank(), dist.parts(), dist.holders(&[]).unwrap()), (0, x.team().size(), vec![owner]));
    for part in 0..dist.parts() {
        let held = x.part_to_vec::<f32>(part).unwrap();
        assert_eq!(held, if part == owner { vec![value] } else { vec![] });
        assert_eq!(dist.owned(part).is_empty(), part != owner);
    }
    value
}

#[test]
fn regions_and_distributions_without_dimensions() {
    let (point, none) = (Region::from_shape(&[]).unwrap(), Region::empty(0));
    assert!(none.is_empty() && !none.contains(&[]) && none.points().count() == 0 && none != point);
    assert_eq!((none.volume().unwrap(), point.intersect(&none), point.hull(&none)), (0, none, point));
    assert!(point.contains_region(&none) && !none.contains_region(&point));
    assert_eq!((point.subtract(&none), point.subtract(&point)), (vec![point], vec![]));
    assert_eq!(none.grow(&[], &[]).unwrap(), none);
    let dist = Distribution::default_partition(3, &[]).unwrap();
    assert_eq!((dist.owned(0), dist.owned(2), dist.owner(&[]).unwrap()), (point, none, 0));
    assert_eq!((dist.stored(1), dist.reach(1, &[], &[]).unwrap(), dist.packed()), (none, none, dist.clone()));
    let pairs = dist.with_inner(2).unwrap();
    assert_eq!((pairs.shape()[..].to_vec(), pairs.owner(&[1]).unwrap()), (vec![2], 0));
    assert_eq!(pairs.without_inner(), Some(dist));
    // The element that a view is stays on its part.
    let grid = Distribution::builder(&[6, 6]).grid(&[2, 3]).build().unwrap();
    for at in [[0, 0], [5, 0], [2, 4], [3, 5]] {
        let one = grid.viewed(&[], &at.map(Along::Pinned)).unwrap();
        assert_eq!((one.parts(), one.owner(&[]).unwrap()), (6, grid.owner(&at).unwrap()));
        let again = one.viewed(&[1], &[]).unwrap();
        assert_eq!(again.owner(&[0]).unwrap(), one.owner(&[]).unwrap());
    }
}

#[test]
fn they_are_made_computed_and_read() {
    for device in devices() {
        let mut cases = 0;
        for parts in [1, 2, 3, 7] {
            let team = on(&device, parts);
            let (dist, u) = (nothing(&team), line(&team, 20));
            let made = [
                Array::full(&team, &dist, 4.0f32.into()).unwrap(),
                Array::from_slice(&team, &dist, &[4.0f32]).unwrap(),
                Array::from_fn(&team, &dist, |at| 4.0 + at.len() as f32).unwrap(),
                u.slice(&s![3]),
                (&u * 2.0).slice(&s![1]),
                u.min(&[]).squeeze(&[0]) + 3.0,
                u.slice(&s![3..4]).reshape(&[]),
                u.gather(&[], &[3]),
                u.slice(&s![3]).unsqueeze(&[0, 0]).squeeze(&[0, 1]),
            ];
            for x in &made {
                assert_eq!(reads(x), 4.0, "{parts} parts");
                // Among themselves, whatever their parts, and over everything.
                for y in [&made[1], &made[3], &made[8]] {
                    assert_eq!(reads(&((x + y) / 2.0).sqrt()), 2.0);
                }
                for whole in [u.sum(&[]), u.sum(&[]).squeeze(&[0])] {
                    assert_eq!(reads(&(x.reshape(&[]) * whole.reshape(&[]))), 840.0);
                }
                let expected: Vec<f32> = (0..20).map(|n| n as f32 - 3.0).collect();
                assert_eq!((&u - x).to_vec::<f32>().unwrap(), expected);
                assert_eq!((0.0 - (x - &u)).to_vec::<f32>().unwrap(), expected);
                assert_eq!(x.broadcast_to(&[2, 3]).to_vec::<f32>().unwrap(), [4.0; 6]);
                // Other shapes, and back.
                for shape in [&[1][..], &[1, 1, 1]] {
                    let other = x.reshape(shape);
                    assert_eq!(
                        (other.shape()[..].to_vec(), reads(&other.reshape(&[]))),
                        (shape.to_vec(), 4.0)
                    );
                }
                assert_eq!(reads(&x.sum(&[])) + reads(&x.max(&[])) + reads(&x.mean(&[])), 12.0);
                assert_eq!(reads(&x.sum_reproducible(&[])), 4.0);
                assert!(reads(&x.greater(3).select(&(x + 1.0), x)) == 5.0 && x.sum(&[1]).recorded().is_err());
                // The memory of the only part that has it.
                let held = x.parts().unwrap();
                assert_eq!((held.len(), held[0].region(Cells::Owned).rank()), (1, 0));
                let mut bytes = [0; 4];
                held[0].read_into(Cells::Owned, &mut bytes).unwrap();
                assert_eq!((f32::from_le_bytes(bytes), held[0].strides().len()), (4.0, 0));
                cases += 1;
            }
            assert_eq!(u.argmax(None).squeeze(&[0]).item::<i64>().unwrap(), 19);
        }
        ran("without-dimensions", &device, cases);
    }
}

// One after the other: other threads must not wait for devices while steps are captured.
#[test]
fn they_are_changed() {
    they_are_assigned_and_lent();
    steps_of_a_loop_keep_them();
}

fn they_are_assigned_and_lent() {
    for device in devices() {
        for parts in [1, 2, 3, 7] {
            let team = on(&device, parts);
            let mut x = Array::full(&team, &nothing(&team), 1.0f32.into()).unwrap();
            let (old, u) = (&x * 10.0, line(&team, 9));
            x.assign(&[], &u.slice(&s![8])).unwrap();
            assert_eq!((reads(&x), reads(&old)), (9.0, 10.0));
            x.assign(&[], &(&x + u.sum(&[]).squeeze(&[0]))).unwrap();
            x.set(&[], (x.item::<f32>().unwrap() + 1.0).into()).unwrap();
            assert_eq!(reads(&x), 55.0);
            let mut v = u.clone();
            v.assign(&s![2], &x).unwrap();
            v.assign(&s![..2], &x).unwrap();
            assert_eq!(v.to_vec::<f32>().unwrap()[..4], [55.0, 55.0, 55.0, 4.0]);
            assert_eq!(reads(&x.updated(&[], &u.slice(&s![0]))), 1.0);
            let owner = x.distribution().unwrap().owner(&[]).unwrap();
            let lent = x.writable().unwrap();
            assert_eq!((lent.parts().len(), lent.parts()[0].device() == team.device(owner)), (1, true));
            lent.end().unwrap();
            assert_eq!(reads(&x), 55.0);
            let other = on(&device, 2);
            let moved = x.move_to(&other, &nothing(&other));
            assert_eq!((reads(&moved), reads(&(&moved + &x))), (55.0, 110.0));
            let there = u.slice(&s![-1]).distribution().unwrap();
            let other = x.redistribute(&there);
            assert_eq!((reads(&other), other.distribution().unwrap().owner(&[]).unwrap()), (55.0, parts - 1));
            assert_eq!((reads(&x.roll(&[])), reads(&x.transpose(&[]))), (55.0, 55.0));
            assert_eq!(reads(&x.pad(&[], Padding::Constant(0.0f32.into()))), 55.0);
        }
    }
}

fn steps_of_a_loop_keep_them() {
    for device in devices() {
        for parts in [1, 2, 3, 7] {
            let team = on(&device, parts);
            let (u, x) = (line(&team, 14), Array::zeros(&team, &nothing(&team), DType::F32).unwrap());
            let mut steps = Loop::new(vec![u, x], |state| {
                let change = &state[0] * 0.5;
                state[1] = (&state[1] + change.max(&[]).squeeze(&[0])) * 0.5;
                state[0] = change + &state[1];
                Ok(())
            });
            steps.run(40).unwrap();
            assert!(steps.is_replaying());
            let (mut u, mut x) = (Vec::from_iter((0..14).map(|n| n as f32 + 1.0)), 0.0f32);
            for _ in 0..40 {
                u.iter_mut().for_each(|u| *u *= 0.5);
                x = (x + u.iter().copied().fold(f32::MIN, f32::max)) * 0.5;
                u.iter_mut().for_each(|u| *u += x);
            }
            assert_eq!((steps.state()[0].to_vec::<f32>().unwrap(), reads(&steps.state()[1])), (u, x));
        }
    }
}

/// A full reduction costs what it costs with its dimensions, and so does what is computed with it.
#[test]
fn dropped_dimensions_cost_nothing() {
    for parts in [1, 2, 3, 7] {
        let team = on(&Device::host(), parts);
        let u = line(&team, 100);
        type Program = fn(&Array, Array) -> Array;
        let programs: [Program; 4] =
            [|_, sum| sum, |u, sum| u - sum / 100.0, |_, sum| sum.sqrt(), |u, _| u.argmax(None)];
        for program in programs {
            let count = |x: Array| {
                let before = team.messages();
                let commands = record(|| x.eval()).unwrap();
                let launches = commands.iter().filter(|command| matches!(command.op, Op::Launch { .. }));
                (launches.count(), commands.len(), team.messages() - before)
            };
            let dropped = program(&u, u.sum(&[]).squeeze(&[0]));
            let dropped = if dropped.shape()[..] == [1] { dropped.squeeze(&[0]) } else { dropped };
            assert_eq!(count(dropped), count(program(&u, u.sum(&[]))), "{parts} parts");
            let said = program(&u, u.sum(&[]).squeeze(&[0])).explain().unwrap();
            assert_eq!(said.exchanged_bytes(), program(&u, u.sum(&[])).explain().unwrap().exchanged_bytes());
        }
    }
}

#[test]
fn ranks_have_them() {
    for ranks in [2, 3] {
        let all = threads::run(ranks, |ranks| {
            let team = Team::over(&ranks, &[Device::host()], 2)?;
            let (u, x) = (line(&team, 11), Array::full(&team, &nothing(&team), 2.0f32.into())?);
            let mut y = (&x + u.slice(&s![-1])) * u.sum(&[]).squeeze(&[0]);
            y.assign(&[], &(&y + &x))?;
            let centred = &u - u.mean(&[]).squeeze(&[0]) + &y;
            let element = x.parts()?.len() + u.slice(&s![10]).parts()?.len();
            Ok::<_, partita::Error>((y.item::<f32>()?, centred.to_vec::<f32>()?, element))
        });
        let all: Vec<_> = all.into_iter().map(|found| found.unwrap().unwrap()).collect();
        let expected: Vec<f32> = (0..11).map(|n| n as f32 - 5.0 + 860.0).collect();
        assert!(all.iter().all(|(y, centred, _)| *y == 860.0 && *centred == expected));
        assert_eq!(all.iter().map(|found| found.2).collect::<Vec<_>>()[0], 1);
        assert_eq!(all.iter().map(|found| found.2).sum::<usize>(), 2);
    }
}
