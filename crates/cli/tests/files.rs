//! Compressed input is decompressed, from files and standard input; a compression that is not
//! supported is an error.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::common::{Files, dedup, exact, homepages, line_said, program};
use flate2::Compression;
use flate2::write::GzEncoder;

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(data).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

/// Reads Zstandard data: frames, some of them skippable, with the lines one, two, three, four.
fn zstandard() -> Vec<u8> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/frames.zst");
    fs::read(file).expect("the data is there")
}

/// A file cut at any length prints a part of the whole. The cut is an error, except between two
/// frames, where it looks like the end of the file.
#[test]
fn a_truncated_file_is_an_error_after_the_data_before_it() {
    let files = Files::new();
    let zst = zstandard();
    let gz = gzip(b"one\ntwo\n");
    for (name, data, whole, unseen) in [
        ("a.gz", gz, "one\ntwo\n", &[][..]),
        ("a.zst", zst, "one\ntwo\nthree\nfour\n", &[25, 37, 62][..]),
    ] {
        let mut silent = Vec::new();
        for length in 4..data.len() {
            let file = files.write(name, &data[..length]);
            let output = dedup(&[]).arg(&file).output().expect("it runs");
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            // The last line may be cut; it is printed with a line end all the same.
            let kept = printed.strip_suffix('\n').unwrap_or(&printed);
            assert!(whole.starts_with(kept), "{name} {length}: {printed:?}");
            if output.status.code() == Some(0) {
                silent.push(length);
            } else {
                assert_eq!(output.status.code(), Some(2), "{name} {length}: {text}");
                assert!(text.contains(name) && text.lines().count() == 1, "{text}");
            }
        }
        assert_eq!(silent, unseen, "{name}");
    }
}

#[test]
fn a_wrong_checksum_is_an_error() {
    let files = Files::new();
    let mut data = zstandard();
    // The last four bytes are the checksum of the last frame.
    *data.last_mut().expect("not empty") ^= 1;
    let file = files.write("a.zst", data);
    dedup(&[]).arg(file).assert().code(2);
}

#[test]
fn a_wrong_extension_is_an_error_before_any_output() {
    let files = Files::new();
    let good = files.write("good.txt", "a\n");
    for (name, data) in [("a.gz", "text"), ("a.zst", "text"), ("b.gz", ""), ("b.zst", "(")] {
        let file = files.write(name, data);
        let text = line_said(&dedup(&[]).arg(&good).arg(&file).assert().code(2).stdout(""));
        assert!(text.contains(name), "{text}");
    }
}

