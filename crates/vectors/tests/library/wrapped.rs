//! Filters of other systems in files of Tamis: every vector comes back byte for byte.

use tamis_formats::foreign::Format;
use tamis_formats::{Geometry, Info, Kind, LoadError, Normalization, Options};

use crate::registry::{all, read_by_name};

#[test]
fn every_vector_comes_back_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrapped");
    let options = Options::new().normalization(Normalization::new("url-v1").unwrap());
    for (vector, format) in all() {
        let (name, bytes, filter) = (vector.name(), vector.bytes(), read_by_name(&vector));
        options.save_foreign(&*filter, &path).unwrap();
        let again = options.load_foreign(&path, None).unwrap();
        assert_eq!(again.format(), format, "{name}");
        assert!(again.to_bytes() == bytes, "{name}: unwrapped with other bytes");
        // The body has the bytes as they are.
        let file = std::fs::read(&path).unwrap();
        let info = Info::open(&path).unwrap();
        let body = &file[info.body_offset() as usize..];
        assert!(body.starts_with(&bytes), "{name}: other bytes in the body");
        assert!(
            body[bytes.len()..].iter().all(|byte| *byte == 0),
            "{name}: bytes after the filter"
        );
        // The description of the file.
        let Geometry::Foreign(sizes) = info.geometry() else { panic!("{name}: {info:?}") };
        assert_eq!((info.kind(), sizes.format()), (Kind::Foreign, format), "{name}");
        assert_eq!(sizes.len(), bytes.len() as u64, "{name}");
        assert_eq!((info.items(), info.normalization().name()), (None, "url-v1"), "{name}");
        // A stream has the same bytes, and others may follow.
        let mut stream = Vec::new();
        options.write_foreign(&*filter, &mut stream).unwrap();
        assert!(stream == file, "{name}: other bytes in a stream");
        stream.push(7);
        let mut rest = &stream[..];
        assert!(options.read_foreign(&mut rest, None).unwrap().to_bytes() == bytes, "{name}");
        assert_eq!(rest, [7], "{name}");
        let error = Options::new().load_foreign(&path, None).unwrap_err();
        assert!(matches!(error, LoadError::OtherNormalization { .. }), "{name}: {error}");
    }
}

/// The format in the header decides, not the first one that takes the bytes.
#[test]
fn the_format_in_the_header_is_the_one_that_was_saved() {
    for (vector, format) in all() {
        let mut bytes = Vec::new();
        Options::new().write_foreign(&*read_by_name(&vector), &mut bytes).unwrap();
        for other in Format::ALL.iter().filter(|other| **other != format) {
            let mut changed = bytes.clone();
            changed[152] = other.code();
            let sum = twox_hash::XxHash3_64::oneshot(&changed[..248]);
            changed[248..256].copy_from_slice(&sum.to_le_bytes());
            match Options::new().read_foreign(&changed[..], None) {
                Ok(filter) => assert_eq!(filter.format(), *other),
                Err(LoadError::Foreign { format, .. }) => assert_eq!(format, *other),
                Err(error) => panic!("{}: {other}: {error}", vector.name()),
            }
        }
    }
}
