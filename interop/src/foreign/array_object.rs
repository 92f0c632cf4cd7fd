//! Arrays as Python has them: their fields, the views among them, and what Python's part of the package says
//! of them.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyType, PyWeakrefMethods, PyWeakrefReference};

use crate::python::arrays::array::Array;
use crate::python::arrays::selection::Selection;

/// An array as Python has it.
#[repr(C)]
pub(super) struct Fields {
    head: ffi::PyObject,
    /// By [`Field`]. All but the first read as None where they are null.
    pub(super) references: [*mut ffi::PyObject; 4],
    pub(super) is_readonly: bool,
    pub(super) is_viewed: bool,
}

/// The objects that an array refers to.
#[derive(Clone, Copy)]
pub enum Field {
    /// The engine's array; of views null until they are read.
    Native,
    /// Of views, where they have their elements.
    Link,
    /// Weak references to views that were read.
    Readers,
    /// The number of a scalar, once it was read.
    Value,
}

/// An object of the class.
pub struct ArrayObject<'a, 'py>(&'a Bound<'py, PyAny>);

impl<'a, 'py> ArrayObject<'a, 'py> {
    /// None for objects of other classes.
    pub fn of(object: &'a Bound<'py, PyAny>) -> PyResult<Option<ArrayObject<'a, 'py>>> {
        let Some(known) = KNOWN.get(object.py()) else { return Ok(None) };
        // Users may have classes of their own.
        let is_array = known.is_class_of(object)
            || known.is_view(object)
            || object.is_instance(known.array.bind(object.py()))?;
        Ok(is_array.then_some(ArrayObject(object)))
    }

    /// An object that can only be of the class.
    pub fn required(object: &'a Bound<'py, PyAny>) -> PyResult<ArrayObject<'a, 'py>> {
        ArrayObject::of(object)?.ok_or_else(|| ArrayObject::unknown(object))
    }

    /// The error that an object is no array, or no view.
    pub fn unknown(object: &Bound<'py, PyAny>) -> PyErr {
        PyTypeError::new_err(format!("expected an array of partita's, given {}", object.get_type()))
    }

    /// Valid while the object is, and changed only under the interpreter's lock.
    fn fields(&self) -> *mut Fields {
        self.0.as_ptr().cast()
    }

    /// None where there is none, or Python's None.
    pub fn get(&self, field: Field) -> Option<Bound<'py, PyAny>> {
        // SAFETY: an object of the class has `Fields`; a field is null or has a reference, of which this is a
        // second one.
        let found = unsafe {
            Bound::from_borrowed_ptr_or_opt(self.0.py(), (*self.fields()).references[field as usize])
        };
        found.filter(|found| !found.is_none())
    }

    /// Changes a field.
    pub fn set(&self, field: Field, value: Option<Bound<'py, PyAny>>) {
        let new = value.map_or(null_mut(), Bound::into_ptr);
        // SAFETY: as in `get`. The old reference is dropped when the field has the new one, because what
        // drops it may look at the object.
        unsafe {
            let old = std::mem::replace(&mut (*self.fields()).references[field as usize], new);
            ffi::Py_XDECREF(old);
        }
    }

    /// Empties a field.
    pub fn take(&self, field: Field) -> Option<Bound<'py, PyAny>> {
        let found = self.get(field);
        self.set(field, None);
        found
    }

    /// The link to its elements, if it is a view.
    pub fn link(&self) -> Option<Bound<'py, Link>> {
        self.get(Field::Link)?.cast_into_exact().ok()
    }

    /// True if its elements cannot be assigned to.
    pub fn is_readonly(&self) -> bool {
        // SAFETY: an object of the class has `Fields`.
        unsafe { (*self.fields()).is_readonly }
    }

    /// There is a view of it now.
    pub fn mark_viewed(&self) {
        // SAFETY: an object of the class has `Fields`.
        unsafe { (*self.fields()).is_viewed = true }
    }
}

