//! [`Target`]: the GPUs that kernels are assembled for.

use anyhow::{Context, Result};

/// A GPU that kernels are assembled for, and of how many multiprocessors, which the shape of a launch depends
/// on: A100, RTX 4090, H100 and H200, B200.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// As on the command line.
    pub name: &'static str,
    pub multiprocessors: u32,
}

const TARGETS: [Target; 4] = [
    Target { name: "sm_80", multiprocessors: 108 },
    Target { name: "sm_89", multiprocessors: 128 },
    Target { name: "sm_90", multiprocessors: 132 },
    Target { name: "sm_100", multiprocessors: 148 },
];

impl Target {
    /// The target of this name.
    pub fn named(name: &str) -> Result<Target> {
        let known = || TARGETS.map(|target| target.name).join(", ");
        let found = TARGETS.into_iter().find(|target| target.name == name);
        found.with_context(|| format!("no target `{name}`; there are {}", known()))
    }

    /// Compute capability times ten.
    pub fn sm(&self) -> &'static str {
        self.name.trim_start_matches("sm_")
    }
}
