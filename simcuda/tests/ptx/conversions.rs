//! `cvt`: roundings against searches in tables of all values, bounds and NaN against the manual.

use crate::table::{Row, evaluate};

/// A narrow float: the magnitude of each bit pattern up to infinity, which counts as the next power of two.
struct Narrow {
    name: &'static str,
    magnitudes: Vec<f64>,
}

impl Narrow {
    fn half() -> Narrow {
        let value = |bits| half::f16::from_bits(bits).to_f64();
        let magnitudes = (0..0x7c00).map(value).chain([65536.0]).collect();
        Narrow { name: "f16", magnitudes }
    }

    fn brain() -> Narrow {
        let value = |bits: u32| f32::from_bits(bits << 16) as f64;
        let magnitudes = (0..0x7f80).map(value).chain([f64::powi(2.0, 128)]).collect();
        Narrow { name: "bf16", magnitudes }
    }

    /// The bits that `value` rounds to.
    fn round(&self, value: f64) -> u64 {
        if value.is_nan() {
            return 0x7fff;
        }
        let sign = (value.is_sign_negative() as u64) << 15;
        let (size, infinity) = (value.abs(), self.magnitudes.len() - 1);
        let lower = self.magnitudes.partition_point(|magnitude| *magnitude <= size) - 1;
        if size.is_infinite() {
            return sign | infinity as u64;
        }
        let next = self.magnitudes.get(lower + 1).unwrap_or(&f64::INFINITY);
        let middle = (self.magnitudes[lower] + next) / 2.0;
        let away = size > middle || size == middle && lower % 2 == 1;
        sign | (lower + away as usize).min(infinity) as u64
    }

    /// Each value, and what lies around the middle between it and the next.
    fn inputs(&self, step: usize, next: fn(f64) -> f64, previous: fn(f64) -> f64) -> Vec<f64> {
        let mut inputs = Vec::new();
        for pair in self.magnitudes.windows(2).step_by(step) {
            let middle = (pair[0] + pair[1]) / 2.0;
            let around = [pair[0], next(pair[0]), previous(middle), middle, next(middle), previous(pair[1])];
            inputs.extend(around.iter().flat_map(|value| [*value, -value]));
        }
        inputs.extend([f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e30, -1e30, 1e38, 1e-38, 1e-44, -1e-44]);
        inputs
    }
}

fn triples(values: impl Iterator<Item = u64>) -> Vec<[u64; 3]> {
    values.map(|value| [value, 0, 0]).collect()
}

fn single_bits(value: f64) -> u64 {
    (value as f32).to_bits() as u64
}

fn check_narrow(narrow: &Narrow, from: &'static str, values: &[f64]) -> usize {
    let inputs = match from {
        "f32" => triples(values.iter().map(|value| single_bits(*value))),
        _ => triples(values.iter().map(|value| value.to_bits())),
    };
    let row = Row::new(format!("cvt.rn.{}.{from} d, a;", narrow.name), "b16", &[from]);
    for (value, found) in values.iter().zip(&evaluate(&[row], &inputs)[0]) {
        let value = if from == "f32" { *value as f32 as f64 } else { *value };
        assert_eq!(*found, narrow.round(value), "cvt.rn.{}.{from} of {value:e}", narrow.name);
    }
    values.len()
}

#[test]
fn to_narrow_floats() {
    let up = |value: f64| (value as f32).next_up() as f64;
    let down = |value: f64| (value as f32).next_down() as f64;
    let half = Narrow::half();
    let values = half.inputs(1, up, down);
    let mut compared = check_narrow(&half, "f32", &values);
    let row = Row::new("cvt.rz.f16.f32 d, a;", "b16", &["f32"]);
    let inputs = triples(values.iter().map(|value| single_bits(*value)));
    for (value, found) in values.iter().zip(&evaluate(&[row], &inputs)[0]) {
        let value = *value as f32 as f64;
        let near = half.round(value);
        let past = half::f16::from_bits(near as u16).to_f64().abs() > value.abs();
        assert_eq!(*found, near - past as u64, "cvt.rz.f16.f32 of {value:e}");
    }
    compared += check_narrow(&half, "f64", &half.inputs(3, f64::next_up, f64::next_down));
    let brain = Narrow::brain();
    compared += check_narrow(&brain, "f32", &brain.inputs(7, up, down));
    println!("ran: simcuda-narrow {compared}");
}

