//! Stream memory operations: waits until a word of device memory is at least a value, and writes of words,
//! through which the devices of several processes wait for each other.
//!
//! Such a wait ends when another stream, or another process, has written. So work that was queued behind one
//! runs without any call that waits: a thread runs it from the first such operation on.
//!
//! **Stale values.** A wait that an earlier wait's write satisfies, because the word was neither reset nor
//! written since, is a fault: the next writer may be late, and the value means nothing. Values of 2^62 and
//! more release waiters for good: after one, nothing is checked.

use super::turn::Turn;
use crate::driver::abi::Code;
use crate::driver::state::Driver;
use crate::driver::work::{Failed, Operation, Touched, Work};
use std::collections::BTreeSet;
use std::sync::Once;
use std::time::Duration;

const RELEASED: u64 = 1 << 62;

/// The time between two looks at words.
const MOMENT: Duration = Duration::from_micros(200);

impl Driver {
    /// Takes over what other processes wrote, if some stream waits for a word.
    pub fn see_words(&mut self) {
        if self.waits_for_word(&self.busy) {
            // What cannot be seen now is looked for again.
            let _ = self.exchange.take(&mut self.memory);
        }
    }

    /// Whether the next operation of one of the streams is a wait for a word, or another library's work.
    pub fn waits_for_word(&self, streams: &BTreeSet<usize>) -> bool {
        let head = |stream: &usize| self.streams[*stream].queue.front();
        let waits = |work: &Work| matches!(work, Work::Await { .. } | Work::Foreign(_));
        streams.iter().filter_map(head).any(|op| waits(&op.work))
    }

    /// Whether an operation need not wait for a word. A word that cannot be read is a fault once it runs.
    pub fn may_pass(&self, op: &Operation) -> bool {
        match &op.work {
            Work::Await { address, value } => {
                self.memory.word(*address).map_or(true, |word| is_reached(word, *value))
            }
            Work::Foreign(foreign) => self.may_end(op, foreign),
            _ => true,
        }
    }

    /// Nothing can run before another thread or process has written a word.
    pub fn let_others_write(&mut self) {
        let busy = self.busy.clone();
        match self.runnable(&busy).is_empty() {
            true => self.let_others_use(MOMENT),
            false => self.run_some(1),
        }
    }

    /// The end of a wait.
    pub fn pass_word(&mut self, address: u64, value: u64) -> Result<Touched, Failed> {
        let word = self.memory.word(address)?;
        if !is_reached(word, value) {
            // Written again since: only wrong programs do that.
            let text = format!("the word at {address:#x} is {word} while a wait for {value} ends");
            return Err(Failed { code: Code::LAUNCH_FAILED, text, address: Some(address) });
        }
        self.words.are_released |= word >= RELEASED;
        let puts = self.puts(address, false)?;
        if self.words.passed.insert(address, puts) == Some(puts) && !self.words.are_released {
            let text = format!(
                "stale: the word at {address:#x} ({}) has had the value {word} since a wait for it ended \
                 before, and nobody has written it",
                self.memory.describe(address)
            );
            return Err(Failed { code: Code::LAUNCH_FAILED, text, address: Some(address) });
        }
        Ok(Touched::default())
    }

    pub fn put_word(&mut self, address: u64, value: u64) -> Result<Touched, Failed> {
        if value >= RELEASED {
            self.words.are_released = true;
            self.exchange.release(address);
        }
        let touched = self.memory.set_word(address, value)?;
        self.puts(address, true)?;
        Ok(touched)
    }

    fn puts(&mut self, address: u64, again: bool) -> Result<u64, Failed> {
        let shared = self.exchange.puts(address, again).map_err(|error| Failed {
            code: Code::OPERATING_SYSTEM,
            text: format!("shared memory: {error}"),
            address: None,
        })?;
        Ok(shared.unwrap_or_else(|| {
            let count = self.words.puts.entry(address).or_default();
            *count += u64::from(again);
            *count
        }))
    }
}

/// The comparison of `CU_STREAM_WAIT_VALUE_GEQ`, which ignores wraparound.
fn is_reached(word: u64, value: u64) -> bool {
    word.wrapping_sub(value) as i64 >= 0
}

/// From now on work runs although no call waits.
pub fn run_without_calls() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let run = || loop {
            std::thread::sleep(MOMENT);
            if let Some(driver) = Turn::take().driver() {
                driver.run_some(32);
            }
        };
        // Without it work still runs while calls wait.
        let _ = std::thread::Builder::new().name("simcuda".to_owned()).spawn(run);
    });
}
