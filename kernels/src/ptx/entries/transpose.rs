//! The entry `transpose`: transposed inputs through shared memory. A block computes 32 x 32 points; of an
//! input whose neighbours in memory lie along y it loads a square along y and hands it out along x, so that
//! loads and stores both touch whole sectors of memory. All inputs are loaded before the first is waited for:
//! what lies along x goes straight into the registers that the others reach through the square.
//!
//! In a square that the region's edges cut, places beyond them load what the last points inside load, so that
//! no load waits for a comparison; they compute and store nothing.

use crate::dtype::DType;
use crate::ir::{Access, Form, Op, Store};
use crate::ptx::schedule::{PITCH, SIDE, turnable};
use crate::ptx::text::{
    Address, Class, Entry, Field, Point, PtxTarget, PtxWriter, Quantity, class, register, slots,
};
use crate::verify::Verified;

/// The entry `transpose`, whose threads compute `turns` points each.
pub(crate) fn entry(verified: &Verified, target: &PtxTarget, turns: usize) -> Entry {
    let kernel = verified.kernel();
    let Form::Elementwise { stores } = &kernel.form else { unreachable!("only these have tiles") };
    let mut w = PtxWriter::new(verified, target);
    let slots = slots(kernel);
    let (x, y) = (slots - 1, slots - 2);
    w.note("the block's square, and the outer coordinates");
    w.square(slots, None);
    for quantity in w.quantities() {
        let to = w.named(Field::Start(quantity).class(), &format!("{}_z", register(quantity)));
        w.step(quantity, 0..y, None, &to);
    }
    for param in turnable(verified.footprint()) {
        let turned = w.field(Field::Turned(param));
        let to = w.named(Class::Pred, &format!("%crossed{param}"));
        w.op(&format!("setp.ne.u32 {to}, {turned}, 0"));
        let size = w.size_of(param);
        w.share(&format!("square{param}"), SIDE * PITCH * size);
    }
    w.prologue();
    for (first, slot) in [("%left", x), ("%top", y)] {
        let extent = w.field(Field::Extent(slot));
        let end = w.set(Class::B32, "add.u32", &[first, &SIDE.to_string()]);
        let cut = w.set(Class::Pred, "setp.gt.u32", &[&end, &extent]);
        w.op(&format!("@{cut} bra CUT"));
    }
    let square = Square { x, y, corner: ["%left", "%top"], turns, is_cut: false };
    w.points(&square, stores);
    w.op("ret");
    w.place("CUT");
    w.points(&Square { is_cut: true, ..square }, stores);
    w.op("ret");
    w.finish("transpose")
}

/// A block's points.
#[derive(Clone, Copy)]
pub(super) struct Square {
    /// The slots of its sides.
    pub x: usize,
    pub y: usize,
    /// The registers of its first x and y.
    pub corner: [&'static str; 2],
    /// Points of a thread, one below the other.
    pub turns: usize,
    /// The region ends within it.
    pub is_cut: bool,
}

impl Square {
    /// Rows between two points of a thread.
    pub(super) fn hop(&self) -> usize {
        SIDE / self.turns
    }
}

/// Elements are moved as they lie in memory.
pub(super) fn raw(dtype: DType) -> DType {
    if dtype == DType::Bool { DType::U8 } else { dtype }
}

impl PtxWriter<'_> {
    /// `%tx`, `%ty`: the thread's place; `%left`, `%top`: the first x and y of the square, which may be one
    /// of a triangle along a slot and the one before it.
    pub(super) fn square(&mut self, slots: usize, triangle: Option<usize>) {
        for name in ["%tx", "%ty", "%left", "%top"] {
            self.named(Class::B32, name);
        }
        for slot in 0..slots {
            self.named(Class::B32, &format!("%i{slot}"));
        }
        self.op("mov.b32 %tx, %tid.x");
        self.op("mov.b32 %ty, %tid.y");
        self.op("mov.b32 %left, %ctaid.x");
        self.op("mov.b32 %top, %ctaid.y");
        if let Some(x) = triangle {
            self.triangle(x);
        }
        for to in ["%left", "%top"] {
            self.op(&format!("mul.lo.u32 {to}, {to}, {SIDE}"));
        }
        if slots > 2 {
            let number = self.set(Class::B32, "mov.b32", &["%ctaid.z"]);
            self.digits(&number, 0..slots - 2);
        }
    }

