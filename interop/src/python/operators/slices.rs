//! Slices as in NumPy: views, elements, and assignment, of keys that are integers, slices, '...' and None.
//! What else a key, an array or a value may be, Python's part of the package decides.

use pyo3::prelude::*;
use pyo3::types::PyInt;

use crate::foreign::array_object::{ArrayObject, Known, Link, forget, native, unwatched};
use crate::python::arrays::convert::is_number;
use crate::python::arrays::selection::Selection;
use crate::python::operators::elements;

/// An array that a key selects from, and what it selects.
struct Keyed<'py> {
    array: Bound<'py, PyAny>,
    selection: Selection,
    /// The same as one selection of the array that `array` is a view of, if it is one by a selection.
    within: Option<(Bound<'py, PyAny>, Selection)>,
}

/// None for other keys, and arrays without dimensions.
fn keyed<'py>(x: &Bound<'py, PyAny>, key: &Bound<'py, PyAny>) -> PyResult<Option<Keyed<'py>>> {
    let py = x.py();
    let Some(array) = ArrayObject::of(x)? else { return Ok(None) };
    let link = array.link();
    let outer = link.as_ref().and_then(|link| link.get().selection(py));
    let shape = match outer {
        Some(selection) => selection.get().extents(),
        None => match native(Known::get(py)?, x)? {
            Some(native) => native.get().extents(py)?,
            None => return Ok(None),
        },
    };
    if shape.is_empty() {
        return Ok(None);
    }
    let Some(selection) = Selection::of(key.clone(), shape)? else { return Ok(None) };
    let within = match (&link, outer) {
        (Some(link), Some(outer)) => {
            let composed = selection.within(outer.get());
            composed.map(|composed| (link.get().source.bind(py).clone(), composed))
        }
        _ => None,
    };
    Ok(Some(Keyed { array: x.clone(), selection, within }))
}

/// `x[key]`: a view, or of integers alone the element as it is now. None where Python decides.
pub fn selected<'py>(x: &Bound<'py, PyAny>, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(Keyed { array, selection, within }) = keyed(x, key)? else { return chosen(x, key) };
    let known = Known::get(x.py())?;
    if selection.is_element() {
        // An index with '...' gives a view of it.
        let is_plain = key.is_exact_instance_of::<PyInt>()
            || key.try_iter()?.all(|key| key.is_ok_and(|key| key.is_exact_instance_of::<PyInt>()));
        let Some(native) = native(known, &array)?.filter(|_| is_plain) else { return Ok(None) };
        return known.plain(Bound::new(x.py(), native.get().view(x.py(), &selection)?)?).map(Some);
    }
    let (source, selection) = within.unwrap_or((array, selection));
    let link = Link::new(&source, Bound::new(x.py(), selection)?.as_any())?;
    known.view(x, Bound::new(x.py(), link)?).map(Some)
}

/// `x[key]` of an array as key.
fn chosen<'py>(x: &Bound<'py, PyAny>, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(known) = unwatched(x.py()) else { return Ok(None) };
    let (Some(own), Some(key)) = (native(known, x)?, native(known, key)?) else { return Ok(None) };
    let chosen = elements::chosen(x.py(), own.get(), key.get())?;
    chosen.map(|chosen| known.result(x, chosen)).transpose()
}

/// `x[...] = value`; see [`assigned`].
#[pyfunction]
pub fn assigned_whole<'py>(x: &Bound<'py, PyAny>, value: &Bound<'py, PyAny>) -> PyResult<bool> {
    assigned(x, &x.py().Ellipsis().into_bound(x.py()), value)
}

/// `x[key] = value`, of a number of Python's or an array of the type and shape that is assigned to. False
/// where Python decides.
pub fn assigned<'py>(
    x: &Bound<'py, PyAny>,
    key: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
) -> PyResult<bool> {
    let py = x.py();
    let Some(known) = unwatched(py) else { return Ok(false) };
    if ArrayObject::of(x)?.is_none_or(|array| array.is_readonly()) {
        return Ok(false);
    }
    let Some(Keyed { array, selection, within }) = keyed(x, key)? else {
        return assigned_at(known, x, key, value);
    };
    if selection.is_empty() {
        return Ok(false);
    }
    let shape = selection.extents();
    let (root, selection) = within.unwrap_or((array, selection));
    if ArrayObject::of(&root)?.is_none_or(|root| root.link().is_some()) {
        return Ok(false);
    }
    let Some(target) = native(known, &root)? else { return Ok(false) };
    if is_number(value) && selection.is_ordered() {
        forget(&root)?;
        target.get().assign_number(py, &selection, value)?;
        return Ok(true);
    }
    let Some(given) = ArrayObject::of(value)?.filter(|_| selection.is_ordered()) else { return Ok(false) };
    if let Some(link) = given.link()
        && link.get().source.is(&root)
        && link.get().selection(py).is_some_and(|op| *op.get() == selection)
    {
        // The end of `x[key] += value`, which has written there.
        return Ok(true);
    }
    let Some(new) = native(known, value)? else { return Ok(false) };
    if !target.get().takes(py, new.get(), &shape)? {
        return Ok(false);
    }
    forget(&root)?;
    target.get().assign_view(py, &selection, new.get(), None)?;
    Ok(true)
}

/// `x[key] = value` of an array as key, where `x` is no view.
fn assigned_at<'py>(
    known: &Known,
    x: &Bound<'py, PyAny>,
    key: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
) -> PyResult<bool> {
    let is_root = ArrayObject::of(x)?.is_some_and(|array| array.link().is_none());
    let (Some(own), Some(key)) = (native(known, x)?.filter(|_| is_root), native(known, key)?) else {
        return Ok(false);
    };
    let value = native(known, value)?.map_or_else(|| value.clone(), Bound::into_any);
    forget(x)?;
    elements::assign(x.py(), own.get(), key.get(), &value)
}
