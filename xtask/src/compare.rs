//! `compare`: times `tamis dedup` and other programs that print the distinct lines of a file.

use core::iter;
use std::env;
use std::path::{Path, PathBuf};
use std::time::Instant;

use xshell::{Shell, cmd};

use crate::{Result, workspace};

/// The programs: the name, the line that the shell runs (`$1` is the file, `$TAMIS` holds further
/// options for `tamis`), and how to install it.
const PROGRAMS: [(&str, &str, &str); 7] = [
    ("tamis", r#"tamis dedup --quiet --threads 1 $TAMIS "$1""#, "built by this command"),
    ("tamis", r#"tamis dedup --quiet --threads 2 $TAMIS "$1""#, "built by this command"),
    ("huniq", r#"huniq < "$1""#, "cargo install --locked huniq"),
    ("runiq", r#"runiq -f quick "$1""#, "cargo install --locked runiq"),
    ("runiq", r#"runiq -f compact "$1""#, "cargo install --locked runiq"),
    ("sort", r#"LC_ALL=C sort -u "$1""#, "GNU coreutils"),
    ("awk", r#"awk '!seen[$0]++' "$1""#, "mawk or gawk"),
];

/// The time and memory of one run.
#[derive(Clone, Copy)]
struct Cost {
    wall_s: f64,
    cpu_s: f64,
    peak_mib: f64,
}

pub(crate) fn run(sh: &Shell, file: &Path, runs: usize, capacity: Option<u64>) -> Result {
    if runs == 0 {
        return Err("--runs must be at least 1".into());
    }
    if !installed(sh, "time") {
        return Err("the program `time` is missing; a package of that name has it".into());
    }
    let others = sh.var_os("PATH").unwrap_or_default();
    let tamis = env::join_paths(iter::once(build(sh)?).chain(env::split_paths(&others)))?;
    let options = capacity.map(|items| format!("--capacity {items}")).unwrap_or_default();
    let _env = [sh.push_env("PATH", tamis), sh.push_env("TAMIS", &options)];
    let (here, missing): (Vec<_>, Vec<_>) =
        PROGRAMS.into_iter().partition(|(program, ..)| installed(sh, program));
    let mut rows = Vec::new();
    for (_, line, _) in here {
        let costs = (0..runs).map(|_| time(sh, line, file)).collect::<Result<Vec<_>>>()?;
        rows.push(row(line, &options, &costs));
    }
    println!("| command | wall s | user + system s | peak MiB |\n|---|---:|---:|---:|");
    rows.iter().for_each(|row| println!("{row}"));
    for (_, line, how) in missing {
        println!("\nnot installed: `{line}` ({how})");
    }
    Ok(())
}

/// Builds the program as released. Returns its directory.
pub(crate) fn build(sh: &Shell) -> Result<PathBuf> {
    let root = workspace::root();
    let target = workspace::target_dir("");
    let _dir = sh.push_dir(root);
    cmd!(sh, "cargo build --profile dist --package tamis-cli --target-dir {target}").run()?;
    Ok(target.join("dist"))
}

fn installed(sh: &Shell, program: &str) -> bool {
    cmd!(sh, "which {program}").quiet().ignore_stdout().ignore_stderr().run().is_ok()
}

/// Runs the line once and discards its output.
fn time(sh: &Shell, line: &str, file: &Path) -> Result<Cost> {
    let dir = sh.create_temp_dir()?;
    let report = dir.path().join("time");
    let start = Instant::now();
    cmd!(sh, "time --output {report} --format '%U %S %M' sh -c {line} sh {file}")
        .ignore_stdout()
        .run()?;
    let wall_s = start.elapsed().as_secs_f64();
    let report = sh.read_file(&report)?;
    let figures: Vec<f64> = report.split_whitespace().flat_map(str::parse).collect();
    match figures[..] {
        [user, system, peak_kib] => {
            Ok(Cost { wall_s, cpu_s: user + system, peak_mib: peak_kib / 1024.0 })
        }
        _ => Err(format!("`time` reported {report:?}").into()),
    }
}

fn row(line: &str, options: &str, costs: &[Cost]) -> String {
    let wall = median(costs.iter().map(|cost| cost.wall_s));
    let cpu = median(costs.iter().map(|cost| cost.cpu_s));
    let peak = median(costs.iter().map(|cost| cost.peak_mib));
    let shown = line.replace(r#" "$1""#, " FILE").replace("$TAMIS", options).replace("  ", " ");
    format!("| `{shown}` | {wall:.2} | {cpu:.2} | {peak:.1} |")
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_medians() {
        let cost = |n| Cost { wall_s: n, cpu_s: 2.0 * n, peak_mib: 7.0 };
        let row = row(r#"huniq < "$1""#, "", &[cost(1.0), cost(9.0), cost(2.0)]);
        assert_eq!(row, "| `huniq < FILE` | 2.00 | 4.00 | 7.0 |");
    }
}
