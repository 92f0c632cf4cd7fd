//! Loops from inside: where rounds of tiles begin.
#![allow(clippy::unwrap_used)]

use crate::prelude::*;

#[test]
fn rounds_of_tiles_begin_wherever_a_run_does() {
    let step = |state: &mut [Array]| {
        let u = &state[0];
        let next = u.slice(&s![1..-1, .., ..-1]) + 0.5 * u.slice(&s![2.., .., 1..]);
        state[0].assign(&s![1..-1, .., ..-1], &(0.6 * next))
    };
    // Alone, and with an exchange in three steps.
    for parts in [1, 2] {
        let team = Team::on(&[Device::host()], parts).unwrap();
        let dist = Distribution::builder(&[40, 41, 601]).parts(parts).build().unwrap();
        let number = |at: &[i64]| ((at[0] * 7 + at[1] * at[2]) % 101) as f32;
        let start = || Array::from_fn(&team, &dist, number).unwrap();
        let mut state = vec![start()];
        let mut tiled = Loop::new(vec![start()], step).depth(3);
        let mut run = |count: u64, tiled: &mut Loop<_>| {
            (0..count).for_each(|_| step(&mut state).unwrap());
            assert!(tiled.state[0].to_vec::<f32>().unwrap() == state[0].to_vec::<f32>().unwrap());
        };
        tiled.run(23).unwrap();
        run(23, &mut tiled);
        assert!(tiled.explain().contains("tile by tile"), "{}", tiled.explain());
        for single in [0, 1, 1, 3, 1] {
            tiled.run(single).unwrap();
            // Two states take turns, so what repeats itself is six steps.
            let cycle = tiled.cycle.as_mut().unwrap();
            assert_eq!(cycle.replay(&team, &mut tiled.state, 6).unwrap(), 6, "{parts} {single}");
            assert_eq!(
                cycle.replay(&team, &mut tiled.state, 5).unwrap(),
                1,
                "no more than the caller allows"
            );
            run(single + 7, &mut tiled);
        }
        // With room for that, a round begins with the exchange, which is the fifth step from here.
        let cycle = tiled.cycle.as_mut().unwrap();
        let mut left = 12;
        let mut taken = Vec::new();
        while left > 0 {
            taken.push(cycle.replay(&team, &mut tiled.state, left).unwrap());
            left -= taken[taken.len() - 1];
        }
        let expected = if parts == 1 { vec![6, 6] } else { vec![1, 1, 1, 1, 6, 1, 1] };
        assert_eq!(taken, expected, "{parts}");
        run(12, &mut tiled);
    }
}
