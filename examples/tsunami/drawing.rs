//! Lines, boxes and text on an image, in units of a layout that is scaled to the image.
//!
//! The font, Ubuntu Light, is part of the program, so pictures look the same on every machine.

use tiny_skia::{Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Shader, Stroke};
use tiny_skia::{StrokeDash, Transform};
use ttf_parser::{Face, OutlineBuilder};

use super::terrain::Result;

/// Red, green, blue and opacity, a byte each.
pub type Rgba = u32;

pub struct Drawing {
    pub image: Pixmap,
    scale: Transform,
    face: Face<'static>,
}

/// How a line is drawn.
#[derive(Clone, Copy)]
pub struct Line {
    pub colour: Rgba,
    pub width: f32,
    pub dashes: Option<[f32; 2]>,
}

/// How a text is set: the share of it that lies left of its place, room between letters, what surrounds them.
#[derive(Clone, Copy, Default)]
pub struct Style {
    pub anchor: f32,
    pub spacing: f32,
    pub is_upright: bool,
    pub halo: Option<Line>,
}

impl Drawing {
    /// On an image with `zoom` pixels per unit.
    pub fn new(image: Pixmap, zoom: f64) -> Result<Drawing> {
        let scale = Transform::from_scale(zoom as f32, zoom as f32);
        Ok(Drawing { image, scale, face: Face::parse(epaint_default_fonts::UBUNTU_LIGHT, 0)? })
    }

    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), line: Line) {
        let mut path = PathBuilder::new();
        path.move_to(from.0 as f32, from.1 as f32);
        path.line_to(to.0 as f32, to.1 as f32);
        self.stroke(path.finish(), line);
    }

    /// A box, filled and then framed.
    pub fn boxed(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), fill: Shader, frame: Line) {
        let rect = Rect::from_xywh(x as f32, y as f32, width as f32, height as f32);
        let path = rect.map(PathBuilder::from_rect);
        self.fill(path.as_ref(), fill);
        self.stroke(path, frame);
    }

    pub fn text(&mut self, (x, y): (f64, f64), size: f32, colour: Rgba, style: Style, text: &str) {
        let mut pen =
            Pen { path: PathBuilder::new(), x: 0.0, scale: size / f32::from(self.face.units_per_em()) };
        for glyph in text.chars().filter_map(|letter| self.face.glyph_index(letter)) {
            self.face.outline_glyph(glyph, &mut pen);
            pen.x += f32::from(self.face.glyph_hor_advance(glyph).unwrap_or(0)) * pen.scale + style.spacing;
        }
        let place = Transform::from_translate(x as f32, y as f32);
        let turned = if style.is_upright { place.pre_rotate(-90.0) } else { place };
        let moved = turned.pre_translate(-style.anchor * pen.x, 0.0);
        let path = pen.path.finish().and_then(|path| path.transform(moved));
        if let Some(halo) = style.halo {
            self.stroke(path.clone(), halo);
        }
        self.fill(path.as_ref(), plain(colour));
    }

    fn fill(&mut self, path: Option<&Path>, shader: Shader) {
        let paint = Paint { shader, ..Paint::default() };
        if let Some(path) = path {
            self.image.fill_path(path, &paint, FillRule::Winding, self.scale, None);
        }
    }

    fn stroke(&mut self, path: Option<Path>, Line { colour, width, dashes }: Line) {
        let dash = dashes.and_then(|dashes| StrokeDash::new(dashes.to_vec(), 0.0));
        let stroke = Stroke { width, dash, line_join: LineJoin::Round, ..Stroke::default() };
        let paint = Paint { shader: plain(colour), ..Paint::default() };
        if let Some(path) = path {
            self.image.stroke_path(&path, &paint, &stroke, self.scale, None);
        }
    }
}

pub fn plain(colour: Rgba) -> Shader<'static> {
    let [r, g, b, a] = colour.to_be_bytes();
    Shader::SolidColor(Color::from_rgba8(r, g, b, a))
}

/// Outlines of letters, one after another.
struct Pen {
    path: PathBuilder,
    x: f32,
    scale: f32,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, -y * self.scale)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }
    fn close(&mut self) {
        self.path.close();
    }
}
