//! The ground of a picture: shaded land, coast, and for every water pixel where its surface is to be read.
//!
//! Works pixel by pixel on an image and knows neither text nor time.

use ndarray::Array2;
use tiny_skia::Pixmap;

use super::terrain::{Terrain, WALL_CELLS, catmull_rom};

/// Colours of the land by height in metres, lowest first.
const TINTS: [(f64, [f64; 3]); 6] = [
    (0.0, [158.0, 178.0, 146.0]),
    (150.0, [181.0, 194.0, 158.0]),
    (500.0, [214.0, 208.0, 174.0]),
    (1000.0, [199.0, 182.0, 154.0]),
    (1500.0, [214.0, 207.0, 198.0]),
    (2100.0, [250.0, 250.0, 250.0]),
];
const COAST: [f64; 3] = [51.0, 69.0, 79.0];
/// How much steeper slopes are drawn than they are.
const LAND_STEEPNESS: f64 = 3.0;
const SEA_STEEPNESS: f64 = 6.0;
/// How dark the shade gets: 0 is none.
const LAND_SHADE: f64 = 0.5;
const SEA_SHADE: f64 = 0.16;

/// A pixel that shows water.
#[derive(Clone, Copy, Debug)]
pub struct WaterPixel {
    /// Position in the image, row by row.
    pub index: u32,
    /// Share of the pixel that is water, the rest is shore.
    pub cover: f32,
    /// Brightness by the shape of the sea floor.
    pub shade: f32,
    cells: [u32; 4],
    weights: [f32; 4],
}

impl WaterPixel {
    /// The surface here, interpolated between the sea cells around.
    pub fn surface(&self, eta: &[f32]) -> f32 {
        self.cells.iter().zip(self.weights).map(|(&cell, weight)| weight * eta[cell as usize]).sum()
    }
}

/// Paints land and coast into the box of the image at `origin` and returns the water pixels.
pub fn paint(terrain: &Terrain, image: &mut Pixmap, origin: [u32; 2], size: [u32; 2]) -> Vec<WaterPixel> {
    let [width, height] = size.map(|n| n as usize);
    let [rows, cols] = terrain.shape();
    let east = axis_of(width, cols, |i| (i as f64 + 0.5) / width as f64);
    let north = axis_of(height, rows, |i| 1.0 - (i as f64 + 0.5) / height as f64);
    let ground =
        Array2::from_shape_fn((height, width), |(y, x)| bicubic(&terrain.elevation, north[y], east[x]));
    let metres = [rows as f64 * terrain.dy / height as f64, cols as f64 * terrain.dx / width as f64];
    let mut water = Vec::new();
    for ((y, x), &level) in ground.indexed_iter() {
        let rise = gradient(&ground, y, x);
        let steep = rise[0].hypot(rise[1]).max(1e-6);
        // Distance to the coast in pixels, positive on land: exact for straight coasts.
        let inland = level / steep;
        let slope = [rise[0] / metres[0], rise[1] / metres[1]];
        let index = (y as u32 + origin[1]) * image.width() + x as u32 + origin[0];
        let line = 0.8 * (1.25 - inland.abs()).clamp(0.0, 1.0);
        let land = tint(level);
        let light = 1.0 - LAND_SHADE * shadow(slope, LAND_STEEPNESS);
        let bytes = &mut image.data_mut()[4 * index as usize..][..4];
        for (byte, (land, coast)) in bytes.iter_mut().zip(land.into_iter().zip(COAST)) {
            *byte = (land * light + line * (coast - land * light)).clamp(0.0, 255.0) as u8;
        }
        let cover = ((0.5 - inland).clamp(0.0, 1.0) * (1.0 - line)) as f32;
        if cover > 0.0 {
            let (cells, weights) = sea_cells(terrain, north[y], east[x]);
            let shade = (1.0 - SEA_SHADE * shadow(slope, SEA_STEEPNESS)) as f32;
            water.push(WaterPixel { index, cover, shade, cells, weights });
        }
    }
    water
}

