//! `explain` predicts what runs: kernels, messages, bytes; and its drawing.
#![allow(missing_docs, clippy::unwrap_used)]

use partita::Result;
mod wires;

use std::sync::atomic::Ordering;

use partita::array::Outline;
use partita::array::record;
use partita::fourier::{Direction, transformed};
use partita::operators::{Boundary, laplacian};
use partita::prelude::*;
use partita::program::{Command, Op, Transport};
use partita::transport::{LinkDevice, LinkFigures, LinkReport, MeasuredLink};

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
    assert_eq!(moves as u64, team.messages() - before, "{what}: moves said, and sent\n{said}");
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
    // A copy comes first: to memory with room for halos.
    let [copy, kernel] = &said.kernels[..] else { panic!("{said}") };
    assert_eq!((&copy.name[..], copy.cells.iter().sum::<u64>()), ("copy_box", 400));
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
    let far = checked(&u.gather(&[3], &[399, 0, 200]), "elements by number");
    assert!(far.exchanged_bytes() > 0, "{far}");
    let far = checked(&u.cumulative_sum(0), "a scan along the axis that is cut");
    assert!(far.exchanged_bytes() > 0, "{far}");
    let far = checked(&v.reshape(&[400]), "another shape of what is cut elsewhere");
    assert!(far.exchanged_bytes() > 0, "{far}");
}

#[test]
fn outlines_are_read() {
    let team = Team::on(&[Device::host()], 3).unwrap();
    let u = array(&team, &Distribution::default_partition(3, &[30, 10]).unwrap());
    let said = (u.slice(&s![1..-1]) + u.slice(&s![2..])).explain().unwrap();
    let text = "kernel copy_box on 3 parts (shape (30, 10), grid (3, 1)): 1200 bytes read, 1200 written, \
                0 operations\n\
                plan halo of f32 (30, 10): 80 bytes over 2 links\n  \
                1 -> 0: 40 bytes, kernel\n  \
                2 -> 1: 40 bytes, kernel\n\
                kernel fused on 3 parts (shape (28, 10), grid (3, 1)): 1240 bytes read, 1120 written, \
                280 operations\n  \
                260 of 280 cells need nothing of what travels between ranks or devices";
    assert_eq!(said.to_string(), text);
    assert_eq!(u.explain().unwrap().to_string(), "computed: nothing will run");
    // Members of both teams are on one device.
    let pair = Team::on(&team.devices(), 2).unwrap();
    let moved = u.move_to(&pair, &Distribution::default_partition(2, &[30, 10]).unwrap());
    let said = moved.explain().unwrap().to_string();
    assert!(said.contains(": 600 bytes over 2 links, from 3 members"), "{said}");
    assert!(said.contains("\n  1 -> 0: 200 bytes, kernel\n  2 -> 1: 400 bytes, kernel\n"), "{said}");
}

