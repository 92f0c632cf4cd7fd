//! The rules: each a function from one source file to its findings. What they allow stands in
//! [`tables`]; they know the shape of paths and names, nothing of meaning.

use super::imports;
use super::source::{Source, is_word, separated};
use super::tables::{self, ENGINE};

/// One breach of one rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Finding {
    /// Counted from 1.
    pub line: usize,
    pub message: String,
}

/// A rule.
type Rule = fn(&Source) -> Vec<Finding>;

/// Every rule, by the name that findings carry.
pub const RULES: &[(&str, Rule)] = &[
    ("opening", opening),
    ("width", width),
    ("length", length),
    ("home", home),
    ("module order", module_order),
    ("unsafe", unsafe_place),
    ("unfinished", unfinished),
    ("name", vague_names),
];

/// A file opens with `//!`: what it holds and what it deliberately does not know.
fn opening(source: &Source) -> Vec<Finding> {
    let opens = source.lines.first().is_some_and(|line| line.starts_with("//!"));
    let finding = Finding { line: 1, message: "the file does not open with `//!`".to_string() };
    if opens { Vec::new() } else { vec![finding] }
}

fn width(source: &Source) -> Vec<Finding> {
    per_line(&source.lines, |line| {
        let count = line.chars().count();
        (count > tables::MAX_WIDTH).then(|| format!("{count} columns, at most {}", tables::MAX_WIDTH))
    })
}

fn length(source: &Source) -> Vec<Finding> {
    let count = source.lines.len();
    let short = tables::SHORT_EXAMPLES.iter().find(|(path, _)| *path == source.path);
    let limit = short.map_or(tables::TOO_LONG_FILE, |(_, limit)| *limit);
    let finding = Finding { line: limit + 1, message: format!("{count} lines, at most {limit}") };
    if count > limit { vec![finding] } else { Vec::new() }
}

/// A file that is longer than it should be, but not yet a finding.
pub fn long_file_note(source: &Source) -> Option<String> {
    let count = source.lines.len();
    let noted = tables::LONG_FILE < count && count <= tables::TOO_LONG_FILE;
    noted.then(|| format!("{}: {count} lines, {} are enough", source.path, tables::LONG_FILE))
}

/// A dependency is named in its home only.
fn home(source: &Source) -> Vec<Finding> {
    let strangers = tables::HOMES.iter().filter(|(name, homes)| {
        !homes.iter().any(|home| source.path.starts_with(home)) && !own_module(source, name)
    });
    let strangers: Vec<_> = strangers.collect();
    per_line(&source.code, |line| {
        let (name, homes) = strangers.iter().find(|(name, _)| starts_a_path(line, name))?;
        Some(format!("`{name}` is named only in {}", homes.join(", ")))
    })
}

/// Whether `name` is here one of our own modules, declared or imported.
fn own_module(source: &Source, name: &str) -> bool {
    let declared = format!("mod {name};");
    let imported = format!("::{name};");
    source.code.iter().any(|line| line.contains(&declared) || line.trim_end().ends_with(&imported))
}

/// Modules of the engine in a line: a module uses only what stands below it.
fn module_order(source: &Source) -> Vec<Finding> {
    let Some(below) = source.path.strip_prefix("engine/src/") else { return Vec::new() };
    let own: Vec<&str> = module_path(below);
    // The crate's root shows everything.
    let grouped = |name: &&&str| tables::ENGINE_GROUPS.contains(*name);
    let Some(&module) = own.iter().find(|name| !grouped(name)) else { return Vec::new() };
    let Some((_, allowed)) = ENGINE.iter().find(|(name, _)| *name == module) else {
        let message = format!("module `{module}` has no row in tidy's table of modules");
        return vec![Finding { line: 1, message }];
    };
    let used = imports::root_names(&source.product.join("\n"), own.len());
    let strange =
        used.into_iter().filter(|used| used != module && !allowed.split(' ').any(|name| name == used));
    strange
        .map(|used| Finding { line: 1, message: format!("`{module}` may not use `crate::{used}`") })
        .collect()
}

/// `device/wgpu/mod.rs` is the module `device::wgpu`; `lib.rs` counts as the root.
fn module_path(below_src: &str) -> Vec<&str> {
    let path = below_src.strip_suffix(".rs").unwrap_or(below_src);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    path.split('/').filter(|part| !tables::ROOT_FILES.contains(part)).collect()
}

