//! Programs that keep what they prepare give the same bits and count the same messages as programs that
//! forget it before every evaluation. Their forms come from few operations, constants, windows and layouts,
//! so that many of them differ in one thing only.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use partita_kernels::FoldOp;

use crate::array::lower::graph::{Graph, GraphExpr, GraphValue, NodeId};
use crate::array::memory::storage::HaloWidths;
use crate::array::record::expr::{
    DistKey, Expr, Map, NodeLayout, Pointwise, Reduction, StridedWindow, UpdatedCells, Which, WholeOp,
};
use crate::array::run::cache::{CachedWay, MAX_KEPT, cache_of};
use crate::array::{Operand, assign_all, eval_all};
use crate::index::Index;
use crate::prelude::*;

/// Numbers without pattern (Knuth's 64-bit congruential generator, its upper bits).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// One of few divisions of 7 x 4 cells over three parts.
fn division(kind: u64) -> Distribution {
    let cells = Distribution::builder(&[7, 4]);
    let divided = match kind {
        0 => cells.parts(3).halo(&[1, 1], &[1, 1]).build(),
        1 => cells.grid(&[3, 1]).bounds(0, &[0, 1, 5, 7]).build(),
        2 => cells.grid(&[1, 3]).periodic(&[true, true]).halo(&[1, 1], &[1, 1]).build(),
        _ => cells.grid(&[3, 1]).cyclic(0, 1).build(),
    };
    divided.unwrap()
}

/// The cells inside the rim, 5 x 2, moved by -1, 0 or 1 rows and 0 or 1 columns; along whole columns if
/// rows are not in blocks.
fn window(array: &Array, numbers: &mut Numbers) -> Array {
    let (row, column) = (numbers.below(3) as i64, 1 + numbers.below(2) as i64);
    let column = if array.distribution().unwrap().map(0).is_block() { column } else { 1 };
    array.slice(&s![row..row + 5, column..column + 2])
}

fn expression(arrays: &[Array], numbers: &mut Numbers, depth: u32) -> Array {
    let array = &arrays[numbers.below(arrays.len() as u64) as usize];
    if depth == 0 {
        return match numbers.below(6) {
            0 => array.slice(&s![1..2, 1..3]) + window(array, numbers),
            1 => {
                let dist = array.distribution().unwrap();
                let dim = numbers.below(2) as usize;
                window(&Array::coordinate(array.team(), &dist, dim, DType::F32).unwrap(), numbers)
            }
            2 => (0.0f64).operand(array).slice(&s![1..6, 1..3]) + [0.5, 2.0][numbers.below(2) as usize],
            _ => window(array, numbers),
        };
    }
    let one = expression(arrays, numbers, depth - 1);
    match numbers.below(9) {
        0 => -one,
        1 => one.abs(),
        2 => one.cast(if numbers.below(2) == 0 { DType::I32 } else { DType::I8 }).cast(DType::F32),
        3 => one * [0.5, 2.0][numbers.below(2) as usize],
        4 => {
            let two = window(array, numbers);
            let (a, b) = if numbers.below(2) == 0 { (&one, &two) } else { (&two, &one) };
            &one - (a - b)
        }
        op => {
            let two = expression(arrays, numbers, depth - 1);
            match op {
                5 => one + two,
                6 => one - two,
                7 => one.less(&two).select(&two, &one),
                _ => one.minimum(&two),
            }
        }
    }
}

