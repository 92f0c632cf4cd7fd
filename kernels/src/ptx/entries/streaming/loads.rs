//! Loads of a thread of streaming: whole vectors where it can, and away from the loop, element by element,
//! those that stick out of what the kernel reads.

use super::place::{edge_predicate, edge_register, edge_sides, edge_slot};
use super::registers::{Fetch, Part, SlowPath, Streaming, TileRow};
use crate::dtype::DType;
use crate::ir::Access;
use crate::ptx::columns::{Column, Reach, Sides, depth};
use crate::ptx::text::{Address, Class, Field, PtxWriter, class, size_bits};

impl Streaming<'_, '_> {
    /// Asks for something; vectors that stick out element by element, elsewhere.
    pub(super) fn fetch(&mut self, all: Vec<Fetch>) {
        for fetch in all {
            let Some(cut) = self.is_cut(fetch) else {
                self.fetch_whole(fetch);
                continue;
            };
            let (from, back) = (self.w.label("PIECES"), self.w.label("LOADED"));
            self.w.op(&format!("@{cut} bra {from}"));
            self.fetch_whole(fetch);
            self.w.place(&back);
            self.slow_paths.push(SlowPath { from, back, fetch });
        }
    }

    /// The predicate that a load takes elements that the kernel does not read; none if it never does.
    fn is_cut(&mut self, Fetch { column, part, turn }: Fetch) -> Option<String> {
        let column = &self.plan.columns[column];
        let (sides, highest, bare) = match part {
            Part::Column => (column.sides, column.planes.1, "%bare"),
            Part::SharedCopy => (column.sides, column.tile_planes().1, "%bare"),
            Part::HaloRow => (column.row_sides, column.row_planes.1, "%bare_rim"),
            Part::WarpEdge { row, distance } => return Some(edge_predicate("%loose", column, row, distance)),
        };
        let early = part != Part::HaloRow && highest + turn < sides.planes.0;
        if sides == Sides::NONE || early {
            return Some("%cut".to_owned());
        }
        let bare = format!("{bare}{}", column.param);
        if highest == sides.planes.1 {
            return Some(bare);
        }
        let last = self.w.set(Class::B32, "sub.s32", &["%most", &(highest - sides.planes.1).to_string()]);
        let far = self.w.set(Class::Pred, "setp.gt.or.s32", &["%after", &last, &bare]);
        Some(self.w.set(Class::Pred, "and.pred", &[&far, "%cut"]))
    }

    /// The address of the first element of a load.
    fn source(&mut self, column: &Column, part: Part) -> String {
        let p = column.param;
        let base = match part {
            Part::Column => format!("%own{p}"),
            Part::SharedCopy => format!("%again{p}"),
            Part::HaloRow => format!("%rows{p}"),
            Part::WarpEdge { row, distance } => edge_register(column, row, distance),
        };
        self.in_plane(p, &base, "%after")
    }

    /// The address of a vector in shared memory, and the predicate that the thread fills that place.
    fn destination(&self, column: &Column, part: Part, turn: i32) -> (Address, Option<String>) {
        let (row, lead) = match part {
            Part::Column if column.apart => return (self.own_place(column, turn), None),
            Part::HaloRow => (TileRow::Rim, column.row_planes.1),
            _ => (TileRow::Own, column.tile_planes().1),
        };
        (self.in_tile(column, row, (turn, lead)), self.fills(column, row))
    }

