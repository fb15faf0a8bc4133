//! The peak memory of `tamis dedup` by the number of distinct lines that it has read from a pipe.
//!
//! One run gives all figures: the program cannot know how many lines follow, so its peak after some
//! lines is the peak of a run that ends there.

use core::ops::Range;
use core::time::Duration;
use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use super::setup::{Fallible, Setup};
use crate::record::Record;

/// The longest time without output after which a run has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// The peak memory of a run after a number of lines.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stop {
    /// The lines read and printed.
    lines: u64,
    /// The peak, in bytes.
    peak: u64,
}

/// Returns one line, and then the counts from 10,000 to `most`, 200 per decade, at equal factors of
/// 1.2 %.
fn counts(most: u64) -> Vec<u64> {
    let steps = (800..).map(|step| 10_f64.powf(f64::from(step) / 200.0).round() as u64);
    [1].into_iter().chain(steps.take_while(|&lines| lines <= most)).collect()
}

/// Runs the program with one thread and writes it the numbers from 0 on, a line each. After each of
/// the counts it waits until the program has printed exactly that number of lines, and then reads
/// its peak.
///
/// The peak is read from `/proc/PID/status`. (The peak that the system reports of a process that
/// has ended is no less than that of the process which started it.)
pub(super) fn measure(setup: &Setup) -> Fallible<Vec<Record>> {
    let program = setup.program.as_ref().ok_or("the path of the program is missing")?;
    let mut dedup = Command::new(program);
    dedup.args(["dedup", "--quiet", "--threads", "1"]);
    let most = if setup.quick { 1_000_000 } else { 100_000_000 };
    let stops = stops(&mut dedup, &counts(most), PATIENCE)?;
    let record = |Stop { lines, peak }| {
        Record::new("tamis dedup", "peak memory", lines, 0.0).of(peak as f64, "bytes")
    };
    Ok(stops.into_iter().map(record).collect())
}

/// Returns the stops of a run of any program that prints what it reads.
fn stops(program: &mut Command, counts: &[u64], patience: Duration) -> Fallible<Vec<Stop>> {
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
) -> Fallible<()> {
    while last.lines < lines {
        *last = counts
            .recv_timeout(patience)
            .map_err(|_| format!("{lines} lines were written, and only {} printed", last.lines))?;
    }
    Ok(())
}

/// Returns the peak in the text of `/proc/PID/status`, in bytes.
fn peak(status: &str) -> Fallible<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB"));
    Ok(kib.ok_or("the system reports no peak")?.trim().parse::<u64>()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

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
