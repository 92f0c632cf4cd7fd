//! Elementwise kernels of which one invocation computes eight neighbours of a row, and reads memory in
//! blocks of eight elements.
//!
//! A program on the processor, such as lavapipe, runs eight invocations as one vector, and an access of
//! memory as a loop over the eight, so that accesses cost and bytes do not. Hence the widest there are: four
//! words of 64 bits. Rows may begin anywhere in a block. Where the rows of all arrays begin at one place of
//! it ([`Alignment::Alike`]), invocations begin where blocks do, and what a block holds beside the row is
//! written back as it was. Where only what is read begins alike, `walk` writes the shader
//! ([`Alignment::Carried`]). Elsewhere what is read is shifted into place, and results are stored one by one,
//! or two by two ([`Alignment::Even`]).
//!
//! A workgroup is one such vector, and goes through many blocks in the order of memory: beginning a workgroup
//! costs as much as some hundred points. The numbers of the launch are read before the loop, because lavapipe
//! reads them for each invocation inside of it; and nothing is divided by them, since that is eight
//! divisions.
//!
//! Asks of a launch: rows of at least [`POINTS`] that are contiguous in every array, and no array that is
//! both read and written, because the last points of a row may be computed twice.

use super::layout::{self, Layout};
use super::{Binding, PARTS, Shader, Stage, Target, Writer, reduce, walk};
use crate::dtype::{DType, Kind};
use crate::ir::{Access, Fold, Form, Kernel, Op, Store};
use crate::math;
use crate::verify::Verified;

/// Neighbours that one invocation computes, and elements of a block.
pub const POINTS: usize = 8;
/// Bytes of a block.
pub const BLOCK_BYTES: u64 = 32;
const BLOCK: &str = "vec4<u64>";
/// Longest body that is written eight times.
const MOST_INSTRUCTIONS: usize = 96;
/// A block of which more words are needed is read at once.
const MOST_SINGLE_WORDS: usize = 2;
/// Invocations of a workgroup.
const WORKGROUP_SIZE: u32 = 8;

/// Where the rows of a launch begin, seen from the blocks of their arrays.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Alignment {
    /// All of them at the same place of a block, and no two rows of a result share a block.
    Alike,
    /// All that are read at the same place of a block, and rows of results begin and end with a word.
    Carried,
    /// Anywhere, but rows of results begin and end with a word.
    Even,
    /// Anywhere.
    Any,
}

/// What the points of an invocation read of one row: `count` elements from `low` on, relative to the first
/// point.
pub(super) struct Row {
    pub(super) param: u32,
    /// The offset of the load that begins it; the last is `low`.
    pub(super) first: Vec<i32>,
    pub(super) low: i32,
    pub(super) count: usize,
}

/// What the writer of a stage must know of the point it is at.
pub(super) struct Lanes {
    rows: Vec<Row>,
    /// The type of arrays that are written, in memory.
    written: &'static str,
    /// Of the eight.
    lane: usize,
}

/// Whether a kernel can be written so at all. Which [`Alignment`] a launch has is for its planner to see.
pub fn suits(kernel: &Kernel) -> bool {
    let is_word = |dtype: DType| dtype.size_bytes() == 4 && dtype.kind() != Kind::Bool;
    let has_words = kernel.params.iter().all(|p| match p.access {
        Access::In => is_word(p.dtype),
        Access::Out => is_word(p.dtype) || is_fold(kernel),
        Access::InOut => false,
    });
    let has_rows = match &kernel.form {
        Form::Elementwise { .. } => kernel.rank > 0,
        Form::Reduce { axes, folds } => {
            axes.last() == Some(&true) && folds.iter().all(|fold| matches!(fold, Fold::Value { .. }))
        }
        Form::Gather { .. } | Form::Scatter { .. } => false,
    };
    has_words && has_rows && kernel.body.len() <= MOST_INSTRUCTIONS
}

/// Whether the kernel is a reduction. All such are [`Alignment::Carried`], whatever their results.
pub fn is_fold(kernel: &Kernel) -> bool {
    matches!(kernel.form, Form::Reduce { .. })
}

/// What stands in the launch block instead of a divisor: see `Writer::quotient`.
pub fn reciprocal(divisor: u32) -> u32 {
    ((1u64 << 32) / u64::from(divisor.max(1))).min(u64::from(u32::MAX)) as u32
}

