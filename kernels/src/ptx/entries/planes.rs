//! The entry `planes`: each thread computes one vector in each of several planes (rows, of two dimensions).
//! All its loads are issued before the first is used; neighbours come from L1 and L2. No shared memory, no
//! barrier: nothing waits for other threads.
//!
//! The rows of all arrays are in phase, [`crate::ptx::launch`] checks it, so every row is loaded as vectors,
//! with single elements beside them. Halos of any width and odd extents leave rows in phase, because the
//! engine pads them to whole vectors. It does not where that would be more than 6 percent of a row
//! (`PARTITA_PADDING`): stencils over such short rows go by the entry `vector`. A thread whose vector sticks
//! out of the row moves to where it does not, loads element by element there, and stores the points that are
//! its own; one whose planes stick out of the region moves, too. So a thread reads nothing that the kernel
//! does not.
//!
//! Kernels of many arrays have one plane and one point, whatever their type: two points of 16-bit elements,
//! which share words, would spill registers. Their arrays are laid out alike, so one number places a thread
//! in all that are read, and one in all that are written. Those whose arrays are not go by the entry
//! `pointwise`.

use super::pointwise::{Elements, row_register};
use crate::dtype::DType;
use crate::ir::{Access, Form, Offsets, Op, Store};
use crate::ptx::schedule::{Planes, VectorRow, place_name};
use crate::ptx::text::{
    Address, Class, Entry, Field, Point, PtxTarget, PtxWriter, Quantity, class, register,
};
use crate::verify::{Verified, row_and_column};

/// The entry `planes`.
pub(crate) fn entry(verified: &Verified, target: &PtxTarget, plan: &Planes) -> Entry {
    let Form::Elementwise { stores } = &verified.kernel().form else {
        unreachable!("only these have planes")
    };
    let mut w = PtxWriter::new(verified, target);
    w.note("the thread's planes, and where their rows are in memory");
    w.place_planes(plan, stores[0].param);
    w.prologue();
    w.note("all that the planes read");
    let rows = w.planes_rows(plan);
    w.note("the planes");
    let results: Vec<Vec<Vec<String>>> =
        (0..plan.count).map(|plane| w.planes_points(plan, &rows, plane, stores)).collect();
    w.planes_stores(plan, &results, stores);
    w.op("ret");
    w.finish("planes")
}

/// The predicate that a plane is the thread's own.
fn own(plane: usize) -> String {
    format!("%own{plane}")
}

