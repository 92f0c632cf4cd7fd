//! [`DomainMap`]: a user-implemented division of the indices of a domain among parts. [`MappedDomain`]: a
//! domain with its map. Loops over it are described here, not run in parallel.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::index::distributions::Distribution;
use crate::index::domain::Domain;
use crate::index::error::{ErrorKind, IndexError, Result, check_rank};
use crate::index::index_set::IndexRange;
use crate::index::maps::missing;
use crate::index::region::{Index, Region};

/// A piece of a loop: which positions of the domain one part takes. Positions are dense, see
/// [`Domain::densify`], and so mean something to every domain of the same shape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IterationChunk {
    /// The part that the work is placed at.
    pub part: usize,
    /// The positions along every dimension.
    pub dense: Domain,
}

/// A division of domains over parts, as authors write it. The first methods are enough for loops; the
/// later ones refuse by name until they are written. Constructors are the author's business.
pub trait DomainMap: fmt::Debug + Send + Sync {
    /// The name of the map.
    fn name(&self) -> &str;

    /// The number of parts.
    fn parts(&self) -> usize;

    /// The leader: `whole` in pieces that together have every index once.
    fn divide(&self, whole: &Domain) -> Result<Vec<IterationChunk>>;

    /// The map itself, for the author's own methods: callers find the type they know behind it.
    fn as_any(&self) -> &dyn Any;

    /// Whether another map divides every domain alike. Without it, a map equals itself only.
    fn equal(&self, other: &dyn DomainMap) -> bool {
        let _ = other;
        false
    }

    /// An equal map that shares nothing with this one.
    fn duplicate(&self) -> Result<Arc<dyn DomainMap>> {
        Err(missing(self.name(), "duplicate"))
    }

    /// The pieces of a loop over this domain alone, where the author knows better ones than the leader's.
    fn standalone(&self, whole: &Domain) -> Option<Result<Vec<IterationChunk>>> {
        let _ = whole;
        None
    }

    /// Later phase: the part that owns an index of `whole`.
    fn index_to_part(&self, whole: &Domain, index: &[i64]) -> Result<usize> {
        let _ = (whole, index);
        Err(missing(self.name(), "index_to_part"))
    }

    /// Whether domains keep a reference to the map. A map that says no is not asked about by its domains.
    fn links_distribution(&self) -> bool {
        true
    }
}

/// A distribution maps every domain of its own shape, index by position, and others where each of its maps
/// has a meaning for another size: even blocks, cyclic and replicated ones do.
impl DomainMap for Distribution {
    fn name(&self) -> &str {
        "distribution"
    }

    fn parts(&self) -> usize {
        Distribution::parts(self)
    }

    fn divide(&self, whole: &Domain) -> Result<Vec<IterationChunk>> {
        let dist = self.resized(&whole.shape())?;
        let mut chunks = Vec::new();
        for part in 0..dist.parts() {
            let at = dist.grid().coordinate(part);
            let ranges: Vec<Vec<IndexRange>> =
                (0..dist.rank()).map(|d| dist.map(d).owned_once(at[d] as usize).ranges()).collect();
            let counts: Vec<i64> = ranges.iter().map(|ranges| ranges.len() as i64).collect();
            for choice in Region::from_shape(&counts)?.points() {
                let chosen: Vec<IndexRange> =
                    (0..dist.rank()).map(|d| ranges[d][choice[d] as usize]).collect();
                let dense = Domain::new(&chosen)?;
                chunks.extend((!dense.is_empty()).then_some(IterationChunk { part, dense }));
            }
        }
        Ok(chunks)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equal(&self, other: &dyn DomainMap) -> bool {
        other.as_any().downcast_ref::<Distribution>().is_some_and(|other| self == other)
    }

    fn duplicate(&self) -> Result<Arc<dyn DomainMap>> {
        Ok(Arc::new(self.clone()))
    }

    fn index_to_part(&self, whole: &Domain, index: &[i64]) -> Result<usize> {
        check_rank("index_to_part", whole.rank(), index.len())?;
        let orders: Option<Vec<i64>> = (0..index.len()).map(|d| whole.dim(d).order(index[d])).collect();
        match orders {
            Some(orders) => self.resized(&whole.shape())?.owner(&orders),
            None => Err(not_a_member("index_to_part", whole, index)),
        }
    }
}

/// The kinds of domains that languages with domains have. Only rectangular ones exist here so far.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum DomainKind {
    /// Ranges along every dimension.
    Rectangular,
    /// Keys of any type.
    Associative,
    /// Nameless indices.
    Opaque,
    /// Some indices of a rectangular domain.
    Sparse,
}

/// A rectangular domain and the map that divides it. Its version grows with every change of its indices, so
/// that copies of it elsewhere can tell that they are old.
#[derive(Clone, Debug)]
pub struct MappedDomain {
    indices: Domain,
    map: Arc<dyn DomainMap>,
    version: u64,
}

