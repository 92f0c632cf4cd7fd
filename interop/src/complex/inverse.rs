//! Inverse trigonometric and hyperbolic functions of [`Halves`], by W. Kahan's formulas ("Branch cuts for
//! complex elementary functions, or much ado about nothing's sign bit", 1987): out of the roots of 1 - z and
//! 1 + z, so that no digits are lost at the ends of the cuts. Far from 0, where the 1 is lost, they are
//! logarithms.

use super::functions::{Halves, choose, is_infinite, limits, log, signed, sqrt};
use partita::Array;
use partita::array::Operand;
use std::f64::consts::{FRAC_PI_2, LN_2};

/// True where 1 is lost in z.
fn is_far(z: &Halves) -> Array {
    let (a, b) = (z.re.abs(), z.im.abs());
    a.maximum(&b).greater(limits(a.dtype()).far) | is_infinite(&a) | is_infinite(&b)
}

/// The roots of 1 - z and of 1 + z.
fn roots(z: &Halves) -> (Halves, Halves) {
    (sqrt(Halves { re: 1.0 - &z.re, im: -&z.im }), sqrt(Halves { re: &z.re + 1.0, im: z.im.clone() }))
}

/// The angle from 0 to pi whose cosine is z.
pub fn acos(z: Halves) -> Halves {
    let (below, above) = roots(&z);
    let far = is_far(&z);
    let length = log(z.clone()).re + LN_2;
    let (re, im) = (below.re.atan2(&above.re) * 2.0, (&above.re * &below.im - &above.im * &below.re).asinh());
    let re = choose(&far, z.im.abs().atan2(&z.re), &choose(&z.re.equal(0.0), FRAC_PI_2, &re));
    Halves { re, im: choose(&far, -signed(&length, &z.im), &im) }
}

/// The angle from -pi/2 to pi/2 whose sine is z.
pub fn asin(z: Halves) -> Halves {
    let (below, above) = roots(&z);
    let far = is_far(&z);
    let length = log(z.clone()).re + LN_2;
    let across = &below.re * &above.re - &below.im * &above.im;
    let im = (&below.re * &above.im - &below.im * &above.re).asinh();
    let re = choose(&far, z.re.atan2(z.im.abs()), &choose(&z.re.equal(0.0), &z.re, &z.re.atan2(across)));
    Halves { re, im: choose(&far, signed(&length, &z.im), &im) }
}

/// acos z, turned by a right angle into the right half.
pub fn acosh(z: Halves) -> Halves {
    let y = z.im.clone();
    let Halves { re, im } = acos(z);
    Halves { re: im.abs(), im: signed(&re, &y) }
}

/// -i asin(i z).
pub fn asinh(z: Halves) -> Halves {
    let turned = asin(Halves { re: -&z.im, im: z.re });
    Halves { re: turned.im, im: -&turned.re }
}

/// Half the logarithm of (1 + z) / (1 - z).
pub fn atanh(z: Halves) -> Halves {
    let far = is_far(&z);
    let Halves { re: x, im: y } = z;
    let a = x.abs();
    // The distance from the pole at 1, whose square may be no number.
    let apart = (1.0 - &a).hypot(&y);
    let close = (&a * 4.0 + &apart * &apart).log() * 0.25 - apart.log() * 0.5;
    let re = choose(&apart.less(0.5), close, &((&a * 4.0 / &apart / &apart).log1p() * 0.25));
    let length = a.hypot(&y);
    let rest = choose(&is_infinite(&length), 0.0, &(&a / &length / &length));
    let re = choose(&x.equal(0.0), &x, &signed(&choose(&far, rest, &re), &x));
    let im = (&y * 2.0).atan2((1.0 - &a) * (&a + 1.0) - &y * &y) * 0.5;
    let quarter = choose(&y.is_nan(), &y, &signed(&FRAC_PI_2.operand(&y), &y));
    Halves { re, im: choose(&far, quarter, &im) }
}

/// -i atanh(i z).
pub fn atan(z: Halves) -> Halves {
    let turned = atanh(Halves { re: -&z.im, im: z.re });
    Halves { re: turned.im, im: -&turned.re }
}
