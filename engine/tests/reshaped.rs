//! Reshapes that share memory: no message and no kernel of their own, and values stay unchanged when another
//! array shares their memory.
#![allow(missing_docs, clippy::unwrap_used)]

mod counted;
mod found;

use counted::counted;
use found::{devices, ran};
use partita::array::Cells;
use partita::index::{DimMap, Index};
use partita::prelude::*;

fn numbered(team: &Team, dist: &Distribution) -> Array {
    let shape = dist.shape();
    let number = |at: &[i64]| shape.iter().zip(at).fold(0, |sum, (extent, at)| sum * extent + at);
    Array::from_fn(team, dist, |at| number(at) as i32).unwrap()
}

fn rows(parts: usize) -> (Team, Array) {
    let team = Team::on(&[Device::host()], parts).unwrap();
    let dist = Distribution::default_partition(parts, &[24, 6]).unwrap();
    let u = numbered(&team, &dist);
    (team, u)
}

fn addresses(array: &Array) -> Vec<usize> {
    let address =
        |part: &partita::array::Part| part.address(Cells::Owned).unwrap().unwrap().as_ptr() as usize;
    array.parts().unwrap().iter().map(address).collect()
}

#[test]
fn elements_keep_their_order_whatever_the_division() {
    let shapes: [&[i64]; 9] = [
        &[144],
        &[12, 2, 6],
        &[4, 6, 6],
        &[24, 3, 2],
        &[8, 18],
        &[3, 8, 2, 3],
        &[1, 24, 1, 6],
        &[2, 72],
        &[16, 9],
    ];
    for device in devices() {
        let mut cases = 0;
        for parts in [1, 2, 4] {
            let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
            let p = parts as i64;
            let builder = || Distribution::builder(&[24, 6]);
            let dists = [
                builder().parts(parts).build().unwrap(),
                builder().grid(&[1, p]).build().unwrap(),
                builder().parts(parts).halo(&[2, 1], &[0, 1]).periodic(&[true, true]).build().unwrap(),
                builder().grid(&[p, 1]).map(0, DimMap::cyclic(24, parts, 2).unwrap()).build().unwrap(),
                builder().grid(&[1, p]).map(1, DimMap::replicated(6, parts).unwrap()).build().unwrap(),
            ];
            for dist in dists {
                let u = numbered(&team, &dist);
                let rest = numbered(&team, &Distribution::builder(&[6]).parts(parts).build().unwrap());
                for shape in shapes {
                    let expected: Vec<i32> = (0..144).collect();
                    assert_eq!(u.reshape(shape).to_vec::<i32>().unwrap(), expected, "{shape:?}");
                    // Of what is not computed, with operands of fewer cells, and there and back.
                    let lazy = (&u * 2.0 + &rest + 1.0).reshape(shape);
                    let expected: Vec<i32> = (0..144).map(|n| 2 * n + n % 6 + 1).collect();
                    assert_eq!(lazy.to_vec::<i32>().unwrap(), expected, "{shape:?} {dist:?}");
                    let again = (u.reshape(shape) - 1.0).reshape(&[24, 6]) + &u;
                    let expected: Vec<i32> = (0..144).map(|n| 2 * n - 1).collect();
                    assert_eq!(again.to_vec::<i32>().unwrap(), expected, "{shape:?} {dist:?}");
                    cases += 3;
                }
            }
        }
        ran("reshaped", &device, cases);
    }
}

#[test]
fn memory_is_shared_and_nothing_is_sent() {
    let (team, u) = rows(4);
    for shape in [&[144][..], &[12, 2, 6], &[24, 3, 2], &[8, 18], &[4, 36]] {
        let (launches, messages) = counted(&team, || u.reshape(shape).eval());
        assert_eq!((launches.len(), messages), (0, 0), "{shape:?}");
        assert_eq!(addresses(&u.reshape(shape)), addresses(&u), "{shape:?}");
    }
    // Three rows are no part's own.
    assert_ne!(counted(&team, || u.reshape(&[8, 3, 6]).slice(&s![1..]).eval()).0.len(), 0);
    let (launches, messages) = counted(&team, || u.reshape(&[3, 48]).eval());
    assert!(launches.iter().any(|name| name == "reshape") && messages > 0, "{launches:?}");
    // Other values in the memory are seen by nobody.
    let freed = u.reshape(&[12, 12]);
    drop(u);
    assert_eq!(freed.to_vec::<i32>().unwrap(), (0..144).collect::<Vec<i32>>());
}

#[test]
fn one_kernel_computes_what_is_seen_in_two_shapes() {
    let (team, u) = rows(4);
    let blocks = |u: &Array| u.reshape(&[12, 2, 3, 2]);
    // From the expression in one shape, and on in the other.
    let step = |u: &Array| blocks(&(u * 3.0 - 1.0)) * 2.0 + blocks(u);
    let (launches, messages) = counted(&team, || step(&u).eval());
    assert_eq!((launches, messages), (vec!["fused".to_owned(); 4], 0));
    assert_eq!(step(&u).to_vec::<i32>().unwrap(), (0..144).map(|n| 7 * n - 2).collect::<Vec<i32>>());
    // Coarser by two: one pass over the array.
    let sums = |u: &Array| blocks(&(u * u)).sum(&[1, 3]);
    let (launches, messages) = counted(&team, || sums(&u).eval());
    let passes = launches.iter().filter(|name| *name != "copy_box").count();
    assert_eq!((passes, messages), (4, 0), "{launches:?}");
    let square = |i: i64, j: i64| (6 * i + j) * (6 * i + j);
    let four = |k: i64| {
        let (i, j) = (k / 3 * 2, k % 3 * 2);
        square(i, j) + square(i + 1, j) + square(i, j + 1) + square(i + 1, j + 1)
    };
    assert_eq!(sums(&u).to_vec::<i64>().unwrap(), (0..36).map(four).collect::<Vec<i64>>());
    // What is used twice is computed once, however often that is repeated.
    let doubled = (0..40).fold(u.clone(), |x, _| &x + &x).reshape(&[144]);
    let said = doubled.explain().unwrap();
    assert!(said.kernels.len() == 1 && said.kernels[0].operations <= 40, "{said}");
    // Memory with halos is copied once, on its part.
    let wide = Distribution::builder(&[24, 6]).parts(4).halo(&[1, 0], &[1, 0]).build().unwrap();
    let wide = numbered(&team, &wide);
    let (launches, messages) = counted(&team, || blocks(&(&wide + 1.0)).eval());
    assert_eq!((launches.len(), messages), (4, 0), "{launches:?}");
}

