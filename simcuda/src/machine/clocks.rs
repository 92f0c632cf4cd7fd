//! [`Clocks`]: what the threads of a launch, whose blocks run at the same time, know of each other. A store
//! that releases carries what its thread knows; a load that acquires learns it; a barrier lets all threads of
//! a block know what one of them does. Whatever a thread knows comes before what it does next. (PTX ISA,
//! "Memory consistency model": release and acquire patterns, causality order.)

use std::collections::{HashMap, HashSet};

/// The moment and the thread of an access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    /// The first phase of this launch.
    pub launch: u64,
    /// The first phase of this block.
    pub block: u64,
    /// The phase now.
    pub phase: u64,
    /// The thread within the block.
    pub thread: u32,
}

/// What came before: of each block all phases below one, and single threads of single phases.
#[derive(Clone, Default)]
struct Known {
    below: HashMap<u32, u64>,
    threads: HashSet<(u64, u32)>,
}

impl Known {
    fn join(&mut self, other: &Known) {
        for (&block, &phase) in &other.below {
            let below = self.below.entry(block).or_default();
            *below = phase.max(*below);
        }
        self.threads.extend(&other.threads);
    }

    fn has(&self, block: u32, phase: u64, thread: Option<u32>) -> bool {
        self.below.get(&block).is_some_and(|below| phase < *below)
            || thread.is_some_and(|thread| self.threads.contains(&(phase, thread)))
    }
}

/// What one thread learned since the last barrier of its block.
#[derive(Default)]
struct Learned {
    acquired: Known,
    /// By loads that do not acquire: known after a fence.
    heard: Known,
    /// What it knew at its last fence: released by later stores, whatever these say.
    fenced: Option<Known>,
}

/// Whether a store takes the place of what others published there before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Publish {
    /// A store.
    Anew,
    /// An atomic operation, which goes on with a release before it.
    Too,
}

pub(crate) struct Clocks {
    /// The first phase of the launch, and of each since then its block.
    first: u64,
    owners: Vec<u32>,
    /// What a block knew at its last barrier.
    blocks: HashMap<u32, Known>,
    learned: HashMap<(u32, u32), Learned>,
    /// What was stored with an address.
    published: HashMap<u64, Known>,
    /// The number of strong stores.
    pub(crate) changes: u64,
}

impl Clocks {
    /// For a launch whose first phase is this.
    pub(crate) fn new(first: u64) -> Clocks {
        Clocks {
            first,
            owners: Vec::new(),
            blocks: HashMap::new(),
            learned: HashMap::new(),
            published: HashMap::new(),
            changes: 0,
        }
    }

    /// The next phase, which is a block's: all of its threads have met.
    pub(crate) fn begin(&mut self, block: u32) -> u64 {
        self.owners.push(block);
        let known = self.blocks.entry(block).or_default();
        self.learned.retain(|(of, _), learned| {
            if *of == block {
                known.join(&learned.acquired);
            }
            *of != block
        });
        self.first + self.owners.len() as u64 - 1
    }

    /// The last phase so far.
    pub(crate) fn last(&self) -> u64 {
        self.first + (self.owners.len() as u64).saturating_sub(1)
    }

    fn owner(&self, phase: u64) -> Option<u32> {
        self.owners.get(usize::try_from(phase.checked_sub(self.first)?).ok()?).copied()
    }

    /// Whether an access in an earlier or later phase, of one thread or of several, comes before.
    pub(crate) fn is_before(&self, phase: u64, thread: Option<u32>, now: &Now) -> bool {
        let (Some(block), Some(own)) = (self.owner(phase), self.owner(now.phase)) else { return false };
        if block == own {
            return phase < now.phase || phase == now.phase && thread == Some(now.thread);
        }
        let acquired = self.learned.get(&(own, now.thread)).map(|learned| &learned.acquired);
        [self.blocks.get(&own), acquired].iter().flatten().any(|known| known.has(block, phase, thread))
    }

    /// All that a thread knows, and what it did itself.
    fn known(&self, now: &Now) -> Known {
        let Some(block) = self.owner(now.phase) else { return Known::default() };
        let mut known = self.blocks.get(&block).cloned().unwrap_or_default();
        if let Some(learned) = self.learned.get(&(block, now.thread)) {
            known.join(&learned.acquired);
        }
        known.below.insert(block, now.phase);
        known.threads.insert((now.phase, now.thread));
        known
    }

    fn learned(&mut self, now: &Now) -> &mut Learned {
        let block = self.owner(now.phase).unwrap_or(u32::MAX);
        self.learned.entry((block, now.thread)).or_default()
    }

    /// A strong load.
    pub(crate) fn strong_load(&mut self, address: u64, acquires: bool, now: &Now) {
        let Some(known) = self.published.get(&address).cloned() else { return };
        let learned = self.learned(now);
        let to = if acquires { &mut learned.acquired } else { &mut learned.heard };
        to.join(&known);
    }

    /// A strong store.
    pub(crate) fn strong_store(&mut self, address: u64, releases: bool, how: Publish, now: &Now) {
        self.changes += 1;
        let fenced = self.learned(now).fenced.clone().unwrap_or_default();
        let known = if releases { self.known(now) } else { fenced };
        let published = self.published.entry(address).or_default();
        if how == Publish::Anew {
            *published = Known::default();
        }
        published.join(&known);
    }

    /// A fence of acquire and release.
    pub(crate) fn fence(&mut self, now: &Now) {
        let learned = self.learned(now);
        let heard = std::mem::take(&mut learned.heard);
        learned.acquired.join(&heard);
        let known = self.known(now);
        self.learned(now).fenced = Some(known);
    }
}
