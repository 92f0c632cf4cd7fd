//! [`Halves`], the real and imaginary parts of an array of pairs, and complex functions out of real ones. The
//! error of each is a few times that of the real functions it is made of, relative to the magnitude of the
//! result. Infinities and NaN are as in annex G of C99.
//!
//! Where a real exponential would overflow although the result does not, it is taken in two factors; where a
//! square would, or would lose digits, the argument is scaled by a power of two.

use partita::array::{IntoSpan, Operand, Span};
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

    /// With extent 1 along it: for results that are pairs. By position, because what is over a domain
    /// does not stretch.
    pub fn thick(pairs: &Array) -> Halves {
        let pairs = pairs.by_position();
        let half = |which: i64| {
            let mut spans: Vec<Span> = vec![(..).into_span(); pairs.rank() - 1];
            spans.push((which..which + 1).into_span());
            pairs.slice(&spans)
        };
        Halves { re: half(0), im: half(1) }
    }

    /// The array of pairs, of the shape, on the parts and over the domain of `like`.
    pub fn joined(&self, like: &Array) -> Result<Array> {
        let dist = like.distribution()?;
        let pairs = is_second(like, &dist)?.select(&self.im, &self.re);
        Ok(if like.is_over_domain() { pairs.over(&like.domain()) } else { pairs })
    }
}

/// The places of the imaginary parts: the coordinate along the pair, as a truth value.
pub(super) fn is_second(like: &Array, pairs: &Distribution) -> Result<Array> {
    Array::coordinate(like.team(), pairs, pairs.rank() - 1, DType::Bool)
}

/// The product of complex numbers.
pub(super) fn product(a: &Halves, b: &Halves) -> Halves {
    Halves { re: &a.re * &b.re - &a.im * &b.im, im: &a.re * &b.im + &a.im * &b.re }
}

/// Numbers that depend on the width of the floats.
pub(super) struct Limits {
    /// Subtracted from arguments of exponentials above it, which is exact up to twice as much.
    top: f64,
    /// Above, the sum of two squares needs scaling.
    huge: f64,
    /// Below, numbers have fewer digits.
    tiny: f64,
    /// From here on 1 added to a number is lost.
    pub far: f64,
    /// Tiny numbers are multiplied by 2 to this power, which is even.
    lift: i32,
}

pub(super) fn limits(dtype: DType) -> Limits {
    match dtype {
        DType::F32 => Limits { top: 80.0, huge: 1e37, tiny: 1e-36, far: 1e9, lift: 40 },
        _ => Limits { top: 700.0, huge: 1e307, tiny: 1e-306, far: 1e17, lift: 60 },
    }
}

/// The first where the mask is true, else the second.
pub(super) fn choose(mask: &Array, yes: impl Operand, no: &Array) -> Array {
    mask.select(&yes.operand(no), no)
}

fn is_finite(x: &Array) -> Array {
    x.abs().less(f64::INFINITY)
}

pub(super) fn is_infinite(x: &Array) -> Array {
    x.abs().equal(f64::INFINITY)
}

/// True where the sign bit is set; NaN has none here.
fn is_negative(x: &Array) -> Array {
    choose(&x.equal(0.0), 1.0 / x, x).less(0.0)
}

/// The first with its sign changed where that of the second is negative.
pub(super) fn signed(x: &Array, of: &Array) -> Array {
    choose(&is_negative(of), -x, x)
}

/// e^x and the factor that it lacks where x is too large for the type.
fn exp_in_two(x: &Array) -> (Array, Array) {
    let top = limits(x.dtype()).top;
    let above = x.greater(top);
    (choose(&above, x - top, x).exp(), choose(&above, top.exp(), &1.0.operand(x)))
}

/// e^x (cos y + i sin y).
pub fn exp(z: Halves) -> Halves {
    let Halves { re: x, im: y } = z;
    let (e, rest) = exp_in_two(&x);
    // An infinity of no direction, or a zero of none.
    let lost = is_infinite(&x) & !is_finite(&y);
    let re = choose(&lost, &e, &(&e * y.cos() * &rest));
    let im = choose(&(lost & x.less(0.0)), &e, &(&e * y.sin() * &rest));
    Halves { re, im: choose(&y.equal(0.0), &y, &im) }
}

