//! The exchange of values between the lanes of a warp.

use super::fault::{Checked, Kind, Trouble};
use crate::ptx::{Op, ShuffleMode};

/// Lanes of a warp.
pub(crate) const LANES: usize = 32;

/// One lane of a warp that waits at a shuffle: the operands it brings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    pub a: u64,
    pub b: u32,
    pub c: u32,
    pub mask: u32,
}

/// What a lane receives: a value, and whether the lane it named was in range.
pub(crate) type Received = (u64, bool);

/// What `lane` receives; `warp` holds the lanes that take part.
pub(crate) fn exchange(mode: ShuffleMode, lane: usize, warp: &[Option<Arrived>; LANES]) -> Checked<Received> {
    let Some(own) = warp[lane] else {
        return Err(Trouble::new(Kind::ShuffleMask, format!("lane {lane} does not take part")));
    };
    let (from, in_range) = source(mode, lane as u32, own.b & 31, own.c);
    let from = if in_range { from } else { lane as u32 };
    match warp.get(from as usize).copied().flatten() {
        Some(other) => Ok((other.a, in_range)),
        None => {
            let what = format!("lane {lane} reads lane {from}, which mask {:#010x} lacks", own.mask);
            Err(Trouble::new(Kind::ShuffleLane, what))
        }
    }
}

/// The lane that `lane` reads, and whether it lies in its segment.
fn source(mode: ShuffleMode, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let (clamp, segment) = (c & 31, c >> 8 & 31);
    let last = lane & segment | clamp & !segment;
    match mode {
        ShuffleMode::Up => {
            let from = lane as i32 - b as i32;
            (from as u32, from >= last as i32)
        }
        ShuffleMode::Down => (lane + b, lane + b <= last),
        ShuffleMode::Butterfly => (lane ^ b, lane ^ b <= last),
        ShuffleMode::Index => {
            let from = lane & segment | b & !segment;
            (from, from <= last)
        }
    }
}

/// The operands that a lane with these registers brings to the shuffle `op`.
pub(crate) fn arrive(op: &Op, registers: &[u64]) -> Option<(ShuffleMode, Arrived)> {
    match *op {
        Op::Shuffle { mode, a, b, c, mask, .. } => {
            let number = |place: u32| registers[place as usize] as u32;
            let a = registers[a as usize];
            Some((mode, Arrived { a, b: number(b), c: number(c), mask: number(mask) }))
        }
        _ => None,
    }
}

/// Puts what a lane received into its registers.
pub(crate) fn deliver(op: &Op, registers: &mut [u64], (value, in_range): Received) {
    if let Op::Shuffle { d, p, .. } = *op {
        registers[d as usize] = value;
        if let Some(p) = p {
            registers[p as usize] = in_range as u64;
        }
    }
}
