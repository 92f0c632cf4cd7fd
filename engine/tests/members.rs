//! Teams as ordered numbers: the published tables of broadcasts and sums, and random teams against sums done
//! by hand.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use partita::index::{BroadcastGroup, ErrorKind, Index, Members};
use proptest::prelude::*;

fn world(size: usize) -> Members {
    Members::world(size).unwrap()
}

/// The members with these numbers in a grid.
fn team(ids: &[usize], shape: &[i64]) -> Members {
    world(64).inclusive(ids).unwrap().cartesian(shape).unwrap()
}

/// Everybody in each group, its root first.
fn ids(routes: &[BroadcastGroup]) -> Vec<Vec<usize>> {
    let all = |group: &BroadcastGroup| {
        let BroadcastGroup { senders, receivers } = group;
        let (root, others) = if senders.len() == 1 { (senders, receivers) } else { (receivers, senders) };
        root.iter().chain(others.iter().filter(|id| !root.contains(id))).copied().collect()
    };
    routes.iter().map(all).collect()
}

/// The group in which a member sends, or receives.
fn send(routes: &[BroadcastGroup], id: usize) -> Option<usize> {
    routes.iter().position(|group| group.senders.contains(&id))
}

fn receive(routes: &[BroadcastGroup], id: usize) -> Option<usize> {
    routes.iter().position(|group| group.receivers.contains(&id))
}

fn adjoint(routes: &[BroadcastGroup]) -> Vec<BroadcastGroup> {
    routes.iter().map(BroadcastGroup::adjoint).collect()
}

fn index(team: &Members, rank: usize) -> Index {
    team.grid().coordinate(rank)
}

/// Every member's value after each group has summed its senders' values onto its receivers.
fn travel(routes: &[BroadcastGroup], values: &BTreeMap<usize, i64>) -> BTreeMap<usize, i64> {
    let group = |group: &BroadcastGroup| {
        let sum: i64 = group.senders.iter().map(|id| values[id]).sum();
        group.receivers.iter().map(move |&id| (id, sum)).collect::<Vec<_>>()
    };
    let all: Vec<(usize, i64)> = routes.iter().flat_map(group).collect();
    let result: BTreeMap<usize, i64> = all.iter().copied().collect();
    assert_eq!(result.len(), all.len(), "a member received twice");
    result
}

/// Different numbers below 40 in a random order.
fn shuffled() -> impl Strategy<Value = Vec<usize>> {
    Just((0..40).collect::<Vec<usize>>()).prop_shuffle()
}

/// A grid of up to three dimensions, and one that can be broadcast to it.
fn grids() -> impl Strategy<Value = (Vec<i64>, Vec<i64>)> {
    let dims = prop::collection::vec((1..4i64, any::<bool>()), 1..=3);
    (dims, 0..3usize).prop_map(|(dims, drop)| {
        let to: Vec<i64> = dims.iter().map(|(n, _)| *n).collect();
        let from = dims.iter().map(|(n, one)| if *one { 1 } else { *n });
        (from.skip(drop.min(to.len() - 1)).collect(), to)
    })
}

fn first(order: &[usize], shape: &[i64]) -> Members {
    team(&order[..shape.iter().product::<i64>() as usize], shape)
}

