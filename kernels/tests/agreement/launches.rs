//! Kernels of every form with a launch and memory, parameterised by what a test varies.

use partita_kernels::{BinaryOp, Builder, DType, FoldOp, Launch, Scalar, Verified, View};

use super::{Arrays, bytes, c_strides, cases, line, sevenths, small_numbers};

/// A kernel, a launch of it and its memory.
pub type Case = (Verified, Launch, Arrays);

/// The output's strides: 0 where the dimension folds away.
fn kept(extents: &[usize], axes: &[bool]) -> (Vec<usize>, Vec<i64>) {
    let kept: Vec<usize> = extents.iter().zip(axes).map(|(&e, &f)| if f { 1 } else { e }).collect();
    let strides = c_strides(&kept).into_iter().zip(axes).map(|(s, &f)| if f { 0 } else { s }).collect();
    (kept, strides)
}

/// A fold, none where the type has no such operation. Sums and products of floats are rounded, so that their
/// order shows.
pub fn fold_case(op: FoldOp, d: DType, extents: &[usize], axes: &[bool]) -> Option<Case> {
    let kernel = cases::fold(op, d, axes).ok()?;
    let n: usize = extents.iter().product();
    let input = match op {
        FoldOp::Sum if d.is_float() => sevenths(d, n, 5),
        FoldOp::Product if d.is_float() => near_one(d, n),
        _ => small_numbers(d, n, 5),
    };
    let (kept, strides) = kept(extents, axes);
    let views = vec![View { offset: 0, strides: c_strides(extents) }, View { offset: 1, strides }];
    let launch =
        Launch { extents: extents.to_vec(), origin: vec![0; extents.len()], views, arguments: vec![] };
    let output = vec![0xa5; (kept.iter().product::<usize>() + 2) * d.size_bytes()];
    Some((kernel, launch, vec![input, output]))
}

/// A fold whose points also store, see [`cases::stored_fold`], over an array with a border. What is stored
/// has `gap` elements between rows.
pub fn stored_fold_case(
    op: FoldOp,
    d: DType,
    (extents, axes): (&[usize], &[bool]),
    neighbours: bool,
    gap: usize,
) -> Option<Case> {
    let kernel =
        if neighbours { cases::stored_fold(op, d, axes) } else { cases::stored_sum(d, axes) }.ok()?;
    let border = if neighbours { 1 } else { 0 };
    let whole: Vec<usize> = extents.iter().map(|&e| e + 2 * border).collect();
    let from =
        View { offset: c_strides(&whole).iter().sum::<i64>() * border as i64, strides: c_strides(&whole) };
    let (kept, strides) = kept(extents, axes);
    let mut rows = extents.to_vec();
    *rows.last_mut()? += gap;
    let to = View { offset: gap as i64, strides: c_strides(&rows) };
    let stores = kernel.kernel().stores_of_folds().len();
    let views = [vec![from, View { offset: 1, strides }], vec![to; stores]].concat();
    let launch =
        Launch { extents: extents.to_vec(), origin: vec![0; extents.len()], views, arguments: vec![] };
    let count = |extents: &[usize]| extents.iter().product::<usize>();
    let size = d.size_bytes();
    let stored = vec![0xa5; (count(&rows) + gap) * size];
    let arrays =
        [vec![sevenths(d, count(&whole), 5), vec![0xa5; (count(&kept) + 2) * size]], vec![stored; stores]];
    Some((kernel, launch, arrays.concat()))
}

/// Extents and walked dimensions of scans: along each side of a box, of lines side by side and of one line.
pub const SCANS: [(&[usize], usize); 9] = [
    (&[61], 0),
    (&[1], 0),
    (&[0], 0),
    (&[50, 16], 1),
    (&[16, 600], 0),
    (&[7, 300], 0),
    (&[9, 0], 0),
    (&[3, 50, 16], 1),
    (&[5, 33, 2, 7], 1),
];

