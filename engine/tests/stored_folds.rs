//! Folds whose points store: a step and the norm of its change are one pass, with the bits of two.
#![allow(missing_docs, clippy::unwrap_used)]

mod counted;
mod divisions;
mod found;

use counted::counted;
use divisions::kinds;
use found::{PARTS, cell, devices, grids, ran};
use partita::array::record;
use partita::prelude::*;
use partita::program::Op;
use partita_kernels::Access;

const SHAPE: [i64; 2] = [23, 18];

fn field(device: &Device, grid: [i64; 2], dtype: DType) -> Array {
    let parts = (grid[0] * grid[1]) as usize;
    let team = Team::on(std::slice::from_ref(device), parts).unwrap();
    let dist = Distribution::builder(&SHAPE).grid(&grid).periodic(&[true, true]).build().unwrap();
    Array::from_fn(&team, &dist, cell).unwrap().cast(dtype)
}

/// The mean of the neighbours, all around.
fn rolled(u: &Array) -> Array {
    (u.roll(&[1, 0]) + u.roll(&[-1, 0]) + u.roll(&[0, 1]) + u.roll(&[0, -1])) * 0.25
}

/// The same of the interior.
fn interior(u: &Array) -> Array {
    let [up, down] = [u.slice(&s![..-2, 1..-1]), u.slice(&s![2.., 1..-1])];
    let [left, right] = [u.slice(&s![1..-1, ..-2]), u.slice(&s![1..-1, 2..])];
    (up + down + left + right) * 0.25
}

/// The largest change and the sum of its squares, laid out as the old values are.
fn norms(new: &Array, old: &Array, axes: &[usize]) -> [Array; 2] {
    let change = old - new;
    [change.abs().max(axes), (&change * &change).sum(axes)]
}

fn bytes(arrays: &[&Array]) -> Vec<Vec<u8>> {
    arrays.iter().map(|array| array.to_bytes().unwrap()).collect()
}

/// What launches of a step read and write, in elements of 4 bytes.
fn moved(step: impl FnOnce() -> partita::Result<()>) -> (usize, i64, i64) {
    let (mut launches, mut read, mut written) = (0, 0, 0);
    for command in &record(step).unwrap() {
        let Op::Launch { job, .. } = &command.op else { continue };
        let kernel = job.program.kernel();
        launches += 1;
        for (param, span) in kernel.kernel().params.iter().zip(kernel.touched(&job.launch)) {
            let elements = span.map_or(0, |(first, last)| last - first + 1);
            *(if param.access == Access::In { &mut read } else { &mut written }) += elements;
        }
    }
    (launches, read, written)
}

/// Devices that have a type.
fn has(device: &Device, dtype: DType) -> bool {
    device.kind() != DeviceKind::Wgpu || dtype == DType::F32
}

#[test]
fn a_step_and_its_norms_have_the_bits_of_two_passes() {
    for device in devices() {
        let mut cases = 0;
        for (grid, dtype) in
            PARTS.into_iter().flat_map(grids).flat_map(|g| [(g, DType::F32), (g, DType::F64)])
        {
            if !has(&device, dtype) {
                continue;
            }
            let u = field(&device, grid, dtype);
            u.eval().unwrap();
            for axes in [&[][..], &[0], &[1], &[0, 1]] {
                let alone = rolled(&u);
                let expected = norms(&alone, &u, axes);
                expected.iter().for_each(|norm| norm.eval().unwrap());
                let new = rolled(&u);
                let [max, sum] = norms(&new, &u, axes);
                let (names, _) = counted(u.team(), || eval_all(&[&new, &max, &sum]));
                assert_eq!(bytes(&[&new, &max, &sum]), bytes(&[&alone, &expected[0], &expected[1]]));
                assert!(!names.iter().any(|name| name == "fused"), "{grid:?} {axes:?} {names:?}");
                cases += 1;
            }
            let alone = interior(&u);
            let expected = norms(&alone, &u.slice(&s![1..-1, 1..-1]), &[]);
            expected.iter().for_each(|norm| norm.eval().unwrap());
            let after = u.updated(&s![1..-1, 1..-1], &alone);
            let new = interior(&u);
            let [max, sum] = norms(&new, &u.slice(&s![1..-1, 1..-1]), &[]);
            let updated = u.updated(&s![1..-1, 1..-1], &new);
            let (names, _) = counted(u.team(), || eval_all(&[&updated, &max, &sum]));
            assert_eq!(bytes(&[&updated, &max, &sum]), bytes(&[&after, &expected[0], &expected[1]]));
            assert!(!names.iter().any(|name| name == "fused"), "{grid:?} {names:?}");
            cases += 1;
        }
        ran("stored-folds", &device, cases);
    }
}

