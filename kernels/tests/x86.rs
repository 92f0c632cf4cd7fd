//! Machine code against the interpreter, bit for bit (any NaN equals any NaN), and how many kernels had code.
//! Every memory ends where a page begins that cannot be touched, so code that reads or writes beyond a row
//! ends the test.
#![cfg(all(target_arch = "x86_64", unix))]
#![allow(missing_docs, clippy::unwrap_used)]

mod agreement;
#[path = "agreement/fenced.rs"]
mod fenced;
mod random;

use agreement::{Arrays, cases, difference, element, line, run_on_host, sevenths, small_numbers};
use fenced::Fenced;
use partita_kernels::cpu::Program;
use partita_kernels::cpu::x86::IsaLevel;
use partita_kernels::{
    BinaryOp, Builder, CompareOp, DType, Fold, FoldOp, Form, Launch, Math1, Op, Scalar, Store, UnaryOp,
    Value, Verified, View,
};
use random::Random;

/// The types that machine code computes with.
const TYPES: [DType; 7] =
    [DType::F32, DType::F64, DType::I32, DType::U32, DType::I64, DType::U64, DType::Bool];

fn run(program: &Program, kernel: &Verified, launch: &Launch, arrays: &Arrays) -> Arrays {
    let mut fenced: Vec<Fenced> = arrays.iter().map(|bytes| Fenced::new(bytes)).collect();
    let mut memory: Vec<&mut [u8]> = fenced.iter_mut().map(Fenced::bytes).collect();
    run_on_host(program, kernel, launch, &mut memory);
    memory.into_iter().map(|bytes| bytes.to_vec()).collect()
}

/// Compares the two; is there code for the launch?
fn check(level: IsaLevel, kernel: &Verified, launch: &Launch, arrays: &Arrays) -> bool {
    codes(level, kernel, launch, arrays) > 0
}

/// Compares the two; how many codes are there for the launch: one, and one for rows together?
fn codes(level: IsaLevel, kernel: &Verified, launch: &Launch, arrays: &Arrays) -> usize {
    let expected = run(&Program::compile_loops(kernel), kernel, launch, arrays);
    let program = Program::compile_at(kernel, Some(level));
    // The second launch of a form may have code for rows together.
    for _ in 0..2 {
        let given = run(&program, kernel, launch, arrays);
        if let Some(wrong) = difference(kernel, &expected, &given) {
            panic!("{level:?}: {wrong}\n{kernel}\n{launch:?}");
        }
    }
    program.codes()
}

/// The ISA levels of this CPU; says which ones it lacks.
fn levels() -> Vec<IsaLevel> {
    let mut levels = vec![IsaLevel::Avx2, IsaLevel::Avx512];
    levels.retain(|&level| {
        let has = level.is_available();
        if !has {
            println!("skipped: x86 at {level:?} (this CPU lacks it)");
        }
        has
    });
    levels
}

/// How counts of a level are called.
fn suffix(level: IsaLevel) -> &'static str {
    match level {
        IsaLevel::Avx512 => "-avx512",
        IsaLevel::Avx2 => "-avx2",
    }
}

