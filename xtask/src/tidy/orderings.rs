//! Rules on the files that may name atomics, orderings and filters.

use super::source::{Source, has_word};

/// Only `sync` names the atomics of std and loom, so that loom can replace those of std everywhere.
/// The example of a user's crate is exempt.
pub(super) fn atomics(source: &Source) -> Vec<String> {
    if ["crates/sync/", "xtask/outside/"].iter().any(|folder| source.path.starts_with(folder)) {
        return Vec::new();
    }
    let names_one = |code: &str| {
        code.contains("sync::atomic") && !code.contains("tamis_sync::atomic")
            || has_word(code, "loom")
    };
    found(source, names_one, "atomics", "use tamis_sync")
}

/// The files of each filter crate, apart from its models, that name orderings: one for each kind of
/// shared word.
const OWNERS: [(&str, &[&str]); 2] = [
    (
        "crates/bloom/src/",
        &["bits.rs", "counters.rs", "chain/state.rs", "rotating/state.rs", "rotating/time.rs"],
    ),
    (
        "crates/cuckoo/src/",
        &[
            "table.rs",
            "table/buckets.rs",
            "table/guard.rs",
            "table/query.rs",
            "growth/batch.rs",
            "growth/guard.rs",
            "growth/query.rs",
            "growth/split.rs",
            "growth/table.rs",
            "growth/words.rs",
        ],
    ),
];

/// Only the listed files of a filter crate name orderings.
pub(super) fn few_files_own_them(source: &Source) -> Vec<String> {
    let file = OWNERS
        .iter()
        .find_map(|&(folder, owners)| source.path.strip_prefix(folder).map(|file| (file, owners)));
    let Some((file, owners)) = file else { return Vec::new() };
    if owners.contains(&file) || source.is_model() {
        return Vec::new();
    }
    let advice = format!("move it to one of {}", owners.join(", "));
    found(source, |code| has_word(code, "Ordering"), "few files own orderings", &advice)
}

/// Returns a violation per line of code that is `bad`.
fn found(source: &Source, bad: impl Fn(&str) -> bool, rule: &str, advice: &str) -> Vec<String> {
    source
        .code()
        .filter(|(_, code)| bad(code))
        .map(|(line, _)| source.violation(line, rule, advice))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source::new(path, text.to_owned())
    }

    #[test]
    fn atomics_outside_sync_are_found() {
        let text = "use core::sync::atomic::AtomicU64;\nloom::model(f);\nuse ops_bloom::f;\n";
        assert_eq!(atomics(&source("crates/bloom/src/bits.rs", text)).len(), 2);
        assert_eq!(atomics(&source("crates/sync/src/lib.rs", text)).len(), 0);
    }

    #[test]
    fn another_owner_of_orderings_is_found() {
        let text = "use tamis_sync::Ordering;\n";
        assert_eq!(few_files_own_them(&source("crates/bloom/src/once.rs", text)).len(), 1);
        assert_eq!(few_files_own_them(&source("crates/cuckoo/src/evict.rs", text)).len(), 1);
        assert_eq!(few_files_own_them(&source("crates/cuckoo/src/bits.rs", text)).len(), 1);
        assert_eq!(few_files_own_them(&source("crates/bloom/src/table.rs", text)).len(), 1);
        assert_eq!(few_files_own_them(&source("crates/bloom/src/bits.rs", text)).len(), 0);
        assert_eq!(few_files_own_them(&source("crates/bloom/src/counters.rs", text)).len(), 0);
        assert_eq!(few_files_own_them(&source("crates/cuckoo/src/table.rs", text)).len(), 0);
        assert_eq!(
            few_files_own_them(&source("crates/cuckoo/src/table/models/relocations.rs", text))
                .len(),
            0
        );
    }
}
