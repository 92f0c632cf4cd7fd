//! Texts that are refused, each with what is said of it; and whether the real assembler refuses it too. Where
//! it does not, the text lies outside the subset or leaves something open that must not stay open.

use crate::harness::{assemble, assembler_says, module, program};
use simcuda::ptx::Program;

/// Refused by both.
const WRONG: &[(&str, &str)] = &[
    ("mov.u32 %r99, 1;", "no register `%r99`"),
    ("mov.u32 %x1, 1;", "no register `%x1`"),
    ("mov.u32 %r1, %rd1;", "`%rd1` is .u64, which does not serve as .u32"),
    ("mov.u32 %r1, %f1;", "`%f1` is .f32, which does not serve as .u32"),
    ("mov.f32 %f1, %r1;", "`%r1` is .u32"),
    ("mov.u64 %rd1, %r1;", "`%r1` is .u32"),
    ("mov.u32 %r1, %p1;", "`%p1` is .pred"),
    ("mov.pred %p1, %r1;", "`%r1` is .u32"),
    ("mov.f32 %f1, 1;", "Integer(1) does not serve as .f32"),
    ("mov.u32 %r1, 0f3F800000;", "does not serve as .u32"),
    ("mov.u32 5, %r1;", "the result must be a register"),
    ("mov.u32 %tid.x, %r1;", "no register `%tid.x`"),
    ("mov.u64 %rd1, %tid.x;", "`%tid.x` is .u32"),
    ("mov.u32 %r1, %r2, %r3;", "takes 2 operands"),
    ("mov.u32 %r1 %r2;", "expected `;`, not `%r2`"),
    ("mov.b8 %h1, %h2;", "no instruction of this subset"),
    ("mov.u32 %r1, {%h1, %h2};", "no packing of 2 values"),
    ("mov.b32 %r1, {%r2, %r3};", "does not serve as .b16"),
    ("mov.b64 {%r1, %f1}, %rd1;", "registers of one type"),
    ("mov.u16 %us1, stage;\n.shared .align 4 .b8 stage[4];", "no register `stage`"),
    ("add.b32 %r1, %r2, %r3;", "no instruction of this subset"),
    ("add.u32 %r1, %r2;", "takes 3 operands"),
    ("add.u32 %r1, %tid.x, 1;", "no register `%tid.x`"),
    ("add.u32 %r1, %us1, 1;", "`%us1` is .u16"),
    ("add.s32 %f1, %s1, %s1;", "`%f1` is .f32"),
    ("red.acquire.gpu.global.add.u32 [%rd1], 1;", "no instruction"),
    ("abs.u32 %r1, %r2;", "no instruction"),
    ("neg.u32 %r1, %r2;", "no instruction"),
    ("mul.u32 %r1, %r2, %r3;", "no instruction"),
    ("mul.wide.u64 %rd1, %rd2, %rd3;", "no instruction"),
    ("mul.wide.u32 %r1, %r2, %r3;", "`%r1` is .u32"),
    ("and.u32 %r1, %r2, %r3;", "no instruction"),
    ("shl.u32 %r1, %r2, 1;", "no instruction"),
    ("shl.b64 %rd1, %rd2, %rd3;", "`%rd3` is .u64"),
    ("bfe.b32 %r1, %r2, 1, 1;", "no instruction"),
    ("clz.u32 %r1, %r2;", "no instruction"),
    ("div.f32 %f1, %f2, %f3;", "no instruction"),
    ("fma.f32 %f1, %f2, %f3, %f1;", "no instruction"),
    ("sqrt.f32 %f1, %f2;", "no instruction"),
    ("add.rn.u32 %r1, %r2, %r3;", "no instruction"),
    ("add.rn.f16x2 %f1, %b1, %b2;", "`%f1` is .f32"),
    ("add.rn.bf16x2 %b1, %b2, %b3;", "needs sm_90"),
    ("mov.f16x2 %b1, %b2;", "no instruction"),
    ("setp.lt.b32 %p1, %b1, %b2;", "no instruction"),
    ("setp.lo.s32 %p1, %s1, %s2;", "no instruction"),
    ("setp.equ.u32 %p1, %r1, %r2;", "no instruction"),
    ("setp.hi.f32 %p1, %f1, %f2;", "no instruction"),
    ("setp.lt.u32 %r1, %r2, %r3;", "`%r1` is .u32"),
    ("setp.lt.and.u32 %p1, %r1, %r2;", "one predicate"),
    ("selp.pred %p1, %p2, %p3, %p4;", "no instruction"),
    ("selp.u32 %r1, %r2, %r3, %r4;", "`%r4` is .u32"),
    ("cvt.f32.u32 %f1, %r1;", "no instruction"),
    ("cvt.u32.f32 %r1, %f1;", "no instruction"),
    ("cvt.f32.f64 %f1, %fd1;", "no instruction"),
    ("cvt.rn.f64.f32 %fd1, %f1;", "no instruction"),
    ("cvt.rni.f32.f64 %f1, %fd1;", "no instruction"),
    ("cvt.rn.u32.f32 %r1, %f1;", "no instruction"),
    ("cvt.sat.u32.u8 %r1, %us1;", "no instruction"),
    ("cvt.rn.bf16.f64 %h1, %fd1;", "no instruction"),
    ("cvt.rn.f16.f32 %us1, %f1;", "`%us1` is .u16"),
    ("cvt.u32.u64 %r1, %r2;", "`%r2` is .u32"),
    ("cvt.u64.u32 %r1, %r2;", "`%r1` is .u32"),
    ("cvt.b32.u32 %r1, %r2;", "no instruction"),
    ("cvta.to.global.u32 %r1, %r2;", "no instruction"),
    ("ld.global.u32 %r1, [%r2];", "holds no address here"),
    ("ld.global.u32 %r1, [%fd2];", "holds no address here"),
    ("ld.global.u32 %r1, %rd1;", "expected an address"),
    ("ld.global.u16 %f1, [%rd1];", "`%f1` is .f32"),
    ("ld.global.f32 %fd1, [%rd1];", "`%fd1` is .f64"),
    ("ld.global.f32 %rd2, [%rd1];", "`%rd2` is .u64"),
    ("ld.global.u64 %r1, [%rd1];", "`%r1` is .u32"),
    ("ld.global.f32 %r1, [%rd1];", "`%r1` is .u32"),
    ("ld.global.v4.f32 {%f1, %f2}, [%rd1];", "expected 4 values, not 2"),
    ("ld.global.v2.f32 %f1, [%rd1];", "expected a vector of 2"),
    ("ld.global.v3.f32 {%f1, %f2, %f3}, [%rd1];", "no instruction"),
    ("ld.global.v4.f64 {%fd1, %fd2, %fd3, %fd4}, [%rd1];", "at most 16 bytes"),
    ("ld.global.v2.u8 {%us1, %r2}, [%rd1];", "one width"),
    ("ld.global.f16 %h1, [%rd1];", "no instruction"),
    ("ld.global.nc.cs.L1::no_allocate.f32 %f1, [%rd1];", "no instruction"),
    ("ld.shared.nc.f32 %f1, [%r1];", "no instruction"),
    ("ld.shared.f32 %f1, [64];", "expected a register or an array"),
    ("st.global.f32 [%rd1-4], %f1;", "expected `]`, not `-`"),
    ("st.global.f32 [%rd1], %r1;", "`%r1` is .u32"),
    ("st.global.nc.f32 [%rd1], %f1;", "no instruction"),
    ("st.param.u32 [launch], %r1;", "no instruction"),
    ("bar.sync 16;", "only `bar.sync 0`"),
    ("shfl.sync.down.u32 %r1, %r2, 1, 31, -1;", "no instruction"),
    ("shfl.down.b32 %r1, %r2, 1, 31;", "no instruction"),
    ("shfl.sync.down.b32 %r1|%r3, %r2, 1, 31, -1;", "`%r3` is .u32"),
    ("shfl.sync.down.b32 %r1, %r2, 1, 31;", "takes 5 operands, not 4"),
    ("shfl.sync.down.b32 %rd1, %r2, 1, 31, -1;", "`%rd1` is .u64"),
    ("bra NOWHERE;", "no label `NOWHERE`"),
    ("TWICE:\nTWICE:", "stands here twice"),
    ("@%r1 ret;", "`%r1` is .u32"),
    ("@%p1 @%p2 ret;", "expected an instruction"),
    ("frobnicate.u32 %r1, %r2;", "`frobnicate.u32` is no instruction"),
    ("add.f31.rn %f1, %f2, %f3;", "no instruction"),
    (".reg .u32 %r<4>;", "declared twice"),
    (".reg .u32 again, again;", "declared twice"),
    (".reg .u31 again;", "no registers of type"),
    (".shared .align 3 .b8 stage[4];", "a power of two"),
    (".shared .align 4 .b8 stage[0];", "1 to 49152 bytes"),
    (".shared .align 4 .b8 stage[49153];", "1 to 49152 bytes"),
    (".shared .align 4 .b8 a[49000];\n.shared .align 4 .b8 b[400];", "1 to 49152 bytes"),
    ("mov.u32 %r1, 0xfffffffffffffffff;", "is no decimal"),
    ("mov.f32 %f1, 0f3F80;", "is no decimal"),
    ("mov.u32 %r1, §;", "is not used in PTX"),
];

