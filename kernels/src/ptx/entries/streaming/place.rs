//! Where a thread of streaming is: its planes, row and vector, and where these lie in memory and in shared
//! memory; which of its loads stick out of the region or come from other warps.

use super::registers::Streaming;
use crate::ptx::columns::{Column, HEIGHT, Reach, Sides, WIDTH, depth};
use crate::ptx::entries::vector::row_register;
use crate::ptx::schedule::place_name;
use crate::ptx::text::{Class, Field, PtxWriter, Quantity, register, size_bits};

impl Streaming<'_, '_> {
    /// The thread's planes, rows and points, and where they are in memory.
    pub(super) fn locate(&mut self) {
        let (x, lanes) = (self.x, self.plan.lanes);
        self.w.note("the planes of the block, and its place beside other blocks");
        let number = self.w.set(Class::B32, "mov.b32", &["%ctaid.z"]);
        let outer = self.row_slot().unwrap_or(x);
        self.w.digits(&number, 0..outer);
        for name in ["%first", "%last", "%tx", "%ty", "%x", "%begin", &format!("%i{x}")] {
            self.w.named(Class::B32, name);
        }
        let (planes, extent) = (self.w.field(Field::Planes), self.w.field(Field::Extent(0)));
        self.w.op(&format!("mul.lo.u32 %first, %i0, {planes}"));
        self.w.op(&format!("add.u32 %last, %first, {planes}"));
        self.w.op(&format!("min.u32 %last, %last, {extent}"));
        self.w.op("mov.b32 %tx, %tid.x");
        self.w.op("mov.b32 %ty, %tid.y");
        let tile = self.w.set(Class::B32, "mov.b32", &["%ctaid.x"]);
        let width = WIDTH.to_string();
        let row_inside = match self.row_slot() {
            Some(slot) => {
                self.w.op(&format!("mad.lo.u32 %x, {tile}, {width}, %tx"));
                Some(self.rows(slot))
            }
            None => {
                let tile = self.w.set(Class::B32, "mad.lo.u32", &[&tile, &HEIGHT.to_string(), "%ty"]);
                self.w.op(&format!("mad.lo.u32 %x, {tile}, {width}, %tx"));
                None
            }
        };
        for quantity in self.w.quantities() {
            let to = self.w.named(Field::Start(quantity).class(), &row_register(quantity));
            self.w.step(quantity, 1..x, None, &to);
        }
        self.w.note("its first point: its vectors are aligned in all planes");
        let leader = self.stores[0].param;
        let low = self.w.set(Class::B32, "cvt.u32.u64", &[&format!("%row{leader}")]);
        let bits = lanes.trailing_zeros().to_string();
        let size = size_bits(self.w.kernel.params[leader as usize].dtype).to_string();
        let phase = self.w.set(Class::B32, "bfe.u32", &[&low, &size, &bits]);
        let first = self.w.set(Class::B32, "shl.b32", &["%x", &bits]);
        self.w.op(&format!("sub.s32 %begin, {first}, {phase}"));
        let extent = self.w.field(Field::Extent(x));
        let inside = self.predicate("%inside");
        self.w.op(&format!("setp.lt.s32 {inside}, %begin, {extent}"));
        let last = self.w.set(Class::B32, "add.s32", &[&extent, &phase]);
        let last = self.w.set(Class::B32, "sub.s32", &[&last, "1"]);
        let last = self.w.set(Class::B32, "and.b32", &[&last, &(-(lanes as i64)).to_string()]);
        let beyond = self.plan.farthest() * lanes;
        let last = self.w.set(Class::B32, "sub.s32", &[&last, &phase]);
        let last = self.w.set(Class::B32, "add.s32", &[&last, &beyond.to_string()]);
        self.w.op(&format!("min.s32 %i{x}, %begin, {last}"));
        self.rims();
        if let Some(row_inside) = row_inside {
            self.w.op(&format!("and.pred {inside}, {inside}, {row_inside}"));
        }
        self.cuts(&extent);
        self.edges(&inside, &extent);
        for quantity in self.w.quantities() {
            let to = self.w.named(Field::Start(quantity).class(), &column_register(quantity));
            self.w.step(quantity, x..x + 1, Some(&row_register(quantity)), &to);
        }
        for column in self.columns() {
            self.base(column, (column.planes.1, 0), &format!("%own{}", column.param));
            for row in std::iter::once(0).chain(column.beside()) {
                let sides = column.sides_of(row);
                if sides != Sides::NONE {
                    for distance in 1..=sides.lanes(lanes) {
                        let name = edge_register(column, row, distance);
                        self.base(column, (sides.planes.1, row), &name);
                        let moved = self.edge_offset(column, sides, distance);
                        self.w.op(&format!("add.s64 {name}, {name}, {moved}"));
                    }
                }
            }
        }
        self.w.prologue();
        self.w.named(Class::B32, "%next");
        self.w.named(Class::B32, "%most");
        self.w.op("sub.s32 %most, %last, 1");
    }

