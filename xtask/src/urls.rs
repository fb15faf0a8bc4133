//! `urls`: writes a list of synthetic URLs with duplicates, the same on every machine.
//!
//! The list is an array of URL numbers. It contains each number once, so that the count of distinct
//! URLs is exact, and then duplicates, most of them of small numbers. The array is shuffled. A URL
//! depends on its number and the seed.

use std::io::{self, BufWriter, Write};

use crate::Result;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Number of lines to write
    #[arg(long)]
    lines: u32,
    /// Exact number of distinct URLs
    #[arg(long)]
    distinct: u32,
    /// Seed of the order and of the URLs
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(args: &Args) -> Result {
    let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    match write(args, &mut out).and_then(|()| out.flush()) {
        // The reader closed the pipe, as `head` does.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}

fn write(args: &Args, out: &mut impl Write) -> io::Result<()> {
    if args.distinct > args.lines || (args.distinct == 0 && args.lines > 0) {
        let message = "--distinct must be between 1 and --lines";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let mut line = Vec::with_capacity(128);
    for number in order(args) {
        line.clear();
        push_url(&mut line, number, args.seed);
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}

/// Returns the URL numbers in the order of the list.
fn order(args: &Args) -> Vec<u32> {
    let mut random = SplitMix64(args.seed);
    let repeats = args.lines - args.distinct;
    let mut order: Vec<u32> = (0..args.distinct).collect();
    // Uniform over all numbers, over the first half, over the first quarter, and so on: the
    // frequency of a URL is about one over its rank, as in the logs of real sites.
    order.extend((0..repeats).map(|_| {
        let halvings = random.below(16);
        random.below((args.distinct >> halvings).max(1))
    }));
    for i in (1..args.lines).rev() {
        order.swap(i as usize, random.below(i + 1) as usize);
    }
    order
}

const HOSTS: [&str; 16] = [
    "alder", "birch", "cedar", "copper", "delta", "ember", "falcon", "garnet", "harbor", "island",
    "juniper", "lantern", "meadow", "nimbus", "orchard", "pioneer",
];
const KINDS: [&str; 8] =
    ["news", "shop", "weather", "library", "journal", "archive", "gallery", "market"];
const DOMAINS: [&str; 8] = ["com", "org", "net", "de", "co.uk", "fr", "io", "edu"];
const SECTIONS: [&str; 8] =
    ["articles", "products", "category", "reviews", "blog", "wiki", "forum/threads", "documents"];
const WORDS: [&str; 16] = [
    "ancient", "bridge", "climate", "design", "energy", "finance", "garden", "history", "kitchen",
    "machine", "northern", "portrait", "quality", "report", "summer", "travel",
];
const QUERIES: [&str; 4] = ["?ref=home&id=", "?lang=en&page=", "?utm_source=feed&id=", "?v="];

/// Appends the URL of this number. The last run of digits is a permutation of the number, so all
/// URLs are distinct.
fn push_url(line: &mut Vec<u8>, number: u32, seed: u64) {
    let mut random = SplitMix64(seed ^ (u64::from(number) << 32));
    // A small number is a popular URL. 64 consecutive numbers share a site.
    let site = SplitMix64(seed ^ u64::from(number >> 6)).next();
    let scheme = if site.is_multiple_of(8) { "http://" } else { "https://" };
    let www = if site.is_multiple_of(3) { "" } else { "www." };
    push(line, &[scheme, www, pick(&HOSTS, site >> 8), "-", pick(&KINDS, site >> 16)]);
    push_decimal(line, (site >> 24) as u32 % 1000);
    let bits = random.next();
    push(line, &[".", pick(&DOMAINS, site >> 48), "/", pick(&SECTIONS, bits), "/"]);
    push(line, &[pick(&WORDS, bits >> 8), "-", pick(&WORDS, bits >> 12)]);
    let id = scramble(number, seed);
    let (before, after) = match (bits >> 16) % 4 {
        0 => ("/", ""),
        1 => ("-", ".html"),
        _ => (pick(&QUERIES, bits >> 24), ""),
    };
    push(line, &[before]);
    push_decimal(line, id);
    push(line, &[after]);
}

fn push(line: &mut Vec<u8>, parts: &[&str]) {
    parts.iter().for_each(|part| line.extend_from_slice(part.as_bytes()));
}

fn pick<const N: usize>(words: &[&'static str; N], bits: u64) -> &'static str {
    words[bits as usize % N]
}

fn push_decimal(line: &mut Vec<u8>, mut number: u32) {
    let start = line.len();
    loop {
        line.push(b'0' + (number % 10) as u8);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    line[start..].reverse();
}

/// A bijection on the 32-bit numbers: each step is invertible.
fn scramble(number: u32, seed: u64) -> u32 {
    let mut x = number ^ seed as u32;
    x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// The generator of Steele, Lea and Flood.
pub(crate) struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`, which must not be 0.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        (((self.next() >> 32) * u64::from(bound)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn list(lines: u32, distinct: u32, seed: u64) -> String {
        let mut out = Vec::new();
        write(&Args { lines, distinct, seed }, &mut out).expect("writing to a vector cannot fail");
        String::from_utf8(out).expect("URLs are ASCII")
    }

    #[test]
    fn the_numbers_of_lines_and_distinct_lines_are_exact() {
        for (lines, distinct) in [(0, 0), (1, 1), (7, 1), (7, 7), (50_000, 33_333)] {
            let list = list(lines, distinct, 9);
            let counts = counts(&list);
            assert_eq!(list.lines().count(), lines as usize);
            assert_eq!(counts.len(), distinct as usize);
        }
    }

    #[test]
    fn duplicates_are_skewed_and_spread() {
        let list = list(100_000, 20_000, 3);
        let by_url = counts(&list);
        assert!(by_url.values().any(|&n| n > 20), "no URL is popular");
        assert!(by_url.values().filter(|&&n| n == 1).count() > 1000, "no URL is rare");
        let (first_half, _) = list.split_at(list.len() / 2);
        let seen = counts(first_half).len();
        assert!((10_000..19_000).contains(&seen), "{seen} of 20,000 URLs in the first half");
    }

    #[test]
    fn a_line_has_about_73_bytes() {
        let mean = list(100_000, 100_000, 1).len() / 100_000;
        assert!((71..=75).contains(&mean), "{mean}");
    }

    #[test]
    fn the_list_is_pinned() {
        let url =
            "https://www.meadow-weather833.net/products/quality-finance?lang=en&page=1753845952";
        assert_eq!(list(1000, 500, 1).lines().next(), Some(url));
        assert_ne!(list(1000, 500, 1), list(1000, 500, 2));
    }

    #[test]
    fn more_distinct_urls_than_lines_are_refused() {
        let args = Args { lines: 3, distinct: 4, seed: 0 };
        assert!(write(&args, &mut Vec::new()).is_err());
    }

    fn counts(list: &str) -> HashMap<&str, u32> {
        let mut counts = HashMap::new();
        for line in list.lines() {
            *counts.entry(line).or_default() += 1;
        }
        counts
    }
}
