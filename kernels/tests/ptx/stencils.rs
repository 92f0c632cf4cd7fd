//! Stencils of every reach: point by point, by vectors, and plane by plane through registers.

use partita_kernels::ptx::PtxTarget;
use partita_kernels::{BinaryOp, Builder, DType, Launch, Scalar, Verified, View};

use crate::agreement::{
    Arrays, bytes, c_strides, cases, cube, sevenths, small_numbers, star, stencil_launch, weighted,
};
use crate::machine::{Setting, Tally, agree};

#[test]
fn stencils_of_every_type_and_rank() {
    let shapes: [&[usize]; 8] =
        [&[3000], &[7, 300], &[60, 41], &[5, 6, 70], &[3, 4, 5, 6], &[2, 3, 4, 40], &[1, 1], &[0, 5]];
    let mut tally = Tally::default();
    for d in DType::ALL.into_iter().filter(|&d| d != DType::Bool) {
        for extents in shapes {
            let kernel = cases::stencil(d, extents.len()).unwrap();
            for pad in [3, 4] {
                let (launch, arrays) = stencil_launch(d, extents, pad);
                tally.everywhere(&kernel, &launch, &arrays);
            }
        }
    }
    tally.ran_through(&["pointwise", "vector"]);
}

#[test]
fn stencils_that_reach_far_along_rows() {
    let mut tally = Tally::default();
    for d in [DType::U8, DType::F16, DType::F32, DType::F64] {
        for reach in [2, 3, 5, 8] {
            let mut k = Builder::new("wide", 1);
            let (input, output) = (k.input(d), k.output(d));
            let values: Vec<_> = (-reach..=reach).map(|d| k.load(input, &[d])).collect();
            let sum = values.into_iter().reduce(|a, b| k.binary(BinaryOp::Add, a, b)).unwrap();
            let kernel = k.elementwise(&[(output, sum)]).unwrap();
            let n = 500usize;
            for shift in [0, 1, 3] {
                let views = vec![
                    View { offset: i64::from(reach) + shift, strides: vec![1] },
                    View { offset: 0, strides: vec![1] },
                ];
                let launch = Launch { extents: vec![n], origin: vec![0], views, arguments: vec![] };
                let len = n + 2 * reach as usize + shift as usize;
                let arrays = vec![small_numbers(d, len, 9), vec![0; n * d.size_bytes()]];
                tally.everywhere(&kernel, &launch, &arrays);
            }
        }
    }
    tally.ran_through(&["vector"]);
}

/// Of so many arrays a thread computes one point, of 16-bit elements, too.
#[test]
fn stencils_of_many_arrays() {
    let mut tally = Tally::default();
    for d in [DType::F16, DType::BF16, DType::I8, DType::F32, DType::F64] {
        let kernel = many(d, false);
        for (extents, ahead) in [([5, 301], 0), ([3, 64], 1), ([4, 9], 5)] {
            let (launch, arrays) = inside(&kernel, &extents, 2, ahead);
            tally.everywhere(&kernel, &launch, &arrays);
            let entries = agree(&kernel, &launch, &arrays, Setting::PLAIN);
            assert!(entries.iter().all(|&ran| ran == "planes"), "{d} {entries:?}");
            // Results whose rows are farther apart than those of the arrays that are read.
            let mut farther = launch.clone();
            farther.views[..17].iter_mut().for_each(|view| view.strides[0] -= 8);
            let entries = agree(&kernel, &farther, &arrays, Setting::PLAIN);
            assert!(entries.iter().all(|&ran| ran == "planes"), "{d} {entries:?}");
            // An array whose rows go backwards, and one whose rows are farther apart.
            let mut turned = launch.clone();
            turned.views[3].offset += extents[1] as i64 - 1;
            turned.views[3].strides[1] = -1;
            let entries = agree(&kernel, &turned, &arrays, Setting::PLAIN);
            assert!(entries.iter().all(|&ran| ran == "pointwise"), "{d} {entries:?}");
            let mut apart = launch.clone();
            apart.views[3].strides[0] -= 4;
            let entries = agree(&kernel, &apart, &arrays, Setting::PLAIN);
            assert!(entries.iter().all(|&ran| ran == "pointwise"), "{d} {entries:?}");
        }
    }
    let kernel = many(DType::F32, true);
    let (launch, arrays) = inside(&kernel, &[5, 301], 2, 0);
    let entries = agree(&kernel, &launch, &arrays, Setting::PLAIN);
    assert!(entries.iter().all(|&ran| ran == "pointwise"), "{entries:?}");
    tally.ran_through(&["pointwise", "planes"]);
}

