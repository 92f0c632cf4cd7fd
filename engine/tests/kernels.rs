//! Every device against the interpreter, bit for bit (any NaN equals any NaN), over the one case table.
//! A missing device is named.
#![allow(missing_docs, clippy::unwrap_used)]

mod agreement;
mod found;

use agreement::*;
use found::ran;
use partita::device::wgpu::Shrink;
use partita::prelude::*;
use partita_kernels::{BinaryOp, Builder, Fold, Form, Launch, Math1, Scalar, Verified, View};

/// The devices with the limits they have.
fn whole() -> impl Iterator<Item = &'static Device> {
    gpus().iter().filter(|device| Device::all().contains(device))
}

/// Runs kernels on every pair of hard values; the names of those the device does not support.
fn check_operations(device: &Device, kernels: Vec<Verified>) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut unsupported = Vec::new();
    let count = kernels.len();
    for kernel in kernels {
        let (n, arrays) = operand_grid(&kernel);
        let launch = flat(&kernel, n);
        match misjudged(device, &kernel, &launch, &arrays, &on_host(&kernel, &launch, &arrays)) {
            Ok(found) => wrong.extend(found),
            Err(partita::Error::Unsupported { .. }) => unsupported.push(kernel.kernel().name.clone()),
            Err(error) => wrong.push(format!("{}: {error}", kernel.kernel().name)),
        }
    }
    assert!(wrong.is_empty(), "{device:?}: {} operations differ:\n{}", wrong.len(), wrong.join("\n"));
    ran("operations", device, count - unsupported.len());
    unsupported
}

#[test]
fn every_operation_gives_the_bits_of_the_definition() {
    for device in whole() {
        let unsupported = check_operations(device, cases::operations());
        println!("unsupported on {device:?}: {unsupported:?}");
        assert!(unsupported.is_empty() || !device.is_software());
    }
}

#[test]
fn a_driver_that_is_not_trusted_gives_the_same_bits() {
    if !gpus().iter().any(|device| device.kind() == DeviceKind::Wgpu) {
        return;
    }
    let cautious = Device::wgpu_with_limits(0, Shrink { cautious: true, ..Shrink::default() }).unwrap();
    let float = |k: &Verified| k.kernel().params[0].dtype.is_float() && !k.kernel().name.starts_with("Cast");
    let kernels: Vec<Verified> = cases::operations().into_iter().filter(float).collect();
    assert_eq!(check_operations(&cautious, kernels), ["Sqrt_f64", "Div_f64"]);
}

#[test]
fn constants_and_arguments_keep_their_bits() {
    for d in DType::ALL {
        let scalars: Vec<Scalar> =
            cases::hard_bits(d, 3).into_iter().map(|bits| Scalar { dtype: d, bits }).collect();
        for (chunk, &argument) in scalars.chunks(24).zip(scalars.iter().rev()) {
            let kernel = cases::leaves(d, chunk).unwrap();
            let launch = Launch { arguments: vec![argument], ..flat(&kernel, 3) };
            let arrays = vec![vec![0; 3 * d.size_bytes()]; chunk.len() + 1];
            agree(&kernel, &launch, &arrays);
        }
    }
}

#[test]
fn folds_of_every_type_and_shape() {
    let shapes: [(&[usize], &[bool]); 9] = [
        (&[5000], &[true]),
        (&[0], &[true]),
        (&[1], &[true]),
        (&[70, 130], &[false, true]),
        (&[130, 70], &[true, false]),
        (&[13, 17, 19], &[true, false, true]),
        (&[3, 700, 5], &[false, true, false]),
        (&[0, 6], &[true, false]),
        (&[9, 11], &[false, false]),
    ];
    for d in DType::ALL {
        for op in cases::FOLDS {
            for (extents, axes) in shapes {
                let Some((kernel, launch, arrays)) = fold_case(op, d, extents, axes) else { continue };
                agree(&kernel, &launch, &arrays);
            }
        }
    }
}

