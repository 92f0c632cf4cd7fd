//! One launch as all its workers see it: where parameters are, how each load gets its lanes, and how long
//! chunks are.

use std::cell::Cell;

use super::compile::{Code, Load};
use crate::cpu::launch::{Dims, HostLaunch, LaunchLayout};
use crate::cpu::loops::lanes::BLOCK;
use crate::ir::{Access, Launch};

/// Bytes of slots that leave room in the L1 cache for rows in place.
const SLOT_BYTES: usize = 16 << 10;
/// Lanes of a chunk that needs no slots.
const LONG_CHUNK: usize = 1 << 16;

/// One parameter of a launch.
pub(in crate::cpu) struct ParamPlace {
    /// The region's first element; that of a packed operand moves from tile to tile.
    first: Cell<*mut u8>,
    pub element_bytes: usize,
    /// Bytes between neighbours, per dimension of the layout.
    pub strides_bytes: Dims<isize>,
    /// Bytes between neighbours in the innermost dimension.
    pub inner_bytes: isize,
    /// Neighbours in the innermost dimension are contiguous and aligned to their type.
    pub dense: bool,
}

/// The way in which a load of a long enough row gets its lanes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::cpu) enum LoadKind {
    /// In place.
    Direct,
    /// The same element over and over.
    Splat,
    /// Copied into a slot: other strides, and parameters that are written too.
    Copy,
}

/// One load of a launch.
pub(in crate::cpu) struct LoadSource {
    pub param: usize,
    /// Bytes from the point to the element that is read.
    pub delta_bytes: isize,
    pub kind: LoadKind,
}

/// The state that all workers of one launch share.
pub(in crate::cpu) struct Run<'r> {
    pub code: &'r Code,
    pub launch: &'r Launch,
    pub layout: LaunchLayout,
    pub params: Vec<ParamPlace>,
    pub sources: Vec<LoadSource>,
    /// Most lanes of a chunk, a multiple of [`BLOCK`].
    pub chunk: usize,
    /// Lanes of a chunk that is copied into slots.
    pub slot_chunk: usize,
    /// Lanes of a slot.
    pub slot_lanes: usize,
    /// Write outputs with non-temporal stores.
    pub stream: bool,
}

// SAFETY: workers read and write through the pointers in `params` from several threads. The caller
// of `Program::run` promises exclusive use of what is written, verification that no two points of an
// output share an element, and each point is given to one worker. A run whose parameters are moved belongs
// to one thread.
unsafe impl Sync for Run<'_> {}

impl<'r> Run<'r> {
    /// A run that holds where parameters are, which is all that machine code needs.
    pub(in crate::cpu) fn placed(task: &HostLaunch<'r>, layout: LaunchLayout, stream: bool) -> Run<'r> {
        let HostLaunch { code, launch, .. } = *task;
        let params: Vec<ParamPlace> = (0..launch.views.len()).map(|p| param(task, &layout, p)).collect();
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
        }
    }

    /// A run for workers.
    pub(in crate::cpu) fn new(task: &HostLaunch<'r>, layout: LaunchLayout, stream: bool) -> Run<'r> {
        Run::placed(task, layout, stream).with_chunks(task)
    }

    /// With what workers need.
    pub(in crate::cpu) fn with_chunks(mut self, task: &HostLaunch<'r>) -> Run<'r> {
        let HostLaunch { code, tuning, .. } = *task;
        let sources: Vec<LoadSource> =
            code.loads.iter().map(|load| source(task, &self.params, load)).collect();
        let in_place = code.only_loads() && sources.iter().all(|source| source.kind != LoadKind::Copy);
        let fitting = SLOT_BYTES / code.slot_bytes.max(1) / BLOCK * BLOCK;
        self.slot_chunk = if in_place { BLOCK } else { fitting.clamp(2 * BLOCK, tuning.chunk) };
        self.chunk = if in_place { LONG_CHUNK } else { self.slot_chunk };
        // Loops write whole blocks.
        self.slot_lanes = self.slot_chunk + BLOCK;
        self.sources = sources;
        self
    }

    /// Moves a parameter to where its element of the region's first point would be.
    pub(in crate::cpu) fn place(&self, param: usize, first: *mut u8) {
        self.params[param].first.set(first);
    }

    /// The address of parameter `param` at `index` in the first `outer` dimensions and lane `lane`.
    pub(in crate::cpu) fn address(
        &self,
        param: usize,
        index: &Dims<usize>,
        outer: usize,
        lane: usize,
    ) -> *mut u8 {
        let param = &self.params[param];
        let strides = param.strides_bytes[..outer].iter().zip(index);
        let moved: isize = strides.map(|(&stride, &i)| stride * i as isize).sum();
        param.first.get().wrapping_offset(moved + lane as isize * param.inner_bytes)
    }
}

fn param(task: &HostLaunch<'_>, layout: &LaunchLayout, p: usize) -> ParamPlace {
    let bytes = task.kernel.params[p].dtype.size_bytes() as isize;
    let first = task.memory[p].ptr.wrapping_offset(task.launch.views[p].offset as isize * bytes);
    let strides_bytes = layout.strides[p].map(|stride| stride as isize * bytes);
    let inner_bytes = strides_bytes[layout.inner()];
    let dense = inner_bytes == bytes && (first as usize).is_multiple_of(bytes as usize);
    ParamPlace { first: Cell::new(first), element_bytes: bytes as usize, strides_bytes, inner_bytes, dense }
}

fn source(task: &HostLaunch<'_>, params: &[ParamPlace], load: &Load) -> LoadSource {
    let param = &params[load.param];
    let strides = &task.launch.views[load.param].strides;
    let delta: i64 = strides.iter().zip(&load.offsets).map(|(&s, &d)| s * i64::from(d)).sum();
    let read_only = task.kernel.params[load.param].access == Access::In;
    let kind = match param.inner_bytes {
        0 => LoadKind::Splat,
        _ if param.dense && read_only => LoadKind::Direct,
        _ => LoadKind::Copy,
    };
    LoadSource { param: load.param, delta_bytes: delta as isize * param.element_bytes as isize, kind }
}
