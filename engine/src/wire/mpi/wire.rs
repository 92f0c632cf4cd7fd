//! [`Wire`] over MPI: Isend, Irecv and Test only, every return code looked at, messages split where they are
//! longer than a limit so that no count is narrowed. Two duplicates of the communicator keep data and news
//! apart.

use std::collections::{HashMap, VecDeque};
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mpi::ffi;

use super::super::{Broken, InPlace, Outcome, Request, Wire, doze};
use super::{aware, last_words};
use crate::config::{config, say};
use crate::error::{Error, Result};

/// A communicator. Its handle may be a pointer.
#[derive(Clone, Copy)]
pub(super) struct Comm(pub ffi::MPI_Comm);

// SAFETY: a handle that the library looks up; all calls with it are made under one lock.
unsafe impl Send for Comm {}
// SAFETY: as for Send.
unsafe impl Sync for Comm {}

/// Data travels under marks; news under this one.
const NEWS: c_int = 0;

/// One process's end of an MPI communicator.
pub struct Mpi {
    data: Comm,
    news: Comm,
    rank: usize,
    ranks: usize,
    max_mark: u32,
    longest: usize,
    name: String,
    begin: Instant,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: u64,
    transfers: HashMap<Request, Transfer>,
    told: VecDeque<Transfer>,
    hearing: Option<(usize, Transfer)>,
}

/// A message in as many pieces as the limit asks for. The library reads or writes the memory until all are
/// over.
struct Transfer {
    pieces: Vec<(ffi::MPI_Request, usize)>,
    done: usize,
    memory: Memory,
    receives: bool,
    mark: u32,
    /// How many bytes have come.
    arrived: usize,
}

/// What a transfer reads or writes.
enum Memory {
    Own(Vec<u8>),
    InPlace(InPlace),
}

impl Memory {
    fn bytes(&self) -> usize {
        match self {
            Memory::Own(bytes) => bytes.len(),
            Memory::InPlace(place) => place.bytes,
        }
    }

    /// Where it begins, as the library is told.
    fn begin(&mut self) -> *mut u8 {
        match self {
            Memory::Own(bytes) => bytes.as_mut_ptr(),
            Memory::InPlace(place) => std::ptr::with_exposed_provenance_mut(place.address),
        }
    }

    fn take(&mut self) -> Vec<u8> {
        match self {
            Memory::Own(bytes) => std::mem::take(bytes),
            Memory::InPlace(_) => Vec::new(),
        }
    }
}

// SAFETY: handles that the library looks up, and memory that this value owns; used under one lock.
unsafe impl Send for Transfer {}

impl Drop for Transfer {
    fn drop(&mut self) {
        if self.done < self.pieces.len() {
            // The library may still use the memory, so it is never freed.
            std::mem::forget(std::mem::replace(&mut self.memory, Memory::Own(Vec::new())));
        }
    }
}

/// An MPI return code as a result.
pub(super) fn check(code: c_int) -> Result<()> {
    checked(code).map_err(|broken| Error::of_driver("MPI", broken))
}

fn checked(code: c_int) -> std::result::Result<(), Broken> {
    if code == 0 {
        return Ok(());
    }
    let (mut text, mut length) = ([0u8; 1024], 0);
    // SAFETY: longer than MPI_MAX_ERROR_STRING of every library.
    unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast(), &mut length) };
    let words = String::from_utf8_lossy(&text[..length.clamp(0, 1024) as usize]).into_owned();
    Err(Broken(format!("MPI error {code}: {}", words.trim_end_matches('\0'))))
}

impl Mpi {
    /// All ranks of a communicator call it; it is duplicated.
    pub(super) fn over(comm: Comm) -> Result<Mpi> {
        let (data, news) = (duplicate(comm)?, duplicate(comm)?);
        let (mut rank, mut ranks) = (0, 0);
        // SAFETY: a live communicator.
        check(unsafe { ffi::MPI_Comm_rank(data.0, &mut rank) })?;
        // SAFETY: as before.
        check(unsafe { ffi::MPI_Comm_size(data.0, &mut ranks) })?;
        let version = super::library_version();
        Ok(Mpi {
            data,
            news,
            rank: rank as usize,
            ranks: ranks as usize,
            max_mark: largest_tag(data)?,
            longest: config().mpi_max_bytes,
            name: version.split(['\n', ',']).next().unwrap_or("MPI").trim().to_owned(),
            begin: Instant::now(),
            open: Mutex::default(),
        })
    }