/// 17 arrays, each read at another place, or the first only where it is written, and 19 results of all of
/// them.
pub fn many(d: DType, in_place: bool) -> Verified {
    let mut k = Builder::new("many", 2);
    let mut inputs: Vec<u32> = (0..17 - usize::from(in_place)).map(|_| k.input(d)).collect();
    let mut outputs: Vec<u32> = (0..19 - usize::from(in_place)).map(|_| k.output(d)).collect();
    let mut values: Vec<_> =
        (-1..).zip(&inputs).map(|(n, &input)| k.load(input, &[n % 2, n % 3 - 1])).collect();
    if in_place {
        inputs.push(k.inout(d));
        outputs.push(inputs[16]);
        values.push(k.load(inputs[16], &[0, 0]));
    }
    let sum = values.iter().copied().reduce(|a, b| k.binary(BinaryOp::Add, a, b)).unwrap();
    let stores: Vec<_> = outputs
        .into_iter()
        .zip(values.iter().cycle())
        .map(|(output, &value)| (output, k.binary(BinaryOp::Mul, value, sum)))
        .collect();
    k.elementwise(&stores).unwrap()
}

/// Fields with a star each, weighted by distance; every result takes its own and another one's centre.
pub fn fields(d: DType, rank: usize, radius: i32, count: usize) -> Verified {
    let mut k = Builder::new("fields", rank);
    let params: Vec<u32> = (0..count).map(|_| k.input(d)).collect();
    let centers: Vec<_> = params.iter().map(|&param| k.load(param, &vec![0; rank])).collect();
    let sums: Vec<_> = params
        .iter()
        .zip(&centers)
        .map(|(&param, &center)| {
            (1..=radius).fold(center, |sum, r| {
                let sites = star(rank, r).into_iter().filter(|site| site.iter().any(|&o| o.abs() == r));
                let loads: Vec<_> = sites.map(|site| k.load(param, &site)).collect();
                let shell = loads.into_iter().reduce(|a, b| k.binary(BinaryOp::Add, a, b)).unwrap();
                let weight = k.argument(d);
                let term = k.binary(BinaryOp::Mul, shell, weight);
                k.binary(BinaryOp::Add, sum, term)
            })
        })
        .collect();
    let outputs: Vec<u32> = (0..count).map(|_| k.output(d)).collect();
    let product = |(n, output)| (output, k.binary(BinaryOp::Mul, sums[n], centers[(n + 1) % count]));
    let stores: Vec<_> = outputs.into_iter().enumerate().map(product).collect();
    k.elementwise(&stores).unwrap()
}

/// The inside of a grid whose planes are padded to whole vectors: `halo` cells around the region, rows of
/// the input beginning `ahead` elements after those of the output.
pub fn inside(kernel: &Verified, extents: &[usize], halo: usize, ahead: i64) -> (Launch, Arrays) {
    let last = extents.len() - 1;
    let mut padded: Vec<usize> = extents.iter().map(|e| e + 2 * halo).collect();
    padded[last] = padded[last].next_multiple_of(16);
    let strides = c_strides(&padded);
    let offset = halo as i64 * strides.iter().sum::<i64>();
    let len = padded.iter().product::<usize>() + 16;
    let params = &kernel.kernel().params;
    let views = (0..params.len()).map(|p| {
        let written = params[p].access != partita_kernels::Access::In;
        View { offset: offset + if written { 0 } else { ahead }, strides: strides.clone() }
    });
    let arrays = params.iter().enumerate().map(|(p, param)| sevenths(param.dtype, len, 3 + p as u64));
    let origin = vec![0; extents.len()];
    let arguments = kernel.kernel().arguments.iter().map(|&d| Scalar::from_i64(d, 3)).collect();
    (Launch { extents: extents.to_vec(), origin, views: views.collect(), arguments }, arrays.collect())
}

