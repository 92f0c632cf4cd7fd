//! The loop over the planes: what a thread gives to others and takes from them, the points it computes, and
//! how columns move on.

use std::collections::BTreeMap;

use super::place::{column_register, edge_sides};
use super::registers::{Fetch, Part, Streaming, TileRow};
use crate::dtype::DType;
use crate::ir::{Form, Op};
use crate::ptx::columns::{Column, Reach, Sides, StreamingPlan, WIDTH, depth};
use crate::ptx::text::{
    Address, Class, Entry, Field, Point, PtxTarget, PtxWriter, Quantity, class, register,
};
use crate::verify::Verified;

/// The entry `streaming`.
pub(crate) fn entry(verified: &Verified, target: &PtxTarget, plan: &StreamingPlan) -> Entry {
    let Form::Elementwise { stores } = &verified.kernel().form else { unreachable!("only these stream") };
    let mut stream = Streaming {
        x: plan.slots.len() - 1,
        w: PtxWriter::new(verified, target),
        plan,
        stores,
        slow_paths: Vec::new(),
    };
    stream.w.side_by_side(plan.blocks);
    if plan.blocks > 1 {
        stream.w.points_together();
    }
    stream.locate();
    stream.fill();
    stream.planes();
    for slow_path in std::mem::take(&mut stream.slow_paths) {
        stream.slow_path(&slow_path);
    }
    stream.w.finish("streaming")
}

impl Streaming<'_, '_> {
    /// Fills the registers with the planes before the first: turns that compute nothing.
    fn fill(&mut self) {
        self.w.note("what the first plane needs of those before it");
        let (before, ahead) = (self.plan.fill() as i32, self.plan.ahead as i32);
        for turn in -(before + ahead)..0 {
            if turn >= -before {
                self.arrive();
            }
            self.w.op(&format!("add.s32 %after, %first, {}", turn + ahead));
            self.ask(turn + ahead);
            if turn >= -before {
                self.take(turn);
            }
        }
    }

    /// The loop over the planes.
    fn planes(&mut self) {
        let turns = self.plan.unroll as i32;
        self.w.op("mov.b32 %i0, %first");
        self.w.place("STREAM");
        for turn in 0..turns {
            self.w.note(&format!("plane {turn} of {turns}"));
            self.arrive();
            self.w.op(&format!("add.s32 %after, %i0, {}", self.plan.ahead));
            self.ask(turn + self.plan.ahead as i32);
            self.take(turn);
            self.compute(turn);
            self.w.op("add.s32 %i0, %i0, 1");
            if turn + 1 < turns {
                let over = self.w.set(Class::Pred, "setp.ge.s32", &["%i0", "%last"]);
                self.w.op(&format!("@{over} ret"));
            }
        }
        self.w.note("columns move on");
        for column in self.columns() {
            self.shift(column, turns);
        }
        let more = self.w.set(Class::Pred, "setp.lt.s32", &["%i0", "%last"]);
        self.w.op(&format!("@{more} bra STREAM"));
        self.w.op("ret");
    }

    /// Waits for the planes that a turn takes, and for the block: the planes that it overwrites are read.
    fn arrive(&mut self) {
        if self.plan.is_shared() {
            self.w.op(&format!("cp.async.wait_group {}", self.plan.ahead - 1));
            self.w.op("bar.sync 0");
        }
    }

    /// Asks for what a turn takes, if the walk has such a plane: of a turn before the first, what is kept.
    fn ask(&mut self, turn: i32) {
        // Registers are set in any case, or they would be kept from plane to plane.
        let registers =
            self.plan.columns.iter().enumerate().filter(|(_, c)| !c.is_shared() && kept(c.planes, turn));
        let registers: Vec<Fetch> =
            registers.map(|(column, _)| Fetch { column, part: Part::Column, turn }).collect();
        if !registers.is_empty() {
            let after = self.w.set(Class::B32, "mov.b32", &["%after"]);
            self.w.op("min.s32 %after, %after, %most");
            self.fetch(registers);
            self.w.op(&format!("mov.b32 %after, {after}"));
        }
        if !self.plan.is_shared() {
            return;
        }
        let done = (turn > 0).then(|| self.w.label("ASKED"));
        if let Some(done) = &done {
            let beyond = self.w.set(Class::Pred, "setp.gt.s32", &["%after", "%most"]);
            self.w.op(&format!("@{beyond} bra {done}"));
        }
        let mut all = Vec::new();
        for (n, column) in self.plan.columns.iter().enumerate().filter(|(_, c)| c.is_shared()) {
            let mut add = |part: Part, planes: Reach| {
                if kept(planes, turn) {
                    all.push(Fetch { column: n, part, turn });
                }
            };
            add(Part::Column, column.planes);
            if column.is_tile() && column.apart {
                add(Part::SharedCopy, column.tile_planes());
            }
            if column.rows != (0, 0) {
                add(Part::HaloRow, column.row_planes);
            }
            for row in [TileRow::Own, TileRow::Rim] {
                let Some(sides) = edge_sides(column, row) else { continue };
                for distance in 1..=sides.lanes(self.plan.lanes) {
                    add(Part::WarpEdge { row, distance }, sides.planes);
                }
            }
        }
        self.fetch(all);
        if let Some(done) = done {
            self.w.place(&done);
        }
        self.w.op("cp.async.commit_group");
    }

