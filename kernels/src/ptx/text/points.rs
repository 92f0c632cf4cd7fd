//! The body for several points at once. It knows nothing of where points are: loads and coordinates have
//! their registers before it starts.
//!
//! Two neighbouring points share instructions where hardware has them for two halves of a word: f16x2 and
//! bf16x2. Rounding the f32 result of `+ - *` to p bits gives the same bits as the native operation, because
//! 24 >= 2p + 2 (Figueroa, "When is double rounding innocuous?", 1995).
//!
//! All points of a thread share the test of a branch ([`crate::ir::branches`]).

use super::parameters::{Class, class};
use super::writer::PtxWriter;
use crate::dtype::DType;
use crate::ir::branches::{Branch, branches, computed, uniform};
use crate::ir::{BinaryOp, Op, UnaryOp, Value};

/// One point of a thread.
pub(crate) struct Point {
    /// The suffix of the registers of its values.
    pub mark: String,
    /// The register of each value that is defined.
    pub names: Vec<String>,
}

impl PtxWriter<'_> {
    /// Computes the values that are the same for every point.
    pub(crate) fn prologue(&mut self) {
        for (at, uniform) in uniform(self.kernel).into_iter().enumerate() {
            if uniform {
                self.define(at, "");
            }
        }
    }

    /// Computes the other values for one point, whose registers end in `lane`. Loads and coordinates
    /// have theirs already.
    pub(crate) fn compute(&mut self, lane: &str) {
        let mut points = [Point { mark: lane.to_owned(), names: self.names.clone() }];
        self.compute_points(&mut points);
        let [point] = points;
        self.names = point.names;
    }

    /// The same for several points, neighbours in pairs.
    pub(crate) fn compute_points(&mut self, points: &mut [Point]) {
        let (mut plain, branches) = (computed(self.kernel), branches(self.kernel));
        plain.retain(|at| !branches.iter().any(|b| b.body.contains(at) || b.selects.contains(at)));
        let mut rest = plain.as_slice();
        for branch in &branches {
            let before = rest.partition_point(|&at| at < branch.place());
            self.define_all(&rest[..before], points);
            rest = &rest[before..];
            self.branch(branch, points);
        }
        self.define_all(rest, points);
    }

    /// Instructions for all points: one pair after the other; or one instruction after the other, so that the
    /// last use of what all points need comes sooner.
    fn define_all(&mut self, instructions: &[usize], points: &mut [Point]) {
        let most = if self.together { 1 } else { instructions.len().max(1) };
        for instructions in instructions.chunks(most) {
            for pair in points.chunks_mut(2) {
                for &at in instructions {
                    if !self.define_pair(at, pair) {
                        pair.iter_mut().for_each(|point| self.define_at(at, point));
                    }
                }
            }
        }
    }

    fn define_at(&mut self, at: usize, point: &mut Point) {
        std::mem::swap(&mut self.names, &mut point.names);
        self.define(at, &point.mark);
        std::mem::swap(&mut self.names, &mut point.names);
    }

    fn define(&mut self, at: usize, lane: &str) {
        let inst = &self.kernel.body[at];
        let to = self.named(class(inst.dtype), &format!("%v{at}{lane}"));
        self.forget(&to);
        self.instruction(inst, &to);
        self.names[at] = to;
    }

    /// The other side of the selects everywhere, then what any point needs of the long one.
    fn branch(&mut self, branch: &Branch, points: &mut [Point]) {
        self.note("what few points need");
        let mut needed: Option<String> = None;
        for point in &mut *points {
            let condition = point.names[branch.condition.index()].clone();
            let own = if branch.side { condition } else { self.set(Class::Pred, "not.pred", &[&condition]) };
            needed = Some(match needed {
                Some(others) => self.set(Class::Pred, "or.pred", &[&others, &own]),
                None => own,
            });
            for &at in &branch.selects {
                let (dtype, other) = (self.kernel.body[at].dtype, branch.operand(self.kernel, at, false));
                let to = self.named(class(dtype), &format!("%v{at}{}", point.mark));
                self.copy(dtype, &to, &point.names[other.index()]);
                point.names[at] = to;
            }
        }
        let Some(needed) = needed else { return };
        let done = self.label("RARE");
        self.op(&format!("@!{needed} bra {done}"));
        for point in points {
            branch.body.iter().chain(&branch.selects).for_each(|&at| self.define_at(at, point));
        }
        self.place(&done);
    }

    /// One instruction for two points, if there is one.
    fn define_pair(&mut self, at: usize, pair: &mut [Point]) -> bool {
        let inst = &self.kernel.body[at];
        let dtype = inst.dtype;
        let [first, second] = pair else { return false };
        let words = match dtype {
            DType::F16 => true,
            DType::BF16 => self.target.sm >= 80,
            _ => false,
        };
        if !words {
            return false;
        }
        let word = {
            let mut operand =
                |value: Value| self.pair_word(&first.names[value.index()], &second.names[value.index()]);
            match inst.op {
                Op::Unary(UnaryOp::Neg, a) => {
                    let a = operand(a);
                    self.set(Class::B32, "xor.b32", &[&a, "0x80008000"])
                }
                Op::Unary(UnaryOp::Abs, a) => {
                    let a = operand(a);
                    self.set(Class::B32, "and.b32", &[&a, "0x7FFF7FFF"])
                }
                Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b) => {
                    let (a, b) = (operand(a), operand(b));
                    self.binary_pair(op, dtype, &a, &b)
                }
                _ => return false,
            }
        };
        let mut halves = Vec::new();
        for point in pair {
            let to = self.named(Class::B16, &format!("%v{at}{}", point.mark));
            point.names[at].clone_from(&to);
            halves.push(to);
        }
        self.split_word(&halves, &word);
        true
    }

    /// `a op b` of both halves. bf16x2 is added and multiplied from sm_90 on; before, a product with 1 or -1,
    /// or a sum with -0, changes no bit.
    fn binary_pair(&mut self, op: BinaryOp, dtype: DType, a: &str, b: &str) -> String {
        let name = match op {
            BinaryOp::Add => "add",
            BinaryOp::Sub => "sub",
            _ => "mul",
        };
        match dtype {
            DType::F16 => self.set(Class::B32, &format!("{name}.rn.f16x2"), &[a, b]),
            _ if self.target.sm >= 90 => self.set(Class::B32, &format!("{name}.rn.bf16x2"), &[a, b]),
            _ => {
                let constant = |w: &mut Self, bits: &str| w.set(Class::B32, "mov.b32", &[bits]);
                let [x, y, z] = match op {
                    BinaryOp::Add => [a.to_owned(), constant(self, "0x3F803F80"), b.to_owned()],
                    BinaryOp::Sub => [b.to_owned(), constant(self, "0xBF80BF80"), a.to_owned()],
                    _ => [a.to_owned(), b.to_owned(), constant(self, "0x80008000")],
                };
                self.set(Class::B32, "fma.rn.bf16x2", &[&x, &y, &z])
            }
        }
    }
}
