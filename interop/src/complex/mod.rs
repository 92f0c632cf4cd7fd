//! Arithmetic of complex numbers, recorded on engine arrays of pairs (see `element`). Knows formulas by name,
//! and no memory: what it records is one kernel like any other expression.
//!
//! A result is one array of pairs: where the coordinate along the pair is 0 the real part's formula, and
//! that of the imaginary part elsewhere. So it lies as its operands do, whatever their distribution; two
//! arrays put together would not. What needs one part only, such as the real part of a product, computes only
//! that, because there the coordinate is a constant.
//!
//! Sums and products are NumPy's formulas, which may turn infinities into NaN; functions treat infinities and
//! NaN as annex G of C99 says.

pub mod fourier;
mod functions;
mod inverse;

pub use functions::part;

use functions::{Halves, is_second, product};
use partita::array::Operand;
use partita::index::{Domain, IndexRange};
use partita::{Array, DType, Distribution, Result, Scalar};

/// The result of an operation.
pub enum Outcome {
    /// Numbers, one per element.
    Real(Array),
    /// Pairs.
    Complex(Array),
}

/// Pairs with these real and imaginary parts, on the parts of the real ones.
///
/// # Errors
/// Too many dimensions; the errors that the arrays carry.
pub fn joined(re: &Array, im: &Array) -> Result<Array> {
    let dist = re.distribution()?.with_inner(2)?;
    let last = [re.rank()];
    let pairs = is_second(re, &dist)?.select(&im.unsqueeze(&last), &re.unsqueeze(&last));
    if !re.is_over_domain() {
        return Ok(pairs);
    }
    let ranges = [re.domain().dims(), &[IndexRange::new(0, 2, 1)?]].concat();
    Ok(pairs.over(&Domain::new(&ranges)?))
}

/// Pairs with these real parts, and imaginary parts of zero.
///
/// # Errors
/// As [`joined`].
pub fn from_real(real: &Array, dtype: DType) -> Result<Array> {
    let re = real.cast(dtype);
    joined(&re, &0.0.operand(&re))
}

/// One number everywhere, on the distribution of pairs.
///
/// # Errors
/// The error that the array carries; those of [`Array::full`].
pub fn constant(like: &Array, pairs: &Distribution, dtype: DType, (re, im): (f64, f64)) -> Result<Array> {
    let of = |value: f64| Scalar::from_f64(dtype, value);
    if of(re) == of(im) {
        return Array::full(like.team(), pairs, of(re));
    }
    let second = is_second(like, pairs)?;
    Ok(second.select(&of(im).operand(&second), &of(re).operand(&second)))
}

/// The mask of the elements that are not zero.
pub fn is_nonzero(pairs: &Array) -> Array {
    let Halves { re, im } = Halves::of(pairs);
    re.not_equal(0.0) | im.not_equal(0.0)
}

/// Pairs of `yes` where the mask, which has no pairs, is true, else of `no`.
pub fn select(mask: &Array, yes: &Array, no: &Array) -> Array {
    mask.unsqueeze(&[mask.rank()]).select(yes, no)
}

/// A function of one argument; None for names that have no meaning for complex numbers.
///
/// # Errors
/// Those that the array carries.
pub fn op1(name: &str, z: &Array) -> Result<Option<Outcome>> {
    let real = |of: fn(Halves) -> Array| Ok(Some(Outcome::Real(of(Halves::of(z)))));
    let complex = |of: fn(Halves) -> Halves| {
        let pairs = of(Halves::thick(z)).joined(z)?;
        Ok(Some(Outcome::Complex(pairs)))
    };
    match name {
        "real" => real(|z| z.re),
        "imag" => real(|z| z.im),
        "absolute" => real(|z| z.re.hypot(&z.im)),
        "angle" => real(|z| z.im.atan2(&z.re)),
        "isnan" => real(|z| z.re.is_nan() | z.im.is_nan()),
        "negative" => Ok(Some(Outcome::Complex(-z))),
        "round" => Ok(Some(Outcome::Complex(z.round()))),
        "conj" => complex(|z| Halves { im: -&z.im, re: z.re }),
        "exp" => complex(functions::exp),
        "log" => complex(functions::log),
        "sqrt" => complex(functions::sqrt),
        "sinh" => complex(functions::sinh),
        "cosh" => complex(functions::cosh),
        "sin" => complex(functions::sin),
        "cos" => complex(functions::cos),
        "tanh" => complex(functions::tanh),
        "tan" => complex(functions::tan),
        "expm1" => complex(functions::expm1),
        "log1p" => complex(functions::log1p),
        "log2" => complex(functions::log2),
        "log10" => complex(functions::log10),
        "arccos" => complex(inverse::acos),
        "arcsin" => complex(inverse::asin),
        "arctan" => complex(inverse::atan),
        "arccosh" => complex(inverse::acosh),
        "arcsinh" => complex(inverse::asinh),
        "arctanh" => complex(inverse::atanh),
        _ => Ok(None),
    }
}

/// A function of two arguments of one type; None for names that have no meaning for complex numbers.
///
/// # Errors
/// Shapes that do not broadcast; those that the arrays carry.
pub fn op2(name: &str, a: &Array, b: &Array) -> Result<Option<Outcome>> {
    let real = |of: fn(Halves, Halves) -> Array| {
        // Errors of shapes are those of the whole arrays.
        (a + b).recorded()?;
        Ok(Some(Outcome::Real(of(Halves::of(a), Halves::of(b)))))
    };
    let complex = |of: fn(&Halves, &Halves) -> Halves| {
        let pairs = of(&Halves::thick(a), &Halves::thick(b)).joined(&(a + b))?;
        Ok(Some(Outcome::Complex(pairs)))
    };
    match name {
        "add" => Ok(Some(Outcome::Complex(a + b))),
        "subtract" => Ok(Some(Outcome::Complex(a - b))),
        "multiply" => complex(product),
        "divide" => complex(quotient),
        "power" => complex(functions::power),
        "equal" => real(|a, b| a.re.equal(&b.re) & a.im.equal(&b.im)),
        "not_equal" => real(|a, b| a.re.not_equal(&b.re) | a.im.not_equal(&b.im)),
        _ => Ok(None),
    }
}

/// R. L. Smith, Algorithm 116: Complex division, CACM 5 (1962), as NumPy has it: divided by the larger part
/// of the divisor first, so that its square is never formed.
fn quotient(a: &Halves, b: &Halves) -> Halves {
    let real_is_larger = b.re.abs().greater_equal(b.im.abs());
    let either = |yes: &Array, no: &Array| real_is_larger.select(yes, no);
    let (larger, smaller) = (either(&b.re, &b.im), either(&b.im, &b.re));
    let ratio = &smaller / &larger;
    let scale = 1.0 / (&larger + &smaller * &ratio);
    let re = either(&(&a.re + &a.im * &ratio), &(&a.re * &ratio + &a.im)) * &scale;
    let im = either(&(&a.im - &a.re * &ratio), &(&a.im * &ratio - &a.re)) * &scale;
    let by_zero = b.re.equal(0.0) & b.im.equal(0.0);
    let zero = b.re.abs();
    Halves { re: by_zero.select(&(&a.re / &zero), &re), im: by_zero.select(&(&a.im / &zero), &im) }
}
