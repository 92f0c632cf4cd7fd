//! Elementwise kernels of which one invocation computes eight neighbours of a row, and reads memory two
//! elements at a time.
//!
//! A program on the processor, such as lavapipe, pays for every access of every invocation, whatever its
//! width. So what the eight points read of one row of an array is read once, in words of 64 bits, and where
//! an element begins in the middle of a word its neighbours are shifted into place. Rows may begin anywhere.
//! Where all of them begin on a word ([`Parity::Even`]), nothing is shifted and results are written in words
//! too.
//!
//! Asks of a launch: rows of at least [`POINTS`] that are contiguous in every array, and no array that is
//! both read and written, because the last points of a row may be computed twice.

use super::layout::Layout;
use super::{Binding, Shader, Stage, Target, Writer};
use crate::dtype::{DType, Kind};
use crate::ir::{Access, Form, Kernel, Op, Store};
use crate::math;
use crate::verify::Verified;

/// Neighbours that one invocation computes.
pub const POINTS: usize = 8;
/// Longest body that is written eight times.
const MOST_INSTRUCTIONS: usize = 96;

/// Where the elements of a launch begin.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Parity {
    /// All that a row reads and writes begins on a word of two elements, and its length is even.
    Even,
    /// Anywhere.
    Any,
}

/// What the points of an invocation read of one row: elements from `low` on, relative to the first point.
struct Row {
    param: u32,
    /// The offset of the load that begins it.
    first: Vec<i32>,
    count: usize,
}

/// What the writer of a stage must know of the point it is at.
pub(super) struct Lanes {
    rows: Vec<Row>,
    parity: Parity,
    /// Of the eight.
    lane: usize,
}

/// Whether a kernel can be written so at all. Which [`Parity`] a launch has is for its planner to see.
pub fn suits(kernel: &Kernel) -> bool {
    let is_word = |dtype: DType| dtype.size_bytes() == 4 && dtype.kind() != Kind::Bool;
    matches!(kernel.form, Form::Elementwise { .. })
        && kernel.rank > 0
        && kernel.body.len() <= MOST_INSTRUCTIONS
        && kernel.params.iter().all(|p| is_word(p.dtype) && p.access != Access::InOut)
}

/// Whether no load is an odd number of elements away along its row.
pub fn is_even(kernel: &Kernel) -> bool {
    let inner = |op: &Op| match op {
        Op::Load { offsets, .. } => offsets.last().copied().unwrap_or(0),
        _ => 0,
    };
    kernel.body.iter().all(|inst| inner(&inst.op) % 2 == 0)
}

/// Writes the shader; `None` if the kernel does not suit or the adapter lacks 64-bit integers.
pub fn emit_wide(kernel: &Verified, target: &Target, parity: Parity) -> Option<Shader> {
    let expanded = math::expand(kernel);
    let kernel = expanded.kernel();
    if !target.i64 || !suits(kernel) || (parity == Parity::Even && !is_even(kernel)) {
        return None;
    }
    let layout = Layout::new(kernel);
    let stages = vec![stage(kernel, target, &layout, parity)];
    Some(Shader { stages, layout, partials: Vec::new(), width: 1 })
}

fn stage(kernel: &Kernel, target: &Target, layout: &Layout, parity: Parity) -> Stage {
    let mut w = Writer::new(kernel, target, layout);
    w.lanes = Some(Lanes { rows: rows(kernel), parity, lane: 0 });
    w.line(&format!("let number = {};", w.number()));
    w.first_point();
    for row in rows(kernel) {
        w.read_row(&row, parity);
    }
    let stores = match &kernel.form {
        Form::Elementwise { stores } => stores.clone(),
        _ => Vec::new(),
    };
    if parity == Parity::Even {
        stores.iter().for_each(|store| w.line(&format!("var kept{} = 0u;", store.param)));
    }
    for lane in 0..POINTS {
        w.lanes = Some(Lanes { rows: rows(kernel), parity, lane });
        w.lane(lane, &stores, parity);
    }
    let mut bindings = vec![Binding::Launch];
    bindings.extend((0..kernel.params.len() as u32).filter_map(|p| w.bound(p)));
    w.finish(kernel.form.name(), bindings, &[])
}

/// The rows that the loads of a body share, in the order of their first use.
fn rows(kernel: &Kernel) -> Vec<Row> {
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
        Row { param, first, count: (high - low) as usize + POINTS }
    };
    spans.into_iter().map(row).collect()
}

