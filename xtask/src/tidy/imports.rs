//! Circles of imports among the files of a crate, from its `mod` and `use` lines and its qualified
//! paths. A path leads to the file that defines the name, through re-exports: `use
//! crate::index::Region` is an arrow to the file with `Region`. A file that only re-exports counts for
//! what it takes from outside its folder and gives to others outside. Items under `#[cfg(test)]` do not
//! count. Inline modules belong to their file.

use super::source::{Source, is_word};
use std::collections::{BTreeMap, BTreeSet};

/// One import: the path, and the name it gets in this file (`*` imports everything).
#[derive(Debug, PartialEq, Eq)]
struct Import {
    path: Vec<String>,
    name: String,
}

/// One file of a crate as a module.
struct Module {
    /// Index of its source.
    source: usize,
    children: BTreeMap<String, Vec<String>>,
    imports: Vec<Import>,
    /// Names of the items it defines.
    defined: BTreeSet<String>,
    /// It only declares modules and re-exports names.
    is_list: bool,
    /// Qualified paths outside `use`.
    paths: Vec<Vec<String>>,
}

/// The modules of one crate by their paths; the root's path is empty.
struct Crate(BTreeMap<Vec<String>, Module>);

/// By file of the crate at `folder` the files that it imports.
pub fn arrows(sources: &[Source], folder: &str) -> BTreeMap<usize, BTreeSet<usize>> {
    let tree = Crate::read(sources, folder);
    tree.0.iter().map(|(path, module)| (module.source, tree.arrows(path, module))).collect()
}

/// The circles among the files below `folder`, each as its paths in order.
pub fn circles(sources: &[Source], folder: &str) -> Vec<Vec<String>> {
    circles_among(sources, &arrows(sources, folder))
}

/// The circles that arrows between files form, each as its paths in order.
pub fn circles_among(sources: &[Source], arrows: &BTreeMap<usize, BTreeSet<usize>>) -> Vec<Vec<String>> {
    let reached: BTreeMap<usize, BTreeSet<usize>> =
        arrows.keys().map(|&from| (from, reach(arrows, from))).collect();
    let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
    for (&from, to) in &reached {
        let circle = to.iter().filter(|other| reached[*other].contains(&from));
        let mut files: Vec<String> = circle.map(|&at| sources[at].path.clone()).collect();
        files.sort();
        if !files.is_empty() {
            circles.insert(files);
        }
    }
    circles.into_iter().collect()
}

/// The files that `from` reaches by one arrow or more.
fn reach(arrows: &BTreeMap<usize, BTreeSet<usize>>, from: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        open.extend(arrows[&at].iter().filter(|&&to| reached.insert(to)));
    }
    reached
}

/// The names that a file takes from its crate's root: by `crate::`, or by as many `super::` as it is deep.
pub fn root_names(product: &str, depth: usize) -> BTreeSet<String> {
    let module = Module::read(product, 0);
    let climbs = |path: &[String]| path.len() > depth && path[..depth].iter().all(|part| part == "super");
    let all = module.imports.iter().map(|import| &import.path).chain(&module.paths);
    let name = |path: &Vec<String>| match path.first()?.as_str() {
        "crate" => path.get(1).cloned(),
        _ => climbs(path).then(|| path[depth].clone()),
    };
    all.filter_map(name).collect()
}

impl Crate {
    /// Follows `mod` lines from the crate's root, so that files only tests declare are left out.
    fn read(sources: &[Source], folder: &str) -> Self {
        let mut modules = BTreeMap::new();
        let find = |path: String| sources.iter().position(|source| source.path == path);
        let mut open: Vec<(Vec<String>, usize)> = ["lib.rs", "main.rs"]
            .iter()
            .filter_map(|file| Some((Vec::new(), find(format!("{folder}/{file}"))?)))
            .collect();
        while let Some((path, source)) = open.pop() {
            let mut module = Module::read(&sources[source].product.join("\n"), source);
            for name in declared(&sources[source].product) {
                let below: Vec<String> = path.iter().cloned().chain([name.clone()]).collect();
                let stem = format!("{folder}/{}", below.join("/"));
                if let Some(at) = find(format!("{stem}.rs")).or_else(|| find(format!("{stem}/mod.rs"))) {
                    module.children.insert(name, below.clone());
                    open.push((below, at));
                }
            }
            modules.insert(path, module);
        }
        Crate(modules)
    }

