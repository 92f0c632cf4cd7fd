//! Sums of floats: the error of plain sums, and that reproducible sums are the correctly rounded sum on
//! every layout and device.
#![allow(missing_docs, clippy::unwrap_used)]

mod agreement;
mod found;

use agreement::{hard_summands, nearest_sum};
use found::{PARTS, devices, ran};
use partita::index::DimMap;
use partita::prelude::*;
use partita::wire::threads;
use partita_kernels::Scalar;

/// A simulated device is not for long arrays.
fn is_slow(device: &Device) -> bool {
    device.kind() == DeviceKind::Cuda && std::env::var_os("PARTITA_SIM_DEVICES").is_some()
}

/// The difference from the exact sum, and what (log2 N + 4) u sum|x| allows, u being 2^-24.
fn error_and_bound(values: &[f32], given: f32) -> (f64, f64) {
    // A pair of doubles by error-free additions has 106 bits: exact for these.
    let (mut sum, mut lost, mut magnitude) = (0.0f64, 0.0f64, 0.0f64);
    for &value in values {
        let (old, value) = (sum, f64::from(value));
        sum += value;
        let added = sum - old;
        lost += (old - (sum - added)) + (value - added);
        magnitude += value.abs();
    }
    let error = ((f64::from(given) - sum) - lost).abs();
    (error, ((values.len() as f64).log2() + 4.0) * 2f64.powi(-24) * magnitude)
}

/// Arrays on which careless sums fail: equal summands, cancelling ones, and a large one in front of many that
/// are each too small to change it, at every distance at which some loop might step.
fn adversaries(n: usize) -> Vec<(String, Vec<f32>)> {
    let small = 0.99 * 2f32.powi(-24);
    let cancelling = |i: usize| [1e8, 1.0, -1e8, 1e-3][i % 4];
    let mut all =
        vec![("equal".to_owned(), vec![0.1; n]), ("cancelling".to_owned(), (0..n).map(cancelling).collect())];
    for shift in (0..n.ilog2()).step_by(2) {
        let first = 1 << shift;
        let value = |i: usize| if i < first { 1.0 } else { small };
        all.push((format!("{first} large ones first"), (0..n).map(value).collect()));
        let value = |i: usize| if i.is_multiple_of(first) { 1.0 } else { small };
        all.push((format!("one large in {first}"), (0..n).map(value).collect()));
    }
    all
}

#[test]
fn plain_sums_are_as_near_as_pairs_would_be() {
    for device in devices() {
        let mut count = 0;
        let lengths =
            if is_slow(&device) { &[4096, 30_000][..] } else { &[4096, 30_000, 1 << 20, 2_500_000] };
        for &n in lengths {
            for (name, values) in adversaries(n) {
                for parts in if n > 100_000 { &[3][..] } else { &[1, 8] } {
                    let team = Team::on(std::slice::from_ref(&device), *parts).unwrap();
                    let dist = Distribution::default_partition(*parts, &[n as i64]).unwrap();
                    let u = Array::from_slice(&team, &dist, &values).unwrap();
                    let (error, bound) = error_and_bound(&values, u.sum(&[]).item::<f32>().unwrap());
                    assert!(error <= bound, "{device:?} {n} {name}, {parts} parts: {error:e} of {bound:e}");
                    count += 1;
                }
            }
        }
        // Along and across rows.
        let shape = [600usize, 70];
        for axis in [0, 1] {
            for (name, values) in adversaries(shape[axis]) {
                let team = Team::on(std::slice::from_ref(&device), 1).unwrap();
                let dist = Distribution::default_partition(1, &shape.map(|e| e as i64)).unwrap();
                let at = |at: &[i64]| values[at[axis] as usize];
                let u = Array::from_fn(&team, &dist, at).unwrap();
                for sum in u.sum(&[axis]).to_vec::<f32>().unwrap() {
                    let (error, bound) = error_and_bound(&values, sum);
                    assert!(error <= bound, "{device:?} axis {axis} {name}: {error:e} of {bound:e}");
                }
                count += 1;
            }
        }
        ran("sum-errors", &device, count);
    }
}

