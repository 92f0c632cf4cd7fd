//! How much memory this process may take, as Linux tells it; elsewhere nobody says. Knows nothing of what it
//! is needed for.

use std::fs::read_to_string;

/// Bytes that can still be allocated: what the machine has free, and what the process's limits leave.
pub fn available() -> Option<u64> {
    let free = read_to_string("/proc/meminfo").ok().and_then(|text| number_behind(&text, "MemAvailable:"));
    let group = read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    let space = read_to_string("/proc/self/limits");
    let space = space.ok().and_then(|text| number_behind(&text, "Max address space"));
    [free.map(|kib| kib.saturating_mul(1024)), group, space].into_iter().flatten().min()
}

/// The first number behind a word, if one follows it.
fn number_behind(text: &str, word: &str) -> Option<u64> {
    text.split_once(word)?.1.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_and_unlimited_is_none() {
        let text =
            "MemTotal: 5 kB\nMemAvailable:   123 kB\nMax address space     unlimited   unlimited  bytes";
        assert_eq!(number_behind(text, "MemAvailable:"), Some(123));
        assert_eq!(number_behind(text, "Max address space"), None);
        assert_eq!(number_behind(text, "Swap:"), None);
    }
}
