//! The report on all measurements: from a file of records to `REPORT.md` and its charts.

mod anchors;
mod axis;
mod chart;
mod contenders;
mod counts;
#[cfg(test)]
mod example;
mod figure;
mod labels;
mod machine;
mod page;
mod plots;
mod records;
mod table;
mod targets;
mod times;

use core::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use self::machine::Cache;
use self::page::Page;
use self::records::Records;

/// The reasons for missed targets, with what was tried. Written by hand: a change of the figures may need a change here.
const MISSED: &str = concat!("\n", include_str!("report/missed.md"));

/// Writes `REPORT.md` and `plots/*.svg` into the folder `out`; returns the path of the former. `command` is the
/// command that reproduces the report.
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
        fs::write(plots.join(format!("{name}.svg")), chart.svg())?;
    }
    let report = out.join("REPORT.md");
    fs::write(&report, head(&records, &time, command) + &body.text + MISSED)?;
    Ok(report)
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
         column is in bold.{one_thread}\n{left_out}",
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
    use super::*;
    use crate::report::example::{lines, record};

    #[test]
    fn an_axis_without_records_has_no_section() {
        let mut two = record("threads", "once", "hit", 6.0);
        two.threads = 2;
        let records = [
            record("size", "fastbloom", "hit", 7.0),
            record("size", "once", "hit", 5.0),
            record("size", "R", "hit", 2.0),
            record("threads", "once", "hit", 5.0),
            two,
        ];
        let records = Records::parse(&lines(&records));
        assert_eq!(records.of_one_thread(), ["fastbloom"]);
        let page = body(&records, &[]);
        let heads: Vec<&str> = page.text.lines().filter(|line| line.starts_with("## ")).collect();
        assert_eq!(heads, ["## DESIGN targets", "## Size", "## Threads"]);
        let table = "| | 100,000 |\n|---|---:|\n| once | **5.00 (2.50 R)** |\n| fastbloom | 7.00 (3.50 R) |\n| R | 2.00 |\n";
        assert!(page.text.contains(table), "{}", page.text);
        let charts: Vec<&str> = page.charts.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(charts, ["size-hit", "threads-hit-100000"]);
        assert!(charts.iter().all(|name| page.text.contains(&format!("(plots/{name}.svg)"))));
    }

    #[test]
    fn a_report_is_written_whole_and_replaces_the_last() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        fs::create_dir_all(folder.join("plots")).expect("a folder");
        fs::write(folder.join("plots/old.svg"), "").expect("a file");
        let input = folder.join("in.jsonl");
        let text = lines(&[record("bits", "once", "bits per item", 10.3)]);
        fs::write(&input, format!("{text}{{\"axis\": \"bi")).expect("a file");
        let report = write(&input, folder, "cargo xtask report").map(fs::read_to_string);
        let chart = fs::read_to_string(folder.join("plots/memory.svg"));
        let old = folder.join("plots/old.svg").exists();
        let report = report.expect("a report").expect("a text");
        assert!(
            report.contains("Left out: line 2, which is broken: `{\"axis\": \"bi`.\n"),
            "{report}"
        );
        assert!(report.contains("| made by | `cargo xtask report` |"));
        assert!(report.contains("## Missed targets, and why"));
        assert!(
            chart.expect("a chart").starts_with(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"540\""
            )
        );
        assert!(!old);
    }
}
