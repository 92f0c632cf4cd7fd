//! Communicators: their beginning, their state, their end.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use crate::mesh::Mesh;
use crate::{Code, delay, driver, locked};

/// `ncclComm`.
pub struct Communicator {
    pub rank: usize,
    pub count: usize,
    pub blocks: bool,
    pub mesh: OnceLock<Mesh>,
    /// Aborted or destroyed.
    pub is_over: AtomicBool,
    pub state: Mutex<State>,
}

pub struct State {
    /// What `ncclCommGetAsyncError` says.
    pub code: Code,
    pub text: String,
    /// The ranks that groups have been exchanged with.
    pub connected: HashSet<usize>,
    /// The numbers of the next messages, by rank.
    pub sent: Vec<u64>,
    pub received: Vec<u64>,
    /// Whether a group is under way.
    pub runs: bool,
}

impl Communicator {
    /// Begins one; it is ready when its state is a success.
    pub fn begin(
        name: String,
        rank: usize,
        count: usize,
        blocks: bool,
    ) -> Result<&'static Communicator, Code> {
        let device = driver::current_device()?;
        let machine = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let device = format!("device {device} of {}", machine.trim());
        let state = State {
            code: Code::IN_PROGRESS,
            text: String::new(),
            connected: HashSet::new(),
            sent: vec![0; count],
            received: vec![0; count],
            runs: false,
        };
        let (mesh, is_over) = (OnceLock::new(), AtomicBool::new(false));
        let new = Communicator { rank, count, blocks, mesh, is_over, state: Mutex::new(state) };
        // For ever: callers keep its address.
        let new: &'static Communicator = Box::leak(Box::new(new));
        let connect = move || {
            delay(20_000);
            let outcome = Mesh::connect(&name, (rank, count), &device, &new.is_over);
            let mut state = locked(&new.state);
            match outcome {
                Ok(mesh) => {
                    drop(new.mesh.set(mesh));
                    state.code = Code::SUCCESS;
                }
                Err(code) => {
                    state.code = code;
                    state.text = match code {
                        Code::INVALID_USAGE => "Duplicate GPU detected".to_owned(),
                        _ => "the ranks could not be connected".to_owned(),
                    };
                }
            }
        };
        if blocks {
            connect();
        } else {
            std::thread::spawn(connect);
        }
        Ok(new)
    }

    pub fn code(&self) -> Code {
        locked(&self.state).code
    }

    /// An error that stays.
    pub fn fail(&self, code: Code, text: &str) {
        let mut state = locked(&self.state);
        if state.code == Code::SUCCESS || state.code == Code::IN_PROGRESS {
            (state.code, state.text) = (code, text.to_owned());
        }
    }

    /// Waits, beside the caller, until nothing is under way.
    pub fn finalise(&'static self) -> Code {
        locked(&self.state).code = Code::IN_PROGRESS;
        let finish = move || {
            delay(4000);
            while locked(&self.state).runs && !self.is_over.load(Ordering::Acquire) {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            if let Some(mesh) = self.mesh.get() {
                mesh.finalise();
            }
            let mut state = locked(&self.state);
            if state.code == Code::IN_PROGRESS {
                state.code = Code::SUCCESS;
            }
        };
        if self.blocks {
            finish();
            return self.code();
        }
        std::thread::spawn(finish);
        Code::IN_PROGRESS
    }

    /// What waits goes on; nothing works any more.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::Release);
        if let Some(mesh) = self.mesh.get() {
            mesh.close();
        }
    }
}
