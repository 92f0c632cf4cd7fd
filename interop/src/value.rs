//! Descriptions in Python's terms as plain data ([`Value`]), their checked reading (a value of another type
//! is refused), and the place and reason of a fault ([`Refusal`]). Neither Python nor any protocol is used.

use std::fmt;
use std::ops::RangeInclusive;

/// A Python object as far as a description needs it. Types are exact: a bool is no integer, and neither is a
/// float with an integral value.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// `None`.
    None,
    /// A `bool`.
    Bool(bool),
    /// An `int`; what an object's `__index__` gives (NumPy's integers) counts as one.
    Int(i128),
    /// An `int` beyond 128 bits.
    HugeInt,
    /// A `float`.
    Float(f64),
    /// A `str`.
    Str(String),
    /// A `tuple` or a class derived from it.
    Tuple(Vec<Value>),
    /// A `list`.
    List(Vec<Value>),
    /// A `dict`, in its order.
    Dict(Dict),
    /// An array whose numbers matter: a list of indices.
    Array(IndexArray),
    /// Memory whose numbers do not matter: the cells of a part.
    Buffer(Buffer),
    /// Anything that can be called.
    Callable,
    /// Anything else, by the name of its type.
    Other(String),
}

/// The entries of a `dict`, in its order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Dict(pub Vec<(Value, Value)>);

/// An array whose numbers were read.
#[derive(Clone, PartialEq, Debug)]
pub struct IndexArray {
    /// The name of the element type, as it should appear in a refusal.
    pub dtype: String,
    /// The extents.
    pub shape: Vec<i64>,
    /// The elements in C order; none where they are not all integers of 64 bits with sign.
    pub data: Option<Vec<i64>>,
}

/// The facts of memory that are known without reading it.
#[derive(Clone, PartialEq, Debug)]
pub struct Buffer {
    /// The extents.
    pub shape: Vec<i64>,
    /// The element type in the notation of PEP 3118.
    pub format: String,
    /// The number of bytes of an element.
    pub itemsize: i64,
    /// The number of bytes of all elements together.
    pub nbytes: i64,
}

impl Value {
    /// The name of the type in Python.
    pub fn kind(&self) -> &str {
        match self {
            Value::None => "None",
            Value::Bool(_) => "bool",
            Value::Int(_) | Value::HugeInt => "int",
            Value::Float(_) => "float",
            Value::Str(_) => "str",
            Value::Tuple(_) => "tuple",
            Value::List(_) => "list",
            Value::Dict(_) => "dict",
            Value::Array(_) => "array",
            Value::Buffer(_) => "buffer",
            Value::Callable => "callable",
            Value::Other(name) => name,
        }
    }

    /// A tuple of integers.
    pub fn ints(values: impl IntoIterator<Item = i64>) -> Value {
        Value::Tuple(values.into_iter().map(Value::from).collect())
    }

    /// A dict with these keys.
    pub fn dict<const N: usize>(entries: [(&str, Value); N]) -> Value {
        Value::Dict(Dict(entries.into_iter().map(|(key, value)| (key.into(), value)).collect()))
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(value.into())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Str(value.to_owned())
    }
}

impl Dict {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(k, _)| matches!(k, Value::Str(k) if k == key)).map(|(_, value)| value)
    }
}

impl Buffer {
    /// A buffer without gaps.
    pub fn contiguous(shape: &[i64], format: &str, itemsize: i64) -> Buffer {
        let nbytes = shape.iter().product::<i64>() * itemsize;
        Buffer { shape: shape.to_vec(), format: format.to_owned(), itemsize, nbytes }
    }
}

/// A value in a refusal: short, whatever it holds.
struct Given<'a>(&'a Value);

impl fmt::Display for Given<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Int(value) => write!(f, "{value}"),
            Value::HugeInt => f.write_str("an int beyond 128 bits"),
            Value::Float(value) => write!(f, "the float {value:?}"),
            Value::Bool(true) => f.write_str("True"),
            Value::Bool(false) => f.write_str("False"),
            Value::Str(text) => write!(f, "'{}'", text.chars().take(40).collect::<String>()),
            Value::None => f.write_str("None"),
            Value::Tuple(items) | Value::List(items) => write!(f, "a {} of {}", self.0.kind(), items.len()),
            other => write!(f, "a value of type {}", other.kind()),
        }
    }
}

