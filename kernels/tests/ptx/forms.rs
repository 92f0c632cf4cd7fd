//! Every form over ranks, odd sizes, offsets, strides, broadcasts and empty regions, on whole grids and
//! on grids so small that the region is cut.

use partita_kernels::{BinaryOp, Builder, DType, Fold, FoldOp, Launch, Verified, View};

use crate::agreement::{
    SCANS, arg_fold_case, bytes, c_strides, cases, copy, copy_case, difference, fold_case, indexed_cases,
    scan_case, sevenths, small_numbers, stored_fold_case, strided_fold_case,
};
use crate::machine::{Compiled, Setting, Tally, agree, on_host};

#[test]
fn folds_of_every_type_and_shape() {
    let shapes: [(&[usize], &[bool]); 13] = [
        (&[20_000], &[true]),
        (&[5000], &[true]),
        (&[0], &[true]),
        (&[1], &[true]),
        (&[70, 130], &[false, true]),
        (&[130, 70], &[true, false]),
        (&[700, 3], &[true, false]),
        (&[1100, 2], &[false, true]),
        (&[13, 17, 19], &[true, false, true]),
        (&[3, 700, 5], &[false, true, false]),
        (&[0, 6], &[true, false]),
        (&[9, 11], &[false, false]),
        (&[5, 0, 6], &[false, false, true]),
    ];
    let mut tally = Tally::default();
    for d in DType::ALL {
        for op in cases::FOLDS {
            for (extents, axes) in shapes {
                let Some((kernel, launch, arrays)) = fold_case(op, d, extents, axes) else { continue };
                tally.everywhere(&kernel, &launch, &arrays);
            }
        }
    }
    tally.ran_through(&["fold", "fold_columns", "fold_runs", "tree"]);
}

/// Results of points beside folds: in vectors where everything is aligned, else element by element, and never
/// where threads repeat a point.
#[test]
fn folds_whose_points_store() {
    let shapes: [(&[usize], &[bool]); 12] = [
        (&[5000], &[true]),
        (&[4096], &[true]),
        (&[3], &[true]),
        (&[0], &[true]),
        (&[37, 41], &[true, true]),
        (&[40, 64], &[true, true]),
        (&[7, 9, 11], &[true, true, true]),
        (&[70, 130], &[false, true]),
        (&[130, 70], &[true, false]),
        (&[700, 3], &[true, false]),
        (&[13, 17, 19], &[true, false, true]),
        (&[9, 11], &[false, false]),
    ];
    let mut tally = Tally::default();
    for d in DType::ALL {
        for shape in shapes {
            for (neighbours, gap) in [(true, 0), (true, 3), (false, 0), (false, 4)] {
                let op = if neighbours { FoldOp::Max } else { FoldOp::Sum };
                for op in [FoldOp::Sum, op] {
                    let Some((kernel, launch, arrays)) = stored_fold_case(op, d, shape, neighbours, gap)
                    else {
                        continue;
                    };
                    tally.everywhere(&kernel, &launch, &arrays);
                }
            }
        }
    }
    tally.ran_through(&["fold", "fold_runs", "tree"]);
}

#[test]
fn scans_of_every_type_and_shape() {
    let mut tally = Tally::default();
    for d in DType::ALL {
        for op in cases::FOLDS {
            for ((extents, axis), computed) in SCANS.into_iter().flat_map(|s| [(s, false), (s, true)]) {
                let Some((kernel, launch, arrays)) = scan_case(op, d, extents, axis, computed) else {
                    continue;
                };
                tally.everywhere(&kernel, &launch, &arrays);
            }
        }
    }
    tally.ran_through(&["scan"]);
}

/// Lengths around powers of two, along both kinds of axes, for every width of a run.
#[test]
fn folds_of_every_length_combine_adjacent_pairs() {
    let mut lengths = vec![0, 1, 2, 3, 5];
    lengths.extend([8, 16, 64, 128, 512, 1024, 4096].into_iter().flat_map(|n: usize| [n - 1, n, n + 1]));
    let mut tally = Tally::default();
    for (op, d) in [
        (FoldOp::Sum, DType::F32),
        (FoldOp::Sum, DType::F64),
        (FoldOp::Sum, DType::F16),
        (FoldOp::Product, DType::F32),
        (FoldOp::Product, DType::BF16),
        (FoldOp::Max, DType::I8),
    ] {
        for &n in &lengths {
            for (extents, axes) in
                [(&[n][..], &[true][..]), (&[3, n], &[false, true]), (&[n, 5], &[true, false])]
            {
                let (kernel, launch, arrays) = fold_case(op, d, extents, axes).unwrap();
                tally.everywhere(&kernel, &launch, &arrays);
            }
        }
    }
    tally.ran_through(&["fold", "fold_runs", "tree"]);
}

