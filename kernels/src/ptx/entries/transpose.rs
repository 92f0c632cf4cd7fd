//! The entry `transpose`: transposed inputs through shared memory. A block computes 32 x 32 points; of an
//! input whose neighbours in memory lie along y it loads a square along y and hands it out along x, so that
//! loads and stores both touch whole sectors of memory.
//!
//! Places beyond the region's edges load what the last points inside load, so that no load waits for a
//! comparison; they compute and store nothing.

use crate::dtype::DType;
use crate::ir::{Access, Form, Op, Store};
use crate::ptx::schedule::{PITCH, SIDE, TURNS, turnable};
use crate::ptx::text::{
    Address, Class, Entry, Field, PtxTarget, PtxWriter, Quantity, class, register, slots,
};
use crate::verify::Verified;

/// The entry `transpose`.
pub(crate) fn entry(verified: &Verified, target: &PtxTarget) -> Entry {
    let kernel = verified.kernel();
    let Form::Elementwise { stores } = &kernel.form else { unreachable!("only these have tiles") };
    let mut w = PtxWriter::new(verified, target);
    let slots = slots(kernel);
    let (x, y) = (slots - 1, slots - 2);
    w.note("the block's square, and the outer coordinates");
    w.square(slots);
    for quantity in w.quantities() {
        let to = w.named(Field::Start(quantity).class(), &format!("{}_z", register(quantity)));
        w.step(quantity, 0..y, None, &to);
    }
    let turned: Vec<u32> = turnable(verified.footprint()).collect();
    for &param in &turned {
        w.collect(param, x, y);
    }
    w.op("bar.sync 0");
    w.prologue();
    let across = w.clamp("%tx", "%left", x, 0);
    let mut loaded = Vec::new();
    for turn in 0..TURNS {
        w.note(&format!("what point {turn} of the thread needs"));
        let down = w.clamp("%ty", "%top", y, turn);
        w.load_point(turn, x, y);
        loaded.push((down, w.names.clone()));
    }
    for (turn, (down, names)) in loaded.into_iter().enumerate() {
        w.names = names;
        w.point_inside(stores, turn, [(&across, x), (&down, y)]);
    }
    w.op("ret");
    w.finish("transpose")
}

/// Elements are moved as they lie in memory.
fn raw(dtype: DType) -> DType {
    if dtype == DType::Bool { DType::U8 } else { dtype }
}

