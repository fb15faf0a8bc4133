//! The peak memory of `tamis dedup` by the number of distinct lines that it has read from a pipe.
//!
//! One run gives all figures: the program cannot know how many lines follow, so its peak after some
//! lines is the peak of a run that ends there.

use core::error::Error;
use core::ops::Range;
use core::time::Duration;
use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// The longest time without output after which a run has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// The peak memory of a run after a number of lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// The lines read and printed.
    pub lines: u64,
    /// The peak, in bytes.
    pub peak: u64,
}

/// Returns one line, and then the counts from 10,000 to `most`, 200 per decade, at equal factors of
/// 1.2 %.
#[must_use]
pub fn counts(most: u64) -> Vec<u64> {
    let steps = (800..).map(|step| 10_f64.powf(f64::from(step) / 200.0).round() as u64);
    [1].into_iter().chain(steps.take_while(|&lines| lines <= most)).collect()
}

/// Runs `program dedup --threads THREADS` and writes it the numbers from 0 on, a line each. After
/// each of these counts, which rise, it waits until the program has printed exactly that number of
/// lines, and then reads its peak.
///
/// The peak is read from `/proc/PID/status`. (The peak that the system reports of a process that
/// has ended is no less than that of the process which started it.)
///
/// # Errors
///
/// If the program does not run, prints another number of lines or other bytes than it has read, or
/// the system does not report its peak.
pub fn run(program: &Path, threads: usize, counts: &[u64]) -> Result<Vec<Stop>, Box<dyn Error>> {
    let threads = threads.to_string();
    let mut dedup = Command::new(program);
    dedup.args(["dedup", "--quiet", "--threads", &threads]);
    stops(&mut dedup, counts, PATIENCE)
}

/// [`run`] of any program that prints what it reads.
fn stops(
    program: &mut Command,
    counts: &[u64],
    patience: Duration,
) -> Result<Vec<Stop>, Box<dyn Error>> {
    let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (stdin, mut stdout) = (child.stdin.take(), child.stdout.take().ok_or("no output")?);
    let mut input = BufWriter::with_capacity(1 << 16, stdin.ok_or("no input")?);
    let status = format!("/proc/{}/status", child.id());
    let (sender, printed) = channel();
    // The output is read while the input is written, so that the program waits for neither.
    let reader = thread::spawn(move || count(&mut stdout, &sender));
    let mut stops = Vec::with_capacity(counts.len());
    let (mut written, mut total) = (0, Count::default());
    for &lines in counts {
        write(&mut input, total.lines..lines)?;
        input.flush()?;
        written += length(total.lines..lines);
        wait(&printed, &mut total, lines, patience)?;
        if (total.lines, total.bytes) != (lines, written) {
            return Err(format!("{lines} lines, {written} bytes: printed {total:?}").into());
        }
        stops.push(Stop { lines, peak: peak(&fs::read_to_string(&status)?)? });
    }
    // The end of the input, which ends the program.
    drop(input);
    let rest = reader.join().map_err(|_| "the reader failed")??;
    if !child.wait()?.success() || rest != total {
        return Err(format!("it failed, or printed {rest:?} instead of {total:?}").into());
    }
    Ok(stops)
}

/// Lines and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Count {
    lines: u64,
    bytes: u64,
}

/// Writes these numbers, a line each: the shortest distinct lines, so that a chunk has as many as
/// there can be.
fn write(out: &mut impl Write, numbers: Range<u64>) -> io::Result<()> {
    numbers.into_iter().try_for_each(|number| writeln!(out, "{number}"))
}

/// The bytes of these numbers, a line each.
fn length(numbers: Range<u64>) -> u64 {
    numbers.map(|number| u64::from(number.checked_ilog10().unwrap_or(0)) + 2).sum()
}

/// Counts what is read, and reports each count so far; returns the last.
fn count(input: &mut impl Read, counts: &Sender<Count>) -> io::Result<Count> {
    let mut buffer = vec![0; 1 << 16];
    let mut count = Count::default();
    loop {
        let read = input.read(&mut buffer)?;
        if read == 0 {
            return Ok(count);
        }
        count.bytes += read as u64;
        count.lines += buffer[..read].iter().filter(|&&byte| byte == b'\n').count() as u64;
        // After an error nobody receives this.
        let _ = counts.send(count);
    }
}

/// Receives counts until there are this many lines.
fn wait(
    counts: &Receiver<Count>,
    last: &mut Count,
    lines: u64,
    patience: Duration,
) -> Result<(), Box<dyn Error>> {
    while last.lines < lines {
        *last = counts
            .recv_timeout(patience)
            .map_err(|_| format!("{lines} lines were written, and only {} printed", last.lines))?;
    }
    Ok(())
}

/// Returns the peak in the text of `/proc/PID/status`, in bytes.
fn peak(status: &str) -> Result<u64, Box<dyn Error>> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB"));
    Ok(kib.ok_or("the system reports no peak")?.trim().parse::<u64>()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_rise_by_small_steps() {
        let counts = counts(100_000_000);
        assert_eq!((counts[0], counts[1], counts.len()), (1, 10_000, 802));
        assert_eq!(counts.last(), Some(&100_000_000));
        let steps = counts[1..].windows(2).map(|pair| pair[1] as f64 / pair[0] as f64);
        assert!(steps.into_iter().all(|step| step > 1.01 && step < 1.012));
    }

    #[test]
    fn a_length_is_that_of_what_is_written() {
        for numbers in [0..1, 0..1234, 99..100, 99_998..100_003] {
            let mut text = Vec::new();
            write(&mut text, numbers.clone()).expect("a vector");
            assert_eq!(length(numbers), text.len() as u64);
        }
    }

    /// The peak is that of the program, although this process has a larger one.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_peak_is_not_that_of_the_process_which_measures() {
        const OWN: usize = 64 << 20;
        let own = core::hint::black_box(vec![1_u8; OWN]);
        let stops =
            stops(&mut Command::new("cat"), &[1, 1000], PATIENCE).expect("it prints what it reads");
        assert_eq!([stops[0].lines, stops[1].lines], [1, 1000]);
        assert!(stops[1].peak < OWN as u64 / 4, "{stops:?}");
        let status = fs::read_to_string("/proc/self/status").expect("it runs");
        assert!(peak(&status).expect("a peak") > own.len() as u64);
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_prints_something_else_is_an_error() {
        let run =
            |line: &str, patience| stops(Command::new("sh").args(["-c", line]), &[1, 20], patience);
        assert!(run("cat", PATIENCE).is_ok());
        let longer = "while read line; do echo ${line}0; done";
        for line in ["exit", longer, "cat; echo", "cat; exit 1"] {
            assert!(run(line, PATIENCE).is_err(), "{line}");
        }
        // A missing line cannot be waited for.
        assert!(run("head -n 1; sleep 1", Duration::from_millis(100)).is_err());
    }
}