#[test]
fn values_in_shared_memory_never_change() {
    let all: Vec<i32> = (0..144).collect();
    let (_, mut u) = rows(4);
    let mut flat = u.reshape(&[144]);
    let value = u.slice(&s![3..4, 2..3]) - 100.0;
    u.assign(&s![3..4, 2..3], &value).unwrap();
    drop(value);
    assert_eq!(flat.to_vec::<i32>().unwrap(), all);
    let kept = u.to_vec::<i32>().unwrap();
    let value = flat.slice(&s![..2]) - 100.0;
    let back = flat.reshape(&[24, 6]);
    flat.assign(&s![5..7], &value).unwrap();
    assert_eq!((u.to_vec::<i32>().unwrap(), back.to_vec::<i32>().unwrap()), (kept, all));
    // A loop writes into the memory of its state, but not while somebody sees it.
    let (_, u) = rows(4);
    let mut run = Loop::new(vec![u], |state| {
        let next = &state[0].slice(&s![1..]) + 1.0;
        state[0].assign(&s![1..], &next)
    });
    run.run(9).unwrap();
    assert!(run.is_replaying());
    let seen = run.state()[0].reshape(&[12, 12]);
    let then = seen.to_vec::<i32>().unwrap();
    assert_eq!(then[6..], (6..144).map(|n| n + 9).collect::<Vec<i32>>());
    run.run(1).unwrap();
    assert_eq!(seen.to_vec::<i32>().unwrap(), then);
    run.run(20).unwrap();
    assert!(run.is_replaying());
    assert_eq!(seen.to_vec::<i32>().unwrap(), then);
    assert_eq!(run.state()[0].to_vec::<i32>().unwrap()[6..], (6..144).map(|n| n + 30).collect::<Vec<i32>>());
}

/// Every part holds the same elements in the same order in the other shape.
fn stays(u: &Array, shape: &[i64]) -> bool {
    let held = |array: &Array| -> Vec<Vec<i64>> {
        let dist = array.distribution().unwrap();
        let number = |cell: Index| dist.shape().iter().zip(&cell[..]).fold(0, |sum, (n, at)| sum * n + at);
        let of = |part: usize| {
            let places = Region::from_shape(&dist.owned(part).extents()).unwrap();
            places.points().map(|at| number(dist.to_global(part, &at).unwrap())).collect()
        };
        (0..dist.parts()).map(of).collect()
    };
    held(u) == held(&u.reshape(shape))
}

fn on(parts: usize, dist: Distribution) -> Array {
    numbered(&Team::on(&[Device::host()], parts).unwrap(), &dist)
}

#[test]
fn parts_keep_what_they_hold() {
    let rows = on(3, Distribution::builder(&[12, 5]).parts(3).build().unwrap());
    let kept = [&[60][..], &[3, 4, 5], &[3, 20], &[6, 10], &[12, 5, 1], &[1, 12, 5], &[3, 2, 2, 5]];
    for shape in kept {
        assert!(stays(&rows, shape), "{shape:?}");
    }
    for cut in [&[2, 6, 5][..], &[2, 30], &[4, 15], &[5, 12]] {
        assert!(!stays(&rows, cut), "{cut:?}");
    }
    let columns = Distribution::builder(&[12, 6]).grid(&[2, 3]).bounds(1, &[0, 2, 2, 6]).build().unwrap();
    let columns = on(6, columns);
    assert!(stays(&columns, &[2, 6, 3, 2]) && stays(&columns, &[4, 3, 6]) && stays(&columns, &[12, 3, 2]));
    assert!(!stays(&columns, &[72]) && !stays(&columns, &[12, 2, 3]));
    // A dimension of one cell may be divided too.
    let single = on(6, Distribution::builder(&[4, 1, 6]).grid(&[2, 3, 1]).build().unwrap());
    assert!(stays(&single, &[4, 6]) && stays(&single, &[2, 2, 1, 3, 2]));
    // A view's grid counts its parts from the other end.
    assert!(stays(&rows.flip(0), &[3, 20]));
}

#[test]
fn other_maps_are_dealt_in_other_blocks() {
    let of = |map: DimMap| on(2, Distribution::builder(&[12, 5]).grid(&[2, 1]).map(0, map).build().unwrap());
    let cyclic = of(DimMap::cyclic(12, 2, 2).unwrap());
    assert!(stays(&cyclic, &[60]) && stays(&cyclic, &[6, 10]) && !stays(&cyclic, &[4, 3, 5]));
    assert!(stays(&of(DimMap::replicated(12, 2).unwrap()), &[5, 12]));
    let lists = [vec![0, 5, 7], vec![1, 2, 3, 4, 6, 8, 9, 10, 11]];
    let lists = of(DimMap::unstructured(&lists, true).unwrap());
    assert!(!stays(&lists, &[60]) && stays(&lists, &[12, 5, 1]));
}
