//! `cargo xtask bundle`: a folder that runs the tests, the benchmark and the examples on a machine with
//! GPUs but without a Rust toolchain and without network. It does not know what the programs do.

pub mod publish;

use crate::exec::{End, SILENCE, run};
use crate::mpi::cuda;
use publish::finish;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The program that starts everything there.
const RUN: &str = include_str!("run.sh");

/// Files copied into it as they are: the first call on a GPU, a player of launches without the engine, and
/// processes without MPI.
const SCRIPTS: &[(&str, &str)] = &[
    ("run.sh", RUN),
    ("first.sh", include_str!("first.sh")),
    ("probe.py", include_str!("probe.py")),
    ("ranks.py", include_str!("ranks.py")),
];

/// The largest bundle: it travels, beside a working tree, within 64 MiB.
const MOST_BYTES: u64 = 56_000_000;

/// The newest version of the C library that its programs may ask for.
const NEWEST_GLIBC: (u32, u32) = (2, 36);

/// The engine's test programs worth running on a GPU, beside its own unit tests.
const TESTS: &[&str] =
    &["kernels", "fuzz", "cuda_device", "cuda_shared", "arrays", "every_kind", "loops", "fork", "subnormals"];

/// The arguments of `cargo build --release` for it.
const PROGRAMS: &[&[&str]] = &[
    &["--package", "partita-bench"],
    &["--example", "tsunami"],
    &["--example", "heat"],
    &["--example", "gray_scott"],
];

/// Files and folders that go along, and where to.
const FILES: &[(&str, &str)] = &[
    ("README.md", "README.md"),
    ("examples/data/salish_topobathy.npz", "salish_topobathy.npz"),
    ("examples/python", "examples/python"),
    ("interop/tests", "interop/tests"),
    ("interop/pyproject.toml", "interop/pyproject.toml"),
];

/// Paths of the Vulkan loader, which machines of GPUs may lack; it goes along if it is here.
const VULKAN: &[&str] = &["/usr/lib/x86_64-linux-gnu/libvulkan.so.1", "/usr/lib64/libvulkan.so.1"];

/// Makes the folder; says how large it is.
pub fn bundle(root: &Path, cargo: impl Fn() -> Command) -> ExitCode {
    publish::end("bundle", make(root, cargo))
}

fn make(root: &Path, cargo: impl Fn() -> Command) -> Result<String, String> {
    let folder = root.join("target/bundle");
    let io = |error: std::io::Error| error.to_string();
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(io)?;
    }
    std::fs::create_dir_all(folder.join("bin")).map_err(io)?;
    let mut tests = cargo();
    tests.args(["test", "--no-run", "--message-format", "json", "--package", "partita", "--lib"]);
    tests.args(TESTS.iter().flat_map(|name| ["--test", name]));
    for program in all_built(tests)? {
        put(&folder, &format!("test-{}", name_of(&program)), &program)?;
    }
    let release = |arguments: &[&str]| {
        let mut command = cargo();
        command.args(["build", "--release", "--message-format", "json"]).args(arguments);
        command
    };
    for arguments in PROGRAMS {
        put(&folder, arguments[1], &built(release(arguments))?)?;
    }
    finish(&mut release(&["--quiet", "--package", "simcuda"]))?;
    let bench = built(release(PROGRAMS[0]))?;
    put_record(root, &folder.join("probe"), &bench, None)?;
    for limits in LIMITS {
        let name = format!("probe-{}", limits.replace(',', "-"));
        put_record(root, &folder.join(name), &bench, Some(limits))?;
    }
    let aware = cuda::prefix(root);
    match aware.join("bin/mpirun").exists() {
        true => put_mpi(&folder, &aware, cargo())?,
        false => {
            println!("skipped: programs of several processes (`cargo xtask cuda-aware-mpi` was not run)")
        }
    }
    // Most of every program is in the others, too: with a window as wide as several of them, all are hardly
    // larger than one.
    let packed = folder.join("bin.tar.xz");
    finish(
        Command::new("tar").env("XZ_OPT", "-9").arg("-C").arg(&folder).arg("-cJf").arg(packed).arg("bin"),
    )?;
    std::fs::remove_dir_all(folder.join("bin")).map_err(io)?;
    finish(
        wheel(root)
            .args(["build", "--release", "--quiet", "--manifest-path", "interop/Cargo.toml"])
            .args([Path::new("--out"), &folder]),
    )?;
    for (from, to) in FILES {
        copy(&root.join(from), &folder.join(to)).map_err(|error| format!("{from}: {error}"))?;
    }
    for (name, text) in SCRIPTS {
        std::fs::write(folder.join(name), text).map_err(io)?;
    }
    match VULKAN.iter().map(Path::new).find(|loader| loader.exists()) {
        Some(loader) => copy(loader, &folder.join("vulkan/libvulkan.so.1")).map_err(io)?,
        None => println!("skipped: a Vulkan loader (none is installed here)"),
    }
    let bytes = size(&folder).map_err(io)?;
    if bytes > MOST_BYTES {
        return Err(format!("{bytes} bytes are more than the {MOST_BYTES} that should travel"));
    }
    let (folder, megabytes) = (folder.display(), bytes / 1_000_000);
    Ok(format!("{folder} holds {megabytes} MB; on the other machine: bash first.sh, then bash run.sh"))
}

