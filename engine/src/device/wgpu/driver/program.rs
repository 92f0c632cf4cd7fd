//! Compiling a kernel: text, validation, SPIR-V, pipelines.
//!
//! WGSL has no word for "exactly as written": drivers contract products into sums, distribute, and drop `x +
//! 0` or `inf * 0`. So on Vulkan, which takes SPIR-V, every float operation is marked `NoContraction`, and
//! the entry point asks for the float controls that the driver offers.

use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use partita_kernels::wgsl::{Binding, Shader, Stage, WgslTarget, emit};
use partita_kernels::{BinaryOp, DType, Inst, Op, UnaryOp, Value, Verified};
use wgpu::naga::{
    self,
    back::spv,
    proc::{BoundsCheckPolicies, BoundsCheckPolicy},
    valid::{Capabilities, ModuleInfo, ValidationFlags, Validator},
};

use super::dispatch::Spread;
use super::facts::FloatControl;
use super::gpu::WgpuDevice;
use crate::device::wgpu::error::WgpuError;

/// A kernel compiled for one device.
pub(super) struct WgpuProgram {
    pub(super) kernel: Verified,
    pub(super) shader: Shader,
    /// Each is compiled when a launch first needs it: few need them all.
    stages: Vec<OnceLock<Compiled>>,
    /// The same kernel spread out, once a launch has needed it.
    pub(super) spread: OnceLock<Option<Box<(Spread, WgpuProgram)>>>,
}

/// One stage's pipeline and what it binds.
pub(super) struct Compiled {
    pub(super) pipeline: wgpu::ComputePipeline,
    pub(super) layout: wgpu::BindGroupLayout,
}

/// About what a pipeline takes in an adapter's driver; lavapipe's take more.
const PIPELINE_BYTES: usize = 64 << 10;

impl WgpuProgram {
    /// About how many bytes the shaders and the pipelines so far take.
    pub(super) fn bytes(&self) -> usize {
        let stages = self.shader.stages.iter().zip(&self.stages);
        let pipeline = |stage: &OnceLock<Compiled>| stage.get().map_or(0, |_| PIPELINE_BYTES);
        let own = stages.map(|(stage, compiled)| stage.source.len() + pipeline(compiled)).sum::<usize>();
        own + self.spread.get().and_then(Option::as_deref).map_or(0, |(_, program)| program.bytes())
    }

    /// A stage, compiled.
    pub(super) fn stage(&self, gpu: &WgpuDevice, number: usize) -> Result<&Compiled, WgpuError> {
        let (place, stage) = (&self.stages[number], &self.shader.stages[number]);
        if let Some(compiled) = place.get() {
            return Ok(compiled);
        }
        let made = gpu.compile_stage(stage).map_err(|log| WgpuError::Compile {
            kernel: self.kernel.kernel().name.clone(),
            stage: stage.entry,
            log,
            source_text: stage.source.clone(),
        })?;
        gpu.check()?;
        Ok(place.get_or_init(|| made))
    }

    /// The WGSL of its stages, in order.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        self.shader.stages.iter().map(|stage| stage.source.as_str())
    }
}

impl WgpuDevice {
    /// Compiles a kernel.
    pub(super) fn compiled(&self, kernel: &Verified) -> Result<WgpuProgram, WgpuError> {
        self.compile_for(kernel, self.target_of(kernel))
    }

    /// The target, with what was measured if the kernel has operations that adapters round differently.
    fn target_of(&self, kernel: &Verified) -> &WgslTarget {
        let kernel = kernel.kernel();
        let is_float = |value: Value| kernel.body[value.index()].dtype.is_float();
        let differs = |inst: &Inst| match &inst.op {
            Op::Unary(UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Sqrt, _) => true,
            Op::Unary(..) | Op::Bitcast(_) | Op::Select(..) => false,
            Op::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ..) => {
                matches!(inst.dtype, DType::BF16 | DType::F64)
            }
            op => op.operands().any(is_float),
        };
        let differ = kernel.form.combines_points() && kernel.roots().into_iter().any(is_float);
        if differ || kernel.body.iter().any(differs) { self.target() } else { &self.assumed }
    }

    /// The measured target of this adapter.
    pub(super) fn target(&self) -> &WgslTarget {
        self.measured.get_or_init(|| self.measure())
    }

    /// Compiles a kernel for a target that may promise more or less than this adapter's.
    pub(super) fn compile_for(
        &self,
        kernel: &Verified,
        target: &WgslTarget,
    ) -> Result<WgpuProgram, WgpuError> {
        let shader = emit(kernel, target)?;
        let stages = shader.stages.iter().map(|_| OnceLock::new()).collect();
        let program = WgpuProgram { kernel: kernel.clone(), shader, stages, spread: OnceLock::new() };
        program.stage(self, 0)?;
        Ok(program)
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
        self.made.pipelines.fetch_add(1, Ordering::Relaxed);
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
        capabilities.set(Capabilities::SUBGROUP, self.assumed.subgroups);
        let (module, info) = validated(&stage.source, capabilities)?;
        if !self.assumed.strict_floats {
            let source = wgpu::ShaderSource::Wgsl(stage.source.as_str().into());
            let descriptor = wgpu::ShaderModuleDescriptor { label: Some(stage.entry), source };
            // SAFETY: `Verified::check` proves before every launch that the shader stays inside its
            // bindings; its loops count up to launch arguments; its integer divisors are made non-zero.
            return Ok(unsafe {
                self.device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked())
            });
        }
        let words = strict_words(&module, &info, &self.facts.float_controls)?;
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
    // So that one group serves a launch wherever its block is.
    let has_dynamic_offset = matches!(what, Binding::Launch);
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
        count: None,
    }
}

