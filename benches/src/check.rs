//! The predictions of `model` beside runs over the delayed link of `line`. Both change when the machine's
//! speed does, so they are compared round by round: what the model needs is measured, then each kind of step
//! once, then what the model needs again. The error is the median over rounds of what each round was off by.

use std::time::Duration;

use anyhow::{Result, ensure};
use partita::index::Region;
use partita::prelude::*;

use crate::line::{Order, Parts};
use crate::model::{Link, Model, Rates, SEVEN_POINTS, Share};
use crate::record::quantile;
use crate::sample::sample;

/// Depths of halos, in steps.
pub const DEPTHS: [usize; 3] = [1, 2, 4];
/// Every part has a neighbour along every axis.
const PARTS: usize = 8;
/// How often launches, which take little time, are repeated.
const SHORT: usize = 8;

/// A kind of step that was predicted and measured in each round, in microseconds.
pub struct Compared {
    pub link: Link,
    pub depth: usize,
    pub order: Order,
    /// Predicted and measured.
    pub rounds: Vec<(f64, f64)>,
}

impl Compared {
    pub fn predicted_us(&self) -> f64 {
        median(self.rounds.iter().map(|round| round.0).collect())
    }

    pub fn measured_us(&self) -> f64 {
        median(self.rounds.iter().map(|round| round.1).collect())
    }

    /// How much longer it took than was predicted, as a fraction.
    pub fn error(&self) -> f64 {
        median(self.rounds.iter().map(|(predicted, measured)| measured / predicted - 1.0).collect())
    }
}

/// Measures what the model predicts, `rounds` times: two links, one half hidden and one too slow to hide. A
/// depth is calibrated and run in the same memory, so that where it lies is the same for both. Says the rates
/// of each depth too.
pub fn compare(device: &Device, extent: i64, rounds: usize) -> Result<(Vec<Rates>, Vec<Compared>)> {
    ensure!(rounds > 0, "a comparison has at least one round");
    let half = extent as f64 / 2.0;
    let share = Share { extents: [half; 3], sides: [1; 3] };
    let (mut all_rates, mut all) = (Vec::new(), Vec::new());
    let mut links: Option<[Link; 2]> = None;
    for depth in DEPTHS {
        let mut parts = Parts::new(device, extent, PARTS, depth)?;
        let boxes = Boxes::new(&parts)?;
        // The first time, memory is touched and programs are found.
        boxes.rates(&mut parts)?;
        let mut before = boxes.rates(&mut parts)?;
        // The links are the same for all depths and rounds.
        let links = links.get_or_insert_with(|| late_links(before, &share));
        let mut compared: Vec<Compared> = Vec::new();
        for link in &*links {
            compared.extend([Order::InTurn, Order::Overlapped].map(|order| Compared {
                link: link.clone(),
                depth,
                order,
                rounds: Vec::new(),
            }));
        }
        let mut rates = Vec::new();
        for _ in 0..rounds {
            let mut measured = Vec::new();
            for kind in &compared {
                let travel = model(before, &kind.link).travel_us(&share, depth);
                let travel = Duration::from_secs_f64(travel * 1e-6);
                let seconds = sample(1, &mut |_| parts.steps(kind.order, travel))?;
                measured.push(seconds * 1e6 / depth as f64);
            }
            let after = boxes.rates(&mut parts)?;
            let between = mean(before, after);
            for (kind, measured) in compared.iter_mut().zip(measured) {
                let model = model(between, &kind.link);
                let predicted = match kind.order {
                    Order::InTurn => model.in_turn_us(&share, depth),
                    Order::Overlapped => model.overlapped_us(&share, depth),
                };
                kind.rounds.push((predicted, measured));
            }
            rates.push(between);
            before = after;
        }
        all_rates.push(typical(&rates));
        all.extend(compared);
    }
    Ok((all_rates, all))
}

fn model(rates: Rates, link: &Link) -> Model {
    Model { rates, link: link.clone(), stencil: SEVEN_POINTS, turns: PARTS }
}

/// Two links over which faces travel half as long as a step without them takes, and twice as long. Of that
/// time half is latency.
fn late_links(rates: Rates, share: &Share) -> [Link; 2] {
    let no_time = Link { name: String::new(), latency_us: 0.0, gb_s: f64::INFINITY };
    let step = model(rates, &no_time).in_turn_us(share, 1);
    let face_bytes = share.extents[0] * share.extents[1] * SEVEN_POINTS.bytes_per_face_cell;
    [("quick", 0.5), ("slow", 2.0)].map(|(name, ratio)| {
        let latency_us = ratio * step / 6.0;
        Link { name: name.to_owned(), latency_us, gb_s: face_bytes * 1e-3 / latency_us }
    })
}

/// What is computed to learn the rates: a box per part.
struct Boxes {
    whole: Vec<Region>,
    /// What does not grow with the cells is the launch,
    few: Vec<Region>,
    /// what does not shrink with the rows their beginning. As thick as halos are deep, and beside the
    /// neighbour along the last axis, where the rest of a step is thin.
    thin: Vec<Region>,
}

impl Boxes {
    fn new(parts: &Parts) -> Result<Boxes> {
        let whole = parts.zones()?;
        let few = whole.iter().map(near_start).collect::<Result<_>>()?;
        let thin = whole.iter().map(|zone| beside_neighbour(zone, parts)).collect::<Result<_>>()?;
        Ok(Boxes { whole, few, thin })
    }

