//! The three stages of a reduction, without barriers.
//!
//! `fold` gives every (kept point, segment) pair to one invocation, which folds every
//! `segments`-th point; `again` does the same with the partial results, until few are left per kept
//! point; `finish` folds those and stores them. Neighbouring invocations read neighbouring memory:
//! they differ in the segment if the innermost dimension folds away, in the kept point otherwise.
//! The order of every fold depends on the shape and the number of segments alone.

use super::layout::{self, Layout};
use super::ops::{self, compare};
use super::{Binding, Shader, Stage, Target, Writer, types};
use crate::dtype::{DType, Kind, Scalar};
use crate::ir::{BinaryOp, CompareOp, Fold, FoldOp, Form, Kernel};

/// The stages of a reduction.
pub(super) fn stages(kernel: &Kernel, target: &Target, layout: Layout) -> Shader {
    let Form::Reduce { axes, folds } = &kernel.form else { unreachable!("called for reductions") };
    let of = |param: u32| kernel.params[param as usize].dtype;
    let outputs: Vec<u32> = folds.iter().flat_map(outputs).collect();
    let partials: Vec<DType> = outputs.iter().map(|&p| types::partial(of(p))).collect();
    let dims = |folded: bool| (0..kernel.rank).filter(|&k| axes[k] == folded).collect::<Vec<_>>();
    let width = outputs.iter().map(|&param| kernel.width(param) as usize).max().unwrap_or(1);
    let plan = Plan { folds, outputs, partials, kept: dims(false), folded: dims(true), layout };
    let stages = match kernel.exact() {
        Some(_) => [Plan::fold_exact, Plan::again_exact, Plan::finish_exact],
        None => [Plan::fold, Plan::again, Plan::finish],
    };
    let stages = stages.map(|stage| stage(&plan, Writer::new(kernel, target, &plan.layout))).to_vec();
    Shader { stages, layout: plan.layout, partials: plan.partials, width }
}

fn outputs(fold: &Fold) -> Vec<u32> {
    match *fold {
        Fold::Value { output, .. } => vec![output],
        Fold::Arg { value_output, index_output, .. } => vec![value_output, index_output],
        Fold::Exact { output, .. } => vec![output],
    }
}

/// What each stream of a fold starts from.
pub(super) fn neutrals(kernel: &Kernel, fold: &Fold) -> Vec<Scalar> {
    let of = |param: u32| kernel.params[param as usize].dtype;
    match *fold {
        Fold::Value { op, output, .. } => vec![op.neutral(of(output))],
        Fold::Arg { largest, value_output, index_output, .. } => {
            vec![Scalar::extreme(of(value_output), !largest), Scalar::extreme(of(index_output), true)]
        }
        // Its stages start from integers of their own.
        Fold::Exact { .. } => Vec::new(),
    }
}

pub(super) struct Plan<'a> {
    pub folds: &'a [Fold],
    /// The output of each stream of partial results.
    pub outputs: Vec<u32>,
    pub partials: Vec<DType>,
    pub kept: Vec<usize>,
    pub folded: Vec<usize>,
    layout: Layout,
}

