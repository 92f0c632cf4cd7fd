//! [`NcclLink`]: messages between ranks from GPU to GPU by NCCL. All sends and receives of an exchange are
//! one group on the exchange stream, so that no order of theirs can block. Each message is announced on the
//! wire by one without bytes: so ranks that do different things are found as by other transports, and a rank
//! that failed is named.
//!
//! A device would wait for ever for a rank that has failed. As soon as any rank has, the communicator is
//! aborted, and everything on the device goes on, with nonsense; the host has the failure then.

use std::process;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::trial::{agree, pattern};
use crate::config::config;
use crate::device::cuda::{nccl_id, nccl_version};
use crate::device::{Buffer, Device, DevicePeers, GroupedSpan, Stream};
use crate::error::{Error, Result};
use crate::wire::{FailureCall, Ranks, job};

/// What is refused, in words.
type Refusable<T> = std::result::Result<T, String>;

/// The GPUs of all ranks, as NCCL has connected them.
pub struct NcclLink {
    peers: DevicePeers,
    /// By rank: its process, if it is on this machine.
    processes: Vec<Option<u64>>,
    version: String,
    /// The wire has it for as long as it is here.
    _on_failure: Arc<FailureCall>,
}

/// The bytes of the trial's messages.
const TRIAL_BYTES: usize = 1 << 12;
/// The time that the wire has to say which rank has failed, where NCCL says that one has.
pub(super) const GRACE: Duration = Duration::from_secs(1);
const MOMENT: Duration = Duration::from_micros(50);

/// What a rank says of itself.
struct Offer {
    version: String,
    device: String,
    machine: String,
    process: u64,
}

impl Offer {
    fn here(cuda: &[&Device]) -> Refusable<String> {
        let [device] = cuda else {
            return Err(format!("it has {} CUDA devices, not one", cuda.len()));
        };
        let is_named = config().nccl.as_deref().is_some_and(|setting| setting != "auto");
        if device.is_software() && !is_named {
            return Err("its GPU is simulated, and PARTITA_NCCL names no library".to_owned());
        }
        let (version, _) = nccl_version()?;
        let device = device.identity().map_err(|error| error.to_string())?;
        let machine = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        Ok(format!("{version}\n{device}\n{}\n{}", machine.trim(), process::id()))
    }

    fn of(text: &str) -> Option<Offer> {
        let mut lines = text.lines().map(str::to_owned);
        let (version, device, machine) = (lines.next()?, lines.next()?, lines.next()?);
        Some(Offer { version, device, machine, process: lines.next()?.parse().ok()? })
    }
}

impl NcclLink {
    /// Connects the GPUs of all ranks, if all of them can, and tries it out. Collective.
    pub(super) fn connect(ranks: &Ranks, cuda: &[&Device]) -> Result<Refusable<Arc<NcclLink>>> {
        let mine = Offer::here(cuda);
        if let Err(refusal) = agree(ranks, "looking for NCCL", mine.clone().map(drop))? {
            return Ok(Err(refusal));
        }
        let texts = ranks.all_gather("describing GPUs", mine.unwrap_or_default().as_bytes())?;
        let offers = texts.iter().map(|text| Offer::of(&String::from_utf8_lossy(text)));
        let Some(offers) = offers.collect::<Option<Vec<Offer>>>() else {
            return Ok(Err("a rank describes its GPU otherwise".to_owned()));
        };
        if let Some(refusal) = refusal(&offers) {
            return Ok(Err(refusal));
        }
        let id = if ranks.rank() == 0 { nccl_id() } else { Ok([0; 128]) };
        if let Err(refusal) = agree(ranks, "naming NCCL's communicator", id.clone().map(drop))? {
            return Ok(Err(refusal));
        }
        let ids = ranks.all_gather("connecting by NCCL", &id.unwrap_or([0; 128]))?;
        let Some(&id) = ids[0].first_chunk::<128>() else { return Ok(Err("no name".to_owned())) };
        let begun = DevicePeers::begin(cuda[0], &id, ranks.rank(), ranks.count());
        let begun = begun.and_then(|peers| ready(ranks, &peers).map(|ready| ready.map(|()| peers)));
        let begun = begun.unwrap_or_else(|error| Err(error.to_string()));
        let connected = agree(ranks, "trying NCCL", begun.as_ref().map(drop).map_err(Clone::clone))?;
        let peers = match (connected, begun) {
            (Ok(()), Ok(peers)) => peers,
            (refusal, begun) => {
                begun.iter().for_each(DevicePeers::abort);
                return Ok(Err(refusal.err().unwrap_or_default()));
            }
        };
        let here = &offers[ranks.rank()].machine;
        let process = |offer: &Offer| (offer.machine == *here).then_some(offer.process);
        let aborted = peers.clone();
        let on_failure: Arc<FailureCall> = Arc::new(move |_| aborted.abort());
        ranks.on_failure(&on_failure);
        let (processes, version) = (offers.iter().map(process).collect(), offers[0].version.clone());
        let link = NcclLink { peers, processes, version, _on_failure: on_failure };
        let works = agree(ranks, "comparing what NCCL carried", link.works(ranks)?)?;
        Ok(works.map(|()| Arc::new(link)))
    }

