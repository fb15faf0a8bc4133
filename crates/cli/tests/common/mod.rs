//! What the tests of the program share: the program, its data, and the exact answer.

#![allow(dead_code, reason = "each test file uses a part")]

use std::collections::HashSet;
use std::path::PathBuf;

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin_cmd;

/// The program.
pub(crate) fn tamis() -> Command {
    cargo_bin_cmd!("tamis")
}

/// `tamis dedup --quiet`, with these arguments.
pub(crate) fn dedup(args: &[&str]) -> Command {
    let mut command = tamis();
    command.arg("dedup").arg("--quiet").args(args);
    command
}

/// 58,781 real lines, 29,919 of them distinct.
pub(crate) fn homepages() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tamis/data/homepages.txt")
}

/// The records of several inputs, without their separators; the last of each needs none.
pub(crate) fn records<'a>(inputs: &[&'a [u8]], separator: u8) -> Vec<&'a [u8]> {
    let mut records = Vec::new();
    for input in inputs {
        let mut parts: Vec<&[u8]> = input.split(|&byte| byte == separator).collect();
        if parts.last().is_some_and(|last| last.is_empty()) {
            parts.pop();
        }
        records.extend(parts);
    }
    records
}

/// What is to be printed: the first record of every key, and every record without one.
pub(crate) fn first_of_each<'a>(
    records: &[&'a [u8]],
    separator: u8,
    key: impl Fn(&'a [u8]) -> Option<&'a [u8]>,
) -> Vec<u8> {
    let mut seen = HashSet::new();
    let mut output = Vec::new();
    for &record in records {
        if key(record).is_none_or(|key| seen.insert(key)) {
            output.extend_from_slice(record);
            output.push(separator);
        }
    }
    output
}

/// The exact answer for whole lines.
pub(crate) fn exact(inputs: &[&[u8]]) -> Vec<u8> {
    first_of_each(&records(inputs, b'\n'), b'\n', Some)
}