/// Unsafe code stands in few places, which a reader can visit.
fn unsafe_place(source: &Source) -> Vec<Finding> {
    if tables::UNSAFE_FILES.iter().any(|allowed| source.path.starts_with(allowed)) {
        return Vec::new();
    }
    per_line(&source.code, |line| {
        has_word(line, "unsafe").then(|| format!("unsafe only in {}", tables::UNSAFE_FILES.join(", ")))
    })
}

/// Marks of unfinished work in comments; clippy finds those in code.
fn unfinished(source: &Source) -> Vec<Finding> {
    per_line(&source.comments, |line| {
        let mark = tables::UNFINISHED.iter().find(|mark| has_word(line, mark))?;
        Some(format!("`{mark}`: finish it or leave it out"))
    })
}

/// Words that open an item whose name follows.
const ITEMS: &[&str] = &["struct", "enum", "union", "trait", "type", "mod", "fn", "const", "static"];

fn vague_names(source: &Source) -> Vec<Finding> {
    let mut findings: Vec<Finding> = source
        .path
        .trim_end_matches(".rs")
        .split('/')
        .find_map(vague_word)
        .map(|word| Finding { line: 1, message: format!("`{word}` says nothing; name what the file is") })
        .into_iter()
        .collect();
    findings.extend(per_line(&source.code, |line| {
        let words: Vec<&str> = line.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).collect();
        let mut names = words.windows(2).filter(|pair| ITEMS.contains(&pair[0])).map(|pair| pair[1]);
        let (name, word) = names.find_map(|name| Some((name, vague_word(name)?)))?;
        Some(format!("`{name}`: `{word}` says nothing; name what it is"))
    }));
    findings
}

/// The vague word inside a name in either case, if there is one.
fn vague_word(name: &str) -> Option<&'static str> {
    let separated = separated(name);
    let found = separated.split('_').find_map(|part| tables::VAGUE_WORDS.iter().find(|word| **word == part));
    found.copied()
}

fn per_line(lines: &[String], judge: impl Fn(&str) -> Option<String>) -> Vec<Finding> {
    let judged = lines.iter().enumerate();
    judged.filter_map(|(at, line)| Some(Finding { line: at + 1, message: judge(line)? })).collect()
}

/// Whether `length` bytes of `line` at `at` are a whole word.
fn is_whole(line: &str, at: usize, length: usize) -> bool {
    !line[..at].ends_with(is_word) && !line[at + length..].starts_with(is_word)
}

pub fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| is_whole(line, at, word.len()))
}

