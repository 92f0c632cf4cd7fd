//! The footprint of a kernel: which elements of each parameter one point reads and writes.
//!
//! [`crate::verify`] computes it once and keeps it in [`Verified`](crate::Verified). Back ends and passes ask
//! it instead of scanning the body: halo widths, rows and columns of stencils, packing, tiling, copies.
//!
//! Invariant: loads are distinct and in the order of their first use in the body, so text made from them is
//! stable.

use crate::dtype::DType;
use crate::ir::{Access, Form, Kernel, Launch, MAX_RANK, Offsets, Op, Value};

/// The offsets at which a parameter is loaded: lowest and highest per dimension, zeros beyond the rank.
pub type Radius = [(i32, i32); MAX_RANK];

/// One distinct load: a parameter, and where it is read relative to the point.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LoadSite {
    /// The parameter.
    pub param: u32,
    /// One offset per dimension.
    pub offsets: Offsets,
}

impl LoadSite {
    /// Whether it reads the point itself.
    pub fn is_at_point(&self) -> bool {
        self.offsets.iter().all(|&offset| offset == 0)
    }
}

/// Offsets with 0 in the last dimension, and the last one.
pub(crate) fn row_and_column(offsets: &Offsets) -> (Offsets, i32) {
    let mut row = offsets.clone();
    let column = row.last_mut().map_or(0, std::mem::take);
    (row, column)
}

/// Loads of one parameter that differ in the last dimension only: a row of a stencil.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadRow {
    /// The parameter.
    pub param: u32,
    /// The offsets of the row, with 0 in the last dimension.
    pub offsets: Offsets,
    /// The offsets in the last dimension, in body order. A vector access of `n` elements is aligned where a
    /// column is a multiple of `n`: the remainders are the row's alignment classes.
    pub columns: Vec<i32>,
}

/// A store of an element as it was loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CopiedParam {
    /// The load of the element.
    pub from: LoadSite,
    /// The parameter that it is written to, at the point.
    pub to: u32,
}

/// A kernel's use of one parameter.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct ParamFootprint {
    /// The box around its loads; `None` if the body does not load it.
    pub radius: Option<Radius>,
    /// Bytes of an element.
    pub size: usize,
    /// Whether the form writes it at the point.
    pub is_stored: bool,
    /// Whether an index value addresses it: the source of a gather, the target of a scatter.
    pub is_indexed: bool,
    /// Whether it is read and written at the point: its loads come before its stores.
    pub is_in_place: bool,
}

/// The reads and writes of one point of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Footprint {
    loads: Vec<LoadSite>,
    rows: Vec<LoadRow>,
    coords: Vec<(u32, DType)>,
    params: Vec<ParamFootprint>,
    copies: Option<Vec<CopiedParam>>,
    /// The dimensions that are folded away.
    folded: Vec<usize>,
}

impl Footprint {
    /// Scans a kernel; only [`crate::verify`] needs to.
    pub(crate) fn of(kernel: &Kernel) -> Footprint {
        let indexed = kernel.indexed_param();
        let params = kernel.params.iter().enumerate().map(|(p, param)| ParamFootprint {
            radius: None,
            size: param.dtype.size_bytes(),
            is_stored: param.access != Access::In && indexed != Some(p as u32),
            is_indexed: indexed == Some(p as u32),
            is_in_place: param.access == Access::InOut,
        });
        let folded = match &kernel.form {
            Form::Reduce { axes, .. } => (0..kernel.rank).filter(|&dim| axes[dim]).collect(),
            Form::Elementwise { .. } | Form::Scan(_) | Form::Gather { .. } | Form::Scatter { .. } => {
                Vec::new()
            }
        };
        let (params, copies) = (params.collect(), copies(kernel));
        let (loads, rows, coords) = (Vec::new(), Vec::new(), Vec::new());
        let mut footprint = Footprint { loads, rows, coords, params, copies, folded };
        for inst in &kernel.body {
            match &inst.op {
                Op::Load { param, offsets } => {
                    footprint.add(LoadSite { param: *param, offsets: offsets.clone() });
                }
                Op::Coord(dim) if !footprint.coords.contains(&(*dim, inst.dtype)) => {
                    footprint.coords.push((*dim, inst.dtype));
                }
                _ => {}
            }
        }
        footprint
    }

