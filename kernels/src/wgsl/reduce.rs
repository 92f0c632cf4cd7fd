//! The stages of a reduction: `reduce` folds points into partial results, `tree` folds partial results into
//! fewer, `finish` folds the last ones and stores. All three are one loop; they differ in where values come
//! from and where results go.
//!
//! The order is the definition's ([`mod@crate::interpret`]): adjacent pairs, level by level. An invocation
//! combines [`layout::CHUNK`] consecutive values in registers, neighbouring invocations combine theirs
//! through workgroup memory, and both are repeated `steps` times. So a group of `threads` invocations folds
//! an aligned block of `CHUNK * threads * steps` values of one kept point. With one thread per block,
//! neighbouring invocations have neighbouring kept points; with several, neighbouring values. A result waits
//! in a variable of its level until its right neighbour is there.
//!
//! Invariants: barriers are in uniform control flow, so invocations without work repeat the last item and
//! store nothing. No loop has more turns than a workgroup has invocations: lavapipe leaves long loops.

use super::body::compare;
use super::layout::{self, LaunchBlockLayout, neutrals};
use super::writer::{Binding, Shader, Stage, WgslTarget, Writer, int, partial, register};
use crate::dtype::DType;
use crate::ir::{CompareOp, Fold, FoldOp, Form, Value};
use crate::verify::Verified;

/// Bytes of workgroup memory that every adapter has.
const WORKGROUP_BYTES: usize = 16 << 10;

/// The stages of a reduction.
pub(super) fn stages(verified: &Verified, target: &WgslTarget, layout: LaunchBlockLayout) -> Shader {
    let kernel = verified.kernel();
    let Form::Reduce { axes, folds } = &kernel.form else { unreachable!("called for reductions") };
    let of = |param: u32| kernel.params[param as usize].dtype;
    let outputs: Vec<u32> = folds.iter().flat_map(outputs).collect();
    let partials: Vec<DType> = outputs.iter().map(|&p| partial(of(p))).collect();
    let dims = |folded: bool| (0..kernel.rank).filter(|&k| axes[k] == folded).collect::<Vec<_>>();
    let room = WORKGROUP_BYTES / (8 * partials.len().max(1));
    let target = WgslTarget { workgroup_size: target.workgroup_size.min(1 << room.ilog2()), ..*target };
    let plan = FoldStages { folds, outputs, partials, kept: dims(false), folded: dims(true), layout };
    let stages = [FoldStages::reduce, FoldStages::tree, FoldStages::finish];
    let stages = stages.map(|stage| stage(&plan, Writer::new(verified, &target, &plan.layout))).to_vec();
    Shader { stages, layout: plan.layout, partials: plan.partials }
}

fn outputs(fold: &Fold) -> Vec<u32> {
    match *fold {
        Fold::Value { output, .. } => vec![output],
        Fold::Arg { value_output, index_output, .. } => vec![value_output, index_output],
    }
}

/// What the stages of a reduction share. A *stream* is a value of a partial result: argument folds have two.
struct FoldStages<'a> {
    folds: &'a [Fold],
    /// The output of each stream.
    outputs: Vec<u32>,
    /// The type of each stream.
    partials: Vec<DType>,
    kept: Vec<usize>,
    folded: Vec<usize>,
    layout: LaunchBlockLayout,
}

