//! The limits of kernels, from their formulas: what a kernel cannot do with less of is all that it may use.

use super::count::KernelFacts;

/// Share of loads that edges of arrays may add.
const EDGES: f64 = 0.001;

/// The bytes of the machine code's loads and of the simulator's may be so far apart.
const APART: f64 = 0.01;

/// What is beyond its limits. No kernel spills registers. Elementwise kernels over contiguous operands
/// (family E1) load every operand once, 16 bytes at a time, without a barrier in a loop. Sums of columns load
/// every column once, 4 bytes at least at a time. Stencils need what `stencils` says of them.
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
    }
    if facts.case == "sum_columns" {
        let (loads, words) =
            (facts.wide_loads + facts.narrow_loads, if facts.dtype.ends_with("16") { 0.5 } else { 1.0 });
        if loads > words * (1.0 + EDGES) {
            all.push(format!("{loads:.4} loads a point, {words:.4} suffice"));
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
        let bad = [
            KernelFacts { spills: 8, ..good.clone() },
            KernelFacts { wide_loads: 0.75, ..good.clone() },
            KernelFacts { narrow_loads: 0.5, ..good.clone() },
            KernelFacts { barriers_in_loops: 1, ..good.clone() },
            KernelFacts { agreement: 0.5, ..good.clone() },
        ];
        let words = ["spilled", "0.7500 loads", "less than 16", "barriers", "0.500 of the bytes"];
        for (facts, word) in bad.iter().zip(words) {
            let said = beyond(facts);
            assert!(said.len() == 1 && said[0].contains(word), "{said:?}");
        }
        assert_eq!(
            beyond(&KernelFacts { group: "S2", narrow_loads: 1.0, ..good.clone() }),
            Vec::<String>::new()
        );
        let columns = |dtype: &str, narrow_loads| {
            let (group, case, dtype) = ("R1", "sum_columns", dtype.to_owned());
            beyond(&KernelFacts { group, case, dtype, wide_loads: 0.0, narrow_loads, ..good.clone() }).len()
        };
        assert_eq!((columns("f16", 0.5), columns("bf16", 1.0), columns("f32", 1.0)), (0, 1, 0));
        let needs = Needs { registers: 88, loads: Some([0.9, 0.6]), first: 5 };
        let of = KernelFacts { group: "S2", needs: Some(needs), loads_before_use: 22, ..good };
        assert_eq!(beyond(&of), Vec::<String>::new());
        let bad = [
            KernelFacts { registers: 89, ..of.clone() },
            KernelFacts { wide_loads: 1.25, ..of.clone() },
            KernelFacts { narrow_loads: 0.7, ..of.clone() },
            KernelFacts { barriers_in_loops: 1, ..of.clone() },
            KernelFacts { loads_before_use: 4, ..of },
        ];
        let words = ["89 registers", "1.2500 loads", "0.7000 loads", "barriers", "4 loads before"];
        for (facts, word) in bad.iter().zip(words) {
            let said = beyond(facts);
            assert!(said.len() == 1 && said[0].contains(word), "{said:?}");
        }
    }
}
