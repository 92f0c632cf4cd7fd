//! Collects the text of one stage: lines, the routines that it calls, its bindings.

use super::layout::{self, LaunchBlockLayout};
use super::routines::{self, Routine};
use super::shader::{Binding, Stage, WgslTarget};
use super::types;
use crate::dtype::DType;
use crate::ir::{Access, Kernel};
use crate::verify::Verified;
use crate::verify::footprint::Footprint;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The parts of a vector of four.
const PARTS: [&str; 4] = ["x", "y", "z", "w"];

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
    routines: BTreeSet<Routine>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        kernel: &'a Verified,
        target: &'a WgslTarget,
        layout: &'a LaunchBlockLayout,
    ) -> Writer<'a> {
        let (declarations, text) = (String::new(), String::new());
        let (kernel, footprint, routines) = (kernel.kernel(), kernel.footprint(), BTreeSet::new());
        Writer { kernel, footprint, target, layout, declarations, text, indent: 1, routines }
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

    /// Notes that a routine is called, and gives its name.
    pub(super) fn call(&mut self, routine: Routine) -> &'static str {
        self.routines.insert(routine);
        routine.name()
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
    pub(super) fn finish(self, entry: &'static str, bindings: Vec<Binding>, partials: &[DType]) -> Stage {
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
