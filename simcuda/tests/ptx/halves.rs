//! Instructions on two halves of a register: f16x2 and bf16x2, against f32 arithmetic rounded once more.

use crate::table::{Row, evaluate};
use half::{bf16, f16};

/// Zeros, subnormals, halves of units, neighbours of one, the largest, infinities, NaN; of either type.
const HALVES: [u16; 24] = [
    0x0000, 0x8000, 0x0001, 0x8001, 0x0003, 0x0080, 0x03ff, 0x0400, 0x0401, 0x1400, 0x3c00, 0x3c01, 0xbc01,
    0x3f80, 0x3f81, 0xbf81, 0x5bff, 0x7bff, 0xfbff, 0x7c00, 0x7f7f, 0xff80, 0x7e00, 0xffff,
];

fn narrow_f16(value: f32) -> u16 {
    if value.is_nan() { 0x7fff } else { f16::from_f32(value).to_bits() }
}

fn narrow_bf16(value: f32) -> u16 {
    if value.is_nan() { 0x7fff } else { bf16::from_f32(value).to_bits() }
}

/// Pairs of words: each half takes every value, beside another one.
fn inputs() -> Vec<[u64; 3]> {
    let word = |low: usize| {
        let high = HALVES[(low * 7 + 5) % HALVES.len()];
        u64::from(HALVES[low]) | u64::from(high) << 16
    };
    let all = 0..HALVES.len();
    all.clone()
        .flat_map(|a| all.clone().map(move |b| [word(a), word(b), word((a + b) % HALVES.len())]))
        .collect()
}

fn by_halves(a: u64, b: u64, f: impl Fn(u16, u16) -> u16) -> u64 {
    u64::from(f(a as u16, b as u16)) | u64::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

type Operation = fn(f32, f32) -> f32;

const OPERATIONS: [(&str, Operation); 3] =
    [("add", |a, b| a + b), ("sub", |a, b| a - b), ("mul", |a, b| a * b)];

#[test]
fn halves_have_the_bits_of_rounded_singles() {
    let inputs = inputs();
    let mut checked = 0;
    for (name, operation) in OPERATIONS {
        let f16_of: &dyn Fn(u16, u16) -> u16 =
            &|a, b| narrow_f16(operation(f16::from_bits(a).to_f32(), f16::from_bits(b).to_f32()));
        let bf16_of: &dyn Fn(u16, u16) -> u16 =
            &|a, b| narrow_bf16(operation(bf16::from_bits(a).to_f32(), bf16::from_bits(b).to_f32()));
        for (kind, of) in [("f16x2", f16_of), ("bf16x2", bf16_of)] {
            let text = format!("{name}.rn.{kind} d, a, b;");
            let found = evaluate(&[Row::new(&text, "b32", &["b32"; 2])], &inputs).remove(0);
            for ([a, b, _], found) in inputs.iter().zip(found) {
                let expected = by_halves(*a, *b, of);
                assert_eq!(found, expected, "{text} of {a:#x}, {b:#x}: {found:#x}, {expected:#x}");
                checked += 1;
            }
        }
    }
    assert!(checked > 3000, "{checked}");
}

/// A product with 1 or -1, or a sum with -0, changes no bit: so sm_80 adds and multiplies bf16.
#[test]
fn fused_halves_add_and_multiply() {
    let equal = [
        ("add.rn.bf16x2 d, a, b;", "fma.rn.bf16x2 d, a, c, b;", 0x3f80_3f80),
        ("sub.rn.bf16x2 d, a, b;", "fma.rn.bf16x2 d, b, c, a;", 0xbf80_bf80),
        ("mul.rn.bf16x2 d, a, b;", "fma.rn.bf16x2 d, a, b, c;", 0x8000_8000),
        ("add.rn.f16x2 d, a, b;", "fma.rn.f16x2 d, a, c, b;", 0x3c00_3c00),
    ];
    for (plain, fused, constant) in equal {
        let inputs: Vec<[u64; 3]> = inputs().into_iter().map(|[a, b, _]| [a, b, constant]).collect();
        let rows = [Row::new(plain, "b32", &["b32"; 2]), Row::new(fused, "b32", &["b32"; 3])];
        let found = evaluate(&rows, &inputs);
        assert_eq!(found[0], found[1], "{plain} {fused}");
    }
}

/// One rounding: 1 + 2^-5 squared and less 1 has a last bit that rounding the product loses.
#[test]
fn fused_halves_round_once() {
    let inputs = [[0x3c20_3c20, 0x3c20_3c20, 0xbc40_bc40]];
    let found = evaluate(&[Row::new("fma.rn.f16x2 d, a, b, c;", "b32", &["b32"; 3])], &inputs);
    let exact = f16::from_f64(1.03125 * 1.03125 - 1.0625).to_bits();
    assert_eq!(found[0][0], u64::from(exact) | u64::from(exact) << 16);
    assert_ne!(exact, 0);
}
