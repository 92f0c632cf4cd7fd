//! Every rule of [`crate::ir`], checked once: of a kernel, and of a launch.
//!
//! Writers and devices take a [`Verified`] kernel and do not check again. A verified kernel whose
//! launch passes [`Verified::check`] touches no element outside the memory it is given, which is
//! what lets devices run it without bounds checks.
//!
//! [`Footprint`]: which elements of each parameter of a kernel one point reads and writes. [`verify`]
//! computes it once and keeps it in [`Verified`]. Back ends and passes ask it instead of scanning the body:
//! halo widths, rows and columns of stencils, packing, tiling, copies.
//!
//! Invariant: loads are distinct and in the order of their first use in the body, so text made from them is
//! stable.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::dtype::{DType, Scalar};
use crate::ir::{
    Access, BinaryOp, Fold, FoldOp, Form, Kernel, Launch, MAX_RANK, Offsets, Op, Scan, UnaryOp, Value, View,
};

/// A kernel that obeys every rule of the IR. The only way to one is [`verify`].
#[derive(Clone, Debug)]
pub struct Verified {
    kernel: Kernel,
    footprint: Footprint,
}

impl PartialEq for Verified {
    fn eq(&self, other: &Verified) -> bool {
        self.kernel == other.kernel
    }
}

impl Eq for Verified {}

impl Hash for Verified {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kernel.hash(state);
    }
}

/// A rule of the IR that a kernel breaks: which kernel, where, what.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("kernel {kernel}: {place}: {reason}")]
pub struct VerifyError {
    /// The kernel's name.
    pub kernel: String,
    /// The instruction (`%3 = ...`), parameter or form.
    pub place: String,
    /// The fault.
    pub reason: String,
}

/// A launch that does not fit its kernel or its memory.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("launch of {kernel}: {reason}")]
pub struct LaunchError {
    /// The kernel's name.
    pub kernel: String,
    /// Expected and given.
    pub reason: String,
}

/// Checks a kernel.
///
/// # Errors
/// The first rule it breaks.
pub fn verify(kernel: Kernel) -> Result<Verified, VerifyError> {
    let fail = |place: String, reason: String| VerifyError { kernel: kernel.name.clone(), place, reason };
    if kernel.rank > MAX_RANK {
        return Err(fail("rank".into(), format!("at most {MAX_RANK} dimensions, given {}", kernel.rank)));
    }
    for at in 0..kernel.body.len() {
        check_inst(&kernel, at)
            .map_err(|reason| fail(format!("%{at} = {:?}", kernel.body[at].op), reason))?;
    }
    check_form(&kernel).map_err(|reason| fail(kernel.form.name().into(), reason))?;
    let footprint = Footprint::of(&kernel);
    Ok(Verified { kernel, footprint })
}

type Check = Result<(), String>;

fn ensure(condition: bool, reason: impl FnOnce() -> String) -> Check {
    if condition { Ok(()) } else { Err(reason()) }
}

fn check_inst(kernel: &Kernel, at: usize) -> Check {
    let inst = &kernel.body[at];
    for value in inst.op.operands() {
        ensure(value.index() < at, || format!("uses %{} before it is defined", value.0))?;
    }
    let of = |value: Value| kernel.body[value.index()].dtype;
    let result = inst.dtype;
    let same = |value: Value| {
        ensure(of(value) == result, || format!("operand %{} is {}, result is {result}", value.0, of(value)))
    };
    match &inst.op {
        Op::Const(scalar) => {
            ensure(scalar.dtype == result, || format!("constant is {}, result is {result}", scalar.dtype))
        }
        Op::Argument(n) => {
            let given = kernel.arguments.get(*n as usize);
            ensure(given == Some(&result), || format!("argument {n} is {given:?}, result is {result}"))
        }
        Op::Coord(dim) => {
            ensure((*dim as usize) < kernel.rank, || format!("no dimension {dim} in rank {}", kernel.rank))?;
            ensure(matches!(result, DType::I32 | DType::I64), || {
                format!("a coordinate is i32 or i64, not {result}")
            })
        }
        Op::Load { param, offsets } => check_load(kernel, *param, offsets, result),
        Op::Unary(op, a) => check_unary(*op, of(*a), result),
        Op::Binary(op, a, b) => same(*a).and(same(*b)).and(check_binary(*op, result)),
        Op::Compare(_, a, b) => {
            ensure(of(*a) == of(*b), || format!("compares {} with {}", of(*a), of(*b)))?;
            ensure(result == DType::Bool, || format!("a comparison is bool, not {result}"))
        }
        Op::Select(c, a, b) => {
            ensure(of(*c) == DType::Bool, || format!("condition is {}, not bool", of(*c)))?;
            same(*a).and(same(*b))
        }
        Op::Fma(a, b, c) => {
            ensure(matches!(result, DType::F32 | DType::F64), || format!("fma of {result}"))?;
            same(*a).and(same(*b)).and(same(*c))
        }
        Op::Cast(_) => Ok(()),
        Op::Bitcast(a) => {
            let width = |d: DType| if d == DType::Bool { 0 } else { d.size_bytes() };
            ensure(width(of(*a)) == width(result) && width(result) > 0, || {
                format!("bitcast of {} to {result}", of(*a))
            })
        }
        Op::Math1(_, a) => {
            ensure(result.is_float(), || format!("mathematical function of {result}")).and(same(*a))
        }
        Op::Math2(_, a, b) => ensure(result.is_float(), || format!("mathematical function of {result}"))
            .and(same(*a))
            .and(same(*b)),
    }
}

