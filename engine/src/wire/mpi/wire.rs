//! [`Wire`] over MPI: `MPI_Isend`, `MPI_Irecv` and `MPI_Test` only. Every return code is checked, and
//! messages above a limit are split so that no count is narrowed. Data and control messages have one
//! duplicate of the communicator each. Requests are not persistent, because every exchange has tags of its
//! own, by which ranks that do different things are found.

use std::collections::{HashMap, VecDeque};
use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::functions::{Functions, Handle, Status};
use super::library::{Library, first_line};
use crate::config::{config, say};
use crate::device::LentMemory;
use crate::error::Result;
use crate::wire::interface::{Outcome, Request, Wire, WireError, back_off};
use crate::wire::job::termination_notice;

type WireResult<T> = std::result::Result<T, WireError>;

/// The tag of all control messages, which have a communicator of their own.
const CONTROL_TAG: c_int = 0;

/// One process's end of an MPI communicator.
pub struct Mpi<H: 'static> {
    mpi: &'static Functions<H>,
    library: &'static Library,
    data: H,
    control: H,
    rank: usize,
    ranks: usize,
    max_tag: u32,
    longest: usize,
    begin: Instant,
    open: Mutex<OpenTransfers<H>>,
}

struct OpenTransfers<H> {
    next: u64,
    transfers: HashMap<Request, Transfer<H>>,
    control_sends: VecDeque<Transfer<H>>,
    control_receive: Option<(usize, Transfer<H>)>,
}

/// A message in as many fragments as `PARTITA_MPI_MAX_BYTES` requires. The library reads or writes the memory
/// until all are complete.
struct Transfer<H> {
    fragments: Vec<(H, usize)>,
    done: usize,
    memory: TransferMemory,
    receives: bool,
    tag: u32,
    /// The number of bytes that have come.
    arrived: usize,
}

/// The memory that a transfer reads or writes.
enum TransferMemory {
    Own(Vec<u8>),
    InPlace(LentMemory),
}

impl TransferMemory {
    fn bytes(&self) -> usize {
        match self {
            TransferMemory::Own(bytes) => bytes.len(),
            TransferMemory::InPlace(memory) => memory.bytes(),
        }
    }

    /// The address that the library gets.
    fn begin(&mut self) -> *mut u8 {
        match self {
            TransferMemory::Own(bytes) => bytes.as_mut_ptr(),
            TransferMemory::InPlace(memory) => std::ptr::with_exposed_provenance_mut(memory.address()),
        }
    }

    fn take(&mut self) -> Vec<u8> {
        match self {
            TransferMemory::Own(bytes) => std::mem::take(bytes),
            TransferMemory::InPlace(_) => Vec::new(),
        }
    }
}

// SAFETY: handles that the library spins up, and memory that this value owns; used under one lock.
unsafe impl<H> Send for Transfer<H> {}

impl<H> Drop for Transfer<H> {
    fn drop(&mut self) {
        if self.done < self.fragments.len() {
            // The library may still use the memory, so it is never freed.
            std::mem::forget(std::mem::replace(&mut self.memory, TransferMemory::Own(Vec::new())));
        }
    }
}

impl<H: Handle> Mpi<H> {
    /// All ranks of a communicator call it; it is duplicated.
    pub(super) fn over(library: &'static Library, mpi: &'static Functions<H>, comm: H) -> Result<Mpi<H>> {
        let (data, control) = (duplicate(mpi, comm)?, duplicate(mpi, comm)?);
        let (mut rank, mut ranks) = (0, 0);
        // SAFETY: a live communicator.
        mpi.check(unsafe { (mpi.comm_rank)(data, &mut rank) })?;
        // SAFETY: as before.
        mpi.check(unsafe { (mpi.comm_size)(data, &mut ranks) })?;
        Ok(Mpi {
            mpi,
            library,
            data,
            control,
            rank: rank as usize,
            ranks: ranks as usize,
            max_tag: largest_tag(mpi, data)?,
            longest: config().mpi_max_bytes,
            begin: Instant::now(),
            open: Mutex::new(OpenTransfers {
                next: 0,
                transfers: HashMap::new(),
                control_sends: VecDeque::new(),
                control_receive: None,
            }),
        })
    }