impl FoldStages<'_> {
    fn streams(&self) -> u32 {
        self.outputs.len() as u32
    }

    /// The parameters that the body loads.
    fn loaded(w: &Writer) -> Vec<u32> {
        (0..w.kernel.params.len() as u32).filter(|&p| w.footprint.is_loaded(p)).collect()
    }

    fn reduce(&self, mut w: Writer) -> Stage {
        self.declare(&mut w);
        self.open(&mut w);
        self.coordinates(&mut w, "kept", &self.kept);
        self.fold(&mut w, |plan, w| {
            plan.folded_coordinates(w);
            let dims: Vec<usize> = (0..w.kernel.rank).collect();
            FoldStages::loaded(w).into_iter().for_each(|param| w.element(param, &dims));
            w.body();
            let root = |(value, dtype): (Value, &DType)| match w.kernel.body[value.index()].dtype {
                DType::Bool if *dtype == DType::U32 => format!("select(0u, 1u, v{})", value.0),
                _ => format!("v{}", value.0),
            };
            w.kernel.roots().into_iter().zip(&plan.partials).map(root).collect()
        });
        self.write_partials(&mut w);
        let mut bindings = vec![Binding::Launch];
        let loaded = FoldStages::loaded(&w).into_iter();
        bindings.extend(loaded.map(|param| Binding::Param { param, write: false }));
        bindings.extend((0..self.streams()).map(Binding::PartialOut));
        w.finish("reduce", bindings, &self.partials)
    }

    fn tree(&self, mut w: Writer) -> Stage {
        self.declare(&mut w);
        self.open(&mut w);
        self.fold(&mut w, FoldStages::read_partials);
        self.write_partials(&mut w);
        let mut bindings = vec![Binding::Launch];
        bindings.extend((0..self.streams()).map(Binding::PartialIn));
        bindings.extend((0..self.streams()).map(Binding::PartialOut));
        w.finish("tree", bindings, &self.partials)
    }

    fn finish(&self, mut w: Writer) -> Stage {
        self.declare(&mut w);
        self.open(&mut w);
        self.fold(&mut w, FoldStages::read_partials);
        w.line(&format!("if (lane == 0u && unit < {}) {{", w.word(layout::LIMIT)));
        w.line("x = combine(zero, x);");
        self.index_of_nothing(&mut w);
        self.coordinates(&mut w, "kept", &self.kept);
        for (stream, &param) in self.outputs.iter().enumerate() {
            w.element(param, &self.kept);
            let value = match w.kernel.params[param as usize].dtype {
                DType::Bool => format!("(x.s{stream} != 0u)"),
                dtype => w.narrow(dtype, format!("x.s{stream}")),
            };
            w.store(param, &value);
        }
        w.line("}");
        let mut bindings = vec![Binding::Launch];
        bindings.extend((0..self.streams()).map(Binding::PartialIn));
        bindings.extend(self.outputs.iter().map(|&param| Binding::Param { param, write: true }));
        w.finish("finish", bindings, &self.partials)
    }

    /// Declares a partial result, room for one per invocation, the neutral element, and `combine`.
    fn declare(&self, w: &mut Writer) {
        w.indent = 0;
        let fields = self.partials.iter().enumerate();
        let fields: Vec<String> = fields.map(|(k, &d)| format!("s{k}: {}", register(d))).collect();
        w.line(&format!("struct Partial {{ {} }}", fields.join(", ")));
        let size = w.target.workgroup_size;
        w.line(&format!("var<workgroup> partials: array<Partial, {size}>;"));
        let neutrals = self.folds.iter().flat_map(|fold| neutrals(w.kernel, fold));
        let neutrals: Vec<String> = neutrals
            .map(|neutral| match neutral.dtype {
                DType::Bool => format!("{}u", neutral.bits),
                _ => w.constant(neutral),
            })
            .collect();
        w.line(&format!("fn neutral() -> Partial {{ return Partial({}); }}", neutrals.join(", ")));
        self.declare_combine(w);
        if self.folded.len() > 1 {
            w.line("fn coordinate(number: u32, divisor: u32, extent: u32) -> u32 {");
            w.line("if (extent <= 1u) { return 0u; }");
            w.line("var rest = number;");
            w.line("if (divisor > 1u) { rest = number / divisor; }");
            w.line("if (rest >= extent) { rest -= rest / extent * extent; }");
            w.line("return rest;");
            w.line("}");
        }
        w.declarations = std::mem::take(&mut w.text);
        w.indent = 1;
    }

    /// Declares `combine`: `a` has the lower numbers.
    fn declare_combine(&self, w: &mut Writer) {
        w.line("fn combine(a: Partial, b: Partial) -> Partial {");
        let mut results = Vec::new();
        for fold in self.folds {
            let stream = results.len();
            let dtype = self.partials[stream];
            let [a, b] = ["a", "b"].map(|side| format!("{side}.s{stream}"));
            match fold {
                Fold::Value { op, .. } => results.push(step(w, *op, dtype, &a, &b)),
                Fold::Arg { largest, .. } => {
                    let index = ["a", "b"].map(|side| format!("{side}.s{}", stream + 1));
                    let text = better(w, *largest, dtype, [&a, &b], &index);
                    w.line(&format!("let better{stream} = {text};"));
                    results.push(format!("select({a}, {b}, better{stream})"));
                    results.push(format!("select({}, {}, better{stream})", index[0], index[1]));
                }
            }
        }
        w.line(&format!("return Partial({});", results.join(", ")));
        w.line("}");
    }

    /// Which block of which kept point this invocation folds, and which of its threads it is.
    fn open(&self, w: &mut Writer) {
        let (size, log) = (w.target.workgroup_size, w.word(layout::LOG_THREADS));
        w.line(&format!("let threads = 1u << {log};"));
        w.line("let lane = local & (threads - 1u);");
        w.line(&format!("let unit = (({}) * {size}u + local) >> {log};", w.number()));
        w.line(&format!("let item = min(unit, {} - 1u);", w.word(layout::LIMIT)));
        let kept = w.word(layout::KEPT);
        w.line(&format!("let block = item / {kept};"));
        w.line(&format!("let kept = item - block * {kept};"));
    }

    /// Declares the coordinates of some dimensions from a number, the last one fastest.
    fn coordinates(&self, w: &mut Writer, number: &str, dims: &[usize]) {
        let mut rest = number.to_owned();
        for (position, &k) in dims.iter().enumerate().rev() {
            if position == 0 {
                w.line(&format!("let i{k} = {rest};"));
                break;
            }
            let extent = w.word(w.layout.extent(k));
            w.line(&format!("let q{k} = {rest} / {extent};"));
            w.line(&format!("let i{k} = {rest} - q{k} * {extent};"));
            rest = format!("q{k}");
        }
    }

    /// Declares the folded coordinates of the value `at`. The order of the dimensions depends on the launch.
    fn folded_coordinates(&self, w: &mut Writer) {
        for &k in &self.folded {
            let (divisor, extent) = (w.word(w.layout.divisor(k)), w.word(w.layout.extent(k)));
            match self.folded.len() {
                1 => w.line(&format!("let i{k} = at;")),
                _ => w.line(&format!("let i{k} = coordinate(at, {divisor}, {extent});")),
            }
        }
    }

    /// Folds the block into `x`. `values` writes the streams of the value numbered `at`.
    fn fold(&self, w: &mut Writer, values: impl FnOnce(&Self, &mut Writer) -> Vec<String>) {
        let (end, log, steps) = (w.word(layout::END), w.word(layout::LOG_THREADS), w.word(layout::STEPS));
        let chunk = layout::CHUNK;
        w.line("let zero = neutral();");
        w.line("var x = zero;");
        waiting(w, "chunk", chunk);
        waiting(w, "step", layout::MAX_STEPS);
        w.line(&format!("for (var step = 0u; step < {steps}; step += 1u) {{"));
        let first = w.word(layout::FIRST);
        w.line(&format!("let first = {first} + ((((block * {steps} + step) << {log}) + lane) * {chunk}u);"));
        w.line(&format!("for (var n = 0u; n < {chunk}u; n += 1u) {{"));
        // Loads are unconditional, so that several are under way at once.
        w.line(&format!("let at = min(first + n, max({end}, 1u) - 1u);"));
        let values = values(self, w);
        w.line(&format!("let inside = first + n < {end};"));
        let stream = |(k, value): (usize, &String)| format!("select(zero.s{k}, {value}, inside)");
        let streams: Vec<String> = values.iter().enumerate().map(stream).collect();
        w.line(&format!("x = Partial({});", streams.join(", ")));
        count(w, "n", "chunk", chunk);
        w.line("}");
        w.line("partials[local] = x;");
        w.line("for (var distance = 1u; distance < threads; distance <<= 1u) {");
        w.line("workgroupBarrier();");
        w.line("if ((lane & (2u * distance - 1u)) == 0u) {");
        w.line("x = combine(x, partials[local + distance]);");
        w.line("partials[local] = x;");
        w.line("}");
        w.line("}");
        w.line("workgroupBarrier();");
        count(w, "step", "step", layout::MAX_STEPS);
        w.line("}");
    }

    /// The streams of a partial result of the stage before.
    fn read_partials(&self, w: &mut Writer) -> Vec<String> {
        let (first, kept) = (w.word(layout::PARTIALS_IN), w.word(layout::KEPT));
        w.line(&format!("let element = {first} + at * {kept} + kept;"));
        (0..self.streams()).map(|stream| format!("in{stream}[element]")).collect()
    }

    fn write_partials(&self, w: &mut Writer) {
        w.line(&format!("if (lane == 0u && unit < {}) {{", w.word(layout::LIMIT)));
        for stream in 0..self.streams() {
            let first = w.word(layout::PARTIALS_OUT);
            w.line(&format!("out{stream}[{first} + item] = x.s{stream};"));
        }
        w.line("}");
    }

    /// An argument fold of nothing has index 0.
    fn index_of_nothing(&self, w: &mut Writer) {
        let mut stream = 0;
        for fold in self.folds {
            if let Fold::Arg { .. } = fold {
                let zero = int(self.partials[stream + 1], 0);
                let end = w.word(layout::END);
                w.line(&format!("if ({end} == 0u) {{ x.s{} = {zero}; }}", stream + 1));
            }
            stream += outputs(fold).len();
        }
    }
}