#[test]
fn scans_give_the_bits_of_the_definition() {
    let mut counts = vec![0; whole().count()];
    for d in DType::ALL {
        for (n, op) in cases::FOLDS.into_iter().enumerate() {
            for (k, (extents, axis)) in SCANS.into_iter().enumerate() {
                let Some(case) = scan_case(op, d, extents, axis, (n + k) % 2 == 0) else { continue };
                let expected = by_definition(&case.0, &case.1, &case.2);
                let given = on_host(&case.0, &case.1, &case.2);
                assert_eq!(difference(&case.0, &expected, &given), None, "host {:?}", case.1);
                for (device, count) in whole().zip(&mut counts) {
                    fold_in_order(device, &case, &expected);
                    *count += 1;
                }
            }
        }
    }
    for (device, count) in whole().zip(counts) {
        ran("scans", device, count);
    }
}

/// The wgpu adapter, the same with small limits, and with shaders of hardware without trust in its driver.
fn adapters() -> impl Iterator<Item = Device> {
    let all: Vec<Device> =
        gpus().iter().filter(|device| device.kind() == DeviceKind::Wgpu).cloned().collect();
    let cautious = Shrink { cautious: true, hardware: true, ..Shrink::default() };
    let cautious = all.first().map(|_| Device::wgpu_with_limits(0, cautious).unwrap());
    all.into_iter().chain(cautious)
}

/// Asserts that a device folds or scans as the definition does.
fn fold_in_order(device: &Device, case: &Case, expected: &Arrays) {
    let (kernel, launch, arrays) = case;
    let found = misjudged(device, kernel, launch, arrays, expected);
    assert_eq!(found.unwrap_or_else(|e| panic!("{device:?}: {e}")), None, "{device:?} {launch:?}");
}

const FLOATS: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];

#[test]
fn float_folds_of_every_length_give_the_bits_of_the_definition() {
    let (adapters, mut count) = (adapters().collect::<Vec<_>>(), 0);
    for d in FLOATS {
        for op in [FoldOp::Sum, FoldOp::Product] {
            let near = [8usize, 32, 256, 1024, 2048].into_iter().flat_map(|n| [n - 1, n, n + 1]);
            for n in [0, 1, 2, 3, 5].into_iter().chain(near).chain([5000, 16_385, 40_001]) {
                let case = ordered_fold_case(op, d, &[n], &[true], &[0]);
                let expected = by_definition(&case.0, &case.1, &case.2);
                adapters.iter().for_each(|device| fold_in_order(device, &case, &expected));
                count += adapters.len();
            }
        }
    }
    if count > 0 {
        println!("ran: wgpu-folds-in-order {count}");
    }
}

#[test]
fn float_folds_of_every_layout_give_the_bits_of_the_definition() {
    let shapes: [(&[usize], &[bool]); 9] = [
        (&[3, 1000], &[false, true]),
        (&[700, 5], &[false, true]),
        (&[1000, 3], &[true, false]),
        (&[129, 70], &[true, false]),
        (&[61, 67], &[true, true]),
        (&[13, 17, 19], &[true, false, true]),
        (&[13, 17, 19], &[true, true, true]),
        (&[3, 700, 5], &[false, true, false]),
        (&[5, 3, 7, 11], &[true, false, true, true]),
    ];
    let (adapters, mut count) = (adapters().collect::<Vec<_>>(), 0);
    for d in FLOATS {
        for op in [FoldOp::Sum, FoldOp::Product] {
            for (extents, axes) in shapes {
                let order: Vec<usize> = (0..extents.len()).collect();
                let rotated = |by: usize| [&order[by..], &order[..by]].concat();
                let reversed = order.iter().rev().copied().collect();
                for order in (0..order.len()).map(rotated).chain([reversed]) {
                    let case = ordered_fold_case(op, d, extents, axes, &order);
                    let expected = by_definition(&case.0, &case.1, &case.2);
                    adapters.iter().for_each(|device| fold_in_order(device, &case, &expected));
                    count += adapters.len();
                }
            }
        }
    }
    if count > 0 {
        println!("ran: wgpu-layouts-in-order {count}");
    }
}