proptest! {
    #[test]
    fn every_receiver_gets_the_value_of_its_grid_position_in_any_order(
        (from_shape, to_shape) in grids(), a in shuffled(), b in shuffled(),
    ) {
        let (from, to) = (first(&a, &from_shape), first(&b, &to_shape));
        let routes = from.broadcast_to(&to).unwrap();
        prop_assert_eq!(routes.len(), from.size());
        let values: BTreeMap<usize, i64> = from.ids().iter().map(|&id| (id, 1000 + id as i64)).collect();
        let after = travel(&routes, &values);
        prop_assert_eq!(after.len(), to.size());
        for (rank, id) in to.ids().iter().enumerate() {
            let at = index(&to, rank);
            let skip = to_shape.len() - from_shape.len();
            let source: Vec<i64> =
                from_shape.iter().zip(&at[skip..]).map(|(&n, &i)| if n == 1 { 0 } else { i }).collect();
            let root = from.ids()[from.grid().part(&source).unwrap()];
            prop_assert_eq!(after[id], values[&root]);
        }
        // Who is in neither team ends with nothing.
        let outside = (0..64).filter(|id| !to.ids().contains(id));
        prop_assert!(outside.clone().all(|id| receive(&routes, id).is_none()));
        for (rank, &root) in from.ids().iter().enumerate() {
            prop_assert_eq!(send(&routes, root), Some(rank));
            prop_assert_eq!(ids(&routes)[rank][0], root);
        }
    }

    #[test]
    fn the_adjoint_of_a_broadcast_is_a_sum_reduce(
        (to_shape, from_shape) in grids(), a in shuffled(), b in shuffled(),
        x in prop::collection::vec(-9..9i64, 64), y in prop::collection::vec(-9..9i64, 64),
    ) {
        let (from, to) = (first(&a, &from_shape), first(&b, &to_shape));
        let sum = from.sum_reduce_to(&to).unwrap();
        prop_assert_eq!(adjoint(&sum), to.broadcast_to(&from).unwrap());
        prop_assert_eq!(adjoint(&adjoint(&sum)), sum.clone());
        let values = |of: &Members, v: &[i64]| of.ids().iter().map(|&id| (id, v[id])).collect();
        let (x, y): (BTreeMap<_, _>, BTreeMap<_, _>) = (values(&from, &x), values(&to, &y));
        let dot = |a: &BTreeMap<usize, i64>, b: &BTreeMap<usize, i64>| {
            a.iter().map(|(id, value)| value * b[id]).sum::<i64>()
        };
        prop_assert_eq!(dot(&travel(&sum, &x), &y), dot(&x, &travel(&adjoint(&sum), &y)));
    }

    #[test]
    fn all_sum_reduce_is_a_sum_reduce_followed_by_a_broadcast(
        shape in prop::collection::vec(1..4i64, 1..=3), order in shuffled(), mask in 0..8usize,
    ) {
        let all = first(&order, &shape);
        let axes: Vec<usize> = (0..shape.len()).filter(|d| mask >> d & 1 == 1).collect();
        let routes = all.all_sum_reduce(&axes).unwrap();
        let kept = (0..shape.len()).filter(|d| !axes.contains(d)).map(|d| shape[d]).product::<i64>();
        prop_assert_eq!(routes.len() as i64, kept);
        for &id in all.ids() {
            let holding = routes.iter().filter(|group| group.senders.contains(&id)).count();
            prop_assert_eq!(holding, 1);
            prop_assert_eq!(send(&routes, id), receive(&routes, id));
        }
        let values: BTreeMap<usize, i64> = all.ids().iter().map(|&id| (id, 3 * id as i64 + 1)).collect();
        let once = travel(&routes, &values);
        prop_assert_eq!(&adjoint(&routes), &routes);
        // The same by a sum onto the members at coordinate 0 of the axes, and a broadcast from there.
        let roots: Vec<usize> = (0..all.size())
            .filter(|&rank| axes.iter().all(|&d| index(&all, rank)[d] == 0))
            .collect();
        let small: Vec<i64> =
            (0..shape.len()).map(|d| if axes.contains(&d) { 1 } else { shape[d] }).collect();
        let roots = all.inclusive(&roots).unwrap().cartesian(&small).unwrap();
        let there = travel(&all.sum_reduce_to(&roots).unwrap(), &values);
        prop_assert_eq!(travel(&roots.broadcast_to(&all).unwrap(), &there), once.clone());
        if axes.len() == shape.len() {
            let sum: i64 = values.values().sum();
            prop_assert!(once.values().all(|&value| value == sum));
        }
        if axes.is_empty() {
            prop_assert_eq!(once, values);
        }
    }

    #[test]
    fn a_union_keeps_both_orders(a in shuffled(), b in shuffled(), n in 1..20usize, m in 1..20usize) {
        let (a, b) = (team(&a[..n], &[n as i64]), team(&b[..m], &[m as i64]));
        let union = a.union(&b).unwrap();
        prop_assert_eq!(&union.ids()[..n], a.ids());
        let new: Vec<usize> = b.ids().iter().copied().filter(|id| a.rank_of(*id).is_none()).collect();
        prop_assert_eq!(&union.ids()[n..], &new[..]);
    }
}

#[test]
fn teams_are_plain_values() {
    fn plain<T: Clone + Eq + std::hash::Hash + Send + Sync + std::fmt::Display + 'static>() {}
    plain::<Members>();
}

#[test]
fn without_a_grid_the_shape_is_the_size_and_the_index_the_rank() {
    let three = world(9).inclusive(&[8, 2, 5]).unwrap();
    assert_eq!(three.shape()[..], [3]);
    assert_eq!((three.rank_of(5), three.rank_of(4), index(&three, 2)), (Some(2), None, Index::from([2])));
}

#[test]
fn an_inclusive_team_has_the_order_of_its_list() {
    let five = world(9).inclusive(&[8, 2, 5, 0, 1]).unwrap();
    assert_eq!(five.inclusive(&[3, 0, 2]).unwrap().ids(), [0, 8, 5]);
    for ranks in [&[0, 0][..], &[5], &[]] {
        assert!(five.inclusive(ranks).is_err(), "{ranks:?}");
    }
}

