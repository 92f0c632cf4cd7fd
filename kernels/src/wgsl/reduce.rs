//! The stages of a reduction: `reduce` folds points into partial results, `tree` folds partial results into
//! fewer, `finish` folds the last ones and stores. All three are one loop; they differ in where values come
//! from and where results go.
//!
//! The order is the definition's ([`mod@crate::interpret`]): adjacent pairs, level by level. An invocation
//! combines [`layout::CHUNK`] consecutive values in registers, all loaded before the first is used,
//! neighbouring invocations the chunks beside, and this is repeated `steps` times. The results of all steps
//! are neighbours in workgroup memory; there each invocation takes as many neighbours again, so that a few
//! barriers serve the whole block of `CHUNK * threads * steps` values of one kept point. With one thread per
//! block, neighbouring invocations have neighbouring kept points; with several, neighbouring values.
//!
//! On adapters with subgroups, the lanes of one combine their chunks of a step by shuffles before the
//! first barrier. Invocations are numbered by subgroup and lane then, so that the order does not depend on
//! how the driver arranges them. Partial results of 64 bits take the barriers alone: few adapters shuffle
//! them.
//!
//! What points store beside their folds, `reduce` stores behind each chunk's values, in units where these are
//! neighbours in memory.
//!
//! Invariants: barriers are in uniform control flow, so invocations without work repeat the last item and
//! store nothing. No loop has more turns than a workgroup has invocations: lavapipe leaves long loops.

use std::ops::Range;

use super::body::{better, step};
use super::layout::{self, LaunchBlockLayout, neutrals};
use super::rows::{RowStep, UnitRow, assembled, unit_elements};
use super::writer::{Binding, Shader, Stage, Visit, WgslTarget, Writer, int, partial, register};
use crate::dtype::DType;
use crate::ir::{Fold, Form, Store, Value};
use crate::verify::{LoadSite, Verified};

/// Most words of registers that the loads of an invocation may take.
const MOST_WORDS: u32 = 64;
/// Most instructions of bodies that are written one behind the other.
const MOST_INSTRUCTIONS: usize = 256;
/// Bytes of workgroup memory that every adapter has.
const WORKGROUP_BYTES: usize = 16 << 10;

