//! Pictures of the sea surface: relief, a diverging colour map, coast, axes, part borders and the time.
//!
//! Everything that stays the same is drawn once; a frame paints the water and the clock. The drawing is
//! described as SVG, so text and lines are anti-aliased by `resvg` with a font that is part of the program.
//! Knows the terrain and where parts lie, not how the surface was computed. North is up.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, PixmapPaint, Transform};
use resvg::usvg;

use super::relief::{self, WaterPixel};
use super::scale::{bar_ticks, clock, colour, degrees, stretch, ticks};
use super::terrain::{Result, Terrain};

/// The drawing is laid out for this width and scaled to the requested width in pixels.
const WIDTH: f64 = 1280.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 112.0;
const TOP: f64 = 78.0;
const BOTTOM: f64 = 76.0;
/// Ink of text and frames.
const INK: &str = "#26323a";
/// More parts than this are drawn without their numbers.
const NUMBERED_PARTS: usize = 64;
/// Colours of the water are looked up in a table of this size.
const COLOURS: usize = 1024;

/// Names on the map: text, north latitude, east longitude, size, and whether it names water.
const PLACES: [(&str, f64, f64, f64, bool); 10] = [
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

/// The cells one part owns: rows and columns, half-open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartBox {
    /// First row and column.
    pub start: [usize; 2],
    /// One past the last row and column.
    pub stop: [usize; 2],
}

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
    options: usvg::Options<'static>,
}

/// One finished picture.
#[derive(Clone)]
pub struct Frame(pub Pixmap);

impl Picture {
    /// Draws what stays the same. Colours span `-range..range` metres in every frame; the picture is `width`
    /// pixels wide, at least 320.
    pub fn new(
        terrain: &Terrain,
        parts: &[PartBox],
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
        let mut picture = Picture {
            still: blank(width, (layout.height * zoom).round() as u32)?,
            above_water: blank(width, (layout.height * zoom).round() as u32)?,
            water: Vec::new(),
            colours: (0..COLOURS).map(|i| colour(2.0 * i as f64 / (COLOURS - 1) as f64 - 1.0)).collect(),
            shape: terrain.shape(),
            range,
            zoom,
            options: options(),
        };
        picture.still.fill(resvg::tiny_skia::Color::from_rgba8(252, 252, 250, 255));
        let origin = [(LEFT * zoom).round() as u32, (TOP * zoom).round() as u32];
        let size = [(layout.map[0] * zoom).round() as u32, (layout.map[1] * zoom).round() as u32];
        picture.water = relief::paint(terrain, &mut picture.still, origin, size);
        let drawing = layout.drawing(terrain, parts, range, caption);
        render(&drawing, &picture.options, zoom, &mut picture.above_water)?;
        Ok(picture)
    }

