//! Blocks that run at the same time and tell each other something: a chain of sums, whole and with one thing
//! left out; atomic operations; what lanes vote and match.

use crate::harness::{body, holding, run, words};
use simcuda::machine::{Kind, Machine};
use simcuda::ptx::Program;
use std::collections::HashSet;

const THREADS: u32 = 48;

/// Each block adds its numbers to the sum of the block before it. `%rd1` the numbers, `%rd2` a count of
/// blocks that have begun, `%rd3` a flag of each block, `%rd4` its sum.
fn chain(number: &str, before: &str, after: &str) -> Program {
    body(&format!(
        "
    .shared .align 4 .b8 total[4];
    .shared .align 4 .b8 tile[4];
    ld.param.u64 %rd1, [launch];
    ld.param.u64 %rd2, [launch+8];
    ld.param.u64 %rd3, [launch+16];
    ld.param.u64 %rd4, [launch+24];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ntid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra BEGUN;
    {number}
    st.shared.u32 [tile], %r3;
    st.shared.u32 [total], 0;
BEGUN:
    bar.sync 0;
    ld.shared.u32 %r3, [tile];
    mad.lo.u32 %r4, %r3, %r2, %r1;
    mul.wide.u32 %rd5, %r4, 4;
    add.u64 %rd5, %rd1, %rd5;
    ld.global.nc.u32 %r5, [%rd5];
    red.shared.add.u32 [total], %r5;
    bar.sync 0;
    @%p1 exit;
    ld.shared.u32 %r6, [total];
    mul.wide.u32 %rd6, %r3, 4;
    add.u64 %rd7, %rd3, %rd6;
    add.u64 %rd8, %rd4, %rd6;
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra FIRST;
SPIN:
    {before}
    setp.eq.u32 %p3, %r7, 0;
    @%p3 bra SPIN;
    ld.global.u32 %r8, [%rd8+-4];
    add.u32 %r6, %r6, %r8;
FIRST:
    st.global.u32 [%rd8], %r6;
    {after}"
    ))
}

const TICKET: &str = "atom.global.add.u32 %r3, [%rd2], 1;";
const ACQUIRE: &str = "ld.acquire.gpu.global.u32 %r7, [%rd7+-4];";
const RELEASE: &str = "st.release.gpu.global.u32 [%rd7], 1;";

/// The sums that blocks leave, or the kind of the fault and what is said.
fn sums(program: &Program, blocks: u32, seed: u64) -> Result<(Vec<u32>, Vec<u32>), (Kind, String)> {
    let mut machine = Machine::new(seed);
    machine.set_branch_limit(1_000_000);
    let numbers: Vec<u32> = (0..blocks * THREADS).map(|at| at * at % 1009).collect();
    let data: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let from = holding(&mut machine, &data);
    let ticket = holding(&mut machine, &[0; 4]);
    let flags = holding(&mut machine, &vec![0; blocks as usize * 4]);
    let to = machine.alloc(u64::from(blocks) * 4, 256);
    let ran = run(&mut machine, program, blocks, THREADS, &[from, ticket, flags, to]);
    let accesses = ran.map_err(|fault| (fault.kind(), fault.to_string()))?;
    assert!(accesses.writes.contains(&(to..to + u64::from(blocks) * 4)), "{accesses:?}");
    let mut sum = 0;
    let expected = numbers.chunks(THREADS as usize).map(|block| {
        sum += block.iter().sum::<u32>();
        sum
    });
    Ok((words(&machine, to, blocks as usize), expected.collect()))
}

#[test]
fn a_chain_of_blocks_under_many_orders() {
    let fences = chain(
        TICKET,
        "ld.relaxed.gpu.global.u32 %r7, [%rd7+-4];\nfence.acq_rel.gpu;",
        "membar.gl;\nst.volatile.global.u32 [%rd7], 1;",
    );
    let atomic = chain(TICKET, ACQUIRE, "atom.release.gpu.global.exch.b32 %b1, [%rd7], 1;");
    let mut ran = 0;
    for program in [&chain(TICKET, ACQUIRE, RELEASE), &fences, &atomic] {
        for seed in 0..100 {
            let (found, expected) = sums(program, 17, seed).unwrap_or_else(|(_, text)| panic!("{text}"));
            assert_eq!(found, expected, "seed {seed}");
            ran += 1;
        }
    }
    println!("ran: simcuda-chains {ran}");
}

