//! Memory lent to be written, over ranks: who has the value keeps it, and the next stencil sees what was
//! written on other ranks.
#![allow(clippy::unwrap_used)]

#[path = "raw_access/lent.rs"]
mod lent;

use lent::overwrite;
use partita::Result;
use partita::prelude::*;
use partita::wire::threads;

/// What was recorded and copied before, and stencils of what was written twice.
fn program(team: &Team) -> Result<Vec<Vec<i64>>> {
    let dist = Distribution::builder(&[23]).parts(team.size()).halo(&[1], &[1]).build()?;
    let mut u = Array::from_fn(team, &dist, |at| at[0])?;
    let sums = |u: &Array| u.slice(&s![..-2]) + u.slice(&s![2..]);
    let (copy, recorded) = (u.clone(), sums(&u));
    let lent = u.writable()?;
    lent.parts().iter().try_for_each(|part| overwrite(part, |at| 100 - at * at))?;
    lent.end()?;
    let first = sums(&u);
    first.eval()?;
    u.writable()?.parts().iter().try_for_each(|part| overwrite(part, |at| 7 * at))?;
    [&copy, &recorded, &first, &sums(&u), &u].into_iter().map(Array::to_vec).collect()
}

#[test]
fn values_stay_and_stencils_see_what_was_written() {
    let sums = |of: fn(i64) -> i64| (1..22).map(|at| of(at - 1) + of(at + 1)).collect::<Vec<i64>>();
    let all = |of: fn(i64) -> i64| (0..23).map(of).collect::<Vec<i64>>();
    let expected =
        [all(|at| at), sums(|at| at), sums(|at| 100 - at * at), sums(|at| 7 * at), all(|at| 7 * at)];
    for parts in [1, 3, 4] {
        assert_eq!(program(&Team::on(&[Device::host()], parts).unwrap()).unwrap(), expected, "{parts} parts");
    }
    for (ranks, parts) in [(2, 1), (3, 2)] {
        for result in threads::run(ranks, |ranks| program(&Team::over(&ranks, &[Device::host()], parts)?)) {
            assert_eq!(result.unwrap().unwrap(), expected, "{ranks} ranks of {parts} parts");
        }
    }
}

#[test]
fn what_cannot_be_lent_stays_as_it_is() {
    let team = Team::on(&[Device::host()], 2).unwrap();
    let replicated = Distribution::builder(&[4]).parts(2).replicated(0).build().unwrap();
    let mut u = Array::from_fn(&team, &replicated, |at| at[0]).unwrap();
    let error = u.writable().err().unwrap();
    assert!(error.to_string().contains("replicated"), "{error}");
    assert_eq!(u.to_vec::<i64>().unwrap(), [0, 1, 2, 3]);
}

#[test]
fn written_arrays_keep_their_domains() {
    let team = Team::on(&[Device::host()], 2).unwrap();
    let domain = Domain::new(&[IndexRange::new(2, -3, -1).unwrap()]).unwrap();
    let dist = Distribution::default_partition(2, &[5]).unwrap();
    let mut u = Array::from_fn(&team, &dist, |at| at[0]).unwrap().over(&domain);
    u.writable().unwrap().parts().iter().try_for_each(|part| overwrite(part, |at| 7 * at)).unwrap();
    assert_eq!((u.domain(), u.get_at(&[-2]).unwrap()), (domain, 28i64.into()));
}
