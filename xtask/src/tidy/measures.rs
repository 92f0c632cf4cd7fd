//! Rules about the repository as a whole. Each counts something per key (a crate, a folder, a word)
//! and has a limit.

use super::source::{Source, is_word, separated};
use super::tables;
use super::{glossary, imports, python};
use std::collections::{BTreeMap, BTreeSet};

/// One count of one rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Measure {
    pub rule: &'static str,
    pub key: String,
    pub count: usize,
    pub limit: usize,
    /// The sources of the count, and the remedy.
    pub details: Vec<String>,
}

impl Measure {
    /// One per detail.
    fn of(rule: &'static str, key: String, limit: usize, details: Vec<String>) -> Self {
        Measure { rule, key, count: details.len(), limit, details }
    }
}

/// A rule over all files.
type Rule = fn(&[Source]) -> Vec<Measure>;

pub const RULES: &[(&str, Rule)] = &[
    ("circle", circles),
    ("array-order", array_order),
    ("folder", folders),
    ("budget", budgets),
    ("word", words),
    ("type", types),
    ("unsafe-places", unsafe_places),
    ("glossary", names_in_documents),
    ("requirement", requirements),
];

/// Files of each crate, and of the Python package, that lie in a circle of imports.
fn circles(sources: &[Source]) -> Vec<Measure> {
    let crates = tables::CRATES.iter().map(|folder| (*folder, imports::circles(sources, folder)));
    let package = (tables::PYTHON, python::circles(sources, tables::PYTHON));
    let measure = |(folder, circles): (&str, Vec<Vec<String>>)| {
        let (key, count) = (folder.to_string(), circles.iter().map(Vec::len).sum());
        let details = circles.iter().map(|circle| circle.join(", ")).collect();
        Measure { rule: "circle", key, count, limit: 0, details }
    };
    crates.chain([package]).map(measure).collect()
}

/// Imports of the engine's arrays against the order of their folders. A file beside the folders counts as the
/// first of them: its imports of all others are wrong.
fn array_order(sources: &[Source]) -> Vec<Measure> {
    let place = |at: usize| {
        let below = sources[at].path.strip_prefix("engine/src/array/")?;
        tables::ARRAY_ORDER.iter().position(|name| below.starts_with(&format!("{name}/"))).or(Some(0))
    };
    let arrows = imports::arrows(sources, "engine/src").into_iter();
    let arrows = arrows.flat_map(|(from, to)| to.into_iter().map(move |to| (from, to)));
    let up = arrows.filter(|&(from, to)| place(from).is_some() && place(from) < place(to));
    let up = up.map(|(from, to)| format!("{} may not use {}", sources[from].path, sources[to].path));
    vec![Measure::of("array-order", "engine/src/array".to_string(), 0, up.collect())]
}

/// Files and subfolders of each folder with source.
fn folders(sources: &[Source]) -> Vec<Measure> {
    let mut entries: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for source in sources.iter().filter(|source| in_budget(&source.path).is_some()) {
        let mut path = source.path.as_str();
        while let Some((folder, name)) = path.rsplit_once('/') {
            entries.entry(folder).or_default().insert(name);
            path = folder;
        }
    }
    let inside = entries.into_iter().filter(|(folder, _)| in_budget(&format!("{folder}/")).is_some());
    let measure = |(folder, names): (&str, BTreeSet<&str>)| {
        let (key, count, limit) = (folder.to_string(), names.len(), tables::FILES_PER_FOLDER);
        let details = vec![format!("{count} files and folders; make a folder per stage")];
        Measure { rule: "folder", key, count, limit, details }
    };
    inside.map(measure).collect()
}

/// The budget that a path belongs to: the longest folder that holds it.
fn in_budget(path: &str) -> Option<&'static str> {
    let holding = tables::BUDGETS.iter().map(|(folder, _)| *folder);
    let holding = holding.filter(|folder| path.starts_with(&format!("{folder}/")));
    holding.max_by_key(|folder| folder.len())
}

/// Lines of Rust and Python of each area, and of all of them.
fn budgets(sources: &[Source]) -> Vec<Measure> {
    let is_counted = |path: &str| path.ends_with(".rs") || path.ends_with(".py");
    let lines = |area: Option<&str>| -> usize {
        let is_inside = |path: &str| in_budget(path).is_some_and(|own| area.is_none_or(|area| own == area));
        let counted = sources.iter().filter(|source| is_counted(&source.path) && is_inside(&source.path));
        counted.map(|source| source.lines.len()).sum()
    };
    let areas = tables::BUDGETS.iter().map(|(area, limit)| (*area, *limit, lines(Some(area))));
    let all = areas.chain([("total", tables::TOTAL_BUDGET, lines(None))]);
    let measure = |(area, limit, count)| {
        let details = vec!["delete something, or argue for a larger budget".to_string()];
        Measure { rule: "budget", key: String::from(area), count, limit, details }
    };
    all.map(measure).collect()
}