/// The GPU whose launches the probe plays.
const PROBED: &str = "sm_90";

/// Limits of stencils as plain vectors, `PARTITA_PLANES`, that the probe tries beside the engine's own 88,11:
/// plain vectors for all, of as many planes as 176 words hold; the same within 96 words; fewer planes.
const LIMITS: &[&str] = &["176,40", "96,40", "48,10"];

/// Writes the launches that the probe plays: of all cases at their full sizes, as the simulated driver
/// records them; of their lines those that a launch needs. With other limits, of stencils in f32.
fn put_record(root: &Path, to: &Path, bench: &Path, limits: Option<&str>) -> Result<(), String> {
    let kept = root.join("target/bundle-record");
    // Without tools nothing is recorded, and what an earlier call has kept is of other limits.
    let _ = std::fs::remove_dir_all(&kept);
    let mut facts = Command::new(bench);
    facts.args(["facts", "--target", PROBED, "--keep"]).arg(&kept);
    if let Some(limits) = limits {
        facts.env("PARTITA_PLANES", limits).args(["--dtype", "f32", "--filter", "S1,S2,S3"]);
    }
    // Whether kernels keep their limits is not asked here.
    let judged = facts.status().map_err(|error| format!("{}: {error}", bench.display()))?;
    let from = kept.join(PROBED);
    let Ok(lines) = std::fs::read_to_string(from.join("launches.jsonl")) else {
        println!("skipped: the probe's record (`partita-bench facts` recorded nothing: {judged})");
        return Ok(());
    };
    let io = |error: std::io::Error| error.to_string();
    std::fs::create_dir_all(to).map_err(io)?;
    let lines: String = lines.lines().map(|line| launched(line) + "\n").collect();
    std::fs::write(to.join("launches.jsonl"), lines).map_err(io)?;
    for entry in std::fs::read_dir(from).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.extension().is_some_and(|ending| ending == "ptx") {
            copy(&path, &to.join(path.file_name().unwrap_or_default())).map_err(io)?;
        }
    }
    Ok(())
}

/// A recorded line without what was counted in the launch.
fn launched(line: &str) -> String {
    line.split_once(",\"read\":").map_or(line.to_owned(), |(launch, _)| format!("{launch}}}"))
}

/// The launcher, its libraries, and the program of several processes.
fn put_mpi(folder: &Path, aware: &Path, mut cargo: Command) -> Result<(), String> {
    let arguments = ["test", "--no-run", "--message-format", "json", "--package", "partita"];
    cargo.args(arguments).args(["--features", "mpi", "--test", "mpi"]);
    put(folder, "ranks", &built(cargo)?)?;
    for part in ["bin/mpirun", "bin/orted", "etc", "lib", "share/openmpi"] {
        let to = folder.join("bin/mpi").join(part);
        copy(&aware.join(part), &to).map_err(|error| format!("{part}: {error}"))?;
    }
    Ok(())
}

/// maturin, of the environment if it is there.
fn wheel(root: &Path) -> Command {
    let own = root.join(".venv/bin/maturin");
    let mut command = Command::new(if own.exists() { own.as_path() } else { Path::new("maturin") });
    command.current_dir(root);
    command
}

/// Copies a file, or a folder without what Python leaves in it.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    if let Some(above) = to.parent() {
        std::fs::create_dir_all(above)?;
    }
    if from.is_file() {
        return std::fs::copy(from, to).map(drop);
    }
    for entry in std::fs::read_dir(from)? {
        let name = entry?.file_name();
        if !name.to_string_lossy().starts_with("__pycache__") {
            copy(&from.join(&name), &to.join(&name))?;
        }
    }
    Ok(())
}

