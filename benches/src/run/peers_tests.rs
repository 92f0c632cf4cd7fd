//! The protocol, with a shell in place of Python, and the peers themselves, where a Python has NumPy.

use super::*;
use crate::cases::alone;

/// A shell in place of Python: says which peers there are, and answers lines by the words of this script.
fn fake(turns: &str) -> Result<Peers> {
    let listed =
        r#"{"versions":{"numpy":"2.4","cupy":null},"peers":{"numpy":["triad"],"jax":["triad","copy"]}}"#;
    let serve = format!("while read line; do {turns}; done");
    let script = format!("case $0 in --list) echo '{listed}';; *) {serve};; esac");
    Peers::listed_by(["sh", "-c", &script].map(String::from).to_vec(), None)
}

fn triad() -> Request<'static> {
    Request { workload: "triad", dtype: DType::F64, repeats: 5, seconds: 0.25, sets: 3 }
}

/// What a peer says in place of a time.
fn said(peers: &Peers, peer: &str) -> String {
    match peers.turn(peer, &triad()) {
        Outcome::Skipped(said) => said,
        other => panic!("{other:?}"),
    }
}

fn failure(turns: &str) -> String {
    match fake(turns).expect("a list").turn("numpy", &triad()) {
        Outcome::Failed(reason) => reason,
        other => panic!("{other:?} of {turns}"),
    }
}

#[test]
fn peers_get_the_workloads_that_they_offer() {
    let peers = fake("exit 1").expect("a list");
    assert_eq!(peers.versions["numpy"].as_deref(), Some("2.4"));
    assert_eq!(peers.versions["cupy"], None);
    assert_eq!(peers.offering("triad"), ["jax", "numpy"]);
    assert_eq!(peers.offering("copy"), ["jax"]);
    assert!(peers.offering("unknown").is_empty());
}

