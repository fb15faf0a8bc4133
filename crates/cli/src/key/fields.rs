//! Fields of a record: split at a byte, or as CSV quotes them; one of them, or several as one key.

use csv_core::{ReadFieldResult, Reader, ReaderBuilder, Terminator};

use super::NoKey;

/// Which fields of a record are its key. Several are the same if each is: ("a", "bc") is not ("ab", "c").
#[derive(Clone, Debug)]
pub struct Fields {
    /// From 0, ascending: the order makes no two records the same that differ.
    indices: Vec<usize>,
    delimiter: u8,
    quotes: Quotes,
}

/// What a double quote at the head of a field means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quotes {
    /// Nothing: it is a byte like any other.
    Plain,
    /// Unknown: a record with such a field is refused, wherever the field is, since a quoted one may hold delimiters
    /// and line ends.
    Refused,
    /// The field is quoted as RFC 4180 says; delimiters within are its own, and two quotes are one.
    Csv {
        /// The byte that ends a record.
        separator: u8,
    },
}

/// UTF-8's byte order mark, which spreadsheets write at the head of a file.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// What is kept from one record to the next.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    key: Vec<u8>,
    /// The fields without their quotes; only as long as it was needed so far.
    unquoted: Vec<u8>,
    reader: Option<Reader>,
}

impl Fields {
    /// The fields with these numbers, from 0, in whatever order, between bytes `delimiter`.
    #[must_use]
    pub fn new(mut indices: Vec<usize>, delimiter: u8, quotes: Quotes) -> Self {
        indices.sort_unstable();
        indices.dedup();
        Self { indices, delimiter, quotes }
    }

    /// The key of `record`: one field, or several, each after its length.
    #[inline]
    pub(super) fn of<'a>(
        &self,
        record: &'a [u8],
        scratch: &'a mut Scratch,
    ) -> Result<&'a [u8], NoKey> {
        match (self.indices.as_slice(), self.quotes) {
            (&[index], Quotes::Plain) => {
                self.split(record).nth(index).ok_or(NoKey::Field).map(|field| &record[field])
            }
            (_, Quotes::Csv { separator }) => self.unquoted(record, separator, scratch),
            (_, Quotes::Refused) if self.has_quoted(record) => Err(NoKey::Quoted),
            _ => self.plain(record, scratch),
        }
    }

    /// Whether a field begins with a double quote.
    fn has_quoted(&self, record: &[u8]) -> bool {
        let text = record.strip_prefix(MARK).unwrap_or(record);
        memchr::memchr_iter(b'"', text).any(|at| at == 0 || text[at - 1] == self.delimiter)
    }

    /// Where the fields of `record` are.
    #[inline]
    fn split(&self, record: &[u8]) -> impl Iterator<Item = core::ops::Range<usize>> {
        let mut start = 0;
        let ends = memchr::memchr_iter(self.delimiter, record).chain([record.len()]);
        ends.map(move |end| {
            let field = start..end;
            start = end + 1;
            field
        })
    }

    /// [`Fields::of`] where quotes mean nothing, or there are none.
    fn plain<'a>(&self, record: &'a [u8], scratch: &'a mut Scratch) -> Result<&'a [u8], NoKey> {
        scratch.key.clear();
        let mut wanted = self.indices.iter().peekable();
        for (number, place) in self.split(record).enumerate() {
            let field = &record[place];
            if wanted.next_if_eq(&&number).is_none() {
                continue;
            }
            if self.indices.len() == 1 {
                return Ok(field);
            }
            add(field, &mut scratch.key);
            if wanted.peek().is_none() {
                return Ok(&scratch.key);
            }
        }
        Err(NoKey::Field)
    }

    /// [`Fields::of`] where quotes are as in CSV.
    fn unquoted<'a>(
        &self,
        record: &[u8],
        separator: u8,
        scratch: &'a mut Scratch,
    ) -> Result<&'a [u8], NoKey> {
        let Scratch { key, unquoted, reader } = scratch;
        let reader = reader.get_or_insert_with(|| self.reader(separator));
        key.clear();
        // A line of CSV ends in both, and so does its last field.
        let row = match record {
            [row @ .., b'\r'] if separator == b'\n' => row,
            row => row,
        };
        // At the head of a file, and wherever files were joined. It is no part of the first field, nor hides its quote.
        let row = row.strip_prefix(MARK).unwrap_or(row);
        // One more than can come out: a reader that has filled its room says so, and not that it is done.
        if unquoted.len() < row.len() + 2 {
            unquoted.resize(row.len() + 2, 0);
        }
        let end = [separator];
        let (mut input, mut ended) = (row, false);
        let (mut number, mut start, mut at) = (0, 0, 0);
        let mut wanted = self.indices.iter().peekable();
        // Without a byte the reader knows of no row.
        let mut done = row.is_empty();
        loop {
            if !done && input.is_empty() {
                if ended {
                    reader.reset();
                    prime(reader, separator);
                    return Err(NoKey::Open);
                }
                (input, ended) = (&end, true);
            }
            if !done {
                let (result, read, written) = reader.read_field(input, &mut unquoted[at..]);
                input = &input[read..];
                at += written;
                match result {
                    ReadFieldResult::Field { record_end } => done = record_end,
                    _ => continue,
                }
            }
            if wanted.next_if_eq(&&number).is_some() {
                let field = &unquoted[start..at];
                if self.indices.len() == 1 {
                    key.extend_from_slice(field);
                } else {
                    add(field, key);
                }
            }
            if done {
                break;
            }
            (number, start) = (number + 1, at);
        }
        if wanted.peek().is_some() { Err(NoKey::Field) } else { Ok(key) }
    }

    fn reader(&self, separator: u8) -> Reader {
        let mut reader = ReaderBuilder::new()
            .delimiter(self.delimiter)
            .terminator(Terminator::Any(separator))
            .build();
        prime(&mut reader, separator);
        reader
    }
}

