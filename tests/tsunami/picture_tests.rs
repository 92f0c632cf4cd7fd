//! The start of the wave, the scales of pictures, pictures and animations.

use std::fs::File;
use std::path::Path;

use ndarray::{Array1, Array2};
use partita::index::Region;
use tiny_skia::{Color, Pixmap};

use crate::animation::Animation;
use crate::picture::{Caption, Frame, Picture};
use crate::scale::{bar_ticks, clock, stretch, ticks};
use crate::terrain::Terrain;
use crate::wave::{AMPLITUDE, COURANT, GRAVITY, SPONGE_TIME, incoming_wave, sponge, time_step};

#[test]
fn scales_and_clocks() {
    assert_eq!(clock(8123.6), "02:15:24");
    assert_eq!(ticks([48.005, 49.995]).first(), Some(&48.2));
    assert_eq!(ticks([-126.03, -121.98]), [-126.0, -125.0, -124.0, -123.0, -122.0]);
    let bar = bar_ticks(2.5, 0.07);
    assert_eq!(bar.iter().copied().fold(0.0, f64::max), 2.5);
    assert!(bar.contains(&0.5) && bar.contains(&-0.5) && bar.iter().sum::<f64>().abs() < 1e-12);
    assert_eq!((stretch(-0.25), stretch(9.0)), (-0.5, 1.0));
}

fn basin() -> Terrain {
    let topo = Array2::from_shape_fn((30, 40), |(i, j)| if j < 30 { -500.0 - i as f64 } else { 20.0 });
    let axis = |from: f64, n: usize| Array1::from_iter((0..n).map(|k| from + 0.05 * k as f64));
    Terrain::new(topo, &axis(48.0, 30), &axis(-126.0, 40), 1).unwrap()
}

#[test]
fn land_stays_dry_and_the_wave_runs_to_the_north_east() {
    let terrain = basin();
    let bed = terrain.bed();
    let start = incoming_wave(&terrain, &bed);
    for (at, &z) in bed.indexed_iter().filter(|(_, z)| **z >= 0.0) {
        assert_eq!((start.eta[at], start.qx[at], start.qy[at]), (z, 0.0, 0.0));
    }
    let highest = start.eta.iter().zip(&bed).filter(|(_, z)| **z < 0.0).map(|(e, _)| *e).fold(0.0, f64::max);
    assert!(highest > 2.0 && highest <= AMPLITUDE, "{highest}");
    let crest = start.eta.indexed_iter().find(|(at, e)| bed[*at] < 0.0 && **e == highest).unwrap().0;
    let speed = (GRAVITY * (highest - bed[crest])).sqrt();
    assert!((start.qx[crest].hypot(start.qy[crest]) - speed * highest).abs() < 1e-9);
    assert!(start.qx[crest] > start.qy[crest] && start.qy[crest] > 0.0);
}

#[test]
fn the_sponge_is_dry_of_effect_inside_and_the_step_obeys_courant() {
    let terrain = basin();
    let step = time_step(&terrain);
    let fastest = (GRAVITY * 529.0f64).sqrt() * step / terrain.dx.min(terrain.dy);
    assert!(fastest < COURANT && fastest > 0.98 * COURANT, "{fastest}");
    let sponge = sponge(&terrain, step);
    assert_eq!(sponge[[15, 20]], 0.0);
    assert!(sponge[[0, 0]] > sponge[[2, 2]] && sponge[[2, 2]] > 0.0 && sponge[[0, 0]] < step / SPONGE_TIME);
}

/// Sea 100 m deep with land in the easternmost quarter.
fn bay() -> Terrain {
    let topo = Array2::from_shape_fn((12, 16), |(_, j)| if j < 12 { -100.0 } else { 400.0 });
    let axis = |from: f64, n: usize| Array1::from_iter((0..n).map(|k| from + 0.1 * k as f64));
    Terrain::new(topo, &axis(48.0, 12), &axis(-126.0, 16), 2).unwrap()
}

fn picture(terrain: &Terrain) -> Picture {
    let [rows, cols] = terrain.shape().map(|n| n as i64);
    let parts = [0, cols / 2].map(|from| Region::new(&[0, from], &[rows, from + cols / 2]).unwrap());
    let caption = Caption { title: "A < B & C".into(), subtitle: String::new() };
    Picture::new(terrain, &parts, 2.0, 640, &caption).unwrap()
}