/// The program that a cargo command made.
fn built(command: Command) -> Result<PathBuf, String> {
    let shown = format!("{command:?}");
    all_built(command)?.pop().ok_or_else(|| format!("{shown} made no program"))
}

/// The programs that a cargo command made.
fn all_built(mut command: Command) -> Result<Vec<PathBuf>, String> {
    let outcome = run(&mut command, SILENCE, |line| {
        if !line.starts_with('{') {
            println!("{line}");
        }
    });
    match outcome.end {
        End::Success => {
            Ok(outcome.lines.iter().filter_map(|line| executable(line)).map(PathBuf::from).collect())
        }
        end => Err(format!("{command:?} {end}")),
    }
}

/// The name of a test whose file cargo has named.
fn name_of(program: &Path) -> String {
    let file = program.file_name().unwrap_or_default().to_string_lossy();
    file.rsplit_once('-').map_or(&*file, |(name, _)| name).to_owned()
}

/// The `executable` of one of cargo's JSON lines.
fn executable(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("\"executable\":\"")?;
    rest.split('"').next()
}

/// Copies a program without what only a debugger reads.
fn put(folder: &Path, name: &str, program: &Path) -> Result<(), String> {
    let to = folder.join("bin").join(name);
    std::fs::copy(program, &to).map_err(|error| format!("{}: {error}", program.display()))?;
    finish(Command::new("strip").arg(&to))?;
    let bytes = std::fs::read(&to).map_err(|error| format!("{}: {error}", to.display()))?;
    match newest_glibc(&bytes) {
        newest if newest <= NEWEST_GLIBC => Ok(()),
        (major, minor) => Err(format!("{name} needs glibc {major}.{minor}; build it on an older system")),
    }
}

/// The newest version of the C library that a program names.
fn newest_glibc(program: &[u8]) -> (u32, u32) {
    const MARK: &[u8] = b"GLIBC_";
    let places = program.windows(MARK.len()).enumerate().filter(|(_, window)| *window == MARK);
    let version = |(at, _): (usize, &[u8])| {
        let digits = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
        let text: Vec<u8> = program[at + MARK.len()..].iter().take_while(digits).copied().collect();
        let text = String::from_utf8(text).ok()?;
        let (major, minor) = text.split_once('.')?;
        Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
    };
    places.filter_map(version).max().unwrap_or((0, 0))
}

fn size(folder: &Path) -> std::io::Result<u64> {
    std::fs::read_dir(folder)?.try_fold(0, |sum, entry| {
        let entry = entry?;
        let data = entry.metadata()?;
        Ok(sum + if data.is_dir() { size(&entry.path())? } else { data.len() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_found_in_cargos_lines() {
        let artifact = r#"{"reason":"compiler-artifact","executable":"/t/debug/deps/a-1","fresh":true}"#;
        assert_eq!(executable(artifact), Some("/t/debug/deps/a-1"));
        assert_eq!(executable(r#"{"reason":"compiler-artifact","executable":null}"#), None);
        assert_eq!(name_of(Path::new("/t/debug/deps/cuda_device-0a1b")), "cuda_device");
    }

    #[test]
    fn recorded_lines_keep_what_a_launch_needs() {
        let line = r#"{"ptx":"ab","memory":[[1,2]],"read":7,"steps":[]}"#;
        assert_eq!(launched(line), r#"{"ptx":"ab","memory":[[1,2]]}"#);
        assert_eq!(launched(r#"{"case":"copy","bytes":8}"#), r#"{"case":"copy","bytes":8}"#);
    }

    #[test]
    fn what_goes_along_is_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for (from, _) in FILES {
            assert!(root.join(from).exists(), "{from}");
        }
        for name in TESTS {
            assert!(root.join(format!("engine/tests/{name}.rs")).exists(), "{name}");
        }
    }

    #[test]
    fn the_c_library_is_read_from_a_program() {
        let program = b"..GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_PRIVATE\0GLIBC_2.9\0";
        assert_eq!(newest_glibc(program), (2, 34));
        assert_eq!(newest_glibc(b"static"), (0, 0));
    }
}

#[cfg(all(test, unix))]
mod run_tests;
