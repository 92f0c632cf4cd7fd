//! The WGSL writer: from a verified kernel to the shaders of its stages.
//!
//! One kernel becomes one stage, or three for a reduction (reduce, tree, finish). A stage is a
//! complete shader with one entry point, the list of what the device binds, and nothing else.
//! Extents, strides, offsets and scalar arguments arrive in a small uniform buffer, the *launch
//! block*, whose layout is in [`layout`]; so one shader serves every part of an array.
//!
//! How values live in registers: bool as `bool`; i8, i16, i32 as `i32`; u8, u16, u32 as `u32`; f16,
//! bf16, f32 as `f32`; 64-bit types as themselves. Narrow values are wrapped or rounded after every
//! operation. In memory types below 32 bits are packed in `u32` words.
//!
//! Bits: WGSL lets a driver contract, reorder and assume away NaN and infinity. An adapter whose
//! driver is told otherwise (SPIR-V `NoContraction`) sets [`Target::strict_floats`]. For all others
//! the writer hides float operands and results behind integer arithmetic with a zero that only the launch
//! knows.
//! For every adapter, constants that compilers fold wrongly are words of the launch block ([`layout`]), and
//! floats made of integers are hidden, so that no driver knows a zero, an infinity or NaN when it compiles.
//!
//! Invariant: text only. Nothing here knows wgpu, buffers or windows.

mod casts;
mod forms;
pub mod layout;
mod ops;
mod reduce;
mod routines;
mod types;

use crate::dtype::{DType, Kind};
use crate::ir::{Access, BinaryOp, Kernel, Op, UnaryOp};
use crate::math;
use crate::verify::Verified;
use layout::Layout;
use routines::Routine;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The parts of a vector of four.
const PARTS: [&str; 4] = ["x", "y", "z", "w"];

/// What the writer must know of an adapter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Target {
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

impl Target {
    /// A target that assumes the least of its driver but has every type.
    pub const CAUTIOUS: Target = Target {
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
pub struct Unsupported {
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
    pub layout: Layout,
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

/// Writes the shaders of a kernel.
///
/// # Errors
/// A type or operation that the adapter has no feature for.
pub fn emit(kernel: &Verified, target: &Target) -> Result<Shader, Unsupported> {
    let expanded = math::expand(kernel);
    let kernel = expanded.kernel();
    check_types(kernel, target)?;
    let shader = forms::stages(&expanded, target);
    for stage in &shader.stages {
        let storage = stage.bindings.iter().filter(|b| **b != Binding::Launch).count();
        if storage > target.max_bindings as usize {
            return Err(Unsupported {
                kernel: kernel.name.clone(),
                what: format!("{storage} arrays at once"),
                feature: "so many storage buffers per stage",
            });
        }
    }
    Ok(shader)
}

fn check_types(kernel: &Kernel, target: &Target) -> Result<(), Unsupported> {
    let fail = |what: String, feature| Err(Unsupported { kernel: kernel.name.clone(), what, feature });
    let params = kernel.params.iter().map(|p| p.dtype);
    let types = params.chain(kernel.body.iter().map(|i| i.dtype)).chain(kernel.arguments.iter().copied());
    for dtype in types {
        match (dtype.size_bytes(), dtype.kind()) {
            (8, Kind::Float) if !target.f64 => return fail(dtype.to_string(), "SHADER_F64"),
            (8, _) if !target.i64 => return fail(dtype.to_string(), "SHADER_INT64"),
            _ => {}
        }
    }
    for inst in kernel.body.iter().filter(|inst| inst.dtype == DType::F64) {
        match inst.op {
            Op::Fma(..) if !target.exact_fma64 => {
                return fail("fma of f64".into(), "a fused f64 multiply-add");
            }
            Op::Binary(BinaryOp::Div, ..) | Op::Unary(UnaryOp::Sqrt, _) if !target.exact_f64 => {
                return fail("division or square root of f64".into(), "correctly rounded ones");
            }
            _ => {}
        }
    }
    Ok(())
}

/// Collects the text of one stage.
struct Writer<'a> {
    kernel: &'a Kernel,
    target: &'a Target,
    layout: &'a Layout,
    /// Declarations and functions in front of the entry point.
    declarations: String,
    /// The entry point.
    text: String,
    indent: usize,
    routines: BTreeSet<Routine>,
}

impl<'a> Writer<'a> {
    fn new(kernel: &'a Kernel, target: &'a Target, layout: &'a Layout) -> Writer<'a> {
        let (declarations, text) = (String::new(), String::new());
        Writer { kernel, target, layout, declarations, text, indent: 1, routines: BTreeSet::new() }
    }

    /// Appends a line at the current depth; braces at its ends change the depth.
    fn line(&mut self, line: &str) {
        if line.starts_with('}') {
            self.indent -= 1;
        }
        let _ = writeln!(self.text, "{:width$}{line}", "", width = 2 * self.indent);
        if line.ends_with('{') {
            self.indent += 1;
        }
    }

    /// Notes that a routine is called, and gives its name.
    fn call(&mut self, routine: Routine) -> &'static str {
        self.routines.insert(routine);
        routine.name()
    }

    /// The word of the launch block at this position.
    fn word(&self, at: usize) -> String {
        format!("launch[{}].{}", at / 4, PARTS[at % 4])
    }

    /// The word as a signed integer.
    fn signed(&self, at: usize) -> String {
        format!("bitcast<i32>({})", self.word(at))
    }

    fn written(&self, param: u32) -> bool {
        self.kernel.params[param as usize].access != Access::In
    }

    /// The whole shader: declarations, routines, entry point.
    fn finish(self, entry: &'static str, bindings: Vec<Binding>, partials: &[DType]) -> Stage {
        let mut source = String::new();
        for (at, binding) in bindings.iter().enumerate() {
            let _ = writeln!(source, "@group(0) @binding({at}) {};", self.declaration(*binding, partials));
        }
        source.push('\n');
        source.push_str(&routines::text(&self.routines));
        source.push_str(&self.declarations);
        let _ = writeln!(source, "@compute @workgroup_size({})", self.target.workgroup_size);
        let _ = writeln!(
            source,
            "fn {entry}(@builtin(workgroup_id) group: vec3<u32>, \
             @builtin(local_invocation_index) local: u32) {{"
        );
        source.push_str(&self.text);
        source.push_str("}\n");
        Stage { entry, source, workgroup_size: self.target.workgroup_size, bindings }
    }

    fn declaration(&self, binding: Binding, partials: &[DType]) -> String {
        match binding {
            Binding::Launch => {
                format!("var<uniform> launch: array<vec4<u32>, {}>", self.layout.words.div_ceil(4))
            }
            Binding::Param { param, write } => {
                let dtype = self.kernel.params[param as usize].dtype;
                let access = if write { "read_write" } else { "read" };
                let storage = types::storage(dtype, write);
                format!("var<storage, {access}> p{param}: array<{storage}>")
            }
            Binding::PartialOut(stream) => {
                let dtype = types::storage(partials[stream as usize], false);
                format!("var<storage, read_write> out{stream}: array<{dtype}>")
            }
            Binding::PartialIn(stream) => {
                let dtype = types::storage(partials[stream as usize], false);
                format!("var<storage, read> in{stream}: array<{dtype}>")
            }
        }
    }
}
