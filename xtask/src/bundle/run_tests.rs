//! The script of the bundle, run over programs that only pretend: which it starts, what it repeats, what it
//! writes, and how it ends.

#![allow(clippy::unwrap_used, reason = "a test may fail where it likes")]

use super::{LIMITS, PROGRAMS, SCRIPTS, TESTS};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A bundle of programs that note that they were started.
struct Pretence {
    folder: PathBuf,
}

fn tests() -> impl Iterator<Item = String> {
    TESTS.iter().chain(&["partita"]).map(|name| format!("test-{name}"))
}

/// All but what is tested of adapters alone.
fn tests_of_cuda() -> impl Iterator<Item = String> {
    tests().filter(|name| name != "test-subnormals")
}

const DOCTOR: &str = "case $1 in doctor) echo \"$PRETEND\";; esac\n";

impl Pretence {
    fn new(name: &str) -> Pretence {
        let folder = std::env::temp_dir().join(format!("partita-bundle-{name}-{}", std::process::id()));
        let pretence = Pretence { folder };
        std::fs::create_dir_all(pretence.folder.join("bin")).unwrap();
        for (name, text) in SCRIPTS {
            std::fs::write(pretence.folder.join(name), text).unwrap();
        }
        for program in tests().chain(PROGRAMS.iter().map(|arguments| arguments[1].to_owned())) {
            pretence.program(&program, "");
        }
        pretence.program("partita-bench", DOCTOR);
        pretence
    }

    /// A program that writes its name into `started` and does `then`.
    fn program(&self, name: &str, then: &str) {
        let file = self.folder.join("bin").join(name);
        // Programs with `--dump` write a file, which the comparison of two needs.
        let dump = "while [ $# -gt 0 ]; do [ \"$1\" != --dump ] || echo same >\"$2\"; shift; done\n";
        std::fs::write(&file, format!("#!/bin/sh\necho {name} >>started\n{then}\n{dump}")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut pack = Command::new("tar");
        pack.current_dir(&self.folder).args(["-cJf", "bin.tar.xz", "bin"]);
        assert!(pack.status().unwrap().success());
    }

    /// Runs sections on a machine whose devices are said so; the exit status, and what was started.
    fn run(&self, sections: &[&str], doctor: &str) -> (Option<i32>, Vec<String>) {
        self.run_with(sections, doctor, &[("BUDGET", "570")])
    }

    /// The same with other variables of the script.
    fn run_with(
        &self,
        sections: &[&str],
        doctor: &str,
        variables: &[(&str, &str)],
    ) -> (Option<i32>, Vec<String>) {
        let mut command = Command::new("bash");
        command.arg(self.folder.join("run.sh")).args(sections).env("PRETEND", doctor).env("PEERS", "");
        command.env_remove("OUT").env_remove("QUICK").envs(variables.iter().copied());
        let ended = self.started_by(command);
        if !sections.contains(&"everything") {
            self.check_lines();
        }
        ended
    }

    /// The exit status of a call, and what it started.
    fn started_by(&self, mut command: Command) -> (Option<i32>, Vec<String>) {
        let started = self.folder.join("started");
        // Nothing was started before the first run.
        let _ = std::fs::remove_file(&started);
        let status = command.output().unwrap().status.code();
        let names = std::fs::read_to_string(started).unwrap_or_default();
        let only = names.lines().filter(|name| *name != "partita-bench").map(str::to_owned);
        (status, only.collect())
    }

    /// Every line of `results.jsonl` is an object that ends with a note, whatever was noted.
    fn check_lines(&self) {
        let lines = self.read("results.jsonl");
        let complete = |line: &str| {
            let note = line.split_once("\"note\":\"").and_then(|(_, note)| note.strip_suffix("\"}"));
            note.is_some_and(|note| !note.replace("\\\\", "").replace("\\\"", "").contains(['"', '\\']))
        };
        let broken = lines.lines().find(|line| !(line.starts_with("{\"section\":\"") && complete(line)));
        assert_eq!(broken, None);
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.folder.join("results").join(file)).unwrap()
    }
}

