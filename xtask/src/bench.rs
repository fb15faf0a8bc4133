//! `bench`: the criterion benchmarks; and the gate, which counts instructions of the hot paths.
//!
//! Times differ between runs and machines. The number of instructions that a path executes does
//! not, for one compiler. So the gate counts instructions with callgrind, and compares them with
//! the committed numbers.

use core::error::Error;
use core::fmt::Write as _;
use core::num::NonZero;
use std::path::PathBuf;
use std::{fs, thread};

use xshell::{Shell, cmd};

use crate::result::Outcome;
use crate::{Result, workspace};

/// The committed numbers: how they were made, then one line per path with its instructions.
const BASELINE: &str = "benches/instructions.txt";

/// Operations of the two runs of a path. The difference of the runs is the cost of the operations,
/// without the start.
const RUNS: [u64; 2] = [10_000, 40_000];

/// The largest accepted ratio to the committed number. One more instruction in the shortest path
/// exceeds it.
const TOLERANCE: f64 = 1.01;

pub(crate) fn run(sh: &Shell, filter: Option<&str>) -> Result {
    cmd!(sh, "cargo bench --package tamis-benches -- {filter...}").run()?;
    Ok(())
}

/// The gate as a step of `ci`: without callgrind it is skipped.
pub(crate) fn gate_if_possible(sh: &Shell) -> Result<Outcome> {
    if cmd!(sh, "valgrind --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
        eprintln!("valgrind is not installed: instructions are NOT counted");
        return Ok(Outcome::Skipped("instructions not counted: valgrind was not found"));
    }
    let how = how(sh)?;
    if fs::read_to_string(BASELINE)?.lines().next() != Some(&how) {
        eprintln!("{BASELINE} was counted otherwise, not with {how}: instructions are NOT counted");
        return Ok(Outcome::Skipped("instructions not counted: not the compiler of the baseline"));
    }
    gate(sh, false)?;
    Ok(Outcome::Passed)
}

/// Counts the instructions of each hot path and compares them with the baseline, or writes a new
/// baseline.
pub(crate) fn gate(sh: &Shell, bless: bool) -> Result {
    let flags = ["--package", "tamis-benches", "--no-default-features", "--bin", "hot_paths"];
    cmd!(sh, "cargo build --release {flags...}").run()?;
    let how = how(sh)?;
    let program = program();
    let names = cmd!(sh, "{program}").quiet().read()?;
    let now = count(&names.lines().collect::<Vec<_>>())?;
    if bless {
        fs::write(BASELINE, written(&how, &now))?;
        eprintln!("wrote {BASELINE}");
        return Ok(());
    }
    let verdict = judge(&fs::read_to_string(BASELINE)?, &how, &now);
    eprintln!("{}", verdict.table);
    verdict.outcome
}

/// The program that runs one path.
fn program() -> PathBuf {
    workspace::target_dir("release").join("hot_paths")
}

/// What the numbers depend on, apart from the code.
fn how(sh: &Shell) -> Result<String> {
    let compiler = cmd!(sh, "rustc --version").quiet().read()?;
    let vectors = if cfg!(target_arch = "x86_64") && has_avx2() { "AVX2" } else { "no AVX2" };
    Ok(format!("{compiler}, {vectors}"))
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::is_x86_feature_detected!("avx2")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

/// Returns the instructions per operation of each path. Counts do not depend on other load, so all
/// cores are used.
fn count<'a>(names: &[&'a str]) -> Result<Vec<(&'a str, f64)>> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    // Neither a shell nor a boxed error can be sent to another thread.
    let of_worker = |worker: usize| {
        let sh = Shell::new().map_err(|error| error.to_string())?;
        sh.change_dir(workspace::root());
        let of_path = |&name: &&'a str| {
            let [few, many] = RUNS.map(|number| instructions(&sh, name, number));
            let more = || Ok((many? - few?) as f64 / (RUNS[1] - RUNS[0]) as f64);
            more().map(|counted| (name, counted)).map_err(|error: Box<dyn Error>| error.to_string())
        };
        let own = names.iter().skip(worker).step_by(workers);
        own.map(of_path).collect::<core::result::Result<Vec<_>, String>>()
    };
    let mut counted = thread::scope(|scope| {
        let of_worker = &of_worker;
        let threads = (0..workers).map(|worker| scope.spawn(move || of_worker(worker)));
        let threads: Vec<_> = threads.collect();
        let counted = threads.into_iter().map(|thread| thread.join().expect("it does not panic"));
        counted.collect::<core::result::Result<Vec<_>, String>>()
    })?
    .concat();
    counted.sort_by_key(|&(name, _)| names.iter().position(|&other| other == name));
    Ok(counted)
}