#[test]
fn every_division_stores_what_it_folds() {
    for device in devices() {
        let mut cases = 0;
        for parts in [1, 3, 4] {
            let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
            for map in kinds(SHAPE[0], parts) {
                let dist =
                    Distribution::builder(&SHAPE).grid(&[parts as i64, 1]).map(0, map).build().unwrap();
                let u = Array::from_fn(&team, &dist, cell).unwrap();
                u.eval().unwrap();
                let step = || &u * 0.5 + u.abs() * 0.25;
                let alone = step();
                let expected = norms(&alone, &u, &[]);
                expected.iter().for_each(|norm| norm.eval().unwrap());
                let new = step();
                let [max, sum] = norms(&new, &u, &[]);
                eval_all(&[&new, &max, &sum]).unwrap();
                assert_eq!(
                    bytes(&[&new, &max, &sum]),
                    bytes(&[&alone, &expected[0], &expected[1]]),
                    "{dist:?}"
                );
                cases += 1;
            }
        }
        ran("stored-divisions", &device, cases);
    }
}

/// One launch, one array read and one written, where two passes read two arrays more or launch twice.
#[test]
fn a_step_and_its_norm_read_the_array_once() {
    for device in devices() {
        let u = field(&device, [1, 1], DType::F32);
        u.eval().unwrap();
        // Halos are there from here on.
        rolled(&u).eval().unwrap();
        let both = |together: bool| {
            let (new, u) = (rolled(&u), u.clone());
            let [max, _] = norms(&new, &u, &[]);
            moved(move || match together {
                true => eval_all(&[&new, &max]),
                false => max.eval().and_then(|()| new.eval()),
            })
        };
        let ((launches, read, written), apart) = (both(true), both(false));
        let cells: i64 = SHAPE.iter().product();
        assert_eq!((launches, apart.0), (1, 2), "{device:?}");
        assert_eq!(2 * read, apart.1, "{device:?}");
        assert_eq!(written, apart.2, "{device:?}");
        assert!(written > cells && read >= cells && read < 2 * cells, "{read} {written}");
        println!("{device:?}: elements read {read} instead of {}, launches 1 instead of 2", apart.1);
        let new = rolled(&u);
        let [max, _] = norms(&new, &u, &[]);
        let said = partita::explain_all(&[&new, &max]).unwrap().to_string();
        assert_eq!(said.matches("reduce").count(), 1, "{said}");
        assert!(!said.contains("fused"), "{said}");
    }
}

type Step<'s> = &'s dyn Fn(&mut [Array]) -> partita::Result<()>;

#[test]
fn loops_replay_steps_with_their_norms() {
    for device in devices() {
        let mut cases = 0;
        for parts in [1, 2, 3, 4] {
            let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
            let dist = Distribution::builder(&SHAPE).parts(parts).build().unwrap();
            let start = || {
                let u = Array::from_fn(&team, &dist, cell).unwrap();
                let one = Distribution::builder(&[1, 1]).parts(parts).build().unwrap();
                vec![u, Array::zeros(&team, &one, DType::F32).unwrap()]
            };
            let apart = |state: &mut [Array]| {
                let new = interior(&state[0]);
                let norm = (state[0].slice(&s![1..-1, 1..-1]) - &new).abs().max(&[]);
                state[1] = state[1].updated(&s![..], &norm);
                state[0] = state[0].updated(&s![1..-1, 1..-1], &new);
                Ok(())
            };
            // The same by assignments, of which the one of the norm waits for the other.
            let assigned = |state: &mut [Array]| {
                let new = interior(&state[0]);
                let norm = (state[0].slice(&s![1..-1, 1..-1]) - &new).abs().max(&[]);
                state[1].assign(&s![..], &norm)?;
                state[0].assign(&s![1..-1, 1..-1], &new)
            };
            let steps: [Step; 2] = [&apart, &assigned];
            for (step, count) in steps.into_iter().flat_map(|step| [1, 5, 20].map(|count| (step, count))) {
                let mut plain = start();
                let mut run = Loop::new(start(), step);
                run.run(count).unwrap();
                for _ in 0..count {
                    apart(&mut plain).unwrap();
                    let [u, norm] = &plain[..] else { unreachable!() };
                    norm.eval().unwrap();
                    u.eval().unwrap();
                }
                let [state, expected] = [run.state(), &plain].map(|s| bytes(&s.iter().collect::<Vec<_>>()));
                assert_eq!(state, expected, "{device:?} {parts} parts");
                assert!(count < 20 || run.is_replaying());
                cases += 1;
            }
        }
        ran("stored-loops", &device, cases);
    }
}
