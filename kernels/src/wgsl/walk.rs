//! Elementwise kernels of which one invocation walks along a row, and reads every block of it once.
//!
//! For launches whose reads all begin at one place of a block and whose results begin at another, as
//! stencils do that read the inside of an array ([`super::wide::Alignment::Carried`]). The eight points of a
//! turn lie where the blocks that are read lie. What neighbours in the row need of a block is carried to the
//! next turn, and so are results: what is stored are whole blocks, made of the results of two turns. The
//! first and the last block of a row may be shared with another row, and are stored word by word at the end.
//!
//! An invocation that begins inside of a row computes the block before it too, for what it carries.
//!
//! Asks of a launch: strides of what is read, and distances between rows of one stencil, that are multiples
//! of a block; results whose rows begin and end with words.

use super::layout::{self, Layout};
use super::wide::{self, Lanes, POINTS, Row, half};
use super::{Binding, PARTS, Stage, Target, Writer};
use crate::ir::{Form, Kernel, Store};

pub(super) fn stage(kernel: &Kernel, target: &Target, layout: &Layout) -> Stage {
    let Form::Elementwise { stores } = &kernel.form else { unreachable!("called for elementwise kernels") };
    let rows = wide::rows(kernel);
    let mut w = Writer::new(kernel, target, layout);
    w.lanes = Some(Lanes::new(kernel));
    w.read_launch();
    w.open_walk(stores);
    rows.iter().enumerate().for_each(|(n, row)| w.open_row(n, row));
    w.line("for (var turn = start; turn < stop; turn += 1) {");
    w.line(&format!("let x = turn * {POINTS} - head;"));
    rows.iter().enumerate().for_each(|(n, row)| w.next_block(n, row));
    for lane in 0..POINTS {
        w.lane(lane, stores);
    }
    for store in stores {
        w.carry_results(store.param);
    }
    rows.iter().enumerate().for_each(|(n, row)| w.carry_blocks(n, row));
    w.line("}");
    for store in stores {
        w.store_ends(store.param);
    }
    let mut bindings = vec![Binding::Launch];
    bindings.extend((0..kernel.params.len() as u32).filter_map(|p| w.bound(p)));
    w.finish(kernel.form.name(), bindings, &[])
}

/// The blocks, counted from that of the first point, in which a row's elements lie.
fn blocks(row: &Row) -> (i32, i32) {
    let points = POINTS as i32;
    (row.low.div_euclid(points), (row.low + row.count as i32 - 1).div_euclid(points))
}

