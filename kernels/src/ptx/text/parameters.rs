//! The block of launch parameters of one entry: which numbers its text reads, and where they are; and PTX's
//! names of types.
//!
//! The writer requests a [`Field`] by meaning and gets a register; the block notes it. A launch later fills
//! in each field of the block. So an entry passes what it reads and nothing else.

use crate::dtype::{DType, Scalar};
use crate::ir::Offsets;
use crate::verify::Footprint;

/// The sort of a register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Class {
    Pred,
    B16,
    B32,
    B64,
    F32,
    F64,
}

impl Class {
    /// As PTX spells it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Class::Pred => "pred",
            Class::B16 => "b16",
            Class::B32 => "b32",
            Class::B64 => "b64",
            Class::F32 => "f32",
            Class::F64 => "f64",
        }
    }

    /// The first letter of its temporaries.
    pub(crate) fn letter(self) -> &'static str {
        match self {
            Class::Pred => "p",
            Class::B16 => "h",
            Class::B32 => "r",
            Class::B64 => "d",
            Class::F32 => "f",
            Class::F64 => "e",
        }
    }

    /// Bytes of a register in memory.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Class::Pred => 1,
            Class::B16 => 2,
            Class::B32 | Class::F32 => 4,
            Class::B64 | Class::F64 => 8,
        }
    }
}

/// The register class of a value.
pub(crate) fn class(dtype: DType) -> Class {
    match dtype {
        DType::Bool => Class::Pred,
        DType::I8 | DType::I16 | DType::I32 | DType::U8 | DType::U16 | DType::U32 => Class::B32,
        DType::I64 | DType::U64 => Class::B64,
        DType::F16 | DType::BF16 => Class::B16,
        DType::F32 => Class::F32,
        DType::F64 => Class::F64,
    }
}

/// The type of arithmetic on a register: `s32`, `u64`, `f32`.
pub(crate) fn arithmetic(dtype: DType) -> &'static str {
    match dtype {
        DType::I8 | DType::I16 | DType::I32 => "s32",
        DType::Bool | DType::U8 | DType::U16 | DType::U32 => "u32",
        DType::I64 => "s64",
        DType::U64 => "u64",
        DType::F16 | DType::BF16 | DType::F32 => "f32",
        DType::F64 => "f64",
    }
}

/// The type of an element in loads and stores.
pub(crate) fn memory(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool | DType::U8 => "u8",
        DType::I8 => "s8",
        DType::I16 => "s16",
        DType::U16 => "u16",
        DType::I32 => "s32",
        DType::U32 => "u32",
        DType::I64 => "s64",
        DType::U64 => "u64",
        DType::F16 | DType::BF16 => "b16",
        DType::F32 => "f32",
        DType::F64 => "f64",
    }
}

/// The type in which a fold accumulates.
pub(crate) fn partial(dtype: DType) -> DType {
    match dtype {
        DType::I8 | DType::I16 => DType::I32,
        DType::U8 | DType::U16 => DType::U32,
        DType::F16 | DType::BF16 => DType::F32,
        _ => dtype,
    }
}

/// log2 of an element's bytes.
pub(crate) fn size_bits(dtype: DType) -> u32 {
    dtype.size_bytes().trailing_zeros()
}

/// A constant as an operand of the register's class.
pub(crate) fn literal(scalar: Scalar) -> String {
    match scalar.dtype {
        DType::Bool => u64::from(scalar.bits != 0).to_string(),
        DType::F32 => format!("0f{:08X}", scalar.bits),
        DType::F64 => format!("0d{:016X}", scalar.bits),
        DType::F16 | DType::BF16 => format!("0x{:04X}", scalar.bits),
        DType::U64 => scalar.bits.to_string(),
        _ if scalar.bits == 1 << 63 => "0x8000000000000000".into(),
        DType::I8 | DType::I16 | DType::I32 | DType::I64 | DType::U8 | DType::U16 | DType::U32 => {
            scalar.to_i64().to_string()
        }
    }
}

