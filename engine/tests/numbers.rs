//! Numbers as operands: exact in comparisons, errors if the element type cannot hold them. Of several errors
//! the first is reported.
#![allow(missing_docs, clippy::unwrap_used)]

use std::cmp::Ordering;

use partita::operators::{Boundary, Side, convolve, dirichlet, divergence, laplacian};
use partita::prelude::*;

fn team(parts: usize) -> Team {
    Team::on(&[Device::host()], parts).unwrap()
}

fn floats(n: i64) -> Array {
    let dist = Distribution::builder(&[n]).parts(2).build().unwrap();
    Array::from_fn(&team(2), &dist, |at| at[0] as f32).unwrap()
}

/// An array of these integers.
fn integers(dtype: DType, values: &[i128]) -> Array {
    let dist = Distribution::builder(&[values.len() as i64]).build().unwrap();
    let bytes: Vec<u8> =
        values.iter().flat_map(|v| v.to_le_bytes().into_iter().take(dtype.size_bytes())).collect();
    Array::from_bytes(&team(1), &dist, dtype, &bytes).unwrap()
}

fn message(array: &Array) -> String {
    array.recorded().expect_err("a refusal").to_string()
}

const WHOLE: [DType; 9] = [
    DType::Bool,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
];

fn limits(dtype: DType) -> (i128, i128) {
    match dtype {
        DType::Bool => (0, 1),
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => {
            let half = 1i128 << (8 * dtype.size_bytes() - 1);
            (-half, half - 1)
        }
        _ => (0, (1i128 << (8 * dtype.size_bytes())) - 1),
    }
}

