//! Counts of a sample: instructions of warps, sectors, wavefronts, bank conflicts, each by hand.

use crate::harness::{body, params};
use simcuda::Machine;
use simcuda::machine::{AccessTarget, BlockCount};

/// One block of 64 threads runs a body that has its thread in `%r1` and a buffer in `%rd1`.
fn counted(text: &str, offset: u64) -> BlockCount {
    let program = body(&format!("mov.u32 %r1, %tid.x;\nld.param.u64 %rd1, [launch];\n{text}"));
    let mut machine = Machine::unwatched(3);
    let address = machine.alloc(1 << 20, 256) + offset;
    let counts = machine.sample(&program, "k", [4, 1, 1], [64, 1, 1], &params(&[address]), &[1, 2]);
    let counts = counts.unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(counts.len(), 2);
    counts.into_iter().next().expect("two blocks")
}

/// Requests, bytes, sectors, fresh sectors and wavefronts of all accesses to a place.
fn of(count: &BlockCount, place: AccessTarget) -> [f64; 5] {
    let accesses = count.steps.iter().filter_map(|step| step.access).filter(|access| access.place == place);
    accesses.fold([0.0; 5], |sum, a| {
        let own = [a.requests, a.bytes, a.sectors, a.fresh, a.wavefronts];
        [0, 1, 2, 3, 4].map(|k| sum[k] + own[k])
    })
}

/// A load of four floats per thread, each `step` bytes after the last thread's.
fn load(width: &str, step: u32) -> String {
    let registers = if width.contains("v4") { "{%f0, %f1, %f2, %f3}" } else { "%f0" };
    format!("mad.wide.u32 %rd2, %r1, {step}, %rd1;\nld.global.{width}f32 {registers}, [%rd2];")
}

#[test]
fn sectors_and_wavefronts_are_those_counted_by_hand() {
    // Two warps, 16 bytes per lane: 512 bytes each, four lines of L1.
    assert_eq!(of(&counted(&load("v4.", 16), 0), AccessTarget::Read), [2.0, 1024.0, 32.0, 32.0, 8.0]);
    // 4 bytes per lane: one line; at an offset of 4 bytes a sector and a line more.
    assert_eq!(of(&counted(&load("", 4), 0), AccessTarget::Read), [2.0, 256.0, 8.0, 8.0, 2.0]);
    assert_eq!(of(&counted(&load("", 4), 4), AccessTarget::Read), [2.0, 256.0, 10.0, 9.0, 4.0]);
    // Single elements 16 bytes apart take as many wavefronts as whole vectors, for a fourth of the bytes.
    assert_eq!(of(&counted(&load("", 16), 0), AccessTarget::Read), [2.0, 256.0, 32.0, 32.0, 8.0]);
    // The same bytes again are not fresh.
    let twice = counted(&[load("", 4), load("", 4)].join("\n"), 0);
    assert_eq!(of(&twice, AccessTarget::Read), [4.0, 512.0, 16.0, 8.0, 4.0]);
    assert_eq!((twice.footprint(), twice.active, twice.threads), ([8, 0], 64, 64));
}

#[test]
fn shared_memory_takes_a_pass_for_every_word_of_a_bank() {
    let store = |step: u32| {
        format!(
            ".shared .align 16 .b8 tile[8448];\nmov.u32 %r2, tile;\nmad.lo.u32 %r3, %r1, {step}, %r2;\n\
             st.shared.u32 [%r3], %r1;"
        )
    };
    for (step, passes) in [(4, 1.0), (8, 2.0), (128, 32.0), (132, 1.0)] {
        let [requests, bytes, .., wavefronts] = of(&counted(&store(step), 0), AccessTarget::Shared);
        assert_eq!((requests, bytes, wavefronts), (2.0, 256.0, 2.0 * passes), "step {step}");
    }
}

/// A warp's 512 bytes in a row are 128 per quarter: whichever lanes the machine runs first.
#[test]
fn vectors_in_a_row_of_shared_memory_do_not_conflict() {
    let count = counted(
        ".shared .align 16 .b8 tile[1024];\nmov.u32 %r2, tile;\nmad.lo.u32 %r3, %r1, 16, %r2;\n\
         st.shared.v4.u32 [%r3], {%r1, %r1, %r1, %r1};\nbar.sync 0;\nld.shared.u32 %r4, [%r3];",
        0,
    );
    // The loads are 16 bytes apart: four lanes to a bank.
    assert_eq!(of(&count, AccessTarget::Shared), [4.0, 1280.0, 0.0, 0.0, 2.0 * 4.0 + 2.0 * 4.0]);
}

#[test]
fn a_warp_issues_what_any_of_its_lanes_runs() {
    // The first 8 threads go round four times, the others once.
    let count = counted(
        "setp.lt.u32 %p1, %r1, 8;\nselp.u32 %r2, 4, 1, %p1;\nAGAIN:\nsub.u32 %r2, %r2, 1;\n\
         setp.ne.u32 %p2, %r2, 0;\n@%p2 bra AGAIN;",
        0,
    );
    let branch = count.steps.iter().max_by(|a, b| a.issues.total_cmp(&b.issues)).expect("steps");
    assert_eq!((branch.issues, branch.lanes), (4.0 + 1.0, 8.0 * 4.0 + 56.0));
    // The middle warp is the second of two, which runs the loop once.
    assert_eq!(count.path.iter().max(), Some(&1));
}

/// Blocks share what both read; memory moves it once if L2 keeps it so long.
#[test]
fn neighbouring_blocks_share_their_halo() {
    let program = body(
        "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nld.param.u64 %rd1, [launch];\n\
         mad.lo.u32 %r3, %r2, 64, %r1;\nmad.wide.u32 %rd2, %r3, 4, %rd1;\nld.global.f32 %f0, [%rd2];\n\
         ld.global.f32 %f1, [%rd2+128];",
    );
    let mut machine = Machine::unwatched(3);
    let address = machine.alloc(1 << 20, 256);
    let counts = machine.sample(&program, "k", [4, 1, 1], [64, 1, 1], &params(&[address]), &[1, 2]);
    let counts = counts.unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!((counts[0].footprint(), counts[0].shared_with(&counts[1..])), ([12, 0], vec![4]));
}
