//! Requirements of a run: floors, by how often tests must run (`floors.txt`), and the tests that show that a
//! defect is gone (`defects.txt`). A lost driver, a renamed test or a filter left in place fails the run. It
//! does not know how the counts were made.

use crate::options::Options;
use crate::report::cargo_output::Report;
use crate::tally::Tally;
use std::collections::BTreeSet;

/// One line of `floors.txt`.
#[derive(Debug, PartialEq, Eq)]
pub struct Floor {
    name: String,
    minimum: u64,
}

/// Reads `floors.txt`: a name and a minimum per line; `#` opens a comment.
pub fn parse_floors(text: &str) -> Result<Vec<Floor>, String> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or("").trim());
    let floors = lines.filter(|line| !line.is_empty()).map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[name, minimum] = words.as_slice() else {
            return Err(format!("floors.txt: expected `name minimum`, found `{line}`"));
        };
        let minimum = minimum.parse().map_err(|_| format!("floors.txt: `{minimum}` is not a count"))?;
        Ok(Floor { name: name.to_string(), minimum })
    });
    floors.collect()
}

/// Compares what ran with the floors.
pub fn check_floors(floors: &[Floor], report: &Report, options: &Options) -> Tally {
    floors.iter().map(|floor| check_one(floor, report, options)).collect()
}

fn check_one(floor: &Floor, report: &Report, options: &Options) -> Tally {
    let Floor { name, minimum } = floor;
    // `wgpu-cases` counts what the device `wgpu` did, `mpi-cuda-programs` what needs both.
    if let Some(missing) = name.split('-').find(|word| options.may_miss(word)) {
        return Tally::skipped(format!("floor {name}"), format!("--allow-missing {missing}"));
    }
    // `x86-casts-avx512` counts what ran at an ISA level, which processors have or lack.
    if let Some(level) = name.split('-').find(|word| lacks(word)) {
        return Tally::skipped(format!("floor {name}"), format!("this CPU lacks {level}"));
    }
    let device = name.split('-').next().unwrap_or(name);
    let count = report.counts.get(name).copied().unwrap_or(0);
    if count >= *minimum {
        return Tally::passed();
    }
    let reason = match report.skips.iter().find(|skip| skip.what.split(' ').next() == Some(device)) {
        Some(skip) => format!("the tests skipped {}: {}", skip.what, skip.reason),
        None => "no test says why".to_string(),
    };
    Tally::failed(format!("floor {name}: {count} ran where at least {minimum} must; {reason}"))
}

/// Whether the word is an ISA level that this processor lacks.
#[cfg(target_arch = "x86_64")]
fn lacks(level: &str) -> bool {
    match level {
        "avx2" => !is_x86_feature_detected!("avx2"),
        "avx512" => !is_x86_feature_detected!("avx512f"),
        _ => false,
    }
}

/// Whether the word is an ISA level that this processor lacks.
#[cfg(not(target_arch = "x86_64"))]
fn lacks(level: &str) -> bool {
    matches!(level, "avx2" | "avx512")
}

/// A row of `defects.txt`: `words of the defect | test, test`.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    defect: String,
    tests: Vec<String>,
}

/// The rows of the file; empty lines and lines that begin with `#` are for readers.
pub fn parse_defects(text: &str) -> Result<Vec<Row>, String> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let row = |(at, line): (usize, &str)| {
        let wrong = || format!("xtask/defects.txt, line {at}: expected `words | test, test`, given `{line}`");
        let (defect, tests) = line.split_once('|').ok_or_else(wrong)?;
        let tests: Vec<String> = tests.split(',').map(|test| test.trim().to_owned()).collect();
        let is_whole = !defect.trim().is_empty() && tests.iter().all(|test| !test.is_empty());
        is_whole.then(|| Row { defect: defect.trim().to_owned(), tests }).ok_or_else(wrong)
    };
    lines.map(row).collect()
}

/// The lines of the table, and its result: one check for each row. `passed` are tests by their whole names.
pub fn check_defects<'a>(
    rows: &[Row],
    passed: impl Iterator<Item = &'a str>,
    options: &Options,
) -> (Vec<String>, Tally) {
    let passed: BTreeSet<&str> = passed.flat_map(short_names).collect();
    let (mut lines, mut tally) = (Vec::new(), Tally::default());
    for Row { defect, tests } in rows {
        for test in tests {
            let waived = ["python", "mpi"].iter().find(|what| is_of(test, what) && options.may_miss(what));
            let verdict = match (passed.contains(test.as_str()), waived) {
                (true, _) => "passed".to_owned(),
                (false, Some(what)) => {
                    tally.add(Tally::skipped(test, format!("--allow-missing {what}")));
                    format!("not run (--allow-missing {what})")
                }
                (false, None) => {
                    tally.add(Tally::failed(format!("defects: {defect}: {test} did not run and pass")));
                    "missing".to_owned()
                }
            };
            lines.push(format!("{defect} -> {test} -> {verdict}"));
        }
        tally.passed += usize::from(tests.iter().all(|test| passed.contains(test.as_str())));
    }
    (lines, tally)
}