#[test]
fn the_union_is_not_commutative() {
    let all = world(9);
    let (a, b) = (all.inclusive(&[4, 1]).unwrap(), all.inclusive(&[0, 1, 5]).unwrap());
    assert_eq!(a.union(&b).unwrap().ids(), [4, 1, 0, 5]);
    assert_eq!(b.union(&a).unwrap().ids(), [0, 1, 5, 4]);
    assert_ne!(a.union(&b).unwrap(), b.union(&a).unwrap());
}

#[test]
fn the_product_of_a_grid_is_the_size() {
    let all = world(6);
    assert_eq!(all.cartesian(&[2, 3]).unwrap().shape()[..], [2, 3]);
    for shape in [&[2, 2][..], &[6, 2], &[-2, -3]] {
        assert!(all.cartesian(shape).is_err());
    }
}

#[test]
fn teams_are_equal_only_with_the_same_order_and_grid() {
    let all = world(6);
    let (a, b) = (all.inclusive(&[0, 1, 2]).unwrap(), all.inclusive(&[0, 2, 1]).unwrap());
    assert!(a != b && a == all.inclusive(&[0, 1, 2]).unwrap());
    assert_ne!(a, all.inclusive(&[3, 4, 5]).unwrap());
    assert_ne!(all.cartesian(&[2, 3]).unwrap(), all.cartesian(&[3, 2]).unwrap());
    assert_ne!(all, all.cartesian(&[1, 6]).unwrap());
}

#[test]
fn every_rank_has_a_grid_index() {
    let six = team(&[9, 3, 7, 1, 8, 2], &[2, 3]);
    let all: Vec<Index> = (0..6).map(|rank| index(&six, rank)).collect();
    assert_eq!(
        (all[0], all[2], all[3], all[5]),
        ([0, 0].into(), [0, 2].into(), [1, 0].into(), [1, 2].into())
    );
    assert_eq!(index(&six, six.rank_of(8).unwrap()), Index::from([1, 1]));
    assert!(six.grid().check_part(6).is_err());
}

#[test]
fn neighbor_ranks_are_none_at_open_edges() {
    let six = team(&[9, 3, 7, 1, 8, 2], &[2, 3]);
    assert_eq!(six.grid().neighbors(1, &[false, false]).unwrap(), [(None, Some(4)), (Some(0), Some(2))]);
    assert_eq!(six.grid().neighbors(3, &[true, true]).unwrap(), [(Some(0), Some(0)), (Some(5), Some(4))]);
}

#[test]
fn a_sub_topology_keeps_the_other_coordinates() {
    let grid = team(&[10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21], &[2, 3, 2]);
    let plane = grid.sub_topology(3, &[true, false, true]).unwrap();
    assert_eq!((plane.ids(), &plane.shape()[..]), (&[12, 13, 18, 19][..], &[2, 2][..]));
    let alone = grid.sub_topology(3, &[false, false, false]).unwrap();
    assert_eq!((alone.ids(), alone.shape().len()), (&[13][..], 0));
    assert_eq!(grid.sub_topology(3, &[true; 3]).unwrap(), grid);
    assert!(grid.sub_topology(12, &[true; 3]).is_err() && grid.sub_topology(0, &[true]).is_err());
}

#[test]
fn ten_thousand_teams_are_created_and_dropped_in_any_order() {
    let all = world(12).cartesian(&[2, 3, 2]).unwrap();
    let mut kept = Vec::new();
    for k in 0..10_000usize {
        let plane = all.sub_topology(k % 12, &[k % 2 == 0, k % 3 == 0, true]).unwrap();
        kept.push(plane.union(&all).unwrap());
        if kept.len() > 64 {
            kept.swap_remove(k % 64);
        }
    }
    assert!(kept.iter().all(|team| team.size() == 12));
}

/// The published example: a 1x3x1 grid of members 1, 2, 3 to a 2x3x2 grid of members 0 to 11.
fn published() -> (Members, Members) {
    (team(&[1, 2, 3], &[1, 3, 1]), team(&(0..12).collect::<Vec<_>>(), &[2, 3, 2]))
}

const PUBLISHED: [&[usize]; 3] = [&[1, 0, 6, 7], &[2, 3, 8, 9], &[3, 4, 5, 10, 11]];

#[test]
fn broadcast_routes_match_the_published_example() {
    let (from, to) = published();
    let routes = from.broadcast_to(&to).unwrap();
    assert_eq!(ids(&routes), PUBLISHED);
    assert!(routes.iter().all(|group| group.senders.len() == 1));
    let send: Vec<Option<usize>> = (0..12).map(|id| send(&routes, id)).collect();
    assert_eq!(send[..4], [None, Some(0), Some(1), Some(2)]);
    assert!(send[4..].iter().all(Option::is_none));
    let receive: Vec<usize> = (0..12).map(|id| receive(&routes, id).unwrap()).collect();
    assert_eq!(receive, [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2]);
}

