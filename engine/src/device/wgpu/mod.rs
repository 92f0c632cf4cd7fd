//! The wgpu device: Vulkan, Metal and DX12 adapters behind the engine's device verbs.
//!
//! [`adapters`] lists them, `Gpu::open` opens one. `windows` and `dispatch` plan a launch as
//! pure data; `queue` encodes the plan into one open command encoder, which is submitted when
//! something must be waited for. Everything runs in the order of the calls.
//!
//! What is not guaranteed: subnormals may be flushed to zero, and comparisons and rounding functions may get
//! signs of zero, infinities and NaN wrong, where the driver does not offer the float controls of Vulkan 1.2
//! ([`AdapterFacts::float_controls`]); Metal and DX12 offer none. `PARTITA_CHECK=1` finds what differs.
//! docs/wgpu.md has the table.
//!
//! Invariant: the only home of `wgpu::`, `ash::` and `pollster::`. Nothing here knows arrays, parts or pools,
//! and nothing panics: driver failures come back as [`DeviceError`].

mod adapter;
mod buffer;
mod dispatch;
mod error;
mod exactness;
mod floats;
mod program;
mod queue;
mod spirv;
mod spread;
mod visible;
mod windows;

pub use adapter::{AdapterFacts, AdapterKind, Shrink, adapters};
pub(super) use buffer::{GpuBuffer, StagedDownload};
pub use error::DeviceError;
pub use floats::FloatControl;
pub(super) use program::GpuProgram;
pub(crate) use queue::Recording;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use partita_kernels::wgsl::Target;

/// One adapter, opened. Work of all threads runs in the order of the calls.
pub(super) struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
    facts: AdapterFacts,
    /// How kernels are written, before it is known what the adapter rounds correctly.
    assumed: Target,
    measured: OnceLock<Target>,
    cautious: bool,
    limits: dispatch::Limits,
    /// The types of memory that this process addresses too, one bit each.
    visible: u32,
    failures: Arc<Failures>,
    pending: Mutex<queue::Pending>,
    /// Buffers that downloads have let go.
    staging: Mutex<Vec<wgpu::Buffer>>,
}

/// What wgpu reported outside of a call's own result.
#[derive(Default)]
struct Failures {
    lost: Mutex<Option<String>>,
    refused: Mutex<Option<String>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gpu {
    /// Opens the n-th adapter of [`adapters`]. `shrink` makes limits smaller, for tests.
    ///
    /// # Errors
    /// If there is no such adapter or its driver refuses.
    pub fn open(index: usize, shrink: Shrink) -> Result<Gpu, DeviceError> {
        let (adapter, facts) = adapter::find(index)?;
        let refused = |e: wgpu::RequestDeviceError| DeviceError::Open {
            adapter: facts.name.clone(),
            reason: e.to_string(),
        };
        let (device, queue) =
            pollster::block_on(adapter.request_device(&adapter::request(&adapter))).map_err(refused)?;
        let failures = Failures::watch(&device);
        Ok(Gpu {
            assumed: facts.target(&shrink),
            measured: OnceLock::new(),
            cautious: shrink.cautious,
            limits: facts.dispatch_limits(&shrink),
            pending: Mutex::new(queue::Pending::new(&device, &facts)),
            staging: Mutex::default(),
            visible: if shrink.hidden { 0 } else { visible::types(&device) },
            device,
            queue,
            facts,
            failures,
        })
    }

    /// The adapter's name.
    pub fn name(&self) -> &str {
        &self.facts.name
    }

    /// Whether this process addresses the memory of all its buffers ([`GpuBuffer::address`]).
    pub fn is_visible(&self) -> bool {
        self.visible != 0
    }

    /// What the adapter is and can.
    pub fn facts(&self) -> &AdapterFacts {
        &self.facts
    }

    /// An error that the driver reported since the last look, if any.
    fn check(&self) -> Result<(), DeviceError> {
        let adapter = || self.facts.name.clone();
        if let Some(reason) = locked(&self.failures.lost).clone() {
            return Err(DeviceError::Lost { adapter: adapter(), reason });
        }
        match locked(&self.failures.refused).take() {
            Some(text) => Err(DeviceError::Validation { adapter: adapter(), text }),
            None => Ok(()),
        }
    }
}

impl Failures {
    /// Installs the reporters; without them wgpu panics.
    fn watch(device: &wgpu::Device) -> Arc<Failures> {
        let failures = Arc::new(Failures::default());
        let sink = Arc::clone(&failures);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            locked(&sink.refused).get_or_insert_with(|| error.to_string());
        }));
        let sink = Arc::clone(&failures);
        device.set_device_lost_callback(move |reason, text| {
            // Dropping a device also calls this; nobody is left to be told.
            if reason != wgpu::DeviceLostReason::Destroyed {
                locked(&sink.lost).get_or_insert_with(|| text.clone());
            }
        });
        failures
    }
}
