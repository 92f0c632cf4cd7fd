//! Scans against their definition, to the bit: on every kind of map, number of parts, axis and device.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;

use found::{devices, grids, ran};
use partita::array::Stride;
use partita::index::{DimMap, ProcessGrid};
use partita::prelude::*;

/// What an operation does with two values, and the value that changes nothing.
type Fold<T> = (fn(T, T) -> T, T);

/// The total of a run: adjacent pairs, level by level.
fn total<T: Copy>(run: &[T], (op, neutral): Fold<T>) -> T {
    let mut level = run.to_vec();
    while level.len() > 1 {
        level = level.chunks(2).map(|pair| pair[1..].iter().fold(pair[0], |a, &b| op(a, b))).collect();
    }
    level.into_iter().fold(neutral, op)
}

/// The definition of [`Array::scan`], and of [`Array::scan_before`].
fn defined<T: Copy>(values: &[T], fold: Fold<T>, exclusive: bool) -> Vec<T> {
    let (op, neutral) = fold;
    let starts = match values.len() {
        0..=16 => vec![neutral],
        _ => {
            let totals: Vec<T> = values.chunks(16).map(|run| total(run, fold)).collect();
            defined(&totals, fold, true)
        }
    };
    let mut scanned = Vec::new();
    for (run, start) in values.chunks(16).zip(starts) {
        let mut sum = start;
        for &value in run {
            let next = op(sum, value);
            scanned.push(if exclusive { sum } else { next });
            sum = next;
        }
    }
    scanned
}

/// The definition along one axis of an array in C order.
fn along<T: Copy>(values: &[T], shape: &[i64], axis: usize, fold: Fold<T>, exclusive: bool) -> Vec<T> {
    let inner: usize = shape[axis + 1..].iter().product::<i64>() as usize;
    let length = shape[axis] as usize;
    let mut result = values.to_vec();
    for line in 0..values.len() / length {
        let first = line / inner * inner * length + line % inner;
        let places = || (0..length).map(|i| first + i * inner);
        let scanned = defined(&places().map(|at| values[at]).collect::<Vec<T>>(), fold, exclusive);
        places().zip(scanned).for_each(|(at, value)| result[at] = value);
    }
    result
}

/// Every kind of map of one dimension.
fn maps(size: i64, parts: usize) -> Vec<DimMap> {
    let cuts: Vec<i64> = (0..=parts as i64).map(|p| size * p * p / (parts * parts) as i64).collect();
    let lists: Vec<Vec<i64>> =
        (0..parts).map(|p| (0..size).rev().filter(|i| (i * 7 + 3) as usize % parts == p).collect()).collect();
    vec![
        DimMap::even(size, parts).unwrap(),
        DimMap::irregular(&cuts).unwrap(),
        DimMap::cyclic(size, parts, 3).unwrap(),
        DimMap::unstructured(&lists, true).unwrap(),
        DimMap::replicated(size, parts).unwrap(),
    ]
}

fn value(at: usize) -> f32 {
    ((at * 2_654_435_761) % 10_007) as f32 / 7.0 - 500.0
}

#[test]
fn lines_on_every_kind_of_map_give_the_bits_of_the_definition() {
    for device in devices() {
        let is_host = device.kind() == DeviceKind::Host;
        let (sizes, parts): (&[i64], &[usize]) = match is_host {
            true => (&[1, 16, 17, 100, 257, 5000, 70_000], &[1, 2, 3, 4, 7, 8]),
            false => (&[5, 17, 300, 4500], &[1, 3, 4]),
        };
        let mut cases = 0;
        for (&size, &parts) in sizes.iter().flat_map(|size| parts.iter().map(move |parts| (size, parts))) {
            let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
            for map in maps(size, parts) {
                let grid = ProcessGrid::new(&[parts as i64]).unwrap();
                let dist = Distribution::builder(&[size]).grid(grid.shape()).map(0, map).build().unwrap();
                let values: Vec<f32> = (0..size as usize).map(value).collect();
                let array = Array::from_slice(&team, &dist, &values).unwrap();
                for exclusive in [false, true] {
                    let sums = if exclusive {
                        array.scan_before(0, FoldOp::Sum)
                    } else {
                        array.scan(0, FoldOp::Sum)
                    };
                    let expected = defined(&values, (|a, b| a + b, 0.0), exclusive);
                    let given = sums.to_vec::<f32>().unwrap();
                    assert!(
                        given.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits()),
                        "{device:?} {dist} {exclusive}: {given:?}, expected {expected:?}"
                    );
                    assert_eq!(*sums.distribution().unwrap(), dist);
                    cases += 1;
                }
            }
        }
        ran("scan-lines", &device, cases);
    }
}