/// Over several passes, and however many blocks share a point.
#[test]
fn large_folds_do_not_depend_on_the_device() {
    let mut ran = 0;
    for (d, extents, axes) in [
        (DType::F32, &[150_001][..], &[true][..]),
        (DType::F32, &[299, 502], &[true, true]),
        (DType::F16, &[70_000, 3], &[true, false]),
        (DType::F64, &[64, 9000], &[false, true]),
    ] {
        let (kernel, launch, arrays) = fold_case(FoldOp::Sum, d, extents, axes).unwrap();
        let expected = on_host(&kernel, &launch, &arrays);
        for multiprocessors in [1, 3, 200] {
            for shrunk in [false, true] {
                let setting = Setting { multiprocessors, shrunk, ..Setting::PLAIN };
                let (given, entries) =
                    Compiled::new(&kernel, setting).run(&kernel, &launch, &arrays, setting).unwrap();
                assert_eq!(difference(&kernel, &expected, &given), None, "{extents:?} {setting:?}");
                assert!(
                    !shrunk
                        || extents == [64, 9000]
                        || entries.iter().filter(|&&entry| entry == "tree").count() > 1,
                    "{entries:?}"
                );
                ran += 1;
            }
        }
    }
    println!("ran: ptx-cases {ran}");
}

/// Rows that runs do not fit into, with room between them, and operands of which one is transposed.
#[test]
fn folds_of_several_axes_follow_the_widest_strides() {
    let mut tally = Tally::default();
    for d in [DType::U8, DType::F16, DType::F32, DType::F64] {
        for extents in [[5usize, 7, 12], [4, 6, 11], [3, 1, 33], [1, 9, 130]] {
            for mask in 1..8 {
                let axes: Vec<bool> = (0..3).map(|k| mask >> k & 1 == 1).collect();
                let (mut kernel, mut launch, mut arrays) =
                    fold_case(FoldOp::Sum, d, &extents, &axes).unwrap();
                launch.views[0].strides = c_strides(&[extents[0], extents[1] + 1, extents[2] + 4]);
                arrays[0] = if d.is_float() { sevenths(d, 12_000, 9) } else { small_numbers(d, 12_000, 9) };
                tally.everywhere(&kernel, &launch, &arrays);
                kernel = dot(d, &axes);
                launch.views.insert(1, View { offset: 1, strides: vec![1, 9, 90] });
                arrays.insert(1, arrays[0].clone());
                tally.everywhere(&kernel, &launch, &arrays);
            }
        }
    }
    tally.ran_through(&["fold", "fold_columns", "fold_runs", "tree"]);
}

/// Columns of 16 bits, two to a word, of every length around whole groups; where a word would be cut, or its
/// results lie apart, one by one.
#[test]
fn folds_of_columns_of_16_bits() {
    let (extents, pitch) = ([0usize, 1, 15, 16, 17, 250, 513, 2100], 68i64);
    let mut tally = Tally::default();
    for d in [DType::F16, DType::BF16, DType::I16, DType::U16] {
        for op in [FoldOp::Sum, FoldOp::Min] {
            for n in extents {
                for columns in [2usize, 3, 66] {
                    for (offset, strides) in
                        [(2, [pitch, 1]), (1, [pitch, 1]), (0, [pitch + 1, 1]), (0, [pitch, 2])]
                    {
                        let (kernel, mut launch, mut arrays) =
                            fold_case(op, d, &[n, columns], &[true, false]).unwrap();
                        launch.views[0] = View { offset, strides: strides.to_vec() };
                        let elements = (n + 1) * (pitch as usize + 2) + 2 * columns;
                        arrays[0] = if d.is_float() {
                            sevenths(d, elements, 9)
                        } else {
                            small_numbers(d, elements, 9)
                        };
                        tally.everywhere(&kernel, &launch, &arrays);
                    }
                }
            }
        }
    }
    // Results apart, and two operands in words of their own.
    let axes = [false, true, false];
    let (kernel, mut launch, arrays) = fold_case(FoldOp::Sum, DType::F16, &[3, 40, 8], &axes).unwrap();
    launch.views[1].strides = vec![1, 0, 3];
    tally.everywhere(&kernel, &launch, &arrays);
    let (_, mut launch, mut arrays) = fold_case(FoldOp::Sum, DType::F16, &[3, 40, 8], &axes).unwrap();
    launch.views.insert(1, View { offset: 4, strides: vec![320, 8, 1] });
    arrays.insert(1, sevenths(DType::F16, 1000, 3));
    tally.everywhere(&dot(DType::F16, &axes), &launch, &arrays);
    tally.ran_through(&["fold", "fold_columns", "tree"]);
}

