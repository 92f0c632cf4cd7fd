//! The land and the sea floor: how a file becomes a terrain, and which files are refused.

use std::fs::File;
use std::path::{Path, PathBuf};

use ndarray::{Array1, Array2};
use ndarray_npy::NpzWriter;

use crate::terrain::{Result, Terrain, number_behind};

fn axis(from: f64, cells: usize) -> Array1<f64> {
    Array1::from_iter((0..cells).map(|i| from + 0.1 * i as f64))
}

/// A sea floor that falls by 10 m per column and 3 m per row from -20 m.
fn slope(rows: usize, cols: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, cols), |(i, j)| -20.0 - 3.0 * i as f64 - 10.0 * j as f64)
}

fn error_of(result: Result<Terrain>) -> String {
    result.expect_err("must be refused").to_string()
}

fn file(name: &str, arrays: &[(&str, Array1<f64>)]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("partita-terrain-{}-{name}.npz", std::process::id()));
    let mut npz = NpzWriter::new(File::create(&path).unwrap());
    for (array, values) in arrays {
        npz.add_array(*array, values).unwrap();
    }
    npz.finish().unwrap();
    path
}

#[test]
fn a_slope_stays_a_slope_when_refined() {
    let terrain = Terrain::new(slope(6, 8), &axis(48.0, 6), &axis(234.0, 8), 3).unwrap();
    assert_eq!(terrain.shape(), [18, 24]);
    // Fine cell 10 is the middle third of coarse cell 3; cubic interpolation is exact on a plane.
    assert!((terrain.elevation[[10, 10]] - (-20.0 - 9.0 - 30.0)).abs() < 1e-12);
    assert!((terrain.elevation[[10, 11]] - (-20.0 - 9.0 - 30.0 - 10.0 / 3.0)).abs() < 1e-12);
    assert!((terrain.longitude.edges()[0] + 126.05).abs() < 1e-9);
    assert!((terrain.latitude.fraction(48.1) - 0.25).abs() < 1e-9);
    let degree = terrain.dy * 18.0 / 0.6;
    assert!((degree - 111_195.0).abs() < 1.0, "a degree of latitude is {degree} m");
    assert!((terrain.dx / terrain.dy - terrain.mean_latitude().to_radians().cos()).abs() < 1e-9);
}

#[test]
fn the_wall_is_two_cells_wide_and_dry() {
    let terrain = Terrain::new(slope(6, 8), &axis(48.0, 6), &axis(-126.0, 8), 1).unwrap();
    let bed = terrain.bed();
    for ((i, j), &height) in bed.indexed_iter() {
        let wall = i < 2 || j < 2 || i >= 4 || j >= 6;
        assert_eq!(height, if wall { 100.0 } else { terrain.elevation[[i, j]] }, "cell {i}, {j}");
    }
}

#[test]
fn unsurveyed_water_continues_the_soundings() {
    let mut topo = slope(5, 7);
    topo[[2, 3]] = -1.0;
    let terrain = Terrain::new(topo, &axis(48.0, 5), &axis(-126.0, 7), 1).unwrap();
    assert_eq!(terrain.unsurveyed, 1);
    assert!((terrain.elevation[[2, 3]] - slope(5, 7)[[2, 3]]).abs() < 1e-9);
}

#[test]
fn cells_without_a_height_are_counted_and_located() {
    let mut topo = slope(5, 7);
    topo[[1, 4]] = f64::NAN;
    topo[[3, 0]] = f64::INFINITY;
    let message = error_of(Terrain::new(topo, &axis(48.0, 5), &axis(-126.0, 7), 1));
    assert!(message.contains("2 cells") && message.contains("row 1, column 4"), "{message}");
}

#[test]
fn wrong_shapes_and_axes_are_named() {
    let message = error_of(Terrain::new(slope(5, 7), &axis(48.0, 7), &axis(-126.0, 7), 1));
    assert!(message.contains("topo has 5 rows, but latitude has 7 values"), "{message}");
    let falling = Array1::from_iter(axis(48.0, 5).to_vec().into_iter().rev());
    let message = error_of(Terrain::new(slope(5, 7), &falling, &axis(-126.0, 7), 1));
    assert!(message.contains("latitude must ascend"), "{message}");
    assert!(error_of(Terrain::new(-slope(5, 7), &axis(48.0, 5), &axis(0.0, 7), 1)).contains("no sea"));
    assert!(error_of(Terrain::new(slope(5, 7), &axis(48.0, 5), &axis(0.0, 7), 0)).contains("scale"));
}

#[test]
fn coordinates_and_heights_that_are_not_of_this_earth_are_refused() {
    let of = |latitude: &Array1<f64>, longitude: &Array1<f64>| {
        error_of(Terrain::new(slope(5, 7), latitude, longitude, 1))
    };
    let good = axis(-126.0, 7);
    assert!(of(&axis(470.0, 5), &good).contains("latitude has 4.7"));
    assert!(of(&(axis(48.0, 5) * 1e300), &good).contains("degrees from -90 to 90"));
    assert!(of(&axis(f64::NAN, 5), &good).contains("latitude has NaN"));
    assert!(of(&axis(48.0, 5), &axis(-1e9, 7)).contains("longitude has"));
    assert!(of(&axis(48.0, 5), &Array1::from_elem(7, -126.0)).contains("longitude must ascend"));
    let close = Array1::from_iter((0..5).map(|i| 48.0 + 1e-9 * f64::from(i)));
    assert!(of(&close, &good).contains("too small"));
    let deep = Terrain::new(slope(5, 7) * 5e30, &axis(48.0, 5), &good, 1);
    assert!(error_of(deep).contains("heights are metres from -12000 to 9000"));
}

#[test]
fn scales_without_room_are_refused_with_what_they_need() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/salish_topobathy.npz");
    for scale in [3000, 1_000_000, usize::MAX] {
        let text = error_of(Terrain::read(&data, scale, Some(16 << 30)));
        assert!(text.contains("GiB of memory, and there are 16.0 GiB"), "{text}");
    }
    assert!(Terrain::read(&data, usize::MAX, None).is_err());
    Terrain::read(&data, 4, Some(1 << 30)).unwrap();
}

#[test]
fn a_file_that_is_no_topography_is_named_with_what_it_lacks() {
    let path = file("lacking", &[("latitude", axis(48.0, 4)), ("wind", axis(0.0, 2))]);
    let message = error_of(Terrain::read(&path, 1, None));
    std::fs::remove_file(&path).unwrap();
    assert!(message.contains("lacking.npz") && message.contains("lacks topo, longitude"), "{message}");
    assert!(message.contains("holds latitude, wind"), "{message}");
    let path =
        file("flat", &[("topo", axis(0.0, 4)), ("latitude", axis(48.0, 4)), ("longitude", axis(0.0, 4))]);
    let message = error_of(Terrain::read(&path, 1, None));
    std::fs::remove_file(&path).unwrap();
    assert!(message.contains("`topo`"), "{message}");
    assert!(error_of(Terrain::read(Path::new("nowhere.npz"), 1, None)).contains("nowhere.npz"));
}

#[test]
fn numbers_are_found_and_unlimited_is_none() {
    let text = "MemTotal: 5 kB\nMemAvailable:   123 kB\nMax address space     unlimited   unlimited  bytes";
    assert_eq!(number_behind(text, "MemAvailable:"), Some(123));
    assert_eq!(number_behind(text, "Max address space"), None);
    assert_eq!(number_behind(text, "Swap:"), None);
}
