//! Finite differences, convolutions and boundary conditions on arrays, [`fourier`] transforms and [`random`]
//! numbers. They use the public interface of [`mod@array`] (slices, arithmetic, padding, rolling,
//! assignment), and random numbers one operation of their own. The engine derives halos from the slices.
//!
//! Let `u` be samples of a function at points that are `h` apart along each dimension, `u_i = f(i h)`.
//! Spacings are these distances, one per dimension, in any unit of length; results are per that unit (or its
//! square). Orders of accuracy are those of Taylor's expansion of the quotients named; B. Fornberg,
//! "Generation of Finite Difference Formulas on Arbitrarily Spaced Grids", Mathematics of Computation 51
//! (1988), derives them and others.
//!
//! [`mod@array`]: crate::array

pub mod fourier;
pub mod random;

use std::ops::Add;

use partita_kernels::DType;

use crate::array::{Array, IntoSpan, Operand, Padding, Span, held};
use crate::error::{Error, Result};
use crate::index::{Domain, Index, Region};

/// The cells beyond the ends of `a b c d`, by the names of [`Padding`].
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Boundary {
    /// None: `| a b c d |`.
    Open,
    /// One value, Dirichlet's condition: `v v | a b c d | v v`.
    Constant(f64),
    /// The other end, a periodic boundary: `c d | a b c d | a b`.
    Wrap,
    /// The outermost element: `a a | a b c d | d d`.
    Edge,
    /// Neumann's condition at the outermost point: `c b | a b c d | c b`.
    Reflect,
    /// Neumann's condition half a cell beyond the outermost point: `b a | a b c d | d c`.
    Symmetric,
}

/// An end of a dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The end at which coordinates begin.
    Low,
    /// The other end.
    High,
}

/// An array with cells around it, equally many on both sides of each dimension.
struct PaddedArray {
    held: Array,
    widths: Vec<i64>,
    /// Wraparound is done by rolling the array itself.
    rolls: bool,
    /// The indices of the results, if somebody chose those of the array.
    domain: Option<Domain>,
}

impl PaddedArray {
    fn new(operation: &'static str, u: &Array, widths: Vec<i64>, boundary: Boundary) -> PaddedArray {
        let dist = u.distribution();
        let meets = |d: usize| widths[d] == 0 || dist.as_ref().is_ok_and(|dist| dist.periodic(d));
        if boundary == Boundary::Wrap && (0..u.rank()).all(meets) {
            let domain = u.is_over_domain().then(|| u.domain());
            return PaddedArray { held: u.clone(), widths, rolls: true, domain };
        }
        let around: Vec<(i64, i64)> = widths.iter().map(|&n| (n, n)).collect();
        let mut held = match boundary {
            Boundary::Open => u.clone(),
            Boundary::Constant(value) => {
                let value = held(operation, u.dtype(), value.into());
                u.or_failed(value.map(|value| u.pad(&around, Padding::Constant(value))))
            }
            Boundary::Wrap => u.pad(&around, Padding::Wrap),
            Boundary::Edge => u.pad(&around, Padding::Edge),
            Boundary::Reflect => u.pad(&around, Padding::Reflect),
            Boundary::Symmetric => u.pad(&around, Padding::Symmetric),
        };
        if widths.iter().zip(held.shape().iter()).any(|(n, &extent)| extent < 2 * n + 1) {
            let least: Vec<i64> = widths.iter().map(|n| 2 * n + 1).collect();
            let (expected, given) = (format!("at least {least:?} cells"), format!("shape {}", u.shape()));
            held = u.failed(Error::invalid(operation, expected, given, "choose another boundary"));
        }
        let inwards = |d: usize| (held.shape()[d] - u.shape()[d]) / 2 - widths[d];
        let domain = u.is_over_domain().then(|| u.domain().expand(&Index::from_fn(u.rank(), inwards)));
        PaddedArray { held, widths, rolls: false, domain: domain.and_then(|domain| domain.ok()) }
    }

    /// For each cell of the result the one that is so far away.
    fn at(&self, by: &[i64]) -> Array {
        let cells = self.cells(by);
        self.domain.as_ref().map_or_else(|| cells.clone(), |domain| cells.over(domain))
    }