impl Plan<'_> {
    fn streams(&self) -> u32 {
        self.outputs.len() as u32
    }

    /// The register type of a stream.
    fn dtype(&self, w: &Writer, stream: usize) -> DType {
        w.kernel.params[self.outputs[stream] as usize].dtype
    }

    /// True if neighbouring invocations take neighbouring segments of one kept point.
    pub(super) fn segments_inside(&self) -> bool {
        self.folded.last() > self.kept.last()
    }

    fn fold(&self, mut w: Writer) -> Stage {
        self.open(&mut w);
        self.digits(&mut w, "kept", &self.kept, "let");
        self.digits(&mut w, "segment", &self.folded, "var");
        self.start(&mut w);
        w.line(&format!("if ({} != 0u) {{", w.word(layout::RESUME)));
        for stream in 0..self.streams() {
            let partial = self.read_partial(&w, stream as usize, &format!("out{stream}[item]"));
            w.line(&format!("acc{stream} = {partial};"));
        }
        w.line("}");
        let (folded, segments) = (w.word(layout::FOLDED), w.word(layout::SEGMENTS));
        w.line(&format!("for (var r = segment; r < {folded}; r += {segments}) {{"));
        let dims: Vec<usize> = (0..w.kernel.rank).collect();
        let loaded: Vec<u32> = (0..w.kernel.params.len() as u32).filter(|&p| w.kernel.loads_of(p)).collect();
        for &param in &loaded {
            w.element(param, &dims);
        }
        w.body();
        let values: Vec<String> = w.kernel.roots().iter().map(|v| format!("v{}", v.0)).collect();
        self.merge(&mut w, &values);
        self.advance(&mut w);
        w.line("}");
        self.settle(&mut w);
        self.write_partials(&mut w);
        w.line("}");
        let mut bindings = vec![Binding::Launch];
        bindings.extend(loaded.into_iter().map(|param| Binding::Param { param, write: false }));
        bindings.extend((0..self.streams()).map(Binding::PartialOut));
        w.finish("fold", bindings, &self.partials)
    }

    fn again(&self, mut w: Writer) -> Stage {
        self.open(&mut w);
        self.merge_partials(&mut w);
        self.write_partials(&mut w);
        w.line("}");
        let mut bindings = vec![Binding::Launch];
        bindings.extend((0..self.streams()).map(Binding::PartialIn));
        bindings.extend((0..self.streams()).map(Binding::PartialOut));
        w.finish("again", bindings, &self.partials)
    }

    fn finish(&self, mut w: Writer) -> Stage {
        self.open(&mut w);
        self.merge_partials(&mut w);
        self.index_of_nothing(&mut w);
        self.digits(&mut w, "kept", &self.kept, "let");
        for (stream, &param) in self.outputs.iter().enumerate() {
            w.element(param, &self.kept);
            let value = w.narrow(self.dtype(&w, stream), format!("acc{stream}"));
            w.store(param, &value);
        }
        w.line("}");
        let mut bindings = vec![Binding::Launch];
        bindings.extend((0..self.streams()).map(Binding::PartialIn));
        bindings.extend(self.outputs.iter().map(|&param| Binding::Param { param, write: true }));
        w.finish("finish", bindings, &self.partials)
    }

    /// Which kept point and which segment this invocation has.
    pub(super) fn open(&self, w: &mut Writer) {
        let (kept, segments) = (w.word(layout::KEPT), w.word(layout::SEGMENTS));
        w.line(&format!("let item = ({}) * {}u + local;", w.number(), w.target.workgroup_size));
        w.line(&format!("if (item < {}) {{", w.word(layout::LIMIT)));
        if self.segments_inside() {
            w.line(&format!("let kept = item / {segments};"));
            w.line(&format!("let segment = item - kept * {segments};"));
        } else {
            w.line(&format!("let segment = item / {kept};"));
            w.line(&format!("let kept = item - segment * {kept};"));
        }
    }

    /// Splits a number into coordinates of some dimensions, the last one fastest.
    pub(super) fn digits(&self, w: &mut Writer, number: &str, dims: &[usize], keyword: &str) {
        let mut rest = number.to_owned();
        for (position, &k) in dims.iter().enumerate().rev() {
            if position == 0 {
                w.line(&format!("{keyword} i{k} = {rest};"));
                break;
            }
            let extent = w.word(w.layout.extent(k));
            w.line(&format!("let q{k} = {rest} / {extent};"));
            w.line(&format!("{keyword} i{k} = {rest} - q{k} * {extent};"));
            rest = format!("q{k}");
        }
    }

    /// Moves the folded coordinates on by one stride of the segments: an addition with carry.
    pub(super) fn advance(&self, w: &mut Writer) {
        for (position, &k) in self.folded.iter().enumerate().rev() {
            let carry = self.folded.get(position + 1).map_or(String::new(), |next| format!(" + c{next}"));
            w.line(&format!("i{k} += {}{carry};", w.word(w.layout.step(k))));
            if position > 0 {
                let extent = w.word(w.layout.extent(k));
                w.line(&format!("let c{k} = select(0u, 1u, i{k} >= {extent});"));
                w.line(&format!("i{k} -= c{k} * {extent};"));
            }
        }
    }

    /// Declares the accumulators with their neutral elements.
    fn start(&self, w: &mut Writer) {
        let mut stream = 0;
        for fold in self.folds {
            let first = stream;
            for neutral in neutrals(w.kernel, fold) {
                let text = w.constant(neutral);
                w.line(&format!("var acc{stream} = {text};"));
                stream += 1;
            }
            let dtype = self.dtype(w, first);
            if let Fold::Value { op: FoldOp::Sum, .. } = fold
                && dtype.is_float()
            {
                let zero = w.constant(FoldOp::Sum.neutral(dtype));
                w.line(&format!("var lost{first} = {zero};"));
            }
        }
    }

    /// Folds one value per stream into the accumulators.
    fn merge(&self, w: &mut Writer, values: &[String]) {
        let mut stream = 0;
        for fold in self.folds {
            let dtype = self.dtype(w, stream);
            let (acc, value) = (format!("acc{stream}"), &values[stream]);
            match fold {
                Fold::Value { op: FoldOp::Sum, .. } if dtype.is_float() => {
                    compensated(w, types::partial(dtype), stream, value);
                    stream += 1;
                }
                Fold::Value { op, .. } => {
                    let text = combine(w, *op, dtype, &acc, value);
                    w.line(&format!("{acc} = {text};"));
                    stream += 1;
                }
                Fold::Arg { largest, .. } => {
                    let index = [format!("acc{}", stream + 1), values[stream + 1].clone()];
                    let text = better(w, *largest, dtype, [&acc, value], &index);
                    w.line(&format!("let better{stream} = {text};"));
                    w.line(&format!("{acc} = select({acc}, {value}, better{stream});"));
                    w.line(&format!("{0} = select({0}, {1}, better{stream});", index[0], index[1]));
                    stream += 2;
                }
                Fold::Exact { .. } => unreachable!("an exact sum has stages of its own"),
            }
        }
    }

    /// Folds the partial results of the stage before.
    fn merge_partials(&self, w: &mut Writer) {
        self.start(w);
        let (kept, previous) = (w.word(layout::KEPT), w.word(layout::PREVIOUS));
        let segments = w.word(layout::SEGMENTS);
        w.line(&format!("for (var s = segment; s < {previous}; s += {segments}) {{"));
        match self.segments_inside() {
            true => w.line(&format!("let at = kept * {previous} + s;")),
            false => w.line(&format!("let at = s * {kept} + kept;")),
        }
        let mut values = Vec::new();
        for stream in 0..self.outputs.len() {
            let partial = self.read_partial(w, stream, &format!("in{stream}[at]"));
            w.line(&format!("let x{stream} = {partial};"));
            values.push(format!("x{stream}"));
        }
        self.merge(w, &values);
        w.line("}");
        self.settle(w);
    }

    /// Adds to float sums what they have lost; of an infinite sum that is NaN, and the sum stays.
    fn settle(&self, w: &mut Writer) {
        let mut stream = 0;
        for fold in self.folds {
            let dtype = self.dtype(w, stream);
            if let Fold::Value { op: FoldOp::Sum, .. } = fold
                && dtype.is_float()
            {
                let (acc, lost) = (format!("acc{stream}"), format!("lost{stream}"));
                let whole = w.float_binary(BinaryOp::Add, types::partial(dtype), &acc, &lost);
                let nan = w.nan(types::partial(dtype), &lost);
                w.line(&format!("{acc} = select({whole}, {acc}, {nan});"));
            }
            stream += outputs(fold).len();
        }
    }

    /// An argument fold of nothing has index 0.
    fn index_of_nothing(&self, w: &mut Writer) {
        let mut stream = 0;
        for fold in self.folds {
            if let Fold::Arg { .. } = fold {
                let zero = ops::int(self.dtype(w, stream + 1), 0);
                let previous = w.word(layout::PREVIOUS);
                w.line(&format!("if ({previous} == 0u) {{ acc{} = {zero}; }}", stream + 1));
            }
            stream += outputs(fold).len();
        }
    }

    fn write_partials(&self, w: &mut Writer) {
        for stream in 0..self.outputs.len() {
            let value = match self.dtype(w, stream) {
                DType::Bool => format!("select(0u, 1u, acc{stream})"),
                _ => format!("acc{stream}"),
            };
            w.line(&format!("out{stream}[item] = {value};"));
        }
    }

    fn read_partial(&self, w: &Writer, stream: usize, element: &str) -> String {
        match self.dtype(w, stream) {
            DType::Bool => format!("({element} != 0u)"),
            _ => element.to_owned(),
        }
    }
}

