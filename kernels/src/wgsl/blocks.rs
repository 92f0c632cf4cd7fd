//! Elementwise kernels whose workgroups are blocks of two dimensions: stencils, and transposed inputs.
//!
//! - `planes`: an invocation computes a unit of points in each of several planes (rows, of two dimensions).
//!   All loads come before the first use; neighbours come from the caches. The rows of all arrays are in
//!   phase, which the planner of launches checks: no unit is shifted, elements beside it are loaded alone.
//!   Planes that stick out of the region are moved into it; only those of the invocation itself are stored.
//! - `transpose`: a workgroup computes a square of points. Of an input whose neighbours in memory lie along y
//!   it loads a square along y and hands it out along x through workgroup memory.

use std::collections::BTreeSet;

use super::layout;
use super::packs::PACK;
use super::rows::{RowStep, part, unit_elements};
use super::writer::{Blocks, Stage, Visit, Writer, register};
use crate::ir::{Form, Offsets, Op, Store};
use crate::verify::{LoadSite, row_and_column};

/// Points along each side of a square.
const SIDE: u32 = 32;
/// Elements between rows of a square in workgroup memory: odd, so that columns are in different banks.
const PITCH: u32 = SIDE + 1;
/// Bytes of workgroup memory that squares may take.
const SQUARE_BYTES: u32 = 16 << 10;
/// Most instructions of bodies that are written one behind the other.
const MOST_WRITTEN: usize = 256;

/// The most planes of an invocation, and the most rows where these are its planes.
const MOST_PLANES: u32 = 4;
const MOST_ROWS: u32 = 2;
/// Words of registers that what an invocation loads may fill.
const MOST_WORDS: usize = 80;
/// Loads for each unit of an invocation: of more, fewer packs are under way than of the stage `elementwise`.
const MOST_LOADS: usize = 24;
/// Instructions of all points of an invocation.
const MOST_COMPUTED: usize = 1200;

/// The stage that suits a kernel, if one does.
pub(super) fn stage(w: Writer) -> Option<Stage> {
    if w.target.unroll < PACK || w.kernel.rank < 2 || !w.target.workgroup_size.is_multiple_of(SIDE) {
        return None;
    }
    match w.footprint.is_pointwise() {
        true => transpose(w),
        false => Planes::of(&w).map(|planes| planes.stage(w)),
    }
}

/// The elements of one row of a parameter that the points of an invocation read, of whole units and alone.
struct PlaneRow {
    param: u32,
    /// Offsets from the first plane; 0 in the last dimension.
    offsets: Offsets,
    columns: Vec<i32>,
    units: Vec<i32>,
    alone: Vec<i32>,
}

struct Planes {
    /// The dimension across planes.
    along: usize,
    count: u32,
    /// Points in a plane.
    lanes: u32,
    rows: Vec<PlaneRow>,
}

impl PlaneRow {
    fn new(param: u32, offsets: Offsets, mut columns: Vec<i32>, lanes: i32) -> PlaneRow {
        columns.sort_unstable();
        columns.dedup();
        let positions: BTreeSet<i32> =
            columns.iter().flat_map(|column| (0..lanes).map(move |lane| lane + column)).collect();
        let is_whole = |unit: i32| (lanes * unit..lanes * (unit + 1)).all(|p| positions.contains(&p));
        let (whole, alone): (Vec<i32>, Vec<i32>) =
            positions.iter().partition(|position| is_whole(position.div_euclid(lanes)));
        let mut units: Vec<i32> = whole.into_iter().map(|position| position.div_euclid(lanes)).collect();
        units.dedup();
        PlaneRow { param, offsets, columns, units, alone }
    }
}

