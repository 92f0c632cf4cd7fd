//! The devices of this process. Each kind is opened once, on first use: a program on the host starts no
//! driver. A kind that the build leaves out (features `cuda`, `wgpu`) has no devices, and naming it is an
//! error.

use std::sync::OnceLock;

use partita_kernels::wgsl::DriverFaults;

use super::cuda;
use super::driver::{DeviceKind, Driver};
use super::handle::Device;
use super::host::Host;
use super::wgpu::{Shrink, adapters, open_adapter};
use crate::config::{checked, config, say};
use crate::error::{Error, Result};

/// The devices of one kind, and why others of it could not be opened.
struct Found {
    devices: Vec<Device>,
    refusals: Vec<Error>,
}

/// Opened on first use of a kind.
fn found(kind: DeviceKind) -> &'static Found {
    static HOST: OnceLock<Found> = OnceLock::new();
    static CUDA: OnceLock<Found> = OnceLock::new();
    static WGPU: OnceLock<Found> = OnceLock::new();
    let refused = |error| [Err(error)].into_iter().collect();
    match kind {
        DeviceKind::Host => HOST.get_or_init(|| [Ok(Device::host())].into_iter().collect()),
        DeviceKind::Cuda => {
            CUDA.get_or_init(|| match built(kind).and_then(|()| cuda::count().map_err(no_cuda)) {
                Ok(count) => (0..count).map(Device::cuda).collect(),
                Err(error) => refused(error),
            })
        }
        DeviceKind::Wgpu => WGPU.get_or_init(|| match built(kind) {
            Ok(()) => (0..adapters()).map(Device::wgpu).collect(),
            Err(error) => refused(error),
        }),
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
        let host = Host::new();
        Device::new(host.name().to_owned(), Box::new(host))
    }

    /// The n-th wgpu adapter, ordered by kind (discrete cards first), name and bus.
    ///
    /// # Errors
    /// [`Error::NoDevice`] naming what was searched; [`Error::Environment`]; a build without the feature
    /// `wgpu`.
    pub fn wgpu(index: usize) -> Result<Device> {
        let faults = if config().wgpu_flush { DriverFaults::FLUSHING } else { DriverFaults::default() };
        let hidden = !config().wgpu_visible;
        Device::wgpu_with_limits(index, Shrink { hidden, faults, ..Shrink::default() })
    }

    /// As [`Device::wgpu`], with limits made smaller so that a test reaches the code behind them.
    ///
    /// # Errors
    /// As [`Device::wgpu`].
    pub fn wgpu_with_limits(index: usize, limits: Shrink) -> Result<Device> {
        checked()?;
        built(DeviceKind::Wgpu)?;
        let gpu = open_adapter(index, limits)
            .map_err(|error| Error::NoDevice { asked: "wgpu".to_owned(), searched: error.to_string() })?;
        Ok(Device::new(format!("wgpu {}", gpu.name()), gpu))
    }

    /// The n-th CUDA device the driver shows.
    ///
    /// # Errors
    /// [`Error::NoDevice`] saying what is missing: the driver, the device, or a newer one of either;
    /// [`Error::Environment`]; a build without the feature `cuda`.
    pub fn cuda(index: usize) -> Result<Device> {
        checked()?;
        built(DeviceKind::Cuda)?;
        let gpu = cuda::open(index).map_err(no_cuda)?;
        Ok(Device::new(format!("cuda:{index} {}", gpu.name()), gpu))
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
    /// [`Error::NoDevice`] for a word that names nothing here, with what was searched; a kind that the build
    /// leaves out; [`Error::Environment`].
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

/// Refuses a kind of device that the build leaves out.
fn built(kind: DeviceKind) -> Result<()> {
    built_with(kind, cfg!(feature = "cuda"), cfg!(feature = "wgpu"))
}

fn built_with(kind: DeviceKind, has_cuda: bool, has_wgpu: bool) -> Result<()> {
    let (name, is_built, remedy) = match kind {
        DeviceKind::Host => return Ok(()),
        DeviceKind::Cuda => ("cuda", has_cuda, "build Partita with its feature `cuda`"),
        DeviceKind::Wgpu => ("wgpu", has_wgpu, "build Partita with its feature `wgpu`"),
    };
    if is_built {
        return Ok(());
    }
    let expected = match (has_cuda, has_wgpu) {
        (false, false) => "host, the kind of device in this build",
        (true, _) => "host or cuda, the kinds of device in this build",
        (false, true) => "host or wgpu, the kinds of device in this build",
    };
    Err(Error::invalid("Device", expected, name, remedy))
}

fn no_cuda(error: cuda::CudaError) -> Error {
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_that_the_build_leaves_out_is_an_error_that_names_its_feature() {
        let text = |kind, has_cuda, has_wgpu| built_with(kind, has_cuda, has_wgpu).unwrap_err().to_string();
        assert_eq!(
            text(DeviceKind::Cuda, false, false),
            "Device: expected host, the kind of device in this build, given cuda; build Partita with its \
             feature `cuda`"
        );
        assert_eq!(
            text(DeviceKind::Wgpu, true, false),
            "Device: expected host or cuda, the kinds of device in this build, given wgpu; build Partita \
             with its feature `wgpu`"
        );
        assert!(text(DeviceKind::Cuda, false, true).contains("expected host or wgpu,"));
        for kind in [DeviceKind::Host, DeviceKind::Cuda, DeviceKind::Wgpu] {
            assert!(built_with(kind, true, true).is_ok());
        }
        for (word, kind, is_built) in [
            ("cuda", DeviceKind::Cuda, cfg!(feature = "cuda")),
            ("wgpu", DeviceKind::Wgpu, cfg!(feature = "wgpu")),
        ] {
            if !is_built {
                assert_eq!(Device::named(word).unwrap_err().to_string(), text(kind, false, false));
                assert!(Device::all().iter().all(|device| device.kind() != kind));
            }
        }
        assert!(!Device::named("auto").unwrap().is_empty());
    }
}
