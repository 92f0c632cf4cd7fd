//! Elementwise kernels, four neighbouring points per invocation: a *pack*. Rows of packs are aligned to units
//! of one output in memory, so that its stores are whole units. What other parameters need to be shifted is
//! found in the shader. An invocation loads all that its packs read, computes point after point, and stores.

use super::layout;
use super::rows::{RowStep, UnitRow, unit, unit_elements};
use super::writer::{Stage, Visit, Writer};
use crate::ir::{Form, Op, Store};

/// Points of a pack: a unit of each type, or two.
pub const PACK: u32 = 4;
/// Most words of registers that the loads of a pack may take; kernels with more visit single points.
const MOST_WORDS: u32 = 128;
/// Bytes that an invocation should have under way.
const BYTES: u32 = 32;
/// Longest body of which an invocation computes several packs, one text each.
const SHORT: usize = 32;

/// The output that packs are aligned to, if the kernel is one for packs. It is the one of the smallest
/// elements: others' units may then be cut where these are whole.
pub(super) fn grid(w: &Writer) -> Option<u32> {
    let Form::Elementwise { stores } = &w.kernel.form else { return None };
    let words: u32 = UnitRow::all(w.footprint, |p| w.dtype(p)).iter().map(|row| row.words(PACK)).sum();
    let fits = w.target.unroll >= PACK && w.kernel.rank > 0 && words <= MOST_WORDS;
    let smallest = stores.iter().map(|store| store.param).min_by_key(|&p| w.dtype(p).size_bytes());
    smallest.filter(|_| fits)
}

/// Packs per invocation.
fn packs(w: &Writer, rows: &[UnitRow]) -> u32 {
    let bytes: usize = rows.iter().map(|row| PACK as usize * w.dtype(row.param).size_bytes()).sum();
    match (bytes as u32, w.kernel.body.len()) {
        (0, _) | (_, SHORT..) => 1,
        (bytes, _) => (BYTES / bytes).clamp(1, 4),
    }
}

/// The stage, with packs aligned to the units of `grid`.
pub(super) fn stage(mut w: Writer, grid: u32) -> Stage {
    let Form::Elementwise { stores } = w.kernel.form.clone() else { unreachable!("asked before") };
    let rows = UnitRow::all(w.footprint, |p| w.dtype(p));
    let packs = packs(&w, &rows);
    w.has_units = true;
    w.declare_access();
    let tile = w.target.workgroup_size * packs;
    w.line(&format!("let number = {};", w.number()));
    w.row_of_group(tile);
    for pack in 0..packs {
        w.place(pack, grid);
        w.declare_rows(&rows, pack, PACK);
        w.load_rows(&rows, pack, PACK, |w, param| w.along(param, pack));
    }
    (0..packs).for_each(|pack| w.compute(pack, &rows, &stores));
    let bindings = w.bindings();
    w.finish("elementwise", bindings, &[], Visit { tile, grid: Some(grid), blocks: None })
}

impl Writer<'_> {
    fn along(&self, param: u32, pack: u32) -> RowStep {
        let stride = self.signed(self.layout.stride(param, self.kernel.rank - 1));
        RowStep { stride, head: format!("head_{pack}"), tail: format!("tail_{pack}") }
    }

    /// Declares where a pack is: `x_pack` is the last coordinate of its first point, which may be below 0,
    /// and `eP_pack` the element of that point. An invocation without a pack repeats the last one.
    fn place(&mut self, pack: u32, grid: u32) {
        let (last, size, limit) =
            (self.kernel.rank - 1, self.target.workgroup_size, self.word(layout::LIMIT));
        self.line(&format!("let item_{pack} = first + {}u;", pack * size));
        self.line(&format!("var pack_{pack} = min(item_{pack}, {limit} - 1u);"));
        if last > 0 {
            let packs = self.word(layout::PACKS);
            self.line(&format!("var at_{pack} = at;"));
            self.line("if (chunks == 0u) {");
            self.line(&format!("let own = pack_{pack} / {packs};"));
            self.line(&format!("pack_{pack} -= own * {packs};"));
            self.line(&format!("at_{pack} = outer(own);"));
            self.line("}");
        }
        let extent = self.signed(self.layout.extent(last));
        let params = self.bound_params();
        for &param in &params {
            let mut text = self.signed(self.layout.offset(param));
            for k in 0..last {
                let stride = self.signed(self.layout.stride(param, k));
                text.push_str(&format!(" + bitcast<i32>(at_{pack}.i{k}) * {stride}"));
            }
            self.line(&format!("let row{param}_{pack} = {text};"));
        }
        let mask = unit_elements(self.dtype(grid)) - 1;
        let stride = |w: &Self, param: u32| w.signed(w.layout.stride(param, last));
        let phase = format!("select(0i, row{grid}_{pack} & {mask}i, {} == 1i)", stride(self, grid));
        self.line(&format!("let x_{pack} = bitcast<i32>(pack_{pack}) * {PACK}i - {phase};"));
        self.line(&format!("let head_{pack} = max(0i - x_{pack}, 0i);"));
        self.line(&format!("let tail_{pack} = max(x_{pack} + {PACK}i - {extent}, 0i);"));
        for param in params {
            let stride = stride(self, param);
            self.line(&format!("let e{param}_{pack} = row{param}_{pack} + x_{pack} * {stride};"));
        }
    }

    /// Computes the points of a pack and stores them.
    fn compute(&mut self, pack: u32, rows: &[UnitRow], stores: &[Store]) {
        self.line("{");
        self.align_rows(rows, pack, PACK);
        for Store { param, .. } in stores {
            let dtype = self.dtype(*param);
            for k in 0..PACK / unit_elements(dtype) {
                self.line(&format!("var o{param}_{k}: {};", unit(dtype)));
            }
        }
        self.line(&format!("for (var j = 0i; j < {PACK}i; j += 1i) {{"));
        let last = self.kernel.rank - 1;
        if !self.footprint.coords().is_empty() {
            (0..last).for_each(|k| self.line(&format!("let i{k} = at_{pack}.i{k};")));
            self.line(&format!("let i{last} = bitcast<u32>(x_{pack} + j);"));
        }
        self.body(&|w, param, offsets| w.loaded(rows, pack, (param, offsets), 0));
        for Store { param, value } in stores {
            let dtype = self.dtype(*param);
            let element = match &self.kernel.body[value.index()].op {
                // An element that is only copied is not converted.
                Op::Load { param: from, offsets } if self.dtype(*from) == dtype => {
                    self.element_of(rows, pack, (*from, offsets), 0)
                }
                _ if dtype.size_bytes() == 8 => format!("v{}", value.0),
                _ => self.pack(dtype, &format!("v{}", value.0)),
            };
            self.push(*param, PACK, &element);
        }
        self.advance(rows, pack, PACK);
        self.line("}");
        self.line(&format!("if (item_{pack} < {}) {{", self.word(layout::LIMIT)));
        for Store { param, .. } in stores {
            let along = self.along(*param, pack);
            self.store_units(*param, PACK, &format!("e{param}_{pack}"), &along);
        }
        self.line("}");
        self.line("}");
    }
}