fn check_load(kernel: &Kernel, param: u32, offsets: &[i32], result: DType) -> Check {
    let Some(declared) = kernel.params.get(param as usize) else {
        return Err(format!("no parameter p{param}"));
    };
    ensure(declared.dtype == result, || format!("p{param} is {}, result is {result}", declared.dtype))?;
    ensure(offsets.len() == kernel.rank, || format!("{} offsets for rank {}", offsets.len(), kernel.rank))?;
    match declared.access {
        Access::In => Ok(()),
        Access::InOut => ensure(offsets.iter().all(|&d| d == 0), || {
            format!("p{param} is written, so it may only be read at offset zero")
        }),
        Access::Out => Err(format!("p{param} is only written")),
    }
}

fn check_unary(op: UnaryOp, operand: DType, result: DType) -> Check {
    let fits = match op {
        UnaryOp::Neg | UnaryOp::Abs => operand != DType::Bool && result == operand,
        UnaryOp::Not => !operand.is_float() && result == operand,
        UnaryOp::IsNan => operand.is_float() && result == DType::Bool,
        UnaryOp::Sqrt | UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Trunc | UnaryOp::Round => {
            operand.is_float() && result == operand
        }
    };
    ensure(fits, || format!("{op:?} of {operand} giving {result}"))
}

fn check_binary(op: BinaryOp, dtype: DType) -> Check {
    let fits = match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => dtype != DType::Bool,
        BinaryOp::Min | BinaryOp::Max => true,
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => !dtype.is_float(),
        BinaryOp::Shl | BinaryOp::Shr => dtype.is_integer(),
    };
    ensure(fits, || format!("{op:?} of {dtype}"))
}

fn check_form(kernel: &Kernel) -> Check {
    let mut written = vec![0; kernel.params.len()];
    let mut write = |param: u32, value: Option<DType>, access: &[Access]| {
        let Some(declared) = kernel.params.get(param as usize) else {
            return Err(format!("no parameter p{param}"));
        };
        written[param as usize] += 1;
        ensure(access.contains(&declared.access), || {
            format!("p{param} is {:?}, needs one of {access:?}", declared.access)
        })?;
        ensure(value == Some(declared.dtype), || {
            format!("p{param} is {}, the value is {value:?}", declared.dtype)
        })
    };
    let of = |value: Value| kernel.body.get(value.index()).map(|inst| inst.dtype);
    match &kernel.form {
        Form::Elementwise { stores } => {
            for store in stores {
                write(store.param, of(store.value), &[Access::Out, Access::InOut])?;
            }
        }
        Form::Reduce { axes, folds, stores } => {
            ensure(axes.len() == kernel.rank, || {
                format!("{} axis marks for rank {}", axes.len(), kernel.rank)
            })?;
            for fold in folds {
                match *fold {
                    Fold::Value { op, value, output } => {
                        check_fold(op, of(value))?;
                        write(output, of(value), &[Access::Out])?;
                    }
                    Fold::Arg { value, index, value_output, index_output, .. } => {
                        check_index(of(index))?;
                        write(value_output, of(value), &[Access::Out])?;
                        write(index_output, of(index), &[Access::Out])?;
                    }
                }
            }
            for store in stores {
                write(store.param, of(store.value), &[Access::Out])?;
                let dtype = of(store.value);
                ensure(dtype.is_some_and(|dtype| dtype.size_bytes() >= 4), || {
                    format!("p{} is stored beside folds, {dtype:?} has less than 4 bytes", store.param)
                })?;
            }
        }
        Form::Scan(Scan { axis, op, start, value, output, .. }) => {
            ensure(*axis < kernel.rank, || format!("no dimension {axis} in rank {}", kernel.rank))?;
            check_fold(*op, of(*value))?;
            ensure(of(*start) == of(*value), || {
                format!("starts as {:?}, the value is {:?}", of(*start), of(*value))
            })?;
            write(*output, of(*value), &[Access::Out])?;
        }
        Form::Gather { index, source, output } => {
            check_index(of(*index))?;
            let from = kernel.params.get(*source as usize);
            ensure(from.is_some_and(|p| p.access == Access::In), || format!("p{source} must be In"))?;
            ensure(!is_loaded(kernel, *source), || {
                format!("p{source} is the source and may not be loaded from")
            })?;
            write(*output, from.map(|p| p.dtype), &[Access::Out])?;
        }
        Form::Scatter { index, value, output, add } => {
            check_index(of(*index))?;
            ensure(!is_loaded(kernel, *output), || {
                format!("p{output} is the target and may not be loaded from")
            })?;
            write(*output, of(*value), if *add { &[Access::InOut] } else { &[Access::Out] })?;
            ensure(!add || of(*value) != Some(DType::Bool), || "cannot add bool".into())?;
        }
    }
    for (p, param) in kernel.params.iter().enumerate() {
        let expected = usize::from(param.access != Access::In);
        ensure(written[p] == expected, || {
            format!("p{p} ({:?}) is written {} times, expected {expected}", param.access, written[p])
        })?;
    }
    Ok(())
}

