//! Set-up of a bare machine: what the tests need beyond cargo, how to see that it is there, and
//! how to get it. Needs are data; what may be installed is installed, the rest is said in words
//! that can be typed. It does not know which tests use what.

use crate::exec::{End, SILENCE, run};
use crate::mpi::Mpi;
use crate::options::Options;
use crate::tally::Tally;
use std::path::Path;
use std::process::{Command, Stdio};

/// Something a machine may lack.
struct Need {
    name: &'static str,
    /// The name that `--allow-missing` takes for it, where a run without it makes sense.
    waiver: Option<&'static str>,
    present: fn(&Path) -> bool,
    fix: Fix,
}

/// The way to get it.
enum Fix {
    /// Debian's packages, which need root.
    Apt(&'static [&'static str]),
    /// A program run in the repository.
    Run(&'static str),
}

const NEEDS: &[Need] = &[
    Need {
        name: "rustfmt and clippy",
        waiver: None,
        present: |_| answers("cargo", &["fmt", "--version"]) && answers("cargo", &["clippy", "--version"]),
        fix: Fix::Run("rustup component add rustfmt clippy"),
    },
    Need {
        name: "a software Vulkan driver",
        waiver: Some("wgpu"),
        present: |_| !cfg!(target_os = "linux") || vulkan_chosen() || vulkan_below(Path::new("/")),
        fix: Fix::Apt(&["mesa-vulkan-drivers", "libvulkan1"]),
    },
    Need {
        name: "Open MPI, and what its bindings are made with",
        waiver: Some("mpi"),
        present: |_| {
            Mpi::open_mpi().is_installed() && answers("sh", &["-c", "ls /usr/lib/llvm-*/lib/libclang*.so*"])
        },
        fix: Fix::Apt(&["libopenmpi-dev", "openmpi-bin", "libclang-dev"]),
    },
    Need {
        name: "Python with venv",
        waiver: Some("python"),
        present: |root| has_python(root) || answers("python3", &["-c", "import ensurepip, venv"]),
        fix: Fix::Apt(&["python3", "python3-venv"]),
    },
    Need {
        name: "a Python environment in .venv",
        waiver: Some("python"),
        present: has_python,
        fix: Fix::Run("python3 -m venv .venv"),
    },
    Need {
        name: "Python packages",
        waiver: Some("python"),
        present: |root| has_packages(root),
        fix: Fix::Run(
            ".venv/bin/python -m pip install --quiet maturin numpy pytest mypy jax ml_dtypes \
             array-api-strict nbclient ipykernel mpi4py torch scipy scikit-learn pandas matplotlib xarray \
             dask distributed einops mpmath numba",
        ),
    },
    Need {
        name: "MPICH, the second MPI",
        waiver: Some("mpi"),
        present: |root| Mpi::mpich(root).is_installed(),
        fix: Fix::Run(".venv/bin/python -m pip install --quiet --prefix .venv/mpich mpich"),
    },
    Need {
        name: "NVIDIA's PTX assembler",
        waiver: Some("ptxas"),
        present: |root| has_cuda_tool(root, "ptxas"),
        fix: Fix::Run(".venv/bin/python -m pip install --quiet nvidia-cuda-nvcc"),
    },
    Need {
        name: "NVIDIA's disassembler",
        waiver: Some("ptxas"),
        present: |root| has_cuda_tool(root, "nvdisasm"),
        fix: Fix::Run(".venv/bin/python -m pip install --quiet nvidia-cuda-nvdisasm"),
    },
];

/// Meets every need, or says how.
pub fn set_up(root: &Path, options: &Options) -> Tally {
    NEEDS.iter().map(|need| meet(need, root, options)).collect()
}

