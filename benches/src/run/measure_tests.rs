//! Filters of a run, and results that are wrong: they become no figure.

use super::*;
use crate::cases::case::Measure;
use crate::cases::formula::{self, Formula, formula};
use crate::sample::Effort;

fn wanted(filter: &[&str]) -> Wanted {
    Wanted {
        devices: vec![Device::host()],
        filter: filter.iter().map(|&word| word.to_owned()).collect(),
        dtypes: vec![DType::F32],
        sizes: Sizes { line: 1000, plane: 20, cube: 12 },
        parts: 2,
        effort: Effort { seconds: 0.001, least: 2, most: 2 },
        rotated_bytes: 0.0,
        budget: None,
        save: None,
    }
}

fn names(filter: &[&str]) -> Vec<&'static str> {
    let wanted = wanted(filter);
    let all = WORKLOADS.iter().map(|workload| (workload.group, workload.name));
    let all = all.chain(alone().map(|case| (case.group, case.name)));
    all.filter(|(group, name)| wanted.wants(group, name)).map(|(_, name)| name).collect()
}

#[test]
fn filters_mean_parts_of_names_whole_names_and_families() {
    assert_eq!(names(&["sum"]), ["sum", "sum_exact", "sum_rows", "sum_columns"]);
    assert_eq!(names(&["=sum", "=nothing"]), ["sum"]);
    assert_eq!(names(&["t1"])[..2], ["deep1", "deep2"]);
    assert_eq!(names(&["dlpack"]), ["dlpack_out", "dlpack_round"]);
    assert!(names(&["W1"]).contains(&"stencil7") && !names(&["W1"]).contains(&"stencil5"));
    assert!(names(&[]).starts_with(&names(&["E1"])) && names(&["=nothing"]).is_empty());
}

/// A run that is stopped has measured whole programs and time steps before halos and small costs.
#[test]
fn programs_and_time_steps_come_before_the_rest() {
    let mut groups: Vec<_> = alone().map(|case| case.group).collect();
    groups.dedup();
    assert!(groups.starts_with(&["A1", "T1", "H1"]), "{groups:?}");
}

#[test]
fn words_that_mean_nothing_and_arrays_without_room_are_refused() {
    let room = Some(1 << 30);
    assert_eq!(wanted(&["sum", "W1", "e1"]).misuse(room), None);
    for filter in [&["zzz"][..], &["sum", "zzz"], &["=zzz"]] {
        let why = wanted(filter).misuse(room).expect("a word that means nothing");
        assert!(why.contains("nothing is called ") && why.contains("zzz"), "{why}");
    }
    // Of the filter's workloads and the copy, which is measured beside any.
    let of = |line, cube| Wanted { sizes: Sizes { line, plane: 20, cube }, ..wanted(&["=sum"]) };
    let why = of(999_999_999_999, 12).misuse(room).expect("no room");
    assert!(why.contains("--n 999999999999") && why.contains("GB of memory, and there are 1.1 GB"), "{why}");
    assert_eq!(of(1000, 1 << 40).misuse(room), None);
    assert!(Wanted { filter: Vec::new(), ..of(1000, 1 << 40) }.misuse(room).is_some());
    assert_eq!(of(1 << 40, 12).misuse(None), None);
}

/// The script that measures on a machine with GPUs names workloads, of which none may be lost by a new name.
#[test]
fn the_bundle_measures_what_there_is() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    // A package is without the script.
    let Ok(run) = std::fs::read_to_string(root.join("xtask/src/bundle/run.sh")) else {
        return assert!(!root.join("xtask").exists(), "the script is elsewhere");
    };
    let run = run.replace("\\\n", " ");
    let lines = || run.lines().map(str::trim);
    let beside = lines().filter(|line| line.starts_with("beside f"));
    let listed = lines().filter_map(|line| line.strip_prefix("peers_filter")?.split('"').nth(1));
    let listed = listed.flat_map(|list| list.split(',')).filter_map(|word| word.strip_prefix('='));
    let workloads: Vec<_> = beside.flat_map(|line| line.split_whitespace().skip(2)).chain(listed).collect();
    let looped = lines().filter_map(|line| line.strip_prefix("for group in ")?.strip_suffix("; do"));
    let single = lines().filter_map(|line| line.split("--filter ").nth(1)?.split_whitespace().next());
    let families: Vec<_> = looped.flat_map(str::split_whitespace).chain(single).collect();
    let families: Vec<_> = families.into_iter().filter(|word| !word.contains('$')).collect();
    assert!(workloads.len() > 35 && families.len() == 19, "{workloads:?} {families:?}");
    for word in workloads {
        assert_eq!(names(&[&format!("={word}")]), [word]);
    }
    for word in families.iter().flat_map(|group| group.split(',')) {
        assert!(!names(&[word]).is_empty(), "{word}");
    }
}

/// A run that is stopped leaves what it has measured, readable.
#[test]
fn figures_are_saved_as_they_come() {
    let file = std::env::temp_dir().join(format!("partita-saved-{}.jsonl", std::process::id()));
    let wanted = Wanted { save: Some(file.clone()), ..wanted(&[]) };
    let mut progress = Progress::of(&wanted, ProgressBar::hidden());
    let saved = || crate::results::record::read(&file).expect("lines").len();
    progress.alone(&Device::host(), &alone().take(1).collect::<Vec<_>>(), None).expect("saved");
    assert_eq!(saved(), 2, "the machine and a figure");
    let scale = Workload::named("scale").expect("in the table");
    progress.workload(scale, DType::F32, None).expect("saved");
    assert_eq!(saved(), 3);
    std::fs::remove_file(&file).expect("written");
}

/// `Ok` lines are figures.
fn failures(lines: &[Line]) -> Vec<String> {
    let sentence = |line: &Line| match line {
        Line::Failed(missing) => Some(missing.sentence()),
        Line::Machine(_) | Line::Record(_) | Line::Skipped(_) => None,
    };
    lines.iter().filter_map(sentence).collect()
}

#[test]
fn a_wrong_result_is_a_failed_line_and_no_figure() {
    let right: Formula = formula!(formula::scale);
    let wrong = Formula { of_a_cell: (formula!(formula::copy)).of_a_cell, ..right };
    let of = |formula| {
        let scale = Workload::named("scale").expect("in the table");
        let spoilt = Workload { group: "test", name: "spoilt", formula, ..*scale };
        let workload: &'static Workload = Box::leak(Box::new(spoilt));
        let wanted = wanted(&[]);
        let mut progress = Progress::of(&wanted, ProgressBar::hidden());
        progress.workload(workload, DType::F32, None).expect("a line either way");
        progress.lines
    };
    let lines = of(wrong);
    let failed = failures(&lines);
    assert_eq!((lines.len(), failed.len()), (1, 1), "{lines:?}");
    assert!(failed[0].contains("spoilt") && failed[0].contains("expected"), "{failed:?}");
    let lines = of(right);
    assert!(lines[0].record().is_some_and(|record| record.error.is_some()), "{lines:?}");
}

#[test]
fn a_case_that_finds_an_error_is_a_failed_line() {
    let wanted = wanted(&[]);
    let mut progress = Progress::of(&wanted, ProgressBar::hidden());
    let measure: Measure = Box::new(|_| anyhow::bail!("other bits than step by step"));
    let case = Case { group: "T1", name: "deep8", text: "", is_typed: false, measure };
    progress.alone(&Device::host(), &[case], None).expect("a line");
    let failed = failures(&progress.lines);
    assert!(
        failed.len() == 1 && failed[0].contains("deep8") && failed[0].contains("other bits"),
        "{failed:?}"
    );
}
