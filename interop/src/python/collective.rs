//! The classes of partitions of teams and of linear operators between arrays over them.

use partita::plan::Plan;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::arrays::array::Array;
use super::arrays::convert::tuple;
use super::arrays::typed::Typed;
use super::device::Team;
use super::distribution::Distribution;
use super::runtime::{detached, raised};
use crate::complex;
use crate::element::Element;

/// Some members of a team, in an order and a grid, over which arrays are divided.
#[pyclass(frozen, eq, module = "partita")]
#[derive(Clone, PartialEq)]
pub struct Partition(partita::prelude::Partition);

/// Ranks and axes, which count from 0.
fn counted(operation: &str, given: Vec<i64>) -> PyResult<Vec<usize>> {
    given.iter().map(|&n| usize::try_from(n)).collect::<Result<_, _>>().map_err(|_| {
        PyValueError::new_err(format!("{operation}: expected numbers from 0, given {given:?}; count from 0"))
    })
}

#[pymethods]
impl Partition {
    /// All members of a team, on a line or in a grid.
    #[new]
    #[pyo3(signature = (team, grid = None))]
    fn new(team: &Team, grid: Option<Vec<i64>>) -> PyResult<Partition> {
        let world = partita::prelude::Partition::world(&team.0);
        let made = match grid {
            Some(grid) => world.and_then(|world| world.cartesian(&grid)),
            None => world,
        };
        made.map(Partition).map_err(raised)
    }

    /// The members with these ranks, in the order of the list, on a line.
    fn inclusive(&self, ranks: Vec<i64>) -> PyResult<Partition> {
        self.0.inclusive(&counted("Partition.inclusive", ranks)?).map(Partition).map_err(raised)
    }

    /// The members of this one in their order, then those of the other that are new; on a line.
    fn union(&self, other: &Partition) -> PyResult<Partition> {
        self.0.union(&other.0).map(Partition).map_err(raised)
    }

    /// The same members in a grid, in C order.
    fn cartesian(&self, shape: Vec<i64>) -> PyResult<Partition> {
        self.0.cartesian(&shape).map(Partition).map_err(raised)
    }

    /// The numbers of its members in the team it was made from, by rank.
    #[getter]
    fn members<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.members().ids())
    }

    /// The extents of its grid.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.0.shape())
    }

    /// Its members as a team of their own: arrays over the partition are made on it.
    #[getter]
    fn team(&self) -> PyResult<Team> {
        self.0.team().map(Team).map_err(raised)
    }

    fn __len__(&self) -> usize {
        self.0.members().size()
    }

    fn __hash__(&self) -> isize {
        self.0.members().ids().iter().fold(3, |hash: isize, &id| hash.wrapping_mul(31) ^ id as isize)
    }

    fn __repr__(&self) -> String {
        let members = self.0.members();
        format!("<partita.Partition of members {:?} in grid {}>", members.ids(), members.grid())
    }
}

/// A linear operator from arrays over one partition to arrays over another: call it.
#[pyclass(frozen, eq, module = "partita")]
#[derive(Clone, PartialEq)]
pub struct Collective {
    name: &'static str,
    operator: partita::prelude::Collective,
}

#[pymethods]
impl Collective {
    /// The operator of a name from arrays over one partition to arrays over another, or the same. `numbers`
    /// are axes of the grid, or the rank of the root; `halo` is the distribution whose halos are exchanged;
    /// layouts are the requested divisions.
    #[new]
    #[pyo3(signature = (name, source, target, numbers, halo = None, layout = None, adjoint_layout = None))]
    fn new(
        name: &str,
        source: &Partition,
        target: &Partition,
        numbers: Vec<i64>,
        halo: Option<&Distribution>,
        layout: Option<&Distribution>,
        adjoint_layout: Option<&Distribution>,
    ) -> PyResult<Collective> {
        type Made = partita::prelude::Collective;
        let numbers = counted(name, numbers)?;
        let (from, to, root) = (&source.0, &target.0, numbers.first().copied().unwrap_or_default());
        let (name, made) = match (name, halo) {
            ("broadcast", _) => ("broadcast", Made::broadcast(from, to)),
            ("sum_reduce", _) => ("sum_reduce", Made::sum_reduce(from, to)),
            ("all_sum_reduce", _) => ("all_sum_reduce", Made::all_sum_reduce(from, &numbers)),
            ("halo_exchange", Some(halo)) => ("halo_exchange", Made::halo_exchange(from, &halo.dist)),
            ("repartition", _) => ("repartition", Made::repartition(from, to)),
            ("gather", _) => ("gather", Made::gather(from, root)),
            ("scatter", _) => ("scatter", Made::scatter(to, root)),
            ("allgather", _) => ("allgather", Made::allgather(from, &numbers)),
            _ => return Err(PyValueError::new_err(format!("expected an operator, given {name}"))),
        };
        let mut operator = made.map_err(raised)?;
        if let Some(layout) = layout {
            operator = operator.with_layout(&layout.dist);
        }
        if let Some(layout) = adjoint_layout {
            operator = operator.with_adjoint_layout(&layout.dist);
        }
        Ok(Collective { name, operator })
    }

    /// The transposed operator: <F x, y> == <x, F.adjoint y>, as sums over all elements.
    #[getter]
    fn adjoint(&self) -> Collective {
        let name = match self.name {
            "broadcast" => "sum_reduce",
            "sum_reduce" => "broadcast",
            "gather" => "scatter",
            "scatter" => "gather",
            "halo_exchange" => "halo_exchange.adjoint",
            "halo_exchange.adjoint" => "halo_exchange",
            "allgather" => "allgather.adjoint",
            "allgather.adjoint" => "allgather",
            // Its own adjoint, or one of the same kind.
            other => other,
        };
        Collective { name, operator: self.operator.adjoint() }
    }

    /// The partition of the arrays it is applied to.
    #[getter]
    fn source(&self) -> Partition {
        Partition(self.operator.source().clone())
    }

    /// The partition of the arrays it makes.
    #[getter]
    fn target(&self) -> Partition {
        Partition(self.operator.target().clone())
    }

    /// The name.
    #[getter]
    fn name(&self) -> &'static str {
        self.name
    }

    /// Applies it. Recorded: computing the result is collective over the world that the partitions are of.
    fn forward(&self, py: Python<'_>, x: &Array) -> PyResult<Array> {
        let value = x.value(py)?;
        let forward = |real: &partita::Array| self.operator.forward(real);
        let made = || match value.element {
            Element::Real(_) => forward(&value.array).map(Typed::from),
            Element::Complex(_) => {
                let halves = [0, 1].map(|which| forward(&complex::part(&value.array, which)));
                let [re, im] = halves;
                Ok(Typed { array: complex::joined(&re?, &im?)?, element: value.element })
            }
        };
        detached(py, made).map(Array::of)
    }

    /// The bytes that it sends for an array, link by link.
    fn explain(&self, py: Python<'_>, x: &Array) -> PyResult<String> {
        let value = x.value(py)?;
        let dist = value.distribution().map_err(raised)?;
        let plans = self.operator.plans(&dist).map_err(raised)?;
        let say = |plan: &Plan| plan.explain(value.element.size_bytes()).to_string();
        Ok(plans.iter().map(say).collect::<Vec<String>>().join("\n"))
    }

    fn __repr__(&self) -> String {
        let (from, to) = (self.operator.source().members(), self.operator.target().members());
        format!("<partita.Collective {} from grid {} to grid {}>", self.name, from.grid(), to.grid())
    }
}
