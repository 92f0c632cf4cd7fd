//! The WGSL functions of `routines.wgsl` that a stage calls, and those that they call.

use std::collections::BTreeSet;

const ROUTINES: &str = include_str!("routines.wgsl");

/// The name and the text of a function, without the comments above it.
fn routine(block: &'static str) -> Option<(&'static str, String)> {
    let signature = &block[block.find("fn ")? + 3..];
    let code = block.lines().filter(|line| !line.starts_with("//"));
    Some((&signature[..signature.find('(')?], code.map(|line| format!("{line}\n")).collect()))
}

/// The text of these functions and of those they call, in the order of the file.
pub(super) fn text(used: &BTreeSet<&'static str>) -> String {
    let all: Vec<(&str, String)> = ROUTINES.split("\n\n").filter_map(routine).collect();
    let mut used = used.clone();
    let mut texts = Vec::new();
    // Callees stand above their callers.
    for (name, text) in all.iter().rev() {
        if used.contains(name) {
            used.extend(all.iter().map(|(callee, _)| callee).filter(|callee| calls(text, callee)));
            texts.push(text.as_str());
        }
    }
    texts.into_iter().rev().collect()
}

fn calls(text: &str, callee: &str) -> bool {
    let is_whole = |at: usize| !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    text.match_indices(&format!("{callee}(")).any(|(at, _)| is_whole(at))
}
