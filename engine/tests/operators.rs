//! Finite differences and boundary conditions: the formulas to the bit on every division, the stated orders
//! of convergence, and boundary conditions against what padding says.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;

use std::f64::consts::PI;

use found::{devices, ran};
use partita::array::Padding;
use partita::operators::*;
use partita::prelude::*;

const ROWS: i64 = 9;
const COLUMNS: i64 = 7;
const SPACING: [f64; 2] = [0.5, 0.25];
const BOUNDARIES: [Boundary; 6] = [
    Boundary::Open,
    Boundary::Constant(-1.5),
    Boundary::Wrap,
    Boundary::Edge,
    Boundary::Reflect,
    Boundary::Symmetric,
];

fn cell(at: &[i64]) -> f32 {
    ((7 * at[0] + 3 * at[1] * at[1]) % 23) as f32 * 0.37
}

/// The element that stands at a coordinate within or beyond the ends.
fn beyond(boundary: Boundary, at: [i64; 2]) -> f32 {
    let one = |at: i64, n: i64| match boundary {
        Boundary::Open | Boundary::Constant(_) => (0..n).contains(&at).then_some(at),
        Boundary::Wrap => Some(at.rem_euclid(n)),
        Boundary::Edge => Some(at.clamp(0, n - 1)),
        Boundary::Reflect => Some((n - 1) - ((n - 1) - at.abs()).abs()),
        _ => Some(if at < 0 { -1 - at } else { at.min(2 * n - 1 - at) }),
    };
    match (one(at[0], ROWS), one(at[1], COLUMNS), boundary) {
        (Some(i), Some(j), _) => cell(&[i, j]),
        (_, _, Boundary::Constant(value)) => value as f32,
        _ => panic!("{at:?} is unknown"),
    }
}

fn same(given: &Array, inset: [i64; 2], expected: impl Fn(i64, i64) -> f32) {
    let [top, left] = inset;
    let rows = (top..ROWS - top).flat_map(|i| (left..COLUMNS - left).map(move |j| (i, j)));
    let expected: Vec<u32> = rows.map(|(i, j)| expected(i, j).to_bits()).collect();
    let given: Vec<u32> = given.to_vec::<f32>().unwrap().iter().map(|x| x.to_bits()).collect();
    assert_eq!(given, expected);
}

#[test]
fn formulas_hold_to_the_bit_on_every_division() {
    for device in devices() {
        let mut cases = 0;
        for (grid, periodic) in [([1, 1], false), ([3, 1], true), ([2, 2], false), ([1, 4], true)] {
            let team = Team::on(std::slice::from_ref(&device), (grid[0] * grid[1]) as usize).unwrap();
            let builder = Distribution::builder(&[ROWS, COLUMNS]).grid(&grid);
            let u = Array::from_fn(&team, &builder.periodic(&[periodic; 2]).build().unwrap(), cell).unwrap();
            for boundary in BOUNDARIES {
                let at = |i: i64, j: i64| beyond(boundary, [i, j]);
                let inset = i64::from(boundary == Boundary::Open);
                let second = |i: i64, j: i64, [di, dj]: [i64; 2], h: f64| {
                    (at(i + di, j + dj) - at(i, j) * 2.0 + at(i - di, j - dj)) / (h * h) as f32
                };
                same(&laplacian(&u, &SPACING, boundary), [inset; 2], |i, j| {
                    second(i, j, [1, 0], SPACING[0]) + second(i, j, [0, 1], SPACING[1])
                });
                let slope = |k: i64, n: i64, h: f64, at: &dyn Fn(i64) -> f32| {
                    let end = |a: i64, by: i64| {
                        (at(a + by) * 4.0 - at(a) * 3.0 - at(a + 2 * by)) / (2.0 * h * by as f64) as f32
                    };
                    match k {
                        0 if inset == 1 => end(0, 1),
                        k if inset == 1 && k == n - 1 => end(k, -1),
                        k => (at(k + 1) - at(k - 1)) / (2.0 * h) as f32,
                    }
                };
                let down = |i: i64, j: i64| slope(i, ROWS, SPACING[0], &|i| at(i, j));
                let right = |i: i64, j: i64| slope(j, COLUMNS, SPACING[1], &|j| at(i, j));
                let slopes = gradient(&u, &SPACING, boundary);
                same(&slopes[0], [0; 2], down);
                same(&slopes[1], [0; 2], right);
                let field = [u.clone(), u.clone()];
                let flow = divergence(&field, &SPACING, boundary);
                same(&flow, [0; 2], |i, j| down(i, j) + right(i, j));
                // Not symmetric, so that a kernel that is not turned round is noticed.
                let kernel = [0.5, 0.0, 2.0, -1.0, 0.25, 4.0, 0.0, 0.0, 3.0];
                let smooth = convolve(&u, &kernel, &[3, 3], boundary);
                same(&smooth, [inset; 2], |i, j| {
                    let places = (0..9).filter(|&k| kernel[k as usize] != 0.0);
                    let term = |k: i64| at(i + 1 - k / 3, j + 1 - k % 3) * kernel[k as usize] as f32;
                    places.map(term).reduce(|sum, term| sum + term).unwrap()
                });
                cases += 5;
            }
        }
        ran("operators", &device, cases);
    }
}

/// The largest difference of two arrays.
fn error(a: &Array, b: &Array) -> f64 {
    (a - b).abs().max(&[]).item::<f64>().unwrap()
}

/// Asserts that an error falls with the square of the spacing, from `n` to `2 n` cells.
fn second_order(what: &str, error: impl Fn(i64) -> f64) {
    let order = (error(32) / error(64)).log2();
    assert!((order - 2.0).abs() < 0.1, "{what}: order {order}");
}

