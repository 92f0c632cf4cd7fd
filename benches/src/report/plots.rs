//! Pictures as SVG text: rows of bars and dots, and lines over logarithmic axes. Knows no records.

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A picture, and the name of its files.
pub struct Figure {
    pub file: String,
    pub caption: String,
    pub svg: String,
}

/// Of one contender.
pub struct Series {
    pub name: String,
    pub color: RGBColor,
    /// Bars, or dots over them.
    pub is_bar: bool,
    pub values: Vec<Value>,
}

/// A figure in a row: the median, and from where to where the middle of the samples lies.
#[derive(Clone, Copy)]
pub struct Value {
    pub row: usize,
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

/// Rows of bars and dots.
pub struct Rows<'a> {
    pub title: &'a str,
    pub axis: &'a str,
    pub rows: &'a [String],
    pub series: &'a [Series],
    /// A line across all rows, where 1 is the ceiling.
    pub mark: Option<f64>,
    pub is_log: bool,
    pub tick: fn(f64) -> String,
}

/// A line, dots with names, or both.
pub struct Curve {
    pub name: String,
    pub color: RGBColor,
    pub is_dashed: bool,
    pub points: Vec<(f64, f64)>,
    /// Dots with these names instead of a line.
    pub labels: Vec<String>,
}

/// Curves over a logarithmic axis.
pub struct Curves<'a> {
    pub title: &'a str,
    pub x_axis: &'a str,
    pub y_axis: &'a str,
    pub curves: &'a [Curve],
    pub is_log_y: bool,
    /// Of the logarithmic axis across.
    pub base: f64,
    pub x_tick: fn(f64) -> String,
    pub y_tick: fn(f64) -> String,
}

const WIDTH: u32 = 860;
/// How far beyond the longest bar a line of samples is drawn.
const HIGHEST_SPREAD: f64 = 1.2;
const ROW: u32 = 24;
const INK: RGBColor = RGBColor(38, 43, 51);
const GRID: RGBColor = RGBColor(228, 231, 236);
const FAINT: RGBColor = RGBColor(120, 128, 140);

/// The first is for Partita, the others for peers and further devices.
const COLORS: [RGBColor; 14] = [
    RGBColor(36, 92, 160),
    RGBColor(226, 119, 40),
    RGBColor(44, 148, 104),
    RGBColor(192, 57, 74),
    RGBColor(126, 87, 176),
    RGBColor(138, 98, 74),
    RGBColor(216, 120, 178),
    RGBColor(110, 118, 130),
    RGBColor(176, 170, 40),
    RGBColor(38, 166, 190),
    RGBColor(20, 20, 24),
    RGBColor(140, 200, 90),
    RGBColor(240, 170, 160),
    RGBColor(90, 60, 20),
];

pub fn color(k: usize) -> RGBColor {
    COLORS[k % COLORS.len()]
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn text_style(size: u32, color: RGBColor, h: HPos, v: VPos) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&color).pos(Pos::new(h, v))
}

/// A plotters error, as one of ours.
fn drawn<T, E: std::fmt::Display>(result: std::result::Result<T, E>) -> Result<T> {
    result.map_err(|error| anyhow!("draw a plot: {error}"))
}

fn svg(height: u32, draw: impl FnOnce(&Area) -> Result<()>) -> Result<String> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        drawn(area.fill(&WHITE))?;
        draw(&area)?;
        drawn(area.present())?;
    }
    Ok(text)
}

fn heading(area: &Area, title: &str) -> Result<()> {
    drawn(area.draw(&Text::new(title.to_owned(), (14, 12), text_style(17, INK, HPos::Left, VPos::Top))))
}

/// Names in their colours, in lines that end before the right side. Says how high it is.
fn legend(area: Option<&Area>, top: i32, entries: &[(String, RGBColor, bool)]) -> Result<i32> {
    let (mut x, mut y) = (16, top);
    for (name, color, is_bar) in entries {
        let width = 30 + text_width(name, 13);
        if x + width > WIDTH as i32 - 10 && x > 16 {
            (x, y) = (16, y + 20);
        }
        if let Some(area) = area {
            if *is_bar {
                drawn(area.draw(&Rectangle::new([(x, y + 2), (x + 14, y + 12)], color.filled())))?;
            } else {
                drawn(area.draw(&Circle::new((x + 7, y + 7), 5, color.filled())))?;
            }
            let style = text_style(13, INK, HPos::Left, VPos::Center);
            drawn(area.draw(&Text::new(name.clone(), (x + 20, y + 7), style)))?;
        }
        x += width;
    }
    Ok(y + 22 - top)
}

