//! Memory shared between processes. The truth of a shared block lies in a file that has no name, which other
//! processes reach through the exporter's file descriptors and which ends with the last of them. Before an
//! operation the block takes over what others wrote, after it they are given what was written: exchange
//! happens between operations.
//!
//! A block with words (`run/words.rs`) holds messages, too: bytes that another process wrote are unread until
//! somebody reads them, and to write them again before is a fault.

use super::memory::{Allocation, DriverMemory, Origin};
use crate::driver::abi::Code;
use crate::driver::work::{Failed, Touched};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// `CUipcMemHandle` and `CUipcEventHandle`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Handle(pub [u8; 64]);

/// The content of a handle: the exporting process, and three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    pub process: u32,
    pub numbers: [u64; 3],
}

impl Ticket {
    /// As a handle; `mark` tells memory from events.
    pub fn handle(self, mark: &[u8; 8]) -> Handle {
        let mut bytes = [0; 64];
        bytes[..8].copy_from_slice(mark);
        bytes[8..12].copy_from_slice(&self.process.to_ne_bytes());
        for (place, number) in bytes[16..].chunks_exact_mut(8).zip(self.numbers) {
            place.copy_from_slice(&number.to_ne_bytes());
        }
        Handle(bytes)
    }

    /// The content of a handle, if it has the mark.
    pub fn read(Handle(bytes): Handle, mark: &[u8; 8]) -> Result<Ticket, Code> {
        if bytes[..8] != *mark {
            return Err(Code::INVALID_VALUE);
        }
        let number = |at: usize| u64::from_ne_bytes(std::array::from_fn(|i| bytes[at + i]));
        let process = u32::from_ne_bytes(std::array::from_fn(|i| bytes[8 + i]));
        Ok(Ticket { process, numbers: [number(16), number(24), number(32)] })
    }
}

/// The file begins with numbers: the first byte is 1 until the memory is freed, the second 1 while it has
/// words and they are not released; each other number counts the writes of a process. Then come the bytes of
/// the block; for each a byte that is 1 while it is unread; and for each eight of them how often a word there
/// was put.
const HEADER: usize = 4096;
const SLOTS: usize = HEADER / 8;

struct SharedAllocation {
    file: File,
    bytes: u64,
    /// The header when the block was last updated.
    seen: Vec<u8>,
    /// The number of times that this process opened it; none for its own memory.
    opened: Option<(Ticket, u32)>,
}

/// The memory that is shared with other processes, by address here.
#[derive(Default)]
pub struct Exchange(BTreeMap<u64, SharedAllocation>);

impl Exchange {
    /// Shares a block; its handle's numbers.
    pub fn export(&mut self, memory: &DriverMemory, block: Allocation) -> io::Result<Ticket> {
        if let Entry::Vacant(vacant) = self.0.entry(block.address) {
            let file = nameless_file()?;
            file.set_len(file_bytes(block.bytes))?;
            file.write_all_at(&1u64.to_ne_bytes(), 0)?;
            file.write_all_at(&memory.bytes_or_zeros(block.range()), HEADER as u64)?;
            let shared = SharedAllocation { seen: header(&file)?, file, bytes: block.bytes, opened: None };
            vacant.insert(shared);
        }
        let descriptor = self.0[&block.address].file.as_raw_fd() as u64;
        Ok(Ticket { process: std::process::id(), numbers: [descriptor, block.bytes, block.address] })
    }

    /// The address at which a ticket is open, counted once more.
    pub fn reopen(&mut self, ticket: Ticket) -> Option<u64> {
        self.0.iter_mut().find_map(|(address, shared)| match &mut shared.opened {
            Some((opened, count)) if *opened == ticket => {
                *count += 1;
                Some(*address)
            }
            _ => None,
        })
    }

    /// Opens another process's memory as a new block on a device.
    pub fn open(&mut self, memory: &mut DriverMemory, ticket: Ticket, device: usize) -> Result<u64, Code> {
        let [descriptor, bytes, _] = ticket.numbers;
        let path = PathBuf::from(format!("/proc/{}/fd/{descriptor}", ticket.process));
        let opened = OpenOptions::new().read(true).write(true).open(path);
        let file = opened.map_err(|_| Code::INVALID_VALUE)?;
        let head = header(&file).map_err(|_| Code::INVALID_VALUE)?;
        if !alive(&head) || file.metadata().map_or(0, |data| data.len()) != file_bytes(bytes) {
            return Err(Code::INVALID_VALUE);
        }
        let address = memory.reserve(device, bytes, Origin::Opened)?;
        // Counted as never seen, so that the next operation takes over everything.
        let shared = SharedAllocation { file, bytes, seen: Vec::new(), opened: Some((ticket, 1)) };
        self.0.insert(address, shared);
        Ok(address)
    }

    /// Closes memory once; whether that was the last time.
    pub fn close(&mut self, address: u64) -> Result<bool, Code> {
        let shared = self.0.get_mut(&address).ok_or(Code::INVALID_VALUE)?;
        let (_, count) = shared.opened.as_mut().ok_or(Code::INVALID_VALUE)?;
        *count -= 1;
        Ok(*count == 0)
    }

    /// The block ends: others may not use it any more if it is this process's.
    pub fn end(&mut self, address: u64) {
        if let Some(shared) = self.0.remove(&address)
            && shared.opened.is_none()
        {
            // If it cannot be said, the others read what they had.
            let _ = shared.file.write_all_at(&0u64.to_ne_bytes(), 0);
        }
    }

