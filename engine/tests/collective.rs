//! The collective operators against DistDL's definitions: what each member gets, from whom, and the dot test
//! `<F x, y> == <x, F* y>` of every operator. Models hold one list per member and know no plans.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;

use found::devices;
use partita::array::collective::Data;
use partita::index::{DimMap, Index};
use partita::prelude::*;

fn world(device: &Device, members: usize) -> Partition {
    Partition::world(&Team::on(std::slice::from_ref(device), members).unwrap()).unwrap()
}

fn grid(world: &Partition, ranks: &[usize], shape: &[i64]) -> Partition {
    world.inclusive(ranks).unwrap().cartesian(shape).unwrap()
}

/// Blocks over a partition's grid; with irregular bounds where that is possible.
fn blocks(over: &Partition, shape: &[i64], irregular: bool) -> Distribution {
    let builder = Distribution::builder(shape).grid(over.shape());
    let uneven = |size: i64, parts: i64| {
        let bounds: Vec<i64> = (0..=parts).map(|k| k * k * size / (parts * parts)).collect();
        DimMap::irregular(&bounds).unwrap()
    };
    let dims = 0..shape.len();
    let builder =
        dims.filter(|_| irregular).fold(builder, |b, d| b.map(d, uneven(shape[d], over.shape()[d])));
    builder.build().unwrap()
}

/// Small numbers without a pattern: integers whose sums are exact, or fractions.
fn noise(seed: u64, at: &[i64], fractions: bool) -> f64 {
    let mixed = at.iter().fold(seed.wrapping_mul(0x9e37_79b9), |state, &value| {
        (state ^ value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
    });
    let number = (mixed.wrapping_mul(0xd134_2543_de82_ef95) >> 40) as i64 % 2001 - 1000;
    if fractions { number as f64 / 700.0 } else { (number % 16) as f64 }
}

fn random<T: Element + From<f32>>(
    over: &Partition,
    dist: &Distribution,
    seed: u64,
    fractions: bool,
) -> Array {
    let value = |at: &[i64]| T::from(noise(seed, at, fractions) as f32);
    Array::from_fn(&over.team().unwrap(), dist, value).unwrap()
}

fn numbers(array: &Array) -> Vec<f64> {
    match array.dtype() {
        DType::F32 => array.to_vec::<f32>().unwrap().into_iter().map(f64::from).collect(),
        _ => array.to_vec::<f64>().unwrap(),
    }
}

fn dot(a: &Array, b: &Array) -> f64 {
    numbers(a).into_iter().zip(numbers(b)).map(|(x, y)| x * y).sum()
}

fn held(array: &Array, rank: usize) -> Vec<f64> {
    match array.dtype() {
        DType::F32 => array.part_to_vec::<f32>(rank).unwrap().into_iter().map(f64::from).collect(),
        _ => array.part_to_vec::<f64>(rank).unwrap(),
    }
}

/// `<F x, y> == <x, F* y>`: exactly with integers; with fractions up to the rounding of the sums that F and
/// F* make (at most `terms` additions each, one rounding of half an ulp each) and of the products here.
fn dot_test<T: Element + From<f32>>(f: &Collective, dist: &Distribution, seed: u64) {
    for fractions in [false, true] {
        let x = random::<T>(f.source(), dist, seed, fractions);
        let forward = f.forward(&x).unwrap();
        let layout = forward.distribution().unwrap();
        let y = random::<T>(f.target(), &layout, seed + 1, fractions);
        let back = f.adjoint().with_layout(dist).forward(&y).unwrap();
        assert_eq!(back.shape(), x.shape());
        let (left, right) = (dot(&forward, &y), dot(&x, &back));
        // No sum inside F or F* is larger than what F makes of the magnitudes.
        let size = dot(&f.forward(&x.abs()).unwrap(), &y.abs());
        let terms = (f.source().members().size() + f.target().members().size()) as f64;
        let unit = if T::DTYPE == DType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON } / 2.0;
        let products = (numbers(&x).len() + numbers(&y).len()) as f64 * f64::EPSILON;
        let bound = if fractions { (terms * unit + products) * size } else { 0.0 };
        assert!((left - right).abs() <= bound, "{left} and {right} differ by more than {bound}: {f:?}");
        // The test must be able to fail: another y gives another product.
        if !fractions && left != 0.0 {
            assert_ne!(dot(&forward, &(&y * 2.0)), left);
        }
    }
}

