//! [`DistributionFacts`]: a distribution without its team as plain Python values, for pickling.

use partita::Distribution as Division;
use partita::index::{DimMap, Unstructured};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::runtime::raised;
use crate::distarray::cut;

/// The maps of a distribution, per dimension.
#[derive(FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
pub struct DistributionFacts {
    shape: Vec<i64>,
    grid: Vec<i64>,
    /// By how much part numbers change along the grid.
    strides: Vec<i64>,
    maps: Vec<DimMapFacts>,
    halo: Vec<HaloFacts>,
    boundary: Vec<(i64, i64)>,
    periodic: Vec<bool>,
}

/// A map by its kind: bounds; block size and phase; or lists.
#[derive(FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
struct DimMapFacts {
    kind: String,
    numbers: Vec<i64>,
    lists: Vec<Vec<i64>>,
}

/// Widths of all parts, or of each.
#[derive(FromPyObject, IntoPyObject)]
enum HaloFacts {
    Sides((i64, i64)),
    PerPart(Vec<(i64, i64)>),
}

impl DistributionFacts {
    /// Those of a distribution.
    pub fn of(dist: &Division) -> PyResult<DistributionFacts> {
        let (rank, (lo, hi), boundary) = (dist.rank(), dist.halo(), dist.boundary());
        let halo = |d: usize| match dist.halo_per_part(d) {
            Some(widths) => HaloFacts::PerPart(widths.to_vec()),
            None => HaloFacts::Sides((lo[d], hi[d])),
        };
        if rank == 0 {
            // Beside the shape, the facts of a line of one cell.
            let line = DistributionFacts::of(&dist.with_inner(1).map_err(raised)?)?;
            return Ok(DistributionFacts { shape: Vec::new(), ..line });
        }
        Ok(DistributionFacts {
            shape: dist.shape().to_vec(),
            grid: dist.grid().shape().to_vec(),
            strides: dist.grid().strides().to_vec(),
            maps: (0..rank).map(|d| DimMapFacts::of(dist.map(d))).collect::<PyResult<_>>()?,
            halo: (0..rank).map(halo).collect(),
            boundary: (0..rank).map(|d| (boundary.0[d], boundary.1[d])).collect(),
            periodic: (0..rank).map(|d| dist.periodic(d)).collect(),
        })
    }

    /// The distribution that they describe.
    pub fn division(&self) -> PyResult<Division> {
        let is_line = self.shape.len() < self.grid.len();
        let shape = if is_line { &[1] } else { &self.shape[..] };
        let (lo, hi): (Vec<i64>, Vec<i64>) = self.boundary.iter().copied().unzip();
        let builder = Division::builder(shape).grid(&self.grid).grid_strides(&self.strides);
        let mut builder = builder.boundary(&lo, &hi).periodic(&self.periodic);
        let (mut below, mut above) = (vec![0; shape.len()], vec![0; shape.len()]);
        for (d, halo) in self.halo.iter().enumerate().take(shape.len()) {
            match halo {
                HaloFacts::Sides(sides) => (below[d], above[d]) = *sides,
                HaloFacts::PerPart(widths) => builder = builder.halo_per_part(d, widths),
            }
        }
        builder = builder.halo(&below, &above);
        for (d, ((map, &size), &parts)) in self.maps.iter().zip(shape).zip(&self.grid).enumerate() {
            builder = builder.map(d, map.division(size, parts)?);
        }
        let made = builder.build().map_err(raised)?;
        Ok(made.without_inner().filter(|_| is_line).unwrap_or(made))
    }
}

impl DimMapFacts {
    fn of(map: &DimMap) -> PyResult<DimMapFacts> {
        let (kind, mut numbers, mut lists) = (map.kind().to_owned(), Vec::new(), Vec::new());
        match map {
            // Even blocks are a rule, which has a meaning for other sizes.
            DimMap::Block { .. } if DimMap::even(map.size(), map.parts()).is_ok_and(|even| even == *map) => {}
            DimMap::Block { .. } => {
                numbers =
                    std::iter::once(0).chain((0..map.parts()).map(|part| map.owned(part).end)).collect();
            }
            DimMap::Cyclic(cyclic) => {
                let (phase, step) = cyclic.phase();
                numbers = vec![cyclic.block_size(), phase, step];
            }
            DimMap::Replicated { .. } => {}
            DimMap::Unstructured(held) => {
                let names = |part| held.held(part).iter().filter_map(|&g| held.label(g)).collect();
                (numbers, lists) = (vec![held.one_to_one().into()], (0..map.parts()).map(names).collect());
            }
            DimMap::Custom(_) => {
                let text = "pickling a distribution: expected maps of the library, given one of a program";
                return Err(PyTypeError::new_err(format!("{text}; redistribute the array first")));
            }
        }
        Ok(DimMapFacts { kind, numbers, lists })
    }

    fn division(&self, size: i64, parts: i64) -> PyResult<DimMap> {
        let parts = usize::try_from(parts).unwrap_or_default();
        match (&self.kind[..], &self.numbers[..]) {
            ("block", []) => DimMap::even(size, parts).map_err(raised),
            ("block", bounds) => DimMap::irregular(bounds).map_err(raised),
            ("cyclic", &[block, phase, step]) => {
                let cut = cut(size, parts, block, phase, step);
                cut.map_err(|refusal| PyTypeError::new_err(refusal.to_string()))
            }
            ("replicated", _) => DimMap::replicated(size, parts).map_err(raised),
            ("unstructured", &[one_to_one]) => {
                Unstructured::labelled(&self.lists, one_to_one != 0).map(DimMap::Unstructured).map_err(raised)
            }
            (kind, _) => {
                Err(PyTypeError::new_err(format!("unpickling: expected a map of partita, given {kind}")))
            }
        }
    }
}
