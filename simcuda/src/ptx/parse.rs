//! The parser of a module: directives, declarations, and the statements of a body, whose instructions it
//! hands to `decode` with their operands.

use super::decode::{Body, Instruction, Operand};
use super::lexer::{Lexeme, ParseError, Token, Wrong, tokens};
use super::program::{Array, Entry, Program, Threads};
use super::types::{Header, Type};
use std::sync::Arc;

/// Shared memory that a kernel may declare.
const SHARED_LIMIT: u32 = 48 * 1024;

/// The beginning of shared memory that a launch gives: behind all that a text may declare.
const GIVEN_START: u32 = 1 << 16;
/// Unused bytes after each shared array, so that running over its end is seen.
const SHARED_GAP: u32 = 64;
/// The largest parameter block of every target.
const PARAM_LIMIT: u64 = 4096;

impl Program {
    /// Reads PTX text of the subset that this simulator runs and refuses everything else.
    pub fn parse(text: &str) -> Result<Program, ParseError> {
        program(text)
    }
}

fn program(text: &str) -> Result<Program, ParseError> {
    let lines: Arc<[Box<str>]> = text.lines().map(Box::from).collect();
    let error = |(line, message): Wrong| ParseError {
        line,
        text: lines.get(line.max(1) as usize - 1).map_or(String::new(), |text| text.trim().to_string()),
        message,
    };
    let tokens = tokens(text).map_err(error)?;
    let mut parser = Parser { tokens: &tokens, at: 0 };
    let entries = parser.module().map_err(error)?;
    Ok(Program { entries, lines })
}

struct Parser<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
}

