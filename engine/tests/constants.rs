//! Every operation with hard values as constants, on every device, against the interpreter that loads the
//! same values from memory, bit for bit (any NaN equals any NaN). Outputs hold a pattern before, so that one
//! that stays unwritten shows.
#![allow(missing_docs, clippy::unwrap_used)]

mod agreement;
mod found;

use agreement::*;
use cases::Operation;
use found::{devices, ran};
use partita::device::wgpu::Shrink;
use partita::prelude::*;
use partita_kernels::{
    Access, BinaryOp, Builder, CompareOp, Fold, FoldOp, Launch, Scalar, Subnormals, UnaryOp, Value, Verified,
    View,
};

/// All pairs of hard values of the loaded operands' types, one array per operand; at least `least` elements.
fn loaded(operands: &[DType], least: usize) -> (usize, Arrays) {
    let values: Vec<Vec<u64>> = operands.iter().map(|&d| cases::hard_bits(d, 8)).collect();
    let hard =
        |d: DType| cases::hard_constants(d).into_iter().map(|scalar| scalar.bits).collect::<Vec<u64>>();
    let n = match operands {
        [] => least,
        [_] => values[0].len().max(least),
        _ => values[0].len() * hard(operands[1]).len(),
    };
    let array = |(p, &d): (usize, &DType)| {
        let pick = |i: usize| match p {
            0 => values[0][i % values[0].len()],
            _ => hard(d)[i / values[0].len() % hard(d).len()],
        };
        bytes(d, (0..n).map(pick))
    };
    (n, operands.iter().enumerate().map(array).collect())
}

/// One kernel with constants, its memory, and what its outputs must hold.
struct Case {
    kernel: Verified,
    arguments: Vec<Scalar>,
    n: usize,
    arrays: Arrays,
    expected: Arrays,
}

impl Case {
    fn launch(&self) -> Launch {
        Launch { arguments: self.arguments.clone(), ..flat(&self.kernel, self.n) }
    }
}

/// The operation with each hard value as the operand at `place`; `None` where there is no such operation.
fn case(operation: &Operation, place: usize, least: usize) -> Option<Case> {
    let constants = cases::hard_constants(operation.operands[place]);
    let kernel = operation.with_constants(place, &constants)?;
    case_of((operation, place), least, kernel, (constants, false))
}

/// The same with values as launch arguments.
fn case_with_arguments(operation: &Operation, place: usize, values: Vec<Scalar>) -> Option<Case> {
    let kernel = operation.with_arguments(place, values.len())?;
    case_of((operation, place), 8, kernel, (values, true))
}

fn case_of(
    (operation, place): (&Operation, usize),
    least: usize,
    kernel: Verified,
    (constants, are_arguments): (Vec<Scalar>, bool),
) -> Option<Case> {
    let reference = operation.loaded()?;
    let mut others = operation.operands.clone();
    others.remove(place);
    let (n, inputs) = loaded(&others, least);
    let result = reference.kernel().params.last().unwrap().dtype;
    let poison = vec![0xa5; n * result.size_bytes()];
    let mut arrays = inputs.clone();
    let mut expected = inputs.clone();
    let arguments = if are_arguments { constants.clone() } else { Vec::new() };
    for scalar in constants {
        let mut operands = inputs.clone();
        operands.insert(place, bytes(scalar.dtype, [scalar.bits]));
        operands.push(poison.clone());
        let mut launch = flat(&reference, n);
        launch.views[place].strides[0] = 0;
        expected.push(on_host(&reference, &launch, &operands).pop().unwrap());
        arrays.push(poison.clone());
    }
    Some(Case { kernel, arguments, n, arrays, expected })
}

/// A device, and the cases that it runs.
struct Subject {
    name: &'static str,
    device: Device,
    suits: fn(&Verified) -> bool,
}

