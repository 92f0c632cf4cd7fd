//! `explain` predicts what runs: kernels, messages, bytes; and its drawing.
#![allow(missing_docs, clippy::unwrap_used)]

use partita::array::Outline;
use partita::array::record;
use partita::prelude::*;
use partita::program::{Command, Op};

fn array(team: &Team, dist: &Distribution) -> Array {
    Array::from_fn(team, dist, |at| at.iter().fold(3, |n, i| (5 * n + i) % 127) as f32).unwrap()
}

/// What is said to run, after checking it against what runs.
fn checked(array: &Array, what: &str) -> Outline {
    let team = array.team();
    let before = team.messages();
    let said = array.explain().unwrap();
    assert_eq!(said, array.explain().unwrap(), "{what}: telling leaves no trace");
    assert_eq!(team.messages(), before, "{what}: telling sends nothing");
    let schedule = record(|| array.eval()).unwrap();
    let launches = |name: &str| {
        let named = |command: &&Command| match &command.op {
            Op::Launch { job, .. } => job.program.kernel().kernel().name == name,
            _ => false,
        };
        schedule.iter().filter(named).count()
    };
    for name in ["fused", "reduce"] {
        let kernels = said.kernels.iter().filter(|kernel| kernel.name == name);
        let parts: usize =
            kernels.map(|kernel| kernel.cells.iter().filter(|&&cells| cells > 0).count()).sum();
        assert_eq!(parts, launches(name), "{what}: {name}\n{said}");
    }
    let exchanges = || said.kernels.iter().flat_map(|kernel| &kernel.exchanges);
    let links = exchanges().flat_map(|e| &e.links).filter(|link| link.from_part != link.to_part);
    let moves: usize = links.map(|link| link.moves).sum();
    let reductions = said.kernels.iter().filter(|kernel| kernel.name == "reduce").count();
    let sent = (team.messages() - before) as usize;
    let own = reductions * (team.size() - 1);
    assert!((moves..=moves + own).contains(&sent), "{what}: {moves} moves said, {sent} sent\n{said}");
    assert!(array.explain().unwrap().kernels.is_empty(), "{what}: computed");
    said
}

#[test]
fn what_is_said_to_run_runs() {
    let team = Team::on(&[Device::host()], 4).unwrap();
    let dist = Distribution::default_partition(4, &[40, 10]).unwrap();
    let columns = Distribution::builder(&[40, 10]).grid(&[1, 4]).build().unwrap();
    let (u, v) = (array(&team, &dist), array(&team, &columns));
    let stencil = u.slice(&s![1..-1]) * -2.0 + u.slice(&s![..-2]) + u.slice(&s![2..]);
    let said = checked(&stencil, "stencil");
    let kernel = &said.kernels[0];
    // 38 x 10 cells; each of the three inner borders is crossed both ways by a row of 10 floats.
    assert_eq!((kernel.cells.iter().sum::<u64>(), kernel.written_bytes), (380, 1520));
    assert_eq!((said.exchanged_bytes(), kernel.operations), (240, 3));
    assert_eq!((kernel.read_bytes, kernel.core.iter().sum::<u64>()), ((40 + 6) * 40, 320));
    // Its halo is current now, so nothing travels for another.
    let again = checked(&(u.slice(&s![..-2]) - u.slice(&s![1..-1])), "a halo that is current");
    assert_eq!(again.exchanged_bytes(), 0);
    checked(&(&u + &v.flip(0)), "another layout");
    checked(&(&u / u.sum(&[])), "a reduction on the way");
    let of = |k: f64| v.slice(&s![..; 2]) * k;
    checked(&(u.slice(&s![1..; 2]) + (of(1.0) + of(2.0) + v.slice(&s![1..; 2]))), "the cheaper direction");
    let both = u.slice(&s![1..; 2]) + (v.slice(&s![1..; 2]) - v.slice(&s![..; 2]));
    let said = checked(&both, "two steps that are one box");
    assert_eq!(said.kernels[0].exchanges.len(), 1, "{said}");
    let (a, b) = (array(&team, &dist), u.transpose(&[1, 0]));
    let chain = (0..2000).fold(a.slice(&s![1..]) + 1.0, |x, _| x * 0.5 + a.slice(&s![..-1]));
    let said = checked(&chain, "too long for one kernel");
    assert!(said.kernels.len() > 1 && said.exchanged_bytes() == 120, "{said}");
    checked(&(&b + 1.0), "at home");
    let far = checked(&u.gathered(&[3], &[399, 0, 200]).unwrap(), "elements by number");
    assert!(far.exchanged_bytes() > 0, "{far}");
    let far = checked(&u.cumulative_sum(0), "a scan along the axis that is cut");
    assert!(far.exchanged_bytes() > 0, "{far}");
    let far = checked(&v.reshaped(&[400]).unwrap(), "another shape of what is cut elsewhere");
    assert!(far.exchanged_bytes() > 0, "{far}");
}

#[test]
fn outlines_are_read() {
    let team = Team::on(&[Device::host()], 3).unwrap();
    let u = array(&team, &Distribution::default_partition(3, &[30, 10]).unwrap());
    let said = (u.slice(&s![1..-1]) + u.slice(&s![2..])).explain().unwrap();
    let text = "plan halo of f32 (30, 10): 80 bytes over 2 links\n  \
                1 -> 0: 40 bytes\n  \
                2 -> 1: 40 bytes\n\
                kernel fused on 3 parts (shape (28, 10), grid (3, 1)): 1240 bytes read, 1120 written, \
                280 operations\n  \
                260 of 280 cells need nothing of what travels between ranks or devices";
    assert_eq!(said.to_string(), text);
    assert_eq!(u.explain().unwrap().to_string(), "computed: nothing will run");
}
