//! [`LinkReport`]: latency and bandwidth of every pair of devices of all ranks, by each transport there is;
//! which one exchanges choose and why; and what makes a link slower than it could be. As a table and as JSON.

mod measure;

use std::fmt;

use super::between_ranks::{RankLink, select_between_ranks};
use crate::device::DeviceKind;
use crate::program::{LinkTable, Transport};
use crate::team::Team;

/// The transport that exchanges choose for cells of a member of one team that go to a member of another team
/// of the same ranks, as far as teams tell: two parts of one memory take the packed form of a kernel.
fn select(
    (from, from_part): (&Team, usize),
    (to, to_part): (&Team, usize),
    table: Option<&LinkTable>,
) -> Transport {
    let ([from_rank, to_rank], kinds) =
        ([from.rank_of(from_part), to.rank_of(to_part)], [from.kind(from_part), to.kind(to_part)]);
    if from_rank == to_rank {
        return match kinds {
            _ if from.device_of(from_part) == to.device_of(to_part) => Transport::SameDevice,
            [DeviceKind::Cuda, DeviceKind::Cuda] => Transport::Peer,
            _ => Transport::Staged,
        };
    }
    let link = RankLink {
        host: from.wire().is_some_and(|ranks| ranks.takes_host_memory()),
        device_pointers: table.is_some_and(LinkTable::takes_device_pointers),
        ipc: table.is_some_and(|table| table.has_ipc(from_rank, to_rank)),
        nccl: table.is_some_and(|table| table.nccl().is_ok()),
    };
    select_between_ranks(kinds[0], kinds[1], link)
}

/// The same in words, as [`explain`](crate::Array::explain) says it. Not collective: CUDA memory of ranks
/// that have exchanged none takes a transport that they find by trial.
pub(crate) fn way_between(from: (&Team, usize), to: (&Team, usize)) -> String {
    if from.0.rank_of(from.1) == to.0.rank_of(to.1) {
        return select(from, to, None).to_string();
    }
    let wire = from.0.wire().map(|ranks| ranks.wire_name()).unwrap_or_default();
    let is_cuda = from.0.kind(from.1) == DeviceKind::Cuda && to.0.kind(to.1) == DeviceKind::Cuda;
    match (from.0.known_links(), is_cuda) {
        (None, true) => "CUDA IPC, NCCL, device pointers or staged, as the first exchange finds".to_owned(),
        (table, _) => match select(from, to, table) {
            transport @ (Transport::Ipc | Transport::Nccl) => transport.to_string(),
            transport => format!("{transport} by {wire}"),
        },
    }
}

/// The links between the devices of all ranks, as measured.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkReport {
    /// This rank: one of them prints the report.
    pub rank: usize,
    /// The number of ranks.
    pub ranks: usize,
    /// What carries messages between ranks; `None` if there is one.
    pub wire: Option<String>,
    /// The devices of all ranks, those of rank 0 first.
    pub devices: Vec<LinkDevice>,
    /// One per pair of devices, each with itself too.
    pub links: Vec<MeasuredLink>,
    /// The bytes of the messages by which latency and bandwidth were measured.
    pub bytes: [u64; 2],
    /// Whether a CUDA device is simulated, so that the figures say nothing about hardware.
    pub is_simulated: bool,
    /// What makes links slower than they could be.
    pub warnings: Vec<String>,
}

/// A device of a rank.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkDevice {
    /// Its rank.
    pub rank: usize,
    /// Its name.
    pub name: String,
    /// Its NUMA node, of GPUs where it is known.
    pub numa_node: Option<usize>,
}

/// The figures of a pair of devices.
#[derive(Clone, PartialEq, Debug)]
pub struct MeasuredLink {
    /// The devices, by number.
    pub ends: [usize; 2],
    /// One per transport; exchanges choose the first.
    pub ways: Vec<LinkFigures>,
    /// Why they choose it.
    pub reason: String,
}

