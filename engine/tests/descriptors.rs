//! Chapel's array descriptor on arrays whose elements are on devices: element type and domain, access,
//! iteration part by part, resizing, owners and communication.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;

use found::{devices, ran};
use partita::index::{DimMap, DistributionBuilder};
use partita::prelude::*;

/// A plane over six parts: blocks, cyclic and lists with copies in turn.
fn planes() -> Vec<Distribution> {
    let lists = [vec![0, 1, 4], vec![2, 3, 4, 5, 7], vec![6, 7, 8]];
    let lists = || DimMap::unstructured(&lists, false).unwrap();
    let of = || Distribution::builder(&[7, 9]).grid(&[2, 3]);
    let dists: [DistributionBuilder; 5] = [
        of().halo(&[1, 1], &[1, 1]),
        of().cyclic(0, 1),
        of().cyclic(0, 2).cyclic(1, 1),
        of().map(1, lists()),
        of().replicated(0).cyclic(1, 2),
    ];
    dists.into_iter().map(|dist| dist.build().unwrap()).collect()
}

fn number(at: &[i64]) -> i32 {
    (100 * at[0] + at[1]) as i32
}

fn teams() -> impl Iterator<Item = (Device, Team)> {
    devices().into_iter().map(|device| {
        let team = Team::on(std::slice::from_ref(&device), 6).unwrap();
        (device, team)
    })
}

#[test]
fn an_array_has_its_element_type_and_its_domain() {
    for (_, team) in teams() {
        for dist in planes() {
            for dtype in [DType::F32, DType::U8, DType::I32] {
                let array = Array::zeros(&team, &dist, dtype).unwrap();
                assert_eq!((array.dtype(), array.shape()), (dtype, dist.shape()));
                assert_eq!(*array.distribution().unwrap(), dist);
            }
        }
    }
}

#[test]
fn elements_are_read_and_written_at_any_index() {
    for (device, team) in teams() {
        for dist in planes() {
            let mut array = Array::from_fn(&team, &dist, number).unwrap();
            let mut plain: Vec<i32> = dist.global().points().map(|at| number(&at)).collect();
            for at in dist.global().points().step_by(5) {
                let value = array.get(&at).unwrap();
                assert_eq!(value.to_i64() as i32, number(&at));
                array.set(&at, Scalar::from_i64(DType::I32, -value.to_i64())).unwrap();
                plain[(at[0] * 9 + at[1]) as usize] *= -1;
            }
            assert_eq!(array.to_vec::<i32>().unwrap(), plain, "{device:?} {dist}");
            let text = array.get(&[7, 0]).unwrap_err().to_string();
            assert!(text.contains("get: expected an index inside shape (7, 9), given [7, 0]"), "{text}");
            assert!(array.set(&[0, 0], Scalar::from_i64(DType::I64, 1)).is_err());
        }
    }
}

#[test]
fn parts_iterate_their_elements_in_their_own_order() {
    for (device, team) in teams() {
        for dist in planes() {
            let array = Array::from_fn(&team, &dist, number).unwrap();
            let mut owned = 0;
            for part in 0..dist.parts() {
                let sets = dist.owned_set(part).unwrap();
                let held = array.part_to_vec::<i32>(part).unwrap();
                let indices = sets[0].iter().flat_map(|i| sets[1].iter().map(move |j| [i, j]));
                for (value, at) in held.iter().zip(indices) {
                    assert_eq!(*value, number(&at), "{device:?} {dist} part {part}");
                    owned += usize::from(dist.owner(&at).unwrap() == part);
                }
                assert_eq!(held.len() as i64, sets[0].len() * sets[1].len());
            }
            assert_eq!(owned, 63, "every element is owned once");
        }
        assert!(Array::zeros(&team, &planes()[0], DType::I32).unwrap().part_to_vec::<i32>(6).is_err());
    }
}

#[test]
fn one_member_writes_an_array_in_index_order() {
    for (_, team) in teams() {
        for dist in planes() {
            let array = Array::from_fn(&team, &dist, number).unwrap().slice(&s![1..3, ..]);
            let Ok(()) = array.eval() else { panic!("{dist}") };
            let rows = "[[100, 101, 102, 103, 104, 105, 106, 107, 108],\n \
                        [200, 201, 202, 203, 204, 205, 206, 207, 208]]";
            assert_eq!(array.to_string(), rows, "{dist}");
        }
    }
}

#[test]
fn resizing_keeps_the_elements_of_common_indices() {
    for (device, team) in teams() {
        let mut cases = 0;
        for dist in planes() {
            let array = Array::from_fn(&team, &dist, number).unwrap();
            for shape in [[7, 9], [12, 9], [3, 9], [1, 9], [9, 14], [20, 4], [0, 9], [5, 0]] {
                let resized = match array.resize(&shape) {
                    Ok(resized) => resized,
                    Err(error) => {
                        // Lists name what they hold: they have no other size.
                        assert!(dist.map(1).kind() == "unstructured" && shape[1] != 9, "{dist} {error}");
                        continue;
                    }
                };
                let inside = |at: &[i64]| if at[0] < 7 && at[1] < 9 { number(at) } else { 0 };
                let expected: Vec<i32> =
                    Region::from_shape(&shape).unwrap().points().map(|at| inside(&at)).collect();
                assert_eq!(resized.to_vec::<i32>().unwrap(), expected, "{device:?} {dist} to {shape:?}");
                let divided = dist.with_halo(&[0, 0], &[0, 0]).unwrap().resized(&shape).unwrap();
                assert!(resized.distribution().unwrap().same_layout(&divided));
                assert_eq!(array.to_vec::<i32>().unwrap()[62], 608, "the old array is what it was");
                cases += 1;
            }
        }
        ran("resizings", &device, cases);
    }
}