fn both_types(f: &Collective, dist: &Distribution, seed: u64) {
    dot_test::<f32>(f, dist, seed);
    dot_test::<f64>(f, dist, seed);
}

/// Every member of `to` has what its root has; the roots and groups are those published for this case.
#[test]
fn broadcast_matches_the_published_example() {
    for device in devices() {
        let world = world(&device, 14);
        let p_x = grid(&world, &[1, 2, 3], &[1, 3, 1]);
        let p_y = grid(&world, &(0..12).collect::<Vec<_>>(), &[2, 3, 2]);
        let f = Collective::broadcast(&p_x, &p_y).unwrap();
        let dist = blocks(&p_x, &[2, 7, 3], true);
        let x = random::<f32>(&p_x, &dist, 3, false);
        let y = f.forward(&x).unwrap();
        assert_eq!(&y.shape()[..], [4, 7, 6]);
        // Whom each worker hears: {1: 0 1 6 7} {2: 2 3 8 9} {3: 4 5 10 11}.
        for (root, receivers) in [(0, [0, 1, 6, 7]), (1, [2, 3, 8, 9]), (2, [4, 5, 10, 11])] {
            for receiver in receivers {
                assert_eq!(held(&y, receiver), held(&x, root), "{device:?} {receiver}");
            }
        }
        // Workers outside have boxes of volume 0 of either.
        assert!(p_y.held(&y, 12).unwrap().is_empty() && !p_y.held(&y, 11).unwrap().is_empty());
        assert!(p_x.held(&x, 0).unwrap().is_empty() && !p_x.held(&x, 2).unwrap().is_empty());
        // The adjoint sums what the group holds.
        let back = f.adjoint().forward(&y).unwrap();
        assert_eq!(numbers(&back), numbers(&x).iter().map(|v| 4.0 * v).collect::<Vec<f64>>());
    }
}

#[test]
fn sum_reduce_counts_the_root_once() {
    let world = world(&Device::host(), 12);
    let all = grid(&world, &(0..12).collect::<Vec<_>>(), &[2, 3, 2]);
    let roots = grid(&world, &[1, 2, 3], &[1, 3, 1]);
    let f = Collective::sum_reduce(&all, &roots).unwrap();
    let x = random::<f64>(&all, &blocks(&all, &[4, 6, 8], false), 5, false);
    let y = f.forward(&x).unwrap();
    for (root, group) in [[0, 1, 6, 7], [2, 3, 8, 9], [4, 5, 10, 11]].into_iter().enumerate() {
        let mut sum = vec![0.0; held(&y, root).len()];
        for member in group {
            sum.iter_mut().zip(held(&x, member)).for_each(|(s, v)| *s += v);
        }
        assert_eq!(held(&y, root), sum);
    }
    assert_eq!(f.adjoint(), Collective::broadcast(&roots, &all).unwrap());
}