fn is_loaded(kernel: &Kernel, param: u32) -> bool {
    kernel.body.iter().any(|inst| matches!(inst.op, Op::Load { param: p, .. } if p == param))
}

fn check_index(dtype: Option<DType>) -> Check {
    ensure(matches!(dtype, Some(DType::I32 | DType::I64 | DType::U32 | DType::U64)), || {
        format!("an index is i32, i64, u32 or u64, not {dtype:?}")
    })
}

fn check_fold(op: FoldOp, dtype: Option<DType>) -> Check {
    let fits = match op {
        FoldOp::Sum | FoldOp::Product => dtype.is_some_and(|d| d != DType::Bool),
        FoldOp::Min | FoldOp::Max => dtype.is_some(),
        FoldOp::All | FoldOp::Any => dtype == Some(DType::Bool),
    };
    ensure(fits, || format!("{op:?} of {dtype:?}"))
}

impl Verified {
    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The reads and writes of each parameter by one point.
    pub fn footprint(&self) -> &Footprint {
        &self.footprint
    }

    fn radius_of(&self, p: usize) -> Option<Radius> {
        self.footprint.params().get(p).and_then(|param| param.radius)
    }

    /// The smallest box around the load offsets of a parameter: `(lowest, highest)` per dimension;
    /// zeros if it is never loaded.
    pub fn radius(&self, param: u32) -> Vec<(i32, i32)> {
        self.radius_of(param as usize).unwrap_or_default()[..self.kernel.rank].to_vec()
    }

    /// First and last element, inclusive, that a launch touches of each parameter; `None` where it
    /// touches none. The source of a gather and the target of a scatter count from their offset on,
    /// for as long as the memory reaches, so they give just their offset.
    pub fn touched(&self, launch: &Launch) -> Vec<Option<(i64, i64)>> {
        (0..self.kernel.params.len()).map(|p| self.touched_of(launch, p)).collect()
    }

    fn touched_of(&self, launch: &Launch, p: usize) -> Option<(i64, i64)> {
        let kernel = &self.kernel;
        let view = &launch.views[p];
        if kernel.indexed_param() == Some(p as u32) {
            return Some((view.offset, view.offset));
        }
        let written = kernel.params[p].access != Access::In;
        // A reduction writes its neutral element even where nothing is folded.
        let writes_empty = written && !kernel.stores_beside_folds(p) && kernel.kept_points(launch) > 0;
        if (launch.points() == 0 && !writes_empty) || !(written || self.radius_of(p).is_some()) {
            return None;
        }
        let radius = self.radius_of(p).unwrap_or_default();
        Some(touched_span(view, &launch.extents, &radius))
    }

    /// Proves that a launch fits: ranks and argument types agree, every element it touches lies
    /// inside its parameter's memory of `lens[p]` elements, outputs do not overlap themselves.
    ///
    /// # Errors
    /// Names the parameter, what it touches, and what there is.
    pub fn check(&self, launch: &Launch, lens: &[usize]) -> Result<(), LaunchError> {
        self.check_memory(launch, lens.len(), |p| lens[p])
    }

