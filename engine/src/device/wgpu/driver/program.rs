//! Compiling a kernel: text, validation, pipelines.

use std::sync::OnceLock;

use partita_kernels::wgsl::{Binding, Shader, Stage, WgslTarget, emit};
use partita_kernels::{BinaryOp, Op, UnaryOp, Verified};
use wgpu::naga::valid::Capabilities;

use super::dispatch::Spread;
use super::gpu::WgpuDevice;
use super::spirv;
use crate::device::wgpu::error::WgpuError;

/// A kernel compiled for one device.
pub(in crate::device) struct WgpuProgram {
    pub(super) kernel: Verified,
    pub(super) shader: Shader,
    pub(super) stages: Vec<Compiled>,
    /// The same kernel spread out, once a launch has needed it.
    pub(super) spread: OnceLock<Option<Box<(Spread, WgpuProgram)>>>,
}

/// One stage's pipeline and what it binds.
pub(super) struct Compiled {
    pub(super) pipeline: wgpu::ComputePipeline,
    pub(super) layout: wgpu::BindGroupLayout,
}

impl WgpuProgram {
    /// The WGSL of its stages, in order.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        self.shader.stages.iter().map(|stage| stage.source.as_str())
    }
}

impl WgpuDevice {
    /// Compiles a kernel.
    ///
    /// # Errors
    /// If the adapter lacks a type the kernel uses, or the driver refuses the shader.
    pub fn compile(&self, kernel: &Verified) -> Result<WgpuProgram, WgpuError> {
        self.compile_for(kernel, self.target_of(kernel))
    }

    /// The target, with what was measured if the kernel has operations that adapters round differently.
    fn target_of(&self, kernel: &Verified) -> &WgslTarget {
        let divides = |op: &Op| {
            matches!(op, Op::Binary(BinaryOp::Div, ..) | Op::Unary(UnaryOp::Sqrt, _) | Op::Fma(..))
                || matches!(op, Op::Math1(..) | Op::Math2(..))
        };
        match kernel.kernel().body.iter().any(|inst| divides(&inst.op)) {
            true => self.measured.get_or_init(|| self.measure()),
            false => &self.assumed,
        }
    }

    /// Compiles a kernel for a target that may promise more or less than this adapter's.
    pub(super) fn compile_for(
        &self,
        kernel: &Verified,
        target: &WgslTarget,
    ) -> Result<WgpuProgram, WgpuError> {
        let shader = emit(kernel, target)?;
        let name = &kernel.kernel().name;
        let stages = shader.stages.iter().map(|stage| {
            self.compile_stage(stage).map_err(|log| WgpuError::Compile {
                kernel: name.clone(),
                stage: stage.entry,
                log,
                source_text: stage.source.clone(),
            })
        });
        let stages = stages.collect::<Result<Vec<_>, _>>()?;
        self.check()?;
        Ok(WgpuProgram { kernel: kernel.clone(), shader, stages, spread: OnceLock::new() })
    }

    fn compile_stage(&self, stage: &Stage) -> Result<Compiled, String> {
        let scopes =
            [wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Internal, wgpu::ErrorFilter::Validation]
                .map(|filter| self.device.push_error_scope(filter));
        let compiled = self.stage(stage);
        let errors: Vec<wgpu::Error> =
            scopes.into_iter().rev().filter_map(|s| pollster::block_on(s.pop())).collect();
        let compiled = compiled?;
        match errors.first() {
            Some(error) => Err(error.to_string()),
            None => Ok(compiled),
        }
    }

    fn stage(&self, stage: &Stage) -> Result<Compiled, String> {
        let entries: Vec<_> =
            stage.bindings.iter().enumerate().map(|(n, b)| layout_entry(n as u32, *b)).collect();
        let layout = self
            .device
            .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
        let pipeline_layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let module = self.module(stage)?;
        let compilation_options = wgpu::PipelineCompilationOptions {
            zero_initialize_workgroup_memory: false,
            ..wgpu::PipelineCompilationOptions::default()
        };
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(stage.entry),
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some(stage.entry),
            compilation_options,
            cache: None,
        });
        Ok(Compiled { pipeline, layout })
    }

    fn module(&self, stage: &Stage) -> Result<wgpu::ShaderModule, String> {
        let mut capabilities = Capabilities::empty();
        capabilities.set(Capabilities::FLOAT64, self.assumed.f64);
        capabilities.set(Capabilities::SHADER_INT64, self.assumed.i64);
        let (module, info) = spirv::validated(&stage.source, capabilities)?;
        if !self.assumed.strict_floats {
            let source = wgpu::ShaderSource::Wgsl(stage.source.as_str().into());
            let descriptor = wgpu::ShaderModuleDescriptor { label: Some(stage.entry), source };
            // SAFETY: `Verified::check` proves before every launch that the shader stays inside its
            // bindings; its loops count up to launch arguments; its integer divisors are made non-zero.
            return Ok(unsafe {
                self.device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked())
            });
        }
        let words = spirv::strict_words(&module, &info, &self.facts.float_controls)?;
        let workgroup_size = (stage.workgroup_size, 1, 1);
        let entry = wgpu::PassthroughShaderEntryPoint { name: stage.entry.into(), workgroup_size };
        let descriptor = wgpu::ShaderModuleDescriptorPassthrough {
            label: Some(stage.entry),
            entry_points: std::slice::from_ref(&entry).into(),
            spirv: Some(words.into()),
            ..wgpu::ShaderModuleDescriptorPassthrough::default()
        };
        // SAFETY: the words are naga's translation of a module it has validated, with decorations and offered
        // execution modes added, which take freedom from the compiler; accesses are in bounds as above.
        Ok(unsafe { self.device.create_shader_module_passthrough(descriptor) })
    }
}

fn layout_entry(binding: u32, what: Binding) -> wgpu::BindGroupLayoutEntry {
    let storage = |write: bool| wgpu::BufferBindingType::Storage { read_only: !write };
    let ty = match what {
        Binding::Launch => wgpu::BufferBindingType::Uniform,
        Binding::Param { write, .. } => storage(write),
        Binding::PartialOut(_) => storage(true),
        Binding::PartialIn(_) => storage(false),
    };
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    }
}
