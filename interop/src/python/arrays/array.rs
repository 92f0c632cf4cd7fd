//! The class of arrays, with the engine's operations by name. NumPy's rules are applied in Python, above this
//! module.

use partita::DType;
use partita::array::{Padding, Span, Stride};
use partita::fourier::{self, Direction};
use partita::index::{Index, Region};
use partita::plan::Plan;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyFloat, PyInt, PyTuple};

use super::convert::{element, number, python_number, scalar, tuple};
use super::foreign;
use super::lending::Lending;
use super::operations::{op1, op2, plain, plain1, reduce, scan};
use super::selection::Selection;
use super::typed::Typed;
use crate::complex;
use crate::element::Element;
use crate::foreign::bytes;
use crate::python::device::Team;
use crate::python::distribution::{Distribution, Triple, domain, triples};
use crate::python::part_handle::{self, Part, RequestedFacts};
use crate::python::pending::PendingCollective;
use crate::python::runtime::{detached, raised};

pub use super::handle::Array;

fn same_team(operation: &str, value: &Typed, dist: &Distribution) -> PyResult<()> {
    if dist.team == *value.array.team() {
        return Ok(());
    }
    let text = "expected a distribution over the array's team, given one over another team";
    Err(PyValueError::new_err(format!("{operation}: {text}; use partita.asarray(u.numpy(), dist=...)")))
}

fn unknown(name: &str) -> PyErr {
    PyValueError::new_err(format!("expected an operation of the engine, given {name}"))
}

fn plain_result(made: partita::Array) -> PyResult<Array> {
    made.recorded().map_err(raised)?;
    Ok(Array::of(Typed::from(made)))
}