#[test]
fn errors_fall_with_the_square_of_the_spacing() {
    let team = Team::on(&[Device::host()], 3).unwrap();
    let sampled = |shape: [i64; 2], f: &(dyn Fn(f64, f64) -> f64 + Sync), h: f64| {
        let dist = Distribution::default_partition(3, &shape).unwrap();
        Array::from_fn(&team, &dist, |at| f(at[0] as f64 * h, at[1] as f64 * h)).unwrap()
    };
    let wave = |x: f64, y: f64| x.sin() * (2.0 * y).cos();
    for boundary in [Boundary::Wrap, Boundary::Open] {
        second_order("laplacian", |n| {
            let h = 2.0 * PI / n as f64;
            let bends = laplacian(&sampled([n, n], &wave, h), &[h, h], boundary);
            let exact = sampled([n, n], &|x, y| -5.0 * wave(x, y), h);
            let inner = if boundary == Boundary::Open { exact.slice(&s![1..-1, 1..-1]) } else { exact };
            error(&bends, &inner)
        });
        second_order("gradient", |n| {
            let h = 2.0 * PI / n as f64;
            let slopes = gradient(&sampled([n, n], &wave, h), &[h, h], boundary);
            error(&slopes[0], &sampled([n, n], &|x, y| x.cos() * (2.0 * y).cos(), h))
        });
        second_order("divergence", |n| {
            let h = 2.0 * PI / n as f64;
            let field = [sampled([n, n], &wave, h), sampled([n, n], &|x, y| y.sin() + x.cos(), h)];
            let exact = |x: f64, y: f64| x.cos() * (2.0 * y).cos() + y.cos();
            error(&divergence(&field, &[h, h], boundary), &sampled([n, n], &exact, h))
        });
    }
    // At the last point a function that is even about it is mirrored: cos about 0 and about pi.
    second_order("laplacian with mirrors", |n| {
        let h = PI / n as f64;
        let even = |x: f64, y: f64| x.cos() + y.cos();
        let u = sampled([n + 1, n + 1], &even, h);
        error(&laplacian(&u, &[h, h], Boundary::Reflect), &(-&u))
    });
}

#[test]
fn boundary_conditions_are_paddings_of_what_is_inside() {
    for parts in [1, 3, 4] {
        let team = Team::on(&[Device::host()], parts).unwrap();
        let dist = Distribution::default_partition(parts, &[ROWS, COLUMNS]).unwrap();
        let u = Array::from_fn(&team, &dist, cell).unwrap();
        let padded = |with: Padding, w: i64| u.pad(&[(w, w), (w, w)], with);
        // Whatever stands at the border is replaced.
        let blank = |w: i64| padded(Padding::Constant(Scalar::from_f64(DType::F32, 99.0)), w);
        let equal = |given: &Array, expected: &Array| {
            assert_eq!(given.to_vec::<f32>().unwrap(), expected.to_vec::<f32>().unwrap());
        };
        for w in [1, 2] {
            let mut ends = [(); 3].map(|()| blank(w));
            for axis in [0, 1] {
                periodic(&mut ends[0], axis, w).unwrap();
                for side in [Side::Low, Side::High] {
                    mirror(&mut ends[1], axis, side, w).unwrap();
                    dirichlet(&mut ends[2], axis, side, w, 0.5).unwrap();
                }
            }
            equal(&ends[0], &padded(Padding::Wrap, w));
            equal(&ends[1], &padded(Padding::Reflect, w));
            equal(&ends[2], &padded(Padding::Constant(Scalar::from_f64(DType::F32, 0.5)), w));
        }
        let mut sloping = u.pad(&[(1, 1), (0, 0)], Padding::Edge);
        neumann(&mut sloping, 0, Side::Low, 2.0, 0.5).unwrap();
        neumann(&mut sloping, 0, Side::High, 0.0, 0.5).unwrap();
        let mut expected = u.pad(&[(1, 1), (0, 0)], Padding::Edge);
        expected.assign(&s![..1], &(u.slice(&s![..1]) + 1.0)).unwrap();
        equal(&sloping, &expected);
    }
}

#[test]
fn misuse_is_refused() {
    let team = Team::on(&[Device::host()], 2).unwrap();
    let array = |shape: &[i64]| {
        Array::from_fn(&team, &Distribution::default_partition(2, shape).unwrap(), |at| at[0] as f32).unwrap()
    };
    let (mut u, thin) = (array(&[8, 8]), array(&[8, 2]));
    let open = Boundary::Open;
    assert!(
        laplacian(&u, &[1.0], open).recorded().is_err()
            && laplacian(&u, &[1.0, 0.0], open).recorded().is_err()
    );
    assert!(
        laplacian(&thin, &[1.0, 1.0], open).recorded().is_err()
            && gradient(&thin, &[1.0, 1.0], open)[1].recorded().is_err()
    );
    assert!(divergence(std::slice::from_ref(&u), &[1.0], open).recorded().is_err());
    assert!(divergence(&[u.clone(), thin], &[1.0, 1.0], open).recorded().is_err());
    assert!(
        convolve(&u, &[1.0; 4], &[2, 2], open).recorded().is_err()
            && convolve(&u, &[1.0; 2], &[3, 1], open).recorded().is_err()
    );
    assert!(
        dirichlet(&mut u, 2, Side::Low, 1, 0.0).is_err() && neumann(&mut u, 2, Side::Low, 0.0, 1.0).is_err()
    );
    assert!(periodic(&mut u, 0, 3).is_err() && mirror(&mut u, 0, Side::High, 4).is_err());
    // A kernel of zeros is one.
    let nothing = convolve(&u, &[0.0; 9], &[3, 3], open);
    assert_eq!(nothing.to_vec::<f32>().unwrap(), [0.0; 36]);
}
