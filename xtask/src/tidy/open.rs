//! Judges the counts of [`super::measures`]. `xtask/open.txt` lists what is still above its limit,
//! with the count that is allowed for now. More than that is a finding, and so is an entry that is no
//! longer needed: the list only shrinks.

use super::measures::Measure;
use std::collections::BTreeMap;

/// Allowed counts by rule and key.
pub type Open = BTreeMap<(String, String), usize>;

/// Reads `open.txt`: rule, key and count per line; `#` opens a comment.
pub fn parse(text: &str) -> Result<Open, String> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or("").trim());
    let entries = lines.filter(|line| !line.is_empty()).map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[rule, key, count] = words.as_slice() else {
            return Err(format!("open.txt: expected `rule key count`, found `{line}`"));
        };
        let count = count.parse().map_err(|_| format!("open.txt: `{count}` is not a count"))?;
        Ok(((rule.to_string(), key.to_string()), count))
    });
    entries.collect()
}

/// The findings of all measures.
pub fn judge(measures: &[Measure], open: &Open) -> Vec<String> {
    let mut findings = Vec::new();
    let mut needed: Open = Open::new();
    for measure in measures {
        let Measure { rule, key, count, limit, details } = measure;
        let entry = (rule.to_string(), key.clone());
        let allowed = open.get(&entry).copied().unwrap_or(*limit);
        if *count > allowed {
            findings
                .push(format!("{rule}: {key}: {count}, at most {allowed}\n    {}", details.join("\n    ")));
        }
        if count > limit {
            needed.insert(entry, *count);
        }
    }
    let idle = open.keys().filter(|entry| !needed.contains_key(*entry));
    findings.extend(idle.map(|(rule, key)| {
        format!("{rule}: {key}: done; `cargo xtask tidy --lower` takes it off xtask/open.txt")
    }));
    findings
}

/// The text of `open.txt` with counts lowered to what they are, and without what is done. Nothing is
/// raised or added.
pub fn lowered(measures: &[Measure], open: &Open, heading: &str) -> String {
    let mut text = heading.to_string();
    for ((rule, key), allowed) in open {
        let measure = measures.iter().find(|measure| measure.rule == rule && measure.key == *key);
        if let Some(measure) = measure.filter(|measure| measure.count > measure.limit) {
            text += &format!("{rule} {key} {}\n", measure.count.min(*allowed));
        }
    }
    text
}

/// One line per rule: how many keys are above their limit, and by how much.
pub fn summary(measures: &[Measure], rules: impl Iterator<Item = &'static str>) -> String {
    let mut text = format!("{:<14}{:>6}{:>10}  {}\n", "rule", "open", "excess", "largest");
    for rule in rules {
        let mut over: Vec<&Measure> =
            measures.iter().filter(|m| m.rule == rule && m.count > m.limit).collect();
        over.sort_by_key(|measure| std::cmp::Reverse(measure.count - measure.limit));
        let excess: usize = over.iter().map(|measure| measure.count - measure.limit).sum();
        let largest: Vec<String> =
            over.iter().take(4).map(|m| format!("{} {} ({})", m.key, m.count, m.limit)).collect();
        text += &format!("{rule:<14}{:>6}{excess:>10}  {}\n", over.len(), largest.join(", "));
    }
    for measure in measures.iter().filter(|measure| measure.rule == "budget") {
        text += &format!("{:<24}{:>8} lines of {:>6}\n", measure.key, measure.count, measure.limit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(key: &str, count: usize) -> Measure {
        Measure { rule: "folder", key: key.into(), count, limit: 12, details: vec!["too many".into()] }
    }

    #[test]
    fn the_list_of_what_is_open_only_shrinks() {
        let open = parse("# heading\nfolder a 20\n").unwrap();
        assert_eq!(judge(&[measure("a", 20), measure("b", 12)], &open), [""; 0]);
        assert_eq!(judge(&[measure("a", 21)], &open), ["folder: a: 21, at most 20\n    too many"]);
        assert_eq!(
            judge(&[measure("a", 20), measure("b", 13)], &open),
            ["folder: b: 13, at most 12\n    too many"]
        );
        assert_eq!(judge(&[measure("a", 12)], &open).len(), 1);
        assert_eq!(judge(&[], &open).len(), 1);
    }

    #[test]
    fn lowering_adds_nothing() {
        let open = parse("folder a 20\nfolder b 30\nfolder c 13").unwrap();
        let measures = [measure("a", 15), measure("b", 31), measure("c", 12), measure("d", 99)];
        assert_eq!(lowered(&measures, &open, "# x\n"), "# x\nfolder a 15\nfolder b 30\n");
    }

    #[test]
    fn a_broken_line_is_an_error() {
        assert!(parse("folder a").is_err());
        assert!(parse("folder a many").is_err());
    }
}
