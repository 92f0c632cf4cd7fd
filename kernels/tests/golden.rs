//! Golden files: what a few telling kernels look like as IR, as WGSL, as PTX and as machine code. A change
//! of a writer shows as a diff to be read. `cargo xtask bless` rewrites them.
#![allow(missing_docs, clippy::unwrap_used)]

mod agreement;
#[path = "wgsl/translated.rs"]
mod translated;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use agreement::{cases, cube, star, weighted};
use iced_x86::{Decoder, DecoderOptions, FastFormatter, Instruction};
use partita_kernels::cpu::x86::{CodeGenerator, IsaLevel, LaunchShape, OperandLayout, UnrollAndJam};
use partita_kernels::{
    BinaryOp, Builder, CompareOp, DType, FoldOp, Math1, Math2, Op, Scalar, UnaryOp, Verified, ptx, simplify,
    wgsl,
};

/// The kernels that have golden files.
fn golden_cases() -> Vec<Verified> {
    vec![
        blur(),
        copy(DType::F32),
        copy(DType::U8),
        copy(DType::F16),
        copy(DType::BF16),
        copy(DType::Bool),
        copy(DType::F64),
        triad(),
        nan_tests(),
        integer_division(),
        casts(),
        named("stencil_3d", cases::stencil(DType::F32, 3).unwrap()),
        weighted("star_13", DType::F32, &star(3, 2)),
        weighted("cube_27", DType::F32, &cube(3, 1)),
        named("sum_inner", cases::fold(FoldOp::Sum, DType::F32, &[false, true]).unwrap()),
        named("max_outer", cases::fold(FoldOp::Max, DType::F32, &[true, false]).unwrap()),
        named("stored_sum", cases::stored_sum(DType::F32, &[true, true]).unwrap()),
        named("any_all", cases::fold(FoldOp::Any, DType::Bool, &[true, true]).unwrap()),
        named("argmin", cases::arg_fold(false, DType::F32, DType::I32, &[true]).unwrap()),
        named("gather", cases::gather(DType::F32, DType::I32).unwrap()),
        named("scatter_copy", cases::scatter(DType::I16, DType::U32, false).unwrap()),
        named("scan", cases::scan(FoldOp::Sum, DType::F32, (2, 1), false).unwrap()),
        named("scatter_add", cases::scatter(DType::F32, DType::I32, true).unwrap()),
        functions(),
        fma(),
    ]
}

fn named(name: &str, kernel: Verified) -> Verified {
    let kernel = kernel.kernel().clone();
    partita_kernels::verify::verify(partita_kernels::Kernel { name: name.to_owned(), ..kernel }).unwrap()
}

fn blur() -> Verified {
    let mut k = Builder::new("blur", 1);
    let (input, output) = (k.input(DType::F32), k.output(DType::F32));
    let (left, right) = (k.load(input, &[-1]), k.load(input, &[1]));
    let sum = k.binary(BinaryOp::Add, left, right);
    let half = k.float(DType::F32, 0.5);
    let mean = k.binary(BinaryOp::Mul, sum, half);
    k.elementwise(&[(output, mean)]).unwrap()
}

fn copy(dtype: DType) -> Verified {
    let mut k = Builder::new(&format!("copy_{dtype}"), 2);
    let (input, output) = (k.input(dtype), k.output(dtype));
    let value = k.load(input, &[0, 0]);
    k.elementwise(&[(output, value)]).unwrap()
}

fn triad() -> Verified {
    let mut k = Builder::new("triad", 1);
    let (a, b, output) = (k.input(DType::F32), k.input(DType::F32), k.output(DType::F32));
    let factor = k.argument(DType::F32);
    let (a, b) = (k.load(a, &[0]), k.load(b, &[0]));
    let scaled = k.binary(BinaryOp::Mul, factor, b);
    let sum = k.binary(BinaryOp::Add, a, scaled);
    k.elementwise(&[(output, sum)]).unwrap()
}