/// Whether a test needs what `--allow-missing` can waive.
fn is_of(test: &str, what: &str) -> bool {
    match what {
        "python" => test.contains(".py::"),
        what => test.starts_with(&format!("{what}-")),
    }
}

/// The names by which a row may name a test: by its function, by its file and function for pytest, or by its
/// whole name. Parameters of pytest's are not part of it.
fn short_names(whole: &str) -> Vec<&str> {
    let name = whole.split_once('[').map_or(whole, |(name, _)| name);
    let function = name.rsplit("::").next().unwrap_or(name);
    let file = name.rsplit('/').next().unwrap_or(name);
    vec![name, function, file]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::Skip;

    fn report(count: u64) -> Report {
        let mut report = Report::default();
        report.counts.insert("wgpu-cases".into(), count);
        report.skips.push(Skip { what: "wgpu".into(), reason: "no adapter found".into() });
        report
    }

    #[test]
    fn a_floor_of_an_isa_level_counts_where_the_processor_has_it() {
        let floors = parse_floors("x86-casts-avx512 10\nx86-casts 10").unwrap();
        let tally = check_floors(&floors, &Report::default(), &Options::default());
        let lacking = usize::from(lacks("avx512"));
        assert_eq!((tally.skipped.len(), tally.failed.len()), (lacking, 2 - lacking));
    }

    #[test]
    fn a_count_below_its_floor_is_red_and_says_what_was_lost() {
        let floors = parse_floors("# comment\nwgpu-cases 400 # device\n").unwrap();
        assert_eq!(check_floors(&floors, &report(400), &Options::default()), Tally::passed());
        let lost = check_floors(&floors, &report(399), &Options::default());
        let message = "floor wgpu-cases: 399 ran where at least 400 must; \
                       the tests skipped wgpu: no adapter found";
        assert_eq!(lost.failed, [message]);
        let nothing = check_floors(&floors, &Report::default(), &Options::default());
        assert_eq!(nothing.failed, ["floor wgpu-cases: 0 ran where at least 400 must; no test says why"]);
    }

    #[test]
    fn a_waiver_is_explicit_and_only_for_its_device() {
        let floors = parse_floors("wgpu-cases 400\ntests 10").unwrap();
        let options = Options { allow_missing: vec!["wgpu".into()], ..Options::default() };
        let tally = check_floors(&floors, &report(0), &options);
        assert_eq!(tally.skipped.len(), 1);
        assert_eq!(tally.failed.len(), 1, "{:?}", tally.failed);
    }

    #[test]
    fn a_broken_line_is_an_error() {
        assert!(parse_floors("wgpu-cases").is_err());
        assert!(parse_floors("wgpu-cases many").is_err());
        assert!(parse_floors("wgpu-cases 1 2").is_err());
    }

    const TEXT: &str = "# words | tests\n\nscales abort | a_scale_is_refused, memory::tests::b\n\
                        pickles | test_files.py::test_pickles\nranks | mpi-ends\n";

    fn verdicts(passed: &[&str], options: &Options) -> (Vec<String>, Tally) {
        check_defects(&parse_defects(TEXT).unwrap_or_default(), passed.iter().copied(), options)
    }

    #[test]
    fn every_test_of_a_row_must_have_passed() {
        let all = [
            "a_scale_is_refused",
            "memory::tests::b",
            "interop/tests/test_files.py::test_pickles[host-4]",
            "mpi-ends",
        ];
        let (lines, tally) = verdicts(&all, &Options::default());
        assert_eq!((tally.passed, tally.failed.len(), lines.len()), (3, 0, 4));
        assert_eq!(lines[0], "scales abort -> a_scale_is_refused -> passed");
        let (lines, tally) = verdicts(&all[1..], &Options::default());
        assert_eq!((tally.passed, tally.failed.len()), (2, 1));
        assert_eq!(lines[0], "scales abort -> a_scale_is_refused -> missing");
        assert!(tally.failed[0].contains("scales abort"));
    }

    #[test]
    fn what_may_be_missing_is_skipped_by_name() {
        let options = Options { allow_missing: vec!["python".into(), "mpi".into()], ..Options::default() };
        let (_, tally) = verdicts(&["a_scale_is_refused", "b"], &options);
        // `b` is the function of another module too, but the row names it whole.
        assert_eq!((tally.passed, tally.failed.len(), tally.skipped.len()), (0, 1, 2));
    }

    #[test]
    fn broken_rows_are_errors() {
        for text in ["words alone", "| a", "words |", "words | a,, b"] {
            assert!(parse_defects(text).is_err(), "{text}");
        }
        let own = include_str!("../../defects.txt");
        assert!(parse_defects(own).is_ok_and(|rows| !rows.is_empty()));
    }
}
