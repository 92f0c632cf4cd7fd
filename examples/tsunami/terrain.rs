//! The land and the sea floor: reads the `.npz`, checks it, fills what was never surveyed, refines the grid.
//!
//! Rows go from south to north and columns from west to east, as in the file. Heights are metres above the
//! datum, negative below the sea. Knows nothing of waves, of arrays on devices, or of pictures.

use std::error::Error;
use std::fs::File;
use std::path::Path;

use ndarray::{Array1, Array2, ArrayBase, Axis, Dimension, OwnedRepr};
use ndarray_npy::{NpzReader, ReadNpzError, ReadableElement};

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
    match typed::<f32, D>(npz, name) {
        Ok(array) => Ok(array.mapv(f64::from)),
        Err(_) => Ok(typed::<f64, D>(npz, name)
            .map_err(|e| format!("array `{name}` must be f32 or f64 with {:?} dimensions: {e}", D::NDIM))?),
    }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use ndarray_npy::NpzWriter;
    use std::path::PathBuf;

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
        for scale in [3000, 1_000_000, usize::MAX] {
            let text = check_room((91, 120), scale, Some(16 << 30)).unwrap_err().to_string();
            assert!(text.contains("GiB of memory, and there are 16.0 GiB"), "{text}");
        }
        assert!(check_room((91, 120), usize::MAX, None).is_err());
        check_room((91, 120), 4, Some(1 << 30)).unwrap();
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
}