/// Refused here alone.
const OUTSIDE: &[(&str, &str)] = &[
    ("mov.u32 %r01, 1;", "no register `%r01`"),
    ("add.f32 %f1, %f2, %f3;", "no instruction"),
    ("mul.rz.f32 %f1, %f2, %f3;", "no instruction"),
    ("add.ftz.f32 %f1, %f2, %f3;", "no instruction"),
    ("add.rn.ftz.f32 %f1, %f2, %f3;", "no instruction"),
    ("div.full.f32 %f1, %f2, %f3;", "no instruction"),
    ("div.approx.f32 %f1, %f2, %f3;", "no instruction"),
    ("ex2.approx.f32 %f1, %f2;", "no instruction"),
    ("min.f32 %f1, %f2, %f3;", "no instruction"),
    ("add.sat.s32 %s1, %s2, %s3;", "no instruction"),
    ("mad.hi.u32 %r1, %r2, %r3, %r4;", "no instruction"),
    ("prmt.b32.rc8 %r1, %r2, %r3, 1;", "no instruction"),
    ("cvt.f32.bf16 %f1, %h1;", "shift by 16"),
    ("cvt.rn.sat.f32.f64 %f1, %fd1;", "no instruction"),
    ("mov.u16 %us1, 65536;", "65536 does not fit .u16"),
    ("mov.u32 %r1, 4294967296;", "does not fit .u32"),
    ("add.s16 %ss1, %ss2, -32769;", "does not fit .s16"),
    ("mov.f32 %f1, 0d3FF0000000000000;", "does not serve as .f32"),
    ("mov.f64 %fd1, 0f3F800000;", "does not serve as .f64"),
    ("mov.f32 %f1, 1.0;", "no register `1.0`"),
    ("mov.u32 %r1, 017;", "is no decimal"),
    ("mov.u32 %r1, 5U;", "is no decimal"),
    ("setp.lt.and.u32 %p1, %r1, %r2, !%p2;", "expected an operand, not `!`"),
    ("setp.lt.u32.and %p1, %r1, %r2, %p2;", "no instruction"),
    ("ld.u32 %r1, [%rd1];", "no instruction"),
    ("ld.volatile.shared.u32 %r1, [%r2];", "no instruction"),
    ("ld.acquire.cta.global.u32 %r1, [%rd1];", "no instruction"),
    ("ld.global.v4.nc.f32 {%f1, %f2, %f3, %f4}, [%rd1];", "no instruction"),
    ("ld.param.v2.u32 {%r1, %r2}, [launch];", "no instruction"),
    ("ld.global.f32 %q1, [%rd1];", "`%q1` is .b64"),
    ("atom.global.inc.u32 %r1, [%rd1], 1;", "no instruction"),
    ("atom.global.add.f32 %f1, [%rd1], %f2;", "no instruction"),
    ("membar.cta;", "no instruction"),
    ("barrier.sync 0;", "no instruction"),
    ("bar.sync 1;", "only `bar.sync 0`"),
    ("bar.sync 0, 32;", "only `bar.sync 0`"),
    ("bar.warp.sync -1;", "only `bar.sync 0`"),
    ("vote.sync.any.pred %p1, %p2, -1;", "no instruction"),
    ("ret.uni;", "no instruction"),
    ("{ mov.u32 %r1, 1; }", "expected a statement"),
    (".const .align 4 .b8 here[4];", "no instruction or directive"),
    (".local .align 4 .b8 here[4];", "no instruction or directive"),
    (".shared .align 4 .f32 stage[4];", "expected `.b8`"),
];