/// The sum of products of two arrays.
fn dot(d: DType, axes: &[bool]) -> Verified {
    let mut k = Builder::new("dot", axes.len());
    let (a, b, output) = (k.input(d), k.input(d), k.output(d));
    let here = vec![0; axes.len()];
    let (x, y) = (k.load(a, &here), k.load(b, &here));
    let value = k.binary(BinaryOp::Mul, x, y);
    k.reduce(axes, &[Fold::Value { op: FoldOp::Sum, value, output }]).unwrap()
}

#[test]
fn folds_of_padded_reversed_and_transposed_arrays() {
    let extents = [7usize, 9, 11];
    let padded = c_strides(&[10, 12, 15]);
    let inputs = [
        (200, padded.clone()),
        (6 * padded[0] + 8 * padded[1] + 10, padded.iter().map(|s| -s).collect::<Vec<i64>>()),
        (3, vec![1, 7, 70]),
        (3, vec![12, 0, 1]),
    ];
    let mut tally = Tally::default();
    for (offset, strides) in inputs {
        for mask in 0..8 {
            let axes: Vec<bool> = (0..3).map(|k| mask >> k & 1 == 1).collect();
            for d in [DType::I16, DType::F32, DType::F64] {
                let input = View { offset, strides: strides.clone() };
                let (kernel, launch, arrays) = strided_fold_case(d, &extents, &axes, input);
                tally.everywhere(&kernel, &launch, &arrays);
            }
        }
    }
    tally.ran_through(&["fold", "tree"]);
}

#[test]
fn arg_folds_take_the_first_of_equals_and_nan() {
    let mut tally = Tally::default();
    for d in DType::ALL {
        for (largest, index) in
            [(true, DType::I32), (false, DType::I64), (true, DType::U32), (false, DType::U64)]
        {
            for (rows, columns, seed) in [(1, 4000, 3), (40, 50, 4), (3, 1, 5), (2, 0, 6)] {
                let (kernel, launch, arrays) = arg_fold_case(largest, d, index, [rows, columns], seed);
                tally.everywhere(&kernel, &launch, &arrays);
            }
        }
    }
    tally.ran_through(&["fold", "fold_runs", "tree"]);
}

#[test]
fn several_folds_in_one_kernel() {
    let mut k = Builder::new("several", 2);
    let (a, b) = (k.input(DType::F32), k.input(DType::U8));
    let outs = [DType::F64, DType::U8, DType::F32, DType::I32].map(|d| k.output(d));
    let (x, y) = (k.load(a, &[0, 0]), k.load(b, &[0, 0]));
    let wide = k.cast(x, DType::F64);
    let at = k.coord(1, DType::I32);
    let folds = [
        Fold::Value { op: FoldOp::Sum, value: wide, output: outs[0] },
        Fold::Value { op: FoldOp::Max, value: y, output: outs[1] },
        Fold::Arg { largest: true, value: x, index: at, value_output: outs[2], index_output: outs[3] },
    ];
    let kernel = k.reduce(&[false, true], &folds).unwrap();
    let mut tally = Tally::default();
    for (rows, columns) in [(3usize, 5000usize), (100, 9)] {
        let whole = View { offset: 0, strides: vec![columns as i64, 1] };
        let out = View { offset: 0, strides: vec![1, 0] };
        let views = vec![whole.clone(), whole, out.clone(), out.clone(), out.clone(), out];
        let launch = Launch { extents: vec![rows, columns], origin: vec![0, 7], views, arguments: vec![] };
        let mut arrays =
            vec![small_numbers(DType::F32, rows * columns, 1), small_numbers(DType::U8, rows * columns, 2)];
        arrays.extend([8, 1, 4, 4].map(|size| vec![0; rows * size]));
        tally.everywhere(&kernel, &launch, &arrays);
    }
    tally.ran_through(&["fold", "fold_runs", "tree"]);
}

