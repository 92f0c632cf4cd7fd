//! Descriptions from and to [`Distribution`]s, and so from and to `__distarray__`; and in Python's terms.

use partita::index::{DimMap, Distribution, IndexError, Region};

use super::description::{Description, Dialect, PartitionEntry, PartitionLocation};
use super::parse::within;
use crate::distarray;
use crate::value::{Dict, Refusal, Result, Value};

/// A grid, and boxes in its C order with the parts that hold each.
type Tiles = (Vec<i64>, Vec<(Region, Vec<usize>)>);

/// The grid that is cut, and the boxes of a distribution in its C order, each with the parts that hold it,
/// the owner first. A replicated dimension is not cut. Refused is what is no regular grid of boxes.
pub fn tiles(dist: &Distribution) -> Result<Tiles> {
    let refused = |error: IndexError| {
        Refusal::new(error.to_string()).under_key("partition_tiling").of_protocol(Dialect::Draft.name())
    };
    let whole = |d: usize| matches!(dist.map(d), DimMap::Replicated { .. });
    let grid: Vec<i64> =
        (0..dist.rank()).map(|d| if whole(d) { 1 } else { dist.grid().shape()[d] }).collect();
    let mut builder = Distribution::builder(&dist.shape()).grid(&grid);
    for d in (0..dist.rank()).filter(|&d| !whole(d)) {
        builder = builder.map(d, dist.map(d).as_block().unwrap_or_else(|| dist.map(d).clone()));
    }
    let cut = builder.build().map_err(refused)?;
    cut.check_regular("partition tiling").map_err(refused)?;
    let mut tiles: Vec<(Region, Vec<usize>)> =
        (0..cut.parts()).map(|part| (cut.owned(part), Vec::new())).collect();
    for part in 0..dist.parts() {
        let at = dist.grid().coordinate(part);
        let place = |place, d| place * grid[d] as usize + if whole(d) { 0 } else { at[d] as usize };
        tiles[(0..dist.rank()).fold(0, place)].1.push(part);
    }
    Ok((grid, tiles))
}

impl Description {
    /// The description in the words of the last draft. Locations that are not (IP, PID) are refused: the
    /// draft has no others.
    pub fn to_value(&self, get: Value) -> Result<Value> {
        let of_draft = |refusal: Refusal| refusal.of_protocol(Dialect::Draft.name());
        let position = |index: usize| Value::ints(self.position(index));
        let entry = |(index, partition): (usize, &PartitionEntry)| {
            let locations: Result<Vec<Value>> =
                partition.location.iter().map(PartitionLocation::to_value).collect();
            let located = locations.map_err(|e| of_draft(within(&self.tiling, index, "location", e)))?;
            let entry = Value::dict([
                ("start", Value::ints(partition.start.iter().copied())),
                ("shape", Value::ints(partition.shape.iter().copied())),
                ("data", partition.data.clone()),
                ("location", Value::List(located)),
            ]);
            Ok((position(index), entry))
        };
        let entries = self.partitions.iter().enumerate().map(entry).collect::<Result<Vec<_>>>()?;
        let mut keys = vec![
            ("shape", Value::ints(self.shape.iter().copied())),
            ("partition_tiling", Value::ints(self.tiling.iter().copied())),
            ("partitions", Value::Dict(Dict(entries))),
            ("get", get),
        ];
        if let Some(locals) = &self.locals {
            keys.push(("locals", Value::List(locals.iter().map(|&index| position(index)).collect())));
        }
        Ok(Value::Dict(Dict(keys.into_iter().map(|(key, value)| (key.into(), value)).collect())))
    }

    /// Describes a distribution. `place` says where a part can be accessed; data and `locals` are left for
    /// the caller to fill in. Entry `i` is box `i` of [`tiles`]; where nothing is replicated, part
    /// `i`.
    pub fn from_distribution(
        dist: &Distribution,
        place: impl Fn(usize) -> PartitionLocation,
    ) -> Result<Description> {
        let (tiling, tiles) = tiles(dist)?;
        let partition = |(tile, parts): &(Region, Vec<usize>)| PartitionEntry {
            start: tile.start().to_vec(),
            shape: tile.extents().to_vec(),
            data: Value::None,
            location: parts.iter().map(|&part| place(part)).collect(),
        };
        let partitions = tiles.iter().map(partition).collect();
        Ok(Description {
            dialect: Dialect::Draft,
            shape: dist.shape().to_vec(),
            tiling,
            partitions,
            locals: None,
        })
    }

    /// The distribution that is described, with one part per partition.
    pub fn to_distribution(&self) -> Result<Distribution> {
        let mut stride = self.partitions.len();
        let mut builder = Distribution::builder(&self.shape).grid(&self.tiling);
        for (d, &n) in self.tiling.iter().enumerate() {
            stride /= n as usize;
            let stop = |at: usize| {
                let partition = &self.partitions[at * stride];
                partition.start[d] + partition.shape[d]
            };
            let bounds: Vec<i64> = std::iter::once(0).chain((0..n as usize).map(stop)).collect();
            builder = builder.bounds(d, &bounds);
        }
        builder.build().map_err(|error| {
            Refusal::new(format!("not supported here: {error}")).of_protocol(self.dialect.name())
        })
    }

    /// The same array in the words of `__distarray__`: one description per partition, as if each were a
    /// process.
    pub fn to_distarray(&self) -> Result<Vec<distarray::PartDescription>> {
        let dist = self.to_distribution()?;
        (0..dist.parts()).map(|part| distarray::PartDescription::from_distribution(&dist, part)).collect()
    }

    /// The descriptions of all parts in `__distarray__`, as this protocol has them: owned cells, no padding.
    pub fn from_distarray(
        parts: &[distarray::PartDescription],
        place: impl Fn(usize) -> PartitionLocation,
    ) -> Result<Description> {
        Description::from_distribution(&distarray::to_distribution(parts)?, place)
    }
}
