//! Evaluations counted in launches and messages: one plan per operand, one kernel per chain of operations,
//! the cheaper place to compute, nothing twice and nothing unused.
#![allow(missing_docs, clippy::unwrap_used)]

mod counted;

use counted::counted;
use partita::index::DimMap;
use partita::prelude::*;

fn team(parts: usize) -> Team {
    Team::on(&[Device::host()], parts).unwrap()
}

fn slabs(shape: &[i64], parts: usize) -> Distribution {
    Distribution::default_partition(parts, shape).unwrap()
}

/// Numbered by their place, small enough that sums are exact.
fn array(team: &Team, dist: &Distribution) -> Array {
    Array::from_fn(team, dist, |at| at.iter().fold(3, |n, i| (5 * n + i) % 127) as f32).unwrap()
}

fn fused(launches: &[String]) -> usize {
    launches.iter().filter(|name| *name == "fused").count()
}

fn same(given: &Array, expected: impl Fn(&[i64]) -> f32) {
    let points = Region::from_shape(&given.shape()).unwrap();
    let expected: Vec<f32> = points.points().map(|at| expected(&at)).collect();
    assert_eq!(given.to_vec::<f32>().unwrap(), expected);
}

#[test]
fn shifted_slices_of_one_operand_are_one_plan() {
    let team = team(4);
    let u = array(&team, &slabs(&[40, 6], 4));
    let at = |i: i64, j: i64| [i, j].iter().fold(3, |n, i| (5 * n + i) % 127) as f32;
    let around = u.slice(&s![..-4]) + u.slice(&s![1..-3]) + u.slice(&s![3..-1]) + u.slice(&s![4..]);
    let next = around - u.slice(&s![2..-2]) * 4.0;
    let (launches, messages) = counted(&team, || next.eval());
    // The result lies where the first slice does, so the others are read from one side: three pairs of
    // neighbours.
    assert_eq!((fused(&launches), messages), (4, 3), "{launches:?}");
    same(&next, |p| {
        at(p[0], p[1]) + at(p[0] + 1, p[1]) + at(p[0] + 3, p[1]) + at(p[0] + 4, p[1])
            - 4.0 * at(p[0] + 2, p[1])
    });
}

#[test]
fn slices_in_steps_share_one_halo() {
    let team = team(4);
    let u = array(&team, &slabs(&[41, 6], 4));
    let at = |i: i64, j: i64| [i, j].iter().fold(3, |n, i| (5 * n + i) % 127) as f32;
    // From a fine grid to a coarse one: three parameters of one kernel, one plan.
    let coarse = u.slice(&s![1..-1; 2]) * 2.0 + u.slice(&s![..-2; 2]) + u.slice(&s![2..; 2]);
    let (launches, messages) = counted(&team, || coarse.eval());
    assert_eq!(fused(&launches), 4, "{launches:?}");
    assert!(messages <= 6, "{messages}");
    same(&coarse, |p| 2.0 * at(2 * p[0] + 1, p[1]) + at(2 * p[0], p[1]) + at(2 * p[0] + 2, p[1]));
    // Neighbours along a flipped dimension.
    let flipped = u.flip(0);
    let slopes = flipped.slice(&s![1..]) - flipped.slice(&s![..-1]);
    let (launches, messages) = counted(&team, || slopes.eval());
    assert!(fused(&launches) == 4 && messages <= 6, "{launches:?} {messages}");
    same(&slopes, |p| at(39 - p[0], p[1]) - at(40 - p[0], p[1]));
}

#[test]
fn an_operand_on_other_maps_comes_once_however_often_it_is_read() {
    let team = team(4);
    let cyclic = Distribution::builder(&[42, 3]).grid(&[4, 1]).map(0, DimMap::cyclic(42, 4, 1).unwrap());
    let (u, v) = (array(&team, &slabs(&[40, 3], 4)), array(&team, &cyclic.build().unwrap()));
    let at = |i: i64, j: i64| [i, j].iter().fold(3, |n, i| (5 * n + i) % 127) as f32;
    let once = &u + &v.slice(&s![1..-1]);
    let (_, single) = counted(&team, || once.eval());
    let thrice = &u + &(v.slice(&s![..-2]) - v.slice(&s![1..-1]) + v.slice(&s![2..]));
    let (launches, all) = counted(&team, || thrice.eval());
    assert_eq!((fused(&launches), all), (4, single), "{launches:?}");
    same(&thrice, |p| at(p[0], p[1]) + at(p[0], p[1]) - at(p[0] + 1, p[1]) + at(p[0] + 2, p[1]));
    // Blocks along one dimension and not along the other: shifts along the blocks are there too.
    let mixed = Distribution::builder(&[12, 8]).grid(&[2, 2]).map(1, DimMap::cyclic(8, 2, 1).unwrap());
    let (a, b) = (
        array(&team, &Distribution::builder(&[10, 8]).grid(&[2, 2]).build().unwrap()),
        array(&team, &mixed.build().unwrap()),
    );
    let sum = &a + &(b.slice(&s![..-2]) + b.slice(&s![2..]));
    same(&sum, |p| at(p[0], p[1]) + at(p[0], p[1]) + at(p[0] + 2, p[1]));
}