    pub(super) fn rank_and_count(&self) -> (usize, usize) {
        (self.rank, self.ranks)
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn isend(&self, to: usize, mark: u32, memory: Memory) -> std::result::Result<Transfer, Broken> {
        let mut transfer = Transfer::of(memory, false, mark);
        let begin = transfer.memory.begin();
        for (offset, bytes) in self.pieces(transfer.memory.bytes()) {
            let mut request = null_request();
            // SAFETY: the memory lives in the transfer until it is over; the count is at most the limit.
            checked(unsafe {
                let from = begin.wrapping_add(offset).cast_const().cast();
                let (bytes, to, mark) = (bytes as c_int, to as c_int, mark as c_int);
                ffi::MPI_Isend(from, bytes, ffi::RSMPI_UINT8_T, to, mark, self.data.0, &mut request)
            })?;
            transfer.pieces.push((request, bytes));
        }
        Ok(transfer)
    }

    fn irecv(&self, from: usize, memory: Memory) -> std::result::Result<Transfer, Broken> {
        let mut transfer = Transfer::of(memory, true, 0);
        let begin = transfer.memory.begin();
        for (offset, bytes) in self.pieces(transfer.memory.bytes()) {
            let mut request = null_request();
            // SAFETY: the memory lives in the transfer until it is over; the count is at most the limit.
            checked(unsafe {
                let to = begin.wrapping_add(offset).cast();
                let (bytes, from) = (bytes as c_int, from as c_int);
                let any = ffi::RSMPI_ANY_TAG;
                ffi::MPI_Irecv(to, bytes, ffi::RSMPI_UINT8_T, from, any, self.data.0, &mut request)
            })?;
            transfer.pieces.push((request, bytes));
        }
        Ok(transfer)
    }

    fn pieces(&self, bytes: usize) -> impl Iterator<Item = (usize, usize)> {
        let longest = self.longest;
        let count = bytes.div_ceil(longest).max(1);
        (0..count).map(move |k| (k * longest, (bytes - k * longest).min(longest)))
    }
}

impl Transfer {
    fn of(memory: Memory, receives: bool, mark: u32) -> Transfer {
        Transfer { pieces: Vec::new(), done: 0, memory, receives, mark, arrived: 0 }
    }

