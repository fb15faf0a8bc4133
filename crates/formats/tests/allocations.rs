//! No loader allocates what a header claims: the peak memory of this process is measured.

#[path = "common/bytes.rs"]
mod bytes;
mod common;
mod reader;

use std::fs;
use std::io::{self, Read, Seek, SeekFrom, Write};

use bytes::Bytes;
use common::{Bloom, Cuckoo, small_bloom, small_cuckoo, small_growing_cuckoo};
use tamis_formats::foreign::{self, Format};
use tamis_formats::{LoadError, Options, SetError, SetInfo, load, read};
use twox_hash::XxHash3_64;

/// Returns the file of a filter of another system.
fn guest() -> Vec<u8> {
    let mut bytes = Vec::new();
    let filter = Format::LevelDbFilter.build(100, None, None).unwrap();
    Options::new().write_foreign(&*filter, &mut bytes).unwrap();
    bytes
}

/// The most memory that this process had, in bytes.
fn most_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? << 10)
}

/// A header that claims a filter of 128 TiB, with a table of 1 GiB, makes no loader allocate
/// either. One that claims 2 GiB, which the system can reserve, makes no loader touch them.
#[test]
fn a_huge_size_in_a_stream_allocates_nothing() {
    let before = most_memory();
    let mut bytes = Bytes::of(&small_bloom()).sizes(1 << 50, 7, 0, 1 << 41).0;
    bytes.truncate(266);
    let error = read::<Bloom>(&bytes[..]).unwrap_err();
    assert!(matches!(error, LoadError::Truncated { found: 266, .. }), "{error:?}");
    // With a table of the right length, and ten bytes of the body.
    let table = vec![0; 1 << 14];
    let header = Bytes::of(&small_bloom()).sizes(1 << 34, 7, 0, 1 << 25);
    let header = header.u64(144, XxHash3_64::oneshot(&table)).sum_header();
    let header = Bytes(header.0[..256].to_vec());
    let offset = (256 + (1_u64 << 14)).next_multiple_of(4096);
    let rest = io::repeat(0).take(offset - 256 + 10);
    let error = read::<Bloom>(header.0.as_slice().chain(rest)).unwrap_err();
    // The system may refuse to reserve the address space.
    let found = offset + 10;
    assert!(
        matches!(error, LoadError::Truncated { found: at, .. } if at == found)
            || matches!(error, LoadError::Alloc { .. }),
        "{error:?}"
    );
    // The same for buckets.
    let cuckoo = Bytes::of(&small_cuckoo()).sizes(1 << 34, 4, 16, 1 << 31).0;
    assert!(matches!(read::<Cuckoo>(&cuckoo[..266]), Err(LoadError::Truncated { .. })));
    // A filter that grows: buckets of 4 GiB, which will be 8 GiB, in a stream that ends in the
    // first chunk.
    let table = vec![0; 8 << 12];
    let growing = Bytes::of(&small_growing_cuckoo()).u64(152, 1).u64(168, 1 << 29);
    let growing = growing.u64(144, XxHash3_64::oneshot(&table)).sizes(1 << 29, 0, 21, 1 << 26);
    let offset = (256 + (8_u64 << 12)).next_multiple_of(4096);
    let mut stream = growing.0[..256].to_vec();
    stream.extend(table);
    stream.resize(offset as usize + 10, 0);
    let error = read::<Cuckoo>(&stream[..]).unwrap_err();
    let found = offset + 10;
    assert!(
        matches!(error, LoadError::Truncated { found: at, .. } if at == found)
            || matches!(error, LoadError::Alloc { .. }),
        "{error:?}"
    );
    // Three lines that may become 1 GiB. The filter is loaded, and takes the lines.
    let mut grown = Bytes::of(&small_growing_cuckoo()).sizes(24, 0, 31, 3);
    for place in 0..24 {
        // The first eight of 16 buckets are split.
        let tag = if (8..16).contains(&place) { 1 } else { 2 };
        grown = grown.u64(4096 + 8 * place, tag << 62);
    }
    let grown = grown.u64(152, 22).u64(168, 24).u64(112, 0).sum_all();
    let filter = read::<Cuckoo>(&grown.0[..]);
    assert!(
        filter.as_ref().is_ok_and(|filter| filter.is_empty())
            || matches!(filter, Err(LoadError::Alloc { .. })),
        "{filter:?}"
    );
    // The largest sizes, in the file of a small filter.
    let most = Bytes::of(&small_growing_cuckoo()).u64(152, 23).u64(168, 1 << 32);
    let mut most = most.sizes(1 << 32, 0, 31, 1 << 29).0;
    most.truncate(266);
    assert!(matches!(read::<Cuckoo>(&most[..]), Err(LoadError::Truncated { found: 266, .. })));
    // A filter of another system of 2^60 bytes, and one of 4 GiB whose stream ends in the first
    // chunk.
    let mut huge = Bytes(guest()).sizes(1 << 60, 0, 0, 1 << 54).0;
    huge.truncate(266);
    assert!(matches!(
        Options::new().read_foreign(&huge[..], None),
        Err(LoadError::Truncated { found: 266, .. })
    ));
    let table = vec![0; 1 << 15];
    let header = Bytes(guest()).sizes(1 << 32, 0, 0, 1 << 26);
    let header = header.u64(144, XxHash3_64::oneshot(&table)).sum_header();
    let offset = (256 + (1_u64 << 15)).next_multiple_of(4096);
    let rest = io::repeat(0).take(offset - 256 + 10);
    let error = Options::new().read_foreign(header.0[..256].chain(rest), None).unwrap_err();
    let found = offset + 10;
    assert!(matches!(error, LoadError::Truncated { found: at, .. } if at == found), "{error:?}");
    // A Parquet file of 8 MiB with 75,000 columns, whose paths have 100 parts without a name.
    let mut columns = 0;
    let mut metadata = vec![0x49, 0x1c, 0x19, 0xfc, 0xf8, 0xc9, 0x04];
    while metadata.len() < 8 << 20 {
        metadata.extend([0x3c, 0x15, 12, 0x29, 0xf8, 100]);
        metadata.extend([0; 100]);
        metadata.extend([0xb6, 8, 0, 0]);
        columns += 1;
    }
    let length = (metadata.len() as u32).to_le_bytes();
    let parquet = [b"PAR1", &metadata[..], &length, b"PAR1"].concat();
    drop(metadata);
    let found = foreign::read(&[Format::ParquetFile], &parquet, Some("none"));
    assert!(matches!(found, Err(foreign::Error::Column { .. })), "{found:?}");
    assert!(columns > 75_000);
    // An endless stream of zeros is no filter.
    assert!(matches!(read::<Bloom>(io::repeat(0)), Err(LoadError::Magic { .. })));
    if let (Some(before), Some(after)) = (before, most_memory()) {
        assert!(after - before < 64 << 20, "{} bytes", after - before);
    }
}

