//! Device memory: allocations at made-up addresses with unused space between them, which bytes are
//! initialised, and the checked accesses of kernels and of the host. It does not know instructions.

use super::bits::{bits_set, mark_bits, set_value, value};
use super::clocks::{Clocks, Now, Publish};
use super::fault::{Checked, Kind, Trouble};
use super::shadow::{Access, Clash, Hazard, Shadow};
use crate::random::Random;
use std::collections::BTreeMap;
use std::ops::Range;

/// Allocations begin at multiples of this, as on hardware.
const GRAIN: u64 = 256;
/// At least so many unused bytes lie between allocations.
const GAP: u64 = 4096;

/// One allocation. A freed one is empty and its place is used again; its addresses are not.
struct Block {
    base: u64,
    data: Vec<u8>,
    /// A bit for each initialised byte.
    initialised: Vec<u64>,
    shadow: Shadow,
    /// The launch that touched it last, and between which bytes.
    touched: u64,
    from: usize,
    to: usize,
}

pub(crate) struct Memory {
    next: u64,
    end: u64,
    random: Random,
    blocks: Vec<Block>,
    vacant: Vec<usize>,
    order: BTreeMap<u64, usize>,
    freed: BTreeMap<u64, u64>,
    touched: Vec<usize>,
    /// Whether it is known who wrote and read which bytes.
    pub(crate) keeps_history: bool,
    /// Of a launch whose blocks run at the same time.
    pub(crate) clocks: Option<Clocks>,
}

/// A piece of an allocation: its place, and the bytes in it.
#[derive(Clone, Copy)]
struct Piece {
    place: usize,
    offset: usize,
    bytes: usize,
}

impl Memory {
    pub(crate) fn new(seed: u64, addresses: Range<u64>) -> Memory {
        Memory {
            next: addresses.start.next_multiple_of(GRAIN),
            end: addresses.end,
            random: Random::new(seed),
            blocks: Vec::new(),
            vacant: Vec::new(),
            order: BTreeMap::new(),
            freed: BTreeMap::new(),
            touched: Vec::new(),
            keeps_history: true,
            clocks: None,
        }
    }

    pub(crate) fn alloc(&mut self, bytes: u64, align: u64) -> Checked<u64> {
        if bytes == 0 || !align.is_power_of_two() {
            let what = format!("{bytes} bytes aligned to {align}; expected some bytes and a power of two");
            return Err(Trouble::new(Kind::OutOfMemory, what));
        }
        // The gap is as long as the allocation, so that twice the right offset does not meet a neighbour.
        let base = self.next.next_multiple_of(align.max(GRAIN));
        let gap = bytes.saturating_add(GAP + self.random.below(16) * GRAIN);
        let next =
            bytes.checked_add(gap).and_then(|used| base.checked_add(used)).filter(|next| *next <= self.end);
        let Some(next) = next else {
            return Err(Trouble::new(Kind::OutOfMemory, "all addresses of this machine were used once"));
        };
        self.next = next.next_multiple_of(GRAIN);
        self.place(Block {
            base,
            data: vec![0; bytes as usize],
            initialised: vec![0; bytes.div_ceil(64) as usize],
            shadow: Shadow::new(if self.keeps_history { bytes as usize } else { 0 }),
            touched: 0,
            from: 0,
            to: 0,
        });
        Ok(base)
    }

    fn place(&mut self, block: Block) {
        let base = block.base;
        let place = match self.vacant.pop() {
            Some(place) => {
                self.blocks[place] = block;
                place
            }
            None => {
                self.blocks.push(block);
                self.blocks.len() - 1
            }
        };
        self.order.insert(base, place);
    }

    pub(crate) fn free(&mut self, address: u64) -> Checked<()> {
        let Some(place) = self.order.remove(&address) else {
            return Err(Trouble::at(Kind::Free, address, self.near(address)));
        };
        let bytes = self.blocks[place].data.len() as u64;
        self.freed.insert(address, bytes);
        self.blocks[place] = Block {
            base: u64::MAX,
            data: Vec::new(),
            initialised: Vec::new(),
            shadow: Shadow::new(0),
            touched: 0,
            from: 0,
            to: 0,
        };
        self.vacant.push(place);
        Ok(())
    }

