//! The extension module. It holds what Python cannot do itself: values, distributions, parts, and waiting
//! without the interpreter's lock. Names, docstrings for users and NumPy's rules are in `interop/python`.
//!
//! Invariant: the interpreter's lock is released around everything that computes or waits, and no lock of
//! ours is held while Python code runs.

pub(crate) mod arrays;
mod collective;
mod device;
mod distribution;
pub mod operators;
mod part;
pub(crate) mod part_handle;
pub(crate) mod pending;
mod protocols;
pub(crate) mod runtime;
mod value;

use pyo3::prelude::*;

/// The compiled part of partita.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::arrays::handle::Array;
    #[pymodule_export]
    use super::arrays::lending::Lending;
    #[pymodule_export]
    use super::arrays::loops::Loop;
    #[pymodule_export]
    use super::arrays::random::Generator;
    #[pymodule_export]
    use super::arrays::selection::Selection;
    #[pymodule_export]
    use super::arrays::state::{SavedState, save_npy, save_state};
    #[pymodule_export]
    use super::collective::{Collective, Partition};
    #[pymodule_export]
    use super::device::{Device, Team, abort, choose_default_team, get_default_team, leave};
    #[pymodule_export]
    use super::distribution::{Distribution, distribution_of};
    #[pymodule_export]
    use super::operators::ufunc::UfuncBase;
    #[pymodule_export]
    use super::part_handle::{Memory, Part, Stored};
    #[pymodule_export]
    use super::pending::PendingCollective;
    #[pymodule_export]
    use super::protocols::{
        export_distarray, export_partitioned, neighbors_from_distarray, read_distarray, read_partitioned,
        validate_dim_data, validate_dim_dict, validate_distarray, validate_partitioned,
    };
    #[pymodule_export]
    use super::runtime::end;
    #[pymodule_export]
    use super::{cuda_library, devices, live_exports, measure_links, mpi_library, nccl_library, version};
    #[pymodule_export]
    use crate::foreign::array_base::{plain, plain1};
    #[pymodule_export]
    use crate::foreign::array_object::{Link, forget, made, read_view, set_rules, set_watched};
    #[pymodule_export]
    use crate::python::operators::slices::assigned_whole;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::runtime::install_interrupts();
        // Libraries of PyPI's packages are where Python looks for packages.
        if let Ok(folders) = module.py().import("sys")?.getattr("path")?.extract() {
            partita::device::cuda::search_packages_in(folders);
        }
        let exporter = crate::foreign::exporter::class(module.py())?;
        module.add("ArrayBase", crate::foreign::array_base::class(&exporter)?)?;
        module.add("Exporter", exporter)
    }
}

/// Every device of this process, the host first. Opens the adapters.
#[pyfunction]
fn devices(py: Python<'_>) -> PyResult<Vec<device::Device>> {
    partita::config::checked().map_err(runtime::raised)?;
    Ok(runtime::released(py, || partita::Device::all().iter().cloned().map(device::Device).collect()))
}

/// DLPack exports that no consumer has released yet.
#[pyfunction]
fn live_exports() -> i64 {
    crate::dlpack::live_loans()
}

/// The file that was loaded as the CUDA driver; None without one.
#[pyfunction]
fn cuda_library() -> Option<String> {
    partita::device::cuda::library()
}

/// The text in which the MPI library that is loaded, or can be, names itself, or why there is none.
#[pyfunction]
fn mpi_library() -> (Option<String>, String) {
    #[cfg(unix)]
    return match partita::wire::mpi::load_library() {
        Ok(_) => (partita::wire::mpi::library_version(), String::new()),
        Err(reason) => (None, reason),
    };
    #[cfg(not(unix))]
    return (None, "libraries of MPI are found on Unix alone".to_owned());
}

/// The version and the file of the NCCL that is loaded, or can be; None, and why there is none.
#[pyfunction]
fn nccl_library() -> (Option<String>, String) {
    match partita::device::cuda::nccl_version() {
        Ok((version, file)) => (Some(version), file),
        Err(reason) => (None, reason),
    }
}

/// The links between the devices of all ranks, as text or as JSON, of rank 0 alone; and whether all messages
/// arrived as they were sent. Collective.
#[pyfunction]
fn measure_links(py: Python<'_>, as_json: bool) -> PyResult<(Option<String>, bool)> {
    let measured = runtime::released(py, || {
        let devices = partita::Device::named(&partita::config::config().device)?;
        partita::transport::LinkReport::measure(&devices)
    });
    let report = measured.map_err(runtime::raised)?;
    let text = if as_json { report.to_json() } else { report.to_string() };
    Ok(((report.rank == 0).then_some(text), report.all_arrived()))
}

/// The version of the package.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