/// The address of an element: a register and a number of bytes.
#[derive(Clone)]
pub(crate) struct Address {
    pub register: String,
    pub bytes: i64,
}

impl Address {
    pub(crate) fn at(register: &str) -> Address {
        Address { register: register.to_owned(), bytes: 0 }
    }

    /// So many bytes further on.
    pub(crate) fn plus(&self, bytes: usize) -> Address {
        Address { register: self.register.clone(), bytes: self.bytes + bytes as i64 }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.bytes {
            0 => write!(f, "[{}]", self.register),
            bytes => write!(f, "[{}+{bytes}]", self.register),
        }
    }
}

/// The largest block of parameters that every driver takes, in bytes.
pub(crate) const MAX_BLOCK_BYTES: usize = 4096;

/// A number that moves linearly through the region: the address of a parameter's element, a coordinate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Quantity {
    /// The address of a parameter's element, in bytes.
    Param(u32),
    /// The coordinate of a dimension, as i32 or i64.
    Coord(u32, DType),
}

/// The quantities of a kernel at each point, parameters first.
pub(crate) fn quantities(footprint: &Footprint) -> Vec<Quantity> {
    let at_point = footprint.params().iter().zip(0..).filter(|(p, _)| p.is_stored || p.radius.is_some());
    let params = at_point.map(|(_, p)| Quantity::Param(p));
    params.chain(footprint.coords().iter().map(|&(dim, dtype)| Quantity::Coord(dim, dtype))).collect()
}

/// The register of a quantity at the point.
pub(crate) fn register(quantity: Quantity) -> String {
    match quantity {
        Quantity::Param(p) => format!("%at{p}"),
        Quantity::Coord(k, DType::I64) => format!("%c{k}w"),
        Quantity::Coord(k, _) => format!("%c{k}"),
    }
}

/// One number of the block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Field {
    /// Points along a slot.
    Extent(usize),
    /// A quantity at the grid's first point.
    Start(Quantity),
    /// The increment of a quantity by one step along a slot.
    Step(Quantity, usize),
    /// The increment of a parameter's address by one step along a slot, beyond 32 bits too.
    Stride(u32, usize),
    /// The distance in bytes from the point to what a load reads.
    Delta(u32, Offsets),
    /// 0 if neighbours along the innermost slot are neighbours in the parameter's memory, else 1.
    Apart(u32),
    /// Planes that a thread of streaming goes through.
    Planes,
    /// 1 if neighbours along the slot before the innermost are neighbours in the parameter's memory.
    Turned(u32),
    /// A source of the entry `mirrored` at the grid's first point.
    SourceStart(usize),
    /// The increment of its address by one step along a slot.
    SourceStep(usize, usize),
    /// 1 if a parameter is a source's twin.
    Twin(u32),
    /// The address of the squares of a parameter's source in shared memory.
    Pair(u32),
    /// A scalar argument.
    Argument(u32, DType),
    /// The address of the elements that an index counts.
    IndexedStart,
    /// The number of these elements.
    IndexedCount,
    /// A number that only reductions read.
    Fold(FoldField),
}

/// Numbers that a stage of a reduction reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FoldField {
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
    /// The beginning of the partial results of a stream, counted from the launch's scratch memory.
    Partials(usize),
    /// The same of those that the pass before has left.
    Previous(usize),
    /// The folded coordinates of the grid's first number.
    Base(usize),
    /// As digits of the folded slots, the distance between a thread's runs.
    Digit(usize),
    /// The same from the last element of a run.
    Rest(usize),
}

impl FoldField {
    fn class(self) -> Class {
        match self {
            FoldField::Partials(_) | FoldField::Previous(_) => Class::B64,
            _ => Class::B32,
        }
    }

