//! Each check fires on a text that breaks exactly its rule, and is silent on the text put right.

use crate::detector_cases::{CASES, Case};
use crate::harness::{body, holding, run};
use simcuda::machine::{Kind, Machine};
use simcuda::ptx::Program;
use std::collections::HashSet;

/// The prologue of every case: `%rd1` 1024 bytes of numbers, `%rd2` 1024 uninitialised bytes, `%rd3` freed
/// memory, `%r1` the thread, `%r2` the block, `%rd4` the thread's and `%rd5` its global number, both times 4.
const PROLOGUE: &str = "
    .shared .align 16 .b8 first[256];
    .shared .align 16 .b8 second[256];
    ld.param.u64 %rd1, [launch];
    ld.param.u64 %rd2, [launch+8];
    ld.param.u64 %rd3, [launch+16];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1;
    mul.wide.u32 %rd4, %r1, 4;
    mul.wide.u32 %rd5, %r4, 4;
    shl.b32 %r5, %r1, 2;
    mov.u32 %r6, first;
    add.u32 %r6, %r6, %r5;
    setp.eq.u32 %p1, %r1, 0;
    setp.eq.u32 %p2, %r2, 0;
    add.u64 %rd6, %rd1, %rd4;
    add.u64 %rd7, %rd2, %rd4;
    add.u64 %rd8, %rd1, %rd5;
    add.u64 %rd9, %rd2, %rd5;
    xor.b64 %rd10, %rd4, 4;
    add.u64 %rd11, %rd1, %rd10;
    add.u64 %rd12, %rd2, %rd10;
    xor.b32 %r7, %r6, 4;
";

fn outcome(case: &Case, program: &Program, seed: u64) -> Option<(Kind, String)> {
    let mut machine = Machine::new(seed);
    machine.set_branch_limit(10_000);
    let numbers: Vec<u8> = (0..256u32).flat_map(u32::to_le_bytes).collect();
    let known = holding(&mut machine, &numbers);
    let fresh = machine.alloc(1024, 256);
    let freed = holding(&mut machine, &numbers);
    machine.free(freed).unwrap();
    let result = run(&mut machine, program, case.blocks, case.threads, &[known, fresh, freed]);
    result.err().map(|fault| (fault.kind(), fault.to_string()))
}

#[test]
fn every_detector_fires_and_is_silent() {
    let mut kinds = HashSet::new();
    for case in CASES {
        let [bad, good] = [case.bad, case.good].map(|text| body(&format!("{PROLOGUE}{text}")));
        for seed in 0..8 {
            let found = outcome(case, &bad, seed);
            let (kind, text) = found.unwrap_or_else(|| panic!("{}: not found with seed {seed}", case.name));
            assert_eq!(kind, case.kind, "{}: {text}", case.name);
            let silent = outcome(case, &good, seed);
            assert_eq!(silent, None, "{}: the good text, seed {seed}", case.name);
        }
        kinds.insert(case.kind);
    }
    // The others are launches and host calls, which have tests of their own.
    let elsewhere = [Kind::Launch, Kind::OutOfMemory, Kind::Free];
    assert!(elsewhere.iter().all(|kind| !kinds.contains(kind)));
    assert_eq!(kinds.len() + elsewhere.len(), 19, "a kind of fault has no case: {kinds:?}");
    println!("ran: simcuda-detectors {}", CASES.len());
}

#[test]
fn a_fault_says_where_and_what() {
    let text = body(
        "
    ld.param.u64 %rd1, [launch];
    mov.u32 %r1, %tid.y;
    mov.u32 %r2, %ctaid.z;
    mad.lo.u32 %r3, %r2, 100, %r1;
    mul.wide.u32 %rd2, %r3, 4;
    add.u64 %rd3, %rd1, %rd2;
    setp.lt.u32 %p1, %r3, 101;
    @%p1 ret;
    ld.global.f32 %f1, [%rd3+4]; // too far",
    );
    let mut machine = Machine::with_base(3, 0x10_0000);
    let address = holding(&mut machine, &[0; 404]);
    let params = crate::harness::params(&[address]);
    let fault = machine.run(&text, "k", [1, 1, 2], [1, 2, 1], &params).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "out of bounds in `k`, block [0, 0, 1], thread [0, 1, 0], PTX line 27 \
         `ld.global.f32 %f1, [%rd3+4]; // too far`: read of 4 bytes at 0x100198 is 4 bytes past the end \
         of the 404 bytes at 0x100000"
    );
    assert_eq!(fault.address(), Some(0x10_0198));
    let site = fault.site().unwrap();
    assert_eq!((site.line, site.block, site.thread), (27, [0, 0, 1], [0, 1, 0]));
}