    fn cells(&self, by: &[i64]) -> Array {
        if self.rolls {
            return self.held.roll(&by.iter().map(|n| -n).collect::<Vec<i64>>());
        }
        let extents = self.held.shape();
        let span = |d: usize| {
            let start = self.widths[d] + by[d];
            (start..start + extents[d] - 2 * self.widths[d]).into_span()
        };
        self.held.slice(&(0..self.widths.len()).map(span).collect::<Vec<Span>>())
    }
}

fn unit(rank: usize, d: usize, length: i64) -> Vec<i64> {
    (0..rank).map(|e| if e == d { length } else { 0 }).collect()
}

/// Numbers as floats, or an error for spacings that are not theirs.
fn spaced(operation: &'static str, u: &Array, spacing: &[f64]) -> Array {
    let (u, rank) = (floats(u), u.rank());
    if rank > 0 && spacing.len() == rank && spacing.iter().all(|&h| h > 0.0) {
        return u;
    }
    let expected =
        format!("a positive distance for each of {rank} dimensions, of which there is one at least");
    u.failed(Error::invalid(operation, expected, format!("{spacing:?}"), "give one per dimension"))
}

/// Integers as f64.
fn floats(u: &Array) -> Array {
    if u.dtype().is_float() { u.clone() } else { u.cast(DType::F64) }
}

/// Second derivatives, summed over all dimensions:
/// `sum over d of (u[i + e_d] - 2 u[i] + u[i - e_d]) / h_d^2`, with an error of order `h^2`.
///
/// [`Boundary::Open`] leaves out the outermost cells: the result has two fewer in each dimension. Recorded.
///
/// Carries an error for spacings that are not one positive number per dimension, and for too few cells.
#[doc = example!(
    "let five = operators::laplacian(&u, &[1.0, 1.0], Boundary::Constant(0.0));"
    "assert_eq!(five.get(&[1, 1])?, (3.0 + 5.0 + 1.0 + 0.0 - 4.0 * 4.0).into());"
)]
pub fn laplacian(u: &Array, spacing: &[f64], boundary: Boundary) -> Array {
    let (u, rank) = (spaced("laplacian", u, spacing), u.rank());
    let around = PaddedArray::new("laplacian", &u, vec![1; rank], boundary);
    let centre = around.at(&vec![0; rank]);
    let second = |(d, h): (usize, &f64)| {
        let (up, down) = (around.at(&unit(rank, d, 1)), around.at(&unit(rank, d, -1)));
        (up - &centre * 2.0 + down) / (h * h)
    };
    spacing.iter().enumerate().map(second).reduce(Add::add).unwrap_or(u)
}

/// First derivatives, one array of the shape of `u` per dimension: `(u[i + e_d] - u[i - e_d]) / (2 h_d)`,
/// with an error of order `h^2`.
///
/// With [`Boundary::Open`] the first and last cells take `(-3 u[0] + 4 u[1] - u[2]) / (2 h)`, and likewise
/// from the other side, which is of order `h^2` too; that takes three cells. Recorded. Each carries errors as
/// [`laplacian`] does.
#[doc = example!(
    "let slopes = operators::gradient(&u, &[1.0, 1.0], Boundary::Edge);"
    "assert_eq!(slopes[1].get(&[0, 1])?, 1.0.into());"
)]
pub fn gradient(u: &Array, spacing: &[f64], boundary: Boundary) -> Vec<Array> {
    (0..u.rank()).map(|d| derivative("gradient", u, d, spacing, boundary)).collect()
}

/// `sum over d of the derivative of field[d] along dimension d`, computed as in [`gradient`]. `field` has one
/// array per dimension, all of one shape, which is the result's. Recorded.
///
/// Carries errors as [`gradient`] does, and for another number of arrays or different shapes.
#[doc = example!(
    "let field = [&u * 0, u.clone()];"
    "let flow = operators::divergence(&field, &[1.0, 1.0], Boundary::Wrap);"
    "assert_eq!(flow.get(&[0, 1])?, 1.0.into());"
)]
pub fn divergence(field: &[Array], spacing: &[f64], boundary: Boundary) -> Array {
    let along = |(d, part): (usize, &Array)| derivative("divergence", part, d, spacing, boundary);
    let fits = field.iter().all(|part| part.rank() == field.len() && part.shape() == field[0].shape());
    let flow = field.iter().enumerate().filter(|_| fits).map(along).reduce(Add::add);
    flow.unwrap_or_else(|| {
        let expected = format!("{} arrays of one shape of as many dimensions", field.len().max(1));
        let given: Vec<String> = field.iter().map(|part| part.shape().to_string()).collect();
        let error = Error::invalid("divergence", expected, given.join(", "), "give one per dimension");
        Array::failed_of(&field.iter().collect::<Vec<&Array>>(), error)
    })
}