/// The printed form of a key: strings in quotes, positions as tuples.
pub(crate) fn key_text(key: &Value) -> String {
    match key {
        Value::Str(text) => format!("'{text}'"),
        Value::Int(value) => value.to_string(),
        Value::Tuple(items) => match items.as_slice() {
            [only] => format!("({},)", key_text(only)),
            items => format!("({})", items.iter().map(key_text).collect::<Vec<_>>().join(", ")),
        },
        other => Given(other).to_string(),
    }
}

impl Value {
    /// A refusal of this value for not being what is expected.
    pub(crate) fn refuse(&self, expected: impl fmt::Display) -> Refusal {
        Refusal::expected(expected, Given(self))
    }

    pub(crate) fn as_int(&self) -> Result<i64> {
        match self {
            Value::Int(value) => i64::try_from(*value).map_err(|_| self.refuse("an int of 64 bits")),
            Value::HugeInt => Err(self.refuse("an int of 64 bits")),
            _ => Err(self.refuse("an int")),
        }
    }

    /// An integer in a range; `why` says where its end comes from.
    pub(crate) fn as_int_in(&self, range: RangeInclusive<i64>, why: &str) -> Result<i64> {
        let value = self.as_int()?;
        match () {
            () if value < *range.start() => Err(self.refuse(format_args!("at least {}{why}", range.start()))),
            () if value > *range.end() => Err(self.refuse(format_args!("at most {}{why}", range.end()))),
            () => Ok(value),
        }
    }

    pub(crate) fn as_bool(&self) -> Result<bool> {
        match self {
            Value::Bool(value) => Ok(*value),
            _ => Err(self.refuse("a bool")),
        }
    }

    pub(crate) fn as_str(&self) -> Result<&str> {
        match self {
            Value::Str(text) => Ok(text),
            _ => Err(self.refuse("a str")),
        }
    }

    pub(crate) fn as_dict(&self) -> Result<&Dict> {
        match self {
            Value::Dict(dict) => Ok(dict),
            _ => Err(self.refuse("a dict")),
        }
    }

    pub(crate) fn as_tuple(&self) -> Result<&[Value]> {
        match self {
            Value::Tuple(items) => Ok(items),
            _ => Err(self.refuse("a tuple")),
        }
    }

    /// A list or tuple.
    pub(crate) fn as_sequence(&self, of: &str) -> Result<&[Value]> {
        match self {
            Value::Tuple(items) | Value::List(items) => Ok(items),
            _ => Err(self.refuse(format_args!("a tuple or list of {of}"))),
        }
    }

    /// A tuple of integers of at least `least`.
    pub(crate) fn as_ints(&self, least: i64) -> Result<Vec<i64>> {
        let items = self.as_tuple()?.iter().enumerate();
        items.map(|(i, item)| item.as_int_in(least..=i64::MAX, "").map_err(|e| e.under_index(i))).collect()
    }

    /// A tuple of integers, one per dimension.
    pub(crate) fn as_ints_of(&self, rank: usize, least: i64) -> Result<Vec<i64>> {
        let values = self.as_ints(least)?;
        if values.len() == rank {
            return Ok(values);
        }
        Err(Refusal::expected(format_args!("{rank} entries, one per dimension"), values.len()))
    }

    pub(crate) fn as_buffer(&self) -> Result<&Buffer> {
        match self {
            Value::Buffer(buffer) => Ok(buffer),
            _ => Err(self.refuse("an object with the buffer protocol or `__dlpack__`")),
        }
    }

    /// The integers of an array of one dimension.
    pub(crate) fn as_indices(&self) -> Result<&[i64]> {
        let Value::Array(IndexArray { dtype, shape, data }) = self else {
            return Err(self.refuse("a buffer of integers"));
        };
        let Some(data) = data else {
            return Err(Refusal::expected("integers of 64 bits", format_args!("elements of type {dtype}")));
        };
        match shape.as_slice() {
            [n] if *n == data.len() as i64 => Ok(data),
            _ => Err(Refusal::expected("one dimension", format_args!("shape {shape:?}"))),
        }
    }
}

impl Dict {
    /// Reads a key that must be there.
    pub(crate) fn read<'a, T>(&'a self, key: &str, read: impl FnOnce(&'a Value) -> Result<T>) -> Result<T> {
        let value = self.get(key).ok_or_else(|| Refusal::new("this key is missing"));
        value.and_then(read).map_err(|refusal| refusal.under_key(key))
    }