/// A kernel of the types and operations that have instructions, wide enough to run out of registers.
fn supported(seed: u64) -> (Verified, Launch, Arrays) {
    let mut random = Random::new(seed);
    let rank = random.pick(&[0, 1, 1, 2, 2, 3]);
    let mut k = Builder::new(&format!("supported_{seed}"), rank);
    // Half of the kernels have lanes of 4 bytes only.
    let types =
        if random.one_in(2) { &TYPES[..] } else { &[DType::F32, DType::I32, DType::U32, DType::Bool][..] };
    for _ in 0..1 + random.below(4) {
        let input = k.input(random.pick(types));
        for _ in 0..1 + random.below(4) {
            let offsets: Vec<i32> = (0..rank).map(|_| random.below(3) as i32 - 1).collect();
            k.load(input, &offsets);
        }
    }
    for _ in 0..5 + random.below(90) {
        operation(&mut k, rank, types, &mut random);
    }
    let mut stores = Vec::new();
    for n in 0..1 + random.below(3) {
        let last = k.len() - 1;
        let value = Value(if n == 0 { last } else { random.below(last + 1) } as u32);
        let param = k.output(k.dtype(value));
        stores.push(Store { param, value });
    }
    if random.one_in(3) {
        let both = k.inout(random.pick(&types[..3]));
        let old = k.load(both, &vec![0; rank]);
        let late = some(&mut k, old, &mut random);
        let value = k.binary(BinaryOp::Max, old, late);
        stores.push(Store { param: both, value });
    }
    let kernel = k.finish(Form::Elementwise { stores }).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let extents: Vec<usize> = (0..rank).map(|_| 1 + random.below([1, 90, 40, 9][rank])).collect();
    let views = kernel.kernel().params.iter().map(|_| {
        let pad = random.below(4);
        let padded: Vec<usize> = extents.iter().map(|e| e + pad).collect();
        View { offset: 0, strides: agreement::c_strides(&padded) }
    });
    let arguments = kernel.kernel().arguments.iter();
    let mut launch = Launch {
        views: views.collect(),
        origin: (0..rank).map(|_| random.below(1000) as i64 - 500).collect(),
        arguments: arguments
            .map(|&d| Scalar { dtype: d, bits: random.pick(&cases::hard_bits(d, 5)) })
            .collect(),
        extents,
    };
    let spans = kernel.touched(&launch);
    let mut arrays = Vec::new();
    for (p, param) in kernel.kernel().params.iter().enumerate() {
        let (first, last) = spans[p].unwrap_or((0, 0));
        let before = random.below(20) as i64;
        launch.views[p].offset = before - first;
        let bits = cases::hard_bits(param.dtype, 60);
        let len = (last - first + 1 + before) as usize;
        arrays.push(agreement::bytes(param.dtype, (0..len).map(|_| random.pick(&bits))));
    }
    (kernel, launch, arrays)
}

/// Any value of the type of `like`.
fn some(k: &mut Builder, like: Value, random: &mut Random) -> Value {
    let d = k.dtype(like);
    let all: Vec<Value> = (0..k.len() as u32).map(Value).filter(|&v| k.dtype(v) == d).collect();
    random.pick(&all)
}

fn operation(k: &mut Builder, rank: usize, types: &[DType], random: &mut Random) {
    let a = Value(random.below(k.len()) as u32);
    let b = some(k, a, random);
    let d = k.dtype(a);
    match random.below(12) {
        0 => {
            let ops: &[UnaryOp] = match d {
                DType::Bool => &[UnaryOp::Not],
                d if d.is_float() => {
                    use UnaryOp::{Abs, Ceil, Floor, IsNan, Neg, Round, Sqrt, Trunc};
                    &[Neg, Abs, Sqrt, Floor, Ceil, Trunc, Round, IsNan]
                }
                _ => &[UnaryOp::Neg, UnaryOp::Abs, UnaryOp::Not],
            };
            k.unary(random.pick(ops), a);
        }
        1..=5 => {
            use BinaryOp::{Add, And, Div, Max, Min, Mul, Or, Shl, Shr, Sub, Xor};
            let ops: &[BinaryOp] = match d {
                DType::Bool => &[And, Or, Xor, Min, Max],
                d if d.is_float() => &[Add, Sub, Mul, Div, Min, Max],
                _ => &[Add, Sub, Mul, Min, Max, And, Or, Xor, Shl, Shr],
            };
            k.binary(random.pick(ops), a, b);
        }
        6 => {
            k.compare(random.pick(&cases::COMPARE), a, b);
        }
        7 => {
            let masks: Vec<Value> =
                (0..k.len() as u32).map(Value).filter(|&v| k.dtype(v) == DType::Bool).collect();
            if !masks.is_empty() {
                k.select(random.pick(&masks), a, b);
            }
        }
        8 if d.is_float() => {
            let c = some(k, a, random);
            k.fma(a, b, c);
        }
        9 => {
            let to = random.pick(types);
            k.cast(a, to);
        }
        10 if rank > 0 => {
            let wide = types.contains(&DType::I64) && random.one_in(2);
            k.coord(random.below(rank), if wide { DType::I64 } else { DType::I32 });
        }
        11 => {
            let to = match d {
                DType::I32 | DType::U32 => DType::F32,
                DType::I64 | DType::U64 => DType::F64,
                DType::F32 if matches!(k.inst(a).op, Op::Load { .. }) => DType::U32,
                DType::F64 if matches!(k.inst(a).op, Op::Load { .. }) => DType::I64,
                _ => return,
            };
            k.bitcast(a, to);
        }
        _ => {
            let bits = random.pick(&cases::hard_bits(d, 3));
            match random.one_in(2) {
                true => k.constant(Scalar { dtype: d, bits }),
                false => k.argument(d),
            };
        }
    }
}

