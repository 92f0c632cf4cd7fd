//! Replicated descriptions, and bulk assignments between arrays.

#![allow(clippy::unwrap_used)]

mod model;

use std::any::Any;
use std::sync::Arc;

use model::{Hooks, ModelArray};
use partita::index::{
    Bulk, BulkTransfer, Call, Distribution, Domain, DomainMap, ErrorKind, IndexRange, IterationChunk,
    MappedDomain, Replicas, Result, assign, assign_converted, paired_dimensions,
};

fn domain<const N: usize>(ranges: [(i64, i64, i64); N]) -> Domain {
    let range = |(start, stop, stride)| IndexRange::new(start, stop, stride).unwrap();
    Domain::new(&ranges.map(range)).unwrap()
}

fn mapped(dist: Distribution, indices: Domain) -> MappedDomain {
    MappedDomain::new(Arc::new(dist), indices)
}

/// A user's map with the required methods only.
#[derive(Debug)]
struct Plain;

impl DomainMap for Plain {
    fn name(&self) -> &str {
        "plain"
    }

    fn parts(&self) -> usize {
        1
    }

    fn divide(&self, whole: &Domain) -> Result<Vec<IterationChunk>> {
        Ok(vec![IterationChunk { part: 0, dense: whole.densify(whole)? }])
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[test]
fn privatization_is_optional_and_assigns_the_id() {
    let dist = Distribution::default_partition(3, &[6]).unwrap();
    assert!(dist.supports_privatization() && !Plain.supports_privatization());
    let mut copies = Replicas::new(dist, 1, 3);
    assert_eq!((copies.pid(), copies.privatized()), (-1, false));
    copies.privatize(|_| ()).unwrap();
    assert!(copies.pid() >= 0 && copies.privatized());
    let plain: Arc<dyn DomainMap> = Arc::new(Plain);
    let error = Replicas::new(plain, 0, 2).privatize(|_| ()).unwrap_err().to_string();
    assert!(error.contains("`privatize`") && error.contains("`plain`"), "{error}");
}

#[test]
fn one_message_makes_one_replica() {
    let mut copies = Replicas::new(Distribution::default_partition(3, &[6]).unwrap(), 0, 3);
    // Without copies, everyone else has to ask.
    copies.at(2).unwrap();
    copies.at(0).unwrap();
    assert_eq!(copies.messages(), 1);
    copies.privatize(|_| ()).unwrap();
    assert_eq!(copies.messages(), 3);
    (0..3).for_each(|member| assert_eq!(copies.at(member).unwrap(), copies.at(0).unwrap()));
    assert_eq!(copies.messages(), 3);
}

/// A distribution and a domain over it, copied to all members in that order.
fn privatized(indices: Domain, dist: Distribution) -> (Replicas<Arc<dyn DomainMap>>, Replicas<MappedDomain>) {
    let members = dist.parts();
    let mut maps: Replicas<Arc<dyn DomainMap>> = Replicas::new(Arc::new(dist), 0, members);
    maps.privatize(|_| ()).unwrap();
    let original = MappedDomain::new(maps.at(0).unwrap().clone(), indices);
    let mut domains = Replicas::new(original, 0, members);
    domains.privatize(|member| maps.at(member).unwrap().clone()).unwrap();
    (maps, domains)
}

#[test]
fn reprivatization_carries_changed_indices_to_every_replica() {
    let dist = Distribution::builder(&[6]).parts(3).cyclic(0, 1).build().unwrap();
    let (_, mut domains) = privatized(domain([(0, 6, 1)]), dist);
    let before = domains.messages();
    // Any member may be the one that changes it.
    domains.update(2, |domain| domain.set_indices(self::domain([(3, 12, 1)])).map(|_| ())).unwrap();
    assert_eq!(domains.messages() - before, 2);
    for member in 0..3 {
        let domain = domains.at(member).unwrap();
        assert_eq!((domain.indices(), domains.version_at(member)), (&self::domain([(3, 12, 1)]), 1));
        assert_eq!((domain.version(), domain.index_to_part(&[5]).unwrap()), (1, 2));
    }
    // What is refused changes nobody.
    let wrong = self::domain([(0, 1, 1), (0, 1, 1)]);
    assert!(domains.update(1, |domain| domain.set_indices(wrong).map(|_| ())).is_err());
    assert!((0..3).all(|member| domains.version_at(member) == 1));
}

#[test]
fn replicas_of_domains_refer_to_replicas_of_maps() {
    let (maps, domains) = privatized(domain([(0, 6, 1)]), Distribution::default_partition(3, &[6]).unwrap());
    for member in 0..3 {
        let map = domains.at(member).unwrap().map().unwrap();
        assert!(Arc::ptr_eq(map, maps.at(member).unwrap()));
        assert!(member == 0 || !Arc::ptr_eq(map, maps.at(0).unwrap()));
    }
}

#[test]
fn an_owned_access_communicates_nothing() {
    let dist = Distribution::builder(&[4, 6]).grid(&[2, 2]).cyclic(1, 2).build().unwrap();
    let (maps, domains) = privatized(domain([(0, 4, 1), (10, 4, -1)]), dist);
    let array = ModelArray::new(domains.at(0).unwrap(), |index| index[0] * index[1]);
    let messages = || maps.messages() + domains.messages() + array.messages.get();
    let before = messages();
    for member in 0..4 {
        let mine = domains.at(member).unwrap();
        for index in mine.indices().iter().filter(|index| mine.index_to_part(index).unwrap() == member) {
            assert_eq!(array.read_at(member, mine, &index), index[0] * index[1]);
        }
    }
    assert_eq!(messages(), before);
    // The counter does count: someone else's element costs a message.
    array.read_at(0, domains.at(0).unwrap(), &[3, 5]);
    assert_eq!(messages(), before + 1);
}

fn line_array(offset: i64, hooks: Hooks) -> ModelArray<i64> {
    let dist = Distribution::builder(&[6]).parts(2).cyclic(0, 1).build().unwrap();
    let mut array = ModelArray::new(&mapped(dist, domain([(0, 6, 1)])), |index| offset + index[0]);
    array.hooks = hooks;
    array
}

const ORDERS: [BulkTransfer; 3] = [BulkTransfer::Off, BulkTransfer::FromFirst, BulkTransfer::ToFirst];

#[test]
fn bulk_transfer_hooks_in_all_orders_give_equal_data() {
    let hooks = [(false, false), (true, false), (false, true), (true, true)];
    let (to_indices, from_indices) = (domain([(1, 5, 1)]), domain([(5, 1, -1)]));
    for (known, any) in hooks {
        for (known_there, any_there) in hooks {
            for order in ORDERS {
                let mut to = line_array(0, Hooks { known, any, ..Hooks::default() });
                let from = line_array(100, Hooks { known: known_there, any: any_there, ..Hooks::default() });
                let done = assign(&mut to, &to_indices, &from, &from_indices, order).unwrap();
                assert_eq!(to.values(), [0, 105, 104, 103, 102, 5]);
                let able = known || any || known_there || any_there;
                assert_eq!(done, able && order != BulkTransfer::Off);
            }
        }
    }
}

#[test]
fn typed_transfer_hooks_are_tried_before_generic_ones() {
    let mut to = line_array(0, Hooks { any: true, ..Hooks::default() });
    let from = line_array(100, Hooks { known: true, ..Hooks::default() });
    let all = domain([(0, 6, 1)]);
    assert!(assign(&mut to, &all, &from, &all, BulkTransfer::FromFirst).unwrap());
    // One unsuccessful `Known` here, then the other's; no `Any`.
    assert_eq!((to.calls.get(), from.calls.get()), (1, 1));
}

#[test]
fn bulk_transfers_check_sizes_and_ranks() {
    let (mut to, from) = (line_array(0, Hooks::default()), line_array(9, Hooks::default()));
    let line = |n: i64| domain([(0, n, 1)]);
    let plane = domain([(0, 2, 1), (0, 2, 1)]);
    let mut kind = |a: &Domain, b: &Domain| {
        assign(&mut to, a, &from, b, BulkTransfer::ToFirst).map_err(|error| error.kind)
    };
    assert_eq!(kind(&line(4), &line(3)), Err(ErrorKind::Size));
    assert_eq!(kind(&plane, &line(4)), Err(ErrorKind::Rank));
    assert_eq!(kind(&line(4), &plane), Err(ErrorKind::Rank));
    assert_eq!(kind(&line(4), &line(4)), Ok(false));
}

#[test]
fn transfer_hooks_run_only_for_plain_values_of_one_type() {
    let all = domain([(0, 6, 1)]);
    let able = Hooks { known: true, any: true, ..Hooks::default() };
    let mut to = line_array(0, Hooks { not_plain: true, ..able });
    let from = line_array(100, able);
    assert!(!assign(&mut to, &all, &from, &all, BulkTransfer::ToFirst).unwrap());
    assert_eq!((to.values(), to.calls.get(), from.calls.get()), (from.values(), 0, 0));
    let dist = Distribution::default_partition(2, &[6]).unwrap();
    let mut real = ModelArray::new(&mapped(dist, all.clone()), |_| 0.0f64);
    real.hooks = able;
    assign_converted(&mut real, &all, &from, &all, |value: i64| value as f64).unwrap();
    assert_eq!(real.values(), [100.0, 101.0, 102.0, 103.0, 104.0, 105.0]);
    assert_eq!((real.calls.get(), from.calls.get()), (0, 0));
}

#[test]
fn hooks_that_only_forward_to_each_other_terminate() {
    let all = domain([(0, 6, 1)]);
    let hooks = Hooks { hand_on: true, ..Hooks::default() };
    for order in ORDERS {
        let (mut to, from) = (line_array(0, hooks), line_array(100, hooks));
        assert!(!assign(&mut to, &all, &from, &all, order).unwrap());
        assert_eq!(to.values(), from.values());
    }
}

/// A window on another array, which forwards `Known` transfers and has no `Any` ones.
struct Window<'a> {
    of: &'a mut ModelArray<i64>,
    offset: i64,
}

impl Bulk<i64> for Window<'static> {
    fn rank(&self) -> usize {
        1
    }
    fn read(&self, index: &[i64]) -> i64 {
        self.of.read(&[index[0] + self.offset])
    }
    fn write(&mut self, index: &[i64], value: i64) {
        self.of.write(&[index[0] + self.offset], value);
    }
    fn as_any(&self) -> &dyn Any {
        self.of.as_any()
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self.of.as_any_mut()
    }
    fn receive_known(&mut self, call: Call, mine: &Domain, other: &dyn Bulk<i64>, theirs: &Domain) -> bool {
        self.of.receive_known(call, &mine.shift(&[self.offset]).unwrap(), other, theirs)
    }
}