/// Stencils by planes or streamed: stars of every radius and full cubes, in two and three dimensions.
fn streamed(d: DType) -> Vec<(Verified, usize)> {
    let stars = (1..=4).flat_map(|radius| [2, 3].map(|rank| (star(rank, radius), radius as usize)));
    let all = stars.chain([(cube(2, 1), 1), (cube(3, 1), 1), (cube(2, 2), 2)]);
    all.map(|(offsets, halo)| (weighted(&format!("{}_points", offsets.len()), d, &offsets), halo)).collect()
}

/// Star-shaped or of near neighbours, a stencil goes by several planes of a thread; else it is streamed.
fn offered(kernel: &Verified, target: PtxTarget) -> &'static str {
    let module = partita_kernels::ptx::emit(kernel, &target).unwrap();
    let offers = |kind: &&str| module.entries.iter().any(|entry| entry.kind == *kind);
    ["planes", "streaming"].into_iter().find(offers).unwrap()
}

#[test]
fn stencils_go_by_planes_or_are_streamed() {
    let plain = Setting { target: PtxTarget { sm: 90 }, multiprocessors: 1, ..Setting::PLAIN };
    let (mut ran, mut kinds) = (0, std::collections::BTreeSet::new());
    for d in [DType::F16, DType::BF16, DType::F32, DType::F64, DType::I16, DType::I32, DType::U64] {
        for (kernel, halo) in streamed(d) {
            let expected = offered(&kernel, plain.target);
            kinds.insert(expected);
            // Odd ends, blocks that are not full, several walks; rows begin at different places of a vector.
            let planes = 8 * halo + 1;
            let (whole, cut) = match kernel.kernel().rank {
                2 => (vec![planes, 1501], vec![planes, 333]),
                _ => (vec![planes, 13, 201], vec![4 * halo + 1, 11, 137]),
            };
            let shrunk = Setting { shrunk: true, shift: 16, ..plain };
            let cases = [(&whole, halo, plain), (&cut, halo + 1, shrunk), (&cut, halo + 2, shrunk)];
            for (extents, margin, setting) in &cases[usize::from(d != DType::F32)..] {
                let (launch, arrays) = inside(&kernel, extents, *margin, 0);
                let entries = agree(&kernel, &launch, &arrays, *setting);
                // What cuts leave of too few planes goes by vectors.
                let is_expected = |entry: &str| entry == expected || setting.shrunk && entry == "vector";
                assert!(entries.iter().all(|entry| is_expected(entry)), "{d} {margin} {entries:?}");
                assert!(entries.contains(&expected), "{d} {margin} {entries:?}");
                ran += 1;
            }
        }
    }
    assert_eq!(kinds.len(), 2, "{kinds:?}");
    println!("ran: ptx-cases {ran}");
}

