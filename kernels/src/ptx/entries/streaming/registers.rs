//! Registers of a thread of streaming and their names, beside the plan that they follow from.

use crate::dtype::DType;
use crate::ir::Store;
use crate::ptx::columns::{Column, Sides, StreamingPlan};
use crate::ptx::schedule::place_name;
use crate::ptx::text::{Address, Class, Field, PtxWriter, Quantity, class};

pub(super) struct Streaming<'a, 'k> {
    pub(super) w: PtxWriter<'k>,
    pub(super) plan: &'a StreamingPlan,
    pub(super) stores: &'a [Store],
    /// The last slot.
    pub(super) x: usize,
    pub(super) slow_paths: Vec<SlowPath>,
}

/// Something that a thread loads of a plane: what a turn of the loop finds there, counted from the walk's
/// first. The plane itself is `%after`, but for what a column reads beyond it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fetch {
    pub column: usize,
    pub part: Part,
    pub turn: i32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// Its own vector.
    Column,
    /// The same once more, for others.
    SharedCopy,
    /// The vector above or below, of a row at the rim of the block.
    HaloRow,
    /// Neighbours in its own row, or in that at the rim, at the edges of a warp: so many vectors away.
    WarpEdge { row: TileRow, distance: usize },
}

/// A row of the block in shared memory that a thread fills.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TileRow {
    Own,
    Rim,
}

/// Loads of vectors that stick out, away from the loop: their labels, and what they load.
pub(super) struct SlowPath {
    pub(super) from: String,
    pub(super) back: String,
    pub(super) fetch: Fetch,
}

impl<'a> Streaming<'a, '_> {
    /// The columns of a thread.
    pub(super) fn columns(&self) -> &'a [Column] {
        &self.plan.columns
    }
}

impl Streaming<'_, '_> {
    pub(super) fn dtype(&self, column: &Column) -> DType {
        self.w.kernel.params[column.param as usize].dtype
    }

    pub(super) fn size(&self, column: &Column) -> usize {
        self.dtype(column).size_bytes()
    }

    /// Class of a unit's register, and its type in memory.
    pub(super) fn unit(&self, column: &Column) -> (Class, &'static str) {
        let dtype = self.dtype(column);
        match column.per_unit * dtype.size_bytes() {
            1 => (Class::B32, "u8"),
            2 => (Class::B32, "u16"),
            _ if column.per_unit > 1 => (Class::B32, "b32"),
            _ => (class(dtype), class(dtype).name()),
        }
    }

    /// Units of the thread's own vector, or of a row beside it. Places of a column are counted from the
    /// lowest plane that the first copy of the body reads.
    pub(super) fn units(&mut self, column: &Column, row: i32, place: i32) -> Vec<String> {
        let kind = self.unit(column).0;
        let stem = match row {
            0 => format!("%w{}", column.param),
            _ => format!("%w{}_{}", column.param, place_name(row)),
        };
        (0..column.units).map(|unit| self.w.named(kind, &format!("{stem}u{unit}_{place}"))).collect()
    }

    /// A neighbour beside the vector of a row.
    pub(super) fn side(&mut self, column: &Column, row: i32, position: i32, place: i32) -> String {
        let name = format!("%n{}_{}_{}_{place}", column.param, place_name(row), place_name(position));
        let kind = class(self.dtype(column));
        self.w.named(kind, &name)
    }

    /// An address in shared memory, seen from the thread's own vector or one at the rim: of planes that a
    /// turn reads, `lead` planes ahead of the one it computes.
    pub(super) fn in_tile(&self, column: &Column, row: TileRow, (turn, lead): (i32, i32)) -> Address {
        let stem = match row {
            TileRow::Own => "%put",
            TileRow::Rim => "%put_rim",
        };
        let plane = (turn + lead).rem_euclid(self.plan.unroll as i32);
        let bytes = column.plane_bytes(self.size(column), self.plan.lanes) as i64;
        Address { register: format!("{stem}{}", column.param), bytes: i64::from(plane) * bytes }
    }

    /// The address at which the thread's own vectors arrive.
    pub(super) fn own_place(&self, column: &Column, turn: i32) -> Address {
        let at = self.in_tile(column, TileRow::Own, (turn, column.planes.1));
        match column.apart {
            true => Address { register: format!("%mine{}", column.param), ..at },
            false => at,
        }
    }

    /// Elements on one side that are so many vectors away, and those that are copied with them: copies have
    /// 4 bytes at least.
    pub(super) fn edge_elements(&self, column: &Column, sides: Sides, distance: usize) -> [usize; 2] {
        let count = sides.count(distance, self.plan.lanes);
        [count, count.next_multiple_of((4 / self.size(column)).max(1))]
    }

    pub(super) fn row_slot(&self) -> Option<usize> {
        self.plan.across.then(|| self.x - 1)
    }

    /// Offsets of the kernel for a plane.
    pub(super) fn offsets(&self, plane: i32) -> Vec<i32> {
        let mut offsets = vec![0; self.plan.slots.len()];
        offsets[self.plan.slots[0]] = plane;
        offsets
    }

    pub(super) fn predicate(&mut self, name: &str) -> String {
        self.w.named(Class::Pred, name)
    }

    /// The elements of a unit, each in a register: the unit itself if it is one.
    pub(super) fn elements(&mut self, column: &Column, unit: &str) -> Vec<String> {
        let dtype = self.dtype(column);
        if dtype.size_bytes() >= 4 {
            return vec![unit.to_owned()];
        }
        let elements: Vec<String> = (0..column.per_unit).map(|_| self.w.temp(class(dtype))).collect();
        self.w.unpack(dtype, &elements, unit);
        elements
    }

    /// The address of something in a plane.
    pub(super) fn in_plane(&mut self, param: u32, base: &str, plane: &str) -> String {
        let step = self.w.field(Field::Step(Quantity::Param(param), 0));
        self.w.set(Class::B64, "mad.wide.s32", &[plane, &step, base])
    }
}