#[test]
fn peers_that_are_not_selected_are_left_out() {
    let only =
        |names: &[&str]| fake("exit 1")?.only(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
    assert_eq!(only(&["jax"]).expect("known").offering("triad"), ["jax"]);
    assert_eq!(only(&[]).expect("all").offering("triad"), ["jax", "numpy"]);
    let wrong = only(&["jax", "nunba"]).err().expect("a mistake").to_string();
    assert_eq!(wrong, "measure beside nunba: expected some of jax, numpy");
}

#[test]
fn a_turn_is_a_line_that_answers_a_line() {
    let answered = |answer: &str| fake(&format!("echo '{answer}'")).expect("a list").turn("numpy", &triad());
    let timed = answered(r#"{"timed":{"seconds":[0.5,0.25],"error":1e-7,"sets":2}}"#);
    assert_eq!(timed, Outcome::Timed { seconds: vec![0.5, 0.25], error: 1e-7 });
    assert_eq!(answered(r#"{"skipped":"not offered"}"#), Outcome::Skipped("not offered".to_owned()));
    assert_eq!(answered(r#"{"failed":"wrong"}"#), Outcome::Failed("wrong".to_owned()));
}

#[test]
fn a_turn_gets_all_its_options() {
    let asked = failure(r#"echo "$0 $* $line" >&2; exit 3"#);
    let expected = "--serve --peers numpy --only triad --dtype f64 --repeat 5 --seconds 0.25 --sets 3";
    assert!(asked.ends_with(expected), "{asked}");
}

#[test]
fn a_peer_that_dies_or_babbles_has_failed_with_its_last_words() {
    let died = failure("echo out of memory >&2; kill -9 $$");
    assert!(died.contains("signal: 9") && died.ends_with("out of memory"), "{died}");
    let silent = failure("exit 7");
    assert!(silent.contains("exit status: 7") && silent.ends_with("no last words"), "{silent}");
    assert!(failure("echo hm").contains("it answered hm"));
    assert!(Peers::listed_by(["sh", "-c", "echo hm"].map(String::from).to_vec(), None).is_err());
    assert!(Peers::listed_by(vec!["/nowhere/python".to_owned()], None).is_err());
}

#[test]
fn one_process_loads_a_peer_and_another_comes_after_its_death() {
    let alive = fake(r#"echo "{\"skipped\":\"$$\"}""#).expect("a list");
    assert_eq!(said(&alive, "numpy"), said(&alive, "numpy"));
    let dying = fake(r#"echo "{\"skipped\":\"$$\"}"; read again; exit 1"#).expect("a list");
    let first = said(&dying, "numpy");
    assert!(matches!(dying.turn("numpy", &triad()), Outcome::Failed(_)));
    assert_ne!(first, said(&dying, "numpy"));
}

#[test]
fn peers_that_are_together_have_one_process_and_compile_first() {
    let mut peers = fake(r#"echo "{\"skipped\":\"$$ $* $line\"}""#).expect("a list");
    peers.are_together = true;
    peers.compile(&["triad", "sum"], &[DType::F32, DType::F64]);
    let (first, second) = (said(&peers, "numpy"), said(&peers, "jax"));
    assert_eq!(first.replace("--peers numpy --only", "--peers jax --only"), second, "one process");
    assert!(first.contains("--together --peers jax,numpy --peers numpy --only triad --dtype f64"), "{first}");
    let compiled = peers.said("", "--compile").expect("answered");
    assert!(compiled.contains("--together --peers jax,numpy --compile"), "{compiled}");
}

#[test]
fn the_seconds_of_a_run_begin_after_compiling() {
    let turn = r#"case "$line" in --compile*) sleep 3;; esac; echo '{"skipped":"in its turn"}'"#;
    let mut peers = fake(turn).expect("a list");
    peers.are_together = true;
    // A turn counts as one second before one has been seen.
    peers.begin(&["triad"], &[DType::F64], Some(3.5), vec![1.0]);
    assert_eq!(peers.turn("numpy", &triad()), Outcome::Skipped("in its turn".to_owned()));
}

#[test]
fn a_peers_line_is_about_the_same_as_ours() {
    let example = Record::of_time("E1", "triad", "host", vec![1.0]).moving(12e9, Some(24.0));
    let Line::Record(record) =
        (Outcome::Timed { seconds: vec![0.5], error: 1e-8 }).line("numba".to_owned(), &example)
    else {
        panic!("a time is a record");
    };
    assert_eq!((record.gb_s, record.fraction, record.is_peer), (Some(24.0), Some(1.0), true));
    assert_eq!((record.who.as_str(), record.error), ("numba", Some(1e-8)));
    let line = Outcome::Failed("wrong".to_owned()).line("numba".to_owned(), &example);
    assert!(matches!(line, Line::Failed(missing) if missing.workload == "triad" && missing.who == "numba"));
}

#[test]
fn every_program_travels_with_the_binary() {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
    let mut found = Vec::new();
    for folder in ["", "libraries/"] {
        for entry in std::fs::read_dir(peers.join(folder)).expect("benches/peers") {
            let name = entry.expect("an entry").file_name().into_string().expect("a name");
            if (name.ends_with(".py") || name.ends_with(".cu")) && !name.starts_with("test_") {
                found.push(format!("{folder}{name}"));
            }
        }
    }
    found.sort();
    assert_eq!(found, FILES.iter().map(|(name, _)| *name).collect::<Vec<_>>());
}

const SIZES: Sizes = Sizes { line: 5003, plane: 37, cube: 16 };

/// The output of Python in a folder, or nothing if there is no Python: that of `PARTITA_PEERS`, of the
/// repository's environment, or of the system.
fn python(folder: &Path, arguments: &[&str]) -> Option<Output> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.venv/bin/python");
    let other = if own.exists() { own } else { PathBuf::from("python3") };
    let python = std::env::var_os("PARTITA_PEERS").map_or(other, PathBuf::from);
    Command::new(python).env("PYTHONDONTWRITEBYTECODE", "1").current_dir(folder).args(arguments).output().ok()
}

#[test]
fn peers_know_every_name() {
    let Some(output) = python(&unpacked(&SIZES).expect("files"), &["__main__.py", "--list"]) else {
        println!("skipped: peers_know_every_name (no python3)");
        return;
    };
    let listed: Listed = answer(&output).expect("a list");
    let alone = alone().filter(|case| ["A1", "P1"].contains(&case.group)).map(|case| case.name);
    for name in WORKLOADS.iter().map(|workload| workload.name).chain(alone) {
        assert!(listed.peers["numpy"].iter().any(|known| known == name), "the peers do not know {name}");
    }
}

/// Runs the peers' own tests, where a Python has NumPy; they name what else is missing.
#[test]
fn every_peer_that_is_here_is_right() {
    let folder = unpacked(&SIZES).expect("files");
    if !python(&folder, &["-c", "import numpy"]).is_some_and(|output| output.status.success()) {
        println!("skipped: every_peer_that_is_here_is_right (no NumPy; PARTITA_PEERS names another Python)");
        return;
    }
    std::fs::write(folder.join("test_peers.py"), include_str!("../../peers/test_peers.py")).expect("written");
    let output = python(&folder, &["test_peers.py"]).expect("it ran before");
    println!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::remove_dir_all(&folder).expect("it was there");
}