    fn fetch_whole(&mut self, Fetch { column, part, turn }: Fetch) {
        let column = &self.columns()[column];
        let from = Address::at(&self.source(column, part));
        let bytes = self.size(column) * self.plan.lanes;
        match part {
            Part::Column if !column.is_shared() => {
                let to = self.units(column, 0, turn + depth(column.planes) as i32 - 1);
                let (space, (class, kind)) = (self.w.space(column.param), self.unit(column));
                let load = |w: &mut PtxWriter| w.load_words(space, kind, &to, &from);
                match self.w.kernel.params[column.param as usize].access {
                    Access::In => load(&mut self.w),
                    // Another thread writes what one beyond the region would read. All registers are set, or
                    // they would be kept from plane to plane.
                    Access::Out | Access::InOut => {
                        for unit in &to {
                            self.w.op(&format!("mov.{} {unit}, {}", class.name(), zero(class)));
                        }
                        self.w.guarded("%inside", load);
                    }
                }
            }
            Part::Column | Part::SharedCopy | Part::HaloRow => {
                let (to, on) = self.destination(column, part, turn);
                match on {
                    Some(on) => self.w.guarded(&on, |w| w.copy_async(&to, &from, bytes)),
                    None => self.w.copy_async(&to, &from, bytes),
                }
            }
            Part::WarpEdge { row, distance } => {
                let Some(sides) = edge_sides(column, row) else { return };
                let [_, copied] = self.edge_elements(column, sides, distance);
                let all = copied * self.size(column);
                // Three words are aligned for one.
                let piece = if all.is_power_of_two() { all } else { 4.max(self.size(column)) };
                let to = self.in_tile(column, row, (turn, sides.planes.1));
                let to = Address { register: edge_slot(column, row, distance), ..to };
                self.w.guarded(&edge_predicate("%edge", column, row, distance), |w| {
                    for at in (0..all).step_by(piece) {
                        let [to, from] = [&to, &from].map(|a| a.plus(at));
                        w.copy_async(&to, &from, piece);
                    }
                });
            }
        }
    }

    /// The same loads element by element, those of the elements that the kernel reads.
    pub(super) fn slow_path(&mut self, slow_path: &SlowPath) {
        self.w.place(&slow_path.from);
        let Fetch { column, part, turn } = slow_path.fetch;
        let column = &self.columns()[column];
        let at = self.source(column, part);
        match part {
            Part::Column if !column.is_shared() => {
                let to = self.units(column, 0, turn + depth(column.planes) as i32 - 1);
                let guard = match self.w.kernel.params[column.param as usize].access {
                    Access::In => None,
                    Access::Out | Access::InOut => Some("%inside".to_owned()),
                };
                self.pieces(column, &to, &at, guard);
            }
            Part::Column | Part::SharedCopy | Part::HaloRow => {
                let (sides, lead) = match part {
                    Part::HaloRow => (column.row_sides, column.row_planes.1),
                    Part::SharedCopy => (column.sides, column.tile_planes().1),
                    _ => (column.sides, column.planes.1),
                };
                let early = part != Part::HaloRow && lead + turn < sides.planes.0;
                let sides = if early { Sides::NONE } else { sides };
                let near = self.near(sides, lead);
                let (to, on) = self.destination(column, part, turn);
                for n in 0..self.plan.lanes {
                    let inside = self.element_inside(&n.to_string(), sides.columns, &near, on.as_deref());
                    self.copy_element(column, (&to, &at), n, &inside, on.as_deref());
                }
            }
            Part::WarpEdge { row, distance } => {
                let Some(sides) = edge_sides(column, row) else { return };
                let [_, copied] = self.edge_elements(column, sides, distance);
                let moved = self.edge_offset(column, sides, distance);
                let moved = self.w.set(Class::B32, "cvt.u32.u64", &[&moved]);
                let bits = size_bits(self.dtype(column)).to_string();
                let first = self.w.set(Class::B32, "shr.s32", &[&moved, &bits]);
                let to = self.in_tile(column, row, (turn, sides.planes.1));
                let to = Address { register: edge_slot(column, row, distance), ..to };
                for n in 0..copied {
                    let position = self.w.set(Class::B32, "add.s32", &[&first, &n.to_string()]);
                    let inside = self.element_inside(&position, sides.columns, "1", None);
                    self.copy_element(column, (&to, &at), n, &inside, None);
                }
            }
        }
        self.w.op(&format!("bra {}", slow_path.back));
    }