/// A scan, none where the type has no such operation: see [`cases::scan`]. Starts have no gap between them.
pub fn scan_case(op: FoldOp, d: DType, extents: &[usize], axis: usize, computed: bool) -> Option<Case> {
    let kernel = cases::scan(op, d, (extents.len(), axis), computed).ok()?;
    let n: usize = extents.iter().product();
    let values = |n: usize| match op {
        FoldOp::Sum if d.is_float() => sevenths(d, n, 5),
        FoldOp::Product if d.is_float() => near_one(d, n),
        _ => small_numbers(d, n, 5),
    };
    let walked: Vec<bool> = (0..extents.len()).map(|dim| dim == axis).collect();
    let (lines, strides) = kept(extents, &walked);
    let whole = |offset: i64| View { offset, strides: c_strides(extents) };
    let views = vec![whole(0), View { offset: 0, strides }, whole(1)];
    let launch =
        Launch { extents: extents.to_vec(), origin: vec![0; extents.len()], views, arguments: vec![] };
    let lines: usize = lines.iter().product();
    Some((kernel, launch, vec![values(n), values(lines), vec![0xa5; (n + 2) * d.size_bytes()]]))
}

/// A fold of floats whose bits tell the order in which they were combined, over an array whose dimensions are
/// in memory in some order, the last one fastest. It may begin at an odd element.
pub fn ordered_fold_case(op: FoldOp, d: DType, extents: &[usize], axes: &[bool], order: &[usize]) -> Case {
    let n: usize = extents.iter().product();
    let random = &mut Random(n as u64 + 77);
    let mut value = |_| {
        let unit = random.next() as f64 / u64::MAX as f64;
        if op == FoldOp::Product { 0.9 + 0.2 * unit } else { (unit - 0.3) / 7.0 }
    };
    let before = n % 4;
    let values = (0..n).map(|at| Scalar::from_f64(d, value(at)).bits);
    let input = bytes(d, std::iter::repeat_n(0, before).chain(values));
    let mut input_strides = vec![0; extents.len()];
    let in_memory: Vec<usize> = order.iter().map(|&dim| extents[dim]).collect();
    order.iter().zip(c_strides(&in_memory)).for_each(|(&dim, stride)| input_strides[dim] = stride);
    let (kept, strides) = kept(extents, axes);
    let views = vec![View { offset: before as i64, strides: input_strides }, View { offset: 1, strides }];
    let launch =
        Launch { extents: extents.to_vec(), origin: vec![0; extents.len()], views, arguments: vec![] };
    let output = vec![0xa5; (kept.iter().product::<usize>() + 2) * d.size_bytes()];
    (cases::fold(op, d, axes).unwrap(), launch, vec![input, output])
}

/// Numbers around 1, so that products of many are still numbers.
fn near_one(d: DType, n: usize) -> Vec<u8> {
    let random = &mut Random(88_172_645_463_325_252);
    let near = |_| Scalar::from_f64(d, 1.0 + (random.next() as f64 / u64::MAX as f64 - 0.5) / 8.0).bits;
    bytes(d, (0..n).map(near))
}

