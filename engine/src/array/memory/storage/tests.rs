//! The rule in numbers, and that launches find their operands as it promises.
#![allow(clippy::unwrap_used)]

use partita_kernels::{Access, Launch, Op as Inst};

use super::*;
use crate::array::record;
use crate::device::Job;
use crate::prelude::*;

fn room(dtype: DType, shift: i64, start: i64, extent: i64) -> (i64, i64) {
    let stored = Region::new(&[0, start], &[7, start + extent]).unwrap();
    let room = Pitch::shifted(dtype, shift).within(&stored, 6);
    assert_eq!((room.start()[0], room.stop()[0]), (0, 7));
    (room.start()[1], room.extent(1))
}

#[test]
fn rows_begin_at_multiples_where_that_costs_little() {
    for (dtype, shift, start, extent, expected) in [
        // Multiples of 16 bytes stay as they are.
        (DType::F32, 0, 0, 512, (0, 512)),
        (DType::F32, 0, 0, 100, (0, 100)),
        (DType::U8, 0, 0, 48, (0, 48)),
        // Others grow to the largest multiple that adds no more than 6 percent.
        (DType::F32, 0, 0, 510, (0, 512)),
        (DType::F64, 0, 0, 511, (0, 512)),
        (DType::F32, 0, 0, 102, (0, 104)),
        (DType::F16, 0, 0, 1001, (0, 1024)),
        (DType::U8, 0, 0, 301, (0, 304)),
        // Slices and halos begin inside of the first vector.
        (DType::F32, 1, 0, 510, (-1, 512)),
        (DType::F32, 0, -1, 514, (-4, 544)),
        (DType::F64, 17, 0, 510, (-1, 512)),
        // Short rows lie without gaps.
        (DType::F32, 0, 0, 33, (0, 33)),
        (DType::F32, 3, -2, 5, (-2, 5)),
        (DType::U8, 0, 0, 130, (0, 130)),
    ] {
        assert_eq!(room(dtype, shift, start, extent), expected, "{dtype} {shift} {start} {extent}");
    }
    // The numbers of a complex one stay together: 511 of 8 bytes.
    let complex = Region::new(&[0, 1, 0], &[7, 512, 2]).unwrap();
    let room = Pitch::of(DType::F32).within(&complex, 6);
    assert_eq!((room.start()[1], room.extents().to_vec()), (0, vec![7, 512, 2]));
    assert_eq!(Pitch::Packed.room(&Region::new(&[0, 1], &[9, 512]).unwrap()).extent(1), 511);
}

#[test]
fn a_single_row_begins_as_others_do_and_ends_where_it_ends() {
    for extent in [1, 3, 1000] {
        let line = Region::new(&[1], &[1 + extent]).unwrap();
        let room = Pitch::of(DType::F32).within(&line, 6);
        assert_eq!((room.start()[0], room.stop()[0]), (0, 1 + extent));
    }
}

#[test]
fn memory_is_seen_in_another_shape_unless_padding_lies_between() {
    let dist = |shape: &[i64]| Distribution::builder(shape).parts(2).build().unwrap();
    let (odd, even) = (Pitch::of(DType::F32), Pitch::of(DType::F64));
    assert_eq!(odd.seen(&dist(&[4, 6, 510]), &dist(&[24, 510])), Some(odd));
    assert_eq!(odd.seen(&dist(&[24, 510]), &dist(&[24 * 510])), None);
    assert_eq!(even.seen(&dist(&[24, 510]), &dist(&[24 * 510])), Some(Pitch::Packed));
}

/// The number of loads of a launch whose rows, each of them, are congruent to those of its first result, and
/// the number of all its loads. Allocations begin at multiples of 256 bytes.
fn congruent(job: &Job) -> (usize, usize) {
    let kernel = job.program.kernel().kernel();
    let Launch { extents, views, .. } = &*job.launch;
    let last = extents.len() - 1;
    let bytes = |param: usize, elements: i64| elements * kernel.params[param].dtype.size_bytes() as i64;
    let even = |param: usize| {
        let mut strides =
            (0..last).filter(|&d| extents[d] > 1).map(|d| bytes(param, views[param].strides[d]));
        views[param].strides[last] == 1 && strides.all(|stride| stride % VECTOR_BYTES == 0)
    };
    // In elements, so that it means the same for several types.
    let phase = |param: usize, loaded: i64| {
        let first = bytes(param, views[param].offset + loaded);
        first.rem_euclid(VECTOR_BYTES) / bytes(param, 1)
    };
    let output = kernel.params.iter().position(|param| param.access != Access::In).unwrap();
    let loads = kernel.body.iter().filter_map(|inst| match &inst.op {
        Inst::Load { param, offsets } => Some((*param as usize, offsets.clone())),
        _ => None,
    });
    let loads: Vec<(usize, Vec<i32>)> = loads.map(|(param, offsets)| (param, offsets.to_vec())).collect();
    let is_congruent = |(param, offsets): &&(usize, Vec<i32>)| {
        let apart = offsets.iter().zip(&views[*param].strides).map(|(&by, stride)| i64::from(by) * stride);
        even(*param) && even(output) && phase(*param, apart.sum()) == phase(output, 0)
    };
    (loads.iter().filter(is_congruent).count(), loads.len())
}