    /// The files that a module's imports and paths lead to.
    fn arrows(&self, path: &[String], module: &Module) -> BTreeSet<usize> {
        let mut arrows = Arrows { tree: self, of: path, to: BTreeSet::new() };
        // A list leads to what it re-exports of others: names of its own folder lead to their files.
        let own = |named: &[String]| match named[0].as_str() {
            "crate" => module.is_list && named[1..].starts_with(path),
            first => module.is_list && first != "super",
        };
        let named = module.imports.iter().map(|import| &import.path).chain(&module.paths);
        named.filter(|named| !own(named)).for_each(|named| arrows.resolve(path, named, 0));
        arrows.to.remove(&module.source);
        arrows.to
    }
}

/// The files that one module leads to, as its paths are resolved.
struct Arrows<'c> {
    tree: &'c Crate,
    of: &'c [String],
    to: BTreeSet<usize>,
}

impl Arrows<'_> {
    /// Adds a list whose re-exports are used outside its folder: modules inside reach each other through it.
    fn add_list(&mut self, path: &[String], module: &Module) {
        self.to.extend((module.is_list && !self.of.starts_with(path)).then_some(module.source));
    }

    /// Adds the files to which `named`, written in the module `from`, leads.
    fn resolve(&mut self, from: &[String], named: &[String], depth: usize) {
        const DEEPEST: usize = 8;
        let Some(module) = self.tree.0.get(from).filter(|_| depth < DEEPEST) else { return };
        let Some((first, rest)) = named.split_first() else {
            // A module itself: what is used of it is a path of its own.
            self.to.extend((!module.is_list).then_some(module.source));
            return;
        };
        match first.as_str() {
            "crate" => self.resolve(&[], rest, depth),
            "self" => self.resolve(from, rest, depth),
            "super" => self.resolve(&from[..from.len().saturating_sub(1)], rest, depth),
            "*" => {
                self.to.extend((!module.is_list).then_some(module.source));
                self.add_list(from, module);
                let listed = module.imports.iter().filter(|_| module.is_list);
                listed.for_each(|import| self.resolve(from, &import.path, depth + 1));
            }
            name => {
                if let Some(child) = module.children.get(name) {
                    self.resolve(child, rest, depth);
                } else if module.defined.contains(name) {
                    self.to.insert(module.source);
                } else if let Some(import) = module.imports.iter().find(|import| import.name == name) {
                    // A name that the path itself imports is another crate's.
                    if import.path.first().is_some_and(|start| start != name) {
                        self.add_list(from, module);
                        let path: Vec<String> = import.path.iter().chain(rest).cloned().collect();
                        self.resolve(from, &path, depth + 1);
                    }
                } else {
                    for import in module.imports.iter().filter(|import| import.name == "*") {
                        let outer = &import.path[..import.path.len() - 1];
                        let path: Vec<String> = outer.iter().chain(named).cloned().collect();
                        if ["crate", "self", "super"].contains(&path[0].as_str())
                            || module.children.contains_key(&path[0])
                        {
                            self.resolve(from, &path, depth + 1);
                        }
                    }
                }
            }
        }
    }
}

impl Module {
    fn read(product: &str, source: usize) -> Self {
        let mut rest = product.to_string();
        let mut imports = Vec::new();
        while let Some((start, end)) = use_item(&rest) {
            let tree: String =
                rest[start..end].trim_start_matches("use").split_whitespace().collect::<Vec<_>>().join(" ");
            expand(&tree, &[], &mut imports);
            rest.replace_range(start..end + 1, &" ".repeat(end + 1 - start));
        }
        let words: Vec<&str> = rest.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).collect();
        let items = ["struct", "enum", "union", "trait", "type", "fn", "const", "static", "macro_rules"];
        let named = words.windows(2).filter(|pair| items.contains(&pair[0]));
        Module {
            source,
            children: BTreeMap::new(),
            imports,
            defined: named.map(|pair| pair[1].to_string()).collect(),
            is_list: is_list(&rest),
            paths: paths(&rest),
        }
    }
}

