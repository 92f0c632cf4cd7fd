//! Draws outlines as SVG: one column per part, time downwards. Arrows are messages; boxes are kernels, whose
//! pale margin is the rim that waits for the exchange.

use std::fmt::Write as _;

use crate::array::explain::outline::{ExchangeStep, KernelStep, Outline};

const COLUMN: f64 = 132.0;
const LEFT: f64 = 250.0;
const TOP: f64 = 44.0;
const BOX: f64 = 54.0;
const GAP: f64 = 26.0;
/// Arrows beyond so many, and parts, are not drawn one by one.
const MOST_LINKS: usize = 48;
const MOST_PARTS: usize = 16;
const INK: &str = "#222222";
const PLAN: &str = "#c2571a";
const CORE: &str = "#8fbcd9";
const RIM: &str = "#dbe9f3";

impl Outline {
    /// The outline as a picture in SVG.
    pub fn svg(&self) -> String {
        let parts = self.parts.min(MOST_PARTS);
        let (mut body, mut y) = (String::new(), TOP);
        for part in 0..parts {
            text(&mut body, middle(part), TOP - 18.0, 13.0, "middle", INK, &format!("part {part}"));
        }
        if self.kernels.is_empty() {
            text(&mut body, LEFT, y + 20.0, 13.0, "start", INK, "computed: nothing will run");
            y += BOX;
        }
        for kernel in &self.kernels {
            for exchange in &kernel.exchanges {
                y = draw_exchange(&mut body, exchange, parts, y);
            }
            y = draw_kernel(&mut body, kernel, parts, y);
        }
        let (width, note) = (LEFT + parts as f64 * COLUMN + 20.0, self.parts - parts);
        if note > 0 {
            text(&mut body, LEFT, y + 6.0, 12.0, "start", INK, &format!("and {note} more parts"));
            y += 20.0;
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{:.0}\" \
             viewBox=\"0 0 {width:.0} {:.0}\" font-family=\"sans-serif\">\n\
             <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"9\" \
             markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">\
             <path d=\"M0,0 L8,4 L0,8 z\" fill=\"{PLAN}\"/></marker></defs>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n",
            y + 10.0,
            y + 10.0,
        )
    }

    /// The outline as a page that needs no other file: the picture, and the text below it.
    pub fn html(&self) -> String {
        let plain = escaped(&self.to_string());
        let svg = self.svg();
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>What will run</title>\
             </head>\n<body>\n{svg}<pre>{plain}</pre>\n</body></html>\n"
        )
    }
}

fn middle(part: usize) -> f64 {
    LEFT + (part as f64 + 0.5) * COLUMN
}

/// Arrows below each other, so that none hides another.
fn draw_exchange(body: &mut String, exchange: &ExchangeStep, parts: usize, y: f64) -> f64 {
    let between: Vec<_> = exchange.between().collect();
    let shown = between.iter().filter(|link| link.from_part < parts && link.to_part < parts).take(MOST_LINKS);
    let most = between.iter().map(|link| link.elements).max().unwrap_or(1).max(1) as f64;
    text(body, 12.0, y + 14.0, 13.0, "start", PLAN, &format!("plan: {}", exchange.what));
    text(body, 12.0, y + 30.0, 11.0, "start", INK, &format!("of {}", exchange.operand));
    let all = format!("{} over {} links", amount(exchange.bytes()), between.len());
    text(body, 12.0, y + 45.0, 11.0, "start", INK, &all);
    let mut at = y + 8.0;
    for link in shown {
        let (from, to) = (middle(link.from_part), middle(link.to_part));
        let side = if from < to { 10.0 } else { -10.0 };
        let width = 1.0 + 3.0 * link.elements as f64 / most;
        let _ = writeln!(
            body,
            "<line x1=\"{:.1}\" y1=\"{at:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\" stroke=\"{PLAN}\" \
             stroke-width=\"{width:.1}\" marker-end=\"url(#head)\"/>",
            from + side,
            to - side,
        );
        let label = amount(link.elements * exchange.element_bytes);
        text(body, (from + to) / 2.0, at - 3.0, 10.0, "middle", INK, &label);
        at += 17.0;
    }
    at.max(y + 52.0) + GAP - 10.0
}

fn draw_kernel(body: &mut String, kernel: &KernelStep, parts: usize, y: f64) -> f64 {
    let cells: u64 = kernel.cells.iter().sum();
    text(body, 12.0, y + 14.0, 13.0, "start", INK, &format!("kernel: {}", kernel.name));
    text(body, 12.0, y + 30.0, 11.0, "start", INK, &kernel.layout);
    let bytes = format!("reads {}, writes {}", amount(kernel.read_bytes), amount(kernel.written_bytes));
    text(body, 12.0, y + 45.0, 11.0, "start", INK, &bytes);
    let work = format!("{} operations", kernel.operations * cells);
    text(body, 12.0, y + 60.0, 11.0, "start", INK, &work);
    for part in (0..parts).filter(|&part| kernel.cells[part] > 0) {
        let (x, w) = (middle(part) - 0.42 * COLUMN, 0.84 * COLUMN);
        rect(body, (x, y), (w, BOX), RIM);
        // The side of the core is the root of its share.
        let share = (kernel.core[part] as f64 / kernel.cells[part] as f64).sqrt();
        let (cw, ch) = (w * share, BOX * share);
        rect(body, (x + (w - cw) / 2.0, y + (BOX - ch) / 2.0), (cw, ch), CORE);
        text(body, middle(part), y + 24.0, 11.0, "middle", INK, &format!("{} cells", kernel.cells[part]));
        if kernel.core[part] < kernel.cells[part] {
            let waits = format!("{} wait", kernel.cells[part] - kernel.core[part]);
            text(body, middle(part), y + 40.0, 10.0, "middle", INK, &waits);
        }
    }
    y + BOX + GAP
}

fn rect(body: &mut String, (x, y): (f64, f64), (w, h): (f64, f64), fill: &str) {
    let _ = writeln!(
        body,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{h:.1}\" rx=\"3\" fill=\"{fill}\" \
         stroke=\"{INK}\" stroke-width=\"0.6\"/>"
    );
}

fn text(body: &mut String, x: f64, y: f64, size: f64, anchor: &str, colour: &str, what: &str) {
    let what = escaped(what);
    let _ = writeln!(
        body,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{colour}\">\
         {what}</text>"
    );
}

fn escaped(what: &str) -> String {
    what.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Bytes for people.
fn amount(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        10_000_000..10_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}
