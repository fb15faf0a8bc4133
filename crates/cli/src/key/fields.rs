//! Fields as keys: splits a record at a delimiter, or as CSV with quotes; one field or several make
//! the key.

use core::fmt;
use core::ops::Range;

use csv_core::{ReadFieldResult, Reader, ReaderBuilder, Terminator};
use memchr::memchr;

use super::no_key::NoKey;

/// Which fields of a record are its key. Keys of several fields are equal if each field is: ("a",
/// "bc") differs from ("ab", "c").
#[derive(Clone, Debug)]
pub struct Fields {
    /// The numbers of the fields, from 0, ascending.
    indices: Vec<usize>,
    /// The places among `indices` of the parts of the key, in their order; none if they ascend, as
    /// they do without names.
    order: Vec<usize>,
    /// The names of more fields, whose numbers the header says.
    names: Vec<String>,
    delimiter: u8,
    quotes: Quotes,
}

/// The meaning of a double quote at the start of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quotes {
    /// It is a byte like any other.
    Plain,
    /// A record with one has no key, because nobody has said whether it is CSV. It ends where a row
    /// of CSV would end, so that no part of a row is taken for a record.
    Refused,
    /// It begins a field quoted as in RFC 4180. Delimiters and separators in it are part of the
    /// field, and two quotes stand for one.
    Csv {
        /// The byte that ends a record.
        separator: u8,
    },
}

/// The byte order mark in UTF-8, which spreadsheets write at the start of a file.
pub(super) const MARK: &[u8] = b"\xef\xbb\xbf";

/// The buffers and the reader, kept from one record to the next.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    key: Vec<u8>,
    /// The key in the order of its parts, and where these are in that of the record.
    ordered: Vec<u8>,
    parts: Vec<Range<usize>>,
    /// Space for the fields without their quotes, as long as the longest record so far needed.
    unquoted: Vec<u8>,
    reader: Option<Reader>,
}

impl Fields {
    /// Selects the fields with these numbers, from 0, in any order, of records whose fields are
    /// separated by `delimiter`.
    #[must_use]
    pub fn new(mut indices: Vec<usize>, delimiter: u8, quotes: Quotes) -> Self {
        indices.sort_unstable();
        indices.dedup();
        Self { indices, order: Vec::new(), names: Vec::new(), delimiter, quotes }
    }

    /// Also selects the fields that have these names in the header of the input. They follow the
    /// others in the key, in the order of the names, whatever the order of the columns is.
    #[must_use]
    pub fn named(self, mut names: Vec<String>) -> Self {
        names.sort_unstable();
        names.dedup();
        Self { names, ..self }
    }

    /// The byte between fields.
    pub(super) const fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// What a quote means.
    pub(super) const fn quotes(&self) -> Quotes {
        self.quotes
    }

    /// Whether the header names fields.
    pub(super) fn is_named(&self) -> bool {
        !self.names.is_empty()
    }

    /// The number of fields that are asked for, by number or by name: two of them may be one
    /// column.
    pub(super) fn asked(&self) -> usize {
        self.indices.len() + self.names.len()
    }

    /// Whether there are several fields.
    pub(super) fn is_several(&self) -> bool {
        self.indices.len() > 1
    }

    /// Returns the names in a header, without quotes, or `None` if there is no memory: `is_short`
    /// says so.
    pub(super) fn columns(
        &self,
        header: &[u8],
        separator: u8,
        is_short: impl Fn() -> bool,
    ) -> Option<Vec<Vec<u8>>> {
        /// The columns after which the memory that is left is looked at.
        const CHECKED: usize = 1024;

        // Each name is allocated by itself, and their list, which may be longer than the header, at
        // once.
        let (mut scratch, mut count) = (Scratch::default(), 0);
        self.each_unquoted(header, separator, &mut scratch, |_, _| count += 1);
        let mut columns = Vec::new();
        columns.try_reserve_exact(count).ok()?;
        self.each_unquoted(header, separator, &mut scratch, |number, column| {
            if number % CHECKED != 0 || !is_short() {
                columns.push(column.to_vec());
            }
        });
        (columns.len() == count).then_some(columns)
    }

    /// Returns the same selection for inputs with these columns, or says which name they do not
    /// have, or have twice.
    pub(super) fn resolved(&self, columns: &[Vec<u8>]) -> Result<Self, String> {
        // The columns in the order of the key.
        let mut columns_of_key = self.indices.clone();
        for name in &self.names {
            let mut found = (0..columns.len()).filter(|&at| columns[at] == name.as_bytes());
            match (found.next(), found.next()) {
                (Some(index), None) if self.indices.contains(&index) => {}
                (Some(index), None) => columns_of_key.push(index),
                (Some(first), Some(second)) => {
                    return Err(format!(
                        "the columns {} and {} are both called '{}'; give the number of one as --key-field",
                        first + 1,
                        second + 1,
                        name.escape_debug()
                    ));
                }
                (None, _) => return Err(self.missing(name, columns)),
            }
        }
        let mut resolved = Self::new(columns_of_key.clone(), self.delimiter, self.quotes);
        if resolved.indices != columns_of_key {
            let place = |column| resolved.indices.binary_search(column).ok();
            resolved.order = columns_of_key.iter().filter_map(place).collect();
        }
        Ok(Self { names: self.names.clone(), ..resolved })
    }

