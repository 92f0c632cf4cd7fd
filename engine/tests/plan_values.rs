//! Plans as values: the order of their moves, the adjoint, and what they print.

#![allow(clippy::unwrap_used)]

use partita::index::{Distribution, ErrorKind, Region};
use partita::plan::{Move, MoveOp, Plan};

fn line(from_part: usize, to_part: usize, from: (i64, i64), to: (i64, i64)) -> Move {
    Move {
        from_part,
        to_part,
        from: Region::new(&[from.0], &[from.1]).unwrap(),
        to: Region::new(&[to.0], &[to.1]).unwrap(),
        subsets: None,
        op: MoveOp::Copy,
    }
}

#[test]
fn impossible_moves_are_refused() {
    for m in [line(2, 0, (0, 1), (0, 1)), line(0, 1, (0, 1), (0, 1)), line(0, 0, (0, 2), (0, 1))] {
        assert_eq!(Plan::new(2, 1, vec![m]).unwrap_err().kind, ErrorKind::Plan);
    }
}

#[test]
fn moves_are_ordered_and_found_by_either_end() {
    let moves = vec![
        line(1, 2, (0, 1), (5, 6)),
        line(0, 2, (0, 1), (4, 5)),
        line(1, 0, (2, 2), (2, 2)),
        line(1, 0, (3, 4), (3, 4)),
        line(1, 0, (0, 1), (0, 1)),
    ];
    let plan = Plan::new(3, 3, moves).unwrap();
    let ends: Vec<_> = plan.moves().iter().map(|m| (m.to_part, m.from_part, m.to.start()[0])).collect();
    assert_eq!(ends, [(0, 1, 0), (0, 1, 3), (2, 0, 4), (2, 1, 5)]);
    assert_eq!((plan.moves_to(0).len(), plan.moves_to(1).len(), plan.moves_to(2).len()), (2, 0, 2));
    let leaving = |part| plan.moves().iter().filter(|m| m.from_part == part).count();
    assert_eq!((leaving(1), leaving(2)), (3, 0));
}

#[test]
fn the_adjoint_swaps_ends_and_adds() {
    let plan = Plan::new(2, 3, vec![line(1, 2, (0, 1), (5, 6))]).unwrap();
    let back = plan.adjoint();
    assert_eq!((back.from_parts(), back.to_parts()), (3, 2));
    assert_eq!(back.moves(), [Move { op: MoveOp::Add, ..line(2, 1, (5, 6), (0, 1)) }]);
    assert_eq!(back.adjoint().moves(), [Move { op: MoveOp::Add, ..line(1, 2, (0, 1), (5, 6)) }]);
}

#[test]
fn links_add_up() {
    let dist = Distribution::builder(&[4, 6])
        .grid(&[1, 2])
        .halo(&[1, 1], &[1, 1])
        .periodic(&[true, false])
        .build()
        .unwrap();
    let plan = Plan::halo(&dist, true).unwrap();
    let text = "2 parts to 2: 6 moves, 48 bytes between parts, 4 moves, 48 bytes within parts\n  \
                0 -> 0: 2 moves, 24 bytes\n  \
                1 -> 0: 3 moves, 24 bytes\n  \
                0 -> 1: 3 moves, 24 bytes\n  \
                1 -> 1: 2 moves, 24 bytes";
    assert_eq!(plan.explain(4).to_string(), text);
}

#[test]
fn long_lists_are_cut() {
    let dist = Distribution::builder(&[40]).parts(40).halo(&[1], &[0]).build().unwrap();
    let plan = Plan::halo(&dist, true).unwrap();
    let text = plan.explain(8).to_string();
    assert_eq!(text.lines().count(), 34);
    assert!(text.ends_with("and 7 more links"), "{text}");
    assert_eq!(plan.to_string().lines().nth(1), Some("  0 [0:1] -> 1 [0:1] Copy"));
}