/// Takes a reader over the head of a file, where it would drop a byte order mark: records go to whichever worker.
fn prime(reader: &mut Reader, separator: u8) {
    reader.read_field(&[separator], &mut [0]);
}

/// Adds a field to a key of several. Its length goes first, so that no two lists of fields look the same.
fn add(field: &[u8], key: &mut Vec<u8>) {
    key.extend_from_slice(&(field.len() as u64).to_le_bytes());
    key.extend_from_slice(field);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(
        indices: &[usize],
        delimiter: u8,
        quotes: Quotes,
        record: &[u8],
    ) -> Result<Vec<u8>, NoKey> {
        let fields = Fields::new(indices.to_vec(), delimiter, quotes);
        fields.of(record, &mut Scratch::default()).map(<[u8]>::to_vec)
    }

    #[test]
    fn fields_keep_their_bytes() {
        let field = |index, record: &[u8]| key(&[index], b'\t', Quotes::Plain, record);
        assert_eq!(field(0, b"a\tb\tc"), Ok(b"a".to_vec()));
        assert_eq!(field(1, b"a\tb\tc"), Ok(b"b".to_vec()));
        assert_eq!(field(2, b"a\tb\tc\r"), Ok(b"c\r".to_vec()));
        assert_eq!(field(3, b"a\tb\tc"), Err(NoKey::Field));
        assert_eq!(field(0, b""), Ok(Vec::new()));
        assert_eq!(field(1, b"\t"), Ok(Vec::new()));
        assert_eq!(field(1, b"a\t\xff\0\tc"), Ok(b"\xff\0".to_vec()));
    }

    #[test]
    fn several_fields_do_not_run_into_each_other() {
        let both = |record: &[u8]| key(&[2, 0, 2], b',', Quotes::Plain, record);
        assert_eq!(both(b"a,x,bc"), both(b"a,y,bc,z"));
        assert_ne!(both(b"a,x,bc"), both(b"ab,x,c"));
        assert_ne!(both(b",x,a"), both(b"a,x,"));
        assert_eq!(both(b"a,x"), Err(NoKey::Field));
        // A length within a field is no length.
        let long = |first: &[u8], second: &[u8]| both(&[first, b",,", second].concat());
        assert_ne!(long(b"a", b"\x01\0\0\0\0\0\0\0b"), long(b"a\x01\0\0\0\0\0\0\0", b"b"));
    }

    #[test]
    fn a_quote_without_a_meaning_is_refused_wherever_it_is() {
        let second = |record: &[u8]| key(&[1], b',', Quotes::Refused, record);
        assert_eq!(second(b"a,\"b\",c"), Err(NoKey::Quoted));
        assert_eq!(second(b"\"a,b\",c"), Err(NoKey::Quoted));
        // Its field may end lines below, which are then no records.
        assert_eq!(second(b"a,b,\"c"), Err(NoKey::Quoted));
        assert_eq!(second(b"\xef\xbb\xbf\"a,b\",c"), Err(NoKey::Quoted));
        assert_eq!(second(b"a,5\",c"), Ok(b"5\"".to_vec()));
        assert_eq!(second(b"a"), Err(NoKey::Field));
        assert_eq!(key(&[0, 1], b',', Quotes::Refused, b"a,\"b"), Err(NoKey::Quoted));
    }

    #[test]
    fn quoted_fields() {
        let csv = Quotes::Csv { separator: b'\n' };
        let second = |record: &[u8]| key(&[1], b',', csv, record);
        for record in ["a,b", "a,\"b\"", "\"a\",b\r", "\"a,\"\"\",\"b\",\"\"", "a,b,", "\"\",b"] {
            assert_eq!(second(record.as_bytes()), Ok(b"b".to_vec()), "{record}");
        }
        assert_eq!(second(b"a,\"b\"\"c\""), Ok(b"b\"c".to_vec()));
        assert_eq!(second(b"a,5\" disk"), Ok(b"5\" disk".to_vec()));
        assert_eq!(second(b"a,"), Ok(Vec::new()));
        assert_eq!(second(b"a"), Err(NoKey::Field));
        assert_eq!(second(b""), Err(NoKey::Field));
        assert_eq!(key(&[0], b',', csv, b"\r"), Ok(Vec::new()));
        // Wherever it is: what comes next is no record of its own.
        for record in ["\"a", "a,\"b", "a,b,\"c\r", "a,b,\"c,\"\""] {
            assert_eq!(second(record.as_bytes()), Err(NoKey::Open), "{record}");
        }
    }

    /// One reader for all records: none leaves anything behind, and none is the first of a file.
    #[test]
    fn a_reader_serves_many_records() {
        let fields = Fields::new(vec![0], b',', Quotes::Csv { separator: b'\n' });
        let mut scratch = Scratch::default();
        let mark = b"\xef\xbb\xbf\xef\xbb\xbfa".as_slice();
        for (record, expected) in [
            (mark, Ok(&mark[3..])),
            (b"\"x", Err(NoKey::Open)),
            (mark, Ok(&mark[3..])),
            (b"\xef\xbb\xbf\"a,b\"", Ok(b"a,b")),
            (b"\xef\xbb\xbf", Ok(b"".as_slice())),
            (b"", Ok(b"".as_slice())),
            (b"a,", Ok(b"a")),
            (b"b,\"c\"", Ok(b"b")),
        ] {
            assert_eq!(fields.of(record, &mut scratch), expected, "{record:?}");
        }
    }

    #[test]
    fn a_row_that_ends_in_nul_may_hold_lines() {
        let csv = Quotes::Csv { separator: 0 };
        assert_eq!(key(&[1], b',', csv, b"a,\"b\nc\""), Ok(b"b\nc".to_vec()));
        assert_eq!(key(&[1], b',', csv, b"a,b\r"), Ok(b"b\r".to_vec()));
    }
}
