//! Bytes as numbers, and ranges of bits in lists of words.

/// Threads of a warp.
pub(crate) const LANES: usize = 32;

/// Little-endian bytes as a number.
#[inline(always)]
pub(crate) fn value(bytes: &[u8]) -> u128 {
    match *bytes {
        [a] => a as u128,
        [a, b] => u16::from_le_bytes([a, b]) as u128,
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]) as u128,
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]) as u128,
        _ => {
            let mut all = [0; 16];
            all[..bytes.len()].copy_from_slice(bytes);
            u128::from_le_bytes(all)
        }
    }
}

/// Stores the low bytes of a number.
#[inline(always)]
pub(crate) fn set_value(bytes: &mut [u8], value: u128) {
    match bytes.len() {
        1 => bytes[0] = value as u8,
        2 => bytes.copy_from_slice(&(value as u16).to_le_bytes()),
        4 => bytes.copy_from_slice(&(value as u32).to_le_bytes()),
        8 => bytes.copy_from_slice(&(value as u64).to_le_bytes()),
        length => bytes.copy_from_slice(&value.to_le_bytes()[..length]),
    }
}

/// Whether all bits of a range are set.
#[inline(always)]
pub(crate) fn bits_set(words: &[u64], from: usize, count: usize) -> bool {
    if from % 64 + count < 64 {
        let mask = ((1u64 << count) - 1) << (from % 64);
        return words[from / 64] & mask == mask;
    }
    words_of(from, count).all(|(word, mask)| words[word] & mask == mask)
}

pub(crate) fn mark_bits(words: &mut [u64], from: usize, count: usize, set: bool) {
    for (word, mask) in words_of(from, count) {
        if set {
            words[word] |= mask;
        } else {
            words[word] &= !mask;
        }
    }
}

/// The words that a range of bits touches, each with its mask.
fn words_of(from: usize, count: usize) -> impl Iterator<Item = (usize, u64)> {
    let end = from + count;
    (from / 64..end.div_ceil(64)).map(move |word| {
        let low = from.max(word * 64) - word * 64;
        let high = end.min(word * 64 + 64) - word * 64;
        (word, (u64::MAX >> (64 - (high - low))) << low)
    })
}
