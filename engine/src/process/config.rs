//! The settings of the process: the environment variables that begin with `PARTITA_`, read once and strictly.
//! An unknown name or an invalid value is an error of opening devices and of making teams ([`checked`]).

mod variables;

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::io::Write as _;
use std::sync::OnceLock;
use std::time::Duration;

use partita_kernels::cpu::x86::IsaLevel;
use partita_kernels::ptx::PlainLimits;

pub use variables::{Audience, POINTS, VARIABLES, Variable};

/// Settings from the environment. [`VARIABLES`] lists the accepted values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// `PARTITA_DEVICE`: the devices that [`crate::Team::local`] uses.
    pub device: String,
    /// `PARTITA_PARTS`: members of the team of arrays in Python that name none; `None` means one per device.
    pub parts: Option<usize>,
    /// `PARTITA_DEBUG`: what is printed.
    pub debug: u8,
    /// `PARTITA_BUDGET_MB`: bytes each device may use; `None` means no budget of our own.
    pub budget_bytes: Option<u64>,
    /// `PARTITA_PROGRAM_BYTES`: what compiled kernels may take on each device.
    pub program_bytes: usize,
    /// `PARTITA_THREADS`: host threads.
    pub threads: usize,
    /// `PARTITA_DEADLINE_SECONDS`: how long one rank waits for another.
    pub deadline: Duration,
    /// `PARTITA_MPI`: `auto`, `off`, or the file of the library; `None` means auto.
    pub mpi: Option<String>,
    /// `PARTITA_MPI_MAX_BYTES`: the longest message that MPI is given; longer ones are split.
    pub mpi_max_bytes: usize,
    /// `PARTITA_CUDA_AWARE_MPI`: whether MPI gets device pointers; `None` asks the library.
    pub cuda_aware_mpi: Option<bool>,
    /// `PARTITA_NCCL`: which NCCL sends and receives between GPUs.
    pub nccl: Option<String>,
    /// `PARTITA_CUDA_IPC`: whether ranks of one machine open each other's CUDA memory.
    pub cuda_ipc: bool,
    /// `PARTITA_WGPU_VISIBLE`: false keeps adapters' memory out of this process's address space, also where
    /// the two are one: arrays there are then only copied to the host.
    pub wgpu_visible: bool,
    /// `PARTITA_WGPU_FLUSH`: true has kernels for adapters flush subnormals, as some drivers do; for tests.
    pub wgpu_flush: bool,
    /// `PARTITA_TILE_BYTES`: how much of a state goes through several steps of a [`crate::Loop`] at a time on
    /// the host.
    pub tile_bytes: u64,
    /// `PARTITA_HOST_CODE`: the ISA level of the host's machine code; `None` runs compiled loops over rows.
    pub host_code: Option<IsaLevel>,
    /// `PARTITA_PADDING`: how much of a row may be added so that all rows begin at multiples of 16 bytes.
    pub padding_percent: i64,
    /// `PARTITA_CHECK`: whether every launch is repeated on the host and compared.
    pub check: bool,
    /// `PARTITA_TRACE`: the file that [`crate::trace`] writes.
    pub trace: Option<String>,
    /// `PARTITA_PLANES`: which stencils CUDA devices compute as plain vectors; for measurements.
    pub planes: PlainLimits,
    /// `PARTITA_FAULT`: a fault on purpose, `RANK:POINT:PASSES:KIND` with a point of [`POINTS`]; for tests.
    pub fault: Option<String>,
}

/// The state of a tile that a cache holds. It was measured on one machine, with 1 MiB for each of two cores
/// and 32 for both.
pub const TILE_BYTES: u64 = 3 << 20;

impl Default for Config {
    /// The settings where no variable is set.
    fn default() -> Config {
        Config {
            device: "auto".to_owned(),
            parts: None,
            debug: 0,
            budget_bytes: None,
            program_bytes: 256 << 20,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            deadline: Duration::from_secs(30),
            mpi: None,
            mpi_max_bytes: 1 << 30,
            cuda_aware_mpi: None,
            nccl: None,
            cuda_ipc: true,
            wgpu_visible: true,
            wgpu_flush: false,
            tile_bytes: TILE_BYTES,
            host_code: IsaLevel::best(),
            padding_percent: 6,
            check: false,
            trace: None,
            planes: PlainLimits::DEFAULT,
            fault: None,
        }
    }
}

