//! Which records have equal keys.

use std::time::Instant;

use crate::common::dedup;

/// Checks that `records` all have different keys: all are printed.
fn all_differ(args: &[&str], records: &[&str]) {
    let input = records.join("\n") + "\n";
    let assert = dedup(args).arg("--strict").write_stdin(input.clone()).assert().success();
    assert_eq!(String::from_utf8_lossy(&assert.get_output().stdout), input);
}

/// Checks that `records` all have the same key: only the first is printed.
fn all_same(args: &[&str], records: &[&str]) {
    let input = records.join("\n");
    let first = format!("{}\n", records[0]);
    dedup(args).arg("--strict").write_stdin(input).assert().success().stdout(first);
}

#[test]
fn different_json_values_have_different_keys() {
    all_differ(
        &["--json-key", "/id"],
        &[
            r#"{"id":1}"#,
            r#"{"id":"1"}"#,
            r#"{"id":1.0}"#,
            r#"{"id":1e0}"#,
            r#"{"id":1e2}"#,
            r#"{"id":1E2}"#,
            r#"{"id":1e+2}"#,
            r#"{"id":1e999}"#,
            r#"{"id":0}"#,
            r#"{"id":-0}"#,
            r#"{"id":100000000000000000001}"#,
            r#"{"id":100000000000000000002}"#,
            r#"{"id":7}"#,
            r#"{"id":{"$serde_json::private::Number":"7"}}"#,
            r#"{"id":{"$serde_json::private::RawValue":"7"}}"#,
            r#"{"id":"7"}"#,
            r#"{"id":null}"#,
            r#"{"id":"null"}"#,
            r#"{"id":[]}"#,
            r#"{"id":{}}"#,
            r#"{"id":[1,2]}"#,
            r#"{"id":[2,1]}"#,
            r#"{"id":["1,2"]}"#,
            r#"{"id":{"a":1}}"#,
            r#"{"id":"{\"a\":1}"}"#,
        ],
    );
}

#[test]
fn equal_json_values_have_the_same_key() {
    let id = &["--json-key", "/id"];
    all_same(id, &[r#"{"id":"a"}"#, r#"{"id":"\u0061"}"#, r#"{"x":1,"\u0069d" : "a"}"#]);
    all_same(id, &[r#"{"id":[1,2]}"#, r#"{"id":[ 1, 2 ]}"#, r#"{"id":1,"id":[1,2],"x":[]}"#]);
    all_same(
        id,
        &[
            r#"{"id":{"a":1,"b":2}}"#,
            r#"{"id":{"b":2,"a":1}}"#,
            r#"{"id":{ "b" : 0, "\u0061" : 1, "b" : 2 } }"#,
        ],
    );
    all_same(&["--json-key", ""], &[r#"{"a":[1]}"#, r#" {"a": [1] } "#]);
}

#[test]
fn the_error_says_why_there_is_no_key() {
    let deep = format!("{{\"a\":{}{}}}\n", "[".repeat(128), "]".repeat(128));
    let cases = [
        (&deep[..], "nested deeper than 127"),
        ("{\"b\":1}\n", "nothing at the --json-key pointer"),
        ("{\"a\":1\n", "not JSON"),
    ];
    for (record, why) in cases {
        let assert = dedup(&["--json-key", "/a", "--strict"]).write_stdin(record).assert().code(2);
        let error = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(error.contains(why), "{error}");
        // Without --strict the record is printed, every time.
        let twice = record.repeat(2);
        dedup(&["--json-key", "/a"]).write_stdin(twice.clone()).assert().success().stdout(twice);
    }
    // What stands next to the key may be nested to any depth.
    let surrounded = deep.replace('}', ",\"b\":1}");
    let twice = surrounded.repeat(2);
    dedup(&["--json-key", "/b", "--strict"])
        .write_stdin(twice)
        .assert()
        .success()
        .stdout(surrounded);
}

#[test]
fn giant_values_take_linear_time() {
    let array = "0,".repeat(10_000_000);
    let members = "\"a\":0,".repeat(4_000_000);
    let line = |id| format!("{{\"v\":[{array}0],\"o\":{{{members}\"a\":1}},\"id\":{id}}}\n");
    let start = Instant::now();
    let input = [line(1), line(2), line(1)].concat();
    for (pointer, printed) in [("/id", 2), ("/v", 1), ("/o", 1)] {
        let assert =
            dedup(&["--json-key", pointer, "--strict"]).write_stdin(&*input).assert().success();
        let expected: String = [line(1), line(2)][..printed].concat();
        assert!(assert.get_output().stdout == expected.as_bytes(), "{pointer}");
    }
    // Far more than it takes, and far less than quadratic time would be.
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn a_query_of_millions_of_pairs_is_normalised() {
    let url = |pairs: &str, count| format!("http://a.example/?{}\n", pairs.repeat(count));
    let input =
        url("&", 20_000_000) + &url("&&", 4) + &url("b&a&", 2) + "http://a.example?a&a&b&b#c";
    let expected = url("&", 20_000_000) + &url("b&a&", 2);
    let assert = dedup(&["--url", "crawl-1", "--strict"]).write_stdin(input).assert().success();
    assert!(assert.get_output().stdout == expected.as_bytes());
}
