//! The operands of compiled loops: the address of the first lane, and the step to the next.

use crate::dtype::DType;

/// Lanes per block of the compiled loops, which work on whole blocks.
pub(in crate::cpu) const BLOCK: usize = 64;

/// Lanes of one value, consecutive in memory.
#[derive(Clone, Copy, Debug)]
pub(in crate::cpu) struct LanePointer {
    /// The first lane, aligned to its type.
    pub ptr: *mut u8,
    /// Bytes from one lane to the next; 0 where every block of lanes is the same block.
    pub step: usize,
}

impl LanePointer {
    /// No place at all, for operands a loop does not use.
    pub(in crate::cpu) const NONE: LanePointer = LanePointer { ptr: std::ptr::null_mut(), step: 0 };

    /// The address of lane `lane`, which starts a block.
    #[inline(always)]
    pub(in crate::cpu) fn at(self, lane: usize) -> *mut u8 {
        self.ptr.wrapping_add(lane * self.step)
    }

    /// The block that starts at `lane`.
    ///
    /// # Safety
    /// The place holds `BLOCK` initialised lanes of `T` from `lane` on (from 0 if it is splatted) that
    /// nobody writes while the result lives.
    #[inline(always)]
    pub(in crate::cpu) unsafe fn block<'a, T>(self, lane: usize) -> &'a [T; BLOCK] {
        // SAFETY: the caller's promise.
        unsafe { &*self.at(lane).cast() }
    }

    /// The block that starts at `lane`, to write.
    ///
    /// # Safety
    /// As [`LanePointer::block`], and nobody else reads or writes it meanwhile.
    #[inline(always)]
    pub(in crate::cpu) unsafe fn block_mut<'a, T>(self, lane: usize) -> &'a mut [T; BLOCK] {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.at(lane).cast() }
    }
}

/// One cache line of memory for lanes.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(in crate::cpu) struct Line(#[allow(dead_code, reason = "read and written through pointers")] [u8; 64]);

impl Line {
    pub(in crate::cpu) const ZERO: Line = Line([0; 64]);
}

/// The type of a lane in a slot. bool is a byte 0 or 1; f16 and bf16 are f32 that were rounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::cpu) enum Lane {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
}

impl Lane {
    /// The lane that holds computed values of a type.
    pub(in crate::cpu) fn of(dtype: DType) -> Lane {
        match dtype {
            DType::Bool | DType::U8 => Lane::U8,
            DType::I8 => Lane::I8,
            DType::I16 => Lane::I16,
            DType::I32 => Lane::I32,
            DType::I64 => Lane::I64,
            DType::U16 => Lane::U16,
            DType::U32 => Lane::U32,
            DType::U64 => Lane::U64,
            DType::F16 | DType::BF16 | DType::F32 => Lane::F32,
            DType::F64 => Lane::F64,
        }
    }

    /// Bytes of one lane.
    pub(in crate::cpu) fn size(self) -> usize {
        match self {
            Lane::I8 | Lane::U8 => 1,
            Lane::I16 | Lane::U16 => 2,
            Lane::I32 | Lane::U32 | Lane::F32 => 4,
            Lane::I64 | Lane::U64 | Lane::F64 => 8,
        }
    }
}
