//! [`Distribution`]: the parts that own and store the cells of a global array. It has no devices, element
//! types or memory layout, and it moves no data.

use super::process_grid::ProcessGrid;
use crate::index::error::{ErrorKind, IndexError, Result, check_rank};
use crate::index::index_set::IndexSet;
use crate::index::maps::{Along, Dim, DimMap, Halo, negative_halo};
use crate::index::region::{Index, MAX_RANK, Region};
use std::sync::Arc;

/// A global shape divided over the parts of a process grid, one [`DimMap`] per dimension, with
/// - a *halo* per dimension: copies of others' cells that a part stores around its own; not part of the
///   shape;
/// - a *boundary* per dimension: cells at the physical edges; part of the shape, and owned like all others;
/// - whether the dimension is periodic: whether the halos at its ends are copies from the other end.
///
/// Parts are boxes of *packed* coordinates, see [`DimMap`]. Along block maps, and so in every distribution
/// described by bounds, these are the global coordinates. Along other maps there is no halo, and
/// [`Distribution::owned`], [`Distribution::stored`] and [`Distribution::reach`] speak of packed coordinates;
/// [`Distribution::owned_set`] speaks of global ones whatever the map. [`Distribution::packed`] is the block
/// distribution over packed coordinates that memory and plans see.
///
/// Part numbers given to its methods are below [`Distribution::parts`]; methods that return no `Result` panic
/// on others. [`Distribution::check_part`] is for numbers that come from outside.
///
/// ```
/// use partita::index::{Distribution, Region};
///
/// let dist = Distribution::builder(&[8, 8]).grid(&[2, 2]).halo(&[1, 0], &[1, 0]).build()?;
/// assert_eq!(dist.owned(2), Region::new(&[4, 0], &[8, 4])?);
/// assert_eq!(dist.stored(2), Region::new(&[3, 0], &[8, 4])?);
/// assert_eq!(dist.owner(&[5, 6])?, 3);
/// # Ok::<(), partita::index::IndexError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Distribution {
    grid: ProcessGrid,
    dims: Vec<Dim>,
}

impl Distribution {
    /// Puts checked dimensions together; refuses what is wrong within or between them.
    pub(crate) fn from_dims(grid: ProcessGrid, dims: Vec<Dim>) -> Result<Distribution> {
        debug_assert_eq!(grid.rank(), dims.len());
        for (d, dim) in dims.iter().enumerate() {
            dim.check(d)?;
        }
        let distribution = Distribution { grid, dims };
        distribution.check_volume()?;
        Ok(distribution)
    }

    /// That of an array without dimensions, which one of `parts` parts has.
    pub(crate) fn lone(part: usize, parts: usize) -> Distribution {
        Distribution { grid: ProcessGrid::lone(part, parts), dims: Vec::new() }
    }

    /// The layout of the cells in memory, where they have a dimension: without any they are a line of one.
    pub(crate) fn in_memory(self: &Arc<Distribution>) -> Arc<Distribution> {
        let line = if self.rank() == 0 { self.with_inner(1).ok() } else { None };
        line.map_or_else(|| Arc::clone(self), Arc::new)
    }

    /// Refuses sizes whose product, halos included, could not be counted. Empty dimensions do not excuse the
    /// others.
    fn check_volume(&self) -> Result<()> {
        let widest = |dim: &Dim| {
            let (lo, hi) = dim.halo.widest();
            dim.map.packed_size().checked_add(if dim.periodic { lo.checked_add(hi)? } else { 0 })
        };
        let padded: Option<Vec<i64>> = self.dims.iter().map(|dim| Some(widest(dim)?.max(1))).collect();
        match padded.map(|shape| Region::from_shape(&shape)?.volume()) {
            Some(result) => result.map(|_| ()),
            None => Err(IndexError::new(
                ErrorKind::Size,
                "distribution",
                format!("at most {} cells", i64::MAX),
                format!("shape {}", self.shape()),
                "use a smaller shape or halo",
            )),
        }
    }

