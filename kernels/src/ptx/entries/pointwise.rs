//! The entry `pointwise`: one point per thread, any strides. Gathers and scatters have no other entry. And
//! the entry `batched_copy`: one launch over many boxes, whatever their shapes and wherever they lie. Packing
//! the faces of an exchange is dozens of copies of a few cells, and each launch costs microseconds.
//!
//! The parameter of `batched_copy` is a table: per box, where its first block is; then per box what
//! `pointwise` would be given. A block finds its box by bisection, in as many steps as a power of two has
//! digits, and its threads take the box's points one after the other. That is slower than `vector` over a
//! box that is large, and is meant for small ones.
//!
//! The entry `vector`: each thread computes several neighbouring points and stores them as 16 bytes.
//!
//! A row of the output need not begin at a multiple of 16 bytes: the threads of a row are shifted back
//! by its *phase*, so that each has an aligned vector, and those whose vector sticks out of the row
//! compute its inner points one at a time. Each row of an input is tested when the thread comes to
//! it: neighbours in memory and aligned, it is loaded as vectors (with single elements around them,
//! for stencils); otherwise element by element, which also serves broadcast and strided inputs.

use std::collections::BTreeMap;

use crate::dtype::{DType, Kind};
use crate::ir::{Access, BinaryOp, Form, Op, Store, Value};
use crate::ptx::schedule::{VectorRow, Vectors, has_many_arrays, place_name, runs};
use crate::ptx::text::{
    Address, Class, Entry, Field, MAX_BLOCK_BYTES, ParameterBlock, Point, PtxTarget, PtxWriter, Quantity,
    THREADS, class, register, size_bits, slots,
};
use crate::verify::{Verified, row_and_column};
/// The entry `pointwise`.
pub(crate) fn entry(kernel: &Verified, target: &PtxTarget) -> Entry {
    let mut w = PtxWriter::new(kernel, target);
    let slots = slots(w.kernel);
    w.note("the thread's point");
    w.grid_x();
    w.grid_outer(slots);
    let (x, extent) = (format!("%i{}", slots - 1), w.field(Field::Extent(slots - 1)));
    w.op(&format!("mov.b32 {x}, %x"));
    w.leave_unless(&x, &extent);
    w.at_point();
    w.finish("pointwise")
}

