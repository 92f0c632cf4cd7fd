//! Shuffles, barriers, vectors and shared memory: programs whose threads work together, and what they
//! compute.

use crate::harness::{body, bytes, holding, run, words};
use simcuda::Machine;

/// The manual's definition of the lane that is read, and whether it is in range.
fn source(mode: &str, lane: i64, b: i64, c: i64) -> (i64, bool) {
    let (b, segment, clamp) = (b & 0x1f, c >> 8 & 0x1f, c & 0x1f);
    let most = (lane & segment) | (clamp & !segment);
    let least = lane & segment;
    let (from, good) = match mode {
        "up" => (lane - b, lane - b >= most),
        "down" => (lane + b, lane + b <= most),
        "bfly" => (lane ^ b, (lane ^ b) <= most),
        _ => {
            let from = least | (b & !segment);
            (from, from <= most)
        }
    };
    (if good { from } else { lane }, good)
}

#[test]
fn shuffles_of_every_mode_and_segment() {
    let mut compared = 0;
    for mode in ["up", "down", "bfly", "idx"] {
        let program = body(&format!(
            "
    ld.param.u64 %rd1, [launch];
    ld.param.u32 %r1, [launch+8];
    ld.param.u32 %r2, [launch+16];
    mov.u32 %r3, %tid.x;
    mul.lo.u32 %r4, %r3, 1000;
    mov.b32 %f1, %r4;
    shfl.sync.{mode}.b32 %f2|%p1, %f1, %r1, %r2, 0xffffffff;
    shfl.sync.{mode}.b32 %f1, %f1, %r1, %r2, 0xffffffff;
    selp.u32 %r5, 1, 0, %p1;
    mov.b32 %r6, %f2;
    mov.b32 %r7, %f1;
    mul.wide.u32 %rd2, %r3, 12;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r5;
    st.global.u32 [%rd3+4], %r6;
    st.global.u32 [%rd3+8], %r7;"
        ));
        for b in [0, 1, 2, 5, 16, 31, 33] {
            for c in [0x1f, 0, 7, 0x1807, 0x181f, 0x1000, 0x100f, 0x1c00] {
                let mut machine = Machine::new(b ^ c);
                let to = machine.alloc(64 * 12, 256);
                run(&mut machine, &program, 1, 64, &[to, b, c]).unwrap_or_else(|fault| panic!("{fault}"));
                for (thread, found) in words(&machine, to, 192).chunks_exact(3).enumerate() {
                    let (lane, first) = (thread as i64 % 32, thread as i64 / 32 * 32);
                    let (from, good) = source(mode, lane, b as i64, c as i64);
                    let expected = ((first + from) * 1000) as u32;
                    assert_eq!(found, [good as u32, expected, expected], "{mode} {b} {c:#x} {thread}");
                    compared += 1;
                }
            }
        }
    }
    println!("ran: simcuda-shuffles {compared}");
    assert_eq!(compared, 4 * 7 * 8 * 64);
}

/// The sum of all threads' numbers: shuffles within warps, shared memory and a barrier between them.
const SUM: &str = "
    .shared .align 4 .b8 sums[32];
    ld.param.u64 %rd1, [launch];
    ld.param.u64 %rd2, [launch+8];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r9, %ntid.x;
    mad.lo.u32 %r3, %r2, %r9, %r1;
    mul.wide.u32 %rd3, %r3, 4;
    add.u64 %rd4, %rd1, %rd3;
    ld.global.nc.u32 %r4, [%rd4];
    mov.u32 %r5, 16;
