//! Messages over the connections of a job. Every frame has a header of 16 bytes: its length, its tag, and
//! whether it is a control message. Sends and receives go on whenever a call of the wire is made.
//!
//! Contract of the unsafe code: lent memory is read or written within calls of the wire alone, while its
//! [`LentMemory`] is held, whose lender leaves it alone meanwhile.

use std::collections::{HashMap, VecDeque};
use std::io::{ErrorKind, IoSlice, Read};
use std::net::TcpStream;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::launch::{Launch, MOST_RANKS, Rendezvous};
use super::mesh;
use crate::config::say;
use crate::device::LentMemory;
use crate::error::{Error, Result};
use crate::wire::interface::{Outcome, Request, Wire, WireError, back_off};
use crate::wire::job::termination_notice;

const HEADER: usize = 16;

/// One rank's end of the connections.
pub struct Sockets {
    rank: usize,
    begin: Instant,
    state: Mutex<State>,
}

struct State {
    /// By rank; none for this one.
    peers: Vec<Option<Peer>>,
    last: u64,
    finished: HashMap<Request, Outcome>,
    control: VecDeque<(usize, Vec<u8>)>,
}

struct Peer {
    stream: TcpStream,
    outgoing: VecDeque<Outgoing>,
    /// Receives that get the next messages, in order.
    posted: VecDeque<(Request, Memory)>,
    /// Messages that arrived before their receive was posted. Not empty only while `posted` is.
    early: VecDeque<(u32, Vec<u8>)>,
    ahead: ReadAhead,
    header: ([u8; HEADER], usize),
    incoming: Option<Incoming>,
    /// Why nothing more comes from this rank or reaches it.
    lost: Option<String>,
}

struct Outgoing {
    header: [u8; HEADER],
    memory: Memory,
    written: usize,
    /// None for a control message.
    request: Option<Request>,
}

/// Bytes that were read before they were needed: a header and the short message behind it take one call of
/// the system, and no further one finds that there is nothing more.
struct ReadAhead {
    bytes: Box<[u8]>,
    /// Of these, those that were not used yet.
    rest: Range<usize>,
    /// Whether the last call took all that was there.
    is_drained: bool,
}

/// Longer pieces are read where they belong.
const READ_AHEAD: usize = 4096;

impl ReadAhead {
    fn read(&mut self, mut stream: &TcpStream, place: &mut [u8]) -> std::io::Result<usize> {
        if self.rest.is_empty() {
            if place.len() >= READ_AHEAD {
                return stream.read(place);
            }
            if std::mem::take(&mut self.is_drained) {
                return Err(ErrorKind::WouldBlock.into());
            }
            let bytes = stream.read(&mut self.bytes)?;
            (self.rest, self.is_drained) = (0..bytes, 0 < bytes && bytes < READ_AHEAD);
        }
        let bytes = self.rest.len().min(place.len());
        place[..bytes].copy_from_slice(&self.bytes[self.rest.start..][..bytes]);
        self.rest.start += bytes;
        Ok(bytes)
    }
}

/// A message whose header has arrived.
struct Incoming {
    kind: Kind,
    tag: u32,
    memory: Memory,
    bytes: usize,
    filled: usize,
}

#[derive(Clone, Copy)]
enum Kind {
    Control,
    /// Data, for a receive if one was posted.
    Data(Option<Request>),
}

enum Memory {
    Own(Vec<u8>),
    Lent(LentMemory),
}

impl Memory {
    fn len(&self) -> usize {
        match self {
            Memory::Own(bytes) => bytes.len(),
            Memory::Lent(memory) => memory.bytes(),
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Memory::Own(bytes) => bytes,
            // SAFETY: the module's contract; the host's memory, of this length.
            Memory::Lent(memory) => unsafe {
                let begin = std::ptr::with_exposed_provenance(memory.address());
                std::slice::from_raw_parts(begin, memory.bytes())
            },
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Memory::Own(bytes) => bytes,
            // SAFETY: as above; nobody else uses what is received into.
            Memory::Lent(memory) => unsafe {
                let begin = std::ptr::with_exposed_provenance_mut(memory.address());
                std::slice::from_raw_parts_mut(begin, memory.bytes())
            },
        }
    }
}

