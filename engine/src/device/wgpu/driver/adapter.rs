//! The adapters of this machine, and the properties of each.

use std::sync::OnceLock;

use partita_kernels::wgsl::WgslTarget;

use super::dispatch::Limits;
use super::facts::{AdapterFacts, AdapterKind};
use super::vulkan;
use crate::device::wgpu::error::{Shrink, WgpuError};

const BACKENDS: wgpu::Backends =
    wgpu::Backends::VULKAN.union(wgpu::Backends::METAL).union(wgpu::Backends::DX12);

/// The way to the drivers, in one process: in one forked from it they are of no use.
fn instance() -> Result<&'static wgpu::Instance, WgpuError> {
    static INSTANCE: OnceLock<(u32, wgpu::Instance)> = OnceLock::new();
    let (process, instance) = INSTANCE.get_or_init(|| {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = BACKENDS;
        descriptor.flags = wgpu::InstanceFlags::empty();
        let made = without_windows(&descriptor).unwrap_or_else(|| wgpu::Instance::new(descriptor));
        (std::process::id(), made)
    });
    if *process == std::process::id() { Ok(instance) } else { Err(WgpuError::Forked) }
}

/// Vulkan without the extensions of window systems, which wgpu enables wherever they exist. With them,
/// Mesa's device selection layer connects to Wayland and X each time that adapters are listed, and prints an
/// error on stderr where there is no session. None where Vulkan does not start, or is not the only backend.
#[cfg(all(unix, not(target_vendor = "apple")))]
fn without_windows(descriptor: &wgpu::InstanceDescriptor) -> Option<wgpu::Instance> {
    use ash::khr::{wayland_surface, xcb_surface, xlib_surface};
    use wgpu::hal;
    let wanted = hal::InstanceDescriptor {
        name: "partita",
        flags: descriptor.flags,
        memory_budget_thresholds: descriptor.memory_budget_thresholds,
        backend_options: descriptor.backend_options.clone(),
        telemetry: None,
        display: None,
    };
    let windows = [wayland_surface::NAME, xcb_surface::NAME, xlib_surface::NAME];
    let leave_out: Box<hal::vulkan::CreateInstanceCallback> =
        Box::new(|made| made.extensions.retain(|name| !windows.contains(name)));
    // SAFETY: nothing is added. What is left out serves only to make surfaces, which nothing here does; wgpu
    // looks into the list of what is enabled before it makes one.
    let made = unsafe { hal::vulkan::Instance::init_with_callback(&wanted, Some(leave_out)) };
    // SAFETY: the instance works, and nothing else owns it.
    made.ok().map(|instance| unsafe { wgpu::Instance::from_hal::<hal::api::Vulkan>(instance) })
}

/// The adapters of the instance that [`without_windows`] made. wgpu's own list would cut their buffers to
/// 4 GiB: to an instance that it did not make it gives flags of its own.
#[cfg(all(unix, not(target_vendor = "apple")))]
fn listed(instance: &wgpu::Instance) -> Vec<wgpu::Adapter> {
    use wgpu::hal::{Instance, api::Vulkan};
    // SAFETY: the driver's instance is used below and not destroyed.
    let Some(vulkan) = (unsafe { instance.as_hal::<Vulkan>() }) else { return Vec::new() };
    // SAFETY: there is no surface that the adapters would have to agree with.
    let found = unsafe { vulkan.enumerate_adapters(None) };
    // SAFETY: the instance that listed them takes them over.
    found.into_iter().map(|adapter| unsafe { instance.create_adapter_from_hal(adapter) }).collect()
}

#[cfg(not(all(unix, not(target_vendor = "apple"))))]
fn without_windows(_: &wgpu::InstanceDescriptor) -> Option<wgpu::Instance> {
    None
}

#[cfg(not(all(unix, not(target_vendor = "apple"))))]
fn listed(instance: &wgpu::Instance) -> Vec<wgpu::Adapter> {
    pollster::block_on(instance.enumerate_adapters(BACKENDS))
}

/// All adapters, the same order every time: by kind, name, bus.
fn found() -> Result<Vec<(wgpu::Adapter, AdapterFacts)>, WgpuError> {
    let adapters = listed(instance()?);
    let mut all: Vec<_> =
        adapters.into_iter().map(|a| (AdapterFacts::of(&a), a.get_info().device_pci_bus_id, a)).collect();
    all.sort_by(|(a, a_bus, _), (b, b_bus, _)| {
        (a.kind, &a.name, &a.driver, &a.backend, a_bus).cmp(&(b.kind, &b.name, &b.driver, &b.backend, b_bus))
    });
    Ok(all.into_iter().map(|(facts, _, adapter)| (adapter, facts)).collect())
}

