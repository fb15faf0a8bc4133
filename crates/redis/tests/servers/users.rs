//! Users of the server: the rights that a client needs are those on the page of the crate.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use tamis_hash::Rapid;
use tamis_redis::{Error, RedisBloomFilter};

use crate::harness::{PATIENCE, Server, insert_all};

/// The page of the crate.
const PAGE: &str = include_str!("../../src/lib.rs");

/// The commands that only the nodes of a cluster get, and the question to an idle connection.
const OF_CLUSTERS: [&str; 4] = ["asking", "cluster|nodes", "readonly", "ping"];

/// The commands that need no right, or that other users execute in this test.
const OTHERS: [&str; 5] = ["auth", "client|setinfo", "config|resetstat", "hello", "info"];

/// Returns the command on the page that makes a user.
fn documented() -> Vec<&'static str> {
    let start = PAGE.find("ACL SETUSER").expect("a command on the page");
    let command = PAGE[start..].split("```").next().unwrap();
    command.split_whitespace().filter(|word| *word != "//!").collect()
}

/// Makes the user of the page, with other rights in addition. Returns its address.
fn user(server: &Server, more: &[&str]) -> String {
    let command = documented();
    server.command(&["ACL", "DELUSER", command[2]]);
    server.command(&[&command, more].concat());
    address(server, "secret")
}

fn address(server: &Server, password: &str) -> String {
    format!("redis://crawler:{password}@127.0.0.1:{}/", server.port())
}

fn builder(address: &str, name: &str) -> tamis_redis::Builder<u64> {
    let builder = RedisBloomFilter::<u64>::builder(address, name).hasher(Rapid::with_seed(1));
    builder.capacity(10_000).timeout(PATIENCE).deadline(PATIENCE)
}

/// Does everything that a client can do with a filter.
fn use_everything(server: &Server, address: &str) {
    let builder = builder(address, "crawl");
    let filter = builder.create().unwrap();
    let items = insert_all(&filter, 0..40_000);
    assert!(filter.storage().unwrap().slices > 1);
    let confirmed = builder.clone().confirmed_by(1, Duration::from_millis(1)).open().unwrap();
    assert_eq!(confirmed.insert(&40_000), Err(Error::NotReplicated { new: true, replicas: 0 }));
    assert!(filter.contains_many(&items).unwrap().iter().all(|found| *found));
    let copy = filter.pull().unwrap();
    filter.push(&copy).unwrap();
    builder.destroy().unwrap();
    assert_eq!(builder.open().unwrap_err(), Error::Missing);
    // One that forgets: an insert in its second epoch reads the bits of the first.
    let span = Duration::from_secs(3);
    let builder = builder.window(span);
    let filter = builder.create().unwrap();
    let (begin, before, mut item) = (Instant::now(), server.commands("getbit"), 0);
    while server.commands("getbit") == before {
        assert!(begin.elapsed() < PATIENCE, "no insert has read the bits of another epoch");
        thread::sleep(Duration::from_millis(50));
        item += 1;
        let inserted = Instant::now();
        assert_eq!(filter.insert(&item), Ok(true));
        let found = filter.contains(&item).unwrap();
        assert!(found || inserted.elapsed() >= span, "item {item} is forgotten");
    }
    builder.destroy().unwrap();
}

#[test]
fn a_user_needs_the_rights_on_the_page_and_no_other() {
    let Some(server) = Server::start() else { return };
    let address = user(&server, &[]);
    server.command(&["CONFIG", "RESETSTAT"]);
    // A life that ended long ago is removed from the list.
    server.command(&["HSET", "{crawl}:lives", "0000000000000013", "swept 1 1"]);
    use_everything(&server, &address);
    let mut executed = server.executed();
    executed.retain(|name, count| *count > 0 && !OTHERS.contains(&name.as_str()));
    let needed: BTreeSet<&str> = executed.keys().map(String::as_str).chain(OF_CLUSTERS).collect();
    let documented = documented();
    let documented: BTreeSet<&str> =
        documented.iter().filter_map(|word| word.strip_prefix('+')).collect();
    assert_eq!(documented, needed, "the page lists what is needed");
}

/// The keys of another filter are not the user's, even if its name begins as that of the filter.
#[test]
fn a_user_of_a_filter_has_no_other() {
    let Some(server) = Server::start() else { return };
    let address = user(&server, &[]);
    for name in ["other", "crawler"] {
        let refused = builder(&address, name).create();
        assert!(
            matches!(&refused, Err(Error::Refused { reason }) if reason.starts_with("NOPERM")),
            "{refused:?}"
        );
    }
}

/// Without the right to wait for replicas, inserts could only say that none has confirmed.
#[test]
fn without_the_right_to_wait_no_filter_is_opened_that_waits() {
    let Some(server) = Server::start() else { return };
    let builder = builder(&user(&server, &["-wait"]), "crawl");
    let waiting = builder.clone().confirmed_by(1, Duration::from_millis(1));
    let is_refused = |result: Result<RedisBloomFilter<u64>, Error>| matches!(result, Err(Error::Refused { reason }) if reason.starts_with("NOPERM"));
    assert!(is_refused(waiting.create()));
    assert_eq!(builder.open().unwrap_err(), Error::Missing);
    builder.create().unwrap();
    assert!(is_refused(waiting.open()));
    waiting.destroy().unwrap();
}

#[test]
fn one_server_needs_no_rights_of_a_cluster() {
    let Some(server) = Server::start() else { return };
    let address = user(&server, &["-asking", "-cluster|nodes", "-cluster|slots", "-readonly"]);
    use_everything(&server, &address);
    assert_eq!(server.commands("cluster|slots"), 0);
}

#[test]
fn a_wrong_password_is_not_in_the_error() {
    let Some(server) = Server::start() else { return };
    user(&server, &[]);
    let error = builder(&address(&server, "hidden"), "crawl").open().unwrap_err();
    let texts = [error.to_string(), format!("{error:?}")];
    for text in texts {
        assert!(text.to_lowercase().contains("password"), "it says what is wrong: {text}");
        assert!(!text.contains("hidden") && !text.contains("crawler"), "{text}");
    }
}
