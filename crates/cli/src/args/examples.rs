//! The examples in the help.

/// The examples in the help. A test runs each of them.
pub(super) const EXAMPLES: &str = "\
Examples:
  The distinct lines of two files, one of them compressed, in input order:
    tamis dedup monday.txt tuesday.txt.gz -o both.txt
  The first row for each customer and day, fields 2 and 4 of a CSV file:
    tamis dedup --csv --key-field 2,4 orders.csv > first.csv
  The second occurrence of every repeated event, by the value of a JSON field:
    zcat events.json.gz | tamis dedup -d --json-key /id -q";

/// The examples in the help of commands that keep filters in files. The same test runs each of
/// them.
pub(super) const FILTER_EXAMPLES: &str = "\
Examples of filters in files:
  Every URL the first time only, over any number of runs:
    tamis new seen.tamis urls.txt > new.txt
  The lines of a log that surely do not occur in an older one:
    tamis build -o old.tamis old.log && tamis query --invert old.tamis new.log";
