//! [`Typed`]: an engine array with its element type, in the shape that users see. Complex numbers are pairs
//! in the last dimension, which no change of shape touches or divides.

use partita::array::{IntoSpan, Operand, Padding, Span, Stride};
use partita::device::collect;
use partita::index::Index;
use partita::{Array, DType, Distribution, Error, Result, Scalar};

use crate::complex::{self, Outcome};
use crate::element::Element;

/// An array and what its elements are.
#[derive(Clone)]
pub struct Typed {
    /// The engine's.
    pub array: Array,
    /// The element that its numbers make up.
    pub element: Element,
}

/// A number of Python's.
pub enum Number {
    /// Of the array's own type.
    Real(Scalar),
    /// Real and imaginary part.
    Complex(f64, f64),
}

impl Typed {
    /// The shape that people see.
    pub fn shape(&self) -> Index {
        self.element.outer(&self.array.shape())
    }

    /// The distribution that people see.
    pub fn distribution(&self) -> Result<Distribution> {
        self.element.seen(&*self.array.distribution()?)
    }

    /// Another array of the same elements, with the errors that it carries; pairs that the engine divided are
    /// moved together, which happens to arrays of one element.
    pub fn with(&self, array: Array) -> Result<Typed> {
        let dist = array.distribution()?;
        let element = self.element;
        let whole = match element {
            Element::Real(_) => true,
            Element::Complex(_) => dist.without_inner().is_some(),
        };
        if whole {
            return Ok(Typed { array, element });
        }
        let shape = element.outer(&array.shape());
        let dist = Distribution::default_partition(dist.parts(), &shape)?;
        Ok(Typed { array: array.redistribute(&element.stored(&dist)?), element })
    }

    /// Values per dimension that people see, and what stands for all of the pair.
    pub fn per_dimension<T>(&self, mut values: Vec<T>, pair: T) -> Vec<T> {
        match self.element {
            Element::Real(_) => {}
            Element::Complex(_) => values.push(pair),
        }
        values
    }

    /// Spans of the dimensions that people see.
    pub fn spans(&self, spans: Vec<Span>) -> Vec<Span> {
        self.per_dimension(spans, (..).into_span())
    }

    /// Strides along the dimensions that people see.
    pub fn strides(&self, strides: Vec<Stride>) -> Vec<Stride> {
        let dim = self.shape().rank();
        self.per_dimension(strides, Stride::Of { dim, start: 0, step: 1, count: 2 })
    }

    /// The numbers in C order of the engine's elements that are the elements with these numbers.
    pub fn positions(&self, positions: &[i64]) -> Result<Vec<i64>> {
        let positions = positions.iter().copied();
        match self.element {
            Element::Real(_) => collect("positions", positions),
            Element::Complex(_) => collect("positions", positions.flat_map(|at| [2 * at, 2 * at + 1])),
        }
    }

    /// Conversion by value; None from complex numbers to real ones, which would lose imaginary parts.
    pub fn cast(&self, to: Element) -> Result<Option<Typed>> {
        let array = match (self.element, to) {
            (Element::Real(_), Element::Real(dtype)) => self.array.cast(dtype),
            (Element::Complex(_), Element::Complex(dtype)) => self.array.cast(dtype),
            (Element::Real(_), Element::Complex(dtype)) => complex::from_real(&self.array, dtype)?,
            (Element::Complex(_), Element::Real(DType::Bool)) => complex::is_nonzero(&self.array),
            (Element::Complex(_), Element::Real(_)) => return Ok(None),
        };
        Ok(Some(Typed { array, element: to }))
    }

    /// One number everywhere, beside this array.
    pub fn constant(&self, element: Element, number: Number) -> Result<Typed> {
        let array = match number {
            Number::Real(scalar) => scalar.operand(&self.plain()),
            Number::Complex(re, im) => {
                let pairs = element.stored(&self.distribution()?)?;
                complex::constant(&self.array, &pairs, element.dtype(), (re, im))?
            }
        };
        Ok(Typed { array, element })
    }

    /// An array of numbers of the shape that people see.
    fn plain(&self) -> Array {
        match self.element {
            Element::Real(_) => self.array.clone(),
            Element::Complex(_) => complex::part(&self.array, 0),
        }
    }

    /// One number everywhere.
    pub fn full(
        team: &partita::Team,
        dist: &Distribution,
        element: Element,
        number: Number,
    ) -> Result<Typed> {
        let array = match number {
            Number::Real(scalar) => Array::full(team, dist, scalar)?,
            Number::Complex(re, im) => {
                let pairs = element.stored(dist)?;
                let zeros = Array::zeros(team, &pairs, element.dtype())?;
                complex::constant(&zeros, &pairs, element.dtype(), (re, im))?
            }
        };
        Ok(Typed { array, element })
    }

    /// With (before, after) cells of one number around in every dimension.
    pub fn padded(&self, widths: &[(i64, i64)], number: Number) -> Result<Typed> {
        let around = match number {
            Number::Real(scalar) => return self.with(self.array.pad(widths, Padding::Constant(scalar))),
            around @ Number::Complex(..) => around,
        };
        // A pair is no number that the engine could pad with: zeros first, and then what is around.
        let zero = Scalar::from_f64(self.element.dtype(), 0.0);
        let pairs = self.per_dimension(widths.to_vec(), (0, 0));
        let padded = self.with(self.array.pad(&pairs, Padding::Constant(zero)))?;
        let truth = |inside| Scalar::from_i64(DType::Bool, inside);
        let inside = Array::full(self.array.team(), &self.distribution()?, truth(1))?;
        let inside = Typed::from(inside.pad(widths, Padding::Constant(truth(0))));
        Ok(inside.select(&padded, &padded.constant(self.element, around)?))
    }

    /// `yes` where this is true, else `no`, which are of one type.
    pub fn select(&self, yes: &Typed, no: &Typed) -> Typed {
        let array = match yes.element {
            Element::Real(_) => self.array.select(&yes.array, &no.array),
            Element::Complex(_) => complex::select(&self.array, &yes.array, &no.array),
        };
        Typed { array, element: yes.element }
    }

    /// The result of an operation on complex numbers like these.
    pub fn outcome(&self, outcome: Outcome) -> Typed {
        match outcome {
            Outcome::Complex(array) => Typed { array, element: self.element },
            Outcome::Real(array) => Typed::from(array),
        }
    }

    /// Fails where the two are of different elements.
    pub fn agrees(&self, operation: &'static str, other: &Typed) -> Result<()> {
        if self.element == other.element {
            return Ok(());
        }
        Err(Error::Invalid {
            operation,
            expected: format!("elements of one type, {}", self.element.name()),
            given: other.element.name().to_owned(),
            remedy: "convert with astype",
        })
    }
}

impl From<Array> for Typed {
    fn from(array: Array) -> Typed {
        let element = Element::Real(array.dtype());
        Typed { array, element }
    }
}