/// About as wide as a sans-serif text is drawn.
fn text_width(text: &str, size: i32) -> i32 {
    text.chars().count() as i32 * size * 56 / 100
}

impl Rows<'_> {
    /// Drawn, for files of this name.
    pub fn figure(&self, file: String) -> Result<Figure> {
        Ok(Figure { file, caption: self.title.to_owned(), svg: self.svg()? })
    }

    fn svg(&self) -> Result<String> {
        let entries: Vec<_> = self.series.iter().map(|s| (s.name.clone(), s.color, s.is_bar)).collect();
        let top = 40 + if entries.len() > 1 { legend(None, 40, &entries)? } else { 0 };
        let height = top as u32 + ROW * self.rows.len() as u32 + 58;
        let (low, high) = self.range();
        svg(height, |area| {
            heading(area, self.title)?;
            if entries.len() > 1 {
                legend(Some(area), 40, &entries)?;
            }
            let area = area.margin(top, 6, 8, 24);
            if self.is_log {
                self.draw(&area, (low..high).log_scale(), (low, high))
            } else {
                self.draw(&area, low..high, (low, high))
            }
        })
    }

    fn range(&self) -> (f64, f64) {
        let values = || self.series.iter().flat_map(|series| &series.values);
        let has_bars = self.series.iter().any(|series| series.is_bar);
        let is_drawn = |series: &&Series| series.is_bar || !has_bars;
        let spreads = self.series.iter().filter(is_drawn).flat_map(|series| &series.values).map(|v| v.high);
        let high = values().map(|v| v.median).chain(self.mark).fold(0.0, f64::max);
        // A few samples out of a cache would leave no room for the bars.
        let high = spreads.map(|spread| spread.min(HIGHEST_SPREAD * high)).fold(high, f64::max);
        let low = values().map(|v| v.low.min(v.median)).fold(f64::INFINITY, f64::min);
        match self.is_log {
            true => (10f64.powf(low.max(1e-12).log10().floor()), 10f64.powf(high.max(1e-11).log10().ceil())),
            false => (0.0, 1.04 * high.max(1e-9)),
        }
    }

    fn draw<X>(&self, area: &Area, x: X, (low, high): (f64, f64)) -> Result<()>
    where
        X: AsRangedCoord<Value = f64>,
        X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let longest = self.rows.iter().map(|row| text_width(row, 13)).max().unwrap_or(0);
        let bottom = self.rows.len() as f64;
        let mut builder = ChartBuilder::on(area);
        builder.set_label_area_size(LabelAreaPosition::Left, longest + 20);
        builder.set_label_area_size(LabelAreaPosition::Bottom, 42);
        let mut chart = drawn(builder.build_cartesian_2d(x, bottom..0.0))?;
        let tick = self.tick;
        drawn(
            chart
                .configure_mesh()
                .disable_y_mesh()
                .disable_y_axis()
                .y_labels(0)
                .light_line_style(WHITE)
                .bold_line_style(GRID)
                .axis_style(FAINT)
                .x_labels(9)
                .x_label_formatter(&|value| tick(*value))
                .x_desc(self.axis)
                .label_style(text_style(12, FAINT, HPos::Center, VPos::Top))
                .axis_desc_style(("sans-serif", 13).into_font().color(&INK))
                .draw(),
        )?;
        if let Some(mark) = self.mark {
            let line = vec![(mark, 0.0), (mark, bottom)];
            drawn(chart.draw_series([PathElement::new(line, FAINT.stroke_width(2))]))?;
        }
        for (k, row) in self.rows.iter().enumerate() {
            let (x, y) = chart.backend_coord(&(low, k as f64 + 0.5));
            let (base_x, base_y) = area.get_base_pixel();
            let at = (x - base_x - 8, y - base_y);
            drawn(area.draw(&Text::new(row.clone(), at, text_style(13, INK, HPos::Right, VPos::Center))))?;
        }
        let bars = self.series.iter().filter(|series| series.is_bar).count();
        for (nth, series) in self.series.iter().filter(|series| series.is_bar).enumerate() {
            let thickness = 0.72 / bars as f64;
            for value in &series.values {
                let from = value.row as f64 + 0.14 + nth as f64 * thickness;
                let corners = [(low, from), (value.median, from + thickness)];
                drawn(chart.draw_series([Rectangle::new(corners, series.color.filled())]))?;
                let middle = from + thickness / 2.0;
                let spread = vec![(value.low, middle), (value.high.min(high), middle)];
                drawn(chart.draw_series([PathElement::new(spread, INK.stroke_width(1))]))?;
            }
        }
        let dots: Vec<&Series> = self.series.iter().filter(|series| !series.is_bar).collect();
        for (nth, series) in dots.iter().enumerate() {
            let (lane, radius) = lane(nth, dots.len());
            for value in &series.values {
                let middle = value.row as f64 + lane;
                if bars == 0 {
                    let spread = vec![(value.low.max(low), middle), (value.high.min(high), middle)];
                    drawn(chart.draw_series([PathElement::new(spread, series.color.stroke_width(1))]))?;
                }
                let at = (value.median, middle);
                drawn(chart.draw_series([Circle::new(at, radius, series.color.filled())]))?;
                drawn(chart.draw_series([Circle::new(at, radius, WHITE.stroke_width(1))]))?;
            }
        }
        Ok(())
    }
}