/// e^z - 1, which near 0 is not taken from 1.
pub fn expm1(z: Halves) -> Halves {
    let near = z.re.abs().less(1.0) & is_finite(&z.im);
    let (x, y) = (choose(&near, &z.re, &0.0.operand(&z.re)), choose(&near, &z.im, &0.0.operand(&z.re)));
    let half = (&y * 0.5).sin();
    let close = x.expm1() * y.cos() - &half * &half * 2.0;
    // The standard has 0 at both zeros.
    let close = choose(&close.equal(0.0), 0.0, &close);
    let Halves { re, im } = exp(z);
    Halves { re: choose(&near, close, &(re - 1.0)), im }
}

/// log (1 + z), which near 0 is not of 1.
pub fn log1p(z: Halves) -> Halves {
    let Halves { re: x, im: y } = z;
    let near = x.abs().less(0.5) & y.abs().less(0.5);
    let close = (&x * (&x + 2.0) + &y * &y).log1p() * 0.5;
    let Halves { re, im } = log(Halves { re: &x + 1.0, im: y });
    Halves { re: choose(&near, close, &re), im }
}

/// log z to base 2.
pub fn log2(z: Halves) -> Halves {
    let Halves { re, im } = log(z);
    Halves { re: re * std::f64::consts::LOG2_E, im: im * std::f64::consts::LOG2_E }
}

/// log z to base 10.
pub fn log10(z: Halves) -> Halves {
    let Halves { re, im } = log(z);
    Halves { re: re * std::f64::consts::LOG10_E, im: im * std::f64::consts::LOG10_E }
}

/// log |z| + i arg z.
pub fn log(z: Halves) -> Halves {
    let Halves { re: x, im: y } = z;
    let Limits { lift, .. } = limits(x.dtype());
    let (a, b) = (x.abs(), y.abs());
    let (larger, smaller) = (a.maximum(&b), a.minimum(&b));
    // Near the unit circle the logarithm is that of 1 + something small.
    let near = larger.greater(0.5) & larger.less(2.0);
    let beyond_one = (&larger - 1.0) * (&larger + 1.0) + &smaller * &smaller;
    let scale = by_size(&larger, 0.25, f64::from(lift).exp2(), 1.0);
    let shift = by_size(&larger, 4f64.ln(), -f64::from(lift) * 2f64.ln(), 0.0);
    let far = (&a * &scale).hypot(&b * &scale).log() + shift;
    Halves { re: choose(&near, beyond_one.log1p() * 0.5, &far), im: y.atan2(&x) }
}

/// Numbers for what is huge, for what is tiny, and for all else.
fn by_size(x: &Array, if_huge: f64, if_tiny: f64, otherwise: f64) -> Array {
    let Limits { huge, tiny, .. } = limits(x.dtype());
    choose(&x.greater(huge), if_huge, &choose(&x.less(tiny), if_tiny, &otherwise.operand(x)))
}

/// The root whose real part is not negative.
pub fn sqrt(z: Halves) -> Halves {
    let Halves { re: x, im: y } = z;
    let Limits { lift, .. } = limits(x.dtype());
    let (a, b) = (x.abs(), y.abs());
    let larger = a.maximum(&b);
    let scale = by_size(&larger, 0.25, f64::from(lift).exp2(), 1.0);
    let unscale = by_size(&larger, 2.0, f64::from(-lift / 2).exp2(), 1.0);
    let (scaled, other) = (&a * &scale, &b * &scale);
    let long = ((&scaled + scaled.hypot(&other)) * 0.5).sqrt();
    let short = &other / (&long * 2.0) * &unscale;
    let long = long * &unscale;
    let left = x.less(0.0);
    let (re, im) = (choose(&left, &short, &long), choose(&left, &long, &short));
    let simple = (x.equal(0.0) & y.equal(0.0)) | is_infinite(&y);
    Halves { re: choose(&simple, &b, &re), im: choose(&simple, &y, &signed(&im, &y)) }
}

