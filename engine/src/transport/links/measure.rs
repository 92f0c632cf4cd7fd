//! The measurement of links: for each pair of devices and each transport, an exchange there and one back, of
//! a short and of a long message, by the commands that arrays run. What arrives is compared with what was
//! sent, before and after the timed turns. All ranks run the same exchanges in the same order, and one pair
//! is measured at a time.

use std::time::Instant;

use partita_kernels::DType;

use super::{LinkDevice, LinkFigures, LinkReport, MeasuredLink, select};
use crate::config::config;
use crate::device::{Buffer, Device, DeviceKind, topology};
use crate::error::Result;
use crate::index::Region;
use crate::plan::{Move, MoveOp, Plan};
use crate::program::{self, LinkTable, Place, Transport};
use crate::team::Team;
use crate::transport::between_ranks::lower_between_ranks;
use crate::transport::exchange::{Exchange, Field};
use crate::wire::{Ranks, job};

/// The bytes of a short and of a long message, and how often each is sent per turn.
const MESSAGES: [(u64, usize); 2] = [(8, 50), (16 << 20, 4)];
/// The same on simulated devices, which interpret each instruction.
const SIMULATED: [(u64, usize); 2] = [(8, 5), (64 << 10, 1)];
/// Turns of each, of which the middle one counts.
const TURNS: usize = 5;

impl LinkReport {
    /// Measures the links between some devices of this machine, which its ranks divide among them, and those
    /// of all other ranks. Collective.
    ///
    /// # Errors
    /// As [`Team::world_on`]; a device or a rank that fails.
    pub fn measure(devices: &[Device]) -> Result<LinkReport> {
        let team = Team::world_on(devices, job::share_of_this_machine(devices).len())?;
        let _guard = team.evaluation()?;
        team.together("measuring links", || report(&team))
    }
}

/// What a rank says of itself and its devices, one line each.
struct RankFacts {
    machine: String,
    has_ipc: bool,
    nodes: String,
    /// Pairs of its CUDA devices without peer access, such as `0-1`.
    unreached: String,
    numa_nodes: Vec<Option<usize>>,
}

impl RankFacts {
    fn here(team: &Team) -> String {
        let machine = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let nodes: Vec<String> = topology::nodes_of_process().iter().map(usize::to_string).collect();
        let members: Vec<(usize, i32)> = (0..team.size())
            .filter(|&member| team.is_here(member))
            .filter_map(|member| Some((member, topology::ordinal(team.device_name(member))?)))
            .collect();
        let pairs = members.iter().flat_map(|one| members.iter().map(move |other| (one, other)));
        let unreached = pairs.filter(|(one, other)| topology::peer_access(one.1, other.1) == Some(false));
        let unreached = unreached.map(|(one, other)| format!("{}-{}", one.0, other.0)).collect::<Vec<_>>();
        let has_ipc = config().cuda_ipc.to_string();
        let mut lines = vec![machine.trim().to_owned(), has_ipc, nodes.join(" "), unreached.join(" ")];
        lines.extend(team.devices().iter().map(|device| {
            let node = topology::ordinal(device.name()).and_then(topology::numa_node);
            node.map_or(String::new(), |node| node.to_string())
        }));
        lines.join("\n")
    }

    fn of(text: &str) -> RankFacts {
        let mut lines = text.split('\n').map(str::to_owned);
        let mut next = || lines.next().unwrap_or_default();
        let (machine, has_ipc, nodes, unreached) = (next(), next() == "true", next(), next());
        let numa_nodes = lines.map(|line| line.parse().ok()).collect();
        RankFacts { machine, has_ipc, nodes, unreached, numa_nodes }
    }
}

/// A gather of texts on every rank.
fn all_gather(team: &Team, operation: &str, mine: &str) -> Result<Vec<String>> {
    let Some(ranks) = team.wire() else { return Ok(vec![mine.to_owned()]) };
    let all = ranks.all_gather(operation, mine.as_bytes())?;
    Ok(all.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect())
}

