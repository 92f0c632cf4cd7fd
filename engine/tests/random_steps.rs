//! Random numbers in the steps of a `Loop`: the same bits as the same steps without one, drawn by devices.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;

use std::cell::Cell;

use found::{devices, ran};
use partita::Result;
use partita::operators::random::Generator;
use partita::prelude::*;

/// A walk with two draws per step, of which a window and the whole take something.
fn walk(u: &mut [Array], g: &mut Generator) -> Result<()> {
    let (team, dist) = (u[0].team().clone(), u[0].distribution()?);
    let push = g.normal(&team, &dist, DType::F32)?;
    let kick = g.uniform(&team, &dist, DType::F32)?;
    let around = u[0].slice(&s![..-2]) * 0.25 + u[0].slice(&s![2..]) * 0.25;
    let next = around + push.slice(&s![1..-1]) * 0.5;
    u[0].assign(&s![1..-1], &next)?;
    u[1] = &u[1] * 0.5 + kick;
    Ok(())
}

fn start(team: &Team) -> Vec<Array> {
    let dist = Distribution::builder(&[37]).parts(team.size()).build().unwrap();
    (0..2).map(|_| Array::zeros(team, &dist, DType::F32).unwrap()).collect()
}

fn bytes(state: &[Array]) -> Vec<Vec<u8>> {
    state.iter().map(|array| array.to_bytes().unwrap()).collect()
}

#[test]
fn steps_of_a_loop_draw_what_steps_without_one_draw() {
    for device in devices() {
        let mut cases = 0;
        for (parts, depth) in [(1, 1), (2, 1), (3, 1), (2, 3), (1, 4)] {
            let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
            // The counter passes 2^32 on the way.
            let state = [7, (1 << 32) - 20];
            let (mut plain, mut g, calls) = (start(&team), Generator::from_state(state), Cell::new(0));
            let drawn = std::rc::Rc::new(std::cell::RefCell::new(Generator::from_state(state)));
            let inner = std::rc::Rc::clone(&drawn);
            let mut run = Loop::new(start(&team), |state| {
                calls.set(calls.get() + 1);
                walk(state, &mut inner.borrow_mut())
            })
            .depth(depth);
            for count in [1, 9, 40, 3] {
                run.run(count).unwrap();
                for _ in 0..count {
                    walk(&mut plain, &mut g).unwrap();
                    plain.iter().try_for_each(Array::eval).unwrap();
                }
                assert!(bytes(run.state()) == bytes(&plain), "{team:?}, depth {depth}, {count} steps");
                assert_eq!(drawn.borrow().state(), g.state());
                // Draws between runs move the stream on.
                assert_eq!(drawn.borrow_mut().bits(), g.bits());
            }
            assert!(run.is_replaying() && calls.get() < 20, "{} calls", calls.get());
            cases += 1;
        }
        ran("random-steps", &device, cases);
    }
}

#[test]
fn a_generator_made_in_the_step_draws_the_same_every_time() {
    let team = Team::local(2).unwrap();
    let dist = Distribution::builder(&[5]).parts(2).build().unwrap();
    let zeros = Array::zeros(&team, &dist, DType::F64).unwrap();
    let mut run = Loop::new(vec![zeros], |state| {
        let drawn = Generator::new(3).uniform(&team, &dist, DType::F64)?;
        state[0] = (&state[0] + drawn) % 1.0;
        Ok(())
    });
    run.run(30).unwrap();
    assert!(run.is_replaying());
    let one = Generator::new(3).uniform(&team, &dist, DType::F64).unwrap();
    let mut expected = Array::zeros(&team, &dist, DType::F64).unwrap();
    for _ in 0..30 {
        expected = (expected + &one) % 1.0;
        expected.eval().unwrap();
    }
    assert_eq!(run.state()[0].to_vec::<f64>().unwrap(), expected.to_vec::<f64>().unwrap());
}

#[test]
fn a_draw_that_a_step_leaves_unevaluated_keeps_its_numbers() {
    let team = Team::local(1).unwrap();
    let (mut left, mut g) = (Vec::new(), Generator::new(5));
    let mut run = Loop::new(start(&team), |state| {
        let drawn = g.uniform(&team, &*state[0].distribution()?, DType::F32)?;
        state[0] = &state[0] + &drawn;
        left.push(drawn);
        Ok(())
    });
    run.run(6).unwrap();
    drop(run);
    let mut same = Generator::new(5);
    for drawn in left {
        let expected = same.uniform(&team, &drawn.distribution().unwrap(), DType::F32).unwrap();
        assert_eq!(drawn.to_vec::<f32>().unwrap(), expected.to_vec::<f32>().unwrap());
    }
}

#[test]
fn steps_that_cannot_be_repeated_say_why() {
    let team = Team::local(1).unwrap();
    type Step = Box<dyn FnMut(u64, &mut Generator, &Array) -> Result<Array>>;
    let fails = |mut step: Step| {
        let (mut g, mut k) = (Generator::new(1), 0);
        let mut run = Loop::new(start(&team), |state| {
            k += 1;
            state[0] = step(k, &mut g, &state[0])?;
            Ok(())
        });
        run.run(20).unwrap_err().to_string()
    };
    let draw = |g: &mut Generator, u: &Array| g.uniform(u.team(), &*u.distribution()?, DType::F32);
    let text =
        fails(Box::new(move |k, g, u| if k % 3 == 0 { draw(g, u) } else { Ok(draw(g, u)? + draw(g, u)?) }));
    assert!(text.contains("2 draws of a generator in one step and 1 in a later one"), "{text}");
    let text = fails(Box::new(move |_, g, u| {
        g.bits();
        draw(g, u)
    }));
    assert!(text.contains("outside of the step"), "{text}");
}