/// Writes the shader; `None` if the kernel does not suit or the adapter lacks 64-bit integers.
pub fn emit_wide(kernel: &Verified, target: &Target, alignment: Alignment) -> Option<Shader> {
    let expanded = math::expand(kernel);
    let kernel = expanded.kernel();
    if !target.i64 || !suits(kernel) {
        return None;
    }
    let narrow = &Target { workgroup_size: WORKGROUP_SIZE, ..*target };
    let layout = Layout::new(kernel);
    if is_fold(kernel) {
        let fold = |plan: &reduce::Plan| plan.fold_walks(Writer::new(kernel, narrow, plan.layout()));
        return Some(reduce::stages_with(kernel, target, layout, fold));
    }
    let stage = match alignment {
        Alignment::Carried => walk::stage(kernel, narrow, &layout),
        Alignment::Alike | Alignment::Even | Alignment::Any => stage(kernel, narrow, &layout, alignment),
    };
    let stages = vec![stage];
    Some(Shader { stages, layout, partials: Vec::new(), width: 1 })
}

fn stage(kernel: &Kernel, target: &Target, layout: &Layout, alignment: Alignment) -> Stage {
    let mut w = Writer::new(kernel, target, layout);
    let written = match alignment {
        Alignment::Any => "u32",
        Alignment::Even => "u64",
        Alignment::Alike | Alignment::Carried => BLOCK,
    };
    w.lanes = Some(Lanes { written, ..Lanes::new(kernel) });
    w.read_launch();
    let turns = w.word(layout::TURNS);
    w.line(&format!("let first = ({}) * {turns};", w.number()));
    w.line(&format!("for (var turn = 0u; turn < {turns}; turn += 1u) {{"));
    w.first_point(alignment);
    for (n, row) in rows(kernel).iter().enumerate() {
        w.read_row(n, row, alignment);
    }
    let stores = match &kernel.form {
        Form::Elementwise { stores } => stores.clone(),
        _ => Vec::new(),
    };
    for lane in 0..POINTS {
        stores.iter().for_each(|store| w.line(&format!("var s{}_{lane} = 0u;", store.param)));
        w.lane(lane, &stores);
    }
    match alignment {
        Alignment::Alike | Alignment::Carried => w.write_blocks(&stores),
        Alignment::Even => w.write_words(&stores),
        Alignment::Any => w.write_elements(&stores),
    }
    w.line("}");
    let mut bindings = vec![Binding::Launch];
    bindings.extend((0..kernel.params.len() as u32).filter_map(|p| w.bound(p)));
    w.finish(kernel.form.name(), bindings, &[])
}

/// The rows that the loads of a body share, in the order of their first use.
pub(super) fn rows(kernel: &Kernel) -> Vec<Row> {
    let mut spans: Vec<(u32, Vec<i32>, i32, i32)> = Vec::new();
    for inst in &kernel.body {
        let Op::Load { param, offsets } = &inst.op else { continue };
        let Some((inner, outer)) = offsets.split_last() else { continue };
        match spans.iter_mut().find(|(p, o, ..)| p == param && o == outer) {
            Some((.., low, high)) => (*low, *high) = ((*low).min(*inner), (*high).max(*inner)),
            None => spans.push((*param, outer.to_vec(), *inner, *inner)),
        }
    }
    let row = |(param, mut first, low, high): (u32, Vec<i32>, i32, i32)| {
        first.push(low);
        Row { param, first, low, count: (high - low) as usize + POINTS }
    };
    spans.into_iter().map(row).collect()
}

/// The lower or upper half of a word.
pub(super) fn half(word: &str, element: i32) -> String {
    match element.rem_euclid(2) {
        0 => format!("u32({word})"),
        _ => format!("u32({word} >> 32u)"),
    }
}

impl Lanes {
    /// At the first of the eight, with results stored in blocks.
    pub(super) fn new(kernel: &Kernel) -> Lanes {
        Lanes { rows: rows(kernel), written: BLOCK, lane: 0 }
    }

    /// The element that a load of the point reads, as bits.
    pub(super) fn element(&self, param: u32, offsets: &[i32]) -> String {
        let (inner, outer) = offsets.split_last().unwrap_or((&0, &[]));
        let is_row =
            |row: &Row| row.param == param && row.first.split_last().is_some_and(|(_, o)| o == outer);
        let at = self.rows.iter().position(is_row).unwrap_or(0);
        let low = self.rows.get(at).map_or(0, |row| row.low);
        format!("r{at}_{}", (inner - low) as usize + self.lane)
    }

    /// The type of an array in memory.
    pub(super) fn storage(&self, write: bool) -> &'static str {
        if write { self.written } else { BLOCK }
    }
}

