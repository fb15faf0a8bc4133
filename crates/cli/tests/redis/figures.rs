//! What runs say about a filter at their end, and what they ask for it.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::{Server, lines, printed};
use crate::common::{self, program, tamis};

/// A shard that could not grow stays too full for ever, however much the filter grows later.
#[test]
fn a_filter_that_loses_records_says_so() {
    let Some(server) = Server::start() else { return };
    let filter = server.filter("seen");
    printed(&["new", "-q", &filter, "--capacity", "1000", "--rate", "1e-6"], "a\n");
    assert!(printed(&["info", &filter], "").contains(" now, 1.00e-6 asked for\n"));
    server.asked("ACL SETUSER limited on >pw ~* +@all -eval").unwrap();
    let limited = filter.replace("//", "//limited:pw@");
    let warning = "its false-positive rate is ";
    for (filter, numbers) in [(&limited, 0..6000), (&filter, 6000..70_000)] {
        let new = tamis().args(["new", "-q", filter]).write_stdin(lines(numbers)).assert();
        let said = common::said(&new.success());
        assert!(said.contains(warning) && said.lines().count() == 1, "{said}");
    }
    let info = printed(&["info", &filter], "");
    assert!(info.contains("lost") && !info.contains("by chance"), "{info}");
}

/// The bits of a filter are counted only for what is shown.
#[test]
fn what_is_not_shown_is_not_asked_for() {
    let Some(server) = Server::start() else { return };
    let filter = server.filter("seen");
    printed(&["new", "-q", &filter, "--capacity", "1000", "--rate", "0.01"], "a\n");
    for (args, is_asked) in [
        (&["query", "-q", &filter][..], false),
        (&["query", &filter], true),
        (&["query", "--stats", "json", &filter], true),
        // It may have to warn.
        (&["new", "-q", &filter], true),
    ] {
        server.asked("CONFIG RESETSTAT").unwrap();
        tamis().args(args).write_stdin("a\n").assert().success();
        let executed = server.asked("INFO commandstats").unwrap();
        assert_eq!(executed.contains("cmdstat_bitcount:"), is_asked, "{args:?}: {executed}");
    }
}

/// A server that goes before the end of a run is waited for once.
#[test]
fn a_server_that_has_gone_is_waited_for_once() {
    let Some(server) = Server::start() else { return };
    let filter = server.filter("seen");
    printed(&["new", "-q", &filter, "--rate", "0.01"], "a\n");
    let mut run = program()
        .args(["new", "--chunk", "1", "--deadline", "3s", &filter])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = run.stdin.take().unwrap();
    input.write_all(b"b\n").unwrap();
    let mut line = String::new();
    BufReader::new(run.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "b\n");
    server.signal("-STOP");
    let start = Instant::now();
    drop(input);
    let ended = run.wait().unwrap();
    server.signal("-CONT");
    assert!(ended.success());
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}