type Case = (&'static str, fn(&Array, &Array) -> Result<Array>);

/// Operations on `u`, whose rows are divided, and `v` of the same shape, 12 x 12, whose columns are.
const MOVING: &[Case] = &[
    ("a stencil", |u, _| Ok(u.slice(&s![2..]) + u.slice(&s![..-2]) - u.slice(&s![1..-1]))),
    ("a distant row", |u, _| Ok(u.slice(&s![5..]) + u.slice(&s![..-5]))),
    ("another layout", |u, v| Ok(u * v)),
    ("a flip", |u, _| Ok(u + &u.flip(0))),
    ("every third", |u, v| Ok(u.slice(&s![..; 3, ..; 3]) + v.slice(&s![1..; 3, 2..; 3]))),
    ("a transposition", |u, _| Ok(u - &u.transpose(&[1, 0]))),
    ("a roll", |u, _| Ok(u.roll(&[7, 2]))),
    ("a row", |u, _| Ok(u + &u.slice(&s![3..4]))),
    ("a column at home", |u, _| Ok(u + &u.slice(&s![.., 3..4]))),
    ("the diagonal", |u, _| Ok(u.diagonal(0) + u.slice(&s![0, ..]))),
    ("all", |u, _| Ok(u.sum(&[]))),
    ("rows", |u, _| Ok(u.max(&[1]))),
    ("columns", |u, _| Ok(u.prod(&[0]))),
    ("all without axes", |u, _| Ok(u.sum(&[]).squeeze(&[0, 1]))),
    ("a number for all", |u, _| Ok(u - u.mean(&[]).squeeze(&[0, 1]))),
    ("an element of each", |u, v| Ok(u.slice(&s![1, 2]) + v.slice(&s![0, 11]))),
    ("an element for all", |u, _| Ok(u + &u.slice(&s![7, 7]))),
    ("an element at home", |u, _| Ok(u.slice(&s![11, 3]) * 2.0)),
    ("columns without an axis", |u, _| Ok(u.min(&[0]).squeeze(&[0]))),
    ("a position", |u, _| Ok(u.argmax(Some(0)))),
    ("a norm", |u, _| Ok(u / (u * u).sum(&[]).sqrt())),
    ("an exact sum", |u, _| Ok(u.sum_reproducible(&[]))),
    ("a scan", |u, _| Ok(u.cumulative_sum(0))),
    ("a product along columns", |_, v| Ok(v.cumulative_prod(1))),
    ("a scan at home", |_, v| Ok(v.cumulative_sum(0))),
    ("a sort", |u, _| Ok(u.sort(0, false))),
    ("positions in order", |_, v| Ok(v.argsort(1, true))),
    ("elements by number", |u, _| Ok(u.gather(&[5], &[143, 0, 77, 77, 12]))),
    ("another shape", |_, v| Ok(v.reshape(&[144]))),
    ("pieces", |u, v| Ok(Array::concatenate(&[u, v], 0))),
    ("a stack", |u, v| Ok(Array::stack(&[v, u], 1))),
    ("what others have sown", |u, _| {
        let dealt = Distribution::builder(&[12, 12]).grid(&[u.team().size() as i64, 1]).cyclic(0, 2);
        Ok(u.redistribute(&dealt.build()?).slice(&s![3..8]) + u.slice(&s![3..8]))
    }),
    ("another distribution", |u, v| Ok(u.redistribute(&*v.distribution()?))),
    ("a Laplacian", |u, _| Ok(laplacian(u, &[1.0, 1.0], Boundary::Wrap))),
    ("a transform", |u, _| Ok(transformed(&u.reshape(&[12, 6, 2]), &[0, 1], Direction::Forward, 1.0))),
    ("a window of another layout", |u, v| Ok(u.updated(&s![1..4, 2..], &v.slice(&s![5..8, 2..])))),
    ("nearly all", |u, v| Ok(u.updated(&s![1.., ..], &v.slice(&s![1.., ..])))),
    (
        "a stencil into its window",
        |u, _| Ok(u.updated(&s![1..-1], &(u.slice(&s![2..]) + u.slice(&s![..-2])))),
    ),
    ("every third row", |u, v| Ok(u.updated(&s![..; 3, ..], &v.slice(&s![..4, ..])))),
    ("a number into a window at home", |u, _| Ok(u.updated(&s![2..9, 3], &(u.slice(&s![2..9, 4]) * 2.0)))),
    ("values at positions", |u, v| Ok(u.updated_at(&[140, 3, 77], &v.slice(&s![0, ..3])))),
    ("a window of what is dealt", |u, v| {
        let dealt = Distribution::builder(&[12, 12]).grid(&[u.team().size() as i64, 1]).cyclic(0, 2);
        Ok(u.redistribute(&dealt.build()?).updated(&s![3..8, ..], &v.slice(&s![3..8, ..])))
    }),
    ("elements at indices", |u, v| line(u)?.take(&line(v)?.cast(DType::I32))),
    ("elements of a mask", |u, v| line(u)?.compress(&line(v)?.less(60.0))),
    ("another team", |_, v| {
        let other = Partition::world(v.team())?.inclusive(&[1, 0])?.team()?;
        Ok(v.move_to(&other, &Distribution::default_partition(2, &[12, 12])?))
    }),
    ("copies", |u, _| {
        let world = Partition::world(u.team())?;
        let (root, all) =
            (world.inclusive(&[1])?.cartesian(&[1, 1])?, world.cartesian(&[u.team().size() as i64, 1])?);
        let one = Array::full(&root.team()?, &Distribution::builder(&[3, 4]).build()?, 2.0f32.into())?;
        Collective::broadcast(&root, &all)?.forward(&(one + 1.0))
    }),
    ("sums of all", |u, _| {
        let all = Partition::world(u.team())?.cartesian(&[u.team().size() as i64, 1])?;
        let sums = Collective::all_sum_reduce(&all, &[0])?;
        let sums = sums.forward(&(u + 1.0))?;
        Ok(&sums + u)
    }),
    ("halos and their adjoint", |u, _| {
        let all = Partition::world(u.team())?.cartesian(&[u.team().size() as i64, 1])?;
        let dist = u.distribution()?.with_halo(&[1, 0], &[1, 0])?;
        let padded = Array::full(u.team(), &Collective::padded(&dist)?, 1.0f32.into())?;
        let exchange = Collective::halo_exchange(&all, &dist)?;
        exchange.adjoint().forward(&exchange.forward(&padded)?)
    }),
    ("a frame at home", |u, _| Ok(u.pad(&[(1, 1), (0, 2)], Padding::Constant(1.0f32.into())))),
];

fn line(u: &Array) -> Result<Array> {
    let line = u.reshape(&[144]);
    line.eval()?;
    Ok(line)
}

/// What is said of an operation, and the bytes that ranks send when it is made and `end`ed.
fn travelled(ranks: usize, (name, of): Case, end: fn(&Array) -> Result<()>) -> (Outline, u64) {
    let (said, counts) = wires::counted(ranks, |ranks| {
        let team = Team::over(ranks, &[Device::host()], 1)?;
        let grid = |grid: [i64; 2]| Distribution::builder(&[12, 12]).grid(&grid).build();
        let parts = team.size() as i64;
        let (rows, columns) = (grid([parts, 1])?, grid([1, parts])?);
        let x = of(&array(&team, &rows), &array(&team, &columns))?;
        let said = x.explain()?;
        end(&x)?;
        Ok::<_, partita::Error>(said)
    });
    let said: Vec<Outline> = said.into_iter().map(|said| said.unwrap()).collect();
    assert!(said.iter().all(|other| *other == said[0]), "{name}: ranks differ");
    (said[0].clone(), counts.bytes.load(Ordering::SeqCst))
}

#[test]
fn what_is_said_to_travel_travels() {
    let (mut ran, mut wrong) = (0, Vec::new());
    for ranks in [2, 3] {
        for case in MOVING {
            // Ranks also compare what they make.
            let (said, made) = travelled(ranks, *case, |_| Ok(()));
            let (_, all) = travelled(ranks, *case, Array::eval);
            let sent = all - made;
            let name = case.0;
            // Each rank has one part, so all links are between ranks.
            for exchange in said.kernels.iter().flat_map(|kernel| &kernel.exchanges) {
                for (link, way) in exchange.links.iter().zip(&exchange.ways) {
                    let expected =
                        if link.from_part == link.to_part { "kernel" } else { "staged by threads" };
                    assert!(way == expected || exchange.from_team.is_some(), "{name}: {link:?}, {way}");
                }
                assert_eq!(exchange.links.len(), exchange.ways.len(), "{name}");
            }
            let stays = name.ends_with("home") || name == "rows";
            if said.exchanged_bytes() != sent || (sent == 0) != stays {
                wrong.push(format!("{name} on {ranks} ranks: {sent} bytes were sent\n{said}"));
            }
            ran += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    println!("ran: explained-bytes {ran}");
}

#[test]
fn a_reduction_without_its_axes_is_one_kernel() {
    let team = Team::on(&[Device::host()], 4).unwrap();
    for grid in [[4, 1, 1], [1, 4, 1], [2, 2, 1], [1, 2, 2]] {
        let dist = Distribution::builder(&[6, 5, 3]).grid(&grid).build().unwrap();
        let u = array(&team, &dist);
        for axes in [&[0][..], &[1], &[2], &[0, 2], &[1, 2]] {
            let (whole, dropped) = (u.max(axes), u.max(axes).squeeze(axes));
            let said = checked(&dropped, "without axes");
            assert!(said.kernels.iter().all(|kernel| kernel.name != "fused"), "{said}");
            assert_eq!(dropped.to_vec::<f32>().unwrap(), whole.to_vec::<f32>().unwrap());
            // Both share one pass; what one of them becomes later is not seen by the other.
            let (low, mut high) = (u.min(axes).squeeze(axes), u.max(axes).squeeze(axes));
            partita::eval_all(&[&low, &high]).unwrap();
            high.assign(&s![..], &low).unwrap();
            assert_eq!(high.to_vec::<f32>().unwrap(), u.min(axes).to_vec::<f32>().unwrap());
        }
    }
}

#[test]
fn what_has_steps_of_its_own_is_seen_in_another_shape_without_a_copy() {
    let team = Team::on(&[Device::host()], 3).unwrap();
    let on = |grid: &[i64]| Distribution::builder(&[12, 12]).grid(grid).build().unwrap();
    let (u, columns) = (array(&team, &on(&[3, 1])), on(&[1, 3]));
    let rows = |x: &Array| x.to_vec::<f32>().unwrap();
    for whole in [u.cumulative_sum(1), array(&team, &columns).redistribute(&on(&[3, 1]))] {
        let other = whole.reshape(&[3, 4, 12]);
        let said = checked(&other, "another shape");
        assert!(said.kernels.iter().all(|kernel| !["fused", "reshape"].contains(&&*kernel.name)), "{said}");
        assert_eq!(rows(&other), rows(&whole));
    }
}

#[test]
fn a_failed_link_and_odd_names_are_said() {
    let way = |arrived| LinkFigures { transport: Transport::Peer, latency: 2e-6, bandwidth: 3e9, arrived };
    let mut report = LinkReport {
        rank: 0,
        ranks: 1,
        wire: None,
        devices: vec![LinkDevice { rank: 0, name: "a \"GPU\"\n".to_owned(), numa_node: Some(1) }],
        links: vec![MeasuredLink { ends: [0, 0], ways: vec![way(true)], reason: "it is".to_owned() }],
        bytes: [8, 1 << 24],
        is_simulated: true,
        warnings: vec!["slow".to_owned()],
    };
    assert!(report.all_arrived());
    report.links[0].ways.push(way(false));
    assert!(!report.all_arrived() && report.to_string().contains("FAILED"), "{report}");
    let json = report.to_json();
    for word in ["\"a \\\"GPU\\\"\\u000a\"", "\"gb_per_s\": 3.0000", "\"arrived\": false", "[8, 16777216]"] {
        assert!(json.contains(word), "{word}: {json}");
    }
    let here = LinkReport::measure(&[Device::host(), Device::host()]).unwrap();
    let chosen: Vec<Transport> = here.links.iter().map(|link| link.ways[0].transport).collect();
    assert_eq!(chosen, [Transport::SameDevice, Transport::Staged, Transport::SameDevice], "{here}");
    assert!(here.all_arrived(), "{here}");
}
