//! `Selection`: what integers, slices, new dimensions and permutations of dimensions select of an array.

use partita::array::{IntoSpan, Span};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PyInt, PySlice, PyTuple};

/// Of one dimension the first element, what the next one adds, and how many there are. Of one element the
/// step is 1, of none the first is 0, too.
type Taken = (i64, i64, i64);

/// The selection of a key, without the array.
#[pyclass(frozen, eq, module = "partita._native")]
#[derive(Clone, PartialEq)]
pub struct Selection {
    /// Per dimension of the array.
    ranges: Vec<Taken>,
    /// Per dimension of the result the array's, or none for a new one.
    layout: Vec<Option<usize>>,
}

/// An entry of a key that needs no look at its elements.
enum Entry<'py> {
    At(i64),
    Slice(Bound<'py, PySlice>),
    New,
    Rest,
}

impl<'py> Entry<'py> {
    /// None for what may be an array.
    fn of(key: Bound<'py, PyAny>) -> PyResult<Option<Entry<'py>>> {
        if key.is_none() {
            return Ok(Some(Entry::New));
        }
        if key.is(PyEllipsis::get(key.py())) {
            return Ok(Some(Entry::Rest));
        }
        if key.is_exact_instance_of::<PyInt>() {
            return Ok(Some(Entry::At(key.extract().map_err(|_| {
                PyIndexError::new_err(format!("index {key} is out of bounds for every dimension"))
            })?)));
        }
        Ok(key.cast_into().ok().map(Entry::Slice))
    }
}

#[pymethods]
impl Selection {
    /// These elements of each dimension.
    #[new]
    fn new(ranges: Vec<Taken>) -> Selection {
        let layout = (0..ranges.len()).map(Some).collect();
        Selection { ranges, layout }
    }

    /// Everything of a shape.
    #[staticmethod]
    fn whole(shape: Vec<i64>) -> Selection {
        Selection::new(shape.into_iter().map(|extent| taken(0, 1, extent)).collect())
    }

    /// The selection of a key of integers, slices, '...' and None; None for other keys.
    #[staticmethod]
    pub fn of(key: Bound<'_, PyAny>, shape: Vec<i64>) -> PyResult<Option<Selection>> {
        let mut entries = Vec::with_capacity(shape.len() + 1);
        match key.cast_into::<PyTuple>() {
            Ok(keys) => {
                for key in keys.iter() {
                    let Some(entry) = Entry::of(key)? else { return Ok(None) };
                    entries.push(entry);
                }
            }
            Err(error) => {
                let Some(entry) = Entry::of(error.into_inner())? else { return Ok(None) };
                entries.push(entry);
            }
        }
        let rests = entries.iter().filter(|entry| matches!(entry, Entry::Rest)).count();
        if rests > 1 {
            return Err(PyIndexError::new_err("index: expected at most one '...', given several"));
        }
        if rests == 0 {
            entries.push(Entry::Rest);
        }
        let given = entries.iter().filter(|entry| matches!(entry, Entry::At(_) | Entry::Slice(_))).count();
        let Some(rest) = shape.len().checked_sub(given) else {
            let text =
                format!("too many indices: the array has {} dimensions, {given} were given", shape.len());
            return Err(PyIndexError::new_err(text));
        };
        let (mut ranges, mut layout) =
            (Vec::with_capacity(shape.len()), Vec::with_capacity(entries.len() + rest));
        for entry in entries {
            let d = ranges.len();
            match entry {
                Entry::New => layout.push(None),
                Entry::Rest => {
                    layout.extend((d..d + rest).map(Some));
                    ranges.extend(shape[d..d + rest].iter().map(|&extent| taken(0, 1, extent)));
                }
                Entry::Slice(slice) => {
                    let found = slice.indices(shape[d] as isize)?;
                    layout.push(Some(d));
                    ranges.push(taken(found.start as i64, found.step as i64, found.slicelength as i64));
                }
                Entry::At(at) => {
                    let extent = shape[d];
                    let place = if at < 0 { at + extent } else { at };
                    if !(0..extent).contains(&place) {
                        let text =
                            format!("index {at} is out of bounds for dimension {d} of extent {extent}");
                        return Err(PyIndexError::new_err(text));
                    }
                    ranges.push(taken(place, 1, 1));
                }
            }
        }
        Ok(Some(Selection { ranges, layout }))
    }

