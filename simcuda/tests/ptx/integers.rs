//! Integer instructions against plain definitions over 128 bits.

use crate::table::{Row, evaluate, triples};

const VALUES: [u64; 20] = [
    0,
    1,
    2,
    3,
    5,
    31,
    32,
    33,
    255,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0001,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
    0x1234_5678_9abc_def0,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_ffff,
];

/// The number that the low bits of a value mean as a type; floats count as their bits.
fn number(kind: &str, bits: u64) -> i128 {
    let width: u32 = kind[1..].parse().unwrap();
    let low = (bits as u128 & ((1 << width) - 1)) as i128;
    if kind.starts_with('s') && low >> (width - 1) == 1 { low - (1 << width) } else { low }
}

/// The low bits of a number.
fn bits(kind: &str, number: i128) -> u64 {
    let width: u32 = kind[1..].parse().unwrap();
    (number as u128 & ((1u128 << width) - 1)) as u64
}

type Order = fn(i128, i128) -> bool;
type Definition = Box<dyn Fn(i128, i128, i128) -> Option<i128>>;

struct Case {
    row: Row,
    definition: Definition,
}

fn case(
    text: String,
    result: &'static str,
    operands: &[&'static str],
    definition: impl Fn(i128, i128, i128) -> Option<i128> + 'static,
) -> Case {
    Case { row: Row::new(text, result, operands), definition: Box::new(definition) }
}

fn check(cases: Vec<Case>, inputs: &[[u64; 3]]) -> usize {
    let (rows, definitions): (Vec<Row>, Vec<Definition>) =
        cases.into_iter().map(|case| (case.row, case.definition)).unzip();
    let results = evaluate(&rows, inputs);
    let mut compared = 0;
    for ((row, definition), results) in rows.iter().zip(definitions).zip(results) {
        for (input, found) in inputs.iter().zip(results) {
            let value = |at: usize| match row.operands.get(at) {
                None => 0,
                Some(&"pred") => (input[at] as u32 != 0) as i128,
                Some(kind) => number(kind, input[at]),
            };
            let Some(expected) = definition(value(0), value(1), value(2)) else {
                continue;
            };
            let expected = if row.result == "pred" { expected as u64 } else { bits(row.result, expected) };
            assert_eq!(found, expected, "{} of {input:x?}", row.text);
            compared += 1;
        }
    }
    compared
}

#[test]
fn arithmetic_of_every_width() {
    let mut cases = Vec::new();
    for kind in ["u16", "s16", "u32", "s32", "u64", "s64"] {
        let mut two = |name: &str, f: fn(i128, i128) -> i128| {
            cases.push(case(format!("{name}.{kind} d, a, b;"), kind, &[kind, kind], move |a, b, _| {
                Some(f(a, b))
            }));
        };
        two("add", |a, b| a + b);
        two("sub", |a, b| a - b);
        two("min", |a, b| a.min(b));
        two("max", |a, b| a.max(b));
        two("mul.lo", |a, b| a.wrapping_mul(b));
        cases.push(case(format!("mad.lo.{kind} d, a, b, c;"), kind, &[kind; 3], |a, b, c| {
            Some(a.wrapping_mul(b).wrapping_add(c))
        }));
        if kind.starts_with('s') {
            cases.push(case(format!("abs.{kind} d, a;"), kind, &[kind], |a, _, _| Some(a.abs())));
            cases.push(case(format!("neg.{kind} d, a;"), kind, &[kind], |a, _, _| Some(-a)));
        }
        let wide = match kind {
            "u16" => "u32",
            "s16" => "s32",
            "u32" => "u64",
            "s32" => "s64",
            _ => continue,
        };
        cases.push(case(format!("mul.wide.{kind} d, a, b;"), wide, &[kind, kind], |a, b, _| Some(a * b)));
        cases.push(case(format!("mad.wide.{kind} d, a, b, c;"), wide, &[kind, kind, wide], |a, b, c| {
            Some(a * b + c)
        }));
    }
    let inputs = triples(&VALUES, &VALUES, &[0, 1, 0x8000_0000, 0xffff_ffff_ffff_fff9]);
    let compared = check(cases, &inputs);
    println!("ran: simcuda-integers {compared}");
}

#[test]
fn division_by_anything_but_zero() {
    let mut cases = Vec::new();
    for kind in ["u16", "s16", "u32", "s32", "u64", "s64"] {
        cases.push(case(format!("div.{kind} d, a, b;"), kind, &[kind; 2], |a, b, _| Some(a / b)));
        cases.push(case(format!("rem.{kind} d, a, b;"), kind, &[kind; 2], |a, b, _| Some(a % b)));
    }
    let divisors: Vec<u64> = VALUES.iter().copied().filter(|value| *value as u16 != 0).collect();
    assert!(check(cases, &triples(&VALUES, &divisors, &[0])) > 3000);
}

#[test]
fn comparisons_and_selections() {
    let mut cases = Vec::new();
    for kind in ["u16", "s16", "u32", "s32", "u64", "s64"] {
        let orders: [(&str, Order); 10] = [
            ("eq", |a, b| a == b),
            ("ne", |a, b| a != b),
            ("lt", |a, b| a < b),
            ("le", |a, b| a <= b),
            ("gt", |a, b| a > b),
            ("ge", |a, b| a >= b),
            ("lo", |a, b| a < b),
            ("ls", |a, b| a <= b),
            ("hi", |a, b| a > b),
            ("hs", |a, b| a >= b),
        ];
        for (name, order) in &orders[..if kind.starts_with('u') { 10 } else { 6 }] {
            let order = *order;
            let text = format!("setp.{name}.{kind} d, a, b;");
            cases.push(case(text, "pred", &[kind, kind], move |a, b, _| Some(order(a, b) as i128)));
        }
        let text = format!("setp.lt.and.{kind} d, a, b, c;");
        cases.push(case(text, "pred", &[kind, kind, "pred"], |a, b, c| Some((a < b && c == 1) as i128)));
        let text = format!("setp.ge.or.{kind} d, a, b, c;");
        cases.push(case(text, "pred", &[kind, kind, "pred"], |a, b, c| Some((a >= b || c == 1) as i128)));
        let text = format!("setp.ne.xor.{kind} d, a, b, c;");
        cases.push(case(text, "pred", &[kind, kind, "pred"], |a, b, c| Some(((a != b) != (c == 1)) as i128)));
        let text = format!("setp.lt.{kind} c|d, a, b;");
        cases.push(case(text, "pred", &[kind, kind, "pred"], |a, b, _| Some((a >= b) as i128)));
        // Each result may be an operand too.
        let text = format!("setp.lt.and.{kind} c|d, a, b, c;");
        cases.push(case(text, "pred", &[kind, kind, "pred"], |a, b, c| Some((a >= b && c == 1) as i128)));
        let text = format!("@c setp.lt.{kind} c|d, a, b;\n    @!c mov.pred d, 1;\n    not.pred d, d;");
        let guarded = |a: i128, b: i128, c: i128| Some((c == 1 && a < b) as i128);
        cases.push(case(text, "pred", &[kind, kind, "pred"], guarded));
        let text = format!("selp.{kind} d, a, b, c;");
        cases.push(case(text, kind, &[kind, kind, "pred"], |a, b, c| Some(if c == 1 { a } else { b })));
    }
    for kind in ["b16", "b32", "b64"] {
        cases.push(case(format!("setp.eq.{kind} d, a, b;"), "pred", &[kind; 2], |a, b, _| {
            Some((a == b) as i128)
        }));
        let text = format!("selp.{kind} d, a, b, c;");
        cases.push(case(text, kind, &[kind, kind, "pred"], |a, b, c| Some(if c == 1 { a } else { b })));
    }
    assert!(check(cases, &triples(&VALUES, &VALUES, &[0, 1])) > 40_000);
}

/// `bfe` as the manual defines it, bit by bit.
fn extract(a: i128, at: i128, length: i128, width: i128, signed: bool) -> i128 {
    let (at, length) = (at & 0xff, length & 0xff);
    let bit = |i: i128| a >> i & 1;
    let fill = if signed && length > 0 { bit((at + length - 1).min(width - 1)) } else { 0 };
    (0..width).map(|i| (if i < length && at + i < width { bit(at + i) } else { fill }) << i).sum()
}

#[test]
fn bits_and_shifts() {
    let mut cases = Vec::new();
    for kind in ["b16", "b32", "b64"] {
        let width: i128 = kind[1..].parse().unwrap();
        let mut logic = |name: &str, f: fn(i128, i128) -> i128| {
            cases.push(case(format!("{name}.{kind} d, a, b;"), kind, &[kind; 2], move |a, b, _| {
                Some(f(a, b))
            }));
        };
        logic("and", |a, b| a & b);
        logic("or", |a, b| a | b);
        logic("xor", |a, b| a ^ b);
        cases.push(case(format!("not.{kind} d, a;"), kind, &[kind], |a, _, _| Some(!a)));
        let left = move |a: i128, by: i128, _: i128| Some(if by >= width { 0 } else { a << by });
        cases.push(case(format!("shl.{kind} d, a, b;"), kind, &[kind, "u32"], left));
        let text = format!("mov.{kind} d, a;");
        cases.push(case(text, kind, &[kind], |a, _, _| Some(a)));
    }
    for kind in ["b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64"] {
        let right = |a: i128, by: i128, _: i128| Some(a >> by.min(100));
        cases.push(case(format!("shr.{kind} d, a, b;"), kind, &[kind, "u32"], right));
    }
    for (kind, width) in [("b32", 32), ("b64", 64)] {
        cases.push(case(
            format!("popc.{kind} d, a;"),
            "u32",
            &[kind],
            |a, _, _| Some(a.count_ones() as i128),
        ));
        let zeros = move |a: i128, _: i128, _: i128| Some((a.leading_zeros() as i128) - (128 - width));
        cases.push(case(format!("clz.{kind} d, a;"), "u32", &[kind], zeros));
    }
    for (kind, width) in [("u32", 32), ("s32", 32), ("u64", 64), ("s64", 64)] {
        let text = format!("bfe.{kind} d, a, b, c;");
        let definition = move |a, b, c| Some(extract(a, b, c, width, kind.starts_with('s')));
        cases.push(case(text, kind, &[kind, "u32", "u32"], definition));
    }
    let permuted = |a: i128, b: i128, c: i128| {
        let bytes: Vec<u8> = (a as u32).to_le_bytes().into_iter().chain((b as u32).to_le_bytes()).collect();
        let pick = |nibble: i128| {
            let byte = bytes[(nibble & 7) as usize];
            if nibble & 8 == 0 { byte } else { [0x00, 0xff][(byte >> 7) as usize] }
        };
        Some(u32::from_le_bytes([0, 1, 2, 3].map(|at| pick(c >> (4 * at)))) as i128)
    };
    cases.push(case("prmt.b32 d, a, b, c;".into(), "b32", &["b32"; 3], permuted));
    let counts = [0, 1, 7, 15, 16, 31, 32, 33, 63, 64, 255, 256 + 4, 0x5410, 0xfedc, 0x8000_0000, u64::MAX];
    let compared = check(cases, &triples(&VALUES, &counts, &counts));
    assert!(compared > 150_000, "{compared}");
}

#[test]
fn predicates() {
    let cases = vec![
        case("and.pred d, a, b;".into(), "pred", &["pred"; 2], |a, b, _| Some(a & b)),
        case("or.pred d, a, b;".into(), "pred", &["pred"; 2], |a, b, _| Some(a | b)),
        case("xor.pred d, a, b;".into(), "pred", &["pred"; 2], |a, b, _| Some(a ^ b)),
        case("not.pred d, a;".into(), "pred", &["pred"], |a, _, _| Some(1 - a)),
        case("mov.pred d, a;".into(), "pred", &["pred"], |a, _, _| Some(a)),
        case("mov.pred d, 0;\n    @a mov.pred d, b;".into(), "pred", &["pred"; 2], |a, b, _| Some(a & b)),
        case("mov.pred d, 1;\n    @!a mov.pred d, b;".into(), "pred", &["pred"; 2], |a, b, _| Some(a | b)),
    ];
    assert_eq!(check(cases, &triples(&[0, 1], &[0, 1], &[0])), 28);
}

#[test]
fn packing_and_unpacking() {
    let cases = vec![
        case("mov.b32 d, {a, b};".into(), "b32", &["b16"; 2], |a, b, _| Some(a | b << 16)),
        case("mov.b32 d, {a, b};".into(), "f32", &["u16"; 2], |a, b, _| Some(a | b << 16)),
        case("mov.b32 d, {a, 3};".into(), "b32", &["b16"], |a, _, _| Some(a | 3 << 16)),
        case("mov.b64 d, {a, b};".into(), "b64", &["b32"; 2], |a, b, _| Some(a | b << 32)),
        case("mov.b64 d, {a, b};".into(), "f64", &["f32"; 2], |a, b, _| Some(a | b << 32)),
        case("mov.b64 d, {a, b, c, a};".into(), "b64", &["b16"; 3], |a, b, c| {
            Some(a | b << 16 | c << 32 | a << 48)
        }),
        case(".reg .b16 x;\n    mov.b32 {d, x}, a;".into(), "b16", &["b32"], |a, _, _| Some(a)),
        case(".reg .b16 x;\n    mov.b32 {x, d}, a;".into(), "b16", &["f32"], |a, _, _| Some(a >> 16)),
        case(".reg .u32 x;\n    mov.b64 {d, x}, a;".into(), "u32", &["b64"], |a, _, _| Some(a)),
        case(".reg .f32 x;\n    mov.b64 {x, d}, a;".into(), "f32", &["f64"], |a, _, _| Some(a >> 32)),
        case(".reg .b16 x, y, z;\n    mov.b64 {x, y, z, d}, a;".into(), "b16", &["b64"], |a, _, _| {
            Some(a >> 48)
        }),
        case(".reg .b16 x, y, z;\n    mov.b64 {x, y, d, z}, a;".into(), "b16", &["b64"], |a, _, _| {
            Some(a >> 32)
        }),
    ];
    assert!(check(cases, &triples(&VALUES, &VALUES, &[7, 0xfedc])) > 9000);
}