fn derivative(operation: &'static str, u: &Array, d: usize, spacing: &[f64], boundary: Boundary) -> Array {
    let (rank, extent) = (u.rank(), u.shape()[d]);
    let (u, h) = (&spaced(operation, u, spacing), spacing.get(d).copied().unwrap_or(1.0));
    let around = PaddedArray::new(operation, u, unit(rank, d, 1), boundary);
    let inner = (around.at(&unit(rank, d, 1)) - around.at(&unit(rank, d, -1))) / (2.0 * h);
    if boundary != Boundary::Open || inner.recorded().is_err() {
        return inner;
    }
    let layer = |at: i64| layers(u, d, at..at + 1);
    let end = |at: i64, inwards: i64| {
        let [a, b, c] = [0, 1, 2].map(|k| layer(at + k * inwards));
        (b * 4.0 - a * 3.0 - c) / (2.0 * h * inwards as f64)
    };
    let whole = Array::concatenate(&[&end(0, 1), &inner, &end(extent - 1, -1)], d);
    if u.is_over_domain() { whole.over(&u.domain()) } else { whole }
}

/// The convolution with a small constant kernel of shape `extents`, whose numbers come in C order: `sum over
/// j of kernel[j] u[i - j]`. Each number becomes a constant of the generated kernel, zeros vanish, and the
/// terms are added in the order of the kernel's elements.
///
/// With [`Boundary::Open`] only complete sums are computed, so that each extent shrinks by the kernel's less
/// one; otherwise the kernel is centred. Its extents are odd. Recorded.
///
/// Carries an error for extents that are not odd, or not as many as dimensions, numbers that are not their
/// product, and too few cells.
#[doc = example!(
    "let means = operators::convolve(&u, &[0.25, 0.5, 0.25], &[1, 3], Boundary::Open);"
    "assert_eq!(means.to_vec::<f64>()?, [1.0, 4.0]);"
)]
pub fn convolve(u: &Array, kernel: &[f64], extents: &[i64], boundary: Boundary) -> Array {
    u.or_failed(try_convolve(u, kernel, extents, boundary))
}

fn try_convolve(u: &Array, kernel: &[f64], extents: &[i64], boundary: Boundary) -> Result<Array> {
    let odd = extents.len() == u.rank() && extents.iter().all(|extent| extent % 2 == 1 && *extent > 0);
    let places = if odd { Region::from_shape(extents)?.points() } else { Region::from_shape(&[])?.points() };
    if !odd || extents.iter().product::<i64>() != kernel.len() as i64 {
        let expected = format!("a kernel of {} odd extents and as many numbers", u.rank());
        let given = format!("{} numbers of shape {extents:?}", kernel.len());
        return Err(Error::invalid("convolve", expected, given, "pad the kernel with zeros"));
    }
    let widths: Vec<i64> = extents.iter().map(|extent| extent / 2).collect();
    let around = PaddedArray::new("convolve", u, widths.clone(), boundary);
    let numbers = kernel.iter().zip(places).filter(|(number, _)| **number != 0.0);
    let term = |(number, at): (&f64, Index)| {
        let by: Vec<i64> = widths.iter().zip(at.iter()).map(|(n, k)| n - k).collect();
        around.at(&by) * *number
    };
    let of_zeros = || around.at(&vec![0; u.rank()]) * 0.0;
    Ok(numbers.map(term).reduce(Add::add).unwrap_or_else(of_zeros))
}

/// Some layers along a dimension.
fn layers(u: &Array, axis: usize, cells: std::ops::Range<i64>) -> Array {
    u.slice(&spans(u, axis, cells))
}

fn spans(u: &Array, axis: usize, cells: std::ops::Range<i64>) -> Vec<Span> {
    let along = |d: usize| if d == axis { cells.clone() } else { 0..u.shape()[d] };
    (0..u.rank()).map(|d| along(d).into_span()).collect()
}

fn check_border(operation: &'static str, u: &Array, axis: usize, width: i64, least: i64) -> Result<()> {
    let has_room = width >= 0 && axis < u.rank() && u.shape()[axis] >= least;
    if has_room {
        return Ok(());
    }
    let expected =
        format!("at least {least} cells along a dimension that is there, and a width of at least 0");
    let given = format!("dimension {axis} of shape {}, width {width}", u.shape());
    Err(Error::invalid(operation, expected, given, "count dimensions from 0; make the border thinner"))
}