/// One of a dozen small forms, which meet again soon, and in pairs differ in one thing only.
fn small(arrays: &[Array], numbers: &mut Numbers) -> Array {
    let window = |n: usize, row: i64| arrays[n].slice(&s![row..row + 5, 1..3]);
    let row = numbers.below(2) as i64;
    let (x, y) = (window(0, row), window(1, row));
    let again = &y;
    let joined = |last: &Array| Array::concatenate(&[&x, &y, last], 0).slice(&s![8..13]);
    match numbers.below(23) {
        22 => {
            let positions = [9, 7, 5, 3, 1, 0, 2, 4, 6, 8 + numbers.below(2) as i64];
            x.gather(&[5, 2], &positions) - y.redistribute(&again_on(&y))
        }
        21 => x.sort(0, false) - &y,
        15 => &x - x.cumulative_sum(0),
        16 => x.cumulative_sum(1) - y.sum(&[0]),
        17 => x.redistribute(&again_on(&x)) * 0.5,
        18 => x.reshape(&[10]).reshape(&[5, 2]) - y.cumulative_sum(0).reshape(&[5, 2]),
        19 => x.fft(&[0]) - &y,
        20 => (&x + &y).cumulative_sum(0).sum(&[1]) - x.cumulative_sum(0).min(&[]),
        9 => &x - y.sum(&[numbers.below(2) as usize]),
        10 => &x - y.max(&[0]),
        11 => &x - y.sum(&[0]),
        12 => x.sum(&[1]) - y.min(&[]),
        13 => (x * 40.0).cast(DType::I32).shift_left(1).cast(DType::F32),
        14 => (x * 40.0).cast(DType::I32).shift_left(2).cast(DType::F32),
        7 => joined(&x),
        8 => joined(&y),
        0 => &x - (&y - &x),
        1 => &x - (&y - again),
        2 => (x * 40.0).cast(DType::I32).cast(DType::F32),
        3 => (x * 40.0).cast(DType::I8).cast(DType::F32),
        4 => &x - &y,
        5 => &x * &y,
        _ => window(0, 0) - window(1, 1) - window(0, row),
    }
}

/// Columns instead of rows, or rows instead of columns.
fn again_on(x: &Array) -> Distribution {
    let parts = x.team().size() as i64;
    let has_rows = x.distribution().unwrap().grid().shape()[0] > 1;
    let grid = if has_rows { [1, parts] } else { [parts, 1] };
    Distribution::builder(&x.shape()).grid(&grid).build().unwrap()
}

/// Runs a program; the bytes and the messages after each of its steps.
fn run(team: &Team, seed: u64, forgets: bool) -> Vec<(Vec<u8>, u64)> {
    let mut numbers = Numbers(seed);
    let dist = division(numbers.below(4));
    let mut array = || {
        let scale = numbers.below(100) as f32 - 50.0;
        Array::from_fn(team, &dist, |at| scale * (at[0] as f32 - 0.3 * at[1] as f32)).unwrap()
    };
    let mut arrays = [array(), array()];
    let begun = team.messages();
    let mut seen = Vec::new();
    for _ in 0..8 {
        if forgets {
            *cache_of(team) = crate::array::run::cache::EvaluationCache::default();
        }
        let depth = [0, 0, 1, 2][numbers.below(4) as usize];
        let value = match numbers.below(2) {
            0 => small(&arrays, &mut numbers),
            _ => expression(&arrays, &mut numbers, depth),
        };
        let at = numbers.below(2) as usize;
        let rows = numbers.below(2) as i64;
        let read = match numbers.below(9) {
            0 => {
                arrays[at].assign(&s![1..6, 1..3], &value).unwrap();
                arrays[at].clone()
            }
            1 => {
                arrays[at].assign(&s![rows..rows + 1, 1..3], &value.slice(&s![1..2])).unwrap();
                arrays[at].clone()
            }
            2 => {
                let large = arrays[0].slice(&s![rows..rows + 6, ..]);
                let [first, second] = &mut arrays;
                assign_all(&mut [(first, &(-&large)), (second, &(&large * 0.5))], &s![..6, ..]).unwrap();
                arrays[1].clone()
            }
            3 => {
                let other = expression(&arrays, &mut numbers, depth);
                eval_all(&[&value, &other]).unwrap();
                value - other
            }
            4 => {
                // The one is an operand of the other, and so visited in any case.
                let value = arrays[0].slice(&s![1..6, 1..3]) * 3.0;
                let negated = -&value;
                eval_all(&[&negated, &value][..1 + numbers.below(2) as usize]).unwrap();
                let is_there = value.node.storage().is_some();
                seen.push((vec![u8::from(is_there)], 0));
                negated
            }
            5 => -arrays[0].slice(&s![..4 + rows, 1..3]),
            8 => arrays[0].gather(&[2], &[0, 1 + rows]),
            6 => {
                // The halo is filled, current, and then not.
                let fall = |u: &Array| u.slice(&s![1..]) - u.slice(&s![..-1]);
                fall(&arrays[0]).eval().unwrap();
                fall(&arrays[0]).eval().unwrap();
                let raised = arrays[0].slice(&s![3..4]) + 1.0;
                arrays[0].assign(&s![3..4], &raised).unwrap();
                fall(&arrays[0])
            }
            _ => value,
        };
        seen.push((read.to_bytes().unwrap(), team.messages() - begun));
    }
    seen
}

