//! The land and the sea floor: reads the `.npz`, checks it, fills what was never surveyed, refines the grid.
//!
//! Rows go from south to north and columns from west to east, as in the file. Heights are metres above the
//! datum, negative below the sea. Knows nothing of waves, of arrays on devices, or of pictures.

use std::error::Error;
use std::fs::{File, read_to_string};
use std::path::Path;

use ndarray::{Array1, Array2, ArrayBase, Axis, Dimension, OwnedRepr};
use ndarray_npy::{NpzReader, ReadNpyError, ReadNpzError, ReadableElement};

/// Every error here is printed and ends the program, so a message is enough.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Mean radius of the Earth in metres.
const EARTH_RADIUS: f64 = 6.371e6;
/// The data set marks coastal water without soundings with this height.
const UNSURVEYED: f64 = -1.0;
/// Height that the coast lends to unsurveyed water beside it.
const COAST_DEPTH: f64 = -10.0;
/// Sweeps of the relaxation that fills unsurveyed water; holes are at most some 15 cells wide.
const FILL_SWEEPS: usize = 400;
/// Height of the closed wall around the model.
const WALL: f64 = 100.0;
/// Heights on Earth in metres, with some room: from the deepest trench to the highest mountain.
const HEIGHTS: [f64; 2] = [-12_000.0, 9_000.0];
/// The narrowest cell in metres: below, no crossing would come to an end.
const NARROWEST: f64 = 0.5;
/// Bytes of host memory that the whole program takes per cell at its most: eight fields in f64 here, and the
/// state and what it is read into in at most f64.
const BYTES_PER_CELL: u128 = 170;
/// Width of that wall in cells: what a stencil of radius 2 may read but never writes.
pub const WALL_CELLS: usize = 2;

/// A topography on a regular grid of cells.
#[derive(Clone, Debug)]
pub struct Terrain {
    /// Height of every cell in metres, row 0 in the south.
    pub elevation: Array2<f64>,
    /// Width of a cell from west to east, in metres at the middle latitude.
    pub dx: f64,
    /// Height of a cell from south to north, in metres.
    pub dy: f64,
    /// Degrees north along the rows.
    pub latitude: Degrees,
    /// Degrees east along the columns.
    pub longitude: Degrees,
    /// Source cells whose depth was interpolated because the data set has none.
    pub unsurveyed: usize,
}

/// The geographical coordinate along one direction. Steps may vary a little: on a Mercator map, as the
/// shipped one is, latitudes do.
#[derive(Clone, Debug)]
pub struct Degrees {
    centres: Vec<f64>,
}

impl Terrain {
    /// Reads `topo`, `latitude` and `longitude` from a `.npz` file and refines the grid `scale` times.
    ///
    /// # Errors
    /// A file that cannot be read or is no topography; a grid too large for `available` bytes of memory.
    pub fn read(path: &Path, scale: usize, available: Option<u64>) -> Result<Terrain> {
        let named = |e: Box<dyn Error>| format!("{}: {e}", path.display());
        let (topo, latitude, longitude) = read_arrays(path).map_err(named)?;
        check_room(topo.dim(), scale, available)?;
        Ok(Terrain::new(topo, &latitude, &longitude, scale).map_err(named)?)
    }

    /// Builds the refined terrain from heights at the given latitudes (rows) and longitudes (columns).
    pub fn new(
        mut topo: Array2<f64>,
        latitude: &Array1<f64>,
        longitude: &Array1<f64>,
        scale: usize,
    ) -> Result<Terrain> {
        if scale == 0 {
            return Err("the scale must be at least 1, not 0".into());
        }
        check_heights(&topo)?;
        let latitude = Degrees::new("latitude", latitude, topo.nrows())?;
        let longitude = Degrees::new("longitude", longitude, topo.ncols())?;
        let unsurveyed = fill_unsurveyed(&mut topo);
        let ([south, north], [west, east]) = (latitude.edges(), longitude.edges());
        let metres = EARTH_RADIUS.to_radians();
        let (rows, cols) = (topo.nrows() * scale, topo.ncols() * scale);
        let parallel = (0.5 * (south + north)).to_radians().cos();
        let dx = metres * parallel * (east - west) / cols as f64;
        let dy = metres * (north - south) / rows as f64;
        if !(dx >= NARROWEST && dy >= NARROWEST) {
            return Err(format!(
                "cells of {dx:.2e} x {dy:.2e} m are too small: at least {NARROWEST} m each way are needed; \
                 check latitude and longitude, or take a smaller scale"
            )
            .into());
        }
        Ok(Terrain {
            elevation: refine(&refine(&topo, scale, Axis(0)), scale, Axis(1)),
            dx,
            dy,
            latitude,
            longitude,
            unsurveyed,
        })
    }

    /// Rows and columns.
    pub fn shape(&self) -> [usize; 2] {
        [self.elevation.nrows(), self.elevation.ncols()]
    }

    /// Latitude of the middle, in degrees: where the plane of the Coriolis force touches the Earth.
    pub fn mean_latitude(&self) -> f64 {
        let [south, north] = self.latitude.edges();
        0.5 * (south + north)
    }

