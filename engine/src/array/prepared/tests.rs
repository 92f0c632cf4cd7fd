//! Programs that keep what they prepare give the same bits and count the same messages as programs that forget
//! it before every evaluation. Their forms come from few operations, constants, windows and layouts, so that
//! many of them differ in one thing only.

use super::{MAX_KEPT, kept};
use crate::array::{eval_all, ops::Operand};
use crate::prelude::*;

/// Numbers without pattern (Knuth's 64-bit congruential generator, its upper bits).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// One of few divisions of 7 x 4 cells over three parts.
fn division(kind: u64) -> Distribution {
    let cells = Distribution::builder(&[7, 4]);
    let divided = match kind {
        0 => cells.parts(3).halo(&[1, 1], &[1, 1]).build(),
        1 => cells.grid(&[3, 1]).bounds(0, &[0, 1, 5, 7]).build(),
        2 => cells.grid(&[1, 3]).periodic(&[true, true]).halo(&[1, 1], &[1, 1]).build(),
        _ => cells.grid(&[3, 1]).cyclic(0, 1).build(),
    };
    divided.unwrap()
}

/// What is inside the rim, 5 x 2 cells, moved by -1, 0 or 1; along whole columns where rows are dealt out.
fn window(array: &Array, numbers: &mut Numbers) -> Array {
    let mut from = || numbers.below(3) as i64;
    let (row, column) = (from(), from());
    let column = if array.distribution().unwrap().map(0).is_block() { column } else { 1 };
    array.slice(&s![row..row + 5, column..column + 2])
}

fn expression(arrays: &[Array], numbers: &mut Numbers, depth: u32) -> Array {
    let array = &arrays[numbers.below(arrays.len() as u64) as usize];
    if depth == 0 {
        return match numbers.below(6) {
            0 => array.slice(&s![1..2, 1..3]) + window(array, numbers),
            1 => {
                let dist = array.distribution().unwrap();
                let dim = numbers.below(2) as usize;
                window(&Array::coordinate(array.team(), &dist, dim, DType::F32).unwrap(), numbers)
            }
            2 => (0.0f64).operand(array).slice(&s![1..6, 1..3]) + [0.5, 2.0][numbers.below(2) as usize],
            _ => window(array, numbers),
        };
    }
    let one = expression(arrays, numbers, depth - 1);
    match numbers.below(9) {
        0 => -one,
        1 => one.abs(),
        2 => one.cast(if numbers.below(2) == 0 { DType::I32 } else { DType::I8 }).cast(DType::F32),
        3 => one * [0.5, 2.0][numbers.below(2) as usize],
        4 => &one - &one * &one,
        op => {
            let two = expression(arrays, numbers, depth - 1);
            match op {
                5 => one + two,
                6 => one - two,
                7 => one.less(&two).select(&two, &one),
                _ => one.minimum(&two),
            }
        }
    }
}

/// Runs a program; the bytes and the messages after each of its steps.
fn run(team: &Team, seed: u64, forgets: bool) -> Vec<(Vec<u8>, u64)> {
    let mut numbers = Numbers(seed);
    let dist = division(numbers.below(4));
    let mut array = || {
        let scale = numbers.below(100) as f32 - 50.0;
        Array::from_fn(team, &dist, |at| scale * (at[0] as f32 - 0.3 * at[1] as f32)).unwrap()
    };
    let mut arrays = [array(), array()];
    let begun = team.messages();
    let mut seen = Vec::new();
    for _ in 0..8 {
        if forgets {
            *kept(team) = super::Kept::default();
        }
        let depth = numbers.below(3) as u32;
        let value = expression(&arrays, &mut numbers, depth);
        let at = numbers.below(2) as usize;
        let read = match numbers.below(4) {
            0 => {
                arrays[at].assign(&s![1..6, 1..3], &value).unwrap();
                arrays[at].clone()
            }
            1 => {
                let row = numbers.below(6) as i64;
                arrays[at].assign(&s![row..row + 1, 1..3], &value.slice(&s![1..2])).unwrap();
                arrays[at].clone()
            }
            2 => {
                let other = expression(&arrays, &mut numbers, depth);
                eval_all(&[&value, &other]).unwrap();
                value - other
            }
            _ => value,
        };
        seen.push((read.to_bytes().unwrap(), team.messages() - begun));
    }
    seen
}

#[test]
fn what_is_prepared_computes_what_would_be_computed() {
    let teams = [(); 2].map(|()| Team::on(&[Device::host()], 3).unwrap());
    let programs = 250;
    for seed in 0..programs {
        let (keeps, forgets) = (run(&teams[0], seed, false), run(&teams[1], seed, true));
        for (step, (kept, forgotten)) in keeps.iter().zip(&forgets).enumerate() {
            assert_eq!(kept, forgotten, "program {seed}, step {step}");
        }
    }
    let (forms, found) = (kept(&teams[0]).prepared.len(), kept(&teams[0]).found);
    println!("{forms} forms, found {found} times in {} evaluations", programs * 8);
    println!("ran: prepared-found {found}");
    assert!(forms > 100 && found > 1000);
}

#[test]
fn what_is_kept_is_bounded_and_forgotten_with_the_team() {
    let team = Team::on(&[Device::host()], 2).unwrap();
    let dist = Distribution::builder(&[4]).parts(2).build().unwrap();
    let x = Array::from_fn(&team, &dist, |at| at[0] as f32).unwrap();
    let count = || std::sync::Arc::strong_count(x.node.storage().as_ref().unwrap());
    let before = count();
    let mut weights = Vec::new();
    for n in 0..2000 {
        // Forms of 21 nodes, each with a constant of its own.
        let y = (0..10).fold(x.clone(), |y, _| y * f64::from(n));
        y.eval().unwrap();
        weights.push(kept(&team).weight);
    }
    assert!(weights.iter().all(|&weight| weight <= MAX_KEPT), "{weights:?}");
    assert!(weights.windows(2).any(|pair| pair[1] < pair[0]), "the bound was not reached");
    let weight: usize = kept(&team).prepared.values().map(|prepared| prepared.weight()).sum();
    assert_eq!(weight, kept(&team).weight);
    assert_eq!(count(), before, "what is kept holds on to no memory");
    let weak = std::sync::Arc::downgrade(&kept(&team).prepared.values().next().unwrap().clone());
    drop((x, team));
    assert!(weak.upgrade().is_none());
}
