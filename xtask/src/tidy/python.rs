//! Circles of imports among Python files, from their import lines, those inside functions too. `from .a
//! import b` leads to the module `a.b` if there is one, otherwise to `a`. A stub stands for its module.

use super::imports::circles_among;
use super::source::Source;
use std::collections::BTreeMap;

/// The circles among the Python files below `folder`, each as its paths in order.
pub fn circles(sources: &[Source], folder: &str) -> Vec<Vec<String>> {
    let mut modules: BTreeMap<String, usize> = BTreeMap::new();
    for (at, source) in sources.iter().enumerate() {
        let below = source.path.strip_prefix(folder);
        if let Some((path, _)) = below.and_then(|path| path.rsplit_once(".py")) {
            // Of a module with a stub, the module, whose path comes first.
            modules.entry(path.replace('/', ".")).or_insert(at);
        }
    }
    let find = |name: &str| modules.get(name).or_else(|| modules.get(&format!("{name}.__init__"))).copied();
    let leads = |(from, name): (String, String)| find(&format!("{from}.{name}")).or_else(|| find(&from));
    let arrows = modules.iter().map(|(module, &at)| {
        let named = imports(&sources[at].lines.join("\n"), module);
        (at, named.into_iter().filter_map(leads).filter(|to| *to != at).collect())
    });
    circles_among(sources, &arrows.collect())
}

/// The imports of a module: the dotted name of a module, with a dot in front, and a name in it.
fn imports(text: &str, module: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    // Names in parentheses go over several lines.
    let statements = text.replace("(\n", "(").replace(",\n", ",");
    for line in statements.lines().map(|line| line.split(" #").next().unwrap_or_default().trim()) {
        let Some((from, names)) = line.split_once("import ") else { continue };
        let from = from.strip_prefix("from ").unwrap_or(from).trim();
        let up = from.len() - from.trim_start_matches('.').len();
        let start = if up > 0 { module } else { "" };
        let package = (0..up).fold(start, |path, _| path.rsplit_once('.').map_or("", |(outer, _)| outer));
        let from = format!("{package}.{}", from.trim_start_matches('.')).trim_end_matches('.').to_string();
        for name in names.trim_matches(['(', ')']).split(',') {
            let name = name.split(" as ").next().unwrap_or_default().trim();
            found.push((from.clone(), name.to_string()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_files_that_import_each_other_are_a_circle() {
        let b = "from ..a import (\n    A as Other, f,\n)  # fmt: skip\n";
        let found = |a: &str, init: &str| {
            let files = [("a.py", a), ("in/b.py", b), ("__init__.py", init), ("_native.pyi", "")];
            circles(&files.map(|(path, text)| Source::new(&format!("python/p/{path}"), text)), "python")
        };
        assert!(found("import sys\nfrom . import _native\n", "from . import a as a\n").is_empty());
        let hidden = ["def f():\n    from .in import b", "if TYPE_CHECKING:\n    from .in.b import B"];
        for upward in ["from .in.b import B", "import os, p.in.b as b"].into_iter().chain(hidden) {
            assert_eq!(found(upward, ""), [["python/p/a.py", "python/p/in/b.py"]], "{upward}");
        }
        assert_eq!(found("from . import A", "from .a import A"), [["python/p/__init__.py", "python/p/a.py"]]);
    }
}
