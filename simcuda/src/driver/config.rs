//! Settings of the simulated machine, from the environment, read once by `cuInit`. It knows the names of the
//! variables and refuses what it cannot read: a misspelled setting must not look like a passed test.

use super::abi::Code;
use std::path::PathBuf;

/// The effect of a failing call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It returns this code; sticky codes stay.
    Code(Code),
    /// The current device is lost: every call on it fails from here on.
    Lost,
}

/// The `nth` call of `symbol` fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injection {
    /// The exported name, with its version suffix.
    pub symbol: String,
    /// Counted from 1.
    pub nth: u64,
    /// The effect of the failure.
    pub failure: Failure,
}

/// The simulated machine.
#[derive(Clone, Debug)]
pub struct Config {
    /// The number of devices, 1 to 8.
    pub devices: usize,
    /// Memory of each device.
    pub memory_bytes: u64,
    /// Of the order in which streams run.
    pub seed: u64,
    /// Compute capability times ten.
    pub sm: u32,
    /// CUDA version of the driver, as 1000 * major + 10 * minor.
    pub version: i32,
    /// The calls that fail.
    pub failures: Vec<Injection>,
    /// The file that explanations of faults are appended to.
    pub log: Option<PathBuf>,
    /// Whether each call is printed.
    pub trace: bool,
    /// Multiprocessors of each device.
    pub multiprocessors: u32,
    /// The folder in which launches are recorded instead of run.
    pub record: Option<PathBuf>,
}

impl Config {
    /// Reads the environment; `known` says whether a symbol is exported.
    pub fn from_env(known: impl Fn(&str) -> bool) -> Result<Config, String> {
        let get = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        let config = Config {
            devices: number(get("PARTITA_SIM_DEVICES"), "PARTITA_SIM_DEVICES", 1)? as usize,
            memory_bytes: number(get("PARTITA_SIM_MEMORY_BYTES"), "PARTITA_SIM_MEMORY_BYTES", 2 << 30)?,
            seed: number(get("PARTITA_SIM_SEED"), "PARTITA_SIM_SEED", 0)?,
            sm: number(get("PARTITA_SIM_SM"), "PARTITA_SIM_SM", 90)? as u32,
            version: version(&get("PARTITA_SIM_CUDA").unwrap_or("13.0".to_owned()))?,
            failures: failures(&get("PARTITA_SIM_FAIL").unwrap_or_default(), known)?,
            log: get("PARTITA_SIM_LOG").map(PathBuf::from),
            trace: get("PARTITA_SIM_TRACE").is_some_and(|text| text != "0"),
            multiprocessors: number(get("PARTITA_SIM_MULTIPROCESSORS"), "PARTITA_SIM_MULTIPROCESSORS", 4)?
                as u32,
            record: get("PARTITA_SIM_RECORD").map(PathBuf::from),
        };
        if !(1..=8).contains(&config.devices) {
            return Err(format!("PARTITA_SIM_DEVICES is {}, but 1 to 8 devices exist", config.devices));
        }
        if ![75, 80, 86, 89, 90, 100].contains(&config.sm) {
            return Err(format!("PARTITA_SIM_SM is {}; choose 75, 80, 86, 89, 90 or 100", config.sm));
        }
        Ok(config)
    }
}

fn number(text: Option<String>, name: &str, default: u64) -> Result<u64, String> {
    match text {
        None => Ok(default),
        Some(text) => text.trim().parse().map_err(|_| format!("{name} is `{text}`, not a whole number")),
    }
}

/// Reads `major.minor`.
fn version(text: &str) -> Result<i32, String> {
    let read = |text: &str| text.parse::<i32>().ok().filter(|n| (0..100).contains(n));
    let parts = text.trim().split_once('.').and_then(|(major, minor)| Some((read(major)?, read(minor)?)));
    parts
        .map(|(major, minor)| 1000 * major + 10 * minor)
        .ok_or_else(|| format!("PARTITA_SIM_CUDA is `{text}`; write major.minor, as in 12.4"))
}

/// Reads `symbol:n:how,symbol:n:how`.
fn failures(text: &str, known: impl Fn(&str) -> bool) -> Result<Vec<Injection>, String> {
    let mut all = Vec::new();
    for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let parts: Vec<&str> = item.split(':').map(str::trim).collect();
        let &[symbol, nth, how] = &parts[..] else {
            return Err(format!(
                "PARTITA_SIM_FAIL has `{item}`; write symbol:n:how, as in cuMemAlloc_v2:3:lost"
            ));
        };
        if !known(symbol) {
            return Err(format!(
                "PARTITA_SIM_FAIL names `{symbol}`, which the simulated driver does not export"
            ));
        }
        let nth = nth.parse().ok().filter(|nth| *nth > 0);
        let nth = nth.ok_or_else(|| format!("PARTITA_SIM_FAIL has `{item}`; calls are counted from 1"))?;
        all.push(Injection { symbol: symbol.to_owned(), nth, failure: failure(how, item)? });
    }
    Ok(all)
}

fn failure(how: &str, item: &str) -> Result<Failure, String> {
    let name = format!("CUDA_ERROR_{}", how.to_uppercase());
    let by_name = || {
        (1..1000).find(|value| {
            Code::text(*value).is_some_and(|(known, _)| known.to_str().is_ok_and(|known| known == name))
        })
    };
    match how {
        "lost" => Ok(Failure::Lost),
        _ => by_name().map(|value| Failure::Code(Code(value))).ok_or_else(|| {
            format!(
                "PARTITA_SIM_FAIL has `{item}`; `{how}` is neither `lost` nor the end of a CUDA_ERROR_ name"
            )
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_misspellings_refused() {
        assert_eq!((version("11.4"), version("13.0")), (Ok(11_040), Ok(13_000)));
        assert!(["13", "13.", "a.b", "13.-1"].iter().all(|bad| version(bad).is_err()));
    }

    #[test]
    fn failures_are_read_and_misspellings_refused() {
        let known = |symbol: &str| symbol == "cuMemAlloc_v2";
        let read = failures("cuMemAlloc_v2:3:out_of_memory, cuMemAlloc_v2:1:lost", known).unwrap();
        assert_eq!(read[0].failure, Failure::Code(Code::OUT_OF_MEMORY));
        assert_eq!((read[0].nth, read[1].failure), (3, Failure::Lost));
        for bad in ["cuMemAlloc:3:lost", "cuMemAlloc_v2:0:lost", "cuMemAlloc_v2:1:gone", "cuMemAlloc_v2:1"] {
            assert!(failures(bad, known).is_err(), "{bad} was accepted");
        }
    }
}
