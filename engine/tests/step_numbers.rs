//! Numbers that differ from step to step of a `Loop`: the same bits as calling the step with plain numbers,
//! with a step function that runs a few times only.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;

use std::cell::{Cell, RefCell};
use std::sync::{Mutex, MutexGuard, PoisonError};

use found::{devices, ran};
use partita::prelude::*;
use partita::wire::threads;
use partita::{Error, Result};

/// One test at a time: a loop replays once memory comes back in turn, which others on its devices disturb.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn start(team: &Team, rows: i64) -> Vec<Array> {
    let dist = Distribution::builder(&[rows, 6]).parts(team.size()).build().unwrap();
    let make = |seed: i64| {
        Array::from_fn(team, &dist, |at| ((at[0] * 31 + at[1] * seed) % 101) as f32 / 101.0).unwrap()
    };
    vec![make(7), make(11)]
}

/// Two numbers of step `k`.
fn numbers(k: u64) -> [f32; 2] {
    [(k as f32 * 0.37).sin(), 1.0 / (k as f32 + 1.5)]
}

/// A stencil that is driven, in a window and as a whole, with operands that make the numbers.
fn drive(state: &mut [Array], a: &Array, b: &Array) -> Result<()> {
    let u = &state[0];
    let around = u.slice(&s![..-2, ..]) * 0.25 + u.slice(&s![2.., ..]) * 0.25;
    let next = around + a * (b * 0.5 + state[1].slice(&s![1..-1, ..]));
    state[0].assign(&s![1..-1, ..], &next)?;
    state[1] = (&state[1] * b + a).abs();
    Ok(())
}

/// An array of one element, as plain code has it: a constant in the kernels of the host. Other devices would
/// compile new kernels in every step, so there it is memory.
fn plain(team: &Team, number: Scalar) -> Array {
    let dist = Distribution::default_partition(team.size(), &[1]).unwrap();
    if !team.is_here(0) || team.devices().iter().all(|device| device.kind() == DeviceKind::Host) {
        return Array::full(team, &dist, number).unwrap();
    }
    let bytes = &number.bits.to_le_bytes()[..number.dtype.size_bytes()];
    Array::from_bytes(team, &dist, number.dtype, bytes).unwrap()
}

fn bytes(state: &[Array]) -> Vec<Vec<u8>> {
    state.iter().map(|array| array.to_bytes().unwrap()).collect()
}

/// Runs of a loop against plain calls, each on states of their own.
fn same_as_plain(team: &Team, rows: i64, depth: usize, runs: &[u64]) -> String {
    let calls = Cell::new(0);
    let mut run = Loop::with_numbers(start(team, rows), |state, numbers| {
        calls.set(calls.get() + 1);
        drive(state, &numbers[0], &numbers[1])
    });
    if depth > 1 {
        run = run.depth(depth);
    }
    let mut state = start(team, rows);
    for &count in runs {
        run.run_with(count, numbers).unwrap();
        for k in 0..count {
            let [a, b] = numbers(k).map(|number| plain(team, number.into()));
            drive(&mut state, &a, &b).unwrap();
            state.iter().try_for_each(Array::eval).unwrap();
        }
        assert!(bytes(run.state()) == bytes(&state), "{team:?}, depth {depth}, runs {runs:?}");
    }
    assert!(run.is_replaying(), "{team:?}, depth {depth}");
    assert!(calls.get() < 20, "{} calls", calls.get());
    run.explain()
}

#[test]
fn numbers_of_each_step_give_the_bits_of_plain_numbers() {
    let _alone = alone();
    for device in devices() {
        let mut cases = 0;
        for parts in 1..=8 {
            let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
            same_as_plain(&team, 19, 1, &[7, 1, 40]);
            cases += 1;
        }
        ran("numbers", &device, cases);
    }
}

#[test]
fn more_steps_than_a_table_has_rows_get_their_numbers() {
    let _alone = alone();
    for device in devices() {
        let team = Team::on(&[device], 2).unwrap();
        let dist = Distribution::builder(&[6]).parts(2).build().unwrap();
        let zeros = Array::zeros(&team, &dist, DType::F32).unwrap();
        let mut run = Loop::with_numbers(vec![zeros], |state, numbers| {
            state[0] = &state[0] + &numbers[0];
            Ok(())
        });
        for times in 1..3 {
            run.run_with(2500, |k| [k as f32]).unwrap();
            assert_eq!(run.state()[0].to_vec::<f32>().unwrap(), [times as f32 * 3_123_750.0; 6]);
        }
        assert!(run.is_replaying());
    }
}