#[test]
fn what_does_not_stream_is_a_vector_or_a_point() {
    let kernel = weighted("cube_27", DType::F32, &cube(3, 1));
    let (whole, arrays) = inside(&kernel, &[16, 13, 101], 1, 0);
    let turned = |view: &View, dim: usize, sign: i64| {
        let mut view = view.clone();
        view.offset += (view.strides[dim] * (whole.extents[dim] as i64 - 1)) * i64::from(sign < 0);
        view.strides[dim] *= sign;
        view
    };
    let tried = |launch: &Launch, entry: &'static str| {
        let plain = Setting { multiprocessors: 1, ..Setting::PLAIN };
        // On grids cut small, what is too small to be worth streaming is streamed, too.
        let cut = (entry == "streaming").then_some(Setting { shrunk: true, shift: 16, ..plain });
        for setting in std::iter::once(plain).chain(cut) {
            let entries = agree(&kernel, launch, &arrays, setting);
            assert!(entries.iter().all(|&ran| ran == entry), "{entry}: {entries:?}");
        }
    };
    tried(&whole, "streaming");
    // Too few planes for the registers; planes that are not whole vectors apart.
    tried(&Launch { extents: vec![7, 13, 101], ..whole.clone() }, "vector");
    // Rows that are half a block, and a few rows of a block.
    tried(&Launch { extents: vec![16, 13, 25], ..whole.clone() }, "vector");
    tried(&Launch { extents: vec![16, 3, 101], ..whole.clone() }, "vector");
    for output in [0, 1] {
        let mut uneven = whole.clone();
        uneven.extents = vec![12, 13, 90];
        uneven.views[output].strides[0] -= 1;
        tried(&uneven, "vector");
    }
    // Backwards through planes and rows, and the same plane again and again, are plans all the same.
    for (dim, sign) in [(0, -1), (1, -1), (0, 0), (1, 0)] {
        let input = turned(&whole.views[0], dim, sign);
        tried(&Launch { views: vec![input, whole.views[1].clone()], ..whole.clone() }, "streaming");
    }
    // Rows that are not whole vectors apart: one aligned, those beside it not.
    let mut narrow = whole.clone();
    narrow.views.iter_mut().for_each(|view| view.strides[1] -= 1);
    tried(&narrow, "vector");
    // Rows of the input that are out of phase with those of the output.
    let mut shifted = whole.clone();
    shifted.views[0].offset += 1;
    tried(&shifted, "vector");
    // Neighbours of a row that are not side by side in memory.
    for sign in [-1, 0] {
        let input = turned(&whole.views[0], 2, sign);
        tried(&Launch { views: vec![input, whole.views[1].clone()], ..whole.clone() }, "pointwise");
    }
    // Too few points for every multiprocessor to have a block.
    let mut tally = Tally::on(100);
    tally.everywhere(&kernel, &whole, &arrays);
    tally.ran_through(&["vector"]);
}

#[test]
fn what_goes_by_planes_and_what_does_not() {
    let kernel = weighted("star_7", DType::F32, &star(3, 1));
    let tried = |extents: &[usize], change: &dyn Fn(&mut Launch), multiprocessors: u32, entry: &str| {
        let (mut launch, arrays) = inside(&kernel, extents, 1, 0);
        change(&mut launch);
        let entries = agree(&kernel, &launch, &arrays, Setting { multiprocessors, ..Setting::PLAIN });
        assert!(entries.iter().all(|&ran| ran == entry), "{extents:?} {entry}: {entries:?}");
    };
    let as_it_is = |_: &mut Launch| {};
    // Whole vectors; rows of every length; one vector of a row is all that a warp has.
    for x in [14, 8, 9, 10, 11, 61, 130] {
        tried(&[9, 5, x], &as_it_is, 1, "planes");
    }
    // Blocks are full of planes or not.
    for z in [4, 5, 6, 7, 8] {
        tried(&[z, 3, 30], &as_it_is, 1, "planes");
    }
    // Backwards through planes, and the same row again and again.
    tried(&[9, 5, 30], &|launch| launch.views[0].strides[0] = 0, 1, "planes");
    // Too few planes, points of a row, or blocks; arrays out of phase; rows that are not whole vectors apart.
    tried(&[3, 5, 30], &as_it_is, 1, "vector");
    tried(&[9, 5, 7], &as_it_is, 1, "pointwise");
    tried(&[9, 5, 30], &as_it_is, 4, "vector");
    tried(&[9, 5, 30], &|launch| launch.views[0].offset += 1, 1, "vector");
    tried(&[9, 5, 29], &|launch| launch.views.iter_mut().for_each(|v| v.strides[1] -= 1), 1, "vector");
}

