//! The classes of parts, and the parts of an array; the methods of the classes are in `part`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use partita::array::{self, Cells};
use pyo3::prelude::*;

use super::arrays::typed::Typed;
use super::runtime::{detached, raised};
use crate::element::{Element, TypedPart};

/// Cells in one device's memory that other packages can read.
#[pyclass(frozen, subclass, module = "partita")]
pub struct Memory {
    /// The part that has them.
    pub typed: TypedPart,
    /// The cells of that part.
    pub cells: Cells,
    /// The state of a loan to be written.
    pub loan: LoanState,
}

/// Says of memory that is lent to be written whether it still is; nothing of other memory.
pub type LoanState = Option<Arc<AtomicBool>>;

impl Memory {
    /// True if consumers may write.
    pub fn is_writable(&self) -> bool {
        self.loan.as_ref().is_some_and(|open| open.load(Ordering::Acquire))
    }
}

/// The part of an array that one member of the team holds. Its memory is the cells it owns.
#[pyclass(frozen, extends = Memory, module = "partita")]
pub struct Part;

/// A part with its halo: its memory is all cells it stores.
#[pyclass(frozen, extends = Memory, module = "partita")]
pub struct Stored;

impl Part {
    fn of(py: Python<'_>, typed: TypedPart, loan: LoanState) -> PyResult<Py<Part>> {
        let memory = Memory { typed, cells: Cells::Owned, loan };
        Py::new(py, PyClassInitializer::from(memory).add_subclass(Part))
    }
}

impl Stored {
    /// All cells that a part stores.
    pub fn of(py: Python<'_>, typed: TypedPart, loan: LoanState) -> PyResult<Py<Stored>> {
        let memory = Memory { typed, cells: Cells::Stored, loan };
        Py::new(py, PyClassInitializer::from(memory).add_subclass(Stored))
    }
}

/// A part's number, and of each section of the box that it requested the first cell, the end, and memory of
/// what is not empty.
pub type RequestedFacts = (usize, Vec<(Vec<i64>, Vec<i64>, Option<Memory>)>);

/// The facts of a requested box of such elements.
pub fn requested(got: &array::Requested, element: Element) -> PyResult<RequestedFacts> {
    let mut facts = Vec::new();
    for (at, section) in got.sections().enumerate() {
        let (start, stop) = (section.region.start(), section.region.stop());
        // Pairs of real and imaginary part are cut, too: into nothing, all, and nothing.
        if matches!(element, Element::Complex(_)) && start[start.len() - 1] == stop[stop.len() - 1] {
            continue;
        }
        let part = got.memory(at).map_err(raised)?.map(Arc::new);
        let memory = |part| Memory { typed: TypedPart { part, element }, cells: Cells::Owned, loan: None };
        facts.push((element.outer(start).to_vec(), element.outer(stop).to_vec(), part.map(memory)));
    }
    Ok((got.part(), facts))
}

/// The parts of an array; of one without dimensions the only one, at the process that has it.
pub fn parts(py: Python<'_>, typed: &Typed) -> PyResult<Vec<Py<Part>>> {
    let parts = detached(py, || typed.array.parts())?;
    shown(py, parts, typed.element, &None)
}

/// The objects for parts of an array of such elements.
pub fn shown(
    py: Python<'_>,
    parts: Vec<array::Part>,
    element: Element,
    loan: &LoanState,
) -> PyResult<Vec<Py<Part>>> {
    let mut shown = Vec::with_capacity(parts.len());
    for part in parts {
        let region = part.region(Cells::Owned);
        let part = match element.outer(&region.extents()).rank() {
            // A pair, which other parts have not.
            0 if region.is_empty() => continue,
            0 => part.without_leading(0).map_err(raised)?,
            _ => part,
        };
        shown.push(Part::of(py, TypedPart { part: Arc::new(part), element }, loan.clone())?);
    }
    Ok(shown)
}
