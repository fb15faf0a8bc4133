//! A table that the first release saved: it is read for ever, and the same records still give the
//! same bytes.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::common::tamis;
use flate2::read::GzDecoder;
use tempfile::tempdir;

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
    let folder = tempdir().expect("a folder");
    let table = folder.path().join("seen.tamis");
    fs::write(&table, golden()).expect("written");
    // All of its records are in it, and 9000 others are not.
    let others: String = (1000..10_000).map(|record| format!("{record}\n")).collect();
    let mut query = tamis();
    let query = query.args(["query", "-q"]).arg(&table).write_stdin(records() + &others);
    query.assert().success().stdout(records());
    // A run that adds others goes on from it.
    let mut new = tamis();
    let new = new.args(["new", "-q"]).arg(&table).write_stdin(records() + &others);
    new.assert().success().stdout(others);
}

#[test]
fn the_same_records_give_the_same_bytes() {
    let folder = tempdir().expect("a folder");
    let table = folder.path().join("seen.tamis");
    let mut new = tamis();
    new.args(["new", "-q", "--seed", "7"]).arg(&table).write_stdin(records());
    new.assert().success().stdout(records());
    assert!(fs::read(&table).expect("saved") == golden(), "the bytes of a table have changed");
}
