//! The manifest of a saved state, lines of text: where its files are, one line for each name, and at the end
//! a checksum of all lines before.

use std::fmt::Write as _;

use super::npy::Content;

/// The first line begins with this; another version is another format.
const KIND: &str = "partita state ";
const FIRST: &str = "partita state 1";

/// A value that is in the manifest itself.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number; all bits of it are kept but those that make a NaN another NaN.
    Float(f64),
    /// Any text.
    Text(String),
}

macro_rules! values {
    ($($type:ty = $variant:ident),*) => {
        $(impl From<$type> for Value {
            fn from(value: $type) -> Value {
                Value::$variant(value.into())
            }
        })*
    };
}

values!(bool = Bool, i64 = Int, i32 = Int, u32 = Int, f64 = Float, f32 = Float, &str = Text, String = Text);

/// The array or value that a name stands for.
#[derive(Clone, PartialEq, Debug)]
pub enum Entry {
    /// The array in the file of that name, and the checksum of its elements.
    Array(Content, u32),
    Value(Value),
}

/// A saved state.
#[derive(Clone, PartialEq, Debug)]
pub struct Manifest {
    /// The folder of its files.
    pub folder: String,
    pub entries: Vec<(String, Entry)>,
}

/// Whether a file can have the name: letters, digits, `_`, `-` and `.`, which does not come first.
pub fn is_name(name: &str) -> bool {
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (1..=200).contains(&name.len()) && name.chars().all(known) && !name.starts_with('.')
}

impl Manifest {
    pub fn to_text(&self) -> String {
        let mut text = format!("{FIRST}\nfolder {}\n", self.folder);
        for (name, entry) in &self.entries {
            let words = match entry {
                Entry::Array(content, sum) => {
                    let shape: Vec<String> = content.shape.iter().map(i64::to_string).collect();
                    let type_name = content.name().unwrap_or_default();
                    format!("array {type_name} ({}) {sum:08x}", shape.join(","))
                }
                Entry::Value(Value::Bool(value)) => format!("bool {value}"),
                Entry::Value(Value::Int(value)) => format!("int {value}"),
                Entry::Value(Value::Float(value)) => format!("float {value:?}"),
                Entry::Value(Value::Text(value)) => format!("text {}", escaped(value)),
            };
            let _ = writeln!(text, "{name} {words}");
        }
        let sum = crc32fast::hash(text.as_bytes());
        text + &format!("checksum {sum:08x}\n")
    }

    /// Whether bytes were a manifest, if not this one, before they were changed or cut off.
    pub fn is_ours(bytes: &[u8]) -> bool {
        bytes.starts_with(KIND.as_bytes())
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Manifest> {
        std::str::from_utf8(bytes).ok().and_then(Manifest::from_text)
    }

    /// `None` for what [`Manifest::to_text`] did not write.
    pub fn from_text(text: &str) -> Option<Manifest> {
        let end = text.strip_suffix('\n')?.rfind('\n')? + 1;
        let (lines, last) = text.split_at(end);
        if last != format!("checksum {:08x}\n", crc32fast::hash(lines.as_bytes())) {
            return None;
        }
        let mut lines = lines.lines();
        let (FIRST, Some(folder)) = (lines.next()?, lines.next()?.strip_prefix("folder ")) else {
            return None;
        };
        let entries = lines.map(entry).collect::<Option<_>>()?;
        is_name(folder).then(|| Manifest { folder: folder.to_owned(), entries })
    }
}

fn entry(line: &str) -> Option<(String, Entry)> {
    let (name, rest) = line.split_once(' ')?;
    let (kind, words) = rest.split_once(' ')?;
    let value = match kind {
        "bool" => Value::Bool(words.parse().ok()?),
        "int" => Value::Int(words.parse().ok()?),
        "float" => Value::Float(words.parse().ok()?),
        "text" => Value::Text(unescaped(words)?),
        "array" => {
            let mut words = words.split(' ');
            let (type_name, shape, sum) = (words.next()?, words.next()?, words.next()?);
            let shape =
                shape.strip_prefix('(')?.strip_suffix(')')?.split(',').filter(|extent| !extent.is_empty());
            let shape = shape.map(|extent| extent.parse().ok()).collect::<Option<Vec<i64>>>()?;
            let content = Content::named(type_name, shape).filter(Content::is_countable)?;
            let entry = Entry::Array(content, u32::from_str_radix(sum, 16).ok()?);
            return is_name(name).then(|| (name.to_owned(), entry));
        }
        _ => return None,
    };
    is_name(name).then(|| (name.to_owned(), Entry::Value(value)))
}

/// A text on one line.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\n', "%0A").replace('\r', "%0D")
}

fn unescaped(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut plain = parts.next()?.to_owned();
    for part in parts {
        let (code, rest) = part.split_at_checked(2)?;
        plain.push(char::from(u8::from_str_radix(code, 16).ok()?));
        plain += rest;
    }
    Some(plain)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use partita_kernels::DType;

    use super::*;

    #[test]
    fn a_manifest_is_read_as_it_was_written_or_not_at_all() {
        let array = |dtype, pairs, shape: &[i64]| {
            Entry::Array(Content { dtype, pairs, shape: shape.to_vec() }, 0x1a2b)
        };
        let values = [
            array(DType::F32, false, &[100, 0, 7]),
            array(DType::F64, true, &[]),
            array(DType::BF16, false, &[5]),
            Entry::Value(true.into()),
            Entry::Value(i64::MIN.into()),
            Entry::Value((-0.1f64).into()),
            Entry::Value(f64::NEG_INFINITY.into()),
            Entry::Value("two\nlines: 100 %\r ü".into()),
            Entry::Value("".into()),
        ];
        let entries = values.into_iter().enumerate().map(|(k, value)| (format!("n-{k}.x"), value)).collect();
        let manifest = Manifest { folder: "state-7".to_owned(), entries };
        let text = manifest.to_text();
        assert_eq!(Manifest::from_text(&text), Some(manifest));
        for cut in 0..text.len() {
            if let Some(cut) = text.get(..cut) {
                assert_eq!(Manifest::from_text(cut), None, "{cut}");
            }
            let mut changed = text.clone().into_bytes();
            changed[cut] ^= 1;
            let read = String::from_utf8(changed).ok().and_then(|text| Manifest::from_text(&text));
            assert_eq!(read, None, "byte {cut}");
        }
        for name in ["", ".", "../u", "a/b", "a b", "ü"] {
            assert!(!is_name(name), "{name}");
        }
    }
}