/// sinh x cos y + i cosh x sin y.
pub fn sinh(z: Halves) -> Halves {
    let Halves { re: x, im: y } = z;
    let (odd, even, rest) = hyperbolic(&x);
    // Zeros and infinities stay what they are, whatever the other factor.
    let stays = x.equal(0.0) | (is_infinite(&x) & !is_finite(&y));
    let re = choose(&stays, &x, &(odd * y.cos() * &rest));
    Halves { re, im: choose(&y.equal(0.0), &y, &(even * y.sin() * &rest)) }
}

/// cosh x cos y + i sinh x sin y.
pub fn cosh(z: Halves) -> Halves {
    let Halves { re: x, im: y } = z;
    let (odd, even, rest) = hyperbolic(&x);
    let lost = is_infinite(&x) & !is_finite(&y);
    let re = choose(&lost, x.abs(), &(even * y.cos() * &rest));
    // Of a zero only the sign is left to find: the product of both.
    let flat = y.equal(0.0);
    let (zero, other) = (choose(&flat, &y, &x), choose(&flat, &x, &y));
    let im = choose(&(flat | x.equal(0.0)), signed(&zero, &other), &(odd * y.sin() * &rest));
    Halves { re, im }
}

/// sinh x and cosh x, and the factor that both lack where x is too large for the type.
fn hyperbolic(x: &Array) -> (Array, Array, Array) {
    let far = x.abs().greater(limits(x.dtype()).top);
    let (e, rest) = exp_in_two(&x.abs());
    let half = e * 0.5;
    (choose(&far, signed(&half, x), &x.sinh()), choose(&far, &half, &x.cosh()), rest)
}

/// -i sinh(i z).
pub fn sin(z: Halves) -> Halves {
    let turned = sinh(Halves { re: -&z.im, im: z.re });
    Halves { re: turned.im, im: -&turned.re }
}

/// cosh(i z).
pub fn cos(z: Halves) -> Halves {
    cosh(Halves { re: -&z.im, im: z.re })
}

/// Where |x| is so large that the result is 1 but for its rounding, the imaginary part is what is left of it.
/// Elsewhere W. Kahan's formula ("Branch cuts for complex elementary functions", 1987).
pub fn tanh(z: Halves) -> Halves {
    let Halves { re: x, im: y } = z;
    let far = x.abs().greater(22.0);
    let (s, t) = (choose(&far, 0.0, &x).sinh(), y.tan());
    let beta = &t * &t + 1.0;
    let below = &beta * &s * &s + 1.0;
    let lost = is_infinite(&x) & !is_finite(&y);
    #[expect(clippy::eq_op, reason = "NaN for infinities and NaN")]
    let one = choose(&(&lost | is_finite(&y)), signed(&1.0.operand(&x), &x), &(&y - &y));
    let re = choose(&far, one, &(&beta * (&s * &s + 1.0).sqrt() * &s / &below));
    let rest = (x.abs() * -2.0).exp() * (y.sin() * y.cos()) * 4.0;
    // What has no direction is 0 at infinity.
    let rest = choose(&lost, 0.0, &rest);
    let im = choose(&far, rest, &(t / below));
    Halves { re: choose(&x.equal(0.0), &x, &re), im: choose(&y.equal(0.0), &y, &im) }
}

/// -i tanh(i z).
pub fn tan(z: Halves) -> Halves {
    let turned = tanh(Halves { re: -&z.im, im: z.re });
    Halves { re: turned.im, im: -&turned.re }
}

/// exp(b log a), and what NumPy says of zeros: 0 to a power with a positive real part is 0, 0 to the power 0
/// is 1.
pub fn power(a: &Halves, b: &Halves) -> Halves {
    let power = exp(product(b, &log(a.clone())));
    let of_zero = a.re.equal(0.0) & a.im.equal(0.0);
    let (to_zero, to_positive) = (b.re.equal(0.0) & b.im.equal(0.0), b.re.greater(0.0));
    let undefined = &of_zero & !&to_positive;
    let zero = of_zero & to_positive;
    let with_zeros = |value: &Array, one: f64| {
        choose(&to_zero, one, &choose(&zero, 0.0, &choose(&undefined, f64::NAN, value)))
    };
    Halves { re: with_zeros(&power.re, 1.0), im: with_zeros(&power.im, 0.0) }
}