    /// What the model needs to know of parts that take turns on one device, now.
    fn rates(&self, parts: &mut Parts) -> Result<Rates> {
        let us = |seconds: f64| seconds * 1e6;
        let few_us = us(sample(SHORT, &mut |times| parts.compute_boxes(&self.few, times))?);
        let (mut all_us, mut thin_us, mut exchange_us) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..2 {
            // After the whole, as in a step, so that nothing of them is in a cache.
            all_us.push(us(sample(1, &mut |times| parts.compute_boxes(&self.whole, times))?));
            exchange_us.push(us(sample(1, &mut |times| parts.buffers[0].run(times))?));
            all_us.push(us(sample(1, &mut |times| parts.compute_boxes(&self.whole, times))?));
            thin_us.push(us(sample(1, &mut |times| parts.compute_boxes(&self.thin, times))?));
        }
        let [all_us, thin_us, exchange_us] = [all_us, thin_us, exchange_us].map(median);
        let cells = |boxes: &[Region]| -> Result<f64> {
            Ok(boxes.iter().map(Region::volume).sum::<partita::index::Result<i64>>()? as f64)
        };
        let us_per_cell = (all_us - few_us).max(1e-3) / cells(&self.whole)?;
        // What rows of `depth` cells need beyond the bytes of these cells, which count as all others do.
        let thin_cells = cells(&self.thin)?;
        let rows_us = (thin_us - few_us - thin_cells * us_per_cell).max(0.0);
        Ok(Rates {
            copy_gb_s: SEVEN_POINTS.bytes_per_cell / us_per_cell * 1e-3,
            fraction: 1.0,
            launch_us: few_us / PARTS as f64,
            pack_us: exchange_us / (PARTS * 3) as f64,
            row_us: rows_us / (thin_cells / parts.depth as f64),
            cache: None,
        })
    }
}

/// The first two cells of a box along each axis.
fn near_start(zone: &Region) -> Result<Region> {
    let stop = [0, 1, 2].map(|d| zone.stop()[d].min(zone.start()[d] + 2));
    Ok(Region::new(zone.start(), &stop)?)
}

/// The cells of a part next to those of its neighbour along the last axis, as many as halos are deep.
fn beside_neighbour(zone: &Region, parts: &Parts) -> Result<Region> {
    let depth = parts.depth as i64;
    let (mut start, mut stop) = (zone.start().to_vec(), zone.stop().to_vec());
    if stop[2] < parts.extent - 1 {
        start[2] = start[2].max(stop[2] - depth);
    } else {
        stop[2] = stop[2].min(start[2] + depth);
    }
    Ok(Region::new(&start, &stop)?)
}

/// Each rate by a function of what it was.
fn combined(all: &[Rates], by: impl Fn(Vec<f64>) -> f64) -> Rates {
    let of = |field: fn(&Rates) -> f64| by(all.iter().map(field).collect());
    Rates {
        // A time a cell is what adds up.
        copy_gb_s: 1.0 / of(|rates| 1.0 / rates.copy_gb_s),
        fraction: 1.0,
        launch_us: of(|rates| rates.launch_us),
        pack_us: of(|rates| rates.pack_us),
        row_us: of(|rates| rates.row_us),
        cache: None,
    }
}

fn mean(a: Rates, b: Rates) -> Rates {
    combined(&[a, b], |values| values.iter().sum::<f64>() / values.len() as f64)
}

fn typical(all: &[Rates]) -> Rates {
    combined(all, median)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    quantile(&values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_compared_with_their_predictions() {
        let (rates, compared) = compare(&Device::host(), 24, 3).expect("compare");
        assert_eq!(rates.len(), DEPTHS.len());
        assert!(rates.iter().all(|r| r.copy_gb_s.is_finite() && r.launch_us > 0.0 && r.pack_us > 0.0));
        assert_eq!(compared.len(), 2 * DEPTHS.len() * 2);
        for c in &compared {
            // Faces never arrive early, whatever the machine is busy with.
            let latency_us = 3.0 * c.link.latency_us / c.depth as f64;
            assert!(c.rounds.iter().all(|&(predicted, measured)| measured >= latency_us && predicted > 0.0));
            assert_eq!(c.rounds.len(), 3);
        }
        assert!(compare(&Device::host(), 24, 0).is_err());
    }

    #[test]
    fn a_machine_that_slows_down_is_no_error() {
        let link = Link { name: "late".to_owned(), latency_us: 1.0, gb_s: 1.0 };
        let of = |rounds| Compared { link: link.clone(), depth: 1, order: Order::InTurn, rounds };
        // Three times as slow in the end, and one round in which something else ran.
        let drifting = of(vec![(1.0, 1.1), (2.0, 2.2), (2.0, 9.0), (3.0, 3.3), (3.0, 3.3)]);
        assert!((drifting.error() - 0.1).abs() < 1e-12);
        assert_eq!((drifting.predicted_us(), drifting.measured_us()), (2.0, 3.3));
        assert!(of(vec![(1.0, 1.3)]).error() > 0.25);
    }

    #[test]
    fn a_mean_of_rates_is_that_of_times() {
        let rates = |copy_gb_s, launch_us| Rates {
            copy_gb_s,
            fraction: 1.0,
            launch_us,
            pack_us: 2.0,
            row_us: 0.5,
            cache: None,
        };
        let mean = mean(rates(10.0, 1.0), rates(5.0, 3.0));
        assert!((1.0 / mean.copy_gb_s - 0.15).abs() < 1e-12, "{mean:?}");
        assert_eq!((mean.launch_us, mean.pack_us, mean.row_us), (2.0, 2.0, 0.5));
    }
}
