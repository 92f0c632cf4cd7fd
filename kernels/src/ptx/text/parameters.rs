//! The block of launch parameters of one entry: which numbers its text reads, and where they are.
//!
//! The writer asks for a [`Field`] by meaning and gets a register; the block notes it. `prepare` later
//! asks the block for its fields and fills each in. So an entry passes what it reads and nothing else.

use super::types::{Class, class};
use crate::dtype::DType;
use crate::ir::{Access, Kernel, Offsets, Op};

/// The largest block of parameters that every driver takes, in bytes.
pub(in crate::ptx) const MAX_BLOCK_BYTES: usize = 4096;

/// What moves linearly through the region: the address of a parameter's element, a coordinate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::ptx) enum Quantity {
    /// The address of a parameter's element, in bytes.
    Param(u32),
    /// The coordinate of a dimension, as i32 or i64.
    Coord(u32, DType),
}

/// What a kernel needs at each point, parameters first.
pub(in crate::ptx) fn quantities(kernel: &Kernel) -> Vec<Quantity> {
    let mut all: Vec<Quantity> = Vec::new();
    for p in 0..kernel.params.len() as u32 {
        let written = kernel.params[p as usize].access != Access::In;
        if (written || kernel.loads_of(p)) && kernel.indexed_param() != Some(p) {
            all.push(Quantity::Param(p));
        }
    }
    for inst in &kernel.body {
        if let Op::Coord(k) = inst.op
            && !all.contains(&Quantity::Coord(k, inst.dtype))
        {
            all.push(Quantity::Coord(k, inst.dtype));
        }
    }
    all
}

/// One number of the block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::ptx) enum Field {
    /// Points along a slot.
    Extent(usize),
    /// A quantity at the grid's first point.
    Start(Quantity),
    /// What one step along a slot adds to a quantity.
    Step(Quantity, usize),
    /// What one step along a slot adds to a parameter's address, beyond 32 bits too.
    Stride(u32, usize),
    /// The distance in bytes from the point to what a load reads.
    Delta(u32, Offsets),
    /// 0 if neighbours along the innermost slot are neighbours in the parameter's memory, else 1.
    Apart(u32),
    /// As `Apart`, and 1 also if planes of the parameter are not whole vectors apart.
    Uneven(u32),
    /// Planes that a thread of streaming goes through.
    Planes,
    /// 1 if neighbours along the slot before the innermost are neighbours in the parameter's memory.
    Turned(u32),
    /// A scalar argument.
    Argument(u32, DType),
    /// Where the elements that an index counts begin.
    IndexedStart,
    /// How many there are.
    IndexedCount,
    /// Reductions: what the entry must know of its share, by name.
    Share(Share),
    /// Reductions: the partial results of a stream.
    Partials(usize),
    /// Reductions: the partial results of a stream that the pass before has left.
    Previous(usize),
    /// Reductions: the folded coordinates of the grid's first number.
    Base(usize),
    /// Reductions: as digits of the folded slots, the distance between a thread's runs.
    Digit(usize),
    /// Reductions: the same from the last element of a run.
    Rest(usize),
}

/// Numbers that a stage of a reduction reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::ptx) enum Share {
    /// Kept points of a block.
    Rows,
    /// The bits of a thread's number that say which of them is its own.
    RowShift,
    RowMask,
    /// The bits of a thread's number that tell the threads of a point apart.
    MemberShift,
    MemberMask,
    /// Lanes of a share, a power of two.
    Lanes,
    /// Its logarithm.
    LaneShift,
    /// Shares of a point in a block.
    Shares,
    /// Groups of a share.
    Groups,
    /// Points that stay.
    Kept,
    /// Points, or partial results, that fold into each of them.
    Folded,
    /// Numbers up to which no run of a thread is cut.
    Runs,
    /// This grid's first segment.
    First,
    /// Segments of all grids; with one, the result is stored at once.
    Segments,
    /// 1 if nothing is folded at all.
    Empty,
}

impl Share {
    fn name(self) -> &'static str {
        match self {
            Share::Rows => "rows",
            Share::RowShift => "row_shift",
            Share::RowMask => "row_mask",
            Share::MemberShift => "member_shift",
            Share::MemberMask => "member_mask",
            Share::Lanes => "lanes",
            Share::LaneShift => "lane_shift",
            Share::Shares => "shares",
            Share::Groups => "groups",
            Share::Kept => "kept",
            Share::Folded => "folded",
            Share::Runs => "runs",
            Share::First => "first",
            Share::Segments => "segments",
            Share::Empty => "empty",
        }
    }
}

