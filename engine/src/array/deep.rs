//! What evaluations inside a `Loop`'s step tell the loop, and what it tells them: which values follow from
//! which, and how many cells beyond those they own the parts shall compute. Outside of such steps nothing is
//! told and nothing grows. Knows no plans for depths: those are made in `replay::depth`.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use super::map::Map;
use super::node::Node;
use super::storage::Fresh;
use super::zone::Frame;
use crate::index::Distribution;

/// How one evaluation of the step computes.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    /// So many cells more than the parts own.
    pub grow: Fresh,
    /// Halos that the result's memory needs sooner or later.
    pub room: Fresh,
    /// An assignment writes fresh memory, however small its window.
    pub afresh: bool,
}

/// A halo to be made current by the step's first exchange.
pub(crate) struct Due {
    pub node: Arc<Node>,
    pub halo: Fresh,
}

/// A value that an evaluation read.
pub(crate) struct Read {
    pub number: u64,
    pub dist: Arc<Distribution>,
    pub node: Weak<Node>,
    pub maps: Vec<Map>,
}

/// How some values followed from others. Values are named by their memory's number.
pub(crate) enum Event {
    /// One kernel per part.
    Computed(Box<Computed>),
    /// The same elements in other memory.
    Copied { from: u64, to: u64 },
    /// A window's new elements were put into memory that stays.
    Overwritten { value: u64, whole: u64 },
}

/// A kernel and what it read and gave.
pub(crate) struct Computed {
    /// That of the results.
    pub frame: Frame,
    /// That of the kernel: the window's own.
    pub dist: Arc<Distribution>,
    /// Dimensions along which the kernel asks for coordinates.
    pub placed: Vec<bool>,
    pub reads: Vec<Read>,
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
pub(crate) struct Deep {
    /// Whether the step shares its exchange with others, or may come to.
    pub shared: bool,
    /// What happened, if that is asked for.
    pub log: Option<Vec<Event>>,
    /// Why the step cannot be one of several between exchanges.
    pub refusal: Option<String>,
    pub wishes: VecDeque<Wish>,
    pub due: Vec<Due>,
}

thread_local! {
    static DEEP: RefCell<Option<Deep>> = const { RefCell::new(None) };
}

/// Runs a step with these wishes; what is left of them comes back.
pub(crate) fn within<T>(deep: Deep, step: impl FnOnce() -> T) -> (T, Deep) {
    /// Takes the wishes back, also when the step panics.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            DEEP.set(None);
        }
    }
    let _end = End;
    DEEP.set(Some(deep));
    let outcome = step();
    (outcome, DEEP.take().unwrap_or_default())
}

/// How the next evaluation shall compute.
pub(crate) fn next_wish() -> Option<Wish> {
    DEEP.with_borrow_mut(|deep| deep.as_mut()?.wishes.pop_front())
}

/// Whether the next evaluation, of an assignment, shall write fresh memory.
pub(crate) fn next_is_afresh() -> bool {
    DEEP.with_borrow(|deep| {
        deep.as_ref().and_then(|deep| deep.wishes.front()).is_some_and(|wish| wish.afresh)
    })
}

/// The halos that are due.
pub(crate) fn take_due() -> Vec<Due> {
    DEEP.with_borrow_mut(|deep| deep.as_mut().map_or(Vec::new(), |deep| std::mem::take(&mut deep.due)))
}

/// Whether a step is under way that shares its exchange with others, or may come to.
pub(crate) fn is_shared() -> bool {
    DEEP.with_borrow(|deep| deep.as_ref().is_some_and(|deep| deep.shared))
}

/// Whether what happens is asked for.
pub(crate) fn is_logging() -> bool {
    DEEP.with_borrow(|deep| deep.as_ref().is_some_and(|deep| deep.log.is_some()))
}

/// Tells what happened.
pub(crate) fn tell(event: impl FnOnce() -> Event) {
    DEEP.with_borrow_mut(|deep| {
        if let Some(log) = deep.as_mut().and_then(|deep| deep.log.as_mut()) {
            log.push(event());
        }
    });
}

/// Tells that the step does what cannot be repeated beyond what parts own.
pub(crate) fn refuse(reason: impl FnOnce() -> String) {
    DEEP.with_borrow_mut(|deep| {
        if let Some(deep) = deep.as_mut().filter(|deep| deep.refusal.is_none()) {
            deep.refusal = Some(reason());
        }
    });
}
