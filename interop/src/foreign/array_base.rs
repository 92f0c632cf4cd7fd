//! `ArrayBase`: the base of Python's arrays, with their fields, operators and slices. What no rule of NumPy's
//! has to decide is done here, without a call of Python's; for all else Python's rules decide.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::offset_of;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::{Borrowed, ffi};

use crate::foreign::array_object::{Field, Fields, KNOWN, Known, native, unwatched};
use crate::python::operators::slices::{assigned, selected};

/// A function of one array, where no rule of NumPy's has to decide. None for all else.
#[pyfunction]
pub fn plain1<'py>(name: &str, a: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = a.py();
    let Some(known) = unwatched(py) else { return Ok(None) };
    let Some(x) = native(known, a)? else { return Ok(None) };
    x.get().plain1(py, name)?.map(|made| known.result(a, made)).transpose()
}

/// A function of two arguments, of which one is an array, where no rule of NumPy's has to decide. None for
/// all else.
#[pyfunction]
pub fn plain<'py>(
    name: &str,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = a.py();
    let Some(known) = unwatched(py) else { return Ok(None) };
    let (like, made) = match (native(known, a)?, native(known, b)?) {
        (Some(x), Some(y)) => (a, x.get().plain(py, name, y.as_any(), false)?),
        (Some(x), None) => (a, x.get().plain(py, name, b, false)?),
        (None, Some(y)) => (b, y.get().plain(py, name, a, true)?),
        (None, None) => return Ok(None),
    };
    made.map(|made| known.result(like, made)).transpose()
}

/// The result of an operator: the one that was tried, or that of Python's rules for the arguments.
fn operated<'py>(
    py: Python<'py>,
    tried: impl FnOnce() -> PyResult<Option<Bound<'py, PyAny>>>,
    rules: impl FnOnce(&Known) -> PyResult<Bound<'py, PyAny>>,
) -> *mut ffi::PyObject {
    // A panic must not leave a slot. What Python calls instead panics, too, and makes an exception of it.
    let made = catch_unwind(AssertUnwindSafe(tried)).unwrap_or(Ok(None));
    let made = made.and_then(|made| match (made, KNOWN.get(py)) {
        (Some(made), _) => Ok(made),
        (None, Some(known)) => rules(known),
        (None, None) => Ok(py.NotImplemented().into_bound(py)),
    });
    match made {
        Ok(made) => made.into_ptr(),
        Err(error) => {
            error.restore(py);
            null_mut()
        }
    }
}

/// # Safety
/// The interpreter calls it, with an object that is alive.
unsafe fn operated1(name: &str, a: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: the caller's promise.
    let (py, a) = unsafe { (Python::assume_attached(), Borrowed::from_ptr(Python::assume_attached(), a)) };
    operated(py, || plain1(name, &a), |known| known.unary.bind(py).call1((name, a)))
}

/// # Safety
/// The interpreter calls it, with objects that are alive.
unsafe fn operated2(name: &str, a: *mut ffi::PyObject, b: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: the caller's promise.
    let (py, a, b) = unsafe {
        let py = Python::assume_attached();
        (py, Borrowed::from_ptr(py, a), Borrowed::from_ptr(py, b))
    };
    operated(py, || plain(name, &a, &b), |known| known.binary.bind(py).call1((name, a, b)))
}

/// # Safety
/// The interpreter calls it, with objects that are alive.
unsafe extern "C" fn subscript(x: *mut ffi::PyObject, key: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: the caller's promise.
    let (py, x, key) = unsafe {
        let py = Python::assume_attached();
        (py, Borrowed::from_ptr(py, x), Borrowed::from_ptr(py, key))
    };
    operated(py, || selected(&x, &key), |known| known.select.bind(py).call1((x, key)))
}