/// Returns the instructions of a whole run.
fn instructions(sh: &Shell, name: &str, number: u64) -> Result<u64> {
    let number = number.to_string();
    let program = program();
    let said = cmd!(
        sh,
        "valgrind --tool=callgrind --callgrind-out-file=/dev/null {program} {name} {number}"
    )
    .quiet()
    .read_stderr()?;
    collected(&said).ok_or_else(|| format!("callgrind counted nothing:\n{said}").into())
}

/// Returns the number in callgrind's line `==1== Collected : 123`.
fn collected(said: &str) -> Option<u64> {
    let line = said.lines().find(|line| line.contains("Collected"))?;
    line.rsplit(' ').next()?.parse().ok()
}

fn written(how: &str, counted: &[(&str, f64)]) -> String {
    let mut text = format!("{how}\n");
    for (name, number) in counted {
        writeln!(text, "{number:.1} {name}").expect("a string takes all");
    }
    text
}

/// The result of a comparison.
struct Verdict {
    table: String,
    outcome: Result,
}

fn judge(baseline: &str, how: &str, now: &[(&str, f64)]) -> Verdict {
    let (head, lines) = baseline.split_once('\n').unwrap_or_default();
    let before = |name| {
        let line =
            lines.lines().filter_map(|line| line.split_once(' ')).find(|line| line.1 == name)?;
        line.0.parse::<f64>().ok()
    };
    let mut table = format!("instructions an operation, and before ({head})\n");
    let mut worse = Vec::new();
    for &(name, number) in now {
        let Some(before) = before(name) else {
            worse.push(format!("{name} is not in {BASELINE}"));
            continue;
        };
        writeln!(table, "{number:>8.1} {before:>8.1}  {name}").expect("a string takes all");
        if number > before * TOLERANCE {
            worse.push(format!("{name}: {number:.1} instructions instead of {before:.1}"));
        }
    }
    let outcome = if worse.is_empty() {
        Ok(())
    } else if head == how {
        worse.push("(on purpose? `cargo xtask bench --bless`, and say why in the commit)".into());
        Err(worse.join("\n").into())
    } else {
        writeln!(table, "not judged: counted here with {how}").expect("a string takes all");
        Ok(())
    };
    Verdict { table, outcome }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASELINE: &str = "rustc 1\n50.0 a\n80.5 b c\n";

    fn outcome(how: &str, now: &[(&str, f64)]) -> core::result::Result<(), String> {
        judge(BASELINE, how, now).outcome.map_err(|error| error.to_string())
    }

    #[test]
    fn more_instructions_are_refused() {
        assert_eq!(outcome("rustc 1", &[("a", 50.4), ("b c", 70.0)]), Ok(()));
        let error = outcome("rustc 1", &[("a", 51.0), ("b c", 80.5)]).unwrap_err();
        assert!(error.starts_with("a: 51.0 instructions instead of 50.0\n"), "{error}");
        assert!(outcome("rustc 1", &[("new", 1.0)]).is_err());
    }

    #[test]
    fn another_compiler_is_not_judged() {
        assert_eq!(outcome("rustc 2", &[("a", 90.0)]), Ok(()));
        assert!(judge(BASELINE, "rustc 2", &[("a", 90.0)]).table.contains("not judged"));
    }

    #[test]
    fn the_baseline_is_read_as_it_is_written() {
        let text = written("rustc 1", &[("a", 50.0), ("b c", 80.5)]);
        assert_eq!(text, BASELINE);
    }

    #[test]
    fn what_callgrind_counted_is_found() {
        assert_eq!(collected("==7== Events    : Ir\n==7== Collected : 1234\n"), Some(1234));
        assert_eq!(collected("valgrind: no such file"), None);
    }
}
