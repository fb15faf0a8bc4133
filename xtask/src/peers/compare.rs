//! Compares the answers of `tamis` and of a peer about one filter that `tamis` has built, key by
//! key.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use xshell::{Cmd, Shell, cmd};

use super::install::Reader;
use super::keys::{KeyType, Keys};
use super::list::Size;
use crate::Result;

/// What was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) filters: usize,
    pub(super) inserted: usize,
    pub(super) absent: usize,
    /// The absent keys that may be in the filter, as the peer says.
    pub(super) found: usize,
    /// The keys about which the answers differ, and the inserted keys that the peer does not find.
    pub(super) disagreements: usize,
}

impl Counts {
    pub(super) fn add(&mut self, other: Self) {
        self.filters += other.filters;
        self.inserted += other.inserted;
        self.absent += other.absent;
        self.found += other.found;
        self.disagreements += other.disagreements;
    }
}

/// What compares filters, one after another.
pub(super) struct Comparison<'s> {
    sh: &'s Shell,
    tamis: PathBuf,
    folder: PathBuf,
}

impl<'s> Comparison<'s> {
    /// `folder`: where files are written.
    pub(super) fn new(sh: &'s Shell, tamis: &Path, folder: &Path) -> Self {
        Self { sh, tamis: tamis.to_owned(), folder: folder.to_owned() }
    }

    /// Builds a filter, and asks both programs about all keys.
    pub(super) fn run(
        &self,
        reader: &Reader,
        format: &str,
        key_type: KeyType,
        size: Size,
        keys: &Keys,
    ) -> Result<Counts> {
        let (sh, tamis) = (self.sh, &self.tamis);
        let [filter, inserted, all] =
            ["filter", "inserted", "all"].map(|name| self.folder.join(name));
        sh.write_file(&inserted, lines(keys.inserted()))?;
        sh.write_file(&all, lines(keys.all()))?;

        let capacity = size.capacity.to_string();
        let rate = size.rate.map(|rate| format!("--rate={rate}"));
        let key_options = ["--key-type", key_type.name()];
        let hex = (key_type == KeyType::Bytes).then_some("--hex");
        let build =
            cmd!(sh, "{tamis} build --overfull --to {format} --capacity {capacity} {rate...}");
        output(build.args(key_options).args(hex).arg("-o").args([&filter, &inserted]))?;
        let query = cmd!(sh, "{tamis} query --from {format} {key_options...} {hex...}");
        let ours = output(query.args([&filter, &all]))?;

        let (program, arguments) = reader.command.split_first().ok_or("a reader is a program")?;
        let read = cmd!(sh, "{program} {arguments...} {format}").arg(key_type.name());
        let theirs = output(read.args([&filter, &all]))?;
        count(keys, &ours, &theirs)
    }
}

fn lines(keys: &[String]) -> String {
    keys.iter().flat_map(|key| [key.as_str(), "\n"]).collect()
}

/// Runs a program. Returns what it prints; its messages only if it fails.
fn output(command: Cmd<'_>) -> Result<String> {
    let shown = command.to_string();
    let output = command.quiet().ignore_status().output()?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{shown}: {}:\n{messages}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Compares the keys that we found with the answers of a peer about all keys.
fn count(keys: &Keys, ours: &str, theirs: &str) -> Result<Counts> {
    let all = keys.all();
    if theirs.len() != all.len() || theirs.contains(|answer| answer != '0' && answer != '1') {
        return Err(format!("{} answers about {} keys", theirs.len(), all.len()).into());
    }
    let ours: HashSet<&str> = ours.lines().collect();
    let inserted = keys.inserted().len();
    let mut counts =
        Counts { filters: 1, inserted, absent: all.len() - inserted, ..Counts::default() };
    for (number, (key, answer)) in all.iter().zip(theirs.chars()).enumerate() {
        let (ours, theirs) = (ours.contains(key.as_str()), answer == '1');
        if theirs && number >= inserted {
            counts.found += 1;
        }
        if ours != theirs || !theirs && number < inserted {
            counts.disagreements += 1;
            if counts.disagreements <= 3 {
                eprintln!("{key:?}, key {number}: tamis says {ours}, the peer says {theirs}");
            }
        }
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_is_counted() {
        let keys = Keys::new(KeyType::I32, true, 2, 3);
        let [a, b, c, d, e] = keys.all() else { panic!("five keys") };
        let count = |ours: &[&String], theirs| {
            let ours: Vec<String> = ours.iter().map(|key| (*key).clone()).collect();
            count(&keys, &lines(&ours), theirs)
        };
        let counts = |found, disagreements| Counts {
            filters: 1,
            inserted: 2,
            absent: 3,
            found,
            disagreements,
        };
        assert_eq!(count(&[a, b, d], "11010").ok(), Some(counts(1, 0)));
        // A key that only one of both finds.
        assert_eq!(count(&[a, b, d], "11011").ok(), Some(counts(2, 1)));
        assert_eq!(count(&[a, b, c, d, e], "11010").ok(), Some(counts(1, 2)));
        // An inserted key that neither finds.
        assert_eq!(count(&[a], "10000").ok(), Some(counts(0, 1)));
        assert!(count(&[a, b], "1100").is_err());
        assert!(count(&[a, b], "1100x").is_err());
    }
}
