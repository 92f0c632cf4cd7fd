//! The parts of instructions, forms and launches: operands, roots, indexed parameters, and the same with
//! other values. Works on kernels that are not verified, too.

use crate::ir::{Fold, Form, Kernel, Launch, Op, Store, Value};

impl Launch {
    /// Points of the region.
    pub fn points(&self) -> usize {
        self.extents.iter().product()
    }
}

impl Kernel {
    /// The parameter addressed by an index value: a gather's source, a scatter's target.
    pub fn indexed_param(&self) -> Option<u32> {
        match self.form {
            Form::Gather { source, .. } => Some(source),
            Form::Scatter { output, .. } => Some(output),
            Form::Elementwise { .. } | Form::Reduce { .. } | Form::Scan(_) => None,
        }
    }

    /// Points of the dimensions that are not folded away.
    pub fn kept_points(&self, launch: &Launch) -> usize {
        match &self.form {
            Form::Reduce { axes, .. } => {
                axes.iter().zip(&launch.extents).map(|(&folded, &e)| if folded { 1 } else { e }).product()
            }
            Form::Elementwise { .. } | Form::Scan(_) | Form::Gather { .. } | Form::Scatter { .. } => {
                launch.points()
            }
        }
    }

    /// The stores of every point beside its folds.
    pub fn stores_of_folds(&self) -> &[Store] {
        match &self.form {
            Form::Reduce { stores, .. } => stores,
            Form::Elementwise { .. } | Form::Scan(_) | Form::Gather { .. } | Form::Scatter { .. } => &[],
        }
    }

    /// Whether one of these is to parameter number `param`.
    pub fn stores_beside_folds(&self, param: usize) -> bool {
        self.stores_of_folds().iter().any(|store| store.param as usize == param)
    }

    /// The values the form uses; those that are folded come first.
    pub fn roots(&self) -> Vec<Value> {
        match &self.form {
            Form::Elementwise { stores } => stores.iter().map(|s| s.value).collect(),
            Form::Reduce { folds, stores, .. } => {
                let folded = folds.iter().flat_map(|fold| match *fold {
                    Fold::Value { value, .. } => vec![value],
                    Fold::Arg { value, index, .. } => vec![value, index],
                });
                folded.chain(stores.iter().map(|store| store.value)).collect()
            }
            Form::Scan(scan) => vec![scan.start, scan.value],
            Form::Gather { index, .. } => vec![*index],
            Form::Scatter { index, value, .. } => vec![*index, *value],
        }
    }
}

impl Form {
    /// `elementwise`, `reduce`, `scan`, `gather` or `scatter`.
    pub fn name(&self) -> &'static str {
        match self {
            Form::Elementwise { .. } => "elementwise",
            Form::Reduce { .. } => "reduce",
            Form::Scan(_) => "scan",
            Form::Gather { .. } => "gather",
            Form::Scatter { .. } => "scatter",
        }
    }

    /// The form with each value replaced.
    pub fn map(&self, f: impl Fn(Value) -> Value) -> Form {
        let mut form = self.clone();
        match &mut form {
            Form::Elementwise { stores } => stores.iter_mut().for_each(|s| s.value = f(s.value)),
            Form::Reduce { folds, stores, .. } => {
                folds.iter_mut().for_each(|fold| match fold {
                    Fold::Value { value, .. } => *value = f(*value),
                    Fold::Arg { value, index, .. } => (*value, *index) = (f(*value), f(*index)),
                });
                stores.iter_mut().for_each(|store| store.value = f(store.value));
            }
            Form::Scan(scan) => (scan.start, scan.value) = (f(scan.start), f(scan.value)),
            Form::Gather { index, .. } => *index = f(*index),
            Form::Scatter { index, value, .. } => (*index, *value) = (f(*index), f(*value)),
        }
        form
    }
}

impl Op {
    /// The values it uses, in order.
    pub fn operands(&self) -> impl Iterator<Item = Value> + use<> {
        let (a, b, c) = match *self {
            Op::Const(_) | Op::Argument(_) | Op::Coord(_) | Op::Load { .. } => (None, None, None),
            Op::Unary(_, a) | Op::Cast(a) | Op::Bitcast(a) | Op::Math1(_, a) => (Some(a), None, None),
            Op::Binary(_, a, b) | Op::Compare(_, a, b) | Op::Math2(_, a, b) => (Some(a), Some(b), None),
            Op::Select(a, b, c) | Op::Fma(a, b, c) => (Some(a), Some(b), Some(c)),
        };
        [a, b, c].into_iter().flatten()
    }

    /// The operation with each operand replaced.
    pub fn map(&self, f: impl Fn(Value) -> Value) -> Op {
        match self {
            Op::Const(_) | Op::Argument(_) | Op::Coord(_) | Op::Load { .. } => self.clone(),
            Op::Unary(op, a) => Op::Unary(*op, f(*a)),
            Op::Binary(op, a, b) => Op::Binary(*op, f(*a), f(*b)),
            Op::Compare(op, a, b) => Op::Compare(*op, f(*a), f(*b)),
            Op::Select(a, b, c) => Op::Select(f(*a), f(*b), f(*c)),
            Op::Fma(a, b, c) => Op::Fma(f(*a), f(*b), f(*c)),
            Op::Cast(a) => Op::Cast(f(*a)),
            Op::Bitcast(a) => Op::Bitcast(f(*a)),
            Op::Math1(function, a) => Op::Math1(*function, f(*a)),
            Op::Math2(function, a, b) => Op::Math2(*function, f(*a), f(*b)),
        }
    }
}
