//! Distributions as text (one line of facts, then coarse maps of the owners) and as SVG pictures (parts
//! coloured, the halo hatched, the boundary shaded).

use std::fmt::{self, Write as _};

use super::distribution::Distribution;
use crate::index::error::{ErrorKind, IndexError, Result};
use crate::index::index_set::IndexSet;
use crate::index::region::Index;

const MOST_COLUMNS: i64 = 64;
const MOST_ROWS: i64 = 16;
const MOST_SLICES: usize = 4;

impl fmt::Display for Distribution {
    /// The facts on one line, then a map of at most 64 by 16 characters, in which every number is the part
    /// that owns the cell in the middle of the patch it stands for. With more than two dimensions there are
    /// maps of a few slices over the last two.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |text: &dyn Fn(usize) -> String| (0..self.rank()).map(text).collect::<Vec<_>>().join(", ");
        let flags = list(&|d| if self.periodic(d) { "yes" } else { "no" }.to_owned());
        let ((halo_lo, halo_hi), (edge_lo, edge_hi)) = (self.halo(), self.boundary());
        write!(f, "shape {}, {} parts in grid {}, ", self.shape(), self.parts(), self.grid())?;
        write!(f, "halo {halo_lo} {halo_hi}, boundary {edge_lo} {edge_hi}, periodic ({flags})")?;
        if !self.is_block() {
            write!(f, ", maps ({})", list(&|d| self.map(d).to_string()))?;
        }
        for line in text_maps(self) {
            write!(f, "\n{line}")?;
        }
        Ok(())
    }
}

/// The coordinate in the middle of patch `i` of `n` along `size`.
pub(crate) fn middle(i: i64, n: i64, size: i64) -> i64 {
    ((2 * i128::from(i) + 1) * i128::from(size) / (2 * i128::from(n))) as i64
}

fn text_maps(dist: &Distribution) -> Vec<String> {
    let shape = dist.shape();
    if dist.rank() == 0 || shape.contains(&0) {
        return Vec::new();
    }
    let leading = &shape[..shape.len().saturating_sub(2)];
    if leading.is_empty() {
        return text_map(dist, &[]);
    }
    let slices = slices(leading, MOST_SLICES);
    let titled = |at: &Index| std::iter::once(format!("slice {at}:")).chain(text_map(dist, at)).collect();
    slices.iter().flat_map(|at| -> Vec<String> { titled(at) }).collect()
}

/// Points of a box of this shape, all or `most` of them at equal distances in C order.
pub(crate) fn slices(shape: &[i64], most: usize) -> Vec<Index> {
    let total = shape.iter().try_fold(1i64, |n, &extent| n.checked_mul(extent)).unwrap_or(i64::MAX);
    let count = total.min(most as i64);
    let Ok(rank) = Index::new(shape).map(|index| index.len()) else { return Vec::new() };
    let point = |k: i64| {
        let (mut rest, mut at) =
            (if count == total { k } else { middle(k, count, total) }, Index::zeros(rank));
        for d in (0..rank).rev() {
            at[d] = rest % shape[d];
            rest /= shape[d];
        }
        at
    };
    (0..count).map(point).collect()
}

/// The map of the last two dimensions where the others are at `leading`.
fn text_map(dist: &Distribution, leading: &[i64]) -> Vec<String> {
    let shape = dist.shape();
    let (height, width) = match shape[leading.len()..] {
        [width] => (1, width),
        [height, width] => (height, width),
        _ => return Vec::new(),
    };
    let digits = (dist.parts() - 1).checked_ilog10().unwrap_or(0) as usize + 1;
    let gap = usize::from(digits > 1);
    let columns = width.min((MOST_COLUMNS + gap as i64) / (digits + gap) as i64);
    let rows = height.min(MOST_ROWS);
    let line = |row: i64| {
        let label = |column: i64| {
            let cell = [middle(row, rows, height), middle(column, columns, width)];
            let last = &cell[2 - (dist.rank() - leading.len())..];
            let cell: Vec<i64> = leading.iter().chain(last).copied().collect();
            dist.owner(&cell).map_or_else(|_| "?".repeat(digits), |part| format!("{part:>digits$}"))
        };
        (0..columns).map(label).collect::<Vec<_>>().join(&" ".repeat(gap))
    };
    (0..rows).map(line).collect()
}