/// [`Array::plain`] where one of the two is complex: sums, products and quotients.
fn plain_complex(
    name: &str,
    a: &Typed,
    (other, given): (&Bound<'_, PyAny>, Option<Typed>),
    swapped: bool,
) -> PyResult<Option<Array>> {
    let dtype = a.element.dtype();
    let element = Element::Complex(dtype);
    if !matches!(name, "add" | "subtract" | "multiply" | "divide")
        || !matches!(dtype, DType::F32 | DType::F64)
    {
        return Ok(None);
    }
    let is_number = other.is_exact_instance_of::<PyComplex>()
        || other.is_exact_instance_of::<PyFloat>()
        || other.is_exact_instance_of::<PyInt>();
    let b = match given {
        Some(given) => given,
        None if is_number => match number(other, element) {
            Ok(number) => a.constant(element, number).map_err(raised)?,
            Err(_) => return Ok(None),
        },
        None => return Ok(None),
    };
    if b.element.dtype() != dtype {
        return Ok(None);
    }
    let (Some(a), Some(b)) = (a.cast(element).map_err(raised)?, b.cast(element).map_err(raised)?) else {
        return Ok(None);
    };
    let (a, b) = if swapped { (b, a) } else { (a, b) };
    let Some(found) = complex::op2(name, &a.array, &b.array).map_err(raised)? else { return Ok(None) };
    let made = a.outcome(found);
    made.array.recorded().map_err(raised)?;
    Ok(Some(Array::of(made)))
}

impl Array {
    /// A function of two arguments, where no rule of NumPy's has to decide: both are arrays of one type, or
    /// of float64 and an integer type, or of complex and real numbers of one width; or the other, which
    /// stands first if `swapped`, is a number of Python that the type holds, or a complex one. None for all
    /// else.
    pub fn plain(
        &self,
        py: Python<'_>,
        name: &str,
        other: &Bound<'_, PyAny>,
        swapped: bool,
    ) -> PyResult<Option<Array>> {
        let own = self.operand(py)?;
        let given = other.cast_exact::<Array>().ok();
        let given = given.map(|given| given.get().operand(py)).transpose()?;
        let is_complex = |value: &Typed| matches!(value.element, Element::Complex(_));
        if is_complex(&own)
            || given.as_ref().is_some_and(is_complex)
            || other.is_exact_instance_of::<PyComplex>()
        {
            return plain_complex(name, &own, (other, given), swapped);
        }
        let (a, dtype) = (own.array, own.element.dtype());
        if let ("power", false, Ok(exponent)) = (name, swapped, other.cast_exact::<PyInt>()) {
            // Squares are products, and no other power of an integer is plain.
            match exponent.extract::<i64>() {
                Ok(2) if dtype != DType::Bool => return plain_result(&a * &a).map(Some),
                Ok(0 | 1) => return Ok(None),
                _ => {}
            }
        }
        let is_number = |other: &Bound<'_, PyAny>| match dtype {
            DType::Bool => false,
            _ if dtype.is_integer() => other.is_exact_instance_of::<PyInt>(),
            // NumPy's float64 is a float.
            DType::F64 if other.is_instance_of::<PyFloat>() => true,
            _ => other.is_exact_instance_of::<PyFloat>() || other.is_exact_instance_of::<PyInt>(),
        };
        let b = match given {
            Some(given) => given,
            None if is_number(other) => match scalar(other, dtype) {
                Ok(number) => Typed::from(partita::array::Operand::operand(&number, &a)),
                Err(_) => return Ok(None),
            },
            None => return Ok(None),
        };
        let other = b.element.dtype();
        let (a, b) = match (dtype, other) {
            _ if dtype == other => (a, b.array),
            // float64 holds, by NumPy's rules, what all integers and bools are.
            (DType::F64, other) if !other.is_float() => (a, b.array.cast(DType::F64)),
            (dtype, DType::F64) if !dtype.is_float() => (a.cast(DType::F64), b.array),
            _ => return Ok(None),
        };
        let (a, b) = if swapped { (&b, &a) } else { (&a, &b) };
        let Some(array) = plain(name, a, b) else { return Ok(None) };
        plain_result(array).map(Some)
    }

    /// A function of one array, where no rule of NumPy's has to decide. None for all else.
    pub fn plain1(&self, py: Python<'_>, name: &str) -> PyResult<Option<Array>> {
        let Typed { array, element: Element::Real(_) } = self.operand(py)? else { return Ok(None) };
        plain1(name, &array).map(plain_result).transpose()
    }

    /// Replaces the elements of a view by a number. Computes.
    pub fn assign_number(
        &self,
        py: Python<'_>,
        selection: &Selection,
        number: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let value = self.value(py)?;
        let number = self::number(number, value.element)?;
        let spans = value.spans(selection.spans());
        let element = value.element;
        let seen = value.with(value.array.slice(&spans)).map_err(raised)?;
        let constant = seen.constant(element, number).map_err(raised)?;
        // Nobody else has the elements now, so that they change in place.
        drop((value, seen));
        self.changed(py, &constant, |target, value| target.assign(&spans, value))
    }

    /// False of one element without a dimension.
    pub fn has_dimensions(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.value(py)?.shape().rank() > 0)
    }

    /// The extents that people see.
    pub fn extents(&self, py: Python<'_>) -> PyResult<Vec<i64>> {
        Ok(self.value(py)?.shape().to_vec())
    }

    /// True if elements of this shape can be replaced by another array as it is.
    pub fn takes(&self, py: Python<'_>, value: &Array, shape: &[i64]) -> PyResult<bool> {
        let (own, value) = (self.value(py)?, value.value(py)?);
        Ok(own.element == value.element && *value.shape() == *shape)
    }
}

#[pymethods]
impl Array {
    /// One value everywhere.
    #[staticmethod]
    fn full(dist: &Distribution, dtype: &str, value: &Bound<'_, PyAny>) -> PyResult<Array> {
        let element = element(dtype)?;
        let number = number(value, element)?;
        Typed::full(&dist.team, &dist.dist, element, number).map(Array::of).map_err(raised)
    }

    /// Every element's own coordinate in one dimension.
    #[staticmethod]
    fn coordinate(py: Python<'_>, dist: &Distribution, dimension: usize, dtype: &str) -> PyResult<Array> {
        let dtype = element(dtype)?.dtype();
        let make = || partita::Array::coordinate(&dist.team, &dist.dist, dimension, dtype);
        detached(py, make).map(Typed::from).map(Array::of)
    }