/// Rows as the engine lays them out, whatever their length and their halos: at multiples of 16 bytes for
/// coordinate 0, where padding is cheap. Every such stencil takes the same entry.
#[test]
fn halos_of_any_width_and_odd_extents_go_by_planes() {
    let laid_out = |d: DType, extents: &[usize], halo: usize| {
        let lanes = 16 / d.size_bytes();
        let lead = (lanes - halo % lanes) % lanes;
        let mut stored: Vec<usize> = extents.iter().map(|e| e + 2 * halo).collect();
        let last = stored.len() - 1;
        stored[last] = (lead + stored[last]).next_multiple_of(lanes);
        let strides = c_strides(&stored);
        let view = View { offset: lead as i64 + halo as i64 * strides.iter().sum::<i64>(), strides };
        (view, stored.iter().product::<usize>())
    };
    let (mut ran, plain) = (0, Setting { multiprocessors: 1, ..Setting::PLAIN });
    for d in [DType::F32, DType::F64, DType::F16] {
        for (rank, extents) in [(3, vec![9, 5, 61]), (3, vec![7, 13, 127]), (2, vec![11, 131])] {
            let kernel = weighted("star", d, &star(rank, 1));
            for (halo, of_result) in [(1, 1), (2, 2), (3, 3), (5, 5), (1, 0), (3, 2), (5, 1)] {
                let ((from, read), (to, written)) =
                    (laid_out(d, &extents, halo), laid_out(d, &extents, of_result));
                let arguments = kernel.kernel().arguments.iter().map(|&d| Scalar::from_i64(d, 3)).collect();
                let (origin, views) = (vec![0; rank], vec![from, to]);
                let launch = Launch { extents: extents.clone(), origin, views, arguments };
                let entries =
                    agree(&kernel, &launch, &vec![sevenths(d, read, 3), sevenths(d, written, 4)], plain);
                assert!(entries.iter().all(|&ran| ran == "planes"), "{d} {extents:?} {halo}: {entries:?}");
                ran += 1;
            }
        }
    }
    println!("ran: ptx-cases {ran}");
}

/// Two stencils of different reach, a coefficient per plane, a coordinate, an argument, a predicate and an
/// output that is also read.
#[test]
fn several_parameters_go_together() {
    several_parameters(&star(3, 2), "planes");
    several_parameters(&cube(3, 1), "streaming");
}

/// The view of an array may begin at any of the points that are read.
#[test]
fn a_stencil_is_the_same_from_wherever_its_points_are_counted() {
    let plain = Setting { multiprocessors: 1, ..Setting::PLAIN };
    let mut ran = 0;
    for (points, extents, entry) in
        [(star(3, 1), [9, 5, 61], "planes"), (cube(3, 1), [16, 13, 101], "streaming")]
    {
        for anchor in points.iter().filter(|point| point.iter().any(|&o| o != 0)).step_by(3) {
            let from = |point: &Vec<i32>| point.iter().zip(anchor).map(|(o, a)| o - a).collect();
            let kernel = weighted("moved", DType::F32, &points.iter().map(from).collect::<Vec<_>>());
            let (mut launch, arrays) = inside(&kernel, &extents, 1, 0);
            let view = &mut launch.views[0];
            view.offset += view.strides.iter().zip(anchor).map(|(s, &a)| s * i64::from(a)).sum::<i64>();
            let entries = agree(&kernel, &launch, &arrays, plain);
            assert!(entries.iter().all(|&ran| ran == entry), "{anchor:?}: {entries:?}");
            ran += 1;
        }
    }
    println!("ran: ptx-cases {ran}");
}