impl MappedDomain {
    /// The domain with these indices over a map; any number of domains may share one.
    pub fn new(map: Arc<dyn DomainMap>, indices: Domain) -> MappedDomain {
        MappedDomain { indices, map, version: 0 }
    }

    /// A domain of some kind; kinds other than rectangular are refused.
    pub fn of_kind(kind: DomainKind, map: Arc<dyn DomainMap>, indices: Domain) -> Result<MappedDomain> {
        if kind == DomainKind::Rectangular {
            return Ok(MappedDomain::new(map, indices));
        }
        let given = format!("{kind:?} over the map `{}`", map.name());
        let remedy = "use a rectangular domain, and an unstructured map where indices are sparse";
        Err(IndexError::new(ErrorKind::Unsupported, "new domain", "a rectangular domain", given, remedy))
    }

    /// The index set.
    pub fn indices(&self) -> &Domain {
        &self.indices
    }

    /// The map; none where it does not want to be linked.
    pub fn map(&self) -> Option<&Arc<dyn DomainMap>> {
        self.map.links_distribution().then_some(&self.map)
    }

    /// The number of changes of the indices.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Replaces the indices by others of the same rank, and says which of them it had before. Those keep
    /// their values: arrays over the domain copy them into their new memory first.
    pub fn set_indices(&mut self, indices: Domain) -> Result<Domain> {
        check_rank("MappedDomain::set_indices", self.indices.rank(), indices.rank())?;
        let kept = indices.intersect(&self.indices)?;
        self.indices = indices;
        self.version += 1;
        Ok(kept)
    }

    /// The pieces of a loop, by the leader.
    pub fn leader(&self) -> Result<Vec<IterationChunk>> {
        self.map.divide(&self.indices)
    }

    /// The indices at the positions `dense`, in default order: the follower. Any positions inside are
    /// accepted, wherever the description comes from.
    pub fn follower(&self, dense: &Domain) -> Result<Domain> {
        self.indices.undensify(dense)
    }

    /// The part that owns an index.
    pub fn index_to_part(&self, index: &[i64]) -> Result<usize> {
        if !self.indices.member(index) {
            return Err(not_a_member("index_to_part", &self.indices, index));
        }
        self.map.index_to_part(&self.indices, index)
    }

    /// Calls `body` with the part and the index, for every index, piece by piece.
    pub fn for_each(&self, mut body: impl FnMut(usize, &Index)) -> Result<()> {
        let chunks = self.map.standalone(&self.indices).unwrap_or_else(|| self.leader())?;
        for chunk in chunks {
            self.follower(&chunk.dense)?.iter().for_each(|index| body(chunk.part, &index));
        }
        Ok(())
    }
}

impl PartialEq for MappedDomain {
    fn eq(&self, other: &MappedDomain) -> bool {
        self.indices == other.indices && (Arc::ptr_eq(&self.map, &other.map) || self.map.equal(&*other.map))
    }
}

/// Calls `body` with the part and one index of every domain, for all positions: the leader of the first one
/// divides the loop, once, and all of them follow. The shapes are equal.
pub fn zip(domains: &[&MappedDomain], mut body: impl FnMut(usize, &[Index])) -> Result<()> {
    let Some(first) = domains.first() else { return Ok(()) };
    let shape = first.indices.shape();
    if let Some(other) = domains.iter().find(|other| other.indices.shape() != shape) {
        let (expected, given) = (format!("domains of shape {shape}"), other.indices.shape().to_string());
        let remedy = "slice them to one shape";
        return Err(IndexError::new(ErrorKind::Size, "zip", expected, given, remedy));
    }
    for chunk in first.leader()? {
        let followers: Vec<Domain> =
            domains.iter().map(|domain| domain.follower(&chunk.dense)).collect::<Result<_>>()?;
        let mut walks: Vec<_> = followers.iter().map(Domain::iter).collect();
        while let Some(indices) = walks.iter_mut().map(Iterator::next).collect::<Option<Vec<Index>>>() {
            body(chunk.part, &indices);
        }
    }
    Ok(())
}

/// Writes a domain, or with `value` what an array has at its indices, in default order. Every member calls
/// it; the first one writes, the others return at once.
pub fn serial_write(
    member: usize,
    domain: &Domain,
    value: Option<&dyn Fn(&Index) -> String>,
    out: &mut dyn fmt::Write,
) -> fmt::Result {
    match (member, value) {
        (0, None) => write!(out, "{domain}"),
        (0, Some(value)) => {
            let row = domain.rank().checked_sub(1).map_or(1, |last| domain.dim(last).len());
            domain.iter().enumerate().try_for_each(|(position, index)| {
                let before = match position as i64 {
                    0 => "",
                    position if position % row == 0 => "\n",
                    _ => " ",
                };
                write!(out, "{before}{}", value(&index))
            })
        }
        _ => Ok(()),
    }
}

fn not_a_member(operation: &'static str, whole: &Domain, index: &[i64]) -> IndexError {
    let (expected, given) = (format!("an index of {whole}"), format!("{index:?}"));
    IndexError::new(ErrorKind::Range, operation, expected, given, "ask `member` first")
}