/// How far down in its row the nth series has its dots, as a fraction, and their radius in pixels: many would
/// hide each other, so each keeps to its own height.
fn lane(nth: usize, count: usize) -> (f64, i32) {
    match count {
        0..=3 => (0.5, 5),
        _ => (0.16 + 0.68 * nth as f64 / (count - 1) as f64, 4),
    }
}

impl Curves<'_> {
    /// Drawn, for files of this name.
    pub fn figure(&self, file: String) -> Result<Figure> {
        Ok(Figure { file, caption: self.title.to_owned(), svg: self.svg()? })
    }

    fn svg(&self) -> Result<String> {
        let named = self.curves.iter().filter(|curve| !curve.name.is_empty());
        let entries: Vec<_> =
            named.map(|curve| (curve.name.clone(), curve.color, curve.labels.is_empty())).collect();
        let top = 44 + if entries.is_empty() { 0 } else { legend(None, 40, &entries)? };
        svg(460, |area| {
            heading(area, self.title)?;
            legend(Some(area), 40, &entries)?;
            let area = area.margin(top, 6, 8, 24);
            let (x, y) = self.ranges();
            if self.is_log_y {
                self.draw(&area, x, y.log_scale().base(2.0))
            } else {
                self.draw(&area, x, 0.0..y.end)
            }
        })
    }

    fn ranges(&self) -> (std::ops::Range<f64>, std::ops::Range<f64>) {
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let span = |of: fn(&(f64, f64)) -> f64, room: f64| {
            let least = points().map(of).fold(f64::INFINITY, f64::min);
            let most = points().map(of).fold(0.0, f64::max);
            least / room..most * room
        };
        let (x, y) = (span(|p| p.0, 1.0), span(|p| p.1, if self.is_log_y { 1.6 } else { 1.05 }));
        if x.start.is_finite() { (x, y) } else { (1.0..10.0, 1.0..10.0) }
    }

    fn draw<Y>(&self, area: &Area, x: std::ops::Range<f64>, y: Y) -> Result<()>
    where
        Y: AsRangedCoord<Value = f64>,
        Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let mut builder = ChartBuilder::on(area);
        builder.set_label_area_size(LabelAreaPosition::Left, 62);
        builder.set_label_area_size(LabelAreaPosition::Bottom, 42);
        let mut chart = drawn(builder.build_cartesian_2d(x.log_scale().base(self.base), y))?;
        let (x_tick, y_tick) = (self.x_tick, self.y_tick);
        drawn(
            chart
                .configure_mesh()
                .light_line_style(WHITE)
                .bold_line_style(GRID)
                .axis_style(FAINT)
                .x_labels(12)
                .y_labels(9)
                .x_label_formatter(&|value| x_tick(*value))
                .y_label_formatter(&|value| y_tick(*value))
                .x_desc(self.x_axis)
                .y_desc(self.y_axis)
                .label_style(("sans-serif", 12).into_font().color(&FAINT))
                .axis_desc_style(("sans-serif", 13).into_font().color(&INK))
                .draw(),
        )?;
        let mut taken = Vec::new();
        for curve in self.curves {
            let style = curve.color.stroke_width(2);
            if !curve.labels.is_empty() {
                let dots = curve.points.iter().map(|&at| Circle::new(at, 4, curve.color.filled()));
                drawn(chart.draw_series(dots))?;
                let pixels: Vec<_> = curve.points.iter().map(|at| chart.backend_coord(at)).collect();
                name_dots(area, &pixels, &curve.labels, &mut taken)?;
            } else if curve.is_dashed {
                let line = DashedLineSeries::new(curve.points.iter().copied(), 5, 5, style);
                drawn(chart.draw_series(line))?;
            } else {
                drawn(chart.draw_series(LineSeries::new(curve.points.iter().copied(), style)))?;
                let pixels: Vec<_> = curve.points.iter().map(|at| chart.backend_coord(at)).collect();
                take_line(&pixels, &mut taken);
            }
        }
        Ok(())
    }
}

