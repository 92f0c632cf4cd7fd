//! Faults of a launch: kind, place and values, in words.

use std::fmt;

/// Something no correct program does, found by a check.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Fault(Box<Report>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Report {
    site: Option<Site>,
    trouble: Trouble,
}

/// The place of a fault in a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The entry point.
    pub entry: String,
    /// The block's coordinates.
    pub block: [u32; 3],
    /// The thread's coordinates in its block.
    pub thread: [u32; 3],
    /// The line of the PTX text, counted from 1.
    pub line: u32,
    /// The text of that line.
    pub text: String,
}

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// An access that does not lie in one allocation.
    OutOfBounds,
    /// An access to memory that was freed.
    UseAfterFree,
    /// An address that is no multiple of the access's bytes.
    Misaligned,
    /// A read of bytes that nobody wrote.
    Uninitialised,
    /// A write to memory that the same launch reads with `ld.global.nc`.
    NonCoherent,
    /// Two threads at one byte of global memory, one writing, with no barrier between, and neither a release
    /// and an acquire.
    Race,
    /// An access that does not lie in one shared array.
    SharedOutOfBounds,
    /// A read of shared bytes that nobody in the block wrote.
    SharedUninitialised,
    /// Two threads of a block at one shared byte, one writing, with no barrier between.
    SharedRace,
    /// A load beyond the parameter block.
    ParamOutOfBounds,
    /// An integer division by zero, whose result hardware does not specify.
    DivisionByZero,
    /// A shuffle whose mask lacks the thread itself, or names lanes that do not arrive.
    ShuffleMask,
    /// A shuffle that reads a lane which does not take part.
    ShuffleLane,
    /// A barrier that some threads of the block do not reach.
    Barrier,
    /// A kernel that does not end.
    Endless,
    /// Blocks that wait for each other, or for one that may never begin.
    Deadlock,
    /// A launch that no device accepts.
    Launch,
    /// An allocation beyond the machine's capacity.
    OutOfMemory,
    /// A `free` of what is no allocation's first byte.
    Free,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Kind::OutOfBounds => "out of bounds",
            Kind::UseAfterFree => "use after free",
            Kind::Misaligned => "misaligned",
            Kind::Uninitialised => "uninitialised read",
            Kind::NonCoherent => "write to memory read through .nc",
            Kind::Race => "global-memory race",
            Kind::SharedOutOfBounds => "out of bounds of shared memory",
            Kind::SharedUninitialised => "uninitialised read of shared memory",
            Kind::SharedRace => "shared-memory race",
            Kind::ParamOutOfBounds => "out of bounds of the parameters",
            Kind::DivisionByZero => "integer division by zero",
            Kind::ShuffleMask => "shuffle with a wrong mask",
            Kind::ShuffleLane => "shuffle from an absent lane",
            Kind::Barrier => "barrier not reached by all",
            Kind::Endless => "endless kernel",
            Kind::Deadlock => "blocks that wait for ever",
            Kind::Launch => "launch refused",
            Kind::OutOfMemory => "out of memory",
            Kind::Free => "free of no allocation",
        })
    }
}

/// A check's finding, before its place is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub kind: Kind,
    pub address: Option<u64>,
    pub what: String,
}

impl Trouble {
    pub(crate) fn new(kind: Kind, what: impl Into<String>) -> Box<Trouble> {
        Box::new(Trouble { kind, address: None, what: what.into() })
    }

    pub(crate) fn at(kind: Kind, address: u64, what: impl Into<String>) -> Box<Trouble> {
        Box::new(Trouble { kind, address: Some(address), what: what.into() })
    }
}

pub(crate) type Checked<T> = Result<T, Box<Trouble>>;

impl Fault {
    /// The kind of this fault.
    pub fn kind(&self) -> Kind {
        self.0.trouble.kind
    }

    /// The place where it happened; none for an access of the host or a refused launch.
    pub fn site(&self) -> Option<&Site> {
        self.0.site.as_ref()
    }

    /// The address, if one was at fault.
    pub fn address(&self) -> Option<u64> {
        self.0.trouble.address
    }

    pub(crate) fn in_kernel(site: Site, trouble: Trouble) -> Fault {
        Fault(Box::new(Report { site: Some(site), trouble }))
    }
}

impl From<Box<Trouble>> for Fault {
    fn from(trouble: Box<Trouble>) -> Fault {
        Fault(Box::new(Report { site: None, trouble: *trouble }))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Report { site, trouble } = &*self.0;
        write!(f, "{}", trouble.kind)?;
        if let Some(Site { entry, block, thread, line, text }) = site {
            write!(f, " in `{entry}`, block {block:?}, thread {thread:?}, PTX line {line} `{text}`")?;
        }
        write!(f, ": {}", trouble.what)
    }
}
