//! The loop over the planes: what a thread gives to others and takes from them, the points it computes, and
//! how columns move on.

use std::collections::BTreeMap;

use super::place::column_register;
use super::registers::{Fetch, Streaming};
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
        detours: Vec::new(),
    };
    stream.locate();
    stream.fill();
    stream.planes();
    for detour in std::mem::take(&mut stream.detours) {
        stream.detour(&detour);
    }
    stream.w.finish("streaming")
}

impl Streaming<'_, '_> {
    /// What the planes before the first would have left in registers.
    fn fill(&mut self) {
        self.w.note("what the first plane needs of those before it");
        for (n, column) in self.columns().iter().enumerate() {
            for place in 0..column.depth() - 1 {
                let planes = place as i32 - (depth(column.planes) as i32 - 1);
                self.w.op(&format!("add.s32 %i0, %first, {planes}"));
                if planes > 0 {
                    self.w.op("min.s32 %i0, %i0, %most");
                }
                self.fetch(vec![Fetch::Own { column: n, place, after: "%i0" }]);
            }
        }
        for turn in -self.plan.before()..=0 {
            self.w.op(&format!("add.s32 %i0, %first, {turn}"));
            let all = self.rims_and_edges(turn, "%i0");
            self.fetch(all);
            if turn < 0 {
                self.share(turn);
                self.receive(turn);
            }
        }
    }

    /// What a turn needs of the rim and of other warps: of a turn before the first, only what is kept.
    fn rims_and_edges(&self, turn: i32, after: &'static str) -> Vec<Fetch> {
        let mut all = Vec::new();
        for (n, column) in self.plan.columns.iter().enumerate() {
            if column.rows != (0, 0) && kept(column.row_planes, turn) {
                all.push(Fetch::Rim { column: n, after });
            }
            all.extend(self.edges_of(n, 0, turn, after));
            all.extend(column.beside().filter_map(|row| self.edges_of(n, row, turn, after)));
        }
        all
    }

    fn edges_of(&self, column: usize, row: i32, turn: i32, after: &'static str) -> Option<Fetch> {
        let sides = self.plan.columns[column].sides_of(row);
        (sides != Sides::NONE && kept(sides.planes, turn)).then_some(Fetch::Edges { column, row, after })
    }

