//! Tiles of work on the host's threads, in rows. One thread goes through a row, so what one launch of a tile
//! writes is in that thread's cache for the next; rows run beside each other, each behind the one above it.
//! Knows the order of tiles; knows no launches.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::job::Job;
use crate::error::Result;

/// Rows of tiles, each some work in order. A tile follows those before it in its row and, of every earlier
/// row, those up to its own column; it follows nothing else.
pub(crate) struct Sweep<T = Job> {
    rows: Vec<Vec<Vec<T>>>,
}

/// Looks at a row that is waited for before others get the processor.
const LOOKS: u32 = 1 << 10;

/// How many tiles of a row have run. Whoever waits for a row that failed goes on: the failure is told in
/// the end.
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
        let next = AtomicUsize::new(0);
        let serve = || {
            loop {
                // Rows are taken from above to below, so the one above is under way or done.
                let row = next.fetch_add(1, Ordering::Relaxed);
                let Some(tiles) = self.rows.get(row) else { return Ok(()) };
                let own = Done(&done[row]);
                for (column, tile) in tiles.iter().enumerate() {
                    if let Some(above) = row.checked_sub(1) {
                        wait_for(&done[above], column + 1);
                    }
                    tile.iter().try_for_each(&launch)?;
                    own.0.store(column + 1, Ordering::Release);
                }
            }
        };
        thread::scope(|scope| {
            // Where the system gives no thread, fewer do the same.
            let more = 1..threads.min(self.rows.len());
            let others: Vec<_> =
                more.filter_map(|_| thread::Builder::new().spawn_scoped(scope, serve).ok()).collect();
            let own = serve();
            others.into_iter().fold(own, |outcome, other| {
                outcome.and(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            })
        })
    }
}

fn wait_for(done: &AtomicUsize, count: usize) {
    let mut looks = 0;
    while done.load(Ordering::Acquire) < count {
        if looks < LOOKS {
            std::hint::spin_loop()
        } else {
            thread::yield_now()
        }
        looks += 1;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Mutex;
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
    fn a_failure_is_told_and_nobody_waits_for_it() {
        let launch = |&(row, column): &(usize, usize)| match (row, column) {
            (1, 2) => Err(Error::invalid("test", "a tile", "none", "pass")),
            _ => Ok(()),
        };
        assert!(sweep(6, 4).run(2, launch).unwrap_err().to_string().contains("test"));
    }
}
