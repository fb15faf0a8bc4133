//! The report on all measurements: from a file of records to `REPORT.md` and its charts.

mod anchors;
mod axis;
mod chart;
mod contenders;
mod counts;
#[cfg(test)]
mod example;
mod figure;
mod growing;
mod lines;
mod machine;
mod page;
mod plots;
mod records;
mod redis_costs;
mod table;
mod targets;
mod times;

use core::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use self::machine::Cache;
use self::page::Page;
use self::records::Records;
use crate::growing::Figures;
use crate::lines::Stop;
use crate::redis_costs::Figures as RedisFigures;

/// The reasons for missed targets, with what was tried. Written by hand: a change of the figures
/// may need a change here.
const MISSED: &str = concat!("\n", include_str!("report/missed.md"));

/// Writes `REPORT.md` and `plots/*.svg` into the folder `out`; returns the path of the former.
/// `command` is the command that reproduces the report.
///
/// # Errors
///
/// If the records cannot be read, there are none, or the report cannot be written.
pub fn write(input: &Path, out: &Path, command: &str) -> Result<PathBuf, Box<dyn Error>> {
    let records = Records::read(input)?;
    if records.is_empty() {
        return Err(format!("{}: no records", input.display()).into());
    }
    for left_out in &records.left_out {
        eprintln!("{}: left out: {left_out}", input.display());
    }
    // The file was last written with the last record.
    let time = humantime::format_rfc3339_seconds(fs::metadata(input)?.modified()?).to_string();
    let body = body(&records, &machine::caches());
    let plots = out.join("plots");
    fs::create_dir_all(&plots)?;
    remove_charts(&plots)?;
    for (name, chart) in &body.charts {
        fs::write(plots.join(format!("{name}.svg")), chart.svg()?)?;
    }
    let report = out.join("REPORT.md");
    fs::write(&report, head(&records, &time, command) + &body.text + MISSED)?;
    Ok(report)
}

/// Writes `MEMORY.md` and `memory.svg` into the folder `out`: the peak memory of runs of `tamis
/// dedup`, each with the number of its threads; returns the path of the former. `command` is the
/// command that reproduces them.
///
/// # Errors
///
/// If the page or its chart cannot be written.
pub fn write_lines(
    runs: &[(usize, Vec<Stop>)],
    out: &Path,
    command: &str,
) -> Result<PathBuf, Box<dyn Error>> {
    let (text, chart) = lines::page(runs, command);
    if let Some(chart) = chart {
        fs::write(out.join("memory.svg"), chart.svg()?)?;
    }
    let page = out.join("MEMORY.md");
    fs::write(&page, text)?;
    Ok(page)
}

/// Writes `GROWING.md` and `growing.svg` into the folder `out`; returns the path of the former.
/// `command` is the command that reproduces them.
///
/// # Errors
///
/// If the page or its chart cannot be written.
pub fn write_growing(
    figures: &Figures,
    out: &Path,
    command: &str,
) -> Result<PathBuf, Box<dyn Error>> {
    let (text, chart) = growing::page(figures, command);
    if let Some(chart) = chart {
        fs::write(out.join("growing.svg"), chart.svg()?)?;
    }
    let page = out.join("GROWING.md");
    fs::write(&page, text)?;
    Ok(page)
}

/// Writes `REDIS.md` into the folder `out`; returns its path. `command` is the command that
/// reproduces it.
///
/// # Errors
///
/// If the page cannot be written.
pub fn write_redis_costs(
    figures: &RedisFigures,
    out: &Path,
    command: &str,
) -> std::io::Result<PathBuf> {
    let page = out.join("REDIS.md");
    fs::write(&page, redis_costs::page(figures, command))?;
    Ok(page)
}

