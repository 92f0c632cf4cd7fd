//! Fourier transforms agree with their definition, and have the same bits on every distribution and device.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;

use std::collections::HashMap;
use std::f64::consts::TAU;
use std::sync::{Mutex, PoisonError};

use found::{devices, ran};
use partita::fourier::{Direction, transformed};
use partita::prelude::*;

/// One test at a time: a step is replayed once its memory repeats, and tests of one device share its pool.
static DEVICES: Mutex<()> = Mutex::new(());

/// Numbers in no order, in [-1, 1).
fn number(seed: i64) -> f64 {
    let mixed = (seed as u64).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as f64 / f64::from(1 << 23) - 1.0
}

fn pairs(shape: &[i64]) -> Vec<f64> {
    (0..shape.iter().product::<i64>()).map(number).collect()
}

/// The sum that defines the transform along one dimension.
fn defined(x: &[f64], shape: &[i64], axis: usize, sign: f64) -> Vec<f64> {
    let n = shape[axis];
    let inner: i64 = shape[axis + 1..].iter().product::<i64>() / 2;
    let at =
        |outer: i64, k: i64, rest: i64, part: i64| (2 * ((outer * n + k) * inner + rest) + part) as usize;
    let mut found = vec![0.0; x.len()];
    for outer in 0..x.len() as i64 / (2 * n * inner) {
        for (k, rest) in (0..n).flat_map(|k| (0..inner).map(move |rest| (k, rest))) {
            for j in 0..n {
                let (sin, cos) = (sign * TAU * (j * k % n) as f64 / n as f64).sin_cos();
                let (re, im) = (x[at(outer, j, rest, 0)], x[at(outer, j, rest, 1)]);
                found[at(outer, k, rest, 0)] += re * cos - im * sin;
                found[at(outer, k, rest, 1)] += re * sin + im * cos;
            }
        }
    }
    found
}

fn error(found: &[f64], expected: &[f64]) -> f64 {
    let norm = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
    norm(&mut found.iter().zip(expected).map(|(a, b)| a - b))
        / norm(&mut expected.iter().copied()).max(1e-300)
}

/// Shapes of complex numbers, and what to transform.
const CASES: [(&[i64], &[usize]); 17] = [
    (&[1], &[0]),
    (&[2], &[0]),
    (&[3], &[0]),
    (&[8], &[0]),
    (&[13], &[0]),
    (&[30], &[0]),
    (&[48], &[0]),
    (&[64], &[0]),
    (&[77], &[0]),
    (&[101], &[0]),
    (&[128], &[0]),
    (&[12, 10], &[0]),
    (&[12, 10], &[1]),
    (&[9, 8], &[0, 1]),
    (&[5, 16, 6], &[2, 0, 1]),
    (&[2, 64, 3], &[1]),
    (&[2, 2, 3, 2, 2, 2], &[2, 0]),
];

fn with_pairs(shape: &[i64]) -> Vec<i64> {
    [shape, &[2]].concat()
}

/// On `parts`, cut along the first dimension, then along the last that is not the pairs'.
fn distributions(shape: &[i64], parts: i64) -> Vec<Distribution> {
    let along = |cut: usize| {
        let grid: Vec<i64> = (0..shape.len()).map(|d| if d == cut { parts } else { 1 }).collect();
        Distribution::builder(shape).grid(&grid)
    };
    let last = shape.len() - 2;
    vec![along(0).build().unwrap(), along(last).build().unwrap(), along(0).cyclic(0, 2).build().unwrap()]
}

#[test]
fn transforms_are_what_defines_them_with_the_same_bits_on_every_layout() {
    let _alone = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
    let mut known = HashMap::new();
    for device in devices() {
        let mut count = 0;
        for (shape, axes) in CASES {
            let shape = with_pairs(shape);
            let given = pairs(&shape);
            for (direction, sign) in [(Direction::Forward, -1.0), (Direction::Inverse, 1.0)] {
                let expected = axes.iter().fold(given.clone(), |x, &axis| defined(&x, &shape, axis, sign));
                for parts in [1, 2, 3, 4, 7] {
                    let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
                    for dist in distributions(&shape, parts as i64) {
                        let narrow: Vec<f32> = given.iter().map(|&x| x as f32).collect();
                        let x = Array::from_slice(&team, &dist, &narrow).unwrap();
                        let found = transformed(&x, axes, direction, 0.5);
                        assert!(found.distribution().unwrap().same_layout(&dist));
                        let found = found.to_vec::<f32>().unwrap();
                        let wide: Vec<f64> = found.iter().map(|&x| 2.0 * f64::from(x)).collect();
                        let what = format!("{device:?} {shape:?} {axes:?} {direction:?} {dist}");
                        let error = error(&wide, &expected);
                        assert!(error < 6e-7, "{what}: {error:e}");
                        let found: Vec<u32> = found.iter().map(|x| x.to_bits()).collect();
                        let first =
                            known.entry((shape.clone(), axes, direction)).or_insert_with(|| found.clone());
                        let first: &Vec<u32> = first;
                        assert_eq!(*first, found, "{what}");
                        count += 1;
                    }
                }
            }
        }
        ran("fourier", &device, count);
    }
}

