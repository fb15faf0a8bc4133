//! `tamis delete`: what it asks, and what remains.

use std::fs::File;
use std::io::Write;
use std::process::{Output, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::{Server, failed, printed};
use crate::common::program;

#[test]
fn a_deleted_filter_is_gone() {
    let Some(server) = Server::start() else { return };
    let (filter, other) = (server.filter("seen"), server.filter("other"));
    for name in [&filter, &other] {
        printed(&["new", "-q", name, "--capacity", "1000", "--rate", "0.01"], "a\n");
    }
    // Without a terminal nobody can be asked.
    let (code, message) = failed(&["delete", &filter]);
    assert!(code == 2 && message.contains("--yes") && message.lines().count() == 1, "{message}");
    assert_eq!(printed(&["query", "-q", &filter], "a\n"), "a\n");

    assert_eq!(printed(&["delete", "-q", "--yes", &filter], ""), "");
    for args in [&["query", "-q", &filter][..], &["delete", "--yes", &filter]] {
        let (code, message) = failed(args);
        assert_eq!(code, 2, "{message}");
        assert!(message.contains("no filter of this name"), "{message}");
    }
    // The next one of this name is another filter, and empty.
    assert_eq!(printed(&["new", "-q", &filter, "--rate", "1e-9"], "a\nb\n"), "a\nb\n");
    assert_eq!(printed(&["query", "-q", &other], "a\n"), "a\n");
}

/// The server has evicted the description of a filter, and not its records.
#[test]
fn what_is_left_of_a_filter_without_a_description_is_deleted() {
    let Some(server) = Server::start() else { return };
    let filter = server.filter("seen");
    printed(&["new", "-q", &filter, "--rate", "0.01"], "a\n");
    server.asked("DEL {seen}").unwrap();
    for command in ["new", "query"] {
        let (code, message) = failed(&[command, &filter]);
        assert!(code == 1 && message.contains("'tamis delete'"), "{message}");
    }
    printed(&["delete", "-q", "--yes", &filter], "");
    assert_eq!(printed(&["new", "-q", &filter, "--rate", "0.01"], "a\n"), "a\n");
}

#[test]
fn on_a_terminal_it_asks() {
    let Some(server) = Server::start() else { return };
    let filter = server.filter("my%20filter");
    printed(&["new", "-q", &filter, "--rate", "0.01"], "a\n");
    let question = format!("Delete the filter {filter}? [y/N] ");
    for answer in ["\n", "n\n", "yess\n", "no y\n"] {
        let output = answered(&filter, answer);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert_eq!(message, format!("{question}tamis: {filter}: not deleted\n"));
    }
    assert_eq!(printed(&["query", "-q", &filter], "a\n"), "a\n");
    let output = answered(&filter, "Y\n");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{message}");
    assert_eq!(message, format!("{question}{filter}: deleted\n"));
    assert_eq!(failed(&["info", &filter]).0, 2);
}

/// Runs `tamis delete` with a terminal as its input, on which this is typed.
fn answered(filter: &str, answer: &str) -> Output {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    let keyboard = openpt(flags).expect("a terminal");
    grantpt(&keyboard).expect("granted");
    unlockpt(&keyboard).expect("unlocked");
    let name = ptsname(&keyboard, Vec::new()).expect("a name").into_string().expect("text");
    let terminal = File::options().read(true).write(true).open(name).expect("opened");
    let mut keyboard = File::from(keyboard);
    keyboard.write_all(answer.as_bytes()).expect("typed");
    let mut command = program();
    let command = command.args(["delete", filter]).stdin(terminal).stderr(Stdio::piped());
    command.output().expect("it runs")
}