#[test]
fn the_smaller_side_travels() {
    let team = team(4);
    let (rows, columns) =
        (slabs(&[24, 24], 4), Distribution::builder(&[24, 24]).grid(&[1, 4]).build().unwrap());
    let [a, b, c] = [(); 3].map(|()| array(&team, &rows));
    let mut w = array(&team, &columns);
    let at = |p: &[i64]| p.iter().fold(3, |n, i| (5 * n + i) % 127) as f32;
    // Three operands would be 36 messages; their result is 12.
    let (launches, messages) = counted(&team, || w.assign(&s![..], &(&a + &b * 2.0 - &c)));
    assert_eq!(messages, 12, "{launches:?}");
    same(&w, |p| 2.0 * at(p));
    // A part of an expression whose other operands are at home.
    let mixed = &w + &(&a + &b + &c);
    let (_, messages) = counted(&team, || mixed.eval());
    assert_eq!(messages, 12);
    same(&mixed, |p| 5.0 * at(p));
    // One operand comes itself: its kernel is the only one.
    let (launches, messages) = counted(&team, || (&w + &a * 2.0).eval());
    assert_eq!((fused(&launches), messages), (4, 12), "{launches:?}");
    // Four bytes each of two operands, one of their comparison.
    let (launches, messages) = counted(&team, || w.less(1e9).select(&w, &a.less(&b).select(&w, &w)).eval());
    assert_eq!((fused(&launches), messages), (8, 12), "{launches:?}");
}

#[test]
fn chains_are_one_kernel_and_shared_parts_are_computed_once() {
    let team = team(2);
    let u = array(&team, &slabs(&[30, 4], 2));
    let shared = u.sin().exp();
    let (a, b) = (&shared * 2.0, &shared + 1.0);
    let (launches, messages) = counted(&team, || eval_all(&[&a, &b]));
    assert_eq!((launches.len(), messages), (2, 0), "{launches:?}");
    // The chain's windows and its result have one target.
    let chain = (0..6).fold(u.slice(&s![1..]) * 0.5, |x, k| x.sqrt() + u.slice(&s![..-1]) * f64::from(k));
    let (launches, messages) = counted(&team, || chain.eval());
    assert_eq!((fused(&launches), messages), (2, 1), "{launches:?}");
    // Not requested, not computed; and what is computed is not computed again.
    let dead = u.exp() + 1.0;
    let (launches, _) = counted(&team, || eval_all(&[&a, &b, &chain]));
    assert_eq!(launches.len(), 0, "{launches:?}");
    drop(dead);
}

#[test]
fn what_several_kernels_need_is_computed_once() {
    let team = team(2);
    let u = array(&team, &slabs(&[30, 4], 2));
    // Three results of three layouts.
    let of = |heavy: &Array| [heavy.slice(&s![..-1]) * 2.0, heavy.transpose(&[1, 0]) + 1.0, heavy.sum(&[])];
    let heavy = u.sin().exp().sin();
    let [a, b, c] = of(&heavy);
    let (launches, _) = counted(&team, || eval_all(&[&a, &b, &c]));
    assert_eq!(fused(&launches), 6, "the common one, and one for each of two results: {launches:?}");
    // One operation is cheaper than a trip through memory.
    let [a, b, c] = of(&(&u + 1.0));
    let (launches, _) = counted(&team, || eval_all(&[&a, &b, &c]));
    assert_eq!(fused(&launches), 4, "{launches:?}");
    // So is what a kernel shares with the reduction that it waits for.
    let of = |x: &Array| x / &x.sum(&[]);
    let (launches, _) = counted(&team, || of(&u.sin().exp().sin()).eval());
    assert_eq!(fused(&launches), 4, "{launches:?}");
    let (launches, _) = counted(&team, || of(&u.exp()).eval());
    assert_eq!(fused(&launches), 2, "{launches:?}");
    // What is stored anyway is read back only if it is heavy: reading it back may need its halo.
    let of = |x: &Array| (x.sum(&[]), x.clone());
    let (sum, x) = of(&(&u + 1.0));
    let (launches, _) = counted(&team, || eval_all(&[&sum, &x]));
    assert_eq!(launches[..2], ["reduce", "reduce"], "{launches:?}");
    let (sum, x) = of(&u.sin().exp().sin());
    let (launches, _) = counted(&team, || eval_all(&[&sum, &x]));
    assert_eq!(launches[..3], ["fused", "fused", "reduce"], "{launches:?}");
}

