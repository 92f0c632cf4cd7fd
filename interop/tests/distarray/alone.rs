//! Mutators of sets of descriptions that make one description malformed in itself, whatever the set was.

use partita_interop::value::{Dict, IndexArray, Value};

use crate::generate::{Set, path};
use crate::malformed::{
    Fault, Mutator, Random, beyond_64_bits, dict, entry, fault, int, items, no_int, put, remove,
};

/// Faults of one description in itself.
pub const ALONE: &[Mutator<Set>] = &[
    ("a key of the description is missing", |s, r| {
        let (k, key) = (part(s, r), r.pick(&["__version__", "buffer", "dim_data"])?);
        remove(&mut s.parts[k], key);
        fault([key])?.of(k)
    }),
    ("a key too many beside them", |s, r| {
        let k = part(s, r);
        put(&mut s.parts[k], "strides", Value::None);
        fault(["strides"])?.of(k)
    }),
    ("the version is no str", |s, r| {
        let (k, wrong) = (part(s, r), r.pick(&[Value::Int(0), Value::Float(0.1), Value::None])?);
        put(&mut s.parts[k], "__version__", wrong);
        fault(["__version__"])?.of(k)
    }),
    ("the version has another form", |s, r| {
        let forms = ["0.10", "0.10.0.1", "v0.10.0", "0.10.0a1", "", "0.010.0", "0.-1.0", "0,10,0", "0.1 0.0"];
        let (k, wrong) = (part(s, r), r.pick(&forms)?);
        put(&mut s.parts[k], "__version__", wrong.into());
        fault(["__version__"])?.of(k)
    }),
    ("the version is of another major", |s, r| {
        let (k, major) = (part(s, r), r.among(1..=9));
        put(&mut s.parts[k], "__version__", Value::Str(format!("{major}.10.0")));
        fault(["__version__"])?.of(k)
    }),
    ("the buffer is none", |s, r| {
        let (k, wrong) =
            (part(s, r), r.pick(&[Value::None, Value::List(vec![]), Value::Other("object".into())])?);
        put(&mut s.parts[k], "buffer", wrong);
        fault(["buffer"])?.of(k)
    }),
    ("the buffer's bytes contradict its shape", |s, r| {
        let (k, bytes) = (part(s, r), r.pick(&[1, -4, 1 << 40])?);
        s.buffer(k).nbytes += bytes;
        fault(["buffer"])?.of(k)
    }),
    ("the buffer's extent contradicts the entry", |s, r| {
        let (k, d) = s.place_where(r, |column| !column.alias)?;
        let change = if s.buffer(k).shape[d] > 0 && r.chance(50) { -1 } else { r.among(1..=3) };
        s.resize(k, d, change);
        fault(["buffer"])?.of(k)
    }),
    ("dim_data is no tuple", |s, r| {
        let k = part(s, r);
        let dims = items(entry(&mut s.parts[k], "dim_data")).clone();
        let wrong = r.pick(&[Value::List(dims), Value::None, Value::Dict(Dict::default())])?;
        put(&mut s.parts[k], "dim_data", wrong);
        fault(["dim_data"])?.of(k)
    }),
    ("an entry too few or too many", |s, r| {
        let k = part(s, r);
        let dims = items(entry(&mut s.parts[k], "dim_data"));
        if r.chance(50) {
            drop(dims.pop()?)
        } else {
            dims.push(Value::Dict(Dict::default()))
        }
        fault(["dim_data"])?.of(k)
    }),
    ("an entry is no dict", |s, r| {
        let (k, d) = s.place(r)?;
        *s.dim(k, d) = r.pick(&[Value::None, Value::Tuple(vec![]), "b".into()])?;
        fault([format!("dim_data[{d}]")])?.of(k)
    }),
    ("an unknown dist_type", |s, r| {
        let wrong = r.pick(&["n", "q", "", "B", "bc", "bp"])?;
        one(s, r, |_, _| true, "dist_type", |_, _| Some(wrong.into()))
    }),
    ("dist_type is no str", |s, r| {
        one(s, r, |_, _| true, "dist_type", |_, r| Some(no_int(0, r)).filter(|v| !matches!(v, Value::Str(_))))
    }),
    ("a required key is missing", |s, r| {
        let (k, d) = s.place_where(r, |column| !column.alias)?;
        let own: &[&str] = match s.columns[d].dist_type {
            "b" => &["start", "stop"],
            "c" => &["start"],
            _ => &["indices"],
        };
        let key = r.pick(&[&["dist_type", "size", "proc_grid_size", "proc_grid_rank"], own].concat())?;
        remove(s.dim(k, d), key);
        fault([path(d, key)])?.of(k)
    }),
    ("a key that no dist_type has", |s, r| {
        let (k, d) = s.place_where(r, |column| !column.alias)?;
        let key = r.pick(&["shape", "Size", "start ", "halo"])?;
        s.put(k, d, key, 0.into());
        fault([path(d, key)])?.of(k)
    }),
    ("a key that is no str", |s, r| {
        let (k, d) = s.place_where(r, |column| !column.alias)?;
        dict(s.dim(k, d)).0.push((Value::Int(7), Value::None));
        fault([format!("dim_data[{d}][7]")])?.of(k)
    }),
    ("a key of another dist_type", |s, r| {
        let (k, d) = s.place_where(r, |column| !column.alias)?;
        let (key, value) = r.pick(match s.columns[d].dist_type {
            "b" => &[("block_size", Value::Int(1)), ("one_to_one", Value::Bool(true))],
            "c" => &[
                ("stop", Value::Int(0)),
                ("periodic", Value::Bool(false)),
                ("one_to_one", Value::Bool(true)),
            ],
            _ => &[("start", Value::Int(0)), ("block_size", Value::Int(1)), ("periodic", Value::Bool(true))],
        })?;
        s.put(k, d, key, value);
        fault([path(d, key)])?.of(k)
    }),
    ("a bool for an int", |s, r| number(s, r, |value, _| Value::Bool(value > 0))),
    ("a float for an int", |s, r| number(s, r, |value, _| Value::Float(value as f64))),
    ("a str or None for an int", |s, r| {
        number(s, r, |value, r| r.pick(&[Value::Str(value.to_string()), Value::None]).unwrap())
    }),
    ("an int beyond 64 bits", |s, r| number(s, r, |_, r| beyond_64_bits(r))),
    ("a negative int", |s, r| number(s, r, |_, r| r.among(-9..=-1).into())),
    ("a grid of no part", |s, r| one(s, r, |_, _| true, "proc_grid_size", |_, _| Some(0.into()))),
    ("a grid rank beyond the grid", |s, r| {
        let (k, d) = s.place_where(r, |column| !column.alias)?;
        let size = s.int(k, d, "proc_grid_size");
        s.put(k, d, "proc_grid_rank", (size + r.among(0..=3)).into());
        fault([path(d, "proc_grid_rank")])?.of(k)
    }),
    ("stop beyond the size", |s, r| {
        let (k, d) = s.place_of("b", r)?;
        let change = s.int(k, d, "size") - s.int(k, d, "stop") + r.among(1..=5);
        s.add(k, d, "stop", change);
        s.resize(k, d, change);
        fault([path(d, "stop")])?.of(k)
    }),
    ("stop before start", |s, r| {
        let (k, d) = s.place_of("b", r)?;
        let start = s.int(k, d, "start");
        s.put(k, d, "stop", (start - 1).into());
        fault([path(d, "stop")])?.of(k)
    }),
    ("the first part does not start at 0", |s, r| {
        let (k, d) = s.place_of("b", r)?;
        if s.rank(k, d) > 0 || s.int(k, d, "stop") == 0 {
            return None;
        }
        s.add(k, d, "start", 1);
        s.resize(k, d, -1);
        fault([path(d, "start")])?.of(k)
    }),
    ("the last part does not stop at the size", |s, r| {
        let (k, d) = s.place_of("b", r)?;
        if s.rank(k, d) + 1 < s.columns[d].entries.len() || s.buffer(k).shape[d] == 0 {
            return None;
        }
        s.add(k, d, "stop", -1);
        s.resize(k, d, -1);
        fault([path(d, "stop")])?.of(k)
    }),
    ("a width of padding is negative", |s, r| padding(s, r, |_, r| Value::ints([-r.among(1..=4), 0]), "[0]")),
    ("a width of padding is no int", |s, r| {
        padding(s, r, |_, r| Value::Tuple(vec![0.into(), no_int(1, r)]), "[1]")
    }),
    ("padding is no pair", |s, r| {
        let wrong =
            r.pick(&[Value::ints([0]), Value::ints([0, 0, 0]), Value::Int(0), Value::None, "00".into()])?;
        padding(s, r, |_, _| wrong, "")
    }),
    ("padding below is wider than the buffer", |s, r| {
        padding(s, r, |extent, _| Value::ints([extent + 1, 0]), "[0]")
    }),
    ("padding above is wider than the rest", |s, r| {
        padding(
            s,
            r,
            |extent, r| {
                let lo = r.among(0..=extent);
                Value::ints([lo, extent - lo + 1])
            },
            "[1]",
        )
    }),
    ("periodic is no bool", |s, r| {
        one(
            s,
            r,
            |s, d| s.columns[d].dist_type == "b",
            "periodic",
            |_, r| r.pick(&[Value::Int(1), "yes".into(), Value::None, Value::Float(0.0)]),
        )
    }),
    ("one_to_one is no bool", |s, r| {
        one(
            s,
            r,
            |s, d| s.columns[d].dist_type == "u",
            "one_to_one",
            |_, r| r.pick(&[Value::Int(0), "no".into(), Value::None]),
        )
    }),
    ("blocks of no index", |s, r| {
        one(s, r, |s, d| s.columns[d].dist_type == "c", "block_size", |_, _| Some(0.into()))
    }),
    ("a cyclic part starts inside a block", |s, r| {
        let (k, d) = s.place_of("c", r)?;
        let block = if s.has(k, d, "block_size") { s.int(k, d, "block_size") } else { 1 };
        let start = s.int(k, d, "start") + 1;
        if block == 1 || start >= s.int(k, d, "size") {
            return None;
        }
        s.put(k, d, "start", start.into());
        fault([path(d, "start")])?.of(k)
    }),
    ("a cyclic part starts after the first round", |s, r| {
        let (k, d) = s.place_of("c", r)?;
        let block = if s.has(k, d, "block_size") { s.int(k, d, "block_size") } else { 1 };
        let round = block * s.int(k, d, "proc_grid_size");
        let start = s.int(k, d, "start") + round;
        if start >= s.int(k, d, "size") {
            return None;
        }
        s.put(k, d, "start", start.into());
        fault([path(d, "start")])?.of(k)
    }),
    ("a cyclic part starts beyond the size", |s, r| {
        let (k, d) = s.place_of("c", r)?;
        let block = if s.has(k, d, "block_size") { s.int(k, d, "block_size") } else { 1 };
        let start = s.int(k, d, "size") + r.among(1..=9);
        if start == block * s.rank(k, d) as i64 {
            return None;
        }
        s.put(k, d, "start", start.into());
        fault([path(d, "start")])?.of(k)
    }),
    ("an index is listed twice by one part", |s, r| {
        indices(s, r, |array, _| {
            let data = array.data.as_mut().filter(|data| data.len() > 1)?;
            let last = data.len() - 1;
            data[last] = data[0];
            Some(())
        })
    }),
    ("indices are no integers of 64 bits", |s, r| {
        indices(s, r, |array, r| {
            array.dtype = r.pick(&["float64", "bool", "uint64"])?.into();
            array.data = None;
            Some(())
        })
    }),
    ("indices have two dimensions or none", |s, r| {
        indices(s, r, |array, r| {
            array.shape = r.pick(&[vec![1, array.shape[0]], vec![]])?;
            Some(())
        })
    }),
    ("indices are no buffer", |s, r| {
        one(
            s,
            r,
            |s, d| s.columns[d].dist_type == "u",
            "indices",
            |_, r| r.pick(&[Value::List(vec![]), Value::ints([0, 1]), Value::None, Value::Callable]),
        )
    }),
    ("more indices than the size", |s, r| {
        let (k, d) = s.place_of("u", r)?;
        let extent = s.buffer(k).shape[d];
        s.put(k, d, "size", (extent - 1).into());
        let key = if extent == 0 { "size" } else { "indices" };
        fault([path(d, key)])?.of(k)
    }),
];

