//! The limits of kernels, from their formulas: what a kernel cannot do with less of is all that it may use.

use super::count::KernelFacts;

/// Share of loads that edges of arrays may add.
const EDGES: f64 = 0.001;

/// The bytes of the machine code's loads and of the simulator's may be so far apart.
const APART: f64 = 0.01;

/// Of f32, f64, f16 and bf16. Instructions a point, where arithmetic is not little beside the loads: what the
/// kernels have come to need. Every value of 16 bits takes one to be widened and one to be added.
const INSTRUCTIONS: &[(&str, [f64; 4])] =
    &[("expsin", [81.0, 184.0, 41.5, 51.5]), ("sum", [4.6, 9.7, 3.8, 4.5])];

/// Loads a point of any width. Sums of columns load a word at least; both of `turned_too`'s arrays are loaded
/// once, if the squares on the diagonal, 1 in 256, count twice.
const LOADS: &[(&str, [f64; 4])] =
    &[("sum_columns", [1.001, 1.001, 0.5005, 0.5005]), ("turned_too", [2.0 + 2.0 / 256.0 + 0.001; 4])];

/// KB of an entry's text, as it is now: what a driver compiles before the first launch grows with it, and the
/// assembler's times vary too much for a limit.
const TEXT: &[(&str, [f64; 4])] = &[
    ("stencil5", [8.0, 6.0, 16.0, 18.0]),
    ("stencil7", [18.0, 12.0, 41.0, 47.0]),
    ("stencil9", [10.0, 7.0, 20.0, 23.0]),
    ("stencil13", [16.0, 11.0, 38.0, 42.0]),
    ("stencil25", [124.0, 115.0, 124.0, 141.0]),
    ("stencil27", [112.0, 82.0, 119.0, 134.0]),
    ("heat", [22.0, 14.0, 49.0, 57.0]),
    ("gray_scott", [25.0, 16.0, 54.0, 63.0]),
    ("wave", [97.0, 86.0, 92.0, 100.0]),
    ("shallow_water", [29.0, 18.0, 60.0, 72.0]),
    ("d3q19", [21.0, 21.0, 37.0, 56.0]),
    ("turned_too", [33.0, 33.0, 35.0, 37.0]),
    ("sum_columns", [19.0, 16.0, 27.0, 31.0]),
    ("sum", [22.0, 19.0, 41.0, 49.0]),
    ("expsin", [67.0, 58.0, 31.0, 112.0]),
];