impl Field {
    /// The class of its register.
    pub(in crate::ptx) fn class(&self) -> Class {
        match self {
            Field::Start(Quantity::Param(_) | Quantity::Coord(_, DType::I64)) => Class::B64,
            Field::Delta(..) | Field::IndexedStart | Field::IndexedCount => Class::B64,
            Field::Stride(..) | Field::Partials(_) | Field::Previous(_) => Class::B64,
            Field::Extent(_) | Field::Start(_) | Field::Step(..) => Class::B32,
            Field::Apart(_) | Field::Uneven(_) | Field::Turned(_) => Class::B32,
            Field::Planes | Field::Share(_) => Class::B32,
            Field::Base(_) | Field::Digit(_) | Field::Rest(_) => Class::B32,
            Field::Argument(_, DType::Bool) => Class::B32,
            Field::Argument(_, dtype) => class(*dtype),
        }
    }

    fn name(&self, others: &[Slot]) -> String {
        let mark = |d: &DType| if *d == DType::I64 { "w" } else { "" };
        match self {
            Field::Extent(slot) => format!("%extent{slot}"),
            Field::Start(Quantity::Param(p)) => format!("%start{p}"),
            Field::Start(Quantity::Coord(k, d)) => format!("%origin{k}{}", mark(d)),
            Field::Step(Quantity::Param(p), slot) => format!("%step{p}_{slot}"),
            Field::Step(Quantity::Coord(k, d), slot) => format!("%turn{k}{}_{slot}", mark(d)),
            Field::Delta(p, _) => {
                let same = |s: &&Slot| matches!(&s.field, Field::Delta(q, _) if q == p);
                format!("%delta{p}_{}", others.iter().filter(same).count())
            }
            Field::Apart(p) => format!("%apart{p}"),
            Field::Uneven(p) => format!("%uneven{p}"),
            Field::Planes => "%planes".into(),
            Field::Turned(p) => format!("%turned{p}"),
            Field::Argument(n, _) => format!("%arg{n}"),
            Field::IndexedStart => "%indexed".into(),
            Field::IndexedCount => "%count".into(),
            Field::Share(share) => format!("%{}", share.name()),
            Field::Partials(stream) => format!("%partials{stream}"),
            Field::Stride(p, slot) => format!("%stride{p}_{slot}"),
            Field::Previous(stream) => format!("%previous{stream}"),
            Field::Base(slot) => format!("%base{slot}"),
            Field::Digit(slot) => format!("%digit{slot}"),
            Field::Rest(slot) => format!("%rest{slot}"),
        }
    }
}

/// A field, its register and its place.
#[derive(Clone, Debug)]
pub(in crate::ptx) struct Slot {
    pub field: Field,
    pub register: String,
    pub at: usize,
}

/// The fields of one entry, in the order in which its text first asks for them.
#[derive(Clone, Default, Debug)]
pub(in crate::ptx) struct ParameterBlock {
    slots: Vec<Slot>,
}

impl ParameterBlock {
    /// The register that holds a field.
    pub(in crate::ptx) fn register(&mut self, field: Field) -> String {
        if let Some(slot) = self.slots.iter().find(|s| s.field == field) {
            return slot.register.clone();
        }
        let register = field.name(&self.slots);
        let at = self.bytes().next_multiple_of(field.class().bytes());
        self.slots.push(Slot { field, register: register.clone(), at });
        register
    }

    /// The fields and where they are.
    pub(in crate::ptx) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Length of the block; never zero, for PTX has no empty parameter.
    pub(in crate::ptx) fn bytes(&self) -> usize {
        self.slots.last().map_or(0, |s| s.at + s.field.class().bytes())
    }

    /// Length of the parameter as PTX declares it.
    pub(in crate::ptx) fn length(&self) -> usize {
        self.bytes().next_multiple_of(8).max(8)
    }

    /// The block with each field's number filled in.
    pub(in crate::ptx) fn pack(&self, number: impl Fn(&Field) -> u64) -> Vec<u8> {
        let mut bytes = vec![0; self.length()];
        for slot in &self.slots {
            let width = slot.field.class().bytes();
            bytes[slot.at..][..width].copy_from_slice(&number(&slot.field).to_le_bytes()[..width]);
        }
        bytes
    }
}