/// Numbers without pattern (Marsaglia's xorshift64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Summands that are hard in different ways.
pub fn hard_summands(d: DType, n: usize, seed: u64) -> Vec<(&'static str, Vec<u64>)> {
    let random = &mut Random(seed);
    let float = |value: f64| Scalar::from_f64(d, value).bits;
    let unit = |r: &mut Random| r.next() as f64 / u64::MAX as f64;
    let width = 8 * d.size_bytes();
    let mask = u64::MAX >> (64 - width);
    let infinity = float(f64::INFINITY);
    let finite = |bits: u64| if bits & infinity == infinity { bits & !infinity } else { bits };
    let many = |make: &mut dyn FnMut(usize) -> u64| (0..n).map(make).collect::<Vec<u64>>();
    let pairs = {
        let some: Vec<u64> = (0..n / 2).map(|_| finite(random.next() & mask)).collect();
        let turned = some.iter().map(|bits| bits ^ 1 << (width - 1));
        some.iter().copied().chain(turned).chain(std::iter::repeat_n(float(0.1), n % 2)).collect()
    };
    vec![
        ("a tenth", many(&mut |_| float(0.1))),
        ("uniform", many(&mut |_| float(unit(random)))),
        ("both signs", many(&mut |_| float(unit(random) - 0.5))),
        ("any finite", many(&mut |_| finite(random.next() & mask))),
        ("cancelling", pairs),
        ("tiny", many(&mut |_| random.next() & mask & !infinity)),
        ("huge", many(&mut |at| float(if at % 3 == 0 { -1.0 } else { 1.0 }) | (infinity - 1) >> 1 << 1)),
        ("negative zeros", many(&mut |_| float(-0.0))),
        (
            "halves of the last place",
            many(&mut |at| {
                float(if at == 0 { 1.0 } else { 2f64.powi(if d == DType::F64 { -53 } else { -24 }) })
            }),
        ),
        ("an infinity", many(&mut |at| float(if at == n / 2 { f64::NEG_INFINITY } else { 3e30 }))),
        (
            "two infinities",
            many(&mut |at| float(if at % 2 == 0 { f64::INFINITY } else { f64::NEG_INFINITY })),
        ),
        ("a NaN", many(&mut |at| float(if at == n - 1 { f64::NAN } else { 1.0 }))),
    ]
}

/// A sum over some dimensions of an array that is not contiguous.
pub fn strided_fold_case(d: DType, extents: &[usize], axes: &[bool], input: View) -> Case {
    let (kept, strides) = kept(extents, axes);
    let views = vec![input, View { offset: 0, strides }];
    let launch =
        Launch { extents: extents.to_vec(), origin: vec![0; extents.len()], views, arguments: vec![] };
    let output = vec![0; kept.iter().product::<usize>() * d.size_bytes()];
    let input = if d.is_float() { sevenths(d, 2000, 3) } else { small_numbers(d, 2000, 3) };
    (cases::fold(FoldOp::Sum, d, axes).unwrap(), launch, vec![input, output])
}

/// The extreme of each row with its column; floats with NaN in some places.
pub fn arg_fold_case(largest: bool, d: DType, index: DType, shape: [usize; 2], seed: u64) -> Case {
    let [rows, columns] = shape;
    let mut input = small_numbers(d, rows * columns, seed);
    if d.is_float() && columns > 1 {
        for at in [columns / 2, columns - 2, rows * columns - 1] {
            let nan = bytes(d, [Scalar::from_f64(d, f64::NAN).bits]);
            input[at * d.size_bytes()..][..nan.len()].copy_from_slice(&nan);
        }
    }
    let out = View { offset: 0, strides: vec![1, 0] };
    let views = vec![View { offset: 0, strides: vec![columns as i64, 1] }, out.clone(), out];
    let launch = Launch { extents: vec![rows, columns], origin: vec![0, 100], views, arguments: vec![] };
    let arrays = vec![input, vec![0; rows * d.size_bytes()], vec![0; rows * index.size_bytes()]];
    (cases::arg_fold(largest, d, index, &[false, true]).unwrap(), launch, arrays)
}

/// A gather, a scatter and an adding scatter through these indices, of a source (target) of `len` elements
/// behind the three that its view skips.
pub fn indexed_cases(d: DType, index: DType, indices: &[i64], len: usize) -> Vec<Case> {
    let n = indices.len();
    let indices = bytes(index, indices.iter().map(|&i| Scalar::from_i64(index, i).bits));
    let source = small_numbers(d, len + 3, 11);
    let launch = |views: [View; 3]| Launch {
        extents: vec![n],
        origin: vec![0],
        views: views.to_vec(),
        arguments: vec![],
    };
    let output = vec![0x5a; (n + 2) * d.size_bytes()];
    let gather = (
        cases::gather(d, index).unwrap(),
        launch([line(0), line(3), line(1)]),
        vec![indices.clone(), source.clone(), output],
    );
    let scatters = [false, true].into_iter().filter_map(|add| cases::scatter(d, index, add).ok());
    let scatters = scatters.map(|kernel| {
        let arrays = vec![indices.clone(), small_numbers(d, n + 1, 12), source.clone()];
        (kernel, launch([line(0), line(1), line(3)]), arrays)
    });
    std::iter::once(gather).chain(scatters).collect()
}