/// The facts beyond their limits. No kernel spills registers. Elementwise kernels over contiguous operands
/// (family E1) load every operand once, 16 bytes at a time, without a barrier in a loop. Stencils need what
/// `stencils` says of them, others what the tables above say.
pub fn beyond(facts: &KernelFacts) -> Vec<String> {
    let mut all = Vec::new();
    if facts.spills > 0 {
        all.push(format!("{} bytes spilled", facts.spills));
    }
    if let Some(needs) = facts.needs {
        if facts.registers > needs.registers {
            all.push(format!("{} registers, at most {}", facts.registers, needs.registers));
        }
        for (given, most) in
            [facts.wide_loads, facts.narrow_loads].into_iter().zip(needs.loads.unwrap_or([f64::MAX; 2]))
        {
            if given > most {
                all.push(format!("{given:.4} loads a point, at most {most:.4}"));
            }
        }
        if facts.barriers_in_loops > 0 && needs.loads.is_some() {
            all.push(format!("{} barriers in loops", facts.barriers_in_loops));
        }
        if facts.loads_before_use < needs.first {
            all.push(format!(
                "{} loads before the first use, at least {}",
                facts.loads_before_use, needs.first
            ));
        }
        let threads: u32 = facts.block.iter().product();
        if let Some([least, most]) = needs.block.filter(|[least, most]| !(*least..=*most).contains(&threads))
        {
            all.push(format!("blocks of {threads} threads, {least} to {most} suffice"));
        }
    }
    let column = ["f32", "f64", "f16", "bf16"].into_iter().position(|dtype| dtype == facts.dtype);
    let table = |rows: &[(&str, [f64; 4])]| {
        let row = rows.iter().find(|(case, _)| *case == facts.case);
        row.zip(column).map(|((_, most), column)| most[column])
    };
    let counts = [
        (INSTRUCTIONS, facts.instructions, "instructions a point"),
        (LOADS, facts.wide_loads + facts.narrow_loads, "loads a point"),
        (TEXT, facts.text_bytes as f64 / 1000.0, "KB of text"),
    ];
    for (rows, given, what) in counts {
        if let Some(most) = table(rows).filter(|most| given > *most) {
            all.push(format!("{given:.2} {what}, at most {most:.2}"));
        }
    }
    if facts.group == "E1" {
        if facts.wide_loads > facts.least_loads * (1.0 + EDGES) {
            all.push(format!("{:.4} loads a point, {:.4} suffice", facts.wide_loads, facts.least_loads));
        }
        if facts.narrow_loads > facts.least_loads * EDGES {
            all.push(format!("{:.4} loads a point of less than 16 bytes", facts.narrow_loads));
        }
        if facts.barriers_in_loops > 0 {
            all.push(format!("{} barriers in loops", facts.barriers_in_loops));
        }
        if (facts.agreement - 1.0).abs() > APART {
            all.push(format!("its loads bring {:.3} of the bytes that were counted", facts.agreement));
        }
    }
    all.into_iter().map(|what| format!("{} {} {}: {what}", facts.target, facts.case, facts.dtype)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::stencils::Needs;
    use super::*;

    #[test]
    fn each_limit_is_named_when_it_is_passed() {
        let good = KernelFacts {
            target: "sm_90",
            group: "E1",
            case: "triad",
            dtype: "f32".to_owned(),
            wide_loads: 0.5,
            least_loads: 0.5,
            agreement: 1.0,
            ..KernelFacts::default()
        };
        assert_eq!(beyond(&good), Vec::<String>::new());
        let of_elements = [
            (KernelFacts { spills: 8, ..good.clone() }, "spilled"),
            (KernelFacts { wide_loads: 0.75, ..good.clone() }, "0.7500 loads"),
            (KernelFacts { narrow_loads: 0.5, ..good.clone() }, "less than 16"),
            (KernelFacts { barriers_in_loops: 1, ..good.clone() }, "barriers"),
            (KernelFacts { agreement: 0.5, ..good.clone() }, "0.500 of the bytes"),
        ];
        assert_eq!(
            beyond(&KernelFacts { group: "S2", narrow_loads: 1.0, ..good.clone() }),
            Vec::<String>::new()
        );
        let columns = |dtype: &str, narrow_loads| {
            let (group, case, dtype) = ("R1", "sum_columns", dtype.to_owned());
            beyond(&KernelFacts { group, case, dtype, wide_loads: 0.0, narrow_loads, ..good.clone() }).len()
        };
        assert_eq!((columns("f16", 0.5), columns("bf16", 1.0), columns("f32", 1.0)), (0, 1, 0));
        let needs = Needs { registers: 88, loads: Some([0.9, 0.6]), first: 14, block: Some([256, 512]) };
        let block = [32, 8, 1];
        let of = KernelFacts { group: "S2", needs: Some(needs), loads_before_use: 22, block, ..good };
        assert_eq!(beyond(&of), Vec::<String>::new());
        let turned = KernelFacts { case: "turned_too", narrow_loads: 0.1, wide_loads: 0.9, ..of.clone() };
        let expsin = KernelFacts { case: "expsin", dtype: "f16".to_owned(), ..of.clone() };
        let of_stencils = [
            (KernelFacts { registers: 89, ..of.clone() }, "89 registers"),
            (KernelFacts { wide_loads: 1.25, ..of.clone() }, "1.2500 loads"),
            (KernelFacts { narrow_loads: 0.7, ..of.clone() }, "0.7000 loads"),
            (KernelFacts { barriers_in_loops: 1, ..of.clone() }, "barriers"),
            (KernelFacts { loads_before_use: 13, ..of.clone() }, "13 loads before"),
            (KernelFacts { block: [128, 1, 1], ..of }, "blocks of 128"),
            (KernelFacts { text_bytes: 33_001, ..turned }, "33.00 KB of text"),
            (KernelFacts { instructions: 42.1, ..expsin }, "42.10 instructions"),
        ];
        for (facts, word) in of_elements.iter().chain(&of_stencils) {
            let said = beyond(facts);
            assert!(said.len() == 1 && said[0].contains(word), "{said:?}");
        }
    }
}