/// Banned words per area and word.
fn words(sources: &[Source]) -> Vec<Measure> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let spaced = |word: &str| format!(" {} ", word.replace(' ', "  "));
    let banned: Vec<_> = tables::BANNED.iter().map(|row| (spaced(row.0), row)).collect();
    let is_exempt = |path: &str| tables::WORDS_EXEMPT.iter().any(|exempt| path.starts_with(exempt));
    for source in sources.iter().filter(|source| !is_exempt(&source.path)) {
        for (at, line) in source.lines.iter().enumerate() {
            let text = plain(line);
            for (spaced, (word, instead, scope)) in &banned {
                let times = text.matches(spaced.as_str()).count();
                if times > 0 && source.path.starts_with(scope) {
                    let place = format!("{}:{}: say {instead}", source.path, at + 1);
                    let key = format!("{}:{}", area(&source.path), word.replace(' ', "_"));
                    found.entry(key).or_default().extend(std::iter::repeat_n(place, times));
                }
            }
        }
    }
    found.into_iter().map(|(key, details)| Measure::of("word", key, 0, details)).collect()
}

/// The words of a line in lower case, names taken apart, with blanks around each, so that
/// neighbours do not share one. The tool `cargo` and its files are left out.
fn plain(line: &str) -> String {
    let line = line.replace("Cargo.", "").replace("`cargo ", "");
    let mut text = String::new();
    for word in line.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()) {
        for part in separated(word).split('_').filter(|part| !part.is_empty()) {
            text += &format!(" {part} ");
        }
    }
    text
}

/// The first folder of a path; the files of the root together.
fn area(path: &str) -> &str {
    path.split_once('/').map_or("root", |(area, _)| area)
}

/// Files that define each public type name of a crate: alternatives by `cfg` share one.
fn types(sources: &[Source]) -> Vec<Measure> {
    let mut found: BTreeMap<(&str, String), Vec<String>> = BTreeMap::new();
    for source in sources {
        let Some(own) = tables::CRATES.iter().find(|own| source.path.starts_with(&format!("{own}/"))) else {
            continue;
        };
        for (at, line) in source.product.iter().enumerate() {
            if let Some(name) = public_type(line).filter(|name| *name != "Result") {
                let places = found.entry((own, name.to_string())).or_default();
                if !places.iter().any(|place| place.starts_with(&format!("{}:", source.path))) {
                    places.push(format!("{}:{}", source.path, at + 1));
                }
            }
        }
    }
    let found = found.into_iter();
    found.map(|((own, name), details)| Measure::of("type", format!("{own}:{name}"), 1, details)).collect()
}

/// The name of the public type that a line defines.
fn public_type(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub")?;
    let rest =
        rest.strip_prefix('(').map_or(rest, |scope| scope.split_once(')').map_or(rest, |(_, rest)| rest));
    let mut words = rest.split(|c: char| !is_word(c)).filter(|word| !word.is_empty() && *word != "unsafe");
    let is_type = ["struct", "enum", "union", "trait", "type"].contains(&words.next()?);
    rest.starts_with(' ').then_some(()).filter(|()| is_type)?;
    words.next()
}

/// The places that may hold unsafe code, and those among them that hold none.
fn unsafe_places(sources: &[Source]) -> Vec<Measure> {
    let holds = |place: &str| {
        let inside = sources.iter().filter(|source| source.path.starts_with(place));
        inside.into_iter().any(|source| source.code.iter().any(|line| super::rules::has_word(line, "unsafe")))
    };
    let idle = tables::UNSAFE_FILES.iter().filter(|place| !holds(place));
    let idle = idle.map(|place| format!("{place} holds no unsafe code; take it out")).collect();
    let all = tables::UNSAFE_FILES.iter().map(|place| format!("in tables.rs: {place}")).collect();
    vec![
        Measure::of("unsafe-places", "idle".into(), 0, idle),
        Measure::of("unsafe-places", "all".into(), tables::UNSAFE_PLACES, all),
    ]
}

/// Names in the glossary and in ARCHITECTURE.md that nothing has.
fn names_in_documents(sources: &[Source]) -> Vec<Measure> {
    let nothing = |place| format!("{place}: nothing in the repository has this name");
    let missing = glossary::missing(sources).into_iter();
    missing.map(|(key, place)| Measure::of("glossary", key, 0, vec![nothing(place)])).collect()
}