#[test]
fn random_kernels_give_the_interpreters_bits() {
    levels().into_iter().for_each(random_kernels_give_the_interpreters_bits_at);
}

fn random_kernels_give_the_interpreters_bits_at(level: IsaLevel) {
    let seeds = std::env::var("PARTITA_X86_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1500);
    let (mut compiled, mut together) = (0, 0);
    for seed in 0..seeds {
        let (kernel, launch, arrays) = supported(seed);
        let codes = codes(level, &kernel, &launch, &arrays);
        compiled += usize::from(codes > 0);
        together += usize::from(codes > 1);
    }
    let mut any = 0;
    for seed in 0..seeds {
        let random::Case { kernel, launch, arrays } = random::case(seed);
        any += usize::from(check(level, &kernel, &launch, &arrays));
    }
    println!(
        "{level:?}: {compiled} and {any} of {seeds} random kernels had code, the others were interpreted"
    );
    println!("ran: x86-kernels{} {}", suffix(level), compiled + any);
    println!("ran: x86-rows-together{} {together}", suffix(level));
}

/// The case table: every operation on every type. What has code at the higher level only is documented.
#[test]
fn every_operation_gives_the_same_bits_at_every_level() {
    let coded = levels().into_iter().map(|level| {
        let mut coded = Vec::new();
        for kernel in cases::every_operation().iter().filter_map(cases::Operation::loaded) {
            let (n, arrays) = agreement::operand_grid(&kernel);
            if check(level, &kernel, &agreement::flat(&kernel, n), &arrays) {
                coded.push(kernel.kernel().name.clone());
            }
        }
        println!("ran: x86-operations{} {}", suffix(level), coded.len());
        coded
    });
    if let [lower, higher] = &coded.collect::<Vec<_>>()[..] {
        let lacks: Vec<&String> = higher.iter().filter(|name| !lower.contains(name)).collect();
        assert_eq!(lacks, ["Cast_i64_f32", "Cast_u64_f32"]);
        assert!(lower.iter().all(|name| higher.contains(name)));
    }
}

/// Every length, from every lane of a cache line on, of 4 and of 8 bytes and bools, written plainly and past
/// the caches (where that is done): what lies beside the rows stays as it is.
#[test]
fn rows_of_every_length_from_every_lane() {
    levels().into_iter().for_each(rows_of_every_length_from_every_lane_at);
}

fn rows_of_every_length_from_every_lane_at(level: IsaLevel) {
    for (d, lengths) in [(DType::F32, 0..41), (DType::F64, 0..25), (DType::I32, 0..41)] {
        let mut k = Builder::new("row", 2);
        let input = k.input(d);
        let [a, b, c] = [[0, -1], [0, 1], [1, 0]].map(|offsets| k.load(input, &offsets));
        let sum = k.binary(BinaryOp::Add, a, b);
        let less = k.compare(CompareOp::Lt, sum, c);
        let least = k.select(less, sum, c);
        let stores = [(k.output(d), least), (k.output(DType::Bool), less)];
        let kernel = k.elementwise(&stores).unwrap();
        for n in lengths {
            for lane in 0..16 {
                let pitch = n as i64 + 5;
                let view = |offset| View { offset, strides: vec![pitch, 1] };
                let launch = Launch {
                    extents: vec![3, n],
                    origin: vec![0, 0],
                    views: vec![view(1), view(lane), view((5 * lane) % 16)],
                    arguments: vec![],
                };
                let spans = kernel.touched(&launch);
                let arrays = (kernel.kernel().params.iter().zip(&spans).enumerate())
                    .map(|(p, (param, span))| {
                        let len = span.map_or(1, |(_, last)| last + 1) as usize;
                        small_numbers(
                            if param.dtype == DType::Bool { DType::U8 } else { param.dtype },
                            len,
                            p as u64,
                        )
                        .into_iter()
                        .map(|byte| if param.dtype == DType::Bool { byte & 1 } else { byte })
                        .collect()
                    })
                    .collect();
                // Rows of one element are one row of another dimension.
                assert!(check(level, &kernel, &launch, &arrays) || n < 2, "{d} {n}");
            }
        }
    }
}

/// Folds of rows of every length, whether each row is folded to a result or all of them are, with what lies
/// between the rows; and two folds of one code.
#[test]
fn folds_of_rows_of_every_length() {
    levels().into_iter().for_each(folds_of_rows_of_every_length_at);
}

fn folds_of_rows_of_every_length_at(level: IsaLevel) {
    let lengths =
        [1, 2, 7, 8, 15, 16, 17, 63, 64, 65, 100, 255, 256, 257, 300, 1000, 4095, 4096, 4100, 70_001];
    for d in [DType::F32, DType::F64, DType::I32, DType::U64] {
        for op in [FoldOp::Sum, FoldOp::Product, FoldOp::Min, FoldOp::Max] {
            for axes in [[false, true], [true, true]] {
                let mut k = Builder::new("folds", 2);
                let input = k.input(d);
                let [a, b] = [[0, 0], [0, 1]].map(|offsets| k.load(input, &offsets));
                let least = k.binary(BinaryOp::Min, a, b);
                let folds = [(op, least), (FoldOp::Sum, a)];
                let folds = folds.map(|(op, value)| Fold::Value { op, value, output: k.output(d) });
                let kernel = k.reduce(&axes, &folds).unwrap();
                for (n, rows) in lengths.into_iter().flat_map(|n| [(n, 2), (n, 3)]) {
                    let pitch = n as i64 + 3;
                    let result = View { offset: 1, strides: vec![if axes[0] { 0 } else { 1 }, 0] };
                    let launch = Launch {
                        extents: vec![rows, n],
                        origin: vec![0, 0],
                        views: vec![View { offset: 1, strides: vec![pitch, 1] }, result.clone(), result],
                        arguments: vec![],
                    };
                    let spans = kernel.touched(&launch);
                    let len = |p: usize| spans[p].map_or(1, |(_, last)| last + 1) as usize;
                    let arrays =
                        vec![sevenths(d, len(0), n as u64), sevenths(d, len(1), 1), sevenths(d, len(2), 2)];
                    // The innermost dimension may be a kept one where rows are short.
                    assert!(check(level, &kernel, &launch, &arrays) || n < 64, "{d} {op:?} {axes:?} {n}");
                }
            }
        }
    }
}

/// More values, masks and constants than there are registers.
#[test]
fn more_values_than_registers() {
    levels().into_iter().for_each(more_values_than_registers_at);
}

fn more_values_than_registers_at(level: IsaLevel) {
    for d in [DType::F32, DType::F64] {
        let mut k = Builder::new("crowd", 1);
        let input = k.input(d);
        let x = k.load(input, &[0]);
        let terms: Vec<Value> = (0..60)
            .map(|n| {
                let constant = k.float(d, 1.0 + f64::from(n) / 7.0);
                let product = k.binary(BinaryOp::Mul, x, constant);
                k.unary(UnaryOp::Sqrt, product)
            })
            .collect();
        let masks: Vec<Value> = (0..20).map(|n| k.compare(CompareOp::Lt, terms[n], terms[59 - n])).collect();
        // Read once more in the other order, so that all of them live at once.
        let mut sum = x;
        for (n, &term) in terms.iter().enumerate().rev() {
            let factor = k.binary(BinaryOp::Sub, term, sum);
            sum = k.fma(term, factor, sum);
            sum = k.select(masks[n % 20], sum, term);
        }
        let output = k.output(d);
        let kernel = k.elementwise(&[(output, sum)]).unwrap();
        let n = 37;
        let numbers = small_numbers(d, n, 3);
        let launch =
            Launch { extents: vec![n], origin: vec![0], views: vec![line(0), line(0)], arguments: vec![] };
        let arrays = vec![numbers, vec![0; n * d.size_bytes()]];
        assert!(check(level, &kernel, &launch, &arrays), "{d}");
        let given = run(&Program::compile_at(&kernel, Some(level)), &kernel, &launch, &arrays);
        assert!((0..n).any(|i| element(d, &given[1], i).to_f64() != 0.0));
    }
}

/// More arrays that are read and written than there are registers for their addresses.
#[test]
fn more_arrays_than_registers() {
    levels().into_iter().for_each(more_arrays_than_registers_at);
}

fn more_arrays_than_registers_at(level: IsaLevel) {
    for (d, outputs) in [(DType::F32, 19), (DType::F64, 24)] {
        let mut k = Builder::new("many", 1);
        let inputs: Vec<u32> = (0..outputs).map(|_| k.input(d)).collect();
        let read: Vec<Value> = inputs.iter().map(|&input| k.load(input, &[0])).collect();
        let total = read.iter().copied().reduce(|a, b| k.binary(BinaryOp::Add, a, b)).unwrap();
        let stores: Vec<(u32, Value)> = read
            .into_iter()
            .map(|value| {
                let rest = k.binary(BinaryOp::Sub, total, value);
                (k.output(d), k.binary(BinaryOp::Div, rest, total))
            })
            .collect();
        let kernel = k.elementwise(&stores).unwrap();
        let arrays: Arrays = (0..2 * outputs).map(|n| small_numbers(d, 45, n as u64)).collect();
        let launch = Launch {
            extents: vec![45],
            origin: vec![0],
            views: vec![line(0); 2 * outputs],
            arguments: vec![],
        };
        assert!(check(level, &kernel, &launch, &arrays), "{d}");
    }
}

/// One element for all lanes, one row for all rows, and rows in another order of dimensions.
#[test]
fn broadcast_and_transposed_operands() {
    levels().into_iter().for_each(broadcast_and_transposed_operands_at);
}

fn broadcast_and_transposed_operands_at(level: IsaLevel) {
    let mut k = Builder::new("views", 2);
    let inputs = [DType::F32, DType::F32, DType::I32].map(|d| k.input(d));
    let [a, b, c] = inputs.map(|input| k.load(input, &[0, 0]));
    let product = k.binary(BinaryOp::Mul, a, b);
    let count = k.cast(c, DType::F32);
    let sum = k.binary(BinaryOp::Sub, product, count);
    let output = k.output(DType::F32);
    let kernel = k.elementwise(&[(output, sum)]).unwrap();
    let (rows, columns) = (7, 50);
    let arrays: Arrays =
        [DType::F32, DType::F32, DType::I32, DType::F32].map(|d| small_numbers(d, 400, 9)).to_vec();
    let wide = [columns as i64, 1];
    let high = [1, rows as i64];
    let cases = [
        ([wide, [1, 0], [0, 1], wide], true),
        ([[0, 0], [columns as i64, -1], wide, wide], false),
        ([high, [0, 1], [1, 0], high], true),
        ([wide, high, wide, wide], false),
    ];
    for (strides, coded) in cases {
        let views = strides.map(|[down, along]| View {
            offset: if along < 0 { columns as i64 - 1 } else { 0 },
            strides: vec![down, along],
        });
        let launch = Launch {
            extents: vec![rows, columns],
            origin: vec![0, 0],
            views: views.to_vec(),
            arguments: vec![],
        };
        assert_eq!(check(level, &kernel, &launch, &arrays), coded, "{strides:?}");
    }
}

/// Stencils of two and of three dimensions whose rows are computed together, with coordinates of all
/// dimensions, one element for all lanes, and bools: every number of rows, every length, several pitches.
#[test]
fn rows_that_read_the_same_neighbours() {
    levels().into_iter().for_each(rows_that_read_the_same_neighbours_at);
}

fn rows_that_read_the_same_neighbours_at(level: IsaLevel) {
    let mut ran = 0;
    for (d, rank) in [(DType::F32, 2), (DType::F64, 2), (DType::F32, 3), (DType::I32, 3)] {
        let mut k = Builder::new("rows", rank);
        let (input, single) = (k.input(d), k.input(d));
        let around = agreement::cube(rank, 1);
        let loads: Vec<Value> = around.iter().map(|offsets| k.load(input, offsets)).collect();
        let mut sum = k.load(single, &vec![0; rank]);
        for (n, load) in loads.into_iter().enumerate() {
            let factor = k.constant(Scalar::from_f64(d, n as f64 % 3.0 + 2.0));
            let product = k.binary(BinaryOp::Mul, load, factor);
            sum = k.binary(BinaryOp::Add, sum, product);
        }
        for dim in 0..rank {
            let place = k.coord(dim, DType::I32);
            let place = k.cast(place, d);
            sum = k.binary(BinaryOp::Sub, sum, place);
        }
        let zero = k.constant(Scalar::from_f64(d, 0.0));
        let less = k.compare(CompareOp::Lt, sum, zero);
        let stores = [(k.output(d), sum), (k.output(DType::Bool), less)];
        let kernel = k.elementwise(&stores).unwrap();
        for rows in 1..10 {
            for n in (0..40).step_by(if rank == 3 { 3 } else { 1 }).chain([200]) {
                let pitch = n as i64 + 2 + (n + rows) as i64 % 3 * 7;
                let plane = pitch * (rows as i64 + 2);
                let strides = if rank == 3 { vec![plane, pitch, 1] } else { vec![pitch, 1] };
                // A row of one element moves down with the rows, its neighbours stay.
                let mut one = vec![0; rank];
                one[rank - 2] = 1;
                let offset: i64 = strides.iter().sum();
                let near = View { offset, strides: strides.clone() };
                let far = View { offset: (n % 16) as i64, strides };
                let launch = Launch {
                    extents: [2, rows, n][3 - rank..].to_vec(),
                    origin: [5, -3, 7][3 - rank..].to_vec(),
                    views: vec![near.clone(), View { offset: 1, strides: one }, near, far],
                    arguments: vec![],
                };
                let spans = kernel.touched(&launch);
                let arrays = (kernel.kernel().params.iter().zip(&spans).enumerate())
                    .map(|(p, (param, span))| {
                        let len = span.map_or(1, |(_, last)| last + 1) as usize;
                        match param.dtype {
                            DType::Bool => vec![1; len],
                            d => small_numbers(d, len, p as u64),
                        }
                    })
                    .collect();
                let codes = codes(level, &kernel, &launch, &arrays);
                assert!(codes == 2 || rows == 1 || n < 2, "{level:?} {d} {rank} {rows} {n}: {codes} codes");
                ran += usize::from(codes == 2);
            }
        }
    }
    println!("ran: x86-rows-together{} {ran}", suffix(level));
}

/// Casts of numbers whose range is known, just within what an integer holds, and just beyond.
#[test]
fn casts_of_clamped_numbers() {
    levels().into_iter().for_each(casts_of_clamped_numbers_at);
}

fn casts_of_clamped_numbers_at(level: IsaLevel) {
    let bounds =
        [-1e300, -4e18, -3e9, -2147483648.0, -1e9, -104.0, 0.0, 89.0, 1.1e9, 2147483520.0, 3e9, 1e300];
    let mut ran = 0;
    for d in [DType::F32, DType::F64] {
        for to in [DType::I32, DType::I64] {
            for (low, high) in bounds.iter().flat_map(|&low| bounds.map(|high| (low, high))) {
                for form in 0..4 {
                    let mut k = Builder::new("clamped", 1);
                    let input = k.input(d);
                    let x = k.load(input, &[0]);
                    let [low, high] = [low, high].map(|bound| k.float(d, bound));
                    let clamped = match form {
                        0 => {
                            let most = k.binary(BinaryOp::Min, x, high);
                            k.binary(BinaryOp::Max, low, most)
                        }
                        1 => {
                            let beyond = k.compare(CompareOp::Lt, high, x);
                            let most = k.select(beyond, high, x);
                            let below = k.compare(CompareOp::Lt, most, low);
                            k.select(below, low, most)
                        }
                        2 => {
                            let within = k.compare(CompareOp::Le, x, high);
                            k.select(within, low, x)
                        }
                        _ => {
                            let within = k.compare(CompareOp::Ge, high, x);
                            k.select(within, x, low)
                        }
                    };
                    let factor = k.float(d, [1.0, 1.5, -1.0, 0.25][form]);
                    let scaled = k.binary(BinaryOp::Mul, clamped, factor);
                    let whole = k.unary(UnaryOp::Round, scaled);
                    let count = k.cast(whole, to);
                    let output = k.output(to);
                    let kernel = k.elementwise(&[(output, count)]).unwrap();
                    let mut bits = cases::hard_bits(d, 40);
                    bits.extend(bounds.map(|bound| Scalar::from_f64(d, bound).bits));
                    bits.extend(
                        [2147483647.0, -2147483649.0, 2e9, -2e9].map(|b| Scalar::from_f64(d, b).bits),
                    );
                    let n = bits.len();
                    let arrays = vec![agreement::bytes(d, bits.into_iter()), vec![0; n * to.size_bytes()]];
                    assert!(check(level, &kernel, &agreement::flat(&kernel, n), &arrays));
                    ran += 1;
                }
            }
        }
    }
    println!("ran: x86-casts{} {ran}", suffix(level));
}

/// Rows with angles that are not small here and there: the rest of such a row is computed otherwise, and the
/// rows after it as before.
#[test]
fn large_angles_in_some_rows() {
    levels().into_iter().for_each(large_angles_in_some_rows_at);
}

fn large_angles_in_some_rows_at(level: IsaLevel) {
    for (d, function) in [(DType::F32, Math1::Sin), (DType::F32, Math1::Cos), (DType::F64, Math1::Sin)] {
        let mut k = Builder::new("angles", 2);
        let input = k.input(d);
        let x = k.load(input, &[0, 0]);
        let (sine, growth) = (k.math1(function, x), k.math1(Math1::Exp, x));
        let product = k.binary(BinaryOp::Mul, sine, growth);
        let output = k.output(d);
        let kernel = k.elementwise(&[(output, product)]).unwrap();
        for seed in 0..40 {
            let mut random = Random::new(seed);
            let (rows, lanes) = (1 + random.below(8), 1 + random.below(90));
            let view = View { offset: 0, strides: vec![lanes as i64 + 3, 1] };
            let launch = Launch {
                extents: vec![rows, lanes],
                origin: vec![0, 0],
                views: vec![view.clone(), view],
                arguments: vec![],
            };
            let len = rows * (lanes + 3);
            let large = [4e3, -1e5, 1e30, f64::INFINITY, f64::NAN, 3200.0];
            let number = |_| match random.one_in(60) {
                true => random.pick(&large),
                false => random.below(2000) as f64 / 10.0 - 100.0,
            };
            let numbers: Vec<f64> = (0..len).map(number).collect();
            let bits = numbers.iter().map(|&number| Scalar::from_f64(d, number).bits);
            let arrays = vec![agreement::bytes(d, bits), vec![0; len * d.size_bytes()]];
            // Rows of one element are one row of another dimension.
            assert!(check(level, &kernel, &launch, &arrays) || lanes < 2);
        }
    }
}