#[test]
fn all_sum_reduce_sums_over_groups_of_members() {
    let world = world(&Device::host(), 12);
    let over = grid(&world, &(0..12).collect::<Vec<_>>(), &[2, 3, 2]);
    let dist = blocks(&over, &[4, 9, 6], false);
    let x = random::<f64>(&over, &dist, 7, false);
    let f = Collective::all_sum_reduce(&over, &[0, 2]).unwrap();
    let y = f.forward(&x).unwrap();
    for group in [[0, 1, 6, 7], [2, 3, 8, 9], [4, 5, 10, 11]] {
        let mut sum = vec![0.0; held(&x, group[0]).len()];
        for member in group {
            sum.iter_mut().zip(held(&x, member)).for_each(|(s, v)| *s += v);
        }
        group.iter().for_each(|&member| assert_eq!(held(&y, member), sum, "{member}"));
    }
    assert_eq!(f.adjoint(), f);
    // Sum-reduce, then broadcast.
    let roots = grid(&world, &[0, 2, 4], &[1, 3, 1]);
    let sum = Collective::sum_reduce(&over, &roots).unwrap().forward(&x).unwrap();
    let again = Collective::broadcast(&roots, &over).unwrap().forward(&sum).unwrap();
    assert_eq!(numbers(&again), numbers(&y));
    // Over no dimension it is the identity, over all everybody has the sum of everything.
    let none = Collective::all_sum_reduce(&over, &[]).unwrap().forward(&x).unwrap();
    assert_eq!(numbers(&none), numbers(&x));
    let all = Collective::all_sum_reduce(&over, &[0, 1, 2]).unwrap().forward(&x).unwrap();
    let mut sum = vec![0.0; held(&x, 0).len()];
    (0..12).for_each(|member| sum.iter_mut().zip(held(&x, member)).for_each(|(s, v)| *s += v));
    (0..12).for_each(|member| assert_eq!(held(&all, member), sum));
}

#[test]
fn arrays_are_replaced_by_the_sums_of_their_members() {
    let bits = |x: &Array| x.to_bytes().unwrap();
    for device in devices() {
        for (shape, axes) in [([3, 1], &[0][..]), ([2, 3], &[0, 1]), ([3, 2], &[1]), ([1, 4], &[])] {
            let all = world(&device, (shape[0] * shape[1]) as usize).cartesian(&shape).unwrap();
            let dist = blocks(&all, &[2 * shape[0], 3 * shape[1]], false);
            let x = random::<f32>(&all, &dist, 11, true);
            let (mut sums, before, doubled) = (x.clone(), bits(&x), &x * 2.0);
            sums.all_sum_reduce_in_place(&all, axes).unwrap();
            // The sum, in the order of the members, of the same cell of all blocks along the axes.
            let values = x.to_vec::<f32>().unwrap();
            let value = |at: [i64; 2]| values[(at[0] * 3 * shape[1] + at[1]) as usize];
            let along = |d: usize, at: i64, extent: i64| match axes.contains(&d) {
                true => (0..shape[d]).map(|k| k * extent + at % extent).collect(),
                false => vec![at],
            };
            let sum = |at: Index| {
                let rows = along(0, at[0], 2);
                let cells = rows.iter().flat_map(|&i| along(1, at[1], 3).into_iter().map(move |j| [i, j]));
                cells.map(value).reduce(|sum, value| sum + value).unwrap()
            };
            let expected: Vec<f32> = dist.global().points().map(sum).collect();
            assert_eq!(sums.to_vec::<f32>().unwrap(), expected, "{device:?} {shape:?} {axes:?}");
            assert_eq!(*sums.distribution().unwrap(), dist);
            // Clones and what was recorded before have the old elements.
            assert_eq!((bits(&x), bits(&doubled)), (before, bits(&(&x * 2.0))));
        }
        let all = world(&device, 3);
        let mut uneven = random::<f32>(&all, &blocks(&all, &[8], true), 3, true);
        let before = bits(&uneven);
        assert!(uneven.all_sum_reduce_in_place(&all, &[0]).is_err() && bits(&uneven) == before);
        let start = random::<f32>(&all, &blocks(&all, &[6], false), 3, true);
        let step = |u: &mut Array| -> Result<()> {
            u.all_sum_reduce_in_place(&all, &[0])?;
            *u = &*u * 0.25 + 1.0;
            u.eval()
        };
        let mut looped = Loop::new(vec![start.clone()], |state: &mut [Array]| step(&mut state[0]));
        looped.run(7).unwrap();
        let mut single = start;
        (0..7).for_each(|_| step(&mut single).unwrap());
        assert!(looped.is_replaying() && bits(&looped.state()[0]) == bits(&single), "{device:?}");
    }
}