    fn open(&self) -> MutexGuard<'_, OpenTransfers<H>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a send with a tag, or a receive, in fragments of at most `longest` bytes.
    fn start(
        &self,
        (comm, longest): (H, usize),
        peer: usize,
        memory: TransferMemory,
        sends: Option<u32>,
    ) -> WireResult<Transfer<H>> {
        let mut transfer = Transfer::of(memory, sends.is_none(), sends.unwrap_or(0));
        let (begin, peer) = (transfer.memory.begin(), peer as c_int);
        for (offset, bytes) in fragments(transfer.memory.bytes(), longest) {
            let (at, count) = (begin.wrapping_add(offset).cast(), bytes as c_int);
            let (byte, any) = (self.mpi.constants.byte, self.mpi.constants.any_tag);
            // Any handle: the call replaces it.
            let mut request = comm;
            // SAFETY: the memory lives in the transfer until it is over; the count is at most the limit.
            self.mpi.checked(unsafe {
                match sends {
                    Some(tag) => (self.mpi.isend)(at, count, byte, peer, tag as c_int, comm, &mut request),
                    None => (self.mpi.irecv)(at, count, byte, peer, any, comm, &mut request),
                }
            })?;
            transfer.fragments.push((request, bytes));
        }
        Ok(transfer)
    }

    fn start_data(&self, peer: usize, memory: TransferMemory, sends: Option<u32>) -> WireResult<Request> {
        self.check_running()?;
        let mut open = self.open();
        let transfer = self.start((self.data, self.longest), peer, memory, sends)?;
        Ok(open.begin(transfer))
    }

    /// The program, which may have initialised MPI, may end it while teams are left.
    fn check_running(&self) -> WireResult<()> {
        match self.mpi.is_finalized() {
            true => Err(WireError("MPI was finalized; use teams before".to_owned())),
            false => Ok(()),
        }
    }

    /// Control messages are short, and never split.
    fn start_control(&self, peer: usize, bytes: Vec<u8>, sends: Option<u32>) -> WireResult<Transfer<H>> {
        self.start((self.control, usize::MAX), peer, TransferMemory::Own(bytes), sends)
    }
}

/// The offsets and lengths of a message's fragments; one of nothing for an empty message.
fn fragments(bytes: usize, longest: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = bytes.div_ceil(longest).max(1);
    (0..count).map(move |k| (k * longest, (bytes - k * longest).min(longest)))
}

impl<H: Handle> Transfer<H> {
    fn of(memory: TransferMemory, receives: bool, tag: u32) -> Transfer<H> {
        Transfer { fragments: Vec::new(), done: 0, memory, receives, tag, arrived: 0 }
    }

    /// Whether it is over.
    fn test(&mut self, mpi: &Functions<H>) -> WireResult<bool> {
        while let Some((request, expected)) = self.fragments.get_mut(self.done) {
            let (mut flag, mut status) = (0, Status::default());
            // SAFETY: a request that is not over, and room for its status.
            mpi.checked(unsafe { (mpi.test)(request, &mut flag, &mut status) })?;
            if flag == 0 {
                return Ok(false);
            }
            self.done += 1;
            if !self.receives {
                continue;
            }
            let (mut count, expected) = (0, *expected);
            // SAFETY: the status of a receive of this type.
            mpi.checked(unsafe { (mpi.get_count)(&status, mpi.constants.byte, &mut count) })?;
            let tag = mpi.constants.tag(&status) as u32;
            let first = self.done == 1;
            if count as usize != expected && self.fragments.len() > 1 || !first && tag != self.tag {
                let what = format!("{count} bytes with tag {tag:x} arrived, expected {expected}");
                return Err(WireError(format!("{what}; their sender does something else")));
            }
            self.tag = tag;
            self.arrived += count as usize;
            if let (1, TransferMemory::Own(bytes)) = (self.fragments.len(), &mut self.memory) {
                bytes.truncate(count as usize);
            }
        }
        Ok(true)
    }
}

