//! Mutators of sets of descriptions: each is well-formed, or nearly, and together they are not an array.

use partita_interop::value::{Buffer, Dict, IndexArray, Value};

use crate::alone::{array, part};
use crate::generate::{Column, Set, path};
use crate::malformed::{Fault, Mutator, Random, entry, fault, int, items, remove};

/// Faults that only all descriptions together show.
pub const TOGETHER: &[Mutator<Set>] = &[
    ("a part is missing", |s, r| {
        let k = several(s, r)?;
        s.parts.remove(k);
        fault(["dim_data"])
    }),
    ("a part too many", |s, r| {
        let k = part(s, r);
        s.parts.push(s.parts[k].clone());
        fault(["dim_data"])
    }),
    ("a part in place of another", |s, r| {
        let (k, j) = (several(s, r)?, several(s, r)?);
        s.parts[k] = s.parts[j].clone();
        let ranks: Vec<String> = (0..s.columns.len()).map(|d| path(d, "proc_grid_rank")).collect();
        if k == j { None } else { fault(ranks)?.of(k) }
    }),
    ("two parts in each other's place", |s, r| {
        let (k, j) = (several(s, r)?, several(s, r)?);
        s.parts.swap(k, j);
        if k == j { None } else { fault((0..s.columns.len()).map(|d| path(d, "proc_grid_rank"))) }
    }),
    ("another number of dimensions in one part", |s, r| {
        let k = several(s, r)?;
        items(entry(&mut s.parts[k], "dim_data")).push(Value::Dict(Dict::default()));
        let shape = [s.buffer(k).shape.clone(), vec![5]].concat();
        *s.buffer(k) = Buffer::contiguous(&shape, "f", 4);
        fault(["dim_data"])
    }),
    ("another element type in one part", |s, r| {
        let k = several(s, r)?;
        let shape = s.buffer(k).shape.clone();
        *s.buffer(k) = Buffer::contiguous(&shape, "d", 8);
        fault(["buffer"])
    }),
    ("another size in one part", |s, r| {
        several(s, r)?;
        let (k, d) = s.place_of("u", r)?;
        s.add(k, d, "size", 1);
        // Undistributed, it contradicts itself.
        fault([path(d, "size")])
    }),
    ("another size in one block", |s, r| {
        several(s, r)?;
        let (k, d) = s.place_of("b", r)?;
        if s.rank(k, d) + 1 == s.columns[d].entries.len() {
            return None;
        }
        s.add(k, d, "size", r.among(1..=4));
        fault([path(d, "size")])
    }),
    ("another proc_grid_size in one part", |s, r| {
        several(s, r)?;
        let (k, d) = s.place_where(r, |column| column.dist_type != "c" && !column.alias && !column.padded)?;
        s.add(k, d, "proc_grid_size", r.among(1..=3));
        fault([path(d, "proc_grid_size")])
    }),
    ("another block_size in one part", |s, r| {
        several(s, r)?;
        let (k, d) = s.place_of("c", r)?;
        let block = if s.has(k, d, "block_size") { s.int(k, d, "block_size") } else { 1 };
        s.put(k, d, "block_size", (block + 1).into());
        // It contradicts the start, the buffer or the other parts.
        fault([path(d, "block_size"), path(d, "start"), "buffer".into()])
    }),
    ("periodic in one part only", |s, r| {
        several(s, r)?;
        let (k, d) = s.place_where(r, |column| column.dist_type == "b" && !column.alias && !column.padded)?;
        let periodic = s.has(k, d, "periodic") && *entry(s.dim(k, d), "periodic") == Value::Bool(true);
        s.put(k, d, "periodic", (!periodic).into());
        fault([path(d, "periodic")])
    }),
    ("one_to_one in one part only", |s, r| {
        several(s, r)?;
        let (k, d) = s.place_of("u", r)?;
        let promised = s.has(k, d, "one_to_one") && *entry(s.dim(k, d), "one_to_one") == Value::Bool(true);
        s.put(k, d, "one_to_one", (!promised).into());
        fault([path(d, "one_to_one")])
    }),
    ("another dist_type in one part", |s, r| {
        several(s, r)?;
        let (k, d) = s.place_of("b", r)?;
        let (start, stop) = (s.int(k, d, "start"), s.int(k, d, "stop"));
        let data: Vec<i64> = (start..stop).collect();
        let array = IndexArray { dtype: "int64".into(), shape: vec![stop - start], data: Some(data) };
        ["start", "stop", "padding", "periodic"].iter().for_each(|key| remove(s.dim(k, d), key));
        s.put(k, d, "dist_type", "u".into());
        s.put(k, d, "indices", Value::Array(array));
        fault([path(d, "dist_type")])
    }),
    ("{} where the dimension is distributed", |s, r| {
        let (k, d) = s.place_of("b", r)?;
        if s.columns[d].entries.len() == 1 {
            return None;
        }
        *s.dim(k, d) = Value::Dict(Dict::default());
        fault([path(d, "size"), path(d, "proc_grid_size"), path(d, "periodic")])
    }),
    ("a gap between two blocks", |s, r| seam(s, r, 1)),
    ("an overlap of two blocks", |s, r| seam(s, r, -1)),
    ("a range unlike that of the parts beside it", |s, r| {
        let (k, d) = s.place_where(r, |column| column.dist_type == "b" && !column.padded)?;
        let rank = s.rank(k, d);
        if rank == 0 || s.buffer(k).shape[d] == 0 || s.of_rank(d, rank).len() == 1 {
            return None;
        }
        s.add(k, d, "start", 1);
        s.resize(k, d, -1);
        fault([path(d, "start")])
    }),
    ("a start unlike that of the parts beside it", |s, r| {
        let (k, d) = s.place_of("c", r)?;
        let (rank, size) = (s.rank(k, d), s.int(k, d, "size"));
        if s.of_rank(d, rank).len() == 1 || s.int(k, d, "start") >= size {
            return None;
        }
        let extent = s.buffer(k).shape[d];
        s.put(k, d, "start", size.into());
        s.resize(k, d, -extent);
        fault([path(d, "start")])
    }),
    ("indices unlike those of the parts beside it", |s, r| {
        let (k, d) = s.place_of("u", r)?;
        let (rank, extent) = (s.rank(k, d), s.buffer(k).shape[d]);
        if s.of_rank(d, rank).len() == 1 || extent < 2 {
            return None;
        }
        data(s, k, d).reverse();
        fault([path(d, "indices")])
    }),
    ("padding on one side of a seam only", |s, r| {
        let (k, d) = s.place_of("b", r)?;
        let rank = s.rank(k, d);
        let (lo, hi) = widths(s, k, d);
        if rank == 0 || s.int(k, d, "start") == 0 {
            return None;
        }
        for part in s.of_rank(d, rank) {
            s.put(part, d, "padding", Value::ints([lo + 1, hi]));
            s.add(part, d, "start", -1);
            s.resize(part, d, 1);
        }
        fault([path(d, "padding")])
    }),
    ("padding wider than what the neighbour owns", |s, r| {
        let fits = |column: &Column| column.dist_type == "b" && !column.padded && column.owned.len() > 2;
        let (_, d) = s.place_where(r, fits)?;
        let counts: Vec<i64> = s.columns[d].owned.iter().map(|owned| owned.len() as i64).collect();
        let rank = r.among(2..=counts.len() as i64 - 1) as usize;
        let width = counts[rank - 1] + 1;
        let (before, after) = (counts[..rank].iter().sum::<i64>(), counts[rank..].iter().sum::<i64>());
        if width > before || width > after {
            return None;
        }
        for part in s.of_rank(d, rank) {
            s.put(part, d, "padding", Value::ints([width, 0]));
            s.add(part, d, "start", -width);
            s.resize(part, d, width);
        }
        for part in s.of_rank(d, rank - 1) {
            s.put(part, d, "padding", Value::ints([0, width]));
            s.add(part, d, "stop", width);
            s.resize(part, d, width);
        }
        fault([path(d, "padding")])
    }),
    ("a ring with copies wider than what its other end owns", |s, r| {
        let (_, d) = s.place_where(r, |column| column.dist_type == "b" && !column.padded && !column.alias)?;
        if !s.has(0, d, "periodic") || *entry(s.dim(0, d), "periodic") != Value::Bool(true) {
            return None;
        }
        let width = s.columns[d].owned.last()?.len() as i64 + 1;
        for part in 0..s.parts.len() {
            ["size", "stop"].iter().for_each(|key| s.add(part, d, key, width));
            if s.rank(part, d) == 0 {
                s.put(part, d, "padding", Value::ints([width, 0]));
                s.resize(part, d, width);
            } else {
                s.add(part, d, "start", width);
            }
        }
        fault([path(d, "padding")])
    }),
    ("two cyclic parts begin together", |s, r| {
        let (k, d) = s.place_of("c", r)?;
        let (here, there) = (s.rank(k, d), r.among(0..=s.columns[d].entries.len() as i64 - 1) as usize);
        let other = s.of_rank(d, there)[0];
        let (start, extent) = (s.int(other, d, "start"), s.buffer(other).shape[d]);
        if here == there || extent == 0 {
            return None;
        }
        for part in s.of_rank(d, here) {
            let change = extent - s.buffer(part).shape[d];
            s.put(part, d, "start", start.into());
            s.resize(part, d, change);
        }
        fault([path(d, "start")])
    }),
    ("blocks that are dealt to nobody", |s, r| {
        let (k, d) = s.place_of("c", r)?;
        let (rank, size, extent) = (s.rank(k, d), s.int(k, d, "size"), s.buffer(k).shape[d]);
        if extent == 0 {
            return None;
        }
        for part in s.of_rank(d, rank) {
            s.put(part, d, "start", size.into());
            s.resize(part, d, -extent);
        }
        fault([path(d, "start")])
    }),
    ("an index in two lists that one_to_one forbids", |s, r| {
        let (k, d) = s.place_of("u", r)?;
        let (here, there) = (s.rank(k, d), r.among(0..=s.columns[d].entries.len() as i64 - 1) as usize);
        let taken = *s.columns[d].owned[there].first()?;
        let list = &s.columns[d].owned[here];
        if here == there || list.is_empty() || list[1..].contains(&taken) {
            return None;
        }
        for part in 0..s.parts.len() {
            s.put(part, d, "one_to_one", true.into());
        }
        for part in s.of_rank(d, here) {
            data(s, part, d)[0] = taken;
        }
        fault([path(d, "indices")])
    }),
    ("a size that no list accounts for", |s, r| {
        let (_, d) = s.place_of("u", r)?;
        let total: usize = s.columns[d].owned.iter().map(Vec::len).sum();
        let size = total as i64 + r.among(1..=3);
        (0..s.parts.len()).for_each(|part| s.put(part, d, "size", size.into()));
        fault([path(d, "size")])
    }),
];

/// A part of several.
fn several(s: &Set, r: &mut Random) -> Option<usize> {
    if s.parts.len() > 1 { Some(part(s, r)) } else { None }
}

fn widths(s: &mut Set, part: usize, d: usize) -> (i64, i64) {
    if !s.has(part, d, "padding") {
        return (0, 0);
    }
    let pair = items(entry(s.dim(part, d), "padding"));
    (int(&pair[0]), int(&pair[1]))
}

fn data(s: &mut Set, part: usize, d: usize) -> &mut Vec<i64> {
    array(s, part, d).data.as_mut().unwrap()
}

/// Moves the start of a block that is not the first, in all parts that have it.
fn seam(s: &mut Set, r: &mut Random, change: i64) -> Option<Fault> {
    let (k, d) = s.place_where(r, |column| column.dist_type == "b" && !column.padded)?;
    let rank = s.rank(k, d);
    if rank == 0 || s.buffer(k).shape[d] - change < 0 || s.int(k, d, "start") + change < 0 {
        return None;
    }
    for part in s.of_rank(d, rank) {
        s.add(part, d, "start", change);
        s.resize(part, d, -change);
    }
    fault([path(d, "start")])
}
