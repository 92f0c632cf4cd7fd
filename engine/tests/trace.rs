//! The trace file shows messages in flight while the core runs, and copies between devices that overlap with
//! it.
#![allow(missing_docs, clippy::unwrap_used)]

mod other;

use partita::prelude::*;
use partita::trace::message_times;
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
    let times = message_times();
    assert!(times.waited_s <= times.in_flight_s, "{times:?}");
    println!("hidden {}", times.hidden_share().unwrap());
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

/// The row and name of an event, and when it began and ended.
fn bar(event: &str) -> (String, String, f64, f64) {
    let word = |key: &str| {
        let rest = event.split_once(&format!("\"{key}\":\"")).unwrap().1;
        rest.split('"').next().unwrap().to_owned()
    };
    let begin = number(event, "ts");
    (word("tid"), word("name"), begin, begin + number(event, "dur"))
}

#[test]
#[ignore = "started by the test below"]
fn a_step_on_three_devices_is_traced() {
    let gpus: Vec<Device> =
        Device::all().iter().filter(|device| device.kind() == DeviceKind::Cuda).cloned().collect();
    let team = Team::on(&gpus, 3).unwrap();
    let dist = Distribution::builder(&[450, 300]).parts(3).halo(&[1, 0], &[1, 0]).build().unwrap();
    let mut u = Array::from_fn(&team, &dist, |at| (at[0] % 13) as f32).unwrap();
    for _ in 0..3 {
        let next = u.slice(&s![1..-1, ..]) + u.slice(&s![..-2, ..]) * 0.5 + u.slice(&s![2.., ..]) * 0.25;
        u.assign(&s![1..-1, ..], &next).unwrap();
        u.eval().unwrap();
    }
}

/// The simulated devices' clocks say what the order of the streams allows: work that nothing makes wait
/// begins at once.
#[test]
fn copies_between_devices_overlap_with_the_core() {
    let simulated = Device::all().iter().any(|d| d.kind() == DeviceKind::Cuda && d.is_software());
    if !simulated {
        println!("skipped: cuda-traced-copies (there is no simulated CUDA device)");
        return;
    }
    let path = std::env::temp_dir().join(format!("partita-streams-{}.json", std::process::id()));
    let mut command = other::test("a_step_on_three_devices_is_traced");
    command.env("PARTITA_TRACE", &path).env("PARTITA_SIM_DEVICES", "3");
    let said = other::said(command);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let bars: Vec<_> = text.lines().skip(1).map(bar).collect();
    let on = |row: &str, name: &str| -> Vec<(f64, f64)> {
        let fits = bars.iter().filter(|bar| bar.0.ends_with(row) && bar.1.contains(name));
        fits.map(|bar| (bar.2, bar.3)).collect()
    };
    let mut beside = 0;
    for device in 0..3 {
        let row =
            |stream: &str| format!("cuda:{device} simulated device {device} (sm_90, not a GPU) {stream}");
        let (cores, copies) = (on(&row("compute"), "fused"), on(&row("exchange"), "bytes of"));
        assert_eq!((cores.len(), on(&row("exchange"), "fused").len() >= 3), (3, true), "{text}");
        assert_eq!(copies.len(), 3 * if device == 1 { 2 } else { 1 }, "{text}");
        let within = |copy: &&(f64, f64)| cores.iter().any(|core| core.0 <= copy.0 && copy.1 <= core.1);
        beside += copies.iter().filter(within).count();
    }
    assert_eq!(beside, 12, "{text}");
    assert_eq!(on("evaluations", "beside computation").len(), 3, "{text}");
    let percent = said.split("ms of devices, ").nth(1).and_then(|rest| rest.split(" %").next());
    let percent: f64 = percent.unwrap_or_else(|| panic!("{said}")).parse().unwrap();
    assert!((50.0..=100.0).contains(&percent), "{said}");
    println!("ran: cuda-traced-copies {beside}");
}
