//! The processor's own memory speed, by plain loops of the standard library: what no array engine is
//! needed for. In memory with large pages where the system has them, as arrays of the engine and of NumPy
//! are.

use std::hint::black_box;
use std::thread;

use anyhow::Result;
use memmap2::MmapMut;
use partita::DType;

use crate::cases::bound::element;

/// Bytes of a value.
const SIZE: usize = 4;

/// Two arrays, and as many threads as the host device has.
pub struct Plain {
    from: MmapMut,
    to: MmapMut,
    threads: usize,
}

impl Plain {
    /// # Errors
    /// If the system has no such memory.
    pub fn new(elements: usize, threads: usize) -> Result<Plain> {
        let (mut from, to) = (large_pages(elements)?, large_pages(elements)?);
        for (at, value) in from.chunks_exact_mut(SIZE).enumerate() {
            value.copy_from_slice(&(element(DType::F32, 0, at as u64) as f32).to_le_bytes());
        }
        Ok(Plain { from, to, threads: threads.max(1) })
    }

    fn share(&self) -> usize {
        (self.from.len() / SIZE).div_ceil(self.threads).max(1) * SIZE
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
                scope.spawn(move || (0..times).for_each(|_| black_box(&mut *to).fill(2)));
            }
        });
    }
}

/// Zeros of so many values, present before anything is measured.
fn large_pages(elements: usize) -> Result<MmapMut> {
    let mut map = MmapMut::map_anon((elements * SIZE).max(1))?;
    // What the system says does not matter.
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    map.fill(0);
    Ok(map)
}

/// In 32 sums, which registers hold, so that additions do not wait for each other.
fn sum(values: &[u8]) -> f32 {
    let mut sums = [0f32; 32];
    for chunk in values.chunks_exact(32 * SIZE) {
        for (sum, value) in sums.iter_mut().zip(chunk.as_chunks::<SIZE>().0) {
            *sum += f32::from_le_bytes(*value);
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_and_fills_everything() {
        let mut plain = Plain::new(1003, 3).expect("memory");
        plain.copy(2);
        assert!(plain.to[..] == plain.from[..] && plain.to.chunks(4).any(|value| value != &plain.to[..4]));
        plain.write(1);
        assert!(plain.to.iter().all(|&byte| byte == 2));
        let ones: Vec<u8> = (0..128).flat_map(|_| 1f32.to_le_bytes()).collect();
        assert_eq!(sum(&ones), 128.0);
    }
}