#[test]
fn aliasing_arrays_forward_typed_transfers() {
    let target = Box::leak(Box::new(line_array(0, Hooks { known: true, ..Hooks::default() })));
    let mut window = Window { of: target, offset: 2 };
    let from = line_array(100, Hooks::default());
    let done =
        assign(&mut window, &domain([(0, 3, 1)]), &from, &domain([(1, 4, 1)]), BulkTransfer::FromFirst);
    assert!(done.unwrap());
    assert_eq!(window.of.values(), [0, 1, 101, 102, 103, 5]);
    assert_eq!(window.of.calls.get(), 1);
}

#[test]
fn transfers_between_ranks_are_opt_in() {
    let able = Hooks { known: true, ..Hooks::default() };
    let dist = Distribution::builder(&[10, 10]).grid(&[2, 2]).build().unwrap();
    let plane = mapped(dist, domain([(1, 11, 1), (1, 11, 1)]));
    let array = |hooks| {
        let mut array = ModelArray::new(&plane, |index| 100 * index[0] + index[1]);
        array.hooks = hooks;
        array
    };
    // A[.., 1] = B[1, ..]: indices {1..10, 1..1} and {1..1, 1..10}.
    let (column, row) = (domain([(1, 11, 1), (1, 2, 1)]), domain([(1, 2, 1), (1, 11, 1)]));
    assert_eq!(paired_dimensions(&column, &row), Some(vec![(0, 1)]));
    assert_eq!(paired_dimensions(&column, &domain([(1, 11, 1)])), Some(vec![(0, 0)]));
    assert_eq!(paired_dimensions(&column, &domain([(1, 6, 1), (1, 3, 1)])), None);
    let (mut a, b) = (array(able), array(able));
    assert!(assign(&mut a, &column, &b, &row, BulkTransfer::ToFirst).unwrap());
    assert!((1..=10).all(|i| a.read(&[i, 1]) == 100 + i));
    // Arrays of different rank: only after both say that they can.
    for rank_change in [false, true] {
        let hooks = Hooks { rank_change, ..able };
        let (mut a, mut b) = (array(hooks), line_array(7, hooks));
        let done =
            assign(&mut a, &domain([(2, 8, 1), (1, 2, 1)]), &b, &domain([(0, 6, 1)]), BulkTransfer::ToFirst);
        assert_eq!(done.unwrap(), rank_change);
        assert_eq!((a.read(&[2, 1]), a.read(&[7, 1])), (7, 12));
        assert_eq!(*b.access(&[0]), 7);
    }
}