/// Distributions of every kind over so many parts.
fn distributions(n: i64, parts: usize) -> Vec<(&'static str, Distribution)> {
    let of = || Distribution::builder(&[n]).parts(parts);
    let mut bounds: Vec<i64> = (0..=parts as i64).map(|p| n * p * p / (parts * parts) as i64).collect();
    bounds[parts] = n;
    let lists: Vec<Vec<i64>> = (0..parts as i64)
        .map(|p| (0..n).filter(|i| i * 7 % 11 % parts as i64 == p).rev().collect())
        .collect();
    let unstructured = DimMap::unstructured(&lists, true).unwrap();
    vec![
        ("block", of().build().unwrap()),
        ("irregular", of().bounds(0, &bounds).build().unwrap()),
        ("cyclic", of().cyclic(0, 1).build().unwrap()),
        ("block-cyclic", of().cyclic(0, 3).build().unwrap()),
        ("replicated", of().map(0, DimMap::replicated(n, parts).unwrap()).build().unwrap()),
        ("unstructured", of().map(0, unstructured).build().unwrap()),
    ]
}

fn reproducible<T: Element>(team: &Team, dist: &Distribution, bits: &[u64]) -> u64 {
    let scalar = |bits| Scalar { dtype: T::DTYPE, bits };
    let bytes: Vec<u8> =
        bits.iter().flat_map(|&b| scalar(b).to_le_bytes()[..T::DTYPE.size_bytes()].to_vec()).collect();
    let values: Vec<T> = bytemuck::pod_collect_to_vec(&bytes);
    let u = Array::from_slice(team, dist, &values).unwrap();
    let mut sum = u.sum_reproducible(&[]).to_bytes().unwrap();
    sum.resize(8, 0);
    u64::from_le_bytes(sum.try_into().unwrap())
}

fn check<T: Element>(device: &Device, n: i64) -> usize {
    let d = T::DTYPE;
    let is_nan = |bits| Scalar { dtype: d, bits }.to_f64().is_nan();
    let mut count = 0;
    let step = if is_slow(device) { 3 } else { 1 };
    for (name, summands) in hard_summands(d, n as usize, 77).into_iter().step_by(step) {
        let expected = nearest_sum(d, summands.iter().copied());
        let agree = |given: u64| given == expected || is_nan(given) && is_nan(expected);
        for parts in if is_slow(device) { &PARTS[..3] } else { &PARTS } {
            let team = Team::on(std::slice::from_ref(device), *parts).unwrap();
            for (kind, dist) in distributions(n, *parts) {
                let given = reproducible::<T>(&team, &dist, &summands);
                assert!(
                    agree(given),
                    "{device:?} {d} {name}: {parts} parts, {kind}: {given:#x} {expected:#x}"
                );
                count += 1;
            }
        }
        let team = Team::on(std::slice::from_ref(device), 3).unwrap();
        let dist = Distribution::default_partition(3, &[n]).unwrap();
        let mut turned = summands.clone();
        for _ in 0..3 {
            turned.rotate_left(n as usize / 3);
            turned.reverse();
            turned.swap(0, n as usize / 2);
            assert!(agree(reproducible::<T>(&team, &dist, &turned)), "{device:?} {d} {name}, other order");
            count += 1;
        }
    }
    count
}

#[test]
fn reproducible_sums_are_the_exact_ones_rounded_on_every_layout_and_device() {
    for device in devices() {
        let n = if is_slow(&device) { 40 } else { 211 };
        let mut count = check::<f32>(&device, n);
        let team = Team::on(std::slice::from_ref(&device), 1).unwrap();
        let dist = Distribution::default_partition(1, &[2]).unwrap();
        let doubles = Array::from_slice(&team, &dist, &[1.0f64, 2.0]).unwrap();
        match doubles.sum_reproducible(&[]).eval() {
            Ok(()) => count += check::<f64>(&device, n),
            Err(error) => println!("skipped: f64 sums on {device:?} ({error})"),
        }
        ran("reproducible-sums", &device, count);
    }
}

