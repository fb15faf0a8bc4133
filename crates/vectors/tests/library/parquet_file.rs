//! Whole Parquet files as filters: those of the writers, and files with several columns and row
//! groups.

use std::fs;

use tamis_formats::foreign::{AnyFilter, Error, Format, Key, KeyType, convert, read};
use tamis_formats::{LoadError, Options};
use tamis_vectors::{Vector, vectors};

use crate::every::check_absent;
use crate::{damage, key};

/// Returns the vectors that have a Parquet file, and the files.
fn files() -> Vec<(Vector, Vec<u8>)> {
    let file = |vector: Vector| {
        let name = vector.field("extra")["parquet_file"].as_str()?.to_owned();
        let file = fs::read(vector.path().with_file_name(name)).unwrap();
        Some((vector, file))
    };
    let files: Vec<_> = vectors("parquet").into_iter().filter_map(file).collect();
    assert_eq!(files.len(), 6);
    files
}

#[test]
fn files_of_the_writers_are_filters() {
    for (vector, file) in files() {
        let name = vector.name();
        let mut filter = read(Format::named("parquet").unwrap(), &file, None).unwrap();
        assert_eq!(filter.format(), Format::ParquetFile, "{name}");
        assert!(filter.to_bytes() == file, "{name}");
        for inserted in vector.inserted() {
            assert_eq!(filter.contains(key(&inserted)), Ok(true), "{name}");
            assert_eq!(filter.insert(key(&inserted)), Err(Error::ReadOnly), "{name}");
        }
        check_absent(&vector, &*filter);
        // The filter refuses keys that the column cannot have.
        let types = [KeyType::Bytes, KeyType::Text, KeyType::I32, KeyType::I64];
        let of_column = types.map(|of| filter.takes(of));
        let of_vector = types.map(|of| of.to_string() == vector.key_type());
        let is_text = of_vector[0] || of_vector[1];
        let [_, _, i32, i64] = of_vector;
        assert_eq!(of_column, [is_text, is_text, i32, i64], "{name}");

        // The filter of the column, with its header and without it.
        let bitset = convert(&*filter, Format::ParquetBitset).unwrap();
        assert!(bitset.to_bytes() == vector.bytes(), "{name}");
        assert_eq!(bitset.false_positive_rate(), filter.false_positive_rate(), "{name}");
        let with_header = convert(&*filter, Format::ParquetHeader).unwrap();
        let extra = |field: &str| vector.field("extra")[field].as_u64().unwrap();
        let offset = extra("bloom_filter_offset") as usize;
        assert!(file[offset..].starts_with(&with_header.to_bytes()), "{name}");
        let length = bitset.encoded_len() + extra("header_length");
        assert_eq!(with_header.encoded_len(), length, "{name}");
        let formats = Format::named("parquet").unwrap();
        let again = read(formats, &with_header.to_bytes(), None).unwrap();
        assert_eq!(again.format(), Format::ParquetHeader, "{name}");
        let back = convert(&*again, Format::ParquetBitset).unwrap();
        assert!(back.to_bytes() == vector.bytes(), "{name}");
        let copy = convert(&*filter, Format::ParquetFile).unwrap();
        assert!(copy.to_bytes() == file, "{name}");
        let error = convert(&*bitset, Format::ParquetFile).unwrap_err();
        assert!(matches!(error, Error::Convert { to: Format::ParquetFile, .. }), "{name}");
    }
}

