//! `cargo xtask tidy`: rules that neither rustfmt nor clippy checks. A rule is a small function from
//! one source file to findings ([`rules`]), or from all files to counts with limits ([`measures`],
//! [`imports`], [`python`]). Limits and names are data ([`tables`]). The rules read text, not
//! syntax trees, so they need no parser ([`source`]).

mod glossary;
mod imports;
mod measures;
mod python;
mod rules;
mod source;
mod tables;

use rules::Finding;
use std::path::Path;

/// Checks every source file below `root`, prints the findings and a summary, and returns the findings.
pub fn check(root: &Path) -> std::io::Result<Vec<String>> {
    let mut findings = Vec::new();
    let sources = source::read_all(root)?;
    for source in sources.iter().filter(|source| source.path.ends_with(".rs")) {
        for (rule, apply) in rules::RULES {
            for Finding { line, message } in apply(source) {
                findings.push(format!("{}:{line}: {rule}: {message}", source.path));
            }
        }
        if let Some(note) = rules::long_file_note(source) {
            println!("note: {note}");
        }
    }
    let measures: Vec<_> = measures::RULES.iter().flat_map(|(_, rule)| rule(&sources)).collect();
    findings.extend(measures::findings(&measures));
    for finding in &findings {
        println!("{finding}");
    }
    print!("{}", measures::summary(&measures, measures::RULES.iter().map(|(name, _)| *name)));
    println!("tidy: {} files, {} findings", sources.len(), findings.len());
    Ok(findings)
}
