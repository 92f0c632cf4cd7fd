//! Handles to arrays, with the engine's operations by name. NumPy's rules are made in Python, above this.

use std::sync::{Mutex, MutexGuard, PoisonError};

use partita::array::{IntoSpan, Padding, Span, Stride};
use partita::plan::Plan;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyBufferError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyFloat, PyInt, PyTuple};

use super::capsule;
use super::convert::{dtype, name, scalar, tuple};
use super::device::Team;
use super::dist::Distribution;
use super::error::{detached, raised};
use super::gate;
use super::operations::{op1, op2, plain, reduce};
use super::part::{self, Part, location};
use super::ranks::default_team;

/// A handle to a value; assignment gives it another one. Empty while a Loop runs on it.
#[pyclass(frozen, module = "partita._native")]
pub struct Array(Mutex<Option<partita::Array>>);

impl Array {
    pub fn of(array: partita::Array) -> Array {
        Array(Mutex::new(Some(array)))
    }

    /// Another thread may hold the lock while it computes, so the interpreter's is released to wait for it.
    fn locked(&self, py: Python<'_>) -> MutexGuard<'_, Option<partita::Array>> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// The value it points to now.
    pub fn value(&self, py: Python<'_>) -> PyResult<partita::Array> {
        self.locked(py).clone().ok_or_else(busy)
    }

    /// The value, which the handle no longer has until it is `put` back.
    pub fn take(&self, py: Python<'_>) -> PyResult<partita::Array> {
        self.locked(py).take().ok_or_else(busy)
    }

    /// Changes the value, without the interpreter's lock and with the handle's.
    fn changed(
        &self,
        py: Python<'_>,
        value: &Array,
        change: impl FnOnce(&mut partita::Array, &partita::Array) -> partita::Result<()> + Send,
    ) -> PyResult<()> {
        let value = value.value(py)?;
        let outcome = gate::detached(py, || {
            let mut target = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            target.as_mut().map(|target| change(target, &value))
        });
        outcome.ok_or_else(busy)?.map_err(raised)
    }

    /// Gives the handle a value.
    pub fn put(&self, py: Python<'_>, array: partita::Array) {
        *self.locked(py) = Some(array);
    }
}

fn busy() -> PyErr {
    PyRuntimeError::new_err(
        "expected an array that is not in use, given one that a Loop runs on; wait for it",
    )
}

fn same_team(operation: &str, value: &partita::Array, dist: &Distribution) -> PyResult<()> {
    if dist.team == *value.team() {
        return Ok(());
    }
    let text = "expected a distribution over the array's team, given one over another team";
    Err(PyValueError::new_err(format!("{operation}: {text}; use partita.asarray(u.numpy(), dist=...)")))
}

fn unknown(name: &str) -> PyErr {
    PyValueError::new_err(format!("expected an operation of the engine, given {name}"))
}

fn spans(start: &[i64], stop: &[i64]) -> Vec<Span> {
    start.iter().zip(stop).map(|(&start, &stop)| (start..stop).into_span()).collect()
}

#[pymethods]
impl Array {
    /// One value everywhere.
    #[staticmethod]
    fn full(dist: &Distribution, dtype: &str, value: &Bound<'_, PyAny>) -> PyResult<Array> {
        let value = scalar(value, self::dtype(dtype)?)?;
        partita::Array::full(&dist.team, &dist.dist, value).map(Array::of).map_err(raised)
    }

    /// Every element's own coordinate in one dimension.
    #[staticmethod]
    fn coordinate(py: Python<'_>, dist: &Distribution, dimension: usize, dtype: &str) -> PyResult<Array> {
        let dtype = self::dtype(dtype)?;
        let make = || partita::Array::coordinate(&dist.team, &dist.dist, dimension, dtype);
        detached(py, make).map(Array::of)
    }

    /// Elements in C order of the global shape, by their bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, dist: &Distribution, dtype: &str, data: PyBuffer<u8>) -> PyResult<Array> {
        let (dtype, data) = (self::dtype(dtype)?, data.to_vec(py)?);
        detached(py, || partita::Array::from_bytes(&dist.team, &dist.dist, dtype, &data)).map(Array::of)
    }

    /// One piece per part of this process: the bytes of what it owns, in C order.
    #[staticmethod]
    fn from_pieces(
        py: Python<'_>,
        dist: &Distribution,
        dtype: &str,
        pieces: Vec<PyBuffer<u8>>,
    ) -> PyResult<Array> {
        let dtype = self::dtype(dtype)?;
        let pieces = pieces.iter().map(|piece| piece.to_vec(py)).collect::<PyResult<Vec<Vec<u8>>>>()?;
        detached(py, || partita::Array::from_pieces(&dist.team, &dist.dist, dtype, &pieces)).map(Array::of)
    }

