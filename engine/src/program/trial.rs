//! Trials of links: what all ranks agree on, and what they send to compare it.

use crate::error::Result;
use crate::wire::Ranks;

/// All ranks' consent, or the first refusal.
pub(super) fn agree(
    ranks: &Ranks,
    operation: &str,
    mine: std::result::Result<(), String>,
) -> Result<std::result::Result<(), String>> {
    let refusal = mine.err().unwrap_or_default();
    let all = ranks.all_gather(operation, refusal.as_bytes())?;
    let first = all.iter().enumerate().find(|(_, refusal)| !refusal.is_empty());
    Ok(first.map_or(Ok(()), |(rank, refusal)| {
        let refusal = String::from_utf8_lossy(refusal);
        Err(if refusal.starts_with("rank ") { refusal.into() } else { format!("rank {rank}: {refusal}") })
    }))
}

/// A pattern that depends on the sender and the direction.
pub(super) fn pattern(rank: usize, direction: usize, bytes: usize) -> Vec<u8> {
    let seed = (31 * rank + 7 * direction + 1) as u32;
    (0..bytes as u32)
        .map(|k| (k.wrapping_mul(2_654_435_761).wrapping_add(seed * 40_503) >> 13) as u8)
        .collect()
}
