//! Vulkan beside wgpu: what only the driver's own calls offer.
//!
//! The float controls of Vulkan 1.2: without them Vulkan lets a driver flush subnormals, and assume that NaN,
//! infinities and zeros with a sign do not occur. Kernels ask for all that are offered; older drivers offer
//! none.
//!
//! Memory that an adapter and this process both address, where all of an adapter's memory can be such
//! (graphics in the processor's package, adapters that are programs): buffers are allocated in it and stay
//! mapped as long as they live. wgpu maps no buffer that kernels use; it owns those made here. This file does
//! not know when work is done: see `WgpuDevice::show_buffer`.

use ash::vk::{self, ShaderFloatControlsIndependence as Independence};
use wgpu::hal::api::Vulkan;
use wgpu::hal::vulkan::Device;

use super::facts::FloatControl::{self, DenormPreserve, RoundingModeRTE, SignedZeroInfNanPreserve};

/// The promises that an adapter offers, each with a width in bits.
pub fn offered(adapter: &wgpu::Adapter) -> Vec<(FloatControl, u32)> {
    // SAFETY: the driver's handles are used below and neither kept nor destroyed.
    let Some(adapter) = (unsafe { adapter.as_hal::<Vulkan>() }) else { return Vec::new() };
    let (shared, card) = (adapter.shared_instance(), adapter.raw_physical_device());
    // SAFETY: both handles belong together and are alive.
    let version = unsafe { shared.raw_instance().get_physical_device_properties(card).api_version };
    // wgpu asks instances that know versions for the newest, and enables the extension on no device.
    if shared.instance_api_version() < vk::API_VERSION_1_1 || version < vk::API_VERSION_1_2 {
        return Vec::new();
    }
    let mut controls = vk::PhysicalDeviceFloatControlsProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut controls);
    // SAFETY: as above; the chain is of structures that Vulkan 1.2 knows.
    unsafe { shared.raw_instance().get_physical_device_properties2(card, &mut properties) };
    asked(&controls)
}

/// The float controls that a module may ask for all at once.
fn asked(given: &vk::PhysicalDeviceFloatControlsProperties) -> Vec<(FloatControl, u32)> {
    // The widths 16, 32 and 64.
    let kept = [
        given.shader_denorm_preserve_float16,
        given.shader_denorm_preserve_float32,
        given.shader_denorm_preserve_float64,
    ];
    let special = [
        given.shader_signed_zero_inf_nan_preserve_float16,
        given.shader_signed_zero_inf_nan_preserve_float32,
        given.shader_signed_zero_inf_nan_preserve_float64,
    ];
    let nearest = [
        given.shader_rounding_mode_rte_float16,
        given.shader_rounding_mode_rte_float32,
        given.shader_rounding_mode_rte_float64,
    ];
    [
        (DenormPreserve, kept, given.denorm_behavior_independence),
        (SignedZeroInfNanPreserve, special, Independence::ALL),
        (RoundingModeRTE, nearest, given.rounding_mode_independence),
    ]
    .into_iter()
    .flat_map(|(control, given, independence)| {
        let widths = together(given.map(|offered| offered == vk::TRUE), independence);
        [16, 32, 64].into_iter().zip(widths).filter(|&(_, is_asked)| is_asked).map(move |(w, _)| (control, w))
    })
    .collect()
}

/// For which widths a mode may be set that must be the same for those that depend on each other. No
/// kernel has floats of 16 bits: their mode is set only where that of 64 bits depends on it.
fn together([half, single, double]: [bool; 3], independence: Independence) -> [bool; 3] {
    let all = half && single && double;
    match independence {
        Independence::ALL => [false, single, double],
        Independence::TYPE_32_ONLY => [half && double, single, half && double],
        _ => [all; 3],
    }
}

/// Near the adapter, and read by the processor through its caches without explicit flushes.
const BOTH: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::from_raw(
    vk::MemoryPropertyFlags::DEVICE_LOCAL.as_raw()
        | vk::MemoryPropertyFlags::HOST_VISIBLE.as_raw()
        | vk::MemoryPropertyFlags::HOST_COHERENT.as_raw()
        | vk::MemoryPropertyFlags::HOST_CACHED.as_raw(),
);

/// Drivers that allow fewer allocations want a few large ones cut up.
const ALLOCATIONS: u32 = 1 << 16;