impl PtxWriter<'_> {
    /// The work of a thread whose point is known, to its end.
    pub(crate) fn at_point(&mut self) {
        self.prologue();
        self.note("where it is in memory");
        let located_later = |q: &Quantity| self.has_many_arrays() && matches!(q, Quantity::Param(_));
        for quantity in self.quantities().into_iter().filter(|q| !located_later(q)).collect::<Vec<_>>() {
            self.locate(quantity, 0..slots(self.kernel), None);
        }
        self.note("the body");
        self.point();
        self.op("ret");
    }

    /// Places of so many arrays at once would fill the registers: each is located where it is loaded or
    /// stored.
    fn has_many_arrays(&self) -> bool {
        matches!(self.kernel.form, Form::Elementwise { .. }) && has_many_arrays(self.footprint)
    }

    fn locate_now(&mut self, param: u32) {
        if self.has_many_arrays() {
            self.locate(Quantity::Param(param), 0..slots(self.kernel), None);
        }
    }

    /// Body and stores at the point where all quantities are located.
    pub(crate) fn point(&mut self) {
        self.read_after("", Self::locate_now);
        self.compute("");
        match self.kernel.form.clone() {
            Form::Elementwise { stores } => {
                for Store { param, value } in stores {
                    self.locate_now(param);
                    let value = self.name(value);
                    self.store(param, &value);
                }
            }
            Form::Gather { index, source, output } => self.gather(index, source, output),
            Form::Scatter { index, value, output, add } => self.scatter(index, value, output, add),
            Form::Reduce { .. } | Form::Scan(_) => unreachable!("these have their own loops"),
        }
    }

    fn gather(&mut self, index: Value, source: u32, output: u32) {
        let (dtype, past) = (self.kernel.params[source as usize].dtype, self.label("PAST"));
        let from = self.indexed(index, dtype, &past);
        let value = self.temp(class(dtype));
        self.load_run("global.nc", dtype, std::slice::from_ref(&value), &from);
        self.store(output, &value);
        self.place(&past);
    }

    fn scatter(&mut self, index: Value, value: Value, output: u32, add: bool) {
        let (dtype, past) = (self.kernel.params[output as usize].dtype, self.label("PAST"));
        let to = self.indexed(index, dtype, &past);
        let mut value = self.name(value);
        if add {
            let old = self.temp(class(dtype));
            self.load_run("global", dtype, std::slice::from_ref(&old), &to);
            let sum = self.temp(class(dtype));
            self.binary(BinaryOp::Add, dtype, &sum, &old, &value);
            value = sum;
        }
        self.store_run("global", dtype, &[value], &to);
        self.place(&past);
    }

    /// The element an index names; jumps past if there is none. As an unsigned number a negative index
    /// is larger than any count.
    fn indexed(&mut self, index: Value, dtype: DType, past: &str) -> Address {
        let of = self.kernel.body[index.index()].dtype;
        let name = self.name(index);
        let wide = match (class(of), of.kind()) {
            (Class::B64, _) => name,
            (_, Kind::Int) => self.set(Class::B64, "cvt.s64.s32", &[&name]),
            _ => self.set(Class::B64, "cvt.u64.u32", &[&name]),
        };
        let (start, count) = (self.field(Field::IndexedStart), self.field(Field::IndexedCount));
        let none = self.set(Class::Pred, "setp.ge.u64", &[&wide, &count]);
        self.op(&format!("@{none} bra {past}"));
        let bytes = self.set(Class::B64, "shl.b64", &[&wide, &size_bits(dtype).to_string()]);
        Address::at(&self.set(Class::B64, "add.s64", &[&start, &bytes]))
    }
}

/// The most boxes of a launch.
const MOST_BOXES: usize = 64;

/// Whether a kernel is offered over many boxes at once: it moves elements, or adds them, from where they are.
pub(crate) fn is_batched(verified: &Verified) -> bool {
    let kernel = verified.kernel();
    let Form::Elementwise { stores } = &kernel.form else { return false };
    let plain = |op: &Op| matches!(op, Op::Load { .. } | Op::Binary(..));
    stores.len() == 1
        && kernel.params.len() == 2
        && kernel.rank > 0
        && kernel.body.len() <= 3
        && verified.footprint().is_pointwise()
        && kernel.body.iter().all(|inst| plain(&inst.op))
}

/// Boxes of a launch whose rows are so long.
pub(crate) fn batch_rows(row: &ParameterBlock) -> usize {
    let fit = MAX_BLOCK_BYTES / (4 + row.length());
    // The largest power of two that fits.
    MOST_BOXES.min(1 << fit.ilog2())
}

/// The entry `batched_copy`.
pub(crate) fn batched_copy(kernel: &Verified, target: &PtxTarget) -> Entry {
    let mut w = PtxWriter::new(kernel, target);
    let slots = slots(w.kernel);
    // First, because numbers of eight bytes leave gaps behind those of four.
    w.quantities().into_iter().for_each(|quantity| drop(w.field(Field::Start(quantity))));
    w.note("the thread's point");
    let block = w.set(Class::B32, "mov.b32", &["%ctaid.x"]);
    let thread = w.set(Class::B32, "mov.b32", &["%tid.x"]);
    let block = w.set(Class::B32, "sub.u32", &[&block, "%first"]);
    let number = w.set(Class::B32, "mad.lo.u32", &[&block, &THREADS.to_string(), &thread]);
    w.digits(&number, 0..slots);
    let extent = w.field(Field::Extent(0));
    w.leave_unless("%i0", &extent);
    w.at_point();
    let rows = batch_rows(&w.block);
    w.finish_table("batched_copy", rows)
}