/// Four cells each on a ring of three: the adjoint adds what the halos hold to the owners, and leaves zeros.
#[test]
fn halo_exchange_and_its_adjoint_match_values_by_hand() {
    let world = world(&Device::host(), 3);
    let over = grid(&world, &[2, 0, 1], &[3]);
    let dist = Distribution::builder(&[6]).grid(&[3]).halo(&[1], &[2]).periodic(&[true]).build().unwrap();
    let padded = Collective::padded(&dist).unwrap();
    let f = Collective::halo_exchange(&over, &dist).unwrap();
    let given: Vec<f64> = (1..=15).map(f64::from).collect();
    let x = Array::from_slice(&over.team().unwrap(), &padded, &given).unwrap();
    // Per member: one halo cell, two of its own, two halo cells.
    let expected = [13., 2., 3., 7., 8., 3., 7., 8., 12., 13., 8., 12., 13., 2., 3.];
    assert_eq!(numbers(&f.forward(&x).unwrap()), expected);
    let back = [
        0.,
        2. + 14.,
        3. + 15. + 6.,
        0.,
        0.,
        0.,
        7. + 4.,
        8. + 5. + 11.,
        0.,
        0.,
        0.,
        12. + 9.,
        13. + 10. + 1.,
        0.,
        0.,
    ];
    assert_eq!(numbers(&f.adjoint().forward(&x).unwrap()), back);
    // One member without neighbours: the identity.
    let one = world.inclusive(&[1]).unwrap();
    let alone = Distribution::builder(&[4]).grid(&[1]).halo(&[2], &[1]).build().unwrap();
    let x = Array::from_slice(&one.team().unwrap(), &Collective::padded(&alone).unwrap(), &[1., 2., 3., 4.]);
    let y = Collective::halo_exchange(&one, &alone).unwrap().forward(&x.unwrap()).unwrap();
    assert_eq!(numbers(&y), [1., 2., 3., 4.]);
}

/// In two dimensions every cell of every halo gets its owner's value, corners included.
#[test]
fn corner_cells_of_halos_are_exchanged() {
    let over = grid(&world(&Device::host(), 6), &[5, 3, 1, 0, 2, 4], &[3, 2]);
    let dist = Distribution::builder(&[9, 8]).grid(&[3, 2]).halo(&[1, 2], &[2, 1]).periodic(&[true, false]);
    let dist = dist.build().unwrap();
    let padded = Collective::padded(&dist).unwrap();
    // The cell of the array that a cell of the padded layout stands for, and whether its part owns it.
    let cell = |at: &[i64]| {
        let part = padded.owner(at).unwrap();
        let (stored, block) = (dist.stored(part), padded.owned(part));
        let here: Vec<i64> = (0..2).map(|d| at[d] - block.start()[d] + stored.start()[d]).collect();
        let value = (10 * here[0].rem_euclid(9) + here[1]) as f64;
        (value, dist.owned(part).contains(&here))
    };
    let given = |at: &[i64]| if cell(at).1 { cell(at).0 } else { -1.0 };
    let x = Array::from_fn(&over.team().unwrap(), &padded, given).unwrap();
    let y = Collective::halo_exchange(&over, &dist).unwrap().forward(&x).unwrap();
    let expected: Vec<f64> = padded.global().points().map(|at| cell(&at).0).collect();
    assert_ne!(numbers(&x), expected);
    assert_eq!(numbers(&y), expected);
}