/// One step of a float sum, and what it loses (Knuth's error of an addition).
fn compensated(w: &mut Writer, dtype: DType, stream: usize, value: &str) {
    let (acc, lost) = (format!("acc{stream}"), format!("lost{stream}"));
    let mut step = |name: &str, op: BinaryOp, a: &str, b: &str| {
        let text = w.float_binary(op, dtype, a, b);
        w.line(&format!("let {name}{stream} = {text};"));
        format!("{name}{stream}")
    };
    let sum = step("sum", BinaryOp::Add, &acc, value);
    let added = step("added", BinaryOp::Sub, &sum, &acc);
    let kept = step("kept", BinaryOp::Sub, &sum, &added);
    let of_acc = step("of_acc", BinaryOp::Sub, &acc, &kept);
    let of_value = step("of_value", BinaryOp::Sub, value, &added);
    let both = step("both", BinaryOp::Add, &of_acc, &of_value);
    let all = step("all", BinaryOp::Add, &lost, &both);
    w.line(&format!("{acc} = {sum};"));
    w.line(&format!("{lost} = {all};"));
}

/// One step of a fold. f16 and bf16 add and multiply in f32 and are rounded at the end.
fn combine(w: &mut Writer, op: FoldOp, dtype: DType, acc: &str, value: &str) -> String {
    let wide = types::partial(dtype);
    let binary = op.step();
    match dtype.kind() {
        Kind::Float => w.float_binary(binary, wide, acc, value),
        Kind::Bool => w.int_binary(binary, dtype, acc, value),
        Kind::Int | Kind::Uint => w.int_binary(binary, wide, acc, value),
    }
}

/// Does the second (value, index) beat the first? Ties go to the lower index, so order is no matter.
fn better(w: &mut Writer, largest: bool, dtype: DType, values: [&str; 2], index: &[String; 2]) -> String {
    let [acc, value] = values;
    let op = if largest { CompareOp::Gt } else { CompareOp::Lt };
    let wins = compare(op, dtype, value, acc);
    let ties = compare(CompareOp::Eq, dtype, value, acc);
    let earlier = format!("{} < {}", index[1], index[0]);
    let number = format!("({wins} || ({ties} && {earlier}))");
    if !dtype.is_float() {
        return number;
    }
    let (acc_nan, value_nan) = (w.nan(dtype, acc), w.nan(dtype, value));
    format!("select(!{acc_nan} && {number}, !{acc_nan} || {earlier}, {value_nan})")
}
