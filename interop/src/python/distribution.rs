//! The classes of distributions: the owner and the storage of every cell.

use partita::index::{Along, DimMap, DistributionBuilder, Domain, Index, IndexRange, IndexSet, Unstructured};
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::arrays::convert::tuple;
use super::device::{Team, default_team};
use super::runtime::raised;
use crate::distarray::cut;

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
    fn per_dimension(self, rank: usize) -> Vec<DimensionWidths> {
        match self {
            Widths::Everywhere(width) => (0..rank).map(|_| DimensionWidths::Both(width)).collect(),
            Widths::PerDimension(widths) => widths,
        }
    }
}

impl DimensionWidths {
    /// Widths below and above; 0 where they are given per part.
    fn sides(&self) -> (i64, i64) {
        match *self {
            DimensionWidths::Both(width) => (width, width),
            DimensionWidths::Sides(sides) => sides,
            DimensionWidths::PerPart(_) => (0, 0),
        }
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
    value.extract().map_err(|_| refused(value, name, expected))
}

fn refused(value: &Bound<'_, PyAny>, name: &str, expected: &str) -> PyErr {
    PyTypeError::new_err(format!("Distribution: expected {name} {expected}, given {value}; see its help"))
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
            let halo = given::<Widths>(halo, "halo", per_part)?.per_dimension(rank);
            let (lo, hi): (Vec<i64>, Vec<i64>) = halo.iter().map(DimensionWidths::sides).unzip();
            builder = builder.halo(&lo, &hi);
            for (d, widths) in halo.iter().enumerate() {
                if let DimensionWidths::PerPart(widths) = widths {
                    builder = builder.halo_per_part(d, widths);
                }
            }
        }
        if let Some(boundary) = boundary {
            let boundary = given::<Widths>(boundary, "boundary", widths)?.per_dimension(rank);
            if boundary.iter().any(|width| matches!(width, DimensionWidths::PerPart(_))) {
                let text =
                    "Distribution: expected boundary an int, one per dimension, or pairs (below, above)";
                let given = "given a list of pairs; it is the same all along";
                return Err(PyTypeError::new_err(format!("{text}, {given}")));
            }
            let (lo, hi): (Vec<i64>, Vec<i64>) = boundary.iter().map(DimensionWidths::sides).unzip();
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

    /// The pieces of a loop over all cells: which part takes which (start, stop, step) along each dimension.
    fn chunks(&self) -> PyResult<Vec<(usize, Vec<Triple>)>> {
        let cells = Domain::from_shape(&self.dist.shape()).and_then(|cells| cells.chunks(&self.dist));
        Ok(cells.map_err(raised)?.iter().map(|chunk| (chunk.part, triples(&chunk.places))).collect())
    }

    /// The division of the cells at (start, stop, step) along each dimension: every one stays with its part.
    fn viewed(&self, ranges: Vec<Triple>) -> PyResult<Distribution> {
        let cells = domain(ranges)?;
        let along = |(dim, range): (usize, &IndexRange)| Along::Dim {
            dim,
            offset: range.first(),
            step: range.stride(),
        };
        let axes: Vec<Along> = cells.dims().iter().enumerate().map(along).collect();
        let dist = self.dist.viewed(&cells.shape(), &axes).map_err(raised)?;
        Ok(Distribution { team: self.team.clone(), dist })
    }

    /// The same division of another shape, with its halos if they fit.
    fn resized(&self, shape: Shape) -> PyResult<Distribution> {
        let shape = shape.extents();
        let none = vec![0; shape.len()];
        // Halos that do not fit smaller parts come when they are needed.
        let without = |_| self.dist.with_halo(&none, &none).and_then(|dist| dist.resized(&shape));
        let dist = self.dist.resized(&shape).or_else(without).map_err(raised)?;
        Ok(Distribution { team: self.team.clone(), dist })
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
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Team, Facts))> {
        let again = py.import("partita._native")?.getattr("distribution_of")?;
        Ok((again, (self.team(), facts(&self.dist)?)))
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

/// With the maps of `dims`, objects of `partita._api.dims`, by their attributes.
fn divided(
    mut builder: DistributionBuilder,
    dims: &Bound<'_, PyAny>,
    rank: usize,
) -> PyResult<DistributionBuilder> {
    let expected = "a Block, Cyclic, Unstructured, Replicated, CustomMap or None per dimension";
    let entries: Vec<Bound<'_, PyAny>> = given(dims, "dims", expected)?;
    if entries.len() != rank {
        let text =
            format!("Distribution: expected {rank} dims, given {}; give one per dimension", entries.len());
        return Err(PyValueError::new_err(text));
    }
    let refuse = |_| refused(dims, "dims", expected);
    for (d, entry) in entries.iter().enumerate().filter(|(_, entry)| !entry.is_none()) {
        // A map of somebody's own says itself what is wrong with it.
        builder = if let Some(bounds) = entry.getattr_opt("bounds")? {
            let bounds: Option<Vec<i64>> = bounds.extract().map_err(refuse)?;
            bounds.iter().fold(builder, |builder, bounds| builder.bounds(d, bounds))
        } else if let Some(block_size) = entry.getattr_opt("block_size")? {
            builder.cyclic(d, block_size.extract().map_err(refuse)?)
        } else if let Some(lists) = entry.getattr_opt("indices_per_part")? {
            let lists: Vec<Bound<'_, PyAny>> = lists.extract().map_err(refuse)?;
            let lists = lists.iter().map(indices).collect::<PyResult<Vec<Vec<i64>>>>()?;
            let one_to_one = entry.getattr("one_to_one")?.extract().map_err(refuse)?;
            builder.map(d, DimMap::unstructured(&lists, one_to_one).map_err(raised)?)
        } else if entry.hasattr("_is_replicated")? {
            builder.replicated(d)
        } else {
            return Err(refused(dims, "dims", expected));
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

/// A range of Python's: start, stop, step.
pub type Triple = (i64, i64, i64);

/// The domain of some ranges.
pub fn domain(ranges: Vec<Triple>) -> PyResult<Domain> {
    let range = |(start, stop, step): Triple| IndexRange::new(start, stop, step);
    let ranges: partita::index::Result<Vec<IndexRange>> = ranges.into_iter().map(range).collect();
    ranges.and_then(|ranges| Domain::new(&ranges)).map_err(raised)
}

/// The ranges of a domain.
pub fn triples(domain: &Domain) -> Vec<Triple> {
    let triple =
        |range: &IndexRange| (range.first(), range.first() + range.len() * range.stride(), range.stride());
    domain.dims().iter().map(triple).collect()
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

/// A distribution without its team as plain values, for pickling: shape, grid and by how much part numbers
/// change along it; per dimension the map, the halo of every part, boundary, and whether it is periodic.
type Facts = (Vec<i64>, Vec<i64>, Vec<i64>, Vec<DimFacts>);
type DimFacts = (MapFacts, Vec<(i64, i64)>, (i64, i64), bool);

/// A map by its kind: bounds; block size and phase; whether one to one, and lists.
type MapFacts = (String, Vec<i64>, Vec<Vec<i64>>);

fn facts(dist: &partita::Distribution) -> PyResult<Facts> {
    if dist.rank() == 0 {
        // Beside the shape, the facts of a line of one cell.
        let (_, grid, strides, dims) = facts(&dist.with_inner(1).map_err(raised)?)?;
        return Ok((Vec::new(), grid, strides, dims));
    }
    let ((lo, hi), boundary) = (dist.halo(), dist.boundary());
    let dim = |d: usize| {
        let alike = || vec![(lo[d], hi[d]); dist.map(d).parts()];
        let halo = dist.halo_per_part(d).map_or_else(alike, <[_]>::to_vec);
        Ok((map_facts(dist.map(d))?, halo, (boundary.0[d], boundary.1[d]), dist.periodic(d)))
    };
    let dims = (0..dist.rank()).map(dim).collect::<PyResult<_>>()?;
    Ok((dist.shape().to_vec(), dist.grid().shape().to_vec(), dist.grid().strides().to_vec(), dims))
}

fn map_facts(map: &DimMap) -> PyResult<MapFacts> {
    let (numbers, lists) = match map {
        DimMap::Block { bounds } => ((0..=map.parts()).map(|part| bounds.start(part)).collect(), Vec::new()),
        DimMap::Cyclic(cyclic) => {
            let (phase, step) = cyclic.phase();
            (vec![cyclic.block_size(), phase, step], Vec::new())
        }
        DimMap::Replicated { .. } => (Vec::new(), Vec::new()),
        DimMap::Unstructured(held) => {
            let names = |part| held.held(part).iter().filter_map(|&g| held.label(g)).collect();
            (vec![held.one_to_one().into()], (0..map.parts()).map(names).collect())
        }
        DimMap::Custom(_) => {
            let text = "pickling a distribution: expected maps of the library, given one of a program";
            return Err(PyTypeError::new_err(format!("{text}; redistribute the array first")));
        }
    };
    Ok((map.kind().to_owned(), numbers, lists))
}

/// The distribution of pickled facts over a team.
#[pyfunction]
pub fn distribution_of(team: &Team, facts: Facts) -> PyResult<Distribution> {
    let (shape, grid, strides, dims) = facts;
    let is_line = shape.len() < grid.len();
    let shape = if is_line { vec![1] } else { shape };
    let (lo, hi): (Vec<i64>, Vec<i64>) = dims.iter().map(|dim| dim.2).unzip();
    let periodic: Vec<bool> = dims.iter().map(|dim| dim.3).collect();
    let builder = partita::Distribution::builder(&shape).grid(&grid).grid_strides(&strides);
    let mut builder = builder.boundary(&lo, &hi).periodic(&periodic);
    for (d, (((map, halo, ..), &size), &parts)) in dims.iter().zip(&shape).zip(&grid).enumerate() {
        builder = builder.map(d, map_of(map, size, parts)?).halo_per_part(d, halo);
    }
    let dist = builder.build().map_err(raised)?;
    Ok(Distribution { team: team.0.clone(), dist: dist.without_inner().filter(|_| is_line).unwrap_or(dist) })
}

fn map_of((kind, numbers, lists): &MapFacts, size: i64, parts: i64) -> PyResult<DimMap> {
    let parts = usize::try_from(parts).unwrap_or_default();
    let map = match (&kind[..], &numbers[..]) {
        ("block", bounds) => DimMap::irregular(bounds),
        ("cyclic", &[block, phase, step]) => {
            let cut = cut(size, parts, block, phase, step);
            return cut.map_err(|refusal| PyTypeError::new_err(refusal.to_string()));
        }
        ("replicated", _) => DimMap::replicated(size, parts),
        ("unstructured", &[one_to_one]) => {
            Unstructured::labelled(lists, one_to_one != 0).map(DimMap::Unstructured)
        }
        (kind, _) => {
            let text = format!("unpickling: expected a map of partita, given {kind}");
            return Err(PyTypeError::new_err(text));
        }
    };
    map.map_err(raised)
}
