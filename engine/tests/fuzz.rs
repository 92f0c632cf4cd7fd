//! Random kernels on every device against the interpreter, bit for bit.
#![allow(missing_docs, clippy::unwrap_used)]

mod agreement;
mod found;
#[path = "../../kernels/tests/random/mod.rs"]
mod random;

use agreement::{SMALL_BINDING_BYTES, gpus, misjudged, on_host};
use found::ran;
use partita::prelude::*;
use partita_kernels::{Form, Launch, Param, Verified, simplify};
use random::Case;

/// Seeds of one run; `PARTITA_FUZZ_SEEDS=first..last` takes others.
fn seeds() -> std::ops::Range<u64> {
    let given = std::env::var("PARTITA_FUZZ_SEEDS").ok();
    let bounds = given.as_deref().and_then(|text| text.split_once(".."));
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("PARTITA_FUZZ_SEEDS: `{text}`"));
    bounds.map_or(0..2000, |(first, last)| number(first)..number(last))
}

/// Mesa 22.3 folds `0.0 / 0.0` of f64 to 0 and loses the sign of `i64(i32)` under a negation, so
/// what a software adapter does with 64-bit types is left to the case table.
fn is_tried(device: &Device, kernel: &Verified) -> bool {
    let wide = |dtype: DType| dtype.size_bytes() == 8;
    let kernel = kernel.kernel();
    let any_wide =
        kernel.body.iter().any(|inst| wide(inst.dtype)) || kernel.params.iter().any(|p| wide(p.dtype));
    match device.kind() {
        DeviceKind::Wgpu => !(device.is_software() && any_wide),
        _ => true,
    }
}

/// An adapter with small limits refuses kernels of which one point alone reads more than a binding holds
/// (with what aligning its ends may add).
fn holds_a_point(device: &Device, kernel: &Verified, launch: &Launch) -> bool {
    // The lines of a scan are not cut, either.
    let is_whole = |dim: usize| matches!(&kernel.kernel().form, Form::Scan(scan) if scan.axis == dim);
    let extent = |(dim, &extent): (usize, &usize)| if is_whole(dim) { extent } else { 1 };
    let extents = launch.extents.iter().enumerate().map(extent).collect();
    let point = Launch { extents, ..launch.clone() };
    let params = &kernel.kernel().params;
    let spans = kernel.touched(&point).into_iter().zip(params);
    let bytes = |(span, param): (Option<(i64, i64)>, &Param)| {
        span.map_or(0, |(first, last)| (last - first + 1) as u64 * param.dtype.size_bytes() as u64)
    };
    Device::all().contains(device) || spans.map(bytes).all(|bytes| bytes + 512 <= SMALL_BINDING_BYTES)
}

#[test]
fn random_kernels_give_the_interpreters_bits() {
    let mut counts = vec![0; gpus().len()];
    let mut wrong = Vec::new();
    for seed in seeds() {
        let Case { kernel, launch, arrays } = random::case(seed);
        let expected = on_host(&kernel, &launch, &arrays);
        for (device, count) in gpus().iter().zip(&mut counts) {
            if !is_tried(device, &kernel) || !holds_a_point(device, &kernel, &launch) {
                continue;
            }
            *count += 1;
            match misjudged(device, &kernel, &launch, &arrays, &expected) {
                Ok(found) => wrong.extend(found.map(|d| format!("{device:?}: {d}\n{}", simplify(&kernel)))),
                Err(error) => wrong.push(format!("seed {seed} on {device:?}: {error}")),
            }
        }
        assert!(wrong.len() < 8, "{}", wrong.join("\n"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (device, count) in gpus().iter().zip(counts) {
        ran("random-kernels", device, count);
    }
}
