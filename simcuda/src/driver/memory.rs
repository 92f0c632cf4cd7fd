//! Device memory with owners and budgets, and the host memory the driver knows of. Device bytes lie in the
//! checked machine, one for all devices, because addresses are unified; pinned host memory is real host
//! memory. Streams and order are in `work`.

use crate::driver::abi::Code;
use crate::driver::config::Config;
use crate::driver::order::Mark;
use crate::driver::record::Recorder;
use crate::driver::work::{Failed, Launch, Source, Target, Touched, failed};
use crate::machine::Machine;
use crate::report::say;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The origin of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `cuMemAlloc`.
    Plain,
    /// `cuIpcOpenMemHandle`.
    Opened,
}

/// One allocation on a device.
#[derive(Clone, Copy, Debug)]
pub struct Allocation {
    pub address: u64,
    pub bytes: u64,
    pub device: usize,
    pub origin: Origin,
}

impl Allocation {
    /// Its addresses.
    pub fn range(&self) -> Range<u64> {
        self.address..self.address + self.bytes
    }
}

/// Host memory that copies use directly.
#[derive(Clone, Copy, Debug)]
pub struct Pinned {
    pub address: u64,
    pub bytes: u64,
    pub device: usize,
    /// Whether it is the driver's own, or the user's and only registered.
    pub owned: bool,
}

/// The memory at an address.
#[derive(Clone, Copy, Debug)]
pub enum AddressOwner {
    Device(Allocation),
    Pinned(Pinned),
    /// Nothing the driver knows: ordinary host memory, or nonsense.
    Unknown,
}

/// All memory.
pub struct DriverMemory {
    machine: Machine,
    blocks: BTreeMap<u64, Allocation>,
    pinned: BTreeMap<u64, Pinned>,
    /// The ends of released memory, and who released it.
    ended: BTreeMap<u64, (u64, Arc<Mark>)>,
    /// Bytes in use, by device.
    used: Vec<u64>,
    limit: u64,
    /// Instead of using memory.
    recorder: Option<Recorder>,
}

/// Device allocations are counted, and aligned, in these.
const GRAIN: u64 = 512;

impl DriverMemory {
    pub fn new(config: &Config) -> DriverMemory {
        let recorder = config.record.as_deref().and_then(|folder| {
            let recorder = Recorder::new(folder);
            recorder.map_err(|error| say(&format!("PARTITA_SIM_RECORD: {error}"))).ok()
        });
        DriverMemory {
            machine: match &recorder {
                Some(_) => Machine::unwatched(config.seed),
                None => Machine::new(config.seed),
            },
            recorder,
            blocks: BTreeMap::new(),
            pinned: BTreeMap::new(),
            ended: BTreeMap::new(),
            used: vec![0; config.devices],
            limit: config.memory_bytes,
        }
    }

    /// Free bytes of a device.
    pub fn free_bytes(&self, device: usize) -> u64 {
        self.limit - self.used[device]
    }

    /// New memory, or out of memory.
    pub fn reserve(&mut self, device: usize, bytes: u64, origin: Origin) -> Result<u64, Code> {
        if bytes == 0 {
            return Err(Code::INVALID_VALUE);
        }
        // Another process's memory is counted there.
        let cost = if origin == Origin::Opened { 0 } else { counted(bytes) };
        if bytes > self.limit || cost > self.free_bytes(device) {
            return Err(Code::OUT_OF_MEMORY);
        }
        let address = self.machine.try_alloc(bytes, GRAIN).map_err(|_| Code::OUT_OF_MEMORY)?;
        self.used[device] += cost;
        self.blocks.insert(address, Allocation { address, bytes, device, origin });
        Ok(address)
    }

    /// All blocks of a device.
    pub fn blocks_of(&self, device: usize) -> Vec<Allocation> {
        self.blocks.values().filter(|block| block.device == device).copied().collect()
    }

    /// Ends a block: the machine refuses every later use.
    pub fn release(&mut self, address: u64) -> Result<(), Failed> {
        if let Some(block) = self.blocks.get(&address) {
            self.machine.free(address).map_err(|fault| failed(&fault))?;
            self.used[block.device] -= if block.origin == Origin::Opened { 0 } else { counted(block.bytes) };
        }
        Ok(())
    }

    /// Forgets a released block; the addresses it had. They are never used again, so who ended them is kept.
    pub fn drop_released(&mut self, address: u64, mark: &Arc<Mark>) -> Option<Range<u64>> {
        let bytes = self.blocks.remove(&address)?.range();
        self.ended.insert(address, (bytes.end, mark.clone()));
        Some(bytes)
    }

