//! [`DomainMap`]: a user-implemented division of the indices of a domain among parts. [`MappedDomain`]: a
//! domain with its map. Loops over it are described here, not run in parallel. [`Replicas`]: a description
//! copied to every member of a team, so that reads are local. It counts the messages that copying takes; it
//! sends none.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
    /// What the map is called.
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

    /// Later phase: an independent copy for another member.
    fn privatize(&self) -> Result<Arc<dyn DomainMap>> {
        Err(missing(self.name(), "privatize"))
    }

    /// Whether [`DomainMap::privatize`] is there.
    fn supports_privatization(&self) -> bool {
        false
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

    fn privatize(&self) -> Result<Arc<dyn DomainMap>> {
        Ok(Arc::new(self.clone()))
    }

    fn supports_privatization(&self) -> bool {
        true
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

    /// How often the indices have changed.
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

/// A description that members keep copies of.
pub trait Privatize: Sized {
    /// What travels to a member, in one message.
    type Data: Clone;
    /// The member's own copies of what the description refers to: copies refer to copies.
    type Parents;

    /// What a copy is made from; taken from the original or from any copy.
    fn privatize_data(&self) -> Self::Data;

    /// A member's copy.
    fn privatize(data: &Self::Data, parents: &Self::Parents) -> Result<Self>;

    /// Brings an old copy up to date: whatever can change after a copy was made.
    fn reprivatize(&mut self, data: &Self::Data) -> Result<()>;
}

impl Privatize for Distribution {
    type Data = Distribution;
    type Parents = ();

    fn privatize_data(&self) -> Distribution {
        self.clone()
    }

    fn privatize(data: &Distribution, _: &()) -> Result<Distribution> {
        Ok(data.clone())
    }

    fn reprivatize(&mut self, data: &Distribution) -> Result<()> {
        *self = data.clone();
        Ok(())
    }
}

/// Maps privatize themselves; one without that method of a later phase refuses by name.
impl Privatize for Arc<dyn DomainMap> {
    type Data = Arc<dyn DomainMap>;
    type Parents = ();

    fn privatize_data(&self) -> Arc<dyn DomainMap> {
        self.clone()
    }

    fn privatize(data: &Arc<dyn DomainMap>, _: &()) -> Result<Arc<dyn DomainMap>> {
        data.privatize()
    }

    fn reprivatize(&mut self, data: &Arc<dyn DomainMap>) -> Result<()> {
        *self = data.privatize()?;
        Ok(())
    }
}

/// The indices travel; the map is the member's own copy.
impl Privatize for MappedDomain {
    type Data = Domain;
    type Parents = Arc<dyn DomainMap>;

    fn privatize_data(&self) -> Domain {
        self.indices().clone()
    }

    fn privatize(data: &Domain, map: &Arc<dyn DomainMap>) -> Result<MappedDomain> {
        Ok(MappedDomain::new(map.clone(), data.clone()))
    }

    fn reprivatize(&mut self, data: &Domain) -> Result<()> {
        self.set_indices(data.clone()).map(|_| ())
    }
}

/// An original at one member, and copies at the others once they were made. Each carries the version of the
/// original that it was made or updated from.
#[derive(Debug)]
pub struct Replicas<T> {
    home: usize,
    version: u64,
    // The original at home, and the copies.
    copies: Vec<Option<(u64, T)>>,
    messages: AtomicU64,
}

impl<T: Privatize> Replicas<T> {
    /// An original at member `home` of `members`; nobody has a copy yet. `home` is one of the members.
    pub fn new(original: T, home: usize, members: usize) -> Replicas<T> {
        let mut copies: Vec<Option<(u64, T)>> = (0..members).map(|_| None).collect();
        copies[home] = Some((0, original));
        Replicas { home, version: 0, copies, messages: AtomicU64::new(0) }
    }

    /// Whether every member has a copy.
    pub fn privatized(&self) -> bool {
        self.copies.iter().all(Option::is_some)
    }

    /// The number that a member knows the privatized description by; -1 before there are copies.
    pub fn pid(&self) -> i64 {
        if self.privatized() { self.home as i64 } else { -1 }
    }

    /// Gives every member a copy that refers to the member's own `parents(member)`; one message each.
    pub fn privatize(&mut self, parents: impl Fn(usize) -> T::Parents) -> Result<()> {
        let data = self.original()?.privatize_data();
        for member in (0..self.copies.len()).filter(|&member| member != self.home) {
            self.copies[member] = Some((self.version, T::privatize(&data, &parents(member))?));
            self.messages.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    fn original(&self) -> Result<&T> {
        let original = self.copies[self.home].as_ref().map(|(_, original)| original);
        original.ok_or_else(|| missing("replicas", "original"))
    }

    /// The description as `member` reads it: its own copy, or else a message to the home of the original.
    pub fn at(&self, member: usize) -> Result<&T> {
        match &self.copies[member] {
            Some((_, copy)) => Ok(copy),
            None => {
                self.messages.fetch_add(1, Ordering::Relaxed);
                self.original()
            }
        }
    }

    /// The version of what a member reads.
    ///
    /// # Panics
    /// If there is no such member.
    pub fn version_at(&self, member: usize) -> u64 {
        self.copies[member].as_ref().map_or(self.version, |(version, _)| *version)
    }

    /// Changes the description at `member`, which has it, and brings all other copies up to date: one message
    /// each. Nobody is changed where `change` refuses.
    pub fn update(&mut self, member: usize, change: impl FnOnce(&mut T) -> Result<()>) -> Result<()> {
        let Some((_, changed)) = &mut self.copies[member] else {
            return Err(missing("replicas", "privatize"));
        };
        change(changed)?;
        let data = changed.privatize_data();
        self.version += 1;
        for (other, copy) in self.copies.iter_mut().enumerate() {
            let Some((version, copy)) = copy else { continue };
            if other != member {
                copy.reprivatize(&data)?;
                self.messages.fetch_add(1, Ordering::Relaxed);
            }
            *version = self.version;
        }
        Ok(())
    }

    /// The number of messages so far.
    pub fn messages(&self) -> u64 {
        self.messages.load(Ordering::Relaxed)
    }
}
