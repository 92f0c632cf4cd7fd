//! Subnormals, quotients and roots on adapters: behaviour found by trial, which the definition then follows.
//! Faults of drivers are written into the kernels of the adapter at hand; none of this is hardware.
#![allow(missing_docs, clippy::unwrap_used)]

mod agreement;
mod found;
#[path = "../../kernels/tests/random/mod.rs"]
mod random;

use std::process::Command;

use agreement::*;
use partita::device::compared_launches;
use partita::device::wgpu::Shrink;
use partita::prelude::*;
use partita_kernels::wgsl::DriverFaults;
use partita_kernels::{BinaryOp, Builder, Launch, Math1, Subnormals, UnaryOp, Verified, simplify};

/// As on NVIDIA's driver: sums and products keep subnormals, all else does not; quotients are approximate.
const COMPARISONS: DriverFaults =
    DriverFaults { flush_sums: false, flush_products: false, ..DriverFaults::FLUSHING };
const APPROXIMATE: DriverFaults = DriverFaults { inexact_quotients: true, ..COMPARISONS };
const FLUSHING: DriverFaults = DriverFaults { inexact_quotients: true, ..DriverFaults::FLUSHING };
const PRODUCTS: DriverFaults = DriverFaults { flush_sums: false, ..FLUSHING };

/// The first adapter with these faults; None where there is no adapter.
fn with(faults: DriverFaults) -> Option<Device> {
    let wgpu = found::devices().into_iter().find(|device| device.kind() == DeviceKind::Wgpu)?;
    assert!(
        !wgpu.is_software()
            || std::env::var("PARTITA_WGPU_FLUSH").is_ok()
            || wgpu.subnormals() == Subnormals::Kept
    );
    Some(Device::wgpu_with_limits(0, Shrink { faults, hardware: true, ..Shrink::default() }).unwrap())
}

/// What the devices gave that their definitions do not; none of a device that lacks the kernel.
fn wrong(devices: &[Device], kernel: &Verified, launch: &Launch, arrays: &Arrays) -> (usize, Vec<String>) {
    let (mut count, mut all) = (0, Vec::new());
    let kept = on_host(kernel, launch, arrays);
    for device in devices {
        match misjudged(device, kernel, launch, arrays, &kept) {
            Err(partita::Error::Unsupported { .. }) => continue,
            found => all.extend(found.unwrap()),
        }
        count += 1;
    }
    (count, all)
}

/// Asserts that kernels on pairs of hard values give what the definitions for the devices say.
fn check(what: &str, faults: [DriverFaults; 3], kernels: impl Iterator<Item = Verified>) {
    let devices: Vec<Device> = faults.into_iter().filter_map(with).collect();
    let Some(device) = devices.first() else { return };
    let (mut count, mut all) = (0, Vec::new());
    for kernel in kernels {
        let (n, arrays) = operand_grid(&kernel);
        let (more, found) = wrong(&devices, &kernel, &flat(&kernel, n), &arrays);
        count += more;
        all.extend(found);
    }
    assert!(all.is_empty(), "{} {what} differ:\n{}", all.len(), all.join("\n"));
    found::ran(&format!("flushed-{what}"), device, count);
}

fn is_float(kernel: &Verified) -> bool {
    let kernel = kernel.kernel();
    kernel.params.iter().any(|param| matches!(param.dtype, DType::F16 | DType::BF16 | DType::F32))
}

#[test]
fn trials_tell_adapters_that_keep_from_those_that_flush() {
    use Subnormals::{Flushed, Kept, Unspecified};
    let sums = DriverFaults { flush_products: false, ..DriverFaults::FLUSHING };
    let cases = [
        (DriverFaults::default(), Kept),
        (COMPARISONS, Kept),
        (APPROXIMATE, Kept),
        (DriverFaults::FLUSHING, Flushed),
        (FLUSHING, Flushed),
        (PRODUCTS, Unspecified),
        (sums, Unspecified),
    ];
    assert_eq!(Device::host().subnormals(), Kept);
    for (faults, expected) in cases {
        let Some(device) = with(faults) else { return };
        let begin = std::time::Instant::now();
        assert_eq!(device.subnormals(), expected, "{faults:?}");
        println!("{expected:?}: {:.0} ms", begin.elapsed().as_secs_f64() * 1e3);
    }
}

#[test]
fn trials_tell_operands_from_results_by_operation_and_type() {
    use Subnormals::{Flushed, Kept};
    let Some(device) = with(PRODUCTS) else { return };
    let trials = device.subnormal_trials();
    for (operation, expected) in
        [("+", Kept), ("-", Kept), ("*", Flushed), ("fma", Flushed), ("<", Flushed), ("cast to f64", Flushed)]
    {
        let of = |d: DType| trials.iter().find(|t| t.operation == operation && t.dtype == d);
        let found = of(DType::F32).unwrap();
        assert_eq!(found.operands, expected, "{found:?}");
        // Comparisons, and casts of normal numbers, have no such results.
        let has_results = !["<", "cast to f64"].contains(&operation);
        assert_eq!(found.results, if has_results { expected } else { Kept }, "{found:?}");
        let wide = of(DType::F64).filter(|_| operation != "fma");
        assert!(wide.is_none_or(|t| t.operands == Kept && t.results == Kept), "{wide:?}");
    }
    assert!(trials.iter().any(|t| t.dtype == DType::F64 && t.operation == "*"), "{trials:?}");
}

