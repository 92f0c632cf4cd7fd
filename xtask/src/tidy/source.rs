//! Source files as the rules see them: code, comments and text of literals told apart, with every
//! character in its place. It knows Rust's lexical rules and nothing of its grammar.

use std::path::Path;

/// One file. Only Rust files have code and comments.
#[derive(Debug)]
pub struct Source {
    /// Below the repository, with `/`.
    pub path: String,
    /// As written.
    pub lines: Vec<String>,
    /// Comments and the text of literals blanked.
    pub code: Vec<String>,
    /// As `code`, with the items under `#[cfg(test)]` blanked too; a test file has none left.
    pub product: Vec<String>,
    /// Only comments.
    pub comments: Vec<String>,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Self {
        let (code, comments) = if path.ends_with(".rs") { split(text) } else { Default::default() };
        let product = if is_test_file(path) { blank(&code) } else { without_tests(&code) };
        let lines = |text: &str| text.lines().map(String::from).collect();
        Source {
            path: path.to_string(),
            lines: lines(text),
            code: lines(&code),
            product: lines(&product),
            comments: lines(&comments),
        }
    }
}

/// Folders that hold no source of ours.
const SKIPPED: &[&str] = &["target", "out"];
/// The endings of the files that are read.
const READ: &[&str] = &[".rs", ".md", ".py", ".pyi", "/requirements.json"];

/// Every file of source or text below `root`, in the order of their paths.
pub fn read_all(root: &Path) -> std::io::Result<Vec<Source>> {
    let mut sources = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().to_string();
            if entry.file_type()?.is_dir() {
                if !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
                    folders.push(entry.path());
                }
            } else if entry.file_type()?.is_file() && READ.iter().any(|end| format!("/{name}").ends_with(end))
            {
                let path = entry.path();
                let below = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
                sources.push(Source::new(&below, &std::fs::read_to_string(&path)?));
            }
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

fn is_test_file(path: &str) -> bool {
    path.split('/').any(|part| part == "tests" || part == "tests.rs" || part.ends_with("_tests.rs"))
}

pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A name in lower case with `_` between its words: `SomeName` and `some_name` are the same.
pub fn separated(name: &str) -> String {
    let mut separated = String::new();
    for (at, c) in name.char_indices() {
        if c.is_uppercase() && at > 0 && !name[..at].ends_with(|before: char| before.is_uppercase()) {
            separated.push('_');
        }
        separated.extend(c.to_lowercase());
    }
    separated
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Code,
    Comment,
    /// Inside a string or a character literal.
    Literal,
}

/// The text with only its code left, and with only its comments left.
fn split(text: &str) -> (String, String) {
    let chars: Vec<char> = text.chars().collect();
    let kinds = kinds(&chars);
    let only = |wanted: Kind| {
        let pairs = chars.iter().zip(&kinds);
        pairs.map(|(&c, &kind)| if kind == wanted || c == '\n' { c } else { ' ' }).collect()
    };
    (only(Kind::Code), only(Kind::Comment))
}

fn kinds(chars: &[char]) -> Vec<Kind> {
    let mut kinds = vec![Kind::Code; chars.len()];
    let mut at = 0;
    while at < chars.len() {
        let (kind, end) = token(chars, at);
        kinds[at..end].fill(kind);
        at = end;
    }
    kinds
}

/// The kind of what starts at `at`, and where it ends.
fn token(chars: &[char], at: usize) -> (Kind, usize) {
    let next = chars.get(at + 1).copied();
    match chars[at] {
        '/' if next == Some('/') => (Kind::Comment, find(chars, at, |c| c == '\n')),
        '/' if next == Some('*') => (Kind::Comment, block_comment_end(chars, at)),
        '"' => (Kind::Literal, quoted_end(chars, at, '"')),
        '\'' if next == Some('\\') => (Kind::Literal, quoted_end(chars, at, '\'')),
        // Otherwise the quote opens a lifetime.
        '\'' if chars.get(at + 2) == Some(&'\'') => (Kind::Literal, at + 3),
        'r' if starts_word(chars, at) => match raw_string_end(chars, at) {
            Some(end) => (Kind::Literal, end),
            None => (Kind::Code, at + 1),
        },
        _ => (Kind::Code, at + 1),
    }
}