#[test]
fn arg_folds_take_the_first_of_equals_and_nan() {
    for d in DType::ALL {
        for (largest, index) in [(true, DType::I32), (false, DType::I64), (true, DType::U32)] {
            for (rows, columns, seed) in [(1, 4000, 3), (40, 50, 4), (3, 1, 5), (3, 0, 6)] {
                let (kernel, launch, arrays) = arg_fold_case(largest, d, index, [rows, columns], seed);
                agree(&kernel, &launch, &arrays);
            }
        }
    }
}

#[test]
fn long_float_sums_give_the_bits_of_the_definition() {
    for d in FLOATS {
        let case = ordered_fold_case(FoldOp::Sum, d, &[1 << 18], &[true], &[0]);
        let expected = by_definition(&case.0, &case.1, &case.2);
        gpus().iter().for_each(|device| fold_in_order(device, &case, &expected));
    }
}

#[test]
fn gather_and_scatter_of_every_type() {
    // Buffers are multiples of 256 bytes, and a gather's source ends where its buffer ends.
    let (n, len) = (700, 5117usize);
    for d in DType::ALL {
        for index in [DType::I32, DType::U32, DType::I64, DType::U64] {
            // Distinct, in no order, some out of range on both sides.
            let place = |i: usize| {
                ((i * 3571) % (len + 400)) as i64
                    - if index == DType::U32 || index == DType::U64 { 0 } else { 200 }
            };
            let indices: Vec<i64> = (0..n).map(place).collect();
            for (kernel, launch, arrays) in indexed_cases(d, index, &indices, len) {
                agree(&kernel, &launch, &arrays);
            }
        }
    }
}

#[test]
fn stencils_of_every_type_and_rank() {
    let shapes: [&[usize]; 7] = [&[3000], &[7, 300], &[60, 41], &[5, 6, 70], &[3, 4, 5, 6], &[1, 1], &[0, 5]];
    for d in DType::ALL.into_iter().filter(|&d| d != DType::Bool) {
        for extents in shapes {
            let (launch, arrays) = stencil_launch(d, extents, 3);
            agree(&cases::stencil(d, extents.len()).unwrap(), &launch, &arrays);
        }
    }
}

#[test]
fn copies_through_transposed_reversed_and_broadcast_views() {
    let (rows, columns) = (37i64, 53i64);
    let inputs =
        [(0, vec![1, rows]), (rows * columns - 1, vec![-columns, -1]), (5, vec![0, 1]), (7, vec![0, 0])];
    let outputs = [(0, vec![columns, 1]), (3, vec![1, rows]), (rows * columns - 1, vec![-columns, -1])];
    for d in [DType::U8, DType::F16, DType::I32, DType::F64] {
        for input in &inputs {
            for output in &outputs {
                let views = [input.clone(), output.clone()];
                let (kernel, launch, arrays) = copy_case(d, [rows as usize, columns as usize], views);
                agree(&kernel, &launch, &arrays);
            }
        }
    }
}

/// Rows of all arrays at the same place of a unit, so that software adapters, too, run the stage `planes`: of
/// every phase, with region edges in every place of a unit and of a group of planes.
#[test]
fn stencils_in_phase_of_every_type_and_shape() {
    let shapes = [
        star(2, 1),
        star(2, 2),
        star(3, 1),
        star(3, 2),
        cube(3, 1),
        star(4, 1),
        vec![vec![1, -5], vec![0, 6]],
    ];
    let mut count = 0;
    for (n, offsets) in shapes.iter().enumerate() {
        let (rank, pad) = (offsets[0].len(), offsets.iter().flatten().map(|o| o.abs()).max().unwrap());
        for d in
            [DType::U8, DType::Bool, DType::I16, DType::F16, DType::BF16, DType::F32, DType::I64, DType::F64]
        {
            for case in 0..3usize {
                let unit = if d.size_bytes() == 8 { 2 } else { 4 };
                let outer = [[4, 5, 7], [9, 8, 1], [2, 6, 13]][case];
                let mut extents: Vec<usize> = outer[..rank - 1].to_vec();
                extents.push([8, 29, 66][(case + n) % 3]);
                let mut strides = vec![1i64; rank];
                let mut stride = (extents[rank - 1] as i64 + 2 * i64::from(pad) + 4) / unit * unit;
                for k in (0..rank - 1).rev() {
                    strides[k] = stride;
                    stride *= extents[k] as i64 + 2 * i64::from(pad);
                }
                let first = strides.iter().sum::<i64>() * i64::from(pad);
                let offset = first / unit * unit + unit + (case as i64 + n as i64) % unit;
                let kernel = match (d, case) {
                    (DType::Bool, _) => exclusive(offsets),
                    (_, 2) => placed(d, offsets),
                    _ => weighted("in_phase", d, offsets),
                };
                let views = vec![View { offset, strides }; 2];
                let launch = Launch { extents, origin: vec![3; rank], views, arguments: vec![] };
                let n = (stride + 3 * unit) as usize;
                agree(&kernel, &launch, &vec![small_numbers(d, n, 7), vec![0; n * d.size_bytes()]]);
                count += 1;
            }
        }
    }
    println!("ran: stencils-in-phase {count}");
}

