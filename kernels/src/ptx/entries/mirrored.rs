//! The entry `mirrored`: `transpose` for arrays that are read at each point and at its mirror image,
//! such as `a + a.T`. A block computes a square and the square on the other side of the diagonal. It
//! loads both of every *source*, once, into shared memory; a source's *twin*, the same memory with x and
//! y exchanged, takes its values from the other square, transposed. Blocks have the squares of the upper
//! triangle.
//!
//! The launch says which arrays are sources, and which are whose twins: every array is one or the other.

use super::transpose::{Square, raw};
use crate::ir::{Form, Store};
use crate::ptx::schedule::{PITCH, SIDE, TURNS, turnable};
use crate::ptx::text::{
    Address, Class, Entry, Field, PtxTarget, PtxWriter, Quantity, class, register, slots,
};
use crate::verify::Verified;

/// The entry `mirrored` for so many sources. Of narrow types, too, a thread computes four points of each
/// square: with those of both squares enough bytes are under way.
pub(crate) fn entry(verified: &Verified, target: &PtxTarget, sources: usize) -> Entry {
    let kernel = verified.kernel();
    let Form::Elementwise { stores } = &kernel.form else { unreachable!("only these have tiles") };
    let mut w = PtxWriter::new(verified, target);
    let slots = slots(kernel);
    let (x, y) = (slots - 1, slots - 2);
    w.note("the block's two squares, and the outer coordinates");
    w.square(slots, Some(x));
    let is_turnable = |q: &Quantity| turnable(verified.footprint()).any(|p| *q == Quantity::Param(p));
    for quantity in w.quantities().into_iter().filter(|q| !is_turnable(q)) {
        let to = w.named(Field::Start(quantity).class(), &format!("{}_z", register(quantity)));
        w.step(quantity, 0..y, None, &to);
    }
    for source in 0..sources {
        let start = w.field(Field::SourceStart(source));
        w.source_steps(source, 0..y, &start, &format!("%source{source}_z"));
    }
    w.share("squares", sources * 2 * w.square_bytes());
    let two = w.named(Class::Pred, "%two");
    w.op(&format!("setp.ne.u32 {two}, %left, %top"));
    w.prologue();
    let extent = w.field(Field::Extent(x));
    let end = w.set(Class::B32, "add.u32", &["%left", &SIDE.to_string()]);
    let cut = w.set(Class::Pred, "setp.gt.u32", &[&end, &extent]);
    w.op(&format!("@{cut} bra CUT"));
    let square = Square { x, y, corner: ["%left", "%top"], turns: TURNS, is_cut: false };
    w.two_squares(&square, stores, sources);
    w.place("CUT");
    w.two_squares(&Square { is_cut: true, ..square }, stores, sources);
    w.finish("mirrored")
}