#[test]
fn every_axis_and_operation() {
    let wrapping: [(FoldOp, Fold<i32>); 4] = [
        (FoldOp::Sum, (i32::wrapping_add, 0)),
        (FoldOp::Product, (i32::wrapping_mul, 1)),
        (FoldOp::Min, (i32::min, i32::MAX)),
        (FoldOp::Max, (i32::max, i32::MIN)),
    ];
    for device in devices() {
        let mut cases = 0;
        for (shape, parts) in
            [(vec![37, 41], 4), (vec![300, 7], 3), (vec![3, 19, 35], 2), (vec![2, 2, 2, 2, 2, 2, 33], 1)]
        {
            let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
            let cells: i64 = shape.iter().product();
            let values: Vec<i32> = (0..cells).map(|at| (at * 48_271 % 1009) as i32 - 500).collect();
            for grid in grids(parts) {
                let mut whole = vec![1; shape.len()];
                (whole[0], whole[1]) = (grid[0], grid[1]);
                let dist = Distribution::builder(&shape).grid(&whole).build().unwrap();
                let array = Array::from_slice(&team, &dist, &values).unwrap();
                for (axis, (op, fold)) in (0..shape.len()).flat_map(|axis| wrapping.map(|fold| (axis, fold)))
                {
                    let expected = along(&values, &shape, axis, fold, false);
                    assert_eq!(
                        array.scan(axis, op).to_vec::<i32>().unwrap(),
                        expected,
                        "{device:?} {dist} {axis} {op:?}"
                    );
                    cases += 1;
                }
                // Operands that are computed on the way, or views.
                let flipped = array.rearranged(
                    &(0..shape.len())
                        .map(|dim| Stride::Of {
                            dim,
                            start: if dim == 1 { shape[1] - 1 } else { 0 },
                            step: if dim == 1 { -1 } else { 1 },
                            count: shape[dim],
                        })
                        .collect::<Vec<_>>(),
                );
                let sums = (&flipped + 1.0).scan(1, FoldOp::Sum) * 2.0;
                let plus: Vec<i32> = flipped.to_vec::<i32>().unwrap().iter().map(|v| v + 1).collect();
                let expected = along(&plus, &shape, 1, (i32::wrapping_add, 0), false);
                let expected: Vec<i32> = expected.iter().map(|v| v * 2).collect();
                assert_eq!(sums.to_vec::<i32>().unwrap(), expected, "{device:?} {dist}");
            }
        }
        ran("scan-axes", &device, cases);
    }
}

/// A sum over what is before, against a sum over what is after: `<S x, y> = <x, S' y>`, in integers.
#[test]
fn the_adjoint_scans_from_the_other_end() {
    let mut cases = 0;
    for parts in [1, 2, 3, 4, 7, 8] {
        let team = Team::on(&[Device::host()], parts).unwrap();
        let dist = Distribution::default_partition(parts, &[533]).unwrap();
        let x = Array::from_fn(&team, &dist, |at| at[0] * 31 % 97 - 40).unwrap();
        let y = Array::from_fn(&team, &dist, |at| at[0] * 57 % 89 - 30).unwrap();
        let flip = |a: &Array| a.rearranged(&[Stride::Of { dim: 0, start: 532, step: -1, count: 533 }]);
        let left = (x.cumulative_sum(0) * &y).sum(&[]).item::<i64>().unwrap();
        let right = (&x * flip(&flip(&y).cumulative_sum(0))).sum(&[]).item::<i64>().unwrap();
        assert_eq!(left, right);
        cases += 1;
    }
    println!("ran: scan-adjoints {cases}");
}