    /// Reads a key that has a default.
    pub(crate) fn read_or<'a, T>(
        &'a self,
        key: &str,
        default: T,
        read: impl FnOnce(&'a Value) -> Result<T>,
    ) -> Result<T> {
        if self.get(key).is_some() { self.read(key, read) } else { Ok(default) }
    }

    /// Refuses keys that are not among the known ones, and missing ones that are required.
    pub(crate) fn check_keys(&self, required: &[&str], optional: &[&str]) -> Result<()> {
        for key in required {
            self.read(key, |_| Ok(()))?;
        }
        for (i, (key, _)) in self.0.iter().enumerate() {
            let known = matches!(key, Value::Str(k) if required.iter().chain(optional).any(|o| o == k));
            let reason = match () {
                () if !known => {
                    format!("unknown key; known are {}", [required, optional].concat().join(", "))
                }
                () if self.0[..i].iter().any(|(before, _)| before == key) => "this key is given twice".into(),
                () => continue,
            };
            return Err(Refusal::new(reason).under(format_args!("[{}]", key_text(key))));
        }
        Ok(())
    }
}

impl Buffer {
    /// Refuses numbers that contradict each other.
    pub(crate) fn check(&self) -> Result<()> {
        let cells = self
            .shape
            .iter()
            .try_fold(1i128, |n, &extent| if extent < 0 { None } else { n.checked_mul(extent.into()) });
        match cells.and_then(|n| n.checked_mul(self.itemsize.into())) {
            _ if self.itemsize < 1 => Err(Refusal::expected("elements of at least 1 byte", self.itemsize)),
            Some(bytes) if bytes == i128::from(self.nbytes) => Ok(()),
            _ => {
                let of = format_args!("the bytes of shape {:?} with {} each", self.shape, self.itemsize);
                Err(Refusal::expected(of, self.nbytes))
            }
        }
    }

    /// The element type, written in one way only.
    pub(crate) fn element(&self) -> &str {
        self.format.trim_start_matches(['@', '='])
    }
}

/// Why a description was refused.
///
/// It shows as `__distarray__ of part 2: dim_data[1]['stop']: expected at most 9, the size; given 12`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The protocol, and its dialect where there are several; empty before it is known.
    pub protocol: String,
    /// The part (the process, the position in the list of descriptions), if there are several.
    pub part: Option<usize>,
    /// The place of the fault: `dim_data[1]['stop']`. Empty for the description itself.
    pub path: String,
    /// The fault in words.
    pub reason: String,
}

/// A result with [`Refusal`].
pub type Result<T, E = Refusal> = std::result::Result<T, E>;

impl Refusal {
    /// A refusal of the value at hand; where that lies is added on the way out.
    pub fn new(reason: impl Into<String>) -> Refusal {
        Refusal { protocol: String::new(), part: None, path: String::new(), reason: reason.into() }
    }

    /// A refusal that compares.
    pub fn expected(expected: impl fmt::Display, given: impl fmt::Display) -> Refusal {
        Refusal::new(format!("expected {expected}; given {given}"))
    }

    /// The same, said of what contains the value under `step`: `['stop']` or `[1]`.
    pub fn under(mut self, step: impl fmt::Display) -> Refusal {
        self.path = format!("{step}{}", self.path);
        self
    }

    /// The same, said of what contains the value under a key.
    pub fn under_key(self, key: &str) -> Refusal {
        self.under(format_args!("['{key}']"))
    }

    /// The same, said of what contains the value at a position.
    pub fn under_index(self, index: usize) -> Refusal {
        self.under(format_args!("[{index}]"))
    }

    /// The same, said of one of several parts.
    pub fn of_part(mut self, part: usize) -> Refusal {
        self.part = Some(part);
        self
    }

    /// The same, said of a whole description: its keys are written without brackets.
    pub fn of_protocol(mut self, protocol: &str) -> Refusal {
        if let Some((key, rest)) = self.path.strip_prefix("['").and_then(|path| path.split_once("']")) {
            self.path = format!("{key}{rest}");
        }
        self.protocol = protocol.to_owned();
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.protocol)?;
        if let Some(part) = self.part {
            write!(f, " of part {part}")?;
        }
        let colon = if self.protocol.is_empty() && self.part.is_none() { "" } else { ": " };
        match self.path.as_str() {
            "" => write!(f, "{colon}{}", self.reason),
            path => write!(f, "{colon}{path}: {}", self.reason),
        }
    }
}

impl std::error::Error for Refusal {}