impl Writer<'_> {
    /// Reads the launch block.
    pub(super) fn read_launch(&mut self) {
        for at in 0..self.layout.words.div_ceil(4) {
            self.line(&format!("let launch{at} = launch[{at}];"));
        }
    }

    /// Declares `name`, the quotient of two numbers: with a reciprocal of 32 bits, rounded down, it is too
    /// small by one at most.
    pub(super) fn quotient(&mut self, name: &str, number: &str, divisor: &str, reciprocal: &str) {
        self.line(&format!("let {name}_low = u32((u64({number}) * u64({reciprocal})) >> 32u);"));
        self.line(&format!(
            "let {name} = {name}_low + select(0u, 1u, {number} - {name}_low * {divisor} >= {divisor});"
        ));
    }

    /// Where the invocation's points are: the coordinates of its row, and `x`, its first point there, which
    /// may lie before the row. Superfluous turns do the work of the last one.
    fn first_point(&mut self, alignment: Alignment) {
        let inner = self.kernel.rank - 1;
        let (chunks, rows) = (self.word(layout::CHUNKS), self.word(layout::KEPT));
        let size = self.target.workgroup_size;
        self.line(&format!("let place = min((first + turn) * {size}u + local, {rows} * {chunks} - 1u);"));
        self.quotient("row", "place", &chunks, &self.word(self.layout.step(inner)));
        let block = format!("(place - row * {chunks}) * {POINTS}u");
        match alignment {
            Alignment::Alike | Alignment::Carried => {
                self.line(&format!("let x = bitcast<i32>({block} - {});", self.word(layout::HEAD)));
            }
            Alignment::Even | Alignment::Any => {
                let limit = self.word(layout::LIMIT);
                self.line(&format!("let x = bitcast<i32>(min({block}, {limit} - {POINTS}u));"));
            }
        }
        self.begin_row();
    }

    /// The coordinates of `row`, and the elements of its first point.
    pub(super) fn begin_row(&mut self) {
        let inner = self.kernel.rank - 1;
        let mut rest = "row".to_owned();
        for k in (1..inner).rev() {
            let (extent, step) = (self.word(self.layout.extent(k)), self.word(self.layout.step(k)));
            self.quotient(&format!("q{k}"), &rest, &extent, &step);
            self.line(&format!("let i{k} = {rest} - q{k} * {extent};"));
            rest = format!("q{k}");
        }
        if inner > 0 {
            self.line(&format!("let i0 = {rest};"));
        }
        let dims: Vec<usize> = (0..inner).collect();
        for param in 0..self.kernel.params.len() as u32 {
            if self.bound(param).is_some() {
                self.element(param, &dims);
            }
        }
    }

    /// Declares the elements of a row: `rN_0`, `rN_1` and so on.
    fn read_row(&mut self, n: usize, row: &Row, alignment: Alignment) {
        let (p, count) = (row.param, row.count);
        let delta = self.layout.load(p, &row.first, self.kernel.params.len());
        let delta = delta.map_or(String::new(), |at| format!(" + {}", self.signed(at)));
        self.line(&format!("let b{n} = e{p}{delta};"));
        let limit = self.signed(layout::LIMIT);
        // What points beside the row would read may lie outside of the array.
        self.line(&format!("let f{n} = b{n} >> 3u;"));
        self.line(&format!("let l{n} = (b{n} + {limit} + {}) >> 3u;", count as i32 - POINTS as i32 - 1));
        match alignment {
            Alignment::Alike | Alignment::Carried => {
                self.line(&format!("let c{n} = (b{n} + x - ({})) >> 3u;", row.low));
                let high = row.low + count as i32 - 1;
                self.read_words(n, p, row.low.div_euclid(2), high.div_euclid(2));
                for k in 0..count {
                    let at = row.low + k as i32;
                    let word = word_name(n, at.div_euclid(2));
                    self.line(&format!("let r{n}_{k} = {};", half(&word, at)));
                }
            }
            Alignment::Even | Alignment::Any => {
                self.line(&format!("let c{n} = (b{n} + x) >> 3u;"));
                self.read_words(n, p, 0, (count as i32 + 6) / 2);
                self.shift(n, count);
            }
        }
    }

    /// Declares words of a row, counted from where block `cN` begins.
    fn read_words(&mut self, n: usize, p: u32, first: i32, last: i32) {
        for block in first.div_euclid(4)..=last.div_euclid(4) {
            let words = first.max(4 * block)..=last.min(4 * block + 3);
            let name = format!("d{n}_{}", block - first.div_euclid(4));
            let at = format!("clamp(c{n} + ({block}), f{n}, l{n})");
            let is_whole = words.clone().count() > MOST_SINGLE_WORDS;
            self.line(&match is_whole {
                true => format!("let {name} = p{p}[{at}];"),
                false => format!("let {name} = {at};"),
            });
            for word in words {
                let part = PARTS[word.rem_euclid(4) as usize];
                self.line(&match is_whole {
                    true => format!("let {} = {name}.{part};", word_name(n, word)),
                    false => format!("let {} = p{p}[{name}].{part};", word_name(n, word)),
                });
            }
        }
    }

    /// Declares the elements of a row that begins anywhere in its first block, by halving the distance.
    fn shift(&mut self, n: usize, count: usize) {
        let words = count as i32 / 2 + 1;
        for (bit, name) in [(4, "o"), (2, "t"), (1, "h")] {
            self.line(&format!("let {name}{n} = ((b{n} + x) & {bit}) != 0;"));
        }
        for k in 0..=words {
            let (near, far) = (word_name(n, k), word_name(n, k + 2));
            self.line(&format!("let o{n}_{k} = select({near}, {far}, o{n});"));
        }
        for k in 0..words {
            self.line(&format!("let t{n}_{k} = select(o{n}_{k}, o{n}_{}, t{n});", k + 1));
        }
        for k in 0..count as i32 {
            let [near, far] = [k, k + 1].map(|at| half(&format!("t{n}_{}", at / 2), at));
            self.line(&format!("let r{n}_{k} = select({near}, {far}, h{n});"));
        }
    }

    /// Opens a block with the body of one of the eight points.
    pub(super) fn at_lane(&mut self, lane: usize) {
        self.lanes.iter_mut().for_each(|lanes| lanes.lane = lane);
        self.line("{");
        self.line(&format!("let i{} = bitcast<u32>(x) + {lane}u;", self.kernel.rank - 1));
        self.body();
    }

    /// Body of one of the eight points; its results become `sP_LANE`.
    pub(super) fn lane(&mut self, lane: usize, stores: &[Store]) {
        self.at_lane(lane);
        for Store { param, value } in stores {
            self.line(&format!("s{param}_{lane} = bitcast<u32>(v{});", value.0));
        }
        self.line("}");
    }

    /// Stores blocks; what they hold beside the row stays.
    fn write_blocks(&mut self, stores: &[Store]) {
        let limit = self.word(layout::LIMIT);
        for lane in 0..POINTS {
            self.line(&format!("let inside{lane} = bitcast<u32>(x) + {lane}u < {limit};"));
        }
        for Store { param: p, .. } in stores {
            self.line(&format!("let at{p} = (e{p} + x) >> 3u;"));
            self.line(&format!("var old{p} = vec4<u64>();"));
            self.line(&format!("if (!(inside0 && inside{})) {{", POINTS - 1));
            self.line(&format!("old{p} = p{p}[at{p}];"));
            self.line("}");
            let element = |lane: usize| {
                let old = half(&format!("old{p}.{}", PARTS[lane / 2]), lane as i32);
                format!("u64(select({old}, s{p}_{lane}, inside{lane}))")
            };
            for k in (0..POINTS).step_by(2) {
                self.line(&format!("let n{p}_{k} = {} | ({} << 32u);", element(k), element(k + 1)));
            }
            self.line(&format!("p{p}[at{p}] = vec4<u64>(n{p}_0, n{p}_2, n{p}_4, n{p}_6);"));
        }
    }

    fn write_words(&mut self, stores: &[Store]) {
        for Store { param: p, .. } in stores {
            for lane in (0..POINTS).step_by(2) {
                let word = format!("u64(s{p}_{lane}) | (u64(s{p}_{}) << 32u)", lane + 1);
                self.line(&format!("p{p}[((e{p} + x) >> 1u) + {}] = {word};", lane / 2));
            }
        }
    }

    fn write_elements(&mut self, stores: &[Store]) {
        for Store { param: p, .. } in stores {
            for lane in 0..POINTS {
                self.line(&format!("p{p}[e{p} + x + {lane}] = s{p}_{lane};"));
            }
        }
    }
}

/// Words may lie before the block of the first point.
fn word_name(n: usize, word: i32) -> String {
    match word {
        0.. => format!("w{n}_{word}"),
        _ => format!("w{n}_m{}", -word),
    }
}
