//! Support of the tests: texts around bodies, the real assembler, and launches of one entry.

use simcuda::machine::{Accesses, Fault, Machine};
use simcuda::ptx::Program;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Registers that most bodies declare; a body uses what it needs.
const REGISTERS: &str = "
    .reg .pred %p<8>;
    .reg .b16 %h<16>;
    .reg .u16 %us<8>;
    .reg .s16 %ss<8>;
    .reg .b32 %b<16>;
    .reg .u32 %r<32>;
    .reg .s32 %s<16>;
    .reg .b64 %q<16>;
    .reg .u64 %rd<32>;
    .reg .s64 %sd<16>;
    .reg .f32 %f<32>;
    .reg .f64 %fd<16>;
";

/// A module of one entry `k` with a parameter block of 64 bytes.
pub fn module(body: &str) -> String {
    format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n\
         .visible .entry k(.param .align 8 .b8 launch[64])\n{{{REGISTERS}{body}\n    ret;\n}}\n"
    )
}

/// Parses a text that must be good, for the real assembler too.
pub fn program(text: &str) -> Program {
    assemble(text, true);
    Program::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The program of a body.
pub fn body(body: &str) -> Program {
    program(&module(body))
}

/// A parameter block of addresses and numbers.
pub fn params(values: &[u64]) -> Vec<u8> {
    let mut bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    bytes.resize(64, 0);
    bytes
}

/// Runs `k` on one line of blocks.
pub fn run(
    machine: &mut Machine,
    program: &Program,
    blocks: u32,
    threads: u32,
    values: &[u64],
) -> Result<Accesses, Fault> {
    machine.run(program, "k", [blocks, 1, 1], [threads, 1, 1], &params(values))
}

/// New memory that holds these bytes.
pub fn holding(machine: &mut Machine, bytes: &[u8]) -> u64 {
    let address = machine.alloc(bytes.len() as u64, 256);
    machine.write(address, bytes).unwrap();
    address
}

/// The bytes at an address.
pub fn bytes(machine: &Machine, address: u64, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    machine.read(address, &mut bytes).unwrap_or_else(|fault| panic!("{fault}"));
    bytes
}

/// The words at an address.
pub fn words(machine: &Machine, address: u64, count: usize) -> Vec<u32> {
    let bytes = bytes(machine, address, count * 4);
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// The path of the real assembler, or the reason why there is none; asked once.
pub fn assembler() -> &'static Result<PathBuf, String> {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let found = find_assembler();
        if let Err(reason) = &found {
            println!("skipped: ptxas ({reason})");
        }
        found
    })
}

fn find_assembler() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("PARTITA_PTXAS") {
        let path = PathBuf::from(path);
        return if path.is_file() { Ok(path) } else { Err(format!("PARTITA_PTXAS: no file {path:?}")) };
    }
    let libraries = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.venv/lib");
    let versions = std::fs::read_dir(&libraries).map_err(|_| "no PARTITA_PTXAS and no .venv".to_string())?;
    versions
        .flatten()
        .map(|version| version.path().join("site-packages/nvidia/cu13/bin/ptxas"))
        .find(|path| path.is_file())
        .ok_or_else(|| "no PARTITA_PTXAS, and none in .venv".to_string())
}

/// Asserts that the real assembler takes, or refuses, this text.
pub fn assemble(text: &str, good: bool) {
    if let Some((taken, said)) = assembler_says(text) {
        assert_eq!(taken, good, "ptxas: {said}\n{text}");
    }
}

/// Whether the real assembler takes this text, and what it says; none if there is none.
pub fn assembler_says(text: &str) -> Option<(bool, String)> {
    let path = assembler().as_ref().ok()?;
    // The target of the text, which is the assembler's too.
    let target = text.lines().find_map(|line| line.strip_prefix(".target ")).unwrap_or("sm_80").trim();
    let mut child = Command::new(path)
        .args(["-arch", target, "-o", "/dev/null", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    Some((output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned()))
}