/// The exclusive or of bools around the point.
fn exclusive(offsets: &[Vec<i32>]) -> Verified {
    let mut k = Builder::new("exclusive", offsets[0].len());
    let (input, output) = (k.input(DType::Bool), k.output(DType::Bool));
    let values: Vec<_> = offsets.iter().map(|at| k.load(input, at)).collect();
    let sum = values.into_iter().reduce(|a, b| k.binary(BinaryOp::Xor, a, b)).unwrap();
    k.elementwise(&[(output, sum)]).unwrap()
}

/// Differences of values around the point, and of its coordinates.
fn placed(d: DType, offsets: &[Vec<i32>]) -> Verified {
    let rank = offsets[0].len();
    let mut k = Builder::new("placed", rank);
    let (input, output) = (k.input(d), k.output(d));
    let mut values: Vec<_> = offsets.iter().map(|at| k.load(input, at)).collect();
    for dim in 0..rank {
        let coordinate = k.coord(dim, DType::I32);
        values.push(k.cast(coordinate, d));
    }
    let sum = values.into_iter().reduce(|a, b| k.binary(BinaryOp::Sub, a, b)).unwrap();
    k.elementwise(&[(output, sum)]).unwrap()
}

/// Inputs along another dimension than outputs: the stage `transpose`, with squares that the edges cut.
#[test]
fn transposed_operands_of_every_type_and_shape() {
    let mut count = 0;
    for from in [DType::U8, DType::F16, DType::BF16, DType::F32, DType::I32, DType::F64, DType::I64] {
        let to = if from.size_bytes() < 4 { DType::F32 } else { from };
        for (case, extents) in
            [&[16, 16][..], &[33, 70], &[64, 32], &[3, 40, 17], &[40, 3, 35], &[17, 18, 19]]
                .iter()
                .enumerate()
        {
            let rank = extents.len();
            let mut k = Builder::new("transposed", rank);
            let (inputs, output) = ([k.input(from), k.input(from)], k.output(to));
            let [a, b] = inputs.map(|p| k.load(p, &vec![0; rank]));
            let difference = k.binary(BinaryOp::Sub, a, b);
            let value = k.cast(difference, to);
            let kernel = k.elementwise(&[(output, value)]).unwrap();
            let n: usize = extents.iter().product();
            // Neighbours of the first lie along an outer dimension that is long enough.
            let along = if extents[0] < 16 { 1 } else { 0 };
            let mut order: Vec<usize> = (0..rank).filter(|&dim| dim != along).collect();
            order.push(along);
            let (mut turned, mut stride) = (vec![0; rank], 1);
            for &dim in order.iter().rev() {
                turned[dim] = stride;
                stride *= extents[dim] as i64;
            }
            let second = if case % 2 == 0 { turned.clone() } else { c_strides(extents) };
            let views = [(5, turned), (2, second), (case as i64, c_strides(extents))];
            let views = views.map(|(offset, strides)| View { offset, strides }).to_vec();
            let launch =
                Launch { extents: extents.to_vec(), origin: vec![0; rank], views, arguments: vec![] };
            let input = |seed| small_numbers(from, n + 9, seed);
            agree(&kernel, &launch, &vec![input(3), input(4), vec![0xee; (n + 9) * to.size_bytes()]]);
            count += 1;
        }
    }
    println!("ran: transposed-operands {count}");
}

