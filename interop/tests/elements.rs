//! Element types: names, sizes, their DLPack form, and distributions of complex numbers.

#![allow(clippy::unwrap_used)]

use dlpark::ffi::{DLDataType, DLDataTypeCode};
use partita::DType;
use partita::index::Distribution;
use partita_interop::dlpack::{dtype_of, element_of, name_of};
use partita_interop::element::Element;

#[test]
fn names_and_sizes() {
    for element in Element::all() {
        assert_eq!(Element::named(element.name()), Some(element));
    }
    assert_eq!(Element::Complex(DType::F32).size_bytes(), 8);
    assert_eq!(Element::named("complex256"), None);
}

#[test]
fn distributions_come_back_as_they_were() {
    let complex = Element::Complex(DType::F64);
    let users = Distribution::builder(&[9, 8]).grid(&[2, 3]).cyclic(1, 2);
    for dist in [
        users.halo(&[1, 0], &[0, 0]).periodic(&[true, false]).build().unwrap(),
        Distribution::builder(&[4]).parts(4).boundary(&[1], &[1]).build().unwrap(),
        Distribution::builder(&[]).build().unwrap(),
    ] {
        let stored = complex.stored(&dist).unwrap();
        assert_eq!((stored.rank(), stored.shape()[dist.rank()]), (dist.rank() + 1, 2));
        assert_eq!(complex.seen(&stored).unwrap(), dist);
    }
    let divided = Distribution::builder(&[3, 2]).grid(&[1, 2]).build().unwrap();
    assert!(complex.seen(&divided).is_err());
}

fn dtype((code, bits, lanes): (u8, u8, u16)) -> DLDataType {
    DLDataType::new(DLDataTypeCode(code), bits, lanes)
}

#[test]
fn element_types_have_names() {
    let names = [(5, 64, 1), (2, 32, 4), (1, 4, 1), (8, 8, 1)].map(|odd| name_of(dtype(odd)));
    assert_eq!(names, ["complex64", "float32x4", "uint4", "DLPack type code 8 of 8 bits"]);
}

#[test]
fn element_types_translate_both_ways_and_nothing_else_does() {
    for element in Element::all() {
        assert_eq!(element_of(dtype_of(element)), Some(element));
    }
    for odd in [(2, 32, 2), (5, 32, 1), (5, 64, 2), (6, 1, 1), (1, 4, 1), (3, 64, 1)] {
        assert_eq!(element_of(dtype(odd)), None, "{odd:?}");
    }
}