#[test]
fn gather_and_scatter_of_every_type() {
    let (n, len) = (700, 5000i64);
    let mut tally = Tally::default();
    for d in DType::ALL {
        for index in [DType::I32, DType::U32, DType::I64, DType::U64] {
            // Distinct, in no order, on both sides of both ends.
            let unsigned = index == DType::U32 || index == DType::U64;
            let place = |i: usize| match (i as i64 * 571) % 700 {
                k @ ..350 => k - if unsigned { 0 } else { 175 },
                k => len - 175 + (k - 350),
            };
            let indices: Vec<i64> = (0..n).map(place).collect();
            for (kernel, launch, arrays) in indexed_cases(d, index, &indices, len as usize) {
                tally.everywhere(&kernel, &launch, &arrays);
            }
        }
    }
    tally.ran_through(&["pointwise"]);
}

/// A kernel of several inputs, and of an output for every two of them and for the last without another.
pub fn two_by_two(d: DType, inputs: usize) -> Verified {
    let mut k = Builder::new("both", 3);
    let loads: Vec<_> = (0..inputs).map(|_| k.input(d)).collect();
    let loads: Vec<_> = loads.into_iter().map(|input| k.load(input, &[0; 3])).collect();
    let op = if d == DType::Bool { BinaryOp::Xor } else { BinaryOp::Sub };
    let results: Vec<_> =
        (loads.chunks(2)).map(|two| if let [a, b] = *two { k.binary(op, a, b) } else { two[0] }).collect();
    let stores: Vec<_> = results.into_iter().map(|value| (k.output(d), value)).collect();
    k.elementwise(&stores).unwrap()
}

/// The launch of such a kernel: inputs as (array, transposed).
pub fn by_two_launch(
    kernel: &Verified,
    extents: [usize; 3],
    inputs: &[(u64, bool)],
) -> (Launch, Vec<Vec<u8>>) {
    let [_, h, w] = extents.map(|extent| extent as i64);
    let d = kernel.kernel().params[0].dtype;
    let n: usize = extents.iter().product();
    let array = |seed| match d {
        DType::Bool => bytes(d, (0..n).map(|i| (i as u64 * 7 + seed * 13) % 11 % 2)),
        _ => small_numbers(d, n, seed),
    };
    let straight = View { offset: 0, strides: vec![h * w, w, 1] };
    let views = inputs.iter().map(|&(_, turned)| match turned {
        true => View { offset: 0, strides: vec![h * w, 1, h] },
        false => straight.clone(),
    });
    let outputs = kernel.kernel().params.len() - inputs.len();
    let views = views.chain(std::iter::repeat_n(straight.clone(), outputs)).collect();
    let launch = Launch { extents: extents.to_vec(), origin: vec![0; 3], views, arguments: vec![] };
    let arrays = inputs.iter().map(|&(seed, _)| array(seed));
    let results = std::iter::repeat_n(vec![0; n * d.size_bytes()], outputs);
    (launch, arrays.chain(results).collect())
}