#[test]
fn operations_of_adapters_that_flush() {
    let kernels = cases::operations().into_iter().filter(is_float);
    check("operations", [FLUSHING, APPROXIMATE, PRODUCTS], kernels);
}

#[test]
fn bf16_and_f16_keep_subnormals_on_adapters_that_flush() {
    for faults in [FLUSHING, PRODUCTS] {
        let Some(device) = with(faults) else { return };
        let is_narrow = |d: DType| matches!(d, DType::F16 | DType::BF16);
        for kernel in cases::operations() {
            let params = &kernel.kernel().params;
            if !is_narrow(params[0].dtype) || params.len() < 2 {
                continue;
            }
            let (n, arrays) = operand_grid(&kernel);
            let launch = flat(&kernel, n);
            let expected = on_host(&kernel, &launch, &arrays);
            match run_on(&device, &kernel, &launch, &arrays) {
                Ok(given) => assert_eq!(difference(&kernel, &expected, &given), None),
                Err(error) => assert!(matches!(error, partita::Error::Unsupported { .. }), "{error}"),
            }
        }
    }
}

#[test]
fn functions_of_adapters_that_flush() {
    // erf x is x + 0.128 x near 0, and an adapter flushes the second where the first is a normal number.
    let suits = |op: &cases::Operation| op.operands[0] != DType::F64 && !op.name.starts_with("Erf_");
    let functions = cases::every_function().into_iter().filter(suits);
    check(
        "functions",
        [DriverFaults::FLUSHING, APPROXIMATE, PRODUCTS],
        functions.filter_map(|op| op.loaded()),
    );
}

/// Where a subnormal operand has a normal result, that is right.
#[test]
fn logarithms_and_roots_of_subnormals_are_right_on_adapters_that_flush() {
    let Some(device) = with(FLUSHING) else { return };
    for function in [Math1::Log, Math1::Log2, Math1::Log10, Math1::Cbrt, Math1::Exp, Math1::Cos] {
        let mut k = Builder::new("function", 1);
        let (input, output) = (k.input(DType::F32), k.output(DType::F32));
        let value = k.load(input, &[0]);
        let result = k.math1(function, value);
        let kernel = k.elementwise(&[(output, result)]).unwrap();
        let n = 5000;
        let values = (0..n as u64).map(|i| 1 + i * i * 2_654_435_761 % 0x7f_ffff);
        let arrays = vec![bytes(DType::F32, values), vec![0; 4 * n]];
        let launch = flat(&kernel, n);
        let given = run_on(&device, &kernel, &launch, &arrays).unwrap();
        assert_eq!(difference(&kernel, &on_host(&kernel, &launch, &arrays), &given), None, "{function:?}");
    }
}

#[test]
fn folds_and_scans_of_adapters_that_flush() {
    let Some(device) = with(FLUSHING) else { return };
    let mut count = 0;
    for d in [DType::BF16, DType::F32] {
        for op in cases::FOLDS {
            for extents in [[1, 300], [50, 7]] {
                let fold = cases::fold(op, d, &[false, true]);
                let scan = cases::scan(op, d, (2, 1), false);
                for kernel in [fold, scan].into_iter().flatten() {
                    let hard = cases::hard_bits(d, 40);
                    // Few large numbers, so that sums of subnormals stay what they are.
                    let tiny: Vec<u64> = hard.iter().copied().filter(|bits| bits >> 23 < 4).collect();
                    let params = &kernel.kernel().params;
                    let n: usize = extents.iter().product();
                    let array = |p: usize| {
                        let of = |i: usize| tiny[(i * 7 + i / tiny.len() + p) % tiny.len()];
                        bytes(params[p].dtype, (0..n).map(of))
                    };
                    let arrays: Arrays = (0..params.len()).map(array).collect();
                    let is_fold = params.len() == 2;
                    let strides = |p: usize| match is_fold && p == 1 {
                        true => vec![1, 0],
                        false => c_strides(&extents),
                    };
                    let views =
                        (0..params.len()).map(|p| partita_kernels::View { offset: 0, strides: strides(p) });
                    let launch = Launch {
                        extents: extents.to_vec(),
                        origin: vec![0, 0],
                        views: views.collect(),
                        arguments: vec![],
                    };
                    let (more, all) = wrong(std::slice::from_ref(&device), &kernel, &launch, &arrays);
                    assert!(all.is_empty(), "{op:?} {d}: {all:?}");
                    count += more;
                }
            }
        }
    }
    found::ran("flushed-folds", &device, count);
}

