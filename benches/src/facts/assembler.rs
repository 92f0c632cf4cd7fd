//! NVIDIA's assembler and disassembler, which run without a GPU. Each text is assembled once per target.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::sass::{self, Instruction};

/// The two programs.
pub struct Tools {
    ptxas: PathBuf,
    nvdisasm: PathBuf,
}

/// A text, assembled.
pub struct Assembled {
    /// Of the text.
    pub bytes: usize,
    /// The time of the assembler.
    pub seconds: f64,
    entries: HashMap<String, Usage>,
    listing: String,
}

/// The resources of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    pub registers: u32,
    /// Bytes of spilled registers and of stack.
    pub spills: u32,
    pub shared: u32,
}

impl Tools {
    /// Found in `PARTITA_PTXAS`'s folder, in the project's Python environment or in `PATH`; or where they
    /// were searched.
    pub fn find() -> Result<Tools, String> {
        let mut folders = Vec::new();
        if let Some(named) = std::env::var_os("PARTITA_PTXAS") {
            folders.extend(Path::new(&named).parent().map(Path::to_owned));
        }
        let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.venv/lib");
        let pythons = fs::read_dir(&packages).into_iter().flatten().flatten();
        folders.extend(pythons.map(|python| python.path().join("site-packages/nvidia/cu13/bin")));
        folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let find = |name: &str| {
            let found = folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file());
            found.ok_or_else(|| {
                format!("no {name} below {} or in PATH; run `cargo xtask setup`", packages.display())
            })
        };
        Ok(Tools { ptxas: find("ptxas")?, nvdisasm: find("nvdisasm")? })
    }

    /// Assembles a file for a target.
    pub fn assemble(&self, file: &Path, sm: &str) -> Result<Assembled> {
        let text = fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
        let cubin = file.with_extension(format!("{sm}.cubin"));
        let start = Instant::now();
        let output = Command::new(&self.ptxas)
            .args([format!("-arch=sm_{sm}").as_str(), "-lineinfo", "-v"])
            .args([file, Path::new("-o"), &cubin])
            .output()?;
        let seconds = start.elapsed().as_secs_f64();
        let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success(), "{}: {said}", file.display());
        let output = Command::new(&self.nvdisasm).args(["-c", "-gp", "-hex"]).arg(&cubin).output()?;
        let listing = String::from_utf8_lossy(&output.stdout).into_owned();
        ensure!(output.status.success(), "nvdisasm: {}", String::from_utf8_lossy(&output.stderr));
        Ok(Assembled { bytes: text.len(), seconds, entries: usage(&said), listing })
    }
}

impl Assembled {
    pub fn usage(&self, entry: &str) -> Result<Usage> {
        self.entries.get(entry).copied().with_context(|| format!("ptxas said nothing of `{entry}`"))
    }

    pub fn code(&self, entry: &str) -> Result<Vec<Instruction>> {
        sass::parse(&self.listing, entry)
    }
}

/// Reads what `ptxas -v` says of each entry.
fn usage(said: &str) -> HashMap<String, Usage> {
    let number = |line: &str, unit: &str| -> u32 {
        let before = line.split(unit).next().filter(|before| before.len() < line.len());
        before.and_then(|text| text.split_whitespace().last()?.parse().ok()).unwrap_or(0)
    };
    let (mut all, mut entry) = (HashMap::new(), String::new());
    for line in said.lines() {
        if let Some(rest) = line.split("Compiling entry function '").nth(1) {
            entry = rest.split('\'').next().unwrap_or_default().to_owned();
        }
        let usage: &mut Usage = all.entry(entry.clone()).or_default();
        if line.contains("bytes stack frame") {
            let units = ["bytes stack frame", "bytes spill stores", "bytes spill loads"];
            usage.spills = units.map(|unit| number(line, unit)).iter().sum();
        } else if line.contains(" registers") {
            usage.registers = number(line, " registers");
            usage.shared = number(line, " bytes smem");
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ptxas_says_is_read() {
        let said = "ptxas info    : Compiling entry function 'transpose' for 'sm_90'\n\
                    ptxas info    : Function properties for transpose\n    \
                    8 bytes stack frame, 4 bytes spill stores, 0 bytes spill loads\n\
                    ptxas info    : Used 31 registers, used 1 barriers, 4224 bytes smem\n\
                    ptxas info    : Compiling entry function 'vector' for 'sm_90'\n\
                    ptxas info    : Used 32 registers, used 0 barriers\n";
        let usage = usage(said);
        assert_eq!(usage["transpose"], Usage { registers: 31, spills: 12, shared: 4224 });
        assert_eq!(usage["vector"], Usage { registers: 32, spills: 0, shared: 0 });
    }
}
