//! The classes of distributions: the owner and the storage of every cell.

use partita::index::{DimMap, DistributionBuilder, Index, IndexSet};
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::arrays::convert::tuple;
use super::device::{Team, default_team};
use super::distribution_facts::DistributionFacts;
use super::runtime::raised;

/// An entry of `dims`: an object of `partita._api.dims`, by its attributes.
#[derive(FromPyObject)]
enum Division<'py> {
    Block { bounds: Option<Vec<i64>> },
    Cyclic { block_size: i64 },
    Unstructured { indices_per_part: Vec<Bound<'py, PyAny>>, one_to_one: bool },
    Replicated { _is_replicated: bool },
}

/// Widths of halo or boundary: everywhere the same, or per dimension, or per dimension (below, above).
#[derive(FromPyObject)]
enum Widths {
    Everywhere(i64),
    PerDimension(Vec<DimensionWidths>),
}

#[derive(FromPyObject)]
enum DimensionWidths {
    Both(i64),
    Sides((i64, i64)),
    PerPart(Vec<(i64, i64)>),
}

impl Widths {
    /// Widths below and above per dimension; 0 where they are given per part.
    fn sides(&self, rank: usize) -> (Vec<i64>, Vec<i64>) {
        match self {
            Widths::Everywhere(width) => (vec![*width; rank], vec![*width; rank]),
            Widths::PerDimension(widths) => widths
                .iter()
                .map(|width| match *width {
                    DimensionWidths::Both(width) => (width, width),
                    DimensionWidths::Sides(sides) => sides,
                    DimensionWidths::PerPart(_) => (0, 0),
                })
                .unzip(),
        }
    }

    /// Dimensions whose widths are given per part.
    fn per_part(&self) -> impl Iterator<Item = (usize, &[(i64, i64)])> {
        let widths = match self {
            Widths::Everywhere(_) => &[][..],
            Widths::PerDimension(widths) => widths,
        };
        widths.iter().enumerate().filter_map(|(d, width)| match width {
            DimensionWidths::PerPart(widths) => Some((d, &widths[..])),
            DimensionWidths::Both(_) | DimensionWidths::Sides(_) => None,
        })
    }
}

#[derive(FromPyObject)]
enum Flags {
    Everywhere(bool),
    PerDimension(Vec<bool>),
}

/// A shape, or the extent of the only dimension.
#[derive(FromPyObject)]
pub enum Shape {
    /// Any number of dimensions; first, because arrays are made with a tuple, and a refusal takes time.
    Box(Vec<i64>),
    /// One dimension.
    Line(i64),
}

impl Shape {
    /// The extents.
    pub fn extents(self) -> Vec<i64> {
        match self {
            Shape::Line(extent) => vec![extent],
            Shape::Box(extents) => extents,
        }
    }
}

/// The cells of an array that each part of a team owns and stores.
#[pyclass(frozen, eq, module = "partita")]
#[derive(Clone, PartialEq)]
pub struct Distribution {
    /// The team that holds the parts.
    pub team: partita::Team,
    /// The division.
    pub dist: partita::Distribution,
}

/// Runs of cells, as (start, stop).
type Runs = Vec<(i64, i64)>;

fn given<'py, T: for<'a> FromPyObject<'a, 'py>>(
    value: &Bound<'py, PyAny>,
    name: &str,
    expected: &str,
) -> PyResult<T> {
    value.extract().map_err(|_| {
        PyTypeError::new_err(format!("Distribution: expected {name} {expected}, given {value}; see its help"))
    })
}