/// The outcome of a receive into some memory with a message.
fn arrival(memory: Memory, tag: u32, bytes: Vec<u8>) -> Outcome {
    match memory {
        Memory::Own(_) => Outcome::Arrived { tag, bytes },
        mut memory @ Memory::Lent(_) => {
            // Of a message of another length the caller hears the length.
            let common = bytes.len().min(memory.len());
            memory.bytes_mut()[..common].copy_from_slice(&bytes[..common]);
            Outcome::ArrivedInPlace { tag, bytes: bytes.len() }
        }
    }
}

impl Sockets {
    /// Meets the other ranks of a job and connects to each. Collective.
    ///
    /// # Errors
    /// Ranks that do not come within the deadline, strangers, addresses that cannot be used.
    pub fn connect(launch: &Launch, deadline: Duration) -> Result<Sockets> {
        let Launch { rank, size, rendezvous } = launch;
        if rank >= size || *size > MOST_RANKS {
            let expected = format!("a rank below {size}, and at most {MOST_RANKS} ranks");
            let given = format!("rank {rank} of {size}");
            return Err(Error::invalid("connecting ranks", expected, given, "count ranks from 0"));
        }
        let streams = mesh::connect(launch, deadline).map_err(|error| {
            let expected = format!("{size} ranks at one place");
            let given = format!("{rendezvous:?} on rank {rank}: {error}");
            Error::invalid("connecting ranks", expected, given, remedy(rendezvous, &error))
        })?;
        let peers = streams.into_iter().map(|stream| stream.map(Peer::new)).collect();
        let state = State { peers, last: 0, finished: HashMap::new(), control: VecDeque::new() };
        Ok(Sockets { rank: *rank, begin: Instant::now(), state: Mutex::new(state) })
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start_send(&self, to: usize, tag: u32, memory: Memory) -> std::result::Result<Request, WireError> {
        let mut state = self.locked();
        let request = state.new_request();
        state.send(to, tag, memory, Some(request))?;
        Ok(request)
    }

    fn start_receive(&self, from: usize, memory: Memory) -> std::result::Result<Request, WireError> {
        let mut state = self.locked();
        let request = state.new_request();
        let State { peers, finished, .. } = &mut *state;
        let peer = peers[from].as_mut().ok_or_else(to_itself)?;
        match peer.early.pop_front() {
            Some((tag, bytes)) => drop(finished.insert(request, arrival(memory, tag, bytes))),
            None => peer.posted.push_back((request, memory)),
        }
        Ok(request)
    }
}

/// The remedy for ranks that did not find each other.
fn remedy(rendezvous: &Rendezvous, error: &std::io::Error) -> &'static str {
    match (error.kind(), rendezvous) {
        (ErrorKind::AddrInUse, _) => {
            "another program, or an earlier job, listens there: end it, or choose another port"
        }
        (ErrorKind::AddrNotAvailable, _) => "name an address of the machine that rank 0 runs on",
        (ErrorKind::AlreadyExists, _) => "start each rank once",
        (ErrorKind::InvalidInput, _) => "name HOST:PORT of rank 0",
        (ErrorKind::Unsupported, _) => "set PARTITA_SECRET for all ranks, or pass a secret",
        (ErrorKind::PermissionDenied, _) if error.raw_os_error().is_some() => {
            "choose a port, or a folder, that this user may use"
        }
        (ErrorKind::PermissionDenied, Rendezvous::Address { .. }) => {
            "give all ranks one secret (PARTITA_SECRET), and each job a port of its own"
        }
        _ => "start all ranks with one size, address and secret, or raise PARTITA_DEADLINE_SECONDS",
    }
}

