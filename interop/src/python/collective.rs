//! The classes of partitions of teams and of linear operators between arrays over them.

use partita::array::collective::{Data, PendingCollective as UnderWay};
use partita::plan::Plan;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use super::arrays::array::Array;
use super::arrays::convert::tuple;
use super::arrays::typed::Typed;
use super::device::Team;
use super::distribution::Distribution;
use super::pending::PendingCollective;
use super::runtime::{detached, raised};
use crate::complex;
use crate::element::Element;
use crate::foreign::array_object::made;

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

/// A small Python value as data for other processes.
fn packed(value: &Bound<'_, PyAny>) -> PyResult<Data> {
    let bytes = value.py().import("pickle")?.call_method1("dumps", (value,))?.extract::<Vec<u8>>()?;
    Ok(Data::line(&bytes))
}

fn unpacked<'py>(py: Python<'py>, data: &Data) -> PyResult<Bound<'py, PyAny>> {
    py.import("pickle")?.call_method1("loads", (PyBytes::new(py, &data.bytes),))
}

impl Partition {
    /// A rank that is given, or that of this process's member.
    fn rank_or(&self, operation: &str, given: Option<i64>) -> PyResult<usize> {
        if let Some(rank) = given {
            return Ok(counted(operation, vec![rank])?[0]);
        }
        let here = self.0.ranks_here();
        let [rank] = here[..] else {
            let text =
                format!("{operation}: expected a process with one member, given one with ranks {here:?}");
            return Err(PyValueError::new_err(format!(
                "{text}; name a rank, or ask first if it is `active`"
            )));
        };
        Ok(rank)
    }
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

    /// Number of members. Local, as is all but what says otherwise: every process knows every partition.
    #[getter]
    fn size(&self) -> usize {
        self.0.members().size()
    }

    /// True if this process has a member. One that has none cannot communicate in the partition: an error.
    #[getter]
    fn active(&self) -> bool {
        !self.0.ranks_here().is_empty()
    }

    /// The rank of this process's member; ValueError if it has none, or several.
    #[getter]
    fn rank(&self) -> PyResult<usize> {
        self.rank_or("Partition.rank", None)
    }

