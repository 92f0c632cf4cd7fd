//! The place of a thread of streaming: its planes, row and vector, in memory and in shared memory; and which
//! of its loads stick out of the region or come from other warps.

use super::registers::{Streaming, TileRow};
use crate::ptx::columns::{Column, HEIGHT, Reach, Sides, WIDTH, depth};
use crate::ptx::entries::pointwise::row_register;
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
        self.tiles();
        self.cuts(&extent);
        self.edges(&extent);
        if let Some(row_inside) = row_inside {
            self.w.op(&format!("and.pred {inside}, {inside}, {row_inside}"));
        }
        for quantity in self.w.quantities() {
            let to = self.w.named(Field::Start(quantity).class(), &column_register(quantity));
            self.w.step(quantity, x..x + 1, Some(&row_register(quantity)), &to);
        }
        for column in self.columns() {
            let p = column.param;
            self.base(&format!("%column{p}"), column, column.planes.1, &format!("%own{p}"));
            if column.is_tile() && column.apart {
                self.base(&format!("%column{p}"), column, column.tile_planes().1, &format!("%again{p}"));
            }
            for (row, from) in [(TileRow::Own, format!("%column{p}")), (TileRow::Rim, format!("%rim{p}"))] {
                let Some(sides) = edge_sides(column, row) else { continue };
                for distance in 1..=sides.lanes(lanes) {
                    let name = edge_register(column, row, distance);
                    self.base(&from, column, sides.planes.1, &name);
                    let moved = self.edge_offset(column, sides, distance);
                    self.w.op(&format!("add.s64 {name}, {name}, {moved}"));
                    let moved = self.w.set(Class::B32, "cvt.u32.u64", &[&moved]);
                    let put = self.in_tile(column, row, (0, 0)).register;
                    let slot = self.w.named(Class::B32, &edge_slot(column, row, distance));
                    self.w.op(&format!("add.u32 {slot}, {put}, {moved}"));
                }
            }
            if column.rows != (0, 0) {
                self.base(&format!("%rim{p}"), column, column.row_planes.1, &format!("%rows{p}"));
            }
        }
        self.margins();
        self.w.prologue();
        for name in ["%after", "%most"] {
            self.w.named(Class::B32, name);
        }
        self.w.op("sub.s32 %most, %last, 1");
    }

    /// An address some planes further on.
    fn base(&mut self, from: &str, column: &Column, planes: i32, to: &str) {
        let offsets = self.offsets(planes);
        let from = self.w.neighbour(column.param, from, &offsets);
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

    /// For each column in shared memory: where the thread's vector is there; the row at the rim that it
    /// fills, if any, and where that is.
    fn tiles(&mut self) {
        let lanes = self.plan.lanes;
        for column in self.columns().iter().filter(|c| c.is_shared()) {
            let (p, size) = (column.param, self.size(column));
            self.w.note(&format!(
                "p{p}: its planes in shared memory, and rows above and below those of the block"
            ));
            let first = self.w.share_at_launch(column.plane_bytes(size, lanes) * self.plan.unroll);
            let vector = (size * lanes).to_string();
            let base = self.w.set(Class::B32, "mov.b32", &["planes"]);
            let base = self.w.set(Class::B32, "add.u32", &[&base, &first.to_string()]);
            let base = self.w.set(Class::B32, "mad.lo.u32", &["%tx", &vector, &base]);
            let pitch = column.row_bytes(size, lanes).to_string();
            if column.apart {
                let mine = self.w.named(Class::B32, &format!("%mine{p}"));
                let row = (WIDTH * lanes * size).to_string();
                self.w.op(&format!("mad.lo.u32 {mine}, %ty, {row}, {base}"));
                self.w.op(&format!("add.u32 {mine}, {mine}, {}", column.tile_bytes(size, lanes)));
            }
            if !column.is_tile() {
                continue;
            }
            let margin = (column.farthest(lanes) * lanes * size).to_string();
            let base = self.w.set(Class::B32, "add.u32", &[&base, &margin]);
            let put = self.w.named(Class::B32, &format!("%put{p}"));
            let Some(slot) = self.row_slot() else {
                self.w.op(&format!("mad.lo.u32 {put}, %ty, {pitch}, {base}"));
                continue;
            };
            let (above, all) = (-column.rows.0, depth(column.rows) - 1);
            let own = self.w.set(Class::B32, "add.s32", &["%row", &above.to_string()]);
            self.w.op(&format!("mad.lo.u32 {put}, {own}, {pitch}, {base}"));
            if all == 0 {
                continue;
            }
            let on = self.predicate(&format!("%on_rim{p}"));
            self.w.op(&format!("setp.lt.u32 {on}, %ty, {all}"));
            let is_above = self.w.set(Class::Pred, "setp.lt.u32", &["%ty", &above.to_string()]);
            let below = self.w.set(Class::B32, "add.s32", &["%ty", "%rows"]);
            let place = self.w.set(Class::B32, "selp.b32", &["%ty", &below, &is_above]);
            let put = self.w.named(Class::B32, &format!("%put_rim{p}"));
            self.w.op(&format!("mad.lo.u32 {put}, {place}, {pitch}, {base}"));
            let from_top = self.w.set(Class::B32, "sub.s32", &[&place, &above.to_string()]);
            let row = format!("%i{slot}");
            let own = self.w.set(Class::B32, "mov.b32", &[&row]);
            self.w.op(&format!("add.s32 {row}, %top, {from_top}"));
            let at = self.w.named(Class::B64, &format!("%rim{p}"));
            self.w.step(Quantity::Param(p), 1..self.x + 1, None, &at);
            self.w.op(&format!("mov.b32 {row}, {own}"));
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

    /// For each column with neighbours sideways, and how many vectors away these are, predicates: that the
    /// thread copies those at the edge of its warp, as a whole (`%edge`) or element by element (`%loose`).
    fn edges(&mut self, extent: &str) {
        let (begin, lanes) = (format!("%i{}", self.x), self.plan.lanes as i32);
        for column in self.columns() {
            let Some(sides) = edge_sides(column, TileRow::Own) else { continue };
            let beyond = self.w.set(Class::B32, "sub.s32", &["%end", extent]);
            for distance in 1..=sides.lanes(self.plan.lanes) {
                let [_, copied] = self.edge_elements(column, sides, distance).map(|n| n as i32);
                let near = (distance as i32 - 1) * lanes;
                let (left, right) = (sides.columns.0 + near, sides.columns.1 - near);
                let mut test = |operation: &str, a: &str, b: i32, and: &str| {
                    self.w.set(Class::Pred, operation, &[a, &b.to_string(), and])
                };
                // Some of them are read; all that is copied is read.
                let on_left = test("setp.gt.and.s32", &begin, left, "%inside");
                let first = test("setp.eq.and.u32", "%tx", 0, &on_left);
                let whole = test("setp.ge.and.s32", &begin, left + copied, &first);
                let on_right = self.w.set(Class::Pred, "setp.lt.s32", &[&beyond, &right.to_string()]);
                let mut test = |operation: &str, a: &str, b: i32, and: &str| {
                    self.w.set(Class::Pred, operation, &[a, &b.to_string(), and])
                };
                let last = test("setp.eq.and.u32", "%tx", WIDTH as i32 - 1, &on_right);
                let also = test("setp.le.and.s32", &beyond, right - copied, &last);
                let whole = self.w.set(Class::Pred, "or.pred", &[&whole, &also]);
                let any = self.w.set(Class::Pred, "or.pred", &[&first, &last]);
                let loose = self.w.set(Class::Pred, "xor.pred", &[&any, &whole]);
                for row in
                    [TileRow::Own, TileRow::Rim].into_iter().filter(|&row| edge_sides(column, row).is_some())
                {
                    let fills = self.fills(column, row);
                    for (stem, on) in [("%edge", &whole), ("%loose", &loose)] {
                        let name = self.predicate(&edge_predicate(stem, column, row, distance));
                        let fills = fills.as_ref().unwrap_or(on);
                        self.w.op(&format!("and.pred {name}, {on}, {fills}"));
                    }
                }
            }
        }
    }

    /// Fills what is beside a warp's rows with zeros: it is read, if only for points that are outside.
    fn margins(&mut self) {
        if self.plan.farthest() == 0 {
            return;
        }
        let [left, right] = ["%first_lane", "%last_lane"].map(|name| self.predicate(name));
        self.w.op(&format!("setp.eq.u32 {left}, %tx, 0"));
        self.w.op(&format!("setp.eq.u32 {right}, %tx, {}", WIDTH - 1));
        let zero = self.w.set(Class::B32, "mov.b32", &["0"]);
        for column in self.columns() {
            let bytes = self.size(column) * self.plan.lanes;
            let zeros = vec![zero.clone(); bytes / 4];
            for row in [TileRow::Own, TileRow::Rim] {
                let Some(sides) = edge_sides(column, row) else { continue };
                let fills = self.fills(column, row);
                for (lane, side) in [(&left, -1), (&right, 1)] {
                    let on = match &fills {
                        Some(fills) => self.w.set(Class::Pred, "and.pred", &[lane, fills]),
                        None => lane.clone(),
                    };
                    for plane in 0..self.plan.unroll as i32 {
                        for distance in 1..=sides.lanes(self.plan.lanes) as i64 {
                            let mut to = self.in_tile(column, row, (plane, 0));
                            to.bytes += side * distance * bytes as i64;
                            self.w.guarded(&on, |w| w.store_words("shared", "b32", &zeros, &to));
                        }
                    }
                }
            }
        }
        self.w.op("bar.sync 0");
    }

    /// The predicate that a thread fills its place of a row in shared memory; none if every thread does.
    pub(super) fn fills(&self, column: &Column, row: TileRow) -> Option<String> {
        match row {
            TileRow::Own => self.row_slot().map(|_| "%row_inside".to_owned()),
            TileRow::Rim => Some(format!("%on_rim{}", column.param)),
        }
    }

    /// The distance in bytes from the thread's first element to the first that an edge lane copies.
    pub(super) fn edge_offset(&mut self, column: &Column, sides: Sides, distance: usize) -> String {
        let (size, lanes) = (self.size(column), self.plan.lanes);
        let [_, copied] = self.edge_elements(column, sides, distance);
        let left = -(((distance - 1) * lanes + copied) as i64);
        let [left, right] = [left, (distance * lanes) as i64].map(|at| (at * size as i64).to_string());
        let is_left = self.w.set(Class::Pred, "setp.eq.u32", &["%tx", "0"]);
        self.w.set(Class::B64, "selp.b64", &[&left, &right, &is_left])
    }

    /// Neighbours in a single word come from other lanes of the warp, not out of shared memory, whose banks
    /// words of different vectors share.
    pub(super) fn by_shuffle(&self, column: &Column, sides: Sides, distance: usize) -> bool {
        let [count, _] = self.edge_elements(column, sides, distance);
        count == 1 || count * self.size(column) <= 4
    }
}

/// The neighbours in a row at the edges of a warp, if there are any.
pub(super) fn edge_sides(column: &Column, row: TileRow) -> Option<Sides> {
    let sides = match row {
        TileRow::Own => column.sides,
        TileRow::Rim => column.row_sides,
    };
    (sides != Sides::NONE).then_some(sides)
}

/// The register of a quantity at the thread's first point, in the region's first plane.
pub(super) fn column_register(quantity: Quantity) -> String {
    match quantity {
        Quantity::Param(p) => format!("%column{p}"),
        Quantity::Coord(..) => format!("{}_column", register(quantity)),
    }
}

/// The register with the address of the edge lanes' neighbours so many vectors away, in the first plane.
pub(super) fn edge_register(column: &Column, row: TileRow, distance: usize) -> String {
    let stem = match row {
        TileRow::Own => "%edges",
        TileRow::Rim => "%rim_edges",
    };
    format!("{stem}{}_{distance}", column.param)
}

/// The register with the address of these in shared memory.
pub(super) fn edge_slot(column: &Column, row: TileRow, distance: usize) -> String {
    edge_register(column, row, distance) + "_put"
}

/// A predicate of the neighbours of a column that are so many vectors away.
pub(super) fn edge_predicate(stem: &str, column: &Column, row: TileRow, distance: usize) -> String {
    let rim = match row {
        TileRow::Own => "",
        TileRow::Rim => "_rim",
    };
    format!("{stem}{rim}{}_{distance}", column.param)
}