#[test]
fn types_and_refusals() {
    let team = Team::on(&[Device::host()], 2).unwrap();
    let dist = Distribution::default_partition(2, &[5]).unwrap();
    let small = Array::from_slice(&team, &dist, &[100i8, 100, 100, -1, 1]).unwrap();
    assert_eq!(small.cumulative_sum(0).to_vec::<i64>().unwrap(), [100, 200, 300, 299, 300]);
    assert_eq!(small.scan(0, FoldOp::Sum).to_vec::<i8>().unwrap(), [100, -56, 44, 43, 44]);
    let half = small.cast(DType::F16).cumulative_sum(0);
    assert_eq!(
        (half.dtype(), half.cast(DType::F32).to_vec::<f32>().unwrap()),
        (DType::F16, vec![100.0, 200.0, 300.0, 299.0, 300.0])
    );
    let truth = small.cast(DType::Bool);
    assert_eq!(truth.cumulative_sum(0).to_vec::<i64>().unwrap(), [1, 2, 3, 4, 5]);
    assert_eq!(truth.scan(0, FoldOp::All).cast(DType::U8).to_vec::<u8>().unwrap(), [1; 5]);
    assert!(small.scan(1, FoldOp::Sum).eval().unwrap_err().to_string().contains("axis below 1"));
    assert!(truth.scan(0, FoldOp::Sum).eval().unwrap_err().to_string().contains("type with Sum"));
    let empty = Array::zeros(&team, &Distribution::default_partition(2, &[0]).unwrap(), DType::F32).unwrap();
    assert_eq!(empty.cumulative_sum(0).to_vec::<f32>().unwrap(), [0.0; 0]);
}

#[test]
fn explain_names_what_travels() {
    let team = Team::on(&[Device::host()], 2).unwrap();
    let exchanges = |size: i64| {
        let dist = Distribution::default_partition(2, &[size]).unwrap();
        let sums = Array::zeros(&team, &dist, DType::F64).unwrap().cumulative_sum(0);
        let steps = sums.explain().unwrap().kernels;
        let exchanges = steps.iter().flat_map(|step| &step.exchanges);
        exchanges.map(|exchange| (exchange.what, exchange.bytes())).collect::<Vec<_>>()
    };
    // Two totals of 4096 elements each way; cut at 4096 of 10000, 904 elements move.
    assert_eq!(exchanges(16_384), [("totals", 32)]);
    assert_eq!(exchanges(10_000)[0], ("lines cut elsewhere", 904 * 8));
}

#[test]
fn a_scan_that_runs_out_of_memory_half_way_can_be_computed_later() {
    let device = Device::host();
    let team = Team::on(std::slice::from_ref(&device), 1).unwrap();
    let dist = Distribution::builder(&[1 << 16]).build().unwrap();
    let ones = Array::from_fn(&team, &dist, |_| 1i64).unwrap();
    let sums = ones.cumulative_sum(0);
    // Room for the result, but not for the totals of its runs.
    device.set_budget(Some(device.memory().in_use_bytes + (1 << 19) + 1024));
    let refused = sums.eval().unwrap_err();
    assert!(matches!(refused, partita::Error::OutOfMemory { .. }), "{refused}");
    assert!(!sums.is_computed());
    device.set_budget(None);
    assert_eq!(sums.to_vec::<i64>().unwrap(), (1..=1 << 16).collect::<Vec<i64>>());
}
