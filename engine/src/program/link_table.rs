//! The links between the ranks of a team: whether the wire takes device pointers, and which ranks map each
//! other's CUDA memory. It is probed once, collectively, and every rank gets the same table.

use std::fmt;
use std::process;
use std::sync::Arc;

use super::ipc::IpcMemory;
use super::message::Transport;
use super::nccl::NcclLink;
use super::trial::{agree, pattern};
use crate::config::config;
use crate::device::cuda::IpcHandle;
use crate::device::{Buffer, Device, DeviceKind, LentMemory};
use crate::error::Result;
use crate::wire::Ranks;

/// The links between ranks, for CUDA memory.
pub struct LinkTable {
    wire: String,
    /// Whether the wire takes device pointers; if not, why.
    device_pointers: std::result::Result<(), String>,
    /// Per exporting rank, which ranks map its memory.
    ipc_pairs: Vec<Vec<bool>>,
    /// NCCL's connection of all ranks, if some do not map the memory of others; if there is none, why.
    nccl: std::result::Result<Arc<NcclLink>, String>,
    /// The exports and imports of this rank.
    pub ipc: Arc<IpcMemory>,
}

/// `MPI, device pointers`, or `MPI, staged: reason`; then how many pairs of ranks use CUDA IPC.
impl fmt::Display for LinkTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.device_pointers {
            Ok(()) => write!(f, "{}, device pointers", self.wire)?,
            Err(reason) => write!(f, "{}, staged: {reason}", self.wire)?,
        }
        let pairs = self.ipc_pairs.iter().flatten().filter(|has_ipc| **has_ipc).count();
        if pairs > 0 {
            write!(f, "; CUDA IPC between {pairs} pairs of ranks")?;
        }
        match &self.nccl {
            Ok(link) => write!(f, "; NCCL {} between all others", link.version()),
            Err(_) => Ok(()),
        }
    }
}

/// Message lengths of the value trial: one for the eager protocol of MPI libraries, one for rendezvous.
const TRIAL_BYTES: [usize; 2] = [1 << 10, 1 << 18];
/// The length of the memory that others map for the probe.
const OFFER_BYTES: usize = 1 << 12;

impl LinkTable {
    /// Probes all links with this rank's devices. Collective.
    pub(crate) fn probe(ranks: &Ranks, devices: &[Device]) -> Result<LinkTable> {
        let cuda: Vec<&Device> = devices.iter().filter(|device| device.kind() == DeviceKind::Cuda).collect();
        let device_pointers = agree(ranks, "querying device pointers", ranks.takes_device_memory())?;
        let device_pointers = match device_pointers {
            Ok(()) => try_device_pointers(ranks, &cuda)?,
            refusal => refusal,
        };
        let ipc_pairs = probe_ipc(ranks, &cuda)?;
        let is_needed = |(of, by): (usize, usize)| of != by && !ipc_pairs[of][by];
        let pairs = |of: usize| (0..ranks.count()).map(move |by| (of, by));
        let nccl = match (0..ranks.count()).flat_map(pairs).any(is_needed) {
            true => NcclLink::connect(ranks, &cuda)?,
            false => Err("all ranks map each other's memory".to_owned()),
        };
        let (wire, ipc) = (ranks.wire_name(), Arc::default());
        Ok(LinkTable { wire, device_pointers, ipc_pairs, nccl, ipc })
    }

    /// Whether the wire takes device pointers.
    pub(crate) fn takes_device_pointers(&self) -> bool {
        self.device_pointers.is_ok()
    }

    /// Whether devices of some ranks send and receive in the order of their streams.
    pub(crate) fn has_streams(&self) -> bool {
        self.nccl.is_ok() || self.ipc_pairs.iter().flatten().any(|&has_ipc| has_ipc)
    }

    /// NCCL's connection.
    pub(crate) fn nccl(&self) -> std::result::Result<&Arc<NcclLink>, &str> {
        self.nccl.as_ref().map_err(String::as_str)
    }

    /// Why it does not, if so.
    pub(crate) fn refusal(&self) -> Option<&str> {
        self.device_pointers.as_ref().err().map(String::as_str)
    }

    /// The same links, of which exchanges can choose one transport only, beside staging.
    pub(crate) fn only(&self, transport: Transport) -> LinkTable {
        let mut ipc_pairs = self.ipc_pairs.clone();
        ipc_pairs.iter_mut().flatten().for_each(|has_ipc| *has_ipc &= transport == Transport::Ipc);
        let device_pointers = match transport {
            Transport::DevicePointers => self.device_pointers.clone(),
            _ => Err("not measured".to_owned()),
        };
        let nccl = match transport {
            Transport::Nccl => self.nccl.clone(),
            _ => Err("not measured".to_owned()),
        };
        LinkTable { wire: self.wire.clone(), device_pointers, ipc_pairs, nccl, ipc: Arc::clone(&self.ipc) }
    }

    /// Whether rank `to` maps the memory of rank `from`.
    pub(crate) fn has_ipc(&self, from: usize, to: usize) -> bool {
        self.ipc_pairs[from][to]
    }
}

/// The value trial of every device of every rank: as many rounds as the rank with most devices needs, in
/// which the others take theirs again. The first refusal ends it for all.
fn try_device_pointers(ranks: &Ranks, cuda: &[&Device]) -> Result<std::result::Result<(), String>> {
    let counts = ranks.all_gather("counting devices", &(cuda.len() as u32).to_le_bytes())?;
    let count = |bytes: &Vec<u8>| bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize);
    for round in 0..counts.iter().map(count).max().unwrap_or(0).max(1) {
        let device = match cuda {
            [] => Device::host(),
            some => some[round % some.len()].clone(),
        };
        let all = agree(ranks, "trying device pointers", device_pointers_work(ranks, &device)?)?;
        if all.is_err() {
            return Ok(all);
        }
    }
    Ok(Ok(()))
}