#[test]
fn repartition_gather_scatter_allgather() {
    for device in devices() {
        let world = world(&device, 7);
        let (a, b) = (grid(&world, &[5, 1, 2], &[3, 1]), grid(&world, &[0, 2, 4, 6], &[2, 2]));
        let dist = blocks(&a, &[9, 5], true);
        let x = random::<f32>(&a, &dist, 11, false);
        let f = Collective::repartition(&a, &b).unwrap();
        let y = f.forward(&x).unwrap();
        assert_eq!((numbers(&y), y.team()), (numbers(&x), &b.team().unwrap()));
        assert_eq!(y.distribution().unwrap().grid().shape(), b.shape());
        let asked = blocks(&b, &[9, 5], true);
        let uneven = f.clone().with_layout(&asked).forward(&x).unwrap();
        assert_eq!((numbers(&uneven), &*uneven.distribution().unwrap()), (numbers(&x), &asked));
        // Member 3 is in neither, 5 only sends, 0 only receives.
        for (member, sends, receives) in
            [(3, false, false), (5, true, false), (0, false, true), (2, true, true)]
        {
            assert_eq!(a.held(&x, member).unwrap().is_empty(), !sends, "{member}");
            assert_eq!(b.held(&y, member).unwrap().is_empty(), !receives, "{member}");
        }
        let gathered = Collective::gather(&b, 2).unwrap().forward(&y).unwrap();
        assert_eq!((held(&gathered, 0), gathered.team().size()), (numbers(&x), 1));
        let scattered = Collective::scatter(&b, 2).unwrap().forward(&gathered).unwrap();
        assert_eq!(numbers(&scattered), numbers(&x));
        let copies = Collective::allgather(&a, &[0, 1]).unwrap();
        let everywhere = copies.forward(&x).unwrap();
        (0..3).for_each(|rank| assert_eq!(held(&everywhere, rank), numbers(&x), "{rank}"));
        let sums = copies.adjoint().forward(&everywhere).unwrap();
        assert_eq!(numbers(&sums), numbers(&x).iter().map(|v| 3.0 * v).collect::<Vec<f64>>());
    }
}

/// The plan is, per receiving member, whom it hears of and which records; applying it again takes memory that
/// is there already, until the shape changes.
#[test]
fn strided_transfers_and_reused_buffers() {
    let device = Device::host();
    let world = world(&device, 3);
    let (a, b) = (grid(&world, &[0, 1], &[2, 1]), grid(&world, &[2, 0, 1], &[3, 1]));
    let f = Collective::repartition(&a, &b).unwrap();
    let dist = blocks(&a, &[6, 5], false);
    let [plan] = &f.plans(&dist).unwrap()[..] else { panic!("a repartition is one plan") };
    let rows = |start: i64, stop: i64| Region::new(&[start, 0], &[stop, 5]).unwrap();
    let triplets = |part: usize| -> Vec<(usize, Region, u64)> {
        plan.moves_to(part).iter().map(|m| (m.from_part, m.from, m.elements())).collect()
    };
    assert_eq!(triplets(0), [(0, rows(0, 2), 10)]);
    assert_eq!(triplets(1), [(0, rows(2, 3), 5), (1, rows(3, 4), 5)]);
    assert_eq!(triplets(2), [(1, rows(4, 6), 10)]);

    let held = || device.memory().in_use_bytes + device.memory().cached_bytes;
    let apply = |rows: i64| {
        let x = random::<f64>(&a, &blocks(&a, &[rows, 5], false), 3, false);
        assert_eq!(numbers(&f.forward(&x).unwrap()), numbers(&x));
        device.wait().unwrap();
        held()
    };
    let first = apply(600);
    (0..10).for_each(|turn| assert_eq!(apply(600), first, "turn {turn}"));
    assert!(apply(6000) > first);
}