fn round_trip<T: Element + Copy>(
    device: &Device,
    from: impl Fn(f64) -> T,
    to: impl Fn(T) -> f64,
    allowed: f64,
) {
    for (shape, axes) in CASES {
        let shape = with_pairs(shape);
        let team = Team::on(std::slice::from_ref(device), 3).unwrap();
        let given = pairs(&shape);
        let data: Vec<T> = given.iter().map(|&x| from(x)).collect();
        let x = Array::from_slice(&team, &distributions(&shape, 3)[0], &data).unwrap();
        let back = x.fft(axes).inverse_fft(axes).to_vec::<T>().unwrap();
        let back: Vec<f64> = back.into_iter().map(&to).collect();
        let data: Vec<f64> = data.into_iter().map(&to).collect();
        assert!(error(&back, &data) < allowed, "{device:?} {shape:?} {axes:?}: {:e}", error(&back, &data));
    }
}

#[test]
fn the_inverse_gives_back_what_was_transformed() {
    let _alone = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
    for device in devices() {
        round_trip::<f32>(&device, |x| x as f32, f64::from, 6e-7);
        round_trip::<f64>(&device, |x| x, |x| x, 1e-15);
    }
}

#[test]
fn what_cannot_be_transformed_is_refused() {
    let _alone = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
    let team = Team::on(&[Device::host()], 2).unwrap();
    let of = |shape: &[i64], dtype| {
        let dist = Distribution::builder(shape).parts(2).build().unwrap();
        Array::zeros(&team, &dist, dtype).unwrap()
    };
    let refusal = |x: Array, axes: &[usize]| x.fft(axes).recorded().unwrap_err().to_string();
    assert!(refusal(of(&[4, 3], DType::F32), &[0]).contains("a last dimension of 2, given f32 of shape"));
    assert!(refusal(of(&[4, 2], DType::I32), &[0]).contains("f32 or f64"));
    assert!(refusal(of(&[4, 2], DType::F32), &[1]).contains("dimensions below 1"));
    assert!(refusal(of(&[4, 4, 2], DType::F32), &[1, 1]).contains("each once"));
    assert_eq!(of(&[0, 2], DType::F32).fft(&[0]).to_vec::<f32>().unwrap(), [0.0f32; 0]);
}

/// A Fourier solve, a scan and two redistributions.
fn solved(state: &Array) -> partita::Result<Array> {
    let (shape, own) = (state.shape(), state.distribution()?);
    let spectrum = state.fft(&[0]) * 0.75 + 0.125;
    let smooth = spectrum.inverse_fft(&[0]);
    let sums = smooth.cumulative_sum(0) * 0.01;
    let cyclic = Distribution::builder(&shape).parts(own.parts()).cyclic(0, 3).build()?;
    let back = sums.redistribute(&cyclic).redistribute(&own);
    Ok(smooth * 0.875 + back)
}

#[test]
fn a_loop_replays_transforms_scans_and_redistributions() {
    let _alone = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
    for device in devices() {
        let mut count = 0;
        for n in [24, 13] {
            for parts in [1, 2, 3] {
                let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
                let narrow: Vec<f32> = pairs(&[n, 2]).iter().map(|&x| x as f32).collect();
                let dist = Distribution::builder(&[n, 2]).parts(parts).build().unwrap();
                let start = Array::from_slice(&team, &dist, &narrow).unwrap();
                // No table is there before the first step of the loop.
                let mut run = Loop::new(vec![start.clone()], |state| {
                    state[0] = solved(&state[0])?;
                    Ok(())
                });
                run.run(24).unwrap();
                assert!(run.is_replaying(), "{device:?} {n} {parts}");
                // The tables that the step made are dropped for others, and free memory is written.
                let host = Team::on(&[Device::host()], 1).unwrap();
                for other in 130..180 {
                    let dist = Distribution::builder(&[other, 2]).build().unwrap();
                    Array::zeros(&host, &dist, DType::F32).unwrap().fft(&[0]).eval().unwrap();
                }
                let sizes = [1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 512].iter().cycle().take(150);
                let junk = sizes.map(|&size| {
                    let dist = Distribution::builder(&[size]).build().unwrap();
                    let one = Team::on(std::slice::from_ref(&device), 1).unwrap();
                    Array::from_fn(&one, &dist, |_| 7.0f32).unwrap()
                });
                let junk: Vec<Array> = junk.collect();
                assert_eq!(junk.len(), 150);
                run.run(6).unwrap();
                let expected = (0..30).try_fold(start, |state, _| solved(&state)).unwrap();
                let bits =
                    |x: &Array| x.to_vec::<f32>().unwrap().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&run.state()[0]), bits(&expected), "{device:?} {n} {parts}");
                count += 1;
            }
        }
        ran("loops-of-everything", &device, count);
    }
}