/// A component of a key.
type Component = (&'static str, fn(&mut Graph));

/// All but those of targets: what is missing of several is computed by itself.
const COMPONENTS: [Component; 13] = [
    ("constants", |key| {
        each_expr(key, |expr, _| {
            if let Expr::Constant(scalar) = expr {
                scalar.bits = 0;
            }
        });
    }),
    ("dimensions of coordinates", |key| {
        each_expr(key, |expr, _| {
            if let Expr::Coord(dim) = expr {
                *dim = 0;
            }
        });
    }),
    ("operations", |key| {
        each_expr(key, |expr, _| {
            if let Expr::Apply(op @ Pointwise::Binary(_), _) = expr {
                *op = Pointwise::Cast;
            }
        });
    }),
    ("operands", |key| {
        each_expr(key, |expr, _| {
            if let Expr::Apply(_, operands) = expr {
                *operands = operands.map(|_| 0);
            }
        });
    }),
    ("views", |key| {
        each_expr(key, |expr, layout| {
            if let Expr::View { map, .. } = expr {
                *map = Map::identity(0).into();
            }
            if !matches!(expr, Expr::Reduce { .. }) {
                *layout = NodeLayout::Free;
            }
        });
    }),
    ("boxes", |key| {
        each_expr(key, |expr, _| {
            if let Expr::Joined(boxes) = expr {
                boxes.clear();
            }
        });
    }),
    ("positions", |key| {
        each_expr(key, |expr, _| {
            if let Expr::Whole(WholeOp::Listed(which), _) = expr {
                *which = Which::All;
            }
        });
    }),
    ("reductions", |key| {
        each_expr(key, |expr, _| {
            if let Expr::Reduce { reduction, .. } = expr {
                *reduction = Reduction::Fold(FoldOp::Max);
            }
        });
    }),
    ("types", |key| key.nodes.iter_mut().for_each(|node| node.dtype = DType::F32)),
    ("freshness", |key| {
        key.nodes.iter_mut().for_each(|node| {
            if let GraphValue::Memory(state) = &mut node.value {
                state.valid = HaloWidths::zero(0);
            }
        });
    }),
    ("distributions", |key| {
        for node in &mut key.nodes {
            match &mut node.value {
                GraphValue::Memory(state) => (state.dist, state.declared) = (nowhere(), nowhere()),
                GraphValue::Lazy(_, layout @ NodeLayout::Known(_)) => *layout = NodeLayout::Known(nowhere()),
                GraphValue::Lazy(..) => {}
            }
        }
    }),
    ("shapes and widths", |key| {
        for node in &mut key.nodes {
            node.shape = Index::zeros(0);
            if let GraphValue::Memory(state) = &mut node.value {
                state.valid = HaloWidths { corners: state.valid.corners, ..HaloWidths::zero(0) };
            }
        }
        each_expr(key, |expr, _| {
            if let Expr::Joined(boxes) = expr {
                boxes.iter_mut().for_each(|portion| portion.start = Index::zeros(0));
            }
        });
        each_window(key, |window| window.region = Region::from_fn(0, |_| (0, 0)));
    }),
    ("maps of views", |key| {
        each_expr(key, |expr, layout| {
            if let Expr::View { map, .. } = expr {
                *map = Map::identity(0).into();
            }
            if let NodeLayout::ViewOf(_, map) = layout {
                *map = Map::identity(0).into();
            }
        });
    }),
];

fn each_expr(key: &mut Graph, mut change: impl FnMut(&mut GraphExpr, &mut NodeLayout<NodeId>)) {
    for node in &mut key.nodes {
        if let GraphValue::Lazy(expr, layout) = &mut node.value {
            change(expr, layout);
        }
    }
}

fn each_window(key: &mut Graph, mut change: impl FnMut(&mut StridedWindow)) {
    each_expr(key, |expr, _| {
        if let Expr::Whole(WholeOp::Update(UpdatedCells::Window(window)), _) = expr {
            change(window);
        }
    });
}

fn nowhere() -> DistKey {
    DistKey(Distribution::builder(&[1]).build().unwrap().into())
}

thread_local! {
    static LEFT_OUT: Cell<Option<fn(&mut Graph)>> = const { Cell::new(None) };
}

/// The graph without the parts that this thread leaves out of keys at the moment.
pub(super) fn left_out(mut graph: Graph) -> Graph {
    if let Some(remove) = LEFT_OUT.get() {
        remove(&mut graph);
    }
    graph
}

const PROGRAMS: u64 = 600;
/// Programs after which the first comes again.
const DIFFERENT: u64 = 450;

/// The first program in which it makes a difference whether evaluations are kept.
fn first_difference(teams: &[Team; 2], left_out: Option<fn(&mut Graph)>) -> Option<u64> {
    (0..PROGRAMS).find(|&seed| {
        LEFT_OUT.set(left_out);
        let keeps = catch_unwind(AssertUnwindSafe(|| run(&teams[0], seed % DIFFERENT, false)));
        LEFT_OUT.set(None);
        keeps.ok() != Some(run(&teams[1], seed % DIFFERENT, true))
    })
}

fn two_teams() -> [Team; 2] {
    [(); 2].map(|()| Team::on(&[Device::host()], 3).unwrap())
}

#[test]
fn what_is_prepared_computes_what_would_be_computed() {
    let teams = two_teams();
    assert_eq!(first_difference(&teams, None), None);
    let forms = cache_of(&teams[0]).evaluations.len();
    let found = cache_of(&teams[0]).found;
    println!("{forms} forms, found {found} times in {} steps", PROGRAMS * 8);
    println!("ran: prepared-found {found}");
    assert!(forms > 100 && found > 300, "{forms} {found}");
}

#[test]
fn every_component_of_a_key_matters() {
    let unseen: Vec<&str> = COMPONENTS
        .iter()
        .filter(|(_, remove)| first_difference(&two_teams(), Some(*remove)).is_none())
        .map(|(name, _)| *name)
        .collect();
    assert!(unseen.is_empty(), "left out without being noticed: {unseen:?}");
    println!("ran: prepared-components {}", COMPONENTS.len());
}

#[test]
fn what_is_kept_is_bounded_and_forgotten_with_the_team() {
    let team = Team::on(&[Device::host()], 2).unwrap();
    let dist = Distribution::builder(&[4]).parts(2).build().unwrap();
    let x = Array::from_fn(&team, &dist, |at| at[0] as i32).unwrap();
    let count = || std::sync::Arc::strong_count(x.node.storage().as_ref().unwrap());
    let before = count();
    let mut weights = Vec::new();
    for n in 0..2000 {
        // Forms of 21 nodes, each with a constant of its own.
        let y = (0..10).fold(x.clone(), |y, _| y.shift_left(n));
        y.eval().unwrap();
        weights.push(cache_of(&team).weight);
    }
    assert!(weights.iter().all(|&weight| weight <= MAX_KEPT), "{weights:?}");
    assert!(weights.windows(2).any(|pair| pair[1] < pair[0]), "the bound was not reached");
    let weight: usize = cache_of(&team).evaluations.values().map(|cached| cached.weight()).sum();
    assert_eq!(weight, cache_of(&team).weight);
    assert_eq!(count(), before, "what is kept holds on to no memory");
    let weak = std::sync::Arc::downgrade(&cache_of(&team).evaluations.values().next().unwrap().clone());
    drop((x, team));
    assert!(weak.upgrade().is_none());
}

#[test]
fn numbers_that_change_need_one_form_and_one_kernel() {
    let team = Team::on(&[Device::host()], 3).unwrap();
    let dist = division(0);
    let u = Array::from_fn(&team, &dist, |at| at[0] as f64 - 0.3 * at[1] as f64).unwrap();
    let v = Array::from_fn(&team, &division(3), |at| (at[0] + at[1]) as f64).unwrap();
    let one = Distribution::default_partition(3, &[1]).unwrap();
    let kernels = || team.device(0).programs_kept();
    let mut before = None;
    let mut random = Numbers(3);
    for step in 0..200 {
        // Numbers that a known value would make shorter code for, and others.
        let special = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 4.0, f64::INFINITY, f64::NAN, f64::MIN_POSITIVE];
        let dt = match special.get(step % 20) {
            Some(&dt) => dt,
            None => random.below(1000) as f64 / 7.0,
        };
        let kinds = [&u, &v].map(|x| {
            let inner = x.slice(&s![1..-1]) * dt + dt - x.slice(&s![2..]) / dt;
            let spread = (x * dt).sum(&[0]);
            let powers = x.abs().pow(dt + 5.25).maximum(dt);
            [inner, spread, powers].map(|value| value.to_vec::<f64>().unwrap())
        });
        let bits = |all: &[[Vec<f64>; 3]; 2]| -> Vec<u64> {
            all.iter().flatten().flatten().map(|x| if x.is_nan() { 0 } else { x.to_bits() }).collect()
        };
        *cache_of(&team) = crate::array::run::cache::EvaluationCache::default();
        let again = [&u, &v].map(|x| {
            let number = Array::full(&team, &one, dt.into()).unwrap();
            number.eval().unwrap();
            let inner = x.slice(&s![1..-1]) * &number + &number - x.slice(&s![2..]) / &number;
            let spread = (x * &number).sum(&[0]);
            let powers = x.abs().pow(&number + 5.25).maximum(&number);
            [inner, spread, powers].map(|value| value.to_vec::<f64>().unwrap())
        });
        assert_eq!(bits(&kinds), bits(&again), "with {dt}, as an argument and from memory");
        let now = kernels();
        assert!(*before.get_or_insert(now) == now, "{dt} took another kernel");
    }
}

