//! The counting checked with kernels that were measured on a GPU: sketches of the sweeps, unchanged, and what
//! nvcc 13 makes of them for sm_90, with neighbours along x loaded one by one (`-DSH=0`). The folder
//! `sketches` has both; the texts of `w.ptx` without indentation.

use std::collections::BTreeSet;

use super::assembler::Tools;
use super::count::KernelFacts;
use super::launches::Launch;
use super::stencils::Needs;
use super::{count, limits};
use crate::cases::workload::{Sizes, Workload};

const SIZES: Sizes = Sizes { line: 1 << 26, plane: 8192, cube: 512 };

fn hash(text: &str) -> u64 {
    // FNV-1a.
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// The facts of an entry of a sketch whose threads compute so many points.
fn sketched(tools: &Tools, file: &str, entry: &str, points: usize) -> KernelFacts {
    let folder = std::env::temp_dir().join(format!("partita-sketch-{}-{entry}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let text = folder.join("sketch.ptx");
    std::fs::write(&text, file).expect("a text");
    let module = tools.assemble(&text, "90").expect("an assembled text");
    let (usage, code) = (module.usage(entry).expect("an entry"), module.code(entry).expect("its code"));
    std::fs::remove_dir_all(folder).expect("nothing else uses the folder");
    let lines: BTreeSet<u32> = code.iter().map(|instruction| instruction.line).collect();
    let steps = lines.into_iter().map(|line| (line, 1.0, 1.0, 1.0)).collect();
    let launch = Launch { steps, ..Launch::default() };
    let [wide, narrow, _] = count::loads(&launch, &code);
    let threads = file
        .split(&format!(".entry {entry}("))
        .nth(1)
        .and_then(|text| text.split(".maxntid ").nth(1)?.split(',').next()?.parse().ok());
    KernelFacts {
        block: [threads.expect("a text says how large blocks are"), 1, 1],
        registers: usage.registers,
        spills: usage.spills,
        barriers_in_loops: count::barriers_in_loops(&code),
        wide_loads: wide / points as f64,
        narrow_loads: narrow / points as f64,
        loads_before_use: count::loads_before_use(&launch, &code),
        ..KernelFacts::default()
    }
}

/// The winner of the sweep and the best of 5, 7 and 13 points, of two species and of D3Q19 are within the
/// limits, and have the loads and registers that were noted when they were measured. One plane per thread,
/// which was a tenth slower, is beyond them.
#[test]
fn measured_kernels_are_counted_right_and_slower_ones_are_beyond_the_limits() {
    let (st7, v, w) =
        (include_str!("sketches/st7.ptx"), include_str!("sketches/v.ptx"), include_str!("sketches/w.ptx"));
    for (text, expected) in [
        (include_str!("sketches/st7.cuh"), 0xe450_5ca0_d887_12cd),
        (include_str!("sketches/v.cuh"), 0x5e94_04eb_7c9e_d4a9),
        (st7, 0xc19e_becc_8f1e_ff88),
        (v, 0x8160_54b7_3cde_eb6b),
        (w, 0xa7db_08d9_7d24_0e00),
    ] {
        assert_eq!(hash(text), expected);
    }
    let tools = match Tools::find() {
        Ok(tools) => tools,
        Err(reason) => return println!("skipped: facts-sketches ({reason})"),
    };
    let planes = |count: usize| format!("_Z3vecILi32ELi4ELi1ELi{count}ELi0EEvPKfPfi");
    let judged = |case: &str, size: usize, facts: KernelFacts| {
        let needs = Needs::of(Workload::named(case).expect("a workload"), size, &SIZES);
        limits::beyond(&KernelFacts { needs, ..facts })
    };
    for (case, file, entry, size, points, loads, registers) in [
        ("stencil7", st7, planes(4), 4, 16, [14.0, 8.0], 78),
        ("stencil5", v, "five_f32".to_owned(), 4, 8, [4.0, 4.0], 32),
        ("stencil5", v, "five_f64".to_owned(), 8, 4, [4.0, 4.0], 32),
        ("gray_scott", v, "gray_f32".to_owned(), 4, 8, [16.0, 8.0], 64),
        ("stencil7", w, "seven_f64".to_owned(), 8, 8, [14.0, 8.0], 56),
        ("stencil13", w, "thirteen_f64".to_owned(), 8, 4, [18.0, 0.0], 56),
        ("d3q19", w, "lbm_f32".to_owned(), 4, 1, [0.0, 19.0], 49),
        ("d3q19", w, "lbm_f64".to_owned(), 8, 1, [0.0, 19.0], 76),
    ] {
        let facts = sketched(&tools, file, &entry, points);
        let counted = [facts.wide_loads, facts.narrow_loads].map(|loads| loads * points as f64);
        assert_eq!((counted, facts.spills), (loads, 0), "{entry}");
        // Other assemblers may need a few more or less.
        assert!(facts.registers.abs_diff(registers) <= 4, "{entry}: {}", facts.registers);
        // nvcc begins to add before all of a sketch's vectors are on their way: in one after 7 of 18.
        assert!(facts.loads_before_use as f64 * 3.0 >= counted[0], "{entry}: {}", facts.loads_before_use);
        let mut beyond = judged(case, size, facts);
        beyond.retain(|what| !what.contains("loads before the first use"));
        assert_eq!(beyond, Vec::<String>::new(), "{entry}");
    }
    let slow = judged("stencil7", 4, sketched(&tools, st7, &planes(1), 4));
    assert!(slow.iter().any(|what| what.contains("1.2500 loads a point")), "{slow:?}");
    println!("ran: facts-sketches 9");
}