/// Removes the charts of an earlier report, whose axes may have no records now.
fn remove_charts(folder: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "svg") {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

fn head(records: &Records, time: &str, command: &str) -> String {
    let mut facts = machine::facts();
    facts.push(("measured until", time.to_owned()));
    facts.push(("made by", format!("`{command}`")));
    let rows: String =
        facts.iter().map(|(name, value)| format!("| {name} | {value} |\n")).collect();
    let spread = records.spread().map(|(half, most)| {
        format!(
            " The lowest and the highest run of a figure differ by at most {:.0} % for half of the figures, {:.0} % for 95 of 100.",
            half * 100.0,
            most * 100.0
        )
    });
    let one_thread = match records.of_one_thread().join(", ") {
        names if names.is_empty() => names,
        names => format!(" For one thread only, where W need not be a limit: {names}."),
    };
    let left_out: String =
        records.left_out.iter().map(|what| format!("\nLeft out: {what}.\n")).collect();
    format!(
        "# Measurements\n\n| | |\n|---|---|\n{rows}\n\
         Unless a section says otherwise: one thread, 64-bit items, uniform, at a rate of 1 %; the fastest of five runs (of \
         three with `--quick`), or the mean of one fill for inserts into large filters.{}\n\n\
         **R** reads one random line of memory per item, **W** sets one bit there, in memory of the same size: no filter \
         can be faster. A multiple is of W for writes, of R for all else. The best of a \
         column is in bold.{one_thread}\n\n\
         [MEMORY.md](MEMORY.md) has the memory of `tamis dedup` by the number of lines, and \
         [GROWING.md](GROWING.md) the filters that grow, count or rotate.\n{left_out}",
        spread.unwrap_or_default(),
    )
}

/// Returns the sections; none for an axis without records.
fn body(records: &Records, caches: &[Cache]) -> Page {
    let mut page = Page::default();
    targets::add(&mut page, records);
    anchors::add(&mut page, records);
    times::add(&mut page, records, caches);
    counts::add(&mut page, records);
    page
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::record::Record;
    use crate::report::example::{lines, record};

    #[test]
    fn a_report_has_what_was_measured_and_replaces_the_last() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let input = folder.join("in.jsonl");
        fs::create_dir_all(folder.join("plots")).expect("a folder");
        fs::write(folder.join("plots/old.svg"), "").expect("a file");
        let text = lines(&[
            record("size", "fastbloom", "hit", 7.0),
            record("size", "once", "hit", 5.0),
            record("size", "R", "hit", 2.0),
            record("threads", "once", "hit", 5.0),
            Record { threads: 2, ..record("threads", "once", "hit", 6.0) },
        ]);
        fs::write(&input, format!("{text}{{\"axis\": \"bi")).expect("a file");
        let report = write(&input, folder, "cargo xtask report").map(fs::read_to_string);
        let report = report.expect("a report").expect("a text");
        let heads: Vec<&str> = report.lines().filter(|line| line.starts_with("## ")).collect();
        let missed = "## Missed targets, and why";
        assert_eq!(heads, ["## DESIGN targets", "## Size", "## Threads", missed]);
        for part in [
            "| made by | `cargo xtask report` |",
            "For one thread only, where W need not be a limit: fastbloom.",
            "Left out: line 6, which is broken: `{\"axis\": \"bi`.\n",
            "| | 100,000 |\n|---|---:|\n| once | **5.00 (2.50 R)** |\n| fastbloom | 7.00 (3.50 R) |\n| R | 2.00 |\n",
            "(plots/size-hit.svg)",
            "(plots/threads-hit-100000.svg)",
        ] {
            assert!(report.contains(part), "{part} is not in {report}");
        }
        let charts = fs::read_dir(folder.join("plots")).expect("a folder");
        let charts = charts.map(|entry| entry.expect("a file").file_name().into_string());
        let charts: BTreeSet<String> = charts.map(|name| name.expect("a name")).collect();
        assert_eq!(
            charts.into_iter().collect::<Vec<_>>(),
            ["size-hit.svg", "threads-hit-100000.svg"]
        );
        let chart = fs::read_to_string(folder.join("plots/size-hit.svg")).expect("a chart");
        assert!(chart.starts_with("<svg ") && chart.ends_with("</svg>\n"), "{chart}");
    }
}