/// Whether a word starts here; the `b` and `c` of byte and C strings count as none.
fn starts_word(chars: &[char], at: usize) -> bool {
    let is_word = |at: usize| chars.get(at).is_some_and(|&c| is_word(c));
    match at.checked_sub(1) {
        None => true,
        Some(before) if matches!(chars[before], 'b' | 'c') => before == 0 || !is_word(before - 1),
        Some(before) => !is_word(before),
    }
}

fn find(chars: &[char], from: usize, wanted: impl Fn(char) -> bool) -> usize {
    chars[from..].iter().position(|&c| wanted(c)).map_or(chars.len(), |offset| from + offset)
}

fn block_comment_end(chars: &[char], start: usize) -> usize {
    let mut depth = 0;
    let mut at = start;
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    chars.len()
}

fn quoted_end(chars: &[char], start: usize, quote: char) -> usize {
    let mut at = start + 1;
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            c if c == quote => return at + 1,
            _ => at += 1,
        }
    }
    chars.len()
}

/// The end of `r"..."` or `r##"..."##`; none where `r` opens something else.
fn raw_string_end(chars: &[char], start: usize) -> Option<usize> {
    let quote = find(chars, start + 1, |c| c != '#');
    if chars.get(quote) != Some(&'"') {
        return None;
    }
    let hashes = quote - start - 1;
    let closes =
        |at: usize| chars[at] == '"' && chars[at + 1..].iter().take_while(|&&c| c == '#').count() >= hashes;
    let end = (quote + 1..chars.len()).find(|&at| closes(at));
    Some(end.map_or(chars.len(), |end| end + 1 + hashes))
}

fn blank(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { c } else { ' ' }).collect()
}

/// Blanks every item under an attribute that asks for `test`.
fn without_tests(code: &str) -> String {
    let mut chars: Vec<char> = code.chars().collect();
    let attribute: Vec<char> = "#[cfg(".chars().collect();
    let mut at = 0;
    while at < chars.len() {
        if !chars[at..].starts_with(&attribute) {
            at += 1;
            continue;
        }
        let close = find(&chars, at, |c| c == ']');
        let condition: String = chars[at..close].iter().collect();
        if !asks_for_test(&condition) {
            at = close;
            continue;
        }
        let end = item_end(&chars, close);
        chars[at..end].iter_mut().filter(|c| **c != '\n').for_each(|c| *c = ' ');
        at = end;
    }
    chars.into_iter().collect()
}

fn asks_for_test(condition: &str) -> bool {
    ["#[cfg(test)", "#[cfg(all(test,"].iter().any(|form| condition.starts_with(form))
}

/// The end of the item after `from`: its semicolon, or the brace that closes its body.
fn item_end(chars: &[char], from: usize) -> usize {
    let mut at = find(chars, from, |c| c == ';' || c == '{');
    let mut depth = 0;
    while at < chars.len() {
        match chars[at] {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        split(text).0
    }

    #[test]
    fn comments_and_literals_are_told_from_code() {
        assert_eq!(code("a // b"), "a     ");
        assert_eq!(code("a /* b /* c */ d */ e"), "a                   e");
        assert_eq!(code(r#"f("x \" y") g"#), "f(        ) g");
        assert_eq!(code(r##"r#"a " b"# c"##), "           c");
        assert_eq!(code(r#"br"a\" c"#), "b      c");
        assert_eq!(code("'{' '\\'' 'a b"), "         'a b");
        assert_eq!(code("four\"x\""), "four   ");
        assert_eq!(split("a // b\nc").1, "  // b\n ");
    }

    #[test]
    fn tests_are_blanked_with_their_bodies() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { {} } }\nfn c() {}";
        let source = Source::new("kernels/src/x.rs", text);
        assert_eq!(source.product[0], "fn a() {}");
        assert_eq!(source.product[2].trim(), "");
        assert_eq!(source.product[3], "fn c() {}");
        let declared = Source::new("kernels/src/x.rs", "#[cfg(test)]\nmod tests;\nfn c() {}");
        assert_eq!(declared.product[1].trim(), "");
        assert_eq!(declared.product[2], "fn c() {}");
        assert_eq!(Source::new("kernels/tests/x.rs", "fn a() {}").product[0].trim(), "");
    }
}