/// The value trial of a device: sends a pattern from its memory to both neighbours in the ring of ranks,
/// receives theirs into its memory, and compares. Runs only where the wire says that it takes device
/// pointers, or the user forces it.
fn device_pointers_work(ranks: &Ranks, device: &Device) -> Result<std::result::Result<(), String>> {
    let (rank, count) = (ranks.rank(), ranks.count());
    let neighbours = [(rank + 1) % count, (rank + count - 1) % count];
    let (mut sends, mut receives, mut expected) = (Vec::new(), Vec::new(), Vec::new());
    let mut buffers: Vec<Buffer> = Vec::new();
    for bytes in TRIAL_BYTES {
        for direction in [0, 1] {
            let (to, from) = (neighbours[direction], neighbours[1 - direction]);
            let mut filled = |contents: &[u8]| -> Result<Option<LentMemory>> {
                let buffer = device.alloc(bytes as u64)?;
                device.upload(buffer.allocation(), 0, contents)?;
                let lent = buffer.allocation().lend(0, bytes as u64);
                buffers.push(buffer);
                Ok(lent)
            };
            let mine = filled(&pattern(rank, direction, bytes))?;
            let theirs = filled(&vec![0xA5; bytes])?;
            let (Some(mine), Some(theirs)) = (mine, theirs) else { unreachable!("plain memory can be lent") };
            sends.push((to, mine));
            receives.push((from, theirs));
            let Some(arrived) = buffers.last() else { unreachable!("pushed above") };
            expected.push((arrived.clone(), pattern(from, direction, bytes)));
        }
    }
    device.wait()?;
    if let Err(complaint) = ranks.try_in_place(sends, receives)? {
        return Ok(Err(complaint));
    }
    for (arrived, expected) in expected {
        let mut found = vec![0; expected.len()];
        device.download(arrived.allocation(), 0, &mut found)?;
        if found != expected {
            return Ok(Err(format!("{} bytes of device memory came wrong", expected.len())));
        }
    }
    Ok(Ok(()))
}

/// The memory that a rank exports for the probe.
struct IpcOffer {
    machine: Vec<u8>,
    process: u32,
    handles: Vec<IpcHandle>,
}

impl IpcOffer {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.process.to_le_bytes().to_vec();
        bytes.push(self.handles.len() as u8);
        bytes.extend(self.handles.iter().flat_map(|handle| handle.0));
        bytes.extend(&self.machine);
        bytes
    }

    fn of_bytes(bytes: &[u8]) -> Option<IpcOffer> {
        let (process, rest) = bytes.split_first_chunk::<4>()?;
        let (&count, rest) = rest.split_first()?;
        let (handles, machine) = rest.split_at_checked(64 * usize::from(count))?;
        let handles = handles.as_chunks::<64>().0.iter().map(|handle| IpcHandle(*handle)).collect();
        Some(IpcOffer { machine: machine.to_vec(), process: u32::from_le_bytes(*process), handles })
    }
}

/// Per rank, which ranks have mapped its memory and read the expected pattern, with every device.
fn probe_ipc(ranks: &Ranks, cuda: &[&Device]) -> Result<Vec<Vec<bool>>> {
    let (rank, count) = (ranks.rank(), ranks.count());
    let mut offered: Vec<Buffer> = Vec::new();
    let mut handles = Vec::new();
    for device in cuda.iter().filter(|_| config().cuda_ipc) {
        let buffer = device.alloc(OFFER_BYTES as u64)?;
        device.upload(buffer.allocation(), 0, &pattern(rank, handles.len(), OFFER_BYTES))?;
        device.wait()?;
        handles.extend(device.export_memory(buffer.allocation()).ok());
        offered.push(buffer);
    }
    // If one device exports nothing, all memory of its rank goes over the wire.
    handles.truncate(if handles.len() == cuda.len() { cuda.len() } else { 0 });
    let machine = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let mine = IpcOffer { machine, process: process::id(), handles };
    let all = ranks.all_gather("exporting CUDA memory", &mine.to_bytes())?;
    let imports = |(other, bytes): (usize, &Vec<u8>)| {
        let Some(theirs) = IpcOffer::of_bytes(bytes) else { return false };
        let same_machine = theirs.machine == mine.machine && theirs.process != mine.process;
        let both = !theirs.handles.is_empty() && !mine.handles.is_empty();
        let reads = |device: &&Device| {
            let mut handles = theirs.handles.iter().enumerate();
            handles.all(|(k, &handle)| reads(device, handle, &pattern(other, k, OFFER_BYTES)))
        };
        same_machine && both && cuda.iter().all(reads)
    };
    let imported: Vec<u8> = all.iter().enumerate().map(|theirs| u8::from(imports(theirs))).collect();
    let rows = ranks.all_gather("importing CUDA memory", &imported)?;
    let imported = |by: usize, of: usize| rows[by].get(of).is_some_and(|&imported| imported != 0);
    Ok((0..count).map(|of| (0..count).map(|by| imported(by, of)).collect()).collect())
}

/// Whether a device reads the expected pattern in another process's memory.
fn reads(device: &Device, handle: IpcHandle, expected: &[u8]) -> bool {
    let mut found = vec![0; expected.len()];
    let read = device
        .import_memory(handle, expected.len() as u64)
        .and_then(|theirs| device.download(theirs.allocation(), 0, &mut found));
    read.is_ok() && found == expected
}
