//! Support of the tests of malformed descriptions: a random source, edits of values, and the run over a table
//! of mutators that counts what was refused, and where the fault was said to lie.

#![allow(dead_code, clippy::unwrap_used)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use partita_interop::value::{Dict, Refusal, Result, Value};

/// SplitMix64: the same cases in every run.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number of `range`.
    pub fn among(&mut self, range: std::ops::RangeInclusive<i64>) -> i64 {
        range.start() + (self.next() % (range.end() - range.start() + 1) as u64) as i64
    }

    pub fn chance(&mut self, percent: i64) -> bool {
        self.among(1..=100) <= percent
    }

    pub fn pick<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        if items.is_empty() {
            None
        } else {
            Some(items[self.among(0..=items.len() as i64 - 1) as usize].clone())
        }
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.among(0..=i as i64) as usize);
        }
    }
}

/// The dict in a value.
pub fn dict(value: &mut Value) -> &mut Dict {
    match value {
        Value::Dict(dict) => dict,
        other => panic!("no dict: {other:?}"),
    }
}

pub fn items(value: &mut Value) -> &mut Vec<Value> {
    match value {
        Value::Tuple(items) | Value::List(items) => items,
        other => panic!("no sequence: {other:?}"),
    }
}

/// The value of a key, to be changed.
pub fn entry<'a>(value: &'a mut Value, key: &str) -> &'a mut Value {
    &mut dict(value).0.iter_mut().find(|(k, _)| *k == key.into()).unwrap_or_else(|| panic!("no {key}")).1
}

pub fn put(value: &mut Value, key: &str, new: Value) {
    match dict(value).0.iter_mut().find(|(k, _)| *k == key.into()) {
        Some((_, old)) => *old = new,
        None => dict(value).0.push((key.into(), new)),
    }
}

pub fn remove(value: &mut Value, key: &str) {
    dict(value).0.retain(|(k, _)| *k != key.into());
}

pub fn int(value: &Value) -> i64 {
    match value {
        Value::Int(value) => *value as i64,
        other => panic!("no int: {other:?}"),
    }
}

/// What stands where an int should, and is none, made from it.
pub fn no_int(value: i64, random: &mut Random) -> Value {
    let wrong =
        [Value::Float(value as f64), Value::None, Value::Str(value.to_string()), Value::Bool(value == 1)];
    random.pick(&wrong).unwrap()
}

pub fn beyond_64_bits(random: &mut Random) -> Value {
    random.pick(&[Value::Int(1 << 70), Value::Int(-(1 << 64)), Value::Int(1 << 63), Value::HugeInt]).unwrap()
}

/// Where a mutator made the fault: the key path, several where two values contradict each other, and the part
/// where the fault is in one alone.
pub struct Fault {
    pub paths: Vec<String>,
    pub part: Option<usize>,
}

pub fn fault(paths: impl IntoIterator<Item = impl Into<String>>) -> Option<Fault> {
    Some(Fault { paths: paths.into_iter().map(Into::into).collect(), part: None })
}

impl Fault {
    pub fn of(self, part: usize) -> Option<Fault> {
        Some(Fault { part: Some(part), ..self })
    }
}

/// A mutator makes a valid case malformed, by construction, or says that it cannot.
pub type Mutator<C> = (&'static str, fn(&mut C, &mut Random) -> Option<Fault>);

/// Makes `each` mutants of every kind and prints a table. All must be refused, with the path and the part of
/// the fault, and without a panic.
pub fn run<C, T>(
    protocol: &str,
    each: usize,
    mutators: &[Mutator<C>],
    make: impl Fn(&mut Random) -> C,
    read: impl Fn(&C) -> Result<T>,
) {
    let mut wrong = Vec::new();
    println!("{protocol}: {} kinds of mutation\n  made  refused  right place  kind", mutators.len());
    for (kind, &(name, mutate)) in mutators.iter().enumerate() {
        let mut random = Random::new(kind as u64);
        let (mut made, mut refused, mut right, mut tries) = (0, 0, 0, 0);
        while made < each {
            tries += 1;
            assert!(tries < 1000 * each, "no case can be mutated: {name}");
            let mut case = make(&mut random);
            let Some(fault) = mutate(&mut case, &mut random) else { continue };
            made += 1;
            match catch_unwind(AssertUnwindSafe(|| read(&case).map(|_| ()))) {
                Ok(Err(refusal)) => {
                    refused += 1;
                    let placed = said(&refusal, &fault);
                    right += usize::from(placed);
                    if !placed {
                        wrong.push(format!(
                            "{name}: {refusal}; expected at {:?} of {:?}",
                            fault.paths, fault.part
                        ));
                    }
                }
                Ok(Ok(())) => wrong.push(format!("{name}: let through, wrong at {:?}", fault.paths)),
                Err(_) => wrong.push(format!("{name}: a panic")),
            }
        }
        println!("  {made:4}  {refused:7}  {right:11}  {name}");
    }
    println!("ran: {protocol}-malformed {}", each * mutators.len());
    println!("ran: {protocol}-malformed-kinds {}", mutators.len());
    let few: Vec<&String> = wrong.iter().take(20).collect();
    assert!(wrong.is_empty(), "{} of {}: {few:#?}", wrong.len(), each * mutators.len());
}

fn said(refusal: &Refusal, fault: &Fault) -> bool {
    let part = fault.part.is_none_or(|part| refusal.part == Some(part));
    fault.paths.contains(&refusal.path) && part && !refusal.reason.is_empty()
}

/// Any value, of any type, with anything in it.
pub fn anything(random: &mut Random, depth: i64) -> Value {
    let n = if depth > 0 { random.among(0..=3) } else { 0 };
    match random.among(0..=11) {
        0 => Value::None,
        1 => random.chance(50).into(),
        2 => random.pick(&[0, 1, -1, 4, i64::MAX, i64::MIN]).unwrap().into(),
        3 => beyond_64_bits(random),
        4 => Value::Float(f64::NAN),
        5 => random.pick(&["b", "", "start", "0.10.0", "(1, 2)"]).unwrap().into(),
        6 => Value::Tuple((0..n).map(|_| anything(random, depth - 1)).collect()),
        7 => Value::List((0..n).map(|_| anything(random, depth - 1)).collect()),
        8 => Value::Dict(Dict((0..n).map(|_| (anything(random, 1), anything(random, depth - 1))).collect())),
        9 => Value::Callable,
        10 => Value::Other("Future".into()),
        _ => Value::ints((0..n).map(|_| random.among(-1..=4))),
    }
}

/// Every place in a value, deepest last.
pub fn places(value: &mut Value) -> usize {
    1 + match value {
        Value::Tuple(items) | Value::List(items) => items.iter_mut().map(places).sum(),
        Value::Dict(Dict(entries)) => entries.iter_mut().map(|(_, value)| places(value)).sum(),
        _ => 0,
    }
}

/// Replaces the value at a place.
pub fn replace(value: &mut Value, place: usize, new: Value) -> Option<Value> {
    let mut left = match place.checked_sub(1) {
        None => return Some(std::mem::replace(value, new)),
        Some(left) => left,
    };
    let children: Vec<&mut Value> = match value {
        Value::Tuple(items) | Value::List(items) => items.iter_mut().collect(),
        Value::Dict(Dict(entries)) => entries.iter_mut().map(|(_, value)| value).collect(),
        _ => Vec::new(),
    };
    for child in children {
        let here = places(child);
        if left < here {
            return replace(child, left, new);
        }
        left -= here;
    }
    None
}
