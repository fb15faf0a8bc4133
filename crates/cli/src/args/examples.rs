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