    /// The bed of the model: the terrain with a dry wall of [`WALL_CELLS`] cells around it.
    pub fn bed(&self) -> Array2<f64> {
        let [rows, cols] = self.shape();
        let inside = |i: usize, n: usize| i >= WALL_CELLS && i + WALL_CELLS < n;
        Array2::from_shape_fn((rows, cols), |(i, j)| {
            let height = self.elevation[[i, j]];
            if inside(i, rows) && inside(j, cols) { height } else { height.max(WALL) }
        })
    }
}

/// The three arrays of the file, as f64.
fn read_arrays(path: &Path) -> Result<(Array2<f64>, Array1<f64>, Array1<f64>)> {
    let foreign =
        |e| format!("not a topography file: {e}; expected a .npz with topo, latitude and longitude");
    let absent = |e| format!("{e}; name a .npz with topo, latitude and longitude, or leave `--data` out");
    let mut npz = NpzReader::new(File::open(path).map_err(absent)?).map_err(foreign)?;
    let present = npz.names()?;
    let wanted = ["topo", "latitude", "longitude"];
    let missing: Vec<_> = wanted.into_iter().filter(|w| !present.iter().any(|p| p == w)).collect();
    if !missing.is_empty() {
        return Err(format!(
            "not a topography file: it lacks {}; it holds {}; expected topo (rows x columns), \
             latitude (rows) and longitude (columns)",
            missing.join(", "),
            if present.is_empty() { "no arrays".into() } else { present.join(", ") }
        )
        .into());
    }
    Ok((read_one(&mut npz, "topo")?, read_one(&mut npz, "latitude")?, read_one(&mut npz, "longitude")?))
}

/// One array of f32 or f64, as f64.
fn read_one<D: Dimension>(npz: &mut NpzReader<File>, name: &str) -> Result<ArrayBase<OwnedRepr<f64>, D>> {
    fn typed<T: ReadableElement, D: Dimension>(
        npz: &mut NpzReader<File>,
        name: &str,
    ) -> std::result::Result<ArrayBase<OwnedRepr<T>, D>, ReadNpzError> {
        npz.by_name(name)
    }
    let read = match typed::<f32, D>(npz, name) {
        Err(ReadNpzError::Npy(ReadNpyError::WrongDescriptor(_))) => typed::<f64, D>(npz, name),
        read => read.map(|array| array.mapv(f64::from)),
    };
    Ok(read.map_err(|e| match e {
        ReadNpzError::Npy(ReadNpyError::WrongDescriptor(_) | ReadNpyError::WrongNdim(..)) => {
            format!("array `{name}` must be f32 or f64 with {:?} dimensions: {e}", D::NDIM)
        }
        _ => format!("array `{name}` cannot be read: {e}; check the file, and the limits of the process"),
    })?)
}

/// Bytes that can still be allocated: what the machine has free, and what the process's limits leave.
pub fn available_memory() -> Option<u64> {
    let free = read_to_string("/proc/meminfo").ok().and_then(|text| number_behind(&text, "MemAvailable:"));
    let group = read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    let space = read_to_string("/proc/self/limits");
    let space = space.ok().and_then(|text| number_behind(&text, "Max address space"));
    [free.map(|kib| kib.saturating_mul(1024)), group, space].into_iter().flatten().min()
}

/// The first number behind a word, if one follows it.
pub fn number_behind(text: &str, word: &str) -> Option<u64> {
    text.split_once(word)?.1.split_whitespace().next()?.parse().ok()
}

/// Refuses a refined grid for which there is no room, before anything is allocated for it.
fn check_room((rows, cols): (usize, usize), scale: usize, available: Option<u64>) -> Result<()> {
    let cells = (rows as u128 * cols as u128).saturating_mul((scale as u128).saturating_mul(scale as u128));
    let needed = cells.saturating_mul(BYTES_PER_CELL);
    // Where nobody says how much there is, what an address can reach.
    let available = u128::from(available.unwrap_or(i64::MAX as u64));
    if needed <= available {
        return Ok(());
    }
    let gib = |bytes: u128| bytes as f64 / (1u64 << 30) as f64;
    Err(format!(
        "--scale {scale}: {cells:.1e} cells need about {:.1e} GiB of memory, and there are {:.1} GiB; take a \
         smaller scale",
        gib(needed),
        gib(available),
        cells = cells as f64
    )
    .into())
}

