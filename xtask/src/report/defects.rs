//! Which test shows that a defect is gone: `xtask/defects.txt` names each defect in words, and the tests of
//! it. A test that did not run or did not pass shows as missing, and fails the run. It does not know what the
//! tests do.

use crate::options::Options;
use crate::tally::Tally;
use std::collections::BTreeSet;

/// A row of the file: `words of the defect | test, test`.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    defect: String,
    tests: Vec<String>,
}

/// The rows of the file; empty lines and lines that begin with `#` are for readers.
pub fn parse(text: &str) -> Result<Vec<Row>, String> {
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
pub fn table<'a>(
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
                (false, Some(what)) => format!("not run (--allow-missing {what})"),
                (false, None) => "missing".to_owned(),
            };
            lines.push(format!("{defect} -> {test} -> {verdict}"));
            tally.add(match (passed.contains(test.as_str()), waived) {
                (true, _) => Tally::default(),
                (false, Some(what)) => Tally::skipped(test, format!("--allow-missing {what}")),
                (false, None) => Tally::failed(format!("defects: {defect}: {test} did not run and pass")),
            });
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

/// How a row may name a test: by its function, by its file and function for pytest, or by its whole name.
/// Parameters of pytest's are not part of it.
fn short_names(whole: &str) -> Vec<&str> {
    let name = whole.split_once('[').map_or(whole, |(name, _)| name);
    let function = name.rsplit("::").next().unwrap_or(name);
    let file = name.rsplit('/').next().unwrap_or(name);
    vec![name, function, file]
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# words | tests\n\nscales abort | a_scale_is_refused, memory::tests::b\n\
                        pickles | test_files.py::test_pickles\nranks | mpi-ends\n";

    fn verdicts(passed: &[&str], options: &Options) -> (Vec<String>, Tally) {
        table(&parse(TEXT).unwrap_or_default(), passed.iter().copied(), options)
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
            assert!(parse(text).is_err(), "{text}");
        }
        let own = include_str!("../../defects.txt");
        assert!(parse(own).is_ok_and(|rows| !rows.is_empty()));
    }
}
