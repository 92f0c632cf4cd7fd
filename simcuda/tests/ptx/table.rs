//! Single instructions over many operands: one entry for each, all in one module.

use crate::harness::program;
use simcuda::Machine;
use simcuda::ptx::Program;

/// An instruction on registers `d`, `a`, `b` and `c`, and the types of those registers; predicates are 0 or
/// 1.
pub struct Row {
    pub text: String,
    pub result: &'static str,
    pub operands: Vec<&'static str>,
}

impl Row {
    pub fn new(text: impl Into<String>, result: &'static str, operands: &[&'static str]) -> Row {
        Row { text: text.into(), result, operands: operands.to_vec() }
    }
}

fn bits(kind: &str) -> &str {
    if kind == "pred" { "32" } else { &kind[1..] }
}

fn entry(number: usize, row: &Row) -> String {
    let mut declared = format!("    .reg .{} d;\n", row.result);
    let mut loads = String::new();
    for (at, (name, kind)) in ["a", "b", "c"].iter().zip(&row.operands).enumerate() {
        declared += &format!("    .reg .{kind} {name};\n");
        loads += &match *kind {
            "pred" => format!("    ld.global.u32 %i4, [%a2+{}];\n    setp.ne.u32 {name}, %i4, 0;\n", at * 8),
            _ => format!("    ld.global.b{} {name}, [%a2+{}];\n", bits(kind), at * 8),
        };
    }
    let store = match row.result {
        "pred" => "    selp.u32 %i4, 1, 0, d;\n    st.global.u32 [%a4], %i4;\n".to_string(),
        kind => format!("    st.global.b{} [%a4], d;\n", bits(kind)),
    };
    format!(
        ".visible .entry e{number}(.param .align 8 .b8 launch[24])\n{{
    .reg .pred %p<2>;
    .reg .u32 %i<8>;
    .reg .u64 %a<8>;
{declared}    ld.param.u64 %a1, [launch];
    ld.param.u64 %a3, [launch+8];
    mov.u32 %i1, %ctaid.x;
    mov.u32 %i2, %tid.x;
    mad.lo.u32 %i3, %i1, 64, %i2;
    ld.param.u32 %i5, [launch+16];
    setp.ge.u32 %p1, %i3, %i5;
    @%p1 ret;
    mad.wide.u32 %a2, %i3, 24, %a1;
    mad.wide.u32 %a4, %i3, 8, %a3;
    st.global.u64 [%a4], 0;
{loads}    {}
{store}    ret;\n}}\n",
        row.text
    )
}

/// The results of every row for every triple of operands.
pub fn evaluate(rows: &[Row], inputs: &[[u64; 3]]) -> Vec<Vec<u64>> {
    let mut text = ".version 7.8\n.target sm_90\n.address_size 64\n".to_string();
    for (number, row) in rows.iter().enumerate() {
        text += &entry(number, row);
    }
    let program = program(&text);
    (0..rows.len()).map(|number| column(&program, number, inputs)).collect()
}

fn column(program: &Program, number: usize, inputs: &[[u64; 3]]) -> Vec<u64> {
    let mut machine = Machine::new(number as u64);
    let from = machine.alloc(inputs.len() as u64 * 24, 256);
    let to = machine.alloc(inputs.len() as u64 * 8, 256);
    let data: Vec<u8> = inputs.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
    machine.write(from, &data).unwrap();
    let params: Vec<u8> =
        [from, to, inputs.len() as u64].iter().flat_map(|value| value.to_le_bytes()).collect();
    let blocks = inputs.len().div_ceil(64) as u32;
    let result = machine.run(program, &format!("e{number}"), [blocks, 1, 1], [64, 1, 1], &params);
    result.unwrap_or_else(|fault| panic!("{fault}"));
    let mut bytes = vec![0; inputs.len() * 8];
    machine.read(to, &mut bytes).unwrap();
    bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
}

/// All triples of the values, or all pairs if the instruction takes no third operand.
pub fn triples(first: &[u64], second: &[u64], third: &[u64]) -> Vec<[u64; 3]> {
    let mut all = Vec::new();
    for a in first {
        for b in second {
            all.extend(third.iter().map(|c| [*a, *b, *c]));
        }
    }
    all
}