    /// Says that no column has this name, and which names there are.
    fn missing(&self, name: &str, columns: &[Vec<u8>]) -> String {
        let shown = |column: &Vec<u8>| {
            let text = String::from_utf8_lossy(column);
            format!("'{}'", text.chars().take(SHOWN).collect::<String>().escape_debug())
        };
        let list: Vec<_> = columns.iter().take(SHOWN).map(shown).collect();
        let more = match columns.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let hint = match columns {
            [_] => format!(
                "; if {} is not the delimiter, give it as --delimiter, or --csv",
                byte_name(self.delimiter)
            ),
            _ => String::new(),
        };
        format!("has no column '{}', but {}{more}{hint}", name.escape_debug(), list.join(", "))
    }

    /// Returns the key of `record`: one field, or several, each after its length.
    #[inline]
    pub(super) fn of<'a>(
        &self,
        record: &'a [u8],
        scratch: &'a mut Scratch,
    ) -> Result<&'a [u8], NoKey> {
        match (self.indices.as_slice(), self.quotes) {
            // The most frequent case, inlined: one field, found without a buffer.
            (&[index], Quotes::Plain) => {
                let record = unmarked(record);
                self.split(record).nth(index).ok_or(NoKey::Field).map(|field| &record[field])
            }
            _ => self.other(record, scratch),
        }
    }

    /// [`Fields::of`] if there are several, or quotes have a meaning.
    fn other<'a>(&self, record: &'a [u8], scratch: &'a mut Scratch) -> Result<&'a [u8], NoKey> {
        match self.quotes {
            // A row without quotes needs no reader.
            Quotes::Csv { separator } => match memchr(b'"', record) {
                None => self.plain(bare(record, separator), scratch),
                Some(_) => self.unquoted(record, separator, scratch),
            },
            Quotes::Refused if self.has_quoted(unmarked(record)) => Err(NoKey::Quoted),
            Quotes::Plain | Quotes::Refused => self.plain(unmarked(record), scratch),
        }
    }

    /// Returns whether a field begins with a double quote.
    fn has_quoted(&self, text: &[u8]) -> bool {
        memchr::memchr_iter(b'"', text).any(|at| at == 0 || text[at - 1] == self.delimiter)
    }

    /// Returns the ranges of the fields of `record`.
    #[inline]
    fn split(&self, record: &[u8]) -> impl Iterator<Item = Range<usize>> {
        let mut start = 0;
        let ends = memchr::memchr_iter(self.delimiter, record).chain([record.len()]);
        ends.map(move |end| {
            let field = start..end;
            start = end + 1;
            field
        })
    }

    /// [`Fields::of`] if quotes have no meaning, or the record has none.
    fn plain<'a>(&self, record: &'a [u8], scratch: &'a mut Scratch) -> Result<&'a [u8], NoKey> {
        scratch.key.clear();
        // The indices ascend, so one pass over the fields meets them in order.
        let mut wanted = self.indices.iter().peekable();
        for (number, place) in self.split(record).enumerate() {
            let field = &record[place];
            if wanted.next_if_eq(&&number).is_none() {
                continue;
            }
            // A single field is a part of the record; several are copied together.
            if self.indices.len() == 1 {
                return Ok(field);
            }
            append(field, &mut scratch.key);
            if wanted.peek().is_none() {
                return Ok(self.ordered(scratch));
            }
        }
        Err(NoKey::Field)
    }

    /// Returns the key of several fields in the order of its parts, from that of the record.
    fn ordered<'a>(&self, scratch: &'a mut Scratch) -> &'a [u8] {
        let Scratch { key, ordered, parts, .. } = scratch;
        if self.order.is_empty() {
            return key;
        }
        // Each part begins with its length.
        parts.clear();
        let mut start = 0;
        while let Some((length, _)) = key[start..].split_first_chunk() {
            let end = start + length.len() + u64::from_le_bytes(*length) as usize;
            parts.push(start..end);
            start = end;
        }
        ordered.clear();
        self.order.iter().for_each(|&at| ordered.extend_from_slice(&key[parts[at].clone()]));
        ordered
    }

    /// [`Fields::of`] if quotes are those of CSV.
    fn unquoted<'a>(
        &self,
        record: &[u8],
        separator: u8,
        scratch: &'a mut Scratch,
    ) -> Result<&'a [u8], NoKey> {
        let mut key = core::mem::take(&mut scratch.key);
        key.clear();
        let mut wanted = self.indices.iter().peekable();
        self.each_unquoted(record, separator, scratch, |number, field| {
            // Add the field to the key if it is one of those wanted.
            match wanted.next_if_eq(&&number) {
                None => {}
                Some(_) if self.indices.len() == 1 => key.extend_from_slice(field),
                Some(_) => append(field, &mut key),
            }
        });
        scratch.key = key;
        if wanted.peek().is_some() { Err(NoKey::Field) } else { Ok(self.ordered(scratch)) }
    }

    /// Passes the number and the bytes of each field of a row to `each`, without quotes.
    fn each_unquoted(
        &self,
        record: &[u8],
        separator: u8,
        scratch: &mut Scratch,
        mut each: impl FnMut(usize, &[u8]),
    ) {
        let Scratch { unquoted, reader, .. } = scratch;
        let reader = reader.get_or_insert_with(|| self.reader(separator));
        let row = bare(record, separator);
        // The buffer is longer than any output: a reader that has filled its buffer reports that,
        // and not that the field is complete.
        if unquoted.len() < row.len() + 3 {
            unquoted.resize(row.len() + 3, 0);
        }
        // The reader gets the row, and then the separator, which ends the last field unless it is
        // an open quoted one.
        let end = [separator];
        let (mut input, mut ended) = (row, false);
        // The current field has this number and begins at `start` in the buffer; it is written up
        // to `at`.
        let (mut number, mut start, mut at) = (0, 0, 0);
        // The reader would skip an empty row, which has one empty field here.
        let mut done = row.is_empty();
        loop {
            if !done && input.is_empty() {
                if ended {
                    // All is read, even the separator, and the field has not ended: the input ends
                    // in a quoted field. The separator that the reader got is no part of it, and a
                    // final CR is. Leave the reader ready for the next row.
                    at -= 1;
                    if separator == b'\n' && record.ends_with(b"\r") {
                        unquoted[at] = b'\r';
                        at += 1;
                    }
                    reader.reset();
                    prime(reader, separator);
                    done = true;
                } else {
                    (input, ended) = (&end, true);
                }
            }
            // Read on until a field ends.
            if !done {
                let (result, read, written) = reader.read_field(input, &mut unquoted[at..]);
                input = &input[read..];
                at += written;
                match result {
                    ReadFieldResult::Field { record_end } => done = record_end,
                    _ => continue,
                }
            }
            each(number, &unquoted[start..at]);
            if done {
                return;
            }
            (number, start) = (number + 1, at);
        }
    }

    /// Makes the reader for all records of a run.
    fn reader(&self, separator: u8) -> Reader {
        let mut reader = ReaderBuilder::new()
            .delimiter(self.delimiter)
            .terminator(Terminator::Any(separator))
            .build();
        prime(&mut reader, separator);
        reader
    }
}