/// Rows of the table of requirements without a marked test or a planted error, and the reverse.
fn requirements(sources: &[Source]) -> Vec<Measure> {
    // The numbers in double quotes in lines that begin so.
    let numbers = |file: &str, begins: &str| -> BTreeSet<String> {
        let files = sources.iter().filter(|s| s.path.starts_with("interop/tests/") && s.path.ends_with(file));
        let lines = files.flat_map(|source| &source.lines).map(|line| line.trim());
        let lines = lines.filter(|line| line.starts_with(begins) && !line.contains("\"outside\": "));
        let is_number = |text: &&str| matches!(text.as_bytes(), [b'A'..=b'F', b'0'..=b'9', ..]);
        lines
            .flat_map(|line| line.split('"').skip(1).step_by(2).filter(is_number))
            .map(String::from)
            .collect()
    };
    let rows = numbers("/requirements.json", "{\"id\": ");
    let measure = |(key, found): (&str, BTreeSet<String>)| {
        let details = rows.symmetric_difference(&found).cloned().collect();
        Measure::of("requirement", key.into(), 0, details)
    };
    let marked = numbers(".py", "@pytest.mark.requirement(");
    [("marked", marked), ("planted", numbers("/mutants.py", "\""))].map(measure).into()
}

/// The counts above their limits.
pub fn findings(measures: &[Measure]) -> Vec<String> {
    let above = measures.iter().filter(|measure| measure.count > measure.limit);
    let finding = |Measure { rule, key, count, limit, details }: &Measure| {
        format!("{rule}: {key}: {count}, at most {limit}\n    {}", details.join("\n    "))
    };
    above.map(finding).collect()
}

