//! Stands in for Vulkan on Apple's systems: Metal has no float controls, and its memory is not requested.

use super::facts::FloatControl;

pub fn offered(_: &wgpu::Adapter) -> Vec<(FloatControl, u32)> {
    Vec::new()
}

pub fn types(_: &wgpu::Device) -> u32 {
    0
}

pub fn alloc(
    _: &wgpu::Device,
    _: u32,
    _: &wgpu::BufferDescriptor,
) -> Option<Result<(wgpu::Buffer, usize), String>> {
    None
}
