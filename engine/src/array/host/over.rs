//! Arrays over domains: elements under indices of one's own choice, as in Chapel.
//!
//! Every array has a [`Domain`]; that of most is `0..n` along every dimension. An array that was put
//! [over](Array::over) another one, and what is computed from it, is read and written by its indices with the
//! methods here. All others go by position. Arithmetic goes by position, too: an operand over a domain never
//! stretches, and meets operands of its own shape, numbers, and plain ones of its rank with extents of 1; the
//! result is over the domain of the first operand that has one.

use std::panic;
use std::sync::Arc;
use std::thread;

use partita_kernels::Scalar;

use crate::array::record::expr::Map;
use crate::array::record::node::{Array, check_parts};
use crate::array::record::view::Span;
use crate::error::{Error, Result};
use crate::index::{Chunk, Distribution, Domain, Index, IndexRange};
use crate::team::Team;

impl Array {
    /// The same elements under the indices of a domain of this shape: Chapel's `reindex`. Recorded; nothing
    /// is copied.
    ///
    /// Carries an error for a domain of another shape.
    #[doc = example!(
        "let domain = Domain::new(&[IndexRange::new(1, 3, 1)?, IndexRange::new(-1, 2, 1)?])?;"
        "let v = u.over(&domain);"
        "assert_eq!(v.get_at(&[1, -1])?, u.get(&[0, 0])?);"
        "assert_eq!((&v * 2).domain(), domain);"
    )]
    pub fn over(&self, domain: &Domain) -> Array {
        if domain.shape() != self.shape() {
            let (expected, given) = (format!("a domain of shape {}", self.shape()), domain.to_string());
            return self.failed(Error::invalid("over", expected, given, "slice one of the two"));
        }
        self.under(Some(Arc::new(domain.clone())))
    }

    /// The same elements, which go by position again, from 0. Recorded; nothing is copied.
    #[doc = example!("assert!(!u.over(&u.domain()).by_position().is_over_domain());")]
    pub fn by_position(&self) -> Array {
        if self.is_over_domain() { self.under(None) } else { self.clone() }
    }

    fn under(&self, domain: Option<Arc<Domain>>) -> Array {
        Array::of(self.node.view_in_place(self.shape(), Map::identity(self.rank())).over(domain))
    }

    /// The indices of the elements; `0..n` along every dimension unless somebody chose others.
    #[doc = example!("assert_eq!(u.domain().to_string(), \"{0:2, 0:3}\");")]
    pub fn domain(&self) -> Domain {
        match &self.node.domain {
            Some(domain) => (**domain).clone(),
            None => Domain::of_shape(&self.shape()),
        }
    }

    /// True if somebody chose the indices, of this array or of one that it was computed from.
    #[doc = example!("assert!(u.over(&u.domain()).is_over_domain() && !u.is_over_domain());")]
    pub fn is_over_domain(&self) -> bool {
        self.node.domain.is_some()
    }

    /// The elements at the indices of `sub`, all of them the array's, in its order, under those indices: the
    /// result is over `sub`, that of an array over no domain too. Recorded.
    ///
    /// Carries an error for indices that the array does not have.
    #[doc = example!(
        "let v = u.over(&u.domain().shift(&[1, 1])?);"
        "let inner = v.at(&v.domain().interior(&[-1, 2])?);"
        "assert_eq!(inner.domain().to_string(), \"{1:2, 2:4}\");"
        "assert_eq!(inner.to_vec::<f64>()?, [1.0, 2.0]);"
    )]
    pub fn at(&self, sub: &Domain) -> Array {
        let taken = self.or_failed(self.spans_of(sub).map(|spans| self.slice(&spans)));
        if self.is_over_domain() { taken } else { taken.over(sub) }
    }

    /// Assigns `value`, of the shape of `sub` or a number's, to the elements at the indices of `sub`; as
    /// [`Array::assign`]. Computes. Collective.
    ///
    /// # Errors
    /// Indices that the array does not have, values of another shape, what computing the value brings.
    #[doc = example!(
        "let mut v = u.over(&u.domain().shift(&[1, 1])?);"
        "let row = Domain::new(&[IndexRange::new(2, 3, 1)?, IndexRange::new(1, 4, 1)?])?;"
        "v.assign_at(&row, &(v.at(&row) * 2))?;"
        "assert_eq!(v.to_vec::<f64>()?, [0.0, 1.0, 2.0, 6.0, 8.0, 10.0]);"
    )]
    pub fn assign_at(&mut self, sub: &Domain, value: &Array) -> Result<()> {
        let spans = self.spans_of(sub)?;
        self.assign(&spans, value)
    }

    /// The element at an index; as [`Array::get`]. Computes and waits. Collective.
    ///
    /// # Errors
    /// An index that the array does not have, what computing it brings.
    #[doc = example!("assert_eq!(u.over(&u.domain().shift(&[0, -9])?).get_at(&[1, -9])?, 3.0.into());")]
    pub fn get_at(&self, index: &[i64]) -> Result<Scalar> {
        self.get(&self.place(index)?)
    }

    /// Assigns to the element at an index; as [`Array::set`]. Computes. Collective.
    ///
    /// # Errors
    /// An index that the array does not have, a number that the dtype does not hold.
    #[doc = example!(
        "let mut v = u.over(&u.domain().shift(&[1, 1])?);"
        "v.set_at(&[2, 3], 7.0.into())?;"
        "assert_eq!(v.get(&[1, 2])?, 7.0.into());"
    )]
    pub fn set_at(&mut self, index: &[i64], value: Scalar) -> Result<()> {
        let place = self.place(index)?;
        self.set(&place, value)
    }

    /// The array over another domain of its rank, on the same kinds of maps over its team: elements of common
    /// indices keep their values, others are zero. What assigning to a domain does to its arrays in Chapel.
    /// Computes. Collective.
    ///
    /// # Errors
    /// Another rank, maps that have no meaning for another size, what computing the array brings.
    #[doc = example!(
        "let wider = u.resize_over(&u.domain().expand(&[0, 1])?)?;"
        "assert_eq!(wider.domain().to_string(), \"{0:2, -1:4}\");"
        "assert_eq!(wider.to_vec::<f64>()?, [0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 3.0, 4.0, 5.0, 0.0]);"
    )]
    pub fn resize_over(&self, domain: &Domain) -> Result<Array> {
        self.recorded()?;
        let own = self.domain();
        let kept = domain.intersect(&own)?;
        let made = self.resized(&domain.shape(), &spans(&own, &kept)?, &spans(domain, &kept)?)?;
        Ok(made.over(domain))
    }

    /// What an array carries comes before what is wrong with an index.
    fn place(&self, index: &[i64]) -> Result<Index> {
        self.recorded()?;
        Ok(self.domain().place(index)?)
    }

    fn spans_of(&self, sub: &Domain) -> Result<Vec<Span>> {
        self.recorded()?;
        spans(&self.domain(), sub)
    }
}

