//! Reading what `cargo test` prints: one section per test program, its counts, and the lines by
//! which tests report to the run:
//!
//! ```text
//! skipped: wgpu (no adapter found; searched Vulkan)
//! ran: wgpu-cases 412
//! ```
//!
//! A `ran:` line adds to a count that `floors.txt` guards. A test that skips a device prints why
//! and returns; its own result is counted as well. This file does not know any device by name.

use crate::tally::{Skip, Tally};
use std::collections::BTreeMap;

/// One test program, as cargo ran it.
#[derive(Debug, Default)]
pub struct Section {
    pub title: String,
    pub lines: Vec<String>,
    /// The number of times that the program said that it was about to run some tests.
    announced: usize,
    /// The number of results that it gave.
    results: usize,
    passed: usize,
    /// The names of the tests that passed.
    pub passed_names: Vec<String>,
    failed_names: Vec<String>,
    /// Cargo's own word that the program failed.
    blamed: bool,
}

/// Everything read from one run of `cargo test`.
#[derive(Debug, Default)]
pub struct Report {
    pub sections: Vec<Section>,
    pub skips: Vec<Skip>,
    /// The counts of what ran: the sums of the `ran:` lines, and `tests`, the tests that passed.
    pub counts: BTreeMap<String, u64>,
}

impl Section {
    /// The names of what failed here. A program that dies, or leaves without a result, counts.
    pub fn failures(&self) -> Vec<String> {
        let mut names = self.failed_names.clone();
        if self.announced > self.results {
            names.push("the test program ended without a result".to_string());
        } else if self.blamed && names.is_empty() {
            names.push("the test program failed".to_string());
        }
        names.into_iter().map(|name| format!("{}: {name}", self.title)).collect()
    }

    fn tally(&self) -> Tally {
        let failed = self.failures();
        // A program with a `main` of its own announces nothing; its exit status is one check.
        let own_main = self.announced == 0 && failed.is_empty();
        Tally { passed: self.passed + usize::from(own_main), failed, ..Tally::default() }
    }

    fn read(&mut self, line: &str) {
        if let Some(name) = passed_name(line) {
            self.passed_names.push(name.to_string());
            return;
        }
        if line.starts_with("running ") && (line.ends_with(" test") || line.ends_with(" tests")) {
            self.announced += 1;
        } else if let Some(result) = line.strip_prefix("test result: ") {
            self.results += 1;
            // The first number of `ok. 2 passed; 0 failed; ...`.
            self.passed += result.split(' ').find_map(|word| word.parse().ok()).unwrap_or(0);
        } else if let Some(name) = line.strip_prefix("test ").and_then(|line| line.strip_suffix(" ... ok")) {
            self.passed_names.push(name.to_string());
        } else if let Some(name) =
            line.strip_prefix("test ").and_then(|line| line.strip_suffix(" ... FAILED"))
        {
            self.failed_names.push(name.to_string());
        } else if line.starts_with("error: ") && line.contains("to rerun pass") {
            self.blamed = true;
        }
        self.lines.push(line.to_string());
    }
}

/// Reads the lines of one run of `cargo test -- --show-output`.
pub fn read(lines: &[String]) -> Report {
    let mut report = Report::default();
    for line in lines {
        if let Some(title) = title(line) {
            report.sections.push(Section { title, ..Section::default() });
        } else if let Some(section) = report.sections.last_mut() {
            section.read(line);
            if let Some(skip) = skip(line) {
                report.skips.push(skip);
            }
            if let Some((what, count)) = ran(line) {
                *report.counts.entry(what).or_default() += count;
            }
        }
    }
    let passed: usize = report.sections.iter().map(|section| section.passed).sum();
    report.counts.insert("tests".to_string(), passed as u64);
    report
}

impl Report {
    /// The counts of the whole run. A run that failed in a way that no section shows failed too.
    pub fn tally(&self, success: bool) -> Tally {
        let mut tally: Tally = self.sections.iter().map(Section::tally).collect();
        tally.skipped.extend(self.skips.iter().cloned());
        if !success && tally.failed.is_empty() {
            tally.add(Tally::failed("tests: cargo test failed before or beside the tests"));
        }
        tally
    }
}

/// Whether a person wants to see `line` while the tests run: all but the passing tests and their
/// output, which comes in sections that open with a title.
pub fn worth_showing(line: &str, inside_a_section: bool) -> bool {
    !inside_a_section
        || title(line).is_some()
        || line.starts_with("test result: ")
        || line.starts_with("error: ")
        || (line.starts_with("test ") && (line.ends_with(" FAILED") || line.contains("has been running for")))
}

