//! Memory accesses in the SPIR-V of kernels: whole units, all loads before the first store and before the
//! first use, whole words of narrow types without atomics, few barriers.

use std::collections::{HashMap, HashSet};

use partita_kernels::wgsl::{WgslTarget, emit};
use partita_kernels::{BinaryOp, Builder, DType, Fold, FoldOp, Math1, UnaryOp, Verified};

use crate::{STRICT, translated};

const ENTRY_POINT: u32 = 15;
const FUNCTION: u32 = 54;
const FUNCTION_CALL: u32 = 57;
const VARIABLE: u32 = 59;
const LOAD: u32 = 61;
const STORE: u32 = 62;
const ACCESS_CHAIN: u32 = 65;
const BARRIER: u32 = 224;
const ATOMICS: std::ops::RangeInclusive<u32> = 227..=242;
const STORAGE_BUFFER: u32 = 12;
const TYPE_POINTER: u32 = 32;

/// What one instruction of the entry point does to storage buffers or to the workgroup. Functions that it
/// calls are single elements or arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Event {
    /// Bytes.
    Load(u32),
    Store,
    /// A call of a function that loads or stores an element.
    Element,
    Atomic,
    Barrier,
    /// A use of what was loaded, other than keeping it in a variable.
    Use,
}

struct Module {
    words: Vec<u32>,
}

impl Module {
    fn of(kernel: &Verified, target: &WgslTarget, stage: usize) -> Module {
        let shader = emit(kernel, target).expect("a shader");
        Module { words: translated::spirv(&shader.stages[stage].source) }
    }

    fn instructions(&self) -> impl Iterator<Item = &[u32]> + '_ {
        let mut at = 5;
        std::iter::from_fn(move || {
            let length = (*self.words.get(at)? >> 16) as usize;
            at += length;
            Some(&self.words[at - length..at])
        })
    }

    /// Bytes of each scalar and vector type.
    fn sizes(&self) -> HashMap<u32, u32> {
        let mut sizes = HashMap::new();
        for i in self.instructions() {
            match i[0] & 0xffff {
                20 => drop(sizes.insert(i[1], 1)),
                21 | 22 => drop(sizes.insert(i[1], i[2] / 8)),
                23 => drop(sizes.insert(i[1], sizes[&i[2]] * i[3])),
                _ => {}
            }
        }
        sizes
    }

    fn events(&self) -> Vec<Event> {
        let opcode = |i: &[u32]| i[0] & 0xffff;
        let entry = self.instructions().find(|i| opcode(i) == ENTRY_POINT).expect("an entry point")[2];
        let sizes = self.sizes();
        let buffers: HashSet<u32> = self
            .instructions()
            .filter(|i| opcode(i) == TYPE_POINTER && i[2] == STORAGE_BUFFER)
            .map(|i| i[1])
            .collect();
        let (mut function, mut touching) = (0, HashSet::new());
        let (mut pointers, mut loaded, mut events) = (HashMap::new(), HashSet::new(), Vec::new());
        // Variables that hold what was loaded.
        let mut kept = HashSet::new();
        for i in self.instructions() {
            match opcode(i) {
                FUNCTION => function = i[2],
                VARIABLE if buffers.contains(&i[1]) => drop(pointers.insert(i[2], 0)),
                ACCESS_CHAIN if buffers.contains(&i[1]) => {
                    pointers.insert(i[2], i[1]);
                    touching.insert(function);
                }
                _ => {}
            }
            if function != entry {
                continue;
            }
            match opcode(i) {
                LOAD if pointers.contains_key(&i[3]) => {
                    loaded.insert(i[2]);
                    events.push(Event::Load(sizes[&i[1]]));
                }
                STORE if pointers.contains_key(&i[1]) => events.push(Event::Store),
                STORE if loaded.contains(&i[2]) => drop(kept.insert(i[1])),
                STORE => {}
                LOAD if kept.contains(&i[3]) => drop(loaded.insert(i[2])),
                FUNCTION_CALL if touching.contains(&i[3]) => events.push(Event::Element),
                o if ATOMICS.contains(&o) => events.push(Event::Atomic),
                BARRIER => events.push(Event::Barrier),
                _ if i.iter().skip(3).any(|word| loaded.contains(word)) => events.push(Event::Use),
                _ => {}
            }
        }
        events
    }
}