AGAIN:
    shfl.sync.down.b32 %r6, %r4, %r5, 31, -1;
    add.u32 %r4, %r4, %r6;
    shr.u32 %r5, %r5, 1;
    setp.ne.u32 %p1, %r5, 0;
    @%p1 bra AGAIN;
    mov.u32 %r10, %laneid;
    setp.eq.u32 %p2, %r10, 0;
    shr.u32 %r7, %r1, 3;
    mov.u32 %r8, sums;
    add.u32 %r8, %r8, %r7;
    @%p2 st.shared.u32 [%r8], %r4;
    bar.sync 0;
    setp.ne.u32 %p3, %r1, 0;
    @%p3 ret;
    ld.shared.u32 %r11, [sums];
    ld.shared.v2.u32 {%r12, %r13}, [sums+8];
    ld.shared.u32 %r14, [sums+4];
    add.u32 %r11, %r11, %r12;
    add.u32 %r11, %r11, %r13;
    add.u32 %r11, %r11, %r14;
    mul.wide.u32 %rd5, %r2, 4;
    add.u64 %rd6, %rd2, %rd5;
    st.global.u32 [%rd6], %r11;";

#[test]
fn a_sum_over_blocks_of_warps() {
    let program = body(&SUM.replace(".align 4", ".align 8"));
    let numbers: Vec<u32> = (0..128 * 5).map(|i| i * i % 1009).collect();
    let data: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let expected: Vec<u32> = numbers.chunks(128).map(|block| block.iter().sum()).collect();
    for seed in 0..10 {
        let mut machine = Machine::new(seed);
        let (from, to) = (holding(&mut machine, &data), machine.alloc(20, 256));
        let accesses =
            run(&mut machine, &program, 5, 128, &[from, to]).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(words(&machine, to, 5), expected);
        assert_eq!((accesses.reads, accesses.writes), (vec![from..from + 2560], vec![to..to + 20]));
    }
}

#[test]
fn vectors_of_every_type() {
    let forms = [
        ("b8", "%h"),
        ("u8", "%r"),
        ("s8", "%s"),
        ("b16", "%h"),
        ("u16", "%us"),
        ("s16", "%ss"),
        ("b32", "%b"),
        ("u32", "%r"),
        ("s32", "%s"),
        ("f32", "%f"),
        ("b64", "%q"),
        ("u64", "%rd1"),
        ("s64", "%sd"),
        ("f64", "%fd"),
    ];
    let mut compared = 0;
    for (kind, register) in forms {
        let size: usize = kind[1..].parse::<usize>().unwrap() / 8;
        for count in [1, 2, 4] {
            if size * count > 16 {
                continue;
            }
            for (nc, to_hint) in [("", ""), (".nc", ".cs"), (".cg", ".wt"), (".nc.L1::no_allocate", ".cg")] {
                let total = size * count;
                let names: Vec<String> = (1..=count).map(|i| format!("{register}{i}")).collect();
                let back: Vec<String> = names.iter().rev().cloned().collect();
                let (form, list, back) = match count {
                    1 => (String::new(), names[0].clone(), names[0].clone()),
                    _ => (
                        format!(".v{count}"),
                        format!("{{{}}}", names.join(", ")),
                        format!("{{{}}}", back.join(", ")),
                    ),
                };
                let program = body(&format!(
                    "
    .shared .align 16 .b8 stage[32];
    ld.param.u64 %rd1, [launch];
    ld.param.u64 %rd2, [launch+8];
    cvta.to.global.u64 %rd1, %rd1;
    ld.global{nc}{form}.{kind} {list}, [%rd1+{total}];
    st.shared{form}.{kind} [stage+{total}], {list};
    ld.shared{form}.{kind} {list}, [stage+{total}];
    st.global{to_hint}{form}.{kind} [%rd2+{total}], {back};"
                ));
                let data: Vec<u8> = (0..32u8).map(|i| (0x70 + i).wrapping_mul(7)).collect();
                let mut machine = Machine::new(0);
                let (from, to) = (holding(&mut machine, &data), machine.alloc(32, 256));
                run(&mut machine, &program, 1, 1, &[from, to]).unwrap_or_else(|fault| panic!("{fault}"));
                let expected: Vec<u8> = data[total..2 * total].rchunks(size).flatten().copied().collect();
                assert_eq!(bytes(&machine, to + total as u64, total), expected, "{kind} {count}");
                compared += 1;
            }
        }
    }
    println!("ran: simcuda-vectors {compared}");
    assert_eq!(compared, 4 * (10 * 3 + 4 * 2));
}

