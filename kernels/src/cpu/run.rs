//! One launch as all its workers see it: where parameters lie, how each load gets its lanes, how long chunks
//! are, and what shortcuts its rows allow. It does not know what is computed, nor in which order.

use std::cell::Cell;

use super::Task;
use super::compile::{Code, Load, Step, Stored};
use super::layout::{Dims, Layout};
use super::place::{BLOCK, SPLAT};
use crate::ir::{self, Launch};

/// Bytes of slots that leave room in the L1 cache for rows in place.
const SLOT_BYTES: usize = 16 << 10;
/// Lanes of a chunk that needs no slots.
const LONG_CHUNK: usize = 1 << 16;
/// Instructions of a chain that memory takes longer than.
const LIGHT_CHAIN: usize = 16;

/// Lanes of a stencil's row that is written past the caches: of one of 510, masks cost more than that brings.
const LONG_ROW: usize = 16 * SPLAT;

/// One parameter of a launch.
pub(super) struct Param {
    /// The region's first element; a box's moves from tile to tile.
    first: Cell<*mut u8>,
    pub element_bytes: usize,
    /// Bytes between neighbours, per dimension of the layout.
    pub strides_bytes: Dims<isize>,
    /// Bytes between neighbours in the innermost dimension.
    pub inner_bytes: isize,
    /// Neighbours in the innermost dimension lie as lanes do, aligned to their type.
    pub dense: bool,
}

/// How a load of a long enough row gets its lanes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// In place.
    Direct,
    /// The same element over and over.
    Splat,
    /// Copied into a slot: other strides, and parameters that are written too.
    Copy,
}

/// One load of a launch.
pub(super) struct Source {
    pub param: usize,
    /// From the point to what is read.
    pub delta_bytes: isize,
    pub access: Access,
}

/// What all workers of one launch share.
pub(super) struct Run<'r> {
    pub code: &'r Code,
    pub launch: &'r Launch,
    pub layout: Layout,
    pub params: Vec<Param>,
    pub sources: Vec<Source>,
    /// Most lanes of a chunk, a multiple of [`BLOCK`].
    pub chunk: usize,
    /// Lanes of a chunk that is copied into slots.
    pub slot_chunk: usize,
    /// Lanes of a slot.
    pub slot_lanes: usize,
    /// Write outputs past the caches.
    pub stream: bool,
    /// No chain reads in place what it writes.
    pub redo: bool,
    /// Values that are folded take so long that processors do not see the next reads coming: they are asked
    /// for.
    pub ask_ahead: bool,
    /// For a body that is one chain on rows in place: each place, and its bytes from row to row.
    pub steps_down: Option<Vec<(u32, isize)>>,
    /// For a body that stores what it loads, on rows in place.
    pub copies: Option<Vec<Copied>>,
}

/// A load that is stored as it is, with the bytes from a row to the next.
pub(super) struct Copied {
    pub place: u32,
    pub from_down: isize,
    pub param: usize,
    pub to_down: isize,
}

// SAFETY: workers read and write through the pointers in `params` from several threads. The caller
// of `Program::run` promises exclusive use of what is written, verification that no two points of an
// output share an element, and each point is given to one worker. A run whose parameters are moved belongs
// to one thread.
unsafe impl Sync for Run<'_> {}