    /// Whether it is over.
    fn test(&mut self) -> std::result::Result<bool, Broken> {
        while let Some((request, expected)) = self.pieces.get_mut(self.done) {
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
            let mark = status.MPI_TAG as u32;
            let first = self.done == 1;
            if count as usize != expected && self.pieces.len() > 1 || !first && mark != self.mark {
                let what = format!("{count} bytes marked {mark:x} came where {expected} belong");
                return Err(Broken(format!("{what}; their sender does something else")));
            }
            self.mark = mark;
            self.arrived += count as usize;
            if let (1, Memory::Own(bytes)) = (self.pieces.len(), &mut self.memory) {
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

    fn max_mark(&self) -> u32 {
        self.max_mark
    }

    fn send(&self, to: usize, mark: u32, bytes: Vec<u8>) -> std::result::Result<Request, Broken> {
        let mut open = self.open();
        let transfer = self.isend(to, mark, Memory::Own(bytes))?;
        Ok(open.begin(transfer))
    }

    fn receive(&self, from: usize, memory: Vec<u8>) -> std::result::Result<Request, Broken> {
        let mut open = self.open();
        let transfer = self.irecv(from, Memory::Own(memory))?;
        Ok(open.begin(transfer))
    }

    fn takes_host_memory(&self) -> bool {
        true
    }

    fn takes_device_memory(&self) -> std::result::Result<(), String> {
        aware::word(config().cuda_aware_mpi)
    }

    fn send_from(&self, to: usize, mark: u32, memory: InPlace) -> std::result::Result<Request, Broken> {
        let mut open = self.open();
        let transfer = self.isend(to, mark, Memory::InPlace(memory))?;
        Ok(open.begin(transfer))
    }

    fn receive_into(&self, from: usize, memory: InPlace) -> std::result::Result<Request, Broken> {
        let mut open = self.open();
        let transfer = self.irecv(from, Memory::InPlace(memory))?;
        Ok(open.begin(transfer))
    }

    fn test(&self, request: Request) -> std::result::Result<Outcome, Broken> {
        let mut open = self.open();
        let Some(transfer) = open.transfers.get_mut(&request) else { return Ok(Outcome::Pending) };
        if !transfer.test()? {
            return Ok(Outcome::Pending);
        }
        let Some(mut transfer) = open.transfers.remove(&request) else { return Ok(Outcome::Pending) };
        let (mark, arrived) = (transfer.mark, transfer.arrived);
        Ok(match (transfer.receives, &mut transfer.memory) {
            (true, Memory::InPlace(_)) => Outcome::Landed { mark, bytes: arrived },
            (true, Memory::Own(bytes)) => Outcome::Arrived { mark, bytes: std::mem::take(bytes) },
            (false, memory) => Outcome::Sent(memory.take()),
        })
    }

    fn tell(&self, to: usize, news: &[u8]) -> std::result::Result<(), Broken> {
        if super::is_finalized() {
            return Ok(());
        }
        let mut open = self.open();
        let whole = Transfer::of(Memory::Own(news.to_vec()), false, 0);
        let transfer = send_whole(self.news, to, whole)?;
        open.told.push_back(transfer);
        open.reap();
        Ok(())
    }

    fn hear(&self) -> std::result::Result<Option<(usize, Vec<u8>)>, Broken> {
        let mut open = self.open();
        open.reap();
        if open.hearing.is_none() {
            open.hearing = self.announced()?;
        }
        let Some((_, transfer)) = open.hearing.as_mut() else { return Ok(None) };
        if !transfer.test()? {
            return Ok(None);
        }
        Ok(open.hearing.take().map(|(from, mut heard)| (from, heard.memory.take())))
    }

    fn now(&self) -> Duration {
        self.begin.elapsed()
    }

    fn note(&self, operation: &str, step: u64) {
        last_words::note(operation, step);
    }

    fn alarm(&self, words: &str) {
        say(format_args!("on rank {} of {}: {words}", self.rank, self.ranks));
    }

    fn pause(&self, looks: u32) {
        doze(looks);
    }
}

impl Mpi {
    /// Begins to receive the next news, if some are there.
    fn announced(&self) -> std::result::Result<Option<(usize, Transfer)>, Broken> {
        let (mut flag, mut status) = (0, MaybeUninit::<ffi::MPI_Status>::zeroed());
        // SAFETY: a live communicator, and room for the answer.
        checked(unsafe {
            ffi::MPI_Iprobe(ffi::RSMPI_ANY_SOURCE, NEWS, self.news.0, &mut flag, status.as_mut_ptr())
        })?;
        if flag == 0 {
            return Ok(None);
        }
        // SAFETY: zeroes are a status, and the probe wrote it.
        let status = unsafe { status.assume_init() };
        let mut count = 0;
        // SAFETY: the status of a message of bytes.
        checked(unsafe { ffi::MPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut count) })?;
        let mut transfer = Transfer::of(Memory::Own(vec![0; count as usize]), true, 0);
        let mut request = null_request();
        let to = transfer.memory.begin().cast();
        // SAFETY: the memory lives in the transfer until it is over.
        checked(unsafe {
            let from = status.MPI_SOURCE;
            ffi::MPI_Irecv(to, count, ffi::RSMPI_UINT8_T, from, NEWS, self.news.0, &mut request)
        })?;
        transfer.pieces.push((request, count as usize));
        Ok(Some((status.MPI_SOURCE as usize, transfer)))
    }
}

impl Open {
    fn begin(&mut self, transfer: Transfer) -> Request {
        self.next += 1;
        let request = Request(self.next);
        self.transfers.insert(request, transfer);
        request
    }

    /// Forgets news that are gone.
    fn reap(&mut self) {
        while let Some(first) = self.told.front_mut() {
            match first.test() {
                Ok(false) => return,
                // What fails here fails again where its answer is awaited.
                Ok(true) | Err(_) => drop(self.told.pop_front()),
            }
        }
    }
}

fn send_whole(comm: Comm, to: usize, mut news: Transfer) -> std::result::Result<Transfer, Broken> {
    let mut request = null_request();
    let (from, bytes) = (news.memory.begin().cast_const().cast(), news.memory.bytes());
    // SAFETY: the memory lives in the transfer until it is over; news are short.
    checked(unsafe {
        let (bytes, to) = (bytes as c_int, to as c_int);
        ffi::MPI_Isend(from, bytes, ffi::RSMPI_UINT8_T, to, NEWS, comm.0, &mut request)
    })?;
    news.pieces.push((request, bytes));
    Ok(news)
}

fn null_request() -> ffi::MPI_Request {
    // SAFETY: a constant of the library.
    unsafe { ffi::RSMPI_REQUEST_NULL }
}

/// A communicator of our own on which errors are returned. Never freed: it may outlive MPI's end.
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
