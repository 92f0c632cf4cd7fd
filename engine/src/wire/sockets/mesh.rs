//! One connection between every two ranks. All ranks know where rank 0 listens; it collects where the others
//! listen and sends the list to all. Then each rank connects to those below it.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::handshake::{admit, greet};
use super::launch::{Launch, Rendezvous};
use crate::interrupt;

/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(5);

/// The time that one rank's handshake may take; a stranger that stays silent is dropped after it.
const HANDSHAKE: Duration = Duration::from_secs(5);

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
            *address = receive_text(stream)?;
        }
    }
    let list = addresses.join("\n");
    mesh.iter_mut().flatten().try_for_each(|stream| send_text(stream, &list))
}

/// Another rank: connects to rank 0 and to those below, and takes the connections of those above.
fn join(launch: &Launch, mesh: &mut [Option<TcpStream>], until: Instant) -> Result<()> {
    let (mut first, secret) = retry(until, "rank 0 does not answer", || {
        let (address, secret) = launch.rendezvous.find()?;
        Ok((reach(&address, &secret, launch.rank, until)?, secret))
    })?;
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
            ErrorKind::PermissionDenied,
            "an address beyond this machine needs a secret for all ranks; set PARTITA_SECRET or pass one",
        )),
    }
}

/// Takes the connections of all ranks from `first` on. Strangers are dropped.
fn accept(
    listener: &TcpListener,
    secret: &[u8],
    first: usize,
    mesh: &mut [Option<TcpStream>],
    until: Instant,
) -> Result<()> {
    listener.set_nonblocking(true)?;
    let (sender, admitted) = mpsc::channel();
    let is_missing = |mesh: &[Option<TcpStream>]| mesh[first.min(mesh.len())..].iter().any(Option::is_none);
    while is_missing(mesh) {
        match listener.accept() {
            Ok((mut stream, _)) => {
                let (sender, secret) = (sender.clone(), secret.to_vec());
                // A thread for each, so that a stranger who stays silent keeps nobody waiting.
                std::thread::spawn(move || {
                    let admitted = stream
                        .set_nonblocking(false)
                        .and_then(|()| stream.set_read_timeout(Some(HANDSHAKE)))
                        .and_then(|()| admit(&mut stream, &secret));
                    if let Ok(rank) = admitted {
                        // The receiver is gone when the deadline has passed.
                        let _ = sender.send((rank, stream));
                    }
                });
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => wait(until, || {
                let missing =
                    (first..mesh.len()).filter(|&rank| mesh[rank].is_none()).map(|rank| rank.to_string());
                format!("rank {} did not connect", missing.collect::<Vec<_>>().join(", "))
            })?,
            Err(error) => return Err(error),
        }
        for (rank, stream) in admitted.try_iter() {
            match mesh.get_mut(rank) {
                Some(place) if rank >= first && place.is_none() => *place = Some(stream),
                _ => {
                    let text = format!("two processes say that they are rank {rank}; start each rank once");
                    return Err(Error::new(ErrorKind::AlreadyExists, text));
                }
            }
        }
    }
    Ok(())
}

fn left(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now()).max(PAUSE)
}

/// A pause, or an error that names what is missing once the deadline has passed.
fn wait(until: Instant, missing: impl Fn() -> String) -> Result<()> {
    interrupt::check_waiting("waiting for the other ranks").map_err(Error::other)?;
    if Instant::now() > until {
        return Err(Error::new(ErrorKind::TimedOut, missing()));
    }
    std::thread::sleep(PAUSE);
    Ok(())
}

/// Repeats an attempt until it succeeds or the deadline has passed.
fn retry<T>(until: Instant, what: &str, mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    loop {
        match attempt() {
            Ok(value) => return Ok(value),
            Err(error) => wait(until, || format!("{what} ({error})"))?,
        }
    }
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

    /// Where rank 0 listens, and the job's secret.
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
