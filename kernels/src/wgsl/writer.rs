//! The writer of WGSL: abilities of an adapter go in, shaders of a kernel and their bindings come out; the
//! text of one stage is lines, the routines that it calls, and its bindings.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::layout::{self, LaunchBlockLayout};
use super::routines;
use crate::dtype::DType;
use crate::ir::{Access, Kernel, Subnormals};
use crate::verify::{Footprint, Verified};

/// The properties of an adapter that the writer needs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WgslTarget {
    /// The adapter has 64-bit floats (which also need `i64`).
    pub f64: bool,
    /// The adapter has 64-bit integers.
    pub i64: bool,
    /// Invocations per workgroup, a power of two.
    pub workgroup_size: u32,
    /// The driver keeps every float operation as written: nothing contracted, reordered or assumed.
    pub strict_floats: bool,
    /// The treatment of subnormals by f32 `+`, `-` and `*`.
    pub subnormals: Subnormals,
    /// f32 comparisons, minima, maxima, `floor`, `ceil` and conversions from and to f64 keep subnormals.
    pub exact_comparisons: bool,
    /// f32 `/` rounds correctly, and does with subnormals what `*` does.
    pub exact_division: bool,
    /// f32 `sqrt` does.
    pub exact_sqrt: bool,
    /// f32 `fma` does, and rounds once.
    pub exact_fma: bool,
    /// f32 reciprocals and inverse square roots are so near that `quotient32` and `root32` are exact.
    pub near_inverses: bool,
    /// f64 `+`, `-` and `*` keep subnormals, as far as is known.
    pub exact_sums64: bool,
    /// f64 `/` and `sqrt` round correctly.
    pub exact_f64: bool,
    /// f64 `fma` rounds once.
    pub exact_fma64: bool,
    /// A store to one component of a vector in memory may rewrite the others: outputs are bound by element.
    pub whole_vectors: bool,
    /// Most points or values of an invocation whose loads are written side by side, so that all are under
    /// way at once: a power of two. 1 makes short shaders, for adapters whose compiler is slow.
    pub unroll: u32,
    /// Lanes of a subgroup may read each other's registers.
    pub subgroups: bool,
    /// Storage bindings the adapter allows in one stage.
    pub max_bindings: u32,
    /// The faults that the text has on purpose.
    pub faults: DriverFaults,
}

/// Faults of drivers, written into the text of native operations of f32, so that tests find on any adapter
/// what the writer makes of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct DriverFaults {
    /// Sums and differences take subnormal operands, and give subnormal results, as zeros.
    pub flush_sums: bool,
    /// Products, quotients, square roots and fused multiply-adds do.
    pub flush_products: bool,
    /// Comparisons, minima, maxima, `floor`, `ceil` and conversions from and to f64 do.
    pub flush_comparisons: bool,
    /// Quotients and square roots are off by a unit in the last place, reciprocals by three.
    pub inexact_quotients: bool,
}

impl DriverFaults {
    /// An adapter that flushes everywhere.
    pub const FLUSHING: DriverFaults = DriverFaults {
        flush_sums: true,
        flush_products: true,
        flush_comparisons: true,
        inexact_quotients: false,
    };
}

impl WgslTarget {
    /// A target that assumes the least of its driver but has every type.
    pub const CAUTIOUS: WgslTarget = WgslTarget {
        f64: true,
        i64: true,
        workgroup_size: 256,
        strict_floats: false,
        subnormals: Subnormals::Unspecified,
        exact_comparisons: false,
        exact_division: false,
        exact_sqrt: false,
        exact_fma: false,
        near_inverses: false,
        exact_sums64: true,
        exact_f64: false,
        exact_fma64: false,
        whole_vectors: false,
        unroll: layout::CHUNK,
        subgroups: false,
        max_bindings: 8,
        faults: DriverFaults {
            flush_sums: false,
            flush_products: false,
            flush_comparisons: false,
            inexact_quotients: false,
        },
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
    /// The layout of the words of the launch block; the same for all stages.
    pub layout: LaunchBlockLayout,
    /// Types in which a reduction keeps its partial results, one per stream.
    pub partials: Vec<DType>,
}

/// One shader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stage {
    /// Entry point: `elementwise`, `planes`, `transpose`, `gather`, `scatter`, `reduce`, `tree` or `finish`.
    pub entry: &'static str,
    /// The WGSL text.
    pub source: String,
    /// Invocations per workgroup.
    pub workgroup_size: u32,
    /// The bindings: binding number = position, all in group 0.
    pub bindings: Vec<Binding>,
    /// Which items a workgroup visits; reductions have a rule of their own.
    pub visit: Visit,
}