/// The sum of a load and its neighbours at a distance along the row, as another type.
fn neighbours(from: DType, to: DType, distance: i32) -> Verified {
    let mut k = Builder::new(&format!("neighbours_{from}_{to}_{distance}"), 2);
    let (input, output) = (k.input(from), k.output(to));
    let mut sum = k.load(input, &[0, 0]);
    for offset in [-distance, distance].into_iter().filter(|&offset| offset != 0) {
        let value = k.load(input, &[0, offset]);
        sum = k.binary(BinaryOp::Add, sum, value);
    }
    let value = k.cast(sum, to);
    k.elementwise(&[(output, value)]).unwrap()
}

/// Rows that begin and end anywhere in a unit of 16 bytes, of equal and of different types, each row at
/// another place of its unit or all at the same; what is beside them stays.
#[test]
fn rows_of_every_phase_and_length() {
    use DType::*;
    let mut count = 0;
    let types = [(F32, F32), (F64, F64), (F16, F16), (U8, U8), (F32, U8), (U8, F32), (F64, I16), (BF16, I64)];
    for (number, (from, to)) in types.into_iter().enumerate() {
        for distance in [0, 1, 3] {
            let kernel = neighbours(from, to, distance);
            for case in 0..48usize {
                let (begin, end, n) =
                    (case % 4, case / 4 % 4, [1, 2, 3, 4, 5, 7, 8, 13, 30][(case + number) % 9]);
                let (before, after) = (distance as usize + begin, distance as usize);
                let pitches = [n + before + after + case % 5, n + end + case / 2 % 3];
                let views = [before, end]
                    .into_iter()
                    .zip(pitches)
                    .map(|(offset, pitch)| View { offset: offset as i64, strides: vec![pitch as i64, 1] });
                let launch = Launch {
                    extents: vec![3, n],
                    origin: vec![0, 0],
                    views: views.collect(),
                    arguments: vec![],
                };
                let input = small_numbers(from, 3 * pitches[0] + 8, 7 + case as u64);
                agree(&kernel, &launch, &vec![input, vec![0xee; (3 * pitches[1] + 8) * to.size_bytes()]]);
                count += 1;
            }
        }
    }
    println!("ran: rows-of-every-phase {count}");
}

#[test]
fn narrow_stores_leave_their_neighbours_alone() {
    for d in [DType::Bool, DType::I8, DType::U16, DType::F16, DType::BF16] {
        for offset in 0..5 {
            for n in [1, 2, 3, 7, 64, 1000] {
                let kernel = copy(d, 1);
                let views =
                    vec![View { offset: 4 - offset, strides: vec![1] }, View { offset, strides: vec![2] }];
                let launch = Launch { extents: vec![n], origin: vec![0], views, arguments: vec![] };
                agree(
                    &kernel,
                    &launch,
                    &vec![small_numbers(d, n + 9, 41), vec![0xee; (2 * n + 9) * d.size_bytes()]],
                );
            }
        }
    }
}

#[test]
fn transfers_at_any_byte() {
    for device in gpus() {
        let buffer = uploaded(device, &vec![vec![0; 41]]).remove(0);
        let mut model = [0u8; 41];
        for offset in 0..9 {
            for len in [0, 1, 2, 3, 4, 5, 8, 11, 30] {
                let data: Vec<u8> = (0..len).map(|i| (offset * 31 + i * 7 + len) as u8).collect();
                raw_access::upload(device, buffer.allocation(), offset as u64, &data).unwrap();
                model[offset..offset + len].copy_from_slice(&data);
                let mut back = vec![0; 41 - offset];
                raw_access::download(device, buffer.allocation(), offset as u64, &mut back).unwrap();
                assert_eq!(back, model[offset..], "{device:?} offset {offset}, length {len}");
            }
        }
    }
}

