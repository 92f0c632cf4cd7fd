//! Would the tests see a bug of the writer? Each bug of a table is put into the text that the writer makes,
//! and the same cases as elsewhere (forms, stencils, operations, random kernels) are run against the
//! interpreter until one differs or the simulated GPU reports a fault. A bug that changes no text, or none
//! that the simulator takes, is a failure of the table, not a bug that was found.

use partita_kernels::{DType, FoldOp, Launch, Scalar, Verified, View};

use crate::agreement::{
    Arrays, Case, arg_fold_case, bytes, cases, copy_case, cube, difference, fold_case, indexed_cases, star,
    stencil_launch, weighted,
};
use crate::forms::{by_two_launch, two_by_two};
use crate::machine::{Compiled, Setting, on_host};
use crate::operations::brief_cases;
use crate::random;
use crate::stencils::inside;

/// What a bug does to the text, line by line.
enum Change {
    /// In lines that contain the first text, the second becomes the third.
    Put(&'static str, &'static str, &'static str),
    /// Lines that contain all of these are missing.
    Drop(&'static [&'static str]),
    /// In lines that contain this text, the second and the third operand change places.
    Swap(&'static str),
    /// Anything else.
    Text(fn(&str) -> String),
}
use Change::{Drop, Put, Swap, Text};

/// Bugs that a writer of PTX might have.
const BUGS: &[(&str, Change)] = &[
    // Where things are.
    ("the offset of another load", Put("add.s64 %d", "%delta0_1", "%delta0_0")),
    ("an offset subtracted", Put("%delta0", "add.s64", "sub.s64")),
    ("the stride of another dimension", Put("mad.", "%step0_1", "%step0_0")),
    ("the stride of another parameter", Put("mad.wide.s32 %at1", "%step1_", "%step0_")),
    ("another parameter's memory", Put("mad.wide", "%start1", "%start0")),
    ("strides without signs", Put("mad.wide.s32", "s32", "u32")),
    ("the origin of another dimension", Put("mad.lo", "%origin1", "%origin0")),
    ("a launch parameter eight bytes later", Put("ld.param.b32 %extent1", "[launch+0]", "[launch+8]")),
    ("elements for bytes", Put("shl.b64 %d", ", 2;", ", 1;")),
    // Where they end.
    ("a bound one too far", Put("setp.ge.u32 %p0, %i", "setp.ge", "setp.gt")),
    ("a dropped predicate", Drop(&["@%p0 ret"])),
    ("heads of rows not clipped", Drop(&["max.s32 %i", ", 0;"])),
    ("tails of rows not clipped", Drop(&["min.s32 %end, %end"])),
    ("every other point of a tail", Put("add.s32 %i", ", 1;", ", 2;")),
    ("a vector a point shorter than it is", Put("add.s32 %end", ", 4;", ", 3;")),
    ("heads taken for whole vectors", Put("setp.gt.or.s32 %p", ".or.", ".and.")),
    ("the phase of a row added", Put("sub.s32 %i", "sub", "add")),
    ("alignment not tested", Drop(&["bra SINGLE"])),
    ("8 bytes for 16", Put("and.b32 %r", ", 15;", ", 7;")),
    ("strided rows taken for contiguous", Put("or.b32 %r", "%apart0", "0")),
    ("an index one past the end", Put("setp.ge.u64", "ge", "gt")),
    ("negative indices", Put("setp.ge.u64", "u64", "s64")),
    // Arithmetic.
    ("a difference for a sum", Put("add.rn.f32 %v", "add", "sub")),
    ("a sum for a difference", Put("sub.rn.f32 %v", "sub", "add")),
    ("a difference turned round", Swap("sub.rn.f32 %v")),
    ("a quotient turned round", Swap("div.rn.f32 %v")),
    ("a product and a sum contracted", Text(contracted)),
    ("rounding towards zero", Put("cvt.rn.f16.f32", ".rn", ".rz")),
    ("a constant one bit off", Put("mov.f32 %v", "0f40000000", "0f40000001")),
    ("the minimum for the maximum", Put("setp.gt.or.f32", "gt", "lt")),
    ("the maximum of integers for the minimum", Put("min.s32 %v", "min", "max")),
    ("a NaN that loses", Put("setp.lt.or.f32", ".or.", ".and.")),
    ("an ordered inequality", Put("setp.neu.", "neu", "ne")),
    ("lt for le", Put("setp.le.", "le", "lt")),
    ("integers compared without signs", Put("setp.lt.s32 %v", "s32", "u32")),
    ("shifts without signs", Put("shr.s32 %v", "s32", "u32")),
    ("shift counts beyond the width", Put("and.b32 %r", ", 31;", ", 63;")),
    ("divisors of zero", Put("selp.b32 %r", ", 1, ", ", 0, ")),
    ("a choice turned round", Swap("selp.f32 %v")),
    ("narrow signed results not wrapped", Drop(&["bfe.s32 %v", ", 0, 8;"])),
    ("narrow unsigned results not wrapped", Drop(&["and.b32 %v", "0xff;"])),
    ("integers that are rounded, not truncated", Put("cvt.rzi.s", ".rzi", ".rni")),
    ("a conversion to the wrong type", Put("cvt.rzi.u32.f32", "u32", "s32")),
    ("a conversion from the wrong type", Put("cvt.rn.f32.s32", "s32", "u32")),
    // Loads and stores.
    ("bytes loaded with signs", Put("ld.global.nc.u8", "u8", "s8")),
    ("read-only loads of what is written", Put("ld.global.f32", "ld.global", "ld.global.nc")),
    ("one output over another", Put("st.global", "[%at2]", "[%at1]")),
    ("the first lanes of a store exchanged", Text(exchanged)),
    ("a byte unpacked twice", Put("bfe.u32 %w", ", 8, 8;", ", 16, 8;")),
    ("bytes packed in another order", Put("prmt.b32", "0x0040", "0x0004")),
    // Threads that work together.
    ("missing barriers", Drop(&["bar.sync"])),
    ("a shuffle from the wrong side", Put("shfl.sync.down", "down", "up")),
    ("a shuffle from the wrong lane", Put("shfl.sync.down", ", 4, 31", ", 2, 31")),
    ("a shuffle of half a warp", Put("shfl.sync", "0xffffffff", "0x0000ffff")),
    ("lanes that are far apart combined first", Text(from_afar)),
    ("a level of lanes left out", Put("setp.ge.u32 %p", "%distance, %lanes", "%distance, 4")),
    ("a lane that gives the half it keeps", Put("and.b32 %r", "%lane, 1;", "%lane, 2;")),
    ("a half from the wrong lane", Put("shfl.sync.bfly", ", 1, 31", ", 2, 31")),
    ("runs of lanes that lie apart", Put("mad.lo.u32 %number, %lane", ", 4, ", ", 1, ")),
    ("shares of a block not all combined", Put("setp.lt.u32 %p", "%distance, %shares", "%distance, 2")),
    ("groups combined out of order", Put("and.b32 %r", "%group, 1;", "%group, 2;")),
    ("a missing neutral element", Put("mov.f32 %f", "0f7F800000", "0f00000000")),
    ("a value too many", Put("max.u32 %r", "%folded", "%end")),
    ("groups that are not full taken for full", Put("setp.le.u32 %full", "%end, %folded", "%start, %folded")),
    ("cut runs taken for whole", Put("setp.gt.u32 %p", "%end, %runs", "0, %runs")),
    ("a carry between coordinates lost", Put("selp.b32 %r", ", 1, 0, %p", ", 0, 0, %p")),
    ("a missing last stage", Put("setp.ne.u32 %p", "%segments, 1", "%segments, %segments")),
    ("partial results of two grids in one place", Put("add.u32 %r", "%first", "0")),
    ("the last of equals", Put("setp.lt.s32 %p", ", %x1_0_0", ", -1")),
    ("squares not transposed", Put("mad.lo.u32 %r", "%ty, 33, %tx", "%tx, 33, %ty")),
    ("a source for its twin", Put(", %twin", "setp.ne", "setp.eq")),
    ("a twin's values from its own square", Put(", 0, %two", ", 0, %two", ", 4, %two")),
    ("the second square left out", Put("@!%two ret", "@!%two", "")),
    ("the lower half of the triangle for the upper", Put("setp.gt.u32 %p", "%left, %top", "%top, %left")),
    // Planes in registers.
    ("a plane too many", Put("%i0, %last", "setp.ge.s32", "setp.gt.s32")),
    ("planes beyond the last", Drop(&["min.u32 %last"])),
    ("the planes of another block", Put("mul.lo.u32 %first", "%planes", "1")),
    ("columns not filled", Text(unfilled)),
    ("columns filled from the wrong plane", Put("add.s32 %after, %first", ", -1", ", -2")),
    ("an element in another's register", Put("{%w0u0_0, ", "%w0u0_0", "%w0u1_0")),
    ("columns that stay", Drop(&["mov.f32 %w0u"])),
    ("no neighbours from other warps", Put("setp.lt.u32 %p", "%tx, 1;", "%tx, 0;")),
    ("neighbours from the wrong side", Put("shfl.sync.up", "up", "down")),
    ("rows of the rim left out", Drop(&["@%on_rim0 cp.async"])),
    ("rows of the rim taken for others", Put("add.s32 %r", "%ty, %rows", "%ty, %ty")),
    ("vectors that stick out loaded whole", Drop(&["bra PIECES"])),
    ("vectors that stick out stored whole", Drop(&["bra POINTS"])),
    ("threads beyond the region store", Drop(&["@!%inside bra"])),
    ("loads beyond the last plane", Put("setp.gt.s32", "%after, %most", "%i0, %last")),
    ("planes that are read before they have landed", Put("cp.async.wait_group", "3;", "4;")),
];

impl Change {
    fn apply(&self, text: &str) -> String {
        let lines = |edit: &dyn Fn(&str) -> Option<String>| -> String {
            text.lines().filter_map(|line| edit(line).map(|line| line + "\n")).collect()
        };
        match self {
            Put(mark, from, to) => lines(&|line| {
                let meant = line.contains(mark) && !line.trim_start().starts_with('.');
                Some(if meant { line.replace(from, to) } else { line.to_owned() })
            }),
            Drop(marks) => {
                lines(&|line| (!marks.iter().all(|mark| line.contains(mark))).then(|| line.to_owned()))
            }
            Swap(mark) => lines(&|line| {
                let mut operands: Vec<&str> = line.split(", ").collect();
                if line.contains(mark) && operands.len() >= 3 {
                    let last = operands.len() == 3;
                    let (a, b) = (operands[1], operands[2].trim_end_matches(';'));
                    let turned = format!("{a};");
                    operands[1] = b;
                    operands[2] = if last { &turned } else { a };
                    return Some(operands.join(", "));
                }
                Some(line.to_owned())
            }),
            Text(edit) => edit(text),
        }
    }
}

/// `mul` and the next `add` that uses its result become an `fma`.
fn contracted(text: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for at in 0..lines.len() {
        let Some(product) = lines[at].trim().strip_prefix("mul.rn.f32 ").map(str::to_owned) else { continue };
        let [to, a, b] = product.trim_end_matches(';').split(", ").collect::<Vec<_>>()[..] else { continue };
        let ending = format!(", {to};");
        let used = |line: &String| line.contains("add.rn.f32") && line.ends_with(&ending);
        let Some(sum) = lines[at..].iter().position(used) else { continue };
        let [result, other, _] = lines[at + sum].split(", ").collect::<Vec<_>>()[..] else { continue };
        let result = result.replace("add.rn.f32", "fma.rn.f32");
        lines[at + sum] = format!("{result}, {a}, {b}, {other};");
    }
    lines.join("\n") + "\n"
}

/// The first two lanes of each store of a vector.
fn exchanged(text: &str) -> String {
    let edit = |line: &str| match line.split_once("], {") {
        Some((store, lanes)) if line.contains("st.global.v") => {
            let mut lanes: Vec<&str> = lanes.trim_end_matches("};").split(", ").collect();
            lanes.swap(0, 1);
            format!("{store}], {{{}}};\n", lanes.join(", "))
        }
        _ => format!("{line}\n"),
    };
    text.lines().map(edit).collect()
}

/// Shuffles whose distances come in the opposite order: each sum still has every value.
fn from_afar(text: &str) -> String {
    let turned = |line: &str| {
        let distances = [", 8, 31,", ", 16, 31,"];
        let at = distances.iter().position(|d| line.contains("shfl.sync.down") && line.contains(d));
        at.map_or(line.to_owned(), |at| line.replace(distances[at], distances[1 - at]))
    };
    text.lines().map(|line| turned(line) + "\n").collect()
}

/// Streaming whose first plane finds nothing in the registers.
fn unfilled(text: &str) -> String {
    let mut fills = false;
    let kept = |line: &&str| {
        fills = (fills || line.contains("// what the first plane needs")) && !line.starts_with("STREAM:");
        !(fills && (line.contains("ld.global") || line.contains("shared.global")))
    };
    text.lines().filter(kept).map(|line| format!("{line}\n")).collect()
}

/// A case, compiled, with what the interpreter makes of it.
struct Trial {
    label: String,
    kernel: Verified,
    launch: Launch,
    arrays: Arrays,
    setting: Setting,
    compiled: Compiled,
    expected: Arrays,
}

impl Trial {
    fn new(label: &str, (kernel, launch, arrays): Case, setting: Setting) -> Trial {
        let compiled = Compiled::new(&kernel, setting);
        let expected = on_host(&kernel, &launch, &arrays);
        let label = format!("{label}{}", if setting.shrunk { ", cut" } else { "" });
        Trial { label, kernel, launch, arrays, setting, compiled, expected }
    }

