//! The WGSL writer: from a verified kernel to the shaders of its stages.
//!
//! One kernel becomes one stage, or three for a reduction (reduce, tree, finish). An elementwise kernel that
//! stores 8- or 16-bit types becomes two: packs of points, and single points for launches in which packs
//! would share words of an output. A stencil, or one whose inputs may be transposed, has another for launches
//! that suit it (`blocks.rs`). A stage is a complete shader with one entry point, the list of what the
//! device binds, and nothing else.
//! Extents, strides, offsets and scalar arguments arrive in a small uniform buffer, the *launch
//! block*, whose layout is in [`layout`]; so one shader serves every part of an array.
//!
//! Registers: bool as `bool`; i8, i16, i32 as `i32`; u8, u16, u32 as `u32`; f16,
//! bf16, f32 as `f32`; 64-bit types as themselves. Narrow values are wrapped or rounded after every
//! operation. In memory types below 32 bits are packed in `u32` words.
//!
//! Bits: WGSL lets a driver contract, reorder and assume away NaN and infinity. An adapter whose
//! driver gets the decoration `NoContraction` (SPIR-V) sets [`WgslTarget::strict_floats`]. For all others
//! the writer hides float operands and results behind integer arithmetic with a zero that only the launch
//! knows.
//! For every adapter, constants that compilers fold wrongly are words of the launch block ([`layout`]), and
//! floats made of integers are hidden, so that no driver knows a zero, an infinity or NaN when it compiles.
//!
//! Invariant: text only. Nothing here knows wgpu, buffers or windows.

mod blocks;
mod body;
pub mod layout;
mod packs;
mod pointwise;
mod reduce;
mod routines;
mod rows;
mod writer;

use crate::dtype::{DType, Kind};
use crate::ir::{Access, BinaryOp, Form, Kernel, Op, Param, UnaryOp};
use crate::math;
use crate::verify::Verified;
use layout::LaunchBlockLayout;
pub use packs::PACK;
pub use rows::unit_elements;
use writer::Writer;
pub use writer::{Binding, Blocks, DriverFaults, Shader, Stage, Visit, WgslTarget, WgslUnsupported};

/// Writes the shaders of a kernel.
///
/// # Errors
/// A type or operation that the adapter has no feature for.
pub fn emit(kernel: &Verified, target: &WgslTarget) -> Result<Shader, WgslUnsupported> {
    let expanded = math::expand_for(kernel, target.subnormals);
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
    let sums64 = || fail("sums or products of f64".into(), "some that keep subnormals");
    let is_written = |p: &Param| p.dtype == DType::F64 && p.access != Access::In;
    if kernel.form.combines_points() && !target.exact_sums64 && kernel.params.iter().any(is_written) {
        return sums64();
    }
    for inst in kernel.body.iter().filter(|inst| inst.dtype == DType::F64) {
        match inst.op {
            Op::Fma(..) if !target.exact_fma64 => {
                return fail("fma of f64".into(), "a fused f64 multiply-add");
            }
            Op::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ..) if !target.exact_sums64 => {
                return sums64();
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
        Form::Scan(_) => {
            let stage = pointwise::stage(Writer::new(kernel, target, &layout));
            Shader { stages: vec![stage], layout, partials: Vec::new() }
        }
        Form::Elementwise { .. } | Form::Gather { .. } | Form::Scatter { .. } => {
            let writer = || Writer::new(kernel, target, &layout);
            let packed = packs::grid(&writer()).map(|grid| packs::stage(writer(), grid));
            let is_narrow = |p: &Param| p.access != Access::In && p.dtype.size_bytes() < 4;
            let is_shared = packed.is_none() || kernel.kernel().params.iter().any(is_narrow);
            let single = is_shared.then(|| pointwise::stage(writer()));
            let blocks = packed.is_some().then(|| blocks::stage(writer())).flatten();
            let stages = packed.into_iter().chain(single).chain(blocks).collect();
            Shader { stages, layout, partials: Vec::new() }
        }
    }
}