/// The classes of arrays of Python's part of the package, and its functions that decide by rules of
/// NumPy's.
pub struct Known {
    array: Py<PyType>,
    view: Py<PyType>,
    scalar: Py<PyType>,
    pub(super) unary: Py<PyAny>,
    pub(super) binary: Py<PyAny>,
    pub(super) select: Py<PyAny>,
    pub(super) assign: Py<PyAny>,
    /// The engine's array of a view, by its source and what it says of it.
    read: Py<PyAny>,
}

pub(super) static KNOWN: PyOnceLock<Known> = PyOnceLock::new();
static WATCHED: AtomicBool = AtomicBool::new(false);

/// The classes of results, of views, and of scalars; functions of the rules, in the order of `Known`.
#[pyfunction]
pub fn set_rules(py: Python<'_>, classes: [Py<PyType>; 3], functions: [Py<PyAny>; 5]) {
    let ([array, view, scalar], [unary, binary, select, assign, read]) = (classes, functions);
    let _ = KNOWN.set(py, Known { array, view, scalar, unary, binary, select, assign, read });
}

/// True if floating-point conditions may have to raise, which the rules see to.
#[pyfunction]
pub fn set_watched(watched: bool) {
    WATCHED.store(watched, Ordering::Relaxed);
}

/// The rules that Python set, unless conditions may have to raise.
pub fn unwatched(py: Python<'_>) -> Option<&Known> {
    KNOWN.get(py).filter(|_| !WATCHED.load(Ordering::Relaxed))
}

impl Known {
    /// The rules that Python set, once its part of the package is there.
    pub fn get(py: Python<'_>) -> PyResult<&Known> {
        KNOWN.get(py).ok_or_else(|| PyTypeError::new_err("partita: expected its classes, given none yet"))
    }

    /// An array of a class, with no more than this.
    fn empty<'py>(&self, class: &Py<PyType>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: attached; objects of the class have `Fields`, of which zeros are empty ones.
        unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_GenericAlloc(class.as_ptr().cast(), 0)) }
    }

    fn made<'py>(&self, class: &Py<PyType>, native: Bound<'py, Array>) -> PyResult<Bound<'py, PyAny>> {
        let object = self.empty(class, native.py())?;
        ArrayObject(&object).set(Field::Native, Some(native.into_any()));
        Ok(object)
    }

    /// An array of the class that operations with `like` give.
    pub fn result<'py>(&self, like: &Bound<'py, PyAny>, made: Array) -> PyResult<Bound<'py, PyAny>> {
        let native = Bound::new(like.py(), made)?;
        let is_plain = self.is_class_of(like) || self.is_view(like) || self.is_scalar(like);
        match is_plain || !native.get().has_dimensions(like.py())? {
            true => self.plain(native),
            false => like.get_type().call1((native,)),
        }
    }

    /// A plain array; without dimensions a scalar, as in NumPy, which never changes.
    pub fn plain<'py>(&self, native: Bound<'py, Array>) -> PyResult<Bound<'py, PyAny>> {
        if native.get().has_dimensions(native.py())? {
            return self.made(&self.array, native);
        }
        let object = self.made(&self.scalar, native)?;
        // SAFETY: an object of the class has `Fields`.
        unsafe { (*ArrayObject(&object).fields()).is_readonly = true };
        Ok(object)
    }

    /// A view, which can be written if `of` can.
    pub fn view<'py>(&self, of: &Bound<'py, PyAny>, link: Bound<'py, Link>) -> PyResult<Bound<'py, PyAny>> {
        let object = self.empty(&self.view, of.py())?;
        ArrayObject(&object).set(Field::Link, Some(link.into_any()));
        // SAFETY: an object of the class has `Fields`.
        unsafe { (*ArrayObject(&object).fields()).is_readonly = ArrayObject::required(of)?.is_readonly() };
        Ok(object)
    }

    fn is_class_of(&self, object: &Bound<'_, PyAny>) -> bool {
        object.get_type_ptr() == self.array.as_ptr().cast()
    }

    fn is_scalar(&self, object: &Bound<'_, PyAny>) -> bool {
        object.get_type_ptr() == self.scalar.as_ptr().cast()
    }

    fn is_view(&self, object: &Bound<'_, PyAny>) -> bool {
        object.get_type_ptr() == self.view.as_ptr().cast()
    }
}