impl PtxWriter<'_> {
    /// `%tx`, `%ty`: the thread's place; `%left`, `%top`: the first x and y of the square.
    fn square(&mut self, slots: usize) {
        for name in ["%tx", "%ty", "%left", "%top"] {
            self.named(Class::B32, name);
        }
        for slot in 0..slots {
            self.named(Class::B32, &format!("%i{slot}"));
        }
        self.op("mov.b32 %tx, %tid.x");
        self.op("mov.b32 %ty, %tid.y");
        for (axis, to) in [("x", "%left"), ("y", "%top")] {
            let number = self.set(Class::B32, "mov.b32", &[&format!("%ctaid.{axis}")]);
            self.op(&format!("mul.lo.u32 {to}, {number}, {SIDE}"));
        }
        if slots > 2 {
            let number = self.set(Class::B32, "mov.b32", &["%ctaid.z"]);
            self.digits(&number, 0..slots - 2);
        }
    }

    /// The coordinate of a thread's place in a square: as it is, and in `%iK` at most the slot's last.
    fn clamp(&mut self, thread: &str, first: &str, slot: usize, turn: usize) -> String {
        let extent = self.field(Field::Extent(slot));
        let mut free = self.set(Class::B32, "add.u32", &[thread, first]);
        if turn > 0 {
            let distance = (turn * SIDE / TURNS).to_string();
            free = self.set(Class::B32, "add.u32", &[&free, &distance]);
        }
        let last = self.set(Class::B32, "sub.u32", &[&extent, "1"]);
        self.op(&format!("min.u32 %i{slot}, {free}, {last}"));
        free
    }

    /// Brings the square of a transposed parameter to shared memory: neighbouring threads load along y.
    fn collect(&mut self, param: u32, x: usize, y: usize) {
        let dtype = self.kernel.params[param as usize].dtype;
        let quantity = Quantity::Param(param);
        let straight = self.label("STRAIGHT");
        let turned = self.field(Field::Turned(param));
        let name = format!("square{param}");
        self.share(&name, SIDE * PITCH * dtype.size_bytes());
        self.note(&format!("p{param}, if it is transposed: its square, along y"));
        let not = self.set(Class::Pred, "setp.eq.u32", &[&turned, "0"]);
        self.op(&format!("@{not} bra {straight}"));
        let base = self.set(Class::B32, "mov.b32", &[&name]);
        let at = self.set(Class::B32, "mad.lo.u32", &["%ty", &PITCH.to_string(), "%tx"]);
        let at = self.set(Class::B32, "mad.lo.u32", &[&at, &dtype.size_bytes().to_string(), &base]);
        self.clamp("%tx", "%top", y, 0);
        let mut loaded = Vec::new();
        for turn in 0..TURNS {
            self.clamp("%ty", "%left", x, turn);
            let to = self.named(Class::B64, &format!("%at{param}_{turn}"));
            self.step(quantity, y..x + 1, Some(&format!("%at{param}_z")), &to);
            let value = self.temp(class(raw(dtype)));
            self.load_run("global.nc", raw(dtype), std::slice::from_ref(&value), &Address::at(&to));
            loaded.push(value);
        }
        for (turn, value) in loaded.into_iter().enumerate() {
            let bytes = turn * (SIDE / TURNS) * PITCH * dtype.size_bytes();
            let place = Address { register: at.clone(), bytes: bytes as i64 };
            self.store_run("shared", raw(dtype), &[value], &place);
        }
        self.place(&straight);
    }

    /// Loads and coordinates of one point.
    fn load_point(&mut self, turn: usize, x: usize, y: usize) {
        let kernel = self.kernel;
        let mark = format!("_{turn}");
        for quantity in self.quantities() {
            let to = self.named(Field::Start(quantity).class(), &(register(quantity) + &mark));
            self.step(quantity, y..x + 1, Some(&format!("{}_z", register(quantity))), &to);
        }
        for (at, inst) in kernel.body.iter().enumerate() {
            match &inst.op {
                Op::Coord(k) => {
                    self.names[at] = register(Quantity::Coord(*k, inst.dtype)) + &mark;
                }
                Op::Load { param, .. } if kernel.params[*param as usize].access == Access::In => {
                    let to = self.named(class(inst.dtype), &format!("%v{at}{mark}"));
                    self.load_either(*param, turn, inst.dtype, &to);
                    self.names[at] = to;
                }
                _ => {}
            }
        }
    }

    /// Loads an element from memory, or out of its square if the parameter is transposed.
    fn load_either(&mut self, param: u32, turn: usize, dtype: DType, to: &str) {
        let place = Address::at(&format!("%at{param}_{turn}"));
        let to = [to.to_owned()];
        let (square, loaded) = (self.label("SQUARE"), self.label("LOADED"));
        let turned = self.field(Field::Turned(param));
        let turned = self.set(Class::Pred, "setp.ne.u32", &[&turned, "0"]);
        self.op(&format!("@{turned} bra {square}"));
        self.load_run(self.space(param), dtype, &to, &place);
        self.op(&format!("bra {loaded}"));
        self.place(&square);
        let size = dtype.size_bytes();
        let base = self.set(Class::B32, "mov.b32", &[&format!("square{param}")]);
        let at = self.set(Class::B32, "mad.lo.u32", &["%tx", &PITCH.to_string(), "%ty"]);
        let at = self.set(Class::B32, "mad.lo.u32", &[&at, &size.to_string(), &base]);
        let place = Address { register: at, bytes: (turn * (SIDE / TURNS) * size) as i64 };
        self.load_run("shared", dtype, &to, &place);
        self.place(&loaded);
    }

    /// Computes and stores a point if its coordinates lie in the region. What is also written is loaded
    /// here: no other place may read it.
    fn point_inside(&mut self, stores: &[Store], turn: usize, at: [(&String, usize); 2]) {
        let kernel = self.kernel;
        let past = self.label("OUTSIDE");
        for (coordinate, slot) in at {
            let extent = self.field(Field::Extent(slot));
            let outside = self.set(Class::Pred, "setp.ge.u32", &[coordinate, &extent]);
            self.op(&format!("@{outside} bra {past}"));
        }
        for (at, inst) in kernel.body.iter().enumerate() {
            if let Op::Load { param, .. } = inst.op
                && kernel.params[param as usize].access != Access::In
            {
                let to = self.named(class(inst.dtype), &format!("%v{at}_{turn}"));
                let place = Address::at(&format!("%at{param}_{turn}"));
                self.load_run("global", inst.dtype, std::slice::from_ref(&to), &place);
                self.names[at] = to;
            }
        }
        self.compute(&format!("_{turn}"));
        for store in stores {
            let dtype = kernel.params[store.param as usize].dtype;
            let (value, at) = (self.name(store.value), format!("%at{}_{turn}", store.param));
            self.store_run("global", dtype, &[value], &Address::at(&at));
        }
        self.place(&past);
    }
}
