//! A table that the first release saved: it is read for ever, and the same records still give the
//! same bytes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::common::Files;
use flate2::read::GzDecoder;

/// The records of the table. Its seed is 7.
fn records() -> String {
    (0..1000).map(|record| format!("{record}\n")).collect()
}

fn golden() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/table.tamis.gz");
    let mut bytes = Vec::new();
    let read = GzDecoder::new(File::open(path).expect("the file")).read_to_end(&mut bytes);
    read.expect("gzip");
    bytes
}

#[test]
fn a_saved_table_is_read_for_ever() {
    let files = Files::new();
    files.write("seen.tamis", golden());
    // All of its records are in it, and 9000 others are not.
    let others: String = (1000..10_000).map(|record| format!("{record}\n")).collect();
    let mut query = files.tamis(&["query", "-q", "seen.tamis"]);
    query.write_stdin(records() + &others).assert().success().stdout(records());
    // A run that adds others goes on from it.
    let mut new = files.tamis(&["new", "-q", "seen.tamis"]);
    new.write_stdin(records() + &others).assert().success().stdout(others);
}

#[test]
fn the_same_records_give_the_same_bytes() {
    let files = Files::new();
    let mut new = files.tamis(&["new", "-q", "--seed", "7", "seen.tamis"]);
    new.write_stdin(records()).assert().success().stdout(records());
    assert!(files.read("seen.tamis") == golden(), "the bytes of a table have changed");
}