#[test]
fn the_owner_of_an_index_is_the_part_that_stores_it() {
    for (device, team) in teams() {
        for dist in planes() {
            let array = Array::from_fn(&team, &dist, number).unwrap();
            let memory: Vec<Vec<i32>> = (0..6).map(|part| array.part_to_vec(part).unwrap()).collect();
            for at in dist.global().points() {
                let has = |part: &usize| memory[*part].contains(&number(&at));
                let holders: Vec<usize> = (0..6).filter(has).collect();
                let mut said = dist.holders(&at).unwrap();
                assert_eq!(said[0], dist.owner(&at).unwrap());
                said.sort_unstable();
                assert_eq!(said, holders, "{device:?} {dist} {at}");
            }
            // Places agree: there is memory exactly where something is held.
            for (part, place) in array.places().unwrap().iter().enumerate() {
                assert_eq!(place.is_some(), !memory[part].is_empty());
            }
        }
    }
}

#[test]
fn owned_cells_are_computed_without_messages() {
    for (device, team) in teams() {
        for dist in planes() {
            let a = Array::from_fn(&team, &dist, number).unwrap();
            let before = team.messages();
            let row = Array::coordinate(&team, &dist, 0, DType::I32).unwrap();
            let b = &a * &a + &row.select_even(&a);
            b.eval().unwrap();
            let mut c = a.clone();
            c.assign(&s![.., ..], &(&a - &b)).unwrap();
            c.slice(&s![1..5, ..]).eval().unwrap();
            c.assign(&s![2..3, ..], &a.slice(&s![2..3, ..])).unwrap();
            c.set(&[3, 3], Scalar::from_i64(DType::I32, 7)).unwrap();
            assert_eq!(team.messages(), before, "{device:?} {dist}");
            // Parts on one device read the partial sums of others where they are; single columns travel.
            a.sum(&[]).eval().unwrap();
            let sums = team.messages();
            assert_eq!(sums, before, "{device:?} {dist}");
            (&a + &a.slice(&s![.., 4..5])).eval().unwrap();
            assert!(team.messages() > sums, "{device:?} {dist}");
        }
        ran("silent-work", &device, planes().len());
    }
}

/// Arithmetic for a test to have more than one operation.
trait SelectEven {
    fn select_even(&self, of: &Array) -> Array;
}

impl SelectEven for Array {
    fn select_even(&self, of: &Array) -> Array {
        (self % 2.0).equal(0.0).select(of, &(of * 0.0))
    }
}

#[test]
fn a_replayed_step_counts_its_messages() {
    for (device, team) in teams() {
        let dist = Distribution::builder(&[24]).parts(6).halo(&[1], &[1]).build().unwrap();
        let u = Array::from_fn(&team, &dist, |at| at[0] as f32).unwrap();
        let mut heat = Loop::new(vec![u], |state| {
            let next = state[0].slice(&s![..-2]) * 0.5 + state[0].slice(&s![2..]) * 0.5;
            state[0].assign(&s![1..-1], &next)
        });
        heat.run(6).unwrap();
        assert!(heat.is_replaying());
        let before = team.messages();
        heat.run(5).unwrap();
        // Five inner edges, both ways, every step.
        assert_eq!(team.messages() - before, 5 * 2 * 5, "{device:?}");
    }
}

#[test]
fn shifted_slices_take_one_repartition_and_move_no_owned_cells() {
    for (device, team) in teams() {
        let dist = Distribution::builder(&[16]).parts(6).halo(&[1], &[1]).build().unwrap();
        let u = Array::from_fn(&team, &dist, |at| (at[0] * at[0] * at[0]) as i32).unwrap();
        let memory = |u: &Array| -> Vec<u64> {
            u.places().unwrap().iter().flatten().map(|place| place.allocation.id).collect()
        };
        let (ids, before) = (memory(&u), team.messages());
        let sum = u.slice(&s![1..-1]) + u.slice(&s![..-2]) + u.slice(&s![2..]);
        sum.eval().unwrap();
        // One message over every inner edge in both directions, though three slices read them.
        assert_eq!(team.messages() - before, 2 * 5, "{device:?}");
        assert_eq!(memory(&u), ids, "owned cells were not moved");
        let serial: Vec<i32> = (1..15).map(|i: i32| (i - 1..=i + 1).map(|k| k * k * k).sum()).collect();
        assert_eq!(sum.to_vec::<i32>().unwrap(), serial, "{device:?}");
        // And the second expression over the same halo takes none.
        (u.slice(&s![1..-1]) * 2.0 - u.slice(&s![2..])).eval().unwrap();
        assert_eq!(team.messages() - before, 2 * 5, "{device:?}");
    }
}
