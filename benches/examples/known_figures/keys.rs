//! The keys, and a count on all cores.

use std::ops::Range;
use std::thread;

use md5::{Digest, Md5};

/// The length of a URL of [`url`].
pub(crate) const URL_LENGTH: usize = 50;

/// Returns URL number `i`: 50 characters, distinct for distinct numbers below 10^12.
pub(crate) fn url(i: u64) -> String {
    format!("https://www.example.org/archives/{i:012}.html")
}

/// Returns the hexadecimal MD5 of a number's digits.
pub(crate) fn digest(i: u64) -> String {
    let digest = Md5::digest(i.to_string());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the MD5 of a text.
pub(crate) fn md5(text: &str) -> [u8; 16] {
    Md5::digest(text).into()
}

/// Counts the numbers of a range for which a query returns `true`, on all cores.
pub(crate) fn count(range: Range<u64>, query: impl Fn(u64) -> bool + Sync) -> u64 {
    let threads = thread::available_parallelism().map_or(1, usize::from) as u64;
    let part = (range.end - range.start).div_ceil(threads).max(1);
    thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|thread| {
                let from = (range.start + thread * part).min(range.end);
                let part = from..(from + part).min(range.end);
                let query = &query;
                scope.spawn(move || part.filter(|&i| query(i)).count() as u64)
            })
            .collect();
        parts.into_iter().map(|part| part.join().expect("no query panics")).sum()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_cases() {
        assert_eq!(digest(0), "cfcd208495d565ef66e7dff9f98764da");
        assert_eq!([url(0).len(), url(999_999_999_999).len()], [URL_LENGTH; 2]);
    }

    #[test]
    fn every_number_is_counted_once() {
        for range in [0..0, 5..6, 3..103] {
            assert_eq!(count(range.clone(), |_| true), range.end - range.start);
        }
        assert_eq!(count(0..1000, |i| i % 10 == 3), 100);
    }
}
