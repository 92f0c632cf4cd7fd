//! Recording instead of running: each launch is written to a file with what a few of its blocks do, and
//! memory is reserved but not used. So launches at the sizes of a large GPU can be looked at anywhere.
//!
//! The folder gets each text once, as `HASH.ptx`, and a line of JSON per launch in `launches.jsonl`; with its
//! parameters and the memory that these point into, so that a GPU elsewhere can play it.

use super::abi::Code;
use super::work::{Failed, Launch};
use crate::machine::{AccessTarget, LaunchCount, Machine};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions, create_dir_all, write};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The folder and files in which launches are recorded.
pub struct Recorder {
    folder: PathBuf,
    launches: File,
    texts: HashSet<u64>,
}

impl Recorder {
    /// Appends to what is in the folder.
    pub fn new(folder: &Path) -> io::Result<Recorder> {
        create_dir_all(folder)?;
        let launches = OpenOptions::new().create(true).append(true).open(folder.join("launches.jsonl"))?;
        Ok(Recorder { folder: folder.to_owned(), launches, texts: HashSet::new() })
    }

    /// Runs a few blocks of a launch and writes what they did. `allocations` are addresses and lengths.
    pub fn record(
        &mut self,
        machine: &mut Machine,
        allocations: &[[u64; 2]],
        launch: &Launch,
    ) -> Result<(), Failed> {
        let Launch { program, entry, grid, block, params, .. } = launch;
        let (mut blocks, weights): (Vec<u32>, Vec<f64>) = samples(*grid).into_iter().unzip();
        let neighbours = neighbours(*grid, blocks[0]);
        blocks.extend(neighbours.iter().flatten());
        let counts = machine.sample(program, entry, *grid, *block, params, &blocks);
        let counts = counts.map_err(|fault| super::work::failed(&fault))?;
        let mut sum = LaunchCount::default();
        counts.iter().zip(weights).for_each(|(count, weight)| sum.add(count, weight));
        let first = counts.first().cloned().unwrap_or_default();
        // From the last axis on: what a neighbour there shares is not counted again.
        let others = counts[counts.len() - neighbours.iter().flatten().count()..].iter().rev();
        let shared = first.shared_with(others);
        let mut shared = shared.into_iter();
        let own = first.footprint()[0].max(1) as f64;
        let mut of_axis = [0.0; 3];
        for axis in (0..3).rev().filter(|axis| neighbours[*axis].is_some()) {
            of_axis[axis] = shared.next().unwrap_or(0) as f64 / own;
        }
        let memory = memory_of(params, allocations);
        self.keep(launch, &memory, &sum, &first.path, of_axis).map_err(|error| Failed {
            code: Code::OPERATING_SYSTEM,
            text: format!("PARTITA_SIM_RECORD: {}: {error}", self.folder.display()),
            address: None,
        })
    }

    fn keep(
        &mut self,
        launch: &Launch,
        memory: &[[u64; 2]],
        count: &LaunchCount,
        path: &[u64],
        shared: [f64; 3],
    ) -> io::Result<()> {
        let text = launch.program.text();
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let hash = hasher.finish();
        if self.texts.insert(hash) {
            write(self.folder.join(format!("{hash:016x}.ptx")), text)?;
        }
        let start = started(launch, hash, memory);
        let line = line(start, count, path, shared);
        writeln!(self.launches, "{line}")
    }
}

/// A block in the middle along every axis, and those at the far edges; each with how many are like it.
fn samples(grid: [u32; 3]) -> Vec<(u32, f64)> {
    let mut all = vec![(0, 1.0)];
    for (axis, &blocks) in grid.iter().enumerate() {
        let stride: u32 = grid[..axis].iter().product();
        let chosen = match blocks {
            1 => vec![(0, 1.0)],
            _ => vec![((blocks - 1) / 2, f64::from(blocks - 1)), (blocks - 1, 1.0)],
        };
        let with = |&(at, weight): &(u32, f64)| {
            chosen.iter().map(move |&(k, more)| (at + k * stride, weight * more)).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

/// The next block along each axis, if there is one.
fn neighbours(grid: [u32; 3], block: u32) -> [Option<u32>; 3] {
    [0, 1, 2].map(|axis| {
        let stride: u32 = grid[..axis].iter().product();
        (block / stride % grid[axis] + 1 < grid[axis]).then_some(block + stride)
    })
}

/// The allocations (address and length) into which aligned words of the parameters point.
fn memory_of(params: &[u8], allocations: &[[u64; 2]]) -> Vec<[u64; 2]> {
    let words = params.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
    let words: Vec<u64> = words.collect();
    let holds =
        |&&[address, bytes]: &&[u64; 2]| words.iter().any(|word| (address..address + bytes).contains(word));
    allocations.iter().filter(holds).copied().collect()
}

/// The line of a launch, with all that it needs to be played.
fn started(launch: &Launch, hash: u64, memory: &[[u64; 2]]) -> String {
    let Launch { entry, grid, block, shared, params, .. } = launch;
    let params: String = params.iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "{{\"ptx\":\"{hash:016x}\",\"entry\":\"{entry}\",\"grid\":{grid:?},\"block\":{block:?},\
         \"shared_bytes\":{shared},\"params\":\"{params}\",\"memory\":{memory:?}"
    )
}

fn line(mut text: String, count: &LaunchCount, path: &[u64], shared: [f64; 3]) -> String {
    let LaunchCount { footprint: [read, written], active, threads, .. } = count;
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        ",\"read\":{read},\"written\":{written},\"shared\":{shared:?},\
         \"active\":{active},\"threads\":{threads}"
    );
    // Lines that ran: number, issues by warps, lanes, issues by the middle warp.
    let mut steps = Vec::new();
    let mut accesses = Vec::new();
    for (step, path) in count.steps.iter().zip(path) {
        if step.issues > 0.0 {
            steps.push(format!("[{},{},{},{path}]", step.line, step.issues, step.lanes));
        }
        if let Some(access) = step.access {
            let place = match access.place {
                AccessTarget::Read => "read",
                AccessTarget::Write => "write",
                AccessTarget::Shared => "shared",
            };
            accesses.push(format!(
                "{{\"line\":{},\"place\":\"{place}\",\"width\":{},\"requests\":{},\"bytes\":{},\
                 \"sectors\":{},\"fresh\":{},\"wavefronts\":{}}}",
                step.line,
                access.width,
                access.requests,
                access.bytes,
                access.sectors,
                access.fresh,
                access.wavefronts,
            ));
        }
    }
    // Writing to a string cannot fail.
    let _ = write!(text, ",\"steps\":[{}],\"accesses\":[{}]}}", steps.join(","), accesses.join(","));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_stand_for_every_block() {
        for grid in [[1, 1, 1], [7, 1, 1], [5, 3, 1], [2, 4, 9]] {
            let samples = samples(grid);
            let blocks: u32 = grid.iter().product();
            assert_eq!(samples.iter().map(|(_, weight)| weight).sum::<f64>(), f64::from(blocks), "{grid:?}");
            assert!(samples.iter().all(|(block, _)| *block < blocks), "{grid:?}: {samples:?}");
            // The first sample is one that has neighbours where there are any.
            let with = neighbours(grid, samples[0].0).map(|neighbour| neighbour.is_some());
            assert_eq!(with, grid.map(|extent| extent > 1), "{grid:?}");
        }
    }
}