#[test]
fn from_every_half() {
    let inputs = triples(0..0x1_0000);
    let rows = [
        Row::new("cvt.f32.f16 d, a;", "f32", &["b16"]),
        Row::new("cvt.f64.f16 d, a;", "f64", &["b16"]),
        Row::new(".reg .f32 x;\n    cvt.f32.f16 x, a;\n    cvt.rn.f16.f32 d, x;", "b16", &["b16"]),
    ];
    let found = evaluate(&rows, &inputs);
    for bits in 0..=u16::MAX {
        let value = half::f16::from_bits(bits);
        let [single, double, same] = [0, 1, 2].map(|row: usize| found[row][bits as usize]);
        if value.is_nan() {
            assert_eq!([single, double, same], [0x7fff_ffff, 0x7ff8_0000_0000_0000, 0x7fff]);
            continue;
        }
        assert_eq!(single, value.to_f32().to_bits() as u64);
        assert_eq!(double, value.to_f64().to_bits());
        assert_eq!(same, bits as u64);
    }
}

#[test]
fn doubles_to_singles_to_nearest_and_towards_zero() {
    let mut values: Vec<f64> = vec![0.0, -0.0, 1e300, -1e300, f64::INFINITY, 5e-324, 1e-46, f32::MAX as f64];
    for bits in (0..0x7f80_0000u32).step_by(99_991) {
        let (low, high) = (f32::from_bits(bits) as f64, f32::from_bits(bits).next_up() as f64);
        let middle = if high.is_finite() { (low + high) / 2.0 } else { low };
        values.extend([low, middle, middle.next_up(), middle.next_down(), low.next_up()]);
    }
    values.extend(values.clone().iter().map(|value| -value));
    let inputs = triples(values.iter().map(|value| value.to_bits()));
    for mode in ["rn", "rz"] {
        let row = Row::new(format!("cvt.{mode}.f32.f64 d, a;"), "f32", &["f64"]);
        for (value, found) in values.iter().zip(&evaluate(&[row], &inputs)[0]) {
            let near = *value as f32;
            let expected = match mode {
                "rz" if (near as f64).abs() > value.abs() && value.is_sign_positive() => near.next_down(),
                "rz" if (near as f64).abs() > value.abs() => near.next_up(),
                _ => near,
            };
            assert_eq!(*found, expected.to_bits() as u64, "cvt.{mode}.f32.f64 of {value:e}");
        }
    }
}

/// An integer as a float with `digits` binary digits, by division.
fn float_of(value: i128, digits: u32) -> f64 {
    let size = value.unsigned_abs();
    let drop = (128 - size.leading_zeros()).saturating_sub(digits);
    let (kept, rest) = (size >> drop, size & ((1 << drop) - 1));
    let half = (1u128 << drop) >> 1;
    let away = rest > half || rest == half && kept % 2 == 1;
    let kept = if rest != 0 && away { kept + 1 } else { kept };
    let magnitude = kept as f64 * f64::powi(2.0, drop as i32);
    if value < 0 { -magnitude } else { magnitude }
}