const COLOURS: [&str; 12] = [
    "#8fbcd9", "#f4b183", "#a9d18e", "#f4a6a6", "#c5b0d5", "#d9c48f", "#f7c6de", "#b7b7b7", "#d4e07a",
    "#8fd9d0", "#e0a3c8", "#9fa8da",
];
const INK: &str = "#222222";
/// The longest side of a panel, and the largest cell.
const PANEL: f64 = 480.0;
const CELL: f64 = 36.0;
const MARGIN: f64 = 24.0;
const CAPTION: f64 = 22.0;
const MOST_PANELS: usize = 6;
/// So many slices stand side by side, each no longer than this.
const ABREAST: usize = 3;
const SLICE: f64 = 200.0;
/// The longer side of a panel is at most so many times the shorter; cells are stretched for that.
const SLIMMEST: f64 = 8.0;
const MOST_BOXES: usize = 20_000;

impl Distribution {
    /// A picture of who owns what.
    ///
    /// One dimension: the whole, and below it one row per part with what it stores, its halo hatched. Two: a
    /// map with the halo of the middle part hatched. Three: such maps without halo, for slices along
    /// dimension 0. The boundary is shaded. Coordinates are global, and copies are drawn where there is a row
    /// for them.
    #[doc = example!(dist: "assert!(dist.svg()?.starts_with(\"<svg\"));")]
    pub fn svg(&self) -> Result<String> {
        let mut sheet = Sheet::default();
        match self.rank() {
            1 => self.draw_line(&mut sheet)?,
            2 => {
                let at = (MARGIN + self.overhang(1, 0), MARGIN + self.overhang(0, 0));
                let cell = self.cells(0, PANEL);
                self.draw_plane(&mut sheet, at, cell, &[])?;
                self.draw_halo(&mut sheet, at, cell, self.middle_part());
            }
            3 => {
                let cell = self.cells(1, SLICE);
                let side = |d: usize| self.shape()[d] as f64 * cell[d - 1] + MARGIN;
                for (n, slice) in slices(&self.shape()[..1], MOST_PANELS).into_iter().enumerate() {
                    let (row, column) = ((n / ABREAST) as f64, (n % ABREAST) as f64);
                    let (x, y) = (MARGIN + column * side(2), MARGIN + row * (side(1) + CAPTION));
                    sheet.text(x, y + 10.0, 13.0, "start", &format!("slice {}", slice[0]));
                    self.draw_plane(&mut sheet, (x, y + CAPTION), cell, &slice)?;
                }
            }
            rank => {
                return Err(refuse(format!("one to three dimensions, given {rank}")));
            }
        }
        sheet.captions(&self.captions());
        Ok(sheet.finish())
    }

    /// The length of a cell when one dimension is drawn.
    fn cell(&self, d: usize, panel: f64) -> f64 {
        CELL.min(panel / self.shape()[d].max(1) as f64)
    }

    /// The height and width of a cell when dimension `d` and the next are drawn: a square, unless the panel
    /// would be too slim.
    fn cells(&self, d: usize, panel: f64) -> [f64; 2] {
        let cell = self.cell(d, panel).min(self.cell(d + 1, panel));
        let sides = [d, d + 1].map(|d| self.shape()[d] as f64 * cell);
        let least = sides[0].max(sides[1]) / SLIMMEST;
        sides.map(|side| if side > 0.0 { cell * (least / side).max(1.0) } else { cell })
    }

    /// How far halos reach out below or above the ends of a dimension, in pixels of the cell size.
    fn overhang(&self, d: usize, side: usize) -> f64 {
        let widths = [self.halo().0, self.halo().1];
        let cell = if self.rank() == 1 { self.cell(d, PANEL) } else { self.cells(0, PANEL)[d] };
        if self.periodic(d) { widths[side][d] as f64 * cell } else { 0.0 }
    }