/// The number of columns, and of characters of each, that a message shows.
const SHOWN: usize = 30;

/// Returns a record without a byte order mark, which is at the start of a file, and in the middle
/// where files were joined.
#[inline]
pub(super) fn unmarked(record: &[u8]) -> &[u8] {
    record.strip_prefix(MARK).unwrap_or(record)
}

/// Returns a row without a byte order mark and without the CR of a line that ends in CR LF.
pub(super) fn bare(record: &[u8], separator: u8) -> &[u8] {
    unmarked(match record {
        [row @ .., b'\r'] if separator == b'\n' => row,
        row => row,
    })
}

/// The name of a byte in messages.
fn byte_name(byte: u8) -> String {
    match byte {
        b'\t' => "TAB".into(),
        0 => "NUL".into(),
        b' ' => "a space".into(),
        b'!'..=b'~' => format!("'{}'", char::from(byte)),
        _ => format!("\\x{byte:02x}"),
    }
}

/// Says that no record has the byte between fields.
pub(crate) struct Undelimited(pub(crate) u8);

impl fmt::Display for Undelimited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no record has the delimiter of --key-field, {}: each record is one field; --delimiter gives another, such \
             as a comma",
            byte_name(self.0)
        )
    }
}

/// Moves a new reader past the start of a file, where it would drop a byte order mark. A worker's
/// reader gets records from anywhere in a file, so it must treat all of them alike.
fn prime(reader: &mut Reader, separator: u8) {
    reader.read_field(&[separator], &mut [0]);
}