fn refused(text: &str, message: &str) {
    let error = Program::parse(text).expect_err(text).to_string();
    assert!(error.contains(message), "{error}; expected {message}");
}

#[test]
fn bodies() {
    let mut surprises = Vec::new();
    for (real, texts) in [(false, WRONG), (true, OUTSIDE)] {
        for (body, message) in texts {
            let text = module(body);
            match Program::parse(&text) {
                Ok(_) => surprises.push(format!("{body}: taken")),
                Err(error) if error.to_string().contains(message) => {}
                Err(error) => surprises.push(format!("{body}: {error}; expected {message}")),
            }
            if let Some((taken, said)) = assembler_says(&text).filter(|(taken, _)| *taken != real) {
                surprises.push(format!("{body}: ptxas takes it: {taken}. {said}"));
            }
        }
    }
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
    println!("ran: simcuda-refusals {}", WRONG.len() + OUTSIDE.len());
}

#[test]
fn an_error_names_line_and_text() {
    let text = module("    mov.u32 %r1, 1;\n    mov.u32 %r1,\n       %rd1; // here");
    let error = Program::parse(&text).unwrap_err();
    assert_eq!((error.line, error.text.as_str()), (19, "mov.u32 %r1,"));
    assert_eq!(
        error.to_string(),
        "PTX line 19: register `%rd1` is .u64, which does not serve as .u32: `mov.u32 %r1,`"
    );
    let error = Program::parse(&module("    mov.u32 %r1, 1;\n    bra AWAY;\n    ret;")).unwrap_err();
    assert_eq!(error.to_string(), "PTX line 19: no label `AWAY`: `bra AWAY;`");
}