/// Parses and validates; the error is naga's text with the place in the source.
fn validated(source: &str, capabilities: Capabilities) -> Result<(naga::Module, ModuleInfo), String> {
    let module = naga::front::wgsl::parse_str(source).map_err(|e| e.emit_to_string(source))?;
    let info = Validator::new(ValidationFlags::all(), capabilities)
        .validate(&module)
        .map_err(|e| e.emit_to_string(source))?;
    Ok((module, info))
}

/// The SPIR-V words of a validated module, without bounds checks: those are proven before. `controls` are
/// what the driver offers.
fn strict_words(
    module: &naga::Module,
    info: &ModuleInfo,
    controls: &[(FloatControl, u32)],
) -> Result<Vec<u32>, String> {
    let unchecked = BoundsCheckPolicy::Unchecked;
    let options = spv::Options {
        lang_version: (1, 3),
        flags: spv::WriterFlags::empty(),
        bounds_check_policies: BoundsCheckPolicies {
            index: unchecked,
            buffer: unchecked,
            image_load: unchecked,
            binding_array: unchecked,
        },
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: false,
        emit_int_div_checks: false,
        ..spv::Options::default()
    };
    let words = spv::write_vec(module, info, &options, None).map_err(|e| e.to_string())?;
    Ok(controlled(&uncontracted(&words), controls))
}

/// Length of a SPIR-V module's header in words.
const HEADER: usize = 5;
const OP_EXTENSION: u32 = 10;
const OP_EXT_INST_IMPORT: u32 = 11;
const OP_MEMORY_MODEL: u32 = 14;
const OP_ENTRY_POINT: u32 = 15;
const OP_EXECUTION_MODE: u32 = 16;
const OP_CAPABILITY: u32 = 17;
const OP_DECORATE: u32 = 71;
const NO_CONTRACTION: u32 = 42;

/// Negate, add, subtract, multiply, divide, remainder, modulo: the float arithmetic that naga writes.
const ARITHMETIC: [u32; 7] = [127, 129, 131, 133, 136, 140, 141];

/// Instructions of the extended set, of which the fused multiply-add has this number.
const OP_EXT_INST: u32 = 12;
const FMA: u32 = 50;

/// The position of each instruction, and its opcode.
fn instructions(words: &[u32]) -> impl Iterator<Item = (usize, u32)> {
    let next = |&at: &usize| Some(at + (words[at] >> 16).max(1) as usize).filter(|&at| at < words.len());
    std::iter::successors(Some(HEADER).filter(|&at| at < words.len()), next)
        .map(|at| (at, words[at] & 0xffff))
}

/// The module with a decoration for each float operation, put before the first decoration it has.
fn uncontracted(words: &[u32]) -> Vec<u32> {
    // An unmarked fused multiply-add may be computed as a product and a sum.
    let is_marked = |&(at, opcode): &(usize, u32)| {
        ARITHMETIC.contains(&opcode) || opcode == OP_EXT_INST && words[at + 4] == FMA
    };
    let operations = instructions(words).filter(is_marked);
    let marks: Vec<u32> =
        operations.flat_map(|(at, _)| [(3 << 16) | OP_DECORATE, words[at + 2], NO_CONTRACTION]).collect();
    let place =
        instructions(words).find(|(_, opcode)| *opcode == OP_DECORATE).map_or(words.len(), |(at, _)| at);
    [&words[..place], &marks, &words[place..]].concat()
}

