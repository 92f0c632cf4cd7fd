//! Slices along unordered lists, and steps along what is no block: what a part holds of them lies scattered
//! in its memory, so they are gathered into memory of their own, and assigned to by scattering. Every element
//! stays on its part.

use std::sync::Arc;

use partita_kernels::{BinaryOp, Builder, DType, Scalar, Value, View};

use crate::array::bind::schedule::ScheduleBuilder;
use crate::array::explain::outline::{is_telling, nowhere, tell_gathering};
use crate::array::loops::analysis;
use crate::array::memory::index_lists::upload;
use crate::array::memory::storage::Storage;
use crate::array::record::map::Map;
use crate::array::record::node::{Expr, Node, NodeState};
use crate::array::run::evaluate::evaluate;
use crate::error::Result;
use crate::index::{Distribution, Index, Region};
use crate::program::Place;

/// Base and start of a window that is not computed yet and is no box in the base's memory.
pub(crate) fn scattered_window(node: &Node) -> Result<Option<(Arc<Node>, Index)>> {
    let (base, map) = match &*node.state() {
        NodeState::Lazy { expr: Expr::View { base, map }, .. } => (Arc::clone(base), Arc::clone(map)),
        _ => return Ok(None),
    };
    let scattered = is_scattered(&base, &node.shape, &map)?;
    Ok(map.as_window(node.rank()).filter(|_| scattered).map(|start| (base, start)))
}

/// Whether a view is a window of a node that is no box in its memory. Windows that wrap round never are
/// scattered; other views than windows are brought as they are read.
pub(crate) fn is_scattered(base: &Node, shape: &Index, view: &Map) -> Result<bool> {
    let Some(start) = view.as_window(shape.rank()) else { return Ok(false) };
    let dist = base.distribution()?;
    if dist.is_block() {
        return Ok(false);
    }
    let window = Region::from_shape(shape)?.shift(&start)?;
    Ok(dist.global().contains_region(&window) && !dist.is_box(&window))
}

/// Computes a window as an array of its own.
pub(crate) fn compute(node: &Node, base: &Arc<Node>, start: &Index) -> Result<Storage> {
    analysis::mark_unsupported(|| "the step reads a slice along an unordered list".to_owned());
    evaluate(std::slice::from_ref(base))?;
    let Some(whole) = base.storage() else { unreachable!("just computed") };
    let window = Region::from_shape(&node.shape)?.shift(start)?;
    let picks = WindowIndices::new(&whole.dist, &window, &Index::filled(window.rank(), 1))?;
    if is_telling() {
        let dist = Arc::new(picks.dist.clone());
        tell_gathering("pick", &dist, node.dtype)?;
        return Ok(nowhere(dist));
    }
    let result = Storage::new(&node.team, Arc::new(picks.dist.clone()), node.dtype)?;
    picks.run(&whole, &result, node, TransferDirection::Gather)?;
    Ok(result)
}

/// Writes a value, which is distributed like the window, over the window's elements of `whole`.
pub(crate) fn overwrite(
    node: &Node,
    whole: &Storage,
    window: &Region,
    steps: &Index,
    value: &Storage,
) -> Result<()> {
    analysis::mark_unsupported(|| "the step assigns to a slice along an unordered list".to_owned());
    WindowIndices::new(&whole.dist, window, steps)?.run(whole, value, node, TransferDirection::Scatter)
}

#[derive(Clone, Copy)]
enum TransferDirection {
    Gather,
    Scatter,
}

/// Where the elements of a window lie in the memory of the whole.
struct WindowIndices<'a> {
    whole: &'a Distribution,
    window: Region,
    /// Of it every so many-th element, from its first.
    steps: Index,
    /// That of these elements.
    dist: Distribution,
    /// Per dimension, whether positions come from a list.
    listed: Vec<bool>,
}