    fn middle_part(&self) -> usize {
        self.grid().part_at(|d| self.grid().shape()[d] / 2)
    }

    fn captions(&self) -> Vec<String> {
        let kinds: Vec<String> = (0..self.rank()).map(|d| self.map(d).to_string()).collect();
        let ((lo, hi), boundary) = (self.halo(), self.boundary());
        let mut lines =
            vec![format!("shape {}, grid {}, maps {}", self.shape(), self.grid(), kinds.join(" x "))];
        if lo.iter().chain(hi.iter()).any(|&width| width > 0) {
            let whose =
                if self.rank() == 2 { format!(" of part {}", self.middle_part()) } else { String::new() };
            lines.push(format!("hatched: halo{whose}, up to {lo} below and {hi} above"));
        }
        if boundary.0.iter().chain(boundary.1.iter()).any(|&width| width > 0) {
            lines.push(format!("shaded: boundary, {} below and {} above", boundary.0, boundary.1));
        }
        if self.rank() == 1 && self.has_copies() {
            lines.push("hatched: copies".to_owned());
        }
        let periodic: Vec<String> =
            (0..self.rank()).filter(|&d| self.periodic(d)).map(|d| d.to_string()).collect();
        if !periodic.is_empty() {
            lines.push(format!("periodic along dimension {}", periodic.join(" and ")));
        }
        lines
    }

    fn draw_line(&self, sheet: &mut Sheet) -> Result<()> {
        let (map, cell) = (self.map(0), self.cell(0, PANEL));
        let (left, height) = (MARGIN + 44.0 + self.overhang(0, 0), 26.0);
        let row = |k: usize| MARGIN + k as f64 * (height + 8.0);
        let bar = |range: (i64, i64), k: usize| {
            [left + range.0 as f64 * cell, row(k), (range.1 - range.0) as f64 * cell, height]
        };
        let total: usize = (0..map.parts()).map(|part| runs(map.owned_set(part)).len()).sum();
        check_boxes(total)?;
        sheet.text(MARGIN, row(0) + 17.0, 12.0, "start", "whole");
        for part in 0..map.parts() {
            sheet.text(MARGIN, row(part + 1) + 17.0, 12.0, "start", &format!("part {part}"));
            runs(map.owned_once(part)).into_iter().for_each(|run| sheet.fill(bar(run, 0), part));
            for run in runs(map.owned_set(part)) {
                sheet.hatch(bar(run, part + 1), part);
            }
            runs(map.owned_once(part)).into_iter().for_each(|run| sheet.fill(bar(run, part + 1), part));
            let (owned, stored) = (self.owned(part), self.stored(part));
            if map.is_block() {
                for halo in [(stored.start()[0], owned.start()[0]), (owned.stop()[0], stored.stop()[0])] {
                    sheet.hatch(bar(halo, part + 1), part);
                }
            }
        }
        self.shade_boundary(sheet, (left, row(0)), [height, cell], 0);
        let size = self.shape()[0];
        sheet.lines(left, row(0), cell, size, height, 1);
        sheet.frame([left, row(0), size as f64 * cell, height]);
        sheet.grow(left + size as f64 * cell + self.overhang(0, 1), row(map.parts() + 1) - 8.0);
        Ok(())
    }

