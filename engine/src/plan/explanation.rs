//! Plans as numbers and text: the traffic of every link between two parts. The transport of a link is chosen
//! elsewhere.

use std::fmt;

use super::axis_subset::AxisSubset;
use super::moves::{Move, Plan};

/// Everything that one part sends to one part.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LinkTraffic {
    /// The sending part.
    pub from_part: usize,
    /// The receiving part, which may be the same.
    pub to_part: usize,
    /// The number of moves.
    pub moves: usize,
    /// The number of elements in all of them.
    pub elements: u64,
}

impl Plan {
    /// The links that carry something, by receiving part, then sending part.
    pub fn links(&self) -> Vec<LinkTraffic> {
        let same_link = |a: &Move, b: &Move| (a.to_part, a.from_part) == (b.to_part, b.from_part);
        let link = |moves: &[Move]| LinkTraffic {
            from_part: moves[0].from_part,
            to_part: moves[0].to_part,
            moves: moves.len(),
            elements: moves.iter().fold(0, |sum, m| sum.saturating_add(m.elements())),
        };
        self.moves().chunk_by(same_link).map(link).collect()
    }

    /// Text that lists the links with their bytes, for elements of this size.
    pub fn explain(&self, element_bytes: usize) -> Explanation {
        let (from_parts, to_parts) = (self.from_parts(), self.to_parts());
        Explanation { from_parts, to_parts, links: self.links(), element_bytes, costs: None }
    }
}

impl fmt::Display for Plan {
    /// Every move on its own line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "plan of {} moves, {} parts to {}",
            self.moves().len(),
            self.from_parts(),
            self.to_parts()
        )?;
        for m in self.moves() {
            write!(f, "\n  {} {} -> {} {} {:?}", m.from_part, m.from, m.to_part, m.to, m.op)?;
            for (d, subset) in m.subsets.iter().flat_map(|subsets| subsets.iter()).enumerate() {
                write!(f, "{} dimension {d}: {subset}", if d == 0 { ";" } else { "," })?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for AxisSubset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AxisSubset::Runs { run, count: 1, .. } => write!(f, "{run} cells"),
            AxisSubset::Runs { run, count, from_step, to_step } => {
                write!(f, "{count} runs of {run}, every {from_step} to every {to_step}")
            }
            AxisSubset::List(pairs) => write!(f, "{} listed cells", pairs.from.len()),
        }
    }
}

/// What a message costs: a time of its own, and one per byte.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Costs {
    /// Seconds before the first byte arrives.
    pub latency_seconds: f64,
    /// Bytes per second from then on.
    pub bandwidth: f64,
}

/// The links of a plan in bytes, to be printed; made by [`Plan::explain`].
#[derive(Clone, Debug)]
pub struct Explanation {
    from_parts: usize,
    to_parts: usize,
    links: Vec<LinkTraffic>,
    element_bytes: usize,
    costs: Option<Costs>,
}

impl Explanation {
    const MOST_LINES: usize = 32;

    /// The same with a prediction.
    pub fn with_costs(self, costs: Costs) -> Explanation {
        Explanation { costs: Some(costs), ..self }
    }

    /// The seconds that the exchange takes at least if every link between two parts is one message, and every
    /// part sends its messages one after the other, and receives them so, both at once: those of the part
    /// with the most to do.
    pub fn predicted_seconds(&self, costs: Costs) -> f64 {
        let mut busy = vec![(0.0, 0.0); self.from_parts.max(self.to_parts)];
        for link in self.links.iter().filter(|link| link.from_part != link.to_part) {
            let seconds = costs.latency_seconds + self.bytes(link) as f64 / costs.bandwidth;
            busy[link.from_part].0 += seconds;
            busy[link.to_part].1 += seconds;
        }
        busy.iter().fold(0.0, |most: f64, &(sends, receives)| most.max(sends).max(receives))
    }

    fn total(&self, keep: impl Fn(&LinkTraffic) -> bool) -> String {
        let (mut moves, mut bytes) = (0, 0);
        for link in self.links.iter().filter(|link| keep(link)) {
            moves += link.moves;
            bytes += self.bytes(link);
        }
        format!("{moves} moves, {bytes} bytes")
    }

    fn bytes(&self, link: &LinkTraffic) -> u128 {
        u128::from(link.elements) * self.element_bytes as u128
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} parts to {}: ", self.from_parts, self.to_parts)?;
        write!(f, "{} between parts", self.total(|link| link.from_part != link.to_part))?;
        write!(f, ", {} within parts", self.total(|link| link.from_part == link.to_part))?;
        if let Some(costs) = self.costs {
            let messages = self.links.iter().filter(|link| link.from_part != link.to_part).count();
            let (latency, bandwidth) = (1e6 * costs.latency_seconds, costs.bandwidth / 1e9);
            let predicted = 1e6 * self.predicted_seconds(costs);
            write!(f, "\n  {messages} messages of {latency} us and {bandwidth} GB/s: {predicted:.2} us")?;
        }
        for link in self.links.iter().take(Self::MOST_LINES) {
            let LinkTraffic { from_part, to_part, moves, .. } = link;
            write!(f, "\n  {from_part} -> {to_part}: {moves} moves, {} bytes", self.bytes(link))?;
        }
        match self.links.len().saturating_sub(Self::MOST_LINES) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more links"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::Costs;
    use crate::index::Distribution;
    use crate::plan::Plan;

    #[test]
    fn links_add_up() {
        let dist = Distribution::builder(&[4, 6])
            .grid(&[1, 2])
            .halo(&[1, 1], &[1, 1])
            .periodic(&[true, false])
            .build()
            .unwrap();
        let plan = Plan::halo(&dist, true).unwrap();
        let text = "2 parts to 2: 6 moves, 48 bytes between parts, 4 moves, 48 bytes within parts\n  \
                    0 -> 0: 2 moves, 24 bytes\n  \
                    1 -> 0: 3 moves, 24 bytes\n  \
                    0 -> 1: 3 moves, 24 bytes\n  \
                    1 -> 1: 2 moves, 24 bytes";
        assert_eq!(plan.explain(4).to_string(), text);
    }

    #[test]
    fn the_part_with_the_most_to_do_is_waited_for() {
        // On a line of three the middle one sends two messages of 4 bytes, and receives two.
        let dist = Distribution::builder(&[9]).parts(3).halo(&[1], &[1]).build().unwrap();
        let costs = Costs { latency_seconds: 2e-6, bandwidth: 1e6 };
        let explanation = Plan::halo(&dist, true).unwrap().explain(4).with_costs(costs);
        assert!((explanation.predicted_seconds(costs) - 12e-6).abs() < 1e-18);
        let text = explanation.to_string();
        assert!(text.contains("4 messages of 2 us and 0.001 GB/s: 12.00 us"), "{text}");
    }

    #[test]
    fn long_lists_are_cut() {
        let dist = Distribution::builder(&[40]).parts(40).halo(&[1], &[0]).build().unwrap();
        let plan = Plan::halo(&dist, true).unwrap();
        let text = plan.explain(8).to_string();
        assert_eq!(text.lines().count(), 34);
        assert!(text.ends_with("and 7 more links"), "{text}");
        assert_eq!(plan.to_string().lines().nth(1), Some("  0 [0:1] -> 1 [0:1] Copy"));
    }
}
