//! Conversion of Python's views to the engine's spans.

use partita::array::{IntoSpan, Span};
use pyo3::prelude::*;

/// What a view takes of a dimension of the array.
#[derive(FromPyObject)]
pub enum Key {
    /// One element, which drops the dimension.
    At(i64),
    /// First element, what the next one adds, how many.
    Range(i64, i64, i64),
}

/// A span; a dimension that is new takes nothing.
pub fn span(key: Option<Key>) -> Span {
    match key {
        None => Span::New,
        Some(Key::At(at)) => Span::At(at),
        // One element, or none, needs no step that reaches beyond the array.
        Some(Key::Range(start, _, count)) if count < 2 => (start..start + count).into_span(),
        // Below 0 an end would count from the other side.
        Some(Key::Range(start, step, count)) => {
            let stop = start + step * (count - 1) + step.signum();
            Span::Range { start: Some(start), stop: Some(stop).filter(|&stop| stop >= 0), step }
        }
    }
}

/// The box between two corners.
pub fn spans(start: &[i64], stop: &[i64]) -> Vec<Span> {
    start.iter().zip(stop).map(|(&start, &stop)| (start..stop).into_span()).collect()
}
