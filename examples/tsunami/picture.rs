//! Pictures of the sea surface: relief, a diverging colour map, coast, axes, part borders and the time.
//!
//! Everything that stays the same is drawn once; a frame paints the water and the clock. Knows the terrain
//! and where parts lie, not how the surface was computed. North is up.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use partita::index::{Index, Region};
use tiny_skia::{GradientStop, LinearGradient, Pixmap, PixmapPaint, Point, SpreadMode, Transform};

use super::drawing::{Drawing, Line, Rgba, Style, plain};
use super::relief::{self, WaterPixel};
use super::scale::{bar_ticks, clock, colour, degrees, stretch, ticks};
use super::terrain::{Result, Terrain};

/// The drawing is laid out for this width and scaled to the requested width in pixels.
const WIDTH: f64 = 1280.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 112.0;
const TOP: f64 = 78.0;
const BOTTOM: f64 = 76.0;
/// Ink of text and frames, of quieter text, of names on the water.
const INK: Rgba = 0x26323aff;
const PALE_INK: Rgba = 0x5c6a72ff;
const WATER_INK: Rgba = 0x1d4258ff;
/// Frames and ticks.
const THIN: Line = Line { colour: INK, width: 1.0, dashes: None };
/// How a border between parts is drawn, on the map and in the legend.
const BORDER: Line = Line { colour: 0x26323abf, width: 1.2, dashes: Some([7.0, 5.0]) };
const COAST: Line = Line { colour: 0x33454fff, width: 1.6, dashes: None };
/// Around names on the map.
const HALO: Line = Line { colour: 0xffffff8c, width: 3.0, dashes: None };

const LEFT_OF: Style = Style { anchor: 0.0, spacing: 0.0, is_upright: false, halo: None };
const MIDDLE: Style = Style { anchor: 0.5, ..LEFT_OF };
const RIGHT_OF: Style = Style { anchor: 1.0, ..LEFT_OF };
/// More parts than this are drawn without their numbers.
const NUMBERED_PARTS: usize = 64;
/// Colours of the water are looked up in a table of this size.
const COLOURS: usize = 1024;

/// Names on the map: text, north latitude, east longitude, size, and whether it names water.
const PLACES: [(&str, f64, f64, f32, bool); 10] = [
    ("Pacific Ocean", 48.32, -125.62, 19.0, true),
    ("Strait of Juan de Fuca", 48.245, -123.93, 13.0, true),
    ("Strait of Georgia", 49.33, -123.98, 13.0, true),
    ("Haro Strait", 48.545, -123.20, 11.0, true),
    ("Vancouver Island", 48.97, -124.60, 17.0, false),
    ("Olympic Peninsula", 48.06, -124.12, 13.0, false),
    ("Vancouver", 49.25, -122.98, 14.0, false),
    ("Victoria", 48.475, -123.50, 14.0, false),
    ("Nanaimo", 49.13, -124.08, 14.0, false),
    ("Tofino", 49.20, -125.75, 14.0, false),
];

/// What is drawn around the map.
#[derive(Clone, Debug)]
pub struct Caption {
    /// The headline.
    pub title: String,
    /// A quieter line below it: the grid, the device, the parts.
    pub subtitle: String,
}

/// Everything about a series of frames that does not change between them.
pub struct Picture {
    still: Pixmap,
    above_water: Pixmap,
    water: Vec<WaterPixel>,
    colours: Vec<[f32; 3]>,
    shape: [usize; 2],
    range: f64,
    zoom: f64,
}

/// One finished picture.
#[derive(Clone)]
pub struct Frame(pub Pixmap);

impl Picture {
    /// Draws what stays the same. Colours span `-range..range` metres in every frame; the picture is `width`
    /// pixels wide, at least 320.
    pub fn new(
        terrain: &Terrain,
        parts: &[Region],
        range: f64,
        width: u32,
        caption: &Caption,
    ) -> Result<Picture> {
        if !(range > 0.0 && range.is_finite()) || width < 320 {
            return Err(
                format!("a picture needs a positive range and 320 pixels, not {range} m, {width}").into()
            );
        }
        let layout = Layout::new(terrain);
        let zoom = f64::from(width) / WIDTH;
        let height = (layout.height * zoom).round() as u32;
        let blank =
            || Pixmap::new(width, height).ok_or_else(|| format!("no picture {width} x {height} pixels"));
        let mut still = blank()?;
        still.fill(tiny_skia::Color::from_rgba8(252, 252, 250, 255));
        let origin = [(LEFT * zoom).round() as u32, (TOP * zoom).round() as u32];
        let size = [(layout.map[0] * zoom).round() as u32, (layout.map[1] * zoom).round() as u32];
        let water = relief::paint(terrain, &mut still, origin, size);
        let mut above = Drawing::new(blank()?, zoom)?;
        layout.draw(&mut above, terrain, parts, range, caption);
        let colours = (0..COLOURS).map(|i| colour(2.0 * i as f64 / (COLOURS - 1) as f64 - 1.0)).collect();
        Ok(Picture { still, above_water: above.image, water, colours, shape: terrain.shape(), range, zoom })
    }