    /// Forgets a block of a destroyed context.
    pub fn drop_block(&mut self, block: Allocation) {
        // A block whose release fails is forgotten all the same.
        let _ = self.release(block.address);
        self.blocks.remove(&block.address);
    }

    /// The operation that released the memory at an address.
    pub fn ended_by(&self, address: u64) -> Option<&Arc<Mark>> {
        let (_, (end, mark)) = self.ended.range(..=address).next_back()?;
        (address < *end).then_some(mark)
    }

    /// The addresses of the block that begins here.
    pub fn whole(&self, address: u64) -> Result<Range<u64>, Failed> {
        self.blocks.get(&address).map(Allocation::range).ok_or_else(|| Failed {
            code: Code::ILLEGAL_ADDRESS,
            text: format!("memory at {address:#x} was released before"),
            address: Some(address),
        })
    }

    /// The memory at an address.
    pub fn find(&self, address: u64) -> AddressOwner {
        let inside = |start: u64, bytes: u64| address - start < bytes;
        let block = self.blocks.range(..=address).next_back().map(|(_, block)| *block);
        let pinned = self.pinned.range(..=address).next_back().map(|(_, pinned)| *pinned);
        match (block, pinned) {
            (Some(block), _) if inside(block.address, block.bytes) => AddressOwner::Device(block),
            (_, Some(pinned)) if inside(pinned.address, pinned.bytes) => AddressOwner::Pinned(pinned),
            _ => AddressOwner::Unknown,
        }
    }

    /// The device whose memory an address is.
    pub fn device_of(&self, address: u64) -> Option<usize> {
        match self.find(address) {
            AddressOwner::Device(block) => Some(block.device),
            AddressOwner::Pinned(_) | AddressOwner::Unknown => None,
        }
    }

    /// An address in words.
    pub fn describe(&self, address: u64) -> String {
        match self.find(address) {
            AddressOwner::Device(block) => format!(
                "byte {} of {} allocated at {:#x} on device {}",
                address - block.address,
                block.bytes,
                block.address,
                block.device
            ),
            AddressOwner::Pinned(pinned) => {
                format!("byte {} of {} pinned on the host", address - pinned.address, pinned.bytes)
            }
            AddressOwner::Unknown => "memory released since".to_owned(),
        }
    }

    /// The device block that holds a whole range, or that it is none.
    pub fn within(&self, address: u64, bytes: u64) -> Result<Allocation, Code> {
        match self.find(address) {
            AddressOwner::Device(block) if bytes <= block.range().end - address => Ok(block),
            AddressOwner::Device(_) | AddressOwner::Pinned(_) | AddressOwner::Unknown => {
                Err(Code::INVALID_VALUE)
            }
        }
    }

    /// Whether a whole range is pinned host memory.
    pub fn is_pinned(&self, address: u64, bytes: u64) -> bool {
        match self.find(address) {
            AddressOwner::Pinned(pinned) => bytes <= pinned.address + pinned.bytes - address,
            AddressOwner::Device(_) | AddressOwner::Unknown => false,
        }
    }

    /// Notes host memory that copies may use directly.
    pub fn pin(&mut self, pinned: Pinned) {
        self.pinned.insert(pinned.address, pinned);
    }

    /// The pinned memory that begins at an address.
    pub fn pinned_at(&self, address: u64) -> Option<Pinned> {
        self.pinned.get(&address).copied()
    }

    /// Whether any byte of a range is pinned already.
    pub fn overlaps_pinned(&self, address: u64, bytes: u64) -> bool {
        let before = self.pinned.range(..address + bytes).next_back();
        before.is_some_and(|(_, pinned)| pinned.address + pinned.bytes > address)
    }

    /// Forgets pinned memory.
    pub fn unpin(&mut self, address: u64) {
        self.pinned.remove(&address);
    }

    /// The bytes of a range, for other processes; those that nobody wrote are zeros.
    pub fn bytes_or_zeros(&self, range: Range<u64>) -> Vec<u8> {
        let mut data = vec![0; (range.end - range.start) as usize];
        for (piece, start) in data.chunks_mut(4096).zip(range.step_by(4096)) {
            if self.machine.read(start, piece).is_err() {
                for (byte, address) in piece.iter_mut().zip(start..) {
                    // An uninitialised byte stays zero.
                    let _ = self.machine.read(address, std::slice::from_mut(byte));
                }
            }
        }
        data
    }