#[test]
fn a_chain_that_trusts_the_order_of_blocks_may_wait_for_ever() {
    let program = chain("mov.u32 %r3, %ctaid.x;", ACQUIRE, RELEASE);
    let kinds: Vec<Option<Kind>> =
        (0..20).map(|seed| sums(&program, 17, seed).err().map(|(kind, _)| kind)).collect();
    assert!(kinds.iter().all(|kind| kind.is_none_or(|kind| kind == Kind::Deadlock)), "{kinds:?}");
    assert!(kinds.iter().filter(|kind| kind.is_some()).count() >= 15, "{kinds:?}");
    let (_, text) = (0..20).find_map(|seed| sums(&program, 17, seed).err()).unwrap();
    assert!(text.contains("blocks that wait for ever") && text.contains("have not begun"), "{text}");
}

#[test]
fn a_chain_without_its_release_or_acquire_is_a_race() {
    let halves = [
        (ACQUIRE, "st.relaxed.gpu.global.u32 [%rd7], 1;"),
        ("ld.relaxed.gpu.global.u32 %r7, [%rd7+-4];", RELEASE),
        (ACQUIRE, "st.relaxed.gpu.global.u32 [%rd7], 1;\nmembar.gl;"),
        ("fence.acq_rel.gpu;\nld.relaxed.gpu.global.u32 %r7, [%rd7+-4];", RELEASE),
    ];
    for (before, after) in halves {
        let program = chain(TICKET, before, after);
        for seed in 0..10 {
            let (kind, text) = sums(&program, 5, seed).expect_err("a race");
            assert_eq!(kind, Kind::Race, "{text}");
            assert!(text.contains("which another block wrote, and no release"), "{text}");
        }
    }
    // A plain load sees another's flag by a race, or never.
    let weak = chain(TICKET, "ld.global.u32 %r7, [%rd7+-4];", RELEASE);
    let kinds: HashSet<Kind> =
        (0..10).filter_map(|seed| sums(&weak, 5, seed).err()).map(|(kind, _)| kind).collect();
    assert!(kinds.contains(&Kind::Race), "{kinds:?}");
}

/// The release of one thread covers what others of its block did before a barrier, and no more.
#[test]
fn a_release_covers_its_block_after_a_barrier_alone() {
    let text = |between: &str| {
        body(&format!(
            "
    ld.param.u64 %rd1, [launch];
    ld.param.u64 %rd2, [launch+8];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd3, %rd2, %rd3;
    setp.ne.u32 %p1, %r1, 0;
    mov.u32 %r2, %ctaid.x;
    setp.ne.u32 %p2, %r2, 0;
    @%p2 bra HEARS;
    st.global.u32 [%rd3], %r1;
    {between}
    @%p1 exit;
    st.release.gpu.global.u32 [%rd1], 1;
    exit;
HEARS:
    @%p1 bra HEARD;
SPIN:
    ld.acquire.gpu.global.u32 %r3, [%rd1];
    setp.eq.u32 %p3, %r3, 0;
    @%p3 bra SPIN;
HEARD:
    bar.sync 0;
    ld.global.u32 %r4, [%rd3];"
        ))
    };
    let (good, bad) = (text("bar.sync 0;"), text("mov.u32 %r9, 1;"));
    let mut races = 0;
    // A seed may let one block be on the device alone, the one that waits: then it waits for ever.
    for seed in 0..40 {
        for (program, good) in [(&good, true), (&bad, false)] {
            let mut machine = Machine::new(seed);
            let (flag, to) = (holding(&mut machine, &[0; 4]), machine.alloc(128, 256));
            match run(&mut machine, program, 2, 32, &[flag, to]).map_err(|fault| fault.kind()) {
                Ok(_) => assert!(good),
                Err(Kind::Deadlock) => {}
                Err(kind) => {
                    assert!(!good && matches!(kind, Kind::Race | Kind::Uninitialised), "{kind:?}");
                    races += 1;
                }
            }
        }
    }
    assert!(races > 10, "{races}");
}

