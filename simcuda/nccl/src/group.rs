//! Groups of messages: one operation of a stream, which runs once, or each time a graph is launched.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use crate::communicator::Communicator;
use crate::driver::{self, ForeignCalls};
use crate::mesh::Arrived;
use crate::{Code, delay, fault, locked, seed};

/// One send or receive.
#[derive(Clone)]
pub struct Part {
    pub communicator: &'static Communicator,
    pub stream: usize,
    pub sends: bool,
    pub peer: usize,
    pub dtype: u32,
    pub address: u64,
    pub bytes: u64,
}

/// The messages of one communicator in a group.
struct Group {
    communicator: &'static Communicator,
    sends: Vec<Part>,
    receives: Vec<Part>,
    under_way: Mutex<HashMap<u64, Execution>>,
}

/// One execution of a group.
struct Execution {
    /// The numbers of its sends and receives among those with their ranks.
    sent: Vec<u64>,
    expected: Vec<u64>,
    arrived: Vec<Option<Vec<u8>>>,
}

/// Queues a group of one communicator and one stream.
pub fn queue(parts: Vec<Part>) -> Result<(), Code> {
    let Some(first) = parts.first() else { return Ok(()) };
    let (communicator, stream) = (first.communicator, first.stream);
    match communicator.code() {
        Code::SUCCESS => {}
        _ => return Err(Code::INVALID_ARGUMENT),
    }
    if communicator.is_over.load(Ordering::Acquire) || parts.iter().any(|part| part.stream != stream) {
        return Err(Code::INVALID_ARGUMENT);
    }
    let peers: Vec<usize> = parts.iter().map(|part| part.peer).collect();
    let (sends, receives) = parts.into_iter().partition(|part| part.sends);
    // For ever: graphs have its address.
    let group: &'static Group =
        Box::leak(Box::new(Group { communicator, sends, receives, under_way: Mutex::default() }));
    let is_new = {
        let mut state = locked(&communicator.state);
        peers.iter().filter(|&&peer| state.connected.insert(peer)).count() > 0
    };
    if !is_new || communicator.blocks {
        return group.submit(stream);
    }
    locked(&communicator.state).code = Code::IN_PROGRESS;
    std::thread::spawn(move || {
        delay(3000);
        let submitted = group.submit(stream);
        let mut state = locked(&communicator.state);
        if state.code == Code::IN_PROGRESS {
            state.code = submitted.err().unwrap_or(Code::SUCCESS);
        }
    });
    Err(Code::IN_PROGRESS)
}

impl Group {
    fn submit(&'static self, stream: usize) -> Result<(), Code> {
        let ranges = |parts: &[Part]| parts.iter().map(|part| [part.address, part.bytes]).collect::<Vec<_>>();
        let state = std::ptr::from_ref(self).cast_mut().cast();
        let calls = ForeignCalls { state, begin, send, poll, receive, end };
        driver::submit(stream, &ranges(&self.sends), &ranges(&self.receives), calls)
    }

    /// The bytes of one receive, if they have come; takes them from their sender.
    fn arrived(&self, part: &Part, number: u64) -> Option<Arrived> {
        let mesh = self.communicator.mesh.get()?;
        let found = locked(mesh.inbox(part.peer)?).messages.remove(&number)?;
        mesh.take(part.peer, number);
        Some(found)
    }