#[test]
fn several_devices_have_a_table_each() {
    let _alone = alone();
    let mut several = devices();
    several.truncate(3);
    if several.is_empty() {
        return;
    }
    let team = Team::on(&several, 4).unwrap();
    same_as_plain(&team, 17, 1, &[30]);
}

#[test]
fn numbers_go_with_shared_exchanges_and_never_through_tiles() {
    let _alone = alone();
    for parts in [1, 3] {
        let team = Team::on(&[Device::host()], parts).unwrap();
        for depth in [2, 3] {
            same_as_plain(&team, 40, depth, &[5, 31]);
        }
    }
    // A state that goes through tiles where nothing changes from step to step.
    let team = Team::on(&[Device::host()], 1).unwrap();
    let dist = Distribution::builder(&[60, 61, 301]).build().unwrap();
    let start = || Array::from_fn(&team, &dist, |at| (at[0] * at[1] % 101 + at[2]) as f32).unwrap();
    let step = |state: &mut [Array], number: &Array| {
        let next = state[0].slice(&s![1..-1, .., ..]) * 0.5 + state[0].slice(&s![2.., .., ..]) * number;
        state[0].assign(&s![1..-1, .., ..], &next)
    };
    let number = |k: u64| 1.0 / (k as f32 + 2.0);
    let mut fixed =
        Loop::new(vec![start()], |state: &mut [Array]| step(state, &plain(&team, number(1).into())));
    fixed = fixed.depth(4);
    fixed.run(20).unwrap();
    assert!(fixed.explain().contains("tile by tile"), "{}", fixed.explain());
    let mut run = Loop::with_numbers(vec![start()], |state, numbers| step(state, &numbers[0])).depth(4);
    run.run_with(20, |k| [number(k)]).unwrap();
    assert!(run.is_replaying() && !run.explain().contains("tile by tile"), "{}", run.explain());
    let mut state = vec![start()];
    (0..20).for_each(|k| step(&mut state, &plain(&team, number(k).into())).unwrap());
    assert!(bytes(run.state()) == bytes(&state));
}

#[test]
fn integers_are_exact() {
    let _alone = alone();
    let numbers =
        |k: u64| [Scalar::from(u64::MAX - k), Scalar::from(i64::MIN + k as i64), Scalar::from(true)];
    for device in devices().into_iter().filter(|device| device.kind() != DeviceKind::Wgpu) {
        let team = Team::on(&[device], 3).unwrap();
        let dist = Distribution::builder(&[5]).parts(3).build().unwrap();
        let zeros = |dtype| Array::zeros(&team, &dist, dtype).unwrap();
        let state = vec![zeros(DType::U64), zeros(DType::I64), zeros(DType::Bool)];
        let mut run = Loop::with_numbers(state, |state, numbers| {
            for (array, number) in state.iter_mut().zip(numbers) {
                array.assign(&s![..], number)?;
            }
            Ok(())
        });
        for count in [1u64, 30, 2000] {
            run.run_with(count, numbers).unwrap();
            let state = run.state();
            assert_eq!(state[0].to_vec::<u64>().unwrap(), [u64::MAX - (count - 1); 5]);
            assert_eq!(state[1].to_vec::<i64>().unwrap(), [i64::MIN + (count as i64 - 1); 5]);
            assert_eq!(state[2].to_bools().unwrap(), [true; 5]);
        }
        assert!(run.is_replaying());
    }
}

#[test]
fn all_ranks_find_their_numbers() {
    let _alone = alone();
    for ranks in [2, 3] {
        for outcome in threads::run(ranks, |ranks| {
            let team = Team::over(&ranks, &[Device::host()], 2).unwrap();
            for depth in [1, 2] {
                same_as_plain(&team, 30, depth, &[5, 25]);
            }
        }) {
            outcome.unwrap();
        }
    }
}