/// Known values: the outermost `width` cells of one end become `value`, a number or an array that broadcasts
/// to them. Computes.
///
/// # Errors
/// No such dimension; fewer cells; those of [`Array::assign`].
#[doc = example!(
    "let mut v = u.clone();"
    "operators::dirichlet(&mut v, 1, Side::High, 1, 7)?;"
    "assert_eq!(v.to_vec::<f64>()?, [0.0, 1.0, 7.0, 3.0, 4.0, 7.0]);"
)]
pub fn dirichlet(u: &mut Array, axis: usize, side: Side, width: i64, value: impl Operand) -> Result<()> {
    check_border("dirichlet", u, axis, width, width)?;
    let extent = u.shape()[axis];
    let cells = match side {
        Side::Low => 0..width,
        Side::High => extent - width..extent,
    };
    let spans = spans(u, axis, cells);
    let value = u.slice(&spans).beside("dirichlet", &value);
    u.assign(&spans, &value)
}

/// A known outward derivative: `u[0] = u[1] + h slope`, and likewise at the other end. The difference is of
/// order `h` at the outermost point, and of order `h^2` half a cell inside of it, where cell-centred schemes
/// have their wall. Computes.
///
/// # Errors
/// No such dimension; fewer than two cells; integers; those of [`Array::assign`].
#[doc = example!(
    "let mut v = u.clone();"
    "operators::neumann(&mut v, 1, Side::Low, 0.0, 1.0)?;"
    "assert_eq!(v.to_vec::<f64>()?, [1.0, 1.0, 2.0, 4.0, 4.0, 5.0]);"
)]
pub fn neumann(u: &mut Array, axis: usize, side: Side, slope: f64, h: f64) -> Result<()> {
    check_border("neumann", u, axis, 1, 2)?;
    let extent = u.shape()[axis];
    let (outer, inner) = match side {
        Side::Low => (0, 1),
        Side::High => (extent - 1, extent - 2),
    };
    let value = layers(u, axis, inner..inner + 1) + slope * h;
    u.assign(&spans(u, axis, outer..outer + 1), &value)
}

/// The ends meet: the outermost `width` cells become what lies inside of the other end's, `u[..w] = u[-2
/// w..-w]` and `u[-w..] = u[w..2 w]`. One dimension after the other fills the corners too. Arrays on periodic
/// distributions need no such cells. Computes.
///
/// # Errors
/// No such dimension; fewer than three times as many cells; those of [`Array::assign`].
#[doc = example!(
    "let mut v = u.clone();"
    "operators::periodic(&mut v, 1, 1)?;"
    "assert_eq!(v.to_vec::<f64>()?, [1.0, 1.0, 1.0, 4.0, 4.0, 4.0]);"
)]
pub fn periodic(u: &mut Array, axis: usize, width: i64) -> Result<()> {
    check_border("periodic", u, axis, width, 3 * width)?;
    let n = u.shape()[axis];
    let (low, high) = (layers(u, axis, n - 2 * width..n - width), layers(u, axis, width..2 * width));
    u.assign(&spans(u, axis, 0..width), &low)?;
    u.assign(&spans(u, axis, n - width..n), &high)
}

/// No flow through one end: the outermost `width` cells become the inner ones in reverse order, reflected at
/// the first inner cell `w`: `u[w - k] = u[w + k]`; the derivative there is 0 to order `h^2`. Computes.
///
/// # Errors
/// No such dimension; too few cells; those of [`Array::assign`].
#[doc = example!(
    "let mut v = u.clone();"
    "operators::mirror(&mut v, 1, Side::Low, 1)?;"
    "assert_eq!(v.to_vec::<f64>()?, [2.0, 1.0, 2.0, 5.0, 4.0, 5.0]);"
)]
pub fn mirror(u: &mut Array, axis: usize, side: Side, width: i64) -> Result<()> {
    check_border("mirror", u, axis, width, 2 * width + 1)?;
    let n = u.shape()[axis];
    let (outer, inner) = match side {
        Side::Low => (0..width, width + 1..2 * width + 1),
        Side::High => (n - width..n, n - 2 * width - 1..n - width - 1),
    };
    let value = layers(u, axis, inner).flip(axis);
    u.assign(&spans(u, axis, outer), &value)
}