fn mapped(from: DType, to: DType, rank: usize) -> Verified {
    let mut k = Builder::new("mapped", rank);
    let (input, output) = (k.input(from), k.output(to));
    let value = k.load(input, &vec![0; rank]);
    let value = k.cast(value, to);
    let value = if to == DType::Bool { value } else { k.unary(UnaryOp::Abs, value) };
    k.elementwise(&[(output, value)]).expect("a kernel")
}

/// A position of each event of a kind.
fn places(events: &[Event], kind: impl Fn(&Event) -> bool) -> Vec<usize> {
    events.iter().enumerate().filter(|(_, event)| kind(event)).map(|(at, _)| at).collect()
}

#[test]
fn a_load_behind_a_store_is_seen() {
    let source = "@group(0) @binding(0) var<storage, read> a: array<u32>;
        @group(0) @binding(1) var<storage, read_write> b: array<u32>;
        @compute @workgroup_size(1) fn main() {
          b[0] = a[0] + 1u;
          b[1] = a[1];
        }";
    let events = Module { words: translated::spirv(source) }.events();
    assert_eq!(events, [Event::Load(4), Event::Use, Event::Store, Event::Load(4), Event::Store]);
}

#[test]
fn loads_stand_before_the_first_use_and_the_first_store() {
    let mut count = 0;
    for from in DType::ALL {
        for to in [DType::Bool, DType::I8, DType::F16, DType::F32, DType::I64, DType::F64] {
            for rank in [1, 3] {
                let kernel = mapped(from, to, rank);
                let events = Module::of(&kernel, &STRICT, 0).events();
                let loads = places(&events, |e| matches!(e, Event::Load(_)));
                let first = places(&events, |e| matches!(e, Event::Store | Event::Use | Event::Atomic));
                assert!(!loads.is_empty(), "{from} {to}: {events:?}");
                assert!(loads.last() < first.first(), "{from} {to}: {events:?}");
                let unit = (4 * from.size_bytes() as u32).min(16);
                assert!(
                    events.iter().all(|e| !matches!(e, Event::Load(bytes) if *bytes != unit)),
                    "{events:?}"
                );
                // What is loaded without a condition.
                let bytes = unit as usize * loads.len();
                assert!(bytes >= 32.min(16 * from.size_bytes()), "{from} {to}: {bytes} bytes under way");
                count += 1;
            }
        }
    }
    println!("ran: wgsl-gates-loads {count}");
}

/// A sum of loads, each weighted.
fn stencil(d: DType, offsets: &[Vec<i32>]) -> Verified {
    let mut k = Builder::new("stencil", offsets[0].len());
    let (input, output) = (k.input(d), k.output(d));
    let values: Vec<_> = offsets.iter().map(|at| k.load(input, at)).collect();
    let sum = values.into_iter().reduce(|a, b| k.binary(BinaryOp::Add, a, b)).expect("a value");
    k.elementwise(&[(output, sum)]).expect("a kernel")
}

fn star(rank: usize, radius: i32) -> Vec<Vec<i32>> {
    let along = |dim: usize, at: i32| (0..rank).map(|k| if k == dim { at } else { 0 }).collect::<Vec<i32>>();
    let arms =
        (0..rank).flat_map(|dim| (-radius..=radius).filter(|&at| at != 0).map(move |at| along(dim, at)));
    std::iter::once(vec![0; rank]).chain(arms).collect()
}