    /// The memory of the arrays in DLPack capsules, one per part of this process, where it is.
    #[staticmethod]
    fn over(
        py: Python<'_>,
        dist: &Distribution,
        dtype: Option<&str>,
        capsules: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<Array> {
        let (team, mut pieces) = (&dist.team, Vec::new());
        let mut kind = dtype.map(self::dtype).transpose()?;
        let refuse = |text: String| PyBufferError::new_err(format!("from_dlpack: {text}; allow a copy"));
        let here: Vec<usize> = (0..team.size()).filter(|&part| team.is_here(part)).collect();
        if capsules.len() != here.len() {
            return Err(refuse(format!("expected {} capsules, given {}", here.len(), capsules.len())));
        }
        for (part, capsule) in here.into_iter().zip(&capsules) {
            let device = team.device(part);
            let (memory, buffer) = capsule::share(capsule, device, location(device))?;
            let extents = dist.dist.owned(part).extents();
            if memory.shape != extents {
                let (expected, given) = (extents, memory.shape);
                return Err(refuse(format!("expected shape {expected} for part {part}, given {given}")));
            }
            if *kind.get_or_insert(memory.dtype) != memory.dtype {
                let (one, other) = (name(memory.dtype), kind.map_or("", name));
                return Err(refuse(format!("expected parts of one dtype, given {other} and {one}")));
            }
            pieces.push(buffer);
        }
        let Some(dtype) = kind else { return Err(refuse("expected at least one part, given none".into())) };
        let array = gate::detached(py, || partita::Array::over(team, &dist.dist, dtype, pieces));
        array.map(Array::of).map_err(|error| PyBufferError::new_err(error.to_string()))
    }

    /// A copy of the array in a DLPack capsule.
    #[staticmethod]
    #[pyo3(signature = (capsule, dist = None, team = None))]
    fn from_capsule(
        py: Python<'_>,
        capsule: &Bound<'_, PyAny>,
        dist: Option<&Distribution>,
        team: Option<&Team>,
    ) -> PyResult<Array> {
        let elements = capsule::take(capsule)?;
        let team = match (dist, team) {
            (Some(dist), _) => dist.team.clone(),
            (None, Some(team)) => team.0.clone(),
            (None, None) => default_team(py)?,
        };
        let array = detached(py, || {
            let dist = match dist {
                Some(dist) => dist.dist.clone(),
                None => partita::Distribution::default_partition(team.size(), &elements.shape)?,
            };
            if dist.shape() != elements.shape {
                return Ok(None);
            }
            partita::Array::from_bytes(&team, &dist, elements.dtype, &elements.bytes).map(Some)
        })?;
        array.map(Array::of).ok_or_else(|| {
            PyValueError::new_err(format!(
                "from_dlpack: expected an array of the distribution's shape, given {}; make one for it",
                elements.shape
            ))
        })
    }

    /// The global shape.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, &self.value(py)?.shape())
    }

