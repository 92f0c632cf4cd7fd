//! The limits of kernels, from their formulas: what a kernel cannot do with less of is all that it may use.

use super::count::KernelFacts;

/// Share of loads that edges of arrays may add.
const EDGES: f64 = 0.001;

/// The bytes of the machine code's loads and of the simulator's may be so far apart.
const APART: f64 = 0.01;

/// What is beyond its limits. No kernel spills registers. Elementwise kernels over contiguous operands
/// (family E1) load every operand once, 16 bytes at a time, without a barrier in a loop.
pub fn beyond(facts: &KernelFacts) -> Vec<String> {
    let mut all = Vec::new();
    if facts.spills > 0 {
        all.push(format!("{} bytes spilled", facts.spills));
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
        assert_eq!(beyond(&KernelFacts { group: "S2", narrow_loads: 1.0, ..good }), Vec::<String>::new());
    }
}
