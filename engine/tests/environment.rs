//! The environment is read strictly: a variable that is unknown or not understood is an error where a user
//! first enters, and everything that is documented is accepted.
#![allow(missing_docs, clippy::unwrap_used)]

mod other;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use partita::config::{Audience, VARIABLES, Variable};
use partita::prelude::*;

/// A call by which a user first enters.
type Way = (&'static str, fn() -> partita::Result<()>);

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_enters() {
    let ways: [Way; 5] = [
        ("Team::local", || Team::local(2).map(drop)),
        ("Team::on", || Team::on(&[Device::host()], 2).map(drop)),
        ("Team::world_on", || Team::world_on(&[Device::host()], 2).map(drop)),
        ("Device::named", || Device::named("host").map(drop)),
        ("Device::wgpu", || Device::wgpu(1 << 20).map(drop)),
    ];
    for (way, enter) in ways {
        match enter() {
            Ok(()) => println!("{way} opened"),
            Err(error) => println!("{way} refused: {error}"),
        }
    }
}

fn entered(name: &str, value: impl AsRef<OsStr>) -> String {
    entered_with(&[("PARTITA_DEVICE", OsStr::new("host")), (name, value.as_ref())])
}

/// In a folder for what is written.
fn entered_with(settings: &[(&str, &OsStr)]) -> String {
    let mut command = other::test("child_enters");
    command.envs(settings.iter().copied()).current_dir(std::env::temp_dir());
    other::said(command)
}

/// Every way in refuses, and says these words.
fn refuses(name: &str, value: impl AsRef<OsStr>, words: &[&str]) {
    let text = entered(name, value);
    for way in ["Team::local", "Team::on", "Team::world_on", "Device::named", "Device::wgpu"] {
        let line = text.lines().find_map(|line| line.split_once(&format!("{way} refused: ")));
        let line = line.unwrap_or_else(|| panic!("{name}: {way} did not refuse: {text}")).1;
        assert!(words.iter().all(|word| line.contains(word)) && line.contains(name), "{name}: {line}");
    }
}

#[test]
fn a_variable_that_is_not_understood_is_an_error_with_what_is_accepted() {
    for (name, value, accepted) in [
        ("PARTITA_BUDGET_MB", "2QB", "2GiB"),
        ("PARTITA_BUDGET_MB", "-5", "2GiB"),
        ("PARTITA_THREADS", "abc", "whole number"),
        ("PARTITA_THREADS", "-1", "whole number"),
        ("PARTITA_THREADS", "1.5", "whole number"),
        ("PARTITA_HOST_CODE", "perhaps", "avx2"),
        ("PARTITA_CHECK", "2", "false"),
        ("PARTITA_DEADLINE_SECONDS", "1parsec", "500ms"),
        ("PARTITA_DEBUG", "yes", "4"),
        ("PARTITA_DEBUG", "9", "4"),
        ("PARTITA_TILE_BYTES", "0x10", "MiB"),
        ("PARTITA_DEVICE", "abacus", "wgpu"),
        ("PARTITA_FAULT", "1:send", "RANK:POINT:PASSES:KIND"),
        ("PARTITA_FAULT", "1:nowhere:0:error", "nowhere"),
    ] {
        refuses(name, value, &[accepted, value]);
    }
}

#[test]
fn an_unknown_variable_is_an_error_that_suggests_a_near_name() {
    let unknown = |word: &str| format!("PARTITA_{word}");
    refuses(&unknown("TYPO"), "1", &["docs/environment.md"]);
    refuses(&unknown("THREAD"), "1", &["did you mean PARTITA_THREADS?"]);
    refuses(&unknown("BUGDET_MB"), "1", &["did you mean PARTITA_BUDGET_MB?"]);
    // As many write it.
    refuses(&unknown("DEADLINE"), "1", &["did you mean PARTITA_DEADLINE_SECONDS?"]);
}

/// The first team of all processes refuses what launchers' variables cannot mean, and other ways in do not
/// read them. Each case ends in an error: not a panic, not an abort, not a program that runs alone.
#[test]
fn variables_of_a_launcher_that_contradict_each_other_are_errors_of_the_first_team() {
    let cases: [(&[(&str, &str)], &str); 9] = [
        (
            &[("RANK", "5"), ("WORLD_SIZE", "3")],
            "RANK: expected a whole number below WORLD_SIZE (3), given `5`",
        ),
        (&[("RANK", "abc"), ("WORLD_SIZE", "3")], "RANK: expected a whole number below WORLD_SIZE (3)"),
        (&[("WORLD_SIZE", "3")], "RANK: expected a rank beside WORLD_SIZE, given none"),
        (&[("RANK", "2")], "WORLD_SIZE: expected the number of ranks beside RANK, given none"),
        (&[("RANK", "0"), ("WORLD_SIZE", "1e3")], "WORLD_SIZE: expected a whole number from 1 to 65536"),
        (
            &[
                ("RANK", "0"),
                ("WORLD_SIZE", "18446744073709551615"),
                ("LOCAL_WORLD_SIZE", "18446744073709551615"),
            ],
            "WORLD_SIZE: expected a whole number from 1 to 65536",
        ),
        (
            &[("RANK", "0"), ("WORLD_SIZE", "1000000000"), ("LOCAL_WORLD_SIZE", "1000000000")],
            "WORLD_SIZE: expected a whole number from 1 to 65536",
        ),
        (
            &[
                ("RANK", "0"),
                ("WORLD_SIZE", "2"),
                ("LOCAL_WORLD_SIZE", "2"),
                ("TMPDIR", "/tmp/partita-nowhere/deep"),
                ("XDG_RUNTIME_DIR", ""),
            ],
            "TMPDIR: expected a folder in which this user may make one",
        ),
        (
            &[("PARTITA_MPI", "off"), ("PMI_RANK", "7"), ("PMI_SIZE", "2")],
            "PMI_RANK: expected a whole number",
        ),
    ];
    for (settings, expected) in cases {
        let mut all =
            vec![("PARTITA_DEVICE", OsStr::new("host")), ("PARTITA_DEADLINE_SECONDS", OsStr::new("1"))];
        all.extend(settings.iter().map(|(name, value)| (*name, OsStr::new(*value))));
        let text = entered_with(&all);
        assert!(text.contains(&format!("Team::world_on refused: {expected}")), "{settings:?}: {text}");
        assert!(text.contains("Team::local opened"), "{settings:?}: {text}");
        assert!(!std::path::Path::new("/tmp/partita-nowhere").exists());
    }
}

#[test]
fn a_file_that_is_no_mpi_library_is_an_error_that_names_it() {
    for (file, reason) in [
        ("/etc/passwd", "invalid ELF header"),
        ("/nonexistent.so", "cannot open shared object file"),
        ("libm.so.6", "libm.so.6 is no MPI library"),
        ("/tmp", "cannot read file data"),
    ] {
        let text = entered("PARTITA_MPI", file);
        let expected =
            "Team::world_on refused: PARTITA_MPI: expected auto, off, or the file of an MPI library";
        assert!(text.contains(expected) && text.contains(&format!("given `{file}` (")), "{file}: {text}");
        assert!(text.contains(reason), "{file}: {text}");
    }
}

/// Each variable that users set, with values that mean nothing: a way in opens, or its error names the
/// variable.
/// `PARTITA_SOAK` sets how many values each gets.
#[test]
fn nonsense_in_any_variable_is_an_error_that_names_it_or_works() {
    let soak: u64 = std::env::var("PARTITA_SOAK").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let pieces: [&[u8]; 24] = [
        b"-1",
        b"0",
        b"1",
        b"7",
        b"65536",
        b"99999999999999999999",
        b"1e309",
        b"nan",
        b"inf",
        b".",
        b"..",
        b"/",
        b":",
        b"off",
        b"auto",
        b"host",
        b"MiB",
        b" ",
        b"\xff",
        b"\n",
        "\u{fc}\u{221e}".as_bytes(),
        b"%s",
        b"$HOME",
        b"=",
    ];
    let (mut random, mut ran) = (20_261_127u64, 0);
    let launchers =
        ["RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "LOCAL_RANK", "SLURM_STEP_NUM_TASKS", "TMPDIR"];
    let users = VARIABLES.iter().filter(|variable| variable.audience == Audience::Users);
    let names: Vec<&str> = users.map(|variable| variable.name).chain(launchers).collect();
    for name in names {
        for _ in 0..soak {
            let mut value = Vec::new();
            for _ in 0..3 {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                value.extend_from_slice(pieces[(random >> 40) as usize % pieces.len()]);
                if random >> 63 == 0 {
                    break;
                }
            }
            // A file of the trace would be left in the folder.
            let value = match name {
                "PARTITA_TRACE" => [b"/nonexistent/".as_slice(), &value].concat(),
                _ => value,
            };
            let mut settings = vec![("PARTITA_DEVICE", OsStr::new("host"))];
            settings.retain(|(known, _)| *known != name);
            settings.push((name, OsStr::from_bytes(&value)));
            let text = entered_with(&settings);
            let given = String::from_utf8_lossy(&value);
            assert!(!text.contains("panicked"), "{name}={given:?}: {text}");
            let ways = text.lines().filter(|line| line.contains(" refused: "));
            // There is no such adapter.
            for line in ways.filter(|line| !line.contains("Device::wgpu")) {
                assert!(line.contains(name), "{name}={given:?}: {line}");
            }
            assert!(text.contains(" opened") || text.contains(" refused: "), "{name}={given:?}: {text}");
            ran += 1;
        }
    }
    println!("ran: environment-nonsense {ran}");
}

#[test]
fn a_value_that_is_not_utf8_is_an_error() {
    refuses("PARTITA_DEBUG", OsStr::from_bytes(b"1\xff"), &["UTF-8"]);
}

#[test]
fn what_is_documented_is_accepted() {
    for (name, value) in [
        ("PARTITA_BUDGET_MB", "2GB"),
        ("PARTITA_CHECK", "true"),
        ("PARTITA_CHECK", "OFF"),
        ("PARTITA_HOST_CODE", "off"),
        ("PARTITA_DEADLINE_SECONDS", "1m"),
        ("PARTITA_DEADLINE_SECONDS", "500ms"),
        ("PARTITA_TILE_BYTES", "1MiB"),
        ("PARTITA_DEBUG", ""),
        ("PARTITA_TEST_DEVICES", "cuda"),
        ("PARTITA_PROGRAMS", "3:9"),
        ("PARTITA_SIM_DEVICES", "2"),
        ("PARTITA_FAULT", "1:send:0:error"),
    ] {
        let text = entered(name, value);
        assert!(text.contains("Team::local opened"), "{name}={value}: {text}");
    }
}

/// The variables for some readers, as a table of Markdown.
fn table(audience: Audience) -> String {
    let rows = VARIABLES.iter().filter(|variable| variable.audience == audience);
    let row = |v: &Variable| format!("| `{}` | {} | {} |\n", v.name, v.accepts, v.meaning);
    format!("| variable | values | meaning |\n|---|---|---|\n{}", rows.map(row).collect::<String>())
}

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn the_tables_in_the_documents_list_every_variable_as_it_is_read() {
    for (file, audience) in
        [("docs/environment.md", Audience::Users), ("CONTRIBUTING.md", Audience::Developers)]
    {
        let text = std::fs::read_to_string(repository().join(file)).unwrap();
        let table = table(audience);
        assert!(text.contains(&table), "{file} must have this table:\n{table}");
    }
}

/// Names of variables in a text: `PARTITA_` and capital letters.
fn named(text: &str) -> Vec<&str> {
    let begins = text.match_indices("PARTITA_").map(|(at, _)| &text[at..]);
    let whole = |rest: &&str| rest.find(|c: char| !c.is_ascii_uppercase() && !c.is_ascii_digit() && c != '_');
    begins
        .map(|rest| &rest[..whole(&rest).unwrap_or(rest.len())])
        .filter(|name| !name.ends_with('_'))
        .collect()
}

#[test]
fn every_variable_that_the_repository_names_is_listed() {
    let skipped = ["target", ".git", ".venv"];
    let (mut folders, mut found, mut files) = (vec![repository()], Vec::new(), 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().is_some_and(|name| skipped.iter().any(|skip| name == *skip)) {
                continue;
            }
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                files += 1;
                let unknown = |name: &&str| VARIABLES.iter().all(|variable| variable.name != *name);
                found.extend(named(&text).into_iter().filter(unknown).map(|n| format!("{n} in {path:?}")));
            }
        }
    }
    assert!(
        files > 300 && found.is_empty(),
        "{found:#?} of {files} files; see engine/src/process/config/variables.rs"
    );
}
