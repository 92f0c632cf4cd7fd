//! The processor's own memory speed, by plain loops of the standard library: what no array engine is
//! needed for.

use std::hint::black_box;
use std::thread;

use partita::DType;

use crate::bound::element;

/// Two arrays, and as many threads as the host device has.
pub struct Plain {
    from: Vec<f32>,
    to: Vec<f32>,
    threads: usize,
}

impl Plain {
    pub fn new(elements: usize, threads: usize) -> Plain {
        let from = (0..elements as u64).map(|at| element(DType::F32, 0, at) as f32).collect();
        Plain { from, to: vec![0.0; elements], threads: threads.max(1) }
    }

    fn share(&self) -> usize {
        self.from.len().div_ceil(self.threads).max(1)
    }

    pub fn copy(&mut self, times: usize) {
        let share = self.share();
        thread::scope(|scope| {
            for (to, from) in self.to.chunks_mut(share).zip(self.from.chunks(share)) {
                scope.spawn(move || {
                    (0..times).for_each(|_| black_box(&mut *to).copy_from_slice(black_box(from)))
                });
            }
        });
    }

    pub fn read(&mut self, times: usize) {
        let share = self.share();
        thread::scope(|scope| {
            for from in self.from.chunks(share) {
                scope.spawn(move || {
                    (0..times).map(|_| sum(black_box(from))).for_each(|sum| _ = black_box(sum))
                });
            }
        });
    }

    pub fn write(&mut self, times: usize) {
        let share = self.share();
        thread::scope(|scope| {
            for to in self.to.chunks_mut(share) {
                scope.spawn(move || (0..times).for_each(|_| black_box(&mut *to).fill(2.0)));
            }
        });
    }
}

/// In 64 sums, so that additions do not wait for each other.
fn sum(values: &[f32]) -> f32 {
    let mut sums = [0f32; 64];
    for chunk in values.chunks_exact(64) {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += value;
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_and_fills_everything() {
        let mut plain = Plain::new(1003, 3);
        plain.copy(2);
        assert!(plain.to == plain.from && plain.to.windows(2).any(|two| two[0] != two[1]));
        plain.write(1);
        assert!(plain.to.iter().all(|&v| v == 2.0));
        assert_eq!(sum(&[1.0; 128]), 128.0);
    }
}