impl<H: Handle> Wire for Mpi<H> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn name(&self) -> String {
        first_line(&self.library.version).to_owned()
    }

    fn max_tag(&self) -> u32 {
        self.max_tag
    }

    fn send(&self, to: usize, tag: u32, bytes: Vec<u8>) -> WireResult<Request> {
        self.start_data(to, TransferMemory::Own(bytes), Some(tag))
    }

    fn receive(&self, from: usize, memory: Vec<u8>) -> WireResult<Request> {
        self.start_data(from, TransferMemory::Own(memory), None)
    }

    fn takes_host_memory(&self) -> bool {
        true
    }

    fn takes_device_memory(&self) -> std::result::Result<(), String> {
        self.library.takes_device_pointers(config().cuda_aware_mpi)
    }

    fn send_from(&self, to: usize, tag: u32, memory: LentMemory) -> WireResult<Request> {
        self.start_data(to, TransferMemory::InPlace(memory), Some(tag))
    }

    fn receive_into(&self, from: usize, memory: LentMemory) -> WireResult<Request> {
        self.start_data(from, TransferMemory::InPlace(memory), None)
    }

    fn test(&self, request: Request) -> WireResult<Outcome> {
        let mut open = self.open();
        let Some(transfer) = open.transfers.get_mut(&request) else { return Ok(Outcome::Pending) };
        if !transfer.test(self.mpi)? {
            return Ok(Outcome::Pending);
        }
        let Some(mut transfer) = open.transfers.remove(&request) else { return Ok(Outcome::Pending) };
        let (tag, arrived) = (transfer.tag, transfer.arrived);
        Ok(match (transfer.receives, &mut transfer.memory) {
            (true, TransferMemory::InPlace(_)) => Outcome::ArrivedInPlace { tag, bytes: arrived },
            (true, TransferMemory::Own(bytes)) => Outcome::Arrived { tag, bytes: std::mem::take(bytes) },
            (false, memory) => Outcome::Sent(memory.take()),
        })
    }

    fn send_control(&self, to: usize, message: &[u8]) -> WireResult<()> {
        if self.mpi.is_finalized() {
            return Ok(());
        }
        let mut open = self.open();
        let transfer = self.start_control(to, message.to_vec(), Some(CONTROL_TAG as u32))?;
        open.control_sends.push_back(transfer);
        open.drop_sent_control(self.mpi);
        Ok(())
    }

    fn receive_control(&self) -> WireResult<Option<(usize, Vec<u8>)>> {
        self.check_running()?;
        let mut open = self.open();
        open.drop_sent_control(self.mpi);
        if open.control_receive.is_none() {
            open.control_receive = self.probe_control()?;
        }
        let Some((_, transfer)) = open.control_receive.as_mut() else { return Ok(None) };
        if !transfer.test(self.mpi)? {
            return Ok(None);
        }
        Ok(open.control_receive.take().map(|(from, mut received)| (from, received.memory.take())))
    }

    fn is_over(&self) -> bool {
        self.mpi.is_finalized()
    }

    fn end_all(&self) {
        // SAFETY: initialised and not finalized, because the wire is not over; the call does not come back.
        unsafe { (self.mpi.abort)(self.mpi.constants.comm_world, 1) };
    }

    fn now(&self) -> Duration {
        self.begin.elapsed()
    }

    fn record_progress(&self, operation: &str, step: u64) {
        termination_notice::record_progress(operation, step);
    }

    fn print_notice(&self, notice: &str) {
        say(format_args!("on rank {} of {}: {notice}", self.rank, self.ranks));
    }

    fn pause(&self, spins: u32) {
        back_off(spins);
    }
}

impl<H: Handle> Mpi<H> {
    /// Starts to receive the next control message, if one has arrived.
    fn probe_control(&self) -> WireResult<Option<(usize, Transfer<H>)>> {
        let (mut flag, mut status, constants) = (0, Status::default(), &self.mpi.constants);
        // SAFETY: a live communicator, and room for the answer.
        self.mpi.checked(unsafe {
            (self.mpi.iprobe)(constants.any_source, CONTROL_TAG, self.control, &mut flag, &mut status)
        })?;
        if flag == 0 {
            return Ok(None);
        }
        let mut count = 0;
        // SAFETY: the status of a message of bytes.
        self.mpi.checked(unsafe { (self.mpi.get_count)(&status, constants.byte, &mut count) })?;
        let from = constants.source(&status) as usize;
        Ok(Some((from, self.start_control(from, vec![0; count as usize], None)?)))
    }
}

impl<H: Handle> OpenTransfers<H> {
    fn begin(&mut self, transfer: Transfer<H>) -> Request {
        self.next += 1;
        let request = Request(self.next);
        self.transfers.insert(request, transfer);
        request
    }

    /// Drops control messages that were sent.
    fn drop_sent_control(&mut self, mpi: &Functions<H>) {
        while let Some(first) = self.control_sends.front_mut() {
            match first.test(mpi) {
                Ok(false) => return,
                // A failed send shows again as a missing answer.
                Ok(true) | Err(_) => drop(self.control_sends.pop_front()),
            }
        }
    }
}

/// A communicator of our own on which errors are returned. Never freed, because it may outlive MPI_Finalize.
fn duplicate<H: Handle>(mpi: &Functions<H>, comm: H) -> Result<H> {
    // Any handle: the call replaces it.
    let mut own = comm;
    // SAFETY: a live communicator; all its ranks come here.
    mpi.check(unsafe { (mpi.comm_dup)(comm, &mut own) })?;
    // SAFETY: the communicator just made.
    mpi.check(unsafe { (mpi.comm_set_errhandler)(own, mpi.constants.errors_return) })?;
    Ok(own)
}

fn largest_tag<H: Handle>(mpi: &Functions<H>, comm: H) -> Result<u32> {
    let (mut value, mut found): (*mut c_int, c_int) = (std::ptr::null_mut(), 0);
    // SAFETY: the attribute's value is a pointer to an int that the library owns.
    mpi.check(unsafe {
        (mpi.comm_get_attr)(comm, mpi.constants.tag_ub, (&raw mut value).cast(), &mut found)
    })?;
    if found == 0 || value.is_null() {
        return Ok(32767);
    }
    // SAFETY: found, so it points to the library's int.
    Ok(unsafe { *value }.max(32767) as u32)
}
