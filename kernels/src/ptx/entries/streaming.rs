//! The entry `streaming`: each thread goes along one dimension, plane by plane, and keeps what it has
//! loaded in registers until the last plane that reads it. A stencil of 27 points then loads 3 rows per
//! plane where `vector` loads 9.
//!
//! Every element that is read in several planes has a ring of registers. The text repeats the body
//! once per register of the longest ring, so that nothing is moved from register to register. Along x
//! the entry is `vector` again: 16 bytes per thread, aligned by the phase of the row, and the points of a
//! vector that sticks out one by one. Planes of the outputs must be whole vectors apart, so that the
//! phase is the same in all of them.
//!
//! What the text says, and what `ptxas` makes of it (loads per point of an aligned vector; registers of a
//! thread for sm_80 and sm_90; nothing spills). How fast it is has not been measured on hardware.
//!
//! ```text
//! points, type   loads: vector  streaming  registers of streaming
//!  7  f32, f64   1.75, 3.50     none
//! 13  f32        2.75           1.75     74   80
//! 13  f64        5.50           3.50     64   80
//! 25  f32        4.75           2.75    160  191
//! 25  f64       10.50           6.50    168  176
//! 27  f32        6.75           2.25    114  118
//! 27  f64       13.50           4.50    116  110
//! ```
//!
//! Whether a launch is worth streaming depends on its sizes; [`crate::ptx::launch`] decides.

use super::vector::{Elements, row_register};
use crate::ptx::schedule::{Group, StreamingPlan, VectorRow, streaming_slots};
use crate::ptx::text::{Address, Class, Entry, Field, PtxTarget, PtxWriter, Quantity, class, register};
use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Form, Op, Store};
use crate::verify::Verified;
use crate::verify::footprint::row_and_column;

/// The entry `streaming`.
pub(crate) fn entry(verified: &Verified, target: &PtxTarget, plan: &StreamingPlan) -> Entry {
    let kernel = verified.kernel();
    let Form::Elementwise { stores } = &kernel.form else { unreachable!("only these have vectors") };
    let mut w = PtxWriter::new(verified, target);
    let x = streaming_slots(kernel) - 1;
    w.note("the thread's rows, one per plane, and where they are in memory");
    w.grid_outer(x + 1);
    for quantity in w.quantities() {
        let to = w.named(Field::Start(quantity).class(), &row_register(quantity));
        w.step(quantity, 1..x, None, &to);
    }
    w.note("its planes: those of its block");
    w.planes();
    w.note("its first point: its vectors are aligned in all planes");
    w.grid_x();
    w.first_point(stores[0].param, plan.lanes, x);
    let extent = w.field(Field::Extent(x));
    let past = w.set(Class::Pred, "setp.ge.s32", &[&format!("%i{x}"), &extent]);
    w.op(&format!("@{past} ret"));
    w.prologue();
    w.named(Class::B32, "%end");
    w.leave_unless_whole(1, plan.lanes, x, "PARTIAL");
    for quantity in w.quantities() {
        let to = w.named(Field::Start(quantity).class(), &column_register(quantity));
        w.step(quantity, x..x + 1, Some(&row_register(quantity)), &to);
    }
    let pieces = w.pieces(plan);
    w.fill(plan, &pieces, x);
    w.stream_planes(plan, stores, &pieces, x);
    w.place("PARTIAL");
    w.note("a vector that sticks out: its points inside, one by one");
    w.partial_planes(x);
    w.finish("streaming")
}

/// The register of a quantity at the thread's first point, in the region's first plane.
fn column_register(quantity: Quantity) -> String {
    match quantity {
        Quantity::Param(p) => format!("%column{p}"),
        Quantity::Coord(..) => format!("{}_column", register(quantity)),
    }
}

/// For each group, the predicate that it cannot be loaded as vectors; none if it surely can.
type Pieces = BTreeMap<Group, String>;

/// A row of a plane: where it is, and the registers of its elements.
struct Load {
    group: Group,
    row: VectorRow,
    at: String,
    elements: Elements,
}