    /// The thread's points: loads, the squares of transposed inputs, what is computed and stored.
    fn points(&mut self, square: &Square, stores: &[Store]) {
        let turned: Vec<u32> = turnable(self.footprint).collect();
        self.note("all loads: of transposed inputs along y");
        for &param in &turned {
            let is_turned = format!("%crossed{param}");
            let [u, v] = [["%ty", "%tx"], ["%tx", "%ty"]]
                .map(|[yes, no]| self.set(Class::B32, "selp.b32", &[yes, no, &is_turned]));
            let name = format!("%from{param}");
            self.places(square, Quantity::Param(param), &name, [&u, &v], Some(&is_turned));
            for turn in 0..square.turns {
                let to = self.raw_value(param, turn);
                let from = Address::at(&format!("{name}_{turn}"));
                self.load_run(self.space(param), raw(self.dtype_of(param)), &[to], &from);
            }
        }
        self.note("transposed inputs change hands");
        for (is_stored, hop) in [(true, square.hop() * PITCH), (false, square.hop())] {
            for &param in &turned {
                self.exchange(square, param, is_stored, hop);
            }
            if is_stored {
                self.op("bar.sync 0");
            }
        }
        self.compute_square(square, stores);
    }

    /// Computes and stores the thread's points of a square, whose inputs are in their registers.
    pub(super) fn compute_square(&mut self, square: &Square, stores: &[Store]) {
        let turned: Vec<u32> = turnable(self.footprint).collect();
        self.note("the points");
        for quantity in self.quantities() {
            let is_turnable = matches!(quantity, Quantity::Param(p) if turned.contains(&p));
            if !is_turnable {
                self.places(square, quantity, &register(quantity), ["%tx", "%ty"], None);
            }
        }
        let mut points: Vec<Point> = Vec::new();
        for turn in 0..square.turns {
            self.enter_point(turn);
            points.push(Point { mark: format!("_{turn}"), names: self.names.clone() });
        }
        if square.is_cut {
            for (turn, point) in points.into_iter().enumerate() {
                self.point_inside(square, stores, turn, point);
            }
        } else {
            for (turn, point) in points.iter_mut().enumerate() {
                self.load_in_place(turn, point);
            }
            self.compute_points(&mut points);
            for (turn, point) in points.iter().enumerate() {
                self.store_point(stores, turn, point);
            }
        }
    }

    pub(super) fn dtype_of(&self, param: u32) -> DType {
        self.kernel.params[param as usize].dtype
    }

    fn size_of(&self, param: u32) -> usize {
        self.dtype_of(param).size_bytes()
    }

    /// The register of an input's element as it lies in memory.
    pub(super) fn raw_value(&mut self, param: u32, turn: usize) -> String {
        self.named(class(raw(self.dtype_of(param))), &format!("%raw{param}_{turn}"))
    }

    /// Writes the addresses of a quantity at the thread's places, `NAME_0` and so on: `u`, `v` from the
    /// square's corner, and each further place below the one before; beside it where `crossed` says so.
    fn places(
        &mut self,
        square: &Square,
        quantity: Quantity,
        name: &str,
        [u, v]: [&str; 2],
        crossed: Option<&str>,
    ) {
        let Square { x, y, corner: [left, top], turns, is_cut } = *square;
        let kind = Field::Start(quantity).class();
        let outer = format!("{}_z", register(quantity));
        let corner = [(u, left, x), (v, top, y)].map(|(thread, first, slot)| {
            self.op(&format!("add.u32 %i{slot}, {thread}, {first}"));
            (slot, self.set(Class::B32, "mov.b32", &[&format!("%i{slot}")]))
        });
        if is_cut {
            for turn in 0..turns {
                for (slot, first) in &corner {
                    let hop = (turn * square.hop()).to_string();
                    let [across, down] = [[&*hop, "0"], ["0", &*hop]];
                    let [yes, no] = if *slot == x { across } else { down };
                    let further = match crossed {
                        Some(crossed) => self.set(Class::B32, "selp.b32", &[yes, no, crossed]),
                        None => no.to_owned(),
                    };
                    let extent = self.field(Field::Extent(*slot));
                    let last = self.set(Class::B32, "sub.u32", &[&extent, "1"]);
                    let place = self.set(Class::B32, "add.u32", &[first, &further]);
                    self.op(&format!("min.u32 %i{slot}, {place}, {last}"));
                }
                let to = self.named(kind, &format!("{name}_{turn}"));
                self.step(quantity, y..x + 1, Some(&outer), &to);
            }
            return;
        }
        let mut hop = self.field(Field::Step(quantity, y));
        if let Some(crossed) = crossed {
            let across = self.field(Field::Step(quantity, x));
            hop = self.set(Class::B32, "selp.b32", &[&across, &hop, crossed]);
        }
        let distance = square.hop().to_string();
        let (multiply, add) = match kind {
            Class::B32 => ("mul.lo.s32", "add.s32"),
            _ => ("mul.wide.s32", "add.s64"),
        };
        let hop = self.set(kind, multiply, &[&hop, &distance]);
        for turn in 0..turns {
            let to = self.named(kind, &format!("{name}_{turn}"));
            match turn {
                0 => self.step(quantity, y..x + 1, Some(&outer), &to),
                _ => self.op(&format!("{add} {to}, {name}_{}, {hop}", turn - 1)),
            }
        }
    }

