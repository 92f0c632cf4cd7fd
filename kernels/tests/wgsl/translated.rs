//! The languages that adapters compile, as naga writes them for wgpu, with the options that the engine asks
//! for.
#![allow(dead_code)]

use naga::back::{hlsl, msl, spv};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

pub fn validated(source: &str) -> (naga::Module, ModuleInfo) {
    let module = naga::front::wgsl::parse_str(source)
        .unwrap_or_else(|e| panic!("{}\n{source}", e.emit_to_string(source)));
    let capabilities = Capabilities::FLOAT64 | Capabilities::SHADER_INT64 | Capabilities::SUBGROUP;
    let info = Validator::new(ValidationFlags::all(), capabilities)
        .validate(&module)
        .unwrap_or_else(|e| panic!("{}\n{source}", e.emit_to_string(source)));
    (module, info)
}

fn unchecked() -> BoundsCheckPolicies {
    let unchecked = BoundsCheckPolicy::Unchecked;
    BoundsCheckPolicies {
        index: unchecked,
        buffer: unchecked,
        image_load: unchecked,
        binding_array: unchecked,
    }
}

/// The Metal shading language.
pub fn msl(source: &str) -> String {
    let (module, info) = validated(source);
    let options = msl::Options {
        lang_version: (2, 4),
        bounds_check_policies: unchecked(),
        zero_initialize_workgroup_memory: false,
        force_loop_bounding: false,
        emit_int_div_checks: false,
        ..msl::Options::default()
    };
    let written = msl::write_string(&module, &info, &options, &msl::PipelineOptions::default());
    written.map_or_else(|error| format!("// naga: {error}\n"), |(text, _)| text)
}

/// The language of DirectX 12.
pub fn hlsl(source: &str) -> String {
    let (module, info) = validated(source);
    let options = hlsl::Options {
        shader_model: hlsl::ShaderModel::V6_0,
        zero_initialize_workgroup_memory: false,
        restrict_indexing: false,
        force_loop_bounding: false,
        ..hlsl::Options::default()
    };
    let (mut text, pipeline) = (String::new(), hlsl::PipelineOptions::default());
    let written = hlsl::Writer::new(&mut text, &options, &pipeline).write(&module, &info, None);
    match written {
        Ok(_) => text,
        Err(error) => format!("// naga: {error}\n"),
    }
}

/// SPIR-V words.
pub fn spirv(source: &str) -> Vec<u32> {
    let (module, info) = validated(source);
    let options = spv::Options {
        lang_version: (1, 3),
        flags: spv::WriterFlags::empty(),
        bounds_check_policies: unchecked(),
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: false,
        emit_int_div_checks: false,
        ..spv::Options::default()
    };
    spv::write_vec(&module, &info, &options, None).unwrap_or_else(|error| panic!("{error}\n{source}"))
}
