//! A tsunami crosses the Salish Sea: shallow water over measured topography, on a distributed array.
//!
//! `cargo run --release --example tsunami` computes the crossing and draws it. This file holds the
//! command line and the run, under `mpirun` that of one rank of several; `scheme` the equations, `terrain`
//! and `wave` the beginning, `picture`, `relief` and `animation` the drawing.

mod animation;
mod drawing;
mod picture;
mod relief;
mod scale;
mod scheme;
mod terrain;
mod wave;

use std::error::Error;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::builder::RangedU64ValueParser;
use clap::{Parser, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use ndarray::{Array2, ArrayView2};
use partita::index::ProcessGrid;
use partita::prelude::*;
use serde_json::json;

use animation::Animation;
use picture::{Caption, Picture};
use scheme::{Fixed, NECESSARY_ARRAYS, Numbers};
use terrain::{Result, Terrain};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/salish_topobathy.npz");
/// Elevations of the colour map, in metres either way.
const COLOUR_RANGE: f64 = 2.0;
const FRAME_WIDTH: u32 = 1280;

/// A wave from the Pacific runs into the straits of the Salish Sea.
#[derive(Parser)]
struct Options {
    /// Where to compute: `host`, `wgpu`, `cuda`, or `auto`, which is what PARTITA_DEVICE says.
    #[arg(long, default_value = "auto")]
    device: String,
    /// Parts the sea is divided into, on each rank.
    #[arg(long, default_value_t = 4)]
    parts: usize,
    /// Rows and columns of parts, such as `2x3`; chosen well if not given.
    #[arg(long)]
    grid: Option<String>,
    /// Refine the measured grid of 91 x 120 points this many times each way.
    #[arg(long, default_value_t = 4, value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    scale: usize,
    /// Precision.
    #[arg(long, value_enum, default_value_t = Precision::F32)]
    dtype: Precision,
    /// Time steps; as many as the crossing takes if not given.
    #[arg(long)]
    steps: Option<u64>,
    /// Pictures to draw over the run, the last one at its end, at most one per step; 0 draws none.
    #[arg(long, default_value_t = 24)]
    frames: u64,
    /// Folder for the pictures.
    #[arg(long, default_value = "out")]
    out: PathBuf,
    /// Write the final surface elevation, the whole array in metres, as `.npy`.
    #[arg(long)]
    dump: Option<PathBuf>,
    /// End with one line of JSON on standard output.
    #[arg(long)]
    json: bool,
    /// Another topography: a `.npz` with `topo`, `latitude` and `longitude`.
    #[arg(long, default_value = DATA)]
    data: PathBuf,
    /// Start without a wave: the sea must stay exactly at rest.
    #[arg(long)]
    rest: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Precision {
    F32,
    F64,
}

fn main() {
    if let Err(error) = run(&Options::parse()) {
        std::process::exit(end(&*error));
    }
}

fn run(options: &Options) -> Result<()> {
    match options.dtype {
        Precision::F32 => simulate::<f32>(options),
        Precision::F64 => simulate::<f64>(options),
    }
}

/// An element type the sea can be computed in.
trait Real: Element + ndarray_npy::WritableElement {
    fn from_f64(value: f64) -> Self;
    fn to_f64(self) -> f64;
}

impl Real for f32 {
    fn from_f64(value: f64) -> f32 {
        value as f32
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    fn from_f64(value: f64) -> f64 {
        value
    }
    fn to_f64(self) -> f64 {
        self
    }
}

fn simulate<T: Real>(options: &Options) -> Result<()> {
    let terrain = Terrain::read(&options.data, options.scale, terrain::available_memory())?;
    let [rows, cols] = terrain.shape();
    few_parts(options.parts, rows * cols)?;
    let team = match options.device.as_str() {
        "auto" => Team::world(options.parts)?,
        named => Team::world_on(&Device::named(named)?, options.parts)?,
    };
    let speaks = team.rank() == 0;
    let dist = distribution(options, team.size(), [rows as i64, cols as i64])?;
    let numbers = Numbers {
        gravity: wave::GRAVITY,
        step: wave::time_step(&terrain),
        cell: [terrain.dx, terrain.dy],
        coriolis: wave::coriolis(&terrain),
    };
    let steps = options.steps.unwrap_or_else(|| (wave::CROSSING / numbers.step).ceil() as u64);
    if speaks {
        say(&introduction(&team, &dist, &terrain, steps, numbers.step))?;
    }

    let bed = terrain.bed();
    let load = |values: &Array2<f64>| {
        let cells: Vec<T> = values.iter().map(|&v| T::from_f64(v)).collect();
        Array::from_slice(&team, &dist, &cells)
    };
    let fixed = Fixed { bed: load(&bed)?, sponge: load(&wave::sponge(&terrain, numbers.step))? };
    let start = if options.rest { wave::lake_at_rest(&bed) } else { wave::incoming_wave(&terrain, &bed) };
    let state = vec![load(&start.eta)?, load(&start.qx)?, load(&start.qy)?];
    let volume_before = volume::<T>(&state[0], &fixed.bed)?;

    let mut sea = Loop::new(state, |state| scheme::step(state, &fixed, &numbers));
    let mut album = if speaks { Album::new(options, &terrain, &dist, &team)? } else { None };
    let progress = if speaks { progress_bar(steps) } else { ProgressBar::hidden() };
    let mut seconds = 0.0;
    let frames = options.frames.clamp(1, steps.max(1));
    for frame in 1..=frames {
        let until = (u128::from(steps) * u128::from(frame) / u128::from(frames)) as u64;
        while sea.steps() < until {
            let some = (until - sea.steps()).min(50);
            let clock = Instant::now();
            sea.run(some)?;
            team.wait()?;
            seconds += clock.elapsed().as_secs_f64();
            progress.inc(some);
        }
        if options.frames > 0 {
            // Every rank reads; one draws.
            let eta = sea.state()[0].to_vec::<T>()?;
            if let Some(album) = &mut album {
                album.add(&eta, sea.steps() as f64 * numbers.step)?;
            }
        }
    }
    progress.finish_and_clear();

    let eta = sea.state()[0].to_vec::<T>()?;
    check_finite(&eta, cols)?;
    let drift = (volume::<T>(&sea.state()[0], &fixed.bed)? - volume_before) / volume_before;
    let bytes = (NECESSARY_ARRAYS * rows * cols * T::DTYPE.size_bytes()) as f64 * steps as f64;
    let moved = if options.rest { Some(largest_motion::<T>(&start.eta, &sea)?) } else { None };
    if !speaks {
        return Ok(());
    }
    let t_eff = if seconds > 0.0 { bytes / seconds / 1e9 } else { 0.0 };
    if let Some(album) = album {
        say(&album.finish()?)?;
    }
    say(&format!(
        "{:.2} s for {steps} steps: {:.1} million cells/s, T_eff {t_eff:.2} GB/s; mass drift {drift:.1e}",
        seconds,
        (rows * cols) as f64 * steps as f64 / seconds.max(f64::MIN_POSITIVE) / 1e6
    ))?;
    if let Some(moved) = moved {
        say(&format!(
            "lake at rest: the surface moved by {:.1e} m, the largest discharge is {:.1e} m2/s",
            moved[0], moved[1]
        ))?;
    }
    // What may fail for want of room comes when everything else has been said.
    if let Some(path) = &options.dump {
        dump(path, &eta, [rows, cols])?;
    }
    if options.json {
        let grid = dist.grid().shape();
        let line = json!({
            "device": team.device(0).name(), "ranks": team.ranks(), "parts": team.size(),
            "grid": [grid[0], grid[1]], "shape": [rows, cols],
            "dtype": T::DTYPE.name(),
            "steps": steps, "seconds": seconds, "t_eff_gb_s": t_eff, "mass_drift": drift,
        });
        say(&line.to_string())?;
    }
    Ok(())
}

/// The fewest cells of a part: with fewer, its halo alone is larger.
const LEAST_CELLS: usize = 64;

/// Refuses more parts than are of use, which would take minutes to lay out.
fn few_parts(parts: usize, cells: usize) -> Result<()> {
    let most = cells / LEAST_CELLS;
    if parts <= most {
        return Ok(());
    }
    Err(format!(
        "--parts: expected at most {most} parts of {cells} cells, given {parts}; take fewer, or a larger \
         --scale"
    )
    .into())
}

/// What is computed where, before it begins.
fn introduction(team: &Team, dist: &Distribution, terrain: &Terrain, steps: u64, step: f64) -> String {
    let [rows, cols] = terrain.shape();
    let unsurveyed = match terrain.unsurveyed {
        0 => String::new(),
        cells => format!("{cells} measured cells are water without soundings; their depth is interpolated\n"),
    };
    let (dx, dy) = (terrain.dx, terrain.dy);
    format!(
        "{team}\n{dist}\n{unsurveyed}\
         {rows} x {cols} cells of {dx:.0} x {dy:.0} m; {steps} steps of {step:.2} s"
    )
}

/// The parts, with halos as wide as the scheme reaches where the parts are wide enough for them.
fn distribution(options: &Options, parts: usize, shape: [i64; 2]) -> Result<Distribution> {
    let grid = match &options.grid {
        None => ProcessGrid::balanced(parts, &shape)?,
        Some(text) => parse_grid(text, parts)?,
    };
    Ok(Distribution::builder(&shape).grid(grid.shape()).boundary(&[2, 2], &[2, 2]).build()?)
}

fn parse_grid(text: &str, parts: usize) -> Result<ProcessGrid> {
    let numbers: Option<Vec<i64>> = text.split('x').map(|n| n.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some([rows, cols]) if rows.checked_mul(*cols) == Some(parts as i64) => {
            Ok(ProcessGrid::new(&[*rows, *cols])?)
        }
        _ => Err(format!("--grid: expected ROWSxCOLUMNS with {parts} parts in all, given {text:?}").into()),
    }
}

/// The water over the bed, in cells times metres, summed in f64 with compensation (Neumaier 1974).
fn volume<T: Real>(eta: &Array, bed: &Array) -> Result<f64> {
    let (mut sum, mut lost) = (0.0f64, 0.0f64);
    for (eta, bed) in eta.to_vec::<T>()?.iter().zip(bed.to_vec::<T>()?) {
        let depth = eta.to_f64() - bed.to_f64();
        let total = sum + depth;
        lost += if sum.abs() >= depth.abs() { (sum - total) + depth } else { (depth - total) + sum };
        sum = total;
    }
    Ok(sum + lost)
}

fn check_finite<T: Real>(eta: &[T], cols: usize) -> Result<()> {
    match eta.iter().position(|value| !value.to_f64().is_finite()) {
        None => Ok(()),
        Some(at) => Err(format!(
            "the run became unstable: row {}, column {} is not a finite number; the time step suits waves \
             of a few metres, so check the topography, or try --dtype f64",
            at / cols,
            at % cols
        )
        .into()),
    }
}

fn largest_motion<T: Real>(
    start: &Array2<f64>,
    sea: &Loop<impl FnMut(&mut [Array]) -> partita::Result<()>>,
) -> Result<[f64; 2]> {
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0f64, |m, v| m.max(v.abs()));
    let [eta, qx, qy] = sea.state() else { return Err("the state is eta, qx, qy".into()) };
    let eta = eta.to_vec::<T>()?;
    let moved = largest(&mut eta.iter().zip(start).map(|(a, &b)| a.to_f64() - T::from_f64(b).to_f64()));
    let q: Vec<T> = [qx.to_vec::<T>()?, qy.to_vec::<T>()?].concat();
    Ok([moved, largest(&mut q.iter().map(|v| v.to_f64()))])
}

fn dump<T: Real>(path: &Path, eta: &[T], shape: [usize; 2]) -> Result<()> {
    let named = |e: &dyn std::fmt::Display| {
        format!("--dump {}: {e}; choose a file that can be written", path.display())
    };
    let view = ArrayView2::from_shape((shape[0], shape[1]), eta)?;
    let mut file = std::fs::File::create(path).map_err(|e| named(&e))?;
    ndarray_npy::WriteNpyExt::write_npy(&view, &mut file).map_err(|e| named(&e))?;
    file.sync_all().map_err(|e| named(&e))?;
    Ok(())
}

fn progress_bar(steps: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} steps  {per_sec}  {eta} left");
    ProgressBar::new(steps).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The pictures of a run.
struct Album {
    picture: Picture,
    animation: Animation,
    folder: PathBuf,
    frames: usize,
}

impl Album {
    fn new(options: &Options, terrain: &Terrain, dist: &Distribution, team: &Team) -> Result<Option<Album>> {
        if options.frames == 0 {
            return Ok(None);
        }
        std::fs::create_dir_all(&options.out)
            .map_err(|e| format!("--out {}: {e}; choose a folder that can be made", options.out.display()))?;
        let parts: Vec<_> = (0..dist.parts()).map(|part| dist.owned(part)).collect();
        let [rows, cols] = terrain.shape();
        let caption = Caption {
            title: "A tsunami enters the Salish Sea".to_owned(),
            subtitle: format!("{rows} x {cols} cells, {} parts on {}", dist.parts(), team.device(0).name()),
        };
        let picture = Picture::new(terrain, &parts, COLOUR_RANGE, FRAME_WIDTH, &caption)?;
        Ok(Some(Album { picture, animation: Animation::default(), folder: options.out.clone(), frames: 0 }))
    }

    fn add<T: Real>(&mut self, eta: &[T], seconds: f64) -> Result<()> {
        let values: Vec<f32> = eta.iter().map(|v| v.to_f64() as f32).collect();
        let frame = self.picture.frame(&values, seconds)?;
        self.frames += 1;
        frame.save_png(&self.folder.join(format!("frame_{:03}.png", self.frames)))?;
        self.animation.push(&frame);
        Ok(())
    }

    fn finish(self) -> Result<String> {
        let path = self.folder.join("tsunami.gif");
        self.animation.save_gif(&path, 12)?;
        Ok(format!("{} frames and {} in {}", self.frames, "tsunami.gif", self.folder.display()))
    }
}

/// What a shell reports of a program that SIGPIPE ended: 128 and the signal's number.
const CLOSED_PIPE: i32 = 141;

/// Prints lines to standard output at once.
///
/// # Errors
/// A closed pipe or a full disk.
fn say(lines: &str) -> Result<()> {
    let mut output = io::stdout().lock();
    let written = output.write_all(format!("{lines}\n").as_bytes()).and_then(|()| output.flush());
    written.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => error.into(),
        _ => format!("standard output: {error}; write it to a place with room").into(),
    })
}

/// Prints the error that ends the program, in one line; gives the exit code. When the reader of standard
/// output has gone, nothing is printed, as usual in pipelines.
fn end(error: &(dyn Error + 'static)) -> i32 {
    if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe) {
        return CLOSED_PIPE;
    }
    // If standard error is full or closed too, only the exit code is left to tell.
    let _ = io::stderr().write_all(format!("tsunami: {error}\n").as_bytes());
    1
}
