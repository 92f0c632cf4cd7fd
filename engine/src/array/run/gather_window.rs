//! Slices along unordered lists, and strided slices of non-block dimensions: what a part holds of them lies
//! scattered in its memory, so they are gathered into memory of their own, and assigned to by scattering.
//! Every element stays on its part.

use std::sync::Arc;

use partita_kernels::{BinaryOp, Builder, DType, Scalar, Value, View};

use crate::array::bind::schedule::ScheduleBuilder;
use crate::array::memory::index_lists::upload;
use crate::array::memory::storage::Storage;
use crate::error::Result;
use crate::index::{Distribution, Index, Region};
use crate::program::Place;

/// Computes a window of `whole`, which lies scattered in its memory, on `dist`.
pub(crate) fn gather_window(
    (work, dtype): (ScheduleBuilder, DType),
    whole: &Storage,
    window: &Region,
    dist: &Arc<Distribution>,
) -> Result<Storage> {
    let result = Storage::new(&work.team, Arc::clone(dist), dtype)?;
    let indices = WindowIndices::new(&whole.dist, window, &Index::filled(window.rank(), 1))?;
    indices.run(whole, &result, (work, dtype), TransferDirection::Gather)?;
    Ok(result)
}

/// Writes a value, which is distributed like the window, over the window's elements of `whole`.
pub(crate) fn scatter_window(
    (work, dtype): (ScheduleBuilder, DType),
    whole: &Storage,
    window: &Region,
    steps: &Index,
    value: &Storage,
) -> Result<()> {
    work.recorder.mark_unsupported(|| "the step assigns to a slice along an unordered list".to_owned());
    WindowIndices::new(&whole.dist, window, steps)?.run(
        whole,
        value,
        (work, dtype),
        TransferDirection::Scatter,
    )
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
        (mut work, element): (ScheduleBuilder, DType),
        direction: TransferDirection,
    ) -> Result<()> {
        let rank = self.whole.rank();
        let small = (0..self.whole.parts()).all(|part| {
            self.whole.stored(part).volume().is_ok_and(|volume| volume < i64::from(i32::MAX / 2))
        }) && (0..rank).all(|d| self.dist.map(d).packed_size() < i64::from(i32::MAX / 2));
        let dtype = if small { DType::I32 } else { DType::I64 };
        let team = &work.team.clone();
        let mut lists = Vec::new();
        for d in (0..rank).filter(|&d| self.listed[d]) {
            let bytes = |coordinate| self.positions(d, coordinate, dtype);
            lists.push((d, upload(team, &self.dist, d, &mut work.uploads, bytes)?));
        }
        let mut k = Builder::new("gather_window", rank);
        let index = self.index(&mut k, dtype);
        let kernel = match direction {
            TransferDirection::Gather => {
                let (source, output) = (k.input(element), k.output(element));
                k.gather(index, source, output)?
            }
            TransferDirection::Scatter => {
                let (output, input) = (k.output(element), k.input(element));
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
