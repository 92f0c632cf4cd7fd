//! [`Replicas`]: a description copied to every member of a team, so that reads are local. It counts the
//! messages that copying takes; it sends none.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::domain_map::{DomainMap, MappedDomain};
use crate::index::distributions::Distribution;
use crate::index::domain::Domain;
use crate::index::error::Result;
use crate::index::maps::missing;

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