/// Whether nothing but attributes and `mod` lines is left of a file without its `use` items.
fn is_list(rest: &str) -> bool {
    let lines = rest.lines().map(str::trim);
    lines.into_iter().all(|line| {
        let open = line.is_empty() || line.starts_with('#') || line.starts_with("pub") && !line.contains(' ');
        open || line.ends_with(';') && line.split(' ').any(|word| word == "mod")
    })
}

/// The names of `mod name;` lines.
fn declared(lines: &[String]) -> Vec<String> {
    let names = lines.iter().filter_map(|line| {
        let (before, name) = line.trim().strip_suffix(';')?.rsplit_once("mod ")?;
        (before.is_empty() || before.ends_with(' ')).then(|| name.trim().to_string())
    });
    names.filter(|name| name.chars().all(is_word)).collect()
}

/// The positions of the next `use` item and its semicolon.
fn use_item(text: &str) -> Option<(usize, usize)> {
    text.match_indices("use").find_map(|(at, word)| {
        let whole = !text[..at].ends_with(is_word) && text[at + word.len()..].starts_with([' ', '\n']);
        let opens = text[..at].trim_end().is_empty()
            || text[..at].trim_end().ends_with([';', '{', '}', ')', ']'])
            || text[..at].trim_end().ends_with("pub");
        (whole && opens).then(|| Some((at, at + text[at..].find(';')?))).flatten()
    })
}

/// The imports of a tree such as `a::{self, b as c, d::*}`.
fn expand(tree: &str, before: &[String], imports: &mut Vec<Import>) {
    let tree = tree.trim();
    let joined = |path: &str| {
        let names = path.split("::").map(|name| name.trim().to_string()).filter(|name| !name.is_empty());
        before.iter().cloned().chain(names).collect::<Vec<_>>()
    };
    if let Some((outer, group)) = tree.split_once('{') {
        let group = group.trim_end().trim_end_matches('}');
        // The last brace closed this group; those of inner groups are needed.
        let missing = group.matches('{').count() - group.matches('}').count();
        let group = format!("{group}{}", "}".repeat(missing));
        let outer = joined(outer);
        split_commas(&group).into_iter().for_each(|part| expand(part, &outer, imports));
        return;
    }
    if tree.is_empty() {
        return;
    }
    let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias)));
    let mut path = joined(path);
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let name = alias.map(|alias| alias.trim().to_string()).or_else(|| path.last().cloned());
    imports.push(Import { name: name.unwrap_or_default(), path });
}

/// The parts between the commas outside braces.
fn split_commas(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&group[start..]);
    parts
}

