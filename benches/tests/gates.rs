//! The two methods by which gates count accesses to memory, against each other: the walk through the machine
//! code, and the simulator's count of what lanes did.
#![allow(missing_docs, clippy::unwrap_used)]

use std::process::Command;

/// Kernels whose lanes lie side by side, where the machine code alone says how many sectors and wavefronts
/// there are.
const ALIGNED: [&str; 4] = ["copy", "triad", "sum", "max"];

#[test]
fn sectors_and_wavefronts_of_the_machine_code_are_those_that_were_counted() {
    let mut gates = Command::new(env!("CARGO_BIN_EXE_partita-bench"));
    // A stencil, too, whose floors are checked beside theirs.
    let cases = "=copy,=triad,=sum,=max,=stencil7";
    gates.args([
        "gates",
        "--target",
        "sm_80,sm_89,sm_90,sm_100",
        "--filter",
        cases,
        "--dtype",
        "f32",
        "--json",
    ]);
    let output = gates.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    if said.starts_with("skipped:") || wrong.contains("no simulated driver") {
        return println!("skipped: gates-counted ({said}{wrong})");
    }
    assert!(output.status.success(), "{said}{wrong}");
    let lines = said.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let mut compared = 0;
    for line in lines {
        if !ALIGNED.contains(&line["case"].as_str().unwrap()) {
            continue;
        }
        let pair = |name: &str| [0, 1].map(|k| line[name][k].as_f64().unwrap());
        for (what, walked, counted) in
            [0, 1].map(|k| (["sectors", "wavefronts"][k], pair("walked")[k], pair("counted")[k]))
        {
            let about = format!("{} {} {}", line["target"], line["case"], line["dtype"]);
            assert_eq!(line["is_whole"], true, "{about}");
            assert!(
                counted > 0.0 && (walked / counted - 1.0).abs() < 0.05,
                "{about}: {what} {walked:.1} in the machine code, {counted:.1} counted"
            );
            compared += 1;
        }
    }
    println!("ran: gates-counted {compared}");
}