#[test]
fn a_chain_that_nobody_reads_is_not_computed_from_its_beginning_again() {
    for parts in [1, 3] {
        let team = Team::on(&[Device::host()], parts).unwrap();
        let dist = Distribution::default_partition(parts, &[10]).unwrap();
        let start = || Array::from_fn(&team, &dist, |at| 0.1 + 0.07 * at[0] as f64).unwrap();
        let run = |asks: bool| {
            let (mut x, mut v) = (start(), &start() * 0.5);
            for _ in 0..200 {
                let moved = &x + &v * 0.01;
                x.assign(&s![..], &moved).unwrap();
                v = x.greater(0.6).select(&-&v, &(&v * 0.999));
                if asks {
                    v.eval().unwrap();
                }
            }
            let bits = [&x, &v].map(|array| array.to_bytes().unwrap());
            (bits, cache_of(&team).evaluations.len())
        };
        let ((asked, _), (never, kept)) = (run(true), run(false));
        assert!(asked == never);
        // Of 200 evaluations few are different.
        assert!(kept < 40, "{kept} on {parts} parts");
        let chain = || (0..40).fold(start(), |v, _| v * 0.999 + 0.001);
        let (asked, again) = (chain(), chain());
        (&again + 1.0).eval().unwrap();
        let [once, twice] = [&asked, &again].map(|v| v * 2.0);
        // Explained as it is computed: the chain's end is stored, too.
        let texts = [&once, &twice].map(|array| array.explain().unwrap().to_string());
        assert!(texts[0] != texts[1], "{}", texts[1]);
        eval_all(&[&once]).unwrap();
        eval_all(&[&twice]).unwrap();
        assert_eq!([asked.is_computed(), again.is_computed()], [false, true]);
        assert_eq!(once.to_bytes().unwrap(), twice.to_bytes().unwrap());
    }
}