impl Drop for Pretence {
    fn drop(&mut self) {
        // Files left in the temporary folder harm nobody.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

const GPU: &str = "device: cuda:0 Pretended 9000";
const NO_GPU: &str = "cuda: the CUDA driver is \\\"nowhere\\\"";

#[test]
fn every_program_is_started_once_and_not_again() {
    let bundle = Pretence::new("once");
    // Who stops a call before its end has a summary of the steps before.
    bundle.program("test-fuzz", "grep -q '^passed test-arrays ' results/summary.txt || exit 9");
    let sections = ["tests", "tsunami", "bench"];
    let (status, started) = bundle.run(&sections, GPU);
    let programs = PROGRAMS[1..].iter().map(|arguments| arguments[1].to_owned());
    let expected: BTreeSet<String> = tests_of_cuda().chain(programs).collect();
    assert_eq!(started.iter().cloned().collect::<BTreeSet<_>>(), expected);
    assert_eq!(status, Some(3), "the peers are missing:\n{}", bundle.read("summary.txt"));
    assert!(bundle.read("summary.txt").contains("passed tsunami-same-bits "));
    assert_eq!(bundle.run(&sections, GPU), (Some(3), Vec::new()));
}

#[test]
fn one_failure_is_named_and_stops_nothing() {
    let bundle = Pretence::new("failure");
    bundle.program("test-arrays", "echo 'a \"quoted\" reason'; exit 7");
    bundle.program("test-fuzz", "echo 'test result: ok. 0 passed; 0 failed'");
    let (status, started) = bundle.run(&["tests"], GPU);
    assert_eq!((status, started.len()), (Some(1), tests_of_cuda().count()));
    let summary = bundle.read("summary.txt");
    let failed: Vec<&str> = summary.lines().filter(|line| line.starts_with("failed ")).collect();
    assert!(
        failed.len() == 2 && failed[0].contains("test-arrays") && failed[0].contains("quoted"),
        "{summary}"
    );
    assert!(failed[1].contains("test-fuzz") && failed[1].contains("no-test-ran"), "{summary}");
    let line = bundle.read("results.jsonl");
    assert!(
        line.contains(r#""verdict":"failed","#) && line.contains(r#"ended with 7: a \"quoted\" reason"#),
        "{line}"
    );
    // Programs that failed are tried again, alone.
    bundle.program("test-arrays", "");
    bundle.program("test-fuzz", "");
    let (status, started) = bundle.run(&["tests"], GPU);
    assert_eq!((status, started), (Some(0), vec!["test-arrays".to_owned(), "test-fuzz".to_owned()]));
}

#[test]
fn what_does_not_fit_into_a_call_is_left_for_the_next() {
    // A test gets 200 seconds, a third of which at least must be left.
    let bundle = Pretence::new("budget");
    bundle.program("test-arrays", "sleep 4.2; exit 7");
    let (status, first) = bundle.run_with(&["tests"], GPU, &[("BUDGET", "70")]);
    assert_eq!((status, first), (Some(1), vec!["test-arrays".to_owned()]));
    assert!(bundle.read("summary.txt").contains("left test-"));
    bundle.program("test-arrays", "");
    let (status, second) = bundle.run(&["tests"], GPU);
    assert_eq!((status, second.len()), (Some(0), tests_of_cuda().count()));
    assert_eq!(second.last().map(String::as_str), Some("test-arrays"), "what failed comes after what is new");
}

#[test]
fn another_machine_takes_up_what_was_copied() {
    let (here, there) = (Pretence::new("here"), Pretence::new("there"));
    let copies = here.folder.join("copies");
    std::fs::create_dir(&copies).unwrap();
    here.program("test-fuzz", "exit 7");
    let copied = [("BUDGET", "570"), ("OUT", copies.to_str().unwrap())];
    assert_eq!(here.run_with(&["tests"], GPU, &copied).0, Some(1));
    let mut names: Vec<_> =
        std::fs::read_dir(&copies).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["results.tar.gz", "summary.txt"]);
    std::fs::copy(copies.join("results.tar.gz"), there.folder.join("results.tar.gz")).unwrap();
    assert_eq!(there.run(&["tests"], GPU), (Some(0), vec!["test-fuzz".to_owned()]));
    assert!(there.read("summary.txt").contains("passed test-arrays "));
}

#[test]
fn without_a_gpu_everything_missing_is_named() {
    let bundle = Pretence::new("without");
    let (status, started) = bundle.run(&[], NO_GPU);
    let summary = bundle.read("summary.txt");
    assert_eq!(status, Some(3), "{summary}");
    assert!(started.contains(&"tsunami".to_owned()) && !started.contains(&"heat".to_owned()), "{started:?}");
    let named = [
        "cuda-tests",
        "tsunami-cuda",
        "ranks-cuda",
        "bench-cuda",
        "peers",
        "python-install",
        "sanitize-memcheck",
    ];
    for name in named {
        let skipped = format!("skipped {name} ");
        let line = summary.lines().find(|line| line.starts_with(&skipped));
        assert!(
            line.is_some_and(|line| line.contains("nowhere") || line.contains("Python")),
            "{name}\n{summary}"
        );
    }
}

#[test]
fn words_it_does_not_know_are_refused() {
    let bundle = Pretence::new("misuse");
    assert_eq!(bundle.run(&["everything"], GPU), (Some(2), Vec::new()));
}

/// A copy of 1000 floats, recorded twice: before the clock runs, and as the case.
const PTX: &str = include_str!("copy.ptx");
const LAUNCH: &str = r#"{"ptx":"ab","entry":"vector_copy","grid":[4,1,1],"block":[256,1,1],
"shared_bytes":65536,"params":"00010000007000000000100000700000e803000000000000",
"memory":[[123145302310912,8192],[123145303359488,4194304]]}"#;
/// A Python that has everything, and runs the probe.
const PYTHON: &str = "#!/bin/sh\ncase $1 in -m|-c|ranks.py) exit 0;; esac\nexec python3 \"$@\"\n";

/// The stand-ins: tools that do what they are asked without looking. The driver is the simulated one: what
/// the probe asks of it is checked.
#[test]
fn the_first_call_goes_in_its_order_and_plays_the_record() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let library = crate::simulated::built(&root, "libsimcuda.so");
    if !library.exists() {
        return println!("skipped: the first call ({} is not built)", library.display());
    }
    let bundle = Pretence::new("first");
    let (tools, record) = (bundle.folder.join("tools"), bundle.folder.join("probe"));
    std::fs::create_dir_all(&tools).unwrap();
    let other = bundle.folder.join("probe-48-10");
    std::fs::create_dir_all(&record).unwrap();
    std::fs::create_dir_all(&other).unwrap();
    std::os::unix::fs::symlink(library, tools.join("libcuda.so.1")).unwrap();
    for (tool, text) in [("compute-sanitizer", "#!/bin/sh\n"), ("python", PYTHON)] {
        std::fs::write(tools.join(tool), text).unwrap();
        std::fs::set_permissions(tools.join(tool), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::fs::create_dir_all(bundle.folder.join("bin/mpi/bin")).unwrap();
    bundle.program("mpi/bin/mpirun", "");
    std::fs::write(tools.join("libvulkan.so.1"), "").unwrap();
    let launch = LAUNCH.replace('\n', "");
    let case = r#"{"case":"copy","dtype":"f32","bytes":8000}"#;
    for record in [&record, &other] {
        std::fs::write(record.join("ab.ptx"), PTX).unwrap();
        let lines = format!("{launch}\n{{}}\n{launch}\n{case}\n");
        std::fs::write(record.join("launches.jsonl"), lines).unwrap();
    }
    let call = |budget: &str| {
        let mut command = Command::new("bash");
        command.arg(bundle.folder.join("first.sh")).env("PRETEND", format!("{GPU}\ndevice: wgpu Pretended"));
        command.env("PEERS", tools.join("python")).env_remove("OUT").env("QUICK", "1").env("BUDGET", budget);
        command.env("LIBVULKAN", tools.join("libvulkan.so.1")).env("PARTITA_SIM_TRACE", "1");
        let path = std::env::var_os("PATH").unwrap();
        let folders = std::iter::once(tools.clone()).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(folders).unwrap());
        command.env("LD_LIBRARY_PATH", &tools).env("PARTITA_SIM_DEVICES", "1");
        bundle.started_by(command)
    };
    let (status, started) = call("720");
    let (lines, summary) = (bundle.read("results.jsonl"), bundle.read("summary.txt"));
    let name = |line: &str| Some(line.split_once("\"name\":\"")?.1.split('"').next()?.to_owned());
    let names: Vec<String> = lines.lines().skip(1).filter_map(name).collect();
    let at = |wanted: &str| names.iter().position(|name| name == wanted);
    let beside = ["test-kernels", "test-arrays", "tsunami-cuda", "python-cuda", "compilers"];
    let before =
        ["probe", "probe-48-10", "python-install", "calls", "first-figures", "first-programs", "first-L1"];
    let after = [
        "tsunami-same-bits",
        "peers",
        "wgpu-figures",
        "ranks-pointers-2",
        "ranks-ipc-2",
        "ranks-staged-2",
        "ranks-tcp",
    ];
    // Those side by side come in any order among themselves.
    for (first, test) in
        [("peers", "wgpu-kernels"), ("peers", "wgpu-subnormals"), ("ranks-tcp", "first-racecheck")]
    {
        assert!(at(first).is_some() && at(first) < at(test), "{test}: {names:?}");
    }
    for test in beside {
        let order: Vec<_> = before.iter().chain([&test]).chain(&after).map(|name| at(name)).collect();
        assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{test}: {names:?}\n{summary}");
    }
    assert_eq!((status, summary.contains("failed ")), (Some(0), false), "{summary}");
    assert!(started.contains(&"test-fuzz".to_owned()) && summary.contains("cuMemcpyDtoDAsync "), "{summary}");
    let played = bundle.read("probe.jsonl");
    assert!(played.contains("\"said\": \"simulated, ") && !played.contains("\"seconds\": 0.0,"), "{played}");
    // Memory is filled from the device's own: the host sends one pattern for each of it.
    let log = bundle.read("logs/probe.log");
    let calls = |name: &str| log.lines().filter(|line| line.contains(name)).count();
    assert!(calls("cuMemcpyHtoDAsync") <= calls("cuMemAlloc") && calls("cuMemAlloc") > 0, "{log}");
    assert!(bundle.folder.join("results/loader/libvulkan.so.1").exists());
}

/// Each step gets its whole limit within the twelve minutes; those side by side end together.
#[test]
fn the_limits_of_the_first_call_fit_into_twelve_minutes() {
    let run = super::RUN.replace("\\\n", " ");
    let limits = |function: &str| -> Vec<(bool, u64)> {
        let body = run.split(&format!("\n{function}() {{")).nth(1).unwrap_or_else(|| panic!("{function}"));
        let body = body.split("\n}").next().unwrap_or_default().replace(" }", "");
        let words = body.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let limit = |words: Vec<&str>| {
            let at = words.iter().position(|w| ["step", "start", "first_figures"].contains(w))?;
            let number: u64 = words[at + 1..].iter().find_map(|word| word.parse().ok())?;
            let times = if words.contains(&"\"$record\"") { LIMITS.len() as u64 } else { 1 };
            Some((words[at] == "start", number * times))
        };
        words.filter_map(limit).collect()
    };
    let total: u64 =
        ["probe", "has_package", "calls", "figures_of_first", "side", "peers", "wgpu", "memcheck"]
            .iter()
            .map(|function| {
                let all = limits(function);
                assert!(!all.is_empty(), "{function}");
                let beside = all.iter().filter(|(is_beside, _)| *is_beside).map(|(_, limit)| limit).max();
                let alone: u64 = all.iter().filter(|(is_beside, _)| !is_beside).map(|(_, limit)| limit).sum();
                alone + beside.unwrap_or(&0)
            })
            .sum();
    let links = run.split("\nlinks() {").nth(1).unwrap().lines().next().unwrap();
    let numbers: Vec<u64> = links.split([' ', ';']).filter_map(|word| word.parse().ok()).collect();
    let [mpi, _, tcp] = numbers[..] else { panic!("{links}") };
    assert!(total + 3 * mpi + tcp <= 720, "{total} {links}");
}