    /// Stores a transposed parameter's elements to its square, row by row as they were loaded, or loads them
    /// from it, column by column.
    fn exchange(&mut self, square: &Square, param: u32, is_stored: bool, hop: usize) {
        let (dtype, size) = (raw(self.dtype_of(param)), self.size_of(param));
        let straight = self.label("STRAIGHT");
        self.op(&format!("@!%crossed{param} bra {straight}"));
        let base = self.set(Class::B32, "mov.b32", &[&format!("square{param}")]);
        let [row, column] = if is_stored { ["%ty", "%tx"] } else { ["%tx", "%ty"] };
        let at = self.set(Class::B32, "mad.lo.u32", &[row, &PITCH.to_string(), column]);
        let at = self.set(Class::B32, "mad.lo.u32", &[&at, &size.to_string(), &base]);
        for turn in 0..square.turns {
            let place = Address { register: at.clone(), bytes: (turn * hop * size) as i64 };
            let value = self.raw_value(param, turn);
            if is_stored {
                self.store_run("shared", dtype, &[value], &place);
            } else {
                self.load_run("shared", dtype, &[value], &place);
            }
        }
        self.place(&straight);
    }

    /// Names the loads and coordinates of one point.
    fn enter_point(&mut self, turn: usize) {
        let kernel = self.kernel;
        for (at, inst) in kernel.body.iter().enumerate() {
            match &inst.op {
                Op::Coord(k) => {
                    self.names[at] = format!("{}_{turn}", register(Quantity::Coord(*k, inst.dtype)));
                }
                Op::Load { param, .. } if kernel.params[*param as usize].access == Access::In => {
                    let raw = self.raw_value(*param, turn);
                    self.names[at] = match inst.dtype {
                        DType::Bool => self.set(Class::Pred, "setp.ne.u32", &[&raw, "0"]),
                        _ => raw,
                    };
                }
                _ => {}
            }
        }
    }

    /// Loads parameters that are also written: at the end, since no other place may read them.
    fn load_in_place(&mut self, turn: usize, point: &mut Point) {
        let kernel = self.kernel;
        for (at, inst) in kernel.body.iter().enumerate() {
            if let Op::Load { param, .. } = inst.op
                && kernel.params[param as usize].access != Access::In
            {
                let to = self.named(class(inst.dtype), &format!("%v{at}_{turn}"));
                let place = Address::at(&format!("%at{param}_{turn}"));
                self.load_run("global", inst.dtype, std::slice::from_ref(&to), &place);
                point.names[at] = to;
            }
        }
    }

    fn store_point(&mut self, stores: &[Store], turn: usize, point: &Point) {
        for store in stores {
            let dtype = self.dtype_of(store.param);
            let (value, at) =
                (point.names[store.value.index()].clone(), format!("%at{}_{turn}", store.param));
            self.store_run("global", dtype, &[value], &Address::at(&at));
        }
    }

    /// Computes and stores a point if its coordinates lie in the region.
    fn point_inside(&mut self, square: &Square, stores: &[Store], turn: usize, mut point: Point) {
        let past = self.label("OUTSIDE");
        let down = (turn * square.hop()).to_string();
        let [left, top] = square.corner;
        for (thread, first, slot, further) in [("%tx", left, square.x, "0"), ("%ty", top, square.y, &*down)] {
            let place = self.set(Class::B32, "add.u32", &[thread, first]);
            let place = self.set(Class::B32, "add.u32", &[&place, further]);
            let extent = self.field(Field::Extent(slot));
            let outside = self.set(Class::Pred, "setp.ge.u32", &[&place, &extent]);
            self.op(&format!("@{outside} bra {past}"));
        }
        self.load_in_place(turn, &mut point);
        let mut points = [point];
        self.compute_points(&mut points);
        self.store_point(stores, turn, &points[0]);
        self.place(&past);
    }
}
