//! [`Value`]: the contents of a description in Python's terms, as plain data.

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

/// What can be said about memory without reading it.
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