impl Writer<'_> {
    /// The row of the invocation, its turns `start..stop`, and for each result where it goes.
    fn open_walk(&mut self, stores: &[Store]) {
        let (parts, rows) = (self.word(layout::CHUNKS), self.word(layout::KEPT));
        let (size, inner) = (self.target.workgroup_size, self.kernel.rank - 1);
        self.line(&format!("let place = min(({}) * {size}u + local, {rows} * {parts} - 1u);", self.number()));
        self.quotient("row", "place", &parts, &self.word(self.layout.step(inner)));
        self.begin_row();
        let turns = self.signed(layout::TURNS);
        self.line(&format!("let length = {};", self.signed(layout::LIMIT)));
        self.line(&format!("let head = {};", self.signed(layout::HEAD)));
        self.line(&format!("let first = bitcast<i32>(place - row * {parts}) * {turns};"));
        self.line(&format!("let stop = min(first + {turns}, (head + length + 14) >> 3u);"));
        self.line("let start = max(first - 1, 0);");
        for p in stores.iter().map(|store| store.param) {
            self.line(&format!("let out{p} = (e{p} - head) >> 3u;"));
            self.line(&format!("let by{p} = (e{p} - head) & 7;"));
            self.line(&format!("let from{p} = by{p} + head;"));
            self.line(&format!("let to{p} = from{p} + length;"));
            for (bit, name) in [(4, "o"), (2, "t"), (1, "h")] {
                self.line(&format!("let {name}{p} = (by{p} & {bit}) != 0;"));
            }
            (0..POINTS).for_each(|k| self.line(&format!("var s{p}_{k} = 0u;")));
            (1..POINTS).for_each(|k| self.line(&format!("var z{p}_{k} = 0u;")));
            self.line(&format!("var opening{p} = vec4<u64>();"));
            self.line(&format!("var closing{p} = vec4<u64>();"));
        }
    }

    /// Reads the blocks of a row that its first turn finds carried.
    pub(super) fn open_row(&mut self, n: usize, row: &Row) {
        let (p, count) = (row.param, row.count as i32);
        let delta = self.layout.load(p, &row.first, self.kernel.params.len());
        let delta = delta.map_or(String::new(), |at| format!(" + {}", self.signed(at)));
        // The first element that is read, and the blocks outside of which nothing may be read.
        self.line(&format!("let b{n} = e{p}{delta};"));
        self.line(&format!("let c{n} = (b{n} - ({}) - head) >> 3u;", row.low));
        self.line(&format!("let f{n} = b{n} >> 3u;"));
        self.line(&format!("let l{n} = (b{n} + length + {}) >> 3u;", count - POINTS as i32 - 1));
        let (low, high) = blocks(row);
        for block in low..high {
            let name = block - low;
            self.line(&format!("var d{n}_{name} = p{p}[clamp(c{n} + start + ({block}), f{n}, l{n})];"));
        }
    }

    /// Declares the elements of a row in this turn.
    pub(super) fn next_block(&mut self, n: usize, row: &Row) {
        let (low, high) = blocks(row);
        let (p, name) = (row.param, high - low);
        self.line(&format!("let d{n}_{name} = p{p}[clamp(c{n} + turn + ({high}), f{n}, l{n})];"));
        for k in 0..row.count {
            let at = row.low + k as i32 - low * POINTS as i32;
            let (block, part) = (at / POINTS as i32, PARTS[at as usize % POINTS / 2]);
            self.line(&format!("let r{n}_{k} = {};", half(&format!("d{n}_{block}.{part}"), at)));
        }
    }

    pub(super) fn carry_blocks(&mut self, n: usize, row: &Row) {
        let (low, high) = blocks(row);
        (0..high - low).for_each(|k| self.line(&format!("d{n}_{k} = d{n}_{};", k + 1)));
    }

    /// Makes a block of the last results and these, and stores it if it lies inside of the row.
    fn carry_results(&mut self, p: u32) {
        let result = |k: usize| match k {
            0..POINTS => format!("z{p}_{k}"),
            _ => format!("s{p}_{}", k - POINTS),
        };
        for k in 5..2 * POINTS {
            self.line(&format!("let o{p}_{k} = select({}, {}, o{p});", result(k), result(k - 4)));
        }
        for k in 7..2 * POINTS {
            self.line(&format!("let t{p}_{k} = select(o{p}_{k}, o{p}_{}, t{p});", k - 2));
        }
        for k in POINTS..2 * POINTS {
            self.line(&format!("let h{p}_{k} = select(t{p}_{k}, t{p}_{}, h{p});", k - 1));
        }
        let word = |k: usize| format!("u64(h{p}_{k}) | (u64(h{p}_{}) << 32u)", k + 1);
        let words: Vec<String> = (POINTS..2 * POINTS).step_by(2).map(word).collect();
        self.line(&format!("let n{p} = vec4<u64>({});", words.join(", ")));
        self.line(&format!(
            "if (turn >= first && turn * {POINTS} >= from{p} && (turn + 1) * {POINTS} <= to{p}) {{"
        ));
        self.line(&format!("p{p}[out{p} + turn] = n{p};"));
        self.line("}");
        self.line(&format!("opening{p} = select(opening{p}, n{p}, turn == from{p} >> 3u);"));
        self.line(&format!("closing{p} = select(closing{p}, n{p}, turn == to{p} >> 3u);"));
        (1..POINTS).for_each(|k| self.line(&format!("z{p}_{k} = s{p}_{k};")));
    }

    /// Stores the words of the row in its first and its last block.
    fn store_ends(&mut self, p: u32) {
        for (name, end) in [("opening", "from"), ("closing", "to")] {
            let block = format!("({end}{p} >> 3u)");
            self.line(&format!("if ({block} >= first && {block} < stop) {{"));
            for (k, part) in PARTS.iter().enumerate() {
                let at = format!("{block} * {POINTS} + {}", 2 * k);
                self.line(&format!("if ({at} >= from{p} && {at} < to{p}) {{"));
                self.line(&format!("p{p}[out{p} + {block}].{part} = {name}{p}.{part};"));
                self.line("}");
            }
            self.line("}");
        }
    }
}