    /// Whether all of an execution is done.
    fn advance(&self, execution: &mut Execution) -> bool {
        let (communicator, mut done) = (self.communicator, true);
        let Some(mesh) = communicator.mesh.get() else { return false };
        for (k, part) in self.receives.iter().enumerate() {
            if execution.arrived[k].is_some() {
                continue;
            }
            let number = execution.expected[k];
            match self.arrived(part, number) {
                Some((dtype, bytes)) if dtype == part.dtype && bytes.len() as u64 == part.bytes => {
                    execution.arrived[k] = Some(bytes);
                }
                Some((dtype, bytes)) => {
                    let text = format!(
                        "message {number} of rank {} to rank {} has {} bytes of type {dtype}, expected {} of \
                         type {}",
                        part.peer,
                        communicator.rank,
                        bytes.len(),
                        part.bytes,
                        part.dtype
                    );
                    fault(&text);
                    communicator.fail(Code::INTERNAL_ERROR, &text);
                    done = false;
                }
                None => done = false,
            }
        }
        for (part, number) in self.sends.iter().zip(&execution.sent) {
            let taken = mesh.inbox(part.peer).is_some_and(|inbox| locked(inbox).taken.contains_key(number));
            done &= taken;
        }
        let is_gone = |part: &Part| {
            let inbox = mesh.inbox(part.peer).map(locked);
            inbox.is_some_and(|inbox| inbox.is_closed && !inbox.has_finalised)
        };
        if !done && seed() % 2 == 1 && self.sends.iter().chain(&self.receives).any(is_gone) {
            communicator.fail(Code::REMOTE_ERROR, "a remote process exited or there was a network error");
        }
        done
    }
}

/// The group that the driver names.
fn group(state: *mut c_void) -> &'static Group {
    // SAFETY: the driver passes what `submit` gave it, which lives for ever.
    unsafe { &*state.cast::<Group>() }
}

extern "C" fn begin(state: *mut c_void, token: u64) -> u32 {
    let group = group(state);
    let mut under_way = locked(&group.under_way);
    if under_way.contains_key(&token) {
        return 0;
    }
    let mut state = locked(&group.communicator.state);
    let is_over = group.communicator.is_over.load(Ordering::Acquire);
    if std::mem::replace(&mut state.runs, true) && !is_over {
        fault("two groups of one communicator run at once: no stream orders them");
    }
    let mut count = |parts: &[Part], sends: bool| -> Vec<u64> {
        let next = |part: &Part| {
            let numbers = if sends { &mut state.sent } else { &mut state.received };
            numbers[part.peer] += 1;
            numbers[part.peer]
        };
        parts.iter().map(next).collect()
    };
    let (sent, expected) = (count(&group.sends, true), count(&group.receives, false));
    let arrived = group.receives.iter().map(|_| None).collect();
    under_way.insert(token, Execution { sent, expected, arrived });
    1
}

extern "C" fn send(state: *mut c_void, token: u64, k: usize, bytes: *const u8, length: usize) {
    let group = group(state);
    let (under_way, part) = (locked(&group.under_way), &group.sends[k]);
    let (Some(execution), Some(mesh)) = (under_way.get(&token), group.communicator.mesh.get()) else {
        return;
    };
    // SAFETY: the driver passes as many bytes as it says.
    let bytes = unsafe { std::slice::from_raw_parts(bytes, length) };
    mesh.send(part.peer, execution.sent[k], (part.dtype, bytes));
}

extern "C" fn poll(state: *mut c_void, token: u64) -> u32 {
    let group = group(state);
    if group.communicator.is_over.load(Ordering::Acquire) {
        return 1;
    }
    locked(&group.under_way).get_mut(&token).is_some_and(|execution| group.advance(execution)).into()
}

extern "C" fn receive(state: *mut c_void, token: u64, k: usize, out: *mut u8, length: usize) {
    let group = group(state);
    let mut under_way = locked(&group.under_way);
    let arrived = under_way.get_mut(&token).and_then(|execution| execution.arrived[k].take());
    // SAFETY: the driver passes room for as many bytes as it says.
    let out = unsafe { std::slice::from_raw_parts_mut(out, length) };
    match arrived {
        Some(bytes) => out.copy_from_slice(&bytes),
        // Aborted: whatever was there.
        None => out.fill(0xCD),
    }
}

extern "C" fn end(state: *mut c_void, token: u64) {
    let group = group(state);
    if let Some(execution) = locked(&group.under_way).remove(&token)
        && let Some(mesh) = group.communicator.mesh.get()
    {
        for (part, number) in group.sends.iter().zip(&execution.sent) {
            if let Some(inbox) = mesh.inbox(part.peer) {
                locked(inbox).taken.remove(number);
            }
        }
    }
    locked(&group.communicator.state).runs = false;
}