    fn add(&mut self, site: LoadSite) {
        if self.loads.contains(&site) {
            return;
        }
        let first = std::array::from_fn(|k| site.offsets.get(k).map_or((0, 0), |&d| (d, d)));
        let radius = self.params[site.param as usize].radius.get_or_insert(first);
        for (r, &d) in radius.iter_mut().zip(&site.offsets) {
            *r = (r.0.min(d), r.1.max(d));
        }
        let (offsets, column) = row_and_column(&site.offsets);
        match self.rows.iter_mut().find(|row| row.param == site.param && row.offsets == offsets) {
            Some(row) => row.columns.push(column),
            None => self.rows.push(LoadRow { param: site.param, offsets, columns: vec![column] }),
        }
        self.loads.push(site);
    }

    /// The distinct loads of the body, in the order of their first use.
    pub fn loads(&self) -> &[LoadSite] {
        &self.loads
    }

    /// The rows that are read, in the order of their first use.
    pub fn rows(&self) -> &[LoadRow] {
        &self.rows
    }

    /// The coordinates that the body reads, each as i32 or i64, in the order of their first use.
    pub fn coords(&self) -> &[(u32, DType)] {
        &self.coords
    }

    /// One entry per parameter.
    pub fn params(&self) -> &[ParamFootprint] {
        &self.params
    }

    /// Whether the body loads a parameter.
    pub fn is_loaded(&self, param: u32) -> bool {
        self.params.get(param as usize).is_some_and(|p| p.radius.is_some())
    }

    /// Whether everything is read at the point itself: no stencil.
    pub fn is_pointwise(&self) -> bool {
        self.loads.iter().all(LoadSite::is_at_point)
    }

    /// Whether neighbours along a dimension are read.
    pub fn reads_along(&self, dim: usize) -> bool {
        self.loads.iter().any(|site| site.offsets[dim] != 0)
    }

    /// Whether two points along a dimension read the same element: loads that differ only there.
    pub fn shares_along(&self, dim: usize) -> bool {
        let others = |site: &LoadSite| {
            let mut offsets = site.offsets.clone();
            offsets[dim] = 0;
            (site.param, offsets)
        };
        let keys: Vec<_> = self.loads.iter().map(others).collect();
        keys.iter().enumerate().any(|(n, key)| keys[..n].contains(key))
    }

    /// The dimensions that a reduction folds away, in the order in which the points of a fold are numbered,
    /// the last one fastest: by falling stride, so that memory is read in order. The stride of a dimension is
    /// the largest, in bytes, of all parameters that the body loads; dimensions of equal strides keep their
    /// order.
    pub fn fold_order(&self, launch: &Launch) -> Vec<usize> {
        let loaded = || self.params.iter().zip(&launch.views).filter(|(param, _)| param.radius.is_some());
        let stride =
            |dim: usize| loaded().map(|(p, view)| view.strides[dim].unsigned_abs() * p.size as u64).max();
        let mut dims = self.folded.clone();
        dims.sort_by_key(|&dim| std::cmp::Reverse(stride(dim)));
        dims
    }

    /// The copies of an elementwise kernel that only moves elements, one per store; `None` if it computes.
    pub fn copies(&self) -> Option<&[CopiedParam]> {
        self.copies.as_deref()
    }
}

fn copies(kernel: &Kernel) -> Option<Vec<CopiedParam>> {
    let Form::Elementwise { stores } = &kernel.form else { return None };
    let loaded = |value: Value| match &kernel.body[value.index()].op {
        Op::Load { param, offsets } => Some(LoadSite { param: *param, offsets: offsets.clone() }),
        _ => None,
    };
    stores.iter().map(|store| Some(CopiedParam { from: loaded(store.value)?, to: store.param })).collect()
}