/// Writes as `TcpStream::write_vectored`, without the signal (SIGPIPE) by which the system would end a
/// program that does not ignore it, as Python does, where the other end is gone.
#[cfg(target_os = "linux")]
fn write_parts(stream: &TcpStream, parts: &[IoSlice<'_>]) -> std::io::Result<usize> {
    use std::os::fd::AsRawFd;
    // SAFETY: all zeros is a message of nothing.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (parts.as_ptr().cast_mut().cast(), parts.len());
    // SAFETY: an open socket; an `IoSlice` is an `iovec`, and its memory is borrowed and only read.
    let sent = unsafe { libc::sendmsg(stream.as_raw_fd(), &message, libc::MSG_NOSIGNAL) };
    usize::try_from(sent).map_err(|_| std::io::Error::last_os_error())
}

/// Elsewhere the standard library asks for no such signal, where the system offers that.
#[cfg(not(target_os = "linux"))]
fn write_parts(mut stream: &TcpStream, parts: &[IoSlice<'_>]) -> std::io::Result<usize> {
    use std::io::Write as _;
    stream.write_vectored(parts)
}

fn to_itself() -> WireError {
    WireError("a rank sends itself no messages".to_owned())
}

impl State {
    fn new_request(&mut self) -> Request {
        self.last += 1;
        Request(self.last)
    }

    fn send(
        &mut self,
        to: usize,
        tag: u32,
        memory: Memory,
        request: Option<Request>,
    ) -> std::result::Result<(), WireError> {
        let peer = self.peers[to].as_mut().ok_or_else(to_itself)?;
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(&(memory.len() as u64).to_le_bytes());
        header[8..12].copy_from_slice(&tag.to_le_bytes());
        header[12] = u8::from(request.is_none());
        peer.outgoing.push_back(Outgoing { header, memory, written: 0, request });
        peer.write(&mut self.finished);
        Ok(())
    }

    /// Writes and reads what can be without waiting.
    fn progress(&mut self) {
        let State { peers, finished, control, .. } = self;
        for (rank, peer) in peers.iter_mut().enumerate() {
            if let Some(peer) = peer.as_mut().filter(|peer| peer.lost.is_none()) {
                peer.write(finished);
                peer.read(|message| control.push_back((rank, message)), finished);
            }
        }
    }
}

/// The outcome of a call on a socket.
enum Step {
    Moved(usize),
    Later,
}

impl Peer {
    fn new(stream: TcpStream) -> Peer {
        Peer {
            stream,
            outgoing: VecDeque::new(),
            posted: VecDeque::new(),
            early: VecDeque::new(),
            ahead: ReadAhead { bytes: vec![0; READ_AHEAD].into(), rest: 0..0, is_drained: false },
            header: ([0; HEADER], 0),
            incoming: None,
            lost: None,
        }
    }

    /// The outcome of a call; a connection that has ended is remembered.
    fn step(&mut self, outcome: std::io::Result<usize>) -> Step {
        match outcome {
            Ok(0) => self.lost = Some("its connection is closed: its process has ended".to_owned()),
            Ok(bytes) => return Step::Moved(bytes),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => self.lost = Some(format!("its connection is broken: {error}")),
        }
        Step::Later
    }

    fn write(&mut self, finished: &mut HashMap<Request, Outcome>) {
        while let (Some(frame), None) = (self.outgoing.front(), &self.lost) {
            let (in_header, in_body) = (frame.written.min(HEADER), frame.written.saturating_sub(HEADER));
            let rest =
                [IoSlice::new(&frame.header[in_header..]), IoSlice::new(&frame.memory.bytes()[in_body..])];
            let outcome = write_parts(&self.stream, &rest);
            let Step::Moved(bytes) = self.step(outcome) else { return };
            let Some(frame) = self.outgoing.front_mut() else { return };
            frame.written += bytes;
            if frame.written < HEADER + frame.memory.len() {
                continue;
            }
            if let Some(Outgoing { memory, request: Some(request), .. }) = self.outgoing.pop_front() {
                let reuse = if let Memory::Own(bytes) = memory { bytes } else { Vec::new() };
                finished.insert(request, Outcome::Sent(reuse));
            }
        }
    }

    fn read(&mut self, mut control: impl FnMut(Vec<u8>), finished: &mut HashMap<Request, Outcome>) {
        while self.lost.is_none() {
            let Some(incoming) = &mut self.incoming else {
                let (bytes, filled) = &mut self.header;
                let outcome = self.ahead.read(&self.stream, &mut bytes[*filled..]);
                let Step::Moved(more) = self.step(outcome) else { return };
                self.header.1 += more;
                if self.header.1 == HEADER {
                    self.begin_message();
                }
                continue;
            };
            if incoming.filled < incoming.bytes {
                let place = &mut incoming.memory.bytes_mut()[incoming.filled..incoming.bytes];
                let outcome = self.ahead.read(&self.stream, place);
                let Step::Moved(more) = self.step(outcome) else { return };
                if let Some(incoming) = &mut self.incoming {
                    incoming.filled += more;
                }
                continue;
            }
            let Some(Incoming { kind, tag, memory, bytes, .. }) = self.incoming.take() else { return };
            match (kind, memory) {
                (Kind::Control, Memory::Own(message)) => control(message),
                (Kind::Data(Some(request)), Memory::Lent(_)) => {
                    finished.insert(request, Outcome::ArrivedInPlace { tag, bytes });
                }
                (Kind::Data(Some(request)), Memory::Own(bytes)) => {
                    finished.insert(request, Outcome::Arrived { tag, bytes });
                }
                // Its receive was posted meanwhile, or will be.
                (Kind::Data(None), Memory::Own(bytes)) => match self.posted.pop_front() {
                    Some((request, memory)) => drop(finished.insert(request, arrival(memory, tag, bytes))),
                    None => self.early.push_back((tag, bytes)),
                },
                (Kind::Control | Kind::Data(None), Memory::Lent(_)) => {}
            }
        }
    }

    /// Makes room for the message whose header is complete: in the memory of a receive that fits it.
    fn begin_message(&mut self) {
        let (header, _) = std::mem::replace(&mut self.header, ([0; HEADER], 0));
        let length = header.first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes)) as usize;
        let tag = header[8..].first_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let fits = |memory: &Memory| match memory {
            Memory::Own(_) => true,
            Memory::Lent(lent) => lent.bytes() >= length,
        };
        let is_control = header[12] == 1;
        let target = self.posted.pop_front_if(|(_, memory)| !is_control && fits(memory));
        let (kind, memory) = match target {
            Some((request, memory)) => (Kind::Data(Some(request)), memory),
            None if is_control => (Kind::Control, Memory::Own(Vec::new())),
            None => (Kind::Data(None), Memory::Own(Vec::new())),
        };
        let memory = match memory {
            Memory::Own(mut bytes) => {
                bytes.resize(length, 0);
                Memory::Own(bytes)
            }
            lent @ Memory::Lent(_) => lent,
        };
        self.incoming = Some(Incoming { kind, tag, memory, bytes: length, filled: 0 });
    }
}