/// Every operator, on partitions that are equal, disjoint, overlapping, in any order of the members.
#[test]
fn dot_tests_of_collective_operators_and_their_adjoints() {
    let world = world(&Device::host(), 9);
    let mut tests = 0;
    let mut test = |f: Collective, dist: &Distribution| {
        tests += 1;
        both_types(&f, dist, 40 + tests);
    };
    for order in [[0, 1, 2, 3, 4, 5, 6, 7], [7, 3, 5, 0, 2, 6, 1, 4], [8, 6, 4, 2, 0, 1, 3, 5]] {
        let big = grid(&world, &order, &[2, 2, 2]);
        for (ranks, shape) in [
            (&order[..2], &[1, 2, 1][..]),
            (&order[6..], &[2, 1, 1]),
            (&[8][..], &[1, 1, 1]),
            (&[3, 8, 0, 6], &[2, 2]),
            (&order[..], &[2, 2, 2]),
            (&[5], &[1]),
        ] {
            let small = grid(&world, ranks, shape);
            let extents: Vec<i64> = shape.iter().map(|n| 3 * n).collect();
            test(Collective::broadcast(&small, &big).unwrap(), &blocks(&small, &extents, true));
            // A dimension that is not in the small grid is one cell per member.
            let cells: Vec<i64> = (0..3).map(|d| if d + shape.len() < 3 { 2 } else { 6 }).collect();
            test(Collective::sum_reduce(&big, &small).unwrap(), &blocks(&big, &cells, false));
            let line: Vec<i64> =
                std::iter::repeat_n(1, shape.len() - 1).chain([ranks.len() as i64]).collect();
            let line = small.cartesian(&line).unwrap();
            let flat = vec![5; shape.len()];
            let to = grid(
                &world,
                &order[..3],
                &std::iter::repeat_n(1, shape.len() - 1).chain([3]).collect::<Vec<_>>(),
            );
            test(Collective::repartition(&line, &to).unwrap(), &blocks(&line, &flat, true));
        }
        for axes in [&[][..], &[0], &[1, 2], &[0, 1, 2]] {
            test(Collective::all_sum_reduce(&big, axes).unwrap(), &blocks(&big, &[4, 6, 2], false));
            test(Collective::allgather(&big, axes).unwrap(), &blocks(&big, &[4, 5, 3], true));
        }
        test(Collective::gather(&big, 5).unwrap(), &blocks(&big, &[3, 4, 5], true));
        let one = grid(&world, &order[5..6], &[1, 1, 1]);
        test(Collective::scatter(&big, 5).unwrap(), &blocks(&one, &[3, 4, 5], false));
        let flat = grid(&world, &order, &[4, 2]);
        for (lo, hi, periodic) in
            [([1, 0], [0, 2], [false; 2]), ([1, 1], [2, 1], [true; 2]), ([0, 2], [1, 2], [true, false])]
        {
            let builder = Distribution::builder(&[9, 7]).grid(&[4, 2]).halo(&lo, &hi).periodic(&periodic);
            let dist = builder.build().unwrap();
            let padded = Collective::padded(&dist).unwrap();
            test(Collective::halo_exchange(&flat, &dist).unwrap(), &padded);
        }
    }
    println!("ran: dot-tests {}", 4 * tests);
}

/// What travels between devices of unlike kinds is what stays on one.
#[test]
fn operators_between_devices() {
    let mut mixed = devices();
    mixed.push(Device::host());
    let team = Team::of((0..6).map(|k| mixed[k % mixed.len()].clone()).collect()).unwrap();
    let (mixed, plain) = (Partition::world(&team).unwrap(), world(&Device::host(), 6));
    let made = |world: &Partition| -> Vec<Vec<f64>> {
        let (all, some) = (grid(world, &[0, 1, 2, 3, 4, 5], &[3, 2]), grid(world, &[4, 1, 0], &[3, 1]));
        let dist =
            Distribution::builder(&[9, 8]).grid(&[3, 2]).halo(&[1, 1], &[1, 2]).periodic(&[true, false]);
        let dist = dist.build().unwrap();
        let operators = [
            (Collective::broadcast(&some, &all).unwrap(), blocks(&some, &[7, 2], true)),
            (Collective::sum_reduce(&all, &some).unwrap(), blocks(&all, &[9, 8], false)),
            (Collective::all_sum_reduce(&all, &[1]).unwrap(), blocks(&all, &[9, 8], false)),
            (Collective::repartition(&some, &all).unwrap(), blocks(&some, &[9, 8], true)),
            (Collective::allgather(&all, &[0]).unwrap(), blocks(&all, &[9, 8], true)),
            (Collective::halo_exchange(&all, &dist).unwrap(), Collective::padded(&dist).unwrap()),
        ];
        let both = operators.iter().flat_map(|(f, dist)| {
            let x = random::<f32>(f.source(), dist, 9, false);
            let y = f.forward(&x).unwrap();
            let back = f.adjoint().forward(&y).unwrap();
            [numbers(&y), numbers(&back)]
        });
        both.collect()
    };
    assert_eq!(made(&mixed), made(&plain));
}