/// A launch of a stencil over the inside of arrays with margins, odd offsets and padded rows.
pub fn stencil_launch(d: DType, extents: &[usize], pad: usize) -> (Launch, Arrays) {
    let padded: Vec<usize> = extents.iter().map(|e| e + pad).collect();
    let strides = c_strides(&padded);
    let offset: i64 = strides.iter().sum();
    let len = padded.iter().product::<usize>() + 5;
    let view = |offset| View { offset, strides: strides.clone() };
    let launch = Launch {
        extents: extents.to_vec(),
        origin: (0..extents.len()).map(|k| 10 * k as i64 - 3).collect(),
        views: vec![view(offset), view(offset + 1), view(offset + if pad == 3 { 3 } else { 1 })],
        arguments: vec![Scalar::from_i64(d, 3)],
    };
    let arrays = (0..3).map(|seed| small_numbers(d, len, seed + 20)).collect();
    (launch, arrays)
}

pub fn copy(d: DType, rank: usize) -> Verified {
    let mut k = Builder::new("copy", rank);
    let (input, output) = (k.input(d), k.output(d));
    let value = k.load(input, &vec![0; rank]);
    k.elementwise(&[(output, value)]).unwrap()
}

/// A copy of two dimensions between views.
pub fn copy_case(d: DType, extents: [usize; 2], views: [(i64, Vec<i64>); 2]) -> Case {
    let reach = |(offset, strides): &(i64, Vec<i64>)| {
        let far = strides.iter().zip(extents).map(|(&s, e)| s.max(0) * (e as i64 - 1)).sum::<i64>();
        (offset + far) as usize + 4
    };
    let n = views.iter().map(reach).max().unwrap();
    let views = views.map(|(offset, strides)| View { offset, strides }).to_vec();
    let launch = Launch { extents: extents.to_vec(), origin: vec![0, 0], views, arguments: vec![] };
    (copy(d, 2), launch, vec![small_numbers(d, n, 31), vec![0x77; n * d.size_bytes()]])
}

/// The sum of an array's elements at some offsets, each times a number of its own, so that none can be
/// taken for another.
pub fn weighted(name: &str, d: DType, offsets: &[Vec<i32>]) -> Verified {
    let mut k = Builder::new(name, offsets[0].len());
    let (input, output) = (k.input(d), k.output(d));
    let terms: Vec<_> = (offsets.iter().enumerate())
        .map(|(n, offsets)| {
            let value = k.load(input, offsets);
            let weight = k.constant(Scalar::from_i64(d, n as i64 % 5 + 1));
            k.binary(BinaryOp::Mul, value, weight)
        })
        .collect();
    let sum = terms.into_iter().reduce(|a, b| k.binary(BinaryOp::Add, a, b)).unwrap();
    k.elementwise(&[(output, sum)]).unwrap()
}

/// The point and its neighbours up to `radius` away along each axis.
pub fn star(rank: usize, radius: i32) -> Vec<Vec<i32>> {
    let away = (0..rank).flat_map(|k| (1..=radius).flat_map(move |r| [(k, -r), (k, r)]));
    let at = |(k, r): (usize, i32)| (0..rank).map(|n| if n == k { r } else { 0 }).collect();
    std::iter::once(vec![0; rank]).chain(away.map(at)).collect()
}

/// All points of the cube around the point.
pub fn cube(rank: usize, radius: i32) -> Vec<Vec<i32>> {
    (0..rank).fold(vec![vec![]], |all, _| {
        all.iter().flat_map(|o| (-radius..=radius).map(move |d| [o.as_slice(), &[d]].concat())).collect()
    })
}