    /// The number of dimensions.
    #[doc = example!(dist: "assert_eq!(dist.rank(), 2);")]
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The global shape.
    #[doc = example!(dist: "assert_eq!(dist.shape()[..], [2, 3]);")]
    pub fn shape(&self) -> Index {
        Index::from_fn(self.rank(), |d| self.dims[d].map.size())
    }

    /// All cells: from zero to the shape.
    #[doc = example!(dist: "assert_eq!(dist.global(), Region::new(&[0, 0], &[2, 3])?);")]
    pub fn global(&self) -> Region {
        Region::from_fn(self.rank(), |d| (0, self.dims[d].map.size()))
    }

    /// The arrangement of the parts.
    #[doc = example!(dist: "assert_eq!(dist.grid().shape()[..], [1, 2]);")]
    pub fn grid(&self) -> &ProcessGrid {
        &self.grid
    }

    /// The number of parts, those that own nothing included.
    #[doc = example!(dist: "assert_eq!(dist.parts(), 2);")]
    pub fn parts(&self) -> usize {
        self.grid.parts()
    }

    /// Who owns what along dimension `d`.
    ///
    /// # Panics
    /// If there is no such dimension.
    #[doc = example!(dist: "assert_eq!(dist.map(1).parts(), 2);")]
    pub fn map(&self, d: usize) -> &DimMap {
        &self.dims[d].map
    }

    /// Whether dimension `d` is periodic.
    ///
    /// # Panics
    /// If there is no such dimension.
    #[doc = example!(dist: "assert!(!dist.periodic(0));")]
    pub fn periodic(&self, d: usize) -> bool {
        self.dims[d].periodic
    }

