//! Many boxes in one launch: what each launch on its own would have done.

use partita_kernels::{BinaryOp, Builder, DType, Launch, Verified, View};

use crate::agreement::{Arrays, difference, small_numbers};
use crate::machine::{Compiled, Setting, on_host};

/// Copies a box, or adds it to what is there.
fn mover(dtype: DType, rank: usize, add: bool) -> Verified {
    let here = vec![0; rank];
    let mut k = Builder::new(if add { "add_box" } else { "copy_box" }, rank);
    let source = k.input(dtype);
    let value = k.load(source, &here);
    if !add {
        let target = k.output(dtype);
        return k.elementwise(&[(target, value)]).unwrap();
    }
    let target = k.inout(dtype);
    let old = k.load(target, &here);
    let sum = k.binary(BinaryOp::Add, old, value);
    k.elementwise(&[(target, sum)]).unwrap()
}

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// A box in the middle of a larger array, with its dimensions in some order; the array's length.
fn within(extents: &[usize], numbers: &mut Numbers) -> (View, usize) {
    let mut order: Vec<usize> = (0..extents.len()).collect();
    order.rotate_left(numbers.below(extents.len()));
    let (mut strides, mut step, mut offset) = (vec![0; extents.len()], 1, 0);
    for d in order {
        let before = numbers.below(3);
        strides[d] = step as i64;
        offset += (before * step) as i64;
        step *= extents[d] + before + numbers.below(3);
    }
    (View { offset, strides }, step)
}

fn boxes(dtype: DType, rank: usize, count: usize, numbers: &mut Numbers) -> Vec<(Launch, Arrays)> {
    let one = |_| {
        // Some are larger than a block, and some are empty.
        let extents: Vec<usize> = (0..rank).map(|_| [1, 2, 5, 9, 17][numbers.below(5)]).collect();
        let extents = if numbers.below(20) == 0 { vec![0; rank] } else { extents };
        let ((from, from_len), (to, to_len)) = (within(&extents, numbers), within(&extents, numbers));
        let arrays = vec![
            small_numbers(dtype, from_len, numbers.below(1000) as u64),
            small_numbers(dtype, to_len, numbers.below(1000) as u64),
        ];
        (Launch { origin: vec![0; rank], extents, views: vec![from, to], arguments: Vec::new() }, arrays)
    };
    (0..count).map(one).collect()
}

#[test]
fn boxes_of_all_shapes_share_a_launch() {
    let mut numbers = Numbers(5);
    let mut ran = 0;
    let types = [DType::U8, DType::U32, DType::F16, DType::F64];
    for dtype in types {
        for (rank, add) in [(1, false), (3, false), (3, true), (5, false)] {
            let kernel = mover(dtype, rank, add);
            let compiled = Compiled::new(&kernel, Setting::PLAIN);
            // A launch's parameters have room for so many.
            let most = if rank == 5 { 32 } else { 64 };
            for count in [1, 2, 7, most, most + 1] {
                let boxes = boxes(dtype, rank, count, &mut numbers);
                let (given, grids) = compiled.run_batch(&kernel, &boxes, Setting::PLAIN).unwrap();
                let full = boxes.iter().filter(|(launch, _)| !launch.extents.contains(&0)).count();
                assert_eq!(grids.len(), full.div_ceil(most), "{dtype} of rank {rank}: {count}");
                for ((launch, arrays), given) in boxes.iter().zip(&given) {
                    let expected = on_host(&kernel, launch, arrays);
                    let wrong = difference(&kernel, &expected, given);
                    assert_eq!(wrong, None, "{launch:?}\n{}", compiled.module.whole_text());
                }
                ran += count;
            }
        }
    }
    println!("ran: ptx-boxes {ran}");
}

#[test]
fn boxes_are_offered_to_copies_and_sums_alone() {
    let offered = |kernel: &Verified| {
        Compiled::new(kernel, Setting::PLAIN).module.entries.iter().any(|entry| entry.kind == "batched_copy")
    };
    assert!(offered(&mover(DType::F32, 2, false)) && offered(&mover(DType::F32, 2, true)));
    let mut k = Builder::new("shifted", 1);
    let (from, to) = (k.input(DType::F32), k.output(DType::F32));
    let value = k.load(from, &[1]);
    assert!(!offered(&k.elementwise(&[(to, value)]).unwrap()));
    let mut k = Builder::new("filled", 1);
    let to = k.output(DType::F32);
    let value = k.float(DType::F32, 1.0);
    assert!(!offered(&k.elementwise(&[(to, value)]).unwrap()));
}

#[test]
fn a_box_larger_than_a_grid_has_a_launch_of_its_own() {
    let kernel = mover(DType::U8, 1, false);
    let compiled = Compiled::new(&kernel, Setting { shrunk: true, ..Setting::PLAIN });
    let launch = |n: usize| {
        let view = View { offset: 0, strides: vec![1] };
        Launch { origin: vec![0], extents: vec![n], views: vec![view.clone(), view], arguments: Vec::new() }
    };
    let span = partita_kernels::ptx::Span { address: 1 << 20, bytes: 200 };
    let grids =
        |n| compiled.module.plan_batch(&[(&launch(n), &[span, span])]).map(|plan| plan.grids(0).len());
    assert_eq!((grids(100), grids(101)), (Some(1), None));
}
