//! Which devices this process has. Each kind is opened once, and only when it is asked for: a program on the
//! host starts no driver. Knows no arrays and no teams; what a device does is in the module above.

use std::sync::OnceLock;

use super::wgpu::{Gpu, Shrink, adapters};
use super::{Backend, Device, DeviceKind, cuda};
use crate::config::{checked, config, say};
use crate::error::{Error, Result};

/// The devices of one kind, and why others of it could not be opened.
struct Found {
    devices: Vec<Device>,
    refusals: Vec<Error>,
}

/// Opened when a kind is first asked for.
fn found(kind: DeviceKind) -> &'static Found {
    static HOST: OnceLock<Found> = OnceLock::new();
    static CUDA: OnceLock<Found> = OnceLock::new();
    static WGPU: OnceLock<Found> = OnceLock::new();
    match kind {
        DeviceKind::Host => HOST.get_or_init(|| [Ok(Device::host())].into_iter().collect()),
        DeviceKind::Cuda => CUDA.get_or_init(|| match cuda::count() {
            Ok(count) => (0..count).map(Device::cuda).collect(),
            Err(error) => [Err(no_cuda(&error))].into_iter().collect(),
        }),
        DeviceKind::Wgpu => WGPU.get_or_init(|| (0..adapters().len()).map(Device::wgpu).collect()),
    }
}

impl FromIterator<Result<Device>> for Found {
    fn from_iter<I: IntoIterator<Item = Result<Device>>>(opened: I) -> Found {
        let mut found = Found { devices: Vec::new(), refusals: Vec::new() };
        for device in opened {
            match device {
                Ok(device) => found.devices.push(device),
                Err(error) => found.refusals.push(error),
            }
        }
        found
    }
}

impl Found {
    /// Those that are not programs on the processor; says what a person may wonder not to find among them.
    fn hardware(&self) -> Vec<Device> {
        if config().debug >= 1 {
            self.refusals.iter().for_each(|error| say(format_args!("auto passes over: {error}")));
        }
        self.devices.iter().filter(|device| !device.is_software()).cloned().collect()
    }
}

impl Device {
    /// A new host device with a pool and budget of its own.
    pub fn host() -> Device {
        Device::new(format!("host ({} threads)", config().threads), Backend::Host)
    }

    /// The n-th wgpu adapter, in the order of [`adapters`].
    ///
    /// # Errors
    /// [`Error::NoDevice`] naming what was searched; [`Error::Environment`].
    pub fn wgpu(index: usize) -> Result<Device> {
        Device::wgpu_with_limits(index, Shrink { hidden: !config().wgpu_visible, ..Shrink::default() })
    }

    /// As [`Device::wgpu`], with limits made smaller so that a test reaches the code behind them.
    ///
    /// # Errors
    /// As [`Device::wgpu`].
    pub fn wgpu_with_limits(index: usize, limits: Shrink) -> Result<Device> {
        checked()?;
        let gpu = Gpu::open(index, limits)
            .map_err(|error| Error::NoDevice { asked: "wgpu".to_owned(), searched: error.to_string() })?;
        Ok(Device::new(format!("wgpu {}", gpu.name()), Backend::Wgpu(Box::new(gpu))))
    }

    /// The n-th CUDA device the driver shows.
    ///
    /// # Errors
    /// [`Error::NoDevice`] saying what is missing: the driver, the device, or a newer one of either;
    /// [`Error::Environment`].
    pub fn cuda(index: usize) -> Result<Device> {
        checked()?;
        let gpu = cuda::Gpu::open(index).map_err(|error| no_cuda(&error))?;
        Ok(Device::new(format!("cuda:{index} {}", gpu.name()), Backend::Cuda(Box::new(gpu))))
    }

    /// This process's host device, every CUDA device and every wgpu adapter. Opens what is not open yet; a
    /// device that cannot be opened is left out, and [`Device::named`] says why.
    pub fn all() -> &'static [Device] {
        static ALL: OnceLock<Vec<Device>> = OnceLock::new();
        let kinds = [DeviceKind::Host, DeviceKind::Cuda, DeviceKind::Wgpu];
        ALL.get_or_init(|| kinds.into_iter().flat_map(|kind| found(kind).devices.clone()).collect())
    }

    /// The devices a word names: `host`; `cuda` (every GPU of the driver); `wgpu` (every adapter); `auto`
    /// (the first of CUDA devices, hardware adapters and the host that there is). Opens only what the word
    /// asks for: `host` starts no driver, `cuda` looks for no adapters.
    ///
    /// # Errors
    /// [`Error::NoDevice`] for a word that names nothing here, with what was searched;
    /// [`Error::Environment`].
    pub fn named(word: &str) -> Result<Vec<Device>> {
        checked()?;
        let of = |kind| match &found(kind).devices[..] {
            [] => Err(absent(kind)),
            devices => Ok(devices.to_vec()),
        };
        match word {
            "host" => of(DeviceKind::Host),
            "cuda" => of(DeviceKind::Cuda),
            "wgpu" => of(DeviceKind::Wgpu),
            "auto" => [DeviceKind::Cuda, DeviceKind::Wgpu]
                .into_iter()
                .map(|kind| found(kind).hardware())
                .find(|devices| !devices.is_empty())
                .map_or_else(|| of(DeviceKind::Host), Ok),
            _ => {
                let present: Vec<&str> = Device::all().iter().map(Device::name).collect();
                let words = format!("`{word}` is not one of auto, host, wgpu, cuda");
                let searched = format!("{words}; present: {}", present.join(", "));
                Err(Error::NoDevice { asked: word.to_owned(), searched })
            }
        }
    }
}

fn no_cuda(error: &cuda::CudaError) -> Error {
    Error::NoDevice { asked: "cuda".to_owned(), searched: error.to_string() }
}

/// Why there is no device of a kind: what the first one refused, or what was searched.
fn absent(kind: DeviceKind) -> Error {
    let (asked, searched) = match kind {
        DeviceKind::Host => ("host", String::new()),
        DeviceKind::Cuda => ("cuda", cuda::absence()),
        DeviceKind::Wgpu => (
            "wgpu",
            "no adapter answered through Vulkan, Metal or DX12 (OpenGL is not used); on Debian or Ubuntu \
             `apt install mesa-vulkan-drivers` gives a software one"
                .to_owned(),
        ),
    };
    let none = || Error::NoDevice { asked: asked.to_owned(), searched };
    found(kind).refusals.first().cloned().unwrap_or_else(none)
}