#[test]
fn small_loads_extend_and_small_stores_cut() {
    let program = body(
        "
    ld.param.u64 %rd1, [launch];
    ld.param.u64 %rd2, [launch+8];
    ld.param.u8 %r9, [launch+1];
    ld.global.u8 %r1, [%rd1];
    ld.global.s8 %s2, [%rd1];
    ld.global.s8 %ss3, [%rd1];
    ld.global.b8 %h4, [%rd1];
    ld.global.s16 %s5, [%rd1];
    ld.global.u16 %r6, [%rd1];
    ld.global.s8 %sd7, [%rd1];
    st.global.u32 [%rd2], %r1;
    st.global.s32 [%rd2+4], %s2;
    st.global.s16 [%rd2+8], %ss3;
    st.global.b16 [%rd2+10], %h4;
    st.global.s32 [%rd2+12], %s5;
    st.global.u32 [%rd2+16], %r6;
    st.global.u8 [%rd2+20], %s5;
    st.global.u8 [%rd2+21], -2;
    st.global.u16 [%rd2+22], %r6;
    st.global.u64 [%rd2+24], %sd7;
    st.global.v2.f32 [%rd2+32], {0f3F800000, 0fBF800000};",
    );
    let mut machine = Machine::new(0);
    let (from, to) = (holding(&mut machine, &[0x80, 0x91]), machine.alloc(40, 256));
    run(&mut machine, &program, 1, 1, &[from, to]).unwrap_or_else(|fault| panic!("{fault}"));
    let found = words(&machine, to, 10);
    assert_eq!(found[..3], [0x80, 0xffff_ff80, 0x0080_ff80]);
    assert_eq!(found[3..6], [0xffff_9180, 0x9180, 0x9180_fe80]);
    assert_eq!(found[6..], [0xffff_ff80, 0xffff_ffff, 0x3f80_0000, 0xbf80_0000]);
}

#[test]
fn special_registers_in_three_dimensions() {
    let program = body(
        "
    ld.param.u64 %rd1, [launch];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    mov.u32 %r3, %tid.z;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %ntid.y;
    mov.u32 %r6, %ntid.z;
    mov.u32 %r7, %ctaid.x;
    mov.u32 %r8, %ctaid.y;
    mov.u32 %r9, %ctaid.z;
    mov.u32 %r10, %nctaid.x;
    mov.u32 %r11, %nctaid.y;
    mov.u32 %r12, %nctaid.z;
    mad.lo.u32 %r13, %r9, %r11, %r8;
    mad.lo.u32 %r13, %r13, %r10, %r7;
    mad.lo.u32 %r13, %r13, %r6, %r3;
    mad.lo.u32 %r13, %r13, %r5, %r2;
    mad.lo.u32 %r13, %r13, %r4, %r1;
    mov.u32 %r14, %laneid;
    activemask.b32 %r15;
    popc.b32 %r15, %r15;
    shl.b32 %r16, %r12, 8;
    or.b32 %r15, %r15, %r16;
    mul.wide.u32 %rd2, %r13, 8;
    add.u64 %rd3, %rd1, %rd2;
    st.global.v2.u32 [%rd3], {%r14, %r15};",
    );
    let mut machine = Machine::new(9);
    let to = machine.alloc(2 * 3 * 4 * 5 * 2 * 4 * 8, 256);
    let params = crate::harness::params(&[to]);
    machine.run(&program, "k", [2, 3, 4], [5, 2, 4], &params).unwrap_or_else(|fault| panic!("{fault}"));
    for (at, pair) in words(&machine, to, 2 * 24 * 40).chunks_exact(2).enumerate() {
        assert_eq!(pair, [at as u32 % 40 % 32, 4 << 8 | 1]);
    }
}