#[test]
fn reproducible_sums_over_some_axes_of_windows_and_of_narrow_types() {
    for device in devices() {
        for parts in [1, 3, 4] {
            let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
            let dist = Distribution::default_partition(parts, &[13, 9]).unwrap();
            let at = |at: &[i64]| (at[0] as f32 - 6.0) * 0.1 + (at[1] as f32).exp2() * 1e-3;
            let u = Array::from_fn(&team, &dist, at).unwrap();
            let exact = |values: Vec<f32>| {
                f32::from_bits(nearest_sum(DType::F32, values.iter().map(|v| v.to_bits().into())) as u32)
            };
            let rows: Vec<f32> = (0..13).map(|i| exact((0..9).map(|j| at(&[i, j])).collect())).collect();
            assert_eq!(u.sum_reproducible(&[1]).to_vec::<f32>().unwrap(), rows, "{device:?} {parts}");
            let columns: Vec<f32> = (0..9).map(|j| exact((0..13).map(|i| at(&[i, j])).collect())).collect();
            assert_eq!(u.sum_reproducible(&[0]).to_vec::<f32>().unwrap(), columns, "{device:?} {parts}");
            let change = u.slice(&s![1.., ..]) - u.slice(&s![..-1, ..]);
            let cells = |i: i64| (0..9).map(move |j| at(&[i + 1, j]) - at(&[i, j]));
            let expected = exact((0..12).flat_map(cells).collect());
            assert_eq!(change.sum_reproducible(&[]).item::<f32>().unwrap(), expected);
            assert_eq!(u.mean_reproducible(&[]).item::<f32>().unwrap(), {
                exact((0..13).flat_map(|i| (0..9).map(move |j| at(&[i, j]))).collect()) / 117.0
            });
            let ones = Array::full(&team, &dist, Scalar::from_f64(DType::F16, 1.0)).unwrap();
            assert_eq!(ones.sum_reproducible(&[]).cast(DType::F32).item::<f32>().unwrap(), 117.0);
            let counts = Array::full(&team, &dist, Scalar::from_i64(DType::I16, 3)).unwrap();
            assert_eq!(counts.sum_reproducible(&[]).item::<i64>().unwrap(), 351);
        }
    }
}

/// In a recorded step nothing is read, so the digits are those of all floats.
#[test]
fn reproducible_sums_in_steps_of_a_loop() {
    let values: Vec<f64> = (0..50).map(|i| (f64::from(i) - 20.5) * 0.1 * f64::from(i - 30).exp2()).collect();
    for dtype in [DType::F32, DType::F64] {
        let team = Team::on(&[Device::host()], 3).unwrap();
        let dist = Distribution::default_partition(3, &[50]).unwrap();
        let start = Array::from_slice(&team, &dist, &values).unwrap().cast(dtype);
        let next = |state: &[Array]| (&state[0] * 1.1, state[0].sum_reproducible(&[]));
        let sum = start.sum_reproducible(&[]);
        let mut run = Loop::new(vec![start.clone(), sum.clone()], |state: &mut [Array]| {
            (state[0], state[1]) = next(state);
            Ok(())
        });
        run.run(9).unwrap();
        assert!(run.is_replaying(), "{dtype}");
        let mut state = [start, sum];
        (0..9).for_each(|_| (state[0], state[1]) = next(&state));
        assert_eq!(run.state()[1].to_bytes().unwrap(), state[1].to_bytes().unwrap(), "{dtype}");
    }
}

#[test]
fn reproducible_sums_over_several_ranks() {
    let at = |at: &[i64]| ((at[0] * 7 + at[1]) as f64 - 100.3) * 0.1 * (at[0] as f64 * 3.0).exp2();
    let sums = |team: &Team, dist: &Distribution| -> partita::Result<Vec<Vec<f64>>> {
        let u = Array::from_fn(team, dist, at)?;
        [&[][..], &[0], &[1]].iter().map(|axes| u.sum_reproducible(axes).to_vec::<f64>()).collect()
    };
    let one = Team::on(&[Device::host()], 1).unwrap();
    let alone = sums(&one, &Distribution::default_partition(1, &[20, 6]).unwrap()).unwrap();
    let shares = [2, 0, 1];
    for result in threads::run(shares.len(), |ranks| {
        let team = Team::over(&ranks, &[Device::host()], shares[ranks.rank()])?;
        let given = [
            sums(&team, &Distribution::default_partition(3, &[20, 6])?)?,
            sums(&team, &Distribution::builder(&[20, 6]).grid(&[3, 1]).cyclic(0, 2).build()?)?,
            sums(
                &team,
                &Distribution::builder(&[20, 6]).grid(&[1, 3]).map(1, DimMap::replicated(6, 3)?).build()?,
            )?,
        ];
        Ok::<_, partita::Error>(given)
    }) {
        assert_eq!(result.unwrap().unwrap(), [alone.clone(), alone.clone(), alone.clone()]);
    }
}