/// Appends a part to a key of several parts. Its length comes first, so that different lists of
/// parts give different keys.
pub(super) fn append(part: &[u8], key: &mut Vec<u8>) {
    key.extend_from_slice(&(part.len() as u64).to_le_bytes());
    key.extend_from_slice(part);
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
        // Except for a byte order mark.
        assert_eq!(field(0, b"\xef\xbb\xbfa\tb"), Ok(b"a".to_vec()));
        let both = |record: &[u8]| key(&[0, 1], b'\t', Quotes::Plain, record);
        assert_eq!(both(b"\xef\xbb\xbfa\tb"), both(b"a\tb"));
    }

    #[test]
    fn keys_of_several_fields_depend_on_where_each_field_ends() {
        let both = |record: &[u8]| key(&[2, 0, 2], b',', Quotes::Plain, record);
        assert_eq!(both(b"a,x,bc"), both(b"a,y,bc,z"));
        assert_ne!(both(b"a,x,bc"), both(b"ab,x,c"));
        assert_ne!(both(b",x,a"), both(b"a,x,"));
        assert_eq!(both(b"a,x"), Err(NoKey::Field));
        // Bytes of a field that look like a length are not taken for one.
        let long = |first: &[u8], second: &[u8]| both(&[first, b",,", second].concat());
        assert_ne!(long(b"a", b"\x01\0\0\0\0\0\0\0b"), long(b"a\x01\0\0\0\0\0\0\0", b"b"));
    }

    #[test]
    fn named_fields_are_found_in_any_order_of_the_columns() {
        let names = ["c", "a", "c"].map(str::to_owned).to_vec();
        for quotes in [Quotes::Plain, Quotes::Csv { separator: b'\n' }] {
            // After one with a number.
            let fields = Fields::new(vec![1], b',', quotes).named(names.clone());
            let of = |header: &str, record: &[u8]| {
                let columns: Vec<Vec<u8>> = header.split(',').map(Into::into).collect();
                let fields = fields.resolved(&columns).expect("it has the names");
                fields.of(record, &mut Scratch::default()).map(<[u8]>::to_vec)
            };
            assert_eq!(of("a,b,c", b"1,2,3"), of("c,b,a,d", b"3,2,1,4"));
            assert_ne!(of("a,b,c", b"1,2,3"), of("c,b,a", b"1,2,3"));
            // One that is a number too is a part once.
            assert_eq!(of("b,a,c", b"2,1,3"), of("x,a,c", b"4,1,3"));
            assert_eq!(of("c,a", b"3,1"), of("c,a", b"3,1"));
        }
        let csv = Fields::new(Vec::new(), b',', Quotes::Csv { separator: b'\n' }).named(names);
        let of = |header: [&str; 2], record: &[u8]| {
            let fields = csv.resolved(&header.map(Into::into)).expect("it has the names");
            fields.of(record, &mut Scratch::default()).map(<[u8]>::to_vec)
        };
        assert_eq!(of(["a", "c"], b"\"x,\",y"), of(["c", "a"], b"y,\"x,\""));
        assert_ne!(of(["a", "c"], b"\"x,\",y"), of(["c", "a"], b"\"x,\",y"));
    }

    #[test]
    fn a_quote_that_no_option_explains_is_an_error_in_any_field() {
        let second = |record: &[u8]| key(&[1], b',', Quotes::Refused, record);
        assert_eq!(second(b"a,\"b\",c"), Err(NoKey::Quoted));
        assert_eq!(second(b"\"a,b\",c"), Err(NoKey::Quoted));
        // The quoted field may end several lines below; those lines are then not records.
        assert_eq!(second(b"a,b,\"c"), Err(NoKey::Quoted));
        assert_eq!(second(b"\xef\xbb\xbf\"a,b\",c"), Err(NoKey::Quoted));
        assert_eq!(second(b"a,5\",c"), Ok(b"5\"".to_vec()));
        assert_eq!(second(b"a"), Err(NoKey::Field));
        assert_eq!(key(&[0, 1], b',', Quotes::Refused, b"a,\"b"), Err(NoKey::Quoted));
    }

    /// One reader reads all records: no record affects the next, and none is treated as the first
    /// of a file.
    #[test]
    fn a_reader_serves_many_records() {
        let fields = Fields::new(vec![0], b',', Quotes::Csv { separator: b'\n' });
        let mut scratch = Scratch::default();
        let mark = b"\xef\xbb\xbf\xef\xbb\xbfa".as_slice();
        for (record, expected) in [
            (mark, Ok(&mark[3..])),
            (b"\"x", Ok(b"x")),
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
    fn a_row_that_ends_in_nul_may_contain_newlines() {
        let csv = Quotes::Csv { separator: 0 };
        assert_eq!(key(&[1], b',', csv, b"a,\"b\nc\""), Ok(b"b\nc".to_vec()));
        assert_eq!(key(&[1], b',', csv, b"a,b\r"), Ok(b"b\r".to_vec()));
    }
}