    /// The address in words: where it lies relative to the nearest allocation, living or dead.
    fn near(&self, address: u64) -> String {
        let living = self.allocations_around(address);
        let dead = self.freed.range(..=address).next_back();
        if let Some((base, bytes)) = dead.filter(|(base, bytes)| address - **base < **bytes) {
            return format!(
                "{address:#x} is byte {} of {bytes} that were freed at {base:#x}",
                address - base
            );
        }
        let distance = |(base, bytes): &(u64, u64)| match address < *base {
            true => base - address,
            false => (address - base).saturating_sub(*bytes - 1),
        };
        match living.into_iter().flatten().min_by_key(distance) {
            None => format!("{address:#x}, and nothing is allocated"),
            Some((base, bytes)) if address < base => {
                format!("{address:#x} is {} bytes before the {bytes} bytes at {base:#x}", base - address)
            }
            Some((base, bytes)) if address - base < bytes => {
                format!("{address:#x} is byte {} of the {bytes} bytes at {base:#x}", address - base)
            }
            Some((base, bytes)) => {
                let past = address - base - bytes;
                format!("{address:#x} is {past} bytes past the end of the {bytes} bytes at {base:#x}")
            }
        }
    }

    fn allocations_around(&self, address: u64) -> [Option<(u64, u64)>; 2] {
        let whole = |(base, place): (&u64, &usize)| (*base, self.blocks[*place].data.len() as u64);
        [self.order.range(..=address).next_back().map(whole), self.order.range(address..).next().map(whole)]
    }

    fn outside(&self, address: u64, bytes: u64, does: &str) -> Box<Trouble> {
        let dead = self.freed.range(..=address).next_back();
        let freed = dead.is_some_and(|(base, bytes)| address - base < *bytes);
        let kind = if freed { Kind::UseAfterFree } else { Kind::OutOfBounds };
        Trouble::at(kind, address, format!("{does} {bytes} bytes at {}", self.near(address)))
    }

    /// The piece at an address; `hint` is the place it was in the last time and is kept up to date.
    #[inline(always)]
    fn find(&self, address: u64, bytes: usize, hint: &mut u32) -> Option<Piece> {
        if let Some(block) = self.blocks.get(*hint as usize) {
            let offset = address.wrapping_sub(block.base) as usize;
            if offset < block.data.len() && bytes <= block.data.len() - offset {
                return Some(Piece { place: *hint as usize, offset, bytes });
            }
        }
        let (base, place) = self.order.range(..=address).next_back()?;
        *hint = *place as u32;
        let (offset, length) = ((address - base) as usize, self.blocks[*place].data.len());
        (offset < length && bytes <= length - offset).then_some(Piece { place: *place, offset, bytes })
    }

    /// The piece of a kernel's access, whose address must be a multiple of its bytes.
    #[inline(always)]
    fn piece(&mut self, address: u64, bytes: usize, hint: &mut u32, now: &Now, does: &str) -> Checked<Piece> {
        let Some(piece) = self.find(address, bytes, hint) else {
            return Err(self.outside(address, bytes as u64, does));
        };
        if address & (bytes as u64 - 1) != 0 {
            return Err(self.misaligned(address, bytes, does));
        }
        let block = &mut self.blocks[piece.place];
        if block.touched != now.launch {
            (block.touched, block.from, block.to) = (now.launch, piece.offset, piece.offset + bytes);
            self.touched.push(piece.place);
        } else {
            block.from = block.from.min(piece.offset);
            block.to = block.to.max(piece.offset + bytes);
        }
        Ok(piece)
    }

    #[cold]
    fn misaligned(&self, address: u64, bytes: usize, does: &str) -> Box<Trouble> {
        let what = format!("{does} {bytes} bytes at {}, no multiple of {bytes}", self.near(address));
        Trouble::at(Kind::Misaligned, address, what)
    }

    /// The value of up to 16 bytes that a kernel loads.
    #[inline(always)]
    pub(crate) fn load(
        &mut self,
        address: u64,
        bytes: usize,
        how: Access,
        hint: &mut u32,
        now: &Now,
    ) -> Checked<u128> {
        let piece = self.piece(address, bytes, hint, now, "read of")?;
        let block = &mut self.blocks[piece.place];
        if !self.keeps_history {
            return Ok(value(&block.data[piece.offset..piece.offset + bytes]));
        }
        if !bits_set(&block.initialised, piece.offset, bytes) {
            return Err(self.uninitialised(address, piece));
        }
        let now = &moment(self.clocks.as_ref(), now);
        if let Err(clash) = block.shadow.read(piece.offset, bytes, how, now, self.clocks.as_ref()) {
            return Err(self.race(address, bytes, clash, now, "read"));
        }
        Ok(value(&block.data[piece.offset..piece.offset + bytes]))
    }

