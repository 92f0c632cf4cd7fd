//! Dependence analysis of a loop step: which values an evaluation reads, and how far each compute region
//! must grow so that several steps share one exchange. Inactive outside such steps.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use crate::array::lower::operands::compute_region::ArrayWindow;
use crate::array::memory::halo::HaloWidths;
use crate::array::record::map::Map;
use crate::array::record::node::Node;
use crate::index::Distribution;

/// How one evaluation of the step computes.
#[derive(Clone, Debug)]
pub(crate) struct Extension {
    /// So many cells more than the parts own.
    pub grow: HaloWidths,
    /// Halos that the result's memory needs sooner or later.
    pub room: HaloWidths,
    /// An assignment writes fresh memory, however small its window.
    pub in_fresh_memory: bool,
}

/// A halo to be made current by the step's first exchange.
pub(crate) struct HaloRequest {
    pub node: Arc<Node>,
    pub halo: HaloWidths,
}

/// A value that an evaluation read.
pub(crate) struct OperandRead {
    pub number: u64,
    pub dist: Arc<Distribution>,
    pub node: Weak<Node>,
    pub maps: Vec<Map>,
}

/// How some values followed from others. Values are named by their memory's number.
pub(crate) enum StepEvent {
    /// One kernel per part.
    Computed(Box<KernelEvent>),
    /// The same elements in other memory.
    Copied { from: u64, to: u64 },
    /// A window's new elements were put into memory that stays.
    Overwritten { value: u64, whole: u64 },
}

/// A kernel and what it read and gave.
pub(crate) struct KernelEvent {
    /// That of the results.
    pub frame: ArrayWindow,
    /// That of the kernel: the window's own.
    pub dist: Arc<Distribution>,
    /// Dimensions along which the kernel asks for coordinates.
    pub placed: Vec<bool>,
    pub reads: Vec<OperandRead>,
    /// Each result's number and layout.
    pub results: Vec<(u64, Arc<Distribution>)>,
    /// Whether the results are no larger than the window.
    pub aside: bool,
    /// Whether growing means the same for all results.
    pub alike: bool,
    /// Old values, whose cells outside of the window the results keep.
    pub kept: Vec<(u64, Arc<Distribution>)>,
}

/// What is exchanged between a loop and the evaluations of one of its steps.
#[derive(Default)]
pub(crate) struct StepAnalysis {
    /// Whether the step shares its exchange with others, or may come to.
    pub shared: bool,
    /// What happened, if that is asked for.
    pub log: Option<Vec<StepEvent>>,
    /// Why the step cannot be one of several between exchanges.
    pub unsupported: Option<String>,
    pub extensions: VecDeque<Extension>,
    pub due: Vec<HaloRequest>,
}

thread_local! {
    static ANALYSIS: RefCell<Option<StepAnalysis>> = const { RefCell::new(None) };
}

/// Runs a step with these extensions; what is left of them comes back.
pub(crate) fn within<T>(deep: StepAnalysis, step: impl FnOnce() -> T) -> (T, StepAnalysis) {
    /// Takes the extensions back, also when the step panics.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            ANALYSIS.set(None);
        }
    }
    let _end = End;
    ANALYSIS.set(Some(deep));
    let outcome = step();
    (outcome, ANALYSIS.take().unwrap_or_default())
}

/// How the next evaluation shall compute.
pub(crate) fn next_extension() -> Option<Extension> {
    ANALYSIS.with_borrow_mut(|deep| deep.as_mut()?.extensions.pop_front())
}

/// Whether the next evaluation, of an assignment, shall write fresh memory.
pub(crate) fn next_in_fresh_memory() -> bool {
    ANALYSIS.with_borrow(|deep| {
        deep.as_ref()
            .and_then(|deep| deep.extensions.front())
            .is_some_and(|extension| extension.in_fresh_memory)
    })
}

/// The halos that are due.
pub(crate) fn take_halo_requests() -> Vec<HaloRequest> {
    ANALYSIS.with_borrow_mut(|deep| deep.as_mut().map_or(Vec::new(), |deep| std::mem::take(&mut deep.due)))
}

/// Whether a step is under way that shares its exchange with others, or may come to.
pub(crate) fn shares_exchange() -> bool {
    ANALYSIS.with_borrow(|deep| deep.as_ref().is_some_and(|deep| deep.shared))
}

/// Whether what happens is asked for.
pub(crate) fn is_logging() -> bool {
    ANALYSIS.with_borrow(|deep| deep.as_ref().is_some_and(|deep| deep.log.is_some()))
}

/// Tells what happened.
pub(crate) fn log(event: impl FnOnce() -> StepEvent) {
    ANALYSIS.with_borrow_mut(|deep| {
        if let Some(log) = deep.as_mut().and_then(|deep| deep.log.as_mut()) {
            log.push(event());
        }
    });
}

/// Tells that the step does what cannot be repeated beyond what parts own.
pub(crate) fn mark_unsupported(reason: impl FnOnce() -> String) {
    ANALYSIS.with_borrow_mut(|deep| {
        if let Some(deep) = deep.as_mut().filter(|deep| deep.unsupported.is_none()) {
            deep.unsupported = Some(reason());
        }
    });
}
