//! [`DistributionBuilder`]: collects the description of a distribution and checks it as a whole in `build`.

use super::distribution::Distribution;
use super::process_grid::ProcessGrid;
use crate::index::error::{ErrorKind, IndexError, Result, check_rank};
use crate::index::maps::{Dim, DimMap, Halo, negative_halo};
use crate::index::region::{Index, Region};

/// A distribution being described; made by [`Distribution::builder`]. Nothing is checked before
/// [`DistributionBuilder::build`].
#[derive(Clone, Debug)]
pub struct DistributionBuilder {
    shape: Vec<i64>,
    parts: Option<usize>,
    grid: Option<Vec<i64>>,
    strides: Option<Vec<i64>>,
    maps: Vec<(usize, Wanted)>,
    halo: (Vec<i64>, Vec<i64>),
    halo_per_part: Vec<(usize, Vec<(i64, i64)>)>,
    boundary: (Vec<i64>, Vec<i64>),
    periodic: Vec<bool>,
}

/// The requested division of one dimension.
#[derive(Clone, Debug)]
enum Wanted {
    Bounds(Vec<i64>),
    Cyclic(i64),
    Replicated,
    Map(DimMap),
}

impl Wanted {
    /// The number of parts, if the description says it.
    fn parts(&self) -> Option<i64> {
        match self {
            // Fewer than two bounds are refused when the map is made of them.
            Wanted::Bounds(bounds) => Some(bounds.len().saturating_sub(1).max(1) as i64),
            Wanted::Map(map) => Some(map.parts() as i64),
            Wanted::Cyclic(_) | Wanted::Replicated => None,
        }
    }
}

impl Distribution {
    /// Starts the description of a distribution of this global shape; by default one part without halo.
    #[doc = example!(dist: "assert_eq!(dist.parts(), 2);")]
    pub fn builder(global_shape: &[i64]) -> DistributionBuilder {
        DistributionBuilder::new(global_shape)
    }

    /// The default partition: dimension 0 cut into `parts` parts, the extra rows with the last ones.
    #[doc = example!(
        dist:
        "assert_eq!(Distribution::default_partition(2, &[5])?.owned(1), Region::new(&[2], &[5])?);"
    )]
    pub fn default_partition(parts: usize, global_shape: &[i64]) -> Result<Distribution> {
        Distribution::builder(global_shape).parts(parts).build()
    }
}

impl DistributionBuilder {
    pub(crate) fn new(shape: &[i64]) -> DistributionBuilder {
        let none = vec![0; shape.len()];
        DistributionBuilder {
            shape: shape.to_vec(),
            parts: None,
            grid: None,
            strides: None,
            maps: Vec::new(),
            halo: (none.clone(), none.clone()),
            halo_per_part: Vec::new(),
            boundary: (none.clone(), none),
            periodic: vec![false; shape.len()],
        }
    }