/// The places of some indices of a domain.
fn spans(whole: &Domain, sub: &Domain) -> Result<Vec<Span>> {
    let span = |range: &IndexRange| {
        let (first, step) = (range.first(), range.stride());
        let stop = match step > 0 {
            true => (first + (range.len() - 1) * step + 1).max(first),
            false => first + (range.len() - 1) * step - 1,
        };
        // Negative ends would count from the end.
        Span::Range { start: Some(first), stop: (stop >= 0).then_some(stop), step }
    };
    Ok(whole.densify(sub)?.dims().iter().map(span).collect())
}

/// The elements of all arrays at the indices that all of them have, in the order of the first: operands of
/// arithmetic by index rather than by position. Recorded.
///
/// Each carries an error where the ranks differ.
#[doc = example!(
    "let v = u.over(&u.domain().shift(&[1, 1])?);"
    "let [a, b] = &by_index(&[&u, &v])[..] else { unreachable!() };"
    "assert_eq!((a.domain().to_string(), (a - b).to_vec::<f64>()?), (\"{1:2, 1:3}\".into(), vec![4.0, 4.0]));"
)]
pub fn by_index(arrays: &[&Array]) -> Vec<Array> {
    let domains = arrays.iter().map(|array| Ok(array.domain()));
    let common = domains.reduce(|common: Result<Domain>, domain| Ok(common?.intersect(&domain?)?));
    let taken = |array: &&Array| match &common {
        Some(Ok(common)) => array.at(common),
        Some(Err(error)) => array.failed(error.clone()),
        None => (*array).clone(),
    };
    arrays.iter().map(taken).collect()
}

/// A loop over a domain, in parallel: calls `body` with each [`Chunk`] of the parts that this process has,
/// and the indices there. Each part has a thread of its own, which takes its chunks in order. What other
/// domains of this shape have at the places of a chunk, [`Domain::undensify`] gives: a zippered loop.
///
/// # Errors
/// Distributions of another shape, or over another number of parts than the team has members; that of the
/// first part with one. Other parts go on to their end.
#[doc = example!(
    "let domain = u.domain().shift(&[1, -1])?;"
    "let sum = std::sync::atomic::AtomicI64::new(0);"
    "for_each_chunk(&team, &domain, &dist, |chunk, indices| {"
    "    assert!(indices.iter().all(|at| domain.owner(&dist, &at).unwrap() == chunk.part));"
    "    sum.fetch_add(indices.iter().map(|at| at[1]).sum(), std::sync::atomic::Ordering::Relaxed);"
    "    Ok(())"
    "})?;"
    "assert_eq!(sum.into_inner(), 2 * (-1 + 0 + 1));"
)]
pub fn for_each_chunk(
    team: &Team,
    domain: &Domain,
    dist: &Distribution,
    body: impl Fn(&Chunk, &Domain) -> Result<()> + Sync,
) -> Result<()> {
    check_parts("for_each_chunk", team, dist)?;
    let chunks = domain.chunks(dist)?;
    let work = &|chunk: &Chunk| body(chunk, &domain.undensify(&chunk.places)?);
    let parts = chunks.chunk_by(|a, b| a.part == b.part).filter(|part| team.is_here(part[0].part));
    thread::scope(|scope| {
        let running: Vec<_> = parts.map(|part| scope.spawn(move || part.iter().try_for_each(work))).collect();
        let ends: Vec<Result<()>> = running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)))
            .collect();
        ends.into_iter().collect()
    })
}