/// Which items of a launch the workgroups of a stage visit.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Visit {
    /// Items of a workgroup.
    pub tile: u32,
    /// Items are packs of [`PACK`](super::PACK) points along the last dimension, aligned to the units of this
    /// parameter; else single points.
    pub grid: Option<u32>,
    /// Workgroups are blocks of the last two dimensions.
    pub blocks: Option<Blocks>,
}

/// The way in which workgroups that are blocks take the outer dimensions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blocks {
    /// The dimension of which an invocation visits several planes.
    pub along: usize,
    /// The number of these planes; 0: blocks are squares of single points, as tall as wide.
    pub planes: u32,
}

/// The content of a binding.
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

/// The WGSL type of a value in a register.
pub(super) fn register(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::I8 | DType::I16 | DType::I32 => "i32",
        DType::U8 | DType::U16 | DType::U32 => "u32",
        DType::F16 | DType::BF16 | DType::F32 => "f32",
        DType::I64 => "i64",
        DType::U64 => "u64",
        DType::F64 => "f64",
    }
}

/// The element type of an array in memory; packed words that are written must be atomic, because
/// neighbours in one word belong to different invocations.
pub(super) fn storage(dtype: DType, write: bool) -> &'static str {
    match (dtype.size_bytes() < 4, write) {
        (true, true) => "atomic<u32>",
        (true, false) => "u32",
        (false, _) => register(dtype),
    }
}

/// The type in which a reduction keeps partial results of this type: as wide as a register.
pub(super) fn partial(dtype: DType) -> DType {
    match register(dtype) {
        "bool" | "u32" => DType::U32,
        "i32" => DType::I32,
        "f32" => DType::F32,
        _ => dtype,
    }
}

/// Text of a constant of an integer type. The least values have no literal.
pub(super) fn int(dtype: DType, value: i64) -> String {
    let suffix = match register(dtype) {
        "i32" => "i",
        "u32" => "u",
        "i64" => "li",
        _ => "lu",
    };
    match (dtype, value) {
        (DType::I32, -0x8000_0000) | (DType::I64, i64::MIN) => format!("({}{suffix} - 1{suffix})", value + 1),
        _ => format!("{value}{suffix}"),
    }
}

/// The parts of a vector of four.
pub(super) const PARTS: [&str; 4] = ["x", "y", "z", "w"];