impl Wire for Sockets {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.locked().peers.len()
    }

    fn name(&self) -> String {
        "TCP".to_owned()
    }

    fn max_tag(&self) -> u32 {
        u32::MAX
    }

    fn send(&self, to: usize, tag: u32, bytes: Vec<u8>) -> std::result::Result<Request, WireError> {
        self.start_send(to, tag, Memory::Own(bytes))
    }

    fn receive(&self, from: usize, memory: Vec<u8>) -> std::result::Result<Request, WireError> {
        self.start_receive(from, Memory::Own(memory))
    }

    fn takes_host_memory(&self) -> bool {
        true
    }

    fn send_from(&self, to: usize, tag: u32, memory: LentMemory) -> std::result::Result<Request, WireError> {
        self.start_send(to, tag, Memory::Lent(memory))
    }

    fn receive_into(&self, from: usize, memory: LentMemory) -> std::result::Result<Request, WireError> {
        self.start_receive(from, Memory::Lent(memory))
    }

    fn test(&self, request: Request) -> std::result::Result<Outcome, WireError> {
        let mut state = self.locked();
        // A message that has arrived needs no call of the system.
        if !state.finished.contains_key(&request) {
            state.progress();
        }
        Ok(state.finished.remove(&request).unwrap_or(Outcome::Pending))
    }

    fn send_control(&self, to: usize, message: &[u8]) -> std::result::Result<(), WireError> {
        self.locked().send(to, 0, Memory::Own(message.to_vec()), None)
    }

    fn receive_control(&self) -> std::result::Result<Option<(usize, Vec<u8>)>, WireError> {
        let mut state = self.locked();
        if state.control.is_empty() {
            state.progress();
        }
        Ok(state.control.pop_front())
    }

    fn lost(&self) -> Vec<(usize, String)> {
        let state = self.locked();
        let lost = |(rank, peer): (usize, &Option<Peer>)| Some((rank, peer.as_ref()?.lost.clone()?));
        state.peers.iter().enumerate().filter_map(lost).collect()
    }

    fn now(&self) -> Duration {
        self.begin.elapsed()
    }

    fn record_progress(&self, operation: &str, step: u64) {
        termination_notice::record_progress(operation, step);
    }

    fn print_notice(&self, notice: &str) {
        say(format_args!("on rank {} of {}: {notice}", self.rank, self.ranks()));
    }

    fn pause(&self, spins: u32) {
        back_off(spins);
    }
}
