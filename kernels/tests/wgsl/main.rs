//! The WGSL writer's text passes naga's validator for every operation, type and form, and says no
//! by name where the adapter lacks a feature. What the text computes is tested on devices.

mod cases;
mod gates;
mod translated;

use naga::valid::{Capabilities, ValidationFlags, Validator};
use partita_kernels::wgsl::{DriverFaults, WgslTarget, emit};
use partita_kernels::{BinaryOp, Builder, DType, FoldOp, Scalar, Subnormals, Verified};

const STRICT: WgslTarget = WgslTarget {
    strict_floats: true,
    subnormals: Subnormals::Kept,
    exact_comparisons: true,
    exact_division: true,
    exact_sqrt: true,
    exact_fma: true,
    exact_f64: true,
    exact_fma64: true,
    ..WgslTarget::CAUTIOUS
};

/// An adapter that flushes.
const FLUSHING: WgslTarget = WgslTarget {
    subnormals: Subnormals::Flushed,
    exact_comparisons: false,
    exact_division: false,
    faults: DriverFaults::FLUSHING,
    ..STRICT
};

fn validate(kernel: &Verified, target: &WgslTarget) {
    for stage in emit(kernel, target).unwrap_or_else(|e| panic!("{e}")).stages {
        let source = &stage.source;
        let module = naga::front::wgsl::parse_str(source)
            .unwrap_or_else(|e| panic!("{}\n{source}", e.emit_to_string(source)));
        let mut capabilities = Capabilities::empty();
        capabilities.set(Capabilities::FLOAT64, target.f64);
        capabilities.set(Capabilities::SHADER_INT64, target.i64);
        capabilities.set(Capabilities::SUBGROUP, target.subgroups);
        Validator::new(ValidationFlags::all(), capabilities)
            .validate(&module)
            .unwrap_or_else(|e| panic!("{}\n{source}", e.emit_to_string(source)));
    }
}

#[test]
fn every_operation_on_every_type_is_valid() {
    let all = cases::operations();
    assert!(all.len() >= 473, "{} operations", all.len());
    for kernel in &all {
        validate(kernel, &WgslTarget { exact_f64: true, ..WgslTarget::CAUTIOUS });
        validate(kernel, &STRICT);
        validate(kernel, &FLUSHING);
        validate(kernel, &WgslTarget { near_inverses: true, exact_f64: true, ..WgslTarget::CAUTIOUS });
    }
}

#[test]
fn every_form_on_every_type_is_valid() {
    let all = cases::forms();
    assert!(all.len() > 500, "{} forms", all.len());
    for kernel in &all {
        validate(kernel, &WgslTarget::CAUTIOUS);
        validate(kernel, &WgslTarget { unroll: 1, ..WgslTarget::CAUTIOUS });
        validate(kernel, &WgslTarget { subgroups: true, ..WgslTarget::CAUTIOUS });
    }
}

#[test]
fn every_constant_is_valid() {
    for d in DType::ALL {
        let scalars: Vec<Scalar> =
            cases::hard_bits(d, 4).into_iter().map(|bits| Scalar { dtype: d, bits }).collect();
        validate(&cases::leaves(d, &scalars[..scalars.len().min(7)]).unwrap(), &WgslTarget::CAUTIOUS);
        for chunk in scalars.chunks(7) {
            validate(&cases::leaves(d, chunk).unwrap(), &STRICT);
        }
    }
}

#[test]
fn hard_constants_are_words_of_the_launch_and_the_text_is_valid() {
    let mut count = 0;
    for operation in cases::every_operation().iter().chain(&cases::every_function()) {
        for (place, &d) in operation.operands.iter().enumerate() {
            let constants = cases::hard_constants(d);
            let Some(kernel) = operation.with_constants(place, &constants) else { continue };
            validate(&kernel, &WgslTarget { max_bindings: 32, ..STRICT });
            count += 1;
        }
        operation.of_one().iter().for_each(|kernel| validate(kernel, &STRICT));
    }
    assert!(count > 800, "{count} kernels");
    for d in DType::ALL.into_iter().filter(|d| d.is_float()) {
        for scalar in cases::hard_constants(d) {
            let shader = emit(&cases::leaves(d, &[scalar]).unwrap(), &STRICT).unwrap();
            let one = cases::leaves(d, &[Scalar::from_f64(d, 1.0)]).unwrap();
            let without = emit(&one, &STRICT).unwrap();
            let value = if d == DType::F64 { scalar.to_f64() } else { f64::from(scalar.to_f64() as f32) };
            let is_normal = if d == DType::F64 { value.is_normal() } else { (value as f32).is_normal() };
            assert_eq!(shader.layout.words == without.layout.words, is_normal, "{scalar}");
        }
    }
}

#[test]
fn a_missing_feature_is_named() {
    let copy = |d: DType| {
        let mut k = Builder::new("copy", 1);
        let (input, output) = (k.input(d), k.output(d));
        let value = k.load(input, &[0]);
        k.elementwise(&[(output, value)]).unwrap()
    };
    let small = WgslTarget { f64: false, i64: false, ..STRICT };
    let error = emit(&copy(DType::F64), &small).unwrap_err();
    assert_eq!(error.to_string(), "kernel copy uses f64; this adapter lacks SHADER_F64");
    assert_eq!(emit(&copy(DType::U64), &small).unwrap_err().feature, "SHADER_INT64");
    for d in DType::ALL.into_iter().filter(|d| d.size_bytes() < 8) {
        validate(&copy(d), &small);
    }
    let flushing = WgslTarget { exact_sums64: false, ..STRICT };
    for (d, is_refused) in [(DType::F64, true), (DType::F32, false)] {
        let fold = cases::fold(FoldOp::Sum, d, &[true]).unwrap();
        let mut k = Builder::new("twice", 1);
        let (input, output) = (k.input(d), k.output(d));
        let value = k.load(input, &[0]);
        let sum = k.binary(BinaryOp::Add, value, value);
        for kernel in [k.elementwise(&[(output, sum)]).unwrap(), fold] {
            let given = emit(&kernel, &flushing).map_err(|error| error.feature);
            assert_eq!(given.err(), is_refused.then_some("some that keep subnormals"));
        }
    }
    validate(&copy(DType::F64), &flushing);
}

#[test]
fn text_is_the_same_every_time_and_names_no_driver_functions() {
    for kernel in cases::operations() {
        let (a, b) = (emit(&kernel, &STRICT).unwrap(), emit(&kernel, &STRICT).unwrap());
        assert_eq!(a, b);
        for name in ["exp(", "log(", "sin(", "pow(", "tanh(", "unpack2x16float(", "f16("] {
            for stage in &a.stages {
                let found = stage.source.match_indices(name).any(|(at, _)| stage.source[..at].ends_with(' '));
                assert!(!found, "{name} in\n{}", stage.source);
            }
        }
    }
}
