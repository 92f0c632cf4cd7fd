//! A looping GIF of all frames, smaller than the frames themselves. Knows pixels only.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use super::picture::Frame;
use super::terrain::Result;

/// How many pixels each way become one.
const HALF: usize = 2;
/// From 1, the best colours, to 30.
const SPEED: i32 = 10;

/// Frames made smaller, in the order they were pushed.
#[derive(Default)]
pub struct Animation {
    width: usize,
    height: usize,
    frames: Vec<Vec<[u8; 4]>>,
}

impl Animation {
    /// Appends a frame. All frames have the size of the first.
    pub fn push(&mut self, frame: &Frame) {
        (self.width, self.height) = (frame.0.width() as usize / HALF, frame.0.height() as usize / HALF);
        self.frames.push(shrink(frame));
    }

    /// Writes the GIF: `delay` hundredths of a second per frame, longer for the last. Returns its bytes.
    pub fn save_gif(&self, path: &Path, delay: u16) -> Result<u64> {
        self.write_gif(path, delay).map_err(|e| format!("{}: {e}", path.display()).into())
    }

    fn write_gif(&self, path: &Path, delay: u16) -> Result<u64> {
        let (width, height) = (u16::try_from(self.width)?, u16::try_from(self.height)?);
        let mut file = BufWriter::new(File::create(path)?);
        let mut gif = gif::Encoder::new(&mut file, width, height, &[])?;
        gif.set_repeat(gif::Repeat::Infinite)?;
        for (number, frame) in self.frames.iter().enumerate() {
            let before = number.checked_sub(1).map(|before| &self.frames[before]);
            // What has not changed is transparent: small files, and a ground that does not flicker.
            let is_new = |at: usize| before.is_none_or(|before| before[at] != frame[at]);
            let pixels = (0..frame.len()).flat_map(|at| if is_new(at) { frame[at] } else { [0; 4] });
            let mut drawn =
                gif::Frame::from_rgba_speed(width, height, &mut pixels.collect::<Vec<_>>(), SPEED);
            drawn.dispose = gif::DisposalMethod::Keep;
            drawn.delay = if number + 1 == self.frames.len() { delay.saturating_mul(10) } else { delay };
            gif.write_frame(&drawn)?;
        }
        gif.into_inner()?.flush()?;
        Ok(std::fs::metadata(path)?.len())
    }
}

/// Averages squares of `HALF` x `HALF` pixels.
fn shrink(Frame(image): &Frame) -> Vec<[u8; 4]> {
    let (width, height) = (image.width() as usize / HALF, image.height() as usize / HALF);
    let (row, bytes) = (4 * image.width() as usize, image.data());
    let average = |x: usize, y: usize, k: usize| {
        let square =
            (0..HALF).flat_map(|j| (0..HALF).map(move |i| (HALF * y + j) * row + 4 * (HALF * x + i)));
        (square.map(|at| u32::from(bytes[at + k])).sum::<u32>() / (HALF * HALF) as u32) as u8
    };
    (0..width * height).map(|at| [0, 1, 2, 3].map(|k| average(at % width, at / width, k))).collect()
}