#[pymethods]
impl Distribution {
    #[new]
    #[pyo3(signature = (
        shape, team = None, grid = None, dims = None, halo = None, periodic = None, boundary = None,
    ))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        shape: &Bound<'_, PyAny>,
        team: Option<&Team>,
        grid: Option<Vec<i64>>,
        dims: Option<&Bound<'_, PyAny>>,
        halo: Option<&Bound<'_, PyAny>>,
        periodic: Option<&Bound<'_, PyAny>>,
        boundary: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Distribution> {
        let shape = given::<Shape>(shape, "shape", "an int or a tuple of ints")?.extents();
        let rank = shape.len();
        let team = match team {
            Some(team) => team.0.clone(),
            None => default_team(py)?,
        };
        let widths = "an int, one per dimension, or pairs (below, above)";
        let mut builder = partita::Distribution::builder(&shape).parts(team.size());
        if let Some(grid) = &grid {
            builder = builder.grid(grid);
        }
        if let Some(halo) = halo {
            let per_part = "an int, one per dimension, pairs (below, above), or lists of pairs, one per part";
            let halo = given::<Widths>(halo, "halo", per_part)?;
            let (lo, hi) = halo.sides(rank);
            builder = builder.halo(&lo, &hi);
            builder = halo.per_part().fold(builder, |builder, (d, widths)| builder.halo_per_part(d, widths));
        }
        if let Some(boundary) = boundary {
            let boundary = given::<Widths>(boundary, "boundary", widths)?;
            if boundary.per_part().next().is_some() {
                let text =
                    "Distribution: expected boundary an int, one per dimension, or pairs (below, above)";
                return Err(PyTypeError::new_err(format!(
                    "{text}, given a list of pairs; it is the same all along"
                )));
            }
            let (lo, hi) = boundary.sides(rank);
            builder = builder.boundary(&lo, &hi);
        }
        if let Some(periodic) = periodic {
            builder = builder.periodic(&match given(periodic, "periodic", "a bool or one per dimension")? {
                Flags::Everywhere(flag) => vec![flag; rank],
                Flags::PerDimension(flags) => flags,
            });
        }
        if let Some(dims) = dims {
            builder = divided(builder, dims, rank)?;
        }
        Ok(Distribution { team, dist: builder.build().map_err(raised)? })
    }

    /// The global shape.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, &self.dist.shape())
    }

    /// Number of dimensions.
    #[getter]
    fn ndim(&self) -> usize {
        self.dist.rank()
    }

    /// Number of parts, empty ones included.
    #[getter]
    fn num_parts(&self) -> usize {
        self.dist.parts()
    }

    /// The arrangement of the parts.
    #[getter]
    fn grid<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.dist.grid().shape())
    }

    /// The team whose members hold the parts.
    #[getter]
    fn team(&self) -> Team {
        Team(self.team.clone())
    }

    /// Declared halo widths per dimension, as pairs (below, above); the widest where parts differ.
    #[getter]
    fn halo<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        pairs(py, self.dist.halo())
    }

    /// Halo widths of one part per dimension, as pairs (below, above): none where there is nothing to copy.
    fn halo_of<'py>(&self, py: Python<'py>, part: i64) -> PyResult<Bound<'py, PyTuple>> {
        pairs(py, self.dist.halo_of(self.part(part)?))
    }

    /// Boundary widths per dimension, as pairs (below, above).
    #[getter]
    fn boundary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        pairs(py, self.dist.boundary())
    }

    /// The periodic dimensions.
    #[getter]
    fn periodic<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, (0..self.dist.rank()).map(|d| self.dist.periodic(d)))
    }

    /// The kind of map of every dimension: 'block', 'cyclic', 'unstructured', ...
    #[getter]
    fn kinds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, (0..self.dist.rank()).map(|d| self.dist.map(d).kind()))
    }

    /// The cells of a part: per dimension (start, stop), or an index array where they are no range.
    fn owned<'py>(&self, py: Python<'py>, part: i64) -> PyResult<Bound<'py, PyTuple>> {
        owned(py, &self.dist, self.part(part)?)
    }

    /// The part that owns a cell.
    fn owner(&self, index: &Bound<'_, PyAny>) -> PyResult<usize> {
        self.dist.owner(&cell("owner", index)?).map_err(raised)
    }

    /// Every part that holds a cell, the owner first.
    fn holders(&self, index: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
        self.dist.holders(&cell("holders", index)?).map_err(raised)
    }

    /// The part that owns a cell, and the cell's place in the part's stored memory, halo included.
    fn to_local<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<(usize, Bound<'py, PyTuple>)> {
        let (part, local) = self.dist.to_local(&cell("to_local", index)?).map_err(raised)?;
        Ok((part, tuple(py, &local)?))
    }

    /// The cell at a place of a part's stored memory.
    fn to_global<'py>(
        &self,
        py: Python<'py>,
        part: i64,
        local_index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let global = self.dist.to_global(self.part(part)?, &cell("to_global", local_index)?);
        tuple(py, &global.map_err(raised)?)
    }

    /// The (left, right) neighbours of a part per dimension; None at an end.
    fn neighbors<'py>(&self, py: Python<'py>, part: i64) -> PyResult<Bound<'py, PyTuple>> {
        let neighbors = self.dist.neighbors(self.part(part)?).map_err(raised)?;
        PyTuple::new(py, neighbors)
    }

    /// The layout in which every part has its own cells and its halo side by side, so that halos are elements
    /// like others: what a halo exchange is applied to. Of blocks only.
    fn padded(&self) -> PyResult<Distribution> {
        let dist = partita::prelude::Collective::padded(&self.dist).map_err(raised)?;
        Ok(Distribution { team: self.team.clone(), dist })
    }

    /// The drawing of the distribution, as SVG text.
    fn svg(slf: &Bound<'_, Self>) -> PyResult<String> {
        slf.py().import("partita._core.describe.drawing")?.getattr("svg")?.call1((slf,))?.extract()
    }

    /// For drawings: the map of dimension `d` in words, and for each of its parts the runs of the cells that
    /// it holds and of those that it owns, at most `most` of each.
    fn _division(&self, d: usize, most: usize) -> (String, Vec<[Runs; 2]>) {
        let map = self.dist.map(d);
        let runs = |set: IndexSet| set.runs().take(most).collect();
        let parts = (0..map.parts()).map(|part| [map.owned_set(part), map.owned_once(part)].map(runs));
        (map.to_string(), parts.collect())
    }

    /// The facts, and a map in characters of who owns what.
    fn __str__(&self) -> String {
        self.dist.to_string()
    }

    fn __repr__(&self) -> String {
        let kinds: Vec<&str> = (0..self.dist.rank()).map(|d| self.dist.map(d).kind()).collect();
        let (shape, grid) = (self.dist.shape(), self.dist.grid());
        format!(
            "<partita.Distribution {shape}, {} parts in grid {grid}, {}>",
            self.dist.parts(),
            kinds.join(" x ")
        )
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> String {
        // Text for distributions that cannot be drawn.
        Self::svg(slf).unwrap_or_else(|_| format!("<pre>{}</pre>", slf.get().dist))
    }

    /// By the team and the facts; see `partita._core.ranks.teams`.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Team, DistributionFacts))> {
        let again = py.import("partita._native")?.getattr("distribution_of")?;
        Ok((again, (self.team(), DistributionFacts::of(&self.dist)?)))
    }

    /// The distribution itself, which never changes.
    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    /// The distribution itself, which never changes.
    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __hash__(&self) -> isize {
        self.dist
            .shape()
            .iter()
            .fold(self.dist.parts() as isize, |hash, &n| hash.wrapping_mul(31) ^ n as isize)
    }
}