#[test]
fn headers_and_entries() {
    let good = module("");
    program(&good);
    let wrong = [
        (".version 7.8", ".version 6.9", "not between 7.0 and 8.9"),
        (".version 7.8", "", "expected `.version`"),
        (".version 7.8\n.target sm_80", ".version 7.0\n.target sm_90", "needs PTX 7.8"),
        (".version 7.8\n.target sm_80", ".version 7.8\n.target sm_100", "needs PTX 8.6"),
        (".target sm_80", ".target sm_81", "none of sm_75"),
        (".address_size 64", "", "expected `.address_size`"),
        (".visible", ".invisible", "expected `.visible`"),
        (".b8 launch[64]", ".b8 launch[0]", "expected 1 to 4096"),
        (".b8 launch[64]", ".b8 launch[4097]", "expected 1 to 4096"),
        ("launch[64])", "launch[64]) .maxntid 32 .reqntid 32", "conflicts"),
        ("launch[64])", "launch[64]) .sometimes", "unknown or conflicts"),
        ("    ret;\n}", "    ret;\n", "not the end"),
    ];
    for (from, to, message) in wrong {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good);
        refused(&text, message);
    }
    refused(&format!("{good}{}", &good[good.find(".visible").unwrap()..]), "stands here twice");
    let hint = "    ld.global.nc.L1::no_allocate.f32 %f1, [%rd1];";
    program(&module(hint));
    let old = module(hint).replace(".version 7.8", ".version 7.0");
    assemble(&old, false);
    refused(&old, "needs PTX 7.4");
    let narrow = module("    cvt.rn.bf16.f32 %h1, %f1;");
    program(&narrow);
    let old = narrow.replace("sm_80", "sm_75");
    assemble(&old, false);
    refused(&old, "needs sm_80");
}

#[test]
fn good_texts_of_every_target() {
    let two = "
// Two entries, which share nothing.
.visible .entry first(.param .align 8 .b8 launch[8])
.reqntid 64, 2
.minnctapersm 1
{
    .reg .u64 a, b<3>, $c;
    .reg .pred %p;
    .shared .align 8 .b8 _stage[64];
    ld.param.u64 a, [launch+0x0];
    mov.u64 b2, _stage;
    add.u64 $c, b2, 0x10;
    setp.eq.u64 %p, a, 0;
    @%p bra.uni $L_end;
    st.shared.u64 [$c+-8], a;
$L_end:
    @!%p exit;
}
.visible .entry second(.param .align 8 .b8 other[4096]) { ret; }
";
    for (target, version) in [(75, "7.0"), (80, "7.0"), (90, "7.8"), (100, "8.6")] {
        let text = format!(".version {version}\n.target sm_{target}\n.address_size 64\n{two}");
        let program = program(&text);
        assert_eq!(program.entries().collect::<Vec<_>>(), ["first", "second"]);
        let first = program.entry("first").unwrap();
        assert_eq!((first.param_bytes(), first.shared_bytes()), (8, 64));
        assert_eq!(program.entry("second").unwrap().param_bytes(), 4096);
    }
}