/// The stages of a reduction.
pub(super) fn stages(verified: &Verified, target: &WgslTarget, layout: LaunchBlockLayout) -> Shader {
    let kernel = verified.kernel();
    let Form::Reduce { axes, folds, .. } = &kernel.form else { unreachable!("called for reductions") };
    let of = |param: u32| kernel.params[param as usize].dtype;
    let outputs: Vec<u32> = folds.iter().flat_map(outputs).collect();
    let partials: Vec<DType> = outputs.iter().map(|&p| partial(of(p))).collect();
    let dims = |folded: bool| (0..kernel.rank).filter(|&k| axes[k] == folded).collect::<Vec<_>>();
    let room = WORKGROUP_BYTES / (8 * partials.len().max(1) * (layout::MAX_STEPS as usize + 1));
    let target = WgslTarget { workgroup_size: target.workgroup_size.min(1 << room.ilog2()), ..*target };
    let has_subgroups = target.subgroups && partials.iter().all(|dtype| dtype.size_bytes() == 4);
    let (kept, folded) = (dims(false), dims(true));
    let plan = FoldStages { folds, outputs, partials, kept, folded, has_subgroups, layout };
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

/// Data of all stages of a reduction. A *stream* is a value of a partial result: argument folds have two.
struct FoldStages<'a> {
    folds: &'a [Fold],
    /// The output of each stream.
    outputs: Vec<u32>,
    /// The type of each stream.
    partials: Vec<DType>,
    kept: Vec<usize>,
    folded: Vec<usize>,
    /// Lanes of a subgroup combine their values without memory.
    has_subgroups: bool,
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
        let rows = UnitRow::each(w.footprint, |p| w.dtype(p));
        let points = points(&w, &rows);
        w.has_units = points > 1;
        self.declare(&mut w);
        let units = FoldStages::loaded(&w).into_iter().filter(|_| points > 1);
        units.for_each(|param| w.declare_at(param));
        let stores = w.kernel.stores_of_folds();
        stores.iter().filter(|_| points > 1).for_each(|store| w.declare_put(store.param));
        self.declare_value(&mut w);
        self.open(&mut w);
        self.coordinates(&mut w, "kept", &self.kept);
        self.fold(&mut w, |plan, w| plan.chunk_of_points(w, &rows, points));
        self.write_partials(&mut w);
        let mut bindings = vec![Binding::Launch];
        let loaded = FoldStages::loaded(&w).into_iter();
        bindings.extend(loaded.map(|param| Binding::Param { param, write: false }));
        bindings.extend(stores.iter().map(|store| Binding::Param { param: store.param, write: true }));
        bindings.extend((0..self.streams()).map(Binding::PartialOut));
        w.finish("reduce", bindings, &self.partials, Visit::default())
    }

    fn tree(&self, mut w: Writer) -> Stage {
        self.declare(&mut w);
        self.open(&mut w);
        self.fold(&mut w, FoldStages::chunk_of_partials);
        self.write_partials(&mut w);
        let mut bindings = vec![Binding::Launch];
        bindings.extend((0..self.streams()).map(Binding::PartialIn));
        bindings.extend((0..self.streams()).map(Binding::PartialOut));
        w.finish("tree", bindings, &self.partials, Visit::default())
    }

    fn finish(&self, mut w: Writer) -> Stage {
        self.declare(&mut w);
        self.open(&mut w);
        self.fold(&mut w, FoldStages::chunk_of_partials);
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
        w.finish("finish", bindings, &self.partials, Visit::default())
    }

    /// Declares a partial result, room for one per invocation, the neutral element, and `combine`.
    fn declare(&self, w: &mut Writer) {
        w.indent = 0;
        let fields = self.partials.iter().enumerate();
        let fields: Vec<String> = fields.map(|(k, &d)| format!("s{k}: {}", register(d))).collect();
        w.line(&format!("struct Partial {{ {} }}", fields.join(", ")));
        let size = w.target.workgroup_size;
        let room = size * (layout::MAX_STEPS + 1);
        w.line(&format!("var<workgroup> partials: array<Partial, {room}>;"));
        let neutrals = self.folds.iter().flat_map(|fold| neutrals(w.kernel, fold));
        let neutrals: Vec<String> = neutrals
            .map(|neutral| match neutral.dtype {
                DType::Bool => format!("{}u", neutral.bits),
                _ => w.constant(neutral),
            })
            .collect();
        w.line(&format!("fn neutral() -> Partial {{ return Partial({}); }}", neutrals.join(", ")));
        self.declare_combine(w);
        if self.has_subgroups {
            self.declare_shuffles(w);
        }
        w.line("fn entry(at: u32, is_there: bool) -> Partial {");
        w.line("if (is_there) { return partials[at]; }");
        w.line("return neutral();");
        w.line("}");
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

    /// Declares `shuffled`, the combination over so many levels of lanes; every lane gets its pair's.
    fn declare_shuffles(&self, w: &mut Writer) {
        let streams: Vec<String> =
            (0..self.streams()).map(|k| format!("subgroupShuffleXor(x.s{k}, bit)")).collect();
        w.line("fn shuffled(own: Partial, local: u32, levels: u32) -> Partial {");
        w.line("var x = own;");
        w.line("for (var level = 0u; level < levels; level += 1u) {");
        w.line("let bit = 1u << level;");
        w.line(&format!("let y = Partial({});", streams.join(", ")));
        w.line("if ((local & bit) == 0u) { x = combine(x, y); } else { x = combine(y, x); }");
        w.line("}");
        w.line("return x;");
        w.line("}");
    }

    /// Which block of which kept point this invocation folds, and which of its threads it is.
    fn open(&self, w: &mut Writer) {
        let (size, log) = (w.target.workgroup_size, w.word(layout::LOG_THREADS));
        if self.has_subgroups {
            w.has_subgroups = true;
            w.line(&format!("let is_whole = subgroups * lanes == {size}u;"));
            w.line("let local = select(index, subgroup * lanes + place, is_whole);");
            w.line(&format!("let levels = select(0u, min({log}, firstTrailingBit(lanes)), is_whole);"));
        }
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

    /// Folds the block into `x`. `chunk` writes `x`, the combination of a chunk's values from number `first`
    /// on.
    fn fold(&self, w: &mut Writer, chunk: impl FnOnce(&Self, &mut Writer)) {
        let (size, log, steps) =
            (w.target.workgroup_size, w.word(layout::LOG_THREADS), w.word(layout::STEPS));
        let (values, first) = (layout::CHUNK, w.word(layout::FIRST));
        // As many results of the first level as there are invocations, or fewer.
        let radix = w.target.unroll.max(layout::MAX_STEPS);
        w.line("let zero = neutral();");
        w.line("var x = zero;");
        w.line(&format!("for (var step = 0u; step < {steps}; step += 1u) {{"));
        w.line(&format!("let first = {first} + ((((block * {steps} + step) << {log}) + lane) * {values}u);"));
        chunk(self, w);
        let at = format!("(((local >> {log}) * {steps} + step) << {log}) + lane");
        if self.has_subgroups {
            w.line("x = shuffled(x, local, levels);");
            w.line(&format!(
                "if ((lane & ((1u << levels) - 1u)) == 0u) {{ partials[({at}) >> levels] = x; }}"
            ));
        } else {
            w.line(&format!("partials[{at}] = x;"));
        }
        w.line("}");
        let left = |results: String| match self.has_subgroups {
            true => format!("({results}) >> levels"),
            false => results,
        };
        // Neighbours in memory are neighbours in the order of the fold: so many of them to one, until one is
        // left of each block. Sources and results are different places.
        w.line(&format!("var count = {};", left(format!("{size}u * {steps}"))));
        w.line("var source = 0u;");
        w.line(&format!("var sink = {}u;", size * layout::MAX_STEPS));
        w.line(&format!("for (var width = {}; width > 1u; ) {{", left(format!("{steps} << {log}"))));
        w.line(&format!("let radix = min(width, {radix}u);"));
        w.line("width /= radix;");
        w.line("count /= radix;");
        w.line("workgroupBarrier();");
        w.line("if (local < count) {");
        for n in 0..radix {
            w.line(&format!("let c{n} = entry(source + local * radix + {n}u, {n}u < radix);"));
        }
        w.line(&format!("partials[sink + local] = {};", tree("c", 0..radix)));
        w.line("}");
        w.line("let old = source;");
        w.line("source = sink;");
        w.line("sink = old;");
        w.line("}");
        w.line("workgroupBarrier();");
        w.line(&format!("x = partials[source + (local >> {log})];"));
    }

    /// The values of the kernel's body, all loads before the first value, in parts that registers hold.
    fn chunk_of_points(&self, w: &mut Writer, rows: &[UnitRow], points: u32) {
        let end = w.word(layout::END);
        in_parts(w, points, |w| {
            w.line(&format!("let at = min(start, {end} - 1u);"));
            if points == 1 {
                self.elements(w, "at", &FoldStages::loaded(w));
            } else {
                w.line(&format!("let there = bitcast<i32>(min({end} - at, {points}u));"));
                w.declare_rows(rows, 0, points);
                w.line("{");
                self.load_chunk(w, rows, points);
                w.line("}");
                w.align_rows(rows, 0, points);
            }
            self.values(w, rows, points);
            self.store_points(w, points);
        });
    }

    /// Stores what the points of a part store beside their folds, those that are there.
    fn store_points(&self, w: &mut Writer, points: u32) {
        let stores = w.kernel.stores_of_folds();
        if stores.is_empty() {
            return;
        }
        let params: Vec<u32> = stores.iter().map(|store| store.param).collect();
        w.line(&format!("if (unit < {} && start < {}) {{", w.word(layout::LIMIT), w.word(layout::END)));
        self.elements(w, "at", &params);
        if points == 1 {
            params.iter().enumerate().for_each(|(n, &param)| w.store(param, &format!("y0.t{n}")));
            return w.line("}");
        }
        let value =
            |w: &mut Writer, n: usize, point: u32| match (w.dtype(params[n]), format!("y{point}.t{n}")) {
                (dtype, value) if dtype.size_bytes() == 8 => value,
                (dtype, value) => w.pack(dtype, &value),
            };
        let values: Vec<Vec<String>> =
            (0..params.len()).map(|n| (0..points).map(|point| value(w, n, point)).collect()).collect();
        let ends = self.row_ends(w);
        w.line(&format!("if ({ends}) {{"));
        for (n, (&param, values)) in params.iter().zip(&values).enumerate() {
            let element = if w.dtype(param).size_bytes() == 8 { register(w.dtype(param)) } else { "u32" };
            w.line(&format!("var t{n} = array<{element}, {points}>({});", values.join(", ")));
        }
        w.line("for (var n = 0i; n < there; n += 1i) {");
        self.elements(w, "(at + bitcast<u32>(n))", &params);
        for (n, param) in params.iter().enumerate() {
            w.line(&format!("put{param}(bitcast<u32>(e{param}), t{n}[n]);"));
        }
        w.line("}");
        w.line("} else {");
        for (&param, values) in params.iter().zip(&values) {
            for (k, parts) in values.chunks(unit_elements(w.dtype(param)) as usize).enumerate() {
                w.line(&format!("let o{param}_{k} = {};", assembled(w.dtype(param), parts)));
            }
            let tail = format!("({points}i - there)");
            let along = RowStep { stride: self.stride(w, param), head: "0i".to_owned(), tail };
            w.store_units(param, points, &format!("e{param}"), &along);
        }
        w.line("}");
        w.line("}");
    }

    /// Declares along which dimension neighbouring values lie, where there are several; gives the condition
    /// that a row ends within the values from `at` on, `there` of them.
    fn row_ends(&self, w: &mut Writer) -> String {
        if self.folded.len() == 1 {
            return "false".to_owned();
        }
        // The fastest dimension has one value between neighbours; those of one point count for nothing.
        for &k in &self.folded {
            let (divisor, extent) = (w.word(w.layout.divisor(k)), w.word(w.layout.extent(k)));
            w.line(&format!("let along{k} = {divisor} == 1u && {extent} > 1u;"));
        }
        let ends =
            |k: &usize| format!("(along{k} && i{k} + bitcast<u32>(there) > {})", w.word(w.layout.extent(*k)));
        let ends: Vec<String> = self.folded.iter().map(ends).collect();
        if ends.is_empty() { "false".to_owned() } else { ends.join(" || ") }
    }

    /// Elements of a parameter between neighbouring values.
    fn stride(&self, w: &Writer, param: u32) -> String {
        self.folded.iter().fold("0i".to_owned(), |other, &k| {
            let stride = w.signed(w.layout.stride(param, k));
            if self.folded.len() == 1 { stride } else { format!("select({other}, {stride}, along{k})") }
        })
    }

    /// Declares `cN`, the body's value at each point of a part.
    fn values(&self, w: &mut Writer, rows: &[UnitRow], points: u32) {
        let end = w.word(layout::END);
        for n in 0..points {
            let sites = w.footprint.loads().iter();
            let load = |site: &LoadSite| match points {
                1 => w.load_at(site.param, &site.offsets),
                _ => w.loaded(rows, 0, (site.param, &site.offsets), n),
            };
            let mut arguments: Vec<String> = sites.map(load).collect();
            for dim in w.coordinates() {
                arguments.push(match self.folded.contains(&dim) {
                    true => self.coordinate(w, dim, &format!("min(start + {n}u, {end} - 1u)")),
                    false => format!("i{dim}"),
                });
            }
            w.line(&format!("let y{n} = value({});", arguments.join(", ")));
            let stream = |k: usize| format!("select(zero.s{k}, y{n}.s{k}, start + {n}u < {end})");
            let streams: Vec<String> = (0..self.outputs.len()).map(stream).collect();
            w.line(&format!("let c{n} = Partial({});", streams.join(", ")));
        }
    }

    /// Declares the elements of some parameters at the value numbered `at`.
    fn elements(&self, w: &mut Writer, at: &str, params: &[u32]) {
        let dims: Vec<usize> = (0..w.kernel.rank).collect();
        for &k in &self.folded {
            let coordinate = self.coordinate(w, k, at);
            w.line(&format!("let i{k} = {coordinate};"));
        }
        params.iter().for_each(|&param| w.element(param, &dims));
    }

    /// Loads the values numbered from `at` on, `there` of them.
    fn load_chunk(&self, w: &mut Writer, rows: &[UnitRow], points: u32) {
        let loaded = FoldStages::loaded(w);
        self.elements(w, "at", &loaded);
        loaded.iter().for_each(|param| w.line(&format!("let e{param}_0 = e{param};")));
        let tail = format!("({points}i - there)");
        let along = |w: &Writer, param: u32| RowStep {
            stride: self.stride(w, param),
            head: "0i".to_owned(),
            tail: tail.clone(),
        };
        if self.folded.len() == 1 {
            return w.load_rows(rows, 0, points, along);
        }
        let ends = self.row_ends(w);
        w.line(&format!("if ({ends}) {{"));
        w.line(&format!("for (var n = 0u; n < {points}u; n += 1u) {{"));
        self.elements(w, &format!("min(at + n, {} - 1u)", w.word(layout::END)), &loaded);
        w.push_loads(rows, 0, points);
        w.line("}");
        w.line("} else {");
        w.load_rows(rows, 0, points, along);
        w.line("}");
    }

    /// A folded coordinate of a numbered value. The order of the dimensions depends on the launch.
    fn coordinate(&self, w: &Writer, dim: usize, at: &str) -> String {
        let (divisor, extent) = (w.word(w.layout.divisor(dim)), w.word(w.layout.extent(dim)));
        match self.folded.len() {
            1 => at.to_owned(),
            _ => format!("coordinate({at}, {divisor}, {extent})"),
        }
    }

    /// Declares `value`, the streams of the body's value at one point, and what it stores beside them.
    fn declare_value(&self, w: &mut Writer) {
        let root = |(value, dtype): (Value, &DType)| match w.kernel.body[value.index()].dtype {
            DType::Bool if *dtype == DType::U32 => format!("select(0u, 1u, v{})", value.0),
            _ => format!("v{}", value.0),
        };
        let mut roots: Vec<String> = w.kernel.roots().into_iter().zip(&self.partials).map(root).collect();
        let stores = w.kernel.stores_of_folds();
        if stores.is_empty() {
            return w.declare_value("Partial", &roots);
        }
        let stored = |(k, store): (usize, &Store)| format!("t{k}: {}", register(w.dtype(store.param)));
        let folded = self.partials.iter().enumerate().map(|(k, &dtype)| format!("s{k}: {}", register(dtype)));
        let fields: Vec<String> = folded.chain(stores.iter().enumerate().map(stored)).collect();
        w.declare(&format!("struct Point {{ {} }}", fields.join(", ")));
        roots.extend(stores.iter().map(|store| format!("v{}", store.value.0)));
        w.declare_value("Point", &roots);
    }

    /// The partial results of the stage before that are a chunk of values.
    fn chunk_of_partials(&self, w: &mut Writer) {
        let (end, part, kept) = (w.word(layout::END), w.word(layout::PARTIALS_IN), w.word(layout::KEPT));
        w.line(&format!("let last = max({end}, 1u) - 1u;"));
        let points = layout::CHUNK.min(w.target.unroll);
        in_parts(w, points, |w| {
            for n in 0..points {
                let at = format!("{part} + min(start + {n}u, last) * {kept} + kept");
                for stream in 0..self.streams() {
                    w.line(&format!("let in{stream}_{n} = in{stream}[{at}];"));
                }
            }
            for n in 0..points {
                let stream = |k: u32| format!("select(zero.s{k}, in{k}_{n}, start + {n}u < {end})");
                let streams: Vec<String> = (0..self.streams()).map(stream).collect();
                w.line(&format!("let c{n} = Partial({});", streams.join(", ")));
            }
        });
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

/// The combination of `c0` and the following, adjacent pairs first.
fn tree(name: &str, range: Range<u32>) -> String {
    match range.end - range.start {
        1 => format!("{name}{}", range.start),
        length => {
            let middle = range.start + length / 2;
            let halves = [range.start..middle, middle..range.end].map(|half| tree(name, half));
            format!("combine({}, {})", halves[0], halves[1])
        }
    }
}

/// Writes `x`, the combination of a chunk's values, in parts of so many: `values` declares those of one part,
/// `c0` and following, which are numbered from `start` on.
fn in_parts(w: &mut Writer, points: u32, values: impl FnOnce(&mut Writer)) {
    let parts = layout::CHUNK / points;
    if parts > 1 {
        waiting(w, "part", parts);
        w.line(&format!("for (var part = 0u; part < {parts}u; part += 1u) {{"));
        w.line(&format!("let start = first + part * {points}u;"));
    } else {
        w.line("let start = first;");
    }
    values(w);
    w.line(&format!("x = {};", tree("c", 0..points)));
    if parts > 1 {
        count(w, "part", "part", parts);
        w.line("}");
    }
}

/// Values of a chunk whose loads registers hold and whose bodies are short enough to be written at once.
fn points(w: &Writer, rows: &[UnitRow]) -> u32 {
    let fits = |&points: &u32| {
        let words: u32 = rows.iter().map(|row| row.words(points)).sum();
        words <= MOST_WORDS && points as usize * w.kernel.body.len() <= MOST_INSTRUCTIONS
    };
    let chunk = layout::CHUNK;
    [chunk, chunk / 2].into_iter().find(fits).unwrap_or(chunk / 4).min(w.target.unroll)
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
