//! A body as virtual code: instructions on values without registers, and the memory that holds a value
//! besides its register. Instruction selection makes it, register allocation and the assembler read it.

use iced_x86::{Code, Register};

use super::encodings::LaneLayout;
use super::target::{FoldMemory, IsaLevel};

/// An index into [`VirtualCode::values`].
pub(super) type ValueId = usize;

/// The kind of register that holds a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RegisterClass {
    /// A vector register.
    Vector(LaneLayout),
    /// A byte per lane in an `xmm`: bools as they are in memory.
    Bytes,
    /// A mask register, a bit per lane; bits beyond the lanes mean nothing.
    Mask,
}

/// The register of a class and number.
pub(super) fn register(class: RegisterClass, number: usize, level: IsaLevel) -> Register {
    let first = match (class, level) {
        (RegisterClass::Vector(LaneLayout::Words | LaneLayout::Longs), IsaLevel::Avx512) => Register::ZMM0,
        (RegisterClass::Vector(LaneLayout::Words | LaneLayout::Longs), IsaLevel::Avx2) => Register::YMM0,
        (RegisterClass::Vector(LaneLayout::HalfWords), IsaLevel::Avx512) => Register::YMM0,
        (RegisterClass::Vector(LaneLayout::HalfWords), IsaLevel::Avx2) | (RegisterClass::Bytes, _) => {
            Register::XMM0
        }
        (RegisterClass::Mask, _) => Register::K0,
    };
    first + number as u32
}

/// The place where a value can be read without having been computed in the block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Home {
    /// Nowhere: it must stay in its register, or be spilled.
    Nowhere,
    /// In the frame, a whole register.
    Slot(usize),
    /// A word of the pool, for every lane.
    Pool(usize),
    /// Consecutive lanes in the pool, from this word.
    Lanes(usize),
    /// A word of the row's table, for every lane.
    Table(usize),
    /// The row of an array: the pointer's number and the bytes from it.
    Array { pointer: usize, bytes: i32 },
    /// The element so many bytes from a pointer, for every lane.
    Element { pointer: usize, bytes: i32 },
    /// So many bytes from the beginning of a level of a fold's tree.
    Level { bytes: i32 },
    /// Behind the values that a level holds already, which begin at these bytes.
    LevelEnd { bytes: i32 },
}

impl Home {
    /// The same in every block of a row?
    pub(super) fn is_uniform(self) -> bool {
        !matches!(self, Home::Nowhere | Home::Array { .. } | Home::Level { .. } | Home::LevelEnd { .. })
    }

    /// One element that goes to all lanes?
    pub(super) fn is_broadcast(self) -> bool {
        matches!(self, Home::Pool(_) | Home::Table(_) | Home::Element { .. })
    }
}

/// A value.
#[derive(Clone, Copy, Debug)]
pub(super) struct VirtualValue {
    pub class: RegisterClass,
    pub home: Home,
    /// The same in every block of a row.
    pub uniform: bool,
}

/// The kinds of the last operand of an instruction: a register, or memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LastOperand {
    Register,
    /// Memory as wide as the register.
    Memory,
    /// That, or one element of memory for all lanes.
    Element,
}

/// An instruction.
#[derive(Clone, Debug)]
pub(super) struct VirtualInstruction {
    pub code: Code,
    pub dst: ValueId,
    pub args: Vec<ValueId>,
    pub immediate: Option<u8>,
    /// The lanes it writes; the others become 0 if `zeroing`.
    pub mask: Option<ValueId>,
    pub zeroing: bool,
    pub last: LastOperand,
    /// The first two operands may change places.
    pub swaps: bool,
    /// The first operand's register becomes the result.
    pub tied: bool,
    /// The operand is the number of the block's first lane, in a general register.
    pub index: bool,
    /// The operand is a mask that must be set in every lane of the block, or the code returns; the result
    /// says where it is not.
    pub guard: bool,
}

impl VirtualInstruction {
    pub(super) fn new(code: Code, dst: ValueId, args: &[ValueId]) -> VirtualInstruction {
        VirtualInstruction {
            code,
            dst,
            args: args.to_vec(),
            immediate: None,
            mask: None,
            zeroing: false,
            last: LastOperand::Element,
            swaps: false,
            tied: false,
            index: false,
            guard: false,
        }
    }

    /// Everything it reads.
    pub(super) fn reads(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.args.iter().copied().chain(self.mask)
    }
}

/// The target of a pointer of the row's table: the row of a parameter, or the elements that a load reads
/// beyond the neighbours within the row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowPointer {
    /// The parameter.
    pub param: usize,
    /// From the point, per dimension of the launch.
    pub offsets: Vec<i32>,
}

/// A value that goes to memory at the end of the block.
#[derive(Clone, Copy, Debug)]
pub(super) struct VectorStore {
    pub value: ValueId,
    /// The row of an array, or a level of a fold's tree.
    pub to: Home,
}

/// Instructions, and the values that go to memory behind them.
#[derive(Default)]
pub(super) struct Section {
    pub instructions: Vec<VirtualInstruction>,
    pub stores: Vec<VectorStore>,
}

/// A cache line that every block prefetches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prefetch {
    pub pointer: usize,
    /// From the pointer's lane.
    pub bytes: i32,
    /// Of the array.
    pub class: RegisterClass,
}

/// The code of a fold besides the body, whose values go to the lowest level of the tree. See `fold`.
pub(super) struct VirtualFold {
    /// The bodies of as many blocks as a register has lanes, folded without the lowest level; only of short
    /// bodies.
    pub group: Option<Section>,
    /// A register of neutral elements per fold, behind the level's values.
    pub neutral: Section,
    /// A level's values, folded to a register behind those of the next level.
    pub tree: Section,
    /// The first register of a level, folded to its first lane.
    pub last: Section,
    pub memory: FoldMemory,
}

/// A body.
pub(super) struct VirtualCode {
    pub level: IsaLevel,
    /// Lanes of a block.
    pub lanes: usize,
    pub values: Vec<VirtualValue>,
    /// Once per row, or per group of rows that are computed together.
    pub prologue: Vec<VirtualInstruction>,
    /// Once per block.
    pub body: Section,
    pub fold: Option<VirtualFold>,
    /// The prefetches of every block.
    pub prefetches: Vec<Prefetch>,
    pub pointers: Vec<RowPointer>,
    /// Dimensions whose coordinate is a word of the row's table.
    pub coordinates: Vec<usize>,
    pub pool: Vec<u64>,
}
