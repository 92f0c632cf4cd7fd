//! `model`: the predictions as tables and curves. The arithmetic is in `model`.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use partita::prelude::*;

use crate::check::{Compared, compare};
use crate::line::Order;
use crate::model::{H200, Link, Model, Rates, SEVEN_POINTS, Share};
use crate::report;

#[derive(Args)]
pub struct Options {
    /// A run that was saved: its copy, its fraction of it on stencil7 and its launch count. Without one, the
    /// published rates of an H200.
    #[arg(long)]
    from: Option<PathBuf>,
    /// Part of the name of the device in that run.
    #[arg(long, default_value = "")]
    device: String,
    /// Links as NAME:MICROSECONDS:GB_PER_S, instead of the assumed ones.
    #[arg(long)]
    link: Vec<String>,
    /// Extent of each device's cube in the curve of weak scaling.
    #[arg(long, default_value_t = 256.0)]
    weak: f64,
    /// Extent of the cube that all devices share.
    #[arg(long, default_value_t = 2048.0)]
    strong: f64,
    /// Compare predictions with runs of 8 parts on one device, whose faces arrive late as over a link,
    /// instead of predicting; fails if one is off by more than 15 %.
    #[arg(long)]
    check: bool,
    /// The device of these runs.
    #[arg(long, default_value = "host", requires = "check")]
    check_on: String,
    /// Extent of the cube of all 8 parts in these runs.
    #[arg(long, default_value_t = 256, requires = "check")]
    check_extent: i64,
    /// Rounds of these runs, each predicted from what the device does just before and after it.
    #[arg(long, default_value_t = 21, requires = "check")]
    check_rounds: usize,
    /// A folder for the curves, as SVG and PNG.
    #[arg(long)]
    plots: Option<PathBuf>,
}

/// How far a prediction may be off.
const ALLOWED: f64 = 0.15;
const EXTENTS: [f64; 6] = [1024.0, 512.0, 384.0, 256.0, 192.0, 128.0];

/// Prints what the model says, or how far it is off.
pub fn run(options: &Options) -> Result<()> {
    if options.check {
        return check(options);
    }
    write!(io::stdout(), "{}", predict(options)?)?;
    Ok(())
}

/// What the model says, as text; draws the curves if they are wanted.
fn predict(options: &Options) -> Result<String> {
    let rates = match &options.from {
        Some(file) => report::measured_rates(file, &options.device)?,
        None => H200,
    };
    let links = match &options.link[..] {
        [] => report::assumed_links(),
        texts => texts.iter().map(|text| parse_link(text)).collect::<Result<_>>()?,
    };
    let models: Vec<Model> = links
        .iter()
        .map(|link| Model { rates, link: link.clone(), stencil: SEVEN_POINTS, turns: 1 })
        .collect();
    let mut text = inputs(&rates, &links, options.from.is_some());
    weak_table(&models, &mut text);
    strong_table(&models, options.strong, &mut text);
    if let Some(folder) = &options.plots {
        std::fs::create_dir_all(folder).with_context(|| format!("make {}", folder.display()))?;
        for figure in report::scaling(&rates, &links, options.weak, options.strong)? {
            for file in report::write_figure(&figure, &folder.join(&figure.file))? {
                let _ = writeln!(text, "{}", file.display());
            }
        }
    }
    Ok(text)
}

/// Prints predictions beside runs; one that is too far off is an error.
fn check(options: &Options) -> Result<()> {
    let (mut out, mut worst) = (io::stdout(), 0f64);
    for device in Device::named(&options.check_on)? {
        let (rates, compared) = compare(&device, options.check_extent, options.check_rounds)?;
        writeln!(
            out,
            "{}, {}^3 cells in 8 parts, medians of {} rounds. For halos of 1, 2 and 4 steps: {}.\n",
            device.name(),
            options.check_extent,
            options.check_rounds,
            rates.iter().map(calibrated).collect::<Vec<_>>().join("; ")
        )?;
        write!(out, "{}", compared_table(&compared))?;
        worst = compared.iter().map(|c| c.error().abs()).fold(worst, f64::max);
    }
    ensure!(
        worst <= ALLOWED,
        "a prediction is off by {:.0} %, more than {:.0} %",
        100.0 * worst,
        100.0 * ALLOWED
    );
    Ok(())
}

fn compared_table(compared: &[Compared]) -> String {
    let mut text = "| link | steps per exchange | order | predicted, us per step | measured | off by |\n\
                    |---|---|---|---|---|---|\n"
        .to_owned();
    for c in compared {
        let order = match c.order {
            Order::InTurn => "in turn",
            Order::Overlapped => "overlapped",
        };
        let _ = writeln!(
            text,
            "| {:.0} us, {:.2} GB/s | {} | {order} | {:.0} | {:.0} | {:+.1} % |",
            c.link.latency_us,
            c.link.gb_s,
            c.depth,
            c.predicted_us(),
            c.measured_us(),
            100.0 * c.error()
        );
    }
    text
}

fn calibrated(rates: &Rates) -> String {
    let Rates { copy_gb_s, launch_us, pack_us, row_us, .. } = rates;
    format!(
        "{copy_gb_s:.1} GB/s, launch {launch_us:.1} us, a face {pack_us:.1} us, a thin row {row_us:.3} us"
    )
}