#[test]
fn a_divided_diamond_reads_what_was_stored_on_the_way() {
    let team = team(1);
    let long = |x: &Array| (0..3000).fold(x * 0.5, |x, _| x * 0.999 + 0.001);
    let u = array(&team, &slabs(&[64], 1));
    let (single, _) = counted(&team, || long(&u).eval());
    assert!(single.len() > 1, "the chain was meant to be too long for one kernel");
    let x = long(&u);
    let (left, right) = (&x * 2.0, &x - 1.0);
    let (diamond, _) = counted(&team, || (&left / &right).eval());
    assert_eq!(diamond.len(), single.len());
}

#[test]
fn halos_are_exchanged_when_they_are_stale_and_only_then() {
    let team = team(3);
    let dist = slabs(&[30, 5], 3);
    let (mut u, mut v) = (array(&team, &dist), array(&team, &dist));
    let slope = |u: &Array| u.slice(&s![2..]) - u.slice(&s![..-2]);
    let messages = |step: &mut dyn FnMut() -> partita::Result<()>| counted(&team, step).1;
    assert_eq!(messages(&mut || slope(&u).eval()), 2);
    assert_eq!(messages(&mut || slope(&u).eval()), 0, "still valid");
    assert_eq!(messages(&mut || (u.slice(&s![1..]) * 2.0 - u.slice(&s![..-1])).eval()), 0, "as valid");
    let twice = &v * 2.0;
    assert_eq!(messages(&mut || v.assign(&s![3..5], &(v.slice(&s![3..5]) + 1.0))), 0);
    assert_eq!(messages(&mut || slope(&u).eval()), 0, "another array's assignment");
    u.assign(&s![3..5], &(u.slice(&s![3..5]) + 1.0)).unwrap();
    assert_eq!(messages(&mut || slope(&u).eval()), 2, "its own");
    drop(twice);
}

#[test]
fn an_assignment_computes_its_own_array_and_no_other() {
    let team = team(2);
    let dist = slabs(&[20], 2);
    let (mut u, v) = (array(&team, &dist), array(&team, &dist));
    let at = |i: i64| ((15 + i) % 127) as f32;
    let waiting = v.sin();
    let (launches, _) = counted(&team, || u.assign(&s![1..], &u.slice(&s![..-1])));
    let names: Vec<&String> = launches.iter().filter(|name| !name.starts_with("copy_box")).collect();
    assert_eq!(names, ["fused", "fused"], "one per part, and nothing of the other array");
    same(&u, |p| at((p[0] - 1).max(0)));
    let (launches, _) = counted(&team, || waiting.eval());
    assert_eq!(fused(&launches), 2);
    // In steps, with both sides the same array.
    let mut w = array(&team, &dist);
    w.assign(&s![..; 2], &w.slice(&s![1..; 2])).unwrap();
    same(&w, |p| at(p[0] | 1));
    w.assign(&s![..; -1], &(w.slice(&s![..]) + 0.0)).unwrap();
    same(&w, |p| at((19 - p[0]) | 1));
}

#[test]
fn of_halos_that_fit_only_one_by_one_the_second_comes_as_boxes() {
    let team = team(4);
    let u = array(&team, &slabs(&[24], 4));
    let at = |i: i64| ((15 + i) % 127) as f32;
    // Parts of 6 cells: even cells from 6 below, odd ones from 6 above. Both halos would take more memory
    // than the array itself.
    let even = u.slice(&s![6..18; 2]) + u.slice(&s![..12; 2]) * 2.0;
    let odd = u.slice(&s![7..19; 2]) * 3.0 - u.slice(&s![13..; 2]);
    for alone in [&even, &odd] {
        // After a copy to memory with room for the halo.
        let said = alone.explain().unwrap();
        assert_eq!(said.kernels.len(), 2, "{said}");
        assert!(said.kernels[1].exchanges.iter().all(|exchange| exchange.what == "halo"), "{said}");
    }
    let both = even + odd;
    let said = both.explain().unwrap();
    let ways: Vec<&str> = said.kernels[1].exchanges.iter().map(|exchange| exchange.what).collect();
    assert_eq!(ways, ["halo", "boxes"], "{said}");
    same(&both, |p| {
        let i = 2 * p[0];
        at(i + 6) + 2.0 * at(i) + 3.0 * at(i + 7) - at(i + 13)
    });
}

#[test]
fn a_result_that_another_result_needs_first_is_computed_once() {
    let team = team(3);
    let u = array(&team, &slabs(&[9, 8], 3));
    let at = |p: &[i64]| p.iter().fold(3, |n, i| (5 * n + i) % 127) as f32;
    let least = u.min(&[]).item::<f32>().unwrap();
    let three = Array::full(&team, &slabs(&[], 3), 3.0f32.into()).unwrap();
    three.eval().unwrap();
    let small = (&three + u.min(&[]).squeeze(&[0, 1])) * 0.5;
    let wide = &u * 0.5 + &small;
    let (launches, _) = counted(&team, || eval_all(&[&wide, &small]));
    assert_eq!(fused(&launches), 3 + 1, "{launches:?}");
    same(&small, |_| (least + 3.0) * 0.5);
    same(&wide, |p| at(p) * 0.5 + (least + 3.0) * 0.5);
}
