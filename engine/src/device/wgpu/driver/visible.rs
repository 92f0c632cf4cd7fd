//! Memory that an adapter and this process both address, where all of an adapter's memory can be such
//! (graphics in the processor's package, adapters that are programs): buffers are allocated in it and stay
//! mapped as long as they live. wgpu maps no buffer that kernels use, so this file calls Vulkan itself, and
//! wgpu then owns it. Other backends have none. Does not know when work is done: see `WgpuDevice::show`.

#[cfg(not(target_vendor = "apple"))]
pub(super) use vulkan::{alloc, types};

#[cfg(not(target_vendor = "apple"))]
mod vulkan {
    use ash::vk;
    use wgpu::hal::api::Vulkan;
    use wgpu::hal::vulkan::Device;

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

    fn mapped(
        device: &Device,
        types: u32,
        size: u64,
    ) -> Result<(wgpu::hal::vulkan::Buffer, usize), vk::Result> {
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
}

/// No types: Metal's memory is not requested.
#[cfg(target_vendor = "apple")]
pub(super) fn types(_: &wgpu::Device) -> u32 {
    0
}

/// None, as there are no types.
#[cfg(target_vendor = "apple")]
pub(super) fn alloc(
    _: &wgpu::Device,
    _: u32,
    _: &wgpu::BufferDescriptor,
) -> Option<Result<(wgpu::Buffer, usize), String>> {
    None
}