#[test]
fn commands_of_lists_of_steps_are_kept_and_repeated() {
    type Program = fn(&Array) -> Array;
    let programs: [(&str, Program); 11] = [
        ("elements by number", |u| u.gather(&[5], &[0, 27, 3, 14, 0]) * 2.0),
        ("elements in another shape", |u| u.transpose(&[1, 0]).reshape(&[2, 14]) * 2.0),
        ("a sum of nothing", |u| (u.slice(&s![3..3]) * 2.0 + 1.0).sum(&[]) + u.sum(&[])),
        ("minima of nothing", |u| u.slice(&s![.., 1..1]).sum(&[1]) + u.max(&[1])),
        ("a scan", |u| u.cumulative_sum(0)),
        ("a sum over an axis", |u| u.sum(&[0])),
        ("a sum", |u| u.sum(&[]) * 2.0),
        ("columns", |u| (u + 1.0).redistribute(&again_on(u)) - 1.0),
        ("a transform", |u| u.reshape(&[14, 2]).fft(&[0])),
        ("a scan in another shape", |u| u.cumulative_sum(1).reshape(&[28]) * 2.0),
        ("two scans", |u| (u + u.cumulative_sum(0)).cumulative_sum(1)),
    ];
    let teams = [1, 3].map(|parts| Team::on(&[Device::host()], parts).unwrap());
    for (team, (name, program)) in teams.iter().flat_map(|team| programs.iter().map(move |p| (team, p))) {
        let dist = Distribution::builder(&[7, 4]).parts(team.size()).build().unwrap();
        let array = |by: f32| Array::from_fn(team, &dist, |at| by * (at[0] * 4 + at[1]) as f32).unwrap();
        *cache_of(team) = crate::array::run::cache::EvaluationCache::default();
        let mut counted = Vec::new();
        let mut seen = Vec::new();
        for by in [1.0, 2.0, 4.0, 8.0] {
            let (u, before) = (array(by), team.messages());
            let found = program(&u);
            found.eval().unwrap();
            counted.push((team.messages() - before, team.device(0).memory().in_use_bytes));
            seen.push(found.cast(DType::F64).to_vec::<f64>().unwrap());
        }
        let kept = cache_of(team).evaluations.values().all(|one| matches!(one.way, CachedWay::Commands(_)));
        assert!(kept, "{name} on {} parts: commands are not kept", team.size());
        assert!(cache_of(team).found >= 2, "{name}");
        // Sums of powers of two times the same numbers are exact.
        for (by, later) in [(2.0, &seen[1]), (4.0, &seen[2]), (8.0, &seen[3])] {
            assert!(seen[0].iter().zip(later).all(|(a, b)| a * by == *b), "{name} on {}", team.size());
        }
        assert_eq!(counted[0].0, counted[1].0, "{name}: messages");
        assert_eq!(counted[2], counted[3], "{name}: messages and memory");
    }
}