/// One block has a square and its mirror image; what has no twin, or no square region, takes the plain
/// squares.
#[test]
fn arrays_and_their_mirror_images_are_loaded_once() {
    let setting = Setting { aliased: true, ..Setting::PLAIN };
    let pairs = [(1, false), (1, true), (2, true), (2, false)];
    let run = |d, extents, inputs: &[(u64, bool)], setting| {
        let kernel = two_by_two(d, inputs.len());
        let (launch, arrays) = by_two_launch(&kernel, extents, inputs);
        agree(&kernel, &launch, &arrays, setting)
    };
    for d in [DType::F32, DType::F64, DType::F16, DType::I64, DType::Bool] {
        for count in [2, 4] {
            for (outer, extent) in [(2, 31), (1, 32), (3, 33), (2, 64), (1, 100), (1, 257)] {
                let kinds = run(d, [outer, extent, extent], &pairs[..count], setting);
                assert_eq!(kinds, ["mirrored"], "{d} {extent}");
            }
            assert_eq!(run(d, [2, 40, 70], &pairs[..count], setting), ["transpose"], "{d}");
        }
        // Parts of a region that is cut are beside the diagonal, or not square.
        let small = Setting { shrunk: true, ..setting };
        assert!(run(d, [1, 170, 170], &pairs, small).iter().all(|kind| *kind == "transpose"), "{d}");
        // An array without a twin is a source as it is; transposed it is none.
        assert_eq!(run(d, [1, 45, 45], &[(1, true), (2, false), (1, false)], setting), ["mirrored"]);
        assert_eq!(run(d, [1, 45, 45], &[(1, true), (2, false), (3, false)], setting), ["transpose"]);
    }
    // Two squares of three arrays of 8 bytes are more than a text may declare.
    let many = [(1, false), (1, true), (2, true), (2, false), (3, true), (3, false)];
    assert_eq!(run(DType::F32, [1, 64, 64], &many, setting), ["mirrored"]);
    assert!(!run(DType::F64, [1, 64, 64], &many, setting).contains(&"mirrored"));
    // What a kernel changes in place it has read before another thread's square is stored.
    let mut k = Builder::new("into", 3);
    let (a, b, both) = (k.input(DType::F32), k.input(DType::F32), k.inout(DType::F32));
    let [x, y, old] = [a, b, both].map(|param| k.load(param, &[0; 3]));
    let sum = k.binary(BinaryOp::Add, x, y);
    let sum = k.binary(BinaryOp::Add, sum, old);
    let kernel = k.elementwise(&[(both, sum)]).unwrap();
    let (launch, mut arrays) = by_two_launch(&kernel, [2, 45, 45], &[(1, false), (1, true)]);
    arrays[2] = small_numbers(DType::F32, 2 * 45 * 45, 5);
    assert_eq!(agree(&kernel, &launch, &arrays, setting), ["transpose"]);
}

#[test]
fn copies_through_transposed_reversed_and_broadcast_views() {
    let (rows, columns) = (37i64, 53i64);
    let inputs = [
        (0, vec![columns, 1]),
        (0, vec![1, rows]),
        (rows * columns - 1, vec![-columns, -1]),
        (5, vec![0, 1]),
        (5, vec![1, 0]),
        (7, vec![0, 0]),
    ];
    let outputs = [
        (0, vec![columns, 1]),
        (2, vec![columns + 3, 1]),
        (3, vec![1, rows]),
        (rows * columns - 1, vec![-columns, -1]),
    ];
    let mut tally = Tally::default();
    for d in [DType::Bool, DType::U8, DType::I16, DType::F16, DType::I32, DType::F64] {
        for input in &inputs {
            for output in &outputs {
                let views = [input.clone(), output.clone()];
                let (kernel, launch, arrays) = copy_case(d, [rows as usize, columns as usize], views);
                tally.everywhere(&kernel, &launch, &arrays);
            }
        }
    }
    tally.ran_through(&["pointwise", "transpose", "vector"]);
}

/// Straight, transposed and broadcast operands of different widths, a coordinate, and an output that is read.
#[test]
fn transposed_operands_go_through_squares() {
    let mut k = Builder::new("turned", 3);
    let (a, b, c) = (k.input(DType::F32), k.input(DType::U8), k.input(DType::Bool));
    let (both, out) = (k.inout(DType::F32), k.output(DType::F64));
    let (x, y, z) = (k.load(a, &[0; 3]), k.load(b, &[0; 3]), k.load(c, &[0; 3]));
    let (old, at) = (k.load(both, &[0; 3]), k.coord(1, DType::I32));
    let (y, at) = (k.cast(y, DType::F32), k.cast(at, DType::F32));
    let sum = k.binary(BinaryOp::Add, x, y);
    let sum = k.binary(BinaryOp::Sub, sum, at);
    let new = k.select(z, sum, old);
    let wide = k.cast(old, DType::F64);
    let kernel = k.elementwise(&[(both, new), (out, wide)]).unwrap();
    let mut tally = Tally::default();
    for extents in [[1usize, 32, 64], [3, 45, 71], [40, 2, 17], [20, 90, 33]] {
        let [d, h, w] = extents.map(|e| e as i64);
        let n: usize = extents.iter().product();
        let straight = vec![h * w, w, 1];
        let turned = [vec![h * w, 1, h], vec![1, d * w, d], vec![h, 1, d * h]];
        for (first, second) in [(0, 1), (1, 2), (2, 0)] {
            let view = |strides: &[i64]| View { offset: 0, strides: strides.to_vec() };
            let views = vec![
                view(&turned[first]),
                view(&turned[second]),
                view(&[0, 1, 0]),
                view(&straight),
                view(&straight),
            ];
            let launch =
                Launch { extents: extents.to_vec(), origin: vec![0, -7, 0], views, arguments: vec![] };
            let arrays = vec![
                small_numbers(DType::F32, n, 1),
                small_numbers(DType::U8, n, 2),
                bytes(DType::Bool, (0..n).map(|i| u64::from(i % 3 == 0))),
                small_numbers(DType::F32, n, 4),
                vec![0; 8 * n],
            ];
            tally.everywhere(&kernel, &launch, &arrays);
        }
    }
    tally.ran_through(&["pointwise", "transpose", "vector"]);
}