#[test]
fn integers_to_floats() {
    let mut values: Vec<u64> = vec![0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, u64::MAX, 1 << 63];
    for shift in 0..64 {
        for near in [-2i64, -1, 0, 1, 2] {
            values.push((1u64 << shift).wrapping_add_signed(near));
            values.push((0xffff_ff80_0000_0000u64 >> shift).wrapping_add_signed(near));
            values.push((0x0155_5555_0000_0001u64 << (shift % 8) >> (shift / 8)).wrapping_add_signed(near));
        }
    }
    let inputs = triples(values.iter().copied());
    let kinds = [("u8", "u16"), ("s8", "s16"), ("u16", "b16"), ("s16", "s16"), ("u32", "u32")];
    let more = [("s32", "b32"), ("u64", "u64"), ("s64", "s64")];
    for (kind, register) in kinds.into_iter().chain(more) {
        let width: u32 = kind[1..].parse().unwrap();
        let rows = [
            Row::new(format!("cvt.rn.f32.{kind} d, a;"), "f32", &[register]),
            Row::new(format!("cvt.rn.f64.{kind} d, a;"), "f64", &[register]),
        ];
        let found = evaluate(&rows, &inputs);
        for (at, bits) in values.iter().enumerate() {
            let low = (*bits as u128 & ((1 << width) - 1)) as i128;
            let negative = kind.starts_with('s') && low >> (width - 1) == 1;
            let value = if negative { low - (1 << width) } else { low };
            let single = (float_of(value, 24) as f32).to_bits() as u64;
            assert_eq!(found[0][at], single, "cvt.rn.f32.{kind} of {value}");
            assert_eq!(found[1][at], float_of(value, 53).to_bits(), "cvt.rn.f64.{kind} of {value}");
        }
    }
}