/// The entry `vector`.
pub(crate) fn vector(verified: &Verified, target: &PtxTarget, plan: &Vectors) -> Entry {
    let kernel = verified.kernel();
    let Form::Elementwise { stores } = &kernel.form else { unreachable!("only these have vectors") };
    let mut w = PtxWriter::new(verified, target);
    let x = slots(kernel) - 1;
    w.note("the thread's row, and where it is in memory");
    w.grid_outer(x + 1);
    for quantity in w.quantities() {
        let to = w.named(Field::Start(quantity).class(), &row_register(quantity));
        w.step(quantity, 0..x, None, &to);
    }
    w.note("the thread's first point: its vectors are aligned");
    w.vector_number(plan);
    w.first_point(stores[0].param, plan.lanes, x);
    let extent = w.field(Field::Extent(x));
    let past = w.set(Class::Pred, "setp.ge.s32", &[&format!("%i{x}"), &extent]);
    w.op(&format!("@{past} ret"));
    w.prologue();
    w.named(Class::B32, "%end");
    if plan.vectors > 1 {
        w.side_by_side(plan.blocks);
        w.several(plan, stores, x);
    }
    w.leave_unless_whole(1, plan.lanes, x, "PARTIAL");
    w.note("a whole vector");
    w.whole(1, plan, stores, x);
    w.next(plan, x);
    w.place("PARTIAL");
    w.note("a vector that sticks out: its points inside, one by one");
    w.partial(x);
    w.next(plan, x);
    if plan.vectors > 1 {
        w.place("DONE");
        w.op("ret");
    }
    w.finish("vector")
}

/// The register of a quantity at the beginning of the thread's row.
pub(crate) fn row_register(quantity: Quantity) -> String {
    match quantity {
        Quantity::Param(p) => format!("%row{p}"),
        Quantity::Coord(..) => format!("{}_row", register(quantity)),
    }
}

/// The elements of a row that a vector needs: the register of each position.
pub(crate) type Elements = BTreeMap<i32, String>;

/// The suffix that tells the registers of a thread's second vector from those of its first.
fn mark(vector: usize) -> String {
    if vector == 0 { String::new() } else { format!("_{}", (b'a' + vector as u8) as char) }
}