    /// The plane of the last two dimensions where the leading one is at `slice`.
    fn draw_plane(&self, sheet: &mut Sheet, at: (f64, f64), cell: [f64; 2], slice: &[i64]) -> Result<()> {
        let (d, e) = (slice.len(), slice.len() + 1);
        let sets = |d: usize| -> Vec<Vec<(i64, i64)>> {
            (0..self.map(d).parts()).map(|part| runs(self.map(d).owned_once(part))).collect()
        };
        let (rows, columns) = (sets(d), sets(e));
        let count = |sets: &[Vec<(i64, i64)>]| sets.iter().map(Vec::len).sum::<usize>();
        check_boxes(count(&rows).saturating_mul(count(&columns)))?;
        let across = if slice.is_empty() { Some(0) } else { self.map(0).owner(slice[0]) };
        let place = |run: &(i64, i64), cell: f64| (run.0 as f64 * cell, (run.1 - run.0) as f64 * cell);
        let mut labels = Vec::new();
        for (i, rows) in rows.iter().enumerate() {
            for (j, columns) in columns.iter().enumerate() {
                let grid_at = [across.unwrap_or_default() as i64, i as i64, j as i64];
                let part = self.grid().part_at(|d| grid_at[d + 1 - slice.len()]);
                for (row, column) in rows.iter().flat_map(|row| columns.iter().map(move |c| (row, c))) {
                    let ((y, height), (x, width)) = (place(row, cell[0]), place(column, cell[1]));
                    sheet.fill([at.0 + x, at.1 + y, width, height], part);
                    if width.min(height) >= 9.0 {
                        let size = (width.min(height) * 0.6).min(14.0);
                        labels.push((
                            at.0 + x + width / 2.0,
                            at.1 + y + height / 2.0 + size / 3.0,
                            size,
                            part,
                        ));
                    }
                }
            }
        }
        let (height, width) = (self.shape()[d], self.shape()[e]);
        self.shade_boundary(sheet, at, cell, d);
        sheet.lines(at.0, at.1, cell[1], width, cell[0], height);
        sheet.frame([at.0, at.1, width as f64 * cell[1], height as f64 * cell[0]]);
        labels.iter().for_each(|(x, y, size, part)| sheet.text(*x, *y, *size, "middle", &part.to_string()));
        sheet.grow(
            at.0 + width as f64 * cell[1] + if d == 0 { self.overhang(1, 1) } else { 0.0 },
            at.1 + height as f64 * cell[0] + if d == 0 { self.overhang(0, 1) } else { 0.0 },
        );
        Ok(())
    }

    /// The halo of one part of a plane, in global coordinates; past the ends where it wraps.
    fn draw_halo(&self, sheet: &mut Sheet, at: (f64, f64), cell: [f64; 2], part: usize) {
        if !self.is_block() || self.owned(part).is_empty() {
            return;
        }
        let to_box = |start: &Index, stop: &Index| {
            let (from, extent) =
                (|d: usize| start[d] as f64 * cell[d], |d: usize| (stop[d] - start[d]) as f64 * cell[d]);
            [at.0 + from(1), at.1 + from(0), extent(1), extent(0)]
        };
        for piece in self.stored(part).subtract(&self.owned(part)) {
            sheet.hatch(to_box(piece.start(), piece.stop()), part);
        }
        sheet.frame(to_box(self.owned(part).start(), self.owned(part).stop()));
    }

    /// Shades the boundary along dimensions `d` and `d + 1`, or along the only one.
    fn shade_boundary(&self, sheet: &mut Sheet, at: (f64, f64), cell: [f64; 2], d: usize) {
        let (shape, (lo, hi)) = (self.shape(), self.boundary());
        let line = self.rank() == 1;
        let (rows, columns) = if line { (1, shape[0]) } else { (shape[d], shape[d + 1]) };
        let across = if line { 0 } else { d + 1 };
        let (x0, x1) = (lo[across], columns - hi[across]);
        let (y0, y1) = if line { (0, 1) } else { (lo[d], rows - hi[d]) };
        for (top, bottom, left, right) in
            [(0, y0, 0, columns), (y1, rows, 0, columns), (y0, y1, 0, x0), (y0, y1, x1, columns)]
        {
            let extent = |from: i64, to: i64, cell: f64| (to - from) as f64 * cell;
            let (x, y) = (at.0 + left as f64 * cell[1], at.1 + top as f64 * cell[0]);
            sheet.shade([x, y, extent(left, right, cell[1]), extent(top, bottom, cell[0])]);
        }
    }
}

/// The contiguous runs of a set; no more of them than can be refused.
fn runs(set: IndexSet) -> Vec<(i64, i64)> {
    set.runs().take(MOST_BOXES + 1).collect()
}

fn check_boxes(boxes: usize) -> Result<()> {
    if boxes <= MOST_BOXES {
        return Ok(());
    }
    Err(refuse(format!("at most {MOST_BOXES} boxes, given {boxes}")))
}