    /// Takes the newest vectors of the column and of rows beside it, and neighbours in these, as far as they
    /// are kept until they are read.
    fn take(&mut self, turn: i32) {
        for column in self.columns().iter().filter(|c| c.is_shared()) {
            let pitch = column.row_bytes(self.size(column), self.plan.lanes) as i64;
            for row in std::iter::once(0).chain(column.beside()) {
                let planes = if row == 0 { column.planes } else { column.row_planes };
                if kept(planes, turn) {
                    let to = self.units(column, row, turn + depth(planes) as i32 - 1);
                    let mut from = match row {
                        0 => self.own_place(column, turn),
                        _ => self.in_tile(column, TileRow::Own, (turn, planes.1)),
                    };
                    from.bytes += i64::from(row) * pitch;
                    let kind = self.unit(column).1;
                    self.w.load_words("shared", kind, &to, &from);
                }
            }
            for row in std::iter::once(0).chain(column.beside()) {
                self.sides(column, row, turn);
            }
        }
    }

    /// Neighbours beside the vector of a row: from other lanes, or out of shared memory.
    fn sides(&mut self, column: &Column, row: i32, turn: i32) {
        let sides = column.sides_of(row);
        if sides == Sides::NONE || !kept(sides.planes, turn) {
            return;
        }
        let (lanes, size) = (self.plan.lanes as i32, self.size(column) as i64);
        let lowest = if row == 0 { column.planes.0 } else { column.row_planes.0 };
        let vector = self.units(column, row, turn + sides.planes.1 - lowest);
        let place = turn + depth(sides.planes) as i32 - 1;
        let pitch = column.row_bytes(self.size(column), self.plan.lanes) as i64;
        let tile = self.in_tile(column, TileRow::Own, (turn, sides.planes.1));
        let dtype = self.dtype(column);
        for distance in 1..=sides.lanes(self.plan.lanes) {
            let count = sides.count(distance, self.plan.lanes) as i32;
            let near = (distance as i32 - 1) * lanes;
            let [left, right] = [-near - count, lanes + near];
            for (first, is_read) in [(left, sides.columns.0 < 0), (right, sides.columns.1 > 0)] {
                if !is_read {
                    continue;
                }
                let to: Vec<String> =
                    (first..first + count).map(|at| self.side(column, row, at, place)).collect();
                let place = |at: i64| Address {
                    bytes: tile.bytes + i64::from(row) * pitch + at * size,
                    ..tile.clone()
                };
                if self.by_shuffle(column, sides, distance) {
                    self.shuffled(column, (first, &vector, &to), &place(i64::from(first)));
                    continue;
                }
                let run = if to.len().is_power_of_two() { to.len() } else { 1 };
                for (n, to) in to.chunks(run).enumerate() {
                    self.w.load_run("shared", dtype, to, &place(i64::from(first) + (n * run) as i64));
                }
            }
        }
    }

    /// Neighbours in a single word, from another lane; at the edge of the warp out of shared memory.
    fn shuffled(&mut self, column: &Column, (first, vector, to): (i32, &[String], &[String]), at: &Address) {
        let lanes = self.plan.lanes as i32;
        let (vectors, element) = (first.div_euclid(lanes), first.rem_euclid(lanes) as usize);
        let (dtype, kind) = (self.dtype(column), self.unit(column).0);
        let mode = if vectors < 0 { "up" } else { "down" };
        let distance = vectors.unsigned_abs().to_string();
        let word = self.w.shuffle(kind, &vector[element / column.per_unit], mode, &distance);
        let elements = self.elements(column, &word);
        for (to, from) in to.iter().zip(&elements[element % column.per_unit..]) {
            self.w.op(&format!("mov.{} {to}, {from}", class(dtype).name()));
        }
        let lane = if vectors < 0 { vectors.unsigned_abs() } else { WIDTH as u32 - vectors.unsigned_abs() };
        let test = if vectors < 0 { "lt" } else { "ge" };
        let on = self.w.set(Class::Pred, &format!("setp.{test}.u32"), &["%tx", &lane.to_string()]);
        self.w.guarded(&on, |w| w.load_run("shared", dtype, to, at));
    }

