//! The text form of a kernel: for people, golden files and error messages. Nothing parses it.

use std::fmt;

use crate::ir::{Access, Fold, Form, Inst, Kernel, Op};

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {} rank={} (", self.name, self.rank)?;
        for (p, param) in self.params.iter().enumerate() {
            let access = match param.access {
                Access::In => "in",
                Access::Out => "out",
                Access::InOut => "inout",
            };
            write!(f, "{}{access} p{p}: {}", if p > 0 { ", " } else { "" }, param.dtype)?;
        }
        for (n, dtype) in self.arguments.iter().enumerate() {
            write!(f, ", arg{n}: {dtype}")?;
        }
        writeln!(f, ")")?;
        for (n, inst) in self.body.iter().enumerate() {
            writeln!(f, "  %{n} = {inst}")?;
        }
        self.form.fmt(f)
    }
}

impl fmt::Display for Inst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.op {
            Op::Const(scalar) => return write!(f, "const {scalar}"),
            Op::Argument(n) => write!(f, "arg{n}")?,
            Op::Coord(dim) => write!(f, "coord {dim}")?,
            Op::Load { param, offsets } => write!(f, "load p{param}{offsets:?}")?,
            Op::Unary(op, _) => f.write_str(&lower(op))?,
            Op::Binary(op, ..) => f.write_str(&lower(op))?,
            Op::Compare(op, ..) => f.write_str(&lower(op))?,
            Op::Select(..) => f.write_str("select")?,
            Op::Fma(..) => f.write_str("fma")?,
            Op::Cast(_) => f.write_str("cast")?,
            Op::Bitcast(_) => f.write_str("bitcast")?,
            Op::Math1(function, _) => f.write_str(&lower(function))?,
            Op::Math2(function, ..) => f.write_str(&lower(function))?,
        }
        for value in self.op.operands() {
            write!(f, " %{}", value.0)?;
        }
        write!(f, " : {}", self.dtype)
    }
}

/// The variant's name in lower case: how operations are spelled in every text form.
pub(crate) fn lower(op: &impl fmt::Debug) -> String {
    format!("{op:?}").to_lowercase()
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Form::Elementwise { stores } => {
                for store in stores {
                    writeln!(f, "  elementwise p{} = %{}", store.param, store.value.0)?;
                }
                Ok(())
            }
            Form::Reduce { axes, folds, stores } => {
                let axes: Vec<usize> = (0..axes.len()).filter(|&k| axes[k]).collect();
                for fold in folds {
                    match fold {
                        Fold::Value { op, value, output } => {
                            writeln!(f, "  reduce{axes:?} p{output} = {} %{}", lower(op), value.0)?;
                        }
                        Fold::Arg { largest, value, index, value_output, index_output } => {
                            let op = if *largest { "argmax" } else { "argmin" };
                            writeln!(
                                f,
                                "  reduce{axes:?} p{value_output}, p{index_output} = {op} %{} at %{}",
                                value.0, index.0
                            )?;
                        }
                    }
                }
                for store in stores {
                    writeln!(f, "  store p{} = %{}", store.param, store.value.0)?;
                }
                Ok(())
            }
            Form::Scan(scan) => {
                let kind = if scan.exclusive { " before" } else { "" };
                let (axis, op, output) = (scan.axis, lower(&scan.op), scan.output);
                writeln!(f, "  scan[{axis}] p{output} = {op}{kind} %{} from %{}", scan.value.0, scan.start.0)
            }
            Form::Gather { index, source, output } => {
                writeln!(f, "  gather p{output} = p{source}[%{}]", index.0)
            }
            Form::Scatter { index, value, output, add } => {
                writeln!(f, "  scatter p{output}[%{}] {}= %{}", index.0, if *add { "+" } else { "" }, value.0)
            }
        }
    }
}