#[test]
fn transfers_of_many_pieces() {
    for device in whole() {
        // More than what travels at once on any device, and no multiple of it.
        let data: Vec<u8> =
            (0..(37 << 20) + 5).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let buffer = device.alloc(data.len() as u64).unwrap();
        raw_access::upload(device, buffer.allocation(), 0, &data).unwrap();
        let mut back = vec![0; data.len() - 3];
        raw_access::download(device, buffer.allocation(), 3, &mut back).unwrap();
        assert!(back == data[3..], "{device:?}");
    }
}

#[test]
fn launches_run_in_order_with_transfers_between() {
    let mut k = Builder::new("double_and_add", 1);
    let (both, argument) = (k.inout(DType::I32), k.argument(DType::I32));
    let old = k.load(both, &[0]);
    let twice = k.binary(BinaryOp::Add, old, old);
    let new = k.binary(BinaryOp::Add, twice, argument);
    let kernel = k.elementwise(&[(both, new)]).unwrap();
    for device in whole() {
        let ones = vec![bytes(DType::I32, [1; 100])];
        let buffer = uploaded(device, &ones).remove(0);
        let mut model = 1i32;
        for step in 0..3000 {
            let launch = Launch { arguments: vec![Scalar::from_i64(DType::I32, step)], ..flat(&kernel, 100) };
            raw_access::launch(device, &job(device, &kernel, &launch, &[&buffer]).unwrap()).unwrap();
            model = model.wrapping_mul(2).wrapping_add(step as i32);
            if step % 977 == 0 {
                model ^= 5;
                let model = bytes(DType::I32, [model as u32 as u64; 100]);
                raw_access::upload(device, buffer.allocation(), 0, &model).unwrap();
            }
        }
        let given = downloaded(device, &[buffer], &ones).unwrap();
        assert_eq!(given[0], bytes(DType::I32, [model as u32 as u64; 100]), "{device:?}");
    }
}

#[test]
fn a_replay_equals_its_launches() {
    for device in gpus() {
        let step = cases::stencil(DType::F32, 2).unwrap();
        let max = cases::fold(FoldOp::Max, DType::F32, &[true, true]).unwrap();
        let (launch, mut arrays) = stencil_launch(DType::F32, &[40, 50], 3);
        arrays.push(vec![0; 4]);
        let fold = Launch {
            extents: vec![40, 50],
            origin: vec![0, 0],
            views: vec![launch.views[1].clone(), View { offset: 0, strides: vec![0, 0] }],
            arguments: vec![],
        };
        let results = [false, true].map(|replayed| {
            let b = uploaded(device, &arrays);
            let jobs = vec![
                job(device, &step, &launch, &[&b[0], &b[1], &b[2]]).unwrap(),
                job(device, &max, &fold, &[&b[1], &b[3]]).unwrap(),
            ];
            let recording = partita::raw::record(device, jobs.clone()).unwrap();
            for _ in 0..5 {
                match replayed {
                    true => raw_access::replay(&recording).unwrap(),
                    false => jobs.iter().for_each(|job| raw_access::launch(device, job).unwrap()),
                }
            }
            downloaded(device, &b, &arrays).unwrap()
        });
        assert_eq!(results[0], results[1], "{device:?}");
        assert_ne!(results[0][2], arrays[2], "{device:?}");
    }
}

#[test]
fn functions_have_the_interpreters_bits() {
    for d in [DType::F16, DType::F32, DType::F64] {
        for function in [Math1::Exp, Math1::Log, Math1::Sin, Math1::Tanh, Math1::Cbrt] {
            let mut k = Builder::new(&format!("{function:?}_{d}"), 1);
            let (input, output) = (k.input(d), k.output(d));
            let value = k.load(input, &[0]);
            let result = k.math1(function, value);
            let kernel = k.elementwise(&[(output, result)]).unwrap();
            let values = cases::hard_bits(d, 20000);
            let launch = flat(&kernel, values.len());
            let arrays = vec![bytes(d, values.iter().copied()), vec![0; values.len() * d.size_bytes()]];
            agree(&kernel, &launch, &arrays);
        }
    }
}

#[test]
fn an_array_larger_than_the_largest_binding() {
    for device in whole().filter(|device| device.kind() == DeviceKind::Wgpu) {
        large(device);
    }
}