/// One line per rule: how many keys are above their limit, and by how much.
pub fn summary(measures: &[Measure], rules: impl Iterator<Item = &'static str>) -> String {
    let mut text = format!("{:<14}{:>6}{:>10}  {}\n", "rule", "above", "excess", "largest");
    for rule in rules {
        let mut over: Vec<&Measure> =
            measures.iter().filter(|m| m.rule == rule && m.count > m.limit).collect();
        over.sort_by_key(|measure| std::cmp::Reverse(measure.count - measure.limit));
        let excess: usize = over.iter().map(|measure| measure.count - measure.limit).sum();
        let largest: Vec<String> =
            over.iter().take(4).map(|m| format!("{} {} ({})", m.key, m.count, m.limit)).collect();
        text += &format!("{rule:<14}{:>6}{excess:>10}  {}\n", over.len(), largest.join(", "));
    }
    for measure in measures.iter().filter(|measure| measure.rule == "budget") {
        text += &format!("{:<24}{:>8} lines of {:>6}\n", measure.key, measure.count, measure.limit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(files: &[(&str, &str)]) -> Vec<Source> {
        files.iter().map(|(path, text)| Source::new(path, text)).collect()
    }

    /// Keys and counts above their limits.
    fn above(measures: Vec<Measure>) -> Vec<(String, usize)> {
        let over = measures.into_iter().filter(|measure| measure.count > measure.limit);
        over.map(|measure| (measure.key, measure.count)).collect()
    }

    #[test]
    fn circles_are_counted_per_crate() {
        let lib = ("kernels/src/lib.rs", "mod a;\nmod b;");
        let files = [
            lib,
            ("kernels/src/a.rs", "use crate::b::B;\nstruct A;"),
            ("kernels/src/b.rs", "use crate::a::A;\nstruct B;"),
        ];
        assert_eq!(above(circles(&sources(&files))), [("kernels/src".to_string(), 2)]);
        assert_eq!(above(circles(&sources(&files[..2]))), []);
    }

    #[test]
    fn the_pipeline_of_arrays_goes_one_way() {
        let list = ("engine/src/array/mod.rs", "mod a;\nmod host;\nmod memory;\nmod run;\npub use run::B;");
        let lists = [("engine/src/lib.rs", "mod array;"), list, ("engine/src/array/run/mod.rs", "struct B;")];
        let up = |path| array_order(&sources(&[&lists[..], &[(path, "use crate::array::B;")]].concat()));
        assert_eq!(above(up("engine/src/array/host/mod.rs")).len(), 0);
        assert_eq!(above(up("engine/src/array/memory/mod.rs")).len(), 1);
        assert_eq!(above(up("engine/src/array/a.rs")).len(), 1);
    }

    #[test]
    fn a_folder_has_twelve_entries() {
        let named: Vec<String> = (0..12).map(|n| format!("engine/src/array/f{n}.rs")).collect();
        let mut files: Vec<(&str, &str)> = named.iter().map(|path| (path.as_str(), "")).collect();
        assert_eq!(above(folders(&sources(&files))), []);
        files.push(("engine/src/array/inner/mod.rs", ""));
        files.push(("engine/src/array/inner/more.rs", ""));
        assert_eq!(above(folders(&sources(&files))), [("engine/src/array".to_string(), 13)]);
    }

    #[test]
    fn an_area_keeps_its_budget() {
        let limit = tables::BUDGETS.iter().find(|(area, _)| *area == "xtask").map_or(0, |(_, limit)| *limit);
        let lines = "\n".repeat(limit);
        assert_eq!(above(budgets(&sources(&[("xtask/src/a.rs", &lines), ("xtask/b.md", "x\n")]))), []);
        let more = sources(&[("xtask/src/a.rs", &lines), ("xtask/b.py", "x\n")]);
        assert_eq!(above(budgets(&more)), [("xtask".to_string(), limit + 1)]);
        assert_eq!(in_budget("simcuda/src/lib.rs"), Some("simcuda/src"));
        assert_eq!(in_budget("engine/tests/a.rs"), None);
    }

    #[test]
    fn banned_words_are_found_in_names_and_text() {
        let text = "// An errand.\nstruct ErrandList;\nfn errand_of() {}\nlet a = \"past the caches\";";
        let found = above(words(&sources(&[("engine/src/a.rs", text)])));
        assert_eq!(found, [("engine:errand".to_string(), 3), ("engine:past_the_caches".to_string(), 1)]);
        let harmless = "cargo xtask test; Cargo.toml; errands-free; a Lane of SIMD; a newsletter";
        let scope =
            above(words(&sources(&[("docs/a.md", harmless), ("xtask/src/tidy/tables.rs", "errand")])));
        assert_eq!(scope, [("docs:errands".to_string(), 1)]);
        assert_eq!(above(words(&sources(&[("engine/src/a.rs", "enum Cargo { Lane }")]))).len(), 2);
    }

    #[test]
    fn a_type_name_stands_for_one_type() {
        let files = [
            ("engine/src/a.rs", "pub struct Step;\nstruct Own;"),
            ("engine/src/b.rs", "pub(super) enum Step<T> {}\npub type Result = u8;"),
        ];
        assert_eq!(above(types(&sources(&files))), [("engine/src:Step".to_string(), 2)]);
        let apart = [("engine/src/a.rs", "pub struct Step;"), ("kernels/src/b.rs", "pub struct Step;")];
        assert_eq!(above(types(&sources(&apart))), []);
        let private = [
            ("engine/src/a.rs", "pub struct Step;"),
            ("engine/src/b.rs", "struct Step;\npublic struct Step;"),
        ];
        assert_eq!(above(types(&sources(&private))), []);
        let cfg = [("engine/src/a.rs", "pub struct Step;\nmod other {\n    pub struct Step;\n}")];
        assert_eq!(above(types(&sources(&cfg))), []);
    }

    #[test]
    fn places_of_unsafe_code_are_few_and_used() {
        let nothing = unsafe_places(&sources(&[]));
        assert_eq!(nothing[0].count, tables::UNSAFE_FILES.len());
        let file = format!("{}x.rs", tables::UNSAFE_FILES[0]);
        let one = unsafe_places(&sources(&[(&file, "unsafe { a() }")]));
        assert_eq!(one[0].count, tables::UNSAFE_FILES.len() - 1);
    }

    #[test]
    fn requirements_have_tests_and_planted_errors() {
        let table =
            ("interop/tests/requirements.json", "{\"id\": \"A1\"},\n{\"id\": \"A2\", \"outside\": \"\"}");
        let planted = ("interop/tests/mutants.py", "    \"A1\": Mutant(\"an error\"");
        let marked = ("interop/tests/test_a.py", "@pytest.mark.requirement(\"A1\", \"A3\")");
        assert_eq!(above(requirements(&sources(&[table, planted, marked]))), [("marked".to_string(), 1)]);
        assert_eq!(above(requirements(&sources(&[table]))).len(), 2);
    }

    #[test]
    fn only_counts_above_their_limits_are_findings() {
        let measure = |key: &str, count| Measure {
            rule: "folder",
            key: key.into(),
            count,
            limit: 12,
            details: vec!["too many".into()],
        };
        let found = findings(&[measure("a", 12), measure("b", 13)]);
        assert_eq!(found, ["folder: b: 13, at most 12\n    too many"]);
    }
}
