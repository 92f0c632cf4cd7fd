//! What the writer takes and gives: the adapter's abilities, the shaders of a kernel, and their bindings.

use super::layout::LaunchBlockLayout;
use crate::dtype::DType;

/// What the writer must know of an adapter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WgslTarget {
    /// The adapter has 64-bit floats (which also need `i64`).
    pub f64: bool,
    /// The adapter has 64-bit integers.
    pub i64: bool,
    /// Invocations per workgroup, a power of two.
    pub workgroup_size: u32,
    /// Points of an elementwise kernel that one invocation visits.
    pub points_per_thread: u32,
    /// The driver keeps every float operation as written: nothing contracted, reordered or assumed.
    pub strict_floats: bool,
    /// f32 `/` rounds correctly.
    pub exact_division: bool,
    /// f32 `sqrt` rounds correctly.
    pub exact_sqrt: bool,
    /// f32 `fma` rounds once.
    pub exact_fma: bool,
    /// f64 `/` and `sqrt` round correctly.
    pub exact_f64: bool,
    /// f64 `fma` rounds once.
    pub exact_fma64: bool,
    /// Storage bindings the adapter allows in one stage.
    pub max_bindings: u32,
}

impl WgslTarget {
    /// A target that assumes the least of its driver but has every type.
    pub const CAUTIOUS: WgslTarget = WgslTarget {
        f64: true,
        i64: true,
        workgroup_size: 256,
        points_per_thread: 4,
        strict_floats: false,
        exact_division: false,
        exact_sqrt: false,
        exact_fma: false,
        exact_f64: false,
        exact_fma64: false,
        max_bindings: 8,
    };
}

/// A kernel that this adapter cannot run: which, and what is missing.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("kernel {kernel} uses {what}; this adapter lacks {feature}")]
pub struct WgslUnsupported {
    /// The kernel's name.
    pub kernel: String,
    /// The type or operation.
    pub what: String,
    /// The adapter feature it needs.
    pub feature: &'static str,
}

/// The shaders of one kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shader {
    /// One stage, or the three of a reduction: reduce, tree, finish.
    pub stages: Vec<Stage>,
    /// Where the launch block's words are; the same for all stages.
    pub layout: LaunchBlockLayout,
    /// Types in which a reduction keeps its partial results, one per stream.
    pub partials: Vec<DType>,
}

/// One shader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stage {
    /// `elementwise`, `gather`, `scatter`, `reduce`, `tree` or `finish`: also its entry point.
    pub entry: &'static str,
    /// The WGSL text.
    pub source: String,
    /// Invocations per workgroup.
    pub workgroup_size: u32,
    /// What is bound: binding number = position, all in group 0.
    pub bindings: Vec<Binding>,
}

/// What a binding holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Binding {
    /// The launch block (uniform).
    Launch,
    /// A parameter of the kernel; `write` tells a read-write binding from a read-only one.
    Param {
        /// Which.
        param: u32,
        /// The stage writes it.
        write: bool,
    },
    /// Partial results that a stage of a reduction writes.
    PartialOut(u32),
    /// Partial results of the stage before (read-only).
    PartialIn(u32),
}