impl WindowIndices<'_> {
    fn new<'a>(whole: &'a Distribution, window: &Region, steps: &Index) -> Result<WindowIndices<'a>> {
        let dist = whole.strided(window, steps)?;
        let listed = (0..whole.rank()).map(|d| steps[d] > 1 || !whole.is_box_along(d, window)).collect();
        Ok(WindowIndices { whole, window: *window, steps: *steps, dist, listed })
    }

    fn run(
        &self,
        whole: &Storage,
        part_of: &Storage,
        node: &Node,
        direction: TransferDirection,
    ) -> Result<()> {
        let (team, rank) = (&node.team, self.whole.rank());
        let small = (0..self.whole.parts()).all(|part| {
            self.whole.stored(part).volume().is_ok_and(|volume| volume < i64::from(i32::MAX / 2))
        }) && (0..rank).all(|d| self.dist.map(d).packed_size() < i64::from(i32::MAX / 2));
        let dtype = if small { DType::I32 } else { DType::I64 };
        let mut work = ScheduleBuilder::new(team);
        let mut lists = Vec::new();
        for d in (0..rank).filter(|&d| self.listed[d]) {
            let bytes = |coordinate| self.positions(d, coordinate, dtype);
            lists.push((d, upload(team, &self.dist, d, &mut work.leases, bytes)?));
        }
        let mut k = Builder::new("pick", rank);
        let index = self.index(&mut k, dtype);
        let kernel = match direction {
            TransferDirection::Gather => {
                let (source, output) = (k.input(node.dtype), k.output(node.dtype));
                k.gather(index, source, output)?
            }
            TransferDirection::Scatter => {
                let (output, input) = (k.output(node.dtype), k.input(node.dtype));
                let value = k.load(input, &vec![0; rank]);
                k.scatter(index, value, output, false)?
            }
        };
        for part in 0..self.dist.parts() {
            let region = self.dist.owned(part);
            let (Some(memory), Some(piece)) = (whole.place(team, part), part_of.place(team, part)) else {
                continue;
            };
            let arguments = self.arguments(part, &memory, dtype);
            let mut bound: Vec<(View, Place)> = Vec::new();
            for (d, places) in &lists {
                let Some(place) = &places[part] else { continue };
                let mut view = View { offset: 0, strides: vec![0; rank] };
                view.strides[*d] = 1;
                bound.push((view, place.clone()));
            }
            bound.push((View { offset: 0, strides: vec![0; rank] }, memory));
            bound.push((piece.view(region.start()), piece));
            work.launch(&kernel, part, &region, bound, arguments)?;
        }
        work.finish()
    }

    /// Where the coordinates of the window lie among those that a part holds.
    fn positions(&self, d: usize, coordinate: usize, dtype: DType) -> Vec<u8> {
        let span = self.window.start()[d]..self.window.stop()[d];
        let held = self.whole.map(d).owned_set(coordinate);
        let taken = |global: i64| span.contains(&global) && (global - span.start) % self.steps[d] == 0;
        let inside = held.iter().enumerate().filter(|(_, global)| taken(*global));
        match dtype {
            DType::I64 => inside.flat_map(|(k, _)| (k as i64).to_le_bytes()).collect(),
            _ => inside.flat_map(|(k, _)| (k as i32).to_le_bytes()).collect(),
        }
    }

    /// The element's number in the memory of the whole, as [`WindowIndices::arguments`] says for each part.
    fn index(&self, k: &mut Builder, dtype: DType) -> Value {
        let zeros = vec![0; self.whole.rank()];
        let mut index = k.int(dtype, 0);
        for (d, &listed) in self.listed.iter().enumerate() {
            let position = if listed {
                let list = k.input(dtype);
                k.load(list, &zeros)
            } else {
                k.coord(d, dtype)
            };
            let (first, stride) = (k.argument(dtype), k.argument(dtype));
            let moved = k.binary(BinaryOp::Add, position, first);
            let term = k.binary(BinaryOp::Mul, moved, stride);
            index = k.binary(BinaryOp::Add, index, term);
        }
        index
    }

    /// Per dimension: what to add to a position or packed coordinate, and the stride.
    fn arguments(&self, part: usize, memory: &Place, dtype: DType) -> Vec<Scalar> {
        let (strides, at) = (memory.strides(), self.whole.grid().coordinate(part));
        let numbers = (0..self.whole.rank()).flat_map(|d| {
            let (map, coordinate) = (self.whole.map(d), at[d] as usize);
            let below =
                if self.listed[d] { None } else { map.held_below(coordinate, self.window.start()[d]) };
            let ours = if self.listed[d] { 0 } else { self.dist.owned(part).start()[d] };
            let first = map.owned(coordinate).start + below.unwrap_or(0) - memory.stored.start()[d] - ours;
            [first, strides[d]]
        });
        numbers.map(|number| Scalar::from_i64(dtype, number)).collect()
    }
}
