//! [`Halves`]: the real and imaginary parts of an array of pairs.

use partita::array::{IntoSpan, Span};
use partita::{Array, DType, Distribution, Result};

/// Real and imaginary part of an array of pairs, or of what shall become one: either without the dimension of
/// the pair, or with extent 1 there.
#[derive(Clone)]
pub(super) struct Halves {
    pub re: Array,
    pub im: Array,
}

/// Real (0) or imaginary (1) parts of pairs, as a view.
pub fn part(pairs: &Array, which: i64) -> Array {
    let mut spans: Vec<Span> = vec![(..).into_span(); pairs.rank() - 1];
    spans.push(Span::At(which));
    pairs.slice(&spans)
}

impl Halves {
    /// Without the dimension of the pair: for results that are real.
    pub fn of(pairs: &Array) -> Halves {
        Halves { re: part(pairs, 0), im: part(pairs, 1) }
    }

    /// With extent 1 along it: for results that are pairs.
    pub fn thick(pairs: &Array) -> Halves {
        let half = |which: i64| {
            let mut spans: Vec<Span> = vec![(..).into_span(); pairs.rank() - 1];
            spans.push((which..which + 1).into_span());
            pairs.slice(&spans)
        };
        Halves { re: half(0), im: half(1) }
    }

    /// The array of pairs, of the shape and on the parts of `like`.
    pub fn joined(&self, like: &Array) -> Result<Array> {
        let dist = like.distribution()?;
        Ok(is_second(like, &dist)?.select(&self.im, &self.re))
    }
}

/// Where the imaginary parts stand: the coordinate along the pair, as a truth value.
pub(super) fn is_second(like: &Array, pairs: &Distribution) -> Result<Array> {
    Array::coordinate(like.team(), pairs, pairs.rank() - 1, DType::Bool)
}

/// The product of complex numbers.
pub(super) fn product(a: &Halves, b: &Halves) -> Halves {
    Halves { re: &a.re * &b.re - &a.im * &b.im, im: &a.re * &b.im + &a.im * &b.re }
}
