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
    let mut command = other::test("child_enters");
    command.env("PARTITA_DEVICE", "host").env(name, value);
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