/// The devices, and wgpu adapters on which every path through the writer of shaders is taken.
fn subjects() -> Vec<Subject> {
    let subject = |device| Subject { name: "constants", device, suits: |_| true };
    let mut all: Vec<Subject> = devices().into_iter().map(subject).collect();
    let wgpu = all.iter().find(|subject| subject.device.kind() == DeviceKind::Wgpu);
    if wgpu.is_some() {
        let cautious = Shrink { cautious: true, ..Shrink::default() };
        let device = Device::wgpu_with_limits(0, cautious).unwrap();
        let suits = |k: &Verified| k.kernel().body.iter().any(|inst| inst.dtype.is_float());
        all.push(Subject { name: "constants-cautious", device, suits });
    }
    all
}

/// Runs the cases on every device. What a device lacks is asserted by name.
fn check(cases: &[Case]) {
    let mut wrong = Vec::new();
    for Subject { name, device, suits } in subjects() {
        let mut unsupported = Vec::new();
        let mut differ = Vec::new();
        // Where subnormals are flushed, erf of tiny numbers is off (docs/wgpu.md).
        let flushes = device.subnormals() != Subnormals::Kept;
        let is_judged = |k: &Verified| suits(k) && !(flushes && k.kernel().name.starts_with("Erf_"));
        let cases: Vec<&Case> = cases.iter().filter(|case| is_judged(&case.kernel)).collect();
        for case in &cases {
            let kernel = &case.kernel;
            match misjudged(&device, kernel, &case.launch(), &case.arrays, &case.expected) {
                Ok(found) => differ.extend(found),
                Err(partita::Error::Unsupported { .. }) => unsupported.push(kernel.kernel().name.clone()),
                Err(error) => differ.push(format!("{}: {error}", kernel.kernel().name)),
            }
        }
        ran(name, &device, cases.len() - unsupported.len());
        let names = cases.iter().map(|case| &case.kernel.kernel().name);
        let expected: Vec<&String> = names.filter(|kernel| lacks(name, &device, kernel)).collect();
        // An adapter that is no program may have more than is expected of it.
        let is_so = match device.is_software() {
            true => unsupported.iter().eq(expected.iter().copied()),
            false => unsupported.iter().all(|kernel| expected.contains(&kernel)),
        };
        if !is_so {
            wrong.push(format!("{name} {device:?} lacks {unsupported:?}"));
        }
        let is_of = |text: &str, kernel: &str| text.starts_with(&format!("{kernel}:"));
        for kernel in cases.iter().map(|case| &case.kernel.kernel().name) {
            if !is_known_to_differ(name, kernel) {
                continue;
            }
            let count = differ.len();
            differ.retain(|text| !is_of(text, kernel));
            if differ.len() == count && device.is_software() {
                wrong.push(format!("{name} {device:?}: {kernel} no longer differs; take it off the list"));
            }
        }
        if !differ.is_empty() {
            wrong.push(format!("{name} {device:?}: {} differ:\n{}", differ.len(), differ.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Sums and differences of f16 that lavapipe computes wrongly where it is given WGSL instead of
/// SPIR-V: NaN - NaN is 0, and -0 + 0 is -0. `docs/wgpu.md` says so.
fn is_known_to_differ(name: &str, kernel: &str) -> bool {
    // Number 7 is infinity; the others are zeros.
    let is_sum = kernel.starts_with("others_f16_") && !kernel.ends_with("_7");
    name == "constants-cautious" && (is_sum || kernel == "Sub_f16_of_one")
}

/// What software adapters lack, by the beginnings of kernels' names. Others may lack more of f64.
fn lacks(name: &str, device: &Device, kernel: &str) -> bool {
    const NO_FUSED: [&str; 1] = ["Fma_f64"];
    const NO_DIVISION: [&str; 20] = [
        "Sqrt_f64",
        "Div_f64",
        "quotients_f64",
        "Log_f64",
        "Log1p_f64",
        "Log2_f64",
        "Log10_f64",
        "Tan_f64",
        "Asin_f64",
        "Acos_f64",
        "Atan_f64",
        "Tanh_f64",
        "Asinh_f64",
        "Acosh_f64",
        "Atanh_f64",
        "Erf_f64",
        "Cbrt_f64",
        "Pow_f64",
        "Atan2_f64",
        "Hypot_f64",
    ];
    let begins = |names: &[&str]| names.iter().any(|name| kernel.starts_with(name));
    match device.kind() {
        DeviceKind::Wgpu if !device.is_software() => kernel.contains("f64"),
        DeviceKind::Wgpu => begins(&NO_FUSED) || (name == "constants-cautious" && begins(&NO_DIVISION)),
        _ => false,
    }
}

fn places(operation: &Operation) -> impl Iterator<Item = (&Operation, usize)> {
    (0..operation.operands.len()).map(move |place| (operation, place))
}

/// A kernel with hard values in all that it loads; the interpreter says what it gives.
fn whole(kernel: Verified) -> Case {
    let params = &kernel.kernel().params;
    let inputs = params.iter().filter(|param| param.access == Access::In).map(|param| param.dtype);
    let (n, mut arrays) = loaded(&inputs.collect::<Vec<_>>(), 8);
    let outputs = params.iter().skip(arrays.len());
    arrays.extend(outputs.map(|param| vec![0xa5; n * param.dtype.size_bytes()]).collect::<Vec<_>>());
    let expected = on_host(&kernel, &flat(&kernel, n), &arrays);
    Case { kernel, arguments: Vec::new(), n, arrays, expected }
}

#[test]
fn hard_constants_on_either_side_of_every_operation() {
    let operations = cases::every_operation();
    let cases = operations.iter().flat_map(places);
    let cases: Vec<Case> = cases.filter_map(|(operation, place)| case(operation, place, 8)).collect();
    assert!(cases.len() > 700, "{} cases", cases.len());
    check(&cases);
}

/// Two hard values of each operation, others from one to the next: a kernel has a body for each.
#[test]
fn arguments_give_the_bits_of_constants_in_every_operation_and_function() {
    let all: Vec<Operation> = cases::every_operation().into_iter().chain(cases::every_function()).collect();
    let two = |(n, (operation, place)): (usize, (&Operation, usize))| {
        let values = cases::hard_constants(operation.operands[place]);
        let value = |k: usize| values[k % values.len()];
        case_with_arguments(operation, place, vec![value(n), value(n + values.len() / 2)])
    };
    let cases: Vec<Case> = all.iter().flat_map(places).enumerate().filter_map(two).collect();
    assert!(cases.len() > 800, "{} cases", cases.len());
    check(&cases);
}

/// Each value as an argument and read from memory; as a constant, which takes a kernel of its own, one chunk
/// of them for each operation, another from one to the next.
#[test]
fn on_the_host_arguments_give_the_bits_of_constants_for_200_values() {
    let all: Vec<Operation> = cases::every_operation().into_iter().chain(cases::every_function()).collect();
    let host = Device::host();
    let mut count = 0;
    for (n, (operation, place)) in all.iter().flat_map(places).enumerate() {
        let dtype = operation.operands[place];
        let values: Vec<Scalar> =
            cases::hard_bits(dtype, 200).into_iter().map(|bits| Scalar { dtype, bits }).collect();
        let chunks = values.chunks(16);
        let by_constants = n % chunks.len();
        for (at, values) in chunks.enumerate() {
            let Some(case) = case_with_arguments(operation, place, values.to_vec()) else { continue };
            let name = &case.kernel.kernel().name;
            let by_argument = run_on(&host, &case.kernel, &case.launch(), &case.arrays).unwrap();
            // A number that is a NaN of 16 bits has no payload on the host, be it an argument or a constant.
            let is_bitcast = name.starts_with("Bitcast");
            if !is_bitcast {
                assert_eq!(difference(&case.kernel, &case.expected, &by_argument), None, "{name}");
            }
            if is_bitcast || at == by_constants {
                let constant = operation.with_constants(place, values).unwrap();
                let by_constant = run_on(&host, &constant, &flat(&constant, case.n), &case.arrays).unwrap();
                assert_eq!(difference(&case.kernel, &by_constant, &by_argument), None, "{name}");
            }
            count += values.len();
        }
    }
    println!("ran: arguments {count}");
}

#[test]
fn hard_constants_and_values_in_every_function() {
    let functions = cases::every_function();
    let constant = functions.iter().flat_map(places).filter_map(|(function, place)| case(function, place, 8));
    let loaded = functions.iter().filter_map(|function| function.loaded().map(whole));
    check(&constant.chain(loaded).collect::<Vec<_>>());
}

#[test]
fn one_value_as_all_operands() {
    let of_one = |operation: &Operation| {
        let kernel = operation.of_one()?;
        let reference = operation.loaded()?;
        let bits = cases::hard_bits(operation.operands[0], 40);
        let (n, values) = (bits.len(), bytes(operation.operands[0], bits));
        let poison = vec![0xa5; n * kernel.kernel().params[1].dtype.size_bytes()];
        let mut operands = vec![values.clone(); operation.operands.len()];
        operands.push(poison.clone());
        let result = on_host(&reference, &flat(&reference, n), &operands).pop().unwrap();
        let expected = vec![values.clone(), result];
        Some(Case { kernel, arguments: Vec::new(), n, arrays: vec![values, poison], expected })
    };
    let operations = cases::every_operation();
    let several = operations.iter().filter(|operation| operation.operands.len() > 1);
    check(&several.filter_map(of_one).collect::<Vec<_>>());
}

/// Floats that a compiler may work out: the name, and how they are made of an integer of the float's width,
/// a bool and constants.
type Known = (&'static str, fn(&mut Builder, DType, [Value; 2]) -> Value);

const KNOWN: [Known; 9] = [
    ("cast of i ^ i", |k, d, [i, _]| {
        let zero = k.binary(BinaryOp::Xor, i, i);
        k.cast(zero, d)
    }),
    ("cast of i - i", |k, d, [i, _]| {
        let zero = k.binary(BinaryOp::Sub, i, i);
        k.cast(zero, d)
    }),
    ("bits of i ^ i", |k, d, [i, _]| {
        let zero = k.binary(BinaryOp::Xor, i, i);
        k.bitcast(zero, d)
    }),
    ("cast of b & !b", |k, d, [_, b]| {
        let not = k.unary(UnaryOp::Not, b);
        let no = k.binary(BinaryOp::And, b, not);
        k.cast(no, d)
    }),
    ("cast of 0", |k, d, [i, _]| {
        let zero = k.int(k.dtype(i), 0);
        k.cast(zero, d)
    }),
    ("cast of false", |k, d, _| {
        let no = k.int(DType::Bool, 0);
        k.cast(no, d)
    }),
    ("1 - 1", |k, d, _| {
        let one = k.float(d, 1.0);
        k.binary(BinaryOp::Sub, one, one)
    }),
    ("largest * 2", |k, d, _| {
        let largest = Scalar { dtype: d, bits: Scalar::extreme(d, true).bits - 1 };
        let (largest, two) = (k.constant(largest), k.float(d, 2.0));
        k.binary(BinaryOp::Mul, largest, two)
    }),
    ("(i < i ? 1 : 2) - 2", |k, d, [i, _]| {
        let (no, one, two) = (k.compare(CompareOp::Lt, i, i), k.float(d, 1.0), k.float(d, 2.0));
        let selected = k.select(no, one, two);
        k.binary(BinaryOp::Sub, selected, two)
    }),
];

#[test]
fn floats_that_a_compiler_can_work_out() {
    let mut cases = Vec::new();
    for (d, integer) in [
        (DType::F16, DType::I16),
        (DType::BF16, DType::I16),
        (DType::F32, DType::I32),
        (DType::F64, DType::I64),
    ] {
        for (n, (_, make)) in KNOWN.into_iter().enumerate() {
            for (name, operations) in [
                ("others", &[BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul][..]),
                ("quotients", &[BinaryOp::Div]),
            ] {
                let mut k = Builder::new(&format!("{name}_{d}_{n}"), 1);
                let inputs = [k.input(d), k.input(integer), k.input(DType::Bool)];
                let [x, i, b] = inputs.map(|input| k.load(input, &[0]));
                let y = make(&mut k, d, [i, b]);
                let mut stores = Vec::new();
                for &op in operations {
                    for value in [k.binary(op, x, y), k.binary(op, y, x)] {
                        stores.push((k.output(d), value));
                    }
                }
                cases.push(whole(k.elementwise(&stores).unwrap()));
            }
        }
    }
    check(&cases);
}

#[test]
fn folds_of_values_with_hard_constants() {
    let mut cases = Vec::new();
    for d in [DType::F32, DType::F64] {
        for op in [BinaryOp::Add, BinaryOp::Mul] {
            for scalar in cases::hard_constants(d) {
                for fold in [FoldOp::Sum, FoldOp::Max] {
                    // Of one number, zeros and NaN every order of a fold gives the same.
                    let mut k = Builder::new(&format!("{fold:?}_{d}"), 2);
                    let (input, output) = (k.input(d), k.output(d));
                    let (x, c) = (k.load(input, &[0, 0]), k.constant(scalar));
                    let value = k.binary(op, x, c);
                    let kernel =
                        k.reduce(&[false, true], &[Fold::Value { op: fold, value, output }]).unwrap();
                    let values: Vec<u64> =
                        cases::hard_constants(d).iter().map(|scalar| scalar.bits).collect();
                    let n = values.len();
                    let views = [vec![1, 0], vec![1, 0]].map(|strides| View { offset: 0, strides });
                    let launch = Launch {
                        extents: vec![n, 1],
                        origin: vec![0, 0],
                        views: views.to_vec(),
                        arguments: vec![],
                    };
                    let arrays = vec![bytes(d, values), vec![0xa5; n * d.size_bytes()]];
                    cases.push((kernel, launch, arrays));
                }
            }
        }
    }
    for Subject { name, device, .. } in subjects() {
        for (kernel, launch, arrays) in &cases {
            let found = misjudged(&device, kernel, launch, arrays, &on_host(kernel, launch, arrays));
            assert_eq!(found.unwrap(), None, "{name} {device:?}\n{kernel}");
        }
        ran(name, &device, cases.len());
    }
}

/// What is computed of an array and zeros, and of each element.
type Quotient = (fn(&Array, &Array) -> Array, fn(f32) -> f32);

#[test]
fn arrays_of_zeros_that_are_not_computed_yet_divide_as_computed_ones() {
    let mut values = [0.0, -0.0, 1.0, -1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-40, 3.0];
    for device in devices() {
        values[7] = if device.subnormals() == Subnormals::Kept { 1e-40 } else { 1e-37 };
        let team = Team::on(std::slice::from_ref(&device), 1).unwrap();
        let dist = Distribution::default_partition(1, &[values.len() as i64]).unwrap();
        let x = Array::from_slice(&team, &dist, &values).unwrap();
        let seven = Scalar::from_f64(DType::F32, 777.0);
        let zeros = || Array::zeros(&team, &dist, DType::F32).unwrap();
        let computed = zeros();
        computed.eval().unwrap();
        let given = |make: fn(&Array, &Array) -> Array, zeros: &Array| -> Vec<f32> {
            // Memory that the result will get holds something else.
            for _ in 0..4 {
                Array::full(&team, &dist, seven).unwrap().eval().unwrap();
            }
            make(&x, zeros).to_vec().unwrap()
        };
        let all: [Quotient; 6] = [
            (|x, zeros| x / zeros, |x| x / 0.0),
            (|x, zeros| zeros / x, |x| 0.0 / x),
            (|x, zeros| x * zeros, |x| x * 0.0),
            (|x, zeros| zeros - x, |x| 0.0 - x),
            (|x, zeros| x + zeros, |x| x + 0.0),
            (|x, zeros| (x / zeros) / zeros, |x| x / 0.0 / 0.0),
        ];
        for (n, (make, expected)) in all.into_iter().enumerate() {
            let expected = values.map(expected);
            let is_same = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
            for zeros in [&zeros(), &computed] {
                let given = given(make, zeros);
                assert!(expected.iter().zip(&given).all(is_same), "{device:?} {n}: {expected:?} {given:?}");
            }
        }
        ran("lazy-zeros", &device, all.len());
    }
}