impl PtxWriter<'_> {
    /// Any of the arrays that are read: all have one type.
    fn any_turnable(&self) -> u32 {
        turnable(self.footprint).next().expect("the schedule asks for two")
    }

    /// Bytes of a square in shared memory.
    fn square_bytes(&self) -> usize {
        SIDE * PITCH * self.dtype_of(self.any_turnable()).size_bytes()
    }

    /// The upper triangle of a square of blocks: the lower half of its rows lies mirrored behind the upper.
    pub(super) fn triangle(&mut self, x: usize) {
        let extent = self.field(Field::Extent(x));
        let pairs = self.set(Class::B32, "add.u32", &[&extent, &(2 * SIDE - 1).to_string()]);
        let pairs = self.set(Class::B32, "shr.u32", &[&pairs, &(2 * SIDE).ilog2().to_string()]);
        let last = self.set(Class::B32, "mad.lo.s32", &[&pairs, "2", "-1"]);
        let upper = self.set(Class::Pred, "setp.gt.u32", &["%left", "%top"]);
        let beside = self.set(Class::B32, "sub.u32", &["%left", "1"]);
        let [across, down] = ["%left", "%top"].map(|n| self.set(Class::B32, "sub.u32", &[&last, n]));
        self.op(&format!("selp.b32 %left, {beside}, {across}, {upper}"));
        self.op(&format!("selp.b32 %top, %top, {down}, {upper}"));
        let first = self.set(Class::B32, "mul.lo.u32", &["%left", &SIDE.to_string()]);
        let outside = self.set(Class::Pred, "setp.ge.u32", &[&first, &extent]);
        self.op(&format!("@{outside} ret"));
    }

    /// Adds a source's steps along slots, whose coordinates are in `%iSLOT`.
    fn source_steps(&mut self, source: usize, along: std::ops::Range<usize>, from: &str, to: &str) {
        self.named(Class::B64, to);
        self.op(&format!("mov.b64 {to}, {from}"));
        for slot in along {
            let step = self.field(Field::SourceStep(source, slot));
            self.op(&format!("mad.wide.s32 {to}, %i{slot}, {step}, {to}"));
        }
    }

    /// Loads of both squares, what changes hands, and both squares' points.
    fn two_squares(&mut self, square: &Square, stores: &[Store], sources: usize) {
        let (dtype, bytes) = (raw(self.dtype_of(self.any_turnable())), self.square_bytes());
        let (size, hop) = (dtype.size_bytes(), square.hop());
        let image = Square { corner: ["%top", "%left"], ..*square };
        let loaded = |source, image, turn| format!("%load{source}_{image}_{turn}");
        self.note("all loads: every source, of both squares");
        for source in 0..sources {
            for (n, square) in [square, &image].into_iter().enumerate() {
                self.source_loads(square, source, n, |turn| loaded(source, n, turn));
            }
        }
        self.note("they change hands");
        let base = self.set(Class::B32, "mov.b32", &["squares"]);
        let places = [["%ty", "%tx"], ["%tx", "%ty"]].map(|[row, column]| {
            let at = self.set(Class::B32, "mad.lo.u32", &[row, &PITCH.to_string(), column]);
            self.set(Class::B32, "mad.lo.u32", &[&at, &size.to_string(), &base])
        });
        for source in 0..sources {
            for n in 0..2 {
                for turn in 0..square.turns {
                    let at = (source * 2 + n) * bytes + turn * hop * PITCH * size;
                    let (to, value) = (Address::at(&places[0]).plus(at), loaded(source, n, turn));
                    self.guarded_by("%two", n, |w| w.store_run("shared", dtype, &[value], &to));
                }
            }
        }
        self.op("bar.sync 0");
        let beyond = self.set(Class::B32, "selp.b32", &[&bytes.to_string(), "0", "%two"]);
        for (n, square) in [square, &image].into_iter().enumerate() {
            if n > 0 {
                self.op("@!%two ret");
                let label = self.label("IMAGE");
                self.place(&label);
            }
            let [own, other] = if n == 0 { ["0", &beyond] } else { [&*beyond, "0"] };
            for param in turnable(self.footprint).collect::<Vec<_>>() {
                let [twin, pair] = [Field::Twin(param), Field::Pair(param)].map(|field| self.field(field));
                let is_twin = self.set(Class::Pred, "setp.ne.u32", &[&twin, "0"]);
                let choose =
                    |w: &mut Self, [yes, no]: [&str; 2]| w.set(Class::B32, "selp.b32", &[yes, no, &is_twin]);
                let place = choose(self, [&places[1], &places[0]]);
                let area = choose(self, [other, own]);
                let [down, right] = [hop * size, hop * PITCH * size].map(|bytes| bytes.to_string());
                let next = choose(self, [&down, &right]);
                let mut at = self.set(Class::B32, "add.u32", &[&place, &area]);
                at = self.set(Class::B32, "add.u32", &[&at, &pair]);
                for turn in 0..square.turns {
                    if turn > 0 {
                        at = self.set(Class::B32, "add.u32", &[&at, &next]);
                    }
                    let to = self.raw_value(param, turn);
                    self.load_run("shared", dtype, &[to], &Address::at(&at));
                }
            }
            self.compute_square(square, stores);
        }
        self.op("ret");
    }

    /// Loads the thread's elements of a source's square; of the second, if it is another one.
    fn source_loads(&mut self, square: &Square, source: usize, n: usize, name: impl Fn(usize) -> String) {
        let param = self.any_turnable();
        let (dtype, space) = (raw(self.dtype_of(param)), self.space(param));
        let from = |turn: usize| format!("%from{source}_{n}_{turn}");
        let step = self.field(Field::SourceStep(source, square.y));
        let hop = self.set(Class::B64, "mul.wide.s32", &[&step, &square.hop().to_string()]);
        for turn in 0..square.turns {
            self.named(Class::B64, &from(turn));
            if turn > 0 && !square.is_cut {
                self.op(&format!("add.s64 {}, {}, {hop}", from(turn), from(turn - 1)));
                continue;
            }
            let down = (turn * square.hop()).to_string();
            for (slot, thread, first, further) in
                [(square.x, "%tx", square.corner[0], "0"), (square.y, "%ty", square.corner[1], &*down)]
            {
                let place = self.set(Class::B32, "add.u32", &[thread, first]);
                self.op(&format!("add.u32 %i{slot}, {place}, {further}"));
                if square.is_cut {
                    let extent = self.field(Field::Extent(slot));
                    let last = self.set(Class::B32, "sub.u32", &[&extent, "1"]);
                    self.op(&format!("min.u32 %i{slot}, %i{slot}, {last}"));
                }
            }
            self.source_steps(source, square.y..square.x + 1, &format!("%source{source}_z"), &from(turn));
        }
        for turn in 0..square.turns {
            let to = self.named(class(dtype), &name(turn));
            let at = Address::at(&from(turn));
            self.guarded_by("%two", n, |w| w.load_run(space, dtype, &[to], &at));
        }
    }

    /// Writes instructions of square `n`, with a guard unless the square is the first.
    fn guarded_by(&mut self, predicate: &str, n: usize, write: impl FnOnce(&mut Self)) {
        if n > 0 { self.guarded(predicate, write) } else { write(self) }
    }
}
