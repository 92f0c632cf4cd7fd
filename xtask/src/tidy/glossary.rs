//! Documents name the code: the glossary in its third column, ARCHITECTURE.md by paths. Each name must
//! exist: a file or folder, or an item that some source file defines.

use super::source::{Source, is_word};
use std::collections::BTreeSet;

const GLOSSARY: &str = "docs/GLOSSARY.md";

const MAP: &str = "ARCHITECTURE.md";
/// The folders in which paths of ARCHITECTURE.md begin.
const ROOTS: &[&str] = &["", "engine/src/", "kernels/src/"];

/// Names in the documents that nothing in the repository has, each with its place.
pub fn missing(sources: &[Source]) -> Vec<(String, String)> {
    let defined = defined(sources);
    let is_defined = |name: &str| name.split("::").all(|part| defined.contains(part));
    let mut missing = Vec::new();
    for source in sources.iter().filter(|source| [GLOSSARY, MAP].contains(&source.path.as_str())) {
        for (at, line) in source.lines.iter().enumerate() {
            let names = if source.path == MAP { paths(line) } else { names(line) };
            for name in names {
                let found = if name.contains('/') { is_path(sources, name) } else { is_defined(name) };
                if !found {
                    missing.push((name.to_string(), format!("{}:{}", source.path, at + 1)));
                }
            }
        }
    }
    missing
}

fn is_path(sources: &[Source], name: &str) -> bool {
    ROOTS.iter().any(|root| {
        let whole = format!("{root}{}", name.trim_end_matches('/'));
        sources.iter().any(|source| {
            let rest = source.path.strip_prefix(&whole);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    })
}

/// Paths between backticks.
fn paths(line: &str) -> Vec<&str> {
    let quoted = line.split('`').skip(1).step_by(2);
    quoted.filter(|text| text.contains('/') && !text.starts_with('/') && !text.contains([' ', '('])).collect()
}

fn names(row: &str) -> Vec<&str> {
    let row = if row.starts_with("| ") { row } else { "" };
    row.split('|').nth(3).unwrap_or("").split('`').skip(1).step_by(2).collect()
}

/// Every word after a keyword of a definition, and every word that begins a line (variants).
fn defined(sources: &[Source]) -> BTreeSet<&str> {
    const KEYWORDS: &[&str] =
        &["struct", "enum", "union", "trait", "type", "fn", "mod", "const", "static", "class", "def"];
    let mut found = BTreeSet::new();
    for source in sources.iter().filter(|source| !source.path.ends_with(".md")) {
        let lines = if source.path.ends_with(".rs") { &source.code } else { &source.lines };
        for line in lines {
            let mut words = line.split(|c: char| !is_word(c)).filter(|word| !word.is_empty());
            let first = words.clone().next().filter(|word| word.starts_with(char::is_uppercase));
            found.extend(first);
            while let Some(word) = words.next() {
                if KEYWORDS.contains(&word) {
                    found.extend(words.next());
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_documents_that_nothing_has_are_found() {
        let table = "| word | field | code | note |\n|---|---|---|---|\n\
                     | halo | ghost cells | `Plan::halo`, `engine/src/plan/` | |\n\
                     | lane | stream | `Lane`, `engine/src/lane.rs` | `Other` |";
        let code = "pub struct Plan;\nimpl Plan { pub fn halo() {} }";
        let map = Source::new(MAP, "`plan/mod.rs`, `plan/halo.rs`, `a / b`, `plan/`");
        let sources = [Source::new(GLOSSARY, table), Source::new("engine/src/plan/mod.rs", code), map];
        let missing = missing(&sources);
        let keys: Vec<&str> = missing.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(keys, ["Lane", "engine/src/lane.rs", "plan/halo.rs"]);
    }
}
