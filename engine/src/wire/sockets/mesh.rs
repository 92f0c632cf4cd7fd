//! One connection between every two ranks. All ranks know where rank 0 listens; it collects where the others
//! listen and sends the list to all. Then each rank connects to those below it.

use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use super::handshake::{ANSWER, Challenge, greet};
use super::launch::{Launch, Rendezvous};
use crate::config::say;
use crate::interrupt;

/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(5);

/// The time that one rank's handshake may take; a stranger that stays silent is dropped after it.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// So many processes may be in their handshake at once.
const MOST_CALLERS: usize = 256;

/// So many refusals are printed at once; the error counts all.
const MOST_NOTICES: usize = 3;

/// This rank's connection to every other one, by rank.
///
/// # Errors
/// Ranks that do not come within the deadline, or have another secret; an address that cannot be used.
pub fn connect(launch: &Launch, deadline: Duration) -> Result<Vec<Option<TcpStream>>> {
    let until = Instant::now() + deadline;
    let mut mesh: Vec<Option<TcpStream>> = (0..launch.size).map(|_| None).collect();
    if launch.rank == 0 {
        let (listener, secret) = launch.rendezvous.open()?;
        let collected = collect(&listener, &secret, &mut mesh, until);
        launch.rendezvous.close();
        collected?;
    } else {
        join(launch, &mut mesh, until)?;
    }
    for stream in mesh.iter().flatten() {
        stream.set_read_timeout(None)?;
        stream.set_write_timeout(None)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
    }
    Ok(mesh)
}

/// Rank 0: takes all connections, then sends everybody's address to all.
fn collect(
    listener: &TcpListener,
    secret: &[u8],
    mesh: &mut [Option<TcpStream>],
    until: Instant,
) -> Result<()> {
    let mut addresses = vec![String::new(); mesh.len()];
    accept(listener, secret, 1, mesh, until)?;
    for (stream, address) in mesh.iter_mut().zip(&mut addresses) {
        if let Some(stream) = stream {
            stream.set_read_timeout(Some(HANDSHAKE))?;
            *address = receive_text(stream)?;
        }
    }
    let list = addresses.join("\n");
    mesh.iter_mut().flatten().try_for_each(|stream| send_text(stream, &list))
}

/// Another rank: connects to rank 0 and to those below, and takes the connections of those above.
fn join(launch: &Launch, mesh: &mut [Option<TcpStream>], until: Instant) -> Result<()> {
    let reached = || -> Result<(TcpStream, Vec<u8>)> {
        let (address, secret) = launch.rendezvous.find()?;
        Ok((reach(&address, &secret, launch.rank, until)?, secret))
    };
    let is_given = matches!(launch.rendezvous, Rendezvous::Address { .. });
    let (mut first, secret) = loop {
        match reached() {
            Ok(found) => break found,
            // A given address does not change. A file may be of an earlier job.
            Err(error) if is_given && error.kind() == ErrorKind::PermissionDenied => {
                return Err(Error::new(error.kind(), format!("rank 0 refuses it: {error}")));
            }
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
                return Err(error);
            }
            Err(error) => wait(until, PAUSE, || {
                Error::new(ErrorKind::TimedOut, format!("rank 0 does not answer ({error})"))
            })?,
        }
    };
    let listener = TcpListener::bind((first.local_addr()?.ip(), 0))?;
    send_text(&mut first, &listener.local_addr()?.to_string())?;
    // Rank 0 answers when all ranks have come.
    first.set_read_timeout(Some(left(until)))?;
    let list = receive_text(&mut first)?;
    let addresses: Vec<&str> = list.split('\n').collect();
    if addresses.len() != launch.size {
        let text =
            format!("rank 0 has {} ranks, this one was started as one of {}", addresses.len(), launch.size);
        return Err(Error::new(ErrorKind::InvalidData, text));
    }
    mesh[0] = Some(first);
    for rank in 1..launch.rank {
        mesh[rank] = Some(reach(addresses[rank], &secret, launch.rank, until)?);
    }
    accept(&listener, &secret, launch.rank + 1, mesh, until)
}

