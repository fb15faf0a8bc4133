//! `tamis dedup` on any bytes, cut anyhow, against a set that forgets nothing.

use std::collections::HashSet;
use std::io::{self, Read};

use arbitrary::{Arbitrary, Unstructured};
use tamis_cli::dedup::{Options, run};
use tamis_cli::input::Input;

#[derive(Arbitrary, Debug)]
struct Case<'a> {
    threads: u8,
    chunk: u16,
    nul: bool,
    capacity: Option<u8>,
    /// The most bytes that one read gives.
    piece: u8,
    first: &'a [u8],
    second: &'a [u8],
}

/// The output is the reference's, byte by byte.
pub fn dedup_lines(data: &[u8]) {
    let Ok(case) = Case::arbitrary_take_rest(Unstructured::new(data)) else { return };
    let options = Options {
        separator: if case.nul { 0 } else { b'\n' },
        threads: 1 + usize::from(case.threads % 4),
        chunk: 1 + usize::from(case.chunk),
        capacity: case.capacity.map(|capacity| 1 + u64::from(capacity)),
        // So low that a false positive would be a wonder.
        rate: 1e-9,
        ..Options::default()
    };
    let piece = 1 + usize::from(case.piece);
    let inputs = [case.first, case.second].map(|rest| Input::new("input", Drip { rest, piece }));
    let mut output = Vec::new();
    run(inputs, &mut output, &options, &mut ()).expect("nothing here can fail");
    assert_eq!(output, reference(&[case.first, case.second], options.separator), "{case:?}");
}

/// The first of every record, each with a separator, the last of an input with or without one.
fn reference(inputs: &[&[u8]], separator: u8) -> Vec<u8> {
    let mut seen = HashSet::new();
    let mut output = Vec::new();
    for input in inputs.iter().filter(|input| !input.is_empty()) {
        let records = input.strip_suffix(&[separator]).unwrap_or(input);
        for record in records.split(|&byte| byte == separator) {
            if seen.insert(record) {
                output.extend_from_slice(record);
                output.push(separator);
            }
        }
    }
    output
}

/// A slow pipe.
struct Drip<'a> {
    rest: &'a [u8],
    piece: usize,
}

impl Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.piece.min(buffer.len());
        self.rest.read(&mut buffer[..length])
    }
}