#[test]
fn random_kernels_on_adapters_that_flush() {
    let devices: Vec<Device> = [FLUSHING, APPROXIMATE, PRODUCTS].into_iter().filter_map(with).collect();
    let Some(device) = devices.first() else { return };
    let (mut count, mut all) = (0, Vec::new());
    for seed in 0..600 {
        let random::Case { kernel, launch, arrays } = random::case(seed);
        if kernel.kernel().body.iter().any(|inst| inst.dtype.size_bytes() == 8) {
            continue;
        }
        let (more, found) = wrong(&devices, &kernel, &launch, &arrays);
        count += more;
        all.extend(found.into_iter().map(|text| format!("{text}\n{}", simplify(&kernel))));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
    found::ran("flushed-random-kernels", device, count);
}

/// Pairs around midpoints between floats, at both ends of the range, and without pattern.
fn pair(i: u64) -> [u32; 2] {
    let random =
        (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let (a, b) = ((random >> 40) as u32 & 0x7f_ffff, random as u32 & 0x7f_ffff);
    let of = |exponent: u32, mantissa: u32| (exponent << 23) | mantissa;
    let near = |m: u32| if m & 1 == 0 { m & 0xff } else { 0x7f_ffff - (m & 0xff) };
    match i % 4 {
        0 => [of((random >> 8) as u32 & 0xff, a), of((random >> 16) as u32 & 0xff, b)],
        // A product of a float and the middle between two, rounded: the quotient is next to that middle.
        1 => {
            let divisor = f32::from_bits(of(127, b));
            let middle = f64::from(f32::from_bits(of(127, a))) + 2f64.powi(-24);
            [((middle * f64::from(divisor)) as f32).to_bits(), divisor.to_bits()]
        }
        2 => [of(127 + (a & 1), near(a)), of(127, near(b))],
        // Quotients around the least normal number.
        _ => [of(1 + (a & 0x1f), a), of(125 + (b & 0x1f), b)],
    }
}

#[test]
fn a_million_quotients_and_roots_of_an_approximate_adapter_are_those_of_the_host() {
    let Some(device) = with(APPROXIMATE) else { return };
    let n = 1_000_000;
    let mut k = Builder::new("quotients", 1);
    let [a, b] = [k.input(DType::F32), k.input(DType::F32)].map(|p| k.load(p, &[0]));
    let results = [k.binary(BinaryOp::Div, a, b), k.unary(UnaryOp::Sqrt, a)];
    let stores = results.map(|value| (k.output(DType::F32), value));
    let kernel = k.elementwise(&stores).unwrap();
    let operand = |which: usize| bytes(DType::F32, (0..n as u64).map(|i| pair(i)[which].into()));
    let arrays = vec![operand(0), operand(1), vec![0; 4 * n], vec![0; 4 * n]];
    let launch = flat(&kernel, n);
    let given = run_on(&device, &kernel, &launch, &arrays).unwrap();
    assert_eq!(difference(&kernel, &on_host(&kernel, &launch, &arrays), &given), None);
    found::ran("approximate-quotients", &device, n);
}

/// Their reciprocals are off, too; the text that the process prints divides by them all the same.
#[test]
fn approximate_adapters_divide_by_their_reciprocals() {
    let test = "a_million_quotients_and_roots_of_an_approximate_adapter_are_those_of_the_host";
    if with(APPROXIMATE).is_none() {
        return;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("PARTITA_DEBUG", "3")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{text}");
    for call in
        ["= quotient32(v0, v1, false);", "= root32(v0);", "return bitcast<f32>(bitcast<u32>(1.0f / x) + 3u);"]
    {
        assert!(text.contains(call), "{call}\n{text}");
    }
}

/// Arrays on an adapter that flushes, in a process that compares every launch.
#[test]
fn checked_launches_of_an_adapter_that_flushes() {
    if with(FLUSHING).is_none() {
        return;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_flushes", "--ignored", "--nocapture"])
        .envs([("PARTITA_WGPU_FLUSH", "1"), ("PARTITA_CHECK", "1")])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success() && said.contains("gave: "),
        "{said}{}",
        String::from_utf8_lossy(&child.stderr)
    );
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_flushes() {
    let device = Device::wgpu(0).unwrap();
    assert_eq!(device.subnormals(), Subnormals::Flushed);
    let team = Team::on(&[device], 1).unwrap();
    let dist = Distribution::builder(&[4096]).build().unwrap();
    let a = Array::from_fn(&team, &dist, |at| at[0] as f32 * 1e-40).unwrap();
    let twice: Vec<f32> = (&a * 2.0).to_vec().unwrap();
    assert!(twice[..100].iter().all(|&x| x == 0.0) && twice[4095] > 8e-37, "{:?}", &twice[..9]);
    let logs: Vec<f32> = a.log().to_vec().unwrap();
    assert!((logs[1] + 92.1034).abs() < 1e-3, "{}", logs[1]);
    let largest: Vec<f32> = a.max(&[]).to_vec().unwrap();
    println!("gave: {largest:?}, {} launches compared", compared_launches());
    assert!(compared_launches() > 0);
}