    #[inline(always)]
    pub(crate) fn store(
        &mut self,
        address: u64,
        bytes: usize,
        value: u128,
        how: Access,
        hint: &mut u32,
        now: &Now,
    ) -> Checked<()> {
        let piece = self.piece(address, bytes, hint, now, "write of")?;
        let block = &mut self.blocks[piece.place];
        if !self.keeps_history {
            set_value(&mut block.data[piece.offset..piece.offset + bytes], value);
            return Ok(());
        }
        let now = &moment(self.clocks.as_ref(), now);
        if let Err(clash) = block.shadow.write(piece.offset, bytes, how, now, self.clocks.as_ref()) {
            return Err(self.race(address, bytes, clash, now, "write"));
        }
        // The access is aligned, so its bits lie in one word.
        block.initialised[piece.offset / 64] |= ((1 << bytes) - 1) << (piece.offset % 64);
        set_value(&mut block.data[piece.offset..piece.offset + bytes], value);
        Ok(())
    }

    /// A load that other blocks may be writing for.
    pub(crate) fn strong_load(
        &mut self,
        address: u64,
        bytes: usize,
        acquires: bool,
        hint: &mut u32,
        now: &Now,
    ) -> Checked<u64> {
        let value = self.load(address, bytes, Access::Strong, hint, now)?;
        if let Some(clocks) = &mut self.clocks {
            clocks.strong_load(address, acquires, now);
        }
        Ok(value as u64)
    }

    /// A store that other blocks may be reading.
    pub(crate) fn strong_store(
        &mut self,
        address: u64,
        bytes: usize,
        value: u64,
        releases: bool,
        hint: &mut u32,
        now: &Now,
    ) -> Checked<()> {
        self.store(address, bytes, value as u128, Access::Strong, hint, now)?;
        if let Some(clocks) = &mut self.clocks {
            clocks.strong_store(address, releases, Publish::Anew, now);
        }
        Ok(())
    }

    /// Replaces a value by what `change` makes of it; the old one.
    pub(crate) fn change(
        &mut self,
        address: u64,
        bytes: usize,
        change: impl FnOnce(u64) -> u64,
        [acquires, releases]: [bool; 2],
        hint: &mut u32,
        now: &Now,
    ) -> Checked<u64> {
        let old = self.strong_load(address, bytes, acquires, hint, now)?;
        self.store(address, bytes, change(old) as u128, Access::Strong, hint, now)?;
        if let Some(clocks) = &mut self.clocks {
            clocks.strong_store(address, releases, Publish::Too, now);
        }
        Ok(old)
    }

    #[cold]
    fn uninitialised(&self, address: u64, piece: Piece) -> Box<Trouble> {
        let block = &self.blocks[piece.place];
        let good = |at: &usize| bits_set(&block.initialised, *at, 1);
        let first = (piece.offset..piece.offset + piece.bytes).find(|at| !good(at)).unwrap_or(piece.offset);
        let what = format!("read of {} bytes at {}", piece.bytes, self.near(address));
        Trouble::at(Kind::Uninitialised, block.base + first as u64, what)
    }

    #[cold]
    fn race(&self, address: u64, bytes: usize, clash: Clash, now: &Now, does: &str) -> Box<Trouble> {
        let kind = match clash.hazard {
            Hazard::NonCoherent => Kind::NonCoherent,
            _ => Kind::Race,
        };
        let what = format!("{does} of {bytes} bytes at {}, {}", self.near(address), clash.describe(now));
        Trouble::at(kind, address, what)
    }

    /// The bytes read and written by the launch that began with the phase `launch`.
    pub(crate) fn accessed(&mut self, launch: u64) -> [Vec<Range<u64>>; 2] {
        let mut places = std::mem::take(&mut self.touched);
        places.sort_by_key(|place| self.blocks[*place].base);
        let mut all = [Vec::new(), Vec::new()];
        for place in places {
            let block = &self.blocks[place];
            let found = block.shadow.accessed(block.from, block.to, launch);
            for (all, found) in all.iter_mut().zip(found) {
                let length = block.data.len() as u64;
                all.extend(
                    found
                        .into_iter()
                        .map(|range| block.base + range.start..block.base + range.end.min(length)),
                );
            }
        }
        all
    }