    /// A thread's column, seen from a plane and a row.
    fn base(&mut self, column: &Column, (plane, row): (i32, i32), to: &str) {
        let from = format!("%column{}", column.param);
        let offsets = self.offsets(plane, row);
        let from = self.w.neighbour(column.param, &from, &offsets);
        self.w.named(Class::B64, to);
        self.w.op(&format!("mov.b64 {to}, {}", from.register));
    }

    /// The thread's row, and the predicate that it is inside. `%rows` of the block are.
    fn rows(&mut self, slot: usize) -> String {
        for name in ["%rows", "%top", "%row", &format!("%i{slot}")] {
            self.w.named(Class::B32, name);
        }
        let extent = self.w.field(Field::Extent(slot));
        let tile = self.w.set(Class::B32, "mov.b32", &["%ctaid.y"]);
        let height = HEIGHT.to_string();
        self.w.op(&format!("mul.lo.u32 %top, {tile}, {height}"));
        let left = self.w.set(Class::B32, "sub.u32", &[&extent, "%top"]);
        self.w.op(&format!("min.u32 %rows, {left}, {height}"));
        let inside = self.predicate("%row_inside");
        self.w.op(&format!("setp.lt.u32 {inside}, %ty, %rows"));
        let last = self.w.set(Class::B32, "sub.u32", &["%rows", "1"]);
        self.w.op(&format!("min.u32 %row, %ty, {last}"));
        self.w.op(&format!("add.u32 %i{slot}, %top, %row"));
        inside
    }

    /// For each column with neighbours across: the row at the rim that this thread loads, if any, and where
    /// its vectors are in shared memory.
    fn rims(&mut self) {
        let Some(slot) = self.row_slot() else { return };
        let (row, x) = (format!("%i{slot}"), self.x);
        for column in self.columns().iter().filter(|c| c.rows != (0, 0)) {
            let p = column.param;
            self.w.note(&format!("p{p}: rows of the rim, above and below those of the block"));
            let (above, all) = (-column.rows.0, depth(column.rows) - 1);
            let on = self.predicate(&format!("%on_rim{p}"));
            self.w.op(&format!("setp.lt.u32 {on}, %ty, {all}"));
            let is_above = self.w.set(Class::Pred, "setp.lt.u32", &["%ty", &above.to_string()]);
            let below = self.w.set(Class::B32, "add.s32", &["%ty", "%rows"]);
            let place = self.w.set(Class::B32, "selp.b32", &["%ty", &below, &is_above]);
            let from_top = self.w.set(Class::B32, "sub.s32", &[&place, &above.to_string()]);
            let own = self.w.set(Class::B32, "mov.b32", &[&row]);
            self.w.op(&format!("add.s32 {row}, %top, {from_top}"));
            let quantity = Quantity::Param(p);
            let at = self.w.named(Class::B64, &format!("%rows{p}"));
            self.w.step(quantity, 1..x + 1, None, &at);
            self.w.op(&format!("mov.b32 {row}, {own}"));
            let offsets = self.offsets(column.row_planes.1, 0);
            let from = self.w.neighbour(p, &at, &offsets);
            self.w.op(&format!("mov.b64 {at}, {}", from.register));
            let (size, lanes) = (self.size(column), self.plan.lanes);
            let name = format!("plane{p}");
            self.w.share_aligned(&name, column.shared_bytes(size, lanes), 16);
            let base = self.w.set(Class::B32, "mov.b32", &[&name]);
            let vector = (size * lanes).to_string();
            let base = self.w.set(Class::B32, "mad.lo.u32", &["%tx", &vector, &base]);
            let pitch = (size * lanes * WIDTH).to_string();
            for (name, row) in [
                ("%put", &self.w.set(Class::B32, "add.s32", &["%row", &above.to_string()])),
                ("%put_rim", &place),
            ] {
                let to = self.w.named(Class::B32, &format!("{name}{p}"));
                self.w.op(&format!("mad.lo.u32 {to}, {row}, {pitch}, {base}"));
            }
        }
    }

