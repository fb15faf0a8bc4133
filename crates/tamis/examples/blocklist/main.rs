//! Lists that are too large for memory, each behind a filter: names in a text, URLs by host suffix
//! and path prefix, senders of mail. What passes the filter is looked up in the list on disk, so
//! that every answer is exact.
//!
//! ```sh
//! $ cargo run --release --example blocklist crates/tamis/data/homepages.txt
//! phrases: 99995 entries in 2174 KiB on disk
//!   the filter and the index take ... KiB of memory
//!   501845 candidates, 825 read the disk, 266 are listed
//!   415 distinct ones passed and are not listed
//! URLs: 100249 entries in 2212 KiB on disk
//!   the filter and the index take ... KiB of memory
//!   198892 candidates, 11146 read the disk, 10918 are listed
//!   54 distinct ones passed and are not listed
//! senders: 100000 entries in 2473 KiB on disk
//!   the filter and the index take ... KiB of memory
//!   604984 candidates, 10190 read the disk, 10000 are listed
//!   190 distinct ones passed and are not listed
//! ```
//!
//! The argument is a file with one URL per line; without it, the URLs are generated.

mod candidates;
mod exact;
mod generated;
mod guarded;

use std::collections::HashSet;
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::{env, fs};

use guarded::Guarded;

/// The candidates that are asked at once.
const BATCH: usize = 1000;

/// A rule that finds the entries of a list which may hold for a text, a URL or a sender.
type Candidates = fn(&str) -> Vec<String>;

fn main() -> Result<(), Box<dyn Error>> {
    let urls = match env::args_os().nth(1) {
        Some(file) => lines(file)?,
        None => generated::urls(),
    };
    let names = generated::names();
    let text = generated::text(&names);
    let phrases = check("phrases", names, &[text], candidates::phrases)?;
    let prefixes = check("URLs", generated::blocked(&urls), &urls, candidates::prefixes)?;
    let spammers = generated::spammers();
    let senders = generated::senders(&spammers);
    let senders = check("senders", spammers, &senders, candidates::senders)?;
    // A reader that has enough, such as `head`, closes the pipe.
    match io::stdout().write_all([phrases, prefixes, senders].concat().as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Reads the lines of a file. An error names it.
fn lines(file: OsString) -> Result<Vec<String>, Box<dyn Error>> {
    let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// Asks a list about all inputs, in batches, and returns what the filter saves.
fn check(
    name: &str,
    list: Vec<String>,
    inputs: &[String],
    candidates: Candidates,
) -> Result<String, Box<dyn Error>> {
    let list: HashSet<String> = list.into_iter().collect();
    let mut guarded = Guarded::new(list.iter().cloned())?;

    // A real list would not fit in memory. This one does, and checks each answer.
    let (mut listed, mut wrong) = (0_u64, HashSet::new());
    let all: Vec<String> = inputs.iter().flat_map(|input| candidates(input)).collect();
    for batch in all.chunks(BATCH) {
        for (candidate, answer) in batch.iter().zip(guarded.contains_many(batch)?) {
            assert_eq!(answer.is_listed, list.contains(candidate), "{name}: {candidate}");
            listed += u64::from(answer.is_listed);
            if answer.passed && !answer.is_listed {
                wrong.insert(candidate);
            }
        }
    }

    // By Chernoff's bound it is at most (e/4)^n likely that there are twice as many as the n that
    // are expected: 10^-16 for 100.
    let distinct = all.iter().collect::<HashSet<_>>().len();
    let expected = (guarded.false_positive_rate() * distinct as f64).max(100.0);
    assert!((wrong.len() as f64) < 2.0 * expected, "{name}: the filter lets too many pass");

    let [on_disk, in_memory] = [guarded.bytes_on_disk(), guarded.size_in_bytes()].map(|n| n / 1024);
    Ok(format!(
        "{name}: {} entries in {on_disk} KiB on disk\n  \
           the filter and the index take {in_memory} KiB of memory\n  \
           {} candidates, {} read the disk, {listed} are listed\n  \
           {} distinct ones passed and are not listed\n",
        list.len(),
        all.len(),
        guarded.reads(),
        wrong.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_planted_sender_is_listed() {
        let spammers = generated::spammers();
        let senders = generated::senders(&spammers);
        let report = check("senders", spammers, &senders, candidates::senders).unwrap();
        assert!(report.contains(", 10000 are listed\n"), "{report}");
    }

    #[test]
    fn an_error_names_the_file() {
        let error = lines("no/such/file".into()).unwrap_err().to_string();
        assert!(error.starts_with("no/such/file: "), "{error}");
    }

    #[test]
    fn an_empty_list_and_no_input_are_answered() {
        let report = check("none", Vec::new(), &["a b".to_owned()], candidates::phrases).unwrap();
        assert!(report.contains("3 candidates, 0 read the disk, 0 are listed"), "{report}");
        let report = check("one", vec!["a".to_owned()], &[], candidates::phrases).unwrap();
        assert!(report.contains("0 candidates"), "{report}");
    }
}
