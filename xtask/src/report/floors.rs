//! Floors: how often something must have run at least. A lost driver, a renamed test program or a
//! filter left in place shows as a count below its floor, and that is red. It does not know how
//! the counts were made.

use crate::options::Options;
use crate::report::cargo_output::Report;
use crate::tally::Tally;

/// One line of `floors.txt`.
#[derive(Debug, PartialEq, Eq)]
pub struct Floor {
    name: String,
    minimum: u64,
}

/// Reads `floors.txt`: a name and a minimum per line; `#` opens a comment.
pub fn parse(text: &str) -> Result<Vec<Floor>, String> {
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
pub fn check(floors: &[Floor], report: &Report, options: &Options) -> Tally {
    floors.iter().map(|floor| check_one(floor, report, options)).collect()
}

fn check_one(floor: &Floor, report: &Report, options: &Options) -> Tally {
    let Floor { name, minimum } = floor;
    // `wgpu-cases` counts what the device `wgpu` did, `mpi-cuda-programs` what needs both.
    if let Some(missing) = name.split('-').find(|word| options.may_miss(word)) {
        return Tally::skipped(format!("floor {name}"), format!("--allow-missing {missing}"));
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
    fn a_count_below_its_floor_is_red_and_says_what_was_lost() {
        let floors = parse("# comment\nwgpu-cases 400 # device\n").unwrap();
        assert_eq!(check(&floors, &report(400), &Options::default()), Tally::passed());
        let lost = check(&floors, &report(399), &Options::default());
        let message = "floor wgpu-cases: 399 ran where at least 400 must; \
                       the tests skipped wgpu: no adapter found";
        assert_eq!(lost.failed, [message]);
        let nothing = check(&floors, &Report::default(), &Options::default());
        assert_eq!(nothing.failed, ["floor wgpu-cases: 0 ran where at least 400 must; no test says why"]);
    }

    #[test]
    fn a_waiver_is_explicit_and_only_for_its_device() {
        let floors = parse("wgpu-cases 400\ntests 10").unwrap();
        let options = Options { allow_missing: vec!["wgpu".into()], ..Options::default() };
        let tally = check(&floors, &report(0), &options);
        assert_eq!(tally.skipped.len(), 1);
        assert_eq!(tally.failed.len(), 1, "{:?}", tally.failed);
    }

    #[test]
    fn a_broken_line_is_an_error() {
        assert!(parse("wgpu-cases").is_err());
        assert!(parse("wgpu-cases many").is_err());
        assert!(parse("wgpu-cases 1 2").is_err());
    }
}