#[test]
fn every_member_sends_in_and_receives_in_at_most_one_group() {
    let (from, to) = published();
    let routes = from.broadcast_to(&to).unwrap();
    for id in 0..12 {
        let count = |ids: fn(&BroadcastGroup) -> &Vec<usize>| {
            routes.iter().filter(|group| ids(group).contains(&id)).count()
        };
        assert!(count(|group| &group.senders) <= 1 && count(|group| &group.receivers) <= 1);
    }
    // Members 1 and 2 keep a copy of their own; member 3 sends in one group and receives in another.
    assert_eq!((send(&routes, 1), receive(&routes, 1)), (Some(0), Some(0)));
    assert_eq!((send(&routes, 2), receive(&routes, 2)), (Some(1), Some(1)));
    assert_eq!((send(&routes, 3), receive(&routes, 3)), (Some(2), Some(1)));
}

#[test]
fn teams_may_be_disjoint_overlap_or_be_equal() {
    let four = team(&[4, 5, 6, 7], &[2, 2]);
    let apart = team(&[1, 2], &[1, 2]).broadcast_to(&four).unwrap();
    assert_eq!(ids(&apart), [[1, 4, 6], [2, 5, 7]]);
    let overlap = team(&[5, 0], &[1, 2]).broadcast_to(&four).unwrap();
    assert_eq!(ids(&overlap), [vec![5, 4, 6], vec![0, 5, 7]]);
    assert_eq!((send(&overlap, 5), receive(&overlap, 5)), (Some(0), Some(1)));
    let equal = four.broadcast_to(&four).unwrap();
    assert_eq!(ids(&equal), [[4], [5], [6], [7]]);
}

#[test]
fn broadcast_shapes_follow_the_broadcast_rules() {
    let to = team(&(0..12).collect::<Vec<_>>(), &[2, 3, 2]);
    let from = |shape: &[i64]| {
        let size = shape.iter().product::<i64>() as usize;
        team(&(20..20 + size).collect::<Vec<_>>(), shape).broadcast_to(&to)
    };
    for shape in [&[2][..], &[1], &[3, 1], &[3, 2], &[2, 1, 2], &[1, 1, 1]] {
        assert!(from(shape).is_ok(), "{shape:?}");
    }
    for shape in [&[3][..], &[2, 2], &[1, 2, 1], &[1, 2, 3, 2], &[1, 1, 1, 1]] {
        assert_eq!(from(shape).unwrap_err().kind, ErrorKind::Team, "{shape:?}");
    }
    // Padded with 1 on the left: the pair is divided along the last dimension.
    assert_eq!(receive(&from(&[2]).unwrap(), 6), Some(0));
    assert_eq!(receive(&from(&[2]).unwrap(), 7), Some(1));
    let text = from(&[3]).unwrap_err().to_string();
    assert!(text.contains("extents, from the last on, are 1 or those of (2, 3, 2), given (3)"), "{text}");
}

#[test]
fn sum_reduce_routes_are_broadcast_routes_reversed() {
    let (to, from) = published();
    let routes = from.sum_reduce_to(&to).unwrap();
    assert_eq!(ids(&routes), PUBLISHED);
    let send: Vec<usize> = (0..12).map(|id| send(&routes, id).unwrap()).collect();
    assert_eq!(send, [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2]);
    let receive: Vec<Option<usize>> = (0..12).map(|id| receive(&routes, id)).collect();
    assert_eq!(receive[..5], [None, Some(0), Some(1), Some(2), None]);
    // Each root's own share is added once, and member 3's goes elsewhere.
    let values: BTreeMap<usize, i64> = (0..12).map(|id| (id, 1i64 << id)).collect();
    let sums = travel(&routes, &values);
    assert_eq!(sums[&1], 1 + (1 << 1) + (1 << 6) + (1 << 7));
    assert_eq!(sums[&2], (1 << 2) + (1 << 3) + (1 << 8) + (1 << 9));
    assert_eq!(sums[&3], (1 << 4) + (1 << 5) + (1 << 10) + (1 << 11));
    assert!(to.sum_reduce_to(&from).is_err());
}

#[test]
fn all_sum_reduce_routes_match_the_published_example() {
    let (_, all) = published();
    let routes = all.all_sum_reduce(&[0, 2]).unwrap();
    assert_eq!(ids(&routes), [[0, 1, 6, 7], [2, 3, 8, 9], [4, 5, 10, 11]]);
    assert!(all.all_sum_reduce(&[3]).is_err());
    assert_eq!(ids(&all.all_sum_reduce(&[0, 1, 2]).unwrap()), [(0..12).collect::<Vec<_>>()]);
}