    /// The library's version.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    pub(crate) fn peers(&self) -> &DevicePeers {
        &self.peers
    }

    /// Queues a group of messages.
    pub(super) fn send_receive(&self, stream: Stream, ranks: &Ranks, spans: &[GroupedSpan]) -> Result<()> {
        let peers: Vec<usize> = spans.iter().map(|span| span.peer).collect();
        let failed = |error| self.failed(ranks, &peers, error);
        self.peers.exchange(stream, spans).map_err(failed)?;
        self.wait_until(ranks, &peers, || self.peers.is_ready())?;
        self.peers.mark(stream).map_err(failed)
    }

    /// Waits until the latest group is done. The time until this device has come to it does not count.
    pub(super) fn wait(&self, ranks: &Ranks, peers: &[usize]) -> Result<()> {
        while !self.peers.has_begun().map_err(|error| self.failed(ranks, peers, error))? {
            ranks.poll()?;
            std::thread::sleep(MOMENT);
        }
        self.wait_until(ranks, peers, || self.peers.is_done())
    }

    fn wait_until(&self, ranks: &Ranks, peers: &[usize], is_so: impl Fn() -> Result<bool>) -> Result<()> {
        let is_so = || is_so().map_err(|error| self.failed(ranks, peers, error));
        ranks.wait_until(|| self.at_fault(ranks, peers), is_so)
    }

    /// The failure of the library as that of a rank: the one that the wire names, where it does.
    fn failed(&self, ranks: &Ranks, peers: &[usize], error: Error) -> Error {
        let begin = Instant::now();
        while begin.elapsed() < GRACE {
            if let Err(failure) = ranks.poll() {
                return failure;
            }
            std::thread::sleep(MOMENT);
        }
        ranks.fail(self.at_fault(ranks, peers), error.to_string())
    }

    fn at_fault(&self, ranks: &Ranks, peers: &[usize]) -> usize {
        self.stopped().or(peers.first().copied()).unwrap_or_else(|| ranks.rank())
    }

    /// A rank of this machine whose process is stopped.
    fn stopped(&self) -> Option<usize> {
        self.processes.iter().position(|process| process.is_some_and(job::is_stopped))
    }

    /// The processes of some ranks that are on this machine.
    pub(super) fn processes(&self, some: impl Iterator<Item = usize>) -> Vec<(usize, u64)> {
        some.filter_map(|rank| Some((rank, self.processes[rank]?))).collect()
    }

    /// Sends patterns to both neighbours in the ring of ranks, and compares what comes from them.
    fn works(&self, ranks: &Ranks) -> Result<Refusable<()>> {
        let (device, rank, count) = (self.peers.device(), ranks.rank(), ranks.count());
        let neighbours = [(rank + 1) % count, (rank + count - 1) % count];
        let filled = |contents: &[u8]| -> Result<Buffer> {
            let buffer = device.alloc(contents.len() as u64)?;
            device.upload(buffer.allocation(), 0, contents)?;
            Ok(buffer)
        };
        let (mut spans, mut expected, mut leases) = (Vec::new(), Vec::new(), Vec::new());
        for direction in [0, 1] {
            let (to, from) = (neighbours[direction], neighbours[1 - direction]);
            let mine = filled(&pattern(rank, direction, TRIAL_BYTES))?;
            let theirs = filled(&[0xA5; TRIAL_BYTES])?;
            for (peer, sends, buffer) in [(to, true, &mine), (from, false, &theirs)] {
                let allocation = Arc::clone(buffer.allocation());
                spans.push(GroupedSpan { peer, sends, allocation, offset: 0, bytes: TRIAL_BYTES as u64 });
            }
            leases.push(mine);
            expected.push((theirs, pattern(from, direction, TRIAL_BYTES)));
        }
        self.send_receive(Stream::Compute, ranks, &spans)?;
        self.wait(ranks, &neighbours)?;
        for (arrived, expected) in expected {
            let mut found = vec![0; expected.len()];
            device.download(arrived.allocation(), 0, &mut found)?;
            if found != expected {
                return Ok(Err(format!("{} bytes of device memory came wrong by NCCL", expected.len())));
            }
        }
        Ok(Ok(()))
    }
}

/// Waits until a communicator is ready, for half the time that ranks wait for each other: then all agree that
/// it is not.
fn ready(ranks: &Ranks, peers: &DevicePeers) -> Result<Refusable<()>> {
    let begin = Instant::now();
    while !peers.is_ready()? {
        ranks.poll()?;
        if begin.elapsed() > ranks.deadline() / 2 {
            peers.abort();
            return Ok(Err(format!("NCCL did not connect within {} s", begin.elapsed().as_secs())));
        }
        std::thread::sleep(MOMENT);
    }
    Ok(Ok(()))
}

/// Why NCCL would refuse these ranks.
fn refusal(offers: &[Offer]) -> Option<String> {
    if let Some(rank) = offers.iter().position(|offer| offer.version != offers[0].version) {
        let (one, other) = (&offers[0].version, &offers[rank].version);
        return Some(format!("rank 0 has NCCL {one}, rank {rank} has {other}"));
    }
    let is_same = |a: &Offer, b: &Offer| (&a.machine, &a.device) == (&b.machine, &b.device);
    offers.iter().enumerate().find_map(|(rank, offer)| {
        let before = offers[..rank].iter().position(|other| is_same(other, offer))?;
        Some(format!("ranks {before} and {rank} share a GPU, which NCCL refuses"))
    })
}
