//! `tamis dedup` prints the first record of every key, byte for byte. (`any_chunk.rs` combines
//! threads, filters and capacities.)

use std::fs;

use crate::common::{Files, dedup, exact, homepages, json, nth_of_each, records, said, tamis};

const THREADS: [&str; 3] = ["1", "2", "8"];

#[test]
fn real_lines_are_deduplicated_exactly() {
    let input = fs::read(homepages()).expect("the data is there");
    let expected = exact(&[&input]);
    assert_eq!(expected.iter().filter(|&&byte| byte == b'\n').count(), 29_919);
    for (number, kind) in
        [None, Some("blocked"), Some("once"), Some("bloom"), Some("cuckoo")].into_iter().enumerate()
    {
        for (capacity, threads) in
            [None, Some("29919"), Some("100")].into_iter().zip(THREADS.iter().cycle().skip(number))
        {
            let mut command = dedup(&["--threads", threads]);
            command.args(kind.map(|kind| format!("--kind={kind}")));
            command.args(capacity.map(|items| format!("--capacity={items}")));
            let output = command.arg(homepages()).assert().success();
            // With a capacity of 100 a chain has many slices, and loses 0.03 lines on average: a
            // warning.
            if kind.is_none() || capacity != Some("100") {
                assert_eq!(output.get_output().stderr, b"");
            }
            assert!(output.get_output().stdout == expected, "{threads} {kind:?} {capacity:?}");
        }
    }
}

#[test]
fn the_bytes_of_records_are_not_changed() {
    let inputs: [&[u8]; 12] = [
        b"",
        b"\n",
        b"\n\n",
        b"a",
        b"a\r\nb\r\na\r\n",
        b"a\na\r\na\n",
        b"a\0\na\na\0\n\0\n\0",
        b"\xff\xfe\n\xff\n\xff\xfe\n",
        b"\n\na\n\n",
        b"a\nb\nc",
        b"a\nb\na",
        b" a\na \na\n",
    ];
    for (input, threads) in inputs.into_iter().zip(THREADS.iter().cycle()) {
        let output = dedup(&["--threads", threads]).write_stdin(input).assert().success();
        assert_eq!(output.get_output().stdout, exact(&[input]), "{input:?}");
    }
}

#[test]
fn several_files_and_standard_input_are_read_in_order() {
    let files = Files::new();
    let parts: [&[u8]; 4] = [b"one\ntwo", b"", b"two\nthree\nfour", b"four\none\nfive\n"];
    let files: Vec<_> =
        (0..).zip(parts).map(|(n, part)| files.write(&format!("{n}.txt"), part)).collect();
    for threads in THREADS {
        dedup(&["--threads", threads]).args(&files).assert().success().stdout(exact(&parts));
        dedup(&["--threads", threads])
            .args([&files[0], &"-".into(), &files[3]])
            .write_stdin(&b"zero\none"[..])
            .assert()
            .success()
            .stdout("one\ntwo\nzero\nfour\nfive\n");
    }
}

#[test]
fn records_may_end_in_nul() {
    let input = b"a\nb\0c\0a\nb\0\0c\0d";
    let expected = nth_of_each(1, &records(&[input], 0), 0, Some);
    for args in [["-0"].as_slice(), &["--null"]] {
        dedup(args).write_stdin(&input[..]).assert().success().stdout(expected.clone());
    }
}

#[test]
fn urls_are_compared_in_the_chosen_normal_form() {
    let input = "HTTP://a.example\nhttp://a.example/#x\nhttp://a.example/?b&a\n\
                 http://a.example/?a&utm_id=1&b\nnone\nnone\n";
    for (policy, kept) in [
        ("none", vec![0, 1, 2, 3, 4]),
        ("whatwg-1", vec![0, 2, 3, 4, 5]),
        ("crawl-1", vec![0, 2, 4, 5]),
    ] {
        let lines: Vec<&str> = input.lines().collect();
        let expected: String = kept.into_iter().map(|n: usize| format!("{}\n", lines[n])).collect();
        dedup(&["--url", policy]).write_stdin(input).assert().success().stdout(expected);
    }
}

#[test]
fn the_seed_does_not_change_the_output() {
    let input = fs::read(homepages()).expect("the data is there");
    for seed in ["random", "18446744073709551615"] {
        let output =
            dedup(&["--seed", seed, "--rate", "1e-12"]).arg(homepages()).assert().success();
        assert!(output.get_output().stdout == exact(&[&input]), "{seed}");
    }
}

#[test]
fn the_summary_reports_the_counts() {
    let run = |args: &[&str]| {
        let mut command = tamis();
        command.arg("dedup").args(args).write_stdin("a,1\nb\nc,1\nd,2");
        said(&command.assert().success().stdout("a,1\nb\nd,2\n"))
    };
    let key = ["--key-field", "2", "--delimiter", ",", "--threads", "3"];
    let text = run(&key);
    assert!(text.starts_with("4 lines, 3 printed, 1 duplicate, 1 without a key"), "{text}");
    let json = json(&run(&[&key[..], &["--stats", "json", "--capacity", "10"]].concat()));
    for (field, value) in [
        ("lines", 4),
        ("printed", 3),
        ("duplicates", 1),
        ("keyless", 1),
        ("bytes_in", 13),
        ("bytes_out", 10),
        ("capacity", 10),
        ("threads", 3),
        ("slices", 1),
    ] {
        assert_eq!(json[field], value, "{field}");
    }
    assert_eq!(json["kind"], "table");
    for field in ["expected_lost", "filter_bytes", "seconds"] {
        assert!(json[field].is_number(), "{field}");
    }
    // A table has no rate.
    assert!(json["rate"].is_null());
}