    /// Moves the columns from where the last copy of the body left them to where the first expects them.
    fn shift(&mut self, column: &Column, turns: i32) {
        let unit = self.unit(column).0;
        let mut moves = Vec::new();
        for place in 0..column.depth(self.plan.ahead) as i32 - 1 {
            let (to, from) = (self.units(column, 0, place), self.units(column, 0, place + turns));
            moves.extend(to.into_iter().zip(from).map(|pair| (unit, pair)));
        }
        for row in column.beside() {
            for place in 0..depth(column.row_planes) as i32 - 1 {
                let (to, from) = (self.units(column, row, place), self.units(column, row, place + turns));
                moves.extend(to.into_iter().zip(from).map(|pair| (unit, pair)));
            }
        }
        let element = class(self.dtype(column));
        for row in std::iter::once(0).chain(column.beside()) {
            let sides = column.sides_of(row);
            for place in 0..depth(sides.planes) as i32 - 1 {
                for position in sides.positions(self.plan.lanes) {
                    let (to, from) = (
                        self.side(column, row, position, place),
                        self.side(column, row, position, place + turns),
                    );
                    moves.push((element, (to, from)));
                }
            }
        }
        for (kind, (to, from)) in moves {
            self.w.op(&format!("mov.{} {to}, {from}", kind.name()));
        }
    }

    /// The points of the vector in plane `%i0`, and their stores.
    fn compute(&mut self, turn: i32) {
        let kernel = self.w.kernel;
        for quantity in self.w.quantities() {
            let stored = |p: u32| self.stores.iter().any(|store| store.param == p);
            if matches!(quantity, Quantity::Param(p) if !stored(p)) {
                continue;
            }
            let to = self.w.named(Field::Start(quantity).class(), &register(quantity));
            self.w.step(quantity, 0..1, Some(&column_register(quantity)), &to);
        }
        let mut unpacked: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut results: Vec<Vec<String>> = vec![Vec::new(); self.stores.len()];
        let mut points: Vec<Point> = Vec::new();
        for lane in 0..self.plan.lanes {
            for (at, inst) in kernel.body.iter().enumerate() {
                match &inst.op {
                    Op::Load { param, offsets } => {
                        let site = self.plan.site(offsets);
                        self.w.names[at] = self.element(*param, site, lane, turn, &mut unpacked);
                    }
                    Op::Coord(k) => self.w.names[at] = self.w.coordinate(*k, inst.dtype, lane, "", self.x),
                    _ => {}
                }
            }
            points.push(Point { mark: format!("_{lane}"), names: self.w.names.clone() });
        }
        self.w.compute_points(&mut points);
        for point in points {
            for (results, store) in results.iter_mut().zip(self.stores) {
                results.push(point.names[store.value.index()].clone());
            }
        }
        self.store(&results);
    }

    /// The register that holds what a load reads for a point of the vector.
    fn element(
        &mut self,
        param: u32,
        [plane, row, column]: [i32; 3],
        lane: usize,
        turn: i32,
        unpacked: &mut BTreeMap<String, Vec<String>>,
    ) -> String {
        let of = self.plan.column(param);
        let position = lane as i32 + column;
        if !(0..self.plan.lanes as i32).contains(&position) {
            return self.side(of, row, position, turn + plane - of.sides_of(row).planes.0);
        }
        let lowest = if row == 0 { of.planes.0 } else { of.row_planes.0 };
        let unit = self.units(of, row, turn + plane - lowest)[position as usize / of.per_unit].clone();
        let elements = match unpacked.get(&unit) {
            Some(elements) => elements.clone(),
            None => self.elements(of, &unit),
        };
        unpacked.insert(unit, elements.clone());
        elements[position as usize % of.per_unit].clone()
    }

    /// Stores a vector, or those of its points that are inside.
    fn store(&mut self, results: &[Vec<String>]) {
        let kernel = self.w.kernel;
        let outside = self.w.label("OUTSIDE");
        self.w.op(&format!("@!%inside bra {outside}"));
        let pieces = self.w.label("POINTS");
        if self.plan.lanes > 1 {
            self.w.op(&format!("@%cut bra {pieces}"));
        }
        let all: Vec<(DType, String, &Vec<String>)> = (self.stores.iter().zip(results))
            .map(|(store, values)| {
                (kernel.params[store.param as usize].dtype, format!("%at{}", store.param), values)
            })
            .collect();
        for (dtype, at, values) in &all {
            self.w.store_run("global", *dtype, values, &Address::at(at));
        }
        if self.plan.lanes > 1 {
            self.w.op(&format!("bra {outside}"));
            self.w.place(&pieces);
            for lane in 0..self.plan.lanes {
                let inside = self.element_inside(&lane.to_string(), (0, 0), "0", None);
                for (dtype, at, values) in &all {
                    let to = Address { register: at.clone(), bytes: (lane * dtype.size_bytes()) as i64 };
                    self.w.guarded(&inside, |w| {
                        w.store_run("global", *dtype, std::slice::from_ref(&values[lane]), &to)
                    });
                }
            }
        }
        self.w.place(&outside);
    }
}

/// Of a turn before the first, whether what arrives in it is kept until the first.
fn kept(planes: Reach, turn: i32) -> bool {
    depth(planes) as i32 > -turn.min(0)
}
