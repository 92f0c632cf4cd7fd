//! The cache of evaluations: the steps of graphs that were lowered, and, where these can be kept, their
//! commands, so that computing an equal graph again, of other memory, is one walk over the nodes, fresh
//! memory and the commands.

pub(crate) mod commands;

use std::any::Any;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::array::lower::graph::Graph;
use crate::array::lower::steps::list::Lowered;
use crate::array::run::cache::commands::CachedCommands;
use crate::device::Program;
use crate::team::Team;

/// Larger graphs are lowered every time: next to what they compute that is little.
const MAX_NODES: usize = 512;

/// The most nodes and commands that a team keeps, of about 4 KiB each. When there are more, all are
/// forgotten, and each graph is lowered once more when it comes again. A program that assigns to element
/// after element has a graph for each. (Tests of keys need the many graphs of their random programs.)
const MAX_KEPT: usize = if cfg!(test) { 1 << 15 } else { 1 << 11 };

/// The kept evaluation of equal graphs.
pub(crate) struct CachedEvaluation {
    hash: u64,
    graph: Graph,
    pub way: CachedWay,
}

/// The shorter way where there is one.
pub(crate) enum CachedWay {
    Commands(CachedCommands),
    Steps(Arc<Lowered>),
}

impl CachedEvaluation {
    pub fn new(graph: Graph, way: CachedWay) -> CachedEvaluation {
        #[cfg(test)]
        let graph = tests::left_out(graph);
        CachedEvaluation { hash: hash_of(&graph), graph, way }
    }

    fn weight(&self) -> usize {
        let commands = if let CachedWay::Commands(commands) = &self.way { commands.len() } else { 0 };
        self.graph.nodes.len() + commands
    }

    fn is_forgotten(&self) -> bool {
        matches!(&self.way, CachedWay::Commands(commands) if commands.has_forgotten_programs())
    }
}

fn hash_of(graph: &Graph) -> u64 {
    FxBuildHasher.hash_one(graph)
}

/// The kept evaluation of an equal graph, if there is one.
pub(crate) fn find(team: &Team, graph: &Graph) -> Option<Arc<CachedEvaluation>> {
    #[cfg(test)]
    let graph = &tests::left_out(graph.clone());
    cache_of(team).find(hash_of(graph), graph)
}

/// Keeps an evaluation for the next time.
pub(crate) fn keep(team: &Team, cached: CachedEvaluation) {
    if cached.graph.nodes.len() <= MAX_NODES {
        let mut cache = cache_of(team);
        if !cached.graph.has_positions() || cache.saw(cached.hash) {
            cache.insert(cached);
        }
    }
}

/// The evaluations that a team keeps, by hash: of two graphs with one hash, the later.
#[derive(Default)]
struct EvaluationCache {
    evaluations: FxHashMap<u64, Arc<CachedEvaluation>>,
    weight: usize,
    /// Graphs with lists of positions that came once. Random lists never come again.
    seen: FxHashSet<u64>,
    /// The programs that devices had forgotten when the cache last looked.
    forgotten: u64,
    #[cfg(test)]
    found: usize,
}

impl EvaluationCache {
    fn find(&mut self, hash: u64, graph: &Graph) -> Option<Arc<CachedEvaluation>> {
        let cached = self.evaluations.get(&hash).filter(|cached| cached.graph == *graph)?;
        #[cfg(test)]
        (self.found += 1);
        Some(Arc::clone(cached))
    }

    /// Whether a graph came before; it has come now.
    fn saw(&mut self, hash: u64) -> bool {
        if self.seen.len() >= MAX_NODES {
            self.seen.clear();
        }
        !self.seen.insert(hash)
    }

    fn insert(&mut self, cached: CachedEvaluation) {
        // The memory of a program that a device forgets is free only once no evaluation holds it.
        let forgotten = Program::forgotten();
        if self.forgotten != forgotten {
            self.forgotten = forgotten;
            self.evaluations.retain(|_, evaluation| !evaluation.is_forgotten());
            self.weight = self.evaluations.values().map(|evaluation| evaluation.weight()).sum();
        }
        if self.weight + cached.weight() > MAX_KEPT {
            (self.evaluations, self.weight) = Default::default();
        }
        self.weight += cached.weight();
        let before = self.evaluations.insert(cached.hash, Arc::new(cached));
        self.weight -= before.map_or(0, |before| before.weight());
    }
}

fn cache_of(team: &Team) -> MutexGuard<'_, EvaluationCache> {
    let any: &(dyn Any + Send + Sync) = team.notes(|| Box::new(Mutex::<EvaluationCache>::default()));
    let Some(cache) = any.downcast_ref::<Mutex<EvaluationCache>>() else {
        unreachable!("nobody else keeps notes")
    };
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