#[test]
fn a_launch_that_no_device_takes_is_refused() {
    let free = body("");
    let text = crate::harness::module("").replace("launch[64])", "launch[64]) .reqntid 32, 2, 1");
    let exact = crate::harness::program(&text);
    let text = crate::harness::module("").replace("launch[64])", "launch[64]) .maxntid 64 .minnctapersm 2");
    let most = crate::harness::program(&text);
    let params = [0; 64];
    let mut machine = Machine::new(0);
    let mut launches = |program, entry, grid, block, bytes: usize| {
        let result = machine.run(program, entry, grid, block, &params[..bytes]);
        result.map_err(|fault| fault.kind()).map(|_| ())
    };
    let refused = Err(Kind::Launch);
    assert_eq!(launches(&free, "k", [1; 3], [1; 3], 64), Ok(()));
    assert_eq!(launches(&free, "other", [1; 3], [1; 3], 64), refused);
    assert_eq!(launches(&free, "k", [1; 3], [1; 3], 56), refused);
    assert_eq!(launches(&free, "k", [0, 1, 1], [1; 3], 64), refused);
    assert_eq!(launches(&free, "k", [1, 65536, 1], [1; 3], 64), refused);
    assert_eq!(launches(&free, "k", [1; 3], [1, 0, 1], 64), refused);
    assert_eq!(launches(&free, "k", [1; 3], [1024, 2, 1], 64), refused);
    assert_eq!(launches(&free, "k", [1; 3], [1, 1, 65], 64), refused);
    assert_eq!(launches(&exact, "k", [1; 3], [32, 2, 1], 64), Ok(()));
    assert_eq!(launches(&exact, "k", [1; 3], [64, 1, 1], 64), refused);
    assert_eq!(launches(&most, "k", [1; 3], [8, 8, 1], 64), Ok(()));
    assert_eq!(launches(&most, "k", [1; 3], [65, 1, 1], 64), refused);
}

#[test]
fn the_order_of_threads_and_blocks_follows_from_the_seed() {
    // Every thread divides by zero, so the fault names the first one that ran.
    let program = body("    mov.u32 %r1, 0;\n    div.u32 %r2, 1, %r1;\n    bar.sync 0;");
    let free = body("    mov.u32 %r1, 0;\n    div.u32 %r2, 1, %r1;");
    for program in [&program, &free] {
        let first = |seed: u64, launches: usize| {
            let mut machine = Machine::new(seed);
            let mut found = Vec::new();
            for _ in 0..launches {
                let fault = run(&mut machine, program, 50, 200, &[]).unwrap_err();
                let site = fault.site().unwrap();
                found.push((site.block[0], site.thread[0]));
            }
            found
        };
        assert_eq!(first(7, 5), first(7, 5));
        let several: Vec<_> = (0..20).flat_map(|seed| first(seed, 2)).collect();
        let distinct = |of: fn(&(u32, u32)) -> u32| several.iter().map(of).collect::<HashSet<_>>().len();
        assert!(distinct(|(block, _)| *block) > 10 && distinct(|(_, thread)| *thread) > 10, "{several:?}");
    }
}

#[test]
fn accesses_are_the_bytes_read_and_written() {
    let program = body(
        "
    ld.param.u64 %rd1, [launch];
    ld.param.u64 %rd2, [launch+8];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd4, %rd1, %rd3;
    ld.global.u32 %r2, [%rd4+16];
    setp.gt.u32 %p1, %r1, 5;
    mul.wide.u32 %rd5, %r1, 8;
    add.u64 %rd6, %rd2, %rd5;
    @!%p1 st.global.u8 [%rd6+1], %r2;
    @%p1 st.global.u32 [%rd4+128], %r2;",
    );
    let mut machine = Machine::new(0);
    let a = holding(&mut machine, &[1; 256]);
    let b = machine.alloc(256, 256);
    let accesses = run(&mut machine, &program, 1, 8, &[a, b]).unwrap();
    assert_eq!(accesses.reads, [a + 16..a + 48]);
    let mut writes = vec![a + 152..a + 160];
    writes.extend((0..6).map(|i| b + 8 * i + 1..b + 8 * i + 2));
    assert_eq!(accesses.writes, writes);
    // A launch reports its own accesses only, and those once.
    assert_eq!(run(&mut machine, &program, 1, 8, &[a, b]).unwrap(), accesses);
    let empty = run(&mut machine, &body(""), 2, 2, &[]).unwrap();
    assert!(empty.reads.is_empty() && empty.writes.is_empty());
}

/// Shared memory that a launch gives ends where the launch says, whatever the text hoped for.
#[test]
fn shared_memory_given_by_a_launch_has_an_end() {
    let of = |at: usize| {
        let body = format!("st.shared.u32 [given+{at}], 7;\nld.shared.u32 %r1, [given+{at}];");
        let text = crate::harness::module(&body);
        crate::harness::program(&text.replace(".visible", ".extern .shared .align 16 .b8 given[];\n.visible"))
    };
    let run = |at: usize, bytes: u32| {
        let mut machine = Machine::new(1);
        machine.give_shared(bytes);
        crate::harness::run(&mut machine, &of(at), 1, 1, &[]).err().map(|fault| fault.kind())
    };
    assert_eq!(run(0, 4), None);
    assert_eq!(run(100 << 10, (100 << 10) + 4), None);
    for (at, bytes) in [(0, 0), (4, 4), (96 << 10, 96 << 10)] {
        assert_eq!(run(at, bytes), Some(Kind::SharedOutOfBounds), "{at} of {bytes}");
    }
}
