//! The reading of a [`DimDict`], with the rules that one entry must keep by itself.

use super::column;
use super::dim::{COMMON, DimDict, Kind};
use crate::value::{Dict, Refusal, Result, Value};

impl DimDict {
    /// Reads an entry; `extent` is that of the buffer, which an empty entry speaks of.
    pub(super) fn parse(value: &Value, extent: Option<i64>) -> Result<DimDict> {
        let dict = value.as_dict()?;
        if dict.0.is_empty() {
            return Ok(DimDict::undistributed(extent.unwrap_or_default()));
        }
        let dist_type = dict.read("dist_type", |value| match value.as_str()? {
            known @ ("b" | "c" | "u") => Ok(known),
            "n" => Err(value.refuse("'b', 'c' or 'u'; an undistributed dimension is {}")),
            _ => Err(value.refuse("'b', 'c' or 'u'")),
        })?;
        let (required, optional): (&[&str], &[&str]) = match dist_type {
            "b" => (&["start", "stop"], &["padding", "periodic"]),
            "c" => (&["start"], &["block_size"]),
            _ => (&["indices"], &["one_to_one"]),
        };
        dict.check_keys(&[&COMMON, required].concat(), optional)?;
        let size = dict.read("size", |v| v.as_int_in(0..=i64::MAX, ""))?;
        let grid_size = dict.read("proc_grid_size", |v| v.as_int_in(1..=i64::MAX, ""))?;
        let grid_rank = dict
            .read("proc_grid_rank", |v| v.as_int_in(0..=grid_size - 1, ", one less than proc_grid_size"))?;
        let read = match dist_type {
            "b" => block,
            "c" => cyclic,
            _ => unstructured,
        };
        let dim = DimDict { size, grid_size, grid_rank, kind: read(dict, size, grid_size, grid_rank)? };
        if grid_size == 1 {
            column::check(&[(0, &dim)]).map_err(|refusal| Refusal { part: None, ..refusal })?;
        }
        Ok(dim)
    }
}

fn block(dict: &Dict, size: i64, grid_size: i64, grid_rank: i64) -> Result<Kind> {
    let start = dict.read("start", |v| match grid_rank {
        0 => v.as_int_in(0..=0, ", where grid rank 0 begins"),
        _ => v.as_int_in(0..=size, ", the size"),
    })?;
    let stop = dict.read("stop", |v| match grid_rank + 1 == grid_size {
        true => v.as_int_in(size..=size, ", the size, where the last grid rank ends"),
        false => v.as_int_in(start..=size, ": from start to size"),
    })?;
    let padding = dict.read_or("padding", (0, 0), |value| {
        let items = value.as_sequence("2 widths")?;
        let [lo, hi] = items else { return Err(Refusal::expected("2 widths", items.len())) };
        let width = |i: usize, v: &Value, most: i64| {
            let why = ", what is left of the extent of the buffer";
            v.as_int_in(0..=most, why).map_err(|refusal| refusal.under_index(i))
        };
        let lo = width(0, lo, stop - start)?;
        Ok((lo, width(1, hi, stop - start - lo)?))
    })?;
    let periodic = dict.read_or("periodic", false, Value::as_bool)?;
    Ok(Kind::Block { start, stop, padding, periodic })
}

fn cyclic(dict: &Dict, size: i64, grid_size: i64, grid_rank: i64) -> Result<Kind> {
    let block_size = dict.read_or("block_size", 1, |v| v.as_int_in(1..=i64::MAX, ""))?;
    let start = dict.read("start", |value| {
        let start = value.as_int_in(0..=i64::MAX, "")?;
        let turn = i128::from(start) / i128::from(block_size);
        let (ours, first) = (turn == i128::from(grid_rank), start % block_size == 0);
        match start < size {
            true if !first => Err(value.refuse(format_args!("a multiple of {block_size}, the block size"))),
            true if turn >= i128::from(grid_size) => {
                let expected =
                    format!("one of the first {grid_size} blocks, where the {grid_size} parts begin");
                Err(value.refuse(expected))
            }
            false if start > size && !(ours && first) => {
                Err(value
                    .refuse(format_args!("at most {size}, the size, which is the start of an empty part")))
            }
            _ => Ok(start),
        }
    })?;
    Ok(Kind::Cyclic { start, block_size })
}

fn unstructured(dict: &Dict, size: i64, _: i64, _: i64) -> Result<Kind> {
    let indices = dict.read("indices", |value| {
        let indices = value.as_indices()?;
        let mut sorted = indices.to_vec();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Refusal::expected("every index once", format!("{} twice", twice[0])));
        }
        if indices.len() as i64 > size {
            return Err(Refusal::expected(format!("at most {size} indices, the size"), indices.len()));
        }
        Ok(indices.to_vec())
    })?;
    let one_to_one = dict.read_or("one_to_one", false, Value::as_bool)?;
    Ok(Kind::Unstructured { indices, one_to_one })
}