impl Planes {
    fn of(w: &Writer) -> Option<Planes> {
        let Form::Elementwise { .. } = w.kernel.form else { return None };
        let x = w.kernel.rank - 1;
        let along = (0..x).find(|&dim| w.footprint.reads_along(dim))?;
        let used = w.bound_params();
        let lanes = unit_elements(w.dtype(*used.first()?));
        let in_place = w.footprint.params().iter().any(|param| param.is_in_place && param.radius.is_some());
        if in_place || used.iter().any(|&p| unit_elements(w.dtype(p)) != lanes) {
            return None;
        }
        let most = if along + 1 == x { MOST_ROWS } else { MOST_PLANES };
        let plan = |count: u32| {
            let mut all: Vec<(u32, Offsets, Vec<i32>)> = Vec::new();
            for plane in 0..count as i32 {
                for row in w.footprint.rows() {
                    let mut offsets = row.offsets.clone();
                    offsets[along] += plane;
                    match all.iter_mut().find(|(p, known, _)| *p == row.param && *known == offsets) {
                        Some((.., columns)) => columns.extend(&row.columns),
                        None => all.push((row.param, offsets, row.columns.clone())),
                    }
                }
            }
            let rows = all.into_iter().map(|(p, o, columns)| PlaneRow::new(p, o, columns, lanes as i32));
            Planes { along, count, lanes, rows: rows.collect() }
        };
        let fits = |plan: &Planes| {
            let bytes = |row: &PlaneRow| {
                let size = w.dtype(row.param).size_bytes();
                (row.units.len() * size * plan.lanes as usize).next_multiple_of(4)
                    + row.alone.len() * size.max(4)
            };
            let words = plan.rows.iter().map(bytes).sum::<usize>() / 4;
            let loads: usize = plan.rows.iter().map(|row| row.units.len() + row.alone.len()).sum();
            words <= MOST_WORDS
                && loads <= MOST_LOADS * plan.count as usize
                && w.kernel.body.len() * (plan.lanes * plan.count) as usize <= MOST_COMPUTED
        };
        [most, 2, 1].into_iter().map(plan).find(fits)
    }

    fn stage(&self, mut w: Writer) -> Stage {
        let Form::Elementwise { stores } = w.kernel.form.clone() else { unreachable!("asked before") };
        w.has_units = true;
        w.declare_access();
        let fields: Vec<String> = (stores.iter().enumerate())
            .map(|(k, store)| format!("s{k}: {}", register(w.dtype(store.param))))
            .collect();
        w.declare(&format!("struct Point {{ {} }}", fields.join(", ")));
        let roots: Vec<String> = stores.iter().map(|store| format!("v{}", store.value.0)).collect();
        w.declare_value("Point", &roots);
        self.place(&mut w, stores[0].param);
        self.load(&mut w);
        (0..self.count).for_each(|plane| self.compute(&mut w, plane, &stores));
        let bindings = w.bindings();
        let blocks = Blocks { along: self.along, planes: self.count };
        let visit = Visit { tile: 0, grid: Some(stores[0].param), blocks: Some(blocks) };
        w.finish("planes", bindings, &[], visit)
    }

    /// Declares `start`, the first plane, `own`, the first that is the invocation's; `x`, the first point, of
    /// which `head` and `tail` at the ends are not in the region; and `eP`, its elements in the first plane.
    fn place(&self, w: &mut Writer, grid: u32) {
        let (x, y, count) = (w.kernel.rank - 1, w.kernel.rank - 2, self.count);
        let (log, limit) = (w.word(layout::LOG_THREADS), w.word(layout::LIMIT));
        w.place_block(Some((self.along, count)));
        w.line(&format!("let pack = (block_x << {log}) + (local & ((1u << {log}) - 1u));"));
        w.line(&format!("let row = block_y * ({}u >> {log}) + (local >> {log});", w.target.workgroup_size));
        let extent = |w: &Writer, dim: usize| w.word(w.layout.extent(dim));
        let (rows, walked) = (extent(w, y), extent(w, self.along));
        if self.along == y {
            w.line(&format!("let own = row * {count}u;"));
            w.line(&format!("let is_mine = is_there && pack < {limit} && own < {walked};"));
        } else {
            w.line(&format!("let own = i{} * {count}u;", self.along));
            w.line(&format!("let is_mine = is_there && pack < {limit} && row < {rows};"));
            w.line(&format!("let i{y} = min(row, {rows} - 1u);"));
        }
        w.line(&format!("let start = min(own, {walked} - {count}u);"));
        let params = w.bound_params();
        for &param in &params {
            let mut text = w.signed(w.layout.offset(param));
            for k in 0..x {
                let (stride, at) = (w.signed(w.layout.stride(param, k)), w.outer_name(self.along, k));
                text.push_str(&format!(" + bitcast<i32>({at}) * {stride}"));
            }
            w.line(&format!("let row{param} = {text};"));
        }
        let lanes = self.lanes;
        w.line(&format!("let phase = row{grid} & {}i;", lanes - 1));
        w.line(&format!("let x = bitcast<i32>(min(pack, {limit} - 1u)) * {lanes}i - phase;"));
        w.line("let head = max(0i - x, 0i);");
        w.line(&format!("let tail = max(x + {lanes}i - {}, 0i);", w.signed(w.layout.extent(x))));
        params.iter().for_each(|param| w.line(&format!("let e{param} = row{param} + x;")));
    }

