//! The report: from the files of figures to pages and charts.

mod aims;
mod axis;
mod chart;
mod charts;
mod data;
mod filters;
mod growing;
mod others;
mod page;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

use self::chart::{DARK, LIGHT};
use self::data::Data;
use crate::measure::Fallible;

/// Writes the pages and `charts/*.svg` into the directory `out`, from the files in the directory
/// `data`; returns the path of the main page. A section without a file is left out.
///
/// # Errors
///
/// If the figures cannot be read, there are none, or the report cannot be written.
pub fn write(data: &Path, out: &Path) -> Fallible<PathBuf> {
    let data = Data::read(data)?;
    let directory = out.join("charts");
    fs::create_dir_all(&directory)?;
    let charts = charts::all(&data);
    for (name, chart) in &charts {
        for theme in [LIGHT, DARK] {
            let file = format!("{name}-{}.svg", theme.name);
            fs::write(directory.join(file), chart.svg(&theme)?)?;
        }
    }
    let names: Vec<&str> = charts.iter().map(|(name, _)| *name).collect();
    let report = out.join("REPORT.md");
    fs::write(&report, filters::page(&data, &names))?;
    fs::write(out.join("GROWING.md"), growing::page(&data, &names))?;
    let pages = [("MEMORY.md", others::memory(&data, &names)), ("REDIS.md", others::redis(&data))];
    for (name, page) in pages {
        page.map_or(Ok(()), |page| fs::write(out.join(name), page))?;
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Record, Section};

    #[test]
    fn a_report_has_what_was_measured() {
        let directory = tempfile::tempdir().expect("a directory");
        let directory = directory.path();
        let record = |contender: &str, operation: &str, nanos: f64| {
            let record = Record::new(contender, operation, 100_000, 0.01);
            Record { bits: Some(12.0), ..record }.of(nanos, "ns")
        };
        let mut records = Vec::new();
        for (contender, nanos) in [("bare memory", 2.0), ("BlockedBloomFilter", 3.0)] {
            for operation in ["insert", "insert_many_with", "contains, hit"] {
                records.push(record(contender, operation, nanos));
            }
            records.push(record(contender, "contains_many_with, hit", nanos + 2.0));
        }
        let facts = vec![("caches".to_owned(), "L1 32 KiB, L2 1 MiB".to_owned())];
        let section = Section { facts, records };
        section.write(&directory.join("one_thread.csv")).expect("a file");
        let report = write(directory, directory).expect("a report");
        let text = fs::read_to_string(report).expect("a page");
        for part in [
            "takes 3.00 ns, 0.75 times a bare read of random memory, and 5.00 ns in a batch",
            "| BlockedBloomFilter | **3.00** | **3.00** | **3.00** | **5.00** |",
            "`BlockedBloomFilter`, times a bare read | 1.25 (at most 1.3) |",
            "[one_thread.csv](data/one_thread.csv). caches: L1 32 KiB, L2 1 MiB.",
            "srcset=\"charts/contains-dark.svg\"",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        let chart = fs::read_to_string(directory.join("charts/contains-light.svg"));
        let chart = chart.expect("a chart");
        assert!(chart.starts_with("<svg ") && chart.contains("BlockedBloomFilter"), "{chart}");
        assert!(!directory.join("REDIS.md").exists());
    }
}