    /// Draws the surface `eta` (metres, one value per cell, row 0 in the south) `seconds` after the start.
    pub fn frame(&self, eta: &[f32], seconds: f64) -> Result<Frame> {
        let [rows, cols] = self.shape;
        if eta.len() != rows * cols {
            return Err(format!("a frame of {rows} x {cols} cells was given {} values", eta.len()).into());
        }
        let mut drawing = Drawing::new(self.still.clone(), self.zoom)?;
        let bytes = drawing.image.data_mut();
        for pixel in &self.water {
            let water = self.colours[self.colour_index(f64::from(pixel.surface(eta)))];
            let at = 4 * pixel.index as usize;
            for (byte, water) in bytes[at..at + 3].iter_mut().zip(water) {
                let ground = f32::from(*byte);
                *byte = (ground + pixel.cover * (water * pixel.shade - ground)).clamp(0.0, 255.0) as u8;
            }
        }
        let (above, no_change) = (self.above_water.as_ref(), Transform::identity());
        drawing.image.draw_pixmap(0, 0, above, &PixmapPaint::default(), no_change, None);
        drawing.text((WIDTH - RIGHT, 47.0), 34.0, INK, RIGHT_OF, &clock(seconds));
        Ok(Frame(drawing.image))
    }

    fn colour_index(&self, metres: f64) -> usize {
        let place = 0.5 + 0.5 * stretch(metres / self.range);
        ((place * (COLOURS - 1) as f64).round() as usize).min(COLOURS - 1)
    }
}

impl Frame {
    /// Writes a PNG file.
    pub fn save_png(&self, path: &Path) -> Result<()> {
        self.write_png(path).map_err(|e| format!("{}: {e}", path.display()).into())
    }

    fn write_png(&self, path: &Path) -> Result<()> {
        let rgb: Vec<u8> = self.0.data().chunks_exact(4).flat_map(|pixel| &pixel[..3]).copied().collect();
        let mut file = BufWriter::new(File::create(path)?);
        let mut png = png::Encoder::new(&mut file, self.0.width(), self.0.height());
        png.set_color(png::ColorType::Rgb);
        png.set_compression(png::Compression::Fast);
        let mut writer = png.write_header()?;
        writer.write_image_data(&rgb)?;
        writer.finish()?;
        Ok(file.flush()?)
    }
}

/// Where things are, in units of the layout.
struct Layout {
    map: [f64; 2],
    height: f64,
    cells: [f64; 2],
}

impl Layout {
    fn new(terrain: &Terrain) -> Layout {
        let [rows, cols] = terrain.shape().map(|n| n as f64);
        let width = WIDTH - LEFT - RIGHT;
        let height = width * rows * terrain.dy / (cols * terrain.dx);
        Layout { map: [width, height], height: TOP + height + BOTTOM, cells: [rows, cols] }
    }

    /// Position of a row and column boundary.
    fn cell(&self, at: &Index) -> (f64, f64) {
        let ([rows, cols], [row, col]) = (self.cells, [at[0], at[1]].map(|n| n as f64));
        (LEFT + self.map[0] * col / cols, TOP + self.map[1] * (1.0 - row / rows))
    }

    /// Position of a point of the Earth.
    fn place(&self, terrain: &Terrain, latitude: f64, longitude: f64) -> (f64, f64) {
        let (right, up) = (terrain.longitude.fraction(longitude), terrain.latitude.fraction(latitude));
        (LEFT + self.map[0] * right, TOP + self.map[1] * (1.0 - up))
    }

    /// All that lies above the water.
    fn draw(&self, to: &mut Drawing, terrain: &Terrain, parts: &[Region], range: f64, caption: &Caption) {
        // Ubuntu Light alone is too thin for a headline.
        let bold = Style { halo: Some(Line { width: 0.5, ..THIN }), ..LEFT_OF };
        to.text((LEFT, 40.0), 28.0, INK, bold, &caption.title);
        to.text((LEFT, 63.0), 15.0, PALE_INK, LEFT_OF, &caption.subtitle);
        to.text((WIDTH - RIGHT, 65.0), 13.0, PALE_INK, RIGHT_OF, "hours : minutes : seconds");
        self.draw_places(to, terrain);
        self.draw_parts(to, parts);
        self.draw_axes(to, terrain);
        self.draw_colour_bar(to, range);
        self.draw_legend(to, parts);
    }

    fn draw_places(&self, to: &mut Drawing, terrain: &Terrain) {
        let inside = |fraction: f64| 0.0 < fraction && fraction < 1.0;
        for (name, latitude, longitude, size, is_water) in PLACES {
            if inside(terrain.longitude.fraction(longitude)) && inside(terrain.latitude.fraction(latitude)) {
                let (ink, spacing) = if is_water { (WATER_INK, 1.0) } else { (INK, 0.0) };
                let style = Style { spacing, halo: Some(HALO), ..MIDDLE };
                to.text(self.place(terrain, latitude, longitude), size, ink, style, name);
            }
        }
    }

