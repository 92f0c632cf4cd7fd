//! The facts of kernels on the targets: within their limits, and the machine code's loads are those that the
//! simulator counted.
#![allow(missing_docs, clippy::unwrap_used)]

use std::process::Command;

#[test]
fn kernels_keep_their_limits_and_load_what_was_counted() {
    let mut facts = Command::new(env!("CARGO_BIN_EXE_partita-bench"));
    let cases = "=copy,=triad,=fused8,=sum,=max,=stencil7,=odd_cube";
    facts.args(["facts", "--target", "sm_80,sm_89,sm_90,sm_100", "--filter", cases]);
    let output = facts.args(["--dtype", "f32", "--json"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    if said.starts_with("skipped:") || wrong.contains("no simulated driver") {
        return println!("skipped: facts-counted ({said}{wrong})");
    }
    assert!(output.status.success(), "{said}{wrong}");
    let mut counted = 0;
    for line in said.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()) {
        let about = format!("{} {}", line["target"], line["case"]);
        let number = |name: &str| line[name].as_f64().unwrap();
        // Rows of a stencil are loaded in part by some lanes, and copied into shared memory.
        let is_whole = !["stencil7", "odd_cube"].contains(&line["case"].as_str().unwrap());
        // Extents that are no multiples of a vector go the same way.
        assert!(is_whole || line["entry"].as_str().unwrap().starts_with("planes"), "{about}: {line}");
        assert!(!is_whole || (number("agreement") - 1.0).abs() < 0.01, "{about}: {line}");
        assert!(!is_whole || number("loads_before_use") >= 1.0, "{about}: {line}");
        assert!((16.0..=255.0).contains(&number("registers")), "{about}: {line}");
        // Every operand of every point is loaded, so at least a word per point.
        assert!(number("wide_loads") * 4.0 + number("narrow_loads") > 0.99, "{about}: {line}");
        counted += 1;
    }
    println!("ran: facts-counted {counted}");
    assert_eq!(counted, 28);
}