#[test]
fn receivers_need_not_know_shape_or_type_in_advance() {
    let world = world(&Device::host(), 5);
    let some = world.inclusive(&[3, 1]).unwrap();
    let value = || Data::line(&[1.5f32, 2.5]);
    assert_eq!(some.broadcast_data(1, &world, value).unwrap(), value());
    assert!(some.broadcast_data(2, &world, value).is_err());
    assert!(world.broadcast_data(0, &some, value).is_err(), "the root is outside");
    let lines = world.allgather_data(|rank| Data::line(&vec![rank as i32; rank])).unwrap();
    assert_eq!(lines.iter().map(|data| data.shape[0]).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert_eq!(Data::value(Scalar::from_i64(DType::I16, -2)).bytes, [0xfe, 0xff]);
    let x = Array::from_slice(
        &some.team().unwrap(),
        &Distribution::builder(&[2]).parts(2).build().unwrap(),
        &[7u8, 9],
    );
    assert_eq!(Data::of(&x.unwrap()).unwrap().bytes, [7, 9]);
}

#[test]
fn mismatched_teams_and_shapes_are_errors() {
    let first = world(&Device::host(), 6);
    let other = world(&Device::host(), 6);
    let (a, b) = (grid(&first, &[0, 1, 2], &[3]), grid(&first, &[0, 1, 2, 3], &[2, 2]));
    assert_eq!((a.members().rank_of(5), a.members().rank_of(2)), (None, Some(2)));
    assert!(first.union(&other).is_err() && Collective::repartition(&a, &other).is_err());
    let text = Collective::broadcast(&a, &b).unwrap_err().to_string();
    assert!(text.contains("1 or those of"), "{text}");
    assert!(Collective::all_sum_reduce(&b, &[2]).is_err() && Collective::gather(&b, 4).is_err());
    let sum = Collective::all_sum_reduce(&a, &[0]).unwrap();
    let uneven = random::<f64>(&a, &blocks(&a, &[7], true), 1, false);
    let text = sum.forward(&uneven).unwrap_err().to_string();
    assert!(text.contains("equally much along dimension 0"), "{text}");
    let elsewhere = random::<f64>(&b, &blocks(&b, &[4, 4], false), 1, false);
    let text = sum.forward(&elsewhere).unwrap_err().to_string();
    assert!(text.contains("over the partition"), "{text}");
    let masks = random::<f64>(&a, &blocks(&a, &[6], false), 1, false).greater(0.0);
    let text = sum.forward(&masks).unwrap_err().to_string();
    assert!(text.contains("all_sum_reduce") && text.contains("bool") && sum.start(&masks).is_err(), "{text}");
    let dist = Distribution::builder(&[6]).grid(&[3]).halo(&[1], &[1]).build().unwrap();
    let halo = Collective::halo_exchange(&a, &dist).unwrap();
    assert!(halo.forward(&random::<f64>(&a, &blocks(&a, &[6], false), 1, false)).is_err());
    assert!(Collective::halo_exchange(&b, &dist).is_err());
}

/// A line of members divides the first dimension; between start and finish other work may be queued.
#[test]
fn repartition_to_the_default_partition_overlaps_with_other_work() {
    for device in devices() {
        let others =
            Team::of((0..4).map(|k| [device.clone(), Device::host()][k % 2].clone()).collect()).unwrap();
        let world = Partition::world(&others).unwrap();
        let (a, b) = (grid(&world, &[0, 1, 2, 3], &[2, 2]), world.inclusive(&[3, 1, 0]).unwrap());
        let mut x = random::<f32>(&a, &blocks(&a, &[8, 5], true), 2, false);
        let expected = numbers(&x);
        let pending = Collective::repartition(&a, &b).unwrap().start(&x).unwrap();
        // The input may be replaced, and computed with, while it travels.
        let doubled = numbers(&(&x * 2.0));
        x.assign(&s![..], &Array::zeros(x.team(), &x.distribution().unwrap(), DType::F32).unwrap()).unwrap();
        let y = pending.finish().unwrap();
        assert_eq!(numbers(&y), expected);
        assert_eq!(doubled, expected.iter().map(|v| 2.0 * v).collect::<Vec<f64>>());
        let default = Distribution::default_partition(3, &[8, 5]).unwrap();
        assert_eq!(*y.distribution().unwrap(), default);
        assert_eq!(b.held(&y, 1).unwrap(), default.owned(1));
        let back = Collective::repartition(&b, &a).unwrap().forward(&y).unwrap();
        assert_eq!(numbers(&back), expected);
    }
}

/// Requests that reach over what members own, overlap, are empty, or lie elsewhere.
#[test]
fn arrays_fetch_requested_regions() {
    let at = |start: [i64; 2], stop: [i64; 2]| Region::new(&start, &stop).unwrap();
    for device in devices() {
        let others =
            Team::of((0..4).map(|k| [device.clone(), Device::host()][k / 2].clone()).collect()).unwrap();
        let dist = Distribution::builder(&[8, 6]).parts(4).halo(&[1, 0], &[0, 0]).build().unwrap();
        let value = |at: &[i64]| (10 * at[0] + at[1]) as f32;
        let mut u = Array::from_fn(&others, &dist, value).unwrap();
        let requests = [at([0, 0], [5, 6]), at([0, 0], [0, 0]), at([0, 1], [2, 3]), at([3, 0], [8, 6])];
        let requested = u.request(&requests).unwrap();
        let memory = |u: &Array, part: usize| u.places().unwrap()[part].as_ref().unwrap().allocation.id;
        let before: Vec<u64> = (0..4).map(|part| memory(&u, part)).collect();
        u.assign(&s![..], &(&u * 0.0)).unwrap();
        for (part, asked) in requests.iter().enumerate() {
            let mut cells = 0;
            for (k, section) in requested[part].sections().enumerate() {
                let expected: Vec<f32> = section.region.points().map(|at| value(&at)).collect();
                assert_eq!(
                    requested[part].to_vec::<f32>(k).unwrap(),
                    expected,
                    "{device:?} {part} {section}"
                );
                cells += expected.len() as i64;
                // What is owned is shown where it is.
                if section.outside() == 0 && !section.region.is_empty() {
                    assert_eq!(requested[part].place(k).unwrap().allocation.id, before[part]);
                }
            }
            assert_eq!(cells, asked.volume().unwrap());
        }
        assert_eq!(requested[3].offset().unwrap()[..], [3, 0]);
        assert!(requested[1].offset().is_none());
        let error = u.request(&requests[..3]).err().unwrap().to_string();
        assert!(error.contains("4 boxes"), "{error}");
        assert!(u.request(&[at([0, 0], [9, 6]), requests[1], requests[1], requests[1]]).is_err());
    }
}

#[test]
fn a_loop_repeats_operators_and_elements_at_indices() {
    for device in devices() {
        let all = world(&device, 3);
        let team = all.team().unwrap();
        let dist = Distribution::builder(&[12]).parts(3).build().unwrap();
        let start = Array::from_fn(&team, &dist, |at| (at[0] * 5 % 7) as f32).unwrap();
        let indices = Array::from_fn(&team, &dist, |at| ((at[0] * 7 + 3) % 12) as i32 - 12).unwrap();
        let sums = Collective::all_sum_reduce(&all, &[0]).unwrap();
        let step = |u: &Array| -> Result<Array> {
            let next = (u + sums.forward(&(u + 1.0))? * 0.125).take(&indices)? * 0.5;
            // Indices that follow from the state: 0, 1 and 2.
            next.take(&(&next % 3.0).floor().cast(DType::I32))
        };
        let single = (0..7).fold(start.clone(), |u, _| step(&u).unwrap());
        let mut looped = Loop::new(vec![start], |state: &mut [Array]| {
            state[0] = step(&state[0])?;
            state[0].eval()
        });
        looped.run(7).unwrap();
        assert!(looped.is_replaying(), "{device:?}");
        assert_eq!(looped.state()[0].to_bytes().unwrap(), single.to_bytes().unwrap(), "{device:?}");
        assert!(indices.take(&(&indices + 12)).is_ok() && indices.take(&(&indices - 1)).is_err());
    }
}