    /// Elements in C order of the global shape, by their bytes; in the step of a `Loop` only if that is said.
    #[staticmethod]
    #[pyo3(signature = (dist, dtype, data, in_step = false))]
    fn from_bytes(
        py: Python<'_>,
        dist: &Distribution,
        dtype: &str,
        data: PyBuffer<u8>,
        in_step: bool,
    ) -> PyResult<Array> {
        let (element, data) = (element(dtype)?, bytes::of(&data)?);
        let make = || {
            let stored = element.stored(&dist.dist)?;
            let array = partita::Array::from_bytes(&dist.team, &stored, element.dtype(), data)?;
            Ok(Typed { array, element })
        };
        detached(py, || if in_step { partita::array::outside_step(make) } else { make() }).map(Array::of)
    }

    /// One piece per part of this process: the bytes of what it owns, in C order.
    #[staticmethod]
    fn from_pieces(
        py: Python<'_>,
        dist: &Distribution,
        dtype: &str,
        pieces: Vec<PyBuffer<u8>>,
    ) -> PyResult<Array> {
        let element = element(dtype)?;
        let pieces = pieces.iter().map(bytes::of).collect::<PyResult<Vec<&[u8]>>>()?;
        let make = || {
            let stored = element.stored(&dist.dist)?;
            let array = partita::Array::from_pieces(&dist.team, &stored, element.dtype(), &pieces)?;
            Ok(Typed { array, element })
        };
        detached(py, make).map(Array::of)
    }

    /// The memory of the arrays in DLPack capsules, one per part of this process, where it is; if `writable`,
    /// what is assigned lands there.
    #[staticmethod]
    #[pyo3(signature = (dist, dtype, capsules, writable = false))]
    fn over(
        py: Python<'_>,
        dist: &Distribution,
        dtype: Option<&str>,
        capsules: Vec<Bound<'_, PyAny>>,
        writable: bool,
    ) -> PyResult<Array> {
        let element = dtype.map(self::element).transpose()?;
        let typed = foreign::over(py, dist, element, &capsules, writable)?;
        if writable { Array::at_home(typed).map_err(raised) } else { Ok(Array::of(typed)) }
    }

    /// The host memory of an object with DLPack, on one part; None where that takes more than asking for it.
    #[staticmethod]
    fn on_host(py: Python<'_>, object: &Bound<'_, PyAny>, must: bool) -> PyResult<Option<Array>> {
        Ok(foreign::on_host(py, object, must)?.map(Array::of))
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
        foreign::copy_of(py, capsule, dist, team).map(Array::of)
    }