/// A column of a row group: its path, and its filter with the header.
type Column<'c> = (&'c [&'c str], Option<Vec<u8>>);

/// Writes a number in groups of 7 bits.
fn varint(mut number: u64, to: &mut Vec<u8>) {
    while number >= 128 {
        to.push(number as u8 | 128);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Writes the header of a list.
fn list(count: usize, kind: u8, to: &mut Vec<u8>) {
    to.push(0xf0 | kind);
    varint(count as u64, to);
}

/// Returns a file with the metadata that a reader of Bloom filters needs, in Thrift's compact
/// protocol.
fn file(row_groups: &[Vec<Column<'_>>]) -> Vec<u8> {
    let (mut file, mut metadata) = (b"PAR1".to_vec(), vec![0x49]);
    list(row_groups.len(), 12, &mut metadata);
    for columns in row_groups {
        metadata.push(0x19);
        list(columns.len(), 12, &mut metadata);
        for (path, filter) in columns {
            // Field 3 of the chunk: field 1, the type BYTE_ARRAY; field 3, the path.
            metadata.extend([0x3c, 0x15, 12, 0x29]);
            list(path.len(), 8, &mut metadata);
            for part in *path {
                varint(part.len() as u64, &mut metadata);
                metadata.extend(part.as_bytes());
            }
            if let Some(filter) = filter {
                // Field 14, the offset, in zigzag form.
                metadata.push(0xb6);
                varint(2 * file.len() as u64, &mut metadata);
                file.extend(filter);
            }
            metadata.extend([0, 0]);
        }
        metadata.push(0);
    }
    metadata.push(0);
    let length = metadata.len() as u32;
    file.extend(metadata);
    file.extend(length.to_le_bytes());
    file.extend(b"PAR1");
    file
}

/// Returns a filter of this number of bytes.
fn bitset(bytes: usize, keys: &[&str]) -> AnyFilter {
    let mut filter = read(&[Format::ParquetBitset], &vec![0; bytes], None).unwrap();
    for key in keys {
        filter.insert(Key::Text(key)).unwrap();
    }
    filter
}

/// Returns a filter of this number of bytes with one key, and its header.
fn with_key(bytes: usize, key: &str) -> Vec<u8> {
    convert(&*bitset(bytes, &[key]), Format::ParquetHeader).unwrap().to_bytes()
}

/// Returns the names in an error.
fn names(error: &Error) -> &str {
    let Error::Column { columns } = error else { panic!("{error}") };
    columns
}

fn open(file: &[u8], column: Option<&str>) -> Result<AnyFilter, Error> {
    read(Format::named("parquet").unwrap(), file, column)
}

#[test]
fn a_column_is_named_by_its_path() {
    let file = file(&[vec![
        (&["id"], Some(with_key(64, "a"))),
        (&["user", "name"], Some(with_key(64, "b"))),
        (&["other"], None),
    ]]);
    for (name, key, absent) in [("id", "a", "b"), ("user.name", "b", "a")] {
        let filter = open(&file, Some(name)).unwrap();
        assert_eq!(filter.contains(Key::Text(key)), Ok(true), "{name}");
        assert_eq!(filter.contains(Key::Text(absent)), Ok(false), "{name}");
        assert!(filter.takes(KeyType::Text) && !filter.takes(KeyType::I64), "{name}");
        // A copy has the same column.
        let copy = convert(&*filter, Format::ParquetFile).unwrap();
        assert_eq!(copy.contains(Key::Text(absent)), Ok(false), "{name}");
    }
    for name in [None, Some("other"), Some("name"), Some("user"), Some("")] {
        assert_eq!(names(&open(&file, name).unwrap_err()), "id, user.name", "{name:?}");
    }
    assert_eq!(
        open(&file, None).unwrap_err().to_string(),
        "name a column that has Bloom filters: id, user.name"
    );
}

/// A list of names is short, and shows no control character.
#[test]
fn the_list_of_columns_is_bounded() {
    let many: Vec<String> = (0..100).map(|number| format!("column {number}")).collect();
    let paths: Vec<[&str; 1]> = many.iter().map(|name| [name.as_str()]).collect();
    let group = paths.iter().map(|path| (&path[..], Some(with_key(32, "a")))).collect();
    let error = open(&file(&[group]), None).unwrap_err();
    assert!(names(&error).ends_with("column 15, …"), "{error}");
    let long = "x".repeat(1000);
    let error = open(&file(&[vec![(&[&long], Some(with_key(32, "a")))]]), Some("y")).unwrap_err();
    assert_eq!(names(&error), "…");
    let error = open(&file(&[vec![(&["a\x1b[2J"], Some(with_key(32, "a")))]]), Some("y"));
    assert_eq!(names(&error.unwrap_err()), "a\\u{1b}[2J");
    let error = open(&file(&[vec![(&["a"], None)]]), None).unwrap_err();
    assert_eq!(
        (names(&error), error.to_string().as_str()),
        ("", "it has no column with a Bloom filter")
    );
    // Two columns with one name.
    let pair: Vec<Column<'_>> =
        vec![(&["a", "b"], Some(with_key(32, "a"))), (&["a.b"], Some(with_key(32, "b")))];
    assert_eq!(names(&open(&file(&[pair]), Some("a.b")).unwrap_err()), "a.b, a.b");
}

#[test]
fn a_key_may_be_in_any_row_group() {
    let group = |bytes, key| vec![(&["id"][..], Some(with_key(bytes, key)))];
    let same = file(&[group(64, "a"), group(64, "b"), group(64, "c")]);
    let filter = open(&same, None).unwrap();
    for key in ["a", "b", "c", "d"] {
        assert_eq!(filter.contains(Key::Text(key)), Ok(key != "d"), "{key}");
    }
    assert_eq!(filter.parameters()[..2], [("bits", 3 * 512), ("row groups", 3)]);
    // Filters of one size become one filter.
    let union = convert(&*filter, Format::ParquetBitset).unwrap();
    assert!(union.to_bytes() == bitset(64, &["a", "b", "c"]).to_bytes());
    let other = file(&[group(64, "a"), group(32, "b")]);
    let filter = open(&other, None).unwrap();
    assert_eq!(filter.contains(Key::Text("b")), Ok(true));
    let error = convert(&*filter, Format::ParquetHeader).unwrap_err();
    assert_eq!(error, Error::Convert { from: Format::ParquetFile, to: Format::ParquetHeader });
    assert!(error.to_string().ends_with("filters of the two have other layouts"), "{error}");
}

/// Without a filter of one row group, each key may be in the file.
#[test]
fn each_row_group_must_have_a_filter() {
    let with = || vec![(&["id"][..], Some(with_key(32, "a")))];
    let without = || vec![(&["id"][..], None)];
    for (groups, number) in [
        (vec![with(), without()], 1),
        (vec![without(), with()], 0),
        (vec![with(), without(), with()], 1),
        (vec![with(), vec![]], 1),
    ] {
        let error = open(&file(&groups), Some("id")).unwrap_err();
        assert_eq!(error, Error::RowGroup { number });
        assert!(error.to_string().contains(&format!("row group {number} ")), "{error}");
    }
}

/// Row groups that share the bytes of one filter: memory for all of them would be a multiple of the
/// file.
#[test]
fn filters_that_overlap_are_refused() {
    let group = |key| vec![(&["id"][..], Some(with_key(1 << 14, key)))];
    let honest = file(&[group("a"), group("b"), group("c")]);
    assert!(open(&honest, None).is_ok());
    // The same metadata with all offsets on the first filter.
    let length = u32::from_le_bytes(*honest[honest.len() - 8..].first_chunk().unwrap()) as usize;
    let start = honest.len() - 8 - length;
    let filter = with_key(1 << 14, "a");
    let mut metadata = honest[start..honest.len() - 8].to_vec();
    let mut patched = 0;
    for at in 0..metadata.len() - 4 {
        // Field 14 and a varint of 2 or 3 bytes: offsets 4, and above 16384.
        if metadata[at] == 0xb6 && metadata[at + 3] < 128 && metadata[at + 1] >= 128 {
            metadata[at + 1..at + 4].copy_from_slice(&[0x88, 0x80, 0]);
            patched += 1;
        }
    }
    assert_eq!(patched, 2);
    let length = (metadata.len() as u32).to_le_bytes();
    let shared = [b"PAR1", &filter[..], &metadata, &length, b"PAR1"].concat();
    let error = open(&shared, None).unwrap_err();
    assert!(matches!(error, Error::Field { field: "the bytes of all filters", .. }), "{error}");
}

/// A part of a path takes a byte of the file and 24 of memory, so no column has many.
#[test]
fn a_column_has_at_most_100_parts() {
    let deep = |parts| file(&[vec![(&vec![""; parts][..], Some(with_key(64, "x")))]]);
    assert!(open(&deep(100), None).is_ok());
    let error = open(&deep(101), None).unwrap_err();
    assert!(matches!(error, Error::Field { field: "the depth of a column", .. }), "{error}");
}

#[test]
fn a_wrapped_file_is_loaded_by_its_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrapped");
    let columns: Vec<Column<'_>> =
        vec![(&["a"], Some(with_key(64, "x"))), (&["b"], Some(with_key(64, "y")))];
    let file = file(&[columns]);
    let options = Options::new();
    options.save_foreign(&*open(&file, Some("b")).unwrap(), &path).unwrap();
    let filter = options.load_foreign(&path, Some("b")).unwrap();
    assert_eq!(filter.contains(Key::Text("y")), Ok(true));
    assert_eq!(filter.contains(Key::Text("x")), Ok(false));
    assert!(filter.to_bytes() == file);
    let error = options.load_foreign(&path, None).unwrap_err();
    let LoadError::Foreign { format: Format::ParquetFile, error } = error else {
        panic!("{error}")
    };
    assert_eq!(names(&error), "a, b");
}

#[test]
fn damaged_files_and_headers_are_refused_or_work() {
    let group = |key| vec![(&["id"][..], Some(with_key(64, key)))];
    let file = file(&[group("a"), group("b")]);
    damage::damage(&file, true, |bytes| damage::is_used(bytes, &[Format::ParquetFile]));
    let header = with_key(64, "a");
    damage::damage(&header, true, |bytes| damage::is_used(bytes, &[Format::ParquetHeader]));
    damage::trail(&header, Format::ParquetHeader);
    // An unknown field makes the header as long as a block: the bytes could be a bitset.
    let unknown = [&header[..15], &[0x88, 13], &[b'x'; 13], &header[15..]].concat();
    assert_eq!(unknown.len(), 64 + 31);
    assert!(read(&[Format::ParquetHeader], &unknown, None).is_ok());
    let unknown = [&header[..15], &[0x88, 14], &[b'x'; 14], &header[15..]].concat();
    let error = read(&[Format::ParquetHeader], &unknown, None).unwrap_err();
    assert!(matches!(error, Error::Field { field: "the length of the header", .. }), "{error}");
    let filter = open(&unknown, None).unwrap();
    assert_eq!(filter.format(), Format::ParquetBitset);
}

/// All values of the bytes of the metadata, and of the header.
#[test]
fn damaged_files_of_the_writers_are_refused_or_work() {
    let is_used = |file: &[u8]| damage::is_used(file, &[Format::ParquetFile]);
    let mut damaged_files = 0;
    for (vector, file) in files().into_iter().filter(|(_, file)| file.len() < 4000) {
        damage::damage(&file, true, is_used);
        let offset = vector.field("extra")["bloom_filter_offset"].as_u64().unwrap() as usize;
        for place in (offset..offset + 16).chain(file.len() - 600..file.len()) {
            for new in 0..=255 {
                let mut damaged = file.clone();
                damaged[place] = new;
                is_used(&damaged);
            }
        }
        damaged_files += 1;
    }
    assert_eq!(damaged_files, 3);
    // Lists in lists in lists.
    let bytes = [b"PAR1", &[0x19; 5000][..], &5000_u32.to_le_bytes(), b"PAR1"].concat();
    let error = open(&bytes, None).unwrap_err();
    assert!(matches!(error, Error::Field { field: "the depth of a structure", .. }), "{error}");
}
