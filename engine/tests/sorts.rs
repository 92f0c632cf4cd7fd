//! Sorts against the standard library's stable sort, to the bit: on every kind of map, number of parts, axis,
//! element type and device.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;

use std::cmp::Ordering;

use found::{devices, grids, ran};
use partita::index::DimMap;
use partita::prelude::*;

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

/// Few different numbers, both zeros and NaN of several bits.
fn float(at: usize) -> f32 {
    match at * 2_654_435_761 % 10_007 % 23 {
        0 => f32::from_bits(0x7fc0_0000 + at as u32),
        1 => f32::from_bits(0xffc0_0000),
        2 => -0.0,
        3 => 0.0,
        4 => f32::INFINITY,
        5 => f32::NEG_INFINITY,
        other => other as f32 - 12.0,
    }
}

/// The stable order of a line.
fn order<T: Copy + PartialOrd>(line: &[T], descending: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..line.len()).collect();
    let is_nan = |v: T| v.partial_cmp(&v).is_none();
    order.sort_by(|&a, &b| match (is_nan(line[a]), is_nan(line[b])) {
        (true, true) => Ordering::Equal,
        (x, y) if x != y => x.cmp(&y),
        _ if descending => line[b].partial_cmp(&line[a]).unwrap(),
        _ => line[a].partial_cmp(&line[b]).unwrap(),
    });
    order
}

#[test]
fn lines_on_every_kind_of_map_are_in_stable_order() {
    for device in devices() {
        let (sizes, counts): (&[i64], &[usize]) = match device.kind() == DeviceKind::Host {
            true => (&[0, 1, 5, 16, 100, 1001], &[1, 2, 3, 4, 7, 8]),
            false => (&[0, 5, 100], &[1, 3, 4]),
        };
        let mut cases = 0;
        for (&size, &parts) in sizes.iter().flat_map(|size| counts.iter().map(move |parts| (size, parts))) {
            let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
            let floats: Vec<f32> = (0..size as usize).map(float).collect();
            let integers: Vec<i32> = (0..size).map(|at| (at * 48_271 % 1009) as i32 % 37 - 18).collect();
            for (map, descending) in
                maps(size, parts).into_iter().flat_map(|m| [(m.clone(), false), (m, true)])
            {
                let dist = Distribution::builder(&[size]).grid(&[parts as i64]).map(0, map).build().unwrap();
                let array = Array::from_slice(&team, &dist, &floats).unwrap();
                let expected = order(&floats, descending);
                let given = array.argsort(0, descending).to_vec::<i64>().unwrap();
                let what = format!("{device:?} {dist} {descending}");
                assert_eq!(given, expected.iter().map(|&at| at as i64).collect::<Vec<i64>>(), "{what}");
                let given = array.sort(0, descending);
                assert_eq!(*given.distribution().unwrap(), dist);
                let bits: Vec<u32> = given.to_vec::<f32>().unwrap().iter().map(|v| v.to_bits()).collect();
                let bits_expected: Vec<u32> = expected.iter().map(|&at| floats[at].to_bits()).collect();
                assert_eq!(bits, bits_expected, "{what}");
                let array = Array::from_slice(&team, &dist, &integers).unwrap();
                let expected: Vec<i32> =
                    order(&integers, descending).iter().map(|&at| integers[at]).collect();
                assert_eq!(array.sort(0, descending).to_vec::<i32>().unwrap(), expected, "{what}");
                cases += 3;
            }
        }
        ran("sort-lines", &device, cases);
    }
}

#[test]
fn every_axis_of_every_grid() {
    for device in devices() {
        let mut cases = 0;
        for (shape, parts) in [(vec![13, 11], 4), (vec![30, 7], 3), (vec![3, 9, 5], 2), (vec![9, 6], 8)] {
            let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
            let cells: i64 = shape.iter().product();
            let values: Vec<i32> = (0..cells).map(|at| (at * 48_271 % 1009) as i32 % 19 - 9).collect();
            for grid in grids(parts) {
                let mut whole = vec![1; shape.len()];
                (whole[0], whole[1]) = (grid[0], grid[1]);
                let dist = Distribution::builder(&shape).grid(&whole).build().unwrap();
                let array = Array::from_slice(&team, &dist, &values).unwrap();
                // The operand is computed on the way, and so is what the result is used for.
                let doubled = &array * 2.0 + 1.0;
                for axis in 0..shape.len() {
                    let inner: usize = shape[axis + 1..].iter().product::<i64>() as usize;
                    let length = shape[axis] as usize;
                    let (mut positions, mut sorted) = (vec![0; values.len()], values.clone());
                    for line in 0..values.len() / length {
                        let first = line / inner * inner * length + line % inner;
                        let elements: Vec<i32> = (0..length).map(|i| values[first + i * inner]).collect();
                        for (i, at) in order(&elements, false).into_iter().enumerate() {
                            positions[first + i * inner] = at as i64;
                            sorted[first + i * inner] = elements[at] * 2 + 4;
                        }
                    }
                    let given = doubled.argsort(axis, false).to_vec::<i64>().unwrap();
                    assert_eq!(given, positions, "{device:?} {dist} {axis}");
                    let given = (doubled.sort(axis, false) + 3.0).to_vec::<i32>().unwrap();
                    assert_eq!(given, sorted, "{device:?} {dist} {axis}");
                    cases += 2;
                }
            }
        }
        ran("sort-axes", &device, cases);
    }
}

