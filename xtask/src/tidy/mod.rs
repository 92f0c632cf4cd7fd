//! `cargo xtask tidy`: rules that neither rustfmt nor clippy checks. A rule is a small function from
//! one source file to findings ([`rules`]), or from all files to counts with limits ([`measures`],
//! [`imports`], judged by [`open`]). Limits and names are data ([`tables`]). The rules read text, not
//! syntax trees, so they need no parser ([`source`]).

mod glossary;
mod imports;
mod measures;
mod open;
mod rules;
mod source;
mod tables;

use rules::Finding;
use std::path::Path;

/// Checks every source file below `root`, prints the findings and a summary, and returns the findings.
/// With `lower`, writes the list of what is open anew first, as far as it has become shorter.
pub fn check(root: &Path, lower: bool) -> std::io::Result<Vec<String>> {
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
    let file = root.join("xtask/open.txt");
    let text = std::fs::read_to_string(&file)?;
    let mut open = open::parse(&text).map_err(std::io::Error::other)?;
    if lower {
        let heading: String = text.split_inclusive('\n').take_while(|line| line.starts_with('#')).collect();
        let lowered = open::lowered(&measures, &open, &heading);
        std::fs::write(&file, &lowered)?;
        open = open::parse(&lowered).map_err(std::io::Error::other)?;
    }
    findings.extend(open::judge(&measures, &open));
    for finding in &findings {
        println!("{finding}");
    }
    print!("{}", open::summary(&measures, measures::RULES.iter().map(|(name, _)| *name)));
    println!("tidy: {} files, {} findings", sources.len(), findings.len());
    Ok(findings)
}
