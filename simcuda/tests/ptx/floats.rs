//! f32 and f64 instructions: on hard values, against definitions that round another way.

use crate::table::{Row, evaluate, triples};

const NAN_32: u64 = 0x7fff_ffff;
const NAN_64: u64 = 0x7ff8_0000_0000_0000;

/// Zeros, subnormals, halves, neighbours of one, the largest, infinities, NaNs quiet and signalling.
const SINGLES: [u64; 26] = [
    0x0000_0000,
    0x8000_0000,
    0x0000_0001,
    0x8000_0001,
    0x0000_0003,
    0x007f_ffff,
    0x0080_0000,
    0x0080_0001,
    0x3380_0000,
    0x3f00_0000,
    0x3f7f_ffff,
    0x3f80_0000,
    0x3f80_0001,
    0xbf80_0001,
    0x3faa_aaab,
    0x4049_0fdb,
    0x4b00_0001,
    0x4b80_0000,
    0x5f00_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x7f80_0001,
    0xffff_ffff,
];

const DOUBLES: [u64; 22] = [
    0x0000_0000_0000_0000,
    0x8000_0000_0000_0000,
    0x0000_0000_0000_0001,
    0x8000_0000_0000_0003,
    0x000f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x3ca0_0000_0000_0000,
    0x3fdf_ffff_ffff_ffff,
    0x3fe0_0000_0000_0000,
    0x3fef_ffff_ffff_ffff,
    0x3ff0_0000_0000_0000,
    0x3ff0_0000_0000_0001,
    0xbff0_0000_0000_0001,
    0x4009_21fb_5444_2d18,
    0x4340_0000_0000_0001,
    0x7fef_ffff_ffff_ffff,
    0xffef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0x7ff0_0000_0000_0001,
    0xffff_ffff_ffff_ffff,
];

fn single(bits: u64) -> f64 {
    f32::from_bits(bits as u32) as f64
}

/// The f32 nearest to an f64 that is exact or rounded to more than twice f32's digits.
fn nearest(value: f64) -> u64 {
    if value.is_nan() { NAN_32 } else { (value as f32).to_bits() as u64 }
}

/// `a * b + c` for f32: the product is exact in f64, and the sum is rounded to odd, which keeps what the
/// second rounding needs.
fn fused(a: u64, b: u64, c: u64) -> u64 {
    let (product, c) = (single(a) * single(b), single(c));
    let sum = product + c;
    if !sum.is_finite() {
        return nearest(sum);
    }
    let part = sum - product;
    let error = (product - (sum - part)) + (c - part);
    let odd = sum.to_bits() & 1 == 1;
    let sum = match error.partial_cmp(&0.0) {
        Some(std::cmp::Ordering::Equal) | None => sum,
        _ if odd => sum,
        Some(std::cmp::Ordering::Greater) => sum.next_up(),
        Some(std::cmp::Ordering::Less) => sum.next_down(),
    };
    nearest(sum)
}

type Definition = fn(u64, u64, u64) -> u64;

fn check(rows: Vec<(Row, Definition)>, inputs: &[[u64; 3]]) -> usize {
    let (rows, definitions): (Vec<Row>, Vec<Definition>) = rows.into_iter().unzip();
    let results = evaluate(&rows, inputs);
    for ((row, definition), results) in rows.iter().zip(&definitions).zip(results) {
        for ([a, b, c], found) in inputs.iter().zip(results) {
            let expected = definition(*a, *b, *c);
            assert_eq!(found, expected, "{} of {a:#x}, {b:#x}, {c:#x}: {found:#x}, {expected:#x}", row.text);
        }
    }
    rows.len() * inputs.len()
}

#[test]
fn single_arithmetic() {
    let row = |text: &str, count: usize| Row::new(text, "f32", &["f32"; 3][..count]);
    let rows: Vec<(Row, Definition)> = vec![
        (row("add.rn.f32 d, a, b;", 2), |a, b, _| nearest(single(a) + single(b))),
        (row("sub.rn.f32 d, a, b;", 2), |a, b, _| nearest(single(a) - single(b))),
        (row("mul.rn.f32 d, a, b;", 2), |a, b, _| nearest(single(a) * single(b))),
        (row("div.rn.f32 d, a, b;", 2), |a, b, _| nearest(single(a) / single(b))),
        (row("sqrt.rn.f32 d, a;", 1), |a, _, _| nearest(single(a).sqrt())),
        (row("fma.rn.f32 d, a, b, c;", 3), fused),
        (row("mov.f32 d, a;", 1), |a, _, _| a),
        (row("mov.f32 d, 0fC0490FDB;", 1), |_, _, _| 0xc049_0fdb),
        (row("abs.f32 d, a;", 1), |a, _, _| if is_nan(a) { NAN_32 } else { a & 0x7fff_ffff }),
        (row("neg.f32 d, a;", 1), |a, _, _| if is_nan(a) { NAN_32 } else { a ^ 0x8000_0000 }),
    ];
    let compared = check(rows, &triples(&SINGLES, &SINGLES, &SINGLES));
    assert!(compared > 150_000);
}