pub fn part(s: &Set, r: &mut Random) -> usize {
    r.among(0..=s.parts.len() as i64 - 1) as usize
}

/// Gives one key of an entry that is spelled out another value.
fn one(
    s: &mut Set,
    r: &mut Random,
    fits: impl Fn(&Set, usize) -> bool,
    key: &str,
    value: impl Fn(&Set, &mut Random) -> Option<Value>,
) -> Option<Fault> {
    let (k, d) = s.place_where(r, |column| !column.alias)?;
    if !fits(s, d) {
        return None;
    }
    let value = value(s, r)?;
    s.put(k, d, key, value);
    fault([path(d, key)])?.of(k)
}

/// Replaces one of the integers of an entry.
fn number(s: &mut Set, r: &mut Random, wrong: impl Fn(i64, &mut Random) -> Value) -> Option<Fault> {
    let (k, d) = s.place_where(r, |column| !column.alias)?;
    let keys = ["size", "proc_grid_size", "proc_grid_rank", "start", "stop", "block_size"];
    let keys: Vec<&str> = keys.into_iter().filter(|key| s.has(k, d, key)).collect();
    let key = r.pick(&keys)?;
    let value = wrong(int(entry(s.dim(k, d), key)), r);
    s.put(k, d, key, value);
    fault([path(d, key)])?.of(k)
}

/// Gives a block another padding, made from its extent.
fn padding(
    s: &mut Set,
    r: &mut Random,
    wrong: impl FnOnce(i64, &mut Random) -> Value,
    step: &str,
) -> Option<Fault> {
    let (k, d) = s.place_of("b", r)?;
    let value = wrong(s.buffer(k).shape[d], r);
    s.put(k, d, "padding", value);
    fault([path(d, "padding") + step])?.of(k)
}

pub fn array(s: &mut Set, part: usize, d: usize) -> &mut IndexArray {
    match entry(s.dim(part, d), "indices") {
        Value::Array(array) => array,
        other => panic!("no array: {other:?}"),
    }
}

/// Changes the indices of one part.
fn indices(
    s: &mut Set,
    r: &mut Random,
    wrong: impl Fn(&mut IndexArray, &mut Random) -> Option<()>,
) -> Option<Fault> {
    let (k, d) = s.place_of("u", r)?;
    wrong(array(s, k, d), r)?;
    fault([path(d, "indices")])?.of(k)
}
