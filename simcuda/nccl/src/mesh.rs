//! The sockets between the ranks of a communicator, all with all, and what has come through them.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::{Code, delay, locked, say};

/// A message as it came: its type, and its bytes.
pub type Arrived = (u32, Vec<u8>);

/// What came from a rank, by number.
#[derive(Default)]
pub struct Inbox {
    pub messages: HashMap<u64, Arrived>,
    /// Messages that it has taken.
    pub taken: HashMap<u64, ()>,
    /// It has finalised the communicator.
    pub has_finalised: bool,
    /// Its socket has ended.
    pub is_closed: bool,
}

struct Peer {
    outgoing: Mutex<Sender<Vec<u8>>>,
    inbox: Arc<Mutex<Inbox>>,
    socket: UnixStream,
}

/// The sockets of one rank.
pub struct Mesh {
    /// By rank; none for this one.
    peers: Vec<Option<Peer>>,
}

const MESSAGE: u8 = 1;
const TAKEN: u8 = 2;
const FINALISED: u8 = 3;
const HEADER: usize = 21;

fn frame(kind: u8, number: u64, dtype: u32, bytes: &[u8]) -> Vec<u8> {
    let mut all = vec![kind];
    all.extend(number.to_le_bytes());
    all.extend(dtype.to_le_bytes());
    all.extend((bytes.len() as u64).to_le_bytes());
    all.extend(bytes);
    all
}

fn address(name: &str, rank: usize) -> std::io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("{name}-{rank}"))
}

const MOMENT: Duration = Duration::from_millis(1);

impl Mesh {
    /// Connects a rank to all others; `device` names its device on its machine.
    pub fn connect(
        name: &str,
        (rank, count): (usize, usize),
        device: &str,
        is_over: &AtomicBool,
    ) -> Result<Mesh, Code> {
        let system = |error: std::io::Error| {
            say(&format!("sockets: {error}"));
            Code::SYSTEM_ERROR
        };
        let listener = UnixListener::bind_addr(&address(name, rank).map_err(system)?).map_err(system)?;
        listener.set_nonblocking(true).map_err(system)?;
        let mut sockets: Vec<Option<UnixStream>> = (0..count).map(|_| None).collect();
        for (other, socket) in sockets.iter_mut().enumerate().take(rank) {
            let there = address(name, other).map_err(system)?;
            let mut one = loop {
                match UnixStream::connect_addr(&there) {
                    Ok(one) => break one,
                    Err(_) if is_over.load(Ordering::Acquire) => return Err(Code::INTERNAL_ERROR),
                    Err(_) => std::thread::sleep(MOMENT),
                }
            };
            one.write_all(&(rank as u32).to_le_bytes()).map_err(system)?;
            *socket = Some(one);
        }
        for _ in rank + 1..count {
            let mut one = loop {
                match listener.accept() {
                    Ok((one, _)) => break one,
                    Err(_) if is_over.load(Ordering::Acquire) => return Err(Code::INTERNAL_ERROR),
                    Err(_) => std::thread::sleep(MOMENT),
                }
            };
            one.set_nonblocking(false).map_err(system)?;
            let mut other = [0; 4];
            one.read_exact(&mut other).map_err(system)?;
            let other = u32::from_le_bytes(other) as usize;
            *sockets.get_mut(other).ok_or(Code::INTERNAL_ERROR)? = Some(one);
        }
        let mut same = Vec::new();
        for socket in sockets.iter_mut().flatten() {
            let mut bytes = (device.len() as u32).to_le_bytes().to_vec();
            bytes.extend(device.as_bytes());
            socket.write_all(&bytes).map_err(system)?;
        }
        for (other, socket) in sockets.iter_mut().enumerate() {
            let Some(socket) = socket else { continue };
            let mut length = [0; 4];
            socket.read_exact(&mut length).map_err(system)?;
            let mut theirs = vec![0; u32::from_le_bytes(length) as usize];
            socket.read_exact(&mut theirs).map_err(system)?;
            if theirs == device.as_bytes() {
                same.push(other);
            }
        }
        // A device that two ranks have is refused by all.
        for socket in sockets.iter_mut().flatten() {
            socket.write_all(&[u8::from(!same.is_empty())]).map_err(system)?;
        }
        let mut refused = !same.is_empty();
        for socket in sockets.iter_mut().flatten() {
            let mut verdict = [0];
            socket.read_exact(&mut verdict).map_err(system)?;
            refused |= verdict[0] != 0;
        }
        if refused {
            same.iter().for_each(|other| {
                say(&format!("Duplicate GPU detected : rank {rank} and rank {other} both on {device}"));
            });
            return Err(Code::INVALID_USAGE);
        }
        let peer = |socket: Option<UnixStream>| socket.map(Peer::new).transpose();
        Ok(Mesh { peers: sockets.into_iter().map(peer).collect::<Result<_, _>>().map_err(system)? })
    }

    pub fn inbox(&self, rank: usize) -> Option<&Mutex<Inbox>> {
        Some(&self.peers.get(rank)?.as_ref()?.inbox)
    }

    pub fn send(&self, to: usize, number: u64, (dtype, bytes): (u32, &[u8])) {
        self.put(to, frame(MESSAGE, number, dtype, bytes));
    }

    /// Tells a rank that its message has been taken.
    pub fn take(&self, from: usize, number: u64) {
        self.put(from, frame(TAKEN, number, 0, &[]));
    }

    pub fn finalise(&self) {
        (0..self.peers.len()).for_each(|rank| self.put(rank, frame(FINALISED, 0, 0, &[])));
    }

    pub fn close(&self) {
        for peer in self.peers.iter().flatten() {
            let _ = peer.socket.shutdown(std::net::Shutdown::Both);
        }
    }

    fn put(&self, to: usize, frame: Vec<u8>) {
        if let Some(peer) = self.peers.get(to).and_then(Option::as_ref) {
            // One that has gone takes nothing.
            let _ = locked(&peer.outgoing).send(frame);
        }
    }
}

impl Peer {
    fn new(socket: UnixStream) -> std::io::Result<Peer> {
        let (outgoing, frames) = channel::<Vec<u8>>();
        let (mut to, mut from) = (socket.try_clone()?, socket.try_clone()?);
        std::thread::spawn(move || {
            while let Ok(frame) = frames.recv() {
                delay(2000);
                if to.write_all(&frame).is_err() {
                    return;
                }
            }
        });
        let inbox = Arc::new(Mutex::new(Inbox::default()));
        let filled = Arc::clone(&inbox);
        std::thread::spawn(move || {
            let mut read = || -> std::io::Result<()> {
                let mut header = [0; HEADER];
                from.read_exact(&mut header)?;
                let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|k| header[at + k]));
                let dtype = u32::from_le_bytes(std::array::from_fn(|k| header[9 + k]));
                let mut bytes = vec![0; number(13) as usize];
                from.read_exact(&mut bytes)?;
                let mut inbox = locked(&filled);
                match header[0] {
                    MESSAGE => drop(inbox.messages.insert(number(1), (dtype, bytes))),
                    TAKEN => drop(inbox.taken.insert(number(1), ())),
                    _ => inbox.has_finalised = true,
                }
                Ok(())
            };
            while read().is_ok() {}
            locked(&filled).is_closed = true;
        });
        Ok(Peer { outgoing: Mutex::new(outgoing), inbox, socket })
    }
}
