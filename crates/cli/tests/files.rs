//! Compressed files are read as what they hold, and refused when they are not what they say.

mod common;

use std::fs;
use std::io::Write;
use std::path::Path;

use common::{dedup, exact, homepages};
use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::tempdir;

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(data).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

#[test]
fn gzip_files_of_several_members() {
    let folder = tempdir().expect("a folder");
    let input = fs::read(homepages()).expect("the data is there");
    let (first, second) = input.split_at(input.len() / 3);
    let file = folder.path().join("homepages.gz");
    fs::write(&file, [gzip(first), gzip(second)].concat()).expect("written");
    for threads in ["1", "4"] {
        let output = dedup(&["--threads", threads]).arg(&file).assert().success();
        assert!(output.get_output().stdout == exact(&[&input]));
    }
}

#[test]
fn zstandard_files_of_several_frames() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/frames.zst");
    dedup(&[]).arg(file).assert().success().stdout("one\ntwo\nthree\nfour\n");
}

/// Cut at every length: what comes out is a part of the whole, and the cut is an error but where one
/// frame has ended and the next not begun, which nobody can tell from the end.
#[test]
fn a_file_that_breaks_off_is_an_error_after_what_came_before() {
    let folder = tempdir().expect("a folder");
    let zst = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/frames.zst"))
        .expect("the data is there");
    let gz = gzip(b"one\ntwo\n");
    for (name, data, whole, unseen) in [
        ("a.gz", gz, "one\ntwo\n", &[][..]),
        ("a.zst", zst, "one\ntwo\nthree\nfour\n", &[25, 37, 62][..]),
    ] {
        let mut silent = Vec::new();
        for length in 4..data.len() {
            let file = folder.path().join(name);
            fs::write(&file, &data[..length]).expect("written");
            let output = dedup(&[]).arg(&file).output().expect("it runs");
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            // The last line may be cut too; it is ended as every line is.
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
    let folder = tempdir().expect("a folder");
    let mut data = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/frames.zst"))
        .expect("the data is there");
    // The last four bytes are the checksum of the last frame.
    *data.last_mut().expect("not empty") ^= 1;
    let file = folder.path().join("a.zst");
    fs::write(&file, data).expect("written");
    dedup(&[]).arg(file).assert().code(2);
}

#[test]
fn a_name_that_lies_is_found_before_any_output() {
    let folder = tempdir().expect("a folder");
    let good = folder.path().join("good.txt");
    fs::write(&good, "a\n").expect("written");
    for (name, data) in [("a.gz", "text"), ("a.zst", "text"), ("b.gz", ""), ("b.zst", "(")] {
        let file = folder.path().join(name);
        fs::write(&file, data).expect("written");
        let output = dedup(&[]).arg(&good).arg(&file).assert().code(2).stdout("");
        let text = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
        assert!(text.contains(name) && text.lines().count() == 1, "{text}");
    }
}