/// Stencils of several fields that have more words, or loads, than one field of their reach.
#[test]
fn several_fields_go_by_planes() {
    for (kernel, extents) in [
        (fields(DType::F32, 3, 2, 2), vec![7, 6, 45]),
        (fields(DType::F64, 3, 2, 2), vec![7, 6, 21]),
        (fields(DType::F64, 2, 2, 3), vec![9, 45]),
        (fields(DType::F32, 3, 1, 4), vec![7, 6, 45]),
    ] {
        let (launch, arrays) = inside(&kernel, &extents, 2, 0);
        let entries = agree(&kernel, &launch, &arrays, Setting { multiprocessors: 1, ..Setting::PLAIN });
        assert!(entries.iter().all(|&ran| ran == "planes"), "{extents:?}: {entries:?}");
    }
    println!("ran: ptx-cases 4");
}

fn several_parameters(reach: &[Vec<i32>], entry: &'static str) {
    let mut k = Builder::new("wave", 3);
    let (u, c, mask) = (k.input(DType::F32), k.input(DType::F64), k.input(DType::Bool));
    let (old, out) = (k.inout(DType::F32), k.output(DType::F32));
    let terms: Vec<_> = reach.iter().map(|o| k.load(u, o)).collect();
    let mut sum = terms.into_iter().reduce(|a, b| k.binary(BinaryOp::Sub, a, b)).unwrap();
    for plane in [-1, 0, 1] {
        let near = k.load(c, &[plane, 0, 0]);
        let near = k.cast(near, DType::F32);
        sum = k.binary(BinaryOp::Add, sum, near);
    }
    let (at, factor) = (k.coord(0, DType::I64), k.argument(DType::F32));
    let at = k.cast(at, DType::F32);
    let sum = k.binary(BinaryOp::Add, sum, at);
    let sum = k.binary(BinaryOp::Mul, sum, factor);
    let (before, chosen) = (k.load(old, &[0; 3]), k.load(mask, &[0; 3]));
    let new = k.select(chosen, sum, before);
    let kernel = k.elementwise(&[(old, new), (out, before)]).unwrap();
    let mut tally = Tally::on(1);
    for extents in [[19usize, 13, 55], [30, 7, 60]] {
        let (mut launch, mut arrays) = inside(&kernel, &extents, 2, 0);
        launch.origin = vec![-7, 0, 5];
        let n = arrays[2].len();
        arrays[2] = bytes(DType::Bool, (0..n as u64).map(|i| u64::from(i % 3 != 1)));
        tally.everywhere(&kernel, &launch, &arrays);
        // The coefficient depends on the plane only.
        launch.views[1] = View { offset: 1, strides: vec![1, 0, 0] };
        tally.everywhere(&kernel, &launch, &arrays);
    }
    // Shifted apart, the two outputs have no common vectors.
    tally.ran_through(&[entry, "vector", "pointwise"]);
}

/// Beside doubles of far reach, of which a thread has one point: a register then holds one narrow element.
#[test]
fn narrow_types_go_beside_doubles() {
    for d in [DType::F16, DType::BF16, DType::I16, DType::U16, DType::I8] {
        narrow_beside_doubles(d, &star(3, 1), "planes");
        narrow_beside_doubles(d, &cube(3, 1), "streaming");
    }
}

fn narrow_beside_doubles(d: DType, reach: &[Vec<i32>], entry: &'static str) {
    {
        let mut k = Builder::new("narrow", 3);
        let (wide, narrow, output) = (k.input(DType::F64), k.input(d), k.output(DType::F64));
        let planes: Vec<Vec<i32>> = (-1..=1).map(|plane| vec![plane, 0, 0]).collect();
        let near = if d.size_bytes() == 1 || entry == "streaming" { planes } else { star(3, 1) };
        let mut terms: Vec<_> = reach.iter().map(|o| k.load(wide, o)).collect();
        for offsets in &near {
            let value = k.load(narrow, offsets);
            terms.push(k.cast(value, DType::F64));
        }
        let sum = terms.into_iter().reduce(|a, b| k.binary(BinaryOp::Sub, b, a)).unwrap();
        let kernel = k.elementwise(&[(output, sum)]).unwrap();
        let (launch, arrays) = inside(&kernel, &[8, 9, 50], 3, 0);
        let setting = Setting { multiprocessors: 1, shrunk: true, shift: 16, ..Setting::PLAIN };
        let entries = agree(&kernel, &launch, &arrays, setting);
        assert!(entries.iter().all(|&ran| ran == entry), "{d} {entry}: {entries:?}");
    }
}

