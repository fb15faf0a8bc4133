//! What a command on a filter has done: text for people, JSON for programs, and warnings.

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use crate::args::{RecordArgs, Stats};
use tamis::Figures;

use crate::filters::Described;
use crate::foreign::Foreign;
use crate::input::shown;
use crate::pipeline::Done;
use crate::screen;
use crate::units::{self, bytes, counted, grouped};

/// The part of its capacity above which a filter is reported as overfilled. An estimate of the
/// number of items may exceed the number by some percent.
pub(super) const OVERFILLED: f64 = 1.05;

/// The report of one run.
pub(super) struct Report {
    /// One line for people.
    pub(super) text: String,
    /// The same and more for programs: an object.
    json: Value,
    pub(super) warnings: Vec<String>,
}

impl Report {
    /// Begins the report of a run over records. `fate`: what was done with records without a key.
    pub(super) fn of_records(done: &Done, start: Instant, fate: &str) -> Self {
        let tally = done.tally;
        let warnings = done.notes.warnings(&tally, fate);
        let json = json!({
            "lines": tally.lines,
            "printed": tally.printed,
            "keyless": tally.keyless,
            "bytes_in": tally.bytes_in,
            "bytes_out": tally.bytes_out,
            "first_keyless": done.notes.keyless.as_ref().map(ToString::to_string),
            "malformed": done.notes.malformed,
            "threads": done.threads,
            "seconds": start.elapsed().as_secs_f64(),
        });
        Self { text: counted(tally.lines, "line"), json, warnings }
    }

    /// Begins the report of a run that inserted `new` items.
    pub(super) fn of_inserts(done: &Done, start: Instant, new: u64) -> Self {
        let mut report = Self::of_records(done, start, "left out");
        let again = done.tally.lines - done.tally.keyless - new;
        report.text.push_str(&format!(", {} inserted, {} repeated", grouped(new), grouped(again)));
        report.put("inserted", new);
        report.put("repeated", again);
        report
    }

    /// Begins the report of a run that printed new records.
    pub(super) fn of_news(done: &Done, start: Instant) -> Self {
        let mut report = Self::of_records(done, start, "printed");
        let (new, seen) = (done.tally.items(), done.tally.duplicates);
        report.text.push_str(&format!(", {} new, {} seen before", grouped(new), grouped(seen)));
        report.put("new", new);
        report.put("seen", seen);
        report
    }

    /// Begins an empty report.
    pub(super) fn new() -> Self {
        Self { text: String::new(), json: json!({}), warnings: Vec::new() }
    }

    /// Adds a field for programs.
    pub(super) fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.json[name] = value.into();
    }

    /// Describes the filter at the end of the run, and warns if it is overfilled.
    pub(super) fn describe(&mut self, filter: &Described, path: &Path) {
        let (items, capacity) = (filter.items(), filter.capacity);
        let Figures { saturation, false_positive_rate: rate, .. } = filter.figures;
        let (rate, saturation) = (rate.value, saturation.value);
        let held = units::items(items, filter.counts);
        self.text.push_str(&format!(
            "; {} holds {held} in {}, false-positive rate {rate:.1e}",
            shown(path),
            bytes(filter.size_in_bytes)
        ));
        if let Some(end) = filter.end_of_growth() {
            self.text.push_str(&format!(", grows to {} items", grouped(end)));
        }
        self.put("kind", filter.name);
        self.put("items", items);
        self.put("capacity", capacity);
        self.put("filter_bytes", filter.size_in_bytes);
        self.put("false_positive_rate", rate);
        self.put("saturation", saturation);
        // The filter is built for `capacity` items at saturation 1.
        if saturation > OVERFILLED && items > OVERFILLED * capacity as f64 {
            self.warnings.push(format!(
                "{} holds {held}, more than its capacity of {}: its false-positive rate is {rate:.1e}; build it \
                 with a larger --capacity",
                shown(path),
                grouped(capacity)
            ));
        }
    }

    /// Describes a filter of another system at the end of the run.
    pub(super) fn describe_foreign(&mut self, foreign: &Foreign, path: &Path) {
        let (format, rate) = (foreign.filter.format(), foreign.filter.false_positive_rate());
        let len = foreign.filter.encoded_len();
        self.text.push_str(&format!(
            "; {} is a filter of {format} in {}, false-positive rate {rate:.1e}",
            shown(path),
            bytes(len)
        ));
        self.put("kind", format.name());
        self.put("filter_bytes", len);
        self.put("false_positive_rate", rate);
    }

    /// Warns if a filter of another system has more keys than it was built for. Most of these
    /// filters do not say for how many: then a high rate shows it.
    pub(super) fn warn_of_rate(&mut self, foreign: &Foreign, path: &Path) {
        const HIGH: f64 = 0.1;
        let rate = foreign.filter.false_positive_rate();
        let parameters = foreign.filter.parameters();
        let number =
            |name| parameters.iter().find(|(of, _)| *of == name).map(|(_, number)| *number);
        if let (Some(keys), Some(capacity)) = (number("items"), number("capacity"))
            && keys as f64 > OVERFILLED * capacity as f64
        {
            self.warnings.push(format!(
                "{} holds {}, more than its capacity of {}: its false-positive rate is {rate:.1e}; \
                 build a larger one",
                shown(path),
                counted(keys, "key"),
                grouped(capacity)
            ));
        } else if rate > HIGH {
            self.warnings.push(format!(
                "{} takes {:.0} % of all absent keys for present ones; if it was built for a lower rate, it has too many keys: \
                 build a larger one",
                shown(path),
                100.0 * rate
            ));
        }
    }

    /// Describes that the filter was larger at first.
    pub(super) fn describe_fold(&mut self, first: u64) {
        self.text.push_str(&format!(", folded from {}", bytes(first)));
        self.put("first_bytes", first);
    }

    /// Prints the report as the options require. Warnings are printed even with `--quiet`.
    pub(super) fn show(mut self, args: &RecordArgs) {
        if let Some(Stats::Json) = args.stats {
            self.put("warnings", self.warnings.clone());
            screen::say(&self.json.to_string());
            return;
        }
        self.show_text(args.quiet);
    }

    /// Prints the line for people, and the warnings.
    pub(super) fn show_text(&self, quiet: bool) {
        if !quiet {
            screen::say(&self.text);
        }
        self.warnings.iter().for_each(|warning| screen::warn(warning));
    }
}