impl Distribution {
    fn part(&self, part: i64) -> PyResult<usize> {
        let Ok(number) = usize::try_from(part) else {
            let parts = self.dist.parts();
            let text = format!("part number: expected a part from 0, below {parts}, given {part}");
            return Err(PyIndexError::new_err(format!("{text}; parts are counted from 0")));
        };
        self.dist.check_part(number).map_err(raised)?;
        Ok(number)
    }
}

/// The coordinates of a cell.
fn cell(operation: &str, index: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    index.extract::<Shape>().map(Shape::extents).map_err(|_| {
        let expected = "an int, or one per dimension";
        PyTypeError::new_err(format!(
            "Distribution.{operation}: expected {expected}, given {index}; pass a tuple"
        ))
    })
}

fn divided(
    mut builder: DistributionBuilder,
    dims: &Bound<'_, PyAny>,
    rank: usize,
) -> PyResult<DistributionBuilder> {
    let expected = "a Block, Cyclic, Unstructured, Replicated or None per dimension";
    let dims: Vec<Option<Division<'_>>> = given(dims, "dims", expected)?;
    if dims.len() != rank {
        let text =
            format!("Distribution: expected {rank} dims, given {}; give one per dimension", dims.len());
        return Err(PyValueError::new_err(text));
    }
    for (d, division) in dims.iter().enumerate() {
        builder = match division {
            None | Some(Division::Block { bounds: None }) => builder,
            Some(Division::Block { bounds: Some(bounds) }) => builder.bounds(d, bounds),
            Some(Division::Cyclic { block_size }) => builder.cyclic(d, *block_size),
            Some(Division::Replicated { .. }) => builder.replicated(d),
            Some(Division::Unstructured { indices_per_part, one_to_one }) => {
                let lists = indices_per_part.iter().map(indices).collect::<PyResult<Vec<Vec<i64>>>>()?;
                builder.map(d, DimMap::unstructured(&lists, *one_to_one).map_err(raised)?)
            }
        };
    }
    Ok(builder)
}

fn indices(list: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    let mut indices = Vec::new();
    let refused = |_| PyMemoryError::new_err("Unstructured: no memory for the indices of a part");
    indices.try_reserve_exact(list.len()?).map_err(refused)?;
    for index in list.try_iter()? {
        indices.push(index?.extract()?);
    }
    Ok(indices)
}

fn pairs<'py>(py: Python<'py>, (lo, hi): (Index, Index)) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, lo.iter().copied().zip(hi.iter().copied()))
}

/// The indices that a part owns: per dimension (start, stop), or a NumPy array of indices.
pub fn owned<'py>(
    py: Python<'py>,
    dist: &partita::Distribution,
    part: usize,
) -> PyResult<Bound<'py, PyTuple>> {
    let sets = dist.owned_set(part).map_err(raised)?;
    let described = sets.iter().map(|set| match set {
        IndexSet::Range(range) if range.stride() == 1 => {
            let start = range.first();
            Ok((start, start + range.len()).into_pyobject(py)?.into_any())
        }
        set => {
            let indices = PyList::new(py, set.iter().collect::<Vec<i64>>())?;
            py.import("numpy")?.call_method1("array", (indices, "int64"))
        }
    });
    PyTuple::new(py, described.collect::<PyResult<Vec<Bound<'py, PyAny>>>>()?)
}

/// The distribution of pickled facts over a team.
#[pyfunction]
pub fn distribution_of(team: &Team, facts: DistributionFacts) -> PyResult<Distribution> {
    Ok(Distribution { team: team.0.clone(), dist: facts.division()? })
}