fn large(gpu: &Device) {
    let n = (150usize << 20) / 4 + 3;
    let mut k = Builder::new("difference", 1);
    let (input, output) = (k.input(DType::F32), k.output(DType::F32));
    let (left, right) = (k.load(input, &[0]), k.load(input, &[1]));
    let at = k.coord(0, DType::I32);
    let at = k.cast(at, DType::F32);
    let step = k.binary(BinaryOp::Sub, right, left);
    let value = k.binary(BinaryOp::Add, step, at);
    let kernel = k.elementwise(&[(output, value)]).unwrap();
    let input: Vec<u8> = (0..n).flat_map(|i| ((i % 1000) as f32).to_le_bytes()).collect();
    let launch = Launch { views: vec![line(0), line(0)], ..flat(&kernel, n - 1) };
    let buffers = [gpu.alloc(n as u64 * 4).unwrap(), gpu.alloc(n as u64 * 4).unwrap(), gpu.alloc(8).unwrap()];
    raw_access::upload(gpu, buffers[0].allocation(), 0, &input).unwrap();
    raw_access::launch(gpu, &job(gpu, &kernel, &launch, &[&buffers[0], &buffers[1]]).unwrap()).unwrap();
    let mut output = vec![0; n * 4];
    raw_access::download(gpu, buffers[1].allocation(), 0, &mut output).unwrap();
    for (i, word) in output.chunks(4).enumerate().take(n - 1) {
        let step = if i % 1000 == 999 { -999.0 } else { 1.0 };
        assert_eq!(f32::from_le_bytes(word.try_into().unwrap()), step + i as f32, "{i}");
    }
    let mut k = Builder::new("sum", 1);
    let (input, output) = (k.input(DType::F32), k.output(DType::F64));
    let value = k.load(input, &[0]);
    let value = k.cast(value, DType::F64);
    let fold = Fold::Value { op: FoldOp::Sum, value, output };
    let kernel = k.finish(Form::Reduce { axes: vec![true], folds: vec![fold], stores: Vec::new() }).unwrap();
    let views = vec![line(0), View { offset: 0, strides: vec![0] }];
    let launch = Launch { extents: vec![n], origin: vec![0], views, arguments: vec![] };
    raw_access::launch(gpu, &job(gpu, &kernel, &launch, &[&buffers[0], &buffers[2]]).unwrap()).unwrap();
    let mut sum = [0; 8];
    raw_access::download(gpu, buffers[2].allocation(), 0, &mut sum).unwrap();
    assert_eq!(f64::from_le_bytes(sum), (0..n).map(|i| (i % 1000) as f64).sum::<f64>());
}

/// Lavapipe leaves long loops before they end. With small bindings there are few partial results, so that
/// each stands for many points.
#[test]
fn a_fold_of_more_points_than_a_loop_may_have_turns() {
    for device in gpus().iter().filter(|device| device.kind() == DeviceKind::Wgpu && device.is_software()) {
        let points = 1 << 29;
        let mut k = Builder::new("count", 1);
        let (input, output) = (k.input(DType::U32), k.output(DType::U32));
        let value = k.load(input, &[0]);
        let fold = Fold::Value { op: FoldOp::Sum, value, output };
        let kernel =
            k.finish(Form::Reduce { axes: vec![true], folds: vec![fold], stores: Vec::new() }).unwrap();
        let one = View { offset: 0, strides: vec![0] };
        let launch = Launch {
            extents: vec![points],
            origin: vec![0],
            views: vec![one.clone(), one],
            arguments: vec![],
        };
        let buffers = [device.alloc(4).unwrap(), device.alloc(4).unwrap()];
        raw_access::upload(device, buffers[0].allocation(), 0, &1u32.to_le_bytes()).unwrap();
        raw_access::launch(device, &job(device, &kernel, &launch, &[&buffers[0], &buffers[1]]).unwrap())
            .unwrap();
        let mut count = [0; 4];
        raw_access::download(device, buffers[1].allocation(), 0, &mut count).unwrap();
        assert_eq!(u32::from_le_bytes(count), points as u32, "{device:?}");
    }
}