#[test]
fn an_expression_that_a_step_leaves_unevaluated_keeps_its_number() {
    let _alone = alone();
    let team = Team::on(&[Device::host()], 2).unwrap();
    let left = RefCell::new(Vec::new());
    let mut run = Loop::with_numbers(start(&team, 9), |state, numbers| {
        left.borrow_mut().push((&numbers[0] * 2.0, numbers[0].clone()));
        state[0] = &state[0] * &numbers[0];
        Ok(())
    });
    run.run_with(20, |k| [k as f32 + 1.0]).unwrap();
    for (k, (doubled, number)) in left.borrow().iter().enumerate() {
        assert_eq!(number.item::<f32>().unwrap(), k as f32 + 1.0);
        assert_eq!(doubled.item::<f32>().unwrap(), 2.0 * (k as f32 + 1.0));
    }
}

#[test]
fn numbers_that_do_not_fit_are_refused() {
    let _alone = alone();
    let team = Team::on(&[Device::host()], 2).unwrap();
    let add = |state: &mut [Array], numbers: &[Array]| {
        if let Some(number) = numbers.first() {
            let next = &state[0] + number;
            next.eval()?;
            state[0] = next;
        }
        Ok(())
    };
    let mut run = Loop::with_numbers(start(&team, 9), add);
    let error = run.run(3).unwrap_err().to_string();
    assert!(error.starts_with("Loop::run: expected a step without numbers"), "{error}");
    let mixed = |k: u64| if k < 5 { vec![Scalar::from(1.0f32)] } else { vec![Scalar::from(1.0)] };
    let error = run.run_with(9, mixed).unwrap_err().to_string();
    assert!(error.starts_with("Loop::run_with: expected numbers of the types of the first step"), "{error}");
    // Other types in another run, none, and those of before.
    run.run_with(9, |_| [1.0f32]).unwrap();
    assert!(run.run_with(9, |_| [1.0]).unwrap_err().to_string().contains("dtype"));
    run.run_with(9, |_| [0.0f32; 0]).unwrap();
    run.run_with(9, |_| [2.0f32]).unwrap();
    let expected = start(&team, 9)[0].to_vec::<f32>().unwrap();
    let given = run.state()[0].to_vec::<f32>().unwrap();
    assert!(given.iter().zip(expected).all(|(given, before)| (given - before - 27.0).abs() < 1e-3));
    let mut plain = Loop::new(start(&team, 9), |_: &mut [Array]| Ok(()));
    let error = plain.run_with(3, |_| [1.0]).unwrap_err().to_string();
    assert!(error.starts_with("Loop::run_with: expected a step that gets numbers"), "{error}");
}

#[test]
fn a_callback_sees_the_state_every_so_many_steps_and_may_end_the_run() {
    let _alone = alone();
    let team = Team::on(&[Device::host()], 2).unwrap();
    let dist = Distribution::builder(&[4]).parts(2).build().unwrap();
    let zeros = Array::zeros(&team, &dist, DType::F64).unwrap();
    let mut run = Loop::new(vec![zeros], |state: &mut [Array]| {
        state[0] = &state[0] + 1.0;
        Ok(())
    });
    let mut seen = Vec::new();
    let first = |state: &[Array]| state[0].to_vec::<f64>().map(|cells| cells[3]);
    run.run_every(50, 20, |state, done| {
        seen.push((first(state)?, done));
        Ok(())
    })
    .unwrap();
    assert_eq!(seen, [(20.0, 20), (40.0, 40), (50.0, 50)]);
    let fails = |_: &[Array], done: u64| match done {
        30 => Err(Error::Interrupted { operation: "on purpose" }),
        _ => Ok(()),
    };
    assert!(run.run_every(100, 10, fails).unwrap_err().to_string().contains("on purpose"));
    let panics = |_: &[Array], _: u64| -> Result<()> { panic!("on purpose") };
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run.run_every(9, 3, panics)));
    assert!(caught.is_err());
    assert_eq!((run.steps(), first(run.state()).unwrap()), (83, 83.0));
    run.run(10).unwrap();
    assert_eq!(first(run.state()).unwrap(), 93.0);
    assert!(run.run_every(1, 0, |_, _| Ok(())).is_err());
}