fn meet(need: &Need, root: &Path, options: &Options) -> Tally {
    if (need.present)(root) {
        return Tally::passed();
    }
    if let Some(waiver) = need.waiver.filter(|waiver| options.may_miss(waiver)) {
        return Tally::skipped(need.name, format!("missing, and --allow-missing {waiver}"));
    }
    let reason = if options.no_install {
        "--no-install".to_string()
    } else {
        println!("missing: {}; running: {}", need.name, typed(&need.fix));
        match get(&need.fix, root) {
            Ok(()) if (need.present)(root) => return Tally::passed(),
            Ok(()) => "it is still missing after that".to_string(),
            Err(reason) => reason,
        }
    };
    Tally::failed(format!("set-up: missing: {} ({reason}); type: {}", need.name, typed(&need.fix)))
}

/// The command that a person types to get it.
fn typed(fix: &Fix) -> String {
    match fix {
        Fix::Apt(packages) => {
            format!("sudo apt-get update && sudo apt-get install -y {}", packages.join(" "))
        }
        Fix::Run(words) => words.to_string(),
    }
}

fn get(fix: &Fix, root: &Path) -> Result<(), String> {
    match fix {
        Fix::Run(words) => execute(&words.split(' ').collect::<Vec<_>>(), root),
        Fix::Apt(packages) => {
            if !answers("apt-get", &["--version"]) {
                return Err("this machine has no apt-get; its packages have other names here".to_string());
            }
            let lead = lead(is_root(), answers("sudo", &["-n", "true"])).ok_or("root is needed")?;
            let apt = |words: &[&str]| execute(&[lead, APT, words].concat(), root);
            let install = [&["install", "-y", "--no-install-recommends"], *packages].concat();
            // A machine's package lists may be absent or stale, so a refusal is answered once.
            apt(&install).or_else(|_| apt(&["update"]).and_then(|()| apt(&install)))
        }
    }
}

const APT: &[&str] =
    &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-o", "DPkg::Lock::Timeout=120"];

/// The words in front of a command that needs root; none where that is not to be had unasked.
fn lead(is_root: bool, sudo_without_password: bool) -> Option<&'static [&'static str]> {
    match (is_root, sudo_without_password) {
        (true, _) => Some(&[]),
        (false, true) => Some(&["sudo", "-n"]),
        (false, false) => None,
    }
}