/// Cell coordinates of the pixel centres along one direction.
fn axis_of(pixels: usize, cells: usize, fraction: impl Fn(usize) -> f64) -> Vec<f64> {
    (0..pixels).map(|i| fraction(i) * cells as f64 - 0.5).collect()
}

fn bicubic(heights: &Array2<f64>, row: f64, col: f64) -> f64 {
    let cell = |at: f64, offset: isize, n: usize| (at as isize + offset).clamp(0, n as isize - 1) as usize;
    let (south, west) = (row.floor(), col.floor());
    let across = catmull_rom(col - west);
    let mut sum = 0.0;
    for (i, along) in (-1..).zip(catmull_rom(row - south)) {
        for (j, across) in (-1..).zip(across) {
            let at = [cell(south, i, heights.nrows()), cell(west, j, heights.ncols())];
            sum += along * across * heights[at];
        }
    }
    sum
}

/// Rise per pixel to the north and to the east.
fn gradient(ground: &Array2<f64>, y: usize, x: usize) -> [f64; 2] {
    let (height, width) = ground.dim();
    let (up, down) = (y.saturating_sub(1), (y + 1).min(height - 1));
    let (left, right) = (x.saturating_sub(1), (x + 1).min(width - 1));
    [
        (ground[[up, x]] - ground[[down, x]]) / (down - up) as f64,
        (ground[[y, right]] - ground[[y, left]]) / (right - left) as f64,
    ]
}

/// Lambert's law for light from the north-west at 45 degrees: 0 on a level, up to 1 in full shadow,
/// below 0 on slopes that face the light.
fn shadow([north, east]: [f64; 2], steepness: f64) -> f64 {
    let (n, e) = (north * steepness, east * steepness);
    let towards = (0.5 * e - 0.5 * n + std::f64::consts::FRAC_1_SQRT_2) / (1.0 + n * n + e * e).sqrt();
    1.0 - towards / std::f64::consts::FRAC_1_SQRT_2
}

fn tint(height: f64) -> [f64; 3] {
    let (low, high) = TINTS
        .windows(2)
        .map(|pair| (pair[0], pair[1]))
        .find(|(_, high)| height < high.0)
        .unwrap_or((TINTS[TINTS.len() - 2], TINTS[TINTS.len() - 1]));
    let t = ((height - low.0) / (high.0 - low.0)).clamp(0.0, 1.0);
    std::array::from_fn(|k| low.1[k] + t * (high.1[k] - low.1[k]))
}

/// The four cells around a point with bilinear weights; land and wall cells have none, so the shore does not
/// bleed into the water.
fn sea_cells(terrain: &Terrain, row: f64, col: f64) -> ([u32; 4], [f32; 4]) {
    let [rows, cols] = terrain.shape();
    let inner = |at: f64, n: usize| at.clamp(WALL_CELLS as f64, (n - WALL_CELLS) as f64 - 1.0);
    let (row, col) = (inner(row, rows), inner(col, cols));
    let (south, west) = ((row as usize).min(rows - 2), (col as usize).min(cols - 2));
    let (up, right) = (row - south as f64, col - west as f64);
    let corners = [
        (0, 0, (1.0 - up) * (1.0 - right)),
        (0, 1, (1.0 - up) * right),
        (1, 0, up * (1.0 - right)),
        (1, 1, up * right),
    ];
    let wet = |i: usize, j: usize| terrain.elevation[[south + i, west + j]] < 0.0;
    let cells = corners.map(|(i, j, _)| ((south + i) * cols + west + j) as u32);
    let weights = corners.map(|(i, j, weight)| if wet(i, j) { weight } else { 0.0 });
    let total: f64 = weights.iter().sum();
    (cells, weights.map(|w| if total > 0.0 { (w / total) as f32 } else { 0.0 }))
}
