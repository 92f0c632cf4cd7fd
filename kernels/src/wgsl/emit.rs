//! The entry of the writer: whether the adapter can run a kernel, and the writer of its form.

use super::layout::LaunchBlockLayout;
use super::shader::{Binding, Shader, WgslTarget, WgslUnsupported};
use super::writer::Writer;
use super::{pointwise, reduce};
use crate::dtype::{DType, Kind};
use crate::ir::{BinaryOp, Form, Kernel, Op, UnaryOp};
use crate::math;
use crate::verify::Verified;

/// Writes the shaders of a kernel.
///
/// # Errors
/// A type or operation that the adapter has no feature for.
pub fn emit(kernel: &Verified, target: &WgslTarget) -> Result<Shader, WgslUnsupported> {
    let expanded = math::expand(kernel);
    let kernel = expanded.kernel();
    check_types(kernel, target)?;
    let shader = stages(&expanded, target);
    for stage in &shader.stages {
        let storage = stage.bindings.iter().filter(|b| **b != Binding::Launch).count();
        if storage > target.max_bindings as usize {
            return Err(WgslUnsupported {
                kernel: kernel.name.clone(),
                what: format!("{storage} arrays at once"),
                feature: "so many storage buffers per stage",
            });
        }
    }
    Ok(shader)
}

fn check_types(kernel: &Kernel, target: &WgslTarget) -> Result<(), WgslUnsupported> {
    let fail = |what: String, feature| Err(WgslUnsupported { kernel: kernel.name.clone(), what, feature });
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

/// The shaders of a kernel without mathematical functions.
fn stages(kernel: &Verified, target: &WgslTarget) -> Shader {
    let layout = LaunchBlockLayout::new(kernel);
    match kernel.kernel().form {
        Form::Reduce { .. } => reduce::stages(kernel, target, layout),
        Form::Elementwise { .. } | Form::Gather { .. } | Form::Scatter { .. } => {
            let stages = vec![pointwise::stage(Writer::new(kernel, target, &layout))];
            Shader { stages, layout, partials: Vec::new() }
        }
    }
}
