//! What the ranks of a program find out, once, of how CUDA memory gets from one to another: whether the wire
//! takes device pointers, and who can open whose memory. Nothing is believed that was not tried, and all
//! ranks come to the same answer.

use std::fmt;
use std::process;
use std::sync::Arc;

use super::shares::Shares;
use crate::config::config;
use crate::device::cuda::IpcHandle;
use crate::device::{Buffer, Device, DeviceKind};
use crate::error::Result;
use crate::wire::{InPlace, Ranks};

/// How CUDA memory travels between ranks.
pub struct Reach {
    wire: String,
    /// Why not, if the wire gets no device pointers.
    pointers: std::result::Result<(), String>,
    /// Per exporting rank, who has opened its memory.
    near: Vec<Vec<bool>>,
    /// What near ranks show each other.
    pub shares: Arc<Shares>,
}

/// `MPI, device pointers`, or `MPI, staged: reason`; then which ranks open each other's memory.
impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.pointers {
            Ok(()) => write!(f, "{}, device pointers", self.wire)?,
            Err(reason) => write!(f, "{}, staged: {reason}", self.wire)?,
        }
        let pairs = self.near.iter().flatten().filter(|near| **near).count();
        match pairs {
            0 => Ok(()),
            _ => write!(f, "; CUDA IPC between {pairs} pairs of ranks"),
        }
    }
}

/// Lengths of the messages of the trial: one that libraries send at once, one for which they ask first.
const TRIAL_BYTES: [usize; 2] = [1 << 10, 1 << 18];
/// What others open to look into.
const SHOWN_BYTES: usize = 1 << 12;

impl Reach {
    /// Tries it, with this rank's devices. Collective.
    ///
    /// # Errors
    /// A rank that fails or does not answer; a device that fails.
    pub(crate) fn find(ranks: &Ranks, devices: &[Device]) -> Result<Reach> {
        let cuda: Vec<&Device> = devices.iter().filter(|device| device.kind() == DeviceKind::Cuda).collect();
        let pointers = agree(ranks, "asking for device pointers", ranks.takes_device_memory())?;
        let pointers = match pointers {
            Ok(()) => agree(ranks, "trying device pointers", pointers_arrive(ranks, &cuda)?)?,
            refusal => refusal,
        };
        let near = neighbours(ranks, &cuda)?;
        Ok(Reach { wire: ranks.wire_name(), pointers, near, shares: Arc::default() })
    }

    /// Whether the wire gets device pointers.
    pub(crate) fn has_pointers(&self) -> bool {
        self.pointers.is_ok()
    }

    /// Whether a rank opens the memory of another.
    pub(crate) fn is_near(&self, from: usize, to: usize) -> bool {
        self.near[from][to]
    }
}

/// All ranks' consent, or the first refusal.
fn agree(
    ranks: &Ranks,
    operation: &str,
    mine: std::result::Result<(), String>,
) -> Result<std::result::Result<(), String>> {
    let refusal = mine.err().unwrap_or_default();
    let all = ranks.share(operation, refusal.as_bytes())?;
    let first = all.iter().enumerate().find(|(_, refusal)| !refusal.is_empty());
    Ok(first.map_or(Ok(()), |(rank, refusal)| {
        let refusal = String::from_utf8_lossy(refusal);
        Err(if refusal.starts_with("rank ") { refusal.into() } else { format!("rank {rank}: {refusal}") })
    }))
}

/// Numbers that tell who sent them, in which direction.
fn pattern(rank: usize, direction: usize, bytes: usize) -> Vec<u8> {
    let seed = (31 * rank + 7 * direction + 1) as u32;
    (0..bytes as u32)
        .map(|k| (k.wrapping_mul(2_654_435_761).wrapping_add(seed * 40_503) >> 13) as u8)
        .collect()
}