    /// Takes over what other processes wrote.
    pub fn take(&mut self, memory: &mut DriverMemory) -> io::Result<()> {
        for (address, shared) in &mut self.0 {
            let now = header(&shared.file)?;
            if now != shared.seen {
                let mut data = vec![0; shared.bytes as usize];
                shared.file.read_exact_at(&mut data, HEADER as u64)?;
                memory.overwrite(*address, &data);
                shared.seen = now;
            }
        }
        Ok(())
    }

    /// The number of times that a shared word was put, by any process; puts it once more if `again`.
    pub fn puts(&self, address: u64, again: bool) -> io::Result<Option<u64>> {
        let Some((start, shared)) = self.0.range(..=address).next_back() else { return Ok(None) };
        if address - start >= shared.bytes {
            return Ok(None);
        }
        let (at, mut count) = (HEADER as u64 + 2 * shared.bytes + address - start, [0; 8]);
        shared.file.read_exact_at(&mut count, at)?;
        let count = u64::from_ne_bytes(count) + u64::from(again);
        if again {
            if shared.seen.get(1) == Some(&0) {
                shared.file.write_all_at(&[1], 1)?;
            }
            shared.file.write_all_at(&count.to_ne_bytes(), at)?;
        }
        Ok(Some(count))
    }

    /// The words of a block are released: its messages mean nothing any more.
    pub fn release(&self, address: u64) {
        if let Some((_, shared)) = self.0.range(..=address).next_back() {
            // If it cannot be said, they are watched.
            let _ = shared.file.write_all_at(&[2], 1);
        }
    }

    /// Gives other processes what an operation wrote; refuses memory that its owner freed and, if it
    /// `watches` messages, to write one that nobody read.
    pub fn give(&mut self, memory: &DriverMemory, touched: &Touched, watches: bool) -> Result<(), Failed> {
        for (address, shared) in &mut self.0 {
            let block = *address..*address + shared.bytes;
            let used = |range: &&Range<u64>| range.start < block.end && block.start < range.end;
            if !alive(&shared.seen)
                && let Some(range) = touched.reads.iter().chain(&touched.writes).find(used)
            {
                let text = format!("bytes {range:#x?} were freed by the process that exported them");
                return Err(Failed { code: Code::ILLEGAL_ADDRESS, text, address: Some(range.start) });
            }
            let parts = |ranges: &[Range<u64>]| -> Vec<Range<u64>> {
                let part = |range: &Range<u64>| range.start.max(block.start)..range.end.min(block.end);
                ranges.iter().filter(used).map(part).collect()
            };
            if watches && shared.seen.get(1) == Some(&1) {
                shared.mark_messages(block.start, &parts(&touched.reads), &parts(&touched.writes))?;
            }
            let written = parts(&touched.writes);
            if written.is_empty() {
                continue;
            }
            for part in written {
                let offset = HEADER as u64 + part.start - block.start;
                shared.file.write_all_at(&memory.bytes_or_zeros(part), offset).map_err(not_given)?;
            }
            let slot = 8 * (1 + std::process::id() as usize % (SLOTS - 1));
            let count = u64::from_ne_bytes(std::array::from_fn(|i| shared.seen[slot + i])) + 1;
            shared.file.write_all_at(&count.to_ne_bytes(), slot as u64).map_err(not_given)?;
            shared.seen[slot..slot + 8].copy_from_slice(&count.to_ne_bytes());
        }
        Ok(())
    }
}

impl SharedAllocation {
    /// What was read is read; what is written must be, and is unread again if another process owns it.
    fn mark_messages(&self, start: u64, reads: &[Range<u64>], writes: &[Range<u64>]) -> Result<(), Failed> {
        let place = |range: &Range<u64>| HEADER as u64 + self.bytes + range.start - start;
        let marks = |range: &Range<u64>, mark: u8| vec![mark; (range.end - range.start) as usize];
        for range in reads {
            self.file.write_all_at(&marks(range, 0), place(range)).map_err(not_given)?;
        }
        for range in writes {
            let mut unread = marks(range, 0);
            self.file.read_exact_at(&mut unread, place(range)).map_err(not_given)?;
            if self.opened.is_some() && unread.contains(&1) {
                let text = format!("a message in bytes {range:#x?} is written again before it was read");
                return Err(Failed { code: Code::LAUNCH_FAILED, text, address: Some(range.start) });
            }
            let mark = u8::from(self.opened.is_some());
            self.file.write_all_at(&marks(range, mark), place(range)).map_err(not_given)?;
        }
        Ok(())
    }
}

fn file_bytes(block: u64) -> u64 {
    HEADER as u64 + 2 * block + block.next_multiple_of(8)
}

fn not_given(error: io::Error) -> Failed {
    Failed { code: Code::OPERATING_SYSTEM, text: format!("shared memory: {error}"), address: None }
}

fn header(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; HEADER];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

fn alive(header: &[u8]) -> bool {
    header.first() == Some(&1)
}

/// A file in memory that is gone when nobody has it open.
fn nameless_file() -> io::Result<File> {
    static FILES: AtomicU64 = AtomicU64::new(0);
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let path = PathBuf::from(format!("/dev/shm/simcuda-{}-{number}", std::process::id()));
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_survives_its_handle() {
        let ticket = Ticket { process: 77, numbers: [3, 1 << 40, 5] };
        assert_eq!(Ticket::read(ticket.handle(b"memory!!"), b"memory!!"), Ok(ticket));
        assert!(Ticket::read(ticket.handle(b"memory!!"), b"event!!!").is_err());
    }
}
