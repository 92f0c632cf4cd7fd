//! Tiles of work on the threads of the CPU engine, in rows. One thread runs a row, so the results of one
//! launch of a tile are in that thread's cache for the next; rows run concurrently, each behind the one above
//! it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use partita_kernels::cpu;

use crate::device::driver::Job;
use crate::error::Result;

/// Rows of tiles, each some work in order. A tile follows those before it in its row and, of every earlier
/// row, those up to its own column; it follows nothing else.
pub(crate) struct Sweep<T = Job> {
    rows: Vec<Vec<Vec<T>>>,
}

/// Polls of the row above before the processor is yielded.
const POLLS: u32 = 1 << 10;

/// The number of tiles of a row that have run. Rows below a failed one go on; the failure is returned last.
struct Done<'s>(&'s AtomicUsize);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(usize::MAX, Ordering::Release);
    }
}

impl<T: Sync> Sweep<T> {
    /// Rows of tiles from above to below.
    pub fn new(rows: Vec<Vec<Vec<T>>>) -> Sweep<T> {
        Sweep { rows }
    }

    /// Runs all tiles on up to `threads` threads. `launch` ends when its work is done.
    ///
    /// # Errors
    /// One of those of `launch`; tiles that follow may have run nevertheless.
    pub fn run(&self, threads: usize, launch: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
        let done: Vec<AtomicUsize> = self.rows.iter().map(|_| AtomicUsize::new(0)).collect();
        let outcome = Mutex::new(Ok(()));
        let run_row = |row: usize| -> Result<()> {
            let own = Done(&done[row]);
            for (column, tile) in self.rows[row].iter().enumerate() {
                if let Some(above) = row.checked_sub(1) {
                    wait_for(&done[above], column + 1);
                }
                tile.iter().try_for_each(&launch)?;
                own.0.store(column + 1, Ordering::Release);
            }
            Ok(())
        };
        // Rows are taken from above to below, so the one above is running or done.
        cpu::share_tasks(threads, self.rows.len(), |mut rows| {
            if let Err(error) = Iterator::try_for_each(&mut rows, run_row) {
                *outcome.lock().unwrap_or_else(PoisonError::into_inner) = Err(error);
            }
        });
        outcome.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wait_for(done: &AtomicUsize, count: usize) {
    let mut polls = 0;
    while done.load(Ordering::Acquire) < count {
        if polls < POLLS {
            std::hint::spin_loop()
        } else {
            thread::yield_now()
        }
        polls += 1;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::HashSet;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::error::Error;

    /// Tiles of one piece of work each: its row and column.
    fn sweep(rows: usize, columns: usize) -> Sweep<(usize, usize)> {
        let row = |row| (0..columns).map(|column| vec![(row, column)]).collect();
        Sweep::new((0..rows).map(row).collect())
    }

    #[test]
    fn tiles_follow_those_before_them_and_above() {
        for threads in [1, 2, 5] {
            let ran = Mutex::new(HashSet::new());
            let launch = |&(row, column): &(usize, usize)| {
                let seen = ran.lock().unwrap().clone();
                let has = |row: usize, column: usize| seen.contains(&(row, column));
                assert!(column == 0 || has(row, column - 1), "{row} {column}");
                assert!(row == 0 || has(row - 1, column), "{row} {column}");
                thread::yield_now();
                assert!(ran.lock().unwrap().insert((row, column)), "{row} {column}: twice");
                Ok(())
            };
            sweep(13, 7).run(threads, launch).unwrap();
            assert_eq!(ran.lock().unwrap().len(), 13 * 7, "{threads} threads");
        }
    }

    #[test]
    fn rows_run_beside_each_other() {
        // The end of the first row waits until the second has begun.
        let begun = AtomicUsize::new(0);
        let deadline = Instant::now() + Duration::from_secs(20);
        let launch = |&(row, column): &(usize, usize)| {
            match (row, column) {
                (0, 2) => {
                    while begun.load(Ordering::Acquire) == 0 {
                        assert!(Instant::now() < deadline, "the second row waits for the whole first one");
                        thread::yield_now();
                    }
                }
                (1, 0) => begun.store(1, Ordering::Release),
                _ => {}
            }
            Ok(())
        };
        sweep(2, 3).run(2, launch).unwrap();
    }

    #[test]
    fn a_failure_is_returned_and_no_thread_waits_for_it() {
        let launch = |&(row, column): &(usize, usize)| match (row, column) {
            (1, 2) => Err(Error::invalid("test", "a tile", "none", "pass")),
            _ => Ok(()),
        };
        assert!(sweep(6, 4).run(2, launch).unwrap_err().to_string().contains("test"));
    }
}
