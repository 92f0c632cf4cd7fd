//! Stencils of every reach: point by point, by vectors, and plane by plane through registers.

use partita_kernels::{BinaryOp, Builder, DType, Launch, Scalar, Verified, View};

use crate::agreement::{
    Arrays, bytes, c_strides, cases, cube, sevenths, small_numbers, star, stencil_launch, weighted,
};
use crate::machine::{Setting, Tally, agree};
use crate::random;

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

/// Stencils that are streamed: wide ones and full cubes, in two and three dimensions.
fn marching(d: DType) -> Vec<(Verified, usize)> {
    vec![
        (weighted("star_13", d, &star(3, 2)), 2),
        (weighted("star_25", d, &star(3, 4)), 4),
        (weighted("cube_27", d, &cube(3, 1)), 1),
        (weighted("star_9", d, &star(2, 2)), 2),
        (weighted("square_9", d, &cube(2, 1)), 1),
    ]
}

#[test]
fn wide_stencils_are_streamed() {
    for d in [DType::F16, DType::F32, DType::F64] {
        for (kernel, halo) in marching(d) {
            let shapes: &[&[usize]] = match kernel.kernel().rank {
                2 => &[&[37, 150], &[64, 64]],
                _ => &[&[41, 9, 37], &[35, 20, 32]],
            };
            let mut tally = Tally::on(1);
            for extents in shapes {
                for ahead in [0, 1] {
                    let (launch, arrays) = inside(&kernel, extents, halo, ahead);
                    tally.everywhere(&kernel, &launch, &arrays);
                }
            }
            // Nine planes of eight f16 are more than the registers hold, and of four no gain over vectors.
            let dense = d == DType::F16 && halo == 4;
            tally.ran_through(&[if dense { "vector" } else { "streaming" }]);
        }
    }
}

#[test]
fn what_is_no_march_is_a_vector_or_a_point() {
    let kernel = weighted("cube_27", DType::F32, &cube(3, 1));
    let (whole, arrays) = inside(&kernel, &[16, 9, 37], 1, 0);
    let turned = |view: &View, dim: usize, sign: i64| {
        let mut view = view.clone();
        view.offset += (view.strides[dim] * (whole.extents[dim] as i64 - 1)) * i64::from(sign < 0);
        view.strides[dim] *= sign;
        view
    };
    let tried = |launch: &Launch, entry: &'static str| {
        let mut tally = Tally::on(1);
        tally.everywhere(&kernel, launch, &arrays);
        tally.ran_through(&[entry]);
    };
    tried(&whole, "streaming");
    // Too few planes for the registers; planes of the output that are not whole vectors apart.
    tried(&Launch { extents: vec![7, 9, 37], ..whole.clone() }, "vector");
    let mut uneven = whole.clone();
    uneven.extents = vec![12, 6, 30];
    uneven.views[1].strides[0] += 1;
    tried(&uneven, "vector");
    // Those of the input may be anywhere.
    uneven.views.swap(0, 1);
    uneven.views[0].offset += 1;
    tried(&uneven, "streaming");
    // Backwards through planes and rows, and the same plane again and again, are plans all the same.
    for (dim, sign) in [(0, -1), (1, -1), (0, 0), (1, 0)] {
        let input = turned(&whole.views[0], dim, sign);
        tried(&Launch { views: vec![input, whole.views[1].clone()], ..whole.clone() }, "streaming");
    }
    // Rows that are not whole vectors apart: one aligned, those beside it not.
    let mut narrow = whole.clone();
    narrow.views.iter_mut().for_each(|view| view.strides[1] -= 2);
    tried(&narrow, "streaming");
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

/// Two stencils of different reach, a coefficient per plane, a coordinate, an argument, a predicate and an
/// output that is also read.
#[test]
fn several_parameters_march_together() {
    let mut k = Builder::new("wave", 3);
    let (u, c, mask) = (k.input(DType::F32), k.input(DType::F64), k.input(DType::Bool));
    let (old, out) = (k.inout(DType::F32), k.output(DType::F32));
    let terms: Vec<_> = star(3, 2).iter().chain(&[vec![-1, 1, 0]]).map(|o| k.load(u, o)).collect();
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
    for extents in [[19usize, 11, 45], [30, 3, 70]] {
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
    tally.ran_through(&["streaming", "pointwise"]);
}

/// Four dimensions, marching along the second: the first has no neighbours.
#[test]
fn a_march_along_an_inner_dimension() {
    let offsets: Vec<Vec<i32>> = cube(3, 1).into_iter().map(|o| [&[0], o.as_slice()].concat()).collect();
    let kernel = weighted("cubes", DType::F32, &offsets);
    let (launch, arrays) = inside(&kernel, &[3, 17, 5, 21], 1, 0);
    let mut tally = Tally::on(1);
    tally.everywhere(&kernel, &launch, &arrays);
    tally.ran_through(&["streaming"]);
}

/// Every eighth random kernel reads all around the point; where its memory allows it, it plans.
#[test]
fn random_stencils_are_streamed() {
    let mut streamed = 0;
    let seeds: Vec<u64> = (7..1600).step_by(8).collect();
    let ran = seeds.len();
    for seed in seeds {
        let random::Case { kernel, launch, arrays } = random::case(seed);
        let setting = Setting { multiprocessors: 1, ..Setting::PLAIN };
        streamed += usize::from(agree(&kernel, &launch, &arrays, setting).contains(&"streaming"));
    }
    println!("{streamed} of {ran} kernels streamed");
    assert!(streamed >= 20, "{streamed}");
    println!("ran: ptx-cases {ran}");
}