    /// The same, of so many memories whose elements a function gives.
    pub(crate) fn check_memory(
        &self,
        launch: &Launch,
        memories: usize,
        len: impl Fn(usize) -> usize,
    ) -> Result<(), LaunchError> {
        let reason = self.check_reason(launch, memories, len);
        reason.map_err(|reason| LaunchError { kernel: self.kernel.name.clone(), reason })
    }

    fn check_reason(&self, launch: &Launch, memories: usize, len: impl Fn(usize) -> usize) -> Check {
        let kernel = &self.kernel;
        let params = kernel.params.len();
        ensure(launch.extents.len() == kernel.rank && launch.origin.len() == kernel.rank, || {
            format!("rank {} kernel, extents {:?}, origin {:?}", kernel.rank, launch.extents, launch.origin)
        })?;
        ensure(launch.views.len() == params && memories == params, || {
            format!("{params} parameters, {} views, {memories} memories", launch.views.len())
        })?;
        let given = || launch.arguments.iter().map(|s: &Scalar| s.dtype);
        ensure(given().eq(kernel.arguments.iter().copied()), || {
            format!("arguments {:?} expected, given {:?}", kernel.arguments, given().collect::<Vec<_>>())
        })?;
        ensure(launch.views.iter().all(|v| v.strides.len() == kernel.rank), || {
            format!("a view's strides do not have rank {}", kernel.rank)
        })?;
        let total = launch.extents.iter().try_fold(1usize, |n, &e| n.checked_mul(e));
        ensure(total.is_some_and(|n| n <= i64::MAX as usize), || {
            format!("region {:?} has more points than 63 bits count", launch.extents)
        })?;
        check_coords(&self.footprint, launch)?;
        for p in 0..params {
            let Some((first, last)) = self.touched_of(launch, p) else { continue };
            let inside = first >= 0 && (last < len(p) as i64 || kernel.indexed_param() == Some(p as u32));
            ensure(inside, || {
                format!("p{p} would touch elements {first}..={last}, memory holds {}", len(p))
            })?;
            check_output_strides(kernel, launch, p)?;
        }
        Ok(())
    }
}

fn touched_span(view: &View, extents: &[usize], radius: &[(i32, i32)]) -> (i64, i64) {
    let (mut first, mut last) = (i128::from(view.offset), i128::from(view.offset));
    for ((&stride, &extent), &(lo, hi)) in view.strides.iter().zip(extents).zip(radius) {
        let start = i128::from(stride) * i128::from(lo);
        let stop = i128::from(stride) * (i128::from(hi) + extent.max(1) as i128 - 1);
        first += start.min(stop);
        last += start.max(stop);
    }
    let clamp = |v: i128| v.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
    (clamp(first), clamp(last))
}

fn check_coords(footprint: &Footprint, launch: &Launch) -> Check {
    for &(dim, _) in footprint.coords().iter().filter(|(_, dtype)| *dtype == DType::I32) {
        let start = launch.origin[dim as usize];
        let stop = start.saturating_add(launch.extents[dim as usize] as i64);
        ensure(start >= i64::from(i32::MIN) && stop <= i64::from(i32::MAX), || {
            format!("coordinates {start}..{stop} of dimension {dim} do not fit i32")
        })?;
    }
    Ok(())
}

/// Two points of one output must not share an element. Sufficient and cheap: sorted by stride,
/// each stride steps over everything the smaller ones reach.
fn check_output_strides(kernel: &Kernel, launch: &Launch, p: usize) -> Check {
    if kernel.params[p].access == Access::In || kernel.indexed_param() == Some(p as u32) {
        return Ok(());
    }
    let (mut dims, mut rank) = ([(0, 0); MAX_RANK], 0);
    for (k, (&stride, &extent)) in launch.views[p].strides.iter().zip(&launch.extents).enumerate() {
        if let Form::Reduce { axes, .. } = &kernel.form
            && axes[k]
            && !kernel.stores_beside_folds(p)
        {
            ensure(stride == 0, || format!("p{p} has stride {stride} in reduced dimension {k}"))?;
        } else if extent > 1 {
            dims[rank] = (stride.saturating_abs(), extent);
            rank += 1;
        }
    }
    let dims = &mut dims[..rank];
    dims.sort_unstable();
    let mut reach = 0;
    for &mut (stride, extent) in dims {
        ensure(stride > reach, || {
            format!("output p{p} overlaps itself: strides {:?}", launch.views[p].strides)
        })?;
        reach = reach.saturating_add(stride.saturating_mul(extent as i64 - 1));
    }
    Ok(())
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kernel.fmt(f)
    }
}

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