    /// The name of the dtype.
    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(name(self.value(py)?.dtype()))
    }

    /// Who owns what.
    #[getter]
    fn dist(&self, py: Python<'_>) -> PyResult<Distribution> {
        let value = self.value(py)?;
        let dist = value.distribution().map_err(raised)?;
        Ok(Distribution { team: value.team().clone(), dist: (*dist).clone() })
    }

    /// The members that hold the parts.
    #[getter]
    fn team(&self, py: Python<'_>) -> PyResult<Team> {
        Ok(Team(self.value(py)?.team().clone()))
    }

    /// A handle of its own to the same value.
    fn copy(&self, py: Python<'_>) -> PyResult<Array> {
        self.value(py).map(Array::of)
    }

    /// Takes over the value of another handle.
    fn replace(&self, py: Python<'_>, other: &Array) -> PyResult<()> {
        let value = other.value(py)?;
        self.put(py, value);
        Ok(())
    }

    /// Computes the value now.
    fn eval(&self, py: Python<'_>) -> PyResult<()> {
        let value = self.value(py)?;
        detached(py, || value.eval())
    }

    /// Writes the elements to a contiguous buffer of bytes, in C order of the global shape.
    fn read_into(&self, py: Python<'_>, out: PyBuffer<u8>) -> PyResult<()> {
        let value = self.value(py)?;
        let bytes = detached(py, || value.to_bytes())?;
        out.copy_from_slice(py, &bytes)
    }

    /// What computing the array will run, as text or as a page that draws it; or the bytes of every link when
    /// the elements go to another distribution.
    #[pyo3(signature = (to = None, html = false))]
    fn explain(&self, py: Python<'_>, to: Option<&Distribution>, html: bool) -> PyResult<String> {
        let value = self.value(py)?;
        let Some(to) = to else {
            let outline = detached(py, || value.explain())?;
            return Ok(if html { outline.html() } else { outline.to_string() });
        };
        same_team("explain", &value, to)?;
        let dist = value.distribution().map_err(raised)?;
        let plan = Plan::redistribute(&dist, &to.dist).map_err(|error| raised(error.into()))?;
        Ok(plan.explain(value.dtype().size_bytes()).to_string())
    }

    /// The parts, halos current.
    fn parts(&self, py: Python<'_>) -> PyResult<Vec<Part>> {
        part::parts(py, &self.value(py)?)
    }

    /// A constant that goes with this array.
    fn constant(&self, py: Python<'_>, dtype: &str, value: &Bound<'_, PyAny>) -> PyResult<Array> {
        let value = scalar(value, self::dtype(dtype)?)?;
        Ok(Array::of(partita::array::Operand::operand(&value, &self.value(py)?)))
    }

    /// Conversion by value.
    fn cast(&self, py: Python<'_>, dtype: &str) -> PyResult<Array> {
        let dtype = self::dtype(dtype)?;
        Ok(Array::of(self.value(py)?.cast(dtype)))
    }

    /// A function of one argument, by name.
    fn op1(&self, py: Python<'_>, name: &str) -> PyResult<Array> {
        let a = self.value(py)?;
        recorded(op1(name, &a).ok_or_else(|| unknown(name))?)
    }

    /// A function of two arguments, by name.
    fn op2(&self, py: Python<'_>, name: &str, other: &Array) -> PyResult<Array> {
        let (a, b) = (self.value(py)?, other.value(py)?);
        recorded(op2(name, &a, &b).ok_or_else(|| unknown(name))?)
    }

    /// A function of two arguments, where no rule of NumPy's has to decide: both are arrays of one float
    /// type, or the other, which stands first if `swapped`, is a number of Python. None for all else.
    fn plain(
        &self,
        py: Python<'_>,
        name: &str,
        other: &Bound<'_, PyAny>,
        swapped: bool,
    ) -> PyResult<Option<Array>> {
        let a = self.value(py)?;
        if !a.dtype().is_float() {
            return Ok(None);
        }
        let b = match other.cast_exact::<Array>() {
            Ok(other) => other.get().value(py)?,
            Err(_) if other.is_exact_instance_of::<PyFloat>() || other.is_exact_instance_of::<PyInt>() => {
                partita::array::Operand::operand(&scalar(other, a.dtype())?, &a)
            }
            Err(_) => return Ok(None),
        };
        if a.dtype() != b.dtype() {
            return Ok(None);
        }
        let (a, b) = if swapped { (&b, &a) } else { (&a, &b) };
        let Some(array) = plain(name, a, b) else { return Ok(None) };
        array.recorded().map_err(raised)?;
        Ok(Some(Array::of(array)))
    }

    /// `yes` where this is true, else `no`.
    fn select(&self, py: Python<'_>, yes: &Array, no: &Array) -> PyResult<Array> {
        recorded(self.value(py)?.select(&yes.value(py)?, &no.value(py)?))
    }

    /// A reduction over the axes, by name; they stay with extent 1.
    fn reduce(&self, py: Python<'_>, name: &str, axes: Vec<usize>) -> PyResult<Array> {
        let a = self.value(py)?;
        recorded(reduce(name, &a, &axes).ok_or_else(|| unknown(name))?)
    }

    /// The elements of a box.
    fn window(&self, py: Python<'_>, start: Vec<i64>, stop: Vec<i64>) -> PyResult<Array> {
        recorded(self.value(py)?.slice(&spans(&start, &stop)))
    }

    /// A view: per dimension of the array an element's number, which drops it, or (start, step, count), and
    /// None for a new one.
    fn view(&self, py: Python<'_>, key: Vec<Option<Key>>) -> PyResult<Array> {
        recorded(self.value(py)?.slice(&key.into_iter().map(span).collect::<Vec<Span>>()))
    }

    /// Replaces the elements of a view. Computes.
    fn assign_view(&self, py: Python<'_>, key: Vec<Option<Key>>, value: &Array) -> PyResult<()> {
        let spans: Vec<Span> = key.into_iter().map(span).collect();
        self.changed(py, value, |target, value| target.assign(&spans, value))
    }

    /// Without these dimensions of extent 1.
    fn squeeze(&self, py: Python<'_>, axes: Vec<usize>) -> PyResult<Array> {
        let value = self.value(py)?;
        detached(py, || value.squeeze(&axes)).map(Array::of)
    }

    /// With dimensions of extent 1 inserted before these.
    fn unsqueeze(&self, py: Python<'_>, before: Vec<usize>) -> PyResult<Array> {
        let value = self.value(py)?;
        detached(py, || value.unsqueeze(&before)).map(Array::of)
    }

    /// The elements on another distribution. Computes.
    fn redistribute(&self, py: Python<'_>, dist: &Distribution) -> PyResult<Array> {
        let value = self.value(py)?;
        same_team("redistribute", &value, dist)?;
        detached(py, || value.redistribute(&dist.dist)).map(Array::of)
    }

    /// The elements that `axes` select: per dimension of the result (dimension, start, step, count), or
    /// (None, 0, 0, count) for a new one.
    fn rearranged(&self, py: Python<'_>, axes: Vec<(Option<usize>, i64, i64, i64)>) -> PyResult<Array> {
        let value = self.value(py)?;
        let along = |(dim, start, step, count)| match dim {
            Some(dim) => Stride::Of { dim, start, step, count },
            None => Stride::New { count },
        };
        let axes: Vec<Stride> = axes.into_iter().map(along).collect();
        detached(py, || value.rearranged(&axes)).map(Array::of)
    }

    /// The arrays one behind the other along a dimension.
    #[staticmethod]
    fn concatenate(py: Python<'_>, arrays: Vec<Bound<'_, Array>>, axis: usize) -> PyResult<Array> {
        let values = arrays.iter().map(|array| array.get().value(py)).collect::<PyResult<Vec<_>>>()?;
        let values: Vec<&partita::Array> = values.iter().collect();
        partita::Array::concatenate(&values, axis).map(Array::of).map_err(raised)
    }

    /// With (before, after) cells around in every dimension, of a mode of NumPy's; the value is that of
    /// "constant".
    fn pad(
        &self,
        py: Python<'_>,
        widths: Vec<(i64, i64)>,
        mode: &str,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<Array> {
        let array = self.value(py)?;
        let with = match mode {
            "constant" => Padding::Constant(scalar(value, array.dtype())?),
            "edge" => Padding::Edge,
            "wrap" => Padding::Wrap,
            "reflect" => Padding::Reflect,
            "symmetric" => Padding::Symmetric,
            _ => return Err(unknown(mode)),
        };
        recorded(array.pad(&widths, with))
    }

    /// Element i of the result is element i + offsets, wrapping around.
    fn roll(&self, py: Python<'_>, offsets: Vec<i64>) -> PyResult<Array> {
        recorded(self.value(py)?.roll(&offsets))
    }

    /// The same elements in C order in another shape.
    fn reshaped(&self, py: Python<'_>, shape: Vec<i64>) -> PyResult<Array> {
        let value = self.value(py)?;
        detached(py, || value.reshaped(&shape)).map(Array::of)
    }

    /// An array of this shape of the elements with these numbers in C order.
    fn gathered(&self, py: Python<'_>, shape: Vec<i64>, positions: PyBuffer<i64>) -> PyResult<Array> {
        let (value, positions) = (self.value(py)?, positions.to_vec(py)?);
        detached(py, || value.gathered(&shape, &positions)).map(Array::of)
    }

    /// Replaces the elements with these numbers in C order by a line of values. Computes.
    fn scatter(&self, py: Python<'_>, positions: PyBuffer<i64>, value: &Array) -> PyResult<()> {
        let positions = positions.to_vec(py)?;
        self.changed(py, value, |target, value| {
            keeping_layout(target, |target| target.scatter(&positions, value))
        })
    }

    /// Replaces the elements of a box. Computes.
    fn assign(&self, py: Python<'_>, start: Vec<i64>, stop: Vec<i64>, value: &Array) -> PyResult<()> {
        self.changed(py, value, |target, value| target.assign(&spans(&start, &stop), value))
    }
}

/// Changes an array that the engine may bring to blocks meanwhile.
fn keeping_layout(
    target: &mut partita::Array,
    change: impl FnOnce(&mut partita::Array) -> partita::Result<()>,
) -> partita::Result<()> {
    let layout = target.distribution()?;
    if layout.is_block() {
        return change(target);
    }
    let mut changed = target.clone();
    change(&mut changed)?;
    *target = changed.redistribute(&layout)?;
    Ok(())
}

/// What a view takes of a dimension of the array.
#[derive(FromPyObject)]
enum Key {
    At(i64),
    /// First element, what the next one adds, how many.
    Range(i64, i64, i64),
}

/// A span; a dimension that is new takes nothing.
fn span(key: Option<Key>) -> Span {
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

/// A new handle. Errors of operands are raised now, where they are made, rather than when the result is used.
fn recorded(array: partita::Array) -> PyResult<Array> {
    array.distribution().map_err(raised)?;
    Ok(Array::of(array))
}
