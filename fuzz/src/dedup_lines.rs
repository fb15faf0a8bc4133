//! Compares `tamis dedup` with a `HashSet`, on arbitrary bytes in arbitrary pieces.

use std::collections::HashSet;
use std::io::{self, Read};

use arbitrary::{Arbitrary, Unstructured};
use tamis_cli::Kind;
use tamis_cli::dedup::{Filter, Options, run};
use tamis_cli::input::Input;

#[derive(Arbitrary, Debug)]
struct Case<'a> {
    threads: u8,
    chunk: u16,
    nul: bool,
    capacity: Option<u8>,
    /// Whether the lines are kept in a chain of filters instead of tables.
    chain: bool,
    /// The maximum number of bytes that one read returns.
    piece: u8,
    first: &'a [u8],
    second: &'a [u8],
}

/// Checks that the output is the same as that of the reference.
pub(crate) fn dedup_lines(data: &[u8]) {
    let Ok(case) = Case::arbitrary_take_rest(Unstructured::new(data)) else { return };
    let options = Options {
        separator: if case.nul { 0 } else { b'\n' },
        threads: 1 + usize::from(case.threads % 4),
        chunk: 1 + usize::from(case.chunk),
        capacity: case.capacity.map(|capacity| 1 + u64::from(capacity)),
        // So low that no false positive is to be expected.
        filter: if case.chain {
            Filter::Chain { kind: Kind::Blocked, rate: 1e-9 }
        } else {
            Filter::Table
        },
        ..Options::default()
    };
    let piece = 1 + usize::from(case.piece);
    let inputs = [case.first, case.second].map(|rest| Input::new("input", Drip { rest, piece }));
    let mut output = Vec::new();
    run(inputs.into(), &mut output, &options, &mut ()).expect("no input or output can fail");
    assert_eq!(output, reference(&[case.first, case.second], options.separator), "{case:?}");
}

/// Returns the first copy of every record, with a separator after each. The last record of an input
/// may have none.
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

/// A reader that returns at most `piece` bytes per read, like a slow pipe.
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