fn nan_tests() -> Verified {
    let mut k = Builder::new("nan_tests", 1);
    let (a, b) = (k.input(DType::F32), k.input(DType::F32));
    let (a, b) = (k.load(a, &[0]), k.load(b, &[0]));
    let flags = [k.unary(UnaryOp::IsNan, a), k.compare(CompareOp::Ne, a, a), k.compare(CompareOp::Le, a, b)];
    let numbers = [k.binary(BinaryOp::Min, a, b), k.binary(BinaryOp::Max, a, b)];
    let mut stores = Vec::new();
    for value in flags.into_iter().chain(numbers) {
        let output = k.output(k.dtype(value));
        stores.push((output, value));
    }
    k.elementwise(&stores).unwrap()
}

fn integer_division() -> Verified {
    let mut k = Builder::new("integer_division", 1);
    let (a, b) = (k.input(DType::I32), k.input(DType::I32));
    let (quotient, remainder) = (k.output(DType::I32), k.output(DType::I32));
    let (a, b) = (k.load(a, &[0]), k.load(b, &[0]));
    let values = [k.binary(BinaryOp::Div, a, b), k.binary(BinaryOp::Rem, a, b)];
    k.elementwise(&[(quotient, values[0]), (remainder, values[1])]).unwrap()
}

fn casts() -> Verified {
    let mut k = Builder::new("casts", 1);
    let input = k.input(DType::F32);
    let x = k.load(input, &[0]);
    let mut stores = Vec::new();
    for to in [DType::Bool, DType::I8, DType::I32, DType::U32, DType::F16, DType::BF16] {
        let value = k.cast(x, to);
        stores.push((k.output(to), value));
    }
    let bits = k.bitcast(x, DType::U32);
    stores.push((k.output(DType::U32), bits));
    k.elementwise(&stores).unwrap()
}

fn functions() -> Verified {
    let mut k = Builder::new("functions", 1);
    let (input, output) = (k.input(DType::F32), k.output(DType::F32));
    let x = k.load(input, &[0]);
    let root = k.math1(Math1::Cbrt, x);
    let length = k.math2(Math2::Hypot, x, root);
    k.elementwise(&[(output, length)]).unwrap()
}

fn fma() -> Verified {
    let mut k = Builder::new("fma", 1);
    let (input, output) = (k.input(DType::F32), k.output(DType::F32));
    let x = k.load(input, &[0]);
    let third = k.constant(Scalar::from_f64(DType::F32, 1.0 / 3.0));
    let value = k.fma(x, third, x);
    k.elementwise(&[(output, value)]).unwrap()
}

fn wgsl_text(kernel: &Verified) -> String {
    let target = wgsl::WgslTarget { f64: true, i64: true, ..wgsl::WgslTarget::CAUTIOUS };
    let mut text = String::new();
    match wgsl::emit(kernel, &target) {
        Ok(shader) => {
            for (n, stage) in shader.stages.iter().enumerate() {
                let _ = writeln!(text, "// stage {n}\n{}", stage.source.trim_end());
            }
        }
        Err(refusal) => {
            let _ = writeln!(text, "// {refusal}");
        }
    }
    text
}

fn ptx_text(kernel: &Verified) -> String {
    ptx::emit(kernel, &ptx::PtxTarget { sm: 90 }).unwrap().whole_text()
}

/// Instructions, with the places that jumps go to.
fn disassembled(title: String, code: &[u8]) -> String {
    let code: Vec<Instruction> = Decoder::new(64, code, DecoderOptions::NONE).into_iter().collect();
    let targets: BTreeSet<u64> = code.iter().map(Instruction::near_branch_target).collect();
    let (mut text, mut formatter) = (format!("{title}\n"), FastFormatter::new());
    for instruction in &code {
        if instruction.ip() > 0 && targets.contains(&instruction.ip()) {
            let _ = writeln!(text, "{:x}:", instruction.ip());
        }
        text.push_str("    ");
        formatter.format(instruction, &mut text);
        text.push('\n');
    }
    text
}