/// A variable of the environment that is unknown or not understood.
#[derive(thiserror::Error, Clone, PartialEq, Eq, Debug)]
#[error("{variable}: expected {expected}, given {given}; {remedy}")]
pub struct SettingError {
    /// Its name.
    pub variable: String,
    /// The accepted values.
    pub expected: String,
    /// Its value.
    pub given: String,
    /// The remedy.
    pub remedy: String,
}

/// The settings of this process, or what is wrong with its environment.
///
/// # Errors
/// A variable behind `PARTITA_` that is unknown, or a value that is not understood.
pub fn checked() -> Result<&'static Config, SettingError> {
    static SETTINGS: OnceLock<Result<Config, SettingError>> = OnceLock::new();
    SETTINGS.get_or_init(|| read(std::env::vars_os())).as_ref().map_err(Clone::clone)
}

/// The settings of this process; the defaults where [`checked`] gives an error, which every way in tells.
pub fn config() -> &'static Config {
    static DEFAULTS: OnceLock<Config> = OnceLock::new();
    checked().unwrap_or_else(|_| DEFAULTS.get_or_init(Config::default))
}

/// The settings that an environment asks for. Empty values count as unset.
fn read(environment: impl Iterator<Item = (OsString, OsString)>) -> Result<Config, SettingError> {
    let mut given = SetVariables(HashMap::new());
    for (name, value) in environment {
        let name = name.to_string_lossy();
        if !name.starts_with("PARTITA_") {
            continue;
        }
        let known = VARIABLES.iter().find(|variable| variable.name == name).ok_or_else(|| unknown(&name))?;
        let text = value.into_string().map_err(|value| {
            refused(known, &format!("{} in UTF-8", known.accepts), &value.to_string_lossy())
        })?;
        if !text.trim().is_empty() {
            given.0.insert(known.name, text.trim().to_owned());
        }
    }
    let unset = Config::default();
    let device = |text: &str| ["auto", "host", "cuda", "wgpu"].contains(&text).then(|| text.to_owned());
    let deadline = |text: &str| duration(text).filter(|time| !time.is_zero());
    let message = |text: &str| size(text, 1).filter(|bytes| (1..=1 << 30).contains(bytes));
    let text = |text: &str| Some(text.to_owned());
    Ok(Config {
        device: given.value("PARTITA_DEVICE", device)?.unwrap_or(unset.device),
        parts: given.value("PARTITA_PARTS", |text| whole(text, 1, 1 << 20))?,
        debug: given.value("PARTITA_DEBUG", |text| whole(text, 0, 4))?.unwrap_or(0) as u8,
        budget_bytes: given.value("PARTITA_BUDGET_MB", |text| size(text, 1 << 20))?,
        program_bytes: given
            .value("PARTITA_PROGRAM_BYTES", |text| size(text, 1))?
            .map_or(unset.program_bytes, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
        threads: given.value("PARTITA_THREADS", |text| whole(text, 1, 4096))?.unwrap_or(unset.threads),
        deadline: given.value("PARTITA_DEADLINE_SECONDS", deadline)?.unwrap_or(unset.deadline),
        mpi: given.value("PARTITA_MPI", text)?,
        mpi_max_bytes: given.value("PARTITA_MPI_MAX_BYTES", message)?.map_or(1 << 30, |bytes| bytes as usize),
        cuda_aware_mpi: given.value("PARTITA_CUDA_AWARE_MPI", switch)?,
        nccl: given.value("PARTITA_NCCL", text)?,
        cuda_ipc: given.value("PARTITA_CUDA_IPC", switch)?.unwrap_or(unset.cuda_ipc),
        wgpu_flush: given.value("PARTITA_WGPU_FLUSH", switch)?.unwrap_or(unset.wgpu_flush),
        wgpu_visible: given.value("PARTITA_WGPU_VISIBLE", switch)?.unwrap_or(unset.wgpu_visible),
        // Beyond what any cache or memory holds, more makes no difference.
        tile_bytes: given
            .value("PARTITA_TILE_BYTES", |text| size(text, 1))?
            .map_or(TILE_BYTES, |n| n.min(1 << 40)),
        host_code: given.host_code()?.unwrap_or(unset.host_code),
        padding_percent: given
            .value("PARTITA_PADDING", |text| whole(text, 0, 10_000))?
            .map_or(unset.padding_percent, |percent| percent as i64),
        check: given.value("PARTITA_CHECK", switch)?.unwrap_or(unset.check),
        trace: given.value("PARTITA_TRACE", text)?,
        planes: given.value("PARTITA_PLANES", plain_limits)?.unwrap_or(unset.planes),
        fault: given.value("PARTITA_FAULT", |text| is_fault(text).then(|| text.to_owned()))?,
    })
}

/// The variables that are set, by name.
struct SetVariables(HashMap<&'static str, String>);

impl SetVariables {
    /// A variable as `understand` reads it; `None` if it is not set.
    fn value<T>(
        &self,
        name: &str,
        understand: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, SettingError> {
        let Some((name, text)) = self.0.get_key_value(name) else { return Ok(None) };
        let Some(known) = VARIABLES.iter().find(|known| known.name == *name) else { return Ok(None) };
        understand(text).map(Some).ok_or_else(|| refused(known, known.accepts, text))
    }

    /// The ISA level that is forced, which this CPU must have.
    fn host_code(&self) -> Result<Option<Option<IsaLevel>>, SettingError> {
        let level = |text: &str| match text {
            "avx512" => Some(Some(IsaLevel::Avx512)),
            "avx2" => Some(Some(IsaLevel::Avx2)),
            "off" => Some(None),
            _ => None,
        };
        let forced = self.value("PARTITA_HOST_CODE", level)?;
        match forced {
            Some(Some(level)) if !level.is_available() => Err(SettingError {
                variable: "PARTITA_HOST_CODE".to_owned(),
                expected: "an ISA level that this CPU has".to_owned(),
                given: format!("{level:?}"),
                remedy: "unset it, or set `off`".to_owned(),
            }),
            forced => Ok(forced),
        }
    }
}

fn refused(known: &Variable, expected: &str, given: &str) -> SettingError {
    SettingError {
        variable: known.name.to_owned(),
        expected: expected.to_owned(),
        given: format!("`{given}`"),
        remedy: "correct it or unset it".to_owned(),
    }
}

fn unknown(name: &str) -> SettingError {
    let list = "docs/environment.md lists all variables";
    let remedy = match variables::nearest(name) {
        Some(near) => format!("did you mean {near}? {list}"),
        None => format!("unset it; {list}"),
    };
    SettingError {
        variable: name.to_owned(),
        expected: "a variable that Partita reads".to_owned(),
        given: "an unknown name".to_owned(),
        remedy,
    }
}

fn whole(text: &str, least: usize, most: usize) -> Option<usize> {
    text.parse().ok().filter(|number| (least..=most).contains(number))
}

fn switch(text: &str) -> Option<bool> {
    let is_one_of = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    match is_one_of(&["1", "true", "on", "yes"]) {
        true => Some(true),
        false => is_one_of(&["0", "false", "off", "no"]).then_some(false),
    }
}

/// Bytes; a number without a unit counts in `plain` bytes.
fn size(text: &str, plain: u64) -> Option<u64> {
    let units = [("", 0), ("K", 10), ("M", 20), ("G", 30), ("T", 40)];
    quantity(text, |unit| {
        if unit.is_empty() {
            return Some(plain);
        }
        let named = |letter: &str| [letter.to_owned(), format!("{letter}B"), format!("{letter}iB")];
        let is_named = |letter: &str| named(letter).iter().any(|name| unit.eq_ignore_ascii_case(name));
        units.iter().find(|(letter, _)| is_named(letter)).map(|(_, power)| 1 << power)
    })
}

/// A time; a number without a unit counts seconds.
fn duration(text: &str) -> Option<Duration> {
    let milliseconds = quantity(text, |unit| match unit {
        "ms" => Some(1),
        "" | "s" => Some(1000),
        "m" | "min" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    });
    milliseconds.map(Duration::from_millis)
}

/// A whole or decimal number times its unit.
fn quantity(text: &str, factor: impl Fn(&str) -> Option<u64>) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = factor(unit.trim())?;
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(factor);
    }
    let product = number.parse::<f64>().ok()? * factor as f64;
    (product < u64::MAX as f64).then_some(product as u64)
}

/// `WORDS,LOADS`.
fn plain_limits(text: &str) -> Option<PlainLimits> {
    let (words, loads) = text.split_once(',')?;
    Some(PlainLimits { words: whole(words, 1, 1 << 10)?, loads: whole(loads, 1, 1 << 10)? })
}

/// Whether a text is `RANK:POINT:PASSES:KIND`.
fn is_fault(text: &str) -> bool {
    let [rank, point, passes, kind] = text.split(':').collect::<Vec<_>>()[..] else { return false };
    let numbers = rank.parse::<usize>().is_ok() && passes.parse::<u64>().is_ok();
    numbers && POINTS.contains(&point) && ["error", "panic", "kill", "stop", "hang"].contains(&kind)
}

/// One line to standard error, in one piece: the ranks of a program often share a terminal, and their words
/// must not mix.
pub(crate) fn say(words: fmt::Arguments) {
    let line = format!("[partita] {words}\n");
    // A failed write to standard error cannot be reported anywhere.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Result<Config, SettingError> {
        read(pairs.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))))
    }

    #[test]
    fn unset_and_empty_means_defaults() {
        assert_eq!(of(&[]).unwrap(), Config::default());
        assert_eq!(of(&[("PARTITA_DEBUG", " "), ("PATH", "x")]).unwrap(), Config::default());
    }

    #[test]
    fn sizes_times_and_switches_take_units_and_words() {
        let mib = 1u64 << 20;
        for (text, bytes) in [
            ("2", 2 * mib),
            ("2MB", 2 * mib),
            ("2 MiB", 2 * mib),
            ("2m", 2 * mib),
            ("512KiB", mib / 2),
            ("512k", mib / 2),
            ("1.5GB", 1536 * mib),
            ("1TiB", mib * mib),
            ("7B", 7),
            ("0", 0),
        ] {
            assert_eq!(of(&[("PARTITA_BUDGET_MB", text)]).unwrap().budget_bytes, Some(bytes), "{text}");
        }
        for (text, milliseconds) in
            [("30", 30_000), ("0.5", 500), ("500ms", 500), ("1m", 60_000), ("2h", 7_200_000)]
        {
            let deadline = of(&[("PARTITA_DEADLINE_SECONDS", text)]).unwrap().deadline;
            assert_eq!(deadline, Duration::from_millis(milliseconds), "{text}");
        }
        for (text, on) in
            [("1", true), ("True", true), ("yes", true), ("0", false), ("FALSE", false), ("off", false)]
        {
            assert_eq!(of(&[("PARTITA_CHECK", text)]).unwrap().check, on, "{text}");
        }
    }

    #[test]
    fn machine_code_is_of_the_forced_level_or_an_error_where_the_cpu_lacks_it() {
        let of = |text| of(&[("PARTITA_HOST_CODE", text)]).map(|config| config.host_code);
        assert_eq!(of("off").unwrap(), None);
        for (text, level) in [("avx2", IsaLevel::Avx2), ("avx512", IsaLevel::Avx512)] {
            match level.is_available() {
                true => assert_eq!(of(text).unwrap(), Some(level)),
                false => assert!(of(text).unwrap_err().expected.contains("this CPU")),
            }
        }
        assert!(of("avx").unwrap_err().expected.contains("avx512"));
    }

    #[test]
    fn nonsense_is_an_error_that_says_what_is_accepted() {
        for (name, value) in [
            ("PARTITA_BUDGET_MB", "2QB"),
            ("PARTITA_BUDGET_MB", "GB"),
            ("PARTITA_BUDGET_MB", "99999999999999999999GB"),
            ("PARTITA_BUDGET_MB", "18000000000000"),
            ("PARTITA_THREADS", "0"),
            ("PARTITA_DEADLINE_SECONDS", "0"),
            ("PARTITA_DEADLINE_SECONDS", "1e3"),
            ("PARTITA_MPI_MAX_BYTES", "2GB"),
            ("PARTITA_TILE_BYTES", "0x10"),
            ("PARTITA_CHECK", "maybe"),
            ("PARTITA_PLANES", "176"),
            ("PARTITA_PLANES", "176,many"),
            ("PARTITA_FAULT", "0:send:0:flood"),
        ] {
            let error = of(&[(name, value)]).unwrap_err().to_string();
            let accepts = VARIABLES.iter().find(|variable| variable.name == name).unwrap().accepts;
            assert!(error.contains(accepts) && error.contains(value) && error.starts_with(name), "{error}");
        }
    }

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let of = |word: &str| variables::nearest(&format!("PARTITA_{word}"));
        assert_eq!(of("DEVICES"), Some("PARTITA_DEVICE"));
        assert_eq!(of("CHEKC"), Some("PARTITA_CHECK"));
        assert_eq!(of("BUDGET"), Some("PARTITA_BUDGET_MB"));
        assert_eq!((of("TYPO"), of("")), (None, None));
    }
}
