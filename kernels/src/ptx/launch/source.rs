//! One launch beside its kernel and memory, and how it fills in an entry's parameters.

use super::module::{Grid, Module, Span};
use super::region::{Dim, Region};
use crate::ir::{Form, Kernel, Launch};
use crate::ptx::text::{Field, Quantity};

/// What blocks are filled from.
pub(in crate::ptx) struct Source<'a> {
    pub module: &'a Module,
    pub kernel: &'a Kernel,
    pub launch: &'a Launch,
    pub memory: &'a [Span],
}

impl Source<'_> {
    /// One grid of an entry. `special` has the fields that neither the launch nor the region knows.
    pub(in crate::ptx) fn grid(
        &self,
        entry: usize,
        region: &Region,
        grid: [u64; 3],
        block: [u32; 3],
        special: impl Fn(&Field) -> u64,
    ) -> Grid {
        let params = self.module.blocks[entry].pack(|field| match field {
            Field::Extent(slot) => region.dims[*slot].extent,
            Field::Start(quantity) => region.starts[region.of(*quantity)] as u64,
            Field::Step(quantity, slot) => region.dims[*slot].steps[region.of(*quantity)] as u64,
            Field::Stride(param, slot) => region.dims[*slot].steps[region.of(Quantity::Param(*param))] as u64,
            Field::Delta(param, offsets) => {
                let strides = &self.launch.views[*param as usize].strides;
                let elements = strides.iter().zip(offsets).map(|(&s, &d)| s.wrapping_mul(i64::from(d)));
                elements.fold(0, i64::wrapping_add).wrapping_mul(self.size(*param)) as u64
            }
            Field::Apart(param) => u64::from(!self.adjacent(region, *param)),
            Field::Uneven(param) => {
                u64::from(!self.adjacent(region, *param) || self.planes_phase(region, *param) != 0)
            }
            Field::Turned(param) => {
                let [.., y, _] = region.dims.as_slice() else { unreachable!("squares have two sides") };
                let along_y = y.steps[region.of(Quantity::Param(*param))] == self.size(*param);
                u64::from(along_y && !self.adjacent(region, *param))
            }
            Field::Argument(n, dtype) => {
                let scalar = self.launch.arguments[*n as usize];
                // Narrow integers arrive as their registers hold them.
                if dtype.is_integer() { scalar.to_i64() as u64 } else { scalar.bits }
            }
            Field::IndexedStart => self.indexed().0,
            Field::IndexedCount => self.indexed().1,
            Field::Planes | Field::Share(_) | Field::Partials(_) | Field::Previous(_) => special(field),
            Field::Base(_) | Field::Digit(_) | Field::Rest(_) => special(field),
        });
        Grid { entry, grid: grid.map(|n| n as u32), block, params }
    }

    pub(in crate::ptx) fn size(&self, param: u32) -> i64 {
        self.kernel.params[param as usize].dtype.size_bytes() as i64
    }

    /// Neighbours along the last slot are neighbours in the parameter's memory.
    pub(in crate::ptx) fn adjacent(&self, region: &Region, param: u32) -> bool {
        let last = region.dims.last().expect("a kernel has a slot");
        last.steps[region.of(Quantity::Param(param))] == self.size(param)
    }

    /// Address and number of the elements that an index counts.
    pub(in crate::ptx) fn indexed(&self) -> (u64, u64) {
        let param = self.kernel.indexed_param().expect("only gather and scatter ask");
        let (size, offset) = (self.size(param) as u64, self.launch.views[param as usize].offset as u64);
        let span = self.memory[param as usize];
        (span.address + offset * size, span.bytes / size - offset)
    }

    /// Elements by which a plane of streaming is ahead of a whole number of vectors after the one before it.
    pub(in crate::ptx) fn planes_phase(&self, region: &Region, param: u32) -> i64 {
        let lanes = self.module.schedule.streaming.as_ref().map_or(1, |plan| plan.lanes as i64);
        region.dims[0].steps[region.of(Quantity::Param(param))] % (lanes * self.size(param))
    }
}

/// The quantity that decides in which order memory is visited: the first output, or what a reduction or
/// a scatter reads.
pub(in crate::ptx) fn leader(kernel: &Kernel, region: &Region) -> Option<usize> {
    let written = match &kernel.form {
        Form::Elementwise { stores } => stores.first().map(|s| s.param),
        Form::Gather { output, .. } => Some(*output),
        Form::Scatter { .. } | Form::Reduce { .. } => None,
    };
    let read = || (0..kernel.params.len() as u32).find(|&p| kernel.loads_of(p));
    written.or_else(read).map(|p| region.of(Quantity::Param(p)))
}

/// Extents of at most `limit` points in all, filled from the last dimension.
pub(in crate::ptx) fn fill_up(dims: &[Dim], limit: u64, most: &mut [u64]) {
    let mut left = limit;
    for (most, dim) in most.iter_mut().zip(dims).rev() {
        *most = left.min(dim.extent).max(1);
        left /= *most;
    }
}