fn execute(words: &[&str], root: &Path) -> Result<(), String> {
    let (program, arguments) = words.split_first().ok_or("nothing to run")?;
    let mut command = Command::new(program);
    match run(command.args(arguments).current_dir(root), SILENCE, |line| println!("  {line}")).end {
        End::Success => Ok(()),
        end => Err(format!("`{}` {end}", words.join(" "))),
    }
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Whether `program` is there and ends successfully, in silence.
fn answers(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Pip comes last when an environment is made, so half an environment does not count.
fn has_python(root: &Path) -> bool {
    root.join(".venv/bin/python").exists() && root.join(".venv/bin/pip").exists()
}

/// Whether the packages that build and test the Python package are there.
fn has_packages(root: &Path) -> bool {
    let python = root.join(".venv/bin/python");
    let imports = "import maturin, numpy, pytest, mypy, jax, ml_dtypes, array_api_strict, nbclient, \
                   ipykernel, mpi4py, torch, scipy, sklearn, pandas, matplotlib, xarray, dask, \
                   distributed, einops, mpmath, numba";
    python.to_str().is_some_and(|python| answers(python, &["-c", imports]))
}

/// A program of NVIDIA's toolkit: beside `PARTITA_PTXAS`, in `PATH` or in the Python environment.
fn has_cuda_tool(root: &Path, name: &str) -> bool {
    let named = std::env::var_os("PARTITA_PTXAS");
    let named = named.is_some_and(|path| Path::new(&path).with_file_name(name).exists());
    let mut packages = names(&root.join(".venv/lib"))
        .into_iter()
        .map(|python| root.join(".venv/lib").join(python).join("site-packages/nvidia/cu13/bin").join(name));
    named || answers(name, &["--version"]) || packages.any(|path| path.exists())
}

/// A person who names a driver has chosen one.
fn vulkan_chosen() -> bool {
    ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].iter().any(|name| std::env::var_os(name).is_some())
}

/// Whether Vulkan's loader and Mesa's software driver are installed below `root`.
fn vulkan_below(root: &Path) -> bool {
    let drivers =
        ["usr/share", "usr/local/share", "etc"].map(|folder| root.join(folder).join("vulkan/icd.d"));
    let driver = drivers.iter().flat_map(|folder| names(folder)).any(|name| name.starts_with("lvp_icd"));
    let libraries = ["usr/lib", "usr/lib64", "usr/local/lib"].map(|folder| root.join(folder));
    let loader = libraries.iter().any(|folder| {
        let nested = names(folder).into_iter().map(|name| folder.join(name));
        nested.chain([folder.clone()]).any(|folder| folder.join("libvulkan.so.1").exists())
    });
    driver && loader
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn need(waiver: Option<&'static str>, present: fn(&Path) -> bool, fix: Fix) -> Need {
        Need { name: "a thing", waiver, present, fix }
    }

    #[test]
    fn what_is_there_is_left_alone() {
        let present = need(None, |_| true, Fix::Run("false"));
        assert_eq!(meet(&present, Path::new("."), &Options::default()), Tally::passed());
    }

    #[test]
    fn no_install_says_what_to_type() {
        let missing = need(None, |_| false, Fix::Apt(&["one", "two"]));
        let options = Options { no_install: true, ..Options::default() };
        let tally = meet(&missing, Path::new("."), &options);
        assert!(tally.failed[0].contains("sudo apt-get install -y one two"), "{:?}", tally.failed);
    }

    #[test]
    fn a_fix_that_does_not_help_is_a_failure() {
        for (words, reason) in [("true", "still missing"), ("false", "ended with")] {
            let tally = meet(&need(None, |_| false, Fix::Run(words)), Path::new("."), &Options::default());
            assert!(tally.failed[0].contains(reason), "{:?}", tally.failed);
        }
    }

    #[test]
    fn a_waiver_makes_it_a_skip_and_installs_nothing() {
        let missing = need(Some("wgpu"), |_| false, Fix::Run("false"));
        let options = Options { allow_missing: vec!["wgpu".into()], ..Options::default() };
        let tally = meet(&missing, Path::new("."), &options);
        assert_eq!((tally.failed.len(), tally.skipped.len()), (0, 1));
    }

    #[test]
    fn a_fix_runs_and_counts_once_it_helped() {
        let folder = std::env::temp_dir().join(format!("partita-setup-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let missing = need(None, |root| root.join("made").exists(), Fix::Run("touch made"));
        assert_eq!(meet(&missing, &folder, &Options::default()), Tally::passed());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn root_gets_no_prompt() {
        assert_eq!(lead(true, false), Some(&[] as &[&str]));
        assert_eq!(lead(false, true), Some(&["sudo", "-n"] as &[&str]));
        assert_eq!(lead(false, false), None);
    }

    #[test]
    fn vulkan_needs_both_loader_and_driver() {
        let root = std::env::temp_dir().join(format!("partita-vulkan-{}", std::process::id()));
        let library = root.join("usr/lib/x86_64-linux-gnu");
        let driver = root.join("usr/share/vulkan/icd.d");
        fs::create_dir_all(&library).unwrap();
        fs::create_dir_all(&driver).unwrap();
        fs::write(driver.join("intel_icd.x86_64.json"), "{}").unwrap();
        fs::write(library.join("libvulkan.so.1"), "").unwrap();
        assert!(!vulkan_below(&root), "another vendor's driver is not the software one");
        fs::write(driver.join("lvp_icd.x86_64.json"), "{}").unwrap();
        assert!(vulkan_below(&root));
        fs::remove_file(library.join("libvulkan.so.1")).unwrap();
        assert!(!vulkan_below(&root), "a driver without the loader");
        fs::remove_dir_all(&root).unwrap();
    }
}