    /// The global shape.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, &self.value(py)?.shape())
    }

    /// The name of the dtype.
    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(self.value(py)?.element.name())
    }

    /// The distribution of the cells over the parts.
    #[getter]
    fn dist(&self, py: Python<'_>) -> PyResult<Distribution> {
        let value = self.value(py)?;
        let dist = value.distribution().map_err(raised)?;
        Ok(Distribution { team: value.array.team().clone(), dist })
    }

    /// The members that hold the parts.
    #[getter]
    fn team(&self, py: Python<'_>) -> PyResult<Team> {
        Ok(Team(self.value(py)?.array.team().clone()))
    }

    /// A handle of its own to the same value.
    fn copy(&self, py: Python<'_>) -> PyResult<Array> {
        self.value(py).map(Array::of)
    }

    /// Takes over the value of another handle.
    fn replace(&self, py: Python<'_>, other: &Array) -> PyResult<()> {
        self.hold(py, other.value(py)?)
    }

    /// Computes the value now.
    fn eval(&self, py: Python<'_>) -> PyResult<()> {
        let value = self.value(py)?;
        detached(py, || value.array.eval())
    }

    /// Writes the elements to a contiguous buffer of bytes, in C order of the global shape.
    fn read_into(&self, py: Python<'_>, mut out: PyBuffer<u8>) -> PyResult<()> {
        let (value, out) = (self.value(py)?, bytes::of_mut(&mut out)?);
        detached(py, || value.array.read_into(out))
    }

    /// The only element as a Python number, read where it is; a view is not computed for that.
    fn item<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let value = self.value(py)?;
        let mut at = Index::zeros(value.array.rank());
        let first = detached(py, || value.array.get(&at))?;
        match value.element {
            Element::Real(_) => python_number(py, first),
            Element::Complex(_) => {
                at[value.array.rank() - 1] = 1;
                let second = detached(py, || value.array.get(&at))?;
                Ok(PyComplex::from_doubles(py, first.to_f64(), second.to_f64()).into_any())
            }
        }
    }

    /// The work of computing the array; or the bytes of every link when the elements go to another
    /// distribution.
    #[pyo3(signature = (to = None))]
    fn explain(&self, py: Python<'_>, to: Option<&Distribution>) -> PyResult<String> {
        let value = self.value(py)?;
        let Some(to) = to else {
            return detached(py, || value.array.explain()).map(|outline| outline.to_string());
        };
        same_team("explain", &value, to)?;
        let dist = value.array.distribution().map_err(raised)?;
        let stored = value.element.stored(&to.dist).map_err(raised)?;
        let plan = Plan::redistribute(&dist, &stored).map_err(raised)?;
        Ok(plan.explain(value.array.dtype().size_bytes()).to_string())
    }

    /// What the parts compute and read in each fused kernel of the array, as text.
    fn boxes(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let value = self.value(py)?;
        let said = detached(py, || value.array.explain())?;
        Ok(said.kernels.iter().map(|kernel| format!("{:?}", kernel.boxes)).collect())
    }

    /// The parts, halos current; of an array without dimensions the one that has it.
    fn parts(&self, py: Python<'_>) -> PyResult<Vec<Py<Part>>> {
        part_handle::parts(py, &self.value(py)?)
    }

    /// The only part, if its memory is the host's and has all elements in order, of a type that NumPy knows.
    fn lone_part(&self, py: Python<'_>) -> PyResult<Option<Py<Part>>> {
        let value = self.value(py)?;
        let team = value.array.team();
        let is_known = team.size() == 1 && team.is_on_host() && value.element != Element::Real(DType::BF16);
        if !is_known || value.shape().rank() == 0 || !value.array.distribution().map_err(raised)?.is_block() {
            return Ok(None);
        }
        Ok(part_handle::parts(py, &value)?.pop())
    }

    /// Lends the memory of the parts to be written, or those of the view of the array that `view()` makes.
    #[pyo3(signature = (view = None))]
    fn lend(slf: Py<Array>, py: Python<'_>, view: Option<Py<PyAny>>) -> PyResult<Lending> {
        Lending::begin(py, slf, view)
    }

    /// A constant that goes with this array.
    fn constant(&self, py: Python<'_>, dtype: &str, value: &Bound<'_, PyAny>) -> PyResult<Array> {
        let element = element(dtype)?;
        let number = number(value, element)?;
        self.value(py)?.constant(element, number).map(Array::of).map_err(raised)
    }

    /// Conversion by value.
    fn cast(&self, py: Python<'_>, dtype: &str) -> PyResult<Array> {
        let (value, to) = (self.operand(py)?, element(dtype)?);
        value.cast(to).map_err(raised)?.map(Array::of).ok_or_else(|| {
            let given = format!(
                "expected a complex type or bool for {} numbers, given {dtype}",
                value.element.name()
            );
            PyTypeError::new_err(format!("astype: {given}; take partita.real(x), imag(x) or abs(x)"))
        })
    }

    /// The bits of the elements as those of another type of as many bytes.
    fn bitcast(&self, py: Python<'_>, dtype: &str) -> PyResult<Array> {
        let value = self.operand(py)?;
        match (value.element, element(dtype)?) {
            (Element::Real(_), Element::Real(to)) => recorded(&value, value.array.bitcast(to)),
            (from, to) => Err(not_for("view", if let Element::Real(_) = from { to } else { from })),
        }
    }

    /// A function of one argument, by name.
    fn op1(&self, py: Python<'_>, name: &str) -> PyResult<Array> {
        let value = self.operand(py)?;
        match value.element {
            Element::Real(_) => recorded(&value, op1(name, &value.array).ok_or_else(|| unknown(name))?),
            Element::Complex(_) => {
                let outcome = complex::op1(name, &value.array).map_err(raised)?;
                outcome.map(|made| Array::of(value.outcome(made))).ok_or_else(|| not_for(name, value.element))
            }
        }
    }

    /// A function of two arguments, by name.
    fn op2(&self, py: Python<'_>, name: &str, other: &Array) -> PyResult<Array> {
        let (a, b) = (self.operand(py)?, other.operand(py)?);
        match a.element {
            Element::Real(_) => recorded(&a, op2(name, &a.array, &b.array).ok_or_else(|| unknown(name))?),
            Element::Complex(_) => {
                a.agrees("an operation", &b).map_err(raised)?;
                let outcome = complex::op2(name, &a.array, &b.array).map_err(raised)?;
                let made = outcome.ok_or_else(|| not_for(name, a.element))?;
                let made = a.outcome(made);
                made.array.recorded().map_err(raised)?;
                Ok(Array::of(made))
            }
        }
    }

    /// `yes` where this is true, else `no`.
    fn select(&self, py: Python<'_>, yes: &Array, no: &Array) -> PyResult<Array> {
        let (mask, yes, no) = (self.operand(py)?, yes.operand(py)?, no.operand(py)?);
        yes.agrees("where", &no).map_err(raised)?;
        recorded(&yes, mask.select(&yes, &no).array)
    }

    /// A reduction over the axes, all if there are none, by name; if they are kept, with extent 1.
    #[pyo3(signature = (name, axes, keepdims = false))]
    fn reduce(&self, py: Python<'_>, name: &str, axes: Vec<usize>, keepdims: bool) -> PyResult<Array> {
        let value = self.operand(py)?;
        let all: Vec<usize> = (0..value.shape().rank()).collect();
        let dropped = if axes.is_empty() { all } else { axes.clone() };
        let axes = if let Element::Complex(_) = value.element { dropped.clone() } else { axes };
        let reduce = |name: &str, array: &partita::Array, axes: &[usize]| {
            reduce(name, array, axes).map(|made| if keepdims { made } else { made.squeeze(&dropped) })
        };
        match (value.element, name) {
            (Element::Complex(_), "all" | "any") => {
                let truth = complex::is_nonzero(&value.array);
                recorded(
                    &Typed::from(truth.clone()),
                    reduce(name, &truth, &axes).ok_or_else(|| unknown(name))?,
                )
            }
            (Element::Complex(_), "sum" | "mean" | "sum_reproducible" | "mean_reproducible")
            | (Element::Real(_), _) => {
                if axes.is_empty() && matches!(value.element, Element::Complex(_)) {
                    return Ok(Array::of(value));
                }
                // Reproducible sums compute.
                let reduced = match name.ends_with("_reproducible") {
                    true => detached(py, || Ok(reduce(name, &value.array, &axes)))?,
                    false => reduce(name, &value.array, &axes),
                };
                recorded(&value, reduced.ok_or_else(|| unknown(name))?)
            }
            (Element::Complex(_), _) => Err(not_for(name, value.element)),
        }
    }

    /// The Fourier transform along axes of complex numbers, or its inverse, times a number.
    fn fourier(&self, py: Python<'_>, axes: Vec<usize>, inverse: bool, scale: f64) -> PyResult<Array> {
        let value = self.value(py)?;
        let direction = if inverse { Direction::Inverse } else { Direction::Forward };
        let transform = || value.with(fourier::transformed(&value.array, &axes, direction, scale));
        detached(py, transform).map(Array::of)
    }

    /// The first half of the Fourier transform along an axis of real numbers, times a number.
    fn fourier_of_reals(&self, py: Python<'_>, axis: usize, scale: f64) -> PyResult<Array> {
        let value = self.value(py)?;
        let found = detached(py, || complex::fourier::of_reals(&value.array, axis, scale))?;
        let element = Element::Complex(found.dtype());
        Ok(Array::of(Typed { array: found, element }))
    }

    /// The inverse, times a number: so many real numbers.
    fn fourier_to_reals(&self, py: Python<'_>, axis: usize, n: i64, scale: f64) -> PyResult<Array> {
        let value = self.value(py)?;
        detached(py, || complex::fourier::to_reals(&value.array, axis, n, scale))
            .map(|found| Array::of(found.into()))
    }

    /// The elements of each line along an axis in order, or their positions.
    fn sort(&self, py: Python<'_>, axis: usize, descending: bool, positions: bool) -> PyResult<Array> {
        let value = self.operand(py)?;
        match value.element {
            Element::Real(_) if positions => recorded(&value, value.array.argsort(axis, descending)),
            Element::Real(_) => recorded(&value, value.array.sort(axis, descending)),
            Element::Complex(_) => Err(not_for("sort", value.element)),
        }
    }

    /// Folds of all elements up to each along an axis, by name.
    fn scan(&self, py: Python<'_>, name: &str, axis: usize) -> PyResult<Array> {
        let value = self.operand(py)?;
        match (value.element, name) {
            (Element::Complex(_), "sum") | (Element::Real(_), _) => {
                recorded(&value, scan(name, &value.array, axis).ok_or_else(|| unknown(name))?)
            }
            (Element::Complex(_), _) => Err(not_for(name, value.element)),
        }
    }

    /// A view: per dimension of the array an element's number, which drops it, or (start, step, count), and
    /// None for a new one.
    pub fn view(&self, py: Python<'_>, selection: &Selection) -> PyResult<Array> {
        let value = self.value(py)?;
        recorded(&value, value.array.slice(&value.spans(selection.spans())))
    }

    /// Replaces the elements of a view; with `part` only the real (0) or imaginary (1) parts of complex
    /// elements, by real numbers. Computes.
    #[pyo3(signature = (selection, value, part = None))]
    pub fn assign_view(
        &self,
        py: Python<'_>,
        selection: &Selection,
        value: &Array,
        part: Option<i64>,
    ) -> PyResult<()> {
        let value = value.value(py)?;
        let spans = selection.spans().into_iter().chain(part.map(Span::At));
        let spans = value.spans(spans.collect());
        self.changed(py, &value, |target, value| target.assign(&spans, value))
    }

    /// The elements whose coordinate in dimension 1 is `offset` larger than that in dimension 0, as the last
    /// dimension.
    fn diagonal(&self, py: Python<'_>, offset: i64) -> PyResult<Array> {
        let value = self.operand(py)?;
        let diagonal = value.array.diagonal(offset);
        let mut order: Vec<usize> = (0..diagonal.rank()).collect();
        if let Element::Complex(_) = value.element {
            // The pair is the last dimension again.
            order.swap(diagonal.rank() - 2, diagonal.rank() - 1);
        }
        recorded(&value, diagonal.transpose(&order))
    }

    /// True if the value is in memory, so that reading it computes nothing.
    fn is_computed(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.value(py)?.array.is_computed())
    }

    /// True if all parts, those of other processes too, are in the memory of hosts.
    fn is_on_host(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.value(py)?.array.team().is_on_host())
    }

    /// True if the step of a `Loop` that is under way may read it: all steps find the same elements.
    fn is_constant(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.value(py)?.array.is_constant())
    }

    /// True if both were recorded by the same operations of the same values.
    fn is_recorded_as(&self, py: Python<'_>, other: &Array) -> PyResult<bool> {
        Ok(self.value(py)?.array.is_recorded_as(&other.value(py)?.array))
    }

    /// True if the value is in memory, or a view of one that is.
    fn is_in_memory(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.value(py)?.array.is_in_memory())
    }

    /// Without these dimensions of extent 1.
    fn squeeze(&self, py: Python<'_>, axes: Vec<usize>) -> PyResult<Array> {
        let value = self.value(py)?;
        detached(py, || value.with(value.array.squeeze(&axes))).map(Array::of)
    }

    /// The elements on another distribution, which may be over another team of the same processes.
    fn redistribute(&self, py: Python<'_>, dist: &Distribution) -> PyResult<Array> {
        let value = self.value(py)?;
        let moved = || value.with(value.array.move_to(&dist.team, &value.element.stored(&dist.dist)?));
        detached(py, moved).map(Array::of)
    }

    /// The same elements under the indices of a domain of this shape, or by position.
    fn over_domain(&self, py: Python<'_>, ranges: Option<Vec<Triple>>) -> PyResult<Array> {
        let value = self.value(py)?;
        let domain = ranges.map(|ranges| domain(value.per_dimension(ranges, (0, 2, 1)))).transpose()?;
        let under =
            || domain.as_ref().map_or_else(|| value.array.by_position(), |domain| value.array.over(domain));
        detached(py, || value.with(under())).map(Array::of)
    }

    /// The ranges of the domain that somebody chose, or None.
    fn domain(&self, py: Python<'_>) -> PyResult<Option<Vec<Triple>>> {
        let value = self.value(py)?;
        let ranges = || triples(&value.array.domain()).drain(..value.shape().rank()).collect();
        Ok(value.array.is_over_domain().then(ranges))
    }

    /// An array of another shape, divided in the same way. Computes.
    fn resized(&self, py: Python<'_>, shape: Vec<i64>) -> PyResult<Array> {
        let value = self.value(py)?;
        let shape = value.per_dimension(shape, 2);
        detached(py, || value.with(value.array.resize(&shape)?)).map(Array::of)
    }

    /// Begins to get a box of cells for every part; `show` makes the result of what each part of this process
    /// has then. Computes.
    fn request(
        &self,
        py: Python<'_>,
        boxes: Vec<Vec<(i64, i64)>>,
        show: Py<PyAny>,
    ) -> PyResult<PendingCollective> {
        let value = self.value(py)?;
        let asked = |spans: Vec<(i64, i64)>| {
            let (start, stop): (Vec<i64>, Vec<i64>) = value.per_dimension(spans, (0, 2)).into_iter().unzip();
            Region::new(&start, &stop)
        };
        let boxes = boxes.into_iter().map(asked).collect::<Result<Vec<Region>, _>>().map_err(raised)?;
        let begun = detached(py, || value.array.start_request(&boxes))?;
        Ok(PendingCollective::of(move |py| {
            let got = detached(py, || begun.finish())?;
            let here = got.iter().filter(|got| value.array.team().is_here(got.part()));
            let here = here.map(|got| part_handle::requested(got, value.element));
            show.call1(py, (here.collect::<PyResult<Vec<RequestedFacts>>>()?,))
        }))
    }

    /// The elements that `axes` select: per dimension of the result (dimension, start, step, count), or
    /// (None, 0, 0, count) for a new one.
    fn rearranged(&self, py: Python<'_>, axes: Vec<(Option<usize>, i64, i64, i64)>) -> PyResult<Array> {
        let value = self.value(py)?;
        let along = |(dim, start, step, count)| match dim {
            Some(dim) => Stride::Of { dim, start, step, count },
            None => Stride::New { count },
        };
        let axes = value.strides(axes.into_iter().map(along).collect());
        detached(py, || value.with(value.array.rearranged(&axes))).map(Array::of)
    }

    /// The arrays one behind the other along a new dimension.
    #[staticmethod]
    fn stack(py: Python<'_>, arrays: Vec<Bound<'_, Array>>, axis: usize) -> PyResult<Array> {
        joined(py, &arrays, |arrays| partita::Array::stack(arrays, axis))
    }

    /// The arrays one behind the other along a dimension.
    #[staticmethod]
    fn concatenate(py: Python<'_>, arrays: Vec<Bound<'_, Array>>, axis: usize) -> PyResult<Array> {
        joined(py, &arrays, |arrays| partita::Array::concatenate(arrays, axis))
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
        let typed = self.operand(py)?;
        let with = match mode {
            "constant" => {
                let number = number(value, typed.element)?;
                return typed.padded(&widths, number).map(Array::of).map_err(raised);
            }
            "edge" => Padding::Edge,
            "wrap" => Padding::Wrap,
            "reflect" => Padding::Reflect,
            "symmetric" => Padding::Symmetric,
            _ => return Err(unknown(mode)),
        };
        recorded(&typed, typed.array.pad(&typed.per_dimension(widths, (0, 0)), with))
    }

    /// Element i of the result is element i - offsets, wrapping around.
    fn roll(&self, py: Python<'_>, offsets: Vec<i64>) -> PyResult<Array> {
        let value = self.operand(py)?;
        recorded(&value, value.array.roll(&value.per_dimension(offsets, 0)))
    }

    /// The same elements in C order in another shape.
    fn reshaped(&self, py: Python<'_>, shape: Vec<i64>) -> PyResult<Array> {
        let value = self.value(py)?;
        let shape = value.per_dimension(shape, 2);
        detached(py, || value.with(value.array.reshape(&shape))).map(Array::of)
    }

    /// An array of this shape of the elements with these numbers in C order.
    fn gathered(&self, py: Python<'_>, shape: Vec<i64>, positions: PyBuffer<i64>) -> PyResult<Array> {
        let (value, positions) = (self.value(py)?, bytes::of(&positions)?);
        let (shape, positions) = (value.per_dimension(shape, 2), value.positions(positions).map_err(raised)?);
        detached(py, || value.with(value.array.gather(&shape, &positions))).map(Array::of)
    }

    /// The elements of a one-dimensional array of real numbers where a mask is true. Computes.
    fn compressed(&self, py: Python<'_>, mask: &Array) -> PyResult<Array> {
        let (value, mask) = (self.value(py)?, mask.value(py)?);
        detached(py, || value.with(value.array.compress(&mask.array)?)).map(Array::of)
    }

    /// The elements of a one-dimensional array of real numbers at indices. Computes.
    fn taken(&self, py: Python<'_>, indices: &Array) -> PyResult<Array> {
        let (value, indices) = (self.value(py)?, indices.value(py)?);
        detached(py, || value.with(value.array.take(&indices.array)?)).map(Array::of)
    }

    /// Replaces the elements with these numbers in C order by a line of values. Computes.
    fn scatter(&self, py: Python<'_>, positions: PyBuffer<i64>, value: &Array) -> PyResult<()> {
        let value = value.value(py)?;
        let positions = value.positions(bytes::of(&positions)?).map_err(raised)?;
        let line = match value.element {
            Element::Real(_) => value,
            Element::Complex(_) => {
                let count = [2 * value.shape()[0]];
                let array = detached(py, || Ok(value.array.reshape(&count)))?;
                Typed { array, element: value.element }
            }
        };
        self.changed(py, &line, |target, value| {
            keeping_layout(target, |target| target.scatter(&positions, value))
        })
    }
}