/// The types of such memory, one bit each.
pub fn types(device: &wgpu::Device) -> u32 {
    // SAFETY: the driver's handles are used below and neither kept nor destroyed.
    let Some(device) = (unsafe { device.as_hal::<Vulkan>() }) else { return 0 };
    let (instance, card) = (device.shared_instance().raw_instance(), device.raw_physical_device());
    // SAFETY: both handles belong together and are alive.
    let (limits, memory) = unsafe {
        let limits = instance.get_physical_device_properties(card).limits;
        (limits, instance.get_physical_device_memory_properties(card))
    };
    let both = |(_, kind): &(usize, &vk::MemoryType)| kind.property_flags.contains(BOTH);
    match limits.max_memory_allocation_count {
        ALLOCATIONS.. => {
            memory.memory_types_as_slice().iter().enumerate().filter(both).map(|(n, _)| 1 << n).sum()
        }
        _ => 0,
    }
}

/// A buffer in memory of one of these types, zeroed, and where the process finds it. `size` is not 0.
pub fn alloc(
    device: &wgpu::Device,
    types: u32,
    descriptor: &wgpu::BufferDescriptor,
) -> Option<Result<(wgpu::Buffer, usize), vk::Result>> {
    // SAFETY: as above.
    let hal = unsafe { device.as_hal::<Vulkan>() }?;
    let made = mapped(&hal, types, descriptor.size).map(|(raw, address)| {
        // SAFETY: made from this device as `descriptor` says, and zeroed.
        (unsafe { device.create_buffer_from_hal::<Vulkan>(raw, descriptor) }, address)
    });
    Some(made)
}

fn mapped(device: &Device, types: u32, size: u64) -> Result<(wgpu::hal::vulkan::Buffer, usize), vk::Result> {
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER
        | vk::BufferUsageFlags::TRANSFER_SRC
        | vk::BufferUsageFlags::TRANSFER_DST;
    let raw = device.raw_device();
    // SAFETY: the device is alive, and every handle below is destroyed once: here, or by its owner.
    unsafe {
        let buffer = raw.create_buffer(&vk::BufferCreateInfo::default().size(size).usage(usage), None)?;
        let (memory, address) = match bound(raw, buffer, types) {
            Ok(found) => found,
            Err(error) => {
                raw.destroy_buffer(buffer, None);
                return Err(error);
            }
        };
        address.write_bytes(0, size as usize);
        let owned = wgpu::hal::vulkan::Buffer::from_raw_managed(buffer, memory, 0, size);
        Ok((owned, address.expose_provenance()))
    }
}

/// Memory for a buffer, bound and mapped.
///
/// # Safety
/// The buffer is this device's, and has no memory.
unsafe fn bound(
    raw: &ash::Device,
    buffer: vk::Buffer,
    types: u32,
) -> Result<(vk::DeviceMemory, *mut u8), vk::Result> {
    // SAFETY: as the caller says; the memory goes to the caller, or back.
    unsafe {
        let needs = raw.get_buffer_memory_requirements(buffer);
        let fitting = types & needs.memory_type_bits;
        if fitting == 0 {
            return Err(vk::Result::ERROR_FEATURE_NOT_PRESENT);
        }
        let asked = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(fitting.trailing_zeros());
        let memory = raw.allocate_memory(&asked, None)?;
        let whole = || raw.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty());
        let address = raw.bind_buffer_memory(buffer, memory, 0).and_then(|()| whole());
        address.map(|address| (memory, address.cast())).inspect_err(|_| raw.free_memory(memory, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_that_depend_on_each_other_are_requested_together_or_not_at_all() {
        let (yes, no) = (true, false);
        assert_eq!(together([no, yes, yes], Independence::ALL), [no, yes, yes]);
        assert_eq!(together([no, yes, yes], Independence::TYPE_32_ONLY), [no, yes, no]);
        assert_eq!(together([yes, no, yes], Independence::TYPE_32_ONLY), [yes, no, yes]);
        assert_eq!(together([yes, yes, no], Independence::NONE), [no; 3]);
        assert_eq!(together([yes; 3], Independence::NONE), [yes; 3]);
    }

    #[test]
    fn every_control_is_read_at_its_own_width() {
        let given = vk::PhysicalDeviceFloatControlsProperties {
            denorm_behavior_independence: Independence::ALL,
            rounding_mode_independence: Independence::TYPE_32_ONLY,
            shader_denorm_preserve_float32: vk::TRUE,
            shader_signed_zero_inf_nan_preserve_float64: vk::TRUE,
            shader_rounding_mode_rte_float16: vk::TRUE,
            shader_rounding_mode_rte_float64: vk::TRUE,
            ..Default::default()
        };
        let expected = [
            (DenormPreserve, 32),
            (SignedZeroInfNanPreserve, 64),
            (RoundingModeRTE, 16),
            (RoundingModeRTE, 64),
        ];
        assert_eq!(asked(&given), expected);
    }
}