/// Loads of units and of single elements for 16 points in a 2-D stencil, and 16 in a 3-D one: what a point
/// reads, and the planes that share it, say how many; `packs` are those of the stage `elementwise`.
#[test]
fn stencils_load_what_their_planes_share_once_and_before_the_first_use() {
    let cube: Vec<Vec<i32>> = (0..27).map(|n| vec![n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1]).collect();
    // Offsets, packs' units, and of planes: how many, units, single elements.
    let cases = [
        ("5 points", star(2, 1), 7, (2, 4, 4)),
        ("9 points", star(2, 2), 11, (2, 6, 8)),
        ("7 points", star(3, 1), 11, (4, 14, 8)),
        ("13 points", star(3, 2), 19, (2, 14, 8)),
        ("27 points", cube, 27, (2, 12, 24)),
    ];
    for (name, offsets, packs, (planes, units, single)) in cases {
        let kernel = stencil(DType::F32, &offsets);
        let shader = emit(&kernel, &STRICT).unwrap();
        let entries: Vec<&str> = shader.stages.iter().map(|stage| stage.entry).collect();
        assert_eq!(entries, ["elementwise", "planes"], "{name}");
        assert_eq!(shader.stages[1].visit.blocks.map(|blocks| blocks.planes), Some(planes), "{name}");
        let events = |stage| Module::of(&kernel, &STRICT, stage).events();
        let count = |events: &[Event]| {
            let units = places(events, |e| *e == Event::Load(16)).len();
            let first = places(events, |e| matches!(e, Event::Store)).first().copied().unwrap_or(0);
            (units, places(&events[..first], |e| *e == Event::Element).len())
        };
        assert_eq!(count(&events(0)).0, packs, "{name}");
        let events = events(1);
        assert_eq!(count(&events), (units, single), "{name}");
        let loads = places(&events, |e| matches!(e, Event::Load(_)));
        let stored = places(&events, |e| matches!(e, Event::Store));
        assert!(loads.last() < stored.first(), "{name}: {events:?}");
        assert_eq!(places(&events, |e| *e == Event::Barrier).len(), 0);
    }
}

#[test]
fn squares_load_once_for_each_point_and_wait_once() {
    let mut k = Builder::new("turned", 2);
    let (inputs, output) = ([k.input(DType::F32), k.input(DType::F32)], k.output(DType::F32));
    let [a, b] = inputs.map(|p| k.load(p, &[0, 0]));
    let sum = k.binary(BinaryOp::Add, a, b);
    let kernel = k.elementwise(&[(output, sum)]).unwrap();
    assert_eq!(emit(&kernel, &STRICT).unwrap().stages[1].entry, "transpose");
    let events = Module::of(&kernel, &STRICT, 1).events();
    let barriers = places(&events, |e| *e == Event::Barrier);
    // Four points of two inputs; behind the barrier the four stores.
    assert_eq!(places(&events[..barriers[0]], |e| *e == Event::Element).len(), 8, "{events:?}");
    assert_eq!(places(&events[barriers[0]..], |e| *e == Event::Element).len(), 4, "{events:?}");
    assert_eq!(barriers.len(), 1);
}

#[test]
fn narrow_outputs_are_whole_words_without_atomics() {
    for to in [DType::Bool, DType::I8, DType::U8, DType::I16, DType::U16, DType::F16, DType::BF16] {
        let kernel = mapped(DType::F32, to, 2);
        let atomics = |stage: usize| {
            let events = Module::of(&kernel, &STRICT, stage).events();
            (places(&events, |e| *e == Event::Atomic).len(), places(&events, |e| matches!(e, Event::Store)))
        };
        let (packed, stores) = atomics(0);
        assert_eq!((packed, stores.is_empty()), (0, false), "{to}");
        // Where words belong to several packs.
        assert_eq!(atomics(1).0, 2, "{to}");
    }
    let whole = emit(&mapped(DType::F32, DType::F32, 2), &STRICT).unwrap();
    assert_eq!(
        whole.stages.iter().map(|stage| stage.entry).collect::<Vec<_>>(),
        ["elementwise", "transpose"]
    );
}