/// A function that complex numbers have not.
fn not_for(name: &str, element: Element) -> PyErr {
    let given = format!("{name}: expected real numbers, given {}", element.name());
    PyTypeError::new_err(format!("{given}; apply it to partita.real(x), imag(x) or abs(x)"))
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
    *target = changed.redistribute(&layout);
    Ok(())
}

/// What is made of several arrays of one type.
fn joined(
    py: Python<'_>,
    arrays: &[Bound<'_, Array>],
    join: impl FnOnce(&[&partita::Array]) -> partita::Array,
) -> PyResult<Array> {
    let values = arrays.iter().map(|array| array.get().operand(py)).collect::<PyResult<Vec<_>>>()?;
    let made = join(&values.iter().map(|value| &value.array).collect::<Vec<&partita::Array>>());
    match values.first() {
        Some(first) => recorded(first, made),
        None => plain_result(made),
    }
}

/// A new handle to what was made of the first. Errors of operands are raised now, where they are made, rather
/// than when the result is used.
fn recorded(from: &Typed, array: partita::Array) -> PyResult<Array> {
    let made = match from.element {
        Element::Complex(_) => from.with(array).map_err(raised)?,
        Element::Real(_) => {
            array.distribution().map_err(raised)?;
            Typed::from(array)
        }
    };
    Ok(Array::of(made))
}