/// # Safety
/// The interpreter calls it, with objects that are alive; a value of null is `del`.
unsafe extern "C" fn assign_subscript(
    x: *mut ffi::PyObject,
    key: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
) -> c_int {
    // SAFETY: the caller's promise.
    let (py, x, key, value) = unsafe {
        let py = Python::assume_attached();
        (py, Borrowed::from_ptr(py, x), Borrowed::from_ptr(py, key), Borrowed::from_ptr_or_opt(py, value))
    };
    let done = match (value, KNOWN.get(py)) {
        (Some(value), Some(known)) => {
            let done = catch_unwind(AssertUnwindSafe(|| assigned(&x, &key, &value))).unwrap_or(Ok(false));
            done.and_then(|done| match done {
                true => Ok(()),
                false => known.assign.bind(py).call1((x, key, value)).map(drop),
            })
        }
        _ => Err(PyValueError::new_err("cannot delete array elements; make an array of the others")),
    };
    done.map_or_else(
        |error| {
            error.restore(py);
            -1
        },
        |()| 0,
    )
}

macro_rules! prefix {
    ($($slot:ident: $name:literal),*) => {
        [$({
            unsafe extern "C" fn prefix(a: *mut ffi::PyObject) -> *mut ffi::PyObject {
                // SAFETY: a slot of the class.
                unsafe { operated1($name, a) }
            }
            let prefix: ffi::unaryfunc = prefix;
            ffi::PyType_Slot { slot: ffi::$slot, pfunc: prefix as *mut c_void }
        }),*]
    };
}

macro_rules! infix {
    ($($slot:ident: $name:literal),*) => {
        [$({
            unsafe extern "C" fn infix(a: *mut ffi::PyObject, b: *mut ffi::PyObject) -> *mut ffi::PyObject {
                // SAFETY: a slot of the class.
                unsafe { operated2($name, a, b) }
            }
            let infix: ffi::binaryfunc = infix;
            ffi::PyType_Slot { slot: ffi::$slot, pfunc: infix as *mut c_void }
        }),*]
    };
}

unsafe extern "C" fn compare(
    a: *mut ffi::PyObject,
    b: *mut ffi::PyObject,
    operator: c_int,
) -> *mut ffi::PyObject {
    let name = match operator {
        ffi::Py_LT => "less",
        ffi::Py_LE => "less_equal",
        ffi::Py_EQ => "equal",
        ffi::Py_NE => "not_equal",
        ffi::Py_GT => "greater",
        _ => "greater_equal",
    };
    // SAFETY: a slot of the class.
    unsafe { operated2(name, a, b) }
}

unsafe extern "C" fn traverse(
    object: *mut ffi::PyObject,
    visit: ffi::visitproc,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: the collector passes an object of this class, and a function for each object that it refers to.
    unsafe {
        let class = std::iter::once(ffi::Py_TYPE(object).cast());
        let mut referred =
            class.chain((*object.cast::<Fields>()).references).filter(|referred| !referred.is_null());
        referred.find_map(|referred| Some(visit(referred, argument)).filter(|&end| end != 0)).unwrap_or(0)
    }
}

unsafe extern "C" fn clear(object: *mut ffi::PyObject) -> c_int {
    // SAFETY: the interpreter passes an object of this class. What drops a reference may look at the object,
    // which has it no longer.
    unsafe {
        let fields = object.cast::<Fields>();
        let references = std::mem::replace(&mut (*fields).references, [null_mut(); 4]);
        references.into_iter().for_each(|reference| ffi::Py_XDECREF(reference));
    }
    0
}

unsafe extern "C" fn dealloc(object: *mut ffi::PyObject) {
    // SAFETY: the interpreter passes an object of this class that nobody else has; its class holds a
    // reference for each of its objects.
    unsafe {
        ffi::PyObject_GC_UnTrack(object.cast());
        clear(object);
        let class = ffi::Py_TYPE(object);
        let free = ffi::PyType_GetSlot(class, ffi::Py_tp_free);
        std::mem::transmute::<*mut c_void, ffi::freefunc>(free)(object.cast());
        ffi::Py_DECREF(class.cast());
    }
}

