//! The engine's errors as Python exceptions, with Python's names in their texts. The classes are Python's own
//! or those of `partita.errors`.

use partita::Error;
use partita::index::ErrorKind;
use pyo3::exceptions::{PyIndexError, PyNotImplementedError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::gate;
use super::interrupt;

/// What the engine calls things, and what they are called here. Of what is not listed, only the separator of
/// names is another.
const NAMES: &[(&str, &str)] = &[
    (
        "build with `--features partita/mpi`",
        "build the package with MPI: `pip install ./interop --config-settings=build-args=\"--features mpi\"`",
    ),
    ("a build without the feature `mpi`", "a package without MPI"),
    (
        "pass numbers that change by Loop::with_numbers and Loop::run_with",
        "pass numbers that change by Loop.run(..., numbers=f)",
    ),
    ("Array::from_slice", "asarray"),
    ("Array::from_pieces", "from_parts"),
    ("Array::over", "from_parts"),
    ("Array::coordinate", "arange"),
    ("Array::full", "full"),
    ("Region::from_shape", "shape"),
    ("Region::volume", "shape"),
    ("Team::of_members", "Partition"),
    ("Team::world", "Team"),
    ("Team::over", "Team"),
    ("Team::on", "Team"),
    ("Members::", "Partition."),
    ("ProcessGrid::balanced", "Distribution: grid"),
    ("Plan::redistribute", "redistribute"),
    ("Plan::halo", "halo exchange"),
    ("Device::all()", "partita.devices()"),
    ("`cast`", "astype"),
    ("to_vec", "numpy()"),
    ("Collective::padded", "Distribution.padded"),
    ("Collective::forward", "applying a Collective"),
    ("::", "."),
];

/// The engine's words about a call of the user's, with the names that the user knows.
fn in_python(text: &str) -> String {
    NAMES.iter().fold(text.to_owned(), |text, (engine, here)| text.replace(engine, here))
}

/// The exception that says the same.
pub fn raised(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let text = match &error {
        Error::Invalid { .. } | Error::Index(_) => in_python(&error.to_string()),
        _ => error.to_string(),
    };
    let ours = |class: &str| Python::attach(|py| own(py, class, &text)).unwrap_or_else(|error| error);
    match &error {
        Error::Invalid { .. } | Error::Environment(_) => PyValueError::new_err(text),
        Error::Index(error) => match error.kind {
            ErrorKind::Range => PyIndexError::new_err(text),
            ErrorKind::Unsupported | ErrorKind::Missing => PyNotImplementedError::new_err(text),
            _ => PyValueError::new_err(text),
        },
        Error::OutOfMemory { .. } => ours("OutOfMemoryError"),
        Error::NoDevice { .. } => ours("NoDeviceError"),
        Error::Unsupported { .. } => ours("UnsupportedError"),
        Error::Device { .. } | Error::Forked { .. } | Error::Differs { .. } => ours("DeviceError"),
        Error::Interrupted { .. } => interrupt::raised(text),
        Error::Rank { .. } => ours("RankError"),
        _ => ours("DefectError"),
    }
}

fn own(py: Python<'_>, class: &str, text: &str) -> PyResult<PyErr> {
    let class = py.import("partita.errors")?.getattr(class)?.cast_into::<PyType>()?;
    Ok(PyErr::from_type(class, text.to_owned()))
}

/// As [`gate::detached`], for what may fail.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> partita::Result<T> + Send) -> PyResult<T> {
    gate::detached(py, work).map_err(raised)
}