/// The module with execution modes that ask for float controls, the capabilities they need, and the extension
/// that they are in before SPIR-V 1.4.
fn controlled(words: &[u32], controls: &[(FloatControl, u32)]) -> Vec<u32> {
    let find = |opcodes: &[u32]| instructions(words).find(|(_, opcode)| opcodes.contains(opcode));
    let (Some((entry, _)), Some((imports, _))) =
        (find(&[OP_ENTRY_POINT]), find(&[OP_EXT_INST_IMPORT, OP_MEMORY_MODEL]))
    else {
        return words.to_vec();
    };
    if controls.is_empty() {
        return words.to_vec();
    }
    let modes_begin = entry + (words[entry] >> 16) as usize;
    let mut kinds: Vec<FloatControl> = controls.iter().map(|(control, _)| *control).collect();
    kinds.dedup();
    let capabilities: Vec<u32> =
        kinds.into_iter().flat_map(|control| [(2 << 16) | OP_CAPABILITY, numbers(control).0]).collect();
    let name = b"SPV_KHR_float_controls\0\0";
    let mut extension = vec![(1 + name.len() as u32 / 4) << 16 | OP_EXTENSION];
    extension
        .extend(name.chunks(4).map(|c| c.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))));
    let modes = controls.iter().flat_map(|&(control, width)| {
        [(4 << 16) | OP_EXECUTION_MODE, words[entry + 2], numbers(control).1, width]
    });
    [
        &words[..HEADER],
        &capabilities,
        &words[HEADER..imports],
        &extension,
        &words[imports..modes_begin],
        &modes.collect::<Vec<u32>>(),
        &words[modes_begin..],
    ]
    .concat()
}

/// The numbers of a control's capability and execution mode.
fn numbers(control: FloatControl) -> (u32, u32) {
    match control {
        FloatControl::DenormPreserve => (4464, 4459),
        FloatControl::SignedZeroInfNanPreserve => (4466, 4461),
        FloatControl::RoundingModeRTE => (4467, 4462),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module's words, with these controls.
    fn written(controls: &[(FloatControl, u32)]) -> Vec<u32> {
        let source = "@group(0) @binding(0) var<storage, read_write> a: array<f32>;
            @compute @workgroup_size(1) fn main() {
              a[0] = a[1] * a[2] + a[3] / -a[4];
              a[5] = f32(u32(a[6]) + 1u) - floor(fma(a[7], a[8], a[9]));
            }";
        let (module, info) = validated(source, Capabilities::empty()).unwrap();
        strict_words(&module, &info, controls).unwrap()
    }

    #[test]
    fn every_float_operation_is_marked() {
        let words = written(&[]);
        let marked =
            words.windows(3).filter(|w| w[0] == (3 << 16) | OP_DECORATE && w[2] == NO_CONTRACTION).count();
        assert_eq!(marked, 6);
    }

    #[test]
    fn the_entry_point_asks_for_every_control_that_is_offered() {
        use FloatControl::*;
        let all = [
            (DenormPreserve, 16),
            (DenormPreserve, 32),
            (DenormPreserve, 64),
            (SignedZeroInfNanPreserve, 32),
            (SignedZeroInfNanPreserve, 64),
            (RoundingModeRTE, 32),
        ];
        for controls in [&all[..], &all[3..], &[]] {
            let words = written(controls);
            let of = |opcode: u32| instructions(&words).filter(move |(_, o)| *o == opcode).map(|(at, _)| at);
            let entry = of(OP_ENTRY_POINT).next().unwrap();
            let modes: Vec<[u32; 2]> = of(OP_EXECUTION_MODE)
                .filter(|at| words[at + 2] > 4000)
                .inspect(|at| assert_eq!(words[at + 1], words[entry + 2]))
                .map(|at| [words[at + 2], words[at + 3]])
                .collect();
            let asked: Vec<[u32; 2]> = controls.iter().map(|&(c, width)| [numbers(c).1, width]).collect();
            assert_eq!(modes, asked);
            let capabilities: Vec<u32> = of(OP_CAPABILITY).map(|at| words[at + 1]).collect();
            assert!(controls.iter().all(|(c, _)| capabilities.contains(&numbers(*c).0)));
            check_by_validator(&words);
        }
    }

    /// Asks the SPIR-V tools, where they are installed.
    fn check_by_validator(words: &[u32]) {
        use std::io::Write;
        use std::process::{Command, Stdio};
        let child =
            Command::new("spirv-val").args(["--target-env", "vulkan1.2", "-"]).stdin(Stdio::piped()).spawn();
        let Ok(mut child) = child else {
            println!("skipped: spirv-val (not installed; it is in the package spirv-tools)");
            return;
        };
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        assert!(child.wait().unwrap().success());
    }
}