/// The class. Its objects are made as those of `object` are, which costs nothing.
pub fn class<'py>(base: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let field = |name: &'static std::ffi::CStr, type_code, offset: usize| ffi::PyMemberDef {
        name: name.as_ptr(),
        type_code,
        offset: offset as ffi::Py_ssize_t,
        flags: 0,
        doc: null_mut(),
    };
    let reference = |field| offset_of!(Fields, references) + field as usize * size_of::<*mut ffi::PyObject>();
    #[expect(deprecated, reason = "the only kind that reads null as None")]
    let mut fields = [
        field(c"_native", ffi::Py_T_OBJECT_EX, reference(Field::Native)),
        field(c"_link", ffi::_Py_T_OBJECT, reference(Field::Link)),
        field(c"_readers", ffi::_Py_T_OBJECT, reference(Field::Readers)),
        field(c"_value", ffi::_Py_T_OBJECT, reference(Field::Value)),
        field(c"_readonly", ffi::Py_T_BOOL, offset_of!(Fields, is_readonly)),
        field(c"_viewed", ffi::Py_T_BOOL, offset_of!(Fields, is_viewed)),
        ffi::PyMemberDef::default(),
    ];
    let prefix = prefix![Py_nb_negative: "negative", Py_nb_absolute: "absolute", Py_nb_invert: "invert"];
    let infix = infix![
        Py_nb_add: "add", Py_nb_subtract: "subtract", Py_nb_multiply: "multiply",
        Py_nb_true_divide: "divide", Py_nb_floor_divide: "floor_divide", Py_nb_remainder: "remainder",
        Py_nb_and: "and", Py_nb_or: "or", Py_nb_xor: "xor",
        Py_nb_lshift: "left_shift", Py_nb_rshift: "right_shift"
    ];
    let (compare, dealloc): (ffi::richcmpfunc, ffi::destructor) = (compare, dealloc);
    let (subscript, assign_subscript): (ffi::binaryfunc, ffi::objobjargproc) = (subscript, assign_subscript);
    let (traverse, clear): (ffi::traverseproc, ffi::inquiry) = (traverse, clear);
    let mut slots: Vec<ffi::PyType_Slot> = prefix.into_iter().chain(infix).collect();
    slots.extend([
        ffi::PyType_Slot { slot: ffi::Py_tp_richcompare, pfunc: compare as *mut c_void },
        ffi::PyType_Slot { slot: ffi::Py_mp_subscript, pfunc: subscript as *mut c_void },
        ffi::PyType_Slot { slot: ffi::Py_mp_ass_subscript, pfunc: assign_subscript as *mut c_void },
        ffi::PyType_Slot { slot: ffi::Py_tp_dealloc, pfunc: dealloc as *mut c_void },
        ffi::PyType_Slot { slot: ffi::Py_tp_traverse, pfunc: traverse as *mut c_void },
        ffi::PyType_Slot { slot: ffi::Py_tp_clear, pfunc: clear as *mut c_void },
        ffi::PyType_Slot { slot: ffi::Py_tp_members, pfunc: fields.as_mut_ptr().cast() },
        ffi::PyType_Slot { slot: 0, pfunc: null_mut() },
    ]);
    let mut spec = ffi::PyType_Spec {
        name: c"partita._native.ArrayBase".as_ptr(),
        basicsize: size_of::<Fields>() as c_int,
        itemsize: 0,
        flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_BASETYPE | ffi::Py_TPFLAGS_HAVE_GC) as c_uint,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: attached; slots and fields end with an empty one, are copied, and their names are static.
    let class = unsafe { ffi::PyType_FromSpecWithBases(&raw mut spec, base.as_ptr()) };
    // SAFETY: a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(base.py(), class) }
}
