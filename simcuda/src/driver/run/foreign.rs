//! Work of a library beside the driver, such as a simulated NCCL: it moves bytes between memory of a device
//! and other processes, in stream order, captured as anything else. It begins once its turn in its stream has
//! come, and ends when the library says so; until then it holds up its stream.

use crate::driver::abi::Code;
use crate::driver::state::Driver;
use crate::driver::work::{Failed, Foreign, ForeignCalls, Operation, Source, Target, Touched, Work};
use std::sync::Arc;

fn token(op: &Operation) -> u64 {
    ((op.mark.stream as u64) << 40) | op.mark.position
}

impl Driver {
    /// Begins an execution, if it has not; whether it can end.
    pub fn may_end(&self, op: &Operation, foreign: &Arc<Foreign>) -> bool {
        let (token, ForeignCalls { state, begin, send, poll, .. }) = (token(op), foreign.calls);
        if begin(state, token) != 0 {
            for (k, &[address, bytes]) in foreign.reads.iter().enumerate() {
                let data = self.memory.bytes_or_zeros(address..address + bytes);
                send(state, token, k, data.as_ptr(), data.len());
            }
        }
        poll(state, token) != 0
    }

    /// Ends it.
    pub fn end_foreign(&mut self, op: &Operation, foreign: &Arc<Foreign>) -> Result<Touched, Failed> {
        let (token, ForeignCalls { state, receive, end, .. }) = (token(op), foreign.calls);
        let range = |&[address, bytes]: &[u64; 2]| address..address + bytes;
        let touched = Touched {
            reads: foreign.reads.iter().map(range).collect(),
            writes: foreign.writes.iter().map(range).collect(),
        };
        for (k, &[address, bytes]) in foreign.writes.iter().enumerate() {
            let mut data = vec![0; bytes as usize];
            receive(state, token, k, data.as_mut_ptr(), data.len());
            self.memory.copy(Target::Device(address), &Source::Staged(data), bytes)?;
        }
        end(state, token);
        Ok(touched)
    }

    /// Queues it. The memory must be there.
    pub fn submit_foreign(&mut self, stream: usize, foreign: Foreign) -> Result<(), Code> {
        for &[address, bytes] in foreign.reads.iter().chain(&foreign.writes) {
            self.memory.within(address, bytes)?;
        }
        self.submit(stream, "work of a library".to_owned(), Work::Foreign(Arc::new(foreign)))
    }
}
