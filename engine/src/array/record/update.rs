//! Updates, as they are recorded: arrays of which a window, or elements at positions, are those of a value.

use std::sync::Arc;

use crate::array::record::array::Array;
use crate::array::record::expr::{Expr, StridedWindow, UpdatedCells, WholeOp};
use crate::array::record::map::{Map, check_count, check_positions};
use crate::array::record::node::Node;
use crate::array::record::ops::stretch;
use crate::array::record::view::{Selected, Span, resolve};
use crate::device::collect;
use crate::error::{Error, Result};
use crate::index::{Along, Distribution, Domain, Index, Region};

/// An update and its operands.
pub(crate) struct RecordedUpdate {
    pub base: Arc<Node>,
    pub value: Arc<Node>,
    pub node: Arc<Node>,
    /// True if nothing of the base is left.
    pub covers: bool,
}

impl RecordedUpdate {
    fn new(base: &Arc<Node>, value: &Arc<Node>, cells: UpdatedCells) -> Result<RecordedUpdate> {
        let covers = match &cells {
            UpdatedCells::Window(window) => {
                window.region.volume()? == Region::from_shape(&base.shape)?.volume()?
            }
            UpdatedCells::At(_) => false,
        };
        let operands = vec![Arc::clone(base), Arc::clone(value)];
        let (expr, layout) = (Expr::Whole(WholeOp::Update(cells), operands), base.layout());
        let node = Node::lazy(base.shape, base.dtype, &base.team, expr, layout);
        Ok(RecordedUpdate { base: Arc::clone(base), value: Arc::clone(value), node, covers })
    }
}

impl Array {
    /// The array with the elements of `value` in a view, to whose shape the value broadcasts; the array
    /// itself stays as it is. [`Array::assign`] is the same for the array itself. Recorded.
    ///
    /// An array that carries an error for spans outside the shape, and for shapes or dtypes that do not fit.
    #[doc = example!(
        "let v = u.updated(&s![.., 0], &(u.slice(&s![.., 2]) * 10));"
        "assert_eq!(v.to_vec::<f64>()?, [20.0, 1.0, 2.0, 50.0, 4.0, 5.0]);"
    )]
    pub fn updated(&self, spans: &[Span], value: &Array) -> Array {
        let update = self.window_update("updated", spans, value);
        self.or_failed(update.map(|update| Array::recording(update.node)))
    }

    /// The array with the elements of `value`, a line, at as many `positions`; [`Array::scatter`] is the same
    /// for the array itself. Recorded.
    ///
    /// An array that carries an error for positions outside the shape, and a value of another shape or dtype.
    #[doc = example!(
        "let v = u.updated_at(&[0, 5], &u.slice(&s![0, 1..]));"
        "assert_eq!(v.to_vec::<f64>()?, [1.0, 1.0, 2.0, 3.0, 4.0, 2.0]);"
    )]
    pub fn updated_at(&self, positions: &[i64], value: &Array) -> Array {
        let update = self.scattered_update("updated_at", positions, value);
        self.or_failed(update.map(|update| Array::recording(update.node)))
    }

    /// The update of what spans selected. The value takes the array's dimensions, turned round where the view
    /// goes down.
    pub(crate) fn window_update(
        &self,
        operation: &'static str,
        spans: &[Span],
        value: &Array,
    ) -> Result<RecordedUpdate> {
        self.recorded()?;
        value.recorded()?;
        let Selected { shape, map } = &resolve(operation, &self.shape(), spans)?;
        if value.dtype() != self.dtype() {
            return Err(Error::dtypes(operation, self.dtype(), value.dtype()));
        }
        // Where nothing stretches, dimensions of extent 1 may be more or fewer.
        let is_over_domain = self.is_over_domain() || value.is_over_domain();
        let count = |shape: &Index| Domain::of_shape(shape).num_indices();
        if is_over_domain && count(&value.shape()) != count(shape) {
            stretch(operation, &self.seen(*shape, *map).node, &value.node)?;
        }
        let value = value.stretched(operation, shape)?;
        let value = match value.team() == self.team() {
            true => value,
            false => Array::of(value.node.beside(operation, &self.seen(*shape, *map).node)?),
        };
        let map = map.in_memory();
        let (axes, rank) = (map.axes(), map.axes().len());
        let (mut steps, mut extents) = (Index::filled(rank, 1), Index::filled(rank, 1));
        let mut back = Map::from_fn(shape.rank(), |_| Along::Pinned(0));
        for (d, along) in axes.iter().enumerate() {
            if let Along::Dim { dim, step, .. } = *along {
                (steps[d], extents[d]) = (step.abs(), shape[dim]);
                let (offset, step) = if step < 0 { (shape[dim] - 1, -1) } else { (0, 1) };
                back = back.with(dim, Along::Dim { dim: d, offset, step });
            }
        }
        let span = |d: usize| match axes[d] {
            Along::Dim { offset, .. } if extents[d] == 0 => (offset, offset),
            along => along.span(0, extents[d]),
        };
        let region = Region::from_fn(rank, span);
        let turned = back.as_window(rank).is_none() || shape.rank() != rank;
        let value = if turned { value.seen(extents, back) } else { value };
        RecordedUpdate::new(
            &self.node,
            &value.node,
            UpdatedCells::Window(Box::new(StridedWindow { region, steps })),
        )
    }

    /// The update of the elements at positions by those of a line.
    pub(crate) fn scattered_update(
        &self,
        operation: &'static str,
        positions: &[i64],
        value: &Array,
    ) -> Result<RecordedUpdate> {
        self.recorded()?;
        value.recorded()?;
        check_positions(operation, &self.shape(), positions)?;
        if value.dtype() != self.dtype() {
            return Err(Error::dtypes(operation, self.dtype(), value.dtype()));
        }
        if value.rank() != 1 {
            let given = format!("shape {}", value.shape());
            return Err(Error::invalid(operation, "a line of values", given, "reshape it to one dimension"));
        }
        check_count(operation, value.shape()[0], positions)?;
        let value = Array::of(value.node.beside(operation, &self.node)?);
        let (base, value) = (self.in_blocks()?, value.in_blocks()?);
        let positions = Arc::new(collect(operation, positions.iter().copied())?);
        RecordedUpdate::new(&base.node, &value.node, UpdatedCells::At(positions))
    }

    /// The array, or one of the same elements cut into blocks.
    pub(crate) fn in_blocks(&self) -> Result<Array> {
        Ok(match self.distribution()?.is_block() {
            true => self.clone(),
            false => self.redistribute(&Distribution::default_partition(self.team().size(), &self.shape())?),
        })
    }
}