/// The figures of one transport: half a round trip of a message.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkFigures {
    /// The transport.
    pub transport: Transport,
    /// Seconds of a short message.
    pub latency: f64,
    /// Bytes per second of a long message.
    pub bandwidth: f64,
    /// Whether every byte of all messages arrived as it was sent.
    pub arrived: bool,
}

impl LinkReport {
    /// Whether all messages arrived as they were sent.
    pub fn all_arrived(&self) -> bool {
        self.links.iter().flat_map(|link| &link.ways).all(|way| way.arrived)
    }

    /// The same as JSON: latency in microseconds, bandwidth in GB/s.
    pub fn to_json(&self) -> String {
        let node = |node: Option<usize>| node.map_or("null".to_owned(), |node| node.to_string());
        let devices = self.devices.iter().map(|device| {
            let (rank, name, node) = (device.rank, quoted(&device.name), node(device.numa_node));
            format!("{{\"rank\": {rank}, \"name\": {name}, \"numa_node\": {node}}}")
        });
        let way = |way: &LinkFigures| {
            format!(
                "{{\"way\": {}, \"latency_us\": {:.3}, \"gb_per_s\": {:.4}, \"arrived\": {}}}",
                quoted(&way.transport.to_string()),
                way.latency * 1e6,
                way.bandwidth / 1e9,
                way.arrived
            )
        };
        let links = self.links.iter().map(|link| {
            let [from, to] = link.ends;
            let (chosen, reason) = (quoted(&link.ways[0].transport.to_string()), quoted(&link.reason));
            let ways = listed(link.ways.iter().map(way));
            format!(
                "{{\"from\": {from}, \"to\": {to}, \"chosen\": {chosen}, \"why\": {reason}, \
                 \"ways\": {ways}}}"
            )
        });
        format!(
            "{{\"ranks\": {}, \"wire\": {}, \"bytes\": {:?}, \"simulated\": {}, \"devices\": {}, \
             \"links\": {}, \"warnings\": {}}}",
            self.ranks,
            self.wire.as_deref().map_or("null".to_owned(), quoted),
            self.bytes,
            self.is_simulated,
            listed(devices),
            listed(links),
            listed(self.warnings.iter().map(|warning| quoted(warning))),
        )
    }
}

fn listed(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// A text of JSON.
fn quoted(text: &str) -> String {
    let escape = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

/// A size such as `16 MiB`.
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..0x10_0000 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

impl fmt::Display for LinkReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural =
            |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let (ranks, devices) = (plural(self.ranks, "rank"), plural(self.devices.len(), "device"));
        let wire = self.wire.as_ref().map_or(String::new(), |wire| format!(", connected by {wire}"));
        writeln!(f, "{devices} of {ranks}{wire}")?;
        for (number, device) in self.devices.iter().enumerate() {
            let node = device.numa_node.map_or(String::new(), |node| format!(", NUMA node {node}"));
            writeln!(f, "  {number}: {} of rank {}{node}", device.name, device.rank)?;
        }
        let [short, long] = self.bytes.map(size);
        writeln!(f, "\nlatency of {short}, bandwidth of {long}; exchanges choose the first of each pair")?;
        for link in &self.links {
            let [from, to] = link.ends;
            for (k, LinkFigures { transport, latency, bandwidth, arrived }) in link.ways.iter().enumerate() {
                let pair = if k == 0 { format!("{from} - {to}") } else { String::new() };
                let reason = if k == 0 { link.reason.as_str() } else { "" };
                let verdict = if *arrived { reason } else { "FAILED: other bytes arrived than were sent" };
                let (microseconds, speed) = (latency * 1e6, bandwidth / 1e9);
                let line = format!(
                    "  {pair:>7}  {:<15} {microseconds:>9.2} us {speed:>9.3} GB/s  {verdict}",
                    transport.to_string()
                );
                writeln!(f, "{}", line.trim_end())?;
            }
        }
        self.warnings.iter().try_for_each(|warning| writeln!(f, "warning: {warning}"))?;
        if self.is_simulated {
            writeln!(f, "The CUDA devices are simulated: these figures say nothing about hardware.")?;
        }
        Ok(())
    }
}
