//! Typed reading of values; a value of another type is refused.

use std::fmt;
use std::ops::RangeInclusive;

use super::object::{Buffer, Dict, IndexArray, Value};
use super::refusal::{Refusal, Result};

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

/// What is printed of a key: strings in quotes, positions as tuples.
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
