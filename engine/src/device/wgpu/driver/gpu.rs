//! One adapter, opened: its queue, its limits, and the failures that wgpu reports outside of calls.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use partita_kernels::wgsl::WgslTarget;

use super::{adapter, dispatch, queue, visible};
use crate::device::wgpu::error::WgpuError;
use crate::device::wgpu::facts::{AdapterFacts, Shrink};

/// One adapter, opened. Work of all threads runs in the order of the calls.
pub(in crate::device) struct WgpuDevice {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) facts: AdapterFacts,
    /// How kernels are written, before it is known what the adapter rounds correctly.
    pub(super) assumed: WgslTarget,
    pub(super) measured: OnceLock<WgslTarget>,
    pub(super) cautious: bool,
    pub(super) limits: dispatch::Limits,
    /// The types of memory that this process addresses too, one bit each.
    pub(super) visible: u32,
    pub(super) failures: Arc<Failures>,
    pub(super) pending: Mutex<queue::Pending>,
    /// Buffers that downloads have let go.
    pub(super) staging: Mutex<Vec<wgpu::Buffer>>,
}

/// What wgpu reported outside of a call's own result.
#[derive(Default)]
pub(super) struct Failures {
    lost: Mutex<Option<String>>,
    refused: Mutex<Option<String>>,
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl WgpuDevice {
    /// Opens the n-th adapter of [`adapters`]. `shrink` makes limits smaller, for tests.
    ///
    /// # Errors
    /// If there is no such adapter or its driver refuses.
    pub fn open(index: usize, shrink: Shrink) -> Result<WgpuDevice, WgpuError> {
        let (adapter, facts) = adapter::find(index)?;
        let refused = |e: wgpu::RequestDeviceError| WgpuError::Open {
            adapter: facts.name.clone(),
            reason: e.to_string(),
        };
        let (device, queue) =
            pollster::block_on(adapter.request_device(&adapter::request(&adapter))).map_err(refused)?;
        let failures = Failures::watch(&device);
        Ok(WgpuDevice {
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

    /// Whether this process addresses the memory of all its buffers ([`WgpuBuffer::address`]).
    pub fn is_visible(&self) -> bool {
        self.visible != 0
    }

    /// What the adapter is and can.
    pub fn facts(&self) -> &AdapterFacts {
        &self.facts
    }

    /// An error that the driver reported since the last look, if any.
    pub(super) fn check(&self) -> Result<(), WgpuError> {
        let adapter = || self.facts.name.clone();
        if let Some(reason) = locked(&self.failures.lost).clone() {
            return Err(WgpuError::Lost { adapter: adapter(), reason });
        }
        match locked(&self.failures.refused).take() {
            Some(text) => Err(WgpuError::Validation { adapter: adapter(), text }),
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
            // Dropping a device also calls this; there is nothing to report then.
            if reason != wgpu::DeviceLostReason::Destroyed {
                locked(&sink.lost).get_or_insert_with(|| text.clone());
            }
        });
        failures
    }
}