fn report(team: &Team) -> Result<LinkReport> {
    let facts = all_gather(team, "describing ranks", &RankFacts::here(team))?;
    let facts: Vec<RankFacts> = facts.iter().map(|text| RankFacts::of(text)).collect();
    let device = |member| {
        let rank = team.rank_of(member);
        let first = (0..member).filter(|&other| team.rank_of(other) == rank).count();
        let numa_node = facts[rank].numa_nodes.get(first).copied().flatten();
        LinkDevice { rank, name: team.device_name(member).to_owned(), numa_node }
    };
    let devices: Vec<LinkDevice> = (0..team.size()).map(device).collect();
    let cuda = |member: usize| team.kind(member) == DeviceKind::Cuda;
    let is_simulated =
        (0..team.size()).any(|member| cuda(member) && devices[member].name.contains("simulated"));
    let (mut links, mut warnings) = (Vec::new(), Vec::new());
    let mut warn = |text: String| {
        if !warnings.contains(&text) {
            warnings.push(text);
        }
    };
    let wire = team.wire().map(Ranks::wire_name);
    let table = team.links()?;
    for from in 0..team.size() {
        for to in from..team.size() {
            let pair = Pair { team, ends: [from, to], table, facts: &facts };
            let messages = if is_simulated { SIMULATED } else { MESSAGES };
            let ways = pair.transports().into_iter().map(|transport| pair.measure(transport, messages));
            let ways = ways.collect::<Result<Vec<LinkFigures>>>()?;
            let reason = pair.reason(ways[0].transport);
            if from != to && !pair.has_access() {
                warn(format!(
                    "devices {from} and {to} have no peer access: the driver copies through the host"
                ));
            }
            let (chosen, [one, other]) = (ways[0].transport, pair.ranks());
            if one != other && cuda(from) && cuda(to) && chosen == Transport::Staged {
                match &wire {
                    Some(wire) if wire == "TCP" && facts[one].machine == facts[other].machine => {
                        warn(format!(
                            "CUDA memory of ranks {one} and {other}, on one machine, is staged by sockets"
                        ));
                    }
                    Some(wire) if wire != "TCP" => {
                        warn(format!("CUDA memory is staged: {wire} takes no device pointers"));
                    }
                    _ => {}
                }
            }
            links.push(MeasuredLink { ends: [from, to], ways, reason });
        }
    }
    for (number, device) in devices.iter().enumerate() {
        let nodes = &facts[device.rank].nodes;
        if let Some(node) = device.numa_node.filter(|node| !nodes.split(' ').any(|n| n == node.to_string())) {
            let rank = device.rank;
            warn(format!("device {number} is on NUMA node {node}, its rank {rank} runs on node {nodes}"));
        }
    }
    let bytes = if is_simulated { SIMULATED } else { MESSAGES }.map(|(bytes, _)| bytes);
    let (rank, ranks) = (team.rank(), team.ranks());
    Ok(LinkReport { rank, ranks, wire, devices, links, bytes, is_simulated, warnings })
}

/// A pair of members.
struct Pair<'a> {
    team: &'a Team,
    ends: [usize; 2],
    table: Option<&'a LinkTable>,
    facts: &'a [RankFacts],
}

