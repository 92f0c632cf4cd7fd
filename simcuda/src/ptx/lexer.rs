//! Splits PTX text into words, numbers and marks, and says what is wrong with a text, and where. It does not
//! know what any word means.

/// PTX that does not lie in the subset this simulator runs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("PTX line {line}: {message}: `{text}`")]
pub struct ParseError {
    /// The line, counted from 1.
    pub line: u32,
    /// The text of that line.
    pub text: String,
    /// The token that was expected, or is unknown.
    pub message: String,
}

/// A line number and a message; the parser adds the line's text.
pub(crate) type Wrong = (u32, String);

/// One piece of the text, and its line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Token<'a> {
    pub piece: Lexeme<'a>,
    pub line: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lexeme<'a> {
    /// A directive, an instruction with its modifiers, a register or a name.
    Word(&'a str),
    /// An integer without its sign.
    Integer(u64),
    /// `0f` and the bits of an f32.
    Single(u32),
    /// `0d` and the bits of an f64.
    Double(u64),
    Mark(char),
}

impl std::fmt::Display for Lexeme<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Lexeme::Word(word) => f.write_str(word),
            Lexeme::Integer(value) => write!(f, "{value}"),
            Lexeme::Single(bits) => write!(f, "0f{bits:08X}"),
            Lexeme::Double(bits) => write!(f, "0d{bits:016X}"),
            Lexeme::Mark(mark) => write!(f, "{mark}"),
        }
    }
}

/// All tokens of `text`.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token<'_>>, Wrong> {
    let mut found = Vec::new();
    for (line, row) in (1..).zip(text.lines()) {
        let mut rest = row.split("//").next().unwrap_or("").trim_start();
        while let Some(first) = rest.chars().next() {
            let length = length(rest, first);
            let (word, tail) = rest.split_at(length);
            let piece = piece(word, first).map_err(|message| (line, message))?;
            found.push(Token { piece, line });
            rest = tail.trim_start();
        }
    }
    Ok(found)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | '.')
}

/// Bytes of the token that `rest` begins with. Two colons belong to a word, one ends it.
fn length(rest: &str, first: char) -> usize {
    if !is_word(first) {
        return first.len_utf8();
    }
    let plain = |from: usize| rest[from..].find(|c| !is_word(c)).map_or(rest.len(), |at| from + at);
    let mut end = plain(0);
    while rest[end..].starts_with("::") {
        end = plain(end + 2);
    }
    end
}

fn piece(word: &str, first: char) -> Result<Lexeme<'_>, String> {
    // A version such as `7.0` is a word; decimal fractions are not in the subset.
    if first.is_ascii_digit() && !word.contains('.') {
        return number(word).ok_or_else(|| format!("`{word}` is no decimal, 0x, 0f or 0d number"));
    }
    match first {
        c if is_word(c) => Ok(Lexeme::Word(word)),
        '@' | '!' | ',' | ';' | ':' | '{' | '}' | '[' | ']' | '(' | ')' | '<' | '>' | '|' | '+' | '-' => {
            Ok(Lexeme::Mark(first))
        }
        other => Err(format!("`{other}` is not used in PTX of this subset")),
    }
}

fn number(word: &str) -> Option<Lexeme<'_>> {
    let hexadecimal = |digits: &str| u64::from_str_radix(digits, 16).ok();
    match word.split_at_checked(2) {
        Some(("0x" | "0X", digits)) => hexadecimal(digits).map(Lexeme::Integer),
        Some(("0f" | "0F", digits)) if digits.len() == 8 => {
            hexadecimal(digits).map(|bits| Lexeme::Single(bits as u32))
        }
        Some(("0d" | "0D", digits)) if digits.len() == 16 => hexadecimal(digits).map(Lexeme::Double),
        // A leading zero means octal in PTX; nobody writes that on purpose.
        Some((two, _)) if two.starts_with('0') => None,
        _ => word.parse().ok().map(Lexeme::Integer),
    }
}
