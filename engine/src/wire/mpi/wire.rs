//! [`Wire`] over MPI: `MPI_Isend`, `MPI_Irecv` and `MPI_Test` only. Every return code is checked, and
//! messages above a limit are split so that no count is narrowed. Data and control messages have one
//! duplicate of the communicator each.

use std::collections::{HashMap, VecDeque};
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mpi::ffi;

use super::library::{Comm, check, checked, library_version, takes_device_pointers};
use crate::config::{config, say};
use crate::device::LentMemory;
use crate::error::Result;
use crate::wire::interface::{Outcome, Request, Wire, WireError, back_off};
use crate::wire::job::termination_notice;

type WireResult<T> = std::result::Result<T, WireError>;

/// The tag of all control messages, which have a communicator of their own.
const CONTROL_TAG: c_int = 0;

/// One process's end of an MPI communicator.
pub struct Mpi {
    data: Comm,
    control: Comm,
    rank: usize,
    ranks: usize,
    max_tag: u32,
    longest: usize,
    name: String,
    begin: Instant,
    open: Mutex<OpenTransfers>,
}

#[derive(Default)]
struct OpenTransfers {
    next: u64,
    transfers: HashMap<Request, Transfer>,
    control_sends: VecDeque<Transfer>,
    control_receive: Option<(usize, Transfer)>,
}

/// A message in as many fragments as `PARTITA_MPI_MAX_BYTES` requires. The library reads or writes the memory
/// until all are complete.
struct Transfer {
    fragments: Vec<(ffi::MPI_Request, usize)>,
    done: usize,
    memory: TransferMemory,
    receives: bool,
    tag: u32,
    /// How many bytes have come.
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
unsafe impl Send for Transfer {}

impl Drop for Transfer {
    fn drop(&mut self) {
        if self.done < self.fragments.len() {
            // The library may still use the memory, so it is never freed.
            std::mem::forget(std::mem::replace(&mut self.memory, TransferMemory::Own(Vec::new())));
        }
    }
}

impl Mpi {
    /// All ranks of a communicator call it; it is duplicated.
    pub(super) fn over(comm: Comm) -> Result<Mpi> {
        let (data, control) = (duplicate(comm)?, duplicate(comm)?);
        let (mut rank, mut ranks) = (0, 0);
        // SAFETY: a live communicator.
        check(unsafe { ffi::MPI_Comm_rank(data.0, &mut rank) })?;
        // SAFETY: as before.
        check(unsafe { ffi::MPI_Comm_size(data.0, &mut ranks) })?;
        let version = library_version();
        Ok(Mpi {
            data,
            control,
            rank: rank as usize,
            ranks: ranks as usize,
            max_tag: largest_tag(data)?,
            longest: config().mpi_max_bytes,
            name: version.split(['\n', ',']).next().unwrap_or("MPI").trim().to_owned(),
            begin: Instant::now(),
            open: Mutex::default(),
        })
    }

    fn open(&self) -> MutexGuard<'_, OpenTransfers> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a send with a tag, or a receive, in fragments of at most `longest` bytes.
    fn start(
        &self,
        (comm, longest): (Comm, usize),
        peer: usize,
        memory: TransferMemory,
        sends: Option<u32>,
    ) -> WireResult<Transfer> {
        let mut transfer = Transfer::of(memory, sends.is_none(), sends.unwrap_or(0));
        let (begin, peer) = (transfer.memory.begin(), peer as c_int);
        for (offset, bytes) in fragments(transfer.memory.bytes(), longest) {
            let (at, count, mut request) =
                (begin.wrapping_add(offset).cast(), bytes as c_int, null_request());
            // SAFETY: the memory lives in the transfer until it is over; the count is at most the limit.
            checked(unsafe {
                let (byte, any) = (ffi::RSMPI_UINT8_T, ffi::RSMPI_ANY_TAG);
                match sends {
                    Some(tag) => ffi::MPI_Isend(at, count, byte, peer, tag as c_int, comm.0, &mut request),
                    None => ffi::MPI_Irecv(at, count, byte, peer, any, comm.0, &mut request),
                }
            })?;
            transfer.fragments.push((request, bytes));
        }
        Ok(transfer)
    }

    fn start_data(&self, peer: usize, memory: TransferMemory, sends: Option<u32>) -> WireResult<Request> {
        let mut open = self.open();
        let transfer = self.start((self.data, self.longest), peer, memory, sends)?;
        Ok(open.begin(transfer))
    }

    /// Control messages are short, and never split.
    fn start_control(&self, peer: usize, bytes: Vec<u8>, sends: Option<u32>) -> WireResult<Transfer> {
        self.start((self.control, usize::MAX), peer, TransferMemory::Own(bytes), sends)
    }
}

/// The offsets and lengths of a message's fragments; one of nothing for an empty message.
fn fragments(bytes: usize, longest: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = bytes.div_ceil(longest).max(1);
    (0..count).map(move |k| (k * longest, (bytes - k * longest).min(longest)))
}

impl Transfer {
    fn of(memory: TransferMemory, receives: bool, tag: u32) -> Transfer {
        Transfer { fragments: Vec::new(), done: 0, memory, receives, tag, arrived: 0 }
    }

