//! The tsunami as a person starts it: what cannot be computed or written ends it with one clear line, never
//! with a panic. Its modules are tested here too, because cargo does not run tests inside an example.
#![allow(missing_docs, dead_code, clippy::unwrap_used)]

#[path = "../../examples/tsunami/animation.rs"]
mod animation;
#[path = "../../examples/tsunami/drawing.rs"]
mod drawing;
#[path = "../../examples/tsunami/picture.rs"]
mod picture;
#[path = "../../examples/tsunami/relief.rs"]
mod relief;
#[path = "../../examples/tsunami/scale.rs"]
mod scale;
#[path = "../../examples/tsunami/terrain.rs"]
mod terrain;
#[path = "../../examples/tsunami/wave.rs"]
mod wave;

mod picture_tests;
mod terrain_tests;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use ndarray::{Array1, Array2};
use ndarray_npy::NpzWriter;

/// The program, on the host; cargo builds it before it runs these tests.
fn tsunami(arguments: &[&str]) -> Command {
    let tests = std::env::current_exe().unwrap();
    let program = tests.ancestors().nth(2).unwrap().join("examples/tsunami");
    assert!(program.exists(), "{}: run `cargo build --example tsunami`", program.display());
    let mut command = Command::new(program);
    command.args(["--device", "host", "--steps", "5", "--frames", "0", "--scale", "1"]).args(arguments);
    command.stdin(Stdio::null());
    command
}

/// That it ended with an error of one line with these words.
fn refused(output: &Output, words: &[&str]) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.starts_with("tsunami: ") && text.lines().count() == 1, "{text}");
    assert!(words.iter().all(|word| text.contains(word)), "{words:?}: {text}");
}

#[test]
fn scales_too_large_for_memory_end_with_one_line() {
    for scale in ["18446744073709551615", "1000000", "3000"] {
        let mut command = tsunami(&[]);
        let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        command = Command::new(command.get_program());
        command.args(&arguments[..arguments.len() - 1]).arg(scale);
        refused(&command.output().unwrap(), &[scale, "GiB of memory, and there are"]);
    }
}

/// A file of topography in the temporary folder.
fn file(name: &str, topo: &Array2<f64>, latitude: &Array1<f64>, longitude: &Array1<f64>) -> PathBuf {
    let path = std::env::temp_dir().join(format!("partita-tsunami-{}-{name}.npz", std::process::id()));
    let mut npz = NpzWriter::new(File::create(&path).unwrap());
    npz.add_array("topo", topo).unwrap();
    npz.add_array("latitude", latitude).unwrap();
    npz.add_array("longitude", longitude).unwrap();
    npz.finish().unwrap();
    path
}

#[test]
fn corrupt_coordinates_and_depths_end_with_one_line() {
    let topo = Array2::from_elem((20, 30), -100.0);
    let (latitude, longitude) = (Array1::linspace(47.0, 49.0, 20), Array1::linspace(-126.0, -123.0, 30));
    let still = file("good", &topo, &latitude, &longitude);
    let damaged = file("damaged", &topo, &latitude, &longitude);
    let mut bytes = std::fs::read(&damaged).unwrap();
    bytes[400] ^= 1; // Among the depths, which have a checksum.
    std::fs::write(&damaged, bytes).unwrap();
    let corrupt = [
        ("damaged", damaged, "array `topo` cannot be read"),
        ("far", file("far", &topo, &Array1::linspace(470.0, 490.0, 20), &longitude), "latitude"),
        ("huge", file("huge", &topo, &(&latitude * 1e300), &longitude), "latitude"),
        ("falling", file("falling", &topo, &Array1::linspace(49.0, 47.0, 20), &longitude), "must ascend"),
        ("still", file("still", &topo, &latitude, &Array1::from_elem(30, -126.0)), "must ascend"),
        ("deep", file("deep", &(&topo * 5e29), &latitude, &longitude), "heights"),
        ("close", file("close", &topo, &latitude, &Array1::linspace(-126.0, -126.0 + 1e-9, 30)), "too small"),
    ];
    let data = |path: &Path| tsunami(&["--data", path.to_str().unwrap()]).output().unwrap();
    assert!(data(&still).status.success(), "{}", String::from_utf8_lossy(&data(&still).stderr));
    for (name, path, words) in corrupt {
        let output = data(&path);
        std::fs::remove_file(&path).unwrap();
        refused(&output, &[words]);
        assert!(output.stdout.is_empty(), "{name}");
    }
    std::fs::remove_file(&still).unwrap();
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = tsunami(&["--json"]).stdout(writer).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(141));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_ends_it_with_one_line() {
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let output = tsunami(&["--json"]).stdout(full()).stderr(Stdio::piped()).output().unwrap();
    refused(&output, &["standard output"]);
    refused(&tsunami(&["--dump", "/dev/full"]).output().unwrap(), &["--dump /dev/full"]);
    // Nothing reads the output, but it is still no panic.
    let output = tsunami(&["--json"]).stdout(full()).stderr(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
}

/// The program with these arguments alone.
fn plain(arguments: &[&str]) -> Command {
    let mut command = Command::new(tsunami(&[]).get_program());
    command.args(["--scale", "1"]).args(arguments);
    command.stdin(Stdio::null());
    command
}

#[test]
fn there_are_no_more_frames_than_steps() {
    for (steps, frames, drawn) in
        [("3", "7", 3), ("1", "18446744073709551615", 1), ("0", "5", 1), ("4", "2", 2)]
    {
        let out = std::env::temp_dir().join(format!("partita-frames-{}-{steps}", std::process::id()));
        let mut command = plain(&["--device", "host", "--steps", steps, "--frames", frames, "--out"]);
        let output = command.arg(&out).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let names = std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
        assert_eq!(
            names.filter(|path| path.extension().is_some_and(|e| e == "png")).count(),
            drawn,
            "{steps}"
        );
        std::fs::remove_dir_all(&out).unwrap();
    }
}

#[test]
fn more_parts_than_are_of_use_are_refused() {
    for parts in ["1000000", "18446744073709551615", "171"] {
        refused(&tsunami(&["--parts", parts]).output().unwrap(), &["--parts", "at most 170 parts", parts]);
    }
    assert!(tsunami(&["--parts", "170"]).output().unwrap().status.success());
}

#[test]
fn auto_is_what_the_environment_says() {
    for device in ["host", "wgpu"] {
        let mut command = plain(&["--steps", "0", "--frames", "0", "--json"]);
        let output = command.env("PARTITA_DEVICE", device).output().unwrap();
        let text = format!("{output:?}");
        // Where there is no adapter, its absence is an error.
        let computed = text.contains(&format!("\\\"device\\\":\\\"{device} "));
        assert!(computed || text.contains("no device `wgpu`"), "{device}: {text}");
    }
}
