//! A parsed module: entries of compact instructions whose operands are register slots. Constants, special
//! registers and addresses of shared arrays have slots too, so that executing an instruction needs no case
//! distinction.

use super::semantics::{Function, Partial};
use super::types::Type;
use std::sync::Arc;

/// A parsed PTX module.
#[derive(Clone)]
pub struct Program {
    pub(crate) entries: Vec<Entry>,
    pub(crate) lines: Arc<[Box<str>]>,
}

impl Program {
    /// The names of the entry points, in order.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// The entry point of this name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The whole text.
    pub fn text(&self) -> String {
        self.lines.iter().fold(String::new(), |text, line| text + line + "\n")
    }

    /// The text of a line, counted from 1.
    pub(crate) fn line(&self, line: u32) -> &str {
        self.lines.get(line as usize - 1).map_or("", |text| text.trim())
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_list().entries(self.entries()).finish()
    }
}

/// One entry point.
#[derive(Clone)]
pub struct Entry {
    pub(crate) name: String,
    pub(crate) params: u32,
    pub(crate) threads: Threads,
    pub(crate) shared: Vec<Array>,
    pub(crate) code: Vec<Step>,
    /// The line of each step.
    pub(crate) lines: Vec<u32>,
    pub(crate) slots: Vec<Slot>,
    /// Whether any instruction waits for other threads.
    pub(crate) waits: bool,
    /// Whether blocks may tell each other something while they run.
    pub(crate) meets: bool,
}

impl Entry {
    /// The entry's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes of the parameter block.
    pub fn param_bytes(&self) -> u32 {
        self.params
    }

    /// Bytes of shared memory that the entry declares.
    pub fn shared_bytes(&self) -> u32 {
        self.shared.iter().filter_map(|array| array.bytes).sum()
    }

    /// The entry's requirement on its block size.
    pub fn threads(&self) -> Threads {
        self.threads
    }
}

/// The requirement of an entry on the block of its launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// Nothing.
    Any,
    /// At most this many threads (`.maxntid`).
    AtMost(u32),
    /// Exactly this block (`.reqntid`).
    Exactly([u32; 3]),
}

/// A shared array and where it lies in the block's shared memory.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub name: String,
    pub start: u32,
    /// None if a launch gives them.
    pub bytes: Option<u32>,
}

/// The content of a slot when a thread starts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slot {
    Special,
    Constant(u64),
    /// Anything that fits the type: PTX registers start undefined.
    Register(Type),
}

/// Slots of the special registers: four triples and the lane.
pub(crate) const SPECIALS: [&str; 13] = [
    "%tid.x",
    "%tid.y",
    "%tid.z",
    "%ntid.x",
    "%ntid.y",
    "%ntid.z",
    "%ctaid.x",
    "%ctaid.y",
    "%ctaid.z",
    "%nctaid.x",
    "%nctaid.y",
    "%nctaid.z",
    "%laneid",
];
pub(crate) const TID: usize = 0;
pub(crate) const NTID: usize = 3;
pub(crate) const CTAID: usize = 6;
pub(crate) const NCTAID: usize = 9;
pub(crate) const LANEID: usize = 12;

/// The number of a register slot.
pub(crate) type Place = u32;

/// A guarded instruction.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    pub guard: Guard,
    pub does: Op,
}

/// Which predicate decides whether an instruction runs.
#[derive(Clone, Copy)]
pub(crate) enum Guard {
    Always,
    If(Place),
    Unless(Place),
}

/// The operation of an instruction.
#[derive(Clone, Copy)]
pub(crate) enum Op {
    Compute {
        f: Function,
        d: Place,
        a: Place,
        b: Place,
        c: Place,
    },
    Divide {
        f: Partial,
        d: Place,
        a: Place,
        b: Place,
    },
    /// Two moves at once: `a` to `d`, `b` to `e`.
    Moves {
        d: Place,
        e: Place,
        a: Place,
        b: Place,
    },
    Param {
        d: Place,
        offset: u32,
        value: Width,
    },
    /// A parameter where a register says, counted from the first.
    ParamAt {
        d: Place,
        at: At,
        value: Width,
    },
    Load {
        from: Space,
        at: At,
        value: Width,
        d: Vector,
    },
    Store {
        to: Space,
        at: At,
        value: Width,
        a: Vector,
    },
    /// A copy from global to shared memory that goes on while the thread does.
    Copy {
        to: At,
        from: At,
        bytes: u8,
    },
    /// The copies since the last such step are a group.
    Commit,
    /// Waits for all groups of the thread but the newest so many; for all copies if none.
    WaitCopies {
        but: Option<u32>,
    },
    /// A load of global memory that other blocks may be writing.
    StrongLoad {
        at: At,
        value: Width,
        d: Place,
        acquires: bool,
    },
    /// A store that other blocks may be reading.
    StrongStore {
        at: At,
        value: Width,
        a: Place,
        releases: bool,
    },
    Change(Change),
    /// Of acquire and release, for the device.
    Fence,
    Branch {
        to: u32,
    },
    Exit,
    Barrier,
    Shuffle {
        mode: ShuffleMode,
        d: Place,
        p: Option<Place>,
        a: Place,
        b: Place,
        c: Place,
        mask: Place,
    },
    ActiveMask {
        d: Place,
    },
}

/// An atomic operation: what memory holds becomes `f` of it, `b` and `c`; `d` what it was.
#[derive(Clone, Copy)]
pub(crate) struct Change {
    pub space: Space,
    pub at: At,
    pub value: Width,
    pub d: Option<Place>,
    pub f: Function,
    pub b: Place,
    pub c: Place,
    pub acquires: bool,
    pub releases: bool,
}

/// A memory that a load reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Global,
    /// Global memory through the cache that is not coherent with writes (`.nc`).
    Constant,
    Shared,
}

/// An address: a slot plus an offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    pub base: Place,
    pub offset: i32,
}

/// The value of a load or a store: bytes of one element, and how it widens into its register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Width {
    pub bytes: u8,
    pub signed: bool,
    /// Bits of the register.
    pub register: u8,
}

/// Up to four slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vector {
    pub count: u8,
    pub places: [Place; 4],
}

/// What the lanes of a warp exchange: the rule by which a shuffle picks its lane; or which lanes have a
/// predicate, or the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
    Ballot,
    Match,
}