impl PtxWriter<'_> {
    /// `%first` to `%last`: the planes of the thread. Slot 0 holds the number of the block.
    fn planes(&mut self) {
        for name in ["%first", "%last"] {
            self.named(Class::B32, name);
        }
        let (planes, extent) = (self.field(Field::Planes), self.field(Field::Extent(0)));
        self.op(&format!("mul.lo.u32 %first, %i0, {planes}"));
        self.op(&format!("add.u32 %last, %first, {planes}"));
        self.op(&format!("min.u32 %last, %last, {extent}"));
    }

    fn pieces(&mut self, plan: &StreamingPlan) -> Pieces {
        self.note("which inputs are side by side and aligned");
        let mut misfits: BTreeMap<Group, String> = BTreeMap::new();
        for stream in &plan.streams {
            let param = stream.row.param;
            if !self.may_be_unaligned(&stream.row) {
                continue;
            }
            let at = self.neighbour(param, &format!("%column{param}"), &stream.row.offsets);
            let misfit = self.misfit(&stream.row, &at.register, plan.lanes, Field::Uneven(param));
            let group = plan.group(&stream.row);
            let any = match misfits.get(&group) {
                Some(others) => self.set(Class::B32, "or.b32", &[others, &misfit]),
                None => misfit,
            };
            misfits.insert(group, any);
        }
        let test =
            |(group, any): (Group, String)| (group, self.set(Class::Pred, "setp.ne.u32", &[&any, "0"]));
        misfits.into_iter().map(test).collect()
    }

    /// Loads what the planes before the first would have left in the rings.
    fn fill(&mut self, plan: &StreamingPlan, pieces: &Pieces, x: usize) {
        self.note("what the first plane needs of those before it");
        for plane in 1 - plan.period as i32..0 {
            self.op(&format!("add.s32 %i0, %first, {plane}"));
            self.load_plane(plan, pieces, plane, x);
        }
        self.op("mov.b32 %i0, %first");
    }

    fn stream_planes(&mut self, plan: &StreamingPlan, stores: &[Store], pieces: &Pieces, x: usize) {
        self.place("STREAM");
        for plane in 0..plan.period as i32 {
            self.note(&format!("plane {plane} of {}", plan.period));
            for quantity in self.quantities() {
                if !matches!(quantity, Quantity::Param(p) if plan.loads_in(p, plane)) {
                    self.enter_plane(quantity);
                }
            }
            self.load_plane(plan, pieces, plane, x);
            self.compute_plane(plan, stores, plane, x);
            self.op("add.s32 %i0, %i0, 1");
            if plane + 1 < plan.period as i32 {
                let over = self.set(Class::Pred, "setp.ge.s32", &["%i0", "%last"]);
                self.op(&format!("@{over} ret"));
            }
        }
        let more = self.set(Class::Pred, "setp.lt.s32", &["%i0", "%last"]);
        self.op(&format!("@{more} bra STREAM"));
        self.op("ret");
    }

    /// Moves a quantity from the thread's column to plane `%i0`.
    fn enter_plane(&mut self, quantity: Quantity) {
        let to = self.named(Field::Start(quantity).class(), &register(quantity));
        self.step(quantity, 0..1, Some(&column_register(quantity)), &to);
    }

    fn load_plane(&mut self, plan: &StreamingPlan, pieces: &Pieces, plane: i32, x: usize) {
        for param in (0..self.kernel.params.len() as u32).filter(|&p| plan.loads_in(p, plane)) {
            self.enter_plane(Quantity::Param(param));
            let loads = self.loads(plan, param, plane);
            for group in loads.iter().map(|load| &load.group).collect::<BTreeSet<_>>() {
                let rows: Vec<&Load> = loads.iter().filter(|load| load.group == *group).collect();
                self.load_group(plan, &rows, pieces.get(group), x);
            }
        }
    }

    fn load_group(&mut self, plan: &StreamingPlan, rows: &[&Load], pieces: Option<&String>, x: usize) {
        let labels = pieces.map(|pieces| (pieces, self.label("SINGLE"), self.label("LOADED")));
        if let Some((pieces, single, _)) = &labels {
            self.op(&format!("@{pieces} bra {single}"));
        }
        for load in rows {
            self.aligned_row(&load.row, plan.lanes, &load.elements, &load.at);
        }
        if let Some((_, single, done)) = &labels {
            self.op(&format!("bra {done}"));
            self.place(single);
            for load in rows {
                self.single_row(&load.row, &load.elements, &load.at, x);
            }
            self.place(done);
        }
    }

    /// The rows of a parameter that are loaded in a plane, where they are, and into which registers.
    fn loads(&mut self, plan: &StreamingPlan, param: u32, plane: i32) -> Vec<Load> {
        let mut loads = Vec::new();
        for (n, stream) in plan.streams.iter().enumerate().filter(|(_, s)| s.row.param == param) {
            let kept = stream.planes.iter().filter(|(_, planes)| **planes as i32 > -plane).map(|(&p, _)| p);
            let row = VectorRow { positions: kept.collect(), ..stream.row.clone() };
            if row.positions.is_empty() {
                continue;
            }
            let dtype = self.kernel.params[param as usize].dtype;
            let at = self.neighbour(param, &format!("%at{param}"), &row.offsets);
            let name = |&p: &i32| (p, self.named(class(dtype), &plan.element(n, p, plane)));
            let elements = row.positions.iter().map(name).collect();
            loads.push(Load { group: plan.group(&row), row, at: at.register, elements });
        }
        loads
    }

    fn compute_plane(&mut self, plan: &StreamingPlan, stores: &[Store], plane: i32, x: usize) {
        let kernel = self.kernel;
        let mut results: Vec<Vec<String>> = vec![Vec::new(); stores.len()];
        for lane in 0..plan.lanes {
            for (at, inst) in kernel.body.iter().enumerate() {
                match &inst.op {
                    Op::Load { param, offsets } => {
                        let (outer, last) = row_and_column(offsets);
                        let position = lane as i32 + last;
                        let (stream, age) = plan.source(*param, &outer, position);
                        self.names[at] = plan.element(stream, position, plane - age as i32);
                    }
                    Op::Coord(k) => self.names[at] = self.coordinate(*k, inst.dtype, lane, "", x),
                    _ => {}
                }
            }
            self.compute(&format!("_{lane}"));
            for (results, store) in results.iter_mut().zip(stores) {
                results.push(self.name(store.value));
            }
        }
        for (values, store) in results.iter().zip(stores) {
            let dtype = kernel.params[store.param as usize].dtype;
            self.store_run("global", dtype, values, &Address::at(&format!("%at{}", store.param)));
        }
    }

    fn partial_planes(&mut self, x: usize) {
        let extent = self.field(Field::Extent(x));
        self.named(Class::B32, "%begin");
        self.op(&format!("max.s32 %begin, %i{x}, 0"));
        self.op(&format!("min.s32 %end, %end, {extent}"));
        self.op("mov.b32 %i0, %first");
        self.place("PLANE");
        self.op(&format!("mov.b32 %i{x}, %begin"));
        self.place("POINT");
        for quantity in self.quantities() {
            let at = self.locate(quantity, x..x + 1, Some(&row_register(quantity)));
            self.step(quantity, 0..1, Some(&at), &at);
        }
        self.point();
        self.op(&format!("add.s32 %i{x}, %i{x}, 1"));
        let more = self.set(Class::Pred, "setp.lt.s32", &[&format!("%i{x}"), "%end"]);
        self.op(&format!("@{more} bra POINT"));
        self.op("add.s32 %i0, %i0, 1");
        let more = self.set(Class::Pred, "setp.lt.s32", &["%i0", "%last"]);
        self.op(&format!("@{more} bra PLANE"));
        self.op("ret");
    }
}