    /// Loads everything: rN_K are units, aN_K single elements.
    fn load(&self, w: &mut Writer) {
        for (n, row) in self.rows.iter().enumerate() {
            let (p, shift, lanes) = (row.param, self.lanes.ilog2(), self.lanes as i32);
            let mut at = format!("e{p}");
            for (k, offset) in row.offsets.iter().enumerate().filter(|(_, offset)| **offset != 0) {
                at.push_str(&format!(" + {offset}i * {}", w.signed(w.layout.stride(p, k))));
            }
            w.line(&format!("let b{n} = {at};"));
            for &unit in &row.units {
                w.line(&format!("let r{n}_{} = p{p}[(b{n} >> {shift}u) + {unit}i];", place(unit)));
            }
            // The nearest element that is read, if the first or last points are missing.
            let (low, high) = (row.columns[0], row.columns[row.columns.len() - 1]);
            for &position in &row.alone {
                let mut at = format!("{position}i");
                if position < lanes - 1 + low {
                    at = format!("max({at}, head + {low}i)");
                }
                if position > high {
                    at = format!("min({at}, {}i - tail)", lanes - 1 + high);
                }
                w.line(&format!("let a{n}_{} = at{p}(bitcast<u32>(b{n} + {at}));", place(position)));
            }
        }
    }

    /// The value of a load at a point, or the word that it is the low part of.
    fn element(&self, w: &Writer, site: &LoadSite, plane: u32, lane: u32) -> String {
        let (mut offsets, column) = row_and_column(&site.offsets);
        offsets[self.along] += plane as i32;
        let found = self.rows.iter().enumerate().find(|(_, r)| r.param == site.param && r.offsets == offsets);
        let Some((n, row)) = found else { unreachable!("every load has its row") };
        let (position, lanes) = (lane as i32 + column, self.lanes as i32);
        let unit = position.div_euclid(lanes);
        match row.units.contains(&unit) {
            true => {
                let name = format!("r{n}_{}", place(unit));
                part(&name, w.dtype(site.param), position.rem_euclid(lanes) as u32)
            }
            false => format!("a{n}_{}", place(position)),
        }
    }

    /// Computes the points of a plane and stores them.
    fn compute(&self, w: &mut Writer, plane: u32, stores: &[Store]) {
        w.line("{");
        let x = w.kernel.rank - 1;
        for lane in 0..self.lanes {
            let mut arguments = Vec::new();
            for site in w.footprint.loads() {
                let element = self.element(w, site, plane, lane);
                let dtype = w.dtype(site.param);
                arguments.push(if dtype.size_bytes() == 8 { element } else { w.unpack(dtype, &element) });
            }
            for dim in w.coordinates() {
                arguments.push(match dim {
                    _ if dim == x => format!("bitcast<u32>(x + {lane}i)"),
                    _ if dim == self.along => format!("start + {plane}u"),
                    _ => format!("i{dim}"),
                });
            }
            w.line(&format!("let y{lane} = value({});", arguments.join(", ")));
        }
        let along = RowStep { stride: "1i".into(), head: "head".into(), tail: "tail".into() };
        w.line(&format!("if (is_mine && start + {plane}u >= own) {{"));
        for (k, Store { param, .. }) in stores.iter().enumerate() {
            let dtype = w.dtype(*param);
            let parts = (0..self.lanes).map(|lane| {
                let value = format!("y{lane}.s{k}");
                if dtype.size_bytes() == 8 { value } else { w.pack(dtype, &value) }
            });
            let parts: Vec<String> = parts.collect();
            w.line(&format!("let o{param}_0 = {};", super::rows::assembled(dtype, &parts)));
            let stride = w.signed(w.layout.stride(*param, self.along));
            w.line(&format!("let w{param} = e{param} + {plane}i * {stride};"));
            w.store_units(*param, self.lanes, &format!("w{param}"), &along);
        }
        w.line("}");
        w.line("}");
    }
}