/// Refuses grids too small to interpolate, heights that are no numbers or not of this Earth, and dry land
/// alone.
fn check_heights(topo: &Array2<f64>) -> Result<()> {
    let (rows, cols) = topo.dim();
    if rows < 4 || cols < 4 {
        return Err(format!("topo is {rows} x {cols}; at least 4 x 4 points are needed").into());
    }
    let mut bad = topo.indexed_iter().filter(|(_, height)| !height.is_finite());
    if let Some(((i, j), height)) = bad.next() {
        let count = 1 + bad.count();
        return Err(format!(
            "topo holds {count} {} without a height, the first at row {i}, column {j} ({height}); fill them \
             before use",
            if count == 1 { "cell" } else { "cells" }
        )
        .into());
    }
    let [deepest, highest] = HEIGHTS;
    let strange = |(_, height): &(_, &f64)| !(deepest..=highest).contains(*height);
    if let Some(((i, j), height)) = topo.indexed_iter().find(strange) {
        return Err(format!(
            "topo has the height {height:.3e} at row {i}, column {j}; heights are metres from {deepest} to \
             {highest}"
        )
        .into());
    }
    if topo.iter().all(|&height| height >= 0.0) {
        return Err("topo has no cell below 0 m: there is no sea to run a wave over".into());
    }
    Ok(())
}

impl Degrees {
    /// Checks that the cell centres ascend in steps that differ by at most a tenth from the mean one.
    /// Longitudes beyond 180 become negative.
    fn new(name: &str, centres: &Array1<f64>, cells: usize) -> Result<Degrees> {
        if centres.len() != cells {
            let side = if name == "latitude" { "rows" } else { "columns" };
            return Err(format!("topo has {cells} {side}, but {name} has {} values", centres.len()).into());
        }
        let (first, last) = (centres[0], centres[cells - 1]);
        let [least, most] = if name == "latitude" { [-90.0, 90.0] } else { [-180.0, 360.0] };
        if let Some(strange) = centres.iter().find(|degrees| !(least..=most).contains(*degrees)) {
            return Err(
                format!("{name} has {strange:.6e}; degrees from {least} to {most} are expected").into()
            );
        }
        let step = (last - first) / (cells - 1) as f64;
        let even = |pair: (&f64, &f64)| (pair.1 - pair.0 - step).abs() <= 0.1 * step;
        if step.is_nan() || step <= 0.0 || !centres.iter().zip(centres.iter().skip(1)).all(even) {
            return Err(format!("{name} must ascend in even steps; it goes from {first} to {last}").into());
        }
        let turn = if first > 180.0 { 360.0 } else { 0.0 };
        Ok(Degrees { centres: centres.iter().map(|x| x - turn).collect() })
    }

    /// The outer edges, half a cell beyond the first and the last centre.
    pub fn edges(&self) -> [f64; 2] {
        let c = &self.centres;
        let n = c.len();
        [1.5 * c[0] - 0.5 * c[1], 1.5 * c[n - 1] - 0.5 * c[n - 2]]
    }

    /// Where a coordinate lies: 0 at the first edge, 1 at the last.
    pub fn fraction(&self, degrees: f64) -> f64 {
        let c = &self.centres;
        let below = c.partition_point(|&x| x <= degrees).clamp(1, c.len() - 1) - 1;
        let beyond = (degrees - c[below]) / (c[below + 1] - c[below]);
        (below as f64 + beyond + 0.5) / c.len() as f64
    }
}

/// Gives unsurveyed water the smooth (harmonic) continuation of the soundings around it. Returns how many
/// cells that were.
fn fill_unsurveyed(topo: &mut Array2<f64>) -> usize {
    let (rows, cols) = topo.dim();
    let holes: Vec<_> = topo.indexed_iter().filter(|(_, h)| **h == UNSURVEYED).map(|(at, _)| at).collect();
    let mut depth = topo.mapv(|h| if h >= 0.0 || h == UNSURVEYED { COAST_DEPTH } else { h });
    for _ in 0..FILL_SWEEPS {
        for &(i, j) in &holes {
            let (south, north) = (i.saturating_sub(1), (i + 1).min(rows - 1));
            let (west, east) = (j.saturating_sub(1), (j + 1).min(cols - 1));
            depth[[i, j]] =
                0.25 * (depth[[south, j]] + depth[[north, j]] + depth[[i, west]] + depth[[i, east]]);
        }
    }
    for &at in &holes {
        topo[at] = depth[at];
    }
    holes.len()
}

/// Divides every cell along one axis by cubic (Catmull-Rom) interpolation between cell centres.
fn refine(coarse: &Array2<f64>, scale: usize, axis: Axis) -> Array2<f64> {
    let cells = coarse.len_of(axis);
    let mut shape = coarse.raw_dim();
    shape[axis.index()] = cells * scale;
    let mut fine = Array2::zeros(shape);
    for (k, mut lane) in fine.axis_iter_mut(axis).enumerate() {
        let position = (k as f64 + 0.5) / scale as f64 - 0.5;
        let below = position.floor();
        for (offset, weight) in (-1..).zip(catmull_rom(position - below)) {
            let from = (below as isize + offset).clamp(0, cells as isize - 1) as usize;
            lane.scaled_add(weight, &coarse.index_axis(axis, from));
        }
    }
    fine
}

/// Weights of the four neighbours of a point at fraction `t` between the middle two.
pub fn catmull_rom(t: f64) -> [f64; 4] {
    [
        ((-0.5 * t + 1.0) * t - 0.5) * t,
        (1.5 * t - 2.5) * t * t + 1.0,
        ((-1.5 * t + 2.0) * t + 0.5) * t,
        (0.5 * t - 0.5) * t * t,
    ]
}
