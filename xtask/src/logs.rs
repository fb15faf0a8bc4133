//! `logs`: writes files of synthetic log lines, the same on every machine.
//!
//! Each line has the ID of a request, its fourth field. Most requests are in one file, in some
//! lines; some are in lines of several files, as requests that are retried later or go through
//! several services.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use crate::Result;
use crate::urls::SplitMix64;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Directory of the files, which is created
    folder: PathBuf,
    /// Number of files
    #[arg(long, default_value_t = 1000)]
    files: u32,
    /// Number of lines in each file: 9,900 lines have about 1 MB
    #[arg(long, default_value_t = 9_900)]
    lines: u32,
    /// Seed of the lines
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(args: &Args) -> Result {
    fs::create_dir_all(&args.folder)?;
    for file in 0..args.files {
        let path = args.folder.join(format!("{file:04}.log"));
        let mut out = BufWriter::with_capacity(1 << 20, fs::File::create(path)?);
        write(args, file, &mut out)?;
        out.flush()?;
    }
    Ok(())
}

fn write(args: &Args, file: u32, out: &mut impl Write) -> io::Result<()> {
    let mut random = SplitMix64(SplitMix64(args.seed ^ (u64::from(file) << 32)).next());
    // Three lines per request, if all lines of a request were in one file.
    let own = (args.lines / 3).max(1);
    for line in 0..args.lines {
        // Seven of eight lines are of requests of this file, the others of requests of any file.
        let of_file = if random.below(8) > 0 { file } else { random.below(args.files) };
        let request = u64::from(of_file) << 32 | u64::from(random.below(own));
        write_line(args.seed, file, line, request, &mut random, out)?;
    }
    Ok(())
}

const LEVELS: [&str; 8] = ["INFO", "INFO", "INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR"];
const METHODS: [&str; 4] = ["GET", "GET", "POST", "PUT"];
const PATHS: [&str; 8] =
    ["cart", "items", "orders", "search", "users", "login", "images/small", "reports/daily"];

/// Writes a line: time, host, level, request, user, method, path, status, milliseconds.
fn write_line(
    seed: u64,
    file: u32,
    line: u32,
    request: u64,
    random: &mut SplitMix64,
    out: &mut impl Write,
) -> io::Result<()> {
    let bits = random.next();
    // One file for each minute.
    let (hour, minute) = (file / 60 % 24, file % 60);
    let (second, milli) = (line / 200 % 60, line % 200 * 5);
    let day = 1 + file / 1440 % 28;
    writeln!(
        out,
        "2026-03-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z web-{:02} {} {:016x} user{:07} {} \
         /api/v2/{}/{} {} {}",
        bits % 32,
        LEVELS[(bits >> 8) as usize % 8],
        id(seed, request),
        (bits >> 16) % 5_000_000,
        METHODS[(bits >> 40) as usize % 4],
        PATHS[(bits >> 48) as usize % 8],
        100_000 + (bits >> 32) % 900_000,
        if bits >> 60 == 0 { 500 } else { 200 },
        (bits >> 52) % 256,
    )
}

/// Returns the ID of a request: a permutation of its number, so that all IDs differ.
fn id(seed: u64, request: u64) -> u64 {
    // SplitMix64 mixes its state by steps that are all invertible.
    SplitMix64(seed.wrapping_add(request)).next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashMap, HashSet};

    fn args(files: u32, lines: u32) -> Args {
        Args { folder: PathBuf::new(), files, lines, seed: 1 }
    }

    fn file(args: &Args, number: u32) -> String {
        let mut out = Vec::new();
        write(args, number, &mut out).expect("writing to a vector cannot fail");
        String::from_utf8(out).expect("lines are ASCII")
    }

    fn requests(text: &str) -> HashSet<&str> {
        text.lines().map(|line| line.split(' ').nth(3).expect("a request")).collect()
    }

    #[test]
    fn a_file_of_the_default_length_has_about_a_megabyte() {
        let file = file(&args(1000, 9_900), 7);
        assert_eq!(file.lines().count(), 9_900);
        assert!((990_000..1_010_000).contains(&file.len()), "{}", file.len());
        assert!(file.lines().all(|line| line.split(' ').count() == 9));
    }

    #[test]
    fn most_requests_are_in_one_file_and_some_in_several() {
        let args = args(100, 1000);
        let files: Vec<String> = (0..100).map(|number| file(&args, number)).collect();
        let mut counts: HashMap<&str, u32> = HashMap::new();
        for file in &files {
            requests(file).into_iter().for_each(|id| *counts.entry(id).or_default() += 1);
        }
        let once = counts.values().filter(|&&count| count == 1).count();
        assert!(counts.len() > 30_000, "{} requests", counts.len());
        assert!(once > counts.len() / 2 && once < counts.len() * 9 / 10, "{once} in one file");
        assert!(counts.values().any(|&count| count > 3));
    }

    #[test]
    fn the_lines_are_pinned() {
        let line = "2026-03-01T00:07:00.000Z web-17 INFO fd323448a4497c68 user1358594 POST /api/v2/items/838320 200 146";
        assert_eq!(file(&args(1000, 10), 7).lines().next(), Some(line));
        assert_ne!(file(&args(9, 10), 0), file(&args(9, 10), 1));
    }
}