/// A place in the name of a register.
fn place(at: i32) -> String {
    if at < 0 { format!("m{}", -at) } else { at.to_string() }
}

impl Writer<'_> {
    fn outer_name(&self, along: usize, dim: usize) -> String {
        if dim == along { "start".into() } else { format!("i{dim}") }
    }

    /// Declares `block_x`, `block_y`, whether they are in the region, and the outer coordinates, of which one
    /// may count so many planes at once.
    fn place_block(&mut self, planes: Option<(usize, u32)>) {
        let [across, down, outer] = [layout::PACKS, layout::CHUNKS, layout::KEPT].map(|at| self.word(at));
        self.line(&format!("let number = {};", self.number()));
        self.line(&format!("let blocks = number / {across};"));
        self.line(&format!("let block_x = number - blocks * {across};"));
        self.line(&format!("let whole = blocks / {down};"));
        self.line(&format!("let block_y = blocks - whole * {down};"));
        self.line(&format!("let is_there = whole < {outer};"));
        let mut rest = format!("min(whole, {outer} - 1u)");
        for k in (0..self.kernel.rank - 2).rev() {
            let extent = self.word(self.layout.extent(k));
            let extent = match planes {
                Some((along, count)) if along == k => format!("(({extent} + {}u) / {count}u)", count - 1),
                _ => extent,
            };
            self.line(&format!("let n{k} = {rest};"));
            match k {
                0 => self.line("let i0 = n0;"),
                _ => {
                    self.line(&format!("let q{k} = n{k} / {extent};"));
                    self.line(&format!("let i{k} = n{k} - q{k} * {extent};"));
                }
            }
            rest = format!("q{k}");
        }
    }

    /// Declares `atP` and `putP` of all parameters.
    pub(super) fn declare_access(&mut self) {
        let Form::Elementwise { stores } = &self.kernel.form else { return };
        let params = 0..self.kernel.params.len() as u32;
        params.filter(|&p| self.footprint.is_loaded(p)).for_each(|p| self.declare_at(p));
        stores.iter().for_each(|store| self.declare_put(store.param));
    }
}

/// The stage `transpose`, if the squares of all inputs fit in workgroup memory, and outputs are whole words.
fn transpose(mut w: Writer) -> Option<Stage> {
    let Form::Elementwise { stores } = w.kernel.form.clone() else { return None };
    let turns = SIDE * SIDE / w.target.workgroup_size;
    let params = w.footprint.params().iter().zip(0..);
    let turned: Vec<u32> =
        params.filter(|(p, _)| p.radius.is_some() && !p.is_in_place).map(|(_, p)| p).collect();
    let bytes = |&p: &u32| SIDE * PITCH * if w.dtype(p).size_bytes() == 8 { 8 } else { 4 };
    let shared: u32 = turned.iter().map(bytes).sum();
    let is_narrow = |store: &Store| w.dtype(store.param).size_bytes() < 4;
    if !(1..=SQUARE_BYTES).contains(&shared)
        || stores.iter().any(is_narrow)
        || !w.footprint.coords().is_empty()
        || w.kernel.body.len() * turns as usize > MOST_WRITTEN
    {
        return None;
    }
    w.has_units = true;
    w.declare_access();
    for &p in &turned {
        let element = if w.dtype(p).size_bytes() == 8 { register(w.dtype(p)) } else { "u32" };
        w.declare(&format!("var<workgroup> square{p}: array<{element}, {}>;", SIDE * PITCH));
    }
    w.place_block(None);
    w.squares(&turned, turns);
    (0..turns).for_each(|turn| w.point_of_square(&turned, turn, turns, &stores));
    let bindings = w.bindings();
    let blocks = Blocks { along: 0, planes: 0 };
    Some(w.finish("transpose", bindings, &[], Visit { tile: SIDE, grid: None, blocks: Some(blocks) }))
}

