//! The first stage of a reduction of which one invocation walks along rows, and reads every block once.
//!
//! A segment folds parts of rows. The eight points of a turn have accumulators of their own, which are folded
//! at the end in the order of the points, not of their places in a block: so the order of every fold depends
//! on the shape and the number of segments alone, as in all reductions, and not on where rows begin.
//!
//! The dimension of the rows, which is the innermost, has parts instead of points in the launch block. The
//! stages after this one are those of [`super::reduce`].

use super::layout;
use super::reduce::{Plan, outputs};
use super::wide::{self, Lanes, POINTS};
use super::{Stage, Writer};
use crate::ir::{Fold, FoldOp};

impl Plan<'_> {
    pub(super) fn fold_walks(&self, mut w: Writer) -> Stage {
        let rows = wide::rows(w.kernel);
        let inner = w.kernel.rank - 1;
        w.lanes = Some(Lanes::new(w.kernel));
        w.read_launch();
        self.open(&mut w);
        self.digits(&mut w, "kept", &self.kept, "let");
        self.digits(&mut w, "segment", &self.folded, "var");
        w.line(&format!("let head = {};", w.signed(layout::HEAD)));
        w.line(&format!("let length = {};", w.signed(layout::CHUNKS)));
        w.line(&format!("let part = {} * {POINTS};", w.signed(layout::TURNS)));
        self.start_lanes(&mut w);
        let (folded, segments) = (w.word(layout::FOLDED), w.word(layout::SEGMENTS));
        w.line(&format!("for (var r = segment; r < {folded}; r += {segments}) {{"));
        let dims: Vec<usize> = (0..inner).collect();
        let loaded: Vec<u32> = (0..w.kernel.params.len() as u32).filter(|&p| w.kernel.loads_of(p)).collect();
        for &param in &loaded {
            w.element(param, &dims);
        }
        w.line(&format!("let opens = bitcast<i32>(i{inner}) * part;"));
        w.line("let ends = min(opens + part, length);");
        w.line("let start = (opens + head) >> 3u;");
        w.line(&format!("let stop = (ends + head + {}) >> 3u;", POINTS - 1));
        rows.iter().enumerate().for_each(|(n, row)| w.open_row(n, row));
        w.line("for (var turn = start; turn < stop; turn += 1) {");
        w.line(&format!("let x = turn * {POINTS} - head;"));
        rows.iter().enumerate().for_each(|(n, row)| w.next_block(n, row));
        for lane in 0..POINTS {
            w.at_lane(lane);
            self.merge_lane(&mut w, lane);
            w.line("}");
        }
        rows.iter().enumerate().for_each(|(n, row)| w.carry_blocks(n, row));
        w.line("}");
        self.advance(&mut w);
        w.line("}");
        self.merge_lanes(&mut w);
        self.end_fold(w, loaded)
    }

    /// The operation of every stream.
    fn operations(&self) -> impl Iterator<Item = (usize, FoldOp)> {
        self.folds
            .iter()
            .flat_map(|fold| match fold {
                Fold::Value { op, .. } => vec![*op; outputs(fold).len()],
                Fold::Arg { .. } | Fold::Exact { .. } => unreachable!("these folds do not walk"),
            })
            .enumerate()
    }

    /// Names of what a stream keeps: what it has folded, and what a float sum has lost.
    fn kept_by(&self, w: &Writer, stream: usize, op: FoldOp) -> Vec<String> {
        let mut names = vec![format!("acc{stream}")];
        if op == FoldOp::Sum && self.dtype(w, stream).is_float() {
            names.push(format!("lost{stream}"));
        }
        names
    }

    /// Declares the accumulators of the eight points, and for each stream what changes nothing.
    fn start_lanes(&self, w: &mut Writer) {
        for (stream, op) in self.operations() {
            let text = w.constant(op.neutral(self.dtype(w, stream)));
            w.line(&format!("let idle{stream} = {text};"));
            for name in self.kept_by(w, stream, op) {
                (0..POINTS).for_each(|lane| w.line(&format!("var {name}_{lane} = idle{stream};")));
            }
        }
    }

    /// Folds the values of one of the eight points, if it is one of the part.
    fn merge_lane(&self, w: &mut Writer, lane: usize) {
        w.line(&format!("let inside = x + {lane} >= opens && x + {lane} < ends;"));
        let roots = w.kernel.roots();
        let mut values = Vec::new();
        for (stream, value) in roots.iter().enumerate() {
            w.line(&format!("let y{stream} = select(idle{stream}, v{}, inside);", value.0));
            values.push(format!("y{stream}"));
        }
        self.with_lane(w, lane, |w| self.merge(w, &values));
    }

    /// Does something to the accumulators of one of the eight points.
    fn with_lane(&self, w: &mut Writer, lane: usize, change: impl FnOnce(&mut Writer)) {
        let names: Vec<String> =
            self.operations().flat_map(|(stream, op)| self.kept_by(w, stream, op)).collect();
        names.iter().for_each(|name| w.line(&format!("var {name} = {name}_{lane};")));
        change(w);
        names.iter().for_each(|name| w.line(&format!("{name}_{lane} = {name};")));
    }

    /// Folds the accumulators of the eight points, beginning with that of the first point of rows.
    fn merge_lanes(&self, w: &mut Writer) {
        for lane in 0..POINTS {
            w.line("{");
            self.with_lane(w, lane, |w| self.settle(w));
            w.line("}");
        }
        for (stream, _) in self.operations() {
            let (mut last, points) = (format!("acc{stream}"), POINTS);
            for (by, name) in [(4, "o"), (2, "t"), (1, "h")] {
                for k in 0..points {
                    let far = format!("{last}_{}", (k + by) % points);
                    w.line(&format!(
                        "let {name}{stream}_{k} = select({last}_{k}, {far}, (head & {by}) != 0);"
                    ));
                }
                last = format!("{name}{stream}");
            }
        }
        self.start(w);
        let each = |prefix: &str, suffix: &str| {
            (0..self.outputs.len()).map(|stream| format!("{prefix}{stream}{suffix}")).collect::<Vec<_>>()
        };
        w.line(&format!("if ({} != 0u) {{", w.word(layout::RESUME)));
        for stream in 0..self.outputs.len() {
            let partial = self.read_partial(w, stream, &format!("out{stream}[item]"));
            w.line(&format!("let x{stream} = {partial};"));
        }
        self.merge(w, &each("x", ""));
        w.line("}");
        for k in 0..POINTS {
            w.line("{");
            self.merge(w, &each("h", &format!("_{k}")));
            w.line("}");
        }
        self.settle(w);
    }
}