impl<'a> Parser<'a> {
    fn line(&self) -> u32 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |token| token.line)
    }

    fn wrong<T>(&self, message: impl Into<String>) -> Result<T, Wrong> {
        Err((self.line(), message.into()))
    }

    fn peek(&self) -> Option<Lexeme<'a>> {
        self.tokens.get(self.at).map(|token| token.piece)
    }

    fn next(&mut self, expected: &str) -> Result<Lexeme<'a>, Wrong> {
        let piece = self.peek().ok_or_else(|| (self.line(), format!("expected {expected}, not the end")))?;
        self.at += 1;
        Ok(piece)
    }

    fn unexpected<T>(&mut self, expected: &str, found: Lexeme) -> Result<T, Wrong> {
        self.at -= 1;
        self.wrong(format!("expected {expected}, not `{found}`"))
    }

    fn takes(&mut self, mark: char) -> bool {
        let here = self.peek() == Some(Lexeme::Mark(mark));
        self.at += here as usize;
        here
    }

    fn mark(&mut self, mark: char) -> Result<(), Wrong> {
        match self.next(&format!("`{mark}`"))? {
            Lexeme::Mark(found) if found == mark => Ok(()),
            other => self.unexpected(&format!("`{mark}`"), other),
        }
    }

    fn word(&mut self, expected: &str) -> Result<&'a str, Wrong> {
        match self.next(expected)? {
            Lexeme::Word(word) => Ok(word),
            other => self.unexpected(expected, other),
        }
    }

    fn this_word(&mut self, word: &str) -> Result<(), Wrong> {
        match self.next(&format!("`{word}`"))? {
            Lexeme::Word(found) if found == word => Ok(()),
            other => self.unexpected(&format!("`{word}`"), other),
        }
    }

    fn integer(&mut self, expected: &str) -> Result<u64, Wrong> {
        match self.next(expected)? {
            Lexeme::Integer(value) => Ok(value),
            other => self.unexpected(expected, other),
        }
    }

    fn name(&mut self, expected: &str) -> Result<&'a str, Wrong> {
        let name = self.word(expected)?;
        let good = !name.contains('.') && !name.contains(':') && name.len() > name.starts_with('%') as usize;
        if good { Ok(name) } else { self.wrong(format!("`{name}` is no name")) }
    }

    fn module(&mut self) -> Result<Vec<Entry>, Wrong> {
        let header = self.header()?;
        let mut entries: Vec<Entry> = Vec::new();
        while self.peek().is_some() {
            let given = self.given()?;
            let entry = self.entry(header, given)?;
            if entries.iter().any(|known| known.name == entry.name) {
                return self.wrong(format!("entry `{}` stands here twice", entry.name));
            }
            entries.push(entry);
        }
        if entries.is_empty() { self.wrong("expected an entry") } else { Ok(entries) }
    }

    fn header(&mut self) -> Result<Header, Wrong> {
        self.this_word(".version")?;
        let version = self.version()?;
        self.this_word(".target")?;
        let word = self.word("a target")?;
        let target = word.strip_prefix("sm_").and_then(|number| number.parse().ok()).unwrap_or(0);
        let least = match target {
            75 | 80 => 70,
            90 => 78,
            100 => 86,
            _ => return self.wrong(format!("target `{word}` is none of sm_75, sm_80, sm_90, sm_100")),
        };
        if version < least {
            return self.wrong(format!("target `{word}` needs PTX {}.{}", least / 10, least % 10));
        }
        self.this_word(".address_size")?;
        match self.integer("64")? {
            64 => Ok(Header { version, target }),
            other => self.wrong(format!("addresses of {other} bits; expected 64")),
        }
    }

    /// `7.8`, as seventy-eight.
    fn version(&mut self) -> Result<u32, Wrong> {
        match self.next("a version")? {
            Lexeme::Word(word) => {
                let parts = word.split_once('.').and_then(|(major, minor)| {
                    Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
                });
                match parts {
                    Some((major @ 7..=8, minor @ 0..=9)) => Ok(major * 10 + minor),
                    _ => self.wrong(format!("version `{word}` is not between 7.0 and 8.9")),
                }
            }
            other => self.unexpected("a version", other),
        }
    }

    /// `.extern .shared .align 16 .b8 name[];`, if it stands here: what a launch gives the next entry.
    fn given(&mut self) -> Result<Option<&'a str>, Wrong> {
        if self.peek() != Some(Lexeme::Word(".extern")) {
            return Ok(None);
        }
        self.this_word(".extern")?;
        self.this_word(".shared")?;
        self.this_word(".align")?;
        match self.integer("an alignment")? {
            align if align.is_power_of_two() && align <= 256 => {}
            align => return self.wrong(format!("alignment {align}; expected a power of two up to 256")),
        }
        self.this_word(".b8")?;
        let name = self.name("an array's name")?;
        for mark in ['[', ']', ';'] {
            self.mark(mark)?;
        }
        Ok(Some(name))
    }

    fn entry(&mut self, header: Header, given: Option<&'a str>) -> Result<Entry, Wrong> {
        self.this_word(".visible")?;
        self.this_word(".entry")?;
        let name = self.name("the entry's name")?;
        self.mark('(')?;
        let (block, params) = self.params()?;
        self.mark(')')?;
        let threads = self.performance()?;
        self.mark('{')?;
        let mut body = Body::new(header, block, params);
        if let Some(name) = given {
            let array = Array { name: name.to_string(), start: GIVEN_START, bytes: None };
            if let Err(message) = body.share(name, array) {
                return self.wrong(message);
            }
        }
        while !self.takes('}') {
            self.statement(&mut body)?;
        }
        let mut entry = body.finish()?;
        entry.name = name.to_string();
        entry.threads = threads;
        Ok(entry)
    }

    /// The one parameter, a block of bytes: its name and its size.
    fn params(&mut self) -> Result<(&'a str, u32), Wrong> {
        for word in [".param", ".align"] {
            self.this_word(word)?;
        }
        match self.integer("8")? {
            8 => {}
            other => return self.wrong(format!("alignment {other}; expected 8")),
        }
        self.this_word(".b8")?;
        let name = self.name("the parameter's name")?;
        self.mark('[')?;
        let bytes = self.integer("the parameter's size")?;
        self.mark(']')?;
        match bytes {
            1..=PARAM_LIMIT => Ok((name, bytes as u32)),
            _ => self.wrong(format!("parameter of {bytes} bytes; expected 1 to {PARAM_LIMIT}")),
        }
    }

    /// Directives between an entry's parameters and its body.
    fn performance(&mut self) -> Result<Threads, Wrong> {
        let mut threads = Threads::Any;
        while let Some(Lexeme::Word(word)) = self.peek() {
            self.at += 1;
            match (word, threads) {
                (".reqntid", Threads::Any) => threads = Threads::Exactly(self.dimensions()?),
                (".maxntid", Threads::Any) => {
                    threads = Threads::AtMost(self.dimensions()?.iter().product());
                }
                (".minnctapersm", _) => {
                    self.integer("a number of blocks")?;
                }
                _ => {
                    self.at -= 1;
                    return self.wrong(format!("`{word}` is unknown or conflicts with what stands before"));
                }
            }
        }
        Ok(threads)
    }

    fn dimensions(&mut self) -> Result<[u32; 3], Wrong> {
        let mut dimensions = [1; 3];
        for (at, dimension) in dimensions.iter_mut().enumerate() {
            if at > 0 && !self.takes(',') {
                break;
            }
            match self.integer("a number of threads")? {
                value @ 1..=1024 => *dimension = value as u32,
                value => return self.wrong(format!("{value} threads; expected 1 to 1024")),
            }
        }
        match dimensions.iter().product::<u32>() {
            1..=1024 => Ok(dimensions),
            threads => self.wrong(format!("{threads} threads in a block; expected at most 1024")),
        }
    }

    fn statement(&mut self, body: &mut Body<'a>) -> Result<(), Wrong> {
        let line = self.line();
        match self.next("a statement")? {
            Lexeme::Word(".reg") => self.registers(body),
            Lexeme::Word(".shared") => self.shared(body),
            Lexeme::Mark('@') => {
                let unless = self.takes('!');
                let name = self.name("a predicate")?;
                let word = self.word("an instruction")?;
                self.instruction(body, line, word, Some((name, unless)))
            }
            Lexeme::Word(word) if self.takes(':') => body.label(word).map_err(|message| (line, message)),
            Lexeme::Word(word) => self.instruction(body, line, word, None),
            other => self.unexpected("a statement", other),
        }
    }

    /// `.reg .f32 %f<8>, other;`
    fn registers(&mut self, body: &mut Body<'a>) -> Result<(), Wrong> {
        let word = self.word("a type")?;
        let kind = word.strip_prefix('.').and_then(Type::named).filter(|kind| kind.is_register());
        let Some(kind) = kind else {
            return self.wrong(format!("no registers of type `{word}`"));
        };
        loop {
            let name = self.name("a register's name")?;
            let count = if self.takes('<') {
                let count = self.integer("a number of registers")?;
                self.mark('>')?;
                Some(count)
            } else {
                None
            };
            if let Err(message) = body.declare(name, count, kind) {
                return self.wrong(message);
            }
            if !self.takes(',') {
                return self.mark(';');
            }
        }
    }

    /// `.shared .align 16 .b8 name[N];`
    fn shared(&mut self, body: &mut Body<'a>) -> Result<(), Wrong> {
        self.this_word(".align")?;
        let align = self.integer("an alignment")?;
        if !align.is_power_of_two() || align > 256 {
            return self.wrong(format!("alignment {align}; expected a power of two up to 256"));
        }
        self.this_word(".b8")?;
        let name = self.name("an array's name")?;
        self.mark('[')?;
        let bytes = self.integer("a number of bytes")?;
        self.mark(']')?;
        let arrays = || body.arrays().iter().filter_map(|array| Some((array.start, array.bytes?)));
        let declared: u32 = arrays().map(|(_, bytes)| bytes.next_multiple_of(align as u32)).sum();
        if bytes == 0 || bytes > (SHARED_LIMIT - declared.min(SHARED_LIMIT)) as u64 {
            return self.wrong(format!("shared arrays may have 1 to {SHARED_LIMIT} bytes together"));
        }
        let end = arrays().next_back().map_or(0, |(start, bytes)| start + bytes);
        let start = (end + SHARED_GAP).next_multiple_of(align as u32);
        let array = Array { name: name.to_string(), start, bytes: Some(bytes as u32) };
        if let Err(message) = body.share(name, array) {
            return self.wrong(message);
        }
        self.mark(';')
    }

    fn instruction(
        &mut self,
        body: &mut Body<'a>,
        line: u32,
        word: &'a str,
        guard: Option<(&'a str, bool)>,
    ) -> Result<(), Wrong> {
        if word.starts_with(['.', '%']) {
            self.at -= 1;
            return self.wrong(format!("`{word}` is no instruction or directive of this subset"));
        }
        let mut operands = Vec::new();
        if !self.takes(';') {
            operands.push(self.operand()?);
            while self.takes(',') {
                operands.push(self.operand()?);
            }
            self.mark(';')?;
        }
        let mut parts = word.split('.');
        let name = parts.next().unwrap_or("");
        let modifiers: Vec<&str> = parts.collect();
        let instruction = Instruction { line, name, modifiers: &modifiers, operands: &operands, guard };
        body.instruction(&instruction).map_err(|message| (line, message))
    }

    fn operand(&mut self) -> Result<Operand<'a>, Wrong> {
        match self.next("an operand")? {
            Lexeme::Word(name) if self.takes('|') => Ok(Operand::Pair(name, self.name("a predicate")?)),
            Lexeme::Word(name) => Ok(Operand::Name(name)),
            Lexeme::Integer(value) => Ok(Operand::Integer(value as i128)),
            Lexeme::Mark('-') => Ok(Operand::Integer(-(self.integer("an integer")? as i128))),
            Lexeme::Single(bits) => Ok(Operand::Single(bits)),
            Lexeme::Double(bits) => Ok(Operand::Double(bits)),
            Lexeme::Mark('[') => self.address(),
            Lexeme::Mark('{') => self.vector(),
            other => self.unexpected("an operand", other),
        }
    }

    fn address(&mut self) -> Result<Operand<'a>, Wrong> {
        let base = self.name("a register or an array")?;
        let mut offset = 0;
        if self.takes('+') {
            let negative = self.takes('-');
            let value = self.integer("an offset")? as i128;
            offset = if negative { -value } else { value };
        }
        self.mark(']')?;
        match i32::try_from(offset) {
            Ok(offset) => Ok(Operand::Address(base, offset)),
            Err(_) => self.wrong(format!("offset {offset} does not fit 32 bits")),
        }
    }

    fn vector(&mut self) -> Result<Operand<'a>, Wrong> {
        let mut elements = Vec::new();
        loop {
            match self.operand()? {
                Operand::Vector(_) | Operand::Address(..) | Operand::Pair(..) => {
                    return self.wrong("a vector holds registers and numbers");
                }
                element => elements.push(element),
            }
            if !self.takes(',') {
                self.mark('}')?;
                return Ok(Operand::Vector(elements));
            }
        }
    }
}