/// What Python has of a result of an operation: see [`Known::plain`].
#[pyfunction]
pub fn made(native: Bound<'_, Array>) -> PyResult<Bound<'_, PyAny>> {
    Known::get(native.py())?.plain(native)
}

/// The value of an array. A view is read, which computes nothing.
pub fn native<'py>(known: &Known, object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, Array>>> {
    let Some(array) = ArrayObject::of(object)? else { return Ok(None) };
    match array.get(Field::Native) {
        None if known.is_view(object) => read_view(object).map(Some),
        None => Ok(None),
        Some(native) => Ok(native.cast_into_exact().ok()),
    }
}

/// The link of a view to its elements: `op` says which of `source`. `root` is the array that holds them.
#[pyclass(frozen, module = "partita._native")]
pub struct Link {
    /// The array that it is a view of.
    #[pyo3(get)]
    pub source: Py<PyAny>,
    #[pyo3(get)]
    op: Py<PyAny>,
    #[pyo3(get)]
    root: Py<PyAny>,
}

#[pymethods]
impl Link {
    /// Of what `op` says of `source`, which has a view from now on.
    #[new]
    pub fn new(source: &Bound<'_, PyAny>, op: &Bound<'_, PyAny>) -> PyResult<Link> {
        let array = ArrayObject::required(source)?;
        array.mark_viewed();
        let root = array
            .link()
            .map_or_else(|| source.clone().unbind(), |link| link.get().root.clone_ref(source.py()));
        Ok(Link { source: source.clone().unbind(), op: op.clone().unbind(), root })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        [&self.source, &self.op, &self.root].into_iter().try_for_each(|object| visit.call(object))
    }
}

impl Link {
    /// The selection, if it is a slice.
    pub fn selection<'a, 'py>(&'a self, py: Python<'py>) -> Option<&'a Bound<'py, Selection>> {
        self.op.bind(py).cast_exact::<Selection>().ok()
    }
}

/// The elements of a view as they are now, which it keeps until its root is written.
#[pyfunction]
pub fn read_view<'py>(view: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Array>> {
    let (py, array) = (view.py(), ArrayObject::required(view)?);
    let Some(link) = array.link() else { return Err(ArrayObject::unknown(view)) };
    let (source, root) = (link.get().source.bind(py), link.get().root.bind(py));
    let known = Known::get(py)?;
    let ordered = link.get().selection(py).filter(|selection| selection.get().is_ordered());
    let read = match (ordered, native(known, source)?) {
        (Some(selection), Some(native)) => Bound::new(py, native.get().view(py, selection.get())?)?,
        (Some(_), None) | (None, _) => {
            known.read.bind(py).call1((source, &link.get().op))?.cast_into_exact::<Array>()?
        }
    };
    let root = ArrayObject::required(root)?;
    let readers = match root.get(Field::Readers).and_then(|readers| readers.cast_into::<PyList>().ok()) {
        Some(readers) => readers,
        None => {
            let readers = PyList::empty(py);
            root.set(Field::Readers, Some(readers.clone().into_any()));
            readers
        }
    };
    // Of a root that is only read, views that are gone are dropped whenever their number has doubled.
    if readers.len() >= 64 && readers.len().is_power_of_two() {
        let alive =
            |reader: &Bound<'py, PyAny>| Some(reader.cast::<PyWeakrefReference>().ok()?.upgrade().is_some());
        let kept: Vec<_> = readers.iter().filter(|reader| alive(reader) == Some(true)).collect();
        readers.set_slice(0, readers.len(), PyList::new(py, kept)?.as_any())?;
    }
    readers.append(PyWeakrefReference::new(view)?)?;
    array.set(Field::Native, Some(read.clone().into_any()));
    Ok(read)
}

/// Views read the root's elements anew from now on.
#[pyfunction]
pub fn forget(root: &Bound<'_, PyAny>) -> PyResult<()> {
    let Some(readers) = ArrayObject::required(root)?.take(Field::Readers) else { return Ok(()) };
    for reader in readers.cast::<PyList>()?.iter() {
        if let Some(view) = reader.cast::<PyWeakrefReference>()?.upgrade() {
            ArrayObject::required(&view)?.set(Field::Native, None);
        }
    }
    Ok(())
}