    /// The number of parts. Without a grid, dimension 0 is cut into all of them.
    #[doc = example!(
        dist:
        "let rows = Distribution::builder(&[4, 3]).parts(2).build()?;"
        "assert_eq!(rows.owned(0), Region::new(&[0, 0], &[2, 3])?);"
    )]
    pub fn parts(mut self, parts: usize) -> Self {
        self.parts = Some(parts);
        self
    }

    /// The number of parts along every dimension.
    #[doc = example!(dist: "assert_eq!(dist.owned(1), Region::new(&[0, 1], &[2, 3])?);")]
    pub fn grid(mut self, shape: &[i64]) -> Self {
        self.grid = Some(shape.to_vec());
        self
    }

    /// By how much the part number changes from one grid coordinate to the next in every dimension, see
    /// [`ProcessGrid::strides`]; by default as in C order.
    pub fn grid_strides(mut self, strides: &[i64]) -> Self {
        self.strides = Some(strides.to_vec());
        self
    }

    /// Explicit bounds of the parts along dimension `d`: 0, then where each part stops, up to the size.
    /// Dimensions without bounds are divided evenly; without a grid, they are not cut.
    #[doc = example!(
        dist:
        "let uneven = Distribution::builder(&[5]).parts(2).bounds(0, &[0, 4, 5]).build()?;"
        "assert_eq!(uneven.owner(&[3])?, 0);"
    )]
    pub fn bounds(mut self, d: usize, bounds: &[i64]) -> Self {
        self.maps.push((d, Wanted::Bounds(bounds.to_vec())));
        self
    }

    /// Blocks of `block_size` along dimension `d`, dealt out to its parts in turn.
    #[doc = example!(
        dist:
        "let dealt = Distribution::builder(&[6]).parts(2).cyclic(0, 1).build()?;"
        "assert_eq!((dealt.owner(&[2])?, dealt.owner(&[3])?), (0, 1));"
    )]
    pub fn cyclic(mut self, d: usize, block_size: i64) -> Self {
        self.maps.push((d, Wanted::Cyclic(block_size)));
        self
    }

    /// All of dimension `d` at every one of its parts.
    #[doc = example!(
        dist:
        "let copies = Distribution::builder(&[6]).parts(2).replicated(0).build()?;"
        "assert_eq!(copies.holders(&[3])?, [0, 1]);"
    )]
    pub fn replicated(mut self, d: usize) -> Self {
        self.maps.push((d, Wanted::Replicated));
        self
    }

    /// A map for dimension `d`, of any kind. Without a grid, the number of its parts counts.
    #[doc = example!(
        dist:
        "let cut = Distribution::builder(&[6]).map(0, DimMap::even(6, 3)?).build()?;"
        "assert_eq!(cut.parts(), 3);"
    )]
    pub fn map(mut self, d: usize, map: DimMap) -> Self {
        self.maps.push((d, Wanted::Map(map)));
        self
    }

    /// Halo widths below and above in every dimension.
    #[doc = example!(
        dist:
        "let wide = Distribution::builder(&[6]).parts(2).halo(&[1], &[1]).build()?;"
        "assert_eq!(wide.stored(1), Region::new(&[2], &[6])?);"
    )]
    pub fn halo(mut self, lo: &[i64], hi: &[i64]) -> Self {
        self.halo = (lo.to_vec(), hi.to_vec());
        self
    }

    /// Halo widths (below, above) along dimension `d` that differ from one grid coordinate to the next.
    pub fn halo_per_part(mut self, d: usize, widths: &[(i64, i64)]) -> Self {
        self.halo_per_part.push((d, widths.to_vec()));
        self
    }

    /// Widths of the boundary below and above in every dimension.
    #[doc = example!(
        dist:
        "let framed = Distribution::builder(&[6]).boundary(&[1], &[1]).build()?;"
        "assert_eq!(framed.boundary().0[..], [1]);"
    )]
    pub fn boundary(mut self, lo: &[i64], hi: &[i64]) -> Self {
        self.boundary = (lo.to_vec(), hi.to_vec());
        self
    }

    /// Which dimensions are periodic.
    #[doc = example!(dist: "assert!(Distribution::builder(&[6]).periodic(&[true]).build()?.periodic(0));")]
    pub fn periodic(mut self, periodic: &[bool]) -> Self {
        self.periodic = periodic.to_vec();
        self
    }

    /// The distribution, or the first thing that is wrong with its description.
    #[doc = example!(
        dist:
        "let wrong = Distribution::builder(&[6]).grid(&[2, 2]).build();"
        "assert!(wrong.is_err());"
    )]
    pub fn build(self) -> Result<Distribution> {
        Region::from_shape(&self.shape)?;
        self.check_ranks()?;
        let grid = self.process_grid()?;
        let dims: Result<Vec<Dim>> = (0..self.shape.len()).map(|d| self.dim(&grid, d)).collect();
        Distribution::from_dims(grid, dims?)
    }

    fn check_ranks(&self) -> Result<()> {
        let rank = self.shape.len();
        check_rank("halo", rank, self.halo.0.len())?;
        check_rank("halo", rank, self.halo.1.len())?;
        check_rank("boundary", rank, self.boundary.0.len())?;
        check_rank("boundary", rank, self.boundary.1.len())?;
        check_rank("periodic", rank, self.periodic.len())?;
        let mut dims = self.maps.iter().map(|(d, _)| *d).chain(self.halo_per_part.iter().map(|(d, _)| *d));
        if let Some(d) = dims.find(|&d| d >= rank) {
            let (expected, remedy) = (format!("dimensions below {rank}"), "dimensions are counted from 0");
            return Err(IndexError::new(ErrorKind::Range, "distribution", expected, d.to_string(), remedy));
        }
        Ok(())
    }

    fn process_grid(&self) -> Result<ProcessGrid> {
        let rank = self.shape.len();
        let grid = match &self.grid {
            Some(shape) if rank > 0 || !shape.is_empty() => {
                check_rank("process grid", rank, shape.len())?;
                ProcessGrid::new(shape)?
            }
            _ if self.maps.iter().all(|(_, wanted)| wanted.parts().is_none()) => {
                ProcessGrid::slabs(self.parts.unwrap_or(1), rank)?
            }
            _ => ProcessGrid::new(&Index::from_fn(rank, |d| {
                self.wanted(d).and_then(Wanted::parts).unwrap_or(1)
            }))?,
        };
        let grid = match &self.strides {
            Some(strides) => grid.renumbered(strides)?,
            None => grid,
        };
        match self.parts {
            Some(parts) if parts != grid.parts() => Err(IndexError::new(
                ErrorKind::Grid,
                "process grid",
                format!("a grid of {parts} parts"),
                format!("{grid}, which has {}", grid.parts()),
                "make the product of the grid equal to the number of parts",
            )),
            _ => Ok(grid),
        }
    }

    fn wanted(&self, d: usize) -> Option<&Wanted> {
        self.maps.iter().rev().find(|(e, _)| *e == d).map(|(_, wanted)| wanted)
    }

    fn dim(&self, grid: &ProcessGrid, d: usize) -> Result<Dim> {
        let (size, parts) = (self.shape[d], grid.shape()[d] as usize);
        let map = match self.wanted(d) {
            Some(Wanted::Bounds(bounds)) => DimMap::irregular(bounds),
            Some(Wanted::Cyclic(block_size)) => DimMap::cyclic(size, parts, *block_size),
            Some(Wanted::Replicated) => DimMap::replicated(size, parts),
            Some(Wanted::Map(map)) => Ok(map.clone()),
            None => DimMap::even(size, parts),
        };
        let map = map.map_err(|error| error.in_dimension(d))?;
        let fits = map.parts() == parts && map.size() == size;
        if map.is_block() && !fits {
            return Err(IndexError::new(
                ErrorKind::Bounds,
                "block bounds",
                format!("{} bounds from 0 to {size} in dimension {d}", parts + 1),
                format!("{} bounds up to {}", map.parts() + 1, map.size()),
                "give one bound more than parts, the last one the size",
            ));
        }
        if !fits {
            return Err(IndexError::new(
                ErrorKind::Bounds,
                "distribution",
                format!("a map of {size} coordinates over {parts} parts in dimension {d}"),
                format!("a map, {}, of {} over {}", map.kind(), map.size(), map.parts()),
                "make the map, the shape and the grid agree",
            ));
        }
        let boundary = (self.boundary.0[d], self.boundary.1[d]);
        Ok(Dim { map, halo: self.halo_of(d, parts)?, boundary, periodic: self.periodic[d] })
    }

    fn halo_of(&self, d: usize, parts: usize) -> Result<Halo> {
        let listed = self.halo_per_part.iter().rev().find(|(e, _)| *e == d);
        let uniform = [(self.halo.0[d], self.halo.1[d])];
        let widths = listed.map_or(&uniform[..], |(_, widths)| widths);
        if let Some((lo, hi)) = widths.iter().find(|(lo, hi)| *lo < 0 || *hi < 0) {
            return Err(negative_halo(format!("({lo}, {hi}) in dimension {d}")));
        }
        match listed {
            Some(_) if widths.len() != parts => Err(IndexError::new(
                ErrorKind::Halo,
                "halo",
                format!("{parts} pairs of widths in dimension {d}"),
                widths.len().to_string(),
                "give one pair for every grid coordinate of the dimension",
            )),
            Some(_) => Ok(Halo::per_part(widths, self.periodic[d])),
            None => Ok(Halo::Uniform(uniform[0].0, uniform[0].1)),
        }
    }
}