impl<'r> Run<'r> {
    /// A run that knows where parameters lie, which is all that machine code needs.
    pub(super) fn lying(task: &Task<'r>, layout: Layout, stream: bool) -> Run<'r> {
        let Task { code, launch, .. } = *task;
        let params: Vec<Param> = (0..launch.views.len()).map(|p| param(task, &layout, p)).collect();
        Run {
            code,
            launch,
            layout,
            params,
            sources: Vec::new(),
            chunk: 0,
            slot_chunk: 0,
            slot_lanes: 0,
            stream,
            redo: false,
            ask_ahead: false,
            steps_down: None,
            copies: None,
        }
    }

    /// A run of the interpreter.
    pub(super) fn new(task: &Task<'r>, layout: Layout, stream: bool) -> Run<'r> {
        Run::lying(task, layout, stream).interpreted(task)
    }

    /// With what the interpreter needs.
    pub(super) fn interpreted(mut self, task: &Task<'r>) -> Run<'r> {
        let Task { code, tuning, .. } = *task;
        let params = &self.params;
        let sources: Vec<Source> = code.loads.iter().map(|load| source(task, params, load)).collect();
        let in_place = code.single_pass
            && sources.iter().all(|source| source.access != Access::Copy)
            && code.stores.iter().all(|store| store.out.is_none() || params[store.param].dense);
        let fitting = SLOT_BYTES / code.slot_bytes.max(1) / BLOCK * BLOCK;
        let is_light = |step: &Step| match step {
            Step::Load(_) => true,
            Step::Chain { code, .. } => code.len() <= LIGHT_CHAIN,
            Step::Coord(_) | Step::Map { .. } => false,
        };
        let light = code.steps.iter().all(is_light);
        let folds = code.stores.is_empty();
        self.ask_ahead = folds && !light;
        let most = if folds && light { tuning.fold_chunk } else { tuning.chunk };
        self.slot_chunk = if in_place { SPLAT } else { fitting.clamp(2 * BLOCK, most) };
        self.chunk = if in_place { LONG_CHUNK } else { self.slot_chunk };
        // Chains may write whole blocks of bools from any lane.
        self.slot_lanes = self.slot_chunk + SPLAT;
        let updates =
            |s: &Source| s.access == Access::Direct && code.stores.iter().any(|t| t.param == s.param);
        self.redo = !sources.iter().any(updates);
        self.steps_down = steps_down(code, &self.layout, params, &sources).filter(|_| in_place);
        self.copies = copies(code, &self.layout, params, &sources);
        self.sources = sources;
        self
    }

    /// Is the body one chain, or copies, on rows in place, however short?
    pub(super) fn rows_in_place(&self) -> bool {
        self.steps_down.is_some() || self.copies.is_some()
    }

    /// Are the values just what rows in place hold?
    pub(super) fn rows_as_loaded(&self) -> bool {
        self.rows_in_place() && self.code.steps.iter().all(|step| matches!(step, Step::Load(_)))
    }

    /// Are rows so long that the lines at their ends, which are not written past the caches, hardly count?
    pub(super) fn has_long_rows(&self) -> bool {
        self.rows_in_place() && self.layout.extents[self.layout.inner()] >= LONG_ROW
    }

    /// Moves a parameter to where its element of the region's first point would be.
    pub(super) fn place(&self, param: usize, first: *mut u8) {
        self.params[param].first.set(first);
    }

    /// The address of parameter `param` at `index` in the first `outer` dimensions and lane `lane`.
    pub(super) fn address(&self, param: usize, index: &Dims<usize>, outer: usize, lane: usize) -> *mut u8 {
        let param = &self.params[param];
        let strides = param.strides_bytes[..outer].iter().zip(index);
        let moved: isize = strides.map(|(&stride, &i)| stride * i as isize).sum();
        param.first.get().wrapping_offset(moved + lane as isize * param.inner_bytes)
    }
}

fn param(task: &Task<'_>, layout: &Layout, p: usize) -> Param {
    let bytes = task.kernel.params[p].dtype.size_bytes() as isize;
    let first = task.memory[p].ptr.wrapping_offset(task.launch.views[p].offset as isize * bytes);
    let strides_bytes = layout.strides[p].map(|stride| stride as isize * bytes);
    let inner_bytes = strides_bytes[layout.inner()];
    let dense = inner_bytes == bytes && (first as usize).is_multiple_of(bytes as usize);
    Param { first: Cell::new(first), element_bytes: bytes as usize, strides_bytes, inner_bytes, dense }
}

fn source(task: &Task<'_>, params: &[Param], load: &Load) -> Source {
    let param = &params[load.param];
    let strides = &task.launch.views[load.param].strides;
    let delta: i64 = strides.iter().zip(&load.offsets).map(|(&s, &d)| s * i64::from(d)).sum();
    let read_only = task.kernel.params[load.param].access == ir::Access::In;
    let access = match param.inner_bytes {
        0 => Access::Splat,
        _ if param.dense && (read_only || load.read_before_store) => Access::Direct,
        _ => Access::Copy,
    };
    Source { param: load.param, delta_bytes: delta as isize * param.element_bytes as isize, access }
}

/// See [`Run::steps_down`].
fn steps_down(
    code: &Code,
    layout: &Layout,
    params: &[Param],
    sources: &[Source],
) -> Option<Vec<(u32, isize)>> {
    let down = layout.inner().checked_sub(1)?;
    let step = |place: u32, param: usize| (place, params[param].strides_bytes[down]);
    let loads = code
        .loads
        .iter()
        .zip(sources)
        .map(|(load, source)| (source.access == Access::Direct).then(|| step(load.place, load.param)));
    let stores = code.stores.iter().map(|store| Some(step(store.out?, store.param)));
    loads.chain(stores).collect()
}

/// See [`Run::copies`].
fn copies(code: &Code, layout: &Layout, params: &[Param], sources: &[Source]) -> Option<Vec<Copied>> {
    let down = layout.inner().checked_sub(1)?;
    let direct = |source: &Source| source.access == Access::Direct && params[source.param].dense;
    let loads_alone = code.steps.iter().all(|step| matches!(step, Step::Load(_)));
    if code.stores.is_empty() || !loads_alone || !sources.iter().all(direct) {
        return None;
    }
    let copied = |store: &Stored| {
        let load = code.loads.iter().find(|load| load.place == store.place)?;
        params[store.param].dense.then(|| Copied {
            place: load.place,
            from_down: params[load.param].strides_bytes[down],
            param: store.param,
            to_down: params[store.param].strides_bytes[down],
        })
    };
    code.stores.iter().map(copied).collect()
}
