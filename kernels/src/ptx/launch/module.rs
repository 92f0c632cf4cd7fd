//! A kernel as PTX, and what its launches are made of.

use crate::ptx::entries::fold::MOST_GROUPS;
use crate::ptx::schedule::Schedule;
use crate::ptx::text::ParameterBlock;
use crate::verify::Verified;

/// A kernel as PTX, and how to launch it.
pub struct Module {
    /// The whole text.
    pub text: String,
    /// Names of its entry points.
    pub entries: Vec<&'static str>,
    /// The kernel in basic instructions, as it was written.
    pub(in crate::ptx) kernel: Verified,
    /// The parameters of each entry.
    pub(in crate::ptx) blocks: Vec<ParameterBlock>,
    pub(in crate::ptx) schedule: Schedule,
    pub(in crate::ptx) limits: Limits,
}

/// Memory of one parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// Address of element 0.
    pub address: u64,
    /// Its length.
    pub bytes: u64,
}

/// What the schedule must know of the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// How many blocks can run side by side, roughly eight times this.
    pub multiprocessors: u32,
}

/// One launch of one entry point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    /// Index into [`Module::entries`].
    pub entry: usize,
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// The bytes of the entry's one parameter.
    pub params: Vec<u8>,
}

/// How large one grid may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::ptx) struct Limits {
    /// Points along x; points that stay, and points that fold into one, of a reduction.
    pub points: u64,
    /// Blocks along y and along z.
    pub blocks: u64,
    /// Shares of a point in a block of a reduction.
    pub shares: u64,
    /// Groups of a share.
    pub groups: u64,
}

impl Limits {
    pub(in crate::ptx) const DEVICE: Limits =
        Limits { points: 1 << 30, blocks: 65535, shares: 256, groups: MOST_GROUPS };
    pub(in crate::ptx) const SMALL: Limits = Limits { points: 100, blocks: 2, shares: 2, groups: 8 };
}

/// Blocks per multiprocessor that a reduction or streaming spreads over.
pub(in crate::ptx) const BLOCKS_PER_MULTIPROCESSOR: u64 = 8;
