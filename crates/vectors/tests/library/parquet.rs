//! Parquet: bitsets, and whole files.

use std::fs;

use tamis_formats::foreign::{Error, Filter, Key, KeyType, ParquetColumn, ParquetFilter};
use tamis_vectors::{Vector, vectors};

use crate::{System, damage, number};

fn build(vector: &Vector) -> Result<ParquetFilter, Error> {
    ParquetFilter::new(number(vector, "num_bytes"))
}

fn system() -> System<ParquetFilter> {
    System { name: "parquet", vectors: 8, read: ParquetFilter::from_bytes, build }
}

/// Reads the first filter of a file.
fn read_file(file: &[u8]) -> Result<ParquetFilter, Error> {
    let columns = ParquetColumn::all(file)?;
    columns.first().ok_or(Error::EmptyKey)?.filter(file)
}

/// Returns the Parquet file of a vector.
fn file(vector: &Vector) -> Option<Vec<u8>> {
    let name = vector.field("extra")["parquet_file"].as_str()?;
    Some(fs::read(vector.path().with_file_name(name)).unwrap())
}

#[test]
fn parquet_filters() {
    system().check();
}

#[test]
fn parquet_files() {
    let mut files = 0;
    for vector in vectors("parquet") {
        let Some(file) = file(&vector) else { continue };
        let extra = |name: &str| vector.field("extra")[name].as_u64();
        let columns = ParquetColumn::all(&file).unwrap();
        let [column] = &columns[..] else { panic!("{}: {columns:?}", vector.name()) };
        assert_eq!(column.row_group, 0);
        assert_eq!(Some(column.offset), extra("bloom_filter_offset"), "{}", vector.name());
        assert!(column.length.is_none() || column.length == extra("bloom_filter_length"));
        let filter = column.filter(&file).unwrap();
        system().check_answers(&vector, &filter);
        assert!(filter.to_bytes() == vector.bytes(), "{}", vector.name());

        // The header too is what the system writes.
        let with_header = filter.to_bytes_with_header();
        assert!(with_header == file[column.offset as usize..][..with_header.len()]);
        assert_eq!(
            with_header.len() as u64,
            filter.encoded_len() + extra("header_length").unwrap()
        );

        // The filter refuses keys that the column cannot have.
        let keys = [Key::I32(1), Key::I64(1), Key::Text("a"), Key::Bytes(b"a")];
        let known = keys.into_iter().filter(|&key| filter.contains(key).is_ok()).count();
        let expected = if column.key_type == KeyType::Bytes { 2 } else { 1 };
        assert_eq!(known, expected, "{}", vector.name());
        files += 1;
    }
    assert_eq!(files, 6);
}

#[test]
fn damaged_parquet_files_are_refused_or_work() {
    for vector in vectors("parquet") {
        let Some(file) = file(&vector).filter(|file| file.len() < 4000) else { continue };
        let is_used = |file: &[u8]| read_file(file).map(|mut of| damage::exercise(&mut of)).is_ok();
        damage::damage(&file, true, is_used);
        // The bytes of the metadata, and of the header.
        let [column] = &ParquetColumn::all(&file).unwrap()[..] else { panic!("one column") };
        let header = column.offset as usize..column.offset as usize + 16;
        let footer = file.len() - 600..file.len();
        for place in header.chain(footer) {
            for new in 0..=255 {
                let mut damaged = file.clone();
                damaged[place] = new;
                is_used(&damaged);
            }
        }
    }
    // Lists in lists in lists.
    let deep = [0x19; 5000];
    let bytes = [b"PAR1", &deep[..], &5000_u32.to_le_bytes(), b"PAR1"].concat();
    assert!(matches!(
        read_file(&bytes),
        Err(Error::Field { field: "the depth of a structure", .. })
    ));
}

#[test]
fn parquet_bitsets_of_other_sizes_are_refused() {
    for bytes in [0, 31, 33, 1 << 31, u64::MAX] {
        assert!(matches!(ParquetFilter::new(bytes), Err(Error::Size { .. })), "{bytes}");
    }
    for length in [0, 1, 31, 33] {
        let error = ParquetFilter::from_bytes(&vec![0; length]).unwrap_err();
        assert!(matches!(error, Error::Field { .. }), "{length}");
    }
    // Not only powers of two.
    let mut filter = ParquetFilter::new(96).unwrap();
    damage::exercise(&mut filter);
}