/// Red minus blue where the map is at these fractions of its width and height (from the south). Left and
/// right of the map are 58 and 112 units of the width's 1280, above and below it 78 and 76.
fn redness(Frame(image): &Frame, right: f64, up: f64) -> i32 {
    let unit = f64::from(image.width()) / 1280.0;
    let height = f64::from(image.height()) / unit;
    let (x, y) = (58.0 + (1280.0 - 58.0 - 112.0) * right, 78.0 + (height - 78.0 - 76.0) * (1.0 - up));
    let pixel = image.pixel((x * unit) as u32, (y * unit) as u32).unwrap();
    i32::from(pixel.red()) - i32::from(pixel.blue())
}

#[test]
fn north_is_up_and_red_is_above_and_land_never_changes() {
    let terrain = bay();
    let picture = picture(&terrain);
    let [rows, cols] = terrain.shape();
    let eta: Vec<f32> = (0..rows * cols).map(|k| if k / cols < rows / 2 { -1.0 } else { 1.0 }).collect();
    let (still, wave) =
        (picture.frame(&vec![0.0; rows * cols], 0.0).unwrap(), picture.frame(&eta, 0.0).unwrap());
    assert!(redness(&wave, 0.3, 0.7) > 60 && redness(&wave, 0.3, 0.3) < -60);
    assert!(redness(&still, 0.3, 0.7).abs() < 12);
    assert_eq!(redness(&still, 0.9, 0.7), redness(&wave, 0.9, 0.7));
}

#[test]
fn a_surface_of_another_shape_is_refused() {
    let message = picture(&bay()).frame(&[0.0; 7], 0.0).err().unwrap().to_string();
    assert!(message.contains("24 x 32") && message.contains('7'), "{message}");
}

#[test]
fn files_that_cannot_be_written_are_named() {
    let frame = picture(&bay()).frame(&vec![0.0; 24 * 32], 0.0).unwrap();
    let message = frame.save_png(Path::new("no/such/place/a.png")).err().unwrap().to_string();
    assert!(message.contains("no/such/place/a.png"), "{message}");
    if cfg!(target_os = "linux") {
        let message = frame.save_png(Path::new("/dev/full")).err().unwrap().to_string();
        assert!(message.contains("/dev/full"), "{message}");
    }
}

fn plain(r: u8, g: u8, b: u8) -> Frame {
    let mut pixmap = Pixmap::new(60, 40).unwrap();
    pixmap.fill(Color::from_rgba8(r, g, b, 255));
    Frame(pixmap)
}

#[test]
fn every_frame_comes_back_smaller_with_its_colour() {
    let colours: [[u8; 3]; 3] = [[200, 30, 40], [200, 30, 40], [20, 60, 220]];
    let mut animation = Animation::default();
    colours.iter().for_each(|&[r, g, b]| animation.push(&plain(r, g, b)));
    let path = std::env::temp_dir().join(format!("partita-animation-{}.gif", std::process::id()));
    let bytes = animation.save_gif(&path, 8).unwrap();
    assert_eq!(bytes, std::fs::metadata(&path).unwrap().len());
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut gif = options.read_info(File::open(&path).unwrap()).unwrap();
    let mut shown = [0; 4];
    for expected in colours {
        let frame = gif.read_next_frame().unwrap().unwrap();
        assert_eq!((frame.width, frame.height), (30, 20));
        let pixel: [u8; 4] = frame.buffer[4 * 317..][..4].try_into().unwrap();
        shown = if pixel[3] == 0 { shown } else { pixel };
        let error = (0..3).map(|k| shown[k].abs_diff(expected[k])).max();
        assert!(error.unwrap() <= 6, "{shown:?} instead of {expected:?}");
    }
    assert!(gif.read_next_frame().unwrap().is_none());
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_missing_directory_is_named() {
    let mut animation = Animation::default();
    animation.push(&plain(1, 2, 3));
    let message = animation.save_gif(Path::new("no/such/place/a.gif"), 8).err().unwrap().to_string();
    assert!(message.contains("no/such/place/a.gif"), "{message}");
}
