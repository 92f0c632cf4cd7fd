//! [`Element`]: element types as peers know them, complex numbers included, and [`TypedPart`]: a part of an
//! array in such elements.
//!
//! The engine has no complex numbers. It holds an array of them as an array of floats with a further last
//! dimension of extent 2, real and imaginary part, which is not divided and has no halo. So the memory of a
//! part is what everybody else calls complex memory, and all that is left to do is to say so: that dimension
//! is left out of shapes, and strides count pairs.

use std::sync::Arc;

use partita::array::{Cells, Part};
use partita::index::{Distribution, Index, MAX_RANK, Region};
use partita::{DType, Error, Result};

/// The kind of one element of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Element {
    /// A number of the engine's.
    Real(DType),
    /// Two of them, real and imaginary part.
    Complex(DType),
}

/// Each element with NumPy's name and its format in the notation of PEP 3118, as NumPy writes it; bfloat16
/// has none and is named.
const NAMES: [(Element, &str, &str); 15] = [
    (Element::Real(DType::Bool), "bool", "?"),
    (Element::Real(DType::I8), "int8", "b"),
    (Element::Real(DType::I16), "int16", "h"),
    (Element::Real(DType::I32), "int32", "i"),
    (Element::Real(DType::I64), "int64", "l"),
    (Element::Real(DType::U8), "uint8", "B"),
    (Element::Real(DType::U16), "uint16", "H"),
    (Element::Real(DType::U32), "uint32", "I"),
    (Element::Real(DType::U64), "uint64", "L"),
    (Element::Real(DType::F16), "float16", "e"),
    (Element::Real(DType::BF16), "bfloat16", "bfloat16"),
    (Element::Real(DType::F32), "float32", "f"),
    (Element::Real(DType::F64), "float64", "d"),
    (Element::Complex(DType::F32), "complex64", "Zf"),
    (Element::Complex(DType::F64), "complex128", "Zd"),
];

impl Element {
    /// Every one.
    pub fn all() -> impl Iterator<Item = Element> {
        NAMES.iter().map(|(element, ..)| *element)
    }

    /// NumPy's name of it.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(known, ..)| *known == self).map_or("", |(_, name, _)| name)
    }

    /// Its format in the notation of PEP 3118.
    pub fn format(self) -> &'static str {
        NAMES.iter().find(|(known, ..)| *known == self).map_or("", |(.., format)| format)
    }

    /// The element of a name.
    pub fn named(name: &str) -> Option<Element> {
        NAMES.iter().find(|(_, known, _)| *known == name).map(|(element, ..)| *element)
    }

    /// The names of all, for people.
    pub fn names() -> String {
        NAMES.map(|(_, name, _)| name).join(", ")
    }

    /// The engine's type of the numbers it is made of.
    pub fn dtype(self) -> DType {
        match self {
            Element::Real(dtype) | Element::Complex(dtype) => dtype,
        }
    }

    /// Bytes of one element.
    pub fn size_bytes(self) -> usize {
        match self {
            Element::Real(dtype) => dtype.size_bytes(),
            Element::Complex(dtype) => 2 * dtype.size_bytes(),
        }
    }

    /// The number of dimensions that an engine array has for such elements beyond those that people see.
    fn inner(self) -> usize {
        match self {
            Element::Real(_) => 0,
            Element::Complex(_) => 1,
        }
    }

    /// The largest number of dimensions of an array of them.
    pub fn most_dimensions(self) -> usize {
        MAX_RANK - self.inner()
    }

    /// The engine's distribution of an array that people divide like this.
    ///
    /// # Errors
    /// Too many dimensions.
    pub fn stored(self, dist: &Distribution) -> Result<Distribution> {
        match self {
            Element::Real(_) => Ok(dist.clone()),
            Element::Complex(_) => Ok(dist.with_inner(2)?),
        }
    }

    /// The distribution that people see of an array that the engine divides like this.
    ///
    /// # Errors
    /// If real and imaginary parts lie on different parts.
    pub fn seen(self, dist: &Distribution) -> Result<Distribution> {
        match self {
            Element::Real(_) => Ok(dist.clone()),
            Element::Complex(_) => dist.without_inner().ok_or_else(|| Error::Invalid {
                operation: "complex numbers",
                expected: "real and imaginary part on one part".to_owned(),
                given: dist.to_string(),
                remedy: "report this",
            }),
        }
    }

    /// Of values per dimension of an engine array, those of the dimensions that people see.
    pub fn outer(self, of: &Index) -> Index {
        Index::from_fn(of.rank() - self.inner(), |d| of[d])
    }
}

/// The part of an array of such elements that one member holds.
#[derive(Clone)]
pub struct TypedPart {
    /// The engine's.
    pub part: Arc<Part>,
    /// The element that its numbers make up.
    pub element: Element,
}

/// In the engine's own elements.
impl From<Arc<Part>> for TypedPart {
    fn from(part: Arc<Part>) -> TypedPart {
        TypedPart { element: Element::Real(part.dtype()), part }
    }
}

impl TypedPart {
    /// The box of cells that is meant, in packed coordinates.
    pub fn region(&self, cells: Cells) -> Region {
        let held = self.part.region(cells);
        if self.element.inner() == 0 {
            return held;
        }
        let rank = held.rank() - self.element.inner();
        let Ok(outer) = Region::new(&held.start()[..rank], &held.stop()[..rank]) else {
            unreachable!("a box without one of its dimensions is a box")
        };
        outer
    }

    /// The distribution that it is a part of.
    ///
    /// # Errors
    /// As [`Element::seen`].
    pub fn distribution(&self) -> Result<Distribution> {
        self.element.seen(self.part.distribution())
    }

    /// The same part with of its stored cells only those in a box around all that it owns.
    ///
    /// # Errors
    /// As [`Part::narrowed`].
    pub fn narrowed(&self, region: &Region) -> Result<TypedPart> {
        let inner = self.part.region(Cells::Owned);
        let rank = region.rank();
        let ends = |outer: &Index, inner: &Index| [&outer[..], &inner[rank..]].concat();
        let whole = Region::new(&ends(region.start(), inner.start()), &ends(region.stop(), inner.stop()))?;
        Ok(TypedPart { part: Arc::new(self.part.narrowed(&whole)?), element: self.element })
    }

    /// True if the cells lie in C order without gaps.
    pub fn is_contiguous(&self, cells: Cells) -> bool {
        let region = self.region(cells);
        let (strides, packed) = (self.strides(), partita::program::c_strides(&region));
        let goes_on =
            |strides: Index| (0..region.rank()).all(|d| region.extent(d) == 1 || strides[d] == packed[d]);
        region.is_empty() || strides.is_some_and(goes_on)
    }

    /// Distances in elements between neighbours in its memory; none where these are no whole numbers of
    /// elements.
    pub fn strides(&self) -> Option<Index> {
        let strides = self.part.strides();
        match self.element {
            Element::Real(_) => Some(strides),
            Element::Complex(_) => {
                let extents = self.part.region(Cells::Stored).extents();
                // Nobody goes along dimensions of one cell.
                let steps = |d: usize| extents[d] > 1;
                let outer = self.element.outer(&strides);
                let whole = (0..outer.rank()).all(|d| !steps(d) || strides[d] % 2 == 0);
                (whole && strides[outer.rank()] == 1)
                    .then(|| Index::from_fn(outer.rank(), |d| if steps(d) { strides[d] / 2 } else { 1 }))
            }
        }
    }
}