    /// The declared halo widths below and above; the widest where parts differ.
    #[doc = example!(
        dist:
        "let (below, above) = dist.with_halo(&[0, 1], &[0, 2])?.halo();"
        "assert_eq!((below[1], above[1]), (1, 2));"
    )]
    pub fn halo(&self) -> (Index, Index) {
        let widths = |d: usize| self.dims[d].halo.widest();
        (Index::from_fn(self.rank(), |d| widths(d).0), Index::from_fn(self.rank(), |d| widths(d).1))
    }

    /// The halo widths of one part, below and above: none where there is nothing to copy.
    ///
    /// # Panics
    /// If there is no such part.
    #[doc = example!(
        dist:
        "assert_eq!(dist.with_halo(&[0, 1], &[0, 1])?.halo_of(0).0[..], [0, 0]); // Nothing is below part 0."
    )]
    pub fn halo_of(&self, part: usize) -> (Index, Index) {
        let (owned, stored) = (self.owned(part), self.stored(part));
        let below = Index::from_fn(self.rank(), |d| owned.start()[d] - stored.start()[d]);
        (below, Index::from_fn(self.rank(), |d| stored.stop()[d] - owned.stop()[d]))
    }

    /// The declared halo widths (below, above) of every grid coordinate of dimension `d`; `None` where all
    /// are alike.
    ///
    /// # Panics
    /// If there is no such dimension.
    #[doc = example!(dist: "assert_eq!(dist.halo_per_part(1), None); // All alike.")]
    pub fn halo_per_part(&self, d: usize) -> Option<&[(i64, i64)]> {
        self.dims[d].halo.list()
    }

    /// The boundary widths below and above.
    #[doc = example!(dist: "assert_eq!(dist.boundary().0[..], [0, 0]);")]
    pub fn boundary(&self) -> (Index, Index) {
        let widths = |d: usize| self.dims[d].boundary;
        (Index::from_fn(self.rank(), |d| widths(d).0), Index::from_fn(self.rank(), |d| widths(d).1))
    }

    pub(crate) fn dim(&self, d: usize) -> &Dim {
        &self.dims[d]
    }

    /// Whether every dimension has a block map.
    #[doc = example!(dist: "assert!(dist.is_block());")]
    pub fn is_block(&self) -> bool {
        self.dims.iter().all(|dim| dim.map.is_block())
    }

    /// Refuses a distribution that is not all blocks, naming the dimension.
    pub(crate) fn check_block(&self, operation: &'static str) -> Result<()> {
        let Some(d) = self.dims.iter().position(|dim| !dim.map.is_block()) else { return Ok(()) };
        Err(IndexError::new(
            ErrorKind::Unsupported,
            operation,
            "block maps in every dimension",
            format!("a map, {}, in dimension {d}", self.map(d).kind()),
            "use the packed distribution and packed coordinates, or redistribute first",
        ))
    }

    /// Whether some part holds copies of what another owns: where sums over all parts would count twice.
    #[doc = example!(dist: "assert!(!dist.has_copies());")]
    pub fn has_copies(&self) -> bool {
        self.dims.iter().any(|dim| dim.map.has_copies())
    }

    /// The block distribution of the packed coordinates; itself where all maps are blocks. Copies are cells
    /// of their own there, so its shape may be larger.
    #[doc = example!(dist: "assert_eq!(dist.packed(), dist); // All dimensions are blocks.")]
    pub fn packed(&self) -> Distribution {
        Distribution { grid: self.grid, dims: self.dims.iter().map(Dim::packed).collect() }
    }

    /// The cells that `part` holds, as their global coordinates along every dimension.
    #[doc = example!(dist: "let columns = &dist.owned_set(1)?[1];" "assert_eq!(columns.len(), 2);")]
    pub fn owned_set(&self, part: usize) -> Result<Vec<IndexSet>> {
        self.check_part(part)?;
        let at = self.grid.coordinate(part);
        let held = (0..self.rank()).map(|d| self.dims[d].map.try_owned_set(at[d] as usize)).collect();
        self.sound()?;
        held
    }

    /// Whether users' maps have given possible answers so far.
    pub(crate) fn sound(&self) -> Result<()> {
        self.dims.iter().try_for_each(|dim| dim.map.sound())
    }

    /// Every part that holds a cell, the owner first, then in the order of the parts' grid coordinates.
    #[doc = example!(dist: "assert_eq!(dist.holders(&[0, 2])?, [1]);")]
    pub fn holders(&self, global_point: &[i64]) -> Result<Vec<usize>> {
        self.owner(global_point)?;
        let holders: Vec<Vec<usize>> =
            (0..self.rank()).map(|d| self.dims[d].map.holders(global_point[d])).collect();
        let choices = Region::from_shape(&Index::from_fn(self.rank(), |d| holders[d].len() as i64))?;
        let part = |choice: Index| self.grid.part_at(|d| holders[d][choice[d] as usize] as i64);
        Ok(choices.points().map(part).collect())
    }

    /// The cells that `part` owns, in packed coordinates, which for block maps are the global ones.
    ///
    /// # Panics
    /// If there is no such part.
    #[doc = example!(dist: "assert_eq!(dist.owned(0).volume()?, 2);")]
    pub fn owned(&self, part: usize) -> Region {
        let at = self.grid.coordinate(part);
        if self.rank() == 0 && self.grid.part_at(|_| 0) != part {
            return Region::empty(0);
        }
        Region::from_fn(self.rank(), |d| self.dims[d].owned(at[d] as usize))
    }

    /// The cells that `part` stores: its own and its halo. In a periodic dimension they reach past the ends,
    /// below 0 and up to beyond the size; in others they stop there. A part that owns nothing stores nothing.
    ///
    /// # Panics
    /// If there is no such part.
    #[doc = example!(dist: "assert_eq!(dist.with_halo(&[0, 1], &[0, 1])?.stored(1), dist.global());")]
    pub fn stored(&self, part: usize) -> Region {
        self.around(part, |d, at| self.dims[d].stored(at))
    }

    /// The cells that `part` owns widened by `lo` and `hi`, with the ends treated as for
    /// [`Distribution::stored`]. Widths beyond the halo are allowed; negative ones are not.
    #[doc = example!(dist: "assert_eq!(dist.reach(1, &[0, 1], &[0, 1])?, dist.global());")]
    pub fn reach(&self, part: usize, lo: &[i64], hi: &[i64]) -> Result<Region> {
        self.check_part(part)?;
        self.check_widths(lo, hi)?;
        let reach = self.around(part, |d, at| self.dims[d].reach(at, lo[d], hi[d]));
        if self.rank() == 0 { Ok(reach) } else { Region::new(reach.start(), reach.stop()) }
    }

    /// The box `range(d, coordinate)` for a part that owns something; what it owns otherwise.
    fn around(&self, part: usize, range: impl Fn(usize, usize) -> (i64, i64)) -> Region {
        let owned = self.owned(part);
        if owned.is_empty() {
            return owned;
        }
        let at = self.grid.coordinate(part);
        Region::from_fn(self.rank(), |d| range(d, at[d] as usize))
    }

    /// The part that owns a cell.
    #[doc = example!(dist: "assert_eq!(dist.owner(&[1, 1])?, 1);")]
    pub fn owner(&self, global_point: &[i64]) -> Result<usize> {
        check_rank("Distribution::owner", self.rank(), global_point.len())?;
        let mut at = Index::zeros(self.rank());
        for d in 0..self.rank() {
            let Some(owner) = self.dims[d].map.owner(global_point[d]) else {
                return Err(IndexError::new(
                    ErrorKind::Range,
                    "global index",
                    format!("a point inside {}", self.global()),
                    format!("{global_point:?}"),
                    "count from 0, below the size of the dimension",
                ));
            };
            at[d] = owner as i64;
        }
        self.sound()?;
        Ok(self.grid.part_at(|d| at[d]))
    }

    /// The owner of a cell, and the cell's place in what the owner stores.
    #[doc = example!(
        dist:
        "let (part, at) = dist.to_local(&[1, 2])?;"
        "assert_eq!((part, &at[..]), (1, &[1, 1][..]));"
    )]
    pub fn to_local(&self, global_point: &[i64]) -> Result<(usize, Index)> {
        let part = self.owner(global_point)?;
        let stored = self.stored(part);
        let packed = |d: usize| self.dims[d].map.to_packed(global_point[d]).unwrap_or_default();
        Ok((part, Index::from_fn(self.rank(), |d| packed(d) - stored.start()[d])))
    }

    /// The cell at a place of what `part` stores. Places in a halo name the cell that they copy.
    #[doc = example!(dist: "assert_eq!(dist.to_global(1, &[1, 1])?[..], [1, 2]);")]
    pub fn to_global(&self, part: usize, local_point: &[i64]) -> Result<Index> {
        self.check_part(part)?;
        check_rank("Distribution::to_global", self.rank(), local_point.len())?;
        let stored = self.stored(part);
        let extents = stored.extents();
        if (0..self.rank()).all(|d| (0..extents[d]).contains(&local_point[d])) && !stored.is_empty() {
            let unpacked = |d: usize| self.dims[d].unpacked(stored.start()[d] + local_point[d]);
            return Ok(Index::from_fn(self.rank(), |d| unpacked(d).unwrap_or_default()));
        }
        Err(IndexError::new(
            ErrorKind::Range,
            "local index",
            format!("a point inside the stored extents {extents} of part {part}"),
            format!("{local_point:?}"),
            "count from the first stored cell, halo included",
        ))
    }

    /// The (left, right) neighbours of a part in every dimension of the grid, whether they own anything or
    /// not.
    #[doc = example!(dist: "assert_eq!(dist.neighbors(0)?[1], (None, Some(1)));")]
    pub fn neighbors(&self, part: usize) -> Result<Vec<(Option<usize>, Option<usize>)>> {
        let periodic: Vec<bool> = self.dims.iter().map(|dim| dim.periodic).collect();
        self.grid.neighbors(part, &periodic)
    }

    /// Refuses a number that is no part's.
    #[doc = example!(dist: "assert!(dist.check_part(1).is_ok() && dist.check_part(2).is_err());")]
    pub fn check_part(&self, part: usize) -> Result<()> {
        self.grid.check_part(part)
    }

    fn check_widths(&self, lo: &[i64], hi: &[i64]) -> Result<()> {
        check_rank("halo", self.rank(), lo.len())?;
        check_rank("halo", self.rank(), hi.len())?;
        match lo.iter().chain(hi).any(|&width| width < 0) {
            true => Err(negative_halo(format!("lo {lo:?}, hi {hi:?}"))),
            false => Ok(()),
        }
    }

    /// Whether every part owns the same cells in both. Halo, boundary and periodicity may differ.
    #[doc = example!(dist: "assert!(dist.same_layout(&dist.with_halo(&[0, 1], &[0, 1])?));")]
    pub fn same_layout(&self, other: &Distribution) -> bool {
        self.grid == other.grid && self.dims.iter().zip(&other.dims).all(|(a, b)| a.map == b.map)
    }

    /// The same with other halo widths.
    #[doc = example!(dist: "assert_eq!(dist.with_halo(&[0, 1], &[0, 1])?.stored(0).volume()?, 4);")]
    pub fn with_halo(&self, lo: &[i64], hi: &[i64]) -> Result<Distribution> {
        self.check_widths(lo, hi)?;
        let mut dims = self.dims.clone();
        for (d, dim) in dims.iter_mut().enumerate() {
            dim.halo = Halo::Uniform(lo[d], hi[d]);
        }
        Distribution::from_dims(self.grid, dims)
    }

    /// The same with halos at least so wide at every part.
    pub(crate) fn widened(&self, lo: &[i64], hi: &[i64]) -> Result<Distribution> {
        let wide = |(d, dim): (usize, &Dim)| Dim {
            halo: dim.halo.widened(lo[d], hi[d], dim.periodic),
            ..dim.clone()
        };
        Distribution::from_dims(self.grid, self.dims.iter().enumerate().map(wide).collect())
    }

    /// Whether every part stores so many cells beside its own, as far as there are any.
    pub(crate) fn stores(&self, lo: &[i64], hi: &[i64]) -> bool {
        self.dims.iter().enumerate().all(|(d, dim)| dim.stores(lo[d], hi[d]))
    }

    /// Whether memory on this distribution has room for every part of the other, which differs in halos
    /// alone.
    pub(crate) fn has_room_for(&self, other: &Distribution) -> bool {
        let inside = |(a, b): (&Dim, &Dim), part: usize| {
            let (outer, inner) = (a.stored(part), b.stored(part));
            outer.0 <= inner.0 && inner.1 <= outer.1
        };
        let roomy = |(a, b): (&Dim, &Dim)| {
            let alike = a.map == b.map && a.periodic == b.periodic;
            alike && (a.halo == b.halo || (0..a.map.parts()).all(|part| inside((a, b), part)))
        };
        self.grid == other.grid && self.dims.iter().zip(&other.dims).all(roomy)
    }

    /// The distribution of a unit-stride slice: element `i` of the slice is owned by the part that owns cell
    /// `slice.start + i`. It has no halo and no boundary, and is periodic where the slice is whole.
    #[doc = example!(
        dist:
        "let right = dist.restricted(&Region::new(&[0, 1], &[2, 3])?)?;"
        "assert!(right.owned(0).is_empty());"
    )]
    pub fn restricted(&self, slice: &Region) -> Result<Distribution> {
        check_rank("Distribution::restricted", self.rank(), slice.rank())?;
        self.strided(slice, &Index::filled(self.rank(), 1))
    }

    /// The distribution of a slice that takes every `steps[d]`-th cell of a region, starting with its first.
    /// Every element stays with its part. It has no halo and no boundary.
    #[doc = example!(
        dist:
        "let ends = dist.strided(&dist.global(), &[1, 2])?;"
        "assert_eq!(ends.shape()[..], [2, 2]);"
    )]
    pub fn strided(&self, slice: &Region, steps: &[i64]) -> Result<Distribution> {
        check_rank("Distribution::strided", self.rank(), slice.rank())?;
        check_rank("Distribution::strided", self.rank(), steps.len())?;
        let (start, stop) = (slice.start(), slice.stop());
        if !(0..self.rank()).all(|d| 0 <= start[d] && stop[d] <= self.dims[d].map.size() && steps[d] > 0) {
            return Err(IndexError::new(
                ErrorKind::Range,
                "slice",
                format!("a region inside {}, and steps of at least 1", self.global()),
                format!("{slice} in steps of {steps:?}"),
                "clip the slice to the shape first",
            ));
        }
        let extents = slice.extents();
        let shape = Index::from_fn(self.rank(), |d| {
            extents[d].div_euclid(steps[d]) + i64::from(extents[d] % steps[d] > 0)
        });
        let along = |d: usize| Along::Dim { dim: d, offset: start[d], step: steps[d] };
        self.viewed(&shape, &(0..self.rank()).map(along).collect::<Vec<Along>>())
    }

    /// The same division, periodic along the dimensions that `round` names, without halo and boundary.
    pub(crate) fn periodic_along(&self, round: impl Fn(usize) -> bool) -> Distribution {
        let dims = self.dims.iter().enumerate().map(|(d, dim)| Dim::plain(dim.map.clone(), round(d)));
        Distribution { grid: self.grid, dims: dims.collect() }
    }

    /// The distribution of arrays whose elements are `extent` numbers each, in a further last dimension that
    /// is not divided.
    #[doc = example!(dist: "assert_eq!(dist.with_inner(2)?.shape()[..], [2, 3, 2]);")]
    pub fn with_inner(&self, extent: i64) -> Result<Distribution> {
        if self.rank() == 0 {
            let map = DimMap::all_at(self.grid.part_at(|_| 0), self.parts(), extent);
            return Distribution::builder(&[extent]).map(0, map).build();
        }
        let with = |inner: i64, of: &Index| of.iter().copied().chain([inner]).collect::<Vec<i64>>();
        let grid = ProcessGrid::numbered(&with(1, self.grid.shape()), &with(0, self.grid.strides()))?;
        let inner = Dim::plain(DimMap::even(extent, 1)?, false);
        Distribution::from_dims(grid, self.dims.iter().cloned().chain([inner]).collect())
    }

    /// The distribution of the elements that [`Distribution::with_inner`] made this one of; `None` where the
    /// last dimension is divided: where it is the only one, where several parts have cells.
    #[doc = example!(dist: "assert_eq!(dist.with_inner(2)?.without_inner(), Some(dist));")]
    pub fn without_inner(&self) -> Option<Distribution> {
        let (inner, dims) = self.dims.split_last()?;
        let parts = inner.map.parts();
        if dims.is_empty() {
            let owner = (0..parts).find(|&part| inner.map.count(part) == inner.map.size())?;
            return Some(Distribution::lone(self.grid.part_at(|_| owner as i64), parts));
        }
        if parts > 1 {
            return None;
        }
        let (shape, strides) = (&self.grid.shape()[..dims.len()], &self.grid.strides()[..dims.len()]);
        let grid = ProcessGrid::numbered(shape, strides).ok()?;
        Some(Distribution { grid, dims: dims.to_vec() })
    }

    /// The same way of dividing another shape; see [`DimMap::resized`]. Halo, boundary and periodicity stay.
    #[doc = example!(dist: "assert_eq!(dist.resized(&[2, 6])?.parts(), 2);")]
    pub fn resized(&self, global_shape: &[i64]) -> Result<Distribution> {
        check_rank("Distribution::resized", self.rank(), global_shape.len())?;
        let dims = self.dims.iter().zip(global_shape).enumerate().map(|(d, (dim, &size))| {
            let map = dim.map.resized(size).map_err(|error| error.in_dimension(d))?;
            Ok(Dim { map, ..dim.clone() })
        });
        Distribution::from_dims(self.grid, dims.collect::<Result<_>>()?)
    }

    /// The distribution of a larger array in which this one's cells are the box from `start` on: these stay
    /// with their parts, and the first and last parts along every dimension own what is around. A dimension
    /// is divided evenly where that would give a part more than twice its share; a distribution that is not
    /// all blocks gives the default partition. It has no halo and no boundary, and is periodic where nothing
    /// is around.
    #[doc = example!(
        dist:
        "let larger = dist.enclosing(&[4, 5], &[1, 1])?;"
        "assert_eq!(larger.owner(&[0, 4])?, 1);"
    )]
    pub fn enclosing(&self, global_shape: &[i64], start: &[i64]) -> Result<Distribution> {
        check_rank("Distribution::enclosing", self.rank(), global_shape.len())?;
        check_rank("Distribution::enclosing", self.rank(), start.len())?;
        let inside = |d: usize| start[d] >= 0 && start[d] + self.map(d).size() <= global_shape[d];
        if !(0..self.rank()).all(inside) {
            let (expected, given) = (format!("room for shape {}", self.shape()), format!("{global_shape:?}"));
            let remedy = "make the larger shape hold the box";
            return Err(IndexError::new(ErrorKind::Range, "enclosing shape", expected, given, remedy));
        }
        if !self.is_block() {
            return Distribution::default_partition(self.parts(), global_shape);
        }
        let dim = |d: usize| {
            let (map, size) = (self.map(d), global_shape[d]);
            let parts = map.parts();
            let bound = |part: usize| match part {
                0 => 0,
                part if part == parts => size,
                part => start[d] + map.owned(part).start,
            };
            let bounds: Vec<i64> = (0..=parts).map(bound).collect();
            let most = bounds.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0);
            let share = (size + parts as i64 - 1) / parts as i64;
            let fits = most <= 2 * share;
            let map = if fits { DimMap::irregular(&bounds) } else { DimMap::even(size, parts) }?;
            let periodic = self.periodic(d) && size == self.map(d).size();
            Ok(Dim::plain(map, periodic))
        };
        Distribution::from_dims(self.grid, (0..self.rank()).map(dim).collect::<Result<_>>()?)
    }

    /// The distribution of a reduction over `axes` that keeps them with extent 1: there, grid coordinate 0
    /// owns the result and the other parts own nothing. It has no halo and no boundary.
    #[doc = example!(dist: "assert_eq!(dist.reduced(&[1])?.shape()[..], [2, 1]);")]
    pub fn reduced(&self, axes: &[usize]) -> Result<Distribution> {
        let mut dropped = [false; MAX_RANK];
        for &axis in axes {
            if axis >= self.rank() || std::mem::replace(&mut dropped[axis], true) {
                return Err(IndexError::new(
                    ErrorKind::Range,
                    "reduction axes",
                    format!("different axes below {}", self.rank()),
                    format!("{axes:?}"),
                    "name every axis once, counted from 0",
                ));
            }
        }
        let dims = self.dims.iter().zip(dropped).map(|(dim, dropped)| match dropped {
            true => Dim::plain(DimMap::all_at(0, dim.map.parts(), 1), false),
            false => Dim::plain(dim.map.clone(), dim.periodic),
        });
        Ok(Distribution { grid: self.grid, dims: dims.collect() })
    }

    /// The same with another map along one dimension, and without halos.
    pub(crate) fn with_map(&self, axis: usize, map: DimMap) -> Result<Distribution> {
        let mut dims = self.periodic_along(|d| d != axis && self.periodic(d)).dims;
        dims[axis].map = map;
        Distribution::from_dims(self.grid, dims)
    }
}
