//! Strided and transposed operands against the definition: random views of larger memory, bit for
//! bit, elements beside what is written included.

use super::{Case, Instructions, Memory, Program, Random, SMALL, Tuning, values};
use crate::build::Builder;
use crate::dtype::DType;
use crate::ir::{BinaryOp, Launch, Value, View};
use crate::verify::Verified;

/// Strides of a view: the dimensions in any order, each in steps, some backwards, and for inputs some
/// repeated.
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
        // Room for elements that are read beside the region.
        stride *= extents[dim] as i64 + 2 + random.below(3) as i64;
    }
    strides
}

/// The memory of the views: what each touches, with fewer than so many elements before and behind.
fn placed(kernel: &Verified, launch: &mut Launch, around: usize, random: &mut Random) -> Vec<Vec<u64>> {
    let spans = kernel.touched(launch);
    let params = kernel.kernel().params.clone();
    let mut memory = Vec::new();
    for ((param, span), view) in params.iter().zip(spans).zip(&mut launch.views) {
        let (first, last) = span.unwrap_or((0, 0));
        let (before, behind) = (random.below(around) as i64, random.below(around) as i64);
        view.offset = before - first;
        memory.push(values(param.dtype, (last - first + 1 + before + behind) as usize, random));
    }
    memory
}

/// A small kernel over operands of one type, read at the point and beside it.
fn case(seed: u64, around: usize) -> Case {
    let mut random = Random(seed);
    let extents: Vec<usize> = match random.below(4) {
        0 => vec![1 + random.below(700)],
        1 => vec![1 + random.below(60), 1 + random.below(90)],
        2 => vec![17 + random.below(40), 1 + random.below(5), 17 + random.below(30)],
        _ => vec![1 + random.below(4), 1 + random.below(9), 1 + random.below(5), 1 + random.below(70)],
    };
    let rank = extents.len();
    let dtype = DType::ALL[random.below(DType::ALL.len())];
    let mut k = Builder::new("packed", rank);
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
    let memory = placed(&kernel, &mut launch, around, &mut random);
    Case { kernel, launch, memory }
}

const TUNINGS: [Tuning; 3] = [
    SMALL,
    Tuning { packed_points: 1, thread_steps: 1, ..Tuning::DEFAULT },
    Tuning { packed_points: 1, thread_steps: 1, stream_above_bytes: 0, ..Tuning::DEFAULT },
];