    /// The place of this process's member in the grid: on a line its rank alone; ValueError as for `rank`.
    #[getter]
    fn index<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.cartesian_index(py, None)
    }

    /// The place of a rank in the grid, by default that of this process's member.
    #[pyo3(signature = (rank = None))]
    fn cartesian_index<'py>(&self, py: Python<'py>, rank: Option<i64>) -> PyResult<Bound<'py, PyTuple>> {
        let rank = self.rank_or("Partition.index", rank)?;
        let grid = self.0.members().grid();
        grid.check_part(rank).map_err(raised)?;
        tuple(py, &grid.coordinate(rank))
    }

    /// The ranks (left, right) of a rank per dimension of the grid, by default of this process's member. None
    /// at the ends of dimensions that are not `periodic`, of which there is a bool for each.
    #[pyo3(signature = (rank = None, periodic = None))]
    fn neighbor_ranks<'py>(
        &self,
        py: Python<'py>,
        rank: Option<i64>,
        periodic: Option<Vec<bool>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let rank = self.rank_or("Partition.neighbor_ranks", rank)?;
        let periodic = periodic.unwrap_or_else(|| vec![false; self.0.shape().rank()]);
        PyTuple::new(py, self.0.members().grid().neighbors(rank, &periodic).map_err(raised)?)
    }

    /// The members that differ from a rank, by default that of this process's member, along the dimensions of
    /// the grid that are kept alone, in a grid of these; as `MPI_Cart_sub`.
    #[pyo3(signature = (keep, rank = None))]
    fn sub_topology(&self, keep: Vec<bool>, rank: Option<i64>) -> PyResult<Partition> {
        let rank = self.rank_or("Partition.sub_topology", rank)?;
        self.0.sub_topology(rank, &keep).map(Partition).map_err(raised)
    }

    /// A small object, which pickle takes, of the member of rank `root` of this partition, or of `source`, a
    /// part of it, at all members. Collective over the processes that have members; in others ValueError.
    #[pyo3(signature = (value, root = 0, source = None))]
    fn broadcast_data<'py>(
        &self,
        value: &Bound<'py, PyAny>,
        root: i64,
        source: Option<&Partition>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, from) = (value.py(), &source.unwrap_or(self).0);
        let root = counted("Partition.broadcast_data", vec![root])?[0];
        let mine = from.ranks_here().contains(&root).then(|| packed(value)).transpose()?;
        let data = move || mine.unwrap_or_else(|| Data::line::<u8>(&[]));
        unpacked(py, &detached(py, || from.broadcast_data(root, &self.0, data))?)
    }

    /// Small objects of all members at each of them, by rank; `values` are those of this process's members.
    /// Collective over the processes that have members; in others ValueError.
    fn allgather_data<'py>(
        &self,
        py: Python<'py>,
        values: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let (expected, given) = (self.0.ranks_here().len(), values.len());
        if given != expected {
            let text = format!("Partition.allgather_data: expected {expected} values, given {given}");
            return Err(PyValueError::new_err(format!("{text}; pass one per member of this process")));
        }
        let mut mine = values.iter().map(packed).collect::<PyResult<Vec<Data>>>()?.into_iter();
        let next = move |_| mine.next().unwrap_or_else(|| Data::line::<u8>(&[]));
        let all = detached(py, || self.0.allgather_data(next))?;
        all.iter().map(|data| unpacked(py, data)).collect()
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
        let applied = |real: &partita::Array| self.operator.forward(real);
        detached(py, || joined(value.element, real_arrays(&value).iter().map(applied))).map(Array::of)
    }

    /// Applies it and writes the result into the memory of the array. Computes; collective over the world.
    fn overwrite(&self, py: Python<'_>, x: &Array) -> PyResult<()> {
        let result = self.forward(py, x)?.value(py)?;
        x.changed(py, &result, |target, result| target.overwrite(result))
    }

    /// Begins to apply it; `finish` gives the result. Computes; both are collective over the world.
    fn start(&self, py: Python<'_>, x: &Array) -> PyResult<PendingCollective> {
        let value = x.value(py)?;
        let begun = |real: &partita::Array| self.operator.start(real);
        let under_way: Vec<UnderWay> = detached(py, || real_arrays(&value).iter().map(begun).collect())?;
        Ok(PendingCollective::of(move |py| {
            let ended = || joined(value.element, under_way.into_iter().map(UnderWay::finish));
            Ok(made(Bound::new(py, Array::of(detached(py, ended)?))?)?.unbind())
        }))
    }

    /// The bytes that it sends for an array, link by link.
    fn explain(&self, py: Python<'_>, x: &Array) -> PyResult<String> {
        let value = x.value(py)?;
        let dist = value.distribution().map_err(raised)?;
        let plans = self.operator.plans(&dist).map_err(raised)?;
        let [from, to] = [self.operator.source(), self.operator.target()].map(|over| over.members().ids());
        let say = |plan: &Plan| plan.explain(value.element.size_bytes()).of_members(from, to).to_string();
        Ok(plans.iter().map(say).collect::<Vec<String>>().join("\n"))
    }

    fn __repr__(&self) -> String {
        let (from, to) = (self.operator.source().members(), self.operator.target().members());
        format!("<partita.Collective {} from grid {} to grid {}>", self.name, from.grid(), to.grid())
    }
}

/// An array, or the real and imaginary parts of one.
fn real_arrays(value: &Typed) -> Vec<partita::Array> {
    match value.element {
        Element::Real(_) => vec![value.array.clone()],
        Element::Complex(_) => [0, 1].map(|which| complex::part(&value.array, which)).to_vec(),
    }
}

/// The array of these elements of which such are the parts.
fn joined(
    element: Element,
    parts: impl Iterator<Item = partita::Result<partita::Array>>,
) -> partita::Result<Typed> {
    let parts = parts.collect::<partita::Result<Vec<partita::Array>>>()?;
    let array = match &parts[..] {
        [re, im] => complex::joined(re, im)?,
        _ => parts[0].clone(),
    };
    Ok(Typed { array, element })
}