#[test]
fn atomic_operations_of_every_kind() {
    let program = body(
        "
    .shared .align 8 .b8 here[16];
    ld.param.u64 %rd1, [launch];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r3, %r2, 32, %r1;
    red.global.add.u32 [%rd1], %r3;
    red.global.min.u32 [%rd1+4], %r3;
    red.relaxed.gpu.global.max.u32 [%rd1+8], %r3;
    sub.u32 %r4, 0, %r3;
    mov.b32 %s1, %r4;
    red.global.min.s32 [%rd1+12], %s1;
    shl.b32 %r5, 1, %r1;
    mov.b32 %b1, %r5;
    red.global.or.b32 [%rd1+16], %b1;
    not.b32 %b2, %b1;
    red.global.and.b32 [%rd1+20], %b2;
    cvt.u64.u32 %rd2, %r3;
    atom.global.add.u64 %rd3, [%rd1+24], %rd2;
    atom.acq_rel.gpu.global.cas.b32 %b3, [%rd1+32], 0, 7;
    atom.global.exch.b32 %b4, [%rd1+36], 9;
    setp.ne.u32 %p1, %r1, 0;
    @!%p1 st.shared.u32 [here], 0;
    bar.sync 0;
    atom.shared.add.u32 %r6, [here], 2;
    bar.sync 0;
    @%p1 exit;
    ld.shared.u32 %r7, [here];
    red.global.max.u32 [%rd1+40], %r7;",
    );
    for seed in 0..20 {
        let mut machine = Machine::new(seed);
        let begin: [u32; 11] = [5, 99, 1, 3, 0, u32::MAX, 10, 0, 0, 0, 0];
        let begin: Vec<u8> = begin.iter().flat_map(|word| word.to_le_bytes()).collect();
        let at = holding(&mut machine, &begin);
        run(&mut machine, &program, 3, 32, &[at]).unwrap_or_else(|fault| panic!("{fault}"));
        let sum: u32 = (0..96).sum();
        let expected = [5 + sum, 0, 95, 0u32.wrapping_sub(95), u32::MAX, 0, 10 + sum, 0, 7, 9, 64];
        assert_eq!(words(&machine, at, 11), expected, "seed {seed}");
    }
}

#[test]
fn an_atomic_operation_and_a_plain_store_are_a_race() {
    let text = |store: &str| {
        body(&format!(
            "ld.param.u64 %rd1, [launch];\nmov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 0;\n\
             @%p1 {store} [%rd1], 4;\n@!%p1 red.global.add.u32 [%rd1], 1;"
        ))
    };
    for seed in 0..10 {
        for (store, kind) in [("st.global.u32", Some(Kind::Race)), ("st.relaxed.gpu.global.u32", None)] {
            let mut machine = Machine::new(seed);
            let at = holding(&mut machine, &[0; 4]);
            let ran = run(&mut machine, &text(store), 2, 1, &[at]);
            assert_eq!(ran.err().map(|fault| fault.kind()), kind, "{store}, seed {seed}");
        }
    }
}

#[test]
fn lanes_vote_and_match() {
    let program = body(
        "
    ld.param.u64 %rd1, [launch];
    mov.u32 %r1, %tid.x;
    rem.u32 %r2, %r1, 5;
    mov.b32 %b1, %r2;
    match.any.sync.b32 %b2, %b1, -1;
    setp.lt.u32 %p1, %r2, 2;
    vote.sync.ballot.b32 %b3, %p1, -1;
    mul.wide.u32 %rd2, %r1, 8;
    add.u64 %rd3, %rd1, %rd2;
    st.global.v2.b32 [%rd3], {%b2, %b3};",
    );
    let mut machine = Machine::new(3);
    let to = machine.alloc(64 * 8, 256);
    run(&mut machine, &program, 1, 64, &[to]).unwrap_or_else(|fault| panic!("{fault}"));
    for (thread, found) in words(&machine, to, 128).chunks_exact(2).enumerate() {
        let first = thread / 32 * 32;
        let lanes = |takes: &dyn Fn(usize) -> bool| {
            (0..32).filter(|lane| takes((first + lane) % 5)).fold(0u32, |all, lane| all | 1 << lane)
        };
        assert_eq!(found, [lanes(&|key| key == thread % 5), lanes(&|key| key < 2)]);
    }
}