    /// One element into shared memory, or 0 in its place.
    fn copy_element(
        &mut self,
        column: &Column,
        (to, at): (&Address, &str),
        n: usize,
        inside: &str,
        fills: Option<&str>,
    ) {
        let size = self.size(column);
        let (to, from) = (to.plus(n * size), Address::at(at).plus(n * size));
        let kind = format!("b{}", size * 8);
        let class = if size == 8 { Class::B64 } else { Class::B32 };
        let zero = self.w.set(class, &format!("mov.{}", class.name()), &["0"]);
        let store = |w: &mut PtxWriter, value: &str| {
            let kind = if size == 2 { "u16" } else { &kind };
            w.op(&format!("st.shared.{kind} {to}, {value}"));
        };
        if size == 2 {
            // Copies have 4 bytes at least.
            let space = self.w.space(column.param);
            self.w.guarded(inside, |w| w.op(&format!("ld.{space}.u16 {zero}, {from}")));
            match fills {
                Some(on) => self.w.guarded(on, |w| store(w, &zero)),
                None => store(&mut self.w, &zero),
            }
            return;
        }
        self.w.guarded(inside, |w| w.copy_async(&to, &from, size));
        let missing = match fills {
            Some(on) => self.w.set(Class::Pred, "xor.pred", &[inside, on]),
            None => self.w.set(Class::Pred, "not.pred", &[inside]),
        };
        self.w.guarded(&missing, |w| store(w, &zero));
    }

    /// 1 if neighbours are read in the plane that is requested, `highest` above `%after`, 0 if not.
    fn near(&mut self, sides: Sides, highest: i32) -> String {
        if sides == Sides::NONE {
            return "0".to_owned();
        }
        let last = (highest - sides.planes.1).to_string();
        let last = self.w.set(Class::B32, "sub.s32", &["%most", &last]);
        let read = self.w.set(Class::Pred, "setp.le.s32", &["%after", &last]);
        self.w.set(Class::B32, "selp.b32", &["1", "0", &read])
    }

    /// The elements of a vector in the row, into registers.
    fn pieces(&mut self, column: &Column, to: &[String], at: &str, guard: Option<String>) {
        let dtype = self.dtype(column);
        for (n, unit) in to.iter().enumerate() {
            let packed = self.unit(column).0 != class(dtype) || column.per_unit > 1;
            let mut elements = Vec::new();
            for within in 0..column.per_unit {
                let position = n * column.per_unit + within;
                let inside = self.element_inside(&position.to_string(), (0, 0), "0", guard.as_deref());
                let (kind, memory) = element_class(dtype);
                let element = if packed { self.w.temp(kind) } else { unit.clone() };
                self.w.op(&format!("mov.{} {element}, {}", kind.name(), zero(kind)));
                let from = Address::at(at).plus(position * dtype.size_bytes());
                let space = self.w.space(column.param);
                let element = [element];
                self.w.guarded(&inside, |w| w.load_words(space, memory, &element, &from));
                elements.extend(element);
            }
            if packed {
                self.w.pack_into(dtype, unit, &elements);
            }
        }
    }

    /// The predicate that an element is in the row, or within `reach` of it where `near` is not 0.
    pub(super) fn element_inside(
        &mut self,
        position: &str,
        reach: Reach,
        near: &str,
        and: Option<&str>,
    ) -> String {
        let extent = self.w.field(Field::Extent(self.x));
        let at = self.w.set(Class::B32, "add.s32", &[&format!("%i{}", self.x), position]);
        let (low, high) = match near {
            "0" => ("0".to_owned(), extent),
            _ => {
                let low = self.w.set(Class::B32, "mul.lo.s32", &[near, &reach.0.to_string()]);
                (low, self.w.set(Class::B32, "mad.lo.s32", &[near, &reach.1.to_string(), &extent]))
            }
        };
        let from = self.w.set(Class::Pred, "setp.ge.s32", &[&at, &low]);
        let inside = self.w.set(Class::Pred, "setp.lt.and.s32", &[&at, &high, &from]);
        match and {
            Some(other) => self.w.set(Class::Pred, "and.pred", &[&inside, other]),
            None => inside,
        }
    }
}

fn zero(class: Class) -> &'static str {
    match class {
        Class::F32 => "0f00000000",
        Class::F64 => "0d0000000000000000",
        _ => "0",
    }
}

/// An element in a register of its own, as its bits, and its type in memory.
fn element_class(dtype: DType) -> (Class, &'static str) {
    match (dtype.size_bytes(), class(dtype)) {
        (1, _) => (Class::B32, "u8"),
        (2, Class::B16) => (Class::B16, "b16"),
        (2, _) => (Class::B32, "u16"),
        (_, class) => (class, class.name()),
    }
}
