//! `PARTITA_CHECK=1`: every launch of every sort of program is compared with the definition of the IR, and
//! results do not change. The reports of differences are tested in `device/launch/check.rs`.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;
mod spmd;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::Command;

use partita::device::compared_launches;
use partita::prelude::*;

/// What the programs gave, and the lines for the record.
fn computed(check: &str) -> (Vec<String>, Vec<String>) {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_computes", "--ignored", "--nocapture"])
        .env("PARTITA_CHECK", check)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{said}{}", String::from_utf8_lossy(&child.stderr));
    let with = |words: &[&str]| {
        let is_one = |line: &&str| words.iter().any(|word| line.starts_with(word));
        said.lines().filter(is_one).map(str::to_owned).collect()
    };
    (with(&["gave:"]), with(&["ran:", "skipped:"]))
}

#[test]
fn every_launch_of_every_program_is_compared() {
    let ((plain, _), (checked, record)) = (computed("0"), computed("1"));
    assert!(plain.len() >= spmd::PROGRAMS.len() && plain == checked, "{plain:?}\n{checked:?}");
    record.iter().for_each(|line| println!("{line}"));
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_computes() {
    for device in found::devices() {
        let before = compared_launches();
        for (name, program) in spmd::PROGRAMS {
            let given = program(&Team::on(std::slice::from_ref(&device), 3).unwrap());
            let given = given.unwrap_or_else(|error| panic!("{name} on {device:?}: {error}"));
            let mut hash = DefaultHasher::new();
            given.hash(&mut hash);
            println!("gave: {name} on {device:?} {:x}", hash.finish());
        }
        found::ran("checked-launches", &device, (compared_launches() - before) as usize);
    }
}