/// Connects to a rank that listens there.
fn reach(address: &str, secret: &[u8], rank: usize, until: Instant) -> Result<TcpStream> {
    let mut failure = Error::new(ErrorKind::NotFound, format!("{address} has no address"));
    for address in address.to_socket_addrs()? {
        check_secret(address.ip().is_loopback(), secret)?;
        match TcpStream::connect_timeout(&address, left(until)) {
            Ok(mut stream) => {
                stream.set_read_timeout(Some(left(until).min(HANDSHAKE)))?;
                greet(&mut stream, secret, rank)?;
                return Ok(stream);
            }
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// Refuses to talk to other machines without a secret: everybody there could connect.
pub fn check_secret(loopback: bool, secret: &[u8]) -> Result<()> {
    match loopback || !secret.is_empty() {
        true => Ok(()),
        false => Err(Error::new(
            ErrorKind::Unsupported,
            "an address beyond this machine, which needs a secret for all ranks",
        )),
    }
}

/// A process that has connected here and not proven yet that it is a rank of the job.
struct Caller {
    stream: TcpStream,
    challenge: Challenge,
    answer: [u8; ANSWER],
    filled: usize,
    since: Instant,
}

impl Caller {
    fn new(mut stream: TcpStream) -> Result<Caller> {
        stream.set_nonblocking(true)?;
        let challenge = Challenge::send(&mut stream)?;
        Ok(Caller { stream, challenge, answer: [0; ANSWER], filled: 0, since: Instant::now() })
    }

    /// The rank and whether it is admitted; `None` as long as it has not said all.
    ///
    /// # Errors
    /// A caller that is gone, or silent for too long.
    fn hear(&mut self, secret: &[u8]) -> Result<Option<(usize, bool)>> {
        while self.filled < ANSWER {
            match self.stream.read(&mut self.answer[self.filled..]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(bytes) => self.filled += bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return if self.since.elapsed() < HANDSHAKE { Ok(None) } else { Err(error) };
                }
                Err(error) => return Err(error),
            }
        }
        self.challenge.judge(&mut self.stream, secret, &self.answer).map(Some)
    }
}

/// Takes the connections of all ranks from `first` on, at rank `first - 1`. Strangers are dropped.
fn accept(
    listener: &TcpListener,
    secret: &[u8],
    first: usize,
    mesh: &mut [Option<TcpStream>],
    until: Instant,
) -> Result<()> {
    listener.set_nonblocking(true)?;
    let mut entrance = Entrance { first, ..Entrance::default() };
    while mesh.iter().skip(first).any(Option::is_none) {
        let pause = if entrance.answer(listener) { Duration::ZERO } else { PAUSE };
        entrance.admit(secret, mesh)?;
        wait(until, pause, || entrance.absence(mesh))?;
    }
    Ok(())
}

/// The listener that processes connect to.
#[derive(Default)]
struct Entrance {
    /// The first rank that is expected.
    first: usize,
    /// Oldest first.
    callers: VecDeque<Caller>,
    /// The number of ranks with another secret.
    refused: usize,
    /// Why the last connection could not be accepted.
    failure: Option<Error>,
}

impl Entrance {
    /// Accepts the next connection. Of more callers than [`MOST_CALLERS`], or than there may be open files,
    /// the oldest is dropped: it has stayed silent longest, and a rank calls again. Whether there was one.
    fn answer(&mut self, listener: &TcpListener) -> bool {
        let accepted = listener.accept();
        let is_crowded = match &accepted {
            Ok(_) => self.callers.len() >= MOST_CALLERS,
            Err(error) => error.kind() != ErrorKind::WouldBlock,
        };
        if is_crowded {
            self.callers.pop_front();
        }
        match accepted {
            // A caller that is gone already is nobody.
            Ok((stream, _)) => self.callers.extend(Caller::new(stream)),
            Err(error) if is_crowded => self.failure = Some(error),
            Err(_) => return false,
        }
        self.failure.is_none()
    }

    /// Hears all callers, and takes the connections of ranks.
    fn admit(&mut self, secret: &[u8], mesh: &mut [Option<TcpStream>]) -> Result<()> {
        let size = mesh.len();
        for mut caller in std::mem::take(&mut self.callers) {
            match caller.hear(secret) {
                Ok(None) => self.callers.push_back(caller),
                Ok(Some((rank, true))) => match mesh.get_mut(rank) {
                    Some(place) if rank >= self.first && place.is_none() => {
                        caller.stream.set_nonblocking(false)?;
                        *place = Some(caller.stream);
                    }
                    Some(_) => {
                        let text = format!("two processes say that they are rank {rank}");
                        return Err(Error::new(ErrorKind::AlreadyExists, text));
                    }
                    None => {
                        let text = format!("a process says that it is rank {rank}, of {size} ranks");
                        return Err(Error::new(ErrorKind::InvalidData, text));
                    }
                },
                Ok(Some((rank, false))) if rank < size => {
                    self.refused += 1;
                    if self.refused <= MOST_NOTICES {
                        let here = self.first - 1;
                        say(format_args!(
                            "on rank {here} of {size}: a process that says that it is rank {rank} has \
                             another secret, and was refused"
                        ));
                    }
                }
                // A stranger.
                Ok(Some(_)) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// The error that names the ranks that did not come.
    fn absence(&self, mesh: &[Option<TcpStream>]) -> Error {
        let missing: Vec<usize> = (self.first..mesh.len()).filter(|&rank| mesh[rank].is_none()).collect();
        let named: Vec<String> = missing.iter().take(8).map(usize::to_string).collect();
        let more = match missing.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (kind, why) = match (self.refused, &self.failure) {
            (0, None) => (ErrorKind::TimedOut, String::new()),
            (0, Some(error)) => (ErrorKind::TimedOut, format!("; accepting connections: {error}")),
            (count, _) => (ErrorKind::PermissionDenied, format!("; refused for another secret: {count}")),
        };
        Error::new(kind, format!("rank {}{more} did not connect{why}", named.join(", ")))
    }
}

fn left(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now()).max(PAUSE)
}

/// A pause, or an error that says what is missing once the deadline has passed.
fn wait(until: Instant, pause: Duration, missing: impl Fn() -> Error) -> Result<()> {
    interrupt::check_waiting("waiting for the other ranks").map_err(Error::other)?;
    if Instant::now() > until {
        return Err(missing());
    }
    std::thread::sleep(pause);
    Ok(())
}

fn send_text(stream: &mut TcpStream, text: &str) -> Result<()> {
    stream.write_all(&[&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat())
}

fn receive_text(stream: &mut TcpStream) -> Result<String> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let mut text = String::new();
    stream.take(u64::from(u32::from_le_bytes(length))).read_to_string(&mut text)?;
    Ok(text)
}

impl Rendezvous {
    /// The listener of rank 0, and the job's secret.
    fn open(&self) -> Result<(TcpListener, Vec<u8>)> {
        match self {
            Rendezvous::Address { address, secret } => {
                let listener = TcpListener::bind(address)?;
                check_secret(listener.local_addr()?.ip().is_loopback(), secret)?;
                Ok((listener, secret.clone()))
            }
            Rendezvous::File(path) => super::launch::publish(path),
        }
    }

    /// The address of rank 0, and the job's secret.
    fn find(&self) -> Result<(String, Vec<u8>)> {
        match self {
            Rendezvous::Address { address, secret } => Ok((address.clone(), secret.clone())),
            Rendezvous::File(path) => super::launch::published(path),
        }
    }

    fn close(&self) {
        if let Rendezvous::File(path) = self {
            // All ranks have read it, or never will.
            let _ = std::fs::remove_file(path);
        }
    }
}