/// Negate, add, subtract, multiply, divide, remainder, and extended instructions (fma, square roots).
const FLOAT_ARITHMETIC: [u32; 8] = [12, 127, 129, 131, 133, 136, 140, 141];

#[test]
fn a_quotient_or_a_root_takes_six_float_instructions() {
    let near = WgslTarget { near_inverses: true, exact_division: false, exact_sqrt: false, ..STRICT };
    for is_root in [false, true] {
        let mut k = Builder::new("quotient", 1);
        let (inputs, output) = ([k.input(DType::F32), k.input(DType::F32)], k.output(DType::F32));
        let [a, b] = inputs.map(|p| k.load(p, &[0]));
        let value = if is_root { k.unary(UnaryOp::Sqrt, a) } else { k.binary(BinaryOp::Div, a, b) };
        let kernel = k.elementwise(&[(output, value)]).unwrap();
        let count = |target| {
            let module = Module::of(&kernel, target, 0);
            let float = module.instructions().find(|i| i[0] & 0xffff == 22).expect("f32")[1];
            // Extended instructions on integers are not counted.
            let is_float = |i: &&[u32]| FLOAT_ARITHMETIC.contains(&(i[0] & 0xffff)) && i[1] == float;
            module.instructions().filter(is_float).count()
        };
        assert_eq!(count(&STRICT), 1);
        assert_eq!(count(&near), 6, "root: {is_root}");
    }
}

#[test]
fn the_reduction_of_large_angles_runs_only_where_a_point_needs_it() {
    let mut k = Builder::new("sine", 1);
    let (input, output) = (k.input(DType::F32), k.output(DType::F32));
    let angle = k.load(input, &[0]);
    let sine = k.math1(Math1::Sin, angle);
    let kernel = k.elementwise(&[(output, sine)]).unwrap();
    let source = emit(&kernel, &STRICT).unwrap().stages.remove(0).source;
    let is_condition = |line: &&str| line.trim_start().starts_with("if (v") || line.contains("if (!v");
    let mut lines = source.lines().skip_while(|line| !is_condition(line));
    assert!(lines.next().is_some(), "{source}");
    let inside = lines.take_while(|line| line.trim() != "}").count();
    assert!(inside >= 150, "{inside} instructions\n{source}");
}

#[test]
fn a_fold_loads_its_chunk_at_once_and_waits_twice() {
    let subgroups = WgslTarget { subgroups: true, ..STRICT };
    for (d, bytes) in [(DType::F64, 128), (DType::F32, 64), (DType::F16, 32), (DType::U8, 16)] {
        let mut k = Builder::new("sum", 2);
        let (input, output) = (k.input(d), k.output(d));
        let value = k.load(input, &[0, 0]);
        let kernel = k.reduce(&[false, true], &[Fold::Value { op: FoldOp::Sum, value, output }]).unwrap();
        for target in [STRICT, subgroups] {
            let events = Module::of(&kernel, &target, 0).events();
            let loads = places(&events, |e| matches!(e, Event::Load(_)));
            let uses = places(&events, |e| matches!(e, Event::Use | Event::Barrier));
            assert!(loads.last() < uses.first(), "{d}: {events:?}");
            let asked: u32 = events.iter().map(|e| if let Event::Load(n) = e { *n } else { 0 }).sum();
            assert!(asked >= bytes, "{d}: {asked} bytes under way");
            // One in the loop over levels of 16, and one behind it: none in the loop over steps.
            assert_eq!(places(&events, |e| *e == Event::Barrier).len(), 2, "{d}");
            // Lanes shuffle words, in all three stages.
            let is_shuffled = target.subgroups && d != DType::F64;
            for stage in emit(&kernel, &target).unwrap().stages {
                let shuffles = stage.source.matches("subgroupShuffleXor(").count();
                assert_eq!(shuffles, usize::from(is_shuffled), "{d} {}", stage.entry);
            }
        }
    }
}
