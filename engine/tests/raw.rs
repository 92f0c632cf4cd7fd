//! Errors of `raw`, and borrowed memory is never written. The module's examples show what does not compile
//! without `unsafe`.
#![allow(missing_docs, clippy::unwrap_used)]

mod agreement;
mod found;

use agreement::{flat, job, raw_access};
use partita::prelude::*;
use partita_kernels::{BinaryOp, Builder, Verified};

fn refused(result: partita::Result<()>, words: &[&str]) {
    let text = result.unwrap_err().to_string();
    assert!(words.iter().all(|word| text.contains(word)), "{text}");
}

/// Adds one to every element of its only parameter.
fn add_one() -> Verified {
    let mut k = Builder::new("add_one", 1);
    let both = k.inout(DType::I32);
    let (old, one) = (k.load(both, &[0]), k.int(DType::I32, 1));
    let new = k.binary(BinaryOp::Add, old, one);
    k.elementwise(&[(both, new)]).unwrap()
}

#[test]
fn bytes_outside_the_memory_are_refused() {
    for device in found::devices() {
        let buffer = device.alloc(256).unwrap();
        let memory = buffer.allocation();
        let words = |operation| [operation, "expected bytes below 256"];
        refused(raw_access::upload(&device, memory, 253, &[1; 4]), &words("upload"));
        refused(raw_access::upload(&device, memory, u64::MAX, &[1; 4]), &words("upload"));
        refused(raw_access::download(&device, memory, 1, &mut [0; 256]), &words("download"));
        refused(raw_access::copy((&device, memory), (&device, memory), 257), &words("copy"));
        raw_access::upload(&device, memory, 252, &[1; 4]).unwrap();
        raw_access::upload(&device, memory, 256, &[]).unwrap();
    }
}

#[test]
fn memory_and_programs_of_another_device_are_refused() {
    let kernel = add_one();
    let launch = flat(&kernel, 4);
    let other = Device::host();
    let foreign = other.alloc(256).unwrap();
    for device in found::devices() {
        let own = device.alloc(256).unwrap();
        let words = ["of another device"];
        refused(raw_access::upload(&device, foreign.allocation(), 0, &[1]), &words);
        refused(raw_access::download(&device, foreign.allocation(), 0, &mut [1]), &words);
        refused(raw_access::copy((&device, foreign.allocation()), (&device, own.allocation()), 4), &words);
        refused(raw_access::copy((&device, own.allocation()), (&device, foreign.allocation()), 4), &words);
        refused(raw_access::launch(&device, &job(&device, &kernel, &launch, &[&foreign]).unwrap()), &words);
        refused(raw_access::launch(&device, &job(&other, &kernel, &launch, &[&own]).unwrap()), &words);
        refused(
            partita::raw::record(&device, vec![job(&other, &kernel, &launch, &[&own]).unwrap()]).map(drop),
            &words,
        );
        raw_access::launch(&device, &job(&device, &kernel, &launch, &[&own]).unwrap()).unwrap();
    }
}

#[test]
fn borrowed_memory_is_never_written() {
    static ELEMENTS: [i32; 64] = [7; 64];
    let device = Device::host();
    let buffer = raw_access::borrow_static(&device, &ELEMENTS).unwrap();
    let words = ["expected memory that may be written", "borrowed from another owner"];
    refused(raw_access::upload(&device, buffer.allocation(), 0, &[1; 4]), &words);
    let own = device.alloc(256).unwrap();
    refused(raw_access::copy((&device, own.allocation()), (&device, buffer.allocation()), 4), &words);
    let kernel = add_one();
    refused(
        raw_access::launch(&device, &job(&device, &kernel, &flat(&kernel, 64), &[&buffer]).unwrap()),
        &words,
    );
    // Arrays over it, even two, go to other memory when they are assigned to.
    let team = Team::on(std::slice::from_ref(&device), 1).unwrap();
    let dist = Distribution::builder(&[64]).build().unwrap();
    let over = || Array::from_buffers(&team, &dist, DType::I32, vec![Some(buffer.clone())]).unwrap();
    let (mut one, other) = (over(), over());
    let shifted = other.slice(&s![1..]) + 1.0;
    one.assign(&s![..-1], &shifted).unwrap();
    assert_eq!(one.to_vec::<i32>().unwrap(), [[8; 63].as_slice(), &[7]].concat());
    assert_eq!(other.to_vec::<i32>().unwrap(), ELEMENTS);
}

#[test]
fn one_buffer_is_no_two_arrays() {
    let device = Device::host();
    let team = Team::on(std::slice::from_ref(&device), 1).unwrap();
    let dist = Distribution::builder(&[64]).build().unwrap();
    let buffer = device.alloc(256).unwrap();
    let over = |buffer| Array::from_buffers(&team, &dist, DType::I32, vec![Some(buffer)]);
    refused(over(buffer.clone()).map(drop), &["Array::from_buffers", "nobody else leases"]);
    over(buffer).unwrap().eval().unwrap();
}

#[test]
fn bools_in_borrowed_host_memory_are_checked() {
    static GOOD: [u8; 40_000] = [1; 40_000];
    static BAD: [u8; 40_000] = {
        let mut bytes = [1; 40_000];
        bytes[39_999] = 2;
        bytes
    };
    let device = Device::host();
    let team = Team::on(std::slice::from_ref(&device), 1).unwrap();
    let dist = Distribution::builder(&[40_000]).build().unwrap();
    let over = |bytes: &'static [u8]| {
        let buffer = raw_access::borrow_static(&device, bytes).unwrap();
        Array::from_buffers(&team, &dist, DType::Bool, vec![Some(buffer)])
    };
    assert_eq!(over(&GOOD).unwrap().cast(DType::I32).sum(&[]).item::<i64>().unwrap(), 40_000);
    refused(over(&BAD).map(drop), &["Array::from_buffers", "bools of 0 and 1", "part 0", "copy the memory"]);
}