impl Pair<'_> {
    fn ranks(&self) -> [usize; 2] {
        self.ends.map(|member| self.team.rank_of(member))
    }

    fn kinds(&self) -> [DeviceKind; 2] {
        self.ends.map(|member| self.team.kind(member))
    }

    /// Whether nothing says that they have no peer access.
    fn has_access(&self) -> bool {
        let pair = format!("{}-{}", self.ends[0], self.ends[1]);
        self.facts[self.ranks()[0]].unreached.split(' ').all(|unreached| unreached != pair)
    }

    /// The transports that there are, the chosen one first.
    fn transports(&self) -> Vec<Transport> {
        let ends = self.ends.map(|member| (self.team, member));
        let chosen = |table: Option<&LinkTable>| select(ends[0], ends[1], table);
        let (first, mut all) = (chosen(self.table), vec![chosen(self.table)]);
        if matches!(first, Transport::Ipc | Transport::Nccl) {
            let others = [Transport::Nccl, Transport::DevicePointers];
            let only = |table: &LinkTable, other| chosen(Some(&table.only(other)));
            all.extend(self.table.into_iter().flat_map(|table| others.map(|other| only(table, other))));
        }
        // CUDA memory can always go through the host.
        if matches!(first, Transport::Peer | Transport::Ipc | Transport::Nccl | Transport::DevicePointers) {
            all.push(Transport::Staged);
        }
        let mut found = Vec::new();
        for transport in all {
            if !found.contains(&transport) {
                found.push(transport);
            }
        }
        found
    }

    /// Why exchanges choose a transport.
    fn reason(&self, chosen: Transport) -> String {
        let ([from, to], kinds) = (self.ranks(), self.kinds());
        let wire = self.team.wire().map(Ranks::wire_name).unwrap_or_default();
        match chosen {
            Transport::SameDevice | Transport::SameMemory => "one device".to_owned(),
            Transport::Peer if !self.has_access() => "the driver copies; no peer access".to_owned(),
            Transport::Peer => "the driver copies from device to device".to_owned(),
            Transport::Ipc => "the ranks map each other's CUDA memory".to_owned(),
            Transport::Nccl => format!("NCCL connects the ranks' GPUs; {}", self.no_ipc()),
            Transport::ZeroCopy => format!("{wire} reads and writes host memory"),
            Transport::DevicePointers => {
                format!("{wire} takes device pointers; {}; {}", self.no_ipc(), self.no_nccl())
            }
            Transport::Staged if from != to && kinds == [DeviceKind::Cuda; 2] => {
                let refusal = self.table.and_then(LinkTable::refusal).unwrap_or_default();
                format!("{refusal}; {}; {}", self.no_ipc(), self.no_nccl())
            }
            Transport::Staged => "not both in host memory, nor in CUDA memory".to_owned(),
        }
    }

    /// Why there is no CUDA IPC between the ranks.
    fn no_ipc(&self) -> String {
        let [one, other] = self.ranks().map(|rank| &self.facts[rank]);
        let off = self.ranks().into_iter().find(|&rank| !self.facts[rank].has_ipc);
        match off {
            Some(rank) => format!("no CUDA IPC: PARTITA_CUDA_IPC=0 on rank {rank}"),
            None if one.machine != other.machine => "no CUDA IPC: other machines".to_owned(),
            None => "no CUDA IPC: the driver maps no memory of the other rank".to_owned(),
        }
    }

    /// Why there is no NCCL between the ranks.
    fn no_nccl(&self) -> String {
        let refusal = self.table.and_then(|table| table.nccl().err()).unwrap_or_default();
        format!("no NCCL: {refusal}")
    }

    /// The figures of a transport.
    fn measure(&self, transport: Transport, messages: [(u64, usize); 2]) -> Result<LinkFigures> {
        let [from, to] = self.ranks();
        let mut team = self.team.of_members(&self.ends)?;
        if let Some(table) = self.table.filter(|_| from != to) {
            team = team.with_links(table.only(transport))?;
        }
        let (mut seconds, mut arrived) = ([0.0; 2], true);
        for (k, (bytes, repeats)) in messages.into_iter().enumerate() {
            let trip = RoundTrip::new(&team, transport, bytes)?;
            arrived &= trip.check(k as u8)?;
            trip.clear()?;
            let mut turns = Vec::new();
            for _ in 0..TURNS {
                let begin = Instant::now();
                (0..repeats).try_for_each(|_| trip.run())?;
                turns.push(begin.elapsed().as_secs_f64() / (2 * repeats) as f64);
            }
            turns.sort_by(f64::total_cmp);
            seconds[k] = turns[TURNS / 2];
            arrived &= trip.is_right(k as u8)?;
        }
        let mine = format!("{} {} {arrived}", seconds[0], seconds[1]);
        let all = all_gather(self.team, "gathering figures", &mine)?;
        let mut numbers = all[from].split(' ').map(|word| word.parse::<f64>().unwrap_or(f64::NAN));
        let mut next = || numbers.next().unwrap_or(f64::NAN);
        let (latency, bandwidth) = (next(), messages[1].0 as f64 / next());
        Ok(LinkFigures {
            transport,
            latency,
            bandwidth,
            arrived: all.iter().all(|text| text.ends_with("true")),
        })
    }
}