/// A sparse file has any length and takes no space. Its table alone could exhaust the memory.
#[cfg(target_os = "linux")]
#[test]
fn a_huge_sparse_file_allocates_nothing() {
    let overcommit = fs::read_to_string("/proc/sys/vm/overcommit_memory").unwrap_or_default();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sparse");
    // A body of 15 TiB: nearly the longest file of ext4. Its table has 120 MiB.
    let lines = 15_u128 << 34;
    let header = Bytes::of(&small_bloom()).sizes(15 << 43, 7, 0, lines).0;
    fs::write(&path, &header[..256]).unwrap();
    let len = (256 + 8 * (15_u64 << 20)).next_multiple_of(4096) + (15 << 40);
    let file = fs::File::options().write(true).open(&path).unwrap();
    if file.set_len(len).is_err() || overcommit.trim() == "1" {
        return;
    }
    let before = most_memory();
    let error = load::<Bloom>(&path).unwrap_err();
    assert!(matches!(error, LoadError::Alloc { bytes } if bytes == 15 << 40), "{error:?}");
    let header = Bytes(guest()).sizes(15 << 40, 0, 0, lines).0;
    (&file).write_all(&header[..256]).unwrap();
    let error = Options::new().load_foreign(&path, None).unwrap_err();
    assert!(matches!(error, LoadError::Alloc { bytes } if bytes == 15 << 40), "{error:?}");
    if let (Some(before), Some(after)) = (before, most_memory()) {
        assert!(after - before < 64 << 20, "{} bytes", after - before);
    }
}

/// The index of a set may be a hole of the file, too: from its start, or behind all entries.
#[test]
fn an_index_of_zeros_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sparse");
    let index_len = 512_u64 << 20;
    let filters = index_len / (32 + 65_535) + 1;
    let index_offset = filters * 8192;
    let mut trailer = b"\x89TAMSET\n".to_vec();
    trailer.extend([1_u32, 64].map(u32::to_le_bytes).as_flattened());
    let fields = [filters, index_offset, index_len, 0, 0].map(u64::to_le_bytes);
    trailer.extend(fields.as_flattened());
    trailer.extend(XxHash3_64::oneshot(&trailer).to_le_bytes());
    let mut file = fs::File::create(&path).unwrap();
    file.seek(SeekFrom::Start(index_offset + index_len)).unwrap();
    file.write_all(&trailer).unwrap();
    let before = most_memory();
    let error = SetInfo::open(&path).unwrap_err();
    assert!(matches!(error, SetError::Entry { filter: 0, field: "length", .. }), "{error:?}");
    file.seek(SeekFrom::Start(index_offset)).unwrap();
    for filter in 0..filters {
        file.write_all([8192 * filter, 4160, 0, 0].map(u64::to_le_bytes).as_flattened()).unwrap();
    }
    let error = SetInfo::open(&path).unwrap_err();
    assert!(matches!(error, SetError::Field { field: "index length", .. }), "{error:?}");
    if let (Some(before), Some(after)) = (before, most_memory()) {
        assert!(after - before < 64 << 20, "{} bytes", after - before);
    }
}

/// A filter of 4 GiB is mapped without a read of its body, and answers at once.
#[cfg(unix)]
#[test]
fn a_large_file_is_mapped_in_constant_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large");
    let lines = 1_u128 << 26;
    let header = Bytes::of(&small_bloom()).sizes(1 << 35, 7, 0, lines).0;
    // A sparse file: its blocks are zeros that take no space.
    fs::write(&path, &header[..256]).unwrap();
    let offset = (256 + 8 * 4096_u64).next_multiple_of(4096);
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_len(offset + (1 << 32)).unwrap();
    let before = most_memory();
    let mapped = tamis_formats::map::<Bloom>(common::map_file(&path)).unwrap();
    assert!((0..100).all(|item| !mapped.contains(&item)));
    if let (Some(before), Some(after)) = (before, most_memory()) {
        assert!(after - before < 64 << 20, "{} bytes", after - before);
    }
    // The checksums are not those of these zeros, so the check of the whole file refuses it.
    assert!(matches!(mapped.verify(), Err(LoadError::TableChecksum { .. })));
}