/// Declares the variables in which results wait for their right neighbours, among so many.
fn waiting(w: &mut Writer, name: &str, most: u32) {
    (0..most.ilog2()).for_each(|level| w.line(&format!("var {name}{level} = zero;")));
}

/// Combines `x`, the result of turn `turn`, with those that wait for it, like the carry of a binary counter.
fn count(w: &mut Writer, turn: &str, name: &str, most: u32) {
    for level in 0..most.ilog2() {
        w.line(&format!("if (({turn} & {}u) == 0u) {{ {name}{level} = x; continue; }}", 1 << level));
        w.line(&format!("x = combine({name}{level}, x);"));
    }
}

/// The combination of two values of a fold. f16 and bf16 are f32 here and rounded at the end.
fn step(w: &mut Writer, op: FoldOp, dtype: DType, a: &str, b: &str) -> String {
    match dtype.is_float() {
        true => w.float_binary(op.step(), dtype, a, b),
        false => w.int_binary(op.step(), dtype, a, b),
    }
}

/// Does the second (value, index) beat the first? Ties go to the lower index, so order is no matter.
fn better(w: &mut Writer, largest: bool, dtype: DType, values: [&str; 2], index: &[String; 2]) -> String {
    let [a, b] = values;
    let op = if largest { CompareOp::Gt } else { CompareOp::Lt };
    let wins = compare(op, dtype, b, a);
    let ties = compare(CompareOp::Eq, dtype, b, a);
    let earlier = format!("{} < {}", index[1], index[0]);
    let number = format!("({wins} || ({ties} && {earlier}))");
    if !dtype.is_float() {
        return number;
    }
    let (a_nan, b_nan) = (w.nan(dtype, a), w.nan(dtype, b));
    format!("select(!{a_nan} && {number}, !{a_nan} || {earlier}, {b_nan})")
}