/// The number of adapters that can compute. OpenGL is not used. None in a process that was forked from one
/// that used adapters.
pub(in crate::device) fn count() -> usize {
    found().map_or(0, |all| all.len())
}

/// The n-th adapter.
pub(super) fn find(index: usize) -> Result<(wgpu::Adapter, AdapterFacts), WgpuError> {
    let mut all = found()?;
    if index >= all.len() {
        return Err(WgpuError::NoAdapter { index, found: all.len(), searched: format!("{BACKENDS:?}") });
    }
    Ok(all.swap_remove(index))
}

/// Everything useful that the adapter has: features, and its own limits instead of the portable ones.
pub(super) fn request(adapter: &wgpu::Adapter) -> wgpu::DeviceDescriptor<'static> {
    let wanted = wgpu::Features::SHADER_F64
        | wgpu::Features::SHADER_INT64
        | wgpu::Features::SUBGROUP
        | wgpu::Features::PASSTHROUGH_SHADERS;
    wgpu::DeviceDescriptor {
        label: Some("partita"),
        required_features: adapter.features() & wanted,
        required_limits: adapter.limits(),
        memory_hints: wgpu::MemoryHints::Performance,
        ..wgpu::DeviceDescriptor::default()
    }
}

impl AdapterFacts {
    fn of(adapter: &wgpu::Adapter) -> AdapterFacts {
        let (info, limits, features) = (adapter.get_info(), adapter.limits(), adapter.features());
        let kind = match info.device_type {
            wgpu::DeviceType::DiscreteGpu => AdapterKind::Discrete,
            wgpu::DeviceType::IntegratedGpu => AdapterKind::Integrated,
            wgpu::DeviceType::VirtualGpu => AdapterKind::Virtual,
            wgpu::DeviceType::Cpu => AdapterKind::Cpu,
            wgpu::DeviceType::Other => AdapterKind::Unknown,
        };
        let i64 = features.contains(wgpu::Features::SHADER_INT64);
        let vulkan = info.backend == wgpu::Backend::Vulkan;
        AdapterFacts {
            driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
            name: info.name,
            backend: format!("{:?}", info.backend),
            kind,
            is_software: kind == AdapterKind::Cpu,
            max_params: limits.max_storage_buffers_per_shader_stage as usize,
            // Elements are counted in i32.
            max_binding_bytes: limits.max_storage_buffer_binding_size.min(i32::MAX as u64) & !15,
            max_buffer_bytes: limits.max_buffer_size,
            max_groups_per_dimension: limits.max_compute_workgroups_per_dimension,
            max_workgroup_size: limits
                .max_compute_invocations_per_workgroup
                .min(limits.max_compute_workgroup_size_x),
            storage_alignment: u64::from(limits.min_storage_buffer_offset_alignment).max(16),
            uniform_alignment: u64::from(limits.min_uniform_buffer_offset_alignment).max(16),
            f64: i64 && features.contains(wgpu::Features::SHADER_F64),
            i64,
            subgroups: features.contains(wgpu::Features::SUBGROUP),
            strict_floats: vulkan && features.contains(wgpu::Features::PASSTHROUGH_SHADERS),
            float_controls: vulkan::offered(adapter),
        }
    }

    /// The target of kernels for this adapter, as long as its rounding is not known.
    pub(super) fn target(&self, shrink: &Shrink) -> WgslTarget {
        let is_hardware = self.kind != AdapterKind::Cpu || shrink.hardware;
        WgslTarget {
            f64: self.f64,
            i64: self.i64,
            workgroup_size: self.max_workgroup_size.min(256),
            strict_floats: self.strict_floats && !shrink.cautious,
            whole_vectors: self.backend == "Metal",
            // On a processor long shaders compile slowly, and loads under way and shuffles gain nothing.
            unroll: if is_hardware { WgslTarget::CAUTIOUS.unroll } else { 1 },
            subgroups: self.subgroups && is_hardware && !shrink.cautious,
            max_bindings: self.max_params as u32,
            faults: shrink.faults,
            ..WgslTarget::CAUTIOUS
        }
    }

    /// The limits of dispatches.
    pub(super) fn dispatch_limits(&self, shrink: &Shrink) -> Limits {
        let target = self.target(shrink);
        let binding = shrink.max_binding_bytes.unwrap_or(u64::MAX).min(self.max_binding_bytes);
        Limits {
            max_binding_bytes: binding,
            max_groups: shrink
                .max_groups_per_dimension
                .unwrap_or(u32::MAX)
                .min(self.max_groups_per_dimension),
            offset_alignment: self.storage_alignment,
            workgroup_size: target.workgroup_size,
        }
    }
}