#[test]
fn every_type() {
    let mut cases = 0;
    let values: Vec<f32> = (0..97).map(|at| ((at * 31 % 53) - 26) as f32).collect();
    for parts in [1, 3, 4] {
        let team = Team::on(&[Device::host()], parts).unwrap();
        let dist = Distribution::default_partition(parts, &[97]).unwrap();
        let array = Array::from_slice(&team, &dist, &values).unwrap();
        for dtype in [
            DType::Bool,
            DType::I8,
            DType::I16,
            DType::I32,
            DType::I64,
            DType::U8,
            DType::U16,
            DType::U32,
            DType::U64,
            DType::F16,
            DType::BF16,
            DType::F32,
            DType::F64,
        ] {
            let is_unsigned = matches!(dtype, DType::U8 | DType::U16 | DType::U32 | DType::U64);
            let cast = if is_unsigned { (&array + 26.0).cast(dtype) } else { array.cast(dtype) };
            let elements = cast.cast(DType::F64).to_vec::<f64>().unwrap();
            for descending in [false, true] {
                let order = order(&elements, descending);
                let expected: Vec<f64> = order.iter().map(|&at| elements[at]).collect();
                let sorted = cast.sort(0, descending);
                assert_eq!(sorted.dtype(), dtype);
                assert_eq!(sorted.cast(DType::F64).to_vec::<f64>().unwrap(), expected, "{dtype} {parts}");
                let expected: Vec<i64> = order.iter().map(|&at| at as i64).collect();
                assert_eq!(cast.argsort(0, descending).to_vec::<i64>().unwrap(), expected, "{dtype} {parts}");
                cases += 2;
            }
        }
    }
    println!("ran: sort-types {cases}");
}

#[test]
fn refusals_and_what_explain_shows() {
    let team = Team::on(&[Device::host()], 4).unwrap();
    let dist = Distribution::default_partition(4, &[16]).unwrap();
    let array = Array::zeros(&team, &dist, DType::I32).unwrap();
    assert!(array.sort(1, false).eval().unwrap_err().to_string().contains("axis below 1"));
    let steps = array.sort(0, false).explain().unwrap().kernels;
    let exchanges = steps.iter().flat_map(|step| &step.exchanges);
    let bytes: Vec<u64> = exchanges.map(|exchange| exchange.bytes()).collect();
    // Nothing moves before and after; 4 parts exchange 4 elements of 4 bytes twice, 2 parts once.
    assert_eq!(bytes, [0, 64, 64, 32, 0]);
    let mut run = Loop::new(vec![array], |state| {
        state[0] = state[0].sort(0, false);
        Ok(())
    });
    assert!(run.run(3).unwrap_err().to_string().contains("Loop's step"));
}

/// Rows whose length is no multiple of 16 bytes are padded; on a simulated CUDA device reading padding is a
/// fault.
#[test]
fn padded_rows_are_sorted_without_their_padding() {
    fn sorts<T: Element + PartialOrd + std::fmt::Debug>(
        device: &Device,
        value: impl Fn(usize) -> T,
    ) -> usize {
        let mut cases = 0;
        for (shape, parts) in [([64, 33], 1), ([64, 33], 2), ([64, 33], 3), ([300, 301], 1), ([300, 301], 3)]
        {
            let team = Team::on(std::slice::from_ref(device), parts).unwrap();
            let values: Vec<T> = (0..(shape[0] * shape[1]) as usize).map(&value).collect();
            for grid in [[parts as i64, 1], [1, parts as i64]] {
                let dist = Distribution::builder(&shape).grid(&grid).halo(&[0, 1], &[0, 1]).build().unwrap();
                let array = Array::from_slice(&team, &dist, &values).unwrap();
                for (axis, descending) in [(0, true), (1, false)] {
                    let (sorted, order_of) = (array.sort(axis, descending), array.argsort(axis, descending));
                    let (sorted, order_of) =
                        (sorted.to_vec::<T>().unwrap(), order_of.to_vec::<i64>().unwrap());
                    let (lines, step) = if axis == 0 { (shape[1], shape[1]) } else { (shape[0], 1) };
                    for line in 0..lines {
                        let first = if axis == 0 { line } else { line * shape[1] };
                        let at = |i: i64| (first + i * step) as usize;
                        let elements: Vec<T> = (0..shape[axis]).map(|i| values[at(i)]).collect();
                        for (i, place) in order(&elements, descending).into_iter().enumerate() {
                            let what = format!("{device:?} {dist:?} axis {axis} line {line}");
                            assert_eq!(sorted[at(i as i64)], elements[place], "{what}");
                            assert_eq!(order_of[at(i as i64)], place as i64, "{what}");
                        }
                    }
                    cases += 2;
                }
            }
        }
        cases
    }
    for device in devices() {
        let small = |at: usize| (at * 2_654_435_761 % 10_007 % 97) as f32;
        let mut cases = sorts(&device, small);
        // Not every wgpu adapter has f64.
        if device.kind() != DeviceKind::Wgpu {
            cases += sorts(&device, |at| f64::from(small(at)));
        }
        ran("sort-padded", &device, cases);
    }
}