    /// Thin dashed lines where parts meet, and the number of each part in its south-west corner.
    fn draw_parts(&self, to: &mut Drawing, parts: &[Region]) {
        let [rows, cols] = self.cells.map(|n| n as i64);
        for (number, part) in parts.iter().enumerate() {
            let (east, north) = self.cell(part.stop());
            let (west, south) = self.cell(part.start());
            if part.stop()[1] < cols {
                to.line((east, south), (east, north), BORDER);
            }
            if part.stop()[0] < rows {
                to.line((west, north), (east, north), BORDER);
            }
            if (2..=NUMBERED_PARTS).contains(&parts.len()) {
                draw_number(to, west + 8.0, south - 8.0, &number.to_string());
            }
        }
    }

    fn draw_axes(&self, to: &mut Drawing, terrain: &Terrain) {
        let [width, height] = self.map;
        to.boxed((LEFT, TOP), (width, height), plain(0), Line { width: 1.2, ..THIN });
        let bottom = TOP + height;
        for longitude in ticks(terrain.longitude.edges()) {
            let (x, _) = self.place(terrain, 0.0, longitude);
            to.line((x, bottom), (x, bottom + 6.0), THIN);
            to.text((x, bottom + 21.0), 14.0, INK, MIDDLE, &degrees(longitude, "E", "W"));
        }
        for latitude in ticks(terrain.latitude.edges()) {
            let (_, y) = self.place(terrain, latitude, 0.0);
            to.line((LEFT, y), (LEFT - 6.0, y), THIN);
            to.text((LEFT - 9.0, y + 5.0), 14.0, INK, RIGHT_OF, &degrees(latitude, "N", "S"));
        }
    }

    /// The scale of colours; its ticks show how small waves are stretched.
    fn draw_colour_bar(&self, to: &mut Drawing, range: f64) {
        let (x, top, height) = (WIDTH - RIGHT + 22.0, TOP + 0.12 * self.map[1], 0.76 * self.map[1]);
        let stop = |i: u8| {
            let [r, g, b] = colour(f64::from(i) / 16.0 - 1.0).map(|c| c / 255.0);
            let colour = tiny_skia::Color::from_rgba(r, g, b, 1.0).unwrap_or(tiny_skia::Color::BLACK);
            GradientStop::new(f32::from(i) / 32.0, colour)
        };
        let end = |y: f64| Point::from_xy(x as f32, y as f32);
        let (from, until, stops) = (end(top + height), end(top), (0..=32).map(stop).collect());
        let shades = LinearGradient::new(from, until, stops, SpreadMode::Pad, Transform::identity());
        to.boxed((x, top), (20.0, height), shades.unwrap_or(plain(0)), THIN);
        for metres in bar_ticks(range, 22.0 / (0.5 * height)) {
            let y = top + 0.5 * height * (1.0 - stretch(metres / range));
            let sign = match metres {
                above if above > 0.0 => "+",
                below if below < 0.0 => "\u{2212}",
                _ => "",
            };
            to.line((x + 20.0, y), (x + 25.0, y), THIN);
            to.text((x + 29.0, y + 5.0), 14.0, INK, LEFT_OF, &format!("{sign}{}", metres.abs()));
        }
        let upright = Style { is_upright: true, ..MIDDLE };
        to.text((x + 80.0, top + 0.5 * height), 15.0, INK, upright, "surface elevation (m)");
    }

    fn draw_legend(&self, to: &mut Drawing, parts: &[Region]) {
        let y = TOP + self.map[1] + 50.0;
        let line = y - 5.0;
        to.line((LEFT, line), (LEFT + 32.0, line), COAST);
        to.text((LEFT + 42.0, y), 14.0, INK, LEFT_OF, "coast");
        if parts.len() > 1 {
            let words = format!("border between parts ({} parts)", parts.len());
            to.line((LEFT + 110.0, line), (LEFT + 144.0, line), BORDER);
            to.text((LEFT + 152.0, y), 14.0, INK, LEFT_OF, &words);
        }
        if (2..=NUMBERED_PARTS).contains(&parts.len()) {
            draw_number(to, LEFT + 380.0, y, "0");
            to.text((LEFT + 402.0, y), 14.0, INK, LEFT_OF, "number of a part");
        }
    }
}

/// The number of a part on a pale plate whose lower left corner is at the given point.
fn draw_number(to: &mut Drawing, x: f64, y: f64, number: &str) {
    let width = 10.0 + 8.0 * number.len() as f64;
    to.boxed((x, y - 14.0), (width, 18.0), plain(0xffffffc7), Line { colour: 0x26323a80, ..THIN });
    to.text((x + 0.5 * width, y - 0.5), 13.0, INK, MIDDLE, number);
}