/// Whether a path on this line starts with `name`, as the name of a crate would: `name::x`,
/// `::name::x`, `use name;`, `use name as x`, but not `crate::device::name::x`.
fn starts_a_path(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (&line[..at], line[at + name.len()..].trim_start());
        let path = is_whole(line, at, name.len()) && after.starts_with("::");
        let inner =
            before.strip_suffix("::").is_some_and(|outer| outer.ends_with(|c| is_word(c) || c == '>'));
        let before = before.trim();
        let whole = before.ends_with("use") && (after.starts_with(';') || after.starts_with("as "));
        (path && !inner) || whole
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that a rule finds in a text at a path.
    fn found(rule: Rule, path: &str, text: &str) -> Vec<usize> {
        rule(&Source::new(path, text)).into_iter().map(|finding| finding.line).collect()
    }

    const NONE: [usize; 0] = [];

    #[test]
    fn a_file_opens_with_its_purpose() {
        assert_eq!(found(opening, "a.rs", "//! A file."), NONE);
        assert_eq!(found(opening, "a.rs", "// A file.\n"), [1]);
        assert_eq!(found(opening, "a.rs", ""), [1]);
    }

    #[test]
    fn lines_and_files_have_an_end() {
        assert_eq!(found(width, "a.rs", &format!("\n{}", "é".repeat(110))), NONE);
        assert_eq!(found(width, "a.rs", &format!("\n{}", "x".repeat(111))), [2]);
        assert_eq!(found(length, "a.rs", &"\n".repeat(800)), NONE);
        assert_eq!(found(length, "a.rs", &"\n".repeat(801)), [801]);
        assert_eq!(found(length, "examples/heat.rs", &"\n".repeat(61)), [61]);
        assert!(long_file_note(&Source::new("a.rs", &"\n".repeat(501))).is_some());
        assert!(long_file_note(&Source::new("a.rs", &"\n".repeat(500))).is_none());
    }

    #[test]
    fn dependencies_stay_at_home() {
        let text = "// wgpu::Buffer in a comment\nlet a = \"wgpu::x\";\nlet b: wgpu::Buffer = c;";
        assert_eq!(found(home, "engine/src/array/mod.rs", text), [3]);
        assert_eq!(found(home, "engine/src/device/wgpu/mod.rs", text), NONE);
        assert_eq!(found(home, "engine/src/device/wgpu.rs", text), NONE);
        assert_eq!(found(home, "engine/src/array/mod.rs", "use crate::device::wgpu::X;"), NONE);
        assert_eq!(found(home, "engine/src/device/mod.rs", "mod wgpu;\nfn a() { wgpu::open() }"), NONE);
        assert_eq!(found(home, "kernels/src/wgsl/mod.rs", "use ::ash::vk;"), [1]);
        assert_eq!(found(home, "kernels/src/ir/kernel.rs", "use ash as vulkan;"), [1]);
        assert_eq!(found(home, "kernels/src/ir/kernel.rs", "use crash::join;"), NONE);
    }

    #[test]
    fn modules_stand_in_a_line() {
        let up = "use crate::index::Region;\nuse crate::device::Device;";
        assert_eq!(found(module_order, "engine/src/plan/mod.rs", up), [1]);
        assert_eq!(found(module_order, "engine/src/team/mod.rs", up), NONE);
        let group = "use crate::{\n    array::{Array, device},\n    index,\n};";
        assert_eq!(found(module_order, "engine/src/plan/mod.rs", group), [1]);
        assert_eq!(found(module_order, "engine/src/array/mod.rs", group), NONE);
        assert_eq!(found(module_order, "engine/src/index/region.rs", "use super::super::plan::Plan;"), [1]);
        assert_eq!(found(module_order, "engine/src/index/region.rs", "use super::grid::Grid;"), NONE);
        assert_eq!(found(module_order, "engine/src/index/mod.rs", "use super::plan::Plan;"), [1]);
        assert_eq!(found(module_order, "engine/src/lib.rs", "pub use crate::array::Array;"), NONE);
        assert_eq!(found(module_order, "engine/src/novelty.rs", ""), [1]);
        assert_eq!(found(module_order, "engine/src/process/mod.rs", "pub mod error;"), NONE);
        assert_eq!(found(module_order, "engine/src/process/error.rs", "use crate::array::Array;"), [1]);
        assert_eq!(found(module_order, "engine/src/process/trace.rs", "use crate::device::Device;"), NONE);
        let in_tests = "#[cfg(test)]\nmod tests { use crate::array::Array; }";
        assert_eq!(found(module_order, "engine/src/index/mod.rs", in_tests), NONE);
    }

    #[test]
    fn unsafe_code_has_its_places() {
        let bare = "fn a() {\n    let b = c;\n    unsafe { d() }\n}";
        assert_eq!(found(unsafe_place, "engine/src/array/mod.rs", bare), [3]);
        assert_eq!(found(unsafe_place, "engine/src/device/mod.rs", bare), NONE);
        assert_eq!(found(unsafe_place, "a.rs", "#![deny(unsafe_code)] // unsafe"), NONE);
    }

    #[test]
    fn nothing_is_left_for_later() {
        assert_eq!(found(unfinished, "a.rs", "// TODO: more\nlet a = \"TODO\";"), [1]);
        assert_eq!(found(unfinished, "a.rs", "// a METHODOLOGY\n"), NONE);
    }

    #[test]
    fn names_say_something() {
        for text in
            ["struct DeviceManager;", "pub fn with_context() {}", "mod utils;", "type GhostCells = u8;"]
        {
            assert_eq!(found(vague_names, "a.rs", text), [1], "{text}");
        }
        assert_eq!(found(vague_names, "a.rs", "fn contextual(tensor: u8) {} // a helper"), NONE);
        assert_eq!(found(vague_names, "engine/src/utils.rs", ""), [1]);
    }
}