impl PtxWriter<'_> {
    /// `%atP` of the first plane's first point; of arrays that are laid out alike, `%move_to` and
    /// `%move_from` say how far that is from the starts of those that are written and read.
    fn place_planes(&mut self, plan: &Planes, leader: u32) {
        let (x, leader) = (plan.slots.len() - 1, Quantity::Param(leader));
        for slot in 0..=x {
            self.named(Class::B32, &format!("%i{slot}"));
        }
        self.grid_x();
        if x > 1 {
            let number = self.set(Class::B32, "mov.b32", &["%ctaid.z"]);
            self.digits(&number, 0..x - 1);
        }
        if x > 0 {
            self.along("y", &format!("%i{}", x - 1));
        }
        self.first_plane(plan, x);
        let quantities = self.quantities().into_iter();
        let first = plan.rows.iter().find(|row| self.kernel.params[row.param as usize].access == Access::In);
        let read = first.map(|row| Quantity::Param(row.param));
        let is_leader = |q: Quantity| q == leader || Some(q) == read;
        let placed: Vec<Quantity> =
            quantities.filter(|&q| !plan.alike || is_leader(q) || matches!(q, Quantity::Coord(..))).collect();
        for &quantity in &placed {
            let to = self.named(Field::Start(quantity).class(), &row_register(quantity));
            self.step(quantity, 0..x, None, &to);
        }
        self.first_of_row(plan, leader, x);
        for &quantity in &placed {
            self.locate(quantity, x..x + 1, Some(&row_register(quantity)));
        }
        let of = [(Some(leader), "%move_to"), (read, "%move_from")];
        for (leader, to) in of.into_iter().filter(|_| plan.alike) {
            let Some(leader) = leader else { continue };
            let (start, at) = (self.field(Field::Start(leader)), register(leader));
            self.named(Class::B64, to);
            self.op(&format!("sub.s64 {to}, {at}, {start}"));
        }
    }

    /// The first plane, and which of the planes are the thread's own.
    fn first_plane(&mut self, plan: &Planes, x: usize) {
        let (walk, count) = (format!("%i{}", plan.walk), plan.count.to_string());
        let is_row = plan.walk + 1 == x;
        if x > 0 && (!is_row || plan.count == 1) {
            let rows = self.field(Field::Extent(x - 1));
            self.leave_unless(&format!("%i{}", x - 1), &rows);
        }
        if plan.count == 1 {
            return;
        }
        let extent = self.field(Field::Extent(plan.walk));
        let first = self.set(Class::B32, "mul.lo.u32", &[&walk, &count]);
        if is_row {
            self.leave_unless(&first, &extent);
        }
        let last = self.set(Class::B32, "sub.u32", &[&extent, &count]);
        self.op(&format!("min.u32 {walk}, {first}, {last}"));
        let skip = self.set(Class::B32, "sub.u32", &[&first, &walk]);
        for plane in 0..plan.count {
            let own = self.named(Class::Pred, &own(plane));
            self.op(&format!("setp.le.u32 {own}, {skip}, {plane}"));
        }
    }

    /// The first point of the row, `%shift` points behind the thread's own first.
    fn first_of_row(&mut self, plan: &Planes, leader: Quantity, x: usize) {
        let (at, extent, lanes) = (format!("%i{x}"), self.field(Field::Extent(x)), plan.lanes.to_string());
        if !plan.moves() {
            self.op(&format!("mov.b32 {at}, %x"));
            return self.leave_unless(&at, &extent);
        }
        let Quantity::Param(leader) = leader else { unreachable!("the first output is a parameter") };
        self.first_point(leader, plan.lanes, x);
        let past = self.set(Class::Pred, "setp.ge.s32", &[&at, &extent]);
        self.op(&format!("@{past} ret"));
        let last = self.set(Class::B32, "sub.s32", &[&extent, &lanes]);
        let moved = self.set(Class::B32, "max.s32", &[&at, "0"]);
        let moved = self.set(Class::B32, "min.s32", &[&moved, &last]);
        for (class, name) in [(Class::B32, "%shift"), (Class::Pred, "%cut")] {
            self.named(class, name);
        }
        self.op(&format!("sub.s32 %shift, {moved}, {at}"));
        self.op("setp.ne.s32 %cut, %shift, 0");
        self.op(&format!("mov.b32 {at}, {moved}"));
    }

    /// The address of an array at some offsets from the first point.
    fn in_planes(&mut self, plan: &Planes, param: u32, offsets: &Offsets) -> Address {
        let mut at = format!("%at{param}");
        if plan.alike {
            let start = self.field(Field::Start(Quantity::Param(param)));
            let is_read = self.kernel.params[param as usize].access == Access::In;
            let moved = if is_read { "%move_from" } else { "%move_to" };
            at = self.set(Class::B64, "add.s64", &[&start, moved]);
        }
        self.neighbour(param, &at, offsets)
    }

    /// Loads all rows: as vectors, or, of a thread that has moved, element by element.
    fn planes_rows(&mut self, plan: &Planes) -> Vec<Elements> {
        let mut rows: Vec<Elements> = Vec::new();
        for (n, row) in plan.rows.iter().enumerate() {
            let kind = class(self.kernel.params[row.param as usize].dtype);
            let mut name = |p: i32| self.named(kind, &format!("%w{n}_{}", place_name(p)));
            rows.push(row.positions.iter().map(|&p| (p, name(p))).collect());
        }
        let [pieces, loaded] = ["PIECES", "LOADED"].map(|stem| self.label(stem));
        if plan.moves() {
            self.op(&format!("@%cut bra {pieces}"));
        }
        // Addresses are computed on either way: in front of both they would all take registers at once.
        for (row, elements) in plan.rows.iter().zip(&rows) {
            let at = self.in_planes(plan, row.param, &row.offsets).register;
            match self.own_plane(plan, row) {
                Some(own) => self.guarded(&own, |w| w.aligned_row(row, plan.lanes, elements, &at)),
                None => self.aligned_row(row, plan.lanes, elements, &at),
            }
        }
        if !plan.moves() {
            return rows;
        }
        self.op(&format!("bra {loaded}"));
        self.place(&pieces);
        for (row, elements) in plan.rows.iter().zip(&rows) {
            let at = self.in_planes(plan, row.param, &row.offsets).register;
            match self.own_plane(plan, row) {
                Some(own) => self.own_points(plan, row, elements, (&at, &own)),
                None => self.loose_row(row, elements, &at),
            }
            self.hold_pairs(elements);
        }
        self.place(&loaded);
        rows.iter().for_each(|elements| self.release_pairs(elements));
        rows
    }

    /// Loads the thread's own points of a row.
    fn own_points(&mut self, plan: &Planes, row: &VectorRow, elements: &Elements, (at, own): (&str, &str)) {
        let (dtype, space) = (self.kernel.params[row.param as usize].dtype, self.space(row.param));
        for (&position, to) in elements {
            let inside = self.own_point(position as usize, plan.lanes);
            let inside = self.set(Class::Pred, "and.pred", &[&inside, own]);
            let from = Address::at(at).plus(position as usize * dtype.size_bytes());
            self.guarded(&inside, |w| w.load_run(space, dtype, std::slice::from_ref(to), &from));
        }
    }

    /// The predicate of a row's plane, of an array that is written, too: other threads write planes that are
    /// not its own.
    fn own_plane(&self, plan: &Planes, row: &VectorRow) -> Option<String> {
        let is_written = self.kernel.params[row.param as usize].access != Access::In;
        is_written.then(|| own(row.offsets[plan.slots[plan.walk]] as usize))
    }

    /// The predicate that a point of a thread that has moved is its own.
    fn own_point(&mut self, lane: usize, lanes: usize) -> String {
        let at = self.set(Class::B32, "add.s32", &["%shift", &lane.to_string()]);
        self.set(Class::Pred, "setp.lt.u32", &[&at, &lanes.to_string()])
    }

    /// Computes the points of a plane: for each store its values.
    fn planes_points(
        &mut self,
        plan: &Planes,
        rows: &[Elements],
        plane: usize,
        stores: &[Store],
    ) -> Vec<Vec<String>> {
        let kernel = self.kernel;
        let (x, along) = (plan.slots.len() - 1, plan.slots[plan.walk]);
        let mark = format!("_p{plane}");
        for &(dim, dtype) in self.footprint.coords() {
            let quantity = Quantity::Coord(dim, dtype);
            let (to, turn) = (register(quantity) + &mark, self.field(Field::Step(quantity, plan.walk)));
            self.named(class(dtype), &to);
            let mad = if dtype == DType::I64 { "mad.wide.s32" } else { "mad.lo.s32" };
            self.op(&format!("{mad} {to}, {turn}, {plane}, {}", register(quantity)));
        }
        let mut points: Vec<Point> = Vec::new();
        for lane in 0..plan.lanes {
            for (at, inst) in kernel.body.iter().enumerate() {
                match &inst.op {
                    Op::Load { param, offsets } => {
                        let (mut outer, last) = row_and_column(offsets);
                        outer[along] += plane as i32;
                        let row = plan.rows.iter().position(|r| r.param == *param && r.offsets == outer);
                        let row = row.expect("every load has its row");
                        self.names[at] = rows[row][&(lane as i32 + last)].clone();
                    }
                    Op::Coord(k) => self.names[at] = self.coordinate(*k, inst.dtype, lane, &mark, x),
                    _ => {}
                }
            }
            points.push(Point { mark: format!("_{lane}{mark}"), names: self.names.clone() });
        }
        self.compute_points(&mut points);
        let values =
            |store: &Store| points.iter().map(|point| point.names[store.value.index()].clone()).collect();
        stores.iter().map(values).collect()
    }

    /// Stores the vectors; or, of a thread that has moved, its own points.
    fn planes_stores(&mut self, plan: &Planes, results: &[Vec<Vec<String>>], stores: &[Store]) {
        let mut all = Vec::new();
        for (plane, results) in results.iter().enumerate() {
            for (store, values) in stores.iter().zip(results) {
                let mut offsets = vec![0; self.kernel.rank];
                offsets[plan.slots[plan.walk]] = plane as i32;
                let to = self.in_planes(plan, store.param, &offsets);
                let own = (plan.count > 1).then(|| own(plane));
                all.push((own, self.kernel.params[store.param as usize].dtype, values, to));
            }
        }
        let pieces = self.label("POINTS");
        if plan.moves() {
            self.op(&format!("@%cut bra {pieces}"));
        }
        for (own, dtype, values, to) in &all {
            let store = |w: &mut Self| w.store_run("global", *dtype, values, to);
            match own {
                Some(own) => self.guarded(own, store),
                None => store(self),
            }
        }
        if !plan.moves() {
            return;
        }
        self.op("ret");
        self.place(&pieces);
        let lanes: Vec<String> = (0..plan.lanes).map(|lane| self.own_point(lane, plan.lanes)).collect();
        for (own, dtype, values, to) in &all {
            let other = self.label("OTHER");
            if let Some(own) = own {
                self.op(&format!("@!{own} bra {other}"));
            }
            for (lane, inside) in lanes.iter().enumerate() {
                let (value, to) = (std::slice::from_ref(&values[lane]), to.plus(lane * dtype.size_bytes()));
                self.guarded(inside, |w| w.store_run("global", *dtype, value, &to));
            }
            self.place(&other);
        }
    }
}