impl Writer<'_> {
    /// Declares `zP`, the element of the region's first column and row at the outer coordinates; loads all
    /// inputs, and turns squares.
    fn squares(&mut self, turned: &[u32], turns: u32) {
        let (x, y, hop) = (self.kernel.rank - 1, self.kernel.rank - 2, SIDE / turns);
        self.line(&format!("let tx = local & {}u;", SIDE - 1));
        self.line(&format!("let ty = local >> {}u;", SIDE.ilog2()));
        self.line(&format!("let left = block_x * {SIDE}u;"));
        self.line(&format!("let top = block_y * {SIDE}u;"));
        for param in self.bound_params() {
            let mut text = self.signed(self.layout.offset(param));
            for k in 0..y {
                let stride = self.signed(self.layout.stride(param, k));
                text.push_str(&format!(" + bitcast<i32>(i{k}) * {stride}"));
            }
            self.line(&format!("let z{param} = {text};"));
        }
        for &p in turned {
            let [dx, dy] = [x, y].map(|dim| self.signed(self.layout.stride(p, dim)));
            self.line(&format!("let crossed{p} = {dx} != 1i && {dy} == 1i;"));
            for turn in 0..turns {
                let down = format!("ty + {}u", turn * hop);
                let [width, height] = [x, y].map(|dim| self.word(self.layout.extent(dim)));
                self.line(&format!(
                    "let x{p}_{turn} = min(left + select(tx, {down}, crossed{p}), {width} - 1u);"
                ));
                self.line(&format!(
                    "let y{p}_{turn} = min(top + select({down}, tx, crossed{p}), {height} - 1u);"
                ));
                let at =
                    format!("z{p} + bitcast<i32>(x{p}_{turn}) * {dx} + bitcast<i32>(y{p}_{turn}) * {dy}");
                self.line(&format!("var r{p}_{turn} = at{p}(bitcast<u32>({at}));"));
            }
        }
        for is_store in [true, false] {
            for &p in turned {
                self.line(&format!("if (crossed{p}) {{"));
                for turn in 0..turns {
                    let far = turn * hop;
                    match is_store {
                        true => {
                            self.line(&format!("square{p}[(ty + {far}u) * {PITCH}u + tx] = r{p}_{turn};"))
                        }
                        false => self.line(&format!("r{p}_{turn} = square{p}[tx * {PITCH}u + ty + {far}u];")),
                    }
                }
                self.line("}");
            }
            if is_store {
                self.line("workgroupBarrier();");
            }
        }
    }

    fn point_of_square(&mut self, turned: &[u32], turn: u32, turns: u32, stores: &[Store]) {
        let (x, y) = (self.kernel.rank - 1, self.kernel.rank - 2);
        let [width, height] = [x, y].map(|dim| self.word(self.layout.extent(dim)));
        let far = turn * (SIDE / turns);
        self.line(&format!("if (is_there && left + tx < {width} && top + ty + {far}u < {height}) {{"));
        for Store { param, .. } in stores {
            let [dx, dy] = [x, y].map(|dim| self.signed(self.layout.stride(*param, dim)));
            self.line(&format!(
                "let w{param} = bitcast<u32>(z{param} + bitcast<i32>(left + tx) * {dx} \
                 + bitcast<i32>(top + ty + {far}u) * {dy});"
            ));
        }
        let turned = turned.to_vec();
        self.body(&|w, param, _| {
            let element = match turned.contains(&param) {
                true => format!("r{param}_{turn}"),
                false => format!("at{param}(w{param})"),
            };
            let dtype = w.dtype(param);
            if dtype.size_bytes() == 8 { element } else { w.unpack(dtype, &element) }
        });
        for Store { param, value } in stores {
            let (dtype, from) = (self.dtype(*param), &self.kernel.body[value.index()].op);
            let element = match from {
                // An element that is only copied is not converted.
                Op::Load { param: from, .. } if self.dtype(*from) == dtype && turned.contains(from) => {
                    format!("r{from}_{turn}")
                }
                _ if dtype.size_bytes() == 8 => format!("v{}", value.0),
                _ => self.pack(dtype, &format!("v{}", value.0)),
            };
            self.line(&format!("put{param}(w{param}, {element});"));
        }
        self.line("}");
    }
}
