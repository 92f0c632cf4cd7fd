//! The machine of a run: processor, load, devices, drivers, versions. Asks the operating system; measures
//! nothing.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::SystemTime;

use partita::prelude::*;
use serde::{Deserialize, Serialize};

/// The version of the lines of a saved run, which docs/benchmarks.md describes. A field that is added, leaves
/// or changes its meaning is a new version.
pub const SCHEMA: u32 = 1;

/// The first line of a saved run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// [`SCHEMA`] of the program that wrote the lines; 0 in files from before there was one.
    #[serde(default)]
    pub schema: u32,
    pub version: String,
    /// UTC.
    pub date: String,
    pub processor: String,
    /// The processor's clock when the run began.
    pub clock_mhz: Option<f64>,
    pub cores: usize,
    /// Threads of the host device.
    pub threads: usize,
    pub is_virtual: bool,
    pub system: String,
    /// Runnable processes of the last minute, when the run began and when it ended.
    pub load: (f64, f64),
    pub devices: Vec<Seen>,
    /// Name, driver and clocks of each GPU, as nvidia-smi says.
    pub gpus: Vec<String>,
    /// Extents of the 1-D, 2-D and 3-D arrays.
    pub extents: (i64, i64, i64),
    pub parts: usize,
    /// At least so many bytes pass before the same memory is used again; 0 where one set of arrays is used.
    pub rotated_bytes: f64,
    /// Versions of the peers' libraries; what is missing has none.
    pub peers: BTreeMap<String, Option<String>>,
}

/// Runnable processes per core, of the minute before a run, with which its figures are honest.
pub const QUIET_LOAD: f64 = 0.1;

/// A device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    pub name: String,
    pub is_software: bool,
}

impl Machine {
    /// This machine, now.
    pub fn here(devices: &[Device]) -> Machine {
        let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let is_cuda = devices.iter().any(|device| device.kind() == DeviceKind::Cuda && !device.is_software());
        Machine {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            processor: field(&processors, "model name").unwrap_or("unknown processor").to_owned(),
            clock_mhz: field(&processors, "cpu MHz").and_then(|text| text.parse().ok()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            threads: partita::config::config().threads,
            is_virtual: field(&processors, "flags").is_some_and(|flags| flags.contains("hypervisor")),
            system: system(),
            load: (load(), 0.0),
            devices: devices.iter().map(Seen::of).collect(),
            gpus: if is_cuda { gpus() } else { Vec::new() },
            extents: (0, 0, 0),
            parts: 1,
            rotated_bytes: 0.0,
            peers: BTreeMap::new(),
        }
    }

    /// One line for people.
    pub fn title(&self) -> String {
        let kind = if self.is_virtual { "virtual machine, " } else { "" };
        format!("{} ({kind}{} cores)", self.processor, self.cores)
    }

    /// Whether other programs were at work when the run began.
    pub fn is_busy(&self) -> bool {
        self.load.0 > QUIET_LOAD * self.cores as f64
    }

    #[cfg(test)]
    pub fn example() -> Machine {
        Machine {
            date: "2030-01-02T03:04:05Z".to_owned(),
            processor: "Example 9000".to_owned(),
            clock_mhz: Some(3141.5),
            cores: 4,
            is_virtual: true,
            load: (0.25, 1.5),
            devices: vec![Seen { name: "host (4 threads)".to_owned(), is_software: false }],
            extents: (1 << 22, 2048, 160),
            rotated_bytes: 268_435_456.0,
            peers: BTreeMap::from([("numpy".to_owned(), Some("2.4".to_owned())), ("cupy".to_owned(), None)]),
            ..Machine::here(&[])
        }
    }
}

impl Seen {
    pub fn of(device: &Device) -> Seen {
        Seen { name: device.name().to_owned(), is_software: device.is_software() }
    }

    pub fn kind(&self) -> &'static str {
        if self.is_software { "software adapter" } else { "device" }
    }
}

/// The value of the first `name : value` line.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':')).map(str::trim)
}

fn system() -> String {
    let version = fs::read_to_string("/proc/version").unwrap_or_default();
    let words: Vec<&str> = version.split_whitespace().take(3).collect();
    let name = if words.is_empty() { std::env::consts::OS.to_owned() } else { words.join(" ") };
    format!("{name}, {}", std::env::consts::ARCH)
}

/// Runnable processes, averaged over a minute.
pub fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0.0)
}

/// Bytes of memory that programs can have now.
pub fn available_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let kib: u64 = field(&text, "MemAvailable")?.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}

fn gpus() -> Vec<String> {
    let query = "--query-gpu=name,driver_version,clocks.sm,clocks.mem,power.limit";
    let output = Command::new("nvidia-smi").args([query, "--format=csv,noheader"]).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_machine_is_known_by_its_load() {
        let of = |load| Machine { load: (load, 2.0), cores: 4, ..Machine::example() }.is_busy();
        assert_eq!([0.0, 0.39, 0.41, 7.0].map(of), [false, false, true, true]);
    }
}