    /// Whether it is over.
    fn test(&mut self) -> WireResult<bool> {
        while let Some((request, expected)) = self.fragments.get_mut(self.done) {
            let (mut flag, mut status) = (0, MaybeUninit::<ffi::MPI_Status>::zeroed());
            // SAFETY: a request that is not over, and room for its status.
            checked(unsafe { ffi::MPI_Test(request, &mut flag, status.as_mut_ptr()) })?;
            if flag == 0 {
                return Ok(false);
            }
            self.done += 1;
            if !self.receives {
                continue;
            }
            // SAFETY: zeroes are a status, and the test wrote it.
            let status = unsafe { status.assume_init() };
            let (mut count, expected) = (0, *expected);
            // SAFETY: the status of a receive of this type.
            checked(unsafe { ffi::MPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut count) })?;
            let tag = status.MPI_TAG as u32;
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

impl Wire for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn name(&self) -> String {
        self.name.clone()
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
        takes_device_pointers(config().cuda_aware_mpi)
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
        if !transfer.test()? {
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
        if mpi::environment::is_finalized() {
            return Ok(());
        }
        let mut open = self.open();
        let transfer = self.start_control(to, message.to_vec(), Some(CONTROL_TAG as u32))?;
        open.control_sends.push_back(transfer);
        open.drop_sent_control();
        Ok(())
    }

    fn receive_control(&self) -> WireResult<Option<(usize, Vec<u8>)>> {
        let mut open = self.open();
        open.drop_sent_control();
        if open.control_receive.is_none() {
            open.control_receive = self.probe_control()?;
        }
        let Some((_, transfer)) = open.control_receive.as_mut() else { return Ok(None) };
        if !transfer.test()? {
            return Ok(None);
        }
        Ok(open.control_receive.take().map(|(from, mut received)| (from, received.memory.take())))
    }

    fn is_over(&self) -> bool {
        mpi::environment::is_finalized()
    }

    fn end_all(&self) {
        // SAFETY: initialised and not finalized, because the wire is not over; the call does not come back.
        unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, 1) };
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

impl Mpi {
    /// Starts to receive the next control message, if one has arrived.
    fn probe_control(&self) -> WireResult<Option<(usize, Transfer)>> {
        let (mut flag, mut status) = (0, MaybeUninit::<ffi::MPI_Status>::zeroed());
        // SAFETY: a live communicator, and room for the answer.
        checked(unsafe {
            ffi::MPI_Iprobe(
                ffi::RSMPI_ANY_SOURCE,
                CONTROL_TAG,
                self.control.0,
                &mut flag,
                status.as_mut_ptr(),
            )
        })?;
        if flag == 0 {
            return Ok(None);
        }
        // SAFETY: zeroes are a status, and the probe wrote it.
        let status = unsafe { status.assume_init() };
        let mut count = 0;
        // SAFETY: the status of a message of bytes.
        checked(unsafe { ffi::MPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut count) })?;
        let from = status.MPI_SOURCE as usize;
        Ok(Some((from, self.start_control(from, vec![0; count as usize], None)?)))
    }
}

impl OpenTransfers {
    fn begin(&mut self, transfer: Transfer) -> Request {
        self.next += 1;
        let request = Request(self.next);
        self.transfers.insert(request, transfer);
        request
    }

    /// Drops control messages that were sent.
    fn drop_sent_control(&mut self) {
        while let Some(first) = self.control_sends.front_mut() {
            match first.test() {
                Ok(false) => return,
                // A failed send shows again as a missing answer.
                Ok(true) | Err(_) => drop(self.control_sends.pop_front()),
            }
        }
    }
}

fn null_request() -> ffi::MPI_Request {
    // SAFETY: a constant of the library.
    unsafe { ffi::RSMPI_REQUEST_NULL }
}

/// A communicator of our own on which errors are returned. Never freed, because it may outlive MPI_Finalize.
fn duplicate(comm: Comm) -> Result<Comm> {
    // SAFETY: a constant of the library.
    let mut own = unsafe { ffi::RSMPI_COMM_NULL };
    // SAFETY: a live communicator; all its ranks come here.
    check(unsafe { ffi::MPI_Comm_dup(comm.0, &mut own) })?;
    // SAFETY: the communicator just made.
    check(unsafe { ffi::MPI_Comm_set_errhandler(own, ffi::RSMPI_ERRORS_RETURN) })?;
    Ok(Comm(own))
}

fn largest_tag(comm: Comm) -> Result<u32> {
    let (mut value, mut found): (*mut c_int, c_int) = (std::ptr::null_mut(), 0);
    // SAFETY: the attribute's value is a pointer to an int that the library owns.
    check(unsafe {
        let to = (&raw mut value).cast();
        ffi::MPI_Comm_get_attr(comm.0, ffi::MPI_TAG_UB as c_int, to, &mut found)
    })?;
    if found == 0 || value.is_null() {
        return Ok(32767);
    }
    // SAFETY: found, so it points to the library's int.
    Ok(unsafe { *value }.max(32767) as u32)
}