    /// The word at an address; zero while a device only records.
    pub fn word(&self, address: u64) -> Result<u64, Failed> {
        let mut bytes = [0; 8];
        if self.recorder.is_none() {
            self.machine.read(address, &mut bytes).map_err(|fault| failed(&fault))?;
        }
        Ok(u64::from_ne_bytes(bytes))
    }

    /// Sets it.
    pub fn set_word(&mut self, address: u64, value: u64) -> Result<Touched, Failed> {
        self.machine.write(address, &value.to_ne_bytes()).map_err(|fault| failed(&fault))?;
        Ok(Touched::write(address..address + 8))
    }

    /// Takes over bytes of another process.
    pub fn overwrite(&mut self, address: u64, data: &[u8]) {
        // Memory that is gone takes nothing over.
        let _ = self.machine.write(address, data);
    }

    /// Runs a kernel.
    pub fn launch(&mut self, launch: &Launch) -> Result<Touched, Failed> {
        self.machine.give_shared(launch.shared);
        if let Some(recorder) = &mut self.recorder {
            let blocks: Vec<[u64; 2]> =
                self.blocks.values().map(|found| [found.address, found.bytes]).collect();
            return recorder.record(&mut self.machine, &blocks, launch).map(|()| Touched::default());
        }
        let Launch { program, entry, grid, block, params, .. } = launch;
        let accesses = self.machine.run(program, entry, *grid, *block, params);
        let accesses = accesses.map_err(|fault| failed(&fault))?;
        Ok(Touched { reads: accesses.reads, writes: accesses.writes })
    }

    /// Copies bytes. Between devices uninitialised bytes stay so; reading them to the host is a fault.
    pub fn copy(&mut self, target: Target, source: &Source, bytes: u64) -> Result<Touched, Failed> {
        let mut touched = Touched::default();
        match source {
            Source::Staged(_) => {}
            Source::Device(from) | Source::Pinned(from) => touched.reads.push(*from..from + bytes),
        }
        match target {
            Target::Pageable(_) => {}
            Target::Device(to) | Target::Pinned(to) => touched.writes.push(to..to + bytes),
        }
        if self.recorder.is_some() {
            if let (Target::Pinned(to) | Target::Pageable(to), Source::Device(_)) = (target, source) {
                // SAFETY: as for the copy below.
                unsafe { std::slice::from_raw_parts_mut(to as *mut u8, bytes as usize) }.fill(0);
            }
            return Ok(Touched::default());
        }
        match (target, source) {
            (Target::Device(to), Source::Device(from)) => {
                self.machine.copy(to, *from, bytes).map_err(|fault| failed(&fault))?;
            }
            (Target::Device(to), Source::Staged(data)) => {
                self.machine.write(to, data).map_err(|fault| failed(&fault))?;
            }
            (Target::Device(to), Source::Pinned(from)) => {
                self.still_pinned(*from, bytes)?;
                // SAFETY: the range is pinned now: allocated here and not freed, or promised by whoever
                // registered it.
                let data = unsafe { std::slice::from_raw_parts(*from as *const u8, bytes as usize) };
                self.machine.write(to, data).map_err(|fault| failed(&fault))?;
            }
            (Target::Pinned(to) | Target::Pageable(to), Source::Device(from)) => {
                if let Target::Pinned(to) = target {
                    self.still_pinned(to, bytes)?;
                }
                // SAFETY: pinned memory is as for reading; for pageable memory the caller waits, and promised
                // it.
                let data = unsafe { std::slice::from_raw_parts_mut(to as *mut u8, bytes as usize) };
                self.machine.read(*from, data).map_err(|fault| failed(&fault))?;
            }
            (Target::Pinned(_) | Target::Pageable(_), Source::Staged(_) | Source::Pinned(_)) => {
                unreachable!("copies from host to host are refused when they are queued")
            }
        }
        Ok(touched)
    }

    /// Fills bytes with one value.
    pub fn fill(&mut self, address: u64, value: u8, bytes: u64) -> Result<Touched, Failed> {
        if self.recorder.is_some() {
            return Ok(Touched::default());
        }
        self.machine.fill(address, value, bytes).map_err(|fault| failed(&fault))?;
        Ok(Touched::write(address..address + bytes))
    }

    fn still_pinned(&self, address: u64, bytes: u64) -> Result<(), Failed> {
        if self.is_pinned(address, bytes) {
            return Ok(());
        }
        Err(Failed {
            code: Code::ILLEGAL_ADDRESS,
            text: format!("pinned host memory {address:#x} was freed or unregistered before the copy ran"),
            address: Some(address),
        })
    }
}

fn counted(bytes: u64) -> u64 {
    bytes.div_ceil(GRAIN) * GRAIN
}