impl PtxWriter<'_> {
    /// `%x` = number of the thread's first vector; the vectors of a thread are `%hop` points apart.
    fn vector_number(&mut self, plan: &Vectors) {
        if plan.vectors == 1 {
            return self.grid_x();
        }
        for name in ["%x", "%hop", "%turns"] {
            self.named(Class::B32, name);
        }
        let [block, width, thread] =
            ["%ctaid.x", "%ntid.x", "%tid.x"].map(|register| self.set(Class::B32, "mov.b32", &[register]));
        let tile = self.set(Class::B32, "mul.lo.u32", &[&width, &plan.vectors.to_string()]);
        self.op(&format!("mad.lo.u32 %x, {block}, {tile}, {thread}"));
        self.op(&format!("shl.b32 %hop, {width}, {}", plan.lanes.trailing_zeros()));
    }

    /// The x of the thread's first point: its number times the lanes, less the phase of the row.
    pub(crate) fn first_point(&mut self, leader: u32, lanes: usize, x: usize) {
        let dtype = self.kernel.params[leader as usize].dtype;
        let low = self.set(Class::B32, "cvt.u32.u64", &[&format!("%row{leader}")]);
        let width = lanes.trailing_zeros().to_string();
        let phase = self.set(Class::B32, "bfe.u32", &[&low, &size_bits(dtype).to_string(), &width]);
        let first = self.set(Class::B32, "shl.b32", &["%x", &width]);
        self.op(&format!("sub.s32 %i{x}, {first}, {phase}"));
    }

    /// Goes elsewhere unless the next vectors lie wholly in the row; `%end` is the end of the last.
    pub(crate) fn leave_unless_whole(&mut self, vectors: usize, lanes: usize, x: usize, to: &str) {
        let extent = self.field(Field::Extent(x));
        let mut last = format!("%i{x}");
        if vectors > 1 {
            let distance = (vectors - 1).to_string();
            last = self.set(Class::B32, "mad.lo.s32", &["%hop", &distance, &last]);
        }
        self.op(&format!("add.s32 %end, {last}, {lanes}"));
        let head = self.set(Class::Pred, "setp.lt.s32", &[&format!("%i{x}"), "0"]);
        let out = self.set(Class::Pred, "setp.gt.or.s32", &["%end", &extent, &head]);
        self.op(&format!("@{out} bra {to}"));
    }

    /// All vectors of the thread together, so that all their loads are under way at once; or, where one
    /// sticks out of the row, one after the other.
    fn several(&mut self, plan: &Vectors, stores: &[Store], x: usize) {
        self.leave_unless_whole(plan.vectors, plan.lanes, x, "SEVERAL");
        self.note("all vectors are whole");
        self.whole(plan.vectors, plan, stores, x);
        self.op("ret");
        self.place("SEVERAL");
        self.op(&format!("mov.b32 %turns, {}", plan.vectors));
        self.place("VECTOR");
        let extent = self.field(Field::Extent(x));
        let past = self.set(Class::Pred, "setp.ge.s32", &[&format!("%i{x}"), &extent]);
        self.op(&format!("@{past} bra DONE"));
        self.op(&format!("add.s32 %x, %i{x}, %hop"));
    }

    /// On to the thread's next vector, if it has several.
    fn next(&mut self, plan: &Vectors, x: usize) {
        if plan.vectors == 1 {
            return self.op("ret");
        }
        self.op(&format!("mov.b32 %i{x}, %x"));
        self.op("sub.u32 %turns, %turns, 1");
        let more = self.set(Class::Pred, "setp.ne.u32", &["%turns", "0"]);
        self.op(&format!("@{more} bra VECTOR"));
        self.op("bra DONE");
    }

    fn partial(&mut self, x: usize) {
        let extent = self.field(Field::Extent(x));
        self.op(&format!("max.s32 %i{x}, %i{x}, 0"));
        self.op(&format!("min.s32 %end, %end, {extent}"));
        self.place("POINT");
        for quantity in self.quantities() {
            self.at(quantity, &register(quantity), x);
        }
        self.point();
        self.op(&format!("add.s32 %i{x}, %i{x}, 1"));
        let more = self.set(Class::Pred, "setp.lt.s32", &[&format!("%i{x}"), "%end"]);
        self.op(&format!("@{more} bra POINT"));
    }

    /// Writes a quantity at the thread's point.
    fn at(&mut self, quantity: Quantity, to: &str, x: usize) {
        self.named(Field::Start(quantity).class(), to);
        self.step(quantity, x..x + 1, Some(&row_register(quantity)), to);
    }

    /// Loads of some whole vectors, then their points, then their stores.
    fn whole(&mut self, vectors: usize, plan: &Vectors, stores: &[Store], x: usize) {
        let mut loaded = Vec::new();
        for vector in 0..vectors {
            let mark = mark(vector);
            if vector > 0 {
                self.op(&format!("add.s32 %i{x}, %i{x}, %hop"));
            }
            for quantity in self.quantities() {
                self.at(quantity, &(register(quantity) + &mark), x);
            }
            loaded.push(self.rows(plan, &mark, x));
        }
        for (vector, rows) in loaded.iter().enumerate() {
            let mark = mark(vector);
            let mut results: Vec<Vec<String>> = vec![Vec::new(); stores.len()];
            let mut points: Vec<Point> = Vec::new();
            for lane in 0..plan.lanes {
                self.enter(plan, rows, lane, &mark, x);
                points.push(Point { mark: format!("_{lane}{mark}"), names: self.names.clone() });
            }
            self.compute_points(&mut points);
            for point in points {
                for (results, store) in results.iter_mut().zip(stores) {
                    results.push(point.names[store.value.index()].clone());
                }
            }
            for (values, store) in results.iter().zip(stores) {
                let dtype = self.kernel.params[store.param as usize].dtype;
                self.store_run("global", dtype, values, &Address::at(&format!("%at{}{mark}", store.param)));
            }
        }
    }

    /// Names the loads and coordinates of one lane.
    fn enter(&mut self, plan: &Vectors, rows: &[Elements], lane: usize, mark: &str, x: usize) {
        let kernel = self.kernel;
        for (at, inst) in kernel.body.iter().enumerate() {
            match &inst.op {
                Op::Load { param, offsets } => {
                    let (outer, last) = row_and_column(offsets);
                    let row = plan.rows.iter().position(|r| r.param == *param && r.offsets == outer);
                    let row = row.expect("every load has its row");
                    self.names[at] = rows[row][&(lane as i32 + last)].clone();
                }
                Op::Coord(k) => self.names[at] = self.coordinate(*k, inst.dtype, lane, mark, x),
                _ => {}
            }
        }
    }

    pub(crate) fn coordinate(&mut self, dim: u32, dtype: DType, lane: usize, mark: &str, x: usize) -> String {
        let quantity = Quantity::Coord(dim, dtype);
        let first = register(quantity) + mark;
        if lane == 0 {
            return first;
        }
        let turn = self.field(Field::Step(quantity, x));
        let mad = if dtype == DType::I64 { "mad.wide.s32" } else { "mad.lo.s32" };
        let to = self.named(class(dtype), &format!("{first}_{lane}"));
        self.op(&format!("{mad} {to}, {turn}, {lane}, {first}"));
        to
    }

    /// Loads all rows of a vector: at once if all are aligned, else each as it can be.
    fn rows(&mut self, plan: &Vectors, mark: &str, x: usize) -> Vec<Elements> {
        let rows: Vec<(String, Elements)> = (0..plan.rows.len())
            .map(|n| {
                let row = &plan.rows[n];
                let dtype = self.kernel.params[row.param as usize].dtype;
                let at = self.neighbour(row.param, &format!("%at{}{mark}", row.param), &row.offsets);
                let mut name = |p: i32| self.named(class(dtype), &format!("%w{n}_{}{mark}", place_name(p)));
                (at.register, row.positions.iter().map(|&p| (p, name(p))).collect())
            })
            .collect();
        let tested: Vec<usize> = (0..rows.len()).filter(|&n| self.may_be_unaligned(&plan.rows[n])).collect();
        let misfits: Vec<String> = (tested.iter())
            .map(|&n| (&plan.rows[n], &rows[n].0))
            .map(|(row, at)| self.misfit(row, at, plan.lanes, Field::Apart(row.param)))
            .collect();
        let loaded = self.label("LOADED");
        if tested.len() > 1 {
            let pieces = self.label("PIECES");
            let any = misfits
                .iter()
                .skip(1)
                .fold(misfits[0].clone(), |any, misfit| self.set(Class::B32, "or.b32", &[&any, misfit]));
            let any = self.set(Class::Pred, "setp.ne.u32", &[&any, "0"]);
            self.op(&format!("@{any} bra {pieces}"));
            for (row, (at, elements)) in plan.rows.iter().zip(&rows) {
                self.aligned_row(row, plan.lanes, elements, at);
            }
            self.op(&format!("bra {loaded}"));
            self.place(&pieces);
        }
        for (n, (row, (at, elements))) in plan.rows.iter().zip(&rows).enumerate() {
            match tested.iter().position(|&t| t == n) {
                None => self.aligned_row(row, plan.lanes, elements, at),
                Some(t) => self.either_row(row, plan.lanes, elements, at, &misfits[t], x),
            }
        }
        self.place(&loaded);
        rows.iter().for_each(|(_, elements)| self.release_pairs(elements));
        rows.into_iter().map(|(_, elements)| elements).collect()
    }

    /// Whether the row may be unaligned. Stored arrays are aligned, and so are loads of them at the point.
    pub(crate) fn may_be_unaligned(&self, row: &VectorRow) -> bool {
        self.kernel.params[row.param as usize].access == Access::In
    }

    /// 0 if the row is side by side in memory and aligned.
    pub(crate) fn misfit(&mut self, row: &VectorRow, at: &str, lanes: usize, apart: Field) -> String {
        let size = self.kernel.params[row.param as usize].dtype.size_bytes();
        let apart = self.field(apart);
        let low = self.set(Class::B32, "cvt.u32.u64", &[at]);
        let low = self.set(Class::B32, "and.b32", &[&low, &(lanes * size - 1).to_string()]);
        self.set(Class::B32, "or.b32", &[&low, &apart])
    }

    fn either_row(
        &mut self,
        row: &VectorRow,
        lanes: usize,
        elements: &Elements,
        at: &str,
        misfit: &str,
        x: usize,
    ) {
        let (single, done) = (self.label("SINGLE"), self.label("ROW"));
        let misfit = self.set(Class::Pred, "setp.ne.u32", &[misfit, "0"]);
        self.op(&format!("@{misfit} bra {single}"));
        self.aligned_row(row, lanes, elements, at);
        self.op(&format!("bra {done}"));
        self.place(&single);
        self.single_row(row, elements, at, x);
        self.place(&done);
    }

    pub(crate) fn aligned_row(&mut self, row: &VectorRow, lanes: usize, elements: &Elements, at: &str) {
        let dtype = self.kernel.params[row.param as usize].dtype;
        for (first, len) in runs(&row.positions, lanes) {
            let to: Vec<String> = (first..first + len as i32).map(|p| elements[&p].clone()).collect();
            let bytes = i64::from(first) * dtype.size_bytes() as i64;
            let from = Address { register: at.to_owned(), bytes };
            self.load_run(self.space(row.param), dtype, &to, &from);
        }
        self.hold_pairs(elements);
    }

    /// Element by element, neighbours in memory.
    pub(crate) fn loose_row(&mut self, row: &VectorRow, elements: &Elements, at: &str) {
        let dtype = self.kernel.params[row.param as usize].dtype;
        for (&position, to) in elements {
            let from =
                Address { register: at.to_owned(), bytes: i64::from(position) * dtype.size_bytes() as i64 };
            self.load_run(self.space(row.param), dtype, std::slice::from_ref(to), &from);
        }
    }

    /// Element by element. Operands loaded sideways are contiguous, as the launch has checked.
    pub(crate) fn single_row(&mut self, row: &VectorRow, elements: &Elements, at: &str, x: usize) {
        let dtype = self.kernel.params[row.param as usize].dtype;
        let step = self.field(Field::Step(Quantity::Param(row.param), x));
        for (&position, to) in elements {
            let place = if position == 0 {
                Address::at(at)
            } else {
                Address::at(&self.set(Class::B64, "mad.wide.s32", &[&step, &position.to_string(), at]))
            };
            self.load_run(self.space(row.param), dtype, std::slice::from_ref(to), &place);
        }
        self.hold_pairs(elements);
    }

    /// Elements of 16 bits as words, in which they come out of either way to load them.
    pub(crate) fn hold_pairs(&mut self, elements: &Elements) {
        for (halves, held) in self.pairs(elements) {
            let word = self.pair_word(&halves[0], &halves[1]);
            self.op(&format!("mov.b32 {held}, {word}"));
        }
    }

    /// The elements of words that are held, after the ways have met.
    pub(crate) fn release_pairs(&mut self, elements: &Elements) {
        for (halves, held) in self.pairs(elements) {
            self.split_word(&halves, &held);
        }
    }

    /// Neighbours of 16 bits that are two halves of a word, and its register.
    fn pairs(&mut self, elements: &Elements) -> Vec<([String; 2], String)> {
        let mut pairs = Vec::new();
        for (position, low) in elements.iter().filter(|(position, _)| **position % 2 == 0) {
            if let Some(high) = elements.get(&(position + 1))
                && self.is_half(low)
            {
                pairs.push(([low.clone(), high.clone()], self.named(Class::B32, &format!("{low}_word"))));
            }
        }
        pairs
    }
}