/// A message from the first member of a team to its second one, and one back.
struct RoundTrip<'a> {
    team: &'a Team,
    /// Of each direction; none where messages go through a vector of the host.
    exchanges: Option<[Exchange; 2]>,
    /// By direction: what is sent and what arrives, of members here.
    memory: [[Option<Buffer>; 2]; 2],
    bytes: u64,
}

impl<'a> RoundTrip<'a> {
    fn new(team: &'a Team, transport: Transport, bytes: u64) -> Result<RoundTrip<'a>> {
        let alloc = |member: usize| {
            let device = team.is_here(member).then(|| team.device(member));
            device.map(|device| device.alloc(bytes)).transpose()
        };
        let memory = [[alloc(0)?, alloc(1)?], [alloc(1)?, alloc(0)?]];
        let by_host = transport == Transport::Staged
            && team.rank_of(0) == team.rank_of(1)
            && [0, 1].iter().all(|&member| team.kind(member) == DeviceKind::Cuda);
        let exchange = |direction: usize| {
            let region = Region::from_shape(&[bytes as i64 / 4])?;
            let (from_part, to_part, op) = (direction, 1 - direction, MoveOp::Copy);
            let one = Move { from_part, to_part, from: region, to: region, subsets: None, op };
            let plan = Plan::new(2, 2, vec![one])?;
            let place = |buffer: &Option<Buffer>| {
                let buffer = buffer.as_ref()?;
                let (device, allocation) = (buffer.device().clone(), buffer.allocation().clone());
                Some(Place { device, allocation, stored: region })
            };
            let (mut from, mut to) = ([None, None], [None, None]);
            from[from_part] = place(&memory[direction][0]);
            to[to_part] = place(&memory[direction][1]);
            let field = Field { plan: &plan, from: &from, to: &to, dtype: DType::F32 };
            lower_between_ranks("a message of the link report", (team, team), &[field])
        };
        let exchanges = if by_host { None } else { Some([exchange(0)?, exchange(1)?]) };
        Ok(RoundTrip { team, exchanges, memory, bytes })
    }

    /// There, and back.
    fn run(&self) -> Result<()> {
        for direction in [0, 1] {
            match (&self.exchanges, &self.memory[direction]) {
                (Some(exchanges), _) => {
                    program::execute(&exchanges[direction].commands().cloned().collect())?
                }
                (None, [Some(from), Some(to)]) => {
                    let mut bytes = vec![0; self.bytes as usize];
                    from.device().download(from.allocation(), 0, &mut bytes)?;
                    to.device().upload(to.allocation(), 0, &bytes)?;
                }
                (None, _) => {}
            }
            if let Some(arrived) = &self.memory[direction][1] {
                arrived.device().wait()?;
            }
        }
        Ok(())
    }

    /// Sends a pattern, once; whether it arrived.
    fn check(&self, seed: u8) -> Result<bool> {
        for (direction, [sent, _]) in self.memory.iter().enumerate() {
            if let Some(sent) = sent {
                sent.device().upload(sent.allocation(), 0, &self.pattern(seed, direction))?;
            }
        }
        self.clear()?;
        self.run()?;
        self.is_right(seed)
    }

    /// Overwrites what has arrived.
    fn clear(&self) -> Result<()> {
        for arrived in self.memory.iter().filter_map(|[_, arrived]| arrived.as_ref()) {
            arrived.device().upload(arrived.allocation(), 0, &vec![0xA5; self.bytes as usize])?;
            arrived.device().wait()?;
        }
        Ok(())
    }

    /// Whether what is here of what arrived is the pattern.
    fn is_right(&self, seed: u8) -> Result<bool> {
        let mut found = vec![0; self.bytes as usize];
        for (direction, [_, arrived]) in self.memory.iter().enumerate() {
            let Some(arrived) = arrived else { continue };
            arrived.device().download(arrived.allocation(), 0, &mut found)?;
            if found != self.pattern(seed, direction) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Bytes that depend on the message and the rank of its sender.
    fn pattern(&self, seed: u8, direction: usize) -> Vec<u8> {
        let first = 64 * u32::from(seed) + 17 * direction as u32 + 5 * self.team.rank_of(direction) as u32;
        (0..self.bytes as u32)
            .map(|k| (k.wrapping_mul(2_654_435_761).wrapping_add(first << 13) >> 13) as u8)
            .collect()
    }
}