/// The paths with at least two names in code without `use` items.
fn paths(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let is_path = |c: char| is_word(c) || c == ':';
    for run in text.split(|c: char| !is_path(c)).filter(|run| run.contains("::")) {
        // `x: a::b` without a blank is not written; `<T>::a` starts with the colons.
        let names: Vec<String> = run.split("::").map(String::from).collect();
        if !names[0].is_empty() && names.iter().all(|name| !name.contains(':')) {
            found.push(names.into_iter().filter(|name| !name.is_empty()).collect());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let sources: Vec<Source> = files.iter().map(|(path, text)| Source::new(path, text)).collect();
        circles(&sources, "src")
    }

    const LIB: (&str, &str) = ("src/lib.rs", "pub mod a;\nmod b;\npub use a::A;");

    #[test]
    fn two_files_that_import_each_other_are_a_circle() {
        let b = ("src/b.rs", "use super::a::{self, A as Other};\npub struct B;");
        let straight = [LIB, ("src/a.rs", "pub struct A;"), b];
        assert_eq!(found(&straight), [[""; 0]; 0]);
        let circle = [LIB, ("src/a.rs", "use crate::b::B;\npub struct A;"), b];
        assert_eq!(found(&circle), [["src/a.rs", "src/b.rs"]]);
        let qualified = [LIB, ("src/a.rs", "pub struct A;\nfn f() -> Vec<crate::b::B> {}"), b];
        assert_eq!(found(&qualified).len(), 1);
        let in_tests = [LIB, ("src/a.rs", "pub struct A;\n#[cfg(test)]\nmod tests { use crate::b::B; }"), b];
        assert_eq!(found(&in_tests).len(), 0);
    }

    #[test]
    fn names_lead_through_lists_to_their_files() {
        // `b` takes `A` from the root, which only lists; `a/mod.rs` re-exports what `a/inner.rs` defines.
        let list = ("src/a/mod.rs", "//! List.\nmod inner;\npub(crate) use inner::{A, helper};");
        let b = ("src/b.rs", "use crate::A;\npub struct B;");
        let inner = ("src/a/inner.rs", "pub struct A;\npub fn helper() {}");
        assert_eq!(found(&[LIB, list, inner, b]).len(), 0);
        let upward = ("src/a/inner.rs", "use super::super::b::B;\npub struct A;");
        assert_eq!(found(&[LIB, list, upward, b]), [["src/a/inner.rs", "src/b.rs"]]);
        let all = ("src/b.rs", "use crate::a::*;\npub struct B;");
        assert_eq!(found(&[LIB, list, upward, all]).len(), 1);
    }

    #[test]
    fn a_list_that_re_exports_a_file_which_takes_names_from_it_is_a_circle() {
        let lib = ("src/lib.rs", "mod a;\nmod driver;");
        let inner = ("src/a/inner.rs", "pub struct A;");
        let driver = ("src/driver.rs", "use super::a::A;\npub struct Handle;");
        let list = ("src/a/mod.rs", "mod inner;\npub use super::driver::Handle;\npub use inner::A;");
        assert_eq!(found(&[lib, list, inner, driver]), [["src/a/mod.rs", "src/driver.rs"]]);
        let straight = ("src/a/mod.rs", "mod inner;\npub use inner::A;");
        assert_eq!(found(&[lib, straight, inner, driver]).len(), 0);
        // Files of the folder reach each other, and what is outside, through their list.
        let second = ("src/a/second.rs", "use super::{A, Handle};\npub struct B;");
        let list =
            ("src/a/mod.rs", "mod inner;\nmod second;\npub use crate::driver::Handle;\npub use inner::A;");
        assert_eq!(found(&[lib, list, inner, second, ("src/driver.rs", "pub struct Handle;")]).len(), 0);
    }

    #[test]
    fn a_child_that_needs_its_parent_is_a_circle() {
        let parent = ("src/a/mod.rs", "mod inner;\nuse inner::f;\npub struct A;");
        let child = ("src/a/inner.rs", "use super::A;\npub fn f() {}");
        let b = ("src/b.rs", "");
        assert_eq!(found(&[LIB, parent, child, b]), [["src/a/inner.rs", "src/a/mod.rs"]]);
        let by_path = ("src/a/mod.rs", "mod inner;\npub struct A;\nfn g() { inner::f() }");
        assert_eq!(found(&[LIB, by_path, child, b]).len(), 1);
        let unused = ("src/a/mod.rs", "mod inner;\npub struct A;");
        assert_eq!(found(&[LIB, unused, child, b]).len(), 0);
        let list = ("src/a/mod.rs", "mod inner;\nmod types;\npub use types::A;\npub use inner::f;");
        let types = ("src/a/types.rs", "pub struct A;");
        assert_eq!(found(&[LIB, list, types, child, b]).len(), 0);
    }

    #[test]
    fn use_trees_are_read() {
        let mut imports = Vec::new();
        expand("a::{self, b::{C, D as E}, f::*}", &[], &mut imports);
        let shown: Vec<String> =
            imports.iter().map(|i| format!("{} {}", i.path.join("::"), i.name)).collect();
        assert_eq!(shown, ["a a", "a::b::C C", "a::b::D E", "a::f::* *"]);
    }
}
