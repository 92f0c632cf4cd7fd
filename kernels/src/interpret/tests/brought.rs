//! Operands that do not lie in rows, against the plain interpreter: random views of larger memory, bit for
//! bit, elements beside what is written included.

use super::{Case, Level, Program, Random, SMALL, Tuning, values};
use crate::build::Builder;
use crate::dtype::DType;
use crate::ir::{BinaryOp, Launch, Value, View};
use crate::verify::Verified;

/// Strides of a view: the dimensions in any order, each in steps, some backwards, and for inputs some repeated.
fn view(extents: &[usize], output: bool, random: &mut Random) -> Vec<i64> {
    let rank = extents.len();
    let mut order: Vec<usize> = (0..rank).collect();
    for k in (1..rank).rev() {
        order.swap(k, random.below(k + 1));
    }
    let mut strides = vec![0; rank];
    let mut stride = [1, 1, 1, 2, 2, 3, 4, 5][random.below(8)];
    for dim in order {
        let sign = if random.below(4) == 0 { -1 } else { 1 };
        strides[dim] = sign * stride;
        if !output && random.below(8) == 0 {
            strides[dim] = 0;
        }
        // Room for what is read beside the region.
        stride *= extents[dim] as i64 + 2 + random.below(3) as i64;
    }
    strides
}

/// The memory of the views: what each touches, with some elements around.
fn placed(kernel: &Verified, launch: &mut Launch, random: &mut Random) -> Vec<Vec<u64>> {
    let spans = kernel.touched(launch);
    let params = kernel.kernel().params.clone();
    let mut memory = Vec::new();
    for ((param, span), view) in params.iter().zip(spans).zip(&mut launch.views) {
        let (first, last) = span.unwrap_or((0, 0));
        let (before, behind) = (random.below(20) as i64, random.below(20) as i64);
        view.offset = before - first;
        memory.push(values(param.dtype, (last - first + 1 + before + behind) as usize, random));
    }
    memory
}

/// A small kernel over operands of one or two types, read at the point and beside it.
fn case(seed: u64) -> Case {
    let mut random = Random(seed);
    let extents: Vec<usize> = match random.below(4) {
        0 => vec![1 + random.below(700)],
        1 => vec![1 + random.below(60), 1 + random.below(90)],
        2 => vec![17 + random.below(40), 1 + random.below(5), 17 + random.below(30)],
        _ => vec![1 + random.below(4), 1 + random.below(9), 1 + random.below(5), 1 + random.below(70)],
    };
    let rank = extents.len();
    let dtype = DType::ALL[random.below(DType::ALL.len())];
    let mut k = Builder::new("brought", rank);
    let mut pool: Vec<Value> = Vec::new();
    for _ in 0..1 + random.below(3) {
        let input = k.input(dtype);
        for _ in 0..1 + random.below(3) {
            let beside = random.below(2) == 0;
            let by = |random: &mut Random| if beside { random.below(3) as i32 - 1 } else { 0 };
            pool.push(k.load(input, &(0..rank).map(|_| by(&mut random)).collect::<Vec<i32>>()));
        }
    }
    let both = (random.below(3) == 0).then(|| k.inout(dtype));
    pool.extend(both.map(|both| k.load(both, &vec![0; rank])));
    if random.below(4) == 0 {
        let coordinate = k.coord(random.below(rank), DType::I32);
        let coordinate = k.cast(coordinate, dtype);
        pool.push(coordinate);
    }
    // Others only move.
    if random.below(3) > 0 {
        for _ in 0..1 + random.below(4) {
            let (a, b) = (pool[random.below(pool.len())], pool[random.below(pool.len())]);
            let op = [BinaryOp::Max, BinaryOp::Min][random.below(2)];
            let sum = if dtype == DType::Bool { BinaryOp::Xor } else { BinaryOp::Add };
            pool.push(k.binary(if random.below(2) == 0 { op } else { sum }, a, b));
        }
    }
    let mut stores: Vec<(u32, Value)> =
        both.map(|both| (both, pool[random.below(pool.len())])).into_iter().collect();
    for _ in 0..1 + random.below(2) {
        stores.push((k.output(dtype), pool[pool.len() - 1 - random.below(2.min(pool.len()))]));
    }
    let kernel = k.elementwise(&stores).expect("a valid kernel");
    let views = kernel.kernel().params.iter().map(|param| {
        let output = param.access != crate::ir::Access::In;
        View { offset: 0, strides: view(&extents, output, &mut random) }
    });
    let mut launch = super::launch(&extents, views.collect());
    launch.origin = (0..rank).map(|_| random.below(50) as i64 - 20).collect();
    let memory = placed(&kernel, &mut launch, &mut random);
    Case { kernel, launch, memory }
}

/// Every element that a launch reads or writes, and every one beside them.
#[test]
fn random_views() {
    let tunings = [
        SMALL,
        Tuning { brought_points: 1, inline_points: 0, ..Tuning::DEFAULT },
        Tuning { brought_points: 1, inline_points: 0, stream_above_bytes: 0, ..Tuning::DEFAULT },
    ];
    let mut ran = 0;
    for seed in 0..600 {
        let case = case(seed);
        let expected = case.expected();
        for level in Level::available() {
            for (n, tuning) in tunings.into_iter().enumerate() {
                let program = Program::compile_for(&case.kernel, level, tuning);
                let found = case.outcome(
                    &program,
                    2,
                    seed as usize % 2 * case.kernel.kernel().params[0].dtype.size_bytes(),
                );
                case.compare(&expected, &found, &format!("seed {seed} {level:?} tuning {n}"));
                ran += 1;
            }
        }
    }
    println!("ran: brought-views {ran}");
}