/// Collects the text of one stage.
pub(super) struct Writer<'a> {
    pub kernel: &'a Kernel,
    pub footprint: &'a Footprint,
    pub target: &'a WgslTarget,
    pub layout: &'a LaunchBlockLayout,
    /// Declarations and functions in front of the entry point.
    pub declarations: String,
    /// The entry point.
    pub text: String,
    pub indent: usize,
    /// Parameters are bound as units ([`super::rows`]).
    pub has_units: bool,
    /// The entry point knows its place in a subgroup.
    pub has_subgroups: bool,
    routines: BTreeSet<&'static str>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        kernel: &'a Verified,
        target: &'a WgslTarget,
        layout: &'a LaunchBlockLayout,
    ) -> Writer<'a> {
        let (declarations, text) = (String::new(), String::new());
        let (kernel, footprint, routines) = (kernel.kernel(), kernel.footprint(), BTreeSet::new());
        Writer {
            kernel,
            footprint,
            target,
            layout,
            declarations,
            text,
            indent: 1,
            has_units: false,
            has_subgroups: false,
            routines,
        }
    }

    /// Appends a line at the current depth; braces at its ends change the depth.
    pub(super) fn line(&mut self, line: &str) {
        if line.starts_with('}') {
            self.indent -= 1;
        }
        let _ = writeln!(self.text, "{:width$}{line}", "", width = 2 * self.indent);
        if line.ends_with('{') {
            self.indent += 1;
        }
    }

    /// A call of a function of `routines.wgsl`, which the stage then contains.
    pub(super) fn call(&mut self, routine: &'static str, operands: &str) -> String {
        self.routines.insert(routine);
        format!("{routine}({operands})")
    }

    /// The word of the launch block at this position.
    pub(super) fn word(&self, at: usize) -> String {
        format!("launch[{}].{}", at / 4, PARTS[at % 4])
    }

    /// The word as a signed integer.
    pub(super) fn signed(&self, at: usize) -> String {
        format!("bitcast<i32>({})", self.word(at))
    }

    /// The linear number of the workgroup.
    pub(super) fn number(&self) -> String {
        let (x, y) = (self.word(layout::GROUPS_X), self.word(layout::GROUPS_Y));
        format!("group.x + {x} * (group.y + {y} * group.z)")
    }

    /// Declares `eP`, the element of parameter P at the point, from coordinates `iK` of `dims`.
    pub(super) fn element(&mut self, param: u32, dims: &[usize]) {
        let mut text = self.signed(self.layout.offset(param));
        for &k in dims {
            text.push_str(&format!(" + bitcast<i32>(i{k}) * {}", self.signed(self.layout.stride(param, k))));
        }
        self.line(&format!("let e{param} = {text};"));
    }

    pub(super) fn written(&self, param: u32) -> bool {
        self.kernel.params[param as usize].access != Access::In
    }

    /// The whole shader: declarations, routines, entry point.
    pub(super) fn finish(
        self,
        entry: &'static str,
        bindings: Vec<Binding>,
        partials: &[DType],
        visit: Visit,
    ) -> Stage {
        let mut source = String::new();
        for (at, binding) in bindings.iter().enumerate() {
            let _ = writeln!(source, "@group(0) @binding({at}) {};", self.declaration(*binding, partials));
        }
        source.push('\n');
        let mut routines = routines::text(&self.routines);
        if self.target.faults.inexact_quotients {
            for inverse in ["1.0f / x", "inverseSqrt(x)"] {
                let text = format!("return bitcast<f32>(bitcast<u32>({inverse}) + 3u);");
                routines = routines.replace(&format!("return {inverse};"), &text);
            }
        }
        source.push_str(&routines);
        source.push_str(&self.declarations);
        let _ = writeln!(source, "@compute @workgroup_size({})", self.target.workgroup_size);
        let local = match self.has_subgroups {
            false => "local: u32",
            true => {
                "index: u32, @builtin(num_subgroups) subgroups: u32, @builtin(subgroup_id) subgroup: u32, \
                 @builtin(subgroup_size) lanes: u32, @builtin(subgroup_invocation_id) place: u32"
            }
        };
        let _ = writeln!(
            source,
            "fn {entry}(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) {local}) {{"
        );
        source.push_str(&self.text);
        source.push_str("}\n");
        Stage { entry, source, workgroup_size: self.target.workgroup_size, bindings, visit }
    }

    fn declaration(&self, binding: Binding, partials: &[DType]) -> String {
        match binding {
            Binding::Launch => {
                format!("var<uniform> launch: array<vec4<u32>, {}>", self.layout.words.div_ceil(4))
            }
            Binding::Param { param, write } => {
                let dtype = self.kernel.params[param as usize].dtype;
                let access = if write { "read_write" } else { "read" };
                let element =
                    if self.has_units { self.bound_type(param) } else { storage(dtype, write).to_owned() };
                format!("var<storage, {access}> p{param}: array<{element}>")
            }
            Binding::PartialOut(stream) => {
                let dtype = storage(partials[stream as usize], false);
                format!("var<storage, read_write> out{stream}: array<{dtype}>")
            }
            Binding::PartialIn(stream) => {
                let dtype = storage(partials[stream as usize], false);
                format!("var<storage, read> in{stream}: array<{dtype}>")
            }
        }
    }
}
