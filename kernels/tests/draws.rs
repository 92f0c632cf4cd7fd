//! Random numbers in kernels: the bits that the cipher gives on the host, and floats of the right range.
#![allow(clippy::unwrap_used)]

use partita_kernels::random::{Draw, draw, threefry};
use partita_kernels::{Builder, DType, Launch, Verified, View, interpret};

const KEY: [u32; 2] = [0x1234_5678, 0x9abc_def0];

/// A draw for each cell from the kernel's one argument on.
fn kernel(what: Draw, cells: DType, dtype: DType) -> Verified {
    let mut k = Builder::new("draw", 1);
    let first = k.argument(cells);
    let point = k.coord(0, DType::I32);
    let (point, key) = (k.cast(point, cells), KEY.map(|word| k.int(DType::U32, word.into())));
    let cell = k.binary(partita_kernels::BinaryOp::Add, first, point);
    let (value, output) = (draw(&mut k, what, cell, key, dtype), k.output(dtype));
    k.elementwise(&[(output, value)]).unwrap()
}

fn drawn(what: Draw, cells: DType, dtype: DType, first: u64) -> Vec<u64> {
    let argument = partita_kernels::Scalar { dtype: cells, bits: first };
    let views = vec![View { offset: 0, strides: vec![1] }];
    let launch = Launch { origin: vec![0], extents: vec![6], views, arguments: vec![argument] };
    let mut memory = vec![vec![0; 6]];
    interpret::run(&kernel(what, cells, dtype), &launch, &mut memory).unwrap();
    memory.remove(0)
}

#[test]
fn bits_are_the_ciphers() {
    for (cells, first) in
        [(DType::U32, 0), (DType::U32, 0xffff_fff0), (DType::U64, 3), (DType::U64, 0x7_ffff_fffd)]
    {
        let block = |number: u64| threefry(KEY, [number as u32, (number >> 32) as u32]).map(u64::from);
        let all = |word: &dyn Fn(u64) -> u64| (first..first + 6).map(word).collect::<Vec<u64>>();
        let words = all(&|cell| block(cell >> 1)[(cell & 1) as usize]);
        assert_eq!(drawn(Draw::Word, cells, DType::U32, first), words);
        let longs = all(&|cell| block(cell)[0] << 32 | block(cell)[1]);
        assert_eq!(drawn(Draw::Long, cells, DType::U64, first), longs);
        let wide = all(&|cell| {
            let [first, second] = block(cell);
            ((first >> 5 << 26 | second >> 6) as f64 * 0.5f64.powi(53)).to_bits()
        });
        assert_eq!(drawn(Draw::Uniform, cells, DType::F64, first), wide);
    }
}

/// One normal number by the formula in the module's head, in f64.
fn turn(length: f64, angle: f64, cell: u64) -> f64 {
    let (sin, cos) = (std::f64::consts::TAU * angle).sin_cos();
    (-2.0 * length.ln()).sqrt() * if cell.is_multiple_of(2) { cos } else { sin }
}

#[test]
fn pairs_are_turns_of_box_and_muller() {
    let block = |number: u64| threefry(KEY, [number as u32, 0]);
    let inner = |bits: u32, word: u64| (word as f64 + 0.5) * 0.5f64.powi(bits as i32);
    let fraction = |[first, second]: [u32; 2]| u64::from(first >> 1) << 31 | u64::from(second >> 1);
    for cell in 0..2000 {
        if cell % 6 != 0 {
            continue;
        }
        let (wide, single) = (
            drawn(Draw::Normal, DType::U32, DType::F64, cell),
            drawn(Draw::Normal, DType::U32, DType::F32, cell),
        );
        for (at, (wide, single)) in (cell..).zip(wide.into_iter().zip(single)) {
            let (even, odd) = (block(at & !1), block(at | 1));
            let angle = (u64::from(odd[0]) << 32 | u64::from(odd[1])) as f64 * 0.5f64.powi(64);
            let expected = turn(inner(62, fraction(even)), angle, at);
            assert!(
                (f64::from_bits(wide) - expected).abs() < 1e-14,
                "{at}: {} {expected}",
                f64::from_bits(wide)
            );
            let [length, angle] = block(at >> 1);
            let expected = turn(inner(31, (length >> 1).into()), f64::from(angle) * 0.5f64.powi(32), at);
            let given = f64::from(f32::from_bits(single as u32));
            assert!((given - expected).abs() < 2e-6, "{at}: {given} {expected}");
        }
    }
}
