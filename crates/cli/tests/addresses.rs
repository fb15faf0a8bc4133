//! An argument with '://' is an address or an error, never the name of a file; and no message shows
//! its password.

use std::fs;

use crate::common::{Files, line_said, said, tamis};

/// The exit code and the message of a run that fails before it prints anything.
fn refused(args: &[&str]) -> String {
    let files = Files::new();
    files.write("a", "a\n");
    // A file of this name is never read: it cannot be named.
    fs::create_dir_all(files.path("redis:")).expect("a folder");
    let message = line_said(&files.tamis(args).write_stdin("").assert().code(2).stdout(""));
    assert!(!message.contains("secret"), "{args:?}: {message}");
    assert_eq!(files.names(), ["a", "redis:"], "{args:?} has made a file");
    message
}

#[test]
fn addresses_are_no_files() {
    // Every argument is parsed by the same code: each gets one of the addresses.
    let addresses =
        ["redis://u:secret@h/#n", "VALKEYS://:secret@h#n", "unix:///s?pass=secret#n", "x://secret"];
    for (number, address) in addresses.into_iter().enumerate() {
        let commands = [
            &["dedup", address][..],
            &["dedup", "a", address],
            &["dedup", "a", "-o", address],
            &["new", "f", address],
            &["new", "f", "a", "-o", address],
            &["build", "-o", address, "a"],
            &["build", "-o", "f", address],
            &["query", "f", address],
            &["remove", address, "a"],
            &["remove", "f", address],
            &["merge", "-o", address, "f"],
            &["convert", "-o", "g", address, "--to", "guava"],
            &["convert", "-o", address, "f", "--to", "guava"],
            &["index", "-o", "i", address],
            &["index", "-o", address, "a"],
            &["which", address, "key"],
            &["which", "i", "--keys", address],
        ];
        for args in commands.into_iter().skip(number).step_by(addresses.len()) {
            let message = refused(args);
            assert!(message.contains("give the name of a file"), "{args:?}: {message}");
        }
    }
}

#[test]
fn what_is_no_address_is_refused() {
    let addresses = [
        "redis://h:secret/#n",
        "redis://user:12#secret@h",
        "redis://user:12/secret@h#n",
        "redis://user:12?secret@h#n",
        "redis://:secret@h",
        "redis://:secret@h/#",
        "redis-sentinel://:secret@h/#n",
        "http://u:secret@h/#n",
        "://secret",
    ];
    for (address, command) in
        addresses.iter().zip(["new", "query", "info", "delete"].iter().cycle())
    {
        refused(&[command, address]);
    }
    refused(&["merge", "-o", "copy", addresses[0]]);
}

/// What clap repeats of a wrong command line is hidden, too.
#[test]
fn a_wrong_command_line_shows_no_password() {
    let address = "redis://u:secret  word@h/#n";
    for args in [
        &[address][..],
        &["info", "f", address],
        &["delete", address, address],
        &["new", "f", "--capacity", address],
        &["new", "f", &format!("--capacity={address}")],
        &["new", "f", "--kind", address],
        &["man", "dedup", address],
    ] {
        let message = refused(args);
        assert!(message.contains("u:***@h"), "{args:?}: {message}");
    }
    // The keys of 'which' are records, such as URLs.
    let key = tamis().args(["which", "nothing", "https://example.org/"]).assert().code(2);
    assert!(said(&key).starts_with("tamis: nothing: "));
}

#[test]
fn options_of_filters_in_redis_are_for_them_only() {
    for args in [
        &["new", "f", "--deadline", "9s"][..],
        &["new", "f", "--chunk", "9"],
        &["query", "f", "--deadline", "9s"],
        &["info", "f", "--deadline", "9s"],
        &["merge", "-o", "g", "f", "--deadline", "9s"],
    ] {
        assert!(refused(args).contains("is for a filter in Redis"), "{args:?}");
    }
    assert!(refused(&["delete", "a", "--yes"]).contains("deleted by rm"));
    for args in [["--deadline", "9"], ["--chunk", "0"], ["--chunk", "x"]] {
        assert!(refused(&["new", "redis://h/#n", args[0], args[1]]).contains(args[0]), "{args:?}");
    }
}