#[test]
fn numbers_that_integers_cannot_hold_are_errors_of_every_operation() {
    let u8s = integers(DType::U8, &[1, 2, 3]);
    type Operation = (&'static str, fn(&Array, f64) -> Array);
    let operations: [Operation; 13] = [
        ("add", |a, x| a + x),
        ("add", |a, x| x + a),
        ("sub", |a, x| a - x),
        ("sub", |a, x| x - a),
        ("mul", |a, x| a * x),
        ("div", |a, x| x / a),
        ("rem", |a, x| a % x),
        ("minimum", |a, x| a.minimum(x)),
        ("maximum", |a, x| a.maximum(x)),
        ("bitand", |a, x| a & x),
        ("bitor", |a, x| a | x),
        ("shift_left", |a, x| a.shift_left(x)),
        ("shift_right", |a, x| a.shift_right(x)),
    ];
    for (name, operation) in operations {
        for number in [0.5, -1.0, 300.0, f64::NAN, 1e30, f64::INFINITY] {
            let text = message(&operation(&u8s, number));
            let said = [name.to_owned(), format!("{number:?}"), "u8".to_owned(), "`cast`".to_owned()];
            assert!(said.iter().all(|word| text.contains(word.as_str())), "{name} {number}: {text}");
        }
    }
    for dtype in WHOLE.into_iter().filter(|&dtype| dtype != DType::Bool) {
        let (least, most) = limits(dtype);
        let (below, above) = (least as f64 * 1.01 - 1.0, (most + 1) as f64);
        for number in [0.5, f64::NAN, 1e30, -1e30, below, above] {
            assert!((&integers(dtype, &[1]) + number).recorded().is_err(), "{dtype} + {number}");
        }
    }
    assert!((integers(DType::Bool, &[0, 1]) & 2.0).recorded().is_err());
    let mut cells = integers(DType::U8, &[1, 2, 3]);
    assert!(dirichlet(&mut cells, 0, Side::Low, 1, 300.0).is_err());
    assert_eq!(cells.to_vec::<u8>().unwrap(), [1, 2, 3]);
}

#[test]
fn numbers_that_integers_hold_are_taken_exactly() {
    let u8s = integers(DType::U8, &[1, 2]);
    assert_eq!((&u8s + 253.0).to_vec::<u8>().unwrap(), [254, 255]);
    assert_eq!((&u8s * -0.0).to_vec::<u8>().unwrap(), [0, 0]);
    assert_eq!((&integers(DType::I8, &[0, 1]) + -128.0).to_vec::<i8>().unwrap(), [-128, -127]);
    let most = 18_446_744_073_709_549_568.0;
    assert_eq!((&integers(DType::U64, &[2047]) + most).to_vec::<u64>().unwrap(), [u64::MAX]);
    assert_eq!((!integers(DType::Bool, &[0, 1]) ^ 1.0).to_bools().unwrap(), [false, true]);
    // Floats round, and what is too large for them is infinite.
    let half = floats(1).cast(DType::F16);
    assert_eq!((half + 1e30).cast(DType::F32).to_vec::<f32>().unwrap(), [f32::INFINITY]);
}

/// How an integer compares with a number; `None` with NaN.
fn exactly(integer: i128, number: f64) -> Option<Ordering> {
    let whole = number.floor();
    if number.is_nan() || whole.abs() > 1e30 {
        return 0.0.partial_cmp(&number);
    }
    let rest = if number > whole { Ordering::Less } else { Ordering::Equal };
    Some(integer.cmp(&(whole as i128)).then(rest))
}

#[test]
fn integers_compare_with_every_number_as_in_mathematics() {
    type Comparison = (&'static str, fn(&Array, f64) -> Array, fn(Option<Ordering>) -> bool);
    let comparisons: [Comparison; 6] = [
        ("equal", |a, x| a.equal(x), |o| o == Some(Ordering::Equal)),
        ("not_equal", |a, x| a.not_equal(x), |o| o != Some(Ordering::Equal)),
        ("less", |a, x| a.less(x), |o| o == Some(Ordering::Less)),
        ("less_equal", |a, x| a.less_equal(x), |o| o.is_some_and(Ordering::is_le)),
        ("greater", |a, x| a.greater(x), |o| o == Some(Ordering::Greater)),
        ("greater_equal", |a, x| a.greater_equal(x), |o| o.is_some_and(Ordering::is_ge)),
    ];
    for dtype in WHOLE {
        let (least, most) = limits(dtype);
        let near = [0, 1, 20, 127].into_iter().flat_map(|v: i128| [v, -v]);
        let values: Vec<i128> =
            near.chain([least, least + 1, most - 1, most]).filter(|v| (least..=most).contains(v)).collect();
        let array = integers(dtype, &values);
        let ends = [least as f64, most as f64, (most + 1) as f64, least as f64 - 1.0];
        let near = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 20.0, 20.5, 20.7, 126.5, 127.5, 255.5];
        let far = [1e30, -1e30, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        for number in ends.into_iter().chain(near).chain(far) {
            for (name, compare, is_so) in comparisons {
                let given = compare(&array, number).to_bools().unwrap();
                let expected: Vec<bool> = values.iter().map(|&v| is_so(exactly(v, number))).collect();
                assert_eq!(given, expected, "{dtype} {values:?} {name} {number:?}");
            }
        }
    }
}

#[test]
fn floats_compare_with_the_number_rounded_to_their_type() {
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let dist = Distribution::builder(&[1]).build().unwrap();
        let tenth = Array::full(&team(1), &dist, Scalar::from_f64(dtype, 0.1)).unwrap();
        assert_eq!(tenth.equal(0.1).to_bools().unwrap(), [true], "{dtype}");
        assert_eq!(tenth.less(f64::NAN).to_bools().unwrap(), [false], "{dtype}");
        assert_eq!(tenth.not_equal(f64::NAN).to_bools().unwrap(), [true], "{dtype}");
    }
}

#[test]
fn readers_tell_the_error_that_an_array_carries_before_they_look_at_types() {
    let shapes = "shapes that broadcast";
    let compared = floats(3).less(floats(4));
    let text = |result: partita::Result<()>| result.expect_err("a refusal").to_string();
    assert!(text(compared.to_bools().map(drop)).contains(shapes));
    assert!(text(compared.to_vec::<f64>().map(drop)).contains(shapes));
    assert!(text(compared.item::<f64>().map(drop)).contains(shapes));
    assert!(text(compared.get(&[7, 7]).map(drop)).contains(shapes));
    assert!(text(compared.part_to_vec::<f64>(9).map(drop)).contains(shapes));
    assert!(text(compared.clone().set(&[0], Scalar::from_f64(DType::F64, 0.0))).contains(shapes));
    let dist = Distribution::builder(&[0]).build().unwrap();
    let nothing = Array::zeros(&team(1), &dist, DType::F32).unwrap().argmax(None);
    assert!(text(nothing.item::<i64>().map(drop)).contains("at least one element"));
    assert!(text((nothing + 1.0).item::<i64>().map(drop)).contains("at least one element"));
}

#[test]
fn what_is_recorded_with_a_failed_array_keeps_the_first_error() {
    let failed = floats(3).less(floats(4));
    let one = (&failed | &failed).cast(DType::I32) + 0.5;
    let all = [
        failed.clone() & 1.0,
        failed.cast(DType::I32).less(floats(7)),
        failed.cast(DType::F32).sum(&[7]),
        failed.slice(&s![9..]),
        failed.cast(DType::F32).flip(7).sqrt(),
        floats(3).is_nan().select(&failed.cast(DType::F32), &floats(9)),
        floats(5) + failed.cast(DType::F32),
        -(one.roll(&[1, 2, 3])),
        failed.broadcast_to(&[2, 2]),
        failed.transpose(&[5]),
        failed.pad(&[(-1, 0), (0, 0)], partita::array::Padding::Edge),
        failed.reshape(&[77]),
        failed.squeeze(&[7]),
        failed.unsqueeze(&[7]),
        failed.gather(&[1], &[99]),
        failed.rearranged(&[]),
        failed.fft(&[7]),
        failed.redistribute(&Distribution::default_partition(1, &[77]).expect("a partition")),
        Array::concatenate(&[&one, &failed], 7),
        Array::stack(&[&one, &failed], 7),
        laplacian(&failed, &[], Boundary::Open),
        convolve(&failed, &[], &[7], Boundary::Open),
        divergence(&[one.clone(), failed.cast(DType::F64)], &[-1.0], Boundary::Open),
    ];
    for (case, array) in all.iter().enumerate() {
        let text = message(array);
        assert!(text.starts_with("less: expected shapes"), "case {case}: {text}");
    }
}

#[test]
fn errors_name_the_call_that_the_user_made() {
    let a = floats(4);
    let text = message(&a.flip(7));
    assert!(text.starts_with("flip: expected a dimension below 1, given 7"), "{text}");
    let text = a.sum(&[]).item::<f64>().expect_err("another type").to_string();
    assert!(text.starts_with("item: expected elements of the array's type, f32, given f64"), "{text}");
    let text = a.item::<f32>().expect_err("four elements").to_string();
    assert!(text.starts_with("item: expected an array of 1 element, given shape (4)"), "{text}");
    for (result, given) in
        [(a.get(&[]).map(drop), "[]"), (a.clone().set(&[4], Scalar::from_f64(DType::F32, 1.0)), "[4]")]
    {
        let text = result.expect_err("no such element").to_string();
        let name = if given == "[]" { "get" } else { "set" };
        assert!(
            text.starts_with(&format!("{name}: expected an index inside shape (4), given {given}")),
            "{text}"
        );
    }
    let text = Distribution::builder(&[4]).bounds(0, &[]).build().expect_err("no bounds").to_string();
    assert!(text.starts_with("block bounds: expected 2 bounds or more"), "{text}");
    assert!(text.contains("given 0 bounds"), "{text}");
}