#[test]
fn integers_to_integers() {
    let kinds = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"];
    let values: [u64; 14] = [
        0,
        1,
        0x7f,
        0x80,
        0xff,
        0x100,
        0x7fff,
        0xff80,
        0xffff,
        0x8000_0000,
        0xffff_ff7f,
        0x7fff_ffff_ffff_ffff,
        0x8000_0000_0000_0000,
        0xffff_ffff_ffff_fffe,
    ];
    let inputs = triples(values.iter().copied());
    let range = |kind: &str| {
        let width: u32 = kind[1..].parse().unwrap();
        if kind.starts_with('s') {
            (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1)
        } else {
            (0, (1 << width) - 1)
        }
    };
    let register = |kind: &str| match kind {
        "u8" | "s8" | "u16" | "s16" => "b16",
        "u32" | "s32" => "b32",
        _ => "b64",
    };
    let mut compared = 0;
    for from in kinds {
        for to in kinds {
            let ((_, most), (from_least, from_most)) = (range(to), range(from));
            let row = Row::new(format!("cvt.{to}.{from} d, a;"), register(to), &[register(from)]);
            let found = evaluate(&[row], &inputs);
            let (width, space): (u32, u32) = (to[1..].parse().unwrap(), register(to)[1..].parse().unwrap());
            for (bits, found) in values.iter().zip(&found[0]) {
                let low = *bits as i128 & (from_most - from_least);
                let value = if low > from_most { low - (from_most - from_least) - 1 } else { low };
                let low = value & ((1 << width) - 1);
                let value = if low > most { low - (1 << width) } else { low };
                let expected = (value as u128 & ((1 << space) - 1)) as u64;
                assert_eq!(*found, expected, "cvt.{to}.{from} of {bits:#x}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 14 * 64);
}

#[test]
fn floats_to_integers() {
    let (f, inf) = (f64::to_bits, f64::INFINITY);
    // A number, and its conversions to s32 by rni, rzi, rmi, rpi.
    let table: [(f64, [i32; 4]); 13] = [
        (2.5, [2, 2, 2, 3]),
        (-2.5, [-2, -2, -3, -2]),
        (3.5, [4, 3, 3, 4]),
        (-3.5, [-4, -3, -4, -3]),
        (0.499_999_999_999_999_94, [0, 0, 0, 1]),
        (-0.25, [0, 0, -1, 0]),
        (-0.0, [0; 4]),
        (5e-324, [0, 0, 0, 1]),
        (2_147_483_646.5, [2_147_483_646, 2_147_483_646, 2_147_483_646, i32::MAX]),
        (2_147_483_647.5, [i32::MAX; 4]),
        (-2_147_483_648.5, [i32::MIN; 4]),
        (inf, [i32::MAX; 4]),
        (-inf, [i32::MIN; 4]),
    ];
    let inputs = triples(table.iter().map(|(value, _)| f(*value)));
    for (at, mode) in ["rni", "rzi", "rmi", "rpi"].into_iter().enumerate() {
        let row = Row::new(format!("cvt.{mode}.s32.f64 d, a;"), "s32", &["f64"]);
        let found = evaluate(&[row], &inputs);
        for ((value, expected), found) in table.iter().zip(&found[0]) {
            assert_eq!(*found as u32 as i32, expected[at], "cvt.{mode}.s32.f64 of {value:e}");
        }
    }
    let single = |value: f32| value.to_bits() as u64;
    let inputs = triples([300.7, -1.0, -129.2, 3e9, 1e20, f32::NAN].into_iter().map(single));
    let singles = [
        ("u8", "b16", [255, 0, 0, 255, 255, 0]),
        ("s8", "b16", [127, 0xffff, 0xff80, 127, 127, 0]),
        ("u16", "b16", [300, 0, 0, 65535, 65535, 0]),
        ("s16", "b32", [300, 0xffff_ffff, 0xffff_ff7f, 32767, 32767, 0]),
        ("u32", "b32", [300, 0, 0, 3_000_000_000, u32::MAX as u64, 0]),
        ("s64", "b64", [300, u64::MAX, -129i64 as u64, 3_000_000_000, i64::MAX as u64, 1 << 63]),
        ("u64", "b64", [300, 0, 0, 3_000_000_000, u64::MAX, 1 << 63]),
    ];
    for (kind, register, expected) in singles {
        let row = Row::new(format!("cvt.rzi.{kind}.f32 d, a;"), register, &["f32"]);
        assert_eq!(evaluate(&[row], &inputs), [expected], "{kind}");
    }
    let nan = triples([f(f64::NAN)].into_iter());
    let doubles =
        [("u32", "u32", 1 << 31), ("s32", "s32", 1 << 31), ("s64", "s64", 1 << 63), ("u16", "u16", 1 << 15)];
    for (kind, register, expected) in doubles {
        let row = Row::new(format!("cvt.rni.{kind}.f64 d, a;"), register, &["f64"]);
        assert_eq!(evaluate(&[row], &nan), [[expected]], "{kind}");
    }
}

#[test]
fn floats_to_whole_floats() {
    let values = [0.5, -0.5, 1.5, 2.5, -2.5, 1e30, -0.0, 8388607.5, 1e-40, f64::INFINITY, f64::NAN];
    let expected: [fn(f64) -> f64; 4] = [f64::round_ties_even, f64::trunc, f64::floor, f64::ceil];
    let singles = triples(values.iter().map(|value| single_bits(*value)));
    let doubles = triples(values.iter().map(|value| value.to_bits()));
    for (mode, expected) in ["rni", "rzi", "rmi", "rpi"].into_iter().zip(expected) {
        let single = Row::new(format!("cvt.{mode}.f32.f32 d, a;"), "f32", &["f32"]);
        let double = Row::new(format!("cvt.{mode}.f64.f64 d, a;"), "f64", &["f64"]);
        let (single, double) = (evaluate(&[single], &singles), evaluate(&[double], &doubles));
        for (at, value) in values.iter().enumerate() {
            if value.is_nan() {
                assert_eq!([single[0][at], double[0][at]], [0x7fff_ffff, 0x7ff8_0000_0000_0000]);
                continue;
            }
            assert_eq!(single[0][at], single_bits(expected(*value as f32 as f64)), "{mode} of {value}");
            assert_eq!(double[0][at], expected(*value).to_bits(), "{mode} of {value}");
        }
    }
    let widened = evaluate(&[Row::new("cvt.f64.f32 d, a;", "f64", &["f32"])], &singles);
    let exact =
        |value: &f64| if value.is_nan() { 0x7ff8_0000_0000_0000 } else { (*value as f32 as f64).to_bits() };
    assert_eq!(widened[0], values.iter().map(exact).collect::<Vec<_>>());
}
