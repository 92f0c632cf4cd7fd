//! One dispatch as pure data: its launch block, bindings and workgroup counts.

use partita_kernels::Launch;
use partita_kernels::wgsl::layout::Header;
use partita_kernels::wgsl::{Binding, Shader};

use super::windows::Window;

/// What the adapter allows and how kernels were written for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes one storage binding may span.
    pub max_binding_bytes: u64,
    /// Workgroups per dimension of a dispatch.
    pub max_groups: u32,
    /// Alignment of a storage binding's first byte.
    pub offset_alignment: u64,
    /// Invocations per workgroup.
    pub workgroup_size: u32,
    /// Points of a workgroup of an elementwise kernel.
    pub tile: u32,
}

/// One dispatch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dispatch {
    /// Which stage of the shader.
    pub stage: usize,
    /// Workgroups.
    pub groups: [u32; 3],
    /// The launch block.
    pub block: Vec<u32>,
    /// What is bound after the launch block.
    pub bound: Vec<Bound>,
}

/// One storage binding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Bytes of a parameter's buffer.
    Param {
        /// Which.
        param: usize,
        /// First byte.
        first_byte: u64,
        /// Bytes.
        bytes: u64,
    },
    /// A buffer of partial results: stages take turns between side 0 and side 1.
    Partial {
        /// Which of the two.
        side: usize,
        /// Which stream.
        stream: usize,
    },
}

/// The dispatches of a launch, and the partial results each kept point needs.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Work {
    /// In order.
    pub dispatches: Vec<Dispatch>,
    /// Partial results per stream and side.
    pub partials: usize,
}

/// Bytes of room for one partial result, whatever its type.
pub const PARTIAL_BYTES: u64 = 8;

/// What distinguishes one dispatch from others of its piece.
pub(super) struct Pass {
    pub stage: usize,
    pub groups: [u32; 3],
    pub header: Header,
    /// Reductions: folded values between neighbours of each dimension.
    pub divisors: Vec<u32>,
    /// Sides of the partial results read and written.
    pub sides: [usize; 2],
}

pub(super) struct Planner<'a> {
    pub shader: &'a Shader,
    pub limits: &'a Limits,
}

impl Planner<'_> {
    /// Workgroup counts whose product is at least `groups`.
    pub(super) fn groups(&self, groups: u64) -> [u32; 3] {
        let most = u64::from(self.limits.max_groups);
        let x = groups.clamp(1, most);
        let y = groups.div_ceil(x).clamp(1, most);
        [x as u32, y as u32, groups.div_ceil(x * y).max(1) as u32]
    }

    pub(super) fn dispatch(&self, pass: Pass, launch: &Launch, windows: &[Option<Window>]) -> Dispatch {
        let Pass { stage, groups, header, divisors, sides } = pass;
        let offsets: Vec<u32> = windows.iter().map(|w| w.map_or(0, |w| w.element)).collect();
        let block = self.shader.layout.block(&header, launch, &offsets, &divisors);
        let bound = self.shader.stages[stage].bindings.iter().filter_map(|binding| match *binding {
            Binding::Launch => None,
            Binding::Param { param, .. } => {
                // A loaded parameter of an empty fold is bound but never read.
                let param = param as usize;
                let w = windows[param].unwrap_or(Window { first_byte: 0, bytes: 4, element: 0 });
                Some(Bound::Param { param, first_byte: w.first_byte, bytes: w.bytes })
            }
            Binding::PartialIn(stream) => Some(Bound::Partial { side: sides[0], stream: stream as usize }),
            Binding::PartialOut(stream) => Some(Bound::Partial { side: sides[1], stream: stream as usize }),
        });
        Dispatch { stage, groups, block, bound: bound.collect() }
    }
}