/// Every element that a launch reads or writes, and every one beside them.
#[test]
fn random_views() {
    let mut ran = 0;
    for seed in 0..600 {
        let case = case(seed, 20);
        let expected = case.expected();
        for level in Instructions::available() {
            for (n, tuning) in TUNINGS.into_iter().enumerate() {
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
    println!("ran: packed-views {ran}");
}

/// Elements between two pages that cannot be touched, right before the second or right behind the first.
#[cfg(unix)]
struct Fenced {
    map: memmap2::MmapMut,
    first: usize,
    bytes: usize,
}

#[cfg(unix)]
impl Fenced {
    fn new(dtype: DType, elements: &[u64], at_the_end: bool) -> Fenced {
        const PAGE: usize = 4096;
        let (size, bytes) = (dtype.size_bytes(), elements.len() * dtype.size_bytes());
        let pages = bytes.div_ceil(PAGE).max(1);
        let mut map = memmap2::MmapMut::map_anon((pages + 2) * PAGE).expect("memory");
        let first = if at_the_end { (pages + 1) * PAGE - bytes } else { PAGE };
        for (element, bits) in map[first..].chunks_exact_mut(size).zip(elements) {
            element.copy_from_slice(&bits.to_le_bytes()[..size]);
        }
        for page in [0, pages + 1] {
            // SAFETY: a page of the map that holds nothing; nobody has a reference into it.
            let done =
                unsafe { libc::mprotect(map.as_mut_ptr().add(page * PAGE).cast(), PAGE, libc::PROT_NONE) };
            assert_eq!(done, 0);
        }
        Fenced { map, first, bytes }
    }

    fn elements(&self, dtype: DType) -> Vec<u64> {
        let bytes = &self.map[self.first..self.first + self.bytes];
        let element = |bytes: &[u8]| {
            let mut bits = [0; 8];
            bits[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(bits)
        };
        bytes.chunks_exact(dtype.size_bytes()).map(element).collect()
    }
}

/// The memory after a launch on two threads; each begins or ends at a page that cannot be touched.
#[cfg(unix)]
fn fenced_outcome(case: &Case, program: &Program, at_the_end: bool) -> Vec<Vec<u64>> {
    let params = &case.kernel.kernel().params;
    let memory = case.memory.iter().zip(params);
    let mut fenced: Vec<Fenced> = memory.map(|(m, p)| Fenced::new(p.dtype, m, at_the_end)).collect();
    let memory: Vec<Memory> = fenced
        .iter_mut()
        .zip(&case.memory)
        .map(|(f, m)| Memory { ptr: f.map.as_mut_ptr().wrapping_add(f.first), len: m.len() })
        .collect();
    // SAFETY: the memories are ours, apart, and as long as they say.
    unsafe { program.run(&case.launch, &memory, 2) }.expect("the launch fits");
    fenced.iter().zip(params).map(|(f, p)| f.elements(p.dtype)).collect()
}

/// Rows of which every second element is read or written, however long; at a point and beside it, computed
/// with others and moved.
#[test]
#[cfg(unix)]
fn every_second_element() {
    let mut random = Random(71);
    let mut ran = 0;
    let lengths = [2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 100, 300];
    let dtypes = [DType::F32, DType::F64, DType::I32, DType::U64];
    for (n, dtype) in lengths.into_iter().flat_map(|n| dtypes.map(|dtype| (n, dtype))) {
        for extents in [vec![n], vec![3, n]] {
            for steps in [[1, 2, 2], [2, 1, 2], [2, 2, 1], [2, 2, 2]] {
                for moves in [false, true] {
                    let here = vec![0; extents.len()];
                    let mut beside = here.clone();
                    beside[extents.len() - 1] = 1;
                    let mut k = Builder::new("seconds", extents.len());
                    let (a, b, output) = (k.input(dtype), k.inout(dtype), k.output(dtype));
                    let [x, y, z] = [k.load(a, &here), k.load(a, &beside), k.load(b, &here)];
                    let stores = match moves {
                        true => [(b, y), (output, z)],
                        false => {
                            let sum = k.binary(BinaryOp::Add, x, y);
                            [(b, k.binary(BinaryOp::Max, sum, z)), (output, k.binary(BinaryOp::Add, sum, z))]
                        }
                    };
                    let kernel = k.elementwise(&stores).expect("a valid kernel");
                    let views = steps.map(|step| {
                        let row = step * (n as i64 + 1) + random.below(3) as i64;
                        let strides = if extents.len() == 1 { vec![step] } else { vec![row, step] };
                        View { offset: 0, strides }
                    });
                    let mut launch = super::launch(&extents, views.to_vec());
                    let memory = placed(&kernel, &mut launch, 1, &mut random);
                    let case = Case { kernel, launch, memory };
                    let expected = case.expected();
                    for (level, tuning) in
                        Instructions::available().into_iter().flat_map(|level| TUNINGS.map(|t| (level, t)))
                    {
                        let program = Program::compile_for(&case.kernel, level, tuning);
                        let found = fenced_outcome(&case, &program, ran % 2 == 0);
                        case.compare(
                            &expected,
                            &found,
                            &format!("{n} {dtype} in steps of {steps:?}, {level:?}"),
                        );
                        ran += 1;
                    }
                }
            }
        }
    }
    println!("ran: packed-seconds {ran}");
}

/// Nothing is read before the first element of an operand, nor behind its last.
#[test]
#[cfg(unix)]
fn views_of_memory_between_protected_pages() {
    let mut ran = 0;
    for seed in 0..200 {
        let case = case(10_000 + seed, 1);
        let expected = case.expected();
        for level in Instructions::available() {
            for (n, tuning) in TUNINGS.into_iter().enumerate() {
                let program = Program::compile_for(&case.kernel, level, tuning);
                let found = fenced_outcome(&case, &program, seed % 2 == 0);
                case.compare(&expected, &found, &format!("seed {seed} {level:?} tuning {n}"));
                ran += 1;
            }
        }
    }
    println!("ran: packed-fenced {ran}");
}

/// While a launch writes every so many-th element, somebody else writes the ones between: none of their
/// stores is lost.
#[test]
fn what_lies_between_belongs_to_others() {
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    let mut ran = 0;
    for (dtype, step) in
        [(DType::U8, 2), (DType::U16, 2), (DType::F32, 2), (DType::F32, 3), (DType::F64, 2), (DType::F64, 4)]
    {
        let n = 256;
        let mut k = Builder::new("spread", 1);
        let (input, output) = (k.input(dtype), k.output(dtype));
        let value = k.load(input, &[0]);
        let twice = k.binary(BinaryOp::Add, value, value);
        let kernel = k.elementwise(&[(output, twice)]).expect("a valid kernel");
        let view = |step: usize| View { offset: 0, strides: vec![step as i64] };
        let launch = super::launch(&[n], vec![view(1), view(step)]);
        let size = dtype.size_bytes();
        for level in Instructions::available() {
            for tuning in &TUNINGS[1..2] {
                let program = Program::compile_for(&kernel, level, *tuning);
                let (mut from, mut to) = (vec![0u8; n * size], vec![0u8; n * size * step]);
                let memory = [
                    Memory { ptr: from.as_mut_ptr(), len: n },
                    Memory { ptr: to.as_mut_ptr(), len: n * step },
                ];
                let (between, done) = (to.as_mut_ptr() as usize, AtomicBool::new(false));
                let lost = std::thread::scope(|scope| {
                    let other = scope.spawn(|| {
                        let (mut round, mut lost) = (0u8, 0);
                        while !done.load(SeqCst) {
                            round = round.wrapping_add(1);
                            let bytes =
                                || (0..n * step * size).filter(|at| !(at / size).is_multiple_of(step));
                            for at in bytes().step_by(5) {
                                // SAFETY: inside `to`, where the launch does not write.
                                unsafe { (between as *mut u8).add(at).write_volatile(round) };
                            }
                            for at in bytes().step_by(5) {
                                // SAFETY: as above.
                                lost += usize::from(
                                    unsafe { (between as *mut u8).add(at).read_volatile() } != round,
                                );
                            }
                        }
                        lost
                    });
                    for _ in 0..2000 {
                        // SAFETY: the memories are ours, and nobody else touches the elements of the views.
                        unsafe { program.run(&launch, &memory, 2) }.expect("the launch fits");
                    }
                    done.store(true, SeqCst);
                    other.join().expect("the other thread")
                });
                assert_eq!(lost, 0, "{dtype} in steps of {step}, {level:?}");
                ran += 1;
            }
        }
    }
    println!("ran: packed-between {ran}");
}