fn refuse(expected: String) -> IndexError {
    let (operation, remedy) = ("Distribution::svg", "draw a slice, or a smaller shape of the same kind");
    IndexError::new(ErrorKind::Unsupported, operation, expected, "this distribution", remedy)
}

/// An SVG document under way. Boxes are x, y, width, height.
#[derive(Default)]
struct Sheet {
    body: String,
    hatched: Vec<usize>,
    width: f64,
    height: f64,
}

impl Sheet {
    fn grow(&mut self, width: f64, height: f64) {
        (self.width, self.height) = (self.width.max(width), self.height.max(height));
    }

    fn rectangle(&mut self, [x, y, width, height]: [f64; 4], style: &str) {
        if width > 0.0 && height > 0.0 {
            let (x, y, width, height) = (short(x), short(y), short(width), short(height));
            self.line(&format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" {style}/>"));
        }
    }

    fn line(&mut self, text: &str) {
        self.body.push_str(text);
        self.body.push('\n');
    }

    fn fill(&mut self, place: [f64; 4], part: usize) {
        self.rectangle(place, &format!("fill=\"{}\"", COLOURS[part % COLOURS.len()]));
    }

    fn hatch(&mut self, place: [f64; 4], part: usize) {
        let colour = part % COLOURS.len();
        if !self.hatched.contains(&colour) {
            self.hatched.push(colour);
        }
        self.rectangle(place, &format!("fill=\"url(#hatch{colour})\" stroke=\"{INK}\" stroke-width=\"0.6\""));
    }

    fn shade(&mut self, place: [f64; 4]) {
        self.rectangle(place, &format!("fill=\"{INK}\" fill-opacity=\"0.35\""));
    }

    fn frame(&mut self, place: [f64; 4]) {
        self.rectangle(place, &format!("fill=\"none\" stroke=\"{INK}\" stroke-width=\"1.6\""));
    }

    /// Thin lines between cells that are large enough to be distinguished.
    fn lines(&mut self, x: f64, y: f64, width: f64, columns: i64, height: f64, rows: i64) {
        let (right, bottom) = (x + columns as f64 * width, y + rows as f64 * height);
        let mut path = String::new();
        if width >= 6.0 {
            for k in 1..columns {
                let _ = write!(path, "M{} {}V{}", short(x + k as f64 * width), short(y), short(bottom));
            }
        }
        if height >= 6.0 {
            for k in 1..rows {
                let _ = write!(path, "M{} {}H{}", short(x), short(y + k as f64 * height), short(right));
            }
        }
        if !path.is_empty() {
            self.line(&format!("<path d=\"{path}\" stroke=\"#ffffff\" stroke-width=\"0.8\" fill=\"none\"/>"));
        }
    }

    fn text(&mut self, x: f64, y: f64, size: f64, anchor: &str, text: &str) {
        let (x, y, size) = (short(x), short(y), short(size));
        let style = format!("font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{INK}\"");
        self.line(&format!("<text x=\"{x}\" y=\"{y}\" {style}>{text}</text>"));
        self.grow(0.0, 0.0);
    }

    fn captions(&mut self, lines: &[String]) {
        let mut y = self.height + 8.0;
        for text in lines {
            y += CAPTION - 4.0;
            self.text(MARGIN, y, 13.0, "start", text);
            // Letters of this size are not wider on average.
            self.grow(MARGIN + 7.0 * text.len() as f64, y);
        }
    }

    fn finish(self) -> String {
        let (width, height) = (short(self.width + MARGIN), short(self.height + MARGIN));
        let mut patterns = String::new();
        for colour in self.hatched {
            let _ = writeln!(
                patterns,
                "<pattern id=\"hatch{colour}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
                 patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#ffffff\" \
                 fill-opacity=\"0.5\"/>\
                 <rect width=\"3\" height=\"6\" fill=\"{}\"/></pattern>",
                COLOURS[colour]
            );
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\">\n\
             <defs>\n{patterns}</defs>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{}</svg>\n",
            self.body
        )
    }
}

/// A number with two decimals at most.
fn short(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