/// Sends device memory to both neighbours in the ring of ranks, receives theirs into device memory, and
/// looks.
fn pointers_arrive(ranks: &Ranks, cuda: &[&Device]) -> Result<std::result::Result<(), String>> {
    let host;
    let device = match cuda.first() {
        Some(device) => *device,
        None => {
            host = Device::host();
            &host
        }
    };
    let (rank, count) = (ranks.rank(), ranks.count());
    let neighbours = [(rank + 1) % count, (rank + count - 1) % count];
    let (mut sends, mut receives, mut expected) = (Vec::new(), Vec::new(), Vec::new());
    let mut buffers: Vec<Buffer> = Vec::new();
    for bytes in TRIAL_BYTES {
        for direction in [0, 1] {
            let (to, from) = (neighbours[direction], neighbours[1 - direction]);
            let mut filled = |contents: &[u8]| -> Result<Option<InPlace>> {
                let buffer = device.alloc(bytes as u64)?;
                device.upload(buffer.allocation(), 0, contents)?;
                let lent = buffer.allocation().lend(0, bytes as u64);
                buffers.push(buffer);
                // SAFETY: lent memory stays; it is used again after the trial only.
                Ok(lent.map(|lent| unsafe { InPlace::new(lent.address(), bytes, Arc::new(lent)) }))
            };
            let mine = filled(&pattern(rank, direction, bytes))?;
            let theirs = filled(&vec![0xA5; bytes])?;
            let (Some(mine), Some(theirs)) = (mine, theirs) else { unreachable!("plain memory is lent") };
            sends.push((to, mine));
            receives.push((from, theirs));
            let Some(landed) = buffers.last() else { unreachable!("pushed above") };
            expected.push((landed.clone(), pattern(from, direction, bytes)));
        }
    }
    device.wait()?;
    if let Err(complaint) = ranks.try_in_place(sends, receives)? {
        return Ok(Err(complaint));
    }
    for (landed, expected) in expected {
        let mut found = vec![0; expected.len()];
        device.download(landed.allocation(), 0, &mut found)?;
        if found != expected {
            return Ok(Err(format!("{} bytes of device memory came wrong", expected.len())));
        }
    }
    Ok(Ok(()))
}

/// What a rank tells others of the memory it shows.
struct Showing {
    machine: Vec<u8>,
    process: u32,
    handles: Vec<IpcHandle>,
}

impl Showing {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.process.to_le_bytes().to_vec();
        bytes.push(self.handles.len() as u8);
        bytes.extend(self.handles.iter().flat_map(|handle| handle.0));
        bytes.extend(&self.machine);
        bytes
    }

    fn of_bytes(bytes: &[u8]) -> Option<Showing> {
        let (process, rest) = bytes.split_first_chunk::<4>()?;
        let (&count, rest) = rest.split_first()?;
        let (handles, machine) = rest.split_at_checked(64 * usize::from(count))?;
        let handles = handles.as_chunks::<64>().0.iter().map(|handle| IpcHandle(*handle)).collect();
        Some(Showing { machine: machine.to_vec(), process: u32::from_le_bytes(*process), handles })
    }
}

/// Per rank, who has opened its memory and read there what belongs there, with every device.
fn neighbours(ranks: &Ranks, cuda: &[&Device]) -> Result<Vec<Vec<bool>>> {
    let (rank, count) = (ranks.rank(), ranks.count());
    let mut shown: Vec<Buffer> = Vec::new();
    let mut handles = Vec::new();
    for device in cuda.iter().filter(|_| config().cuda_ipc) {
        let buffer = device.alloc(SHOWN_BYTES as u64)?;
        device.upload(buffer.allocation(), 0, &pattern(rank, handles.len(), SHOWN_BYTES))?;
        device.wait()?;
        handles.extend(device.export_memory(buffer.allocation()).ok());
        shown.push(buffer);
    }
    // A device that shares nothing makes all of its rank's memory the wire's.
    handles.truncate(if handles.len() == cuda.len() { cuda.len() } else { 0 });
    let machine = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let mine = Showing { machine, process: process::id(), handles };
    let all = ranks.share("showing CUDA memory", &mine.to_bytes())?;
    let opens = |(other, bytes): (usize, &Vec<u8>)| {
        let Some(theirs) = Showing::of_bytes(bytes) else { return false };
        let beside = theirs.machine == mine.machine && theirs.process != mine.process;
        let both = !theirs.handles.is_empty() && !mine.handles.is_empty();
        let reads = |device: &&Device| {
            let mut handles = theirs.handles.iter().enumerate();
            handles.all(|(k, &handle)| reads(device, handle, &pattern(other, k, SHOWN_BYTES)))
        };
        beside && both && cuda.iter().all(reads)
    };
    let opened: Vec<u8> = all.iter().enumerate().map(|theirs| u8::from(opens(theirs))).collect();
    let rows = ranks.share("opening CUDA memory", &opened)?;
    let opened = |by: usize, of: usize| rows[by].get(of).is_some_and(|&opened| opened != 0);
    Ok((0..count).map(|of| (0..count).map(|by| opened(by, of)).collect()).collect())
}

/// Whether a device finds in another process's memory what belongs there.
fn reads(device: &Device, handle: IpcHandle, expected: &[u8]) -> bool {
    let mut found = vec![0; expected.len()];
    let read = device
        .import_memory(handle, expected.len() as u64)
        .and_then(|theirs| device.download(theirs.allocation(), 0, &mut found));
    read.is_ok() && found == expected
}