    fn name(self) -> String {
        let name = match self {
            FoldField::Rows => "rows",
            FoldField::RowShift => "row_shift",
            FoldField::RowMask => "row_mask",
            FoldField::MemberShift => "member_shift",
            FoldField::MemberMask => "member_mask",
            FoldField::Lanes => "lanes",
            FoldField::LaneShift => "lane_shift",
            FoldField::Shares => "shares",
            FoldField::Groups => "groups",
            FoldField::Kept => "kept",
            FoldField::Folded => "folded",
            FoldField::Runs => "runs",
            FoldField::First => "first",
            FoldField::Segments => "segments",
            FoldField::Empty => "empty",
            FoldField::Partials(stream) => return format!("%partials{stream}"),
            FoldField::Previous(stream) => return format!("%previous{stream}"),
            FoldField::Base(slot) => return format!("%base{slot}"),
            FoldField::Digit(slot) => return format!("%digit{slot}"),
            FoldField::Rest(slot) => return format!("%rest{slot}"),
        };
        format!("%{name}")
    }
}

impl Field {
    /// The class of its register.
    pub(crate) fn class(&self) -> Class {
        match self {
            Field::Start(Quantity::Param(_) | Quantity::Coord(_, DType::I64)) => Class::B64,
            Field::Delta(..) | Field::IndexedStart | Field::IndexedCount | Field::Stride(..) => Class::B64,
            Field::Extent(_) | Field::Start(_) | Field::Step(..) => Class::B32,
            Field::Apart(_) | Field::Turned(_) | Field::SourceStep(..) => Class::B32,
            Field::Twin(_) | Field::Pair(_) => Class::B32,
            Field::SourceStart(_) => Class::B64,
            Field::Planes => Class::B32,
            Field::Fold(field) => field.class(),
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
            Field::Planes => "%planes".into(),
            Field::Turned(p) => format!("%turned{p}"),
            Field::SourceStart(n) => format!("%source{n}"),
            Field::SourceStep(n, slot) => format!("%pace{n}_{slot}"),
            Field::Twin(p) => format!("%twin{p}"),
            Field::Pair(p) => format!("%pair{p}"),
            Field::Argument(n, _) => format!("%arg{n}"),
            Field::IndexedStart => "%indexed".into(),
            Field::IndexedCount => "%count".into(),
            Field::Fold(field) => field.name(),
            Field::Stride(p, slot) => format!("%stride{p}_{slot}"),
        }
    }
}

/// A field, its register and its place.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub field: Field,
    pub register: String,
    pub at: usize,
}

/// The fields of one entry, in the order in which its text first asks for them.
#[derive(Clone, Default, Debug)]
pub(crate) struct ParameterBlock {
    slots: Vec<Slot>,
}

impl ParameterBlock {
    /// The register that holds a field.
    pub(crate) fn register(&mut self, field: Field) -> String {
        if let Some(slot) = self.slots.iter().find(|s| s.field == field) {
            return slot.register.clone();
        }
        let register = field.name(&self.slots);
        let at = self.bytes().next_multiple_of(field.class().bytes());
        self.slots.push(Slot { field, register: register.clone(), at });
        register
    }

    /// The fields and where they are.
    pub(crate) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Length of the block; never zero, for PTX has no empty parameter.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.last().map_or(0, |s| s.at + s.field.class().bytes())
    }

    /// Length of the parameter as PTX declares it.
    pub(crate) fn length(&self) -> usize {
        self.bytes().next_multiple_of(8).max(8)
    }

    /// The positions of addresses in scratch memory.
    pub(crate) fn scratch_at(&self) -> Vec<usize> {
        let is_scratch =
            |slot: &&Slot| matches!(slot.field, Field::Fold(FoldField::Partials(_) | FoldField::Previous(_)));
        self.slots.iter().filter(is_scratch).map(|slot| slot.at).collect()
    }

    /// The block with each field's number filled in.
    pub(crate) fn pack(&self, number: impl Fn(&Field) -> u64) -> Vec<u8> {
        let mut bytes = vec![0; self.length()];
        for slot in &self.slots {
            let width = slot.field.class().bytes();
            bytes[slot.at..][..width].copy_from_slice(&number(&slot.field).to_le_bytes()[..width]);
        }
        bytes
    }
}