/// The code of launches whose arrays are contiguous along the last dimension: for one row, and for several
/// rows whose outputs bypass the caches, where that gains.
fn machine_code(kernel: &Verified, level: IsaLevel) -> String {
    const PITCH: i64 = 1000;
    let prepared = CodeGenerator::new(kernel, level).unwrap();
    let kernel = prepared.kernel();
    let last = kernel.rank - 1;
    let is_read = |dim: &usize| kernel.body.iter().any(|inst| inst.op == Op::Coord(*dim as u32));
    let layouts = vec![OperandLayout::Contiguous; kernel.params.len()];
    let shape =
        LaunchShape { unit: Some(last), along: Some(last).into_iter().filter(is_read).collect(), layouts };
    let Some(row) = prepared.write(&shape) else { return format!("{level:?}: no code\n") };
    let mut text = disassembled(format!("{level:?}, one row"), &row.full.bytes);
    let strides: Vec<i64> = (0..kernel.rank as u32).rev().map(|dim| PITCH.pow(dim)).collect();
    for &dim in prepared.shared_dims().iter().filter(|dim| **dim + 1 == last) {
        let jam = UnrollAndJam { dim, strides: vec![strides.clone(); kernel.params.len()], streams: true };
        if let Some(rows) = prepared.jam(&shape, &jam) {
            let title = format!("{level:?}, {} rows of pitch {PITCH} together", rows.rows);
            text += &disassembled(title, &rows.bytes);
        }
    }
    text
}

/// Of some kernels the machine code at both ISA levels.
fn x86_text(kernel: &Verified) -> Option<(&'static str, String)> {
    let listed = ["blur", "triad", "nan_tests", "fma", "stencil_3d"].contains(&kernel.kernel().name.as_str());
    let text = || [IsaLevel::Avx512, IsaLevel::Avx2].map(|level| machine_code(kernel, level)).concat();
    listed.then(|| ("x86", text()))
}

#[test]
fn golden_files_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let bless = std::env::var_os("UPDATE_GOLDEN").is_some();
    std::fs::create_dir_all(&folder).unwrap();
    let mut expected = Vec::new();
    let mut stale = Vec::new();
    for kernel in golden_cases() {
        let kernel = simplify(&kernel);
        let mut texts =
            vec![("ir", kernel.to_string()), ("wgsl", wgsl_text(&kernel)), ("ptx", ptx_text(&kernel))];
        texts.extend(x86_text(&kernel));
        for (ending, text) in texts {
            let name = format!("{}.{ending}", kernel.kernel().name);
            let file = folder.join(&name);
            if bless {
                std::fs::write(&file, &text).unwrap();
            } else if std::fs::read_to_string(&file).ok().as_deref() != Some(&text) {
                stale.push(name.clone());
            }
            expected.push(name);
        }
    }
    let there = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    stale.extend(there.filter(|name| !expected.contains(name)));
    assert!(stale.is_empty(), "stale: {stale:?}; run `cargo xtask bless` and read the diff");
    println!("ran: golden-files {}", expected.len());
}

/// What Metal and DirectX 12 compile is naga's translation of the WGSL, without what their adapters lack.
#[test]
fn naga_translates_the_text_for_metal_and_directx() {
    let target =
        wgsl::WgslTarget { f64: false, whole_vectors: true, subgroups: true, ..wgsl::WgslTarget::CAUTIOUS };
    let hlsl = wgsl::WgslTarget { whole_vectors: false, ..target };
    let mut count = 0;
    for kernel in golden_cases() {
        let kernel = simplify(&kernel);
        for (target, is_metal) in [(&target, true), (&hlsl, false)] {
            let Ok(shader) = wgsl::emit(&kernel, target) else { continue };
            for stage in &shader.stages {
                let (text, entry) = match is_metal {
                    true => (translated::msl(&stage.source), "kernel void"),
                    false => (translated::hlsl(&stage.source), "[numthreads("),
                };
                assert!(text.contains(entry), "{kernel}\n{text}");
                count += 1;
            }
        }
    }
    println!("ran: translations {count}");
}