fn parse_link(text: &str) -> Result<Link> {
    let fields: Vec<&str> = text.split(':').collect();
    let [name, latency, speed] = fields[..] else {
        bail!("a link is NAME:MICROSECONDS:GB_PER_S, not `{text}`");
    };
    let number = |word: &str| match word.parse::<f64>() {
        Ok(value) if value > 0.0 => Ok(value),
        _ => bail!("link `{text}`: `{word}` is not a number above 0"),
    };
    Ok(Link { name: name.to_owned(), latency_us: number(latency)?, gb_s: number(speed)? })
}

fn inputs(rates: &Rates, links: &[Link], is_measured: bool) -> String {
    let origin = if is_measured { "measured here" } else { "published for an H200, not measured here" };
    let mut text = format!(
        "7 points, f32, 8 bytes a cell. Rates ({origin}): copy {:.1} GB/s, of which {:.2}; \
         launch {:.2} us{}.\n",
        rates.copy_gb_s,
        rates.fraction,
        rates.launch_us,
        rates.cache.map_or(String::new(), |c| format!("; {:.0} GB/s below {:.0} MB", c.gb_s, c.bytes / 1e6))
    );
    for link in links {
        let _ = writeln!(text, "{}: {} us, {} GB/s each way.", link.name, link.latency_us, link.gb_s);
    }
    text.push_str("`model --check` compares the arithmetic with runs on one device.\n\n");
    text
}

fn weak_table(models: &[Model], text: &mut String) {
    let names: Vec<&str> = models.iter().map(|model| model.link.name.as_str()).collect();
    let _ = writeln!(text, "| weak efficiency (best depth) | one device, us | {} |", names.join(" | "));
    let _ = writeln!(text, "|---|---|{}", "---|".repeat(models.len()));
    for extent in EXTENTS {
        let share = Share::surrounded(extent);
        let cells = models.iter().map(|model| {
            let efficiency = |step_us| model.weak_efficiency(extent, step_us);
            let plain = efficiency(model.overlapped_us(&share, 1));
            match model.best_us(&share) {
                (1, _) => format!("{plain:.2}"),
                (depth, step) => format!("{plain:.2} (k={depth}: {:.2})", efficiency(step)),
            }
        });
        let cells: Vec<String> = cells.collect();
        let alone = models.first().map_or(f64::NAN, |model| model.alone_us(extent.powi(3)));
        let _ = writeln!(text, "| {extent}^3 | {alone:.1} | {} |", cells.join(" | "));
    }
    let in_turn = |extent: f64| {
        let of = |model: &Model| {
            let step = model.in_turn_us(&Share::surrounded(extent), 1);
            format!("{:.2}", model.weak_efficiency(extent, step))
        };
        models.iter().map(of).collect::<Vec<_>>().join(" / ")
    };
    let hidden = models.iter().map(|model| model.hidden_from().map_or("never".to_owned(), |n| n.to_string()));
    let _ = writeln!(text, "\nWithout overlap: 1024^3 {}; 512^3 {}.", in_turn(1024.0), in_turn(512.0));
    let _ = writeln!(text, "Hidden from an extent of {}.\n", hidden.collect::<Vec<_>>().join(" / "));
}

fn strong_table(models: &[Model], extent: f64, text: &mut String) {
    let names: Vec<&str> = models.iter().map(|model| model.link.name.as_str()).collect();
    let _ = writeln!(text, "| strong efficiency of {extent}^3 (best depth) | {} |", names.join(" | "));
    let _ = writeln!(text, "|---|{}", "---|".repeat(models.len()));
    for count in [8, 64, 512, 4096] {
        let share = Model::strong_share(count, extent);
        let cells = models.iter().map(|model| {
            let efficiency = |step_us| model.strong_efficiency(count, extent, step_us);
            let (depth, best) = model.best_us(&share);
            let plain = efficiency(model.overlapped_us(&share, 1));
            if depth == 1 {
                format!("{plain:.2}")
            } else {
                format!("{plain:.2} (k={depth}: {:.2})", efficiency(best))
            }
        });
        let _ = writeln!(text, "| {count} devices | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_or_refused() {
        let link = parse_link("fast:1.5:200").expect("a link");
        assert_eq!((link.name.as_str(), link.latency_us, link.gb_s), ("fast", 1.5, 200.0));
        for wrong in ["fast", "fast:1", "fast:x:1", "fast:1:0", "a:1:2:3"] {
            assert!(parse_link(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn tables_have_the_links_asked_for() {
        let link = vec!["slow:50:2.7".to_owned()];
        let options = Options {
            from: None,
            device: String::new(),
            link,
            weak: 256.0,
            strong: 1024.0,
            plots: None,
            check: false,
            check_on: String::new(),
            check_extent: 0,
            check_rounds: 0,
        };
        let text = predict(&options).expect("predict");
        assert!(text.contains("slow: 50 us, 2.7 GB/s"), "{text}");
        assert!(text.contains("strong efficiency of 1024^3"), "{text}");
    }

    #[test]
    fn a_comparison_says_what_was_off_and_by_how_much() {
        let link = Link { name: "late".to_owned(), latency_us: 10.0, gb_s: 1.0 };
        let rounds = vec![(100.0, 120.0), (200.0, 240.0), (100.0, 150.0)];
        let text = compared_table(&[Compared { link, depth: 2, order: Order::Overlapped, rounds }]);
        assert!(text.contains("| 10 us, 1.00 GB/s | 2 | overlapped | 100 | 150 | +20.0 % |"), "{text}");
    }
}