/// The output of other compressors for two lines, or for none.
const FOREIGN: [(&str, &str, &[u8]); 8] = [
    ("bzip2", "bzip2 -dc", b"BZh91AY&SY\xa7\x14\x2b\x77\0\0\x02\xc1\x80"),
    ("bzip2", "bzip2 -dc", b"BZh11AY&SY\xa7\x14\x2b\x77\0\0\x02\xc1\x80"),
    ("bzip2", "bzip2 -dc", b"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0"),
    ("xz", "xz -dc", b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4\x46\x02\0\x21"),
    ("lz4", "lz4 -dc", b"\x04\x22\x4d\x18\x64\x40\xa7\x08\0\0\x80one\ntwo\n"),
    ("lz4", "lz4 -dc", b"\x02\x21\x4c\x18\x09\0\0\0\x80one\ntwo\n"),
    ("zip", "unzip -p", b"PK\x03\x04\x14\0\x08\0\x08\0\0\x46\x5c\x76"),
    ("compress", "gzip -dc", b"\x1f\x9d\x90\x6f\xdc\x94"),
];

/// All members of a gzip file are read, and all frames of a Zstandard file.
#[test]
fn compression_is_recognised_by_the_first_bytes() {
    let files = Files::new();
    let input = fs::read(homepages()).expect("the data is there");
    let (first, second) = input.split_at(input.len() / 3);
    // Zeros pad files on tapes and block devices.
    let gz = [gzip(first), gzip(second), vec![0; 512]].concat();
    // The name may have no extension, or one for something else.
    for name in ["homepages.gz", "homepages", "homepages.txt", "homepages.zst"] {
        let file = files.write(name, &gz);
        for threads in ["1", "4"] {
            let output = dedup(&["--threads", threads]).arg(&file).assert().success().stderr("");
            assert!(output.get_output().stdout == exact(&[&input]), "{name}");
        }
    }
    let output = dedup(&[]).write_stdin(gz).assert().success().stderr("");
    assert!(output.get_output().stdout == exact(&[&input]));
    for args in [[].as_slice(), &["-"]] {
        dedup(args).write_stdin(zstandard()).assert().success().stdout("one\ntwo\nthree\nfour\n");
    }
    for name in ["frames", "frames.zst"] {
        let file = files.write(name, zstandard());
        let run = dedup(&[]).arg(file).arg("-").write_stdin(gzip(b"four\nfive")).assert();
        run.success().stdout("one\ntwo\nthree\nfour\nfive\n");
    }
}

#[test]
fn an_unsupported_compression_is_named_with_what_to_do() {
    let files = Files::new();
    let good = files.write("good.txt", "a\n");
    for (name, tool, data) in FOREIGN {
        let file = files.write("data", data);
        // The first bytes of a file are checked before any output, those of standard input when it
        // is read.
        for (args, shown) in
            [(vec![good.clone(), file], ""), (vec![good.clone(), "-".into()], "a\n")]
        {
            let run = dedup(&[]).args(args).write_stdin(data).assert().code(2);
            let text = line_said(&run.stdout(shown));
            assert!(text.contains(&format!("compressed with {name}")), "{text}");
            assert!(text.contains(&format!("'{tool}'")), "{text}");
            assert!(text.contains("--no-decompress"), "{text}");
        }
    }
}

#[test]
fn no_decompress_reads_the_bytes_as_they_are() {
    let files = Files::new();
    let file = files.path("a.gz");
    let foreign = FOREIGN.map(|(_, _, data)| data.to_vec());
    for data in foreign.into_iter().chain([gzip(b"a\na\n"), zstandard(), b"text\n".to_vec()]) {
        fs::write(&file, &data).expect("written");
        let expected = exact(&[&data]);
        dedup(&["--no-decompress"]).arg(&file).assert().success().stdout(expected.clone());
        dedup(&["--no-decompress"]).write_stdin(data).assert().success().stdout(expected);
    }
}

/// Short text is not taken for compressed data, even if it begins like it. (`packing.rs` cuts every
/// beginning of compressed data at every length.)
#[test]
fn short_text_is_read_as_text() {
    let files = Files::new();
    let file = files.path("short");
    for data in [&b""[..], b"PK", b"BZh91AY&S\n"] {
        fs::write(&file, data).expect("written");
        dedup(&[]).arg(&file).assert().success().stdout(exact(&[data]));
        dedup(&[]).write_stdin(data).assert().success().stdout(exact(&[data]));
    }
}

/// If a part of standard input has been read by another process, the rest is read.
#[cfg(target_os = "linux")]
#[test]
fn an_open_file_is_read_from_its_position() {
    use std::io::Seek;

    let files = Files::new();
    let file = files.write("lines", b"\x1f\x9dskipped\na\nb\na\n");
    let mut open = fs::File::open(&file).expect("ours");
    open.seek(std::io::SeekFrom::Start(10)).expect("it is a file");
    let output = program().args(["dedup", "-q", "-"]).stdin(open).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "a\nb\n");
}

/// For valid frames that are not supported, the error names the command that decompresses them.
#[test]
fn unsupported_zstandard_frames_are_named_with_what_to_do() {
    // A window of 1 GiB; a dictionary. Each with one empty block, the last.
    for (frame, part) in [
        (&b"\x28\xb5\x2f\xfd\x00\xa0\x01\0\0"[..], "zstd -dc --long=31"),
        (b"\x28\xb5\x2f\xfd\x01\x00\x07\x01\0\0", "zstd -dc -D"),
    ] {
        let text = line_said(&dedup(&[]).write_stdin(frame).assert().code(2).stdout(""));
        assert!(text.contains(part), "{text}");
    }
}