#[test]
fn launches_store_rows_as_they_load_them() {
    let team = Team::on(&[Device::host()], 4).unwrap();
    for dtype in [DType::F64, DType::F32, DType::F16, DType::U8] {
        for (grid, halo, extents) in [
            ([4, 1], 0, [40, 512]),
            ([4, 1], 0, [40, 514]),
            ([4, 1], 1, [41, 511]),
            ([2, 2], 2, [41, 1021]),
            ([1, 4], 3, [17, 1777]),
        ] {
            for periodic in [false, true] {
                let dist = Distribution::builder(&extents).grid(&grid).periodic(&[periodic; 2]);
                let dist = dist.halo(&[halo; 2], &[halo; 2]).build().unwrap();
                let (u, mut fresh) = (Array::zeros(&team, &dist, dtype).unwrap(), Vec::new());
                u.eval().unwrap();
                let mut step = || {
                    // A slice, five points of it, and an array of the whole shape.
                    let five = u.slice(&s![..-2, 1..-1])
                        + u.slice(&s![2.., 1..-1])
                        + u.slice(&s![1..-1, ..-2])
                        + u.slice(&s![1..-1, 2..])
                        + u.slice(&s![1..-1, 1..-1]);
                    let three = u.slice(&s![1..-1, 3..]) + u.slice(&s![..-2, 3..]) + u.slice(&s![2.., 3..]);
                    fresh = vec![five, three, &u + &u.roll(&[1, 0]), u.slice(&s![3.., 1..])];
                    fresh.iter().try_for_each(|array| (array + array).eval())
                };
                let schedule = record(&mut step).unwrap();
                let jobs: Vec<&Job> = schedule.iter().flat_map(|command| command.op.jobs()).collect();
                let mut found = 0;
                for job in jobs {
                    if job.program.kernel().kernel().name != "fused" || job.launch.extents[1] < 64 {
                        continue;
                    }
                    let (congruent, all) = congruent(job);
                    let expected = if all == 5 { 3 } else { all };
                    assert_eq!((congruent, all), (expected, all), "{dtype} on {dist}: {:?}", job.launch);
                    found += 1;
                }
                assert!(found >= 4 * 4, "{found} launches on {dist}");
            }
        }
    }
}

#[test]
fn evaluations_that_are_kept_are_found_for_rows_that_lie_alike_only() {
    let team = Team::on(&[Device::host()], 2).unwrap();
    let numbers = |width: i64| {
        let dist = Distribution::builder(&[6, width]).parts(2).build().unwrap();
        Array::from_fn(&team, &dist, |at| (at[0] * 1000 + at[1]) as f32).unwrap()
    };
    let sliced = |first: i64| numbers(514).slice(&s![.., first..first + 510]) + 0.0;
    let arrays = [numbers(510), sliced(1), sliced(2), numbers(510), sliced(1), numbers(510), sliced(3)];
    for (array, first) in arrays.iter().zip([0, 1, 2, 0, 1, 0, 3]) {
        array.eval().unwrap();
        assert_eq!(array.node.storage().unwrap().pitch, Pitch::shifted(DType::F32, first));
        let doubled = (array * 2.0).to_vec::<f32>().unwrap();
        let expected = (0..6 * 510).map(|at| 2.0 * (at / 510 * 1000 + at % 510 + first) as f32);
        assert_eq!(doubled, expected.collect::<Vec<f32>>(), "a slice from {first} on");
    }
}

#[test]
fn elements_keep_their_order_in_shapes_with_and_without_padding() {
    let team = Team::on(&[Device::host()], 2).unwrap();
    let numbers = |shape: &[i64]| {
        let dist = Distribution::builder(shape).parts(2).build().unwrap();
        let number = |at: &[i64]| at.iter().zip(shape).fold(0, |number, (&at, &extent)| number * extent + at);
        Array::from_fn(&team, &dist, |at| number(at) as f32).unwrap()
    };
    let (expected, shapes) =
        (Vec::from_iter((0..6 * 510).map(|at| at as f32)), [&[6, 510][..], &[3060], &[510, 6]]);
    for (from, to) in shapes.iter().flat_map(|from| shapes.map(|to| (*from, to))) {
        let memory = numbers(from);
        for array in [memory.reshape(to), (&memory + 0.0).reshape(to)] {
            assert_eq!(array.to_vec::<f32>().unwrap(), expected, "{from:?} as {to:?}");
            let more = (array + 1.0).reshape(from).to_vec::<f32>().unwrap();
            assert!(more.iter().zip(&expected).all(|(more, one)| *more == one + 1.0), "{to:?} as {from:?}");
        }
    }
    let positions: Vec<i64> = (0..6 * 510).rev().collect();
    let turned = numbers(&[510, 6]).gather(&[6, 510], &positions).to_vec::<f32>().unwrap();
    assert!(turned.iter().rev().eq(&expected));
}
