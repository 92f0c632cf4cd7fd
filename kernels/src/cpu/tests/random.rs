//! Random kernels: many operations, shared values, mixed types, several stores.

use super::operations::{binary_ops, unary_ops};
use super::{Case, Random, dense, launch, values};
use crate::build::Builder;
use crate::dtype::{DType, Scalar};
use crate::ir::{CompareOp, Math1, Value};

/// A random value of `dtype` made from those there are.
fn grow(k: &mut Builder, pool: &mut Vec<Value>, random: &mut Random, types: &[DType]) {
    let any = pool[random.below(pool.len())];
    let dtype = k.dtype(any);
    let same: Vec<Value> = pool.iter().copied().filter(|&v| k.dtype(v) == dtype).collect();
    let pick = |random: &mut Random| same[random.below(same.len())];
    let new = match random.below(10) {
        0 => {
            let ops = unary_ops(dtype);
            k.unary(ops[random.below(ops.len())], any)
        }
        1..=4 => {
            let ops = binary_ops(dtype);
            k.binary(ops[random.below(ops.len())], any, pick(random))
        }
        5 => k.compare(CompareOp::Le, any, pick(random)),
        6 => {
            let masks: Vec<Value> = pool.iter().copied().filter(|&v| k.dtype(v) == DType::Bool).collect();
            match masks.get(random.below(masks.len())) {
                Some(&mask) => k.select(mask, any, pick(random)),
                None => return,
            }
        }
        7 => k.cast(any, types[random.below(types.len())]),
        8 if matches!(dtype, DType::F32 | DType::F64) => k.fma(any, pick(random), pick(random)),
        8 if dtype.is_float() => k.math1(Math1::Tanh, any),
        _ => k.constant(Scalar { dtype, bits: super::hard(dtype)[random.below(super::hard(dtype).len())] }),
    };
    pool.push(new);
}

fn kernel(seed: u64) -> Case {
    let mut random = Random(seed);
    let all = DType::ALL;
    let types: Vec<DType> = (0..1 + random.below(3)).map(|_| all[random.below(13)]).collect();
    let shape = [vec![300], vec![5, 90], vec![20, 7], vec![3, 4, 33]][random.below(4)].clone();
    let here = vec![0; shape.len()];
    let mut k = Builder::new("random", shape.len());
    let (mut pool, mut arguments) = (vec![], vec![]);
    for &dtype in &types {
        let input = k.input(dtype);
        pool.push(k.load(input, &here));
        pool.push(k.argument(dtype));
        arguments.push(Scalar { dtype, bits: values(dtype, 1, &mut random)[0] });
    }
    let updated = k.inout(types[0]);
    pool.push(k.load(updated, &here));
    for _ in 0..3 + random.below(30) {
        grow(&mut k, &mut pool, &mut random, &types);
    }
    let last = pool.iter().rev().copied().find(|&v| k.dtype(v) == types[0]);
    let mut stores = vec![(updated, last.expect("the pool holds loads of each type"))];
    for &value in pool.iter().rev().take(3) {
        stores.push((k.output(k.dtype(value)), value));
    }
    let kernel = k.elementwise(&stores).expect("a valid kernel");
    let count = shape.iter().product();
    let params = kernel.kernel().params.clone();
    let memory = params.iter().map(|p| values(p.dtype, count, &mut random)).collect();
    let mut launch = launch(&shape, params.iter().map(|_| dense(&shape)).collect());
    launch.arguments = arguments;
    Case { kernel, launch, memory }
}

#[test]
fn random_kernels() {
    for seed in 0..600 {
        kernel(seed).check();
    }
}
