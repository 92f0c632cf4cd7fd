//! Recording of the commands that a thread executes, for a `Loop` that replays them.

use std::cell::RefCell;

use super::command::Schedule;
use crate::device::Buffer;
use crate::error::{Error, Result};

thread_local! {
    static RECORDER: RefCell<Option<Schedule>> = const { RefCell::new(None) };
    static KEPT: RefCell<Vec<Buffer>> = const { RefCell::new(Vec::new()) };
}

/// Memory that was uploaded for a step, and that replays of the step will read: the recording keeps it.
pub(crate) fn keep(buffer: &Buffer) {
    if is_recording() {
        KEPT.with_borrow_mut(|kept| kept.push(buffer.clone()));
    }
}

/// The buffers that were kept since the last call.
pub(crate) fn take_kept() -> Vec<Buffer> {
    KEPT.take()
}

/// Runs `step` and returns what it executed.
///
/// # Errors
/// The step's own; recording inside a recording.
pub fn record(step: impl FnOnce() -> Result<()>) -> Result<Schedule> {
    if is_recording() {
        return Err(Error::invalid(
            "Loop",
            "a step that runs no other Loop",
            "a Loop inside a Loop's step",
            "run the inner steps directly",
        ));
    }
    /// Ends the recording, also when the step panics.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            RECORDER.set(None);
            if std::thread::panicking() {
                KEPT.set(Vec::new());
            }
        }
    }
    let _end = End;
    RECORDER.set(Some(Schedule::new()));
    step()?;
    Ok(RECORDER.take().unwrap_or_default())
}

/// True while this thread records a `Loop`'s step.
pub fn is_recording() -> bool {
    RECORDER.with_borrow(Option::is_some)
}

/// Appends executed commands to this thread's recording, if it records.
pub(super) fn append(schedule: Schedule) {
    RECORDER.with_borrow_mut(|recorder| {
        if let Some(recorded) = recorder {
            recorded.extend(schedule);
        }
    });
}