#[test]
fn points_of_no_dimension_and_of_eight() {
    let mut tally = Tally::default();
    let launch = |extents: &[usize]| {
        let view = View { offset: 1, strides: c_strides(extents) };
        let padded: Vec<i64> = (0..extents.len()).map(|k| 5i64.pow((7 - k) as u32)).collect();
        let origin = vec![0; extents.len()];
        let views = vec![View { offset: 0, strides: padded }, view];
        Launch { extents: extents.to_vec(), origin, views, arguments: vec![] }
    };
    for extents in [&[][..], &[2, 1, 3, 2, 1, 2, 3, 2], &[1, 1, 1, 1, 1, 1, 1, 4], &[4, 1, 1, 1, 1, 1, 1, 1]]
    {
        let arrays = vec![
            small_numbers(DType::I32, 5usize.pow(8), 3),
            vec![0; 4 * (extents.iter().product::<usize>() + 2)],
        ];
        tally.everywhere(&copy(DType::I32, extents.len()), &launch(extents), &arrays);
    }
    tally.ran_through(&["pointwise"]);
}

#[test]
fn coordinates_survive_merging() {
    let mut k = Builder::new("coordinates", 3);
    let outputs = [DType::I32, DType::I32, DType::I64].map(|d| k.output(d));
    let values = [k.coord(0, DType::I32), k.coord(1, DType::I32), k.coord(2, DType::I64)];
    let kernel = k.elementwise(&[0, 1, 2].map(|n| (outputs[n], values[n]))).unwrap();
    let mut tally = Tally::default();
    for extents in [[3usize, 4, 50], [1, 1, 7], [300, 1, 1], [1, 90, 1], [2, 300, 1]] {
        let n: usize = extents.iter().product();
        let view = View { offset: 0, strides: c_strides(&extents) };
        let launch = Launch {
            extents: extents.to_vec(),
            origin: vec![-5, 1 << 20, 1 << 40],
            views: vec![view; 3],
            arguments: vec![],
        };
        tally.everywhere(&kernel, &launch, &[4, 4, 8].map(|size| vec![0; n * size]).to_vec());
    }
    tally.ran_through(&["pointwise", "vector"]);
}

#[test]
fn mixed_widths_share_a_vector() {
    let types = [DType::U8, DType::Bool, DType::F16, DType::I32, DType::F64];
    let mut tally = Tally::default();
    for a in types {
        for b in types {
            let mut k = Builder::new("mixed", 1);
            let (x, y, out) = (k.input(a), k.input(b), k.output(b));
            let (x, y) = (k.load(x, &[0]), k.load(y, &[0]));
            let x = k.cast(x, b);
            let value = k.binary(BinaryOp::Max, x, y);
            let kernel = k.elementwise(&[(out, value)]).unwrap();
            for (n, offset) in [(100usize, 0i64), (77, 1), (333, 5)] {
                let view = |offset| View { offset, strides: vec![1] };
                let launch = Launch {
                    extents: vec![n],
                    origin: vec![0],
                    views: vec![view(offset), view(0), view(offset)],
                    arguments: vec![],
                };
                let len = n + offset as usize + 3;
                let arrays = vec![
                    small_numbers(a, len, 1),
                    small_numbers(b, len, 2),
                    vec![0x33; len * b.size_bytes()],
                ];
                tally.everywhere(&kernel, &launch, &arrays);
            }
        }
    }
    tally.ran_through(&["vector"]);
}