    /// What gives the program away that is compiled now: the kind of a fault, or a wrong result.
    fn finds(&self) -> Option<String> {
        match self.compiled.run(&self.kernel, &self.launch, &self.arrays, self.setting) {
            Err(fault) => Some(fault.kind().to_string()),
            Ok((given, _)) => {
                difference(&self.kernel, &self.expected, &given).map(|_| "wrong result".to_owned())
            }
        }
    }
}

/// Forms, stencils, operations and random kernels.
fn trials() -> Vec<Trial> {
    let mut all: Vec<(String, Case)> = Vec::new();
    for (d, extents, pad) in [(DType::F32, [3, 5, 41], 4), (DType::I16, [2, 3, 50], 3)] {
        let (launch, arrays) = stencil_launch(d, &extents, pad);
        all.push((format!("7 points of {d}"), (cases::stencil(d, 3).unwrap(), launch, arrays)));
    }
    for (offsets, halo, ahead) in [(cube(3, 1), 1, 0), (star(3, 2), 2, 1)] {
        let kernel = weighted("wide", DType::F32, &offsets);
        let (launch, arrays) = inside(&kernel, &[19, 7, 101], halo, ahead);
        let mut uneven = launch.clone();
        uneven.extents[1] = 1;
        uneven.views[0].strides[0] += 1;
        // Of the cube, what is loaded first is aligned all the same.
        uneven.views[0].offset += 4 - halo as i64;
        all.push((format!("{} points", offsets.len()), (kernel.clone(), launch, arrays.clone())));
        all.push((format!("{} points, uneven planes", offsets.len()), (kernel, uneven, arrays)));
    }
    for d in [DType::F32, DType::U8] {
        let straight = (0, vec![53, 1]);
        all.push((format!("transposed {d}"), copy_case(d, [37, 53], [(0, vec![1, 37]), straight.clone()])));
        all.push((
            format!("reversed {d}"),
            copy_case(d, [37, 53], [(1960, vec![-53, -1]), straight.clone()]),
        ));
        all.push((format!("copied {d}"), copy_case(d, [37, 53], [straight.clone(), straight])));
    }
    let kernel = two_by_two(DType::F32, 2);
    let (launch, arrays) = by_two_launch(&kernel, [1, 45, 45], &[(1, false), (1, true)]);
    all.push(("a mirror image".into(), (kernel, launch, arrays)));
    let folds = [(FoldOp::Sum, DType::F32), (FoldOp::Min, DType::F32), (FoldOp::Any, DType::Bool)];
    for (op, d) in folds {
        for (extents, axes) in [
            (&[5000][..], &[true][..]),
            (&[70, 130], &[false, true]),
            (&[130, 70], &[true, false]),
            (&[13, 17, 19], &[true, false, true]),
        ] {
            all.push((format!("{op:?} of {d}"), fold_case(op, d, extents, axes).unwrap()));
        }
    }
    // Large numbers that cancel: every order of additions has another result.
    let (kernel, launch, mut arrays) = fold_case(FoldOp::Sum, DType::F32, &[5000], &[true]).unwrap();
    let value = |i: usize| match i * i % 7 {
        1 => 1e8,
        2 => -1e8,
        _ => i as f64,
    };
    arrays[0] = bytes(DType::F32, (0..5000).map(|i| Scalar::from_f64(DType::F32, value(i)).bits));
    all.push(("a sum whose bits tell the order".into(), (kernel, launch, arrays)));
    for largest in [false, true] {
        all.push((
            "the place of an extreme".into(),
            arg_fold_case(largest, DType::F32, DType::I32, [3, 900], 3),
        ));
        // Of equals the first counts, which the last row has here.
        let kernel = cases::arg_fold(largest, DType::F32, DType::I32, &[true, true]).unwrap();
        let (input, out) =
            (View { offset: 0, strides: vec![130, 1] }, View { offset: 0, strides: vec![0, 0] });
        let views = vec![input, out.clone(), out];
        let launch = Launch { extents: vec![9, 130], origin: vec![0, 0], views, arguments: vec![] };
        let value = |i: i64| if i % 130 == 90 - 10 * (i / 130) { 2 * i64::from(largest) - 1 } else { 0 };
        let input = bytes(DType::F32, (0..1170).map(|i| Scalar::from_i64(DType::F32, value(i)).bits));
        all.push(("the first of equals".into(), (kernel, launch, vec![input, vec![0; 4], vec![0; 4]])));
    }
    let indices: Vec<i64> = (0..300).map(|i| (i * 571) % 700 - 150).collect();
    for case in indexed_cases(DType::F32, DType::I32, &indices, 400) {
        all.push((case.0.kernel().name.clone(), case));
    }
    let plain = Setting { multiprocessors: 1, aliased: true, ..Setting::PLAIN };
    let settings = [plain, Setting { shift: 1, ..plain }, Setting { shrunk: true, shift: 4, ..plain }];
    let forms =
        all.iter().flat_map(|(label, case)| settings.map(|setting| Trial::new(label, case.clone(), setting)));
    let random = (0..RANDOM).map(|seed| {
        let random::Case { kernel, launch, arrays } = random::case(seed);
        Trial::new(&format!("random kernel {seed}"), (kernel, launch, arrays), plain)
    });
    let operations = brief_cases().map(|case| Trial::new(&case.0.kernel().name.clone(), case, plain));
    forms.chain(operations).chain(random).collect()
}

/// Random kernels among the cases.
const RANDOM: u64 = 150;

#[test]
fn bugs_of_the_writer_are_found() {
    let mut trials = trials();
    for trial in &trials {
        assert_eq!(trial.finds(), None, "{} without any bug", trial.label);
    }
    let mut found = 0;
    println!("{:45} {:>5}  found by", "bug", "tries");
    for (name, change) in BUGS {
        let mut tries = 0;
        let by = trials.iter_mut().find_map(|trial| {
            let text = trial.compiled.module.whole_text();
            let changed = change.apply(&text);
            if changed == text || trial.compiled.with_text(&changed).is_none() {
                return None;
            }
            tries += 1;
            let by = trial.finds().map(|by| format!("{}: {by}", trial.label));
            trial.compiled.with_text(&text).unwrap();
            by
        });
        assert!(tries > 0, "`{name}` is in no text that the simulator takes");
        println!("{name:45} {tries:5}  {}", by.as_deref().unwrap_or("NOT FOUND"));
        found += usize::from(by.is_some());
    }
    assert!(found * 100 >= BUGS.len() * 98, "{found} of {} bugs were found", BUGS.len());
    println!("ran: ptx-bugs {found}");
}