/// Four dimensions, streaming along the second: the first has no neighbours.
#[test]
fn streaming_along_an_inner_dimension() {
    let offsets: Vec<Vec<i32>> = cube(3, 1).into_iter().map(|o| [&[0], o.as_slice()].concat()).collect();
    let kernel = weighted("cubes", DType::F32, &offsets);
    let (launch, arrays) = inside(&kernel, &[3, 17, 8, 101], 1, 0);
    let mut tally = Tally::on(1);
    tally.everywhere(&kernel, &launch, &arrays);
    tally.ran_through(&["streaming", "vector"]);
}

/// Boxes and stars of every reach, one-sided ones too, of two parameters, over regions of any size.
#[test]
fn reaches_of_every_kind_agree() {
    let mut state = 11u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let types = [DType::F32, DType::F64, DType::F16, DType::I16, DType::I64];
    let (mut ran, mut by_planes, mut streamed) = (0, 0, 0);
    for _ in 0..200 {
        let rank = 2 + below(3) as usize;
        let d = types[below(types.len() as u64) as usize];
        let mut k = Builder::new("reaches", rank);
        let params = [k.input(d), k.input(d)];
        let output = k.output(d);
        let mut sum = None;
        for &param in &params {
            let mut reach: Vec<(i32, i32)> =
                (0..rank).map(|_| (-(below(3) as i32), below(3) as i32)).collect();
            if below(2) == 0 {
                reach[rank - 1].0 = -reach[rank - 1].1;
            }
            if rank == 4 {
                reach[below(3) as usize] = (0, 0);
            }
            let is_star = below(2) == 0;
            let boxed = cube(rank, 2).into_iter().filter(|offsets| {
                let inside = offsets.iter().zip(&reach).all(|(o, r)| (r.0..=r.1).contains(o));
                inside && (!is_star || offsets.iter().filter(|&&o| o != 0).count() <= 1)
            });
            for offsets in boxed {
                let value = k.load(param, &offsets);
                let three = k.constant(Scalar::from_i64(d, 3));
                sum = Some(match sum {
                    None => value,
                    Some(sum) => {
                        let more = k.binary(BinaryOp::Mul, sum, three);
                        k.binary(BinaryOp::Sub, value, more)
                    }
                });
            }
        }
        let Some(sum) = sum else { continue };
        let kernel = k.elementwise(&[(output, sum)]).unwrap();
        let outer = vec![1 + below(2) as usize; rank.saturating_sub(3)];
        let inner = [1 + below(9) as usize, 1 + below(12) as usize, 1 + below(150) as usize];
        let extents = [outer, inner[3 - rank.min(3)..].to_vec()].concat();
        let (launch, arrays) = inside(&kernel, &extents, 2 + below(4) as usize, 0);
        let setting = Setting { multiprocessors: 1, shrunk: true, shift: 16, ..Setting::PLAIN };
        let entries = agree(&kernel, &launch, &arrays, setting);
        streamed += usize::from(entries.contains(&"streaming"));
        by_planes += usize::from(entries.contains(&"planes"));
        ran += 1;
    }
    println!("{streamed} of {ran} kernels streamed, {by_planes} by planes");
    assert!(streamed >= 10 && by_planes >= 20, "{streamed} {by_planes}");
    println!("ran: ptx-cases {ran}");
}
