//! The trace file: messages are seen to fly while the core runs.
#![allow(missing_docs, clippy::unwrap_used)]

mod other;

use partita::prelude::*;
use partita::trace::travel;
use partita::wire::threads;

/// Runs in a process of its own, whose environment names the file.
#[test]
#[ignore = "started by the test below"]
fn a_program_that_is_traced() {
    let all = threads::run(2, |ranks| {
        let team = Team::over(&ranks, &[Device::host()], 1)?;
        let dist = Distribution::builder(&[4000, 500]).parts(2).halo(&[1, 0], &[1, 0]).build()?;
        let mut u = Array::from_fn(&team, &dist, |at| (at[0] % 13) as f32)?;
        for _ in 0..3 {
            let next = u.slice(&s![1..-1, ..]) + u.slice(&s![..-2, ..]) * 0.5 + u.slice(&s![2.., ..]) * 0.25;
            u.assign(&s![1..-1, ..], &next)?;
            u.eval()?;
        }
        Ok::<_, partita::Error>(())
    });
    all.into_iter().for_each(|outcome| outcome.unwrap().unwrap());
    let travel = travel();
    assert!(travel.waited_s <= travel.travelled_s, "{travel:?}");
    println!("hidden {}", travel.hidden_share().unwrap());
}

/// A number of an event.
fn number(event: &str, key: &str) -> f64 {
    let rest = event.split_once(&format!("\"{key}\":")).unwrap().1;
    rest.split([',', '}']).next().unwrap().parse().unwrap()
}

#[test]
fn messages_fly_while_the_core_runs() {
    let path = std::env::temp_dir().join(format!("partita-trace-{}.json", std::process::id()));
    let mut command = other::test("a_program_that_is_traced");
    command.env("PARTITA_TRACE", &path);
    let said = other::said(command);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let hidden: f64 =
        said.split("hidden ").nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap();
    assert!((0.0..=1.0).contains(&hidden), "{said}");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("["));
    let events: Vec<&str> = lines.collect();
    assert!(events.iter().all(|event| event.starts_with("{\"ph\":\"X\"") && event.ends_with("},")), "{text}");
    for rank in 0..2 {
        let mine = |event: &&&str| number(event, "pid") == f64::from(rank);
        let named = |name: &str| {
            let name = format!("\"name\":\"{name}\"");
            events.iter().filter(mine).filter(|event| event.contains(&name)).copied().collect::<Vec<&str>>()
        };
        let (messages, kernels) = (named("message"), named("fused"));
        assert_eq!(messages.len(), 3, "one per step:\n{text}");
        let spans = |event: &str| (number(event, "ts"), number(event, "ts") + number(event, "dur"));
        let flies_over_a_kernel = |message: &&&str| {
            let (begin, end) = spans(message);
            kernels.iter().map(|kernel| spans(kernel)).any(|(from, to)| begin <= from && to <= end)
        };
        assert_eq!(messages.iter().filter(flies_over_a_kernel).count(), 3, "rank {rank}:\n{text}");
    }
    println!("ran: traced-messages 6");
}
