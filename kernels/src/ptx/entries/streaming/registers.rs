//! What the text of streaming is written with: the plan, the registers of a thread, and their names.

use crate::dtype::DType;
use crate::ir::Store;
use crate::ptx::columns::{Column, StreamingPlan};
use crate::ptx::schedule::place_name;
use crate::ptx::text::{Address, Class, Field, PtxWriter, Quantity, class};

pub(super) struct Streaming<'a, 'k> {
    pub(super) w: PtxWriter<'k>,
    pub(super) plan: &'a StreamingPlan,
    pub(super) stores: &'a [Store],
    /// The last slot.
    pub(super) x: usize,
    pub(super) detours: Vec<Detour>,
}

/// Something that a thread loads of a plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fetch {
    /// Its own vector of a column, for a place of it. All are loaded for the plane in register `after`.
    Own { column: usize, place: usize, after: &'static str },
    /// A vector of a row at the rim of the block.
    Rim { column: usize, after: &'static str },
    /// Neighbours in a row, at the edges of a warp.
    Edges { column: usize, row: i32, after: &'static str },
}

/// Loads of vectors that stick out, away from the loop: their labels, and what they load.
pub(super) struct Detour {
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

    /// Where the loads of an edge lane go until their plane comes.
    pub(super) fn edge(&mut self, column: &Column, row: i32, distance: usize) -> Vec<String> {
        let (kind, stem) = (class(self.dtype(column)), format!("%e{}_{}", column.param, place_name(row)));
        let count = column.sides_of(row).count(distance, self.plan.lanes);
        (0..count).map(|n| self.w.named(kind, &format!("{stem}_{distance}_{n}"))).collect()
    }

    pub(super) fn rim(&mut self, column: &Column) -> Vec<String> {
        let kind = self.unit(column).0;
        (0..column.units).map(|unit| self.w.named(kind, &format!("%rim{}_{unit}", column.param))).collect()
    }

    pub(super) fn load_units(&mut self, space: &str, column: &Column, to: &[String], from: &Address) {
        let kind = self.unit(column).1;
        self.w.load_words(space, kind, to, from);
    }

    pub(super) fn row_slot(&self) -> Option<usize> {
        self.plan.across.then(|| self.x - 1)
    }

    /// Offsets of the kernel for a plane and a row.
    pub(super) fn offsets(&self, plane: i32, row: i32) -> Vec<i32> {
        let mut offsets = vec![0; self.plan.slots.len()];
        offsets[self.plan.slots[0]] = plane;
        if let Some(slot) = self.row_slot() {
            offsets[self.plan.slots[slot]] = row;
        }
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

    /// `%next` = a plane some planes after `%i0`; the last one again where that is the last.
    pub(super) fn next(&mut self, planes: usize) {
        self.w.op(&format!("add.s32 %next, %i0, {planes}"));
        self.w.op("min.s32 %next, %next, %most");
    }
}