    fn host_piece(&self, address: u64, bytes: usize, does: &str) -> Checked<Option<Piece>> {
        if bytes == 0 {
            return Ok(None);
        }
        let mut nowhere = u32::MAX;
        match self.find(address, bytes, &mut nowhere) {
            Some(piece) => Ok(Some(piece)),
            None => Err(self.outside(address, bytes as u64, &format!("{does} by the host of"))),
        }
    }

    pub(crate) fn write(&mut self, address: u64, data: &[u8]) -> Checked<()> {
        if let Some(piece) = self.host_piece(address, data.len(), "write")? {
            let block = &mut self.blocks[piece.place];
            block.data[piece.offset..][..piece.bytes].copy_from_slice(data);
            mark_bits(&mut block.initialised, piece.offset, piece.bytes, true);
        }
        Ok(())
    }

    pub(crate) fn read(&self, address: u64, data: &mut [u8]) -> Checked<()> {
        if let Some(piece) = self.host_piece(address, data.len(), "read")? {
            let block = &self.blocks[piece.place];
            if !bits_set(&block.initialised, piece.offset, piece.bytes) {
                return Err(self.uninitialised(address, piece));
            }
            data.copy_from_slice(&block.data[piece.offset..][..piece.bytes]);
        }
        Ok(())
    }

    /// Copies bytes; uninitialised ones stay so.
    pub(crate) fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Checked<()> {
        let (to, from) =
            (self.host_piece(to, bytes as usize, "write")?, self.host_piece(from, bytes as usize, "read")?);
        let (Some(to), Some(from)) = (to, from) else {
            return Ok(());
        };
        let source = &self.blocks[from.place];
        let data = source.data[from.offset..][..from.bytes].to_vec();
        let marks: Vec<bool> =
            (from.offset..from.offset + from.bytes).map(|at| bits_set(&source.initialised, at, 1)).collect();
        let target = &mut self.blocks[to.place];
        target.data[to.offset..][..to.bytes].copy_from_slice(&data);
        let mut at = 0;
        for run in marks.chunk_by(|a, b| a == b) {
            mark_bits(&mut target.initialised, to.offset + at, run.len(), run[0]);
            at += run.len();
        }
        Ok(())
    }

    pub(crate) fn fill(&mut self, address: u64, value: u8, bytes: u64) -> Checked<()> {
        if let Some(piece) = self.host_piece(address, bytes as usize, "write")? {
            let block = &mut self.blocks[piece.place];
            block.data[piece.offset..][..piece.bytes].fill(value);
            mark_bits(&mut block.initialised, piece.offset, piece.bytes, true);
        }
        Ok(())
    }
}

/// The moment as the marks of memory count it: among blocks that run at the same time, each phase may be
/// another block's.
#[inline(always)]
fn moment(clocks: Option<&Clocks>, now: &Now) -> Now {
    Now { block: if clocks.is_some() { now.phase } else { now.block }, ..*now }
}

impl Clash {
    pub(crate) fn describe(&self, now: &Now) -> String {
        let who = match self.thread {
            _ if self.hazard == Hazard::Unwritten => String::new(),
            _ if self.is_of_another_block(now) => "another block".to_string(),
            Some(thread) if thread == now.thread => "the same thread".to_string(),
            Some(thread) => format!("thread {thread} of the block"),
            None => "several threads".to_string(),
        };
        let did = match self.hazard {
            Hazard::ReadAfterWrite | Hazard::WriteAfterWrite => "wrote",
            Hazard::WriteAfterRead => "read",
            Hazard::NonCoherent => "reads or writes in this launch, one of them through .nc,",
            Hazard::Unwritten => return "which no thread of this block wrote".to_string(),
        };
        match self.hazard {
            Hazard::NonCoherent => format!("which {who} {did} too"),
            _ if self.is_of_another_block(now) => {
                format!("which {who} {did}, and no release that was acquired orders the two")
            }
            _ => format!("which {who} {did} with no barrier between"),
        }
    }
}