    /// The predicates that the thread's vector sticks out of the row, and for each column with neighbours
    /// that it sticks out farther than these.
    fn cuts(&mut self, extent: &str) {
        let (begin, lanes) = (format!("%i{}", self.x), self.plan.lanes);
        let end = self.w.named(Class::B32, "%end");
        self.w.op(&format!("add.s32 {end}, {begin}, {lanes}"));
        self.predicate("%cut");
        let head = self.w.set(Class::Pred, "setp.lt.s32", &[&begin, "0"]);
        self.w.op(&format!("setp.gt.or.s32 %cut, {end}, {extent}, {head}"));
        for column in self.columns() {
            let p = column.param;
            let far = |w: &mut PtxWriter, name: &str, (left, right): Reach| {
                let bare = w.named(Class::Pred, name);
                let head = w.set(Class::Pred, "setp.lt.s32", &[&begin, &left.to_string()]);
                let last = w.set(Class::B32, "add.s32", &[extent, &right.to_string()]);
                w.op(&format!("setp.gt.or.s32 {bare}, {end}, {last}, {head}"));
            };
            if column.sides != Sides::NONE {
                far(&mut self.w, &format!("%bare{p}"), column.sides.columns);
            }
            if column.rows != (0, 0) && column.row_sides != Sides::NONE {
                far(&mut self.w, &format!("%bare_rim{p}"), column.row_sides.columns);
            }
        }
    }

    /// The predicates that a neighbour so many lanes away is in another warp, and that the thread loads all
    /// neighbours there.
    fn edges(&mut self, inside: &str, extent: &str) {
        for distance in 1..=self.plan.farthest() {
            let [left, right] = ["%left", "%right"].map(|stem| self.predicate(&format!("{stem}{distance}")));
            let first = self.w.set(Class::Pred, "setp.lt.u32", &["%tx", &distance.to_string()]);
            self.w.op(&format!("and.pred {left}, {first}, {inside}"));
            let last = (WIDTH - distance).to_string();
            let last = self.w.set(Class::Pred, "setp.ge.u32", &["%tx", &last]);
            self.w.op(&format!("and.pred {right}, {last}, {inside}"));
            let begin = format!("%i{}", self.x);
            let left = self.w.set(Class::Pred, "setp.ge.and.s32", &[&begin, "0", &left]);
            let right = self.w.set(Class::Pred, "setp.le.and.s32", &["%end", extent, &right]);
            let reaches = self.plan.columns.iter().flat_map(|c| [c.sides.columns, c.row_sides.columns]);
            for reach in reaches.filter(|&reach| reach != (0, 0)) {
                let on = edge_predicate(reach, distance);
                let [a, b] = match reach {
                    (0, _) => [&right, &right],
                    (_, 0) => [&left, &left],
                    _ => [&left, &right],
                };
                self.predicate(&on);
                self.w.op(&format!("or.pred {on}, {a}, {b}"));
            }
        }
    }

    /// The distance in bytes from the thread's first element to the first that an edge lane loads.
    pub(super) fn edge_offset(&mut self, column: &Column, sides: Sides, distance: usize) -> String {
        let (size, lanes) = (self.size(column), self.plan.lanes);
        let left = -(((distance - 1) * lanes + sides.count(distance, lanes)) as i64);
        let [left, right] = [left, (distance * lanes) as i64].map(|at| (at * size as i64).to_string());
        self.w.set(Class::B64, "selp.b64", &[&left, &right, &format!("%left{distance}")])
    }
}

/// The register of a quantity at the thread's first point, in the region's first plane.
pub(super) fn column_register(quantity: Quantity) -> String {
    match quantity {
        Quantity::Param(p) => format!("%column{p}"),
        Quantity::Coord(..) => format!("{}_column", register(quantity)),
    }
}

/// Where the edge lanes of a row load their neighbours so many vectors away, in the region's first plane.
pub(super) fn edge_register(column: &Column, row: i32, distance: usize) -> String {
    format!("%edges{}_{}_{distance}", column.param, place_name(row))
}

/// The predicate that a thread loads all neighbours that are so many vectors away.
pub(super) fn edge_predicate(reach: Reach, distance: usize) -> String {
    let sides = match reach {
        (0, _) => "_right",
        (_, 0) => "_left",
        _ => "",
    };
    format!("%edge{sides}{distance}")
}