/// The title of the section that `line` opens, if it opens one.
pub fn title(line: &str) -> Option<String> {
    if let Some(target) = line.strip_prefix("     Running ") {
        let (target, program) = target.split_once(" (").unwrap_or((target, ""));
        let program = program.trim_end_matches(')').rsplit('/').next().unwrap_or(program);
        let package = program.rsplit_once('-').map_or(program, |(name, _hash)| name);
        return Some(format!("{package} {target}").trim_start().to_string());
    }
    line.strip_prefix("   Doc-tests ").map(|package| format!("{package} doc tests"))
}

/// `skipped: WHAT (REASON)`, or `test WHAT ... ignored, REASON`.
fn skip(line: &str) -> Option<Skip> {
    let (what, reason) = match line.trim().strip_prefix("skipped: ") {
        Some(named) => named.strip_suffix(')')?.split_once(" (")?,
        None => {
            line.strip_prefix("test ")?.split_once(" ... ").filter(|(_, end)| end.starts_with("ignored"))?
        }
    };
    Some(Skip { what: what.to_string(), reason: reason.to_string() })
}

/// `ran: WHAT COUNT`
fn ran(line: &str) -> Option<(String, u64)> {
    let (what, count) = line.trim().strip_prefix("ran: ")?.rsplit_once(' ')?;
    Some((what.trim().to_string(), count.parse().ok()?))
}

/// The test that passed, from a line of pytest's summary: `PASSED interop/tests/test_a.py::test_b[host-1]`.
pub fn passed_name(line: &str) -> Option<&str> {
    line.strip_prefix("PASSED ").filter(|name| name.contains(".py::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pytests_summary_names_what_passed() {
        let report =
            report("     Running python (interop/tests)\nPASSED a/test_b.py::test_c[host]\n1 passed in 2s");
        assert_eq!(report.sections[0].passed_names, ["a/test_b.py::test_c[host]"]);
        assert_eq!(passed_name("PASSED by"), None);
    }

    fn report(text: &str) -> Report {
        read(&text.lines().map(String::from).collect::<Vec<_>>())
    }

    /// Shortened from a real run of cargo 1.95.
    const RUN: &str = include_str!("cargo_test.txt");

    #[test]
    fn counts_are_read() {
        let report = report(RUN);
        assert_eq!(report.sections.len(), 6);
        assert_eq!(report.counts["wgpu-cases"], 42);
        assert_eq!(report.counts["mpi-cases"], 3);
        assert_eq!(report.counts["tests"], 4);
    }

    #[test]
    fn failures_crashes_and_early_exits_are_named() {
        let tally = report(RUN).tally(false);
        // 2 unit tests, 2 doc tests, and the program with a main of its own.
        assert_eq!(tally.passed, 5);
        assert_eq!(
            tally.failed,
            [
                "probe unittests src/lib.rs: tests::bad",
                "crash tests/crash.rs: the test program ended without a result",
                "leaves tests/leaves.rs: the test program ended without a result",
                "own tests/own.rs: the test program failed",
            ]
        );
        let skipped = tally.skipped.iter().map(|skip| (skip.what.as_str(), skip.reason.as_str()));
        let cuda = ("cuda", "no libcuda.so.1 (searched 3 folders)");
        let ignored = [("tests::slow", "ignored, takes a minute"), ("tests::bare", "ignored"), cuda];
        assert!(skipped.eq(ignored), "{:?}", tally.skipped);
    }

    #[test]
    fn a_run_that_does_not_compile_is_a_failure() {
        let report = report("   Compiling probe v0.1.0\nerror: could not compile `probe`");
        assert_eq!(report.tally(false).failed.len(), 1);
        assert_eq!(report.tally(true).failed.len(), 0);
    }

    #[test]
    fn a_person_sees_progress_and_failures_only() {
        assert!(worth_showing("   Compiling probe", false));
        assert!(worth_showing("     Running tests/a.rs (target/debug/deps/a-1)", true));
        assert!(worth_showing("test a ... FAILED", true));
        assert!(worth_showing("test a has been running for over 60 seconds", true));
        assert!(!worth_showing("test a ... ok", true));
        assert!(!worth_showing("whatever a test printed", true));
    }
}
