//! What a thread of streaming loads: whole vectors where it can, and away from the loop, element by element,
//! those that stick out of what the kernel reads.

use super::place::{edge_predicate, edge_register};
use super::registers::{Detour, Fetch, Streaming};
use crate::dtype::DType;
use crate::ir::Access;
use crate::ptx::columns::{Column, Reach, Sides};
use crate::ptx::text::{Address, Class, Field, PtxWriter, class, size_bits};

impl Streaming<'_, '_> {
    /// Loads something; vectors that stick out element by element, elsewhere.
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
            self.detours.push(Detour { from, back, fetch });
        }
    }

    /// The predicate that a load takes elements that the kernel does not read; none if it never does.
    fn is_cut(&mut self, fetch: Fetch) -> Option<String> {
        let (column, place, after) = match fetch {
            Fetch::Own { column, place, after } => (&self.plan.columns[column], Some(place), after),
            Fetch::Rim { column, after } => (&self.plan.columns[column], None, after),
            Fetch::Edges { column, row, .. } => {
                let sides = self.plan.columns[column].sides_of(row);
                return (sides.count(1, self.plan.lanes) > 1).then(|| "%cut".to_owned());
            }
        };
        let (sides, highest, bare) = match place {
            Some(_) => (column.sides, column.planes.1, "%bare"),
            None => (column.row_sides, column.row_planes.1, "%bare_rim"),
        };
        let early = place.is_some_and(|place| column.planes.0 + (place as i32) < sides.planes.0);
        if sides == Sides::NONE || early {
            return Some("%cut".to_owned());
        }
        let bare = format!("{bare}{}", column.param);
        if highest == sides.planes.1 {
            return Some(bare);
        }
        let last = self.w.set(Class::B32, "sub.s32", &["%most", &(highest - sides.planes.1).to_string()]);
        let far = self.w.set(Class::Pred, "setp.gt.or.s32", &[after, &last, &bare]);
        Some(self.w.set(Class::Pred, "and.pred", &[&far, "%cut"]))
    }

    fn fetch_whole(&mut self, fetch: Fetch) {
        match fetch {
            Fetch::Own { column, place, after } => {
                let column = &self.columns()[column];
                let at = self.in_plane(column.param, &format!("%own{}", column.param), after);
                let to = self.units(column, 0, place as i32);
                let space = self.w.space(column.param);
                let kind = self.unit(column).1;
                let load = |w: &mut PtxWriter| w.load_words(space, kind, &to, &Address::at(&at));
                match self.w.kernel.params[column.param as usize].access {
                    Access::In => load(&mut self.w),
                    // Another thread writes what one beyond the region would read.
                    Access::Out | Access::InOut => self.w.guarded("%inside", load),
                }
            }
            Fetch::Rim { column, after } => {
                let column = &self.columns()[column];
                let p = column.param;
                let at = self.in_plane(p, &format!("%rows{p}"), after);
                let to = self.rim(column);
                let (space, kind) = (self.w.space(p), self.unit(column).1);
                let load = |w: &mut PtxWriter| w.load_words(space, kind, &to, &Address::at(&at));
                self.w.guarded(&format!("%on_rim{p}"), load);
            }
            Fetch::Edges { column, row, after } => {
                let column = &self.columns()[column];
                let (dtype, space) = (self.dtype(column), self.w.space(column.param));
                for distance in 1..=column.sides_of(row).lanes(self.plan.lanes) {
                    let to = self.edge(column, row, distance);
                    let at = self.in_plane(column.param, &edge_register(column, row, distance), after);
                    let on = edge_predicate(column.sides_of(row).columns, distance);
                    self.w.guarded(&on, |w| {
                        // Three neighbours are aligned for none of two.
                        let run = if to.len().is_power_of_two() { to.len() } else { 1 };
                        for (n, to) in to.chunks(run).enumerate() {
                            let bytes = (n * run * dtype.size_bytes()) as i64;
                            w.load_run(space, dtype, to, &Address { register: at.clone(), bytes });
                        }
                    });
                }
            }
        }
    }

    /// The same loads element by element, those of the elements that the kernel reads.
    pub(super) fn detour(&mut self, detour: &Detour) {
        self.w.place(&detour.from);
        match detour.fetch {
            Fetch::Own { column, place, after } => {
                let column = &self.columns()[column];
                let at = self.in_plane(column.param, &format!("%own{}", column.param), after);
                let to = self.units(column, 0, place as i32);
                let early = column.planes.0 + (place as i32) < column.sides.planes.0;
                let sides = if early { Sides::NONE } else { column.sides };
                let guard = match self.w.kernel.params[column.param as usize].access {
                    Access::In => None,
                    Access::Out | Access::InOut => Some("%inside".to_owned()),
                };
                self.pieces(column, &to, &at, (sides, column.planes.1, after), guard);
            }
            Fetch::Rim { column, after } => {
                let column = &self.columns()[column];
                let p = column.param;
                let at = self.in_plane(p, &format!("%rows{p}"), after);
                let to = self.rim(column);
                let guard = Some(format!("%on_rim{p}"));
                self.pieces(column, &to, &at, (column.row_sides, column.row_planes.1, after), guard);
            }
            Fetch::Edges { column, row, after } => {
                let column = &self.columns()[column];
                let (dtype, sides) = (self.dtype(column), column.sides_of(row));
                let (lanes, space) = (self.plan.lanes, self.w.space(column.param));
                for distance in 1..=sides.lanes(lanes) {
                    let at = self.in_plane(column.param, &edge_register(column, row, distance), after);
                    let (left, right) = (format!("%left{distance}"), format!("%right{distance}"));
                    let on = match sides.columns {
                        (0, _) => right,
                        (_, 0) => left.clone(),
                        _ => self.w.set(Class::Pred, "or.pred", &[&left, &right]),
                    };
                    let moved = self.edge_offset(column, sides, distance);
                    let moved = self.w.set(Class::B32, "cvt.u32.u64", &[&moved]);
                    let bits = size_bits(dtype).to_string();
                    let first = self.w.set(Class::B32, "shr.s32", &[&moved, &bits]);
                    for (n, to) in self.edge(column, row, distance).into_iter().enumerate() {
                        let position = self.w.set(Class::B32, "add.s32", &[&first, &n.to_string()]);
                        let inside = self.element_inside(&position, sides.columns, "1", Some(&on));
                        let from = Address { register: at.clone(), bytes: (n * dtype.size_bytes()) as i64 };
                        self.w.guarded(&inside, |w| w.load_run(space, dtype, &[to], &from));
                    }
                }
            }
        }
        self.w.op(&format!("bra {}", detour.back));
    }

    /// The elements of a vector in the row, and those beside it if this plane is one in which they are read:
    /// planes are `highest` above the number in `after`.
    fn pieces(
        &mut self,
        column: &Column,
        to: &[String],
        at: &str,
        (sides, highest, after): (Sides, i32, &str),
        guard: Option<String>,
    ) {
        let near = match sides {
            Sides::NONE => "0".to_owned(),
            sides => {
                let last = (highest - sides.planes.1).to_string();
                let last = self.w.set(Class::B32, "sub.s32", &["%most", &last]);
                let read = self.w.set(Class::Pred, "setp.le.s32", &[after, &last]);
                self.w.set(Class::B32, "selp.b32", &["1", "0", &read])
            }
        };
        let dtype = self.dtype(column);
        for (n, unit) in to.iter().enumerate() {
            let packed = self.unit(column).0 != class(dtype) || column.per_unit > 1;
            let mut elements = Vec::new();
            for within in 0..column.per_unit {
                let position = (n * column.per_unit + within) as i32;
                let inside =
                    self.element_inside(&position.to_string(), sides.columns, &near, guard.as_deref());
                let (kind, memory) = element_class(dtype);
                let element = if packed { self.w.temp(kind) } else { unit.clone() };
                let zero = match kind {
                    Class::F32 => "0f00000000",
                    Class::F64 => "0d0000000000000000",
                    _ => "0",
                };
                self.w.op(&format!("mov.{} {element}, {zero}", kind.name()));
                let from = Address {
                    register: at.to_owned(),
                    bytes: i64::from(position) * dtype.size_bytes() as i64,
                };
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

/// An element in a register of its own, as its bits, and its type in memory.
fn element_class(dtype: DType) -> (Class, &'static str) {
    match (dtype.size_bytes(), class(dtype)) {
        (1, _) => (Class::B32, "u8"),
        (2, Class::B16) => (Class::B16, "b16"),
        (2, _) => (Class::B32, "u16"),
        (_, class) => (class, class.name()),
    }
}
