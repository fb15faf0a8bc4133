//! Which contenders are ours, and the order of contenders in tables and charts.

use crate::record::Record;

/// Our kinds of filter, in the order of tables and colours. A contender is of the kind with the
/// longest name that its own name begins with: `cuckoo 4 × 16` is a `cuckoo`.
const KINDS: [&str; 5] = ["blocked", "once", "classic", "cuckoo", "once cuckoo"];

/// Returns the index in [`KINDS`] of a contender, if it is ours.
pub(super) fn kind(name: &str) -> Option<usize> {
    let is = |kind: &str| {
        name.strip_prefix(kind).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ',']))
    };
    (0..KINDS.len()).filter(|&index| is(KINDS[index])).max_by_key(|&index| KINDS[index].len())
}

/// Returns whether the figure is a limit of the memory and no filter's.
pub(super) fn is_floor(name: &str) -> bool {
    matches!(name, "R" | "W" | "memory")
}

/// Returns whether the operation only writes: then W is its limit and not R.
pub(super) fn writes(operation: &str) -> bool {
    ["insert", "remove", "write"].iter().any(|write| operation.starts_with(write))
}

/// Returns the contenders: ours, then the others from the lowest figures up, then the limits of the
/// memory.
pub(super) fn ordered<'a>(records: &[&'a Record]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for record in records {
        if !names.contains(&record.contender.as_str()) {
            names.push(&record.contender);
        }
    }
    // The mean of the logarithms: small and large filters count equally.
    let height = |name: &str| {
        let values = records.iter().filter(|record| record.contender == name);
        let logs: Vec<f64> = values.map(|record| record.value.ln()).collect();
        logs.iter().sum::<f64>() / logs.len() as f64
    };
    let rank = |name: &str| match kind(name) {
        Some(kind) => (kind, 0.0),
        None if is_floor(name) => (usize::MAX, 0.0),
        None => (KINDS.len(), height(name)),
    };
    names.sort_by(|a, b| {
        let (a, b) = (rank(a), rank(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example::record;

    #[test]
    fn ours_are_known_by_their_names() {
        let names = [
            "blocked, exclusive",
            "once",
            "once cuckoo 4 × 16",
            "cuckoofilter",
            "cuckoo-clock",
            "R",
        ];
        assert_eq!(names.map(kind), [Some(0), Some(1), Some(4), None, None, None]);
    }

    #[test]
    fn ours_come_first_and_the_floors_last() {
        let records = [("R", 1.0), ("slow", 9.0), ("fast", 2.0), ("once", 5.0), ("blocked", 4.0)]
            .map(|(name, value)| record("operation", name, "hit", value));
        let records: Vec<&Record> = records.iter().collect();
        assert_eq!(ordered(&records), ["blocked", "once", "fast", "slow", "R"]);
    }
}