fn is_nan(a: u64) -> bool {
    a & 0x7fff_ffff > 0x7f80_0000
}

#[test]
fn double_arithmetic() {
    fn back(value: f64) -> u64 {
        if value.is_nan() { NAN_64 } else { value.to_bits() }
    }
    let of = f64::from_bits;
    let row = |text: &str, count: usize| Row::new(text, "f64", &["f64"; 3][..count]);
    let rows: Vec<(Row, Definition)> = vec![
        (row("add.rn.f64 d, a, b;", 2), |a, b, _| back(f64::from_bits(a) + f64::from_bits(b))),
        (row("sub.rn.f64 d, a, b;", 2), |a, b, _| back(f64::from_bits(a) - f64::from_bits(b))),
        (row("mul.rn.f64 d, a, b;", 2), |a, b, _| back(f64::from_bits(a) * f64::from_bits(b))),
        (row("div.rn.f64 d, a, b;", 2), |a, b, _| back(f64::from_bits(a) / f64::from_bits(b))),
        (row("sqrt.rn.f64 d, a;", 1), |a, _, _| back(f64::from_bits(a).sqrt())),
        (row("mov.f64 d, a;", 1), |a, _, _| a),
        // A NaN passes through these two.
        (row("abs.f64 d, a;", 1), |a, _, _| a & !(1 << 63)),
        (row("neg.f64 d, a;", 1), |a, _, _| a ^ 1 << 63),
    ];
    assert!(check(rows, &triples(&DOUBLES, &DOUBLES, &[0])) > 3500);
    // (1 + e)(1 - e) = 1 - e^2, which only a single rounding of the whole keeps.
    let (up, down) = (0x3ff0_0000_0000_0001, 0x3fef_ffff_ffff_fffe);
    let least = f64::powi(2.0, -104).to_bits();
    let fma = Row::new("fma.rn.f64 d, a, b, c;", "f64", &["f64"; 3]);
    let inputs = [
        [up, down, (-1f64).to_bits()],
        [up, up, (-of(0x3ff0_0000_0000_0002)).to_bits()],
        [f64::MAX.to_bits(), 2f64.to_bits(), f64::NEG_INFINITY.to_bits()],
        [f64::MAX.to_bits(), 2f64.to_bits(), (-f64::MAX).to_bits()],
        [f64::INFINITY.to_bits(), 0, 0],
        [1, 1, 1],
    ];
    let expected = [least | 1 << 63, least, f64::NEG_INFINITY.to_bits(), f64::MAX.to_bits(), NAN_64, 1];
    assert_eq!(evaluate(&[fma], &inputs)[0], expected);
}

#[test]
fn comparisons_with_nan() {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let comparisons: [(&str, &[std::cmp::Ordering], bool); 8] = [
        ("eq", &[Equal], false),
        ("ne", &[Less, Greater], false),
        ("lt", &[Less], false),
        ("le", &[Less, Equal], false),
        ("gt", &[Greater], false),
        ("ge", &[Greater, Equal], false),
        ("neu", &[Less, Greater], true),
        ("nan", &[], true),
    ];
    for (kind, values) in [("f32", SINGLES.as_slice()), ("f64", &DOUBLES)] {
        let of = |bits: u64| if kind == "f32" { single(bits) } else { f64::from_bits(bits) };
        let inputs = triples(values, values, &[0]);
        let row = |name: &str| Row::new(format!("setp.{name}.{kind} d, a, b;"), "pred", &[kind, kind]);
        let rows: Vec<Row> = comparisons.iter().map(|(name, _, _)| row(name)).collect();
        for (found, (name, orders, unordered)) in evaluate(&rows, &inputs).iter().zip(comparisons) {
            for ([a, b, _], found) in inputs.iter().zip(found) {
                let order = of(*a).partial_cmp(&of(*b));
                let expected = order.map_or(unordered, |order| orders.contains(&order));
                assert_eq!(*found, expected as u64, "setp.{name}.{kind} of {a:#x}, {b:#x}");
            }
        }
    }
}