    /// The same elements with other dimensions of the result.
    fn laid_out(&self, layout: Vec<Option<usize>>) -> Selection {
        Selection { ranges: self.ranges.clone(), layout }
    }

    #[getter]
    fn start(&self) -> Vec<i64> {
        self.ranges.iter().map(|range| range.0).collect()
    }

    #[getter]
    fn steps(&self) -> Vec<i64> {
        self.ranges.iter().map(|range| range.1).collect()
    }

    #[getter]
    fn counts(&self) -> Vec<i64> {
        self.ranges.iter().map(|range| range.2).collect()
    }

    #[getter]
    fn layout(&self) -> Vec<Option<usize>> {
        self.layout.clone()
    }

    /// The extents of the result.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.extents())
    }

    /// True if the result has no dimensions.
    #[getter]
    pub fn is_element(&self) -> bool {
        self.layout.is_empty()
    }

    /// True if nothing is selected.
    #[getter]
    pub fn is_empty(&self) -> bool {
        self.ranges.iter().any(|range| range.2 == 0)
    }

    /// True if the result's dimensions are in the order of the array's.
    #[getter]
    pub fn is_ordered(&self) -> bool {
        self.layout.iter().flatten().is_sorted()
    }

    /// This selection of the result of another one, as one selection of the latter's array. None for
    /// nothing of a new dimension, which no selection says.
    pub fn within(&self, outer: &Selection) -> Option<Selection> {
        let mut ranges = outer.ranges.clone();
        for (entry, &(first, step, count)) in outer.layout.iter().zip(&self.ranges) {
            let range = &mut ranges[match entry {
                Some(d) => *d,
                None if count == 0 => return None,
                None => continue,
            }];
            let first = if count > 0 { range.0 + range.1 * first } else { range.0 };
            *range = (first, if count > 1 { range.1 * step } else { 1 }, count);
        }
        let layout = self.layout.iter().map(|entry| entry.and_then(|e| outer.layout[e])).collect();
        Some(Selection { ranges, layout })
    }
}

impl Selection {
    /// The extents of the result.
    pub fn extents(&self) -> Vec<i64> {
        self.layout.iter().map(|entry| entry.map_or(1, |d| self.ranges[d].2)).collect()
    }

    /// The same for the engine, in the order of the array's dimensions, whatever that of the result's.
    pub fn spans(&self) -> Vec<Span> {
        let mut spans = Vec::with_capacity(self.ranges.len() + self.layout.len());
        if self.layout.len() == self.ranges.len() && !self.layout.contains(&None) {
            spans.extend(self.ranges.iter().copied().map(span));
            return spans;
        }
        let (mut d, at) = (0, |range: &Taken| Span::At(range.0));
        for entry in &self.layout {
            let Some(entry) = *entry else {
                spans.push(Span::New);
                continue;
            };
            spans.extend(self.ranges[d..entry].iter().map(at));
            spans.push(span(self.ranges[entry]));
            d = entry + 1;
        }
        spans.extend(self.ranges[d..].iter().map(at));
        spans
    }
}

fn taken(first: i64, step: i64, count: i64) -> Taken {
    match count {
        0 => (0, 1, 0),
        1 => (first, 1, 1),
        _ => (first, step, count),
    }
}

fn span((first, step, count): Taken) -> Span {
    match count {
        // One element, or none, needs no step that reaches beyond the array.
        ..2 => (first..first + count).into_span(),
        // Below 0 an end would count from the other side.
        _ => {
            let stop = first + step * (count - 1) + step.signum();
            Span::Range { start: Some(first), stop: Some(stop).filter(|&stop| stop >= 0), step }
        }
    }
}
