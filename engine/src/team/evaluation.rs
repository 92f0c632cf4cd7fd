//! Evaluations that share a device come one after the other.

use std::sync::Mutex;

use super::handle::Team;
use crate::device::{Device, DeviceLocks};

impl Team {
    /// Holds what an evaluation on this team needs, see [`evaluation`].
    pub(crate) fn evaluation(&self) -> DeviceLocks<'_> {
        DeviceLocks::take(self.locks())
    }

    /// The locks of an evaluation on this team: those of its devices. Of a team over several ranks it is the
    /// one of this rank's end of the wire, whether the rank has members or not. Evaluations there are
    /// collective and must come in one order on all ranks, so no two run at once on any of its teams; and
    /// ranks that are threads of one process may share a device, which one of them must not hold while it
    /// waits for another. Their arrays cannot meet: teams of different ranks are never equal.
    fn locks(&self) -> impl Iterator<Item = &Mutex<()>> + Clone {
        let (wire, devices) = match self.wire() {
            Some(ranks) => (Some(ranks.turn()), &[][..]),
            None => (None, self.own_devices()),
        };
        wire.into_iter().chain(devices.iter().map(Device::lock))
    }
}

/// Holds what an evaluation on some teams needs, until dropped: evaluations that share a device come one
/// after the other, whichever teams they are on, because arrays of equal teams that were made apart can be
/// mixed.
pub(crate) fn evaluation<'t>(teams: impl Iterator<Item = &'t Team> + Clone) -> DeviceLocks<'t> {
    DeviceLocks::take(teams.flat_map(Team::locks))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::evaluation;
    use crate::device::DeviceLocks;
    use crate::prelude::*;
    use crate::wire::threads;

    /// Whether another thread evaluates on a team while this one evaluates.
    fn beside(held: DeviceLocks<'_>, other: &Team) -> bool {
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            scope.spawn(move || {
                let _held = other.evaluation();
                sender.send(())
            });
            let is_there = receiver.recv_timeout(Duration::from_millis(100)).is_ok();
            drop(held);
            is_there || receiver.recv().is_err()
        })
    }

    #[test]
    fn evaluations_exclude_each_other_exactly_where_they_share_a_device() {
        let [a, b, c] = [(); 3].map(|()| Device::host());
        let team = |members: &[&Device]| Team::of(members.iter().copied().cloned().collect()).unwrap();
        let (on_a, on_ab) = (team(&[&a, &a]), team(&[&b, &a, &b]));
        let equal = team(&[&a, &a]);
        assert_eq!(on_a, equal);
        assert!(!beside(on_a.evaluation(), &equal), "equal teams made apart");
        assert!(!beside(on_a.evaluation(), &on_ab), "teams that overlap");
        assert!(
            !beside(on_ab.evaluation(), &on_ab.of_members(&[1]).unwrap()),
            "a team and some of its members"
        );
        assert!(!beside(evaluation([&team(&[&c]), &on_a].into_iter()), &on_ab), "two teams at once");
        assert!(beside(on_a.evaluation(), &team(&[&b, &c])), "different devices");
        assert!(beside(on_ab.of_members(&[0]).unwrap().evaluation(), &on_a), "different members");
    }

    #[test]
    fn an_evaluation_within_another_one_goes_on_and_lets_nobody_in_when_it_ends() {
        let team = Team::on(&[Device::host()], 2).unwrap();
        let outer = team.evaluation();
        drop(team.evaluation());
        assert!(!beside(outer, &team));
    }

    #[test]
    fn threads_that_take_devices_in_different_orders_do_not_wait_for_each_other() {
        let [a, b, c] = [(); 3].map(|()| Device::host());
        let teams = [[&a, &b, &c], [&c, &a, &b], [&b, &c, &a], [&c, &b, &a]];
        let teams = teams.map(|members| Team::of(members.map(Device::clone).to_vec()).unwrap());
        thread::scope(|scope| {
            for team in &teams {
                scope.spawn(move || {
                    for _ in 0..2000 {
                        drop(team.evaluation());
                    }
                });
            }
        });
    }

    #[test]
    fn ranks_on_one_device_do_not_wait_for_each_other_and_all_teams_of_a_rank_do() {
        let device = Device::host();
        let ends = threads::run(2, |ranks| {
            let world = Team::over(&ranks, std::slice::from_ref(&device), 2).unwrap();
            // Of the second one's members rank 1 has none, of the first one's rank 0 has none.
            let [theirs, ours] = [[2, 3], [0, 1]].map(|members| world.of_members(&members).unwrap());
            assert!(!beside(world.evaluation(), &ours) && !beside(ours.evaluation(), &theirs));
            // Computing is a conversation of the ranks, each of which has the device's memory in use.
            let dist = Distribution::builder(&[40]).parts(4).halo(&[1], &[1]).build().unwrap();
            let u = Array::from_fn(&world, &dist, |at| at[0] as i32).unwrap();
            (u.slice(&s![1..]) + u.slice(&s![..-1])).to_vec::<i32>().unwrap()
        });
        let expected: Vec<i32> = (0..39).map(|at| 2 * at + 1).collect();
        for end in ends {
            assert_eq!(end.unwrap(), expected);
        }
    }
}