/// Left, top, right, bottom, in pixels of the whole picture.
type Place = [i32; 4];

/// So that no name lies on a line.
fn take_line(points: &[(i32, i32)], taken: &mut Vec<Place>) {
    for ends in points.windows(2) {
        taken.extend(along(ends[0], ends[1]).map(|(x, y)| [x - 2, y - 2, x + 2, y + 2]));
    }
}

fn along(from: (i32, i32), to: (i32, i32)) -> impl Iterator<Item = (i32, i32)> {
    let steps = ((to.0 - from.0).abs().max((to.1 - from.1).abs()) / 4).max(1);
    (0..=steps).map(move |k| (from.0 + (to.0 - from.0) * k / steps, from.1 + (to.1 - from.1) * k / steps))
}

fn meet(a: &Place, b: &Place) -> bool {
    a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3]
}

/// Where a name may stand beside its dot, best first, and where a line from the dot meets it.
fn places((x, y): (i32, i32), wide: i32) -> impl Iterator<Item = (Place, (i32, i32))> {
    let rows = (0..9).flat_map(|k| if k == 0 { vec![0] } else { vec![12 + 9 * k, -12 - 9 * k] });
    rows.flat_map(move |dy: i32| {
        [(8 + dy.abs() / 2, true), (-8 - wide - dy.abs() / 2, false)].map(|(dx, is_right)| {
            let place = [x + dx, y + dy - 7, x + dx + wide, y + dy + 7];
            (place, (if is_right { place[0] - 1 } else { place[2] + 1 }, y + dy))
        })
    })
}

/// Writes each name at the first place beside its dot where nothing is yet, with a line where that is not
/// level with the dot. A name without a free place is left out: the table has it.
fn name_dots(area: &Area, dots: &[(i32, i32)], names: &[String], taken: &mut Vec<Place>) -> Result<()> {
    let (base_x, base_y) = area.get_base_pixel();
    let (width, height) = area.dim_in_pixel();
    let (right, bottom) = (base_x + width as i32, base_y + height as i32 - 44);
    taken.extend(dots.iter().map(|&(x, y)| [x - 4, y - 4, x + 4, y + 4]));
    for (&dot, name) in dots.iter().zip(names) {
        let own = [dot.0 - 4, dot.1 - 4, dot.0 + 4, dot.1 + 4];
        let is_free = |place: &Place| taken.iter().all(|other| *other == own || !meet(place, other));
        let is_good = |(place, end): &(Place, (i32, i32))| {
            let inside = place[0] > base_x + 64 && place[2] < right && place[1] > base_y && place[3] < bottom;
            let is_near = |(x, y): (i32, i32)| (x - dot.0).abs() < 14 && (y - dot.1).abs() < 14;
            let is_clear = |at: (i32, i32)| is_near(at) || is_free(&[at.0, at.1, at.0, at.1]);
            inside && is_free(place) && along(dot, *end).all(is_clear)
        };
        let Some((place, end)) = places(dot, text_width(name, 12)).find(is_good) else { continue };
        if end.1 != dot.1 {
            let line = [dot, end].map(|(x, y)| (x - base_x, y - base_y)).to_vec();
            drawn(area.draw(&PathElement::new(line, FAINT.stroke_width(1))))?;
            take_line(&[dot, end], taken);
        }
        // The width is a guess: a name begins, or ends, at the side of its dot.
        let (side, x) = if place[0] > dot.0 { (HPos::Left, place[0]) } else { (HPos::Right, place[2]) };
        let style = text_style(12, INK, side, VPos::Center);
        let at = (x - base_x, end.1 - base_y);
        drawn(area.draw(&Text::new(name.clone(), at, style)))?;
        taken.push(place);
    }
    Ok(())
}