impl Lanes {
    /// The element that a load of the point reads, as bits.
    pub(super) fn element(&self, param: u32, offsets: &[i32]) -> String {
        let (inner, outer) = offsets.split_last().unwrap_or((&0, &[]));
        let is_row =
            |row: &Row| row.param == param && row.first.split_last().is_some_and(|(_, o)| o == outer);
        let at = self.rows.iter().position(is_row).unwrap_or(0);
        let low = self.rows.get(at).and_then(|row| row.first.last()).copied().unwrap_or(0);
        format!("r{at}_{}", (inner - low) as usize + self.lane)
    }

    /// The type of an array in memory.
    pub(super) fn storage(&self, write: bool) -> Option<&'static str> {
        (!write || self.parity == Parity::Even).then_some("u64")
    }
}

impl Writer<'_> {
    /// Where the invocation's points are: the coordinates of its row, and `x`, its first point there.
    /// Workgroups go on from row to row, because each costs as much as some hundred points.
    fn first_point(&mut self) {
        let inner = self.kernel.rank - 1;
        let (chunks, rows) = (self.word(super::layout::CHUNKS), self.word(super::layout::KEPT));
        let limit = self.word(super::layout::LIMIT);
        self.line(&format!("let place = number * {}u + local;", self.target.workgroup_size));
        self.line("var row = 0u;");
        self.line(&format!("if ({rows} > 1u) {{ row = place / {chunks}; }}"));
        self.line(&format!("if (row >= {rows}) {{ return; }}"));
        self.line(&format!("var x = (place - row * {chunks}) * {POINTS}u;"));
        self.line(&format!("if (x >= {limit}) {{ return; }}"));
        self.line(&format!("x = min(x, {limit} - {POINTS}u);"));
        if inner > 0 {
            self.line("let at = outer(row);");
        }
        for k in 0..inner {
            self.line(&format!("let i{k} = at.i{k};"));
        }
        let dims: Vec<usize> = (0..inner).collect();
        for param in 0..self.kernel.params.len() as u32 {
            if self.bound(param).is_some() {
                self.element(param, &dims);
            }
        }
    }

    /// Declares the elements of a row: `rN_0`, `rN_1` and so on.
    fn read_row(&mut self, row: &Row, parity: Parity) {
        let n = rows(self.kernel).iter().position(|r| r.param == row.param && r.first == row.first);
        let (n, p, count) = (n.unwrap_or(0), row.param, row.count);
        let delta = self.layout.load(p, &row.first, self.kernel.params.len());
        let delta = delta.map_or(String::new(), |at| format!(" + {}", self.signed(at)));
        self.line(&format!("let b{n} = bitcast<u32>(e{p}{delta}) + x;"));
        let words = match parity {
            Parity::Even => count.div_ceil(2),
            Parity::Any => count / 2 + 1,
        };
        for k in 0..words {
            // The last word is where the last element is: one more may lie behind the end of the array.
            let at = match k + 1 == words {
                true => format!("(b{n} + {}u) >> 1u", count - 1),
                false => format!("(b{n} >> 1u) + {k}u"),
            };
            self.line(&format!("let w{n}_{k} = p{p}[{at}];"));
        }
        let half = |k: usize| match k % 2 {
            0 => format!("u32(w{n}_{})", k / 2),
            _ => format!("u32(w{n}_{} >> 32u)", k / 2),
        };
        for k in 0..count {
            let text = match parity {
                Parity::Even => half(k),
                Parity::Any => format!("select({}, {}, (b{n} & 1u) != 0u)", half(k), half(k + 1)),
            };
            self.line(&format!("let r{n}_{k} = {text};"));
        }
    }

    /// Body and stores of one of the eight points.
    fn lane(&mut self, lane: usize, stores: &[Store], parity: Parity) {
        self.line("{");
        self.line(&format!("let i{} = x + {lane}u;", self.kernel.rank - 1));
        self.body();
        for Store { param, value } in stores {
            let element = format!("(bitcast<u32>(e{param}) + x + {lane}u)");
            let bits = format!("bitcast<u32>(v{})", value.0);
            match (parity, lane % 2) {
                (Parity::Any, _) => self.line(&format!("p{param}[{element}] = v{};", value.0)),
                (Parity::Even, 0) => self.line(&format!("kept{param} = {bits};")),
                (Parity::Even, _) => self
                    .line(&format!("p{param}[{element} >> 1u] = u64(kept{param}) | (u64({bits}) << 32u);")),
            }
        }
        self.line("}");
    }
}