    /// Draws the surface `eta` (metres, one value per cell, row 0 in the south) `seconds` after the start.
    pub fn frame(&self, eta: &[f32], seconds: f64) -> Result<Frame> {
        let [rows, cols] = self.shape;
        if eta.len() != rows * cols {
            return Err(format!("a frame of {rows} x {cols} cells was given {} values", eta.len()).into());
        }
        let mut pixmap = self.still.clone();
        let bytes = pixmap.data_mut();
        for pixel in &self.water {
            let water = self.colours[self.colour_index(f64::from(pixel.surface(eta)))];
            let at = 4 * pixel.index as usize;
            for (byte, water) in bytes[at..at + 3].iter_mut().zip(water) {
                let ground = f32::from(*byte);
                *byte = (ground + pixel.cover * (water * pixel.shade - ground)).clamp(0.0, 255.0) as u8;
            }
        }
        let no_change = Transform::identity();
        pixmap.draw_pixmap(0, 0, self.above_water.as_ref(), &PixmapPaint::default(), no_change, None);
        let clock = format!(
            r#"<text x="{}" y="47" font-size="34" text-anchor="end" fill="{INK}">{}</text>"#,
            WIDTH - RIGHT,
            clock(seconds)
        );
        render(&svg(pixmap.height() as f64 / self.zoom, &clock), &self.options, self.zoom, &mut pixmap)?;
        Ok(Frame(pixmap))
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
    fn cell(&self, row: usize, col: usize) -> (f64, f64) {
        let [rows, cols] = self.cells;
        (LEFT + self.map[0] * col as f64 / cols, TOP + self.map[1] * (1.0 - row as f64 / rows))
    }

    /// Position of a point of the Earth.
    fn place(&self, terrain: &Terrain, latitude: f64, longitude: f64) -> (f64, f64) {
        let (right, up) = (terrain.longitude.fraction(longitude), terrain.latitude.fraction(latitude));
        (LEFT + self.map[0] * right, TOP + self.map[1] * (1.0 - up))
    }

    /// All that lies above the water.
    fn drawing(&self, terrain: &Terrain, parts: &[PartBox], range: f64, caption: &Caption) -> String {
        let mut body = String::new();
        let [title, subtitle] = [&caption.title, &caption.subtitle].map(|s| escape(s));
        let _ = write!(
            body,
            r##"<text x="{LEFT}" y="40" font-size="28" fill="{INK}" stroke="{INK}"
            stroke-width="0.5">{title}</text>
            <text x="{LEFT}" y="63" font-size="15" fill="#5c6a72">{subtitle}</text>
            <text x="{0}" y="65" font-size="13" text-anchor="end"
            fill="#5c6a72">hours : minutes : seconds</text>"##,
            WIDTH - RIGHT
        );
        self.draw_places(&mut body, terrain);
        self.draw_parts(&mut body, parts);
        self.draw_axes(&mut body, terrain);
        self.draw_colour_bar(&mut body, range);
        self.draw_legend(&mut body, parts);
        svg(self.height, &body)
    }

    fn draw_places(&self, body: &mut String, terrain: &Terrain) {
        let inside = |fraction: f64| 0.0 < fraction && fraction < 1.0;
        for (name, latitude, longitude, size, water) in PLACES {
            let (right, up) = (terrain.longitude.fraction(longitude), terrain.latitude.fraction(latitude));
            if !inside(right) || !inside(up) {
                continue;
            }
            let (x, y) = self.place(terrain, latitude, longitude);
            let (fill, halo, style) =
                if water { ("#1d4258", "#ffffff", "letter-spacing=\"1\"") } else { (INK, "#ffffff", "") };
            let _ = write!(
                body,
                r#"<text x="{x:.1}" y="{y:.1}" font-size="{size}" text-anchor="middle" fill="{fill}" {style}
                stroke="{halo}" stroke-opacity="0.55" stroke-width="3" stroke-linejoin="round"
                paint-order="stroke">{name}</text>"#
            );
        }
    }

    /// Thin dashed lines where parts meet, and the number of each part in its south-west corner.
    fn draw_parts(&self, body: &mut String, parts: &[PartBox]) {
        let [rows, cols] = self.cells.map(|n| n as usize);
        for (number, part) in parts.iter().enumerate() {
            let (east, north) = self.cell(part.stop[0], part.stop[1]);
            let (west, south) = self.cell(part.start[0], part.start[1]);
            let mut border = |x, y| {
                let _ = write!(
                    body,
                    r#"<path d="M{x:.1} {y:.1}L{east:.1} {north:.1}" stroke="{INK}" {DASHES}/>"#
                );
            };
            if part.stop[1] < cols {
                border(east, south);
            }
            if part.stop[0] < rows {
                border(west, north);
            }
            if (2..=NUMBERED_PARTS).contains(&parts.len()) {
                draw_number(body, west + 8.0, south - 8.0, &number.to_string());
            }
        }
    }

    fn draw_axes(&self, body: &mut String, terrain: &Terrain) {
        let [width, height] = self.map;
        let _ = write!(
            body,
            r#"<rect x="{LEFT}" y="{TOP}" width="{width}" height="{height:.1}" fill="none" stroke="{INK}"
            stroke-width="1.2"/>"#
        );
        let bottom = TOP + height;
        for longitude in ticks(terrain.longitude.edges()) {
            let (x, _) = self.place(terrain, 0.0, longitude);
            let text = degrees(longitude, "E", "W");
            let _ = write!(
                body,
                r#"<path d="M{x:.1} {bottom:.1}v6" stroke="{INK}"/>
                <text x="{x:.1}" y="{:.1}" font-size="14" text-anchor="middle" fill="{INK}">{text}</text>"#,
                bottom + 21.0
            );
        }
        for latitude in ticks(terrain.latitude.edges()) {
            let (_, y) = self.place(terrain, latitude, 0.0);
            let text = degrees(latitude, "N", "S");
            let _ = write!(
                body,
                r#"<path d="M{LEFT} {y:.1}h-6" stroke="{INK}"/>
                <text x="{:.1}" y="{:.1}" font-size="14" text-anchor="end" fill="{INK}">{text}</text>"#,
                LEFT - 9.0,
                y + 5.0
            );
        }
    }

    /// The scale of colours; its ticks show how small waves are stretched.
    fn draw_colour_bar(&self, body: &mut String, range: f64) {
        let (x, top, height) = (WIDTH - RIGHT + 22.0, TOP + 0.12 * self.map[1], 0.76 * self.map[1]);
        body.push_str(r#"<linearGradient id="scale" x1="0" x2="0" y1="1" y2="0">"#);
        for i in 0..=32 {
            let [r, g, b] = colour(f64::from(i) / 16.0 - 1.0);
            let _ = write!(body, r#"<stop offset="{}" stop-color="rgb({r},{g},{b})"/>"#, f64::from(i) / 32.0);
        }
        let _ = write!(
            body,
            r#"</linearGradient><rect x="{x}" y="{top:.1}" width="20" height="{height:.1}"
            fill="url(#scale)" stroke="{INK}"/>"#
        );
        for metres in bar_ticks(range, 22.0 / (0.5 * height)) {
            let y = top + 0.5 * height * (1.0 - stretch(metres / range));
            let sign = if metres > 0.0 {
                "+"
            } else if metres < 0.0 {
                "\u{2212}"
            } else {
                ""
            };
            let _ = write!(
                body,
                r#"<path d="M{:.1} {y:.1}h5" stroke="{INK}"/>
                <text x="{:.1}" y="{:.1}" font-size="14" fill="{INK}">{sign}{}</text>"#,
                x + 20.0,
                x + 29.0,
                y + 5.0,
                metres.abs()
            );
        }
        let (x, y) = (x + 80.0, top + 0.5 * height);
        let _ = write!(
            body,
            r#"<text transform="translate({x:.1} {y:.1}) rotate(-90)" font-size="15" text-anchor="middle"
            fill="{INK}">surface elevation (m)</text>"#
        );
    }

    fn draw_legend(&self, body: &mut String, parts: &[PartBox]) {
        let y = TOP + self.map[1] + 50.0;
        let mut text = |x: f64, words: &str| {
            let _ = write!(body, r#"<text x="{x}" y="{y:.1}" font-size="14" fill="{INK}">{words}</text>"#);
        };
        text(LEFT + 42.0, "coast");
        if parts.len() > 1 {
            text(LEFT + 152.0, &format!("border between parts ({} parts)", parts.len()));
        }
        if (2..=NUMBERED_PARTS).contains(&parts.len()) {
            text(LEFT + 402.0, "number of a part");
            draw_number(body, LEFT + 380.0, y, "0");
        }
        let line = y - 5.0;
        let _ = write!(body, r##"<path d="M{LEFT} {line:.1}h32" stroke="#33454f" stroke-width="1.6"/>"##);
        if parts.len() > 1 {
            let x = LEFT + 110.0;
            let _ = write!(body, r#"<path d="M{x} {line:.1}h34" stroke="{INK}" {DASHES}/>"#);
        }
    }
}

/// How a border between parts is drawn, on the map and in the legend.
const DASHES: &str = r#"stroke-width="1.2" stroke-dasharray="7 5" stroke-opacity="0.75""#;

/// The number of a part on a pale plate whose lower left corner is at the given point.
fn draw_number(body: &mut String, x: f64, y: f64, number: &str) {
    let width = 10.0 + 8.0 * number.len() as f64;
    let _ = write!(
        body,
        r##"<rect x="{x:.1}" y="{:.1}" width="{width:.1}" height="18" rx="4" fill="#ffffff"
        fill-opacity="0.78" stroke="{INK}" stroke-opacity="0.5"/>
        <text x="{:.1}" y="{:.1}" font-size="13" text-anchor="middle"
        fill="{INK}">{number}</text>"##,
        y - 14.0,
        x + 0.5 * width,
        y - 0.5
    );
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

fn svg(height: f64, body: &str) -> String {
    format!(r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.2}">{body}</svg>"#)
}

/// The font: Ubuntu Light, embedded, so pictures look the same on every machine.
fn options() -> usvg::Options<'static> {
    let mut options = usvg::Options::default();
    let fonts = Arc::make_mut(&mut options.fontdb);
    fonts.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
    let family = fonts.faces().next().and_then(|face| face.families.first()).map(|(name, _)| name.clone());
    options.font_family = family.unwrap_or_default();
    options
}

fn blank(width: u32, height: u32) -> Result<Pixmap> {
    Ok(Pixmap::new(width, height).ok_or_else(|| format!("no picture of {width} x {height} pixels"))?)
}

fn render(svg: &str, options: &usvg::Options, zoom: f64, pixmap: &mut Pixmap) -> Result<()> {
    let tree = usvg::Tree::from_str(svg, options)?;
    resvg::render(&tree, Transform::from_scale(zoom as f32, zoom as f32), &mut pixmap.as_mut());
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use ndarray::{Array1, Array2};

    /// Sea 100 m deep with land in the easternmost quarter.
    fn bay() -> Terrain {
        let topo = Array2::from_shape_fn((12, 16), |(_, j)| if j < 12 { -100.0 } else { 400.0 });
        let axis = |from: f64, n: usize| Array1::from_iter((0..n).map(|k| from + 0.1 * k as f64));
        Terrain::new(topo, &axis(48.0, 12), &axis(-126.0, 16), 2).unwrap()
    }

    fn picture(terrain: &Terrain) -> Picture {
        let [rows, cols] = terrain.shape();
        let parts = [0, cols / 2].map(|from| PartBox { start: [0, from], stop: [rows, from + cols / 2] });
        let caption = Caption { title: "A < B & C".into(), subtitle: String::new() };
        Picture::new(terrain, &parts, 2.0, 640, &caption).unwrap()
    }

    /// Red minus blue where the map is at these fractions of its width and height (from the south).
    fn redness(frame: &Frame, layout: &Layout, right: f64, up: f64) -> i32 {
        let (x, y) = (LEFT + layout.map[0] * right, TOP + layout.map[1] * (1.0 - up));
        let pixel = frame.0.pixel((x / 2.0) as u32, (y / 2.0) as u32).unwrap();
        i32::from(pixel.red()) - i32::from(pixel.blue())
    }

    #[test]
    fn north_is_up_and_red_is_above_and_land_never_changes() {
        let terrain = bay();
        let (picture, layout) = (picture(&terrain), Layout::new(&terrain));
        let [rows, cols] = terrain.shape();
        let eta: Vec<f32> = (0..rows * cols).map(|k| if k / cols < rows / 2 { -1.0 } else { 1.0 }).collect();
        let (still, wave) =
            (picture.frame(&vec![0.0; rows * cols], 0.0).unwrap(), picture.frame(&eta, 0.0).unwrap());
        assert!(redness(&wave, &layout, 0.3, 0.7) > 60 && redness(&wave, &layout, 0.3, 0.3) < -60);
        assert!(redness(&still, &layout, 0.3, 0.7).abs() < 12);
        let land = |frame: &Frame| redness(frame, &layout, 0.9, 0.7);
        assert_eq!(land(&still), land(&wave));
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
}