    /// The loop over the planes.
    fn planes(&mut self) {
        let turns = self.plan.unroll as i32;
        self.w.place("STREAM");
        for turn in 0..turns {
            self.w.note(&format!("plane {turn} of {turns}"));
            self.share(turn);
            self.prefetch(turn);
            self.receive(turn);
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

    /// Asks for what the next planes need, except neighbours in rows beside the thread's: what was loaded of
    /// them is read after the barrier.
    fn prefetch(&mut self, turn: i32) {
        let aheads: Vec<usize> = self.plan.columns.iter().map(|c| c.ahead).collect();
        let mut all = Vec::new();
        if aheads.iter().any(|&ahead| ahead > 1) {
            self.w.named(Class::B32, "%far");
            self.w.op("add.s32 %far, %i0, 2");
            self.w.op("min.s32 %far, %far, %most");
        }
        self.next(1);
        for (n, column) in self.plan.columns.iter().enumerate() {
            let after = if column.ahead > 1 { "%far" } else { "%next" };
            all.push(Fetch::Own { column: n, place: turn as usize + column.depth() - 1, after });
        }
        for fetch in self.rims_and_edges(0, "%next") {
            if !matches!(fetch, Fetch::Edges { row, .. } if row != 0) {
                all.push(fetch);
            }
        }
        self.fetch(all);
    }

    /// Puts the newest vectors that others read into shared memory, and takes neighbours in the own row.
    fn share(&mut self, turn: i32) {
        for column in self.columns() {
            if column.rows != (0, 0) && kept(column.row_planes, turn) {
                let place = turn + column.row_planes.1 - column.planes.0;
                let (own, rim) = (self.units(column, 0, place), self.rim(column));
                let buffer = self.buffer(column, turn);
                for (units, to, guard) in [
                    (own, "%put", "%row_inside".to_owned()),
                    (rim, "%put_rim", format!("%on_rim{}", column.param)),
                ] {
                    let kind = self.unit(column).1;
                    let to = Address { register: format!("{to}{}", column.param), bytes: buffer };
                    self.w.guarded(&guard, |w| w.store_words("shared", kind, &units, &to));
                }
            }
            self.sides(column, 0, turn);
        }
    }

    /// Where the planes of a turn begin in shared memory.
    fn buffer(&self, column: &Column, turn: i32) -> i64 {
        let bytes = column.buffer_bytes(self.size(column), self.plan.lanes) as i64;
        i64::from(turn.rem_euclid(2)) * bytes
    }

    /// Waits for the block, and takes what it has of rows beside the thread's own.
    fn receive(&mut self, turn: i32) {
        if self.plan.columns.iter().any(|c| c.rows != (0, 0)) {
            self.w.op("bar.sync 0");
        }
        for (n, column) in self.columns().iter().enumerate() {
            if !kept(column.row_planes, turn) {
                continue;
            }
            let pitch = (self.size(column) * self.plan.lanes * WIDTH) as i64;
            for row in column.beside() {
                let place = turn + depth(column.row_planes) as i32 - 1;
                let to = self.units(column, row, place);
                let bytes = self.buffer(column, turn) + i64::from(row) * pitch;
                let from = Address { register: format!("%put{}", column.param), bytes };
                self.load_units("shared", column, &to, &from);
            }
            for row in column.beside() {
                self.sides(column, row, turn);
                if turn >= 0 {
                    let next = self.edges_of(n, row, 0, "%next");
                    self.fetch(next.into_iter().collect());
                }
            }
        }
    }

    /// Neighbours beside the vector of a row: from other lanes, or as they were loaded.
    fn sides(&mut self, column: &Column, row: i32, turn: i32) {
        let sides = column.sides_of(row);
        if sides == Sides::NONE || !kept(sides.planes, turn) {
            return;
        }
        let lanes = self.plan.lanes as i32;
        let lowest = if row == 0 { column.planes.0 } else { column.row_planes.0 };
        let vector = self.units(column, row, turn + sides.planes.1 - lowest);
        let place = turn + depth(sides.planes) as i32 - 1;
        let mut taken: BTreeMap<(i32, usize), String> = BTreeMap::new();
        for position in sides.positions(self.plan.lanes) {
            let vectors = position.div_euclid(lanes);
            let element = position.rem_euclid(lanes) as usize;
            let (unit, within) = (element / column.per_unit, element % column.per_unit);
            let (kind, dtype) = (self.unit(column).0, self.dtype(column));
            let word = match taken.get(&(vectors, unit)) {
                Some(word) => word.clone(),
                None => self.w.shuffle(kind, &vector[unit], vectors),
            };
            taken.insert((vectors, unit), word.clone());
            let word = self.elements(column, &word)[within].clone();
            let distance = vectors.unsigned_abs() as usize;
            let edges = self.edge(column, row, distance);
            let missing = if vectors < 0 { self.plan.lanes - edges.len() } else { 0 };
            let edge = &edges[element - missing];
            let to = self.side(column, row, position, place);
            let predicate = format!("%{}{distance}", if vectors < 0 { "left" } else { "right" });
            self.w.op(&format!("selp.{} {to}, {edge}, {word}, {predicate}", class(dtype).name()));
        }
    }

    /// Moves the columns from where the last copy of the body left them to where the first expects them.
    fn shift(&mut self, column: &Column, turns: i32) {
        let unit = self.unit(column).0;
        let mut moves = Vec::new();
        for place in 0..column.depth() as i32 - 1 {
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
